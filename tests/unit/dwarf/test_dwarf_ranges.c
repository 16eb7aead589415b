/* Address ranges of DIEs: low and high, .debug_ranges, .debug_rnglists with every kind of entry. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/dwarf_sample.h"

/* A unit at 0x1000 whose second DIE has its ranges by `form`, written by the caller up to dwarf_sample_end(). */
static size_t begin(struct dwarf_sample *s, int first, int form, int second, int second_form) {
    dwarf_sample_abbrev(s, 1, DW_TAG_compile_unit, true, DW_AT_low_pc, DW_FORM_addr, 0);
    if (second) dwarf_sample_abbrev(s, 2, DW_TAG_subprogram, false, first, form, second, second_form, 0);
    else dwarf_sample_abbrev(s, 2, DW_TAG_subprogram, false, first, form, 0);
    dwarf_sample_abbrevs_end(s);
    size_t unit = dwarf_sample_unit(s);
    wire_u8(&s->info, 1);
    dwarf_sample_address(s, &s->info, 0x1000);
    wire_u8(&s->info, 2);
    return unit;
}

static csn_status ranges_kept(struct dwarf_sample *s, size_t unit, bool keeps_empty, csni_address_ranges *out,
                              struct csn_error *err) {
    wire_u8(&s->info, 0);
    dwarf_sample_end(s, unit);
    struct csni_dwarf *d = dwarf_sample_open(s);
    struct csni_die die;
    uint64_t off = d->units[0].first_die + 1 + s->address_size;
    assert_int_equal(csni_die_at(d, NULL, off, &die, err), CSN_OK);
    *out = (csni_address_ranges){ .alloc = d->alloc };
    assert_true(csni_vec_reserve(out, 1)); /* as it mostly has room, which has a way of its own */
    return keeps_empty ? csni_die_all_ranges(d, &die, out, err) : csni_die_ranges(d, &die, out, err);
}

static csn_status ranges_of(struct dwarf_sample *s, size_t unit, csni_address_ranges *out, struct csn_error *err) {
    return ranges_kept(s, unit, false, out, err);
}

static void expect(csni_address_ranges *got, const struct csni_address_range *want, size_t count) {
    assert_int_equal(got->count, count);
    for (size_t i = 0; i < count; i++) {
        assert_true(got->items[i].low == want[i].low);
        assert_true(got->items[i].high == want[i].high);
    }
    csni_vec_deinit(got);
}

static void low_and_high(void **state) {
    (void)state;
    static const int forms[] = { DW_FORM_addr, DW_FORM_data1, DW_FORM_data4, DW_FORM_udata };
    for (size_t i = 0; i < 4; i++) {
        struct dwarf_sample s;
        csni_address_ranges ranges;
        dwarf_sample_init(&s, i & 1);
        size_t unit = begin(&s, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, forms[i]);
        dwarf_sample_address(&s, &s.info, 0x2000);
        if (i == 0) dwarf_sample_address(&s, &s.info, 0x2010);
        else wire_uint(&s.info, 0x10, i == 2 ? 4 : 1);
        assert_int_equal(ranges_of(&s, unit, &ranges, NULL), CSN_OK);
        expect(&ranges, (const struct csni_address_range[]){ { 0x2000, 0x2010 } }, 1);
        dwarf_sample_deinit(&s);
    }
}

/* The address of an expression, or a status below 0 or above. Address table: 0x5000, 0x5100. */
static void expect_expression(const char *bytes, size_t size, csn_status status, uint64_t low) {
    struct dwarf_sample s;
    csni_address_ranges ranges;
    dwarf_sample_init(&s, false);
    wire_fill(&s.addr, 0xee, 8);
    dwarf_sample_address(&s, &s.addr, 0x5000);
    dwarf_sample_address(&s, &s.addr, 0x5100);
    size_t unit = begin(&s, DW_AT_low_pc, DW_FORM_exprloc, DW_AT_high_pc, DW_FORM_data4);
    wire_u8(&s.info, (uint8_t)size);
    wire_bytes(&s.info, bytes, size);
    wire_u32(&s.info, 0x10);
    assert_int_equal(ranges_of(&s, unit, &ranges, NULL), status);
    expect(&ranges, (const struct csni_address_range[]){ { low, low + 0x10 } }, status == CSN_OK);
    dwarf_sample_deinit(&s);
}
#define EXPRESSION(bytes, status, low) expect_expression(bytes, sizeof bytes - 1, status, low)

