/* Writing an accelerator: segments to blocks, and everything into bytes. */
#include "formats/gsym/read/gsym_accel_build.h"

#include "base/core/alloc.h"
#include "base/core/checked.h"
#include "base/core/fail.h"
#include "base/core/file_map.h"

/* Segments of a bucket, at least, unless that makes it too large; twice as many at most, on average. More of them
 * take longer, but a table that does not stay in a cache is read from memory, and by as many page faults. */
enum { BUCKET_SEGMENTS = 8, BUCKET_SEGMENTS_LARGE = 16, TABLE_LARGE = 128 << 10 };

/* ---- lengths of strings ---- */

static uint8_t length_at(const struct csni_gsym *gsym, uint64_t offset) {
    if (offset >= gsym->strings.size) return 0;
    const uint8_t *text = gsym->strings.ptr + offset;
    uint64_t left = gsym->strings.size - offset;
    size_t most = left < CSNI_ACCEL_LONG ? (size_t)left : CSNI_ACCEL_LONG;
    const uint8_t *nul = memchr(text, 0, most);
    return (uint8_t)(nul ? (size_t)(nul - text) : most);
}

static uint64_t with_length(const struct csni_gsym *gsym, uint64_t offset) {
    if (offset >= gsym->strings.size) offset = gsym->strings.size; /* reads as empty, and is below 2^56 */
    return offset << 8 | length_at(gsym, offset);
}

static void put_accel_files(const struct csni_gsym *gsym, uint8_t *p) {
    for (uint32_t idx = 0; idx < gsym->file_count; idx++, p += CSNI_ACCEL_FILE) {
        const uint8_t *entry = csni_gsym_file_entry(gsym, idx);
        csni_put64(p, with_length(gsym, csni_gsym_strp(gsym, entry)), false);
        csni_put64(p + 8, with_length(gsym, csni_gsym_strp(gsym, entry + gsym->strp_size)), false);
    }
}

/* ---- bits ---- */

static unsigned bits_of(uint32_t most) { return most ? 32u - (unsigned)__builtin_clz(most) : 0; }

/* Fills zeroed bytes from the lowest bit of the first on. Up to seven bytes after the last bit are written, as they were. */
struct bit_writer {
    uint8_t *p;
    uint64_t at;
};

static void put_bits(struct bit_writer *w, uint32_t value, unsigned bits) {
    uint8_t *p = w->p + w->at / 8;
    csni_put64(p, csni_get64(p, false) | (uint64_t)value << (w->at % 8), false);
    w->at += bits;
}

/* ---- nodes ---- */

struct node_plan {
    uint8_t bits[CSNI_ACCEL_FIELDS];
    uint32_t bytes;
};

static struct node_plan plan_nodes(const struct csni_accel_content *c) {
    uint32_t most[CSNI_ACCEL_FIELDS] = { [CSNI_ACCEL_F_LENGTH] = CSNI_ACCEL_LONG };
    for (uint32_t k = 1; k < c->node_count; k++) {
        const struct csni_accel_node *n = &c->nodes[k];
        most[CSNI_ACCEL_F_NAME] |= n->name;
        most[CSNI_ACCEL_F_PARENT] |= n->parent ? k - n->parent : 0;
        most[CSNI_ACCEL_F_FILE] |= n->call_file;
        most[CSNI_ACCEL_F_LINE] |= n->call_line;
        most[CSNI_ACCEL_F_OFFSET] |= n->offset;
    }
    struct node_plan plan = { .bytes = 0 };
    unsigned sum = 0;
    for (unsigned k = 0; k < CSNI_ACCEL_FIELDS; k++) sum += plan.bits[k] = (uint8_t)bits_of(most[k]);
    plan.bytes = (sum + 7) / 8;
    return plan;
}

