/* Names as the attributes of DIEs tell them, found through specifications and abstract origins. */
#include "dwarf/dwarf_plain_names.h"

#include "base/hash.h"


enum {
    MAX_CHAIN = 32,          /* DIEs looked at for one attribute */
    STRINGS_MIN = 1 << 8, STRINGS_MAX = 1 << 14, /* strings of .debug_str whose length is kept */
    STRING_BYTES = 16        /* of one of them, roughly */
};

csn_status csni_name_reader_init(struct csni_name_reader *reader, const struct csni_dwarf *dwarf, struct csn_error *err) {
    *reader = (struct csni_name_reader){ .dwarf = dwarf };
    reader->string_slots = STRINGS_MIN;
    while (reader->string_slots < STRINGS_MAX && reader->string_slots < dwarf->sections.str.size / STRING_BYTES)
        reader->string_slots *= 2;
    /* Present: a page that is read before it is written faults twice, and the second time interrupts all other threads. */
    reader->strings = csni_alloc_present(dwarf->alloc, reader->string_slots, sizeof *reader->strings);
    return reader->strings ? CSN_OK : csni_fail_memory(err, reader->string_slots * sizeof *reader->strings);
}

void csni_name_reader_deinit(struct csni_name_reader *reader, const struct csn_allocator *alloc) {
    csni_free(alloc, reader->strings, reader->string_slots * sizeof *reader->strings);
    reader->strings = NULL;
}

/* DIEs to look at, and those that were: the reference looks at a DIE, then at where its specification leads with all that
 * follows from there, then at its abstract origin. */
struct chain {
    struct csni_die_ref seen[MAX_CHAIN], waiting[MAX_CHAIN];
    uint32_t seen_count, waiting_count;
};

static void wait_for(struct chain *chain, struct csni_die_ref ref) {
    for (uint32_t i = 0; i < chain->seen_count; i++)
        if (chain->seen[i].off == ref.off && chain->seen[i].unit == ref.unit) return;
    if (chain->seen_count == MAX_CHAIN) return;
    chain->seen[chain->seen_count++] = ref;
    chain->waiting[chain->waiting_count++] = ref;
}

/* A part of a name that is in no file at hand. The name is better left out than half right. */
csn_status csni_check_missing(const struct csni_die *die, enum csni_at at, struct csn_error *err) {
    uint32_t form = die->at[at].form;
    bool supplement = form == DW_FORM_GNU_ref_alt || form == DW_FORM_ref_sup4 || form == DW_FORM_ref_sup8 ||
                      form == DW_FORM_GNU_strp_alt || form == DW_FORM_strp_sup;
    if (!supplement || die->unit->dwarf->supplement) return CSN_OK;
    return csni_fail(err, CSN_E_NOT_FOUND, csni_unit_section(die->unit), die->off,
                     "the DIE refers to a supplementary file that is not there");
}

/* The string at an offset of .debug_str. */
static inline csn_status string_at(struct csni_name_reader *r, struct csni_span str, uint64_t off, struct csn_str *out,
                                   struct csn_error *err) {
    struct csn_str *known = &r->strings[csni_hash_u64(off) & (r->string_slots - 1)];
    if (off >= str.size || known->ptr != (const char *)str.ptr + off)
        CSNI_TRY(csni_string_at(str, ".debug_str", off, known, err));
    *out = *known;
    return CSN_OK;
}

/* As csni_attr_string(). */
static csn_status string_of(struct csni_name_reader *r, const struct csni_die *die, enum csni_at at, struct csn_str *out,
                            struct csn_error *err) {
    const struct csni_attr *a = &die->at[at];
    if (a->form != DW_FORM_strp) return csni_attr_string(r->dwarf, die, at, out, err);
    return string_at(r, die->unit->dwarf->sections.str, a->value, out, err);
}

static csn_status take_names(struct csni_name_reader *r, const struct csni_die *die, struct csni_plain_names *names,
                             struct csn_error *err) {
    if (!names->has_linkage && csni_die_has(die, CSNI_AT_LINKAGE_NAME)) {
        names->has_linkage = true;
        CSNI_TRY(string_of(r, die, CSNI_AT_LINKAGE_NAME, &names->linkage, err));
    }
    if (!names->has_name && !names->linkage.len && csni_die_has(die, CSNI_AT_NAME)) {
        names->has_name = true;
        csn_status status = string_of(r, die, CSNI_AT_NAME, &names->name, err);
        return status == CSN_NONE ? csni_check_missing(die, CSNI_AT_NAME, err) : status;
    }
    return CSN_OK;
}

