/* Names: through specifications and abstract origins, and qualified by scopes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "dwarf/dwarf_private.h"
#include "support/dwarf_sample.h"

/* Abbreviations: with a letter for what they have. References are ref_addr: offsets in .debug_info. */
enum { UNIT = 1, NAMESPACE, UNNAMED, CLASS, CLASS_SIBLING, BLOCK, FUNCTION, FUNCTION_CHILDREN, LINKAGE, SPECIFICATION, ORIGIN,
       ORIGIN_CHILDREN, INLINED, INLINED_CHILDREN, BOTH, ENUMERATION, CLASS_ORIGIN };

struct names {
    struct dwarf_sample s;
    size_t unit;
    struct csni_scopes *scopes;
    struct csni_arena arena;
};

static void begin_unit(struct names *n, unsigned language) {
    n->unit = dwarf_sample_unit(&n->s);
    wire_u8(&n->s.info, UNIT);
    wire_u8(&n->s.info, language);
}

static void end_unit(struct names *n) {
    wire_u8(&n->s.info, 0);
    dwarf_sample_end(&n->s, n->unit);
}

static void begin(struct names *n, unsigned language) {
    struct dwarf_sample *s = &n->s;
    dwarf_sample_init(s, false);
    n->scopes = NULL;
    dwarf_sample_abbrev(s, UNIT, DW_TAG_compile_unit, true, DW_AT_language, DW_FORM_data1, 0);
    dwarf_sample_abbrev(s, NAMESPACE, DW_TAG_namespace, true, DW_AT_name, DW_FORM_string, 0);
    dwarf_sample_abbrev(s, UNNAMED, DW_TAG_namespace, true, 0);
    dwarf_sample_abbrev(s, CLASS, DW_TAG_class_type, true, DW_AT_name, DW_FORM_string, 0);
    dwarf_sample_abbrev(s, CLASS_SIBLING, DW_TAG_structure_type, true, DW_AT_name, DW_FORM_string, DW_AT_sibling,
                        DW_FORM_ref4, 0);
    dwarf_sample_abbrev(s, BLOCK, DW_TAG_lexical_block, true, 0);
    dwarf_sample_abbrev(s, FUNCTION, DW_TAG_subprogram, false, DW_AT_name, DW_FORM_string, 0);
    dwarf_sample_abbrev(s, FUNCTION_CHILDREN, DW_TAG_subprogram, true, DW_AT_name, DW_FORM_string, 0);
    dwarf_sample_abbrev(s, LINKAGE, DW_TAG_subprogram, false, DW_AT_name, DW_FORM_string, DW_AT_linkage_name,
                        DW_FORM_string, 0);
    dwarf_sample_abbrev(s, SPECIFICATION, DW_TAG_subprogram, false, DW_AT_specification, DW_FORM_ref_addr, 0);
    dwarf_sample_abbrev(s, ORIGIN, DW_TAG_subprogram, false, DW_AT_abstract_origin, DW_FORM_ref_addr, 0);
    dwarf_sample_abbrev(s, ORIGIN_CHILDREN, DW_TAG_subprogram, true, DW_AT_abstract_origin, DW_FORM_ref_addr, 0);
    dwarf_sample_abbrev(s, INLINED, DW_TAG_inlined_subroutine, false, DW_AT_abstract_origin, DW_FORM_ref_addr, 0);
    dwarf_sample_abbrev(s, INLINED_CHILDREN, DW_TAG_inlined_subroutine, true, DW_AT_abstract_origin, DW_FORM_ref_addr, 0);
    dwarf_sample_abbrev(s, BOTH, DW_TAG_subprogram, false, DW_AT_abstract_origin, DW_FORM_ref_addr, DW_AT_specification,
                        DW_FORM_ref_addr, 0);
    dwarf_sample_abbrev(s, ENUMERATION, DW_TAG_enumeration_type, true, 0);
    dwarf_sample_abbrev(s, CLASS_ORIGIN, DW_TAG_class_type, true, DW_AT_specification, DW_FORM_ref_addr, 0);
    dwarf_sample_abbrevs_end(s);
    begin_unit(n, language);
}

