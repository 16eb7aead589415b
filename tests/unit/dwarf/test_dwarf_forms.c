/* Attributes of every form, and abbreviation tables of every shape. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "dwarf/dwarf_private.h"
#include "support/dwarf_sample.h"

/* One DIE with one attribute that is put where a number, a string or an address is expected. */
struct form_case {
    int form;
    const char *bytes; /* in little-endian order; A: an address, O: an offset, both of value 0x11 */
    size_t size;       /* without A and O */
    uint64_t value;
};

static const struct form_case numbers[] = {
    { DW_FORM_data1, "\x81", 1, 0x81 },
    { DW_FORM_data2, "\x81\x02", 2, 0x281 },
    { DW_FORM_data4, "\x81\x02\x03\x84", 4, 0x84030281 },
    { DW_FORM_data8, "\x81\x02\x03\x04\x05\x06\x07\x88", 8, 0x8807060504030281 },
    { DW_FORM_udata, "\x81\x82\x03", 3, 0xc101 },
    { DW_FORM_sdata, "\x7e", 1, (uint64_t)-2 },
    { DW_FORM_sdata, "\x80\x7f", 2, (uint64_t)-128 },
    { DW_FORM_flag, "\x01", 1, 1 },
    { DW_FORM_flag_present, "", 0, 1 },
    { DW_FORM_sec_offset, "O", 0, 0x11 },
    { DW_FORM_indirect, "\x0b\x44", 2, 0x44 },
    { DW_FORM_indirect, "\x0f\xc4\x01", 3, 0xc4 },
    { DW_FORM_loclistx, "\x85\x01", 2, 0x85 },
    { DW_FORM_rnglistx, "\x06", 1, 6 },
};

/* Forms that stand between others and are stepped over. */
static const struct form_case passed[] = {
    { DW_FORM_addr, "A", 0, 0 }, { DW_FORM_block1, "\x02xy", 3, 0 }, { DW_FORM_block2, "\x02\x00xy", 4, 0 },
    { DW_FORM_block4, "\x02\x00\x00\x00xy", 6, 0 }, { DW_FORM_block, "\x82\x00xy", 4, 0 },
    { DW_FORM_exprloc, "\x03xyz", 4, 0 }, { DW_FORM_string, "hello\0", 6, 0 }, { DW_FORM_strp, "O", 0, 0 },
    { DW_FORM_line_strp, "O", 0, 0 }, { DW_FORM_strp_sup, "O", 0, 0 }, { DW_FORM_GNU_strp_alt, "O", 0, 0 },
    { DW_FORM_GNU_ref_alt, "O", 0, 0 }, { DW_FORM_ref1, "1", 1, 0 }, { DW_FORM_ref2, "12", 2, 0 },
    { DW_FORM_ref4, "1234", 4, 0 }, { DW_FORM_ref8, "12345678", 8, 0 }, { DW_FORM_ref_udata, "\x81\x01", 2, 0 },
    { DW_FORM_ref_sig8, "12345678", 8, 0 }, { DW_FORM_ref_sup4, "1234", 4, 0 }, { DW_FORM_ref_sup8, "12345678", 8, 0 },
    { DW_FORM_data16, "0123456789abcdef", 16, 0 }, { DW_FORM_strx, "\x81\x01", 2, 0 }, { DW_FORM_strx1, "1", 1, 0 },
    { DW_FORM_strx2, "12", 2, 0 }, { DW_FORM_strx3, "123", 3, 0 }, { DW_FORM_strx4, "1234", 4, 0 },
    { DW_FORM_addrx, "\x81\x01", 2, 0 }, { DW_FORM_addrx1, "1", 1, 0 }, { DW_FORM_addrx2, "12", 2, 0 },
    { DW_FORM_addrx3, "123", 3, 0 }, { DW_FORM_addrx4, "1234", 4, 0 }, { DW_FORM_GNU_addr_index, "\x81\x01", 2, 0 },
    { DW_FORM_GNU_str_index, "\x01", 1, 0 }, { DW_FORM_LLVM_addrx_offset, "\x81\x01\x01\x02\x03\x04", 6, 0 },
    { DW_FORM_indirect, "\x08hi\0", 4, 0 }, { DW_FORM_indirect, "\x1e" "0123456789abcdef", 17, 0 },
};

