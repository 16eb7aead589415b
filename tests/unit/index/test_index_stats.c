/* csn_index_stats(): parts that add up whatever the bytes are, figures of the worked example, a callback that stops. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <callsign/index.h>
#include <callsign/inspect.h>

#include "formats/gsym/gsym_layout.h"
#include "wire/wire_gsym.h"

static csn_status stats_of(struct csni_span file, csn_stats_callback *callback, void *context, struct csn_stats_sums *out) {
    struct csn_index *index = NULL;
    csn_status status = csn_index_open_memory(file.ptr, file.size, NULL, &index, NULL);
    if (status < 0) return status;
    status = csn_index_stats(index, callback, context, out, NULL);
    csn_index_close(index);
    return status;
}

static uint64_t sum_of(const struct csn_stats_sums *stats) {
    uint64_t sum = 0;
    for (uint32_t part = 0; part < CSN_PART_CAPACITY; part++) sum += stats->part_bytes[part];
    return sum;
}

static bool gather(void *context, const struct csn_function_stats *function) {
    struct csn_function_stats **next = context;
    *(*next)++ = *function;
    return true;
}

static void example(void **state) {
    (void)state;
    for (int big = 0; big < 2; big++) {
        struct wire_gsym g;
        wire_gsym_example(&g, big, 4);
        wire_gsym_build(&g);
        struct csn_function_stats functions[3], *next = functions;
        struct csn_stats_sums stats;
        assert_int_equal(stats_of(wire_span(&g.out), gather, &next, &stats), CSN_OK);
        assert_ptr_equal(next, functions + 3);
        assert_int_equal(stats.file_size, wire_span(&g.out).size);
        assert_int_equal(sum_of(&stats), stats.file_size);
        assert_int_equal(stats.part_bytes[CSN_PART_HEADER], 48);
        assert_int_equal(stats.part_bytes[CSN_PART_ADDRESSES], 12);
        assert_int_equal(stats.part_bytes[CSN_PART_RECORD_OFFSETS], 12);
        assert_int_equal(stats.part_bytes[CSN_PART_FILES], 4 + 8 * g.file_count);
        assert_int_equal(stats.part_bytes[CSN_PART_STRINGS], g.string_size);
        assert_int_equal(stats.functions, 3);
        assert_int_equal(stats.damaged_functions, 0);
        assert_int_equal(stats.inline_nodes, 3);
        uint64_t records = 0, lines = 0, inlines = 0;
        for (int i = 0; i < 3; i++) {
            assert_int_equal(functions[i].idx, i);
            records += functions[i].record_bytes;
            lines += functions[i].line_bytes;
            inlines += functions[i].inline_bytes;
        }
        assert_int_equal(lines, stats.part_bytes[CSN_PART_LINES]);
        assert_int_equal(inlines, stats.part_bytes[CSN_PART_INLINES]);
        assert_int_equal(records - lines - inlines, stats.part_bytes[CSN_PART_RECORDS]);
        assert_int_equal(functions[1].code_bytes_inlined, 5 + 0x1c);
        assert_int_equal(functions[1].code_bytes, 0x47);
        assert_int_equal(functions[1].function.start, 0x11e0);
        assert_true(functions[0].file > 0 && functions[1].file > 0);
        assert_int_equal(functions[2].file, 0);
        assert_int_equal(functions[2].rows, 0);
        assert_int_equal(functions[2].record_bytes, 16);
        wire_gsym_deinit(&g);
    }
}

static bool stop_at_once(void *context, const struct csn_function_stats *function) {
    (void)function;
    ++*(int *)context;
    return false;
}

static void stopping(void **state) {
    (void)state;
    struct wire_gsym g;
    wire_gsym_example(&g, false, 4);
    wire_gsym_build(&g);
    struct csn_stats_sums stats;
    int calls = 0;
    assert_int_equal(stats_of(wire_span(&g.out), stop_at_once, &calls, &stats), CSN_OK);
    assert_int_equal(calls, 1);
    assert_int_equal(stats.functions, 1);
    assert_int_equal(sum_of(&stats), stats.file_size);
    wire_gsym_deinit(&g);
}

static void overlapping_code_counts_once(void **state) {
    (void)state;
    struct wire_gsym g;
    wire_gsym_init(&g, false, 4, 0x1000);
    wire_gsym_function(&g, 0x1000, 0x100, "outer");
    wire_gsym_function(&g, 0x1040, 0x40, "inside");
    wire_gsym_function(&g, 0x10f0, 0x20, "beyond");
    wire_gsym_build(&g);
    struct csn_function_stats functions[3], *next = functions;
    struct csn_stats_sums stats;
    assert_int_equal(stats_of(wire_span(&g.out), gather, &next, &stats), CSN_OK);
    assert_int_equal(stats.code_bytes, 0x110);
    assert_int_equal(functions[1].code_bytes, 0);
    assert_int_equal(functions[2].code_bytes, 0x10);
    assert_int_equal(functions[1].function.size, 0x40);
    wire_gsym_deinit(&g);
}

/* As compilers mix the instructions of two calls: no order of the calls is that of their ranges. */
static void alternating_calls_count_once(void **state) {
    (void)state;
    struct wire_gsym g;
    wire_gsym_init(&g, false, 4, 0x1000);
    struct wire_gsym_function *f = wire_gsym_function(&g, 0x1000, 0x100, "mixed");
    struct wire tree;
    wire_init(&tree, false);
    const uint32_t name = wire_gsym_string(&g, "call");
    wire_gsym_node(&tree, 1, (const uint32_t[]){ 0, 0x100 }, true, f->name, 0, 0);
    wire_gsym_node(&tree, 2, (const uint32_t[]){ 0x40, 8, 0x60, 8 }, false, name, 0, 7);
    wire_gsym_node(&tree, 3, (const uint32_t[]){ 0x10, 8, 0x48, 0x10, 0x64, 8 }, false, name, 0, 8);
    wire_gsym_node(&tree, 1, (const uint32_t[]){ 0x18, 4 }, false, name, 0, 9);
    wire_u8(&tree, 0);
    wire_gsym_part_wire(&f->parts, CSNI_GSYM_PART_INLINE, &tree);
    wire_deinit(&tree);
    wire_gsym_build(&g);
    struct csn_stats_sums stats;
    assert_int_equal(stats_of(wire_span(&g.out), NULL, NULL, &stats), CSN_OK);
    assert_int_equal(stats.inline_nodes, 3);
    assert_int_equal(stats.code_bytes_inlined, 0xc + 0x18 + 0xc);
    wire_gsym_deinit(&g);
}