/* Write a DIE; the offset that it has. */
static uint32_t named(struct names *n, unsigned code, const char *name) {
    size_t off = wire_u8(&n->s.info, code);
    wire_cstr(&n->s.info, name);
    return (uint32_t)off;
}
static uint32_t referring(struct names *n, unsigned code, uint32_t to) {
    size_t off = wire_u8(&n->s.info, code);
    wire_u32(&n->s.info, to);
    return (uint32_t)off;
}
static uint32_t bare(struct names *n, unsigned code) { return (uint32_t)wire_u8(&n->s.info, code); }

static void ready(struct names *n) {
    end_unit(n);
    dwarf_sample_open(&n->s);
    csni_arena_init(&n->arena, &csni_libc_allocator, 0);
    assert_int_equal(csni_scopes_create(n->s.dwarf, &n->scopes, NULL), CSN_OK);
}

static void end(struct names *n) {
    csni_scopes_destroy(n->scopes);
    csni_arena_deinit(&n->arena);
    dwarf_sample_deinit(&n->s);
}

/* The name of the DIE at `off`; NULL: none. Asked for twice, the second time with what has been learnt. */
static void expect(struct names *n, uint32_t off, const char *name) {
    for (int i = 0; i < 2; i++) {
        struct csni_die die;
        struct csn_str got;
        struct csn_error err = CSN_ERROR_INIT;
        assert_int_equal(csni_die_at(n->s.dwarf, NULL, off, &die, &err), CSN_OK);
        csn_status status = csni_scopes_name(n->scopes, die.unit, &die, &n->arena, &got, &err);
        if (status < 0) fail_msg("%s", err.text);
        assert_int_equal(status, name ? CSN_OK : CSN_NONE);
        if (name && !csni_str_is(got, name)) fail_msg("%.*s, expected %s", (int)got.len, got.ptr, name);
    }
}

static void plain_and_linkage_names(void **state) {
    (void)state;
    struct names n;
    begin(&n, DW_LANG_C_plus_plus);
    uint32_t plain = named(&n, FUNCTION, "plain");
    uint32_t linkage = named(&n, LINKAGE, "short");
    wire_cstr(&n.s.info, "_Z5shortv");
    uint32_t empty_linkage = named(&n, LINKAGE, "kept");
    wire_cstr(&n.s.info, "");
    uint32_t empty = named(&n, FUNCTION, "");
    uint32_t spec = referring(&n, SPECIFICATION, linkage);
    uint32_t origin = referring(&n, ORIGIN, spec);
    uint32_t inlined = referring(&n, INLINED, origin);
    uint32_t of_empty = referring(&n, ORIGIN, empty_linkage);
    uint32_t nameless = referring(&n, INLINED, empty);
    uint32_t block = bare(&n, BLOCK);
    wire_u8(&n.s.info, 0);
    ready(&n);
    expect(&n, plain, "plain");
    expect(&n, linkage, "_Z5shortv");
    expect(&n, empty_linkage, "kept");
    expect(&n, empty, NULL);
    expect(&n, spec, "_Z5shortv");
    expect(&n, origin, "_Z5shortv");
    expect(&n, inlined, "_Z5shortv");
    expect(&n, of_empty, "kept");
    expect(&n, nameless, NULL);
    expect(&n, block, NULL);
    end(&n);
}

