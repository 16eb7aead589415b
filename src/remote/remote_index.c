/* The calls of an index over a remote file: each runs the format's own call, and again after what it missed has arrived. */
#include "remote/remote_index.h"

#include "base/core/alloc.h"
#include "remote/remote_http.h"
#include "remote/remote_plan.h"

static struct csni_remote *remote_of(const struct csn_index *index) { return index->remote; }

/* ---- running a call ---- */

/* A call of the inner index with its arguments. */
typedef csn_status inner_call(const struct csn_index *inner, void *args, struct csn_error *err);

/* Wants what lies in the file; strings may also be in a scratch buffer. */
static bool want_bytes(struct csni_remote_file *file, const void *ptr, size_t size) {
    uintptr_t at = (uintptr_t)ptr, begin = (uintptr_t)file->bytes.ptr;
    return size && at >= begin && at - begin < file->bytes.size && csni_remote_file_want(file, at - begin, size);
}

/* With the NUL: if that is missing, so may be the rest of the string. Of one that is missing the length is not known yet: most are
 * shorter than NAME_GUESS. */
static bool want_string(struct csni_remote_file *file, struct csn_str text) {
    enum { NAME_GUESS = 512 };
    if (!text.ptr || !want_bytes(file, text.ptr, text.len + 1)) return false;
    if (!text.len) want_bytes(file, text.ptr, NAME_GUESS);
    return true;
}

static bool want_frame(struct csni_remote_file *file, const struct csn_frame *frame) {
    bool name = want_string(file, frame->name), directory = want_string(file, frame->directory);
    return want_string(file, frame->base) | name | directory;
}

static csn_status run_in_turn(struct csni_remote *remote, inner_call *call, void *args, struct csn_error *err) {
    for (;;) {
        csn_status status = call(remote->inner, args, err);
        if (!csni_remote_file_want_touched(&remote->file)) return status;
        CSNI_TRY(csni_remote_file_fetch(&remote->file, err));
    }
}

static csn_status run(const struct csn_index *index, inner_call *call, void *args, struct csn_error *err) {
    struct csni_remote *remote = remote_of(index);
    pthread_mutex_lock(&remote->turn);
    csn_status status = run_in_turn(remote, call, args, err);
    pthread_mutex_unlock(&remote->turn);
    return status;
}

/* For a call that reads everything anyway. */
static csn_status fetch_all(const struct csn_index *index, struct csn_error *err) {
    struct csni_remote *remote = remote_of(index);
    pthread_mutex_lock(&remote->turn);
    csn_status status = CSN_OK;
    if (csni_remote_file_want(&remote->file, 0, remote->file.bytes.size)) status = csni_remote_file_fetch(&remote->file, err);
    pthread_mutex_unlock(&remote->turn);
    return status;
}

/* ---- strings ---- */

/* A name that came with its block is not read from the table. */
static void resolve_near(const struct csni_remote *remote, const struct csn_frame_ref *ref, struct csn_frame *out) {
    struct csn_frame_ref plain = *ref;
    struct csn_str name;
    bool is_near = csni_remote_names_find(&remote->names, ref->name, &name);
    if (is_near) plain.name = 0;
    remote->inner->format->resolve(remote->inner, &plain, out);
    if (is_near) out->name = name;
}

static bool want_name(struct csni_remote *remote, uint64_t offset) {
    struct csn_str name;
    if (csni_remote_names_find(&remote->names, offset, &name)) return false;
    return want_string(&remote->file, remote->inner->format->string(remote->inner, offset));
}

/* Only what it names is looked at, not all pages, since it is called for each frame. */
static csn_status resolve_in_turn(struct csni_remote *remote, const struct csn_frame_ref *ref, void *scratch, size_t size,
                                  struct csn_frame *out, size_t *need) {
    const struct csn_index *inner = remote->inner;
    if (inner->format->resolve_into) {
        do {
            *need = inner->format->resolve_into(inner, ref, scratch, size, out);
            bool wants_pages = csni_remote_file_want_touched(&remote->file);
            if (!want_frame(&remote->file, out) && !wants_pages) return CSN_OK;
        } while (csni_remote_file_fetch(&remote->file, NULL) >= 0);
        return CSN_E_IO;
    }
    *need = 0;
    if (csni_remote_want_file_entry(remote, ref->file)) CSNI_TRY(csni_remote_file_fetch(&remote->file, NULL));
    for (;;) {
        resolve_near(remote, ref, out);
        if (!want_frame(&remote->file, out)) return CSN_OK;
        CSNI_TRY(csni_remote_file_fetch(&remote->file, NULL));
    }
}

