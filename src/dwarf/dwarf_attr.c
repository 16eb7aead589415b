/* What attributes mean: strings, numbers, addresses. */
#include "base/core/checked.h"
#include "dwarf/dwarf_private.h"

#include <inttypes.h>

csn_status csni_string_at(struct csni_span table, const char *section, uint64_t off, struct csn_str *out,
                          struct csn_error *err) {
    struct csn_str s;
    if (off >= table.size)
        return csni_fail(err, CSN_E_FORMAT, section, off, "a string is to be here, the section has %zu bytes", table.size);
    if (!csni_span_cstr(table, off, &s))
        return csni_fail(err, CSN_E_TRUNCATED, section, off, "string has no NUL in the %zu bytes to the section's end",
                         (size_t)(table.size - off));
    *out = s;
    return CSN_OK;
}

/* Element `index` of `size` bytes of a table that begins at `base` of `table`. */
static csn_status indexed(const struct csni_dwarf *dwarf, struct csni_span table, const char *section, uint64_t base,
                          uint64_t index, unsigned size, uint64_t *out, struct csn_error *err) {
    uint64_t off;
    struct csni_span element;
    if (!csni_mul_u64(index, size, &off) || !csni_add_u64(off, base, &off)) off = UINT64_MAX;
    if (!csni_span_sub(table, off, size, &element))
        return csni_fail(err, CSN_E_FORMAT, section, base,
                         "index %" PRIu64 " of the table here is to be read, the section has %zu bytes", index, table.size);
    *out = csni_get_sized(element.ptr, size, dwarf->sections.big_endian);
    return CSN_OK;
}

csn_status csni_string_index(const struct csni_dwarf *dwarf, const struct csni_unit *unit, uint64_t index,
                             struct csn_str *out, struct csn_error *err) {
    uint64_t off;
    CSNI_TRY(indexed(dwarf, dwarf->sections.str_offsets, ".debug_str_offsets", unit->str_offsets_base, index,
                     unit->str_offset_size, &off, err));
    return csni_string_at(dwarf->sections.str, ".debug_str", off, out, err);
}

csn_status csni_address_index(const struct csni_dwarf *dwarf, const struct csni_unit *unit, uint64_t index,
                              uint64_t *out, struct csn_error *err) {
    return indexed(dwarf, dwarf->sections.addr, ".debug_addr", unit->addr_base, index, unit->address_size, out, err);
}

csn_status csni_attr_string(const struct csni_dwarf *dwarf, const struct csni_die *die, enum csni_at at,
                            struct csn_str *out, struct csn_error *err) {
    if (!csni_die_has(die, at)) return CSN_NONE;
    const struct csni_attr *a = &die->at[at];
    dwarf = die->unit->dwarf;
    switch (a->form) {
    case DW_FORM_strp: return csni_string_at(dwarf->sections.str, ".debug_str", a->value, out, err);
    case DW_FORM_line_strp: return csni_string_at(dwarf->sections.line_str, ".debug_line_str", a->value, out, err);
    case DW_FORM_string:
        if (a->size == UINT32_MAX)
            return csni_fail(err, CSN_E_LIMIT, csni_unit_section(die->unit), a->value, "string of 4 GiB or more");
        *out = (struct csn_str){ (const char *)csni_unit_base(dwarf, die->unit) + a->value, a->size };
        return CSN_OK;
    case DW_FORM_strx: case DW_FORM_strx1: case DW_FORM_strx2: case DW_FORM_strx3: case DW_FORM_strx4:
    case DW_FORM_GNU_str_index: return csni_string_index(dwarf, die->unit, a->value, out, err);
    case DW_FORM_strp_sup: case DW_FORM_GNU_strp_alt:
        if (!dwarf->supplement) return CSN_NONE;
        return csni_string_at(dwarf->supplement->sections.str, "supplement .debug_str", a->value, out, err);
    default: return CSN_NONE; /* what is no string */
    }
}

