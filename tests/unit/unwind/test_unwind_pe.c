/* Rules from the exception data of PE images: codes of x86-64 and ARM64, chains, damage. An image is a run of bytes at RVA 0. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "formats/breakpad/breakpad_stack.h"
#include "support/test_alloc.h"
#include "unwind/unwind_pe.h"
#include "wire/wire.h"

static bool bytes_at(const void *context, uint64_t rva, struct csni_span *out) {
    const struct csni_span *image = context;
    return rva < image->size && csni_span_sub(*image, rva, image->size - rva, out);
}

struct reading {
    struct csni_span image;
    uint64_t off, entries_size;
    bool is_arm64;
    char *text;              /* of all entries; made by read_image() */
    uint64_t damaged, skipped;
};

static csn_status read_image(void *context, const struct csn_allocator *alloc) {
    struct reading *r = context;
    struct csni_unwind_pe pe = { .image_base = 0x10000, .bytes_at = bytes_at, .context = &r->image, .is_arm64 = r->is_arm64 };
    struct csni_breakpad_registers registers;
    struct csni_unwind_table table;
    struct csni_buffer text = { .alloc = alloc };
    csn_status status = CSN_OK;
    r->damaged = r->skipped = 0;
    csni_unwind_table_init(&table, alloc);
    assert_true(csni_breakpad_registers_of(csni_str(r->is_arm64 ? "arm64" : "x86_64"), &registers));
    if (!csni_span_sub(r->image, r->off, r->entries_size, &pe.entries)) pe.entries = (struct csni_span){ NULL, 0 };
    for (uint64_t off = 0; off < pe.entries.size && status == CSN_OK; off += csni_unwind_pe_entry_size(&pe)) {
        enum csni_unwind_result result;
        if (!csni_unwind_pe_read(&pe, off, &table, &result)) status = CSN_E_MEMORY;
        r->damaged += result == CSNI_UNWIND_DAMAGED;
        r->skipped += result == CSNI_UNWIND_SKIPPED;
        if (status == CSN_OK && result != CSNI_UNWIND_SKIPPED)
            csni_breakpad_put_stack(&text, &registers, &table, 0x10000, !r->is_arm64);
    }
    if (text.failed) status = CSN_E_MEMORY;
    r->text = calloc(1, text.size + 1);
    if (text.size) memcpy(r->text, text.bytes, text.size);
    csni_buffer_deinit(&text);
    csni_unwind_table_deinit(&table);
    return status;
}

/* ---- x86-64 ---- */

enum { INFO_RVA = 0x10 };

/* Unwind information at INFO_RVA, then whatever `w` gets, and one entry for [0x1000, 0x1100). */
static void put_info(struct wire *w, uint8_t version_and_flags, uint8_t frame, const uint8_t *codes, size_t size) {
    wire_init(w, false);
    wire_fill(w, 0, INFO_RVA);
    wire_u8(w, version_and_flags);
    wire_u8(w, 0x20);
    wire_u8(w, size / 2);
    wire_u8(w, frame);
    wire_bytes(w, codes, size);
    wire_align(w, 4);
}

static void put_entry(struct wire *w, uint32_t begin, uint32_t end, uint32_t info) {
    wire_u32(w, begin);
    wire_u32(w, end);
    wire_u32(w, info);
}

static void expect_entries(struct wire *w, size_t off, bool is_arm64, const char *want, uint64_t damaged, uint64_t skipped) {
    struct reading r = { .image = wire_span(w), .off = off, .entries_size = w->size - off, .is_arm64 = is_arm64 };
    assert_int_equal(read_image(&r, &csni_libc_allocator), CSN_OK);
    assert_string_equal(r.text, want);
    assert_int_equal(r.damaged, damaged);
    assert_int_equal(r.skipped, skipped);
    free(r.text);
}

static void expect_codes(uint8_t version, uint8_t frame, const uint8_t *codes, size_t size, const char *rules) {
    struct wire w;
    char want[400];
    put_info(&w, version, frame, codes, size);
    size_t off = w.size;
    put_entry(&w, 0x1000, 0x1100, INFO_RVA);
    snprintf(want, sizeof want, "STACK CFI INIT 1000 100 %s\n", rules ? rules : "");
    expect_entries(&w, off, false, rules ? want : "", !rules, 0);
    wire_deinit(&w);
}
#define EXPECT_CODES(version, frame, rules, ...)                 \
    do {                                                         \
        const uint8_t codes[] = { __VA_ARGS__ };                 \
        expect_codes(version, frame, codes, sizeof codes, rules); \
    } while (0)

