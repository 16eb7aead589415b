/* Names and indexes of scopes over input that is made to keep them busy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "support/dwarf_sample.h"
#include "support/test_alloc.h"

enum { UNIT = 1, CLASS, CLASS_SIBLING, FUNCTION, SPECIFICATION, INLINED };

struct scopes {
    struct dwarf_sample s;
    struct test_allocator alloc;
    struct csni_dwarf *dwarf;
    struct csni_scopes *scopes;
    struct csni_arena arena;
    size_t unit;
};

static void begin_unit(struct scopes *t) {
    t->unit = dwarf_sample_unit(&t->s);
    wire_u8(&t->s.info, UNIT);
    wire_u8(&t->s.info, DW_LANG_C_plus_plus);
}

static void end_unit(struct scopes *t) {
    wire_u8(&t->s.info, 0);
    dwarf_sample_end(&t->s, t->unit);
}

static void begin(struct scopes *t) {
    struct dwarf_sample *s = &t->s;
    dwarf_sample_init(s, false);
    dwarf_sample_abbrev(s, UNIT, DW_TAG_compile_unit, true, DW_AT_language, DW_FORM_data1, 0);
    dwarf_sample_abbrev(s, CLASS, DW_TAG_class_type, true, 0);
    dwarf_sample_abbrev(s, CLASS_SIBLING, DW_TAG_class_type, true, DW_AT_name, DW_FORM_string, DW_AT_sibling, DW_FORM_ref4,
                        0);
    dwarf_sample_abbrev(s, FUNCTION, DW_TAG_subprogram, false, DW_AT_name, DW_FORM_string, 0);
    dwarf_sample_abbrev(s, SPECIFICATION, DW_TAG_subprogram, false, DW_AT_specification, DW_FORM_ref_addr, 0);
    dwarf_sample_abbrev(s, INLINED, DW_TAG_inlined_subroutine, false, DW_AT_abstract_origin, DW_FORM_ref_addr, 0);
    dwarf_sample_abbrevs_end(s);
    begin_unit(t);
}

static uint32_t named(struct scopes *t, unsigned code, const char *name) {
    size_t off = wire_u8(&t->s.info, code);
    wire_cstr(&t->s.info, name);
    return (uint32_t)off;
}

static void ready(struct scopes *t) {
    end_unit(t);
    struct csni_dwarf_sections sections = dwarf_sample_sections(&t->s);
    test_allocator_init(&t->alloc);
    assert_int_equal(csni_dwarf_open(&sections, &t->alloc.base, &t->dwarf, NULL), CSN_OK);
    assert_int_equal(csni_dwarf_compile_abbrevs(t->dwarf, 0, NULL), CSN_OK);
    for (uint32_t i = 0; i < t->dwarf->unit_count; i++)
        assert_int_equal(csni_unit_prepare(t->dwarf, &t->dwarf->units[i], NULL), CSN_OK);
    csni_arena_init(&t->arena, &csni_libc_allocator, 0);
    assert_int_equal(csni_scopes_create(t->dwarf, &t->scopes, NULL), CSN_OK);
}

static void end(struct scopes *t) {
    csni_scopes_destroy(t->scopes);
    csni_arena_deinit(&t->arena);
    csni_dwarf_close(t->dwarf);
    test_allocator_check_empty(&t->alloc);
    dwarf_sample_deinit(&t->s);
}

static csn_status name_of(struct scopes *t, uint32_t off, struct csn_str *out, struct csn_error *err) {
    struct csni_die die;
    assert_int_equal(csni_die_at(t->dwarf, NULL, off, &die, err), CSN_OK);
    return csni_scopes_name(t->scopes, die.unit, &die, &t->arena, out, err);
}

static void expect(struct scopes *t, uint32_t off, const char *name) {
    struct csn_str got;
    struct csn_error err = CSN_ERROR_INIT;
    if (name_of(t, off, &got, &err) != CSN_OK) fail_msg("%s", err.text);
    if (!csni_str_is(got, name)) fail_msg("%.*s, expected %s", (int)got.len, got.ptr, name);
}

/* Names lead from unit to unit in turn, of which not all fit: at some time their indexes stay. */
static void units_in_turn(void **state) {
    (void)state;
    enum { UNITS = 3, FUNCTIONS = 1100 * 1000, ROUNDS = 12 };
    struct scopes t;
    uint32_t last[UNITS], names[UNITS];
    begin(&t);
    for (int u = 0; u < UNITS; u++) {
        for (int i = 0; i < FUNCTIONS; i++) last[u] = named(&t, FUNCTION, i == FUNCTIONS - 1 ? "f" : "");
        end_unit(&t);
        begin_unit(&t);
    }
    for (int u = 0; u < UNITS; u++) {
        names[u] = (uint32_t)wire_u8(&t.s.info, SPECIFICATION);
        wire_u32(&t.s.info, last[u]);
    }
    ready(&t);
    uint64_t before = t.alloc.calls;
    for (int round = 0; round < ROUNDS; round++)
        for (int u = 0; u < UNITS; u++) expect(&t, names[u], "f");
    uint64_t first = t.alloc.calls - before;
    assert_true(first > 0);
    before = t.alloc.calls;
    for (int round = 0; round < ROUNDS; round++)
        for (int u = 0; u < UNITS; u++) expect(&t, names[u], "f");
    assert_int_equal(t.alloc.calls - before, 0);
    end(&t);
}

