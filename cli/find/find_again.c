/* One more walk for all of those queries. */
#define _GNU_SOURCE
#include "find/find_again.h"

#include <stdlib.h>
#include <string.h>

#include "ui/clone_name.h"

struct second_queries {
    struct find_query *queries;
    size_t *of; /* the query of the walk that each of them stands for */
    size_t count;
};

static void second_deinit(struct second_queries *second) {
    for (size_t i = 0; second->queries && i < second->count; i++) free((char *)second->queries[i].text);
    free(second->queries);
    free(second->of);
}

/* False: no memory. */
static bool add_second(struct second_queries *second, const struct find_query *query, size_t q) {
    const struct csn_str name = { query->text, strlen(query->text) };
    const struct csn_str wanted = query->may_be_glob ? name : clone_original(name);
    if (wanted.len == name.len && !query->may_be_glob) return true;
    char *copy = strndup(wanted.ptr, wanted.len);
    if (!copy) return false;
    struct find_query *out = &second->queries[second->count];
    if (query->may_be_glob) find_query_of_glob(copy, out);
    else find_query_of_name(copy, out);
    second->of[second->count++] = q;
    return true;
}

/* False: no memory. */
static bool second_init(struct second_queries *second, const struct find_walk *walk) {
    *second = (struct second_queries){ .queries = calloc(walk->query_count + 1, sizeof(*second->queries)),
                                       .of = calloc(walk->query_count + 1, sizeof(*second->of)) };
    if (!second->queries || !second->of) return false;
    for (size_t q = 0; q < walk->query_count; q++) {
        if (walk->queries[q].kind != FIND_NAME || walk->matches[q].count) continue;
        if (!add_second(second, &walk->queries[q], q)) return false;
    }
    return true;
}

static bool run_second(struct find_walk *walk, const struct second_queries *second) {
    struct find_walk more;
    if (!find_walk_init(&more, walk->index, second->queries, second->count)) {
        walk->status = CSN_E_MEMORY;
        return false;
    }
    const bool good = find_walk_run(&more);
    walk->status = more.status;
    walk->err = more.err;
    for (size_t i = 0; good && i < second->count; i++) {
        struct find_matches *matches = &walk->matches[second->of[i]];
        free(matches->items);
        *matches = more.matches[i];
        more.matches[i] = (struct find_matches){ .items = NULL };
    }
    find_walk_deinit(&more);
    return good;
}

bool find_again(struct find_walk *walk) {
    struct second_queries second;
    bool good = second_init(&second, walk);
    if (!good) walk->status = CSN_E_MEMORY;
    else if (second.count) good = run_second(walk, &second);
    second_deinit(&second);
    return good;
}
