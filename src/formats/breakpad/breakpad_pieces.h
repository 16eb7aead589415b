/* The output of a writer in pieces of text, which workers make side by side and write one after the other. */
#ifndef CSNI_BREAKPAD_PIECES_H
#define CSNI_BREAKPAD_PIECES_H

#include "base/buffer.h"
#include "base/core/vec.h"
#include "base/sink.h"
#include "base/thread_pool.h"

/* Pieces that are made or wait to be written: enough for workers of different luck, few enough to take little memory. */
enum { CSNI_BREAKPAD_WINDOW = 16 };

/* Where the sink takes bytes before the size of the whole is known, texts are written and given back as they come; else they are
 * kept until the end. */
struct csni_breakpad_pieces {
    const struct csni_sink *sink;
    const struct csn_allocator *alloc;
    struct csni_pool *pool;
    uint64_t size;                       /* of all texts so far */
    CSNI_VEC(struct csni_buffer) kept;
    struct csni_buffer spare[CSNI_BREAKPAD_WINDOW]; /* empty, with memory */
    uint32_t spare_count;
};

/* Makes piece `item` in `text`, which is empty. Different pieces from different threads at once. */
typedef csn_status csni_breakpad_make_piece(void *context, size_t item, struct csni_buffer *text, struct csn_error *err);

void csni_breakpad_pieces_init(struct csni_breakpad_pieces *p, const struct csni_sink *sink, struct csni_pool *pool,
                               const struct csn_allocator *alloc);
void csni_breakpad_pieces_deinit(struct csni_breakpad_pieces *p);

/* Adds a text, which is empty afterwards. */
csn_status csni_breakpad_pieces_add(struct csni_breakpad_pieces *p, struct csni_buffer *text, struct csn_error *err);
/* Makes pieces 0 to count - 1 and adds them in this order. Piece `late` (`count`: there is none) is made when all
 * before it have been
 * made and added: it may hold what came up while they were. */
csn_status csni_breakpad_pieces_make(struct csni_breakpad_pieces *p, size_t count, size_t late, csni_breakpad_make_piece *make,
                                     void *context, struct csn_error *err);
/* Writes what was kept. */
csn_status csni_breakpad_pieces_finish(struct csni_breakpad_pieces *p, struct csn_error *err);

#endif
