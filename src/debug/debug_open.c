/* Opening an object and the file that has its DWARF. */
#include <callsign/debug_info.h>


#include "base/core/fail.h"
#include "base/core/sized.h"
#include "debug/debug_private.h"
#include "object/debug_links.h"

void csn_debug_info_options_init(struct csn_debug_info_options *options) {
    *options = (struct csn_debug_info_options){ .struct_size = sizeof *options };
}

/* ---- files with DWARF ---- */

struct csni_span csni_debug_read_section(struct csni_object *object, const char *name, bool dwo) {
    struct csni_span bytes = { NULL, 0 };
    uint32_t section = csni_object_find_debug_section(object, name, dwo);
    if (section == CSNI_NO_SECTION || object->sections[section].flags & CSNI_SECTION_NOBITS) return bytes;
    if (csni_object_read_section(object, section, &bytes, NULL) != CSN_OK) return (struct csni_span){ NULL, 0 };
    return bytes;
}

csn_status csni_debug_file_open(struct csni_debug_file *file, const struct csni_dwarf_sections *sections, struct csn_error *err) {
    const struct csn_allocator *alloc = file->info->alloc;
    CSNI_TRY(csni_dwarf_open(sections, alloc, &file->dwarf, err));
    const struct csni_dwarf *dwarf = file->dwarf;
    file->abbrevs = csni_alloc_zeroed(alloc, dwarf->abbrev_table_count, sizeof *file->abbrevs);
    file->units = csni_alloc_zeroed(alloc, dwarf->unit_count, sizeof *file->units);
    file->prepared = csni_alloc_zeroed(alloc, dwarf->unit_count, 1);
    file->status = csni_alloc_zeroed(alloc, dwarf->unit_count, sizeof *file->status);
    bool has_memory = (!dwarf->abbrev_table_count || file->abbrevs) &&
                      (!dwarf->unit_count || (file->units && file->prepared && file->status));
    return has_memory ? CSN_OK : csni_fail_memory(err, dwarf->unit_count * sizeof *file->units);
}

void csni_debug_file_close(struct csni_debug_file *file) {
    const struct csni_dwarf *dwarf = file->dwarf;
    if (!dwarf) return;
    const struct csn_allocator *alloc = file->info->alloc;
    for (uint32_t i = 0; file->abbrevs && i < dwarf->abbrev_table_count; i++) csni_debug_abbrevs_deinit(&file->abbrevs[i]);
    csni_free(alloc, file->abbrevs, dwarf->abbrev_table_count * sizeof *file->abbrevs);
    csni_free(alloc, file->units, dwarf->unit_count * sizeof *file->units);
    csni_free(alloc, file->prepared, dwarf->unit_count);
    csni_free(alloc, file->status, dwarf->unit_count * sizeof *file->status);
    csni_dwarf_close(file->dwarf);
    csni_free(alloc, (void *)(uintptr_t)file->joined_info.ptr, file->joined_info.size);
    csni_free(alloc, (void *)(uintptr_t)file->joined_types.ptr, file->joined_types.size);
    *file = (struct csni_debug_file){ 0 };
}

/* The pages around, too, which a fault brings along: neighbours may have been read from them, and they come back. */
void csni_debug_file_forget(const struct csni_debug_file *file, const char *name, uint64_t off, uint64_t size) {
    enum { AROUND = 64 << 10 };
    const uint32_t section = csni_object_find_debug_section(file->object, name, false);
    if (section == CSNI_NO_SECTION || off > file->object->sections[section].size) return;
    const uint64_t section_size = file->object->sections[section].size, begin = off > AROUND ? off - AROUND : 0;
    const uint64_t end = section_size - off < size + AROUND ? section_size : off + size + AROUND;
    csni_object_forget(file->object, section, begin, end - begin);
}

static void forget_passed(void *context, uint64_t begin, uint64_t end) {
    csni_debug_file_forget(context, "info", begin, end - begin);
}

