/* The log. */
#define _GNU_SOURCE
#include "http/http_log.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "http/server.h"

static atomic_int quietness; /* 0: info; 1: errors; 2: none */

void log_set_level(const char *level) {
    atomic_store(&quietness, strcmp(level, "none") == 0 ? 2 : strcmp(level, "error") == 0 ? 1 : 0);
}

static void begin_line(struct text *line, const char *level, const char *message) {
    struct timespec now;
    struct tm tm;
    char text[32];
    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &tm);
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
    text_format(line, "{\"time\":\"%s.%03ldZ\"", text, now.tv_nsec / 1000000);
    text_json_member(line, "level", level);
    text_json_member(line, "message", message);
}

/* In one piece, so that lines of several threads do not mix. */
static void end_line(struct text *line) {
    text_put(line, "}\n");
    if (!line->failed && write(STDERR_FILENO, line->ptr, line->size) < 0) line->failed = true; /* nobody can be told */
    text_free(line);
}

void log_event(const char *level, const char *message, const char *detail) {
    struct text line = { 0 };
    int wanted = strcmp(level, "info") != 0;
    if (atomic_load(&quietness) > wanted) return;
    begin_line(&line, level, message);
    if (detail) text_json_member(&line, "detail", detail);
    end_line(&line);
}

static void put_address(struct text *line, struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    char text[INET6_ADDRSTRLEN] = "unix";
    const struct sockaddr *address = info ? info->client_addr : NULL;
    if (address && address->sa_family == AF_INET)
        inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)address)->sin_addr, text, sizeof(text));
    if (address && address->sa_family == AF_INET6)
        inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)(const void *)address)->sin6_addr, text, sizeof(text));
    text_json_member(line, "client", text);
}

void log_request(const struct http_request *request, uint64_t microseconds, bool was_sent) {
    struct text line = { 0 };
    bool failed = request->response.status >= 500 || !was_sent;
    if (atomic_load(&quietness) > (failed ? 1 : 0)) return;
    begin_line(&line, failed ? "error" : "info", "request");
    text_json_member(&line, "request_id", request->id);
    text_json_member(&line, "trace_id", request->trace_id);
    text_json_member(&line, "method", request->method);
    text_json_member(&line, "path", request->path);
    text_json_member(&line, "route", request->route ? request->route->name : "none");
    put_address(&line, request->connection);
    text_format(&line, ",\"status\":%u,\"duration_us\":%llu,\"received_bytes\":%llu", request->response.status,
                (unsigned long long)microseconds, (unsigned long long)request->body_size);
    if (request->frames) text_format(&line, ",\"frames\":%llu", (unsigned long long)request->frames);
    if (*request->tenant) text_json_member(&line, "tenant", request->tenant);
    if (*request->error) text_json_member(&line, "error", request->error);
    if (!was_sent) text_json_member(&line, "outcome", "the connection ended");
    end_line(&line);
}

static void random_hex(char *out, size_t digits) {
    unsigned char bytes[16] = { 0 };
    if (getrandom(bytes, digits / 2, 0) < 0) memset(bytes, 1, sizeof(bytes));
    for (size_t i = 0; i < digits / 2; i++) {
        out[2 * i] = "0123456789abcdef"[bytes[i] >> 4];
        out[2 * i + 1] = "0123456789abcdef"[bytes[i] & 15];
    }
    out[digits] = 0;
}

static bool take_trace_id(const char *header, char out[TRACE_ID_SIZE]) {
    if (!header || strlen(header) < 55 || header[2] != '-' || header[35] != '-' || strncmp(header, "ff", 2) == 0) return false;
    bool is_zero = true;
    for (int i = 0; i < 32; i++) {
        char c = header[3 + i];
        if (!isdigit((unsigned char)c) && !(c >= 'a' && c <= 'f')) return false;
        is_zero = is_zero && c == '0';
    }
    memcpy(out, header + 3, 32);
    out[32] = 0;
    return !is_zero;
}

void log_make_ids(struct http_request *request) {
    random_hex(request->id, 32);
    if (!take_trace_id(request_header(request, "traceparent"), request->trace_id)) random_hex(request->trace_id, 32);
}
