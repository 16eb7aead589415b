/* model/model_link.c: rows that are superseded, and the numbers of strings and files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include "model/early_hashes.h"
#include "support/model_sample.h"
#include "support/test_alloc.h"

/* ---- rows ---- */

static struct csni_function *only_function(struct model_sample *s) {
    assert_int_equal(s->model.entry_count, 1);
    return csni_model_function(&s->model, &s->model.entries[0]);
}

/* Rows given as {offset, file, line} must come out as `want`. */
static void expect_rows(const struct csni_row *rows, size_t count, const struct csni_row *want, size_t want_count) {
    struct model_sample s;
    model_sample_init(&s, NULL);
    for (int i = 0; i < 3; i++) model_sample_file(&s, "/d", "f");
    model_sample_function(&s, 0x10, 64, "f");
    for (size_t i = 0; i < count; i++) csni_batch_add_row(&s.writer, rows[i].off, rows[i].file, rows[i].line);
    assert_int_equal(model_sample_link(&s), CSN_OK);
    const struct csni_function *f = only_function(&s);
    assert_int_equal(f->row_count, want_count);
    for (uint32_t i = 0; i < f->row_count; i++) {
        const struct csni_row *row = &s.batches[0].rows[f->first_row + i];
        assert_int_equal(row->off, want[i].off);
        assert_int_equal(row->file, want[i].file);
        assert_int_equal(row->line, want[i].line);
    }
    model_sample_deinit(&s);
}
#define EXPECT_ROWS(rows, want) expect_rows(rows, sizeof(rows) / sizeof *(rows), want, sizeof(want) / sizeof *(want))

static void repeated_rows_are_not_taken(void **state) {
    (void)state;
    static const struct csni_row rows[] = { { 0, 1, 5 }, { 2, 1, 5 }, { 4, 1, 6 }, { 4, 1, 6 }, { 6, 2, 6 }, { 8, 1, 6 } };
    static const struct csni_row want[] = { { 0, 1, 5 }, { 4, 1, 6 }, { 6, 2, 6 }, { 8, 1, 6 } };
    EXPECT_ROWS(rows, want);
}

static void the_last_row_of_an_address_counts(void **state) {
    (void)state;
    static const struct csni_row rows[] = { { 0, 1, 5 }, { 0, 2, 7 }, { 0, 1, 6 }, { 4, 1, 8 }, { 4, 1, 9 } };
    static const struct csni_row want[] = { { 0, 1, 6 }, { 4, 1, 9 } };
    EXPECT_ROWS(rows, want);
}

/* With the superseded ones gone, a row may repeat the one before it. */
static void what_then_repeats_goes_too(void **state) {
    (void)state;
    static const struct csni_row rows[] = { { 0, 1, 5 }, { 4, 2, 9 }, { 4, 1, 5 }, { 6, 1, 7 }, { 8, 3, 1 }, { 8, 1, 7 },
                                            { 9, 1, 8 } };
    static const struct csni_row want[] = { { 0, 1, 5 }, { 6, 1, 7 }, { 9, 1, 8 } };
    EXPECT_ROWS(rows, want);
}

static void no_row_at_all(void **state) {
    (void)state;
    expect_rows(NULL, 0, NULL, 0);
}

/* ---- numbers ---- */

static void expect_strings(const struct csni_model *m, const char *const *want, uint32_t count) {
    assert_int_equal(m->string_count, count);
    for (uint32_t i = 0; i < count; i++)
        if (!csni_str_is(m->strings[i], want[i]))
            fail_msg("string %u is \"%.*s\", need \"%s\"", i, (int)m->strings[i].len, m->strings[i].ptr, want[i]);
}

