/* Any bytes as an object file to convert. Invariants: a conversion that works gives an index without a problem that answers
 * at each function's start, whose report counts what is in it; one that fails says so and gives nothing. */
#include <stdlib.h>

#include <callsign/convert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
    if (!condition) abort();
}

static void check_index(const struct csn_bytes *bytes, const struct csn_convert_report *report) {
    struct csn_index *index;
    struct csn_index_info info;
    struct csn_verify_counts counts;
    require(csn_index_open_memory(bytes->ptr, bytes->size, NULL, &index, NULL) == CSN_OK);
    require(csn_index_verify(index, NULL, NULL, &counts, NULL) == CSN_OK && counts.problems == 0);
    csn_index_get_info(index, &info);
    require(info.function_count == report->functions_written && info.file_size == report->output_bytes);
    require(counts.rows == report->rows_written && counts.call_sites == report->call_sites_written);
    require(counts.merged_functions == report->functions_merged);
    require(counts.inline_nodes >= report->inline_nodes_written);
    for (uint32_t i = 0; i < info.function_count; i++) {
        struct csn_record record;
        struct csn_frame_ref ref;
        require(csn_index_record(index, i, &record, NULL) == CSN_OK);
        require(csn_index_lookup_refs(index, record.start, CSN_LOOKUP_DEFAULT, &ref, 1, NULL, NULL) == CSN_OK);
    }
    csn_index_close(index);
}

static void convert(const uint8_t *data, size_t size, uint32_t merged) {
    static struct csn_convert_report report;
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    struct csn_bytes out = { NULL, 0, NULL };
    struct csn_error err = CSN_ERROR_INIT;
    options.threads = 1;
    options.flags = CSN_CONVERT_CALL_SITES;
    options.merged_functions = merged;
    options.max_decompressed_bytes = 16 << 20;
    csn_status status = csn_convert_memory(data, size, &options, &out, &report, &err);
    if (status == CSN_OK) check_index(&out, &report);
    else require(status < 0 && err.code == status && err.text[0] && !out.ptr);
    csn_bytes_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    for (uint32_t merged = CSN_MERGE_NONE; merged <= CSN_MERGE_LLVM; merged++) convert(data, size, merged);
    return 0;
}
