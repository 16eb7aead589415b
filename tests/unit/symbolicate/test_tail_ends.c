/* symbolicate/tail_ends: tail calls between a caller and the function on the stack, over several indexes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/stack_sample.h"
#include "symbolicate/tail_ends.h"
#include "support/test_alloc.h"

enum { IN = CSN_CALL_SITE_INTERNAL, EX = CSN_CALL_SITE_EXTERNAL, TAIL = CSN_CALL_SITE_TAIL };
enum { APP, LIB, OTHER, LINKS, MODULES };
enum { GROUP = 0x1004, MAIN = 0x1000, CHAIN = 10 };

struct world {
    struct wire_gsym files[MODULES];
    struct csn_index *index[MODULES];
    struct csn_module modules[MODULES];
    struct csn_symbolicator *s;
};

static const char *const callees[] = { "^enter$",  "^blind$", "^ring_a$",  "^fork$",      "^nobody$", "^en.*r$",
                                       "^chain0$", "^one$",   "^twice$",   "^far$",       "^plain$",  "^mixed$",
                                       "^chain2$", "^dot\\.part\\.0$", "^back$", "^shared$" };
enum { CALLEES = sizeof(callees) / sizeof(callees[0]) };

/* main calls callees[k] before 0x10 * (k + 1), outside; after those, inside. */
static void add_app(struct wire_gsym *g) {
    wire_gsym_init(g, false, 4, 0x1000);
    struct wire_gsym_function *f = wire_gsym_function(g, MAIN, 0x800, "main");
    struct sample_site sites[CALLEES + 4];
    for (unsigned k = 0; k < CALLEES; k++) sites[k] = (struct sample_site){ 0x10 * (k + 1), EX, { callees[k] } };
    sites[CALLEES] = (struct sample_site){ 0x400, IN, { "^enter$" } };
    sites[CALLEES + 1] = (struct sample_site){ 0x410, EX, { "^enter$", "^nobody$" } };
    sites[CALLEES + 2] = (struct sample_site){ 0x420, IN, { "^leave$" } };
    sites[CALLEES + 3] = (struct sample_site){ 0x430, EX, { "^one$", "^two$" } };
    sample_sites(g, &f->parts, sites, CALLEES + 4);
    f = wire_gsym_function(g, 0x1900, 0x10, "leave");
    static const struct sample_site leaves[] = { { 0, TAIL | EX, { "^enter$" } } };
    sample_sites(g, &f->parts, leaves, 1);
    f = wire_gsym_function(g, 0x1a00, 0x10, "left");
    static const struct sample_site left[] = { { 8, EX, { "^enter$" } } }, right[] = { { 8, EX, { "^two$" } } };
    static const struct sample_merged siblings[] = { { "right", right, 1, 0 } };
    sample_sites(g, &f->parts, left, 1);
    sample_merge(g, f, siblings, 1);
}

static void add_caller(struct wire_gsym *g, uint64_t start, const char *name, const struct sample_site *sites,
                       unsigned count) {
    struct wire_gsym_function *f = wire_gsym_function(g, start, 0x10, name);
    sample_sites(g, &f->parts, sites, count);
}

static void add_chain(struct wire_gsym *g) {
    wire_gsym_init(g, false, 4, 0x3000);
    static char names[CHAIN][16], patterns[CHAIN][16];
    static struct sample_site sites[CHAIN];
    for (unsigned k = 0; k < CHAIN; k++) {
        snprintf(names[k], sizeof(names[k]), "chain%u", k);
        snprintf(patterns[k], sizeof(patterns[k]), k + 1 < CHAIN ? "^chain%u$" : "^three$", k + 1);
        sites[k] = (struct sample_site){ 0, TAIL | (k + 1 < CHAIN ? IN : EX), { patterns[k] } };
        add_caller(g, 0x3000 + 0x10 * k, names[k], &sites[k], 1);
    }
}

