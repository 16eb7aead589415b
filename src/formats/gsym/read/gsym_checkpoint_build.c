/* The checkpoints of one function after the other: what its record says at the addresses of its entries. */
#include "formats/gsym/read/gsym_checkpoint_build.h"

#include <string.h>

#include "base/core/cursor.h"
#include "formats/gsym/read/gsym_line_scan.h"

enum {
    TREE_MIN = 48,      /* bytes of an inline tree; a shorter one is passed as fast */
    VISITS_FREE = 256,  /* entries that the nodes of a function may be held against ... */
    VISITS_TIMES = 64,  /* ... and so many for each entry and node: more have a tree that no compiler makes */
    BACK_MAX = UINT16_MAX,
    NEAR_SHIFT = 7,     /* so many bytes of code have about a dozen rows */
};

void csni_checkpoint_share_init(struct csni_checkpoint_share *share, const struct csn_allocator *alloc, uint64_t first,
                                unsigned shift, unsigned revision) {
    *share = (struct csni_checkpoint_share){ .first = first, .shift = shift, .revision = revision };
    share->entries.alloc = share->calls.alloc = share->nodes.alloc = alloc;
}

void csni_checkpoint_share_free(struct csni_checkpoint_share *share) {
    csni_vec_deinit(&share->entries);
    csni_vec_deinit(&share->calls);
    csni_vec_deinit(&share->nodes);
}

/* The entries of one function. */
struct entries {
    struct csni_checkpoint_share *share;
    struct csni_checkpoint *at; /* of the first */
    uint64_t addr;              /* its address */
    uint64_t count;
    uint64_t start, end;        /* of the function */
};

static uint64_t entry_address(const struct entries *e, uint64_t k) { return e->addr + (k << e->share->shift); }

/* ---- lines ---- */

static void put_line(struct csni_checkpoint *out, const struct csni_gsym_lines *lines, const struct csni_line_scan *scan,
                     uint64_t addr, const struct csn_row *row) {
    if (addr - row->addr > BACK_MAX || scan->p >= lines->bytes.ptr + lines->bytes.size) return;
    if ((uint64_t)(scan->p - lines->bytes.ptr) > UINT32_MAX) return;
    out->fields[CSNI_CP_LINE_AT] = (uint32_t)(scan->p - lines->bytes.ptr);
    out->fields[CSNI_CP_BACK] = (uint32_t)(addr - row->addr);
    out->fields[CSNI_CP_LINE] = row->line;
    out->fields[CSNI_CP_FILE] = row->file;
}

static void put_lines(const struct entries *e, const struct csni_gsym_payload *part) {
    struct csni_gsym_lines lines = { part->bytes, e->start, "FunctionInfo", part->offset, part->bytes.ptr + part->bytes.size };
    struct csni_line_scan scan;
    struct csn_row row;
    bool near = e->share->shift <= NEAR_SHIFT;
    if (csni_line_scan_start(&scan, &lines, NULL) != CSN_OK) return;
    for (uint64_t k = 0; k < e->count; k++) {
        uint64_t addr = entry_address(e, k);
        if (addr >= e->end) return; /* what is between functions may be long */
        csn_status status = (near ? csni_line_scan_near : csni_line_scan_to)(&scan, &lines, addr, &row, NULL);
        if (status < 0) return;
        if (status == CSN_OK && addr > e->start) put_line(&e->at[k], &lines, &scan, addr, &row);
    }
}

/* ---- inlined calls ---- */

/* While a tree is walked, an entry's CALL is the node whose children are searched, its TREE_SIZE the last of those that may cover
 * any of its code; both as numbers of nodes. */
struct tree {
    const struct entries *entries;
    struct csni_cursor cursor;
    unsigned strp_size;
    uint32_t depth;                         /* of the next node */
    uint32_t open[CSN_INLINE_DEPTH_MAX];    /* the nodes around it */
    uint64_t bases[CSN_INLINE_DEPTH_MAX];   /* by depth: what ranges count from */
    uint64_t visits;                        /* that may still be made */
    bool owns;                              /* the last node has become the one whose children an entry searches */
};

static struct csni_checkpoint_node *node_of(const struct tree *t, uint32_t number) {
    return &t->entries->share->nodes.items[number];
}

/* Whether entry k may go on with the children of a node of which this is a range. */
static bool covers_entry(const struct entries *e, uint64_t k, struct csn_range r) {
    uint64_t begin = entry_address(e, k), end = entry_address(e, k + 1);
    return r.start <= begin && r.end >= (end < e->end ? end : e->end);
}