static size_t resolve_into_remote(const struct csn_index *index, const struct csn_frame_ref *ref, void *scratch, size_t size,
                                  struct csn_frame *out) {
    struct csni_remote *remote = remote_of(index);
    static const struct csn_str none = { "", 0 };
    size_t need = 0;
    pthread_mutex_lock(&remote->turn);
    if (resolve_in_turn(remote, ref, scratch, size, out, &need) < 0) {
        *out = (struct csn_frame){ none, none, none, ref->offset, ref->line, ref->flags, ref->reason, 0 };
        need = 0;
    }
    pthread_mutex_unlock(&remote->turn);
    return need;
}

static void resolve_remote(const struct csn_index *index, const struct csn_frame_ref *ref, struct csn_frame *out) {
    resolve_into_remote(index, ref, NULL, 0, out);
}

static struct csn_str get_remote_string(const struct csn_index *index, uint64_t offset) {
    struct csni_remote *remote = remote_of(index);
    pthread_mutex_lock(&remote->turn);
    struct csn_str text = remote->inner->format->string(remote->inner, offset);
    while (want_string(&remote->file, text)) {
        text = (struct csn_str){ "", 0 };
        if (csni_remote_file_fetch(&remote->file, NULL) < 0) break;
        text = remote->inner->format->string(remote->inner, offset);
    }
    pthread_mutex_unlock(&remote->turn);
    return text;
}

/* ---- lookups ---- */

/* The strings of all frames at once, file entries first, so that their ranges are read together. */
static csn_status fetch_strings(struct csni_remote *remote, const struct csn_frame_ref *refs, size_t count, struct csn_error *err) {
    struct csni_remote_file *file = &remote->file;
    const struct csn_index *inner = remote->inner;
    for (;;) {
        bool is_missing = false;
        for (size_t i = 0; i < count; i++) {
            struct csn_frame frame;
            if (inner->format->resolve_into) inner->format->resolve_into(inner, &refs[i], NULL, 0, &frame);
            else if (csni_remote_want_file_entry(remote, refs[i].file)) is_missing |= want_name(remote, refs[i].name) | true;
            else resolve_near(remote, &refs[i], &frame), is_missing |= want_frame(file, &frame);
        }
        if (inner->format->resolve_into) is_missing = csni_remote_file_want_touched(file);
        if (!is_missing) return CSN_OK;
        CSNI_TRY(csni_remote_file_fetch(file, err));
    }
}

struct lookup_args {
    uint64_t addr;
    enum csn_lookup_mode mode;
    struct csn_frame_ref *frames;
    size_t cap;
    struct csn_lookup *out;
};

static csn_status call_lookup_refs(const struct csn_index *inner, void *context, struct csn_error *err) {
    struct lookup_args *args = context;
    return inner->format->lookup_refs(inner, args->addr, args->mode, args->frames, args->cap, args->out, err);
}

static csn_status look_up_in_turn(struct csni_remote *remote, struct lookup_args *args, struct csn_error *err) {
    CSNI_TRY(csni_remote_plan(remote, &args->addr, 1, args->mode, err));
    csn_status status = run_in_turn(remote, call_lookup_refs, args, err);
    csni_remote_end_plan(remote);
    if (status != CSN_OK) return status;
    size_t count = args->out->frame_count < args->cap ? args->out->frame_count : args->cap;
    CSNI_TRY(fetch_strings(remote, args->frames, count, err));
    return status;
}

static csn_status look_up_remote_refs(const struct csn_index *index, uint64_t addr, enum csn_lookup_mode mode,
                                      struct csn_frame_ref *frames, size_t cap, struct csn_lookup *out, struct csn_error *err) {
    struct csni_remote *remote = remote_of(index);
    struct lookup_args args = { addr, mode, frames, cap, out };
    pthread_mutex_lock(&remote->turn);
    csn_status status = look_up_in_turn(remote, &args, err);
    pthread_mutex_unlock(&remote->turn);
    return status;
}

struct frames_args {
    uint64_t addr;
    struct csn_frame *frames;
    size_t cap, *out_count;
    struct csni_remote *remote;
};

