/* FUNC records whose ranges overlap: as Breakpad's readers do, the one that comes first in the file stays and a later one is
 * left out whole. */
#include <stdlib.h>

#include "base/core/fail.h"
#include "formats/breakpad/breakpad.h"
#include "formats/breakpad/breakpad_bits.h"

/* A function and its place among all: `order` in the file, `at` by start. */
struct placed {
    uint64_t start, end;
    uint32_t order, at;
};

/* ---- the functions ---- */

struct overlaps {
    const struct csni_breakpad *b;
    struct csni_batch *batches;
    struct csni_batch_writer *out;
    struct placed *by_start, *by_order; /* the same functions */
    struct csni_bit_tree kept;          /* by place */
    bool keeps_equal;
};

static int by_start(const void *pa, const void *pb) {
    const struct placed *a = pa, *b = pb;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    return a->order < b->order ? -1 : 1;
}

/* Whether any two may overlap: only where they do not stand in the order of their addresses, or do overlap. */
static bool may_overlap(const struct csni_breakpad *b, const struct csni_batch *batches, size_t *out_count) {
    uint64_t end = 0;
    bool may = false;
    *out_count = 0;
    for (size_t i = 1; i < b->chunks.count; i++)
        for (uint32_t k = 0; k < batches[i].function_count; k++, ++*out_count) {
            const struct csni_function *f = &batches[i].functions[k];
            may |= f->start < end;
            if (f->start + f->size > end) end = f->start + f->size;
        }
    return may;
}

static void place_functions(struct overlaps *o, uint32_t count) {
    uint32_t order = 0;
    for (size_t i = 1; i < o->b->chunks.count; i++)
        for (uint32_t k = 0; k < o->batches[i].function_count; k++, order++) {
            const struct csni_function *f = &o->batches[i].functions[k];
            o->by_start[order] = (struct placed){ f->start, f->start + f->size, order, 0 };
        }
    qsort(o->by_start, count, sizeof *o->by_start, by_start);
    for (uint32_t at = 0; at < count; at++) {
        o->by_start[at].at = at;
        o->by_order[o->by_start[at].order] = o->by_start[at];
    }
}

/* The function that was kept and overlaps `p`. NULL: none. Those kept do not overlap each other. */
static const struct placed *find_overlapped(const struct overlaps *o, const struct placed *p) {
    uint32_t below = csni_bit_tree_neighbour(&o->kept, p->at, false), above = csni_bit_tree_neighbour(&o->kept, p->at, true);
    if (below != UINT32_MAX && o->by_start[below].end > p->start) return &o->by_start[below];
    return above != UINT32_MAX && o->by_start[above].start < p->end ? &o->by_start[above] : NULL;
}

static void note_dropped_function(struct overlaps *o, const struct csni_batch *batch, const struct csni_function *f,
                                  const struct placed *first) {
    struct csn_str name = batch->strings[f->name];
    bool equal = first->start == f->start && first->end == f->start + f->size;
    csni_batch_note(o->out, equal ? CSN_EVENT_DUPLICATE_DROPPED : CSN_EVENT_OVERLAP_DROPPED,
                    "%.*s at 0x%llx+0x%x: the function at 0x%llx+0x%llx came first", (int)(name.len < 80 ? name.len : 80), name.ptr,
                    (unsigned long long)f->start, f->size, (unsigned long long)first->start,
                    (unsigned long long)(first->end - first->start));
}

static bool keep_function(struct overlaps *o, const struct csni_batch *batch, const struct csni_function *f,
                          const struct placed *p) {
    const struct placed *first = find_overlapped(o, p);
    if (!first) {
        csni_bit_tree_add(&o->kept, p->at);
        return true;
    }
    if (o->keeps_equal && first->start == p->start && first->end == p->end) return true;
    note_dropped_function(o, batch, f, first);
    return false;
}

static void drop_functions(struct overlaps *o) {
    uint32_t order = 0;
    for (size_t i = 1; i < o->b->chunks.count; i++) {
        struct csni_batch *batch = &o->batches[i];
        uint32_t kept = 0;
        for (uint32_t k = 0; k < batch->function_count; k++, order++)
            if (keep_function(o, batch, &batch->functions[k], &o->by_order[order])) batch->functions[kept++] = batch->functions[k];
        batch->function_count = kept;
    }
}

csn_status csni_breakpad_drop_overlaps(const struct csni_breakpad *b, struct csni_batch *batches, bool keeps_equal,
                                       struct csni_batch_writer *out, struct csn_error *err) {
    size_t count;
    if (!may_overlap(b, batches, &count)) return CSN_OK;
    if (count > UINT32_MAX / 2) return csni_fail(err, CSN_E_LIMIT, NULL, 0, "%zu functions, need <= %u", count, UINT32_MAX / 2);
    struct overlaps o = { .b = b, .batches = batches, .out = out, .keeps_equal = keeps_equal };
    struct placed *all = csni_alloc_zeroed(b->alloc, 2 * count, sizeof *all);
    bool ok = all && csni_bit_tree_init(&o.kept, (uint32_t)count, b->alloc);
    if (ok) {
        o.by_start = all;
        o.by_order = all + count;
        place_functions(&o, (uint32_t)count);
        drop_functions(&o);
    }
    csni_free(b->alloc, all, 2 * count * sizeof *all);
    csni_bit_tree_free(&o.kept, b->alloc);
    return ok ? CSN_OK : csni_fail_memory(err, 2 * count * sizeof *all);
}
