/* Opening BSYM 3.0: pages of byte pairs expanded into memory; units of three kinds of symbols. */
#include "base/core/fail.h"
#include "formats/bsym/read/bsym_private.h"

static const char SECTION[] = "BSYM";

enum { DEPTH_MAX = 256, BODY_MAX = 1 << 30 };

/* ---- byte pairs ---- */

/* What a code of a page stands for; a code that is none stands for itself. */
struct pairs {
    uint8_t left[256], right[256];
    bool is_code[256];
};

/* The pairs at the start of a page; `p` moves after them. */
static bool read_pairs(const uint8_t **p, const uint8_t *end, unsigned count, struct pairs *pairs) {
    if (count < 32) {
        if ((size_t)(end - *p) < (size_t)count * 3) return false;
        for (unsigned i = 0; i < count; i++, *p += 3) {
            pairs->is_code[(*p)[0]] = true;
            pairs->left[(*p)[0]] = (*p)[1];
            pairs->right[(*p)[0]] = (*p)[2];
        }
        return true;
    }
    if (end - *p < 32) return false;
    const uint8_t *bits = *p;
    *p += 32;
    for (unsigned code = 0; code < 256; code++) {
        if (!(bits[code >> 3] >> (code & 7) & 1)) continue;
        if (end - *p < 2) return false;
        pairs->is_code[code] = true;
        pairs->left[code] = (*p)[0];
        pairs->right[code] = (*p)[1];
        *p += 2;
    }
    return true;
}

/* Expands one byte of data. The stack holds right halves that wait: a chain longer than there are codes is a loop. */
static bool expand_byte(const struct pairs *pairs, uint8_t byte, uint8_t *out, size_t *size) {
    uint8_t waiting[DEPTH_MAX];
    size_t depth = 0;
    for (;;) {
        while (pairs->is_code[byte]) {
            if (depth == DEPTH_MAX) return false;
            waiting[depth++] = pairs->right[byte];
            byte = pairs->left[byte];
        }
        if (*size == CSNI_BSYM3_PAGE_SIZE) return false;
        out[(*size)++] = byte;
        if (!depth) return true;
        byte = waiting[--depth];
    }
}

bool csni_bsym3_expand_page(struct csni_span page, uint8_t out[CSNI_BSYM3_PAGE_SIZE], size_t *out_size) {
    *out_size = 0;
    if (page.size == CSNI_BSYM3_PAGE_SIZE) {
        memcpy(out, page.ptr, page.size);
        *out_size = page.size;
        return true;
    }
    if (!page.size) return false;
    struct pairs pairs = { .is_code = { false } };
    const uint8_t *p = page.ptr, *end = p + page.size;
    unsigned count = *p++;
    if (!count) {
        *out_size = (size_t)(end - p);
        memcpy(out, p, *out_size);
        return true;
    }
    if (p == end) return false;
    uint8_t marker = *p++;
    if (!read_pairs(&p, end, count, &pairs)) return false;
    for (; p < end; p++) {
        if (*p != marker) {
            if (!expand_byte(&pairs, *p, out, out_size)) return false;
        } else {
            if (++p == end || *out_size == CSNI_BSYM3_PAGE_SIZE) return false;
            out[(*out_size)++] = *p;
        }
    }
    return true;
}

/* ---- the body ---- */

static uint32_t word(const struct csni_bsym *b, uint64_t off) { return csni_get32(b->bytes.ptr + off, b->big); }

/* The flag for the byte order is not to be relied on: the order is the one in which the file makes sense. */
static bool guess_order(struct csni_bsym *b, bool packed) {
    for (int big = 0; big < 2; big++) {
        b->big = big != 0;
        uint64_t pages = word(b, CSNI_BSYM3_H_PAGES);
        if (packed ? pages <= b->bytes.size - 8 && word(b, pages) == CSNI_BSYM3_PAGE_SIZE
                   : (uint64_t)word(b, CSNI_BSYM3_H_BODY) + word(b, CSNI_BSYM3_H_BODY_SIZE) <= b->bytes.size)
            return true;
    }
    return false;
}

static csn_status expand_pages(struct csni_bsym *b, const struct csn_allocator *alloc, struct csn_error *err) {
    uint64_t table = word(b, CSNI_BSYM3_H_PAGES), body = word(b, CSNI_BSYM3_H_BODY), size = word(b, CSNI_BSYM3_H_BODY_SIZE);
    uint64_t count = word(b, table + 4), need = (size + CSNI_BSYM3_PAGE_SIZE - 1) / CSNI_BSYM3_PAGE_SIZE;
    if (count > (b->bytes.size - table - 8) / CSNI_BSYM3_PAGE_ENTRY || need > count)
        return csni_fail(err, CSN_E_TRUNCATED, SECTION, table, "%llu pages in 0x%llx bytes, the body takes %llu",
                         (unsigned long long)count, (unsigned long long)(b->bytes.size - table - 8),
                         (unsigned long long)need);
    if (size > BODY_MAX)
        return csni_fail(err, CSN_E_LIMIT, SECTION, CSNI_BSYM3_H_BODY_SIZE, "the body has %llu bytes, need <= %d",
                         (unsigned long long)size, BODY_MAX);
    b->expanded = csni_alloc(alloc, (size_t)size);
    if (size && !b->expanded) return csni_fail_memory(err, size);
    b->expanded_size = (size_t)size;
    uint64_t at = 0, before = 0;
    for (uint64_t i = 0; i < need; i++) {
        uint64_t entry = table + 8 + i * CSNI_BSYM3_PAGE_ENTRY, start = word(b, entry), length = word(b, entry + 4);
        uint8_t page[CSNI_BSYM3_PAGE_SIZE];
        struct csni_span packed;
        size_t got, wanted = size - at < sizeof page ? (size_t)(size - at) : sizeof page;
        /* Pages that share bytes would let a small file become a large one. */
        if (start < before || length > CSNI_BSYM3_PAGE_SIZE || !csni_span_sub(b->bytes, body + start, length, &packed) ||
            !csni_bsym3_expand_page(packed, page, &got) || got < wanted)
            return csni_fail(err, CSN_E_FORMAT, SECTION, entry, "page %llu (%llu bytes at 0x%llx) cannot be expanded",
                             (unsigned long long)i, (unsigned long long)length, (unsigned long long)start);
        memcpy(b->expanded + at, page, wanted);
        at += wanted;
        before = start + length;
    }
    b->body = (struct csni_span){ b->expanded, (size_t)size };
    return CSN_OK;
}

