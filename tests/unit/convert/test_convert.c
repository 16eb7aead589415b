/* convert/: what becomes of each kind of debug information, good or bad; what the report tells; options. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include <callsign/inspect.h>

#include "base/core/span.h"
#include "support/convert_sample.h"
#include "support/model_sample.h"

static struct csn_convert_report report;

/* Converts with `flags`; the index must read as `text`, the events as `events`. Ends the sample. */
static void expect_flags(struct convert_sample *s, uint32_t flags, const char *text, const char *events) {
    struct csni_span file = convert_sample_build(s);
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    struct csn_bytes out;
    struct csn_error err = CSN_ERROR_INIT;
    options.threads = 1;
    options.flags = flags;
    if (csn_convert_memory(file.ptr, file.size, &options, &out, &report, &err) != CSN_OK) fail_msg("%s", err.text);
    assert_string_equal(index_text(out.ptr, out.size), text);
    assert_string_equal(model_sample_events(&report), events);
    csn_bytes_free(&out);
    convert_sample_deinit(s);
}

static void expect(struct convert_sample *s, const char *text, const char *events) { expect_flags(s, 0, text, events); }

static void expect_example(enum csn_event event, const char *example) {
    assert_string_equal(report.events[event].example, example);
}

/* A sample whose unit is open, with rows at each 16 bytes of [0x1000, 0x1100): lines 16, 17, ... of a.c. */
static void begin(struct convert_sample *s, uint16_t version) {
    struct line lines[17];
    convert_sample_init(s, version, version == 4);
    for (uint32_t i = 0; i < 16; i++) lines[i] = (struct line){ 0x1000 + 16 * i, 1, 16 + i };
    lines[16] = (struct line){ 0x1100, LINE_END, 0 };
    convert_sample_lines(s, lines, 17, NULL);
    convert_sample_unit(s);
}

/* Runs the rest of the test for both versions. */
#define BOTH(version) for (uint16_t version = 4; version <= 5; version++)

/* ---- functions ---- */

static void plain_functions(void **state) {
    (void)state;
    BOTH(version) {
        struct convert_sample s;
        begin(&s, version);
        die_function(&s, "f", 0x1000, 0x20);
        die_variable(&s, "v");
        die_end(&s);
        die_declaration(&s, "only declared");
        die_function(&s, "g", 0x1020, 0x18);
        die_end(&s);
        convert_sample_unit_end(&s);
        expect(&s, "f [1000,1020)\n 1000 a.c:16\n 1010 a.c:17\ng [1020,1038)\n 1020 a.c:18\n 1030 a.c:19\n", "");
        assert_int_equal(report.units, 1);
        assert_int_equal(report.units_failed, 0);
        assert_int_equal(report.functions_from_dwarf, 2);
        assert_int_equal(report.functions_from_symbols, 0);
        assert_int_equal(report.functions_written, 3); /* the third without a name, of the rows after g */
        assert_int_equal(report.rows_written, 4 + 12);
        assert_int_equal(report.files_written, 1);
    }
}

static void whole_paths(void **state) {
    (void)state;
    BOTH(version) {
        struct convert_sample s;
        struct csn_bytes out;
        struct csn_index *index;
        struct csn_str directory, base;
        convert_sample_init(&s, version, false);
        static const struct line lines[] = { { 0x1000, 1, 1 }, { 0x1004, 2, 2 }, { 0x1008, 1, 3 }, { 0x1010, LINE_END, 0 } };
        convert_sample_lines(&s, lines, 4, NULL);
        convert_sample_unit(&s);
        die_function(&s, "f", 0x1000, 0x10);
        die_end(&s);
        convert_sample_unit_end(&s);
        struct csni_span file = convert_sample_build(&s);
        assert_int_equal(csn_convert_memory(file.ptr, file.size, NULL, &out, NULL, NULL), CSN_OK);
        assert_int_equal(csn_index_open_memory(out.ptr, out.size, NULL, &index, NULL), CSN_OK);
        assert_int_equal(csn_index_file(index, 1, &directory, &base, NULL), CSN_OK);
        assert_true(csni_str_is(directory, "/src") && csni_str_is(base, "a.c"));
        assert_int_equal(csn_index_file(index, 2, &directory, &base, NULL), CSN_OK);
        assert_true(csni_str_is(directory, "/src/include") && csni_str_is(base, "b.h"));
        csn_index_close(index);
        csn_bytes_free(&out);
        convert_sample_deinit(&s);
    }
}

static void symbols_and_functions(void **state) {
    (void)state;
    struct convert_sample s;
    begin(&s, 5);
    die_function(&s, "f", 0x1000, 0x20);
    die_end(&s);
    convert_sample_unit_end(&s);
    convert_sample_symbol(&s, "alias of f", 0x1000, 0x20);
    convert_sample_symbol(&s, "only a symbol", 0x1800, 0x10);
    convert_sample_symbol(&s, "outside", 0x3000, 0x10);
    convert_sample_symbol(&s, "last", 0x1f00, 0);
    expect(&s, "f [1000,1020)\n 1000 a.c:16\n 1010 a.c:17\nonly a symbol [1800,1810)\nlast [1f00,2000)\n",
           "duplicate-dropped:1");
    expect_example(CSN_EVENT_DUPLICATE_DROPPED, "alias of f at 0x1000+0x20, f at 0x1000+0x20");
    assert_int_equal(report.functions_from_symbols, 3);
    assert_int_equal(report.functions_pruned, 1);
}

