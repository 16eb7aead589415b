/* The ranges of functions that are known better than by a symbol. */
#include "convert/sources/covered_ranges.h"

#include "base/core/checked.h"
#include "base/core/fail.h"
#include "base/hash.h"
#include "convert/outputs/outputs.h"

/* Whether the output has at most one function of a range. */
static bool keeps_one_per_range(const struct csni_conversion *c) {
    const struct csn_convert_options *o = &c->options;
    if (o->merged_functions != CSN_MERGE_NONE || o->flags & CSN_CONVERT_CALL_SITES || o->call_site_file_count) return false;
    const struct csni_output *output = csni_output_of(o->format);
    return output && !output->holds_binaries && c->object->container == CSNI_CONTAINER_ELF;
}

/* 0: it is too far away, or has no size. */
static uint64_t range_key(const struct csni_covered_ranges *d, uint64_t start, uint32_t size) {
    return size && start >= d->base && start - d->base <= UINT32_MAX ? (start - d->base) << 32 | size : 0;
}

/* The slot of `key`, or the free one where it belongs. */
static uint64_t *find_covered_slot(const struct csni_covered_ranges *d, uint64_t key) {
    size_t mask = ((size_t)1 << d->bits) - 1, at = (size_t)csni_hash_u64(key) & mask;
    while (d->slots[at] && d->slots[at] != key) at = (at + 1) & mask;
    return &d->slots[at];
}

static void add_covered_of(struct csni_covered_ranges *d, const struct csni_batch *batch) {
    for (uint32_t i = 0; i < batch->function_count; i++) {
        const struct csni_function *f = &batch->functions[i];
        bool known = (f->row_count || f->inline_count) && f->name && !f->nameless; /* or the symbol has the name */
        uint64_t key = known ? range_key(d, f->start, f->size) : 0;
        if (key) *find_covered_slot(d, key) = key;
    }
}

csn_status csni_covered_ranges_make(struct csni_covered_ranges *d, const struct csni_conversion *c,
                                    struct csn_error *err) {
    *d = (struct csni_covered_ranges){ .alloc = c->alloc, .lowest = UINT64_MAX };
    uint64_t count = 0;
    for (uint32_t b = c->first_batch; b < c->batch_count; b++) count += c->batches[b].function_count;
    if (!count || !keeps_one_per_range(c)) return CSN_OK;
    d->base = c->image.text.count ? c->image.text.items[0].start : 0;
    for (d->bits = 8; (uint64_t)1 << d->bits < 2 * count;) d->bits++;
    d->slots = csni_alloc_present(c->alloc, (size_t)1 << d->bits, sizeof *d->slots);
    if (!d->slots) return csni_fail_memory(err, ((size_t)1 << d->bits) * sizeof *d->slots);
    for (uint32_t b = c->first_batch; b < c->batch_count; b++) add_covered_of(d, &c->batches[b]);
    return CSN_OK;
}

void csni_covered_ranges_deinit(struct csni_covered_ranges *d) {
    if (d->slots) csni_free(d->alloc, d->slots, ((size_t)1 << d->bits) * sizeof *d->slots);
    d->slots = NULL;
}

bool csni_covered_ranges_have(struct csni_covered_ranges *d, uint64_t start, uint32_t size) {
    uint64_t key = d->slots ? range_key(d, start, size) : 0;
    if (!key || *find_covered_slot(d, key) != key) return false;
    if (start > d->lowest) return true;
    d->lowest = start;
    return false;
}
