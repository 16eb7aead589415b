/* model/model_finalize.c: the order of functions, and each rule for several of them at one place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "support/model_sample.h"
#include "support/test_alloc.h"

static void expect(struct model_sample *s, const char *entries, const char *events) {
    assert_int_equal(model_sample_finalize(s), CSN_OK);
    assert_string_equal(model_sample_entries(s), entries);
    assert_string_equal(model_sample_events(&s->report), events);
    uint64_t all = 0;
    for (uint32_t b = 0; b < s->model.batch_count; b++) all += s->batches[b].function_count;
    assert_int_equal(s->report.functions_written, s->model.entry_count);
    assert_int_equal(s->report.functions_written + s->report.functions_pruned, all);
}

static void expect_and_end(struct model_sample *s, const char *entries, const char *events) {
    expect(s, entries, events);
    model_sample_deinit(s);
}

static void expect_example(const struct model_sample *s, enum csn_event event, const char *text) {
    assert_string_equal(s->report.events[event].example, text);
}

static void no_functions(void **state) {
    (void)state;
    struct model_sample s;
    model_sample_init(&s, NULL);
    expect_and_end(&s, "", "");
}

static void ordered_by_start(void **state) {
    (void)state;
    struct model_sample s;
    model_sample_init(&s, NULL);
    model_sample_function(&s, 0x300, 8, "c");
    model_sample_function(&s, 0xffffffff00000000, 8, "d");
    model_sample_next_batch(&s);
    model_sample_function(&s, 0, 8, "a");
    model_sample_next_batch(&s);
    model_sample_next_batch(&s);
    model_sample_function(&s, 0x100, 0x200, "b");
    expect_and_end(&s, "a@0+8 b@100+200 c@300+8 d@ffffffff00000000+8", "");
}

static void ordered_by_end(void **state) {
    (void)state;
    struct model_sample s;
    model_sample_init(&s, NULL);
    model_sample_function(&s, 0x10, 0x20, "long");
    model_sample_function(&s, 0x10, 8, "short");
    model_sample_function(&s, 0x10, 0x10, "middle");
    expect(&s, "short@10+8 middle@10+10 long@10+20", "functions-overlap:2");
    expect_example(&s, CSN_EVENT_OVERLAP, "short at 0x10+0x8, middle at 0x10+0x10");
    model_sample_deinit(&s);
}

/* Which of two functions of one range stays, whichever comes first. `lines`: rows; `calls`: inline nodes. */
static void expect_winner(uint32_t loser_rows, uint32_t loser_calls, uint32_t winner_rows, uint32_t winner_calls,
                          const char *events) {
    for (int swapped = 0; swapped < 2; swapped++) {
        struct model_sample s;
        model_sample_init(&s, NULL);
        for (int k = 0; k < 2; k++) {
            bool winner = k != swapped;
            model_sample_function(&s, 0x10, 8, winner ? "winner" : "loser");
            model_sample_rows(&s, 0, 1, winner ? winner_rows : loser_rows);
            for (uint32_t i = 0; i < (winner ? winner_calls : loser_calls); i++)
                model_sample_inline(&s, "callee", 0, 1, i, i + 1);
            model_sample_next_batch(&s);
        }
        expect_and_end(&s, "winner@10+8", events);
    }
}

static void the_best_known_stays(void **state) {
    (void)state;
    expect_winner(0, 0, 1, 0, "duplicate-dropped:1");
    expect_winner(0, 0, 0, 1, "duplicate-dropped:1");
    expect_winner(1, 0, 2, 0, "duplicate-replaced:1");
    expect_winner(5, 1, 1, 2, "duplicate-replaced:1");
    expect_winner(8, 0, 1, 1, "duplicate-replaced:1");
    expect_winner(2, 1, 3, 1, "duplicate-replaced:1");
}

