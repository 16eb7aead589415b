/* Symbol servers are plain HTTP servers of files. libcurl is loaded when the first file is wanted and not linked, for the reason
 * that libdebuginfod is not: debuginfod.c. */
#define _GNU_SOURCE
#include "store/symbol_server.h"

#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/core/fail.h"
#include "store/store_paths.h"

/* ---- libcurl ---- */

/* What is used of its interface, which has kept its numbers since 2000. */
enum { CURLE_OK = 0, CURLE_HTTP_RETURNED_ERROR = 22 };
enum { CURLOPT_NOPROGRESS = 43, CURLOPT_FAILONERROR = 45, CURLOPT_FOLLOWLOCATION = 52, CURLOPT_MAXREDIRS = 68,
       CURLOPT_CONNECTTIMEOUT = 78, CURLOPT_NOSIGNAL = 99, CURLOPT_TIMEOUT_MS = 155, CURLOPT_PROTOCOLS = 181,
       CURLOPT_REDIR_PROTOCOLS = 182, CURLOPT_WRITEDATA = 10001, CURLOPT_URL = 10002, CURLOPT_USERAGENT = 10018,
       CURLOPT_XFERINFODATA = 10057, CURLOPT_WRITEFUNCTION = 20011, CURLOPT_XFERINFOFUNCTION = 20219 };
enum { CURLPROTO_HTTP = 1, CURLPROTO_HTTPS = 2, CONNECT_SECONDS = 30, REDIRECTS_MAX = 10 };

struct curl;
struct curl_library {
    void *handle;
    struct curl *(*init)(void);
    int (*set)(struct curl *curl, int option, ...);
    int (*perform)(struct curl *curl);
    const char *(*error_text)(int code);
    void (*cleanup)(struct curl *curl);
};

static bool load_symbol(void *handle, const char *name, void *function) {
    void *symbol = dlsym(handle, name);
    memcpy(function, &symbol, sizeof symbol); /* POSIX promises that this gives a function pointer */
    return symbol != NULL;
}

static bool load_curl(struct curl_library *out) {
    static const char *const names[] = { "libcurl.so.4", "libcurl-gnutls.so.4", "libcurl.4.dylib" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        out->handle = dlopen(names[i], RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE);
        if (!out->handle) continue;
        if (load_symbol(out->handle, "curl_easy_init", &out->init) && load_symbol(out->handle, "curl_easy_setopt", &out->set) &&
            load_symbol(out->handle, "curl_easy_perform", &out->perform) &&
            load_symbol(out->handle, "curl_easy_strerror", &out->error_text) &&
            load_symbol(out->handle, "curl_easy_cleanup", &out->cleanup))
            return true;
        dlclose(out->handle);
    }
    return false;
}

/* ---- one download ---- */

struct transfer {
    const struct csn_companion_search_options *options;
    FILE *file;
    uint64_t written;
    bool is_cancelled, is_too_large;
};

static size_t write_received(char *bytes, size_t size, size_t count, void *context) {
    struct transfer *t = context;
    t->written += size * count;
    t->is_too_large = t->options->max_download_bytes && t->written > t->options->max_download_bytes;
    return t->is_too_large ? 0 : fwrite(bytes, size, count, t->file) * size;
}

static int report_transfer(void *context, int64_t total, int64_t done, int64_t upload_total, int64_t uploaded) {
    struct transfer *t = context;
    (void)upload_total;
    (void)uploaded;
    if (t->options->progress && total > 0)
        t->is_cancelled = !t->options->progress(t->options->progress_context, "downloading", (uint64_t)done, (uint64_t)total);
    return t->is_cancelled;
}

