/* HTTP through libcurl. */
#define _GNU_SOURCE
#include "store/remote_http.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "store/file_sync.h"

enum { CONNECT_TIMEOUT_S = 10, MOST_REDIRECTS = 5, LARGEST_TEXT = 64 << 20 };

void http_server_url_take(struct http_server_url *out, const char *url) {
    size_t size = strcspn(url, "?#");
    const char *query = url + size;
    while (size && url[size - 1] == '/') size--;
    const char *scheme_end = memmem(url, size, "://", 3), *host = scheme_end ? scheme_end + 3 : url, *at = NULL;
    for (const char *c = host; c < url + size && !strchr("/?#", *c); c++)
        if (*c == '@') at = c;
    *out = (struct http_server_url){ .user = NULL };
    if (*query == '?') snprintf(out->query, sizeof(out->query), "%.*s", (int)strcspn(query, "#"), query);
    if (!at) {
        snprintf(out->base, sizeof(out->base), "%.*s", (int)size, url);
        return;
    }
    const char *colon = memchr(host, ':', (size_t)(at - host)), *user_end = colon ? colon : at;
    if (user_end > host) out->user = curl_easy_unescape(NULL, host, (int)(user_end - host), NULL);
    if (colon && at > colon + 1) out->password = curl_easy_unescape(NULL, colon + 1, (int)(at - colon - 1), NULL);
    snprintf(out->base, sizeof(out->base), "%.*s%.*s", (int)(host - url), url, (int)(url + size - at - 1), at + 1);
}

void http_server_url_release(struct http_server_url *server) {
    curl_free(server->user);
    curl_free(server->password);
}

CURL *http_handle(const char *url, uint64_t timeout_s) {
    CURL *curl = curl_easy_init();
    if (!curl) return NULL;
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "callsign-server/1,Linux");
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_TIMEOUT_S);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, (long)timeout_s);
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(curl, CURLOPT_MAXREDIRS, (long)MOST_REDIRECTS);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
    return curl;
}

void http_put_path(struct text *out, const char *path) {
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
    for (; *path; path++) {
        if (strchr(plain, *path)) text_char(out, *path);
        else text_format(out, "%%%02X", (unsigned char)*path);
    }
}

size_t http_write_file(char *bytes, size_t size, size_t count, void *fd) {
    return write_all(*(int *)fd, bytes, size * count) == 0 ? size * count : 0;
}

size_t http_write_text(char *bytes, size_t size, size_t count, void *text) {
    struct text *out = text;
    if (out->size + size * count > LARGEST_TEXT) return 0;
    text_bytes(out, bytes, size * count);
    return out->failed ? 0 : size * count;
}

enum store_status http_status(CURL *curl, CURLcode code, char *why, size_t why_size) {
    long status = 0;
    char *url = NULL;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
    if (code == CURLE_OK && status >= 200 && status < 300) return STORE_OK;
    if (code == CURLE_OK && (status == 404 || status == 410)) return STORE_NONE;
    curl_easy_getinfo(curl, CURLINFO_EFFECTIVE_URL, &url);
    /* After a redirect the URL has user and password, and its query may be a secret, too. */
    struct http_server_url shown;
    http_server_url_take(&shown, url ? url : "");
    http_server_url_release(&shown);
    if (code != CURLE_OK) snprintf(why, why_size, "%.150s: %s", shown.base, curl_easy_strerror(code));
    else snprintf(why, why_size, "%.150s: answers %ld", shown.base, status);
    return STORE_UNREACHABLE;
}

static int check_received(void *max, curl_off_t download_size, curl_off_t received, curl_off_t upload_size, curl_off_t sent) {
    (void)download_size, (void)upload_size, (void)sent;
    return (uint64_t)received > *(const uint64_t *)max;
}

void http_limit(CURL *curl, const uint64_t *max) {
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, check_received);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, max);
}

static void put_as_given(struct text *out, const char *part) {
    for (const char *c = part; *c; c++) {
        if (*c > ' ' && *c < 0x7f) text_char(out, *c);
        else text_format(out, "%%%02X", (unsigned char)*c);
    }
}

enum store_status http_fetch(const struct http_server_url *server, const char *path, uint64_t timeout_s, uint64_t max,
                             int fd, char *why, size_t why_size) {
    struct text url = { 0 };
    put_as_given(&url, server->base);
    text_char(&url, '/');
    http_put_path(&url, path);
    put_as_given(&url, server->query);
    CURL *curl = http_handle(text_cstr(&url), timeout_s);
    text_free(&url);
    if (!curl) return STORE_UNREACHABLE;
    if (server->user) curl_easy_setopt(curl, CURLOPT_USERNAME, server->user);
    if (server->password) curl_easy_setopt(curl, CURLOPT_PASSWORD, server->password);
    if (ftruncate(fd, 0) < 0 || lseek(fd, 0, SEEK_SET) < 0) {
        curl_easy_cleanup(curl);
        return STORE_UNREACHABLE;
    }
    curl_easy_setopt(curl, CURLOPT_FAILONERROR, 0L);
    http_limit(curl, &max);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, http_write_file);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &fd);
    enum store_status status = http_status(curl, curl_easy_perform(curl), why, why_size);
    curl_easy_cleanup(curl);
    return status;
}
