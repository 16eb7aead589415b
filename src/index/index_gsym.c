/* GSYM as a format of indexes: opening, looking up, looking inside. */
#include "index/index_gsym.h"

#include "base/core/byte_blocks.h"
#include "formats/gsym/gsym_layout.h"
#include "formats/gsym/read/gsym_accel_verify.h"
#include "formats/gsym/read/gsym_checkpoint_verify.h"
#include "formats/gsym/read/gsym_names.h"
#include "formats/gsym/read/gsym_stats.h"

static bool recognize_gsym(struct csni_span bytes) {
    return bytes.size >= 4 && (memcmp(bytes.ptr, "GSYM", 4) == 0 || memcmp(bytes.ptr, "MYSG", 4) == 0);
}

static csn_status open_gsym(struct csn_index *index, const struct csni_index_source *source,
                            const struct csn_index_options *options, struct csn_error *err) {
    CSNI_TRY(csni_gsym_parse(&index->gsym, source->bytes, err));
    if (csni_gsym_accel_take_stored(&index->accel, &index->gsym)) return CSN_OK;
    return csni_gsym_accel_build(&index->accel, &index->gsym, options->accelerator_bytes, index->allocator, err);
}

static void close_gsym(struct csn_index *index) { csni_gsym_accel_free(&index->accel, index->allocator); }

static void get_gsym_info(const struct csn_index *index, struct csn_index_info *out) {
    const struct csni_gsym *gsym = &index->gsym;
    size_t uuid_size = gsym->uuid.size < sizeof out->uuid ? gsym->uuid.size : sizeof out->uuid;
    *out = (struct csn_index_info){
        .format = gsym->version == CSNI_GSYM_VERSION_1 ? CSN_FORMAT_GSYM_V1 : CSN_FORMAT_GSYM_V2,
        .big_endian = gsym->big,
        .address_size = gsym->address_size,
        .uuid_size = (uint8_t)uuid_size,
        .uuid_bytes = gsym->uuid.size,
        .base_address = gsym->base_address,
        .file_size = gsym->bytes.size,
        .function_count = gsym->address_count,
        .file_count = gsym->file_count,
        .string_bytes = gsym->strings.size,
        .accelerator_bytes = index->accel.memory_size,
        .unaccelerated_functions = index->accel.plain_functions,
        .address_sample_count = gsym->sample_count,
        .member_count = gsym->member_count,
        .stored_accelerator_bytes = index->accel.stored_size,
    };
    if (uuid_size) memcpy(out->uuid, gsym->uuid.ptr, uuid_size);
}

/* ---- lookups ---- */

/* Where the accelerator has the answer for an address. False: it has none, the index itself is searched. */
static CSNI_GSYM_INLINE bool find_accelerated(const struct csni_gsym_accel *accel, uint64_t addr,
                                    struct csni_accel_block *block, struct csni_accel_segment *segment) {
    if (!csni_accel_covers(accel, addr) || !csni_accel_open_block(accel, csni_accel_entry(accel, addr), block)) return false;
    *segment = csni_accel_segment(accel, block, addr);
    csni_accel_prefetch_node(accel, segment->node);
    return segment->node != CSNI_ACCEL_PLAIN;
}

static csn_status answer_accelerated(const struct csn_index *index, const struct csni_accel_block *block,
                                     const struct csni_accel_segment *segment, uint64_t addr, struct csn_frame_ref *frames,
                                     size_t cap, struct csn_lookup *out) {
    csn_status status = csni_accel_answer(&index->accel, block, segment, addr, frames, cap, out);
    if (index->gsym.member_count && status == CSN_OK) out->binary = csni_gsym_member_at(&index->gsym, out->function_start);
    return status;
}

csn_status csni_index_gsym_lookup_refs(const struct csn_index *index, uint64_t addr, enum csn_lookup_mode mode,
                                       struct csn_frame_ref *frames, size_t cap, struct csn_lookup *out, struct csn_error *err) {
    struct csni_accel_block block;
    struct csni_accel_segment segment;
    if (mode == CSN_LOOKUP_DEFAULT && find_accelerated(&index->accel, addr, &block, &segment)) {
        csn_status found = answer_accelerated(index, &block, &segment, addr, frames, cap, out);
        if (found >= 0) return found;
    }
    struct csni_gsym_answer answer;
    csn_status status = csni_gsym_lookup(&index->gsym, addr, mode, &answer, err);
    if (status >= 0) csni_index_fill_answer(index, &answer, status, frames, cap, out);
    return status;
}

