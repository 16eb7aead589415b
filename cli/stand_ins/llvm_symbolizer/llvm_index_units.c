/* The units that requests need: read once, into the compact form of the index, and then released. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "stand_ins/base/growth.h"
#include "stand_ins/llvm_symbolizer/llvm_index_private.h"
#include "ui/turns.h"

enum { BATCH = 8 }; /* units that a worker takes at once: they share pages */

/* The addresses of code. False: there is none, or it is too large. */
static bool find_bounds(struct llvm_index_units *u, const struct llvm_module *m) {
    uint64_t low = UINT64_MAX, high = 0;
    for (uint32_t i = 1; i < m->object.section_count; i++) {
        struct csn_debug_section s;
        if (csn_debug_info_section(m->info, i, &s, NULL) != CSN_OK || !(s.flags & CSN_SECTION_ALLOC)) continue;
        if (!(s.flags & CSN_SECTION_EXEC) || !s.size) continue;
        if (s.addr < low) low = s.addr;
        if (s.addr + s.size > high) high = s.addr + s.size;
    }
    u->base = low;
    u->size = high - low;
    return low < high && high - low < UINT32_MAX - 1;
}

static void group_ranges(struct llvm_index_units *u, const struct llvm_module *m) {
    const uint32_t units = m->object.info_unit_count;
    u->range_indexes = zeroed_memory(m->ranges.count, sizeof *u->range_indexes);
    u->first_range = zeroed_memory((size_t)units + 2, sizeof *u->first_range);
    for (size_t i = 0; i < m->ranges.count; i++) u->first_range[m->ranges.items[i].unit + 2]++;
    for (uint32_t i = 2; i < units + 2; i++) u->first_range[i] += u->first_range[i - 1];
    for (size_t i = 0; i < m->ranges.count; i++) u->range_indexes[u->first_range[m->ranges.items[i].unit + 1]++] = (uint32_t)i;
}

bool llvm_index_units_begin(struct llvm_index *ix, struct llvm_module *m) {
    struct llvm_index_units *u = &ix->units;
    const bool is_linked = m->object.kind == CSN_OBJECT_EXECUTABLE || m->object.kind == CSN_OBJECT_SHARED;
    if (m->object.container != CSN_CONTAINER_ELF || !is_linked || !m->object.info_unit_count || !find_bounds(u, m)) return false;
    (void)llvm_module_range(m, 0); /* reads the ranges */
    if (m->has_no_units) return false;
    group_ranges(u, m);
    address_texts_init(&u->texts);
    u->chunks = zeroed_memory(m->ranges.count, sizeof *u->chunks);
    u->added_by = zeroed_memory(m->object.info_unit_count, sizeof *u->added_by);
    u->wanted = zeroed_memory(m->object.info_unit_count, sizeof *u->wanted);
    u->object_path = ix->kept.object_path;
    u->paths = ix->paths;
    u->module = m;
    u->workers[0] = (struct llvm_index_worker){ .units = u, .module = m };
    u->worker_count = 1;
    return true;
}

void llvm_index_units_free(struct llvm_index_units *u) {
    if (!u->module) return;
    for (size_t i = 0; i < u->worker_count; i++) {
        address_part_deinit(&u->workers[i].part);
        if (i) llvm_module_close(u->workers[i].module);
    }
    address_texts_deinit(&u->texts);
    free(u->range_indexes);
    free(u->first_range);
    free(u->chunks);
    free(u->added_by);
    free(u->wanted);
    memset(u, 0, sizeof *u);
}

bool llvm_index_units_restart(struct llvm_index *ix) {
    struct llvm_module *m = ix->units.module;
    if (!m || !ix->units.is_partial) return false;
    llvm_index_units_free(&ix->units);
    return llvm_index_units_begin(ix, m);
}

/* ---- adding ---- */

static void add_unit(struct llvm_index_worker *w, uint32_t idx) {
    struct llvm_index_units *u = w->units;
    const struct llvm_index_output out = { &w->part, &u->texts, u->paths, u->base, u->size, u->addrs, u->addr_count };
    const uint32_t first = u->first_range[idx], count = u->first_range[idx + 1] - first;
    struct llvm_unit *unit = llvm_module_unit_at(w->module, idx);
    if (unit) llvm_index_add_unit(&out, w->module, unit, u->module->ranges.items, u->range_indexes + first, count, u->chunks);
    llvm_module_release_unit(w->module, idx);
    u->added_by[idx] = unit ? (uint8_t)(w - u->workers + 1) : LLVM_UNIT_UNREADABLE;
}

static void *add_wanted(void *argument) {
    struct llvm_index_worker *w = argument;
    struct llvm_index_units *u = w->units;
    const uint32_t total = u->module->object.info_unit_count;
    if (!w->module) w->module = llvm_module_open_units(u->object_path);
    if (!w->module) return NULL; /* the others do it all */
    for (uint32_t begin; (begin = atomic_fetch_add(&u->next_unit, BATCH)) < total;)
        for (uint32_t i = begin; i < total && i < begin + BATCH; i++)
            if (u->wanted[i]) add_unit(w, i);
    return NULL;
}

void llvm_index_units_add(struct llvm_index_units *u) {
    const unsigned cores = usable_cores();
    const size_t count = cores < LLVM_INDEX_MAX_WORKERS ? cores : LLVM_INDEX_MAX_WORKERS;
    pthread_t threads[LLVM_INDEX_MAX_WORKERS];
    size_t started = 1;
    atomic_store(&u->next_unit, 0);
    for (; started < count; started++) {
        u->workers[started].units = u;
        if (!worker_thread_start(&threads[started], add_wanted, &u->workers[started])) break;
    }
    if (started > u->worker_count) u->worker_count = started;
    add_wanted(&u->workers[0]);
    for (size_t i = 1; i < started; i++) pthread_join(threads[i], NULL);
}

/* ---- answers ---- */

bool llvm_index_units_find(struct llvm_index_units *u, uint64_t addr, struct address_place *out) {
    const struct llvm_unit_range *range = llvm_module_range(u->module, addr);
    *out = (struct address_place){ .scope = ADDRESS_NONE };
    if (addr < u->base || addr - u->base >= u->size) return false;
    if (!range) return true;
    if (!u->added_by[range->unit]) add_unit(&u->workers[0], range->unit);
    if (u->added_by[range->unit] == LLVM_UNIT_UNREADABLE) return false;
    const uint32_t chunk = u->chunks[range - u->module->ranges.items];
    return chunk != ADDRESS_NONE &&
           address_part_find(llvm_index_units_part(u, addr), &u->texts, chunk, (uint32_t)(addr - u->base), out);
}

const struct address_part *llvm_index_units_part(const struct llvm_index_units *u, uint64_t addr) {
    const struct llvm_unit_range *range = llvm_module_range(u->module, addr);
    return &u->workers[u->added_by[range->unit] - 1].part;
}
