/* Folders of symbols: by build id, as Breakpad's stores are, and by name. */
#include <dirent.h>
#include <stdio.h>

#include "base/core/fail.h"
#include "base/guid.h"
#include "base/hex.h"
#include "store/index_store.h"

enum { AGE_DIGITS_MAX = 8, LOOSE_NAMES_MAX = 16 };

/* A name from an input becomes part of a path only if it is the name of a file. */
static bool is_file_name(struct csn_str name) {
    if (!name.len || name.len > CSNI_STORE_NAME_MAX || memchr(name.ptr, 0, name.len)) return false;
    return name.ptr[0] != '.' && !memchr(name.ptr, '/', name.len);
}

static csn_status try_printed(struct csni_store_query *query, uint32_t place, const char *path, int size) {
    bool fits = size > 0 && size < CSNI_STORE_PATH_SIZE;
    return fits ? csni_store_try_if_there(query, place, path, false) : CSN_NONE;
}

/* The name of an index in a folder that begins with these digits, if there is only one. False: there is none, or there are several. */
static bool find_longer_id(const char *folder, const char *digits, char out[CSNI_STORE_NAME_MAX]) {
    static const char suffix[] = ".gsym";
    DIR *list = opendir(folder);
    size_t found = 0, begin = strlen(digits);
    const struct dirent *entry;
    for (size_t i = 0; list && i < CSNI_STORE_FILES_MAX && (entry = readdir(list)); i++) {
        const size_t len = strlen(entry->d_name), all = strspn(entry->d_name, "0123456789abcdef");
        if (len >= CSNI_STORE_NAME_MAX || all <= begin || strcmp(entry->d_name + all, suffix) != 0) continue;
        if (memcmp(entry->d_name, digits, begin) == 0 && !found++) memcpy(out, entry->d_name, len + 1);
    }
    if (list) closedir(list);
    return found == 1;
}

/* FOLDER/ab/cdef.gsym. Of an id that may have been cut (as Breakpad's are), the only one that begins so. */
static csn_status find_by_id_path(struct csni_store_query *query, const char *folder) {
    enum { SHA1_SIZE = 20 };
    char hex[2 * CSNI_STORE_ID_MAX + 1], path[CSNI_STORE_PATH_SIZE], name[CSNI_STORE_NAME_MAX];
    csni_hex_text(query->id.bytes, query->id.size, hex);
    int size = snprintf(path, sizeof path, "%s/%.2s/%s.gsym", folder, hex, hex + 2);
    csn_status status = try_printed(query, CSN_STORE_PLACE_FOLDER_BY_ID, path, size);
    if (status != CSN_NONE || query->id.size < CSNI_STORE_ID_MIN || query->id.size >= SHA1_SIZE) return status;
    size = snprintf(path, sizeof path, "%s/%.2s", folder, hex);
    if (size < 0 || size >= CSNI_STORE_PATH_SIZE || !find_longer_id(path, hex + 2, name)) return CSN_NONE;
    size = snprintf(path, sizeof path, "%s/%.2s/%s", folder, hex, name);
    return try_printed(query, CSN_STORE_PLACE_FOLDER_BY_ID, path, size);
}

static void capital_hex(char *out, const uint8_t *bytes, size_t size) {
    csni_hex_text(bytes, size, out);
    for (; *out; out++)
        if (*out >= 'a') *out = (char)(*out - 'a' + 'A');
}

/* Breakpad's debug identifier of a build id: a GUID and an age of 0; not turned, of a UUID of Mach-O. */
static void put_debug_id(char *out, const struct csni_store_id *id, bool is_turned) {
    uint8_t uuid[CSNI_GUID_SIZE] = { 0 };
    if (is_turned) {
        csni_guid_text(id->bytes, id->size, out);
    } else {
        memcpy(uuid, id->bytes, id->size < sizeof uuid ? id->size : sizeof uuid);
        capital_hex(out, uuid, sizeof uuid);
    }
    memcpy(out + CSNI_GUID_DIGITS, "0", 2);
}

/* FOLDER/NAME/ID/NAME.gsym, or .sym with a name that loses ".pdb". */
static csn_status find_in_breakpad(struct csni_store_query *query, const char *folder, struct csn_str name, const char *id) {
    static const char *const suffixes[] = { ".gsym", ".sym" };
    struct csn_str stem = name;
    csn_status status = CSN_NONE;
    if (stem.len > 4 && memcmp(stem.ptr + stem.len - 4, ".pdb", 4) == 0) stem.len -= 4;
    for (size_t i = 0; status == CSN_NONE && i < sizeof suffixes / sizeof *suffixes; i++) {
        char path[CSNI_STORE_PATH_SIZE];
        int size = snprintf(path, sizeof path, "%s/%.*s/%s/%.*s%s", folder, (int)name.len, name.ptr, id, (int)stem.len,
                            stem.ptr, suffixes[i]);
        status = try_printed(query, CSN_STORE_PLACE_FOLDER_BREAKPAD, path, size);
    }
    return status;
}

static bool is_age(const char *text) {
    size_t len = strspn(text, "0123456789abcdefABCDEF");
    return len && len <= AGE_DIGITS_MAX && !text[len];
}

/* A module's age is not known. The only id of that GUID in the folder; false: there is none, or there are several. */
static bool find_id_of_guid(const char *folder, const char *guid, char out[CSNI_GUID_DIGITS + AGE_DIGITS_MAX + 1]) {
    DIR *list = opendir(folder);
    size_t found = 0;
    const struct dirent *entry;
    for (size_t i = 0; list && i < CSNI_STORE_FILES_MAX && (entry = readdir(list)); i++) {
        if (strncmp(entry->d_name, guid, CSNI_GUID_DIGITS) != 0 || !is_age(entry->d_name + CSNI_GUID_DIGITS)) continue;
        if (!found++) memcpy(out, entry->d_name, strlen(entry->d_name) + 1);
    }
    if (list) closedir(list);
    return found == 1;
}

