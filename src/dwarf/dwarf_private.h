/* What the files of this folder share: abbreviations compiled into decode plans, and reading by them. */
#ifndef CSNI_DWARF_PRIVATE_H
#define CSNI_DWARF_PRIVATE_H

#include "base/core/cursor.h"
#include "base/core/fail.h"
#include "base/core/vec.h"
#include "dwarf/dwarf.h"
#include "dwarf/dwarf_package.h"

#if defined(__GNUC__)
#define CSNI_LIKELY(x) __builtin_expect(!!(x), 1)
#define CSNI_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define CSNI_NOINLINE __attribute__((noinline))
#else
#define CSNI_NOINLINE
#define CSNI_LIKELY(x) (x)
#define CSNI_UNLIKELY(x) (x)
#endif

/* ---- plans ---- */

/* What an abbreviation describes, as a bit so that a walk asks for several kinds with one test. */
enum {
    CSNI_KIND_UNIT = 1,
    CSNI_KIND_NAMESPACE = 2,     /* and modules */
    CSNI_KIND_TYPE = 4,          /* types that can contain functions: class, structure, union, interface */
    CSNI_KIND_SUBPROGRAM = 8,
    CSNI_KIND_DECLARATION = 16,  /* a subprogram whose every DIE of this abbreviation is a declaration */
    CSNI_KIND_INLINED = 32,
    CSNI_KIND_CALL_SITE = 64,
    CSNI_KIND_BLOCK = 128,       /* lexical block */
    CSNI_KIND_LEAF = 256,        /* has children of no interest and a sibling attribute to jump over them */
    CSNI_KIND_BAD = 512,         /* a code without abbreviation, or with a form that is not known */
    CSNI_KIND_CODELESS = CSNI_HEADERS_OF_CODELESS, /* a subprogram that is no declaration, but whose every DIE has no addresses */
    CSNI_KIND_VARIABLE = 1024    /* as CSNI_PLAN_VARIABLE: here too, for that one test */
};
enum {
    CSNI_KINDS_SCOPE = CSNI_KIND_NAMESPACE | CSNI_KIND_TYPE | CSNI_KIND_SUBPROGRAM | CSNI_KIND_DECLARATION |
                       CSNI_KIND_CODELESS | CSNI_KIND_INLINED,
    CSNI_KINDS_ALL = CSNI_KIND_UNIT | CSNI_KINDS_SCOPE | CSNI_KIND_CALL_SITE
};

enum {
    CSNI_PLAN_CHILDREN = 1,
    CSNI_PLAN_VARIABLE = 2,
    CSNI_PLAN_SIBLING = 4,
    CSNI_PLAN_SHORT_SIBLING = 8, /* the sibling attribute has 4 bytes, and all attributes are of fixed size */
    CSNI_PLAN_SIMPLE = 16,       /* all steps are numbers, flags and constants, each with a slot: see csni_plan_fields() */
    CSNI_PLAN_BLOCK = 32,        /* nothing is of variable size but one block: `size` is that of all else, with a length of one
                                  * byte, which stands at `sibling` */
    CSNI_PLAN_STRING = 64,       /* the same of one string, with its NUL */
    CSNI_PLAN_SPLIT = 128        /* SIMPLE but for one block, which nobody wants: see csni_plan_split() */
};
enum { CSNI_NO_SIBLING_OFFSET = 0xffff, CSNI_NO_SLOT = 0xff };

/* One abbreviation. 16 bytes, so that the table of a usual unit (100 to 150 abbreviations) stays in the first-level cache. */
struct csni_plan {
    uint32_t steps;       /* index of the first step; of a BAD plan the form, 0: there is no such code */
    uint16_t size;        /* bytes of all attributes where they are of fixed size (not PLAN_VARIABLE; else 0, but see PLAN_BLOCK) */
    uint16_t tag;
    uint16_t kind;        /* CSNI_KIND_ */
    uint16_t sibling;     /* where the sibling attribute stands after the code, or CSNI_NO_SIBLING_OFFSET */
    uint8_t flags;        /* CSNI_PLAN_ */
    int8_t nesting;       /* what a DIE does to the depth of the next: -1 null entry, +1 has children */
    uint8_t sibling_size; /* bytes */
    uint8_t fields;       /* of a SIMPLE or SPLIT plan: how many attributes it takes */
};

