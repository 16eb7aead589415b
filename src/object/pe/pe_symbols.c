/* COFF symbols and the names of PE export tables, decoded in place. */
#include "base/core/endian.h"
#include "base/core/fail.h"
#include "object/pe/pe_layout.h"
#include "object/pe/pe_private.h"

/* Linkers set the bit that tells Thumb code in exports, assemblers in symbols do not. */
static uint64_t code_addr(const struct csni_object *object, uint64_t addr) {
    bool is_arm = object->machine == IMAGE_FILE_MACHINE_ARMNT || object->machine == IMAGE_FILE_MACHINE_THUMB ||
                  object->machine == IMAGE_FILE_MACHINE_ARM;
    return is_arm ? addr & ~(uint64_t)1 : addr;
}

/* ---- COFF symbols ---- */

struct coff_symbol {
    const uint8_t *record;
    uint32_t value;
    int32_t section; /* from 1, or IMAGE_SYM_ */
    uint16_t type;
    uint8_t storage_class, aux_count;
};

static void decode_pe_symbol(const uint8_t *p, bool is_bigobj, struct coff_symbol *out) {
    const uint8_t *tail = p + SYMBOL_SECTION + (is_bigobj ? 4 : 2);
    uint16_t narrow = csni_get16(p + SYMBOL_SECTION, false);
    /* Sections may be more than 0x7fff, but only the last few numbers are negative ones. */
    int32_t section = is_bigobj ? (int32_t)csni_get32(p + SYMBOL_SECTION, false) : narrow < 0xff00 ? narrow : (int16_t)narrow;
    *out = (struct coff_symbol){ .record = p, .value = csni_get32(p + SYMBOL_VALUE, false), .section = section,
                                 .type = csni_get16(tail, false), .storage_class = tail[2], .aux_count = tail[3] };
}

static bool symbol_at(const struct csni_pe *pe, uint64_t index, struct coff_symbol *out) {
    struct csni_span record;
    if (!csni_span_sub(pe->symbols, index * pe->symbol_size, pe->symbol_size, &record)) return false;
    decode_pe_symbol(record.ptr, pe->symbol_size == BIGOBJ_SYMBOL_SIZE, out);
    return true;
}

static bool section_of(const struct csni_object *object, int32_t number, uint32_t *out) {
    *out = CSNI_NO_SECTION;
    if (number <= 0) return number >= IMAGE_SYM_DEBUG;
    if ((uint32_t)number >= object->section_count) return false;
    *out = (uint32_t)number;
    return true;
}

bool csni_pe_symbol_value(const struct csni_object *object, uint64_t index, uint32_t *section, uint64_t *offset) {
    struct coff_symbol s;
    if (!symbol_at(csni_pe_of(object), index, &s) || !section_of(object, s.section, section)) return false;
    *offset = s.section == IMAGE_SYM_UNDEFINED ? 0 : s.value;
    return true;
}

/* On i386 a C name has a `_` in front that nobody wrote. What stdcall and fastcall add after, `@` and a number, stays: it
 * may be part of a name. */
static struct csn_str undecorated(const struct csni_object *object, struct csn_str name) {
    if (object->machine != IMAGE_FILE_MACHINE_I386 || name.len < 2 || name.ptr[0] != '_') return name;
    return (struct csn_str){ name.ptr + 1, name.len - 1 };
}

static bool symbol_name(const struct csni_pe *pe, const uint8_t *field, struct csn_str *out) {
    if (csni_get32(field, false) == 0) return csni_span_cstr(pe->strings, csni_get32(field + 4, false), out);
    const uint8_t *nul = memchr(field, 0, SYMBOL_NAME_SIZE);
    *out = (struct csn_str){ (const char *)field, nul ? (size_t)(nul - field) : SYMBOL_NAME_SIZE };
    return true;
}

/* Compilers give functions a type; assembler code has none, so what is left of a code section's symbols counts, too: a static
 * symbol with aux records is a section's, and so are those with a dot in front that ld keeps in images. */
