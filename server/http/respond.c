/* Answers that hold text. */
#define _GNU_SOURCE
#include <microhttpd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http/http.h"

enum http_done respond(struct http_request *request, unsigned status, const char *content_type, const char *text) {
    struct http_response *response = &request->response;
    response->body.size = 0;
    text_put(&response->body, text);
    response->status = status;
    response->content_type = content_type;
    return HTTP_DONE;
}

enum http_done respond_json(struct http_request *request, unsigned status) {
    request->response.status = request->response.body.failed ? 500 : status;
    request->response.content_type = "application/json";
    return HTTP_DONE;
}

enum http_done respond_error(struct http_request *request, unsigned status, const char *format, ...) {
    va_list args;
    struct text *body = &request->response.body;
    va_start(args, format);
    vsnprintf(request->error, sizeof(request->error), format, args);
    va_end(args);
    body->size = 0;
    text_char(body, '{');
    text_json_member(body, "error", request->error);
    text_json_member(body, "title", request->error);
    text_json_member(body, "detail", request->error);
    text_put(body, ",\"causes\":[],");
    text_json_cstr(body, "request_id");
    text_char(body, ':');
    text_json_cstr(body, request->id);
    text_put(body, "}\n");
    if (status == 429 || status == 503) respond_header(request, "Retry-After", "1");
    return respond_json(request, status);
}

enum http_done respond_store(struct http_request *request, enum store_status status, const char *why) {
    switch (status) {
    case STORE_OK: break;
    case STORE_NONE:
        snprintf(request->error, sizeof(request->error), "%s", *why ? why : "not found");
        return respond(request, 404, "text/plain", "not found\n");
    case STORE_REJECTED: return respond_error(request, 422, "%s", why);
    case STORE_AMBIGUOUS: return respond_error(request, 409, "%s", why);
    case STORE_UNREACHABLE: return respond_error(request, 502, "%s", why);
    case STORE_FULL: return respond_error(request, 507, "%s", why);
    case STORE_FAILED: return respond_error(request, 503, "%s", why);
    }
    return respond_error(request, 500, "no answer");
}

void respond_header(struct http_request *request, const char *name, const char *value) {
    struct http_response *response = &request->response;
    if (response->header_count == MOST_HEADERS) return;
    char *copy = strdup(value);
    if (!copy) return;
    response->headers[response->header_count].name = name;
    response->headers[response->header_count++].value = copy;
}

const char *request_header(const struct http_request *request, const char *name) {
    return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

const char *request_argument(const struct http_request *request, const char *name) {
    return MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, name);
}

struct visit_state {
    argument_visit *visit;
    void *context;
};

static enum MHD_Result visit_argument(void *context, enum MHD_ValueKind kind, const char *name, const char *value) {
    struct visit_state *state = context;
    (void)kind;
    return state->visit(state->context, name, value) ? MHD_YES : MHD_NO;
}

void request_arguments(const struct http_request *request, argument_visit *visit, void *context) {
    struct visit_state state = { visit, context };
    MHD_get_connection_values(request->connection, MHD_GET_ARGUMENT_KIND, visit_argument, &state);
}
