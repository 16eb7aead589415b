/* convert/: split DWARF, from .dwo files and packages, whole, damaged, missing and of another program. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <callsign/convert.h>

#include "support/model_sample.h"
#include "support/split_sample.h"
#include "support/sweep.h"
#include "support/test_alloc.h"

static struct csn_convert_report report;

static const char first_unit[] = "ns::f0 [1000,1040)\n 1000 a.c:10\n 1008 b.h:3\n 1010 a.c:11\n >ns::in0 [1008,1010) a.c:7\n"
                                 "ns::T0::m0 [1100,1110)\n 1100 a.c:20\n"
                                 "symbol_m0 [1100,1120)\n 1100 a.c:0\n 1110 a.c:20\nns::T0::m0 [1118,1120)\n 1118 a.c:20\n";
static const char second_unit[] = "ns::f1 [1400,1440)\n 1400 a.c:11\n 1408 b.h:3\n 1410 a.c:12\n >ns::in1 [1408,1410) a.c:7\n"
                                  "ns::T1::m1 [1500,1510)\n 1500 a.c:21\n"
                                 "symbol_m1 [1500,1520)\n 1500 a.c:0\n 1510 a.c:21\nns::T1::m1 [1518,1520)\n 1518 a.c:21\n";
static const char second_symbols[] = "symbol_f1 [1400,1440)\n 1400 a.c:11\n 1408 b.h:3\n 1410 a.c:12\n"
                                     "symbol_m1 [1500,1520)\n 1500 a.c:21\n";

static csn_status convert(struct csni_span image, struct split_files *files, const struct csn_allocator *alloc,
                          struct csn_bytes *out, struct csn_error *err) {
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    options.threads = 1;
    options.allocator = alloc;
    options.resolver = split_files_resolve;
    options.resolver_context = files;
    csn_status status = csn_convert_memory(image.ptr, image.size, &options, out, &report, err);
    assert_int_equal(files->open, 0);
    return status;
}

/* Lines of the two texts, but for the symbols that overlap functions of several parts. */
static void expect(struct csni_span image, struct split_files *files, const char *first, const char *second) {
    struct csn_bytes out;
    struct csn_error err = CSN_ERROR_INIT;
    char text[2048], wanted[2048];
    if (convert(image, files, NULL, &out, &err) != CSN_OK) fail_msg("%s", err.text);
    const char *all = index_text(out.ptr, out.size);
    snprintf(wanted, sizeof wanted, "%s%s", first, second);
    size_t len = 0;
    for (const char *line = all, *next; *line; line = next) {
        next = strchr(line, '\n') + 1;
        bool is_bare = strncmp(line, "symbol_m", 8) == 0 && *next != ' ';
        if (!is_bare) len += (size_t)snprintf(text + len, sizeof text - len, "%.*s", (int)(next - line), line);
    }
    assert_string_equal(text, wanted);
    csn_bytes_free(&out);
}

static void expect_damage(const char *text) {
    assert_int_equal(report.events[CSN_EVENT_DAMAGED_UNIT].count, 1);
    assert_string_equal(report.events[CSN_EVENT_DAMAGED_UNIT].example, text);
}

/* Each version in each byte order. */
static void each(void (*test)(struct split_sample *s)) {
    for (int i = 0; i < 4; i++) {
        struct split_sample s;
        split_sample_init(&s, i & 1 ? 5 : 4, i & 2);
        test(&s);
        split_sample_deinit(&s);
    }
}

/* ---- found ---- */

static void try_dwo_files(struct split_sample *s) {
    struct split_files files = { .dwo = { split_sample_dwo(s, 0), split_sample_dwo(s, 1) } };
    expect(split_sample_image(s, s->ids), &files, first_unit, second_unit);
    assert_int_equal(report.functions_from_dwarf, 6);
    assert_int_equal(report.units_failed, 0);
    assert_int_equal(report.events[CSN_EVENT_MISSING_SPLIT_UNIT].count, 0);
}
static void dwo_files(void **state) { (void)state; each(try_dwo_files); }

