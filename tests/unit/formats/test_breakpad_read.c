/* breakpad/, reading: every kind of record in every form, records in unusual places, and damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "support/breakpad_sample.h"
#include "support/model_sample.h"
#include "support/test_alloc.h"

/* The specification's example. */
#define EXAMPLE_HEAD                                                  \
    "MODULE Linux x86_64 BBA6FA10B8AAB33D00000000000000000 demo\n"    \
    "INFO CODE_ID 10FAA6BBAAB83DB3\n"                                 \
    "FILE 0 /s/a.c\n"                                                 \
    "FILE 1 /s/b.h\n"
#define EXAMPLE_LINES  \
    "1000 4 10 0\n"    \
    "1004 4 11 0\n"    \
    "1008 8 3 1\n"     \
    "1010 c 40 0\n"    \
    "101c 4 41 0\n"    \
    "PUBLIC 1020 0 foo\n"
static const char example[] = EXAMPLE_HEAD "INLINE_ORIGIN 0 sq\nFUNC 1000 20 0 main\nINLINE 0 11 0 0 1008 8\n" EXAMPLE_LINES;
static const char old_example[] = EXAMPLE_HEAD "INLINE_ORIGIN 0 1 sq\nFUNC 1000 20 0 main\nINLINE 0 11 0 1008 8\n" EXAMPLE_LINES;
#define EXAMPLE_ROWS "main@1000+20 [0 /s/a.c:10] [4 /s/a.c:11] [8 /s/b.h:3] [10 /s/a.c:40] [1c /s/a.c:41]"

/* What `text` holds, with chunks of `chunk_size`; and which events it gave. */
static void expect_chunks(const char *text, size_t chunk_size, const char *model, const char *events) {
    static struct breakpad_sample s;
    assert_int_equal(breakpad_sample_open(&s, text, strlen(text), chunk_size, NULL), CSN_OK);
    assert_string_equal(breakpad_sample_tell(&s.model), model);
    assert_string_equal(model_sample_events(&s.report), events);
    breakpad_sample_close(&s);
}

/* The size of chunks changes nothing. */
static void expect(const char *text, const char *model, const char *events) {
    static const size_t sizes[] = { 1, 7, 40, 0 };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) expect_chunks(text, sizes[i], model, events);
}

static void reads_the_example(void **state) {
    (void)state;
    expect(example, EXAMPLE_ROWS " {sq /s/a.c:11 8+8}; foo@1020+0", "");
    expect(old_example, EXAMPLE_ROWS " {sq - 8+8}; foo@1020+0", "");
    struct breakpad_sample s;
    assert_int_equal(breakpad_sample_open(&s, example, strlen(example), 0, NULL), CSN_OK);
    assert_true(csni_str_is(s.breakpad.os, "Linux") && csni_str_is(s.breakpad.arch, "x86_64"));
    assert_true(csni_str_is(s.breakpad.name, "demo") && csni_str_is(s.breakpad.code_id, "10FAA6BBAAB83DB3"));
    breakpad_sample_close(&s);
}

static void line_ends(void **state) {
    (void)state;
    expect("FILE 0 a b.c\r\nFUNC 10 4 0 f g \r\r\n10 4 7 0\r\n\r\n\nPUBLIC 20 0 p", "f g @10+4 [0 a b.c:7]; p@20+0", "");
    expect("FILE 0 a\nFUNC  m  10\t4 0   f\n10   4 7 0  \n10 0 9 0\n", "f@10+4 [0 a:7]", "");
    expect("FILE 0 a\nFUNC face 4 0 f\nFACE 2 1 0\nface2 2 2 0\n", "f@face+4 [0 a:1] [2 -]", "damaged-text-line:1");
}

static void gaps_have_no_line(void **state) {
    (void)state;
    expect("FILE 3 a\nFUNC 10 10 0 f\n12 2 7 3\n16 2 7 3\n18 2 7 3\n", "f@10+10 [2 a:7] [4 -] [6 a:7] [a -]", "");
    expect("FILE 3 a\nFUNC 10 4 0 f\n10 4 0 3\n", "f@10+4 [0 a:0]", "");
}

