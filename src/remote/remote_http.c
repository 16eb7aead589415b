/* Requests for ranges through libcurl, over one connection. */
#include "remote/remote_http.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/core/alloc.h"
#include "base/core/fail.h"
#include "base/curl_library.h"
#include "remote/http_answer.h"
#include "remote/remote_address.h"

enum { CONNECT_SECONDS = 30, REDIRECTS_MAX = 5, TIMEOUT_MS = 60000, MATCH_SIZE = 160 };
static const uint64_t WHOLE_BYTES = (uint64_t)256 << 20;

struct csni_remote_http {
    const struct csn_allocator *allocator;
    struct csni_remote_address address;
    struct csni_curl_library library;
    struct csni_curl *curl;
    uint64_t timeout_ms, whole_max;
    char match[MATCH_SIZE];    /* the header If-Match; empty: none */
    uint8_t *whole;            /* the file, from a server without ranges; NULL: it has them */
    size_t whole_size, whole_capacity;
    char whole_version[128];
};

/* ---- a request ---- */

static struct csni_curl_list *request_headers(const struct csni_remote_http *http) {
    const struct csni_remote_address *address = &http->address;
    const struct csni_curl_library *library = &http->library;
    struct csni_curl_list *list = library->list_append(NULL, "Accept-Encoding: identity");
    if (address->is_bucket) list = library->list_append(list, address->host_header);
    if (address->signature[0]) list = library->list_append(list, "x-amz-content-sha256: UNSIGNED-PAYLOAD");
    if (address->token_header[0]) list = library->list_append(list, address->token_header);
    if (http->match[0]) list = library->list_append(list, http->match);
    return list;
}

/* False: this libcurl has no signatures. */
static bool set_request(struct csni_remote_http *http, const char *range, struct csni_http_answer *answer) {
    const struct csni_curl_library *library = &http->library;
    struct csni_curl *curl = http->curl;
    const struct csni_remote_address *address = &http->address;
    uint64_t connect = http->timeout_ms / 1000 + 1;
    library->set(curl, CSNI_CURLOPT_URL, address->url);
    library->set(curl, CSNI_CURLOPT_USERAGENT, "callsign"); /* servers refuse requests without one */
    library->set(curl, CSNI_CURLOPT_RANGE, range);
    library->set(curl, CSNI_CURLOPT_WRITEFUNCTION, csni_http_answer_body);
    library->set(curl, CSNI_CURLOPT_WRITEDATA, answer);
    library->set(curl, CSNI_CURLOPT_HEADERFUNCTION, csni_http_answer_header);
    library->set(curl, CSNI_CURLOPT_HEADERDATA, answer);
    library->set(curl, CSNI_CURLOPT_NOSIGNAL, 1L);
    library->set(curl, CSNI_CURLOPT_FOLLOWLOCATION, address->is_bucket ? 0L : 1L);
    library->set(curl, CSNI_CURLOPT_MAXREDIRS, (long)REDIRECTS_MAX);
    library->set(curl, CSNI_CURLOPT_PROTOCOLS, (long)(CSNI_CURLPROTO_HTTP | CSNI_CURLPROTO_HTTPS));
    library->set(curl, CSNI_CURLOPT_REDIR_PROTOCOLS, (long)(CSNI_CURLPROTO_HTTP | CSNI_CURLPROTO_HTTPS));
    library->set(curl, CSNI_CURLOPT_CONNECTTIMEOUT, connect < CONNECT_SECONDS ? (long)connect : (long)CONNECT_SECONDS);
    library->set(curl, CSNI_CURLOPT_TIMEOUT_MS, (long)http->timeout_ms);
    if (!address->signature[0]) return true;
    return library->set(curl, CSNI_CURLOPT_AWS_SIGV4, address->signature) == CSNI_CURLE_OK &&
           library->set(curl, CSNI_CURLOPT_USERPWD, address->user) == CSNI_CURLE_OK;
}

/* What ended the transfer early is better known to the answer. */
static csn_status request_result(const struct csni_remote_http *http, const struct csni_http_answer *answer, int code,
                                 struct csn_error *err) {
    bool is_own = answer->is_encoded || answer->is_too_long || answer->no_memory;
    if (code == CSNI_CURLE_OK || is_own) return csni_http_answer_check(answer, err);
    return csni_fail(err, CSN_E_IO, NULL, 0, "%s", http->library.error_text(code));
}