static void qualified_by_scopes(void **state) {
    (void)state;
    static const unsigned languages[] = { DW_LANG_C, DW_LANG_C_plus_plus, DW_LANG_C_plus_plus_03, DW_LANG_C_plus_plus_11,
                                          DW_LANG_C_plus_plus_14, DW_LANG_ObjC_plus_plus, DW_LANG_C99, 0x2b /* C++17+ */ };
    for (size_t i = 0; i < sizeof languages / sizeof *languages; i++) {
        bool q = i < 6;
        struct names n;
        begin(&n, languages[i]);
        named(&n, NAMESPACE, "ns");
        bare(&n, UNNAMED);
        named(&n, CLASS, "S");
        uint32_t method = named(&n, FUNCTION, "m");
        uint32_t clone = named(&n, FUNCTION, "_ZN1S1mEv.part.0");
        uint32_t not_clone = named(&n, FUNCTION, "_Zx.cold");
        wire_u8(&n.s.info, 0);
        uint32_t hidden = named(&n, FUNCTION, "hidden");
        wire_u8(&n.s.info, 0);
        uint32_t local = named(&n, FUNCTION_CHILDREN, "f");
        named(&n, CLASS, "<lambda()>");
        uint32_t lambda = named(&n, FUNCTION, "operator()");
        wire_u8(&n.s.info, 0);
        bare(&n, BLOCK);
        bare(&n, BLOCK);
        uint32_t nested = named(&n, FUNCTION, "nested");
        wire_u8(&n.s.info, 0);
        wire_u8(&n.s.info, 0);
        wire_u8(&n.s.info, 0);
        wire_u8(&n.s.info, 0);
        bare(&n, ENUMERATION);
        uint32_t odd = named(&n, FUNCTION, "odd");
        wire_u8(&n.s.info, 0);
        uint32_t outside = referring(&n, SPECIFICATION, method);
        uint32_t inlined = referring(&n, INLINED, outside);
        uint32_t concrete = referring(&n, ORIGIN, nested);
        ready(&n);
        expect(&n, method, q ? "ns::S::m" : "m");
        expect(&n, clone, "_ZN1S1mEv.part.0");
        expect(&n, not_clone, q ? "ns::S::_Zx.cold" : "_Zx.cold");
        expect(&n, hidden, q ? "ns::hidden" : "hidden");
        expect(&n, local, q ? "ns::f" : "f");
        expect(&n, lambda, q ? "ns::f::{lambda()}::operator()" : "operator()");
        expect(&n, nested, q ? "ns::f::nested" : "nested");
        expect(&n, odd, "odd");
        expect(&n, outside, q ? "ns::S::m" : "m");
        expect(&n, inlined, q ? "ns::S::m" : "m");
        expect(&n, concrete, q ? "ns::f::nested" : "nested");
        end(&n);
    }
}

/* Where a concrete function stands counts only if its origin stands in no scope; for inlined ones, never. */
static void place_of_a_concrete_function(void **state) {
    (void)state;
    struct names n;
    begin(&n, DW_LANG_C_plus_plus);
    uint32_t free_standing = named(&n, FUNCTION, "g");
    named(&n, NAMESPACE, "a");
    uint32_t in_a = named(&n, FUNCTION, "f");
    wire_u8(&n.s.info, 0);
    named(&n, NAMESPACE, "b");
    uint32_t of_free = referring(&n, ORIGIN, free_standing);
    uint32_t of_a = referring(&n, ORIGIN, in_a);
    uint32_t both = referring(&n, BOTH, in_a);
    wire_u32(&n.s.info, free_standing);
    uint32_t outer = referring(&n, ORIGIN_CHILDREN, in_a);
    uint32_t inlined_free = referring(&n, INLINED, free_standing);
    uint32_t inlined = referring(&n, INLINED_CHILDREN, of_free);
    uint32_t inner = named(&n, FUNCTION, "inner");
    bare(&n, BLOCK);
    uint32_t in_block = named(&n, FUNCTION, "in_block");
    wire_u8(&n.s.info, 0);
    wire_u8(&n.s.info, 0);
    wire_u8(&n.s.info, 0);
    wire_u8(&n.s.info, 0);
    ready(&n);
    expect(&n, of_free, "b::g");
    expect(&n, of_a, "a::f");
    expect(&n, both, "a::g"); /* the specification has the name, the origin the scope */
    expect(&n, outer, "a::f");
    expect(&n, inlined_free, "g");
    expect(&n, inlined, "b::g");
    expect(&n, inner, "inner");
    expect(&n, in_block, "in_block");
    end(&n);
}

