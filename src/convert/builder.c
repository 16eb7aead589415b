/* An index made call by call: one batch, filled by the caller instead of a source. */
#include <callsign/convert.h>

#include "base/core/fail.h"
#include "base/core/sized.h"
#include "base/file_output.h"
#include "base/core/ranges.h"
#include "base/sink.h"
#include "convert/builder_private.h"
#include "convert/convert_options.h"
#include "convert/outputs/outputs.h"
#include "formats/gsym/write/gsym_write_size.h"

void csn_builder_options_init(struct csn_builder_options *options) {
    *options = (struct csn_builder_options)CSN_BUILDER_OPTIONS_INIT;
}

csn_status csn_builder_create(const struct csn_builder_options *options, struct csn_builder **out, struct csn_error *err) {
    struct csn_builder_options own = CSN_BUILDER_OPTIONS_INIT;
    if (options) CSNI_TRY(csni_options_copy(&own, sizeof own, options, options->struct_size, err));
    for (size_t i = 0; i < sizeof own.reserved; i++)
        CSNI_TRY(csni_check_reserved("csn_builder_options.reserved", own.reserved[i], err));
    const struct csni_output *output = csni_output_of(own.format);
    if (!output) return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "output format %u is not known", own.format);
    const size_t uuid_max = csni_gsym_build_id_max(CSNI_GSYM_WRITE_V1);
    if (output->format == CSN_FORMAT_GSYM_V1 && own.uuid_size > uuid_max)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "the build id has %zu bytes, GSYM version 1 holds %zu", own.uuid_size,
                         uuid_max);
    if (own.uuid_size && !own.uuid)
        return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "uuid_size is %zu, uuid is NULL", own.uuid_size);
    const struct csn_allocator *alloc = csni_allocator_or_default(own.allocator);
    struct csn_builder *b = csni_alloc_zeroed(alloc, 1, sizeof *b);
    if (!b) return csni_fail_memory(err, sizeof *b);
    b->alloc = alloc;
    b->options = own;
    b->open_inlines.alloc = b->built.alloc = alloc;
    csni_arena_init(&b->arena, alloc, 4096);
    const void *uuid = own.uuid_size ? csni_arena_copy(&b->arena, own.uuid, own.uuid_size) : NULL;
    if (own.uuid_size && !uuid) {
        csn_builder_destroy(b);
        return csni_fail_memory(err, own.uuid_size);
    }
    b->uuid = uuid;
    csni_batch_writer_init(&b->writer, alloc);
    csni_model_init(&b->model, alloc);
    csni_batch_begin(&b->writer, &b->arena);
    *out = b;
    return CSN_OK;
}

void csn_builder_destroy(struct csn_builder *b) {
    if (!b) return;
    csni_model_deinit(&b->model);
    csni_batch_writer_deinit(&b->writer);
    csni_arena_deinit(&b->arena);
    csni_vec_deinit(&b->open_inlines);
    csni_vec_deinit(&b->built);
    csni_free(b->alloc, b->slots, b->slot_count * sizeof *b->slots);
    csni_free(b->alloc, b, sizeof *b);
}

/* ---- checks ---- */

static csn_status check_open(const struct csn_builder *b, bool needs_function, struct csn_error *err) {
    if (b->finished) return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "the index is saved, nothing more can be added");
    if (b->writer.failed) return csni_fail_memory(err, 0);
    if (needs_function && !b->in_function)
        return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "begin a function first");
    return CSN_OK;
}

static csn_status check_file(const struct csn_builder *b, uint32_t file, struct csn_error *err) {
    if (file < b->writer.files.count) return CSN_OK;
    return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "file %u does not exist, files 0 to %zu do", file,
                     b->writer.files.count - 1);
}

static const struct csni_function *current_function(const struct csn_builder *b) {
    return &b->writer.functions.items[b->writer.functions.count - 1];
}

static csn_status check_built_string(struct csn_str s, struct csn_error *err) {
    if (!s.len || !memchr(s.ptr, 0, s.len)) return CSN_OK;
    return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "a string of %zu bytes has a NUL within", s.len);
}

