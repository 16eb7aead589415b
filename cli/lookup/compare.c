/* Comparing answers. The functions of both indexes are visited together in address order; their addresses are gathered in
 * a window, sorted, and compared up to the start of the next function, so that memory does not grow with the index. */
#define _GNU_SOURCE
#include "lookup/compare.h"

#include <stdlib.h>
#include <string.h>

#include <callsign/inspect.h>

#include "lookup/answer.h"
#include "lookup/candidates.h"
#include "ui/cli_message.h"

enum { DIFFERENCES_SHOWN = 20, WINDOW = 1 << 16 };

struct side {
    const struct csn_index *index;
    struct index_query query;
    uint32_t next, count; /* functions */
    uint64_t bias;        /* what its addresses are more than those that are compared */
    bool has_sizes;       /* of functions; BSYM has none */
};

struct comparison {
    struct side sides[2];
    uint64_t *addresses;
    size_t count, cap;
    struct name_text names;
    struct out_buffer *out;
    struct compare_counts *counts;
};

static bool add(struct comparison *comparison, uint64_t addr) {
    if (comparison->count == comparison->cap) {
        size_t cap = comparison->cap ? comparison->cap * 2 : WINDOW;
        uint64_t *larger = reallocarray(comparison->addresses, cap, sizeof(*larger));
        if (!larger) return false;
        comparison->addresses = larger;
        comparison->cap = cap;
    }
    comparison->addresses[comparison->count++] = addr;
    return true;
}

static bool add_rows(struct comparison *comparison, const struct side *side, const struct csn_record *record) {
    struct csn_row_iter rows;
    struct csn_row row;
    if (csn_row_iter_init(&rows, side->index, record, NULL) != CSN_OK) return true;
    while (csn_row_iter_next(&rows, &row, NULL) == CSN_OK)
        if (!add(comparison, row.addr - side->bias)) return false;
    return true;
}

static bool add_inlines(struct comparison *comparison, const struct side *side, const struct csn_record *record) {
    struct csn_inline_iter nodes;
    struct csn_inline_node node;
    if (csn_inline_iter_init(&nodes, side->index, record, NULL) != CSN_OK) return true;
    while (csn_inline_iter_next(&nodes, &node, NULL) == CSN_OK) {
        struct csn_range range;
        for (uint32_t k = 0; csn_inline_node_range(&node, k, &range, NULL) == CSN_OK; k++)
            if (!add(comparison, range.start - side->bias) || !add(comparison, range.end - side->bias)) return false;
    }
    return true;
}

/* Where the next function of a side starts, as it is compared; false at its end. */
static bool next_start(const struct side *side, uint64_t *out) {
    for (uint32_t idx = side->next; idx < side->count; idx++) {
        struct csn_record record;
        if (csn_index_record(side->index, idx, &record, NULL) != CSN_OK) continue;
        *out = record.start - side->bias;
        return true;
    }
    return false;
}

/* Around the end. A function that is longer than the way to the next one ends there; one without a size reaches to there. */
static bool add_end(struct comparison *comparison, const struct side *side, const struct csn_function *function) {
    const uint64_t start = function->start - side->bias, end = start + function->size;
    uint64_t next;
    if (function->size && !add(comparison, end - 1)) return false;
    if (end > start && !add(comparison, end)) return false;
    return !next_start(side, &next) || next <= start || add(comparison, next - 1);
}

/* The addresses of the next function of a side. What is damaged shows when its start is looked up. */
static bool gather(struct comparison *comparison, struct side *side) {
    uint32_t idx = side->next++;
    struct csn_record record;
    struct csn_function function;
    if (csn_index_record(side->index, idx, &record, NULL) != CSN_OK) return true;
    if (!add(comparison, record.start - side->bias)) return false;
    if (csn_record_function(side->index, &record, &function, NULL) != CSN_OK) return true;
    return add_end(comparison, side, &function) && add_rows(comparison, side, &record) && add_inlines(comparison, side, &record);
}

static bool strings_equal(struct csn_str a, struct csn_str b) {
    return a.len == b.len && (!a.len || memcmp(a.ptr, b.ptr, a.len) == 0);
}

static bool frames_equal(const struct csn_frame *a, const struct csn_frame *b) {
    return a->offset == b->offset && a->line == b->line && a->flags == b->flags && strings_equal(a->name, b->name) &&
           strings_equal(a->base, b->base) && strings_equal(a->directory, b->directory);
}

/* Numbers of files differ from index to index. */
static bool files_equal(const struct csn_index *index, uint32_t file, const struct csn_index *other, uint32_t other_file) {
    struct csn_str directory = { "", 0 }, base = { "", 0 }, other_directory = { "", 0 }, other_base = { "", 0 };
    csn_index_file(index, file, &directory, &base, NULL);
    csn_index_file(other, other_file, &other_directory, &other_base, NULL);
    return strings_equal(base, other_base) && strings_equal(directory, other_directory);
}

