/* Building an accelerator: functions to segments in address order, segments to blocks. */
#include "formats/gsym/read/gsym_accel_build.h"

#include "base/core/budget.h"
#include "base/core/checked.h"
#include "base/core/file_map.h"
#include "formats/gsym/gsym_layout.h"

/* A stretch of code with one answer, up to the next one. */
struct segment {
    uint32_t start;    /* from the accelerator's first address */
    uint32_t function; /* index in the address table */
    uint32_t node, file, line;
};

enum {
    BUCKET_SEGMENTS = 6, /* at least, unless that makes a bucket too large; twice as many at most, on average */
    BUCKET_BYTES = sizeof(uint32_t) + sizeof(struct csni_accel_block) + sizeof(struct csni_accel_function) +
                   sizeof(struct csni_accel_segment) + 5 /* of one segment and function */
};

struct build {
    const struct csni_gsym *gsym;
    const struct csn_allocator *allocator;
    CSNI_VEC(struct segment) segments; /* ascending */
    CSNI_VEC(struct csn_row) rows; /* of one function */
    struct csni_accel_trees trees;
    uint64_t first, covered;
    uint64_t max_bytes;
    struct csni_budget budget; /* bytes of records: those of a hostile file may overlap */
    uint32_t plain_functions;
};

static bool push_segment(struct build *b, const struct segment *s) {
    if (b->segments.count) {
        const struct segment *last = &b->segments.items[b->segments.count - 1];
        if (last->function == s->function && last->node == s->node && last->file == s->file && last->line == s->line)
            return true;
    }
    return csni_vec_push(&b->segments, *s);
}

static bool push_special(struct build *b, uint64_t start, uint32_t function, uint32_t special) {
    struct segment s = { (uint32_t)(start - b->first), function, special, 0, CSN_REASON_COMPLETE };
    return push_segment(b, &s);
}

/* ---- one function ---- */

struct parts {
    struct csni_gsym_payload lines, inlines;
};

static csn_status read_accel_rows(struct build *b, const struct csni_gsym_payload *payload, uint64_t start,
                                  uint64_t end) {
    struct csni_gsym_lines lines = { payload->bytes, start, "FunctionInfo", payload->offset,
                                     payload->bytes.ptr + payload->bytes.size };
    struct csni_gsym_row_iter iter;
    b->rows.count = 0;
    if (csni_gsym_rows(&iter, &lines, NULL) != CSN_OK) return CSN_NONE;
    struct csn_row row;
    csn_status status;
    uint64_t last = start;
    while ((status = csni_gsym_row_next(&iter, &row, NULL)) == CSN_OK) {
        if (row.addr < last) return CSN_NONE; /* it wraps around */
        if (row.addr >= end) return CSN_OK;
        last = row.addr;
        if (b->rows.count && b->rows.items[b->rows.count - 1].addr == row.addr) b->rows.count--;
        if (!csni_vec_push(&b->rows, row)) return CSN_E_MEMORY;
    }
    return status < 0 ? CSN_NONE : CSN_OK;
}

/* Where there is no file, `line` becomes the reason. */
static void set_row(struct segment *s, const struct csn_row *row, uint32_t file_count) {
    s->file = row->file;
    s->line = row->file ? row->line : CSN_REASON_NO_ROW;
    if (row->file >= file_count || row->file > CSNI_ACCEL_FILE_MAX) {
        s->file = 0;
        s->node = CSNI_ACCEL_PLAIN;
    }
}

/* The rows and the changes of inlined calls of a function at `start`, both ascending, brought together. */
static bool push_function(struct build *b, uint64_t start, uint32_t function, bool has_lines) {
    size_t row = 0, row_count = has_lines ? b->rows.count : 0, change = 0, change_count = b->trees.changes.count;
    uint32_t rel = (uint32_t)(start - b->first), node = CSNI_ACCEL_NO_NODE;
    struct csn_row current = { start, 0, 0 };
    for (;;) {
        while (row < row_count && b->rows.items[row].addr - b->first <= rel) current = b->rows.items[row++];
        while (change < change_count && b->trees.changes.items[change].start <= rel)
            node = b->trees.changes.items[change++].node;
        struct segment s = { rel, function, node, 0, CSN_REASON_NO_LINE_TABLE };
        if (has_lines) set_row(&s, &current, b->gsym->file_count);
        if (!push_segment(b, &s)) return false;
        if (row == row_count && change == change_count) return true;
        uint64_t next = UINT64_MAX;
        if (row < row_count) next = b->rows.items[row].addr - b->first;
        if (change < change_count && b->trees.changes.items[change].start < next)
            next = b->trees.changes.items[change].start;
        rel = (uint32_t)next;
    }
}