/* A class whose children are jumped over, in the walk and in the index, holding more of them. */
static void within_skipped_subtrees(void **state) {
    (void)state;
    struct names n;
    begin(&n, DW_LANG_C_plus_plus);
    struct wire *w = &n.s.info;
    named(&n, NAMESPACE, "ns");
    size_t sibling[2];
    uint32_t outer = named(&n, CLASS_SIBLING, "Outer");
    sibling[0] = wire_u32(w, 0);
    uint32_t before = named(&n, FUNCTION, "before");
    named(&n, CLASS_SIBLING, "Inner");
    sibling[1] = wire_u32(w, 0);
    uint32_t deep = named(&n, FUNCTION, "deep");
    wire_u8(w, 0);
    wire_patch(w, sibling[1], w->size - n.unit, 4);
    uint32_t after = named(&n, FUNCTION, "after");
    wire_u8(w, 0);
    wire_patch(w, sibling[0], w->size - n.unit, 4);
    uint32_t past = named(&n, FUNCTION, "after");
    wire_u8(w, 0);
    uint32_t late = referring(&n, SPECIFICATION, deep);
    ready(&n);
    struct csni_die_walk walk;
    struct csni_die die;
    struct csn_str name;
    struct csni_unit *unit = &n.s.dwarf->units[0];
    assert_int_equal(csni_die_walk_init(&walk, n.s.dwarf, unit, NULL), CSN_OK);
    while (csni_die_walk_next(&walk, &die, NULL) == CSN_OK) {
        if (die.off == outer) assert_int_equal(csni_die_walk_skip_children(&walk, &die, NULL), CSN_OK);
        const char *want = die.off == past ? "ns::after" : die.off == late ? "ns::Outer::Inner::deep" : NULL;
        if (!want) continue;
        assert_int_equal(csni_scopes_name(n.scopes, unit, &die, &n.arena, &name, NULL), CSN_OK);
        assert_true(csni_str_is(name, want));
    }
    expect(&n, after, "ns::Outer::after");
    expect(&n, before, "ns::Outer::before");
    expect(&n, deep, "ns::Outer::Inner::deep");
    end(&n);
}

static void across_units(void **state) {
    (void)state;
    struct names n;
    begin(&n, DW_LANG_C_plus_plus);
    named(&n, NAMESPACE, "other");
    uint32_t declared = named(&n, CLASS, "T");
    uint32_t there = named(&n, FUNCTION, "f");
    wire_u8(&n.s.info, 0);
    wire_u8(&n.s.info, 0);
    end_unit(&n);
    begin_unit(&n, DW_LANG_C_plus_plus_14);
    uint32_t here = referring(&n, SPECIFICATION, there);
    referring(&n, CLASS_ORIGIN, declared);
    uint32_t member = named(&n, FUNCTION, "member");
    wire_u8(&n.s.info, 0);
    ready(&n);
    expect(&n, here, "other::T::f");
    expect(&n, member, "other::T::member");
    end(&n);
}

/* References in circles, and chains beyond any sense. */
static void circles(void **state) {
    (void)state;
    struct names n;
    begin(&n, DW_LANG_C_plus_plus);
    uint32_t next = (uint32_t)n.s.info.size;
    uint32_t itself = referring(&n, ORIGIN, next);
    uint32_t first = referring(&n, SPECIFICATION, next + 10);
    uint32_t second = referring(&n, ORIGIN, first);
    uint32_t both = referring(&n, BOTH, next + 15);
    wire_u32(&n.s.info, next + 15);
    uint32_t last = named(&n, FUNCTION, "end");
    for (int i = 0; i < 100; i++) last = referring(&n, ORIGIN, last);
    ready(&n);
    expect(&n, itself, NULL);
    expect(&n, first, NULL);
    expect(&n, second, NULL);
    expect(&n, both, NULL);
    expect(&n, last, NULL);
    end(&n);
}

