/* PUT /v1/store/NAME: a file comes into the store. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>

#include "http/server.h"
#include "routes/routes.h"
#include "store/archive_intake.h"

struct uploaded {
    struct text *out;
    size_t count;
    struct artifact first;
};

static void put_artifact(struct text *out, const struct artifact *a) {
    text_char(out, '{');
    text_json_member(out, "build_id", *a->build_id ? a->build_id : *a->debug_id ? a->debug_id : a->htlhash);
    if (*a->debug_id) text_json_member(out, "debug_id", a->debug_id);
    text_json_member(out, "name", a->name);
    text_json_member(out, "kind", artifact_kind_name(a->kind));
    text_format(out, ",\"bytes\":%llu", (unsigned long long)a->bytes);
    text_json_member(out, "path", a->path);
}

static void note_stored(void *context, const char *name, enum store_status status, const struct artifact *artifact,
                        const char *why) {
    struct uploaded *uploaded = context;
    (void)name, (void)why;
    if (status != STORE_OK) return;
    if (uploaded->count++ == 0) {
        uploaded->first = *artifact;
        return;
    }
    text_put(uploaded->out, uploaded->count > 2 ? "," : "");
    put_artifact(uploaded->out, artifact);
    text_char(uploaded->out, '}');
}

enum http_done upload_file(struct http_request *request) {
    struct server *server = request->server;
    const char *name = request->path + strlen("/v1/store/");
    char why[256] = "";
    struct text more = { 0 };
    struct uploaded uploaded = { .out = &more };
    if (!artifact_name_is_safe(name)) return respond_error(request, 400, "the name is not that of a file");
    if (request->part.is_part && !upload_part_end(request)) return HTTP_DONE;
    enum store_status status =
        store_take_file(server->store, &request->incoming, name, "upload", note_stored, &uploaded, why, sizeof(why));
    pool_refresh(server->pool);
    if (status != STORE_OK || !uploaded.count) {
        text_free(&more);
        return respond_store(request, status == STORE_OK ? STORE_REJECTED : status, why);
    }
    atomic_fetch_add(&server->metrics.uploads, 1);
    atomic_fetch_add(&server->metrics.upload_bytes, request->body_size);
    put_artifact(&request->response.body, &uploaded.first);
    if (uploaded.count > 1) {
        text_put(&request->response.body, ",\"more\":[");
        text_bytes(&request->response.body, more.ptr, more.size);
        text_char(&request->response.body, ']');
    }
    text_put(&request->response.body, "}\n");
    text_free(&more);
    return respond_json(request, 201);
}