static void add_lib(struct wire_gsym *g) {
    static const struct sample_site one_calls[] = { { 0x8, IN, { "^x$" } }, { 0, TAIL | IN, { "^two$" } } };
    static const struct sample_site enter[] = { { 0, TAIL | IN, { "^hop$" } } };
    static const struct sample_site hop[] = { { 0, TAIL | IN, { "^two$" } } };
    static const struct sample_site blind[] = { { 0, TAIL | IN, { "^two$" } }, { 0, TAIL, { NULL } } };
    static const struct sample_site ring_a[] = { { 0, TAIL | IN, { "^ring_b$" } } };
    static const struct sample_site ring_b[] = { { 0, TAIL | IN, { "^ring_a$" } }, { 0, TAIL | IN, { "^three$" } } };
    static const struct sample_site fork[] = { { 0, TAIL | IN, { "^hop$" } }, { 0, TAIL | IN, { "^three$" } } };
    static const struct sample_site twice_a[] = { { 0, TAIL | IN, { "^two$" } } };
    static const struct sample_site twice_b[] = { { 0, TAIL | IN, { "^three$" } } };
    static const struct sample_site plain[] = { { 0x8, IN, { "^two$" } } };
    static const struct sample_site mixed[] = { { 0, TAIL | IN, { "^t.o$" } } };
    static const struct sample_site dot[] = { { 0, TAIL | IN, { "three" } } };
    wire_gsym_init(g, false, 4, 0x1000);
    struct wire_gsym_function *f = wire_gsym_function(g, 0x1000, 0x20, "one");
    static const struct sample_merged group[] = { { "two", NULL, 0, 0 }, { "three", NULL, 0, 0 } };
    sample_sites(g, &f->parts, one_calls, 2);
    sample_merge(g, f, group, 2);
    add_caller(g, 0x2000, "enter", enter, 1);
    add_caller(g, 0x2010, "hop", hop, 1);
    add_caller(g, 0x2020, "blind", blind, 2);
    add_caller(g, 0x2030, "ring_a", ring_a, 1);
    add_caller(g, 0x2040, "ring_b", ring_b, 2);
    add_caller(g, 0x2050, "fork", fork, 2);
    /* Folded into another one: it makes its own tail calls. */
    f = wire_gsym_function(g, 0x2060, 0x10, "kept");
    static const struct sample_merged folded[] = { { "twice", twice_a, 1, 0 }, { "twice", twice_b, 1, 0 } };
    sample_merge(g, f, folded, 2);
    add_caller(g, 0x2070, "plain", plain, 1);
    add_caller(g, 0x2080, "mixed", mixed, 1);
    add_caller(g, 0x2090, "dot.part.0", dot, 1);
    f = wire_gsym_function(g, 0x20a0, 0x10, "shared");
    sample_sites(g, &f->parts, twice_a, 1);
}

/* `hop` and `one` are other functions than those of the library. */
static void add_other(struct wire_gsym *g) {
    static const struct sample_site hop[] = { { 0, TAIL | IN, { "^three$" } } };
    static const struct sample_site far[] = { { 0, TAIL | EX, { "^enter$" } } };
    static const struct sample_site back[] = { { 0, TAIL | IN, { "^two$" } } };
    static const struct sample_site shared[] = { { 0, TAIL | EX, { "^three$" } } };
    wire_gsym_init(g, false, 4, 0x1000);
    add_caller(g, 0x1000, "hop", hop, 1);
    add_caller(g, 0x1010, "far", far, 1);
    add_caller(g, 0x1020, "back", back, 1);
    add_caller(g, 0x1030, "shared", shared, 1);
}

static int setup(void **state) {
    static struct world w;
    add_app(&w.files[APP]);
    add_lib(&w.files[LIB]);
    add_other(&w.files[OTHER]);
    add_chain(&w.files[LINKS]);
    for (int m = 0; m < MODULES; m++) {
        w.index[m] = sample_open(&w.files[m]);
        w.modules[m].index = w.index[m];
        w.modules[m].start = (uint64_t)m << 32;
        w.modules[m].end = ((uint64_t)m + 1) << 32;
    }
    assert_int_equal(csn_symbolicator_create(NULL, &w.s, NULL), CSN_OK);
    assert_int_equal(csn_symbolicator_set_modules(w.s, w.modules, MODULES, NULL), CSN_OK);
    *state = &w;
    return 0;
}

