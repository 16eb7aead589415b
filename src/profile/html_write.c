/* A page: the stacks as a tree of functions, and what each line of source costs, as JSON within profile_page.html. */
#include <string.h>

#include "base/core/sort.h"
#include "base/hash.h"
#include "profile/profile_out.h"
#include "profile/profile_page.h"
#include "profile/profile_units.h"

enum { PAGE_INPUTS = 8, PAGE_NODES = 100000, PAGE_LINES = 20000 };

struct page_values {
    int64_t by_input[PAGE_INPUTS];
};
/* A function of the page: one of the profile, or all unknown code of a module. */
struct page_function {
    uint32_t name, file;
};
struct page_node {
    uint32_t parent, function;
    bool inlined;
};
/* Of a file (line 0) or a line of one. */
struct page_line {
    uint32_t file, line;
    uint32_t seen;               /* the last stack that counted it + 1 */
};

static const uint32_t NO_PARENT = UINT32_MAX; /* of the root */

struct page_writer {
    struct csn_profile *p;
    struct profile_out *out;
    uint32_t input_count;
    CSNI_VEC(struct page_function) functions;
    CSNI_VEC(struct page_node) nodes;       /* 0: the root */
    CSNI_VEC(struct page_values) selfs;     /* by node */
    CSNI_VEC(struct page_line) lines;
    CSNI_VEC(struct page_values) line_selfs, line_totals;
    CSNI_VEC(uint32_t) strings;             /* of the page: strings of the profile */
    struct csni_profile_table function_table, node_table, line_table;
    uint32_t *string_numbers;               /* by string of the profile: number in the page + 1 */
    uint32_t *page_nodes;                   /* by node of the profile: node of the page + 1 */
    uint32_t *kept;                         /* by node of the page: its number where it is shown + 1; 0: part of its parent */
    bool *kept_lines;                       /* by line of the page */
    size_t profile_strings, left_out, lines_left_out;
    bool failed;
};

static void add_value(struct page_writer *w, int64_t *sum, int64_t value) {
    w->p->sums_cut += !csni_profile_add_value(sum, value);
}

/* ---- building ---- */

static bool function_equals(const void *context, uint32_t number, const void *key) {
    const struct page_writer *w = context;
    const struct page_function *a = &w->functions.items[number], *b = key;
    return a->name == b->name;
}

/* By name, as inputs with lines and without are compared; the file is the first that is known. */
static uint32_t page_function(struct page_writer *w, uint32_t name, uint32_t file) {
    const struct page_function function = { name, file };
    const uint64_t hash = csni_hash_u64(name);
    uint32_t number;
    if (csni_profile_table_find(&w->function_table, hash, function_equals, w, &function, &number)) {
        if (!w->functions.items[number].file) w->functions.items[number].file = file;
        return number;
    }
    number = (uint32_t)w->functions.count;
    w->failed |= !csni_vec_push(&w->functions, function) || !csni_profile_table_add(&w->function_table, hash, number);
    return number;
}

static bool page_node_equals(const void *context, uint32_t number, const void *key) {
    const struct page_writer *w = context;
    const struct page_node *a = &w->nodes.items[number], *b = key;
    return a->parent == b->parent && a->function == b->function && a->inlined == b->inlined;
}

static uint32_t page_child(struct page_writer *w, uint32_t parent, uint32_t function, bool inlined) {
    const struct page_node node = { parent, function, inlined };
    const struct page_values none = { { 0 } };
    const uint64_t hash = csni_hash_u64((uint64_t)parent << 32 | function) + inlined;
    uint32_t number;
    if (csni_profile_table_find(&w->node_table, hash, page_node_equals, w, &node, &number)) return number;
    number = (uint32_t)w->nodes.count;
    w->failed |= !csni_vec_push(&w->nodes, node) || !csni_vec_push(&w->selfs, none) ||
                 !csni_profile_table_add(&w->node_table, hash, number);
    return number;
}