enum csni_step_op {
    CSNI_STEP_END,        /* the rest is `skip` bytes */
    CSNI_STEP_SKIP,       /* nothing but `skip` */
    CSNI_STEP_FIXED,      /* a number of `size` bytes */
    CSNI_STEP_BYTES,      /* `size` bytes that are no number: DW_FORM_data16 */
    CSNI_STEP_FLAG,       /* no bytes, value 1 */
    CSNI_STEP_CONST,      /* no bytes, the value is the next element */
    CSNI_STEP_ULEB,
    CSNI_STEP_SLEB,
    CSNI_STEP_ULEB_FIXED, /* a ULEB128 and a number of `size` bytes */
    CSNI_STEP_STRING,
    CSNI_STEP_BLOCK,      /* length as ULEB128 */
    CSNI_STEP_BLOCK_FIXED,/* length of `size` bytes */
    CSNI_STEP_INDIRECT,
    CSNI_STEP_UNKNOWN     /* in csni_abbrev_lookup only */
};

union csni_step {
    struct {
        uint8_t op;       /* enum csni_step_op */
        uint8_t slot;     /* enum csni_at, or CSNI_NO_SLOT */
        uint16_t form;
        uint16_t skip;    /* bytes of attributes of no interest before this one */
        uint16_t size;
    };
    struct {              /* an attribute of a SIMPLE or SPLIT plan; after it the value, of which nothing is read */
        uint16_t off;     /* from the first attribute */
        uint8_t field_slot;
        uint8_t bytes;    /* of the number; 0: the value is all there is */
        uint32_t field_form;
    };
    uint64_t value;       /* after CSNI_STEP_CONST */
};
/* Before the steps of a SIMPLE or SPLIT plan stands what they come to: the mask of attributes, then two elements for
 * each. */
static inline const union csni_step *csni_plan_fields(const struct csni_plan *plan, const union csni_step *steps) {
    return steps + plan->steps - 1 - 2 * (size_t)plan->fields;
}

/* Before those of a SPLIT plan, what its block is: `skip`, where it begins, with its length; `size`, of all attributes
 * without the block's bytes; `slot`, how many fields stand before it. Offsets of the others are less the block's bytes. */
static inline const union csni_step *csni_plan_split(const struct csni_plan *plan, const union csni_step *steps) {
    return csni_plan_fields(plan, steps) - 1;
}

typedef CSNI_VEC(union csni_step) csni_steps;

/* What the DIEs of an abbreviation can refer to, apart from their own unit. */
enum { CSNI_REFERS_ACROSS = 1, CSNI_REFERS_TO_SUPPLEMENT = 2 };

struct csni_abbrevs {
    uint64_t off;         /* in .debug_abbrev */
    uint8_t address_size, offset_size;
    bool version2;        /* DW_FORM_ref_addr has the size of an address */
    bool compiled, cross_references, supplement_references;
    csn_status status;    /* of compiling */
    uint32_t worker;      /* whose steps it uses */
    uint32_t plan_count;  /* plan 0 included: the null entry */
    const struct csni_plan *plans;
    const union csni_step *steps;
    const uint64_t *codes;/* NULL where plan i has code i; else the codes, ascending, of plans 1 to plan_count - 1 */
    void *memory;         /* of a table that was compiled alone */
    size_t memory_size;
};

/* What forms and attributes mean, by number, so that an abbreviation table is compiled by looking things up. Made once, for
 * the sizes that nearly all units have. Numbers that are too large stand in no table. */