/* `outer`: how many cells before it the one of its parent is. */
static void put_node(const struct csni_accel_content *c, const struct node_plan *plan, uint32_t k, uint32_t outer, uint8_t *p) {
    enum { AHEAD = 16 }; /* names are here and there */
    const struct csni_accel_node *n = &c->nodes[k];
    if (k + AHEAD < c->node_count) csni_gsym_prefetch_string(c->gsym, c->nodes[k + AHEAD].name);
    const uint32_t fields[CSNI_ACCEL_FIELDS] = {
        [CSNI_ACCEL_F_NAME] = n->name, [CSNI_ACCEL_F_LENGTH] = length_at(c->gsym, n->name),
        [CSNI_ACCEL_F_PARENT] = outer, [CSNI_ACCEL_F_FILE] = n->call_file,
        [CSNI_ACCEL_F_LINE] = n->call_line, [CSNI_ACCEL_F_OFFSET] = n->offset,
    };
    struct bit_writer w = { p, 0 };
    for (unsigned f = 0; f < CSNI_ACCEL_FIELDS; f++) put_bits(&w, fields[f], plan->bits[f]);
}

/* ---- blocks ---- */

struct layout {
    const struct csni_accel_content *content;
    unsigned shift;
    uint64_t bucket_count;
    uint64_t blocks_at; /* from the region's start, which is that of a page */
    uint8_t *region;    /* zeroed; NULL: the size is wanted */
    uint64_t size;      /* of blocks and nodes */
    struct node_plan nodes;
    uint32_t *cells;    /* by node: its number in the file */
    uint32_t next_node; /* those before it have their cells */
    size_t next_tree;
    uint64_t same_at;   /* block of the bucket before, where that is one stretch without an answer of its own */
    size_t same_segment;
    struct csni_accel_near *near; /* NULL: nothing for remote readers */
};

/* Least and most of what a block's segments hold. */
struct block_plan {
    uint32_t node, node_most, line, line_most, file, file_most;
    uint32_t functions;
    unsigned node_bits, line_bits, file_bits, function_bits;
    uint64_t bytes;
};

/* Neither row nor call. */
static bool is_special(const struct csni_accel_stretch *s) { return s->node >= CSNI_ACCEL_GAP; }

static void widen(uint32_t value, uint32_t *least, uint32_t *most) {
    if (value < *least) *least = value;
    if (value > *most) *most = value;
}

static struct block_plan plan_block(const struct layout *l, const struct csni_accel_stretch *s, size_t count) {
    struct block_plan p = { .node = UINT32_MAX, .line = UINT32_MAX, .file = UINT32_MAX, .functions = 1 };
    bool special = false;
    for (size_t k = 0; k < count; k++) {
        p.functions += k && s[k].function != s[k - 1].function;
        special |= is_special(&s[k]);
        if (is_special(&s[k])) continue;
        widen(s[k].line, &p.line, &p.line_most);
        widen(s[k].file, &p.file, &p.file_most);
        if (s[k].node != CSNI_ACCEL_NO_NODE) widen(l->cells[s[k].node], &p.node, &p.node_most);
    }
    if (p.node_most) p.node_bits = bits_of(p.node_most - p.node + CSNI_ACCEL_NODES);
    else p.node = 0;
    if (special && p.node_bits < 2) p.node_bits = 2;
    if (p.line > p.line_most) p.line = p.file = 0;
    p.line_bits = bits_of(p.line_most - p.line);
    p.file_bits = bits_of(p.file_most - p.file);
    p.function_bits = bits_of(p.functions - 1);
    uint64_t bits = (uint64_t)(p.node_bits + p.function_bits + p.line_bits + p.file_bits) * count;
    p.bytes = CSNI_ACCEL_BLOCK_HEADER + (uint64_t)p.functions * CSNI_ACCEL_FUNCTION + count - 1 + (bits + 7) / 8;
    return p;
}

static void put_function(const struct csni_accel_content *c, uint32_t idx, uint8_t *p) {
    struct csni_gsym_record record;
    csni_put32(p, (uint32_t)(csni_gsym_address(c->gsym, idx) - c->first), false);
    csni_put32(p + 12, idx, false);
    /* A record that cannot be read, or whose name is out of reach, is one of a segment left to the index. */
    if (csni_gsym_record(c->gsym, idx, &record, NULL) != CSN_OK) return;
    csni_put32(p + 4, record.size, false);
    csni_put32(p + 8, (uint32_t)record.name, false);
    p[16] = length_at(c->gsym, (uint32_t)record.name);
}

