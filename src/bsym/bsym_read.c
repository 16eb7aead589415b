/* Opening BSYM 1.0 to 2.3: header, sections, the table of binaries. */
#include "base/checked.h"
#include "base/fail.h"
#include "bsym/bsym_private.h"

static const char SECTION[] = "BSYM";

bool csni_bsym_recognize(struct csni_span bytes) {
    return bytes.size >= CSNI_BSYM_MAGIC_SIZE && memcmp(bytes.ptr, "BSYM", CSNI_BSYM_MAGIC_SIZE) == 0;
}

/* ---- sorting ---- */

/* Keys are address << 32 | index, so that equal addresses keep their order. Merge sort: a hostile order costs no more. */
static void sort_keys(uint64_t *keys, uint64_t *spare, size_t count) {
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t low = 0; low < count; low += 2 * width) {
            size_t middle = low + width < count ? low + width : count;
            size_t high = low + 2 * width < count ? low + 2 * width : count;
            size_t a = low, b = middle;
            for (size_t i = low; i < high; i++) spare[i] = a < middle && (b >= high || keys[a] <= keys[b]) ? keys[a++] : keys[b++];
        }
        memcpy(keys, spare, count * sizeof *keys);
    }
}

static csn_status sort_segments(struct csni_bsym *b, const struct csn_allocator *alloc, struct csn_error *err) {
    size_t count = b->segment_count;
    uint64_t *keys = csni_alloc_zeroed(alloc, 2 * count, sizeof *keys);
    struct csni_bsym_segment *sorted = csni_alloc_zeroed(alloc, b->segment_room, sizeof *sorted);
    bool good = keys && sorted;
    if (good) {
        for (size_t i = 0; i < count; i++) keys[i] = (uint64_t)b->segments[i].address << 32 | i;
        sort_keys(keys, keys + count, count);
        for (size_t i = 0; i < count; i++) sorted[i] = b->segments[(uint32_t)keys[i]];
        csni_free(alloc, b->segments, b->segment_room * sizeof *b->segments);
        b->segments = sorted;
        b->unsorted_segments = true;
    } else {
        csni_free(alloc, sorted, b->segment_room * sizeof *sorted);
    }
    csni_free(alloc, keys, 2 * count * sizeof *keys);
    return good ? CSN_OK : csni_fail_memory(err, 2 * count * sizeof *keys);
}

/* Whether a segment's symbols ascend; its lowest address goes to *first, its highest to last_address. */
static bool look_through(const struct csni_bsym *b, struct csni_bsym_segment *s, uint32_t *first) {
    uint32_t last = csni_bsym_symbol_address(b, s->first), lowest = last, highest = last;
    bool ascending = true;
    for (uint32_t i = 1; i < s->count; i++) {
        uint32_t address = csni_bsym_symbol_address(b, s->first + i);
        if (address < last) ascending = false;
        if (address > highest) highest = address;
        if (address < lowest) lowest = address;
        last = address;
    }
    s->last_address = highest;
    *first = lowest;
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
    b->segment_room = (uint32_t)count;
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
    if (!ascending) CSNI_TRY(sort_segments(b, alloc, err));
    CSNI_TRY(find_owners(b, alloc, err));
    for (uint32_t i = 0; i < b->segment_count; i++) {
        uint32_t lowest;
        if (!look_through(b, &b->segments[i], &lowest)) b->unsorted_symbols = true;
        b->starts[i] = b->segments[i].address;
        if (!b->starts[i]) b->placed = i + 1;
    }
    return b->unsorted_symbols ? order_symbols(b, alloc, err) : CSN_OK;
}

/* ---- sections ---- */

/* A section of records behind a count. */
static csn_status open_section(const struct csni_bsym *b, unsigned header, const char *what, uint32_t record,
                               const uint8_t **out, uint32_t *out_count, struct csn_error *err) {
    uint64_t off = csni_get32(b->bytes.ptr + header, true), size = b->bytes.size;
    if (off + 4 > size)
        return csni_fail(err, CSN_E_TRUNCATED, SECTION, header, "the %s begin at 0x%llx, the file has 0x%llx bytes", what,
                         (unsigned long long)off, (unsigned long long)size);
    uint32_t count = csni_get32(b->bytes.ptr + off, true);
    if (count > (size - off - 4) / record)
        return csni_fail(err, CSN_E_TRUNCATED, SECTION, off, "%u %s of %u bytes, 0x%llx bytes left", count, what, record,
                         (unsigned long long)(size - off - 4));
    *out = b->bytes.ptr + off + 4;
    *out_count = count;
    return CSN_OK;
}

/* How many entries a prefix table can have. Every producer known writes strings behind the table, the first one's at once or
 * later, never within; where it stands in front, the end of the file is all that is known. */
static uint32_t prefix_limit(const struct csni_bsym *b, uint32_t table) {
    uint64_t left = table && table <= b->bytes.size ? b->bytes.size - table : 0;
    if (left < 4) return 0;
    uint64_t first = csni_get32(b->bytes.ptr + table, true), limit = left / 4;
    if (first >= (uint64_t)table + 4 && (first - table) / 4 < limit) limit = (first - table) / 4;
    return (uint32_t)(limit < 0xffff ? limit : 0xffff);
}