static csn_status call_lookup(const struct csn_index *inner, void *context, struct csn_error *err) {
    struct frames_args *args = context;
    csn_status status = inner->format->lookup(inner, args->addr, args->frames, args->cap, args->out_count, err);
    if (status != CSN_OK || csni_remote_file_want_touched(&args->remote->file)) return status;
    for (size_t i = 0; i < *args->out_count && i < args->cap; i++) {
        uint64_t offset = (uint64_t)((uintptr_t)args->frames[i].name.ptr - (uintptr_t)inner->gsym.strings.ptr);
        csni_remote_names_find(&args->remote->names, offset, &args->frames[i].name);
        want_frame(&args->remote->file, &args->frames[i]);
    }
    return status;
}

/* want_touched() does not see the strings that are wanted but not read. */
static csn_status look_up_frames_in_turn(struct csni_remote *remote, struct frames_args *args, struct csn_error *err) {
    CSNI_TRY(csni_remote_plan(remote, &args->addr, 1, CSN_LOOKUP_DEFAULT, err));
    csn_status status = run_in_turn(remote, call_lookup, args, err);
    CSNI_TRY(csni_remote_file_fetch(&remote->file, err));
    return status == CSN_OK ? run_in_turn(remote, call_lookup, args, err) : status;
}

static csn_status look_up_remote(const struct csn_index *index, uint64_t addr, struct csn_frame *frames, size_t cap,
                                 size_t *out_count, struct csn_error *err) {
    struct csni_remote *remote = remote_of(index);
    struct frames_args args = { addr, frames, cap, out_count, remote };
    pthread_mutex_lock(&remote->turn);
    csn_status status = look_up_frames_in_turn(remote, &args, err);
    pthread_mutex_unlock(&remote->turn);
    return status;
}

struct batch_args {
    struct csni_index_batch *batch;
    size_t used; /* when it began */
    const uint64_t *addrs;
    size_t count, done;
    struct csn_batch_answer *answers;
};

static csn_status call_batch(const struct csn_index *inner, void *context, struct csn_error *err) {
    struct batch_args *args = context;
    (void)err;
    args->batch->used = args->used;
    args->done = inner->format->lookup_batch(args->batch, args->addrs, args->count, args->answers);
    return CSN_OK;
}

static csn_status look_up_batch_in_turn(struct csni_remote *remote, struct batch_args *args) {
    CSNI_TRY(csni_remote_plan(remote, args->addrs, args->count, args->batch->mode, NULL));
    CSNI_TRY(run_in_turn(remote, call_batch, args, NULL));
    csni_remote_end_plan(remote);
    return fetch_strings(remote, args->batch->frames + args->used, args->batch->used - args->used, NULL);
}

/* Each address has the failure: looked up alone it tells the text. */
static size_t fail_batch(struct batch_args *args, csn_status status) {
    args->batch->used = args->used;
    for (size_t i = 0; i < args->count; i++)
        args->answers[i] = (struct csn_batch_answer){ .first_frame = args->used, .status = status };
    return args->count;
}

static size_t look_up_remote_batch(struct csni_index_batch *batch, const uint64_t *addrs, size_t count,
                                   struct csn_batch_answer *answers) {
    const struct csn_index *index = batch->index;
    struct csni_remote *remote = remote_of(index);
    struct batch_args args = { batch, batch->used, addrs, count, 0, answers };
    pthread_mutex_lock(&remote->turn);
    batch->index = remote->inner;
    csn_status status = look_up_batch_in_turn(remote, &args);
    batch->index = index;
    pthread_mutex_unlock(&remote->turn);
    return status < 0 ? fail_batch(&args, status) : args.done;
}

/* ---- looking inside ---- */

struct table_args {
    uint32_t idx;
    void *scratch;
    size_t size;
    const struct csn_record *record;
    uint32_t type;
    struct csn_str name;
    void *out, *out2, *out3;
};

static csn_status call_file(const struct csn_index *inner, void *context, struct csn_error *err) {
    struct table_args *args = context;
    return inner->format->file(inner, args->idx, args->out, args->out2, err);
}

static csn_status get_remote_file(const struct csn_index *index, uint32_t idx, struct csn_str *directory, struct csn_str *base,
                                  struct csn_error *err) {
    struct table_args args = { .idx = idx, .out = directory, .out2 = base };
    return run(index, call_file, &args, err);
}

static csn_status call_section(const struct csn_index *inner, void *context, struct csn_error *err) {
    struct table_args *args = context;
    return inner->format->section ? inner->format->section(inner, args->idx, args->out, err) : CSN_NONE;
}

static csn_status get_remote_section(const struct csn_index *index, uint32_t idx, struct csn_section *out, struct csn_error *err) {
    struct table_args args = { .idx = idx, .out = out };
    return run(index, call_section, &args, err);
}

