/* Batches for tests. */
#include "support/model_sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

void model_sample_init(struct model_sample *s, const struct csn_allocator *alloc) {
    memset(s, 0, sizeof *s);
    s->alloc = alloc;
    csni_arena_init(&s->arena, alloc, 256);
    csni_batch_writer_init(&s->writer, alloc);
    csni_model_init(&s->model, alloc);
    s->model.batches = s->batches;
    csni_batch_begin(&s->writer, &s->arena);
}

void model_sample_deinit(struct model_sample *s) {
    csni_model_deinit(&s->model);
    csni_batch_writer_deinit(&s->writer);
    csni_arena_deinit(&s->arena);
}

static csn_status end_batch(struct model_sample *s) {
    assert_true(s->model.batch_count < MODEL_SAMPLE_BATCHES);
    return csni_batch_finish(&s->writer, &s->batches[s->model.batch_count++], NULL);
}

void model_sample_next_batch(struct model_sample *s) {
    assert_int_equal(end_batch(s), CSN_OK);
    csni_batch_begin(&s->writer, &s->arena);
}

uint32_t model_sample_string(struct model_sample *s, const char *text) {
    return csni_batch_add_string(&s->writer, csni_str(text));
}

uint32_t model_sample_file(struct model_sample *s, const char *directory, const char *base) {
    uint32_t d = model_sample_string(s, directory), b = model_sample_string(s, base);
    return csni_batch_add_file(&s->writer, d, b);
}

void model_sample_function(struct model_sample *s, uint64_t start, uint32_t size, const char *name) {
    csni_batch_begin_function(&s->writer, start, size, model_sample_string(s, name), CSNI_SOURCE_BUILDER);
}

void model_sample_rows(struct model_sample *s, uint32_t file, uint32_t line, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) csni_batch_add_row(&s->writer, i, file, line + i);
}

void model_sample_inline(struct model_sample *s, const char *name, uint32_t file, uint32_t line, uint32_t start,
                         uint32_t end) {
    uint32_t node = csni_batch_begin_inline(&s->writer, model_sample_string(s, name), file, line);
    csni_batch_add_part(&s->writer, start, end);
    csni_batch_end_inline(&s->writer, node);
}

csn_status model_sample_finalize(struct model_sample *s) {
    csn_status status = end_batch(s);
    return status < 0 ? status : csni_model_finalize(&s->model, s->pool, &s->report, NULL);
}

csn_status model_sample_link(struct model_sample *s) {
    csn_status status = model_sample_finalize(s);
    return status < 0 ? status : csni_model_link(&s->model, NULL, &s->arena, NULL);
}

const char *model_sample_entries(const struct model_sample *s) {
    static char text[4096];
    size_t at = 0;
    text[0] = 0;
    for (uint32_t i = 0; i < s->model.entry_count && at < sizeof text; i++) {
        const struct csni_entry *e = &s->model.entries[i];
        const struct csni_function *f = csni_model_function(&s->model, e);
        struct csn_str name = s->batches[e->batch].strings[f->name];
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%.*s@%llx+%x", i ? " " : "", (int)name.len, name.ptr,
                               (unsigned long long)f->start, f->size);
    }
    return text;
}

const char *model_sample_events(const struct csn_convert_report *report) {
    static char text[4096];
    size_t at = 0;
    text[0] = 0;
    for (uint32_t e = 0; e < CSN_EVENT_COUNT && at < sizeof text; e++)
        if (report->events[e].count && e != CSN_EVENT_LINES_WITHOUT_FUNCTION)
            at += (size_t)snprintf(text + at, sizeof text - at, "%s%s:%llu", at ? " " : "", csn_event_name(e),
                                   (unsigned long long)report->events[e].count);
    return text;
}

/* ---- random functions ---- */

static uint32_t pick_of(uint64_t *seed, uint32_t count) {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return (uint32_t)((*seed >> 20) % count);
}

/* Inlined calls within [start, end), nested at most `levels` deep. */
static void add_random_inlines(struct model_sample *s, uint32_t start, uint32_t end, int levels, uint64_t *seed) {
    while (levels && end - start > 8 && pick_of(seed, 4)) {
        uint32_t low = start + pick_of(seed, end - start - 6), high = low + 1 + pick_of(seed, end - low - 1);
        uint32_t node = csni_batch_begin_inline(&s->writer, 1 + pick_of(seed, 5), pick_of(seed, 4), pick_of(seed, 100000));
        csni_batch_add_part(&s->writer, low, high);
        if (high + 2 < end && pick_of(seed, 2)) csni_batch_add_part(&s->writer, high + 1, end);
        add_random_inlines(s, low, high, levels - 1, seed);
        csni_batch_end_inline(&s->writer, node);
        start = high;
    }
}

void model_sample_random_function(struct model_sample *s, uint64_t start, uint64_t *seed) {
    uint32_t size = 1 + pick_of(seed, 300);
    csni_batch_begin_function(&s->writer, start, size, 1 + pick_of(seed, 5), CSNI_SOURCE_BUILDER);
    uint32_t rows = pick_of(seed, 4) ? pick_of(seed, 12) : 0;
    for (uint32_t i = 0, off = 0; i < rows && off < size; i++, off += pick_of(seed, 40))
        csni_batch_add_row(&s->writer, off, pick_of(seed, 5) ? 1 : pick_of(seed, 4),
                           pick_of(seed, 3) ? 50 + pick_of(seed, 20) : pick_of(seed, UINT32_MAX));
    if (pick_of(seed, 2)) add_random_inlines(s, 0, size, 6, seed);
    for (uint32_t i = pick_of(seed, 8) ? 0 : pick_of(seed, 4); i > 0; i--) {
        csni_batch_add_call_site(&s->writer, pick_of(seed, size), pick_of(seed, 4));
        for (uint32_t k = pick_of(seed, 3); k > 0; k--) csni_batch_add_pattern(&s->writer, 1 + pick_of(seed, 5));
    }
}

void model_sample_random_names(struct model_sample *s, int shift) {
    static const char *const names[] = { "a", "bb", "ccc", "operator()(int)", "\xff\xfe" };
    for (int i = 0; i < 5; i++) model_sample_string(s, names[(i + shift) % 5]);
    for (int i = 0; i < 3; i++) model_sample_file(s, i ? "/d" : "", i == shift ? "x.c" : "y.h");
}
