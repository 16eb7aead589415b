/* Strings of a GSYM that is converted: each becomes one string of the batch, however often it is named. */
#ifndef CSNI_INDEX_STRINGS_H
#define CSNI_INDEX_STRINGS_H

#include "base/core/budget.h"
#include "formats/gsym/read/gsym.h"
#include "model/model.h"

struct csni_index_strings {
    CSNI_VEC(struct csni_index_string { uint64_t strp; uint32_t number; }) slots; /* a power of two; number 0: free */
    size_t used;
    struct csni_budget text; /* bytes: a string may be the end of another one, as linkers write them */
};

static inline bool csni_index_strings_exceed(const struct csni_index_strings *s, const struct csni_batch_writer *w) {
    return w->failed && csni_budget_is_exhausted(&s->text);
}

/* The batch's number of a string; 0: it is empty, or lies outside of the table. No memory, or past the budget: w->failed. */
uint32_t csni_index_strings_add(struct csni_index_strings *s, struct csni_batch_writer *w, const struct csni_gsym *gsym,
                                uint64_t strp);
/* The same for a text that is not looked up by its place. */
uint32_t csni_index_strings_add_text(struct csni_index_strings *s, struct csni_batch_writer *w, struct csn_str text);

#endif
