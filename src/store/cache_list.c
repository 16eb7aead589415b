/* Walking the folder of a cache: listing, checking, pruning. */
#define _GNU_SOURCE
#include "store/index_cache.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/core/fail.h"
#include "base/core/file_times.h"
#include "base/core/vec.h"
#include "base/hex.h"

enum { HEX_MAX = 2 * CSNI_CACHE_ID_MAX, KEEP_SHARE = 5 };

enum cached_kind { KIND_ENTRY, KIND_LOCK, KIND_NEGATIVE, KIND_TEMPORARY };

/* One file of the cache. */
struct cached_file {
    char hex[HEX_MAX + 1];      /* its id */
    char name[NAME_MAX + 1];    /* in the folder hex[0..2) */
    enum cached_kind kind;
    uint64_t size, used, modified;
};
typedef CSNI_VEC(struct cached_file) cached_files;

static bool is_hex(const char *text, size_t len) {
    for (size_t i = 0; i < len; i++)
        if (csni_hex_digit(text[i]) > 15 || (text[i] >= 'A' && text[i] <= 'F')) return false;
    return true;
}

/* "cdef01.gsym", ".lock", ".none", ".gsym.tmp-PID-N". Anything else in the folder is not the cache's. */
static bool recognize_file(const char *folder, const char *name, struct cached_file *out) {
    static const struct { const char *suffix; enum cached_kind kind; } kinds[] = {
        { ".gsym", KIND_ENTRY }, { ".lock", KIND_LOCK }, { ".none", KIND_NEGATIVE } };
    const char *dot = strchr(name, '.');
    size_t len = dot ? (size_t)(dot - name) : 0;
    if (!len || len % 2 || len + 2 > HEX_MAX || !is_hex(name, len) || strlen(name) >= sizeof out->name) return false;
    *out = (struct cached_file){ .kind = KIND_TEMPORARY };
    memcpy(out->hex, folder, 2);
    memcpy(out->hex + 2, name, len);
    memcpy(out->name, name, strlen(name));
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(dot, kinds[i].suffix) != 0) continue;
        out->kind = kinds[i].kind;
        return true;
    }
    return strncmp(dot, ".gsym.tmp-", 10) == 0;
}

static void path_of_file(const struct csn_cache *cache, const struct cached_file *file, char out[CSNI_CACHE_PATH_SIZE]) {
    snprintf(out, CSNI_CACHE_PATH_SIZE, "%s/%.2s/%s", cache->dir, file->hex, file->name);
}

static bool add_file(const struct csn_cache *cache, cached_files *files, struct cached_file *file) {
    char path[CSNI_CACHE_PATH_SIZE];
    struct stat st;
    path_of_file(cache, file, path);
    if (lstat(path, &st) != 0 || !S_ISREG(st.st_mode)) return true;
    file->size = (uint64_t)st.st_size;
    struct timespec used = csni_time_read(&st), modified = csni_time_changed(&st);
    file->used = used.tv_sec > 0 ? (uint64_t)used.tv_sec : 0;
    file->modified = modified.tv_sec > 0 ? (uint64_t)modified.tv_sec : 0;
    return csni_vec_push(files, *file);
}

static csn_status gather_folder(const struct csn_cache *cache, const char *name, cached_files *files, struct csn_error *err) {
    char path[CSNI_CACHE_PATH_SIZE];
    snprintf(path, sizeof path, "%s/%s", cache->dir, name);
    DIR *list = opendir(path);
    if (!list) return CSN_OK;
    const struct dirent *entry;
    csn_status status = CSN_OK;
    while (status == CSN_OK && (entry = readdir(list))) {
        struct cached_file file;
        if (recognize_file(name, entry->d_name, &file) && !add_file(cache, files, &file))
            status = csni_fail_memory(err, sizeof file);
    }
    closedir(list);
    return status;
}

static int compare_files(const void *a, const void *b) {
    const struct cached_file *x = a, *y = b;
    int order = strcmp(x->hex, y->hex);
    return order ? order : strcmp(x->name, y->name);
}

static csn_status gather(const struct csn_cache *cache, cached_files *files, struct csn_error *err) {
    DIR *list = opendir(cache->dir);
    if (!list) return errno == ENOENT ? CSN_OK : csni_fail_os(err, errno, cache->dir);
    const struct dirent *entry;
    csn_status status = CSN_OK;
    while (status == CSN_OK && (entry = readdir(list)))
        if (strlen(entry->d_name) == 2 && is_hex(entry->d_name, 2)) status = gather_folder(cache, entry->d_name, files, err);
    closedir(list);
    if (files->count) qsort(files->items, files->count, sizeof *files->items, compare_files);
    return status;
}

