/* One abbreviation, compiled into a plan: what to take, what to step over, and how far. */
#include "dwarf/dwarf_abbrev_plan.h"

#include <inttypes.h>

/* As bits of CSNI_REFERS_. */
static uint8_t references_of(uint8_t slot, uint64_t form) {
    switch (form) {
    case DW_FORM_ref_addr: case DW_FORM_ref_sig8: return CSNI_REFERS_ACROSS;
    case DW_FORM_ref_sup4: case DW_FORM_ref_sup8: case DW_FORM_GNU_ref_alt: case DW_FORM_strp_sup:
    case DW_FORM_GNU_strp_alt: return CSNI_REFERS_TO_SUPPLEMENT;
    case DW_FORM_indirect:
        if (slot == CSNI_AT_SPECIFICATION || slot == CSNI_AT_ABSTRACT_ORIGIN || slot == CSNI_AT_CALL_ORIGIN)
            return CSNI_REFERS_ACROSS | CSNI_REFERS_TO_SUPPLEMENT;
        return 0;
    default: return 0;
    }
}

/* The attributes of one abbreviation, as they are gathered. */
struct draft {
    struct csni_plan plan;
    size_t first_step, linkage_step;
    uint64_t skip;    /* since the last step */
    uint64_t size;    /* fixed bytes so far */
    uint64_t taken;   /* slots that have their attribute: the first one counts */
    bool variable, mips_name;
    bool declaration; /* says so in every DIE */
    uint32_t variable_count; /* attributes of variable size */
    uint8_t variable_op;     /* of the last one, */
    bool variable_taken;     /* whether it fills a slot, */
    uint64_t variable_at;    /* and the fixed bytes before it */
    uint8_t references; /* CSNI_REFERS_ */
    bool odd;         /* there is a step without a slot, or for bytes that are no number */
};

static bool push_skip(struct csni_plan_compiler *cc, struct draft *d) {
    for (; d->skip > UINT16_MAX; d->skip -= UINT16_MAX) {
        union csni_step step = { .op = CSNI_STEP_SKIP, .slot = CSNI_NO_SLOT, .skip = UINT16_MAX };
        if (!csni_vec_push(cc->steps, step)) return false;
    }
    return true;
}

static bool push_step(struct csni_plan_compiler *cc, struct draft *d, union csni_step step, int64_t constant) {
    if (!push_skip(cc, d)) return false;
    step.skip = (uint16_t)d->skip;
    d->skip = 0;
    if (!csni_vec_push(cc->steps, step)) return false;
    union csni_step value = { .value = (uint64_t)constant };
    return step.op != CSNI_STEP_CONST || csni_vec_push(cc->steps, value);
}

/* Whether an attribute fills the slot it is for: the first of a kind does, but DW_AT_MIPS_linkage_name before
 * DW_AT_linkage_name. */
static uint8_t claim_slot(struct csni_plan_compiler *cc, struct draft *d, uint64_t at, uint8_t slot) {
    if (slot == CSNI_NO_SLOT) return slot;
    if (d->taken >> slot & 1) {
        if (at != DW_AT_MIPS_linkage_name || d->mips_name) return CSNI_NO_SLOT;
        cc->steps->items[d->linkage_step].slot = CSNI_NO_SLOT;
        d->odd = true;
    }
    if (at == DW_AT_MIPS_linkage_name) d->mips_name = true;
    d->taken |= UINT64_C(1) << slot;
    return slot;
}

static void note_sibling(struct draft *d, const union csni_step *step) {
    if (step->form < DW_FORM_ref1 || step->form > DW_FORM_ref_udata) return;
    d->plan.flags |= CSNI_PLAN_SIBLING;
    if (d->variable || step->op != CSNI_STEP_FIXED || d->size >= CSNI_NO_SIBLING_OFFSET) return;
    d->plan.sibling = (uint16_t)d->size;
    d->plan.sibling_size = (uint8_t)step->size;
}