static csn_status call_record(const struct csn_index *inner, void *context, struct csn_error *err) {
    struct table_args *args = context;
    return inner->format->record(inner, args->idx, args->out, err);
}

static csn_status get_remote_record(const struct csn_index *index, uint32_t idx, struct csn_record *out, struct csn_error *err) {
    struct table_args args = { .idx = idx, .out = out };
    return run(index, call_record, &args, err);
}

static csn_status call_function_start(const struct csn_index *inner, void *context, struct csn_error *err) {
    struct table_args *args = context;
    return inner->format->function_start(inner, args->idx, args->out, err);
}

static csn_status get_remote_start(const struct csn_index *index, uint32_t idx, uint64_t *out, struct csn_error *err) {
    struct table_args args = { .idx = idx, .out = out };
    return run(index, call_function_start, &args, err);
}

static csn_status call_function(const struct csn_index *inner, void *context, struct csn_error *err) {
    struct table_args *args = context;
    return inner->format->function(inner, args->record, args->out, err);
}

static csn_status get_remote_function(const struct csn_index *index, const struct csn_record *record, struct csn_function *out,
                                      struct csn_error *err) {
    struct table_args args = { .record = record, .out = out };
    return run(index, call_function, &args, err);
}

static csn_status call_check(const struct csn_index *inner, void *context, struct csn_error *err) {
    struct table_args *args = context;
    return inner->format->check(inner, args->record, err);
}

static csn_status check_remote_record(const struct csn_index *index, const struct csn_record *record, struct csn_error *err) {
    struct table_args args = { .record = record };
    return run(index, call_check, &args, err);
}

/* The whole part: what it holds is read without these calls. */
static csn_status call_find_part(const struct csn_index *inner, void *context, struct csn_error *err) {
    struct table_args *args = context;
    if (!inner->format->find_part) return CSN_NONE;
    csn_status status = inner->format->find_part(inner, args->record, args->type, args->out, err);
    const struct csni_gsym_payload *part = args->out;
    volatile uint8_t sum = 0;
    for (size_t i = 0; status == CSN_OK && i < part->bytes.size; i += 4096) sum = (uint8_t)(sum + part->bytes.ptr[i]);
    if (status == CSN_OK && part->bytes.size) sum = (uint8_t)(sum + part->bytes.ptr[part->bytes.size - 1]);
    return status;
}

static csn_status find_remote_part(const struct csn_index *index, const struct csn_record *record, uint32_t type,
                                   struct csni_gsym_payload *out, struct csn_error *err) {
    struct table_args args = { .record = record, .type = type, .out = out };
    return run(index, call_find_part, &args, err);
}

static csn_status find_remote_name(const struct csn_index *index, struct csn_str name, uint32_t *functions, size_t cap,
                                   size_t *out_count, struct csn_error *err);

struct name_args {
    struct csn_str name;
    uint32_t *functions;
    size_t cap, *out_count;
};

static csn_status call_find_name(const struct csn_index *inner, void *context, struct csn_error *err) {
    struct name_args *args = context;
    return csni_index_find_name(inner, args->name, args->functions, args->cap, args->out_count, err);
}

static csn_status find_remote_name(const struct csn_index *index, struct csn_str name, uint32_t *functions, size_t cap,
                                   size_t *out_count, struct csn_error *err) {
    struct name_args args = { name, functions, cap, out_count };
    return run(index, call_find_name, &args, err);
}

static csn_status verify_remote(const struct csn_index *index, csn_verify_callback *callback, void *context,
                                struct csn_verify_counts *out, struct csn_error *err) {
    const struct csn_index *inner = remote_of(index)->inner;
    CSNI_TRY(fetch_all(index, err));
    return inner->format->verify(inner, callback, context, out, err);
}

static csn_status get_remote_part_bytes(const struct csn_index *index, uint64_t *out, struct csn_error *err) {
    const struct csn_index *inner = remote_of(index)->inner;
    CSNI_TRY(fetch_all(index, err));
    return inner->format->part_bytes(inner, out, err);
}

static csn_status get_remote_record_sizes(const struct csn_index *index, const struct csn_record *record,
                                          struct csni_counted_bytes *counted, struct csn_function_stats *out) {
    const struct csn_index *inner = remote_of(index)->inner;
    CSNI_TRY(fetch_all(index, NULL));
    return inner->format->record_sizes(inner, record, counted, out);
}