/* Whether the rows of both have the same lines. */
static bool rows_equal(const struct csn_index *index, const struct csn_record *record, const struct csn_index *other,
                       const struct csn_record *other_record) {
    struct csn_row_iter rows, other_rows;
    struct csn_row row, other_row;
    csn_status status = csn_row_iter_init(&rows, index, record, NULL);
    csn_status other_status = csn_row_iter_init(&other_rows, other, other_record, NULL);
    while (status == CSN_OK && other_status == CSN_OK) {
        status = csn_row_iter_next(&rows, &row, NULL);
        other_status = csn_row_iter_next(&other_rows, &other_row, NULL);
        if (status != CSN_OK || other_status != CSN_OK) break;
        if (row.addr != other_row.addr || row.line != other_row.line || !files_equal(index, row.file, other, other_row.file))
            return false;
    }
    return status == other_status && status >= 0;
}

static bool ranges_equal(struct csn_inline_node *node, struct csn_inline_node *other) {
    if (node->range_count != other->range_count) return false;
    for (uint32_t k = 0; k < node->range_count; k++) {
        struct csn_range range, other_range;
        if (csn_inline_node_range(node, k, &range, NULL) != CSN_OK ||
            csn_inline_node_range(other, k, &other_range, NULL) != CSN_OK ||
            range.start != other_range.start || range.end != other_range.end)
            return false;
    }
    return true;
}

/* Whether the same calls are inlined into both. */
static bool inlines_equal(const struct csn_index *index, const struct csn_record *record, const struct csn_index *other,
                          const struct csn_record *other_record) {
    struct csn_inline_iter nodes, other_nodes;
    struct csn_inline_node node, other_node;
    csn_status status = csn_inline_iter_init(&nodes, index, record, NULL);
    csn_status other_status = csn_inline_iter_init(&other_nodes, other, other_record, NULL);
    while (status == CSN_OK && other_status == CSN_OK) {
        status = csn_inline_iter_next(&nodes, &node, NULL);
        other_status = csn_inline_iter_next(&other_nodes, &other_node, NULL);
        if (status != CSN_OK || other_status != CSN_OK) break;
        if (node.depth != other_node.depth || node.call_line != other_node.call_line ||
            !strings_equal(node.name, other_node.name) ||
            !files_equal(index, node.call_file, other, other_node.call_file) || !ranges_equal(&node, &other_node))
            return false;
    }
    return status == other_status && status >= 0;
}

/* The functions that are merged into the answers'. No lookup names them, but `find` and `stack` do. */
static bool merged_equal(const struct comparison *comparison, const struct answer *a, const struct answer *b) {
    const struct csn_index *index = comparison->sides[0].index, *other = comparison->sides[1].index;
    struct csn_record record, other_record;
    struct csn_merged_iter merged, other_merged;
    csn_status status = csn_index_record(index, a->found.function_index, &record, NULL);
    csn_status other_status = csn_index_record(other, b->found.function_index, &other_record, NULL);
    if (status == CSN_OK) status = csn_merged_iter_init(&merged, index, &record, NULL);
    if (other_status == CSN_OK) other_status = csn_merged_iter_init(&other_merged, other, &other_record, NULL);
    while (status == CSN_OK && other_status == CSN_OK) {
        struct csn_function function, other_function;
        status = csn_merged_iter_next(&merged, &record, NULL);
        other_status = csn_merged_iter_next(&other_merged, &other_record, NULL);
        if (status != CSN_OK || other_status != CSN_OK) break;
        if (csn_record_function(index, &record, &function, NULL) != CSN_OK ||
            csn_record_function(other, &other_record, &other_function, NULL) != CSN_OK ||
            !strings_equal(function.name, other_function.name) || function.size != other_function.size ||
            !rows_equal(index, &record, other, &other_record) || !inlines_equal(index, &record, other, &other_record))
            return false;
    }
    return status == other_status && status >= 0;
}

/* What no address alone tells: a function may be longer than the way to the next one. */
static bool functions_equal(const struct comparison *comparison, const struct answer *a, const struct answer *b) {
    const bool have_sizes = comparison->sides[0].has_sizes && comparison->sides[1].has_sizes;
    return (!have_sizes || a->found.function_size == b->found.function_size) && merged_equal(comparison, a, b);
}

