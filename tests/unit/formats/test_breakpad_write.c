/* breakpad/, writing: the specification's example, names and paths that need care, what comes back when it is read again. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "base/sink.h"
#include "support/breakpad_sample.h"
#include "formats/breakpad/breakpad_put.h"
#include "support/model_sample.h"
#include "support/test_alloc.h"

static void expect_text(struct model_sample *s, csni_demangler *demangle, const char *want) {
    struct csn_bytes out = { NULL, 0, NULL };
    struct csni_sink sink = csni_memory_sink(&out);
    assert_int_equal(model_sample_link(s), CSN_OK);
    assert_int_equal(csni_breakpad_write(&s->model, &(struct csni_breakpad_write_options){ .demangle = demangle }, NULL, &sink,
                                         &s->report, NULL),
                     CSN_OK);
    char *text = calloc(1, out.size + 1);
    assert_non_null(text);
    memcpy(text, out.ptr, out.size);
    assert_string_equal(text, want);
    assert_int_equal(s->report.output_bytes, out.size);
    free(text);
    csn_bytes_free(&out);
    model_sample_deinit(s);
}

/* Both sides of every power of two and of ten. */
static size_t edge_numbers(uint64_t *out) {
    size_t count = 0;
    for (unsigned bit = 0; bit < 64; bit++)
        for (uint64_t i = 0; i < 3; i++) out[count++] = (1ull << bit) - 1 + i;
    for (uint64_t ten = 10; ten <= UINT32_MAX; ten *= 10)
        for (uint64_t i = 0; i < 3; i++) out[count++] = ten - 1 + i;
    return count;
}

static void numbers_are_those_of_printf(void **state) {
    (void)state;
    uint64_t numbers[300];
    char want[256];
    struct test_allocator alloc;
    test_allocator_init(&alloc);
    struct csni_buffer text = { .alloc = &alloc.base };
    struct csni_breakpad_lines lines = { 0 };
    for (size_t i = edge_numbers(numbers), file = 0; i-- > 0; file = (size_t)numbers[i] & 3 ? file : (size_t)numbers[i]) {
        const uint32_t low = (uint32_t)numbers[i];
        text.size = 0;
        csni_breakpad_put_hex(&text, numbers[i], ' ');
        csni_breakpad_put_dec(&text, low, '\n');
        csni_breakpad_put_line(&text, &lines, numbers[i], low, low, (uint32_t)file);
        csni_breakpad_put_line(&text, &lines, numbers[i] + 1, low, low, (uint32_t)file);
        const int size = snprintf(want, sizeof want, "%jx %u\n%jx %x %u %u\n%jx %x %u %u\n", (uintmax_t)numbers[i], low,
                                  (uintmax_t)numbers[i], low, low, (uint32_t)file, (uintmax_t)(numbers[i] + 1), low,
                                  low, (uint32_t)file);
        assert_int_equal(text.size, size);
        assert_memory_equal(text.bytes, want, (size_t)size);
    }
    csni_buffer_deinit(&text);
    test_allocator_check_empty(&alloc);
}

static void the_example(void **state) {
    (void)state;
    static const uint8_t uuid[] = { 0x10, 0xfa, 0xa6, 0xbb, 0xaa, 0xb8, 0x3d, 0xb3 };
    struct model_sample s;
    model_sample_init(&s, NULL);
    uint32_t a = model_sample_file(&s, "/s", "a.c"), b = model_sample_file(&s, "/s", "b.h");
    model_sample_function(&s, 0x401020, 0, "foo");
    model_sample_function(&s, 0x401000, 0x20, "main");
    csni_batch_add_row(&s.writer, 0, a, 10);
    csni_batch_add_row(&s.writer, 4, a, 11);
    csni_batch_add_row(&s.writer, 8, b, 3);
    csni_batch_add_row(&s.writer, 0x10, a, 40);
    csni_batch_add_row(&s.writer, 0x1c, a, 41);
    model_sample_inline(&s, "sq", a, 11, 8, 0x10);
    s.model.image.has_base_address = true;
    s.model.image.base_address = 0x400000;
    s.model.image.uuid = (struct csni_span){ uuid, sizeof uuid };
    s.model.image.identity = (struct csni_identity){ csni_str("Linux"), csni_str("x86_64"), csni_str("demo"), 0 };
    expect_text(&s, NULL,
                "MODULE Linux x86_64 BBA6FA10B8AAB33D00000000000000000 demo\n"
                "INFO CODE_ID 10FAA6BBAAB83DB3\n"
                "FILE 0 /s/a.c\n"
                "FILE 1 /s/b.h\n"
                "INLINE_ORIGIN 0 sq\n"
                "FUNC 1000 20 0 main\n"
                "INLINE 0 11 0 0 1008 8\n"
                "1000 4 10 0\n"
                "1004 4 11 0\n"
                "1008 8 3 1\n"
                "1010 c 40 0\n"
                "101c 4 41 0\n"
                "PUBLIC 1020 0 foo\n");
}

