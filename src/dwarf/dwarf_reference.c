/* One DIE at its offset, and following references from one to another. */
#include "dwarf/dwarf_private.h"

#include <inttypes.h>

csn_status csni_die_at(const struct csni_dwarf *dwarf, const struct csni_unit *unit, uint64_t off, struct csni_die *out,
                       struct csn_error *err) {
    if (!unit) unit = csni_dwarf_unit_at(dwarf, off);
    if (!unit)
        return csni_fail(err, CSN_E_FORMAT, ".debug_info", off, "a DIE is to be here, the units of 0x%zx bytes have none",
                         dwarf->sections.info.size);
    dwarf = unit->dwarf;
    if (off < unit->first_die || off >= unit->end)
        return csni_fail(err, CSN_E_FORMAT, csni_unit_section(unit), off,
                         "a DIE is to be here, those of the unit are from 0x%" PRIx64 " to 0x%" PRIx64, unit->first_die,
                         unit->end);
    if (!unit->abbrevs || !unit->abbrevs->plans)
        return csni_fail(err, CSN_E_UNSUPPORTED, csni_unit_section(unit), off,
                         "the unit at 0x%" PRIx64 " cannot be read", unit->off);
    const uint8_t *base = csni_unit_base(dwarf, unit);
    uint64_t code = base[off], past = off + 1;
    if (CSNI_UNLIKELY(code >= 0x80)) {
        const uint8_t *p = csni_uleb(base + off, base + unit->end, &code);
        if (!p) return csni_die_fail(unit, NULL, off, 0, err);
        past = (uint64_t)(p - base);
    }
    const struct csni_plan *plan = csni_plan_find(unit->abbrevs, code);
    if (!code)
        return csni_fail(err, CSN_E_FORMAT, csni_unit_section(unit), off, "a DIE is to be here, there is a null entry");
    if (plan->kind & CSNI_KIND_BAD) return csni_die_fail(unit, plan, off, code, err);
    if (!plan->kind && !(plan->flags & CSNI_PLAN_VARIABLE)) {
        if (plan->size > unit->end - past) return csni_die_fail(unit, NULL, off, 0, err);
        out->present = 0;
        out->next = past + plan->size;
    } else {
        CSNI_TRY(csni_die_read(dwarf, unit, plan, past, out, err));
    }
    out->unit = unit;
    out->off = off;
    out->depth = out->closed = 0;
    out->tag = plan->tag;
    out->has_children = plan->flags & CSNI_PLAN_CHILDREN;
    out->codeless = plan->kind & CSNI_KIND_CODELESS;
    return CSN_OK;
}

static const struct csni_unit *unit_of_signature(const struct csni_dwarf *dwarf, uint64_t signature) {
    const struct csni_signature *s = csni_find_signature(dwarf->priv->signatures, dwarf->priv->signature_count, signature);
    return s ? &dwarf->units[s->unit] : NULL;
}

/* A reference to offset `off` of .debug_info of the image or of its supplement. */
static csn_status unit_to(const struct csni_dwarf *dwarf, const struct csni_die *die, uint64_t off,
                          const struct csni_unit **out, struct csn_error *err) {
    *out = csni_dwarf_unit_at(dwarf, off);
    if (*out) return CSN_OK;
    if (dwarf != die->unit->dwarf)
        return csni_fail(err, CSN_E_FORMAT, "supplement .debug_info", off,
                         "the DIE at .debug_info+0x%" PRIx64 " of the image refers to here, which is in no unit", die->off);
    return csni_fail(err, CSN_E_FORMAT, csni_unit_section(die->unit), die->off,
                     "the DIE refers to .debug_info+0x%" PRIx64 ", which is in no unit", off);
}

