/* Opening BSYM: the header, and the sections of 1.0 to 2.3. */
#include "base/core/checked.h"
#include "base/core/fail.h"
#include "formats/bsym/read/bsym_private.h"

static const char SECTION[] = "BSYM";

bool csni_bsym_recognize(struct csni_span bytes) {
    return bytes.size >= CSNI_BSYM_MAGIC_SIZE && memcmp(bytes.ptr, "BSYM", CSNI_BSYM_MAGIC_SIZE) == 0;
}

/* ---- sections ---- */

/* A section of records after a count. */
static csn_status open_bsym_section(const struct csni_bsym *b, unsigned header, const char *what, uint32_t record,
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

/* How many entries a prefix table can have. Every producer known writes strings after the table, the first one's at once or
 * later, never within; where it stands in front, the end of the file is all that is known. */
static uint32_t prefix_limit(const struct csni_bsym *b, uint32_t table) {
    uint64_t left = table && table <= b->bytes.size ? b->bytes.size - table : 0;
    if (left < 4) return 0;
    uint64_t first = csni_get32(b->bytes.ptr + table, true), limit = left / 4;
    if (first >= (uint64_t)table + 4 && (first - table) / 4 < limit) limit = (first - table) / 4;
    return (uint32_t)(limit < 0xffff ? limit : 0xffff);
}

static csn_status read_bsym_segments(struct csni_bsym *b, const struct csn_allocator *alloc, struct csn_error *err) {
    const uint8_t *records = NULL;
    uint32_t count;
    CSNI_TRY(open_bsym_section(b, CSNI_BSYM_H_SEGMENTS, "binaries", CSNI_BSYM_SEGMENT_SIZE, &records, &count, err));
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
    CSNI_TRY(open_bsym_section(b, CSNI_BSYM_H_SYMBOLS, "symbols", CSNI_BSYM_SYMBOL_SIZE, &b->symbols, &b->symbol_count,
                               err));
    if (b->version >= CSNI_BSYM_2_0) {
        CSNI_TRY(open_bsym_section(b, CSNI_BSYM_H_TOKENS, "tokens", 4, &b->tokens, &b->token_count, err));
        if (b->token_count > CSNI_BSYM_TOKEN_MAX)
            return csni_fail(err, CSN_E_FORMAT, SECTION, CSNI_BSYM_H_TOKENS, "%u tokens, need <= %d", b->token_count,
                             CSNI_BSYM_TOKEN_MAX);
    }
    if (b->version >= CSNI_BSYM_2_1 && csni_get32(b->bytes.ptr + CSNI_BSYM_H_RENAMES, true))
        CSNI_TRY(open_bsym_section(b, CSNI_BSYM_H_RENAMES, "renames", CSNI_BSYM_RENAME_SIZE, &b->renames,
                                   &b->rename_count,
                                   err));
    if (b->version >= CSNI_BSYM_2_2) b->checksum = csni_get32(b->bytes.ptr + CSNI_BSYM_H_CHECKSUM, true);
    CSNI_TRY(read_bsym_segments(b, alloc, err));
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
    csni_free(alloc, b->segments, b->segment_capacity * sizeof *b->segments);
    csni_free(alloc, b->starts, b->segment_capacity * sizeof *b->starts);
    csni_free(alloc, b->owners, b->segment_capacity * sizeof *b->owners);
    csni_free(alloc, b->order, (size_t)b->symbol_count * sizeof *b->order);
    csni_free(alloc, b->expanded, b->expanded_size);
}