/* As clang -mllvm -minimize-addr-in-v5=Expressions writes them, and with every operation that is known. */
static void expressions(void **state) {
    (void)state;
    EXPRESSION("\xa1\x01\x0c\x20\x03\x00\x00\x22", CSN_OK, 0x5420);
    EXPRESSION("\xa1\x00", CSN_OK, 0x5000);
    EXPRESSION("\xfb\x01\x23\x81\x01", CSN_OK, 0x5181);
    EXPRESSION("\x03\x00\x20\x00\x00\x00\x00\x00\x00\x08\x11\x22", CSN_OK, 0x2011);
    EXPRESSION("\xa1\x00\x0a\x11\x01\x10\x81\x01\x22\x22", CSN_OK, 0x5192);
    EXPRESSION("\xa1\x00\x0e\x01\x00\x00\x00\x01\x00\x00\x00\x22", CSN_OK, 0x100005001);
    EXPRESSION("\xa1\x05", CSN_E_FORMAT, 0);                         /* not in the table */
    EXPRESSION("\xa1\x00\x06", CSN_NONE, 0);                         /* reads memory */
    EXPRESSION("\x22", CSN_NONE, 0);                                  /* nothing to add */
    EXPRESSION("\xa1\x00\x22", CSN_NONE, 0);
    EXPRESSION("\x23\x01", CSN_NONE, 0);
    EXPRESSION("\xa1\x00\xa1\x01", CSN_NONE, 0);                     /* two results */
    EXPRESSION("\x08\x01\x08\x01\x08\x01\x08\x01\x08\x01\x22", CSN_NONE, 0); /* too deep */
    EXPRESSION("\xa1\x00\x0c\x20\x03", CSN_NONE, 0);                 /* cut off */
    EXPRESSION("", CSN_NONE, 0);
}

/* An end that is not to be found fails; it is no end that happens to be there. */
static void end_in_no_table(void **state) {
    (void)state;
    struct dwarf_sample s;
    csni_address_ranges ranges;
    struct csn_error err = CSN_ERROR_INIT;
    dwarf_sample_init(&s, false);
    size_t unit = begin(&s, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_addrx);
    dwarf_sample_address(&s, &s.info, 0x2000);
    wire_u8(&s.info, 9);
    assert_int_equal(ranges_of(&s, unit, &ranges, &err), CSN_E_FORMAT);
    assert_string_equal(err.text, ".debug_addr+0x8: index 9 of the table here is to be read, the section has 0 bytes");
    expect(&ranges, NULL, 0);
    dwarf_sample_deinit(&s);
}

static void no_addresses(void **state) {
    (void)state;
    struct dwarf_sample s;
    csni_address_ranges ranges;
    dwarf_sample_init(&s, false);
    size_t unit = begin(&s, DW_AT_low_pc, DW_FORM_addr, 0, 0);
    dwarf_sample_address(&s, &s.info, 0x2000);
    assert_int_equal(ranges_of(&s, unit, &ranges, NULL), CSN_NONE);
    expect(&ranges, NULL, 0);
    dwarf_sample_deinit(&s);
}

