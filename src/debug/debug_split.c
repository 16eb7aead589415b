/* Split DWARF: the unit that belongs to a skeleton, in the image's package or in a .dwo file. */
#include <callsign/debug_info.h>

#include "base/core/fail.h"
#include "debug/debug_private.h"
#include "dwarf/dwarf_private.h"
#include "dwarf/dwarf_split.h"

/* GCC writes each type unit into a section of its own: all of one name become one. */
static csn_status join_sections(struct csn_debug_info *info, struct csni_object *object, const char *name, struct csni_span *bytes,
                                struct csni_span *joined, struct csn_error *err) {
    uint32_t first = csni_object_find_debug_section(object, name, true);
    size_t size = 0, count = 0;
    if (first == CSNI_NO_SECTION) return CSN_OK;
    for (int pass = 0; pass < 2; pass++) {
        uint8_t *to = (uint8_t *)(uintptr_t)joined->ptr;
        for (uint32_t i = 1; i < object->section_count; i++) {
            struct csni_span part;
            if (object->sections[i].flags & CSNI_SECTION_NOBITS) continue;
            if (!csni_str_equal(object->sections[i].name, object->sections[first].name)) continue;
            if (csni_object_read_section(object, i, &part, NULL) != CSN_OK || !part.size) continue;
            if (pass) memcpy(to, part.ptr, part.size), to += part.size;
            else size += part.size, count++;
        }
        if (pass || count < 2) break;
        joined->ptr = csni_alloc(info->alloc, size);
        if (!joined->ptr) return csni_fail_memory(err, size);
        joined->size = size;
    }
    if (joined->ptr) *bytes = *joined;
    return CSN_OK;
}

static csn_status open_split_dwarf(struct csni_debug_file *file, struct csn_error *err) {
    struct csn_debug_info *info = file->info;
    const struct csni_dwarf *image = info->main.dwarf;
    struct csni_object *object = file->object;
    struct csni_dwarf_sections sections = {
        .info = csni_debug_read_section(object, "info", true), .types = csni_debug_read_section(object, "types", true),
        .abbrev = csni_debug_read_section(object, "abbrev", true), .str = csni_debug_read_section(object, "str", true),
        .str_offsets = csni_debug_read_section(object, "str_offsets", true),
        .rnglists = csni_debug_read_section(object, "rnglists", true),
        .cu_index = csni_debug_read_section(object, "cu_index", false),
        .tu_index = csni_debug_read_section(object, "tu_index", false),
        .line = csni_debug_read_section(object, "line", true),
        .addr = image->sections.addr, .ranges = image->sections.ranges, .big_endian = object->big_endian,
    };
    if (object->big_endian != image->sections.big_endian || !sections.info.size) return CSN_NONE;
    CSNI_TRY(join_sections(info, object, "info", &sections.info, &file->joined_info, err));
    CSNI_TRY(join_sections(info, object, "types", &sections.types, &file->joined_types, err));
    CSNI_TRY(csni_debug_file_open(file, &sections, err));
    for (uint32_t i = 0; i < file->dwarf->unit_count; i++) {
        const struct csn_debug_unit *unit;
        if (csni_debug_file_unit(file, i, &unit, NULL) == CSN_E_MEMORY) return csni_fail_memory(err, 0);
    }
    return csni_split_index(file->dwarf, err);
}

/* Opens what a request finds, and keeps it, also when it cannot be used: it is not opened again. */
static csn_status open_split_file(struct csn_debug_info *info, const struct csn_companion_request *request, uint64_t dwo_id,
                                  struct csni_debug_file **out, struct csn_error *err) {
    struct csni_debug_companion *companion;
    csn_status status = csni_debug_companion_open(info, request, &companion, err);
    if (status == CSN_E_MEMORY) return status;
    struct csni_debug_file *file = csni_alloc_zeroed(info->alloc, 1, sizeof *file);
    if (!file || !csni_vec_push(&info->split, file)) {
        csni_free(info->alloc, file, sizeof *file);
        return csni_fail_memory(err, sizeof *file);
    }
    file->info = info;
    file->dwo_id = dwo_id;
    file->is_package = request->kind == CSN_COMPANION_DWP;
    file->state = status;
    if (status == CSN_OK) {
        file->object = companion->object;
        file->state = open_split_dwarf(file, err);
    }
    *out = file;
    return file->state;
}

/* The name as a C string. */
static const char *keep_text(struct csn_debug_info *info, struct csn_str text) {
    return csni_arena_copy(&info->arena, text.ptr, text.len);
}

static csn_status find_file(struct csn_debug_info *info, const struct csn_debug_unit *skeleton, struct csni_debug_file **out,
                            struct csn_error *err) {
    bool package_asked = false;
    for (size_t i = 0; i < info->split.count; i++) {
        struct csni_debug_file *file = info->split.items[i];
        package_asked |= file->is_package;
        if (file->is_package ? file->state != CSN_OK || !csni_split_find(file->dwarf, skeleton->dwo_id)
                             : file->dwo_id != skeleton->dwo_id)
            continue;
        *out = file;
        return file->state;
    }
    const struct csni_debug_companion *debug = NULL;
    for (size_t i = 0; i < info->companions.count; i++)
        if (info->companions.items[i]->object == info->debug) debug = info->companions.items[i];
    struct csn_companion_request request = { .struct_size = sizeof request, .kind = CSN_COMPANION_DWP,
                                             .image_path = info->path, .name = debug ? debug->found.path : NULL,
                                             .dwo_id = skeleton->dwo_id };
    if (!package_asked) {
        csn_status status = open_split_file(info, &request, 0, out, err);
        if (status == CSN_E_MEMORY) return status;
        if (status == CSN_OK && csni_split_find((*out)->dwarf, skeleton->dwo_id)) return CSN_OK;
    }
    request.kind = CSN_COMPANION_DWO;
    request.name = keep_text(info, skeleton->dwo_name);
    request.directory = skeleton->comp_dir.len ? keep_text(info, skeleton->comp_dir) : NULL;
    return open_split_file(info, &request, skeleton->dwo_id, out, err);
}

csn_status csn_debug_unit_split(const struct csn_debug_unit *skeleton, const struct csn_debug_unit **out, struct csn_error *err) {
    struct csni_debug_file *from = csni_debug_unit_file(skeleton), *file;
    struct csn_debug_info *info = from->info;
    if (!skeleton->is_skeleton || from != &info->main || !skeleton->dwo_name.len) return CSN_NONE;
    csn_status status = find_file(info, skeleton, &file, err);
    if (status != CSN_OK) return status == CSN_E_MEMORY ? status : CSN_NONE;
    struct csni_unit *unit = csni_split_find(file->dwarf, skeleton->dwo_id);
    if (!unit || csni_split_bind(unit, csni_debug_dwarf_unit(skeleton), err) != CSN_OK) return CSN_NONE;
    uint32_t idx = (uint32_t)(unit - file->dwarf->units);
    struct csn_debug_unit *split = file->units[idx];
    if (!split || file->status[idx] < 0) return CSN_NONE;
    split->is_split = true;
    split->priv[2] = skeleton;
    split->comp_dir = split->comp_dir.len ? split->comp_dir : skeleton->comp_dir;
    split->low_pc = skeleton->low_pc;
    split->has_low_pc = skeleton->has_low_pc;
    *out = split;
    return CSN_OK;
}
