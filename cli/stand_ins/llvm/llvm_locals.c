/* Variables of the function at an address, with those of calls that were inlined into it. */
#include <stdlib.h>
#include <string.h>

#include "stand_ins/base/dwarf_words.h"
#include "stand_ins/base/growth.h"
#include "stand_ins/llvm/llvm_answer.h"
#include "stand_ins/llvm/llvm_locations.h"

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
    struct csn_str name, expression;
    if (llvm_function_name(function, LLVM_NAME_SHORT, &name)) local.function = copy_text(name.ptr, name.len);
    struct llvm_locations locations = llvm_die_locations(m, die);
    while (!local.has_frame_offset && llvm_locations_next(&locations, &expression))
        local.has_frame_offset = frame_offset(expression, register_of_frame(function), &local.frame_offset);
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