static void lines_out_of_order(void **state) {
    (void)state;
    expect("FILE 0 a\nFUNC 10 10 0 f\n18 8 2 0\n10 8 1 0\n", "f@10+10 [0 a:1] [8 a:2]", "");
    /* Of two that overlap the first in the file stays. */
    expect("FILE 0 a\nFUNC 10 10 0 f\n14 4 2 0\n10 8 1 0\n18 8 3 0\n", "f@10+10 [4 a:2] [8 a:3]", "line-not-ascending:1");
    expect("FILE 0 a\nFUNC 10 10 0 f\n10 8 1 0\n14 4 2 0\n", "f@10+10 [0 a:1] [8 -]", "line-not-ascending:1");
    /* The second goes for the first; so the third, which overlaps only the second, stays. */
    expect("FILE 0 a\nFUNC 0 20 0 f\nc 8 3 0\n5 a 2 0\n0 a 1 0\n", "f@0+20 [0 a:1] [a -] [c a:3] [14 -]", "line-not-ascending:1");
    expect("FILE 0 a\nFUNC 0 20 0 f\nc 8 3 0\n5 a 2 0\n0 a 1 0\n4 1 4 0\nf 1 5 0\na 2 6 0\n14 4 7 0\n",
           "f@0+20 [0 a:1] [a a:6] [c a:3] [14 a:7] [18 -]", "line-not-ascending:3");
    expect("FILE 0 a\nFUNC 0 20 0 f\n4 4 1 0\n4 8 2 0\n0 4 3 0\n4 4 4 0\n", "f@0+20 [0 a:3] [4 a:1] [8 -]", "line-not-ascending:2");
    /* Only what lies in the function holds. */
    expect("FILE 0 a\nFUNC 10 10 0 f\n8 a 1 0\n1e 8 2 0\n30 1 3 0\n", "f@10+10 [0 a:1] [2 -] [e a:2]", "damaged-text-line:1");
    expect("FILE 0 a\nFUNC 10 4 0 f\n10 2 1 9\n12 2 2 0\n", "f@10+4 [2 a:2]", "line-bad-file:1");
}

static void paths_are_cut(void **state) {
    (void)state;
    expect(
        "FILE 0 /a\nFILE 1 b\nFILE 2 c:\\d\\e\nFILE 3 /x//y\nFILE 4 hg:h/r:p/q.c:12\nFILE 5 z/\nFUNC 10 6 0 f\n10 1 1 0\n11 1 1 1\n"
        "12 1 1 2\n13 1 1 3\n14 1 1 4\n15 1 1 5\n",
        "f@10+6 [0 /a:1] [1 b:1] [2 c:\\d/e:1] [3 /x//y:1] [4 hg:h/r:p/q.c:12:1] [5 z/:1]", "");
}

static void definitions(void **state) {
    (void)state;
    /* Numbers of any kind; the first of two stays. */
    expect("FILE 9 a\nFILE 4000000000 b\nFILE 9 c\nFUNC 10 4 0 f\n10 2 1 9\n12 2 1 4000000000\n",
           "f@10+4 [0 a:1] [2 b:1]", "damaged-text-line:1");
    /* Anywhere in the file. */
    expect("FUNC 10 4 0 f\n10 4 1 0\nFILE 0 a\nFUNC 20 4 0 g\nINLINE_ORIGIN 5 i\nINLINE 0 3 0 5 20 2\n20 4 2 0\n",
           "f@10+4 [0 a:1]; g@20+4 [0 a:2] {i a:3 0+2}", "");
    expect("FILE x a\nFILE 4294967296 a\nFILE 1\nINLINE_ORIGIN 1 \nFUNC 10 1 0 f\n", "f@10+1", "damaged-text-line:4");
}

