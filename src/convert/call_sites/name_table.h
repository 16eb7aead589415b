/* All functions that sources found, by name and by address: for what needs the whole image, not one unit. */
#ifndef CSNI_NAME_TABLE_H
#define CSNI_NAME_TABLE_H

#include "convert/conversion.h"

struct csni_named {
    uint64_t hash;      /* of the name */
    uint64_t start;
    uint32_t batch, function;
    bool taken;         /* a symbol that a folded function was found for */
    bool by_other_name; /* a symbol by the name that debug information has for it, not by its own */
};

struct csni_name_table {
    const struct csni_conversion *conversion;
    struct csni_named *by_name;   /* by hash, start, order of input; of a hash, unplaced functions come last */
    size_t count;
    uint32_t *by_start;           /* indexes in by_name of functions with a place: by start, then in order of input */
    size_t placed;
};

csn_status csni_name_table_make(struct csni_name_table *table, const struct csni_conversion *c, struct csn_error *err);
void csni_name_table_deinit(struct csni_name_table *table);

static inline struct csni_function *csni_named_function(const struct csni_name_table *t, const struct csni_named *n) {
    return &t->conversion->batches[n->batch].functions[n->function];
}
static inline struct csn_str csni_named_name(const struct csni_name_table *t, const struct csni_named *n) {
    return t->conversion->batches[n->batch].strings[csni_named_function(t, n)->name];
}

/* The functions of that name, next to each other; *count is 0 where there is none. */
struct csni_named *csni_name_table_find(const struct csni_name_table *table, struct csn_str name, size_t *count);
/* Index in by_start of the first function that does not start before `start`. */
size_t csni_name_table_at(const struct csni_name_table *table, uint64_t start);

#endif
