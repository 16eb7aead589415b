/* A conversion from start to end: object -> sources -> model -> writer. */
#include <callsign/convert.h>

#include <stdlib.h>

#include "base/fail.h"
#include "base/file_map.h"
#include "base/options.h"
#include "convert/convert_output.h"
#include "convert/source.h"
#include "gsym/gsym_write.h"

static const uint64_t DEFAULT_MAX_DECOMPRESSED = (uint64_t)64 << 30;
enum { ARENA_CHUNK = 64 * 1024 };

/* ---- steps ---- */

static csn_status check_options(const struct csn_convert_options *given, struct csn_convert_options *out,
                                struct csn_error *err) {
    *out = (struct csn_convert_options)CSN_CONVERT_OPTIONS_INIT;
    if (!given) return CSN_OK;
    CSNI_TRY(csni_options_copy(out, sizeof *out, given, given->struct_size, err));
    uint32_t unknown = out->flags & ~(uint32_t)(CSN_CONVERT_STRICT | CSN_CONVERT_CALL_SITES);
    if (unknown) return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "unknown conversion flags 0x%x", unknown);
    return CSN_OK;
}

static csn_status make_workers(struct csni_conversion *c, struct csn_error *err) {
    CSNI_TRY(csni_pool_create(c->options.threads, c->alloc, &c->pool, err));
    c->workers = csni_pool_workers(c->pool);
    c->arenas = csni_alloc_zeroed(c->alloc, c->workers, sizeof *c->arenas);
    c->writers = csni_alloc_zeroed(c->alloc, c->workers, sizeof *c->writers);
    if (!c->arenas || !c->writers) return csni_fail_memory(err, c->workers * sizeof *c->writers);
    for (uint32_t i = 0; i < c->workers; i++) {
        csni_arena_init(&c->arenas[i], c->alloc, ARENA_CHUNK);
        csni_batch_writer_init(&c->writers[i], c->alloc);
    }
    return CSN_OK;
}

static int by_start(const void *pa, const void *pb) {
    const struct csni_text_range *a = pa, *b = pb;
    return a->start < b->start ? -1 : a->start > b->start;
}

/* Executable sections, of debug-only files too: those have no bytes but keep flags and sizes. */
static csn_status find_text(struct csni_conversion *c, struct csn_error *err) {
    c->text_room = c->object->section_count;
    c->text = csni_alloc_zeroed(c->alloc, c->text_room, sizeof *c->text);
    if (c->text_room && !c->text) return csni_fail_memory(err, c->text_room * sizeof *c->text);
    uint32_t count = 0;
    for (uint32_t i = 0; i < c->object->section_count; i++) {
        const struct csni_section *s = &c->object->sections[i];
        if (!(s->flags & CSNI_SECTION_EXEC) || !s->size || s->addr > UINT64_MAX - s->size) continue;
        c->text[count++] = (struct csni_text_range){ s->addr, s->addr + s->size };
    }
    if (count) qsort(c->text, count, sizeof *c->text, by_start);
    for (uint32_t i = 0; i < count; i++) {
        struct csni_text_range *last = c->text_count ? &c->text[c->text_count - 1] : NULL;
        if (!last || c->text[i].start > last->end) c->text[c->text_count++] = c->text[i];
        else if (c->text[i].end > last->end) last->end = c->text[i].end;
    }
    return CSN_OK;
}

/* Fails when something was lost and the caller asked for strictness. */
static csn_status check_strict(const struct csni_conversion *c, struct csn_error *err) {
    if (!(c->options.flags & CSN_CONVERT_STRICT)) return CSN_OK;
    for (uint32_t e = 0; e < CSN_EVENT_COUNT; e++) {
        const struct csn_event_count *event = &c->report->events[e];
        if (event->count && csn_event_get_class(e) == CSN_CLASS_DROPPED)
            return csni_fail(err, CSN_E_FORMAT, NULL, 0, "strict: %s, %llu times; first: %.120s", csn_event_name(e),
                             (unsigned long long)event->count, event->example);
    }
    return CSN_OK;
}

static void describe_image(const struct csni_conversion *c, struct csni_model *model) {
    model->batches = c->batches;
    model->batch_count = c->batch_count;
    model->base_address = c->object->image_base;
    model->has_base_address = c->object->has_image_base;
    model->big_endian = c->object->big_endian;
    model->uuid = c->object->build_id;
    model->text = c->text;
    model->text_count = c->text_count;
}

static csn_status write_model(struct csni_conversion *c, struct csni_model *model, const struct csni_sink *sink,
                              struct csn_error *err) {
    describe_image(c, model);
    csni_model_add_notes(model, c->report);
    CSNI_TRY(csni_model_finalize(model, c->report, err));
    CSNI_TRY(check_strict(c, err));
    CSNI_TRY(csni_model_link(model, c->pool, c->arenas, err));
    return csni_gsym_write_v1(model, c->pool, sink, c->report, err);
}