static csn_status read_segments(struct csni_bsym *b, const struct csn_allocator *alloc, struct csn_error *err) {
    const uint8_t *records = NULL;
    uint32_t count;
    CSNI_TRY(open_section(b, CSNI_BSYM_H_SEGMENTS, "binaries", CSNI_BSYM_SEGMENT_SIZE, &records, &count, err));
    CSNI_TRY(csni_bsym_reserve_segments(b, count, alloc, err));
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *p = records + (size_t)i * CSNI_BSYM_SEGMENT_SIZE;
        struct csni_bsym_segment s = {
            .address = csni_get32(p + CSNI_BSYM_S_ADDRESS, true) & ~1u, .count = csni_get32(p + CSNI_BSYM_S_COUNT, true),
            .first = csni_get32(p + CSNI_BSYM_S_FIRST, true), .name = csni_get32(p + CSNI_BSYM_S_NAME, true),
            .prefixes = csni_get32(p + CSNI_BSYM_S_PREFIXES, true), .number = i,
        };
        s.prefix_count = prefix_limit(b, s.prefixes);
        CSNI_TRY(csni_bsym_add_segment(b, &s, err));
    }
    return CSN_OK;
}

static csn_status open_v1_v2(struct csni_bsym *b, const struct csn_allocator *alloc, struct csn_error *err) {
    b->big = true;
    b->body = b->text = b->bytes;
    b->symbol_size = CSNI_BSYM_SYMBOL_SIZE;
    CSNI_TRY(open_section(b, CSNI_BSYM_H_SYMBOLS, "symbols", CSNI_BSYM_SYMBOL_SIZE, &b->symbols, &b->symbol_count, err));
    if (b->version >= CSNI_BSYM_2_0) {
        CSNI_TRY(open_section(b, CSNI_BSYM_H_TOKENS, "tokens", 4, &b->tokens, &b->token_count, err));
        if (b->token_count > CSNI_BSYM_TOKEN_MAX)
            return csni_fail(err, CSN_E_FORMAT, SECTION, CSNI_BSYM_H_TOKENS, "%u tokens, need <= %d", b->token_count,
                             CSNI_BSYM_TOKEN_MAX);
    }
    if (b->version >= CSNI_BSYM_2_1 && csni_get32(b->bytes.ptr + CSNI_BSYM_H_RENAMES, true))
        CSNI_TRY(open_section(b, CSNI_BSYM_H_RENAMES, "renames", CSNI_BSYM_RENAME_SIZE, &b->renames, &b->rename_count,
                              err));
    if (b->version >= CSNI_BSYM_2_2) b->checksum = csni_get32(b->bytes.ptr + CSNI_BSYM_H_CHECKSUM, true);
    CSNI_TRY(read_segments(b, alloc, err));
    return csni_bsym_finish(b, alloc, err);
}

/* Minor versions only append to the header: one that is not known yet is read as the highest that is. */
static csn_status read_version(struct csni_bsym *b, struct csn_error *err) {
    static const struct {
        uint32_t version, header_size;
    } known[] = { { CSNI_BSYM_1_0, 16 }, { CSNI_BSYM_2_0, 20 }, { CSNI_BSYM_2_1, 24 }, { CSNI_BSYM_2_2, 28 },
                  { CSNI_BSYM_2_3, 28 }, { CSNI_BSYM_3_0, CSNI_BSYM3_HEADER_SIZE } };
    if (b->bytes.size < 8)
        return csni_fail(err, CSN_E_TRUNCATED, SECTION, 0, "%zu bytes, the header has 16 at least", b->bytes.size);
    b->stored_version = csni_get32(b->bytes.ptr + CSNI_BSYM_H_VERSION, true);
    uint32_t header_size = 0;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].version > b->stored_version || known[i].version >> 16 != b->stored_version >> 16) continue;
        b->version = known[i].version;
        header_size = known[i].header_size;
    }
    if (!header_size)
        return csni_fail(err, CSN_E_UNSUPPORTED, SECTION, CSNI_BSYM_H_VERSION, "version %u.%u, know 1.0 to 3.0",
                         b->stored_version >> 16, b->stored_version & 0xffff);
    if (b->bytes.size < header_size)
        return csni_fail(err, CSN_E_TRUNCATED, SECTION, 0, "%zu bytes, the header of version %u.%u has %u", b->bytes.size,
                         b->version >> 16, b->version & 0xffff, header_size);
    if (b->bytes.size > UINT32_MAX)
        return csni_fail(err, CSN_E_LIMIT, SECTION, 0, "%zu bytes, offsets reach %u", b->bytes.size, UINT32_MAX);
    return CSN_OK;
}

csn_status csni_bsym_open(struct csni_bsym *b, struct csni_span bytes, const struct csn_allocator *alloc,
                          struct csn_error *err) {
    struct csni_bsym opened = { .bytes = bytes };
    if (!csni_bsym_recognize(bytes)) return csni_fail(err, CSN_E_UNSUPPORTED, SECTION, 0, "does not begin with BSYM");
    CSNI_TRY(read_version(&opened, err));
    csn_status status = opened.version >= CSNI_BSYM_3_0 ? csni_bsym3_open(&opened, alloc, err)
                                                        : open_v1_v2(&opened, alloc, err);
    if (status < 0) csni_bsym_close(&opened, alloc);
    else *b = opened;
    return status;
}

void csni_bsym_close(struct csni_bsym *b, const struct csn_allocator *alloc) {
    csni_free(alloc, b->segments, b->segment_room * sizeof *b->segments);
    csni_free(alloc, b->starts, b->segment_room * sizeof *b->starts);
    csni_free(alloc, b->owners, b->segment_room * sizeof *b->owners);
    csni_free(alloc, b->order, (size_t)b->symbol_count * sizeof *b->order);
    csni_free(alloc, b->expanded, b->expanded_size);
}
