/* Mach-O relocations that debug sections need, applied to sections of relocatable objects. Those sections have addresses, so
 * a relocation against a section is done as soon as the file is written: what stands at its place is the address already, a
 * difference of sections, too. What is left are those against symbols (r_extern): only the addend stands there. */
#include <inttypes.h>

#include "base/core/endian.h"
#include "base/core/fail.h"
#include "object/macho/macho_layout.h"
#include "object/macho/macho_private.h"

struct macho_relocation {
    uint32_t off, symbol;
    uint8_t type, size; /* size: bytes at the place */
    bool pc_relative, is_extern;
};

/* One section's relocations at work. */
struct macho_relocator {
    const struct csni_object *object;
    uint8_t *bytes;
    uint64_t size;
    struct csni_span symbols, strings;
    struct csni_relocation_counts counts;
};

/* False for a scattered one, which is against an address and therefore done. */
static bool decode_macho_relocation(const uint8_t *at, bool big, struct macho_relocation *out) {
    uint32_t off = csni_get32(at, big), bits = csni_get32(at + 4, big);
    if (off & R_SCATTERED) return false;
    /* A C bit field: its first bits are the lowest in little-endian files, the highest in big-endian ones. */
    if (big)
        *out = (struct macho_relocation){ off, bits >> 8, bits & 0xf, (uint8_t)(1u << (bits >> 5 & 3)),
                                          (bits >> 7 & 1) != 0, (bits >> 4 & 1) != 0 };
    else
        *out = (struct macho_relocation){ off, bits & 0xffffff, (uint8_t)(bits >> 28), (uint8_t)(1u << (bits >> 25 & 3)),
                                          (bits >> 24 & 1) != 0, (bits >> 27 & 1) != 0 };
    return true;
}

static csn_status relocations_of(const struct csni_object *object, uint32_t section, struct csni_span *out,
                                 struct csn_error *err) {
    return csni_macho_part_bytes(object, "relocations", csni_macho_own(object)->relocations[section], RELOCATION_INFO_SIZE, out,
                                 err);
}

bool csni_macho_needs_relocation(const struct csni_object *object, uint32_t section) {
    if (object->kind != CSNI_OBJECT_RELOCATABLE || (object->sections[section].flags & CSNI_SECTION_ALLOC)) return false;
    if (!csni_macho_own(object)->relocations[section].count) return false;
    struct csni_span entries;
    if (relocations_of(object, section, &entries, NULL) < 0) return true; /* relocating says what is wrong */
    for (size_t off = 0; off < entries.size; off += RELOCATION_INFO_SIZE) {
        struct macho_relocation r;
        if (decode_macho_relocation(entries.ptr + off, object->big_endian, &r) && r.is_extern) return true;
    }
    return false;
}

enum macho_action { MACHO_UNKNOWN, MACHO_ADD, MACHO_SUBTRACT };

static enum macho_action action_of(uint32_t machine, uint8_t type) {
    switch (machine) {
    case CPU_TYPE_X86_64:
        return type == X86_64_RELOC_UNSIGNED ? MACHO_ADD : type == X86_64_RELOC_SUBTRACTOR ? MACHO_SUBTRACT : MACHO_UNKNOWN;
    case CPU_TYPE_ARM64:
    case CPU_TYPE_ARM64_32:
        return type == ARM64_RELOC_UNSIGNED ? MACHO_ADD : type == ARM64_RELOC_SUBTRACTOR ? MACHO_SUBTRACT : MACHO_UNKNOWN;
    default: return type == GENERIC_RELOC_VANILLA ? MACHO_ADD : MACHO_UNKNOWN; /* i386, arm, ppc, ppc64 */
    }
}

/* 0 for undefined symbols. False when there is no such symbol. */
static bool macho_symbol_value(const struct macho_relocator *m, uint32_t index, uint64_t *value) {
    uint64_t size = csni_macho_nlist_size(m->object);
    struct csni_span at;
    if (!csni_span_sub(m->symbols, index * size, size, &at)) return false;
    struct csni_nlist s;
    csni_macho_decode_nlist(m->object, at.ptr, &s);
    bool is_defined = (s.type & N_TYPE) == N_SECT || (s.type & N_TYPE) == N_ABS;
    *value = is_defined ? s.value : 0;
    return true;
}

static void apply_macho_relocation(struct macho_relocator *m, const struct macho_relocation *r) {
    enum macho_action action = r->pc_relative ? MACHO_UNKNOWN : action_of(m->object->machine, r->type);
    uint64_t value;
    if (action == MACHO_UNKNOWN) {
        if (!m->counts.unknown++) m->counts.unknown_type = r->type;
        return;
    }
    if (r->off > m->size || r->size > m->size - r->off || !macho_symbol_value(m, r->symbol, &value)) {
        m->counts.damaged++;
        return;
    }
    uint8_t *place = m->bytes + r->off;
    uint64_t old = csni_get_sized(place, r->size, m->object->big_endian);
    csni_put_sized(place, action == MACHO_ADD ? old + value : old - value, r->size, m->object->big_endian);
}

csn_status csni_macho_relocate(struct csni_object_private *priv, uint32_t section, uint8_t *bytes, uint64_t size,
                               struct csn_error *err) {
    struct macho_relocator m = { .object = &priv->object, .bytes = bytes, .size = size };
    struct csni_span entries;
    CSNI_TRY(relocations_of(m.object, section, &entries, err));
    CSNI_TRY(csni_macho_symbol_table(m.object, &m.symbols, &m.strings, err));
    for (size_t off = 0; off < entries.size; off += RELOCATION_INFO_SIZE) {
        struct macho_relocation r;
        if (decode_macho_relocation(entries.ptr + off, m.object->big_endian, &r) && r.is_extern)
            apply_macho_relocation(&m, &r);
    }
    csni_add_relocation_counts(priv, &m.counts);
    return CSN_OK;
}
