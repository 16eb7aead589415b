/* model/batch.c and model/report.c: gathering a batch, taking functions back, notes and reports. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/model_sample.h"
#include "support/test_alloc.h"

static void an_empty_batch(void **state) {
    (void)state;
    struct model_sample s;
    model_sample_init(&s, NULL);
    assert_int_equal(model_sample_finalize(&s), CSN_OK);
    const struct csni_batch *b = &s.batches[0];
    assert_int_equal(b->function_count + b->row_count + b->inline_count + b->part_count + b->site_count, 0);
    assert_int_equal(b->string_count, 1);
    assert_int_equal(b->strings[0].len, 0);
    assert_int_equal(b->file_count, 1);
    assert_int_equal(b->files[0].directory + b->files[0].base, 0);
    assert_int_equal(model_sample_string(&s, ""), 0);
    model_sample_deinit(&s);
}

static void reserved_rows(void **state) {
    (void)state;
    struct model_sample s;
    model_sample_init(&s, NULL);
    model_sample_function(&s, 0x10, 64, "f");
    struct csni_row *rows = csni_batch_reserve_rows(&s.writer, 10);
    assert_non_null(rows);
    rows[0] = (struct csni_row){ 0, 0, 7 };
    rows[1] = (struct csni_row){ 2, 0, 8 };
    csni_batch_commit_rows(&s.writer, 2, 2);
    csni_batch_add_row(&s.writer, 4, 0, 8); /* repeats the one before */
    csni_batch_add_row(&s.writer, 6, 0, 9);
    assert_non_null(csni_batch_reserve_rows(&s.writer, 0));
    assert_int_equal(model_sample_finalize(&s), CSN_OK);
    assert_int_equal(s.batches[0].functions[0].row_count, 3);
    assert_int_equal(s.batches[0].rows[2].line, 9);
    model_sample_deinit(&s);
}

/* A path is cut so that directory, separator and file name give it again: '/' between them, or '\\' where only that occurs. */
static void paths_are_cut_where_they_join_again(void **state) {
    (void)state;
    static const char *const cut[][3] = {
        { "/a/b.c", "/a", "b.c" },           { "b.c", "", "b.c" },
        { "/b.c", "/", "b.c" },              { "a//b.c", "a//", "b.c" },
        { "C:\\a\\b.c", "C:\\a", "b.c" },    { "C:\\b.c", "C:\\", "b.c" },
        { "a\\x/b.c", "a\\x/", "b.c" },      { "a/x\\y/b.c", "a/x\\y", "b.c" },
        { "a/x\\b.c", "a", "x\\b.c" },       { "a/", "a", "" },
    };
    enum { PATHS = sizeof cut / sizeof *cut };
    struct model_sample s;
    uint32_t files[PATHS];
    model_sample_init(&s, NULL);
    for (size_t i = 0; i < PATHS; i++) files[i] = csni_batch_add_path(&s.writer, csni_str(cut[i][0]));
    assert_int_equal(model_sample_finalize(&s), CSN_OK);
    const struct csni_batch *b = &s.batches[0];
    for (size_t i = 0; i < PATHS; i++) {
        const struct csni_file *file = &b->files[files[i]];
        if (!csni_str_is(b->strings[file->directory], cut[i][1]) || !csni_str_is(b->strings[file->base], cut[i][2]))
            fail_msg("%s: %.*s, %.*s", cut[i][0], (int)b->strings[file->directory].len, b->strings[file->directory].ptr,
                     (int)b->strings[file->base].len, b->strings[file->base].ptr);
    }
    model_sample_deinit(&s);
}

/* ---- notes ---- */

static void notes_keep_count_and_first_example(void **state) {
    (void)state;
    struct model_sample s;
    model_sample_init(&s, NULL);
    csni_batch_note(&s.writer, CSN_EVENT_OVERLAP, "number %d", 1);
    csni_batch_note(&s.writer, CSN_EVENT_OVERLAP, "number %d", 2);
    csni_batch_note(&s.writer, CSN_EVENT_RELOCATION, NULL);
    model_sample_next_batch(&s);
    csni_batch_note(&s.writer, CSN_EVENT_RELOCATION, "with a text, but not the first");
    csni_batch_note(&s.writer, CSN_EVENT_OVERLAP, "number %d", 3);
    csni_batch_note(&s.writer, CSN_EVENT_DAMAGED_UNIT, "%0300d", 5);
    assert_int_equal(model_sample_finalize(&s), CSN_OK);
    csni_model_add_notes(&s.model, &s.report);
    assert_string_equal(model_sample_events(&s.report), "damaged-unit:1 functions-overlap:3 relocation-not-applied:2");
    assert_string_equal(s.report.events[CSN_EVENT_OVERLAP].example, "number 1");
    assert_string_equal(s.report.events[CSN_EVENT_RELOCATION].example, "");
    assert_int_equal(strlen(s.report.events[CSN_EVENT_DAMAGED_UNIT].example), CSN_EXAMPLE_SIZE - 1);
    model_sample_deinit(&s);
}