/* Symbols of functions that have rows are counted, though no function is made of them; the example is that of the lowest
 * address, in whatever order they stand. What has no rows may be replaced by a symbol. */
static void symbols_of_described_functions(void **state) {
    (void)state;
    for (int way = 0; way < 3; way++) {
        struct convert_sample s;
        begin(&s, 5);
        for (unsigned i = 0; i < 3; i++) {
            static const char *const names[] = { "f", "g", "h" };
            die_function(&s, names[i], 0x1000 + 0x20 * i, 0x20);
            die_end(&s);
        }
        die_function(&s, "rowless", 0x1200, 0x20);
        die_end(&s);
        convert_sample_unit_end(&s);
        for (unsigned i = 0; i < 3; i++) {
            static const unsigned orders[3][3] = { { 0, 1, 2 }, { 2, 1, 0 }, { 1, 0, 2 } };
            static const char *const names[] = { "first", "second", "third" };
            unsigned k = orders[way][i];
            convert_sample_symbol(&s, names[k], 0x1000 + 0x20 * k, 0x20);
        }
        convert_sample_symbol(&s, "shorter", 0x1020, 0x10);
        convert_sample_symbol(&s, "symbol", 0x1200, 0x20);
        expect(&s, "f [1000,1020)\n 1000 a.c:16\n 1010 a.c:17\nshorter [1020,1030)\n 1020 a.c:18\n"
                   "g [1020,1040)\n 1020 a.c:18\n 1030 a.c:19\nh [1040,1060)\n 1040 a.c:20\n 1050 a.c:21\n"
                   "symbol [1200,1220)\n", "duplicate-dropped:4 functions-overlap:1 lines-of-symbol:1");
        expect_example(CSN_EVENT_DUPLICATE_DROPPED, "first at 0x1000+0x20, f at 0x1000+0x20");
        assert_int_equal(report.functions_from_symbols, 5);
        assert_int_equal(report.functions_pruned, 4);
    }
}

static void symbols_alone(void **state) {
    (void)state;
    struct convert_sample s;
    convert_sample_init(&s, 5, false);
    wire_deinit(&s.dwarf.abbrev);
    wire_deinit(&s.dwarf.ranges);
    wire_deinit(&s.dwarf.rnglists);
    convert_sample_symbol(&s, "sym", 0x1000, 8);
    expect(&s, "sym [1000,1008)\n", "");
    assert_int_equal(report.units, 0);
}

static void nameless_functions(void **state) {
    (void)state;
    BOTH(version) {
        struct convert_sample s;
        begin(&s, version);
        size_t area = die_abstract(&s, "area");
        die_nameless(&s, 0x1000, 0x10);
        die_inlined(&s, area, 0x1004, 4, 1, 1);
        die_end(&s);
        /* What is nested in it stays. */
        die_function(&s, "nested", 0x1020, 0x10);
        die_end(&s);
        die_end(&s);
        die_nameless(&s, 0x1010, 0x10);
        die_end(&s);
        die_nameless(&s, 0x1800, 0x10); /* nothing is known of it */
        die_end(&s);
        convert_sample_symbol(&s, "symbol", 0x1010, 0x10);
        convert_sample_unit_end(&s);
        struct csni_span file = convert_sample_build(&s);
        struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
        struct csn_bytes out;
        assert_int_equal(csn_convert_memory(file.ptr, file.size, &options, &out, &report, NULL), CSN_OK);
        const char *text = whole_index_text(out.ptr, out.size);
        static const char expected[] = " [1000,1010)\n 1000 a.c:16\n >area [1004,1008) a.c:1\nsymbol [1010,1020)\n 1010 a.c:17\n"
                                       "nested [1020,1030)\n 1020 a.c:18\n [1030,1100)\n";
        assert_memory_equal(text, expected, sizeof expected - 1);
        assert_int_equal(report.events[CSN_EVENT_FUNCTION_WITHOUT_NAME].count, 1);
        expect_example(CSN_EVENT_FUNCTION_WITHOUT_NAME, "function at 0x1800 of unit 0x0");
        csn_bytes_free(&out);
        convert_sample_deinit(&s);
    }
}

static void removed_functions(void **state) {
    (void)state;
    static const uint64_t removed_part[][2] = { { 0x1040, 0x1050 }, { UINT64_MAX - 1, UINT64_MAX - 1 },
                                                { 0x1060, 0x1070 } };
    static const uint64_t outside_part[][2] = { { 0x1080, 0x1090 }, { 0x5000, 0x5010 }, { 0x10a0, 0x10b0 } };
    BOTH(version) {
        struct convert_sample s;
        begin(&s, version);
        die_function(&s, "at zero", 0, 0x20);
        die_end(&s);
        die_function(&s, "at all ones", UINT64_MAX, 0);
        die_end(&s);
        die_function(&s, "empty", 0x1000, 0);
        die_end(&s);
        die_function(&s, "outside", 0x4000, 0x20);
        die_inlined(&s, s.unit + 1, 0x4000, 4, 1, 1); /* not looked at: its origin is no DIE */
        die_end(&s);
        die_end(&s);
        die_function(&s, "reaches out", 0x1ff0, 0x20);
        die_end(&s);
        die_function_ranges(&s, "removed", convert_sample_ranges(&s, removed_part, 3));
        die_end(&s);
        die_function_ranges(&s, "half outside", convert_sample_ranges(&s, outside_part, 3));
        die_end(&s);
        convert_sample_unit_end(&s);
        /* What the linker removed from a list is an empty range there, and stops nothing. */
        expect(&s, "removed [1040,1050)\n 1040 a.c:20\nremoved [1060,1070)\n 1060 a.c:22\nhalf outside [1080,1090)\n"
                   " 1080 a.c:24\nreaches out [1ff0,2010)\n",
               "function-outside-text:2 function-discarded-by-linker:3");
        expect_example(CSN_EVENT_FUNCTION_OUTSIDE_TEXT, "[0x4000, 0x4020)");
        expect_example(CSN_EVENT_FUNCTION_DISCARDED, "[0x0, 0x20)");
    }
}

