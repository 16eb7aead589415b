/* Checking what a lookup in the section-embedded GSYM of 2017 relies on. Habits of the tools of that time are no problems:
 * lengths that count themselves, short end marks, a row at a function's end, indexes of files that the table lacks
 * in inlined calls. */
#include "formats/gsection/read/gsection.h"

typedef unsigned long long ull; /* for %llx */

static const char record_name[] = "FunctionInfo";

struct verifier {
    const struct csni_gsection *g;
    csn_verify_callback *callback;
    void *context;
    struct csn_verify_counts *counts;
    struct csn_error err; /* the problem being told */
    bool stopped;
    uint64_t bytes_left;  /* of records: many offsets of a damaged file may lead to one long record */
};

static void report_gsection_problem(struct verifier *v) {
    if (v->stopped) return;
    v->counts->problems++;
    if (v->callback && !v->callback(v->context, &v->err)) v->stopped = true;
}

static void check_gsection_string(struct verifier *v, const char *section, uint64_t at, const char *what,
                                  uint64_t string) {
    const struct csni_span s = v->g->gsym.strings;
    if (string < s.size) return;
    csni_fail(&v->err, CSN_E_FORMAT, section, at, "%s: string 0x%llx, need < 0x%zx", what, (ull)string, s.size);
    report_gsection_problem(v);
}

static void check_gsection_strings(struct verifier *v) {
    const struct csni_span s = v->g->gsym.strings;
    for (const uint8_t *p = s.ptr, *end = s.ptr + s.size; p && p < end; v->counts->strings++) {
        p = memchr(p, 0, (size_t)(end - p));
        if (p) p++;
    }
    if (!s.size || s.ptr[s.size - 1] == 0) return;
    csni_fail(&v->err, CSN_E_FORMAT, "strings", s.size - 1, "last byte 0x%02x, need 0", s.ptr[s.size - 1]);
    report_gsection_problem(v);
}

static void check_files(struct verifier *v) {
    const struct csni_gsym *gsym = &v->g->gsym;
    uint32_t stored = gsym->file_count - !v->g->has_file_0;
    v->counts->files = gsym->file_count - 1;
    for (uint32_t k = 0; k < stored && !v->stopped; k++) {
        const uint8_t *entry = gsym->files + (size_t)k * CSNI_GSYM_FILE_ENTRY_SIZE;
        uint64_t at = (uint64_t)(entry - gsym->bytes.ptr);
        check_gsection_string(v, "file table", at, "directory", csni_get32(entry, gsym->big));
        check_gsection_string(v, "file table", at, "file name", csni_get32(entry + CSNI_GSYM_STRP_SIZE, gsym->big));
    }
}

static void check_gsection_lines(struct verifier *v, const struct csni_gsym_record *record,
                                 const struct csni_gsym_payload *part) {
    struct csni_gsym_row_iter rows;
    struct csn_row row;
    uint64_t before = record->start;
    bool told = false;
    csn_status status = csni_gsection_rows(v->g, part, record->start, &rows, &v->err);
    while (status == CSN_OK && (status = csni_gsym_row_next(&rows, &row, &v->err)) == CSN_OK) {
        v->counts->rows++;
        bool past = record->size && row.addr - record->start >= record->size;
        /* The scripts of 2017 write the row that stands at the function's end, too. */
        bool outside = row.addr < before || (past && !v->g->self_counting);
        bool bad_file = row.file >= v->g->gsym.file_count && row.file;
        before = row.addr;
        if (told || (!outside && !bad_file)) continue;
        told = true;
        if (outside)
            csni_fail(&v->err, CSN_E_FORMAT, record_name, part->offset, "row at 0x%llx, need ascending ones within 0x%llx + 0x%x",
                      (ull)row.addr, (ull)record->start, record->size);
        else
            csni_fail(&v->err, CSN_E_FORMAT, record_name, part->offset, "row at 0x%llx names file %u, need < %u", (ull)row.addr,
                      row.file, v->g->gsym.file_count);
        report_gsection_problem(v);
    }
    if (status < 0) report_gsection_problem(v);
}

