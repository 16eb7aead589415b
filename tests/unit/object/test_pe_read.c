/* object: PE images and COFF objects: headers, sections, relocations, build id, bounds of functions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/pe_sample.h"

static struct csni_span content(struct csni_object *object, uint32_t section) {
    struct csni_span bytes = { NULL, 0 };
    assert_int_equal(csni_object_read_section(object, section, &bytes, NULL), CSN_OK);
    return bytes;
}

static void check_image(enum wire_pe_shape shape, uint16_t machine, const char *arch) {
    struct pe_sample s;
    pe_sample_begin(&s, shape, machine);
    assert_int_equal(pe_sample_open(&s), CSN_OK);
    const struct csni_object *o = s.object;
    assert_int_equal(o->container, CSNI_CONTAINER_PE);
    assert_int_equal(o->kind, CSNI_OBJECT_EXECUTABLE);
    assert_int_equal(o->machine, machine);
    assert_string_equal(o->arch, arch);
    assert_int_equal(o->address_size, shape == WIRE_PE_IMAGE64 ? 8 : 4);
    assert_false(o->big_endian);
    assert_true(o->has_image_base && o->image_base == PE_BASE);
    assert_int_equal(o->section_count, PE_SECTIONS);
    assert_int_equal(csni_object_find_section(o, "eight_ch"), PE_RDATA);
    assert_int_equal(csni_object_find_debug_section(o, "info", false), PE_INFO);
    assert_int_equal(csni_object_find_debug_section(o, "line", false), PE_LINE); /* its name by a base 64 offset */
    const struct csni_section *text = &o->sections[PE_TEXT], *bss = &o->sections[PE_BSS], *info = &o->sections[PE_INFO];
    assert_true(text->addr == PE_BASE + PE_TEXT_RVA && text->size == PE_TEXT_SIZE);
    assert_int_equal(text->flags, CSNI_SECTION_ALLOC | CSNI_SECTION_EXEC);
    assert_int_equal(o->sections[PE_DATA].flags, CSNI_SECTION_ALLOC | CSNI_SECTION_WRITE);
    assert_true(bss->size == 0x300 && bss->file_size == 0 && (bss->flags & CSNI_SECTION_NOBITS));
    assert_int_equal(info->flags, 0);
    assert_int_equal(info->file_size, PE_INFO_SIZE); /* not the 32 bytes that the file has */
    struct csni_span bytes = content(s.object, PE_INFO);
    assert_true(bytes.size == PE_INFO_SIZE && bytes.ptr[0] == 0x77 && bytes.ptr[PE_INFO_SIZE - 1] == 0x77);
    assert_int_equal(o->build_id.size, 16);
    assert_memory_equal(o->build_id.ptr, pe_sample_guid, 16);
    assert_int_equal(o->build_id_age, 1);
    pe_sample_end(&s);
}

static void reads_images(void **state) {
    (void)state;
    check_image(WIRE_PE_IMAGE64, IMAGE_FILE_MACHINE_AMD64, "x86_64");
    check_image(WIRE_PE_IMAGE64, IMAGE_FILE_MACHINE_ARM64, "arm64");
    check_image(WIRE_PE_IMAGE32, IMAGE_FILE_MACHINE_I386, "i386");
    check_image(WIRE_PE_IMAGE32, IMAGE_FILE_MACHINE_ARMNT, "armv7");
    check_image(WIRE_PE_IMAGE64, 0x1234, ""); /* a machine nobody knows */
}

static void a_library_is_shared(void **state) {
    (void)state;
    struct pe_sample s;
    pe_sample_begin(&s, WIRE_PE_IMAGE64, IMAGE_FILE_MACHINE_AMD64);
    s.pe.characteristics = IMAGE_FILE_DLL | IMAGE_FILE_EXECUTABLE_IMAGE;
    assert_int_equal(pe_sample_open(&s), CSN_OK);
    assert_int_equal(s.object->kind, CSNI_OBJECT_SHARED);
    pe_sample_end(&s);
}

/* The virtual size is what counts when it is the smaller; without one, all bytes do. */
static void lengths_of_sections(void **state) {
    (void)state;
    struct pe_sample s;
    pe_sample_begin(&s, WIRE_PE_IMAGE64, IMAGE_FILE_MACHINE_AMD64);
    s.sections[PE_INFO - 1].virtual_size = 0;
    s.sections[PE_LINE - 1].virtual_size = 0x1000;
    assert_int_equal(pe_sample_open(&s), CSN_OK);
    assert_true(s.object->sections[PE_INFO].size == 32 && s.object->sections[PE_INFO].file_size == 32);
    assert_true(s.object->sections[PE_LINE].size == 0x1000 && s.object->sections[PE_LINE].file_size == 32);
    assert_int_equal(content(s.object, PE_LINE).size, 32);
    pe_sample_end(&s);
}

