/* Pending answers: a list that is bounded, since clients may never come back. */
#define _GNU_SOURCE
#include "routes/poll.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/thread_start.h"
#include "http/server.h"

enum { MOST_RUNNING = 64, MOST_KEPT = 1024 };
static const uint64_t MOST_KEPT_BYTES = 256 << 20, LONGEST_WAIT_S = 3600;

struct poll {
    struct polls *polls;
    struct server *server;
    poll_compute *compute;
    void *work;
    char id[REQUEST_ID_SIZE], tenant[TENANT_SIZE];
    struct poll_answer answer;
    bool is_done;
    uint32_t waiting;             /* threads that wait for it; it is not removed meanwhile */
    struct timespec finished;
    struct poll *next;
};
struct polls {
    pthread_mutex_t lock;
    pthread_cond_t changed;       /* one has finished */
    struct poll *first;
    uint32_t running, count;
    uint64_t kept_bytes;          /* of finished answers */
    uint64_t keep_s;
};

struct polls *polls_create(uint64_t keep_s) {
    struct polls *polls = calloc(1, sizeof(*polls));
    pthread_condattr_t attributes;
    if (!polls) return NULL;
    polls->keep_s = keep_s;
    pthread_mutex_init(&polls->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&polls->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    return polls;
}

/* ---- with the lock held ---- */

static void remove_poll(struct polls *polls, struct poll *poll) {
    struct poll **link = &polls->first;
    while (*link != poll) link = &(*link)->next;
    *link = poll->next;
    polls->count--;
    polls->kept_bytes -= poll->answer.body.size;
    text_free(&poll->answer.body);
    free(poll);
}

static bool is_expired(const struct polls *polls, const struct poll *poll) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return poll->is_done && !poll->waiting && (uint64_t)(now.tv_sec - poll->finished.tv_sec) >= polls->keep_s;
}

static void remove_expired(struct polls *polls) {
    for (struct poll *poll = polls->first, *next; poll; poll = next) {
        next = poll->next;
        if (is_expired(polls, poll)) remove_poll(polls, poll);
    }
}

static struct poll *find_poll(struct polls *polls, const char *id, const char *tenant) {
    struct poll *poll = polls->first;
    while (poll && (strcmp(poll->id, id) != 0 || strcmp(poll->tenant, tenant) != 0)) poll = poll->next;
    return poll;
}

static enum poll_status wait_for(struct polls *polls, struct poll *poll, uint64_t timeout_s, struct poll_answer *out) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += (time_t)(timeout_s < LONGEST_WAIT_S ? timeout_s : LONGEST_WAIT_S);
    poll->waiting++;
    while (!poll->is_done && pthread_cond_timedwait(&polls->changed, &polls->lock, &until) == 0) {}
    poll->waiting--;
    if (!poll->is_done) return POLL_PENDING;
    if (poll->waiting) { /* another waits for the same: the last one takes it */
        *out = (struct poll_answer){ .status = poll->answer.status };
        text_bytes(&out->body, poll->answer.body.ptr, poll->answer.body.size);
        return POLL_DONE;
    }
    *out = poll->answer;
    polls->kept_bytes -= poll->answer.body.size;
    poll->answer.body = (struct text){ 0 };
    remove_poll(polls, poll);
    return POLL_DONE;
}

/* ---- computing ---- */

static void *compute(void *context) {
    struct poll *poll = context;
    struct polls *polls = poll->polls;
    struct poll_answer answer = { .status = 500 };
    poll->compute(poll->server, poll->work, &answer);
    pthread_mutex_lock(&polls->lock);
    poll->answer = answer;
    poll->is_done = true;
    clock_gettime(CLOCK_MONOTONIC, &poll->finished);
    polls->kept_bytes += answer.body.size;
    polls->running--;
    remove_expired(polls);
    pthread_cond_broadcast(&polls->changed);
    pthread_mutex_unlock(&polls->lock);
    return NULL;
}

/* Nobody may guess the id of another's request: a UUID of version 4. */
static void make_id(char out[REQUEST_ID_SIZE]) {
    unsigned char b[16] = { 0 };
    if (getrandom(b, sizeof(b), 0) != (ssize_t)sizeof(b)) memset(b, 1, sizeof(b));
    b[6] = (unsigned char)((b[6] & 15) | 0x40);
    b[8] = (unsigned char)((b[8] & 63) | 0x80);
    snprintf(out, REQUEST_ID_SIZE, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", b[0], b[1],
             b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12], b[13], b[14], b[15]);
}

static struct poll *add_poll(struct polls *polls, struct server *server, poll_compute *compute_answer, void *work,
                             const char *tenant) {
    remove_expired(polls);
    bool is_full = polls->running == MOST_RUNNING || polls->count == MOST_KEPT || polls->kept_bytes > MOST_KEPT_BYTES;
    struct poll *poll = is_full ? NULL : calloc(1, sizeof(*poll));
    if (!poll) return NULL;
    *poll = (struct poll){ .polls = polls, .server = server, .compute = compute_answer, .work = work };
    make_id(poll->id);
    snprintf(poll->tenant, sizeof(poll->tenant), "%s", tenant);
    if (!thread_start_detached(compute, poll)) {
        free(poll);
        return NULL;
    }
    poll->next = polls->first;
    polls->first = poll;
    polls->count++;
    polls->running++;
    return poll;
}

enum poll_status polls_start(struct polls *polls, struct server *server, poll_compute *compute_answer, void *work,
                             const char *tenant, uint64_t timeout_s, char id[REQUEST_ID_SIZE],
                             struct poll_answer *out) {
    pthread_mutex_lock(&polls->lock);
    struct poll *poll = add_poll(polls, server, compute_answer, work, tenant);
    if (poll) memcpy(id, poll->id, REQUEST_ID_SIZE);
    enum poll_status status = poll ? wait_for(polls, poll, timeout_s, out) : POLL_FULL;
    pthread_mutex_unlock(&polls->lock);
    return status;
}

enum poll_status polls_wait(struct polls *polls, const char *id, const char *tenant, uint64_t timeout_s, struct poll_answer *out) {
    pthread_mutex_lock(&polls->lock);
    remove_expired(polls);
    struct poll *poll = find_poll(polls, id, tenant);
    enum poll_status status = poll ? wait_for(polls, poll, timeout_s, out) : POLL_UNKNOWN;
    pthread_mutex_unlock(&polls->lock);
    return status;
}

uint32_t polls_count(struct polls *polls) {
    if (!polls) return 0;
    pthread_mutex_lock(&polls->lock);
    remove_expired(polls);
    uint32_t count = polls->count;
    pthread_mutex_unlock(&polls->lock);
    return count;
}

void polls_free(struct polls *polls) {
    if (!polls) return;
    pthread_mutex_lock(&polls->lock);
    while (polls->running) pthread_cond_wait(&polls->changed, &polls->lock);
    while (polls->first) remove_poll(polls, polls->first);
    pthread_mutex_unlock(&polls->lock);
    pthread_cond_destroy(&polls->changed);
    pthread_mutex_destroy(&polls->lock);
    free(polls);
}