/* Rows that others supersede are gone, but they count, and stand where they were: 0 0 4 comes before 0 4 4. */
static void superseded_rows_count(void **state) {
    (void)state;
    static const uint32_t one = 1u << CSNI_ROW_FILE_BITS;
    static const struct csni_row loser[] = { { 0, one, 1 }, { 4, 0, 2 } }, winner[] = { { 0, 0, 1 }, { 4, one, 2 } };
    for (int swapped = 0; swapped < 2; swapped++) {
        for (uint32_t fewer = 0; fewer < 2; fewer++) {
            struct model_sample s;
            model_sample_init(&s, NULL);
            for (int k = 0; k < 2; k++) {
                bool wins = k != swapped;
                model_sample_function(&s, 0x10, 8, wins ? "winner" : "loser");
                struct csni_row *rows = csni_batch_reserve_rows(&s.writer, 2);
                assert_non_null(rows);
                memcpy(rows, wins ? winner : loser, sizeof loser);
                if (fewer && !wins) rows[0] = (struct csni_row){ 0, 0, 1 };
                csni_batch_commit_rows(&s.writer, 2, wins ? 3 : 3 - fewer);
                model_sample_next_batch(&s);
            }
            expect_and_end(&s, "winner@10+8", "duplicate-replaced:1");
        }
    }
}

/* All nodes of the tree count, not only its top. */
static void descendants_count(void **state) {
    (void)state;
    struct model_sample s;
    model_sample_init(&s, NULL);
    model_sample_function(&s, 0x10, 8, "deep");
    uint32_t outer = csni_batch_begin_inline(&s.writer, 0, 0, 1);
    csni_batch_add_part(&s.writer, 0, 8);
    model_sample_inline(&s, "x", 0, 1, 0, 1);
    model_sample_inline(&s, "y", 0, 1, 2, 3);
    csni_batch_end_inline(&s.writer, outer);
    assert_int_equal(s.writer.inlines.items[outer].descendants, 2);
    model_sample_function(&s, 0x10, 8, "wide");
    model_sample_inline(&s, "x", 0, 1, 0, 1);
    model_sample_inline(&s, "y", 0, 1, 2, 3);
    expect_and_end(&s, "deep@10+8", "duplicate-replaced:1");
}

static void ties_by_row_addresses(void **state) {
    (void)state;
    for (int swapped = 0; swapped < 2; swapped++) {
        struct model_sample s;
        model_sample_init(&s, NULL);
        for (int k = 0; k < 2; k++) {
            bool later = k != swapped;
            model_sample_function(&s, 0x10, 8, later ? "later" : "earlier");
            csni_batch_add_row(&s.writer, 0, 0, later ? 1 : 9);
            csni_batch_add_row(&s.writer, later ? 4 : 3, 0, 2);
            csni_batch_add_row(&s.writer, 5, 0, later ? 3 : 99);
        }
        expect_and_end(&s, "later@10+8", "duplicate-replaced:1");
    }
}

/* Nothing but arrival tells them apart: the last one wins. Files and lines of rows are not looked at. */
static void ties_by_arrival(void **state) {
    (void)state;
    struct model_sample s;
    model_sample_init(&s, NULL);
    uint32_t file = model_sample_file(&s, "/d", "f");
    static const char *const names[] = { "first", "second", "third" };
    for (uint32_t i = 0; i < 3; i++) {
        model_sample_function(&s, 0x10, 8, names[i]);
        model_sample_rows(&s, i == 1 ? file : 0, 100 - i, 3);
    }
    for (uint32_t i = 0; i < 3; i++) model_sample_function(&s, 0x20, 8, names[i]);
    expect(&s, "third@10+8 third@20+8", "duplicate-replaced:2 duplicate-dropped:2");
    expect_example(&s, CSN_EVENT_DUPLICATE_REPLACED, "first at 0x10+0x8, second at 0x10+0x8");
    expect_example(&s, CSN_EVENT_DUPLICATE_DROPPED, "first at 0x20+0x8, second at 0x20+0x8");
    model_sample_deinit(&s);
}

static void add_copy(struct model_sample *s, const char *name, uint32_t line, uint32_t rows, uint32_t calls) {
    model_sample_function(s, 0x10, 8, name);
    s->writer.functions.items[s->writer.functions.count - 1].source = CSNI_SOURCE_DWARF;
    model_sample_rows(s, 0, line, rows);
    for (uint32_t i = 0; i < calls; i++) model_sample_inline(s, "callee", 0, 1, i, i + 1);
    model_sample_next_batch(s);
}

