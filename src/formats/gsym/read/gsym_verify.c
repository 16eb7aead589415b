/* Checking every rule of a GSYM file that a lookup relies on, or that another reader may. Each problem is told once and
 * checking goes on after it; of rows that break the same rule only the first of a table is told. */
#include "base/core/budget.h"
#include "base/core/endian.h"
#include "formats/gsym/gsym_layout.h"
#include "formats/gsym/read/gsym.h"

typedef unsigned long long ull; /* for %llx */

struct verifier {
    const struct csni_gsym *gsym;
    csn_verify_callback *callback;
    void *context;
    struct csn_verify_counts *counts;
    struct csn_error err; /* the problem being told */
    struct csni_budget budget; /* of bytes of records, and ranges compared */
    bool stopped;
};

/* The ranges of a node whose children are being read, with a cursor: siblings ascend in every file that a known writer
 * made, so that all of them together pass the ranges once. */
struct level {
    struct csni_span all, next;
    uint64_t base;
    struct csn_range current;
};

static const char record_name[] = "FunctionInfo";

/* The problem in v->err. */
static void report_problem(struct verifier *v) {
    if (v->stopped) return;
    v->counts->problems++;
    if (v->callback && !v->callback(v->context, &v->err)) v->stopped = true;
}

/* A string table offset that stands at `at`. */
static void check_strp(struct verifier *v, const char *section, uint64_t at, const char *what, uint64_t strp) {
    if (strp < v->gsym->strings.size || (strp == 0 && !v->gsym->strings.size)) return;
    csni_fail(&v->err, CSN_E_FORMAT, section, at, "%s: string 0x%llx, need < 0x%zx", what, (ull)strp,
              v->gsym->strings.size);
    report_problem(v);
}

/* ---- tables: directory, strings, files, address sample ---- */

static const char directory_name[] = "directory";

static void check_gsym_strings(struct verifier *v) {
    const struct csni_gsym *g = v->gsym;
    struct csni_span s = g->strings;
    if (!s.size) return;
    for (const uint8_t *p = s.ptr, *end = s.ptr + s.size; p && p < end; v->counts->strings++) {
        p = memchr(p, 0, (size_t)(end - p));
        if (p) p++;
    }
    if (s.ptr[0]) {
        csni_fail(&v->err, CSN_E_FORMAT, "string table", g->strings_offset, "first byte 0x%02x, need 0", s.ptr[0]);
        report_problem(v);
    }
    if (!csni_gsym_strings_terminated(g)) {
        csni_fail(&v->err, CSN_E_FORMAT, "string table", g->strings_offset + s.size - 1, "last byte 0x%02x, need 0",
                  s.ptr[s.size - 1]);
        report_problem(v);
    }
    if (g->version == CSNI_GSYM_VERSION_1 && g->strings_offset < g->tables_end) {
        csni_fail(&v->err, CSN_E_FORMAT, "string table", g->strings_offset, "begins at 0x%llx, need >= 0x%llx",
                  (ull)g->strings_offset, (ull)g->tables_end);
        report_problem(v);
    }
}

static void check_file_table(struct verifier *v) {
    const struct csni_gsym *g = v->gsym;
    v->counts->files = g->file_count ? g->file_count - 1 : 0;
    for (uint32_t k = 0; k < g->file_count && !v->stopped; k++) {
        const uint8_t *entry = csni_gsym_file_entry(g, k);
        uint64_t at = (uint64_t)(entry - g->bytes.ptr);
        uint64_t directory = csni_gsym_strp(g, entry), base = csni_gsym_strp(g, entry + g->strp_size);
        if (k == 0 && (directory || base)) {
            csni_fail(&v->err, CSN_E_FORMAT, "file table", at, "file 0 is {0x%llx, 0x%llx}, need {0, 0}", (ull)directory,
                      (ull)base);
            report_problem(v);
        }
        check_strp(v, "file table", at, "directory", directory);
        check_strp(v, "file table", at, "file name", base);
    }
}

/* ---- the directory: what a lookup does not care about ---- */

static uint64_t section_alignment(const struct csni_gsym *gsym, uint32_t type) {
    switch (type) {
    case CSNI_GSYM_SECTION_ADDRESSES: return gsym->address_size;
    case CSNI_GSYM_SECTION_INFOS: return CSNI_GSYM_2_INFO_OFFSET_SIZE;
    case CSNI_GSYM_SECTION_FILES:
    case CSNI_GSYM_SECTION_RECORDS: return CSNI_GSYM_ALIGN;
    default: return 1;
    }
}

