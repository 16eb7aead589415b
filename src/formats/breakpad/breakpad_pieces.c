/* Pieces of a text output. */
#include "formats/breakpad/breakpad_pieces.h"

/* Pieces of one round: enough for workers of different luck, few enough to take little memory. */
enum { ROUND_PIECES = 16 };

struct round {
    csni_breakpad_make_piece *make;
    void *context;
    size_t first;
    struct csni_buffer texts[ROUND_PIECES];
};

void csni_breakpad_pieces_init(struct csni_breakpad_pieces *p, const struct csni_sink *sink, struct csni_pool *pool,
                               const struct csn_allocator *alloc) {
    *p = (struct csni_breakpad_pieces){ .sink = sink, .alloc = alloc, .pool = pool };
    p->kept.alloc = alloc;
}

void csni_breakpad_pieces_deinit(struct csni_breakpad_pieces *p) {
    for (size_t i = 0; i < p->kept.count; i++) csni_buffer_deinit(&p->kept.items[i]);
    csni_vec_deinit(&p->kept);
}

csn_status csni_breakpad_pieces_add(struct csni_breakpad_pieces *p, struct csni_buffer *text, struct csn_error *err) {
    if (text->failed) return csni_fail_memory(err, text->capacity);
    if (!text->size) return CSN_OK;
    if (p->sink->takes_any_order) {
        CSNI_TRY(p->sink->write(p->sink->context, p->size, text->bytes, text->size, err));
        p->size += text->size;
        text->size = 0;
        return CSN_OK;
    }
    if (!csni_vec_push(&p->kept, *text)) return csni_fail_memory(err, sizeof *text);
    p->size += text->size;
    *text = (struct csni_buffer){ .alloc = p->alloc };
    return CSN_OK;
}

static csn_status make_piece_of_round(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    (void)worker;
    struct round *r = context;
    return r->make(r->context, r->first + item, &r->texts[item], err);
}

csn_status csni_breakpad_pieces_make(struct csni_breakpad_pieces *p, size_t count, csni_breakpad_make_piece *make, void *context,
                                     struct csn_error *err) {
    struct round r = { .make = make, .context = context };
    csn_status status = CSN_OK;
    for (size_t i = 0; i < ROUND_PIECES; i++) r.texts[i].alloc = p->alloc;
    for (; r.first < count && status >= 0; r.first += ROUND_PIECES) {
        size_t pieces = count - r.first < ROUND_PIECES ? count - r.first : ROUND_PIECES;
        status = csni_pool_run(p->pool, pieces, make_piece_of_round, &r, err);
        for (size_t i = 0; i < pieces && status >= 0; i++) status = csni_breakpad_pieces_add(p, &r.texts[i], err);
    }
    for (size_t i = 0; i < ROUND_PIECES; i++) csni_buffer_deinit(&r.texts[i]);
    return status;
}

csn_status csni_breakpad_pieces_finish(struct csni_breakpad_pieces *p, struct csn_error *err) {
    uint64_t at = 0;
    if (p->sink->takes_any_order) return CSN_OK;
    CSNI_TRY(p->sink->reserve(p->sink->context, p->size, err));
    for (size_t i = 0; i < p->kept.count; i++) {
        CSNI_TRY(p->sink->write(p->sink->context, at, p->kept.items[i].bytes, p->kept.items[i].size, err));
        at += p->kept.items[i].size;
    }
    return CSN_OK;
}
