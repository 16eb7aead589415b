/* Symbol servers are plain HTTP servers of files. libcurl is loaded when the first file is wanted. */
#define _GNU_SOURCE
#include "store/symbol_server.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/core/fail.h"
#include "base/curl_library.h"
#include "store/store_paths.h"

enum { CONNECT_SECONDS = 30, SILENT_SECONDS = 60, REDIRECTS_MAX = 10 };

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
static int perform_transfer(const struct csni_curl_library *library, struct transfer *t, const char *url) {
    struct csni_curl *curl = library->init();
    if (!curl) return CSNI_CURLE_FAILED_INIT;
    library->set(curl, CSNI_CURLOPT_URL, url);
    library->set(curl, CSNI_CURLOPT_USERAGENT, "callsign"); /* servers refuse requests without one */
    library->set(curl, CSNI_CURLOPT_WRITEFUNCTION, write_received);
    library->set(curl, CSNI_CURLOPT_WRITEDATA, t);
    library->set(curl, CSNI_CURLOPT_XFERINFOFUNCTION, report_transfer);
    library->set(curl, CSNI_CURLOPT_XFERINFODATA, t);
    library->set(curl, CSNI_CURLOPT_NOPROGRESS, 0L);
    library->set(curl, CSNI_CURLOPT_FAILONERROR, 1L);
    library->set(curl, CSNI_CURLOPT_NOSIGNAL, 1L);
    library->set(curl, CSNI_CURLOPT_FOLLOWLOCATION, 1L);
    library->set(curl, CSNI_CURLOPT_MAXREDIRS, (long)REDIRECTS_MAX);
    library->set(curl, CSNI_CURLOPT_PROTOCOLS, (long)(CSNI_CURLPROTO_HTTP | CSNI_CURLPROTO_HTTPS));
    library->set(curl, CSNI_CURLOPT_REDIR_PROTOCOLS, (long)(CSNI_CURLPROTO_HTTP | CSNI_CURLPROTO_HTTPS));
    library->set(curl, CSNI_CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
    library->set(curl, CSNI_CURLOPT_LOW_SPEED_LIMIT, 1L); /* a second */
    library->set(curl, CSNI_CURLOPT_LOW_SPEED_TIME, (long)SILENT_SECONDS);
    if (t->options->timeout_ms) library->set(curl, CSNI_CURLOPT_TIMEOUT_MS, (long)t->options->timeout_ms);
    int code = library->perform(curl);
    library->cleanup(curl);
    return code;
}

static csn_status transfer_result(const struct csni_curl_library *library, const struct transfer *t, const char *server, int code,
                                  struct csn_error *err) {
    if (code == CSNI_CURLE_OK) return CSN_OK;
    if (t->is_cancelled) return csni_fail(err, CSN_E_CANCELLED, NULL, 0, "stopped by the caller");
    if (code == CSNI_CURLE_HTTP_RETURNED_ERROR) return CSN_NONE; /* it does not have the file */
    if (t->is_too_large)
        return csni_fail(err, CSN_NONE, NULL, 0, "%s: the file has more than %" PRIu64 " bytes, the limit",
                         csni_url_show(server).text, t->options->max_download_bytes);
    return csni_fail(err, CSN_NONE, NULL, 0, "%s: %s", csni_url_show(server).text, library->error_text(code));
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
static csn_status fetch_to(const struct csni_curl_library *library, const struct csn_companion_search_options *options,
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

/* A query, which may be what lets the reader in, stays behind the path. */
static bool make_url(const char *server, const char *name, const char *id, char *url, size_t capacity) {
    size_t len = strcspn(server, "?#");
    const char *query = server + len;
    while (len && server[len - 1] == '/') len--;
    int added = snprintf(url, capacity, "%.*s/", (int)len, server);
    if (added < 0 || (size_t)added >= capacity || !put_escaped(url, capacity, name)) return false;
    len = strlen(url);
    added = snprintf(url + len, capacity - len, "/%s/", id);
    if (added < 0 || (size_t)added >= capacity - len || !put_escaped(url, capacity, name)) return false;
    len = strlen(url);
    added = snprintf(url + len, capacity - len, "%.*s", *query == '?' ? (int)strcspn(query, "#") : 0, query);
    return added >= 0 && (size_t)added < capacity - len;
}

/* Servers of files that tell letters apart have names and ids as symstore wrote them, or in small letters, as the
 * key conventions of SSQP want them. */
static csn_status fetch_from(const struct csni_curl_library *library, const struct csn_companion_search_options *options,
                             const char *server, const char *name, const char *id, const char *path, struct csn_error *err) {
    char url[CSNI_PATH_SIZE], small_name[CSNI_PATH_SIZE], small_id[CSNI_PATH_SIZE];
    csn_status status = CSN_NONE;
    if (make_url(server, name, id, url, sizeof url)) status = fetch_to(library, options, server, url, path, err);
    if (status != CSN_NONE || (err && err->text[0])) return status;
    bool name_differs = csni_small_letters(name, small_name, sizeof small_name);
    bool id_differs = csni_small_letters(id, small_id, sizeof small_id);
    if ((name_differs || id_differs) && make_url(server, small_name, small_id, url, sizeof url))
        status = fetch_to(library, options, server, url, path, err);
    return status;
}

csn_status csni_symbol_server_fetch(const struct csn_companion_search_options *options, const char *name, const char *id,
                                    char path[CSNI_PATH_SIZE], struct csn_error *err) {
    struct csni_curl_library library;
    int len = snprintf(path, CSNI_PATH_SIZE, "%s/%s/%s/%s", options->download_dir, name, id, name);
    if (len < 0 || len >= CSNI_PATH_SIZE) return CSN_NONE;
    if (!csni_curl_load(&library))
        return csni_fail(err, CSN_NONE, NULL, 0, "symbol servers not asked: libcurl.so.4 cannot be loaded");
    csn_status status = CSN_NONE;
    bool has_folders = make_folders(path);
    if (!has_folders) status = fail_file(path, err);
    for (size_t i = 0; has_folders && status == CSN_NONE && i < options->symbol_server_count; i++)
        status = fetch_from(&library, options, options->symbol_servers[i], name, id, path, err);
    csni_curl_unload(&library);
    return status;
}