/* Something may have been added by half: nothing more is accepted. */
static csn_status out_of_memory(struct csn_builder *b, size_t size, struct csn_error *err) {
    b->writer.failed = true;
    return csni_fail_memory(err, size);
}

static csn_status keep_string(struct csn_builder *b, struct csn_str s, uint32_t *out, struct csn_error *err) {
    *out = 0;
    if (!s.len) return CSN_OK;
    CSNI_TRY(check_built_string(s, err));
    const char *copy = csni_arena_copy(&b->arena, s.ptr, s.len);
    if (!copy) return out_of_memory(b, s.len, err);
    *out = csni_batch_add_string(&b->writer, (struct csn_str){ copy, s.len });
    return b->writer.failed ? csni_fail_memory(err, s.len) : CSN_OK;
}

/* ---- adding ---- */

csn_status csn_builder_add_file(struct csn_builder *b, struct csn_str directory, struct csn_str base, uint32_t *out_file,
                                struct csn_error *err) {
    uint32_t directory_string, base_string;
    CSNI_TRY(check_open(b, false, err));
    CSNI_TRY(keep_string(b, directory, &directory_string, err));
    CSNI_TRY(keep_string(b, base, &base_string, err));
    uint32_t file = csni_batch_add_file(&b->writer, directory_string, base_string);
    if (b->writer.failed) return csni_fail_memory(err, sizeof(struct csni_file));
    *out_file = file;
    return CSN_OK;
}

csn_status csn_builder_begin_function(struct csn_builder *b, uint64_t start, uint64_t size, struct csn_str name,
                                      struct csn_error *err) {
    uint32_t string;
    CSNI_TRY(check_open(b, false, err));
    if (b->open_inlines.count)
        return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "%zu inlined calls are still open", b->open_inlines.count);
    if (!name.len) return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "the function at 0x%llx has no name",
                                    (unsigned long long)start);
    /* No format has offsets below its base: GSYM's would wrap around, Breakpad's are not written. */
    if (b->options.has_base_address && start < b->options.base_address)
        return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "the function at 0x%llx is below the base address 0x%llx",
                         (unsigned long long)start, (unsigned long long)b->options.base_address);
    if (size <= UINT32_MAX && start > UINT64_MAX - size)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "the function at 0x%llx has 0x%llx bytes, it would end past the last address",
                         (unsigned long long)start, (unsigned long long)size);
    if (size > UINT32_MAX)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "the function at 0x%llx has 0x%llx bytes, at most 0x%x are possible",
                         (unsigned long long)start, (unsigned long long)size, UINT32_MAX);
    csni_builder_compact(b);
    CSNI_TRY(keep_string(b, name, &string, err));
    csni_batch_begin_function(&b->writer, start, (uint32_t)size, string, CSNI_SOURCE_BUILDER);
    if (!b->writer.failed && !csni_builder_note_function(b)) return out_of_memory(b, sizeof(struct csni_function), err);
    b->in_function = true;
    b->last_row = start;
    return b->writer.failed ? csni_fail_memory(err, sizeof(struct csni_function)) : CSN_OK;
}

csn_status csn_builder_add_row(struct csn_builder *b, uint64_t addr, uint32_t file, uint32_t line, struct csn_error *err) {
    CSNI_TRY(check_open(b, true, err));
    CSNI_TRY(check_file(b, file, err));
    const struct csni_function *f = current_function(b);
    if (addr < b->last_row || addr - f->start >= f->size)
        return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "row at 0x%llx, need one in [0x%llx, 0x%llx)",
                         (unsigned long long)addr, (unsigned long long)b->last_row,
                         (unsigned long long)(f->start + f->size));
    csni_batch_add_row(&b->writer, (uint32_t)(addr - f->start), file, line);
    b->last_row = addr;
    return b->writer.failed ? csni_fail_memory(err, sizeof(struct csni_row)) : CSN_OK;
}

/* Whether the part lies within the function or within one part of the inlined call that is open. */
static bool within_parent(const struct csn_builder *b, struct csni_part part) {
    if (!b->open_inlines.count) return part.end <= current_function(b)->size;
    const struct csni_inline_node *parent =
        &b->writer.inlines.items[b->open_inlines.items[b->open_inlines.count - 1]];
    for (uint32_t i = 0; i < parent->part_count; i++) {
        const struct csni_part *p = &b->writer.parts.items[parent->first_part + i];
        if (p->start <= part.start && part.end <= p->end) return true;
    }
    return false;
}