static void functions_of_several_ranges(void **state) {
    (void)state;
    static const uint64_t parts[][2] = { { 0x1080, 0x10a0 }, { 0x1000, 0x1020 } };
    static const uint64_t calls[][2] = { { 0x1090, 0x1098 }, { 0x1004, 0x1008 }, { 0x1010, 0x1018 } };
    BOTH(version) {
        struct convert_sample s;
        begin(&s, version);
        size_t area = die_abstract(&s, "area"), scale = die_abstract(&s, "scale");
        die_function_ranges(&s, "split", convert_sample_ranges(&s, parts, 2));
        die_inlined_ranges(&s, area, convert_sample_ranges(&s, calls, 3), 1, 5);
        die_inlined(&s, scale, 0x1012, 2, 2, 6);
        die_end(&s);
        die_end(&s);
        die_end(&s);
        convert_sample_unit_end(&s);
        expect(&s, "split [1000,1020)\n 1000 a.c:16\n 1010 a.c:17\n >area [1004,1008) [1010,1018) a.c:5\n"
                   " >>scale [1012,1014) b.h:6\nsplit [1080,10a0)\n 1080 a.c:24\n 1090 a.c:25\n >area [1090,1098) a.c:5\n",
               "");
        assert_int_equal(report.functions_from_dwarf, 2);
        assert_int_equal(report.inline_nodes_written, 3);
    }
}

static void too_large_functions(void **state) {
    (void)state;
    BOTH(version) {
        struct convert_sample s;
        begin(&s, version);
        die_function(&s, "huge", 0x1000, 0x100000000);
        die_end(&s);
        convert_sample_unit_end(&s);
        struct csni_span file = convert_sample_build(&s);
        struct csn_bytes out;
        assert_int_equal(csn_convert_memory(file.ptr, file.size, NULL, &out, &report, NULL), CSN_OK);
        assert_memory_equal(index_text(out.ptr, out.size), "huge [1000,100000fff)\n", 22);
        assert_string_equal(model_sample_events(&report), "function-too-large:1");
        expect_example(CSN_EVENT_FUNCTION_TOO_LARGE, "[0x1000, 0x100001000)");
        csn_bytes_free(&out);
        convert_sample_deinit(&s);
    }
}

/* A function in a class in a function, and back out. */
static void nested_functions(void **state) {
    (void)state;
    BOTH(version) {
        struct convert_sample s;
        begin(&s, version);
        size_t area = die_abstract(&s, "area");
        die_function(&s, "outer", 0x1000, 0x20);
        die_inlined(&s, area, 0x1000, 4, 1, 1);
        die_end(&s);
        die_class(&s, "local");
        die_function(&s, "method", 0x1040, 0x10);
        die_inlined(&s, area, 0x1044, 4, 1, 2);
        die_end(&s);
        die_end(&s);
        die_end(&s);
        die_inlined(&s, area, 0x1010, 4, 1, 3);
        die_end(&s);
        die_end(&s);
        convert_sample_unit_end(&s);
        expect(&s, "outer [1000,1020)\n 1000 a.c:16\n 1010 a.c:17\n >area [1000,1004) a.c:1\n >area [1010,1014) a.c:3\n"
                   "method [1040,1050)\n 1040 a.c:20\n >area [1044,1048) a.c:2\n",
               "");
    }
}

/* Lexical blocks are not given by the walk; what follows one must not end up in a call before it. */
static void blocks_between_inlined_calls(void **state) {
    (void)state;
    BOTH(version) {
        struct convert_sample s;
        begin(&s, version);
        size_t a = die_abstract(&s, "a"), b = die_abstract(&s, "b"), c = die_abstract(&s, "c");
        die_function(&s, "f", 0x1000, 0x40);
        die_block(&s);
        die_inlined(&s, a, 0x1000, 0x20, 1, 1);
        die_block(&s);
        die_block(&s);
        die_inlined(&s, b, 0x1000, 0x10, 1, 2);
        die_end(&s);
        die_end(&s);
        die_end(&s);
        die_block(&s);
        die_inlined(&s, c, 0x1010, 0x10, 1, 3);
        die_end(&s);
        die_end(&s);
        die_end(&s);
        die_end(&s);
        /* As deep as b, but in no inlined call. */
        die_block(&s);
        die_block(&s);
        die_block(&s);
        die_block(&s);
        die_inlined(&s, b, 0x1020, 0x10, 1, 4);
        die_end(&s);
        die_end(&s);
        die_end(&s);
        die_end(&s);
        die_end(&s);
        die_inlined(&s, c, 0x1030, 0x10, 1, 5);
        die_end(&s);
        die_end(&s);
        convert_sample_unit_end(&s);
        expect(&s, "f [1000,1040)\n 1000 a.c:16\n 1010 a.c:17\n 1020 a.c:18\n 1030 a.c:19\n >a [1000,1020) a.c:1\n"
                   " >>b [1000,1010) a.c:2\n >>c [1010,1020) a.c:3\n >b [1020,1030) a.c:4\n >c [1030,1040) a.c:5\n",
               "");
    }
}

