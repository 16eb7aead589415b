/* Which functions of an index a name may mean, for many names: without it, each of them goes through all functions. */
#ifndef CALLSIGN_CLI_NAME_TABLE_H
#define CALLSIGN_CLI_NAME_TABLE_H

#include <callsign/inspect.h>

enum { NAME_TABLE_ENTRIES = 1 << 23 }; /* at most, of 8 bytes each */

struct name_entry {
    uint64_t key; /* a hash, and below it the function's number */
};
/* All zeros: there is none. */
struct name_table {
    struct name_entry *items; /* ascending */
    size_t count, capacity;
    bool has_words;
};

/* With an entry for each stored name; with_words: also for the words of the demangled ones, but for those in brackets. False: no
 * memory, or there would be too many entries or names to read; the table is empty then. */
bool name_table_make(struct name_table *table, const struct csn_index *index, bool with_words);
void name_table_deinit(struct name_table *table);

/* Candidates: what has the name is among them, and what shares a hash. Ascending; the caller frees them. */
struct name_candidates {
    uint32_t *functions;
    size_t count;
};
/* For a stored name. False: no memory. */
bool name_table_stored(const struct name_table *table, struct csn_str name, struct name_candidates *out);
/* For a name that find_query_of_name() takes, not of a mangled one. False: no memory, or it is no name that the table helps to find. */
bool name_table_shown(const struct name_table *table, struct csn_str name, struct name_candidates *out);

#endif
