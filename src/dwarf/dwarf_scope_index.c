/* Indexes of scopes: making them, dropping them, searching them. */
#include "dwarf/dwarf_scope_index.h"

#include <inttypes.h>

#include "base/core/search.h"

enum {
    MAX_INDEX_NODES = 1 << 21, /* of all units, before the indexes are dropped */
    MAX_REBUILT = 4,         /* times that; when so many nodes were made again, more are kept */
    MAX_SEGMENTS = 256       /* subtrees within each other that were jumped over */
};

enum { NO_NODE = UINT32_MAX };

/* A DIE that is a scope or a function. Nodes of a segment ascend by offset. */
struct node {
    uint64_t off;
    uint32_t parent;   /* node, or NO_NODE */
    uint32_t segment;  /* of its children: 0 none, or not looked at */
    uint32_t depth;
    uint16_t tag;
    bool unexplored;   /* its children were jumped over */
    bool damaged;      /* they cannot be indexed */
};

struct segment {
    uint32_t first, count;
};

struct csni_scope_index {
    CSNI_VEC(struct node) nodes;
    CSNI_VEC(struct segment) segments; /* 0: top level of the unit */
    csn_status status; /* a failure: the unit is damaged, and is not looked at again */
    bool again;        /* made before, and dropped */
};

csn_status csni_scope_indexes_init(struct csni_scope_indexes *s, const struct csni_dwarf *dwarf, struct csn_error *err) {
    *s = (struct csni_scope_indexes){ .dwarf = dwarf, .alloc = dwarf->alloc, .limit = MAX_INDEX_NODES };
    s->count = (size_t)dwarf->unit_count + (dwarf->supplement ? dwarf->supplement->unit_count : 0);
    s->items = csni_alloc_zeroed(s->alloc, s->count, sizeof *s->items);
    s->was_indexed = csni_alloc_zeroed(s->alloc, s->count, 1);
    if (!s->count || (s->items && s->was_indexed)) return CSN_OK;
    csni_scope_indexes_deinit(s);
    return csni_fail_memory(err, s->count * sizeof *s->items);
}

static void drop_index(struct csni_scope_indexes *s, size_t unit) {
    struct csni_scope_index *index = s->items[unit];
    if (!index) return;
    csni_vec_deinit(&index->nodes);
    csni_vec_deinit(&index->segments);
    csni_free(s->alloc, index, sizeof *index);
    s->items[unit] = NULL;
}

static void drop_indexes(struct csni_scope_indexes *s) {
    for (size_t i = 0; i < s->count; i++) drop_index(s, i);
    s->nodes = 0;
}

void csni_scope_indexes_deinit(struct csni_scope_indexes *s) {
    if (s->items) drop_indexes(s);
    csni_free(s->alloc, s->items, s->count * sizeof *s->items);
    csni_free(s->alloc, s->was_indexed, s->count);
    s->items = NULL;
    s->was_indexed = NULL;
}

/* Indexes are dropped to save memory, but input that leads from unit to unit and back must not have them made over and over:
 * then more of them are kept, so that all work on them stays in proportion to the input. */
static void limit_indexes(struct csni_scope_indexes *s) {
    if (s->nodes <= s->limit) return;
    if (s->rebuilt / MAX_REBUILT > s->limit) {
        s->limit *= 2;
        s->rebuilt = 0;
    }
    if (s->nodes > s->limit) drop_indexes(s);
}

/* Adds a segment with what the walk gives until it is back at `floor`. */
static csn_status index_subtree(struct csni_scope_indexes *s, struct csni_scope_index *index, struct csni_die_walk *walk,
                                uint32_t floor, uint32_t parent, struct csn_error *err) {
    uint32_t want = CSNI_KINDS_SCOPE | CSNI_KIND_UNIT | CSNI_KIND_BLOCK;
    struct segment segment = { (uint32_t)index->nodes.count, 0 };
    uint32_t last = parent;
    struct csni_die die;
    csn_status status;
    while ((status = csni_walk_step(walk, want, floor, &die, err)) == CSN_OK) {
        while (last != parent && index->nodes.items[last].depth >= die.closed) last = index->nodes.items[last].parent;
        struct node node = { .off = die.off, .parent = last, .depth = die.depth, .tag = die.tag };
        uint64_t target;
        if (die.depth && die.has_children && csni_die_sibling(&die, &target)) {
            node.unexplored = true;
            CSNI_TRY(csni_die_walk_skip_children(walk, &die, err));
        }
        last = (uint32_t)index->nodes.count;
        if (last >= NO_NODE - 1) return csni_fail(err, CSN_E_LIMIT, NULL, die.off, "more than %u scopes", NO_NODE);
        if (!csni_vec_push(&index->nodes, node)) return csni_fail_memory(err, sizeof node);
    }
    if (status < 0) return status;
    segment.count = (uint32_t)index->nodes.count - segment.first;
    s->nodes += segment.count;
    if (index->again) s->rebuilt += segment.count;
    return csni_vec_push(&index->segments, segment) ? CSN_OK : csni_fail_memory(err, sizeof segment);
}

static csn_status walk_for_index(const struct csni_scope_indexes *s, const struct csni_unit *unit, struct csni_die_walk *walk,
                                 struct csn_error *err) {
    CSNI_TRY(csni_die_walk_init(walk, s->dwarf, unit, err));
    walk->options.skip_types = false;
    walk->options.headers_only = CSNI_HEADERS_OF_ALL;
    return CSN_OK;
}

