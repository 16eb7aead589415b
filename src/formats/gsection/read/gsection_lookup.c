/* Lookup in the section-embedded GSYM of 2017: address to record, record to row and inlined calls. */
#include "formats/gsection/read/gsection.h"

/* How many functions are looked through for one that begins earlier and still covers an address. */
enum { NEIGHBOURS_MAX = 64 };

/* Of several functions with the same start the first that covers the address. One without a size covers nothing by itself: it
 * answers where no other does, up to the next function. */
static csn_status find_gsection_record(const struct csni_gsym *gsym, uint64_t addr, struct csni_gsym_answer *out,
                                       struct csni_gsym_record *record, struct csn_error *err) {
    size_t upper;
    csni_gsym_search(gsym, &addr, 1, &upper);
    out->reason = CSN_REASON_BEFORE_FIRST;
    if (!upper) return CSN_NONE;
    uint32_t last = (uint32_t)(upper - 1), first = csni_gsym_first_of_start(gsym, last), sizeless = UINT32_MAX;
    uint64_t start = csni_gsym_address(gsym, last);
    out->reason = CSN_REASON_GAP;
    out->start = start;
    for (uint32_t idx = first; idx <= last; idx++) {
        if (idx - first == CSNI_GSYM_SAME_START_MAX) return csni_gsym_fail_starts(gsym, first, err);
        CSNI_TRY(csni_gsym_record(gsym, idx, record, err));
        if (record->start != start) continue;
        out->idx = idx;
        out->size = record->size;
        out->name = record->name;
        if (addr - start < record->size) return CSN_OK;
        if (!record->size && sizeless == UINT32_MAX) sizeless = idx;
    }
    if (sizeless == UINT32_MAX) return CSN_NONE;
    for (uint32_t steps = 0; first > 0 && steps < NEIGHBOURS_MAX; steps++) {
        CSNI_TRY(csni_gsym_record(gsym, --first, record, err));
        if (addr - record->start >= record->size) continue;
        sizeless = first;
        break;
    }
    CSNI_TRY(csni_gsym_record(gsym, sizeless, record, err));
    out->idx = sizeless;
    out->start = record->start;
    out->size = record->size;
    out->name = record->name;
    return CSN_OK;
}

/* The first line table and the first inline tree; bytes.ptr is NULL where there is none. */
static csn_status find_gsection_parts(const struct csni_gsection *g, const struct csni_gsym_record *record,
                                      struct csni_gsym_payload *lines, struct csni_gsym_payload *inlines,
                                      struct csn_error *err) {
    uint64_t pos = CSNI_GSYM_R_PARTS;
    struct csni_gsym_payload part;
    csn_status status;
    lines->bytes.ptr = inlines->bytes.ptr = NULL;
    for (unsigned count = 0; (status = csni_gsection_part_next(g, record, &pos, &part, err)) == CSN_OK;) {
        if (++count > CSNI_GSYM_PARTS_MAX) return csni_gsym_fail_parts(record, err);
        if (part.type == CSNI_GSYM_PART_LINES && !lines->bytes.ptr) *lines = part;
        if (part.type == CSNI_GSYM_PART_INLINE && !inlines->bytes.ptr) *inlines = part;
    }
    return status < 0 ? status : CSN_OK;
}

static csn_status find_gsection_row(const struct csni_gsection *g, const struct csni_gsym_payload *payload,
                                    struct csni_gsym_answer *out, struct csn_error *err) {
    out->reason = CSN_REASON_NO_LINE_TABLE;
    if (!payload->bytes.ptr) return CSN_OK;
    struct csni_gsym_lines lines = { payload->bytes, out->start, "FunctionInfo", payload->offset,
                                     g->gsym.bytes.ptr + g->gsym.bytes.size };
    struct csn_row row;
    csn_status status = csni_gsym_line_find(&lines, out->addr, &row, err);
    if (status < 0) return status;
    if (row.file && status == CSN_OK) row.file -= g->gsym.file_bias;
    out->reason = CSN_REASON_NO_ROW;
    if (status == CSN_NONE || row.file == 0) return CSN_OK;
    out->line = row.line;
    out->reason = row.file < g->gsym.file_count ? CSN_REASON_COMPLETE : CSN_REASON_BAD_FILE;
    if (out->reason == CSN_REASON_COMPLETE) out->file = row.file;
    return CSN_OK;
}

csn_status csni_gsection_lookup(const struct csni_gsection *g, uint64_t addr, enum csn_lookup_mode mode,
                                struct csni_gsym_answer *out, struct csn_error *err) {
    out->addr = addr;
    out->start = 0;
    out->idx = out->size = out->file = out->line = 0;
    out->name = 0;
    out->calls.count = out->calls.end = 0;
    struct csni_gsym_record record;
    csn_status status = find_gsection_record(&g->gsym, addr, out, &record, err);
    if (status != CSN_OK) return status;
    struct csni_gsym_payload lines, inlines;
    CSNI_TRY(find_gsection_parts(g, &record, &lines, &inlines, err));
    CSNI_TRY(find_gsection_row(g, &lines, out, err));
    if (mode == CSN_LOOKUP_LLVM && out->reason == CSN_REASON_NO_ROW) return CSN_NONE;
    if (!inlines.bytes.ptr) return CSN_OK;
    enum csni_gsym_call_filter filter = mode == CSN_LOOKUP_LLVM ? CSNI_GSYM_CALLS_WITH_FILE : CSNI_GSYM_CALLS_ALL;
    return csni_gsym_calls_find(&g->gsym, &inlines, record.start, addr, filter, &out->calls, err);
}
