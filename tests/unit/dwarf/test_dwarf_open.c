/* Lists of units: headers of every version, and where a damaged one ends the list. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/dwarf_sample.h"

static struct csni_dwarf *open_only(struct dwarf_sample *s) {
    struct csni_dwarf_sections sections = dwarf_sample_sections(s);
    csni_dwarf_close(s->dwarf);
    assert_int_equal(csni_dwarf_open(&sections, NULL, &s->dwarf, NULL), CSN_OK);
    return s->dwarf;
}

/* A unit that is nothing but a header and one byte. */
static void tiny_unit(struct dwarf_sample *s) {
    size_t begun = dwarf_sample_unit(s);
    wire_u8(&s->info, 0);
    dwarf_sample_end(s, begun);
}

static void headers_of_all_versions(void **state) {
    (void)state;
    for (unsigned i = 0; i < 4 * 2 * 2; i++) {
        struct dwarf_sample s;
        dwarf_sample_init(&s, i & 1);
        s.offset_size = i & 2 ? 8 : 4;
        s.version = (uint16_t)(2 + i / 4);
        s.address_size = 4;
        s.abbrev_off = 0x123;
        tiny_unit(&s);
        size_t second = s.info.size;
        tiny_unit(&s);
        struct csni_dwarf *d = open_only(&s);
        assert_int_equal(d->damage.code, CSN_OK);
        assert_int_equal(d->unit_count, 2);
        assert_int_equal(d->info_unit_count, 2);
        assert_int_equal(d->abbrev_table_count, 1);
        const struct csni_unit *u = &d->units[1];
        assert_int_equal(u->off, second);
        assert_int_equal(u->end, s.info.size);
        assert_int_equal(u->first_die, s.info.size - 1);
        assert_int_equal(u->version, s.version);
        assert_int_equal(u->address_size, 4);
        assert_int_equal(u->offset_size, s.offset_size);
        assert_int_equal(u->abbrev_off, 0x123);
        assert_int_equal(u->unit_type, DW_UT_compile);
        assert_ptr_equal(csni_dwarf_unit_at(d, second - 1), &d->units[0]);
        assert_ptr_equal(csni_dwarf_unit_at(d, second), u);
        assert_null(csni_dwarf_unit_at(d, s.info.size));
        dwarf_sample_deinit(&s);
    }
}

static void unit_types_of_version_5(void **state) {
    (void)state;
    for (unsigned type = DW_UT_compile; type <= DW_UT_split_type; type++) {
        struct dwarf_sample s;
        dwarf_sample_init(&s, false);
        struct wire *w = &s.info;
        size_t begun = wire_begin_length(w, 4);
        wire_u16(w, 5);
        wire_u8(w, type);
        wire_u8(w, 8);
        wire_u32(w, 0);
        bool is_type = type == DW_UT_type || type == DW_UT_split_type;
        bool has_id = type == DW_UT_skeleton || type == DW_UT_split_compile;
        if (is_type || has_id) wire_u64(w, 0x1122334455667788);
        if (is_type) wire_u32(w, 0x55);
        size_t first = wire_u8(w, 0);
        wire_end_length(w, begun);
        const struct csni_unit *u = open_only(&s)->units;
        assert_int_equal(u->unit_type, type);
        assert_int_equal(u->first_die, first);
        assert_true(u->type_signature == (is_type ? 0x1122334455667788u : 0));
        assert_int_equal(u->type_off, is_type ? 0x55 : 0);
        assert_true(u->dwo_id == (has_id ? 0x1122334455667788u : 0));
        assert_int_equal(u->is_skeleton, type == DW_UT_skeleton);
        dwarf_sample_deinit(&s);
    }
}

static void type_units_of_version_4(void **state) {
    (void)state;
    struct dwarf_sample s;
    dwarf_sample_init(&s, true);
    s.version = 4;
    tiny_unit(&s);
    struct wire *w = &s.types;
    size_t begun = wire_begin_length(w, 4);
    wire_u16(w, 4);
    wire_u32(w, 0);
    wire_u8(w, 8);
    wire_u64(w, 0xabcdef);
    wire_u32(w, 0x17);
    wire_u8(w, 0);
    wire_end_length(w, begun);
    struct csni_dwarf *d = open_only(&s);
    assert_int_equal(d->unit_count, 2);
    assert_int_equal(d->info_unit_count, 1);
    assert_true(d->units[1].in_types);
    assert_int_equal(d->units[1].unit_type, DW_UT_type);
    assert_int_equal(d->units[1].type_signature, 0xabcdef);
    assert_int_equal(d->units[1].type_off, 0x17);
    dwarf_sample_deinit(&s);
}

/* Tables are told apart by what the forms' sizes depend on. */
static void abbreviation_tables_are_shared(void **state) {
    (void)state;
    struct dwarf_sample s;
    dwarf_sample_init(&s, false);
    static const struct { uint16_t version; unsigned address, offset; uint64_t abbrev; } units[] = {
        { 3, 8, 4, 0 }, { 4, 8, 4, 0 }, { 5, 8, 4, 0 }, { 2, 8, 4, 0 }, { 4, 4, 4, 0 }, { 4, 8, 8, 0 }, { 4, 8, 4, 9 },
        { 5, 8, 4, 9 }, { 3, 8, 4, 0 },
    };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        s.version = units[i].version;
        s.address_size = units[i].address;
        s.offset_size = units[i].offset;
        s.abbrev_off = units[i].abbrev;
        tiny_unit(&s);
    }
    struct csni_dwarf *d = open_only(&s);
    assert_int_equal(d->abbrev_table_count, 5);
    assert_ptr_equal(d->units[0].abbrevs, d->units[1].abbrevs);
    assert_ptr_equal(d->units[0].abbrevs, d->units[2].abbrevs);
    assert_ptr_equal(d->units[0].abbrevs, d->units[8].abbrevs);
    assert_ptr_not_equal(d->units[0].abbrevs, d->units[3].abbrevs);
    assert_ptr_equal(d->units[6].abbrevs, d->units[7].abbrevs);
    dwarf_sample_deinit(&s);
}