static void check_section(struct verifier *v, uint64_t at, const struct csni_gsym_entry *entry) {
    const struct csni_gsym *g = v->gsym;
    if (entry->offset < g->tables_end) {
        csni_fail(&v->err, CSN_E_FORMAT, directory_name, at, "section of type %u at 0x%llx, need >= 0x%llx", entry->type,
                  (ull)entry->offset, (ull)g->tables_end);
        report_problem(v);
    }
    uint64_t align = section_alignment(g, entry->type);
    if (entry->offset % align == 0) return;
    csni_fail(&v->err, CSN_E_FORMAT, directory_name, at, "section of type %u at 0x%llx, need a multiple of %llu",
              entry->type, (ull)entry->offset, (ull)align);
    report_problem(v);
}

/* A section against those of known types before it. A second one of a type takes the place of the first, as it does
 * for lookups. */
static void check_gsym_against(struct verifier *v, uint64_t at, const struct csni_gsym_entry *entry,
                               struct csni_gsym_entry *known) {
    for (uint32_t type = 1; type < CSNI_GSYM_SECTION_KNOWN; type++) {
        const struct csni_gsym_entry *other = &known[type];
        if (!other->size || v->stopped) continue;
        if (type == entry->type) {
            csni_fail(&v->err, CSN_E_FORMAT, directory_name, at, "a second section of type %u, need one", type);
            report_problem(v);
        } else if (entry->offset < other->offset + other->size && other->offset < entry->offset + entry->size) {
            csni_fail(&v->err, CSN_E_FORMAT, directory_name, at, "section of type %u at 0x%llx overlaps that of type %u "
                      "at 0x%llx", entry->type, (ull)entry->offset, type, (ull)other->offset);
            report_problem(v);
        }
    }
    known[entry->type] = *entry;
}

static void check_directory(struct verifier *v) {
    struct csni_gsym_entry known[CSNI_GSYM_SECTION_KNOWN] = { { 0 } }, entry = { 0 };
    uint64_t at = CSNI_GSYM_2_HEADER_SIZE;
    for (uint64_t idx = 0; csni_gsym_directory_entry(v->gsym, idx, &entry, NULL) == CSN_OK && !v->stopped; idx++) {
        check_section(v, at, &entry);
        if (entry.type < CSNI_GSYM_SECTION_KNOWN) check_gsym_against(v, at, &entry, known);
        at += CSNI_GSYM_2_ENTRY_BYTES;
    }
    if (v->stopped || (!entry.offset && !entry.size)) return;
    csni_fail(&v->err, CSN_E_FORMAT, directory_name, at, "end entry holds 0x%llx, 0x%llx, need 0, 0", (ull)entry.offset,
              (ull)entry.size);
    report_problem(v);
}

/* Lookups do not rely on it, but it ought to help them. */
static void check_sample(struct verifier *v) {
    const struct csni_gsym *g = v->gsym;
    for (uint32_t k = 0; k < g->sample_count && !v->stopped; k++) {
        const uint8_t *mark = g->sample + (size_t)k * g->address_size;
        uint64_t offset = csni_get_sized(mark, g->address_size, g->big);
        uint32_t idx = k << g->sample_shift;
        uint64_t need = csni_gsym_address(g, idx) - g->base_address;
        if (offset == need) continue;
        csni_fail(&v->err, CSN_E_FORMAT, "address sample", (uint64_t)(mark - g->bytes.ptr),
                  "entry %u is 0x%llx, need 0x%llx as the address table has for function %u", k, (ull)offset, (ull)need, idx);
        report_problem(v);
    }
}

/* Everything but addresses and records. */
static void check_gsym_tables(struct verifier *v) {
    if (v->gsym->version != CSNI_GSYM_VERSION_1) check_directory(v);
    check_gsym_strings(v);
    check_file_table(v);
    check_sample(v);
}

/* ---- how much is read ---- */

/* Where a few records are made to serve for very many functions, or siblings lead up and down the ranges of their parent,
 * checking would take forever. */
static struct csni_budget budget_for(const struct csni_gsym *gsym) {
    return csni_budget_for((uint64_t)CSNI_GSYM_SHARED_FREE * CSNI_GSYM_SHARED_TIMES, gsym->bytes.size, CSNI_GSYM_SHARED_TIMES);
}

