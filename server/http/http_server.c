/* Connections and requests, over libmicrohttpd. */
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/thread_start.h"
#include "http/body.h"
#include "http/connections.h"
#include "http/http_log.h"
#include "http/listen.h"
#include "http/rate_limit.h"
#include "http/server.h"
#include "store/file_sync.h"

enum { CONNECTION_MEMORY = 48 * 1024, READ_AND_FORGET = 256 << 20 };

static uint64_t microseconds_since(const struct timespec *start) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)(now.tv_sec - start->tv_sec) * 1000000 + (uint64_t)((now.tv_nsec - start->tv_nsec) / 1000);
}

/* ---- routes ---- */

static bool method_is_in(const char *methods, const char *method) {
    size_t size = strlen(method);
    for (const char *at = methods; (at = strstr(at, method)); at += size)
        if ((at == methods || at[-1] == ' ') && (at[size] == ' ' || !at[size])) return true;
    return false;
}

static bool route_fits(const struct route *route, const char *path) {
    size_t size = strlen(route->path);
    return route->flags & ROUTE_PREFIX ? strncmp(path, route->path, size) == 0 : strcmp(path, route->path) == 0;
}

/* The last route takes every path: not those of others that were asked by another method. */
static const struct route *find_route(const struct server *server, const char *path, const char *method, const char **allowed) {
    for (size_t i = 0; i < server->route_count; i++) {
        const struct route *route = &server->routes[i];
        if (!route_fits(route, path) || (*allowed && i + 1 == server->route_count)) continue;
        if (method_is_in(route->methods, method)) return route;
        if (!*allowed) *allowed = route->methods;
    }
    return NULL;
}

static void reject(struct http_request *request, unsigned status, const char *text) {
    respond_error(request, status, "%s", text);
    request->is_answered = true;
    incoming_discard(&request->incoming);
}

/* Web pages of any origin may use the server: client-protocols 10.1. */
static void answer_preflight(struct http_request *request) {
    const char *headers = request_header(request, "Access-Control-Request-Headers");
    respond_header(request, "Access-Control-Allow-Methods", "POST, GET, OPTIONS");
    respond_header(request, "Access-Control-Max-Age", "86400");
    if (headers) respond_header(request, "Access-Control-Allow-Headers", headers);
    respond(request, 204, NULL, "");
    request->is_answered = true;
}

static void check_token(struct http_request *request) {
    bool is_naming = request->route->flags & ROUTE_NAMES || strcmp(request->method, "POST") == 0;
    enum scope scope = request->route->flags & ROUTE_UPLOAD ? SCOPE_UPLOAD : is_naming ? SCOPE_SYMBOLICATE : SCOPE_READ;
    if (request->route->flags & ROUTE_OPEN) return;
    switch (tokens_check(request->server->tokens, scope, request_header(request, "Authorization"), request->tenant,
                         sizeof(request->tenant))) {
    case TOKEN_GOOD: return;
    case TOKEN_DISABLED: reject(request, 403, "uploads are disabled: the server has no --upload-token-file"); return;
    case TOKEN_MISSING:
        respond_header(request, "WWW-Authenticate", "Bearer");
        reject(request, scope == SCOPE_UPLOAD ? 403 : 401, "a token is needed: Authorization: Bearer TOKEN");
        return;
    case TOKEN_WRONG: reject(request, 403, "the token does not allow this"); return;
    }
}

static void check_size(struct http_request *request) {
    const char *length = request_header(request, "Content-Length");
    struct server *server = request->server;
    uint64_t max = request->route->flags & ROUTE_FILE ? atomic_load(&server->live.max_upload) : server->settings.max_body;
    if (length && strtoull(length, NULL, 10) > max) reject(request, 413, "the body is too large");
}

static void check_rate(struct http_request *request) {
    if (request->route->flags & ROUTE_OPEN || rate_limit_take(request)) return;
    atomic_fetch_add(&request->server->metrics.limited, 1);
    reject(request, 429, "too many requests");
}

