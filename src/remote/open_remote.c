/* Opening an index from afar. */
#include "base/core/alloc.h"
#include "base/core/sized.h"
#include "remote/remote_http.h"
#include "remote/remote_index.h"

void csn_remote_options_init(struct csn_remote_options *options) {
    *options = (struct csn_remote_options)CSN_REMOTE_OPTIONS_INIT;
}

/* What is behind the tables is read with the beginning of the strings, where directories and files are. */
static void want_strings(struct csni_remote_file *file) {
    enum { STRINGS = 48 << 10 };
    struct csni_gsym gsym;
    if (csni_gsym_parse(&gsym, file->bytes, NULL) == CSN_OK && gsym.strings.size) {
        uint64_t before = gsym.strings_offset < CSNI_REMOTE_BLOCK ? gsym.strings_offset : CSNI_REMOTE_BLOCK;
        csni_remote_file_want(file, gsym.strings_offset - before, before + STRINGS);
    }
}

static void finish_opening(struct csni_remote *remote) {
    const struct csn_index *inner = remote->inner;
    remote->accel = inner->accel;
    remote->inner->accel.direct = remote->accel.direct = false; /* it may read a page more */
    remote->has_near = inner->accel.table && csni_accel_u32(inner->gsym.accel_trailer + CSNI_ACCEL_T_FIRST_READ);
    remote->has_tables =
        inner->format == &csni_index_gsym && csni_remote_file_has(&remote->file, 0, csni_gsym_files_end(&inner->gsym));
}

/* Until nothing is missing that opening reads. */
static csn_status open_inner(struct csni_remote *remote, const struct csn_index_options *options, struct csn_error *err) {
    for (;;) {
        remote->inner = NULL;
        csn_status status = csn_index_open_memory(remote->file.bytes.ptr, remote->file.bytes.size, options, &remote->inner, err);
        if (!csni_remote_file_want_touched(&remote->file)) {
            if (status >= 0) finish_opening(remote);
            return status;
        }
        want_strings(&remote->file);
        if (status >= 0) csn_index_close(remote->inner);
        remote->inner = NULL;
        CSNI_TRY(csni_remote_file_fetch(&remote->file, err));
    }
}

static csn_status open_parts(struct csni_remote *remote, const char *url, const struct csn_remote_options *options,
                             const struct csn_index_options *index_options, struct csn_error *err) {
    remote->file.read = options->read;
    remote->file.context = options->context;
    if (!options->read) {
        CSNI_TRY(csni_remote_http_open(url, options, remote->file.allocator, &remote->http, err));
        remote->file.read = csni_remote_http_read;
        remote->file.context = remote->http;
    }
    CSNI_TRY(csni_remote_file_open(&remote->file, err));
    return open_inner(remote, index_options, err);
}

/* The outer index has what the inner one has, which the iterators read, but other calls, and nothing to release. */
static csn_status wrap(struct csni_remote *remote, const struct csn_allocator *allocator, struct csn_index **out,
                       struct csn_error *err) {
    struct csn_index *index = csni_alloc(allocator, sizeof *index);
    if (!index) return csni_fail_memory(err, sizeof *index);
    *index = *remote->inner;
    index->format = &csni_index_remote;
    index->remote = remote;
    index->allocator = allocator;
    index->mapped = false;
    index->owned = (struct csn_bytes){ .ptr = NULL };
    *out = index;
    return CSN_OK;
}

csn_status csn_index_open_remote(const char *url, const struct csn_remote_options *given, struct csn_index **out,
                                 struct csn_error *err) {
    struct csn_remote_options options = CSN_REMOTE_OPTIONS_INIT;
    struct csn_index_options index_options = CSN_INDEX_OPTIONS_INIT;
    if (given) CSNI_TRY(csni_options_copy(&options, sizeof options, given, given->struct_size, err));
    if (options.index)
        CSNI_TRY(csni_options_copy(&index_options, sizeof index_options, options.index, options.index->struct_size, err));
    if (index_options.accelerator_bytes)
        return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "an accelerator is made from the whole file: accelerator_bytes must be 0");
    const struct csn_allocator *allocator = csni_allocator_or_default(index_options.allocator);
    struct csni_remote *remote = csni_alloc_zeroed(allocator, 1, sizeof *remote);
    if (!remote) return csni_fail_memory(err, sizeof *remote);
    remote->file.allocator = remote->names.allocator = allocator;
    pthread_mutex_init(&remote->turn, NULL);
    csn_status status = open_parts(remote, url, &options, &index_options, err);
    if (status >= 0) status = wrap(remote, allocator, out, err);
    if (status >= 0) return status;
    csn_index_close(remote->inner);
    csni_remote_names_deinit(&remote->names);
    csni_remote_file_close(&remote->file);
    csni_remote_http_close(remote->http);
    pthread_mutex_destroy(&remote->turn);
    csni_free(allocator, remote, sizeof *remote);
    return status;
}

csn_status csn_index_remote_state(const struct csn_index *index, struct csn_remote_state *out, size_t out_size,
                                  struct csn_error *err) {
    struct csni_remote *remote = index->remote;
    struct csn_remote_state state = { .requests = 0 };
    csn_status status = CSN_NONE;
    if (remote) {
        pthread_mutex_lock(&remote->turn);
        const struct csni_remote_file *file = &remote->file;
        uint64_t kept = (uint64_t)file->kept * CSNI_REMOTE_BLOCK, size = file->bytes.size;
        if (size && csni_remote_file_has(file, size - 1, 1)) kept -= (uint64_t)file->block_count * CSNI_REMOTE_BLOCK - size; /* the last is shorter */
        state = (struct csn_remote_state){ file->requests, file->received, size, kept };
        status = file->status < 0 ? file->status : CSN_OK;
        if (status < 0 && err) *err = file->failure;
        pthread_mutex_unlock(&remote->turn);
    }
    if (out) csni_result_copy(out, out_size, &state, sizeof state);
    return status;
}
