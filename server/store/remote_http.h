/* HTTP through libcurl: no redirect to another kind of address, no wait without an end. */
#ifndef CALLSIGN_SERVER_REMOTE_HTTP_H
#define CALLSIGN_SERVER_REMOTE_HTTP_H

#include <curl/curl.h>

#include "base/text.h"
#include "store/symbol_store.h"

/* A server with a tree. */
struct http_server_url {
    /* As it was given, without user, password and query, which no message and no file has, and without a '/' at its end. */
    char base[1024];
    char query[1024];      /* with its '?'; empty: none */
    char *user, *password; /* decoded; NULL: none. Of curl_free() */
};

void http_server_url_take(struct http_server_url *out, const char *url);
void http_server_url_release(struct http_server_url *server);

/* An easy handle with the limits that every request has. NULL: no memory. */
CURL *http_handle(const char *url, uint64_t timeout_s);
/* Characters of a path that a URL does not have, percent-encoded; '/' stays. */
void http_put_path(struct text *out, const char *path);
/* `path`, of a tree, is encoded. STORE_OK: the body, of at most `max` bytes, is in the file. STORE_NONE: 404 or 410. */
enum store_status http_fetch(const struct http_server_url *server, const char *path, uint64_t timeout_s, uint64_t max,
                             int fd, char *why, size_t why_size);
/* Ends the transfer when more than *max bytes have come. */
void http_limit(CURL *curl, const uint64_t *max);
/* What a finished transfer means. */
enum store_status http_status(CURL *curl, CURLcode code, char *why, size_t why_size);
/* For CURLOPT_WRITEFUNCTION: into the file whose descriptor `fd` points to; into a struct text. */
size_t http_write_file(char *bytes, size_t size, size_t count, void *fd);
size_t http_write_text(char *bytes, size_t size, size_t count, void *text);

#endif