static void forms_of_inline_origin(void **state) {
    (void)state;
    expect("INLINE_ORIGIN 0 7 old\nINLINE_ORIGIN 1 -1 none\nINLINE_ORIGIN 2 12\nINLINE_ORIGIN 3 a b\nINLINE_ORIGIN 4 7x y\n"
           "INLINE_ORIGIN 5 - z\nFUNC 10 10 0 f\nINLINE 0 1 -1 0 10 1\nINLINE 0 1 -1 1 11 1\nINLINE 0 1 -1 2 12 1\n"
           "INLINE 0 1 -1 3 13 1\nINLINE 0 1 -1 4 14 1\nINLINE 0 1 -1 5 15 1\nINLINE 0 1 -1 6 16 1\n",
           "f@10+10 {old - 0+1} {none - 1+1} {12 - 2+1} {a b - 3+1} {7x y - 4+1} {- z - 5+1} {<name omitted> - 6+1}", "");
}

#define ORIGINS "FILE 0 c\nINLINE_ORIGIN 0 a\nINLINE_ORIGIN 1 b\nINLINE_ORIGIN 2 d\nFUNC 100 100 0 f\n"

static void inlines_in_order(void **state) {
    (void)state;
    expect(ORIGINS "INLINE 0 1 0 0 110 10 140 10\nINLINE 1 2 0 1 110 8 148 8\nINLINE 2 3 0 2 148 8\nINLINE 0 4 0 2 180 8\n",
           "f@100+100 {a c:1 10+10 40+10 {b c:2 10+8 48+8 {d c:3 48+8}}} {d c:4 80+8}", "");
    /* Equal ranges on successive levels. */
    expect(ORIGINS "INLINE 0 1 0 0 110 10\nINLINE 1 2 0 1 110 10\nINLINE 2 3 0 2 110 10\n",
           "f@100+100 {a c:1 10+10 {b c:2 10+10 {d c:3 10+10}}}", "");
    /* Ranges that touch are one; those outside of the function go. */
    expect(ORIGINS "INLINE 0 1 0 0 118 8 110 8 120 0\nINLINE 0 2 0 1 1f8 10 300 8\nINLINE 0 2 0 1 300 8\n",
           "f@100+100 {a c:1 10+10} {b c:2 f8+8}", "inline-outside-parent:3");
}

static void inlines_in_any_order(void **state) {
    (void)state;
    /* Level by level, as one that walks trees breadth first would write. */
    expect(ORIGINS
           "INLINE 0 1 0 0 110 10\nINLINE 0 4 0 0 120 10\nINLINE 1 2 0 1 120 8\nINLINE 1 2 0 1 110 8\nINLINE 2 3 0 2 110 4\n",
           "f@100+100 {a c:1 10+10 {b c:2 10+8 {d c:3 10+4}}} {a c:4 20+10 {b c:2 20+8}}", "");
    /* Inner before outer, a level left out. */
    expect(ORIGINS "INLINE 2 3 0 2 110 4\nINLINE 0 1 0 0 110 10\n", "f@100+100 {a c:1 10+10 {d c:3 10+4}}", "");
    expect(ORIGINS "INLINE 3 3 0 2 110 4\n", "f@100+100 {d c:3 10+4}", "");
    /* Equal ranges, the inner record first. */
    expect(ORIGINS "INLINE 1 2 0 1 110 10\nINLINE 0 1 0 0 110 10\n", "f@100+100 {a c:1 10+10 {b c:2 10+10}}", "");
    /* One record in two calls becomes two. */
    expect(ORIGINS "INLINE 0 1 0 0 110 8\nINLINE 0 2 0 1 118 8\nINLINE 1 3 0 2 112 2 11a 2 11e 2\n",
           "f@100+100 {a c:1 10+8 {d c:3 12+2}} {b c:2 18+8 {d c:3 1a+2 1e+2}}", "");
    /* Partly within the level above, partly in the function alone. */
    expect(ORIGINS "INLINE 0 1 0 0 110 8\nINLINE 1 3 0 2 114 8\n", "f@100+100 {a c:1 10+8 {d c:3 14+4}} {d c:3 18+4}", "");
    /* Across two calls of the level above. */
    expect(ORIGINS "INLINE 0 1 0 0 110 8\nINLINE 1 3 0 2 110 10\nINLINE 0 2 0 1 118 8\n",
           "f@100+100 {a c:1 10+8 {d c:3 10+8}} {b c:2 18+8 {d c:3 18+8}}", "");
    expect(ORIGINS "INLINE 1 3 0 2 108 20\nINLINE 0 1 0 0 110 4 118 4\n",
           "f@100+100 {d c:3 8+8 14+4 1c+c} {a c:1 10+4 18+4 {d c:3 10+4 18+4}}", "");
}

