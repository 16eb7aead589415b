/* One function against another: size, rows, inlined calls, call sites, merged functions. */
#include "diff/diff_function.h"

#include <stdlib.h>
#include <string.h>

#include "input/read_budget.h"
#include "ui/growing.h"
#include "ui/sorting.h"

const char *diff_what_name(unsigned k) {
    static const char *const names[] = { "address", "size", "lines", "inlines", "call_sites", "merged", NULL };
    return names[k];
}

struct diff_function diff_function_read(const struct csn_index *index, const struct csn_record *record) {
    struct diff_function function = { .record = *record };
    function.status = csn_record_function(index, record, &function.function, NULL);
    return function;
}

int diff_by_name(const void *a, const void *b) {
    const struct diff_function *left = a, *right = b;
    int order = compare_strings(left->function.name, right->function.name);
    if (order) return order;
    if (left->function.size != right->function.size) return left->function.size < right->function.size ? -1 : 1;
    if (left->idx != right->idx) return left->idx < right->idx ? -1 : 1;
    return (left->record.offset > right->record.offset) - (left->record.offset < right->record.offset);
}

bool diff_scratch_init(struct diff_scratch *capacity, const struct csn_index *a, const struct csn_index *b) {
    *capacity = (struct diff_scratch){ .indexes = { a, b } };
    for (int k = 0; k < 2; k++) {
        struct csn_index_info info;
        csn_index_get_info(capacity->indexes[k], &info, sizeof(info));
        capacity->file_counts[k] = info.file_count;
        capacity->left[k] = read_budget_of(capacity->indexes[k]);
    }
    capacity->equal_file = calloc((size_t)capacity->file_counts[0] + 1, sizeof(*capacity->equal_file));
    return capacity->equal_file != NULL;
}

void diff_scratch_deinit(struct diff_scratch *capacity) {
    free(capacity->equal_file);
    for (int k = 0; k < 2; k++) {
        diff_tree_deinit(&capacity->trees[k]);
        free(capacity->sites[k]);
    }
    *capacity = (struct diff_scratch){ 0 };
}

/* ---- rows ---- */

/* Paths are compared once for each pair of files, not for each row. */
static bool files_equal(struct diff_scratch *capacity, uint32_t a, uint32_t b) {
    if (!a || !b) return a == b;
    bool known = a < capacity->file_counts[0];
    if (known && capacity->equal_file[a] == b) return true;
    bool equal = diff_paths_equal(diff_path_of(capacity->indexes[0], a), diff_path_of(capacity->indexes[1], b));
    if (known && equal) capacity->equal_file[a] = b;
    return equal;
}

static csn_status compare_rows(struct diff_scratch *capacity, const struct diff_function *pair[2], struct function_diff *out) {
    struct diff_rows rows[2];
    struct diff_row row[2] = { { 0, 0, 0 }, { 0, 0, 0 } };
    for (int k = 0; k < 2; k++) {
        csn_status status = diff_rows_init(&rows[k], capacity->indexes[k], &pair[k]->record, pair[k]->function.size,
                                           &capacity->left[k], &out->err);
        if (status < 0) return status;
        rows[k].suspect = &capacity->suspect[k];
    }
    for (;;) {
        csn_status status[2];
        for (int k = 0; k < 2; k++) {
            status[k] = diff_rows_next(&rows[k], &row[k], &out->err);
            if (status[k] < 0) return status[k];
        }
        bool end = status[0] != CSN_OK && status[1] != CSN_OK;
        bool equal = status[0] == status[1] && row[0].offset == row[1].offset && row[0].line == row[1].line &&
                     files_equal(capacity, row[0].file, row[1].file);
        if (end) return CSN_OK;
        if (equal) continue;
        out->what |= DIFF_LINES;
        for (int k = 0; k < 2; k++) {
            out->rows[k].present = status[k] == CSN_OK;
            out->rows[k].row = row[k];
            out->rows[k].path = diff_path_of(capacity->indexes[k], row[k].file);
        }
        return CSN_OK;
    }
}

/* ---- inlined calls ---- */

static csn_status compare_inlines(struct diff_scratch *capacity, const struct diff_function *pair[2], struct function_diff *out) {
    const struct diff_side sides[2] = { { capacity->indexes[0], &pair[0]->record, &capacity->left[0],
                                          &capacity->suspect[0] },
                                        { capacity->indexes[1], &pair[1]->record, &capacity->left[1],
                                          &capacity->suspect[1] } };
    bool same = true;
    csn_status status = diff_inlines(sides, capacity->trees, &same, &out->nodes, &out->err);
    if (status >= 0 && !same) out->what |= DIFF_INLINES;
    return status;
}

