/* Reading the attributes of a DIE by the plan of its abbreviation. */
#include "dwarf/dwarf_private.h"

#include <inttypes.h>

csn_status csni_die_fail(const struct csni_unit *unit, const struct csni_plan *plan, uint64_t off, uint64_t code,
                         struct csn_error *err) {
    const char *section = csni_unit_section(unit);
    if (plan && plan->kind & CSNI_KIND_BAD && plan->steps)
        return csni_fail(err, CSN_E_UNSUPPORTED, section, off,
                         "abbreviation %" PRIu64 " of the table at .debug_abbrev+0x%" PRIx64 " uses form 0x%" PRIx32
                         ", which is not known", code, unit->abbrev_off, plan->steps);
    if (plan && plan->kind & CSNI_KIND_BAD)
        return csni_fail(err, CSN_E_FORMAT, section, off,
                         "abbreviation %" PRIu64 " is not in the table at .debug_abbrev+0x%" PRIx64, code, unit->abbrev_off);
    return csni_fail(err, CSN_E_TRUNCATED, section, off, "DIE runs beyond the end of its unit at 0x%" PRIx64, unit->end);
}

/* One step's place in the section. */
struct reader {
    const uint8_t *base;
    uint64_t off, end; /* of the unit */
    uint64_t section_end;
    bool big;
    const struct csni_abbrevs *abbrevs;
};

static struct reader reader_at(const struct csni_dwarf *dwarf, const struct csni_unit *unit, uint64_t off) {
    return (struct reader){ csni_unit_base(dwarf, unit), off, unit->end, csni_unit_section_end(dwarf, unit),
                            dwarf->sections.big_endian, unit->abbrevs };
}

static bool read_uleb(struct reader *r, uint64_t *out) {
    if (CSNI_LIKELY(r->off < r->end && r->base[r->off] < 0x80)) {
        *out = r->base[r->off++];
        return true;
    }
    const uint8_t *p = csni_uleb(r->base + r->off, r->base + r->end, out);
    if (!p) return false;
    r->off = (uint64_t)(p - r->base);
    return true;
}

static bool read_form_sleb(struct reader *r, uint64_t *out) {
    uint64_t from = r->off;
    if (!read_uleb(r, out)) return false;
    uint64_t bits = 7 * (r->off - from);
    if (bits < 64 && r->base[r->off - 1] & 0x40) *out |= ~UINT64_C(0) << bits;
    return true;
}

static bool read_form_number(struct reader *r, unsigned size, uint64_t *out) {
    if (size > r->end - r->off) return false;
    *out = csni_load(r->base + r->off, (size_t)(r->section_end - r->off), size, r->big);
    r->off += size;
    return true;
}

/* A block of `size` bytes here. */
static bool read_form_bytes(struct reader *r, uint64_t size, struct csni_attr *at) {
    if (size > r->end - r->off) return false;
    at->value = r->off;
    at->size = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
    r->off += size;
    return true;
}

static bool read_form_string(struct reader *r, struct csni_attr *at) {
    const uint8_t *nul = r->off < r->end ? memchr(r->base + r->off, 0, (size_t)(r->end - r->off)) : NULL;
    if (!nul) return false;
    uint64_t size = (uint64_t)(nul - r->base) - r->off;
    return read_form_bytes(r, size, at) && (r->off++, true);
}

/* Everything but CSNI_STEP_FIXED, CSNI_STEP_CONST and CSNI_STEP_END, where `skip` has been done already. */
static bool read_form_variable(struct reader *r, const union csni_step *step, struct csni_attr *at) {
    uint64_t n;
    at->form = step->form;
    at->size = 0;
    switch (step->op) {
    case CSNI_STEP_FIXED: return read_form_number(r, step->size, &at->value);
    case CSNI_STEP_BYTES: return read_form_bytes(r, step->size, at);
    case CSNI_STEP_FLAG: at->value = 1; return true;
    case CSNI_STEP_ULEB: return read_uleb(r, &at->value);
    case CSNI_STEP_SLEB: return read_form_sleb(r, &at->value);
    case CSNI_STEP_ULEB_FIXED:
        if (!read_uleb(r, &at->value) || !read_form_number(r, step->size, &n)) return false;
        at->size = (uint32_t)n;
        return true;
    case CSNI_STEP_STRING: return read_form_string(r, at);
    case CSNI_STEP_BLOCK: return read_uleb(r, &n) && read_form_bytes(r, n, at);
    case CSNI_STEP_BLOCK_FIXED: return read_form_number(r, step->size, &n) && read_form_bytes(r, n, at);
    default: return false;
    }
}