static void inlines_too_deep(void **state) {
    (void)state;
    enum { DEPTH = 600 };
    static char text[DEPTH * 32];
    size_t at = (size_t)sprintf(text, "%s", ORIGINS);
    for (int i = DEPTH; i-- > 0;) at += (size_t)sprintf(text + at, "INLINE %d 1 0 0 100 10\n", i);
    static struct breakpad_sample s;
    assert_int_equal(breakpad_sample_open(&s, text, at, 0, NULL), CSN_OK);
    assert_string_equal(model_sample_events(&s.report), "inline-too-deep:90");
    assert_int_equal(s.model.batches[1].inline_count, 510);
    breakpad_sample_close(&s);
}

static void symbols(void **state) {
    (void)state;
    /* Up to what comes next; in a function, at 0 and after another at the same address: not at all. */
    expect("PUBLIC m 40 0 c\nFUNC 10 10 0 f\nPUBLIC 20 0 a b\nPUBLIC 30 8 b\nPUBLIC 30 0 b2\nFUNC 50 10 0 g\nPUBLIC 58 0 in\n"
           "PUBLIC 50 0 at\nPUBLIC 0 0 zero\nPUBLIC 70 0 last\n",
           "f@10+10; a b@20+10; b@30+10; c@40+10; g@50+10; last@70+0", "duplicate-dropped:4");
    expect("FUNC 10 0 0 f\n10 4 1 0\nPUBLIC 20 0 p\n20 4 1 0\n", "f@10+10; p@20+0", "damaged-text-line:2");
}

static void functions_at_one_place(void **state) {
    (void)state;
    expect("FILE 0 a\nFUNC m 10 10 0 f\nFUNC m 10 10 0 g\n10 10 1 0\n", "f@10+10", "duplicate-dropped:1");
    expect("FUNC 10 ffffffffff 0 f\n", "f@10+ffffffff", "function-too-large:1");
    expect("FUNC fffffffffffffff0 20 0 f\nfffffffffffffff0 20 1 0\n", "f@fffffffffffffff0+f",
           "line-bad-file:1 function-past-last-address:1");
}

/* What Breakpad's readers do: the first in the file stays, a later one is left out whole. */
static void functions_that_overlap(void **state) {
    (void)state;
    expect("FUNC 1000 100 0 outer\nFUNC 1050 10 0 inner\n", "outer@1000+100", "overlapping-function:1");
    expect("FUNC 1050 10 0 inner\nFUNC 1000 100 0 outer\nFUNC 1060 a0 0 rest\n", "inner@1050+10; rest@1060+a0",
           "overlapping-function:1");
    expect("FUNC 30 8 0 c\nFUNC 10 10 0 a\nFUNC 20 10 0 b\n", "a@10+10; b@20+10; c@30+8", "");
    /* b goes for a; so c, which overlaps only b, stays. */
    expect("FUNC 10 10 0 a\nFUNC 18 10 0 b\nFUNC 20 10 0 c\nFUNC 10 8 0 d\nFUNC 8 9 0 e\nFUNC 8 8 0 f\n",
           "f@8+8; a@10+10; c@20+10", "overlapping-function:3");
    /* A symbol lies in no function that was left out. */
    expect("FUNC 10 10 0 a\nFUNC 18 10 0 b\nPUBLIC 24 0 p\nFUNC 30 4 0 c\n", "a@10+10; p@24+c; c@30+4", "overlapping-function:1");
}

enum { MANY = 3000, SPACE = 20000 };
struct piece {
    uint32_t start, size;
};

