/* References and strings in a supplementary file, and names that are put together there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/core/fail.h"
#include "support/dwarf_sample.h"
#include "support/test_alloc.h"

/* Abbreviations of the supplement, references by DW_FORM_ref_addr. */
enum { PARTIAL = 1, NAMESPACE, CLASS, METHOD, LINKAGE, SPECIFIED, ORIGIN, FURTHER, FURTHER_NAME };
/* Those of the image, whose references and strings lead into the supplement. */
enum { UNIT = 1, SPECIFICATION, NAMED, INLINED, CLASS_SPECIFICATION, FUNCTION, LINKED };

struct forms { int reference, string; bool big; unsigned offset_size; };
static const struct forms all_forms[] = {
    { DW_FORM_GNU_ref_alt, DW_FORM_GNU_strp_alt, false, 4 }, { DW_FORM_GNU_ref_alt, DW_FORM_GNU_strp_alt, true, 8 },
    { DW_FORM_ref_sup4, DW_FORM_strp_sup, true, 4 },         { DW_FORM_ref_sup8, DW_FORM_strp_sup, false, 4 },
    { DW_FORM_ref_sup8, DW_FORM_strp_sup, true, 8 },
};

struct pair {
    struct dwarf_sample image, sup;
    struct forms forms;
    size_t unit, sup_unit;
    struct csni_scopes *scopes;
    struct csni_arena arena;
};

static void begin(struct pair *p, struct forms forms) {
    p->forms = forms;
    p->scopes = NULL;
    struct dwarf_sample *s = &p->sup, *d = &p->image;
    dwarf_sample_init(s, forms.big);
    dwarf_sample_init(d, forms.big);
    s->offset_size = d->offset_size = forms.offset_size;
    s->is_supplement = true;
    d->supplement = s;
    wire_cstr(&s->str, "not this"); /* so that no string stands at 0 */
    dwarf_sample_abbrev(s, PARTIAL, DW_TAG_partial_unit, true, 0);
    dwarf_sample_abbrev(s, NAMESPACE, DW_TAG_namespace, true, DW_AT_name, DW_FORM_strp, 0);
    dwarf_sample_abbrev(s, CLASS, DW_TAG_structure_type, true, DW_AT_name, DW_FORM_strp, 0);
    dwarf_sample_abbrev(s, METHOD, DW_TAG_subprogram, false, DW_AT_name, DW_FORM_strp, DW_AT_declaration,
                        DW_FORM_flag_present, 0);
    dwarf_sample_abbrev(s, LINKAGE, DW_TAG_subprogram, false, DW_AT_name, DW_FORM_strp, DW_AT_linkage_name,
                        DW_FORM_string, 0);
    dwarf_sample_abbrev(s, SPECIFIED, DW_TAG_subprogram, false, DW_AT_specification, DW_FORM_ref_addr, 0);
    dwarf_sample_abbrev(s, ORIGIN, DW_TAG_subprogram, false, DW_AT_abstract_origin, DW_FORM_ref_addr, 0);
    dwarf_sample_abbrev(s, FURTHER, DW_TAG_subprogram, false, DW_AT_specification, forms.reference, 0);
    dwarf_sample_abbrev(s, FURTHER_NAME, DW_TAG_subprogram, false, DW_AT_name, forms.string, 0);
    dwarf_sample_abbrevs_end(s);
    dwarf_sample_abbrev(d, UNIT, DW_TAG_compile_unit, true, DW_AT_language, DW_FORM_data1, DW_AT_producer, forms.string, 0);
    dwarf_sample_abbrev(d, SPECIFICATION, DW_TAG_subprogram, false, DW_AT_specification, forms.reference, 0);
    dwarf_sample_abbrev(d, NAMED, DW_TAG_subprogram, false, DW_AT_name, forms.string, 0);
    dwarf_sample_abbrev(d, INLINED, DW_TAG_inlined_subroutine, false, DW_AT_abstract_origin, forms.reference, 0);
    dwarf_sample_abbrev(d, CLASS_SPECIFICATION, DW_TAG_class_type, true, DW_AT_specification, forms.reference, 0);
    dwarf_sample_abbrev(d, FUNCTION, DW_TAG_subprogram, false, DW_AT_name, DW_FORM_string, 0);
    dwarf_sample_abbrev(d, LINKED, DW_TAG_subprogram, false, DW_AT_linkage_name, forms.string, DW_AT_name, DW_FORM_string,
                        0);
    dwarf_sample_abbrevs_end(d);
}

