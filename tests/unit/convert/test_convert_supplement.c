/* convert/: images whose names stand in a supplementary file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "support/convert_sample.h"
#include "support/model_sample.h"
#include "object/elf/elf_layout.h"
#include "support/sweep.h"
#include "support/test_alloc.h"

enum { PARTIAL = 1, NAMESPACE, CLASS, METHOD, FURTHER };
enum { UNIT = 1, SPECIFIED, INLINED, NAMED, OWN };

/* What a test may spoil. */
struct plan {
    bool five;                 /* .debug_sup, else .gnu_debugaltlink */
    bool big, sup_big;
    bool without_link, without_own, names_another, other_id, further;
    uint64_t origin;           /* of the inlined call; 0: as it should be */
};

struct pair {
    struct plan plan;
    struct convert_sample image;
    struct dwarf_sample sup;
    struct wire sup_file;
    uint64_t method, helper;
    struct csni_span bytes;    /* of the supplement, for the resolver */
    bool absent;
    unsigned asked, released;
};

static struct csn_convert_report report;
static struct csn_error err;
static const char id[] = { 1, 2, 3, 4, 5, 6, 7, 8 }, other_id[] = { 1, 2, 3, 4, 5, 6, 7, 9 };

/* ---- the files ---- */

static uint64_t there(struct pair *p, unsigned code, const char *name) {
    uint64_t off = wire_u8(&p->sup.info, code);
    wire_u32(&p->sup.info, (uint32_t)wire_cstr(&p->sup.str, name));
    return off;
}

static void fill_supplement(struct pair *p) {
    struct dwarf_sample *s = &p->sup;
    dwarf_sample_init(s, p->plan.sup_big);
    dwarf_sample_abbrev(s, PARTIAL, DW_TAG_partial_unit, true, 0);
    dwarf_sample_abbrev(s, NAMESPACE, DW_TAG_namespace, true, DW_AT_name, DW_FORM_strp, 0);
    dwarf_sample_abbrev(s, CLASS, DW_TAG_structure_type, true, DW_AT_name, DW_FORM_strp, 0);
    dwarf_sample_abbrev(s, METHOD, DW_TAG_subprogram, false, DW_AT_name, DW_FORM_strp, 0);
    if (p->plan.further)
        dwarf_sample_abbrev(s, FURTHER, DW_TAG_subprogram, false, DW_AT_abstract_origin, DW_FORM_GNU_ref_alt, 0);
    dwarf_sample_abbrevs_end(s);
    size_t unit = dwarf_sample_unit(s);
    wire_u8(&s->info, PARTIAL);
    there(p, NAMESPACE, "ns");
    there(p, CLASS, "S");
    p->method = there(p, METHOD, "m");
    wire_u8(&s->info, 0);
    p->helper = there(p, METHOD, "helper");
    wire_u8(&s->info, 0);
    if (p->plan.further) {
        p->helper = wire_u8(&s->info, FURTHER);
        wire_u32(&s->info, 0xd);
    }
    wire_u8(&s->info, 0);
    dwarf_sample_end(s, unit);
}

static void put_function(struct pair *p, unsigned code, uint64_t value, uint64_t low) {
    struct wire *w = &p->image.dwarf.info;
    wire_u8(w, code);
    wire_u32(w, (uint32_t)value);
    wire_u64(w, low);
    wire_u8(w, 0x10);
}

