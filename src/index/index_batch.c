/* Many addresses to their frames: each step is taken for a group of addresses before the next one, so that what they wait
 * for comes from memory at the same time. */
#include "base/core/prefetch.h"
#include "formats/gsym/read/gsym_walk.h"
#include "index/index_private.h"

enum { GROUP = 16, FRAMES_EACH = CSN_INLINE_DEPTH_MAX + 1 };

struct batch {
    const struct csn_index *index;
    enum csn_lookup_mode mode;
    struct csn_frame_ref *frames;
    size_t cap, used;
    struct csni_gsym_walk walk; /* over the records, where the accelerator does not answer */
};

/* `neighbour`: the function of the address before or behind is the same. */
static void look_up_plain(struct batch *b, uint64_t addr, size_t behind, bool neighbour, struct csn_batch_answer *out) {
    struct csni_gsym_answer answer;
    const struct csni_gsym *gsym = &b->index->gsym;
    out->status = neighbour ? csni_gsym_walk_to(gsym, &b->walk, behind, addr, b->mode, &answer, NULL)
                            : csni_gsym_lookup_at(gsym, behind, addr, b->mode, &answer, NULL);
    if (out->status >= 0)
        csni_index_give(b->index, &answer, out->status, b->frames + b->used, b->cap - b->used, &out->found);
    else
        out->found = (struct csn_lookup){ .reason = CSN_REASON_COMPLETE };
    out->first_frame = b->used;
    out->reserved = 0;
    b->used += out->found.frame_count;
}

static size_t answer_plain(struct batch *b, const uint64_t *addrs, size_t count, struct csn_batch_answer *answers) {
    size_t behind[GROUP], k;
    csni_gsym_search(&b->index->gsym, addrs, count, behind);
    for (k = 0; k < count && b->cap - b->used >= FRAMES_EACH; k++) {
        bool neighbour = behind[k] == b->walk.behind || (k + 1 < count && behind[k] == behind[k + 1]);
        look_up_plain(b, addrs[k], behind[k], neighbour, &answers[k]);
    }
    return k;
}

/* With an accelerator. */
static size_t answer_fast(struct batch *b, const uint64_t *addrs, size_t count, struct csn_batch_answer *answers) {
    const struct csni_gsym_accel *accel = &b->index->accel;
    const struct csni_accel_block *blocks[GROUP];
    const struct csni_accel_segment *segments[GROUP];
    for (size_t k = 0; k < count; k++)
        if (csni_accel_covers(accel, addrs[k])) csni_prefetch(csni_accel_entry(accel, addrs[k]));
    for (size_t k = 0; k < count; k++) {
        blocks[k] = NULL;
        if (!csni_accel_covers(accel, addrs[k])) continue;
        blocks[k] = csni_accel_block(accel, csni_accel_entry(accel, addrs[k]));
        csni_accel_prefetch_block(blocks[k]);
    }
    for (size_t k = 0; k < count; k++) {
        if (!blocks[k]) continue;
        segments[k] = csni_accel_segment(accel, blocks[k], addrs[k]);
        csni_accel_prefetch_node(accel, segments[k]->node);
    }
    size_t k;
    for (k = 0; k < count && b->cap - b->used >= FRAMES_EACH; k++) {
        if (!blocks[k] || segments[k]->node == CSNI_ACCEL_PLAIN) {
            size_t behind;
            csni_gsym_search(&b->index->gsym, &addrs[k], 1, &behind);
            look_up_plain(b, addrs[k], behind, false, &answers[k]);
            continue;
        }
        answers[k].status = csni_accel_answer(accel, b->index->gsym.file_count, blocks[k], segments[k], addrs[k],
                                              b->frames + b->used, b->cap - b->used, &answers[k].found);
        answers[k].first_frame = b->used;
        answers[k].reserved = 0;
        b->used += answers[k].found.frame_count;
    }
    return k;
}

/* Formats other than GSYM: one after the other. */
static size_t answer_other(struct batch *b, const uint64_t *addrs, size_t count, struct csn_batch_answer *answers) {
    size_t k;
    if (b->index->other->prefetch)
        for (k = 0; k < count; k++) b->index->other->prefetch(b->index, addrs[k]);
    for (k = 0; k < count && b->cap - b->used >= FRAMES_EACH; k++) {
        answers[k].found = (struct csn_lookup){ .reason = CSN_REASON_COMPLETE };
        answers[k].status = b->index->other->lookup(b->index, addrs[k], b->mode, b->frames + b->used, b->cap - b->used,
                                                    &answers[k].found, NULL);
        answers[k].first_frame = b->used;
        answers[k].reserved = 0;
        b->used += answers[k].found.frame_count;
    }
    return k;
}

csn_status csn_index_lookup_batch(const struct csn_index *index, const uint64_t *addrs, size_t count,
                                  enum csn_lookup_mode mode, struct csn_batch_answer *answers,
                                  struct csn_frame_ref *frames, size_t cap, size_t *out_done, struct csn_error *err) {
    if (cap < FRAMES_EACH)
        return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "csn_index_lookup_batch: room for %zu frames, need >= %d", cap,
                         FRAMES_EACH);
    struct batch b = { .index = index, .mode = mode, .frames = frames, .cap = cap };
    bool fast = index->accel.table && mode == CSN_LOOKUP_DEFAULT;
    size_t done = 0;
    while (done < count && cap - b.used >= FRAMES_EACH) {
        size_t group = count - done < GROUP ? count - done : GROUP;
        done += index->other ? answer_other(&b, addrs + done, group, answers + done)
                : fast       ? answer_fast(&b, addrs + done, group, answers + done)
                             : answer_plain(&b, addrs + done, group, answers + done);
    }
    *out_done = done;
    return CSN_OK;
}