/* ---- DIEs; each returns its offset ---- */

static void partial(struct pair *p) {
    p->sup_unit = dwarf_sample_unit(&p->sup);
    wire_u8(&p->sup.info, PARTIAL);
}
static void partial_end(struct pair *p) {
    wire_u8(&p->sup.info, 0);
    dwarf_sample_end(&p->sup, p->sup_unit);
}
static uint64_t there(struct pair *p, unsigned code, const char *name) {
    uint64_t off = wire_u8(&p->sup.info, code);
    dwarf_sample_offset(&p->sup, &p->sup.info, wire_cstr(&p->sup.str, name));
    return off;
}
static uint64_t there_to(struct pair *p, unsigned code, uint64_t to) {
    uint64_t off = wire_u8(&p->sup.info, code);
    unsigned size = code == FURTHER && p->forms.reference == DW_FORM_ref_sup4   ? 4
                    : code == FURTHER && p->forms.reference == DW_FORM_ref_sup8 ? 8
                                                                                : p->forms.offset_size;
    wire_uint(&p->sup.info, to, size);
    return off;
}

static void unit(struct pair *p) {
    p->unit = dwarf_sample_unit(&p->image);
    wire_u8(&p->image.info, UNIT);
    wire_u8(&p->image.info, DW_LANG_C_plus_plus_14);
    dwarf_sample_offset(&p->image, &p->image.info, wire_cstr(&p->sup.str, "GNU C++17"));
}
static void unit_end(struct pair *p) {
    wire_u8(&p->image.info, 0);
    dwarf_sample_end(&p->image, p->unit);
}
static uint64_t here_to(struct pair *p, unsigned code, uint64_t to) {
    uint64_t off = wire_u8(&p->image.info, code);
    unsigned size = p->forms.reference == DW_FORM_ref_sup4 ? 4 : p->forms.reference == DW_FORM_ref_sup8 ? 8 : p->forms.offset_size;
    wire_uint(&p->image.info, to, size);
    return off;
}
static uint64_t here_string(struct pair *p, unsigned code, uint64_t string) {
    uint64_t off = wire_u8(&p->image.info, code);
    dwarf_sample_offset(&p->image, &p->image.info, string);
    return off;
}
static uint64_t here_named(struct pair *p, const char *name) {
    uint64_t off = wire_u8(&p->image.info, FUNCTION);
    wire_cstr(&p->image.info, name);
    return off;
}

static void ready(struct pair *p) {
    if (p->image.supplement) dwarf_sample_open(&p->sup);
    dwarf_sample_open(&p->image);
    csni_arena_init(&p->arena, &csni_libc_allocator, 0);
    assert_int_equal(csni_scopes_create(p->image.dwarf, &p->scopes, NULL), CSN_OK);
}

static void end(struct pair *p) {
    csni_scopes_destroy(p->scopes);
    csni_arena_deinit(&p->arena);
    dwarf_sample_deinit(&p->image);
    dwarf_sample_deinit(&p->sup);
}

static csn_status name_of(struct pair *p, uint64_t off, struct csn_str *out, struct csn_error *err) {
    struct csni_die die;
    assert_int_equal(csni_die_at(p->image.dwarf, NULL, off, &die, err), CSN_OK);
    return csni_scopes_name(p->scopes, die.unit, &die, &p->arena, out, err);
}

