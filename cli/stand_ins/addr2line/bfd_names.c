/* Names and places that a unit's DIEs tell. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>

#include "stand_ins/addr2line/bfd_unit.h"
#include "stand_ins/base/dwarf_words.h"
#include "stand_ins/base/growth.h"

enum { MAX_ORIGINS = 100 };

/* Languages whose plain names are those of the linker. */
static bool names_are_linkage(uint32_t language) {
    switch (language) {
    case 0x01: case 0x02: case 0x05: case 0x06: case 0x07: case 0x09: case 0x0c: case 0x0f: case 0x12: case 0x1d:
    case 0x8001: case 0x8765: case 0x8003: case 0x8004: case 0x8005: return true;
    default: return false;
    }
}

static void take_name(struct bfd_function *f, const struct csn_debug_value *value) {
    if (value->kind != CSN_VALUE_STRING) return;
    free(f->name);
    f->name = copy_text(value->bytes.ptr, value->bytes.len);
}

/* A linkage name, else the first plain name, of the DIE or of those that it refers to, in the order of attributes. */
static void find_name(struct bfd_function *f, const struct csn_debug_die *die, unsigned depth) {
    struct csn_debug_value value;
    struct csn_debug_die origin;
    uint64_t position = 0;
    uint32_t name;
    while (csn_debug_die_next_attribute(die, &position, &name, &value) == CSN_OK) {
        switch (name) {
        case DW_AT_name:
            if (f->name || value.kind != CSN_VALUE_STRING) break;
            take_name(f, &value);
            if (names_are_linkage(die->unit->language)) f->is_linkage = true;
            break;
        case DW_AT_linkage_name: case DW_AT_MIPS_linkage_name:
            take_name(f, &value);
            if (value.kind == CSN_VALUE_STRING) f->is_linkage = true;
            break;
        case DW_AT_abstract_origin:
            if (depth) break;
            /* fall through */
        case DW_AT_specification:
            if (depth < MAX_ORIGINS && csn_debug_die_follow(die, &value, &origin, NULL) == CSN_OK) find_name(f, &origin, depth + 1);
            break;
        default: break;
        }
    }
}

const char *bfd_function_name(struct bfd_unit *u, struct bfd_function *f) {
    struct csn_debug_die die;
    if (!f->name_known && csn_debug_die_at(u->unit, f->offset, &die, NULL) == CSN_OK) find_name(f, &die, 0);
    f->name_known = true;
    return f->name;
}

void bfd_function_call(struct bfd_unit *u, const struct bfd_function *f, const char **file, uint32_t *line) {
    struct csn_debug_die die;
    struct csn_debug_value value;
    *file = NULL;
    *line = 0;
    if (csn_debug_die_at(u->unit, f->offset, &die, NULL) != CSN_OK) return;
    if (csn_debug_die_attribute(&die, DW_AT_call_file, &value) == CSN_OK)
        *file = bfd_lines_path(u->lines, (uint32_t)value.number, false);
    if (csn_debug_die_attribute(&die, DW_AT_call_line, &value) == CSN_OK) *line = (uint32_t)value.number;
}

/* ---- variables ---- */

static void take_location(struct bfd_variable *v, const struct csn_debug_unit *unit,
                          const struct csn_debug_value *value, bool big) {
    enum { DW_OP_addr = 3 };
    const unsigned char *bytes = (const unsigned char *)value->bytes.ptr;
    if (value->kind != CSN_VALUE_BLOCK || !value->bytes.len || bytes[0] != DW_OP_addr) return;
    v->on_stack = false;
    if (value->bytes.len != unit->address_size + 1u) return;
    v->addr = 0;
    for (unsigned i = 0; i < unit->address_size; i++)
        v->addr |= (uint64_t)bytes[1 + i] << 8 * (big ? unit->address_size - 1u - i : i);
}

static void take_attributes(struct bfd_variable *v, const struct csn_debug_die *die, bool big, unsigned depth) {
    struct csn_debug_value value;
    struct csn_debug_die origin;
    uint64_t position = 0;
    uint32_t name;
    while (csn_debug_die_next_attribute(die, &position, &name, &value) == CSN_OK) {
        bool is_number = value.kind == CSN_VALUE_NUMBER || value.kind == CSN_VALUE_SIGNED;
        switch (name) {
        case DW_AT_name: case DW_AT_linkage_name: case DW_AT_MIPS_linkage_name:
            if (value.kind != CSN_VALUE_STRING || (depth && name == DW_AT_name && v->name) || (!depth && name != DW_AT_name)) break;
            free(v->name);
            v->name = copy_text(value.bytes.ptr, value.bytes.len);
            break;
        case DW_AT_specification:
            if (depth < MAX_ORIGINS && csn_debug_die_follow(die, &value, &origin, NULL) == CSN_OK)
                take_attributes(v, &origin, big, depth + 1);
            break;
        case DW_AT_decl_file:
            if (is_number) v->file = (uint32_t)value.number, v->has_file = true;
            break;
        case DW_AT_decl_line:
            if (is_number) v->line = (uint32_t)value.number;
            break;
        case DW_AT_external:
            if (!depth && is_number && value.number) v->on_stack = false;
            break;
        case DW_AT_location:
            if (!depth) take_location(v, die->unit, &value, big);
            break;
        default: break;
        }
    }
}

static void scan_variables(struct bfd_unit *u, bool big) {
    struct csn_debug_die die;
    size_t depth = 0;
    if (csn_debug_die_at(u->unit, u->unit->root, &die, NULL) != CSN_OK) return;
    for (uint64_t offset = die.next;;) {
        csn_status status = csn_debug_die_at(u->unit, offset, &die, NULL);
        offset = die.next;
        if (status < 0) return;
        if (status == CSN_NONE) {
            if (!depth--) return;
            continue;
        }
        if (die.tag == DW_TAG_variable || die.tag == DW_TAG_member) {
            struct bfd_variable v = { .offset = die.offset, .on_stack = true };
            take_attributes(&v, &die, big, 0);
            GROW_PUSH(&u->variables, v);
        }
        depth += die.has_children != 0;
    }
}

bool bfd_unit_variable(struct bfd_unit *u, const struct bfd_file *of, const char *symbol, uint64_t addr,
                       const char **file, uint32_t *line) {
    if (!u->has_variables) scan_variables(u, of->big_endian);
    u->has_variables = true;
    for (size_t i = 0; i < u->variables.count; i++) {
        const struct bfd_variable *v = &u->variables.items[i];
        if (v->addr != addr || v->on_stack || !v->has_file || !v->name || !strstr(symbol, v->name)) continue;
        *file = bfd_lines_path(u->lines, v->file, false);
        *line = v->line;
        return true;
    }
    return false;
}
