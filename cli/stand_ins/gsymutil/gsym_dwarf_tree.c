/* The tree of a unit's DIEs: who is whose child, and where the descendants of one end. */
#include <stdlib.h>

#include "stand_ins/base/dwarf_words.h"
#include "stand_ins/base/growth.h"
#include "stand_ins/gsymutil/gsym_dwarf.h"
#include "ui/bounds.h"

enum { SHORT_WALK = 64 }; /* DIEs that are stepped over one by one */

/* Only of DIEs with children and of functions: they alone are asked for. */
static void add_node(struct gsym_tree *tree, const struct csn_debug_die *die, uint64_t parent) {
    const struct gsym_tree_node node = { die->offset, parent, die->has_children ? die->unit->end : die->next };
    GROW_PUSH(&tree->nodes, node);
}

static void read_tree(struct gsym_tree *tree, const struct csn_debug_unit *unit) {
    struct csn_debug_die die;
    struct { size_t *items, count, capacity; } around = { 0 }; /* nodes */
    tree->unit = unit;
    if (csn_debug_die_at(unit, unit->root, &die, NULL) != CSN_OK || !die.has_children) return;
    add_node(tree, &die, die.offset);
    GROW_PUSH(&around, 0);
    for (uint64_t offset = die.next; offset < unit->end && around.count;) {
        const size_t parent = around.items[around.count - 1];
        csn_status status = csn_debug_die_at(unit, offset, &die, NULL);
        if (status < 0) break;
        offset = die.next;
        if (status == CSN_NONE) {
            tree->nodes.items[parent].after = offset;
            around.count--;
            continue;
        }
        if (die.has_children || die.tag == DW_TAG_subprogram || die.tag == DW_TAG_inlined_subroutine)
            add_node(tree, &die, tree->nodes.items[parent].offset);
        if (die.has_children) GROW_PUSH(&around, tree->nodes.count - 1);
    }
    free(around.items);
}

static size_t slot_of(const struct gsym_forest *f, const struct csn_debug_unit *unit) {
    size_t at = (size_t)((uint64_t)(uintptr_t)unit * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (f->slot_count - 1);
    while (f->slots[at] && f->items[f->slots[at] - 1].unit != unit) at = (at + 1) & (f->slot_count - 1);
    return at;
}

static void grow_slots(struct gsym_forest *f) {
    free(f->slots);
    f->slot_count = f->slot_count ? 2 * f->slot_count : 64;
    f->slots = zeroed_memory(f->slot_count, sizeof *f->slots);
    for (size_t i = 0; i < f->count; i++) f->slots[slot_of(f, f->items[i].unit)] = (uint32_t)i + 1;
}

static const struct gsym_tree *tree_of(struct gsym_unit *u, const struct csn_debug_unit *unit) {
    struct gsym_forest *others = u->others;
    if (unit == u->code) {
        if (!u->tree.unit) read_tree(&u->tree, unit);
        return &u->tree;
    }
    if (2 * others->count >= others->slot_count) grow_slots(others);
    const size_t at = slot_of(others, unit);
    if (!others->slots[at]) {
        const struct gsym_tree none = { 0 };
        GROW_PUSH(others, none);
        read_tree(&others->items[others->count - 1], unit);
        others->slots[at] = (uint32_t)others->count;
    }
    return &others->items[others->slots[at] - 1];
}

void gsym_forest_free(struct gsym_forest *forest) {
    for (size_t i = 0; i < forest->count; i++) free(forest->items[i].nodes.items);
    free(forest->items);
    free(forest->slots);
}

/* NULL: it is damaged, or was not taken in. */
static const struct gsym_tree_node *node_of(struct gsym_unit *u, const struct csn_debug_die *die) {
    const struct gsym_tree *tree = tree_of(u, die->unit);
    const size_t at = LOWER_BOUND(tree->nodes.items, tree->nodes.count, offset, die->offset);
    return at < tree->nodes.count && tree->nodes.items[at].offset == die->offset ? &tree->nodes.items[at] : NULL;
}

bool gsym_find_parent(struct gsym_unit *u, const struct csn_debug_die *die, struct csn_debug_die *out) {
    const struct gsym_tree_node *node = node_of(u, die);
    return node && node->parent != node->offset && csn_debug_die_at(die->unit, node->parent, out, NULL) == CSN_OK;
}

/* Of a large tree the unit's one is asked: of functions within functions each step would be over all that are further in. */
bool gsym_skip_children(struct gsym_unit *u, const struct csn_debug_die *die, uint64_t *offset) {
    struct csn_debug_die at;
    struct csn_debug_value sibling;
    *offset = die->next;
    if (!die->has_children) return true;
    if (csn_debug_die_attribute(die, DW_AT_sibling, &sibling) == CSN_OK &&
        csn_debug_die_follow(die, &sibling, &at, NULL) == CSN_OK && at.unit == die->unit && at.offset > die->offset) {
        *offset = at.offset;
        return true;
    }
    for (size_t depth = 1, steps = 0; depth; steps++) {
        const struct gsym_tree_node *node = steps == SHORT_WALK ? node_of(u, die) : NULL;
        if (node) {
            *offset = node->after;
            return true;
        }
        csn_status status = csn_debug_die_at(die->unit, *offset, &at, NULL);
        if (status < 0) return false;
        *offset = at.next;
        if (status == CSN_NONE) depth--;
        else depth += at.has_children != 0;
    }
    return true;
}

bool gsym_next_child(struct gsym_unit *u, const struct csn_debug_die *parent, uint64_t *offset, struct csn_debug_die *out) {
    if (!parent->has_children || csn_debug_die_at(parent->unit, *offset, out, NULL) != CSN_OK) return false;
    return gsym_skip_children(u, out, offset) || (*offset = parent->unit->end, true);
}
