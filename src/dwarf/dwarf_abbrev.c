/* Abbreviation tables, compiled into plans. */
#include "base/core/checked.h"
#include "base/core/search.h"
#include "base/core/sort.h"
#include "base/thread_pool.h"
#include "dwarf/dwarf_abbrev_cache.h"
#include "dwarf/dwarf_abbrev_plan.h"

#include <inttypes.h>

typedef CSNI_VEC(struct csni_plan) plan_vec;
typedef CSNI_VEC(uint64_t) code_vec;

/* One table on its way. */
struct compiler {
    struct csni_abbrevs *table;
    const struct csni_abbrev_cache *cache; /* NULL: none, or one for other sizes */
    struct csni_plan_compiler plan;
    plan_vec plans;
    code_vec codes;
    bool dense;
};

static csn_status compile_one(struct compiler *cc, uint64_t code, struct csn_error *err) {
    struct csni_cursor *c = &cc->plan.c;
    const uint8_t *p = c->p;
    struct csni_known_abbrev *place = cc->cache ? csni_abbrev_cache_place(cc->cache, p, c->end) : NULL;
    struct csni_known_abbrev made;
    if (place && csni_abbrev_is_known(place, c->begin, p, c->end)) {
        c->p += place->size;
    } else {
        struct csni_known_abbrev new = { .off = (uint64_t)(p - c->begin) };
        CSNI_TRY(csni_plan_compile(&cc->plan, code, &new.plan, &new.references, err));
        new.size = (uint32_t)(c->p - p);
        if (!place) place = &made;
        *place = new;
    }
    cc->table->cross_references |= (place->references & CSNI_REFERS_ACROSS) != 0;
    cc->table->supplement_references |= (place->references & CSNI_REFERS_TO_SUPPLEMENT) != 0;
    return csni_vec_push(&cc->plans, place->plan) ? CSN_OK : csni_fail_memory(err, sizeof(struct csni_plan));
}

