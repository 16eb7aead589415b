/* Functions of an index by their names: for dialects that print no addresses. */
#ifndef CALLSIGN_CLI_STACK_SYMBOLS_H
#define CALLSIGN_CLI_STACK_SYMBOLS_H

#include <stdbool.h>

#include <callsign/index.h>

/* A table for each of the indexes that were asked last. It knows its index by the address: clear the tables before an index
 * is closed. */
struct symbol_table;
struct symbol_tables {
    struct symbol_table *items;
    size_t count;
};
void symbol_tables_clear(struct symbol_tables *tables);

/* A place in a function of that name, at `offset` from its start. `size`: up to the next symbol; 0: not known. */
struct symbol_site {
    struct csn_str name;
    uint64_t offset, size;
    bool must_fit; /* functions of another size are not meant */
};
/* How many functions it may be in, and the start of the first of them. Those whose next symbol stands at the size that is known go
 * before others. False: no memory. */
bool symbol_tables_find(struct symbol_tables *tables, const struct csn_index *index, const struct symbol_site *site,
                        uint64_t *start, uint32_t *count);

/* The starts of functions whose names are the same but for what demanglers write differently (plain_name.h); of several, those that
 * are called exactly that, if there are any, and, unless `with_clones`, those that are the function itself, or the
 * clone that the name tells. None if there are more than `capacity`. False: no memory. The first call for an index
 * demangles all its names. */
bool symbol_tables_find_plain(struct symbol_tables *tables, const struct csn_index *index, struct csn_str name, bool with_clones,
                              uint64_t *starts, uint32_t capacity, uint32_t *count);

#endif
