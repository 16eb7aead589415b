/* GSYM inline trees: walking the nodes in file order, and finding those that cover one address. A node's ranges count as
 * a set: empty ones do not exist, and its children are relative to the lowest address of the set. */
#include <string.h>

#include "base/core/cursor.h"
#include "formats/gsym/read/gsym.h"
#include "formats/gsym/read/gsym_inline_scan.h"
#include "formats/gsym/gsym_layout.h"

static const char section_name[] = "FunctionInfo";

CSNI_COLD static csn_status truncated(const struct csni_cursor *c, uint64_t offset, struct csn_error *err) {
    return csni_fail(err, CSN_E_TRUNCATED, section_name, offset + c->failed_at,
                     "inline tree of %llu bytes ends within a node", (unsigned long long)(c->end - c->begin));
}

CSNI_COLD static csn_status too_deep(uint64_t offset, struct csn_error *err) {
    return csni_fail(err, CSN_E_LIMIT, section_name, offset, "inlined calls are nested deeper than %d",
                     CSN_INLINE_DEPTH_MAX);
}

struct csn_range csni_gsym_range(struct csni_span *ranges, uint64_t base) {
    struct csni_cursor c = csni_cursor_at(*ranges, false);
    uint64_t start = base + csni_cursor_uleb(&c);
    uint64_t end = start + csni_cursor_uleb(&c);
    *ranges = (struct csni_span){ c.p, csni_cursor_left(&c) };
    return (struct csn_range){ start, end };
}

/* The number of ranges of the node at the cursor; a number that cannot fit fails. 0 ends a list of nodes. */
static uint32_t read_range_count(struct csni_cursor *c) {
    uint64_t count = csni_cursor_uleb(c);
    if (count > csni_cursor_left(c) / 2 || count > UINT32_MAX) {
        csni_cursor_fail(c);
        return 0;
    }
    return (uint32_t)count;
}

/* The rest of a node after its range count; whether one of its ranges covers `addr`. */
static bool read_node(struct csni_cursor *c, unsigned strp_size, uint32_t range_count, uint64_t base, uint64_t addr,
                      struct csni_gsym_node *out) {
    bool covers = false, any = false;
    const uint8_t *ranges = c->p;
    out->range_count = range_count;
    out->base = out->first = base;
    for (uint32_t k = 0; k < range_count && !c->failed; k++) {
        uint64_t start = base + csni_cursor_uleb(c), size = csni_cursor_uleb(c);
        if (size && (!any || start < out->first)) out->first = start;
        any |= size != 0;
        covers |= addr - start < size;
    }
    out->ranges = (struct csni_span){ ranges, (size_t)(c->p - ranges) };
    out->has_children = csni_cursor_u8(c) != 0;
    out->name = strp_size == CSNI_GSYM_STRP_SIZE ? csni_cursor_u32(c) : csni_cursor_u64(c);
    out->call_file = (uint32_t)csni_cursor_uleb(c);
    out->call_line = (uint32_t)csni_cursor_uleb(c);
    return covers;
}

void csni_gsym_nodes(struct csni_gsym_inline_iter *iter, const struct csni_gsym *gsym,
                     const struct csni_gsym_payload *payload) {
    struct csni_span bytes = payload->bytes;
    *iter = (struct csni_gsym_inline_iter){ .begin = bytes.ptr, .p = bytes.ptr, .end = bytes.ptr + bytes.size,
                                            .offset = payload->offset, .strp_size = gsym->strp_size,
                                            .big = gsym->big };
}

csn_status csni_gsym_node_next(struct csni_gsym_inline_iter *iter, uint64_t *bases, struct csni_gsym_node *out,
                               uint32_t *out_depth, struct csn_error *err) {
    if (iter->done) return CSN_NONE;
    struct csni_cursor c = { iter->begin, iter->p, iter->end, iter->big, false, 0 };
    uint32_t depth = iter->depth, range_count = 0;
    bool started = c.p != c.begin;
    /* Depth 0 holds the root and nothing else, not even an end mark. */
    while (!(started && depth == 0) && (range_count = read_range_count(&c)) == 0 && !c.failed) {
        started = true;
        if (depth > 0) depth--;
    }
    iter->done = started && depth == 0 && !c.failed;
    iter->p = c.p;
    if (iter->done) return CSN_NONE;
    if (!c.failed) read_node(&c, iter->strp_size, range_count, bases ? bases[depth] : 0, 0, out);
    if (c.failed) return truncated(&c, iter->offset, err);
    *out_depth = depth;
    if (out->has_children) {
        if (depth + 1 >= CSN_INLINE_DEPTH_MAX) return too_deep(iter->offset + csni_cursor_off(&c), err);
        depth++;
        if (bases) bases[depth] = out->first;
    }
    iter->p = c.p;
    iter->depth = depth;
    return CSN_OK;
}