/* Fields of the header, which were read when it was opened. */
static void get_remote_info(const struct csn_index *index, struct csn_index_info *out) {
    const struct csn_index *inner = remote_of(index)->inner;
    inner->format->get_info(inner, out);
    out->stored_accelerator_bytes = remote_of(index)->accel.stored_size;
}

/* ---- binaries ---- */

static csn_status call_binary(const struct csn_index *inner, void *context, struct csn_error *err) {
    struct table_args *args = context;
    return csn_index_binary(inner, args->idx, args->scratch, args->size, args->out, args->out2, err);
}

static csn_status get_remote_binary(const struct csn_index *index, uint32_t idx, void *scratch, size_t size, struct csn_binary *out,
                                    size_t *out_need, struct csn_error *err) {
    struct table_args args = { .idx = idx, .scratch = scratch, .size = size, .out = out, .out2 = out_need };
    csn_status status = run(index, call_binary, &args, err);
    struct csni_remote *remote = remote_of(index);
    if (status != CSN_OK) return status;
    pthread_mutex_lock(&remote->turn);
    csn_status strings = want_string(&remote->file, out->name) ? csni_remote_file_fetch(&remote->file, err) : CSN_OK;
    pthread_mutex_unlock(&remote->turn);
    return strings < 0 ? strings : status;
}

static csn_status call_alias(const struct csn_index *inner, void *context, struct csn_error *err) {
    struct table_args *args = context;
    return csn_index_alias(inner, args->idx, args->scratch, args->size, args->out, args->out2, args->out3, err);
}

static csn_status get_remote_alias(const struct csn_index *index, uint32_t idx, void *scratch, size_t size, struct csn_str *out,
                                   uint32_t *out_binary, size_t *out_need, struct csn_error *err) {
    struct table_args args = { .idx = idx, .scratch = scratch, .size = size, .out = out, .out2 = out_binary, .out3 = out_need };
    return run(index, call_alias, &args, err);
}

static csn_status call_find_binary(const struct csn_index *inner, void *context, struct csn_error *err) {
    struct table_args *args = context;
    return csn_index_find_binary(inner, args->name, args->out, args->out2, err);
}

static csn_status find_remote_binary(const struct csn_index *index, struct csn_str name, uint32_t *out_idx, uint32_t *out_match) {
    struct table_args args = { .name = name, .out = out_idx, .out2 = out_match };
    return run(index, call_find_binary, &args, NULL);
}

struct binary_args {
    uint32_t binary;
    struct lookup_args lookup; /* `addr`: the offset */
};

static csn_status call_lookup_in_binary(const struct csn_index *inner, void *context, struct csn_error *err) {
    struct binary_args *args = context;
    return csn_index_lookup_in_binary(inner, args->binary, args->lookup.addr, args->lookup.frames, args->lookup.cap,
                                      args->lookup.out, err);
}

static csn_status look_up_in_remote_binary(const struct csn_index *index, uint32_t binary, uint64_t offset,
                                           struct csn_frame_ref *frames, size_t cap, struct csn_lookup *out,
                                           struct csn_error *err) {
    struct binary_args args = { binary, { offset, CSN_LOOKUP_DEFAULT, frames, cap, out } };
    return run(index, call_lookup_in_binary, &args, err);
}

static const struct csni_index_binaries remote_binaries = {
    .binary = get_remote_binary, .alias = get_remote_alias, .find = find_remote_binary, .lookup = look_up_in_remote_binary,
};

/* ---- the format ---- */

static void close_remote(struct csn_index *index) {
    struct csni_remote *remote = remote_of(index);
    csn_index_close(remote->inner);
    csni_remote_names_deinit(&remote->names);
    csni_remote_file_close(&remote->file);
    csni_remote_http_close(remote->http);
    pthread_mutex_destroy(&remote->turn);
    csni_free(index->allocator, remote, sizeof *remote);
}

const struct csni_index_format csni_index_remote = {
    .close = close_remote, .get_info = get_remote_info, .lookup = look_up_remote, .lookup_refs = look_up_remote_refs,
    .lookup_batch = look_up_remote_batch, .resolve = resolve_remote, .resolve_into = resolve_into_remote, .file = get_remote_file,
    .string = get_remote_string, .section = get_remote_section, .record = get_remote_record, .function_start = get_remote_start,
    .function = get_remote_function, .check = check_remote_record, .find_part = find_remote_part, .verify = verify_remote,
    .part_bytes = get_remote_part_bytes, .record_sizes = get_remote_record_sizes, .binaries = &remote_binaries, .find_name = find_remote_name,
};