/* ---- inlined calls ---- */

static void calls_from_no_file(void **state) {
    (void)state;
    BOTH(version) {
        struct convert_sample s;
        begin(&s, version);
        size_t area = die_abstract(&s, "area");
        die_function(&s, "f", 0x1000, 0x10);
        die_inlined(&s, area, 0x1000, 8, 9, 1);
        die_inlined(&s, area, 0x1000, 4, 1, 2); /* stays in it */
        die_end(&s);
        die_end(&s);
        size_t good = die_inlined(&s, area, 0x1008, 4, 2, 3);
        die_end(&s);
        die_end(&s);
        convert_sample_unit_end(&s);
        expect(&s, "f [1000,1010)\n 1000 a.c:16\n >area [1000,1008) :1\n >>area [1000,1004) a.c:2\n"
                   " >area [1008,100c) b.h:3\n",
               "inline-bad-file:1");
        char text[64];
        /* A DIE of 28 bytes with its child and the two ends before the good one. */
        snprintf(text, sizeof text, "DIE 0x%zx names file 9 of %u", good - 2 - 2 * 23, version >= 5 ? 3 : 2);
        expect_example(CSN_EVENT_INLINE_BAD_FILE, text);
    }
}

static void calls_outside_their_parent(void **state) {
    (void)state;
    static const uint64_t half[][2] = { { 0x1004, 0x1008 }, { 0x100c, 0x1014 } };
    BOTH(version) {
        struct convert_sample s;
        begin(&s, version);
        size_t a = die_abstract(&s, "a"), b = die_abstract(&s, "b"), c = die_abstract(&s, "c");
        die_function(&s, "f", 0x1000, 0x10);
        size_t first = die_inlined_ranges(&s, a, convert_sample_ranges(&s, half, 2), 1, 1);
        die_inlined(&s, b, 0x1002, 4, 1, 2); /* begins before a, which has that code, too, then */
        die_inlined(&s, c, 0x1004, 2, 1, 3);
        die_end(&s);
        die_end(&s);
        die_inlined(&s, c, 0x1006, 2, 1, 4);
        die_end(&s);
        die_end(&s);
        die_inlined(&s, b, 0x2020, 4, 1, 5);
        die_end(&s);
        die_end(&s);
        convert_sample_unit_end(&s);
        expect(&s, "f [1000,1010)\n 1000 a.c:16\n >a [1002,1008) [100c,1010) a.c:1\n >>b [1002,1006) a.c:2\n"
                   " >>>c [1004,1006) a.c:3\n >>c [1006,1008) a.c:4\n",
               "inline-outside-parent:1 inline-clipped:1");
        char text[64];
        snprintf(text, sizeof text, "DIE 0x%zx, [0x100c, 0x1014)", first);
        expect_example(CSN_EVENT_INLINE_CLIPPED, text);
        expect_example(CSN_EVENT_INLINE_OUTSIDE_PARENT, "[0x2020, 0x2024)");
    }
}

static void calls_without_ranges(void **state) {
    (void)state;
    BOTH(version) {
        struct convert_sample s;
        begin(&s, version);
        size_t a = die_abstract(&s, "a");
        die_function(&s, "optimised away", 0x1000, 0x10);
        die_inlined(&s, a, 0x1004, 0, 1, 1);
        die_end(&s);
        die_end(&s);
        die_function(&s, "wrong", 0x1010, 0x10);
        die_inlined(&s, a, 0x100f, 8, 1, 1); /* begins before the function */
        die_end(&s);
        die_end(&s);
        die_function(&s, "bad list", 0x1020, 0x10);
        die_inlined_ranges(&s, a, 0x9999, 1, 1);
        die_end(&s);
        die_end(&s);
        die_function_ranges(&s, "bad list too", 0x9999);
        die_end(&s);
        convert_sample_unit_end(&s);
        expect(&s, "optimised away [1000,1010)\n 1000 a.c:16\nwrong [1010,1020)\n 1010 a.c:17\n"
                   " >a [1010,1017) a.c:1\nbad list [1020,1030)\n 1020 a.c:18\n",
               "damaged-ranges:2 inline-clipped:1");
    }
}

/* Readers go no deeper than CSN_INLINE_DEPTH_MAX. */
static void nests_that_are_too_deep(void **state) {
    (void)state;
    for (unsigned levels = CSN_INLINE_DEPTH_MAX - 2; levels <= CSN_INLINE_DEPTH_MAX + 200; levels += 101) {
        struct convert_sample s;
        begin(&s, 5);
        size_t a = die_abstract(&s, "a");
        die_function(&s, "f", 0x1000, 0x10);
        for (unsigned i = 0; i < levels; i++) die_inlined(&s, a, 0x1000, 8, 1, i & 0x7f);
        for (unsigned i = 0; i < levels; i++) die_end(&s);
        die_inlined(&s, a, 0x1008, 8, 1, 1);
        die_end(&s);
        die_end(&s);
        convert_sample_unit_end(&s);
        struct csni_span file = convert_sample_build(&s);
        struct csn_bytes out;
        assert_int_equal(csn_convert_memory(file.ptr, file.size, NULL, &out, &report, NULL), CSN_OK);
        index_text(out.ptr, out.size);
        unsigned kept = levels < CSN_INLINE_DEPTH_MAX ? levels : CSN_INLINE_DEPTH_MAX - 1;
        assert_int_equal(report.inline_nodes_written, kept + 1);
        assert_int_equal(report.events[CSN_EVENT_INLINE_TOO_DEEP].count, levels > kept);
        csn_bytes_free(&out);
        convert_sample_deinit(&s);
    }
}