static void try_package(struct split_sample *s) {
    struct split_files files = { .packages = { split_sample_package(s, 0, 2) } };
    expect(split_sample_image(s, s->ids), &files, first_unit, second_unit);
    assert_int_equal(files.asked, 2); /* for the package, and for another */
    assert_int_equal(report.units_failed, 0);
}
static void package(void **state) { (void)state; each(try_package); }

static void try_two_packages(struct split_sample *s) {
    struct split_files files = { .packages = { split_sample_package(s, 0, 1), split_sample_package(s, 1, 1) } };
    expect(split_sample_image(s, s->ids), &files, first_unit, second_unit);
}
static void two_packages(void **state) { (void)state; each(try_two_packages); }

/* The same package a second time ends the search. */
static void try_package_again_and_again(struct split_sample *s) {
    struct split_files files = { .packages = { split_sample_package(s, 0, 1) }, .skips_none = true };
    expect(split_sample_image(s, s->ids), &files, first_unit, second_symbols);
    assert_int_equal(files.asked, 3); /* twice for packages, then for the .dwo file */
}
static void package_again_and_again(void **state) { (void)state; each(try_package_again_and_again); }

static void try_package_and_file(struct split_sample *s) {
    struct split_files files = { .packages = { split_sample_package(s, 1, 1) }, .dwo = { split_sample_dwo(s, 0) } };
    expect(split_sample_image(s, s->ids), &files, first_unit, second_unit);
}
static void package_and_file(void **state) { (void)state; each(try_package_and_file); }

/* Two copies of one object in a program: the names are those of the first unit, at both places. */
static void try_one_id_twice(struct split_sample *s) {
    static const char again[] = "ns::f0 [1400,1440)\n 1400 a.c:11\n 1408 b.h:3\n 1410 a.c:12\n >ns::in0 [1408,1410) a.c:7\n"
                                "ns::T0::m0 [1500,1510)\n 1500 a.c:21\n"
                                 "symbol_m1 [1500,1520)\n 1500 a.c:0\n 1510 a.c:21\nns::T0::m0 [1518,1520)\n 1518 a.c:21\n";
    uint64_t ids[] = { s->ids[0], s->ids[0] };
    struct split_files files = { .packages = { split_sample_package(s, 0, 2) } };
    expect(split_sample_image(s, ids), &files, first_unit, again);
    files = (struct split_files){ .dwo = { split_sample_dwo(s, 0) } };
    files.dwo[1] = files.dwo[0];
    expect(split_sample_image(s, ids), &files, first_unit, again);
}
static void one_id_twice(void **state) { (void)state; each(try_one_id_twice); }

/* ---- not found, or another ---- */

static void try_missing(struct split_sample *s) {
    struct split_files files = { .dwo = { split_sample_dwo(s, 0) } };
    expect(split_sample_image(s, s->ids), &files, first_unit, second_symbols);
    assert_int_equal(report.events[CSN_EVENT_MISSING_SPLIT_UNIT].count, 1);
    assert_string_equal(report.events[CSN_EVENT_MISSING_SPLIT_UNIT].example, "1.dwo");
    assert_int_equal(report.functions_from_dwarf, 3);
}
static void missing(void **state) { (void)state; each(try_missing); }

static void try_other_id(struct split_sample *s) {
    struct csni_span image = split_sample_image(s, s->ids);
    s->ids[1]++;
    struct split_files files = { .dwo = { split_sample_dwo(s, 0), split_sample_dwo(s, 1) } };
    expect(image, &files, first_unit, second_symbols);
    assert_int_equal(report.units_failed, 1);
    assert_int_equal(report.events[CSN_EVENT_MISSING_SPLIT_UNIT].count, 0);
    assert_non_null(strstr(report.events[CSN_EVENT_DAMAGED_UNIT].example,
                           "/src/1.dwo has dwo_id 0x5555666677778889, the skeleton needs 0x5555666677778888"));
}
static void other_id(void **state) { (void)state; each(try_other_id); }

