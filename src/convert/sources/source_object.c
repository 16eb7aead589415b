/* An object file as a source: the image itself, its debug file, and what both tell. */
#include <stdio.h>

#include "base/core/fail.h"
#include "base/core/ranges.h"
#include "convert/companions.h"
#include "convert/dwarf/source_dwarf.h"
#include "convert/dwarf/split_file.h"
#include "convert/outputs/output_breakpad.h"
#include "convert/pdb/source_pdb.h"
#include "convert/sources/debug_file.h"
#include "convert/sources/source.h"
#include "object/archive.h"

/* ---- the image ---- */

static csn_status choose_slice(const struct csni_slice *slices, uint32_t count, const char *arch, struct csni_span *out,
                               struct csn_error *err) {
    char names[128] = "";
    size_t len = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (arch ? csni_str_is(csni_str(slices[i].arch), arch) : count == 1) {
            *out = slices[i].file;
            return CSN_OK;
        }
        int added = snprintf(names + len, sizeof names - len, "%s%s", i ? ", " : "", slices[i].arch);
        if (added > 0 && (size_t)added < sizeof names - len) len += (size_t)added;
    }
    if (arch) return csni_fail(err, CSN_E_NOT_FOUND, NULL, 0, "no image for '%s'; the file has %s", arch, names);
    return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "%u images: %s; choose one (--arch)", count, names);
}

/* The image asked for; a file with a single image needs no name. */
static csn_status slice_of_input(const struct csni_conversion *c, struct csni_span *out, struct csn_error *err) {
    struct csni_slice *slices;
    uint32_t count;
    CSNI_TRY(csni_object_slices(c->input.file, c->alloc, &slices, &count, err));
    bool is_universal = count != 1 || slices[0].file.ptr != c->input.file.ptr;
    csn_status status = CSN_OK;
    *out = c->input.file;
    if (is_universal) status = choose_slice(slices, count, c->options.arch, out, err);
    csni_free(c->alloc, slices, count * sizeof *slices);
    return status;
}

/* Executable sections, of debug-only files too: those have no bytes but keep flags and sizes. */
static csn_status find_text(struct csni_image *image, const struct csni_object *object, struct csn_error *err) {
    if (!csni_vec_reserve(&image->text, object->section_count))
        return csni_fail_memory(err, object->section_count * sizeof *image->text.items);
    struct csni_text_range *ranges = image->text.items;
    uint32_t count = 0;
    for (uint32_t i = 0; i < object->section_count; i++) {
        const struct csni_section *s = &object->sections[i];
        if (!(s->flags & CSNI_SECTION_EXEC) || !s->size || s->addr > UINT64_MAX - s->size) continue;
        ranges[count++] = (struct csni_text_range){ s->addr, s->addr + s->size };
    }
    image->text.count = csni_join_ranges(ranges, count, start, end);
    return CSN_OK;
}

/* Where functions are, from tables that name none. A damaged table gives what stands before the damage. */
static csn_status find_bounds(struct csni_conversion *c, struct csn_error *err) {
    csni_function_bounds bounds = { .alloc = c->alloc };
    csn_status status = csni_object_function_bounds(c->object, &bounds, NULL);
    if (status == CSN_E_MEMORY || !csni_vec_reserve(&c->image.bounds, bounds.count)) {
        csni_vec_deinit(&bounds);
        return csni_fail_memory(err, bounds.count * sizeof *bounds.items);
    }
    for (size_t i = 0; i < bounds.count; i++)
        c->image.bounds.items[c->image.bounds.count++] =
            (struct csni_text_range){ bounds.items[i].start, bounds.items[i].end };
    csni_vec_deinit(&bounds);
    return CSN_OK;
}

static void describe_identity(struct csni_conversion *c) {
    const struct csni_object *object = c->object;
    bool is_macho = object->container == CSNI_CONTAINER_MACHO, is_pe = object->container == CSNI_CONTAINER_PE;
    const char *os = is_macho ? "mac" : is_pe ? "windows" : "Linux";
    c->image.identity = (struct csni_identity){ .os = csni_str(os), .arch = csni_str(object->arch),
                                                .name = c->image.file_name, .age = object->build_id_age };
}

static csn_status check_object_kind(const struct csni_object *object, struct csn_error *err) {
    if (object->kind == CSNI_OBJECT_CORE)
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "core dump: it has no functions; give the program that was running");
    return CSN_OK;
}