static csn_status convert_object(struct csni_conversion *c, const struct csni_sink *sink, struct csn_error *err) {
    CSNI_TRY(make_workers(c, err));
    CSNI_TRY(find_text(c, err));
    CSNI_TRY(csni_source_dwarf(c, err));
    CSNI_TRY(csni_source_symbols(c, err));
    c->report->inflated_bytes = csni_object_inflated_bytes(c->object);
    struct csni_model model;
    csni_model_init(&model, c->alloc);
    csn_status status = write_model(c, &model, sink, err);
    csni_model_deinit(&model);
    return status;
}

static void release(struct csni_conversion *c) {
    for (uint32_t i = 0; c->arenas && c->writers && i < c->workers; i++) {
        csni_batch_writer_deinit(&c->writers[i]);
        csni_arena_deinit(&c->arenas[i]);
    }
    csni_free(c->alloc, c->writers, c->workers * sizeof *c->writers);
    csni_free(c->alloc, c->arenas, c->workers * sizeof *c->arenas);
    csni_free(c->alloc, c->batches, c->batch_room * sizeof *c->batches);
    csni_free(c->alloc, c->text, c->text_room * sizeof *c->text);
    csni_pool_destroy(c->pool);
    csni_object_close(c->object);
    pthread_mutex_destroy(&c->progress_lock);
}

/* `options` have been checked. */
static csn_status convert_span(struct csni_span file, bool mapped, const struct csn_convert_options *options,
                               const struct csni_sink *sink, struct csn_convert_report *report, struct csn_error *err) {
    struct csni_conversion c = { .report = report, .options = *options };
    struct csn_convert_report unwanted;
    if (!report) c.report = &unwanted;
    *c.report = (struct csn_convert_report){ .input_bytes = file.size };
    c.alloc = csni_allocator_or_default(c.options.allocator);
    const struct csni_object_options object_options = {
        .allocator = c.alloc,
        .max_decompressed_bytes =
            c.options.max_decompressed_bytes ? c.options.max_decompressed_bytes : DEFAULT_MAX_DECOMPRESSED,
        .file_is_mapped = mapped,
    };
    CSNI_TRY(csni_object_open(file, &object_options, &c.object, err));
    pthread_mutex_init(&c.progress_lock, NULL);
    csn_status status = convert_object(&c, sink, err);
    release(&c);
    return status;
}

/* ---- public calls ---- */

csn_status csn_convert_file(const char *path, const char *out_path, const struct csn_convert_options *options,
                            struct csn_convert_report *report, struct csn_error *err) {
    struct csni_file_map map;
    struct csni_file_output out;
    struct csn_convert_options own;
    CSNI_TRY(check_options(options, &own, err));
    CSNI_TRY(csni_file_map_open(&map, path, err));
    csn_status status = csni_file_output_open(&out, out_path, csni_allocator_or_default(own.allocator), err);
    if (status >= 0) {
        struct csni_sink sink = csni_file_sink(&out);
        status = convert_span(map.bytes, true, &own, &sink, report, err);
        if (status >= 0) status = csni_file_output_commit(&out, err);
        csni_file_output_abort(&out);
    }
    csni_file_map_close(&map);
    return status;
}

static csn_status convert_to_memory(struct csni_span file, bool mapped, const struct csn_convert_options *options,
                                    struct csn_bytes *out, struct csn_convert_report *report, struct csn_error *err) {
    struct csn_bytes result = { NULL, 0, csni_allocator_or_default(options->allocator) };
    struct csni_sink sink = csni_memory_sink(&result);
    csn_status status = convert_span(file, mapped, options, &sink, report, err);
    if (status >= 0) *out = result;
    else csn_bytes_free(&result);
    return status;
}

csn_status csn_convert_memory(const void *bytes, size_t size, const struct csn_convert_options *options,
                              struct csn_bytes *out, struct csn_convert_report *report, struct csn_error *err) {
    struct csn_convert_options own;
    CSNI_TRY(check_options(options, &own, err));
    return convert_to_memory((struct csni_span){ bytes, size }, false, &own, out, report, err);
}

csn_status csn_convert_file_to_memory(const char *path, const struct csn_convert_options *options, struct csn_bytes *out,
                                      struct csn_convert_report *report, struct csn_error *err) {
    struct csni_file_map map;
    struct csn_convert_options own;
    CSNI_TRY(check_options(options, &own, err));
    CSNI_TRY(csni_file_map_open(&map, path, err));
    csn_status status = convert_to_memory(map.bytes, true, &own, out, report, err);
    csni_file_map_close(&map);
    return status;
}

bool csn_is_object(const void *bytes, size_t size) {
    return csni_object_recognize((struct csni_span){ bytes, size });
}
