/* symbolicate/: stacks over indexes with merged functions: who is chosen, why, and who is not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/span.h"
#include "formats/gsym/gsym_layout.h"
#include "support/stack_sample.h"
#include "support/test_alloc.h"

enum { IN = CSN_CALL_SITE_INTERNAL, EX = CSN_CALL_SITE_EXTERNAL };

/* The program: a group of two, callers of every kind; the library: functions that call back. */
struct world {
    struct wire_gsym app_file, lib_file;
    struct csn_index *app, *lib;
    struct csn_module modules[3];
    struct csn_symbolicator *s;
};
enum { APP, LIB, STRIPPED };

static void add_app(struct wire_gsym *g) {
    wire_gsym_init(g, false, 4, 0x1000);
    wire_gsym_file(g, "/src", "shapes.cc");
    struct wire_gsym_function *f = wire_gsym_function(g, 0x1000, 0x20, "area");
    static const struct sample_site square_calls[] = {
        { 0x8, IN, { "^leaf_two$" } }, { 0xc, IN, { "^leaf_two$" } }, { 0x18, EX, { "^leaf_two$" } }, { 0x1c, EX, { "^leaf_one$" } }
    };
    static const struct sample_site circle_calls[] = {
        { 0x8, IN, { "^leaf_one$" } }, { 0xc, IN, { "^elsewhere$" } }, { 0x18, EX, { "^qsort$", "^leaf_two$" } },
        { 0x1c, EX, { "^leaf_two$" } }
    };
    static const struct sample_site area_calls[] = { { 0x8, IN, { "^leaf_one$" } }, { 0x10, IN, { "^leaf_one$" } } };
    sample_sites(g, &f->parts, area_calls, 2);
    static const struct sample_merged siblings[] = { { "square", square_calls, 4, 33 }, { "circle", circle_calls, 4, 0 },
                                                     { "plain", NULL, 0, 44 } };
    sample_merge(g, f, siblings, 3);
    f = wire_gsym_function(g, 0x1100, 0x20, "leaf_one");
    static const struct sample_merged leaves[] = { { "leaf_two", NULL, 0, 0 } };
    sample_merge(g, f, leaves, 1);
    f = wire_gsym_function(g, 0x1200, 0x100, "caller");
    static const struct sample_site calls[] = {
        { 0x10, IN, { "^square$" } },      { 0x20, 0, { "area" } },          { 0x30, IN, { "^(square|circle)$" } },
        { 0x40, IN, { NULL } },            { 0x50, IN, { "^wrapper$" } },    { 0x60, EX, { "^square$" } },
        { 0x70, IN, { "^s.*e$" } },        { 0x80, IN, { "((" } },           { 0x90, IN, { "^circle$", "^elsewhere$" } },
        { 0xa0, IN, { "^plain$" } },       { 0xb0, EX, { "^qsort$", "^circle$" } },
        { 0xc0, IN, { "^square$" } },      { 0xc0, IN, { "^circle$" } },     { 0x100, IN, { "^circle$" } },
    };
    sample_sites(g, &f->parts, calls, sizeof(calls) / sizeof(calls[0]));
    wire_gsym_function(g, 0x1300, 0x20, "other");
    f = wire_gsym_function(g, 0x1400, 0x20, "-[Square draw:]");
    static const struct sample_merged methods[] = { { "-[Circle(Big) draw:]", NULL, 0, 0 }, { "-[Circle fill:]", NULL, 0, 0 } };
    sample_merge(g, f, methods, 2);
    f = wire_gsym_function(g, 0x1500, 0x20, "sender");
    static const struct sample_site sends[] = { { 0x8, IN, { "_objc_msgSend$fill:" } }, { 0x10, IN, { "^objc_msgSend\\$draw:$" } },
                                               { 0x18, IN, { "put(char)" } } };
    sample_sites(g, &f->parts, sends, 3);
    f = wire_gsym_function(g, 0x1600, 0x20, "put(int)");
    static const struct sample_merged puts[] = { { "put(char)", NULL, 0, 0 } };
    sample_merge(g, f, puts, 1);
}

static void add_lib(struct wire_gsym *g) {
    wire_gsym_init(g, false, 4, 0x100);
    wire_gsym_function(g, 0x100, 0x40, "qsort");
    struct wire_gsym_function *f = wire_gsym_function(g, 0x200, 0x40, "lib_caller");
    static const struct sample_site calls[] = { { 0x10, EX, { "^circle$" } }, { 0x20, IN, { "^circle$" } } };
    sample_sites(g, &f->parts, calls, 2);
    f = wire_gsym_function(g, 0x300, 0x80, "apply");
    static const struct sample_site steps[] = {
        { 0x10, IN, { "^qsort$" } }, { 0x20, EX, { "^elsewhere$" } }, { 0x30, IN, { "^trampoline$" } },
        { 0x40, EX, { "^(square|plain)$" } }, { 0x50, EX, { NULL } },
    };
    sample_sites(g, &f->parts, steps, 5);
}

static int setup(void **state) {
    static struct world w;
    add_app(&w.app_file);
    add_lib(&w.lib_file);
    w.app = sample_open(&w.app_file);
    w.lib = sample_open(&w.lib_file);
    w.modules[APP] = (struct csn_module){ .index = w.app, .start = 0x500000, .end = 0x502000, .bias = 0x4ff000 };
    w.modules[LIB] = (struct csn_module){ .index = w.lib, .start = 0x700000, .end = 0x701000, .bias = 0x700000 };
    w.modules[STRIPPED] = (struct csn_module){ .start = 0x900000, .end = 0x901000, .bias = 0x900000 };
    assert_int_equal(csn_symbolicator_create(NULL, &w.s, NULL), CSN_OK);
    assert_int_equal(csn_symbolicator_set_modules(w.s, w.modules, 3, NULL), CSN_OK);
    *state = &w;
    return 0;
}