/* Asked for twice, the second time with what has been learnt. */
static void expect(struct pair *p, uint64_t off, const char *name) {
    for (int i = 0; i < 2; i++) {
        struct csn_str got;
        struct csn_error err = CSN_ERROR_INIT;
        csn_status status = name_of(p, off, &got, &err);
        if (status < 0) fail_msg("%s", err.text);
        assert_int_equal(status, name ? CSN_OK : CSN_NONE);
        if (name && !csni_str_is(got, name)) fail_msg("%.*s, expected %s", (int)got.len, got.ptr, name);
    }
}

static void expect_failure(struct pair *p, uint64_t off, csn_status wanted, const char *text) {
    for (int i = 0; i < 2; i++) {
        struct csn_str got;
        struct csn_error err = CSN_ERROR_INIT;
        assert_int_equal(name_of(p, off, &got, &err), wanted);
        assert_string_equal(err.text, text);
    }
}

/* ---- names ---- */

static void names_in_the_supplement(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof all_forms / sizeof *all_forms; i++) {
        struct pair p;
        begin(&p, all_forms[i]);
        partial(&p);
        there(&p, NAMESPACE, "ns");
        uint64_t class = there(&p, CLASS, "S");
        uint64_t method = there(&p, METHOD, "m");
        uint64_t linkage = there(&p, LINKAGE, "n");
        wire_cstr(&p.sup.info, "_ZN2ns1S1nEv");
        wire_u8(&p.sup.info, 0);
        wire_u8(&p.sup.info, 0);
        partial_end(&p);
        partial(&p); /* its DIEs refer to the other one */
        uint64_t specified = there_to(&p, SPECIFIED, method);
        uint64_t origin = there_to(&p, ORIGIN, specified);
        uint64_t plain = there(&p, METHOD, "plain");
        partial_end(&p);
        unit(&p);
        uint64_t spec = here_to(&p, SPECIFICATION, method);
        uint64_t of_linkage = here_to(&p, SPECIFICATION, linkage);
        uint64_t inlined = here_to(&p, INLINED, origin);
        uint64_t inlined_plain = here_to(&p, INLINED, plain);
        uint64_t named = here_string(&p, NAMED, wire_cstr(&p.sup.str, "named"));
        uint64_t linked = here_string(&p, LINKED, wire_cstr(&p.sup.str, "_Z6linkedv"));
        wire_cstr(&p.image.info, "linked");
        here_to(&p, CLASS_SPECIFICATION, class);
        uint64_t member = here_named(&p, "member");
        wire_u8(&p.image.info, 0);
        unit_end(&p);
        ready(&p);
        assert_true(csni_dwarf_has_supplement_references(p.image.dwarf));
        assert_true(csni_str_is(p.image.dwarf->units[0].producer, "GNU C++17"));
        expect(&p, spec, "ns::S::m");
        expect(&p, of_linkage, "_ZN2ns1S1nEv");
        expect(&p, inlined, "ns::S::m");
        expect(&p, inlined_plain, "plain");
        expect(&p, named, "named");
        expect(&p, linked, "_Z6linkedv");
        expect(&p, member, "ns::S::member");
        struct csni_die die, to;
        const struct csni_unit *target;
        uint64_t off;
        assert_int_equal(csni_die_at(p.image.dwarf, NULL, inlined, &die, NULL), CSN_OK);
        assert_int_equal(csni_die_follow(p.image.dwarf, &die, CSNI_AT_ABSTRACT_ORIGIN, &to, NULL), CSN_OK);
        assert_ptr_equal(to.unit, &p.sup.dwarf->units[1]);
        assert_int_equal(csni_die_target(&die, CSNI_AT_ABSTRACT_ORIGIN, &target, &off), CSN_OK);
        assert_ptr_equal(target, &p.sup.dwarf->units[1]);
        assert_int_equal(off, origin);
        end(&p);
    }
}