static void expect_line(struct model_sample *s, uint32_t line) {
    assert_int_equal(model_sample_finalize(s), CSN_OK);
    assert_int_equal(s->model.entry_count, 1);
    const struct csni_entry *e = &s->model.entries[0];
    assert_int_equal(s->batches[e->batch].rows[csni_model_function(&s->model, e)->first_row].line, line);
    model_sample_deinit(s);
}

/* Units that describe one function: the linker kept the code of the first. */
static void the_first_copy_stays(void **state) {
    (void)state;
    struct model_sample s;
    model_sample_init(&s, NULL);
    add_copy(&s, "copied", 100, 2, 1);
    add_copy(&s, "copied", 200, 4, 2);
    add_copy(&s, "copied", 300, 3, 2);
    add_copy(&s, "alias", 400, 1, 1);
    expect_line(&s, 100);
}

static void a_copy_that_says_less_goes(void **state) {
    (void)state;
    struct model_sample s;
    model_sample_init(&s, NULL);
    add_copy(&s, "copied", 100, 0, 0);
    add_copy(&s, "copied", 200, 3, 0);
    add_copy(&s, "other", 300, 2, 1);
    add_copy(&s, "copied", 400, 2, 1);
    add_copy(&s, "copied", 500, 3, 2);
    expect_line(&s, 400);
}

/* ---- equality ---- */

enum change { NOTHING, NAME, ROW_LINE, ROW_FILE, ROW_OFF, CALLEE, CALL_FILE, CALL_LINE, PART, PARTS, NESTING, CHANGES };

static void add_twin(struct model_sample *s, enum change c) {
    model_sample_string(s, "so that numbers differ"), model_sample_file(s, c ? "x" : "", "y");
    uint32_t f = model_sample_file(s, "/d", "f"), g = model_sample_file(s, "/d", c == ROW_FILE ? "h" : "g");
    model_sample_function(s, 0x10, 8, c == NAME ? "other" : "twin");
    csni_batch_add_row(&s->writer, 0, f, 1);
    csni_batch_add_row(&s->writer, c == ROW_OFF ? 3 : 2, g, c == ROW_LINE ? 5 : 4);
    uint32_t outer = csni_batch_begin_inline(&s->writer, model_sample_string(s, c == CALLEE ? "z" : "outer"),
                                             c == CALL_FILE ? g : f, c == CALL_LINE ? 8 : 7);
    csni_batch_add_part(&s->writer, 0, c == PART ? 3 : 2);
    csni_batch_add_part(&s->writer, 4, 6);
    if (c == PARTS) csni_batch_add_part(&s->writer, 7, 8);
    if (c == NESTING) csni_batch_end_inline(&s->writer, outer);
    model_sample_inline(s, "inner", g, 9, 0, 1);
    if (c != NESTING) csni_batch_end_inline(&s->writer, outer);
}

static void equal_ones_and_not_quite(void **state) {
    (void)state;
    for (int c = NOTHING; c < CHANGES; c++) {
        struct model_sample s;
        model_sample_init(&s, NULL);
        add_twin(&s, NOTHING);
        model_sample_next_batch(&s);
        add_twin(&s, (enum change)c);
        assert_int_equal(model_sample_finalize(&s), CSN_OK);
        assert_int_equal(s.model.entry_count, 1);
        if (c == NOTHING || strcmp(model_sample_events(&s.report), "duplicate-replaced:1") != 0) {
            assert_int_equal(c, NOTHING);
            assert_string_equal(model_sample_events(&s.report), "duplicate-dropped:1");
            expect_example(&s, CSN_EVENT_DUPLICATE_DROPPED, "twin at 0x10+0x8, twin at 0x10+0x8");
        }
        /* Of equal ones the first stays; otherwise the second has at least as much of everything. */
        assert_int_equal(s.model.entries[0].batch, c == NOTHING ? 0 : 1);
        assert_true(csni_model_function(&s.model, &s.model.entries[0])->kept);
        assert_false(s.batches[c == NOTHING ? 1 : 0].functions[0].kept);
        model_sample_deinit(&s);
    }
}

static void equal_symbols(void **state) {
    (void)state;
    struct model_sample s;
    model_sample_init(&s, NULL);
    for (int i = 0; i < 4; i++) model_sample_function(&s, 0x10, 8, "alias");
    expect(&s, "alias@10+8", "duplicate-dropped:3");
    assert_int_equal(s.model.entries[0].function, 0);
    model_sample_deinit(&s);
}

