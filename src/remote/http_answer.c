/* Answers of servers, none of which is trusted to be what was asked for. */
#include "remote/http_answer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/core/alloc.h"
#include "base/core/fail.h"

enum { ERROR_BODY_MAX = 1 << 20, FIRST_WHOLE = 1 << 20 };

/* ---- header ---- */

static void skip_blanks(const char **at) {
    while (**at == ' ' || **at == '\t') (*at)++;
}

static bool take_number(const char **at, uint64_t *out) {
    const char *p = *at;
    uint64_t value = 0;
    for (; *p >= '0' && *p <= '9'; p++) {
        if (value > (UINT64_MAX - 9) / 10) return false;
        value = value * 10 + (uint64_t)(*p - '0');
    }
    bool any = p != *at;
    *at = p;
    *out = value;
    return any;
}

static void take_text(const char *value, char *out, size_t size) {
    size_t len = strcspn(value, "\r\n");
    while (len && (value[len - 1] == ' ' || value[len - 1] == '\t')) len--;
    snprintf(out, size, "%.*s", (int)(len < size ? len : size - 1), value);
}

/* "bytes FIRST-LAST/TOTAL". */
static void take_content_range(struct csni_http_answer *answer, const char *value) {
    if (strncasecmp(value, "bytes", 5) != 0) return;
    value += 5;
    skip_blanks(&value);
    bool good = take_number(&value, &answer->first) && *value++ == '-' && take_number(&value, &answer->last) && *value++ == '/' &&
                take_number(&value, &answer->total);
    answer->has_range = good;
}

static void begin_answer(struct csni_http_answer *answer, const char *line) {
    const char *space = strchr(line, ' ');
    uint64_t status = 0;
    if (space) {
        skip_blanks(&space);
        take_number(&space, &status);
    }
    answer->status = status < 1000 ? (int)status : 0;
    answer->received = 0;
    answer->has_range = answer->has_length = answer->is_encoded = false;
    answer->version[0] = 0;
}

/* An ETag is better than a date: a file may change twice in a second. */
static void take_field(struct csni_http_answer *answer, const char *name, size_t name_len, const char *value) {
    skip_blanks(&value);
    if (name_len == 13 && strncasecmp(name, "content-range", 13) == 0) {
        take_content_range(answer, value);
    } else if (name_len == 14 && strncasecmp(name, "content-length", 14) == 0) {
        answer->has_length = take_number(&value, &answer->length);
    } else if (name_len == 16 && strncasecmp(name, "content-encoding", 16) == 0) {
        take_text(value, answer->encoding, sizeof answer->encoding);
        answer->is_encoded = answer->encoding[0] && strcasecmp(answer->encoding, "identity") != 0;
    } else if (name_len == 4 && strncasecmp(name, "etag", 4) == 0) {
        take_text(value, answer->version, sizeof answer->version);
    } else if (name_len == 13 && strncasecmp(name, "last-modified", 13) == 0 && !answer->version[0]) {
        take_text(value, answer->version, sizeof answer->version);
    }
}

size_t csni_http_answer_header(char *bytes, size_t size, size_t count, void *context) {
    struct csni_http_answer *answer = context;
    char line[1024];
    size_t len = size * count < sizeof line ? size * count : sizeof line - 1;
    memcpy(line, bytes, len);
    line[len] = 0;
    const char *colon = strchr(line, ':');
    if (strncmp(line, "HTTP/", 5) == 0) begin_answer(answer, line);
    else if (colon) take_field(answer, line, (size_t)(colon - line), colon + 1);
    return size * count;
}

/* ---- body ---- */

static bool put_range(struct csni_http_answer *answer, const char *bytes, size_t size) {
    struct csn_remote_range *range = answer->range;
    if (size > range->size - range->received) {
        answer->is_too_long = true;
        return false;
    }
    memcpy((uint8_t *)range->bytes + range->received, bytes, size);
    range->received += size;
    return true;
}

