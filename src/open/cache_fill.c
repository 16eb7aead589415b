/* Converting whole folders into the cache. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/arena.h"
#include "base/core/fail.h"
#include "base/core/vec.h"
#include "base/thread_pool.h"
#include "object/object.h"
#include "open/fill_admission.h"

enum {
    ARENA_CHUNK = 1 << 16, DEPTH_MAX = 64, PATH_SIZE = 4096, SLICES_MAX = 64,
    AT_DISK = 16,           /* files that may wait for the disk while others are converted */
    LARGE_BYTES = 16 << 20  /* a smaller file is not worth the threads */
};

struct fill_file {
    const char *path;
    uint64_t size;
    uint64_t smaller;       /* bytes of all files after it, once they are in order */
    const char *fault;      /* why it is not even opened; NULL: it is */
};

struct fill {
    struct csn_opener *opener;          /* of conversions that have all cores */
    struct csn_opener *narrow;          /* of conversions that have one */
    struct csni_admission admission;
    struct csni_arena arena;            /* paths */
    CSNI_VEC(struct fill_file) files;
    uint64_t total_bytes;
    struct csn_error *err;
    pthread_mutex_t mutex;              /* guards the following */
    csn_fill_callback *callback;
    void *context;
    struct csn_fill_counts counts;
    uint64_t done_bytes, done_files;
    bool is_cancelled;
};

/* ---- gathering ---- */

/* `fault`: NULL, or why the file is not opened. */
static csn_status gather_file(struct fill *fill, const char *path, off_t size, const char *fault) {
    struct fill_file file = { .path = csni_arena_copy(&fill->arena, path, strlen(path)), .size = size > 0 ? (uint64_t)size : 0 };
    if (fault) file.fault = csni_arena_copy(&fill->arena, fault, strlen(fault));
    if (!file.path || (fault && !file.fault) || !csni_vec_push(&fill->files, file)) return csni_fail_memory(fill->err, sizeof file);
    fill->total_bytes += file.size;
    return CSN_OK;
}

static csn_status gather_folder(struct fill *fill, const char *folder, unsigned depth);

static csn_status gather_entry(struct fill *fill, const char *folder, const char *name, unsigned depth) {
    char path[PATH_SIZE];
    struct stat st;
    int len = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (len < 0 || (size_t)len >= sizeof path || lstat(path, &st) != 0) return CSN_OK;
    if (S_ISDIR(st.st_mode)) return depth < DEPTH_MAX ? gather_folder(fill, path, depth + 1) : CSN_OK;
    return S_ISREG(st.st_mode) && st.st_size ? gather_file(fill, path, st.st_size, NULL) : CSN_OK;
}

/* A folder that cannot be read below the one that was named is left out, as its files are. */
static csn_status gather_folder(struct fill *fill, const char *folder, unsigned depth) {
    DIR *list = opendir(folder);
    if (!list) return depth ? CSN_OK : gather_file(fill, folder, 0, strerror(errno));
    csn_status status = CSN_OK;
    const struct dirent *entry;
    while (status == CSN_OK && (entry = readdir(list)))
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
            status = gather_entry(fill, folder, entry->d_name, depth);
    closedir(list);
    return status;
}

static csn_status gather_path(struct fill *fill, const char *path) {
    struct stat st;
    if (stat(path, &st) != 0) return gather_file(fill, path, 0, strerror(errno));
    if (S_ISDIR(st.st_mode)) return gather_folder(fill, path, 0);
    if (S_ISREG(st.st_mode)) return gather_file(fill, path, st.st_size, NULL);
    return gather_file(fill, path, 0, "not a regular file");
}

/* The largest first, so that none of them is left for the end, when other threads have nothing to do. */
static int compare_sizes(const void *a, const void *b) {
    const struct fill_file *x = a, *y = b;
    return x->size != y->size ? (x->size > y->size ? -1 : 1) : strcmp(x->path, y->path);
}

/* ---- one file ---- */

struct fill_outcome {
    enum csn_fill_result result;
    struct csn_error why;
};

/* A file alone has all cores: one that would still be converted when all smaller ones are done, or that leaves no memory for
 * others beside it. */