/* Reports, and ends checking, when it takes too long. */
static void charge_steps(struct verifier *v, uint64_t at, uint64_t steps) {
    uint64_t sum = v->budget.spent + steps;
    if (csni_budget_charge(&v->budget, steps)) return;
    csni_fail(&v->err, CSN_E_LIMIT, record_name, at, "records share bytes: 0x%llx read of a file of 0x%zx, need no more "
              "than %d times as many", (ull)sum, v->gsym->bytes.size,
              CSNI_GSYM_SHARED_TIMES);
    report_problem(v);
    v->stopped = true;
}

/* ---- line tables ---- */

static void check_row(struct verifier *v, const struct csni_gsym_record *record, const struct csni_gsym_payload *part,
                      const struct csn_row *row, uint64_t before, bool *reported_order, bool *reported_file) {
    uint64_t end = record->start + record->size;
    if (!*reported_order && (row->addr < before || (record->size && row->addr >= end))) {
        csni_fail(&v->err, CSN_E_FORMAT, record_name, part->offset, "row at 0x%llx, need 0x%llx..0x%llx",
                  (ull)row->addr, (ull)before, (ull)(record->size ? end - 1 : UINT64_MAX));
        report_problem(v);
        *reported_order = true;
    }
    if (!*reported_file && row->file && row->file >= v->gsym->file_count) {
        csni_fail(&v->err, CSN_E_FORMAT, record_name, part->offset, "row at 0x%llx names file %u, need < %u",
                  (ull)row->addr, row->file, v->gsym->file_count);
        report_problem(v);
        *reported_file = true;
    }
}

static void check_consumed(struct verifier *v, const char *what, uint64_t at, uint64_t used, uint64_t size) {
    if (used == size) return;
    csni_fail(&v->err, CSN_E_FORMAT, record_name, at, "%s uses %llu bytes of %llu, need all", what, (ull)used,
              (ull)size);
    report_problem(v);
}

static void check_gsym_lines(struct verifier *v, const struct csni_gsym_record *record,
                             const struct csni_gsym_payload *part) {
    struct csni_gsym_lines lines = { part->bytes, record->start, record_name, part->offset,
                                         part->bytes.ptr + part->bytes.size };
    struct csni_gsym_row_iter iter;
    struct csn_row row;
    uint64_t before = record->start;
    bool reported_order = false, reported_file = false;
    csn_status status = csni_gsym_rows(&iter, &lines, &v->err);
    while (status == CSN_OK && (status = csni_gsym_row_next(&iter, &row, &v->err)) == CSN_OK) {
        v->counts->rows++;
        check_row(v, record, part, &row, before, &reported_order, &reported_file);
        before = row.addr;
    }
    if (status < 0) report_problem(v);
    else check_consumed(v, "line table", part->offset, (uint64_t)(iter.p - iter.begin), part->bytes.size);
}

/* ---- inline trees ---- */

static bool level_contains(struct verifier *v, uint64_t at, struct level *level, struct csn_range range) {
    if (range.start < level->current.start) {
        level->next = level->all;
        level->current = (struct csn_range){ 0, 0 };
    }
    for (; range.start >= level->current.end && level->next.size && !v->stopped; charge_steps(v, at, 1))
        level->current = csni_gsym_range(&level->next, level->base);
    return range.start >= level->current.start && range.end <= level->current.end;
}

/* `parent` is NULL for the root. */
static void check_ranges(struct verifier *v, const struct csni_gsym_record *record, uint64_t at,
                         const struct csni_gsym_node *node, struct level *parent) {
    struct csni_span left = node->ranges;
    uint64_t end = record->start + record->size, before = 0;
    for (uint32_t k = 0; k < node->range_count && !v->stopped; k++) {
        struct csn_range range = csni_gsym_range(&left, node->base);
        if (range.end <= range.start || (k > 0 && range.start <= before)) {
            csni_fail(&v->err, CSN_E_FORMAT, record_name, at, "range %u of an inline node is 0x%llx..0x%llx, need it "
                      "not empty and to start after 0x%llx", k, (ull)range.start, (ull)range.end, (ull)before);
            report_problem(v);
        } else if (parent ? !level_contains(v, at, parent, range)
                          : record->size && (range.start < record->start || range.end > end)) {
            csni_fail(&v->err, CSN_E_FORMAT, record_name, at, "range 0x%llx..0x%llx of an inline node is not within "
                      "%s", (ull)range.start, (ull)range.end, parent ? "a range of its parent" : "the function");
            report_problem(v);
        }
        before = range.end;
    }
}

