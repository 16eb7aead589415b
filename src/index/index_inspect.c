/* Looking inside an index: tables, functions, and the iterators over what a function holds. The public iterators are
 * words of the caller's; the readers' own structs are copied into them and out again. */
#include "index/index_private.h"

#include "formats/gsym/gsym_layout.h"

csn_status csn_index_file(const struct csn_index *index, uint32_t idx, struct csn_str *directory, struct csn_str *base,
                          struct csn_error *err) {
    return index->format->file(index, idx, directory, base, err);
}

struct csn_str csn_index_string(const struct csn_index *index, uint64_t offset) {
    return index->format->string(index, offset);
}

csn_status csn_index_section(const struct csn_index *index, uint32_t idx, struct csn_section *out,
                             struct csn_error *err) {
    return index->format->section ? index->format->section(index, idx, out, err) : CSN_NONE;
}

const char *csn_section_type_name(uint32_t type) {
    static const char *const names[CSNI_GSYM_SECTION_KNOWN] = {
        [CSNI_GSYM_SECTION_ADDRESSES] = "address_table", [CSNI_GSYM_SECTION_INFOS] = "record_offsets",
        [CSNI_GSYM_SECTION_STRINGS] = "strings",         [CSNI_GSYM_SECTION_FILES] = "file_table",
        [CSNI_GSYM_SECTION_RECORDS] = "records",         [CSNI_GSYM_SECTION_UUID] = "build_id",
    };
    if (type == CSNI_GSYM_SECTION_ACCEL) return "accelerator";
    return type < CSNI_GSYM_SECTION_KNOWN ? names[type] : NULL;
}

/* ---- records ---- */

csn_status csn_index_record(const struct csn_index *index, uint32_t idx, struct csn_record *out,
                            struct csn_error *err) {
    return index->format->record(index, idx, out, err);
}

csn_status csn_index_function_start(const struct csn_index *index, uint32_t idx, uint64_t *out, struct csn_error *err) {
    return index->format->function_start(index, idx, out, err);
}

csn_status csn_record_function(const struct csn_index *index, const struct csn_record *record, struct csn_function *out,
                               struct csn_error *err) {
    return index->format->function(index, record, out, err);
}

csn_status csn_index_function(const struct csn_index *index, uint32_t idx, struct csn_function *out,
                              struct csn_error *err) {
    struct csn_record record;
    CSNI_TRY(csn_index_record(index, idx, &record, err));
    return csn_record_function(index, &record, out, err);
}

/* The part of that type; CSN_NONE: the function has none. */
static csn_status find_part(const struct csn_index *index, const struct csn_record *record, uint32_t type,
                            struct csni_gsym_payload *out, struct csn_error *err) {
    return index->format->find_part ? index->format->find_part(index, record, type, out, err) : CSN_NONE;
}

/* ---- rows ---- */

csn_status csn_row_iter_init(struct csn_row_iter *iter, const struct csn_index *index, const struct csn_record *record,
                             struct csn_error *err) {
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
    const struct csn_index *index;
};

csn_status csn_inline_iter_init(struct csn_inline_iter *iter, const struct csn_index *index,
                                const struct csn_record *record, struct csn_error *err) {
    struct csni_gsym_payload part;
    struct inline_state state = { .nodes = { .done = true }, .index = index };
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
    *out = (struct csn_inline_node){ .name = csn_index_string(state.index, node.name), .depth = depth,
                                     .call_file = node.call_file, .call_line = node.call_line,
                                     .range_count = node.range_count };
    _Static_assert(sizeof ranges <= sizeof out->ranges, "csn_inline_node is too small");
    memcpy(out->ranges, &ranges, sizeof ranges);
    return CSN_OK;
}

csn_status csn_inline_node_range(struct csn_inline_node *node, uint32_t k, struct csn_range *out,
                                 struct csn_error *err) {
    if (k >= node->range_count) return csni_index_fail_beyond("range", k, node->range_count, err);
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
    if (k >= site->pattern_count) return csni_index_fail_beyond("pattern", k, site->pattern_count, err);
    const uint8_t *patterns;
    memcpy(&patterns, site->patterns, sizeof patterns);
    *out = csn_index_string(index, csni_gsym_pattern(&index->gsym, patterns, k));
    return CSN_OK;
}

csn_status csn_merged_iter_init(struct csn_merged_iter *iter, const struct csn_index *index,
                                const struct csn_record *record, struct csn_error *err) {
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
    *out = csni_index_public_record(&record);
    return CSN_OK;
}

csn_status csn_index_verify(const struct csn_index *index, csn_verify_callback *callback, void *context,
                            struct csn_verify_counts *out, struct csn_error *err) {
    if (!out) return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "csn_index_verify without room for the counts");
    return index->format->verify(index, callback, context, out, err);
}

/* ---- binaries ---- */

csn_status csn_index_binary(const struct csn_index *index, uint32_t idx, void *scratch, size_t size,
                            struct csn_binary *out, size_t *out_need, struct csn_error *err) {
    if (!index->format->binaries) return csni_index_fail_beyond("binary", idx, 0, err);
    return index->format->binaries->binary(index, idx, scratch, size, out, out_need, err);
}

csn_status csn_index_alias(const struct csn_index *index, uint32_t idx, void *scratch, size_t size, struct csn_str *out,
                           uint32_t *out_binary, size_t *out_need, struct csn_error *err) {
    if (!index->format->binaries) return csni_index_fail_beyond("alias", idx, 0, err);
    return index->format->binaries->alias(index, idx, scratch, size, out, out_binary, out_need, err);
}

csn_status csn_index_find_binary(const struct csn_index *index, struct csn_str name, uint32_t *out_idx,
                                 uint32_t *out_match, struct csn_error *err) {
    (void)err;
    return index->format->binaries ? index->format->binaries->find(index, name, out_idx, out_match) : CSN_NONE;
}

csn_status csn_index_lookup_in_binary(const struct csn_index *index, uint32_t binary, uint64_t offset,
                                      struct csn_frame_ref *frames, size_t cap, struct csn_lookup *out,
                                      struct csn_error *err) {
    if (!index->format->binaries) return csni_index_fail_beyond("binary", binary, 0, err);
    return index->format->binaries->lookup(index, binary, offset, frames, cap, out, err);
}

csn_status csn_index_lookup_in_named_binary(const struct csn_index *index, struct csn_str name, uint64_t offset,
                                            struct csn_frame_ref *frames, size_t cap, struct csn_lookup *out,
                                            struct csn_error *err) {
    uint32_t binary, match;
    csn_status status = csn_index_find_binary(index, name, &binary, &match, err);
    if (status == CSN_OK) return csn_index_lookup_in_binary(index, binary, offset, frames, cap, out, err);
    if (status == CSN_NONE) *out = (struct csn_lookup){ .reason = CSN_REASON_NO_BINARY };
    return status;
}
