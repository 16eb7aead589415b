#define _GNU_SOURCE
#include "process/live_file.h"

#include "base/core/fail.h"

#ifdef __linux__
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/core/alloc.h"
#include "base/hex.h"
#include "base/lines.h"
#include "object/core_files.h"
#include "object/object.h"
#include "process/maps_line.h"

enum { HEAD_SIZE = 1 << 16, NAMES_MAX = 4, ROOT_SIZE = 64 };

/* One search. */
struct live_search {
    const struct csni_live_file *file;
    const struct csn_allocator *alloc;
    struct csni_live_opened *out;
    char names[NAMES_MAX][CSNI_LIVE_PATH_SIZE]; /* that the path may stand for */
    unsigned name_count;
    char root[ROOT_SIZE];
    bool knows_memory;         /* out->memory_id was read, if it can be */
    int map_files_error;
    int path_error;            /* why the file that has its numbers cannot be opened */
    uint64_t other_inode;      /* of a file that has the path; 0: none */
    uint8_t other_id[CSN_BUILD_ID_MAX];
    size_t other_id_size;      /* its build id, which is not that of the process */
    bool no_memory;
};

/* ---- names ---- */

static void add_name(struct live_search *search, const char *text) {
    for (unsigned i = 0; i < search->name_count; i++)
        if (strcmp(search->names[i], text) == 0) return;
    if (search->name_count < NAMES_MAX) memcpy(search->names[search->name_count++], text, strlen(text) + 1);
}

static bool strip_deleted(char *text) {
    static const char deleted[] = " (deleted)";
    const size_t len = strlen(text), suffix = sizeof deleted - 1;
    if (len <= suffix || strcmp(text + len - suffix, deleted) != 0) return false;
    text[len - suffix] = 0;
    return true;
}

/* The kernel writes a newline as "\012", and a backslash as it is. */
static bool put_newlines(char *text) {
    char *to = text;
    bool found = false;
    for (const char *from = text; *from;) {
        const bool is_newline = strncmp(from, "\\012", 4) == 0;
        *to++ = is_newline ? '\n' : *from;
        from += is_newline ? 4 : 1;
        found |= is_newline;
    }
    *to = 0;
    return found;
}

static void list_names(struct live_search *search) {
    const struct csn_str path = search->file->path;
    char text[CSNI_LIVE_PATH_SIZE];
    if (path.len >= sizeof text) return;
    memcpy(text, path.ptr, path.len);
    text[path.len] = 0;
    add_name(search, text);
    if (put_newlines(text)) add_name(search, text);
    for (unsigned i = 0, count = search->name_count; i < count; i++) {
        memcpy(text, search->names[i], sizeof text);
        if (strip_deleted(text)) add_name(search, text);
    }
}

/* ---- which file it is ---- */

static bool is_node(const struct csni_live_node *node, uint64_t device, uint64_t inode) {
    return inode == node->inode && major((dev_t)device) == node->major && minor((dev_t)device) == node->minor;
}

/* What the maps of this process say of the file that was just mapped. */
static bool is_shown_as(const struct csni_live_node *node, const struct csni_file_map *map) {
    struct csni_file_map maps;
    struct csni_maps_line parsed;
    struct csn_str line;
    bool found = false;
    if (!map->mapped || csni_file_map_open(&maps, "/proc/self/maps", NULL) < 0) return false;
    struct csni_lines lines = { .rest = maps.bytes };
    while (!found && csni_lines_next(&lines, &line))
        found = csni_maps_line_parse(line, &parsed) && parsed.start == (uintptr_t)map->address;
    csni_file_map_close(&maps);
    return found && parsed.inode == node->inode && parsed.major == node->major && parsed.minor == node->minor;
}