static uint32_t node_code(const struct layout *l, const struct block_plan *plan, uint32_t node) {
    if (node == CSNI_ACCEL_NO_NODE) return 0;
    if (node == CSNI_ACCEL_GAP) return CSNI_ACCEL_CODE_GAP;
    return node == CSNI_ACCEL_PLAIN ? CSNI_ACCEL_CODE_PLAIN : l->cells[node] - plan->node + CSNI_ACCEL_NODES;
}

static void fill_block(const struct layout *l, const struct block_plan *plan, const struct csni_accel_stretch *s, size_t count,
                       uint8_t *p) {
    p[CSNI_ACCEL_B_LAST_SEGMENT] = (uint8_t)(count - 1);
    p[CSNI_ACCEL_B_LAST_FUNCTION] = (uint8_t)(plan->functions - 1);
    p[CSNI_ACCEL_B_NODE_BITS] = (uint8_t)plan->node_bits;
    p[CSNI_ACCEL_B_LINE_BITS] = (uint8_t)plan->line_bits;
    csni_put32(p + CSNI_ACCEL_B_FILE, plan->file | (uint32_t)plan->file_bits << 24, false);
    csni_put32(p + CSNI_ACCEL_B_LINE, plan->line, false);
    csni_put32(p + CSNI_ACCEL_B_NODE, plan->node, false);
    uint8_t *functions = p + CSNI_ACCEL_BLOCK_HEADER, *lows = functions + (size_t)plan->functions * CSNI_ACCEL_FUNCTION;
    struct bit_writer w = { lows + count - 1, 0 };
    uint32_t function = 0;
    for (size_t k = 0; k < count; k++) {
        if (k) function += s[k].function != s[k - 1].function;
        if (!k || s[k].function != s[k - 1].function)
            put_function(l->content, s[k].function, functions + (size_t)function * CSNI_ACCEL_FUNCTION);
        if (k) lows[k - 1] = (uint8_t)(s[k].start & (((uint32_t)1 << l->shift) - 1));
        put_bits(&w, node_code(l, plan, s[k].node), plan->node_bits);
        put_bits(&w, function, plan->function_bits);
        put_bits(&w, is_special(&s[k]) ? 0 : s[k].line - plan->line, plan->line_bits);
        put_bits(&w, is_special(&s[k]) ? 0 : s[k].file - plan->file, plan->file_bits);
    }
}

static void put_entry(const struct layout *l, uint64_t bucket, uint64_t at) {
    if (!l->region) return;
    uint8_t *entry = l->region + CSNI_ACCEL_START + bucket * CSNI_ACCEL_ENTRY;
    csni_put32(entry, (uint32_t)at, false);
    memcpy(entry + 4, l->region + l->blocks_at + at + CSNI_ACCEL_BLOCK_HEADER + 8, 4);
}

/* Writes, or only measures, the nodes of all functions up to that of `node` that have not been: in cells of their own size. */
static void put_trees(struct layout *l, uint32_t node) {
    const struct csni_accel_content *c = l->content;
    uint32_t bytes = l->nodes.bytes;
    if (node < l->next_node) return;
    uint32_t cell = (uint32_t)((l->size + bytes - 1) / bytes);
    while (l->next_node <= node)
        for (uint32_t end = c->tree_ends[l->next_tree++]; l->next_node < end; l->next_node++, cell++) {
            l->cells[l->next_node] = cell;
            if (l->region)
                put_node(c, &l->nodes, l->next_node,
                         c->nodes[l->next_node].parent ? l->next_node - c->nodes[l->next_node].parent : 0,
                         l->region + l->blocks_at + (size_t)cell * bytes);
        }
    l->size = (uint64_t)cell * bytes;
}

