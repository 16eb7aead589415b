/* The instructions of stubs, as linkers (GNU ld, gold, lld, mold) write them. A pattern names the pointer that the
 * stub jumps through; whether that pointer belongs to a function is told by the relocation that fills it, so a match
 * of other code does no harm. */
#include "base/core/endian.h"
#include "object/elf/elf_layout.h"
#include "object/elf/elf_relocation_types.h"
#include "object/elf/elf_stubs.h"

/* `size` bytes of code at `off`; NULL: there are not so many. */
static const uint8_t *code_at(const struct csni_stub_code *code, uint64_t off, uint64_t size) {
    struct csni_span part;
    return csni_span_sub(code->bytes, off, size, &part) ? part.ptr : NULL;
}

/* Words of 32 bits: all 0 beyond the end. */
static uint32_t word_at(const struct csni_stub_code *code, uint64_t off) {
    const uint8_t *p = code_at(code, off, 4);
    return p ? csni_get32(p, code->big_endian) : 0;
}

static uint64_t sign_extend(uint64_t value, unsigned bits) {
    uint64_t sign = (uint64_t)1 << (bits - 1);
    return ((value & (2 * sign - 1)) ^ sign) - sign;
}

/* ---- x86 ---- */

enum { ENDBR64 = 0xfa1e0ff3, ENDBR32 = 0xfb1e0ff3, BND_PREFIX = 0xf2, X86_INDIRECT = 0xff, X86_JMP_MEMORY = 0x25,
       X86_JMP_EBX = 0xa3, X86_LONGEST = 4 + 1 + 6 };

/* Offset behind an endbr and a bnd prefix, where an indirect jump may stand. */
static uint64_t x86_jump(const struct csni_stub_code *code, uint64_t off) {
    const uint8_t *p = code_at(code, off, 4);
    if (p && (csni_get32(p, false) == ENDBR64 || csni_get32(p, false) == ENDBR32)) off += 4;
    p = code_at(code, off, 1);
    return p && *p == BND_PREFIX ? off + 1 : off;
}

static bool match_x86_64(const struct csni_stub_code *code, uint64_t off, struct csni_stub_match *out) {
    enum { RETPOLINE_SIZE = 32 };
    uint64_t jump = x86_jump(code, off);
    const uint8_t *p = code_at(code, jump, 7);
    if (p && p[0] == 0x4c && p[1] == 0x8b && p[2] == 0x1d) { /* retpoline: mov slot(%rip), %r11 */
        uint64_t slot = code->addr + jump + 7 + sign_extend(csni_get32(p + 3, false), 32);
        *out = (struct csni_stub_match){ .slot = slot, .length = RETPOLINE_SIZE };
    } else {
        p = code_at(code, jump, 6);
        if (!p || p[0] != X86_INDIRECT || p[1] != X86_JMP_MEMORY) return false;
        uint64_t slot = code->addr + jump + 6 + sign_extend(csni_get32(p + 2, false), 32);
        *out = (struct csni_stub_match){ .slot = slot, .length = (uint32_t)(jump - off) + 6 };
    }
    if (!code->wide) out->slot &= UINT32_MAX; /* x32 */
    return true;
}

static bool match_386(const struct csni_stub_code *code, uint64_t off, struct csni_stub_match *out) {
    uint64_t jump = x86_jump(code, off);
    const uint8_t *p = code_at(code, jump, 6);
    if (!p || p[0] != X86_INDIRECT || (p[1] != X86_JMP_MEMORY && p[1] != X86_JMP_EBX)) return false;
    uint64_t slot = csni_get32(p + 2, false);
    if (p[1] == X86_JMP_EBX) slot += code->got;
    *out = (struct csni_stub_match){ .slot = slot & UINT32_MAX, .length = (uint32_t)(jump - off) + 6 };
    return true;
}

/* ---- AArch64: bti c; adrp x16, page; ldr x17, [x16, #off]; add; br ---- */

