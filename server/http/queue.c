/* Workers: threads on which requests may wait for files, servers and conversions.
 *
 * `workers` of them work at the same time. One that waits for an upstream (base/waiting.h) does not count, and another thread works
 * for it, up to `fetch-workers`: upstreams that hang hold only those who want something of them. */
#define _GNU_SOURCE
#include <stdlib.h>

#include "base/thread_start.h"
#include "base/waiting.h"
#include "http/server.h"

enum { LONGEST_QUEUE = 4096 };

static struct http_request *take_request(struct server *server) {
    pthread_mutex_lock(&server->queue_lock);
    while ((!server->queue_first || server->working_count >= server->settings.workers) &&
           !(server->is_stopping && !server->queue_first))
        pthread_cond_wait(&server->queue_filled, &server->queue_lock);
    struct http_request *request = server->queue_first;
    if (request) {
        server->queue_first = request->next;
        if (!server->queue_first) server->queue_last = &server->queue_first;
        server->queue_size--;
        server->working_count++;
    }
    pthread_mutex_unlock(&server->queue_lock);
    return request;
}

static void end_work(struct server *server) {
    pthread_mutex_lock(&server->queue_lock);
    server->working_count--;
    if (server->is_stopping) pthread_cond_broadcast(&server->queue_filled);
    else if (server->queue_first) pthread_cond_signal(&server->queue_filled);
    pthread_mutex_unlock(&server->queue_lock);
}

static void *work(void *context);

/* With the lock held: a thread for whoever waits, unless one is idle. */
static void start_worker(struct server *server) {
    if (server->worker_count < server->settings.workers + server->waiting_count &&
        server->worker_count < MOST_WORKERS + MOST_FETCH_WORKERS &&
        thread_start(&server->workers[server->worker_count], work, server))
        server->worker_count++;
}

/* A waiting_callback. */
static bool wait_for_upstream(void *context, bool begins) {
    struct server *server = context;
    pthread_mutex_lock(&server->queue_lock);
    bool fits = !begins || server->waiting_count < server->settings.fetch_workers;
    if (begins && fits) {
        server->waiting_count++;
        server->working_count--;
        start_worker(server);
        pthread_cond_signal(&server->queue_filled);
    } else if (!begins) {
        server->waiting_count--;
        server->working_count++;
    }
    pthread_mutex_unlock(&server->queue_lock);
    return fits;
}

static void *work(void *context) {
    struct server *server = context;
    waiting_set(wait_for_upstream, server);
    for (struct http_request *request; (request = take_request(server));) {
        request->may_block = true;
        dispatch(request);
        resume_request(request);
        end_work(server);
    }
    return NULL;
}

void queue_start(struct server *server) {
    pthread_mutex_init(&server->queue_lock, NULL);
    pthread_cond_init(&server->queue_filled, NULL);
    server->queue_last = &server->queue_first;
    pthread_mutex_lock(&server->queue_lock);
    for (uint32_t i = 0; i < server->settings.workers; i++) start_worker(server);
    pthread_mutex_unlock(&server->queue_lock);
}

void queue_stop(struct server *server) {
    pthread_mutex_lock(&server->queue_lock);
    server->is_stopping = true;
    pthread_cond_broadcast(&server->queue_filled);
    for (uint32_t i = 0; i < server->worker_count; i++) { /* some may begin meanwhile */
        pthread_mutex_unlock(&server->queue_lock);
        pthread_join(server->workers[i], NULL);
        pthread_mutex_lock(&server->queue_lock);
    }
    pthread_mutex_unlock(&server->queue_lock);
}

bool queue_put(struct server *server, struct http_request *request) {
    pthread_mutex_lock(&server->queue_lock);
    bool fits = server->queue_size < LONGEST_QUEUE;
    if (fits) {
        request->next = NULL;
        *server->queue_last = request;
        server->queue_last = &request->next;
        server->queue_size++;
        pthread_cond_signal(&server->queue_filled);
    }
    pthread_mutex_unlock(&server->queue_lock);
    return fits;
}