static void write_case(struct dwarf_sample *s, const struct form_case *c) {
    bool number = c->form == DW_FORM_data2 || c->form == DW_FORM_data4 || c->form == DW_FORM_data8 ||
                  c->form == DW_FORM_block2 || c->form == DW_FORM_block4;
    size_t fixed = c->form == DW_FORM_block2 ? 2 : c->form == DW_FORM_block4 ? 4 : c->size;
    if (*c->bytes == 'A') dwarf_sample_address(s, &s->info, 0x11);
    else if (*c->bytes == 'O') dwarf_sample_offset(s, &s->info, 0x11);
    else if (!number) wire_bytes(&s->info, c->bytes, c->size);
    else {
        for (size_t i = 0; i < fixed; i++) wire_bytes(&s->info, c->bytes + (s->big ? fixed - 1 - i : i), 1);
        wire_bytes(&s->info, c->bytes + fixed, c->size - fixed);
    }
}

/* The unit DIE, then one DIE of `tag` with the form before a name, then one more to see where the walk stands. */
static void build(struct dwarf_sample *s, unsigned tag, int at, const struct form_case *c) {
    dwarf_sample_abbrev(s, 1, DW_TAG_compile_unit, true, DW_AT_language, DW_FORM_data1, 0);
    dwarf_sample_abbrev(s, 2, tag, false, at, c->form, DW_AT_name, DW_FORM_string, 0);
    dwarf_sample_abbrev(s, 3, DW_TAG_subprogram, false, DW_AT_name, DW_FORM_string, 0);
    dwarf_sample_abbrevs_end(s);
    size_t unit = dwarf_sample_unit(s);
    wire_u8(&s->info, 1);
    wire_u8(&s->info, DW_LANG_C_plus_plus);
    wire_u8(&s->info, 2);
    write_case(s, c);
    wire_cstr(&s->info, "first");
    wire_u8(&s->info, 3);
    wire_cstr(&s->info, "second");
    wire_u8(&s->info, 0);
    dwarf_sample_end(s, unit);
}

static struct csni_die walk_to(struct dwarf_sample *s, struct csni_die_walk *walk, unsigned steps) {
    struct csni_die die;
    if (!s->dwarf) {
        dwarf_sample_open(s);
        assert_int_equal(csni_die_walk_init(walk, s->dwarf, &s->dwarf->units[0], NULL), CSN_OK);
    }
    for (unsigned i = 0; i < steps; i++) assert_int_equal(csni_die_walk_next(walk, &die, NULL), CSN_OK);
    return die;
}

static void expect_name(struct dwarf_sample *s, const struct csni_die *die, const char *name) {
    struct csn_str text;
    assert_int_equal(csni_attr_string(s->dwarf, die, CSNI_AT_NAME, &text, NULL), CSN_OK);
    assert_true(csni_str_is(text, name));
}

static void numbers_of_every_form(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        for (unsigned k = 0; k < 4; k++) {
            struct dwarf_sample s;
            struct csni_die_walk walk;
            dwarf_sample_init(&s, k & 1);
            s.offset_size = k & 2 ? 8 : 4;
            build(&s, DW_TAG_subprogram, DW_AT_decl_line, &numbers[i]);
            struct csni_die die = walk_to(&s, &walk, 2);
            uint64_t v;
            assert_int_equal(csni_attr_unsigned(&die, CSNI_AT_DECL_LINE, &v), CSN_OK);
            assert_true(v == numbers[i].value);
            expect_name(&s, &die, "first");
            die = walk_to(&s, &walk, 1);
            expect_name(&s, &die, "second");
            dwarf_sample_deinit(&s);
        }
    }
}

static void forms_that_are_passed(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) {
        for (unsigned k = 0; k < 8; k++) {
            struct dwarf_sample s;
            struct csni_die_walk walk;
            dwarf_sample_init(&s, k & 1);
            s.offset_size = k & 2 ? 8 : 4;
            s.address_size = k & 4 ? 8 : 2;
            /* As an attribute of no interest, of a DIE of interest; and as one of a DIE of no interest. */
            bool seen = k & 1;
            build(&s, seen ? DW_TAG_subprogram : 0x34 /* variable */, 0x2f /* upper_bound */, &passed[i]);
            struct csni_die die = walk_to(&s, &walk, 2);
            if (seen) {
                expect_name(&s, &die, "first");
                die = walk_to(&s, &walk, 1);
            }
            expect_name(&s, &die, "second");
            dwarf_sample_deinit(&s);
        }
    }
}

