/* Statistics of an index: the sizes of its parts, which each format counts itself, and what the functions hold, which is
 * found through the iterators that every format has. */
#include "base/core/budget.h"
#include "base/core/vec.h"
#include "base/core/ranges.h"
#include "formats/gsym/gsym_layout.h"
#include "index/index_private.h"

const char *csn_part_name(uint32_t part) {
    static const char *const names[CSN_PART_COUNT] = {
        "header", "address_table", "record_offsets", "file_table", "strings", "record_headers", "line_tables",
        "inline_trees", "merged_functions", "call_sites", "other", "padding", "object", "binaries", "prefix_tables", "tokens",
        "aliases", "compressed", "accelerator", "checkpoints", "name_table",
    };
    return part < CSN_PART_COUNT ? names[part] : NULL;
}

/* Adds up to the whole file, of which the index may be a section. */
static csn_status part_bytes(const struct csn_index *index, uint64_t index_size, uint64_t *out, struct csn_error *err) {
    out[CSN_PART_OBJECT] = index->whole.size > index_size ? index->whole.size - index_size : 0;
    return index->format->part_bytes(index, out, err);
}

/* ---- one function ---- */

/* The code of a function that none before it covers: [start, end). */
struct code {
    uint64_t start, end;
};

/* The bytes of [start, end) that are the function's own and not below *counted, which moves up. */
static uint64_t take_code(const struct code *code, uint64_t *counted, uint64_t start, uint64_t end) {
    if (start < code->start) start = code->start;
    if (start < *counted) start = *counted;
    if (end > code->end) end = code->end;
    if (end <= start) return 0;
    *counted = end;
    return end - start;
}

static csn_status count_rows(const struct csn_index *index, const struct csn_record *record, const struct code *code,
                             struct csn_function_stats *out) {
    struct csn_row_iter iter;
    struct csn_row row, before = { 0, 0, 0 };
    uint64_t counted = 0;
    CSNI_TRY(csn_row_iter_init(&iter, index, record, NULL));
    csn_status status;
    do {
        status = csn_row_iter_next(&iter, &row, NULL);
        uint64_t end = status == CSN_OK ? row.addr : code->end;
        if (before.file && before.line) out->code_bytes_with_lines += take_code(code, &counted, before.addr, end);
        if (status != CSN_OK) break;
        out->rows++;
        if (!out->file) out->file = row.file;
        before = row;
    } while (true);
    return status;
}

/* Names are not asked for, but their ends are found: a byte of a record takes as long as that many of a name. */
enum { NAME_BYTES_A_BYTE = 64 };

/* What lasts from one function to the next. */
struct counting {
    struct csni_budget decoded; /* bytes of records */
    CSNI_VEC(struct csn_range) inlined; /* of the calls of a function */
};

/* Ranges of calls side by side may alternate: they are joined before they are counted. */
static uint64_t inlined_bytes(struct counting *counting, const struct code *code) {
    uint64_t counted = 0, sum = 0;
    const size_t count = csni_join_ranges(counting->inlined.items, counting->inlined.count, start, end);
    for (size_t i = 0; i < count; i++)
        sum += take_code(code, &counted, counting->inlined.items[i].start, counting->inlined.items[i].end);
    return sum;
}

static csn_status count_inlines(const struct csn_index *index, const struct csn_record *record, const struct code *code,
                                struct counting *counting, struct csn_function_stats *out) {
    struct csn_inline_iter iter;
    struct csn_inline_node node;
    counting->inlined.count = 0;
    CSNI_TRY(csn_inline_iter_init(&iter, index, record, NULL));
    csn_status status;
    while ((status = csn_inline_iter_next(&iter, &node, NULL)) == CSN_OK) {
        if (!csni_budget_charge(&counting->decoded, node.name.len / NAME_BYTES_A_BYTE)) return CSN_E_LIMIT;
        if (node.depth == 0) continue;
        out->inline_nodes++;
        if (node.depth > 1) continue; /* its parent covers the same code */
        struct csn_range range;
        for (uint32_t k = 0; csn_inline_node_range(&node, k, &range, NULL) == CSN_OK; k++)
            if (!csni_vec_push(&counting->inlined, range)) return CSN_E_MEMORY;
    }
    out->code_bytes_inlined = inlined_bytes(counting, code);
    return status;
}

static csn_status count_lists(const struct csn_index *index, const struct csn_record *record,
                              struct csn_function_stats *out) {
    struct csn_call_site_iter sites;
    struct csn_call_site site;
    struct csn_merged_iter merged;
    struct csn_record child;
    csn_status status;
    CSNI_TRY(csn_call_site_iter_init(&sites, index, record, NULL));
    while ((status = csn_call_site_iter_next(&sites, &site, NULL)) == CSN_OK) out->call_sites++;
    if (status < 0) return status;
    CSNI_TRY(csn_merged_iter_init(&merged, index, record, NULL));
    while ((status = csn_merged_iter_next(&merged, &child, NULL)) == CSN_OK) out->merged_functions++;
    return status;
}

