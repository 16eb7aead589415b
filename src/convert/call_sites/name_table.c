/* Functions by name and by address. */
#include "convert/call_sites/name_table.h"

#include <stdlib.h>

#include "base/core/fail.h"
#include "base/core/search.h"
#include "base/hash.h"
#include "names/mangled.h"

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
        if (!csni_named_function(t, n)->unplaced && !n->by_other_name)
            keys[t->placed++] = (struct by_start_key){ n->start, n->batch, n->function, i };
    }
    if (t->placed) qsort(keys, t->placed, sizeof *keys, by_start);
    for (size_t i = 0; i < t->placed; i++) t->by_start[i] = keys[i].index;
    csni_free(alloc, keys, t->count * sizeof *keys);
    return CSN_OK;
}

/* The hash of the name that debug information has for a symbol of internal linkage or of a clone; 0: its own. */
static uint64_t other_hash(const struct csni_function *f, struct csn_str name) {
    enum { ROOM = 512 };
    char plain[ROOM];
    if (f->source != CSNI_SOURCE_SYMBOL) return 0;
    struct csn_str base = csni_clone_base(name);
    size_t len = csni_mangled_internal_name(base, plain, ROOM);
    if (len) return csni_hash_bytes(plain, len);
    return base.len < name.len ? csni_hash_bytes(base.ptr, base.len) : 0;
}

static void add_names(struct csni_name_table *t, size_t *n) {
    const struct csni_conversion *c = t->conversion;
    for (uint32_t b = 0; b < c->batch_count; b++) {
        const struct csni_batch *batch = &c->batches[b];
        for (uint32_t f = 0; f < batch->function_count + batch->unplaced_count; f++) {
            struct csn_str name = batch->strings[batch->functions[f].name];
            uint64_t start = batch->functions[f].unplaced ? UINT64_MAX : batch->functions[f].start;
            uint64_t other = other_hash(&batch->functions[f], name);
            struct csni_named named = { csni_hash_bytes(name.ptr, name.len), start, b, f, false, false };
            if (t->by_name) t->by_name[*n] = named;
            ++*n;
            if (!other) continue;
            named.hash = other;
            named.by_other_name = true;
            if (t->by_name) t->by_name[*n] = named;
            ++*n;
        }
    }
}

csn_status csni_name_table_make(struct csni_name_table *t, const struct csni_conversion *c, struct csn_error *err) {
    *t = (struct csni_name_table){ .conversion = c };
    add_names(t, &t->count);
    if (!t->count) return CSN_OK;
    if (t->count > UINT32_MAX) return csni_fail(err, CSN_E_LIMIT, NULL, 0, "%zu functions, need <= %u", t->count, UINT32_MAX);
    t->by_name = csni_alloc_zeroed(c->alloc, t->count, sizeof *t->by_name);
    if (!t->by_name) return csni_fail_memory(err, t->count * sizeof *t->by_name);
    size_t n = 0;
    add_names(t, &n);
    qsort(t->by_name, t->count, sizeof *t->by_name, by_name);
    return order_by_start(t, err);
}

void csni_name_table_deinit(struct csni_name_table *t) {
    const struct csn_allocator *alloc = t->conversion->alloc;
    csni_free(alloc, t->by_name, t->count * sizeof *t->by_name);
    if (t->by_start) csni_free(alloc, t->by_start, t->count * sizeof *t->by_start);
}

struct csni_named *csni_name_table_find(const struct csni_name_table *t, struct csn_str name, size_t *count) {
    uint64_t hash = csni_hash_bytes(name.ptr, name.len);
    size_t low = csni_lower_bound(t->by_name, t->count, hash, hash);
    *count = csni_upper_bound(t->by_name, t->count, hash, hash) - low;
    /* Equal hashes of different names are not expected, but must not lead astray. */
    if (*count && !t->by_name[low].by_other_name && !csni_str_equal(csni_named_name(t, &t->by_name[low]), name)) *count = 0;
    return t->by_name + low;
}

static inline bool starts_below(const void *context, size_t index, const void *key) {
    const struct csni_name_table *t = context;
    return t->by_name[t->by_start[index]].start < *(const uint64_t *)key;
}

size_t csni_name_table_at(const struct csni_name_table *t, uint64_t start) {
    return csni_search_in(0, t->placed, starts_below, t, &start);
}