static void reference_address_has_the_size_of_its_version(void **state) {
    (void)state;
    static const struct form_case as_address = { DW_FORM_ref_addr, "A", 0, 0 }, as_offset = { DW_FORM_ref_addr, "O", 0, 0 };
    for (uint16_t version = 2; version <= 3; version++) {
        struct dwarf_sample s;
        struct csni_die_walk walk;
        dwarf_sample_init(&s, false);
        s.version = version;
        build(&s, DW_TAG_subprogram, DW_AT_specification, version == 2 ? &as_address : &as_offset);
        struct csni_die die = walk_to(&s, &walk, 2);
        assert_int_equal(die.at[CSNI_AT_SPECIFICATION].value, 0x11);
        expect_name(&s, &die, "first");
        assert_true(csni_dwarf_has_cross_references(s.dwarf));
        assert_false(csni_dwarf_has_supplement_references(s.dwarf));
        dwarf_sample_deinit(&s);
    }
}

static void implicit_constants(void **state) {
    (void)state;
    struct dwarf_sample s;
    struct csni_die_walk walk;
    dwarf_sample_init(&s, false);
    dwarf_sample_abbrev(&s, 1, DW_TAG_compile_unit, true, 0);
    dwarf_sample_abbrev(&s, 2, DW_TAG_subprogram, false, DW_AT_decl_file, DW_FORM_implicit_const, 300, DW_AT_decl_line,
                        DW_FORM_implicit_const, -3, 0x39 /* decl_column */, DW_FORM_implicit_const, 7, DW_AT_name,
                        DW_FORM_string, 0);
    dwarf_sample_abbrevs_end(&s);
    size_t unit = dwarf_sample_unit(&s);
    static const uint8_t dies[] = { 1, 2, 'f', 0, 2, 'g', 0, 0 };
    wire_bytes(&s.info, dies, sizeof dies);
    dwarf_sample_end(&s, unit);
    struct csni_die die = walk_to(&s, &walk, 2);
    uint64_t v;
    assert_int_equal(csni_attr_unsigned(&die, CSNI_AT_DECL_FILE, &v), CSN_OK);
    assert_int_equal(v, 300);
    assert_int_equal(csni_attr_unsigned(&die, CSNI_AT_DECL_LINE, &v), CSN_OK);
    assert_true(v == (uint64_t)-3);
    die = walk_to(&s, &walk, 1);
    expect_name(&s, &die, "g");
    dwarf_sample_deinit(&s);
}