static csn_status find_accel_parts(const struct csni_gsym *gsym, const struct csni_gsym_record *record,
                                   struct parts *out) {
    uint64_t pos = gsym->parts_at;
    struct csni_gsym_payload part;
    csn_status status;
    int count = 0;
    out->lines.bytes.ptr = out->inlines.bytes.ptr = NULL;
    while ((status = csni_gsym_part_next(gsym, record, &pos, &part, NULL)) == CSN_OK) {
        if (++count > CSNI_GSYM_PARTS_MAX) return CSN_NONE;
        if (part.type == CSNI_GSYM_PART_LINES && !out->lines.bytes.ptr) out->lines = part;
        if (part.type == CSNI_GSYM_PART_INLINE && !out->inlines.bytes.ptr) out->inlines = part;
        if (out->lines.bytes.ptr && out->inlines.bytes.ptr) break;
    }
    return status < 0 ? CSN_NONE : CSN_OK;
}

static bool charge_parts(struct build *b, const struct parts *parts) {
    uint64_t size = 1;
    if (parts->lines.bytes.ptr) size += parts->lines.bytes.size;
    if (parts->inlines.bytes.ptr) size += parts->inlines.bytes.size;
    return csni_budget_charge(&b->budget, size);
}

/* What the functions so far will take in all, nearly; the rest of the limit is for buckets that hold little. */
static bool is_full(const struct build *b, uint32_t functions) {
    uint64_t share = BUCKET_BYTES / BUCKET_SEGMENTS + 1 + sizeof(struct csni_accel_segment);
    uint64_t bytes = b->segments.count * share + b->trees.nodes.count * sizeof(struct csni_accel_node) +
                     (uint64_t)functions * sizeof(struct csni_accel_function) +
                     (uint64_t)b->gsym->file_count * sizeof(struct csni_accel_file);
    return bytes > b->max_bytes / 4 * 3;
}

/* The segments of function idx, which ends before `limit`, the next start. CSN_NONE: it is left to the index. */
static csn_status add_accel_function(struct build *b, uint32_t idx, uint64_t limit) {
    struct csni_gsym_record record;
    struct parts parts;
    if (csni_gsym_record(b->gsym, idx, &record, NULL) != CSN_OK || find_accel_parts(b->gsym, &record, &parts) != CSN_OK)
        return CSN_NONE;
    if (record.name > UINT32_MAX) return CSN_NONE;
    uint64_t start = record.start, end = limit;
    if (record.size && limit - start > record.size) end = start + record.size;
    if (is_full(b, idx) || !charge_parts(b, &parts)) return CSN_NONE;
    csn_status status = CSN_OK;
    if (parts.lines.bytes.ptr) status = read_accel_rows(b, &parts.lines, start, end);
    b->trees.changes.count = 0;
    if (status == CSN_OK && parts.inlines.bytes.ptr)
        status = csni_accel_tree(&b->trees, b->gsym, &parts.inlines, b->first, start, end);
    if (status != CSN_OK) return status;
    if (!push_function(b, start, idx, parts.lines.bytes.ptr != NULL)) return CSN_E_MEMORY;
    if (end < limit && !push_special(b, end, idx, CSNI_ACCEL_GAP)) return CSN_E_MEMORY;
    return CSN_OK;
}

/* The next address after the start of functions idx.. that is one of a function; `*idx` becomes the last of those with
 * the same start. */
static uint64_t accel_next_start(const struct build *b, uint32_t *idx, uint64_t start) {
    uint32_t count = b->gsym->address_count;
    while (*idx + 1 < count && csni_gsym_address(b->gsym, *idx + 1) == start) ++*idx;
    return *idx + 1 < count ? csni_gsym_address(b->gsym, *idx + 1) : UINT64_MAX;
}