/* What stands in the supplement is better missing than half known: "m" is not the name of "ns::S::m". */
static void missing_supplement(void **state) {
    (void)state;
    struct pair p;
    begin(&p, all_forms[0]);
    p.image.supplement = NULL;
    unit(&p);
    uint64_t spec = here_to(&p, SPECIFICATION, 0x20);
    uint64_t named = here_string(&p, NAMED, 9);
    uint64_t linked = here_string(&p, LINKED, 9);
    wire_cstr(&p.image.info, "linked");
    here_to(&p, CLASS_SPECIFICATION, 0x20);
    uint64_t member = here_named(&p, "member");
    wire_u8(&p.image.info, 0);
    unit_end(&p);
    ready(&p);
    assert_int_equal(p.image.dwarf->units[0].producer.len, 0);
    expect(&p, spec, NULL);
    expect_failure(&p, named, CSN_E_NOT_FOUND, ".debug_info+0x17: the DIE refers to a supplementary file that is not there");
    expect(&p, linked, "linked");
    expect_failure(&p, member, CSN_E_NOT_FOUND, ".debug_info+0x28: the DIE refers to a supplementary file that is not there");
    end(&p);
}

/* ---- hostile ---- */

static void references_to_nowhere(void **state) {
    (void)state;
    struct pair p;
    begin(&p, all_forms[0]);
    partial(&p);
    there(&p, METHOD, "m");
    uint64_t null_entry = p.sup.info.size;
    partial_end(&p);
    unit(&p);
    uint64_t in_no_unit = here_to(&p, SPECIFICATION, 0x7777);
    uint64_t in_header = here_to(&p, INLINED, 2);
    uint64_t to_null = here_to(&p, SPECIFICATION, null_entry);
    uint64_t string = here_string(&p, NAMED, 0x1000);
    unit_end(&p);
    ready(&p);
    expect_failure(&p, in_no_unit, CSN_E_FORMAT,
                   "supplement .debug_info+0x7777: the DIE at .debug_info+0x12 of the image refers to here, which is in no unit");
    expect_failure(&p, in_header, CSN_E_FORMAT,
                   "supplement .debug_info+0x2: a DIE is to be here, those of the unit are from 0xc to 0x13");
    expect_failure(&p, to_null, CSN_E_FORMAT, "supplement .debug_info+0x12: a DIE is to be here, there is a null entry");
    expect_failure(&p, string, CSN_E_FORMAT,
                   "supplement .debug_str+0x1000: a string is to be here, the section has 21 bytes");
    end(&p);
}

/* References do not go on from the supplement into a further one, nor back; circles within it end. */
static void further_references(void **state) {
    (void)state;
    struct pair p;
    begin(&p, all_forms[0]);
    partial(&p);
    uint64_t further = there_to(&p, FURTHER, 0xc);
    uint64_t further_name = there_to(&p, FURTHER_NAME, 1);
    uint64_t next = p.sup.info.size;
    uint64_t itself = there_to(&p, ORIGIN, next);
    there_to(&p, SPECIFIED, next + 10);
    uint64_t circle = there_to(&p, ORIGIN, next + 5);
    partial_end(&p);
    unit(&p);
    uint64_t to_further = here_to(&p, SPECIFICATION, further);
    uint64_t to_further_name = here_to(&p, SPECIFICATION, further_name);
    uint64_t to_itself = here_to(&p, INLINED, itself);
    uint64_t to_circle = here_to(&p, SPECIFICATION, circle);
    unit_end(&p);
    ready(&p);
    assert_true(csni_dwarf_has_supplement_references(p.sup.dwarf));
    expect(&p, to_further, NULL);
    expect_failure(&p, to_further_name, CSN_E_NOT_FOUND,
                   "supplement .debug_info+0x12: the DIE refers to a supplementary file that is not there");
    expect(&p, to_itself, NULL);
    expect(&p, to_circle, NULL);
    end(&p);
}