static enum csni_symbol_kind pe_symbol_kind(const struct csni_object *object, const struct coff_symbol *s,
                                            uint32_t section,
                                            struct csn_str name) {
    if (s->storage_class == IMAGE_SYM_CLASS_FILE) return CSNI_SYMBOL_FILE;
    if (s->storage_class == IMAGE_SYM_CLASS_SECTION) return CSNI_SYMBOL_SECTION;
    bool is_static = s->storage_class == IMAGE_SYM_CLASS_STATIC;
    bool is_dotted = name.len && (name.ptr[0] == '.' || name.ptr[0] == '$');
    if ((s->type & IMAGE_SYM_DTYPE_MASK) == IMAGE_SYM_DTYPE_FUNCTION) return CSNI_SYMBOL_FUNCTION;
    if (is_static && (s->aux_count || is_dotted)) return CSNI_SYMBOL_SECTION;
    if (!is_static && s->storage_class != IMAGE_SYM_CLASS_EXTERNAL && s->storage_class != IMAGE_SYM_CLASS_WEAK_EXTERNAL)
        return CSNI_SYMBOL_OTHER;
    if (section == CSNI_NO_SECTION) return CSNI_SYMBOL_NONE;
    return object->sections[section].flags & CSNI_SECTION_EXEC ? CSNI_SYMBOL_FUNCTION : CSNI_SYMBOL_DATA;
}

/* Some compilers tell the size of a function in its aux record; most leave it 0. In /bigobj objects GNU as writes 1 for any. */
static uint64_t function_size(const struct csni_pe *pe, uint64_t index, const struct coff_symbol *s) {
    struct csni_span aux;
    bool has_definition = s->storage_class == IMAGE_SYM_CLASS_EXTERNAL && s->aux_count &&
                          (s->type & IMAGE_SYM_DTYPE_MASK) == IMAGE_SYM_DTYPE_FUNCTION &&
                          csni_span_sub(pe->symbols, (index + 1) * pe->symbol_size, pe->symbol_size, &aux);
    const uint32_t size = has_definition ? csni_get32(aux.ptr + AUX_FUNCTION_TOTAL_SIZE, false) : 0;
    return size == 1 && pe->symbol_size == BIGOBJ_SYMBOL_SIZE ? 0 : size;
}

/* The name of a source file stands in the aux records; a long one in the string table, where GNU as has put it. */
static struct csn_str coff_file_name(const struct csni_pe *pe, uint64_t index, const struct coff_symbol *s, struct csn_str own) {
    struct csni_span aux;
    uint64_t size = (uint64_t)s->aux_count * pe->symbol_size;
    if (!size || !csni_span_sub(pe->symbols, (index + 1) * pe->symbol_size, size, &aux)) return own;
    if (!aux.ptr[0]) {
        struct csn_str name;
        return symbol_name(pe, aux.ptr, &name) && name.len ? name : own;
    }
    const uint8_t *nul = memchr(aux.ptr, 0, aux.size);
    return (struct csn_str){ (const char *)aux.ptr, nul ? (size_t)(nul - aux.ptr) : aux.size };
}

static bool next_coff_symbol(struct csni_symbol_iter *iter, struct csni_symbol *out) {
    const struct csni_object *object = iter->object;
    const struct csni_pe *pe = csni_pe_of(object);
    struct coff_symbol s;
    struct csni_symbol symbol = { .bind = CSNI_BIND_GLOBAL };
    uint64_t index = iter->index++;
    if (!symbol_at(pe, index, &s)) return false;
    iter->index += s.aux_count;
    if (!symbol_name(pe, s.record, &symbol.name) || !section_of(object, s.section, &symbol.section)) return false;
    symbol.kind = (uint8_t)pe_symbol_kind(object, &s, symbol.section, symbol.name);
    if (symbol.kind == CSNI_SYMBOL_FILE) symbol.name = coff_file_name(pe, index, &s, symbol.name);
    symbol.defined = symbol.section != CSNI_NO_SECTION || s.section == IMAGE_SYM_ABSOLUTE;
    symbol.addr = s.value;
    if (symbol.section != CSNI_NO_SECTION) symbol.addr += object->sections[symbol.section].addr;
    if (symbol.kind == CSNI_SYMBOL_FUNCTION) {
        symbol.addr = code_addr(object, symbol.addr);
        symbol.size = function_size(pe, index, &s);
    }
    if (symbol.kind != CSNI_SYMBOL_FILE && symbol.kind != CSNI_SYMBOL_SECTION)
        symbol.name = undecorated(object, symbol.name);
    symbol.has_aux = s.aux_count;
    /* ".weak.NAME.OTHER": the code that the weak external NAME stands for. */
    if (s.storage_class == IMAGE_SYM_CLASS_WEAK_EXTERNAL || csni_str_starts(symbol.name, ".weak.")) symbol.bind = CSNI_BIND_WEAK;
    else if (s.storage_class != IMAGE_SYM_CLASS_EXTERNAL) symbol.bind = CSNI_BIND_LOCAL;
    *out = symbol;
    return true;
}

/* ---- exports ---- */

