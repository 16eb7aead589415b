/* C13 lines of a module: which code is of which line, and where inlined functions begin. */
#include <inttypes.h>

#include "base/core/search.h"
#include "base/core/sort.h"
#include "pdb/pdb_private.h"

static const char SECTION[] = "C13 lines";

/* ---- lines ---- */

/* What blocks of each source file tell of a run of code. */
static csn_status read_line_block(struct csni_cursor *c, const struct csni_pdb_fragment *f, bool has_columns,
                                  struct csni_pdb_lines *out, struct csn_error *err) {
    uint64_t begin = csni_cursor_off(c);
    uint32_t file = csni_cursor_u32(c), count = csni_cursor_u32(c), size = csni_cursor_u32(c);
    uint64_t entry_size = has_columns ? LINE_ENTRY_SIZE + COLUMN_ENTRY_SIZE : LINE_ENTRY_SIZE;
    uint64_t entries = count * entry_size;
    if (c->failed || size < LINE_BLOCK_HEADER_SIZE || entries > size - LINE_BLOCK_HEADER_SIZE ||
        entries > csni_cursor_left(c))
        return csni_fail(err, CSN_E_FORMAT, SECTION, begin, "%" PRIu32 " lines in a block of 0x%" PRIx32 " bytes", count, size);
    if (!csni_vec_reserve(&out->rows, out->rows.count + count)) return csni_fail_memory(err, count * sizeof *out->rows.items);
    const uint8_t *p = c->p;
    for (uint32_t i = 0; i < count; i++, p += LINE_ENTRY_SIZE) {
        uint32_t off = csni_get32(p, false), line = csni_get32(p + 4, false) & LINE_START_MASK;
        bool is_marker = line == LINE_NEVER_STEP_INTO || line == LINE_ALWAYS_STEP_INTO;
        if (!is_marker && off < f->size) out->rows.items[out->rows.count++] = (struct csni_pdb_row){ off, file, line };
    }
    csni_cursor_skip(c, size - LINE_BLOCK_HEADER_SIZE);
    return CSN_OK;
}

static bool row_before(const void *context, const void *a, const void *b) {
    (void)context;
    return ((const struct csni_pdb_row *)a)->off < ((const struct csni_pdb_row *)b)->off;
}

/* Blocks of several files go back and forth. */
static csn_status sort_rows(struct csni_pdb_lines *lines, const struct csni_pdb_fragment *f, struct csn_error *err) {
    size_t size = sizeof *lines->rows.items;
    if (!f->row_count) return CSN_OK;
    struct csni_pdb_row *rows = lines->rows.items + f->first_row;
    if (csni_is_sorted(rows, f->row_count, size, row_before, NULL)) return CSN_OK;
    if (!csni_vec_reserve(&lines->spare, f->row_count)) return csni_fail_memory(err, f->row_count * size);
    csni_merge_sort(rows, lines->spare.items, f->row_count, size, row_before, NULL);
    return CSN_OK;
}

static csn_status read_blocks(struct csni_cursor *c, const struct csni_pdb_fragment *f, bool has_columns,
                              struct csni_pdb_lines *out, struct csn_error *err) {
    while (csni_cursor_left(c)) CSNI_TRY(read_line_block(c, f, has_columns, out, err));
    return CSN_OK;
}

/* What stands before damage is kept. */
static csn_status read_fragment(struct csni_span bytes, struct csni_pdb_lines *out, struct csn_error *err) {
    struct csni_cursor c = csni_cursor_at(bytes, false);
    uint32_t offset = csni_cursor_u32(&c), section = csni_cursor_u16(&c);
    bool has_columns = csni_cursor_u16(&c) & LINES_HAVE_COLUMNS;
    struct csni_pdb_fragment f = { .at = (uint64_t)section << 32 | offset, .size = csni_cursor_u32(&c),
                                   .order = (uint32_t)out->fragments.count, .first_row = (uint32_t)out->rows.count };
    if (c.failed || f.size > UINT32_MAX - offset)
        return csni_fail(err, CSN_E_FORMAT, SECTION, 0, "code of 0x%" PRIx32 " bytes at 0x%" PRIx32, f.size, offset);
    csn_status status = read_blocks(&c, &f, has_columns, out, err);
    if (status == CSN_E_MEMORY) return status;
    f.row_count = (uint32_t)(out->rows.count - f.first_row);
    CSNI_TRY(sort_rows(out, &f, err));
    if (f.row_count && !csni_vec_push(&out->fragments, f)) return csni_fail_memory(err, sizeof f);
    return status;
}