static void begin_file(struct http_request *request) {
    const char *content_range = request_header(request, "Content-Range");
    char why[256];
    if (content_range) {
        request->is_answered = !upload_part_begin(request, content_range);
        if (request->is_answered) incoming_discard(&request->incoming);
        return;
    }
    if (incoming_create(request->server->store, &request->incoming, why, sizeof(why)) == 0) return;
    request->incoming.fd = -1;
    reject(request, is_full(errno) ? 507 : 503, why);
}

/* What says where a request ends, and whom it is for. */
struct framing {
    size_t lengths, codings, hosts;
};

static enum MHD_Result count_header(void *context, enum MHD_ValueKind kind, const char *name, const char *value) {
    struct framing *f = context;
    (void)kind, (void)value;
    f->lengths += strcasecmp(name, "Content-Length") == 0;
    f->codings += strcasecmp(name, "Transfer-Encoding") == 0;
    f->hosts += strcasecmp(name, "Host") == 0;
    return MHD_YES;
}

/* Other codings have no end that is known: libmicrohttpd reads on until the client closes. */
static bool has_unknown_coding(const struct http_request *request) {
    const char *coding = request_header(request, "Transfer-Encoding");
    return coding && strcasecmp(coding, "chunked") != 0;
}

/* RFC 9112, 3.2 and 6.3: a proxy before the server may see other ends of such a request than the server does. */
static const char *message_fault(const struct http_request *request, const char *version) {
    struct framing f = { .lengths = 0 };
    MHD_get_connection_values(request->connection, MHD_HEADER_KIND, count_header, &f);
    if (f.lengths > 1) return "the request has several Content-Length";
    if (f.lengths && f.codings) return "the request has both Content-Length and Transfer-Encoding";
    if (f.codings > 1 || has_unknown_coding(request)) return "the request's Transfer-Encoding is not chunked alone";
    if (f.hosts > 1) return "the request has several Host";
    if (strcmp(version, "HTTP/1.1") == 0 && !f.hosts) return "the request has no Host";
    return NULL;
}

static void check_message(struct http_request *request, const char *version) {
    const char *fault = message_fault(request, version);
    if (!fault) return;
    respond_header(request, "Connection", "close");
    reject(request, 400, fault);
}

static void route_request(struct http_request *request) {
    const char *allowed = NULL;
    request->route = find_route(request->server, request->path, request->method, &allowed);
    if (strcmp(request->method, "OPTIONS") == 0) answer_preflight(request);
    else if (!request->route && allowed) {
        respond_header(request, "Allow", allowed);
        reject(request, 405, "this method is not answered here");
    } else if (!request->route) reject(request, 404, "not found");
    if (!request->is_answered) check_token(request);
    if (!request->is_answered) check_rate(request);
    if (!request->is_answered) check_size(request);
    if (!request->is_answered && request->route->flags & ROUTE_FILE) begin_file(request);
}

/* ---- bodies ---- */

static bool keep_in_memory(struct http_request *request, const char *data, size_t size) {
    struct server *server = request->server;
    if (request->body.size + size > server->settings.max_body) {
        reject(request, 413, "the body is too large");
        return false;
    }
    if (atomic_fetch_add(&server->body_bytes, size) + size > server->settings.max_body_memory) {
        atomic_fetch_sub(&server->body_bytes, size);
        reject(request, 503, "too many large requests at the same time");
        return false;
    }
    text_bytes(&request->body, data, size);
    if (request->body.failed) reject(request, 503, "out of memory");
    return !request->body.failed;
}

static void receive(struct http_request *request, const char *data, size_t size) {
    request->body_size += size;
    connection_received(request->connection, size);
    if (request->is_answered) {
        request->forgotten_size += size;
        return;
    }
    if (!(request->route->flags & ROUTE_FILE)) {
        keep_in_memory(request, data, size);
        return;
    }
    if (request->part.is_part && request->body_size > request->part.size)
        reject(request, 400, "the body is larger than Content-Range has it");
    else if (request->body_size > atomic_load(&request->server->live.max_upload)) reject(request, 413, "the body is too large");
    else if (write_all(request->incoming.fd, data, size) < 0) {
        if (is_full(errno)) request->incoming.is_kept = false;
        reject(request, is_full(errno) ? 507 : 503, strerror(errno));
    }
}

