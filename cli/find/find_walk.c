/* Functions, merged functions and rows against the queries. */
#define _GNU_SOURCE
#include "find/find_walk.h"

#include <stdlib.h>
#include <string.h>

#include "input/functions_of_name.h"
#include "input/read_budget.h"
#include "ui/growing.h"

bool find_walk_init(struct find_walk *walk, const struct csn_index *index, const struct find_query *queries, size_t count) {
    struct csn_index_info info;
    csn_index_get_info(index, &info, sizeof(info));
    *walk = (struct find_walk){ .index = index, .queries = queries, .query_count = count, .file_count = info.file_count,
                                .in_pieces = info.format == CSN_FORMAT_BSYM, .left = read_budget_of(index), .err = CSN_ERROR_INIT };
    walk->matches = calloc(count ? count : 1, sizeof(*walk->matches));
    bool good = walk->matches && name_text_init(&walk->demangler, true);
    if (!good) find_walk_deinit(walk);
    return good;
}

void find_walk_deinit(struct find_walk *walk) {
    for (size_t i = 0; walk->matches && i < walk->query_count; i++) free(walk->matches[i].items);
    free(walk->matches);
    free(walk->scratch.bytes);
    free(walk->is_file);
    free(walk->has_run);
    name_text_deinit(&walk->demangler);
    *walk = (struct find_walk){ .index = NULL };
}

static bool add_match(struct find_walk *walk, size_t q, const struct find_match *match) {
    struct find_matches *matches = &walk->matches[q];
    if (!reserve_items(&matches->items, &matches->capacity, matches->count + 1, sizeof(*matches->items))) {
        walk->status = CSN_E_MEMORY;
        return false;
    }
    matches->items[matches->count++] = *match;
    return true;
}

static bool spend(struct find_walk *walk, uint64_t count) {
    if (read_budget_spend(&walk->left, count)) return true;
    walk->status = read_budget_fail(walk->index, &walk->err);
    return false;
}

/* ---- names ---- */

/* *name: the stored one, which is empty where it is kept in pieces. */
static bool make_whole(struct find_walk *walk, uint32_t idx, struct csn_str *name) {
    if (name->len || !walk->in_pieces || name_scratch_read(&walk->scratch, walk->index, idx, name)) return true;
    walk->status = CSN_E_MEMORY;
    return false;
}

static void take_first_row(const struct find_walk *walk, const struct csn_record *record, struct find_match *match) {
    struct csn_row_iter iter;
    struct csn_row row;
    if (csn_row_iter_init(&iter, walk->index, record, NULL) != CSN_OK || csn_row_iter_next(&iter, &row, NULL) != CSN_OK) return;
    match->file = row.file;
    match->line = row.line;
}

/* Adds the function to each query that names it. */
static bool match_name(struct find_walk *walk, const struct csn_function *function, const struct csn_record *record, uint32_t idx,
                       bool is_merged) {
    const uint64_t made = walk->demangler.made_bytes;
    struct shown_name shown = { .stored = function->name };
    if (!spend(walk, 1 + function->name.len)) return false;
    for (size_t q = 0; q < walk->query_count; q++) {
        const struct find_query *query = &walk->queries[q];
        if (query->kind == FIND_LINE || !find_query_has_name(query, &shown, &walk->demangler)) continue;
        struct find_match match = { .addr = function->start, .size = function->size, .function = idx, .is_merged = is_merged };
        if (is_merged) match.merged = *record;
        if (record) take_first_row(walk, record, &match);
        if (!add_match(walk, q, &match)) return false;
    }
    return spend(walk, walk->demangler.made_bytes - made);
}

/* ---- lines ---- */

/* Which files each query for a line means: rows name them by number. */
static bool choose_files(struct find_walk *walk) {
    struct csn_str directory, base;
    walk->is_file = calloc(walk->query_count * (size_t)walk->file_count + 1, sizeof(*walk->is_file));
    walk->has_run = calloc(walk->query_count, sizeof(*walk->has_run));
    if (!walk->is_file || !walk->has_run) {
        walk->status = CSN_E_MEMORY;
        return false;
    }
    for (uint32_t i = 1; i < walk->file_count; i++) {
        if (csn_index_file(walk->index, i, &directory, &base, NULL) != CSN_OK) continue;
        if (!spend(walk, 1 + directory.len + base.len)) return false;
        for (size_t q = 0; q < walk->query_count; q++)
            walk->is_file[q * walk->file_count + i] =
                walk->queries[q].kind == FIND_LINE && find_query_has_file(&walk->queries[q], directory, base);
    }
    return true;
}

/* Where rows of a line begin: not at each row of a run of them. `merged`: the record, if the function was merged into that one. */
static bool match_row(struct find_walk *walk, const struct csn_function *function, const struct csn_row *row, uint32_t idx,
                      const struct csn_record *merged) {
    for (size_t q = 0; q < walk->query_count; q++) {
        const bool was = walk->has_run[q];
        walk->has_run[q] = row->line == walk->queries[q].line && row->file < walk->file_count &&
                           walk->is_file[q * walk->file_count + row->file];
        if (!walk->has_run[q] || was) continue;
        struct find_match match = { .addr = row->addr, .size = function->size, .function = idx, .file = row->file,
                                    .line = row->line, .is_merged = merged != NULL };
        if (merged) match.merged = *merged;
        if (!add_match(walk, q, &match)) return false;
    }
    return true;
}

