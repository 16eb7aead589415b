/* Units that LLVM does not find. In objects that are not linked, each type may have a section .debug_info of its own (gcc and clang with
 * -gdwarf-5 -fdebug-types-section), whose offsets begin at 0 again. LLVM has the units of all of them in one list, and searches it for an
 * offset as if they ascended. */
#include <stdlib.h>
#include <string.h>

#include "stand_ins/base/growth.h"
#include "stand_ins/llvm/llvm_module.h"
#include "ui/bounds.h"

struct listed_unit {
    uint64_t begin, end;
};

struct listed_units {
    struct listed_unit *items;
    size_t count, capacity;
    size_t types;
    size_t own;              /* the first that is of no type */
};

static bool is_info(const struct llvm_module *m, uint32_t idx, struct csn_debug_section *out) {
    static const char name[] = ".debug_info";
    return csn_debug_info_section(m->info, idx, out, NULL) == CSN_OK && out->name.len == sizeof name - 1 &&
           memcmp(out->name.ptr, name, sizeof name - 1) == 0;
}

static void add_units(const struct llvm_module *m, struct listed_units *to) {
    for (uint32_t i = 0; i < m->object.info_unit_count; i++) {
        const struct csn_debug_unit *unit = NULL;
        (void)csn_debug_info_unit(m->info, i, &unit, NULL);
        const struct listed_unit made = { unit ? unit->offset : 0, unit ? unit->end : 0 };
        GROW_PUSH(to, made);
    }
}

/* In the order of the sections. */
static struct listed_units list_units(const struct llvm_module *m) {
    struct listed_units list = { 0 };
    struct csn_debug_section s;
    struct csn_str own = { NULL, 0 };
    bool has_own = false;
    (void)csn_debug_info_dwarf_section(m->info, "info", &own, NULL);
    for (uint32_t i = 1; i < m->object.section_count; i++) {
        if (!is_info(m, i, &s)) continue;
        if (!has_own && s.size == own.len) {
            has_own = true;
            list.own = list.count;
            add_units(m, &list);
            continue;
        }
        const struct listed_unit type = { 0, s.size };
        GROW_PUSH(&list, type);
        list.types++;
    }
    return list;
}

static bool is_found(const struct listed_units *list, uint32_t unit) {
    const size_t own = list->own + unit, at = UPPER_BOUND(list->items, list->count, end, list->items[own].begin);
    return at == own;
}

void llvm_drop_lost_units(struct llvm_module *m) {
    if (!llvm_is_unlinked(m) || m->object.container != CSN_CONTAINER_ELF) return;
    struct listed_units list = list_units(m);
    size_t kept = 0;
    const bool may_be_lost = list.types && list.count - list.types == m->object.info_unit_count;
    for (size_t i = 0; may_be_lost && i < m->ranges.count; i++)
        if (is_found(&list, m->ranges.items[i].unit)) m->ranges.items[kept++] = m->ranges.items[i];
    if (may_be_lost) m->ranges.count = kept;
    free(list.items);
}