static void damage_is_told(void **state) {
    (void)state;
    struct names n;
    begin(&n, DW_LANG_C_plus_plus);
    uint32_t bad = referring(&n, ORIGIN, 0x7777);
    ready(&n);
    struct csni_die die;
    struct csn_str name;
    struct csn_error err = CSN_ERROR_INIT;
    assert_int_equal(csni_die_at(n.s.dwarf, NULL, bad, &die, &err), CSN_OK);
    assert_int_equal(csni_scopes_name(n.scopes, die.unit, &die, &n.arena, &name, &err), CSN_E_FORMAT);
    assert_string_equal(err.text, ".debug_info+0xe: the DIE refers to .debug_info+0x7777, which is in no unit");
    end(&n);
}

/* The same origin many times: names come from the cache, and outlive it. */
static void many_inlined(void **state) {
    (void)state;
    struct names n;
    begin(&n, DW_LANG_C_plus_plus);
    named(&n, NAMESPACE, "long_enough_to_fill_the_cache_of_names_at_some_time");
    enum { FUNCTIONS = 30000 };
    static uint32_t functions[FUNCTIONS], inlined[FUNCTIONS];
    char text[32];
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        snprintf(text, sizeof text, "function_number_%u", i);
        functions[i] = named(&n, FUNCTION, text);
    }
    wire_u8(&n.s.info, 0);
    for (unsigned i = 0; i < FUNCTIONS; i++) inlined[i] = referring(&n, INLINED, functions[i]);
    ready(&n);
    char want[128];
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        snprintf(want, sizeof want, "long_enough_to_fill_the_cache_of_names_at_some_time::function_number_%u", i);
        expect(&n, inlined[i], want);
    }
    end(&n);
}

/* One function inlined into units of two languages, of which one qualifies names: what is kept for one is not for the other. */
static void inlined_into_two_languages(void **state) {
    (void)state;
    struct names n;
    begin(&n, DW_LANG_C_plus_plus);
    named(&n, NAMESPACE, "ns");
    uint32_t function = named(&n, FUNCTION, "f");
    wire_u8(&n.s.info, 0);
    end_unit(&n);
    begin_unit(&n, DW_LANG_C99);
    uint32_t inlined = referring(&n, INLINED, function);
    ready(&n);
    for (unsigned i = 0; i < 4; i++) {
        struct csni_die die;
        struct csn_str name;
        assert_int_equal(csni_die_at(n.s.dwarf, NULL, inlined, &die, NULL), CSN_OK);
        assert_int_equal(csni_scopes_name(n.scopes, &n.s.dwarf->units[i & 1], &die, &n.arena, &name, NULL), CSN_OK);
        assert_true(csni_str_is(name, i & 1 ? "f" : "ns::f"));
    }
    end(&n);
}

/* Names that a DIE has by itself: nothing else needs to be read for them. */
static void own_names(void **state) {
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct names n;
        begin(&n, i ? DW_LANG_C_plus_plus : 0x1c /* Rust */);
        uint32_t linkage = named(&n, LINKAGE, "short");
        wire_cstr(&n.s.info, "_R5short");
        uint32_t empty = named(&n, LINKAGE, "short");
        wire_cstr(&n.s.info, "");
        const struct { uint32_t off; const char *name; } cases[] = {
            { linkage, "_R5short" }, { empty, NULL }, { named(&n, FUNCTION, "plain"), i ? NULL : "plain" },
            { named(&n, FUNCTION, ""), NULL }, { referring(&n, SPECIFICATION, linkage), NULL },
            { referring(&n, ORIGIN, linkage), NULL },
        };
        ready(&n);
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            struct csni_die die;
            struct csn_str name;
            assert_int_equal(csni_die_at(n.s.dwarf, NULL, cases[k].off, &die, NULL), CSN_OK);
            assert_int_equal(csni_die_own_name(n.s.dwarf, die.unit, &die, &name, NULL), cases[k].name ? CSN_OK : CSN_NONE);
            if (cases[k].name) assert_true(csni_str_is(name, cases[k].name));
        }
        end(&n);
    }
}

/* The name at an offset, without reading its DIE where that can be: specifications of every size, and a code of two bytes,
 * the first of which says nothing by itself. */
