/* Looking inside an index: tables, functions, and the iterators over what a function holds. The public iterators are
 * words of the caller's; the readers' own structs are copied into them and out again. */
#include "index/index_private.h"

#include "formats/gsym/gsym_layout.h"

static csn_status beyond(const char *what, uint64_t idx, uint64_t count, struct csn_error *err) {
    return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "%s %llu, need < %llu", what, (unsigned long long)idx,
                     (unsigned long long)count);
}

csn_status csn_index_file(const struct csn_index *index, uint32_t idx, struct csn_str *directory, struct csn_str *base,
                          struct csn_error *err) {
    if (index->other) return index->other->file(index, idx, directory, base, err);
    if (idx >= index->gsym.file_count) return beyond("file", idx, index->gsym.file_count, err);
    csni_gsym_file(&index->gsym, idx, directory, base);
    return CSN_OK;
}

struct csn_str csn_index_string(const struct csn_index *index, uint64_t offset) {
    if (index->other) return index->other->string(index, offset);
    return csni_gsym_string(&index->gsym, offset);
}

/* The directory was checked when the index was opened. */
csn_status csn_index_section(const struct csn_index *index, uint32_t idx, struct csn_section *out,
                             struct csn_error *err) {
    struct csni_gsym_entry entry;
    struct csn_index_info info;
    csn_index_get_info(index, &info);
    if (index->other || info.format != CSN_FORMAT_GSYM_V2) return CSN_NONE;
    /* What follows the closing entry is none. */
    uint64_t count = (index->gsym.tables_end - CSNI_GSYM_2_HEADER_SIZE) / CSNI_GSYM_2_ENTRY_BYTES - 1;
    if (idx >= count) return CSN_NONE;
    CSNI_TRY(csni_gsym_directory_entry(&index->gsym, idx, &entry, err));
    *out = (struct csn_section){ .type = entry.type, .offset = entry.offset, .size = entry.size };
    return CSN_OK;
}

const char *csn_section_type_name(uint32_t type) {
    static const char *const names[CSNI_GSYM_SECTION_KNOWN] = {
        [CSNI_GSYM_SECTION_ADDRESSES] = "address_table", [CSNI_GSYM_SECTION_INFOS] = "record_offsets",
        [CSNI_GSYM_SECTION_STRINGS] = "strings",         [CSNI_GSYM_SECTION_FILES] = "file_table",
        [CSNI_GSYM_SECTION_RECORDS] = "records",         [CSNI_GSYM_SECTION_UUID] = "build_id",
    };
    return type < CSNI_GSYM_SECTION_KNOWN ? names[type] : NULL;
}

/* ---- records ---- */

static struct csn_record to_public(const struct csni_gsym_record *record) {
    return (struct csn_record){ record->bytes.ptr, record->bytes.size, record->start, record->offset };
}

static csn_status from_public(const struct csn_index *index, const struct csn_record *record,
                              struct csni_gsym_record *out, struct csn_error *err) {
    struct csni_span bytes = { record->bytes, (size_t)record->size };
    return csni_gsym_record_at(&index->gsym, bytes, record->offset, record->start, out, err);
}

/* The part of that type; no bytes where there is none. */
static csn_status find_part(const struct csn_index *index, const struct csn_record *record, uint32_t type,
                            struct csni_gsym_payload *out, struct csn_error *err) {
    if (index->other) /* NULL: a format whose functions have no such part */
        return index->other->find_part ? index->other->find_part(index, record, type, out, err) : CSN_NONE;
    struct csni_gsym_record known;
    CSNI_TRY(from_public(index, record, &known, err));
    return csni_gsym_part_find(&index->gsym, &known, type, out, err);
}

csn_status csn_index_record(const struct csn_index *index, uint32_t idx, struct csn_record *out,
                            struct csn_error *err) {
    if (index->other) return index->other->record(index, idx, out, err);
    if (idx >= index->gsym.address_count) return beyond("function", idx, index->gsym.address_count, err);
    struct csni_gsym_record record;
    CSNI_TRY(csni_gsym_record(&index->gsym, idx, &record, err));
    *out = to_public(&record);
    return CSN_OK;
}

csn_status csn_index_function_start(const struct csn_index *index, uint32_t idx, uint64_t *out, struct csn_error *err) {
    if (index->other && !index->other->find_part) { /* not of GSYM's kind */
        struct csn_record record;
        CSNI_TRY(csn_index_record(index, idx, &record, err));
        *out = record.start;
        return CSN_OK;
    }
    if (idx >= index->gsym.address_count) return beyond("function", idx, index->gsym.address_count, err);
    *out = csni_gsym_address(&index->gsym, idx);
    return CSN_OK;
}

