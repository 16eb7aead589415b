/* Abbreviation tables, compiled into plans: what to take, what to step over, and how far. */
#include "base/checked.h"
#include "dwarf/dwarf_private.h"

#include <inttypes.h>

typedef CSNI_VEC(struct csni_plan) plan_vec;
typedef CSNI_VEC(union csni_step) step_vec;
typedef CSNI_VEC(uint64_t) code_vec;

struct compiler {
    struct csni_abbrevs *table;
    const struct csni_abbrev_lookup *lookup;
    struct csni_cursor c;
    plan_vec plans;
    step_vec steps;
    code_vec codes;
    bool dense;
};

bool csni_form_step(uint64_t form, const struct csni_abbrevs *abbrevs, union csni_step *out) {
    uint8_t op = CSNI_STEP_FIXED;
    uint16_t size = 0;
    switch (form) {
    case DW_FORM_addr: size = abbrevs->address_size; break;
    case DW_FORM_ref_addr: size = abbrevs->version2 ? abbrevs->address_size : abbrevs->offset_size; break;
    case DW_FORM_strp: case DW_FORM_sec_offset: case DW_FORM_strp_sup: case DW_FORM_line_strp: case DW_FORM_GNU_ref_alt:
    case DW_FORM_GNU_strp_alt: size = abbrevs->offset_size; break;
    case DW_FORM_data1: case DW_FORM_flag: case DW_FORM_ref1: case DW_FORM_strx1: case DW_FORM_addrx1: size = 1; break;
    case DW_FORM_data2: case DW_FORM_ref2: case DW_FORM_strx2: case DW_FORM_addrx2: size = 2; break;
    case DW_FORM_strx3: case DW_FORM_addrx3: size = 3; break;
    case DW_FORM_data4: case DW_FORM_ref4: case DW_FORM_ref_sup4: case DW_FORM_strx4: case DW_FORM_addrx4: size = 4; break;
    case DW_FORM_data8: case DW_FORM_ref8: case DW_FORM_ref_sup8: case DW_FORM_ref_sig8: size = 8; break;
    case DW_FORM_data16: op = CSNI_STEP_BYTES; size = 16; break;
    case DW_FORM_flag_present: op = CSNI_STEP_FLAG; break;
    case DW_FORM_implicit_const: op = CSNI_STEP_CONST; break;
    case DW_FORM_udata: case DW_FORM_ref_udata: case DW_FORM_strx: case DW_FORM_addrx: case DW_FORM_loclistx:
    case DW_FORM_rnglistx: case DW_FORM_GNU_addr_index: case DW_FORM_GNU_str_index: op = CSNI_STEP_ULEB; break;
    case DW_FORM_sdata: op = CSNI_STEP_SLEB; break;
    case DW_FORM_LLVM_addrx_offset: op = CSNI_STEP_ULEB_FIXED; size = 4; break;
    case DW_FORM_string: op = CSNI_STEP_STRING; break;
    case DW_FORM_block: case DW_FORM_exprloc: op = CSNI_STEP_BLOCK; break;
    case DW_FORM_block1: op = CSNI_STEP_BLOCK_FIXED; size = 1; break;
    case DW_FORM_block2: op = CSNI_STEP_BLOCK_FIXED; size = 2; break;
    case DW_FORM_block4: op = CSNI_STEP_BLOCK_FIXED; size = 4; break;
    case DW_FORM_indirect: op = CSNI_STEP_INDIRECT; break;
    default: return false;
    }
    out->op = op;
    out->slot = CSNI_NO_SLOT;
    out->form = (uint16_t)form;
    out->skip = 0;
    out->size = size;
    return true;
}