enum { CSNI_FORMS = 0x30, CSNI_ATTRIBUTES = 0x90, CSNI_SLOT_TABLES = 7 };
struct csni_abbrev_lookup {
    bool made, version2;
    uint8_t address_size, offset_size;
    union csni_step forms[CSNI_FORMS];                       /* op CSNI_STEP_UNKNOWN where there is none */
    uint8_t slots[CSNI_SLOT_TABLES][CSNI_ATTRIBUTES];        /* enum csni_at, or CSNI_NO_SLOT */
};
void csni_abbrev_lookup_make(struct csni_abbrev_lookup *lookup, uint8_t address_size, uint8_t offset_size, bool version2);
/* The kind of a tag, CSNI_KIND_; 0: nobody asks for it. */
uint16_t csni_tag_kind(uint64_t tag);
/* Tags under which no function can be described. */
bool csni_tag_is_leaf(uint64_t tag);
/* The slot that an attribute of a DIE with that kind and tag fills, or CSNI_NO_SLOT. */
uint8_t csni_attribute_slot(uint16_t kind, uint64_t tag, uint64_t at);
/* Which of the lookup's tables of slots an abbreviation needs. */
unsigned csni_slot_table(uint16_t kind, uint64_t tag);

struct csni_signature {
    uint64_t signature;
    uint32_t unit;
};

struct csni_dwarf_private {
    struct csni_abbrevs *tables;
    size_t tables_capacity;
    csni_steps *steps;                 /* by worker, of tables compiled together; they share equal abbreviations' */
    struct csni_arena *plans;          /* by worker, of the same tables */
    uint32_t workers;
    struct csni_abbrev_lookup lookup;
    size_t units_capacity;
    struct csni_signature *signatures; /* ascending */
    size_t signature_count, signatures_capacity;
    struct csni_package *package;      /* NULL: not one */
    struct csni_signature *split_ids;  /* of the units of a .dwo file, ascending; made by csni_split_index() */
    size_t split_id_count, split_ids_capacity;
};

void csni_sort_signatures(struct csni_signature *s, size_t count);
/* The first with that signature of `count` that ascend, or NULL. */
const struct csni_signature *csni_find_signature(const struct csni_signature *s, size_t count, uint64_t signature);

/* How a form is stepped over: false for a form that is not known. */
bool csni_form_step(uint64_t form, const struct csni_abbrevs *abbrevs, union csni_step *out);

/* Plan of an abbreviation code; a BAD plan where there is none. */
const struct csni_plan *csni_plan_find_sparse(const struct csni_abbrevs *abbrevs, uint64_t code);
static inline const struct csni_plan *csni_plan_find(const struct csni_abbrevs *abbrevs, uint64_t code) {
    if (CSNI_LIKELY(!abbrevs->codes && code < abbrevs->plan_count)) return &abbrevs->plans[code];
    return csni_plan_find_sparse(abbrevs, code);
}

/* ---- reading by plans ---- */

static inline const char *csni_unit_section(const struct csni_unit *unit) {
    if (unit->dwarf->sections.is_supplement) return unit->in_types ? "supplement .debug_types" : "supplement .debug_info";
    return unit->in_types ? ".debug_types" : ".debug_info";
}
/* What stands at offset 0 of .debug_info, or would stand there, where a part of it is at hand. Only to add offsets within
 * the part to: as a number, because that place is in no object, and on a host of 32 bits may wrap around. Offsets
 * that count from the part's start would be in none of these ways odd, but cost a subtraction for each of the DIEs
 * that a walk passes. */
