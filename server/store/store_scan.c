/* The catalogue and the files: bringing the one up to date with the other. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/store_private.h"

enum { DEEPEST = 12 };

struct scan {
    struct symbol_store *store;
    struct scan_counts counts;
    struct known { char *path; int64_t modified_ns; uint64_t bytes; bool seen; } *known; /* ordered by path */
    size_t known_count, known_cap;
    bool keeps_known; /* whatever became of them */
    bool failed;
    scan_rejected_callback *rejected; /* NULL: nobody is told */
    void *context;
};

static bool remember_entry(void *context, const struct artifact *artifact) {
    struct scan *scan = context;
    if (scan->known_count == scan->known_cap) {
        size_t cap = scan->known_cap ? scan->known_cap * 2 : 1024;
        struct known *grown = reallocarray(scan->known, cap, sizeof(*grown));
        if (!grown) return !(scan->failed = true);
        scan->known = grown;
        scan->known_cap = cap;
    }
    struct known *known = &scan->known[scan->known_count];
    *known = (struct known){ strdup(artifact->path), artifact->modified_ns, artifact->bytes, false };
    scan->failed = !known->path;
    scan->known_count += known->path != NULL;
    return !scan->failed;
}

static int compare_known(const void *path, const void *known) { return strcmp(path, ((const struct known *)known)->path); }

/* What the catalogue has under this path, whatever the file is now. */
static struct known *find_known(struct scan *scan, const char *path) {
    return scan->known_count ? bsearch(path, scan->known, scan->known_count, sizeof(struct known), compare_known) : NULL;
}

