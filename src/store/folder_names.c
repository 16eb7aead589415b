/* What indexes a folder of symbols has. A log names thousands of modules that it has none for; its names are read again only where
 * they may have changed, so that a file that appears is found at once. */
#define _GNU_SOURCE
#include <dirent.h>

#include "base/core/fail.h"
#include "base/core/file_times.h"
#include "store/index_store.h"

enum {
    SETTLED_S = 2,    /* a folder that changed less long ago may change again within the same tick of its file system's clock */
    KEPT_MS = 1000    /* where file systems do not tell when a folder changed */
};

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void keep_state(struct csni_store_names *names, const struct stat *st) {
    names->device = (uint64_t)st->st_dev;
    names->inode = (uint64_t)st->st_ino;
    names->changed_s = csni_time_changed(st).tv_sec;
    names->changed_ns = csni_time_changed(st).tv_nsec;
}

static bool is_same_state(const struct csni_store_names *names, const struct stat *st) {
    return names->device == (uint64_t)st->st_dev && names->inode == (uint64_t)st->st_ino &&
           names->changed_s == csni_time_changed(st).tv_sec && names->changed_ns == csni_time_changed(st).tv_nsec;
}

static bool has_settled(const struct stat *st) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return now.tv_sec > csni_time_changed(st).tv_sec + SETTLED_S;
}

static bool add_name(struct csni_store_names *names, const char *name, size_t size) {
    if (!csni_vec_reserve(&names->bytes, names->bytes.count + size)) return false;
    memcpy(names->bytes.items + names->bytes.count, name, size);
    names->bytes.count += size;
    return true;
}

static bool read_names(struct csni_store_names *names, const char *folder) {
    static const char suffix[] = ".gsym";
    DIR *list = opendir(folder);
    const struct dirent *entry;
    bool good = true;
    names->bytes.count = 0;
    for (size_t i = 0; list && good && i < CSNI_STORE_FILES_MAX && (entry = readdir(list)); i++) {
        const size_t len = strlen(entry->d_name);
        if (len < sizeof suffix || len >= CSNI_STORE_NAME_MAX) continue;
        const bool is_index = memcmp(entry->d_name + len - (sizeof suffix - 1), suffix, sizeof suffix) == 0;
        if (is_index) good = add_name(names, entry->d_name, len + 1);
    }
    if (list) closedir(list);
    return good;
}

csn_status csni_store_read_names(struct csn_store *store, size_t folder, struct csn_str *out, struct csn_error *err) {
    struct csni_store_names *names = &store->folder_names[folder];
    struct stat st;
    const bool is_there = stat(store->options.folders[folder], &st) == 0;
    const int64_t now = now_ms();
    if (!names->is_kept || !is_there || !is_same_state(names, &st) || now - names->read_ms >= KEPT_MS) {
        names->is_kept = false;
        if (!read_names(names, store->options.folders[folder])) return csni_fail_memory(err, names->bytes.count);
        names->is_kept = is_there && has_settled(&st);
        names->read_ms = now;
        if (is_there) keep_state(names, &st);
    }
    *out = (struct csn_str){ names->bytes.items, names->bytes.count };
    return CSN_OK;
}

csn_status csni_store_make_names(struct csn_store *store, struct csn_error *err) {
    const size_t count = store->options.folder_count;
    if (!count) return CSN_OK;
    store->folder_names = csni_alloc_zeroed(store->alloc, count, sizeof *store->folder_names);
    if (!store->folder_names) return csni_fail_memory(err, count * sizeof *store->folder_names);
    for (size_t i = 0; i < count; i++) store->folder_names[i].bytes.alloc = store->alloc;
    return CSN_OK;
}

void csni_store_free_names(struct csn_store *store) {
    const size_t count = store->options.folder_count;
    if (!store->folder_names) return;
    for (size_t i = 0; i < count; i++) csni_vec_deinit(&store->folder_names[i].bytes);
    csni_free(store->alloc, store->folder_names, count * sizeof *store->folder_names);
}
