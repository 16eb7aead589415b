/* Files: ranges and conditional requests (RFC 9110, 13 and 14). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "http/http.h"

struct file_facts {
    uint64_t size;
    char etag[64];
    char modified[64];
    time_t modified_s;
};

static void read_facts(const struct stat *st, uint64_t size, struct file_facts *out) {
    struct tm tm;
    out->size = size < (uint64_t)st->st_size ? size : (uint64_t)st->st_size;
    out->modified_s = st->st_mtime;
    gmtime_r(&st->st_mtime, &tm);
    strftime(out->modified, sizeof(out->modified), "%a, %d %b %Y %H:%M:%S GMT", &tm);
    snprintf(out->etag, sizeof(out->etag), "\"%llx-%llx%09lx\"", (unsigned long long)out->size,
             (unsigned long long)st->st_mtim.tv_sec, (unsigned long)st->st_mtim.tv_nsec);
}

static time_t parse_date(const char *text) {
    struct tm tm = { 0 };
    const char *end = strptime(text, "%a, %d %b %Y %H:%M:%S GMT", &tm);
    return end ? timegm(&tm) : (time_t)-1;
}

static bool is_unchanged(const struct http_request *request, const struct file_facts *facts) {
    const char *match = request_header(request, "If-None-Match"), *since = request_header(request, "If-Modified-Since");
    if (match) return strcmp(match, "*") == 0 || strstr(match, facts->etag) != NULL;
    time_t date = since ? parse_date(since) : (time_t)-1;
    return date != (time_t)-1 && facts->modified_s <= date;
}

static bool range_holds(const struct http_request *request, const struct file_facts *facts) {
    const char *condition = request_header(request, "If-Range");
    if (!condition) return true;
    if (condition[0] == '"') return strcmp(condition, facts->etag) == 0;
    return parse_date(condition) == facts->modified_s;
}

enum range_kind { RANGE_NONE, RANGE_GOOD, RANGE_BAD };

/* A single range; several are answered by the whole file, as RFC 9110, 14.2 allows. */
static enum range_kind parse_range(const char *text, uint64_t size, uint64_t *first, uint64_t *count) {
    char *end;
    if (strncmp(text, "bytes=", 6) != 0 || strchr(text, ',')) return RANGE_NONE;
    text += 6;
    errno = 0;
    if (*text == '-') {
        uint64_t last = strtoull(text + 1, &end, 10);
        if (end == text + 1 || *end || text[1] == '-') return RANGE_NONE;
        if (last == 0 || size == 0) return RANGE_BAD;
        *count = last < size ? last : size;
        *first = size - *count;
        return RANGE_GOOD;
    }
    if (*text < '0' || *text > '9') return RANGE_NONE;
    *first = strtoull(text, &end, 10);
    const bool is_beyond = errno || *first >= size; /* a last byte beyond the end is the end */
    if (*end != '-') return RANGE_NONE;
    uint64_t last = size - 1;
    if (end[1]) {
        const char *number = end + 1;
        if (*number < '0' || *number > '9') return RANGE_NONE;
        last = strtoull(number, &end, 10);
        if (*end || last < *first) return RANGE_NONE;
    }
    if (is_beyond) return RANGE_BAD;
    if (last >= size) last = size - 1;
    *count = last - *first + 1;
    return RANGE_GOOD;
}

static void put_range(struct http_request *request, const struct file_facts *facts) {
    const char *range = request_header(request, "Range");
    struct http_response *response = &request->response;
    uint64_t first = 0, count = facts->size;
    char text[96];
    enum range_kind kind = range && range_holds(request, facts) ? parse_range(range, facts->size, &first, &count) : RANGE_NONE;
    if (kind == RANGE_BAD) {
        snprintf(text, sizeof(text), "bytes */%llu", (unsigned long long)facts->size);
        respond_header(request, "Content-Range", text);
        response->status = 416;
        close(response->fd);
        response->fd = -1;
        return;
    }
    response->status = kind == RANGE_GOOD ? 206 : 200;
    response->file_offset = kind == RANGE_GOOD ? first : 0;
    response->file_size = kind == RANGE_GOOD ? count : facts->size;
    if (kind != RANGE_GOOD) return;
    snprintf(text, sizeof(text), "bytes %llu-%llu/%llu", (unsigned long long)first, (unsigned long long)(first + count - 1),
             (unsigned long long)facts->size);
    respond_header(request, "Content-Range", text);
}

enum http_done respond_file(struct http_request *request, const char *path, uint64_t size, const char *content_type) {
    struct http_response *response = &request->response;
    struct file_facts facts;
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
        int error = errno;
        if (fd >= 0) close(fd);
        return error == ENOENT || fd >= 0 ? respond_store(request, STORE_NONE, "")
                                          : respond_store(request, STORE_FAILED, strerror(error));
    }
    read_facts(&st, size, &facts);
    response->content_type = content_type;
    response->fd = fd;
    respond_header(request, "ETag", facts.etag);
    respond_header(request, "Last-Modified", facts.modified);
    respond_header(request, "Accept-Ranges", "bytes");
    if (is_unchanged(request, &facts)) {
        response->status = 304;
        response->fd = -1;
        close(fd);
        return HTTP_DONE;
    }
    put_range(request, &facts);
    return HTTP_DONE;
}
