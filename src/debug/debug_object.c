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

csn_status csn_debug_info_copy_unrelocated(struct csn_debug_info *info, const char *name, void *bytes, size_t capacity,
                                           size_t *size, struct csn_error *err) {
    struct csni_object *object = info->main.object;
    uint32_t section = csni_object_find_debug_section(object, name, false);
    if (section == CSNI_NO_SECTION || object->sections[section].flags & CSNI_SECTION_NOBITS) return CSN_NONE;
    return csni_object_copy_unrelocated(object, section, bytes, capacity, size, err);
}

void csn_debug_info_forget_section(const struct csn_debug_info *info, const char *name, uint64_t offset, uint64_t size) {
    const uint32_t section = csni_object_find_debug_section(info->main.object, name, false);
    const uint64_t whole = section == CSNI_NO_SECTION ? 0 : info->main.object->sections[section].size;
    if (offset < whole) csni_debug_file_forget(&info->main, name, offset, size < whole - offset ? size : whole - offset);
}

/* ---- versions of dynamic symbols (System V ABI, GNU's extension) ---- */

enum { VERSYM_HIDDEN = 0x8000, VER_NDX_GLOBAL = 1, VER_FLG_BASE = 1, MAX_VERSIONS = 0x8000 };

/* A version by its number. Of several with one number, the first that is defined counts, then the first that is needed. */
struct version {
    struct csn_str name;
    bool is_defined, is_needed; /* it was met there, whether it has a name or not */
};

struct versions {
    struct csni_span of_symbols; /* 2 bytes each */
    struct csni_span strings;
    bool big;
    struct version *by_number;   /* MAX_VERSIONS of them; NULL: no symbol has one */
};

static struct csni_span section_bytes(struct csni_object *object, uint32_t section) {
    struct csni_span bytes = { NULL, 0 };
    if (section == CSNI_NO_SECTION || csni_object_read_section(object, section, &bytes, NULL) != CSN_OK)
        return (struct csni_span){ NULL, 0 };
    return bytes;
}

/* The name of the version whose list of names begins at `at`. The version of the file itself has none. */
static void define(const struct versions *v, struct csni_cursor c, uint64_t at, uint16_t flags, struct version *version) {
    if (version->is_defined) return;
    version->is_defined = true;
    csni_cursor_seek(&c, at);
    uint32_t name = csni_cursor_u32(&c);
    struct csn_str text;
    if (!c.failed && !(flags & VER_FLG_BASE) && csni_span_cstr(v->strings, name, &text)) version->name = text;
}

/* Versions that the object defines. */
static void read_defined(const struct versions *v, struct csni_span bytes) {
    struct csni_cursor c = csni_cursor_at(bytes, v->big);
    for (uint32_t i = 0, at = 0; i < MAX_VERSIONS; i++) {
        csni_cursor_seek(&c, at);
        csni_cursor_skip(&c, 2);
        uint16_t flags = csni_cursor_u16(&c), number = csni_cursor_u16(&c);
        csni_cursor_skip(&c, 6);
        uint32_t names = csni_cursor_u32(&c), next = csni_cursor_u32(&c);
        if (c.failed) return;
        if (number < MAX_VERSIONS) define(v, c, (uint64_t)at + names, flags, &v->by_number[number]);
        if (!next) return;
        at += next;
    }
}

static void need(const struct versions *v, uint32_t name, struct version *version) {
    struct csn_str text;
    if (version->is_needed) return;
    version->is_needed = true;
    if (!version->name.ptr && csni_span_cstr(v->strings, name, &text)) version->name = text;
}

/* Versions that other objects have to have. */
static void read_needed(const struct versions *v, struct csni_span bytes) {
    struct csni_cursor c = csni_cursor_at(bytes, v->big);
    for (uint64_t at = 0, looked = 0; looked < MAX_VERSIONS;) {
        csni_cursor_seek(&c, at);
        csni_cursor_skip(&c, 2);
        uint16_t count = csni_cursor_u16(&c);
        csni_cursor_skip(&c, 4);
        uint64_t entry = at + csni_cursor_u32(&c), next = csni_cursor_u32(&c);
        for (uint32_t k = 0; k < count && !c.failed; k++, looked++) {
            csni_cursor_seek(&c, entry);
            csni_cursor_skip(&c, 6);
            uint16_t number = csni_cursor_u16(&c);
            uint32_t name = csni_cursor_u32(&c), step = csni_cursor_u32(&c);
            if (!c.failed && number < MAX_VERSIONS) need(v, name, &v->by_number[number]);
            if (!step) break;
            entry += step;
        }
        if (c.failed || !next) return;
        at += next;
        looked++;
    }
}