/* Random functions against the plain rule: look at all that were kept. */
static void many_functions_that_overlap(void **state) {
    (void)state;
    static struct piece pieces[MANY], kept[MANY];
    static char text[MANY * 40];
    uint64_t seed = 12345;
    size_t at = 0, count = 0;
    for (unsigned i = 0; i < MANY; i++) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        pieces[i] = (struct piece){ (uint32_t)(seed >> 33) % SPACE, 1 + (uint32_t)(seed >> 20) % (i % 50 ? 12 : 400) };
        at += (size_t)sprintf(text + at, "FUNC %x %x 0 f%x\n", pieces[i].start, pieces[i].size, i);
        bool free_place = true;
        for (size_t k = 0; k < count && free_place; k++)
            free_place = pieces[i].start + pieces[i].size <= kept[k].start || kept[k].start + kept[k].size <= pieces[i].start;
        if (free_place) kept[count++] = pieces[i];
    }
    static struct breakpad_sample s;
    assert_int_equal(breakpad_sample_open(&s, text, at, 512, NULL), CSN_OK);
    assert_int_equal(s.model.entry_count, count);
    for (uint32_t e = 0; e < s.model.entry_count; e++) {
        const struct csni_function *f = csni_model_function(&s.model, &s.model.entries[e]);
        size_t k = 0;
        while (k < count && (kept[k].start != f->start || kept[k].size != f->size)) k++;
        assert_true(k < count);
    }
    breakpad_sample_close(&s);
}

static void bad_records(void **state) {
    (void)state;
    expect("FUNC 10 10 0\n10 1 1 0\nFUNC 1g 10 0 f\nFUNC 11111111111111111 1 0 f\nFUNC\nPUBLIC 10 p\nPUBLIC\nNEWS 1 2 3\n", "",
           "damaged-text-line:7");
    expect("FILE 0 a\nFUNC 10 10 0 f\nINLINE 0 1 0 0\nINLINE 0 1 0\nINLINE 0 1 -2 0 10 1\nINLINE x 1 0 0 10 1\nINLINE 0 1 0 0 10 1g\n10 1 1\n"
           "10 1 1 0 0\n10 1 1 -1\n10 1 99999999999 0\n", "f@10+10", "damaged-text-line:9");
    expect("10 1 1 0\nINLINE 0 1 0 0 10 1\nMODULE a b c d\nFUNC 10 10 0 f\n", "f@10+10", "damaged-text-line:3");
}

/* The example of an event tells the line, wherever it stands. */
static void damage_names_the_line(void **state) {
    (void)state;
    static const char text[] = "FILE 0 a\nFUNC 10 10 0 f\n10 10 1 0\n\nFUNC 20 10 0 g\nWHAT is\r\nno no\n";
    for (size_t chunk = 1; chunk < sizeof text; chunk++) {
        static struct breakpad_sample s;
        assert_int_equal(breakpad_sample_open(&s, text, strlen(text), chunk, NULL), CSN_OK);
        assert_string_equal(s.report.events[CSN_EVENT_DAMAGED_TEXT_LINE].example, "line 6: no record that is known: WHAT is");
        assert_int_equal(s.report.events[CSN_EVENT_DAMAGED_TEXT_LINE].count, 2);
        breakpad_sample_close(&s);
    }
}

static void nul_within(void **state) {
    (void)state;
    static const char text[] = "FUNC 10 10 0 f\0g\nFUNC 20 10 0 h\n2\0 1 1 0\n";
    static struct breakpad_sample s;
    assert_int_equal(breakpad_sample_open(&s, text, sizeof text - 1, 0, NULL), CSN_OK);
    assert_string_equal(breakpad_sample_tell(&s.model), "h@20+10");
    assert_string_equal(model_sample_events(&s.report), "damaged-text-line:2");
    breakpad_sample_close(&s);
}