/* ---- rows ---- */

static void declared_functions(void **state) {
    (void)state;
    BOTH(version) {
        struct convert_sample s;
        begin(&s, version);
        size_t bad = die_function_declared(&s, "bad", 0x1800, 8, 7, 12);
        die_function_declared(&s, "good", 0x1810, 8, 2, 34);
        die_function_declared(&s, "has rows", 0x1000, 8, 2, 56);
        convert_sample_unit_end(&s);
        convert_sample_unit_without_lines(&s);
        die_function_declared(&s, "no table", 0x1820, 8, 1, 78);
        convert_sample_unit_end(&s);
        expect(&s, "has rows [1000,1008)\n 1000 a.c:16\nbad [1800,1808)\ngood [1810,1818)\n 1810 b.h:34\n"
                   "no table [1820,1828)\n",
               "declaration-bad-file:1");
        char text[64];
        snprintf(text, sizeof text, "DIE 0x%zx names file 7 of %u", bad, version >= 5 ? 3 : 2);
        expect_example(CSN_EVENT_DECL_BAD_FILE, text);
    }
}

static void where_rows_begin(void **state) {
    (void)state;
    BOTH(version) {
        struct convert_sample s;
        convert_sample_init(&s, version, false);
        static const struct line lines[] = { { 0x1004, 1, 1 }, { 0x1010, 1, 2 }, { 0x1020, LINE_END, 0 },
                                             { 0x1030, 1, 3 }, { 0x1040, LINE_END, 0 } };
        convert_sample_lines(&s, lines, 5, NULL);
        convert_sample_unit(&s);
        die_function_declared(&s, "late", 0x1000, 0x10, 2, 9);
        die_function(&s, "between", 0x1012, 8);
        die_end(&s);
        die_function_declared(&s, "over a gap", 0x101a, 0x20, 2, 9);
        convert_sample_unit_end(&s);
        expect(&s, "late [1000,1010)\n 1000 b.h:9\n 1004 a.c:1\nbetween [1012,101a)\n 1012 a.c:2\n"
                   "over a gap [101a,103a)\n 101a a.c:2\n 1030 a.c:3\n",
               "line-start-clipped:2");
        expect_example(CSN_EVENT_LINE_START_CLIPPED, "function at 0x1012, row at 0x1010");
    }
}

static void rows_that_are_wrong(void **state) {
    (void)state;
    BOTH(version) {
        struct convert_sample s;
        convert_sample_init(&s, version, false);
        static const struct line lines[] = { { 0x1000, 1, 1 }, { 0x1004, 7, 2 }, { 0x1008, 1, 3 }, { 0x1020, LINE_END, 0 },
                                             { 0x1020, 1, 4 }, { 0x1028, 1, 5 }, { 0x1024, 1, 6 }, { 0x102c, 1, 7 },
                                             { 0x1040, LINE_END, 0 } };
        convert_sample_lines(&s, lines, 9, NULL);
        convert_sample_unit(&s);
        die_function(&s, "bad file", 0x1000, 0x10);
        die_end(&s);
        die_function(&s, "back", 0x1020, 0x20);
        die_end(&s);
        convert_sample_unit_end(&s);
        expect(&s, "bad file [1000,1010)\n 1000 a.c:1\n 1008 a.c:3\nback [1020,1040)\n 1020 a.c:4\n 1028 a.c:5\n",
               "line-bad-file:1 line-not-ascending:1");
        char text[80];
        snprintf(text, sizeof text, "row at 0x1004 of unit 0x0 names file 7 of %u", version >= 5 ? 3 : 2);
        expect_example(CSN_EVENT_LINE_BAD_FILE, text);
        expect_example(CSN_EVENT_LINE_NOT_ASCENDING, "function at 0x1020, row at 0x1024 after 0x1028");
    }
}

/* A row beyond the end of its own sequence, and after what the next one begins with. */
static void rows_behind_their_sequence(void **state) {
    (void)state;
    BOTH(version) {
        struct convert_sample s;
        convert_sample_init(&s, version, false);
        static const struct line lines[] = { { 0x1000, 1, 1 }, { 0x1030, 1, 2 }, { 0x1010, LINE_END, 0 },
                                             { 0x1020, 1, 3 }, { 0x1038, 1, 4 }, { 0x1040, LINE_END, 0 } };
        convert_sample_lines(&s, lines, 6, NULL);
        convert_sample_unit(&s);
        die_function(&s, "f", 0x1000, 0x40);
        die_end(&s);
        convert_sample_unit_end(&s);
        expect(&s, "f [1000,1040)\n 1000 a.c:1\n 1030 a.c:2\n", "line-not-ascending:1");
        expect_example(CSN_EVENT_LINE_NOT_ASCENDING, "function at 0x1000, row at 0x1020 after 0x1030");
    }
}