/* A unit of the supplement whose abbreviations are missing: only what leads there has no name. */
static void missing_abbreviations(void **state) {
    (void)state;
    struct pair p;
    begin(&p, all_forms[0]);
    partial(&p);
    uint64_t good = there(&p, METHOD, "good");
    partial_end(&p);
    p.sup.abbrev_off = 0x4000;
    partial(&p);
    uint64_t bad = there(&p, METHOD, "bad");
    partial_end(&p);
    unit(&p);
    uint64_t to_good = here_to(&p, SPECIFICATION, good), to_bad = here_to(&p, SPECIFICATION, bad);
    unit_end(&p);
    struct csni_dwarf_sections sections = dwarf_sample_sections(&p.sup);
    assert_int_equal(csni_dwarf_open(&sections, NULL, &p.sup.dwarf, NULL), CSN_OK);
    for (uint32_t i = 0; i < p.sup.dwarf->abbrev_table_count; i++) csni_dwarf_compile_abbrevs(p.sup.dwarf, i, NULL);
    for (uint32_t i = 0; i < p.sup.dwarf->unit_count; i++) csni_unit_prepare(p.sup.dwarf, &p.sup.dwarf->units[i], NULL);
    dwarf_sample_open(&p.image);
    csni_arena_init(&p.arena, &csni_libc_allocator, 0);
    assert_int_equal(csni_scopes_create(p.image.dwarf, &p.scopes, NULL), CSN_OK);
    expect(&p, to_good, "good");
    expect_failure(&p, to_bad, CSN_E_UNSUPPORTED, "supplement .debug_info+0x20: the unit at 0x13 cannot be read");
    end(&p);
}

/* ---- damage ---- */

static void fill(struct pair *p, struct forms forms) {
    begin(p, forms);
    partial(p);
    there(p, NAMESPACE, "ns");
    uint64_t class = there(p, CLASS, "S");
    uint64_t method = there(p, METHOD, "m");
    wire_u8(&p->sup.info, 0);
    wire_u8(&p->sup.info, 0);
    partial_end(p);
    partial(p);
    uint64_t specified = there_to(p, SPECIFIED, method);
    uint64_t origin = there_to(p, ORIGIN, specified);
    partial_end(p);
    unit(p);
    here_to(p, SPECIFICATION, method);
    here_to(p, INLINED, origin);
    here_string(p, NAMED, wire_cstr(&p->sup.str, "named"));
    here_to(p, CLASS_SPECIFICATION, class);
    here_named(p, "member");
    wire_u8(&p->image.info, 0);
    unit_end(p);
}

static csn_status open_one(const struct csni_dwarf_sections *sections, const struct csn_allocator *alloc,
                           const struct csni_dwarf *supplement, struct csni_dwarf **out) {
    CSNI_TRY(csni_dwarf_open(sections, alloc, out, NULL));
    for (uint32_t i = 0; i < (*out)->abbrev_table_count; i++)
        if (csni_dwarf_compile_abbrevs(*out, i, NULL) == CSN_E_MEMORY) return CSN_E_MEMORY;
    (*out)->supplement = supplement;
    for (uint32_t i = 0; i < (*out)->unit_count; i++)
        if (csni_unit_prepare(*out, &(*out)->units[i], NULL) == CSN_E_MEMORY) return CSN_E_MEMORY;
    return CSN_OK;
}

struct files {
    struct csni_dwarf_sections image, sup;
    size_t names;
};

static csn_status name_all(struct files *f, struct csni_dwarf *dwarf, struct csni_scopes *scopes, struct csni_arena *arena) {
    for (uint32_t i = 0; i < dwarf->unit_count; i++) {
        struct csni_die_walk walk;
        struct csni_die die;
        struct csn_str name;
        if (csni_die_walk_init(&walk, dwarf, &dwarf->units[i], NULL) != CSN_OK) continue;
        while (csni_die_walk_next(&walk, &die, NULL) == CSN_OK) {
            csn_status status = csni_scopes_name(scopes, &dwarf->units[i], &die, arena, &name, NULL);
            if (status == CSN_E_MEMORY) return status;
            f->names += status == CSN_OK;
        }
    }
    return CSN_OK;
}