static void expect_damage(struct dwarf_sample *s, csn_status code, uint64_t off, const char *text) {
    struct csni_dwarf *d = open_only(s);
    assert_int_equal(d->unit_count, 1);
    assert_int_equal(d->damage.code, code);
    assert_int_equal(d->damage.offset, off);
    assert_string_equal(d->damage.text, text);
}

static void damaged_headers(void **state) {
    (void)state;
    struct dwarf_sample s;
    dwarf_sample_init(&s, false);
    tiny_unit(&s);
    size_t off = wire_u32(&s.info, 0xfffffff3);
    assert_int_equal(off, 13);
    expect_damage(&s, CSN_E_FORMAT, 13, ".debug_info+0xd: unit length 0xfffffff3 is reserved, need < 0xfffffff0");
    wire_patch(&s.info, off, 100, 4);
    expect_damage(&s, CSN_E_TRUNCATED, 13, ".debug_info+0xd: unit has 0x64 bytes, 0x0 are left");
    wire_patch(&s.info, off, 3, 4);
    wire_u16(&s.info, 5);
    wire_u8(&s.info, 1);
    expect_damage(&s, CSN_E_TRUNCATED, 13, ".debug_info+0xd: unit of 0x3 bytes ends within its header");
    wire_patch(&s.info, off, 0xffffffff, 4);
    expect_damage(&s, CSN_E_TRUNCATED, 13, ".debug_info+0xd: unit length needs more than the 7 bytes left");
    dwarf_sample_deinit(&s);
}

static void zeros_at_the_end_are_padding(void **state) {
    (void)state;
    struct dwarf_sample s;
    dwarf_sample_init(&s, false);
    tiny_unit(&s);
    wire_fill(&s.info, 0, 7);
    struct csni_dwarf *d = open_only(&s);
    assert_int_equal(d->unit_count, 1);
    assert_int_equal(d->damage.code, CSN_OK);
    dwarf_sample_deinit(&s);
}

/* A unit that cannot be read is kept, and does not hide the next one. */
static void unsupported_units(void **state) {
    (void)state;
    struct dwarf_sample s;
    dwarf_sample_init(&s, false);
    s.version = 6;
    tiny_unit(&s);
    s.version = 1;
    tiny_unit(&s);
    s.version = 4;
    s.address_size = 3;
    tiny_unit(&s);
    s.address_size = 2;
    tiny_unit(&s);
    struct csni_dwarf *d = open_only(&s);
    assert_int_equal(d->unit_count, 4);
    struct csn_error err = CSN_ERROR_INIT;
    assert_int_equal(csni_unit_prepare(d, &d->units[0], &err), CSN_E_UNSUPPORTED);
    assert_string_equal(err.text, ".debug_info+0x0: unit has DWARF version 6, need 2 to 5");
    assert_int_equal(csni_unit_prepare(d, &d->units[1], &err), CSN_E_UNSUPPORTED);
    assert_int_equal(csni_unit_prepare(d, &d->units[2], &err), CSN_E_UNSUPPORTED);
    assert_string_equal(err.text, ".debug_info+0x19: unit has addresses of 3 bytes, need 2, 4 or 8");
    assert_int_equal(csni_unit_prepare(d, &d->units[3], &err), CSN_E_ARGUMENT);
    struct csni_die_walk walk;
    assert_int_equal(csni_die_walk_init(&walk, d, &d->units[0], &err), CSN_E_ARGUMENT);
    dwarf_sample_deinit(&s);
}

static void unit_die(void **state) {
    (void)state;
    for (uint16_t version = 2; version <= 5; version++) {
        struct dwarf_sample s;
        dwarf_sample_init(&s, version & 1);
        s.version = version;
        if (version == 4) s.offset_size = 8;
        dwarf_sample_fill(&s);
        const struct csni_unit *u = dwarf_sample_open(&s)->units;
        assert_true(u->prepared && u->has_stmt_list && u->has_low_pc);
        assert_int_equal(u->tag, DW_TAG_compile_unit);
        assert_int_equal(u->language, DW_LANG_C_plus_plus_14);
        assert_int_equal(u->low_pc, 0x1000);
        assert_int_equal(u->stmt_list, 0);
        assert_true(csni_str_is(u->name, "a.cc"));
        assert_true(csni_str_is(u->comp_dir, "/src"));
        assert_true(csni_str_is(u->producer, "GNU C++17 12.2.0"));
        dwarf_sample_deinit(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(headers_of_all_versions),
        cmocka_unit_test(unit_types_of_version_5),
        cmocka_unit_test(type_units_of_version_4),
        cmocka_unit_test(abbreviation_tables_are_shared),
        cmocka_unit_test(damaged_headers),
        cmocka_unit_test(zeros_at_the_end_are_padding),
        cmocka_unit_test(unsupported_units),
        cmocka_unit_test(unit_die),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
