/* ELF relocations that debug sections need, applied to sections of relocatable objects (ET_REL) and of nothing else: a
 * linked image may keep its relocation sections (ld --emit-relocs, as the Linux kernel does), but what they say was done. */
#include <inttypes.h>

#include "base/core/endian.h"
#include "base/core/fail.h"
#include "base/leb128.h"
#include "object/elf/elf_layout.h"
#include "object/object_private.h"

/* S: symbol, A: addend, P: place. */
enum relocation_action {
    ACTION_UNKNOWN,
    ACTION_IGNORE,
    ACTION_ABSOLUTE, /* S + A; also for TLS offsets, which are S + A within the TLS block */
    ACTION_RELATIVE, /* S + A - P */
    ACTION_ADD,      /* what stands there + S + A */
    ACTION_SUB,      /* what stands there - (S + A) */
    ACTION_SET6,     /* the same three in the low six bits of a byte */
    ACTION_SUB6,
    ACTION_SET_ULEB, /* ULEB128 numbers, whose length stays */
    ACTION_SUB_ULEB
};

struct relocation_rule {
    uint16_t type;
    uint8_t action; /* enum relocation_action */
    uint8_t size;   /* bytes at the place */
};

static const struct relocation_rule rules_x86_64[] = {
    { R_X86_64_32, ACTION_ABSOLUTE, 4 },       { R_X86_64_64, ACTION_ABSOLUTE, 8 },
    { R_X86_64_32S, ACTION_ABSOLUTE, 4 },      { R_X86_64_PC32, ACTION_RELATIVE, 4 },
    { R_X86_64_PC64, ACTION_RELATIVE, 8 },     { R_X86_64_DTPOFF64, ACTION_ABSOLUTE, 8 },
    { R_X86_64_DTPOFF32, ACTION_ABSOLUTE, 4 }, { R_X86_64_16, ACTION_ABSOLUTE, 2 },
    { R_X86_64_8, ACTION_ABSOLUTE, 1 },        { R_X86_64_NONE, ACTION_IGNORE, 0 },
};
static const struct relocation_rule rules_386[] = {
    { R_386_32, ACTION_ABSOLUTE, 4 }, { R_386_PC32, ACTION_RELATIVE, 4 }, { R_386_TLS_LDO_32, ACTION_ABSOLUTE, 4 },
    { R_386_16, ACTION_ABSOLUTE, 2 }, { R_386_8, ACTION_ABSOLUTE, 1 },    { R_386_NONE, ACTION_IGNORE, 0 },
};
static const struct relocation_rule rules_aarch64[] = {
    { R_AARCH64_ABS32, ACTION_ABSOLUTE, 4 },        { R_AARCH64_ABS64, ACTION_ABSOLUTE, 8 },
    { R_AARCH64_ABS16, ACTION_ABSOLUTE, 2 },        { R_AARCH64_PREL32, ACTION_RELATIVE, 4 },
    { R_AARCH64_PREL64, ACTION_RELATIVE, 8 },       { R_AARCH64_TLS_DTPREL64, ACTION_ABSOLUTE, 8 },
    { R_AARCH64_NONE, ACTION_IGNORE, 0 },           { R_AARCH64_NONE_OLD, ACTION_IGNORE, 0 },
};
static const struct relocation_rule rules_arm[] = {
    { R_ARM_ABS32, ACTION_ABSOLUTE, 4 }, { R_ARM_REL32, ACTION_RELATIVE, 4 }, { R_ARM_TLS_LDO32, ACTION_ABSOLUTE, 4 },
    { R_ARM_ABS16, ACTION_ABSOLUTE, 2 }, { R_ARM_ABS8, ACTION_ABSOLUTE, 1 },  { R_ARM_NONE, ACTION_IGNORE, 0 },
};
static const struct relocation_rule rules_riscv[] = {
    { R_RISCV_32, ACTION_ABSOLUTE, 4 },           { R_RISCV_64, ACTION_ABSOLUTE, 8 },
    { R_RISCV_ADD8, ACTION_ADD, 1 },              { R_RISCV_SUB8, ACTION_SUB, 1 },
    { R_RISCV_ADD16, ACTION_ADD, 2 },             { R_RISCV_SUB16, ACTION_SUB, 2 },
    { R_RISCV_ADD32, ACTION_ADD, 4 },             { R_RISCV_SUB32, ACTION_SUB, 4 },
    { R_RISCV_ADD64, ACTION_ADD, 8 },             { R_RISCV_SUB64, ACTION_SUB, 8 },
    { R_RISCV_SET6, ACTION_SET6, 1 },             { R_RISCV_SUB6, ACTION_SUB6, 1 },
    { R_RISCV_SET8, ACTION_ABSOLUTE, 1 },         { R_RISCV_SET16, ACTION_ABSOLUTE, 2 },
    { R_RISCV_SET32, ACTION_ABSOLUTE, 4 },        { R_RISCV_32_PCREL, ACTION_RELATIVE, 4 },
    { R_RISCV_SET_ULEB128, ACTION_SET_ULEB, 1 },  { R_RISCV_SUB_ULEB128, ACTION_SUB_ULEB, 1 },
    { R_RISCV_TLS_DTPREL32, ACTION_ABSOLUTE, 4 }, { R_RISCV_TLS_DTPREL64, ACTION_ABSOLUTE, 8 },
    { R_RISCV_RELAX, ACTION_IGNORE, 0 },          { R_RISCV_ALIGN, ACTION_IGNORE, 0 },
    { R_RISCV_NONE, ACTION_IGNORE, 0 },
};
static const struct relocation_rule rules_ppc[] = {
    { R_PPC_ADDR32, ACTION_ABSOLUTE, 4 },   { R_PPC_UADDR32, ACTION_ABSOLUTE, 4 }, { R_PPC_REL32, ACTION_RELATIVE, 4 },
    { R_PPC_DTPREL32, ACTION_ABSOLUTE, 4 }, { R_PPC_NONE, ACTION_IGNORE, 0 },
};
static const struct relocation_rule rules_ppc64[] = {
    { R_PPC64_ADDR32, ACTION_ABSOLUTE, 4 },  { R_PPC64_ADDR64, ACTION_ABSOLUTE, 8 },
    { R_PPC64_UADDR32, ACTION_ABSOLUTE, 4 }, { R_PPC64_UADDR64, ACTION_ABSOLUTE, 8 },
    { R_PPC64_REL32, ACTION_RELATIVE, 4 },   { R_PPC64_REL64, ACTION_RELATIVE, 8 },
    { R_PPC64_DTPREL64, ACTION_ABSOLUTE, 8 }, { R_PPC64_NONE, ACTION_IGNORE, 0 },
};
static const struct relocation_rule rules_s390[] = {
    { R_390_32, ACTION_ABSOLUTE, 4 },        { R_390_64, ACTION_ABSOLUTE, 8 },   { R_390_16, ACTION_ABSOLUTE, 2 },
    { R_390_8, ACTION_ABSOLUTE, 1 },         { R_390_PC32, ACTION_RELATIVE, 4 }, { R_390_PC64, ACTION_RELATIVE, 8 },
    { R_390_TLS_LDO32, ACTION_ABSOLUTE, 4 }, { R_390_TLS_LDO64, ACTION_ABSOLUTE, 8 }, { R_390_NONE, ACTION_IGNORE, 0 },
};

