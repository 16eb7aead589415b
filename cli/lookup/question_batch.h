/* Many addresses asked of an index at once, in the order of the addresses: neighbours share what they need of the index. What
 * is written of the answers is kept until it can be put into the order of the questions. */
#ifndef CALLSIGN_CLI_QUESTION_BATCH_H
#define CALLSIGN_CLI_QUESTION_BATCH_H

#include "lookup/answer.h"
#include "ui/path_texts.h"

enum { QUESTIONS_MAX = 8192 };

struct question {
    uint64_t addr;
    uint32_t place; /* the number of questions before it */
};

struct question_batch {
    struct asker *asker;                /* answers what fails in a batch */
    size_t count;
    struct question questions[QUESTIONS_MAX], spare[QUESTIONS_MAX];
    uint64_t addrs[QUESTIONS_MAX];      /* ascending, once asked; so are the answers */
    struct csn_batch_answer answers[QUESTIONS_MAX];
    uint32_t answer_of[QUESTIONS_MAX];  /* by place */
    struct csn_frame_ref *refs;
    size_t cap;
    struct csn_frame *frames;           /* of the answer that was last given */
    char *text;                         /* what is kept of answers */
    size_t text_size, text_room;
    struct { size_t start, size; } kept[QUESTIONS_MAX]; /* by answer; size 0: nothing */
    bool ready_paths;                   /* give FRAME_PATH_READY frames, for text */
    struct path_texts paths;
};

/* The asker is the caller's. False: no memory. */
bool question_batch_init(struct question_batch *batch, struct asker *asker, bool ready_paths);
void question_batch_deinit(struct question_batch *batch);

/* Only while count < QUESTIONS_MAX. */
static inline void question_batch_add(struct question_batch *batch, uint64_t addr) {
    batch->questions[batch->count] = (struct question){ addr, (uint32_t)batch->count };
    batch->count++;
}
/* False: no memory. */
bool question_batch_ask(struct question_batch *batch);
/* Answer k < count in the order of the addresses, after question_batch_ask(); it lives until the next call. */
void question_batch_answer(struct question_batch *batch, size_t k, struct answer *out);
/* Keeps what has been written of answer k, unless that is too much. */
void question_batch_keep(struct question_batch *batch, size_t k, const char *text, size_t size);
/* What was kept of answer k; empty: nothing. */
struct csn_str question_batch_kept(const struct question_batch *batch, size_t k);

#endif
