/* The units that requests need: read once, into the compact form of the index, and then released. */
#include <stdlib.h>
#include <string.h>

#include "stand_ins/growth.h"
#include "stand_ins/llvm_index_private.h"

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

bool llvm_index_units_begin(struct llvm_index_units *u, struct llvm_module *m) {
    const bool is_linked = m->object.kind == CSN_OBJECT_EXECUTABLE || m->object.kind == CSN_OBJECT_SHARED;
    if (m->object.container != CSN_CONTAINER_ELF || !is_linked || !m->object.info_unit_count || !find_bounds(u, m)) return false;
    (void)llvm_module_range(m, 0); /* reads the ranges */
    group_ranges(u, m);
    address_texts_init(&u->texts);
    u->chunks = zeroed_memory(m->ranges.count, sizeof *u->chunks);
    u->is_added = zeroed_memory(m->object.info_unit_count, sizeof *u->is_added);
    u->module = m;
    return true;
}

void llvm_index_units_free(struct llvm_index_units *u) {
    if (!u->module) return;
    address_part_deinit(&u->part);
    address_texts_deinit(&u->texts);
    free(u->range_indexes);
    free(u->first_range);
    free(u->chunks);
    free(u->is_added);
    *u = (struct llvm_index_units){ 0 };
}

bool llvm_index_units_find(struct llvm_index_units *u, enum llvm_path_kind paths, uint64_t addr, struct address_place *out) {
    struct llvm_module *m = u->module;
    const struct llvm_unit_range *range = llvm_module_range(m, addr);
    *out = (struct address_place){ .scope = ADDRESS_NONE };
    if (addr < u->base || addr - u->base >= u->size) return false;
    if (!range) return true;
    if (!u->is_added[range->unit]) {
        const struct llvm_index_output to = { &u->part, &u->texts, paths, u->base, u->size };
        const uint32_t first = u->first_range[range->unit], count = u->first_range[range->unit + 1] - first;
        struct llvm_unit *unit = llvm_module_unit_at(m, range->unit);
        if (!unit) return false;
        llvm_index_add_unit(&to, m, unit, m->ranges.items, u->range_indexes + first, count, u->chunks);
        llvm_module_release_unit(m, range->unit);
        u->is_added[range->unit] = true;
    }
    const uint32_t chunk = u->chunks[range - m->ranges.items];
    return chunk != ADDRESS_NONE && address_part_find(&u->part, &u->texts, chunk, (uint32_t)(addr - u->base), out);
}