/* `slot`: what the attribute is for. False when out of memory. */
static bool add_attribute(struct csni_plan_compiler *cc, struct draft *d, uint64_t at, uint64_t form, uint8_t slot,
                          int64_t constant) {
    union csni_step step;
    if (d->plan.kind == CSNI_KIND_BAD) return true;
    if (CSNI_LIKELY(form < CSNI_FORMS)) step = cc->lookup->forms[form];
    else if (!csni_form_step(form, cc->table, &step)) step.op = CSNI_STEP_UNKNOWN;
    if (step.op == CSNI_STEP_UNKNOWN) {
        d->plan.kind = CSNI_KIND_BAD;
        d->plan.steps = form > UINT32_MAX ? UINT32_MAX : (uint32_t)form;
        return true;
    }
    step.slot = claim_slot(cc, d, at, slot);
    if (step.slot == CSNI_AT_SIBLING) note_sibling(d, &step);
    if (step.slot != CSNI_NO_SLOT) d->references |= references_of(step.slot, form);
    if (step.slot == CSNI_AT_LINKAGE_NAME) {
        if (!push_skip(cc, d)) return false;
        d->linkage_step = cc->steps->count;
    }
    if (step.slot == CSNI_AT_DECLARATION && d->plan.kind == CSNI_KIND_SUBPROGRAM && step.op == CSNI_STEP_FLAG)
        d->declaration = true;
    bool fixed = step.op <= CSNI_STEP_CONST;
    uint64_t size = step.op == CSNI_STEP_FIXED || step.op == CSNI_STEP_BYTES ? step.size : 0;
    d->size += size;
    d->variable |= !fixed;
    if (CSNI_UNLIKELY(!fixed)) {
        d->variable_count++;
        d->variable_op = step.op;
        d->variable_taken = step.slot != CSNI_NO_SLOT;
        d->variable_at = d->size;
    }
    d->odd |= step.op == CSNI_STEP_BYTES;
    if (fixed && step.slot == CSNI_NO_SLOT) {
        d->skip += size;
        return true;
    }
    return push_step(cc, d, step, constant);
}

/* Puts the fields of a SIMPLE or SPLIT plan before its steps, which are the last ones. */
static bool put_fields(struct csni_plan_compiler *cc, struct csni_plan *plan) {
    union csni_step fields[2 + 2 * CSNI_AT_COUNT] = { { .value = 0 }, { .value = 0 } };
    size_t count = 2, steps = cc->steps->count - plan->steps, off = 0;
    const union csni_step *step = &cc->steps->items[plan->steps];
    for (; step->op != CSNI_STEP_END; step++) {
        unsigned size = step->op == CSNI_STEP_FIXED ? step->size : step->op == CSNI_STEP_BLOCK;
        off += step->skip;
        if (step->op == CSNI_STEP_BLOCK) {
            fields[0] = (union csni_step){ .slot = (uint8_t)(count / 2 - 1), .skip = (uint16_t)off };
        } else if (step->op != CSNI_STEP_SKIP) {
            fields[1].value |= UINT64_C(1) << step->slot;
            fields[count++] = (union csni_step){ .off = (uint16_t)off, .field_slot = step->slot, .bytes = (uint8_t)size,
                                                 .field_form = step->form };
            fields[count++].value = step->op == CSNI_STEP_CONST ? (++step)->value : step->op == CSNI_STEP_FLAG;
        }
        off += size;
    }
    fields[0].size = (uint16_t)(off + step->skip);
    if (!csni_vec_reserve(cc->steps, cc->steps->count + count)) return false;
    union csni_step *at = &cc->steps->items[plan->steps];
    memmove(at + count, at, steps * sizeof *at);
    memcpy(at, fields, count * sizeof *at);
    cc->steps->count += count;
    plan->steps += (uint32_t)count;
    plan->fields = (uint8_t)(count / 2 - 1);
    return true;
}

/* Ends a draft: the plan as it is kept. */
static bool finish_plan(struct csni_plan_compiler *cc, struct draft *d) {
    struct csni_plan *plan = &d->plan;
    if (plan->kind == CSNI_KIND_BAD) {
        cc->steps->count = d->first_step;
        return true;
    }
    if (d->size > UINT16_MAX) d->variable = true;
    const uint64_t code = UINT64_C(1) << CSNI_AT_LOW_PC | UINT64_C(1) << CSNI_AT_RANGES;
    if (plan->kind == CSNI_KIND_SUBPROGRAM && !(d->taken & code))
        plan->kind = d->declaration ? CSNI_KIND_DECLARATION : CSNI_KIND_CODELESS;
    bool jump = plan->flags & CSNI_PLAN_CHILDREN && plan->flags & CSNI_PLAN_SIBLING && csni_tag_is_leaf(plan->tag);
    if (jump) plan->kind |= CSNI_KIND_LEAF;
    plan->size = d->variable ? 0 : (uint16_t)d->size;
    if (d->variable) plan->flags |= CSNI_PLAN_VARIABLE;
    bool block = d->variable_op == CSNI_STEP_BLOCK, string = d->variable_op == CSNI_STEP_STRING;
    if (d->variable_count == 1 && (block || string) && !(plan->flags & CSNI_PLAN_SIBLING) && d->size < UINT16_MAX) {
        plan->flags |= block ? CSNI_PLAN_BLOCK : CSNI_PLAN_STRING;
        plan->sibling = (uint16_t)d->variable_at;
        plan->size = (uint16_t)(d->size + 1);
    }
    if (!d->variable && plan->sibling_size == 4) plan->flags |= CSNI_PLAN_SHORT_SIBLING;
    if (!d->variable && !d->odd) plan->flags |= CSNI_PLAN_SIMPLE;
    if (d->variable_count == 1 && block && !d->variable_taken && !d->odd && d->size < UINT16_MAX && plan->kind & CSNI_KINDS_ALL)
        plan->flags |= CSNI_PLAN_SPLIT;
    if (!plan->kind && !d->variable) {
        /* Nothing is ever taken: one END step does for all of them. */
        cc->steps->count = d->first_step;
        plan->steps = 0;
        return true;
    }
    if (d->variable) plan->kind |= CSNI_KIND_VARIABLE;
    if (!push_skip(cc, d)) return false;
    union csni_step end = { .op = CSNI_STEP_END, .slot = CSNI_NO_SLOT, .skip = (uint16_t)d->skip };
    plan->steps = (uint32_t)d->first_step;
    if (!csni_vec_push(cc->steps, end)) return false;
    return !(plan->flags & (CSNI_PLAN_SIMPLE | CSNI_PLAN_SPLIT)) || put_fields(cc, plan);
}