static void decode_body(struct http_request *request) {
    const char *encoding = request_header(request, "Content-Encoding");
    if (request->route->flags & ROUTE_FILE) {
        if (encoding && strcasecmp(encoding, "identity") != 0) reject(request, 415, "files are uploaded without Content-Encoding");
        return;
    }
    size_t before = request->body.size;
    enum body_status status = body_decode(encoding, request->server->settings.max_body, &request->body);
    if (request->body.size > before) atomic_fetch_add(&request->server->body_bytes, request->body.size - before);
    else atomic_fetch_sub(&request->server->body_bytes, before - request->body.size);
    switch (status) {
    case BODY_GOOD: return;
    case BODY_TOO_LARGE: reject(request, 413, "the body is too large after decompression"); return;
    case BODY_DAMAGED: reject(request, 400, "the body cannot be decompressed"); return;
    case BODY_UNKNOWN_ENCODING: reject(request, 415, "the body has an encoding other than gzip and zstd"); return;
    case BODY_NO_MEMORY: reject(request, 503, "out of memory"); return;
    }
}

/* ---- answers ---- */

static struct MHD_Response *make_response(struct http_response *response) {
    if (response->fd >= 0) {
        int fd = response->fd;
        response->fd = -1; /* libmicrohttpd closes it */
        return MHD_create_response_from_fd_at_offset64(response->file_size, fd, response->file_offset);
    }
    struct text body = response->body;
    response->body = (struct text){ 0 };
    if (!body.size) {
        text_free(&body);
        return MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
    }
    return MHD_create_response_from_buffer(body.size, body.ptr, MHD_RESPMEM_MUST_FREE);
}

static enum MHD_Result send_response(struct http_request *request) {
    struct http_response *response = &request->response;
    struct MHD_Response *mhd = make_response(response);
    if (!mhd) return MHD_NO;
    MHD_add_response_header(mhd, "Access-Control-Allow-Origin", "*");
    MHD_add_response_header(mhd, "X-Request-Id", request->id);
    MHD_add_response_header(mhd, "X-Content-Type-Options", "nosniff");
    if (response->content_type) MHD_add_response_header(mhd, "Content-Type", response->content_type);
    for (size_t i = 0; i < response->header_count; i++)
        MHD_add_response_header(mhd, response->headers[i].name, response->headers[i].value);
    if (atomic_load(&request->server->is_draining)) MHD_add_response_header(mhd, "Connection", "close");
    enum MHD_Result result = MHD_queue_response(request->connection, response->status, mhd);
    MHD_destroy_response(mhd);
    return result;
}

enum http_done dispatch(struct http_request *request) {
    enum http_done done = request->route->handler(request);
    if (done == HTTP_DONE) request->is_answered = true;
    return done;
}

static enum MHD_Result run_handler(struct http_request *request) {
    decode_body(request);
    if (!request->is_answered && request->route->flags & ROUTE_QUICK && dispatch(request) == HTTP_DONE)
        return send_response(request);
    if (request->is_answered) return send_response(request);
    MHD_suspend_connection(request->connection);
    if (queue_put(request->server, request)) return MHD_YES;
    reject(request, 503, "too many requests wait");
    MHD_resume_connection(request->connection);
    return MHD_YES;
}

void resume_request(struct http_request *request) {
    if (!request->is_answered) reject(request, 500, "no answer");
    MHD_resume_connection(request->connection);
}

/* ---- the life of a request ---- */

/* "http://host/path", as clients write that take the server for a proxy: RFC 9112, 3.2.2. */
static const char *path_of_url(const char *url) {
    const size_t scheme = strncasecmp(url, "http://", 7) == 0 ? 7 : strncasecmp(url, "https://", 8) == 0 ? 8 : 0;
    if (!scheme) return url;
    const char *path = strchr(url + scheme, '/');
    return path ? path : "/";
}