static bool put_whole(struct csni_http_answer *answer, const char *bytes, size_t size) {
    if (size > answer->whole_max || answer->whole_size > answer->whole_max - size ||
        (answer->has_length && answer->length > answer->whole_max)) {
        answer->is_too_long = true;
        return false;
    }
    size_t need = answer->whole_size + size, capacity = answer->whole_capacity ? answer->whole_capacity : FIRST_WHOLE;
    while (capacity < need) capacity *= 2;
    if (capacity != answer->whole_capacity) {
        uint8_t *grown = csni_realloc(answer->allocator, answer->whole, answer->whole_capacity, capacity);
        answer->no_memory = !grown;
        if (!grown) return false;
        answer->whole = grown;
        answer->whole_capacity = capacity;
    }
    memcpy(answer->whole + answer->whole_size, bytes, size);
    answer->whole_size = need;
    return true;
}

/* Returning less than was given ends the transfer. */
size_t csni_http_answer_body(char *bytes, size_t size, size_t count, void *context) {
    struct csni_http_answer *answer = context;
    size_t all = size * count;
    bool good = answer->is_encoded ? false
                : answer->status == 206 ? put_range(answer, bytes, all)
                : answer->status == 200 ? put_whole(answer, bytes, all)
                                        : answer->received < ERROR_BODY_MAX;
    answer->received += all;
    return good ? all : 0;
}

/* ---- what it means ---- */

static csn_status check_content_range(const struct csni_http_answer *answer, struct csn_error *err) {
    const struct csn_remote_range *range = answer->range;
    if (!answer->has_range)
        return csni_fail(err, CSN_E_IO, NULL, 0, "the server sends a part without saying which (no Content-Range)");
    uint64_t wanted = range->offset + range->size - 1;
    if (answer->total && wanted > answer->total - 1) wanted = answer->total - 1;
    if (answer->first != range->offset || answer->last != wanted)
        return csni_fail(err, CSN_E_IO, NULL, 0,
                         "the server sends bytes %" PRIu64 "-%" PRIu64 " of %" PRIu64 ", need %" PRIu64 "-%" PRIu64,
                         answer->first, answer->last, answer->total, range->offset, wanted);
    if (range->received != wanted - range->offset + 1)
        return csni_fail(err, CSN_E_IO, NULL, 0, "bytes from %" PRIu64 ": the server sends %" PRIu64 ", need %" PRIu64,
                         range->offset, range->received, wanted - range->offset + 1);
    return CSN_OK;
}

csn_status csni_http_answer_check(const struct csni_http_answer *answer, struct csn_error *err) {
    if (answer->no_memory) return csni_fail_memory(err, answer->whole_capacity * 2);
    if (answer->is_encoded)
        return csni_fail(err, CSN_E_IO, NULL, 0,
                         "the server sends the file in encoding '%s': it must be stored as it is", answer->encoding);
    if (answer->is_too_long && answer->status == 200)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0,
                         "the server has no ranges, and the whole file has more than %" PRIu64 " bytes, the limit",
                         answer->whole_max);
    if (answer->is_too_long)
        return csni_fail(err, CSN_E_IO, NULL, 0, "bytes from %" PRIu64 ": the server sends more than %" PRIu64,
                         answer->range->offset, answer->range->size);
    switch (answer->status) {
    case 200: return CSN_OK;
    case 206: return check_content_range(answer, err);
    case 404:
    case 410:
        return csni_fail(err, CSN_E_NOT_FOUND, NULL, 0, "the server answers %d: there is no such file", answer->status);
    case 401: case 403: return csni_fail(err, CSN_E_IO, NULL, 0, "the server answers %d: access is denied", answer->status);
    case 412: return csni_fail(err, CSN_E_IO, NULL, 0, "the file has changed while it was read (the server answers 412)");
    case 416: return csni_fail(err, CSN_E_IO, NULL, 0, "the server answers 416: the file is empty or has become shorter");
    default: return csni_fail(err, CSN_E_IO, NULL, 0, "the server answers %d", answer->status);
    }
}
