/* pprof's /symbolz: client-protocols 6.2. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "http/server.h"
#include "routes/lookup.h"
#include "routes/routes.h"
#include "routes/store_file.h"

enum { WHY_SIZE = 256 };

/* /m/ID/symbolz names the module; ID is a build id or a debug id. */
static bool key_of_path(const struct http_request *request, struct symbols_key *out) {
    const char *id = request->path + strlen("/m/"), *slash = strchr(id, '/');
    const char *argument = strncmp(request->path, "/m/", 3) == 0 ? NULL : request_argument(request, "module");
    size_t size = argument ? strlen(argument) : slash && strcmp(slash, "/symbolz") == 0 ? (size_t)(slash - id) : 0;
    return (argument || strncmp(request->path, "/m/", 3) == 0) && symbols_key_of_id(argument ? argument : id, size, out);
}

/* 0x401173+0x401060: one line for each address that has a name. */
static void put_names(struct http_request *request, struct symbols *symbols, struct lookup *lookup) {
    const char *at = request->body.size ? request->body.ptr : "", *end = at + request->body.size;
    while (at < end) {
        const char *stop = memchr(at, '+', (size_t)(end - at));
        char text[32] = "";
        size_t size = (size_t)((stop ? stop : end) - at);
        while (size && (at[size - 1] == '\n' || at[size - 1] == '\r' || at[size - 1] == ' ')) size--;
        if (size && size < sizeof(text)) memcpy(text, at, size);
        uint64_t addr = 0;
        request->frames++;
        const bool is_address = number_read_hex(text, &addr);
        if (is_address && lookup_address(lookup, symbols, symbols_index_address(symbols, addr)) == CSN_OK &&
            lookup->found.frame_count) {
            struct csn_str name = lookup_name(lookup, symbols, lookup->found.frame_count - 1);
            text_put(&request->response.body, text);
            text_char(&request->response.body, '\t');
            text_bytes(&request->response.body, name.ptr, name.len);
            text_char(&request->response.body, '\n');
        }
        at = stop ? stop + 1 : end;
    }
}

enum http_done pprof_symbolz(struct http_request *request) {
    struct symbols_key key;
    struct symbols *symbols = NULL;
    char why[WHY_SIZE] = "";
    if (!key_of_path(request, &key)) {
        if (strncmp(request->path, "/m/", 3) == 0) return respond_error(request, 400, "the path is not /m/ID/symbolz");
        return strcmp(request->method, "GET") == 0 ? respond(request, 200, "text/plain", "num_symbols: 0\n")
                                                   : respond(request, 200, "text/plain", "");
    }
    enum pool_status status = pool_acquire(request->server->pool, &key, true, &symbols, why, sizeof(why));
    if (status == POOL_NONE)
        return respond(request, 200, "text/plain", strcmp(request->method, "GET") == 0 ? "num_symbols: 0\n" : "");
    if (status != POOL_OK) return respond_pool(request, status, why);
    struct lookup *lookup = lookup_create();
    respond(request, lookup ? 200 : 503, "text/plain", "");
    if (strcmp(request->method, "GET") == 0) text_put(&request->response.body, "num_symbols: 1\n");
    else if (lookup) put_names(request, symbols, lookup);
    lookup_destroy(lookup);
    pool_release(request->server->pool, symbols);
    return HTTP_DONE;
}
