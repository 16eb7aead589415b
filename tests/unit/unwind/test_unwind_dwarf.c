/* Rules from call frame information: each instruction, expressions, damage, and the text that Breakpad has for them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/test_alloc.h"
#include "support/unwind_sample.h"

static const uint8_t CIE[] = { 0x0c, 7, 8, 0x90, 1 }; /* CFA = rsp + 8, rip saved at CFA - 8 */
#define INIT "STACK CFI INIT 1000 100 .cfa: $rsp 8 + .ra: .cfa -8 + ^"

static void expect_text(const struct csni_frame_section *section, const char *arch, const char *want, uint64_t want_damaged) {
    uint64_t damaged;
    csn_status status;
    char *got = unwind_sample_text(section, arch, &csni_libc_allocator, &damaged, &status);
    assert_int_equal(status, CSN_OK);
    assert_string_equal(got, want);
    assert_int_equal(damaged, want_damaged);
    free(got);
}

static void expect_damaged(const uint8_t *code, size_t size, const char *want, uint64_t damaged) {
    struct wire w;
    wire_init(&w, false);
    unwind_sample_put(&w, CIE, sizeof CIE, code, size);
    struct csni_frame_section section = unwind_sample_section(&w);
    expect_text(&section, "x86_64", want, damaged);
    wire_deinit(&w);
}
#define EXPECT(want, ...) \
    do { \
        const uint8_t code[] = { __VA_ARGS__ }; \
        expect_damaged(code, sizeof code, want, 0); \
    } while (0)
#define EXPECT_DAMAGED(want, ...) \
    do { \
        const uint8_t code[] = { __VA_ARGS__ }; \
        expect_damaged(code, sizeof code, want, 1); \
    } while (0)

static void advances(void **state) {
    (void)state;
    EXPECT(INIT "\nSTACK CFI 1001 .cfa: $rsp 16 +\nSTACK CFI 1003 .cfa: $rsp 24 +\nSTACK CFI 1043 .cfa: $rsp 32 +\n"
                "STACK CFI 1044 .cfa: $rsp 40 +\nSTACK CFI 1045 .cfa: $rsp 48 +\n",
           0x41, 0x0e, 16, 0x02, 2, 0x0e, 24, 0x03, 0x40, 0, 0x0e, 32, 0x04, 1, 0, 0, 0, 0x0e, 40, 0x1d, 1, 0, 0, 0, 0,
           0, 0, 0, 0x0e, 48);
    /* set_loc is a pointer like those of the FDE: relative to its place. */
    EXPECT(INIT "\nSTACK CFI 1010 .cfa: $rsp 16 +\n", 0x01, 0xe8, 0xbf, 0xff, 0xff, 0x0e, 16);
    /* Several changes at one address are one row; changes to what was there before are none. */
    EXPECT(INIT "\nSTACK CFI 1001 .cfa: $rbp 16 +\n", 0x41, 0x0e, 16, 0x40, 0x0d, 6, 0x42, 0x0e, 24, 0x0e, 16);
    /* The end of the function ends its rules. */
    EXPECT(INIT "\nSTACK CFI 10ff .cfa: $rsp 16 +\n", 0x02, 0xff, 0x0e, 16, 0x41, 0x0e, 24, 0x41, 0x0e, 32);
}

static void rules(void **state) {
    (void)state;
    EXPECT(INIT " $rbp: .cfa -16 + ^ $rbx: .cfa -24 + ^ $r12: .cfa 8 + ^ $r13: .cfa -32 + $r14: .cfa 8 + $r15: .cfa 40 + ^\n",
           0x86, 2, 0x05, 3, 3, 0x11, 12, 0x7f, 0x14, 13, 4, 0x15, 14, 0x7f, 0x2f, 15, 5);
    EXPECT(INIT "\nSTACK CFI 1001 .cfa: $rbp 16 + .ra: $rdx $rbx: $rbx\n", 0x41, 0x12, 6, 0x7e, 0x09, 16, 1, 0x08, 3, 0x2e, 0x20);
    EXPECT(INIT "\nSTACK CFI 1001 .cfa: $rsp 24 +\n", 0x41, 0x13, 0x7d, 0x07, 1);
    /* Nothing is above the outermost frame. */
    EXPECT("STACK CFI INIT 1000 100 .cfa: $rsp 8 + .ra: 0\n", 0x07, 16);
    /* Registers without a name are left out, and a CFA from one is unknown. */
    EXPECT(INIT "\nSTACK CFI 1002 .cfa: .undef\n", 0x41, 0x05, 0x7f, 3, 0x41, 0x0d, 0x7e);
    EXPECT(INIT "\n", 0x41, 0x05, 0xff, 0x7f, 3, 0x0a, 0x0b);
    /* 192 is the first that no table has room for. */
    EXPECT(INIT "\n", 0x41, 0x06, 0xc0, 1, 0x05, 0xc0, 1, 3, 0x09, 3, 0xc0, 1);
    EXPECT_DAMAGED("STACK CFI INIT 1000 2 .cfa: $rsp 8 + .ra: .cfa -8 + ^\nSTACK CFI 1001 .cfa: .undef\n",
                   0x41, 0x0c, 0xc0, 1, 8, 0x41, 0x0e, 16);
}