csn_status csni_abbrev_truncated(const struct csni_plan_compiler *cc, uint64_t code, struct csn_error *err) {
    return csni_fail(err, CSN_E_TRUNCATED, ".debug_abbrev", cc->c.failed_at,
                     "abbreviation %" PRIu64 " of the table at 0x%" PRIx64 " ends past the section's %zu bytes", code,
                     cc->table->off, (size_t)(cc->c.end - cc->c.begin));
}

/* Attributes whose numbers and constant are of one byte each, which nearly all are, until the end of the list or one that is
 * not. Those that nobody wants, of a fixed size, cost no more than two looks into tables. CSN_NONE: at the end of the list. */
static inline csn_status short_attributes(struct csni_plan_compiler *cc, struct draft *d, const uint8_t *slots) {
    const uint8_t *p = cc->c.p, *const end = cc->c.end;
    csn_status status = CSN_OK;
    for (;;) {
        if (CSNI_UNLIKELY(end - p < 3)) break;
        unsigned at = p[0], form = p[1], constant = 0;
        if (CSNI_UNLIKELY((at | form) & 0x80 || !at || !form || form >= CSNI_FORMS)) {
            if (at | form) break;
            p += 2;
            status = CSN_NONE;
            break;
        }
        const union csni_step *step = &cc->lookup->forms[form];
        if (step->op == CSNI_STEP_CONST) {
            constant = p[2];
            if (constant & 0x80) break;
            p++;
        }
        p += 2;
        if (CSNI_LIKELY(slots[at] == CSNI_NO_SLOT && step->op <= CSNI_STEP_CONST)) {
            d->size += step->size;
            d->skip += step->size;
        } else if (!add_attribute(cc, d, at, form, slots[at], (int64_t)(constant ^ 0x40) - 0x40)) {
            status = CSN_E_MEMORY;
            break;
        }
    }
    cc->c.p = p;
    return status;
}

csn_status csni_plan_compile(struct csni_plan_compiler *cc, uint64_t code, struct csni_plan *out, uint8_t *references,
                             struct csn_error *err) {
    struct csni_cursor *c = &cc->c;
    struct draft d = { .first_step = cc->steps->count };
    uint64_t tag = csni_cursor_uleb(c);
    uint8_t children = csni_cursor_u8(c);
    d.plan.tag = tag > UINT16_MAX ? UINT16_MAX : (uint16_t)tag;
    d.plan.kind = csni_tag_kind(tag);
    d.plan.sibling = CSNI_NO_SIBLING_OFFSET;
    d.plan.flags = children ? CSNI_PLAN_CHILDREN : 0;
    d.plan.nesting = children ? 1 : 0;
    const uint8_t *slots = cc->lookup->slots[csni_slot_table(d.plan.kind, tag)];
    for (;;) {
        csn_status status = short_attributes(cc, &d, slots);
        if (status < 0) return csni_fail_memory(err, sizeof(union csni_step));
        if (status == CSN_NONE) break;
        uint64_t at_off = csni_cursor_off(c), at = csni_cursor_uleb(c), form = csni_cursor_uleb(c);
        int64_t constant = form == DW_FORM_implicit_const ? csni_cursor_sleb(c) : 0;
        if (c->failed) return csni_abbrev_truncated(cc, code, err);
        if (!at && !form) break;
        if (!at || !form)
            return csni_fail(err, CSN_E_FORMAT, ".debug_abbrev", at_off,
                             "abbreviation %" PRIu64 " has attribute 0x%" PRIx64 " with form 0x%" PRIx64, code, at, form);
        uint8_t slot = CSNI_LIKELY(at < CSNI_ATTRIBUTES) ? slots[at] : csni_attribute_slot(d.plan.kind, tag, at);
        if (!add_attribute(cc, &d, at, form, slot, constant)) return csni_fail_memory(err, sizeof(union csni_step));
    }
    if (!finish_plan(cc, &d)) return csni_fail_memory(err, sizeof(union csni_step));
    *out = d.plan;
    *references = d.references;
    return CSN_OK;
}
