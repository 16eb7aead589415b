/* Finding and keeping indexes. */
#define _GNU_SOURCE
#include "stack/stack_indexes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ui/complain.h"

enum { PATH_ROOM = 4096, NAME_ROOM = 256 };

struct stack_index {
    char *path;
    struct csn_str stem;      /* file name less .gsym, .bsym or .sym, within `path` */
    struct build_id id;
    struct opened_index opened; /* opened.index NULL: it could not be opened */
    bool mismatch_told;
};

struct csn_str base_name_of(struct csn_str path) {
    for (size_t i = path.len; i > 0; i--)
        if (path.ptr[i - 1] == '/' || path.ptr[i - 1] == '\\')
            return (struct csn_str){ path.ptr + i, path.len - i };
    return path;
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

bool build_id_parse(struct csn_str text, struct build_id *out) {
    struct build_id id = { .size = 0 };
    size_t digits = 0;
    for (size_t i = 0; i < text.len; i++) {
        int value = hex_digit(text.ptr[i]);
        if (text.ptr[i] == '-') continue;
        if (value < 0 || digits == 2 * BUILD_ID_MAX) return false;
        uint8_t *byte = &id.bytes[digits++ / 2];
        *byte = (uint8_t)(*byte << 4 | value);
    }
    if (!digits || digits % 2) return false;
    id.size = digits / 2;
    *out = id;
    return true;
}

/* A build id may have been cut: GSYM keeps 20 bytes of it. */
static bool same_id(const struct build_id *a, const struct build_id *b) {
    size_t size = a->size < b->size ? a->size : b->size;
    return size >= 4 && memcmp(a->bytes, b->bytes, size) == 0;
}

static struct csn_str str_of(const char *text) { return (struct csn_str){ text, strlen(text) }; }

static bool same_text(struct csn_str a, struct csn_str b) { return a.len == b.len && memcmp(a.ptr, b.ptr, a.len) == 0; }

static struct csn_str stem_of(const char *path) {
    static const char *const suffixes[] = { ".gsym", ".bsym", ".sym" };
    struct csn_str name = base_name_of(str_of(path));
    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        size_t size = strlen(suffixes[i]);
        if (name.len <= size || memcmp(name.ptr + name.len - size, suffixes[i], size) != 0) continue;
        name.len -= size;
        break;
    }
    return name;
}

/* Opens a file and keeps it, even if only to remember that it cannot be opened. NULL: no memory. */
static struct stack_index *open_one(struct stack_indexes *indexes, const char *path) {
    static const struct companion_values no_companions = { .none = true };
    if (indexes->count == indexes->room) {
        size_t room = indexes->room ? indexes->room * 2 : 16;
        struct stack_index *items = reallocarray(indexes->items, room, sizeof(*items));
        if (!items) return NULL;
        indexes->items = items;
        indexes->room = room;
    }
    struct stack_index index = { .path = strdup(path) };
    if (!index.path) return NULL;
    index.stem = stem_of(index.path);
    if (open_index(path, &no_companions, &index.opened)) {
        struct csn_index_info info;
        csn_index_get_info(index.opened.index, &info);
        index.id.size = info.uuid_size < BUILD_ID_MAX ? info.uuid_size : BUILD_ID_MAX;
        memcpy(index.id.bytes, info.uuid, index.id.size);
    }
    indexes->items[indexes->count] = index;
    return &indexes->items[indexes->count++];
}

bool stack_indexes_init(struct stack_indexes *indexes, const struct text_list *files, const struct text_list *folders) {
    *indexes = (struct stack_indexes){ .folders = folders };
    for (size_t i = 0; i < files->count; i++) {
        struct stack_index *index = open_one(indexes, files->items[i]);
        if (!index) complain_memory("indexes");
        if (!index || !index->opened.index) return false;
    }
    for (size_t i = 0; i < folders->count; i++) {
        if (access(folders->items[i], X_OK) == 0) continue;
        complain(folders->items[i], "no folder that can be read");
        return false;
    }
    indexes->given_count = indexes->count;
    return true;
}

static void close_from(struct stack_indexes *indexes, size_t first) {
    while (indexes->count > first) {
        struct stack_index *index = &indexes->items[--indexes->count];
        close_index(&index->opened);
        free(index->path);
    }
}

bool stack_indexes_full(const struct stack_indexes *indexes) {
    return indexes->count - indexes->given_count > OPEN_INDEXES_MAX;
}

void stack_indexes_trim(struct stack_indexes *indexes) { close_from(indexes, indexes->given_count); }

void stack_indexes_deinit(struct stack_indexes *indexes) {
    close_from(indexes, 0);
    free(indexes->items);
    *indexes = (struct stack_indexes){ 0 };
}

static const struct csn_index *find_path(struct stack_indexes *indexes, struct csn_str path) {
    char text[PATH_ROOM];
    for (size_t i = 0; i < indexes->count; i++)
        if (same_text(str_of(indexes->items[i].path), path)) return indexes->items[i].opened.index;
    if (path.len >= sizeof(text) || memchr(path.ptr, 0, path.len)) return NULL;
    memcpy(text, path.ptr, path.len);
    text[path.len] = 0;
    struct stack_index *index = open_one(indexes, text);
    return index ? index->opened.index : NULL;
}

static const struct csn_index *find_id(const struct stack_indexes *indexes, const struct build_id *id) {
    for (size_t i = 0; i < indexes->count; i++)
        if (indexes->items[i].opened.index && same_id(&indexes->items[i].id, id)) return indexes->items[i].opened.index;
    return NULL;
}