static void what_is_not_known(void **state) {
    (void)state;
    struct model_sample s;
    model_sample_init(&s, NULL);
    expect_text(&s, NULL, "MODULE Linux unknown 000000000000000000000000000000000 unknown\n");
    static const uint8_t uuid[16] = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
    model_sample_init(&s, NULL);
    s.model.image.uuid = (struct csni_span){ uuid, sizeof uuid };
    s.model.image.identity = (struct csni_identity){ csni_str("windows"), csni_str("i386"), csni_str("a b.pdb"), 0x1f };
    expect_text(&s, NULL, "MODULE windows x86 040302010605080709000000000000001f a b.pdb\n");
    model_sample_init(&s, NULL);
    s.model.image.uuid = (struct csni_span){ uuid, sizeof uuid };
    s.model.image.identity = (struct csni_identity){ csni_str("mac"), csni_str("armv7s"), csni_str("a\nb\r"), 0 };
    expect_text(&s, NULL, "MODULE mac arm 010203040506070809000000000000000 a_b_\nINFO CODE_ID 01020304050607080900000000000000\n");
}

static const char head[] = "MODULE Linux unknown 000000000000000000000000000000000 unknown\n";

static void expect_lines(struct model_sample *s, csni_demangler *demangle, const char *lines) {
    char text[4096];
    assert_true(strlen(lines) < sizeof text - sizeof head);
    snprintf(text, sizeof text, "%s%s", head, lines);
    expect_text(s, demangle, text);
}

static void names_and_paths(void **state) {
    (void)state;
    struct model_sample s;
    model_sample_init(&s, NULL);
    const char *paths[][2] = { { "/d e", "f g.c" }, { "C:\\x", "y.c" }, { "", "plain\n.c" },
                               { "/", "root.c" },   { "dir", "" },      { "", "1 2.c" } };
    model_sample_function(&s, 0x10, 0x10, " a\rb ");
    for (uint32_t i = 0; i < 6; i++) csni_batch_add_row(&s.writer, i, model_sample_file(&s, paths[i][0], paths[i][1]), 1);
    model_sample_inline(&s, "12 x", 0, 0, 0, 1);
    model_sample_inline(&s, "-1 x", 0, 0, 1, 2);
    model_sample_inline(&s, "12", 0, 0, 2, 3);
    model_sample_inline(&s, "12 x", 0, 0, 3, 4);
    model_sample_function(&s, 0x20, 0x10, "");
    expect_lines(&s, NULL,
                 "FILE 0 /d e/f g.c\nFILE 1 C:\\x\\y.c\nFILE 2 plain_.c\nFILE 3 /root.c\nFILE 4 dir/\nFILE 5 1 2.c\n"
                 "INLINE_ORIGIN 0 12_x\nINLINE_ORIGIN 1 -1_x\nINLINE_ORIGIN 2 12\n"
                 "FUNC 10 10 0 _a_b \nINLINE 0 0 -1 0 10 1\nINLINE 0 0 -1 1 11 1\nINLINE 0 0 -1 2 12 1\nINLINE 0 0 -1 0 13 1\n"
                 "10 1 1 0\n11 1 1 1\n12 1 1 2\n13 1 1 3\n14 1 1 4\n15 b 1 5\nFUNC 20 10 0 <name omitted>\n");
}

static void rows_without_lines(void **state) {
    (void)state;
    struct model_sample s;
    model_sample_init(&s, NULL);
    uint32_t file = model_sample_file(&s, "", "a");
    model_sample_function(&s, 0x10, 0x10, "f");
    csni_batch_add_row(&s.writer, 2, file, 5);
    csni_batch_add_row(&s.writer, 4, file, 0);
    csni_batch_add_row(&s.writer, 6, 0, 7);
    csni_batch_add_row(&s.writer, 8, file, 4000000000u);
    csni_batch_add_row(&s.writer, 0x10, file, 9);
    expect_lines(&s, NULL, "FILE 0 a\nFUNC 10 10 0 f\n12 2 5 0\n18 8 4000000000 0\n");
}

