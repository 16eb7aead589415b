/* Where the bytes of a BSYM file go. What a compressed body holds is not told apart. */
#include "base/core/byte_sweep.h"
#include "base/core/fail.h"
#include "base/core/sort.h"
#include "formats/bsym/read/bsym_private.h"

/* A string or an entry of a prefix table, as its place and which of the two it is. */
typedef uint64_t reference;
enum { ENTRY_BIT = 1 };

struct references {
    reference *items;
    size_t count;
};

static void add_reference(struct references *refs, uint64_t offset, bool entry) {
    refs->items[refs->count++] = offset << 1 | (entry ? ENTRY_BIT : 0);
}

static bool is_reference_before(const void *context, const void *a, const void *b) {
    (void)context;
    return *(const reference *)a < *(const reference *)b;
}

static void add_bsym_symbol(const struct csni_bsym *b, uint32_t symbol, struct references *refs) {
    const uint8_t *p = csni_bsym_symbol_record(b, symbol);
    if (b->version >= CSNI_BSYM_3_0) {
        add_reference(refs, csni_bsym_word(b, p + CSNI_BSYM3_Y_NAME), false);
        if (csni_bsym_word(b, p + CSNI_BSYM3_Y_SCOPE)) add_reference(refs, csni_bsym_word(b, p + CSNI_BSYM3_Y_SCOPE), false);
        return;
    }
    add_reference(refs, csni_bsym_word(b, p + CSNI_BSYM_Y_NAME), false);
    const struct csni_bsym_segment *s = csni_bsym_owner(b, symbol);
    uint32_t number = csni_bsym_prefix_number(b, s, symbol);
    if (!number) return;
    uint64_t entry = s->prefixes + 4 * (uint64_t)(number - 1);
    add_reference(refs, entry, true);
    add_reference(refs, csni_bsym_word(b, b->body.ptr + entry), false);
}

static size_t references_max(const struct csni_bsym *b) {
    return 3 * (size_t)b->symbol_count + 2 * (size_t)b->segment_count + b->token_count + b->rename_count;
}

static void find_references(const struct csni_bsym *b, struct references *refs) {
    for (uint32_t i = 0; i < b->segment_count; i++) {
        add_reference(refs, b->segments[i].name, false);
        if (b->segments[i].device_name) add_reference(refs, b->segments[i].device_name, false);
    }
    for (uint32_t i = 0; i < b->token_count; i++) add_reference(refs, csni_bsym_word(b, b->tokens + 4 * (size_t)i), false);
    for (uint32_t i = 0; i < b->rename_count; i++)
        add_reference(refs, csni_bsym_word(b, b->renames + (size_t)i * CSNI_BSYM_RENAME_SIZE + CSNI_BSYM_R_NAME), false);
    for (uint32_t i = 0; i < b->symbol_count; i++) add_bsym_symbol(b, i, refs);
}

/* ---- tables ---- */

enum { REGIONS_MAX = 6 };

static void add_region(struct csni_byte_region *regions, unsigned *count, enum csn_part part, uint64_t start, uint64_t size) {
    regions[(*count)++] = (struct csni_byte_region){ part, start, size };
}

/* A section after its count, by what the header has at `field`. */
static void add_bsym_section(const struct csni_bsym *b, struct csni_byte_region *regions, unsigned *count,
                             enum csn_part part,
                             unsigned field, uint64_t records, uint64_t size) {
    add_region(regions, count, part, csni_get32(b->bytes.ptr + field, true), 4 + records * size);
}

static unsigned find_regions_v1_v2(const struct csni_bsym *b, struct csni_byte_region *regions) {
    unsigned count = 0, header = CSNI_BSYM_H_TOKENS;
    if (b->version >= CSNI_BSYM_2_0) header = CSNI_BSYM_H_RENAMES;
    if (b->version >= CSNI_BSYM_2_1) header = CSNI_BSYM_H_CHECKSUM;
    if (b->version >= CSNI_BSYM_2_2) header = CSNI_BSYM_H_CHECKSUM + 4;
    add_region(regions, &count, CSN_PART_HEADER, 0, header);
    add_bsym_section(b, regions, &count, CSN_PART_BINARIES, CSNI_BSYM_H_SEGMENTS, b->segment_count,
                     CSNI_BSYM_SEGMENT_SIZE);
    add_bsym_section(b, regions, &count, CSN_PART_RECORDS, CSNI_BSYM_H_SYMBOLS, b->symbol_count, CSNI_BSYM_SYMBOL_SIZE);
    if (b->tokens) add_bsym_section(b, regions, &count, CSN_PART_TOKENS, CSNI_BSYM_H_TOKENS, b->token_count, 4);
    if (b->renames)
        add_bsym_section(b, regions, &count, CSN_PART_ALIASES, CSNI_BSYM_H_RENAMES, b->rename_count,
                         CSNI_BSYM_RENAME_SIZE);
    return count;
}

static uint32_t bsym_header_word(const struct csni_bsym *b, unsigned field) {
    return csni_bsym_word(b, b->bytes.ptr + field);
}

