/* Walking over DIEs: nesting, jumping, damage; references from one DIE to another. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/dwarf_sample.h"

/* Abbreviations: the byte in .debug_info is the code. */
enum { UNIT = 1, SUB, SUB_CHILDREN, VARIABLE, BLOCK, TYPE, TYPE_SIBLING, ENUM_SIBLING, ENUMERATOR, CALL_SITE, PARAMETER,
       DECLARATION, SUB_SIBLING };

static void abbrevs(struct dwarf_sample *s) {
    dwarf_sample_abbrev(s, UNIT, DW_TAG_compile_unit, true, DW_AT_language, DW_FORM_data1, DW_AT_producer, DW_FORM_string,
                        0);
    dwarf_sample_abbrev(s, SUB, DW_TAG_subprogram, false, DW_AT_decl_line, DW_FORM_data1, 0);
    dwarf_sample_abbrev(s, SUB_CHILDREN, DW_TAG_subprogram, true, DW_AT_decl_line, DW_FORM_data1, 0);
    dwarf_sample_abbrev(s, VARIABLE, DW_TAG_variable, false, 0x02 /* location */, DW_FORM_exprloc, 0);
    dwarf_sample_abbrev(s, BLOCK, DW_TAG_lexical_block, true, 0);
    dwarf_sample_abbrev(s, TYPE, DW_TAG_structure_type, true, 0);
    dwarf_sample_abbrev(s, TYPE_SIBLING, DW_TAG_structure_type, true, DW_AT_name, DW_FORM_string, DW_AT_sibling,
                        DW_FORM_ref4, 0);
    dwarf_sample_abbrev(s, ENUM_SIBLING, DW_TAG_enumeration_type, true, DW_AT_sibling, DW_FORM_ref1, 0);
    dwarf_sample_abbrev(s, ENUMERATOR, 0x28 /* enumerator */, false, 0);
    dwarf_sample_abbrev(s, CALL_SITE, DW_TAG_call_site, true, DW_AT_sibling, DW_FORM_ref2, 0);
    dwarf_sample_abbrev(s, PARAMETER, DW_TAG_call_site_parameter, false, 0);
    dwarf_sample_abbrev(s, DECLARATION, DW_TAG_subprogram, true, DW_AT_declaration, DW_FORM_flag_present, 0);
    dwarf_sample_abbrev(s, SUB_SIBLING, DW_TAG_subprogram, true, DW_AT_decl_line, DW_FORM_data1, DW_AT_sibling,
                        DW_FORM_ref_udata, 0);
    dwarf_sample_abbrevs_end(s);
}

struct walked {
    struct dwarf_sample s;
    struct csni_die_walk walk;
    size_t unit;
};

static void begin(struct walked *w, unsigned language, const char *producer) {
    dwarf_sample_init(&w->s, false);
    abbrevs(&w->s);
    w->unit = dwarf_sample_unit(&w->s);
    wire_u8(&w->s.info, UNIT);
    wire_u8(&w->s.info, language);
    wire_cstr(&w->s.info, producer);
}

static void put(struct walked *w, const void *bytes, size_t size) { wire_bytes(&w->s.info, bytes, size); }
#define PUT(w, ...) put((w), (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }))

static void ready(struct walked *w) {
    dwarf_sample_end(&w->s, w->unit);
    dwarf_sample_open(&w->s);
    assert_int_equal(csni_die_walk_init(&w->walk, w->s.dwarf, &w->s.dwarf->units[0], NULL), CSN_OK);
}

/* What the walk gives next: "tag@depth" in hexadecimal and decimal, with the line of a subprogram. */
static void expect(struct walked *w, unsigned tag, uint32_t depth, uint64_t line) {
    struct csni_die die;
    struct csn_error err = CSN_ERROR_INIT;
    csn_status status = csni_die_walk_next(&w->walk, &die, &err);
    if (status != CSN_OK) fail_msg("status %d: %s", status, err.text);
    assert_int_equal(die.tag, tag);
    assert_int_equal(die.depth, depth);
    if (csni_die_has(&die, CSNI_AT_DECL_LINE)) assert_int_equal(die.at[CSNI_AT_DECL_LINE].value, line);
}