static int teardown(void **state) {
    struct world *w = *state;
    csn_symbolicator_destroy(w->s);
    for (int m = 0; m < MODULES; m++) {
        csn_index_close(w->index[m]);
        wire_gsym_deinit(&w->files[m]);
    }
    return 0;
}

/* The answer to the group with main after it, calling at `return_offset`. */
static const struct csn_stack_answer *ask(struct csn_symbolicator *s, uint64_t return_offset, const char *text) {
    const struct csn_stack_frame frames[] = { { GROUP, LIB, CSN_STACK_ADDRESS },
                                              { MAIN + return_offset, APP, CSN_STACK_ADDRESS } };
    const struct csn_stack_answer *answers;
    char got[128];
    assert_int_equal(csn_symbolicator_answer(s, frames, 2, &answers, NULL), CSN_OK);
    sample_describe(answers, 1, got, sizeof(got));
    assert_string_equal(got, text);
    return answers;
}

static uint64_t call_of(const char *callee) {
    for (unsigned k = 0; k < CALLEES; k++)
        if (!strcmp(callees[k], callee)) return 0x10 * (k + 1);
    fail_msg("nobody calls %s", callee);
    return 0;
}

static void one_end(void **state) {
    struct world *w = *state;
    const struct csn_stack_answer *a = ask(w->s, call_of("^enter$"), "two<caller@1");
    assert_int_equal(a->confidence, CSN_CONFIDENCE_MEDIUM);
    assert_int_equal(a->evidence_tail_calls, 2);
    assert_memory_equal(a->evidence_pattern.ptr, "^enter$", 7);
    assert_int_equal(a->notes, 0);
    /* Cycles end; an escaped name; a third image in between; tail calls that leave the image. */
    assert_int_equal(ask(w->s, call_of("^ring_a$"), "three<caller@1")->evidence_tail_calls, 2);
    ask(w->s, call_of("^dot\\.part\\.0$"), "three<caller@1");
    assert_int_equal(ask(w->s, call_of("^far$"), "two<caller@1")->evidence_tail_calls, 3);
    assert_int_equal(ask(w->s, 0x420, "two<caller@1")->evidence_tail_calls, 3);
    assert_int_equal(ask(w->s, call_of("^chain2$"), "three<caller@1")->evidence_tail_calls, 8);
}

static void several_ends(void **state) {
    struct world *w = *state;
    ask(w->s, call_of("^fork$"), "two|three?");
    /* Two functions of that name, in one image or in two: either may be meant. */
    ask(w->s, call_of("^twice$"), "two|three?");
    ask(w->s, call_of("^shared$"), "two|three?");
    /* It is named itself, and calls its sibling last. */
    ask(w->s, call_of("^one$"), "one|two?");
    /* So is the sibling: it remains once. */
    ask(w->s, 0x430, "one|two?");
}

/* The caller is one of two: what one names leads to what the other names. */
static void undecided_callers(void **state) {
    struct world *w = *state;
    static const struct csn_stack_frame frames[] = { { GROUP, LIB, CSN_STACK_ADDRESS }, { 0x1a08, APP, CSN_STACK_ADDRESS } };
    const struct csn_stack_answer *answers;
    char got[128];
    assert_int_equal(csn_symbolicator_answer(w->s, frames, 2, &answers, NULL), CSN_OK);
    sample_describe(answers, 2, got, sizeof(got));
    assert_string_equal(got, "two<pattern@1 left|right?");
}

