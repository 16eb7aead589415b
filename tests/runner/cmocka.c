#include "cmocka.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum verdict { PASSED, FAILED, SKIPPED };

static jmp_buf end_of_test;

void runner_skip(void) { longjmp(end_of_test, SKIPPED); }

void runner_fail(const char *file, int line) {
    fprintf(stderr, "[   LINE   ] --- %s:%d: error: Failure!\n", file, line);
    longjmp(end_of_test, FAILED);
}

void print_error(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
}

void print_message(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vprintf(format, arguments);
    va_end(arguments);
}

void runner_true(int holds, const char *text, const char *file, int line) {
    if (holds) return;
    print_error("[  ERROR   ] --- %s\n", text);
    runner_fail(file, line);
}

void runner_same_int(uintmax_t a, uintmax_t b, int wanted, const char *file, int line) {
    if ((a == b) == wanted) return;
    print_error("[  ERROR   ] --- %#" PRIxMAX " %s %#" PRIxMAX "\n", a, wanted ? "!=" : "==", b);
    runner_fail(file, line);
}

void runner_same_text(const char *a, const char *b, int wanted, const char *file, int line) {
    if ((strcmp(a, b) == 0) == wanted) return;
    print_error("[  ERROR   ] --- \"%s\" %s \"%s\"\n", a, wanted ? "!=" : "==", b);
    runner_fail(file, line);
}

void runner_same_bytes(const void *a, const void *b, size_t size, const char *file, int line) {
    const unsigned char *left = a, *right = b;
    for (size_t i = 0; i < size; i++) {
        if (left[i] == right[i]) continue;
        print_error("[  ERROR   ] --- byte %zu of %zu: %#x != %#x\n", i, size, left[i], right[i]);
        runner_fail(file, line);
    }
}

void runner_in_range(uintmax_t value, uintmax_t low, uintmax_t high, const char *file, int line) {
    if (value >= low && value <= high) return;
    print_error("[  ERROR   ] --- %#" PRIxMAX " is not within %#" PRIxMAX " to %#" PRIxMAX "\n", value, low, high);
    runner_fail(file, line);
}

/* What setup, test and teardown come to. */
static enum verdict run_test(const struct CMUnitTest *test, void *state) {
    void *volatile own = test->initial_state ? test->initial_state : state;
    volatile enum verdict verdict = PASSED;
    int ended = setjmp(end_of_test);
    if (ended) {
        verdict = (enum verdict)ended;
    } else {
        void *given = own;
        if (test->setup && test->setup(&given)) runner_fail(test->name, 0);
        own = given;
        test->test(&given);
        own = given;
    }
    void *given = own;
    if (test->teardown && setjmp(end_of_test) == 0 && test->teardown(&given)) verdict = FAILED;
    return verdict;
}

int runner_run(const char *group, const struct CMUnitTest *tests, size_t count, int (*setup)(void **), int (*teardown)(void **)) {
    static const char *const words[] = { "[       OK ]", "[  FAILED  ]", "[  SKIPPED ]" };
    int counts[3] = { 0 };
    void *state = NULL;
    setvbuf(stdout, NULL, _IONBF, 0);
    printf("[==========] %s: Running %zu test(s).\n", group, count);
    if (setup && setup(&state)) {
        printf("[  FAILED  ] GROUP SETUP\n");
        return 1;
    }
    for (size_t i = 0; i < count; i++) {
        printf("[ RUN      ] %s\n", tests[i].name);
        enum verdict verdict = run_test(&tests[i], state);
        printf("%s %s\n", words[verdict], tests[i].name);
        counts[verdict]++;
    }
    if (teardown && teardown(&state)) counts[FAILED]++;
    printf("[==========] %d passed, %d failed, %d skipped.\n", counts[PASSED], counts[FAILED], counts[SKIPPED]);
    return counts[FAILED];
}