/* An example of an earlier batch is not told again by a batch that has none of its own. */
static void notes_are_of_their_batch(void **state) {
    (void)state;
    struct model_sample s;
    model_sample_init(&s, NULL);
    csni_batch_note(&s.writer, CSN_EVENT_OVERLAP, "first batch");
    model_sample_next_batch(&s);
    csni_batch_note(&s.writer, CSN_EVENT_OVERLAP, NULL);
    assert_int_equal(model_sample_finalize(&s), CSN_OK);
    assert_int_equal(s.batches[1].notes[0].example.len, 0);
    model_sample_deinit(&s);
}

static void event_names_and_classes(void **state) {
    (void)state;
    for (uint32_t e = 0; e < CSN_EVENT_COUNT; e++) {
        assert_non_null(csn_event_name(e));
        assert_true(csn_event_get_class(e) <= CSN_CLASS_DROPPED);
        for (uint32_t other = 0; other < e; other++) assert_string_not_equal(csn_event_name(e), csn_event_name(other));
    }
    assert_string_equal(csn_event_name(CSN_EVENT_COUNT), "unknown");
    assert_string_equal(csn_event_name(UINT32_MAX), "unknown");
    assert_int_equal(csn_event_get_class(UINT32_MAX), CSN_CLASS_NORMAL);
    assert_true(csn_event_is_damage(CSN_EVENT_MISSING_OBJECT) && csn_event_is_damage(CSN_EVENT_DAMAGED_UNWIND));
    assert_false(csn_event_is_damage(CSN_EVENT_UNREAD_MEMBER) || csn_event_is_damage(CSN_EVENT_MISSING_MAP));
    assert_false(csn_event_is_damage(UINT32_MAX));
    assert_int_equal(csn_event_get_class(CSN_EVENT_DAMAGED_UNIT), CSN_CLASS_DROPPED);
    assert_int_equal(csn_event_get_class(CSN_EVENT_DUPLICATE_DROPPED), CSN_CLASS_MERGED);
    assert_int_equal(csn_event_get_class(CSN_EVENT_LINE_START_CLIPPED), CSN_CLASS_CLIPPED);
    assert_int_equal(csn_event_get_class(CSN_EVENT_FUNCTION_DISCARDED), CSN_CLASS_NORMAL);
}

/* ---- limits ---- */

static void too_many_of_something(void **state) {
    (void)state;
    struct model_sample s;
    struct csn_error err = CSN_ERROR_INIT;
    model_sample_init(&s, NULL);
    s.writer.overflow = s.writer.failed = true; /* as index32() does after 2^32 elements */
    assert_int_equal(csni_batch_finish(&s.writer, &s.batches[0], &err), CSN_E_LIMIT);
    assert_string_equal(err.text, "more than 2^32 rows, nodes or strings, or 2^24 files, in one unit");
    csni_batch_begin(&s.writer, &s.arena);
    assert_int_equal(csni_batch_finish(&s.writer, &s.batches[0], &err), CSN_OK);
    model_sample_deinit(&s);
}

static csn_status batch_step(void *context, const struct csn_allocator *alloc) {
    (void)context;
    struct model_sample s;
    model_sample_init(&s, alloc);
    model_sample_function(&s, 0x10, 64, "f");
    for (uint32_t i = 0; i < 20; i++) {
        csni_batch_add_row(&s.writer, i, model_sample_file(&s, "/d", "f"), i);
        model_sample_inline(&s, "x", 0, 1, i, i + 1);
        csni_batch_add_call_site(&s.writer, i, 0);
        csni_batch_add_pattern(&s.writer, model_sample_string(&s, "p"));
        csni_batch_note(&s.writer, (enum csn_event)i, "note %u", i);
    }
    (void)csni_batch_reserve_rows(&s.writer, 100);
    csn_status status = csni_batch_finish(&s.writer, &s.batches[0], NULL);
    model_sample_deinit(&s);
    return status;
}

static void allocation_failures(void **state) {
    (void)state;
    assert_true(test_allocator_sweep(batch_step, NULL, 0) > 20);
    assert_true(test_allocator_sweep(batch_step, NULL, 1) > 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_batch),
        cmocka_unit_test(reserved_rows),
        cmocka_unit_test(paths_are_cut_where_they_join_again),
        cmocka_unit_test(notes_keep_count_and_first_example),
        cmocka_unit_test(notes_are_of_their_batch),
        cmocka_unit_test(event_names_and_classes),
        cmocka_unit_test(too_many_of_something),
        cmocka_unit_test(allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