static csn_status add_accel_functions(struct build *b) {
    uint32_t count = b->gsym->address_count;
    for (uint32_t idx = 0; idx < count; idx++) {
        uint32_t last = idx;
        uint64_t start = csni_gsym_address(b->gsym, idx), limit = accel_next_start(b, &last, start);
        if (start - b->first >= b->covered) {
            b->plain_functions += count - idx;
            return CSN_OK;
        }
        if (limit - b->first > b->covered) limit = b->first + b->covered;
        csn_status status = last == idx ? add_accel_function(b, idx, limit) : CSN_NONE;
        if (status == CSN_NONE) {
            b->plain_functions += last - idx + 1;
            if (!push_special(b, start, last, CSNI_ACCEL_PLAIN)) return CSN_E_MEMORY;
        }
        if (status < 0) return status;
        idx = last;
    }
    return CSN_OK;
}

/* ---- lengths of strings ---- */

static uint8_t length_at(const struct csni_gsym *gsym, uint64_t offset) {
    if (offset >= gsym->strings.size) return 0;
    const uint8_t *text = gsym->strings.ptr + offset;
    uint64_t left = gsym->strings.size - offset;
    size_t most = left < CSNI_ACCEL_LONG ? (size_t)left : CSNI_ACCEL_LONG;
    const uint8_t *nul = memchr(text, 0, most);
    return (uint8_t)(nul ? (size_t)(nul - text) : most);
}

static void find_name_lengths(struct build *b) {
    enum { AHEAD = 16 }; /* names are here and there */
    struct csni_accel_node *nodes = b->trees.nodes.items;
    size_t count = b->trees.nodes.count;
    for (size_t k = 1; k < count; k++) {
        if (k + AHEAD < count) csni_gsym_prefetch_string(b->gsym, nodes[k + AHEAD].name);
        nodes[k].file_length |= length_at(b->gsym, nodes[k].name);
    }
}

static uint64_t with_length(const struct csni_gsym *gsym, uint64_t offset) {
    if (offset >= gsym->strings.size) offset = gsym->strings.size; /* reads as empty, and is below 2^56 */
    return offset << 8 | length_at(gsym, offset);
}

static void put_accel_files(const struct csni_gsym *gsym, struct csni_accel_file *out) {
    for (uint32_t idx = 0; idx < gsym->file_count; idx++) {
        const uint8_t *entry = csni_gsym_file_entry(gsym, idx);
        out[idx].directory = with_length(gsym, csni_gsym_strp(gsym, entry));
        out[idx].base = with_length(gsym, csni_gsym_strp(gsym, entry + gsym->strp_size));
    }
}

/* ---- blocks ---- */

struct layout {
    const struct build *b;
    unsigned shift;
    uint64_t bucket_count;
    uint8_t *out; /* NULL: the size is wanted */
    uint32_t *table;
    uint64_t size;
    uint64_t same_at;  /* block of the bucket before, where that is one stretch without an answer of its own */
    size_t same_segment;
};

/* How many segments of b->segments from `from` on begin before `end`. */
static size_t segments_before(const struct build *b, size_t from, uint64_t end) {
    size_t k = from;
    while (k < b->segments.count && b->segments.items[k].start < end) k++;
    return k - from;
}

static struct csni_accel_function function_of(const struct build *b, uint32_t idx) {
    struct csni_gsym_record record;
    struct csni_accel_function f = { (uint32_t)(csni_gsym_address(b->gsym, idx) - b->first), 0, 0, idx };
    /* A record that cannot be read, or whose name is out of reach, is one of a segment left to the index. */
    if (csni_gsym_record(b->gsym, idx, &record, NULL) == CSN_OK) {
        f.size = record.size;
        f.name = (uint32_t)record.name;
    }
    return f;
}