static csn_status compile_all(struct compiler *cc, struct csn_error *err) {
    struct csni_plan null_entry = { .nesting = -1, .sibling = CSNI_NO_SIBLING_OFFSET };
    union csni_step end = { .op = CSNI_STEP_END, .slot = CSNI_NO_SLOT };
    if (!csni_vec_reserve(&cc->plans, 160) || !csni_vec_push(&cc->plans, null_entry) ||
        (!cc->plan.steps->count && !csni_vec_push(cc->plan.steps, end)))
        return csni_fail_memory(err, 160 * sizeof(struct csni_plan));
    for (;;) {
        uint64_t code = csni_cursor_uleb(&cc->plan.c);
        if (cc->plan.c.failed) return csni_abbrev_truncated(&cc->plan, cc->plans.count, err);
        if (!code) return CSN_OK;
        if (cc->plans.count == UINT32_MAX || cc->plan.steps->count > UINT32_MAX / 2)
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

struct code_position {
    uint64_t code;
    size_t at; /* among the codes as they stand in the table */
};

static bool code_before(const void *context, const void *pa, const void *pb) {
    (void)context;
    const struct code_position *a = pa, *b = pb;
    return a->code != b->code ? a->code < b->code : a->at < b->at;
}

/* Sorts plans 1.. by code, so that the first of two with one code is found. */
static bool sort_sparse(struct compiler *cc) {
    size_t n = cc->codes.count;
    CSNI_VEC(struct code_position) order = { .alloc = cc->codes.alloc };
    plan_vec plans = { .alloc = cc->plans.alloc };
    bool ok = csni_vec_reserve(&order, n) && csni_vec_reserve(&plans, n);
    if (ok) {
        for (size_t i = 0; i < n; i++) order.items[i] = (struct code_position){ cc->codes.items[i], i };
        csni_heap_sort(order.items, n, sizeof *order.items, code_before, NULL);
        for (size_t i = 0; i < n; i++) {
            cc->codes.items[i] = order.items[i].code;
            plans.items[i] = cc->plans.items[order.items[i].at + 1];
        }
        memcpy(cc->plans.items + 1, plans.items, n * sizeof *plans.items);
    }
    csni_vec_deinit(&order);
    csni_vec_deinit(&plans);
    return ok;
}

/* Moves what is the table's own into one piece of memory of the exact size: of the arena, or with its steps where there is
 * none. */
static csn_status keep_abbrev_table(struct compiler *cc, struct csni_arena *arena, const struct csn_allocator *alloc,
                                    struct csn_error *err) {
    bool own_steps = !arena;
    size_t plans = cc->plans.count * sizeof *cc->plans.items;
    size_t steps = own_steps ? cc->plan.steps->count * sizeof *cc->plan.steps->items : 0;
    size_t codes = cc->codes.count * sizeof *cc->codes.items;
    uint8_t *memory = arena ? csni_arena_alloc(arena, plans + codes) : csni_alloc(alloc, plans + steps + codes);
    if (!memory) return csni_fail_memory(err, plans + steps + codes);
    memcpy(memory, cc->plans.items, plans);
    if (steps) memcpy(memory + plans, cc->plan.steps->items, steps);
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
    struct compiler cc = { .table = abbrevs, .cache = cache, .dense = true };
    cc.plan = (struct csni_plan_compiler){ abbrevs, &dwarf->priv->lookup, steps,
                                           csni_cursor_at(dwarf->sections.abbrev, dwarf->sections.big_endian) };
    cc.plans.alloc = cc.codes.alloc = dwarf->alloc;
    csni_cursor_seek(&cc.plan.c, abbrevs->off);
    csn_status status = CSN_OK;
    if (cc.plan.c.failed)
        status = csni_fail(err, CSN_E_FORMAT, ".debug_abbrev", abbrevs->off,
                           "a unit's abbreviations are to be here, the section has %zu bytes", dwarf->sections.abbrev.size);
    struct csni_abbrev_lookup own;
    const struct csni_abbrev_lookup *made = cc.plan.lookup;
    if (!made->made || made->address_size != abbrevs->address_size || made->offset_size != abbrevs->offset_size ||
        made->version2 != abbrevs->version2) {
        csni_abbrev_lookup_make(&own, abbrevs->address_size, abbrevs->offset_size, abbrevs->version2);
        cc.plan.lookup = &own;
        cc.cache = NULL;
    }
    if (status == CSN_OK) status = compile_all(&cc, err);
    if (status == CSN_OK && !cc.dense && !sort_sparse(&cc))
        status = csni_fail_memory(err, cc.codes.count * sizeof(struct csni_plan));
    if (status == CSN_OK) status = keep_abbrev_table(&cc, arena, dwarf->alloc, err);
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
    if (!cache->places) CSNI_TRY(csni_abbrev_cache_init(cache, all->dwarf->sections.abbrev.size, all->dwarf->alloc, err));
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

/* ---- all tables of one reader after the other ---- */

/* Steps are read by other threads while more are added: an array that has become too small stays until the end. Arrays double, so
 * that all of them together are no more than twice the last one. */
struct retired_array {
    struct retired_array *next;
    size_t size;
};

struct csni_shared_abbrevs {
    const struct csn_allocator *alloc;
    struct csn_allocator retiring; /* of `steps` */
    struct retired_array *retired;
    csni_steps steps;
    struct csni_abbrev_cache cache;
};

enum {
    SHARED_STEPS_FIRST = 1 << 14,
    SHARED_STEPS_MAX = 1 << 18 /* from then on each reader compiles for itself */
};

static void *retiring_alloc(void *context, size_t size) {
    struct csni_shared_abbrevs *shared = context;
    struct retired_array *array = size <= SIZE_MAX - sizeof *array ? csni_alloc(shared->alloc, size + sizeof *array) : NULL;
    if (!array) return NULL;
    *array = (struct retired_array){ shared->retired, size + sizeof *array };
    shared->retired = array;
    return array + 1;
}

static void *retiring_realloc(void *context, void *ptr, size_t old_size, size_t new_size) {
    void *new = retiring_alloc(context, new_size);
    if (new) memcpy(new, ptr, old_size);
    return new;
}

static void retiring_free(void *context, void *ptr, size_t size) {
    (void)context;
    (void)ptr;
    (void)size;
}

csn_status csni_shared_abbrevs_create(uint64_t section_size, const struct csn_allocator *alloc, struct csni_shared_abbrevs **out,
                                      struct csn_error *err) {
    struct csni_shared_abbrevs *shared = csni_alloc_zeroed(alloc, 1, sizeof *shared);
    if (!shared) return csni_fail_memory(err, sizeof *shared);
    shared->alloc = alloc;
    shared->retiring = (struct csn_allocator){ retiring_alloc, retiring_realloc, retiring_free, shared };
    shared->steps.alloc = &shared->retiring;
    csn_status status = csni_abbrev_cache_init(&shared->cache, section_size, alloc, err);
    if (status == CSN_OK && !csni_vec_reserve(&shared->steps, SHARED_STEPS_FIRST))
        status = csni_fail_memory(err, SHARED_STEPS_FIRST * sizeof *shared->steps.items);
    if (status == CSN_OK) *out = shared;
    else csni_shared_abbrevs_destroy(shared);
    return status;
}

void csni_shared_abbrevs_destroy(struct csni_shared_abbrevs *shared) {
    if (!shared) return;
    const struct csn_allocator *alloc = shared->alloc;
    for (struct retired_array *array = shared->retired; array;) {
        struct retired_array *next = array->next;
        csni_free(alloc, array, array->size);
        array = next;
    }
    csni_abbrev_cache_deinit(&shared->cache, alloc);
    csni_free(alloc, shared, sizeof *shared);
}

csn_status csni_dwarf_compile_shared(struct csni_dwarf *dwarf, struct csni_shared_abbrevs *shared, struct csn_error *err) {
    struct csni_dwarf_private *priv = dwarf->priv;
    if (shared->steps.count > SHARED_STEPS_MAX) return csni_dwarf_compile_all(dwarf, NULL, err);
    priv->plans = csni_alloc_zeroed(dwarf->alloc, 1, sizeof *priv->plans);
    if (!priv->plans) return csni_fail_memory(err, sizeof *priv->plans);
    priv->workers = 1;
    csni_arena_init(&priv->plans[0], dwarf->alloc, PLANS_CHUNK);
    for (uint32_t i = 0; i < dwarf->abbrev_table_count; i++)
        if (compile_table(dwarf, &priv->tables[i], &shared->steps, &priv->plans[0], &shared->cache, err) == CSN_E_MEMORY)
            return CSN_E_MEMORY;
    for (uint32_t i = 0; i < dwarf->abbrev_table_count; i++) priv->tables[i].steps = shared->steps.items;
    return CSN_OK;
}

static inline bool is_code_below(const void *context, size_t index, const void *key) {
    return ((const uint64_t *)context)[index] < *(const uint64_t *)key;
}

const struct csni_plan *csni_plan_find_sparse(const struct csni_abbrevs *abbrevs, uint64_t code) {
    static const struct csni_plan none = { .kind = CSNI_KIND_BAD, .sibling = CSNI_NO_SIBLING_OFFSET };
    if (!code) return &abbrevs->plans[0];
    if (!abbrevs->codes) return code < abbrevs->plan_count ? &abbrevs->plans[code] : &none;
    size_t count = abbrevs->plan_count - 1, at = csni_search_in(0, count, is_code_below, abbrevs->codes, &code);
    return at < count && abbrevs->codes[at] == code ? &abbrevs->plans[at + 1] : &none;
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