static void old_ranges(void **state) {
    (void)state;
    for (unsigned i = 0; i < 12; i++) {
        struct dwarf_sample s;
        csni_address_ranges ranges;
        const unsigned k = i / 2;
        const bool keeps_empty = i & 1;
        dwarf_sample_init(&s, k & 1);
        s.version = (uint16_t)(2 + k / 2);
        s.address_size = k < 4 ? 4 : 8;
        uint64_t highest = s.address_size == 4 ? UINT32_MAX : UINT64_MAX;
        uint64_t list[][2] = { { 0x10, 0x20 }, { 0x30, 0x30 }, { highest, 0x8000 }, { 1, 2 }, { highest - 1, highest - 1 },
                               { highest, highest - 1 }, { 5, 6 }, { highest, 0 }, { 7, 9 }, { 0, 0 }, { 1, 3 } };
        wire_fill(&s.ranges, 0xee, 8);
        for (size_t at = 0; at < sizeof list / sizeof *list; at++) {
            dwarf_sample_address(&s, &s.ranges, list[at][0]);
            dwarf_sample_address(&s, &s.ranges, list[at][1]);
        }
        size_t unit = begin(&s, DW_AT_ranges, s.version < 4 ? DW_FORM_data4 : DW_FORM_sec_offset, 0, 0);
        wire_u32(&s.info, 8);
        assert_int_equal(ranges_kept(&s, unit, keeps_empty, &ranges, NULL), CSN_OK);
        if (keeps_empty)
            expect(&ranges,
                   (const struct csni_address_range[]){ { 0x1010, 0x1020 }, { 0x1030, 0x1030 }, { 0x8001, 0x8002 }, { 7, 9 } }, 4);
        else expect(&ranges, (const struct csni_address_range[]){ { 0x1010, 0x1020 }, { 0x8001, 0x8002 }, { 7, 9 } }, 3);
        dwarf_sample_deinit(&s);
    }
}

/* Code up to the last byte that 32 bits can address, as firmware has it: its end is 2^32. */
static void up_to_the_last_address(void **state) {
    (void)state;
    for (unsigned k = 0; k < 6; k++) {
        struct dwarf_sample s;
        csni_address_ranges ranges;
        dwarf_sample_init(&s, k & 1);
        s.version = k < 2 ? 4 : 5;
        s.address_size = 4;
        struct wire *w = s.version == 4 ? &s.ranges : &s.rnglists;
        wire_fill(w, 0xee, 8);
        if (s.version == 4) {
            for (size_t i = 0; i < 6; i++) wire_uint(w, ((uint32_t[]){ UINT32_MAX, 0xfffffff0, 4, 16, 0, 0 })[i], 4);
        } else {
            wire_u8(w, k < 4 ? DW_RLE_base_address : DW_RLE_start_length);
            dwarf_sample_address(&s, w, k < 4 ? 0xfffffff0 : 0xfffffff4);
            wire_bytes(
                w, k < 4 ? (const uint8_t[]){ DW_RLE_offset_pair, 4, 16, 0 } : (const uint8_t[]){ 12, DW_RLE_end_of_list, 0, 0 },
                4);
        }
        size_t unit = begin(&s, DW_AT_ranges, DW_FORM_sec_offset, 0, 0);
        wire_u32(&s.info, 8);
        assert_int_equal(ranges_of(&s, unit, &ranges, NULL), CSN_OK);
        expect(&ranges, (const struct csni_address_range[]){ { 0xfffffff4, 0x100000000 } }, 1);
        dwarf_sample_deinit(&s);
    }
}

/* Every kind of entry. Address table: 0x5000, 0x5100, the highest address. */
static void put_list(struct dwarf_sample *s, uint64_t highest) {
    struct wire *w = &s->rnglists;
    static const uint8_t first[] = { DW_RLE_offset_pair, 0x10, 0x90, 0x01, DW_RLE_startx_endx, 0, 1,
                                     DW_RLE_startx_length, 1, 0x80, 0x01, DW_RLE_base_addressx, 1,
                                     DW_RLE_offset_pair, 1, 2, DW_RLE_offset_pair, 3, 3, DW_RLE_base_address };
    wire_bytes(w, first, sizeof first);
    dwarf_sample_address(s, w, 0x8000);
    wire_bytes(w, (const uint8_t[]){ DW_RLE_offset_pair, 4, 8, DW_RLE_start_end }, 4);
    dwarf_sample_address(s, w, 0x9000);
    dwarf_sample_address(s, w, 0x9008);
    wire_u8(w, DW_RLE_start_length);
    dwarf_sample_address(s, w, 0xa000);
    wire_uleb(w, 0x200);
    /* What a linker discarded. */
    wire_u8(w, DW_RLE_start_length);
    dwarf_sample_address(s, w, highest);
    wire_uleb(w, 0x10);
    wire_bytes(w, (const uint8_t[]){ DW_RLE_startx_length, 2, 4, DW_RLE_base_addressx, 2, DW_RLE_offset_pair, 0, 4 }, 8);
    wire_u8(w, DW_RLE_end_of_list);
    wire_fill(w, 0xff, 4);
}