/* That the return address is in the program counter need not be told: $rip of x86-64, $eip of x86. */
static void return_address_in_a_register(void **state) {
    (void)state;
    static const struct { const char *arch; uint8_t pc, stack; const char *want; } machines[] = {
        { "x86_64", 16, 7, "STACK CFI INIT 1000 100 .cfa: $rsp 8 +\n" },
        { "i386", 8, 4, "STACK CFI INIT 1000 100 .cfa: $esp 8 +\n" },
    };
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        struct wire w;
        wire_init(&w, false);
        const uint8_t cie[] = { 0x0c, machines[i].stack, 8 }, code[] = { 0x09, 16, machines[i].pc };
        unwind_sample_put(&w, cie, sizeof cie, code, sizeof code);
        struct csni_frame_section section = unwind_sample_section(&w);
        expect_text(&section, machines[i].arch, machines[i].want, 0);
        wire_deinit(&w);
    }
}

/* A register that is as on entry again has to be told: readers would go on with where it was saved. */
static void restored(void **state) {
    (void)state;
    EXPECT(INIT " $rbp: .cfa -16 + ^\nSTACK CFI 1001 $rbp: $rbp\nSTACK CFI 1002 $rbp: .cfa -16 + ^\nSTACK CFI 1003 $rbp: $rbp\n",
           0x86, 2, 0x41, 0xc6, 0x41, 0x86, 2, 0x41, 0x06, 6);
    EXPECT(INIT "\nSTACK CFI 1001 .ra: .cfa -16 + ^\nSTACK CFI 1002 .ra: .cfa -8 + ^\n", 0x41, 0x90, 2, 0x41, 0xd0);
    EXPECT(INIT " $rbp: .cfa -16 + ^ $rbx: .cfa -24 + ^\nSTACK CFI 1001 .cfa: $rsp 16 + $rbp: $rbp $rbx: $rbx\n"
           "STACK CFI 1002 .cfa: $rsp 8 + $rbp: .cfa -16 + ^ $rbx: .cfa -24 + ^\n",
           0x86, 2, 0x83, 3, 0x0a, 0x41, 0x0e, 16, 0xc6, 0xc3, 0x41, 0x0b);
    /* Nested. */
    EXPECT(INIT "\nSTACK CFI 1001 .cfa: $rsp 16 +\nSTACK CFI 1002 .cfa: $rsp 24 +\nSTACK CFI 1003 .cfa: $rsp 16 +\n"
           "STACK CFI 1004 .cfa: $rsp 8 +\n", 0x0a, 0x41, 0x0e, 16, 0x0a, 0x41, 0x0e, 24, 0x41, 0x0b, 0x41, 0x0b);
}

