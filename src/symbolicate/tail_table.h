/* The functions of an index that make tail calls, by name. */
#ifndef CSNI_TAIL_TABLE_H
#define CSNI_TAIL_TABLE_H

#include <callsign/index.h>
#include <callsign/inspect.h>

#include "base/core/budget.h"
#include "base/core/vec.h"

struct csni_tail_entry {
    uint64_t hash;      /* csni_hash_bytes() of the name */
    uint32_t function;  /* in the index */
    uint32_t child;     /* 0: itself, else the merged function of that number, from 1 */
};
struct csni_tail_table {
    const struct csn_index *index;
    struct csni_tail_entry *entries; /* by hash */
    size_t count;
    bool given_up;                   /* the index is too large: nothing is known */
};
struct csni_tail_tables {
    const struct csn_allocator *alloc;
    CSNI_VEC(struct csni_tail_table) items;
    uint64_t bytes;
};

void csni_tail_tables_init(struct csni_tail_tables *tables, const struct csn_allocator *alloc);
/* Empties it; it can be used again. */
void csni_tail_tables_clear(struct csni_tail_tables *tables);

/* The number of the table of an index, made when it is first needed; UINT32_MAX: no memory. */
uint32_t csni_tail_tables_get(struct csni_tail_tables *tables, const struct csn_index *index);
/* The lower bound of a hash. */
size_t csni_tail_table_first(const struct csni_tail_table *table, uint64_t hash);
bool csni_record_has_tail_call(const struct csn_index *index, const struct csn_record *record, struct csni_budget *budget);

#endif
