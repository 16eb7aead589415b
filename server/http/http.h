/* Requests and answers, as the routes see them. */
#ifndef CALLSIGN_SERVER_HTTP_H
#define CALLSIGN_SERVER_HTTP_H

#include <stdatomic.h>
#include <stdint.h>
#include <time.h>

#include "base/text.h"
#include "http/upload_part.h"
#include "store/symbol_store.h"

struct MHD_Connection;
struct server;
struct route;

enum { REQUEST_ID_SIZE = 37, TRACE_ID_SIZE = 33, TENANT_SIZE = 64, MOST_HEADERS = 12 };

struct http_response {
    unsigned status;
    const char *content_type;
    struct text body;
    int fd;                      /* >= 0: the body is `file_size` bytes of this file from `file_offset` on; body is unused */
    uint64_t file_offset, file_size;
    struct { const char *name; char *value; } headers[MOST_HEADERS];
    size_t header_count;
};

struct http_request {
    struct server *server;
    struct MHD_Connection *connection;
    const struct route *route;
    const char *method;
    char *path;                  /* decoded, begins with '/' */
    struct text body;
    struct incoming incoming;    /* of a route that takes a file; fd < 0: none */
    struct upload_part part;     /* of an upload in several requests */
    uint64_t body_size;          /* received so far */
    uint64_t forgotten_size;     /* of it, what came after the answer was known */
    struct http_response response;
    bool is_answered;            /* `response` is to be sent; before that, the body is still read */
    bool may_block;              /* false: on a thread that serves many connections */
    bool is_suspended;
    char id[REQUEST_ID_SIZE];
    char trace_id[TRACE_ID_SIZE];
    char tenant[TENANT_SIZE];
    char error[256];             /* for the log; empty: none */
    uint64_t frames;             /* symbolicated, for metrics */
    struct timespec started;
    struct http_request *next;   /* in the queue of workers */
};

/* Whether the request was answered, or has to be given to a thread that may wait. */
enum http_done { HTTP_DONE, HTTP_BLOCKS };
typedef enum http_done http_handler(struct http_request *request);

enum route_flags {
    ROUTE_PREFIX = 1,  /* `path` is the beginning of the request's path */
    ROUTE_FILE = 2,    /* the body goes to a file */
    ROUTE_QUICK = 4,   /* the handler tells when it blocks; others always run on workers */
    ROUTE_OPEN = 8,    /* needs no token, whatever the configuration is: health */
    ROUTE_UPLOAD = 16, /* needs a token to upload */
    ROUTE_NAMES = 32   /* needs a token to symbolicate, also for GET; other routes for POST alone */
};
struct route {
    const char *path;
    const char *methods;         /* "GET HEAD" */
    http_handler *handler;
    uint32_t flags;
    const char *name;            /* in metrics */
};

/* ---- answers ---- */

enum http_done respond(struct http_request *request, unsigned status, const char *content_type, const char *text);
/* {"error":TEXT}, and `title` and `detail` for the clients that look for these. */
enum http_done respond_error(struct http_request *request, unsigned status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The body that was put together in request->response.body. */
enum http_done respond_json(struct http_request *request, unsigned status);
/* Of a store that has no such file or failed. */
enum http_done respond_store(struct http_request *request, enum store_status status, const char *why);
/* The value is copied. */
void respond_header(struct http_request *request, const char *name, const char *value);
/* A file with ETag, Last-Modified, and Range and conditional requests. `size`: how much of it; UINT64_MAX: all. */
enum http_done respond_file(struct http_request *request, const char *path, uint64_t size, const char *content_type);

/* ---- requests ---- */

const char *request_header(const struct http_request *request, const char *name); /* NULL: none */
const char *request_argument(const struct http_request *request, const char *name); /* of the query; NULL: none */
/* Calls `visit` for every argument of the query; `value` may be NULL. */
typedef bool argument_visit(void *context, const char *name, const char *value);
void request_arguments(const struct http_request *request, argument_visit *visit, void *context);

#endif
