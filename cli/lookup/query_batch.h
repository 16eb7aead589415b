/* Many addresses looked up in one pass, in the order of the addresses: neighbours share what they need of the index. What is
 * written of the answers is kept until it can be put into the order of the queries. */
#ifndef CALLSIGN_CLI_QUERY_BATCH_H
#define CALLSIGN_CLI_QUERY_BATCH_H

#include "lookup/answer.h"
#include "ui/path_texts.h"

enum { QUERIES_MAX = 8192 };

struct batch_query {
    uint64_t addr;
    uint32_t place; /* the number of queries before it */
};

struct query_batch {
    struct index_query *query;                /* answers what fails in a batch */
    size_t count;
    struct batch_query queries[QUERIES_MAX], spare[QUERIES_MAX];
    uint64_t addrs[QUERIES_MAX];      /* ascending after query_batch_run(); so are the answers */
    struct csn_batch_answer answers[QUERIES_MAX];
    uint32_t answer_of[QUERIES_MAX];  /* by place */
    struct csn_frame_ref *refs;
    size_t cap;
    struct csn_frame *frames;           /* of the answer that was last given */
    char *text;                         /* what is kept of answers */
    size_t text_size, text_capacity;
    struct { size_t start, size; } kept[QUERIES_MAX]; /* by answer; size 0: nothing */
    bool ready_paths;                   /* give FRAME_PATH_READY frames, for text */
    struct path_texts paths;
};

/* The query is the caller's. False: no memory. */
bool query_batch_init(struct query_batch *batch, struct index_query *query, bool ready_paths);
void query_batch_deinit(struct query_batch *batch);

/* Only while count < QUERIES_MAX. */
static inline void query_batch_add(struct query_batch *batch, uint64_t addr) {
    batch->queries[batch->count] = (struct batch_query){ addr, (uint32_t)batch->count };
    batch->count++;
}
/* False: no memory. */
bool query_batch_run(struct query_batch *batch);
/* Answer k < count in the order of the addresses, after query_batch_run(); it lives until the next call. */
void query_batch_answer(struct query_batch *batch, size_t k, struct answer *out);
/* Keeps what has been written of answer k, unless that is too much. */
void query_batch_keep(struct query_batch *batch, size_t k, const char *text, size_t size);
/* What was kept of answer k; empty: nothing. */
struct csn_str query_batch_kept(const struct query_batch *batch, size_t k);

#endif
