/* convert/, Breakpad symbol files in and out: what the report says, and every allocation failing once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include <callsign/convert.h>
#include <callsign/index.h>

#include "support/model_sample.h"
#include "support/test_alloc.h"

static const char text[] =
    "MODULE Linux x86_64 BBA6FA10B8AAB33D00000000000000000 demo\n"
    "INFO CODE_ID 10FAA6BBAAB83DB3\n"
    "FILE 0 /s/a.c\n"
    "INLINE_ORIGIN 0 sq\n"
    "FUNC 1000 20 0 main\n"
    "INLINE 1 12 0 1 1008 4\n"
    "INLINE 0 11 0 0 1008 8\n"
    "1010 c 40 0\n"
    "1000 4 10 1\n"
    "PUBLIC 1020 0 foo\n"
    "STACK CFI INIT 1000 20 .cfa: $rsp 8 +\n"
    "INLINE_ORIGIN 1 _Z2cuv\n"
    "FILE 1 b.c\n";

static const struct csn_breakpad_options *breakpad; /* of convert() */

static csn_status convert(uint32_t format, uint32_t flags, const struct csn_allocator *alloc, struct csn_bytes *out,
                          struct csn_convert_report *report) {
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    options.threads = 1;
    options.format = format;
    options.flags = flags;
    options.allocator = alloc;
    options.breakpad = breakpad;
    return csn_convert_memory(text, strlen(text), &options, out, report, NULL);
}

static void reports(void **state) {
    (void)state;
    static struct csn_convert_report report;
    struct csn_bytes out = { NULL, 0, NULL };
    assert_int_equal(convert(CSN_FORMAT_GSYM_V1, 0, NULL, &out, &report), CSN_OK);
    assert_string_equal(model_sample_events(&report), "not-representable:1");
    assert_string_equal(report.events[CSN_EVENT_NOT_REPRESENTABLE].example, "a record: STACK CFI INIT 1000 20 .cfa: $rsp 8 +");
    assert_int_equal(report.functions_from_symbols, 2);
    assert_int_equal(report.rows_written, 4);
    assert_int_equal(report.inline_nodes_written, 2);
    struct csn_index *index;
    struct csn_index_info info;
    assert_int_equal(csn_index_open_memory(out.ptr, out.size, NULL, &index, NULL), CSN_OK);
    csn_index_get_info(index, &info, sizeof(info));
    assert_int_equal(info.uuid_size, 8);
    assert_int_equal(info.base_address, 0);
    csn_index_close(index);
    csn_bytes_free(&out);
    assert_int_equal(convert(CSN_FORMAT_GSYM_V1, CSN_CONVERT_STRICT, NULL, &out, &report), CSN_E_FORMAT);
}

static const char demangled[] = "cu()";

static void from_breakpad_to_breakpad(void **state) {
    (void)state;
    static const char want[] =
        "MODULE Linux x86_64 BBA6FA10B8AAB33D00000000000000000 demo\n"
        "INFO CODE_ID 10FAA6BBAAB83DB3\n"
        "FILE 0 /s/a.c\n"
        "FILE 1 b.c\n"
        "INLINE_ORIGIN 0 sq\n"
        "INLINE_ORIGIN 1 %s\n"
        "FUNC 1000 20 0 main\n"
        "INLINE 0 11 0 0 1008 8\n"
        "INLINE 1 12 0 1 1008 4\n"
        "1000 4 10 1\n"
        "1010 c 40 0\n"
        "PUBLIC 1020 0 foo\n"
        "STACK CFI INIT 1000 20 .cfa: $rsp 8 +\n";
    for (int keep = 0; keep < 2; keep++) {
        static struct csn_convert_report report;
        struct csn_bytes out = { NULL, 0, NULL };
        struct csn_breakpad_options options = CSN_BREAKPAD_OPTIONS_INIT;
        options.keep_mangled = keep != 0;
        breakpad = &options;
        assert_int_equal(convert(CSN_FORMAT_BREAKPAD, CSN_CONVERT_STRICT, NULL, &out, &report), CSN_OK);
        breakpad = NULL;
        const char *name = keep ? "_Z2cuv" : demangled;
        size_t head = (size_t)(strstr(want, "%s") - want), size = sizeof want - 1 - 2 + strlen(name);
        assert_int_equal(out.size, size);
        assert_memory_equal(out.ptr, want, head);
        assert_memory_equal((char *)out.ptr + head, name, strlen(name));
        assert_memory_equal((char *)out.ptr + head + strlen(name), want + head + 2, size - head - strlen(name));
        assert_int_equal(report.output_bytes, size);
        assert_int_equal(report.rows_written, 2);
        csn_bytes_free(&out);
    }
}