static void expressions(void **state) {
    (void)state;
    /* A signal frame; a frame that was aligned. */
    EXPECT("STACK CFI INIT 1000 100 .cfa: $rsp 160 + ^ .ra: $rsp 168 + ^ $rbp: .cfa 8 - ^ $rbx: .cfa 16 +\n",
           0x0f, 4, 0x77, 0xa0, 1, 0x06, 0x10, 16, 3, 0x77, 0xa8, 1, 0x10, 6, 2, 0x38, 0x1c, 0x16, 3, 2, 0x23, 16);
    EXPECT("STACK CFI INIT 1000 100 .cfa: $rbp -8 + ^ 64 @ .ra: .cfa -8 + ^\n", 0x0f, 6, 0x76, 0x78, 0x06, 0x09, 0xc0, 0x1a);
    EXPECT("STACK CFI INIT 1000 100 .cfa: $rsp $rax + 8 * .ra: .cfa -8 + ^\n", 0x0f, 6, 0x70, 0, 0x77, 0, 0x16, 0x22,
           0x0f, 7, 0x77, 0, 0x70, 0, 0x22, 0x38, 0x1e);
    EXPECT("STACK CFI INIT 1000 100 .cfa: $rbx ^ 24 + .ra: .cfa -8 + ^\n",
           0x0f, 14, 0x92, 3, 0, 0x06, 0x12, 0x13, 0x23, 8, 0x08, 4, 0x34, 0x1e, 0x22, 0x96);
    /* Each operation on the stack, as far as the result shows it. */
    EXPECT("STACK CFI INIT 1000 100 .cfa: $rsp 8 + $rbp - .ra: .cfa -8 + ^\n", 0x0f, 6, 0x76, 0, 0x77, 8, 0x16, 0x1c);
    EXPECT("STACK CFI INIT 1000 100 .cfa: $rbp $rsp $rbp + + .ra: .cfa -8 + ^\n", 0x0f, 7, 0x76, 0, 0x77, 0, 0x14, 0x22, 0x22);
    EXPECT("STACK CFI INIT 1000 100 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n", 0x0f, 4, 0x38, 0x13, 0x77, 8);
    EXPECT("STACK CFI INIT 1000 100 .cfa: $rsp 2147483648 + .ra: .cfa -8 + ^\n", 0x0f, 8, 0x77, 0, 0x0c, 0, 0, 0, 0x80, 0x22);
    EXPECT(INIT "\nSTACK CFI 1001 .cfa: .undef\n", 0x41, 0x0f, 3, 0x77, 0, 0x1f);
    EXPECT(INIT "\nSTACK CFI 1001 .cfa: .undef\n", 0x41, 0x0f, 3, 0x38, 0x31, 0x25);
    /* What has no words: comparing registers, other masks, a stack that is empty or too deep, pieces. */
    EXPECT(INIT "\nSTACK CFI 1001 .cfa: .undef\n", 0x41, 0x0f, 5, 0x77, 0, 0x76, 0, 0x29);
    EXPECT(INIT "\nSTACK CFI 1001 .cfa: .undef\n", 0x41, 0x0f, 4, 0x77, 0, 0x37, 0x1a);
    EXPECT(INIT "\nSTACK CFI 1001 .cfa: .undef\n", 0x41, 0x0f, 1, 0x22);
    EXPECT(INIT "\nSTACK CFI 1001 .cfa: .undef\n", 0x41, 0x0f, 9, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30, 0x30);
    EXPECT(INIT "\nSTACK CFI 1001 .cfa: .undef\n", 0x41, 0x0f, 0);
    EXPECT(INIT "\nSTACK CFI 1001 .cfa: .undef\n", 0x41, 0x0f, 2, 0x77, 0x80);
    EXPECT(INIT "\n", 0x41, 0x10, 3, 1, 0xe0);
    /* More tokens than there is room for. */
    uint8_t long_one[5 + 100] = { 0x41, 0x0f, 102, 0x77, 0 };
    memset(long_one + 5, 0x06, sizeof long_one - 5);
    expect_damaged(long_one, sizeof long_one, INIT "\nSTACK CFI 1001 .cfa: .undef\n", 0);
}

/* The one of a linkage table: an entry of 16 bytes pushes in its last 5. */
static void depends_on_the_address(void **state) {
    (void)state;
    static const uint8_t code[] = { 0x0e, 16, 0x46, 0x0e, 24, 0x02, 0xd9,
                                    0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22 };
    expect_damaged(code, sizeof code,
                   "STACK CFI INIT 1000 100 .cfa: $rsp 16 + .ra: .cfa -8 + ^\nSTACK CFI 1006 .cfa: $rsp 24 +\n"
                   "STACK CFI 10df .cfa: $rsp 16 +\nSTACK CFI 10e0 .cfa: $rsp 8 +\nSTACK CFI 10eb .cfa: $rsp 16 +\n"
                   "STACK CFI 10f0 .cfa: $rsp 8 +\nSTACK CFI 10fb .cfa: $rsp 16 +\n", 0);
}