static csn_status open_file_dwarf(struct csn_debug_info *info, struct csni_debug_file *file, struct csni_object *object,
                                  bool is_supplement, struct csn_error *err) {
    struct csni_dwarf_sections sections = { .big_endian = object->big_endian, .is_supplement = is_supplement,
                                            .passed = forget_passed, .passed_context = file };
    for (uint32_t i = 0; i < CSNI_DWARF_SECTION_COUNT; i++)
        *csni_dwarf_section_bytes(&sections, i) = csni_debug_read_section(object, csni_dwarf_section_names[i], false);
    file->info = info;
    file->object = object;
    return csni_debug_file_open(file, &sections, err);
}

/* ---- companions ---- */

static void companion_close(struct csn_debug_info *info, struct csni_debug_companion *companion) {
    csni_object_close(companion->object);
    if (companion->found.release) companion->found.release(&companion->found);
    csni_free(info->alloc, companion, sizeof *companion);
}

csn_status csni_debug_companion_open(struct csn_debug_info *info, const struct csn_companion_request *request,
                                     struct csni_debug_companion **out, struct csn_error *err) {
    if (!info->resolver) return CSN_NONE;
    struct csni_debug_companion *companion = csni_alloc_zeroed(info->alloc, 1, sizeof *companion);
    if (!companion) return csni_fail_memory(err, sizeof *companion);
    csn_status status = info->resolver(info->resolver_context, request, &companion->found, err);
    if (status != CSN_OK) {
        csni_free(info->alloc, companion, sizeof *companion);
        return status;
    }
    const struct csni_object_options options = { .allocator = info->alloc, .file_is_mapped = companion->found.is_mapped };
    const struct csni_span bytes = { companion->found.bytes, companion->found.size };
    status = csni_object_open(bytes, &options, &companion->object, err);
    if (status == CSN_OK && !csni_vec_push(&info->companions, companion)) status = csni_fail_memory(err, sizeof companion);
    if (status == CSN_OK) *out = companion;
    else companion_close(info, companion);
    return status;
}

/* An image without DWARF is of use without its debug file, too: whatever keeps that file away is no failure. */
static void find_debug_file(struct csn_debug_info *info) {
    struct csn_companion_request request = { .struct_size = sizeof request,
                                             .kind = CSN_COMPANION_DEBUG_FILE,
                                             .has_debug_info = csni_object_has_debug_section(info->object, "info"),
                                             .image_path = info->path,
                                             .id = info->object->build_id.ptr,
                                             .id_size = info->object->build_id.size };
    struct csni_debug_link link;
    if (request.has_debug_info) return;
    if (csni_object_debug_link(info->object, &link, NULL) == CSN_OK) {
        request.name = link.name.ptr;
        request.crc = link.crc;
        request.has_crc = true;
    }
    struct csni_debug_companion *companion;
    if (csni_debug_companion_open(info, &request, &companion, NULL) == CSN_OK) info->debug = companion->object;
}

static void find_supplement(struct csn_debug_info *info) {
    struct csni_alt_link link;
    struct csni_debug_companion *companion;
    if (!info->main.dwarf || csni_object_alt_link(info->main.object, &link, NULL) != CSN_OK || link.is_supplementary) return;
    const struct csn_companion_request request = { .struct_size = sizeof request,
                                                   .kind = CSN_COMPANION_SUPPLEMENT,
                                                   .image_path = info->path,
                                                   .name = link.name.ptr,
                                                   .id = link.id.ptr,
                                                   .id_size = link.id.size };
    if (csni_debug_companion_open(info, &request, &companion, NULL) != CSN_OK) return;
    if (companion->object->big_endian != info->main.object->big_endian) return;
    if (open_file_dwarf(info, &info->supplement, companion->object, true, NULL) != CSN_OK) return;
    /* DIEs of a supplement are referred to by offset: all its units have to be there. */
    for (uint32_t i = 0; i < info->supplement.dwarf->unit_count; i++) {
        const struct csn_debug_unit *unit;
        (void)csni_debug_file_unit(&info->supplement, i, &unit, NULL);
    }
    info->main.dwarf->supplement = info->supplement.dwarf;
}

/* ---- the image ---- */

