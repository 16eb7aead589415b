/* Whether a record can be read to its end, and every string that it names lies in its table. */
#include "index/index_gsym.h"

#include "formats/gsym/gsym_layout.h"

static const char record_name[] = "FunctionInfo";

csn_status csn_record_check(const struct csn_index *index, const struct csn_record *record, struct csn_error *err) {
    return index->format->check(index, record, err);
}

static csn_status check_strp(const struct csn_index *index, uint64_t at, const char *what, uint64_t strp, struct csn_error *err) {
    const size_t size = index->gsym.strings.size;
    if (strp < size || (!strp && !size)) return CSN_OK;
    return csni_fail(err, CSN_E_FORMAT, record_name, at, "%s: string 0x%llx, need < 0x%zx", what, (unsigned long long)strp, size);
}

static csn_status check_file(const struct csn_index *index, uint64_t at, uint32_t file, struct csn_error *err) {
    const struct csni_gsym *gsym = &index->gsym;
    const bool is_section = index->format == &csni_index_gsection;
    if (!file) return CSN_OK;
    if (file >= gsym->file_count)
        return csni_fail(err, CSN_E_FORMAT, record_name, at, "file %u, need < %u", file, gsym->file_count);
    const uint8_t *entry = is_section ? csni_gsection_file_entry(&index->section, file) : csni_gsym_file_entry(gsym, file);
    CSNI_TRY(check_strp(index, at, "directory", csni_gsym_strp(gsym, entry), err));
    return check_strp(index, at, "file name", csni_gsym_strp(gsym, entry + gsym->strp_size), err);
}

static csn_status check_rows(const struct csn_index *index, const struct csn_record *record, struct csn_error *err) {
    struct csn_row_iter iter;
    struct csn_row row;
    uint32_t file = 0;
    CSNI_TRY(csn_row_iter_init(&iter, index, record, err));
    csn_status status;
    while ((status = csn_row_iter_next(&iter, &row, err)) == CSN_OK) {
        if (row.file != file) CSNI_TRY(check_file(index, record->offset, row.file, err));
        file = row.file;
    }
    return status < 0 ? status : CSN_OK;
}

/* A section of 2017 may name files of inlined calls that its table lacks, which is a habit of its tools. */
static csn_status check_inlines(const struct csn_index *index, const struct csn_record *record, struct csn_error *err) {
    struct csni_gsym_payload part;
    struct csni_gsym_inline_iter iter;
    struct csni_gsym_node node;
    uint64_t bases[CSN_INLINE_DEPTH_MAX] = { record->start };
    uint32_t depth;
    csn_status status = index->format->find_part(index, record, CSNI_GSYM_PART_INLINE, &part, err);
    if (status != CSN_OK) return status < 0 ? status : CSN_OK;
    csni_gsym_nodes(&iter, &index->gsym, &part);
    while ((status = csni_gsym_node_next(&iter, bases, &node, &depth, err)) == CSN_OK) {
        const bool is_habit = index->format == &csni_index_gsection && node.call_file >= index->gsym.file_count;
        CSNI_TRY(check_strp(index, part.offset, "name of an inlined call", node.name, err));
        if (!is_habit) CSNI_TRY(check_file(index, part.offset, node.call_file, err));
    }
    return status < 0 ? status : CSN_OK;
}

static csn_status check_sites(const struct csn_index *index, const struct csn_record *record, struct csn_error *err) {
    struct csni_gsym_payload part;
    struct csni_gsym_list list;
    struct csni_gsym_call_site site;
    csn_status status = index->format->find_part(index, record, CSNI_GSYM_PART_CALL_SITES, &part, err);
    if (status != CSN_OK) return status < 0 ? status : CSN_OK;
    CSNI_TRY(csni_gsym_list_open(&list, &index->gsym, &part, err));
    while ((status = csni_gsym_call_site_next(&index->gsym, &list, &site, err)) == CSN_OK)
        for (uint32_t k = 0; k < site.pattern_count; k++)
            CSNI_TRY(check_strp(index, part.offset, "pattern", csni_gsym_pattern(&index->gsym, site.patterns, k), err));
    return status < 0 ? status : CSN_OK;
}

static csn_status check_alone(const struct csn_index *index, const struct csn_record *record, struct csn_error *err) {
    struct csni_gsym_record known;
    struct csn_function function;
    CSNI_TRY(csn_record_function(index, record, &function, err));
    CSNI_TRY(csni_index_gsym_record(index, record, &known, err));
    CSNI_TRY(check_strp(index, record->offset + CSNI_GSYM_R_NAME, "name", known.name, err));
    CSNI_TRY(check_rows(index, record, err));
    CSNI_TRY(check_inlines(index, record, err));
    return check_sites(index, record, err);
}

/* Functions merged into it have none themselves. */
csn_status csni_index_gsym_check(const struct csn_index *index, const struct csn_record *record, struct csn_error *err) {
    struct csn_merged_iter iter;
    struct csn_record child;
    CSNI_TRY(check_alone(index, record, err));
    CSNI_TRY(csn_merged_iter_init(&iter, index, record, err));
    csn_status status;
    while ((status = csn_merged_iter_next(&iter, &child, err)) == CSN_OK) CSNI_TRY(check_alone(index, &child, err));
    return status < 0 ? status : CSN_OK;
}
