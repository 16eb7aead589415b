/* debuginfod: client-protocols 12, with our own gsym and symbolize. */
#define _GNU_SOURCE
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <callsign/debug_info.h>

#include "base/number.h"
#include "http/server.h"
#include "routes/lookup.h"
#include "routes/routes.h"
#include "routes/source_file.h"
#include "routes/store_file.h"

enum { WHY_SIZE = 256, MOST_ADDRESSES = 10000, MOST_RESULTS = 1000 };

/* ---- symbolize?addr=0x1173&addr=0x1060 ---- */

struct symbolize {
    struct lookup *lookup;
    struct symbols *symbols;
    struct text *out;
    size_t count;
    const char *bad;
};

static bool symbolize_argument(void *context, const char *name, const char *value) {
    struct symbolize *s = context;
    uint64_t addr;
    if (strcmp(name, "addr") != 0) return true;
    if (!value || !number_read_hex(value, &addr) || s->count == MOST_ADDRESSES) {
        s->bad = value ? value : "";
        return false;
    }
    text_char(s->out, s->count++ ? ',' : '[');
    csn_status status = lookup_address(s->lookup, s->symbols, symbols_index_address(s->symbols, addr));
    lookup_put_json(s->lookup, s->symbols, addr, status, s->out);
    return true;
}

static enum http_done symbolize_addresses(struct http_request *request, const char *build_id) {
    struct symbols_key key = { .name = "" };
    struct symbolize s = { .lookup = lookup_create(), .out = &request->response.body };
    char why[WHY_SIZE] = "";
    enum http_done done;
    memcpy(key.build_id, build_id, sizeof(key.build_id));
    enum pool_status status = pool_acquire(request->server->pool, &key, true, &s.symbols, why, sizeof(why));
    if (status != POOL_OK || !s.lookup) {
        done = s.lookup ? respond_image(request, status, why) : respond_error(request, 503, "out of memory");
    } else {
        request_arguments(request, symbolize_argument, &s);
        text_put(s.out, s.count ? "]\n" : "[]\n");
        request->frames = s.count;
        done = s.bad ? respond_error(request, 400, "'%.40s' is not a hexadecimal address, or there are more than %d",
                                     s.bad, MOST_ADDRESSES)
                     : respond_json(request, 200);
    }
    if (status == POOL_OK) pool_release(request->server->pool, s.symbols);
    lookup_destroy(s.lookup);
    return done;
}

/* ---- section/.text ---- */

/* Debug information comes inflated; other sections stand in the file as they are. */
static bool put_section(struct csn_debug_info *info, const char *name, const char *path, struct http_request *request) {
    struct csn_debug_object object;
    struct csn_str bytes;
    struct csn_file *file = NULL;
    bool found = false;
    if (strncmp(name, ".debug_", 7) == 0 && csn_debug_info_dwarf_section(info, name + 7, &bytes, NULL) == CSN_OK && bytes.len) {
        text_bytes(&request->response.body, bytes.ptr, bytes.len);
        return true;
    }
    csn_debug_info_get_object(info, &object, sizeof(object));
    if (csn_file_open(path, &file, NULL) < 0) return false;
    for (uint32_t i = 0; i < object.section_count && !found; i++) {
        struct csn_debug_section section;
        if (csn_debug_info_section(info, i, &section, NULL) != CSN_OK || section.name.len != strlen(name) ||
            memcmp(section.name.ptr, name, section.name.len) != 0 || section.flags & CSN_SECTION_NOBITS)
            continue;
        size_t size = csn_file_size(file);
        found = section.file_offset <= size && section.size <= size - section.file_offset;
        if (found) text_bytes(&request->response.body, (const char *)csn_file_bytes(file) + section.file_offset, section.size);
    }
    csn_file_close(file);
    return found;
}

static bool section_of_kind(struct http_request *request, const char *build_id, uint32_t kind, const char *name,
                            enum store_status *status, char *why) {
    struct tree_query query = { .kinds = kind };
    struct artifact artifact;
    struct csn_debug_info *info;
    char path[4096];
    memcpy(query.build_id, build_id, sizeof(query.build_id));
    enum store_status found = symbol_store_find(request->server->store, &query, &artifact, why, WHY_SIZE);
    if (found != STORE_OK) {
        if (found < 0) *status = found;
        return false;
    }
    snprintf(path, sizeof(path), "%s/%s", symbol_store_dir(request->server->store), artifact.path);
    if (csn_debug_info_open_file(path, NULL, &info, NULL) != CSN_OK) return false;
    bool worked = put_section(info, name, path, request);
    csn_debug_info_close(info);
    return worked;
}

