/* libmicrohttpd, as far as the server sees it. */
#include "server/fake_http.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

struct MHD_Response {
    struct fake_answer answer;
    char content_type[128];
    enum MHD_ResponseMemoryMode mode;
    int users;
};
struct MHD_Connection {
    struct fake_request *request;
    struct MHD_Response *response;
    bool is_suspended;
};
struct MHD_Daemon {
    MHD_AccessHandlerCallback handler;
    void *handler_context;
    MHD_RequestCompletedCallback completed;
    void *completed_context;
    size_t (*unescape)(void *context, struct MHD_Connection *connection, char *text);
    void *unescape_context;
};

static struct MHD_Daemon daemon_of_server;

static void require(bool condition) {
    if (!condition) abort();
}

/* ---- the daemon ---- */

/* The options that the server gives: those with one value, and those with a function and its context. */
struct MHD_Daemon *MHD_start_daemon(unsigned flags, uint16_t port, MHD_AcceptPolicyCallback accept, void *accept_context,
                                    MHD_AccessHandlerCallback handler, void *handler_context, ...) {
    struct MHD_Daemon *d = &daemon_of_server;
    va_list args;
    (void)flags, (void)port, (void)accept, (void)accept_context;
    d->handler = handler;
    d->handler_context = handler_context;
    va_start(args, handler_context);
    for (int option; (option = va_arg(args, int)) != MHD_OPTION_END;) {
        switch (option) {
        case MHD_OPTION_LISTEN_SOCKET: (void)va_arg(args, int); break;
        case MHD_OPTION_CONNECTION_MEMORY_LIMIT: case MHD_OPTION_CONNECTION_MEMORY_INCREMENT: (void)va_arg(args, size_t); break;
        case MHD_OPTION_ARRAY: (void)va_arg(args, struct MHD_OptionItem *); break;
        case MHD_OPTION_EXTERNAL_LOGGER: case MHD_OPTION_NOTIFY_CONNECTION:
            (void)va_arg(args, void (*)(void));
            (void)va_arg(args, void *);
            break;
        case MHD_OPTION_NOTIFY_COMPLETED:
            d->completed = va_arg(args, MHD_RequestCompletedCallback);
            d->completed_context = va_arg(args, void *);
            break;
        case MHD_OPTION_UNESCAPE_CALLBACK:
            d->unescape = va_arg(args, size_t (*)(void *, struct MHD_Connection *, char *));
            d->unescape_context = va_arg(args, void *);
            break;
        default: (void)va_arg(args, unsigned);
        }
    }
    va_end(args);
    return d;
}

void MHD_stop_daemon(struct MHD_Daemon *d) { (void)d; }
MHD_socket MHD_quiesce_daemon(struct MHD_Daemon *d) { (void)d; return -1; }

/* ---- requests ---- */