static void check_gsym_inlines(struct verifier *v, const struct csni_gsym_record *record,
                               const struct csni_gsym_payload *part) {
    struct csni_gsym_inline_iter iter;
    struct csni_gsym_node node;
    uint64_t bases[CSN_INLINE_DEPTH_MAX];
    struct level levels[CSN_INLINE_DEPTH_MAX];
    uint32_t depth;
    csn_status status;
    csni_gsym_nodes(&iter, v->gsym, part);
    bases[0] = record->start;
    while (!v->stopped && (status = csni_gsym_node_next(&iter, bases, &node, &depth, &v->err)) != CSN_NONE) {
        if (status < 0) {
            report_problem(v);
            return;
        }
        uint64_t at = part->offset + (uint64_t)(node.ranges.ptr - part->bytes.ptr);
        v->counts->inline_nodes += depth > 0;
        levels[depth] = (struct level){ node.ranges, node.ranges, node.base, { 0, 0 } };
        check_ranges(v, record, at, &node, depth ? &levels[depth - 1] : NULL);
        check_strp(v, record_name, at, "inline node", node.name);
        if (node.call_file && node.call_file >= v->gsym->file_count) {
            csni_fail(&v->err, CSN_E_FORMAT, record_name, at, "inline node is called from file %u, need < %u",
                      node.call_file, v->gsym->file_count);
            report_problem(v);
        }
    }
    if (v->stopped) return;
    check_consumed(v, "inline tree", part->offset, (uint64_t)(iter.p - iter.begin), part->bytes.size);
}

/* ---- call sites, merged functions, records ---- */

static void check_call_sites(struct verifier *v, const struct csni_gsym_payload *part) {
    struct csni_gsym_list list;
    struct csni_gsym_call_site site;
    csn_status status = csni_gsym_list_open(&list, v->gsym, part, &v->err);
    while (status == CSN_OK && (status = csni_gsym_call_site_next(v->gsym, &list, &site, &v->err)) == CSN_OK) {
        v->counts->call_sites++;
        for (uint32_t k = 0; k < site.pattern_count && !v->stopped; k++) {
            uint64_t at = part->offset + (uint64_t)(site.patterns - part->bytes.ptr) + (uint64_t)k * v->gsym->strp_size;
            check_strp(v, record_name, at, "pattern", csni_gsym_pattern(v->gsym, site.patterns, k));
        }
    }
    if (status < 0) report_problem(v);
    else check_consumed(v, "call sites", part->offset, (uint64_t)(list.p - list.begin), part->bytes.size);
}

static uint64_t check_gsym_record(struct verifier *v, const struct csni_gsym_record *record, bool merged);

static void check_merged(struct verifier *v, const struct csni_gsym_record *record,
                         const struct csni_gsym_payload *part) {
    struct csni_gsym_list list;
    struct csni_gsym_record child;
    csn_status status = csni_gsym_list_open(&list, v->gsym, part, &v->err);
    while (status == CSN_OK && !v->stopped &&
           (status = csni_gsym_merged_next(v->gsym, &list, record->start, &child, &v->err)) == CSN_OK) {
        v->counts->merged_functions++;
        uint64_t used = check_gsym_record(v, &child, true);
        if (used) check_consumed(v, "merged function", child.offset, used, child.bytes.size);
    }
    if (status < 0) report_problem(v);
    else check_consumed(v, "merged functions", part->offset, (uint64_t)(list.p - list.begin), part->bytes.size);
}

static void check_part(struct verifier *v, const struct csni_gsym_record *record, const struct csni_gsym_payload *part,
                       bool merged, uint32_t *seen) {
    /* A type that this version does not know is the format's way to grow, not a problem. */
    bool known = part->type <= CSNI_GSYM_PART_CALL_SITES;
    charge_steps(v, record->offset, CSNI_GSYM_PART_HEADER_SIZE + (known ? part->bytes.size : 0));
    if (!known || v->stopped) return;
    if (*seen & 1u << part->type) {
        csni_fail(&v->err, CSN_E_FORMAT, record_name, part->offset, "a second part of type %u, need one", part->type);
        report_problem(v);
    }
    *seen |= 1u << part->type;
    switch (part->type) {
    case CSNI_GSYM_PART_LINES: check_gsym_lines(v, record, part); break;
    case CSNI_GSYM_PART_INLINE: check_gsym_inlines(v, record, part); break;
    case CSNI_GSYM_PART_CALL_SITES: check_call_sites(v, part); break;
    default:
        if (!merged) {
            check_merged(v, record, part);
            break;
        }
        csni_fail(&v->err, CSN_E_FORMAT, record_name, part->offset, "a merged function holds merged functions");
        report_problem(v);
    }
}