static struct csn_bytes convert_again(const struct csn_bytes *from, uint32_t format, struct csn_convert_report *report) {
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    struct csn_bytes out = { NULL, 0, NULL };
    struct csn_error err = CSN_ERROR_INIT;
    options.threads = 1;
    options.format = format;
    if (csn_convert_memory(from->ptr, from->size, &options, &out, report, &err) != CSN_OK) fail_msg("%s", err.text);
    return out;
}

/* By way of a format that holds names and sizes only: what is lost on the way there is told then, and nothing on the way back. */
static void by_way_of_bsym(void **state) {
    (void)state;
    static struct csn_convert_report there, back, again;
    static const char want[] =
        "MODULE Linux unknown 000000000000000000000000000000000 unknown\n"
        "FUNC 1000 20 0 main\n";
    struct csn_bytes bsym = { NULL, 0, NULL };
    assert_int_equal(convert(CSN_FORMAT_BSYM, 0, NULL, &bsym, &there), CSN_OK);
    assert_string_equal(model_sample_events(&there), "not-representable:1 lines-not-kept:1 inlined-calls-not-kept:1 "
                                                     "part-not-kept:1 function-without-size:1");
    assert_string_equal(there.events[CSN_EVENT_LINES_LOST].example, "main");
    assert_string_equal(there.events[CSN_EVENT_INLINES_LOST].example, "main");
    assert_string_equal(there.events[CSN_EVENT_PART_LOST].example, "build id");
    struct csn_bytes sym = convert_again(&bsym, CSN_FORMAT_BREAKPAD, &back);
    assert_string_equal(model_sample_events(&back), "");
    assert_int_equal(sym.size, sizeof want - 1);
    assert_memory_equal(sym.ptr, want, sym.size);
    /* From there on nothing more is lost. */
    struct csn_bytes second = convert_again(&sym, CSN_FORMAT_BSYM, &again);
    assert_string_equal(model_sample_events(&again), "");
    assert_int_equal(second.size, bsym.size);
    assert_memory_equal(second.ptr, bsym.ptr, bsym.size);
    csn_bytes_free(&bsym);
    csn_bytes_free(&sym);
    csn_bytes_free(&second);
    assert_int_equal(convert(CSN_FORMAT_BSYM, CSN_CONVERT_STRICT, NULL, &bsym, &there), CSN_E_FORMAT);
}

static csn_status convert_with(void *context, const struct csn_allocator *alloc) {
    static struct csn_convert_report report;
    struct csn_bytes out = { NULL, 0, NULL };
    csn_status status = convert(*(const uint32_t *)context, 0, alloc, &out, &report);
    csn_bytes_free(&out);
    return status;
}

static void every_allocation_fails(void **state) {
    (void)state;
    static uint32_t formats[] = { CSN_FORMAT_GSYM_V1, CSN_FORMAT_BREAKPAD };
    for (int i = 0; i < 2; i++) {
        assert_true(test_allocator_sweep(convert_with, &formats[i], 0) > 20);
        test_allocator_sweep(convert_with, &formats[i], 1);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reports),
        cmocka_unit_test(from_breakpad_to_breakpad),
        cmocka_unit_test(by_way_of_bsym),
        cmocka_unit_test(every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