static struct http_request *begin_request(struct server *server, struct MHD_Connection *connection, const char *url,
                                          const char *method, const char *version) {
    struct http_request *request = calloc(1, sizeof(*request));
    if (!request) return NULL;
    request->server = server;
    request->connection = connection;
    request->method = method;
    request->path = strdup(path_of_url(url));
    request->incoming.fd = request->response.fd = -1;
    clock_gettime(CLOCK_MONOTONIC, &request->started);
    atomic_fetch_add(&server->active, 1);
    connection_enter(connection, PHASE_BODY);
    if (!request->path) request->path = strdup("");
    log_make_ids(request);
    check_message(request, version);
    if (!request->is_answered) route_request(request);
    return request;
}

static bool has_large_body(const struct http_request *request) {
    const char *length = request_header(request, "Content-Length");
    return length && strtoull(length, NULL, 10) > READ_AND_FORGET;
}

static enum MHD_Result on_access(void *context, struct MHD_Connection *connection, const char *url, const char *method,
                                 const char *version, const char *data, size_t *data_size, void **request_context) {
    struct http_request *request = *request_context;
    if (!request) {
        request = *request_context = begin_request(context, connection, url, method, version);
        if (!request) return MHD_NO;
        /* An answer that comes before its body was read may not arrive: small bodies are read and forgotten. */
        return request->is_answered && (has_large_body(request) || has_unknown_coding(request)) ? send_response(request) : MHD_YES;
    }
    if (*data_size) {
        receive(request, data, *data_size);
        *data_size = 0;
        return request->forgotten_size > READ_AND_FORGET ? MHD_NO : MHD_YES;
    }
    connection_enter(connection, PHASE_ANSWER);
    return request->is_answered ? send_response(request) : run_handler(request);
}

static void on_completed(void *context, struct MHD_Connection *connection, void **request_context,
                         enum MHD_RequestTerminationCode code) {
    struct server *server = context;
    struct http_request *request = *request_context;
    if (!request) return;
    uint64_t duration = microseconds_since(&request->started);
    unsigned route = request->route ? (unsigned)(request->route - server->routes) : METRIC_ROUTES - 1;
    connection_enter(connection, PHASE_HEAD);
    metrics_count(&server->metrics, route, request->response.status, duration);
    atomic_fetch_add(&server->metrics.frames, request->frames);
    log_request(request, duration, code == MHD_REQUEST_TERMINATED_COMPLETED_OK);
    incoming_discard(&request->incoming);
    if (request->response.fd >= 0) close(request->response.fd);
    for (size_t i = 0; i < request->response.header_count; i++) free(request->response.headers[i].value);
    atomic_fetch_sub(&server->body_bytes, request->body.size);
    text_free(&request->body);
    text_free(&request->response.body);
    free(request->path);
    free(request);
    *request_context = NULL;
    atomic_fetch_sub(&server->active, 1);
}

/* ---- start ---- */

static char *read_pem(const char *path, char *why, size_t why_size) {
    enum { LARGEST = 1 << 20 };
    FILE *file = fopen(path, "re");
    char *text = calloc(1, LARGEST + 1);
    if (!file || !text || fread(text, 1, LARGEST, file) == 0) {
        snprintf(why, why_size, "%s: %s", path, strerror(errno));
        free(text);
        text = NULL;
    }
    if (file) fclose(file);
    return text;
}

static int hex_digit(char c) { return c <= '9' ? c - '0' : (c | 32) - 'a' + 10; }

/* Percent encoding, but "%00" stays: what comes after a NUL would be lost. */
static size_t decode_percent(void *context, struct MHD_Connection *connection, char *text) {
    char *out = text;
    (void)context, (void)connection;
    for (const char *at = text; *at; at++) {
        bool is_coded = at[0] == '%' && isxdigit((unsigned char)at[1]) && isxdigit((unsigned char)at[2]);
        int byte = is_coded ? hex_digit(at[1]) << 4 | hex_digit(at[2]) : 0;
        *out++ = byte ? (char)byte : *at;
        if (byte) at += 2;
    }
    *out = 0;
    return (size_t)(out - text);
}

static unsigned thread_count(const struct settings *settings) {
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return settings->threads ? (unsigned)settings->threads : cores > 1 ? (unsigned)cores : 2;
}

