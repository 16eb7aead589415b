/* The frames of a batch's answers, with their strings numbered, and the columns that are made of them. */
#ifndef CSNI_ARROW_FRAMES_H
#define CSNI_ARROW_FRAMES_H

#include "arrow/arrow_strings.h"

struct csni_arrow_frame {
    uint64_t offset;
    uint32_t function, file; /* numbers of strings, or CSNI_ARROW_NULL */
    uint32_t line;           /* 0: null */
    bool is_inlined;
};

/* Frames [first, first + count) of the table, and what is missing. */
struct csni_arrow_answer {
    uint32_t first, count;
    uint32_t reason;         /* number of a string, or CSNI_ARROW_NULL */
    bool is_null;            /* no frames are known because there is no question */
};

struct csni_arrow_known;

struct csni_arrow_frames {
    const struct csn_allocator *alloc;
    csn_name_callback *demangle;
    void *demangle_context;
    struct csni_arrow_strings functions, files, reasons;
    CSNI_VEC(struct csni_arrow_frame) rows;
    CSNI_VEC(char) text, pieces;       /* of the string being made */
    CSNI_VEC(char) clean;              /* the same as UTF-8 */
    struct csni_arrow_known *known[3]; /* names and files by where an index has them, frames of stacks by address and generation */
};

csn_status csni_arrow_frames_init(struct csni_arrow_frames *f, const struct csn_arrow_options *options,
                                  const struct csn_allocator *alloc, struct csn_error *err);
void csni_arrow_frames_deinit(struct csni_arrow_frames *f);

/* Adds a frame that an index gave as references; `module` tells indexes apart. */
csn_status csni_arrow_frames_add_ref(struct csni_arrow_frames *f, uint32_t module, const struct csn_index *index,
                                     const struct csn_frame_ref *ref, struct csn_error *err);
/* Adds `count` frames with their strings, once for each `frames` of one `generation` of the symbolicator, whose they are. */
csn_status csni_arrow_frames_add_all(struct csni_arrow_frames *f, uint64_t generation, const struct csn_frame *frames,
                                     uint32_t count, uint32_t *first, struct csn_error *err);
/* The number of a function's name as it is shown. */
csn_status csni_arrow_frames_name(struct csni_arrow_frames *f, struct csn_str name, uint32_t *out, struct csn_error *err);
csn_status csni_arrow_frames_reason(struct csni_arrow_frames *f, const char *text, uint32_t *out, struct csn_error *err);

/* Types of the two columns. */
extern const struct csni_arrow_type csni_arrow_frames_type[2], csni_arrow_reason_type[2]; /* [1]: with dictionaries */

/* The column of the frames of `count` answers. */
csn_status csni_arrow_frames_array(const struct csni_arrow_frames *f, const struct csni_arrow_answer *answers, int64_t count,
                                   bool with_dictionary, struct ArrowArray *out, struct csn_error *err);
csn_status csni_arrow_reasons_array(const struct csni_arrow_frames *f, const struct csni_arrow_answer *answers, int64_t count,
                                    bool with_dictionary, struct ArrowArray *out, struct csn_error *err);

#endif