static void nothing_known(void **state) {
    struct world *w = *state;
    enum { OTHER_CALLEE = CSN_STACK_NOTE_OTHER_CALLEE };
    assert_int_equal(ask(w->s, call_of("^blind$"), "one|two|three?")->notes, OTHER_CALLEE | CSN_STACK_NOTE_TAIL_INDIRECT);
    assert_int_equal(ask(w->s, call_of("^chain0$"), "one|two|three?")->notes, OTHER_CALLEE | CSN_STACK_NOTE_LIMIT);
    assert_int_equal(ask(w->s, call_of("^nobody$"), "one|two|three?")->notes, OTHER_CALLEE);
    /* No tail calls; expressions, at either end; a list of which not all are known. */
    ask(w->s, call_of("^plain$"), "one|two|three?");
    ask(w->s, call_of("^en.*r$"), "one|two|three?");
    ask(w->s, call_of("^mixed$"), "one|two|three?");
    ask(w->s, 0x410, "one|two|three?");
    /* The names are those of functions in another image than the call says. */
    ask(w->s, 0x400, "one|two|three?");
    ask(w->s, call_of("^back$"), "one|two|three?");
}

/* A tail call returns to nowhere, whatever offset its record has. */
static void not_a_return(void **state) {
    struct world *w = *state;
    static const struct csn_stack_frame frames[] = { { GROUP, LIB, CSN_STACK_ADDRESS },
                                                     { 0x2000, LIB, CSN_STACK_ADDRESS | CSN_STACK_BEFORE } };
    const struct csn_stack_answer *answers;
    assert_int_equal(csn_symbolicator_answer(w->s, frames, 2, &answers, NULL), CSN_OK);
    assert_int_equal(answers[0].notes, CSN_STACK_NOTE_NO_CALL_SITE);
}

/* An index that is neither loaded nor on the stack is not this process's. */
static void modules_of_the_process(void **state) {
    struct world *w = *state;
    struct csn_module modules[MODULES];
    memcpy(modules, w->modules, sizeof(modules));
    for (int m = 0; m < MODULES; m++) modules[m].start = modules[m].end = 0;
    assert_int_equal(csn_symbolicator_set_modules(w->s, modules, MODULES, NULL), CSN_OK);
    ask(w->s, call_of("^enter$"), "two<caller@1");
    ask(w->s, call_of("^far$"), "one|two|three?");
    ask(w->s, call_of("^chain2$"), "one|two|three?");
    assert_int_equal(csn_symbolicator_set_modules(w->s, w->modules, MODULES, NULL), CSN_OK);
}

static void small_caches(void **state) {
    struct world *w = *state;
    struct csn_symbolicator_options options = CSN_SYMBOLICATOR_OPTIONS_INIT;
    options.cache_bytes = 1;
    struct csn_symbolicator *s;
    assert_int_equal(csn_symbolicator_create(&options, &s, NULL), CSN_OK);
    assert_int_equal(csn_symbolicator_set_modules(s, w->modules, MODULES, NULL), CSN_OK);
    for (int round = 0; round < 3; round++) ask(s, call_of("^enter$"), "two<caller@1");
    csn_symbolicator_destroy(s);
}

/* A file with a byte less, or a bit turned: an answer of some kind. */
static void ask_damaged(struct world *w, const uint8_t *bytes, size_t size) {
    struct csn_index *index;
    if (csn_index_open_memory(bytes, size, NULL, &index, NULL) != CSN_OK) return;
    struct csn_module modules[MODULES];
    memcpy(modules, w->modules, sizeof(modules));
    modules[LIB].index = index;
    struct csn_symbolicator *s;
    assert_int_equal(csn_symbolicator_create(NULL, &s, NULL), CSN_OK);
    assert_int_equal(csn_symbolicator_set_modules(s, modules, MODULES, NULL), CSN_OK);
    for (unsigned k = 0; k < CALLEES; k++) {
        const struct csn_stack_frame frames[] = { { GROUP, LIB, CSN_STACK_ADDRESS },
                                                  { MAIN + 0x10 * (k + 1), APP, CSN_STACK_ADDRESS } };
        const struct csn_stack_answer *answers;
        assert_int_equal(csn_symbolicator_answer(s, frames, 2, &answers, NULL), CSN_OK);
        assert_true(answers[0].chosen == CSN_NOT_CHOSEN || answers[0].chosen < answers[0].candidate_count);
    }
    csn_symbolicator_destroy(s);
    csn_index_close(index);
}

