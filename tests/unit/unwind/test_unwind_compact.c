/* Compact unwind information: pages of both kinds, words of each machine, every order of saved registers, damage. */
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
#include "unwind/unwind_compact.h"
#include "wire/wire.h"

enum { IMAGE_BASE = 0x100000 };
static const uint8_t code[] = { 0x48, 0x81, 0xec, 0x28, 0x4e, 0, 0 }; /* sub rsp, 0x4e28 */

static bool code_at(const void *context, uint64_t addr, struct csni_span *out) {
    (void)context;
    struct csni_span all = { code, sizeof code };
    return addr >= IMAGE_BASE + 0x1000 &&
           csni_span_sub(all, addr - IMAGE_BASE - 0x1000, sizeof code - (addr - IMAGE_BASE - 0x1000), out);
}

struct reading {
    struct csni_unwind_compact compact;
    const char *arch;
    char *text;              /* made by read_words() */
    uint64_t damaged;
};

static csn_status read_words(void *context, const struct csn_allocator *alloc) {
    struct reading *r = context;
    struct csni_breakpad_registers registers;
    struct csni_unwind_table table;
    struct csni_buffer text = { .alloc = alloc };
    csn_status status = CSN_OK;
    r->damaged = 0;
    csni_unwind_table_init(&table, alloc);
    assert_true(csni_breakpad_registers_of(csni_str(r->arch), &registers));
    for (uint32_t page = 0; page < csni_unwind_compact_pages(&r->compact) && page < 100; page++) {
        bool is_last = false;
        for (uint32_t entry = 0; !is_last && status == CSN_OK; entry++) {
            enum csni_unwind_result result;
            status = csni_unwind_compact_read(&r->compact, page, entry, NULL, &table, &result, &is_last, NULL);
            r->damaged += result == CSNI_UNWIND_DAMAGED;
            if (status == CSN_OK && result != CSNI_UNWIND_SKIPPED)
                csni_breakpad_put_stack(&text, &registers, &table, IMAGE_BASE, false);
        }
    }
    if (text.failed) status = CSN_E_MEMORY;
    r->text = calloc(1, text.size + 1);
    if (text.size) memcpy(r->text, text.bytes, text.size);
    csni_buffer_deinit(&text);
    csni_unwind_table_deinit(&table);
    return status;
}

/* Header, two words for all, an index of `pages` pages and its end. The index is at 36. */
static void put_head(struct wire *w, uint32_t pages) {
    wire_init(w, false);
    wire_u32(w, 1);
    wire_u32(w, 28);
    wire_u32(w, 2);
    wire_u32(w, 36);
    wire_u32(w, 0);
    wire_u32(w, 36);
    wire_u32(w, pages + 1);
    wire_u32(w, 0x01000000);
    wire_u32(w, 0x04000010);
    wire_fill(w, 0, 12 * (pages + 1));
}

static void set_index(struct wire *w, uint32_t page, uint32_t addr, size_t off) {
    wire_patch(w, 36 + 12 * page, addr, 4);
    wire_patch(w, 36 + 12 * page + 4, off, 4);
}

static void expect_section(struct wire *w, const char *arch, enum csni_compact_machine machine, const char *want,
                           uint64_t damaged) {
    struct reading r = { .compact = { .bytes = wire_span(w), .image_base = IMAGE_BASE, .machine = machine, .code_at = code_at },
                         .arch = arch };
    assert_int_equal(read_words(&r, &csni_libc_allocator), CSN_OK);
    assert_string_equal(r.text, want);
    assert_int_equal(r.damaged, damaged);
    free(r.text);
}

/* One function from 0x1000 to 0x1100 with that word. */
static void expect_word(const char *arch, enum csni_compact_machine machine, uint32_t word, const char *rules) {
    struct wire w;
    char want[400] = "";
    put_head(&w, 1);
    set_index(&w, 0, 0x1000, w.size);
    set_index(&w, 1, 0x1100, 0);
    wire_u32(&w, 2);
    wire_u16(&w, 8);
    wire_u16(&w, 1);
    wire_u32(&w, 0x1000);
    wire_u32(&w, word);
    if (rules) snprintf(want, sizeof want, "STACK CFI INIT 1000 100 %s\n", rules);
    expect_section(&w, arch, machine, want, !rules);
    wire_deinit(&w);
}

