/* Go's function table in all layouts; what damage does to it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/go_sample.h"
#include "base/core/endian.h"
#include "go/go_private.h"
#include "support/test_alloc.h"

#define MAIN_ROWS "main.main 401000-401038 0:/src/main.go:10 c:/src/main.go:11 10:/src/lib/lib.go:30 20:/src/lib/lib.go:40 28:/src/lib/lib.go:31 30:/src/main.go:12"
#define CALLS " [1 main.twice 10-30 /src/main.go:11] [2 main.add 20-28 /src/lib/lib.go:30]"
#define LEAF "; main.leaf 401040-401060 0:/src/lib/lib.go:50"

static const enum csni_go_version versions[] = { CSNI_GO_1_2, CSNI_GO_1_16, CSNI_GO_1_18, CSNI_GO_1_20 };

static void expect(struct go_sample *s, const char *want) {
    char text[2048];
    go_sample_text(go_sample_build(s), text, sizeof text);
    assert_string_equal(text, want);
}

static void every_layout(void **state) {
    (void)state;
    for (size_t v = 0; v < 4; v++)
        for (unsigned big = 0; big < 2; big++)
            for (unsigned wide = 0; wide < 2; wide++)
                for (uint8_t quantum = 1; quantum <= 4; quantum = (uint8_t)(quantum * 2)) {
                    struct go_sample s;
                    go_sample_init(&s, versions[v], big, wide ? 8 : 4, quantum);
                    expect(&s, MAIN_ROWS CALLS LEAF);
                    go_sample_deinit(&s);
                }
}

static void lists_of_1_12(void **state) {
    (void)state;
    struct go_sample s;
    go_sample_init(&s, CSNI_GO_1_2, false, 8, 1);
    s.lists_of_1_12 = true;
    expect(&s, MAIN_ROWS CALLS LEAF);
    go_sample_deinit(&s);
}

static void module_of_1_27(void **state) {
    (void)state;
    struct go_sample s;
    go_sample_init(&s, CSNI_GO_1_20, false, 8, 1);
    s.module_of_1_27 = true;
    expect(&s, MAIN_ROWS CALLS LEAF);
    go_sample_deinit(&s);
}

/* Functions and lines stay; what inlined calls count from is not known. The text's start comes from the header or the caller. */
static void without_module(void **state) {
    (void)state;
    for (unsigned told = 0; told < 2; told++) {
        struct go_sample s;
        go_sample_init(&s, CSNI_GO_1_20, true, 8, 2);
        s.without_module = true;
        s.header_tells_text = told;
        expect(&s, MAIN_ROWS LEAF);
        go_sample_deinit(&s);
    }
}

/* A record that begins with the table's address but does not agree with it is no moduledata. */
static void false_module(void **state) {
    (void)state;
    struct go_sample s;
    char text[2048];
    go_sample_init(&s, CSNI_GO_1_18, false, 8, 1);
    go_sample_build(&s);
    wire_patch(&s.out, s.module + 20 * 8, GO_SAMPLE_TEXT + 1, 8);
    go_sample_text(wire_span(&s.out), text, sizeof text);
    assert_string_equal(text, MAIN_ROWS LEAF);
    go_sample_deinit(&s);
}

/* Position-independent programs: the dynamic linker writes the pointers, the file has zeros. */
static void linked_pointers(void **state) {
    (void)state;
    struct go_sample s;
    go_sample_init(&s, CSNI_GO_1_20, false, 8, 1);
    struct csni_span bytes = go_sample_build(&s);
    struct csni_go_pointer pointers[46];
    for (unsigned i = 0; i < 46; i++) {
        pointers[i] =
            (struct csni_go_pointer){ GO_SAMPLE_ADDR + s.module + 8 * i, csni_get64(bytes.ptr + s.module + 8 * i, false) };
        wire_patch(&s.out, s.module + 8 * i, 0, 8);
    }
    bytes = wire_span(&s.out);
    const struct csni_go_section section = { GO_SAMPLE_ADDR, bytes };
    struct csni_go_image image = { &section, 1, NULL, 0, 0x1234, false };
    struct csni_go_table table;
    assert_int_equal(csni_go_open(&image, GO_SAMPLE_ADDR, bytes, &csni_libc_allocator, &table, NULL), CSN_OK);
    assert_true(table.text_start == 0x1234 && !table.has_func_data);
    image.pointers = pointers;
    image.pointer_count = 46;
    assert_int_equal(csni_go_open(&image, GO_SAMPLE_ADDR, bytes, &csni_libc_allocator, &table, NULL), CSN_OK);
    assert_true(table.text_start == GO_SAMPLE_TEXT && table.has_func_data);
    go_sample_deinit(&s);
}

