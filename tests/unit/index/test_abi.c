/* What programs built against an earlier header rely on: sizes and offsets of public structs (on 64-bit machines), and
 * numbers. A failure here means: not compatible, make a new major version, or find another way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <callsign/callsign.h>

struct number {
    const char *what;
    uint64_t is, want;
};

#define SIZE(type, want) { "sizeof(struct " #type ")", sizeof(struct type), want }
#define AT(type, field, want) { "offsetof(struct " #type ", " #field ")", offsetof(struct type, field), want }

static const struct number layout[] = {
    SIZE(csn_error, 272), AT(csn_error, code, 0), AT(csn_error, os_error, 4), AT(csn_error, offset, 8),
        AT(csn_error, section, 16), AT(csn_error, text, 40),
    SIZE(csn_str, 16), AT(csn_str, ptr, 0), AT(csn_str, len, 8),
    SIZE(csn_allocator, 32), AT(csn_allocator, alloc, 0), AT(csn_allocator, realloc, 8), AT(csn_allocator, free, 16),
        AT(csn_allocator, context, 24),
    SIZE(csn_index_options, 48), AT(csn_index_options, struct_size, 0), AT(csn_index_options, allocator, 8),
        AT(csn_index_options, accelerator_bytes, 16), AT(csn_index_options, arch, 24),
    SIZE(csn_index_info, 128), AT(csn_index_info, format, 0), AT(csn_index_info, big_endian, 4),
        AT(csn_index_info, address_size, 5), AT(csn_index_info, uuid_size, 6), AT(csn_index_info, revision, 7),
        AT(csn_index_info, base_address, 8), AT(csn_index_info, file_size, 16),
        AT(csn_index_info, function_count, 24), AT(csn_index_info, file_count, 28),
        AT(csn_index_info, string_bytes, 32), AT(csn_index_info, uuid, 40), AT(csn_index_info, uuid_bytes, 72),
        AT(csn_index_info, accelerator_bytes, 80), AT(csn_index_info, unaccelerated_functions, 88),
        AT(csn_index_info, address_sample_count, 92), AT(csn_index_info, format_version, 96),
        AT(csn_index_info, binary_count, 100), AT(csn_index_info, alias_count, 104),
        AT(csn_index_info, image_checksum, 108), AT(csn_index_info, member_count, 112),
        AT(csn_index_info, stored_accelerator_bytes, 120),
    SIZE(csn_frame, 72), AT(csn_frame, name, 0), AT(csn_frame, directory, 16), AT(csn_frame, base, 32),
        AT(csn_frame, offset, 48), AT(csn_frame, line, 56), AT(csn_frame, flags, 60), AT(csn_frame, reason, 64),
        AT(csn_frame, reserved, 68),
    SIZE(csn_frame_ref, 32), AT(csn_frame_ref, name, 0), AT(csn_frame_ref, offset, 8), AT(csn_frame_ref, file, 16),
        AT(csn_frame_ref, line, 20), AT(csn_frame_ref, flags, 24), AT(csn_frame_ref, reason, 28),
    SIZE(csn_lookup, 48), AT(csn_lookup, function_start, 0), AT(csn_lookup, function_size, 8),
        AT(csn_lookup, function_index, 16), AT(csn_lookup, reason, 20), AT(csn_lookup, frame_count, 24),
        AT(csn_lookup, binary, 32), AT(csn_lookup, reserved, 40),
    SIZE(csn_binary, 56), AT(csn_binary, name, 0), AT(csn_binary, address, 16), AT(csn_binary, size, 24),
        AT(csn_binary, first_function, 32), AT(csn_binary, function_count, 36), AT(csn_binary, reserved, 40),
    SIZE(csn_batch_answer, 64), AT(csn_batch_answer, found, 0), AT(csn_batch_answer, first_frame, 48),
        AT(csn_batch_answer, status, 56), AT(csn_batch_answer, reserved, 60),
    SIZE(csn_function, 64), AT(csn_function, start, 0), AT(csn_function, size, 8), AT(csn_function, name, 16),
        AT(csn_function, record_offset, 32), AT(csn_function, has_lines, 40), AT(csn_function, has_inlines, 41),
        AT(csn_function, has_merged, 42), AT(csn_function, has_call_sites, 43), AT(csn_function, unknown_parts, 44),
        AT(csn_function, binary, 48), AT(csn_function, record_size, 56),
    SIZE(csn_record, 32), AT(csn_record, bytes, 0), AT(csn_record, size, 8), AT(csn_record, start, 16),
        AT(csn_record, offset, 24),
    SIZE(csn_row, 16), AT(csn_row, addr, 0), AT(csn_row, file, 8), AT(csn_row, line, 12),
    SIZE(csn_row_iter, 80), AT(csn_row_iter, state, 0),
    SIZE(csn_range, 16), AT(csn_range, start, 0), AT(csn_range, end, 8),
    SIZE(csn_inline_node, 96), AT(csn_inline_node, name, 0), AT(csn_inline_node, depth, 16),
        AT(csn_inline_node, call_file, 20), AT(csn_inline_node, call_line, 24), AT(csn_inline_node, range_count, 28),
        AT(csn_inline_node, ranges, 32), AT(csn_inline_node, reserved, 80),
    SIZE(csn_inline_iter, 4160), AT(csn_inline_iter, state, 0), AT(csn_inline_iter, bases, 64),
    SIZE(csn_call_site, 48), AT(csn_call_site, return_offset, 0), AT(csn_call_site, flags, 8),
        AT(csn_call_site, pattern_count, 12), AT(csn_call_site, patterns, 16),
        AT(csn_call_site, reserved, 40),
    SIZE(csn_call_site_iter, 64), AT(csn_call_site_iter, state, 0),
    SIZE(csn_merged_iter, 64), AT(csn_merged_iter, state, 0),
    SIZE(csn_verify_counts, 96), AT(csn_verify_counts, functions, 0), AT(csn_verify_counts, rows, 8),
        AT(csn_verify_counts, inline_nodes, 16), AT(csn_verify_counts, call_sites, 24),
        AT(csn_verify_counts, merged_functions, 32), AT(csn_verify_counts, files, 40),
        AT(csn_verify_counts, strings, 48), AT(csn_verify_counts, problems, 56), AT(csn_verify_counts, reserved, 64),
    SIZE(csn_function_stats, 200), AT(csn_function_stats, function, 0), AT(csn_function_stats, idx, 64),
        AT(csn_function_stats, file, 68), AT(csn_function_stats, record_bytes, 72), AT(csn_function_stats, line_bytes, 80),
        AT(csn_function_stats, inline_bytes, 88), AT(csn_function_stats, merged_bytes, 96),
        AT(csn_function_stats, call_site_bytes, 104), AT(csn_function_stats, rows, 112),
        AT(csn_function_stats, inline_nodes, 120), AT(csn_function_stats, call_sites, 128),
        AT(csn_function_stats, merged_functions, 136), AT(csn_function_stats, code_bytes, 144),
        AT(csn_function_stats, code_bytes_with_lines, 152), AT(csn_function_stats, code_bytes_inlined, 160),
        AT(csn_function_stats, damaged, 168), AT(csn_function_stats, reserved, 176),
    SIZE(csn_stats_sums, 320), AT(csn_stats_sums, file_size, 0), AT(csn_stats_sums, part_bytes, 8),
        AT(csn_stats_sums, functions, 200), AT(csn_stats_sums, damaged_functions, 208), AT(csn_stats_sums, rows, 216),
        AT(csn_stats_sums, inline_nodes, 224), AT(csn_stats_sums, call_sites, 232),
        AT(csn_stats_sums, merged_functions, 240), AT(csn_stats_sums, code_bytes, 248),
        AT(csn_stats_sums, code_bytes_with_lines, 256), AT(csn_stats_sums, code_bytes_inlined, 264),
        AT(csn_stats_sums, reserved, 272),
    SIZE(csn_builder_options, 48), AT(csn_builder_options, struct_size, 0), AT(csn_builder_options, allocator, 8),
        AT(csn_builder_options, base_address, 16), AT(csn_builder_options, uuid, 24),
        AT(csn_builder_options, uuid_size, 32), AT(csn_builder_options, has_base_address, 40),
        AT(csn_builder_options, big_endian, 41), AT(csn_builder_options, reserved, 42), AT(csn_builder_options, format, 44),
    SIZE(csn_bytes, 24), AT(csn_bytes, ptr, 0), AT(csn_bytes, size, 8), AT(csn_bytes, allocator, 16),
    SIZE(csn_convert_options, 160), AT(csn_convert_options, struct_size, 0), AT(csn_convert_options, allocator, 8),
        AT(csn_convert_options, threads, 16), AT(csn_convert_options, flags, 20),
        AT(csn_convert_options, max_decompressed_bytes, 24), AT(csn_convert_options, progress, 32),
        AT(csn_convert_options, progress_context, 40), AT(csn_convert_options, resolver, 48),
        AT(csn_convert_options, resolver_context, 56), AT(csn_convert_options, arch, 64),
        AT(csn_convert_options, call_site_files, 72), AT(csn_convert_options, call_site_file_count, 80),
        AT(csn_convert_options, merged_functions, 88), AT(csn_convert_options, byte_order, 92),
        AT(csn_convert_options, rename, 96), AT(csn_convert_options, rename_context, 104),
        AT(csn_convert_options, format, 112), AT(csn_convert_options, reserved, 116),
        AT(csn_convert_options, gsym, 120), AT(csn_convert_options, gsection, 128),
        AT(csn_convert_options, bsym, 136), AT(csn_convert_options, breakpad, 144),
        AT(csn_convert_options, input, 152),
    SIZE(csn_gsym_options, 16), AT(csn_gsym_options, struct_size, 0), AT(csn_gsym_options, segment_size, 8),
    SIZE(csn_gsection_options, 24), AT(csn_gsection_options, struct_size, 0), AT(csn_gsection_options, strings_in, 8),
        AT(csn_gsection_options, revision, 16),
    SIZE(csn_bsym_options, 16), AT(csn_bsym_options, struct_size, 0), AT(csn_bsym_options, version, 8),
        AT(csn_bsym_options, tokens, 12),
    SIZE(csn_breakpad_options, 16), AT(csn_breakpad_options, struct_size, 0),
        AT(csn_breakpad_options, keep_mangled, 8),
    SIZE(csn_call_site_file, 24), AT(csn_call_site_file, name, 0), AT(csn_call_site_file, bytes, 8),
        AT(csn_call_site_file, size, 16),
    SIZE(csn_image_info, 64), AT(csn_image_info, arch, 0), AT(csn_image_info, offset, 16), AT(csn_image_info, size, 24),
    SIZE(csn_profile_place, 40), AT(csn_profile_place, module, 0), AT(csn_profile_place, kind, 4), AT(csn_profile_place, value, 8),
        AT(csn_profile_place, frame_count, 16), AT(csn_profile_place, is_undecided, 20), AT(csn_profile_place, reserved, 24),
    SIZE(csn_profile_frame, 80), AT(csn_profile_frame, function, 0), AT(csn_profile_frame, stored_name, 16),
        AT(csn_profile_frame, file, 32), AT(csn_profile_frame, line, 48), AT(csn_profile_frame, column, 52),
        AT(csn_profile_frame, function_line, 56), AT(csn_profile_frame, inlined, 60), AT(csn_profile_frame, reserved, 64),
    SIZE(csn_profile_label, 72), AT(csn_profile_label, key, 0), AT(csn_profile_label, text, 16), AT(csn_profile_label, unit, 32),
        AT(csn_profile_label, number, 48), AT(csn_profile_label, reserved, 56),
    SIZE(csn_companion_request, 88), AT(csn_companion_request, struct_size, 0), AT(csn_companion_request, kind, 8),
        AT(csn_companion_request, crc, 12), AT(csn_companion_request, has_crc, 16),
        AT(csn_companion_request, has_debug_info, 17), AT(csn_companion_request, skip, 20),
        AT(csn_companion_request, image_path, 24), AT(csn_companion_request, id, 32),
        AT(csn_companion_request, id_size, 40), AT(csn_companion_request, name, 48),
        AT(csn_companion_request, directory, 56), AT(csn_companion_request, dwo_id, 64),
        AT(csn_companion_request, modified, 72), AT(csn_companion_request, id_age, 80),
    SIZE(csn_companion, 56), AT(csn_companion, bytes, 0), AT(csn_companion, size, 8),
        AT(csn_companion, is_mapped, 16), AT(csn_companion, path, 24), AT(csn_companion, modified, 32),
        AT(csn_companion, release, 40), AT(csn_companion, context, 48),
    SIZE(csn_section, 24), AT(csn_section, offset, 8), AT(csn_section, size, 16),
    SIZE(csn_companion_search_options, 136), AT(csn_companion_search_options, struct_size, 0),
        AT(csn_companion_search_options, allocator, 8), AT(csn_companion_search_options, debug_dirs, 16),
        AT(csn_companion_search_options, debug_dir_count, 24), AT(csn_companion_search_options, debug_file, 32),
        AT(csn_companion_search_options, dwp_files, 40), AT(csn_companion_search_options, dwp_file_count, 48),
        AT(csn_companion_search_options, object_prefix, 56), AT(csn_companion_search_options, flags, 64),
        AT(csn_companion_search_options, timeout_ms, 68), AT(csn_companion_search_options, max_download_bytes, 72),
        AT(csn_companion_search_options, progress, 80), AT(csn_companion_search_options, progress_context, 88),
        AT(csn_companion_search_options, dwo_dirs, 96), AT(csn_companion_search_options, dwo_dir_count, 104),
        AT(csn_companion_search_options, symbol_servers, 112), AT(csn_companion_search_options, symbol_server_count, 120),
        AT(csn_companion_search_options, download_dir, 128),
    SIZE(csn_event_count, 208), AT(csn_event_count, count, 0), AT(csn_event_count, example, 8),
    SIZE(csn_convert_report, 13600), AT(csn_convert_report, units, 0), AT(csn_convert_report, units_failed, 8),
        AT(csn_convert_report, functions_from_dwarf, 16), AT(csn_convert_report, functions_from_symbols, 24),
        AT(csn_convert_report, functions_written, 32), AT(csn_convert_report, functions_pruned, 40),
        AT(csn_convert_report, rows_written, 48), AT(csn_convert_report, inline_nodes_written, 56),
        AT(csn_convert_report, call_sites_written, 64), AT(csn_convert_report, files_written, 72),
        AT(csn_convert_report, string_bytes, 80), AT(csn_convert_report, line_bytes, 88),
        AT(csn_convert_report, inline_bytes, 96), AT(csn_convert_report, input_bytes, 104),
        AT(csn_convert_report, inflated_bytes, 112), AT(csn_convert_report, output_bytes, 120),
        AT(csn_convert_report, functions_from_go, 128), AT(csn_convert_report, segments_written, 136),
        AT(csn_convert_report, functions_merged, 144), AT(csn_convert_report, functions_from_index, 152),
        AT(csn_convert_report, uuid, 160), AT(csn_convert_report, uuid_size, 192), AT(csn_convert_report, functions_from_pdb, 200),
        AT(csn_convert_report, events, 288),
};

#define VALUE(name, want) { #name, (uint64_t)(name), (uint64_t)(want) }

static const struct number values[] = {
    VALUE(CSN_OK, 0), VALUE(CSN_NONE, 1), VALUE(CSN_E_TRUNCATED, -1), VALUE(CSN_E_FORMAT, -2), VALUE(CSN_E_LIMIT, -3),
    VALUE(CSN_E_UNSUPPORTED, -4), VALUE(CSN_E_MEMORY, -5), VALUE(CSN_E_IO, -6), VALUE(CSN_E_ARGUMENT, -7),
    VALUE(CSN_E_NOT_FOUND, -8), VALUE(CSN_E_CANCELLED, -9),
    VALUE(CSN_FORMAT_GSYM_V1, 1), VALUE(CSN_FORMAT_GSYM_V2, 2), VALUE(CSN_FORMAT_BSYM, 4), VALUE(CSN_FORMAT_BREAKPAD, 5),
    VALUE(CSN_FORMAT_GSYM_AUTO, 256), VALUE(CSN_BYTE_ORDER_INPUT, 0), VALUE(CSN_BYTE_ORDER_LITTLE, 1),
    VALUE(CSN_BYTE_ORDER_BIG, 2), VALUE(CSN_FRAME_INLINED, 1), VALUE(CSN_FRAME_UNCERTAIN, 2),
    VALUE(CSN_FRAME_NAME_IN_PIECES, 4), VALUE(CSN_REASON_NO_BINARY, 6), VALUE(CSN_BINARY_NAMED, 0),
    VALUE(CSN_BINARY_ALIAS, 1), VALUE(CSN_BINARY_GUESSED, 2), VALUE(CSN_BINARY_AMBIGUOUS, 3),
    VALUE(CSN_LOOKUP_DEFAULT, 0), VALUE(CSN_LOOKUP_LLVM, 1),
    VALUE(CSN_REASON_COMPLETE, 0), VALUE(CSN_REASON_BEFORE_FIRST, 1), VALUE(CSN_REASON_GAP, 2),
    VALUE(CSN_REASON_NO_LINE_TABLE, 3), VALUE(CSN_REASON_NO_ROW, 4), VALUE(CSN_REASON_BAD_FILE, 5),
    VALUE(CSN_CALL_SITE_INTERNAL, 1), VALUE(CSN_CALL_SITE_EXTERNAL, 2), VALUE(CSN_INLINE_DEPTH_MAX, 512),
    VALUE(CSN_CONVERT_STRICT, 1), VALUE(CSN_CONVERT_CALL_SITES, 2), VALUE(CSN_EVENT_CAPACITY, 64),
    VALUE(CSN_CLASS_NORMAL, 0), VALUE(CSN_CLASS_MERGED, 1), VALUE(CSN_CLASS_CLIPPED, 2), VALUE(CSN_CLASS_DROPPED, 3),
    VALUE(CSN_COMPANION_DEBUG_FILE, 0), VALUE(CSN_COMPANION_SUPPLEMENT, 1), VALUE(CSN_COMPANION_DWP, 2),
    VALUE(CSN_SEARCH_DEBUGINFOD, 1), VALUE(CSN_COMPANION_DWO, 3), VALUE(CSN_COMPANION_OBJECT, 4),
    VALUE(CSN_COMPANION_MAP, 5), VALUE(CSN_COMPANION_IMAGE, 6), VALUE(CSN_BSYM_TOKENS_BEST, 0),
    VALUE(CSN_BSYM_TOKENS_REFERENCE, 1), VALUE(CSN_BSYM_TOKENS_NONE, 2), VALUE(CSN_ERROR_TEXT_SIZE, 232),
    VALUE(CSN_EXAMPLE_SIZE, 200),
    VALUE(CSN_PART_HEADER, 0), VALUE(CSN_PART_STRINGS, 4), VALUE(CSN_PART_PADDING, 11), VALUE(CSN_PART_CAPACITY, 24),
    VALUE(CSN_SHORTEN_NESTED, 1), VALUE(CSN_CONVERT_COVERAGE, 8),
};

/* In the order of enum csn_event; new ones are added at the end. */
static const char *const events[] = {
    "damaged-unit", "damaged-line-table", "damaged-ranges", "damaged-symbol", "missing-split-unit",
    "missing-supplement", "function-without-name", "function-outside-text", "function-discarded-by-linker",
    "function-too-large", "line-bad-file", "line-start-clipped", "line-not-ascending", "line-bad-sequence",
    "declaration-bad-file", "inline-outside-parent", "inline-bad-file", "inline-without-ranges", "duplicate-replaced",
    "duplicate-dropped", "functions-overlap", "call-site-outside-function", "relocation-not-applied",
    "inline-too-deep", "missing-debug-file", "missing-object-file", "damaged-go-function", "damaged-text-line",
    "not-representable", "damaged-record", "unknown-part", "functions-merged", "call-site-recovered",
    "call-site-without-place", "call-site-of-unknown-function",
    "lines-not-kept", "inlined-calls-not-kept", "part-not-kept", "binary-not-kept", "function-of-unplaced-binary",
    "name-changed", "address-rounded", "function-without-size", "missing-map-file", "overlapping-function",
    "damaged-unwind-record",
    "inline-clipped", "lines-of-symbol", "lines-without-function", "name-from-symbol", "unread-debug-information",
    "damaged-member", "unread-member", "function-past-last-address",
};

