/* DIEs: walking a unit, reading one, following references.
 *
 * Most of a conversion's time over .debug_info goes into stepping over DIEs that nobody asked for, 15 million of them in
 * a Linux kernel. So the loop of csni_walk_step() does for such a DIE: load the code, load its plan (16 bytes), add the
 * size, add the nesting. The null entry is plan 0 (size 0, nesting -1) and not a case of its own; a bound is checked once
 * per DIE, because a plan's size is small and the offset is a number that cannot overflow, not a pointer. */
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

/* ---- reading by the plan ---- */

/* One step's place in the section. */
struct reader {
    const uint8_t *base;
    uint64_t off, end; /* of the unit */
    size_t size;       /* of the section */
    bool big;
    const struct csni_abbrevs *abbrevs;
};

static struct reader reader_at(const struct csni_dwarf *dwarf, const struct csni_unit *unit, uint64_t off) {
    struct csni_span s = csni_unit_span(dwarf, unit);
    return (struct reader){ s.ptr, off, unit->end, s.size, dwarf->sections.big_endian, unit->abbrevs };
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

static bool read_sleb(struct reader *r, uint64_t *out) {
    uint64_t from = r->off;
    if (!read_uleb(r, out)) return false;
    uint64_t bits = 7 * (r->off - from);
    if (bits < 64 && r->base[r->off - 1] & 0x40) *out |= ~UINT64_C(0) << bits;
    return true;
}

static bool read_number(struct reader *r, unsigned size, uint64_t *out) {
    if (size > r->end - r->off) return false;
    *out = csni_load(r->base + r->off, r->size - (size_t)r->off, size, r->big);
    r->off += size;
    return true;
}

/* A block of `size` bytes here. */
static bool read_bytes(struct reader *r, uint64_t size, struct csni_attr *at) {
    if (size > r->end - r->off) return false;
    at->value = r->off;
    at->size = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
    r->off += size;
    return true;
}

static bool read_string(struct reader *r, struct csni_attr *at) {
    const uint8_t *nul = r->off < r->end ? memchr(r->base + r->off, 0, (size_t)(r->end - r->off)) : NULL;
    if (!nul) return false;
    uint64_t size = (uint64_t)(nul - r->base) - r->off;
    return read_bytes(r, size, at) && (r->off++, true);
}

/* Everything but CSNI_STEP_FIXED, CSNI_STEP_CONST and CSNI_STEP_END, where `skip` has been done already. */
static bool read_variable(struct reader *r, const union csni_step *step, struct csni_attr *at) {
    uint64_t n;
    at->form = step->form;
    at->size = 0;
    switch (step->op) {
    case CSNI_STEP_FIXED: return read_number(r, step->size, &at->value);
    case CSNI_STEP_BYTES: return read_bytes(r, step->size, at);
    case CSNI_STEP_FLAG: at->value = 1; return true;
    case CSNI_STEP_ULEB: return read_uleb(r, &at->value);
    case CSNI_STEP_SLEB: return read_sleb(r, &at->value);
    case CSNI_STEP_ULEB_FIXED:
        if (!read_uleb(r, &at->value) || !read_number(r, step->size, &n)) return false;
        at->size = (uint32_t)n;
        return true;
    case CSNI_STEP_STRING: return read_string(r, at);
    case CSNI_STEP_BLOCK: return read_uleb(r, &n) && read_bytes(r, n, at);
    case CSNI_STEP_BLOCK_FIXED: return read_number(r, step->size, &n) && read_bytes(r, n, at);
    default: return false;
    }
}

/* DW_FORM_indirect: the form stands in front of the value. The constant of DW_FORM_implicit_const stands in abbreviations
 * only, and an indirect form may not be indirect again (DWARF 5, 7.5.3). */
static bool read_indirect(struct reader *r, struct csni_attr *at) {
    uint64_t form;
    union csni_step step;
    if (!read_uleb(r, &form) || !csni_form_step(form, r->abbrevs, &step)) return false;
    if (step.op == CSNI_STEP_INDIRECT || step.op == CSNI_STEP_CONST) return false;
    return read_variable(r, &step, at);
}

static bool read_step(struct reader *r, const union csni_step *step, struct csni_attr *at) {
    return step->op == CSNI_STEP_INDIRECT ? read_indirect(r, at) : read_variable(r, step, at);
}

uint64_t csni_die_pass(const struct csni_dwarf *dwarf, const struct csni_unit *unit, const struct csni_plan *plan,
                       uint64_t off) {
    struct reader r = reader_at(dwarf, unit, off);
    struct csni_attr ignored;
    for (const union csni_step *step = &unit->abbrevs->steps[plan->steps];; step++) {
        if (CSNI_UNLIKELY(step->skip > r.end - r.off)) return UINT64_MAX;
        r.off += step->skip;
        if (step->op == CSNI_STEP_END) return r.off;
        if (CSNI_LIKELY(step->op == CSNI_STEP_BLOCK)) {
            uint64_t n;
            if (!read_uleb(&r, &n) || n > r.end - r.off) return UINT64_MAX;
            r.off += n;
        } else if (step->op == CSNI_STEP_CONST) {
            step++;
        } else if (step->op != CSNI_STEP_SKIP && !read_step(&r, step, &ignored)) {
            return UINT64_MAX;
        }
    }
}

/* Reads by a SIMPLE plan: its bytes at p, and 8 behind them, have been found to be there. `big` is a constant where this is
 * inlined. */
static inline void read_simple(const uint8_t *p, const union csni_step *step, const bool big, struct csni_die *out) {
    uint64_t present = 0;
    for (;; step++) {
        const union csni_step now = *step;
        p += now.skip;
        uint64_t value = 1; /* of a flag */
        if (CSNI_LIKELY(now.op == CSNI_STEP_FIXED)) {
            unsigned unused = (64 - 8 * (unsigned)now.size) & 63;
            value = csni_get64(p, big);
            value = big ? value >> unused : value << unused >> unused;
            p += now.size;
        } else if (now.op == CSNI_STEP_END) {
            break;
        } else if (now.op == CSNI_STEP_CONST) {
            value = (++step)->value;
        } else if (now.op == CSNI_STEP_SKIP) {
            continue;
        }
        out->at[now.slot] = (struct csni_attr){ value, now.form, 0 };
        present |= UINT64_C(1) << (now.slot & 63);
    }
    out->present = present;
}

csn_status csni_die_read(const struct csni_dwarf *dwarf, const struct csni_unit *unit, const struct csni_plan *plan,
                         uint64_t off, struct csni_die *out, struct csn_error *err) {
    if (CSNI_LIKELY(plan->flags & CSNI_PLAN_SIMPLE)) {
        struct csni_span s = csni_unit_span(dwarf, unit);
        if (CSNI_UNLIKELY(plan->size > unit->end - off)) return csni_die_fail(unit, NULL, off, 0, err);
        if (CSNI_LIKELY(s.size - off >= plan->size + (size_t)8)) {
            const union csni_step *steps = &unit->abbrevs->steps[plan->steps];
            if (dwarf->sections.big_endian) read_simple(s.ptr + off, steps, true, out);
            else read_simple(s.ptr + off, steps, false, out);
            out->next = off + plan->size;
            return CSN_OK;
        }
    }
    struct reader r = reader_at(dwarf, unit, off);
    uint64_t present = 0;
    for (const union csni_step *step = &unit->abbrevs->steps[plan->steps];; step++) {
        struct csni_attr unwanted;
        struct csni_attr *at = step->slot == CSNI_NO_SLOT ? &unwanted : &out->at[step->slot];
        if (CSNI_UNLIKELY(step->skip > r.end - r.off)) goto beyond;
        r.off += step->skip;
        if (CSNI_LIKELY(step->op == CSNI_STEP_FIXED)) {
            if (CSNI_UNLIKELY(step->size > r.end - r.off)) goto beyond;
            at->value = csni_load(r.base + r.off, r.size - (size_t)r.off, step->size, r.big);
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

bool csni_die_sibling(const struct csni_die *die, uint64_t *out) {
    if (!csni_die_has(die, CSNI_AT_SIBLING)) return false;
    const struct csni_attr *at = &die->at[CSNI_AT_SIBLING];
    if (at->form < DW_FORM_ref1 || at->form > DW_FORM_ref_udata) return false;
    uint64_t room = die->unit->end - die->unit->off;
    if (at->value > room || die->unit->off + at->value < die->next) return false;
    *out = die->unit->off + at->value;
    return true;
}

/* ---- walking ---- */

csn_status csni_die_walk_init(struct csni_die_walk *walk, const struct csni_dwarf *dwarf, const struct csni_unit *unit,
                              struct csn_error *err) {
    if (!unit->prepared)
        return csni_fail(err, CSN_E_ARGUMENT, csni_unit_section(unit), unit->off, "the unit has not been prepared");
    dwarf = unit->dwarf;
    const uint8_t *begin = csni_unit_span(dwarf, unit).ptr;
    bool clang = false, c = false;
    switch (unit->language) {
    case DW_LANG_C89: case DW_LANG_C: case DW_LANG_C99: case DW_LANG_C11: case DW_LANG_C17: c = true; break;
    default: break;
    }
    /* Other front ends borrow a language code of C for languages whose structures contain functions: only producers that
     * are known to mean C count. */
    struct csn_str p = unit->producer;
    bool gnu = p.len > 5 && (memcmp(p.ptr, "GNU C", 5) == 0 || memcmp(p.ptr, "GNU G", 5) == 0) && p.ptr[5] != '+';
    for (size_t i = 0; c && !gnu && !clang && i + 6 <= p.len; i++) clang = memcmp(p.ptr + i, "clang ", 6) == 0;
    *walk = (struct csni_die_walk){ .dwarf = dwarf, .unit = unit, .begin = begin, .p = begin + unit->first_die,
                                    .end = begin + unit->end, .closed = UINT32_MAX, .in_c = c && (gnu || clang) };
    return CSN_OK;
}

/* Where the children of a DIE at `off` (behind its code) end by its sibling attribute, or 0. */
static uint64_t jump_target(const struct csni_die_walk *walk, const struct csni_plan *plan, uint64_t off, uint64_t end) {
    uint64_t target;
    if (CSNI_UNLIKELY(plan->sibling == CSNI_NO_SIBLING_OFFSET || plan->flags & CSNI_PLAN_VARIABLE)) {
        struct csni_die die;
        die.unit = walk->unit;
        if (csni_die_read(walk->dwarf, walk->unit, plan, off, &die, NULL) != CSN_OK) return 0;
        return csni_die_sibling(&die, &target) ? target : 0;
    }
    if (plan->size > end - off) return 0;
    const uint8_t *at = walk->begin + off + plan->sibling;
    uint64_t value = csni_load(at, (size_t)(walk->end - at), plan->sibling_size, walk->dwarf->sections.big_endian);
    if (value > end - walk->unit->off) return 0;
    target = walk->unit->off + value;
    return target >= off + plan->size ? target : 0;
}

/* Puts the walk at an end, for good. */
static csn_status stop(struct csni_die_walk *walk, csn_status status) {
    walk->p = walk->end;
    walk->depth = 0;
    return status;
}

csn_status csni_walk_step(struct csni_die_walk *walk, uint32_t want, uint32_t floor, struct csni_die *out,
                          struct csn_error *err) {
    const struct csni_unit *unit = walk->unit;
    const struct csni_abbrevs *abbrevs = unit->abbrevs;
    const struct csni_plan *plans = abbrevs->plans;
    const uint8_t *base = walk->begin;
    const uint64_t end = unit->end;
    const bool big = walk->dwarf->sections.big_endian;
    /* Codes of more than one byte, and tables with gaps, take the slow way: limit is what the fast one may index. */
    const uint64_t limit = abbrevs->codes ? 1 : abbrevs->plan_count < 0x80 ? abbrevs->plan_count : 0x80;
    const uint32_t special = want | CSNI_KIND_LEAF | CSNI_KIND_BAD |
                             (walk->in_c ? CSNI_KIND_TYPE | CSNI_KIND_DECLARATION : 0);
    const uint32_t outside = walk->outside ? CSNI_KIND_TYPE | CSNI_KIND_DECLARATION : 0;
    uint64_t off = (uint64_t)(walk->p - base), at = off;
    int64_t depth = walk->depth, closed = walk->closed;
    if (depth <= floor && off != unit->first_die) return CSN_NONE;
    while (off < end) {
        at = off;
        closed = depth < closed ? depth : closed;
        uint64_t code = base[off++];
        const struct csni_plan *plan;
        if (CSNI_LIKELY(code < limit)) {
            plan = &plans[code];
        } else {
            const uint8_t *p = csni_uleb(base + at, base + end, &code);
            off = p ? (uint64_t)(p - base) : end + 1;
            if (!p) break;
            plan = csni_plan_find(abbrevs, code);
        }
        if (plan->kind & special) {
            if (plan->kind & CSNI_KIND_BAD) return stop(walk, csni_die_fail(unit, plan, at, code, err));
            uint64_t target = 0;
            bool passed = plan->kind & outside && (plan->flags & (CSNI_PLAN_SIBLING | CSNI_PLAN_CHILDREN)) != CSNI_PLAN_CHILDREN;
            if (plan->kind & want && !passed) {
                if (CSNI_UNLIKELY(off > end)) break;
                csn_status status = csni_die_read(walk->dwarf, unit, plan, off, out, err);
                if (status < 0) return stop(walk, status);
                out->unit = unit;
                out->off = at;
                out->depth = (uint32_t)depth;
                out->closed = (uint32_t)closed;
                out->tag = plan->tag;
                out->has_children = plan->flags & CSNI_PLAN_CHILDREN;
                off = out->next;
                if (!(plan->kind & CSNI_KIND_LEAF && csni_die_sibling(out, &off))) depth += plan->nesting;
                walk->p = base + off;
                walk->depth = (uint32_t)depth;
                walk->closed = UINT32_MAX;
                return CSN_OK;
            }
            if ((plan->flags & (CSNI_PLAN_SIBLING | CSNI_PLAN_CHILDREN)) == (CSNI_PLAN_SIBLING | CSNI_PLAN_CHILDREN)) {
                if (CSNI_LIKELY(plan->flags & CSNI_PLAN_SHORT_SIBLING && off + plan->size <= end)) {
                    /* Where it leads is checked as in jump_target(): forward, and within the unit. */
                    uint64_t to = csni_get32(base + off + plan->sibling, big);
                    if (CSNI_LIKELY(to <= end - unit->off && unit->off + to >= off + plan->size)) {
                        off = unit->off + to;
                        continue;
                    }
                } else if ((target = jump_target(walk, plan, off, end)) != 0) {
                    off = target;
                    continue;
                }
            }
        }
        depth += plan->nesting;
        off += plan->size;
        if (plan->flags & CSNI_PLAN_VARIABLE) {
            if (CSNI_UNLIKELY(off > end)) break;
            off = csni_die_pass(walk->dwarf, unit, plan, off);
        }
        if (CSNI_UNLIKELY(depth <= floor)) break;
    }
    if (off > end) return stop(walk, csni_die_fail(unit, NULL, at, 0, err));
    walk->p = base + off;
    walk->depth = off < end ? floor : 0;
    walk->closed = (uint32_t)closed;
    return CSN_NONE;
}

csn_status csni_die_walk_next(struct csni_die_walk *walk, struct csni_die *out, struct csn_error *err) {
    uint32_t want = CSNI_KINDS_ALL;
    if (walk->in_c) want &= ~(uint32_t)(CSNI_KIND_TYPE | CSNI_KIND_DECLARATION);
    if (walk->no_call_sites) want &= ~(uint32_t)CSNI_KIND_CALL_SITE;
    return csni_walk_step(walk, want, 0, out, err);
}

csn_status csni_die_walk_skip_children(struct csni_die_walk *walk, const struct csni_die *die, struct csn_error *err) {
    if (!die->has_children || walk->depth <= die->depth) return CSN_OK;
    uint64_t target;
    if (csni_die_sibling(die, &target)) {
        walk->p = walk->begin + target;
        walk->depth = die->depth;
        return CSN_OK;
    }
    csn_status status = csni_walk_step(walk, 0, die->depth, NULL, err);
    return status < 0 ? status : CSN_OK;
}

/* ---- one DIE ---- */

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
        return csni_fail(err, CSN_E_UNSUPPORTED, csni_unit_section(unit), off, "the unit at 0x%" PRIx64 " cannot be read", unit->off);
    const uint8_t *base = csni_unit_span(dwarf, unit).ptr;
    uint64_t code = base[off], behind = off + 1;
    if (CSNI_UNLIKELY(code >= 0x80)) {
        const uint8_t *p = csni_uleb(base + off, base + unit->end, &code);
        if (!p) return csni_die_fail(unit, NULL, off, 0, err);
        behind = (uint64_t)(p - base);
    }
    const struct csni_plan *plan = csni_plan_find(unit->abbrevs, code);
    if (!code)
        return csni_fail(err, CSN_E_FORMAT, csni_unit_section(unit), off, "a DIE is to be here, there is a null entry");
    if (plan->kind & CSNI_KIND_BAD) return csni_die_fail(unit, plan, off, code, err);
    if (!plan->kind && !(plan->flags & CSNI_PLAN_VARIABLE)) {
        if (plan->size > unit->end - behind) return csni_die_fail(unit, NULL, off, 0, err);
        out->present = 0;
        out->next = behind + plan->size;
    } else {
        CSNI_TRY(csni_die_read(dwarf, unit, plan, behind, out, err));
    }
    out->unit = unit;
    out->off = off;
    out->depth = out->closed = 0;
    out->tag = plan->tag;
    out->has_children = plan->flags & CSNI_PLAN_CHILDREN;
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

csn_status csni_die_target(const struct csni_die *die, enum csni_at at, const struct csni_unit **unit, uint64_t *off) {
    return csni_die_resolve(die, at, unit, off, NULL) == CSN_OK ? CSN_OK : CSN_NONE;
}

csn_status csni_die_follow(const struct csni_dwarf *dwarf, const struct csni_die *die, enum csni_at at,
                           struct csni_die *out, struct csn_error *err) {
    const struct csni_unit *unit;
    uint64_t off;
    csn_status status = csni_die_resolve(die, at, &unit, &off, err);
    return status == CSN_OK ? csni_die_at(dwarf, unit, off, out, err) : status;
}
