/* COFF relocations that debug sections of objects need. Addends stand at the place. */
#include <inttypes.h>

#include "base/core/endian.h"
#include "base/core/fail.h"
#include "object/pe/pe_layout.h"
#include "object/pe/pe_private.h"

enum relocation_action {
    ACTION_UNKNOWN,
    ACTION_IGNORE,
    ACTION_ADDRESS,  /* of the symbol; objects have no image base, so an RVA is the same */
    ACTION_RELATIVE, /* to the byte after the place */
    ACTION_OFFSET,   /* of the symbol in its section */
    ACTION_SECTION   /* number of the symbol's section */
};

struct relocation_rule {
    uint8_t type, action, size;
};

static const struct relocation_rule rules_amd64[] = {
    { IMAGE_REL_AMD64_SECREL, ACTION_OFFSET, 4 },   { IMAGE_REL_AMD64_ADDR64, ACTION_ADDRESS, 8 },
    { IMAGE_REL_AMD64_ADDR32, ACTION_ADDRESS, 4 },  { IMAGE_REL_AMD64_ADDR32NB, ACTION_ADDRESS, 4 },
    { IMAGE_REL_AMD64_REL32, ACTION_RELATIVE, 4 },  { IMAGE_REL_AMD64_SECTION, ACTION_SECTION, 2 },
    { IMAGE_REL_AMD64_ABSOLUTE, ACTION_IGNORE, 0 },
};
static const struct relocation_rule rules_i386[] = {
    { IMAGE_REL_I386_SECREL, ACTION_OFFSET, 4 },    { IMAGE_REL_I386_DIR32, ACTION_ADDRESS, 4 },
    { IMAGE_REL_I386_DIR32NB, ACTION_ADDRESS, 4 },  { IMAGE_REL_I386_REL32, ACTION_RELATIVE, 4 },
    { IMAGE_REL_I386_SECTION, ACTION_SECTION, 2 },  { IMAGE_REL_I386_ABSOLUTE, ACTION_IGNORE, 0 },
};
static const struct relocation_rule rules_arm[] = {
    { IMAGE_REL_ARM_SECREL, ACTION_OFFSET, 4 },     { IMAGE_REL_ARM_ADDR32, ACTION_ADDRESS, 4 },
    { IMAGE_REL_ARM_ADDR32NB, ACTION_ADDRESS, 4 },  { IMAGE_REL_ARM_REL32, ACTION_RELATIVE, 4 },
    { IMAGE_REL_ARM_SECTION, ACTION_SECTION, 2 },   { IMAGE_REL_ARM_ABSOLUTE, ACTION_IGNORE, 0 },
};
static const struct relocation_rule rules_arm64[] = {
    { IMAGE_REL_ARM64_SECREL, ACTION_OFFSET, 4 },   { IMAGE_REL_ARM64_ADDR64, ACTION_ADDRESS, 8 },
    { IMAGE_REL_ARM64_ADDR32, ACTION_ADDRESS, 4 },  { IMAGE_REL_ARM64_ADDR32NB, ACTION_ADDRESS, 4 },
    { IMAGE_REL_ARM64_REL32, ACTION_RELATIVE, 4 },  { IMAGE_REL_ARM64_SECTION, ACTION_SECTION, 2 },
    { IMAGE_REL_ARM64_ABSOLUTE, ACTION_IGNORE, 0 },
};

struct relocation_rules {
    const struct relocation_rule *items;
    size_t count;
};

static struct relocation_rules rules_of(uint32_t machine) {
    switch (machine) {
    case IMAGE_FILE_MACHINE_AMD64: return (struct relocation_rules){ rules_amd64, sizeof rules_amd64 / sizeof *rules_amd64 };
    case IMAGE_FILE_MACHINE_I386: return (struct relocation_rules){ rules_i386, sizeof rules_i386 / sizeof *rules_i386 };
    case IMAGE_FILE_MACHINE_ARM64:
    case IMAGE_FILE_MACHINE_ARM64EC:
    case IMAGE_FILE_MACHINE_ARM64X:
        return (struct relocation_rules){ rules_arm64, sizeof rules_arm64 / sizeof *rules_arm64 };
    default: return (struct relocation_rules){ rules_arm, sizeof rules_arm / sizeof *rules_arm };
    }
}