static bool match_rows(struct find_walk *walk, const struct csn_function *function, const struct csn_record *record, uint32_t idx,
                       bool is_merged) {
    struct csn_row_iter iter;
    struct csn_row row;
    memset(walk->has_run, 0, walk->query_count * sizeof(*walk->has_run));
    if (csn_row_iter_init(&iter, walk->index, record, NULL) != CSN_OK) return true;
    while (csn_row_iter_next(&iter, &row, NULL) == CSN_OK)
        if (!match_row(walk, function, &row, idx, is_merged ? record : NULL)) return false;
    return true;
}

/* ---- functions ---- */

static bool match_merged(struct find_walk *walk, const struct csn_record *record, uint32_t idx) {
    struct csn_merged_iter iter;
    struct csn_record merged;
    struct csn_function function;
    if (csn_merged_iter_init(&iter, walk->index, record, NULL) != CSN_OK) return true;
    while (csn_merged_iter_next(&iter, &merged, NULL) == CSN_OK) {
        if (csn_record_function(walk->index, &merged, &function, NULL) != CSN_OK) continue;
        if (!match_name(walk, &function, &merged, idx, true)) return false;
        if (walk->is_file && function.has_lines && !match_rows(walk, &function, &merged, idx, true)) return false;
    }
    return true;
}

static bool match_function(struct find_walk *walk, uint32_t idx) {
    struct csn_function function;
    struct csn_record record;
    if (csn_index_function(walk->index, idx, &function, NULL) != CSN_OK) return true;
    if (!spend(walk, function.record_size) || !make_whole(walk, idx, &function.name)) return false;
    bool has_record = csn_index_record(walk->index, idx, &record, NULL) == CSN_OK;
    if (!match_name(walk, &function, has_record ? &record : NULL, idx, false)) return false;
    if (!has_record) return true;
    if (walk->is_file && function.has_lines && !match_rows(walk, &function, &record, idx, false)) return false;
    return !function.has_merged || match_merged(walk, &record, idx);
}

bool find_walk_run_over(struct find_walk *walk, const uint32_t *functions, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (!match_function(walk, functions[i])) return false;
    return true;
}

/* The library finds it, with its name table if there is one. */
static bool find_mangled(struct find_walk *walk, const char *text) {
    size_t count = 0;
    uint32_t *functions;
    walk->status = functions_of_name(walk->index, (struct csn_str){ text, strlen(text) }, &functions, &count, &walk->err);
    const bool good = walk->status >= 0 && find_walk_run_over(walk, functions, count);
    free(functions);
    return good;
}

static bool has_lines(const struct find_walk *walk) {
    for (size_t q = 0; q < walk->query_count; q++)
        if (walk->queries[q].kind == FIND_LINE) return true;
    return false;
}

bool find_walk_run(struct find_walk *walk) {
    struct csn_index_info info;
    if (has_lines(walk) && !choose_files(walk)) return false;
    csn_index_get_info(walk->index, &info, sizeof(info));
    if (walk->query_count == 1 && find_query_is_mangled(&walk->queries[0])) return find_mangled(walk, walk->queries[0].text);
    for (uint32_t i = 0; i < info.function_count; i++)
        if (!match_function(walk, i)) return false;
    return true;
}

/* And what the visitor demangles. */
static bool visit_name(struct find_walk *walk, uint32_t idx, struct csn_str name, find_name_visitor *visit, void *context) {
    const uint64_t made = walk->demangler.made_bytes;
    return spend(walk, 1 + name.len) && visit(context, idx, name) && spend(walk, walk->demangler.made_bytes - made);
}

bool find_walk_visit_names(struct find_walk *walk, uint32_t idx, find_name_visitor *visit, void *context) {
    struct csn_function function;
    struct csn_record record, merged;
    struct csn_merged_iter iter;
    if (csn_index_function(walk->index, idx, &function, NULL) != CSN_OK) return true;
    if (!spend(walk, function.record_size) || !make_whole(walk, idx, &function.name)) return false;
    if (!visit_name(walk, idx, function.name, visit, context)) return false;
    if (!function.has_merged || csn_index_record(walk->index, idx, &record, NULL) != CSN_OK) return true;
    if (csn_merged_iter_init(&iter, walk->index, &record, NULL) != CSN_OK) return true;
    while (csn_merged_iter_next(&iter, &merged, NULL) == CSN_OK) {
        if (csn_record_function(walk->index, &merged, &function, NULL) != CSN_OK) continue;
        if (!visit_name(walk, idx, function.name, visit, context)) return false;
    }
    return true;
}

struct csn_str find_walk_name(struct find_walk *walk, const struct find_match *match) {
    struct csn_function function;
    csn_status status = match->is_merged ? csn_record_function(walk->index, &match->merged, &function, NULL)
                                         : csn_index_function(walk->index, match->function, &function, NULL);
    const bool good = status == CSN_OK && (match->is_merged || make_whole(walk, match->function, &function.name));
    return good ? function.name : (struct csn_str){ "", 0 };
}