static void damaged_indexes(void **state) {
    struct wire_gsym g;
    add_lib(&g);
    struct csni_span file = wire_gsym_build(&g);
    uint8_t *copy = malloc(file.size);
    assert_non_null(copy);
    for (size_t size = 0; size < file.size; size++) {
        uint8_t *cut = malloc(size ? size : 1);
        assert_non_null(cut);
        memcpy(cut, file.ptr, size);
        ask_damaged(*state, cut, size);
        free(cut);
    }
    memcpy(copy, file.ptr, file.size);
    uint32_t seed = 6;
    for (int round = 0; round < 3000; round++) {
        seed = seed * 1664525u + 1013904223u;
        copy[(seed >> 8) % file.size] ^= (uint8_t)(1u << (seed >> 5 & 7));
        ask_damaged(*state, copy, file.size);
        if (round % 3 == 0) memcpy(copy, file.ptr, file.size);
    }
    free(copy);
    wire_gsym_deinit(&g);
}

enum { LONG = 512, NAMESAKES = 12, ENOUGH = 1 << 26 };

/* Follows a call of a function with a name of `len` bytes, of which there are several. */
static void follow_namesakes(struct world *w, size_t len, struct csni_budget *budget, struct csni_tail_ends *out) {
    char name[LONG + 1] = "", pattern[LONG + 3];
    memset(name, 'n', len);
    static const struct sample_site calls[] = { { 0, TAIL | EX, { "^two$" } } };
    struct wire_gsym g;
    wire_gsym_init(&g, false, 4, 0x1000);
    for (unsigned k = 0; k < NAMESAKES; k++) add_caller(&g, 0x1000 + 0x10 * k, name, calls, 1);
    struct csn_index *index = sample_open(&g);
    struct csn_module module = { .index = index, .start = 1, .end = 2 };
    assert_int_equal(csn_symbolicator_set_modules(w->s, &module, 1, NULL), CSN_OK);
    const struct csn_str callee = { pattern, (size_t)snprintf(pattern, sizeof(pattern), "^%s$", name) };
    const struct csni_call_evidence evidence = { .patterns = &callee, .pattern_count = 1, .flags = IN };
    struct csni_stack_walk walk = { .s = w->s, .budget = budget };
    assert_true(csni_tail_ends_follow(&walk, &evidence, 0, out));
    csn_symbolicator_forget(w->s);
    csn_index_close(index);
    wire_gsym_deinit(&g);
    assert_int_equal(csn_symbolicator_set_modules(w->s, w->modules, MODULES, NULL), CSN_OK);
}

/* Each of several functions of one name is read with its name: in a small file those can be many, and it can be long. */
static void long_names(void **state) {
    struct csni_tail_ends tails;
    struct csni_budget for_short = { .limit = ENOUGH }, for_long = { .limit = ENOUGH }, none = { .limit = 0 };
    follow_namesakes(*state, 1, &for_short, &tails);
    assert_int_equal(tails.count, 2);
    follow_namesakes(*state, LONG, &for_long, &tails);
    assert_int_equal(tails.count, 2);
    assert_true(for_long.spent - for_short.spent >= NAMESAKES * (LONG / 64));
    follow_namesakes(*state, 1, &none, &tails);
    assert_int_equal(tails.count, 0);
    assert_int_equal(tails.notes, CSN_STACK_NOTE_LIMIT);
}