enum { DW_OP_addr = 0x03, DW_OP_const1u = 0x08, DW_OP_const2u = 0x0a, DW_OP_const4u = 0x0c, DW_OP_const8u = 0x0e, DW_OP_constu = 0x10,
       DW_OP_plus = 0x22, DW_OP_plus_uconst = 0x23, DW_OP_addrx = 0xa1, DW_OP_GNU_addr_index = 0xfb };

/* The number that an operation puts on the stack. CSN_NONE: it does something else. */
static csn_status pushed(const struct csni_dwarf *dwarf, const struct csni_unit *unit, unsigned op,
                         struct csni_cursor *c, uint64_t *out, struct csn_error *err) {
    switch (op) {
    case DW_OP_addr: *out = csni_cursor_uint(c, unit->address_size); return CSN_OK;
    case DW_OP_addrx: case DW_OP_GNU_addr_index: return csni_address_index(dwarf, unit, csni_cursor_uleb(c), out, err);
    case DW_OP_const1u: *out = csni_cursor_u8(c); return CSN_OK;
    case DW_OP_const2u: *out = csni_cursor_u16(c); return CSN_OK;
    case DW_OP_const4u: *out = csni_cursor_u32(c); return CSN_OK;
    case DW_OP_const8u: *out = csni_cursor_u64(c); return CSN_OK;
    case DW_OP_constu: *out = csni_cursor_uleb(c); return CSN_OK;
    default: return CSN_NONE;
    }
}

/* An address of .debug_addr and a distance from it, as clang writes to have fewer addresses
 * (-mllvm -minimize-addr-in-v5=Expressions). CSN_NONE: another expression. */
static csn_status address_of_expression(const struct csni_dwarf *dwarf, const struct csni_unit *unit, const struct csni_attr *a,
                                        uint64_t *out, struct csn_error *err) {
    enum { STACK_MAX = 4 };
    const struct csni_span bytes = { csni_unit_base(dwarf, unit) + a->value, a->size };
    struct csni_cursor c = csni_cursor_at(bytes, dwarf->sections.big_endian);
    uint64_t stack[STACK_MAX];
    unsigned depth = 0;
    while (csni_cursor_left(&c)) {
        unsigned op = csni_cursor_u8(&c);
        if (op == DW_OP_plus && depth > 1) {
            depth--;
            stack[depth - 1] += stack[depth];
        } else if (op == DW_OP_plus_uconst && depth) {
            stack[depth - 1] += csni_cursor_uleb(&c);
        } else {
            csn_status status = depth < STACK_MAX ? pushed(dwarf, unit, op, &c, &stack[depth++], err) : CSN_NONE;
            if (status != CSN_OK) return status;
        }
    }
    if (c.failed || depth != 1) return CSN_NONE;
    *out = stack[0];
    return CSN_OK;
}

csn_status csni_attr_address(const struct csni_dwarf *dwarf, const struct csni_die *die, enum csni_at at, uint64_t *out,
                             struct csn_error *err) {
    if (!csni_die_has(die, at)) return CSN_NONE;
    const struct csni_attr *a = &die->at[at];
    switch (a->form) {
    case DW_FORM_addr: *out = a->value; return CSN_OK;
    case DW_FORM_addrx: case DW_FORM_addrx1: case DW_FORM_addrx2: case DW_FORM_addrx3: case DW_FORM_addrx4:
    case DW_FORM_GNU_addr_index: return csni_address_index(dwarf, die->unit, a->value, out, err);
    case DW_FORM_LLVM_addrx_offset: {
        uint64_t address;
        CSNI_TRY(csni_address_index(dwarf, die->unit, a->value, &address, err));
        *out = address + a->size;
        return CSN_OK;
    }
    case DW_FORM_exprloc: return address_of_expression(dwarf, die->unit, a, out, err);
    default: return CSN_NONE;
    }
}