/* Rows that begin in the middle of each other's sequences, and repeat file and line. */
static void rows_of_several_sequences(void **state) {
    (void)state;
    BOTH(version) {
        struct convert_sample s;
        convert_sample_init(&s, version, false);
        static const struct line lines[] = { { 0x1030, 1, 7 }, { 0x1040, LINE_END, 0 },
                                             { 0x1000, 1, 5 }, { 0x1008, 1, 5 }, { 0x100c, 2, 5 }, { 0x1010, LINE_END, 0 },
                                             { 0x1010, 2, 5 }, { 0x1018, 1, 6 }, { 0x1030, LINE_END, 0 } };
        convert_sample_lines(&s, lines, 9, NULL);
        convert_sample_unit(&s);
        die_function(&s, "f", 0x1000, 0x38);
        die_end(&s);
        convert_sample_unit_end(&s);
        expect(&s, "f [1000,1038)\n 1000 a.c:5\n 100c b.h:5\n 1018 a.c:6\n 1030 a.c:7\n", "");
    }
}

/* Folded functions: all sequences at one address; DW_AT_LLVM_stmt_sequence tells which is whose. */
static void functions_that_name_their_sequence(void **state) {
    (void)state;
    BOTH(version) {
        struct convert_sample s;
        uint64_t offsets[3];
        convert_sample_init(&s, version, false);
        static const struct line lines[] = { { 0x1000, 1, 1 }, { 0x1010, LINE_END, 0 }, { 0x1000, 1, 2 },
                                             { 0x1010, LINE_END, 0 }, { 0x1020, 1, 3 }, { 0x1030, LINE_END, 0 } };
        convert_sample_lines(&s, lines, 6, offsets);
        convert_sample_unit(&s);
        die_function_sequence(&s, "second", 0x1000, 0x10, offsets[1]);
        die_end(&s);
        size_t wrong = die_function_sequence(&s, "wrong", 0x1000, 0xc, offsets[1] + 1);
        die_end(&s);
        die_function_sequence(&s, "of another place", 0x1000, 8, offsets[2]);
        die_end(&s);
        die_function_sequence(&s, "none", 0x1000, 4, UINT32_MAX);
        die_end(&s);
        convert_sample_unit_end(&s);
        expect(&s, "none [1000,1004)\n 1000 a.c:1\nof another place [1000,1008)\n 1000 a.c:1\nwrong [1000,100c)\n"
                   " 1000 a.c:1\nsecond [1000,1010)\n 1000 a.c:2\n",
               "line-bad-sequence:2 functions-overlap:3");
        char text[80];
        snprintf(text, sizeof text, "DIE 0x%zx names the sequence at .debug_line+0x%llx", wrong,
                 (unsigned long long)offsets[1] + 1);
        expect_example(CSN_EVENT_LINE_BAD_SEQUENCE, text);
    }
}

/* ---- call sites ---- */

static void fill_call_sites(struct convert_sample *s, uint16_t version, size_t *outside) {
    begin(s, version);
    size_t odd = die_abstract(s, "a.b(c)*");
    size_t f = die_function(s, "f", 0x1000, 0x20);
    die_call_site(s, odd, 0x1008);
    die_block(s);
    die_inlined(s, odd, 0x1008, 8, 1, 1);
    die_call_site(s, f, 0x100c);
    die_end(s);
    die_end(s);
    die_call_site(s, 0, 0x1010);
    *outside = die_call_site(s, f, 0x1021);
    die_call_site(s, odd, 0x1018);
    die_call_site(s, 0, 0x1020); /* does not return */
    die_end(s);
    convert_sample_unit_end(s);
}

static void call_sites(void **state) {
    (void)state;
    BOTH(version) {
        struct convert_sample s;
        size_t outside;
        fill_call_sites(&s, version, &outside);
        expect(&s, "f [1000,1020)\n 1000 a.c:16\n 1010 a.c:17\n >a.b(c)* [1008,1010) a.c:1\n", "");
        assert_int_equal(report.call_sites_written, 0);
        fill_call_sites(&s, version, &outside);
        expect_flags(&s, CSN_CONVERT_CALL_SITES,
                     "f [1000,1020)\n 1000 a.c:16\n 1010 a.c:17\n >a.b(c)* [1008,1010) a.c:1\n call +8 ^a\\.b\\(c\\)\\*$\n"
                     " call +c ^f$\n call +10\n call +18 ^a\\.b\\(c\\)\\*$\n call +20\n",
                     "call-site-outside-function:1");
        assert_int_equal(report.call_sites_written, 5);
        char text[64];
        snprintf(text, sizeof text, "DIE 0x%zx returns to 0x1021", outside);
        expect_example(CSN_EVENT_CALL_SITE_OUTSIDE, text);
    }
}

/* ---- damage ---- */

static void damaged_units(void **state) {
    (void)state;
    BOTH(version) {
        struct convert_sample s;
        begin(&s, version);
        die_function(&s, "before", 0x1000, 0x10);
        die_end(&s);
        size_t damage = wire_uleb(&s.dwarf.info, 0x55); /* no such abbreviation */
        die_function(&s, "after", 0x1010, 0x10);
        die_end(&s);
        convert_sample_unit_end(&s);
        size_t second = s.dwarf.info.size;
        convert_sample_unit_without_lines(&s);
        wire_patch(&s.dwarf.info, second + (version >= 5 ? 8 : 6), 0x7777, 4); /* no such table */
        convert_sample_unit_end(&s);
        convert_sample_unit_without_lines(&s);
        die_function(&s, "in another unit", 0x1020, 0x10);
        die_end(&s);
        convert_sample_unit_end(&s);
        expect(&s, "before [1000,1010)\n 1000 a.c:16\nin another unit [1020,1030)\n 1020 a.c:18\n",
               "damaged-unit:2 lines-of-symbol:1");
        assert_int_equal(report.units, 3);
        assert_int_equal(report.units_failed, 1);
        char text[64];
        snprintf(text, sizeof text, "unit 0x0: .debug_info+0x%zx: ", damage);
        assert_memory_equal(report.events[CSN_EVENT_DAMAGED_UNIT].example, text, strlen(text));
    }
}