/* ---- ranges that touch each other ---- */

static void overlaps_are_kept(void **state) {
    (void)state;
    struct model_sample s;
    model_sample_init(&s, NULL);
    model_sample_function(&s, 0x10, 0x10, "a");
    model_sample_function(&s, 0x18, 0x10, "b");
    model_sample_function(&s, 0x28, 8, "touches b");
    model_sample_function(&s, 0x100, 0x100, "outer");
    model_sample_function(&s, 0x110, 8, "inner");
    /* Only the one kept before is asked: this one is within outer, but not within inner. */
    model_sample_function(&s, 0x180, 8, "after inner");
    expect(&s, "a@10+10 b@18+10 touches b@28+8 outer@100+100 inner@110+8 after inner@180+8", "functions-overlap:2");
    expect_example(&s, CSN_EVENT_OVERLAP, "a at 0x10+0x10, b at 0x18+0x10");
    model_sample_deinit(&s);
}

static void empty_functions(void **state) {
    (void)state;
    struct model_sample s;
    model_sample_init(&s, NULL);
    model_sample_function(&s, 0x10, 8, "sized");
    model_sample_function(&s, 0x10, 0, "label at a start");
    model_sample_function(&s, 0x14, 0, "label inside");
    model_sample_function(&s, 0x18, 0, "label at an end");
    model_sample_function(&s, 0x20, 8, "apart");
    expect(&s, "sized@10+8 label inside@14+0 label at an end@18+0 apart@20+8", "duplicate-dropped:1 functions-overlap:1");
    expect_example(&s, CSN_EVENT_DUPLICATE_DROPPED, "label at a start at 0x10+0x0, sized at 0x10+0x8");
    expect_example(&s, CSN_EVENT_OVERLAP, "sized at 0x10+0x8, label inside at 0x14+0x0");
    model_sample_deinit(&s);
}

static void empty_ones_of_one_start(void **state) {
    (void)state;
    struct model_sample s;
    model_sample_init(&s, NULL);
    model_sample_function(&s, 0x10, 0, "one");
    model_sample_function(&s, 0x10, 0, "two");
    model_sample_function(&s, 0x10, 4, "short");
    model_sample_function(&s, 0x10, 8, "long");
    expect_and_end(&s, "short@10+4 long@10+8", "duplicate-dropped:2 functions-overlap:1");
}

/* The end of the address space is no place to wrap around. */
static void at_the_top(void **state) {
    (void)state;
    struct model_sample s;
    model_sample_init(&s, NULL);
    model_sample_function(&s, UINT64_MAX - 8, 8, "last");
    model_sample_function(&s, UINT64_MAX - 4, 4, "inside");
    model_sample_function(&s, 0, 4, "first");
    expect_and_end(&s, "first@0+4 last@fffffffffffffff7+8 inside@fffffffffffffffb+4", "functions-overlap:1");
}

static void call_sites_make_rich(void **state) {
    (void)state;
    struct model_sample s;
    model_sample_init(&s, NULL);
    model_sample_function(&s, 0x10, 8, "symbol");
    model_sample_function(&s, 0x10, 8, "caller");
    csni_batch_add_call_site(&s.writer, 4, 0);
    expect_and_end(&s, "caller@10+8", "duplicate-dropped:1");
    model_sample_init(&s, NULL);
    model_sample_function(&s, 0x10, 8, "caller");
    csni_batch_add_call_site(&s.writer, 4, 0);
    model_sample_function(&s, 0x10, 8, "symbol");
    expect_and_end(&s, "caller@10+8", "duplicate-dropped:1");
}

static void long_names_are_cut(void **state) {
    (void)state;
    struct model_sample s;
    char name[301] = { 0 };
    memset(name, 'n', 300);
    model_sample_init(&s, NULL);
    model_sample_function(&s, UINT64_MAX - 8, 8, name);
    model_sample_function(&s, UINT64_MAX - 8, 7, name);
    assert_int_equal(model_sample_finalize(&s), CSN_OK);
    const char *example = s.report.events[CSN_EVENT_OVERLAP].example;
    assert_memory_equal(example + 60, " at 0xfffffffffffffff7+0x7, n", 29);
    model_sample_deinit(&s);
}

/* ---- the last function ---- */

