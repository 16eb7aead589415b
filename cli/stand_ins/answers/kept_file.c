/* Kept files. */
#define _GNU_SOURCE
#include "stand_ins/answers/kept_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "input/cache_folder.h"
#include "stand_ins/base/growth.h"

enum { SMALL_OBJECT = 8 << 20 };  /* opening these is cheap */
enum { MAX_FOLDER = 512 << 20 };  /* of all files; the oldest go first */

/* ---- what a file is about ---- */

bool file_identify(const char *path, struct file_identity *out) {
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) return false;
    *out = (struct file_identity){ (uint64_t)st.st_dev, (uint64_t)st.st_ino, (uint64_t)st.st_size, (uint64_t)st.st_mtim.tv_sec,
                                   (uint64_t)st.st_mtim.tv_nsec, (uint64_t)st.st_ctim.tv_sec, (uint64_t)st.st_ctim.tv_nsec };
    return true;
}

bool file_identity_equal(const struct file_identity *a, const struct file_identity *b) { return memcmp(a, b, sizeof *a) == 0; }

bool kept_subject_is_current(const struct kept_subject *subject, const struct file_identity *object) {
    struct file_identity now;
    if (!file_identity_equal(&subject->object, object) || !memchr(subject->debug_path, 0, sizeof subject->debug_path)) return false;
    return !subject->debug_path[0] || (file_identify(subject->debug_path, &now) && file_identity_equal(&now, &subject->debug_file));
}

static bool has_split_units(struct csn_debug_info *info, const struct csn_debug_object *object) {
    for (uint32_t i = 0; i < object->info_unit_count; i++) {
        const struct csn_debug_unit *unit;
        if (csn_debug_info_unit(info, i, &unit, NULL) == CSN_OK && unit->is_skeleton) return true;
    }
    return false;
}

bool kept_subject_describe(struct csn_debug_info *info, struct kept_subject *out) {
    struct csn_debug_object object;
    struct csn_debug_section section;
    csn_debug_info_get_object(info, &object, sizeof object);
    if (!object.info_unit_count || (object.has_debug_file && !object.debug_path)) return false;
    if (object.has_debug_file) {
        if (strlen(object.debug_path) >= sizeof out->debug_path || !file_identify(object.debug_path, &out->debug_file))
            return false;
        strcpy(out->debug_path, object.debug_path);
    }
    if (out->object.size < SMALL_OBJECT && out->debug_file.size < SMALL_OBJECT) return false;
    for (uint32_t i = 0; i < object.section_count; i++)
        if (csn_debug_info_section(info, i, &section, NULL) == CSN_OK && section.name.len == 17 &&
            memcmp(section.name.ptr, ".gnu_debugaltlink", 17) == 0)
            return false;
    return !has_split_units(info, &object);
}

/* ---- names ---- */

static uint64_t mix(uint64_t hash, const void *bytes, size_t size) {
    for (size_t i = 0; i < size; i++) hash = (hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3); /* FNV-1a */
    return hash;
}

/* Two hashes: names must not collide by chance. */
char *kept_file_path(const char *folder, const struct file_identity *object, const char *const *words, size_t count) {
    uint64_t hash[2] = { UINT64_C(0xcbf29ce484222325), UINT64_C(0x84222325cbf29ce4) };
    char *cache = cache_folder(NULL), *path = NULL;
    struct file_identity program = { 0 };
    if (!cache) return NULL;
    (void)file_identify("/proc/self/exe", &program); /* another build may answer otherwise */
    for (int k = 0; k < 2; k++) {
        hash[k] = mix(mix(hash[k], object, sizeof *object), &program, sizeof program);
        for (size_t i = 0; i < count; i++) hash[k] = mix(hash[k], words[i], strlen(words[i]) + 1);
    }
    if (asprintf(&path, "%s/%s/%016" PRIx64 "%016" PRIx64, cache, folder, hash[0], hash[1]) < 0) path = NULL;
    free(cache);
    return path;
}

/* ---- reading ---- */

struct kept_bytes kept_file_map(const char *path) {
    struct kept_bytes made = { NULL, 0 };
    struct stat st;
    const int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1; /* no cache, no path */
    if (fd < 0) return made;
    if (fstat(fd, &st) == 0 && st.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
        if (bytes != MAP_FAILED) made = (struct kept_bytes){ bytes, (size_t)st.st_size };
    }
    close(fd);
    return made;
}

void kept_file_unmap(struct kept_bytes bytes) {
    if (bytes.ptr) munmap((void *)(uintptr_t)bytes.ptr, bytes.size);
}

/* ---- writing ---- */

/* Removes the oldest file where all are too many. */
static void bound_folder(const char *folder) {
    uint64_t total = 0, oldest = UINT64_MAX;
    char *oldest_path = NULL;
    DIR *list = opendir(folder);
    for (const struct dirent *entry; list && (entry = readdir(list));) {
        char *path = NULL;
        struct file_identity file;
        if (asprintf(&path, "%s/%s", folder, entry->d_name) >= 0 && file_identify(path, &file)) {
            total += file.size;
            if (file.modified_s < oldest) {
                oldest = file.modified_s;
                free(oldest_path);
                oldest_path = path;
                path = NULL;
            }
        }
        free(path);
    }
    if (list) closedir(list);
    if (total > MAX_FOLDER && oldest_path) unlink(oldest_path);
    free(oldest_path);
}

static char *folder_of(const char *path) { return copy_text(path, (size_t)(strrchr(path, '/') - path)); }

static void make_folders(const char *path) {
    char *folder = folder_of(path), *parent = folder_of(folder);
    (void)mkdir(parent, 0777);
    (void)mkdir(folder, 0777);
    free(folder);
    free(parent);
}

int kept_file_lock(const char *path) {
    char *folder = folder_of(path);
    make_folders(path);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    free(folder);
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0) return fd;
    const bool is_busy = errno == EWOULDBLOCK;
    close(fd);
    return is_busy ? KEPT_LOCK_BUSY : -1;
}

void kept_file_unlock(int lock) {
    if (lock >= 0) close(lock);
}

void kept_output_open(struct kept_output *out, const char *path) {
    *out = (struct kept_output){ copy_text(path, strlen(path)), NULL, -1 };
    make_folders(path);
    if (asprintf(&out->temporary, "%s.XXXXXX", path) < 0) out->temporary = NULL;
    if (out->temporary) out->fd = mkostemp(out->temporary, O_CLOEXEC);
}

bool kept_output_close(struct kept_output *out, bool keeps) {
    char *folder = folder_of(out->path);
    bool good = out->fd >= 0;
    if (good && close(out->fd) != 0) keeps = false;
    if (good && (!keeps || rename(out->temporary, out->path) != 0)) {
        unlink(out->temporary);
        good = false;
    }
    if (good) bound_folder(folder);
    free(folder);
    free(out->path);
    free(out->temporary);
    return good;
}