static void expect_list(csni_address_ranges *ranges, bool keeps_empty) {
    if (keeps_empty) {
        assert_int_equal(ranges->count, 8);
        assert_true(ranges->items[4].low == 0x5103 && ranges->items[4].high == 0x5103);
        memmove(ranges->items + 4, ranges->items + 5, 3 * sizeof *ranges->items);
        ranges->count--;
    }
    expect(ranges, (const struct csni_address_range[]){ { 0x1010, 0x1090 }, { 0x5000, 0x5100 }, { 0x5100, 0x5180 },
                                                        { 0x5101, 0x5102 }, { 0x8004, 0x8008 }, { 0x9000, 0x9008 },
                                                        { 0xa000, 0xa200 } }, 7);
}

static void new_ranges(void **state) {
    (void)state;
    for (unsigned k = 0; k < 16; k++) {
        struct dwarf_sample s;
        csni_address_ranges ranges;
        dwarf_sample_init(&s, k & 1);
        s.address_size = k & 2 ? 4 : 8;
        s.offset_size = k & 4 ? 8 : 4;
        uint64_t highest = s.address_size == 4 ? UINT32_MAX : UINT64_MAX;
        /* No DW_AT_addr_base, no DW_AT_rnglists_base: the tables after the first headers. */
        wire_fill(&s.addr, 0xee, s.offset_size == 8 ? 16 : 8);
        dwarf_sample_address(&s, &s.addr, 0x5000);
        dwarf_sample_address(&s, &s.addr, 0x5100);
        dwarf_sample_address(&s, &s.addr, highest);
        wire_fill(&s.rnglists, 0xee, s.offset_size == 8 ? 20 : 12);
        dwarf_sample_offset(&s, &s.rnglists, 999);
        dwarf_sample_offset(&s, &s.rnglists, 2 * s.offset_size);
        put_list(&s, highest);
        size_t unit = begin(&s, DW_AT_ranges, DW_FORM_rnglistx, 0, 0);
        wire_u8(&s.info, 1);
        assert_int_equal(ranges_kept(&s, unit, k & 8, &ranges, NULL), CSN_OK);
        assert_int_equal(ranges.count, k & 8 ? 8 : 7);
        expect_list(&ranges, k & 8);
        dwarf_sample_deinit(&s);
    }
}

static void by_offset(void **state) {
    (void)state;
    struct dwarf_sample s;
    csni_address_ranges ranges;
    dwarf_sample_init(&s, true);
    wire_fill(&s.addr, 0xee, 8);
    dwarf_sample_address(&s, &s.addr, 0x5000);
    dwarf_sample_address(&s, &s.addr, 0x5100);
    dwarf_sample_address(&s, &s.addr, UINT64_MAX);
    wire_fill(&s.rnglists, 0xee, 33);
    put_list(&s, UINT64_MAX);
    size_t unit = begin(&s, DW_AT_ranges, DW_FORM_sec_offset, 0, 0);
    wire_u32(&s.info, 33);
    assert_int_equal(ranges_of(&s, unit, &ranges, NULL), CSN_OK);
    expect_list(&ranges, false);
    dwarf_sample_deinit(&s);
}