static void found_within_a_section(void **state) {
    (void)state;
    for (size_t v = 0; v < 4; v++) {
        struct go_sample s;
        struct wire w;
        uint64_t off;
        go_sample_init(&s, versions[v], v & 1, 8, 1);
        go_sample_build(&s);
        wire_init(&w, false);
        wire_u32(&w, 0xfffffff1); /* a magic and nothing after it */
        wire_fill(&w, 0xff, 60);
        size_t place = wire_append(&w, &s.out);
        assert_true(csni_go_find(wire_span(&w), 0, &off) && off == place);
        assert_true(csni_go_find(wire_span(&w), place, &off) && off == place);
        assert_false(csni_go_find(wire_span(&w), place + 1, &off));
        wire_deinit(&w);
        go_sample_deinit(&s);
    }
}

/* Sections that touch: each byte is of one of them. */
static void addresses_in_sections(void **state) {
    (void)state;
    static const uint8_t first[] = { 1, 2, 3, 4 }, second[] = { 5, 6 };
    const struct csni_go_section sections[] = { { 0x1000, { first, 4 } }, { 0x1004, { second, 2 } } };
    const struct csni_go_image image = { sections, 2, NULL, 0, 0x1000, false };
    struct csni_span got;
    assert_false(csni_go_bytes_at(&image, 0xfff, &got));
    for (unsigned i = 0; i < 6; i++) {
        assert_true(csni_go_bytes_at(&image, 0x1000 + i, &got));
        assert_int_equal(got.size, i < 4 ? 4 - i : 6 - i);
        assert_int_equal(*got.ptr, i + 1);
    }
    assert_false(csni_go_bytes_at(&image, 0x1006, &got));
}

/* ---- damage ---- */

static void damaged_text(size_t v, size_t at_name, uint64_t value, unsigned size, const char *want) {
    struct go_sample s;
    char text[2048];
    go_sample_init(&s, versions[v], false, 8, 1);
    go_sample_build(&s);
    const size_t places[] = { 0, 8, s.main_record + 4, s.tree, s.functions + 8, s.units, s.tree + 4, s.functions + 16,
                              s.pc_values + 1 };
    wire_patch(&s.out, places[at_name], value, size);
    go_sample_text(wire_span(&s.out), text, sizeof text);
    if (!strstr(text, want)) fail_msg("\"%s\" is not in \"%s\"", want, text);
    go_sample_deinit(&s);
}

static void what_damage_says(void **state) {
    (void)state;
    damaged_text(3, 0, 0xfffffff2, 4, ".gopclntab+0x0: no function table of Go 1.2 or later");
    damaged_text(3, 1, 1 << 20, 8, ".gopclntab+0x8: 1048576 functions, there is room for ");
    damaged_text(3, 2, 1 << 20, 4, "function name outside of the section's 0x");
    damaged_text(2, 3, 5, 2, "inlined call 0 has caller 5, need a lower number");
    damaged_text(2, 4, 0, 4, " 0-0; main.leaf 401000-401020"); /* the first is empty */
    damaged_text(2, 7, 0x20, 4, "function 1 at 0x401040, the next at 0x401020");
    damaged_text(3, 5, 1 << 20, 4, " 0:?:10");
    damaged_text(3, 6, 1 << 20, 4, "function name outside");
    damaged_text(3, 8, UINT64_MAX, 8, "list of values has no end"); /* nor has its first number */
}

static void truncations(void **state) {
    (void)state;
    for (size_t v = 0; v < 4; v++) {
        struct go_sample s;
        size_t functions, calls;
        go_sample_init(&s, versions[v], v & 1, v & 2 ? 8 : 4, 1);
        struct csni_span whole = go_sample_build(&s);
        assert_int_equal(go_sample_exercise(whole, NULL, &functions, &calls), CSN_OK);
        assert_true(functions == 2 && calls == 2);
        for (size_t size = 0; size < whole.size; size++) {
            uint8_t *copy = malloc(size ? size : 1); /* ends where its block does */
            assert_non_null(copy);
            if (size) memcpy(copy, whole.ptr, size);
            assert_int_equal(go_sample_exercise((struct csni_span){ copy, size }, NULL, &functions, &calls), CSN_OK);
            free(copy);
        }
        go_sample_deinit(&s);
    }
}

