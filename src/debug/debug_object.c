/* The object as its headers describe it: sections, segments, symbols. */
#include <callsign/debug_info.h>

#include <inttypes.h>

#include "base/core/cursor.h"
#include "base/core/fail.h"
#include "base/core/sized.h"
#include "debug/debug_private.h"

void csn_debug_info_get_object(const struct csn_debug_info *info, struct csn_debug_object *out, size_t out_size) {
    const struct csni_object *object = info->object;
    struct csn_debug_object own = {
        .container = (uint32_t)object->container, .kind = (uint32_t)object->kind, .machine = object->machine,
        .address_size = object->address_size, .big_endian = object->big_endian,
        .has_image_base = object->has_image_base, .has_debug_file = info->debug != NULL,
        .image_base = object->image_base, .build_id = object->build_id.ptr, .build_id_size = object->build_id.size,
        .section_count = object->section_count, .segment_count = object->segment_count,
        .unit_count = info->main.dwarf->unit_count, .info_unit_count = info->main.dwarf->info_unit_count,
    };
    memcpy(own.arch, object->arch, sizeof own.arch);
    for (size_t i = 0; info->debug && i < info->companions.count; i++)
        if (info->companions.items[i]->object == info->debug) own.debug_path = info->companions.items[i]->found.path;
    csni_result_copy(out, out_size, &own, sizeof own);
}

csn_status csn_debug_info_section(const struct csn_debug_info *info, uint32_t idx, struct csn_debug_section *out,
                                  struct csn_error *err) {
    const struct csni_object *object = info->object;
    if (idx >= object->section_count)
        return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "section %" PRIu32 " of %" PRIu32, idx, object->section_count);
    const struct csni_section *section = &object->sections[idx];
    const uint32_t known = CSN_SECTION_ALLOC | CSN_SECTION_EXEC | CSN_SECTION_WRITE | CSN_SECTION_NOBITS;
    *out = (struct csn_debug_section){ section->name, section->addr, section->size, section->file_off, section->flags & known,
                                       section->type };
    return CSN_OK;
}

csn_status csn_debug_info_segment(const struct csn_debug_info *info, uint32_t idx, struct csn_debug_segment *out,
                                  struct csn_error *err) {
    const struct csni_object *object = info->object;
    if (idx >= object->segment_count)
        return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "segment %" PRIu32 " of %" PRIu32, idx, object->segment_count);
    const struct csni_segment *segment = &object->segments[idx];
    *out = (struct csn_debug_segment){ segment->addr, segment->size, segment->file_off, segment->file_size, segment->exec };
    return CSN_OK;
}

csn_status csn_debug_info_dwarf_section(struct csn_debug_info *info, const char *name, struct csn_str *out,
                                        struct csn_error *err) {
    struct csni_object *object = info->main.object;
    struct csni_span bytes;
    uint32_t section = csni_object_find_debug_section(object, name, false);
    if (section == CSNI_NO_SECTION || object->sections[section].flags & CSNI_SECTION_NOBITS) return CSN_NONE;
    CSNI_TRY(csni_object_read_section(object, section, &bytes, err));
    *out = (struct csn_str){ (const char *)bytes.ptr, bytes.size };
    return CSN_OK;
}

void csn_debug_info_forget_section(const struct csn_debug_info *info, const char *name, uint64_t offset, uint64_t size) {
    const uint32_t section = csni_object_find_debug_section(info->main.object, name, false);
    const uint64_t whole = section == CSNI_NO_SECTION ? 0 : info->main.object->sections[section].size;
    if (offset < whole) csni_debug_file_forget(&info->main, name, offset, size < whole - offset ? size : whole - offset);
}

/* ---- versions of dynamic symbols (System V ABI, GNU's extension) ---- */

enum { VERSYM_HIDDEN = 0x8000, VER_NDX_GLOBAL = 1, VER_FLG_BASE = 1, MAX_VERSIONS = 0x8000 };

struct versions {
    struct csni_span of_symbols; /* 2 bytes each */
    struct csni_span defined, needed, strings;
    bool big;
};

static struct csni_span section_bytes(struct csni_object *object, uint32_t section) {
    struct csni_span bytes = { NULL, 0 };
    if (section == CSNI_NO_SECTION || csni_object_read_section(object, section, &bytes, NULL) != CSN_OK)
        return (struct csni_span){ NULL, 0 };
    return bytes;
}

static struct versions read_versions(struct csni_object *object) {
    struct versions v = { .big = object->big_endian };
    uint32_t defined = csni_object_find_section(object, ".gnu.version_d"), needed = csni_object_find_section(object, ".gnu.version_r");
    v.of_symbols = section_bytes(object, csni_object_find_section(object, ".gnu.version"));
    v.defined = section_bytes(object, defined);
    v.needed = section_bytes(object, needed);
    uint32_t names = defined != CSNI_NO_SECTION ? object->sections[defined].link
                     : needed != CSNI_NO_SECTION ? object->sections[needed].link : CSNI_NO_SECTION;
    if (names < object->section_count) v.strings = section_bytes(object, names);
    return v;
}

