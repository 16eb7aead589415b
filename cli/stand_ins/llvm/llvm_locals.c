/* Variables of the function at an address, with those of calls that were inlined into it. */
#include <stdlib.h>
#include <string.h>

#include "stand_ins/base/dwarf_words.h"
#include "stand_ins/base/growth.h"
#include "stand_ins/llvm/llvm_answer.h"

enum { DW_OP_deref = 0x06, DW_OP_reg0 = 0x50, DW_OP_reg31 = 0x6f, DW_OP_breg0 = 0x70, DW_OP_fbreg = 0x91, NO_REGISTER = -1 };

/* Where an expression is nothing but an offset from the frame. */
static bool frame_offset(struct csn_str expression, int frame_register, int64_t *out) {
    const unsigned char *p = (const unsigned char *)expression.ptr, *end = p + expression.len;
    if (p == end || (*p != DW_OP_fbreg && (frame_register == NO_REGISTER || *p != DW_OP_breg0 + frame_register))) return false;
    uint64_t value = 0;
    unsigned shift = 0;
    unsigned char b = 0x80;
    for (p++; p < end && b & 0x80; shift += 7) {
        b = *p++;
        if (shift < 64) value |= (uint64_t)(b & 0x7f) << shift;
    }
    if (b & 0x80) return false;
    if (shift < 64 && b & 0x40) value |= ~UINT64_C(0) << shift;
    *out = (int64_t)value;
    return p == end || (p + 1 == end && *p == DW_OP_deref);
}

/* ---- lists of locations ---- */

struct list {
    const unsigned char *p, *end;
    bool big;
};

static uint64_t take_number(struct list *l, unsigned size) {
    uint64_t value = 0;
    if ((size_t)(l->end - l->p) < size) {
        l->p = l->end;
        return 0;
    }
    for (unsigned i = 0; i < size; i++) value |= (uint64_t)l->p[i] << 8 * (l->big ? size - 1 - i : i);
    l->p += size;
    return value;
}

static uint64_t take_uleb(struct list *l) {
    uint64_t value = 0;
    for (unsigned shift = 0; l->p < l->end; shift += 7) {
        unsigned char b = *l->p++;
        if (shift < 64) value |= (uint64_t)(b & 0x7f) << shift;
        if (!(b & 0x80)) break;
    }
    return value;
}

static struct csn_str take_expression(struct list *l, uint64_t size) {
    if (size > (uint64_t)(l->end - l->p)) size = (uint64_t)(l->end - l->p);
    l->p += size;
    return (struct csn_str){ (const char *)l->p - size, (size_t)size };
}

/* Whether an entry of .debug_loclists follows, with its expression. */
static bool next_loclist(struct list *l, unsigned addr_size, struct csn_str *out) {
    while (l->p < l->end) {
        switch (*l->p++) {
        case 1: take_uleb(l); continue;
        case 6: take_number(l, addr_size); continue;
        case 2: case 3: case 4: take_uleb(l); take_uleb(l); break;
        case 5: break;
        case 7: take_number(l, addr_size); take_number(l, addr_size); break;
        case 8: take_number(l, addr_size); take_uleb(l); break;
        default: return false;
        }
        *out = take_expression(l, take_uleb(l));
        return true;
    }
    return false;
}

static bool next_loc(struct list *l, unsigned addr_size, struct csn_str *out) {
    const uint64_t highest = UINT64_MAX >> (64 - 8 * addr_size);
    while (l->p < l->end) {
        uint64_t low = take_number(l, addr_size), high = take_number(l, addr_size);
        if (!low && !high) return false;
        if (low == highest) continue;
        *out = take_expression(l, take_number(l, 2));
        return true;
    }
    return false;
}

/* Where a list begins in its section. */
static bool list_offset(const struct csn_debug_die *die, const struct csn_debug_value *value, struct csn_str section,
                        bool big, uint64_t *out) {
    enum { DW_AT_loclists_base = 0x8c };
    struct csn_debug_die root;
    struct csn_debug_value base;
    *out = value->number;
    if (value->form != DW_FORM_loclistx) return true;
    if (csn_debug_die_at(die->unit, die->unit->root, &root, NULL) != CSN_OK) return false;
    uint64_t from = csn_debug_die_attribute(&root, DW_AT_loclists_base, &base) == CSN_OK ? base.number : 12;
    uint64_t at = from + value->number * die->unit->offset_size;
    if (at > section.len) return false;
    const unsigned char *bytes = (const unsigned char *)section.ptr;
    struct list l = { bytes + at, bytes + section.len, big };
    *out = from + take_number(&l, die->unit->offset_size);
    return true;
}

static bool listed_frame_offset(struct llvm_module *m, const struct csn_debug_die *die,
                                const struct csn_debug_value *value, int frame_register, int64_t *out) {
    struct csn_str section, expression;
    uint64_t offset;
    bool five = die->unit->version >= 5;
    if (die->unit->is_split ||
        csn_debug_info_dwarf_section(m->info, five ? "loclists" : "loc", &section, NULL) != CSN_OK)
        return false;
    if (!list_offset(die, value, section, m->object.big_endian, &offset) || offset >= section.len) return false;
    const unsigned char *bytes = (const unsigned char *)section.ptr;
    struct list l = { bytes + offset, bytes + section.len, m->object.big_endian };
    const unsigned addr_size = die->unit->address_size;
    while (five ? next_loclist(&l, addr_size, &expression) : next_loc(&l, addr_size, &expression))
        if (frame_offset(expression, frame_register, out)) return true;
    return false;
}

