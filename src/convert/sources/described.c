/* The places of functions that are known better than by a symbol. */
#include "convert/sources/described.h"

#include "base/core/checked.h"
#include "base/core/fail.h"
#include "base/core/hash.h"
#include "convert/outputs/outputs.h"

/* Whether of several functions at one place only the best known one counts, for whatever comes after. */
static bool one_counts(const struct csni_conversion *c) {
    const struct csn_convert_options *o = &c->options;
    if (o->merged_functions != CSN_MERGE_NONE || o->flags & CSN_CONVERT_CALL_SITES || o->call_site_file_count) return false;
    const struct csni_output *output = csni_output_of(o->format);
    return output && !output->holds_binaries && c->object->container == CSNI_CONTAINER_ELF;
}

/* 0: it is too far away, or has no size. */
static uint64_t key_of(const struct csni_described *d, uint64_t start, uint32_t size) {
    return size && start >= d->base && start - d->base <= UINT32_MAX ? (start - d->base) << 32 | size : 0;
}

/* The place of `key`, or the free one where it belongs. */
static uint64_t *find(const struct csni_described *d, uint64_t key) {
    size_t mask = ((size_t)1 << d->bits) - 1, at = csni_hash_u64(key) & mask;
    while (d->places[at] && d->places[at] != key) at = (at + 1) & mask;
    return &d->places[at];
}

static void add_batch(struct csni_described *d, const struct csni_batch *batch) {
    for (uint32_t i = 0; i < batch->function_count; i++) {
        const struct csni_function *f = &batch->functions[i];
        uint64_t key = f->row_count || f->inline_count ? key_of(d, f->start, f->size) : 0;
        if (key) *find(d, key) = key;
    }
}

csn_status csni_described_make(struct csni_described *d, const struct csni_conversion *c, struct csn_error *err) {
    *d = (struct csni_described){ .alloc = c->alloc, .lowest = UINT64_MAX };
    uint64_t count = 0;
    for (uint32_t b = 0; b < c->batch_count; b++) count += c->batches[b].function_count;
    if (!count || !one_counts(c)) return CSN_OK;
    d->base = c->image.text.count ? c->image.text.items[0].start : 0;
    for (d->bits = 8; (uint64_t)1 << d->bits < 2 * count;) d->bits++;
    d->places = csni_alloc_zeroed(c->alloc, (size_t)1 << d->bits, sizeof *d->places);
    if (!d->places) return csni_fail_memory(err, ((size_t)1 << d->bits) * sizeof *d->places);
    for (uint32_t b = 0; b < c->batch_count; b++) add_batch(d, &c->batches[b]);
    return CSN_OK;
}

void csni_described_deinit(struct csni_described *d) {
    if (d->places) csni_free(d->alloc, d->places, ((size_t)1 << d->bits) * sizeof *d->places);
    d->places = NULL;
}

bool csni_described_has(struct csni_described *d, uint64_t start, uint32_t size) {
    uint64_t key = d->places ? key_of(d, start, size) : 0;
    if (!key || *find(d, key) != key) return false;
    if (start > d->lowest) return true;
    d->lowest = start;
    return false;
}