static void check_gsection_inlines(struct verifier *v, const struct csni_gsym_record *record,
                                   const struct csni_gsym_payload *part) {
    struct csni_gsym_inline_iter nodes;
    struct csni_gsym_node node;
    uint64_t bases[CSN_INLINE_DEPTH_MAX];
    uint32_t depth;
    bases[0] = record->start;
    csni_gsym_nodes(&nodes, &v->g->gsym, part);
    csn_status status;
    bool told = false;
    while ((status = csni_gsym_node_next(&nodes, bases, &node, &depth, &v->err)) == CSN_OK) {
        v->counts->inline_nodes += depth > 0;
        check_gsection_string(v, record_name, part->offset, "name of an inlined call", node.name);
        for (uint32_t k = 0; k < node.range_count; k++) {
            struct csn_range range = csni_gsym_range(&node.ranges, node.base);
            if (told || (range.start - record->start <= record->size && range.end - record->start <= record->size)) continue;
            csni_fail(&v->err, CSN_E_FORMAT, record_name, part->offset, "inlined call at 0x%llx..0x%llx, need within 0x%llx + 0x%x",
                      (ull)range.start, (ull)range.end, (ull)record->start, record->size);
            report_gsection_problem(v);
            told = true;
        }
    }
    if (status < 0) report_gsection_problem(v);
}

static void check_gsection_record(struct verifier *v, uint32_t idx) {
    struct csni_gsym_record record;
    if (csni_gsym_record(&v->g->gsym, idx, &record, &v->err) < 0) {
        report_gsection_problem(v);
        return;
    }
    v->counts->functions++;
    if (record.offset % CSNI_GSYM_ALIGN || record.offset < v->g->gsym.tables_end) {
        csni_fail(&v->err, CSN_E_FORMAT, record_name, record.offset, "record %u at 0x%llx, need a multiple of 4 >= 0x%llx", idx,
                  (ull)record.offset, (ull)v->g->gsym.tables_end);
        report_gsection_problem(v);
    }
    check_gsection_string(v, record_name, record.offset, "function name", record.name);
    uint64_t pos = CSNI_GSYM_R_PARTS;
    struct csni_gsection_part part;
    csn_status status;
    while (v->bytes_left && (status = csni_gsection_part_step(v->g, &record, pos, &part, &v->err)) != CSN_NONE) {
        if (status < 0) {
            report_gsection_problem(v);
            return;
        }
        uint64_t cost = part.next - pos;
        v->bytes_left -= cost < v->bytes_left ? cost : v->bytes_left;
        pos = part.next;
        if (part.length == CSNI_LENGTH_WRONG) {
            csni_fail(&v->err, CSN_E_FORMAT, record_name, part.payload.offset,
                      "part of type %u has a length of %zu, which is not what it holds", part.payload.type,
                      part.payload.bytes.size);
            report_gsection_problem(v);
        } else if (part.payload.type == CSNI_GSYM_PART_LINES && part.length != CSNI_LENGTH_EMPTY) {
            check_gsection_lines(v, &record, &part.payload);
        } else if (part.payload.type == CSNI_GSYM_PART_INLINE) {
            check_gsection_inlines(v, &record, &part.payload);
        }
    }
}

static void check_gsection_order(struct verifier *v, uint32_t idx) {
    const struct csni_gsym *gsym = &v->g->gsym;
    if (!idx || csni_gsym_address(gsym, idx) - gsym->base_address >= csni_gsym_address(gsym, idx - 1) - gsym->base_address) return;
    csni_fail(&v->err, CSN_E_FORMAT, "address table",
              (uint64_t)(gsym->addresses - gsym->bytes.ptr) + (uint64_t)idx * gsym->address_size,
              "entry %u is 0x%llx, need >= 0x%llx", idx, (ull)(csni_gsym_address(gsym, idx) - gsym->base_address),
              (ull)(csni_gsym_address(gsym, idx - 1) - gsym->base_address));
    report_gsection_problem(v);
}

csn_status csni_gsection_verify(const struct csni_gsection *g, csn_verify_callback *callback, void *context,
                                struct csn_verify_counts *out) {
    struct csn_verify_counts counts = { 0 };
    struct verifier v = { .g = g, .callback = callback, .context = context, .counts = &counts,
                          .bytes_left = g->gsym.bytes.size * (uint64_t)2 };
    check_gsection_strings(&v);
    check_files(&v);
    for (uint32_t i = 0; i < g->gsym.address_count && !v.stopped; i++) {
        check_gsection_order(&v, i);
        check_gsection_record(&v, i);
    }
    if (!v.bytes_left && !v.stopped) {
        csni_fail(&v.err, CSN_E_LIMIT, record_name, 0, "records overlap: they hold over twice the %zu bytes of the section",
                  g->gsym.bytes.size);
        report_gsection_problem(&v);
    }
    *out = counts;
    return CSN_OK;
}