/* A range of node `number`. False: too many visits. */
static bool hold_range(struct tree *t, uint32_t number, struct csn_range r) {
    const struct entries *e = t->entries;
    const struct csni_checkpoint_node *node = node_of(t, number);
    uint64_t from = r.start > e->addr ? r.start : e->addr, to = r.end < e->end ? r.end : e->end;
    for (uint64_t k = from < to ? (from - e->addr) >> e->share->shift : e->count; k < e->count && entry_address(e, k) < to; k++) {
        uint32_t *fields = e->at[k].fields;
        if (!t->visits--) return false;
        if (fields[CSNI_CP_CALL] != node->parent) continue;
        bool first = fields[CSNI_CP_TREE_AT] == CSNI_CP_TREE_EMPTY;
        if (first && node->depth <= CSNI_CP_DEPTH_MAX && covers_entry(e, k, r)) {
            fields[CSNI_CP_CALL] = number;
            t->owns = true;
            continue;
        }
        if (first) fields[CSNI_CP_TREE_AT] = node->at;
        fields[CSNI_CP_TREE_SIZE] = number;
    }
    return true;
}

/* The ranges of node `number`, and the lowest start of those that are not empty. */
static bool take_ranges(struct tree *t, uint32_t number, uint64_t count, uint64_t *first) {
    uint64_t base = t->bases[t->depth];
    bool any = false;
    *first = base;
    for (uint64_t k = 0; k < count; k++) {
        uint64_t start = base + csni_cursor_uleb(&t->cursor), size = csni_cursor_uleb(&t->cursor);
        if (t->cursor.failed || !t->visits--) return false;
        if (size && (!any || start < *first)) *first = start;
        any |= size != 0;
        if (!hold_range(t, number, (struct csn_range){ start, start + size })) return false;
    }
    return true;
}

/* The root stands for the function and covers it; else its children are found in the usual way. */
static bool take_root(struct tree *t) {
    struct csni_cursor *c = &t->cursor;
    const struct entries *e = t->entries;
    uint64_t ranges = csni_cursor_uleb(c), start = csni_cursor_uleb(c), size = csni_cursor_uleb(c);
    if (ranges != 1 || start != 0 || size < e->end - e->start) return false;
    if (!csni_cursor_u8(c)) return false;
    csni_cursor_skip(c, t->strp_size);
    if (csni_cursor_uleb(c)) return false; /* it would be a call */
    csni_cursor_uleb(c);
    const struct csni_checkpoint_node root = { .depth = 0 };
    if (!csni_vec_push(&e->share->nodes, root)) e->share->failed = true;
    t->open[0] = 0;
    t->bases[1] = e->start;
    t->depth = 1;
    return !c->failed && !e->share->failed;
}

/* Passes the rest of a list of nodes, with all that is in them. */
static void skip_list(struct csni_cursor *c, unsigned strp_size) {
    for (uint32_t depth = 1; depth && !c->failed;) {
        uint64_t count = csni_cursor_uleb(c);
        if (!count) depth--;
        if (!count) continue;
        for (uint64_t k = 0; k < count && !c->failed; k++) {
            csni_cursor_uleb(c);
            csni_cursor_uleb(c);
        }
        depth += csni_cursor_u8(c) != 0;
        csni_cursor_skip(c, strp_size);
        csni_cursor_uleb(c);
        csni_cursor_uleb(c);
    }
}

/* The node at the cursor, which has `count` ranges. Children matter where they may be searched apart from it. */
static bool take_node(struct tree *t, uint32_t at, uint64_t count) {
    struct csni_cursor *c = &t->cursor;
    struct csni_checkpoint_share *share = t->entries->share;
    uint32_t number = (uint32_t)share->nodes.count;
    const struct csni_checkpoint_node new = { .at = at, .parent = t->open[t->depth - 1], .depth = t->depth };
    uint64_t first;
    if (!csni_vec_push(&share->nodes, new)) share->failed = true;
    t->visits += VISITS_TIMES;
    t->owns = false;
    if (share->failed || !take_ranges(t, number, count, &first)) return false;
    bool children = csni_cursor_u8(c) != 0;
    csni_cursor_skip(c, t->strp_size);
    csni_cursor_uleb(c);
    csni_cursor_uleb(c);
    if (children && !t->owns) skip_list(c, t->strp_size);
    node_of(t, number)->end = (uint32_t)csni_cursor_off(c);
    if (c->failed || (t->owns && t->depth + 1 == CSN_INLINE_DEPTH_MAX)) return false;
    if (!children || !t->owns) return true;
    t->open[t->depth++] = number;
    t->bases[t->depth] = first;
    return true;
}

/* Holds all nodes against the entries. */
static bool walk_tree(struct tree *t) {
    if (!take_root(t)) return false;
    while (t->depth) {
        uint32_t at = (uint32_t)csni_cursor_off(&t->cursor);
        uint64_t count = csni_cursor_uleb(&t->cursor);
        if (t->cursor.failed) return false;
        if (!count) node_of(t, t->open[--t->depth])->end = at + 1;
        else if (!take_node(t, at, count)) return false;
    }
    return true;
}

/* The number of the call of a node, which it gets with those around it. */
static uint32_t call_of(struct tree *t, uint32_t number) {
    struct csni_checkpoint_share *share = t->entries->share;
    uint32_t chain[CSNI_CP_DEPTH_MAX], count = 0;
    for (; number && !node_of(t, number)->call; number = node_of(t, number)->parent) chain[count++] = number;
    uint32_t parent = number ? node_of(t, number)->call : 0;
    while (count) {
        struct csni_checkpoint_node *node = node_of(t, chain[--count]);
        const struct csni_checkpoint_call call = { node->at, parent };
        if (!csni_vec_push(&share->calls, call)) share->failed = true;
        parent = node->call = (uint32_t)share->calls.count;
    }
    return parent;
}

