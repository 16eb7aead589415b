/* Files of the store by the paths of all trees, and the page. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "http/server.h"
#include "routes/routes.h"
#include "routes/store_file.h"

static const char *type_of_file(const char *path) {
    static const struct { const char *ending, *type; } types[] = {
        { ".html", "text/html; charset=utf-8" }, { ".js", "text/javascript" }, { ".mjs", "text/javascript" }, { ".css", "text/css" },
        { ".wasm", "application/wasm" }, { ".json", "application/json" }, { ".svg", "image/svg+xml" }, { ".png", "image/png" },
        { ".txt", "text/plain; charset=utf-8" }, { ".map", "application/json" }, { ".ico", "image/x-icon" },
    };
    size_t size = strlen(path);
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        size_t end = strlen(types[i].ending);
        if (size > end && strcmp(path + size - end, types[i].ending) == 0) return types[i].type;
    }
    return "application/octet-stream";
}

/* No part of a path begins with a dot: neither .. nor hidden files. */
static bool is_plain_path(const char *path) {
    for (const char *at = path; *at; at++)
        if ((unsigned char)*at < 0x20 || *at == '\\' || (*at == '/' && (at[1] == '.' || at[1] == '/'))) return false;
    return *path == '/';
}

static bool find_static_file(const struct http_request *request, char *out, size_t out_size) {
    const char *web = request->server->settings.web;
    struct stat st;
    if (!*web || !is_plain_path(request->path)) return false;
    size_t size = strlen(request->path);
    int written = snprintf(out, out_size, "%s%s%s", web, request->path, request->path[size - 1] == '/' ? "index.html" : "");
    return written > 0 && (size_t)written < out_size && stat(out, &st) == 0 && S_ISREG(st.st_mode);
}

enum http_done trees_and_page(struct http_request *request) {
    char path[4096];
    struct tree_query query;
    if (find_static_file(request, path, sizeof(path))) {
        respond_header(request, "Cache-Control", "no-cache");
        respond_header(request, "Content-Security-Policy",
                       "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; worker-src 'self' blob:");
        return respond_file(request, path, UINT64_MAX, type_of_file(path));
    }
    if (strcmp(request->path, "/index2.txt") == 0) return respond(request, 404, "text/plain", "not found\n");
    if (!tree_query_parse(request->path + 1, &query)) return respond(request, 404, "text/plain", "not found\n");
    return answer_tree_query(request, &query);
}

enum http_done proxy_file(struct http_request *request) {
    struct tree_query query;
    if (!tree_query_parse(request->path + strlen("/proxy/"), &query)) return respond(request, 404, "text/plain", "not found\n");
    return answer_tree_query(request, &query);
}