static void try_file_that_is_none(struct split_sample *s) {
    struct csni_span image = split_sample_image(s, s->ids);
    struct split_files files = { .dwo = { split_sample_dwo(s, 0), image } }; /* it names itself */
    expect(image, &files, first_unit, second_symbols);
    assert_non_null(strstr(report.events[CSN_EVENT_DAMAGED_UNIT].example,
                           "/src/1.dwo: the file has no section .debug_info.dwo"));
    files.dwo[1] = (struct csni_span){ (const uint8_t *)"hello, world", 12 };
    expect(image, &files, first_unit, second_symbols);
    assert_non_null(strstr(report.events[CSN_EVENT_DAMAGED_UNIT].example, "/src/1.dwo: not an object file"));
}
static void file_that_is_none(void **state) { (void)state; each(try_file_that_is_none); }

static void try_other_address_size(struct split_sample *s) {
    struct csni_span image = split_sample_image(s, s->ids);
    s->dwo_address_size = 4;
    struct split_files files = { .dwo = { { NULL, 0 }, split_sample_dwo(s, 1) } };
    s->dwo_address_size = 8;
    files.dwo[0] = split_sample_dwo(s, 0);
    expect(image, &files, first_unit, second_symbols);
    assert_non_null(strstr(report.events[CSN_EVENT_DAMAGED_UNIT].example, "unit has addresses of 4 bytes, its skeleton of 8"));
}
static void other_address_size(void **state) { (void)state; each(try_other_address_size); }

/* ---- indexes ---- */

/* Where bytes stand in a package, to be changed: the place of its first byte. */
static uint8_t *place_of(struct split_sample *s, const uint8_t *bytes, size_t size) {
    struct wire *w = &s->packages[0];
    for (size_t i = 0; i + size <= w->size; i++)
        if (memcmp(w->bytes + i, bytes, size) == 0) return w->bytes + i;
    fail_msg("not in the package");
    return NULL;
}

static void bad_indexes(void **state) {
    (void)state;
    static const struct {
        size_t off;
        uint8_t byte;
        const char *text;
    } changes[] = {
        { 0, 7, "0.dwp: .debug_cu_index+0x0: index has version 7, need 2 or 5" },
        { 4, 0, "0.dwp: .debug_cu_index+0x4: none of the 0 columns is for units" },
        { 8, 200, "0.dwp: .debug_cu_index+0x0: index of 4 slots, 200 units and 4 columns, the section has 144 bytes" },
        { 12, 3, "0.dwp: .debug_cu_index+0xc: hash table has 3 slots, need a power of two" },
        { 15, 0x80, "0.dwp: .debug_cu_index+0x0: index of 2147483652 slots, 2 units and 4 columns, the section has 144 bytes" },
        { 64, 9, "0.dwp: .debug_cu_index+0x4: none of the 4 columns is for units" },
        { 68, 9, "0.dwp: .debug_cu_index+0x4: none of the 4 columns is for abbreviations" },
    };
    static const uint8_t head[] = { 5, 0, 0, 0, 4, 0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0 };
    struct split_sample s;
    split_sample_init(&s, 5, false);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        struct csni_span image = split_sample_image(&s, s.ids);
        struct split_files files = { .packages = { split_sample_package(&s, 0, 2) } };
        uint8_t *at = place_of(&s, head, sizeof head);
        at[changes[i].off] = changes[i].byte;
        files.dwo[0] = split_sample_dwo(&s, 0);
        expect(image, &files, first_unit, second_symbols);
        bool is_power = changes[i].off == 15;
        if (!is_power) expect_damage(changes[i].text);
        else assert_int_equal(report.events[CSN_EVENT_DAMAGED_UNIT].count, 1);
    }
    split_sample_deinit(&s);
}

static void exchange(uint8_t *a, uint8_t *b, size_t size) {
    for (size_t i = 0; i < size; i++) {
        uint8_t t = a[i];
        a[i] = b[i];
        b[i] = t;
    }
}