static void words_of_x86(void **state) {
    (void)state;
#define X64(word, rules) expect_word("x86_64", CSNI_COMPACT_X86_64, word, rules)
    X64(0, ".cfa: $rsp 8 + .ra: .cfa -8 + ^");
    X64(0x01000000, ".cfa: $rbp 16 + $rbp: .cfa -16 + ^ .ra: .cfa -8 + ^");
    X64(0x41020021, ".cfa: $rbp 16 + $rbp: .cfa -16 + ^ .ra: .cfa -8 + ^ $rbx: .cfa -32 + ^ $r14: .cfa -24 + ^");
    X64(0x02060802, ".cfa: $rsp 48 + .ra: .cfa -8 + ^ $r14: .cfa -16 + ^ $rbx: .cfa -24 + ^");
    X64(0x02010000, ".cfa: $rsp 8 + .ra: .cfa -8 + ^");
    X64(0x03034000 | 1 << 10, ".cfa: $rsp 20024 + .ra: .cfa -8 + ^ $rbx: .cfa -16 + ^"); /* 0x4e28 and two pushes */
    X64(0x03080000, NULL); /* behind the code */
    X64(0x01000007, NULL); /* no such register */
    X64(0x02001c00, NULL); /* 7 registers */
    X64(0x05000000, NULL);
    X64(0x00000001, NULL);
    X64(0x04000010, NULL); /* there is no __eh_frame */
    expect_word("i386", CSNI_COMPACT_X86, 0x01010026,
                ".cfa: $ebp 8 + $ebp: .cfa -8 + ^ .ra: .cfa -4 + ^ $ebp: .cfa -12 + ^ $edi: .cfa -8 + ^");
    expect_word("i386", CSNI_COMPACT_X86, 0x02040400, ".cfa: $esp 16 + .ra: .cfa -4 + ^ $ebx: .cfa -8 + ^");
}

static void words_of_arm64(void **state) {
    (void)state;
#define ARM64(word, rules) expect_word("arm64", CSNI_COMPACT_ARM64, word, rules)
    ARM64(0, ".cfa: sp .ra: x30");
    ARM64(0x02001000, ".cfa: sp 16 + .ra: x30 0 +");
    ARM64(0x04000000, ".cfa: x29 16 + x29: .cfa -16 + ^ .ra: .cfa -8 + ^");
    ARM64(0x04000105, ".cfa: x29 16 + x29: .cfa -16 + ^ .ra: .cfa -8 + ^ x19: .cfa -24 + ^ x20: .cfa -32 + ^ x23: .cfa -40 + ^ "
                      "x24: .cfa -48 + ^"); /* and d8, d9 */
    ARM64(0x05000000, NULL);
    ARM64(0x03000010, NULL);
}

/* As the encoder does it: the rank of each register among those that are left, one digit each. */
static uint32_t encode_permutation(const uint8_t *numbers, unsigned count) {
    uint32_t value = 0;
    for (unsigned i = 0; i < count; i++) {
        uint32_t rank = 0;
        for (uint8_t u = 1; u < numbers[i]; u++) {
            bool used = false;
            for (unsigned k = 0; k < i; k++) used |= numbers[k] == u;
            rank += !used;
        }
        value = value * (6 - i) + rank;
    }
    return value;
}

static unsigned try_orders(uint8_t *numbers, unsigned have, unsigned count) {
    static const char *const names[] = { "", "$rbx", "$r12", "$r13", "$r14", "$r15", "$rbp" };
    unsigned orders = 0;
    if (have == count) {
        char want[300];
        int len = snprintf(want, sizeof want, ".cfa: $rsp 80 + .ra: .cfa -8 + ^");
        for (unsigned i = 0; i < count; i++)
            len += snprintf(want + len, sizeof want - (size_t)len, " %s: .cfa -%u + ^", names[numbers[count - 1 - i]], 16 + 8 * i);
        X64(0x020a0000 | count << 10 | encode_permutation(numbers, count), want);
        return 1;
    }
    for (uint8_t u = 1; u < 7; u++) {
        bool used = false;
        for (unsigned k = 0; k < have; k++) used |= numbers[k] == u;
        if (used) continue;
        numbers[have] = u;
        orders += try_orders(numbers, have + 1, count);
    }
    return orders;
}