/* Part of `section`, whose RVA is `section_rva`. Linkers keep tables and names of the exports in one section. */
static bool part_at(struct csni_span section, uint64_t section_rva, uint64_t rva, uint64_t size, struct csni_span *out) {
    return rva >= section_rva && csni_span_sub(section, rva - section_rva, size, out);
}

/* symbols: RVAs of names; extra: their ordinals; strings: the section from the directory on, entry_size: its RVA. */
static csn_status export_symbols(struct csni_symbol_iter *iter, struct csni_object *object, struct csn_error *err) {
    const struct csni_pe *pe = csni_pe_of(object);
    struct csni_span section;
    uint64_t rva = pe->exports.rva;
    if (!pe->exports.size) return CSN_NONE;
    if (!csni_pe_bytes_from(object, rva, &section) || section.size < EXPORT_DIRECTORY_SIZE)
        return csni_fail(err, CSN_E_TRUNCATED, NULL, rva, "export directory: no 40 bytes at RVA 0x%x", pe->exports.rva);
    uint64_t count = csni_get32(section.ptr + EXPORT_NAME_COUNT, false);
    uint32_t names = csni_get32(section.ptr + EXPORT_NAMES, false);
    uint32_t ordinals = csni_get32(section.ptr + EXPORT_ORDINALS, false);
    struct csni_symbol_iter set_up = { .object = object, .table = CSNI_SYMBOLS_DYNAMIC, .strings = section,
                                       .entry_size = rva, .count = count };
    if (!count) return CSN_NONE;
    if (!part_at(section, rva, names, count * 4, &set_up.symbols) ||
        !part_at(section, rva, ordinals, count * 2, &set_up.extra))
        return csni_fail(err, CSN_E_TRUNCATED, NULL, rva,
                         "export directory: %u names at RVA 0x%x, ordinals at 0x%x, do not lie in its section",
                         (uint32_t)count, names, ordinals);
    *iter = set_up;
    return CSN_OK;
}

static bool next_export(struct csni_symbol_iter *iter, struct csni_symbol *out) {
    const struct csni_object *object = iter->object;
    const struct csni_pe *pe = csni_pe_of(object);
    uint64_t index = iter->index++, functions_rva = csni_get32(iter->strings.ptr + EXPORT_FUNCTIONS, false);
    uint32_t name_rva = csni_get32(iter->symbols.ptr + index * 4, false);
    uint16_t ordinal = csni_get16(iter->extra.ptr + index * 2, false);
    struct csni_span function;
    struct csni_symbol symbol = { .bind = CSNI_BIND_GLOBAL, .section = CSNI_NO_SECTION };
    if (name_rva < iter->entry_size || !csni_span_cstr(iter->strings, name_rva - iter->entry_size, &symbol.name) ||
        ordinal >= csni_get32(iter->strings.ptr + EXPORT_FUNCTION_COUNT, false) ||
        !part_at(iter->strings, iter->entry_size, functions_rva + ordinal * (uint64_t)4, 4, &function))
        return false;
    uint32_t rva = csni_get32(function.ptr, false);
    /* A forwarder has the address of a string in the directory. */
    bool is_forwarder = rva >= pe->exports.rva && rva - pe->exports.rva < pe->exports.size;
    symbol.defined = rva && !is_forwarder;
    if (symbol.defined) {
        symbol.addr = object->image_base + rva;
        symbol.section = csni_pe_section_at(object, symbol.addr);
        bool is_code = symbol.section != CSNI_NO_SECTION && (object->sections[symbol.section].flags & CSNI_SECTION_EXEC);
        symbol.kind = is_code ? CSNI_SYMBOL_FUNCTION : CSNI_SYMBOL_DATA;
        if (is_code) symbol.addr = code_addr(object, symbol.addr);
    }
    *out = symbol;
    return true;
}

csn_status csni_pe_symbols(struct csni_symbol_iter *iter, struct csni_object *object, enum csni_symbol_table table,
                           struct csn_error *err) {
    const struct csni_pe *pe = csni_pe_of(object);
    if (table == CSNI_SYMBOLS_DYNAMIC) return export_symbols(iter, object, err);
    if (!pe->symbols.size) return CSN_NONE;
    *iter = (struct csni_symbol_iter){ .object = object, .table = table, .symbols = pe->symbols, .strings = pe->strings,
                                       .entry_size = pe->symbol_size, .count = pe->symbols.size / pe->symbol_size };
    return CSN_OK;
}

bool csni_pe_next_symbol(struct csni_symbol_iter *iter, struct csni_symbol *out) {
    return iter->table == CSNI_SYMBOLS_DYNAMIC ? next_export(iter, out) : next_coff_symbol(iter, out);
}
