/* Opening an image's symbols: choosing among the store's files, and converting where there is no index. */
#ifndef CALLSIGN_SERVER_CONVERSION_H
#define CALLSIGN_SERVER_CONVERSION_H

#include "store/index_pool.h"

struct conversion;
int conversion_open(const struct index_pool_options *options, struct conversion **out, char *why, size_t why_size);
void conversion_close(struct conversion *conversion); /* NULL is fine */
enum pool_status conversion_open_symbols(struct conversion *conversion, const struct symbols_key *key,
                                         struct symbols *out, char *why, size_t why_size);
enum pool_status conversion_index_file(struct conversion *conversion, const struct symbols_key *key, char *path, size_t path_size,
                                       uint64_t *bytes, char *why, size_t why_size);
enum pool_status conversion_breakpad_file(struct conversion *conversion, const struct symbols_key *key, char *path,
                                          size_t path_size, char *why, size_t why_size);
void conversion_get_counts(struct conversion *conversion, uint64_t *done, uint64_t *waiting);

#endif
