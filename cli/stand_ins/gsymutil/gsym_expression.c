/* Operations by name, with their operands. */
#include "stand_ins/gsymutil/gsym_expression.h"

#include <inttypes.h>
#include <stdio.h>

#include "stand_ins/gsymutil/gsym_bytes.h"
#include "stand_ins/llvm/llvm_module.h"

enum { DW_OP_lit0 = 0x30, DW_OP_reg0 = 0x50, DW_OP_breg0 = 0x70, DW_OP_fbreg = 0x91 };

/* Operands: 'a' an address, '1' '2' '4' '8' unsigned bytes, 'u' ULEB128, 's' SLEB128, 'w' the index of a WebAssembly location. */
static const struct { unsigned char code; const char *name, *operands; } operations[] = {
    { 0x03, "addr", "a" }, { 0x06, "deref", "" }, { 0x08, "const1u", "1" }, { 0x0a, "const2u", "2" }, { 0x0c, "const4u", "4" },
    { 0x0e, "const8u", "8" }, { 0x10, "constu", "u" }, { 0x11, "consts", "s" }, { 0x12, "dup", "" }, { 0x13, "drop", "" },
    { 0x14, "over", "" }, { 0x16, "swap", "" }, { 0x1a, "and", "" }, { 0x1c, "minus", "" }, { 0x1e, "mul", "" }, { 0x21, "or", "" },
    { 0x22, "plus", "" }, { 0x23, "plus_uconst", "u" }, { 0x24, "shl", "" }, { 0x25, "shr", "" }, { 0x26, "shra", "" }, { 0x27, "xor", "" },
    { 0x90, "regx", "u" }, { DW_OP_fbreg, "fbreg", "s" }, { 0x93, "piece", "u" }, { 0x94, "deref_size", "1" }, { 0x96, "nop", "" },
    { 0x9c, "call_frame_cfa", "" }, { 0x9f, "stack_value", "" }, { 0xed, "WASM_location", "1w" },
};

/* "0x3 0x0" of a local, global or operand: the index has 4 bytes for kind 3, which may be relocated. */
static void put_operands(struct gsym_bytes *b, const char *operands, unsigned address_size) {
    uint64_t value = 0;
    for (const char *p = operands; *p && !b->bad; p++) {
        if (*p == 's') {
            printf(" %+" PRId64, (int64_t)gsym_take_leb(b, true));
            continue;
        }
        if (*p == 'w') value = value == 3 ? gsym_take_number(b, 4) : gsym_take_leb(b, false);
        else if (*p == 'u') value = gsym_take_leb(b, false);
        else value = gsym_take_number(b, *p == 'a' ? address_size : (unsigned)(*p - '0'));
        printf(" 0x%" PRIx64, value);
    }
}

/* False: the operation has no name here. */
static bool put_operation(struct gsym_bytes *b, unsigned address_size) {
    const unsigned code = (unsigned)gsym_take_number(b, 1);
    if (code >= DW_OP_lit0 && code < DW_OP_reg0) {
        printf("DW_OP_lit%u", code - DW_OP_lit0);
        return true;
    }
    if (code >= DW_OP_reg0 && code < DW_OP_breg0) {
        printf("DW_OP_reg%u", code - DW_OP_reg0); /* without the register's name */
        return true;
    }
    if (code >= DW_OP_breg0 && code < 0x90) {
        printf("DW_OP_breg%u %+" PRId64, code - DW_OP_breg0, (int64_t)gsym_take_leb(b, true));
        return true;
    }
    for (size_t i = 0; i < sizeof operations / sizeof operations[0]; i++) {
        if (operations[i].code != code) continue;
        printf("DW_OP_%s", operations[i].name);
        put_operands(b, operations[i].operands, address_size);
        return true;
    }
    return false;
}

void gsym_put_expression(const struct gsym_unit *u, struct csn_str bytes) {
    const unsigned char *start = (const unsigned char *)bytes.ptr;
    struct gsym_bytes b = { start, start + bytes.len, false, u->build->big_endian };
    while (b.at < b.end && !b.bad) {
        const unsigned char *operation = b.at;
        if (operation > start) fputs(", ", stdout);
        if (put_operation(&b, u->unit->address_size)) continue;
        for (const unsigned char *p = operation; p < b.end; p++) printf("%s%02x", p > operation ? " " : "", *p);
        return;
    }
}

void gsym_put_locations(const struct gsym_unit *u, uint64_t off) {
    struct csn_str section;
    uint64_t base = u->unit->low_pc;
    const unsigned size = u->unit->address_size == 4 ? 4 : 8;
    if (csn_debug_info_dwarf_section(u->module->info, "loc", &section, NULL) != CSN_OK || off >= section.len) return;
    struct gsym_bytes b = { (const unsigned char *)section.ptr + off, (const unsigned char *)section.ptr + section.len, false,
                            u->build->big_endian };
    fputs(": ", stdout);
    for (;;) {
        const uint64_t low = gsym_take_number(&b, size), high = gsym_take_number(&b, size);
        if (b.bad || (!low && !high)) return;
        if (low == UINT64_MAX >> (64 - 8 * size)) {
            base = high;
            continue;
        }
        const uint64_t length = gsym_take_number(&b, 2);
        if (b.bad || length > (uint64_t)(b.end - b.at)) return;
        printf("\n%17s[0x%0*" PRIx64 ", 0x%0*" PRIx64 "): ", "", (int)(2 * size), base + low, (int)(2 * size), base + high);
        gsym_put_expression(u, (struct csn_str){ (const char *)b.at, (size_t)length });
        b.at += length;
    }
}