/* A unit that cannot be indexed is not tried again for each name. */
static void damaged_unit(void **state) {
    (void)state;
    struct scopes t;
    begin(&t);
    uint32_t name = named(&t, FUNCTION, "f");
    wire_u8(&t.s.info, 77); /* no such abbreviation */
    ready(&t);
    struct csn_str got;
    struct csn_error err = CSN_ERROR_INIT;
    assert_int_equal(name_of(&t, name, &got, &err), CSN_E_FORMAT);
    assert_string_equal(err.text, ".debug_info+0x11: abbreviation 77 is not in the table at .debug_abbrev+0x0");
    uint64_t before = t.alloc.calls;
    assert_int_equal(name_of(&t, name, &got, &err), CSN_E_FORMAT);
    assert_string_equal(err.text, ".debug_info+0x0: the unit is damaged");
    assert_int_equal(t.alloc.calls, before);
    end(&t);
}

/* The same for children that were jumped over; names beside them are found. */
static void damaged_subtree(void **state) {
    (void)state;
    struct scopes t;
    begin(&t);
    uint32_t class = named(&t, CLASS_SIBLING, "S");
    size_t sibling = wire_u32(&t.s.info, 0);
    uint32_t inside = named(&t, FUNCTION, "inside");
    wire_u8(&t.s.info, 77);
    wire_patch(&t.s.info, sibling, t.s.info.size - t.unit, 4);
    uint32_t beside = named(&t, FUNCTION, "beside");
    ready(&t);
    struct csn_str got;
    struct csn_error err = CSN_ERROR_INIT;
    expect(&t, beside, "beside");
    assert_int_equal(name_of(&t, inside, &got, &err), CSN_E_FORMAT);
    assert_string_equal(err.text, ".debug_info+0x1d: abbreviation 77 is not in the table at .debug_abbrev+0x0");
    assert_int_equal(name_of(&t, inside, &got, &err), CSN_E_FORMAT);
    assert_int_equal(err.offset, class);
    assert_string_equal(err.text, ".debug_info+0xe: what is within the DIE is damaged");
    expect(&t, beside, "beside");
    end(&t);
}

