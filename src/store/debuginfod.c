/* libdebuginfod is loaded when the first file is wanted and not linked: it brings libcurl and some thirty libraries along,
 * which take the start of a process from 1.4 to 9.8 ms (measured with Debian 12's), and most runs never ask a server. */
#define _GNU_SOURCE
#include "store/debuginfod.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/core/fail.h"

static const char LIBRARY[] = "libdebuginfod.so.1";

/* What is called of it: its interface since elfutils 0.179. */
struct client;
typedef int progress_function(struct client *client, long done, long total);
struct library {
    void *handle;
    struct client *(*begin)(void);
    void (*end)(struct client *client);
    int (*find)(struct client *client, const unsigned char *id, int id_size, char **path);
    void (*set_progress)(struct client *client, progress_function *function);
    void (*set_user_data)(struct client *client, void *data);
};

static bool load_function(void *handle, const char *name, void *function) {
    void *symbol = dlsym(handle, name);
    memcpy(function, &symbol, sizeof symbol); /* POSIX promises that this gives a function pointer */
    return symbol != NULL;
}

/* Once loaded it stays: libraries of its kind do not like to be taken out of a running process. */
static csn_status load(struct library *out, struct csn_error *err) {
    out->handle = dlopen(LIBRARY, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
    if (!out->handle)
        return csni_fail(err, CSN_NONE, NULL, 0, "debuginfod servers not asked: %s cannot be loaded", LIBRARY);
    if (load_function(out->handle, "debuginfod_begin", &out->begin) &&
        load_function(out->handle, "debuginfod_end", &out->end) &&
        load_function(out->handle, "debuginfod_find_debuginfo", &out->find) &&
        load_function(out->handle, "debuginfod_set_progressfn", &out->set_progress) &&
        load_function(out->handle, "debuginfod_set_user_data", &out->set_user_data))
        return CSN_OK;
    dlclose(out->handle);
    return csni_fail(err, CSN_NONE, NULL, 0, "debuginfod servers not asked: %s is older than elfutils 0.179", LIBRARY);
}

/* ---- one download ---- */

enum stopped { NOT_STOPPED, STOPPED_BY_CALLER, STOPPED_BY_TIME, STOPPED_BY_SIZE };

struct download {
    const struct csn_companion_search_options *options;
    uint64_t start_ms;
    enum stopped stopped;
};

static uint64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

static enum stopped should_stop(const struct download *download, uint64_t done, uint64_t total) {
    const struct csn_companion_search_options *options = download->options;
    uint64_t limit = options->max_download_bytes;
    if (limit && (done > limit || total > limit)) return STOPPED_BY_SIZE;
    if (options->timeout_ms && now_ms() - download->start_ms > options->timeout_ms) return STOPPED_BY_TIME;
    if (options->progress && !options->progress(options->progress_context, "downloading", done, total))
        return STOPPED_BY_CALLER;
    return NOT_STOPPED;
}

static struct download *download_of(struct client *client) {
    void *(*get_user_data)(struct client *) = NULL;
    void *handle = dlopen(LIBRARY, RTLD_LAZY | RTLD_NOLOAD);
    struct download *download = NULL;
    if (handle && load_function(handle, "debuginfod_get_user_data", &get_user_data)) download = get_user_data(client);
    if (handle) dlclose(handle);
    return download;
}

/* The library calls this about once a second, with nothing but the client: what leads from there to the download is a
 * function of the library, which is therefore looked up again rather than kept in a global. */
static int step(struct client *client, long done, long total) {
    struct download *download = download_of(client);
    if (!download) return 0;
    download->stopped = should_stop(download, done > 0 ? (uint64_t)done : 0, total > 0 ? (uint64_t)total : 0);
    return download->stopped != NOT_STOPPED;
}

static csn_status fail_stopped(const struct download *download, struct csn_error *err) {
    const struct csn_companion_search_options *options = download->options;
    switch (download->stopped) {
    case STOPPED_BY_TIME:
        return csni_fail(err, CSN_NONE, NULL, 0, "debuginfod: gave up after %" PRIu32 " ms, the limit", options->timeout_ms);
    case STOPPED_BY_SIZE:
        return csni_fail(err, CSN_NONE, NULL, 0, "debuginfod: the file has more than %" PRIu64 " bytes, the limit",
                         options->max_download_bytes);
    default: return csni_fail(err, CSN_E_CANCELLED, NULL, 0, "stopped by the caller");
    }
}

/* A small file arrives before the progress is asked for. */
static csn_status check_size(const struct csn_companion_search_options *options, int fd, struct csn_error *err) {
    struct stat st;
    uint64_t limit = options->max_download_bytes;
    if (!limit || fstat(fd, &st) != 0 || (uint64_t)st.st_size <= limit) return CSN_OK;
    return csni_fail(err, CSN_NONE, NULL, 0, "debuginfod: the file has %" PRIu64 " bytes, the limit is %" PRIu64,
                     (uint64_t)st.st_size, limit);
}

static csn_status download_result(const struct download *download, int fd, const char *found, char path[CSNI_PATH_SIZE],
                                  struct csn_error *err) {
    if (download->stopped != NOT_STOPPED && fd < 0) return fail_stopped(download, err);
    if (fd == -ENOENT || fd == -ENOSYS) return CSN_NONE; /* no server has it; there is no server */
    if (fd < 0) {
        csni_fail_os(err, -fd, "debuginfod");
        return CSN_NONE;
    }
    csn_status status = check_size(download->options, fd, err);
    if (status != CSN_OK) return status;
    if (!found || strlen(found) >= CSNI_PATH_SIZE) return CSN_NONE;
    memcpy(path, found, strlen(found) + 1);
    return CSN_OK;
}

csn_status csni_debuginfod_find(const struct csn_companion_search_options *options, const uint8_t *id, size_t id_size,
                                char path[CSNI_PATH_SIZE], struct csn_error *err) {
    struct library library = { 0 };
    csn_status status = load(&library, err);
    if (status != CSN_OK) return status;
    struct client *client = library.begin();
    if (client) {
        struct download download = { options, now_ms(), NOT_STOPPED };
        char *found = NULL;
        library.set_user_data(client, &download);
        library.set_progress(client, step);
        int fd = library.find(client, id, (int)id_size, &found);
        status = download_result(&download, fd, found, path, err);
        if (fd >= 0) close(fd);
        free(found);
        library.end(client);
    } else {
        status = csni_fail(err, CSN_NONE, NULL, 0, "debuginfod servers not asked: no memory for a client");
    }
    dlclose(library.handle);
    return status;
}