static void resolve_gsym(const struct csn_index *index, const struct csn_frame_ref *ref, struct csn_frame *out) {
    struct csn_str directory, base;
    if (index->accel.table) csni_accel_file(&index->accel, &index->gsym, ref->file, &directory, &base);
    else csni_gsym_file(&index->gsym, ref->file, &directory, &base);
    *out = (struct csn_frame){ csni_gsym_string(&index->gsym, ref->name), directory, base, ref->offset, ref->line,
                               ref->flags, ref->reason, 0 };
}

/* The strings of an answer are three reads a frame that each wait for memory, the paths' for the file table's before. Asked for
 * together, the frames' wait at the same time. */
static void prefetch_frame_strings(const struct csni_gsym *gsym, const struct csn_frame_ref *refs, size_t count) {
    for (size_t k = 0; k < count; k++) {
        csni_gsym_prefetch_string(gsym, refs[k].name);
        if (refs[k].file < gsym->file_count) csni_prefetch(csni_gsym_file_entry(gsym, refs[k].file));
    }
    for (size_t k = 0; k < count; k++) {
        if (refs[k].file >= gsym->file_count) continue;
        const uint8_t *entry = csni_gsym_file_entry(gsym, refs[k].file);
        csni_gsym_prefetch_string(gsym, csni_gsym_strp(gsym, entry));
        csni_gsym_prefetch_string(gsym, csni_gsym_strp(gsym, entry + gsym->strp_size));
    }
}

static void resolve_gsym_frames(const struct csn_index *index, const struct csn_frame_ref *refs, size_t count,
                                struct csn_frame *frames) {
    if (count > 1) prefetch_frame_strings(&index->gsym, refs, count);
    for (size_t k = 0; k < count; k++) resolve_gsym(index, &refs[k], &frames[k]);
}

static inline void begin_file(const struct csni_gsym *gsym, uint32_t idx, struct csn_str *directory, struct csn_str *base) {
    *directory = *base = (struct csn_str){ "", 0 };
    if (idx >= gsym->file_count) return;
    const uint8_t *entry = csni_gsym_file_entry(gsym, idx);
    *directory = csni_gsym_string_begin(gsym, csni_gsym_strp(gsym, entry));
    *base = csni_gsym_string_begin(gsym, csni_gsym_strp(gsym, entry + gsym->strp_size));
}

/* The frames of an answer all of whose calls are held, without a copy between. */
static void resolve_held(const struct csni_gsym *gsym, const struct csni_gsym_answer *answer, struct csn_frame *frames,
                         size_t stored) {
    const struct csni_gsym_inlined *call = answer->calls.held + answer->calls.count;
    uint32_t file = answer->file, line = answer->line, reason = answer->reason;
    uint64_t name, start;
    for (size_t k = 0; k < stored; k++) {
        bool inlined = k < answer->calls.count;
        if (inlined) call--;
        name = inlined ? call->name : answer->name;
        start = inlined ? call->first : answer->start;
        struct csn_frame *out = &frames[k];
        out->name = csni_gsym_string_begin(gsym, name);
        begin_file(gsym, file, &out->directory, &out->base);
        out->offset = answer->addr - start;
        out->line = line;
        out->flags = inlined ? CSN_FRAME_INLINED : 0;
        out->reason = reason;
        out->reserved = 0;
        if (!inlined) continue;
        reason = csni_gsym_call_reason(call->call_file, gsym->file_count);
        file = reason == CSN_REASON_COMPLETE ? call->call_file : 0;
        line = call->call_line;
    }
    for (size_t k = 0; k < stored; k++) {
        struct csn_frame *out = &frames[k];
        out->name.len = csni_length_of(out->name.ptr, out->name.len);
        out->directory.len = csni_length_of(out->directory.ptr, out->directory.len);
        out->base.len = csni_length_of(out->base.ptr, out->base.len);
    }
}

