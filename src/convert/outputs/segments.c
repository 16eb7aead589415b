/* An index in several files, each a whole index of its own for neighbouring functions.
 *
 * The functions of a segment are copied, with everything they hold, into a batch of its own, which then takes the way of an
 * index that is written anew. The files get their names when all are written: a conversion that fails leaves none. A
 * segment ends as the reference tool's does: where what has been taken so far has reached the size that is wanted;
 * only functions of one start stay together, whose files would have the same name. */
#include "convert/outputs/segments.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/core/budget.h"
#include "base/core/fail.h"
#include "base/file_output.h"
#include "base/sink.h"
#include "convert/outputs/outputs.h"
#include "convert/read_files.h"
#include "formats/gsym/write/gsym_write_size.h"

typedef unsigned long long ull; /* for %llx */

/* Bytes of strings in all segments, for a byte of those of the whole. Programs with one function in each segment stay below 70. */
enum { SEGMENT_SHARING = 256, SEGMENT_TEXT_BASE = 1 << 26 };

struct segment {
    uint64_t start, end;  /* of the functions: end is after the last byte of any */
    uint64_t bytes;
    uint32_t functions;
};

struct segmenter {
    struct csni_conversion *c;
    const struct csni_model *model;
    const char *path;
    struct csni_batch_writer *w;
    struct csni_gsym_sizer sizer;
    /* Of the segment that is being filled: numbers of its strings and files by those of the model, and which have one. */
    uint32_t *strings, *files;
    CSNI_VEC(uint32_t) used_strings;
    CSNI_VEC(uint32_t) used_files;
    uint64_t string_bytes;
    struct csni_budget text; /* bytes of strings of all segments: each has its own */
    struct segment current;
    CSNI_VEC(struct segment) done;
    CSNI_VEC(struct csni_file_output) outputs; /* of those that are done */
};

/* ---- filling a segment ---- */

static uint32_t map_string(struct segmenter *s, const struct csni_batch *batch, uint32_t string) {
    uint32_t number = batch->string_numbers[string];
    if (!number || s->strings[number]) return s->strings[number];
    s->strings[number] = csni_batch_add_string(s->w, s->model->strings[number]);
    s->string_bytes += (uint64_t)s->model->strings[number].len + 1;
    if (!csni_vec_push(&s->used_strings, number)) s->w->failed = true;
    return s->strings[number];
}

static uint32_t map_file(struct segmenter *s, const struct csni_batch *batch, uint32_t file) {
    uint32_t number = batch->file_numbers[file];
    if (!number || s->files[number]) return s->files[number];
    uint32_t directory = map_string(s, batch, batch->files[file].directory);
    s->files[number] = csni_batch_add_file(s->w, directory, map_string(s, batch, batch->files[file].base));
    if (!csni_vec_push(&s->used_files, number)) s->w->failed = true;
    return s->files[number];
}

static void copy_segment_rows(struct segmenter *s, const struct csni_batch *batch, const struct csni_function *f) {
    if (!f->row_count) return;
    struct csni_row *out = csni_batch_reserve_rows(s->w, f->row_count);
    if (!out) return;
    for (uint32_t i = 0; i < f->row_count; i++) {
        out[i] = batch->rows[f->first_row + i];
        out[i].file = map_file(s, batch, out[i].file);
    }
    csni_batch_commit_rows(s->w, f->row_count, f->row_count);
}

static void copy_inlines(struct segmenter *s, const struct csni_batch *batch, const struct csni_function *f) {
    for (uint32_t i = 0; i < f->inline_count && !s->w->failed; i++) {
        const struct csni_inline_node *node = &batch->inlines[f->first_inline + i];
        uint32_t copy = csni_batch_begin_inline(s->w, map_string(s, batch, node->name),
                                                map_file(s, batch, node->call_file), node->call_line);
        for (uint32_t k = 0; k < node->part_count; k++) {
            const struct csni_part *part = &batch->parts[node->first_part + k];
            csni_batch_add_part(s->w, part->start, part->end);
        }
        if (!s->w->failed) s->w->inlines.items[copy].descendants = node->descendants;
    }
}