static void keeps_stack_records(void **state) {
    (void)state;
    static const char text[] =
        "MODULE Linux x 0 n\nINFO A b\nFUNC 10 10 0 f\nSTACK CFI INIT 10 10 .cfa: $rsp 8 + \nSTACK CFI 11 .cfa: x\n"
        "INFO late\nSTACK WIN 4\n10 1 1 0\n";
    static struct breakpad_sample s;
    assert_int_equal(breakpad_sample_open(&s, text, strlen(text), 0, NULL), CSN_OK);
    const struct csni_extra *head = s.breakpad.chunks.items[0].extras.items, *body = s.breakpad.chunks.items[1].extras.items;
    assert_int_equal(s.breakpad.chunks.items[0].extras.count, 1);
    assert_true(csni_str_is(head->text, "MODULE Linux x 0 n\nINFO A b") && !head->records);
    assert_int_equal(s.breakpad.chunks.items[1].extras.count, 3);
    assert_true(csni_str_is(body[0].text, "STACK CFI INIT 10 10 .cfa: $rsp 8 + \nSTACK CFI 11 .cfa: x") && body[0].records == 2);
    assert_true(csni_str_is(body[1].text, "INFO late") && !body[1].records);
    assert_true(csni_str_is(body[2].text, "STACK WIN 4") && body[2].records == 1);
    assert_string_equal(model_sample_events(&s.report), "damaged-text-line:1"); /* the line record */
    breakpad_sample_close(&s);
}