csn_status csn_record_function(const struct csn_index *index, const struct csn_record *record, struct csn_function *out,
                               struct csn_error *err) {
    if (index->other) return index->other->function(index, record, out, err);
    struct csni_gsym_record known;
    CSNI_TRY(from_public(index, record, &known, err));
    struct csn_function function = { .start = known.start, .size = known.size,
                                     .name = csni_gsym_string(&index->gsym, known.name),
                                     .record_offset = known.offset };
    uint64_t pos = index->gsym.parts_at;
    struct csni_gsym_payload part;
    csn_status status;
    uint32_t count = 0;
    while ((status = csni_gsym_part_next(&index->gsym, &known, &pos, &part, err)) == CSN_OK) {
        if (++count > CSNI_GSYM_PARTS_MAX) return csni_gsym_fail_parts(&known, err);
        switch (part.type) {
        case CSNI_GSYM_PART_LINES: function.has_lines = 1; break;
        case CSNI_GSYM_PART_INLINE: function.has_inlines = 1; break;
        case CSNI_GSYM_PART_MERGED: function.has_merged = 1; break;
        case CSNI_GSYM_PART_CALL_SITES: function.has_call_sites = 1; break;
        default: function.unknown_parts++;
        }
    }
    if (status < 0) return status;
    *out = function;
    return CSN_OK;
}

csn_status csn_index_function(const struct csn_index *index, uint32_t idx, struct csn_function *out,
                              struct csn_error *err) {
    struct csn_record record;
    CSNI_TRY(csn_index_record(index, idx, &record, err));
    return csn_record_function(index, &record, out, err);
}

/* ---- rows ---- */

csn_status csn_row_iter_init(struct csn_row_iter *iter, const struct csn_index *index, const struct csn_record *record,
                             struct csn_error *err) {
    if (index->other && index->other->rows) return index->other->rows(iter, index, record, err);
    struct csni_gsym_payload part;
    struct csni_gsym_row_iter rows = { .done = true };
    csn_status status = find_part(index, record, CSNI_GSYM_PART_LINES, &part, err);
    if (status == CSN_OK) {
        struct csni_gsym_lines lines = { part.bytes, record->start, "FunctionInfo", part.offset,
                                         part.bytes.ptr + part.bytes.size };
        status = csni_gsym_rows(&rows, &lines, err);
        rows.file_bias = index->gsym.file_bias;
    }
    if (status < 0) return status;
    _Static_assert(sizeof rows <= sizeof iter->state, "csn_row_iter is too small");
    memcpy(iter->state, &rows, sizeof rows);
    return CSN_OK;
}

csn_status csn_row_iter_next(struct csn_row_iter *iter, struct csn_row *out, struct csn_error *err) {
    struct csni_gsym_row_iter rows;
    memcpy(&rows, iter->state, sizeof rows);
    csn_status status = csni_gsym_row_next(&rows, out, err);
    memcpy(iter->state, &rows, sizeof rows);
    return status;
}

/* ---- inline nodes ---- */

struct inline_state {
    struct csni_gsym_inline_iter nodes;
    const struct csni_gsym *gsym;
};

csn_status csn_inline_iter_init(struct csn_inline_iter *iter, const struct csn_index *index,
                                const struct csn_record *record, struct csn_error *err) {
    if (index->other && index->other->inlines) return index->other->inlines(iter, index, record, err);
    struct csni_gsym_payload part;
    struct inline_state state = { .nodes = { .done = true }, .gsym = &index->gsym };
    csn_status status = find_part(index, record, CSNI_GSYM_PART_INLINE, &part, err);
    if (status < 0) return status;
    if (status == CSN_OK) csni_gsym_nodes(&state.nodes, &index->gsym, &part);
    _Static_assert(sizeof state <= sizeof iter->state, "csn_inline_iter is too small");
    memcpy(iter->state, &state, sizeof state);
    iter->bases[0] = record->start;
    return CSN_OK;
}

/* What csn_inline_node_range() needs: `next` is what is left from range `idx` on. */
struct range_state {
    struct csni_span all, next;
    uint64_t base;
    uint64_t idx;
};

csn_status csn_inline_iter_next(struct csn_inline_iter *iter, struct csn_inline_node *out, struct csn_error *err) {
    struct inline_state state;
    struct csni_gsym_node node;
    uint32_t depth;
    memcpy(&state, iter->state, sizeof state);
    csn_status status = csni_gsym_node_next(&state.nodes, iter->bases, &node, &depth, err);
    memcpy(iter->state, &state, sizeof state);
    if (status != CSN_OK) return status;
    struct range_state ranges = { node.ranges, node.ranges, node.base, 0 };
    *out = (struct csn_inline_node){ .name = csni_gsym_string(state.gsym, node.name), .depth = depth,
                                     .call_file = node.call_file, .call_line = node.call_line,
                                     .range_count = node.range_count };
    _Static_assert(sizeof ranges <= sizeof out->ranges, "csn_inline_node is too small");
    memcpy(out->ranges, &ranges, sizeof ranges);
    return CSN_OK;
}

