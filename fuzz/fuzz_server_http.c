/* Any bytes as a request: METHOD TARGET, lines of headers, an empty line, the body. It goes through the server's
 * routes, tokens, body decoding and handlers without a socket. Invariants: one answer; JSON where it is called so;
 * files of the store alone, and no more than they have. */
#define _GNU_SOURCE
#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "http/http_log.h"
#include "http/server.h"
#include "routes/routes.h"
#include "server/fake_http.h"
#include "server/scratch_store.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
    if (!condition) abort();
}

/* ---- the server ---- */

static const char example[] =
    "MODULE Linux x86_64 00112233445566778899AABBCCDDEEFF0 libexample.so\nINFO CODE_ID 33221100554477668899AABBCCDDEEFF\n"
    "FILE 0 /src/example.c\nINLINE_ORIGIN 0 inner\nFUNC 1000 20 0 open_door\nINLINE 0 3 0 0 1000 8\n1000 10 12 0\n"
    "1010 10 14 0\nFUNC 1020 30 0 _ZN4ring4bellEv\n1020 30 21 0\nPUBLIC 2000 0 \"quoted\\name\n";

static void forget_note(void *context, const char *name, enum store_status status, const struct artifact *artifact,
                        const char *why) {
    (void)context, (void)name, (void)status, (void)artifact, (void)why;
}

static struct server *start_server(void) {
    static struct server server;
    char why[256] = "";
    if (server.store) return &server;
    settings_init(&server.settings);
    server.settings.workers = 0; /* run_queue() works */
    server.settings.max_body = 1 << 20;
    server_use_settings(&server, &server.settings);
    log_set_level("none");
    server.store = scratch_store_open();
    require(scratch_store_take(server.store, "libexample.so.sym", example, sizeof(example) - 1, forget_note, NULL) == STORE_OK);
    snprintf(server.settings.source_root, sizeof(server.settings.source_root), "%s/no-sources", scratch_store_dir());
    snprintf(server.settings.web, sizeof(server.settings.web), "%s/no-page", scratch_store_dir());
    struct index_pool_options options = { .store = server.store, .max_open = 64, .workers = 1, .threads = 1,
                                          .conversion_bytes = 1 << 28,
                                          .cache_bytes = 1 << 28, .refresh_s = 86400 };
    require(index_pool_open(&options, &server.pool, why, sizeof(why)) == 0);
    server.tokens = tokens_load(&server.settings, why, sizeof(why));
    require(server.tokens);
    server.routes = server_routes;
    server.route_count = server_route_count;
    atomic_store(&server.is_scanned, true);
    queue_start(&server);
    require(server_start(&server, why, sizeof(why)) == 0);
    return &server;
}

static void run_queue(void *context) {
    struct server *server = context;
    struct http_request *request = server->queue_first;
    require(request && !request->next);
    server->queue_first = NULL;
    server->queue_last = &server->queue_first;
    server->queue_size = 0;
    request->may_block = true;
    require(dispatch(request) == HTTP_DONE);
    resume_request(request);
}

/* ---- answers ---- */

static void check_file(const struct fake_answer *answer) {
    char link[64], path[4096];
    struct stat st;
    snprintf(link, sizeof(link), "/proc/self/fd/%d", answer->fd);
    ssize_t size = readlink(link, path, sizeof(path) - 1);
    const char *dir = scratch_store_dir();
    require(size > 0 && strncmp(path, dir, strlen(dir)) == 0 && path[strlen(dir)] == '/');
    path[size] = 0;
    require(!strstr(path, "catalogue"));
    require(fstat(answer->fd, &st) == 0 && answer->offset <= (uint64_t)st.st_size &&
            answer->size <= (uint64_t)st.st_size - answer->offset);
}

/* One value, or one a line. Addresses may be larger than the library's integers. */
static void check_json(const char *text, size_t size) {
    while (size) {
        json_error_t error;
        json_t *value = json_loadb(text, size, JSON_DISABLE_EOF_CHECK | JSON_ALLOW_NUL | JSON_DECODE_INT_AS_REAL, &error);
        require(value && error.position > 0);
        json_decref(value);
        text += error.position;
        size -= (size_t)error.position;
        while (size && *text == '\n') text++, size--;
    }
}

static void check_answer(const struct fake_answer *answer) {
    require(answer->status >= 200 && answer->status < 600 && answer->status != 500);
    if (answer->fd >= 0) check_file(answer);
    else if (answer->content_type && strcmp(answer->content_type, "application/json") == 0) check_json(answer->body, answer->size);
}

/* ---- requests ---- */

static void add_field(struct fake_request *request, enum MHD_ValueKind kind, const char *name, const char *value) {
    if (request->field_count == FAKE_MOST_FIELDS) return;
    request->fields[request->field_count++] = (struct fake_field){ kind, name, value };
}

static void take_arguments(struct fake_request *request, char *text) {
    for (char *at; (at = strsep(&text, "&"));) {
        char *value = strchr(at, '=');
        if (value) *value++ = 0;
        fake_decode(at);
        if (value) fake_decode(value);
        add_field(request, MHD_GET_ARGUMENT_KIND, at, value);
    }
}

/* METHOD TARGET */
static bool take_first_line(struct fake_request *request, char *line) {
    char *target = strchr(line, ' ');
    if (!target || target == line || !target[1]) return false;
    *target++ = 0;
    request->method = line;
    request->path = target;
    char *arguments = strchr(target, '?');
    if (arguments) {
        *arguments++ = 0;
        take_arguments(request, arguments);
    }
    fake_decode(target);
    return true;
}

static void take_header(struct fake_request *request, char *line) {
    char *value = strchr(line, ':');
    if (!value) return;
    *value++ = 0;
    add_field(request, MHD_HEADER_KIND, line, value + strspn(value, " \t"));
}

/* A server that refuses every request would keep to all that is asked of an answer. */
static void check_fine(const struct fake_answer *answer) { require(answer->status == 200); }

static struct server *started_server(void) {
    static struct server *server;
    struct fake_request request = { .method = "GET", .path = "/metrics" };
    if (server) return server;
    server = start_server();
    require(fake_run(&request, run_queue, server, check_fine));
    return server;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct server *server = started_server();
    const uint8_t *end = size ? memmem(data, size, "\n\n", 2) : NULL;
    size_t head_size = end ? (size_t)(end - data) : size;
    struct fake_request request = { .body = end ? end + 2 : data, .body_size = end ? size - head_size - 2 : 0 };
    char *head = strndup((const char *)data, head_size), *rest = head, *first = strsep(&rest, "\n");
    if (take_first_line(&request, first)) {
        for (char *line; (line = strsep(&rest, "\n"));) take_header(&request, line);
        require(fake_run(&request, run_queue, server, check_answer));
    }
    free(head);
    return 0;
}
