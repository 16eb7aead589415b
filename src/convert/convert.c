/* A conversion from start to end: object -> sources -> model -> writer. */
#include <callsign/convert.h>

#include <stdio.h>
#include <string.h>

#include "base/core/fail.h"
#include "base/core/image_base.h"
#include "base/file_output.h"
#include "base/sink.h"
#include "formats/bsym/write/bsym_write.h"
#include "formats/gsym/read/gsym.h"
#include "convert/call_sites/finish_batches.h"
#include "convert/convert_options.h"
#include "convert/coverage.h"
#include "convert/sources/inputs.h"
#include "convert/outputs/outputs.h"
#include "convert/outputs/segments.h"
#include "convert/outputs/stack_records.h"
#include "convert/companions.h"
#include "convert/read_files.h"
#include "pdb/pdb.h"

enum { ARENA_CHUNK = 64 * 1024 };

/* ---- steps ---- */

static csn_status check_options(const struct csn_convert_options *given, struct csni_convert_options *own,
                                struct csn_error *err) {
    CSNI_TRY(csni_convert_options_copy(given, own, err));
    const struct csn_convert_options *out = &own->common;
    const uint32_t known = CSN_CONVERT_STRICT | CSN_CONVERT_CALL_SITES | CSN_CONVERT_LLVM_PATTERNS |
                           CSN_CONVERT_COVERAGE | CSN_CONVERT_NAME_TABLE | CSN_CONVERT_ACCELERATE | CSN_CONVERT_REMOTE_LAYOUT;
    if (out->flags & ~known)
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "unknown conversion flags 0x%x", out->flags & ~known);
    if (out->rename && ((out->flags & CSN_CONVERT_CALL_SITES) || out->call_site_file_count))
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "names cannot be changed where call sites are kept: the patterns of "
                         "these are made for the names of the input");
    if ((out->flags & CSN_CONVERT_NAME_TABLE) && (!csni_is_gsym(out->format) || own->gsym.segment_size))
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "a name table goes with GSYM in one file");
    if (out->flags & CSN_CONVERT_REMOTE_LAYOUT) own->common.flags |= CSN_CONVERT_ACCELERATE;
    if ((out->flags & CSN_CONVERT_ACCELERATE) && (!csni_is_gsym(out->format) || own->gsym.segment_size))
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "an accelerator goes with GSYM in one file");
    if (!csni_output_of(out->format))
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "output format %u is not known", out->format);
    if (out->byte_order > CSN_BYTE_ORDER_BIG)
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "byte order %u is not known, need <= %d", out->byte_order,
                         CSN_BYTE_ORDER_BIG);
    if (out->merged_functions > CSN_MERGE_LLVM)
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "merged_functions is %u, need <= %d", out->merged_functions,
                         CSN_MERGE_LLVM);
    uint32_t version = own->bsym.version;
    if (version && !csni_bsym_is_written(version))
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "version %u.%u of BSYM is not known", version >> 16, version & 0xffff);
    if (own->bsym.tokens > CSN_BSYM_TOKENS_NONE)
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "token table %u is not known", own->bsym.tokens);
    return CSN_OK;
}

static csn_status make_workers(struct csni_conversion *c, struct csn_error *err) {
    CSNI_TRY(csni_pool_create(c->options.threads, c->alloc, &c->pool, err));
    c->workers = csni_pool_workers(c->pool);
    c->arenas = csni_alloc_zeroed(c->alloc, c->workers + 1, sizeof *c->arenas);
    c->writers = csni_alloc_zeroed(c->alloc, c->workers + 1, sizeof *c->writers);
    if (!c->arenas || !c->writers) return csni_fail_memory(err, (c->workers + 1) * sizeof *c->writers);
    for (uint32_t i = 0; i <= c->workers; i++) {
        csni_arena_init(&c->arenas[i], c->alloc, ARENA_CHUNK);
        csni_batch_writer_init(&c->writers[i], c->alloc);
    }
    return csni_coverage_create(c, err);
}