/* DW_FORM_indirect: the form stands before the value. The constant of DW_FORM_implicit_const stands in abbreviations
 * only, and an indirect form may not be indirect again (DWARF 5, 7.5.3). */
static bool read_indirect(struct reader *r, struct csni_attr *at) {
    uint64_t form;
    union csni_step step;
    if (!read_uleb(r, &form) || !csni_form_step(form, r->abbrevs, &step)) return false;
    if (step.op == CSNI_STEP_INDIRECT || step.op == CSNI_STEP_CONST) return false;
    return read_form_variable(r, &step, at);
}

static bool read_step(struct reader *r, const union csni_step *step, struct csni_attr *at) {
    return step->op == CSNI_STEP_INDIRECT ? read_indirect(r, at) : read_form_variable(r, step, at);
}

/* The offset after the attributes that steps tell of, or UINT64_MAX where they do not end. */
static uint64_t pass_steps(struct reader *r, const union csni_step *step) {
    const uint8_t *const base = r->base;
    const uint64_t end = r->end;
    uint64_t off = r->off;
    for (;; step++) {
        if (CSNI_UNLIKELY(step->skip > end - off)) return UINT64_MAX;
        off += step->skip;
        if (step->op == CSNI_STEP_END) return off;
        if (CSNI_LIKELY(step->op == CSNI_STEP_BLOCK && off < end && base[off] < 0x80 && base[off] < end - off)) {
            off += 1 + base[off];
        } else if (step->op == CSNI_STEP_CONST) {
            step++;
        } else if (step->op != CSNI_STEP_SKIP) {
            struct csni_attr ignored;
            r->off = off;
            if (!read_step(r, step, &ignored)) return UINT64_MAX;
            off = r->off;
        }
    }
}

uint64_t csni_die_pass(const struct csni_dwarf *dwarf, const struct csni_unit *unit, const struct csni_plan *plan,
                       uint64_t off) {
    if (CSNI_LIKELY(plan->flags & (CSNI_PLAN_BLOCK | CSNI_PLAN_STRING) && (uint64_t)plan->size + 8 <= unit->end - off)) {
        const uint8_t *at = csni_unit_base(dwarf, unit) + off + plan->sibling;
        uint64_t zeros = csni_zero_bytes(csni_get64(at, false)), past = off + plan->size;
        if (plan->flags & CSNI_PLAN_BLOCK) {
            if (CSNI_LIKELY(*at < 0x80)) return *at <= unit->end - past ? past + *at : UINT64_MAX;
        } else if (CSNI_LIKELY(zeros)) { /* compilers leave names of up to three letters in .debug_info */
            return past + (unsigned)__builtin_ctzll(zeros) / 8;
        }
    }
    struct reader r = reader_at(dwarf, unit, off);
    return pass_steps(&r, &unit->abbrevs->steps[plan->steps]);
}

/* Reads `count` fields: the bytes of their attributes at p, and 8 after them, have been found to be there. `big` is a constant
 * where this is inlined. */
static inline void read_form_fields(const uint8_t *p, const union csni_step *field, size_t count, const bool big,
                                    struct csni_die *out) {
    static const uint64_t masks[] = { 0, 0xff, 0xffff, 0xffffff, UINT32_MAX, UINT64_MAX >> 24, UINT64_MAX >> 16,
                                      UINT64_MAX >> 8, UINT64_MAX };
    for (const union csni_step *end = field + 2 * count; field < end; field += 2) {
        uint64_t value = csni_get64(p + field->off, big);
        if (big) value >>= (64 - 8 * (unsigned)field->bytes) & 63;
        out->at[field->field_slot] = (struct csni_attr){ (value & masks[field->bytes]) | field[1].value, field->field_form, 0 };
    }
}