/* Debug information of before DWARF. Mach-O has it in the symbol table, where it is a debug map. */
static void note_stabs(struct csni_conversion *c) {
    uint32_t section = csni_object_find_section(c->object, ".stab");
    if (section == CSNI_NO_SECTION || !c->object->sections[section].file_size) return;
    csni_report_add(c->report, CSN_EVENT_UNREAD_DEBUG_INFO, 1,
                    csni_str("STABS in .stab; lines and inlined calls come from DWARF only"));
}

/* What split DWARF tells means nothing without the program, which has the addresses. */
static csn_status check_not_split_off(const struct csni_conversion *c, struct csn_error *err) {
    if (c->image.text.count || csni_has_dwarf(c->object) || !csni_split_file_recognize(c->object)) return CSN_OK;
    return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0,
                     "split DWARF (a .dwo file or a package of them): it has no addresses; give the program that it belongs to");
}

/* `file`: the input, or the slice of it. */
static csn_status open_image(struct csni_conversion *c, struct csni_span file, struct csn_error *err) {
    struct csni_object_options options = csni_object_options_of(c, c->input.is_mapped);
    CSNI_TRY(csni_object_open(file, &options, &c->object, err));
    CSNI_TRY(check_object_kind(c->object, err));
    bool is_thin = file.ptr == c->input.file.ptr;
    if (is_thin && c->options.arch && c->object->arch[0] && !csni_str_is(csni_str(c->options.arch), c->object->arch))
        return csni_fail(err, CSN_E_NOT_FOUND, NULL, 0, "no image for '%s'; the file has %s", c->options.arch, c->object->arch);
    c->image.base_address = c->object->image_base;
    c->image.has_base_address = c->object->has_image_base;
    c->image.big_endian = c->object->big_endian;
    c->image.uuid = c->object->build_id;
    describe_identity(c);
    note_stabs(c);
    c->image.symbols_lack_sizes = c->object->container == CSNI_CONTAINER_MACHO || c->object->container == CSNI_CONTAINER_PE;
    CSNI_TRY(find_bounds(c, err));
    CSNI_TRY(find_text(&c->image, c->object, err));
    return check_not_split_off(c, err);
}

/* ---- all of it ---- */

static csn_status read_sources(struct csni_conversion *c, const struct csni_debug_file *file, struct csni_symbol_source *symbols,
                               struct csn_error *err) {
    struct csni_object *debug = c->debug;
    struct csni_dwarf_input input = { .object = debug ? debug : c->object, .releases_later = csni_source_symbols_release(symbols) };
    if (file->is_pdb) CSNI_TRY(csni_source_pdb_of_image(c, file->file->bytes, csni_companion_path(file->file), err));
    else CSNI_TRY(csni_source_dwarf(c, &input, err));
    CSNI_TRY(csni_begin_breakpad(c, err));
    if (!debug && !csni_has_dwarf(c->object)) CSNI_TRY(csni_source_debug_map(c, err));
    c->claims_rows = c->batch_count > 0;
    if (!debug && !csni_has_dwarf(c->object)) CSNI_TRY(csni_source_btf(c, err));
    csn_status from_index = CSN_NONE;
    if (!c->batch_count) from_index = csni_source_gsection(c, err);
    if (from_index < 0) return from_index;
    if (from_index == CSN_NONE) {
        CSNI_TRY(csni_source_go(c, err));
        CSNI_TRY(csni_source_symbols(symbols, err));
    }
    return CSN_OK;
}

csn_status csni_source_object(struct csni_conversion *c, struct csn_error *err) {
    struct csni_span image;
    CSNI_TRY(slice_of_input(c, &image, err));
    if (csni_archive_recognize(image)) { /* of a universal file */
        c->input.file = image;
        return csni_source_archive(c, err);
    }
    CSNI_TRY(open_image(c, image, err));
    struct csni_debug_file file;
    CSNI_TRY(csni_find_debug_file(c, &file, err));
    struct csni_object *debug = c->debug = file.object;
    if (!debug) CSNI_TRY(csni_find_stripped_image(c, err));
    CSNI_TRY(csni_zero_code_find(c, err));
    struct csni_symbol_source symbols;
    csni_source_symbols_begin(&symbols, c, debug);
    symbols.is_last = true;
    csn_status status = read_sources(c, &file, &symbols, err);
    csni_source_symbols_end(&symbols);
    if (status < 0) return status;
    c->report->inflated_bytes += csni_object_inflated_bytes(c->object);
    if (debug) c->report->inflated_bytes += csni_object_inflated_bytes(debug);
    return CSN_OK;
}