static void fill_image(struct pair *p) {
    static const struct line lines[] = {
        { 0x1000, 1, 7 }, { 0x1008, 1, 8 }, { 0x1020, 1, 12 }, { 0x1030, 1, 14 }, { 0x1040, LINE_END, 0 }
    };
    struct dwarf_sample *d = &p->image.dwarf;
    int reference = p->plan.five ? DW_FORM_ref_sup4 : DW_FORM_GNU_ref_alt;
    int string = p->plan.five ? DW_FORM_strp_sup : DW_FORM_GNU_strp_alt;
    convert_sample_init(&p->image, 5, p->plan.big);
    convert_sample_lines(&p->image, lines, 5, NULL);
    wire_deinit(&d->abbrev);
    wire_init(&d->abbrev, p->plan.big);
    dwarf_sample_abbrev(d, UNIT, DW_TAG_compile_unit, true, DW_AT_language, DW_FORM_data1, DW_AT_stmt_list,
                        DW_FORM_sec_offset, DW_AT_comp_dir, string, 0);
    dwarf_sample_abbrev(d, SPECIFIED, DW_TAG_subprogram, true, DW_AT_specification, reference, DW_AT_low_pc, DW_FORM_addr,
                        DW_AT_high_pc, DW_FORM_data1, 0);
    dwarf_sample_abbrev(d, INLINED, DW_TAG_inlined_subroutine, false, DW_AT_abstract_origin, reference, DW_AT_low_pc,
                        DW_FORM_addr, DW_AT_high_pc, DW_FORM_data1, DW_AT_call_file, DW_FORM_data1, DW_AT_call_line,
                        DW_FORM_data1, 0);
    dwarf_sample_abbrev(d, NAMED, DW_TAG_subprogram, false, DW_AT_name, string, DW_AT_low_pc, DW_FORM_addr, DW_AT_high_pc,
                        DW_FORM_data1, 0);
    dwarf_sample_abbrev(d, OWN, DW_TAG_subprogram, false, DW_AT_name, DW_FORM_string, DW_AT_low_pc, DW_FORM_addr,
                        DW_AT_high_pc, DW_FORM_data1, 0);
    dwarf_sample_abbrevs_end(d);
    size_t unit = dwarf_sample_unit(d);
    wire_u8(&d->info, UNIT);
    wire_u8(&d->info, DW_LANG_C_plus_plus_14);
    wire_u32(&d->info, (uint32_t)p->image.line_table);
    wire_u32(&d->info, (uint32_t)wire_cstr(&p->sup.str, "/build"));
    put_function(p, SPECIFIED, p->method, 0x1000);
    put_function(p, INLINED, p->plan.origin ? p->plan.origin : p->helper, 0x1004);
    wire_patch(&d->info, d->info.size - 1, 4, 1);
    wire_u8(&d->info, 1);
    wire_u8(&d->info, 9);
    wire_u8(&d->info, 0);
    put_function(p, NAMED, wire_cstr(&p->sup.str, "named"), 0x1020);
    wire_u8(&d->info, OWN);
    wire_cstr(&d->info, "own");
    wire_u64(&d->info, 0x1030);
    wire_u8(&d->info, 0x10);
    wire_u8(&d->info, 0);
    dwarf_sample_end(d, unit);
}

static void put_link(const struct pair *p, struct wire_elf *elf, bool in_supplement) {
    struct wire w;
    wire_init(&w, elf->big);
    const char *own_id = in_supplement && p->plan.other_id ? other_id : id;
    if (p->plan.five) {
        bool names = !in_supplement || p->plan.names_another;
        wire_u16(&w, 5);
        wire_u8(&w, !names);
        wire_cstr(&w, names ? "common.sup" : "");
        wire_uleb(&w, sizeof id);
    } else if (!in_supplement) {
        wire_cstr(&w, "common.sup");
    }
    wire_bytes(&w, own_id, sizeof id);
    if (p->plan.five) wire_elf_add_wire(elf, ".debug_sup", SHT_PROGBITS, 0, 0, &w);
    else if (!in_supplement) wire_elf_add_wire(elf, ".gnu_debugaltlink", SHT_PROGBITS, 0, 0, &w);
    else wire_elf_add_build_id(elf, own_id, sizeof id);
    wire_deinit(&w);
}

static void build(struct pair *p, struct wire_elf *elf, struct dwarf_sample *d, bool in_supplement, struct wire *file) {
    struct { const char *name; struct wire *content; } sections[] = {
        { ".debug_info", &d->info }, { ".debug_abbrev", &d->abbrev }, { ".debug_line", &d->line }, { ".debug_str", &d->str },
    };
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (sections[i].content->size) wire_elf_add_wire(elf, sections[i].name, SHT_PROGBITS, 0, 0, sections[i].content);
    if (in_supplement ? !p->plan.without_own : !p->plan.without_link) put_link(p, elf, in_supplement);
    wire_init(file, elf->big);
    wire_elf_build(elf, file, NULL);
    wire_elf_deinit(elf);
}

static void begin(struct pair *p, struct plan plan) {
    struct wire_elf elf;
    *p = (struct pair){ .plan = plan };
    fill_supplement(p);
    fill_image(p);
    wire_elf_init(&elf, true, plan.sup_big, ET_REL, plan.sup_big ? EM_PPC64 : EM_X86_64);
    build(p, &elf, &p->sup, true, &p->sup_file);
    p->bytes = wire_span(&p->sup_file);
    wire_elf_init(&elf, true, plan.big, ET_DYN, plan.big ? EM_PPC64 : EM_X86_64);
    wire_elf_add_nobits(&elf, ".text", SHF_ALLOC | SHF_EXECINSTR, 0x1000, 0x1000);
    wire_deinit(&p->image.file);
    build(p, &elf, &p->image.dwarf, false, &p->image.file);
}