static void copy_call_sites(struct segmenter *s, const struct csni_batch *batch, const struct csni_function *f) {
    for (uint32_t i = 0; i < f->site_count; i++) {
        const struct csni_call_site *site = &batch->sites[f->first_site + i];
        csni_batch_add_call_site(s->w, site->return_off, site->flags);
        for (uint32_t k = 0; k < site->pattern_count; k++)
            csni_batch_add_pattern(s->w, map_string(s, batch, batch->patterns[site->first_pattern + k]));
    }
}

static void copy_function(struct segmenter *s, const struct csni_entry *e) {
    const struct csni_batch *batch = &s->model->batches[e->batch];
    const struct csni_function *f = &batch->functions[e->function];
    csni_batch_begin_function(s->w, f->start, f->size, map_string(s, batch, f->name), CSNI_SOURCE_INDEX);
    if (!s->w->failed) s->w->functions.items[s->w->functions.count - 1].merged_count = e->child_count;
    copy_segment_rows(s, batch, f);
    copy_inlines(s, batch, f);
    copy_call_sites(s, batch, f);
}

static csn_status add_entry(struct segmenter *s, const struct csni_entry *e, struct csn_error *err) {
    const struct csni_function *f = csni_model_function(s->model, e);
    CSNI_TRY(csni_gsym_sizer_add(&s->sizer, e, err));
    copy_function(s, e);
    for (uint32_t i = 0; i < e->child_count; i++) copy_function(s, &s->model->children[e->first_child + i]);
    if (s->w->failed) return csni_fail_memory(err, sizeof *f);
    if (!s->current.functions++) s->current.start = s->current.end = f->start;
    if (f->start + f->size > s->current.end) s->current.end = f->start + f->size;
    return CSN_OK;
}

/* ---- writing a segment ---- */

/* A temporary file for the path with that end, which s->outputs then has. */
static csn_status open_output(struct segmenter *s, const char *end, struct csni_file_output **out, struct csn_error *err) {
    const struct csn_allocator *alloc = s->c->alloc;
    const size_t capacity = strlen(s->path) + strlen(end) + 1;
    if (!csni_vec_reserve(&s->outputs, s->outputs.count + 1)) return csni_fail_memory(err, sizeof *s->outputs.items);
    char *path = csni_alloc(alloc, capacity);
    if (!path) return csni_fail_memory(err, capacity);
    snprintf(path, capacity, "%s%s", s->path, end);
    *out = &s->outputs.items[s->outputs.count];
    csn_status status = csni_check_not_read(s->c, path, err);
    if (status >= 0) status = csni_file_output_open(*out, path, alloc, err);
    if (status >= 0) s->outputs.count++;
    csni_free(alloc, path, capacity);
    return status;
}

static csn_status write_segment_file(struct segmenter *s, struct csni_model *segment, struct csn_error *err) {
    struct csni_conversion *c = s->c;
    const uint64_t before = c->report->output_bytes;
    struct csni_file_output *out;
    char end[sizeof "-0x0123456789abcdef"];
    snprintf(end, sizeof end, "-0x%llx", (ull)s->current.start);
    CSNI_TRY(open_output(s, end, &out, err));
    struct csni_sink sink = csni_file_sink(out);
    CSNI_TRY(csni_output_of(c->options.format)->write(segment, &c->options, c->pool, &sink, c->report, err));
    s->current.bytes = c->report->output_bytes - before;
    return csni_file_output_finish(out, err);
}