/* Three batches that share strings and files under different numbers, with functions that do not stay. */
static void fill(struct model_sample *s) {
    uint32_t a = model_sample_file(s, "/src", "a.c"), unused = model_sample_file(s, "/never", "used.h");
    (void)unused;
    model_sample_function(s, 0x300, 16, "third");
    csni_batch_add_row(&s->writer, 0, a, 1);
    model_sample_function(s, 0x500, 8, "gone");
    model_sample_next_batch(s);
    uint32_t b = model_sample_file(s, "/src", "b.h"), a_again = model_sample_file(s, "/src", "a.c");
    model_sample_function(s, 0x100, 16, "first");
    csni_batch_add_row(&s->writer, 0, b, 1);
    csni_batch_add_row(&s->writer, 4, a_again, 2);
    csni_batch_add_row(&s->writer, 8, b, 3);
    model_sample_inline(s, "inlined", b, 4, 4, 8);
    csni_batch_add_call_site(&s->writer, 9, CSN_CALL_SITE_EXTERNAL);
    csni_batch_add_pattern(&s->writer, model_sample_string(s, "^callee$"));
    csni_batch_add_pattern(&s->writer, model_sample_string(s, "first"));
    model_sample_next_batch(s);
    uint32_t base_only = model_sample_file(s, "", "a.c"), directory_only = model_sample_file(s, "/src", "");
    model_sample_function(s, 0x500, 8, "fifth");
    csni_batch_add_row(&s->writer, 0, directory_only, 1);
    csni_batch_add_row(&s->writer, 1, base_only, 2);
    model_sample_function(s, 0x200, 16, "third");
}

static const char *const want_strings[] = { "", "/src", "b.h", "a.c", "first", "inlined", "^callee$", "third", "fifth" };

static void expect_numbers(struct model_sample *s) {
    const struct csni_model *m = &s->model;
    expect_strings(m, want_strings, sizeof want_strings / sizeof *want_strings);
    /* b.h: two changes of file and one inlined call; a.c: two functions' rows; then in order of appearance. */
    static const struct csni_model_file want[] = { { 0, 0 }, { 1, 2 }, { 1, 3 }, { 0, 3 }, { 1, 0 } };
    assert_int_equal(m->file_count, sizeof want / sizeof *want);
    assert_memory_equal(m->files, want, sizeof want);
    static const uint32_t first[] = { 0, 2, 0 }, second[] = { 0, 1, 2 }, third[] = { 0, 3, 4 };
    assert_memory_equal(s->batches[0].file_numbers, first, sizeof first);
    assert_memory_equal(s->batches[1].file_numbers, second, sizeof second);
    assert_memory_equal(s->batches[2].file_numbers, third, sizeof third);
    for (uint32_t i = 0; i < m->batch_count; i++)
        for (uint32_t k = 0; k < s->batches[i].string_count; k++) {
            uint32_t number = s->batches[i].string_numbers[k];
            if (number && !csni_str_equal(m->strings[number], s->batches[i].strings[k]))
                fail_msg("batch %u: string %u has number %u", i, k, number);
        }
    const struct csni_batch *b = &s->batches[0];
    assert_int_equal(b->string_numbers[b->functions[0].name], 7);
    assert_int_equal(b->string_numbers[b->functions[1].name], 0); /* "gone" is not in the index */
    b = &s->batches[2];
    assert_int_equal(b->string_numbers[b->functions[1].name], 7);
}

static void numbers(void **state) {
    (void)state;
    struct model_sample s;
    model_sample_init(&s, NULL);
    fill(&s);
    assert_int_equal(model_sample_link(&s), CSN_OK);
    assert_string_equal(model_sample_entries(&s), "first@100+10 third@200+10 third@300+10 fifth@500+8");
    expect_numbers(&s);
    model_sample_deinit(&s);
}

/* Whoever marks which batch, in whatever order. */
static void numbers_do_not_depend_on_workers(void **state) {
    (void)state;
    for (uint32_t threads = 1; threads <= 7; threads += 3)
        for (int run = 0; run < 10; run++) {
            struct model_sample s;
            struct csni_arena arenas[7];
            struct csni_pool *pool;
            assert_int_equal(csni_pool_create(threads, NULL, &pool, NULL), CSN_OK);
            for (int i = 0; i < 7; i++) csni_arena_init(&arenas[i], NULL, 64);
            model_sample_init(&s, NULL);
            fill(&s);
            assert_int_equal(model_sample_finalize(&s), CSN_OK);
            assert_int_equal(csni_model_link(&s.model, pool, arenas, NULL), CSN_OK);
            expect_numbers(&s);
            for (int i = 0; i < 7; i++) csni_arena_deinit(&arenas[i]);
            csni_pool_destroy(pool);
            model_sample_deinit(&s);
        }
}

