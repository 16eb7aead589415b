/* Inlined calls of functions that do not have the code: those in the cold part of a function whose DIE names the hot
 * part alone. BOLT
 * forgets the part that GCC split off: a symbol names the code (`run.cold`). GCC's strict DWARF 2 has a DIE of its own for it
 * (`__second_sect_of_run`), without children. */
#ifndef CSNI_MODEL_STRAYS_H
#define CSNI_MODEL_STRAYS_H

#include "model/model_copy.h"

struct csni_stray;

struct csni_strays {
    const struct csni_model *model;
    CSNI_VEC(struct csni_stray) items; /* ascending by start */
    bool *placed;                      /* by part of an outermost call, of all strays: some function has code of it */
    uint64_t steps;                    /* that are left: strays that lie over each other do not take the square of their number */
};

/* Finds those of all batches. `placed` is of the arena. */
csn_status csni_strays_init(struct csni_strays *strays, const struct csni_model *model, struct csni_arena *arena,
                            struct csn_error *err);
void csni_strays_deinit(struct csni_strays *strays);

enum { CSNI_STRAYS_OF_ALL = UINT32_MAX };

/* Adds the calls in [low, end), of strays of `batch`, to the function that the copier's writer began last, which
 * begins at `start`. */
void csni_strays_copy(struct csni_strays *strays, struct csni_model_copier *copier, uint32_t batch, uint64_t start, uint64_t low,
                      uint64_t end);

/* Adds those that no function got to the report. */
void csni_strays_report(const struct csni_strays *strays, struct csn_convert_report *report);

#endif
