/* Names of functions in DWARF: mangled, or with the scopes around. */
#include <stdlib.h>
#include <string.h>

#include "stand_ins/base/dwarf_words.h"
#include "stand_ins/base/growth.h"
#include "stand_ins/gsymutil/gsym_dwarf.h"

enum { DW_TAG_class_type = 0x02, DW_TAG_structure_type = 0x13, DW_TAG_union_type = 0x17, DW_TAG_namespace = 0x39, MAX_SCOPES = 64 };
enum {
    DW_LANG_C = 0x02, DW_LANG_C_plus_plus = 0x04, DW_LANG_ObjC_plus_plus = 0x11, DW_LANG_C_plus_plus_03 = 0x19,
    DW_LANG_C_plus_plus_11 = 0x1a, DW_LANG_C_plus_plus_14 = 0x21
};

/* ---- parents ---- */

static void add_parent(struct gsym_unit *u, uint64_t offset, uint64_t parent) {
    GROW_PUSH(&u->parents, offset);
    GROW_PUSH(&u->parents, parent);
}

/* Only of DIEs with children and of functions: they alone are asked for. */
static void read_parents(struct gsym_unit *u) {
    struct csn_debug_die die;
    struct { uint64_t *items; size_t count, capacity; } around = { 0 };
    u->has_parents = true;
    if (csn_debug_die_at(u->code, u->code->root, &die, NULL) != CSN_OK || !die.has_children) return;
    GROW_PUSH(&around, die.offset);
    for (uint64_t offset = die.next; offset < u->code->end && around.count;) {
        csn_status status = csn_debug_die_at(u->code, offset, &die, NULL);
        if (status < 0) break;
        offset = die.next;
        if (status == CSN_NONE) {
            around.count--;
            continue;
        }
        if (die.has_children || die.tag == DW_TAG_subprogram || die.tag == DW_TAG_inlined_subroutine)
            add_parent(u, die.offset, around.items[around.count - 1]);
        if (die.has_children) GROW_PUSH(&around, die.offset);
    }
    free(around.items);
}

static bool find_parent(struct gsym_unit *u, const struct csn_debug_die *die, struct csn_debug_die *out) {
    if (!u->has_parents) read_parents(u);
    size_t low = 0, high = u->parents.count / 2;
    if (die->unit != u->code) return false;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (u->parents.items[2 * middle] < die->offset) low = middle + 1;
        else high = middle;
    }
    if (2 * low >= u->parents.count || u->parents.items[2 * low] != die->offset) return false;
    return csn_debug_die_at(u->code, u->parents.items[2 * low + 1], out, NULL) == CSN_OK;
}

/* The namespace, type or function that a DIE is declared in. */
static bool find_scope(struct gsym_unit *u, const struct csn_debug_die *die, unsigned depth, struct csn_debug_die *out) {
    static const uint32_t ways[] = { DW_AT_specification, DW_AT_abstract_origin };
    struct csn_debug_value value;
    struct csn_debug_die other;
    if (depth > MAX_SCOPES) return false;
    for (size_t i = 0; i < 2; i++)
        if (csn_debug_die_attribute(die, ways[i], &value) == CSN_OK && csn_debug_die_follow(die, &value, &other, NULL) == CSN_OK &&
            find_scope(u, &other, depth + 1, out))
            return true;
    if (die->tag == DW_TAG_inlined_subroutine || !find_parent(u, die, out)) return false;
    switch (out->tag) {
    case DW_TAG_namespace: case DW_TAG_structure_type: case DW_TAG_union_type: case DW_TAG_class_type: case DW_TAG_subprogram: return true;
    case DW_TAG_lexical_block:
        other = *out;
        return find_scope(u, &other, depth + 1, out);
    default: return false;
    }
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
    if (!has_scopes(u->language) || is_clone(name.ptr) || !find_scope(u, &at, 0, &scope)) {
        *out = gsym_build_string(u->build, name);
        return true;
    }
    struct grown_text text = { 0 };
    struct csn_str part;
    grow_text(&text, name.ptr, name.len);
    for (unsigned depth = 0; depth < MAX_SCOPES; depth++) {
        if (llvm_function_name(&scope, LLVM_NAME_SHORT, &part) && part.len) qualify(&text, part);
        at = scope;
        if (!find_scope(u, &at, 0, &scope)) break;
    }
    *out = gsym_build_string(u->build, (struct csn_str){ text.items, text.count });
    free(text.items);
    return true;
}