csn_status csn_inline_node_range(struct csn_inline_node *node, uint32_t k, struct csn_range *out,
                                 struct csn_error *err) {
    if (k >= node->range_count) return beyond("range", k, node->range_count, err);
    struct range_state ranges;
    memcpy(&ranges, node->ranges, sizeof ranges);
    if (k < ranges.idx) {
        ranges.next = ranges.all;
        ranges.idx = 0;
    }
    for (; ranges.idx <= k; ranges.idx++) *out = csni_gsym_range(&ranges.next, ranges.base);
    memcpy(node->ranges, &ranges, sizeof ranges);
    return CSN_OK;
}

/* ---- call sites and merged functions ---- */

struct list_state {
    struct csni_gsym_list list;
    const struct csni_gsym *gsym;
    uint64_t start;
};

static csn_status open_list(uint64_t *words, size_t size, const struct csn_index *index,
                            const struct csn_record *record, uint32_t type, struct csn_error *err) {
    struct csni_gsym_payload part;
    struct list_state state = { .list = { .left = 0 }, .gsym = &index->gsym, .start = record->start };
    csn_status status = find_part(index, record, type, &part, err);
    if (status == CSN_OK) status = csni_gsym_list_open(&state.list, &index->gsym, &part, err);
    if (status < 0) return status;
    memcpy(words, &state, sizeof state <= size ? sizeof state : size);
    return CSN_OK;
}

csn_status csn_call_site_iter_init(struct csn_call_site_iter *iter, const struct csn_index *index,
                                   const struct csn_record *record, struct csn_error *err) {
    if (index->other && index->other->call_sites) return index->other->call_sites(iter, index, record, err);
    _Static_assert(sizeof(struct list_state) <= sizeof iter->state, "csn_call_site_iter is too small");
    return open_list(iter->state, sizeof iter->state, index, record, CSNI_GSYM_PART_CALL_SITES, err);
}

csn_status csn_call_site_iter_next(struct csn_call_site_iter *iter, struct csn_call_site *out, struct csn_error *err) {
    struct list_state state;
    struct csni_gsym_call_site site;
    memcpy(&state, iter->state, sizeof state);
    csn_status status = csni_gsym_call_site_next(state.gsym, &state.list, &site, err);
    memcpy(iter->state, &state, sizeof state);
    if (status != CSN_OK) return status;
    *out = (struct csn_call_site){ .return_offset = site.return_offset, .flags = site.flags,
                                   .pattern_count = site.pattern_count };
    memcpy(out->patterns, &site.patterns, sizeof site.patterns);
    return CSN_OK;
}

csn_status csn_call_site_pattern(const struct csn_index *index, const struct csn_call_site *site, uint32_t k,
                                 struct csn_str *out, struct csn_error *err) {
    if (k >= site->pattern_count) return beyond("pattern", k, site->pattern_count, err);
    const uint8_t *patterns;
    memcpy(&patterns, site->patterns, sizeof patterns);
    *out = csni_gsym_string(&index->gsym, csni_gsym_pattern(&index->gsym, patterns, k));
    return CSN_OK;
}

csn_status csn_merged_iter_init(struct csn_merged_iter *iter, const struct csn_index *index,
                                const struct csn_record *record, struct csn_error *err) {
    if (index->other && index->other->merged) return index->other->merged(iter, index, record, err);
    _Static_assert(sizeof(struct list_state) <= sizeof iter->state, "csn_merged_iter is too small");
    return open_list(iter->state, sizeof iter->state, index, record, CSNI_GSYM_PART_MERGED, err);
}

csn_status csn_merged_iter_next(struct csn_merged_iter *iter, struct csn_record *out, struct csn_error *err) {
    struct list_state state;
    struct csni_gsym_record record;
    memcpy(&state, iter->state, sizeof state);
    csn_status status = csni_gsym_merged_next(state.gsym, &state.list, state.start, &record, err);
    memcpy(iter->state, &state, sizeof state);
    if (status != CSN_OK) return status;
    *out = to_public(&record);
    return CSN_OK;
}

csn_status csn_index_verify(const struct csn_index *index, csn_verify_callback *callback, void *context,
                            struct csn_verify_counts *out, struct csn_error *err) {
    if (!out) return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "csn_index_verify without room for the counts");
    if (index->other) return index->other->verify(index, callback, context, out, err);
    return csni_gsym_verify(&index->gsym, callback, context, out);
}