static unsigned find_regions_v3(const struct csni_bsym *b, bool packed, struct csni_byte_region *regions) {
    unsigned count = 0;
    uint64_t header = CSNI_BSYM3_HEADER_SIZE + (b->checksum ? 4 : 0), body = bsym_header_word(b, CSNI_BSYM3_H_BODY);
    add_region(regions, &count, CSN_PART_HEADER, 0, header);
    if (packed) {
        uint64_t pages = bsym_header_word(b, CSNI_BSYM3_H_PAGES);
        add_region(regions, &count, CSN_PART_PACKED, body, bsym_header_word(b, CSNI_BSYM3_H_PACKED_SIZE));
        add_region(regions, &count, CSN_PART_PACKED, pages,
                   8 + (uint64_t)csni_bsym_word(b, b->bytes.ptr + pages + 4) * CSNI_BSYM3_PAGE_ENTRY);
        return count;
    }
    uint64_t units = bsym_header_word(b, CSNI_BSYM3_H_UNIT_COUNT);
    add_region(regions, &count, CSN_PART_BINARIES, body, units * CSNI_BSYM3_UNIT_SIZE);
    add_region(regions, &count, CSN_PART_RECORDS, body + bsym_header_word(b, CSNI_BSYM3_H_SYMBOLS),
               (uint64_t)b->symbol_count * CSNI_BSYM3_SYMBOL_SIZE);
    return count;
}

/* ---- the sweep ---- */

/* Bytes of the string at that place of the text, its length included; 0: it does not lie within the file. */
static uint64_t string_bytes(const struct csni_bsym *b, uint64_t offset) {
    struct csni_span string;
    if (offset > UINT32_MAX || !csni_bsym_string(b, (uint32_t)offset, &string)) return 0;
    return (uint64_t)(string.ptr + string.size - (b->text.ptr + offset));
}

static void bsym_sweep_file(const struct csni_bsym *b, const struct references *refs, struct csni_byte_region *regions,
                            unsigned region_count, uint64_t *part_bytes) {
    struct csni_byte_sweep sweep = { .part_bytes = part_bytes };
    uint64_t text = b->text.size ? (uint64_t)(b->text.ptr - b->bytes.ptr) : 0;
    unsigned next = 0;
    for (size_t i = 0; i <= refs->count; i++) {
        uint64_t at = i < refs->count ? refs->items[i] >> 1 : 0, size = 0;
        bool entry = i < refs->count && refs->items[i] & ENTRY_BIT;
        if (i < refs->count) size = entry ? 4 : string_bytes(b, at);
        uint64_t start = i < refs->count ? text + at : UINT64_MAX;
        for (; next < region_count && regions[next].start <= start; next++) {
            const struct csni_byte_region *r = &regions[next];
            uint64_t left = r->start < b->bytes.size ? b->bytes.size - r->start : 0;
            csni_sweep_claim(&sweep, r->part, r->start, r->size < left ? r->size : left);
        }
        if (size) csni_sweep_claim(&sweep, entry ? CSN_PART_PREFIXES : CSN_PART_STRINGS, start, size);
    }
    part_bytes[CSN_PART_PADDING] += b->bytes.size - sweep.counted;
}

csn_status csni_bsym_part_bytes(const struct csni_bsym *b, const struct csn_allocator *allocator, uint64_t *part_bytes,
                                struct csn_error *err) {
    struct csni_byte_region regions[REGIONS_MAX];
    bool packed = b->expanded != NULL;
    size_t max = packed ? 0 : references_max(b);
    struct references refs = { csni_alloc(allocator, max * sizeof *refs.items), 0 };
    if (max && !refs.items) return csni_fail_memory(err, max * sizeof *refs.items);
    if (!packed) find_references(b, &refs);
    if (!csni_is_sorted(refs.items, refs.count, sizeof *refs.items, is_reference_before, NULL))
        csni_heap_sort(refs.items, refs.count, sizeof *refs.items, is_reference_before, NULL);
    unsigned count = b->version >= CSNI_BSYM_3_0 ? find_regions_v3(b, packed, regions) : find_regions_v1_v2(b, regions);
    csni_sort_regions(regions, count);
    bsym_sweep_file(b, &refs, regions, count, part_bytes);
    csni_free(allocator, refs.items, max * sizeof *refs.items);
    return CSN_OK;
}

csn_status csni_bsym_record_bytes(const struct csni_bsym *b, uint32_t symbol, struct csni_counted_bytes *counted, uint64_t *out) {
    unsigned field = b->version >= CSNI_BSYM_3_0 ? CSNI_BSYM3_Y_NAME : CSNI_BSYM_Y_NAME;
    uint64_t name = csni_bsym_word(b, csni_bsym_symbol_record(b, symbol) + field), bytes;
    *out = 0;
    if (b->expanded) return CSN_OK;
    CSNI_TRY(csni_count_bytes(counted, b->text.size, name, string_bytes(b, name), &bytes));
    *out = b->symbol_size + bytes;
    return CSN_OK;
}