/* A record that cannot be read answers nothing, so it does not count as equal to another one. */
static bool answers_equal(const struct answer *a, const struct answer *b) {
    if (a->status < 0 || a->status != b->status || a->found.frame_count != b->found.frame_count) return false;
    for (size_t i = 0; i < a->found.frame_count; i++)
        if (!frames_equal(&a->frames[i], &b->frames[i])) return false;
    return true;
}

static void compare_at(struct comparison *comparison, uint64_t addr) {
    const struct side *sides = comparison->sides;
    struct answer answer, other;
    index_query_address(&comparison->sides[0].query, addr + sides[0].bias, &answer);
    index_query_address(&comparison->sides[1].query, addr + sides[1].bias, &other);
    comparison->counts->addresses++;
    const bool is_equal = answers_equal(&answer, &other);
    const bool is_start = is_equal && answer.status == CSN_OK && answer.found.function_start == addr + sides[0].bias;
    if (is_equal && (!is_start || functions_equal(comparison, &answer, &other))) return;
    comparison->counts->different++;
    struct out_buffer *out = comparison->out;
    if (!out || comparison->counts->different > DIFFERENCES_SHOWN) return;
    out_text(out, "different at ");
    out_hex(out, addr + sides[0].bias);
    if (is_equal && is_start && answer.found.function_size != other.found.function_size) {
        out_text(out, ": sizes ");
        out_decimal(out, answer.found.function_size);
        out_text(out, " and ");
        out_decimal(out, other.found.function_size);
    }
    out_char(out, '\n');
    answer_put_labelled(&answer, "  index:  ", &comparison->names, out);
    if (is_equal) candidates_put_text(comparison->sides[0].index, &answer, &comparison->names, out);
    answer_put_labelled(&other, "  object: ", &comparison->names, out);
    if (is_equal) candidates_put_text(comparison->sides[1].index, &other, &comparison->names, out);
}

static int by_address(const void *a, const void *b) {
    uint64_t left, right;
    memcpy(&left, a, sizeof(left));
    memcpy(&right, b, sizeof(right));
    return (left > right) - (left < right);
}

/* Compares the gathered addresses below `limit` and keeps the others. */
static void compare_window(struct comparison *comparison, uint64_t limit, bool last) {
    uint64_t *addresses = comparison->addresses;
    if (comparison->count) qsort(addresses, comparison->count, sizeof(*addresses), by_address);
    size_t i = 0;
    for (; i < comparison->count && (last || addresses[i] < limit); i++)
        if (i == 0 || addresses[i] != addresses[i - 1]) compare_at(comparison, addresses[i]);
    comparison->count -= i;
    if (comparison->count) memmove(addresses, addresses + i, comparison->count * sizeof(*addresses));
}

static bool compare_all(struct comparison *comparison) {
    struct side *sides = comparison->sides;
    size_t full = WINDOW;
    for (;;) {
        uint64_t starts[2] = { 0, 0 };
        bool left[2] = { next_start(&sides[0], &starts[0]), next_start(&sides[1], &starts[1]) };
        if (!left[0] && !left[1]) break;
        int lower = left[1] && (!left[0] || starts[1] < starts[0]);
        if (comparison->count >= full) {
            compare_window(comparison, starts[lower], false);
            /* Much that was kept belongs to functions that reach far past the limit; sort that less often. */
            full = comparison->count + WINDOW;
        }
        if (!gather(comparison, &sides[lower])) return false;
    }
    compare_window(comparison, 0, true);
    return true;
}

static bool side_init(struct side *side, const struct csn_index *index) {
    struct csn_index_info info;
    csn_index_get_info(index, &info, sizeof(info));
    *side = (struct side){ .index = index, .count = info.function_count, .has_sizes = info.format != CSN_FORMAT_BSYM };
    return index_query_init(&side->query, index, CSN_LOOKUP_DEFAULT);
}

bool compare_answers(const struct csn_index *index, const struct csn_index *other, struct out_buffer *out,
                     struct compare_counts *counts) {
    struct comparison comparison = { .out = out, .counts = counts };
    bool good = side_init(&comparison.sides[0], index) && side_init(&comparison.sides[1], other);
    if (good) {
        comparison.sides[0].bias = csn_index_link_bias(other, csn_index_image_base(index));
        comparison.sides[1].bias = csn_index_link_bias(index, csn_index_image_base(other));
    }
    good = good && compare_all(&comparison);
    if (!good) cli_error_memory("addresses to compare");
    if (good && out && counts->different > DIFFERENCES_SHOWN) {
        out_text(out, "... and ");
        out_decimal(out, counts->different - DIFFERENCES_SHOWN);
        out_text(out, " more\n");
    }
    index_query_deinit(&comparison.sides[0].query);
    index_query_deinit(&comparison.sides[1].query);
    free(comparison.addresses);
    return good;
}
