/* Gathering a batch. */
#include "model/model.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/core/fail.h"

/* Appends or marks the writer as failed; the batch is then refused as a whole by csni_batch_finish(). */
#define APPEND(w, vec, value)                                        \
    do {                                                             \
        if (!csni_vec_push(&(w)->vec, (value))) (w)->failed = true;  \
    } while (0)

static uint32_t index32(struct csni_batch_writer *w, size_t count) {
    if (count >= UINT32_MAX) w->overflow = w->failed = true;
    return (uint32_t)count;
}

void csni_batch_writer_init(struct csni_batch_writer *w, const struct csn_allocator *alloc) {
    *w = (struct csni_batch_writer){ 0 };
    w->functions.alloc = w->rows.alloc = w->inlines.alloc = w->parts.alloc = w->sites.alloc = alloc;
    w->patterns.alloc = w->strings.alloc = w->files.alloc = w->unclaimed.alloc = w->strays.alloc = alloc;
}

void csni_batch_writer_deinit(struct csni_batch_writer *w) {
    csni_vec_deinit(&w->functions);
    csni_vec_deinit(&w->rows);
    csni_vec_deinit(&w->inlines);
    csni_vec_deinit(&w->parts);
    csni_vec_deinit(&w->sites);
    csni_vec_deinit(&w->patterns);
    csni_vec_deinit(&w->strings);
    csni_vec_deinit(&w->files);
    csni_vec_deinit(&w->unclaimed);
    csni_vec_deinit(&w->strays);
}

void csni_batch_begin(struct csni_batch_writer *w, struct csni_arena *arena) {
    w->functions.count = w->rows.count = w->inlines.count = w->parts.count = w->sites.count = 0;
    w->patterns.count = w->strings.count = w->files.count = w->unclaimed.count = w->strays.count = 0;
    memset(w->note_counts, 0, sizeof w->note_counts);
    w->arena = arena;
    w->binary = 0;
    w->failed = w->overflow = w->has_unplaced = false;
    APPEND(w, strings, ((struct csn_str){ "", 0 }));
    APPEND(w, files, ((struct csni_file){ 0, 0 }));
}

static csn_status finish_notes(struct csni_batch_writer *w, struct csni_batch *out, struct csn_error *err) {
    uint32_t count = 0;
    for (uint32_t e = 0; e < CSN_EVENT_COUNT; e++) count += w->note_counts[e] > 0;
    out->notes = csni_arena_alloc(w->arena, count * sizeof *out->notes);
    if (!out->notes) return csni_fail_memory(err, count * sizeof *out->notes);
    for (uint32_t e = 0; e < CSN_EVENT_COUNT; e++)
        if (w->note_counts[e])
            out->notes[out->note_count++] = (struct csni_note){ e, w->note_counts[e], w->note_examples[e] };
    return CSN_OK;
}

static bool copy_array(struct csni_arena *arena, void *out_pointer, uint32_t *out_count, const void *items, size_t count,
                       size_t size) {
    void *copy = csni_arena_alloc(arena, count * size);
    if (!copy) return false;
    if (count) memcpy(copy, items, count * size);
    memcpy(out_pointer, &copy, sizeof copy);
    *out_count = (uint32_t)count;
    return true;
}
#define COPY(field, field_count, vec) \
    copy_array(w->arena, &batch.field, &batch.field_count, w->vec.items, w->vec.count, sizeof *w->vec.items)

/* The numbers of the last function's rows and the like are not looked at while they grow. */
static bool fits(const struct csni_batch_writer *w) {
    return w->functions.count <= UINT32_MAX && w->rows.count <= UINT32_MAX && w->inlines.count <= UINT32_MAX &&
           w->parts.count <= UINT32_MAX && w->sites.count <= UINT32_MAX && w->patterns.count <= UINT32_MAX &&
           w->strings.count <= UINT32_MAX && w->files.count <= UINT32_MAX && w->unclaimed.count <= UINT32_MAX &&
           w->strays.count <= UINT32_MAX;
}

/* Puts functions without a place after the others and takes them from their count. */
static bool move_unplaced(struct csni_batch_writer *w, struct csni_batch *batch) {
    uint32_t all = batch->function_count, count = 0, unplaced = 0;
    struct csni_function *apart = csni_arena_alloc(w->arena, all * sizeof *apart);
    if (!apart) return false;
    for (uint32_t i = 0; i < all; i++) {
        if (batch->functions[i].unplaced) apart[unplaced++] = batch->functions[i];
        else batch->functions[count++] = batch->functions[i];
    }
    if (unplaced) memcpy(batch->functions + count, apart, unplaced * sizeof *apart);
    batch->function_count = count;
    batch->unplaced_count = unplaced;
    return true;
}