/* Enough strings and files that every table of the linker grows. */
static void many_strings_and_files(void **state) {
    (void)state;
    enum { COUNT = 4000 };
    static char names[COUNT][12], bases[COUNT][12];
    struct model_sample s;
    model_sample_init(&s, NULL);
    for (uint32_t i = 0; i < COUNT; i++) {
        snprintf(names[i], sizeof names[i], "f%u", i);
        snprintf(bases[i], sizeof bases[i], "b%u", i / 2);
        uint32_t file = model_sample_file(&s, "/d", bases[i]);
        model_sample_function(&s, (uint64_t)i * 16, 16, names[i]);
        csni_batch_add_row(&s.writer, 0, file, i);
        if (i % 700 == 0) model_sample_next_batch(&s);
    }
    assert_int_equal(model_sample_link(&s), CSN_OK);
    assert_int_equal(s.model.file_count, 1 + COUNT / 2);
    assert_int_equal(s.model.string_count, 1 + 1 + COUNT / 2 + COUNT);
    for (uint32_t i = 0; i < COUNT; i++) {
        const struct csni_entry *e = &s.model.entries[i];
        const struct csni_batch *b = &s.batches[e->batch];
        const struct csni_function *f = &b->functions[e->function];
        /* All files are used twice, so they stay in order; names follow by address. */
        assert_int_equal(b->file_numbers[b->rows[f->first_row].file], 1 + i / 2);
        assert_int_equal(b->string_numbers[f->name], 2 + COUNT / 2 + i);
        assert_true(csni_str_is(s.model.strings[2 + COUNT / 2 + i], names[i]));
        assert_true(csni_str_is(s.model.strings[s.model.files[1 + i / 2].base], bases[i]));
    }
    model_sample_deinit(&s);
}

enum { SHARED = 3000 };

/* Names that functions far apart share, so that several shares see each; some are files' names, too. */
static void fill_shared_names(struct model_sample *s) {
    static char names[SHARED][12];
    for (uint32_t i = 0; i < SHARED; i++) {
        snprintf(names[i], sizeof names[i], "n%u", i * 7919 % SHARED / 2);
        uint32_t file = i % 100 ? 0 : model_sample_file(s, "n3", names[i]);
        model_sample_function(s, (uint64_t)(i * 31 % SHARED) * 16, 16, names[i]);
        if (file) csni_batch_add_row(&s->writer, 0, file, i + 1);
        if (i % 3 == 0) model_sample_inline(s, names[i / 3], 0, 1, 2, 8);
        if (i % 5 == 0) model_sample_inline(s, i % 2 ? "n7" : "", 0, 1, 9, 10);
        if (i % 500 == 499) model_sample_next_batch(s);
    }
}

/* `t` NULL, or which refuses an allocation of linking. */
static csn_status link_shared_names(struct model_sample *s, uint32_t threads, struct test_allocator *t, uint64_t refused) {
    struct csni_arena arenas[7];
    struct csni_pool *pool;
    assert_int_equal(csni_pool_create(threads, NULL, &pool, NULL), CSN_OK);
    for (int i = 0; i < 7; i++) csni_arena_init(&arenas[i], s->alloc, 64);
    fill_shared_names(s);
    assert_int_equal(model_sample_finalize(s), CSN_OK);
    if (t) test_allocator_fail(t, refused, 0);
    csn_status status = csni_model_link(&s->model, pool, arenas, NULL);
    for (int i = 0; i < 7; i++) csni_arena_deinit(&arenas[i]); /* the maps of numbers, which nobody looks at any more */
    csni_pool_destroy(pool);
    return status;
}

/* Shares of functions are gone through at the same time, and names have the order of the functions all the same. */
static void names_in_shares(void **state) {
    (void)state;
    struct model_sample one, many;
    model_sample_init(&one, NULL);
    assert_int_equal(link_shared_names(&one, 1, NULL, 0), CSN_OK);
    assert_true(one.model.string_count > SHARED / 2);
    for (uint32_t threads = 2; threads <= 7; threads++) {
        model_sample_init(&many, NULL);
        assert_int_equal(link_shared_names(&many, threads, NULL, 0), CSN_OK);
        assert_int_equal(many.model.string_count, one.model.string_count);
        for (uint32_t i = 0; i < one.model.string_count; i++)
            assert_true(csni_str_equal(many.model.strings[i], one.model.strings[i]));
        model_sample_deinit(&many);
    }
    model_sample_deinit(&one);
}

/* ---- hashes made early ---- */

enum { EARLY_NONE, EARLY_ALL, EARLY_SOME, EARLY_OF_OTHER_STRINGS };

