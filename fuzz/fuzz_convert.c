/* Any bytes as an object file to convert. Invariants: a conversion that works gives an index without a problem that answers
 * at each function's start, whose report counts what is in it; one that fails says so and gives nothing. The threads, and so
 * the portions in which a compressed .debug_info is read, change nothing. An index as input keeps the problems it has, and
 * comes out the same from then on, also by way of version 2 in the other byte order. */
#include <stdlib.h>
#include <string.h>

#include <callsign/convert.h>
#include <callsign/index.h>
#include <callsign/inspect.h>

#include "object/object.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool condition) {
    if (!condition) abort();
}

static void check_index(const struct csn_bytes *bytes, const struct csn_convert_report *report, bool was_index) {
    struct csn_index *index;
    struct csn_index_info info;
    struct csn_verify_counts counts;
    require(csn_index_open_memory(bytes->ptr, bytes->size, NULL, &index, NULL) == CSN_OK);
    require(csn_index_verify(index, NULL, NULL, &counts, NULL) == CSN_OK && (was_index || counts.problems == 0));
    csn_index_get_info(index, &info, sizeof(info));
    require(info.function_count == report->functions_written && info.file_size == report->output_bytes);
    require(counts.rows == report->rows_written && counts.call_sites == report->call_sites_written);
    require(counts.merged_functions == report->functions_merged);
    require(counts.inline_nodes == report->inline_nodes_written);
    for (uint32_t i = 0; i < info.function_count; i++) {
        struct csn_record record;
        struct csn_frame_ref ref;
        require(csn_index_record(index, i, &record, NULL) == CSN_OK);
        csn_status status = csn_index_lookup_refs(index, record.start, CSN_LOOKUP_DEFAULT, &ref, 1, NULL, NULL);
        require(status == CSN_OK || counts.problems > 0);
    }
    csn_index_close(index);
}

static struct csn_bytes again(const struct csn_bytes *bytes, uint32_t format, uint32_t byte_order) {
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    struct csn_bytes out;
    options.threads = 1;
    options.format = format;
    options.byte_order = byte_order;
    require(csn_convert_memory(bytes->ptr, bytes->size, &options, &out, NULL, NULL) == CSN_OK);
    return out;
}

static void check_transcoding(const struct csn_bytes *bytes) {
    uint32_t order = bytes->ptr[0] == 'G' ? CSN_BYTE_ORDER_BIG : CSN_BYTE_ORDER_LITTLE;
    uint32_t other = order == CSN_BYTE_ORDER_BIG ? CSN_BYTE_ORDER_LITTLE : CSN_BYTE_ORDER_BIG;
    struct csn_bytes v2 = again(bytes, CSN_FORMAT_GSYM_V2, other), v1 = again(&v2, CSN_FORMAT_GSYM_V1, order);
    require(v1.size == bytes->size && memcmp(v1.ptr, bytes->ptr, v1.size) == 0);
    csn_bytes_free(&v1);
    csn_bytes_free(&v2);
}

static bool has_compressed_info(const uint8_t *data, size_t size) {
    struct csni_object *object;
    if (csni_object_open((struct csni_span){ data, size }, NULL, &object, NULL) != CSN_OK) return false;
    uint32_t info = csni_object_find_debug_section(object, "info", false);
    bool found = info != CSNI_NO_SECTION && (object->sections[info].flags & CSNI_SECTION_COMPRESSED);
    csni_object_close(object);
    return found;
}

/* With more threads the portions are larger. */
static void check_threads(const uint8_t *data, size_t size, const struct csn_convert_options *options,
                          const struct csn_bytes *want, const struct csn_convert_report *want_report) {
    static struct csn_convert_report report;
    struct csn_convert_options more = *options;
    struct csn_bytes out = { NULL, 0, NULL };
    more.threads = 4;
    require(csn_convert_memory(data, size, &more, &out, &report, NULL) == CSN_OK);
    require(out.size == want->size && memcmp(out.ptr, want->ptr, out.size) == 0);
    require(report.units == want_report->units && report.units_failed == want_report->units_failed);
    require(report.functions_from_dwarf == want_report->functions_from_dwarf);
    csn_bytes_free(&out);
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
    if (status == CSN_OK) {
        check_index(&out, &report, csn_is_index(data, size));
        check_transcoding(&out);
        if (merged == CSN_MERGE_NONE && has_compressed_info(data, size)) check_threads(data, size, &options, &out, &report);
    } else {
        require(status < 0 && err.code == status && err.text[0] && !out.ptr);
    }
    csn_bytes_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    for (uint32_t merged = CSN_MERGE_NONE; merged <= CSN_MERGE_LLVM; merged++) convert(data, size, merged);
    return 0;
}