static void expect_end(struct walked *w) {
    struct csni_die die;
    for (int i = 0; i < 2; i++) assert_int_equal(csni_die_walk_next(&w->walk, &die, NULL), CSN_NONE);
    dwarf_sample_deinit(&w->s);
}

static void nesting(void **state) {
    (void)state;
    struct walked w;
    begin(&w, DW_LANG_C_plus_plus, "GNU C++");
    PUT(&w, SUB, 1, SUB_CHILDREN, 2, VARIABLE, 2, 0xaa, 0xbb, BLOCK, BLOCK, SUB, 3, 0, VARIABLE, 0, 0, SUB, 4, 0, SUB, 5, 0);
    ready(&w);
    expect(&w, DW_TAG_compile_unit, 0, 0);
    expect(&w, DW_TAG_subprogram, 1, 1);
    expect(&w, DW_TAG_subprogram, 1, 2);
    expect(&w, DW_TAG_subprogram, 4, 3);
    expect(&w, DW_TAG_subprogram, 2, 4);
    expect(&w, DW_TAG_subprogram, 1, 5);
    expect_end(&w);
}

/* A DIE that is not given ends what was given at its depth. */
static void what_has_ended(void **state) {
    (void)state;
    struct walked w;
    begin(&w, DW_LANG_C_plus_plus, "GNU C++");
    PUT(&w, SUB_CHILDREN, 1, SUB_CHILDREN, 2, SUB, 3, 0, BLOCK, SUB, 4, SUB, 5, 0, 0, SUB, 6, 0);
    ready(&w);
    static const uint32_t closed[] = { 0, 1, 2, 3, 2, 3, 1 };
    for (size_t i = 0; i < sizeof closed / sizeof *closed; i++) {
        struct csni_die die;
        assert_int_equal(csni_die_walk_next(&w.walk, &die, NULL), CSN_OK);
        assert_int_equal(die.closed, closed[i]);
    }
    expect_end(&w);
}

static void padding_and_missing_null_entries(void **state) {
    (void)state;
    struct walked w;
    begin(&w, DW_LANG_C_plus_plus, "GNU C++");
    PUT(&w, SUB, 1, 0, 0, 0, 0);
    ready(&w);
    expect(&w, DW_TAG_compile_unit, 0, 0);
    expect(&w, DW_TAG_subprogram, 1, 1);
    expect_end(&w);
    begin(&w, DW_LANG_C_plus_plus, "GNU C++");
    PUT(&w, SUB_CHILDREN, 1, SUB, 2);
    ready(&w);
    expect(&w, DW_TAG_compile_unit, 0, 0);
    expect(&w, DW_TAG_subprogram, 1, 1);
    expect(&w, DW_TAG_subprogram, 2, 2);
    expect_end(&w);
}

/* Sections of types without and with sibling attribute, and an enumeration, which is jumped over in any language. */
static void put_types(struct walked *w) {
    struct wire *i = &w->s.info;
    PUT(w, TYPE, VARIABLE, 0, SUB, 1, 0);
    PUT(w, TYPE_SIBLING, 'T', 0);
    size_t sibling = wire_u32(i, 0);
    PUT(w, SUB, 2, DECLARATION, SUB, 3, 0, 0);
    wire_patch(i, sibling, i->size - w->unit, 4);
    PUT(w, ENUM_SIBLING, 0);
    sibling = i->size - 1;
    PUT(w, ENUMERATOR, ENUMERATOR, 0);
    wire_patch(i, sibling, i->size - w->unit, 1);
    PUT(w, DECLARATION, SUB, 4, 0, SUB, 5, 0);
}

static void types_in_cxx(void **state) {
    (void)state;
    struct walked w;
    begin(&w, DW_LANG_C_plus_plus, "GNU C++");
    put_types(&w);
    ready(&w);
    assert_false(w.walk.options.skip_types);
    expect(&w, DW_TAG_compile_unit, 0, 0);
    expect(&w, DW_TAG_structure_type, 1, 0);
    expect(&w, DW_TAG_subprogram, 2, 1);
    expect(&w, DW_TAG_structure_type, 1, 0);
    expect(&w, DW_TAG_subprogram, 2, 2);
    expect(&w, DW_TAG_subprogram, 2, 0);
    expect(&w, DW_TAG_subprogram, 3, 3);
    expect(&w, DW_TAG_subprogram, 1, 0);
    expect(&w, DW_TAG_subprogram, 2, 4);
    expect(&w, DW_TAG_subprogram, 1, 5);
    expect_end(&w);
}