static void keeps_names_that_lead_nowhere(void **state) {
    (void)state;
    static const char *const names[] = { "/999999", "//zzzzzz", "/", "//", "/12x" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        struct pe_sample s;
        pe_sample_begin(&s, WIRE_PE_IMAGE64, IMAGE_FILE_MACHINE_AMD64);
        s.sections[PE_BSS - 1].name = names[i];
        assert_int_equal(pe_sample_open(&s), CSN_OK);
        assert_int_equal(csni_object_find_section(s.object, names[i]), PE_BSS);
        pe_sample_end(&s);
    }
}

/* ---- objects ---- */

static void check_object(enum wire_pe_shape shape, bool overflown) {
    struct pe_sample s;
    pe_sample_begin(&s, shape, IMAGE_FILE_MACHINE_AMD64);
    s.sections[PE_XDATA - 1].overflown_relocations = overflown;
    assert_int_equal(pe_sample_open(&s), CSN_OK);
    const struct csni_object *o = s.object;
    assert_int_equal(o->kind, CSNI_OBJECT_RELOCATABLE);
    assert_string_equal(o->arch, "x86_64");
    assert_false(o->has_image_base);
    assert_true(o->sections[PE_TEXT].addr == 0 && o->sections[PE_DATA].addr == 0x50); /* 16 is the default alignment */
    assert_true(o->sections[PE_RDATA].addr == 0x80 && o->sections[PE_RDATA].align == 64);
    assert_int_equal(o->sections[PE_RDATA].flags, CSNI_SECTION_ALLOC | CSNI_SECTION_EXEC | CSNI_SECTION_GROUP);
    assert_int_equal(csni_object_find_debug_section(o, "info", false), PE_XDATA);
    const uint8_t *bytes = content(s.object, PE_XDATA).ptr;
    assert_int_equal(csni_get64(bytes, false), 5);                     /* .text + 5 */
    assert_int_equal(csni_get32(bytes + 8, false), 8);                 /* 8 in .text$b */
    assert_int_equal(csni_get16(bytes + 12, false), PE_TEXT);
    assert_int_equal(csni_get32(bytes + 16, false), 0x88);             /* its address */
    assert_int_equal((int32_t)csni_get32(bytes + 20, false), -24);
    struct csni_relocation_counts counts;
    csni_object_relocation_counts(o, &counts);
    assert_true(!counts.unknown && !counts.damaged);
    pe_sample_end(&s);
}

static void reads_objects(void **state) {
    (void)state;
    for (int overflown = 0; overflown < 2; overflown++) {
        check_object(WIRE_PE_OBJECT, overflown);
        check_object(WIRE_PE_BIGOBJ, overflown);
    }
}

struct machine_relocations {
    uint16_t machine, absolute, addr32, rva, secrel, section, rel32;
};

static void relocations_of_machines(void **state) {
    (void)state;
    static const struct machine_relocations machines[] = {
        { IMAGE_FILE_MACHINE_AMD64, 0, 2, 3, 11, 10, 4 },  { IMAGE_FILE_MACHINE_I386, 0, 6, 7, 11, 10, 20 },
        { IMAGE_FILE_MACHINE_ARMNT, 0, 1, 2, 15, 14, 10 }, { IMAGE_FILE_MACHINE_ARM64, 0, 1, 2, 8, 13, 17 },
    };
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        const struct machine_relocations *m = &machines[i];
        const struct wire_pe_relocation relocations[] = { { 0, 14, m->addr32 }, { 4, 14, m->rva },   { 8, 14, m->secrel },
                                                          { 12, 14, m->section }, { 16, 14, m->rel32 }, { 99, 99, m->absolute } };
        struct pe_sample s;
        pe_sample_begin(&s, WIRE_PE_OBJECT, m->machine);
        wire_patch(&s.parts[PE_XDATA], 0, 0, 8);
        s.sections[PE_XDATA - 1].relocations = relocations;
        s.sections[PE_XDATA - 1].relocation_count = 6;
        assert_int_equal(pe_sample_open(&s), CSN_OK);
        const uint8_t *bytes = content(s.object, PE_XDATA).ptr;
        assert_int_equal(csni_get32(bytes, false), 0x88);
        assert_int_equal(csni_get32(bytes + 4, false), 0x88);
        assert_int_equal(csni_get32(bytes + 8, false), 8);
        assert_int_equal(csni_get16(bytes + 12, false), PE_RDATA);
        assert_int_equal(csni_get32(bytes + 16, false), 0x88 - 20);
        pe_sample_end(&s);
    }
}

