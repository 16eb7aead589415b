/* Source files: only those that an image names, and only below the source root. */
#define _GNU_SOURCE
#include "routes/source_file.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <callsign/inspect.h>

#include "base/number.h"
#include "http/server.h"
#include "routes/json_body.h"
#include "routes/lookup.h"
#include "routes/routes.h"
#include "routes/store_file.h"

enum { WHY_SIZE = 256, PATH_SIZE = 4096, LARGEST_SOURCE = 64 << 20 };

/* Without "//", "/./" and "/../". False: it leaves the root, or is too long. */
static bool normalize(const char *path, char out[PATH_SIZE]) {
    size_t used = 0;
    while (*path) {
        while (*path == '/') path++;
        size_t size = strcspn(path, "/");
        if (size == 2 && path[0] == '.' && path[1] == '.') {
            if (used == 0) return false;
            while (out[--used] != '/') {}
        } else if (size && !(size == 1 && path[0] == '.')) {
            if (used + size + 2 >= PATH_SIZE) return false;
            out[used++] = '/';
            memcpy(out + used, path, size);
            used += size;
        }
        path += size;
    }
    out[used] = 0;
    return used != 0;
}

bool find_source_file(const struct http_request *request, const char *path, char *out, size_t out_size) {
    const char *root = request->server->settings.source_root;
    char plain[PATH_SIZE], real[PATH_SIZE], real_root[PATH_SIZE];
    struct stat st;
    if (!*root || *path != '/' || !normalize(path, plain)) return false;
    int size = snprintf(out, out_size, "%s%s", root, plain);
    if (size < 0 || (size_t)size >= out_size || !realpath(out, real) || !realpath(root, real_root)) return false;
    size_t root_size = strcmp(real_root, "/") == 0 ? 0 : strlen(real_root); /* symbolic links must not lead out of it */
    return strncmp(real, real_root, root_size) == 0 && real[root_size] == '/' && stat(real, &st) == 0 && S_ISREG(st.st_mode);
}

static bool index_names_file(const struct csn_index *index, const char *path) {
    struct csn_index_info info;
    csn_index_get_info(index, &info, sizeof(info));
    for (uint32_t i = 1; i < info.file_count; i++) {
        struct csn_frame frame = { .line = 0 };
        char stored[PATH_SIZE], plain[PATH_SIZE];
        if (csn_index_file(index, i, &frame.directory, &frame.base, NULL) != CSN_OK) continue;
        if (csn_frame_path(&frame, stored, sizeof(stored)) < sizeof(stored) && normalize(stored, plain) &&
            strcmp(plain, path) == 0)
            return true;
    }
    return false;
}

enum http_done answer_source(struct http_request *request, const char *build_id, const char *path) {
    struct symbols_key key = { .name = "" };
    struct symbols *symbols = NULL;
    char why[WHY_SIZE] = "", plain[PATH_SIZE], file[PATH_SIZE];
    if (!normalize(path, plain)) return respond_error(request, 400, "the source path leads nowhere");
    memcpy(key.build_id, build_id, sizeof(key.build_id));
    enum pool_status status = pool_acquire(request->server->pool, &key, true, &symbols, why, sizeof(why));
    if (status != POOL_OK) return respond_pool(request, status, why);
    bool is_named = index_names_file(symbols->index, plain);
    pool_release(request->server->pool, symbols);
    if (!is_named || !find_source_file(request, plain, file, sizeof(file)))
        return respond_store(request, STORE_NONE, "no such source file");
    const char *last = strrchr(plain, '/');
    respond_header(request, "X-DEBUGINFOD-FILE", last + 1);
    respond_header(request, "Cache-Control", "public");
    return respond_file(request, file, UINT64_MAX, "application/octet-stream");
}

/* ---- POST /source/v1 ---- */

static bool frame_names_file(struct symbols *symbols, uint64_t addr, const char *file) {
    struct lookup *lookup = lookup_create();
    bool found = false;
    if (!lookup) return false;
    if (lookup_address(lookup, symbols, addr) == CSN_OK)
        for (size_t i = 0; i < lookup->found.frame_count && !found; i++) {
            struct csn_str path = lookup_path(lookup, i);
            found = path.len == strlen(file) && path.len && memcmp(path.ptr, file, path.len) == 0;
        }
    lookup_destroy(lookup);
    return found;
}

static enum http_done put_source(struct http_request *request, const char *file) {
    char path[PATH_SIZE];
    struct csn_file *source = NULL;
    struct text *body = &request->response.body;
    if (!find_source_file(request, file, path, sizeof(path)) || csn_file_open(path, &source, NULL) < 0)
        return respond_error(request, 404, "the server does not have this source file");
    if (csn_file_size(source) > LARGEST_SOURCE) {
        csn_file_close(source);
        return respond_error(request, 404, "the source file is too large");
    }
    text_put(body, "{\"symbolsLastModified\":null,\"sourceLastModified\":null,\"file\":");
    text_json_cstr(body, file);
    text_put(body, ",\"source\":");
    text_json(body, csn_file_size(source) ? csn_file_bytes(source) : "", csn_file_size(source));
    text_char(body, '}');
    csn_file_close(source);
    return respond_json(request, 200);
}

static enum http_done source_of_request(struct http_request *request, const json_t *root) {
    const char *name = json_string_value(json_object_get(root, "debugName")),
               *id = json_string_value(json_object_get(root, "debugId"));
    const char *offset = json_string_value(json_object_get(root, "moduleOffset")),
               *file = json_string_value(json_object_get(root, "file"));
    struct symbols_key key = { .name = "" };
    struct symbols *symbols = NULL;
    char why[WHY_SIZE] = "";
    uint64_t number;
    if (!id || !offset || !file || !debug_id_canonical(id, key.debug_id))
        return respond_error(request, 400, "debugId, moduleOffset or file is missing or not what it should be");
    if (!number_read_hex(offset, &number)) return respond_error(request, 400, "moduleOffset is not a hexadecimal number");
    if (name && artifact_name_is_safe(name)) snprintf(key.name, sizeof(key.name), "%s", name);
    enum pool_status status = pool_acquire(request->server->pool, &key, true, &symbols, why, sizeof(why));
    if (status != POOL_OK) return respond_image(request, status, why);
    bool is_named = frame_names_file(symbols, symbols->image_base + number, file);
    pool_release(request->server->pool, symbols);
    return is_named ? put_source(request, file) : respond_error(request, 404, "no frame at this offset is in this file");
}

enum http_done source_v1(struct http_request *request) {
    json_error_t error;
    json_t *root = json_body_load(&request->body, &error);
    enum http_done done = json_is_object(root) ? source_of_request(request, root)
                                               : respond_error(request, 400, "the body is not a JSON object");
    json_decref(root);
    return done;
}