static void read_memory_id(struct live_search *search) {
    const struct csni_live_file *file = search->file;
    char path[ROOT_SIZE];
    if (search->knows_memory) return;
    search->knows_memory = true;
    if (!file->head_size) return;
    const size_t size = file->head_size < HEAD_SIZE ? (size_t)file->head_size : HEAD_SIZE;
    uint8_t *bytes = csni_alloc(search->alloc, size);
    if (!bytes) {
        search->no_memory = true;
        return;
    }
    snprintf(path, sizeof path, "/proc/%" PRIu64 "/mem", file->node.running_pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t got = fd >= 0 ? pread(fd, bytes, size, (off_t)file->head) : -1;
    if (fd >= 0) close(fd);
    if (got > 0) {
        const struct csni_span id = csni_elf_build_id_in_memory((struct csni_span){ bytes, (size_t)got });
        search->out->memory_id_size = id.size < CSN_BUILD_ID_MAX ? id.size : CSN_BUILD_ID_MAX;
        if (id.size) memcpy(search->out->memory_id, id.ptr, search->out->memory_id_size);
    }
    csni_free(search->alloc, bytes, size);
}

static size_t read_file_id(struct live_search *search, struct csni_span bytes, uint8_t out[CSN_BUILD_ID_MAX]) {
    struct csni_object_options options = { .allocator = search->alloc, .file_is_mapped = true };
    struct csni_object *object;
    csn_status status = csni_object_open(bytes, &options, &object, NULL);
    if (status == CSN_E_MEMORY) search->no_memory = true;
    if (status != CSN_OK) return 0;
    const size_t size = object->build_id.size < CSN_BUILD_ID_MAX ? object->build_id.size : CSN_BUILD_ID_MAX;
    if (size) memcpy(out, object->build_id.ptr, size);
    csni_object_close(object);
    return size;
}

enum id_match { IDS_DIFFER, IDS_UNKNOWN, IDS_EQUAL };

static enum id_match compare_ids(struct live_search *search, struct csni_span bytes) {
    uint8_t id[CSN_BUILD_ID_MAX];
    read_memory_id(search);
    const size_t size = search->out->memory_id_size ? read_file_id(search, bytes, id) : 0;
    if (!search->out->memory_id_size) return IDS_UNKNOWN;
    if (size == search->out->memory_id_size && memcmp(id, search->out->memory_id, size) == 0) return IDS_EQUAL;
    if (size) memcpy(search->other_id, id, size);
    search->other_id_size = size;
    return IDS_DIFFER;
}

/* ---- places ---- */

/* How a file proves to be the one. */
enum proof {
    BY_NUMBERS, /* those of stat() */
    BY_MAPS,    /* those of the maps, and no other build id: files of two subvolumes of btrfs may have the same ones */
    BY_ID       /* the build id in memory */
};

static bool is_proved(struct live_search *search, enum proof proof, const struct csni_file_map *map,
                      const struct csni_file_node *node) {
    if (proof == BY_NUMBERS) return is_node(&search->file->node, node->device, node->inode);
    if (proof == BY_ID) return compare_ids(search, map->bytes) == IDS_EQUAL;
    return is_shown_as(&search->file->node, map) && compare_ids(search, map->bytes) != IDS_DIFFER;
}

/* Only regular files are opened: opening a device can have effects. What was opened is what is compared. */
static bool try_path(struct live_search *search, enum proof proof, const char *path) {
    struct csni_file_map map;
    struct csni_file_node node;
    struct csn_error why = CSN_ERROR_INIT;
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || !st.st_size) return false;
    const bool has_numbers = is_node(&search->file->node, (uint64_t)st.st_dev, (uint64_t)st.st_ino);
    if (!has_numbers) search->other_inode = (uint64_t)st.st_ino;
    if (has_numbers != (proof == BY_NUMBERS)) return false;
    if (csni_file_map_open_node(&map, path, &node, &why) < 0) {
        if (has_numbers) search->path_error = why.os_error;
        return false;
    }
    if (is_proved(search, proof, &map, &node)) {
        search->out->map = map;
        snprintf(search->out->path, sizeof search->out->path, "%s", path);
        return true;
    }
    csni_file_map_close(&map);
    return false;
}

static bool try_names(struct live_search *search, enum proof proof, bool in_root) {
    char path[CSNI_LIVE_PATH_SIZE + ROOT_SIZE];
    for (unsigned i = 0; i < search->name_count; i++) {
        snprintf(path, sizeof path, "%s%s", in_root ? search->root : "", search->names[i]);
        if (strlen(path) < CSNI_LIVE_PATH_SIZE && try_path(search, proof, path)) return true;
    }
    return false;
}

static bool try_either(struct live_search *search, const char *path) {
    return try_path(search, BY_NUMBERS, path) || try_path(search, BY_MAPS, path);
}