static void stop_hashing(struct csni_conversion *c) {
    if (!c->early_hashes.batches) return;
    atomic_store(&c->early_hashes.stop, true);
    (void)csni_pool_join(c->pool, NULL);
}

static struct csn_str file_name(const char *path) {
    const char *slash = path ? strrchr(path, '/') : NULL;
    return csni_str(slash ? slash + 1 : path ? path : "");
}

static void fill_model(const struct csni_conversion *c, struct csni_model *model) {
    model->merge = c->options.merged_functions;
    model->batches = c->batches;
    model->batch_count = c->batch_count;
    model->image = c->image;
    if (c->options.byte_order) model->image.big_endian = c->options.byte_order == CSN_BYTE_ORDER_BIG;
    model->object = c->object;
    model->other_object = c->debug ? c->debug : c->stripped;
    model->stacks = c->stacks;
    model->hashed = &c->early_hashes;
    model->rename = c->options.rename;
    model->rename_context = c->options.rename_context;
}

/* A format that holds names alone has no use for them. */
static csn_status make_room_for_claims(struct csni_conversion *c, const struct csni_output *output, struct csn_error *err) {
    if (output->holds_binaries) c->claims_rows = false;
    if (c->claims_rows && !csni_add_batches(c, 1)) return csni_fail_memory(err, sizeof *c->batches);
    return CSN_OK;
}

/* Addresses of what is not linked, and of WebAssembly, count from 0, and an index has to say so: Breakpad's addresses and a
 * stack's MODULE+0xOFFSET count from its base address. A list of symbols does not tell, but no image is linked below 64 KiB. */
static void settle_base(struct csni_model *model) {
    const struct csni_object *object = model->object;
    if (model->image.has_base_address || !model->entry_count) return;
    bool is_from_0 = object && (object->kind == CSNI_OBJECT_RELOCATABLE || object->container == CSNI_CONTAINER_WASM);
    model->image.has_base_address =
        csni_model_function(model, &model->entries[0])->start <= (is_from_0 ? UINT32_MAX : CSNI_LOWEST_IMAGE - 1);
}

static csn_status write_whole_model(struct csni_conversion *c, struct csni_model *model, const struct csni_sink *sink,
                                    struct csn_error *err) {
    const struct csni_output *output = csni_output_of(c->options.format);
    CSNI_TRY(make_room_for_claims(c, output, err));
    fill_model(c, model);
    size_t uuid = c->image.uuid.size < sizeof c->report->uuid ? c->image.uuid.size : sizeof c->report->uuid;
    c->report->uuid_size = (uint32_t)uuid;
    if (uuid) memcpy(c->report->uuid, c->image.uuid.ptr, uuid);
    model->keeps_aliases = output->holds_binaries;
    model->takes_last = output->takes_last;
    csni_model_add_notes(model, c->report);
    if (!output->holds_binaries) csni_model_flatten(model, c->report);
    CSNI_TRY(csni_model_finalize(model, c->pool, c->report, err));
    if (c->claims_rows) CSNI_TRY(csni_model_claim_rows(model, &c->arenas[0], c->report, err));
    settle_base(model);
    CSNI_TRY(csni_coverage_report(c, model, err));
    csni_report_add(c->report, CSN_EVENT_DUPLICATE_DROPPED, c->symbols_left_out, csni_str(""));
    c->report->functions_pruned += c->symbols_left_out;
    csni_report_unrepresentable(model, c->options.format, c->report);
    CSNI_TRY(csni_check_strict(c, err));
    stop_hashing(c);
    CSNI_TRY(csni_model_link(model, c->pool, c->arenas, err));
    if (c->segments_path) return csni_write_segments(c, model, c->segments_path, err);
    CSNI_TRY(output->write(model, &c->options, c->pool, sink, c->report, err));
    return csni_check_strict(c, err); /* what the format cannot hold */
}

