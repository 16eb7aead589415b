/* ELF relocations that debug sections need, applied to sections of relocatable objects (ET_REL) and of nothing else: a
 * linked image may keep its relocation sections (ld --emit-relocs, as the Linux kernel does), but what they say was done. */
#include <inttypes.h>

#include "base/core/endian.h"
#include "base/core/fail.h"
#include "base/leb128.h"
#include "object/elf/elf_layout.h"
#include "object/elf/elf_relocation.h"
#include "object/object_private.h"

/* One relocation section at work on the bytes of its target. */
struct relocator {
    struct csni_object *object;
    struct csni_relocation_rules rules;
    uint8_t *bytes;
    uint64_t size;
    uint64_t base;               /* address of the target section */
    uint64_t entries_left;       /* bytes of relocations to come at most: a whole file of them */
    struct csni_symbol_iter symbols;
    struct csni_relocation_counts counts;
};

/* ---- entries ---- */

csn_status csni_elf_relocation_entries(const struct csni_object *object, uint32_t section, struct csni_relocation_entries *out,
                                       struct csn_error *err) {
    const struct csni_section *s = &object->sections[section];
    bool wide = object->address_size == 8, has_addend = s->type == SHT_RELA;
    char label[CSNI_SECTION_LABEL_SIZE];
    if (s->flags & CSNI_SECTION_COMPRESSED)
        return csni_fail(err, CSN_E_UNSUPPORTED, csni_section_label(object, section, label), 0, "compressed relocations");
    *out = (struct csni_relocation_entries){ .object = object, .has_addend = has_addend };
    out->entry_size = has_addend ? (wide ? RELA64_SIZE : RELA32_SIZE) : (wide ? REL64_SIZE : REL32_SIZE);
    return csni_section_stored(object, section, &out->bytes, err);
}

/* r_info of 64 bits: a symbol and a type. MIPS has up to three types, SPARC an addend of 24 bits, beside the type. */
static void decode_wide_info(const struct csni_object *object, const uint8_t *p, struct csni_relocation *r) {
    uint64_t info = csni_get64(p, object->big_endian);
    r->symbol = info >> 32;
    r->type = (uint32_t)info;
    if (object->machine == EM_MIPS && !object->big_endian) {
        r->symbol = csni_get32(p, false);
        r->type = csni_swap32((uint32_t)(info >> 32));
    } else if (object->machine == EM_SPARCV9) {
        r->type &= 0xff;
    }
}

bool csni_elf_next_relocation(struct csni_relocation_entries *entries, struct csni_relocation *out) {
    const struct csni_object *object = entries->object;
    bool big = object->big_endian;
    if (entries->entry_size > entries->bytes.size - entries->off) return false;
    const uint8_t *p = entries->bytes.ptr + entries->off;
    entries->off += entries->entry_size;
    *out = (struct csni_relocation){ .has_addend = entries->has_addend };
    if (object->address_size == 8) {
        out->off = csni_get64(p, big);
        decode_wide_info(object, p + 8, out);
        if (out->has_addend) out->addend = csni_get64(p + 16, big);
    } else {
        uint32_t info = csni_get32(p + 4, big);
        out->off = csni_get32(p, big);
        out->symbol = info >> 8;
        out->type = info & 0xff;
        if (out->has_addend) out->addend = (uint64_t)(int64_t)(int32_t)csni_get32(p + 8, big);
    }
    return true;
}

/* ---- application ---- */

static struct csni_relocation_rule find_elf_rule(const struct relocator *r, uint32_t type) {
    for (size_t i = 0; i < r->rules.count; i++)
        if (r->rules.items[i].type == type) return r->rules.items[i];
    return (struct csni_relocation_rule){ 0, CSNI_RELOCATION_UNKNOWN, 0 };
}

/* The bytes of a ULEB128 number at `p`, 0 when it has no end within the length of 64 bits. */
static size_t uleb_length(const uint8_t *p, uint64_t left) {
    for (size_t n = 0; n < left && n < CSNI_LEB_MAX; n++)
        if (!(p[n] & 0x80)) return n + 1;
    return 0;
}

static uint64_t get_uleb(const uint8_t *p, size_t length) {
    uint64_t v = 0;
    for (size_t i = 0; i < length; i++) v |= (uint64_t)(p[i] & 0x7f) << (7 * i);
    return v;
}

/* In as many bytes as the number that stands there: what does not fit is lost. */
static void put_elf_uleb(uint8_t *p, size_t length, uint64_t v) {
    for (size_t i = 0; i < length; i++) {
        p[i] = (uint8_t)((v & 0x7f) | (i + 1 < length ? 0x80 : 0));
        v >>= 7;
    }
}

static bool apply_uleb(const struct relocator *r, const struct csni_relocation *rel, enum csni_relocation_action action,
                       uint64_t value) {
    uint8_t *place = r->bytes + rel->off;
    size_t length = uleb_length(place, r->size - rel->off);
    if (!length) return false;
    uint64_t stored = get_uleb(place, length);
    if (action == CSNI_RELOCATION_ADD_ULEB) value = stored + value;
    else if (action == CSNI_RELOCATION_SUB_ULEB) value = stored - value;
    put_elf_uleb(place, length, value);
    return true;
}

/* An addend in the place itself, extended by its sign. */
static uint64_t stored_addend(const uint8_t *place, unsigned size, bool big) {
    uint64_t v = csni_get_sized(place, size, big);
    uint64_t sign = (uint64_t)1 << (8 * size - 1);
    return (v ^ sign) - sign;
}

