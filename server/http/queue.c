/* Workers: threads on which requests may wait for files, servers and conversions. */
#define _GNU_SOURCE
#include <stdlib.h>

#include "http/server.h"

enum { LONGEST_QUEUE = 4096 };

static struct http_request *take_request(struct server *server) {
    pthread_mutex_lock(&server->queue_lock);
    while (!server->queue_first && !server->is_stopping) pthread_cond_wait(&server->queue_filled, &server->queue_lock);
    struct http_request *request = server->queue_first;
    if (request) {
        server->queue_first = request->next;
        if (!server->queue_first) server->queue_last = &server->queue_first;
        server->queue_size--;
    }
    pthread_mutex_unlock(&server->queue_lock);
    return request;
}

static void *work(void *context) {
    struct server *server = context;
    for (struct http_request *request; (request = take_request(server));) {
        request->may_block = true;
        dispatch(request);
        resume_request(request);
    }
    return NULL;
}

void queue_start(struct server *server) {
    pthread_mutex_init(&server->queue_lock, NULL);
    pthread_cond_init(&server->queue_filled, NULL);
    server->queue_last = &server->queue_first;
    for (uint32_t i = 0; i < server->settings.workers && i < MOST_WORKERS; i++)
        if (pthread_create(&server->workers[server->worker_count], NULL, work, server) == 0) server->worker_count++;
}

void queue_stop(struct server *server) {
    pthread_mutex_lock(&server->queue_lock);
    server->is_stopping = true;
    pthread_cond_broadcast(&server->queue_filled);
    pthread_mutex_unlock(&server->queue_lock);
    for (uint32_t i = 0; i < server->worker_count; i++) pthread_join(server->workers[i], NULL);
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
