/* ELF symbol tables, decoded in place. */
#include <inttypes.h>

#include "base/core/endian.h"
#include "base/core/fail.h"
#include "object/elf/elf_layout.h"
#include "object/object_private.h"

static uint32_t find_by_type(const struct csni_object *object, uint32_t type) {
    for (uint32_t i = 1; i < object->section_count; i++)
        if (object->sections[i].type == type) return i;
    return CSNI_NO_SECTION;
}

/* The bytes of a table that no linker compresses. */
static csn_status plain_bytes(const struct csni_object *object, uint32_t section, struct csni_span *out,
                              struct csn_error *err) {
    char label[CSNI_SECTION_LABEL_SIZE];
    if (object->sections[section].flags & CSNI_SECTION_COMPRESSED)
        return csni_fail(err, CSN_E_UNSUPPORTED, csni_section_label(object, section, label), 0, "compressed symbol table");
    return csni_section_stored(object, section, out, err);
}

/* Section indices that do not fit 16 bits. Where the table is missing or outside of the file, the symbols that need it
 * count as damaged. */
static void read_extended_sections(struct csni_symbol_iter *iter, uint32_t table) {
    const struct csni_object *object = iter->object;
    for (uint32_t i = 1; i < object->section_count; i++) {
        const struct csni_section *s = &object->sections[i];
        if (s->type != SHT_SYMTAB_SHNDX || s->link != table) continue;
        if (plain_bytes(object, i, &iter->extra, NULL) == CSN_OK) return;
    }
}

csn_status csni_elf_symbols_of(struct csni_symbol_iter *iter, struct csni_object *object, uint32_t table,
                               struct csn_error *err) {
    if (table >= object->section_count ||
        (object->sections[table].type != SHT_SYMTAB && object->sections[table].type != SHT_DYNSYM))
        return csni_fail(err, CSN_E_FORMAT, NULL, 0, "section %" PRIu32 " of %" PRIu32 " is no symbol table", table,
                         object->section_count);
    uint64_t need = object->address_size == 8 ? SYM64_ENTRY_SIZE : SYM32_ENTRY_SIZE;
    uint64_t entry_size = object->sections[table].entry_size;
    char label[CSNI_SECTION_LABEL_SIZE];
    if (entry_size < need)
        return csni_fail(err, CSN_E_FORMAT, csni_section_label(object, table, label), 0,
                         "symbols of %" PRIu64 " bytes, need >= %" PRIu64, entry_size, need);
    *iter = (struct csni_symbol_iter){ .object = object, .index = 1, .entry_size = entry_size };
    CSNI_TRY(plain_bytes(object, table, &iter->symbols, err));
    read_extended_sections(iter, table);
    iter->count = iter->symbols.size / entry_size;
    return CSN_OK;
}

csn_status csni_elf_symbols(struct csni_symbol_iter *iter, struct csni_object *object, enum csni_symbol_table table,
                            struct csn_error *err) {
    uint32_t section = find_by_type(object, table == CSNI_SYMBOLS_STATIC ? SHT_SYMTAB : SHT_DYNSYM);
    if (section == CSNI_NO_SECTION) return CSN_NONE;
    uint32_t strings = object->sections[section].link;
    char label[CSNI_SECTION_LABEL_SIZE];
    if (strings == SHN_UNDEF || strings >= object->section_count)
        return csni_fail(err, CSN_E_FORMAT, csni_section_label(object, section, label), 0,
                         "names in section %" PRIu32 " of %" PRIu32, strings, object->section_count);
    struct csni_symbol_iter set_up;
    CSNI_TRY(csni_elf_symbols_of(&set_up, object, section, err));
    CSNI_TRY(plain_bytes(object, strings, &set_up.strings, err));
    *iter = set_up;
    return CSN_OK;
}

struct elf_symbol {
    uint64_t value, size;
    uint32_t name;
    uint16_t shndx;
    uint8_t type, bind, other;
};

static void decode_elf_symbol(const uint8_t *p, bool wide, bool big, struct elf_symbol *out) {
    uint8_t info;
    if (wide) {
        *out = (struct elf_symbol){ .value = csni_get64(p + SYM64_VALUE, big), .size = csni_get64(p + SYM64_SIZE, big),
                                    .name = csni_get32(p + SYM64_NAME, big), .shndx = csni_get16(p + SYM64_SHNDX, big),
                                    .other = p[SYM64_OTHER] };
        info = p[SYM64_INFO];
    } else {
        *out = (struct elf_symbol){ .value = csni_get32(p + SYM32_VALUE, big), .size = csni_get32(p + SYM32_SIZE, big),
                                    .name = csni_get32(p + SYM32_NAME, big), .shndx = csni_get16(p + SYM32_SHNDX, big),
                                    .other = p[SYM32_OTHER] };
        info = p[SYM32_INFO];
    }
    out->type = info & 0xf;
    out->bind = info >> 4;
}

