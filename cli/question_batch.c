/* Asking many addresses at once. */
#define _GNU_SOURCE
#include "question_batch.h"

#include <stdlib.h>
#include <string.h>

enum { ROOM_FOR_ONE = CSN_INLINE_DEPTH_MAX + 1, FIRST_CAP = 4 * QUESTIONS_MAX };

static bool reserve(struct question_batch *batch, size_t cap) {
    struct csn_frame_ref *refs = reallocarray(batch->refs, cap, sizeof(*refs));
    if (!refs) return false;
    batch->refs = refs;
    struct csn_frame *frames = reallocarray(batch->frames, cap, sizeof(*frames));
    if (!frames) return false;
    batch->frames = frames;
    batch->cap = cap;
    return true;
}

bool question_batch_init(struct question_batch *batch, struct asker *asker) {
    batch->asker = asker;
    batch->count = 0;
    batch->refs = NULL;
    batch->frames = NULL;
    if (reserve(batch, FIRST_CAP)) return true;
    question_batch_deinit(batch);
    return false;
}

void question_batch_deinit(struct question_batch *batch) {
    free(batch->refs);
    free(batch->frames);
    batch->refs = NULL;
    batch->frames = NULL;
}

/* One byte of the addresses at a time, from the lowest; those in which all are the same are left out. */
static void sort_questions(struct question_batch *batch) {
    struct question *from = batch->questions, *to = batch->spare;
    uint64_t differ = 0;
    for (size_t k = 1; k < batch->count; k++) differ |= from[k].addr ^ from[0].addr;
    for (unsigned shift = 0; shift < 64; shift += 8) {
        if (!(differ >> shift & 0xff)) continue;
        uint32_t starts[257] = { 0 };
        for (size_t k = 0; k < batch->count; k++) starts[(from[k].addr >> shift & 0xff) + 1]++;
        for (size_t k = 1; k < 256; k++) starts[k] += starts[k - 1];
        for (size_t k = 0; k < batch->count; k++) to[starts[from[k].addr >> shift & 0xff]++] = from[k];
        struct question *other = from;
        from = to;
        to = other;
    }
    for (size_t k = 0; k < batch->count; k++) {
        batch->addrs[k] = from[k].addr;
        batch->answer_of[from[k].place] = (uint32_t)k;
    }
}

bool question_batch_ask(struct question_batch *batch) {
    sort_questions(batch);
    const struct csn_index *index = batch->asker->index;
    size_t used = 0;
    for (size_t at = 0, done = 0; at < batch->count; at += done) {
        if (batch->cap - used < ROOM_FOR_ONE && !reserve(batch, batch->cap * 2)) return false;
        struct csn_batch_answer *answers = batch->answers + at;
        if (csn_index_lookup_batch(index, batch->addrs + at, batch->count - at, batch->asker->mode, answers,
                                   batch->refs + used, batch->cap - used, &done, NULL) < 0)
            return false;
        for (size_t k = 0; k < done; k++) answers[k].first_frame += used;
        const struct csn_batch_answer *last = &answers[done - 1];
        used = last->first_frame + last->found.frame_count;
    }
    for (size_t k = 0; k < used; k++) csn_index_resolve(index, &batch->refs[k], &batch->frames[k]);
    return true;
}

void question_batch_answer(struct question_batch *batch, size_t place, struct answer *out) {
    uint32_t k = batch->answer_of[place];
    const struct csn_batch_answer *answer = &batch->answers[k];
    if (answer->status < 0) {
        asker_ask(batch->asker, batch->addrs[k], out); /* for the text of the error */
        return;
    }
    memset(out, 0, sizeof(*out));
    out->status = answer->status;
    out->addr = batch->addrs[k];
    out->found = answer->found;
    out->frames = batch->frames + answer->first_frame;
}