csn_status csni_find_names(struct csni_name_reader *r, const struct csni_die *die, bool want_linkage,
                           struct csni_plain_names *names, struct csn_error *err) {
    static const enum csni_at ways[] = { CSNI_AT_ABSTRACT_ORIGIN, CSNI_AT_SPECIFICATION, CSNI_AT_SIGNATURE };
    *names = (struct csni_plain_names){ .linkage = { "", 0 }, .name = { "", 0 }, .has_linkage = !want_linkage };
    struct chain chain;
    chain.seen_count = 1;
    chain.waiting_count = 0;
    chain.seen[0] = (struct csni_die_ref){ die->unit, die->off };
    struct csni_die other;
    for (;;) {
        r->cost += CSNI_NAME_STEP_COST;
        CSNI_TRY(take_names(r, die, names, err));
        if (names->linkage.len || (names->has_linkage && names->has_name)) return CSN_OK;
        for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
            struct csni_die_ref to;
            csn_status status = csni_die_resolve(die, ways[i], &to.unit, &to.off, err);
            if (status < 0) return status;
            if (status == CSN_OK) wait_for(&chain, to);
        }
        if (!chain.waiting_count) return CSN_OK;
        struct csni_die_ref next = chain.waiting[--chain.waiting_count];
        CSNI_TRY(csni_die_at(r->dwarf, next.unit, next.off, &other, err));
        die = &other;
    }
}

/* ---- the usual case ---- */

/* The fields of the DIE at a reference, and its first attribute: NULL where its plan is not SIMPLE, or anything is odd. */
static const union csni_step *fields_at(struct csni_die_ref ref, const uint8_t **attributes, size_t *count) {
    const struct csni_unit *unit = ref.unit;
    const struct csni_abbrevs *abbrevs = unit->abbrevs;
    if (ref.off < unit->first_die || ref.off >= unit->end || !abbrevs || !abbrevs->plans) return NULL;
    const uint8_t *p = csni_unit_base(unit->dwarf, unit) + ref.off;
    const struct csni_plan *plan = *p < 0x80 ? csni_plan_find(abbrevs, *p) : NULL;
    if (!plan || !plan->kind || !(plan->flags & CSNI_PLAN_SIMPLE)) return NULL;
    if (plan->size >= unit->end - ref.off) return NULL; /* with the code */
    *attributes = p + 1;
    *count = plan->fields;
    return csni_plan_fields(plan, abbrevs->steps);
}

/* The number that is the value of attribute `at`, if it is there in form `form`. */
static bool field_value(const union csni_step *fields, size_t count, const uint8_t *attributes, enum csni_at at, uint32_t form,
                        bool big, uint64_t *out) {
    const union csni_step *field = fields + 1, *end = field + 2 * count;
    while (field < end && field->field_slot != at) field += 2;
    if (field >= end || field->field_form != form) return false;
    *out = csni_get_sized(attributes + field->off, field->bytes, big);
    return true;
}

csn_status csni_quick_name(struct csni_name_reader *r, struct csni_die_ref ref, bool qualified, struct csn_str *out) {
    const uint64_t linkage = UINT64_C(1) << CSNI_AT_LINKAGE_NAME, name = UINT64_C(1) << CSNI_AT_NAME;
    const uint64_t specification = UINT64_C(1) << CSNI_AT_SPECIFICATION;
    const uint64_t elsewhere = specification | UINT64_C(1) << CSNI_AT_ABSTRACT_ORIGIN | UINT64_C(1) << CSNI_AT_SIGNATURE;
    const bool big = ref.unit->dwarf->sections.big_endian;
    const uint8_t *attributes;
    size_t count;
    const union csni_step *fields = fields_at(ref, &attributes, &count);
    if (!fields) return CSN_NONE;
    uint64_t off, cost = CSNI_NAME_STEP_COST;
    enum csni_at decides = CSNI_AT_LINKAGE_NAME;
    if (fields->value & name && !qualified && !(fields->value & (linkage | elsewhere))) {
        decides = CSNI_AT_NAME;
    } else if (!(fields->value & linkage)) { /* member functions have it where they are declared */
        if ((fields->value & elsewhere) != specification) return CSN_NONE;
        if (!field_value(fields, count, attributes, CSNI_AT_SPECIFICATION, DW_FORM_ref4, big, &off)) return CSN_NONE;
        ref.off = ref.unit->off + off;
        fields = fields_at(ref, &attributes, &count);
        if (!fields) return CSN_NONE;
        cost += CSNI_NAME_STEP_COST;
    }
    if (!field_value(fields, count, attributes, decides, DW_FORM_strp, big, &off)) return CSN_NONE;
    struct csn_str text;
    if (string_at(r, ref.unit->dwarf->sections.str, off, &text, NULL) != CSN_OK || !text.len) return CSN_NONE;
    r->cost += cost;
    *out = text;
    return CSN_OK;
}
