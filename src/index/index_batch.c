/* Many addresses to their frames. */
#include "base/core/sized.h"
#include "index/index_private.h"

/* Up to CSNI_BATCH_GROUP of them. */
static size_t look_up_group(struct csni_index_batch *b, const uint64_t *addrs, size_t count,
                            struct csn_batch_answer *answers) {
    size_t k;
    if (b->index->format->prefetch)
        for (k = 0; k < count; k++) b->index->format->prefetch(b->index, addrs[k]);
    for (k = 0; k < count && b->cap - b->used >= CSNI_BATCH_FRAMES_EACH; k++) {
        answers[k].found = (struct csn_lookup){ .reason = CSN_REASON_COMPLETE };
        answers[k].status = b->index->format->lookup_refs(b->index, addrs[k], b->mode, b->frames + b->used, b->cap - b->used,
                                                          &answers[k].found, NULL);
        answers[k].first_frame = b->used;
        answers[k].reserved = 0;
        b->used += answers[k].found.frame_count;
    }
    return k;
}

size_t csni_index_lookup_each(struct csni_index_batch *b, const uint64_t *addrs, size_t count,
                              struct csn_batch_answer *answers) {
    size_t done = 0;
    while (done < count && b->cap - b->used >= CSNI_BATCH_FRAMES_EACH) {
        size_t group = count - done < CSNI_BATCH_GROUP ? count - done : CSNI_BATCH_GROUP;
        done += look_up_group(b, addrs + done, group, answers + done);
    }
    return done;
}

void csn_lookup_batch_init(struct csn_lookup_batch *batch) { *batch = (struct csn_lookup_batch)CSN_LOOKUP_BATCH_INIT; }

csn_status csn_index_lookup_batch(const struct csn_index *index, const struct csn_lookup_batch *given, size_t *out_done,
                                  struct csn_error *err) {
    struct csn_lookup_batch batch = CSN_LOOKUP_BATCH_INIT;
    CSNI_TRY(csni_options_copy(&batch, sizeof batch, given, given->struct_size, err));
    CSNI_TRY(csni_check_reserved("csn_lookup_batch.reserved", batch.reserved, err));
    if (batch.mode > CSN_LOOKUP_LLVM) return csni_index_fail_mode(batch.mode, err);
    if (batch.frame_capacity < CSNI_BATCH_FRAMES_EACH)
        return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "csn_index_lookup_batch: room for %zu frames, need >= %d",
                         batch.frame_capacity, CSNI_BATCH_FRAMES_EACH);
    struct csni_index_batch b = { .index = index, .mode = (enum csn_lookup_mode)batch.mode, .frames = batch.frames,
                                  .cap = batch.frame_capacity };
    *out_done = index->format->lookup_batch(&b, batch.addrs, batch.count, batch.answers);
    return CSN_OK;
}
