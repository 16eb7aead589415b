/* The catalogue: which files a store has, in an SQLite database beside them. The files are the truth: a catalogue that is lost or
 * damaged is made anew from them. Servers on one machine share it. Any thread. */
#ifndef CALLSIGN_SERVER_CATALOGUE_H
#define CALLSIGN_SERVER_CATALOGUE_H

#include "store/artifact.h"

struct catalogue;

/* Opens the database at `path`; one that is damaged is moved away. *is_new: there was none. 0, or -1 with a message. */
int catalogue_open(const char *path, struct catalogue **out, bool *is_new, char *why, size_t why_size);
void catalogue_close(struct catalogue *catalogue); /* NULL is fine */

/* Adds a file, or replaces the entry of its path. 0 or -1. */
int catalogue_put(struct catalogue *catalogue, const struct artifact *artifact);
int catalogue_remove(struct catalogue *catalogue, const char *path);
/* Many changes at once: between these, they are one transaction. */
int catalogue_begin(struct catalogue *catalogue);
int catalogue_commit(struct catalogue *catalogue);

/* Which id a search is for. */
enum catalogue_key { CATALOGUE_BUILD_ID, CATALOGUE_DEBUG_ID, CATALOGUE_CODE_ID, CATALOGUE_HTLHASH, CATALOGUE_NAME, CATALOGUE_PATH };
/* Fills at most `cap` entries with this id whose kind has one of `kinds`. Returns how many, or -1. */
int catalogue_find(struct catalogue *catalogue, enum catalogue_key key, const char *value, uint32_t kinds,
                   struct artifact *out, int cap);

/* Calls `visit` for every entry, ordered by path; return false to stop. */
typedef bool catalogue_visit(void *context, const struct artifact *artifact);
int catalogue_walk(struct catalogue *catalogue, catalogue_visit *visit, void *context);
int64_t catalogue_count(struct catalogue *catalogue);

#endif