/* Frames with their strings, none of which is read here; they are prefetched, all at once. */
static csn_status resolve_accelerated(const struct csn_index *index, const struct csni_accel_block *block,
                                      const struct csni_accel_segment *segment, uint64_t addr, struct csn_frame *frames,
                                      size_t cap, size_t *out_count) {
    const struct csni_gsym_accel *accel = &index->accel;
    size_t count = 0;
    bool found = segment->node != CSNI_ACCEL_GAP;
    struct csni_accel_walk walk = csni_accel_frames(accel, block, segment, addr);
    for (walk.done = !found; !walk.done; count++) {
        struct csn_frame_ref ref;
        csni_accel_next(accel, &walk, &ref);
        if (count >= cap) continue;
        struct csn_frame *out = &frames[count];
        out->name = csni_accel_string(&index->gsym, ref.name, walk.length);
        csni_prefetch(out->name.ptr);
        csni_accel_file(accel, &index->gsym, ref.file, &out->directory, &out->base);
        csni_prefetch(out->directory.ptr);
        csni_prefetch(out->base.ptr);
        out->offset = ref.offset;
        out->line = ref.line;
        out->flags = ref.flags;
        out->reason = ref.reason;
        out->reserved = 0;
    }
    *out_count = count;
    return found ? CSN_OK : CSN_NONE;
}

csn_status csni_index_gsym_lookup(const struct csn_index *index, uint64_t addr, struct csn_frame *frames, size_t cap,
                                  size_t *out_count, struct csn_error *err) {
    struct csni_accel_block block;
    struct csni_accel_segment segment;
    if (csni_accel_covers(&index->accel, addr)) csni_accel_prefetch_name(&index->gsym, csni_accel_entry(&index->accel, addr));
    if (find_accelerated(&index->accel, addr, &block, &segment))
        return resolve_accelerated(index, &block, &segment, addr, frames, cap, out_count);
    enum { REFS = 8 }; /* of answers that are not held */
    struct csn_frame_ref refs[REFS];
    struct csni_gsym_answer answer;
    csn_status status = csni_gsym_lookup(&index->gsym, addr, CSN_LOOKUP_DEFAULT, &answer, err);
    if (status < 0) return status;
    size_t count = status == CSN_OK ? answer.calls.count + 1 : 0, stored = count < cap ? count : cap;
    if (status == CSN_OK && count <= CSNI_GSYM_CALLS_HELD) {
        resolve_held(&index->gsym, &answer, frames, stored);
        *out_count = count;
        return CSN_OK;
    }
    for (size_t k = 0; k < stored;) {
        size_t some = stored - k < REFS ? stored - k : REFS;
        for (size_t i = 0; i < some; i++) csni_gsym_frame(&index->gsym, &answer, k + i, &refs[i]);
        resolve_gsym_frames(index, refs, some, frames + k);
        k += some;
    }
    *out_count = count;
    return status;
}

static csn_status look_up_gsym(const struct csn_index *index, uint64_t addr, struct csn_frame *frames, size_t cap,
                               size_t *out_count, struct csn_error *err) {
#if CSNI_BYTE_BLOCKS
    if (index->accel.direct) return csni_index_gsym_lookup_avx2(index, addr, frames, cap, out_count, err);
#endif
    return csni_index_gsym_lookup(index, addr, frames, cap, out_count, err);
}

static csn_status look_up_gsym_refs(const struct csn_index *index, uint64_t addr, enum csn_lookup_mode mode,
                                    struct csn_frame_ref *frames, size_t cap, struct csn_lookup *out,
                                    struct csn_error *err) {
#if CSNI_BYTE_BLOCKS
    if (index->accel.direct) return csni_index_gsym_lookup_refs_avx2(index, addr, mode, frames, cap, out, err);
#endif
    return csni_index_gsym_lookup_refs(index, addr, mode, frames, cap, out, err);
}

/* ---- looking inside ---- */

static csn_status get_gsym_file(const struct csn_index *index, uint32_t idx, struct csn_str *directory,
                                struct csn_str *base, struct csn_error *err) {
    if (idx >= index->gsym.file_count) return csni_index_fail_beyond("file", idx, index->gsym.file_count, err);
    csni_gsym_file(&index->gsym, idx, directory, base);
    return CSN_OK;
}

struct csn_str csni_index_gsym_string(const struct csn_index *index, uint64_t offset) {
    return csni_gsym_string(&index->gsym, offset);
}