/* The node of a location below `parent`, with a node for each inlined call. */
static uint32_t add_location_nodes(struct page_writer *w, uint32_t parent, const struct profile_location *location) {
    const struct csn_profile *p = w->p;
    if (!location->line_count) {
        const uint32_t module = location->module;
        return page_child(w, parent, page_function(w, module == CSN_PROFILE_NO_MODULE ? 0 : p->modules.items[module].path, 0),
                          false);
    }
    for (uint32_t k = location->line_count; k-- > 0 && !w->failed;) {
        const struct profile_line *line = &p->lines.items[location->first_line + k];
        const struct profile_function *function = &p->functions.items[line->function];
        parent = page_child(w, parent, page_function(w, function->name, function->file), line->inlined);
    }
    return parent;
}

static bool line_equals(const void *context, uint32_t number, const void *key) {
    const struct page_writer *w = context;
    const struct page_line *a = &w->lines.items[number], *b = key;
    return a->file == b->file && a->line == b->line;
}

static uint32_t page_line(struct page_writer *w, uint32_t file, uint32_t line) {
    const struct page_line item = { file, line, 0 };
    const struct page_values none = { { 0 } };
    const uint64_t hash = csni_hash_u64((uint64_t)file << 32 | line);
    uint32_t number;
    if (csni_profile_table_find(&w->line_table, hash, line_equals, w, &item, &number)) return number;
    number = (uint32_t)w->lines.count;
    w->failed |= !csni_vec_push(&w->lines, item) || !csni_vec_push(&w->line_selfs, none) || !csni_vec_push(&w->line_totals, none)
                 || !csni_profile_table_add(&w->line_table, hash, number);
    return number;
}

/* Once in a stack, however often it is there. */
static void count_line(struct page_writer *w, uint32_t file, uint32_t line, uint32_t stack, uint32_t input,
                       int64_t value, bool is_self) {
    const uint32_t number = page_line(w, file, line);
    if (w->failed) return;
    if (is_self) add_value(w, &w->line_selfs.items[number].by_input[input], value);
    if (w->lines.items[number].seen == stack + 1) return;
    w->lines.items[number].seen = stack + 1;
    add_value(w, &w->line_totals.items[number].by_input[input], value);
}

static void count_lines(struct page_writer *w, size_t sample, uint32_t input, int64_t value) {
    const struct csn_profile *p = w->p;
    bool is_self = true;
    for (uint32_t node = p->samples.items[sample].stack; node && !w->failed; node = p->nodes.items[node].caller) {
        const struct profile_location *location = &p->locations.items[p->nodes.items[node].location];
        for (uint32_t k = 0; k < location->line_count && !w->failed; k++, is_self = false) {
            const struct profile_line *line = &p->lines.items[location->first_line + k];
            const uint32_t file = p->functions.items[line->function].file;
            if (!file) continue;
            count_line(w, file, 0, (uint32_t)sample, input, value, is_self);
            if (line->line) count_line(w, file, line->line, (uint32_t)sample, input, value, is_self);
        }
        is_self = false;
    }
}

static void build_page(struct page_writer *w) {
    const struct csn_profile *p = w->p;
    const uint32_t value_type = csni_profile_shown_value(p);
    page_child(w, NO_PARENT, 0, false);
    w->page_nodes[0] = 1;
    for (size_t i = 1; i < p->nodes.count && !w->failed; i++) {
        const struct profile_node *node = &p->nodes.items[i];
        w->page_nodes[i] = add_location_nodes(w, w->page_nodes[node->caller] - 1, &p->locations.items[node->location]) + 1;
    }
    for (size_t i = 0; i < p->samples.count && p->value_count && !w->failed; i++) {
        const struct profile_sample_row *row = &p->samples.items[i];
        const int64_t value = p->values.items[i * p->value_stride + value_type];
        const uint32_t input = row->input < w->input_count ? row->input : w->input_count - 1;
        add_value(w, &w->selfs.items[w->page_nodes[row->stack] - 1].by_input[input], value);
        count_lines(w, i, input, value);
    }
}

/* ---- leaving out what is too small ---- */

/* No sum of sizes is smaller than its parts: at most UINT64_MAX. */
static uint64_t sum_of_sizes(uint64_t a, uint64_t b) { return a + b < a ? UINT64_MAX : a + b; }