static int teardown(void **state) {
    struct world *w = *state;
    csn_symbolicator_destroy(w->s);
    csn_index_close(w->app);
    csn_index_close(w->lib);
    wire_gsym_deinit(&w->app_file);
    wire_gsym_deinit(&w->lib_file);
    return 0;
}

/* A frame of a module, by image address. */
#define A(module, addr) { addr, module, CSN_STACK_ADDRESS }
#define EXPECT(w, text, ...)                                                                       \
    do {                                                                                           \
        static const struct csn_stack_frame frames_[] = { __VA_ARGS__ };                           \
        expect(w, text, frames_, sizeof(frames_) / sizeof(frames_[0]));                            \
    } while (0)

static const struct csn_stack_answer *expect(struct world *w, const char *text, const struct csn_stack_frame *frames,
                                             size_t count) {
    const struct csn_stack_answer *answers;
    char got[512];
    assert_int_equal(csn_symbolicator_answer(w->s, frames, count, &answers, NULL), CSN_OK);
    sample_describe(answers, count, got, sizeof(got));
    assert_string_equal(got, text);
    return answers;
}

static void by_the_caller(void **state) {
    struct world *w = *state;
    EXPECT(w, "square<caller@1 caller", A(APP, 0x1004), A(APP, 0x1210));
    EXPECT(w, "area<caller@1 caller", A(APP, 0x1004), A(APP, 0x1220));
    /* By pc; a call as the last thing of a function returns to the byte after it. */
    EXPECT(w, "square<caller@1 caller", { 0x500004, 0, 0 }, { 0x500210, 0, 0 });
    EXPECT(w, "circle<caller@1 caller", A(APP, 0x1004), A(APP, 0x1300));
    /* No call site, an indirect call, a callee that is none of them: nothing is chosen. */
    EXPECT(w, "area|square|circle|plain? caller", A(APP, 0x1004), A(APP, 0x1218));
    EXPECT(w, "area|square|circle|plain? caller", A(APP, 0x1004), A(APP, 0x1240));
    EXPECT(w, "area|square|circle|plain? caller", A(APP, 0x1004), A(APP, 0x1250));
    EXPECT(w, "area|square|circle|plain?", A(APP, 0x1004));
}

/* Patterns that are more than a name are expressions. */
static void skip_without_expressions(void) {
#ifndef CSNI_HAVE_PCRE2
    skip();
#endif
}

static void chains_of_merged_functions(void **state) {
    struct world *w = *state;
    skip_without_expressions();
    /* Each sibling speaks with its own call sites. */
    EXPECT(w, "leaf_two<caller@1 square<caller@2 caller", A(APP, 0x1104), A(APP, 0x1008), A(APP, 0x1210));
    EXPECT(w, "leaf_one<caller@1 circle<pattern@2 caller", A(APP, 0x1104), A(APP, 0x1008), A(APP, 0x1290));
    EXPECT(w, "leaf_one<caller@1 area<caller@2 caller", A(APP, 0x1104), A(APP, 0x1010), A(APP, 0x1220));
    /* One that has none is not spoken for by the kept function; nor is a group that is undecided. */
    EXPECT(w, "leaf_one|leaf_two? plain<caller@2 caller", A(APP, 0x1104), A(APP, 0x1008), A(APP, 0x12a0));
    EXPECT(w, "leaf_one|leaf_two? area|square|circle|plain? caller", A(APP, 0x1104), A(APP, 0x1008), A(APP, 0x1218));
    /* Two remain and disagree, or do not both have a call site there. */
    EXPECT(w, "leaf_one|leaf_two? square|circle? caller", A(APP, 0x1104), A(APP, 0x1008), A(APP, 0x1230));
    EXPECT(w, "leaf_one|leaf_two? square|circle? caller", A(APP, 0x1104), A(APP, 0x1010), A(APP, 0x1230));
    /* One of them calls none of the candidates: it may be the one, and the stack wrong. */
    static const struct csn_stack_frame frames[] = { A(APP, 0x1104), A(APP, 0x100c), A(APP, 0x1230) };
    const struct csn_stack_answer *a = expect(w, "leaf_one|leaf_two? square|circle? caller", frames, 3);
    assert_int_equal(a[0].notes, CSN_STACK_NOTE_CALLER_UNDECIDED);
}

static void another_module(void **state) {
    struct world *w = *state;
    EXPECT(w, "circle<caller@1 lib_caller", A(APP, 0x1004), A(LIB, 0x210));
    EXPECT(w, "circle<caller@1 lib_caller", { 0x500004, 0, 0 }, { 0x700210, 0, 0 });
    /* The call stays in the library's own image. */
    EXPECT(w, "area|square|circle|plain? lib_caller", A(APP, 0x1004), A(LIB, 0x220));
}

static void callbacks(void **state) {
    struct world *w = *state;
    EXPECT(w, "square<outer@2 - caller", A(APP, 0x1004), A(STRIPPED, 0x10), A(APP, 0x1260));
    EXPECT(w, "square<outer@4 qsort - qsort caller", A(APP, 0x1004), A(LIB, 0x110), { 0x10, 0, 0 }, A(LIB, 0x120),
           A(APP, 0x1260));
    /* The callee proper is met; what else was expected is met by the caller's own image only. */
    EXPECT(w, "circle<outer@2 qsort caller", A(APP, 0x1004), A(LIB, 0x110), A(APP, 0x12b0));
    /* Back in the image that expected something else; a nearer call site speaks; met once, not twice. */
    EXPECT(w, "area|square|circle|plain? other - caller", A(APP, 0x1004), A(APP, 0x1310), A(STRIPPED, 0x10),
           A(APP, 0x1260));
    EXPECT(w, "circle<caller@1 lib_caller caller", A(APP, 0x1004), A(LIB, 0x210), A(APP, 0x1260));
    EXPECT(w, "area|square|circle|plain? - square<outer@4 - caller", A(APP, 0x1004), A(STRIPPED, 0x10), A(APP, 0x1014),
           A(STRIPPED, 0x10), A(APP, 0x1260));
    /* An internal call site expects nothing further in; an interrupted frame called nobody. */
    EXPECT(w, "area|square|circle|plain? - caller", A(APP, 0x1004), A(STRIPPED, 0x10), A(APP, 0x1210));
    EXPECT(w, "area|square|circle|plain? - caller", A(APP, 0x1004), { 0x10, STRIPPED, CSN_STACK_ADDRESS | CSN_STACK_EXACT },
           A(APP, 0x1260));
    EXPECT(w, "area|square|circle|plain? caller", A(APP, 0x1004), { 0x1210, APP, CSN_STACK_ADDRESS | CSN_STACK_EXACT });
}

