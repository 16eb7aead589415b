/* The answer to a request for a range: its header, and where its body goes. */
#ifndef CSNI_HTTP_ANSWER_H
#define CSNI_HTTP_ANSWER_H

#include <callsign/remote.h>

struct csni_http_answer {
    struct csn_remote_range *range; /* filled by the body of a 206 */
    uint64_t whole_max;             /* the largest body of a 200 */
    uint8_t *whole;                 /* that body; owned */
    size_t whole_size, whole_capacity;
    const struct csn_allocator *allocator;

    int status;
    uint64_t received;              /* bytes of the body */
    bool has_range, has_length, is_encoded, is_too_long, no_memory;
    uint64_t first, last, total;    /* of Content-Range; `total` also of "bytes * / N" */
    uint64_t length;                /* Content-Length */
    char encoding[32];
    char version[128];              /* ETag, else Last-Modified */
};

/* For CURLOPT_HEADERFUNCTION and CURLOPT_WRITEFUNCTION. */
size_t csni_http_answer_header(char *bytes, size_t size, size_t count, void *answer);
size_t csni_http_answer_body(char *bytes, size_t size, size_t count, void *answer);

/* What the answer means, after a transfer without a failure. */
csn_status csni_http_answer_check(const struct csni_http_answer *answer, struct csn_error *err);

#endif