/* Calls without a name go, those in them move up; levels follow. */
static void inline_levels(void **state) {
    (void)state;
    struct model_sample s;
    model_sample_init(&s, NULL);
    model_sample_function(&s, 0x100, 0x40, "f");
    const char *names[] = { "a", "", "b", "c" };
    uint32_t nodes[4];
    for (uint32_t i = 0; i < 4; i++) {
        nodes[i] = csni_batch_begin_inline(&s.writer, model_sample_string(&s, names[i]), 0, i + 1);
        csni_batch_add_part(&s.writer, 0x10, 0x20);
        csni_batch_add_part(&s.writer, 0x30, 0x38);
        if (i == 2) csni_batch_end_inline(&s.writer, nodes[2]);
    }
    csni_batch_end_inline(&s.writer, nodes[3]);
    csni_batch_end_inline(&s.writer, nodes[1]);
    csni_batch_end_inline(&s.writer, nodes[0]);
    model_sample_inline(&s, "b", 0, 9, 0x38, 0x40);
    expect_lines(&s, NULL,
                 "INLINE_ORIGIN 0 a\nINLINE_ORIGIN 1 b\nINLINE_ORIGIN 2 c\nFUNC 100 40 0 f\nINLINE 0 1 -1 0 110 10 130 8\n"
                 "INLINE 1 3 -1 1 110 10 130 8\nINLINE 1 4 -1 2 110 10 130 8\nINLINE 0 9 -1 1 138 8\n");
}

/* Readers keep the first of functions that overlap: the largest goes first. What is below the base has no address. */
static void order_of_functions(void **state) {
    (void)state;
    struct model_sample s;
    model_sample_init(&s, NULL);
    model_sample_function(&s, 0x10, 0x10, "small");
    model_sample_function(&s, 0x10, 0x20, "large");
    model_sample_function(&s, 0xf, 1, "below");
    model_sample_function(&s, 0x50, 0, "p");
    model_sample_function(&s, 0x40, 0, "o");
    model_sample_function(&s, 0x44, 1, "last");
    s.model.image.has_base_address = true;
    s.model.image.base_address = 0x10;
    expect_lines(&s, NULL, "FUNC 0 20 0 large\nFUNC 0 10 0 small\nFUNC 34 1 0 last\nPUBLIC 30 0 o\nPUBLIC 40 0 p\n");
}

/* What only a function below the base names is in no FILE and no INLINE_ORIGIN. */
static void names_below_the_base(void **state) {
    (void)state;
    struct model_sample s;
    model_sample_init(&s, NULL);
    model_sample_function(&s, 0x8, 4, "below");
    csni_batch_add_row(&s.writer, 0, model_sample_file(&s, "", "below.c"), 1);
    model_sample_inline(&s, "inlined_below", model_sample_file(&s, "", "caller_below.c"), 2, 0, 2);
    model_sample_function(&s, 0x10, 4, "above");
    csni_batch_add_row(&s.writer, 0, model_sample_file(&s, "", "above.c"), 3);
    s.model.image.has_base_address = true;
    s.model.image.base_address = 0x10;
    expect_lines(&s, NULL, "FILE 0 above.c\nFUNC 0 4 0 above\n0 4 3 0\n");
}

/* One that another begins in ends there, with its rows and calls. */
static void overlapping_functions(void **state) {
    (void)state;
    struct model_sample s;
    model_sample_init(&s, NULL);
    uint32_t file = model_sample_file(&s, "", "a");
    model_sample_function(&s, 0x10, 0x20, "outer");
    csni_batch_add_row(&s.writer, 0, file, 1);
    csni_batch_add_row(&s.writer, 6, file, 2);
    csni_batch_add_row(&s.writer, 8, file, 3);
    uint32_t node = csni_batch_begin_inline(&s.writer, model_sample_string(&s, "i"), 0, 0);
    csni_batch_add_part(&s.writer, 4, 10);
    csni_batch_add_part(&s.writer, 12, 14);
    model_sample_inline(&s, "j", 0, 0, 8, 10);
    model_sample_inline(&s, "k", 0, 0, 7, 8);
    csni_batch_end_inline(&s.writer, node);
    model_sample_function(&s, 0x18, 8, "within");
    model_sample_function(&s, 0x14, 0, "symbol");
    expect_lines(&s, NULL,
                 "FILE 0 a\nINLINE_ORIGIN 0 i\nINLINE_ORIGIN 1 j\nINLINE_ORIGIN 2 k\nFUNC 10 8 0 outer\nINLINE 0 0 -1 0 14 4\n"
                 "INLINE 1 0 -1 2 17 1\n10 6 1 0\n16 2 2 0\nFUNC 18 8 0 within\nPUBLIC 14 0 symbol\n");
}