/* An index of the library that calls back takes nothing away: its calls within itself, of others or of everybody. */
static void callbacks_through_a_known_library(void **state) {
    struct world *w = *state;
    skip_without_expressions();
    EXPECT(w, "square<outer@3 qsort apply caller", A(APP, 0x1004), A(LIB, 0x110), A(LIB, 0x310), A(APP, 0x1260));
    EXPECT(w, "square<outer@3 - apply caller", A(APP, 0x1004), A(STRIPPED, 0x10), A(LIB, 0x320), A(APP, 0x1260));
    EXPECT(w, "square<outer@2 apply caller", A(APP, 0x1004), A(LIB, 0x330), A(APP, 0x1260));
    EXPECT(w, "square<outer@2 apply caller", A(APP, 0x1004), A(LIB, 0x340), A(APP, 0x1260));
    EXPECT(w, "square<outer@2 apply caller", A(APP, 0x1004), A(LIB, 0x350), A(APP, 0x1260));
    /* It calls somebody else, or another part of the list is meant. */
    EXPECT(w, "square|plain? apply caller", A(APP, 0x1004), A(LIB, 0x340), A(APP, 0x12b0));
    /* The program's own image is not the only one that can be called back. */
    struct csn_module other[3] = { w->modules[APP], w->modules[LIB], { .index = w->app } };
    assert_int_equal(csn_symbolicator_set_modules(w->s, other, 3, NULL), CSN_OK);
    EXPECT(w, "circle<outer@2 qsort caller", A(2, 0x1004), A(LIB, 0x110), A(APP, 0x12b0));
    assert_int_equal(csn_symbolicator_set_modules(w->s, w->modules, 3, NULL), CSN_OK);
}

/* The same as all of them set at once. */
static void modules_one_by_one(void **state) {
    struct world *w = *state;
    const struct csn_module none = { .index = NULL }, unknown = { .reserved = { 1 } };
    const struct csn_module moved = { .index = w->app, .start = 0x7000000, .end = 0x7100000, .bias = 0x7000000 };
    assert_int_equal(csn_symbolicator_set_modules(w->s, NULL, 0, NULL), CSN_OK);
    for (unsigned i = 0; i < 3; i++) assert_int_equal(csn_symbolicator_set_module(w->s, i, &w->modules[i], NULL), CSN_OK);
    EXPECT(w, "circle<outer@2 qsort caller", A(APP, 0x1004), A(LIB, 0x110), A(APP, 0x12b0));
    for (unsigned i = 3; i < 100; i++) assert_int_equal(csn_symbolicator_set_module(w->s, i, &none, NULL), CSN_OK);
    EXPECT(w, "-", A(50, 0x12b0));
    const struct csn_module named = { .index = w->app };
    assert_int_equal(csn_symbolicator_set_module(w->s, 50, &named, NULL), CSN_OK);
    EXPECT(w, "caller", A(50, 0x12b0));
    assert_int_equal(csn_symbolicator_set_module(w->s, 100, &moved, NULL), CSN_OK);
    EXPECT(w, "caller", { 0x70012b0, 0, 0 });
    assert_int_equal(csn_symbolicator_set_module(w->s, 100, &none, NULL), CSN_OK);
    EXPECT(w, "-", { 0x70012b0, 0, 0 });
    assert_int_equal(csn_symbolicator_set_module(w->s, 102, &none, NULL), CSN_E_ARGUMENT);
    assert_int_equal(csn_symbolicator_set_module(w->s, 101, &unknown, NULL), CSN_E_UNSUPPORTED);
    assert_int_equal(csn_symbolicator_set_modules(w->s, w->modules, 3, NULL), CSN_OK);
}

/* What fails for want of memory changes nothing, and the same call again does all of it. */
static void modules_without_memory(void **state) {
    struct world *w = *state;
    const struct csn_module first = { .index = w->app, .start = 0x10000, .end = 0x20000, .bias = 0x10000 };
    const struct csn_module second = { .index = w->lib, .start = 0x20000, .end = 0x30000, .bias = 0x20000 };
    const struct csn_module both[] = { second, first };
    const struct csn_stack_frame frames[] = { { 0x11000, 0, CSN_STACK_EXACT }, { 0x20100, 0, CSN_STACK_EXACT } };
    const struct csn_stack_answer *answers;
    for (unsigned way = 0; way < 3; way++) {
        csn_status status = CSN_E_MEMORY;
        for (uint64_t nth = 1; status == CSN_E_MEMORY; nth++) {
            struct test_allocator t;
            struct csn_symbolicator_options options = CSN_SYMBOLICATOR_OPTIONS_INIT;
            struct csn_symbolicator *s;
            test_allocator_init(&t);
            options.allocator = &t.base;
            assert_int_equal(csn_symbolicator_create(&options, &s, NULL), CSN_OK);
            assert_int_equal(csn_symbolicator_set_modules(s, &first, 1, NULL), CSN_OK);
            for (unsigned round = 0; round < 2; round++) {
                if (!round) test_allocator_fail(&t, nth, 0);
                status = way == 0   ? csn_symbolicator_set_module(s, 1, &second, NULL)
                         : way == 1 ? csn_symbolicator_set_module(s, 0, &second, NULL)
                                    : csn_symbolicator_set_modules(s, both, 2, NULL);
                test_allocator_fail(&t, 0, 0);
                assert_int_equal(csn_symbolicator_answer(s, frames, 2, &answers, NULL), CSN_OK);
                const bool is_set = status == CSN_OK, is_gone = is_set && way == 1;
                assert_int_equal(answers[0].module, is_gone ? UINT32_MAX : is_set && way == 2 ? 1 : 0);
                assert_int_equal(answers[1].module, !is_set ? UINT32_MAX : way == 0 ? 1 : 0);
                if (status == CSN_OK && !round) break;
                if (round) assert_int_equal(status, CSN_OK);
                if (!round) assert_int_equal(status, CSN_E_MEMORY);
                if (round) status = CSN_E_MEMORY; /* another one may fail */
            }
            csn_symbolicator_destroy(s);
            test_allocator_check_empty(&t);
            assert_true(nth < 20);
        }
    }
}