/* ---- call sites ---- */

static int by_site(const void *a, const void *b) {
    const struct diff_site *left = a, *right = b;
    if (left->return_offset != right->return_offset) return left->return_offset < right->return_offset ? -1 : 1;
    if (left->flags != right->flags) return left->flags < right->flags ? -1 : 1;
    return compare_strings(left->pattern, right->pattern);
}

static bool add_site(struct diff_scratch *capacity, int k, size_t *count, struct diff_site site) {
    if (!reserve_items(&capacity->sites[k], &capacity->site_capacity[k], *count + 1, sizeof(site))) return false;
    capacity->sites[k][(*count)++] = site;
    return true;
}

/* Sorted, a call site with several patterns several times. */
static csn_status gather_sites(struct diff_scratch *capacity, int k, const struct diff_function *function, size_t *count,
                               struct csn_error *err) {
    struct csn_call_site_iter iter;
    struct csn_call_site site;
    csn_status status = csn_call_site_iter_init(&iter, capacity->indexes[k], &function->record, err);
    if (status < 0) return status;
    while ((status = csn_call_site_iter_next(&iter, &site, err)) == CSN_OK) {
        struct diff_site found = { site.return_offset, site.flags, { "", 0 } };
        if (!read_budget_spend(&capacity->left[k], 1 + (uint64_t)site.pattern_count)) return CSN_E_LIMIT;
        for (uint32_t p = 0; p < site.pattern_count; p++) {
            csn_call_site_pattern(capacity->indexes[k], &site, p, &found.pattern, NULL);
            capacity->suspect[k] |= !found.pattern.len;
            if (!add_site(capacity, k, count, found)) return CSN_E_MEMORY;
        }
        if (!site.pattern_count && !add_site(capacity, k, count, found)) return CSN_E_MEMORY;
    }
    if (*count) qsort(capacity->sites[k], *count, sizeof(*capacity->sites[k]), by_site);
    return status < 0 ? status : CSN_OK;
}

static csn_status compare_sites(struct diff_scratch *capacity, const struct diff_function *pair[2], struct function_diff *out) {
    size_t counts[2] = { 0, 0 }, i = 0;
    for (int k = 0; k < 2; k++) {
        csn_status status = gather_sites(capacity, k, pair[k], &counts[k], &out->err);
        if (status < 0) return status;
    }
    while (i < counts[0] && i < counts[1] && by_site(&capacity->sites[0][i], &capacity->sites[1][i]) == 0) i++;
    if (i == counts[0] && i == counts[1]) return CSN_OK;
    out->what |= DIFF_CALL_SITES;
    for (int k = 0; k < 2; k++) {
        out->sites[k].present = i < counts[k];
        if (i < counts[k]) out->sites[k].site = capacity->sites[k][i];
    }
    return CSN_OK;
}

/* ---- merged functions ---- */

struct merged_list {
    struct diff_function *items;
    size_t count, capacity;
};

static csn_status gather_merged(struct diff_scratch *capacity, int k, const struct diff_function *function,
                                struct merged_list *list, struct csn_error *err) {
    const struct csn_index *index = capacity->indexes[k];
    struct csn_merged_iter iter;
    struct csn_record record;
    csn_status status = csn_merged_iter_init(&iter, index, &function->record, err);
    if (status < 0) return status;
    while ((status = csn_merged_iter_next(&iter, &record, err)) == CSN_OK) {
        if (!reserve_items(&list->items, &list->capacity, list->count + 1, sizeof(*list->items))) return CSN_E_MEMORY;
        struct diff_function *merged = &list->items[list->count++];
        *merged = diff_function_read(index, &record);
        if (merged->status >= 0 && !merged->function.name.len) merged->status = csn_record_check(index, &record, err);
        if (merged->status < 0) return merged->status;
        if (!read_budget_spend(&capacity->left[k], 1 + merged->function.name.len)) return CSN_E_LIMIT;
    }
    if (list->count) qsort(list->items, list->count, sizeof(*list->items), diff_by_name);
    return status < 0 ? status : CSN_OK;
}