static void end(struct pair *p) {
    convert_sample_deinit(&p->image);
    dwarf_sample_deinit(&p->sup);
    wire_deinit(&p->sup_file);
}

/* ---- converting ---- */

static void count_release(struct csn_companion *companion) { ((struct pair *)companion->context)->released++; }

static csn_status resolve(void *context, const struct csn_companion_request *request, struct csn_companion *out,
                          struct csn_error *e) {
    (void)e;
    struct pair *p = context;
    if (request->kind != CSN_COMPANION_SUPPLEMENT) return CSN_NONE;
    assert_string_equal(request->name, "common.sup");
    assert_null(request->image_path);
    assert_int_equal(request->id_size, sizeof id);
    assert_memory_equal(request->id, id, sizeof id);
    if (p->absent) return CSN_NONE;
    p->asked++;
    *out = (struct csn_companion){ .bytes = p->bytes.ptr, .size = p->bytes.size, .path = "/dir/common.sup",
                                   .release = count_release, .context = p };
    return CSN_OK;
}

static csn_status convert(struct pair *p, uint32_t threads, const struct csn_allocator *alloc, struct csn_bytes *out) {
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    struct csni_span image = wire_span(&p->image.file);
    options.threads = threads;
    options.resolver = resolve;
    options.resolver_context = p;
    options.allocator = alloc;
    options.max_decompressed_bytes = 1 << 20;
    err = (struct csn_error)CSN_ERROR_INIT;
    p->asked = p->released = 0;
    csn_status status = csn_convert_memory(image.ptr, image.size, &options, out, &report, &err);
    assert_int_equal(p->asked, p->released);
    return status;
}

static void expect(struct pair *p, const char *text, const char *events) {
    struct csn_bytes out;
    if (convert(p, 1, NULL, &out) != CSN_OK) fail_msg("%s", err.text);
    assert_string_equal(index_text(out.ptr, out.size), text);
    assert_string_equal(model_sample_events(&report), events);
    csn_bytes_free(&out);
}

static void expect_failure(struct plan plan, const char *text) {
    struct pair p;
    struct csn_bytes out;
    begin(&p, plan);
    assert_true(convert(&p, 1, NULL, &out) < 0);
    assert_string_equal(err.text, text);
    end(&p);
}

#define FIRST "ns::S::m [1000,1010)\n 1000 a.c:7\n 1008 a.c:8\n"
#define OWN_ALONE "own [1030,1040)\n 1030 a.c:14\n"
#define OTHERS "named [1020,1030)\n 1020 a.c:12\n" OWN_ALONE
#define WHOLE FIRST " >ns::helper [1004,1008) a.c:9\n" OTHERS

static void expect_example(const char *text) {
    assert_string_equal(report.events[CSN_EVENT_MISSING_SUPPLEMENT].example, text);
}

/* ---- tests ---- */

static void names_from_the_supplement(void **state) {
    (void)state;
    for (int i = 0; i < 4; i++) {
        struct pair p;
        struct csn_bytes one, many;
        begin(&p, (struct plan){ .five = i & 1, .big = i & 2, .sup_big = i & 2 });
        expect(&p, WHOLE, "");
        assert_int_equal(p.asked, 1);
        assert_int_equal(convert(&p, 1, NULL, &one), CSN_OK);
        assert_int_equal(convert(&p, 4, NULL, &many), CSN_OK);
        assert_int_equal(one.size, many.size);
        assert_memory_equal(one.ptr, many.ptr, one.size);
        csn_bytes_free(&one);
        csn_bytes_free(&many);
        end(&p);
    }
}

static void missing(void **state) {
    (void)state;
    for (int five = 0; five < 2; five++) {
        struct pair p;
        begin(&p, (struct plan){ .five = five });
        p.absent = true;
        expect(&p, OWN_ALONE, "missing-supplement:1");
        expect_example("common.sup");
        end(&p);
        begin(&p, (struct plan){ .five = five, .without_link = true });
        expect(&p, OWN_ALONE, "missing-supplement:1");
        expect_example("neither .gnu_debugaltlink nor .debug_sup names it");
        assert_int_equal(p.asked, 0);
        end(&p);
    }
}

