/* callsign/backtrace.h within this program: capturing, modules, the converter, printing, limits, out of memory. Names and lines are
 * tests/cli/test_backtrace.py's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <callsign/backtrace.h>

#include "support/test_alloc.h"

enum { PCS_MAX = 64 };

/* Elsewhere compilers give a C program no unwind tables unless they are told to. */
#if defined(__x86_64__) || defined(__aarch64__)
#define HAS_UNWIND_TABLES 1
#endif

#ifdef HAS_UNWIND_TABLES
static size_t captured_here(size_t skip, uint64_t *pcs, size_t cap) {
    memset(pcs, 0xaa, PCS_MAX * sizeof *pcs);
    return csn_backtrace_capture(skip, pcs, cap);
}

static void capturing(void **state) {
    uint64_t all[PCS_MAX], some[PCS_MAX];
    (void)state;
    const size_t count = captured_here(0, all, PCS_MAX);
    assert_true(count >= 2 && count <= PCS_MAX);
    assert_int_equal(captured_here(0, some, 0), 0);
    assert_int_equal(some[0], UINT64_C(0xaaaaaaaaaaaaaaaa)); /* nothing was stored */
    assert_int_equal(captured_here(0, some, 1), 1);
    assert_int_equal(some[1], UINT64_C(0xaaaaaaaaaaaaaaaa));
    assert_true(captured_here(1, some, PCS_MAX) == count - 1);
    assert_int_equal(captured_here(PCS_MAX, some, PCS_MAX), 0);
}

#endif

static void modules_of_pcs(void **state) {
    struct csn_backtrace *backtrace;
    struct csn_frame frame;
    size_t count;
    const uint64_t pc = (uint64_t)(uintptr_t)&modules_of_pcs;
    (void)state;
    assert_int_equal(csn_backtrace_create(NULL, &backtrace, NULL), CSN_OK);
    const struct csn_backtrace_module *module = csn_backtrace_find_module(backtrace, pc);
    assert_non_null(module);
    assert_true(module->start <= pc && pc < module->end && module->bias <= pc);
    assert_true(module->path[0] != 0);
    assert_ptr_equal(csn_backtrace_find_module(backtrace, pc + 1), module);
    assert_null(csn_backtrace_find_module(backtrace, 0));
    assert_null(csn_backtrace_find_module(backtrace, UINT64_MAX));
    assert_int_equal(csn_backtrace_lookup(backtrace, 0, &frame, 1, &count, NULL), CSN_NONE);
    csn_backtrace_destroy(backtrace);
    csn_backtrace_destroy(NULL);
}

static csn_status count_requests(void *context, const struct csn_backtrace_module *module, struct csn_index **out,
                                 struct csn_error *err) {
    (void)out, (void)err;
    assert_non_null(module->path);
    ++*(unsigned *)context;
    return CSN_NONE;
}

/* A module that the converter refused is not asked for again; pcs without a module are nobody's. */
static void converter_is_asked_once(void **state) {
    struct csn_backtrace_options options = CSN_BACKTRACE_OPTIONS_INIT;
    struct csn_backtrace *backtrace;
    unsigned requests = 0;
    const uint64_t pcs[] = { (uint64_t)(uintptr_t)&converter_is_asked_once, (uint64_t)(uintptr_t)&modules_of_pcs, 0 };
    (void)state;
    options.convert = count_requests;
    options.convert_context = &requests;
    assert_int_equal(csn_backtrace_create(&options, &backtrace, NULL), CSN_OK);
    assert_int_equal(requests, 0);
    assert_int_equal(csn_backtrace_load(backtrace, pcs, 0, NULL), CSN_OK);
    assert_int_equal(requests, 0);
    assert_int_equal(csn_backtrace_load(backtrace, pcs, 3, NULL), CSN_OK);
    assert_int_equal(requests, 1);
    assert_int_equal(csn_backtrace_load(backtrace, pcs, 3, NULL), CSN_OK);
    assert_int_equal(requests, 1);
    csn_backtrace_destroy(backtrace);
}

static void unknown_options(void **state) {
    struct {
        struct csn_backtrace_options known;
        uint64_t later;
    } options = { CSN_BACKTRACE_OPTIONS_INIT, 1 };
    struct csn_backtrace *backtrace = NULL;
    (void)state;
    options.known.struct_size = sizeof options;
    assert_int_equal(csn_backtrace_create(&options.known, &backtrace, NULL), CSN_E_UNSUPPORTED);
    assert_null(backtrace);
    options.later = 0;
    assert_int_equal(csn_backtrace_create(&options.known, &backtrace, NULL), CSN_OK);
    csn_backtrace_destroy(backtrace);
}

/* Without modules: numbers alone. */
static void printed_without_modules(void **state) {
    static const uint64_t pcs[] = { 0x1139, UINT64_C(0x7fffffffffff) };
    char text[256];
    int ends[2];
    (void)state;
    assert_int_equal(pipe(ends), 0);
    csn_backtrace_print(NULL, pcs, 2, ends[1]);
    close(ends[1]);
    const ssize_t size = read(ends[0], text, sizeof text - 1);
    close(ends[0]);
    assert_true(size > 0);
    text[size] = 0;
    assert_non_null(strstr(text, "#0 0x1139"));
    assert_non_null(strstr(text, "\n    #1 0x7fffffffffff"));
    assert_int_equal(text[size - 1], '\n');
}

static csn_status create_one(void *context, const struct csn_allocator *alloc) {
    struct csn_backtrace_options options = CSN_BACKTRACE_OPTIONS_INIT;
    struct csn_backtrace *backtrace;
    (void)context;
    options.allocator = alloc;
    csn_status status = csn_backtrace_create(&options, &backtrace, NULL);
    if (status == CSN_OK) csn_backtrace_destroy(backtrace);
    return status;
}

static void out_of_memory(void **state) {
    (void)state;
    for (int then_all = 0; then_all < 2; then_all++) assert_true(test_allocator_sweep(create_one, NULL, then_all) > 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#ifdef HAS_UNWIND_TABLES
        cmocka_unit_test(capturing),
#endif
        cmocka_unit_test(modules_of_pcs),          cmocka_unit_test(converter_is_asked_once), cmocka_unit_test(unknown_options),
        cmocka_unit_test(printed_without_modules), cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