static void changed_bytes(void **state) {
    (void)state;
    static const uint8_t values[] = { 0, 1, 0x7f, 0x80, 0xff };
    for (size_t v = 0; v < 4; v++) {
        struct go_sample s;
        size_t functions, calls;
        go_sample_init(&s, versions[v], !(v & 1), 8, 1);
        struct csni_span whole = go_sample_build(&s);
        uint8_t *copy = malloc(whole.size);
        assert_non_null(copy);
        for (size_t at = 0; at < whole.size; at++) {
            memcpy(copy, whole.ptr, whole.size);
            for (size_t i = 0; i < sizeof values; i++) {
                copy[at] = values[i];
                assert_int_equal(go_sample_exercise((struct csni_span){ copy, whole.size }, NULL, &functions, &calls), CSN_OK);
            }
        }
        free(copy);
        go_sample_deinit(&s);
    }
}

static void flipped_bits(void **state) {
    (void)state;
    uint32_t seed = 1;
    for (size_t round = 0; round < 4000; round++) {
        struct go_sample s;
        size_t functions, calls;
        go_sample_init(&s, versions[round % 4], round / 4 % 2, 8, 1);
        go_sample_build(&s);
        for (unsigned i = 0; i < 3; i++) {
            seed = seed * 1664525 + 1013904223;
            s.out.bytes[(seed >> 8) % s.out.size] ^= (uint8_t)(1u << (seed >> 3 & 7));
        }
        assert_int_equal(go_sample_exercise(wire_span(&s.out), NULL, &functions, &calls), CSN_OK);
        go_sample_deinit(&s);
    }
}

/* Thousands of records that name one long list must not take forever. */
static void shared_lists_are_bounded(void **state) {
    (void)state;
    enum { FUNCTIONS = 40000, STEPS = 100000 };
    struct wire w;
    wire_init(&w, false);
    wire_u32(&w, 0xfffffff1);
    wire_u16(&w, 0);
    wire_u8(&w, 1);
    wire_u8(&w, 8);
    const size_t names = 8 + 8 * 8, units = names + 4, files = units, values = units + 4, functions = values + 2 * STEPS + 8;
    const uint64_t header[] = { FUNCTIONS, 1, 0, names, units, files, values, functions };
    for (size_t i = 0; i < 8; i++) wire_u64(&w, header[i]);
    wire_cstr(&w, "abc");
    wire_u32(&w, 0);
    wire_fill(&w, 0, 2);
    for (size_t i = 0; i < STEPS; i++) wire_u16(&w, 0x0102);
    wire_fill(&w, 0, functions - w.size);
    size_t record = 8 * FUNCTIONS + 4;
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        wire_u32(&w, i * STEPS);
        wire_u32(&w, record);
    }
    wire_u32(&w, (uint32_t)FUNCTIONS * STEPS);
    const uint32_t words[] = { 0, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0 };
    for (size_t i = 0; i < 11; i++) wire_u32(&w, words[i]);
    size_t read, calls;
    assert_int_equal(go_sample_exercise(wire_span(&w), NULL, &read, &calls), CSN_OK);
    assert_true(read > 10 && read < 1000);
    wire_deinit(&w);
}

static csn_status exercise_step(void *context, const struct csn_allocator *alloc) {
    size_t functions, calls;
    const struct csni_span *bytes = context;
    return go_sample_exercise(*bytes, alloc, &functions, &calls);
}

static void allocation_failures(void **state) {
    (void)state;
    for (size_t v = 0; v < 4; v += 3) {
        struct go_sample s;
        go_sample_init(&s, versions[v], false, 8, 1);
        struct csni_span bytes = go_sample_build(&s);
        assert_true(test_allocator_sweep(exercise_step, &bytes, 0) > 5);
        assert_true(test_allocator_sweep(exercise_step, &bytes, 1) > 5);
        go_sample_deinit(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_layout),         cmocka_unit_test(lists_of_1_12),
        cmocka_unit_test(module_of_1_27),       cmocka_unit_test(without_module),
        cmocka_unit_test(false_module),         cmocka_unit_test(linked_pointers),
        cmocka_unit_test(found_within_a_section), cmocka_unit_test(addresses_in_sections),
        cmocka_unit_test(what_damage_says),
        cmocka_unit_test(truncations),          cmocka_unit_test(changed_bytes),
        cmocka_unit_test(flipped_bits),         cmocka_unit_test(shared_lists_are_bounded),
        cmocka_unit_test(allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