static uint64_t magnitude(const struct page_values *values) {
    uint64_t sum = 0;
    for (size_t i = 0; i < PAGE_INPUTS; i++) {
        const int64_t value = values->by_input[i];
        sum = sum_of_sizes(sum, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
    }
    return sum;
}

/* The largest sizes: all above `least`, and of those that are `least` the first `ties`. */
struct page_limit {
    uint64_t least;
    size_t ties;
};

static bool size_before(const void *context, const void *a, const void *b) {
    (void)context;
    return *(const uint64_t *)a < *(const uint64_t *)b;
}

/* The limit of the `most` largest; sizes of 0 are none of them. False: no memory. */
static bool find_limit(const struct csn_allocator *alloc, const uint64_t *sizes, size_t count, size_t most,
                       struct page_limit *out) {
    uint64_t *sorted = csni_alloc(alloc, (count + 1) * sizeof *sorted);
    size_t used = 0;
    *out = (struct page_limit){ 0, 0 };
    if (!sorted) return false;
    for (size_t i = 0; i < count; i++)
        if (sizes[i]) sorted[used++] = sizes[i];
    if (used > most) {
        csni_heap_sort(sorted, used, sizeof *sorted, size_before, NULL);
        out->least = sorted[used - most];
        while (out->ties < most && sorted[used - most + out->ties] == out->least) out->ties++;
    }
    csni_free(alloc, sorted, (count + 1) * sizeof *sorted);
    return true;
}

/* Asked for all sizes in their order. */
static bool is_among_largest(struct page_limit *limit, uint64_t size) {
    if (size != limit->least) return size > limit->least;
    return limit->ties && limit->ties--;
}

/* Nodes come behind their parents, which are no smaller. Unused ones are left out as well; small ones only if there are too
 * many. */
static void choose_nodes(struct page_writer *w) {
    const size_t count = w->nodes.count;
    uint64_t *totals = csni_alloc_zeroed(w->p->alloc, count, sizeof *totals);
    struct page_limit limit;
    uint32_t number = 0;
    w->failed |= !totals;
    for (size_t i = 0; totals && i < count; i++) totals[i] = magnitude(&w->selfs.items[i]);
    for (size_t i = count; totals && i-- > 1;) {
        uint64_t *parent = &totals[w->nodes.items[i].parent];
        *parent = sum_of_sizes(*parent, totals[i]);
    }
    w->failed |= totals && !find_limit(w->p->alloc, totals + 1, count - 1, PAGE_NODES, &limit);
    for (size_t i = 0; !w->failed && i < count; i++) {
        if (!i || is_among_largest(&limit, totals[i])) w->kept[i] = ++number;
        else if (totals[i]) w->left_out++;
    }
    for (size_t i = count; !w->failed && i-- > 1;) {
        if (w->kept[i]) continue;
        for (size_t k = 0; k < PAGE_INPUTS; k++)
            add_value(w, &w->selfs.items[w->nodes.items[i].parent].by_input[k], w->selfs.items[i].by_input[k]);
    }
    csni_free(w->p->alloc, totals, count * sizeof *totals);
}

/* Files, which have line 0, stay. */
static void choose_lines(struct page_writer *w) {
    const size_t count = w->lines.count;
    uint64_t *sizes = csni_alloc_zeroed(w->p->alloc, count + 1, sizeof *sizes);
    struct page_limit limit;
    w->failed |= !sizes;
    for (size_t i = 0; sizes && i < count; i++)
        if (w->lines.items[i].line) sizes[i] = magnitude(&w->line_totals.items[i]);
    w->failed |= sizes && !find_limit(w->p->alloc, sizes, count, PAGE_LINES, &limit);
    for (size_t i = 0; !w->failed && i < count; i++) {
        w->kept_lines[i] = is_among_largest(&limit, sizes[i]);
        w->lines_left_out += sizes[i] && !w->kept_lines[i];
    }
    csni_free(w->p->alloc, sizes, (count + 1) * sizeof *sizes);
}

/* ---- writing ---- */

static void put(struct page_writer *w, const char *text) { csni_profile_put_text(w->out, text); }

static uint32_t page_string(struct page_writer *w, uint32_t string) {
    if (!w->string_numbers[string]) {
        w->failed |= !csni_vec_push(&w->strings, string);
        w->string_numbers[string] = (uint32_t)w->strings.count;
    }
    return w->string_numbers[string] - 1;
}

static void put_values(struct page_writer *w, const struct page_values *values) {
    put(w, "[");
    for (uint32_t i = 0; i < w->input_count; i++) {
        if (i) put(w, ",");
        csni_profile_put_decimal(w->out, values->by_input[i]);
    }
    put(w, "]");
}

static void put_nodes(struct page_writer *w) {
    static const char *const keys[] = { ",\"parent\":[", ",\"func\":[", ",\"inlined\":[", ",\"self\":[" };
    for (int column = 0; column < 4; column++) {
        put(w, keys[column]);
        for (size_t i = 0; i < w->nodes.count; i++) {
            const struct page_node *node = &w->nodes.items[i];
            if (!w->kept[i]) continue;
            if (i) put(w, ",");
            if (column == 0) csni_profile_put_decimal(w->out, i ? w->kept[node->parent] - 1 : 0);
            if (column == 1) csni_profile_put_decimal(w->out, node->function);
            if (column == 2) csni_profile_put_decimal(w->out, node->inlined);
            if (column == 3) put_values(w, &w->selfs.items[i]);
        }
        put(w, "]");
    }
}

static void put_functions(struct page_writer *w) {
    put(w, ",\"functions\":[");
    for (size_t i = 0; i < w->functions.count; i++) {
        put(w, i ? ",[" : "[");
        csni_profile_put_decimal(w->out, page_string(w, w->functions.items[i].name));
        put(w, ",");
        csni_profile_put_decimal(w->out, page_string(w, w->functions.items[i].file));
        put(w, "]");
    }
    put(w, "]");
}

static void put_line_values(struct page_writer *w, size_t i) {
    put(w, ",");
    put_values(w, &w->line_selfs.items[i]);
    put(w, ",");
    put_values(w, &w->line_totals.items[i]);
    put(w, "]");
}

static void put_lines(struct page_writer *w) {
    const char *comma = "";
    put(w, ",\"files\":[");
    for (size_t i = 0; i < w->lines.count; i++) {
        if (w->lines.items[i].line) continue;
        put(w, comma);
        put(w, "[");
        csni_profile_put_decimal(w->out, page_string(w, w->lines.items[i].file));
        put_line_values(w, i);
        comma = ",";
    }
    put(w, "],\"lines\":[");
    comma = "";
    for (size_t i = 0; i < w->lines.count; i++) {
        if (!w->kept_lines[i]) continue;
        put(w, comma);
        put(w, "[");
        csni_profile_put_decimal(w->out, page_string(w, w->lines.items[i].file));
        put(w, ",");
        csni_profile_put_decimal(w->out, w->lines.items[i].line);
        put_line_values(w, i);
        comma = ",";
    }
    put(w, "]");
}

/* The page shows large times and sizes as ms and MiB, whatever "nanoseconds" and "bytes" are called. */
static struct csn_str unit_of(const struct csn_profile *p) {
    if (!p->value_count) return CSN_STR("count");
    const struct csn_str text = csni_profile_str(p, p->value_types[csni_profile_shown_value(p)].unit);
    const struct profile_unit unit = csni_profile_unit(text);
    if (unit.measure == PROFILE_COUNT || unit.factor != 1) return text;
    return unit.measure == PROFILE_TIME ? CSN_STR("nanoseconds") : CSN_STR("bytes");
}

/* A profile that was built may be without. */
static struct csn_str input_name(const struct csn_profile *p, uint32_t i) {
    return i < p->inputs.count ? csni_profile_str(p, p->inputs.items[i].name) : CSN_STR("");
}

static void put_title(struct page_writer *w, const char *title) {
    const struct csn_profile *p = w->p;
    put(w, "{\"title\":");
    if (title) csni_profile_put_json(w->out, csni_str(title), true);
    else if (p->inputs.count == 1) csni_profile_put_json(w->out, csni_profile_str(p, p->inputs.items[0].name), true);
    else csni_profile_put_json(w->out, CSN_STR("profiles"), true);
    put(w, ",\"unit\":");
    csni_profile_put_json(w->out, unit_of(p), true);
    put(w, ",\"inputs\":[");
    for (uint32_t i = 0; i < w->input_count; i++) {
        const bool is_rest = i + 1 == PAGE_INPUTS && p->inputs.count > PAGE_INPUTS;
        if (i) put(w, ",");
        csni_profile_put_json(w->out, is_rest ? CSN_STR("all others") : input_name(p, i), true);
    }
    put(w, "],\"left_out\":");
    csni_profile_put_decimal(w->out, (int64_t)w->left_out);
    put(w, ",\"lines_left_out\":");
    csni_profile_put_decimal(w->out, (int64_t)w->lines_left_out);
}

static void put_data(struct page_writer *w, const char *title) {
    put_title(w, title);
    put_nodes(w);
    put_functions(w);
    put_lines(w);
    put(w, ",\"strings\":[");
    for (size_t i = 0; i < w->strings.count; i++) {
        const struct csn_str text = csni_profile_str(w->p, w->strings.items[i]);
        if (i) put(w, ",");
        csni_profile_put_json(w->out, text.len ? text : CSN_STR(""), true);
    }
    put(w, "]}");
}

static void put_page(struct page_writer *w, const char *title) {
    static const char mark[] = "@DATA@";
    size_t at = 0;
    while (at + sizeof mark < csni_profile_page_size && memcmp(csni_profile_page + at, mark, sizeof mark - 1) != 0) at++;
    csni_profile_put(w->out, csni_profile_page, at);
    put_data(w, title);
    csni_profile_put(w->out, csni_profile_page + at + sizeof mark - 1, csni_profile_page_size - at - (sizeof mark - 1));
}

csn_status csni_html_write(struct csn_profile *p, struct profile_out *out, const char *title, struct csn_error *err) {
    struct page_writer w = { .p = p, .out = out, .profile_strings = p->strings.count };
    w.functions.alloc = w.nodes.alloc = w.selfs.alloc = w.lines.alloc = w.line_selfs.alloc = w.line_totals.alloc = w.strings.alloc =
        p->alloc;
    w.function_table.alloc = w.node_table.alloc = w.line_table.alloc = p->alloc;
    w.input_count = p->inputs.count > PAGE_INPUTS ? PAGE_INPUTS : p->inputs.count ? (uint32_t)p->inputs.count : 1;
    w.string_numbers = csni_alloc_zeroed(p->alloc, w.profile_strings, sizeof *w.string_numbers);
    w.page_nodes = csni_alloc_zeroed(p->alloc, p->nodes.count, sizeof *w.page_nodes);
    w.failed = !w.string_numbers || !w.page_nodes;
    if (!w.failed) build_page(&w);
    const size_t node_count = w.nodes.count, line_count = w.lines.count;
    w.kept = csni_alloc_zeroed(p->alloc, node_count + 1, sizeof *w.kept);
    w.kept_lines = csni_alloc_zeroed(p->alloc, line_count + 1, sizeof *w.kept_lines);
    w.failed |= !w.kept || !w.kept_lines;
    if (!w.failed) choose_nodes(&w);
    if (!w.failed) choose_lines(&w);
    if (!w.failed) put_page(&w, title);
    csni_free(p->alloc, w.string_numbers, w.profile_strings * sizeof *w.string_numbers);
    csni_free(p->alloc, w.page_nodes, p->nodes.count * sizeof *w.page_nodes);
    csni_free(p->alloc, w.kept, (node_count + 1) * sizeof *w.kept);
    csni_free(p->alloc, w.kept_lines, (line_count + 1) * sizeof *w.kept_lines);
    csni_vec_deinit(&w.functions);
    csni_vec_deinit(&w.nodes);
    csni_vec_deinit(&w.selfs);
    csni_vec_deinit(&w.lines);
    csni_vec_deinit(&w.line_selfs);
    csni_vec_deinit(&w.line_totals);
    csni_vec_deinit(&w.strings);
    csni_profile_table_deinit(&w.function_table);
    csni_profile_table_deinit(&w.node_table);
    csni_profile_table_deinit(&w.line_table);
    return w.failed ? csni_fail_memory(err, p->nodes.count * sizeof *w.page_nodes) : CSN_OK;
}
