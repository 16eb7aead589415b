/* Where other stores may have a file: client-protocols 13. */
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

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

static void paths_by_build_id(const struct tree_query *query, struct path_list *list) {
    const char *id = query->build_id;
    if (query->kinds == ARTIFACT_GSYM) {
        add_path(list, "buildid/%s/gsym", id);
        add_path(list, ".build-id/%.2s/%s.gsym", id, id + 2);
        add_path(list, "%.2s/%s/gsym", id, id + 2);
    } else if (query->kinds & ARTIFACT_DEBUGINFO) {
        add_path(list, "buildid/%s/debuginfo", id);
        add_path(list, ".build-id/%.2s/%s.debug", id, id + 2);
        add_path(list, "%.2s/%s/debuginfo", id, id + 2);
        add_path(list, "_.debug/elf-buildid-sym-%s/_.debug", id);
    } else if (query->kinds & ARTIFACT_EXECUTABLE) {
        add_path(list, "buildid/%s/executable", id);
        add_path(list, ".build-id/%.2s/%s", id, id + 2);
        add_path(list, "%.2s/%s/executable", id, id + 2);
        if (*query->name) add_path(list, "%s/elf-buildid-%s/%s", query->name, id, query->name);
    } else if (query->kinds & ARTIFACT_BREAKPAD) {
        add_path(list, ".build-id/%.2s/%s.sym", id, id + 2);
        add_path(list, "%.2s/%s/breakpad", id, id + 2);
    }
}

static void paths_by_debug_id(const struct tree_query *query, struct path_list *list) {
    const char *name = query->name, *id = query->debug_id;
    size_t size = strlen(name);
    if (!*name) return;
    bool has_pdb = size > 4 && (strcmp(name + size - 4, ".pdb") == 0 || strcmp(name + size - 4, ".PDB") == 0);
    bool has_exe = size > 4 && (strcmp(name + size - 4, ".exe") == 0 || strcmp(name + size - 4, ".dll") == 0);
    int stem = (int)(has_pdb || has_exe ? size - 4 : size);
    if (query->kinds == ARTIFACT_GSYM) add_path(list, "%s/%s/%s.gsym", name, id, name);
    if (query->kinds & ARTIFACT_BREAKPAD) add_path(list, "%s/%s/%.*s.sym", name, id, stem, name);
    if (query->kinds & ARTIFACT_PDB && has_pdb) {
        add_path(list, "%s/%s/%s", name, id, name);
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
        add_path(&list, "%s/%s/%s", query->name, id, query->name);
    }
    return list.count;
}