static void damaged_line_table(void **state) {
    (void)state;
    struct convert_sample s;
    begin(&s, 5);
    die_function(&s, "f", 0x1000, 0x10);
    die_end(&s);
    convert_sample_unit_end(&s);
    wire_patch(&s.dwarf.line, 4, 9, 2);
    expect(&s, "f [1000,1010)\n", "damaged-line-table:1");
    assert_memory_equal(report.events[CSN_EVENT_DAMAGED_LINE_TABLE].example, ".debug_line+0x0: ", 17);
}

/* ---- options ---- */

static csn_status convert(struct csni_span file, const struct csn_convert_options *options, struct csn_bytes *out,
                          struct csn_error *err) {
    *out = (struct csn_bytes){ NULL, 0, NULL };
    csn_status status = csn_convert_memory(file.ptr, file.size, options, out, NULL, err);
    if (status < 0) {
        assert_int_equal(err->code, status);
        assert_null(out->ptr);
        assert_int_equal(out->size, 0);
    }
    return status;
}

static void strictness(void **state) {
    (void)state;
    BOTH(version) {
        struct convert_sample s;
        struct csn_bytes out;
        struct csn_error err = CSN_ERROR_INIT;
        struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
        options.flags = CSN_CONVERT_STRICT;
        begin(&s, version);
        die_function(&s, "f", 0x1000, 0x10);
        die_end(&s);
        die_function(&s, "removed", 0, 0x10); /* normal */
        die_end(&s);
        die_function(&s, "between", 0x1028, 0x10); /* clipped */
        die_end(&s);
        size_t unit_end = s.dwarf.info.size;
        convert_sample_unit_end(&s);
        struct csni_span file = convert_sample_build(&s);
        assert_int_equal(convert(file, &options, &out, &err), CSN_OK);
        csn_bytes_free(&out);
        s.dwarf.info.size = unit_end;
        die_function(&s, "outside", 0x4000, 0x10);
        die_end(&s);
        die_function(&s, "outside", 0x5000, 0x10);
        die_end(&s);
        convert_sample_unit_end(&s);
        file = convert_sample_build(&s);
        assert_int_equal(convert(file, &options, &out, &err), CSN_E_FORMAT);
        assert_string_equal(err.text, "strict: function-outside-text, 2 times; first: [0x4000, 0x4010)");
        convert_sample_deinit(&s);
    }
}

static void options_are_checked(void **state) {
    (void)state;
    struct convert_sample s;
    struct csn_bytes out;
    struct csn_error err = CSN_ERROR_INIT;
    convert_sample_init(&s, 5, false);
    convert_sample_fill(&s);
    struct csni_span file = convert_sample_build(&s);
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    options.flags = 1024 | CSN_CONVERT_STRICT;
    assert_int_equal(convert(file, &options, &out, &err), CSN_E_UNSUPPORTED);
    assert_string_equal(err.text, "unknown conversion flags 0x400");
    options.flags = 0;
    options.format = 99;
    assert_int_equal(convert(file, &options, &out, &err), CSN_E_UNSUPPORTED);
    assert_string_equal(err.text, "output format 99 is not known");
    options.format = CSN_FORMAT_GSYM_V1;
    options.byte_order = 9;
    assert_int_equal(convert(file, &options, &out, &err), CSN_E_UNSUPPORTED);
    assert_string_equal(err.text, "byte order 9 is not known, need <= 2");
    options.byte_order = 0;
    options.merged_functions = 9;
    assert_int_equal(convert(file, &options, &out, &err), CSN_E_UNSUPPORTED);
    assert_string_equal(err.text, "merged_functions is 9, need <= 3");
    struct { struct csn_convert_options known; uint8_t more[8]; } newer = { CSN_CONVERT_OPTIONS_INIT, { 0 } };
    newer.more[5] = 1;
    newer.known.struct_size = sizeof newer;
    assert_int_equal(convert(file, &newer.known, &out, &err), CSN_E_UNSUPPORTED);
    char message[100];
    snprintf(message, sizeof message, "byte %zu of the options is set, this version knows %zu", sizeof newer.known + 5,
             sizeof newer.known);
    assert_string_equal(err.text, message);
    newer.more[5] = 0;
    assert_int_equal(convert(file, &newer.known, &out, &err), CSN_OK);
    csn_bytes_free(&out);
    /* So are the options of one format. */
    struct csn_bsym_options bsym = CSN_BSYM_OPTIONS_INIT;
    struct csn_convert_options with_bsym = CSN_CONVERT_OPTIONS_INIT;
    with_bsym.bsym = &bsym;
    bsym.version = 5 << 16;
    assert_int_equal(convert(file, &with_bsym, &out, &err), CSN_E_UNSUPPORTED);
    assert_string_equal(err.text, "version 5.0 of BSYM is not known");
    bsym.struct_size = 3;
    assert_int_equal(convert(file, &with_bsym, &out, &err), CSN_E_ARGUMENT);
    snprintf(message, sizeof message, "struct_size is 3, need at least %zu", sizeof options.struct_size);
    assert_string_equal(err.text, message);
    /* A caller of an older version with nothing but the size: whatever follows it is not looked at. */
    memset(&options, 0xff, sizeof options);
    options.struct_size = sizeof options.struct_size;
    assert_int_equal(convert(file, &options, &out, &err), CSN_OK);
    csn_bytes_free(&out);
    options.struct_size = 0;
    assert_int_equal(convert(file, &options, &out, &err), CSN_E_ARGUMENT);
    snprintf(message, sizeof message, "struct_size is 0, need at least %zu", sizeof options.struct_size);
    assert_string_equal(err.text, message);
    convert_sample_deinit(&s);
}

