/* Looking many addresses up in one pass. */
#define _GNU_SOURCE
#include "lookup/query_batch.h"

#include <stdlib.h>
#include <string.h>

#include <callsign/inspect.h>

enum { ROOM_FOR_ONE = CSN_INLINE_DEPTH_MAX + 1, FIRST_CAP = 4 * QUERIES_MAX };
enum { FIRST_TEXT = 1 << 20, TEXT_MAX = 1 << 24 }; /* bytes */

static bool reserve(struct query_batch *batch, size_t cap) {
    struct csn_frame_ref *refs = reallocarray(batch->refs, cap, sizeof(*refs));
    if (!refs) return false;
    batch->refs = refs;
    batch->cap = cap;
    return true;
}

bool query_batch_init(struct query_batch *batch, struct index_query *query, bool ready_paths) {
    batch->query = query;
    batch->ready_paths = ready_paths;
    batch->count = 0;
    batch->refs = NULL;
    batch->text = NULL;
    batch->text_size = batch->text_capacity = 0;
    batch->frames = reallocarray(NULL, ROOM_FOR_ONE, sizeof(*batch->frames));
    bool good = path_texts_init(&batch->paths, query->index, ready_paths ? query->info.file_count : 0);
    if (good && batch->frames && reserve(batch, FIRST_CAP)) return true;
    query_batch_deinit(batch);
    return false;
}

void query_batch_deinit(struct query_batch *batch) {
    free(batch->refs);
    free(batch->frames);
    free(batch->text);
    path_texts_deinit(&batch->paths);
    batch->refs = NULL;
    batch->frames = NULL;
    batch->text = NULL;
}

/* One byte of the addresses at a time, from the lowest; those in which all are the same are left out. */
static void sort_queries(struct query_batch *batch) {
    struct batch_query *from = batch->queries, *to = batch->spare;
    uint64_t differ = 0;
    for (size_t k = 1; k < batch->count; k++) differ |= from[k].addr ^ from[0].addr;
    for (unsigned shift = 0; shift < 64; shift += 8) {
        if (!(differ >> shift & 0xff)) continue;
        uint32_t starts[257] = { 0 };
        for (size_t k = 0; k < batch->count; k++) starts[(from[k].addr >> shift & 0xff) + 1]++;
        for (size_t k = 1; k < 256; k++) starts[k] += starts[k - 1];
        for (size_t k = 0; k < batch->count; k++) to[starts[from[k].addr >> shift & 0xff]++] = from[k];
        struct batch_query *other = from;
        from = to;
        to = other;
    }
    for (size_t k = 0; k < batch->count; k++) {
        batch->addrs[k] = from[k].addr;
        batch->answer_of[from[k].place] = (uint32_t)k;
    }
}

static void resolve(struct query_batch *batch, const struct csn_frame_ref *ref, struct csn_frame *out) {
    const struct csn_index *index = batch->query->index;
    struct csn_str path;
    if (!batch->ready_paths || !path_texts_get(&batch->paths, ref->file, &path)) {
        csn_index_resolve(index, ref, out);
        return;
    }
    *out = (struct csn_frame){ .name = csn_index_string(index, ref->name), .directory = { "", 0 }, .base = path,
                               .offset = ref->offset, .line = ref->line, .flags = ref->flags | FRAME_PATH_READY,
                               .reason = ref->reason };
}

bool query_batch_run(struct query_batch *batch) {
    sort_queries(batch);
    const struct csn_index *index = batch->query->index;
    size_t used = 0;
    for (size_t at = 0, done = 0; at < batch->count; at += done) {
        if (batch->cap - used < ROOM_FOR_ONE && !reserve(batch, batch->cap * 2)) return false;
        struct csn_batch_answer *answers = batch->answers + at;
        struct csn_lookup_batch lookups = CSN_LOOKUP_BATCH_INIT;
        lookups.addrs = batch->addrs + at;
        lookups.count = batch->count - at;
        lookups.mode = (uint32_t)batch->query->mode;
        lookups.answers = answers;
        lookups.frames = batch->refs + used;
        lookups.frame_capacity = batch->cap - used;
        if (csn_index_lookup_batch(index, &lookups, &done, NULL) < 0)
            return false;
        for (size_t k = 0; k < done; k++) answers[k].first_frame += used;
        const struct csn_batch_answer *last = &answers[done - 1];
        used = (size_t)last->first_frame + last->found.frame_count;
    }
    batch->text_size = 0;
    memset(batch->kept, 0, batch->count * sizeof(*batch->kept));
    return true;
}

void query_batch_answer(struct query_batch *batch, size_t k, struct answer *out) {
    const struct csn_batch_answer *answer = &batch->answers[k];
    if (answer->status < 0) {
        index_query_address(batch->query, batch->addrs[k], out); /* for the text of the error */
        return;
    }
    /* Not all of it: clearing the error's text would take as long as a lookup. */
    out->status = answer->status;
    out->addr = batch->addrs[k];
    out->found = answer->found;
    out->frames = batch->frames;
    out->binary = out->asked = out->module = (struct csn_str){ NULL, 0 };
    out->has_pc = false;
    out->offset = 0;
    out->guessed = false;
    out->err.code = CSN_OK;
    out->err.text[0] = 0;
    for (size_t i = 0; i < answer->found.frame_count; i++)
        resolve(batch, &batch->refs[answer->first_frame + i], &batch->frames[i]);
}

void query_batch_keep(struct query_batch *batch, size_t k, const char *text, size_t size) {
    if (size > TEXT_MAX - batch->text_size) return;
    if (size > batch->text_capacity - batch->text_size) {
        size_t capacity = batch->text_capacity ? batch->text_capacity * 2 : FIRST_TEXT;
        while (capacity - batch->text_size < size) capacity *= 2;
        char *grown = realloc(batch->text, capacity);
        if (!grown) return;
        batch->text = grown;
        batch->text_capacity = capacity;
    }
    memcpy(batch->text + batch->text_size, text, size);
    batch->kept[k].start = batch->text_size;
    batch->kept[k].size = size;
    batch->text_size += size;
}

struct csn_str query_batch_kept(const struct query_batch *batch, size_t k) {
    return (struct csn_str){ batch->kept[k].size ? batch->text + batch->kept[k].start : "", batch->kept[k].size };
}
