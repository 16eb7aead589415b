/* An open index: which format it has, and the parsed view of that format.
 *
 * A format is a row of the table in index_open.c. GSYM is the one whose lookups must not pay for there being others:
 * the public calls ask `other` once and then call its reader directly; all other formats are called through their row. */
#ifndef CSNI_INDEX_PRIVATE_H
#define CSNI_INDEX_PRIVATE_H

#include "base/core/file_map.h"
#include "formats/bsym/read/bsym.h"
#include "formats/gsection/read/gsection.h"
#include "formats/gsym/read/gsym_accel.h"

/* One format. Each call does what the public one of its name does, for an index that this reader has opened. */
struct csni_index_reader {
    bool (*recognize)(struct csni_span bytes);
    /* Fills the index, whose allocator is set; releases everything on failure. */
    csn_status (*open)(struct csn_index *index, struct csni_span bytes, const struct csn_index_options *options,
                       struct csn_error *err);
    void (*close)(struct csn_index *index);
    void (*get_info)(const struct csn_index *index, struct csn_index_info *out);
    /* From here on NULL in the row of GSYM. */
    csn_status (*lookup)(const struct csn_index *index, uint64_t addr, enum csn_lookup_mode mode,
                         struct csn_frame_ref *frames, size_t cap, struct csn_lookup *out, struct csn_error *err);
    /* Begins to load what a lookup reads; NULL: not worth it. */
    void (*prefetch)(const struct csn_index *index, uint64_t addr);
    void (*resolve)(const struct csn_index *index, const struct csn_frame_ref *ref, struct csn_frame *out);
    csn_status (*file)(const struct csn_index *index, uint32_t idx, struct csn_str *directory, struct csn_str *base,
                       struct csn_error *err);
    struct csn_str (*string)(const struct csn_index *index, uint64_t offset);
    csn_status (*record)(const struct csn_index *index, uint32_t idx, struct csn_record *out, struct csn_error *err);
    csn_status (*function)(const struct csn_index *index, const struct csn_record *record, struct csn_function *out,
                           struct csn_error *err);
    csn_status (*verify)(const struct csn_index *index, csn_verify_callback *callback, void *context,
                         struct csn_verify_counts *out, struct csn_error *err);
    /* For formats with the line tables and inline trees of GSYM, whose index->gsym has what those need: finds the first part of
     * that type, as csni_gsym_part_find() does, and makes the four calls below needless. */
    csn_status (*find_part)(const struct csn_index *index, const struct csn_record *record, uint32_t type,
                            struct csni_gsym_payload *out, struct csn_error *err);
    /* NULL: functions have none. */
    csn_status (*rows)(struct csn_row_iter *iter, const struct csn_index *index, const struct csn_record *record,
                       struct csn_error *err);
    csn_status (*inlines)(struct csn_inline_iter *iter, const struct csn_index *index, const struct csn_record *record,
                          struct csn_error *err);
    csn_status (*call_sites)(struct csn_call_site_iter *iter, const struct csn_index *index, const struct csn_record *record,
                             struct csn_error *err);
    csn_status (*merged)(struct csn_merged_iter *iter, const struct csn_index *index, const struct csn_record *record,
                         struct csn_error *err);
};

/* The section-embedded GSYM of 2017 (index_gsection.c). */
extern const struct csni_index_reader csni_gsection_reader;
/* The image of an object file that carries an index, and the section that holds it. `arch` NULL: of the only one of a universal
 * file that does. CSN_NONE: no object, or without one. */
csn_status csni_index_locate(struct csni_span file, const char *arch, struct csni_span *out_image, struct csni_span *out_section,
                             struct csn_error *err);

struct csn_index {
    const struct csni_index_reader *reader;
    const struct csni_index_reader *other; /* the same; NULL: GSYM, called directly */
    struct csni_gsym gsym; /* GSYM version 1 or 2; the same as in `section` */
    struct csni_bsym bsym;
    struct csni_gsection section; /* the section-embedded GSYM of 2017 */
    struct csni_gsym_accel accel; /* of GSYM, where csn_index_options.accelerator_bytes asked for it */
    const struct csn_allocator *allocator;
    struct csni_file_map map; /* of csn_index_open_file(); empty otherwise */
    bool mapped;
};

extern const struct csni_index_reader csni_bsym_index_reader;

/* What the reader found, as a caller sees it; csn_status of a lookup that did not fail. */
static inline void csni_index_give(const struct csn_index *index, const struct csni_gsym_answer *answer,
                                   csn_status status, struct csn_frame_ref *frames, size_t cap,
                                   struct csn_lookup *out) {
    size_t count = status == CSN_OK ? answer->inlined_count + 1 : 0;
    for (size_t k = 0; k < count && k < cap; k++) csni_gsym_frame(&index->gsym, answer, k, &frames[k]);
    *out = (struct csn_lookup){ .function_start = answer->start, .function_size = answer->size,
                                .function_index = answer->idx, .reason = answer->reason, .frame_count = count };
}

#endif