static void expect_numbers(const struct number *numbers, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (numbers[i].is != numbers[i].want)
            fail_msg("%s is %lld, need %lld", numbers[i].what, (long long)numbers[i].is, (long long)numbers[i].want);
}

/* csn_x_init() does what CSN_X_INIT does, and leaves no field as it was. */
#define INIT(type, macro) do {                                                  \
        struct type made = macro, set;                                          \
        memset(&set, 0xaa, sizeof set);                                         \
        type##_init(&set);                                                      \
        assert_int_equal(set.struct_size, sizeof set);                          \
        assert_memory_equal(&set, &made, sizeof set);                           \
        set.struct_size = 0;                                                    \
        for (size_t i = 0; i < sizeof set; i++) assert_int_equal(((char *)&set)[i], 0);                          \
    } while (0)

static void initialisers(void **state) {
    (void)state;
    INIT(csn_index_options, CSN_INDEX_OPTIONS_INIT);
    INIT(csn_lookup_batch, CSN_LOOKUP_BATCH_INIT);
    INIT(csn_builder_options, CSN_BUILDER_OPTIONS_INIT);
    INIT(csn_convert_options, CSN_CONVERT_OPTIONS_INIT);
    INIT(csn_gsym_options, CSN_GSYM_OPTIONS_INIT);
    INIT(csn_gsection_options, CSN_GSECTION_OPTIONS_INIT);
    INIT(csn_bsym_options, CSN_BSYM_OPTIONS_INIT);
    INIT(csn_breakpad_options, CSN_BREAKPAD_OPTIONS_INIT);
    INIT(csn_embed_options, CSN_EMBED_OPTIONS_INIT);
    INIT(csn_companion_search_options, CSN_COMPANION_SEARCH_OPTIONS_INIT);
    INIT(csn_symbolicator_options, CSN_SYMBOLICATOR_OPTIONS_INIT);
    INIT(csn_store_options, CSN_STORE_OPTIONS_INIT);
    INIT(csn_store_module, CSN_STORE_MODULE_INIT);
    INIT(csn_process_maps_options, CSN_PROCESS_MAPS_OPTIONS_INIT);
    INIT(csn_process_mapping, CSN_PROCESS_MAPPING_INIT);
    struct csn_error made = CSN_ERROR_INIT, set;
    memset(&set, 0xaa, sizeof set);
    csn_error_init(&set);
    assert_memory_equal(&set, &made, sizeof set);
}

static void structs(void **state) {
    (void)state;
    if (sizeof(void *) != 8) skip();
    expect_numbers(layout, sizeof layout / sizeof *layout);
}

static void numbers(void **state) {
    (void)state;
    expect_numbers(values, sizeof values / sizeof *values);
}

static void event_names(void **state) {
    (void)state;
    assert_int_equal(CSN_EVENT_COUNT, sizeof events / sizeof *events);
    assert_true(CSN_EVENT_COUNT <= CSN_EVENT_CAPACITY);
    for (uint32_t e = 0; e < CSN_EVENT_COUNT; e++) assert_string_equal(csn_event_name(e), events[e]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(structs),
        cmocka_unit_test(numbers),
        cmocka_unit_test(event_names),
        cmocka_unit_test(initialisers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