static inline const uint8_t *csni_info_base(const struct csni_dwarf_sections *sections) {
    return (const uint8_t *)((uintptr_t)sections->info.ptr - (uintptr_t)sections->info_from);
}
/* The same of the unit's section; and how far that reaches, as an offset. */
static inline const uint8_t *csni_unit_base(const struct csni_dwarf *dwarf, const struct csni_unit *unit) {
    return unit->in_types ? dwarf->sections.types.ptr : csni_info_base(&dwarf->sections);
}
static inline uint64_t csni_unit_section_end(const struct csni_dwarf *dwarf, const struct csni_unit *unit) {
    return unit->in_types ? dwarf->sections.types.size : dwarf->sections.info_from + dwarf->sections.info.size;
}

/* A number of 1 to 8 bytes, of which at least `left` can be read. One load where that is possible. */
static inline uint64_t csni_load(const uint8_t *p, size_t left, unsigned size, bool big) {
    if (CSNI_UNLIKELY(left < 8)) return csni_get_sized(p, size, big);
    uint64_t v = csni_get64(p, big);
    unsigned unused = 64 - 8 * size;
    return big ? v >> unused : v & (UINT64_MAX >> unused);
}

/* 0x80 in every byte that is 0, and in no other. */
static inline uint64_t csni_zero_bytes(uint64_t w) {
    const uint64_t low = UINT64_C(0x7f7f7f7f7f7f7f7f);
    return ~(((w & low) + low) | w | low);
}

/* A ULEB128 within [p, end): the byte after it, or NULL where it does not end. */
static inline const uint8_t *csni_uleb(const uint8_t *p, const uint8_t *end, uint64_t *out) {
    uint64_t v = 0;
    for (unsigned shift = 0; p < end; shift += 7) {
        uint8_t b = *p++;
        if (shift < 64) v |= (uint64_t)(b & 0x7f) << shift;
        if (!(b & 0x80)) {
            *out = v;
            return p;
        }
    }
    return NULL;
}

/* Reads the attributes at `off` of the unit's section into `out`: present, at, next. `off` is at most the unit's end. */
csn_status csni_die_read(const struct csni_dwarf *dwarf, const struct csni_unit *unit, const struct csni_plan *plan,
                         uint64_t off, struct csni_die *out, struct csn_error *err);
/* Steps over attributes of a VARIABLE plan: the offset after them, or UINT64_MAX where they do not end within the unit. */
uint64_t csni_die_pass(const struct csni_dwarf *dwarf, const struct csni_unit *unit, const struct csni_plan *plan,
                       uint64_t off);
/* The failure of a DIE at `off` that runs beyond its unit, or has a BAD plan. */
csn_status csni_die_fail(const struct csni_unit *unit, const struct csni_plan *plan, uint64_t off, uint64_t code,
                         struct csn_error *err);

/* Walks with a choice of kinds, until the depth is back at `floor`. */
csn_status csni_walk_step(struct csni_die_walk *walk, uint32_t want, uint32_t floor, struct csni_die *out,
                          struct csn_error *err);
/* Where the sibling attribute of a DIE leads, if that is forward and within the unit. */
bool csni_die_sibling(const struct csni_die *die, uint64_t *out);

/* Where a reference attribute leads; the DIE there is not read. As csni_die_follow() otherwise. */
csn_status csni_die_resolve(const struct csni_die *die, enum csni_at at, const struct csni_unit **unit, uint64_t *off,
                            struct csn_error *err);

/* ---- indexed sections ---- */

csn_status csni_string_at(struct csni_span table, const char *section, uint64_t off, struct csn_str *out,
                          struct csn_error *err);
csn_status csni_string_index(const struct csni_dwarf *dwarf, const struct csni_unit *unit, uint64_t index,
                             struct csn_str *out, struct csn_error *err);
csn_status csni_address_index(const struct csni_dwarf *dwarf, const struct csni_unit *unit, uint64_t index,
                              uint64_t *out, struct csn_error *err);
/* Where the list of DW_FORM_rnglistx begins. */
csn_status csni_rnglist_index(const struct csni_dwarf *dwarf, const struct csni_unit *unit, uint64_t index,
                              uint64_t *out, struct csn_error *err);

#endif