static csn_status write_segment_model(struct segmenter *s, struct csni_model *segment, struct csn_error *err) {
    struct csni_conversion *c = s->c;
    /* Counts of the whole have been reported; sizes are added up. */
    struct csn_convert_report *ignored = csni_alloc_zeroed(c->alloc, 1, sizeof *ignored);
    if (!ignored) return csni_fail_memory(err, sizeof *ignored);
    csn_status status = csni_model_finalize(segment, NULL, ignored, err);
    csni_free(c->alloc, ignored, sizeof *ignored);
    if (status < 0) return status;
    CSNI_TRY(csni_model_link(segment, NULL, &c->arenas[0], err));
    return write_segment_file(s, segment, err);
}

static void begin_segment(struct segmenter *s) {
    for (size_t i = 0; i < s->used_strings.count; i++) s->strings[s->used_strings.items[i]] = 0;
    for (size_t i = 0; i < s->used_files.count; i++) s->files[s->used_files.items[i]] = 0;
    s->used_strings.count = s->used_files.count = 0;
    s->string_bytes = 1; /* the empty string */
    csni_gsym_sizer_reset(&s->sizer);
    s->current = (struct segment){ 0 };
    csni_batch_begin(s->w, &s->c->arenas[0]);
}

static csn_status end_segment(struct segmenter *s, struct csn_error *err) {
    struct csni_arena_mark mark = csni_arena_get_mark(&s->c->arenas[0]);
    struct csni_batch batch;
    struct csni_model segment;
    CSNI_TRY(csni_progress(s->c, "segments", 0, err));
    if (!csni_budget_charge(&s->text, s->string_bytes))
        return csni_fail(err, CSN_E_LIMIT, NULL, 0,
                         "segments repeat strings: those of %zu segments have more than %llu bytes, the limit for an "
                         "index whose strings have %llu",
                         s->done.count + 1, (ull)s->text.limit, (ull)csni_model_text_size(s->model));
    csn_status status = csni_batch_finish(s->w, &batch, err);
    if (status < 0) return status;
    csni_model_init(&segment, s->model->alloc);
    segment.batches = &batch;
    segment.batch_count = 1;
    segment.image = s->model->image;
    segment.image.exact = true;
    status = write_segment_model(s, &segment, err);
    csni_model_deinit(&segment);
    csni_arena_release(&s->c->arenas[0], mark);
    if (status >= 0 && !csni_vec_push(&s->done, s->current)) status = csni_fail_memory(err, sizeof s->current);
    return status;
}

/* ---- all segments ---- */

static csn_status cut_segments(struct segmenter *s, struct csn_error *err) {
    const struct csni_model *m = s->model;
    uint64_t last = 0;
    begin_segment(s);
    for (uint32_t i = 0; i < m->entry_count; i++) {
        uint64_t start = csni_model_function(m, &m->entries[i])->start;
        uint64_t size = csni_gsym_sizer_estimate(&s->sizer, s->string_bytes, s->used_files.count + 1);
        if (size >= s->c->options.gsym->segment_size && (!s->current.functions || start != last)) {
            if (!s->current.functions)
                return csni_fail(err, CSN_E_LIMIT, NULL, 0, "a segment of no functions has %llu bytes, the segment size is "
                                 "%llu", (ull)size, (ull)s->c->options.gsym->segment_size);
            CSNI_TRY(end_segment(s, err));
            begin_segment(s);
        }
        CSNI_TRY(add_entry(s, &m->entries[i], err));
        last = start;
    }
    return end_segment(s, err);
}

static csn_status write_segment_text(struct csni_file_output *out, uint64_t *at, const char *text, int len,
                                     struct csn_error *err) {
    CSNI_TRY(csni_file_output_write(out, *at, text, (size_t)len, err));
    *at += (uint64_t)len;
    return CSN_OK;
}