static uint16_t kind_of_tag(uint64_t tag) {
    switch (tag) {
    case DW_TAG_compile_unit: case DW_TAG_partial_unit: case DW_TAG_type_unit: case DW_TAG_skeleton_unit:
        return CSNI_KIND_UNIT;
    case DW_TAG_namespace: case DW_TAG_module: return CSNI_KIND_NAMESPACE;
    case DW_TAG_class_type: case DW_TAG_structure_type: case DW_TAG_union_type: case DW_TAG_interface_type:
        return CSNI_KIND_TYPE;
    case DW_TAG_subprogram: return CSNI_KIND_SUBPROGRAM;
    case DW_TAG_inlined_subroutine: return CSNI_KIND_INLINED;
    case DW_TAG_call_site: case DW_TAG_GNU_call_site: return CSNI_KIND_CALL_SITE;
    case DW_TAG_lexical_block: return CSNI_KIND_BLOCK;
    default: return 0;
    }
}

/* Tags under which no function can be described. */
static bool is_leaf_tag(uint64_t tag) {
    switch (tag) {
    case DW_TAG_enumeration_type: case DW_TAG_array_type: case DW_TAG_subroutine_type: case DW_TAG_formal_parameter:
    case DW_TAG_variable: case DW_TAG_call_site: case DW_TAG_GNU_call_site: case DW_TAG_call_site_parameter:
    case DW_TAG_GNU_call_site_parameter: return true;
    default: return false;
    }
}

/* Slots of attributes that are taken for every kind, and for units. */
static uint8_t unit_slot(uint64_t at) {
    switch (at) {
    case DW_AT_name: return CSNI_AT_NAME;
    case DW_AT_low_pc: return CSNI_AT_LOW_PC;
    case DW_AT_high_pc: return CSNI_AT_HIGH_PC;
    case DW_AT_ranges: return CSNI_AT_RANGES;
    case DW_AT_stmt_list: return CSNI_AT_STMT_LIST;
    case DW_AT_comp_dir: return CSNI_AT_COMP_DIR;
    case DW_AT_language: return CSNI_AT_LANGUAGE;
    case DW_AT_producer: return CSNI_AT_PRODUCER;
    case DW_AT_str_offsets_base: return CSNI_AT_STR_OFFSETS_BASE;
    case DW_AT_addr_base: case DW_AT_GNU_addr_base: return CSNI_AT_ADDR_BASE;
    case DW_AT_rnglists_base: return CSNI_AT_RNGLISTS_BASE;
    case DW_AT_GNU_ranges_base: return CSNI_AT_GNU_RANGES_BASE;
    case DW_AT_dwo_name: case DW_AT_GNU_dwo_name: return CSNI_AT_DWO_NAME;
    case DW_AT_GNU_dwo_id: return CSNI_AT_DWO_ID;
    default: return CSNI_NO_SLOT;
    }
}

static uint8_t function_slot(uint64_t at) {
    switch (at) {
    case DW_AT_name: return CSNI_AT_NAME;
    case DW_AT_linkage_name: case DW_AT_MIPS_linkage_name: return CSNI_AT_LINKAGE_NAME;
    case DW_AT_low_pc: return CSNI_AT_LOW_PC;
    case DW_AT_high_pc: return CSNI_AT_HIGH_PC;
    case DW_AT_ranges: return CSNI_AT_RANGES;
    case DW_AT_specification: return CSNI_AT_SPECIFICATION;
    case DW_AT_abstract_origin: return CSNI_AT_ABSTRACT_ORIGIN;
    case DW_AT_decl_file: return CSNI_AT_DECL_FILE;
    case DW_AT_decl_line: return CSNI_AT_DECL_LINE;
    case DW_AT_call_file: return CSNI_AT_CALL_FILE;
    case DW_AT_call_line: return CSNI_AT_CALL_LINE;
    case DW_AT_declaration: return CSNI_AT_DECLARATION;
    case DW_AT_inline: return CSNI_AT_INLINE;
    case DW_AT_LLVM_stmt_sequence: return CSNI_AT_STMT_SEQUENCE;
    default: return CSNI_NO_SLOT;
    }
}

