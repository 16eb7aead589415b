/* An open index: which format it has, and the parsed view of that format. A format is one struct of functions, a row of the
 * table in index_open.c; the public calls go through it and know no format. */
#ifndef CSNI_INDEX_PRIVATE_H
#define CSNI_INDEX_PRIVATE_H

#include <callsign/binaries.h>
#include <callsign/inspect.h>

#include "base/core/fail.h"
#include "base/core/file_map.h"
#include "formats/bsym/read/bsym.h"
#include "formats/gsection/read/gsection.h"
#include "formats/gsym/read/gsym_accel.h"

/* What is opened. */
struct csni_index_source {
    struct csni_span bytes;          /* of an index, or of an object that carries one */
    struct csni_span image, section; /* the image of that object, and the section with the index; empty: it carries none */
};

/* CSN_E_UNSUPPORTED, for a mode that is none of enum csn_lookup_mode. */
CSNI_COLD csn_status csni_index_fail_mode(uint32_t mode, struct csn_error *err);

/* Many lookups on their way: frames of one after those of the other. */
struct csni_index_batch {
    const struct csn_index *index;
    enum csn_lookup_mode mode;
    struct csn_frame_ref *frames;
    size_t cap, used;
};
enum { CSNI_BATCH_GROUP = 16, CSNI_BATCH_FRAMES_EACH = CSN_INLINE_DEPTH_MAX + 1 };

/* The images of an index that may have several: BSYM alone. Each call does what the public one of its name does. */
struct csni_index_binaries {
    csn_status (*binary)(const struct csn_index *index, uint32_t idx, void *scratch, size_t size, struct csn_binary *out,
                         size_t *out_need, struct csn_error *err);
    csn_status (*alias)(const struct csn_index *index, uint32_t idx, void *scratch, size_t size, struct csn_str *out,
                        uint32_t *out_binary, size_t *out_need, struct csn_error *err);
    csn_status (*find)(const struct csn_index *index, struct csn_str name, uint32_t *out_idx, uint32_t *out_match);
    csn_status (*lookup)(const struct csn_index *index, uint32_t binary, uint64_t offset, struct csn_frame_ref *frames,
                         size_t cap, struct csn_lookup *out, struct csn_error *err);
};

/* One format. Where no comment says otherwise, each call does what the public one of its name does, for an index that this
 * format has opened. */
struct csni_index_format {
    /* By the first bytes: the beginning of a file is enough. */
    bool (*recognize)(struct csni_span head);
    /* Fills the index, whose allocator is set; releases everything on failure. */
    csn_status (*open)(struct csn_index *index, const struct csni_index_source *source, const struct csn_index_options *options,
                       struct csn_error *err);
    void (*close)(struct csn_index *index);
    void (*get_info)(const struct csn_index *index, struct csn_index_info *out);

    csn_status (*lookup)(const struct csn_index *index, uint64_t addr, struct csn_frame *frames, size_t cap, size_t *out_count,
                         struct csn_error *err);
    csn_status (*lookup_refs)(const struct csn_index *index, uint64_t addr, enum csn_lookup_mode mode,
                              struct csn_frame_ref *frames, size_t cap, struct csn_lookup *out, struct csn_error *err);
    /* Looks up addresses while there are frames for the worst case; returns how many. */
    size_t (*lookup_batch)(struct csni_index_batch *batch, const uint64_t *addrs, size_t count,
                           struct csn_batch_answer *answers);
    /* For csni_index_lookup_each(): begins to load what a lookup reads. NULL: not worth it. */
    void (*prefetch)(const struct csn_index *index, uint64_t addr);
    void (*resolve)(const struct csn_index *index, const struct csn_frame_ref *ref, struct csn_frame *out);
    /* NULL: names need no scratch memory. */
    size_t (*resolve_into)(const struct csn_index *index, const struct csn_frame_ref *ref, void *scratch, size_t size,
                           struct csn_frame *out);