static void counts_bad_relocations(void **state) {
    (void)state;
    static const struct wire_pe_relocation relocations[] = {
        { 21, 2, IMAGE_REL_AMD64_ADDR32 }, { 0, 99, IMAGE_REL_AMD64_ADDR32 }, { 0, 2, 77 }, { 0, 2, 78 },
    };
    struct pe_sample s;
    pe_sample_begin(&s, WIRE_PE_OBJECT, IMAGE_FILE_MACHINE_AMD64);
    s.sections[PE_XDATA - 1].relocations = relocations;
    s.sections[PE_XDATA - 1].relocation_count = 4;
    assert_int_equal(pe_sample_open(&s), CSN_OK);
    assert_int_equal(csni_get32(content(s.object, PE_XDATA).ptr, false), 5); /* as it was */
    struct csni_relocation_counts counts;
    csni_object_relocation_counts(s.object, &counts);
    assert_int_equal(counts.unknown, 2);
    assert_int_equal(counts.unknown_type, 77);
    assert_int_equal(counts.damaged, 2);
    pe_sample_end(&s);
}

/* ---- bounds ---- */

static void check_bounds(struct pe_sample *s, const struct csni_function_bound *expected, size_t count) {
    csni_function_bounds bounds = { .alloc = &csni_libc_allocator };
    assert_int_equal(csni_object_function_bounds(s->object, &bounds, NULL), CSN_OK);
    assert_int_equal(bounds.count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(bounds.items[i].start, PE_BASE + PE_TEXT_RVA + expected[i].start);
        assert_int_equal(bounds.items[i].end, PE_BASE + PE_TEXT_RVA + expected[i].end);
    }
    csni_vec_deinit(&bounds);
}

static void bounds_of_amd64(void **state) {
    (void)state;
    static const struct csni_function_bound expected[] = { { 0x10, 0x40 }, { 0x40, 0x70 }, { 0x80, 0x90 } };
    for (int by_name = 0; by_name < 2; by_name++) {
        struct pe_sample s;
        pe_sample_begin(&s, WIRE_PE_IMAGE64, IMAGE_FILE_MACHINE_AMD64);
        if (by_name) s.pe.directories[IMAGE_DIRECTORY_ENTRY_EXCEPTION].size = 0;
        assert_int_equal(pe_sample_open(&s), CSN_OK);
        check_bounds(&s, expected, 3);
        pe_sample_end(&s);
    }
}

static void put_arm_entry(struct wire *w, uint32_t begin, uint32_t data) {
    wire_u32(w, PE_TEXT_RVA + begin);
    wire_u32(w, data);
}

/* Packed lengths count instructions: 4 bytes on ARM64, 2 on ARM, whose addresses have the Thumb bit. */
static void check_arm_bounds(uint16_t machine, enum wire_pe_shape shape, uint32_t unit, uint32_t thumb) {
    static const struct csni_function_bound expected[] = { { 0x10, 0x20 }, { 0x20, 0x50 }, { 0x60, 0x70 } };
    struct pe_sample s;
    pe_sample_begin(&s, shape, machine);
    struct wire *pdata = &s.parts[PE_PDATA];
    pdata->size = 0;
    put_arm_entry(pdata, 0x10 + thumb, 0x10 / unit << ARM_PACKED_LENGTH_SHIFT | 1);
    put_arm_entry(pdata, 0x20 + thumb, PE_XDATA_RVA);
    put_arm_entry(pdata, 0x40 + thumb, 0x10 / unit << ARM_PACKED_LENGTH_SHIFT | ARM_FLAG_FRAGMENT);
    put_arm_entry(pdata, 0x60 + thumb, 0x10 / unit << ARM_PACKED_LENGTH_SHIFT | ARM_FLAG_FRAGMENT);
    wire_patch(&s.parts[PE_XDATA], 0, 0x20 / unit | 1u << 20, 4);
    s.pe.directories[IMAGE_DIRECTORY_ENTRY_EXCEPTION].size = (uint32_t)pdata->size;
    assert_int_equal(pe_sample_open(&s), CSN_OK);
    check_bounds(&s, expected, 3);
    pe_sample_end(&s);
}