/* The kernel's own ways to the file, which need no name. */
static bool try_kernel(struct live_search *search) {
    const struct csni_live_file *file = search->file;
    const uint64_t pid = file->node.running_pid;
    const uint64_t other = search->other_inode; /* what follows is not of a file that has the path */
    const int path_error = search->path_error;
    char path[2 * ROOT_SIZE];
    snprintf(path, sizeof path, "/proc/%" PRIu64 "/exe", pid);
    if (try_either(search, path)) return true;
    snprintf(path, sizeof path, "/proc/%" PRIu64 "/map_files/%" PRIx64 "-%" PRIx64, pid, file->start, file->end);
    if (try_either(search, path)) return true;
    if (faccessat(AT_FDCWD, path, R_OK, AT_EACCESS) != 0) search->map_files_error = errno; /* not opened: it may be a device */
    search->other_inode = other;
    search->path_error = path_error;
    return false;
}

/* ---- why not ---- */

static csn_status fail_other_id(const struct live_search *search, struct csn_error *err) {
    char has[2 * CSN_BUILD_ID_MAX + 1], needs[2 * CSN_BUILD_ID_MAX + 1];
    csni_hex_text(search->other_id, search->other_id_size, has);
    csni_hex_text(search->out->memory_id, search->out->memory_id_size, needs);
    return csni_fail(err, CSN_E_NOT_FOUND, NULL, 0,
                     "has another build id than what the process has mapped: %s instead of %s; not used", has, needs);
}

static csn_status fail_not_found(const struct live_search *search, struct csn_error *err) {
    const struct csni_live_node *node = &search->file->node;
    char other[80] = "no file has this path", how[100] = "";
    if (search->other_id_size) return fail_other_id(search, err);
    if (search->path_error)
        snprintf(other, sizeof other, "at its path: %s", strerror(search->path_error));
    else if (search->other_inode)
        snprintf(other, sizeof other, "another file has this path (inode %" PRIu64 ")", search->other_inode);
    if (search->map_files_error == EPERM || search->map_files_error == EACCES)
        snprintf(how, sizeof how, ", and /proc/PID/map_files needs CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE");
    else if (search->map_files_error)
        snprintf(how, sizeof how, ", and /proc/PID/map_files: %s", strerror(search->map_files_error));
    csni_fail(err, CSN_E_NOT_FOUND, NULL, 0, "the file that the process has mapped (inode %" PRIu64 ") cannot be opened: %s%s",
              node->inode, other, how);
    if (err) err->os_error = search->map_files_error;
    return CSN_E_NOT_FOUND;
}

/* ---- all of it ---- */

/* The own root goes first where numbers prove it: what is beside a file is found by its path. */
static bool find(struct live_search *search) {
    return try_names(search, BY_NUMBERS, false) || try_names(search, BY_NUMBERS, true) || try_names(search, BY_MAPS, true)
           || try_names(search, BY_MAPS, false) || try_kernel(search) || try_names(search, BY_ID, true)
           || try_names(search, BY_ID, false);
}

csn_status csni_live_file_open(const struct csni_live_file *file, const struct csn_allocator *alloc, struct csni_live_opened *out,
                               struct csn_error *err) {
    struct live_search *search = csni_alloc_zeroed(alloc, 1, sizeof *search);
    if (!search) return csni_fail_memory(err, sizeof *search);
    search->file = file;
    search->alloc = alloc;
    search->out = out;
    out->map = (struct csni_file_map){ .address = NULL };
    out->path[0] = 0;
    out->memory_id_size = 0;
    snprintf(search->root, sizeof search->root, "/proc/%" PRIu64 "/root", file->node.running_pid);
    list_names(search);
    csn_status status = CSN_OK;
    if (!find(search)) {
        read_memory_id(search);
        status = fail_not_found(search, err);
    }
    if (search->no_memory) {
        csni_file_map_close(&out->map);
        status = csni_fail_memory(err, HEAD_SIZE);
    }
    csni_free(alloc, search, sizeof *search);
    return status;
}
#else
csn_status csni_live_file_open(const struct csni_live_file *file, const struct csn_allocator *alloc, struct csni_live_opened *out,
                               struct csn_error *err) {
    (void)file, (void)alloc, (void)out;
    return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "files of running processes are found on Linux only");
}
#endif