static csn_status choose_slice(struct csn_debug_info *info, const char *arch, struct csni_span *out, struct csn_error *err) {
    struct csni_slice *slices;
    uint32_t count, chosen = 0;
    CSNI_TRY(csni_object_slices(info->map.bytes, info->alloc, &slices, &count, err));
    bool is_universal = slices[0].file.ptr != info->map.bytes.ptr;
    bool found = !is_universal || !arch || !*arch;
    for (uint32_t i = 0; i < count && !found; i++) {
        found = strcmp(slices[i].arch, arch) == 0;
        if (found) chosen = i;
    }
    *out = slices[chosen].file;
    csni_free(info->alloc, slices, count * sizeof *slices);
    return found ? CSN_OK : csni_fail(err, CSN_E_NOT_FOUND, NULL, 0, "no image for '%s'", arch);
}

/* As conversions do: of a machine without a name anything is the image asked for. */
static csn_status check_arch(const struct csni_object *object, const char *arch, struct csn_error *err) {
    if (!arch || !*arch || !object->arch[0] || strcmp(arch, object->arch) == 0) return CSN_OK;
    return csni_fail(err, CSN_E_NOT_FOUND, NULL, 0, "no image for '%s'; the file has %s", arch, object->arch);
}

static csn_status open_image(struct csn_debug_info *info, const char *path, const char *arch, struct csn_error *err) {
    struct csni_span slice;
    info->path_size = strlen(path) + 1;
    info->path = csni_alloc(info->alloc, info->path_size);
    if (!info->path) return csni_fail_memory(err, info->path_size);
    memcpy(info->path, path, info->path_size);
    CSNI_TRY(csni_file_map_open(&info->map, path, err));
    CSNI_TRY(choose_slice(info, arch, &slice, err));
    const struct csni_object_options options = { .allocator = info->alloc, .file_is_mapped = true };
    CSNI_TRY(csni_object_open(slice, &options, &info->object, err));
    if (slice.ptr == info->map.bytes.ptr) CSNI_TRY(check_arch(info->object, arch, err));
    find_debug_file(info);
    CSNI_TRY(open_file_dwarf(info, &info->main, info->debug ? info->debug : info->object, false, err));
    find_supplement(info);
    return CSN_OK;
}

csn_status csn_debug_info_open_file(const char *path, const struct csn_debug_info_options *options,
                                    struct csn_debug_info **out, struct csn_error *err) {
    struct csn_debug_info_options known = CSN_DEBUG_INFO_OPTIONS_INIT;
    if (!path) return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "no path");
    if (options) CSNI_TRY(csni_options_copy(&known, sizeof known, options, options->struct_size, err));
    const struct csn_allocator *alloc = csni_allocator_or_default(known.allocator);
    struct csn_debug_info *info = csni_alloc_zeroed(alloc, 1, sizeof *info);
    if (!info) return csni_fail_memory(err, sizeof *info);
    info->alloc = info->split.alloc = info->companions.alloc = alloc;
    info->resolver = known.resolver;
    info->resolver_context = known.resolver_context;
    csni_arena_init(&info->arena, alloc, 1 << 14);
    csn_status status = open_image(info, path, known.arch, err);
    if (status == CSN_OK) *out = info;
    else csn_debug_info_close(info);
    return status;
}

static void close_split_files(struct csn_debug_info *info) {
    for (size_t i = 0; i < info->split.count; i++) {
        csni_debug_file_close(info->split.items[i]);
        csni_free(info->alloc, info->split.items[i], sizeof *info->split.items[i]);
    }
    csni_vec_deinit(&info->split);
}

void csn_debug_info_close(struct csn_debug_info *info) {
    if (!info) return;
    close_split_files(info);
    csni_debug_file_close(&info->main);
    csni_debug_file_close(&info->supplement);
    for (size_t i = 0; i < info->companions.count; i++) companion_close(info, info->companions.items[i]);
    csni_vec_deinit(&info->companions);
    csni_object_close(info->object);
    csni_file_map_close(&info->map);
    for (int i = 0; i < 3; i++)
        csni_free(info->alloc, info->symbols[i].items, info->symbols[i].capacity * sizeof *info->symbols[i].items);
    csni_free(info->alloc, info->path, info->path_size);
    csni_arena_deinit(&info->arena);
    csni_free(info->alloc, info, sizeof *info);
}