/* Reads by the steps of a plan. */
static CSNI_NOINLINE csn_status read_steps(const struct csni_dwarf *dwarf, const struct csni_unit *unit,
                                           const union csni_step *step, uint64_t off, struct csni_die *out,
                                           struct csn_error *err) {
    struct reader r = reader_at(dwarf, unit, off);
    uint64_t present = 0;
    for (;; step++) {
        struct csni_attr unwanted;
        struct csni_attr *at = step->slot == CSNI_NO_SLOT ? &unwanted : &out->at[step->slot];
        if (CSNI_UNLIKELY(step->skip > r.end - r.off)) goto beyond;
        r.off += step->skip;
        if (CSNI_LIKELY(step->op == CSNI_STEP_FIXED)) {
            if (CSNI_UNLIKELY(step->size > r.end - r.off)) goto beyond;
            at->value = csni_load(r.base + r.off, (size_t)(r.section_end - r.off), step->size, r.big);
            at->form = step->form;
            at->size = 0;
            r.off += step->size;
        } else if (step->op == CSNI_STEP_END) {
            break;
        } else if (step->op == CSNI_STEP_CONST) {
            *at = (struct csni_attr){ step[1].value, step->form, 0 };
            present |= UINT64_C(1) << (step->slot & 63);
            step++;
            continue;
        } else if (step->op == CSNI_STEP_SKIP) {
            continue;
        } else if (!read_step(&r, step, at)) {
            goto beyond;
        }
        present |= UINT64_C(1) << (step->slot & 63);
    }
    /* A step without a slot sets bit 63 (0xff & 63), which no attribute has. */
    out->present = present & ((UINT64_C(1) << CSNI_AT_COUNT) - 1);
    out->next = r.off;
    return CSN_OK;
beyond:
    return csni_die_fail(unit, NULL, off, 0, err);
}

/* Of a SPLIT plan, whose block is short. False: nothing has been read, and the steps have to tell why. */
static CSNI_NOINLINE bool read_split(const struct csni_dwarf *dwarf, const struct csni_unit *unit,
                                     const struct csni_plan *plan, uint64_t off, struct csni_die *out) {
    const union csni_step *steps = unit->abbrevs->steps, *split = csni_plan_split(plan, steps), *fields = split + 1;
    const uint64_t left = unit->end - off;
    if (split->size > left) return false;
    const uint8_t *p = csni_unit_base(dwarf, unit) + off;
    unsigned block = p[split->skip];
    if (block >= 0x80 || split->size + block > left) return false;
    if (csni_unit_section_end(dwarf, unit) - off < split->size + block + (uint64_t)8) return false;
    const union csni_step *past = fields + 1 + 2 * (size_t)split->slot;
    const bool big = dwarf->sections.big_endian;
    read_form_fields(p, fields + 1, split->slot, big, out);
    read_form_fields(p + block, past, (size_t)plan->fields - split->slot, big, out);
    out->present = fields->value;
    out->next = off + split->size + block;
    return true;
}

csn_status csni_die_read(const struct csni_dwarf *dwarf, const struct csni_unit *unit, const struct csni_plan *plan,
                         uint64_t off, struct csni_die *out, struct csn_error *err) {
    if (CSNI_LIKELY(plan->flags & CSNI_PLAN_SIMPLE)) {
        if (CSNI_UNLIKELY(plan->size > unit->end - off)) return csni_die_fail(unit, NULL, off, 0, err);
        if (CSNI_LIKELY(csni_unit_section_end(dwarf, unit) - off >= plan->size + (uint64_t)8)) {
            const uint8_t *p = csni_unit_base(dwarf, unit) + off;
            const union csni_step *fields = csni_plan_fields(plan, unit->abbrevs->steps);
            if (dwarf->sections.big_endian) read_form_fields(p, fields + 1, plan->fields, true, out);
            else read_form_fields(p, fields + 1, plan->fields, false, out);
            out->present = fields->value;
            out->next = off + plan->size;
            return CSN_OK;
        }
    } else if (plan->flags & CSNI_PLAN_SPLIT && read_split(dwarf, unit, plan, off, out)) {
        return CSN_OK;
    }
    return read_steps(dwarf, unit, &unit->abbrevs->steps[plan->steps], off, out, err);
}

bool csni_die_sibling(const struct csni_die *die, uint64_t *out) {
    if (!csni_die_has(die, CSNI_AT_SIBLING)) return false;
    const struct csni_attr *at = &die->at[CSNI_AT_SIBLING];
    if (at->form < DW_FORM_ref1 || at->form > DW_FORM_ref_udata) return false;
    uint64_t capacity = die->unit->end - die->unit->off;
    if (at->value > capacity || die->unit->off + at->value < die->next) return false;
    *out = die->unit->off + at->value;
    return true;
}