struct relocation_rules {
    const struct relocation_rule *items;
    size_t count;
};

static struct relocation_rules rules_of(uint32_t machine) {
#define RULES(table) ((struct relocation_rules){ (table), sizeof(table) / sizeof *(table) })
    switch (machine) {
    case EM_X86_64: return RULES(rules_x86_64);
    case EM_386: return RULES(rules_386);
    case EM_AARCH64: return RULES(rules_aarch64);
    case EM_ARM: return RULES(rules_arm);
    case EM_RISCV: return RULES(rules_riscv);
    case EM_PPC: return RULES(rules_ppc);
    case EM_PPC64: return RULES(rules_ppc64);
    case EM_S390: return RULES(rules_s390);
    default: return (struct relocation_rules){ NULL, 0 };
    }
#undef RULES
}

/* One relocation section at work on the bytes of its target. */
struct relocator {
    struct csni_object *object;
    struct relocation_rules rules;
    uint8_t *bytes;
    uint64_t size;
    uint64_t base;               /* address of the target section */
    uint64_t entries_left;       /* bytes of relocations to come at most: a whole file of them */
    struct csni_symbol_iter symbols;
    struct csni_relocation_counts counts;
};

struct relocation {
    uint64_t off, symbol;
    uint32_t type;
    bool has_addend; /* else it stands at the place */
    uint64_t addend;
};