/* The directory was checked when the index was opened. */
static csn_status get_gsym_section(const struct csn_index *index, uint32_t idx, struct csn_section *out,
                                   struct csn_error *err) {
    struct csni_gsym_entry entry;
    if (index->gsym.version != CSNI_GSYM_VERSION_2) return CSN_NONE;
    /* What follows the closing entry is none. */
    uint64_t count = (index->gsym.tables_end - CSNI_GSYM_2_HEADER_SIZE) / CSNI_GSYM_2_ENTRY_BYTES - 1;
    if (idx >= count) return CSN_NONE;
    CSNI_TRY(csni_gsym_directory_entry(&index->gsym, idx, &entry, err));
    *out = (struct csn_section){ .type = entry.type, .offset = entry.offset, .size = entry.size };
    return CSN_OK;
}

csn_status csni_index_gsym_get_record(const struct csn_index *index, uint32_t idx, struct csn_record *out,
                                      struct csn_error *err) {
    if (idx >= index->gsym.address_count) return csni_index_fail_beyond("function", idx, index->gsym.address_count, err);
    struct csni_gsym_record record;
    CSNI_TRY(csni_gsym_record(&index->gsym, idx, &record, err));
    *out = csni_index_public_record(&record);
    return CSN_OK;
}

csn_status csni_index_gsym_function_start(const struct csn_index *index, uint32_t idx, uint64_t *out,
                                          struct csn_error *err) {
    if (idx >= index->gsym.address_count) return csni_index_fail_beyond("function", idx, index->gsym.address_count, err);
    *out = csni_gsym_address(&index->gsym, idx);
    return CSN_OK;
}

static csn_status get_gsym_function(const struct csn_index *index, const struct csn_record *record,
                                    struct csn_function *out, struct csn_error *err) {
    struct csni_gsym_record known;
    CSNI_TRY(csni_index_gsym_record(index, record, &known, err));
    struct csn_function function = { .start = known.start, .size = known.size,
                                     .name = csni_gsym_string(&index->gsym, known.name),
                                     .record_offset = known.offset };
    uint64_t pos = index->gsym.parts_at;
    struct csni_gsym_payload part;
    csn_status status;
    uint32_t count = 0;
    while ((status = csni_gsym_part_next(&index->gsym, &known, &pos, &part, err)) == CSN_OK) {
        if (++count > CSNI_GSYM_PARTS_MAX) return csni_gsym_fail_parts(&known, err);
        switch (part.type) {
        case CSNI_GSYM_PART_LINES: function.has_lines = 1; break;
        case CSNI_GSYM_PART_INLINE: function.has_inlines = 1; break;
        case CSNI_GSYM_PART_MERGED: function.has_merged = 1; break;
        case CSNI_GSYM_PART_CALL_SITES: function.has_call_sites = 1; break;
        default: function.unknown_parts++;
        }
    }
    if (status < 0) return status;
    function.record_size = pos;
    *out = function;
    return CSN_OK;
}

static csn_status find_gsym_part(const struct csn_index *index, const struct csn_record *record, uint32_t type,
                                 struct csni_gsym_payload *out, struct csn_error *err) {
    struct csni_gsym_record known;
    CSNI_TRY(csni_index_gsym_record(index, record, &known, err));
    return csni_gsym_part_find(&index->gsym, &known, type, out, err);
}

/* The caller's callback, and whether it ended checking. */
struct verify_context {
    csn_verify_callback *callback;
    void *context;
    bool stopped;
};

static bool pass_problem(void *context, const struct csn_error *err) {
    struct verify_context *own = context;
    own->stopped = own->callback && !own->callback(own->context, err);
    return !own->stopped;
}

static csn_status verify_gsym(const struct csn_index *index, csn_verify_callback *callback, void *context,
                              struct csn_verify_counts *out, struct csn_error *err) {
    struct verify_context own = { .callback = callback, .context = context };
    CSNI_TRY(csni_gsym_verify(&index->gsym, pass_problem, &own, out));
    if (own.stopped) return CSN_OK;
    struct csn_error problem = CSN_ERROR_INIT;
    bool equal;
    CSNI_TRY(csni_gsym_accel_verify(&index->gsym, index->allocator, &equal, &problem, err));
    if (equal) CSNI_TRY(csni_gsym_checkpoint_verify(&index->gsym, index->allocator, &equal, &problem, err));
    /* Of records that are fit to be read. */
    if (equal && !out->problems) CSNI_TRY(csni_gsym_names_verify(&index->gsym, index->allocator, &equal, &problem, err));
    if (equal) return CSN_OK;
    out->problems++;
    if (callback) (void)callback(context, &problem);
    return CSN_OK;
}

