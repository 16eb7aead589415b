/* The table of binaries, called segments here: kept in the order of addresses, and of their symbols. */
#include "base/core/fail.h"
#include "base/core/sort.h"
#include "formats/bsym/read/bsym_private.h"

static const char SECTION[] = "BSYM";

/* ---- sorting ---- */

static bool bsym_key_before(const void *context, const void *a, const void *b) {
    (void)context;
    return *(const uint64_t *)a < *(const uint64_t *)b;
}

/* Keys are address << 32 | index, so that equal addresses keep their order. */
static void sort_keys(uint64_t *keys, uint64_t *spare, size_t count) {
    csni_merge_sort(keys, spare, count, sizeof *keys, bsym_key_before, NULL);
}

static csn_status sort_bsym_segments(struct csni_bsym *b, const struct csn_allocator *alloc, struct csn_error *err) {
    size_t count = b->segment_count;
    uint64_t *keys = csni_alloc_zeroed(alloc, 2 * count, sizeof *keys);
    struct csni_bsym_segment *sorted = csni_alloc_zeroed(alloc, b->segment_capacity, sizeof *sorted);
    bool good = keys && sorted;
    if (good) {
        for (size_t i = 0; i < count; i++) keys[i] = (uint64_t)b->segments[i].address << 32 | i;
        sort_keys(keys, keys + count, count);
        for (size_t i = 0; i < count; i++) sorted[i] = b->segments[(uint32_t)keys[i]];
        csni_free(alloc, b->segments, b->segment_capacity * sizeof *b->segments);
        b->segments = sorted;
        b->unsorted_segments = true;
    } else {
        csni_free(alloc, sorted, b->segment_capacity * sizeof *sorted);
    }
    csni_free(alloc, keys, 2 * count * sizeof *keys);
    return good ? CSN_OK : csni_fail_memory(err, 2 * count * sizeof *keys);
}

/* Whether a segment's symbols ascend; its highest address goes to last_address. */
static bool look_through(const struct csni_bsym *b, struct csni_bsym_segment *s) {
    uint32_t last = csni_bsym_symbol_address(b, s->first), highest = last;
    bool ascending = true;
    for (uint32_t i = 1; i < s->count; i++) {
        uint32_t address = csni_bsym_symbol_address(b, s->first + i);
        if (address < last) ascending = false;
        if (address > highest) highest = address;
        last = address;
    }
    s->last_address = highest;
    return ascending;
}

static csn_status order_symbols(struct csni_bsym *b, const struct csn_allocator *alloc, struct csn_error *err) {
    size_t count = b->symbol_count, longest = 0;
    for (uint32_t i = 0; i < b->segment_count; i++)
        if (b->segments[i].count > longest) longest = b->segments[i].count;
    b->order = csni_alloc_zeroed(alloc, count, sizeof *b->order);
    uint64_t *keys = csni_alloc_zeroed(alloc, 2 * longest, sizeof *keys);
    if (!b->order || !keys) {
        csni_free(alloc, keys, 2 * longest * sizeof *keys);
        return csni_fail_memory(err, count * sizeof *b->order);
    }
    for (uint32_t i = 0; i < count; i++) b->order[i] = i;
    for (uint32_t i = 0; i < b->segment_count; i++) {
        const struct csni_bsym_segment *s = &b->segments[i];
        for (uint32_t k = 0; k < s->count; k++)
            keys[k] = (uint64_t)csni_bsym_symbol_address(b, s->first + k) << 32 | (s->first + k);
        sort_keys(keys, keys + longest, s->count);
        for (uint32_t k = 0; k < s->count; k++) b->order[s->first + k] = (uint32_t)keys[k];
    }
    csni_free(alloc, keys, 2 * longest * sizeof *keys);
    return CSN_OK;
}

/* ---- segments ---- */

csn_status csni_bsym_reserve_segments(struct csni_bsym *b, uint64_t count, const struct csn_allocator *alloc,
                                      struct csn_error *err) {
    if (!count) return CSN_OK;
    if (count > UINT32_MAX) return csni_fail(err, CSN_E_LIMIT, SECTION, 0, "%llu binaries", (unsigned long long)count);
    b->segments = csni_alloc_zeroed(alloc, (size_t)count, sizeof *b->segments);
    b->starts = csni_alloc_zeroed(alloc, (size_t)count, sizeof *b->starts);
    b->owners = csni_alloc_zeroed(alloc, (size_t)count, sizeof *b->owners);
    b->segment_capacity = (uint32_t)count;
    return b->segments && b->starts && b->owners ? CSN_OK : csni_fail_memory(err, count * sizeof *b->segments);
}