static csn_status fail_unknown_kind(struct csni_span file, struct csn_error *err) {
    const char *what = csni_unread_kind_of(file);
    if (what) return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "%s", what);
    return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, file.size ? "neither an index nor an object file" : "the file is empty");
}

/* No function at all: the debug file that was not found would have had them. */
static void explain_emptiness(const struct csni_conversion *c, struct csn_error *err) {
    const char *missing = c->report->events[CSN_EVENT_MISSING_DEBUG_FILE].example;
    if (err && *missing) csni_fail(err, CSN_E_NOT_FOUND, NULL, 0, "%s (%s)", csn_error_text(err), missing);
}

static csn_status convert_whole_input(struct csni_conversion *c, const struct csni_sink *sink, struct csn_error *err) {
    const struct csni_input_kind *kind = csni_input_kind_of(c->input.file);
    if (!kind) return fail_unknown_kind(c->input.file, err);
    CSNI_TRY(make_workers(c, err));
    CSNI_TRY(kind->read(c, err));
    CSNI_TRY(csni_finish_batches(c, err));
    struct csni_model model;
    csni_model_init(&model, c->alloc);
    csn_status status = write_whole_model(c, &model, sink, err);
    if (status == CSN_E_NOT_FOUND) explain_emptiness(c, err);
    csni_model_deinit(&model);
    return status;
}

/* All but the threads. */
static void release_content(struct csni_conversion *c) {
    csni_stack_records_destroy(c->stacks);
    for (uint32_t i = 0; c->arenas && c->writers && i <= c->workers; i++) {
        csni_batch_writer_deinit(&c->writers[i]);
        csni_arena_deinit(&c->arenas[i]);
    }
    csni_coverage_destroy(c);
    csni_free(c->alloc, c->writers, (c->workers + 1) * sizeof *c->writers);
    csni_free(c->alloc, c->arenas, (c->workers + 1) * sizeof *c->arenas);
    csni_free(c->alloc, c->batches, c->batch_capacity * sizeof *c->batches);
    csni_vec_deinit(&c->image.text);
    csni_vec_deinit(&c->image.bounds);
    csni_vec_deinit(&c->image.extras);
    csni_vec_deinit(&c->image.members);
    csni_object_close(c->object);
    for (size_t i = 0; i < c->members.count; i++) csni_object_close(c->members.items[i]);
    csni_vec_deinit(&c->members);
    csni_vec_deinit(&c->read_files);
    csni_pdb_close(c->pdb);
    csni_companions_release(c);
}

static csn_status release_in_background(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    (void)worker;
    (void)item;
    (void)err;
    release_content(context);
    return CSN_OK;
}

/* Disks are slow to take a file, and kernels to take memory back: one waits for the former while another does the latter.
 * `file` NULL: nothing to commit. */
static csn_status commit_and_release(struct csni_conversion *c, struct csni_file_output *file, struct csn_error *err) {
    csn_status status = CSN_OK;
    stop_hashing(c); /* of a conversion that failed */
    csni_stack_records_join(c->stacks);
    if (file && c->pool) {
        csni_pool_start(c->pool, release_in_background, c);
        status = csni_file_output_commit(file, err);
        (void)csni_pool_join(c->pool, NULL);
    } else {
        release_content(c);
    }
    csni_pool_destroy(c->pool);
    pthread_mutex_destroy(&c->lock);
    return status;
}

/* Where the output goes: one of the first two. */
struct destination {
    const struct csni_sink *sink;
    const char *segments_path;
    struct csni_file_output *file; /* to commit in the end, where `sink` writes to one; NULL: none */
    const char *file_path;         /* of that, as it was given */
};

/* A program replaced by its index would be gone. A whole index that takes the place of an index loses nothing: it may be rewritten
 * where it is. */
static bool may_replace_input(const struct csni_conversion *c, const struct destination *to) {
    return to->file && csni_is_gsym(c->options.format) && csni_gsym_recognize(c->input.file);
}

