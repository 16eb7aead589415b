/* What the unit tests use of cmocka, for machines that it is not built for: other processors, musl, Windows. The names and
 * the lines of output are cmocka's, so that scripts/count-results reads both. */
#ifndef CSN_TEST_CMOCKA_H
#define CSN_TEST_CMOCKA_H

#include <stddef.h>
#include <stdint.h>

struct CMUnitTest {
    const char *name;
    void (*test)(void **state);
    int (*setup)(void **state), (*teardown)(void **state);
    void *initial_state;
};

#define cmocka_unit_test(f) { #f, f, NULL, NULL, NULL }
#define cmocka_unit_test_setup_teardown(f, setup, teardown) { #f, f, setup, teardown, NULL }
#define cmocka_unit_test_teardown(f, teardown) { #f, f, NULL, teardown, NULL }
#define cmocka_run_group_tests(tests, setup, teardown) \
    runner_run(#tests, tests, sizeof(tests) / sizeof *(tests), setup, teardown)
#define cmocka_run_group_tests_name(name, tests, setup, teardown) \
    runner_run(name, tests, sizeof(tests) / sizeof *(tests), setup, teardown)

int runner_run(const char *group, const struct CMUnitTest *tests, size_t count, int (*setup)(void **), int (*teardown)(void **));

#if defined(__MINGW32__) && !defined(__clang__)
#define RUNNER_NORETURN __attribute__((noreturn))
#define RUNNER_PRINTF(n) __attribute__((format(gnu_printf, n, n + 1)))
#elif defined(__GNUC__)
#define RUNNER_NORETURN __attribute__((noreturn))
#define RUNNER_PRINTF(n) __attribute__((format(printf, n, n + 1)))
#else
#define RUNNER_NORETURN
#define RUNNER_PRINTF(n)
#endif

RUNNER_NORETURN void runner_skip(void);
RUNNER_NORETURN void runner_fail(const char *file, int line);
void print_error(const char *format, ...) RUNNER_PRINTF(1);
void print_message(const char *format, ...) RUNNER_PRINTF(1);

void runner_true(int holds, const char *text, const char *file, int line);
void runner_same_int(uintmax_t a, uintmax_t b, int wanted, const char *file, int line);
void runner_same_text(const char *a, const char *b, int wanted, const char *file, int line);
void runner_same_bytes(const void *a, const void *b, size_t size, const char *file, int line);
void runner_in_range(uintmax_t value, uintmax_t low, uintmax_t high, const char *file, int line);

#define skip() runner_skip()
#define fail() runner_fail(__FILE__, __LINE__)
#define fail_msg(...) (print_error(__VA_ARGS__), print_error("\n"), runner_fail(__FILE__, __LINE__))
#define assert_true(c) runner_true(!!(c), #c, __FILE__, __LINE__)
#define assert_false(c) runner_true(!(c), "not " #c, __FILE__, __LINE__)
#define assert_non_null(p) runner_true((p) != NULL, #p " is not NULL", __FILE__, __LINE__)
#define assert_null(p) runner_true((p) == NULL, #p " is NULL", __FILE__, __LINE__)
#define assert_int_equal(a, b) runner_same_int((uintmax_t)(a), (uintmax_t)(b), 1, __FILE__, __LINE__)
#define assert_int_not_equal(a, b) runner_same_int((uintmax_t)(a), (uintmax_t)(b), 0, __FILE__, __LINE__)
#define assert_ptr_equal(a, b) runner_same_int((uintptr_t)(a), (uintptr_t)(b), 1, __FILE__, __LINE__)
#define assert_ptr_not_equal(a, b) runner_same_int((uintptr_t)(a), (uintptr_t)(b), 0, __FILE__, __LINE__)
#define assert_string_equal(a, b) runner_same_text(a, b, 1, __FILE__, __LINE__)
#define assert_string_not_equal(a, b) runner_same_text(a, b, 0, __FILE__, __LINE__)
#define assert_memory_equal(a, b, size) runner_same_bytes(a, b, size, __FILE__, __LINE__)
#define assert_in_range(v, low, high) runner_in_range((uintmax_t)(v), (uintmax_t)(low), (uintmax_t)(high), __FILE__, __LINE__)

#endif