/* The lists that nearly all programs have: pairs of one base, that of the unit or one that stands first in the list. */
static void pairs_of_one_base(void **state) {
    (void)state;
    for (unsigned k = 0; k < 8; k++) {
        struct dwarf_sample s;
        csni_address_ranges ranges;
        const bool own_base = k & 2;
        const uint64_t base = own_base ? 0x8000 : 0x1000;
        dwarf_sample_init(&s, k & 1);
        s.address_size = k & 4 ? 4 : 8;
        wire_fill(&s.rnglists, 0xee, 12);
        if (own_base) {
            wire_u8(&s.rnglists, DW_RLE_base_address);
            dwarf_sample_address(&s, &s.rnglists, base);
        }
        static const uint8_t pairs[] = { DW_RLE_offset_pair, 0x10, 0x20, DW_RLE_offset_pair, 0x90, 0x01, 0xa0, 0x01,
                                         DW_RLE_end_of_list };
        wire_bytes(&s.rnglists, pairs, sizeof pairs);
        wire_fill(&s.rnglists, 0, 4);
        size_t unit = begin(&s, DW_AT_ranges, DW_FORM_sec_offset, 0, 0);
        wire_u32(&s.info, 12);
        assert_int_equal(ranges_of(&s, unit, &ranges, NULL), CSN_OK);
        expect(&ranges, (const struct csni_address_range[]){ { base + 0x10, base + 0x20 }, { base + 0x90, base + 0xa0 } }, 2);
        dwarf_sample_deinit(&s);
    }
}

static void expect_failure(uint16_t version, int form, uint64_t value, const uint8_t *list, size_t size, csn_status code,
                           const char *text) {
    struct dwarf_sample s;
    csni_address_ranges ranges;
    struct csn_error err = CSN_ERROR_INIT;
    dwarf_sample_init(&s, false);
    s.version = version;
    wire_bytes(version < 5 ? &s.ranges : &s.rnglists, list, size);
    size_t unit = begin(&s, DW_AT_ranges, form, 0, 0);
    wire_uint(&s.info, value, form == DW_FORM_rnglistx ? 1 : 4);
    assert_int_equal(ranges_of(&s, unit, &ranges, &err), code);
    assert_string_equal(err.text, text);
    expect(&ranges, NULL, 0);
    dwarf_sample_deinit(&s);
}

static void damaged_lists(void **state) {
    (void)state;
    static const uint8_t list[] = { DW_RLE_offset_pair, 1, 2, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 };
    static const uint8_t no_end[] = { DW_RLE_offset_pair, 1, 2, DW_RLE_start_length, 1, 1, 1, 1, 1, 1, 1, 1, 0x80 };
    expect_failure(5, DW_FORM_sec_offset, 0, list, 4, CSN_E_FORMAT,
                   ".debug_rnglists+0x3: range list entry of kind 9, need <= 7");
    expect_failure(5, DW_FORM_sec_offset, 0, list, 3, CSN_E_TRUNCATED,
                   ".debug_rnglists+0x0: range list has no end in the section's 3 bytes");
    expect_failure(5, DW_FORM_sec_offset, 0, no_end, sizeof no_end, CSN_E_TRUNCATED,
                   ".debug_rnglists+0x0: range list has no end in the section's 13 bytes");
    expect_failure(5, DW_FORM_sec_offset, 20, list, 20, CSN_E_FORMAT,
                   ".debug_rnglists+0x14: a range list is to be here, the section has 20 bytes");
    expect_failure(5, DW_FORM_rnglistx, 2, list, 20, CSN_E_FORMAT,
                   ".debug_rnglists+0xc: index 2 of the table here is to be read, the section has 20 bytes");
    expect_failure(4, DW_FORM_sec_offset, 0, list, 15, CSN_E_TRUNCATED,
                   ".debug_ranges+0x0: range list has no end in the section's 15 bytes");
    static const uint8_t indexed[] = { DW_RLE_startx_length, 4, 4 };
    expect_failure(5, DW_FORM_sec_offset, 0, indexed, 3, CSN_E_FORMAT,
                   ".debug_addr+0x8: index 4 of the table here is to be read, the section has 0 bytes");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(low_and_high), cmocka_unit_test(expressions),  cmocka_unit_test(end_in_no_table),
        cmocka_unit_test(no_addresses), cmocka_unit_test(old_ranges),
        cmocka_unit_test(up_to_the_last_address),
        cmocka_unit_test(new_ranges),   cmocka_unit_test(by_offset),    cmocka_unit_test(pairs_of_one_base),
        cmocka_unit_test(damaged_lists),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