static uint32_t bounded(uint64_t start, uint32_t size, struct csni_text_range *text, uint32_t count) {
    struct model_sample s;
    model_sample_init(&s, NULL);
    s.model.image.text.items = text;
    s.model.image.text.count = count;
    model_sample_function(&s, 0x10, 0, "before");
    model_sample_function(&s, start, size, "last");
    assert_int_equal(model_sample_finalize(&s), CSN_OK);
    assert_int_equal(s.model.entry_count, 2);
    assert_int_equal(csni_model_function(&s.model, &s.model.entries[0])->size, 0);
    uint32_t bound = csni_model_function(&s.model, &s.model.entries[1])->size;
    model_sample_deinit(&s);
    return bound;
}

static void last_symbol_ends_with_its_text(void **state) {
    (void)state;
    static struct csni_text_range text[] = { { 0, 0x100 }, { 0x200, 0x280 }, { 0x1000, 0x300000000 } };
    assert_int_equal(bounded(0x20, 0, text, 3), 0xe0);
    assert_int_equal(bounded(0x20, 7, text, 3), 7);
    assert_int_equal(bounded(0x200, 0, text, 3), 0x80);
    assert_int_equal(bounded(0x27f, 0, text, 3), 1);
    assert_int_equal(bounded(0x280, 0, text, 3), 0);
    assert_int_equal(bounded(0x100, 0, text, 3), 0);
    assert_int_equal(bounded(0x1000, 0, text, 3), UINT32_MAX);
    assert_int_equal(bounded(0x2fffffff0, 0, text, 3), 0x10);
    assert_int_equal(bounded(0x20, 0, NULL, 0), 0);
}

/* ---- many ---- */

struct plain {
    uint64_t start;
    uint32_t size, arrival;
};

static int by_key(const void *pa, const void *pb) {
    const struct plain *a = pa, *b = pb;
    if (a->start != b->start) return a->start < b->start ? -1 : 1;
    if (a->size != b->size) return a->size < b->size ? -1 : 1;
    return a->arrival < b->arrival ? -1 : 1;
}

static uint64_t seed;
static uint64_t next_random(void) {
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return seed;
}

/* Random starts, of a narrow or wide range: the order must be the one of a plain sort, and what stays is told by the
 * rules gone through one by one. Names are numbers, so that no two functions are equal. */
static void expect_sorted(uint64_t mask, uint32_t batches) {
    enum { COUNT = 3000 };
    static struct plain all[COUNT], kept[COUNT];
    static char names[COUNT][8];
    struct model_sample s;
    model_sample_init(&s, NULL);
    for (uint32_t i = 0; i < COUNT; i++) {
        all[i] = (struct plain){ next_random() & mask, (uint32_t)(next_random() % 4) * 4, i };
        snprintf(names[i], sizeof names[i], "%u", i);
        model_sample_function(&s, all[i].start, all[i].size, names[i]);
        if (i % (COUNT / batches) == COUNT / batches - 1) model_sample_next_batch(&s);
    }
    assert_int_equal(model_sample_finalize(&s), CSN_OK);
    qsort(all, COUNT, sizeof *all, by_key);
    uint32_t count = 0;
    for (uint32_t i = 0; i < COUNT; i++) {
        const struct plain *p = count ? &kept[count - 1] : NULL;
        if (p && p->start == all[i].start && (p->size == all[i].size || !p->size)) kept[count - 1] = all[i];
        else kept[count++] = all[i];
    }
    assert_int_equal(s.model.entry_count, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct csni_entry *e = &s.model.entries[i];
        struct csn_str name = s.batches[e->batch].strings[csni_model_function(&s.model, e)->name];
        if (!csni_str_is(name, names[kept[i].arrival]))
            fail_msg("mask %llx, entry %u: function %.*s, need %s", (unsigned long long)mask, i, (int)name.len, name.ptr,
                     names[kept[i].arrival]);
    }
    model_sample_deinit(&s);
}

static void random_functions(void **state) {
    (void)state;
    seed = 0x9e3779b97f4a7c15;
    static const uint64_t masks[] = { 0, 3, 0xff, 0x7ff8, 0xfffff, 0xffffffff, 0xff00000000000000, UINT64_MAX };
    for (size_t i = 0; i < sizeof masks / sizeof *masks; i++) expect_sorted(masks[i], 1 + (uint32_t)i);
}