static enum http_done answer_section(struct http_request *request, const char *build_id, const char *name) {
    char why[WHY_SIZE] = "";
    enum store_status status = STORE_NONE;
    if (!section_of_kind(request, build_id, ARTIFACT_DEBUGINFO, name, &status, why) &&
        !section_of_kind(request, build_id, ARTIFACT_EXECUTABLE, name, &status, why))
        return respond_store(request, status, why);
    respond_json(request, 200);
    request->response.content_type = "application/octet-stream";
    return HTTP_DONE;
}

/* ---- buildid/ID/... ---- */

enum http_done debuginfod_file(struct http_request *request) {
    const char *id = request->path + strlen("/buildid/"), *slash = strchr(id, '/');
    struct tree_query query = { .kinds = 0 };
    if (!slash) return respond_error(request, 400, "the path is not /buildid/ID/KIND");
    if (!build_id_canonical(id, (size_t)(slash - id), query.build_id))
        return respond_error(request, 400, "the build id is not an even number of hexadecimal digits, 4 to 128");
    const char *kind = slash + 1;
    if (strcmp(kind, "symbolize") == 0) return symbolize_addresses(request, query.build_id);
    if (strncmp(kind, "section/", 8) == 0 && kind[8]) return answer_section(request, query.build_id, kind + 8);
    if (strncmp(kind, "source/", 7) == 0) return answer_source(request, query.build_id, kind + 6);
    if (strcmp(kind, "debuginfo") == 0) query.kinds = ARTIFACT_DEBUGINFO | ARTIFACT_PDB;
    else if (strcmp(kind, "executable") == 0) query.kinds = ARTIFACT_EXECUTABLE;
    else if (strcmp(kind, "gsym") == 0) query.kinds = ARTIFACT_GSYM;
    else if (strcmp(kind, "breakpad") == 0) query.kinds = ARTIFACT_BREAKPAD;
    else
        return respond_error(request, 400, "'%.40s' is not debuginfo, executable, source, section, gsym, breakpad or symbolize",
                             kind);
    return answer_tree_query(request, &query);
}

/* ---- metadata?key=glob&value=/usr/bin/a* ---- */

struct metadata {
    const char *value;
    bool is_glob;
    struct text *out;
    size_t count;
};

static void put_result(struct metadata *m, const struct artifact *a, const char *type) {
    text_put(m->out, m->count++ ? ",{" : "{");
    text_json_member(m->out, "buildid", artifact_tree_id(a));
    text_json_member(m->out, "type", type);
    text_json_member(m->out, "file", *a->name ? a->name : a->path);
    text_char(m->out, '}');
}

/* The store knows names of images, not the paths that they were installed at. */
static bool match_artifact(void *context, const struct artifact *a) {
    struct metadata *m = context;
    const char *last = strrchr(m->value, '/'), *name = last ? last + 1 : m->value;
    if (m->count >= MOST_RESULTS) return false;
    if (m->is_glob ? fnmatch(name, a->name, 0) != 0 && fnmatch(m->value, a->path, 0) != 0 : strcmp(name, a->name) != 0) return true;
    if (a->kind & ARTIFACT_EXECUTABLE) put_result(m, a, "executable");
    if (a->kind & (ARTIFACT_DEBUGINFO | ARTIFACT_PDB)) put_result(m, a, "debuginfo");
    return true;
}

enum http_done debuginfod_metadata(struct http_request *request) {
    const char *key = request_argument(request, "key");
    struct metadata m = { .value = request_argument(request, "value"), .out = &request->response.body };
    if (!key || !m.value || (strcmp(key, "file") != 0 && strcmp(key, "glob") != 0))
        return respond_error(request, 400, "the query is not key=file or key=glob with a value");
    m.is_glob = strcmp(key, "glob") == 0;
    text_put(m.out, "{\"results\":[");
    if (catalogue_walk(symbol_store_catalogue(request->server->store), match_artifact, &m) < 0)
        return respond_error(request, 503, "the catalogue cannot be read");
    text_put(m.out, m.count < MOST_RESULTS ? "],\"complete\":true}" : "],\"complete\":false}");
    return respond_json(request, 200);
}