/* The name of a version that the object defines. */
static bool find_defined_version(const struct versions *v, uint16_t number, struct csn_str *out) {
    struct csni_cursor c = csni_cursor_at(v->defined, v->big);
    for (uint32_t i = 0, at = 0; i < MAX_VERSIONS; i++) {
        csni_cursor_seek(&c, at);
        csni_cursor_skip(&c, 2);
        uint16_t flags = csni_cursor_u16(&c), own = csni_cursor_u16(&c);
        csni_cursor_skip(&c, 6);
        uint32_t names = csni_cursor_u32(&c), next = csni_cursor_u32(&c);
        if (c.failed) return false;
        if (own == number) {
            csni_cursor_seek(&c, (uint64_t)at + names);
            uint32_t name = csni_cursor_u32(&c);
            return !c.failed && !(flags & VER_FLG_BASE) && csni_span_cstr(v->strings, name, out);
        }
        if (!next) return false;
        at += next;
    }
    return false;
}

/* The name of a version that another object has to have. */
static bool find_needed_version(const struct versions *v, uint16_t number, struct csn_str *out) {
    struct csni_cursor c = csni_cursor_at(v->needed, v->big);
    for (uint64_t at = 0, looked = 0; looked < MAX_VERSIONS;) {
        csni_cursor_seek(&c, at);
        csni_cursor_skip(&c, 2);
        uint16_t count = csni_cursor_u16(&c);
        csni_cursor_skip(&c, 4);
        uint64_t entry = at + csni_cursor_u32(&c), next = csni_cursor_u32(&c);
        for (uint32_t k = 0; k < count && !c.failed; k++, looked++) {
            csni_cursor_seek(&c, entry);
            csni_cursor_skip(&c, 6);
            uint16_t other = csni_cursor_u16(&c);
            uint32_t name = csni_cursor_u32(&c), step = csni_cursor_u32(&c);
            if (!c.failed && other == number) return csni_span_cstr(v->strings, name, out);
            if (!step) break;
            entry += step;
        }
        if (c.failed || !next) return false;
        at += next;
        looked++;
    }
    return false;
}

static void put_version(const struct versions *v, uint64_t index, struct csn_debug_symbol *symbol) {
    struct csni_span entry;
    if (!csni_span_sub(v->of_symbols, index * 2, 2, &entry)) return;
    uint16_t raw = csni_get16(entry.ptr, v->big), number = raw & (VERSYM_HIDDEN - 1);
    bool is_defined = symbol->section != CSN_NO_SECTION || symbol->is_defined;
    if (number <= VER_NDX_GLOBAL) return;
    struct csn_str name = { NULL, 0 };
    if (!find_defined_version(v, number, &name) && !find_needed_version(v, number, &name)) return;
    symbol->version = name;
    symbol->is_default_version = is_defined && !(raw & VERSYM_HIDDEN);
}

/* ---- symbols ---- */

static csn_status read_symbols(struct csn_debug_info *info, enum csn_symbol_source source, struct csn_error *err) {
    struct csni_object *object = source == CSN_SYMBOLS_DEBUG_FILE ? info->debug : info->object;
    struct csni_symbol_iter iter;
    struct csni_symbol symbol;
    CSNI_VEC(struct csn_debug_symbol) found = { .alloc = info->alloc };
    if (!object) return CSN_NONE;
    csn_status status = csni_symbol_iter_init(
        &iter, object, source == CSN_SYMBOLS_DYNAMIC ? CSNI_SYMBOLS_DYNAMIC : CSNI_SYMBOLS_STATIC, err);
    if (status != CSN_OK) return status;
    const struct versions versions = read_versions(object);
    while ((status = csni_symbol_iter_next(&iter, &symbol)) == CSN_OK) {
        struct csn_debug_symbol made = { symbol.name, symbol.addr, symbol.size, symbol.section,
                                               symbol.kind, symbol.bind, symbol.defined, 0, symbol.had_low_bit,
                                               symbol.is_hidden, symbol.has_aux, { 0 }, { "", 0 } };
        if (source == CSN_SYMBOLS_DYNAMIC && object->container == CSNI_CONTAINER_ELF) put_version(&versions, iter.index - 1, &made);
        if (!csni_vec_push(&found, made)) {
            csni_vec_deinit(&found);
            return csni_fail_memory(err, sizeof made);
        }
    }
    info->symbols[source].items = found.items;
    info->symbols[source].count = found.count;
    info->symbols[source].capacity = found.capacity;
    return CSN_OK;
}

csn_status csn_debug_info_symbols(struct csn_debug_info *info, enum csn_symbol_source source,
                                  const struct csn_debug_symbol **out, size_t *out_count, struct csn_error *err) {
    if ((unsigned)source > CSN_SYMBOLS_DEBUG_FILE)
        return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "symbol table %u of 3", (unsigned)source);
    if (!info->symbols[source].is_read) {
        info->symbols[source].status = read_symbols(info, source, err);
        info->symbols[source].is_read = true;
    }
    if (info->symbols[source].status != CSN_OK) return info->symbols[source].status;
    *out = info->symbols[source].items;
    *out_count = info->symbols[source].count;
    return CSN_OK;
}