static void types_in_c(void **state) {
    (void)state;
    static const struct { unsigned language; const char *producer; bool in_c; } cases[] = {
        { DW_LANG_C11, "GNU C17 12.2.0", true }, { DW_LANG_C99, "Debian clang version 14", true },
        { DW_LANG_C89, "GNU GIMPLE 12.2.0", true }, { DW_LANG_C, "clang version 22", true },
        { DW_LANG_C11, "GNU C++17 12", false }, { DW_LANG_C99, "zig 0.11.0", false }, { DW_LANG_C99, "", false },
        { DW_LANG_C_plus_plus, "clang version 22", false },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct walked w;
        begin(&w, cases[i].language, cases[i].producer);
        put_types(&w);
        ready(&w);
        assert_int_equal(w.walk.options.skip_types, cases[i].in_c);
        w.walk.options.skip_types = true;
        expect(&w, DW_TAG_compile_unit, 0, 0);
        /* Without a sibling attribute, a type's children are stepped over one by one, and given. */
        expect(&w, DW_TAG_subprogram, 2, 1);
        expect(&w, DW_TAG_subprogram, 2, 4);
        expect(&w, DW_TAG_subprogram, 1, 5);
        expect_end(&w);
    }
}

static void call_sites(void **state) {
    (void)state;
    for (int wanted = 0; wanted < 2; wanted++) {
        struct walked w;
        begin(&w, DW_LANG_C_plus_plus, "GNU C++");
        PUT(&w, SUB_CHILDREN, 1, CALL_SITE, 0, 0);
        size_t sibling = w.s.info.size - 2;
        PUT(&w, PARAMETER, PARAMETER, 0);
        wire_patch(&w.s.info, sibling, w.s.info.size - w.unit, 2);
        PUT(&w, SUB, 2, 0, SUB, 3, 0);
        ready(&w);
        w.walk.options.skip_call_sites = !wanted;
        expect(&w, DW_TAG_compile_unit, 0, 0);
        expect(&w, DW_TAG_subprogram, 1, 1);
        if (wanted) expect(&w, DW_TAG_call_site, 2, 0);
        expect(&w, DW_TAG_subprogram, 2, 2);
        expect(&w, DW_TAG_subprogram, 1, 3);
        expect_end(&w);
    }
}

static void pass_over(struct walked *w, unsigned line) {
    struct csni_die die;
    assert_int_equal(csni_die_walk_next(&w->walk, &die, NULL), CSN_OK);
    if (line) assert_int_equal(die.at[CSNI_AT_DECL_LINE].value, line);
    assert_int_equal(csni_die_walk_skip_children(&w->walk, &die, NULL), CSN_OK);
}

static void skipping_children(void **state) {
    (void)state;
    struct walked w;
    begin(&w, DW_LANG_C_plus_plus, "GNU C++");
    PUT(&w, SUB_CHILDREN, 1, SUB_CHILDREN, 2, VARIABLE, 0, 0, SUB, 3, 0); /* by stepping */
    PUT(&w, SUB, 4);                                                     /* has none */
    PUT(&w, SUB_SIBLING, 5, 0);
    size_t sibling = w.s.info.size - 1;
    PUT(&w, SUB, 6, 0);
    wire_patch(&w.s.info, sibling, w.s.info.size - w.unit, 1);
    /* A sibling that points backwards, or after the unit, is not believed. */
    PUT(&w, SUB_SIBLING, 7, 1, SUB, 8, 0, SUB_SIBLING, 9, 0x7f, SUB, 10, 0, SUB, 11, 0);
    ready(&w);
    expect(&w, DW_TAG_compile_unit, 0, 0);
    pass_over(&w, 1);
    pass_over(&w, 4);
    pass_over(&w, 5);
    pass_over(&w, 7);
    pass_over(&w, 9);
    expect(&w, DW_TAG_subprogram, 1, 11);
    expect_end(&w);
    begin(&w, DW_LANG_C_plus_plus, "GNU C++");
    PUT(&w, SUB, 1, 0);
    ready(&w);
    pass_over(&w, 0);
    expect_end(&w);
}