/* Opens both and asks for every name. CSN_OK or CSN_E_MEMORY. */
static csn_status exercise(void *context, const struct csn_allocator *alloc) {
    struct files *f = context;
    struct csni_dwarf *sup = NULL, *image = NULL;
    struct csni_scopes *scopes = NULL;
    struct csni_arena arena;
    csni_arena_init(&arena, alloc, 0);
    f->names = 0;
    csn_status status = open_one(&f->sup, alloc, NULL, &sup);
    if (status == CSN_OK) status = open_one(&f->image, alloc, sup, &image);
    if (status == CSN_OK) status = csni_scopes_create(image, &scopes, NULL);
    if (status == CSN_OK) status = name_all(f, image, scopes, &arena);
    csni_scopes_destroy(scopes);
    csni_arena_deinit(&arena);
    csni_dwarf_close(image);
    csni_dwarf_close(sup);
    return status;
}

static struct csni_span *section(struct files *f, size_t i) {
    struct csni_span *all[] = { &f->sup.info, &f->sup.abbrev, &f->sup.str, &f->image.info, &f->image.abbrev };
    return i < sizeof all / sizeof *all ? all[i] : NULL;
}

/* Each shorter section sits at the very end of a heap block, so that a sanitizer sees a read past it. */
static void truncations(void **state) {
    (void)state;
    for (size_t form = 0; form < sizeof all_forms / sizeof *all_forms; form++) {
        struct pair p;
        fill(&p, all_forms[form]);
        struct files files = { dwarf_sample_sections(&p.image), dwarf_sample_sections(&p.sup), 0 };
        assert_int_equal(exercise(&files, &csni_libc_allocator), CSN_OK);
        assert_int_equal(files.names, 5);
        for (size_t i = 0; section(&files, i); i++) {
            struct csni_span whole = *section(&files, i);
            for (size_t size = 0; size < whole.size; size++) {
                uint8_t *copy = malloc(size ? size : 1);
                assert_non_null(copy);
                if (size) memcpy(copy, whole.ptr, size);
                *section(&files, i) = (struct csni_span){ copy, size };
                assert_int_equal(exercise(&files, &csni_libc_allocator), CSN_OK);
                free(copy);
            }
            *section(&files, i) = whole;
        }
        dwarf_sample_deinit(&p.image);
        dwarf_sample_deinit(&p.sup);
    }
}

static void flipped_bits(void **state) {
    (void)state;
    struct pair p;
    fill(&p, all_forms[0]);
    struct files files = { dwarf_sample_sections(&p.image), dwarf_sample_sections(&p.sup), 0 };
    for (size_t i = 0; section(&files, i); i++) {
        struct csni_span whole = *section(&files, i);
        uint8_t *copy = malloc(whole.size);
        assert_non_null(copy);
        memcpy(copy, whole.ptr, whole.size);
        *section(&files, i) = (struct csni_span){ copy, whole.size };
        for (size_t bit = 0; bit < 8 * whole.size; bit++) {
            copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
            assert_int_equal(exercise(&files, &csni_libc_allocator), CSN_OK);
            copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        free(copy);
        *section(&files, i) = whole;
    }
    dwarf_sample_deinit(&p.image);
    dwarf_sample_deinit(&p.sup);
}

static void allocation_failures(void **state) {
    (void)state;
    struct pair p;
    fill(&p, all_forms[0]);
    struct files files = { dwarf_sample_sections(&p.image), dwarf_sample_sections(&p.sup), 0 };
    assert_true(test_allocator_sweep(exercise, &files, 0) > 10);
    dwarf_sample_deinit(&p.image);
    dwarf_sample_deinit(&p.sup);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_in_the_supplement),
        cmocka_unit_test(missing_supplement),
        cmocka_unit_test(references_to_nowhere),
        cmocka_unit_test(further_references),
        cmocka_unit_test(missing_abbreviations),
        cmocka_unit_test(truncations),
        cmocka_unit_test(flipped_bits),
        cmocka_unit_test(allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
