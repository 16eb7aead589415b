/* One more walk for all of those names. */
#define _GNU_SOURCE
#include "find/find_originals.h"

#include <stdlib.h>
#include <string.h>

#include "ui/clone_name.h"

struct originals {
    struct find_query *queries;
    size_t *of; /* the query of the walk that each of them stands for */
    size_t count;
};

static void originals_deinit(struct originals *originals) {
    for (size_t i = 0; originals->queries && i < originals->count; i++) free((char *)originals->queries[i].text);
    free(originals->queries);
    free(originals->of);
}

/* False: no memory. */
static bool originals_init(struct originals *originals, const struct find_walk *walk) {
    *originals = (struct originals){ .queries = calloc(walk->query_count + 1, sizeof(*originals->queries)),
                                     .of = calloc(walk->query_count + 1, sizeof(*originals->of)) };
    if (!originals->queries || !originals->of) return false;
    for (size_t q = 0; q < walk->query_count; q++) {
        const char *text = walk->queries[q].text;
        const struct csn_str name = { text, strlen(text) }, original = clone_original(name);
        if (walk->queries[q].kind != FIND_NAME || walk->matches[q].count || original.len == name.len) continue;
        char *copy = strndup(original.ptr, original.len);
        if (!copy) return false;
        find_query_of_name(copy, &originals->queries[originals->count]);
        originals->of[originals->count++] = q;
    }
    return true;
}

static bool run_originals(struct find_walk *walk, const struct originals *originals) {
    struct find_walk more;
    if (!find_walk_init(&more, walk->index, originals->queries, originals->count)) {
        walk->status = CSN_E_MEMORY;
        return false;
    }
    const bool good = find_walk_run(&more);
    walk->status = more.status;
    walk->err = more.err;
    for (size_t i = 0; good && i < originals->count; i++) {
        struct find_matches *matches = &walk->matches[originals->of[i]];
        free(matches->items);
        *matches = more.matches[i];
        more.matches[i] = (struct find_matches){ .items = NULL };
    }
    find_walk_deinit(&more);
    return good;
}

bool find_originals(struct find_walk *walk) {
    struct originals originals;
    bool good = originals_init(&originals, walk);
    if (!good) walk->status = CSN_E_MEMORY;
    else if (originals.count) good = run_originals(walk, &originals);
    originals_deinit(&originals);
    return good;
}