static void x64_codes(void **state) {
    (void)state;
    /* push rbp; push rbx; sub rsp, 0x28 */
    EXPECT_CODES(1, 0, ".cfa: $rsp 64 + $rbp: .cfa 16 - ^ $rbx: .cfa 24 - ^ .ra: .cfa 8 - ^", 6, 0x42, 2, 0x30, 1, 0x50);
    EXPECT_CODES(1, 0, ".cfa: $rsp 4104 + .ra: .cfa 8 - ^", 7, 0x01, 0x00, 0x02);
    EXPECT_CODES(1, 0, ".cfa: $rsp 1048584 + .ra: .cfa 8 - ^", 7, 0x11, 0, 0, 0x10, 0);
    /* Registers saved after the stack grew, near and far; XMM registers are not followed. */
    EXPECT_CODES(1, 0, ".cfa: $rsp 48 + $rsi: .cfa 24 - ^ $rdi: .cfa -16 - ^ .ra: .cfa 8 - ^",
                 9, 0x75, 64, 0, 0, 0, 8, 0x64, 3, 0, 7, 0x68, 1, 0, 7, 0x69, 1, 0, 0, 0, 4, 0x42);
    /* lea rbp, [rsp + 0x20], and the stack grows on */
    EXPECT_CODES(1, 0x25, ".cfa: $rbp 32 + $rbp: .cfa 16 - ^ $rbx: $rbp -16 + ^ .ra: .cfa 8 - ^",
                 12, 0x34, 2, 0, 10, 0x02, 8, 0x03, 4, 0x52, 1, 0x50);
    EXPECT_CODES(1, 0, ".cfa: $rsp 48 + $rsp: .cfa 24 - ^ .ra: .cfa 48 - ^", 0, 0x0a);
    EXPECT_CODES(1, 0, ".cfa: $rsp 64 + $rsp: .cfa 24 - ^ .ra: .cfa 48 - ^ $rax: .cfa 64 - ^", 1, 0x00, 0, 0x1a);
    EXPECT_CODES(1, 0, ".cfa: $rsp 16 + $rdi: .cfa 16 - ^ .ra: .cfa 8 - ^", 1, 0x67, 0, 0, 0, 0, 1, 0x66, 0, 0, 1, 0x70);
    /* Version 2 tells where epilogues are. */
    EXPECT_CODES(2, 0, ".cfa: $rsp 16 + $rdi: .cfa 16 - ^ .ra: .cfa 8 - ^", 2, 0x16, 0, 0x06, 1, 0x70);
    EXPECT_CODES(1, 0, ".cfa: $rsp 8 + .ra: .cfa 8 - ^", );
}

static void x64_damage(void **state) {
    (void)state;
    EXPECT_CODES(1, 0, NULL, 1, 0x0b);       /* no such operation */
    EXPECT_CODES(1, 0, NULL, 1, 0x21, 0, 0); /* nor such a size */
    EXPECT_CODES(1, 0, NULL, 1, 0x2a);
    EXPECT_CODES(1, 0, NULL, 1, 0x11, 0, 0); /* the operand is missing */
    EXPECT_CODES(3, 0, NULL, 1, 0x50);
    EXPECT_CODES(0, 0, NULL, 1, 0x50);
}

/* A part that was moved away continues the prologue of its parent; entries may lead to another one's information. */
static void x64_chains(void **state) {
    (void)state;
    static const uint8_t parent[] = { 5, 0x42, 1, 0x50 }, child[] = { 4, 0x34, 2, 0 };
    struct wire w;
    put_info(&w, 1, 0, parent, sizeof parent);
    size_t part = w.size;
    wire_u8(&w, 1 | 4 << 3);
    wire_u8(&w, 4);
    wire_u8(&w, 2);
    wire_u8(&w, 0);
    wire_bytes(&w, child, sizeof child);
    put_entry(&w, 0x1000, 0x1100, INFO_RVA);
    size_t off = w.size;
    put_entry(&w, 0x1000, 0x1100, INFO_RVA);
    put_entry(&w, 0x1200, 0x1240, (uint32_t)part);
    put_entry(&w, 0x1300, 0x1310, (uint32_t)off + 1);
    put_entry(&w, 0, 0, 0);
    put_entry(&w, 0x1500, 0x1400, INFO_RVA);
    put_entry(&w, 0x1500, 0x1600, 0x7000);
    expect_entries(&w, off, false,
                   "STACK CFI INIT 1000 100 .cfa: $rsp 56 + $rbp: .cfa 16 - ^ .ra: .cfa 8 - ^\n"
                   "STACK CFI INIT 1200 40 .cfa: $rsp 56 + $rbp: .cfa 16 - ^ $rbx: .cfa 40 - ^ .ra: .cfa 8 - ^\n"
                   "STACK CFI INIT 1300 10 .cfa: $rsp 56 + $rbp: .cfa 16 - ^ .ra: .cfa 8 - ^\n", 2, 1);
    wire_deinit(&w);
}

