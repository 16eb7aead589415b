/* Lookups of an accelerator in one go: formats/gsym/read/gsym_accel_direct.h. */
#include "index/index_gsym.h"

#include "formats/gsym/read/gsym_accel_direct.h"

#if CSNI_BYTE_BLOCKS

#define AVX2 CSNI_AVX2
#define AVX2_INLINE CSNI_AVX2_INLINE

/* ---- frames with strings, none of which is read here ---- */

/* One that is long is for a call: searching its end would be most of the code here. */
AVX2_INLINE struct csn_str begin_string(const struct csn_index *index, uint64_t offset, unsigned length) {
    if (offset + length >= index->gsym.strings.size || length == CSNI_ACCEL_LONG) return csni_index_gsym_string(index, offset);
    const char *text = (const char *)index->gsym.strings.ptr + offset;
    csni_prefetch(text);
    return (struct csn_str){ text, length };
}

/* The file is one of the accelerator's. */
AVX2_INLINE void put_frame(const struct csn_index *index, const struct csni_direct_walk *w, struct csn_frame *out) {
    const uint8_t *file = index->accel.files + (size_t)w->file * CSNI_ACCEL_FILE;
    uint64_t directory = csni_load64(file), base = csni_load64(file + 8);
    out->directory = begin_string(index, directory >> 8, directory & 0xff);
    out->base = begin_string(index, base >> 8, base & 0xff);
    out->line = w->line;
    out->reason = w->reason;
    out->reserved = 0;
}

/* Frames of the inlined calls; how many there are. */
AVX2_INLINE size_t put_inlined(const struct csn_index *index, struct csni_direct_walk *w, struct csn_frame *frames, size_t cap) {
    size_t count = 0;
    for (; w->node && count < CSN_INLINE_DEPTH_MAX; count++) {
        struct csn_frame ignored, *out = count < cap ? &frames[count] : &ignored;
        put_frame(index, w, out);
        struct csni_direct_call call = csni_direct_leave_node(&index->accel, w);
        out->name = begin_string(index, call.name, call.length);
        out->offset = w->rel - call.offset;
        out->flags = CSN_FRAME_INLINED;
    }
    return count;
}

AVX2 csn_status csni_index_gsym_lookup_avx2(const struct csn_index *index, uint64_t addr, struct csn_frame *frames, size_t cap,
                                            size_t *out_count, struct csn_error *err) {
    const struct csni_gsym_accel *accel = &index->accel;
    uint64_t rel = addr - accel->first, left;
    if (rel >= accel->covered) return csni_index_gsym_lookup(index, addr, frames, cap, out_count, err);
    uint64_t entry = csni_load64(csni_accel_entry(accel, addr));
    csni_gsym_prefetch_string(&index->gsym, entry >> 32);
    const uint8_t *block = csni_direct_block(accel, (uint32_t)entry, &left);
    struct csni_direct_walk w;
    if (!block || !csni_direct_segment(accel, block, left, rel, &w))
        return csni_index_gsym_lookup(index, addr, frames, cap, out_count, err);
    size_t count = w.node ? put_inlined(index, &w, frames, cap) : 0;
    if (count < cap) {
        struct csn_frame *out = &frames[count];
        out->name = begin_string(index, csni_load32(w.function + 8), w.function[16]);
        put_frame(index, &w, out);
        out->offset = w.rel;
        out->flags = 0;
    }
    *out_count = count + 1;
    return CSN_OK;
}

/* ---- references ---- */

/* Field by field: a copy of the whole waits for the stores that make it. */
AVX2_INLINE void put_ref(const struct csni_direct_walk *w, uint64_t name, uint64_t start, uint32_t flags,
                         struct csn_frame_ref *out) {
    out->name = name;
    out->offset = w->rel - start;
    out->file = w->file;
    out->line = w->line;
    out->flags = flags;
    out->reason = w->reason;
}

/* False: of a function that there is not. */
AVX2_INLINE bool put_refs(const struct csn_index *index, struct csni_direct_walk *w, struct csn_frame_ref *frames, size_t cap,
                          struct csn_lookup *out) {
    const struct csni_gsym_accel *accel = &index->accel;
    uint32_t function = csni_load32(w->function + 12);
    if (function >= accel->function_count) return false;
    *out = (struct csn_lookup){ .function_start = accel->first + csni_load32(w->function),
                                .function_size = csni_load32(w->function + 4), .function_index = function, .reason = w->reason };
    if (index->gsym.member_count) out->binary = csni_gsym_member_at(&index->gsym, out->function_start);
    size_t count = 0;
    for (; w->node && count < CSN_INLINE_DEPTH_MAX; count++) {
        struct csni_direct_walk own = *w;
        struct csni_direct_call call = csni_direct_leave_node(accel, w);
        if (count < cap) put_ref(&own, call.name, call.offset, CSN_FRAME_INLINED, &frames[count]);
    }
    if (count < cap) put_ref(w, csni_load32(w->function + 8), 0, 0, &frames[count]);
    out->frame_count = count + 1;
    return true;
}

AVX2 csn_status csni_index_gsym_lookup_refs_avx2(const struct csn_index *index, uint64_t addr,
                                                 enum csn_lookup_mode mode, struct csn_frame_ref *frames, size_t cap,
                                                 struct csn_lookup *out, struct csn_error *err) {
    const struct csni_gsym_accel *accel = &index->accel;
    uint64_t rel = addr - accel->first, left;
    struct csni_direct_walk w;
    if (mode == CSN_LOOKUP_DEFAULT && rel < accel->covered) {
        const uint8_t *block = csni_direct_block(accel, csni_load32(csni_accel_entry(accel, addr)), &left);
        if (block && csni_direct_segment(accel, block, left, rel, &w) && put_refs(index, &w, frames, cap, out)) return CSN_OK;
    }
    return csni_index_gsym_lookup_refs(index, addr, mode, frames, cap, out, err);
}

/* ---- several at once ---- */

/* The answer of an address whose block has been asked for. False: not known here. */
AVX2_INLINE bool answer_next(struct csni_index_batch *b, uint64_t addr, const uint8_t *block, uint64_t left,
                             struct csn_batch_answer *out) {
    struct csni_direct_walk w;
    const struct csni_gsym_accel *accel = &b->index->accel;
    if (!csni_direct_segment(accel, block, left, addr - accel->first, &w)) return false;
    if (!put_refs(b->index, &w, b->frames + b->used, b->cap - b->used, &out->found)) return false;
    out->status = CSN_OK;
    out->first_frame = b->used;
    out->reserved = 0;
    b->used += out->found.frame_count;
    return true;
}

AVX2 size_t csni_index_gsym_group_avx2(struct csni_index_batch *b, const uint64_t *addrs, size_t count,
                                       struct csn_batch_answer *answers) {
    const struct csni_gsym_accel *accel = &b->index->accel;
    const uint8_t *blocks[CSNI_BATCH_GROUP];
    uint64_t left[CSNI_BATCH_GROUP];
    size_t known, k;
    for (k = 0; k < count; k++)
        if (csni_accel_covers(accel, addrs[k])) csni_prefetch(csni_accel_entry(accel, addrs[k]));
    for (known = 0; known < count && csni_accel_covers(accel, addrs[known]); known++) {
        blocks[known] = csni_direct_block(accel, csni_load32(csni_accel_entry(accel, addrs[known])), &left[known]);
        if (!blocks[known]) break;
    }
    for (k = 0; k < known && b->cap - b->used >= CSNI_BATCH_FRAMES_EACH; k++)
        if (!answer_next(b, addrs[k], blocks[k], left[k], &answers[k])) break;
    return k;
}

#endif