/* Strings and addresses through their tables. */
static void indexed_strings_and_addresses(void **state) {
    (void)state;
    static const struct { int str, addr; unsigned str_size, addr_size; } cases[] = {
        { DW_FORM_strx, DW_FORM_addrx, 0, 0 }, { DW_FORM_strx1, DW_FORM_addrx1, 1, 1 },
        { DW_FORM_strx2, DW_FORM_addrx2, 2, 2 }, { DW_FORM_strx3, DW_FORM_addrx3, 3, 3 },
        { DW_FORM_strx4, DW_FORM_addrx4, 4, 4 }, { DW_FORM_GNU_str_index, DW_FORM_GNU_addr_index, 0, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dwarf_sample s;
        struct csni_die_walk walk;
        dwarf_sample_init(&s, i & 1);
        s.offset_size = i & 2 ? 8 : 4;
        dwarf_sample_abbrev(&s, 1, DW_TAG_compile_unit, true, DW_AT_name, cases[i].str, DW_AT_str_offsets_base,
                            DW_FORM_sec_offset, DW_AT_addr_base, DW_FORM_sec_offset, 0);
        dwarf_sample_abbrev(&s, 2, DW_TAG_subprogram, false, DW_AT_name, cases[i].str, DW_AT_low_pc, cases[i].addr, 0);
        dwarf_sample_abbrevs_end(&s);
        wire_fill(&s.str_offsets, 0xee, 24);
        wire_fill(&s.addr, 0xee, 40);
        for (unsigned k = 0; k < 3; k++) {
            char name[] = { (char)('a' + k), 'x', 0 };
            dwarf_sample_offset(&s, &s.str_offsets, wire_cstr(&s.str, name));
            dwarf_sample_address(&s, &s.addr, 0x1000 + k);
        }
        size_t unit = dwarf_sample_unit(&s);
        wire_u8(&s.info, 1);
        wire_uint(&s.info, 1, cases[i].str_size ? cases[i].str_size : 1);
        dwarf_sample_offset(&s, &s.info, 24);
        dwarf_sample_offset(&s, &s.info, 40);
        for (unsigned k = 2; k < 4; k++) { /* the last one is beyond the tables */
            wire_u8(&s.info, 2);
            wire_uint(&s.info, k, cases[i].str_size ? cases[i].str_size : 1);
            wire_uint(&s.info, k, cases[i].addr_size ? cases[i].addr_size : 1);
        }
        wire_u8(&s.info, 0);
        dwarf_sample_end(&s, unit);
        struct csni_die die = walk_to(&s, &walk, 2);
        assert_true(csni_str_is(s.dwarf->units[0].name, "bx"));
        expect_name(&s, &die, "cx");
        uint64_t addr;
        assert_int_equal(csni_attr_address(s.dwarf, &die, CSNI_AT_LOW_PC, &addr, NULL), CSN_OK);
        assert_int_equal(addr, 0x1002);
        die = walk_to(&s, &walk, 1);
        struct csn_str text;
        struct csn_error err = CSN_ERROR_INIT;
        assert_int_equal(csni_attr_string(s.dwarf, &die, CSNI_AT_NAME, &text, &err), CSN_E_FORMAT);
        assert_string_equal(err.section, ".debug_str_offsets");
        assert_int_equal(csni_attr_address(s.dwarf, &die, CSNI_AT_LOW_PC, &addr, &err), CSN_E_FORMAT);
        assert_string_equal(err.text, ".debug_addr+0x28: index 3 of the table here is to be read, the section has 64 bytes");
        dwarf_sample_deinit(&s);
    }
}

/* An address of the table and a distance from it, as clang has with -minimize-addr-in-v5=Form. */
static void address_and_offset(void **state) {
    (void)state;
    struct dwarf_sample s;
    struct csni_die_walk walk;
    uint64_t addr;
    dwarf_sample_init(&s, false);
    dwarf_sample_abbrev(&s, 1, DW_TAG_compile_unit, true, DW_AT_addr_base, DW_FORM_sec_offset, 0);
    dwarf_sample_abbrev(&s, 2, DW_TAG_subprogram, false, DW_AT_low_pc, DW_FORM_LLVM_addrx_offset, 0);
    dwarf_sample_abbrevs_end(&s);
    for (unsigned i = 0; i < 2; i++) dwarf_sample_address(&s, &s.addr, 0x1000 + 0x4000 * i);
    size_t unit = dwarf_sample_unit(&s);
    static const uint8_t dies[] = { 1, 0, 0, 0, 0, 2, 1, 0x34, 0x12, 0, 0, 0 };
    wire_bytes(&s.info, dies, sizeof dies);
    dwarf_sample_end(&s, unit);
    struct csni_die die = walk_to(&s, &walk, 2);
    assert_int_equal(csni_attr_address(s.dwarf, &die, CSNI_AT_LOW_PC, &addr, NULL), CSN_OK);
    assert_int_equal(addr, 0x5000 + 0x1234);
    dwarf_sample_deinit(&s);
}

/* A function as clang writes it: after the block of its frame, attributes that are wanted, then some that are not. */
static void attributes_after_a_block(void **state) {
    (void)state;
    for (unsigned big = 0; big < 2; big++) {
        struct dwarf_sample s;
        struct csni_die_walk walk;
        dwarf_sample_init(&s, big);
        dwarf_sample_abbrev(&s, 1, DW_TAG_compile_unit, true, 0);
        dwarf_sample_abbrev(&s, 2, DW_TAG_subprogram, false, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc, DW_FORM_data4,
                            0x40 /* frame_base */, DW_FORM_exprloc, DW_AT_decl_line, DW_FORM_data2, 0x49 /* type */, DW_FORM_ref4,
                            0x3f /* external */, DW_FORM_flag, 0);
        dwarf_sample_abbrevs_end(&s);
        size_t unit = dwarf_sample_unit(&s);
        wire_u8(&s.info, 1);
        for (unsigned i = 1; i <= 6; i++) {
            wire_u8(&s.info, 2);
            dwarf_sample_address(&s, &s.info, 0x1000 * i);
            wire_u32(&s.info, 0x10 * i);
            wire_u8(&s.info, i); /* bytes of the block */
            wire_fill(&s.info, 2, i);
            wire_u16(&s.info, 300 + i);
            wire_fill(&s.info, 1, 5);
        }
        wire_u8(&s.info, 0);
        dwarf_sample_end(&s, unit);
        walk_to(&s, &walk, 1);
        for (unsigned i = 1; i <= 6; i++) {
            uint64_t addr, line;
            struct csni_die die = walk_to(&s, &walk, 1);
            assert_int_equal(csni_attr_address(s.dwarf, &die, CSNI_AT_LOW_PC, &addr, NULL), CSN_OK);
            assert_int_equal(addr, 0x1000 * i);
            assert_int_equal(csni_attr_unsigned(&die, CSNI_AT_DECL_LINE, &line), CSN_OK);
            assert_int_equal(line, 300 + i);
        }
        struct csni_die die;
        assert_int_equal(csni_die_walk_next(&walk, &die, NULL), CSN_NONE);
        dwarf_sample_deinit(&s);
    }
}

/* A sibling lies within its own unit, behind the DIE that names it. */
static void siblings_within_the_unit(void **state) {
    (void)state;
    static const struct { uint32_t value; bool is_one; } cases[] = { { 17, false }, { 18, true }, { 20, true }, { 21, false },
                                                                     { 39, false } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct dwarf_sample s;
        struct csni_die_walk walk;
        struct csni_die die;
        uint64_t sibling;
        dwarf_sample_init(&s, false);
        dwarf_sample_abbrev(&s, 1, DW_TAG_compile_unit, true, 0);
        dwarf_sample_abbrev(&s, 2, DW_TAG_namespace, true, DW_AT_sibling, DW_FORM_ref4, 0);
        dwarf_sample_abbrevs_end(&s);
        for (unsigned k = 0; k < 2; k++) { /* each of 20 bytes */
            size_t unit = dwarf_sample_unit(&s);
            wire_u8(&s.info, 1);
            wire_u8(&s.info, 2);
            wire_u32(&s.info, cases[i].value);
            wire_fill(&s.info, 0, 2);
            dwarf_sample_end(&s, unit);
        }
        assert_int_equal(s.info.size, 40);
        dwarf_sample_open(&s);
        const struct csni_unit *second = &s.dwarf->units[1];
        assert_int_equal(csni_die_walk_init(&walk, s.dwarf, second, NULL), CSN_OK);
        die = walk_to(&s, &walk, 2);
        assert_int_equal(csni_die_sibling(&die, &sibling), cases[i].is_one);
        if (cases[i].is_one) assert_int_equal(sibling, second->off + cases[i].value);
        dwarf_sample_deinit(&s);
    }
}

static void strings_elsewhere(void **state) {
    (void)state;
    static const struct form_case line_strp = { DW_FORM_line_strp, "O", 0, 0 }, sup = { DW_FORM_strp_sup, "O", 0, 0 };
    struct dwarf_sample s;
    struct csni_die_walk walk;
    struct csn_str text;
    dwarf_sample_init(&s, true);
    wire_fill(&s.line_str, 'x', 0x11);
    wire_cstr(&s.line_str, "there");
    build(&s, DW_TAG_subprogram, DW_AT_linkage_name, &line_strp);
    struct csni_die die = walk_to(&s, &walk, 2);
    assert_int_equal(csni_attr_string(s.dwarf, &die, CSNI_AT_LINKAGE_NAME, &text, NULL), CSN_OK);
    assert_true(csni_str_is(text, "there"));
    dwarf_sample_deinit(&s);
    dwarf_sample_init(&s, true);
    build(&s, DW_TAG_subprogram, DW_AT_linkage_name, &sup);
    die = walk_to(&s, &walk, 2);
    assert_int_equal(csni_attr_string(s.dwarf, &die, CSNI_AT_LINKAGE_NAME, &text, NULL), CSN_NONE);
    assert_true(csni_dwarf_has_supplement_references(s.dwarf));
    dwarf_sample_deinit(&s);
}

static void bad_strings(void **state) {
    (void)state;
    static const struct form_case strp = { DW_FORM_strp, "O", 0, 0 };
    struct dwarf_sample s;
    struct csni_die_walk walk;
    struct csn_str text;
    struct csn_error err = CSN_ERROR_INIT;
    dwarf_sample_init(&s, false);
    wire_fill(&s.str, 'x', 0x11);
    build(&s, DW_TAG_subprogram, DW_AT_linkage_name, &strp);
    struct csni_die die = walk_to(&s, &walk, 2);
    assert_int_equal(csni_attr_string(s.dwarf, &die, CSNI_AT_LINKAGE_NAME, &text, &err), CSN_E_FORMAT);
    assert_string_equal(err.text, ".debug_str+0x11: a string is to be here, the section has 17 bytes");
    dwarf_sample_deinit(&s);
    dwarf_sample_init(&s, false);
    wire_fill(&s.str, 'x', 0x14);
    build(&s, DW_TAG_subprogram, DW_AT_linkage_name, &strp);
    die = walk_to(&s, &walk, 2);
    assert_int_equal(csni_attr_string(s.dwarf, &die, CSNI_AT_LINKAGE_NAME, &text, &err), CSN_E_TRUNCATED);
    assert_string_equal(err.text, ".debug_str+0x11: string has no NUL in the 3 bytes to the section's end");
    dwarf_sample_deinit(&s);
}

static void unknown_form_fails_where_it_is_used(void **state) {
    (void)state;
    struct dwarf_sample s;
    struct csni_die_walk walk;
    struct csn_error err = CSN_ERROR_INIT;
    dwarf_sample_init(&s, false);
    dwarf_sample_abbrev(&s, 1, DW_TAG_compile_unit, true, 0);
    dwarf_sample_abbrev(&s, 2, 0x34, false, DW_AT_name, 0x7777, 0);
    dwarf_sample_abbrev(&s, 3, DW_TAG_subprogram, false, 0);
    dwarf_sample_abbrevs_end(&s);
    size_t unit = dwarf_sample_unit(&s);
    static const uint8_t dies[] = { 1, 3, 2, 3, 0 };
    wire_bytes(&s.info, dies, sizeof dies);
    dwarf_sample_end(&s, unit);
    walk_to(&s, &walk, 2);
    struct csni_die die;
    assert_int_equal(csni_die_walk_next(&walk, &die, &err), CSN_E_UNSUPPORTED);
    assert_string_equal(err.text, ".debug_info+0xe: abbreviation 2 of the table at .debug_abbrev+0x0 uses form 0x7777, "
                                  "which is not known");
    assert_int_equal(csni_die_walk_next(&walk, &die, &err), CSN_NONE);
    dwarf_sample_deinit(&s);
}

static void indirect_form_may_not_be_indirect(void **state) {
    (void)state;
    static const struct form_case twice = { DW_FORM_indirect, "\x16\x0b\x01", 3, 0 };
    struct dwarf_sample s;
    struct csni_die_walk walk;
    dwarf_sample_init(&s, false);
    build(&s, DW_TAG_subprogram, DW_AT_decl_line, &twice);
    walk_to(&s, &walk, 1);
    struct csni_die die;
    assert_int_equal(csni_die_walk_next(&walk, &die, NULL), CSN_E_TRUNCATED);
    dwarf_sample_deinit(&s);
}

/* Codes out of order, with gaps, of several bytes, and twice. */
static void sparse_codes(void **state) {
    (void)state;
    struct dwarf_sample s;
    struct csni_die_walk walk;
    dwarf_sample_init(&s, false);
    dwarf_sample_abbrev(&s, 0x4000, DW_TAG_subprogram, false, DW_AT_name, DW_FORM_string, 0);
    dwarf_sample_abbrev(&s, 7, DW_TAG_compile_unit, true, 0);
    dwarf_sample_abbrev(&s, UINT64_C(0xffffffffffff), DW_TAG_subprogram, false, DW_AT_decl_line, DW_FORM_data1, 0);
    dwarf_sample_abbrev(&s, 3, 0x34, false, DW_AT_name, DW_FORM_string, 0);
    dwarf_sample_abbrev(&s, 7, DW_TAG_partial_unit, false, 0);
    dwarf_sample_abbrevs_end(&s);
    size_t unit = dwarf_sample_unit(&s);
    wire_uleb(&s.info, 7);
    wire_uleb(&s.info, 3);
    wire_cstr(&s.info, "v");
    wire_uleb(&s.info, 0x4000);
    wire_cstr(&s.info, "f");
    wire_uleb(&s.info, UINT64_C(0xffffffffffff));
    wire_u8(&s.info, 9);
    size_t bad = wire_uleb(&s.info, 8);
    dwarf_sample_end(&s, unit);
    struct csni_die die = walk_to(&s, &walk, 1);
    assert_int_equal(die.tag, DW_TAG_compile_unit);
    die = walk_to(&s, &walk, 1);
    expect_name(&s, &die, "f");
    die = walk_to(&s, &walk, 1);
    assert_int_equal(die.at[CSNI_AT_DECL_LINE].value, 9);
    struct csn_error err = CSN_ERROR_INIT;
    assert_int_equal(csni_die_walk_next(&walk, &die, &err), CSN_E_FORMAT);
    assert_int_equal(err.offset, bad);
    assert_string_equal(err.text, ".debug_info+0x1d: abbreviation 8 is not in the table at .debug_abbrev+0x0");
    dwarf_sample_deinit(&s);
}

/* More than 127 codes, in order: those of two bytes take another way. */
static void many_codes(void **state) {
    (void)state;
    struct dwarf_sample s;
    struct csni_die_walk walk;
    dwarf_sample_init(&s, false);
    dwarf_sample_abbrev(&s, 1, DW_TAG_compile_unit, true, 0);
    for (unsigned code = 2; code <= 300; code++)
        dwarf_sample_abbrev(&s, code, code % 50 ? 0x34 : DW_TAG_subprogram, false, DW_AT_decl_line, DW_FORM_data2, 0);
    dwarf_sample_abbrevs_end(&s);
    size_t unit = dwarf_sample_unit(&s);
    wire_uleb(&s.info, 1);
    for (unsigned code = 300; code >= 2; code--) {
        wire_uleb(&s.info, code);
        wire_u16(&s.info, code);
    }
    dwarf_sample_end(&s, unit);
    walk_to(&s, &walk, 1);
    for (unsigned code = 300; code; code -= 50) assert_int_equal(walk_to(&s, &walk, 1).at[CSNI_AT_DECL_LINE].value, code);
    struct csni_die die;
    assert_int_equal(csni_die_walk_next(&walk, &die, NULL), CSN_NONE);
    dwarf_sample_deinit(&s);
}

/* The first of two equal attributes counts, but MIPS_linkage_name before linkage_name. */
static void attributes_given_twice(void **state) {
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct dwarf_sample s;
        struct csni_die_walk walk;
        struct csn_str text;
        dwarf_sample_init(&s, false);
        int first = i ? DW_AT_linkage_name : DW_AT_MIPS_linkage_name;
        int second = i ? DW_AT_MIPS_linkage_name : DW_AT_linkage_name;
        dwarf_sample_abbrev(&s, 1, DW_TAG_compile_unit, true, 0);
        dwarf_sample_abbrev(&s, 2, DW_TAG_subprogram, false, DW_AT_name, DW_FORM_string, DW_AT_name, DW_FORM_string, first,
                            DW_FORM_string, second, DW_FORM_string, 0);
        dwarf_sample_abbrevs_end(&s);
        size_t unit = dwarf_sample_unit(&s);
        static const uint8_t dies[] = "\1\2one\0two\0three\0four";
        wire_bytes(&s.info, dies, sizeof dies);
        wire_u8(&s.info, 0);
        dwarf_sample_end(&s, unit);
        struct csni_die die = walk_to(&s, &walk, 2);
        expect_name(&s, &die, "one");
        assert_int_equal(csni_attr_string(s.dwarf, &die, CSNI_AT_LINKAGE_NAME, &text, NULL), CSN_OK);
        assert_true(csni_str_is(text, i ? "four" : "three"));
        dwarf_sample_deinit(&s);
    }
}

