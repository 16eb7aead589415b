/* Walking over the DIEs of a unit.
 *
 * Most of a conversion's time over .debug_info goes into stepping over DIEs that nobody asked for, 15 million of them in
 * a Linux kernel. So the loop of csni_walk_step() does for such a DIE: load the code, load its plan (16 bytes), add the
 * size, add the nesting. The null entry is plan 0 (size 0, nesting -1) and not a case of its own; a bound is checked once
 * per DIE, because a plan's size is small and the offset is a number that cannot overflow, not a pointer. */
#include "base/core/prefetch.h"
#include "dwarf/dwarf_private.h"

csn_status csni_die_walk_init(struct csni_die_walk *walk, const struct csni_dwarf *dwarf, const struct csni_unit *unit,
                              struct csn_error *err) {
    if (!unit->prepared)
        return csni_fail(err, CSN_E_ARGUMENT, csni_unit_section(unit), unit->off, "the unit has not been prepared");
    dwarf = unit->dwarf;
    const uint8_t *begin = csni_unit_base(dwarf, unit);
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
                                    .end = begin + unit->end, .closed = UINT32_MAX, .options.skip_types = c && (gnu || clang) };
    return CSN_OK;
}

/* Where the children of a DIE at `off` (after its code) end by its sibling attribute, or 0. */
CSNI_NOINLINE static uint64_t jump_target(const struct csni_die_walk *walk, const struct csni_plan *plan, uint64_t off,
                                          uint64_t end) {
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

/* A DIE that the loop has come to. */
struct met {
    const struct csni_plan *plan;
    uint64_t at, off; /* of its code, after it */
    int64_t depth, closed;
};

/* Reads where a DIE ends and its sibling attribute, as far as that takes no more than a look at its plan. */
CSNI_NOINLINE static csn_status read_nesting(const struct csni_die_walk *walk, const struct csni_plan *plan, uint64_t off,
                                             struct csni_die *out, struct csn_error *err) {
    const struct csni_unit *unit = walk->unit;
    bool short_sibling = plan->flags & CSNI_PLAN_SHORT_SIBLING;
    if (plan->flags & CSNI_PLAN_VARIABLE || (plan->flags & CSNI_PLAN_SIBLING && !short_sibling))
        return csni_die_read(walk->dwarf, unit, plan, off, out, err);
    if (plan->size > unit->end - off) return csni_die_fail(unit, NULL, off, 0, err);
    out->present = (uint64_t)short_sibling << CSNI_AT_SIBLING;
    out->next = off + plan->size;
    if (short_sibling) {
        uint32_t value = csni_get32(walk->begin + off + plan->sibling, walk->dwarf->sections.big_endian);
        out->at[CSNI_AT_SIBLING] = (struct csni_attr){ value, DW_FORM_ref4, 0 };
    }
    return CSN_OK;
}

/* Reads a DIE that was asked for, and moves the walk after it. This and what is rare are kept out of the loop's function,
 * which has no register to spare. */
CSNI_NOINLINE static csn_status give(struct csni_die_walk *walk, const struct met *met, struct csni_die *out,
                                     struct csn_error *err) {
    const struct csni_plan *plan = met->plan;
    if (CSNI_UNLIKELY(met->off > walk->unit->end)) return stop(walk, csni_die_fail(walk->unit, NULL, met->at, 0, err));
    csn_status status = walk->options.headers_only & plan->kind ? read_nesting(walk, plan, met->off, out, err)
                                                : csni_die_read(walk->dwarf, walk->unit, plan, met->off, out, err);
    if (status < 0) return stop(walk, status);
    out->unit = walk->unit;
    out->off = met->at;
    out->depth = (uint32_t)met->depth;
    out->closed = (uint32_t)met->closed;
    out->tag = plan->tag;
    out->has_children = plan->flags & CSNI_PLAN_CHILDREN;
    out->codeless = plan->kind & CSNI_KIND_CODELESS;
    uint64_t off = out->next;
    int64_t depth = met->depth;
    if (!(plan->kind & CSNI_KIND_LEAF && csni_die_sibling(out, &off))) depth += plan->nesting;
    walk->p = walk->begin + off;
    walk->depth = (uint32_t)depth;
    walk->closed = UINT32_MAX;
    return CSN_OK;
}

/* Where the children of a DIE that is not given end, or 0: it has none, or does not say. */
static inline uint64_t behind_children(const struct csni_die_walk *walk, const struct csni_plan *plan, uint64_t off,
                                       uint64_t end, bool big) {
    const unsigned both = CSNI_PLAN_SIBLING | CSNI_PLAN_CHILDREN, all = both | CSNI_PLAN_SHORT_SIBLING;
    const uint64_t past = off + plan->size;
    if (CSNI_LIKELY((plan->flags & all) == all && past <= end)) {
        /* Where it leads is checked as in jump_target(): forward, and within the unit. */
        uint64_t to = walk->unit->off + csni_get32(walk->begin + off + plan->sibling, big);
        return CSNI_LIKELY(to <= end && to >= past) ? to : 0;
    }
    return (plan->flags & both) == both ? jump_target(walk, plan, off, end) : 0;
}

/* A code that the fast way does not know, at `at`: its plan, NULL where the code does not end, and the offset after it. */
struct long_code {
    const struct csni_plan *plan;
    uint64_t off;
};

CSNI_NOINLINE static struct long_code read_long_code(const struct csni_die_walk *walk, uint64_t at) {
    uint64_t code;
    const uint8_t *p = csni_uleb(walk->begin + at, walk->begin + walk->unit->end, &code);
    if (!p) return (struct long_code){ NULL, 0 };
    return (struct long_code){ csni_plan_find(walk->unit->abbrevs, code), (uint64_t)(p - walk->begin) };
}

/* Ends the walk at a DIE without a plan that can be used: NULL, or a BAD one. */
CSNI_NOINLINE static csn_status stop_at_bad(struct csni_die_walk *walk, const struct csni_plan *plan, uint64_t at,
                                            struct csn_error *err) {
    uint64_t code = 0;
    csni_uleb(walk->begin + at, walk->begin + walk->unit->end, &code);
    return stop(walk, csni_die_fail(walk->unit, plan, at, code, err));
}

/* Three lines that the walk will soon come to. A third of its time was waiting for memory: processors see that it goes upwards, but
 * not across a page, nor after what siblings jump over. */
static inline void ask_ahead(const uint8_t *base, uint64_t off) {
    enum { AHEAD = 2048, LINES = 3 * 64 };
    csni_prefetch_lines((const void *)((uintptr_t)base + (uintptr_t)off + AHEAD), LINES);
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
    const uint32_t types = CSNI_KIND_TYPE | CSNI_KIND_DECLARATION, outside = walk->options.jump_over_types ? types : 0;
    const uint32_t looked_at = want | CSNI_KIND_LEAF | CSNI_KIND_BAD | (walk->options.skip_types ? types : 0);
    const uint32_t special = looked_at | CSNI_KIND_VARIABLE;
    uint64_t off = (uint64_t)(walk->p - base), at = off;
    int64_t depth = walk->depth, closed = depth < walk->closed ? depth : walk->closed;
    if (depth <= floor && off != unit->first_die) return CSN_NONE;
    /* Not below it: neither has more been closed, nor has the floor been reached. */
    int64_t mark = closed > floor ? closed : (int64_t)floor + 1;
    while (off < end) {
        at = off;
        ask_ahead(base, off);
        uint64_t code = base[off++];
        const struct csni_plan *plan;
        if (CSNI_LIKELY(code < limit)) {
            plan = &plans[code];
        } else {
            struct long_code found = read_long_code(walk, at);
            plan = found.plan;
            off = found.off;
            if (!plan) return stop_at_bad(walk, plan, at, err);
        }
        if (plan->kind & special) {
            if (CSNI_UNLIKELY(plan->kind & CSNI_KIND_BAD)) return stop_at_bad(walk, plan, at, err);
            bool passed = plan->kind & outside &&
                          (plan->flags & (CSNI_PLAN_SIBLING | CSNI_PLAN_CHILDREN)) != CSNI_PLAN_CHILDREN;
            if (plan->kind & want && !passed) return give(walk, &(struct met){ plan, at, off, depth, closed }, out, err);
            uint64_t target = plan->kind & looked_at ? behind_children(walk, plan, off, end, big) : 0;
            if (target) {
                off = target;
                continue;
            }
            if (plan->kind & CSNI_KIND_VARIABLE) {
                if (CSNI_UNLIKELY(off > end)) break;
                off = csni_die_pass(walk->dwarf, unit, plan, off) - plan->size;
            }
        }
        depth += plan->nesting;
        off += plan->size;
        if (depth < mark) {
            if (depth < closed) closed = depth;
            if (CSNI_UNLIKELY(depth <= floor)) break;
            mark = closed > floor ? closed : (int64_t)floor + 1;
        }
    }
    if (off > end) return stop_at_bad(walk, NULL, at, err);
    walk->p = base + off;
    walk->depth = off < end ? floor : 0;
    walk->closed = (uint32_t)closed;
    return CSN_NONE;
}

csn_status csni_die_walk_next(struct csni_die_walk *walk, struct csni_die *out, struct csn_error *err) {
    uint32_t want = CSNI_KINDS_ALL;
    if (walk->options.skip_types) want &= ~(uint32_t)(CSNI_KIND_TYPE | CSNI_KIND_DECLARATION);
    if (walk->options.skip_call_sites) want &= ~(uint32_t)CSNI_KIND_CALL_SITE;
    if (walk->options.skip_codeless) want &= ~(uint32_t)(CSNI_KIND_CODELESS | CSNI_KIND_INLINED);
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