/* Long for a name in brackets, short for one in parentheses. */
static csn_status fake_demangle(struct csn_str name, char *out, size_t cap, size_t *out_len, struct csn_error *err) {
    (void)err;
    if (name.ptr[0] != '[') return CSN_NONE;
    *out_len = 700;
    for (size_t i = 0; i < cap && i < 700; i++) out[i] = 'x';
    return cap > 700 ? CSN_OK : CSN_E_LIMIT;
}

static void demangles(void **state) {
    (void)state;
    char want[2048], xs[701];
    memset(xs, 'x', 700);
    xs[700] = 0;
    struct model_sample s;
    model_sample_init(&s, NULL);
    model_sample_function(&s, 0x10, 0x10, "[f]");
    model_sample_inline(&s, "(g)", 0, 0, 0, 1);
    model_sample_inline(&s, "[h]", 0, 0, 1, 2);
    snprintf(want, sizeof want,
             "INLINE_ORIGIN 0 (g)\nINLINE_ORIGIN 1 %s\nFUNC 10 10 0 %s\nINLINE 0 0 -1 0 10 1\nINLINE 0 0 -1 1 11 1\n",
             xs, xs);
    expect_lines(&s, fake_demangle, want);
}

/* Records of Breakpad's own are written as they came, others not. */
static void keeps_records(void **state) {
    (void)state;
    static struct csni_extra extras[] = {
        { CSN_FORMAT_BREAKPAD, 0, { "MODULE a b c d\nINFO X", 21 } },
        { CSN_FORMAT_BREAKPAD, 2, { "STACK CFI INIT\nSTACK CFI", 24 } },
        { CSN_FORMAT_GSYM_V1, 1, { "no", 2 } },
        { CSN_FORMAT_BREAKPAD, 0, { "INFO late", 9 } },
    };
    struct model_sample s;
    model_sample_init(&s, NULL);
    model_sample_function(&s, 0x10, 0x10, "f");
    s.model.image.extras.items = extras;
    s.model.image.extras.count = 4;
    expect_text(&s, NULL, "MODULE a b c d\nINFO X\nINFO late\nFUNC 10 10 0 f\nSTACK CFI INIT\nSTACK CFI\n");
    model_sample_init(&s, NULL);
    s.model.image.extras.items = extras + 3;
    s.model.image.extras.count = 1;
    expect_lines(&s, NULL, "INFO late\n");
    extras[0].text = (struct csn_str){ "MODULE\ta b c d", 14 };
    model_sample_init(&s, NULL);
    s.model.image.extras.items = extras;
    s.model.image.extras.count = 1;
    expect_text(&s, NULL, "MODULE\ta b c d\n");
}

/* ---- models made at random ---- */

static uint32_t seed;

static uint32_t random_below(uint32_t n) {
    seed = seed * 1664525 + 1013904223;
    return (seed >> 8) % n;
}

static const char *const words[] = { "a", "b b", "operator<", "ns::f(int, char const*)", "<lambda>", "g [clone .cold]" };

static void random_inlines(struct model_sample *s, const struct csni_part *parts, uint32_t count, uint32_t files, int depth) {
    uint32_t at[2] = { parts[0].start, count > 1 ? parts[1].start : 0 };
    for (uint32_t n = random_below(3); n > 0; n--) {
        struct csni_part own[2];
        uint32_t own_count = 0;
        for (uint32_t p = 0; p < count; p++) {
            uint32_t left = parts[p].end - at[p];
            if (!left || random_below(4) == 0) continue;
            uint32_t size = random_below(3) ? left : 1 + random_below(left);
            own[own_count++] = (struct csni_part){ at[p], at[p] + size };
            at[p] += size;
        }
        if (!own_count) continue;
        const char *name = words[random_below(sizeof words / sizeof *words)];
        uint32_t file = random_below(files + 1);
        uint32_t node = csni_batch_begin_inline(&s->writer, model_sample_string(s, name), file, file ? 1 + random_below(300) : 0);
        for (uint32_t p = 0; p < own_count; p++) csni_batch_add_part(&s->writer, own[p].start, own[p].end);
        if (depth < 5) random_inlines(s, own, own_count, files, depth + 1);
        csni_batch_end_inline(&s->writer, node);
    }
}

