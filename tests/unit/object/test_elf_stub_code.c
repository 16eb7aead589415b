/* object: the instructions of ELF stubs, machine by machine, as llvm-mc encodes them: the pointer that each jumps through. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "object/elf/elf_layout.h"
#include "object/elf/elf_stubs.h"

enum { CODE_AT = 0x20000, BEFORE = 8, AT = CODE_AT + BEFORE, GOT = 0x51000, WIDE = 1, BIG = 2 };

struct stub {
    uint32_t machine;
    unsigned flags;     /* WIDE, BIG */
    const char *bytes;
    size_t size;
    uint64_t slot;
    uint32_t symbol, length;
    unsigned free_bits; /* that may be either way */
};
#define BYTES(text) text, sizeof text - 1

static const struct stub stubs[] = {
    /* endbr64; jmpq *0x1234(%rip) */
    { EM_X86_64, WIDE, BYTES("\xf3\x0f\x1e\xfa\xff\x25\x34\x12\0\0"), AT + 10 + 0x1234, 0, 10, 1 },
    /* bnd jmpq *-8(%rip) */
    { EM_X86_64, WIDE, BYTES("\xf2\xff\x25\xf8\xff\xff\xff"), AT + 7 - 8, 0, 7, 0 },
    /* mov 0x1234(%rip), %r11: a retpoline */
    { EM_X86_64, WIDE, BYTES("\x4c\x8b\x1d\x34\x12\0\0"), AT + 7 + 0x1234, 0, 32, 0 },
    /* endbr32; jmp *0x8041234 */
    { EM_386, 0, BYTES("\xf3\x0f\x1e\xfb\xff\x25\x34\x12\x04\x08"), 0x8041234, 0, 10, 1 },
    /* jmp *12(%ebx) */
    { EM_386, 0, BYTES("\xff\xa3\x0c\0\0\0"), GOT + 12, 0, 6, 0 },
    /* bti c; adrp x16, 0x12000; ldr x17, [x16, #0x18] */
    { EM_AARCH64, WIDE, BYTES("\x5f\x24\x03\xd5\x90\0\0\xd0\x11\x0e\x40\xf9"), CODE_AT + 0x12000 + 0x18, 0, 12, 0 },
    /* adrp x16, -0x1000; ldr w17, [x16, #0x18] */
    { EM_AARCH64, 0, BYTES("\xf0\xff\xff\xf0\x11\x1a\x40\xb9"), CODE_AT - 0x1000 + 0x18, 0, 8, 0 },
    /* movw r12, #0xabcd; movt r12, #1; add r12, pc; ldr.w pc, [r12] */
    { EM_ARM, 0, BYTES("\x4a\xf6\xcd\x3c\xc0\xf2\x01\x0c\xfc\x44\xdc\xf8\0\xf0"), AT + 12 + 0x1abcd, 0, 14, 0 },
    /* ldr r12, [pc, #4]; add r12, r12, pc; ldr pc, [r12]; .word 0x1234 */
    { EM_ARM, 0, BYTES("\x04\xc0\x9f\xe5\x0f\xc0\x8c\xe0\0\xf0\x9c\xe5\x34\x12\0\0"), AT + 12 + 0x1234, 0, 16, 0 },
    /* add r12, pc, #0x10000000; add r12, r12, #0x12000; ldr pc, [r12, #0x345]! */
    { EM_ARM, 0, BYTES("\x01\xc2\x8f\xe2\x12\xca\x8c\xe2\x45\xf3\xbc\xe5"), AT + 8 + 0x10012345, 0, 12, 1 },
    /* bx pc; nop; and the same */
    { EM_ARM, 0, BYTES("\x78\x47\xc0\x46\x01\xc2\x8f\xe2\x12\xca\x8c\xe2\x45\xf3\xbc\xe5"), AT + 12 + 0x10012345, 0, 16, 17 },
    /* auipc t3, 0x12; ld t3, -8(t3) */
    { EM_RISCV, WIDE, BYTES("\x17\x2e\x01\0\x03\x3e\x8e\xff"), AT + 0x12000 - 8, 0, 8, 0 },
    /* auipc t3, 0xfffff; lw t3, 16(t3) */
    { EM_RISCV, 0, BYTES("\x17\xfe\xff\xff\x03\x2e\x0e\x01"), AT - 0x1000 + 16, 0, 8, 0 },
    /* pcaddu12i $t3, 0x12; ld.d $t3, $t3, -8 */
    { EM_LOONGARCH, WIDE, BYTES("\x4f\x02\0\x1c\xef\xe1\xff\x28"), AT + 0x12000 - 8, 0, 8, 0 },
    /* pcaddu12i $t3, -1; ld.w $t3, $t3, 16 */
    { EM_LOONGARCH, 0, BYTES("\xef\xff\xff\x1d\xef\x41\x80\x28"), AT - 0x1000 + 16, 0, 8, 0 },
    /* larl %r1, 0x1234 bytes on; lg %r1, 0(%r1) */
    { EM_S390, WIDE | BIG, BYTES("\xc0\x10\0\0\x09\x1a\xe3\x10\x10\0\0\x04"), AT + 0x1234, 0, 12, 0 },
    /* lis r11, 0x1002; lwz r11, -4(r11); mtctr r11 */
    { EM_PPC, BIG, BYTES("\x3d\x60\x10\x02\x81\x6b\xff\xfc\x7d\x69\x03\xa6"), 0x10020000 - 4, 0, 12, 0 },
    /* lui $15, 0x41; lw $25, -0x7ff0($15) */
    { EM_MIPS, BIG, BYTES("\x3c\x0f\0\x41\x8d\xf9\x80\x10"), 0x410000 - 0x7ff0, 0, 8, 0 },
    /* lui $14, 0x41; ld $25, 0x7ff0($14) */
    { EM_MIPS, WIDE | BIG, BYTES("\x3c\x0e\0\x41\xdd\xd9\x7f\xf0"), 0x410000 + 0x7ff0, 0, 8, 0 },
    /* lw $25, -32752($28); move $15, $31; jalr $25; addiu $24, $0, 7 */
    { EM_MIPS, BIG, BYTES("\x8f\x99\x80\x10\x03\xe0\x78\x25\x03\x20\xf8\x09\x24\x18\0\x07"), 0, 7, 16, 4 },
    /* lw $25, -32752($28); move $15, $31; lui $24, 1; jalr $25; ori $24, $24, 7 */
    { EM_MIPS, BIG, BYTES("\x8f\x99\x80\x10\x03\xe0\x78\x25\x3c\x18\0\x01\x03\x20\xf8\x09\x37\x18\0\x07"), 0, 0x10007, 20, 2 },
    /* jmp ([%pc, 0x1234]) */
    { EM_68K, BIG, BYTES("\x4e\xfb\x01\x71\0\0\x12\x34"), AT + 2 + 0x1234, 0, 8, 0 },
    /* mov.l constant, r0; mov.l @r0, r0; the constant */
    { EM_SH, 0, BYTES("\0\xd0\x02\x60\x45\x23\x41\0"), 0x412345, 0, 4, 0 },
    /* mov.l constant, r0; mov.l @(r0, r12), r0; the constant */
    { EM_SH, 0, BYTES("\0\xd0\xce\0\x45\x23\x01\0"), GOT + 0x12345, 0, 4, 0 },
};
enum { STUBS = sizeof stubs / sizeof *stubs };

