/* What symbolicating one batch needs, for single addresses and for stacks. */
#ifndef CSNI_ARROW_SESSION_H
#define CSNI_ARROW_SESSION_H

#include "arrow/arrow_frames.h"
#include "arrow/arrow_input.h"
#include "arrow/arrow_modules.h"

struct csni_arrow_session {
    const struct csn_allocator *alloc;
    const struct csn_arrow_options *options;
    struct csn_symbolicator *symbolicator; /* NULL: single addresses only */
    struct csni_arrow_input input;
    struct csni_arrow_modules modules;
    struct csni_arrow_frames frames;
    uint32_t *module_of;                   /* by row or frame of the input: its module; 0: none is named */
    uint32_t index_module;                 /* of options->index */
    uint32_t no_address, wide_address, no_module; /* reasons */
    CSNI_VEC(uint32_t) no_index;           /* the same by module: why it has no index */
    bool with_dictionary;
};

/* The two kinds of batches. */
csn_status csni_arrow_answer_addresses(struct csni_arrow_session *s, struct ArrowSchema *out_schema, struct ArrowArray *out_array,
                                       struct csn_error *err);
csn_status csni_arrow_answer_stacks(struct csni_arrow_session *s, struct ArrowSchema *out_schema, struct ArrowArray *out_array,
                                    struct csn_error *err);

/* What is said of row or frame `k` before any lookup: true, and *out is complete, where there is nothing to look up. */
bool csni_arrow_answer_unasked(const struct csni_arrow_session *s, int64_t k, uint64_t *addr, struct csni_arrow_answer *out);

#endif