static bool match_aarch64(const struct csni_stub_code *code, uint64_t off, struct csni_stub_match *out) {
    uint64_t at = off;
    if (word_at(code, at) == 0xd503245f) at += 4;
    uint32_t adrp = word_at(code, at), ldr = word_at(code, at + 4);
    unsigned scale;
    if ((adrp & 0x9f00001f) != 0x90000010) return false;
    if ((ldr & 0xffc003ff) == 0xf9400211) scale = 3;
    else if ((ldr & 0xffc003ff) == 0xb9400211) scale = 2; /* ILP32 */
    else return false;
    uint64_t pages = sign_extend(((uint64_t)(adrp >> 5 & 0x7ffff) << 2) | (adrp >> 29 & 3), 21);
    uint64_t page = ((code->addr + at) & ~(uint64_t)0xfff) + (pages << 12);
    *out = (struct csni_stub_match){ .slot = page + ((uint64_t)(ldr >> 10 & 0xfff) << scale), .length = (uint32_t)(at - off) + 8 };
    return true;
}

/* ---- ARM ---- */

static uint32_t arm_immediate(uint32_t word) {
    unsigned rotation = (word >> 8 & 15) * 2, value = word & 0xff;
    return rotation ? value >> rotation | value << (32 - rotation) : value;
}

/* movw ip; movt ip; add ip, pc; ldr.w pc, [ip]: in halfwords. */
static bool match_thumb2(const struct csni_stub_code *code, uint64_t off, struct csni_stub_match *out) {
    const uint8_t *p = code_at(code, off, 14);
    if (!p) return false;
    uint32_t h[7], low, high;
    for (int i = 0; i < 7; i++) h[i] = csni_get16(p + 2 * i, code->big_endian);
    if ((h[0] & 0xfbf0) != 0xf240 || (h[1] & 0x8f00) != 0x0c00 || (h[2] & 0xfbf0) != 0xf2c0 || (h[3] & 0x8f00) != 0x0c00 ||
        h[4] != 0x44fc || h[5] != 0xf8dc || h[6] != 0xf000) return false;
    low = (h[0] & 15) << 12 | (h[0] >> 10 & 1) << 11 | (h[1] >> 12 & 7) << 8 | (h[1] & 0xff);
    high = (h[2] & 15) << 12 | (h[2] >> 10 & 1) << 11 | (h[3] >> 12 & 7) << 8 | (h[3] & 0xff);
    *out = (struct csni_stub_match){ .slot = (code->addr + off + 8 + 4 + (low | high << 16)) & UINT32_MAX, .length = 14 };
    return true;
}

/* ldr ip, [pc, #4]; add ip, ip, pc; ldr pc, [ip]; .word: of lld, far away from the table of pointers. */
static bool match_arm_far(const struct csni_stub_code *code, uint64_t off, struct csni_stub_match *out) {
    if (word_at(code, off) != 0xe59fc004 || word_at(code, off + 4) != 0xe08cc00f || word_at(code, off + 8) != 0xe59cf000)
        return false;
    const uint8_t *p = code_at(code, off + 12, 4);
    if (!p) return false;
    *out =
        (struct csni_stub_match){ .slot = (code->addr + off + 4 + 8 + csni_get32(p, code->big_endian)) & UINT32_MAX, .length = 16 };
    return true;
}

/* add ip, pc, #a; add ip, ip, #b (as many as are needed); ldr pc, [ip, #c]!. For callers in Thumb code, bx pc; nop go before. */
static bool match_arm(const struct csni_stub_code *code, uint64_t off, struct csni_stub_match *out) {
    enum { ADDS_MAX = 3 };
    uint64_t at = off;
    const uint8_t *p = code_at(code, off, 4);
    if (!p) return false;
    if (csni_get16(p, code->big_endian) == 0x4778) at += 4;
    uint32_t word = word_at(code, at);
    if (at == off && (match_thumb2(code, off, out) || match_arm_far(code, off, out))) return true;
    if ((word & 0xfffff000) != 0xe28fc000) return false;
    uint64_t slot = code->addr + at + 8 + arm_immediate(word);
    for (int i = 0; i < ADDS_MAX; i++) {
        word = word_at(code, at += 4);
        if ((word & 0xfffff000) != 0xe28cc000) break;
        slot += arm_immediate(word);
    }
    if ((word & 0xffdff000) != 0xe59cf000) return false;
    *out = (struct csni_stub_match){ .slot = (slot + (word & 0xfff)) & UINT32_MAX, .length = (uint32_t)(at + 4 - off) };
    return true;
}

/* ---- RISC-V: auipc t3, page; l[wd] t3, off(t3); jalr t1, t3 ---- */