/* The names of call-site files are for messages, and those of the caller's files. */
static csn_status note_given_files(struct csni_conversion *c, const struct destination *to, struct csn_error *err) {
    if (!may_replace_input(c, to)) CSNI_TRY(csni_note_read_file(c, c->input.path, err));
    for (size_t i = 0; i < c->options.call_site_file_count; i++)
        CSNI_TRY(csni_note_read_file(c, c->options.call_site_files[i].name, err));
    /* Said before minutes of work where the name of the output is known. */
    return to->file ? csni_check_not_read(c, to->file_path, err) : CSN_OK;
}

/* `options` have been checked. */
static csn_status run_conversion(const struct csni_input *input, const struct csn_convert_options *options,
                                 const struct destination *to, struct csn_convert_report *report,
                                 struct csn_error *err) {
    struct csni_conversion c = { .report = report, .options = *options, .input = *input,
                                 .segments_path = to->segments_path };
    csni_shared_budget_init(&c.budget, CSNI_BUDGET_BASE);
    struct csn_convert_report unwanted;
    if (!report) c.report = &unwanted;
    *c.report = (struct csn_convert_report){ .input_bytes = input->file.size };
    c.alloc = c.companions.alloc = csni_allocator_or_default(c.options.allocator);
    c.image.text.alloc = c.image.bounds.alloc = c.image.extras.alloc = c.image.members.alloc = c.members.alloc = c.alloc;
    c.read_files.alloc = c.alloc;
    c.image.file_name = file_name(input->path);
    pthread_mutex_init(&c.lock, NULL);
    csn_status status = note_given_files(&c, to, err);
    if (status >= 0) status = convert_whole_input(&c, to->sink, err);
    if (status >= 0 && to->file) status = csni_check_not_read(&c, to->file_path, err);
    csn_status committed = commit_and_release(&c, status < 0 ? NULL : to->file, err);
    return status < 0 ? status : committed < 0 ? committed : status;
}

/* ---- public calls ---- */

/* The input of a call that names a path: the file that the caller opened, or the one at the path. */
struct opened_input {
    struct csni_input input;
    struct csni_input_file file; /* all zeros: it is the caller's */
};

static csn_status open_whole_input(const char *path, const struct csn_convert_options *options,
                                   struct opened_input *out,
                                   struct csn_error *err) {
    *out = (struct opened_input){ .input = { path, { NULL, 0 }, true } };
    if (options->input) {
        out->input.file = (struct csni_span){ csn_file_bytes(options->input), csn_file_size(options->input) };
        return CSN_OK;
    }
    CSNI_TRY(csni_input_file_open(&out->file, path, csni_allocator_or_default(options->allocator), err));
    out->input.path = out->file.path;
    out->input.file = out->file.map.bytes;
    return CSN_OK;
}

static void close_input(struct opened_input *opened, const struct csn_convert_options *options) {
    if (!options->input) csni_input_file_close(&opened->file);
}

static csn_status convert_to_file(const struct csni_input *input, const struct csn_convert_options *options,
                                  const char *out_path, struct csn_convert_report *report, struct csn_error *err) {
    struct csni_file_output out;
    CSNI_TRY(csni_file_output_open(&out, out_path, csni_allocator_or_default(options->allocator), err));
    struct csni_sink sink = csni_file_sink(&out);
    const struct destination to = { .sink = &sink, .file = &out, .file_path = out_path };
    csn_status status = run_conversion(input, options, &to, report, err);
    csni_file_output_abort(&out);
    return status;
}

csn_status csn_convert_file(const char *path, const char *out_path, const struct csn_convert_options *options,
                            struct csn_convert_report *report, struct csn_error *err) {
    struct opened_input opened;
    struct csni_convert_options own;
    CSNI_TRY(check_options(options, &own, err));
    CSNI_TRY(open_whole_input(path, &own.common, &opened, err));
    const struct destination segments = { .segments_path = out_path };
    bool has_segments = own.gsym.segment_size && csni_is_gsym(own.common.format);
    csn_status status = has_segments ? run_conversion(&opened.input, &own.common, &segments, report, err)
                                     : convert_to_file(&opened.input, &own.common, out_path, report, err);
    close_input(&opened, &own.common);
    return status;
}