static struct relocation_rule find_pe_rule(struct relocation_rules rules, uint32_t type) {
    for (size_t i = 0; i < rules.count; i++)
        if (rules.items[i].type == type) return rules.items[i];
    return (struct relocation_rule){ 0, ACTION_UNKNOWN, 0 };
}

/* A section at work. */
struct relocator {
    const struct csni_object *object;
    struct csni_span bytes;
    uint8_t *place_base;
    uint64_t addr;
};

/* False when place or symbol do not exist. */
static bool apply_pe_relocation(const struct relocator *r, uint64_t off, uint32_t index, struct relocation_rule rule) {
    struct csni_span at;
    uint32_t section;
    uint64_t value;
    if (!csni_span_sub(r->bytes, off, rule.size, &at)) return false;
    if (!csni_pe_symbol_value(r->object, index, &section, &value)) return false;
    uint64_t stored = csni_get_sized(at.ptr, rule.size, false);
    if (rule.action == ACTION_SECTION) value = section == CSNI_NO_SECTION ? 0 : section;
    else if (rule.action != ACTION_OFFSET && section != CSNI_NO_SECTION) value += r->object->sections[section].addr;
    if (rule.action == ACTION_RELATIVE) value -= r->addr + off + rule.size;
    csni_put_sized(r->place_base + off, stored + value, rule.size, false);
    return true;
}

/* The section's relocations. Where their number does not fit 16 bits, the first of them holds it, itself counted. */
static csn_status find_relocations(const struct csni_object *object, uint32_t section, struct csni_span *out,
                                   struct csn_error *err) {
    const struct csni_section *s = &object->sections[section];
    uint64_t off = s->link, count = s->info;
    struct csni_span first;
    if ((s->type & IMAGE_SCN_LNK_NRELOC_OVFL) && count == NRELOC_OVFL_COUNT &&
        csni_span_sub(object->file, off, RELOCATION_SIZE, &first)) {
        uint32_t all = csni_get32(first.ptr, false);
        count = all ? all - 1 : 0;
        off += RELOCATION_SIZE;
    }
    if (csni_span_sub(object->file, off, count * RELOCATION_SIZE, out)) return CSN_OK;
    char label[CSNI_SECTION_LABEL_SIZE];
    return csni_fail(err, CSN_E_TRUNCATED, csni_section_label(object, section, label), 0,
                     "%" PRIu64 " relocations at 0x%" PRIx64 ", but the file has 0x%zx bytes", count, off, object->file.size);
}

bool csni_pe_needs_relocation(const struct csni_object *object, uint32_t section) {
    const struct csni_section *s = &object->sections[section];
    return object->kind == CSNI_OBJECT_RELOCATABLE && s->info && !(s->flags & CSNI_SECTION_ALLOC);
}

csn_status csni_pe_relocate(struct csni_object_private *priv, uint32_t section, uint8_t *bytes, uint64_t size,
                            struct csn_error *err) {
    const struct csni_object *object = &priv->object;
    struct relocation_rules rules = rules_of(object->machine);
    struct relocator r = { object, { bytes, (size_t)size }, bytes, object->sections[section].addr };
    struct csni_relocation_counts counts = { 0 };
    struct csni_span relocations = { NULL, 0 };
    CSNI_TRY(find_relocations(object, section, &relocations, err));
    for (size_t at = 0; at < relocations.size; at += RELOCATION_SIZE) {
        const uint8_t *p = relocations.ptr + at;
        uint32_t type = csni_get16(p + 8, false);
        struct relocation_rule rule = find_pe_rule(rules, type);
        if (rule.action == ACTION_IGNORE) continue;
        if (rule.action == ACTION_UNKNOWN) {
            if (!counts.unknown++) counts.unknown_type = type;
        } else if (!apply_pe_relocation(&r, csni_get32(p, false), csni_get32(p + 4, false), rule)) {
            counts.damaged++;
        }
    }
    csni_add_relocation_counts(priv, &counts);
    return CSN_OK;
}