/* Where its constant becomes 0, an expression has fewer tokens: a change, too. */
static void shrinks_with_the_address(void **state) {
    (void)state;
    EXPECT("STACK CFI INIT 1000 100 .cfa: $rsp 16 + .ra: .cfa -8 + ^\nSTACK CFI 10e0 .cfa: $rsp\nSTACK CFI 10eb .cfa: $rsp 8 +\n"
           "STACK CFI 10f0 .cfa: $rsp\nSTACK CFI 10fb .cfa: $rsp 8 +\n",
           0x0e, 16, 0x02, 0xe0, 0x0f, 11, 0x77, 0, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22);
    /* The address and an offset. */
    EXPECT(
        "STACK CFI INIT 1000 100 .cfa: $rsp 16 + .ra: .cfa -8 + ^\nSTACK CFI 10f0 .cfa: $rsp 8 +\nSTACK CFI 10f7 .cfa: $rsp 16 +\n"
        "STACK CFI 10fc .cfa: $rsp 8 +\n",
        0x0e, 16, 0x02, 0xf0, 0x0f, 11, 0x77, 8, 0x80, 4, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22);
}

static void other_machines(void **state) {
    (void)state;
    static const uint8_t cie[] = { 0x0c, 31, 0 }, code[] = { 0x41, 0x0e, 16, 0x9d, 2, 0x9e, 1, 0x41, 0xde, 0xdd, 0x0e, 0, 0x2d };
    struct wire w;
    wire_init(&w, false);
    unwind_sample_put(&w, cie, sizeof cie, code, sizeof code);
    wire_patch(&w, 14, 30, 1); /* the return address is in x30 */
    struct csni_frame_section section = unwind_sample_section(&w);
    expect_text(&section, "arm64",
                "STACK CFI INIT 1000 100 .cfa: sp 0 + .ra: x30\nSTACK CFI 1001 .cfa: sp 16 + x29: .cfa -16 + ^ .ra: .cfa -8 + ^\n"
                "STACK CFI 1002 .cfa: sp 0 + x29: x29 .ra: x30\n", 0);
    wire_deinit(&w);

    /* Saved from the first instruction on: the register has something else by then. */
    static const uint8_t saved[] = { 0x9e, 1 };
    wire_init(&w, false);
    unwind_sample_put(&w, cie, sizeof cie, saved, sizeof saved);
    wire_patch(&w, 14, 30, 1);
    section = unwind_sample_section(&w);
    expect_text(&section, "arm64", "STACK CFI INIT 1000 100 .cfa: sp 0 + .ra: .cfa -8 + ^\n", 0);
    wire_deinit(&w);
}

/* Each CIE begins with nothing, whatever the function before it ended with. */
static void several_cies(void **state) {
    (void)state;
    static const uint8_t second[] = { 0x90, 1 }, code[] = { 0x86, 2 };
    struct wire w;
    wire_init(&w, false);
    unwind_sample_put(&w, CIE, sizeof CIE, code, sizeof code);
    unwind_sample_put(&w, second, sizeof second, NULL, 0);
    struct csni_frame_section section = unwind_sample_section(&w);
    expect_text(&section, "x86_64", INIT " $rbp: .cfa -16 + ^\nSTACK CFI INIT 1000 100 .ra: .cfa -8 + ^\n", 0);
    wire_deinit(&w);
}

/* An advance that no 64 bits hold ends the function, as one beyond its end does. */
static void advances_far(void **state) {
    (void)state;
    static const uint8_t code[] = { 0x1d, 1, 0, 0, 0, 0, 0, 0, 0x40, 0x0e, 24 };
    struct wire w;
    wire_init(&w, false);
    unwind_sample_put(&w, CIE, sizeof CIE, code, sizeof code);
    wire_patch(&w, 12, 4, 1); /* bytes that an advance counts in */
    struct csni_frame_section section = unwind_sample_section(&w);
    expect_text(&section, "x86_64", INIT "\n", 0);
    wire_deinit(&w);
}

/* What is asked once is not counted again: the sum would be refused as a hostile file's. */
static void work_is_told_once(void **state) {
    (void)state;
    static const uint8_t code[] = { 0x41, 0x0e, 16 };
    struct wire w;
    wire_init(&w, false);
    uint64_t fde = unwind_sample_put(&w, CIE, sizeof CIE, code, sizeof code), next;
    struct csni_frame_section section = unwind_sample_section(&w);
    struct csni_unwind_dwarf *unwind;
    struct csni_unwind_table table;
    enum csni_unwind_result result;
    csni_unwind_table_init(&table, &csni_libc_allocator);
    assert_int_equal(csni_unwind_dwarf_create(&section, &csni_libc_allocator, &unwind, NULL), CSN_OK);
    assert_int_equal(csni_unwind_dwarf_read(unwind, fde, &next, &table, &result, NULL), CSN_OK);
    assert_int_equal(csni_unwind_dwarf_take_work(unwind), sizeof CIE + sizeof code);
    assert_int_equal(csni_unwind_dwarf_take_work(unwind), 0);
    csni_unwind_dwarf_destroy(unwind);
    csni_unwind_table_deinit(&table);
    wire_deinit(&w);
}

