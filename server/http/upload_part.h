/* One request of an upload that comes in several: PUT with Content-Range. */
#ifndef CALLSIGN_SERVER_UPLOAD_PART_H
#define CALLSIGN_SERVER_UPLOAD_PART_H

#include <stdbool.h>
#include <stdint.h>

struct http_request;

/* "bytes FIRST-LAST/TOTAL", or "bytes * /TOTAL" without the blank: a question how far the upload has come. */
struct upload_part {
    bool is_part;        /* the request has Content-Range */
    bool is_question;
    uint64_t first, size, total;
};
/* False: it is neither. */
bool upload_part_parse(const char *header, struct upload_part *out);

/* Opens what has arrived as request->incoming, to be continued at the part's place. False, with an answer: it cannot be. */
bool upload_part_begin(struct http_request *request, const char *content_range);
/* The body has arrived. True: the file is whole, and request->incoming is to be stored. False, with an answer: more must come. */
bool upload_part_end(struct http_request *request);

#endif