/* Of `size` bytes of code, in which `flipped` bits of byte `at` are the other way. */
static bool match(const struct stub *stub, size_t size, size_t at, uint8_t flipped, struct csni_stub_match *out) {
    uint8_t bytes[64] = { 0 };
    memcpy(bytes + BEFORE, stub->bytes, stub->size);
    bytes[BEFORE + at] ^= flipped;
    const struct csni_stub_code code = { { bytes, BEFORE + size }, CODE_AT, GOT, stub->flags & BIG, stub->flags & WIDE };
    const struct csni_stub_machine *machine = csni_stub_machine_of(stub->machine);
    assert_non_null(machine);
    return machine->match(&code, BEFORE, out);
}

static bool is_answer(const struct stub *stub, const struct csni_stub_match *match) {
    return match->slot == stub->slot && match->symbol == stub->symbol && match->length == stub->length;
}

static void stubs_name_their_pointers(void **state) {
    (void)state;
    for (size_t i = 0; i < STUBS; i++) {
        struct csni_stub_match got = { 0 };
        if (!match(&stubs[i], stubs[i].size, 0, 0, &got) || !is_answer(&stubs[i], &got))
            fail_msg("stub %zu: slot %llx, symbol %x, length %u", i, (unsigned long long)got.slot, got.symbol, got.length);
    }
}

static void stubs_that_are_cut_off_are_none(void **state) {
    (void)state;
    for (size_t i = 0; i < STUBS; i++)
        for (size_t size = 0; size < stubs[i].size; size++) {
            struct csni_stub_match got = { 0 };
            if (match(&stubs[i], size, 0, 0, &got)) fail_msg("stub %zu of %zu bytes", i, size);
        }
}

/* A bit is a part of the instruction, which is another then, or of an operand. */
static void every_bit_counts(void **state) {
    (void)state;
    for (size_t i = 0; i < STUBS; i++) {
        unsigned same = 0;
        for (size_t bit = 0; bit < 8 * stubs[i].size; bit++) {
            struct csni_stub_match got = { 0 };
            same += match(&stubs[i], stubs[i].size, bit / 8, (uint8_t)(1u << bit % 8), &got) && is_answer(&stubs[i], &got);
        }
        if (same != stubs[i].free_bits) fail_msg("stub %zu: %u bits do not count, not %u", i, same, stubs[i].free_bits);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stubs_name_their_pointers),
        cmocka_unit_test(stubs_that_are_cut_off_are_none),
        cmocka_unit_test(every_bit_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