static void chain_without_end(void **state) {
    (void)state;
    struct wire w;
    put_info(&w, 1 | 4 << 3, 0, (const uint8_t *)"", 0);
    put_entry(&w, 0x1000, 0x1100, INFO_RVA); /* continues itself */
    size_t off = w.size;
    put_entry(&w, 0x1000, 0x1100, INFO_RVA);
    put_entry(&w, 0x1000, 0x1100, (uint32_t)off + 13); /* leads to itself */
    expect_entries(&w, off, false, "", 2, 0);
    wire_deinit(&w);
}

/* ---- ARM64 ---- */

static void put_arm64(struct wire *w, const uint8_t *codes, size_t size, size_t *off) {
    size_t words = (size + 3) / 4;
    wire_init(w, false);
    wire_fill(w, 0, INFO_RVA);
    wire_u32(w, 0x40 | 1u << 21 | words << 27);
    wire_bytes(w, codes, size);
    wire_align(w, 4);
    *off = w->size;
    wire_u32(w, 0x1000);
    wire_u32(w, INFO_RVA);
}

#define INIT "STACK CFI INIT 1000 100 .cfa: sp 0 + .ra: x30\n"
static void expect_arm64(const uint8_t *codes, size_t size, const char *want, uint64_t damaged) {
    struct wire w;
    size_t off;
    put_arm64(&w, codes, size, &off);
    expect_entries(&w, off, true, want, damaged, 0);
    wire_deinit(&w);
}
#define EXPECT_ARM64(want, ...)                          \
    do {                                                 \
        const uint8_t codes[] = { __VA_ARGS__ };         \
        expect_arm64(codes, sizeof codes, want, 0);      \
    } while (0)

static void arm64_codes(void **state) {
    (void)state;
    /* stp x29, x30, [sp, -32]!; mov x29, sp; sub sp, 16 */
    EXPECT_ARM64(INIT "STACK CFI 1004 .cfa: sp 32 + x29: .cfa -32 + ^ .ra: .cfa -24 + ^\nSTACK CFI 1008 .cfa: x29 32 +\n",
                 0x01, 0xe1, 0x83, 0xe4);
    /* sub sp, 64; stp x19, x20, [sp, 16]; stp x21, x22, [sp, 32]; stp x29, x30, [sp, 48]; add x29, sp, 48 */
    EXPECT_ARM64(INIT "STACK CFI 1004 .cfa: sp 64 +\nSTACK CFI 1008 x19: .cfa -48 + ^ x20: .cfa -40 + ^\n"
                 "STACK CFI 100c x21: .cfa -32 + ^ x22: .cfa -24 + ^\nSTACK CFI 1010 x29: .cfa -16 + ^ .ra: .cfa -8 + ^\n"
                 "STACK CFI 1014 .cfa: x29 16 +\n",
                 0xe2, 6, 0x46, 0xe6, 0xc8, 0x02, 0x04, 0xe4);
    /* stp x19, x20, [sp, -32]!; str x21, [sp, 16]; sub sp, 4096; pac */
    EXPECT_ARM64(INIT "STACK CFI 1008 .cfa: sp 32 + x19: .cfa -32 + ^ x20: .cfa -24 + ^\nSTACK CFI 100c x21: .cfa -16 + ^\n"
                 "STACK CFI 1010 .cfa: sp 4128 +\n", 0xc1, 0x00, 0xd0, 0x82, 0x24, 0xfc, 0xe4);
    /* str x19, [sp, -16]!; stp x21, lr, [sp, 8]; d8 and d9; a large frame */
    EXPECT_ARM64(INIT "STACK CFI 1004 .cfa: sp 16 + x19: .cfa -16 + ^\nSTACK CFI 1008 x21: .cfa -8 + ^ .ra: .cfa 0 + ^\n"
                 "STACK CFI 1010 .cfa: sp 32 +\nSTACK CFI 1014 .cfa: sp 1048608 +\n",
                 0xe0, 1, 0, 0, 0xda, 0x01, 0xd8, 0x02, 0xd6, 0x41, 0xd4, 0x01, 0xe4);
    /* save_any_reg: x28 pre-indexed; a pair of them */
    EXPECT_ARM64(INIT "STACK CFI 1004 .cfa: sp 16 + x28: .cfa -16 + ^\nSTACK CFI 1008 x19: .cfa 0 + ^ x20: .cfa 8 + ^\n",
                 0xe7, 0x40 | 19, 1, 0xe7, 0x20 | 28, 0, 0xe4);
    /* Each byte of a large frame's size. */
    EXPECT_ARM64(INIT "STACK CFI 1004 .cfa: sp 4128 +\n", 0xe0, 0, 1, 2, 0xe4);
    EXPECT_ARM64(INIT, 0xe4);
}