/* In .eh_frame of Mach-O for i386, 4 is EBP and 5 is ESP. */
static void swapped_registers(void **state) {
    (void)state;
    static const uint8_t cie[] = { 0x0c, 5, 4, 0x88, 1 };
    static const uint8_t code[] = { 0x41, 0x0e, 8, 0x84, 2, 0x42, 0x0d, 4,    0x05, 5,    3, 0x41, 0x08, 5,    0x09, 3, 4,
                                    0x10, 6,    2, 0x75, 8, 0x41, 0xc4, 0x0f, 3,    0x92, 4, 8,    0x41, 0x0c, 5,    4 };
    struct wire w;
    wire_init(&w, false);
    unwind_sample_put(&w, cie, sizeof cie, code, sizeof code);
    wire_patch(&w, 14, 8, 1); /* the return address */
    struct csni_frame_section section = unwind_sample_section(&w);
    expect_text(&section, "i386",
                "STACK CFI INIT 1000 100 .cfa: $ebp 4 + .ra: .cfa -8 + ^\nSTACK CFI 1001 .cfa: $ebp 8 + $esp: .cfa -16 + ^\n"
                "STACK CFI 1003 .cfa: $esp 8 + $ebp: .cfa -24 + ^\nSTACK CFI 1004 $ebp: $ebp $ebx: $esp $esi: $ebp 8 + ^\n"
                "STACK CFI 1005 .cfa: $esp 8 + $esp: $esp\nSTACK CFI 1006 .cfa: $ebp 4 +\n", 0);
    section.swaps_esp_ebp = true;
    expect_text(&section, "i386",
                "STACK CFI INIT 1000 100 .cfa: $esp 4 + .ra: .cfa -8 + ^\nSTACK CFI 1001 .cfa: $esp 8 + $ebp: .cfa -16 + ^\n"
                "STACK CFI 1003 .cfa: $ebp 8 + $esp: .cfa -24 + ^\nSTACK CFI 1004 $esp: $esp $ebx: $ebp $esi: $esp 8 + ^\n"
                "STACK CFI 1005 .cfa: $ebp 8 + $ebp: $ebp\nSTACK CFI 1006 .cfa: $esp 4 +\n", 0);
    wire_deinit(&w);

    /* Numbers are of 32 bits there. */
    static const uint8_t below[] = { 0x0f, 8, 0x75, 0, 0x0c, 0xfc, 0xff, 0xff, 0xff, 0x22 };
    wire_init(&w, false);
    unwind_sample_put(&w, cie, sizeof cie, below, sizeof below);
    wire_patch(&w, 14, 8, 1);
    section = unwind_sample_section(&w);
    section.address_size = 4;
    expect_text(&section, "i386", "STACK CFI INIT 1000 100 .cfa: $ebp -4 + .ra: .cfa -8 + ^\n", 0);
    wire_deinit(&w);
}

/* What stands before the damage holds up to where it was reached. */
static void damage(void **state) {
    (void)state;
    EXPECT_DAMAGED("STACK CFI INIT 1000 4 .cfa: $rsp 8 + .ra: .cfa -8 + ^\nSTACK CFI 1001 .cfa: $rsp 16 +\n",
                   0x41, 0x0e, 16, 0x43, 0x3f, 0x41, 0x0e, 24);
    EXPECT_DAMAGED("", 0x0b);
    EXPECT_DAMAGED("STACK CFI INIT 1000 1 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n", 0x41, 0x0e);
    EXPECT_DAMAGED("STACK CFI INIT 1000 1 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n", 0x41, 0x10, 3, 9);
    EXPECT_DAMAGED("STACK CFI INIT 1000 1 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n", 0x41, 0x0f, 1, 0x30, 0x0e, 8);
    EXPECT_DAMAGED("STACK CFI INIT 1000 10 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n", 0x50, 0x01, 0xd7, 0xbf, 0xff, 0xff);
    uint8_t nested[65];
    memset(nested, 0x0a, sizeof nested);
    expect_damaged(nested, sizeof nested, "", 1);
}