/* ---- the calls that cover an address ---- */

/* A search on its way. */
struct call_search {
    const struct csni_gsym *gsym;
    struct csni_gsym_calls *calls;
    size_t end;                       /* calls from this number on are counted, not held */
    uint32_t depth;                   /* calls met, wanted or not */
    bool has_bad_file;
    uint32_t bad_file;
};

static bool is_wanted(struct call_search *s, uint32_t file) {
    const struct csni_gsym *gsym = s->gsym;
    if (s->calls->filter == CSNI_GSYM_CALLS_ALL) return true;
    if (!file || s->calls->filter == CSNI_GSYM_CALLS_WITH_FILE) return file != 0;
    if (file >= gsym->file_count) {
        if (!s->has_bad_file) s->bad_file = file;
        s->has_bad_file = true;
        return true;
    }
    const uint8_t *entry = csni_gsym_file_entry(gsym, file);
    return csni_gsym_strp(gsym, entry) != 0 || csni_gsym_strp(gsym, entry + gsym->strp_size) != 0;
}

/* False: nested too deeply. */
static inline bool take_call(struct call_search *s, const struct csni_gsym_node *node) {
    if (s->depth++ == CSN_INLINE_DEPTH_MAX) return false;
    if (!is_wanted(s, node->call_file)) return true;
    size_t number = s->calls->count++;
    csni_gsym_prefetch_string(s->gsym, node->name);
    if (node->call_file < s->gsym->file_count) csni_prefetch(csni_gsym_file_entry(s->gsym, node->call_file));
    if (number < s->end) {
        s->calls->held[number % CSNI_GSYM_CALLS_HELD] =
            (struct csni_gsym_inlined){ node->first, node->name, node->call_file, node->call_line };
        s->calls->end = number + 1;
    }
    return true;
}

/* Searches from `scan` on. `window`: its nodes are some of a list, and may end without a mark. */
static csn_status scan_calls(struct call_search *s, struct csni_inline_scan *scan, bool root, bool window, struct csn_error *err) {
    const struct csni_gsym *gsym = s->gsym;
    struct csni_gsym_calls *calls = s->calls;
    const uint8_t *tree = calls->tree.bytes.ptr;
    bool wide = csni_has_byte_blocks(), narrow = gsym->strp_size == CSNI_GSYM_STRP_SIZE;
    for (;; root = false) {
        if (window && scan->p == scan->end && !scan->depth) break;
        if (wide && !root && (narrow ? csni_inline_scan_avx2(scan) : csni_inline_scan_avx2_v2(scan))) break;
        if (window && scan->p == scan->end && !scan->depth) break;
        struct csni_cursor c = { tree, scan->p, scan->end, gsym->big, false, 0 };
        struct csni_gsym_node node = { .has_children = false };
        uint32_t range_count = read_range_count(&c);
        bool covers = range_count && read_node(&c, gsym->strp_size, range_count, scan->base, calls->addr, &node) &&
                      scan->depth == 0;
        if (c.failed) return truncated(&c, calls->tree.offset, err);
        scan->p = c.p;
        if (covers) {
            if (csni_gsym_node_is_call(&node, root) && !take_call(s, &node))
                return too_deep(calls->tree.offset + csni_cursor_off(&c), err);
            if (!node.has_children) break;
            scan->base = node.first;
            window = false;
        } else if (root) {
            break;
        } else if (range_count) {
            scan->depth += node.has_children;
        } else if (scan->depth-- == 0) {
            break;
        }
    }
    if (!s->has_bad_file) return CSN_OK;
    return csni_fail(err, CSN_E_FORMAT, section_name, calls->tree.offset, "file %u, need < %u", s->bad_file, gsym->file_count);
}