static const struct csn_index *find_name(struct stack_indexes *indexes, const struct module_names *module) {
    struct csn_str name = base_name_of(module->name);
    for (size_t i = 0; name.len && i < indexes->count; i++) {
        struct stack_index *index = &indexes->items[i];
        if (!index->opened.index || !same_text(index->stem, name)) continue;
        if (!module->id.size || !index->id.size || same_id(&index->id, &module->id)) return index->opened.index;
        if (!index->mismatch_told)
            complain(index->path, "has another build id than the module '%.*s': not used", (int)name.len, name.ptr);
        index->mismatch_told = true;
    }
    return NULL;
}

/* ---- folders ---- */

static const struct csn_index *try_path(struct stack_indexes *indexes, const char *path) {
    return access(path, R_OK) == 0 ? find_path(indexes, str_of(path)) : NULL;
}

static void put_hex(char *out, const uint8_t *bytes, size_t size, const char *digits) {
    for (size_t i = 0; i < size; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[2 * size] = 0;
}

/* DIR/ab/cdef.gsym. */
static const struct csn_index *find_by_id_path(struct stack_indexes *indexes, const char *folder,
                                               const struct build_id *id) {
    char hex[2 * BUILD_ID_MAX + 1], path[PATH_ROOM];
    put_hex(hex, id->bytes, id->size, "0123456789abcdef");
    int size = snprintf(path, sizeof(path), "%s/%.2s/%s.gsym", folder, hex, hex + 2);
    return size > 0 && (size_t)size < sizeof(path) ? try_path(indexes, path) : NULL;
}

/* Breakpad's debug identifier of an ELF build id: a GUID, whose first three fields turn round, and an age of 0. */
static void put_debug_id(char *out, const struct build_id *id, bool turned) {
    static const uint8_t order[16] = { 3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15 };
    uint8_t guid[16] = { 0 };
    for (size_t i = 0; i < 16; i++)
        if ((turned ? order[i] : i) < id->size) guid[i] = id->bytes[turned ? order[i] : i];
    put_hex(out, guid, sizeof(guid), "0123456789ABCDEF");
    memcpy(out + 32, "0", 2);
}

/* DIR/NAME/ID/NAME.gsym, or .sym with a name that loses ".pdb". */
static const struct csn_index *find_in_store(struct stack_indexes *indexes, const char *folder, struct csn_str name,
                                             const char *id) {
    static const char *const suffixes[] = { ".gsym", ".sym" };
    struct csn_str stem = name;
    if (stem.len > 4 && memcmp(stem.ptr + stem.len - 4, ".pdb", 4) == 0) stem.len -= 4;
    for (size_t i = 0; i < 2; i++) {
        char path[PATH_ROOM];
        int size = snprintf(path, sizeof(path), "%s/%.*s/%s/%.*s%s", folder, (int)name.len, name.ptr, id, (int)stem.len,
                            stem.ptr, suffixes[i]);
        if (size <= 0 || (size_t)size >= sizeof(path)) continue;
        const struct csn_index *index = try_path(indexes, path);
        if (index) return index;
    }
    return NULL;
}

/* A name from an input becomes part of a path only if it is the name of a file. */
static bool is_file_name(struct csn_str name) {
    if (!name.len || name.len > NAME_ROOM || memchr(name.ptr, 0, name.len)) return false;
    return name.ptr[0] != '.' && !memchr(name.ptr, '/', name.len);
}

/* DIR/NAME.gsym, if it is not of another build. */
static const struct csn_index *find_by_name_path(struct stack_indexes *indexes, const char *folder, struct csn_str name,
                                                 const struct build_id *id) {
    char path[PATH_ROOM];
    int size = snprintf(path, sizeof(path), "%s/%.*s.gsym", folder, (int)name.len, name.ptr);
    const struct csn_index *index = size > 0 && (size_t)size < sizeof(path) ? try_path(indexes, path) : NULL;
    if (!index || !id->size) return index;
    struct csn_index_info info;
    csn_index_get_info(index, &info);
    struct build_id own = { .size = info.uuid_size < BUILD_ID_MAX ? info.uuid_size : BUILD_ID_MAX };
    memcpy(own.bytes, info.uuid, own.size);
    return !own.size || same_id(&own, id) ? index : NULL;
}

static const struct csn_index *find_in_folder(struct stack_indexes *indexes, const char *folder,
                                              const struct module_names *module) {
    struct csn_str name = base_name_of(module->name);
    const struct csn_index *index = module->id.size > 1 ? find_by_id_path(indexes, folder, &module->id) : NULL;
    if (index || !is_file_name(name)) return index;
    if (!module->id.size) return find_by_name_path(indexes, folder, name, &module->id);
    char id[34], whole[2 * BUILD_ID_MAX + 1];
    put_debug_id(id, &module->id, true);
    index = find_in_store(indexes, folder, name, id);
    put_debug_id(id, &module->id, false);
    if (!index) index = find_in_store(indexes, folder, name, id);
    put_hex(whole, module->id.bytes, module->id.size, "0123456789ABCDEF");
    if (!index) index = find_in_store(indexes, folder, name, whole);
    return index ? index : find_by_name_path(indexes, folder, name, &module->id);
}

const struct csn_index *stack_indexes_find(struct stack_indexes *indexes, const struct module_names *module) {
    if (module->index.len) return find_path(indexes, module->index);
    const struct csn_index *index = module->id.size ? find_id(indexes, &module->id) : NULL;
    for (size_t i = 0; !index && i < indexes->folders->count; i++)
        index = find_in_folder(indexes, indexes->folders->items[i], module);
    return index ? index : find_name(indexes, module);
}

struct csn_str stack_indexes_first_name(const struct stack_indexes *indexes) {
    return indexes->given_count ? indexes->items[0].stem : (struct csn_str){ "", 0 };
}