static struct relocation_rule find_elf_rule(const struct relocator *r, uint32_t type) {
    for (size_t i = 0; i < r->rules.count; i++)
        if (r->rules.items[i].type == type) return r->rules.items[i];
    return (struct relocation_rule){ 0, ACTION_UNKNOWN, 0 };
}

static void decode_relocation(const uint8_t *p, bool wide, bool big, bool has_addend, struct relocation *out) {
    if (wide) {
        uint64_t info = csni_get64(p + 8, big);
        *out = (struct relocation){ csni_get64(p, big), info >> 32, (uint32_t)info, has_addend, 0 };
        if (has_addend) out->addend = csni_get64(p + 16, big);
    } else {
        uint32_t info = csni_get32(p + 4, big);
        *out = (struct relocation){ csni_get32(p, big), info >> 8, info & 0xff, has_addend, 0 };
        if (has_addend) out->addend = (uint64_t)(int64_t)(int32_t)csni_get32(p + 8, big);
    }
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

static bool apply_uleb(const struct relocator *r, const struct relocation *rel, enum relocation_action action,
                       uint64_t value) {
    uint8_t *place = r->bytes + rel->off;
    size_t length = uleb_length(place, r->size - rel->off);
    if (!length) return false;
    put_elf_uleb(place, length, action == ACTION_SET_ULEB ? value : get_uleb(place, length) - value);
    return true;
}

/* An addend in the place itself, extended by its sign. */
static uint64_t stored_addend(const uint8_t *place, unsigned size, bool big) {
    uint64_t v = csni_get_sized(place, size, big);
    uint64_t sign = (uint64_t)1 << (8 * size - 1);
    return (v ^ sign) - sign;
}

/* False when the place lies outside of the section. `value` is S. */
static bool apply_rule(const struct relocator *r, const struct relocation *rel, struct relocation_rule rule, uint64_t value) {
    if (rel->off > r->size || rule.size > r->size - rel->off) return false;
    bool big = r->object->big_endian;
    uint8_t *place = r->bytes + rel->off;
    bool adds_to_place = rule.action != ACTION_ABSOLUTE && rule.action != ACTION_RELATIVE;
    if (rel->has_addend) value += rel->addend;
    else if (!adds_to_place) value += stored_addend(place, rule.size, big);
    switch ((enum relocation_action)rule.action) {
    case ACTION_ABSOLUTE: break;
    case ACTION_RELATIVE: value -= r->base + rel->off; break;
    case ACTION_ADD: value = csni_get_sized(place, rule.size, big) + value; break;
    case ACTION_SUB: value = csni_get_sized(place, rule.size, big) - value; break;
    case ACTION_SET6: value = (*place & 0xc0u) | (value & 0x3f); break;
    case ACTION_SUB6: value = (*place & 0xc0u) | ((*place - value) & 0x3f); break;
    case ACTION_SET_ULEB:
    case ACTION_SUB_ULEB: return apply_uleb(r, rel, (enum relocation_action)rule.action, value);
    case ACTION_UNKNOWN:
    case ACTION_IGNORE: return true;
    }
    csni_put_sized(place, value, rule.size, big);
    return true;
}

/* Undefined symbols and symbol 0 have the value 0. A symbol with a damaged name still has a value. */
static bool elf_symbol_value(const struct relocator *r, uint64_t index, uint64_t *value) {
    *value = 0;
    return index == 0 || csni_elf_symbol_value(&r->symbols, index, value);
}

static void apply_elf_relocation(struct relocator *r, const struct relocation *rel) {
    struct relocation_rule rule = find_elf_rule(r, rel->type);
    uint64_t value;
    if (rule.action == ACTION_IGNORE) return;
    if (rule.action == ACTION_UNKNOWN) {
        if (!r->counts.unknown++) r->counts.unknown_type = rel->type;
    } else if (!elf_symbol_value(r, rel->symbol, &value) || !apply_rule(r, rel, rule, value)) {
        r->counts.damaged++;
    }
}

static csn_status apply_section(struct relocator *r, uint32_t section, struct csn_error *err) {
    const struct csni_section *s = &r->object->sections[section];
    bool wide = r->object->address_size == 8, has_addend = s->type == SHT_RELA;
    uint64_t entry_size = has_addend ? (wide ? RELA64_SIZE : RELA32_SIZE) : (wide ? REL64_SIZE : REL32_SIZE);
    struct csni_span entries;
    char label[CSNI_SECTION_LABEL_SIZE];
    if (s->flags & CSNI_SECTION_COMPRESSED)
        return csni_fail(err, CSN_E_UNSUPPORTED, csni_section_label(r->object, section, label), 0, "compressed relocations");
    CSNI_TRY(csni_section_stored(r->object, section, &entries, err));
    /* Else a small file could ask for the same relocations over and over. */
    if (entries.size > r->entries_left)
        return csni_fail(err, CSN_E_FORMAT, csni_section_label(r->object, section, label), 0,
                         "relocation sections overlap: 0x%zx bytes more than the file's 0x%zx",
                         entries.size - (size_t)r->entries_left, r->object->file.size);
    r->entries_left -= entries.size;
    CSNI_TRY(csni_elf_symbols_of(&r->symbols, r->object, s->link, err));
    for (uint64_t off = 0; entry_size <= entries.size - off; off += entry_size) {
        struct relocation rel;
        decode_relocation(entries.ptr + off, wide, r->object->big_endian, has_addend, &rel);
        apply_elf_relocation(r, &rel);
    }
    return CSN_OK;
}

static bool is_relocation_of(const struct csni_section *s, uint32_t target) {
    return (s->type == SHT_RELA || s->type == SHT_REL) && s->info == target;
}

bool csni_elf_needs_relocation(const struct csni_object *object, uint32_t section) {
    if (object->kind != CSNI_OBJECT_RELOCATABLE || (object->sections[section].flags & CSNI_SECTION_ALLOC)) return false;
    for (uint32_t i = 1; i < object->section_count; i++)
        if (is_relocation_of(&object->sections[i], section)) return true;
    return false;
}

csn_status csni_elf_relocate(struct csni_object_private *priv, uint32_t section, uint8_t *bytes, uint64_t size,
                             struct csn_error *err) {
    struct csni_object *object = &priv->object;
    struct relocator r = { .object = object,
                           .rules = rules_of(object->machine),
                           .bytes = bytes,
                           .size = size,
                           .base = object->sections[section].addr,
                           .entries_left = object->file.size };
    for (uint32_t i = 1; i < object->section_count; i++)
        if (is_relocation_of(&object->sections[i], section)) CSNI_TRY(apply_section(&r, i, err));
    csni_add_relocation_counts(priv, &r.counts);
    return CSN_OK;
}