static void arm64_damage(void **state) {
    (void)state;
    static const uint8_t unknown[] = { 0xf0, 0xe4 }, next_of_nothing[] = { 0xe6, 0xe4 }, no_operand[] = { 0xe3, 0xe3, 0xe3, 0xe0 },
                         bad_kind[] = { 0xe7, 0, 0xc0, 0xe4 };
    expect_arm64(unknown, sizeof unknown, "", 1);
    expect_arm64(next_of_nothing, sizeof next_of_nothing, "", 1);
    expect_arm64(no_operand, sizeof no_operand, "", 1);
    expect_arm64(bad_kind, sizeof bad_kind, "", 1);
}

/* ---- both ---- */

static void truncations_and_changes(void **state) {
    (void)state;
    static const uint8_t x64[] = { 8, 0x64, 3, 0, 4, 0x42, 1, 0x50 }, arm64[] = { 0xe2, 6, 0x46, 0xe6, 0xc8, 0x02, 0x04, 0xe4 };
    for (unsigned machine = 0; machine < 2; machine++) {
        struct wire w;
        size_t off;
        if (machine) {
            put_arm64(&w, arm64, sizeof arm64, &off);
        } else {
            put_info(&w, 1, 0, x64, sizeof x64);
            off = w.size;
            put_entry(&w, 0x1000, 0x1100, INFO_RVA);
        }
        struct csni_span whole = wire_span(&w);
        for (size_t i = 0; i < whole.size; i++)
            for (unsigned bit = 0; bit <= 8; bit++) {
                size_t size = bit < 8 ? whole.size : i;
                uint8_t *copy = malloc(size + 1);
                memcpy(copy, whole.ptr, size);
                if (bit < 8) copy[i] ^= (uint8_t)(1u << bit);
                uint8_t *exact = realloc(copy, size ? size : 1);
                struct reading r = { .image = { exact, size }, .off = size == whole.size ? off : 0,
                                     .entries_size = size == whole.size ? size - off : size, .is_arm64 = machine };
                assert_int_equal(read_image(&r, &csni_libc_allocator), CSN_OK);
                free(r.text);
                free(exact);
            }
        wire_deinit(&w);
    }
}

static csn_status read_and_forget(void *context, const struct csn_allocator *alloc) {
    csn_status status = read_image(context, alloc);
    free(((struct reading *)context)->text);
    return status;
}

static void out_of_memory(void **state) {
    (void)state;
    static const uint8_t codes[] = { 0xe2, 6, 0x46, 0xe6, 0xc8, 0x02, 0x04, 0xe4 };
    struct wire w;
    size_t off;
    put_arm64(&w, codes, sizeof codes, &off);
    struct reading r = { .image = wire_span(&w), .off = off, .entries_size = 8, .is_arm64 = true };
    assert_true(test_allocator_sweep(read_and_forget, &r, 0) > 3);
    wire_deinit(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(x64_codes),    cmocka_unit_test(x64_damage),
        cmocka_unit_test(x64_chains),   cmocka_unit_test(chain_without_end),
        cmocka_unit_test(arm64_codes),  cmocka_unit_test(arm64_damage),
        cmocka_unit_test(truncations_and_changes), cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
