/* Many addresses to their frames in a GSYM file: each step is taken for a group of addresses before the next one, so that what
 * they wait for comes from memory at the same time. */
#include "base/core/byte_blocks.h"
#include "base/core/prefetch.h"
#include "formats/gsym/read/gsym_walk.h"
#include "index/index_gsym.h"

/* A group's tables would otherwise lie on the stack below the lookups of indexes without an accelerator. */
#if defined(__GNUC__)
#define NOT_INLINED __attribute__((noinline))
#else
#define NOT_INLINED
#endif

/* `walk`: it goes on from there; NULL: no address beside this one has the same function. */
static void look_up_plain(struct csni_index_batch *b, uint64_t addr, size_t upper, struct csni_gsym_walk *walk,
                          struct csn_batch_answer *out) {
    struct csni_gsym_answer answer;
    const struct csni_gsym *gsym = &b->index->gsym;
    out->status = walk ? csni_gsym_walk_to(gsym, walk, upper, addr, b->mode, &answer, NULL)
                       : csni_gsym_lookup_at(gsym, upper, addr, b->mode, &answer, NULL);
    if (out->status >= 0)
        csni_index_fill_answer(b->index, &answer, out->status, b->frames + b->used, b->cap - b->used, &out->found);
    else
        out->found = (struct csn_lookup){ .reason = CSN_REASON_COMPLETE };
    out->first_frame = b->used;
    out->reserved = 0;
    b->used += out->found.frame_count;
}

static size_t look_up_group(struct csni_index_batch *b, const uint64_t *addrs, size_t count,
                            struct csni_gsym_walk *walk, struct csn_batch_answer *answers) {
    size_t upper[CSNI_BATCH_GROUP], k;
    csni_gsym_search(&b->index->gsym, addrs, count, upper);
    for (k = 0; k < count && b->cap - b->used >= CSNI_BATCH_FRAMES_EACH; k++) {
        bool neighbour = upper[k] == walk->upper || (k + 1 < count && upper[k] == upper[k + 1]);
        look_up_plain(b, addrs[k], upper[k], neighbour ? walk : NULL, &answers[k]);
    }
    return k;
}

/* With an accelerator, up to the first address that it leaves to the plain way. */
NOT_INLINED static size_t look_up_group_fast(struct csni_index_batch *b, const uint64_t *addrs, size_t count,
                                             struct csn_batch_answer *answers) {
    const struct csni_gsym_accel *accel = &b->index->accel;
    struct csni_accel_block blocks[CSNI_BATCH_GROUP];
    struct csni_accel_segment segments[CSNI_BATCH_GROUP];
    for (size_t k = 0; k < count; k++)
        if (csni_accel_covers(accel, addrs[k])) csni_prefetch(csni_accel_entry(accel, addrs[k]));
    for (size_t k = 0; k < count; k++)
        if (csni_accel_covers(accel, addrs[k])) csni_accel_prefetch_block(accel, csni_accel_entry(accel, addrs[k]));
    for (size_t k = 0; k < count; k++) {
        segments[k].node = CSNI_ACCEL_PLAIN;
        if (!csni_accel_covers(accel, addrs[k])) continue;
        if (!csni_accel_open_block(accel, csni_accel_entry(accel, addrs[k]), &blocks[k])) continue;
        segments[k] = csni_accel_segment(accel, &blocks[k], addrs[k]);
        csni_accel_prefetch_node(accel, segments[k].node);
    }
    size_t k;
    for (k = 0; k < count && b->cap - b->used >= CSNI_BATCH_FRAMES_EACH; k++) {
        answers[k].status = segments[k].node == CSNI_ACCEL_PLAIN
                                ? CSN_E_FORMAT
                                : csni_accel_answer(accel, &blocks[k], &segments[k], addrs[k], b->frames + b->used,
                                                    b->cap - b->used, &answers[k].found);
        if (answers[k].status < 0) break;
        if (b->index->gsym.member_count && answers[k].status == CSN_OK)
            answers[k].found.binary = csni_gsym_member_at(&b->index->gsym, answers[k].found.function_start);
        answers[k].first_frame = b->used;
        answers[k].reserved = 0;
        b->used += answers[k].found.frame_count;
    }
    return k;
}

static size_t look_up_group_accelerated(struct csni_index_batch *b, const uint64_t *addrs, size_t count,
                                        struct csn_batch_answer *answers) {
    size_t done = 0;
#if CSNI_BYTE_BLOCKS
    if (b->index->accel.direct) done = csni_index_gsym_group_avx2(b, addrs, count, answers);
#endif
    if (done == count || b->cap - b->used < CSNI_BATCH_FRAMES_EACH) return done;
    return done + look_up_group_fast(b, addrs + done, count - done, answers + done);
}

size_t csni_index_gsym_lookup_batch(struct csni_index_batch *b, const uint64_t *addrs, size_t count,
                                    struct csn_batch_answer *answers) {
    struct csni_gsym_walk walk = { .upper = 0 };
    bool fast = b->index->accel.table && b->mode == CSN_LOOKUP_DEFAULT;
    size_t done = 0;
    while (done < count && b->cap - b->used >= CSNI_BATCH_FRAMES_EACH) {
        size_t group = count - done < CSNI_BATCH_GROUP ? count - done : CSNI_BATCH_GROUP;
        if (fast) {
            size_t answered = look_up_group_accelerated(b, addrs + done, group, answers + done);
            done += answered;
            group = answered < group ? 1 : 0;
            if (b->cap - b->used < CSNI_BATCH_FRAMES_EACH) break;
        }
        if (group) done += look_up_group(b, addrs + done, group, &walk, answers + done);
    }
    return done;
}
