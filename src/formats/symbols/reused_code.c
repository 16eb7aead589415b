/* From the last code back: each takes what is unknown within it, which is older. */
#include "formats/symbols/reused_code.h"

#include "base/core/search.h"

/* The next code from `at` on of which nobody knows yet whether it is gone; next[i] is i for such a one. */
static size_t next_unknown(size_t *next, size_t at) {
    size_t found = at;
    while (next[found] != found) found = next[found];
    while (next[at] != found) {
        size_t after = next[at];
        next[at] = found;
        at = after;
    }
    return found;
}

/* `at` is the last one of its order: what is unknown within it is older. */
static void mark_gone(struct csni_made_code *items, size_t count, size_t *next, size_t at) {
    const uint64_t start = items[at].start, size = items[at].size ? items[at].size : 1;
    size_t first = csni_lower_bound(items, count, start, start);
    for (size_t i = next_unknown(next, first); i < count && items[i].start - start < size; i = next_unknown(next, i)) {
        items[i].is_gone = i != at;
        next[i] = i + 1;
    }
}

bool csni_find_reused_code(struct csni_made_code *items, size_t count, const struct csn_allocator *alloc) {
    uint64_t orders = 0;
    for (size_t i = 0; i < count; i++)
        if (items[i].order >= orders) orders = items[i].order + 1;
    size_t *next = csni_alloc_zeroed(alloc, count + 1, sizeof *next);
    size_t *places = csni_alloc_zeroed(alloc, (size_t)orders, sizeof *places); /* 1 + the place of that order; 0: none */
    const bool good = next && places;
    for (size_t i = 0; good && i <= count; i++) next[i] = i;
    for (size_t i = 0; good && i < count; i++) places[items[i].order] = i + 1;
    for (uint64_t order = orders; good && order--;)
        if (places[order]) mark_gone(items, count, next, places[order] - 1);
    csni_free(alloc, next, (count + 1) * sizeof *next);
    csni_free(alloc, places, (size_t)orders * sizeof *places);
    return good;
}