static csn_status perform_request(struct csni_remote_http *http, struct csni_http_answer *answer, struct csn_error *err) {
    char range[64];
    const struct csn_remote_range *wanted = answer->range;
    snprintf(range, sizeof range, "%" PRIu64 "-%" PRIu64, wanted->offset, wanted->offset + wanted->size - 1);
    if (!set_request(http, range, answer))
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "this libcurl cannot sign requests for S3: it needs to be 7.75 or later");
    struct csni_curl_list *headers = request_headers(http);
    http->library.set(http->curl, CSNI_CURLOPT_HTTPHEADER, headers);
    int code = http->library.perform(http->curl);
    http->library.set(http->curl, CSNI_CURLOPT_HTTPHEADER, (void *)0);
    http->library.list_free(headers);
    return request_result(http, answer, code, err);
}

/* ---- the file ---- */

/* A weak ETag never matches. */
static void keep_match(struct csni_remote_http *http, const char *version) {
    if (!http->match[0] && version[0] == '"' && strlen(version) + sizeof "If-Match: " <= sizeof http->match)
        snprintf(http->match, sizeof http->match, "If-Match: %s", version);
}

static void read_whole(const struct csni_remote_http *http, struct csn_remote_range *range, struct csn_remote_file *file) {
    range->received = range->offset < http->whole_size ? http->whole_size - range->offset : 0;
    if (range->received > range->size) range->received = range->size;
    if (range->received) memcpy(range->bytes, http->whole + range->offset, (size_t)range->received);
    file->size = http->whole_size;
    memcpy(file->version, http->whole_version, sizeof file->version);
}

static void take_whole(struct csni_remote_http *http, struct csni_http_answer *answer) {
    http->whole = answer->whole;
    http->whole_size = answer->whole_size;
    http->whole_capacity = answer->whole_capacity;
    answer->whole = NULL;
    memcpy(http->whole_version, answer->version, sizeof http->whole_version);
}

static csn_status read_range(struct csni_remote_http *http, struct csn_remote_range *range, struct csn_remote_file *file,
                             struct csn_error *err) {
    struct csni_http_answer answer = { .range = range, .whole_max = http->whole_max, .allocator = http->allocator };
    csn_status status = perform_request(http, &answer, err);
    file->requests++;
    file->received += answer.received;
    if (status >= 0 && answer.status == 200 && answer.whole) {
        take_whole(http, &answer);
        read_whole(http, range, file);
    } else if (status >= 0) {
        file->size = answer.status == 200 ? 0 : answer.total;
        memcpy(file->version, answer.version, sizeof file->version);
        keep_match(http, answer.version);
    }
    csni_free(http->allocator, answer.whole, answer.whole_capacity);
    return status;
}

/* All ranges of a read have one version; csni_remote_file compares it with those of the reads before. */
csn_status csni_remote_http_read(void *context, struct csn_remote_range *ranges, size_t count, struct csn_remote_file *file,
                                 struct csn_error *err) {
    struct csni_remote_http *http = context;
    for (size_t i = 0; i < count; i++) {
        struct csn_remote_file before = *file;
        if (http->whole) read_whole(http, &ranges[i], file);
        else CSNI_TRY(read_range(http, &ranges[i], file, err));
        if (i && (before.size != file->size || strcmp(before.version, file->version) != 0))
            return csni_fail(err, CSN_E_IO, NULL, 0, "the file has changed while it was read: it was version %.60s, now %.60s",
                             before.version, file->version);
    }
    return CSN_OK;
}

/* ---- opening ---- */

csn_status csni_remote_http_open(const char *url, const struct csn_remote_options *options, const struct csn_allocator *allocator,
                                 struct csni_remote_http **out, struct csn_error *err) {
    struct csni_remote_http *http = csni_alloc_zeroed(allocator, 1, sizeof *http);
    if (!http) return csni_fail_memory(err, sizeof *http);
    http->allocator = allocator;
    http->timeout_ms = options->timeout_ms ? options->timeout_ms : TIMEOUT_MS;
    if (http->timeout_ms > INT32_MAX) http->timeout_ms = INT32_MAX;
    http->whole_max = options->whole_bytes ? options->whole_bytes : WHOLE_BYTES;
    csn_status status = csni_remote_address_parse(url, &http->address, err);
    if (status >= 0 && !csni_curl_load(&http->library))
        status = csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "libcurl.so.4 cannot be loaded");
    if (status >= 0 && !(http->curl = http->library.init())) status = csni_fail_memory(err, 0);
    if (status < 0) csni_remote_http_close(http);
    else *out = http;
    return status;
}

void csni_remote_http_close(struct csni_remote_http *http) {
    if (!http) return;
    if (http->curl) http->library.cleanup(http->curl);
    csni_curl_unload(&http->library);
    csni_free(http->allocator, http->whole, http->whole_capacity);
    csni_free(http->allocator, http, sizeof *http);
}