/* FOLDER/NAME.pdb/GUIDAGE/NAME.sym of an image of Windows. */
static csn_status find_by_pdb(struct csni_store_query *query, const char *folder, const char *guid) {
    char name[CSNI_STORE_NAME_MAX + 5], path[CSNI_STORE_PATH_SIZE], id[CSNI_GUID_DIGITS + AGE_DIGITS_MAX + 1];
    size_t stem = query->base_name.len;
    while (stem && query->base_name.ptr[stem - 1] != '.') stem--;
    if (!stem) return CSN_NONE;
    int size = snprintf(name, sizeof name, "%.*spdb", (int)stem, query->base_name.ptr);
    struct csn_str pdb = { name, (size_t)size };
    size = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (size < 0 || size >= CSNI_STORE_PATH_SIZE || !find_id_of_guid(path, guid, id)) return CSN_NONE;
    return find_in_breakpad(query, folder, pdb, id);
}

/* FOLDER/NAME.gsym. */
static csn_status find_by_name_path(struct csni_store_query *query, const char *folder) {
    char path[CSNI_STORE_PATH_SIZE];
    int size = snprintf(path, sizeof path, "%s/%.*s.gsym", folder, (int)query->base_name.len, query->base_name.ptr);
    return try_printed(query, CSN_STORE_PLACE_FOLDER_BY_NAME, path, size);
}

struct loose_name {
    unsigned match;
    char text[CSNI_STORE_NAME_MAX];
};

/* The best matches, the first of equals by name. */
struct loose_names {
    struct loose_name items[LOOSE_NAMES_MAX];
    size_t count;
};

static void keep_loose_name(struct loose_names *names, unsigned match, const char *text) {
    size_t at = names->count;
    for (; at; at--) {
        const struct loose_name *before = &names->items[at - 1];
        if (before->match > match || (before->match == match && strcmp(before->text, text) <= 0)) break;
    }
    if (at == LOOSE_NAMES_MAX) return;
    const size_t moved = (names->count < LOOSE_NAMES_MAX ? names->count++ : LOOSE_NAMES_MAX - 1) - at;
    memmove(&names->items[at + 1], &names->items[at], moved * sizeof *names->items);
    names->items[at].match = match;
    memcpy(names->items[at].text, text, strlen(text) + 1);
}

/* The names in the folder that match loosely and not exactly. */
static csn_status find_loose_names(const struct csni_store_query *query, size_t folder, struct loose_names *names) {
    struct csn_str rest;
    names->count = 0;
    CSNI_TRY(csni_store_read_names(query->store, folder, &rest, query->err));
    while (rest.len) {
        const struct csn_str name = csni_str(rest.ptr);
        unsigned match = csni_module_name_match(query->base_name, csni_store_stem(name));
        if (match && match != CSNI_NAME_EXACT) keep_loose_name(names, match, name.ptr); /* that one was tried already */
        rest = (struct csn_str){ rest.ptr + name.len + 1, rest.len - name.len - 1 };
    }
    return CSN_OK;
}

static csn_status find_by_loose_name(struct csni_store_query *query, size_t folder) {
    struct loose_names names;
    csn_status status = find_loose_names(query, folder, &names);
    if (status < 0) return status;
    query->in_folders.is_loose = true;
    status = CSN_NONE;
    for (size_t i = 0; status == CSN_NONE && i < names.count; i++) {
        char path[CSNI_STORE_PATH_SIZE];
        int size = snprintf(path, sizeof path, "%s/%s", query->store->options.folders[folder], names.items[i].text);
        status = try_printed(query, CSN_STORE_PLACE_FOLDER_BY_NAME, path, size);
    }
    query->in_folders.is_loose = false;
    return status;
}

csn_status csni_store_find_in_folder_by_id(struct csni_store_query *query, const char *folder) {
    csn_status status = query->id.size > 1 ? find_by_id_path(query, folder) : CSN_NONE;
    if (status != CSN_NONE || !query->id.size || !is_file_name(query->base_name)) return status;
    char turned[CSNI_GUID_DIGITS + 2], id[CSNI_GUID_DIGITS + 2], whole[2 * CSNI_STORE_ID_MAX + 1];
    put_debug_id(turned, &query->id, true);
    status = find_in_breakpad(query, folder, query->base_name, turned);
    put_debug_id(id, &query->id, false);
    if (status == CSN_NONE) status = find_in_breakpad(query, folder, query->base_name, id);
    capital_hex(whole, query->id.bytes, query->id.size);
    if (status == CSN_NONE) status = find_in_breakpad(query, folder, query->base_name, whole);
    if (status == CSN_NONE && query->id.size == CSNI_GUID_DIGITS / 2) status = find_by_pdb(query, folder, turned);
    return status;
}

static csn_status find_in_folder_by_name(struct csni_store_query *query, size_t folder) {
    csn_status status = find_by_name_path(query, query->store->options.folders[folder]);
    return status == CSN_NONE ? find_by_loose_name(query, folder) : status;
}

csn_status csni_store_find_in_folders_by_name(struct csni_store_query *query) {
    const struct csn_store_options *options = &query->store->options;
    csn_status status = CSN_NONE;
    if (!is_file_name(query->base_name)) return CSN_NONE;
    query->in_folders = (struct csni_store_undecided){ .is_wanted = true };
    for (size_t i = 0; status == CSN_NONE && i < options->folder_count; i++)
        status = find_in_folder_by_name(query, i);
    query->in_folders.is_wanted = false;
    return status == CSN_NONE ? csni_store_take_undecided(query) : status;
}