/* Of two MIPS_linkage_name the first counts, too: that it stands before linkage_name is done with once. */
static void mips_linkage_name_given_twice(void **state) {
    (void)state;
    for (unsigned at = 0; at < 3; at++) { /* where linkage_name stands */
        struct dwarf_sample s;
        struct csni_die_walk walk;
        struct csn_str text;
        dwarf_sample_init(&s, false);
        dwarf_sample_abbrev(&s, 1, DW_TAG_compile_unit, true, 0);
        dwarf_sample_abbrev(&s, 2, DW_TAG_subprogram, false, at == 0 ? DW_AT_linkage_name : DW_AT_MIPS_linkage_name, DW_FORM_string,
                            at == 1 ? DW_AT_linkage_name : DW_AT_MIPS_linkage_name, DW_FORM_string,
                            at == 2 ? DW_AT_linkage_name : DW_AT_MIPS_linkage_name, DW_FORM_string, 0);
        dwarf_sample_abbrevs_end(&s);
        size_t unit = dwarf_sample_unit(&s);
        static const uint8_t dies[] = "\1\2one\0two\0three";
        wire_bytes(&s.info, dies, sizeof dies);
        wire_u8(&s.info, 0);
        dwarf_sample_end(&s, unit);
        struct csni_die die = walk_to(&s, &walk, 2);
        assert_int_equal(csni_attr_string(s.dwarf, &die, CSNI_AT_LINKAGE_NAME, &text, NULL), CSN_OK);
        assert_true(csni_str_is(text, at == 0 ? "two" : "one"));
        dwarf_sample_deinit(&s);
    }
}