/* What the callee proper meets is met: a third image that has the name, too, is not called by it. */
static void expectations_that_the_callee_meets(void **state) {
    struct world *w = *state;
    struct csn_module images[3] = { w->modules[APP], { .index = w->app }, { .index = w->app } };
    assert_int_equal(csn_symbolicator_set_modules(w->s, images, 3, NULL), CSN_OK);
    EXPECT(w, "area|square|circle|plain? square<caller@2 caller", A(2, 0x1004), A(1, 0x1014), A(0, 0x1260));
    assert_int_equal(csn_symbolicator_set_modules(w->s, w->modules, 3, NULL), CSN_OK);
}

/* The caller is one of several: what all of them hand to the library is known. */
static void callbacks_of_undecided_callers(void **state) {
    struct world *w = *state;
    skip_without_expressions();
    EXPECT(w, "leaf_two<outer@2 - square|circle? caller", A(APP, 0x1104), A(STRIPPED, 0x10), A(APP, 0x1018), A(APP, 0x1230));
    EXPECT(w, "leaf_two<outer@2 qsort square|circle? caller", A(APP, 0x1104), A(LIB, 0x110), A(APP, 0x1018), A(APP, 0x1230));
    /* They name different ones, or one of them names nobody. */
    EXPECT(w, "leaf_one|leaf_two? - square|circle? caller", A(APP, 0x1104), A(STRIPPED, 0x10), A(APP, 0x101c), A(APP, 0x1230));
    EXPECT(w, "leaf_one|leaf_two? - area|square|circle|plain? caller", A(APP, 0x1104), A(STRIPPED, 0x10), A(APP, 0x1018),
           A(APP, 0x1218));
}

/* Expectations that wait at the same time: one ends where its own image is back, the others stay; more than are kept, and the
 * nearest is among those that are. */
static void several_expectations(void **state) {
    struct world *w = *state;
    EXPECT(w, "circle<outer@4 - other - lib_caller - caller", A(APP, 0x1004), A(STRIPPED, 0x10), A(APP, 0x1310), A(STRIPPED, 0x10),
           A(LIB, 0x210), A(STRIPPED, 0x10), A(APP, 0x1260));
    enum { CALLERS = 40 };
    struct csn_module modules[2 + CALLERS] = { w->modules[APP], w->modules[STRIPPED] };
    struct csn_stack_frame frames[1 + 2 * CALLERS] = { A(0, 0x1004) };
    for (uint32_t k = 0; k < CALLERS; k++) {
        modules[2 + k] = (struct csn_module){ .index = w->lib, .start = 0x10000000 + 0x1000 * k, .end = 0x10001000 + 0x1000 * k };
        frames[1 + 2 * k] = (struct csn_stack_frame)A(1, 0x10);
        frames[2 + 2 * k] = (struct csn_stack_frame)A(2 + k, 0x210);
    }
    assert_int_equal(csn_symbolicator_set_modules(w->s, modules, 2 + CALLERS, NULL), CSN_OK);
    const struct csn_stack_answer *answers;
    assert_int_equal(csn_symbolicator_answer(w->s, frames, 1 + 2 * CALLERS, &answers, NULL), CSN_OK);
    assert_int_equal(answers[0].choice, CSN_CHOICE_OUTER);
    assert_int_equal(answers[0].evidence_frame, 2);
    assert_true(csni_str_is(answers[0].candidates[answers[0].chosen], "circle"));
    assert_int_equal(csn_symbolicator_set_modules(w->s, w->modules, 3, NULL), CSN_OK);
}

/* Between a frame and its caller: named, in nobody's way, and nobody's caller. */
static void unreliable_frames(void **state) {
    struct world *w = *state;
    enum { UNRELIABLE = CSN_STACK_ADDRESS | CSN_STACK_UNRELIABLE };
    EXPECT(w, "leaf_two<caller@2 other square<caller@4 other caller", A(APP, 0x1104), { 0x1310, APP, UNRELIABLE }, A(APP, 0x1008),
           { 0x1310, APP, UNRELIABLE }, A(APP, 0x1210));
    EXPECT(w, "area|square|circle|plain? caller", A(APP, 0x1004), { 0x1210, APP, UNRELIABLE });
    EXPECT(w, "area|square|circle|plain? caller", { 0x1004, APP, UNRELIABLE }, A(APP, 0x1210));
    EXPECT(w, "area|square|circle|plain? caller", { 0x1004, APP, UNRELIABLE }, { 0x1210, APP, UNRELIABLE });
}

static void several_callees(void **state) {
    struct world *w = *state;
    skip_without_expressions();
    EXPECT(w, "square|circle? caller", A(APP, 0x1004), A(APP, 0x1230));
    EXPECT(w, "square<pattern@1 caller", A(APP, 0x1004), A(APP, 0x1270));
    EXPECT(w, "circle<pattern@1 caller", A(APP, 0x1004), A(APP, 0x1290));
    /* Records of one return address add up. */
    EXPECT(w, "square|circle? caller", A(APP, 0x1004), A(APP, 0x12c0));
    EXPECT(w, "-[Circle fill:]<pattern@1 sender", A(APP, 0x1404), A(APP, 0x1508));
    EXPECT(w, "-[Square draw:]|-[Circle(Big) draw:]? sender", A(APP, 0x1404), A(APP, 0x1510));
    /* A name that was not escaped: as an expression it would be another one. */
    EXPECT(w, "put(char)<pattern@1 sender", A(APP, 0x1604), A(APP, 0x1518));
}