csn_status csni_batch_finish(struct csni_batch_writer *w, struct csni_batch *out, struct csn_error *err) {
    if (w->overflow || !fits(w))
        return csni_fail(err, CSN_E_LIMIT, NULL, 0,
                         "more than 2^32 rows, nodes or strings, or 2^24 files, in one unit");
    struct csni_batch batch = { 0 };
    if (w->failed || !COPY(functions, function_count, functions) || !COPY(rows, row_count, rows) ||
        !COPY(inlines, inline_count, inlines) || !COPY(parts, part_count, parts) || !COPY(sites, site_count, sites) ||
        !COPY(patterns, pattern_count, patterns) || !COPY(strings, string_count, strings) ||
        !COPY(files, file_count, files) || !COPY(unclaimed, unclaimed_count, unclaimed) ||
        !COPY(strays, stray_count, strays))
        return csni_fail_memory(err, w->rows.count * sizeof *w->rows.items);
    CSNI_TRY(finish_notes(w, &batch, err));
    if (w->has_unplaced && !move_unplaced(w, &batch)) return csni_fail_memory(err, batch.function_count);
    *out = batch;
    return CSN_OK;
}

uint32_t csni_batch_add_string(struct csni_batch_writer *w, struct csn_str s) {
    if (!s.len) return 0;
    uint32_t number = index32(w, w->strings.count);
    APPEND(w, strings, s);
    return number;
}

uint32_t csni_batch_add_file(struct csni_batch_writer *w, uint32_t directory, uint32_t base) {
    uint32_t number = index32(w, w->files.count);
    if (number >= CSNI_BATCH_FILES_MAX) w->overflow = w->failed = true;
    APPEND(w, files, ((struct csni_file){ directory, base }));
    return number;
}

uint32_t csni_batch_add_path(struct csni_batch_writer *w, struct csn_str path) {
    size_t cut = path.len;
    while (cut && path.ptr[cut - 1] != '/') cut--;
    bool is_windows = !cut;
    if (is_windows)
        for (cut = path.len; cut && path.ptr[cut - 1] != '\\';) cut--;
    size_t directory = cut > 1 && path.ptr[cut - 2] != path.ptr[cut - 1] ? cut - 1 : cut;
    bool has_slash = memchr(path.ptr, '/', directory), has_backslash = memchr(path.ptr, '\\', directory);
    if (is_windows ? !has_backslash : has_backslash && !has_slash) directory = cut;
    uint32_t directory_string = csni_batch_add_string(w, (struct csn_str){ path.ptr, directory });
    return csni_batch_add_file(w, directory_string, csni_batch_add_string(w, (struct csn_str){ path.ptr + cut, path.len - cut }));
}

void csni_batch_begin_function(struct csni_batch_writer *w, uint64_t start, uint32_t size, uint32_t name,
                               enum csni_source source) {
    struct csni_function f = { .start = start, .size = size, .name = name, .binary = w->binary, .source = (uint8_t)source };
    f.first_row = index32(w, w->rows.count);
    f.first_inline = index32(w, w->inlines.count);
    f.first_site = index32(w, w->sites.count);
    APPEND(w, functions, f);
}

void csni_batch_mark_unplaced(struct csni_batch_writer *w) {
    if (w->failed) return;
    w->functions.items[w->functions.count - 1].unplaced = true;
    w->functions.items[w->functions.count - 1].source = CSNI_SOURCE_FOLDED;
    w->has_unplaced = true;
}

void csni_batch_mark_stray(struct csni_batch_writer *w) {
    if (w->failed) return;
    struct csni_function stray = w->functions.items[--w->functions.count];
    if (stray.inline_count) APPEND(w, strays, stray);
}

static struct csni_function *last_function(struct csni_batch_writer *w) {
    return w->failed ? NULL : &w->functions.items[w->functions.count - 1];
}

void csni_batch_add_row(struct csni_batch_writer *w, uint32_t off, uint32_t file, uint32_t line) {
    struct csni_function *f = last_function(w);
    if (!f) return;
    if (f->row_count) {
        const struct csni_row *last = &w->rows.items[w->rows.count - 1];
        if (last->file == file && last->line == line) return;
    }
    APPEND(w, rows, ((struct csni_row){ off, file, line }));
    f->row_count++;
    f->given_rows++;
}

struct csni_row *csni_batch_reserve_rows(struct csni_batch_writer *w, size_t count) {
    if (w->failed || !csni_vec_reserve(&w->rows, w->rows.count + count)) {
        w->failed = true;
        return NULL;
    }
    return w->rows.items + w->rows.count;
}

