/* Answers that clients come back for: the computing goes on while its client has been sent away. Any thread. */
#ifndef CALLSIGN_SERVER_POLL_H
#define CALLSIGN_SERVER_POLL_H

#include "http/http.h"

struct polls;
struct polls *polls_create(uint64_t keep_s); /* seconds for which a finished answer is kept; NULL: no memory */
/* Waits for what still runs. NULL is fine. */
void polls_free(struct polls *polls);

/* What is computed: an answer's status, its body and the number of its frames, from `work`, which is freed by it. */
struct poll_answer {
    unsigned status;
    struct text body;
    uint64_t frames;
};
typedef void poll_compute(struct server *server, void *work, struct poll_answer *out);

enum poll_status {
    POLL_DONE,     /* *out is the answer; the caller frees its body */
    POLL_PENDING,  /* it takes longer than the timeout */
    POLL_UNKNOWN,  /* no such id, of this tenant; or its answer was delivered or kept for too long */
    POLL_FULL      /* too many run or are kept; `work` was not taken */
};
/* Computes on a thread of its own, and waits for at most `timeout_s`. `id` receives the name for polls_wait(). */
enum poll_status polls_start(struct polls *polls, struct server *server, poll_compute *compute, void *work, const char *tenant,
                             uint64_t timeout_s, char id[REQUEST_ID_SIZE], struct poll_answer *out);
/* An answer is delivered once. */
enum poll_status polls_wait(struct polls *polls, const char *id, const char *tenant, uint64_t timeout_s, struct poll_answer *out);
/* Requests that run or whose answer is kept; those that were kept for too long are removed first. */
uint32_t polls_count(struct polls *polls);

#endif