static void every_order(void **state) {
    (void)state;
    uint8_t numbers[6];
    unsigned orders = 0;
    for (unsigned count = 0; count <= 6; count++) orders += try_orders(numbers, 0, count);
    assert_int_equal(orders, 1 + 6 + 30 + 120 + 360 + 720 + 720);
}

/* A compressed page with words of its own and those for all; entries that repeat an address; the next page's address
 * ends the last. */
static void put_pages(struct wire *w) {
    put_head(w, 2);
    set_index(w, 0, 0x1000, w->size);
    wire_u32(w, 3);
    wire_u16(w, 12);
    wire_u16(w, 4);
    wire_u16(w, 28);
    wire_u16(w, 1);
    wire_u32(w, 0);
    wire_u32(w, 0x02000010);
    wire_u32(w, 0x02000010);
    wire_u32(w, 0x03000020); /* no such word */
    wire_u32(w, 0x02010000);
    set_index(w, 1, 0x2000, w->size);
    set_index(w, 2, 0x2100, 0);
    wire_u32(w, 2);
    wire_u16(w, 8);
    wire_u16(w, 1);
    wire_u32(w, 0x2010);
    wire_u32(w, 0x02020000);
}

static void pages(void **state) {
    (void)state;
    struct wire w;
    put_pages(&w);
    expect_section(
        &w, "x86_64", CSNI_COMPACT_X86_64,
        "STACK CFI INIT 1000 10 .cfa: $rbp 16 + $rbp: .cfa -16 + ^ .ra: .cfa -8 + ^\n"
        "STACK CFI INIT 1010 10 .cfa: $rsp 8 + .ra: .cfa -8 + ^\nSTACK CFI INIT 2010 f0 .cfa: $rsp 16 + .ra: .cfa -8 + ^\n",
        1);
    wire_deinit(&w);
}

static void damage(void **state) {
    (void)state;
    struct wire w;
    put_pages(&w);
    wire_patch(&w, 0, 2, 4); /* a version that is not known */
    expect_section(&w, "x86_64", CSNI_COMPACT_X86_64, "", 0);
    wire_patch(&w, 0, 1, 4);
    set_index(&w, 0, 0x1000, w.size);
    set_index(&w, 1, 0x2000, 0);
    expect_section(&w, "x86_64", CSNI_COMPACT_X86_64, "", 2);
    wire_deinit(&w);
}

static void truncations_and_changes(void **state) {
    (void)state;
    struct wire w;
    put_pages(&w);
    struct csni_span whole = wire_span(&w);
    for (size_t i = 0; i < whole.size; i++)
        for (unsigned bit = 0; bit <= 8; bit++) {
            size_t size = bit < 8 ? whole.size : i;
            uint8_t *copy = malloc(size ? size : 1);
            memcpy(copy, whole.ptr, size);
            if (bit < 8) copy[i] ^= (uint8_t)(1u << bit);
            struct reading r = { .compact = { .bytes = { copy, size }, .image_base = IMAGE_BASE, .machine = CSNI_COMPACT_X86_64,
                                              .code_at = code_at }, .arch = "x86_64" };
            assert_int_equal(read_words(&r, &csni_libc_allocator), CSN_OK);
            free(r.text);
            free(copy);
        }
    wire_deinit(&w);
}

static csn_status read_and_forget(void *context, const struct csn_allocator *alloc) {
    csn_status status = read_words(context, alloc);
    free(((struct reading *)context)->text);
    return status;
}

static void out_of_memory(void **state) {
    (void)state;
    struct wire w;
    put_pages(&w);
    struct reading r = { .compact = { .bytes = wire_span(&w), .image_base = IMAGE_BASE, .machine = CSNI_COMPACT_X86_64,
                                      .code_at = code_at }, .arch = "x86_64" };
    assert_true(test_allocator_sweep(read_and_forget, &r, 0) > 3);
    wire_deinit(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_of_x86), cmocka_unit_test(words_of_arm64), cmocka_unit_test(every_order), cmocka_unit_test(pages),
        cmocka_unit_test(damage), cmocka_unit_test(truncations_and_changes), cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
