/* Goes through all that is in an index: functions with their rows, inlined calls and call sites; then the files.
 *
 *     cc inspect.c $(pkg-config --cflags --libs callsign) -o inspect
 *     ./inspect app.gsym
 *
 * Iterators are plain memory: they allocate nothing, and there is nothing to release. */
#include <stdio.h>

#include <callsign/callsign.h>

/* The iterators' calls give CSN_OK, CSN_NONE at the end, or a failure where the record is damaged. */
static csn_status print_rows(const struct csn_index *index, const struct csn_record *record, struct csn_error *err) {
    struct csn_row_iter iter;
    struct csn_row row;
    csn_status status = csn_row_iter_init(&iter, index, record, err);
    while (status == CSN_OK && (status = csn_row_iter_next(&iter, &row, err)) == CSN_OK)
        printf("  row 0x%llx file %u line %u\n", (unsigned long long)row.addr, row.file, row.line);
    return status;
}

static csn_status print_inlined_calls(const struct csn_index *index, const struct csn_record *record,
                                      struct csn_error *err) {
    struct csn_inline_iter iter;
    struct csn_inline_node node;
    csn_status status = csn_inline_iter_init(&iter, index, record, err);
    while (status == CSN_OK && (status = csn_inline_iter_next(&iter, &node, err)) == CSN_OK) {
        if (node.depth == 0) continue; /* repeats the function itself */
        printf("  %*sinlined %.*s", (int)(2 * (node.depth - 1)), "", (int)node.name.len, node.name.ptr);
        for (uint32_t k = 0; k < node.range_count; k++) {
            struct csn_range range;
            if (csn_inline_node_range(&node, k, &range, err) == CSN_OK)
                printf(" 0x%llx..0x%llx", (unsigned long long)range.start, (unsigned long long)range.end);
        }
        printf(", called from file %u line %u\n", node.call_file, node.call_line);
    }
    return status;
}

static csn_status print_call_sites(const struct csn_index *index, const struct csn_record *record, struct csn_error *err) {
    struct csn_call_site_iter iter;
    struct csn_call_site site;
    csn_status status = csn_call_site_iter_init(&iter, index, record, err);
    while (status == CSN_OK && (status = csn_call_site_iter_next(&iter, &site, err)) == CSN_OK) {
        printf("  call returns to +%llu", (unsigned long long)site.return_offset);
        for (uint32_t k = 0; k < site.pattern_count; k++) {
            struct csn_str pattern;
            if (csn_call_site_pattern(index, &site, k, &pattern, err) == CSN_OK)
                printf(" %.*s", (int)pattern.len, pattern.ptr);
        }
        printf("\n");
    }
    return status;
}

static csn_status print_function(const struct csn_index *index, uint32_t idx, struct csn_error *err) {
    struct csn_function f;
    struct csn_record record;
    csn_status status = csn_index_function(index, idx, &f, err);
    if (status < 0) return status;
    printf("0x%llx %.*s, %llu bytes\n", (unsigned long long)f.start, (int)f.name.len, f.name.ptr,
           (unsigned long long)f.size);
    status = csn_index_record(index, idx, &record, err);
    if (status >= 0) status = print_rows(index, &record, err);
    if (status >= 0) status = print_inlined_calls(index, &record, err);
    if (status >= 0) status = print_call_sites(index, &record, err);
    return status;
}

int main(int argc, char **argv) {
    struct csn_error err = CSN_ERROR_INIT;
    struct csn_index *index;
    if (argc != 2) {
        fprintf(stderr, "usage: inspect INDEX\n");
        return 2;
    }
    if (csn_index_open_file(argv[1], NULL, &index, &err) < 0) {
        fprintf(stderr, "%s: %s\n", argv[1], csn_error_text(&err));
        return 2;
    }
    struct csn_index_info info;
    csn_index_get_info(index, &info, sizeof(info));
    printf("%u functions, %u files\n", info.function_count, info.file_count - 1);
    csn_status status = CSN_OK;
    for (uint32_t i = 0; i < info.function_count && status >= 0; i++) status = print_function(index, i, &err);
    for (uint32_t i = 1; i < info.file_count && status >= 0; i++) {
        struct csn_str directory, base;
        status = csn_index_file(index, i, &directory, &base, &err);
        if (status >= 0)
            printf("file %u %.*s/%.*s\n", i, (int)directory.len, directory.ptr, (int)base.len, base.ptr);
    }
    if (status < 0) fprintf(stderr, "%s: %s\n", argv[1], csn_error_text(&err));
    csn_index_close(index);
    return status < 0;
}
