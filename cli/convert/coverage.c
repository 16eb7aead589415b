/* How many bytes of code have a name, a line and inlined calls. */
#define _GNU_SOURCE
#include "convert/coverage.h"

#include <stdlib.h>

#include "ui/cli_message.h"

/* ---- of an index: every byte counts for the function that lookups answer with ---- */

struct span {
    uint64_t low, high;
};

struct walk {
    const struct csn_index *index;
    struct coverage *out;
    struct span *spans; /* of the inlined calls of a function */
    size_t count, capacity;
};

/* The bytes of [low, high) within `own`. */
static uint64_t bytes_within(const struct span *own, uint64_t low, uint64_t high) {
    if (low < own->low) low = own->low;
    if (high > own->high) high = own->high;
    return high > low ? high - low : 0;
}

static void add_lines(struct walk *walk, const struct csn_record *record, const struct span *own) {
    struct csn_row_iter rows;
    struct csn_row row, before = { 0, 0, 0 };
    csn_status status = csn_row_iter_init(&rows, walk->index, record, NULL);
    while (status == CSN_OK) {
        status = csn_row_iter_next(&rows, &row, NULL);
        uint64_t end = status == CSN_OK ? row.addr : own->high;
        if (before.file && before.line) walk->out->line += bytes_within(own, before.addr, end);
        before = row;
    }
}

static bool add_span(struct walk *walk, struct span span) {
    if (walk->count == walk->capacity) {
        size_t capacity = walk->capacity ? 2 * walk->capacity : 64;
        struct span *larger = reallocarray(walk->spans, capacity, sizeof(*larger));
        if (!larger) return false;
        walk->spans = larger;
        walk->capacity = capacity;
    }
    walk->spans[walk->count++] = span;
    return true;
}

static int by_low(const void *a, const void *b) {
    const struct span *left = a, *right = b;
    return (left->low > right->low) - (left->low < right->low);
}

static bool add_inlines(struct walk *walk, const struct csn_record *record, const struct span *own) {
    struct csn_inline_iter nodes;
    struct csn_inline_node node;
    walk->count = 0;
    if (csn_inline_iter_init(&nodes, walk->index, record, NULL) != CSN_OK) return true;
    while (csn_inline_iter_next(&nodes, &node, NULL) == CSN_OK) {
        struct csn_range range;
        for (uint32_t k = 0; node.depth == 1 && csn_inline_node_range(&node, k, &range, NULL) == CSN_OK; k++)
            if (!add_span(walk, (struct span){ range.start, range.end })) return false;
    }
    if (walk->count) qsort(walk->spans, walk->count, sizeof(*walk->spans), by_low);
    uint64_t counted = own->low;
    for (size_t i = 0; i < walk->count; i++) {
        const struct span left = { counted, own->high };
        if (counted < own->high) walk->out->inlined += bytes_within(&left, walk->spans[i].low, walk->spans[i].high);
        if (walk->spans[i].high > counted) counted = walk->spans[i].high;
    }
    return true;
}

/* Functions [first, end) begin at one address: the first that holds an address answers for it, up to the next start. */
static bool add_group(struct walk *walk, uint32_t first, uint32_t end, uint64_t next_start) {
    uint64_t low = 0;
    for (uint32_t i = first; i < end; i++) {
        struct csn_record record;
        struct csn_function function;
        if (csn_index_record(walk->index, i, &record, NULL) < 0) continue;
        if (csn_record_function(walk->index, &record, &function, NULL) < 0) continue;
        uint64_t high = function.start + function.size;
        struct span own = { low > function.start ? low : function.start, high < next_start ? high : next_start };
        if (own.low >= own.high) continue;
        if (function.name.len) walk->out->name += own.high - own.low;
        add_lines(walk, &record, &own);
        if (!add_inlines(walk, &record, &own)) return false;
        low = own.high;
    }
    return true;
}

bool coverage_of_index(const struct csn_index *index, struct coverage *out) {
    struct csn_index_info info;
    struct walk walk = { .index = index, .out = out };
    *out = (struct coverage){ 0, 0, 0 };
    csn_index_get_info(index, &info, sizeof(info));
    bool good = true;
    for (uint32_t first = 0, end; good && first < info.function_count; first = end) {
        uint64_t start = 0, next = 0;
        (void)csn_index_function_start(index, first, &start, NULL);
        for (end = first + 1; end < info.function_count; end++)
            if (csn_index_function_start(index, end, &next, NULL) < 0 || next != start) break;
        good = add_group(&walk, first, end, end < info.function_count ? next : UINT64_MAX);
    }
    free(walk.spans);
    if (!good) cli_error_memory("the ranges of inlined calls");
    return good;
}

/* ---- showing ---- */

static void put_json_pair(struct json_out *json, const char *key, uint64_t input, const uint64_t *index) {
    json_key(json, key);
    json_begin_object(json);
    json_member_number(json, "input", input);
    if (index) json_member_number(json, "index", *index);
    json_end_object(json);
}

void coverage_put_json(const struct csn_convert_report *report, const struct coverage *index, struct json_out *json) {
    json_key(json, "coverage");
    json_begin_object(json);
    json_member_number(json, "code", report->coverage_code);
    put_json_pair(json, "name", report->coverage_name, index ? &index->name : NULL);
    put_json_pair(json, "line", report->coverage_line, index ? &index->line : NULL);
    put_json_pair(json, "inlined", report->coverage_inlined, index ? &index->inlined : NULL);
    json_end_object(json);
}

static void put_text_pair(struct out_buffer *out, const char *label, uint64_t input, uint64_t index) {
    out_text(out, label);
    out_decimal(out, input);
    out_text(out, " in the object, ");
    out_decimal(out, index);
    out_text(out, " in the index\n");
}

void coverage_put_text(const struct csn_convert_report *report, const struct coverage *index, struct out_buffer *out) {
    out_text(out, "bytes of code: ");
    out_decimal(out, report->coverage_code);
    out_text(out, "\n");
    put_text_pair(out, "  with a name: ", report->coverage_name, index->name);
    put_text_pair(out, "  with a line: ", report->coverage_line, index->line);
    put_text_pair(out, "  with inlined calls: ", report->coverage_inlined, index->inlined);
}