static bool match_riscv(const struct csni_stub_code *code, uint64_t off, struct csni_stub_match *out) {
    uint32_t auipc = word_at(code, off), load = word_at(code, off + 4);
    if ((auipc & 0xfff) != 0xe17 || (load & 0xfffff) != (code->wide ? 0xe3e03u : 0xe2e03u)) return false;
    uint64_t slot = code->addr + off + sign_extend(auipc & 0xfffff000, 32) + sign_extend(load >> 20, 12);
    *out = (struct csni_stub_match){ .slot = code->wide ? slot : slot & UINT32_MAX, .length = 8 };
    return true;
}

/* ---- LoongArch: pcaddu12i $t3, page; ld.[wd] $t3, $t3, off; jirl $t1, $t3, 0 ---- */

static bool match_loongarch(const struct csni_stub_code *code, uint64_t off, struct csni_stub_match *out) {
    uint32_t page = word_at(code, off), load = word_at(code, off + 4);
    if ((page & 0xfe00001f) != 0x1c00000f || (load & 0xffc003ff) != (code->wide ? 0x28c001efu : 0x288001efu)) return false;
    uint64_t slot = code->addr + off + sign_extend((uint64_t)(page >> 5 & 0xfffff) << 12, 32) + sign_extend(load >> 10, 12);
    *out = (struct csni_stub_match){ .slot = code->wide ? slot : slot & UINT32_MAX, .length = 8 };
    return true;
}

/* ---- z/Architecture: larl %r1, slot; lg %r1, 0(%r1); br %r1 ---- */

static bool match_s390(const struct csni_stub_code *code, uint64_t off, struct csni_stub_match *out) {
    static const uint8_t load[] = { 0xe3, 0x10, 0x10, 0x00, 0x00, 0x04 };
    const uint8_t *p = code_at(code, off, 6 + sizeof load);
    if (!p || p[0] != 0xc0 || p[1] != 0x10 || memcmp(p + 6, load, sizeof load) != 0) return false;
    *out = (struct csni_stub_match){ .slot = code->addr + off + 2 * sign_extend(csni_get32(p + 2, true), 32),
                                     .length = 6 + sizeof load };
    return true;
}

/* ---- PowerPC: lis r11, slot@ha; lwz r11, slot@l(r11); mtctr r11; bctr ---- */

static bool match_ppc(const struct csni_stub_code *code, uint64_t off, struct csni_stub_match *out) {
    uint32_t high = word_at(code, off), low = word_at(code, off + 4);
    if (high >> 16 != 0x3d60 || low >> 16 != 0x816b || word_at(code, off + 8) != 0x7d6903a6) return false;
    *out = (struct csni_stub_match){ .slot = ((high << 16) + sign_extend(low, 16)) & UINT32_MAX, .length = 12 };
    return true;
}

/* ---- MIPS ---- */

/* lui rX, slot@hi; l[wd] $25, slot@lo(rX). */
static bool match_mips_plt(const struct csni_stub_code *code, uint64_t off, struct csni_stub_match *out) {
    uint32_t lui = word_at(code, off), load = word_at(code, off + 4);
    uint32_t opcode = load >> 26;
    if (lui >> 21 != 0x3c00 >> 5 || (opcode != 0x23 && opcode != 0x37) || (load >> 16 & 31) != 25 ||
        (load >> 21 & 31) != (lui >> 16 & 31)) return false;
    uint64_t slot = sign_extend((uint64_t)lui << 16, 32) + sign_extend(load, 16);
    *out = (struct csni_stub_match){ .slot = code->wide ? slot : slot & UINT32_MAX, .length = 8 };
    return true;
}

/* Of .MIPS.stubs: l[wd] $25, (gp); move $15, $31; jalr $25; li $24, number of the symbol. Large tables have a lui
 * before the jalr. */
static bool match_mips_stub(const struct csni_stub_code *code, uint64_t off, struct csni_stub_match *out) {
    uint32_t load = word_at(code, off), move = word_at(code, off + 4), at = 8, high = 0;
    if (load != 0x8f998010 && load != 0xdf998010) return false;
    if (move != 0x03e07825 && move != 0x03e07821 && move != 0x03e0782d) return false;
    if (word_at(code, off + at) >> 16 == 0x3c18) {
        high = word_at(code, off + at) & 0xffff;
        at += 4;
    }
    uint32_t number = word_at(code, off + at + 4);
    if (word_at(code, off + at) != 0x0320f809) return false;
    if (number >> 16 != 0x2418 && number >> 16 != 0x3418 && number >> 16 != 0x3718 && number >> 16 != 0x6418) return false;
    *out = (struct csni_stub_match){ .symbol = high << 16 | (number & 0xffff), .length = at + 8 };
    return out->symbol != 0;
}

