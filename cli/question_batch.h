/* Many addresses asked of an index at once, in the order of the addresses, and their answers in the order of the
 * questions: neighbours share what they need of the index. */
#ifndef CALLSIGN_CLI_QUESTION_BATCH_H
#define CALLSIGN_CLI_QUESTION_BATCH_H

#include "answer.h"

enum { QUESTIONS_MAX = 2048 };

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
    struct csn_frame *frames;
    size_t cap;
};

/* The asker is the caller's. False: no memory. */
bool question_batch_init(struct question_batch *batch, struct asker *asker);
void question_batch_deinit(struct question_batch *batch);

/* Only while count < QUESTIONS_MAX. */
static inline void question_batch_add(struct question_batch *batch, uint64_t addr) {
    batch->questions[batch->count] = (struct question){ addr, (uint32_t)batch->count };
    batch->count++;
}
/* False: no memory. */
bool question_batch_ask(struct question_batch *batch);
/* The answer to question `place`, after question_batch_ask(); it lives until the next call. */
void question_batch_answer(struct question_batch *batch, size_t place, struct answer *out);

#endif