static csn_status fill_manifest(const struct segmenter *s, struct csni_file_output *out, struct csn_error *err) {
    char text[256];
    uint64_t at = 0;
    int len = snprintf(text, sizeof text, "{\"segment_size\":%llu,\"segments\":[", (ull)s->c->options.gsym->segment_size);
    CSNI_TRY(write_segment_text(out, &at, text, len, err));
    for (size_t i = 0; i < s->done.count; i++) {
        const struct segment *d = &s->done.items[i];
        len = snprintf(text, sizeof text,
                       "%s\n{\"suffix\":\"-0x%llx\",\"start\":\"0x%llx\",\"end\":\"0x%llx\",\"functions\":%u,\"bytes\":%llu}",
                       i ? "," : "", (ull)d->start, (ull)d->start, (ull)d->end, d->functions, (ull)d->bytes);
        CSNI_TRY(write_segment_text(out, &at, text, len, err));
    }
    len = snprintf(text, sizeof text, "\n]}\n");
    return write_segment_text(out, &at, text, len, err);
}

static csn_status write_manifest(struct segmenter *s, struct csn_error *err) {
    struct csni_file_output *out;
    CSNI_TRY(open_output(s, "-manifest.json", &out, err));
    CSNI_TRY(fill_manifest(s, out, err));
    return csni_file_output_finish(out, err);
}

/* The manifest is the last. All are complete and on the disk, only renaming is left to do. */
static csn_status commit_outputs(struct segmenter *s, struct csn_error *err) {
    for (size_t i = 0; i < s->outputs.count; i++) CSNI_TRY(csni_file_output_commit(&s->outputs.items[i], err));
    return CSN_OK;
}

static csn_status check_segments(const struct csni_conversion *c, const struct csni_model *model,
                                 struct csn_error *err) {
    uint32_t format = csni_output_of(c->options.format)->format;
    if (format != CSN_FORMAT_GSYM_V1 && format != CSN_FORMAT_GSYM_V2 && format != CSN_FORMAT_GSYM_AUTO)
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "only GSYM is written in segments");
    if (!model->entry_count) return csni_fail(err, CSN_E_NOT_FOUND, NULL, 0, "no functions found, nothing to write");
    return CSN_OK;
}

csn_status csni_write_segments(struct csni_conversion *c, const struct csni_model *model, const char *path,
                               struct csn_error *err) {
    CSNI_TRY(check_segments(c, model, err));
    enum csni_gsym_target target = c->options.format == CSN_FORMAT_GSYM_V2 ? CSNI_GSYM_WRITE_V2 : CSNI_GSYM_WRITE_V1;
    struct segmenter s = { .c = c, .model = model, .path = path, .w = &c->writers[0] };
    s.used_strings.alloc = s.used_files.alloc = s.done.alloc = s.outputs.alloc = c->alloc;
    s.text = csni_budget_for(SEGMENT_TEXT_BASE, csni_model_text_size(model), SEGMENT_SHARING);
    s.strings = csni_alloc_zeroed(c->alloc, model->string_count, sizeof *s.strings);
    s.files = csni_alloc_zeroed(c->alloc, model->file_count, sizeof *s.files);
    csn_status status = csni_gsym_sizer_init(&s.sizer, model, target, err);
    if (status >= 0 && (!s.strings || !s.files)) status = csni_fail_memory(err, model->string_count * sizeof *s.strings);
    if (status >= 0) status = cut_segments(&s, err);
    if (status >= 0) status = csni_check_strict(c, err); /* what the format cannot hold */
    if (status >= 0) status = write_manifest(&s, err);
    if (status >= 0) status = commit_outputs(&s, err);
    for (size_t i = 0; i < s.outputs.count; i++) csni_file_output_abort(&s.outputs.items[i]);
    c->report->segments_written = status < 0 ? 0 : s.done.count;
    csni_vec_deinit(&s.used_strings);
    csni_vec_deinit(&s.used_files);
    csni_vec_deinit(&s.done);
    csni_vec_deinit(&s.outputs);
    csni_gsym_sizer_deinit(&s.sizer);
    csni_free(c->alloc, s.files, model->file_count * sizeof *s.files);
    csni_free(c->alloc, s.strings, model->string_count * sizeof *s.strings);
    return status;
}