/* ---- listing ---- */

static size_t id_of_hex(const char *hex, uint8_t out[CSNI_CACHE_ID_MAX]) {
    size_t size = strlen(hex) / 2;
    for (size_t i = 0; i < size; i++) out[i] = (uint8_t)(csni_hex_digit(hex[2 * i]) << 4 | csni_hex_digit(hex[2 * i + 1]));
    return size;
}

/* False: the callback wants no more. */
static bool list_entry(const struct csn_cache *cache, const struct cached_file *file, bool check, csn_cache_callback *callback,
                       void *context) {
    char path[CSNI_CACHE_PATH_SIZE], source[CSNI_CACHE_PATH_SIZE] = "";
    uint8_t id[CSNI_CACHE_ID_MAX];
    struct csn_error why = CSN_ERROR_INIT;
    struct csni_cache_read read = { .meta = { .flags = 0 } };
    path_of_file(cache, file, path);
    csn_status status = csni_cache_read_path(path, check, &read, &why);
    if (status == CSN_NONE) return true; /* of another version, or gone meanwhile */
    struct csn_cache_entry entry = { .status = status, .path = path, .source = source,
                                     .text = status < 0 ? csn_error_text(&why) : "",
                                     .id = id, .id_size = id_of_hex(file->hex, id), .file_size = file->size,
                                     .flags = read.meta.flags, .made = read.meta.made, .used = file->used };
    if (status == CSN_OK && read.meta.source.size < sizeof source) memcpy(source, read.meta.source.ptr, read.meta.source.size);
    if (status == CSN_OK && (read.meta.id_size != entry.id_size || memcmp(read.meta.id, id, entry.id_size) != 0)) {
        entry.status = CSN_E_FORMAT;
        entry.text = "it is the entry of another id";
    }
    bool goes_on = callback(context, &entry);
    csni_cache_read_close(&read);
    return goes_on;
}

csn_status csn_cache_list(struct csn_cache *cache, uint32_t flags, csn_cache_callback *callback, void *context,
                          struct csn_error *err) {
    uint32_t unknown = flags & ~(uint32_t)CSN_CACHE_CHECK;
    if (unknown) return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "unknown flags 0x%x for a list of the cache", unknown);
    cached_files files = { .alloc = cache->alloc };
    csn_status status = gather(cache, &files, err);
    for (size_t i = 0; status == CSN_OK && i < files.count; i++)
        if (files.items[i].kind == KIND_ENTRY &&
            !list_entry(cache, &files.items[i], flags & CSN_CACHE_CHECK, callback, context))
            break;
    csni_vec_deinit(&files);
    return status;
}

/* ---- pruning ---- */

static int compare_use(const void *a, const void *b) {
    const struct cached_file *x = a, *y = b;
    return x->used != y->used ? (x->used < y->used ? -1 : 1) : strcmp(x->hex, y->hex);
}

/* Entries that cannot be used, of whatever version, and entries of other ids. */
static bool is_useless(const char *path, const struct cached_file *file) {
    struct csni_cache_read read;
    uint8_t id[CSNI_CACHE_ID_MAX];
    if (csni_cache_read_path(path, true, &read, NULL) != CSN_OK) return true;
    size_t size = id_of_hex(file->hex, id);
    bool is_other = read.meta.id_size != size || memcmp(read.meta.id, id, size) != 0;
    csni_cache_read_close(&read);
    return is_other;
}

/* Of a conversion that no longer runs: its lock is free. A conversion that runs without locks is given an hour. */
static bool is_abandoned(const struct csn_cache *cache, const struct cached_file *file) {
    enum { UNLOCKED_S = 3600 };
    char path[CSNI_CACHE_PATH_SIZE];
    struct csni_cache_lock lock;
    snprintf(path, sizeof path, "%s/%.2s/%s.lock", cache->dir, file->hex, file->hex + 2);
    if (csni_cache_try_lock_path(path, &lock) != CSN_OK) return (uint64_t)time(NULL) > file->modified + UNLOCKED_S;
    csni_cache_unlock(&lock);
    return true;
}

static bool is_expired(const struct csn_cache *cache, const struct cached_file *file) {
    return (uint64_t)time(NULL) > file->modified + cache->options.negative_s;
}

