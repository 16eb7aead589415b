/* Addresses in objects that are not linked: LLVM counts them from their section, the reader puts the sections one after the other. */
#include "stand_ins/base/growth.h"
#include "stand_ins/llvm/llvm_module.h"
#include "ui/bounds.h"

bool llvm_is_unlinked(const struct llvm_module *m) {
    const bool has_own_bases = m->object.container == CSN_CONTAINER_ELF || m->object.container == CSN_CONTAINER_PE;
    return m->object.kind == CSN_OBJECT_RELOCATABLE && has_own_bases;
}

void llvm_read_sections(struct llvm_module *m) {
    m->sections_ascend = true;
    for (uint32_t i = 1; llvm_is_unlinked(m) && i < m->object.section_count; i++) {
        struct csn_debug_section s;
        if (csn_debug_info_section(m->info, i, &s, NULL) != CSN_OK || !(s.flags & CSN_SECTION_ALLOC)) continue;
        const struct llvm_section made = { s.addr, s.size, i };
        const struct llvm_section *last = m->sections.count ? &m->sections.items[m->sections.count - 1] : NULL;
        if (last && s.addr < last->addr + last->size) m->sections_ascend = false;
        GROW_PUSH(&m->sections, made);
    }
}

/* The first section that holds an address, or NULL. *empty: an empty one that begins there, before it. */
static const struct llvm_section *find_section(const struct llvm_module *m, uint64_t addr, bool *empty) {
    size_t i = 0, end = m->sections.count;
    if (m->sections_ascend && end) {
        end = UPPER_BOUND(m->sections.items, end, addr, addr);
        for (i = end; i && m->sections.items[i - 1].addr == addr; i--) continue; /* empty ones, and perhaps one that is not */
        if (i) i--;
    }
    *empty = false;
    for (; i < end; i++) {
        const struct llvm_section *s = &m->sections.items[i];
        if (!s->size && addr == s->addr) *empty = true;
        if (addr >= s->addr && addr < s->addr + s->size) return s;
    }
    return NULL;
}

uint64_t llvm_raw_addr(const struct llvm_module *m, uint64_t addr, uint32_t *section) {
    bool is_at_empty; /* what has a size in an empty section was not relocated */
    if (section) *section = 0;
    if (!llvm_is_unlinked(m)) return addr;
    const struct llvm_section *s = find_section(m, addr, &is_at_empty);
    if (!s) return is_at_empty ? 0 : addr;
    if (section) *section = s->idx;
    return addr - s->addr;
}

size_t llvm_listed_ranges(const struct llvm_module *m, const struct csn_debug_unit *unit, const struct csn_range *ranges,
                          size_t count) {
    if (unit->version >= 5 || !llvm_is_unlinked(m)) return count;
    for (size_t i = 0; i < count; i++)
        if (ranges[i].start == ranges[i].end && !llvm_raw_addr(m, ranges[i].start, NULL)) return i;
    return count;
}

struct llvm_place llvm_module_place(const struct llvm_module *m, uint64_t addr) {
    struct llvm_place place = { addr, 0 };
    if (!llvm_is_unlinked(m)) return place;
    for (uint32_t i = 1; i < m->object.section_count; i++) {
        struct csn_debug_section s;
        if (csn_debug_info_section(m->info, i, &s, NULL) != CSN_OK) continue;
        if (!(s.flags & CSN_SECTION_EXEC) || s.flags & CSN_SECTION_NOBITS || addr >= s.size) continue;
        place.section = i;
        return place;
    }
    return place;
}