static enum csni_symbol_kind elf_symbol_kind(uint8_t type) {
    switch (type) {
    case STT_NOTYPE: return CSNI_SYMBOL_NONE;
    case STT_OBJECT:
    case STT_COMMON: return CSNI_SYMBOL_DATA;
    case STT_FUNC: return CSNI_SYMBOL_FUNCTION;
    case STT_SECTION: return CSNI_SYMBOL_SECTION;
    case STT_FILE: return CSNI_SYMBOL_FILE;
    case STT_TLS: return CSNI_SYMBOL_TLS;
    case STT_GNU_IFUNC: return CSNI_SYMBOL_IFUNC;
    default: return CSNI_SYMBOL_OTHER;
    }
}

static enum csni_symbol_bind elf_symbol_bind(uint8_t bind) {
    switch (bind) {
    case STB_LOCAL: return CSNI_BIND_LOCAL;
    case STB_WEAK: return CSNI_BIND_WEAK;
    default: return CSNI_BIND_GLOBAL; /* STB_GNU_UNIQUE and processors' own too */
    }
}

/* The section a symbol is in: *section is CSNI_NO_SECTION for undefined, absolute and common ones. False when the index
 * leads nowhere. */
static bool symbol_section(const struct csni_symbol_iter *iter, uint64_t index, uint16_t shndx, uint32_t *section,
                           bool *defined) {
    *section = CSNI_NO_SECTION;
    *defined = shndx == SHN_ABS;
    if (shndx == SHN_UNDEF || (shndx >= SHN_LORESERVE && shndx != SHN_XINDEX)) return true;
    uint32_t wide = shndx;
    if (shndx == SHN_XINDEX) {
        struct csni_span at;
        if (!csni_span_sub(iter->extra, index * 4, 4, &at)) return false;
        wide = csni_get32(at.ptr, iter->object->big_endian);
        if (wide == SHN_UNDEF) return false;
    }
    *defined = true;
    *section = wide;
    return wide < iter->object->section_count;
}

/* Whether bit 0 of the value tells Thumb, microMIPS and MIPS16 code from other code. */
static bool has_code_bit(const struct csni_object *object, const struct elf_symbol *s) {
    const bool is_mips_other = (s->other & STO_MIPS_ISA) == STO_MICROMIPS || (s->other & STO_MIPS16) == STO_MIPS16;
    const bool is_function = s->type == STT_FUNC || s->type == STT_GNU_IFUNC;
    return is_function && (s->value & 1) && (object->machine == EM_ARM || (object->machine == EM_MIPS && is_mips_other));
}

/* The address without that bit; in an object that is not linked, after the place of its section. A TLS symbol's is an offset. */
static uint64_t symbol_addr(const struct csni_object *object, const struct elf_symbol *s, uint32_t section) {
    uint64_t addr = s->value - has_code_bit(object, s);
    if (object->kind == CSNI_OBJECT_RELOCATABLE && section != CSNI_NO_SECTION && s->type != STT_TLS)
        addr += object->sections[section].addr;
    return addr;
}

static void symbol_at(const struct csni_symbol_iter *iter, uint64_t index, struct elf_symbol *out) {
    decode_elf_symbol(iter->symbols.ptr + index * iter->entry_size, iter->object->address_size == 8,
                      iter->object->big_endian,
                      out);
}

bool csni_elf_symbol_value(const struct csni_symbol_iter *iter, uint64_t index, uint64_t *value) {
    struct elf_symbol s;
    uint32_t section;
    bool defined;
    if (index >= iter->count) return false;
    symbol_at(iter, index, &s);
    if (!symbol_section(iter, index, s.shndx, &section, &defined)) return false;
    *value = defined ? symbol_addr(iter->object, &s, section) : 0;
    return true;
}

/* Whether a NUL stands somewhere after `off`. */
static bool is_terminated(struct csni_span strings, uint64_t off) {
    return off < strings.size && !strings.ptr[strings.size - 1];
}

/* Labels of assembler source have no type, code of GHC has that of data. */
static bool names_code(const struct csni_symbol_iter *iter, const struct elf_symbol *s, uint32_t section) {
    if (s->type == STT_FUNC || s->type == STT_GNU_IFUNC) return true;
    bool may_be_code = s->type == STT_NOTYPE || (s->type == STT_OBJECT && s->size);
    return may_be_code && section != CSNI_NO_SECTION && (iter->object->sections[section].flags & CSNI_SECTION_EXEC);
}

bool csni_elf_next_symbol(struct csni_symbol_iter *iter, struct csni_symbol *out) {
    struct elf_symbol s;
    uint64_t index = iter->index++;
    symbol_at(iter, index, &s);
    struct csni_symbol symbol = { .name = { "", 0 }, .size = s.size, .kind = (uint8_t)elf_symbol_kind(s.type),
                                  .bind = (uint8_t)elf_symbol_bind(s.bind) };
    if (!symbol_section(iter, index, s.shndx, &symbol.section, &symbol.defined)) return false;
    bool nameless = !s.name || (iter->only_functions && !names_code(iter, &s, symbol.section) &&
                                is_terminated(iter->strings, s.name));
    if (!nameless && !csni_span_cstr(iter->strings, s.name, &symbol.name)) return false;
    symbol.addr = symbol_addr(iter->object, &s, symbol.section);
    symbol.had_low_bit = has_code_bit(iter->object, &s);
    symbol.is_hidden = (s.other & 3) == STV_HIDDEN || (s.other & 3) == STV_INTERNAL;
    *out = symbol;
    return true;
}
