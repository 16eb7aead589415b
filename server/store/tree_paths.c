/* Where other stores may have a file: client-protocols 13. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "store/layout.h"

struct path_list {
    char (*paths)[STORE_PATH_SIZE];
    size_t count;
};

static void add_path(struct path_list *list, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add_path(struct path_list *list, const char *format, ...) {
    va_list args;
    if (list->count == MOST_TREE_PATHS) return;
    va_start(args, format);
    int size = vsnprintf(list->paths[list->count], STORE_PATH_SIZE, format, args);
    va_end(args);
    list->count += size > 0 && size < STORE_PATH_SIZE;
}

static void small_letters(char *text) {
    for (; *text; text++) *text = (char)tolower((unsigned char)*text);
}

/* NAME/KEY/NAME, and in small letters: so want the key conventions of SSQP names and ids, and so have them trees
 * that tell letters apart. */
static void add_named(struct path_list *list, const char *name, const char *key) {
    size_t before = list->count;
    add_path(list, "%s/%s/%s", name, key, name);
    if (list->count == before) return;
    char *added = list->paths[before], *small = list->paths[list->count];
    add_path(list, "%s", added);
    if (list->count == before + 1) return;
    small_letters(small);
    if (strcmp(added, small) == 0) list->count--;
}

/* In keys of SSQP a build id has 20 bytes: shorter ones are filled up with zeros. */
static const char *ssqp_build_id(const char *id, char out[ID_TEXT_SIZE]) {
    static const char zeros[] = "0000000000000000000000000000000000000000";
    const size_t size = strlen(id), whole = sizeof(zeros) - 1;
    snprintf(out, ID_TEXT_SIZE, "%s%s", id, size < whole ? zeros + size : "");
    return out;
}

static void paths_by_build_id(const struct tree_query *query, struct path_list *list) {
    const char *id = query->build_id;
    char ssqp_id[ID_TEXT_SIZE], key[sizeof("elf-buildid-") + ID_TEXT_SIZE];
    if (query->kinds == ARTIFACT_GSYM) {
        add_path(list, "buildid/%s/gsym", id);
        add_path(list, ".build-id/%.2s/%s.gsym", id, id + 2);
        add_path(list, "%.2s/%s/gsym", id, id + 2);
    } else if (query->kinds & ARTIFACT_DEBUGINFO) {
        add_path(list, "buildid/%s/debuginfo", id);
        add_path(list, ".build-id/%.2s/%s.debug", id, id + 2);
        add_path(list, "%.2s/%s/debuginfo", id, id + 2);
        add_path(list, "_.debug/elf-buildid-sym-%s/_.debug", ssqp_build_id(id, ssqp_id));
    } else if (query->kinds & ARTIFACT_EXECUTABLE) {
        add_path(list, "buildid/%s/executable", id);
        add_path(list, ".build-id/%.2s/%s", id, id + 2);
        add_path(list, "%.2s/%s/executable", id, id + 2);
        if (*query->name) {
            snprintf(key, sizeof(key), "elf-buildid-%s", ssqp_build_id(id, ssqp_id));
            add_named(list, query->name, key);
        }
    } else if (query->kinds & ARTIFACT_BREAKPAD) {
        add_path(list, ".build-id/%.2s/%s.sym", id, id + 2);
        add_path(list, "%.2s/%s/breakpad", id, id + 2);
    }
}

static void paths_by_debug_id(const struct tree_query *query, struct path_list *list) {
    const char *name = query->name, *id = query->debug_id;
    size_t size = strlen(name);
    if (!*name) return;
    bool has_pdb = size > 4 && strcasecmp(name + size - 4, ".pdb") == 0;
    bool has_exe = size > 4 && (strcasecmp(name + size - 4, ".exe") == 0 || strcasecmp(name + size - 4, ".dll") == 0);
    int stem = (int)(has_pdb || has_exe ? size - 4 : size);
    if (query->kinds == ARTIFACT_GSYM) add_path(list, "%s/%s/%s.gsym", name, id, name);
    if (query->kinds & ARTIFACT_BREAKPAD) add_path(list, "%s/%s/%.*s.sym", name, id, stem, name);
    if (query->kinds & ARTIFACT_PDB && has_pdb) {
        add_named(list, name, id);
        add_path(list, "%.2s/%s/%s/%s", name, name, id, name);
    }
}

size_t tree_query_paths(const struct tree_query *query, char out[MOST_TREE_PATHS][STORE_PATH_SIZE]) {
    struct path_list list = { out, 0 };
    if (*query->build_id) paths_by_build_id(query, &list);
    else if (*query->debug_id) paths_by_debug_id(query, &list);
    else if (*query->code_id && *query->name) {
        char id[ID_TEXT_SIZE];
        snprintf(id, sizeof(id), "%s", query->code_id);
        for (size_t i = 0; i < 8 && id[i]; i++) id[i] = (char)toupper((unsigned char)id[i]);
        add_named(&list, query->name, id);
    }
    return list.count;
}
