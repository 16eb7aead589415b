/* Remotes, through libcurl: HTTP trees, and buckets with its AWS signatures. */
#define _GNU_SOURCE
#include "store/remote.h"

#include <curl/curl.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <callsign/base.h>

#include "store/bucket.h"
#include "store/remote_http.h"

struct remote {
    struct http_server_url server; /* the base of a bucket, too */
    struct bucket *bucket;         /* NULL: a server */
    uint64_t timeout_s, max_bytes;
};

static pthread_once_t curl_ready = PTHREAD_ONCE_INIT;
static void start_curl(void) { curl_global_init(CURL_GLOBAL_DEFAULT); }

/* Keys may contain '?' and '@'. */
static void take_bucket_url(struct http_server_url *out, const char *url) {
    size_t size = strlen(url);
    while (size && url[size - 1] == '/') size--;
    snprintf(out->base, sizeof(out->base), "%.*s", (int)size, url);
}

int remote_open(const char *url, uint64_t timeout_s, uint64_t max_bytes, struct remote **out, char *why, size_t why_size) {
    struct remote *remote = calloc(1, sizeof(*remote));
    if (!remote) return -1;
    pthread_once(&curl_ready, start_curl);
    remote->timeout_s = timeout_s;
    remote->max_bytes = max_bytes;
    bool is_bucket = strncmp(url, "s3://", 5) == 0, is_http = strncmp(url, "http://", 7) == 0 || strncmp(url, "https://", 8) == 0;
    if (is_bucket) take_bucket_url(&remote->server, url);
    else http_server_url_take(&remote->server, url);
    if (is_http || (is_bucket && bucket_open(remote->server.base, timeout_s, &remote->bucket, why, why_size) == 0)) {
        *out = remote;
        return 0;
    }
    if (!is_bucket) snprintf(why, why_size, "%s: must begin with http://, https:// or s3://", remote->server.base);
    remote_close(remote);
    return -1;
}

void remote_close(struct remote *remote) {
    if (!remote) return;
    bucket_close(remote->bucket);
    http_server_url_release(&remote->server);
    free(remote);
}

const char *remote_url(const struct remote *remote) { return remote->server.base; }

static void set_name(const struct tree_query *query, char name[NAME_SIZE]) { snprintf(name, NAME_SIZE, "%s", query->name); }

enum store_status remote_fetch(struct remote *remote, const struct tree_query *query, struct incoming *incoming,
                               char name[NAME_SIZE], char *why, size_t why_size) {
    char paths[MOST_TREE_PATHS][STORE_PATH_SIZE];
    size_t count = tree_query_paths(query, paths);
    enum store_status status = STORE_NONE;
    set_name(query, name);
    if (remote->bucket)
        return bucket_fetch(remote->bucket, query, (const char (*)[STORE_PATH_SIZE])paths, count, incoming->fd, why,
                            why_size);
    for (size_t i = 0; i < count && status == STORE_NONE; i++)
        status = http_fetch(&remote->server, paths[i], remote->timeout_s, remote->max_bytes, incoming->fd, why, why_size);
    return status;
}

enum store_status remote_put(struct remote *remote, const struct artifact *artifact, const char *path, char *why, size_t why_size) {
    return remote->bucket ? bucket_put(remote->bucket, artifact, path, why, why_size) : STORE_NONE;
}

struct bucket *remote_bucket(struct remote *remote) { return remote->bucket; }