static csn_status find_body(struct csni_bsym *b, const struct csn_allocator *alloc, struct csn_error *err) {
    uint8_t compression = b->bytes.ptr[CSNI_BSYM3_H_COMPRESSION];
    if (compression > 1)
        return csni_fail(err, CSN_E_UNSUPPORTED, SECTION, CSNI_BSYM3_H_COMPRESSION, "compression %u, know 0 and 1",
                         compression);
    if (!guess_order(b, compression))
        return csni_fail(err, CSN_E_FORMAT, SECTION, CSNI_BSYM3_H_BODY, "makes sense in neither byte order");
    if (compression) return expand_pages(b, alloc, err);
    csni_span_sub(b->bytes, word(b, CSNI_BSYM3_H_BODY), word(b, CSNI_BSYM3_H_BODY_SIZE), &b->body);
    return CSN_OK;
}

/* ---- units ---- */

static csn_status add_unit(struct csni_bsym *b, uint32_t number, const uint8_t *p, struct csn_error *err) {
    uint64_t first = csni_bsym_word(b, p + CSNI_BSYM3_U_FIRST);
    for (unsigned part = 0; part < CSNI_BSYM3_UNIT_PARTS; part++) {
        uint32_t count = csni_bsym_word(b, p + 8 * (size_t)part + 4);
        if (first + count > b->symbol_count)
            return csni_fail(err, CSN_E_FORMAT, SECTION, number, "binary %u has symbols to %llu, the file has %u", number,
                             (unsigned long long)first + count, b->symbol_count);
        struct csni_bsym_segment s = { .address = csni_bsym_word(b, p + 8 * (size_t)part) & ~1u, .count = count,
                                       .first = (uint32_t)first, .number = number,
                                       .name = csni_bsym_word(b, p + CSNI_BSYM3_U_PC_NAME),
                                       .device_name = csni_bsym_word(b, p + CSNI_BSYM3_U_DEVICE_NAME) };
        /* Writers leave the addresses of units 0. */
        if (count && !s.address) s.address = csni_bsym_symbol_address(b, s.first);
        CSNI_TRY(csni_bsym_add_segment(b, &s, err));
        first += count;
    }
    return CSN_OK;
}

csn_status csni_bsym3_open(struct csni_bsym *b, const struct csn_allocator *alloc, struct csn_error *err) {
    CSNI_TRY(find_body(b, alloc, err));
    uint64_t unit_count = word(b, CSNI_BSYM3_H_UNIT_COUNT), symbols = word(b, CSNI_BSYM3_H_SYMBOLS);
    struct csni_span records, units;
    b->symbol_size = CSNI_BSYM3_SYMBOL_SIZE;
    b->symbol_count = 0;
    uint32_t count = word(b, CSNI_BSYM3_H_SYMBOL_COUNT);
    if (!csni_span_sub(b->body, 0, unit_count * CSNI_BSYM3_UNIT_SIZE, &units) ||
        !csni_span_sub(b->body, symbols, (uint64_t)count * CSNI_BSYM3_SYMBOL_SIZE, &records) ||
        !csni_span_sub(b->body, word(b, CSNI_BSYM3_H_STRINGS), word(b, CSNI_BSYM3_H_STRING_BYTES), &b->text))
        return csni_fail(err, CSN_E_TRUNCATED, SECTION, CSNI_BSYM3_H_UNIT_COUNT,
                         "%llu binaries, %u symbols and 0x%x bytes of strings, the body has 0x%zx bytes",
                         (unsigned long long)unit_count, count, word(b, CSNI_BSYM3_H_STRING_BYTES), b->body.size);
    b->symbols = records.ptr;
    b->symbol_count = count;
    uint64_t packed = b->bytes.ptr[CSNI_BSYM3_H_COMPRESSION];
    uint64_t past = word(b, packed ? CSNI_BSYM3_H_PAGES : CSNI_BSYM3_H_BODY);
    if (past >= CSNI_BSYM3_CHECKSUM + 4 && b->bytes.size >= CSNI_BSYM3_CHECKSUM + 4)
        b->checksum = word(b, CSNI_BSYM3_CHECKSUM);
    CSNI_TRY(csni_bsym_reserve_segments(b, unit_count * CSNI_BSYM3_UNIT_PARTS, alloc, err));
    for (uint32_t i = 0; i < unit_count; i++)
        CSNI_TRY(add_unit(b, i, units.ptr + (size_t)i * CSNI_BSYM3_UNIT_SIZE, err));
    return csni_bsym_finish(b, alloc, err);
}