/* The rows of an index stand in any order: what counts is where their parts do. */
static void rows_in_any_order(void **state) {
    (void)state;
    static const uint8_t head[] = { 5, 0, 0, 0, 4, 0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0 };
    struct split_sample s;
    split_sample_init(&s, 5, false);
    struct csni_span image = split_sample_image(&s, s.ids);
    struct split_files files = { .packages = { split_sample_package(&s, 0, 2) } };
    uint8_t *rows = place_of(&s, head, sizeof head) + 16 + 4 * 8, *offsets = rows + 4 * 4 + 4 * 4, *sizes = offsets + 2 * 16;
    for (unsigned i = 0; i < 4; i++)
        if (rows[4 * i]) rows[4 * i] = (uint8_t)(3 - rows[4 * i]);
    exchange(offsets, offsets + 16, 16);
    exchange(sizes, sizes + 16, 16);
    expect(image, &files, first_unit, second_unit);
    assert_int_equal(report.units_failed, 0);
    split_sample_deinit(&s);
}

/* A table without a free slot, in which the search for what is not there must end. */
static void full_hash_table(void **state) {
    (void)state;
    static const uint8_t head[] = { 5, 0, 0, 0, 4, 0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0 };
    struct split_sample s;
    split_sample_init(&s, 5, false);
    uint64_t ids[] = { s.ids[0], 12345 };
    struct csni_span image = split_sample_image(&s, ids);
    struct split_files files = { .packages = { split_sample_package(&s, 0, 2) } };
    uint8_t *rows = place_of(&s, head, sizeof head) + 16 + 4 * 8;
    for (unsigned i = 0; i < 4; i++)
        if (!rows[4 * i]) rows[4 * i] = 77;
    expect(image, &files, first_unit, second_symbols);
    assert_int_equal(report.events[CSN_EVENT_MISSING_SPLIT_UNIT].count, 1);
    split_sample_deinit(&s);
}

/* ---- damage of every kind ---- */

/* Whatever the companion holds, there is an index, for there are symbols, and all of it can be read. */
static void expect_answer(struct csni_span image, struct split_files *files, const char *what, size_t at) {
    struct csn_bytes out;
    struct csn_error err = CSN_ERROR_INIT;
    if (convert(image, files, NULL, &out, &err) != CSN_OK) fail_msg("%s %zu: %s", what, at, err.text);
    (void)index_text(out.ptr, out.size);
    csn_bytes_free(&out);
}

static void damage_file(struct split_sample *s, struct csni_span file, struct csni_span *place, struct split_files *files) {
    struct csni_span image = split_sample_image(s, s->ids);
    static const uint8_t masks[] = { 0xff, 0x80, 0x01 };
    uint8_t *copy = malloc(file.size);
    assert_non_null(copy);
    memcpy(copy, file.ptr, file.size);
    for (size_t size = 0; size < file.size; size += SWEEP_STEP) {
        *place = (struct csni_span){ copy, size ? size : 1 };
        expect_answer(image, files, "truncated to", size);
    }
    *place = (struct csni_span){ copy, file.size };
    for (size_t i = 0; i < file.size; i += SWEEP_STEP) {
        uint8_t mask = masks[i % sizeof masks];
        copy[i] ^= mask;
        expect_answer(image, files, "changed at", i);
        copy[i] ^= mask;
    }
    free(copy);
}

/* Version 4 in one byte order, 5 in the other: each takes thousands of conversions. */
static void some(void (*test)(struct split_sample *s)) {
    for (int i = 0; i < 2; i++) {
        struct split_sample s;
        split_sample_init(&s, i ? 5 : 4, i);
        test(&s);
        split_sample_deinit(&s);
    }
}

static void try_damaged_dwo(struct split_sample *s) {
    struct split_files files = { .dwo = { split_sample_dwo(s, 0) } };
    damage_file(s, files.dwo[0], &files.dwo[0], &files);
}
static void damaged_dwo(void **state) { (void)state; some(try_damaged_dwo); }

