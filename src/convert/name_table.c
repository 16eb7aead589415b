/* Functions by name and by address. */
#include "convert/name_table.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/hash.h"

static int by_name(const void *pa, const void *pb) {
    const struct csni_named *a = pa, *b = pb;
    if (a->hash != b->hash) return a->hash < b->hash ? -1 : 1;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    if (a->batch != b->batch) return a->batch < b->batch ? -1 : 1;
    return a->function < b->function ? -1 : a->function > b->function;
}

struct by_start_key {
    uint64_t start;
    uint32_t batch, function, index;
};

static int by_start(const void *pa, const void *pb) {
    const struct by_start_key *a = pa, *b = pb;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    if (a->batch != b->batch) return a->batch < b->batch ? -1 : 1;
    return a->function < b->function ? -1 : a->function > b->function;
}

static csn_status order_by_start(struct csni_name_table *t, struct csn_error *err) {
    const struct csn_allocator *alloc = t->conversion->alloc;
    struct by_start_key *keys = csni_alloc_zeroed(alloc, t->count, sizeof *keys);
    t->by_start = csni_alloc_zeroed(alloc, t->count, sizeof *t->by_start);
    if (!keys || !t->by_start) {
        csni_free(alloc, keys, t->count * sizeof *keys);
        return csni_fail_memory(err, t->count * sizeof *keys);
    }
    for (uint32_t i = 0; i < t->count; i++) {
        const struct csni_named *n = &t->by_name[i];
        if (!csni_named_function(t, n)->homeless)
            keys[t->placed++] = (struct by_start_key){ n->start, n->batch, n->function, i };
    }
    if (t->placed) qsort(keys, t->placed, sizeof *keys, by_start);
    for (size_t i = 0; i < t->placed; i++) t->by_start[i] = keys[i].index;
    csni_free(alloc, keys, t->count * sizeof *keys);
    return CSN_OK;
}

csn_status csni_name_table_make(struct csni_name_table *t, const struct csni_conversion *c, struct csn_error *err) {
    *t = (struct csni_name_table){ .conversion = c };
    for (uint32_t b = 0; b < c->batch_count; b++) t->count += c->batches[b].function_count + (size_t)c->batches[b].homeless_count;
    if (!t->count) return CSN_OK;
    if (t->count > UINT32_MAX) return csni_fail(err, CSN_E_LIMIT, NULL, 0, "%zu functions, need <= %u", t->count, UINT32_MAX);
    t->by_name = csni_alloc_zeroed(c->alloc, t->count, sizeof *t->by_name);
    if (!t->by_name) return csni_fail_memory(err, t->count * sizeof *t->by_name);
    size_t n = 0;
    for (uint32_t b = 0; b < c->batch_count; b++) {
        const struct csni_batch *batch = &c->batches[b];
        for (uint32_t f = 0; f < batch->function_count + batch->homeless_count; f++) {
            struct csn_str name = batch->strings[batch->functions[f].name];
            uint64_t start = batch->functions[f].homeless ? UINT64_MAX : batch->functions[f].start;
            t->by_name[n++] = (struct csni_named){ csni_hash_bytes(name.ptr, name.len), start, b, f, false };
        }
    }
    qsort(t->by_name, t->count, sizeof *t->by_name, by_name);
    return order_by_start(t, err);
}

void csni_name_table_deinit(struct csni_name_table *t) {
    const struct csn_allocator *alloc = t->conversion->alloc;
    csni_free(alloc, t->by_name, t->count * sizeof *t->by_name);
    if (t->by_start) csni_free(alloc, t->by_start, t->count * sizeof *t->by_start);
}

/* Index of the first whose hash is not below `hash`, or is above it. */
static size_t first_of_hash(const struct csni_name_table *t, uint64_t hash, bool above) {
    size_t low = 0, high = t->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        uint64_t there = t->by_name[middle].hash;
        if (there < hash || (above && there == hash)) low = middle + 1;
        else high = middle;
    }
    return low;
}

struct csni_named *csni_name_table_find(const struct csni_name_table *t, struct csn_str name, size_t *count) {
    uint64_t hash = csni_hash_bytes(name.ptr, name.len);
    size_t low = first_of_hash(t, hash, false);
    *count = first_of_hash(t, hash, true) - low;
    if (!*count || !csni_str_equal(csni_named_name(t, &t->by_name[low]), name)) *count = 0;
    return t->by_name + low;
}

size_t csni_name_table_at(const struct csni_name_table *t, uint64_t start) {
    size_t low = 0, high = t->placed;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (t->by_name[t->by_start[middle]].start < start) low = middle + 1;
        else high = middle;
    }
    return low;
}