/* A reference by a form that leads out of the unit. */
static CSNI_NOINLINE csn_status resolve_far(const struct csni_die *die, const struct csni_attr *ref,
                                            const struct csni_unit **unit, uint64_t *off, struct csn_error *err) {
    const struct csni_unit *from = die->unit, *to = from;
    uint64_t value = ref->value;
    switch (ref->form) {
    case DW_FORM_ref_addr:
        if (from->in_types || value < from->off || value >= from->end)
            CSNI_TRY(unit_to(from->dwarf, die, value, &to, err));
        break;
    case DW_FORM_GNU_ref_alt: case DW_FORM_ref_sup4: case DW_FORM_ref_sup8:
        if (!from->dwarf->supplement) return CSN_NONE;
        CSNI_TRY(unit_to(from->dwarf->supplement, die, value, &to, err));
        break;
    case DW_FORM_ref_sig8:
        to = unit_of_signature(from->dwarf, value);
        if (!to) return CSN_NONE;
        value = to->type_off < to->end - to->off ? to->off + to->type_off : to->end;
        break;
    default: return CSN_NONE;
    }
    *unit = to;
    *off = value;
    return CSN_OK;
}

static CSNI_NOINLINE csn_status fail_beyond_unit(const struct csni_die *die, const struct csni_attr *ref,
                                                 struct csn_error *err) {
    return csni_fail(err, CSN_E_FORMAT, csni_unit_section(die->unit), die->off,
                     "the DIE refers to 0x%" PRIx64 " of its unit, which has 0x%" PRIx64 " bytes", ref->value,
                     die->unit->end - die->unit->off);
}

csn_status csni_die_resolve(const struct csni_die *die, enum csni_at at, const struct csni_unit **unit, uint64_t *off,
                            struct csn_error *err) {
    if (!csni_die_has(die, at)) return CSN_NONE;
    const struct csni_attr *ref = &die->at[at];
    if (ref->form < DW_FORM_ref1 || ref->form > DW_FORM_ref_udata) return resolve_far(die, ref, unit, off, err);
    if (CSNI_UNLIKELY(ref->value >= die->unit->end - die->unit->off)) return fail_beyond_unit(die, ref, err);
    *unit = die->unit;
    *off = die->unit->off + ref->value;
    return CSN_OK;
}

csn_status csni_die_far_target(const struct csni_die *die, enum csni_at at, const struct csni_unit **unit, uint64_t *off) {
    return csni_die_resolve(die, at, unit, off, NULL) == CSN_OK ? CSN_OK : CSN_NONE;
}

csn_status csni_die_follow(const struct csni_dwarf *dwarf, const struct csni_die *die, enum csni_at at,
                           struct csni_die *out, struct csn_error *err) {
    const struct csni_unit *unit;
    uint64_t off;
    csn_status status = csni_die_resolve(die, at, &unit, &off, err);
    return status == CSN_OK ? csni_die_at(dwarf, unit, off, out, err) : status;
}

/* ---- names in the supplement ---- */

static bool is_supplement_form(uint64_t form) {
    switch (form) {
    case DW_FORM_ref_sup4: case DW_FORM_ref_sup8: case DW_FORM_GNU_ref_alt: case DW_FORM_strp_sup: case DW_FORM_GNU_strp_alt:
        return true;
    default: return false;
    }
}

static bool refers_to_supplement(const struct csni_die *die) {
    static const enum csni_at named_by[] = { CSNI_AT_LINKAGE_NAME, CSNI_AT_NAME, CSNI_AT_ABSTRACT_ORIGIN, CSNI_AT_SPECIFICATION };
    for (size_t i = 0; i < sizeof named_by / sizeof *named_by; i++)
        if (csni_die_has(die, named_by[i]) && is_supplement_form(die->at[named_by[i]].form)) return true;
    return false;
}

bool csni_name_is_in_supplement(const struct csni_unit *unit, uint64_t off) {
    enum { HOPS_MAX = 16 };
    for (int hop = 0; hop < HOPS_MAX; hop++) {
        struct csni_die die;
        if (unit->dwarf->sections.is_supplement) return true;
        if (csni_die_at(unit->dwarf, unit, off, &die, NULL) < 0) return false;
        if (refers_to_supplement(&die)) return true;
        if (csni_die_target(&die, CSNI_AT_ABSTRACT_ORIGIN, &unit, &off) != CSN_OK &&
            csni_die_target(&die, CSNI_AT_SPECIFICATION, &unit, &off) != CSN_OK)
            return false;
    }
    return false;
}