static bool is_known(struct scan *scan, struct known *known, const struct stat *st) {
    if (!known) return false;
    known->seen = true;
    if (scan->keeps_known) return true;
    return known->bytes == (uint64_t)st->st_size &&
           known->modified_ns == (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

/* The name and source that were written beside the file. */
static void read_meta(const char *path, struct artifact *artifact) {
    char meta[2 * STORE_PATH_SIZE + 8];
    snprintf(meta, sizeof(meta), "%s.meta", path);
    json_t *root = json_load_file(meta, 0, NULL);
    const char *name = json_string_value(json_object_get(root, "name")),
               *source = json_string_value(json_object_get(root, "source"));
    if (name && artifact_name_is_safe(name)) snprintf(artifact->name, sizeof(artifact->name), "%s", name);
    if (source) snprintf(artifact->source, sizeof(artifact->source), "%s", source);
    json_decref(root);
}

/* LLDB's tree is made of the id alone: 3322/1100/5544/7766/8899/AABBCCDDEEFF[.app]. */
static bool is_of_lldb(const char *path) {
    for (int part = 0; part < 6; part++) {
        size_t digits = strspn(path, "0123456789abcdefABCDEF");
        if (digits != (part < 5 ? 4 : 12) || (part < 5 && path[digits] != '/')) return false;
        path += digits + (part < 5);
    }
    return !*path || strcmp(path, ".app") == 0;
}

/* In trees that have the name in a folder above, it is there: libshop.so/ID/libshop.so.sym. */
static void name_from_path(struct artifact *artifact) {
    const char *first = strchr(artifact->path, '/'), *second = first ? strchr(first + 1, '/') : NULL;
    if (is_of_lldb(artifact->path)) artifact->name[0] = 0;
    if (*artifact->name || !second || is_of_lldb(artifact->path) || strncmp(artifact->path, ".build-id/", 10) == 0 ||
        strncmp(artifact->path, "buildid/", 8) == 0)
        return;
    size_t size = (size_t)(first - artifact->path);
    if (size < 3 || size >= NAME_SIZE || artifact->path[0] == '_') return;
    memcpy(artifact->name, artifact->path, size);
    artifact->name[size] = 0;
}

/* Nothing stands there any more, or nothing that a store keeps. */
static void forget_file(struct scan *scan, const char *relative) {
    symbol_store_forget(scan->store, relative);
    scan->counts.removed++;
}

static void scan_file(struct scan *scan, const char *relative, const char *path, const struct stat *st) {
    struct artifact artifact;
    char why[256];
    scan->counts.files++;
    struct known *known = find_known(scan, relative);
    if (is_known(scan, known, st)) return;
    const int kind = artifact_identify(path, relative, &artifact, why, sizeof(why));
    if (kind != 0) {
        scan->counts.rejected++;
        if (known && kind > 0) forget_file(scan, relative);
        if (scan->rejected) scan->rejected(scan->context, relative, why);
        return;
    }
    snprintf(artifact.path, sizeof(artifact.path), "%s", relative);
    snprintf(artifact.source, sizeof(artifact.source), "scan");
    name_from_path(&artifact);
    read_meta(path, &artifact);
    scan->counts.added++;
    if (catalogue_put(scan->store->catalogue, &artifact) < 0) scan->failed = true;
}

static bool is_ignored(const char *name) {
    size_t size = strlen(name);
    return strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || strcmp(name, ".callsign") == 0 ||
           (size > 5 && strcmp(name + size - 5, ".meta") == 0);
}

static void scan_folder(struct scan *scan, const char *relative, int depth) {
    char path[2 * STORE_PATH_SIZE], inner[STORE_PATH_SIZE];
    snprintf(path, sizeof(path), "%s/%s", scan->store->dir, relative);
    DIR *folder = opendir(path);
    if (!folder) {
        if (errno != ENOENT) scan->failed = true;
        return;
    }
    for (struct dirent *entry; (entry = readdir(folder)) && !scan->failed;) {
        struct stat st;
        int size = snprintf(inner, sizeof(inner), "%s%s%s", relative, *relative ? "/" : "", entry->d_name);
        if (is_ignored(entry->d_name) || size >= (int)sizeof(inner)) continue;
        if (fstatat(dirfd(folder), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0) continue;
        snprintf(path, sizeof(path), "%s/%s", scan->store->dir, inner);
        if (S_ISDIR(st.st_mode) && depth < DEEPEST) scan_folder(scan, inner, depth + 1);
        else if (S_ISREG(st.st_mode)) scan_file(scan, inner, path, &st);
    }
    closedir(folder);
}

static void remove_gone(struct scan *scan) {
    for (size_t i = 0; i < scan->known_count; i++) {
        char path[2 * STORE_PATH_SIZE];
        if (scan->known[i].seen) continue;
        snprintf(path, sizeof(path), "%s/%s", scan->store->dir, scan->known[i].path);
        if (access(path, F_OK) == 0) continue; /* it came while the folders were read */
        forget_file(scan, scan->known[i].path);
    }
}

static int run_scan(struct scan *scan, struct scan_counts *out, char *why, size_t why_size) {
    if (catalogue_walk(scan->store->catalogue, remember_entry, scan) < 0) scan->failed = true;
    if (!scan->failed) scan_folder(scan, "", 0);
    if (!scan->failed && !scan->keeps_known) remove_gone(scan);
    for (size_t i = 0; i < scan->known_count; i++) free(scan->known[i].path);
    free(scan->known);
    if (out) *out = scan->counts;
    if (scan->failed) snprintf(why, why_size, "%s: the store cannot be read", scan->store->dir);
    else scan->store->is_new = false;
    if (scan->counts.added) fetches_forget_misses(scan->store->fetches);
    return scan->failed ? -1 : 0;
}

int symbol_store_scan(struct symbol_store *store, struct scan_counts *out, char *why, size_t why_size) {
    struct scan scan = { .store = store };
    return run_scan(&scan, out, why, why_size);
}

int symbol_store_scan_new(struct symbol_store *store, scan_rejected_callback *rejected, void *context, struct scan_counts *out,
                          char *why, size_t why_size) {
    struct scan scan = { .store = store, .keeps_known = true, .rejected = rejected, .context = context };
    return run_scan(&scan, out, why, why_size);
}