/* A sibling attribute of a DIE that is jumped over without being asked for must not lead backwards either. */
static void bad_sibling_of_a_leaf(void **state) {
    (void)state;
    struct walked w;
    begin(&w, DW_LANG_C11, "GNU C11");
    PUT(&w, ENUM_SIBLING, 2, ENUMERATOR, 0, TYPE_SIBLING, 0, 1, 0, 0, 0, VARIABLE, 0, 0, SUB, 1, 0);
    ready(&w);
    expect(&w, DW_TAG_compile_unit, 0, 0);
    expect(&w, DW_TAG_subprogram, 1, 1);
    expect_end(&w);
}

static void dies_that_do_not_end(void **state) {
    (void)state;
    static const struct { uint8_t bytes[4]; size_t size; } cases[] = {
        { { SUB }, 1 }, { { VARIABLE, 5, 1, 1 }, 4 }, { { VARIABLE, 0x80 }, 2 }, { { VARIABLE }, 1 }, { { 0x80 }, 1 },
        { { TYPE_SIBLING, 'x' }, 2 }, { { ENUM_SIBLING }, 1 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct walked w;
        struct csni_die die;
        struct csn_error err = CSN_ERROR_INIT;
        begin(&w, DW_LANG_C_plus_plus, "GNU C++");
        PUT(&w, SUB, 1);
        size_t bad = w.s.info.size;
        put(&w, cases[i].bytes, cases[i].size);
        ready(&w);
        expect(&w, DW_TAG_compile_unit, 0, 0);
        expect(&w, DW_TAG_subprogram, 1, 1);
        assert_int_equal(csni_die_walk_next(&w.walk, &die, &err), CSN_E_TRUNCATED);
        assert_int_equal(err.section[0], '.');
        assert_true(err.offset >= bad && err.offset <= bad + 1);
        expect_end(&w);
    }
}

static void one_die(void **state) {
    (void)state;
    struct walked w;
    struct csni_die die;
    struct csn_error err = CSN_ERROR_INIT;
    begin(&w, DW_LANG_C_plus_plus, "GNU C++");
    size_t sub = w.s.info.size;
    PUT(&w, SUB, 42, VARIABLE, 0, ENUM_SIBLING, 0, 0, 0);
    ready(&w);
    const struct csni_dwarf *d = w.s.dwarf;
    assert_int_equal(csni_die_at(d, NULL, sub, &die, &err), CSN_OK);
    assert_int_equal(die.at[CSNI_AT_DECL_LINE].value, 42);
    assert_int_equal(die.next, sub + 2);
    assert_int_equal(csni_die_at(d, &d->units[0], sub + 2, &die, &err), CSN_OK);
    assert_int_equal(die.tag, DW_TAG_variable);
    assert_int_equal(die.present, 0);
    assert_int_equal(csni_die_at(d, NULL, sub + 6, &die, &err), CSN_E_FORMAT);
    assert_string_equal(err.text, ".debug_info+0x1c: a DIE is to be here, there is a null entry");
    assert_int_equal(csni_die_at(d, NULL, 3, &die, &err), CSN_E_FORMAT);
    assert_int_equal(csni_die_at(d, NULL, 1000, &die, &err), CSN_E_FORMAT);
    assert_string_equal(err.text, ".debug_info+0x3e8: a DIE is to be here, the units of 0x1e bytes have none");
    dwarf_sample_deinit(&w.s);
}

/* ---- references ---- */

static void references(void **state) {
    (void)state;
    static const int forms[] = { DW_FORM_ref1, DW_FORM_ref2, DW_FORM_ref4, DW_FORM_ref8, DW_FORM_ref_udata,
                                 DW_FORM_ref_addr, DW_FORM_ref_sig8, DW_FORM_GNU_ref_alt, DW_FORM_ref_sup4 };
    static const unsigned sizes[] = { 1, 2, 4, 8, 1, 4, 8, 4, 4 };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct dwarf_sample s;
        struct csni_die die, to;
        struct csn_error err = CSN_ERROR_INIT;
        dwarf_sample_init(&s, i & 1);
        dwarf_sample_abbrev(&s, 1, DW_TAG_compile_unit, true, 0);
        dwarf_sample_abbrev(&s, 2, DW_TAG_subprogram, false, DW_AT_specification, forms[i], 0);
        dwarf_sample_abbrev(&s, 3, DW_TAG_subprogram, false, DW_AT_decl_line, DW_FORM_data1, 0);
        dwarf_sample_abbrevs_end(&s);
        struct wire *w = &s.info;
        size_t before = dwarf_sample_unit(&s); /* so that offsets of unit and section differ */
        wire_u8(w, 1);
        size_t target_there = wire_u8(w, 3);
        wire_u8(w, 9);
        wire_u8(w, 0);
        dwarf_sample_end(&s, before);
        size_t type = wire_begin_length(w, 4);
        wire_u16(w, 5);
        wire_u8(w, DW_UT_type);
        wire_u8(w, 8);
        wire_u32(w, 0);
        wire_u64(w, 0xfeedface);
        wire_u32(w, 25);
        wire_u8(w, 1);
        size_t target_in_type = wire_u8(w, 3);
        assert_int_equal(target_in_type - type, 25);
        wire_u8(w, 8);
        wire_u8(w, 0);
        wire_end_length(w, type);
        size_t unit = dwarf_sample_unit(&s);
        wire_u8(w, 1);
        size_t target_here = wire_u8(w, 3);
        wire_u8(w, 7);
        uint64_t to_off = forms[i] == DW_FORM_ref_addr ? target_there : forms[i] == DW_FORM_ref_sig8 ? 0xfeedface
                                                                                              : target_here - unit;
        wire_u8(w, 2);
        wire_uint(w, to_off, sizes[i]);
        size_t bad = wire_u8(w, 2);
        wire_uint(w, 0x70, sizes[i]); /* no DIE, unit or signature is there */
        wire_u8(w, 0);
        dwarf_sample_end(&s, unit);
        struct csni_dwarf *d = dwarf_sample_open(&s);
        assert_int_equal(csni_die_at(d, NULL, target_here + 2, &die, &err), CSN_OK);
        bool supplement = forms[i] == DW_FORM_GNU_ref_alt || forms[i] == DW_FORM_ref_sup4;
        assert_int_equal(csni_dwarf_has_supplement_references(d), supplement);
        assert_int_equal(csni_dwarf_has_cross_references(d), forms[i] == DW_FORM_ref_addr || forms[i] == DW_FORM_ref_sig8);
        csn_status status = csni_die_follow(d, &die, CSNI_AT_SPECIFICATION, &to, &err);
        assert_int_equal(status, supplement ? CSN_NONE : CSN_OK);
        if (!supplement) {
            assert_int_equal(to.at[CSNI_AT_DECL_LINE].value, forms[i] == DW_FORM_ref_addr   ? 9
                                                             : forms[i] == DW_FORM_ref_sig8 ? 8
                                                                                            : 7);
            assert_ptr_equal(to.unit, &d->units[forms[i] == DW_FORM_ref_addr ? 0 : forms[i] == DW_FORM_ref_sig8 ? 1 : 2]);
        }
        assert_int_equal(csni_die_follow(d, &die, CSNI_AT_ABSTRACT_ORIGIN, &to, &err), CSN_NONE);
        assert_int_equal(csni_die_at(d, NULL, bad, &die, &err), CSN_OK);
        status = csni_die_follow(d, &die, CSNI_AT_SPECIFICATION, &to, &err);
        assert_int_equal(status, supplement || forms[i] == DW_FORM_ref_sig8 ? CSN_NONE : CSN_E_FORMAT);
        dwarf_sample_deinit(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nesting),
        cmocka_unit_test(what_has_ended),
        cmocka_unit_test(padding_and_missing_null_entries),
        cmocka_unit_test(types_in_cxx),
        cmocka_unit_test(types_in_c),
        cmocka_unit_test(call_sites),
        cmocka_unit_test(skipping_children),
        cmocka_unit_test(bad_sibling_of_a_leaf),
        cmocka_unit_test(dies_that_do_not_end),
        cmocka_unit_test(one_die),
        cmocka_unit_test(references),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