/* Nodes that are too far away for one request come again. */
static void repeat_far_nodes(struct layout *l) {
    const struct csni_accel_near *near = l->near;
    uint32_t bytes = l->nodes.bytes, least = UINT32_MAX;
    for (uint32_t i = 0; i < near->node_count; i++)
        if (l->cells[near->nodes[i]] < least) least = l->cells[near->nodes[i]];
    if (least == UINT32_MAX || l->size + CSNI_ACCEL_PAGE + near->bytes <= (uint64_t)least * bytes + CSNI_ACCEL_NEAR) return;
    uint32_t cell = (uint32_t)((l->size + bytes - 1) / bytes);
    for (uint32_t i = 0; i < near->node_count; i++, cell++) {
        uint32_t k = near->nodes[i], parent = l->content->nodes[k].parent;
        l->cells[k] = cell; /* those of outer calls are there already */
        if (l->region)
            put_node(l->content, &l->nodes, k, parent ? cell - l->cells[parent] : 0,
                     l->region + l->blocks_at + (size_t)cell * bytes);
    }
    l->size = (uint64_t)cell * bytes;
}

/* What remote readers need before the block of these segments. The bytes of names, which the block follows. */
static uint32_t put_near(struct layout *l, const struct csni_accel_stretch *s, size_t count) {
    if (!l->near) return 0;
    csni_accel_near_choose(l->near, l->content, s, count, l->size);
    repeat_far_nodes(l);
    return l->near->bytes;
}

/* Writes, or only measures, the block of `count` segments, the first of which begins at or before the bucket. A block that
 * fits into a page is in one. */
static uint64_t put_block(struct layout *l, const struct csni_accel_stretch *s, size_t count) {
    for (size_t k = 0; k < count; k++)
        if (!is_special(&s[k])) put_trees(l, s[k].node);
    uint32_t names = put_near(l, s, count);
    struct block_plan plan = plan_block(l, s, count);
    l->size += names;
    uint64_t in_page = (l->blocks_at + l->size) % CSNI_ACCEL_PAGE;
    if (in_page + plan.bytes > CSNI_ACCEL_PAGE && plan.bytes <= CSNI_ACCEL_PAGE) l->size += CSNI_ACCEL_PAGE - in_page;
    uint64_t at = l->size;
    l->size += plan.bytes;
    uint8_t *block = l->region ? l->region + l->blocks_at + at : NULL;
    if (block) fill_block(l, &plan, s, count, block);
    if (names && block) block[CSNI_ACCEL_B_NODE_BITS] |= CSNI_ACCEL_HAS_NAMES;
    if (names) csni_accel_near_put_names(l->near, l->content->gsym, at, block ? block - names : NULL);
    return at;
}

/* How many segments from `from` on begin before `end`. */
static size_t segments_before(const struct csni_accel_content *c, size_t from, uint64_t end) {
    size_t k = from;
    while (k < c->segment_count && c->segments[k].start < end) k++;
    return k - from;
}

static void lay_out_accel(struct layout *l) {
    const struct csni_accel_content *c = l->content;
    size_t current = 0; /* the segment at the bucket's start */
    l->size = l->nodes.bytes; /* node 0 */
    l->next_node = 1;
    l->next_tree = 0;
    l->same_segment = SIZE_MAX;
    if (l->near) csni_accel_near_init(l->near, c);
    for (uint64_t bucket = 0; bucket < l->bucket_count; bucket++) {
        uint64_t start = bucket << l->shift;
        while (current + 1 < c->segment_count && c->segments[current + 1].start <= start) current++;
        size_t more = segments_before(c, current + 1, start + ((uint64_t)1 << l->shift));
        if (more || l->same_segment != current) { /* else a long stretch: its buckets share a block */
            l->same_at = put_block(l, c->segments + current, more + 1);
            l->same_segment = more ? SIZE_MAX : current;
        }
        put_entry(l, bucket, l->same_at);
    }
}

static bool has_small_buckets(const struct csni_accel_content *c, unsigned shift) {
    uint64_t buckets = c->covered >> shift;
    unsigned least = buckets * CSNI_ACCEL_ENTRY > TABLE_LARGE ? BUCKET_SEGMENTS_LARGE : BUCKET_SEGMENTS;
    return buckets * least > c->segment_count;
}