static void damaged_cie(void **state) {
    (void)state;
    static const uint8_t advances_in_cie[] = { 0x0c, 7, 8, 0x41 }, code[] = { 0x41 };
    struct wire w;
    wire_init(&w, false);
    unwind_sample_put(&w, advances_in_cie, sizeof advances_in_cie, code, sizeof code);
    struct csni_frame_section section = unwind_sample_section(&w);
    expect_text(&section, "x86_64", "", 1);
    wire_deinit(&w);
}

/* .debug_frame: another id for CIEs, offsets from the section's start, addresses of version 4. */
static void debug_frame(void **state) {
    (void)state;
    struct wire w;
    wire_init(&w, false);
    wire_fill(&w, 0, 4); /* an end mark, so that no CIE is at 0 */
    size_t cie = w.size, length = wire_begin_length(&w, 4);
    wire_u32(&w, UINT32_MAX);
    wire_u8(&w, 4);
    wire_cstr(&w, "");
    wire_u8(&w, 8);
    wire_u8(&w, 0);
    wire_uleb(&w, 1);
    wire_sleb(&w, -8);
    wire_uleb(&w, 16);
    wire_bytes(&w, CIE, sizeof CIE);
    wire_end_length(&w, length);
    for (unsigned i = 0; i < 2; i++) {
        length = wire_begin_length(&w, 4);
        wire_u32(&w, cie);
        wire_u64(&w, i * 0x1000); /* one was discarded by the linker */
        wire_u64(&w, 0x100);
        wire_end_length(&w, length);
    }
    struct csni_frame_section section = unwind_sample_section(&w);
    section.is_debug_frame = true;
    expect_text(&section, "x86_64", INIT "\n", 0);
    wire_deinit(&w);
}

static void truncations_and_changes(void **state) {
    (void)state;
    static const uint8_t code[] = { 0x41, 0x0e, 16, 0x86, 2, 0x0a, 0x43, 0xc6, 0x0f, 3, 0x77, 0xa0, 1, 0x41, 0x0b };
    struct wire w;
    wire_init(&w, false);
    unwind_sample_put(&w, CIE, sizeof CIE, code, sizeof code);
    struct csni_frame_section section = unwind_sample_section(&w);
    size_t size = section.bytes.size;
    uint8_t *bytes = malloc(size);
    for (size_t i = 0; i < size; i++)
        for (unsigned change = 0; change < 4; change++) {
            static const uint8_t with[] = { 0, 0xff, 0x80 };
            uint64_t damaged;
            csn_status status;
            memcpy(bytes, section.bytes.ptr, size);
            if (change) bytes[i] ^= with[change - 1];
            uint8_t *exact = malloc(change ? size : i + 1);
            memcpy(exact, bytes, change ? size : i);
            section.bytes = (struct csni_span){ exact, change ? size : i };
            free(unwind_sample_text(&section, "x86_64", &csni_libc_allocator, &damaged, &status));
            assert_true(status == CSN_OK || status == CSN_E_TRUNCATED);
            free(exact);
            section.bytes = wire_span(&w);
        }
    free(bytes);
    wire_deinit(&w);
}

static csn_status read_with(void *context, const struct csn_allocator *alloc) {
    uint64_t damaged;
    csn_status status;
    free(unwind_sample_text(context, "x86_64", alloc, &damaged, &status));
    return status;
}

static void out_of_memory(void **state) {
    (void)state;
    static const uint8_t code[] = { 0x0a, 0x41, 0x0e, 16, 0x0f, 3, 0x77, 0xa0, 1, 0x41, 0x0b };
    struct wire w;
    wire_init(&w, false);
    unwind_sample_put(&w, CIE, sizeof CIE, code, sizeof code);
    struct csni_frame_section section = unwind_sample_section(&w);
    assert_true(test_allocator_sweep(read_with, &section, 0) > 5);
    wire_deinit(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(advances), cmocka_unit_test(rules), cmocka_unit_test(return_address_in_a_register),
        cmocka_unit_test(restored), cmocka_unit_test(expressions),
        cmocka_unit_test(depends_on_the_address), cmocka_unit_test(shrinks_with_the_address), cmocka_unit_test(other_machines),
        cmocka_unit_test(several_cies), cmocka_unit_test(advances_far), cmocka_unit_test(work_is_told_once),
        cmocka_unit_test(swapped_registers), cmocka_unit_test(damage),
        cmocka_unit_test(damaged_cie), cmocka_unit_test(debug_frame), cmocka_unit_test(truncations_and_changes),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