void csni_batch_commit_rows(struct csni_batch_writer *w, size_t count, size_t given) {
    struct csni_function *f = &w->functions.items[w->functions.count - 1];
    w->rows.count += count;
    f->row_count += (uint32_t)count;
    f->given_rows += (uint32_t)given;
}

void csni_batch_add_unclaimed(struct csni_batch_writer *w, const struct csni_unclaimed_rows *rows) {
    struct csni_unclaimed_rows added = *rows;
    added.first_row = index32(w, w->rows.count);
    w->rows.count += rows->row_count;
    APPEND(w, unclaimed, added);
}

uint32_t csni_batch_begin_inline(struct csni_batch_writer *w, uint32_t name, uint32_t call_file, uint32_t call_line) {
    struct csni_function *f = last_function(w);
    uint32_t node = index32(w, w->inlines.count);
    if (!f) return node;
    uint32_t first_part = index32(w, w->parts.count);
    APPEND(w, inlines, ((struct csni_inline_node){ name, call_file, call_line, first_part, 0, 0 }));
    f->inline_count++;
    return node;
}

void csni_batch_add_part(struct csni_batch_writer *w, uint32_t start, uint32_t end) {
    if (w->failed) return;
    APPEND(w, parts, ((struct csni_part){ start, end }));
    w->inlines.items[w->inlines.count - 1].part_count++;
}

void csni_batch_end_inline(struct csni_batch_writer *w, uint32_t node) {
    if (!w->failed) w->inlines.items[node].descendants = (uint32_t)(w->inlines.count - node - 1);
}

struct csni_inline_node *csni_batch_reserve_inlines(struct csni_batch_writer *w, size_t nodes, size_t parts,
                                                    struct csni_part **out_parts) {
    if (w->failed || !csni_vec_reserve(&w->inlines, w->inlines.count + nodes) ||
        !csni_vec_reserve(&w->parts, w->parts.count + parts + !parts)) { /* room for one at least: *out_parts is never NULL */
        w->failed = true;
        return NULL;
    }
    *out_parts = w->parts.items + w->parts.count;
    return w->inlines.items + w->inlines.count;
}

void csni_batch_commit_inlines(struct csni_batch_writer *w, size_t nodes, size_t parts) {
    w->inlines.count += nodes;
    w->parts.count += parts;
    w->functions.items[w->functions.count - 1].inline_count += (uint32_t)nodes;
}

void csni_batch_add_call_site(struct csni_batch_writer *w, uint64_t return_off, uint32_t flags) {
    struct csni_function *f = last_function(w);
    if (!f) return;
    APPEND(w, sites, ((struct csni_call_site){ return_off, index32(w, w->patterns.count), 0, flags }));
    f->site_count++;
}

void csni_batch_add_pattern(struct csni_batch_writer *w, uint32_t string) {
    if (w->failed) return;
    APPEND(w, patterns, string);
    w->sites.items[w->sites.count - 1].pattern_count++;
}

void csni_batch_note(struct csni_batch_writer *w, enum csn_event event, const char *format, ...) {
    if (w->note_counts[event]++) return;
    w->note_examples[event] = (struct csn_str){ "", 0 };
    if (!format) return;
    char text[CSN_EXAMPLE_SIZE];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (len < 0) return;
    size_t size = (size_t)len < sizeof text ? (size_t)len : sizeof text - 1;
    char *copy = csni_arena_copy(w->arena, text, size);
    if (copy) w->note_examples[event] = (struct csn_str){ copy, size };
    else w->failed = true;
}

static void note_clipped(struct csni_batch_writer *w, enum csn_event event, uint64_t line, uint64_t start, uint64_t size) {
    const char *why = event == CSN_EVENT_FUNCTION_PAST_END ? ", it would end past the last address" : "";
    char place[40] = "";
    if (line) snprintf(place, sizeof place, "line %llu: ", (unsigned long long)line);
    csni_batch_note(w, event, "%s0x%llx has 0x%llx bytes%s", place, (unsigned long long)start, (unsigned long long)size, why);
}

uint32_t csni_batch_clip_size(struct csni_batch_writer *w, uint64_t line, uint64_t start, uint64_t size) {
    const uint64_t most = UINT64_MAX - start;
    if (size > UINT32_MAX) note_clipped(w, CSN_EVENT_FUNCTION_TOO_LARGE, line, start, size);
    else if (size > most) note_clipped(w, CSN_EVENT_FUNCTION_PAST_END, line, start, size);
    if (size > most) size = most;
    return size < UINT32_MAX ? (uint32_t)size : UINT32_MAX;
}
