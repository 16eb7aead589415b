/* What DIEs tell: names, files, lines. */
#include <stdlib.h>
#include <string.h>

#include "stand_ins/base/dwarf_words.h"
#include "stand_ins/base/growth.h"
#include "stand_ins/llvm/llvm_module.h"

enum { MAX_FOLLOWED = 32 };

bool llvm_find_attribute(const struct csn_debug_die *die, const uint32_t *names, size_t count, struct csn_debug_value *out,
                         struct csn_debug_die *owner) {
    static const uint32_t ways[] = { DW_AT_abstract_origin, DW_AT_specification };
    struct csn_debug_die stack[8];
    size_t depth = 1, followed = 0;
    stack[0] = *die;
    while (depth && followed++ < MAX_FOLLOWED) {
        const struct csn_debug_die at = stack[--depth];
        for (size_t i = 0; i < count; i++) {
            if (csn_debug_die_attribute(&at, names[i], out) != CSN_OK) continue;
            if (owner) *owner = at;
            return true;
        }
        for (size_t i = 0; i < 2; i++) {
            struct csn_debug_value value;
            if (csn_debug_die_attribute(&at, ways[i], &value) != CSN_OK || depth == 8) continue;
            if (csn_debug_die_follow(&at, &value, &stack[depth], NULL) == CSN_OK) depth++;
        }
    }
    return false;
}

bool llvm_function_name(const struct csn_debug_die *die, enum llvm_name_kind kind, struct csn_str *out) {
    static const uint32_t linkage[] = { DW_AT_MIPS_linkage_name, DW_AT_linkage_name }, plain[] = { DW_AT_name };
    struct csn_debug_value value;
    if (kind == LLVM_NAME_NONE) return false;
    bool found = (kind == LLVM_NAME_LINKAGE && llvm_find_attribute(die, linkage, 2, &value, NULL) &&
                  value.kind == CSN_VALUE_STRING) ||
                 (llvm_find_attribute(die, plain, 1, &value, NULL) && value.kind == CSN_VALUE_STRING);
    if (found) *out = value.bytes;
    return found;
}

/* ---- files ---- */

static bool is_absolute(struct csn_str path) {
    if (path.len && (path.ptr[0] == '/' || path.ptr[0] == '\\')) return path.ptr[0] == '/' || (path.len > 1 && path.ptr[1] == '\\');
    return path.len > 2 && path.ptr[1] == ':' && (path.ptr[2] == '/' || path.ptr[2] == '\\');
}

/* With a '/' between, where there is none. */
static void append(struct grown_text *to, struct csn_str part) {
    size_t begin = 0;
    if (!part.len) return;
    bool ends = to->count && to->items[to->count - 1] == '/';
    if (ends) while (begin < part.len && part.ptr[begin] == '/') begin++;
    else if (to->count && part.ptr[0] != '/') GROW_PUSH(to, '/');
    grow_text(to, part.ptr + begin, part.len - begin);
}

static struct csn_str base_of(struct csn_str path) {
    size_t begin = path.len;
    while (begin && path.ptr[begin - 1] != '/') begin--;
    return (struct csn_str){ path.ptr + begin, path.len - begin };
}

char *llvm_file_path(const struct llvm_lines *l, uint64_t file, enum llvm_path_kind kind) {
    struct csn_str directory = { "", 0 }, name;
    uint64_t idx;
    struct grown_text path = { 0 };
    const bool five = l->lines->version >= 5;
    if ((!five && !file) || csn_debug_lines_file(l->lines, file, &directory, &name, &idx) != CSN_OK) return NULL;
    if (is_absolute(name)) return copy_text(name.ptr, name.len);
    if (kind == LLVM_PATH_BASE) return copy_text(base_of(name).ptr, base_of(name).len);
    if ((five && !idx && kind == LLVM_PATH_RELATIVE) || (!five && !idx)) directory = (struct csn_str){ "", 0 };
    if (kind == LLVM_PATH_ABSOLUTE && (!five || idx) && l->lines->comp_dir.len && !is_absolute(directory))
        append(&path, l->lines->comp_dir);
    append(&path, directory);
    append(&path, name);
    GROW_PUSH(&path, '\0');
    return path.items;
}

char *llvm_decl_file(struct llvm_module *m, const struct csn_debug_die *die, enum llvm_path_kind kind) {
    static const uint32_t names[] = { DW_AT_decl_file };
    struct csn_debug_value value;
    struct csn_debug_die owner;
    if (!llvm_find_attribute(die, names, 1, &value, &owner) || value.form == DW_FORM_implicit_const) return NULL; /* as LLVM */
    const struct llvm_lines *lines = llvm_die_lines(m, &owner);
    return lines ? llvm_file_path(lines, value.number, kind) : NULL;
}

uint64_t llvm_decl_line(const struct csn_debug_die *die) {
    static const uint32_t names[] = { DW_AT_decl_line };
    struct csn_debug_value value;
    return llvm_find_attribute(die, names, 1, &value, NULL) ? value.number : 0;
}
