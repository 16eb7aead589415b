/* Names of functions in DWARF: mangled, or with the scopes around. */
#include <stdlib.h>
#include <string.h>

#include "stand_ins/base/dwarf_words.h"
#include "stand_ins/base/growth.h"
#include "stand_ins/gsymutil/gsym_dwarf.h"

enum { DW_TAG_class_type = 0x02, DW_TAG_structure_type = 0x13, DW_TAG_union_type = 0x17, DW_TAG_namespace = 0x39 };
enum { MAX_SCOPES = 64, MAX_ASKED = 1024 };
enum {
    DW_LANG_C = 0x02, DW_LANG_C_plus_plus = 0x04, DW_LANG_ObjC_plus_plus = 0x11, DW_LANG_C_plus_plus_03 = 0x19,
    DW_LANG_C_plus_plus_11 = 0x1a, DW_LANG_C_plus_plus_14 = 0x21
};

/* ---- scopes ---- */

/* The namespace, type or function that a DIE is declared in. `left`: DIEs that may still be asked; each of them may lead to two. */
static bool find_scope_within(struct gsym_unit *u, const struct csn_debug_die *die, unsigned *left, struct csn_debug_die *out) {
    static const uint32_t ways[] = { DW_AT_specification, DW_AT_abstract_origin };
    struct csn_debug_value value;
    struct csn_debug_die other;
    if (!*left) return false;
    --*left;
    for (size_t i = 0; i < 2; i++)
        if (csn_debug_die_attribute(die, ways[i], &value) == CSN_OK && csn_debug_die_follow(die, &value, &other, NULL) == CSN_OK &&
            find_scope_within(u, &other, left, out))
            return true;
    if (die->tag == DW_TAG_inlined_subroutine || !gsym_find_parent(u, die, out)) return false;
    switch (out->tag) {
    case DW_TAG_namespace: case DW_TAG_structure_type: case DW_TAG_union_type: case DW_TAG_class_type: case DW_TAG_subprogram:
        return true;
    case DW_TAG_lexical_block:
        other = *out;
        return find_scope_within(u, &other, left, out);
    default: return false;
    }
}

static bool find_scope(struct gsym_unit *u, const struct csn_debug_die *die, struct csn_debug_die *out) {
    unsigned left = MAX_ASKED;
    return find_scope_within(u, die, &left, out);
}

/* ---- names ---- */

static bool has_scopes(uint64_t language) {
    return language == DW_LANG_C_plus_plus || language == DW_LANG_C_plus_plus_03 || language == DW_LANG_C_plus_plus_11 ||
           language == DW_LANG_C_plus_plus_14 || language == DW_LANG_ObjC_plus_plus || language == DW_LANG_C;
}

/* GCC names parts of functions in DW_AT_name, mangled. */
static bool is_clone(const char *name) {
    return strncmp(name, "_Z", 2) == 0 && (strstr(name, ".isra.") || strstr(name, ".part."));
}

/* Puts "SCOPE::" before a name. */
static void qualify(struct grown_text *name, struct csn_str scope) {
    struct grown_text made = { 0 };
    const bool is_unnamed = scope.len > 1 && scope.ptr[0] == '<' && scope.ptr[scope.len - 1] == '>';
    if (is_unnamed) grow_text(&made, "{", 1);
    grow_text(&made, scope.ptr + is_unnamed, scope.len - 2 * (size_t)is_unnamed);
    if (is_unnamed) grow_text(&made, "}", 1);
    grow_text(&made, "::", 2);
    grow_text(&made, name->items, name->count);
    free(name->items);
    *name = made;
}

bool gsym_die_name(struct gsym_unit *u, const struct csn_debug_die *die, uint32_t *out) {
    static const uint32_t linkage[] = { DW_AT_MIPS_linkage_name, DW_AT_linkage_name };
    struct csn_debug_value value;
    struct csn_debug_die at = *die, scope;
    struct csn_str name;
    if (llvm_find_attribute(die, linkage, 2, &value, NULL) && value.kind == CSN_VALUE_STRING && value.bytes.len) {
        *out = gsym_build_string(u->build, value.bytes);
        return true;
    }
    if (!llvm_function_name(die, LLVM_NAME_SHORT, &name) || !name.len) return false;
    if (!has_scopes(u->language) || is_clone(name.ptr) || !find_scope(u, &at, &scope)) {
        *out = gsym_build_string(u->build, name);
        return true;
    }
    struct grown_text text = { 0 };
    struct csn_str part;
    grow_text(&text, name.ptr, name.len);
    for (unsigned depth = 0; depth < MAX_SCOPES; depth++) {
        if (llvm_function_name(&scope, LLVM_NAME_SHORT, &part) && part.len) qualify(&text, part);
        at = scope;
        if (!find_scope(u, &at, &scope)) break;
    }
    *out = gsym_build_string(u->build, (struct csn_str){ text.items, text.count });
    free(text.items);
    return true;
}
