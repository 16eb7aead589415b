/* What the tests of Breakpad's symbol files share. */
#include "base/sink.h"
#include "support/breakpad_sample.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>


static csn_status read_chunks(struct breakpad_sample *s) {
    csni_breakpad_worker_init(&s->worker, s->alloc);
    csn_status status = CSN_OK;
    for (uint32_t i = 1; i < s->breakpad.chunks.count && status >= 0; i++) {
        csni_batch_begin(&s->writer, &s->arena);
        status = csni_breakpad_read_chunk(&s->breakpad, &s->worker, i, &s->writer, NULL);
        if (status >= 0) status = csni_batch_finish(&s->writer, &s->batches[i], NULL);
    }
    csni_breakpad_worker_deinit(&s->worker);
    return status;
}

static csn_status read_all(struct breakpad_sample *s, size_t chunk_size) {
    bool again = false;
    struct csni_span file = { (const uint8_t *)s->text, s->size };
    csn_status status = csni_breakpad_open(&s->breakpad, file, chunk_size, s->alloc, NULL);
    if (status < 0) return status;
    s->batches = csni_alloc_zeroed(s->alloc, s->breakpad.chunks.count, sizeof *s->batches);
    if (!s->batches) return CSN_E_MEMORY;
    status = read_chunks(s);
    if (status >= 0) status = csni_breakpad_gather_definitions(&s->breakpad, &again, NULL);
    if (status >= 0 && again) status = read_chunks(s);
    if (status < 0) return status;
    csni_batch_begin(&s->writer, &s->arena);
    status = csni_breakpad_drop_overlaps(&s->breakpad, s->batches, false, &s->writer, NULL);
    if (status >= 0) status = csni_breakpad_read_symbols(&s->breakpad, s->batches, &s->writer, NULL);
    if (status >= 0) status = csni_batch_finish(&s->writer, &s->batches[0], NULL);
    return status;
}

static csn_status make_model(struct breakpad_sample *s) {
    s->model.batches = s->batches;
    s->model.batch_count = (uint32_t)s->breakpad.chunks.count;
    csni_model_add_notes(&s->model, &s->report);
    csn_status status = csni_model_finalize(&s->model, NULL, &s->report, NULL);
    return status < 0 ? status : csni_model_link(&s->model, NULL, &s->arena, NULL);
}

csn_status breakpad_sample_open(struct breakpad_sample *s, const char *text, size_t size, size_t chunk_size,
                                const struct csn_allocator *alloc) {
    memset(s, 0, sizeof *s);
    s->alloc = csni_allocator_or_default(alloc);
    s->size = size;
    s->text = malloc(size ? size : 1);
    assert_non_null(s->text);
    if (size) memcpy(s->text, text, size);
    csni_arena_init(&s->arena, s->alloc, 256);
    csni_batch_writer_init(&s->writer, s->alloc);
    csni_model_init(&s->model, s->alloc);
    csn_status status = read_all(s, chunk_size);
    return status < 0 ? status : make_model(s);
}

void breakpad_sample_close(struct breakpad_sample *s) {
    csni_model_deinit(&s->model);
    csni_batch_writer_deinit(&s->writer);
    csni_arena_deinit(&s->arena);
    csni_free(s->alloc, s->batches, s->breakpad.chunks.count * sizeof *s->batches);
    csni_breakpad_close(&s->breakpad);
    free(s->text);
}

struct csn_bytes breakpad_sample_write(const struct csni_model *model) {
    static struct csn_convert_report report;
    struct csn_bytes out = { NULL, 0, NULL };
    struct csni_sink sink = csni_memory_sink(&out);
    assert_int_equal(csni_breakpad_write(model, &(struct csni_breakpad_write_options){ 0 }, NULL, &sink, &report, NULL), CSN_OK);
    return out;
}

/* ---- telling ---- */

static struct { char text[1 << 18]; size_t size; } told;

static void tell(const char *format, ...) {
    va_list args;
    va_start(args, format);
    int len = vsnprintf(told.text + told.size, sizeof told.text - told.size, format, args);
    va_end(args);
    assert_true(len >= 0 && (size_t)len < sizeof told.text - told.size);
    told.size += (size_t)len;
}

static void tell_file(const struct csni_model *m, const struct csni_batch *b, uint32_t file, uint32_t line) {
    const struct csni_model_file *f = &m->files[b->file_numbers[file]];
    struct csn_str directory = m->strings[f->directory], base = m->strings[f->base];
    if (!file) {
        tell("-");
        return;
    }
    bool separate = directory.len && directory.ptr[directory.len - 1] != '/' && directory.ptr[directory.len - 1] != '\\';
    tell("%.*s%s%.*s:%u", (int)directory.len, directory.ptr, separate ? "/" : "", (int)base.len, base.ptr, line);
}

static void tell_inlines(const struct csni_model *m, const struct csni_batch *b, uint32_t first, uint32_t count) {
    for (uint32_t i = first; i < first + count;) {
        const struct csni_inline_node *n = &b->inlines[i];
        tell(" {%.*s ", (int)b->strings[n->name].len, b->strings[n->name].ptr);
        tell_file(m, b, n->call_file, n->call_line);
        for (uint32_t k = 0; k < n->part_count; k++)
            tell(" %x+%x", b->parts[n->first_part + k].start, b->parts[n->first_part + k].end - b->parts[n->first_part + k].start);
        tell_inlines(m, b, i + 1, n->descendants);
        tell("}");
        i += 1 + n->descendants;
    }
}

const char *breakpad_sample_tell(const struct csni_model *m) {
    told.size = 0;
    told.text[0] = 0;
    for (uint32_t i = 0; i < m->entry_count; i++) {
        const struct csni_batch *b = &m->batches[m->entries[i].batch];
        const struct csni_function *f = csni_model_function(m, &m->entries[i]);
        tell("%s%.*s@%llx+%x", i ? "; " : "", (int)b->strings[f->name].len, b->strings[f->name].ptr,
             (unsigned long long)f->start, f->size);
        for (uint32_t k = 0; k < f->row_count; k++) {
            const struct csni_row *row = &b->rows[f->first_row + k];
            tell(" [%x ", row->off);
            tell_file(m, b, row->file, row->line);
            tell("]");
        }
        tell_inlines(m, b, f->first_inline, f->inline_count);
    }
    return told.text;
}