csn_status csni_bsym_add_segment(struct csni_bsym *b, const struct csni_bsym_segment *segment, struct csn_error *err) {
    if ((uint64_t)segment->first + segment->count > b->symbol_count)
        return csni_fail(err, CSN_E_FORMAT, SECTION, segment->number,
                         "binary %u has symbols %u to %llu, the file has %u", segment->number, segment->first,
                         (unsigned long long)segment->first + segment->count, b->symbol_count);
    if (segment->count) b->segments[b->segment_count++] = *segment;
    return CSN_OK;
}

/* Segments by their first symbol, for csni_bsym_owner(). No symbol has two: that would let a small file describe much. */
static csn_status find_owners(struct csni_bsym *b, const struct csn_allocator *alloc, struct csn_error *err) {
    bool ascending = true;
    for (uint32_t i = 0; i < b->segment_count; i++) {
        b->owners[i] = i;
        if (i && b->segments[i].first < b->segments[i - 1].first) ascending = false;
    }
    if (!ascending) {
        size_t count = b->segment_count;
        uint64_t *keys = csni_alloc_zeroed(alloc, 2 * count, sizeof *keys);
        if (!keys) return csni_fail_memory(err, 2 * count * sizeof *keys);
        for (uint32_t i = 0; i < count; i++) keys[i] = (uint64_t)b->segments[i].first << 32 | i;
        sort_keys(keys, keys + count, count);
        for (uint32_t i = 0; i < count; i++) b->owners[i] = (uint32_t)keys[i];
        csni_free(alloc, keys, 2 * count * sizeof *keys);
    }
    for (uint32_t i = 1; i < b->segment_count; i++) {
        const struct csni_bsym_segment *s = &b->segments[b->owners[i]], *before = &b->segments[b->owners[i - 1]];
        if (s->first < before->first + before->count)
            return csni_fail(err, CSN_E_FORMAT, SECTION, s->number, "symbol %u belongs to binaries %u and %u", s->first,
                             before->number, s->number);
    }
    return CSN_OK;
}

csn_status csni_bsym_finish(struct csni_bsym *b, const struct csn_allocator *alloc, struct csn_error *err) {
    bool ascending = true;
    for (uint32_t i = 1; i < b->segment_count; i++)
        if (b->segments[i].address < b->segments[i - 1].address) ascending = false;
    if (!ascending) CSNI_TRY(sort_bsym_segments(b, alloc, err));
    CSNI_TRY(find_owners(b, alloc, err));
    for (uint32_t i = 0; i < b->segment_count; i++) {
        if (!look_through(b, &b->segments[i])) b->unsorted_symbols = true;
        b->starts[i] = b->segments[i].address;
        if (!b->starts[i]) b->placed = i + 1;
    }
    return b->unsorted_symbols ? order_symbols(b, alloc, err) : CSN_OK;
}

uint64_t csni_bsym_joined_length(const struct csni_bsym *b, const struct csni_bsym_segment *s, uint32_t *k) {
    uint32_t symbol = csni_bsym_in_order(b, s->first + *k), start = csni_bsym_symbol_address(b, symbol);
    uint64_t size = csni_bsym_symbol_length(b, s, symbol), last = size;
    while (last == CSNI_BSYM_SPLIT && *k + 1 < s->count && b->version < CSNI_BSYM_3_0) {
        uint32_t next = csni_bsym_in_order(b, s->first + *k + 1);
        const uint8_t *p = csni_bsym_symbol_record(b, symbol), *q = csni_bsym_symbol_record(b, next);
        if (csni_bsym_symbol_address(b, next) != start + size ||
            memcmp(p + CSNI_BSYM_Y_PREFIX, q + CSNI_BSYM_Y_PREFIX, 2) != 0 ||
            memcmp(p + CSNI_BSYM_Y_NAME, q + CSNI_BSYM_Y_NAME, 4) != 0)
            break;
        last = csni_bsym_symbol_length(b, s, next);
        size += last;
        ++*k;
    }
    return size;
}
