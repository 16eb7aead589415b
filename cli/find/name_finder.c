/* A table is made when what went without one has cost about as much as making it. */
#define _GNU_SOURCE
#include "find/name_finder.h"

#include <stdlib.h>
#include <string.h>

#include "find/find_walk.h"
#include "input/functions_of_name.h"

/* Going through all functions for a name with a word that mangled names spell out demangles few names; for another one, all. */
enum { COST_WITH_WORD = 1, COST_WITHOUT_WORD = 8, COST_OF_WORDS = 8, COST_OF_STORED = 2 };

void name_finder_deinit(struct name_finder *finder) {
    name_table_deinit(&finder->table);
    *finder = (struct name_finder){ .has_no_table = false };
}

/* ---- stored names ---- */

struct stored_search {
    struct csn_str name;
    bool found;
};

static bool compare_name(void *context, uint32_t function, struct csn_str name) {
    struct stored_search *search = context;
    (void)function;
    search->found = name.len == search->name.len && memcmp(name.ptr, search->name.ptr, name.len) == 0;
    return !search->found;
}

/* Why the walk ended. */
static csn_status walk_status(const struct find_walk *walk, struct csn_error *err) {
    *err = walk->err;
    return walk->status;
}

/* Those among the candidates. */
static csn_status keep_named(const struct csn_index *index, struct csn_str name, struct name_candidates *candidates,
                             struct csn_error *err) {
    struct find_walk walk;
    size_t kept = 0;
    if (!find_walk_init(&walk, index, NULL, 0)) return CSN_E_MEMORY;
    for (size_t i = 0; i < candidates->count && walk.status >= 0; i++) {
        struct stored_search search = { .name = name };
        find_walk_visit_names(&walk, candidates->functions[i], compare_name, &search);
        if (search.found) candidates->functions[kept++] = candidates->functions[i];
    }
    candidates->count = kept;
    const csn_status status = walk_status(&walk, err);
    find_walk_deinit(&walk);
    return status;
}

/* False: it is not to be had, now or at all. */
static bool has_table(struct name_finder *finder, const struct csn_index *index, bool with_words) {
    if (finder->table.items && (finder->table.has_words || !with_words)) return true;
    const bool is_due =
        with_words ? finder->shown_cost >= COST_OF_WORDS : finder->stored_cost >= COST_OF_STORED && !finder->is_remote;
    if (!is_due || finder->has_no_table) return false;
    finder->has_no_table = !name_table_make(&finder->table, index, with_words);
    return !finder->has_no_table;
}

csn_status name_finder_stored(struct name_finder *finder, const struct csn_index *index, struct csn_str name, uint32_t **out,
                              size_t *count, struct csn_error *err) {
    struct name_candidates candidates;
    *out = NULL;
    *count = 0;
    if (!has_table(finder, index, false)) {
        finder->stored_cost++;
        return functions_of_name(index, name, out, count, err);
    }
    if (!name_table_stored(&finder->table, name, &candidates)) return CSN_E_MEMORY;
    const csn_status status = keep_named(index, name, &candidates, err);
    *out = candidates.functions;
    *count = candidates.count;
    return status;
}

/* ---- demangled names ---- */

static bool run_walk(struct name_finder *finder, struct find_walk *walk) {
    const struct find_query *query = walk->queries;
    const struct csn_str name = { query->text, strlen(query->text) };
    struct name_candidates candidates;
    if (has_table(finder, walk->index, true) && name_table_shown(&finder->table, name, &candidates)) {
        const bool good = find_walk_run_over(walk, candidates.functions, candidates.count);
        free(candidates.functions);
        return good;
    }
    finder->shown_cost += query->word.len ? COST_WITH_WORD : COST_WITHOUT_WORD;
    return find_walk_run(walk);
}

static uint64_t *starts_of(const struct find_matches *matches) {
    uint64_t *starts = reallocarray(NULL, matches->count + 1, sizeof(*starts));
    for (size_t i = 0; starts && i < matches->count; i++) starts[i] = matches->items[i].addr;
    return starts;
}

csn_status name_finder_shown(struct name_finder *finder, const struct csn_index *index, const char *name, uint64_t **out,
                             size_t *count, struct csn_error *err) {
    struct find_query query;
    struct find_walk walk;
    *out = NULL;
    *count = 0;
    find_query_of_name(name, &query);
    if (!find_walk_init(&walk, index, &query, 1)) return CSN_E_MEMORY;
    *out = run_walk(finder, &walk) ? starts_of(walk.matches) : NULL;
    *count = *out ? walk.matches->count : 0;
    csn_status status = walk_status(&walk, err);
    if (status >= 0 && !*out) status = CSN_E_MEMORY;
    find_walk_deinit(&walk);
    return status;
}