static csn_status convert_to_memory(const struct csni_input *input, const struct csn_convert_options *options,
                                    struct csn_bytes *out, struct csn_convert_report *report, struct csn_error *err) {
    struct csn_bytes result = { NULL, 0, csni_allocator_or_default(options->allocator) };
    if (options->gsym->segment_size && csni_is_gsym(options->format))
        return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "segments are written to files only, the segment size is %llu",
                         (unsigned long long)options->gsym->segment_size);
    struct csni_sink sink = csni_memory_sink(&result);
    const struct destination to = { .sink = &sink };
    csn_status status = run_conversion(input, options, &to, report, err);
    if (status >= 0) *out = result;
    else csn_bytes_free(&result);
    return status;
}

csn_status csn_convert_memory(const void *bytes, size_t size, const struct csn_convert_options *options,
                              struct csn_bytes *out, struct csn_convert_report *report, struct csn_error *err) {
    struct csni_convert_options own;
    CSNI_TRY(check_options(options, &own, err));
    const struct csni_input input = { NULL, { bytes, size }, false };
    return convert_to_memory(&input, &own.common, out, report, err);
}

csn_status csn_convert_file_to_memory(const char *path, const struct csn_convert_options *options, struct csn_bytes *out,
                                      struct csn_convert_report *report, struct csn_error *err) {
    struct opened_input opened;
    struct csni_convert_options own;
    CSNI_TRY(check_options(options, &own, err));
    CSNI_TRY(open_whole_input(path, &own.common, &opened, err));
    csn_status status = convert_to_memory(&opened.input, &own.common, out, report, err);
    close_input(&opened, &own.common);
    return status;
}

bool csn_is_input(const void *bytes, size_t size) {
    return csni_input_kind_of((struct csni_span){ bytes, size }) != NULL;
}

/* Of a thin file; what cannot be opened tells none. */
static void take_arch(struct csni_span file, char *out, size_t size) {
    struct csni_object_options options = { 0 };
    struct csni_object *object;
    if (!csni_object_recognize(file) || csni_object_open(file, &options, &object, NULL) < 0) return;
    snprintf(out, size, "%s", object->arch);
    csni_object_close(object);
}

csn_status csn_image_list_memory(const void *bytes, size_t size, struct csn_image_info *out, size_t capacity,
                                 size_t *count, struct csn_error *err) {
    const struct csn_allocator *alloc = csni_allocator_or_default(NULL);
    struct csni_slice *slices;
    uint32_t found;
    CSNI_TRY(csni_object_slices((struct csni_span){ bytes, size }, alloc, &slices, &found, err));
    for (uint32_t i = 0; i < found && i < capacity; i++) {
        memcpy(out[i].arch, slices[i].arch, sizeof out[i].arch);
        out[i].offset = (uint64_t)(slices[i].file.ptr - (const uint8_t *)bytes);
        out[i].size = slices[i].file.size;
    }
    if (found == 1 && capacity && !out[0].arch[0]) take_arch(slices[0].file, out[0].arch, sizeof out[0].arch);
    *count = found;
    csni_free(alloc, slices, found * sizeof *slices);
    return CSN_OK;
}

csn_status csn_image_list_file(const char *path, struct csn_image_info *out, size_t capacity, size_t *count,
                               struct csn_error *err) {
    const struct csn_allocator *alloc = csni_allocator_or_default(NULL);
    struct csni_input_file file;
    CSNI_TRY(csni_input_file_open(&file, path, alloc, err));
    csn_status status = csn_image_list_memory(file.map.bytes.ptr, file.map.bytes.size, out, capacity, count, err);
    csni_input_file_close(&file);
    return status;
}
