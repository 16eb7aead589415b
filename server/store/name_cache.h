/* Demangled names of one index, by the address of the stored name. Any thread. */
#ifndef CALLSIGN_SERVER_NAME_CACHE_H
#define CALLSIGN_SERVER_NAME_CACHE_H

#include <stdbool.h>

#include <callsign/base.h>

struct name_cache;
struct name_cache *name_cache_create(void); /* NULL: no memory */
void name_cache_destroy(struct name_cache *cache); /* NULL is fine */
/* `stored` points into the index. False: it is not in the cache. */
bool name_cache_find(struct name_cache *cache, struct csn_str stored, struct csn_str *out);
/* Keeps a copy of `name` unless the cache is full; *out is what was kept. */
bool name_cache_add(struct name_cache *cache, struct csn_str stored, struct csn_str name, struct csn_str *out);

#endif
