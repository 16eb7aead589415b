/* Where the image's debug information is. */
#include "convert/sources/debug_file.h"

#include <stdio.h>

#include "base/core/fail.h"
#include "object/debug_links.h"
#include "pdb/pdb.h"

bool csni_has_dwarf(const struct csni_object *object) { return csni_object_has_debug_section(object, "info"); }

/* Of clang -gline-directives-only there is nothing else. */
static bool has_line_tables(const struct csni_object *object) { return csni_object_has_debug_section(object, "line"); }

static void note_image_missing(struct csni_conversion *c, const char *text) {
    csni_report_add(c->report, CSN_EVENT_MISSING_DEBUG_FILE, 1, csni_str(text));
}

/* ---- one request ---- */

/* The search compares ids, too, but the resolver may be the caller's. */
static csn_status check_pdb(const struct csni_conversion *c, const struct csni_companion_file *file,
                            const struct csn_companion_request *request, struct csn_error *err) {
    struct csn_error inner = CSN_ERROR_INIT;
    char has[CSNI_PDB_ID_SIZE], needs[CSNI_PDB_ID_SIZE] = "another kind of debug file";
    enum csni_pdb_fit fit;
    csn_status status = csni_pdb_compare(file->bytes, c->alloc, request->id, request->id_size, request->id_age, &fit, has, &inner);
    if (status < 0) return csni_fail(err, status, NULL, 0, "%s: %s", csni_companion_path(file), csn_error_text(&inner));
    if (fit == CSNI_PDB_FITS) return CSN_OK;
    if (request->id_size == CSNI_PDB_GUID_SIZE) csni_pdb_id_text(request->id, request->id_age, needs);
    return csni_fail(err, CSN_E_FORMAT, NULL, 0, "%s has id %s, the image needs %s", csni_companion_path(file), has, needs);
}

static csn_status accept_debug_file(struct csni_conversion *c, struct csni_companion_file *file,
                                    const struct csn_companion_request *request, struct csni_debug_file *out,
                                    struct csn_error *err) {
    *out = (struct csni_debug_file){ .file = file, .is_pdb = csni_pdb_recognize(file->bytes) };
    if (out->is_pdb) return check_pdb(c, file, request, err);
    CSNI_TRY(csni_companion_parse(c, file, err));
    CSNI_TRY(csni_companion_check_id(file, request, err));
    out->object = file->object;
    return CSN_OK;
}

/* CSN_NONE: none was found; what the resolver tells of that is noted. */
static csn_status request_debug_file(struct csni_conversion *c, const struct csn_companion_request *request,
                                     struct csni_debug_file *out, struct csn_error *err) {
    struct csni_companion_file *file;
    struct csn_error told;
    csn_status status = csni_companion_request(c, request, &file, &told);
    if (status < 0 && err) *err = told;
    if (status == CSN_OK) return accept_debug_file(c, file, request, out, err);
    if (status == CSN_NONE && told.text[0]) note_image_missing(c, told.text);
    return status;
}

/* ---- program databases ---- */

/* Of an image that names its PDB. That it is missing is noted in any case. */
static csn_status find_pdb(struct csni_conversion *c, struct csn_companion_request request, struct csni_debug_file *out,
                           struct csn_error *err) {
    char id[CSNI_PDB_ID_SIZE], text[CSN_EXAMPLE_SIZE];
    request.kind = CSN_COMPANION_PDB;
    request.name = c->object->pdb_path.ptr;
    csn_status status = request_debug_file(c, &request, out, err);
    if (status != CSN_NONE || c->report->events[CSN_EVENT_MISSING_DEBUG_FILE].count) return status;
    csni_pdb_id_text(request.id, request.id_age, id);
    snprintf(text, sizeof text, "PDB %.120s, id %s", request.name, id);
    note_image_missing(c, text);
    return status;
}

/* ---- other debug files ---- */

/* What the image tells about its debug file. A damaged link is no link, but a note. */
static void describe_debug_file(struct csni_conversion *c, struct csn_companion_request *request) {
    struct csni_debug_link link;
    struct csn_error damage = CSN_ERROR_INIT;
    csn_status status = csni_object_debug_link(c->object, &link, &damage);
    if (status < 0) note_image_missing(c, csn_error_text(&damage));
    if (status != CSN_OK) return;
    request->name = link.name.ptr;
    request->crc = link.crc;
    request->has_crc = true;
}

csn_status csni_find_debug_file(struct csni_conversion *c, struct csni_debug_file *out, struct csn_error *err) {
    struct csn_companion_request request = { .struct_size = sizeof request,
                                             .kind = CSN_COMPANION_DEBUG_FILE,
                                             .has_debug_info = csni_has_dwarf(c->object) || has_line_tables(c->object),
                                             .image_path = c->input.path,
                                             .id = c->object->build_id.ptr,
                                             .id_size = c->object->build_id.size,
                                             .id_age = c->object->build_id_age };
    *out = (struct csni_debug_file){ .file = NULL };
    if (!request.has_debug_info && c->object->pdb_path.len) {
        csn_status status = find_pdb(c, request, out, err);
        if (status != CSN_NONE) return status;
    }
    if (!request.has_debug_info) describe_debug_file(c, &request);
    csn_status status = request_debug_file(c, &request, out, err);
    return status < 0 ? status : CSN_OK;
}

/* ---- the image of a debug-only file ---- */

static bool needs_stripped_image(const struct csni_conversion *c) {
    uint32_t frames = csni_object_find_section(c->object, ".eh_frame");
    bool is_empty = frames != CSNI_NO_SECTION && (c->object->sections[frames].flags & CSNI_SECTION_NOBITS);
    return is_empty && c->options.format == CSN_FORMAT_BREAKPAD && !c->options.breakpad->no_unwind;
}

csn_status csni_find_stripped_image(struct csni_conversion *c, struct csn_error *err) {
    struct csn_companion_request request = { .struct_size = sizeof request, .kind = CSN_COMPANION_IMAGE,
                                             .image_path = c->input.path,
                                             .id = c->object->build_id.ptr, .id_size = c->object->build_id.size };
    struct csni_companion_file *file;
    struct csn_error told;
    if (!needs_stripped_image(c)) return CSN_OK;
    csn_status status = csni_companion_open(c, &request, &file, &told);
    if (status == CSN_OK) status = csni_companion_check_id(file, &request, &told);
    if (status == CSN_OK) c->stripped = file->object;
    if (status == CSN_E_MEMORY || status == CSN_E_CANCELLED) {
        if (err) *err = told;
        return status;
    }
    if (status != CSN_OK && told.text[0]) note_image_missing(c, told.text);
    return CSN_OK;
}