static void addresses(void **state) {
    struct world *w = *state;
    static const struct csn_stack_frame frames[] = {
        { 0x1004, APP, CSN_STACK_ADDRESS | CSN_STACK_RETURN }, { 0x120f, APP, CSN_STACK_ADDRESS | CSN_STACK_BEFORE },
        { 0x1210, APP, CSN_STACK_ADDRESS | CSN_STACK_BEFORE }, { 0, APP, 0 }, { UINT64_MAX, APP, CSN_STACK_ADDRESS },
        { 0x900010, 0, 0 },
    };
    const struct csn_stack_answer *a =
        expect(w, "square<caller@1 caller caller - - -", frames, sizeof(frames) / sizeof(frames[0]));
    assert_int_equal(a[0].addr, 0x1004);
    assert_int_equal(a[0].frames[0].offset, 4);
    assert_int_equal(a[0].function_start, 0x1000);
    assert_int_equal(a[1].frames[0].offset, 0xf);
    assert_int_equal(a[3].reason, CSN_REASON_NO_MODULE);
    assert_int_equal(a[3].module, UINT32_MAX);
    assert_int_equal(a[4].reason, CSN_REASON_GAP);
    assert_int_equal(a[5].reason, CSN_REASON_NO_INDEX);
    assert_int_equal(a[5].module, STRIPPED);
    assert_int_equal(a[5].addr, 0x10);
}

static void frames_of_the_chosen(void **state) {
    struct world *w = *state;
    static const struct csn_stack_frame frames[] = { A(APP, 0x1004), A(APP, 0x1210) };
    const struct csn_stack_answer *a = expect(w, "square<caller@1 caller", frames, 2);
    assert_int_equal(a[0].frame_count, 1);
    assert_int_equal(a[0].frames[0].line, 33);
    assert_memory_equal(a[0].frames[0].base.ptr, "shapes.cc", 9);
    assert_memory_equal(a[0].frames[0].name.ptr, "square", 6);
    assert_int_equal(a[0].confidence, CSN_CONFIDENCE_HIGH);
    assert_memory_equal(a[0].evidence_pattern.ptr, "^square$", 8);
    static const struct csn_stack_frame plain[] = { A(APP, 0x1004), A(APP, 0x1290) };
    a = expect(w, "circle<pattern@1 caller", plain, 2);
    assert_int_equal(a[0].frames[0].line, 0);
    assert_int_equal(a[0].frames[0].reason, CSN_REASON_NO_LINE_TABLE);
}

/* One that was folded away has calls inlined into it, too. */
static void inlined_into_the_chosen(void **state) {
    struct world *w = *state;
    struct wire_gsym g;
    struct wire tree, parts, record, payload;
    wire_gsym_init(&g, false, 4, 0x1000);
    wire_init(&tree, false);
    wire_init(&parts, false);
    wire_init(&record, false);
    wire_init(&payload, false);
    uint32_t file = wire_gsym_file(&g, "/src", "folded.cc"), folded = wire_gsym_string(&g, "folded");
    wire_gsym_node(&tree, 1, (const uint32_t[]){ 0, 0x20 }, true, folded, 0, 0);
    wire_gsym_node(&tree, 2, (const uint32_t[]){ 4, 0, 8, 8 }, true, wire_gsym_string(&g, "middle"), file, 7);
    wire_gsym_node(&tree, 1, (const uint32_t[]){ 2, 4 }, false, wire_gsym_string(&g, "inner"), file, 9);
    wire_u8(&tree, 0);
    wire_u8(&tree, 0);
    wire_gsym_part_wire(&parts, CSNI_GSYM_PART_INLINE, &tree);
    wire_gsym_record(&record, 0x20, folded, &parts);
    wire_u32(&payload, 1);
    wire_u32(&payload, record.size);
    wire_append(&payload, &record);
    struct wire_gsym_function *f = wire_gsym_function(&g, 0x1000, 0x20, "kept");
    wire_gsym_part_wire(&f->parts, CSNI_GSYM_PART_MERGED, &payload);
    f = wire_gsym_function(&g, 0x1100, 0x20, "caller");
    static const struct sample_site calls[] = { { 0x10, IN, { "^folded$" } } };
    sample_sites(&g, &f->parts, calls, 1);
    struct csn_index *index = sample_open(&g);
    const struct csn_module module = { .index = index, .end = 0x10000 };
    assert_int_equal(csn_symbolicator_set_modules(w->s, &module, 1, NULL), CSN_OK);
    static const struct { uint64_t addr; const char *names[3]; uint64_t offsets[3]; } cases[] = {
        { 0x1005, { "folded" }, { 5 } }, { 0x1008, { "middle", "folded" }, { 0, 8 } },
        { 0x100d, { "inner", "middle", "folded" }, { 3, 5, 13 } },
        { 0x100f, { "middle", "folded" }, { 7, 15 } }, { 0x1010, { "folded" }, { 16 } },
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const struct csn_stack_frame frames[] = { A(0, cases[i].addr), A(0, 0x1110) };
        const struct csn_stack_answer *a = expect(w, "folded<caller@1 caller", frames, 2);
        for (uint32_t k = 0; k < a->frame_count; k++) {
            assert_true(k < 3 && csni_str_is(a->frames[k].name, cases[i].names[k]));
            assert_int_equal(a->frames[k].offset, cases[i].offsets[k]);
            bool is_function = k + 1 == a->frame_count;
            assert_int_equal(a->frames[k].flags, is_function ? 0 : CSN_FRAME_INLINED);
            if (k) assert_int_equal(a->frames[k].line, csni_str_is(a->frames[k - 1].name, "inner") ? 9 : 7);
        }
        assert_true(a->frame_count == 3 || !cases[i].names[a->frame_count]);
    }
    assert_int_equal(csn_symbolicator_set_modules(w->s, w->modules, 3, NULL), CSN_OK);
    csn_symbolicator_forget(w->s);
    csn_index_close(index);
    wire_deinit(&tree);
    wire_deinit(&parts);
    wire_deinit(&record);
    wire_deinit(&payload);
    wire_gsym_deinit(&g);
}

