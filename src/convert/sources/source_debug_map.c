/* Mach-O images as a linker leaves them: their DWARF lies in the object files and archives that the debug map names. */
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#include "base/core/fail.h"
#include "convert/companions.h"
#include "convert/dwarf/source_dwarf.h"
#include "convert/sources/source.h"
#include "object/address_map.h"
#include "object/archive.h"

/* One debug map at work. */
struct map_reading {
    struct csni_conversion *c;
    const struct csni_debug_map *map;
    const struct csni_debug_map_object *at; /* the object file at hand */
    struct csni_companion_file *file;       /* the file it was in, which may hold others */
    struct csn_str file_path;
};

/* What became of the object file is told in the report, by the path where it was found; the conversion goes on without it. */
static void note_debug_map_missing(const struct map_reading *m, const char *why) {
    char text[CSN_EXAMPLE_SIZE];
    const struct csni_debug_map_object *o = m->at;
    const struct csn_str path = m->file && m->file->found.path ? csni_str(m->file->found.path) : o->path;
    int len = o->member.len ? snprintf(text, sizeof text, "%.*s(%.*s): %s", (int)(path.len & INT_MAX), path.ptr,
                                       (int)(o->member.len & INT_MAX), o->member.ptr, why)
                            : snprintf(text, sizeof text, "%.*s: %s", (int)(path.len & INT_MAX), path.ptr, why);
    size_t kept = len < 0 ? 0 : (size_t)len < sizeof text ? (size_t)len : sizeof text - 1;
    csni_report_add(m->c->report, CSN_EVENT_MISSING_OBJECT, 1, (struct csn_str){ text, kept });
}

/* The file that the object file at hand is in. CSN_NONE: it was not found, and that is noted. */
static csn_status find_debug_map_file(struct map_reading *m, struct csn_error *err) {
    if (m->file && csni_str_equal(m->file_path, m->at->path)) return CSN_OK;
    m->file = NULL;
    char *path = csni_alloc(m->c->alloc, m->at->path.len + 1);
    if (!path) return csni_fail_memory(err, m->at->path.len + 1);
    memcpy(path, m->at->path.ptr, m->at->path.len);
    path[m->at->path.len] = 0;
    struct csn_companion_request request = { .struct_size = sizeof request,
                                             .kind = CSN_COMPANION_OBJECT,
                                             .image_path = m->c->input.path,
                                             .name = path,
                                             .modified = m->at->member.len ? 0 : m->at->mtime };
    csn_status status = csni_companion_find(m->c, &request, &m->file, err);
    csni_free(m->c->alloc, path, m->at->path.len + 1);
    m->file_path = m->at->path;
    if (status == CSN_NONE) note_debug_map_missing(m, "not found");
    return status;
}

static csn_status note_changed(const struct map_reading *m, uint64_t modified) {
    char text[96];
    snprintf(text, sizeof text, "modified at %" PRIu64 ", was linked when modified at %" PRIu64, modified, m->at->mtime);
    note_debug_map_missing(m, text);
    return CSN_NONE;
}

/* The bytes of the object file at hand. CSN_NONE: there are none, and that is noted. */
static csn_status find_debug_map_bytes(struct map_reading *m, struct csni_span *out, struct csn_error *err) {
    csn_status status = find_debug_map_file(m, err);
    if (status != CSN_OK) return status;
    uint64_t modified = m->file->found.modified;
    *out = m->file->bytes;
    if (m->at->member.len) {
        struct csn_error inner = CSN_ERROR_INIT;
        struct csni_archive_member member;
        status = csni_archive_find(m->file->bytes, m->at->member, m->at->mtime, &member, &inner);
        if (status < 0) note_debug_map_missing(m, csn_error_text(&inner));
        else if (status == CSN_NONE) note_debug_map_missing(m, "no such member");
        if (status != CSN_OK) return CSN_NONE;
        *out = member.bytes;
        modified = member.mtime;
    }
    return modified && m->at->mtime && modified != m->at->mtime ? note_changed(m, modified) : CSN_OK;
}

/* Functions of the object file, as far as they were linked into the image. */
static csn_status read_object(struct map_reading *m, struct csni_object *object, struct csn_error *err) {
    struct csni_address_map map;
    const struct csni_debug_map_function *functions = m->map->functions.items + m->at->first_function;
    csn_status status = csni_address_map_make(object, functions, m->at->function_count, m->c->alloc, &map, err);
    if (status < 0) return status;
    const struct csni_dwarf_input input = { .object = object, .map = &map };
    status = csni_source_dwarf(m->c, &input, err);
    m->c->report->inflated_bytes += csni_object_inflated_bytes(object);
    csni_address_map_deinit(&map);
    return status;
}

static csn_status read_mapped_object(struct map_reading *m, struct csn_error *err) {
    struct csni_span bytes;
    csn_status status = find_debug_map_bytes(m, &bytes, err);
    if (status != CSN_OK) return status < 0 ? status : CSN_OK;
    struct csni_object *object;
    struct csn_error inner = CSN_ERROR_INIT;
    status = csni_companion_open_part(m->c, m->file, bytes, &object, &inner);
    if (status == CSN_OK) status = read_object(m, object, &inner);
    if (status == CSN_E_MEMORY || status == CSN_E_CANCELLED || status == CSN_E_LIMIT) {
        if (err) *err = inner;
        return status;
    }
    if (status < 0) note_debug_map_missing(m, csn_error_text(&inner));
    return CSN_OK;
}

csn_status csni_source_debug_map(struct csni_conversion *c, struct csn_error *err) {
    struct csni_debug_map map;
    csn_status status = csni_macho_debug_map(c->object, c->alloc, &map, err);
    if (status != CSN_OK) return status < 0 ? status : CSN_OK;
    struct map_reading m = { .c = c, .map = &map };
    for (size_t i = 0; i < map.objects.count && status >= 0; i++) {
        m.at = &map.objects.items[i];
        if (m.at->function_count) status = read_mapped_object(&m, err);
    }
    csni_debug_map_deinit(&map);
    return status;
}