/* The number of bytes of the record; 0 where its end could not be found. */
static uint64_t check_gsym_record(struct verifier *v, const struct csni_gsym_record *record, bool merged) {
    if (record->name == 0) {
        csni_fail(&v->err, CSN_E_FORMAT, record_name, record->offset + CSNI_GSYM_R_NAME, "name 0, need > 0");
        report_problem(v);
    }
    check_strp(v, record_name, record->offset + CSNI_GSYM_R_NAME, "name", record->name);
    if (record->size > UINT64_MAX - record->start) {
        csni_fail(&v->err, CSN_E_FORMAT, record_name, record->offset, "function of 0x%x bytes at 0x%llx ends past "
                  "the last address", record->size, (ull)record->start);
        report_problem(v);
    }
    uint64_t pos = v->gsym->parts_at;
    struct csni_gsym_payload part;
    uint32_t seen = 0, count = 0;
    csn_status status = CSN_OK;
    while (!v->stopped && (status = csni_gsym_part_next(v->gsym, record, &pos, &part, &v->err)) == CSN_OK) {
        if (++count > CSNI_GSYM_PARTS_MAX) {
            status = csni_gsym_fail_parts(record, &v->err);
            break;
        }
        check_part(v, record, &part, merged, &seen);
    }
    if (status < 0) report_problem(v);
    if (status != CSN_NONE) return 0;
    if (part.bytes.size) {
        csni_fail(&v->err, CSN_E_FORMAT, record_name, part.offset, "end mark holds %zu bytes, need 0", part.bytes.size);
        report_problem(v);
    }
    return pos;
}

static void check_gsym_order(struct verifier *v, uint32_t idx) {
    const struct csni_gsym *g = v->gsym;
    if (idx == 0) return;
    uint64_t before = csni_gsym_address(g, idx - 1) - g->base_address;
    uint64_t offset = csni_gsym_address(g, idx) - g->base_address;
    if (offset >= before) return;
    csni_fail(&v->err, CSN_E_FORMAT, "address table",
              (uint64_t)(g->addresses - g->bytes.ptr) + (uint64_t)idx * g->address_size,
              "entry %u is 0x%llx, need >= 0x%llx", idx, (ull)offset, (ull)before);
    report_problem(v);
}

static void check_function(struct verifier *v, uint32_t idx) {
    const struct csni_gsym *g = v->gsym;
    struct csni_gsym_record record;
    v->counts->functions++;
    check_gsym_order(v, idx);
    if (csni_gsym_record(g, idx, &record, &v->err) < 0) {
        report_problem(v);
        return;
    }
    if ((record.offset - g->records_offset) % CSNI_GSYM_ALIGN) {
        csni_fail(&v->err, CSN_E_FORMAT, record_name, record.offset, "record of function %u, need a multiple of %d",
                  idx, CSNI_GSYM_ALIGN);
        report_problem(v);
    }
    uint64_t end = record.offset + check_gsym_record(v, &record, false);
    uint64_t strings_end = g->strings_offset + g->strings.size;
    if (g->version != CSNI_GSYM_VERSION_1) return; /* its records end where their section does */
    if (record.offset < g->tables_end || (record.offset < strings_end && end > g->strings_offset)) {
        csni_fail(&v->err, CSN_E_FORMAT, record_name, record.offset, "record of function %u ends at 0x%llx, need it "
                  "outside the tables (up to 0x%llx) and the strings (0x%llx..0x%llx)", idx, (ull)end,
                  (ull)g->tables_end, (ull)g->strings_offset, (ull)strings_end);
        report_problem(v);
    }
}

csn_status csni_gsym_verify(const struct csni_gsym *gsym, csn_verify_callback *callback, void *context,
                            struct csn_verify_counts *out) {
    struct csn_verify_counts counts = { 0 };
    struct verifier v = { .gsym = gsym, .callback = callback, .context = context, .counts = &counts,
                                    .budget = budget_for(gsym) };
    check_gsym_tables(&v);
    for (uint32_t idx = 0; idx < gsym->address_count && !v.stopped; idx++) check_function(&v, idx);
    *out = counts;
    return CSN_OK;
}