/* Turns ranges into parts: ascending, joined where they touch, without empty ones. */
static csn_status make_built_parts(const struct csn_builder *b, const struct csn_range *ranges, size_t count,
                                   struct csni_part *parts, size_t *out_count, struct csn_error *err) {
    const struct csni_function *f = current_function(b);
    for (size_t i = 0; i < count; i++) {
        struct csn_range r = ranges[i];
        struct csni_part part = { (uint32_t)(r.start - f->start), (uint32_t)(r.end - f->start) };
        if (r.start >= r.end || r.start < f->start || r.end - f->start > f->size || !within_parent(b, part))
            return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "the inlined range [0x%llx, 0x%llx) is not within its parent",
                             (unsigned long long)r.start, (unsigned long long)r.end);
        parts[i] = part;
    }
    *out_count = csni_join_ranges(parts, count, start, end);
    return CSN_OK;
}

csn_status csn_builder_begin_inline(struct csn_builder *b, const struct csn_range *ranges, size_t range_count,
                                    struct csn_str name, uint32_t call_file, uint32_t call_line, struct csn_error *err) {
    uint32_t string;
    CSNI_TRY(check_open(b, true, err));
    CSNI_TRY(check_file(b, call_file, err));
    if (!range_count) return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "an inlined call needs at least one range");
    if (b->open_inlines.count + 1 >= CSN_INLINE_DEPTH_MAX)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "inlined calls nest deeper than %d", CSN_INLINE_DEPTH_MAX);
    struct csni_part *parts = csni_alloc_zeroed(b->alloc, range_count, sizeof *parts);
    if (!parts) return out_of_memory(b, range_count * sizeof *parts, err);
    size_t count = 0;
    csn_status status = make_built_parts(b, ranges, range_count, parts, &count, err);
    if (status >= 0) status = keep_string(b, name, &string, err);
    if (status >= 0) {
        uint32_t node = csni_batch_begin_inline(&b->writer, string, call_file, call_line);
        for (size_t i = 0; i < count; i++) csni_batch_add_part(&b->writer, parts[i].start, parts[i].end);
        if (b->writer.failed || !csni_vec_push(&b->open_inlines, node)) status = out_of_memory(b, sizeof node, err);
    }
    csni_free(b->alloc, parts, range_count * sizeof *parts);
    return status;
}

csn_status csn_builder_end_inline(struct csn_builder *b, struct csn_error *err) {
    CSNI_TRY(check_open(b, true, err));
    if (!b->open_inlines.count) return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "no inlined call is open");
    csni_batch_end_inline(&b->writer, b->open_inlines.items[--b->open_inlines.count]);
    return CSN_OK;
}

csn_status csn_builder_add_call_site(struct csn_builder *b, uint64_t return_offset, uint32_t flags,
                                     const struct csn_str *patterns, size_t pattern_count, struct csn_error *err) {
    CSNI_TRY(check_open(b, true, err));
    if (flags & ~(uint32_t)(CSN_CALL_SITE_INTERNAL | CSN_CALL_SITE_EXTERNAL))
        return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "unknown call-site flags 0x%x", flags);
    for (size_t i = 0; i < pattern_count; i++) CSNI_TRY(check_built_string(patterns[i], err));
    csni_batch_add_call_site(&b->writer, return_offset, flags);
    for (size_t i = 0; i < pattern_count; i++) {
        uint32_t string;
        CSNI_TRY(keep_string(b, patterns[i], &string, err));
        csni_batch_add_pattern(&b->writer, string);
    }
    return b->writer.failed ? csni_fail_memory(err, sizeof(struct csni_call_site)) : CSN_OK;
}

/* ---- saving ---- */