static bool wants_all_cores(const struct fill *fill, const struct fill_file *file, uint64_t bytes) {
    uint32_t cores = fill->admission.cores;
    if (cores == 1 || fill->files.count == 1) return true;
    if (csni_admission_is_large(&fill->admission, bytes)) return true;
    return file->size >= LARGE_BYTES && file->size > file->smaller / (cores - 1);
}

static void yield_cores(void *context, uint64_t index_bytes) { csni_admission_yield(context, index_bytes); }

static void convert_slice(struct csni_image *image, struct fill_outcome *out) {
    csn_status status = csni_image_identify(image, &out->why);
    if (status == CSN_OK && !image->key.size)
        status = csni_fail(&out->why, CSN_E_UNSUPPORTED, NULL, 0, "the file changes while it is read, or is none on a disk");
    if (status == CSN_OK) status = csni_image_open(image, NULL, NULL, &out->why);
    if (status == CSN_OK) out->result = image->opened->flags & CSN_OPENED_FROM_CACHE ? CSN_FILL_PRESENT : CSN_FILL_CONVERTED;
    else if (status == CSN_NONE)
        csni_fail(&out->why, CSN_E_FORMAT, NULL, 0, "parts of its debug information are damaged or missing: not kept");
    else if (status == CSN_E_NOT_FOUND) out->result = CSN_FILL_SKIPPED;
}

/* Each image of a universal file; the worst result counts. */
static void convert_slices(struct csni_image *image, struct fill_outcome *out) {
    const struct csn_allocator *alloc = image->opener->alloc;
    struct csni_slice *slices;
    uint32_t count;
    if (csni_object_slices(image->whole, alloc, &slices, &count, &out->why) != CSN_OK) return;
    enum csn_fill_result worst = CSN_FILL_PRESENT;
    if (count > 1) image->before_disk = NULL; /* the next one needs the cores */
    for (uint32_t i = 0; i < count && i < SLICES_MAX; i++) {
        struct csn_opened opened = CSN_OPENED_INIT;
        image->opened = &opened;
        image->bytes = slices[i].file;
        image->arch = count > 1 ? slices[i].arch : NULL;
        out->result = CSN_FILL_FAILED;
        convert_slice(image, out);
        if (out->result == CSN_FILL_FAILED || (out->result == CSN_FILL_CONVERTED && worst == CSN_FILL_PRESENT)
            || (out->result == CSN_FILL_SKIPPED && worst != CSN_FILL_FAILED))
            worst = out->result;
    }
    out->result = worst;
    csni_free(alloc, slices, count * sizeof *slices);
}

static void convert_admitted(struct fill *fill, size_t item, struct csni_image *image, struct csni_admitted *admitted,
                             struct fill_outcome *out) {
    const struct fill_file *file = &fill->files.items[item];
    uint64_t bytes = csni_estimate_memory(fill->opener, image->path, image->whole);
    bool all = wants_all_cores(fill, file, bytes);
    csni_admission_enter(&fill->admission, item, all ? fill->admission.cores : 1, bytes, admitted);
    image->opener = all ? fill->opener : fill->narrow;
    image->before_disk = yield_cores;
    image->disk_context = admitted;
    convert_slices(image, out);
}

static void convert_file(struct fill *fill, size_t item, struct csni_admitted *admitted, struct fill_outcome *out) {
    const char *path = fill->files.items[item].path, *fault = fill->files.items[item].fault;
    struct csni_image image = { .opener = fill->opener, .path = path };
    *out = (struct fill_outcome){ .result = CSN_FILL_FAILED, .why = CSN_ERROR_INIT };
    struct csn_file *file;
    if (fault) {
        csni_fail(&out->why, CSN_E_IO, NULL, 0, "%s", fault);
        return;
    }
    if (csn_file_open(path, &file, &out->why) < 0) return;
    image.file = file;
    image.whole = (struct csni_span){ csn_file_bytes(file), csn_file_size(file) };
    image.report = csni_alloc_zeroed(fill->opener->alloc, 1, sizeof *image.report);
    if (!image.report) {
        csni_fail_memory(&out->why, sizeof *image.report);
    } else if (csni_object_recognize(image.whole)) {
        convert_admitted(fill, item, &image, admitted, out);
    } else {
        out->result = CSN_FILL_SKIPPED;
        csni_fail(&out->why, CSN_E_UNSUPPORTED, NULL, 0, "not an object file");
    }
    csni_free(fill->opener->alloc, image.report, sizeof *image.report);
    csn_file_close(file);
}