static void try_damaged_package(struct split_sample *s) {
    struct split_files files = { .packages = { split_sample_package(s, 0, 2) } };
    damage_file(s, files.packages[0], &files.packages[0], &files);
}
static void damaged_package(void **state) { (void)state; some(try_damaged_package); }

/* ---- memory and threads ---- */

struct sweep {
    struct csni_span image;
    struct split_files files;
};

static csn_status convert_step(void *context, const struct csn_allocator *alloc) {
    struct sweep *sweep = context;
    struct csn_bytes out;
    csn_status status = convert(sweep->image, &sweep->files, alloc, &out, NULL);
    if (status == CSN_OK) csn_bytes_free(&out);
    return status;
}

static void try_allocation_failures(struct split_sample *s) {
    struct sweep sweep = { .image = split_sample_image(s, s->ids),
                           .files = { .dwo = { split_sample_dwo(s, 0) }, .packages = { split_sample_package(s, 1, 1) } } };
    assert_true(test_allocator_sweep(convert_step, &sweep, 0) > 60);
    sweep.files.packages[0].size = 0; /* the second unit is missing */
    assert_true(test_allocator_sweep(convert_step, &sweep, 1) > 60);
}
static void allocation_failures(void **state) { (void)state; each(try_allocation_failures); }

static void try_threads(struct split_sample *s) {
    struct csni_span image = split_sample_image(s, s->ids);
    struct split_files files = { .dwo = { split_sample_dwo(s, 0) } };
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    struct csn_bytes one, many;
    options.resolver = split_files_resolve;
    options.resolver_context = &files;
    options.threads = 1;
    assert_int_equal(csn_convert_memory(image.ptr, image.size, &options, &one, NULL, NULL), CSN_OK);
    options.threads = 4;
    assert_int_equal(csn_convert_memory(image.ptr, image.size, &options, &many, NULL, NULL), CSN_OK);
    assert_int_equal(one.size, many.size);
    assert_memory_equal(one.ptr, many.ptr, one.size);
    csn_bytes_free(&one);
    csn_bytes_free(&many);
}
static void threads(void **state) { (void)state; each(try_threads); }

/* A file of much work for its size is refused, whatever other files there are and when they are opened. */
static void work_of_each_file(void **state) {
    (void)state;
    for (unsigned hostile = 0; hostile < SPLIT_SAMPLE_UNITS; hostile++) {
        struct split_sample s;
        struct csn_bytes out;
        struct csn_error err = CSN_ERROR_INIT;
        split_sample_init(&s, 5, false);
        s.more_members[hostile] = s.more_ranges[hostile] = 2300;
        s.padding[1 - hostile] = 16 << 20;
        struct csni_span image = split_sample_image(&s, s.ids);
        struct split_files files = { .dwo = { split_sample_dwo(&s, 0), split_sample_dwo(&s, 1) } };
        assert_int_equal(convert(image, &files, NULL, &out, &err), CSN_E_LIMIT);
        assert_non_null(strstr(err.text, "the limit for debug information of this size"));
        split_sample_deinit(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dwo_files),
        cmocka_unit_test(package),
        cmocka_unit_test(two_packages),
        cmocka_unit_test(package_again_and_again),
        cmocka_unit_test(package_and_file),
        cmocka_unit_test(one_id_twice),
        cmocka_unit_test(missing),
        cmocka_unit_test(other_id),
        cmocka_unit_test(file_that_is_none),
        cmocka_unit_test(other_address_size),
        cmocka_unit_test(bad_indexes),
        cmocka_unit_test(rows_in_any_order),
        cmocka_unit_test(full_hash_table),
        cmocka_unit_test(damaged_dwo),
        cmocka_unit_test(damaged_package),
        cmocka_unit_test(allocation_failures),
        cmocka_unit_test(threads),
        cmocka_unit_test(work_of_each_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