static int hex_digit(char c) {
    return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

void fake_decode(char *text) {
    char *out = text;
    if (daemon_of_server.unescape) {
        daemon_of_server.unescape(daemon_of_server.unescape_context, NULL, text);
        return;
    }
    for (; *text; text++) {
        bool is_coded = *text == '%' && hex_digit(text[1]) >= 0 && hex_digit(text[2]) >= 0;
        int c = is_coded ? hex_digit(text[1]) << 4 | hex_digit(text[2]) : *text;
        *out++ = (char)c;
        if (is_coded) text += 2;
    }
    *out = 0;
}

static bool is_of_kind(const struct fake_field *field, enum MHD_ValueKind kind) {
    return ((unsigned)field->kind & (unsigned)kind) != 0;
}

const char *MHD_lookup_connection_value(struct MHD_Connection *c, enum MHD_ValueKind kind, const char *key) {
    for (size_t i = 0; i < c->request->field_count; i++) {
        const struct fake_field *field = &c->request->fields[i];
        if (is_of_kind(field, kind) && strcasecmp(field->name, key) == 0) return field->value;
    }
    return NULL;
}

int MHD_get_connection_values(struct MHD_Connection *c, enum MHD_ValueKind kind, MHD_KeyValueIterator visit, void *context) {
    int count = 0;
    for (size_t i = 0; i < c->request->field_count; i++) {
        const struct fake_field *field = &c->request->fields[i];
        if (!is_of_kind(field, kind)) continue;
        count++;
        if (visit(context, field->kind, field->name, field->value) != MHD_YES) break;
    }
    return count;
}

const union MHD_ConnectionInfo *MHD_get_connection_info(struct MHD_Connection *c, enum MHD_ConnectionInfoType type, ...) {
    (void)c, (void)type;
    return NULL;
}

void MHD_suspend_connection(struct MHD_Connection *c) { c->is_suspended = true; }
void MHD_resume_connection(struct MHD_Connection *c) { c->is_suspended = false; }

/* ---- answers ---- */

static struct MHD_Response *make_response(size_t size) {
    struct MHD_Response *response = calloc(1, sizeof(*response));
    require(response);
    response->users = 1;
    response->answer.size = size;
    response->answer.fd = -1;
    return response;
}

struct MHD_Response *MHD_create_response_from_buffer(size_t size, void *buffer, enum MHD_ResponseMemoryMode mode) {
    struct MHD_Response *response = make_response(size);
    response->answer.body = buffer;
    response->mode = mode;
    return response;
}

struct MHD_Response *MHD_create_response_from_fd_at_offset64(uint64_t size, int fd, uint64_t offset) {
    struct MHD_Response *response = make_response((size_t)size);
    response->answer.fd = fd;
    response->answer.offset = offset;
    return response;
}

enum MHD_Result MHD_add_response_header(struct MHD_Response *response, const char *name, const char *value) {
    require(*name && value);
    if (strpbrk(value, "\r\n")) return MHD_NO; /* so does the library */
    if (strcasecmp(name, "Content-Type") == 0) strncpy(response->content_type, value, sizeof(response->content_type) - 1);
    return MHD_YES;
}

void MHD_destroy_response(struct MHD_Response *response) {
    if (--response->users) return;
    if (response->mode == MHD_RESPMEM_MUST_FREE) free((void *)(uintptr_t)response->answer.body);
    if (response->answer.fd >= 0) close(response->answer.fd);
    free(response);
}

enum MHD_Result MHD_queue_response(struct MHD_Connection *c, unsigned status, struct MHD_Response *response) {
    require(!c->response && !c->is_suspended); /* one answer a request */
    response->users++;
    response->answer.status = status;
    response->answer.content_type = *response->content_type ? response->content_type : NULL;
    c->response = response;
    return MHD_YES;
}

/* ---- a request's way ---- */

/* What names no host is refused from version 1.1 on. */
static enum MHD_Result call_handler(struct MHD_Connection *c, const uint8_t *data, size_t *size, void **request_context) {
    const char *version = MHD_lookup_connection_value(c, MHD_HEADER_KIND, "Host") ? "HTTP/1.1" : "HTTP/1.0";
    return daemon_of_server.handler(daemon_of_server.handler_context, c, c->request->path, c->request->method,
                                    version, (const char *)data, size, request_context);
}

static bool call_until_answered(struct MHD_Connection *c, void **request_context, void (*wait)(void *context), void *context) {
    size_t none = 0, half = c->request->body_size / 2, rest = c->request->body_size - half;
    if (call_handler(c, NULL, &none, request_context) != MHD_YES) return false;
    if (c->response) return true;
    if (half && call_handler(c, c->request->body, &half, request_context) != MHD_YES) return false;
    if (rest && call_handler(c, c->request->body + c->request->body_size - rest, &rest, request_context) != MHD_YES) return false;
    require(half == 0 || c->request->body_size < 2);
    require(rest == 0 && !c->response);
    for (int i = 0; i < 2 && !c->response; i++) {
        if (call_handler(c, NULL, &none, request_context) != MHD_YES) return false;
        if (c->is_suspended) wait(context);
        require(!c->is_suspended);
    }
    return c->response != NULL;
}

bool fake_run(struct fake_request *request, void (*wait)(void *context), void *context,
              void (*check)(const struct fake_answer *answer)) {
    struct MHD_Connection connection = { .request = request };
    void *request_context = NULL;
    bool is_answered = call_until_answered(&connection, &request_context, wait, context);
    if (is_answered) check(&connection.response->answer);
    daemon_of_server.completed(daemon_of_server.completed_context, &connection, &request_context,
                               MHD_REQUEST_TERMINATED_COMPLETED_OK);
    require(!request_context);
    if (connection.response) MHD_destroy_response(connection.response);
    return is_answered;
}