/* Writes, or only measures, the block of `count` segments, the first of which begins at or before the bucket. */
static void put_block(struct layout *l, uint64_t bucket, const struct segment *s, size_t count) {
    uint32_t functions = 1;
    for (size_t k = 1; k < count; k++) functions += s[k].function != s[k - 1].function;
    size_t lengths_at = sizeof(struct csni_accel_block) + functions * sizeof(struct csni_accel_function);
    size_t lows_at = lengths_at + functions;
    size_t segments_at = (size_t)csni_align_up(lows_at + count, CSNI_ACCEL_UNIT);
    uint64_t at = l->size;
    l->size += segments_at + count * sizeof(struct csni_accel_segment);
    if (!l->out) return;
    l->table[bucket] = (uint32_t)(at / CSNI_ACCEL_UNIT);
    uint8_t *p = l->out + at;
    struct csni_accel_block head = { (uint8_t)(count - 1), (uint8_t)(functions - 1), (uint16_t)segments_at };
    memcpy(p, &head, sizeof head);
    uint32_t function = 0;
    for (size_t k = 0; k < count; k++) {
        if (k == 0 || s[k].function != s[k - 1].function) {
            struct csni_accel_function f = function_of(l->b, s[k].function);
            function += k != 0;
            memcpy(p + sizeof head + function * sizeof f, &f, sizeof f);
            p[lengths_at + function] = length_at(l->b->gsym, f.name);
        }
        uint32_t low = s[k].start & (((uint32_t)1 << l->shift) - 1);
        p[lows_at + k] = (uint8_t)(k ? low : 0);
        struct csni_accel_segment out = { s[k].node, s[k].line, s[k].file << 8 | function };
        memcpy(p + segments_at + k * sizeof out, &out, sizeof out);
    }
}

static void lay_out_accel(struct layout *l) {
    const struct build *b = l->b;
    size_t current = 0; /* the segment at the bucket's start */
    l->size = 0;
    l->same_segment = SIZE_MAX;
    for (uint64_t bucket = 0; bucket < l->bucket_count; bucket++) {
        uint64_t start = bucket << l->shift;
        while (current + 1 < b->segments.count && b->segments.items[current + 1].start <= start) current++;
        size_t more = segments_before(b, current + 1, start + ((uint64_t)1 << l->shift));
        if (!more && l->same_segment == current) { /* a long stretch: its buckets share a block */
            if (l->out) l->table[bucket] = (uint32_t)(l->same_at / CSNI_ACCEL_UNIT);
            continue;
        }
        l->same_at = l->size;
        l->same_segment = more ? SIZE_MAX : current;
        put_block(l, bucket, b->segments.items + current, more + 1);
    }
}

/* Buckets that hold a few segments each: one cache line or two to a block. */
static unsigned choose_shift(const struct build *b) {
    unsigned shift = CSNI_ACCEL_SHIFT_MIN;
    while (shift < CSNI_ACCEL_SHIFT_MAX && (b->covered >> shift) * BUCKET_SEGMENTS > b->segments.count) shift++;
    return shift;
}

static csn_status finish_accel(struct build *b, struct csni_gsym_accel *out, struct csn_error *err) {
    struct layout l = { .b = b, .shift = choose_shift(b) };
    l.bucket_count = (b->covered + ((uint64_t)1 << l.shift) - 1) >> l.shift;
    lay_out_accel(&l);
    uint64_t table_size = csni_align_up(l.bucket_count * sizeof(uint32_t), CSNI_ACCEL_SLACK);
    uint64_t blocks_size = csni_align_up(l.size + CSNI_ACCEL_SLACK, CSNI_ACCEL_SLACK);
    uint64_t nodes_size = csni_align_up(b->trees.nodes.count * sizeof(struct csni_accel_node), CSNI_ACCEL_SLACK);
    uint64_t size = table_size + blocks_size + nodes_size + (uint64_t)b->gsym->file_count * sizeof(struct csni_accel_file);
    if (size > b->max_bytes || l.size / CSNI_ACCEL_UNIT > UINT32_MAX || size > SIZE_MAX / 2) return CSN_OK;
    /* Huge pages where the kernel has them: a lookup's misses are then not doubled by those of the page tables. */
    size_t align = size >= CSNI_HUGE_PAGE / 2 ? CSNI_HUGE_PAGE : CSNI_ACCEL_SLACK, capacity = (size_t)size + align;
    void *memory = csni_alloc(b->allocator, capacity);
    if (!memory) return csni_fail_memory(err, capacity);
    uint8_t *base = (uint8_t *)memory + (align - (uintptr_t)memory % align) % align;
    csni_pages_prefer_huge(base, (size_t)size);
    l.table = (uint32_t *)(void *)base;
    l.out = base + table_size;
    lay_out_accel(&l);
    memset(l.out + l.size, 0, (size_t)(blocks_size - l.size));
    find_name_lengths(b);
    memcpy(l.out + blocks_size, b->trees.nodes.items, b->trees.nodes.count * sizeof(struct csni_accel_node));
    const void *nodes = l.out + blocks_size;
    struct csni_accel_file *files = (struct csni_accel_file *)(void *)(l.out + blocks_size + nodes_size);
    put_accel_files(b->gsym, files);
    *out = (struct csni_gsym_accel){ .table = l.table, .blocks = l.out, .nodes = nodes, .files = files,
                                     .first = b->first, .covered = b->covered, .shift = l.shift,
                                     .plain_functions = b->plain_functions, .memory = memory, .memory_size = capacity };
    return CSN_OK;
}