static void prune_leftovers(const struct csn_cache *cache, const cached_files *files, struct csn_cache_pruned *out) {
    for (size_t i = 0; i < files->count; i++) {
        const struct cached_file *file = &files->items[i];
        char path[CSNI_CACHE_PATH_SIZE];
        path_of_file(cache, file, path);
        bool is_leftover = file->kind == KIND_NEGATIVE ? is_expired(cache, file)
                                                       : file->kind != KIND_ENTRY && is_abandoned(cache, file);
        if (!is_leftover) continue;
        /* A free lock is gone by now. */
        if (unlink(path) == 0 || file->kind == KIND_LOCK) out->leftovers++;
    }
}

static void count_removed(const struct cached_file *file, struct csn_cache_pruned *out) {
    out->entries++;
    out->bytes += file->size;
    out->entries_left--;
    out->bytes_left -= file->size;
}

/* `checks`: also removes what is damaged, which costs reading all. */
static csn_status prune(struct csn_cache *cache, uint64_t max_bytes, bool checks, struct csn_cache_pruned *out,
                        struct csn_error *err) {
    cached_files files = { .alloc = cache->alloc };
    csn_status status = gather(cache, &files, err);
    if (status == CSN_OK && checks) prune_leftovers(cache, &files, out);
    for (size_t i = 0; i < files.count; i++) {
        if (files.items[i].kind != KIND_ENTRY) continue;
        out->entries_left++;
        out->bytes_left += files.items[i].size;
    }
    if (status == CSN_OK && files.count) qsort(files.items, files.count, sizeof *files.items, compare_use);
    for (size_t i = 0; status == CSN_OK && i < files.count; i++) {
        const struct cached_file *file = &files.items[i];
        char path[CSNI_CACHE_PATH_SIZE];
        path_of_file(cache, file, path);
        if (file->kind != KIND_ENTRY || (out->bytes_left <= max_bytes && !(checks && is_useless(path, file)))) continue;
        if (unlink(path) == 0 || errno == ENOENT) count_removed(file, out);
        else status = csni_fail_os(err, errno, path);
    }
    csni_vec_deinit(&files);
    if (status == CSN_OK) __atomic_store_n(&cache->known_bytes, out->bytes_left + 1, __ATOMIC_RELAXED);
    return status;
}

csn_status csn_cache_prune(struct csn_cache *cache, uint64_t max_bytes, struct csn_cache_pruned *out, struct csn_error *err) {
    struct csn_cache_pruned pruned = { .entries = 0 };
    csn_status status = prune(cache, max_bytes, true, &pruned, err);
    if (out) *out = pruned;
    return status;
}

/* What stands behind an index, about: the path of its source and the footer. */
enum { TAIL_BYTES = 256 };

/* Counting costs a walk of the folder: the first time, and when the count has reached the limit. */
void csni_cache_note_published(struct csn_cache *cache, uint64_t bytes) {
    struct csn_cache_pruned pruned = { .entries = 0 };
    uint64_t limit = cache->options.max_bytes;
    bytes += TAIL_BYTES;
    uint64_t known = __atomic_load_n(&cache->known_bytes, __ATOMIC_RELAXED);
    if (known && __atomic_add_fetch(&cache->known_bytes, bytes, __ATOMIC_RELAXED) <= limit) return;
    /* What it does not remove now it removes next time: a cache that is too large is no failure of the conversion. */
    if (prune(cache, limit, false, &pruned, NULL) < 0 || !pruned.entries) return;
    pruned = (struct csn_cache_pruned){ .entries = 0 };
    (void)prune(cache, limit / KEEP_SHARE * (KEEP_SHARE - 1), false, &pruned, NULL);
}

void csni_cache_remove_temporaries(struct csn_cache *cache, const struct csni_cache_key *key) {
    char path[CSNI_CACHE_PATH_SIZE];
    cached_files files = { .alloc = cache->alloc };
    char hex[HEX_MAX + 1], folder[3] = "";
    csni_hex_text(key->bytes, key->size, hex);
    memcpy(folder, hex, 2);
    if (gather_folder(cache, folder, &files, NULL) == CSN_OK)
        for (size_t i = 0; i < files.count; i++) {
            if (files.items[i].kind != KIND_TEMPORARY || strcmp(files.items[i].hex, hex) != 0) continue;
            path_of_file(cache, &files.items[i], path);
            unlink(path);
        }
    csni_vec_deinit(&files);
}