static void bounds_of_arm(void **state) {
    (void)state;
    check_arm_bounds(IMAGE_FILE_MACHINE_ARM64, WIRE_PE_IMAGE64, 4, 0);
    check_arm_bounds(IMAGE_FILE_MACHINE_ARMNT, WIRE_PE_IMAGE32, 2, 1);
}

static void no_bounds(void **state) {
    (void)state;
    csni_function_bounds bounds = { .alloc = &csni_libc_allocator };
    struct pe_sample s;
    pe_sample_begin(&s, WIRE_PE_IMAGE32, IMAGE_FILE_MACHINE_I386);
    assert_int_equal(pe_sample_open(&s), CSN_OK);
    assert_int_equal(csni_object_function_bounds(s.object, &bounds, NULL), CSN_NONE);
    pe_sample_end(&s);
    pe_sample_begin(&s, WIRE_PE_OBJECT, IMAGE_FILE_MACHINE_AMD64);
    assert_int_equal(pe_sample_open(&s), CSN_OK);
    assert_int_equal(csni_object_function_bounds(s.object, &bounds, NULL), CSN_NONE);
    pe_sample_end(&s);
}

/* ---- errors ---- */

static void check_error(struct pe_sample *s, csn_status code, const char *text) {
    assert_int_equal(pe_sample_open(s), code);
    assert_string_equal(csn_error_text(&s->err), text);
    pe_sample_end(s);
}

static void begin_image(struct pe_sample *s) {
    pe_sample_begin(s, WIRE_PE_IMAGE64, IMAGE_FILE_MACHINE_AMD64);
    pe_sample_build(s);
}

static void names_what_is_wrong(void **state) {
    (void)state;
    struct pe_sample s;
    begin_image(&s);
    wire_patch(&s.file, DOS_E_LFANEW, 0x12345678, 4);
    s.file.size = 1000;
    check_error(&s, CSN_E_TRUNCATED, "PE header: at 0x12345678, but the file has 0x3e8 bytes");
    begin_image(&s);
    wire_patch(&s.file, DOS_HEADER_SIZE, 'N', 1);
    check_error(&s, CSN_E_UNSUPPORTED, "PE header: begins with 4e 45 00 00, need 50 45 00 00: a DOS program?");
    begin_image(&s);
    wire_patch(&s.file, s.places.optional_header, 0x107, 2);
    check_error(&s, CSN_E_UNSUPPORTED, "optional header: magic 0x107, need 0x10b (PE32) or 0x20b (PE32+)");
    begin_image(&s);
    wire_patch(&s.file, s.places.coff_header + 16, 28, 2);
    check_error(&s, CSN_E_FORMAT, "optional header: 28 bytes, too few for ImageBase");
    begin_image(&s);
    wire_patch(&s.file, s.places.coff_header + 2, 0xffff, 2);
    s.file.size = 0x400;
    check_error(&s, CSN_E_TRUNCATED, "section headers: 65535 of 40 bytes at 0x148, but the file has 0x400 bytes");
    begin_image(&s);
    s.file.size = 20;
    check_error(&s, CSN_E_TRUNCATED, "DOS header: 20 bytes, need 64");
}

static void refuses_implausible_objects(void **state) {
    (void)state;
    struct pe_sample s;
    for (int i = 0; i < 3; i++) {
        pe_sample_begin(&s, WIRE_PE_OBJECT, IMAGE_FILE_MACHINE_AMD64);
        pe_sample_build(&s);
        assert_true(csni_object_recognize(wire_span(&s.file)));
        if (i == 0) wire_patch(&s.file, 0, 0x1234, 2);
        else if (i == 1) wire_patch(&s.file, 8, 4, 4);    /* symbols amid the headers */
        else wire_patch(&s.file, 16, 224, 2);             /* an optional header */
        assert_false(csni_object_recognize(wire_span(&s.file)));
        pe_sample_end(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_images),           cmocka_unit_test(a_library_is_shared),
        cmocka_unit_test(lengths_of_sections),    cmocka_unit_test(keeps_names_that_lead_nowhere),
        cmocka_unit_test(reads_objects),          cmocka_unit_test(relocations_of_machines),
        cmocka_unit_test(counts_bad_relocations), cmocka_unit_test(bounds_of_amd64),
        cmocka_unit_test(bounds_of_arm),          cmocka_unit_test(no_bounds),
        cmocka_unit_test(names_what_is_wrong),    cmocka_unit_test(refuses_implausible_objects),
    };
    return cmocka_run_group_tests_name("pe_read", tests, NULL, NULL);
}
