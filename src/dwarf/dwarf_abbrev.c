/* Abbreviation tables, compiled into plans: what to take, what to step over, and how far. */
#include "base/checked.h"
#include "base/thread_pool.h"
#include "dwarf/dwarf_abbrev_cache.h"

#include <inttypes.h>

typedef CSNI_VEC(struct csni_plan) plan_vec;
typedef CSNI_VEC(uint64_t) code_vec;

/* One table on its way. */
struct compiler {
    struct csni_abbrevs *table;
    const struct csni_abbrev_lookup *lookup;
    const struct csni_abbrev_cache *cache; /* NULL: none, or one for other sizes */
    csni_steps *steps;
    struct csni_cursor c;
    plan_vec plans;
    code_vec codes;
    bool dense;
};

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
    uint64_t variable_at;    /* and the fixed bytes in front of it */
    uint8_t references; /* CSNI_REFERS_ */
    bool odd;         /* there is a step without a slot, or for bytes that are no number */
};

static bool push_skip(struct compiler *cc, struct draft *d) {
    for (; d->skip > UINT16_MAX; d->skip -= UINT16_MAX) {
        union csni_step step = { .op = CSNI_STEP_SKIP, .slot = CSNI_NO_SLOT, .skip = UINT16_MAX };
        if (!csni_vec_push(cc->steps, step)) return false;
    }
    return true;
}

static bool push_step(struct compiler *cc, struct draft *d, union csni_step step, int64_t constant) {
    if (!push_skip(cc, d)) return false;
    step.skip = (uint16_t)d->skip;
    d->skip = 0;
    if (!csni_vec_push(cc->steps, step)) return false;
    union csni_step value = { .value = (uint64_t)constant };
    return step.op != CSNI_STEP_CONST || csni_vec_push(cc->steps, value);
}

/* Whether an attribute fills the slot it is for: the first of a kind does, but DW_AT_MIPS_linkage_name before
 * DW_AT_linkage_name. */