static csn_status compare_parts(struct diff_scratch *capacity, const struct diff_function *pair[2], struct function_diff *out);

/* A merged function has no merged ones itself: every writer known keeps to that, and verify complains otherwise. */
static csn_status compare_merged_lists(struct diff_scratch *capacity, const struct merged_list lists[2],
                                       struct function_diff *out) {
    for (size_t i = 0; i < lists[0].count || i < lists[1].count; i++) {
        const struct diff_function *pair[2] = { i < lists[0].count ? &lists[0].items[i] : NULL,
                                                i < lists[1].count ? &lists[1].items[i] : NULL };
        int order = !pair[0] ? 1 : !pair[1] ? -1
                  : compare_strings(pair[0]->function.name, pair[1]->function.name);
        struct function_diff inner = { .what = 0 };
        if (order == 0) {
            csn_status status = compare_parts(capacity, pair, &inner);
            if (!capacity->left[0] || !capacity->left[1]) return CSN_E_LIMIT;
            if (status < 0) return status;
            if (!inner.what) continue;
        }
        out->what |= DIFF_MERGED;
        for (int k = 0; k < 2; k++) {
            out->merged[k].present = pair[k] && (k == 0 ? order <= 0 : order >= 0);
            if (out->merged[k].present) out->merged[k].name = pair[k]->function.name;
            out->merged[k].what = inner.what;
        }
        return CSN_OK;
    }
    return CSN_OK;
}

static csn_status compare_merged(struct diff_scratch *capacity, const struct diff_function *pair[2], struct function_diff *out) {
    struct merged_list lists[2] = { { NULL, 0, 0 }, { NULL, 0, 0 } };
    csn_status status = gather_merged(capacity, 0, pair[0], &lists[0], &out->err);
    if (status >= 0) status = gather_merged(capacity, 1, pair[1], &lists[1], &out->err);
    if (status >= 0) status = compare_merged_lists(capacity, lists, out);
    free(lists[0].items);
    free(lists[1].items);
    return status;
}

/* ---- all of it ---- */

/* Reads both to their ends where comparing may have stopped before, or met an empty string that may be one out of its table. */
static csn_status check_ends(struct diff_scratch *capacity, const struct diff_function *pair[2], struct function_diff *out) {
    for (int k = 0; k < 2; k++) {
        if (!capacity->suspect[k] && !(out->what & ~(uint32_t)DIFF_ADDRESS)) continue;
        if (!read_budget_spend(&capacity->left[k], 1 + pair[k]->function.record_size)) return CSN_E_LIMIT;
        csn_status status = csn_record_check(capacity->indexes[k], &pair[k]->record, &out->err);
        if (status < 0) return status;
    }
    return CSN_OK;
}

/* Everything but addresses and merged functions. */
static csn_status compare_parts(struct diff_scratch *capacity, const struct diff_function *pair[2], struct function_diff *out) {
    capacity->suspect[0] = capacity->suspect[1] = false;
    if (pair[0]->status < 0 || pair[1]->status < 0) return pair[0]->status < 0 ? pair[0]->status : pair[1]->status;
    const struct csn_function *a = &pair[0]->function, *b = &pair[1]->function;
    if (a->size != b->size) out->what |= DIFF_SIZE;
    csn_status status = CSN_OK;
    if (a->has_lines || b->has_lines) status = compare_rows(capacity, pair, out);
    if (status >= 0 && (a->has_inlines || b->has_inlines)) status = compare_inlines(capacity, pair, out);
    if (status >= 0 && (a->has_call_sites || b->has_call_sites)) status = compare_sites(capacity, pair, out);
    return status < 0 ? status : check_ends(capacity, pair, out);
}

bool diff_functions(struct diff_scratch *capacity, const struct diff_function *a, const struct diff_function *b,
                    struct function_diff *out) {
    const struct diff_function *pair[2] = { a, b };
    *out = (struct function_diff){ .err = CSN_ERROR_INIT };
    if (a->record.start != b->record.start) out->what |= DIFF_ADDRESS;
    csn_status status = CSN_OK;
    /* First, because it uses the trees too, where out->nodes will point. */
    if (a->function.has_merged || b->function.has_merged) status = compare_merged(capacity, pair, out);
    if (status >= 0) status = compare_parts(capacity, pair, out);
    if (status < 0) out->what |= DIFF_DAMAGED;
    return status != CSN_E_MEMORY && capacity->left[0] && capacity->left[1];
}
