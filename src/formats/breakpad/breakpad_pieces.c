/* Pieces of a text output. */
#include "formats/breakpad/breakpad_pieces.h"

#include <pthread.h>

enum { WINDOW = CSNI_BREAKPAD_WINDOW };
/* Room that a text begins with, more than most of a writer's pieces need: what is not written to takes no memory. */
enum { TEXT_FIRST = 96 << 10 };

/* A worker that has made a piece writes it, and those after it that are ready, unless another one is writing: so that pieces go out
 * one after the other while others are made. */
struct window {
    struct csni_breakpad_pieces *pieces;
    csni_breakpad_make_piece *make;
    void *context;
    size_t late;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t changed;
    struct csni_buffer texts[WINDOW]; /* of piece i at i % WINDOW */
    bool is_made[WINDOW];
    size_t written;
    bool is_writing, has_failed;
};

void csni_breakpad_pieces_init(struct csni_breakpad_pieces *p, const struct csni_sink *sink, struct csni_pool *pool,
                               const struct csn_allocator *alloc) {
    *p = (struct csni_breakpad_pieces){ .sink = sink, .alloc = alloc, .pool = pool };
    p->kept.alloc = alloc;
}

void csni_breakpad_pieces_deinit(struct csni_breakpad_pieces *p) {
    while (p->spare_count) csni_buffer_deinit(&p->spare[--p->spare_count]);
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

/* The buffer that was used last is in the processor's caches. Called with the lock. */
static struct csni_buffer take_buffer(struct csni_breakpad_pieces *p) {
    return p->spare_count ? p->spare[--p->spare_count] : (struct csni_buffer){ .alloc = p->alloc };
}

static void give_back(struct csni_breakpad_pieces *p, struct csni_buffer *text) {
    if (text->capacity) p->spare[p->spare_count++] = *text;
    *text = (struct csni_buffer){ .alloc = p->alloc };
}

/* Called with the lock, which is open while a piece is written. */
static csn_status write_ready(struct window *w, struct csn_error *err) {
    csn_status status = CSN_OK;
    w->is_writing = true;
    while (status >= 0 && w->is_made[w->written % WINDOW]) {
        size_t at = w->written % WINDOW;
        pthread_mutex_unlock(&w->lock);
        if (w->written == w->late) status = w->make(w->context, w->late, &w->texts[at], err);
        if (status >= 0) status = csni_breakpad_pieces_add(w->pieces, &w->texts[at], err);
        pthread_mutex_lock(&w->lock);
        give_back(w->pieces, &w->texts[at]);
        w->is_made[at] = false;
        w->written++;
        pthread_cond_broadcast(&w->changed);
    }
    w->is_writing = false;
    return status;
}

/* Pieces are handed out in order, so the one that all others wait for is always at work. What is written for each
 * field of a record, the size of the text, is on the worker's own stack: in the window it would be in one cache line
 * with that of other workers' pieces. */
static csn_status make_piece(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    (void)worker;
    struct window *w = context;
    struct csni_buffer text = { 0 };
    pthread_mutex_lock(&w->lock);
    while (item - w->written >= WINDOW && !w->has_failed) pthread_cond_wait(&w->changed, &w->lock);
    bool is_wanted = !w->has_failed;
    if (is_wanted) text = take_buffer(w->pieces);
    pthread_mutex_unlock(&w->lock);
    if (!is_wanted) return CSN_OK; /* what failed tells */
    csn_status status = CSN_OK;
    if (item != w->late) {
        (void)csni_buffer_reserve(&text, TEXT_FIRST);
        status = w->make(w->context, item, &text, err);
    }
    pthread_mutex_lock(&w->lock);
    w->texts[item % WINDOW] = text;
    w->is_made[item % WINDOW] = status >= 0;
    if (status >= 0 && !w->is_writing && !w->has_failed) status = write_ready(w, err);
    if (status < 0) {
        w->has_failed = true;
        pthread_cond_broadcast(&w->changed);
    }
    pthread_mutex_unlock(&w->lock);
    return status;
}

csn_status csni_breakpad_pieces_make(struct csni_breakpad_pieces *p, size_t count, size_t late, csni_breakpad_make_piece *make,
                                     void *context, struct csn_error *err) {
    struct window w = { .pieces = p, .make = make, .context = context, .late = late };
    pthread_mutex_init(&w.lock, NULL);
    pthread_cond_init(&w.changed, NULL);
    csn_status status = csni_pool_run(p->pool, count, make_piece, &w, err);
    for (size_t i = 0; i < WINDOW; i++) csni_buffer_deinit(&w.texts[i]); /* of what failed */
    pthread_cond_destroy(&w.changed);
    pthread_mutex_destroy(&w.lock);
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