    csn_status (*file)(const struct csn_index *index, uint32_t idx, struct csn_str *directory, struct csn_str *base,
                       struct csn_error *err);
    struct csn_str (*string)(const struct csn_index *index, uint64_t offset);
    /* NULL: the format has no directory of sections. */
    csn_status (*section)(const struct csn_index *index, uint32_t idx, struct csn_section *out, struct csn_error *err);
    csn_status (*record)(const struct csn_index *index, uint32_t idx, struct csn_record *out, struct csn_error *err);
    csn_status (*function_start)(const struct csn_index *index, uint32_t idx, uint64_t *out, struct csn_error *err);
    csn_status (*function)(const struct csn_index *index, const struct csn_record *record, struct csn_function *out,
                           struct csn_error *err);
    csn_status (*check)(const struct csn_index *index, const struct csn_record *record, struct csn_error *err);
    /* The first part of that type, as csni_gsym_part_find(): for formats whose line tables, inline trees and lists are those
     * of GSYM, and whose index->gsym has what these need. NULL: functions have no parts. */
    csn_status (*find_part)(const struct csn_index *index, const struct csn_record *record, uint32_t type,
                            struct csni_gsym_payload *out, struct csn_error *err);
    csn_status (*verify)(const struct csn_index *index, csn_verify_callback *callback, void *context,
                         struct csn_verify_counts *out, struct csn_error *err);
    /* Adds every byte of the index to its part, CSN_PART_. Strings that it has elsewhere in the file, and nobody else, are taken
     * from CSN_PART_OBJECT. */
    csn_status (*part_bytes)(const struct csn_index *index, uint64_t *out, struct csn_error *err);
    /* The sizes in one record. `counted`: names that functions share are those of the first. */
    csn_status (*record_sizes)(const struct csn_index *index, const struct csn_record *record, struct csni_counted_bytes *counted,
                               struct csn_function_stats *out);

    const struct csni_index_binaries *binaries; /* NULL: an index is of one image */
    /* As csn_index_find_name(). NULL: csni_index_find_name(), which needs nothing else. */
    csn_status (*find_name)(const struct csn_index *index, struct csn_str name, uint32_t *functions, size_t cap, size_t *out_count,
                            struct csn_error *err);
};

extern const struct csni_index_format csni_index_gsym;
extern const struct csni_index_format csni_index_gsection; /* the section-embedded GSYM of 2017 */
extern const struct csni_index_format csni_index_bsym;

struct csn_index {
    const struct csni_index_format *format;
    struct csni_gsym gsym; /* GSYM version 1 or 2; the same as in `section` */
    struct csni_bsym bsym;
    struct csni_gsection section;
    struct csni_gsym_accel accel; /* of GSYM, if csn_index_options.accelerator_bytes is set */
    const struct csn_allocator *allocator;
    csn_name_callback *demangle; /* of the options; NULL: none */
    void *demangle_context;
    struct csni_file_map map; /* of csn_index_open_file(); empty otherwise */
    bool mapped;
    struct csn_bytes owned; /* of csni_index_own_bytes(); empty otherwise */
    struct csni_span whole; /* what was opened: the index, or an object file that carries it */
    void *remote;           /* of an index that is read from afar: see src/remote; NULL otherwise */
};

/* csn_index_find_name() in an index whose bytes are all there. */
csn_status csni_index_find_name(const struct csn_index *index, struct csn_str name, uint32_t *functions, size_t cap,
                                size_t *out_count, struct csn_error *err);

/* The image of an object file that carries an index, and the section that holds it. `arch` NULL: of the only one of a universal
 * file that does. CSN_NONE: no object, or without one. */
csn_status csni_index_locate(struct csni_span file, const char *arch, struct csni_span *out_image, struct csni_span *out_section,
                             struct csn_error *err);

/* csni_index_format.lookup_batch of formats with nothing to share between lookups. */
size_t csni_index_lookup_each(struct csni_index_batch *batch, const uint64_t *addrs, size_t count,
                              struct csn_batch_answer *answers);

/* What the readers of both GSYM formats found, as a caller sees it; `status` of a lookup that did not fail. */
static inline void csni_index_fill_answer(const struct csn_index *index, struct csni_gsym_answer *answer,
                                   csn_status status, struct csn_frame_ref *frames, size_t cap,
                                   struct csn_lookup *out) {
    size_t count = status == CSN_OK ? answer->calls.count + 1 : 0;
    for (size_t k = 0; k < count && k < cap; k++) csni_gsym_frame(&index->gsym, answer, k, &frames[k]);
    *out = (struct csn_lookup){ .function_start = answer->start, .function_size = answer->size,
                                .function_index = answer->idx, .reason = answer->reason, .frame_count = count };
    if (index->gsym.member_count && status == CSN_OK) out->binary = csni_gsym_member_at(&index->gsym, answer->start);
}

/* Records of both GSYM formats, for the caller and back. */
static inline struct csn_record csni_index_public_record(const struct csni_gsym_record *record) {
    return (struct csn_record){ record->bytes.ptr, record->bytes.size, record->start, record->offset };
}

static inline csn_status csni_index_gsym_record(const struct csn_index *index, const struct csn_record *record,
                                                struct csni_gsym_record *out, struct csn_error *err) {
    struct csni_span bytes = { record->bytes, (size_t)record->size };
    return csni_gsym_record_at(&index->gsym, bytes, record->offset, record->start, out, err);
}

/* Of a table with `count` entries. */
static inline csn_status csni_index_fail_beyond(const char *what, uint64_t idx, uint64_t count, struct csn_error *err) {
    return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "%s %llu, need < %llu", what, (unsigned long long)idx,
                     (unsigned long long)count);
}

#endif