/* 0, or a code of libcurl. */
static int perform_transfer(const struct curl_library *library, struct transfer *t, const char *url) {
    enum { CURLE_FAILED_INIT = 2 };
    struct curl *curl = library->init();
    if (!curl) return CURLE_FAILED_INIT;
    library->set(curl, CURLOPT_URL, url);
    library->set(curl, CURLOPT_USERAGENT, "callsign"); /* servers refuse requests without one */
    library->set(curl, CURLOPT_WRITEFUNCTION, write_received);
    library->set(curl, CURLOPT_WRITEDATA, t);
    library->set(curl, CURLOPT_XFERINFOFUNCTION, report_transfer);
    library->set(curl, CURLOPT_XFERINFODATA, t);
    library->set(curl, CURLOPT_NOPROGRESS, 0L);
    library->set(curl, CURLOPT_FAILONERROR, 1L);
    library->set(curl, CURLOPT_NOSIGNAL, 1L);
    library->set(curl, CURLOPT_FOLLOWLOCATION, 1L);
    library->set(curl, CURLOPT_MAXREDIRS, (long)REDIRECTS_MAX);
    library->set(curl, CURLOPT_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
    library->set(curl, CURLOPT_REDIR_PROTOCOLS, (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
    library->set(curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
    if (t->options->timeout_ms) library->set(curl, CURLOPT_TIMEOUT_MS, (long)t->options->timeout_ms);
    int code = library->perform(curl);
    library->cleanup(curl);
    return code;
}

static csn_status transfer_result(const struct curl_library *library, const struct transfer *t, const char *server, int code,
                                  struct csn_error *err) {
    if (code == CURLE_OK) return CSN_OK;
    if (t->is_cancelled) return csni_fail(err, CSN_E_CANCELLED, NULL, 0, "stopped by the caller");
    if (code == CURLE_HTTP_RETURNED_ERROR) return CSN_NONE; /* it does not have the file */
    if (t->is_too_large)
        return csni_fail(err, CSN_NONE, NULL, 0, "%s: the file has more than %" PRIu64 " bytes, the limit",
                         csni_path_show(server).text, t->options->max_download_bytes);
    return csni_fail(err, CSN_NONE, NULL, 0, "%s: %s", csni_path_show(server).text, library->error_text(code));
}

/* ---- the file ---- */

/* Makes the folders of `path`; false with errno. */
static bool make_folders(char *path) {
    for (char *p = path + 1; *p; p++) {
        if (*p != '/') continue;
        *p = 0;
        bool ok = mkdir(path, 0777) == 0 || errno == EEXIST;
        *p = '/';
        if (!ok) return false;
    }
    return true;
}

static csn_status fail_file(const char *path, struct csn_error *err) {
    csni_fail_os(err, errno, csni_path_show(path).text);
    return CSN_NONE;
}

/* To a temporary name, which becomes `path` when the file is whole. */
static csn_status fetch_to(const struct curl_library *library, const struct csn_companion_search_options *options,
                           const char *server, const char *url, const char *path, struct csn_error *err) {
    char temporary[CSNI_PATH_SIZE + sizeof ".XXXXXX"];
    snprintf(temporary, sizeof temporary, "%s.XXXXXX", path);
    int fd = mkstemp(temporary);
    if (fd < 0) return fail_file(path, err);
    struct transfer t = { .options = options, .file = fdopen(fd, "wb") };
    csn_status status;
    if (t.file) {
        int code = perform_transfer(library, &t, url);
        bool is_whole = fclose(t.file) == 0;
        status = transfer_result(library, &t, server, code, err);
        if (status == CSN_OK && (!is_whole || rename(temporary, path) < 0)) status = fail_file(path, err);
    } else {
        status = fail_file(path, err);
        close(fd);
    }
    if (status != CSN_OK) unlink(temporary);
    return status;
}

/* Names of files may hold anything; what URLs give a meaning is escaped. */
static bool put_escaped(char *url, size_t capacity, const char *name) {
    size_t len = strlen(url);
    for (; *name; name++) {
        bool is_plain = (*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z') || (*name >= '0' && *name <= '9') ||
                        strchr("-._~", *name);
        int added = snprintf(url + len, capacity - len, is_plain ? "%c" : "%%%02X", (unsigned char)*name);
        if (added < 0 || (size_t)added >= capacity - len) return false;
        len += (size_t)added;
    }
    return true;
}

static bool make_url(const char *server, const char *name, const char *id, char *url, size_t capacity) {
    size_t len = strlen(server);
    while (len && server[len - 1] == '/') len--;
    int added = snprintf(url, capacity, "%.*s/", (int)len, server);
    if (added < 0 || (size_t)added >= capacity || !put_escaped(url, capacity, name)) return false;
    len = strlen(url);
    added = snprintf(url + len, capacity - len, "/%s/", id);
    return added > 0 && (size_t)added < capacity - len && put_escaped(url, capacity, name);
}

csn_status csni_symbol_server_fetch(const struct csn_companion_search_options *options, const char *name, const char *id,
                                    char path[CSNI_PATH_SIZE], struct csn_error *err) {
    struct curl_library library;
    char url[CSNI_PATH_SIZE];
    int len = snprintf(path, CSNI_PATH_SIZE, "%s/%s/%s/%s", options->download_dir, name, id, name);
    if (len < 0 || len >= CSNI_PATH_SIZE) return CSN_NONE;
    if (!load_curl(&library)) return csni_fail(err, CSN_NONE, NULL, 0, "symbol servers not asked: libcurl.so.4 cannot be loaded");
    csn_status status = CSN_NONE;
    bool has_folders = make_folders(path);
    if (!has_folders) status = fail_file(path, err);
    for (size_t i = 0; has_folders && status == CSN_NONE && i < options->symbol_server_count; i++)
        if (make_url(options->symbol_servers[i], name, id, url, sizeof url))
            status = fetch_to(&library, options, options->symbol_servers[i], url, path, err);
    dlclose(library.handle);
    return status;
}