static void random_rows(struct model_sample *s, uint32_t size, uint32_t files) {
    bool gap = true; /* none at the start: it would not come back */
    for (uint32_t off = random_below(4); off < size; off += 1 + random_below(9)) {
        gap = !gap && random_below(5) == 0;
        csni_batch_add_row(&s->writer, off, gap ? 0 : 1 + random_below(files), gap ? 0 : 1 + random_below(5000));
    }
}

static void random_model(struct model_sample *s) {
    static const char *const directories[] = { "", "/", "/usr/in clude", "x", "C:\\d" };
    model_sample_init(s, NULL);
    uint64_t addr = random_below(2) ? 0x1000 : 0xffff000000000000;
    for (uint32_t b = 1 + random_below(3); b > 0; b--) {
        uint32_t files = 1 + random_below(5);
        for (uint32_t i = 0; i < files; i++) model_sample_file(s, directories[random_below(5)], words[i]);
        for (uint32_t n = random_below(12); n > 0; n--) {
            uint32_t size = 1 + random_below(90);
            model_sample_function(s, addr, size, words[random_below(sizeof words / sizeof *words)]);
            if (random_below(3)) random_rows(s, size, files);
            uint32_t cut = size / 2;
            struct csni_part parts[2] = { { 0, cut }, { cut + 1, size } };
            if (cut && cut + 1 < size) random_inlines(s, parts, 2, files, 0);
            addr += size + random_below(3);
        }
        if (b > 1) model_sample_next_batch(s);
    }
    model_sample_function(s, addr + 5, 0, "the last is a symbol");
}

static void comes_back_equal(void **state) {
    (void)state;
    for (uint32_t run = 0; run < 400; run++) {
        static struct model_sample s;
        static struct breakpad_sample back;
        seed = run;
        random_model(&s);
        assert_int_equal(model_sample_link(&s), CSN_OK);
        struct csn_bytes text = breakpad_sample_write(&s.model);
        char *told = strdup(breakpad_sample_tell(&s.model));
        assert_int_equal(breakpad_sample_open(&back, (const char *)text.ptr, text.size, random_below(400), NULL), CSN_OK);
        assert_string_equal(breakpad_sample_tell(&back.model), told);
        assert_string_equal(model_sample_events(&back.report), "");
        breakpad_sample_close(&back);
        free(told);
        csn_bytes_free(&text);
        model_sample_deinit(&s);
    }
}

/* ---- INLINE records in any order ---- */

static void tell_chain(const struct csni_batch *b, const struct csni_function *f, uint32_t off, char *out, size_t size) {
    size_t at = 0;
    out[0] = 0;
    for (uint32_t i = 0; i < f->inline_count;) {
        const struct csni_inline_node *n = &b->inlines[f->first_inline + i];
        bool holds = false;
        for (uint32_t k = 0; k < n->part_count; k++)
            holds |= b->parts[n->first_part + k].start <= off && off < b->parts[n->first_part + k].end;
        if (holds)
            at += (size_t)snprintf(out + at, size - at, "%.*s:%u ", (int)b->strings[n->name].len,
                                   b->strings[n->name].ptr, n->call_line);
        i += holds ? 1 : 1 + n->descendants;
    }
}

/* Shuffles each run of INLINE lines. */
static void shuffle(char *text, size_t size) {
    char *lines[256], *end = text + size;
    for (char *p = text; p < end;) {
        size_t count = 0;
        char *begin = p;
        while (p < end && memcmp(p, "INLINE ", 7) == 0 && count < 255) {
            lines[count++] = p;
            p = (char *)memchr(p, '\n', (size_t)(end - p)) + 1;
        }
        lines[count] = p;
        char *mixed = malloc((size_t)(p - begin) + 1), *to = mixed;
        uint32_t order[256];
        for (uint32_t i = 0; i < count; i++) order[i] = i;
        for (uint32_t i = (uint32_t)count; i > 1; i--) {
            uint32_t k = random_below(i), was = order[k];
            order[k] = order[i - 1];
            order[i - 1] = was;
        }
        for (uint32_t i = 0; i < count; i++) {
            size_t len = (size_t)(lines[order[i] + 1] - lines[order[i]]);
            memcpy(to, lines[order[i]], len);
            to += len;
        }
        memcpy(begin, mixed, (size_t)(p - begin));
        free(mixed);
        if (!count) p = (char *)memchr(p, '\n', (size_t)(end - p)) + 1;
    }
}

