/* Opening the supplementary file. Its link stands in .gnu_debugaltlink with the supplement's build id (GNU), or in .debug_sup
 * with a checksum that both files have (DWARF 5). */
#include "convert/dwarf/supplement.h"

#include <stdio.h>

#include "base/core/fail.h"
#include "base/hex.h"
#include "object/debug_links.h"

enum { INFO, TYPES, ABBREV, STR, LINE_STR, STR_OFFSETS };
static const char *const section_names[CSNI_SUPPLEMENT_SECTIONS] = { "info", "types",    "abbrev",
                                                                     "str",  "line_str", "str_offsets" };

/* ---- which file ---- */

/* A link's path begins at the file that has it, which may be a companion itself. */
static const char *path_of(const struct csni_conversion *c, const struct csni_object *object) {
    for (size_t i = 0; i < c->companions.count; i++)
        if (c->companions.items[i]->object == object) return c->companions.items[i]->found.path;
    return c->input.path;
}

/* DWARF 5: both files have the checksum in .debug_sup, and a supplement need not have a build id. */
static csn_status check_supplement_sum(struct csni_object *object, const char *path, struct csni_span needed,
                                       struct csn_error *err) {
    struct csni_alt_link own;
    struct csn_error inner = CSN_ERROR_INIT;
    csn_status status = csni_object_alt_link(object, &own, &inner);
    if (status < 0) return csni_fail(err, status, NULL, 0, "%s: %s", path, csn_error_text(&inner));
    if (status == CSN_NONE || !own.is_supplementary)
        return csni_fail(err, CSN_E_FORMAT, NULL, 0, "%s is no supplementary file: its .debug_sup %s", path,
                         status == CSN_NONE ? "is missing" : "names another");
    if (own.id.size == needed.size && (!needed.size || memcmp(own.id.ptr, needed.ptr, needed.size) == 0)) return CSN_OK;
    return csni_fail(err, CSN_E_FORMAT, NULL, 0, "%s has checksum %s, the image needs %s", path,
                     csni_id_show(own.id.ptr, own.id.size).text, csni_id_show(needed.ptr, needed.size).text);
}

static csn_status check_supplement(const struct csni_companion_file *file, const struct csn_companion_request *request,
                                   const struct csni_object *image, struct csn_error *err) {
    const char *path = file->found.path ? file->found.path : request->name;
    if (file->object->big_endian != image->big_endian)
        return csni_fail(err, CSN_E_FORMAT, NULL, 0, "%s is %s-endian, the image is not", path,
                         file->object->big_endian ? "big" : "little");
    if (csni_object_find_section(image, ".gnu_debugaltlink") != CSNI_NO_SECTION)
        return csni_companion_check_id(file, request, err);
    return check_supplement_sum(file->object, path, (struct csni_span){ request->id, request->id_size }, err);
}

static csn_status find_supplement_file(struct csni_supplement *s, struct csni_object *image, struct csn_error *err) {
    struct csni_alt_link link;
    csn_status status = csni_object_alt_link(image, &link, err);
    if (status != CSN_OK || link.is_supplementary) return status < 0 ? status : CSN_NONE;
    s->name = link.name;
    struct csn_companion_request request = { .struct_size = sizeof request,
                                             .kind = CSN_COMPANION_SUPPLEMENT,
                                             .image_path = path_of(s->conversion, image),
                                             .name = link.name.ptr,
                                             .id = link.id.ptr,
                                             .id_size = link.id.size };
    struct csni_companion_file *file;
    status = csni_companion_open(s->conversion, &request, &file, &s->told);
    if (status < 0 && err) *err = s->told;
    if (status != CSN_OK) return status;
    CSNI_TRY(check_supplement(file, &request, image, err));
    s->object = file->object;
    return CSN_OK;
}

/* ---- getting it ready ---- */

static csn_status read_supplement_section(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    (void)worker;
    struct csni_supplement *s = context;
    s->section[item] = csni_object_find_debug_section(s->object, section_names[item], false);
    if (s->section[item] == CSNI_NO_SECTION) return CSN_OK;
    return csni_object_read_section(s->object, s->section[item], &s->bytes[item], err);
}

static csn_status open_supplement_dwarf(struct csni_supplement *s, struct csn_error *err) {
    struct csni_pool *pool = s->conversion->pool;
    CSNI_TRY(csni_pool_run(pool, CSNI_SUPPLEMENT_SECTIONS, read_supplement_section, s, err));
    const struct csni_span *b = s->bytes;
    for (size_t i = 0; i < CSNI_SUPPLEMENT_SECTIONS; i++) s->size += b[i].size;
    const struct csni_dwarf_sections sections = {
        .info = b[INFO], .types = b[TYPES], .abbrev = b[ABBREV], .str = b[STR], .line_str = b[LINE_STR],
        .str_offsets = b[STR_OFFSETS], .big_endian = s->object->big_endian, .is_supplement = true,
    };
    CSNI_TRY(csni_dwarf_open(&sections, s->conversion->alloc, &s->dwarf, err));
    CSNI_TRY(csni_dwarf_compile_all(s->dwarf, pool, err));
    return csni_dwarf_prepare_all(s->dwarf, pool, err);
}

csn_status csni_supplement_open(struct csni_conversion *c, struct csni_object *object, struct csni_supplement *out,
                                struct csn_error *err) {
    *out = (struct csni_supplement){ .conversion = c, .name = { "", 0 } };
    csn_status status = find_supplement_file(out, object, err);
    return status == CSN_OK ? open_supplement_dwarf(out, err) : status;
}

void csni_supplement_close(struct csni_supplement *s) {
    if (!s->dwarf) return;
    csni_dwarf_close(s->dwarf);
    csni_object_release_section(s->object, s->section[ABBREV]);
}

/* ---- report ---- */

void csni_supplement_report(const struct csni_supplement *s) {
    struct csn_convert_report *report = s->conversion->report;
    char text[CSN_EXAMPLE_SIZE];
    int shown = s->name.len < CSN_EXAMPLE_SIZE / 2 ? (int)s->name.len : CSN_EXAMPLE_SIZE / 2, len = 0;
    if (s->object) report->inflated_bytes += csni_object_inflated_bytes(s->object);
    if (!s->dwarf && !s->name.len)
        len = snprintf(text, sizeof text, "neither .gnu_debugaltlink nor .debug_sup names it");
    else if (!s->dwarf && s->told.text[0])
        len = snprintf(text, sizeof text, "%s", csn_error_text(&s->told));
    else if (!s->dwarf)
        len = snprintf(text, sizeof text, "%.*s", shown, s->name.ptr);
    else if (s->dwarf->damage.code)
        len = snprintf(text, sizeof text, "%.*s: %s", shown, s->name.ptr, csn_error_text(&s->dwarf->damage));
    else if (csni_dwarf_has_supplement_references(s->dwarf))
        len = snprintf(text, sizeof text, "%.*s refers to a further one", shown, s->name.ptr);
    if (len <= 0) return;
    size_t size = (size_t)len < sizeof text ? (size_t)len : sizeof text - 1;
    csni_report_add(report, CSN_EVENT_MISSING_SUPPLEMENT, 1, (struct csn_str){ text, size });
}