/* As link_shared_names() with one thread. */
static void link_with_hashes(struct model_sample *s, int how) {
    struct csni_arena arenas[1];
    struct csni_early_hashes hashes = { .count = 0 };
    csni_arena_init(&arenas[0], NULL, 64);
    fill_shared_names(s);
    assert_int_equal(model_sample_finalize(s), CSN_OK);
    if (how != EARLY_NONE) {
        assert_true(csni_early_hashes_init(&hashes, s->model.batches, s->model.batch_count, NULL, arenas));
        atomic_store(&hashes.stop, how == EARLY_SOME);
        assert_int_equal(csni_early_hashes_make(&hashes, 0, 0, NULL), CSN_OK);
        assert_non_null(csni_early_hashes_of(&hashes, 0, &s->model.batches[0]));
        assert_null(csni_early_hashes_of(&hashes, s->model.batch_count, &s->model.batches[0]));
        s->model.hashed = &hashes;
    }
    /* As where call sites add strings: the copies have no hashes, and what is wrong in the old ones does no harm. */
    for (uint32_t i = 0; i < s->model.batch_count && how == EARLY_OF_OTHER_STRINGS; i++) {
        struct csni_batch *b = &s->model.batches[i];
        b->strings = (void *)csni_arena_copy(&arenas[0], b->strings, b->string_count * sizeof *b->strings);
        assert_null(csni_early_hashes_of(&hashes, i, b));
        if (b->string_count) memset(hashes.batches[i].hashes, 0x11, b->string_count * sizeof *hashes.batches[i].hashes);
    }
    assert_int_equal(csni_model_link(&s->model, NULL, arenas, NULL), CSN_OK);
    csni_arena_deinit(&arenas[0]); /* with all maps */
}

static void hashes_made_early(void **state) {
    (void)state;
    struct model_sample one, other;
    model_sample_init(&one, NULL);
    link_with_hashes(&one, EARLY_NONE);
    for (int how = EARLY_ALL; how <= EARLY_OF_OTHER_STRINGS; how++) {
        model_sample_init(&other, NULL);
        link_with_hashes(&other, how);
        assert_int_equal(other.model.string_count, one.model.string_count);
        for (uint32_t i = 0; i < one.model.string_count; i++)
            assert_true(csni_str_equal(other.model.strings[i], one.model.strings[i]));
        model_sample_deinit(&other);
    }
    model_sample_deinit(&one);
}

/* Which allocation is refused depends on timing. */
static void no_memory_for_shares(void **state) {
    (void)state;
    for (uint64_t refused = 1; refused < 250; refused += 2) {
        struct test_allocator t;
        struct model_sample s;
        test_allocator_init(&t);
        model_sample_init(&s, &t.base);
        csn_status status = link_shared_names(&s, 3, &t, refused);
        assert_int_equal(status, atomic_load(&t.refused) ? CSN_E_MEMORY : CSN_OK);
        model_sample_deinit(&s);
        test_allocator_check_empty(&t);
    }
}

static csn_status link_step(void *context, const struct csn_allocator *alloc) {
    (void)context;
    struct model_sample s;
    model_sample_init(&s, alloc);
    uint32_t file = model_sample_file(&s, "/d", "f");
    model_sample_function(&s, 0x100, 16, "first");
    csni_batch_add_row(&s.writer, 0, file, 1);
    model_sample_inline(&s, "inlined", file, 4, 4, 8);
    csn_status status = model_sample_link(&s);
    model_sample_deinit(&s);
    return status;
}

static void allocation_failures(void **state) {
    (void)state;
    assert_true(test_allocator_sweep(link_step, NULL, 0) > 10);
    assert_true(test_allocator_sweep(link_step, NULL, 1) > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repeated_rows_are_not_taken),
        cmocka_unit_test(the_last_row_of_an_address_counts),
        cmocka_unit_test(what_then_repeats_goes_too),
        cmocka_unit_test(no_row_at_all),
        cmocka_unit_test(numbers),
        cmocka_unit_test(numbers_do_not_depend_on_workers),
        cmocka_unit_test(many_strings_and_files),
        cmocka_unit_test(names_in_shares),
        cmocka_unit_test(hashes_made_early),
        cmocka_unit_test(no_memory_for_shares),
        cmocka_unit_test(allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