/* A linked model of what has been added and not removed, in memory of `arena`; the writer stays as it is. */
static csn_status make_model(struct csn_builder *b, struct csni_arena *arena, struct csni_batch *batch, struct csni_model *model,
                             struct csn_convert_report *report, struct csn_error *err) {
    CSNI_TRY(check_open(b, false, err));
    if (b->open_inlines.count)
        return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "%zu inlined calls are still open", b->open_inlines.count);
    b->writer.arena = arena;
    csn_status status = csni_batch_finish(&b->writer, batch, err);
    b->writer.arena = &b->arena;
    if (status < 0) return status;
    csni_builder_drop_removed(b, batch);
    model->batches = batch;
    model->batch_count = 1;
    model->image.base_address = b->options.base_address;
    model->image.has_base_address = b->options.has_base_address;
    model->image.big_endian = b->options.big_endian;
    model->image.uuid = (struct csni_span){ b->uuid, b->options.uuid_size };
    CSNI_TRY(csni_model_finalize(model, NULL, report, err));
    return csni_model_link(model, NULL, arena, err);
}

static csn_status finish_model(struct csn_builder *b, struct csn_convert_report *report, struct csn_error *err) {
    if (b->finished) return CSN_OK;
    csni_model_deinit(&b->model); /* of an attempt that ran out of memory */
    csni_model_init(&b->model, b->alloc);
    CSNI_TRY(make_model(b, &b->arena, &b->batch, &b->model, report, err));
    b->finished = true;
    return CSN_OK;
}

static csn_status write_model(const struct csn_builder *b, const struct csni_model *model, const struct csni_sink *sink,
                              struct csn_convert_report *report, struct csn_error *err) {
    struct csni_convert_options options;
    CSNI_TRY(csni_convert_options_copy(NULL, &options, err));
    options.common.format = b->options.format;
    return csni_output_of(b->options.format)->write(model, &options.common, NULL, sink, report, err);
}

static csn_status save(struct csn_builder *b, const struct csni_sink *sink, struct csn_error *err) {
    struct csn_convert_report *report = csni_alloc_zeroed(b->alloc, 1, sizeof *report);
    if (!report) return csni_fail_memory(err, sizeof *report);
    csn_status status = finish_model(b, report, err);
    if (status >= 0) status = write_model(b, &b->model, sink, report, err);
    csni_free(b->alloc, report, sizeof *report);
    return status;
}

/* As save(), with memory that is given back: the builder goes on. */
static csn_status save_snapshot(struct csn_builder *b, const struct csni_sink *sink, struct csn_error *err) {
    struct csn_convert_report *report = csni_alloc_zeroed(b->alloc, 1, sizeof *report);
    if (!report) return csni_fail_memory(err, sizeof *report);
    struct csni_arena arena;
    struct csni_batch batch = { 0 };
    struct csni_model model;
    csni_arena_init(&arena, b->alloc, 1 << 16);
    csni_model_init(&model, b->alloc);
    csn_status status = make_model(b, &arena, &batch, &model, report, err);
    if (status >= 0) status = write_model(b, &model, sink, report, err);
    csni_model_deinit(&model);
    csni_arena_deinit(&arena);
    csni_free(b->alloc, report, sizeof *report);
    return status;
}

csn_status csn_builder_save_file(struct csn_builder *b, const char *path, struct csn_error *err) {
    struct csni_file_output out;
    CSNI_TRY(csni_file_output_open(&out, path, b->alloc, err));
    struct csni_sink sink = csni_file_sink(&out);
    csn_status status = save(b, &sink, err);
    if (status >= 0) status = csni_file_output_commit(&out, err);
    csni_file_output_abort(&out);
    return status;
}

typedef csn_status save_call(struct csn_builder *b, const struct csni_sink *sink, struct csn_error *err);

static csn_status to_memory(struct csn_builder *b, save_call *write, struct csn_bytes *out, struct csn_error *err) {
    struct csn_bytes result = { NULL, 0, b->alloc };
    struct csni_sink sink = csni_memory_sink(&result);
    csn_status status = write(b, &sink, err);
    if (status >= 0) *out = result;
    else csn_bytes_free(&result);
    return status;
}

csn_status csn_builder_save_memory(struct csn_builder *b, struct csn_bytes *out, struct csn_error *err) {
    return to_memory(b, save, out, err);
}

csn_status csn_builder_snapshot(struct csn_builder *b, struct csn_bytes *out, struct csn_error *err) {
    return to_memory(b, save_snapshot, out, err);
}