static uint32_t notes_of(struct world *w, uint64_t caller) {
    const struct csn_stack_frame frames[] = { A(APP, 0x1004), A(APP, caller) };
    const struct csn_stack_answer *answers;
    assert_int_equal(csn_symbolicator_answer(w->s, frames, 2, &answers, NULL), CSN_OK);
    return answers[0].notes;
}

static void notes(void **state) {
    struct world *w = *state;
    assert_int_equal(notes_of(w, 0x1218), CSN_STACK_NOTE_NO_CALL_SITE);
    assert_int_equal(notes_of(w, 0x1240), CSN_STACK_NOTE_INDIRECT);
    assert_int_equal(notes_of(w, 0x1250), CSN_STACK_NOTE_OTHER_CALLEE);
    assert_int_equal(notes_of(w, 0x1280) & (CSN_STACK_NOTE_BAD_PATTERN | CSN_STACK_NOTE_NO_ENGINE), notes_of(w, 0x1280));
    assert_int_not_equal(notes_of(w, 0x1280), 0);
    assert_int_equal(notes_of(w, 0x9000), CSN_STACK_NOTE_NO_CALLER);
    for (uint32_t bit = 1; bit <= CSN_STACK_NOTE_TAIL_INDIRECT; bit <<= 1)
        assert_null(strstr(csn_stack_note_text(bit), "not known"));
}

static void modules_that_overlap(void **state) {
    struct world *w = *state;
    const struct csn_module modules[] = {
        { .start = 0x1000, .end = 0x9000 }, { .start = 0x2000, .end = 0x3000 }, { .start = 0x2800, .end = 0x4000 },
        { .start = 0x2800, .end = 0x3800 }, { .start = 0x9000, .end = 0x9000 }, { .start = 0xa000, .end = UINT64_MAX },
    };
    static const struct { uint64_t pc; uint32_t module; } wanted[] = {
        { 0xfff, UINT32_MAX }, { 0x1000, 0 }, { 0x2000, 1 }, { 0x2800, 3 }, { 0x37ff, 3 }, { 0x3800, 2 }, { 0x3fff, 2 },
        { 0x4000, 0 }, { 0x8fff, 0 }, { 0x9000, UINT32_MAX }, { 0xa000, 5 }, { UINT64_MAX - 1, 5 }, { UINT64_MAX, UINT32_MAX },
    };
    assert_int_equal(csn_symbolicator_set_modules(w->s, modules, 6, NULL), CSN_OK);
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        const struct csn_stack_frame frame = { wanted[i].pc, 0, 0 };
        const struct csn_stack_answer *answers;
        assert_int_equal(csn_symbolicator_answer(w->s, &frame, 1, &answers, NULL), CSN_OK);
        assert_int_equal(answers[0].module, wanted[i].module);
    }
    /* In another order: the one that starts last wins, of equal ones the one that is listed last. */
    static const uint32_t order[] = { 5, 3, 0, 4, 2, 1 };
    struct csn_module mixed[6];
    for (size_t i = 0; i < 6; i++) mixed[i] = modules[order[i]];
    assert_int_equal(csn_symbolicator_set_modules(w->s, mixed, 6, NULL), CSN_OK);
    for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
        const struct csn_stack_frame frame = { wanted[i].pc, 0, 0 };
        const struct csn_stack_answer *answers;
        uint32_t module = wanted[i].module == 3 ? 2 : wanted[i].module;
        assert_int_equal(csn_symbolicator_answer(w->s, &frame, 1, &answers, NULL), CSN_OK);
        assert_int_equal(answers[0].module == UINT32_MAX ? UINT32_MAX : order[answers[0].module], module);
    }
    assert_int_equal(csn_symbolicator_set_modules(w->s, w->modules, 3, NULL), CSN_OK);
}

/* What is made of frames can be kept until the symbolicator forgets them. */
static void generations(void **state) {
    struct world *w = *state;
    const struct csn_stack_frame frames[] = { A(APP, 0x1004), A(APP, 0x1210) };
    const struct csn_stack_answer *answers;
    struct csn_symbolicator_options options = CSN_SYMBOLICATOR_OPTIONS_INIT;
    options.cache_bytes = 1;
    for (int small = 0; small < 2; small++) {
        struct csn_symbolicator *s;
        assert_int_equal(csn_symbolicator_create(small ? &options : NULL, &s, NULL), CSN_OK);
        assert_int_equal(csn_symbolicator_set_modules(s, w->modules, 3, NULL), CSN_OK);
        assert_int_equal(csn_symbolicator_answer(s, frames, 2, &answers, NULL), CSN_OK);
        const struct csn_frame *kept = answers[1].frames;
        uint64_t generation = csn_symbolicator_generation(s);
        assert_int_equal(csn_symbolicator_answer(s, frames, 2, &answers, NULL), CSN_OK);
        assert_int_equal(csn_symbolicator_generation(s) != generation, small);
        if (!small) assert_ptr_equal(answers[1].frames, kept);
        generation = csn_symbolicator_generation(s);
        csn_symbolicator_forget(s);
        assert_true(csn_symbolicator_generation(s) != generation);
        csn_symbolicator_destroy(s);
    }
}