/* False when the place lies outside of the section. `value` is S. */
static bool apply_rule(const struct relocator *r, const struct csni_relocation *rel, struct csni_relocation_rule rule,
                       uint64_t value) {
    if (rel->off > r->size || rule.size > r->size - rel->off) return false;
    bool big = r->object->big_endian;
    uint8_t *place = r->bytes + rel->off;
    bool adds_to_place = rule.action != CSNI_RELOCATION_ABSOLUTE && rule.action != CSNI_RELOCATION_RELATIVE &&
                         rule.action != CSNI_RELOCATION_WORDS;
    if (rel->has_addend) value += rel->addend;
    else if (!adds_to_place) value += stored_addend(place, rule.size, big);
    switch ((enum csni_relocation_action)rule.action) {
    case CSNI_RELOCATION_ABSOLUTE: break;
    case CSNI_RELOCATION_RELATIVE: value -= r->base + rel->off; break;
    case CSNI_RELOCATION_WORDS: value /= 2; break;
    case CSNI_RELOCATION_ADD: value = csni_get_sized(place, rule.size, big) + value; break;
    case CSNI_RELOCATION_ADD_RELATIVE: value = csni_get_sized(place, rule.size, big) + value - (r->base + rel->off); break;
    case CSNI_RELOCATION_SUB: value = csni_get_sized(place, rule.size, big) - value; break;
    case CSNI_RELOCATION_SET6: value = (*place & 0xc0u) | (value & 0x3f); break;
    case CSNI_RELOCATION_ADD6: value = (*place & 0xc0u) | ((*place + value) & 0x3f); break;
    case CSNI_RELOCATION_SUB6: value = (*place & 0xc0u) | ((*place - value) & 0x3f); break;
    case CSNI_RELOCATION_SET_ULEB:
    case CSNI_RELOCATION_ADD_ULEB:
    case CSNI_RELOCATION_SUB_ULEB: return apply_uleb(r, rel, (enum csni_relocation_action)rule.action, value);
    case CSNI_RELOCATION_UNKNOWN:
    case CSNI_RELOCATION_IGNORE: return true;
    }
    csni_put_sized(place, value, rule.size, big);
    return true;
}

/* Undefined symbols and symbol 0 have the value 0. A symbol with a damaged name still has a value. */
static bool elf_symbol_value(const struct relocator *r, uint64_t index, uint64_t *value) {
    *value = 0;
    return index == 0 || csni_elf_symbol_value(&r->symbols, index, value);
}

static void apply_elf_relocation(struct relocator *r, const struct csni_relocation *rel) {
    struct csni_relocation_rule rule = find_elf_rule(r, rel->type);
    uint64_t value;
    if (rule.action == CSNI_RELOCATION_IGNORE) return;
    if (rule.action == CSNI_RELOCATION_UNKNOWN) {
        if (!r->counts.unknown++) r->counts.unknown_type = rel->type;
    } else if (!elf_symbol_value(r, rel->symbol, &value) || !apply_rule(r, rel, rule, value)) {
        r->counts.damaged++;
    }
}

static csn_status apply_section(struct relocator *r, uint32_t section, struct csn_error *err) {
    struct csni_relocation_entries entries;
    char label[CSNI_SECTION_LABEL_SIZE];
    CSNI_TRY(csni_elf_relocation_entries(r->object, section, &entries, err));
    /* Else a small file could ask for the same relocations over and over. */
    if (entries.bytes.size > r->entries_left)
        return csni_fail(err, CSN_E_FORMAT, csni_section_label(r->object, section, label), 0,
                         "relocation sections overlap: 0x%zx bytes more than the file's 0x%zx",
                         entries.bytes.size - (size_t)r->entries_left, r->object->file.size);
    r->entries_left -= entries.bytes.size;
    CSNI_TRY(csni_elf_symbols_of(&r->symbols, r->object, r->object->sections[section].link, err));
    struct csni_relocation rel;
    while (csni_elf_next_relocation(&entries, &rel)) apply_elf_relocation(r, &rel);
    return CSN_OK;
}

static bool is_relocation_of(const struct csni_section *s, uint32_t target) {
    return (s->type == SHT_RELA || s->type == SHT_REL) && s->info == target;
}

/* Sections that will be in memory, and are read: function descriptors tell where the code of symbols is, frame descriptions where
 * functions end and how they are unwound. */
static bool is_read_in_memory(const struct csni_object *object, const struct csni_section *s) {
    return csni_str_is(s->name, ".eh_frame") || (object->machine == EM_PPC64 && csni_str_is(s->name, ".opd"));
}

bool csni_elf_needs_relocation(const struct csni_object *object, uint32_t section) {
    const struct csni_section *s = &object->sections[section];
    if (object->kind != CSNI_OBJECT_RELOCATABLE) return false;
    if ((s->flags & CSNI_SECTION_ALLOC) && !is_read_in_memory(object, s)) return false;
    for (uint32_t i = 1; i < object->section_count; i++)
        if (is_relocation_of(&object->sections[i], section)) return true;
    return false;
}

csn_status csni_elf_relocate(struct csni_object_private *priv, uint32_t section, uint8_t *bytes, uint64_t size,
                             struct csn_error *err) {
    struct csni_object *object = &priv->object;
    struct relocator r = { .object = object,
                           .rules = csni_elf_relocation_rules(object),
                           .bytes = bytes,
                           .size = size,
                           .base = object->sections[section].addr,
                           .entries_left = object->file.size };
    for (uint32_t i = 1; i < object->section_count; i++)
        if (is_relocation_of(&object->sections[i], section)) CSNI_TRY(apply_section(&r, i, err));
    csni_add_relocation_counts(priv, &r.counts);
    return CSN_OK;
}
