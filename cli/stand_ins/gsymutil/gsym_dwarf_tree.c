/* The tree of a unit's DIEs: who is whose child, and where the descendants of one end. */
#include <stdlib.h>
#include <string.h>

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
    tree->unit = (uintptr_t)unit;
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

static const struct gsym_tree *tree_of(struct gsym_unit *u, const struct csn_debug_unit *unit) {
    struct gsym_forest *others = u->others;
    const struct gsym_tree none = { 0 };
    if (unit == u->code) {
        if (!u->tree.unit) read_tree(&u->tree, unit);
        return &u->tree;
    }
    const size_t at = LOWER_BOUND(others->items, others->count, unit, (uintptr_t)unit);
    if (at == others->count || others->items[at].unit != (uintptr_t)unit) {
        GROW_PUSH(others, none);
        memmove(others->items + at + 1, others->items + at, (others->count - 1 - at) * sizeof *others->items);
        others->items[at] = none;
        read_tree(&others->items[at], unit);
    }
    return &others->items[at];
}

void gsym_forest_free(struct gsym_forest *forest) {
    for (size_t i = 0; i < forest->count; i++) free(forest->items[i].nodes.items);
    free(forest->items);
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