/* What the entries have as numbers of nodes, as they are stored. `base`: bytes before the tree that places count from. */
static void settle_tree(struct tree *t, uint32_t base) {
    for (uint64_t k = 0; k < t->entries->count; k++) {
        uint32_t *fields = t->entries->at[k].fields;
        if (fields[CSNI_CP_TREE_AT] != CSNI_CP_TREE_EMPTY) {
            fields[CSNI_CP_TREE_SIZE] = node_of(t, fields[CSNI_CP_TREE_SIZE])->end - fields[CSNI_CP_TREE_AT];
            fields[CSNI_CP_TREE_AT] += base;
        }
        fields[CSNI_CP_CALL] = call_of(t, fields[CSNI_CP_CALL]);
    }
}

static void forget_tree(const struct entries *e) {
    for (uint64_t k = 0; k < e->count; k++)
        e->at[k].fields[CSNI_CP_CALL] = e->at[k].fields[CSNI_CP_TREE_AT] = e->at[k].fields[CSNI_CP_TREE_SIZE] = 0;
}

static void put_tree(const struct entries *e, const struct csni_gsym *gsym, const struct csni_gsym_payload *part,
                     uint64_t from_record) {
    struct tree t;
    if (part->bytes.size < TREE_MIN || part->bytes.size > UINT32_MAX || from_record > UINT32_MAX - part->bytes.size) return;
    t.entries = e;
    t.cursor = csni_cursor_at(part->bytes, gsym->big);
    t.strp_size = gsym->strp_size;
    t.visits = VISITS_FREE + e->count * VISITS_TIMES;
    e->share->nodes.count = 0;
    for (uint64_t k = 0; k < e->count; k++) e->at[k].fields[CSNI_CP_TREE_AT] = CSNI_CP_TREE_EMPTY;
    if (walk_tree(&t)) settle_tree(&t, e->share->revision == CSNI_CP_REVISION_1 ? 0 : (uint32_t)from_record);
    else forget_tree(e);
}

/* ---- functions ---- */

/* The first part of each type, as a lookup reads them. */
static void put_parts(const struct entries *e, const struct csni_gsym *gsym, const struct csni_gsym_record *record) {
    struct csni_gsym_payload part;
    bool lines = false, tree = false;
    uint64_t pos = gsym->parts_at;
    for (unsigned k = 0; k < CSNI_GSYM_PARTS_MAX && csni_gsym_part_next(gsym, record, &pos, &part, NULL) == CSN_OK; k++) {
        if (part.type == CSNI_GSYM_PART_LINES && !lines) put_lines(e, &part);
        if (part.type == CSNI_GSYM_PART_INLINE && !tree) put_tree(e, gsym, &part, (uint64_t)(part.bytes.ptr - record->bytes.ptr));
        lines |= part.type == CSNI_GSYM_PART_LINES;
        tree |= part.type == CSNI_GSYM_PART_INLINE;
    }
}

/* The entries at or after the function's start and before f->next, which begin with what all have. */
static bool make_entries(struct csni_checkpoint_share *share, const struct csni_checkpoint_function *f, uint64_t start,
                         uint32_t record, struct entries *out) {
    uint64_t step = (uint64_t)1 << share->shift, low = start - share->first, high = f->next - share->first;
    uint64_t from = (low + step - 1) >> share->shift, to = (high + step - 1) >> share->shift;
    *out = (struct entries){ .share = share, .addr = share->first + (from << share->shift), .start = start };
    if (start < share->first || f->next <= start || from >= to) return false;
    out->count = to - from;
    share->failed |= out->count > SIZE_MAX - share->entries.count ||
                     !csni_vec_reserve(&share->entries, share->entries.count + (size_t)out->count);
    if (share->failed) return false;
    out->at = share->entries.items + share->entries.count;
    share->entries.count += (size_t)out->count;
    const struct csni_checkpoint same = { { [CSNI_CP_FUNCTION] = f->idx, [CSNI_CP_RECORD] = record } };
    for (uint64_t k = 0; k < out->count; k++) out->at[k] = same;
    return true;
}

void csni_checkpoint_add(struct csni_checkpoint_share *share, const struct csni_gsym *gsym,
                         const struct csni_checkpoint_function *f, const struct csni_gsym_record *record) {
    struct entries e;
    bool plain = !record || f->shares_start || f->record_at % 4 || f->record_at / 4 >= CSNI_CP_NO_RECORD;
    if (!make_entries(share, f, f->start, plain ? CSNI_CP_NO_RECORD : (uint32_t)(f->record_at / 4), &e) || plain) return;
    e.end = record->size ? f->start + record->size : f->next;
    if (e.end > f->next) e.end = f->next;
    put_parts(&e, gsym, record);
}