static csn_status get_gsym_part_bytes(const struct csn_index *index, uint64_t *out, struct csn_error *err) {
    return csni_gsym_part_bytes(&index->gsym, index->allocator, out, err);
}

static csn_status get_gsym_record_sizes(const struct csn_index *index, const struct csn_record *record,
                                        struct csni_counted_bytes *counted, struct csn_function_stats *out) {
    (void)counted; /* names are strings of their own */
    struct csni_gsym_record known;
    struct csni_gsym_record_sizes sizes;
    CSNI_TRY(csni_index_gsym_record(index, record, &known, NULL));
    csn_status status = csni_gsym_record_sizes(&index->gsym, &known, &sizes);
    out->record_bytes = sizes.all;
    out->line_bytes = sizes.lines;
    out->inline_bytes = sizes.inlines;
    out->merged_bytes = sizes.merged;
    out->call_site_bytes = sizes.call_sites;
    return status;
}

/* ---- members of an archive ---- */

static csn_status get_gsym_member(const struct csn_index *index, uint32_t idx, void *scratch, size_t size,
                                  struct csn_binary *out, size_t *out_need, struct csn_error *err) {
    (void)scratch;
    (void)size;
    const struct csni_gsym *gsym = &index->gsym;
    if (idx >= gsym->member_count) return csni_index_fail_beyond("binary", idx, gsym->member_count, err);
    struct csn_str name, next;
    uint64_t start = csni_gsym_member(gsym, idx, &name);
    uint64_t end = idx + 1 < gsym->member_count ? csni_gsym_member(gsym, idx + 1, &next) : start;
    *out = (struct csn_binary){ .name = name, .address = start, .size = end > start ? end - start : 0 };
    *out_need = 0;
    return CSN_OK;
}

static csn_status get_gsym_alias(const struct csn_index *index, uint32_t idx, void *scratch, size_t size, struct csn_str *out,
                                 uint32_t *out_binary, size_t *out_need, struct csn_error *err) {
    (void)index;
    (void)scratch;
    (void)size;
    (void)out;
    (void)out_binary;
    (void)out_need;
    return csni_index_fail_beyond("alias", idx, 0, err);
}

/* Members may have equal names: the first. */
static csn_status find_gsym_member(const struct csn_index *index, struct csn_str name, uint32_t *out_idx, uint32_t *out_match) {
    for (uint32_t i = 0; i < index->gsym.member_count; i++) {
        struct csn_str found;
        csni_gsym_member(&index->gsym, i, &found);
        if (!csni_str_equal(found, name)) continue;
        *out_idx = i;
        *out_match = CSN_BINARY_NAMED;
        return CSN_OK;
    }
    return CSN_NONE;
}

static csn_status look_up_in_gsym_member(const struct csn_index *index, uint32_t member, uint64_t offset,
                                         struct csn_frame_ref *frames, size_t cap, struct csn_lookup *out, struct csn_error *err) {
    struct csn_str name;
    if (member >= index->gsym.member_count) return csni_index_fail_beyond("binary", member, index->gsym.member_count, err);
    uint64_t addr = csni_gsym_member(&index->gsym, member, &name) + offset;
    return look_up_gsym_refs(index, addr, CSN_LOOKUP_DEFAULT, frames, cap, out, err);
}

static const struct csni_index_binaries gsym_members = {
    .binary = get_gsym_member, .alias = get_gsym_alias, .find = find_gsym_member, .lookup = look_up_in_gsym_member,
};

const struct csni_index_format csni_index_gsym = {
    .recognize = recognize_gsym, .open = open_gsym, .close = close_gsym, .get_info = get_gsym_info, .lookup = look_up_gsym,
    .lookup_refs = look_up_gsym_refs, .lookup_batch = csni_index_gsym_lookup_batch, .resolve = resolve_gsym,
    .file = get_gsym_file, .string = csni_index_gsym_string, .section = get_gsym_section,
    .record = csni_index_gsym_get_record, .function_start = csni_index_gsym_function_start, .function = get_gsym_function,
    .check = csni_index_gsym_check, .find_part = find_gsym_part, .verify = verify_gsym, .part_bytes = get_gsym_part_bytes,
    .record_sizes = get_gsym_record_sizes, .binaries = &gsym_members,
};
