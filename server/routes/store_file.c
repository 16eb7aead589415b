/* A file of the store, or one that is made from it, as an answer. */
#define _GNU_SOURCE
#include "routes/store_file.h"

#include <stdio.h>
#include <string.h>

#include "http/server.h"

enum { WHY_SIZE = 256, PATH_SIZE = 4096 };

enum http_done respond_pool(struct http_request *request, enum pool_status status, const char *why) {
    switch (status) {
    case POOL_OK: break;
    case POOL_NONE: return respond_store(request, STORE_NONE, why);
    case POOL_FAILED: return respond_error(request, 422, "%s", why);
    case POOL_UNREACHABLE: return respond_store(request, STORE_UNREACHABLE, why);
    case POOL_BROKEN: return respond_store(request, STORE_FAILED, why);
    case POOL_WOULD_BLOCK: return HTTP_BLOCKS;
    }
    return respond_error(request, 500, "no answer");
}

enum http_done respond_image(struct http_request *request, enum pool_status status, const char *why) {
    if (status != POOL_NONE) return respond_pool(request, status, why);
    return respond_error(request, 404, "%s", *why ? why : "the store has no such image");
}

static const char *last_part(const char *path) {
    const char *last = strrchr(path, '/');
    return last ? last + 1 : path;
}

/* The headers that debuginfod's clients know. */
static void put_file_headers(struct http_request *request, uint64_t size, const char *name) {
    char text[32];
    snprintf(text, sizeof(text), "%llu", (unsigned long long)size);
    respond_header(request, "X-DEBUGINFOD-SIZE", text);
    respond_header(request, "X-DEBUGINFOD-FILE", name);
    respond_header(request, "Cache-Control", "public");
}

static void symbols_key_of(const struct tree_query *query, struct symbols_key *out) {
    *out = (struct symbols_key){ .name = "" };
    memcpy(out->build_id, query->build_id, sizeof(out->build_id));
    memcpy(out->debug_id, query->debug_id, sizeof(out->debug_id));
    if (artifact_name_is_safe(query->name)) memcpy(out->name, query->name, sizeof(out->name));
}

static enum http_done answer_index(struct http_request *request, const struct tree_query *query) {
    struct symbols_key key;
    char path[PATH_SIZE], why[WHY_SIZE] = "";
    uint64_t size = 0;
    symbols_key_of(query, &key);
    enum pool_status status = pool_index_file(request->server->pool, &key, path, sizeof(path), &size, why, sizeof(why));
    if (status != POOL_OK) return respond_pool(request, status, why);
    put_file_headers(request, size, last_part(path));
    return respond_file(request, path, size, "application/vnd.llvm.gsym");
}

static enum http_done answer_breakpad(struct http_request *request, const struct tree_query *query) {
    struct symbols_key key;
    char path[PATH_SIZE], why[WHY_SIZE] = "";
    symbols_key_of(query, &key);
    enum pool_status status = pool_breakpad_file(request->server->pool, &key, path, sizeof(path), why, sizeof(why));
    if (status != POOL_OK) return respond_pool(request, status, why);
    return respond_file(request, path, UINT64_MAX, "text/plain");
}

static enum http_done answer_meta(struct http_request *request, const struct artifact *artifact) {
    struct text *body = &request->response.body;
    text_char(body, '{');
    text_json_member(body, "name", artifact->name);
    text_json_member(body, "arch", artifact->arch);
    text_json_member(body, "debug_id", artifact->debug_id);
    text_json_member(body, "code_id", *artifact->code_id ? artifact->code_id : artifact->build_id);
    text_put(body, "}\n");
    return respond_json(request, 200);
}

enum http_done answer_tree_query(struct http_request *request, const struct tree_query *query) {
    struct artifact artifact;
    char path[PATH_SIZE], why[WHY_SIZE] = "";
    bool has_id = *query->build_id || *query->debug_id;
    if (query->kinds == ARTIFACT_GSYM && has_id) return answer_index(request, query);
    if (query->kinds == ARTIFACT_BREAKPAD && has_id) return answer_breakpad(request, query);
    enum store_status status = symbol_store_find(request->server->store, query, &artifact, why, sizeof(why));
    if (status != STORE_OK) return respond_store(request, status, why);
    if (query->is_meta) return answer_meta(request, &artifact);
    snprintf(path, sizeof(path), "%s/%s", symbol_store_dir(request->server->store), artifact.path);
    put_file_headers(request, artifact.bytes, *artifact.name ? artifact.name : last_part(artifact.path));
    return respond_file(request, path, UINT64_MAX, "application/octet-stream");
}