static void names_at_offsets(void **state) {
    (void)state;
    static const struct { int form; unsigned size;
    } forms[] = {
        { DW_FORM_ref1, 1 }, { DW_FORM_ref2, 2 },      { DW_FORM_ref4, 4 },
        { DW_FORM_ref8, 8 }, { DW_FORM_ref_udata, 1 }, { DW_FORM_ref_addr, 4 },
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct names n = { .scopes = NULL };
        struct dwarf_sample *s = &n.s;
        dwarf_sample_init(s, i & 1);
        dwarf_sample_abbrev(s, 1, DW_TAG_compile_unit, true, 0);
        dwarf_sample_abbrev(s, 2, DW_TAG_subprogram, false, DW_AT_linkage_name, DW_FORM_strp, 0);
        dwarf_sample_abbrev(s, 3, DW_TAG_subprogram, false, DW_AT_specification, forms[i].form, 0);
        for (unsigned code = 4; code <= 128; code++)
            dwarf_sample_abbrev(s, code, DW_TAG_subprogram, false, DW_AT_linkage_name, DW_FORM_strp, 0);
        dwarf_sample_abbrevs_end(s);
        wire_cstr(&s->str, "_Z5firstv");
        uint32_t second = (uint32_t)wire_cstr(&s->str, "_Z6secondv");
        n.unit = dwarf_sample_unit(s);
        wire_u8(&s->info, 1);
        uint32_t declared = (uint32_t)wire_u8(&s->info, 2);
        wire_u32(&s->info, second);
        uint32_t specified = (uint32_t)wire_u8(&s->info, 3);
        wire_uint(&s->info, declared, forms[i].size);
        uint32_t long_code = (uint32_t)wire_uleb(&s->info, 128);
        wire_u32(&s->info, 0);
        wire_fill(&s->info, 0, 8);
        ready(&n);
        const struct { uint32_t off; const char *name; } cases[] = { { declared, "_Z6secondv" }, { specified, "_Z6secondv" },
                                                                     { long_code, "_Z5firstv" } };
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++) {
            const struct csni_unit *unit = &s->dwarf->units[0];
            struct csn_str name;
            assert_int_equal(csni_scopes_name_at(n.scopes, unit, unit, cases[k].off, &n.arena, &name, NULL), CSN_OK);
            assert_true(csni_str_is(name, cases[k].name));
        }
        end(&n);
    }
}

/* Units of types come in any order; of equal ones the first counts. */
static void signatures_in_any_order(void **state) {
    (void)state;
    struct csni_signature s[] = { { 50, 0 }, { 10, 1 }, { UINT64_MAX, 2 }, { 30, 4 }, { 30, 3 }, { 0, 5 } };
    enum { COUNT = sizeof s / sizeof *s };
    csni_sort_signatures(s, COUNT);
    assert_int_equal(csni_find_signature(s, COUNT, 50)->unit, 0);
    assert_int_equal(csni_find_signature(s, COUNT, 10)->unit, 1);
    assert_int_equal(csni_find_signature(s, COUNT, UINT64_MAX)->unit, 2);
    assert_int_equal(csni_find_signature(s, COUNT, 30)->unit, 3);
    assert_int_equal(csni_find_signature(s, COUNT, 0)->unit, 5);
    assert_null(csni_find_signature(s, COUNT, 40));
    assert_null(csni_find_signature(s, COUNT - 1, UINT64_MAX));
    assert_null(csni_find_signature(s, 0, 0));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(plain_and_linkage_names),
        cmocka_unit_test(qualified_by_scopes),
        cmocka_unit_test(place_of_a_concrete_function),
        cmocka_unit_test(within_skipped_subtrees),
        cmocka_unit_test(across_units),
        cmocka_unit_test(circles),
        cmocka_unit_test(damage_is_told),
        cmocka_unit_test(many_inlined),
        cmocka_unit_test(inlined_into_two_languages),
        cmocka_unit_test(own_names),
        cmocka_unit_test(names_at_offsets),
        cmocka_unit_test(signatures_in_any_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