static void count_result(struct csn_fill_counts *counts, enum csn_fill_result result) {
    switch (result) {
    case CSN_FILL_CONVERTED: counts->converted++; break;
    case CSN_FILL_PRESENT: counts->present++; break;
    case CSN_FILL_FAILED: counts->failed++; break;
    case CSN_FILL_SKIPPED: counts->skipped++; break;
    }
}

static csn_status fill_one(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    struct fill *fill = context;
    const struct fill_file *file = &fill->files.items[item];
    struct fill_outcome outcome;
    struct csni_admitted admitted = { .by = NULL };
    (void)worker;
    convert_file(fill, item, &admitted, &outcome);
    if (!admitted.by) csni_admission_enter(&fill->admission, item, 0, 0, &admitted);
    csni_admission_leave(&admitted);
    bool has_text = outcome.result == CSN_FILL_FAILED || outcome.result == CSN_FILL_SKIPPED;
    pthread_mutex_lock(&fill->mutex);
    count_result(&fill->counts, outcome.result);
    fill->done_bytes += file->size;
    fill->done_files++;
    const struct csn_fill_step step = { .path = file->path, .text = has_text ? csn_error_text(&outcome.why) : "",
                                        .result = outcome.result, .done_bytes = fill->done_bytes, .total_bytes = fill->total_bytes,
                                        .done_files = fill->done_files, .total_files = fill->files.count };
    if (fill->callback && !fill->is_cancelled && !fill->callback(fill->context, &step)) fill->is_cancelled = true;
    bool is_cancelled = fill->is_cancelled;
    pthread_mutex_unlock(&fill->mutex);
    return is_cancelled ? csni_fail(err, CSN_E_CANCELLED, NULL, 0, "stopped by the caller") : CSN_OK;
}

/* ---- all ---- */

static void order_files(struct fill *fill) {
    uint64_t smaller = 0;
    if (fill->files.count) qsort(fill->files.items, fill->files.count, sizeof *fill->files.items, compare_sizes);
    for (size_t i = fill->files.count; i-- > 0;) {
        fill->files.items[i].smaller = smaller;
        smaller += fill->files.items[i].size;
    }
}

/* More threads than cores: most wait, for their turn or for the disk. One that waits for the disk has no core. */
static csn_status run_fill(struct fill *fill, uint32_t threads) {
    struct csni_pool *pool;
    struct csn_opener narrow = *fill->opener;
    uint32_t cores = threads ? threads : csni_usable_cores();
    size_t workers = fill->files.count < cores + AT_DISK ? fill->files.count : cores + AT_DISK;
    narrow.options.threads = 1;
    fill->narrow = &narrow;
    order_files(fill);
    CSNI_TRY(csni_pool_create(workers ? (uint32_t)workers : 1, fill->opener->alloc, &pool, fill->err));
    csni_admission_init(&fill->admission, cores, fill->opener->options.max_memory);
    csn_status status = csni_pool_run(pool, fill->files.count, fill_one, fill, fill->err);
    csni_admission_deinit(&fill->admission);
    csni_pool_destroy(pool);
    return status;
}

csn_status csn_opener_fill(struct csn_opener *opener, const char *const *paths, size_t path_count, uint32_t threads,
                           csn_fill_callback *callback, void *context, struct csn_fill_counts *out, struct csn_error *err) {
    struct fill fill = { .opener = opener, .files = { .alloc = opener->alloc }, .err = err, .callback = callback,
                         .context = context,
                         .mutex = PTHREAD_MUTEX_INITIALIZER };
    if (!opener->options.cache) return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "the opener has no cache to fill");
    csni_arena_init(&fill.arena, opener->alloc, ARENA_CHUNK);
    csn_status status = CSN_OK;
    for (size_t i = 0; status == CSN_OK && i < path_count; i++) status = gather_path(&fill, paths[i]);
    if (status == CSN_OK) status = run_fill(&fill, threads);
    if (out) *out = fill.counts;
    csni_vec_deinit(&fill.files);
    csni_arena_deinit(&fill.arena);
    return status;
}