static void recognizes(void **state) {
    (void)state;
    static const struct { const char *text; bool is; } cases[] = {
        { example, true }, { "\r\n\nMODULE x", true }, { "FUNC m 1 2 3 f", true }, { "FUNC 1 2 3 f", true },
        { "PUBLIC 1 0 f", true },
        { "FILE 0 a", true }, { "INLINE_ORIGIN 0 a", true }, { "MODULE", false }, { "MODULE ", false }, { "MODULES x", false },
        { "FUNC x 2 3 f", false }, { "FILE a b", false }, { "1000 4 10 0", false }, { "", false }, { "\n\n", false },
        { "ffffffff81000000 T _text", false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct csni_span span = { (const uint8_t *)cases[i].text, strlen(cases[i].text) };
        if (csni_breakpad_recognize(span) != cases[i].is) fail_msg("\"%s\"", cases[i].text);
    }
}

/* ---- ids ---- */

static void expect_uuid(const char *os, const char *id, const char *code_id, const char *want, size_t want_size) {
    uint8_t uuid[CSNI_BREAKPAD_UUID_MAX];
    assert_int_equal(csni_breakpad_uuid(csni_str(os), csni_str(id), csni_str(code_id), uuid), want_size);
    assert_memory_equal(uuid, want, want_size);
}

static void ids(void **state) {
    (void)state;
    static const char elf[] = "\x10\xfa\xa6\xbb\xaa\xb8\x3d\xb3\0\0\0\0\0\0\0\0";
    expect_uuid("Linux", "BBA6FA10B8AAB33D00000000000000000", "", elf, 16);
    expect_uuid("Linux", "BBA6FA10B8AAB33D00000000000000000", "10FAA6BBAAB83DB3", elf, 8);
    expect_uuid("Linux", "BBA6FA10B8AAB33D00000000000000000", "10FAA6BBAAB83DB", elf, 16);   /* half a byte */
    expect_uuid("Linux", "BBA6FA10B8AAB33D00000000000000000", "10FAA6BBAAB83DXX", elf, 16);
    expect_uuid("windows", "BBA6FA10B8AAB33D0000000000000000a", "5A1B2C3D12000", elf, 16);
    expect_uuid("windows", "BBA6FA10B8AAB33D0000000000000000a", "5A1B2C3D120000", elf, 16);
    expect_uuid("mac", "10FAA6BBAAB83DB300000000000000000", "", elf, 16);
    expect_uuid("Linux", "000000000000000000000000000000000", "", "", 0);
    expect_uuid("windows", "5A1B2C3D1", "", "", 0); /* PDB 2.0 */
    expect_uuid("", "", "", "", 0);
    char id[CSNI_BREAKPAD_ID_MAX + 1];
    csni_breakpad_id(csni_str("Linux"), (struct csni_span){ (const uint8_t *)elf, 8 }, 0, id);
    assert_string_equal(id, "BBA6FA10B8AAB33D00000000000000000");
    csni_breakpad_id(csni_str("mac"), (struct csni_span){ (const uint8_t *)elf, 16 }, 0, id);
    assert_string_equal(id, "10FAA6BBAAB83DB300000000000000000");
    csni_breakpad_id(csni_str("windows"), (struct csni_span){ (const uint8_t *)elf, 16 }, 0xfedcba98, id);
    assert_string_equal(id, "BBA6FA10B8AAB33D0000000000000000fedcba98");
    csni_breakpad_id(csni_str("Linux"), (struct csni_span){ NULL, 0 }, 0, id);
    assert_string_equal(id, "000000000000000000000000000000000");
}

/* ---- damage ---- */

static const char rich[] = EXAMPLE_HEAD "INLINE_ORIGIN 0 sq\nINLINE_ORIGIN 1 0 cu\nFUNC m 1000 20 0 main\nINLINE 1 3 1 1 1008 4\n"
                           "INLINE 0 11 0 0 1008 8\nINLINE 0 12 -1 0 1010 2 1014 2\n1010 c 40 0\n1000 4 10 0\r\n" EXAMPLE_LINES
                           "STACK CFI INIT 1000 20 .cfa: $rsp 8 +\nINFO x\nFILE 7 late\nFUNC 2000 4 0 g\n2000 4 1 7\n";

static void read_any(const char *text, size_t size) {
    static struct breakpad_sample s;
    for (size_t chunk = 0; chunk < 50; chunk += 49) {
        assert_int_equal(breakpad_sample_open(&s, text, size, chunk, NULL), CSN_OK);
        struct csn_bytes out = breakpad_sample_write(&s.model);
        csn_bytes_free(&out);
        breakpad_sample_close(&s);
    }
}

static void every_truncation(void **state) {
    (void)state;
    for (size_t size = 0; size <= sizeof rich - 1; size++) read_any(rich, size);
}

static void flipped_bits(void **state) {
    (void)state;
    char text[sizeof rich];
    for (size_t bit = 0; bit < (sizeof rich - 1) * 8; bit++) {
        memcpy(text, rich, sizeof rich);
        text[bit / 8] = (char)(text[bit / 8] ^ 1 << bit % 8);
        read_any(text, sizeof rich - 1);
    }
}

static void replaced_bytes(void **state) {
    (void)state;
    static const char bytes[] = "\n \r0f9-m\0F";
    char text[sizeof rich];
    uint32_t seed = 1;
    for (int run = 0; run < 4000; run++) {
        memcpy(text, rich, sizeof rich);
        for (int k = 0; k < 1 + run % 5; k++) {
            seed = seed * 1664525 + 1013904223;
            text[seed / 16 % (sizeof rich - 1)] = bytes[(seed >> 28) % (sizeof bytes - 1)];
        }
        read_any(text, sizeof rich - 1);
    }
}

static csn_status read_with(void *context, const struct csn_allocator *alloc) {
    (void)context;
    static struct breakpad_sample s;
    csn_status status = breakpad_sample_open(&s, rich, sizeof rich - 1, 60, alloc);
    breakpad_sample_close(&s);
    return status;
}

static void every_allocation_fails(void **state) {
    (void)state;
    assert_true(test_allocator_sweep(read_with, NULL, 0) > 10);
    test_allocator_sweep(read_with, NULL, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_example),
        cmocka_unit_test(line_ends),
        cmocka_unit_test(gaps_have_no_line),
        cmocka_unit_test(lines_out_of_order),
        cmocka_unit_test(paths_are_cut),
        cmocka_unit_test(definitions),
        cmocka_unit_test(forms_of_inline_origin),
        cmocka_unit_test(inlines_in_order),
        cmocka_unit_test(inlines_in_any_order),
        cmocka_unit_test(inlines_too_deep),
        cmocka_unit_test(symbols),
        cmocka_unit_test(functions_at_one_place),
        cmocka_unit_test(functions_that_overlap),
        cmocka_unit_test(many_functions_that_overlap),
        cmocka_unit_test(bad_records),
        cmocka_unit_test(damage_names_the_line),
        cmocka_unit_test(nul_within),
        cmocka_unit_test(keeps_stack_records),
        cmocka_unit_test(recognizes),
        cmocka_unit_test(ids),
        cmocka_unit_test(every_truncation),
        cmocka_unit_test(flipped_bits),
        cmocka_unit_test(replaced_bytes),
        cmocka_unit_test(every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