static csn_status count_parts(const struct csn_index *index, const struct csn_record *record, const struct code *code,
                              struct counting *counting, struct csn_function_stats *out) {
    const struct csn_function *f = &out->function;
    if (f->has_lines) CSNI_TRY(count_rows(index, record, code, out));
    if (f->has_inlines) CSNI_TRY(count_inlines(index, record, code, counting, out));
    if (f->has_call_sites || f->has_merged) CSNI_TRY(count_lists(index, record, out));
    return CSN_OK;
}

/* ---- all of them ---- */

struct totals {
    const struct csn_index *index;
    struct csn_stats_sums *out;
    uint64_t code_end;
    struct counting counting;
    struct csni_counted_bytes counted;
};

static csn_status fail_shared(const struct totals *totals, uint32_t idx, uint64_t offset, struct csn_error *err) {
    return csni_fail(err, CSN_E_LIMIT, NULL, offset,
                     "the first %u functions share more than %llu bytes of records and names, need no more than %d "
                     "times as many as the file has",
                     idx + 1, (unsigned long long)totals->counting.decoded.limit, CSNI_GSYM_SHARED_TIMES);
}

static csn_status count_function(struct totals *totals, uint32_t idx, struct csn_function_stats *out,
                                 struct csn_error *err) {
    struct csn_record record;
    *out = (struct csn_function_stats){ .idx = idx, .damaged = 1 };
    (void)csn_index_function_start(totals->index, idx, &out->function.start, NULL);
    if (csn_index_record(totals->index, idx, &record, NULL) < 0) return CSN_OK;
    const struct csni_index_format *format = totals->index->format;
    csn_status status = format->record_sizes(totals->index, &record, &totals->counted, out);
    if (status == CSN_E_MEMORY) return csni_fail_memory(err, (size_t)totals->out->file_size / 8);
    if (!csni_budget_charge(&totals->counting.decoded, out->record_bytes)) return fail_shared(totals, idx, record.offset, err);
    if (status < 0 || csn_record_function(totals->index, &record, &out->function, NULL) < 0) return CSN_OK;
    uint64_t start = out->function.start, end = start + out->function.size;
    struct code code = { start > totals->code_end ? start : totals->code_end, end };
    if (end > code.start) {
        out->code_bytes = end - code.start;
        totals->code_end = end;
    }
    status = count_parts(totals->index, &record, &code, &totals->counting, out);
    if (status == CSN_E_MEMORY)
        return csni_fail_memory(err, (totals->counting.inlined.count + 1) * sizeof(*totals->counting.inlined.items));
    if (status == CSN_E_LIMIT && csni_budget_is_exhausted(&totals->counting.decoded))
        return fail_shared(totals, idx, record.offset, err);
    out->damaged = status < 0;
    return CSN_OK;
}

static void add(struct csn_stats_sums *sum, const struct csn_function_stats *function) {
    sum->functions++;
    sum->damaged_functions += function->damaged;
    sum->rows += function->rows;
    sum->inline_nodes += function->inline_nodes;
    sum->call_sites += function->call_sites;
    sum->merged_functions += function->merged_functions;
    sum->code_bytes += function->code_bytes;
    sum->code_bytes_with_lines += function->code_bytes_with_lines;
    sum->code_bytes_inlined += function->code_bytes_inlined;
}

csn_status csn_index_stats(const struct csn_index *index, csn_stats_callback *callback, void *context,
                           struct csn_stats_sums *out, struct csn_error *err) {
    if (!out) return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "csn_index_stats without room for the sums");
    struct csn_index_info info;
    csn_index_get_info(index, &info, sizeof(info));
    uint64_t whole = index->whole.size > info.file_size ? index->whole.size : info.file_size;
    struct csn_stats_sums sum = { .file_size = whole };
    CSNI_TRY(part_bytes(index, info.file_size, sum.part_bytes, err));
    struct totals totals = { .index = index, .out = &sum, .counting.inlined.alloc = index->allocator,
                             .counted.alloc = index->allocator };
    totals.counting.decoded =
        csni_budget_for((uint64_t)CSNI_GSYM_SHARED_FREE * CSNI_GSYM_SHARED_TIMES, whole, CSNI_GSYM_SHARED_TIMES);
    csn_status status = CSN_OK;
    for (uint32_t idx = 0; idx < info.function_count; idx++) {
        struct csn_function_stats function;
        status = count_function(&totals, idx, &function, err);
        if (status < 0) break;
        add(&sum, &function);
        if (callback && !callback(context, &function)) break;
    }
    csni_vec_deinit(&totals.counting.inlined);
    csni_counted_bytes_deinit(&totals.counted);
    if (status < 0) return status;
    *out = sum;
    return CSN_OK;
}