static struct csni_inline_scan scan_of(const struct call_search *s) {
    const struct csni_span bytes = s->calls->tree.bytes;
    return (struct csni_inline_scan){ .p = bytes.ptr, .end = bytes.ptr + bytes.size, .addr = s->calls->addr,
                                      .base = s->calls->start, .readable = s->gsym->bytes.ptr + s->gsym->bytes.size };
}

static csn_status search_calls(struct call_search *s, struct csn_error *err) {
    struct csni_inline_scan scan = scan_of(s);
    return scan_calls(s, &scan, true, false, err);
}

/* Takes the call at `at`, which has to cover the address. */
static bool take_enclosing(struct call_search *s, struct csni_inline_scan *scan, uint32_t at) {
    const struct csni_span tree = s->calls->tree.bytes;
    struct csni_gsym_node node;
    if (at >= tree.size) return false;
    struct csni_cursor c = { tree.ptr, tree.ptr + at, tree.ptr + tree.size, s->gsym->big, false, 0 };
    uint32_t range_count = read_range_count(&c);
    if (!range_count || !read_node(&c, s->gsym->strp_size, range_count, scan->base, s->calls->addr, &node) || c.failed)
        return false;
    scan->base = node.first;
    return !csni_gsym_node_is_call(&node, false) || take_call(s, &node);
}

/* The calls by a checkpoint. False: what it says does not fit. */
static bool search_calls_from(struct call_search *s, const uint8_t *entry, size_t from_record, csn_status *out,
                              struct csn_error *err) {
    const struct csni_gsym_checkpoints *c = &s->gsym->checkpoints;
    uint32_t at = csni_checkpoint_tree_at(c, entry, from_record);
    uint32_t size = csni_checkpoint_get(entry, &c->fields[CSNI_CP_TREE_SIZE]);
    struct csni_inline_scan scan = scan_of(s);
    struct csni_checkpoint_calls around;
    struct csni_span window;
    if (!csni_span_sub(s->calls->tree.bytes, at, size, &window) || !csni_checkpoint_calls(c, entry, &around)) return false;
    if (size) csni_prefetch_lines(window.ptr, size < 4 * 64 ? size : 4 * 64);
    for (unsigned k = 0; k < around.count; k++)
        if (!take_enclosing(s, &scan, around.at[k])) return false;
    scan.p = window.ptr;
    scan.end = window.ptr + size;
    *out = scan_calls(s, &scan, false, true, err);
    return *out == CSN_OK || s->has_bad_file;
}

csn_status csni_gsym_calls_find(const struct csni_gsym *gsym, const struct csni_gsym_payload *tree, uint64_t start,
                                uint64_t addr, enum csni_gsym_call_filter filter, struct csni_gsym_calls *out,
                                struct csn_error *err) {
    return csni_gsym_calls_find_from(gsym, tree, start, addr, filter, NULL, 0, out, err);
}

csn_status csni_gsym_calls_find_from(const struct csni_gsym *gsym, const struct csni_gsym_payload *tree, uint64_t start,
                                     uint64_t addr, enum csni_gsym_call_filter filter, const uint8_t *entry, size_t from_record,
                                     struct csni_gsym_calls *out, struct csn_error *err) {
    out->tree = *tree;
    out->start = start;
    out->addr = addr;
    out->filter = filter;
    out->count = out->end = 0;
    const struct call_search fresh = { .gsym = gsym, .calls = out, .end = SIZE_MAX };
    struct call_search search = fresh;
    csn_status status;
    if (entry && csni_checkpoint_get(entry, &gsym->checkpoints.fields[CSNI_CP_TREE_AT])) {
        if (search_calls_from(&search, entry, from_record, &status, err)) return status;
        out->count = out->end = 0;
        search = fresh;
    }
    return search_calls(&search, err);
}

CSNI_COLD void csni_gsym_calls_hold(const struct csni_gsym *gsym, struct csni_gsym_calls *calls, size_t end) {
    size_t count = calls->count;
    struct call_search search = { .gsym = gsym, .calls = calls, .end = end < count ? end : count };
    calls->count = calls->end = 0;
    memset(calls->held, 0, sizeof calls->held); /* should the bytes have changed meanwhile */
    (void)search_calls(&search, NULL);
    calls->count = count;
    calls->end = search.end;
}