/* 70,000 bytes of attributes of fixed size do not fit the usual plan. */
static void very_long_dies(void **state) {
    (void)state;
    struct dwarf_sample s;
    struct csni_die_walk walk;
    dwarf_sample_init(&s, false);
    wire_u8(&s.abbrev, 1);
    wire_u8(&s.abbrev, DW_TAG_compile_unit);
    wire_u8(&s.abbrev, 1);
    wire_u16(&s.abbrev, 0);
    wire_u8(&s.abbrev, 2);
    wire_u8(&s.abbrev, DW_TAG_subprogram);
    wire_u8(&s.abbrev, 0);
    for (unsigned i = 0; i < 4400; i++) {
        wire_u8(&s.abbrev, 0x2f);
        wire_u8(&s.abbrev, DW_FORM_data16);
    }
    wire_u8(&s.abbrev, DW_AT_name);
    wire_u8(&s.abbrev, DW_FORM_string);
    wire_u16(&s.abbrev, 0);
    wire_u8(&s.abbrev, 0);
    size_t unit = dwarf_sample_unit(&s);
    wire_u8(&s.info, 1);
    wire_u8(&s.info, 2);
    wire_fill(&s.info, 2, 4400 * 16);
    wire_cstr(&s.info, "end");
    wire_u8(&s.info, 0);
    dwarf_sample_end(&s, unit);
    struct csni_die die = walk_to(&s, &walk, 2);
    expect_name(&s, &die, "end");
    dwarf_sample_deinit(&s);
}

