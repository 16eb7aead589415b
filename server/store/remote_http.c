/* HTTP through libcurl. */
#define _GNU_SOURCE
#include "store/remote_http.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "store/file_sync.h"

enum { CONNECT_TIMEOUT_S = 10, MOST_REDIRECTS = 5, LARGEST_TEXT = 64 << 20 };

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
    curl_easy_getinfo(curl, CURLINFO_EFFECTIVE_URL, &url);
    if (code != CURLE_OK) {
        snprintf(why, why_size, "%.150s: %s", url ? url : "", curl_easy_strerror(code));
        return STORE_UNREACHABLE;
    }
    if (status >= 200 && status < 300) return STORE_OK;
    if (status == 404 || status == 410) return STORE_NONE;
    snprintf(why, why_size, "%.150s: answers %ld", url ? url : "", status);
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

enum store_status http_fetch(const char *url, uint64_t timeout_s, uint64_t max, int fd, char *why, size_t why_size) {
    /* `url` has a path of the trees, whose names may need encoding. */
    struct text encoded = { 0 };
    const char *path = strstr(url, "://"), *slash = path ? strchr(path + 3, '/') : NULL;
    text_bytes(&encoded, url, slash ? (size_t)(slash - url) : strlen(url));
    if (slash) http_put_path(&encoded, slash);
    CURL *curl = http_handle(text_cstr(&encoded), timeout_s);
    text_free(&encoded);
    if (!curl) return STORE_UNREACHABLE;
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