static void inlines_come_back_from_any_order(void **state) {
    (void)state;
    for (uint32_t run = 0; run < 300; run++) {
        static struct model_sample s;
        static struct breakpad_sample back;
        seed = run;
        random_model(&s);
        assert_int_equal(model_sample_link(&s), CSN_OK);
        struct csn_bytes text = breakpad_sample_write(&s.model);
        shuffle((char *)text.ptr, text.size);
        assert_int_equal(breakpad_sample_open(&back, (const char *)text.ptr, text.size, 0, NULL), CSN_OK);
        assert_int_equal(back.model.entry_count, s.model.entry_count);
        for (uint32_t i = 0; i < s.model.entry_count; i++) {
            const struct csni_function *f = csni_model_function(&s.model, &s.model.entries[i]);
            const struct csni_function *g = csni_model_function(&back.model, &back.model.entries[i]);
            for (uint32_t off = 0; off < f->size; off++) {
                char want[1024], is[1024];
                tell_chain(&s.batches[s.model.entries[i].batch], f, off, want, sizeof want);
                tell_chain(&back.batches[back.model.entries[i].batch], g, off, is, sizeof is);
                assert_string_equal(is, want);
            }
        }
        breakpad_sample_close(&back);
        csn_bytes_free(&text);
        model_sample_deinit(&s);
    }
}

/* ---- threads, memory ---- */

static void same_for_any_threads(void **state) {
    (void)state;
    struct csni_pool *pool;
    static struct model_sample s;
    static struct csn_convert_report report;
    assert_int_equal(csni_pool_create(4, NULL, &pool, NULL), CSN_OK);
    model_sample_init(&s, NULL);
    static char names[5000][12];
    for (uint32_t i = 0; i < 5000; i++) {
        snprintf(names[i], sizeof names[i], "f%u", i);
        model_sample_function(&s, 0x1000 + (i / 2) * 16, 16 - i % 2, names[i]);
        model_sample_inline(&s, names[i], 0, i, 0, 4);
    }
    assert_int_equal(model_sample_link(&s), CSN_OK);
    struct csn_bytes one = breakpad_sample_write(&s.model), many = { NULL, 0, NULL };
    struct csni_sink sink = csni_memory_sink(&many);
    assert_int_equal(csni_breakpad_write(&s.model, &(struct csni_breakpad_write_options){ 0 }, pool, &sink, &report, NULL), CSN_OK);
    assert_int_equal(one.size, many.size);
    assert_memory_equal(one.ptr, many.ptr, one.size);
    /* Every function once, though groups of one start lie across runs. */
    size_t lines = 0;
    for (size_t i = 0; i < one.size; i++) lines += one.ptr[i] == '\n';
    assert_int_equal(lines, 1 + 3 * 5000);
    csn_bytes_free(&one);
    csn_bytes_free(&many);
    model_sample_deinit(&s);
    csni_pool_destroy(pool);
}

static csn_status write_with(void *context, const struct csn_allocator *alloc) {
    static struct csn_convert_report report;
    struct model_sample *s = context;
    struct csn_bytes out = { NULL, 0, alloc };
    struct csni_sink sink = csni_memory_sink(&out);
    s->model.alloc = alloc;
    csn_status status = csni_breakpad_write(&s->model, &(struct csni_breakpad_write_options){ .demangle = fake_demangle }, NULL,
                                            &sink, &report, NULL);
    s->model.alloc = s->alloc;
    csn_bytes_free(&out);
    return status;
}

static void every_allocation_fails(void **state) {
    (void)state;
    static struct model_sample s;
    seed = 7;
    random_model(&s);
    assert_int_equal(model_sample_link(&s), CSN_OK);
    assert_true(test_allocator_sweep(write_with, &s, 0) > 5);
    test_allocator_sweep(write_with, &s, 1);
    model_sample_deinit(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_those_of_printf),
        cmocka_unit_test(the_example),
        cmocka_unit_test(what_is_not_known),
        cmocka_unit_test(names_and_paths),
        cmocka_unit_test(rows_without_lines),
        cmocka_unit_test(inline_levels),
        cmocka_unit_test(order_of_functions), cmocka_unit_test(names_below_the_base),
        cmocka_unit_test(overlapping_functions),
        cmocka_unit_test(demangles),
        cmocka_unit_test(keeps_records),
        cmocka_unit_test(comes_back_equal),
        cmocka_unit_test(inlines_come_back_from_any_order),
        cmocka_unit_test(same_for_any_threads),
        cmocka_unit_test(every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
