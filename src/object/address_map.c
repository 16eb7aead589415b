/* Address maps made of a debug map's functions and an object file's symbols. */
#include "object/address_map.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/core/checked.h"
#include "base/core/fail.h"
#include "base/core/search.h"

static int compare_names(struct csn_str a, struct csn_str b) {
    size_t common = a.len < b.len ? a.len : b.len;
    int order = common ? memcmp(a.ptr, b.ptr, common) : 0;
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

/* A function by its name. */
struct wanted {
    const struct csni_debug_map_function *function;
    bool found;
};

static int wanted_by_name(const void *pa, const void *pb) {
    const struct wanted *a = pa, *b = pb;
    int order = compare_names(a->function->name, b->function->name);
    return order ? order : (a->function > b->function) - (a->function < b->function);
}

static inline bool is_name_below(const void *context, size_t index, const void *key) {
    const struct wanted *wanted = context;
    const struct csn_str *name = key;
    return compare_names(wanted[index].function->name, *name) < 0;
}

/* The first of that name, or NULL. */
static struct wanted *find_wanted(struct wanted *wanted, uint32_t count, struct csn_str name) {
    size_t at = csni_search_in(0, count, is_name_below, wanted, &name);
    return at < count && csni_str_equal(wanted[at].function->name, name) ? &wanted[at] : NULL;
}

/* A function whose size is not told goes on to the next one, at most to the end of its section. */
static bool range_of(const struct csni_object *object, const struct csni_symbol *symbol,
                     const struct csni_debug_map_function *function, struct csni_mapped_range *out) {
    const struct csni_section *section = &object->sections[symbol->section];
    if (symbol->addr < section->addr || symbol->addr - section->addr >= section->size) return false;
    uint64_t left = section->size - (symbol->addr - section->addr), end;
    uint64_t size = function->size && function->size < left ? function->size : left;
    if (!csni_add_u64(symbol->addr, size, &end)) return false;
    *out = (struct csni_mapped_range){ symbol->addr, end, function->addr };
    return true;
}

/* Names are found by looking for their NUL: a hostile table of overlapping ones must not take forever. */
static const uint64_t MAX_NAME_BYTES = (uint64_t)4 << 30;

/* Other names of a function stand after its first and are not needed. */
static csn_status find_mapped_symbols(struct csni_object *object, struct wanted *wanted, uint32_t count,
                                      struct csni_address_map *map, struct csn_error *err) {
    struct csni_symbol_iter iter;
    struct csni_symbol symbol;
    uint64_t name_bytes = 0;
    csn_status status = csni_symbol_iter_init(&iter, object, CSNI_SYMBOLS_STATIC, err);
    if (status != CSN_OK) return status;
    while (csni_symbol_iter_next(&iter, &symbol) == CSN_OK) {
        name_bytes += symbol.name.len;
        if (name_bytes > MAX_NAME_BYTES)
            return csni_fail(err, CSN_E_LIMIT, NULL, 0, "symbol names take over %" PRIu64 " bytes, the limit", MAX_NAME_BYTES);
        if (!symbol.defined || symbol.section == CSNI_NO_SECTION) continue;
        struct wanted *match = find_wanted(wanted, count, symbol.name);
        struct csni_mapped_range range;
        if (!match || match->found || !range_of(object, &symbol, match->function, &range)) continue;
        match->found = true;
        if (!csni_vec_push(&map->ranges, range)) return csni_fail_memory(err, sizeof range);
    }
    return CSN_OK;
}

/* By start; of two with one start the longer first. */
static int mapped_range_by_start(const void *pa, const void *pb) {
    const struct csni_mapped_range *a = pa, *b = pb;
    if (a->object_start != b->object_start) return a->object_start < b->object_start ? -1 : 1;
    if (a->object_end != b->object_end) return a->object_end > b->object_end ? -1 : 1;
    return (a->image_start > b->image_start) - (a->image_start < b->image_start);
}

/* Keeps one of several with one start, and ends each where the next one starts. */
static void make_disjoint(struct csni_address_map *map) {
    struct csni_mapped_range *r = map->ranges.items;
    size_t kept = 0;
    if (map->ranges.count) qsort(r, map->ranges.count, sizeof *r, mapped_range_by_start);
    for (size_t i = 0; i < map->ranges.count; i++) {
        if (kept && r[kept - 1].object_start == r[i].object_start) continue;
        if (kept && r[kept - 1].object_end > r[i].object_start) r[kept - 1].object_end = r[i].object_start;
        r[kept++] = r[i];
    }
    map->ranges.count = kept;
}

csn_status csni_address_map_make(struct csni_object *object, const struct csni_debug_map_function *functions, uint32_t count,
                                 const struct csn_allocator *alloc, struct csni_address_map *out, struct csn_error *err) {
    *out = (struct csni_address_map){ .ranges = { .alloc = alloc } };
    struct wanted *wanted = csni_alloc_zeroed(alloc, count, sizeof *wanted);
    if (!wanted) return count ? csni_fail_memory(err, (uint64_t)count * sizeof *wanted) : CSN_OK;
    for (uint32_t i = 0; i < count; i++) wanted[i].function = &functions[i];
    qsort(wanted, count, sizeof *wanted, wanted_by_name);
    csn_status status = find_mapped_symbols(object, wanted, count, out, err);
    for (uint32_t i = 0; i < count; i++) out->missing += !wanted[i].found;
    csni_free(alloc, wanted, count * sizeof *wanted);
    if (status < 0) {
        csni_address_map_deinit(out);
        return status;
    }
    make_disjoint(out);
    return CSN_OK;
}

void csni_address_map_deinit(struct csni_address_map *map) {
    if (map) csni_vec_deinit(&map->ranges);
}

const struct csni_mapped_range *csni_address_map_find(const struct csni_address_map *map, uint64_t object_addr) {
    size_t upper = csni_upper_bound(map->ranges.items, map->ranges.count, object_start, object_addr);
    if (!upper || object_addr >= map->ranges.items[upper - 1].object_end) return NULL;
    return &map->ranges.items[upper - 1];
}