static csn_status finalize_step(void *context, const struct csn_allocator *alloc) {
    (void)context;
    struct model_sample s;
    model_sample_init(&s, alloc);
    for (uint32_t i = 0; i < 40; i++) {
        model_sample_function(&s, i / 3 * 16, 8, "f");
        model_sample_rows(&s, 0, i, 1 + i % 3);
    }
    csn_status status = model_sample_finalize(&s);
    model_sample_deinit(&s);
    return status;
}

static void allocation_failures(void **state) {
    (void)state;
    assert_true(test_allocator_sweep(finalize_step, NULL, 0) > 5);
    assert_true(test_allocator_sweep(finalize_step, NULL, 1) > 5);
}

/* Many functions at few starts, some longer than the way to the next: what shares of the work begin and end with differs. */
static void fill_at_random(struct model_sample *s, uint64_t chance, uint32_t starts) {
    static char names[64][16];
    for (int b = 0; b < 4; b++) {
        uint32_t strings[64];
        if (b) model_sample_next_batch(s);
        for (int i = 0; i < 64; i++) {
            snprintf(names[i], sizeof names[i], "f%d", i);
            strings[i] = model_sample_string(s, names[i]);
        }
        for (int i = 0; i < 6000; i++) {
            chance = chance * 6364136223846793005u + 1442695040888963407u;
            uint32_t at = (uint32_t)(chance >> 33) % starts;
            csni_batch_begin_function(&s->writer, 0x10 * (uint64_t)at, chance >> 60 ? 0x10 : (uint32_t)(chance >> 20 & 0x3f),
                                      strings[chance >> 25 & 63], CSNI_SOURCE_BUILDER);
            for (uint64_t rows = chance >> 50 & 3; rows > 0; rows--) csni_batch_add_row(&s->writer, (uint32_t)(4 - rows), 0, 1);
        }
    }
}

static void any_number_of_threads(void **state) {
    (void)state;
    static const uint32_t starts[] = { 1, 3, 100, 20000, 1000000 };
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        struct model_sample alone;
        model_sample_init(&alone, NULL);
        fill_at_random(&alone, i, starts[i]);
        assert_int_equal(model_sample_finalize(&alone), CSN_OK);
        assert_true(alone.report.events[CSN_EVENT_OVERLAP].count || starts[i] < 100);
        for (uint32_t threads = 2; threads <= 7; threads += 5) {
            struct model_sample s;
            model_sample_init(&s, NULL);
            assert_int_equal(csni_pool_create(threads, NULL, &s.pool, NULL), CSN_OK);
            fill_at_random(&s, i, starts[i]);
            assert_int_equal(model_sample_finalize(&s), CSN_OK);
            assert_int_equal(s.model.entry_count, alone.model.entry_count);
            assert_memory_equal(s.model.entries, alone.model.entries, s.model.entry_count * sizeof *s.model.entries);
            assert_memory_equal(&s.report, &alone.report, sizeof s.report);
            csni_pool_destroy(s.pool);
            model_sample_deinit(&s);
        }
        model_sample_deinit(&alone);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_functions),
        cmocka_unit_test(any_number_of_threads),
        cmocka_unit_test(superseded_rows_count),
        cmocka_unit_test(ordered_by_start),
        cmocka_unit_test(ordered_by_end),
        cmocka_unit_test(the_best_known_stays),
        cmocka_unit_test(descendants_count),
        cmocka_unit_test(ties_by_row_addresses),
        cmocka_unit_test(ties_by_arrival),
        cmocka_unit_test(the_first_copy_stays),
        cmocka_unit_test(a_copy_that_says_less_goes),
        cmocka_unit_test(equal_ones_and_not_quite),
        cmocka_unit_test(equal_symbols),
        cmocka_unit_test(overlaps_are_kept),
        cmocka_unit_test(empty_functions),
        cmocka_unit_test(empty_ones_of_one_start),
        cmocka_unit_test(at_the_top),
        cmocka_unit_test(call_sites_make_rich),
        cmocka_unit_test(long_names_are_cut),
        cmocka_unit_test(last_symbol_ends_with_its_text),
        cmocka_unit_test(random_functions),
        cmocka_unit_test(allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