static void another_file(void **state) {
    (void)state;
    expect_failure((struct plan){ .other_id = true },
                   "/dir/common.sup has build id 0102030405060709, the image needs 0102030405060708");
    expect_failure((struct plan){ .five = true, .other_id = true },
                   "/dir/common.sup has checksum 0102030405060709, the image needs 0102030405060708");
    expect_failure((struct plan){ .five = true, .without_own = true },
                   "/dir/common.sup is no supplementary file: its .debug_sup is missing");
    expect_failure((struct plan){ .five = true, .names_another = true },
                   "/dir/common.sup is no supplementary file: its .debug_sup names another");
    expect_failure((struct plan){ .sup_big = true }, "/dir/common.sup is big-endian, the image is not");
    expect_failure((struct plan){ .big = true }, "/dir/common.sup is little-endian, the image is not");
}

/* The image itself as its supplement: its own link makes it none (DWARF 5), or it has no build id that could be wrong. */
static void itself(void **state) {
    (void)state;
    struct pair p;
    struct csn_bytes out;
    begin(&p, (struct plan){ .five = true });
    p.bytes = wire_span(&p.image.file);
    assert_int_equal(convert(&p, 1, NULL, &out), CSN_E_FORMAT);
    assert_string_equal(err.text, "/dir/common.sup is no supplementary file: its .debug_sup names another");
    end(&p);
    begin(&p, (struct plan){ .five = false });
    p.bytes = wire_span(&p.image.file);
    if (convert(&p, 1, NULL, &out) != CSN_OK) fail_msg("%s", err.text);
    assert_true(report.events[CSN_EVENT_MISSING_SUPPLEMENT].count > 0);
    csn_bytes_free(&out);
    end(&p);
}

static void references_to_nowhere(void **state) {
    (void)state;
    struct pair p;
    begin(&p, (struct plan){ .origin = 0x7777 });
    expect(&p, FIRST " > [1004,1008) a.c:9\n" OTHERS, "missing-supplement:1");
    expect_example("supplement .debug_info+0x7777: the DIE at .debug_info+0x24 of the image refers to here, which is in no unit");
    end(&p);
    begin(&p, (struct plan){ .further = true });
    expect(&p, FIRST " > [1004,1008) a.c:9\n" OTHERS, "missing-supplement:1");
    expect_example("common.sup refers to a further one");
    end(&p);
}

/* ---- damage ---- */

/* Whatever the supplement is: a failure with a text, or an index. */
static void convert_any(struct pair *p, const uint8_t *bytes, size_t size) {
    struct csn_bytes out = { NULL, 0, NULL };
    p->bytes = (struct csni_span){ bytes, size };
    csn_status status = convert(p, 1, NULL, &out);
    if (status < 0) assert_true(err.code == status && err.text[0]);
    else index_text(out.ptr, out.size);
    csn_bytes_free(&out);
}

static void truncations(void **state) {
    (void)state;
    for (int five = 0; five < 2; five++) {
        struct pair p;
        begin(&p, (struct plan){ .five = five });
        struct csni_span whole = p.bytes;
        for (size_t size = 0; size < whole.size; size++) {
            uint8_t *copy = malloc(size ? size : 1);
            assert_non_null(copy);
            if (size) memcpy(copy, whole.ptr, size);
            convert_any(&p, copy, size);
            free(copy);
        }
        end(&p);
    }
}

static void flipped_bits(void **state) {
    (void)state;
    for (int five = 0; five < 2; five++) {
        struct pair p;
        begin(&p, (struct plan){ .five = five });
        struct csni_span whole = p.bytes;
        uint8_t *copy = malloc(whole.size);
        assert_non_null(copy);
        memcpy(copy, whole.ptr, whole.size);
        for (size_t bit = (size_t)five; bit < 8 * whole.size; bit += 3 * SWEEP_STEP) {
            copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
            convert_any(&p, copy, whole.size);
            copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        free(copy);
        end(&p);
    }
}

static csn_status convert_step(void *context, const struct csn_allocator *alloc) {
    struct csn_bytes out = { NULL, 0, NULL };
    csn_status status = convert(context, 1, alloc, &out);
    csn_bytes_free(&out);
    return status;
}

static void allocation_failures(void **state) {
    (void)state;
    struct pair p;
    begin(&p, (struct plan){ .five = true });
    assert_true(test_allocator_sweep(convert_step, &p, 0) > 10);
    end(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_from_the_supplement),
        cmocka_unit_test(missing),
        cmocka_unit_test(another_file),
        cmocka_unit_test(itself),
        cmocka_unit_test(references_to_nowhere),
        cmocka_unit_test(truncations),
        cmocka_unit_test(flipped_bits),
        cmocka_unit_test(allocation_failures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
