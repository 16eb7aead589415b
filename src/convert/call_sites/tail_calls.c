/* Where tail calls lead: the frame of a function that called another one last is gone, and its caller's call site names a
 * function that is not on the stack. */
#include <stdlib.h>

#include "base/core/fail.h"
#include "base/core/search.h"
#include "base/hash.h"
#include "convert/call_sites/tail_calls.h"

static int by_hash(const void *pa, const void *pb) {
    const struct csni_tail_call *a = pa, *b = pb;
    if (a->hash != b->hash) return a->hash < b->hash ? -1 : 1;
    if (a->batch != b->batch) return a->batch < b->batch ? -1 : 1;
    return a->site < b->site ? -1 : a->site > b->site;
}

static csn_status add_tail_call_function(struct csni_tail_calls *calls, const struct csni_batch *b, uint32_t batch,
                                         const struct csni_function *f, struct csn_error *err) {
    struct csn_str name = b->strings[f->name];
    for (uint32_t i = 0; i < f->site_count; i++) {
        const struct csni_call_site *site = &b->sites[f->first_site + i];
        if (!(site->flags & CSNI_SITE_TAIL)) continue;
        struct csni_tail_call call = { csni_hash_bytes(name.ptr, name.len), { "", 0 }, batch, f->first_site + i };
        if (site->pattern_count) call.callee = b->strings[b->patterns[site->first_pattern]];
        if (!csni_vec_push(&calls->items, call)) return csni_fail_memory(err, sizeof call);
    }
    return CSN_OK;
}

csn_status csni_tail_calls_find(struct csni_tail_calls *calls, const struct csni_conversion *c, struct csn_error *err) {
    calls->items.alloc = c->alloc;
    for (uint32_t b = 0; b < c->batch_count; b++) {
        const struct csni_batch *batch = &c->batches[b];
        for (uint32_t f = 0; f < batch->function_count + batch->unplaced_count; f++)
            CSNI_TRY(add_tail_call_function(calls, batch, b, &batch->functions[f], err));
    }
    if (calls->items.count) qsort(calls->items.items, calls->items.count, sizeof *calls->items.items, by_hash);
    return CSN_OK;
}

static size_t first_tail_call_of(const struct csni_tail_calls *calls, uint64_t hash) {
    return csni_lower_bound(calls->items.items, calls->items.count, hash, hash);
}

static bool has(const struct csn_str *names, size_t count, struct csn_str name) {
    for (size_t i = 0; i < count; i++)
        if (csni_str_equal(names[i], name)) return true;
    return false;
}

size_t csni_tail_calls_ends(const struct csni_tail_calls *calls, struct csn_str name,
                            struct csn_str out[CSNI_TAIL_ENDS_MAX]) {
    enum { STEPS_MAX = 64 };
    size_t count = 0, steps = 0;
    struct csn_str from = name;
    for (size_t next = 0;; from = out[next++]) {
        uint64_t hash = csni_hash_bytes(from.ptr, from.len);
        for (size_t i = first_tail_call_of(calls, hash); i < calls->items.count &&
             calls->items.items[i].hash == hash; i++) {
            struct csn_str callee = calls->items.items[i].callee;
            if (!callee.len || ++steps > STEPS_MAX) return 0;
            if (csni_str_equal(callee, name) || has(out, count, callee)) continue;
            if (count == CSNI_TAIL_ENDS_MAX) return 0;
            out[count++] = callee;
        }
        if (next == count) return count;
    }
}