/* Another file may have its units where those of the one before it were: no name that was put together stays. */
static void names_of_the_file_before(void **state) {
    (void)state;
    struct scopes t;
    begin(&t);
    uint32_t class = named(&t, CLASS_SIBLING, "Cls");
    size_t sibling = wire_u32(&t.s.info, 0);
    uint32_t function = named(&t, FUNCTION, "f");
    wire_u8(&t.s.info, 0);
    wire_patch(&t.s.info, sibling, t.s.info.size, 4);
    uint32_t inlined = (uint32_t)wire_u8(&t.s.info, INLINED);
    wire_u32(&t.s.info, function);
    ready(&t);
    expect(&t, inlined, "Cls::f");
    wire_patch(&t.s.info, class + 1, 'D', 1);
    expect(&t, inlined, "Cls::f"); /* as it was read */
    assert_int_equal(csni_scopes_rebind(t.scopes, t.dwarf, NULL), CSN_OK);
    expect(&t, inlined, "Dls::f");
    end(&t);
}

/* Classes with children by their abbreviation, none by their sibling attribute, and never an end of them. What stands in
 * the bytes of their names is a function: to know its scope, a class is looked into. */
static void siblings_that_lie(void **state) {
    (void)state;
    enum { CLASSES = 4000 };
    struct scopes t;
    begin(&t);
    const char name[] = { FUNCTION, 'f', 0 };
    static uint32_t classes[CLASSES];
    for (int i = 0; i < CLASSES; i++) {
        classes[i] = named(&t, CLASS_SIBLING, name);
        wire_u32(&t.s.info, t.s.info.size + 4 - t.unit);
    }
    ready(&t);
    for (int i = 0; i < CLASSES; i++) expect(&t, classes[i] + 1, "f");
    assert_true(t.alloc.peak_bytes < 4 << 20);
    end(&t);
}

static void deep_nesting(void **state) {
    (void)state;
    enum { DEPTH = 256 };
    struct scopes t;
    begin(&t);
    size_t siblings[DEPTH];
    uint32_t functions[DEPTH];
    for (int i = 0; i < DEPTH; i++) {
        named(&t, CLASS_SIBLING, "");
        siblings[i] = wire_u32(&t.s.info, 0);
        functions[i] = named(&t, FUNCTION, "f");
    }
    for (int i = DEPTH; i-- > 0;) {
        wire_u8(&t.s.info, 0);
        wire_patch(&t.s.info, siblings[i], t.s.info.size - t.unit, 4);
    }
    ready(&t);
    expect(&t, functions[DEPTH - 2], "f");
    struct csn_str got;
    struct csn_error err = CSN_ERROR_INIT;
    assert_int_equal(name_of(&t, functions[DEPTH - 1], &got, &err), CSN_E_LIMIT);
    assert_non_null(strstr(err.text, ": more than 256 scopes are around a DIE"));
    end(&t);
}

/* The cost of a name is the same whether it comes from the cache or not. */
static void cost(void **state) {
    (void)state;
    struct scopes t;
    begin(&t);
    named(&t, CLASS_SIBLING, "S");
    size_t sibling = wire_u32(&t.s.info, 0);
    uint32_t last = named(&t, FUNCTION, "f");
    wire_u8(&t.s.info, 0);
    wire_patch(&t.s.info, sibling, t.s.info.size - t.unit, 4);
    for (int i = 0; i < 8; i++) {
        uint32_t to = last;
        last = (uint32_t)wire_u8(&t.s.info, i < 7 ? SPECIFICATION : INLINED);
        wire_u32(&t.s.info, to);
    }
    ready(&t);
    assert_int_equal(csni_scopes_take_cost(t.scopes), 0);
    expect(&t, last, "S::f");
    uint64_t first = csni_scopes_take_cost(t.scopes);
    assert_true(first > 16);
    assert_int_equal(csni_scopes_take_cost(t.scopes), 0);
    expect(&t, last, "S::f");
    assert_int_equal(csni_scopes_take_cost(t.scopes), first);
    end(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_in_turn),
        cmocka_unit_test(damaged_unit),
        cmocka_unit_test(damaged_subtree),
        cmocka_unit_test(names_of_the_file_before),
        cmocka_unit_test(siblings_that_lie),
        cmocka_unit_test(deep_nesting),
        cmocka_unit_test(cost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
