/* Functions and inlined calls of a unit, found by the converter's walk, which steps over all other DIEs. */
#include <callsign/debug_info.h>

#include "base/core/fail.h"
#include "debug/debug_private.h"
#include "dwarf/dwarf_private.h"

/* What csn_debug_unit_functions() gives, with what it owns. */
struct owned_functions {
    struct csn_debug_functions functions; /* first: it is what the caller has */
    const struct csn_allocator *alloc;
    CSNI_VEC(struct csn_debug_function) items;
    CSNI_VEC(struct csn_range) ranges;
    csni_address_ranges own; /* of the last DIE */
};

/* The functions that may be around the next DIE, the outermost first. */
struct open_function { uint32_t depth, idx; };
typedef CSNI_VEC(struct open_function) open_functions;

static uint32_t innermost(open_functions *around, uint32_t closed) {
    while (around->count && around->items[around->count - 1].depth >= closed) around->count--;
    return around->count ? around->items[around->count - 1].idx : CSN_NO_FUNCTION;
}

/* A damaged list of ranges counts as none. */
static csn_status add_function(struct owned_functions *to, const struct csni_dwarf *dwarf, const struct csni_die *die,
                               uint32_t parent) {
    const size_t first = to->ranges.count;
    to->own.count = 0;
    const uint64_t code = UINT64_C(1) << CSNI_AT_LOW_PC | UINT64_C(1) << CSNI_AT_HIGH_PC | UINT64_C(1) << CSNI_AT_RANGES;
    if (die->present & code) {
        const csn_status status = csni_die_all_ranges(dwarf, die, &to->own, NULL);
        if (status == CSN_E_MEMORY || !csni_vec_reserve(&to->ranges, first + to->own.count)) return CSN_E_MEMORY;
        for (size_t i = 0; status == CSN_OK && i < to->own.count; i++)
            to->ranges.items[to->ranges.count++] = (struct csn_range){ to->own.items[i].low, to->own.items[i].high };
    }
    const struct csn_debug_function made = { die->off, die->tag, parent, (uint32_t)first, (uint32_t)(to->ranges.count - first) };
    return csni_vec_push(&to->items, made) ? CSN_OK : CSN_E_MEMORY;
}

static csn_status walk_unit(struct owned_functions *to, const struct csni_unit *unit, open_functions *around) {
    const uint32_t codeless = CSNI_KIND_DECLARATION | CSNI_KIND_CODELESS,
                   wanted = codeless | CSNI_KIND_SUBPROGRAM | CSNI_KIND_INLINED;
    struct csni_die_walk walk;
    struct csni_die die;
    if (csni_die_walk_init(&walk, unit->dwarf, unit, NULL) < 0) return CSN_OK; /* it cannot be read: it has no functions */
    walk.options.headers_only = codeless;
    while (csni_walk_step(&walk, wanted, 0, &die, NULL) == CSN_OK) { /* what stands before damage counts */
        const struct open_function made = { die.depth, (uint32_t)to->items.count };
        const uint32_t parent = innermost(around, die.closed);
        if (add_function(to, unit->dwarf, &die, parent) != CSN_OK || !csni_vec_push(around, made)) return CSN_E_MEMORY;
    }
    return CSN_OK;
}

csn_status csn_debug_unit_functions(const struct csn_debug_unit *unit, struct csn_debug_functions **out, struct csn_error *err) {
    const struct csn_allocator *alloc = csni_debug_unit_file(unit)->info->alloc;
    struct owned_functions *made = csni_alloc_zeroed(alloc, 1, sizeof *made);
    open_functions around = { .alloc = alloc };
    if (!made) return csni_fail_memory(err, sizeof *made);
    made->alloc = made->items.alloc = made->ranges.alloc = made->own.alloc = alloc;
    const csn_status status = walk_unit(made, csni_debug_dwarf_unit(unit), &around);
    csni_vec_deinit(&around);
    if (status != CSN_OK) {
        csn_debug_functions_free(&made->functions);
        return csni_fail_memory(err, sizeof(struct csn_debug_function));
    }
    made->functions = (struct csn_debug_functions){ made->items.items, made->items.count, made->ranges.items };
    *out = &made->functions;
    return CSN_OK;
}

void csn_debug_functions_free(struct csn_debug_functions *functions) {
    if (!functions) return;
    struct owned_functions *owned = (struct owned_functions *)functions;
    csni_vec_deinit(&owned->items);
    csni_vec_deinit(&owned->ranges);
    csni_vec_deinit(&owned->own);
    csni_free(owned->alloc, owned, sizeof *owned);
}
