/* The pages of __unwind_info. */
#include "unwind/unwind_compact.h"

#include "base/core/cursor.h"
#include "base/core/fail.h"

enum { UNWIND_SECTION_VERSION = 1, INDEX_ENTRY_SIZE = 12, PAGE_REGULAR = 2, PAGE_COMPRESSED = 3 };
enum { UNWIND_MODE_MASK = 0x0f000000, UNWIND_X86_MODE_DWARF = 0x04000000, UNWIND_ARM64_MODE_DWARF = 0x03000000,
       UNWIND_DWARF_OFFSET = 0x00ffffff, COMPRESSED_OFFSET = 0x00ffffff };

struct compact_header {
    uint32_t common_off, common_count, index_off, index_count;
};

static bool read_compact_header(const struct csni_unwind_compact *c, struct compact_header *out) {
    struct csni_cursor cursor = csni_cursor_at(c->bytes, false);
    uint32_t version = csni_cursor_u32(&cursor);
    out->common_off = csni_cursor_u32(&cursor);
    out->common_count = csni_cursor_u32(&cursor);
    csni_cursor_skip(&cursor, 8); /* personalities */
    out->index_off = csni_cursor_u32(&cursor);
    out->index_count = csni_cursor_u32(&cursor);
    return !cursor.failed && version == UNWIND_SECTION_VERSION &&
           (uint64_t)out->index_off + (uint64_t)out->index_count * INDEX_ENTRY_SIZE <= c->bytes.size;
}

/* The last entry of the index tells where the last page ends. */
uint32_t csni_unwind_compact_pages(const struct csni_unwind_compact *c) {
    struct compact_header h;
    return read_compact_header(c, &h) && h.index_count ? h.index_count - 1 : 0;
}

/* One function of a page. */
struct compact_entry {
    uint32_t start, end, word;
    bool is_last;
};

struct compact_page {
    uint32_t first, end;   /* addresses */
    uint32_t off;          /* in the section */
    uint32_t entries_off, entry_count;
    bool is_compressed;
    uint32_t words_off, word_count; /* its own */
};

static uint32_t word_at(const struct csni_unwind_compact *c, uint64_t off, bool *failed) {
    struct csni_span bytes;
    if (csni_span_sub(c->bytes, off, 4, &bytes)) return csni_get32(bytes.ptr, false);
    *failed = true;
    return 0;
}

static bool read_compact_page(const struct csni_unwind_compact *c, const struct compact_header *h, uint32_t page,
                              struct compact_page *out) {
    uint64_t index = h->index_off + (uint64_t)page * INDEX_ENTRY_SIZE;
    bool failed = false;
    *out = (struct compact_page){ .first = word_at(c, index, &failed), .off = word_at(c, index + 4, &failed),
                                  .end = word_at(c, index + INDEX_ENTRY_SIZE, &failed) };
    struct csni_cursor cursor = csni_cursor_at(c->bytes, false);
    csni_cursor_seek(&cursor, out->off);
    uint32_t kind = csni_cursor_u32(&cursor);
    out->is_compressed = kind == PAGE_COMPRESSED;
    out->entries_off = csni_cursor_u16(&cursor);
    out->entry_count = csni_cursor_u16(&cursor);
    if (out->is_compressed) out->words_off = csni_cursor_u16(&cursor);
    if (out->is_compressed) out->word_count = csni_cursor_u16(&cursor);
    return !failed && !cursor.failed && out->off && (out->is_compressed || kind == PAGE_REGULAR);
}

/* The start, and of a compressed page the number of the word. */
static uint32_t read_entry_start(const struct csni_unwind_compact *c, const struct compact_page *p, uint32_t entry,
                                 uint32_t *number, bool *failed) {
    uint64_t entries = (uint64_t)p->off + p->entries_off;
    if (!p->is_compressed) return word_at(c, entries + 8 * (uint64_t)entry, failed);
    uint32_t packed = word_at(c, entries + 4 * (uint64_t)entry, failed);
    *number = packed >> 24;
    return p->first + (packed & COMPRESSED_OFFSET);
}

static bool read_compact_entry(const struct csni_unwind_compact *c, const struct compact_header *h, uint32_t page, uint32_t entry,
                               struct compact_entry *out) {
    struct compact_page p;
    uint32_t number = 0, unused = 0;
    bool failed = false;
    out->is_last = true;
    if (!read_compact_page(c, h, page, &p) || entry >= p.entry_count) return false;
    out->is_last = entry + 1 == p.entry_count;
    out->start = read_entry_start(c, &p, entry, &number, &failed);
    out->end = out->is_last ? p.end : read_entry_start(c, &p, entry + 1, &unused, &failed);
    if (!p.is_compressed) out->word = word_at(c, (uint64_t)p.off + p.entries_off + 8 * (uint64_t)entry + 4, &failed);
    else if (number < h->common_count) out->word = word_at(c, (uint64_t)h->common_off + 4 * (uint64_t)number, &failed);
    else out->word = word_at(c, (uint64_t)p.off + p.words_off + 4 * (uint64_t)(number - h->common_count), &failed);
    if (p.is_compressed && number >= h->common_count && number - h->common_count >= p.word_count) failed = true;
    return !failed;
}

/* Its FDE has rules and range. */
static csn_status read_compact_fde(uint32_t off, struct csni_unwind_dwarf *frames, struct csni_unwind_table *table,
                                   enum csni_unwind_result *result) {
    uint64_t next;
    if (!frames || csni_unwind_dwarf_read(frames, off, &next, table, result, NULL) == CSN_E_TRUNCATED)
        *result = CSNI_UNWIND_DAMAGED;
    return CSN_OK;
}

csn_status csni_unwind_compact_read(const struct csni_unwind_compact *c, uint32_t page, uint32_t entry,
                                    struct csni_unwind_dwarf *frames, struct csni_unwind_table *table,
                                    enum csni_unwind_result *result, bool *is_last, struct csn_error *err) {
    struct compact_header h;
    struct compact_entry e;
    bool out_of_memory = false;
    *result = CSNI_UNWIND_DAMAGED;
    *is_last = true;
    csni_unwind_begin(table, c->image_base, 0);
    if (!read_compact_header(c, &h)) return CSN_OK;
    bool is_read = read_compact_entry(c, &h, page, entry, &e);
    *is_last = e.is_last;
    if (!is_read || e.end < e.start) return CSN_OK;
    *result = CSNI_UNWIND_SKIPPED;
    if (e.end == e.start) return CSN_OK; /* linkers leave such words */
    uint32_t to_frames = c->machine == CSNI_COMPACT_ARM64 ? UNWIND_ARM64_MODE_DWARF : UNWIND_X86_MODE_DWARF;
    if ((e.word & UNWIND_MODE_MASK) == to_frames) return read_compact_fde(e.word & UNWIND_DWARF_OFFSET, frames, table, result);
    csni_unwind_begin(table, c->image_base + e.start, e.end - e.start);
    *result = csni_unwind_compact_rules(c, e.word, table, &out_of_memory) ? CSNI_UNWIND_OK : CSNI_UNWIND_DAMAGED;
    return out_of_memory ? csni_fail_memory(err, 0) : CSN_OK;
}
