/* Token buckets in a table of fixed size: clients that share a slot share a bucket. */
#define _GNU_SOURCE
#include "http/rate_limit.h"

#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "http/server.h"

enum { SLOTS = 16384 };

struct rate_limit {
    pthread_mutex_t lock;
    struct bucket { double left; struct timespec filled; } buckets[SLOTS];
};

struct rate_limit *rate_limit_create(void) {
    struct rate_limit *limit = calloc(1, sizeof(*limit));
    if (limit) pthread_mutex_init(&limit->lock, NULL);
    return limit;
}

void rate_limit_free(struct rate_limit *limit) {
    if (limit) pthread_mutex_destroy(&limit->lock);
    free(limit);
}

static uint64_t hash_bytes(const void *bytes, size_t size) { return text_hash(bytes, size) >> 20; }

static uint64_t client_hash(const struct http_request *request) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const struct sockaddr *address = info ? info->client_addr : NULL;
    if (*request->tenant) return hash_bytes(request->tenant, strlen(request->tenant));
    if (address && address->sa_family == AF_INET)
        return hash_bytes(&((const struct sockaddr_in *)(const void *)address)->sin_addr, 4);
    if (address && address->sa_family == AF_INET6) /* the network that one customer has */
        return hash_bytes(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, 8);
    return 0;
}

bool rate_limit_take(struct http_request *request) {
    struct server *server = request->server;
    struct rate_limit *limit = server->rates;
    uint64_t per_second = atomic_load(&server->live.rate_limit);
    if (!limit || !per_second) return true;
    struct bucket *bucket = &limit->buckets[client_hash(request) % SLOTS];
    double burst = (double)atomic_load(&server->live.rate_burst), rate = (double)per_second;
    pthread_mutex_lock(&limit->lock);
    double seconds = (double)(request->started.tv_sec - bucket->filled.tv_sec) +
                     1e-9 * (double)(request->started.tv_nsec - bucket->filled.tv_nsec);
    bucket->left = bucket->filled.tv_sec == 0 ? burst : bucket->left + (seconds > 0 ? seconds * rate : 0);
    if (bucket->left > burst) bucket->left = burst;
    bucket->filled = request->started;
    bool is_good = bucket->left >= 1;
    if (is_good) bucket->left -= 1;
    pthread_mutex_unlock(&limit->lock);
    return is_good;
}