static bool fragment_before(const void *context, const void *pa, const void *pb) {
    (void)context;
    const struct csni_pdb_fragment *a = pa, *b = pb;
    return a->at != b->at ? a->at < b->at : a->order < b->order;
}

/* ---- where inlined functions begin ---- */

static csn_status read_inlinee_lines(struct csni_span bytes, struct csni_pdb_lines *out, struct csn_error *err) {
    struct csni_cursor c = csni_cursor_at(bytes, false);
    bool has_files = csni_cursor_u32(&c) == INLINEE_LINES_EX;
    while (csni_cursor_left(&c)) {
        struct csni_pdb_inlinee inlinee = { .id = csni_cursor_u32(&c) };
        inlinee.file = csni_cursor_u32(&c);
        inlinee.line = csni_cursor_u32(&c);
        if (has_files) csni_cursor_skip(&c, (uint64_t)csni_cursor_u32(&c) * 4);
        if (c.failed) return csni_fail(err, CSN_E_TRUNCATED, SECTION, c.failed_at, "the line of an inlined function has no end");
        if (!csni_vec_push(&out->inlinees, inlinee)) return csni_fail_memory(err, sizeof inlinee);
    }
    return CSN_OK;
}

static bool inlinee_before(const void *context, const void *a, const void *b) {
    (void)context;
    const struct csni_pdb_inlinee *x = a, *y = b;
    if (x->id != y->id) return x->id < y->id;
    return x->file != y->file ? x->file < y->file : x->line < y->line;
}

const struct csni_pdb_inlinee *csni_pdb_find_inlinee(const struct csni_pdb_lines *lines, uint32_t id) {
    size_t at = csni_lower_bound(lines->inlinees.items, lines->inlinees.count, id, id);
    return at < lines->inlinees.count && lines->inlinees.items[at].id == id ? &lines->inlinees.items[at] : NULL;
}

/* ---- all of it ---- */

static csn_status read_subsection(uint32_t kind, struct csni_span bytes, struct csni_pdb_lines *out, struct csn_error *err) {
    if (kind == DEBUG_S_LINES) return read_fragment(bytes, out, err);
    if (kind == DEBUG_S_INLINEELINES) return read_inlinee_lines(bytes, out, err);
    if (kind == DEBUG_S_FILECHKSMS) out->checksums = bytes;
    if (kind == DEBUG_S_CROSSSCOPEIMPORTS) out->imports = bytes;
    if (kind == DEBUG_S_CROSSSCOPEEXPORTS) out->exports = bytes;
    return CSN_OK;
}

static csn_status read_subsections(struct csni_span c13, struct csni_pdb_lines *out, struct csn_error *err) {
    struct csni_cursor c = csni_cursor_at(c13, false);
    while (csni_cursor_left(&c)) {
        uint32_t kind = csni_cursor_u32(&c), size = csni_cursor_u32(&c);
        struct csni_span bytes = csni_cursor_bytes(&c, size);
        if (c.failed)
            return csni_fail(err, CSN_E_TRUNCATED, SECTION, c.failed_at,
                             "subsection 0x%" PRIx32 " has 0x%" PRIx32 " bytes, 0x%" PRIx64 " are left", kind, size,
                             (uint64_t)c13.size - c.failed_at);
        CSNI_TRY(read_subsection(kind, bytes, out, err));
        uint64_t padded = csni_cursor_off(&c) + (4 - csni_cursor_off(&c) % 4) % 4;
        csni_cursor_seek(&c, padded < c13.size ? padded : c13.size);
    }
    return CSN_OK;
}

csn_status csni_pdb_read_lines(struct csni_span c13, struct csni_pdb_lines *out, struct csn_error *err) {
    out->checksums = out->imports = out->exports = (struct csni_span){ NULL, 0 };
    out->fragments.count = out->rows.count = out->inlinees.count = 0;
    csn_status status = read_subsections(c13, out, err);
    if (status == CSN_E_MEMORY) return status;
    csni_heap_sort(out->fragments.items, out->fragments.count, sizeof *out->fragments.items, fragment_before, NULL);
    csni_heap_sort(out->inlinees.items, out->inlinees.count, sizeof *out->inlinees.items, inlinee_before, NULL);
    return status;
}

bool csni_pdb_file_path(const struct csni_pdb *pdb, const struct csni_pdb_lines *lines, uint32_t file, struct csn_str *out) {
    struct csni_span entry;
    return csni_span_sub(lines->checksums, file, 4, &entry) && csni_span_cstr(pdb->names, csni_get32(entry.ptr, false), out) &&
           out->len;
}
