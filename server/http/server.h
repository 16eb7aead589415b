/* The server: its settings, its store, its connections. */
#ifndef CALLSIGN_SERVER_SERVER_H
#define CALLSIGN_SERVER_SERVER_H

#include <pthread.h>

#include "base/settings.h"
#include "http/http.h"
#include "http/metrics.h"
#include "http/tokens.h"
#include "store/index_pool.h"

struct MHD_Daemon;

/* What SIGHUP changes while others read it. */
struct live_settings {
    atomic_uint_least64_t rate_limit, rate_burst, max_jobs, max_upload;
};

struct server {
    struct settings settings;        /* as the server was started: nothing changes them */
    struct live_settings live;       /* these are used instead of those of the same names */
    int argc;                        /* of the command line that gave them */
    char **argv;
    struct symbol_store *store;
    struct index_pool *pool;
    struct tokens *tokens;
    struct metrics metrics;
    const struct route *routes;
    size_t route_count;
    struct MHD_Daemon *daemon;
    int listen_fd;
    atomic_bool is_draining, is_scanned;
    atomic_uint active;              /* requests between their first line and the end of their answer */
    atomic_uint_least64_t body_bytes; /* held by all requests */
    struct rate_limit *rates;
    struct polls *polls;             /* NULL: none are kept */
    /* Workers, for requests that wait. */
    pthread_mutex_t queue_lock;
    pthread_cond_t queue_filled;
    struct http_request *queue_first, **queue_last;
    uint32_t queue_size;
    bool is_stopping;
    pthread_t workers[MOST_WORKERS + MOST_FETCH_WORKERS];
    uint32_t worker_count;
    uint32_t working_count, waiting_count; /* of them, with a request: at work, or waiting for an upstream */
};

/* Listens. 0, or -1 with a message. */
int server_start(struct server *server, char *why, size_t why_size);
/* "http://127.0.0.1:8080/" or "unix:/run/callsign.sock". */
void server_address(const struct server *server, char *out, size_t size);
/* Answers what has arrived, then closes. */
void server_drain(struct server *server);

/* Takes over what may change. */
void server_use_settings(struct server *server, const struct settings *settings);

/* ---- between the files of http/ ---- */
void queue_start(struct server *server);
void queue_stop(struct server *server);
/* False: the queue is full. */
bool queue_put(struct server *server, struct http_request *request);
enum http_done dispatch(struct http_request *request);
void resume_request(struct http_request *request);

#endif