static bool match_mips(const struct csni_stub_code *code, uint64_t off, struct csni_stub_match *out) {
    return match_mips_plt(code, off, out) || match_mips_stub(code, off, out);
}

/* ---- m68k: jmp ([%pc, slot]) ---- */

static bool match_m68k(const struct csni_stub_code *code, uint64_t off, struct csni_stub_match *out) {
    const uint8_t *p = code_at(code, off, 8);
    if (!p || csni_get32(p, true) != 0x4efb0171) return false;
    *out = (struct csni_stub_match){ .slot = (code->addr + off + 2 + csni_get32(p + 4, true)) & UINT32_MAX, .length = 8 };
    return true;
}

/* ---- SuperH: mov.l slot, r0; mov.l @r0, r0, or with the table's address in r12: mov.l @(r0, r12), r0 ---- */

static bool match_sh(const struct csni_stub_code *code, uint64_t off, struct csni_stub_match *out) {
    const uint8_t *p = code_at(code, off, 4);
    if (!p) return false;
    uint32_t first = csni_get16(p, code->big_endian), load = csni_get16(p + 2, code->big_endian);
    if (first >> 8 != 0xd0 || (load != 0x6002 && load != 0x00ce)) return false;
    const uint8_t *constant = code_at(code, off + 4 + 4 * (first & 0xff), 4);
    if (!constant) return false;
    uint64_t slot = csni_get32(constant, code->big_endian) + (load == 0x00ce ? code->got : 0);
    *out = (struct csni_stub_match){ .slot = slot & UINT32_MAX, .length = 4 };
    return true;
}

/* ---- all ---- */

static const struct csni_stub_machine machines[] = {
    { EM_X86_64, 8, 16, match_x86_64, R_X86_64_JUMP_SLOT, R_X86_64_GLOB_DAT, R_X86_64_IRELATIVE },
    { EM_386, 8, 16, match_386, R_386_JUMP_SLOT, R_386_GLOB_DAT, R_386_IRELATIVE },
    { EM_AARCH64, 4, 24, match_aarch64, R_AARCH64_JUMP_SLOT, R_AARCH64_GLOB_DAT, R_AARCH64_IRELATIVE },
    { EM_ARM, 4, 20, match_arm, R_ARM_JUMP_SLOT, R_ARM_GLOB_DAT, R_ARM_IRELATIVE },
    { EM_RISCV, 4, 16, match_riscv, R_RISCV_JUMP_SLOT, 0, R_RISCV_IRELATIVE },
    { EM_LOONGARCH, 4, 16, match_loongarch, R_LARCH_JUMP_SLOT, 0, R_LARCH_IRELATIVE },
    { EM_S390, 2, 32, match_s390, R_390_JMP_SLOT, R_390_GLOB_DAT, R_390_IRELATIVE },
    { EM_PPC, 4, 16, match_ppc, R_PPC_JMP_SLOT, R_PPC_GLOB_DAT, R_PPC_IRELATIVE },
    { EM_PPC64, 4, 12, NULL, R_PPC64_JMP_SLOT, R_PPC64_GLOB_DAT, R_PPC64_JMP_IREL },
    { EM_MIPS, 4, 20, match_mips, R_MIPS_JUMP_SLOT, R_MIPS_GLOB_DAT, 0 },
    { EM_68K, 2, 24, match_m68k, R_68K_JMP_SLOT, R_68K_GLOB_DAT, 0 },
    { EM_SH, 4, 28, match_sh, R_SH_JMP_SLOT, R_SH_GLOB_DAT, 0 },
    { EM_ALPHA, 4, 12, NULL, R_ALPHA_JMP_SLOT, R_ALPHA_GLOB_DAT, 0 },
    { EM_SPARC, 4, 32, NULL, R_SPARC_JMP_SLOT, R_SPARC_GLOB_DAT, R_SPARC_JMP_IREL },
    { EM_SPARC32PLUS, 4, 32, NULL, R_SPARC_JMP_SLOT, R_SPARC_GLOB_DAT, R_SPARC_JMP_IREL },
    { EM_SPARCV9, 4, 32, NULL, R_SPARC_JMP_SLOT, R_SPARC_GLOB_DAT, R_SPARC_JMP_IREL },
};

const struct csni_stub_machine *csni_stub_machine_of(uint32_t machine) {
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
        if (machines[i].machine == machine) return &machines[i];
    return NULL;
}