static void damaged_table_fails_its_units(void **state) {
    (void)state;
    struct dwarf_sample s;
    struct csn_error err = CSN_ERROR_INIT, again = CSN_ERROR_INIT;
    dwarf_sample_init(&s, false);
    wire_u8(&s.abbrev, 1);
    wire_u8(&s.abbrev, DW_TAG_compile_unit);
    wire_u8(&s.abbrev, 0);
    wire_u8(&s.abbrev, DW_AT_name);
    wire_u8(&s.abbrev, 0);
    size_t unit = dwarf_sample_unit(&s);
    wire_u8(&s.info, 1);
    dwarf_sample_end(&s, unit);
    struct csni_dwarf_sections sections = dwarf_sample_sections(&s);
    assert_int_equal(csni_dwarf_open(&sections, NULL, &s.dwarf, NULL), CSN_OK);
    assert_int_equal(csni_dwarf_compile_abbrevs(s.dwarf, 0, &err), CSN_E_FORMAT);
    assert_string_equal(err.text, ".debug_abbrev+0x3: abbreviation 1 has attribute 0x3 with form 0x0");
    assert_int_equal(csni_unit_prepare(s.dwarf, &s.dwarf->units[0], &again), CSN_E_FORMAT);
    assert_string_equal(again.text, err.text);
    dwarf_sample_deinit(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_of_every_form),
        cmocka_unit_test(forms_that_are_passed),
        cmocka_unit_test(reference_address_has_the_size_of_its_version),
        cmocka_unit_test(implicit_constants),
        cmocka_unit_test(indexed_strings_and_addresses),
        cmocka_unit_test(address_and_offset),
        cmocka_unit_test(attributes_after_a_block),
        cmocka_unit_test(siblings_within_the_unit),
        cmocka_unit_test(strings_elsewhere),
        cmocka_unit_test(bad_strings),
        cmocka_unit_test(unknown_form_fails_where_it_is_used),
        cmocka_unit_test(indirect_form_may_not_be_indirect),
        cmocka_unit_test(sparse_codes),
        cmocka_unit_test(many_codes),
        cmocka_unit_test(attributes_given_twice),
        cmocka_unit_test(mips_linkage_name_given_twice),
        cmocka_unit_test(very_long_dies),
        cmocka_unit_test(damaged_table_fails_its_units),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