/* ---- all of it ---- */

/* The bytes from the first function on to the end of the last, as far as a table within the limit reaches; 0 where the
 * addresses do not ascend, or wrap around. */
static uint64_t find_covered(const struct csni_gsym *gsym, uint64_t max_bytes) {
    uint32_t last = gsym->address_count - 1;
    uint64_t first = csni_gsym_address(gsym, 0);
    if (first < gsym->base_address) return 0;
    for (uint32_t idx = 0; idx < last; idx++)
        if (csni_gsym_address(gsym, idx) > csni_gsym_address(gsym, idx + 1)) return 0;
    struct csni_gsym_record record = { .size = 0 };
    uint64_t covered = csni_gsym_address(gsym, last) - first;
    if (csni_gsym_record(gsym, last, &record, NULL) < 0) record.size = 0;
    covered += record.size;
    if (covered < record.size) return 0;
    /* A table entry for four bytes of the file at most: more would be holes. */
    uint64_t entries = max_bytes / 4 / BUCKET_BYTES, by_file = gsym->bytes.size / 4 + 4096;
    if (entries > by_file) entries = by_file;
    uint64_t most = entries << CSNI_ACCEL_SHIFT_MAX;
    if (most > UINT32_MAX) most = UINT32_MAX;
    if (most > UINT64_MAX - first) most = UINT64_MAX - first;
    return covered < most ? covered : most;
}

static csn_status build(struct build *b, struct csni_gsym_accel *out, struct csn_error *err) {
    struct csni_accel_node none = { 0, 0, 0, 0, 0 };
    if (!csni_vec_push(&b->trees.nodes, none)) return csni_fail_memory(err, sizeof none);
    csn_status status = add_accel_functions(b);
    if (status == CSN_E_MEMORY) return csni_fail_memory(err, b->segments.capacity * sizeof(struct segment) * 2);
    return finish_accel(b, out, err);
}

csn_status csni_gsym_accel_build(struct csni_gsym_accel *out, const struct csni_gsym *gsym, uint64_t max_bytes,
                                 const struct csn_allocator *allocator, struct csn_error *err) {
    *out = (struct csni_gsym_accel){ .table = NULL };
    if (!gsym->address_count || !max_bytes) return CSN_OK;
    struct build b = { .gsym = gsym, .allocator = allocator, .max_bytes = max_bytes,
                       .first = csni_gsym_address(gsym, 0), .covered = find_covered(gsym, max_bytes),
                       .budget = csni_budget_for(gsym->address_count, gsym->bytes.size, 2) };
    if (!b.covered) return CSN_OK;
    b.segments.alloc = b.rows.alloc = allocator;
    csni_accel_trees_init(&b.trees, allocator);
    csn_status status = build(&b, out, err);
    csni_vec_deinit(&b.segments);
    csni_vec_deinit(&b.rows);
    csni_accel_trees_deinit(&b.trees);
    return status;
}

void csni_gsym_accel_free(struct csni_gsym_accel *accel, const struct csn_allocator *allocator) {
    if (!accel) return;
    csni_free(allocator, accel->memory, accel->memory_size);
    *accel = (struct csni_gsym_accel){ .table = NULL };
}
