/* Uploads in parts. How far one has come is told by 308 with Range, as Google's and others' resumable uploads do: no
 * answer of 2xx is given before the file is stored, and a plain PUT that begins anew is always right. */
#define _GNU_SOURCE
#include "http/upload_part.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "http/server.h"
#include "store/file_sync.h"
#include "store/partial.h"

/* Digits, at most 18: below 2^63. */
static bool take_number(const char **at, uint64_t *out) {
    size_t digits = strspn(*at, "0123456789");
    if (digits == 0 || digits > 18) return false;
    *out = strtoull(*at, NULL, 10);
    *at += digits;
    return true;
}

static bool take_char(const char **at, char c) {
    bool is_there = **at == c;
    *at += is_there;
    return is_there;
}

bool upload_part_parse(const char *header, struct upload_part *out) {
    uint64_t last = 0;
    *out = (struct upload_part){ .is_part = true };
    if (strncasecmp(header, "bytes ", 6) != 0) return false;
    const char *at = header + 6;
    out->is_question = take_char(&at, '*');
    if (!out->is_question && !(take_number(&at, &out->first) && take_char(&at, '-') && take_number(&at, &last))) return false;
    if (!take_char(&at, '/') || !take_number(&at, &out->total) || *at || !out->total) return false;
    if (out->is_question) return true;
    out->size = last - out->first + 1;
    return last >= out->first && last < out->total;
}

/* ---- begin ---- */

static bool refuse(struct http_request *request, unsigned status, const char *text) {
    respond_error(request, status, "%s", text);
    return false;
}

static bool check_lengths(struct http_request *request) {
    const struct upload_part *part = &request->part;
    const char *length = request_header(request, "Content-Length");
    if (part->total > atomic_load(&request->server->live.max_upload)) return refuse(request, 413, "the file is too large");
    if (length && strtoull(length, NULL, 10) != part->size)
        return refuse(request, 400, "Content-Range and Content-Length have different sizes");
    return true;
}

static void put_progress(struct http_request *request, uint64_t have) {
    char range[40];
    snprintf(range, sizeof(range), "bytes=0-%" PRIu64, have - 1);
    if (have) respond_header(request, "Range", range);
}

/* Goes to the part's first byte; what came behind it before comes again. */
static bool seek_part(struct http_request *request, uint64_t have) {
    const struct upload_part *part = &request->part;
    int fd = request->incoming.fd;
    if (part->is_question) return true;
    if (part->first > have) {
        put_progress(request, have);
        return refuse(request, 409, "the part begins behind what has arrived");
    }
    if (ftruncate(fd, (off_t)part->first) == 0 && lseek(fd, (off_t)part->first, SEEK_SET) >= 0) return true;
    return refuse(request, 503, strerror(errno));
}

bool upload_part_begin(struct http_request *request, const char *content_range) {
    const char *name = request->path + strlen(request->route->path), *id = request_argument(request, "upload");
    struct upload_part *part = &request->part;
    uint64_t have, most = request->server->settings.max_partial_uploads;
    if (!upload_part_parse(content_range, part))
        return refuse(request, 400, "Content-Range is neither 'bytes FIRST-LAST/TOTAL' nor 'bytes */TOTAL'");
    if (!id || !upload_id_is_good(id)) return refuse(request, 400, "a part needs ?upload=ID: 1 to 64 letters, digits, - and _");
    if (!artifact_name_is_safe(name)) return refuse(request, 400, "the name is not that of a file");
    if (!check_lengths(request)) return false;
    const struct partial_key key = { request->tenant, name, id, part->total };
    switch (partial_open(request->server->store, &key, part->is_question ? 0 : most, &request->incoming, &have)) {
    case PARTIAL_OPEN: return seek_part(request, have);
    case PARTIAL_NONE: return true;
    case PARTIAL_BUSY:
        respond_header(request, "Retry-After", "1");
        return refuse(request, 409, "another request sends this upload");
    case PARTIAL_TOO_MANY: return refuse(request, 503, "too many uploads are unfinished");
    case PARTIAL_FAILED: return refuse(request, is_full(errno) ? 507 : 503, strerror(errno));
    }
    return false;
}

/* ---- end ---- */

bool upload_part_end(struct http_request *request) {
    struct stat st = { .st_size = 0 };
    int fd = request->incoming.fd;
    if (fd >= 0 && (fsync(fd) != 0 || fstat(fd, &st) != 0)) {
        int error = errno;
        request->incoming.is_kept = false; /* the system may have dropped any of it, also what came in earlier parts */
        incoming_discard(&request->incoming);
        return refuse(request, is_full(error) ? 507 : 503, strerror(error));
    }
    if ((uint64_t)st.st_size == request->part.total) {
        request->incoming.is_kept = false;
        return true;
    }
    incoming_discard(&request->incoming); /* unlocked before the client, who may send more at once, has the answer */
    put_progress(request, (uint64_t)st.st_size);
    text_format(&request->response.body, "{\"received\":%lld,\"bytes\":%" PRIu64 "}\n", (long long)st.st_size, request->part.total);
    respond_json(request, 308);
    return false;
}
