/* The functions of libmicrohttpd that the server calls, for one request after the other and without sockets: linked
 * before the library, these are what the server gets. */
#ifndef CALLSIGN_FUZZ_FAKE_HTTP_H
#define CALLSIGN_FUZZ_FAKE_HTTP_H

#include <microhttpd.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FAKE_MOST_FIELDS = 64 };

struct fake_field {
    enum MHD_ValueKind kind; /* MHD_HEADER_KIND, MHD_GET_ARGUMENT_KIND */
    const char *name, *value; /* value NULL: an argument without '=' */
};
struct fake_request {
    const char *method;
    char *path; /* decoded in place, as the library does it */
    struct fake_field fields[FAKE_MOST_FIELDS];
    size_t field_count;
    const uint8_t *body;
    size_t body_size;
};
struct fake_answer {
    unsigned status;
    const char *content_type; /* NULL: none */
    const void *body;
    size_t size;
    int fd; /* >= 0: the body is `size` bytes of it from `offset` on */
    uint64_t offset;
};

/* %41 becomes A, by the function that the server has set. */
void fake_decode(char *text);
/* Gives the request to the server that called MHD_start_daemon() and has `check` look at the answer. False: the server ended the
 * connection without an answer. `wait` runs what the server put into its queue. */
bool fake_run(struct fake_request *request, void (*wait)(void *context), void *context,
              void (*check)(const struct fake_answer *answer));

#endif
