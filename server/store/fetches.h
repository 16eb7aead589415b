/* What a store remembers about its remotes: which fetches are under way, what was not there, who does not answer. Any thread. */
#ifndef CALLSIGN_SERVER_FETCHES_H
#define CALLSIGN_SERVER_FETCHES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum { FETCH_KEY_SIZE = 512, FETCH_MOST_REMOTES = 32 };

struct fetches;
struct fetches *fetches_create(void); /* NULL: no memory */
void fetches_free(struct fetches *fetches); /* NULL is fine */

/* Waits until nobody else fetches `key`, which may then be there. Returns what fetches_end() takes. */
int fetches_begin(struct fetches *fetches, const char *key);
void fetches_end(struct fetches *fetches, int slot);

/* No remote had it, less than so many seconds ago. */
bool fetches_is_miss(struct fetches *fetches, const char *key);
void fetches_add_miss(struct fetches *fetches, const char *key, uint32_t seconds);
void fetches_forget_misses(struct fetches *fetches); /* NULL is fine */

/* A remote, by its place in the list, that is left alone for a while. */
bool fetches_is_paused(struct fetches *fetches, size_t remote);
void fetches_pause(struct fetches *fetches, size_t remote, time_t seconds);
int64_t fetches_clock_ms(void);

#endif