static uint8_t scope_slot(uint64_t at) {
    switch (at) {
    case DW_AT_name: return CSNI_AT_NAME;
    case DW_AT_specification: return CSNI_AT_SPECIFICATION;
    case DW_AT_abstract_origin: return CSNI_AT_ABSTRACT_ORIGIN;
    case DW_AT_declaration: return CSNI_AT_DECLARATION;
    case DW_AT_signature: return CSNI_AT_SIGNATURE;
    default: return CSNI_NO_SLOT;
    }
}

static uint8_t call_site_slot(uint64_t at, bool gnu) {
    switch (at) {
    case DW_AT_call_return_pc: return CSNI_AT_RETURN_PC;
    case DW_AT_low_pc: return gnu ? CSNI_AT_RETURN_PC : CSNI_NO_SLOT;
    case DW_AT_call_origin: return CSNI_AT_CALL_ORIGIN;
    case DW_AT_abstract_origin: return gnu ? CSNI_AT_CALL_ORIGIN : CSNI_NO_SLOT;
    case DW_AT_call_tail_call: case DW_AT_GNU_tail_call: return CSNI_AT_TAIL_CALL;
    default: return CSNI_NO_SLOT;
    }
}

static uint8_t slot_of(uint16_t kind, uint64_t tag, uint64_t at) {
    if (at == DW_AT_sibling) return kind || is_leaf_tag(tag) ? CSNI_AT_SIBLING : CSNI_NO_SLOT;
    switch (kind) {
    case CSNI_KIND_UNIT: return unit_slot(at);
    case CSNI_KIND_SUBPROGRAM: case CSNI_KIND_INLINED: return function_slot(at);
    case CSNI_KIND_NAMESPACE: case CSNI_KIND_TYPE: case CSNI_KIND_BLOCK: return scope_slot(at);
    case CSNI_KIND_CALL_SITE: return call_site_slot(at, tag == DW_TAG_GNU_call_site);
    default: return CSNI_NO_SLOT;
    }
}

/* Which of the lookup's tables of slots an abbreviation needs. */
enum { SLOTS_NONE, SLOTS_SIBLING, SLOTS_UNIT, SLOTS_FUNCTION, SLOTS_SCOPE, SLOTS_CALL_SITE, SLOTS_GNU_CALL_SITE };

static unsigned slot_table(uint16_t kind, uint64_t tag) {
    switch (kind) {
    case CSNI_KIND_UNIT: return SLOTS_UNIT;
    case CSNI_KIND_SUBPROGRAM: case CSNI_KIND_INLINED: return SLOTS_FUNCTION;
    case CSNI_KIND_NAMESPACE: case CSNI_KIND_TYPE: case CSNI_KIND_BLOCK: return SLOTS_SCOPE;
    case CSNI_KIND_CALL_SITE: return tag == DW_TAG_GNU_call_site ? SLOTS_GNU_CALL_SITE : SLOTS_CALL_SITE;
    default: return is_leaf_tag(tag) ? SLOTS_SIBLING : SLOTS_NONE;
    }
}

void csni_abbrev_lookup_make(struct csni_abbrev_lookup *lookup, uint8_t address_size, uint8_t offset_size, bool version2) {
    /* An abbreviation for each table of slots. */
    static const uint16_t tags[CSNI_SLOT_TABLES] = {
        [SLOTS_NONE] = 0, [SLOTS_SIBLING] = DW_TAG_variable, [SLOTS_UNIT] = DW_TAG_compile_unit,
        [SLOTS_FUNCTION] = DW_TAG_subprogram, [SLOTS_SCOPE] = DW_TAG_namespace, [SLOTS_CALL_SITE] = DW_TAG_call_site,
        [SLOTS_GNU_CALL_SITE] = DW_TAG_GNU_call_site,
    };
    const struct csni_abbrevs sizes = { .address_size = address_size, .offset_size = offset_size, .version2 = version2 };
    for (unsigned form = 0; form < CSNI_FORMS; form++)
        if (!csni_form_step(form, &sizes, &lookup->forms[form])) lookup->forms[form].op = CSNI_STEP_UNKNOWN;
    for (unsigned t = 0; t < CSNI_SLOT_TABLES; t++)
        for (unsigned at = 0; at < CSNI_ATTRIBUTES; at++) lookup->slots[t][at] = slot_of(kind_of_tag(tags[t]), tags[t], at);
    lookup->address_size = address_size;
    lookup->offset_size = offset_size;
    lookup->version2 = version2;
    lookup->made = true;
}

