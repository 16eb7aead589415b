/* Modules that may overlap, made into parts that do not: the one that starts last wins. */
#include "symbolicate/module_map.h"

#include "base/core/search.h"
#include "base/core/sort.h"

void csni_module_map_init(struct csni_module_map *map, const struct csn_allocator *alloc) {
    *map = (struct csni_module_map){ .parts = { .alloc = alloc } };
}

void csni_module_map_deinit(struct csni_module_map *map) { csni_vec_deinit(&map->parts); }

/* The modules that begin at or below the current address, the one that started last at the end. */
struct open_modules {
    CSNI_VEC(uint32_t) stack;
};

struct start_order {
    uint64_t start;
    uint32_t module;
};

static bool is_start_before(const void *context, const void *a, const void *b) {
    const struct start_order *x = a, *y = b;
    (void)context;
    return x->start != y->start ? x->start < y->start : x->module < y->module;
}

static bool put_part(struct csni_module_map *map, uint64_t start, uint32_t module) {
    if (map->parts.count) {
        struct csni_module_part *last = &map->parts.items[map->parts.count - 1];
        if (last->start == start) {
            last->module = module;
            return true;
        }
        if (last->module == module) return true;
    }
    struct csni_module_part part = { start, module };
    return csni_vec_push(&map->parts, part);
}

/* Closes the modules that end up to `limit`. Where the top one ends, the next open one below it continues. */
static bool close_until(struct csni_module_map *map, const struct csn_module *modules, struct open_modules *open,
                        uint64_t limit) {
    while (open->stack.count) {
        uint64_t end = modules[open->stack.items[open->stack.count - 1]].end;
        if (end > limit) return true;
        while (open->stack.count && modules[open->stack.items[open->stack.count - 1]].end <= end) open->stack.count--;
        uint32_t next = open->stack.count ? open->stack.items[open->stack.count - 1] : CSNI_NO_MODULE;
        if (!put_part(map, end, next)) return false;
    }
    return true;
}

static bool sweep(struct csni_module_map *map, const struct csn_module *modules, const struct start_order *order,
                  size_t count, struct open_modules *open) {
    for (size_t i = 0; i < count; i++) {
        if (!close_until(map, modules, open, order[i].start)) return false;
        if (!csni_vec_push(&open->stack, order[i].module)) return false;
        if (!put_part(map, order[i].start, order[i].module)) return false;
    }
    return close_until(map, modules, open, UINT64_MAX);
}

static bool make_map(struct csni_module_map *map, const struct csn_module *modules, uint32_t count) {
    struct start_order *order = csni_alloc_zeroed(map->parts.alloc, count, sizeof(*order));
    if (!order) return false;
    size_t used = 0;
    for (uint32_t i = 0; i < count; i++)
        if (modules[i].start < modules[i].end) order[used++] = (struct start_order){ modules[i].start, i };
    csni_heap_sort(order, used, sizeof(*order), is_start_before, NULL);
    struct open_modules open = { .stack = { .alloc = map->parts.alloc } };
    bool good = sweep(map, modules, order, used, &open);
    csni_vec_deinit(&open.stack);
    csni_free(map->parts.alloc, order, count * sizeof(*order));
    return good;
}

bool csni_module_map_set(struct csni_module_map *map, const struct csn_module *modules, uint32_t count) {
    struct csni_module_map made;
    csni_module_map_init(&made, map->parts.alloc);
    const bool good = !count || make_map(&made, modules, count);
    struct csni_module_map *unused = good ? map : &made;
    csni_module_map_deinit(unused);
    if (good) *map = made;
    return good;
}

uint32_t csni_module_map_find(const struct csni_module_map *map, uint64_t pc) {
    size_t upper = csni_upper_bound(map->parts.items, map->parts.count, start, pc);
    return upper ? map->parts.items[upper - 1].module : CSNI_NO_MODULE;
}