/* Looking through the records of a site costs steps, too, and what is not looked at is reported. */
static void many_records(void **state) {
    struct world *w = *state;
    static uint32_t name_of[CSNI_RECORDS_MAX];
    static struct csn_record records[CSNI_RECORDS_MAX];
    for (unsigned k = 0; k < CSNI_RECORDS_MAX; k++) name_of[k] = 1;
    struct csni_site site = { .index = w->index[LIB], .record_count = CSNI_RECORDS_MAX, .name_of = name_of,
                              .records = records };
    struct csni_tail_ends tails;
    struct csni_budget budget = { .limit = ENOUGH };
    struct csni_stack_walk walk = { .s = w->s, .budget = &budget };
    assert_true(csni_tail_ends_of_candidate(&walk, &site, 0, LIB, &tails));
    assert_int_equal(tails.notes, 0);
    assert_true(budget.spent >= CSNI_RECORDS_MAX / 8);
    budget = (struct csni_budget){ .limit = CSNI_RECORDS_MAX / 16 };
    assert_true(csni_tail_ends_of_candidate(&walk, &site, 0, LIB, &tails));
    assert_int_equal(tails.count, 0);
    assert_int_equal(tails.notes, CSN_STACK_NOTE_LIMIT);
}

static csn_status run_once(void *context, const struct csn_allocator *alloc) {
    struct world *w = context;
    struct csn_symbolicator_options options = CSN_SYMBOLICATOR_OPTIONS_INIT;
    options.allocator = alloc;
    struct csn_symbolicator *s;
    const struct csn_stack_answer *answers;
    const struct csn_stack_frame frames[] = { { GROUP, LIB, CSN_STACK_ADDRESS },
                                              { MAIN + call_of("^dot\\.part\\.0$"), APP, CSN_STACK_ADDRESS } };
    csn_status status = csn_symbolicator_create(&options, &s, NULL);
    if (status < 0) return status;
    status = csn_symbolicator_set_modules(s, w->modules, MODULES, NULL);
    if (status == CSN_OK) status = csn_symbolicator_answer(s, frames, 2, &answers, NULL);
    if (status == CSN_OK) assert_int_equal(answers[0].evidence_tail_calls, 1);
    csn_symbolicator_destroy(s);
    return status;
}

static void out_of_memory(void **state) {
    assert_true(test_allocator_sweep(run_once, *state, 0) > 5);
    assert_true(test_allocator_sweep(run_once, *state, 1) > 5);
}

/* One symbolicator for each thread, over the same indexes. NULL: as it should be. */
static void *ask_alone(void *context) {
    struct world *w = context;
    struct csn_symbolicator_options options = CSN_SYMBOLICATOR_OPTIONS_INIT;
    options.cache_bytes = 1; /* everything is found again for each stack */
    struct csn_symbolicator *s;
    const struct csn_stack_answer *answers;
    if (csn_symbolicator_create(&options, &s, NULL) < 0) return "create";
    const char *wrong = csn_symbolicator_set_modules(s, w->modules, MODULES, NULL) < 0 ? "set_modules" : NULL;
    for (unsigned round = 0; round < 50 && !wrong; round++) {
        const struct csn_stack_frame frames[] = { { GROUP, LIB, CSN_STACK_ADDRESS },
                                                  { MAIN + 0x10 * (1 + round % CALLEES), APP, CSN_STACK_ADDRESS } };
        if (csn_symbolicator_answer(s, frames, 2, &answers, NULL) < 0) wrong = "answer";
        else if (round % CALLEES == 0 && answers[0].chosen != 1) wrong = "chosen";
    }
    csn_symbolicator_destroy(s);
    return (void *)(uintptr_t)wrong;
}

static void several_threads(void **state) {
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, ask_alone, *state), 0);
    for (int i = 0; i < THREADS; i++) {
        void *wrong;
        assert_int_equal(pthread_join(threads[i], &wrong), 0);
        if (wrong) fail_msg("%s", (const char *)wrong);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_end),      cmocka_unit_test(undecided_callers),
             cmocka_unit_test(several_ends),    cmocka_unit_test(nothing_known),
        cmocka_unit_test(not_a_return), cmocka_unit_test(small_caches),    cmocka_unit_test(damaged_indexes),
        cmocka_unit_test(out_of_memory), cmocka_unit_test(modules_of_the_process),
        cmocka_unit_test(long_names),   cmocka_unit_test(many_records),
        cmocka_unit_test(several_threads),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