/* Buckets that hold a few segments each: a few cache lines to a block. */
static unsigned choose_shift(const struct csni_accel_content *c) {
    if (c->form.shift && c->covered <= c->form.covered) return c->form.shift;
    unsigned shift = CSNI_ACCEL_SHIFT_MIN;
    while (shift < CSNI_ACCEL_SHIFT_MAX && has_small_buckets(c, shift)) shift++;
    return shift;
}

/* ---- all of it ---- */

static void put_trailer(const struct layout *l, uint8_t *t) {
    const struct csni_accel_content *c = l->content;
    csni_put64(t + CSNI_ACCEL_T_FIRST, c->first, false);
    csni_put64(t + CSNI_ACCEL_T_COVERED, c->covered, false);
    csni_put32(t + CSNI_ACCEL_T_BLOCK_BYTES, (uint32_t)l->size, false);
    csni_put32(t + CSNI_ACCEL_T_FIRST_READ, c->form.first_read, false);
    csni_put32(t + CSNI_ACCEL_T_NODES, c->node_count, false);
    csni_put32(t + CSNI_ACCEL_T_FILES, c->gsym->file_count, false);
    t[CSNI_ACCEL_T_SHIFT] = (uint8_t)l->shift;
    t[CSNI_ACCEL_T_NODE_BYTES] = (uint8_t)l->nodes.bytes;
    memcpy(t + CSNI_ACCEL_T_BITS, l->nodes.bits, sizeof l->nodes.bits);
    csni_put32(t + CSNI_ACCEL_T_PLAIN, c->plain_functions, false);
    csni_put32(t + CSNI_ACCEL_T_REVISION, CSNI_ACCEL_REVISION, false);
    csni_put32(t + CSNI_ACCEL_T_MAGIC, CSNI_ACCEL_MAGIC, false);
}

static csn_status write_layout(struct layout *l, struct csn_bytes *out, struct csn_error *err) {
    const struct csni_accel_content *c = l->content;
    lay_out_accel(l);
    uint64_t files_at = l->blocks_at + l->size;
    uint64_t size = files_at + (uint64_t)c->gsym->file_count * CSNI_ACCEL_FILE + CSNI_ACCEL_TRAILER;
    if (size > c->max_bytes || l->size > UINT32_MAX || size > SIZE_MAX / 2) return CSN_OK;
    uint8_t *region = csni_alloc_zeroed(out->allocator, 1, (size_t)size);
    if (!region) return csni_fail_memory(err, size);
    csni_pages_prefer_huge(region, (size_t)size);
    csni_accel_put_start(region);
    l->region = region;
    lay_out_accel(l);
    put_accel_files(c->gsym, region + files_at);
    put_trailer(l, region + size - CSNI_ACCEL_TRAILER);
    out->ptr = region;
    out->size = (size_t)size;
    return CSN_OK;
}

csn_status csni_accel_write(struct csn_bytes *out, const struct csni_accel_content *content, struct csn_error *err) {
    struct layout l = { .content = content, .shift = choose_shift(content), .nodes = plan_nodes(content) };
    size_t cells_size = content->node_count * sizeof *l.cells;
    l.bucket_count = ((content->covered - 1) >> l.shift) + 1;
    l.blocks_at = CSNI_ACCEL_START + l.bucket_count * CSNI_ACCEL_ENTRY;
    l.cells = csni_alloc(content->allocator, cells_size);
    if (content->form.first_read) l.near = csni_alloc(content->allocator, sizeof *l.near);
    csn_status status = CSN_E_MEMORY;
    if (!l.cells || (content->form.first_read && !l.near)) status = csni_fail_memory(err, cells_size + sizeof *l.near);
    else status = write_layout(&l, out, err);
    csni_free(content->allocator, l.near, sizeof *l.near);
    csni_free(content->allocator, l.cells, cells_size);
    return status;
}