/* Signal frames: at their own first byte, with a function before them or none; what is behind them made no call. */
static void signal_frames(void **state) {
    struct world *w = *state;
    static const struct { uint64_t start; const char *name; } functions[] = {
        { 0x1000, "handler" }, { 0x1010, "before" }, { 0x1020, "at_start" }, { 0x1030, "caller" }, { 0x1100, "__restore_rt" },
        { 0x1200, "no_return" }, { 0x1210, "__kernel_rt_sigreturn" }, { 0x1220, "next" },
    };
    struct wire_gsym g;
    wire_gsym_init(&g, false, 4, 0x1000);
    for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
        wire_gsym_function(&g, functions[i].start, 0x10, functions[i].name);
    struct csn_index *index = sample_open(&g);
    const struct csn_module module = { .index = index, .start = 0x500000, .end = 0x501000, .bias = 0x4ff000 };
    assert_int_equal(csn_symbolicator_set_modules(w->s, &module, 1, NULL), CSN_OK);
    EXPECT(w, "handler __restore_rt at_start caller", A(0, 0x1008), A(0, 0x1100), A(0, 0x1020), A(0, 0x1038));
    EXPECT(w, "handler __restore_rt at_start caller", { 0x500008, 0, 0 }, { 0x500100, 0, 0 }, { 0x500020, 0, 0 },
           { 0x500038, 0, 0 });
    EXPECT(w, "handler __kernel_rt_sigreturn at_start before", A(0, 0x1008), A(0, 0x1210), A(0, 0x1020), A(0, 0x1020));
    /* As sanitizers print them, as perf may print them, and unwound within the signal frame. */
    EXPECT(w, "handler __restore_rt at_start caller", { 0x1007, 0, CSN_STACK_ADDRESS | CSN_STACK_BEFORE },
           { 0x10ff, 0, CSN_STACK_ADDRESS | CSN_STACK_BEFORE }, { 0x101f, 0, CSN_STACK_ADDRESS | CSN_STACK_BEFORE },
           { 0x1037, 0, CSN_STACK_ADDRESS | CSN_STACK_BEFORE });
    /* Of a profile whose writer knows signal frames: it took nothing off. */
    EXPECT(w, "handler __restore_rt before", A(0, 0x1008), { 0x1100, 0, CSN_STACK_ADDRESS | CSN_STACK_BEFORE },
           { 0x101f, 0, CSN_STACK_ADDRESS | CSN_STACK_BEFORE });
    EXPECT(w, "handler __restore_rt at_start", A(0, 0x1008), { 0x1100, 0, CSN_STACK_ADDRESS | CSN_STACK_EITHER },
           { 0x1020, 0, CSN_STACK_ADDRESS | CSN_STACK_EITHER });
    EXPECT(w, "handler __restore_rt at_start", A(0, 0x1008), A(0, 0x1107), A(0, 0x1020));
    EXPECT(w, "__restore_rt at_start", A(0, 0x1100), A(0, 0x1020));
    /* Every other return address is in the function of the byte before it, or in none. */
    EXPECT(w, "handler before no_return -", A(0, 0x1008), A(0, 0x1020), A(0, 0x1210 - 1), A(0, 0x1200));
    EXPECT(w, "handler no_return", A(0, 0x1008), { 0x120e, 0, CSN_STACK_ADDRESS | CSN_STACK_BEFORE });
    EXPECT(w, "handler __kernel_rt_sigreturn", A(0, 0x1008), A(0, 0x1220));
    assert_int_equal(csn_symbolicator_set_modules(w->s, w->modules, 3, NULL), CSN_OK);
    csn_symbolicator_forget(w->s);
    assert_int_equal(csn_symbolicator_set_modules(w->s, w->modules, 3, NULL), CSN_OK);
    csn_index_close(index);
    wire_gsym_deinit(&g);
}

static void names_of_signal_frames(void **state) {
    (void)state;
    static const struct csn_str known[] = {
        { "__restore_rt", 12 }, { "_sigtramp", 9 }, { "KiUserExceptionDispatcher", 25 }, { "runtime.sigpanic", 16 }
    };
    static const struct csn_str others[] = {
        { "__restore_rt", 11 }, { "__restore_rt2", 13 }, { "restore_rt", 10 }, { "", 0 }, { NULL, 0 }
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) assert_true(csn_is_signal_frame(known[i]));
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) assert_false(csn_is_signal_frame(others[i]));
}

/* Bytes after the last record count as its own: a stack of different addresses in it uses its budget up. */
enum { PADDING = 128 << 20, COSTLY_FRAMES = 48 };

static void exhausted_budgets_are_not_cached(void **state) {
    (void)state;
    struct wire_gsym g;
    wire_gsym_init(&g, false, 4, 0x1000);
    wire_gsym_function(&g, 0x1000, 0x100, "cheap");
    wire_gsym_function(&g, 0x2000, 0x100, "costly");
    struct csni_span file = wire_gsym_build(&g);
    uint8_t *padded = calloc(1, file.size + PADDING);
    assert_non_null(padded);
    memcpy(padded, file.ptr, file.size);
    struct csn_index *index;
    assert_int_equal(csn_index_open_memory(padded, file.size + PADDING, NULL, &index, NULL), CSN_OK);
    const struct csn_module module = { .index = index };
    struct csn_symbolicator *s;
    const struct csn_stack_answer *answers;
    assert_int_equal(csn_symbolicator_create(NULL, &s, NULL), CSN_OK);
    assert_int_equal(csn_symbolicator_set_modules(s, &module, 1, NULL), CSN_OK);
    struct csn_stack_frame frames[COSTLY_FRAMES + 1];
    for (unsigned i = 0; i < COSTLY_FRAMES; i++) frames[i] = (struct csn_stack_frame)A(0, 0x2002 + 2 * i);
    frames[COSTLY_FRAMES] = (struct csn_stack_frame)A(0, 0x1010);
    assert_int_equal(csn_symbolicator_answer(s, frames, COSTLY_FRAMES + 1, &answers, NULL), CSN_OK);
    assert_int_equal(answers[0].status, CSN_OK);
    assert_int_equal(answers[COSTLY_FRAMES].status, CSN_E_LIMIT);
    assert_string_equal(answers[COSTLY_FRAMES].error,
                        "the work budget of this stack is used up: this frame was not looked up");
    /* The next stack has a budget of its own. */
    assert_int_equal(csn_symbolicator_answer(s, &frames[COSTLY_FRAMES - 1], 2, &answers, NULL), CSN_OK);
    assert_int_equal(answers[0].status, CSN_OK);
    assert_int_equal(answers[1].status, CSN_OK);
    assert_memory_equal(answers[1].frames[0].name.ptr, "cheap", 5);
    csn_symbolicator_destroy(s);
    csn_index_close(index);
    free(padded);
    wire_gsym_deinit(&g);
}