static void forget_message(void *context, const char *format, va_list args) { (void)context, (void)format, (void)args; }

int server_start(struct server *server, char *why, size_t why_size) {
    const struct settings *settings = &server->settings;
    bool is_tls = *settings->tls_certificate || *settings->tls_key;
    char *key = NULL, *certificate = NULL;
    if (is_tls && (!*settings->tls_certificate || !*settings->tls_key)) {
        snprintf(why, why_size, "tls-%s needs tls-%s", *settings->tls_key ? "key" : "certificate",
                 *settings->tls_key ? "certificate" : "key");
        return -1;
    }
    if (is_tls && !((key = read_pem(settings->tls_key, why, why_size)) &&
                    (certificate = read_pem(settings->tls_certificate, why, why_size)))) {
        free(key);
        return -1;
    }
    struct MHD_OptionItem tls[] = { { MHD_OPTION_HTTPS_MEM_KEY, 0, key },
                                    { MHD_OPTION_HTTPS_MEM_CERT, 0, certificate },
                                    { MHD_OPTION_END, 0, NULL } };
    struct MHD_OptionItem none[] = { { MHD_OPTION_END, 0, NULL } };
    unsigned flags = MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG | (is_tls ? MHD_USE_TLS : 0);
    server->daemon = MHD_start_daemon(
        flags, 0, NULL, NULL, on_access, server, MHD_OPTION_EXTERNAL_LOGGER, forget_message, NULL,
        MHD_OPTION_LISTEN_SOCKET, server->listen_fd, MHD_OPTION_THREAD_POOL_SIZE, thread_count(settings),
        MHD_OPTION_THREAD_STACK_SIZE, (size_t)SERVER_THREAD_STACK,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)CONNECTION_MEMORY, MHD_OPTION_CONNECTION_LIMIT,
        (unsigned)settings->max_connections, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
        (unsigned)settings->max_connections_per_address, MHD_OPTION_CONNECTION_TIMEOUT,
        (unsigned)settings->idle_timeout, MHD_OPTION_UNESCAPE_CALLBACK, decode_percent, NULL,
        MHD_OPTION_NOTIFY_COMPLETED, on_completed, server, MHD_OPTION_NOTIFY_CONNECTION, connections_notify, server,
        MHD_OPTION_ARRAY, is_tls ? tls : none, MHD_OPTION_END);
    free(key);
    free(certificate);
    if (server->daemon) return 0;
    snprintf(why, why_size, "libmicrohttpd cannot start%s", is_tls ? ": are certificate and key a pair, in PEM?" : "");
    return -1;
}

/* ---- end ---- */

static void sleep_ms(long ms) { nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL); }

/* Connections that the kernel has accepted and nobody has taken would be lost with the socket. */
static void take_last_connections(void) {
    enum { QUIET_MS = 100 };
    struct timespec start;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (uint64_t quiet = 0; quiet < QUIET_MS && microseconds_since(&start) < 1000000; sleep_ms(10)) {
        uint64_t before = connections_taken();
        sleep_ms(10);
        quiet = connections_taken() == before ? quiet + 20 : 0;
    }
}

void server_drain(struct server *server) {
    struct timespec start;
    clock_gettime(CLOCK_MONOTONIC, &start);
    atomic_store(&server->is_draining, true);
    log_event("info", "draining", NULL);
    listen_refuse_new(server->listen_fd, server->settings.listen);
    take_last_connections();
    int fd = MHD_quiesce_daemon(server->daemon);
    uint64_t limit = server->settings.drain_timeout * 1000000;
    for (int idle = 0; idle < 25 && connections_count() && microseconds_since(&start) < limit; sleep_ms(20))
        idle = atomic_load(&server->active) ? 0 : idle + 1;
    connections_end_idle();
    while (atomic_load(&server->active) && microseconds_since(&start) < limit) sleep_ms(20);
    queue_stop(server);
    MHD_stop_daemon(server->daemon);
    if (fd >= 0) close(fd);
    log_event("info", "stopped", NULL);
}