static void note_references(struct csni_abbrevs *table, uint8_t slot, uint64_t form) {
    switch (form) {
    case DW_FORM_ref_addr: case DW_FORM_ref_sig8: table->cross_references = true; break;
    case DW_FORM_ref_sup4: case DW_FORM_ref_sup8: case DW_FORM_GNU_ref_alt: case DW_FORM_strp_sup:
    case DW_FORM_GNU_strp_alt: table->supplement_references = true; break;
    case DW_FORM_indirect:
        if (slot == CSNI_AT_SPECIFICATION || slot == CSNI_AT_ABSTRACT_ORIGIN || slot == CSNI_AT_CALL_ORIGIN)
            table->cross_references = table->supplement_references = true;
        break;
    default: break;
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
    bool odd;         /* there is a step without a slot, or for bytes that are no number */
};

static bool push_skip(struct compiler *cc, struct draft *d) {
    for (; d->skip > UINT16_MAX; d->skip -= UINT16_MAX) {
        union csni_step step = { .op = CSNI_STEP_SKIP, .slot = CSNI_NO_SLOT, .skip = UINT16_MAX };
        if (!csni_vec_push(&cc->steps, step)) return false;
    }
    return true;
}

static bool push_step(struct compiler *cc, struct draft *d, union csni_step step, int64_t constant) {
    if (!push_skip(cc, d)) return false;
    step.skip = (uint16_t)d->skip;
    d->skip = 0;
    if (!csni_vec_push(&cc->steps, step)) return false;
    union csni_step value = { .value = (uint64_t)constant };
    return step.op != CSNI_STEP_CONST || csni_vec_push(&cc->steps, value);
}

/* Whether an attribute fills the slot it is for: the first of a kind does, but DW_AT_MIPS_linkage_name before
 * DW_AT_linkage_name. */
static uint8_t claim_slot(struct compiler *cc, struct draft *d, uint64_t at, uint8_t slot) {
    if (slot == CSNI_NO_SLOT) return slot;
    if (d->taken >> slot & 1) {
        if (at != DW_AT_MIPS_linkage_name || d->mips_name) return CSNI_NO_SLOT;
        cc->steps.items[d->linkage_step].slot = CSNI_NO_SLOT;
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
static bool add_attribute(struct compiler *cc, struct draft *d, uint64_t at, uint64_t form, uint8_t slot,
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
    if (step.slot != CSNI_NO_SLOT) note_references(cc->table, step.slot, form);
    if (step.slot == CSNI_AT_LINKAGE_NAME) {
        if (!push_skip(cc, d)) return false;
        d->linkage_step = cc->steps.count;
    }
    if (step.slot == CSNI_AT_DECLARATION && d->plan.kind == CSNI_KIND_SUBPROGRAM && step.op == CSNI_STEP_FLAG)
        d->plan.reserved = 1;
    bool fixed = step.op <= CSNI_STEP_CONST;
    uint64_t size = step.op == CSNI_STEP_FIXED || step.op == CSNI_STEP_BYTES ? step.size : 0;
    d->size += size;
    d->variable |= !fixed;
    d->odd |= step.op == CSNI_STEP_BYTES;
    if (fixed && step.slot == CSNI_NO_SLOT) {
        d->skip += size;
        return true;
    }
    return push_step(cc, d, step, constant);
}

/* Ends a draft: the plan as it is kept. */
static bool finish_plan(struct compiler *cc, struct draft *d) {
    struct csni_plan *plan = &d->plan;
    if (plan->kind == CSNI_KIND_BAD) {
        cc->steps.count = d->first_step;
        return csni_vec_push(&cc->plans, *plan);
    }
    if (d->size > UINT16_MAX) d->variable = true;
    const uint64_t code = UINT64_C(1) << CSNI_AT_LOW_PC | UINT64_C(1) << CSNI_AT_RANGES;
    if (plan->reserved && !(d->taken & code)) plan->kind = CSNI_KIND_DECLARATION;
    plan->reserved = 0;
    bool jump = plan->flags & CSNI_PLAN_CHILDREN && plan->flags & CSNI_PLAN_SIBLING && is_leaf_tag(plan->tag);
    if (jump) plan->kind |= CSNI_KIND_LEAF;
    if (d->variable) plan->flags |= CSNI_PLAN_VARIABLE;
    else plan->size = (uint16_t)d->size;
    if (!d->variable && plan->sibling_size == 4) plan->flags |= CSNI_PLAN_SHORT_SIBLING;
    if (!d->variable && !d->odd) plan->flags |= CSNI_PLAN_SIMPLE;
    if (!plan->kind && !d->variable) {
        /* Nothing is ever taken: one END step does for all of them. */
        cc->steps.count = d->first_step;
        plan->steps = 0;
        return csni_vec_push(&cc->plans, *plan);
    }
    if (!push_skip(cc, d)) return false;
    union csni_step end = { .op = CSNI_STEP_END, .slot = CSNI_NO_SLOT, .skip = (uint16_t)d->skip };
    plan->steps = (uint32_t)d->first_step;
    return csni_vec_push(&cc->steps, end) && csni_vec_push(&cc->plans, *plan);
}

static csn_status truncated(const struct compiler *cc, uint64_t code, struct csn_error *err) {
    return csni_fail(err, CSN_E_TRUNCATED, ".debug_abbrev", cc->c.failed_at,
                     "abbreviation %" PRIu64 " of the table at 0x%" PRIx64 " ends behind the section's %zu bytes", code,
                     cc->table->off, (size_t)(cc->c.end - cc->c.begin));
}

/* Attributes whose numbers and constant are of one byte each, which nearly all are, until the end of the list or one that is
 * not. Those that nobody wants, of a fixed size, cost no more than two looks into tables. CSN_NONE: at the end of the list. */
static inline csn_status short_attributes(struct compiler *cc, struct draft *d, const uint8_t *slots) {
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

static csn_status compile_one(struct compiler *cc, uint64_t code, struct csn_error *err) {
    struct csni_cursor *c = &cc->c;
    uint64_t tag = csni_cursor_uleb(c);
    uint8_t children = csni_cursor_u8(c);
    struct draft d = { .first_step = cc->steps.count };
    d.plan.tag = tag > UINT16_MAX ? UINT16_MAX : (uint16_t)tag;
    d.plan.kind = kind_of_tag(tag);
    d.plan.sibling = CSNI_NO_SIBLING_OFFSET;
    d.plan.flags = children ? CSNI_PLAN_CHILDREN : 0;
    d.plan.nesting = children ? 1 : 0;
    const uint8_t *slots = cc->lookup->slots[slot_table(d.plan.kind, tag)];
    for (;;) {
        csn_status status = short_attributes(cc, &d, slots);
        if (status < 0) return csni_fail_memory(err, sizeof(union csni_step));
        if (status == CSN_NONE) break;
        uint64_t at_off = csni_cursor_off(c), at = csni_cursor_uleb(c), form = csni_cursor_uleb(c);
        int64_t constant = form == DW_FORM_implicit_const ? csni_cursor_sleb(c) : 0;
        if (c->failed) return truncated(cc, code, err);
        if (!at && !form) break;
        if (!at || !form)
            return csni_fail(err, CSN_E_FORMAT, ".debug_abbrev", at_off,
                             "abbreviation %" PRIu64 " has attribute 0x%" PRIx64 " with form 0x%" PRIx64, code, at, form);
        uint8_t slot = CSNI_LIKELY(at < CSNI_ATTRIBUTES) ? slots[at] : slot_of(d.plan.kind, tag, at);
        if (!add_attribute(cc, &d, at, form, slot, constant)) return csni_fail_memory(err, sizeof(union csni_step));
    }
    return finish_plan(cc, &d) ? CSN_OK : csni_fail_memory(err, sizeof(struct csni_plan));
}

static csn_status compile_all(struct compiler *cc, struct csn_error *err) {
    struct csni_plan null_entry = { .nesting = -1, .sibling = CSNI_NO_SIBLING_OFFSET };
    union csni_step end = { .op = CSNI_STEP_END, .slot = CSNI_NO_SLOT };
    if (!csni_vec_reserve(&cc->plans, 160) || !csni_vec_reserve(&cc->steps, 640) ||
        !csni_vec_push(&cc->plans, null_entry) || !csni_vec_push(&cc->steps, end))
        return csni_fail_memory(err, 160 * sizeof(struct csni_plan));
    for (;;) {
        uint64_t code = csni_cursor_uleb(&cc->c);
        if (cc->c.failed) return truncated(cc, cc->plans.count, err);
        if (!code) return CSN_OK;
        if (cc->plans.count == UINT32_MAX || cc->steps.count > UINT32_MAX / 2)
            return csni_fail(err, CSN_E_LIMIT, ".debug_abbrev", cc->table->off, "more than %u abbreviations in one table",
                             UINT32_MAX);
        if (cc->dense && code != cc->plans.count) {
            cc->dense = false;
            for (uint64_t i = 1; i < cc->plans.count; i++)
                if (!csni_vec_push(&cc->codes, i)) return csni_fail_memory(err, sizeof i);
        }
        if (!cc->dense && !csni_vec_push(&cc->codes, code)) return csni_fail_memory(err, sizeof code);
        CSNI_TRY(compile_one(cc, code, err));
    }
}

/* Sorts plans 1.. by code, stably, so that the first of two with one code is found; by merging, with as much room again. */
static bool sort_sparse(struct compiler *cc) {
    size_t n = cc->codes.count;
    code_vec codes = { .alloc = cc->codes.alloc };
    plan_vec plans = { .alloc = cc->plans.alloc };
    bool ok = csni_vec_reserve(&codes, n) && csni_vec_reserve(&plans, n + 1);
    for (size_t width = 1; ok && width < n; width *= 2) {
        for (size_t from = 0; from < n; from += 2 * width) {
            size_t a = from, a_end = from + width < n ? from + width : n;
            size_t b = a_end, b_end = a_end + width < n ? a_end + width : n;
            for (size_t to = from; to < b_end; to++) {
                bool first = b >= b_end || (a < a_end && cc->codes.items[a] <= cc->codes.items[b]);
                size_t k = first ? a++ : b++;
                codes.items[to] = cc->codes.items[k];
                plans.items[to + 1] = cc->plans.items[k + 1];
            }
        }
        memcpy(cc->codes.items, codes.items, n * sizeof *codes.items);
        memcpy(cc->plans.items + 1, plans.items + 1, n * sizeof *plans.items);
    }
    csni_vec_deinit(&codes);
    csni_vec_deinit(&plans);
    return ok;
}

/* Moves what was gathered into one piece of memory of the exact size. */
static csn_status keep(struct compiler *cc, const struct csn_allocator *alloc, struct csn_error *err) {
    size_t plans = cc->plans.count * sizeof *cc->plans.items;
    size_t steps = cc->steps.count * sizeof *cc->steps.items;
    size_t codes = cc->codes.count * sizeof *cc->codes.items;
    uint8_t *memory = csni_alloc(alloc, plans + steps + codes);
    if (!memory) return csni_fail_memory(err, plans + steps + codes);
    memcpy(memory, cc->plans.items, plans);
    memcpy(memory + plans, cc->steps.items, steps);
    if (codes) memcpy(memory + plans + steps, cc->codes.items, codes);
    struct csni_abbrevs *table = cc->table;
    table->memory = memory;
    table->memory_size = plans + steps + codes;
    table->plan_count = (uint32_t)cc->plans.count;
    table->plans = (const struct csni_plan *)(void *)memory;
    table->steps = (const union csni_step *)(void *)(memory + plans);
    table->codes = cc->dense ? NULL : (const uint64_t *)(void *)(memory + plans + steps);
    return CSN_OK;
}

csn_status csni_dwarf_compile_abbrevs(struct csni_dwarf *dwarf, uint32_t table, struct csn_error *err) {
    struct csni_abbrevs *abbrevs = &dwarf->priv->tables[table];
    if (abbrevs->compiled && abbrevs->status == CSN_OK) return CSN_OK;
    struct compiler cc = { .table = abbrevs, .c = csni_cursor_at(dwarf->sections.abbrev, dwarf->sections.big_endian),
                           .dense = true };
    cc.plans.alloc = cc.steps.alloc = cc.codes.alloc = dwarf->alloc;
    csni_cursor_seek(&cc.c, abbrevs->off);
    csn_status status = CSN_OK;
    if (cc.c.failed)
        status = csni_fail(err, CSN_E_FORMAT, ".debug_abbrev", abbrevs->off,
                           "a unit's abbreviations are to be here, the section has %zu bytes", dwarf->sections.abbrev.size);
    struct csni_abbrev_lookup own;
    cc.lookup = &dwarf->priv->lookup;
    if (!cc.lookup->made || cc.lookup->address_size != abbrevs->address_size ||
        cc.lookup->offset_size != abbrevs->offset_size || cc.lookup->version2 != abbrevs->version2) {
        csni_abbrev_lookup_make(&own, abbrevs->address_size, abbrevs->offset_size, abbrevs->version2);
        cc.lookup = &own;
    }
    if (status == CSN_OK) status = compile_all(&cc, err);
    if (status == CSN_OK && !cc.dense && !sort_sparse(&cc))
        status = csni_fail_memory(err, cc.codes.count * sizeof(struct csni_plan));
    if (status == CSN_OK) status = keep(&cc, dwarf->alloc, err);
    csni_vec_deinit(&cc.plans);
    csni_vec_deinit(&cc.steps);
    csni_vec_deinit(&cc.codes);
    abbrevs->compiled = true;
    abbrevs->status = status;
    return status;
}

const struct csni_plan *csni_plan_find_sparse(const struct csni_abbrevs *abbrevs, uint64_t code) {
    static const struct csni_plan none = { .kind = CSNI_KIND_BAD, .sibling = CSNI_NO_SIBLING_OFFSET };
    if (!code) return &abbrevs->plans[0];
    if (!abbrevs->codes) return code < abbrevs->plan_count ? &abbrevs->plans[code] : &none;
    uint32_t low = 0, high = abbrevs->plan_count - 1;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        if (abbrevs->codes[mid] < code) low = mid + 1;
        else high = mid;
    }
    if (low == abbrevs->plan_count - 1 || abbrevs->codes[low] != code) return &none;
    return &abbrevs->plans[low + 1];
}

bool csni_dwarf_has_cross_references(const struct csni_dwarf *dwarf) {
    for (uint32_t i = 0; i < dwarf->abbrev_table_count; i++)
        if (dwarf->priv->tables[i].cross_references) return true;
    return false;
}

bool csni_dwarf_has_supplement_references(const struct csni_dwarf *dwarf) {
    for (uint32_t i = 0; i < dwarf->abbrev_table_count; i++)
        if (dwarf->priv->tables[i].supplement_references) return true;
    return false;
}