struct progress {
    uint64_t calls, stop_at, done, total;
};

static bool on_progress(void *context, const char *phase, uint64_t done, uint64_t total) {
    struct progress *p = context;
    assert_string_equal(phase, "units");
    assert_true(done > p->done);
    assert_true(done <= total);
    assert_true(!p->total || p->total == total);
    p->done = done;
    p->total = total;
    return ++p->calls != p->stop_at;
}

static void progress(void **state) {
    (void)state;
    struct convert_sample s;
    struct csn_bytes out;
    convert_sample_init(&s, 5, false);
    convert_sample_fill(&s);
    struct csni_span file = convert_sample_build(&s);
    for (uint32_t threads = 1; threads <= 4; threads += 3)
        for (uint64_t stop_at = 0; stop_at <= 3; stop_at++) {
            struct progress p = { .stop_at = stop_at };
            struct csn_error err = CSN_ERROR_INIT;
            struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
            options.threads = threads;
            options.progress = on_progress;
            options.progress_context = &p;
            csn_status status = convert(file, &options, &out, &err);
            assert_int_equal(status, stop_at ? CSN_E_CANCELLED : CSN_OK);
            assert_string_equal(err.text, stop_at ? "stopped by the caller" : "");
            assert_true(p.calls >= stop_at);
            if (!stop_at) assert_int_equal(p.done, s.dwarf.info.size);
            assert_int_equal(p.total, s.dwarf.info.size);
            csn_bytes_free(&out);
        }
    convert_sample_deinit(&s);
}

static void any_number_of_threads(void **state) {
    (void)state;
    BOTH(version) {
        struct convert_sample s;
        struct csn_bytes out, again;
        struct csn_error err = CSN_ERROR_INIT;
        convert_sample_init(&s, version, false);
        for (int i = 0; i < 12; i++) {
            convert_sample_fill(&s);
            s.symbol_count = 2;
        }
        struct csni_span file = convert_sample_build(&s);
        struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
        options.flags = CSN_CONVERT_CALL_SITES;
        options.threads = 1;
        assert_int_equal(convert(file, &options, &out, &err), CSN_OK);
        for (options.threads = 2; options.threads <= 7; options.threads += 5)
            for (int run = 0; run < 5; run++) {
                assert_int_equal(convert(file, &options, &again, &err), CSN_OK);
                assert_int_equal(again.size, out.size);
                assert_memory_equal(again.ptr, out.ptr, out.size);
                csn_bytes_free(&again);
            }
        csn_bytes_free(&out);
        convert_sample_deinit(&s);
    }
}

static void what_is_no_input(void **state) {
    (void)state;
    struct csn_bytes out;
    struct csn_error err = CSN_ERROR_INIT;
    assert_int_equal(convert((struct csni_span){ NULL, 0 }, NULL, &out, &err), CSN_E_UNSUPPORTED);
    const struct csni_span text = { (const uint8_t *)"hello, world", 12 };
    assert_int_equal(convert(text, NULL, &out, &err), CSN_E_UNSUPPORTED);
    assert_false(csn_is_input("hello, world", 12));
    assert_false(csn_is_input(NULL, 0));
    struct convert_sample s;
    convert_sample_init(&s, 5, false);
    struct csni_span file = convert_sample_build(&s);
    assert_true(csn_is_input(file.ptr, file.size));
    assert_int_equal(convert(file, NULL, &out, &err), CSN_E_NOT_FOUND);
    assert_string_equal(err.text, "no functions found, nothing to write");
    convert_sample_deinit(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_functions),
        cmocka_unit_test(whole_paths),
        cmocka_unit_test(symbols_and_functions),
        cmocka_unit_test(symbols_of_described_functions),
        cmocka_unit_test(symbols_alone),
        cmocka_unit_test(nameless_functions),
        cmocka_unit_test(removed_functions),
        cmocka_unit_test(functions_of_several_ranges),
        cmocka_unit_test(too_large_functions),
        cmocka_unit_test(nested_functions),
        cmocka_unit_test(blocks_between_inlined_calls),
        cmocka_unit_test(calls_from_no_file),
        cmocka_unit_test(calls_outside_their_parent),
        cmocka_unit_test(calls_without_ranges),
        cmocka_unit_test(nests_that_are_too_deep),
        cmocka_unit_test(declared_functions),
        cmocka_unit_test(where_rows_begin),
        cmocka_unit_test(rows_that_are_wrong),
        cmocka_unit_test(rows_behind_their_sequence),
        cmocka_unit_test(rows_of_several_sequences),
        cmocka_unit_test(functions_that_name_their_sequence),
        cmocka_unit_test(call_sites),
        cmocka_unit_test(damaged_units),
        cmocka_unit_test(damaged_line_table),
        cmocka_unit_test(strictness),
        cmocka_unit_test(options_are_checked),
        cmocka_unit_test(progress),
        cmocka_unit_test(any_number_of_threads),
        cmocka_unit_test(what_is_no_input),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