static csn_status read_versions(struct csn_debug_info *info, struct csni_object *object, struct versions *v,
                                struct csn_error *err) {
    *v = (struct versions){ .big = object->big_endian };
    uint32_t defined = csni_object_find_section(object, ".gnu.version_d"),
             needed = csni_object_find_section(object, ".gnu.version_r");
    v->of_symbols = section_bytes(object, csni_object_find_section(object, ".gnu.version"));
    uint32_t names = defined != CSNI_NO_SECTION ? object->sections[defined].link
                     : needed != CSNI_NO_SECTION ? object->sections[needed].link : CSNI_NO_SECTION;
    if (!v->of_symbols.size || names >= object->section_count) return CSN_OK;
    v->strings = section_bytes(object, names);
    v->by_number = csni_alloc_zeroed(info->alloc, MAX_VERSIONS, sizeof *v->by_number);
    if (!v->by_number) return csni_fail_memory(err, MAX_VERSIONS * sizeof *v->by_number);
    read_defined(v, section_bytes(object, defined));
    read_needed(v, section_bytes(object, needed));
    return CSN_OK;
}

static void put_version(const struct versions *v, uint64_t index, struct csn_debug_symbol *symbol) {
    struct csni_span entry;
    if (!v->by_number || !csni_span_sub(v->of_symbols, index * 2, 2, &entry)) return;
    uint16_t raw = csni_get16(entry.ptr, v->big), number = raw & (VERSYM_HIDDEN - 1);
    bool is_defined = symbol->section != CSN_NO_SECTION || symbol->is_defined;
    if (number <= VER_NDX_GLOBAL || !v->by_number[number].name.ptr) return;
    symbol->version = v->by_number[number].name;
    symbol->is_default_version = is_defined && !(raw & VERSYM_HIDDEN);
}

/* ---- symbols ---- */

static void describe_symbol(const struct csni_symbol *s, struct csn_debug_symbol *out) {
    *out = (struct csn_debug_symbol){ s->name, s->addr, s->size, s->section, s->kind, s->bind, s->defined, 0, s->had_low_bit,
                                      s->is_hidden, s->has_aux, { 0 }, { "", 0 } };
}

static csn_status read_symbols(struct csn_debug_info *info, enum csn_symbol_source source, struct csn_error *err) {
    struct csni_object *object = source == CSN_SYMBOLS_DEBUG_FILE ? info->debug : info->object;
    struct csni_symbol_iter iter;
    struct csni_symbol symbol;
    CSNI_VEC(struct csn_debug_symbol) found = { .alloc = info->alloc };
    if (!object) return CSN_NONE;
    csn_status status = csni_symbol_iter_init(
        &iter, object, source == CSN_SYMBOLS_DYNAMIC ? CSNI_SYMBOLS_DYNAMIC : CSNI_SYMBOLS_STATIC, err);
    if (status != CSN_OK) return status;
    struct versions versions = { .by_number = NULL };
    if (source == CSN_SYMBOLS_DYNAMIC && object->container == CSNI_CONTAINER_ELF)
        CSNI_TRY(read_versions(info, object, &versions, err));
    while (status == CSN_OK && csni_symbol_iter_next(&iter, &symbol) == CSN_OK) {
        struct csn_debug_symbol made;
        describe_symbol(&symbol, &made);
        put_version(&versions, iter.index - 1, &made);
        if (!csni_vec_push(&found, made)) status = csni_fail_memory(err, sizeof made);
    }
    csni_free(info->alloc, versions.by_number, MAX_VERSIONS * sizeof *versions.by_number);
    if (status != CSN_OK) {
        csni_vec_deinit(&found);
        return status;
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