static uint8_t claim_slot(struct compiler *cc, struct draft *d, uint64_t at, uint8_t slot) {
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

/* Puts the fields of a SIMPLE or SPLIT plan in front of its steps, which are the last ones. */
static bool put_fields(struct compiler *cc, struct csni_plan *plan) {
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
static bool finish_plan(struct compiler *cc, struct draft *d) {
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

/* What follows the code: the whole of it, by its bytes. */
static csn_status compile_new(struct compiler *cc, uint64_t code, struct draft *d, struct csn_error *err) {
    struct csni_cursor *c = &cc->c;
    uint64_t tag = csni_cursor_uleb(c);
    uint8_t children = csni_cursor_u8(c);
    d->plan.tag = tag > UINT16_MAX ? UINT16_MAX : (uint16_t)tag;
    d->plan.kind = csni_tag_kind(tag);
    d->plan.sibling = CSNI_NO_SIBLING_OFFSET;
    d->plan.flags = children ? CSNI_PLAN_CHILDREN : 0;
    d->plan.nesting = children ? 1 : 0;
    const uint8_t *slots = cc->lookup->slots[csni_slot_table(d->plan.kind, tag)];
    for (;;) {
        csn_status status = short_attributes(cc, d, slots);
        if (status < 0) return csni_fail_memory(err, sizeof(union csni_step));
        if (status == CSN_NONE) break;
        uint64_t at_off = csni_cursor_off(c), at = csni_cursor_uleb(c), form = csni_cursor_uleb(c);
        int64_t constant = form == DW_FORM_implicit_const ? csni_cursor_sleb(c) : 0;
        if (c->failed) return truncated(cc, code, err);
        if (!at && !form) break;
        if (!at || !form)
            return csni_fail(err, CSN_E_FORMAT, ".debug_abbrev", at_off,
                             "abbreviation %" PRIu64 " has attribute 0x%" PRIx64 " with form 0x%" PRIx64, code, at, form);
        uint8_t slot = CSNI_LIKELY(at < CSNI_ATTRIBUTES) ? slots[at] : csni_attribute_slot(d->plan.kind, tag, at);
        if (!add_attribute(cc, d, at, form, slot, constant)) return csni_fail_memory(err, sizeof(union csni_step));
    }
    return finish_plan(cc, d) ? CSN_OK : csni_fail_memory(err, sizeof(union csni_step));
}

static csn_status compile_one(struct compiler *cc, uint64_t code, struct csn_error *err) {
    struct csni_cursor *c = &cc->c;
    const uint8_t *p = c->p;
    struct csni_known_abbrev *place = cc->cache ? csni_abbrev_cache_place(cc->cache, p, c->end) : NULL;
    struct csni_known_abbrev made;
    if (place && csni_abbrev_is_known(place, c->begin, p, c->end)) {
        c->p += place->size;
    } else {
        struct draft d = { .first_step = cc->steps->count };
        CSNI_TRY(compile_new(cc, code, &d, err));
        if (!place) place = &made;
        *place = (struct csni_known_abbrev){ (uint64_t)(p - c->begin), (uint32_t)(c->p - p), d.references, d.plan };
    }
    cc->table->cross_references |= (place->references & CSNI_REFERS_ACROSS) != 0;
    cc->table->supplement_references |= (place->references & CSNI_REFERS_TO_SUPPLEMENT) != 0;
    return csni_vec_push(&cc->plans, place->plan) ? CSN_OK : csni_fail_memory(err, sizeof(struct csni_plan));
}

static csn_status compile_all(struct compiler *cc, struct csn_error *err) {
    struct csni_plan null_entry = { .nesting = -1, .sibling = CSNI_NO_SIBLING_OFFSET };
    union csni_step end = { .op = CSNI_STEP_END, .slot = CSNI_NO_SLOT };
    if (!csni_vec_reserve(&cc->plans, 160) || !csni_vec_push(&cc->plans, null_entry) ||
        (!cc->steps->count && !csni_vec_push(cc->steps, end)))
        return csni_fail_memory(err, 160 * sizeof(struct csni_plan));
    for (;;) {
        uint64_t code = csni_cursor_uleb(&cc->c);
        if (cc->c.failed) return truncated(cc, cc->plans.count, err);
        if (!code) return CSN_OK;
        if (cc->plans.count == UINT32_MAX || cc->steps->count > UINT32_MAX / 2)
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

/* Moves what is the table's own into one piece of memory of the exact size: of the arena, or with its steps where there is
 * none. */
static csn_status keep(struct compiler *cc, struct csni_arena *arena, const struct csn_allocator *alloc,
                       struct csn_error *err) {
    bool own_steps = !arena;
    size_t plans = cc->plans.count * sizeof *cc->plans.items;
    size_t steps = own_steps ? cc->steps->count * sizeof *cc->steps->items : 0;
    size_t codes = cc->codes.count * sizeof *cc->codes.items;
    uint8_t *memory = arena ? csni_arena_alloc(arena, plans + codes) : csni_alloc(alloc, plans + steps + codes);
    if (!memory) return csni_fail_memory(err, plans + steps + codes);
    memcpy(memory, cc->plans.items, plans);
    if (steps) memcpy(memory + plans, cc->steps->items, steps);
    if (codes) memcpy(memory + plans + steps, cc->codes.items, codes);
    struct csni_abbrevs *table = cc->table;
    if (!arena) {
        table->memory = memory;
        table->memory_size = plans + steps + codes;
    }
    table->plan_count = (uint32_t)cc->plans.count;
    table->plans = (const struct csni_plan *)(void *)memory;
    if (own_steps) table->steps = (const union csni_step *)(void *)(memory + plans);
    table->codes = cc->dense ? NULL : (const uint64_t *)(void *)(memory + plans + steps);
    return CSN_OK;
}

/* Appends to `steps`, which are shared by tables, or are copied into the table where there is no arena for it. */
static csn_status compile_table(struct csni_dwarf *dwarf, struct csni_abbrevs *abbrevs, csni_steps *steps,
                                struct csni_arena *arena, const struct csni_abbrev_cache *cache, struct csn_error *err) {
    struct compiler cc = { .table = abbrevs, .c = csni_cursor_at(dwarf->sections.abbrev, dwarf->sections.big_endian),
                           .cache = cache, .steps = steps, .dense = true };
    cc.plans.alloc = cc.codes.alloc = dwarf->alloc;
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
        cc.cache = NULL;
    }
    if (status == CSN_OK) status = compile_all(&cc, err);
    if (status == CSN_OK && !cc.dense && !sort_sparse(&cc))
        status = csni_fail_memory(err, cc.codes.count * sizeof(struct csni_plan));
    if (status == CSN_OK) status = keep(&cc, arena, dwarf->alloc, err);
    csni_vec_deinit(&cc.plans);
    csni_vec_deinit(&cc.codes);
    abbrevs->compiled = true;
    abbrevs->status = status;
    return status;
}

csn_status csni_dwarf_compile_abbrevs(struct csni_dwarf *dwarf, uint32_t table, struct csn_error *err) {
    struct csni_abbrevs *abbrevs = &dwarf->priv->tables[table];
    if (abbrevs->compiled && abbrevs->status == CSN_OK) return CSN_OK;
    csni_steps steps = { .alloc = dwarf->alloc };
    csn_status status = compile_table(dwarf, abbrevs, &steps, NULL, NULL, err);
    csni_vec_deinit(&steps);
    return status;
}

/* ---- all tables ---- */

enum { PLANS_CHUNK = 1 << 16 };

struct compiling {
    struct csni_dwarf *dwarf;
    struct csni_abbrev_cache *caches; /* one per worker */
};

static csn_status compile_item(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    struct compiling *all = context;
    struct csni_dwarf_private *priv = all->dwarf->priv;
    struct csni_abbrev_cache *cache = &all->caches[worker];
    if (!cache->places) CSNI_TRY(csni_abbrev_cache_init(cache, all->dwarf->alloc, err));
    priv->tables[item].worker = worker;
    csn_status status = compile_table(all->dwarf, &priv->tables[item], &priv->steps[worker], &priv->plans[worker],
                                      cache, err);
    return status == CSN_E_MEMORY ? status : CSN_OK; /* damage comes out when a unit uses the table */
}

csn_status csni_dwarf_compile_all(struct csni_dwarf *dwarf, struct csni_pool *pool, struct csn_error *err) {
    struct csni_dwarf_private *priv = dwarf->priv;
    uint32_t workers = pool ? csni_pool_workers(pool) : 1;
    struct compiling all = { dwarf, csni_alloc_zeroed(dwarf->alloc, workers, sizeof *all.caches) };
    if (!all.caches) return csni_fail_memory(err, workers * sizeof *all.caches);
    priv->steps = csni_alloc_zeroed(dwarf->alloc, workers, sizeof *priv->steps);
    priv->plans = csni_alloc_zeroed(dwarf->alloc, workers, sizeof *priv->plans);
    priv->workers = workers;
    bool ok = priv->steps && priv->plans;
    csn_status status = ok ? CSN_OK : csni_fail_memory(err, workers * sizeof *priv->plans);
    if (ok) {
        for (uint32_t i = 0; i < workers; i++) {
            priv->steps[i].alloc = dwarf->alloc;
            csni_arena_init(&priv->plans[i], dwarf->alloc, PLANS_CHUNK);
        }
        status = csni_pool_run(pool, dwarf->abbrev_table_count, compile_item, &all, err);
        /* Only now have the steps come to rest. */
        for (uint32_t i = 0; i < dwarf->abbrev_table_count; i++)
            priv->tables[i].steps = priv->steps[priv->tables[i].worker].items;
    }
    for (uint32_t i = 0; i < workers; i++) csni_abbrev_cache_deinit(&all.caches[i], dwarf->alloc);
    csni_free(dwarf->alloc, all.caches, workers * sizeof *all.caches);
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