static void bad_arguments(void **state) {
    struct world *w = *state;
    const struct csn_stack_answer *answers;
    struct csn_error err = CSN_ERROR_INIT;
    static const struct csn_stack_frame frames[] = { A(APP, 0x1004), A(3, 0x1210) };
    assert_int_equal(csn_symbolicator_answer(w->s, frames, 2, &answers, &err), CSN_E_ARGUMENT);
    assert_string_equal(csn_error_text(&err), "frame 1: module 3 of 3");
    struct csn_symbolicator_options options = CSN_SYMBOLICATOR_OPTIONS_INIT;
    options.max_frames = 1;
    struct csn_symbolicator *s;
    assert_int_equal(csn_symbolicator_create(&options, &s, NULL), CSN_OK);
    assert_int_equal(csn_symbolicator_answer(s, frames, 2, &answers, &err), CSN_E_LIMIT);
    assert_string_equal(csn_error_text(&err), "frames of a stack: 2, limit 1");
    csn_symbolicator_destroy(s);
    csn_symbolicator_destroy(NULL);
}

/* An index with a byte less, or a bit turned: an answer of some kind, within bounds. */
static void ask_damaged(const uint8_t *bytes, size_t size) {
    struct csn_index *index;
    if (csn_index_open_memory(bytes, size, NULL, &index, NULL) != CSN_OK) return;
    const struct csn_module module = { .index = index };
    static const struct csn_stack_frame frames[] = { A(0, 0x1104), A(0, 0x1008), A(0, 0x1270), A(0, 0x1004), A(0, 0x1290),
                                                     A(0, 0x1404), A(0, 0x1508) };
    struct csn_symbolicator *s;
    const struct csn_stack_answer *answers;
    assert_int_equal(csn_symbolicator_create(NULL, &s, NULL), CSN_OK);
    assert_int_equal(csn_symbolicator_set_modules(s, &module, 1, NULL), CSN_OK);
    assert_int_equal(csn_symbolicator_answer(s, frames, 7, &answers, NULL), CSN_OK);
    for (size_t i = 0; i < 7; i++) {
        assert_true(answers[i].chosen == CSN_NOT_CHOSEN || answers[i].chosen < answers[i].candidate_count);
        assert_true(answers[i].status >= 0 || answers[i].error);
    }
    csn_symbolicator_destroy(s);
    csn_index_close(index);
}

static void damaged_indexes(void **state) {
    (void)state;
    struct wire_gsym g;
    add_app(&g);
    struct csni_span file = wire_gsym_build(&g);
    for (size_t size = 0; size < file.size; size++) {
        uint8_t *cut = malloc(size ? size : 1);
        assert_non_null(cut);
        memcpy(cut, file.ptr, size);
        ask_damaged(cut, size);
        free(cut);
    }
    uint8_t *copy = malloc(file.size);
    assert_non_null(copy);
    memcpy(copy, file.ptr, file.size);
    uint32_t seed = 20261121;
    for (int round = 0; round < 4000; round++) {
        seed = seed * 1664525u + 1013904223u;
        size_t at = (seed >> 8) % file.size;
        copy[at] ^= (uint8_t)(1u << (seed >> 5 & 7));
        ask_damaged(copy, file.size);
        if (round % 3 == 0) memcpy(copy, file.ptr, file.size);
    }
    free(copy);
    wire_gsym_deinit(&g);
}

static csn_status run_once(void *context, const struct csn_allocator *alloc) {
    struct world *w = context;
    struct csn_symbolicator_options options = CSN_SYMBOLICATOR_OPTIONS_INIT;
    options.allocator = alloc;
    struct csn_symbolicator *s;
    const struct csn_stack_answer *answers;
    csn_status status = csn_symbolicator_create(&options, &s, NULL);
    if (status < 0) return status;
    static const struct csn_stack_frame frames[] = { A(APP, 0x1104), A(APP, 0x1008), A(APP, 0x1270), A(APP, 0x1004),
                                                     A(STRIPPED, 1), A(APP, 0x1260) };
    status = csn_symbolicator_set_modules(s, w->modules, 3, NULL);
    if (status == CSN_OK) status = csn_symbolicator_answer(s, frames, 6, &answers, NULL);
    if (status == CSN_OK) {
        char got[256];
        sample_describe(answers, 6, got, sizeof(got));
        assert_string_equal(got, "leaf_two<caller@1 square<pattern@2 caller square<outer@5 - caller");
    }
    csn_symbolicator_destroy(s);
    return status;
}

static void out_of_memory(void **state) {
    skip_without_expressions();
    assert_true(test_allocator_sweep(run_once, *state, 0) > 5);
    assert_true(test_allocator_sweep(run_once, *state, 1) > 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_the_caller),    cmocka_unit_test(chains_of_merged_functions),
        cmocka_unit_test(another_module),   cmocka_unit_test(callbacks),
        cmocka_unit_test(several_callees),  cmocka_unit_test(addresses),
        cmocka_unit_test(frames_of_the_chosen), cmocka_unit_test(notes),
        cmocka_unit_test(modules_that_overlap), cmocka_unit_test(bad_arguments),
        cmocka_unit_test(generations), cmocka_unit_test(unreliable_frames), cmocka_unit_test(exhausted_budgets_are_not_cached),
        cmocka_unit_test(callbacks_through_a_known_library), cmocka_unit_test(expectations_that_the_callee_meets),
        cmocka_unit_test(callbacks_of_undecided_callers),
        cmocka_unit_test(modules_one_by_one), cmocka_unit_test(modules_without_memory),
        cmocka_unit_test(several_expectations), cmocka_unit_test(inlined_into_the_chosen),
        cmocka_unit_test(signal_frames),        cmocka_unit_test(names_of_signal_frames),
        cmocka_unit_test(damaged_indexes),      cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
