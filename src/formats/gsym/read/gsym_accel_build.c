/* Building an accelerator: functions to segments in address order. */
#include "formats/gsym/read/gsym_accel_build.h"

#include "base/core/budget.h"
#include "base/core/checked.h"
#include "base/core/file_map.h"
#include "formats/gsym/gsym_layout.h"

enum {
    BUCKET_BYTES = CSNI_ACCEL_ENTRY + CSNI_ACCEL_BLOCK_HEADER + CSNI_ACCEL_FUNCTION,
    SEGMENT_BYTES = 10, NODE_BYTES = 16 /* about */
};

struct build {
    const struct csni_gsym *gsym;
    const struct csn_allocator *allocator;
    CSNI_VEC(struct csni_accel_stretch) segments; /* ascending */
    CSNI_VEC(struct csn_row) rows; /* of one function */
    struct csni_accel_trees trees;
    uint64_t first, covered;
    uint64_t max_bytes;
    struct csni_budget budget; /* bytes of records: those of a hostile file may overlap */
    uint32_t plain_functions;
};

static bool push_segment(struct build *b, const struct csni_accel_stretch *s) {
    if (b->segments.count) {
        const struct csni_accel_stretch *last = &b->segments.items[b->segments.count - 1];
        if (last->function == s->function && last->node == s->node && last->file == s->file && last->line == s->line)
            return true;
    }
    return csni_vec_push(&b->segments, *s);
}

static bool push_special(struct build *b, uint64_t start, uint32_t function, uint32_t special) {
    struct csni_accel_stretch s = { (uint32_t)(start - b->first), function, special, 0, CSN_REASON_COMPLETE };
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
static void set_row(struct csni_accel_stretch *s, const struct csn_row *row, uint32_t file_count) {
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
        struct csni_accel_stretch s = { rel, function, node, 0, CSN_REASON_NO_LINE_TABLE };
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
    uint64_t bytes = (uint64_t)b->segments.count * SEGMENT_BYTES + (uint64_t)b->trees.nodes.count * NODE_BYTES +
                     (uint64_t)functions * CSNI_ACCEL_FUNCTION + (uint64_t)b->gsym->file_count * CSNI_ACCEL_FILE;
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

/* ---- all of it ---- */

/* A table entry for four bytes of the file at most: more would be holes. */
enum { FILE_BYTES_ENTRY = 4, ENTRIES_LEAST = 4096 };

uint64_t csni_gsym_accel_file_size(uint64_t covered) {
    const uint64_t entries = covered >> CSNI_ACCEL_SHIFT_MAX;
    return entries < ENTRIES_LEAST ? 0 : (entries - ENTRIES_LEAST) * FILE_BYTES_ENTRY;
}

/* The bytes from the first function on to the end of the last, as far as a table within the limit reaches; 0 where the
 * addresses do not ascend, or wrap around. */
static uint64_t find_covered(const struct csni_gsym *gsym, uint64_t file_size, uint64_t max_bytes) {
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
    uint64_t entries = max_bytes / 4 / BUCKET_BYTES, by_file = file_size / FILE_BYTES_ENTRY + ENTRIES_LEAST;
    if (entries > by_file) entries = by_file;
    uint64_t most = entries << CSNI_ACCEL_SHIFT_MAX;
    if (most > UINT32_MAX) most = UINT32_MAX;
    if (most > UINT64_MAX - first) most = UINT64_MAX - first;
    return covered < most ? covered : most;
}

static csn_status find_segments(struct build *b, struct csn_error *err) {
    struct csni_accel_node none = { 0, 0, 0, 0, 0 };
    if (!csni_vec_push(&b->trees.nodes, none)) return csni_fail_memory(err, sizeof none);
    csn_status status = add_accel_functions(b);
    if (status == CSN_E_MEMORY) return csni_fail_memory(err, b->segments.capacity * sizeof(struct csni_accel_stretch) * 2);
    return status;
}

/* The bytes in memory; empty: nothing can be accelerated. */
static csn_status encode(struct csn_bytes *out, const struct csni_gsym *gsym, uint64_t max_bytes,
                         const struct csni_accel_form *form, const struct csn_allocator *allocator,
                         struct csn_error *err) {
    *out = (struct csn_bytes){ NULL, 0, allocator };
    if (!gsym->address_count || !max_bytes) return CSN_OK;
    const uint64_t file_size = form->file_size ? form->file_size : gsym->bytes.size;
    struct build b = { .gsym = gsym, .allocator = allocator, .max_bytes = max_bytes,
                       .first = csni_gsym_address(gsym, 0), .covered = find_covered(gsym, file_size, max_bytes),
                       .budget = csni_budget_for(gsym->address_count, file_size, 2) };
    if (!b.covered) return CSN_OK;
    b.segments.alloc = b.rows.alloc = allocator;
    csni_accel_trees_init(&b.trees, allocator);
    csn_status status = find_segments(&b, err);
    if (status == CSN_OK) {
        const struct csni_accel_content content = { .gsym = gsym, .segments = b.segments.items, .segment_count = b.segments.count,
                                                    .nodes = b.trees.nodes.items, .node_count = (uint32_t)b.trees.nodes.count,
                                                    .tree_ends = b.trees.ends.items, .allocator = allocator,
                                                    .first = b.first, .covered = b.covered, .max_bytes = max_bytes,
                                                    .plain_functions = b.plain_functions, .form = *form };
        status = csni_accel_write(out, &content, err);
    }
    csni_vec_deinit(&b.segments);
    csni_vec_deinit(&b.rows);
    csni_accel_trees_deinit(&b.trees);
    return status;
}

csn_status csni_gsym_accel_encode(struct csn_bytes *out, const struct csni_gsym *gsym, const struct csni_accel_form *form,
                                  const struct csn_allocator *allocator, struct csn_error *err) {
    return encode(out, gsym, UINT64_MAX, form, allocator, err);
}

csn_status csni_gsym_accel_build(struct csni_gsym_accel *out, const struct csni_gsym *gsym, uint64_t max_bytes,
                                 const struct csn_allocator *allocator, struct csn_error *err) {
    *out = (struct csni_gsym_accel){ .table = NULL };
    const struct csni_accel_form form = { 0 };
    struct csn_bytes bytes;
    CSNI_TRY(encode(&bytes, gsym, max_bytes, &form, allocator, err));
    if (!bytes.size) return CSN_OK;
    const struct csni_span region = { bytes.ptr, bytes.size - CSNI_ACCEL_TRAILER };
    (void)csni_gsym_accel_parse(out, gsym, region.ptr + region.size, region, bytes.size);
    out->memory = bytes.ptr;
    out->memory_size = bytes.size;
    return CSN_OK;
}

void csni_gsym_accel_free(struct csni_gsym_accel *accel, const struct csn_allocator *allocator) {
    if (!accel) return;
    csni_free(allocator, accel->memory, accel->memory_size);
    *accel = (struct csni_gsym_accel){ .table = NULL };
}
