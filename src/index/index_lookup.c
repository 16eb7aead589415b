/* One address to its frames. */
#include "index/index_private.h"

const char *csn_reason_text(uint32_t reason) {
    switch (reason) {
    case CSN_REASON_COMPLETE: return "nothing is missing";
    case CSN_REASON_BEFORE_FIRST: return "the address is below the first function of the index";
    case CSN_REASON_GAP: return "the address is behind the end of the function that starts before it";
    case CSN_REASON_NO_LINE_TABLE: return "the function has no line table";
    case CSN_REASON_NO_ROW: return "the function has no line for this address";
    case CSN_REASON_BAD_FILE: return "the line names a file that the index does not have";
    case CSN_REASON_NO_BINARY: return "the index has no binary of that name";
    case CSN_REASON_NO_CALL_FILE: return "the inlined call names no file";
    case CSN_REASON_NO_MODULE: return "no module covers the address";
    case CSN_REASON_NO_INDEX: return "there is no index for the module";
    default: return "the reason is not known to this version of the library";
    }
}

/* The accelerator's place for an address. False: the index itself has to answer. */
static inline bool find_fast(const struct csni_gsym_accel *accel, uint64_t addr, const struct csni_accel_block **block,
                             const struct csni_accel_segment **segment) {
    if (!csni_accel_covers(accel, addr)) return false;
    *block = csni_accel_block(accel, csni_accel_entry(accel, addr));
    csni_accel_prefetch_block(*block);
    *segment = csni_accel_segment(accel, *block, addr);
    csni_accel_prefetch_node(accel, (*segment)->node);
    return (*segment)->node != CSNI_ACCEL_PLAIN;
}

csn_status csn_index_lookup_refs(const struct csn_index *index, uint64_t addr, enum csn_lookup_mode mode,
                                 struct csn_frame_ref *frames, size_t cap, struct csn_lookup *out,
                                 struct csn_error *err) {
    struct csn_lookup ignored;
    if (!out) out = &ignored;
    if (index->other) return index->other->lookup(index, addr, mode, frames, cap, out, err);
    const struct csni_accel_block *block;
    const struct csni_accel_segment *segment;
    if (mode == CSN_LOOKUP_DEFAULT && find_fast(&index->accel, addr, &block, &segment))
        return csni_accel_answer(&index->accel, index->gsym.file_count, block, segment, addr, frames, cap, out);
    struct csni_gsym_answer answer;
    csn_status status = csni_gsym_lookup(&index->gsym, addr, mode, &answer, err);
    if (status >= 0) csni_index_give(index, &answer, status, frames, cap, out);
    return status;
}

void csn_index_resolve(const struct csn_index *index, const struct csn_frame_ref *ref, struct csn_frame *out) {
    if (index->other) {
        index->other->resolve(index, ref, out);
        return;
    }
    struct csn_str directory, base;
    if (index->accel.table) csni_accel_file(&index->accel, &index->gsym, ref->file, &directory, &base);
    else csni_gsym_file(&index->gsym, ref->file, &directory, &base);
    *out = (struct csn_frame){ csni_gsym_string(&index->gsym, ref->name), directory, base, ref->offset, ref->line,
                               ref->flags, ref->reason, 0 };
}

/* The strings of an answer are three reads a frame that each wait for memory, the paths' for the file table's before. Asked for
 * together, the frames' wait at the same time. */
static void prefetch_strings(const struct csni_gsym *gsym, const struct csn_frame_ref *refs, size_t count) {
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

static void resolve_all(const struct csn_index *index, const struct csn_frame_ref *refs, size_t count,
                        struct csn_frame *frames) {
    if (count > 1) prefetch_strings(&index->gsym, refs, count);
    for (size_t k = 0; k < count; k++) csn_index_resolve(index, &refs[k], &frames[k]);
}

/* Other formats than GSYM have so many frames at most. */
enum { OTHER_FRAMES = CSN_INLINE_DEPTH_MAX + 1 };

static csn_status look_up_other(const struct csn_index *index, uint64_t addr, struct csn_frame *frames, size_t cap,
                                size_t *out_count, struct csn_error *err) {
    struct csn_frame_ref refs[OTHER_FRAMES];
    struct csn_lookup found;
    csn_status status = index->other->lookup(index, addr, CSN_LOOKUP_DEFAULT, refs, OTHER_FRAMES, &found, err);
    if (status < 0) return status;
    for (size_t k = 0; k < found.frame_count && k < cap && k < OTHER_FRAMES; k++)
        index->other->resolve(index, &refs[k], &frames[k]);
    *out_count = found.frame_count;
    return status;
}

/* Frames with their strings, none of which is touched here; they are asked for, all at once. */
static csn_status resolve_fast(const struct csn_index *index, const struct csni_accel_block *block,
                               const struct csni_accel_segment *segment, uint64_t addr, struct csn_frame *frames,
                               size_t cap, size_t *out_count) {
    const struct csni_gsym_accel *accel = &index->accel;
    size_t count = 0;
    bool found = segment->node != CSNI_ACCEL_GAP;
    struct csni_accel_walk walk = csni_accel_frames(accel, block, segment, addr);
    for (walk.done = !found; !walk.done; count++) {
        struct csn_frame_ref ref;
        csni_accel_next(accel, index->gsym.file_count, &walk, &ref);
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

csn_status csn_index_lookup(const struct csn_index *index, uint64_t addr, struct csn_frame *frames, size_t cap,
                            size_t *out_count, struct csn_error *err) {
    if (index->other) return look_up_other(index, addr, frames, cap, out_count, err);
    const struct csni_accel_block *block;
    const struct csni_accel_segment *segment;
    if (find_fast(&index->accel, addr, &block, &segment))
        return resolve_fast(index, block, segment, addr, frames, cap, out_count);
    enum { REFS = 32 }; /* deeper answers are rare */
    struct csn_frame_ref refs[REFS];
    struct csni_gsym_answer answer;
    csn_status status = csni_gsym_lookup(&index->gsym, addr, CSN_LOOKUP_DEFAULT, &answer, err);
    if (status < 0) return status;
    size_t count = status == CSN_OK ? answer.inlined_count + 1 : 0, stored = count < cap ? count : cap;
    for (size_t k = 0; k < stored;) {
        size_t some = stored - k < REFS ? stored - k : REFS;
        for (size_t i = 0; i < some; i++) csni_gsym_frame(&index->gsym, &answer, k + i, &refs[i]);
        resolve_all(index, refs, some, frames + k);
        k += some;
    }
    *out_count = count;
    return status;
}
