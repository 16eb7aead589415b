/* Entries of ELF relocation sections, and what relocations of debug sections mean on each machine. */
#ifndef CSNI_ELF_RELOCATION_H
#define CSNI_ELF_RELOCATION_H

#include "object/object_private.h"

/* ---- entries ---- */

struct csni_relocation {
    uint64_t off, symbol;
    uint32_t type;
    bool has_addend; /* else it stands at the place */
    uint64_t addend;
};

struct csni_relocation_entries {
    const struct csni_object *object;
    struct csni_span bytes;
    uint64_t off, entry_size;
    bool has_addend;
};
/* Of a section of type SHT_REL or SHT_RELA. CSN_E_UNSUPPORTED: it is compressed. */
csn_status csni_elf_relocation_entries(const struct csni_object *object, uint32_t section, struct csni_relocation_entries *out,
                                       struct csn_error *err);
/* False at the end. */
bool csni_elf_next_relocation(struct csni_relocation_entries *entries, struct csni_relocation *out);

/* ---- meaning ---- */

/* S: symbol, A: addend, P: place. */
enum csni_relocation_action {
    CSNI_RELOCATION_UNKNOWN,
    CSNI_RELOCATION_IGNORE,
    CSNI_RELOCATION_ABSOLUTE, /* S + A; also for TLS offsets, which are S + A within the TLS block */
    CSNI_RELOCATION_RELATIVE, /* S + A - P */
    CSNI_RELOCATION_WORDS,    /* (S + A) / 2: program memory that is addressed by words */
    CSNI_RELOCATION_ADD,      /* what stands there + S + A */
    CSNI_RELOCATION_ADD_RELATIVE, /* what stands there + S + A - P */
    CSNI_RELOCATION_SUB,      /* what stands there - (S + A) */
    CSNI_RELOCATION_SET6,     /* the same three in the low six bits of a byte */
    CSNI_RELOCATION_ADD6,
    CSNI_RELOCATION_SUB6,
    CSNI_RELOCATION_SET_ULEB, /* ULEB128 numbers, whose length stays */
    CSNI_RELOCATION_ADD_ULEB,
    CSNI_RELOCATION_SUB_ULEB
};

struct csni_relocation_rule {
    uint16_t type;
    uint8_t action; /* enum csni_relocation_action */
    uint8_t size;   /* bytes at the place */
};

struct csni_relocation_rules {
    const struct csni_relocation_rule *items;
    size_t count;
};
/* No items: the machine is not known. */
struct csni_relocation_rules csni_elf_relocation_rules(const struct csni_object *object);

#endif