static void names_of_parts(void **state) {
    (void)state;
    for (uint32_t part = 0; part < CSN_PART_COUNT; part++) {
        assert_non_null(csn_part_name(part));
        for (uint32_t other = 0; other < part; other++) assert_string_not_equal(csn_part_name(part), csn_part_name(other));
    }
    assert_string_equal(csn_part_name(CSN_PART_STRINGS), "strings");
    assert_null(csn_part_name(CSN_PART_COUNT));
    assert_null(csn_part_name(UINT32_MAX));
}

static void expect_sum(const uint8_t *bytes, size_t size) {
    struct csn_stats_sums stats;
    /* An exact copy, so that reading after it is noticed. */
    uint8_t *copy = malloc(size + 1);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    if (stats_of((struct csni_span){ copy, size }, NULL, NULL, &stats) == CSN_OK) {
        assert_int_equal(stats.file_size, size);
        assert_int_equal(sum_of(&stats), size);
        assert_true(stats.code_bytes_with_lines <= stats.code_bytes && stats.code_bytes_inlined <= stats.code_bytes);
    }
    free(copy);
}

static void truncated_files(void **state) {
    (void)state;
    struct wire_gsym g;
    wire_gsym_example(&g, true, 2);
    struct csni_span file = wire_gsym_build(&g);
    for (size_t size = 0; size <= file.size; size++) expect_sum(file.ptr, size);
    wire_gsym_deinit(&g);
}

static void flipped_bits(void **state) {
    (void)state;
    struct wire_gsym g;
    wire_gsym_example(&g, false, 4);
    struct csni_span file = wire_gsym_build(&g);
    uint8_t *bytes = malloc(file.size);
    assert_non_null(bytes);
    memcpy(bytes, file.ptr, file.size);
    for (size_t bit = 0; bit < 8 * file.size; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        expect_sum(bytes, file.size);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    uint32_t seed = 4711;
    for (int round = 0; round < 20000; round++) {
        memcpy(bytes, file.ptr, file.size);
        for (int k = 0; k < 4; k++) {
            seed = seed * 1664525 + 1013904223;
            bytes[4 + (seed >> 8) % (file.size - 4)] = (uint8_t)(seed >> 24);
        }
        expect_sum(bytes, file.size);
    }
    free(bytes);
    wire_gsym_deinit(&g);
}

/* ---- no memory ---- */

static void *refuse(void *context, size_t size) {
    (void)size;
    int *left = context;
    return (*left)-- > 0 ? malloc(size) : NULL;
}
static void *refuse_growth(void *context, void *ptr, size_t old_size, size_t new_size) {
    (void)context, (void)old_size;
    return realloc(ptr, new_size);
}
static void give_back(void *context, void *ptr, size_t size) {
    (void)context, (void)size;
    free(ptr);
}

static void without_memory(void **state) {
    (void)state;
    struct wire_gsym g;
    wire_gsym_example(&g, false, 4);
    struct csni_span file = wire_gsym_build(&g);
    int left = 1; /* for opening */
    const struct csn_allocator allocator = { refuse, refuse_growth, give_back, &left };
    struct csn_index_options options = CSN_INDEX_OPTIONS_INIT;
    options.allocator = &allocator;
    struct csn_index *index = NULL;
    struct csn_stats_sums stats = { .rows = 7 };
    struct csn_error err = CSN_ERROR_INIT;
    assert_int_equal(csn_index_open_memory(file.ptr, file.size, &options, &index, NULL), CSN_OK);
    assert_int_equal(csn_index_stats(index, NULL, NULL, &stats, &err), CSN_E_MEMORY);
    assert_int_equal(stats.rows, 7);
    assert_int_equal(csn_index_stats(index, NULL, NULL, NULL, &err), CSN_E_ARGUMENT);
    csn_index_close(index);
    wire_gsym_deinit(&g);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(example),        cmocka_unit_test(stopping),        cmocka_unit_test(overlapping_code_counts_once),
        cmocka_unit_test(names_of_parts), cmocka_unit_test(truncated_files), cmocka_unit_test(flipped_bits),
        cmocka_unit_test(without_memory),  cmocka_unit_test(alternating_calls_count_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