static int register_of_frame(const struct csn_debug_die *function) {
    struct csn_debug_value value;
    if (csn_debug_die_attribute(function, DW_AT_frame_base, &value) != CSN_OK || value.kind != CSN_VALUE_BLOCK || !value.bytes.len)
        return NO_REGISTER;
    unsigned char op = (unsigned char)value.bytes.ptr[0];
    return op >= DW_OP_reg0 && op <= DW_OP_reg31 ? op - DW_OP_reg0 : NO_REGISTER;
}

static char *text_of(const struct csn_debug_die *die, uint32_t name) {
    struct csn_debug_value value;
    if (csn_debug_die_attribute(die, name, &value) != CSN_OK || value.kind != CSN_VALUE_STRING) return NULL;
    return copy_text(value.bytes.ptr, value.bytes.len);
}

static void add_local(struct llvm_module *m, struct llvm_unit *unit, const struct csn_debug_die *function,
                      const struct csn_debug_die *die, struct llvm_locals *to) {
    struct llvm_local local = { 0 };
    struct csn_debug_die named = *die, origin;
    struct csn_debug_value value;
    struct csn_str name;
    if (llvm_function_name(function, LLVM_NAME_SHORT, &name)) local.function = copy_text(name.ptr, name.len);
    if (csn_debug_die_attribute(die, DW_AT_location, &value) == CSN_OK && value.kind == CSN_VALUE_BLOCK)
        local.has_frame_offset = frame_offset(value.bytes, register_of_frame(function), &local.frame_offset);
    else if (csn_debug_die_attribute(die, DW_AT_location, &value) == CSN_OK && value.kind != CSN_VALUE_BLOCK)
        local.has_frame_offset = listed_frame_offset(m, die, &value, register_of_frame(function), &local.frame_offset);
    if (csn_debug_die_attribute(die, DW_AT_LLVM_tag_offset, &value) == CSN_OK) {
        local.tag_offset = value.number;
        local.has_tag_offset = true;
    }
    if (csn_debug_die_attribute(die, DW_AT_abstract_origin, &value) == CSN_OK &&
        csn_debug_die_follow(die, &value, &origin, NULL) == CSN_OK)
        named = origin;
    local.name = text_of(&named, DW_AT_name);
    local.has_size = llvm_type_size(&named, &local.size);
    if (csn_debug_die_attribute(&named, DW_AT_decl_file, &value) == CSN_OK) {
        const struct llvm_lines *lines = llvm_unit_lines(m, unit);
        if (lines) local.file = llvm_file_path(lines, value.number, LLVM_PATH_ABSOLUTE);
    }
    if (csn_debug_die_attribute(&named, DW_AT_decl_line, &value) == CSN_OK) local.line = value.number;
    GROW_PUSH(to, local);
}

/* By depth: the function whose variables are there. */
struct functions {
    struct csn_debug_die *items;
    size_t count, capacity;
};

struct llvm_locals llvm_find_locals(struct llvm_module *m, uint64_t addr) {
    struct llvm_locals locals = { 0 };
    struct functions functions = { 0 };
    struct csn_debug_die die, origin;
    struct csn_debug_value value;
    struct llvm_unit *unit = llvm_module_unit(m, addr);
    if (unit && unit->code != unit->unit) return locals; /* LLVM does not look into split DWARF for them */
    uint32_t idx = unit ? llvm_unit_function(m, unit, addr) : LLVM_NO_PARENT;
    if (idx == LLVM_NO_PARENT || csn_debug_die_at(unit->code, unit->dies.items[idx].offset, &die, NULL) != CSN_OK) return locals;
    struct csn_debug_die function = die;
    size_t depth = 0;
    for (uint64_t offset = die.offset;;) {
        csn_status status = csn_debug_die_at(unit->code, offset, &die, NULL);
        offset = die.next;
        if (status < 0) break;
        if (status == CSN_NONE) {
            if (--depth == 0) break;
            continue;
        }
        if (depth) function = functions.items[depth - 1];
        bool is_variable = die.tag == DW_TAG_variable || die.tag == DW_TAG_formal_parameter;
        if (is_variable) add_local(m, unit, &function, &die, &locals);
        if (die.tag == DW_TAG_inlined_subroutine && csn_debug_die_attribute(&die, DW_AT_abstract_origin, &value) == CSN_OK &&
            csn_debug_die_follow(&die, &value, &origin, NULL) == CSN_OK)
            function = origin;
        if (!die.has_children) {
            if (!depth) break;
            continue;
        }
        functions.count = depth;
        GROW_PUSH(&functions, function);
        depth++;
    }
    free(functions.items);
    return locals;
}

void llvm_locals_free(struct llvm_locals *locals) {
    for (size_t i = 0; i < locals->count; i++) {
        free(locals->items[i].function);
        free(locals->items[i].name);
        free(locals->items[i].file);
    }
    free(locals->items);
}
