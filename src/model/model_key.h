/* Functions in the order of csni_model_finalize(): what the files that choose among them share. */
#ifndef CSNI_MODEL_KEY_H
#define CSNI_MODEL_KEY_H

#include "model/model.h"

/* Names a function; `start` is a copy, so that sorting need not look at it. */
struct csni_key {
    uint64_t start;
    uint32_t batch, function;
};

static inline const struct csni_function *csni_key_function(const struct csni_model *m, const struct csni_key *k) {
    return &m->batches[k->batch].functions[k->function];
}

/* ---- model_order.c ---- */

/* Stable; the result is in `keys`, `spare` has room for as many. */
void csni_sort_by_start(struct csni_key *keys, struct csni_key *spare, size_t count);
/* Then, functions of one start by end, and by how much is known of them, least first, so that the best known comes last; of several
 * descriptions of that function, the first of the input. */
void csni_sort_groups(const struct csni_model *m, struct csni_key *keys, struct csni_key *spare, size_t count);

/* ---- model_duplicates.c ---- */

/* Whether name, rows and inlined calls are the same. */
bool csni_model_same_function(const struct csni_model *m, const struct csni_key *a, const struct csni_key *b);

enum csni_verdict { CSNI_KEEP_BOTH, CSNI_REPLACE, CSNI_DROP };
/* What becomes of `current`, given `last`, the function kept before it. */
enum csni_verdict csni_model_judge(const struct csni_model *m, const struct csni_key *last,
                                   const struct csni_key *current, struct csn_convert_report *report);
/* Counts an event of two functions. */
void csni_model_note_pair(const struct csni_model *m, struct csn_convert_report *report, enum csn_event event,
                          const struct csni_key *a, const struct csni_key *b);

/* ---- model_join.c ---- */

/* Of functions with one start and different sizes, those of which only name and range are known give way to the best
 * known, which gets the largest of their sizes that does not reach into the next function. Gives how many keys are
 * left. */
size_t csni_model_join_starts(const struct csni_model *m, struct csni_key *keys, size_t count, struct csn_convert_report *report);

/* ---- model_merge.c ---- */

/* Fills entries and children from `count` sorted keys, as m->merge says; `keys` are put in another order. */
csn_status csni_model_merge(struct csni_model *m, struct csni_key *keys, size_t count, struct csn_convert_report *report,
                            struct csn_error *err);

#endif