static csn_status fill_index(struct csni_scope_indexes *s, const struct csni_unit *unit, struct csni_scope_index *index,
                             struct csn_error *err) {
    struct csni_die_walk walk;
    CSNI_TRY(walk_for_index(s, unit, &walk, err));
    return index_subtree(s, index, &walk, 0, NO_NODE, err);
}

static csn_status index_of_unit(struct csni_scope_indexes *s, const struct csni_unit *unit, struct csni_scope_index **out,
                                struct csn_error *err) {
    size_t number = (size_t)(unit - unit->dwarf->units) + (unit->dwarf == s->dwarf ? 0 : s->dwarf->unit_count);
    struct csni_scope_index *index = s->items[number];
    csn_status status = CSN_OK;
    if (!index) {
        limit_indexes(s);
        index = csni_alloc_zeroed(s->alloc, 1, sizeof *index);
        if (!index) return csni_fail_memory(err, sizeof *index);
        index->nodes.alloc = index->segments.alloc = s->alloc;
        index->again = s->was_indexed[number];
        s->items[number] = index;
        s->was_indexed[number] = 1;
        status = index->status = fill_index(s, unit, index, err);
        if (status < 0) csni_vec_deinit(&index->nodes);
        if (status == CSN_E_MEMORY) drop_index(s, number);
    } else if (index->status < 0) {
        status = csni_fail(err, index->status, csni_unit_section(unit), unit->off, "the unit is damaged");
    }
    if (status == CSN_OK) *out = index;
    return status;
}

/* Indexes the children of a node that were jumped over: up to where the jump led, so that nothing is walked twice whatever
 * sibling attributes say. */
static csn_status explore(struct csni_scope_indexes *s, struct csni_scope_index *index, const struct csni_unit *unit, uint32_t node,
                          struct csn_error *err) {
    struct csni_die_walk walk;
    struct csni_die die;
    CSNI_TRY(walk_for_index(s, unit, &walk, err));
    CSNI_TRY(csni_die_at(s->dwarf, unit, index->nodes.items[node].off, &die, err));
    uint32_t depth = index->nodes.items[node].depth;
    struct csni_unit within = *unit;
    if (!csni_die_sibling(&die, &within.end)) within.end = die.next;
    walk.unit = &within;
    walk.p = walk.begin + die.next;
    walk.depth = depth + 1;
    size_t before = index->nodes.count;
    csn_status status = index_subtree(s, index, &walk, depth, node, err);
    if (status < 0) {
        index->nodes.count = before;
        index->nodes.items[node].damaged = status != CSN_E_MEMORY;
        return status;
    }
    index->nodes.items[node].segment = (uint32_t)index->segments.count - 1;
    index->nodes.items[node].unexplored = false;
    return CSN_OK;
}

/* The last node of a segment at or before `off`, or NO_NODE. */
static uint32_t last_at_or_before(const struct csni_scope_index *index, const struct segment *segment, uint64_t off) {
    uint32_t first = segment->first, end = first + segment->count;
    uint32_t upper = (uint32_t)csni_search_field(CSNI_SEARCH_FIELD(index->nodes.items, off), first, end, true, off);
    return upper == first ? NO_NODE : upper - 1;
}

static csn_status find_scope_index_node(struct csni_scope_indexes *s, struct csni_scope_index *index,
                                        const struct csni_unit *unit, uint64_t off,
                                        uint32_t *out, struct csn_error *err) {
    uint32_t segment = 0;
    for (uint32_t level = 0;; level++) {
        if (level == MAX_SEGMENTS)
            return csni_fail(err, CSN_E_LIMIT, csni_unit_section(unit), off, "more than %d scopes are around a DIE", MAX_SEGMENTS);
        s->cost++;
        uint32_t n = last_at_or_before(index, &index->segments.items[segment], off);
        if (n == NO_NODE) return CSN_NONE;
        if (index->nodes.items[n].off == off) {
            *out = n;
            return CSN_OK;
        }
        if (index->nodes.items[n].damaged)
            return csni_fail(err, CSN_E_FORMAT, csni_unit_section(unit), index->nodes.items[n].off,
                             "what is within the DIE is damaged");
        if (index->nodes.items[n].unexplored) CSNI_TRY(explore(s, index, unit, n, err));
        segment = index->nodes.items[n].segment;
        if (!segment) return CSN_NONE;
    }
}

csn_status csni_scope_parent(struct csni_scope_indexes *s, const struct csni_unit *unit, uint64_t off, uint64_t *parent,
                             uint16_t *tag, struct csn_error *err) {
    struct csni_scope_index *index = NULL;
    uint32_t n = NO_NODE;
    CSNI_TRY(index_of_unit(s, unit, &index, err));
    csn_status status = find_scope_index_node(s, index, unit, off, &n, err);
    if (status != CSN_OK) return status;
    const struct node *node = &index->nodes.items[n];
    if (node->parent == NO_NODE) return CSN_NONE;
    const struct node *up = &index->nodes.items[node->parent];
    if (up->depth + 1 != node->depth) return CSN_NONE;
    *parent = up->off;
    *tag = up->tag;
    return CSN_OK;
}
