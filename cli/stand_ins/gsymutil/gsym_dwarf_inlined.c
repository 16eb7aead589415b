/* Calls inlined into a function. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "stand_ins/base/dwarf_words.h"
#include "stand_ins/base/growth.h"
#include "stand_ins/gsymutil/gsym_dwarf.h"
#include "ui/bounds.h"

enum { MAX_DEPTH = 512 };

/* Blocks and calls of the function; functions within it have their own. */
bool gsym_has_inlined(struct gsym_unit *u, const struct csn_debug_die *die) {
    struct csn_debug_die at;
    size_t depth = 1;
    if (die->tag == DW_TAG_inlined_subroutine) return true;
    if (!die->has_children) return false;
    for (uint64_t offset = die->next; depth;) {
        csn_status status = csn_debug_die_at(die->unit, offset, &at, NULL);
        if (status < 0) return false;
        offset = at.next;
        if (status == CSN_NONE) {
            depth--;
            continue;
        }
        if (at.tag == DW_TAG_inlined_subroutine) return true;
        if (at.tag != DW_TAG_subprogram) depth += at.has_children != 0;
        else if (!gsym_skip_children(u, &at, &offset)) return false;
    }
    return false;
}

struct walk {
    struct gsym_unit *unit;
    struct gsym_function *function;
    bool warns;              /* about a function that lost all its calls */
};

/* Of ranges that ascend and are apart. */
static bool holds_range(const struct csn_range *ranges, size_t count, const struct csn_range *range) {
    const size_t at = UPPER_BOUND(ranges, count, end, range->start);
    return at < count && range->start >= ranges[at].start && range->end <= ranges[at].end;
}

static void report_range(struct walk *w, const struct csn_debug_die *die, const struct csn_range *range) {
    w->unit->build->report->counts[GSYM_INLINE_OUTSIDE_PARENT]++;
    printf("error: inlined function DIE at 0x%08" PRIx64 " has a range [0x%016" PRIx64 " - 0x%016" PRIx64
           ") that isn't contained in any parent address ranges, this inline range will be removed.\n",
           die->offset, range->start, range->end);
}

/* Adds the ranges of the call that are within its parent's; gives all of its ranges. False: none is. */
static bool take_ranges(struct walk *w, const struct csn_debug_die *die, uint32_t parent, const struct gsym_ranges *parent_all,
                        struct gsym_ranges *all, struct gsym_node *node) {
    struct gsym_function *f = w->function;
    struct csn_range *ranges;
    size_t count;
    if (!gsym_die_ranges(w->unit, die, &ranges, &count)) {
        if (csn_debug_die_ranges(die, NULL, 0, &count, NULL) >= CSN_OK) w->warns = false; /* it has none, and is not damaged */
        return false;
    }
    for (size_t i = 0; i < count; i++) gsym_ranges_insert(all, 0, ranges[i]);
    free(ranges);
    if (!all->count) w->warns = false;
    node->first_range = (uint32_t)f->ranges.count;
    for (size_t i = 0; i < all->count; i++) {
        const struct gsym_node *around = &f->nodes.items[parent];
        if (holds_range(f->ranges.items + around->first_range, around->range_count, &all->items[i]))
            GROW_PUSH(&f->ranges, all->items[i]);
        else if (holds_range(parent_all->items, parent_all->count, &all->items[i])) w->warns = false;
        else report_range(w, die, &all->items[i]);
    }
    node->range_count = (uint32_t)f->ranges.count - node->first_range;
    return node->range_count;
}

static void read_children(struct walk *w, const struct csn_debug_die *die, uint32_t parent,
                          const struct gsym_ranges *parent_all, unsigned depth);

static void read_call(struct walk *w, const struct csn_debug_die *die, uint32_t parent,
                      const struct gsym_ranges *parent_all, unsigned depth) {
    struct gsym_function *f = w->function;
    struct gsym_ranges all = { 0 };
    struct gsym_node node = { .depth = f->nodes.items[parent].depth + 1 };
    const size_t ranges_before = f->ranges.count;
    uint64_t file = UINT32_MAX;
    struct csn_debug_value line;
    const uint32_t line_name = DW_AT_call_line;
    if (take_ranges(w, die, parent, parent_all, &all, &node)) {
        if (!gsym_die_name(w->unit, die, &node.name)) node.name = 0;
        (void)gsym_die_constant(die, DW_AT_call_file, &file);
        if (gsym_unit_file(w->unit, (uint32_t)file, &node.call_file)) {
            if (csn_debug_die_attribute(die, line_name, &line) == CSN_OK && line.form != DW_FORM_sdata)
                node.call_line = (uint32_t)line.number;
            const uint32_t idx = (uint32_t)f->nodes.count;
            GROW_PUSH(&f->nodes, node);
            read_children(w, die, idx, &all, depth);
        } else {
            f->ranges.count = ranges_before;
            w->unit->build->report->counts[GSYM_INLINE_BAD_FILE]++;
            printf("error: inlined function DIE at 0x%08" PRIx64 " has an invalid file index %" PRIu64
                   " in its DW_AT_call_file attribute, this "
                   "inline entry and all children will be removed.\n",
                   die->offset, file);
        }
    }
    free(all.items);
}

static void read_children(struct walk *w, const struct csn_debug_die *die, uint32_t parent,
                          const struct gsym_ranges *parent_all, unsigned depth) {
    struct csn_debug_die child;
    uint64_t offset = die->next;
    if (depth > MAX_DEPTH) return;
    while (gsym_next_child(w->unit, die, &offset, &child)) {
        if (child.tag == DW_TAG_inlined_subroutine) read_call(w, &child, parent, parent_all, depth + 1);
        else if (child.tag == DW_TAG_lexical_block) read_children(w, &child, parent, parent_all, depth + 1);
    }
}

void gsym_read_inlined(struct gsym_unit *u, const struct csn_debug_die *die, const struct gsym_ranges *all,
                       struct gsym_function *f) {
    struct walk walk = { u, f, true };
    const struct gsym_node root = { .name = f->name, .range_count = 1 };
    GROW_PUSH(&f->nodes, root);
    GROW_PUSH(&f->ranges, ((struct csn_range){ f->start, f->end }));
    read_children(&walk, die, 0, all, 0);
    if (f->nodes.count > 1) return;
    f->nodes.count = f->ranges.count = 0;
    if (!walk.warns || u->build->is_quiet) return;
    u->build->report->counts[GSYM_INLINES_WITHOUT_RANGES]++;
    puts("warning: DIE contains inline function information that has no valid ranges, removing inline information:");
    gsym_put_die(u, die);
}
