/* object: opening Mach-O files: header, load commands, sections, segments; every truncation; every allocation failing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "object/find/section_find.h"
#include "support/macho_sample.h"
#include "object/macho/macho_layout.h"
#include "support/object_sample.h"
#include "support/test_alloc.h"

static void for_each_shape(void (*check)(bool wide, bool big)) {
    for (int shape = 0; shape < 4; shape++) check(shape & 1, shape & 2);
}

/* ---- what a sound file gives ---- */

static void check_sections(const struct csni_object *o) {
    assert_int_equal(o->section_count, 7);
    const struct csni_section *s = o->sections;
    assert_int_equal(s[0].name.len, 0);
    assert_true(csni_str_is(s[MACHO_SAMPLE_TEXT].name, "__text"));
    assert_int_equal(s[MACHO_SAMPLE_TEXT].addr, MACHO_SAMPLE_BASE + 0x100);
    assert_int_equal(s[MACHO_SAMPLE_TEXT].align, 16);
    assert_int_equal(s[MACHO_SAMPLE_TEXT].flags, CSNI_SECTION_ALLOC | CSNI_SECTION_EXEC);
    assert_int_equal(s[MACHO_SAMPLE_STUBS].flags, CSNI_SECTION_ALLOC | CSNI_SECTION_EXEC);
    assert_int_equal(s[MACHO_SAMPLE_DATA].flags, CSNI_SECTION_ALLOC | CSNI_SECTION_WRITE);
    assert_int_equal(s[MACHO_SAMPLE_BSS].flags, CSNI_SECTION_ALLOC | CSNI_SECTION_WRITE | CSNI_SECTION_NOBITS);
    assert_int_equal(s[MACHO_SAMPLE_BSS].size, 0x100);
    assert_int_equal(s[MACHO_SAMPLE_BSS].file_size, 0);
    assert_int_equal(s[MACHO_SAMPLE_INFO].flags, 0);
    assert_int_equal(csni_object_find_section(o, "__bss"), MACHO_SAMPLE_BSS);
    assert_int_equal(csni_object_find_debug_section(o, "info", false), MACHO_SAMPLE_INFO);
    assert_int_equal(csni_object_find_debug_section(o, "str_offsets", false), MACHO_SAMPLE_STR_OFFSETS);
    assert_int_equal(csni_object_find_debug_section(o, "line", false), CSNI_NO_SECTION);
}

static void check_whole(bool wide, bool big) {
    struct macho_sample_file f;
    struct csni_span bytes;
    macho_sample_begin(&f, wide, big);
    assert_int_equal(macho_sample_open(&f), CSN_OK);
    const struct csni_object *o = f.object;
    assert_true(csni_object_recognize(o->file));
    assert_int_equal(o->container, CSNI_CONTAINER_MACHO);
    assert_int_equal(o->kind, CSNI_OBJECT_SHARED);
    assert_int_equal(o->address_size, wide ? 8 : 4);
    assert_int_equal(o->big_endian, big);
    assert_string_equal(o->arch, wide ? "x86_64" : big ? "ppc" : "i386");
    assert_true(o->has_image_base);
    assert_int_equal(o->image_base, MACHO_SAMPLE_BASE);
    assert_int_equal(o->build_id.size, 16);
    assert_memory_equal(o->build_id.ptr, macho_sample_uuid, 16);
    check_sections(o);
    assert_int_equal(o->segment_count, 2); /* neither __PAGEZERO nor __DWARF */
    assert_true(o->segments[0].exec && !o->segments[1].exec);
    assert_int_equal(o->segments[1].addr, MACHO_SAMPLE_BASE + 0x200);
    assert_int_equal(csni_object_read_section(f.object, MACHO_SAMPLE_INFO, &bytes, &f.err), CSN_OK);
    assert_int_equal(bytes.size, 4);
    assert_memory_equal(bytes.ptr, "info", 4);
    assert_int_equal(csni_object_read_section(f.object, MACHO_SAMPLE_BSS, &bytes, &f.err), CSN_OK);
    assert_int_equal(bytes.size, 0);
    macho_sample_end(&f);
}

static void opens_whole_file(void **state) {
    (void)state;
    for_each_shape(check_whole);
}

static void tells_kinds_apart(void **state) {
    (void)state;
    static const struct { uint32_t type, flags; enum csni_object_kind kind; } cases[] = {
        { MH_OBJECT, 0, CSNI_OBJECT_RELOCATABLE }, { MH_EXECUTE, 0, CSNI_OBJECT_EXECUTABLE },
        { MH_EXECUTE, MH_PIE, CSNI_OBJECT_SHARED }, { MH_DYLIB, 0, CSNI_OBJECT_SHARED },
        { MH_BUNDLE, 0, CSNI_OBJECT_SHARED },       { MH_DYLINKER, 0, CSNI_OBJECT_SHARED },
        { MH_KEXT_BUNDLE, 0, CSNI_OBJECT_SHARED },  { MH_DSYM, 0, CSNI_OBJECT_SHARED },
        { MH_CORE, 0, CSNI_OBJECT_CORE },           { MH_FILESET, 0, CSNI_OBJECT_OTHER },
        { 77, 0, CSNI_OBJECT_OTHER },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct macho_sample_file f;
        macho_sample_begin(&f, true, false);
        f.macho.file_type = cases[i].type;
        f.macho.flags = cases[i].flags;
        assert_int_equal(macho_sample_open(&f), CSN_OK);
        assert_int_equal(f.object->kind, cases[i].kind);
        macho_sample_end(&f);
    }
}

static void names_machines(void **state) {
    (void)state;
    static const struct { uint32_t type, subtype; const char *name; } cases[] = {
        { CPU_TYPE_X86_64, 3, "x86_64" },           { CPU_TYPE_X86_64, 0x80000003, "x86_64" },
        { CPU_TYPE_X86_64, 8, "x86_64h" },          { CPU_TYPE_ARM64, 0, "arm64" },
        { CPU_TYPE_ARM64, 2, "arm64e" },            { CPU_TYPE_ARM64, 0x80000002, "arm64e" },
        { CPU_TYPE_ARM64_32, 1, "arm64_32" },       { CPU_TYPE_I386, 3, "i386" },
        { CPU_TYPE_ARM, 9, "armv7" },               { CPU_TYPE_ARM, 11, "armv7s" },
        { CPU_TYPE_ARM, 12, "armv7k" },             { CPU_TYPE_ARM, 99, "arm" },
        { CPU_TYPE_POWERPC, 0, "ppc" },             { CPU_TYPE_POWERPC, 10, "ppc7400" },
        { CPU_TYPE_POWERPC64, 0, "ppc64" },         { 6, 0, "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct macho_sample_file f;
        macho_sample_begin(&f, true, false);
        f.macho.cpu_type = cases[i].type;
        f.macho.cpu_subtype = cases[i].subtype;
        assert_int_equal(macho_sample_open(&f), CSN_OK);
        assert_string_equal(f.object->arch, cases[i].name);
        macho_sample_end(&f);
    }
}

/* A dSYM has flags, addresses and sizes of the image's sections, and offsets of 0. */
static void code_of_dsym_has_no_bytes(void **state) {
    (void)state;
    struct macho_sample_file f;
    struct csni_span bytes;
    macho_sample_begin(&f, true, false);
    f.macho.file_type = MH_DSYM;
    for (int i = 0; i < 3; i++) f.macho.segments[i].file_size = 0;
    for (int i = 0; i < 4; i++) {
        f.macho.sections[i].size = 0x20;
        f.macho.sections[i].bytes.size = 0;
    }
    assert_int_equal(macho_sample_open(&f), CSN_OK);
    const struct csni_section *text = &f.object->sections[MACHO_SAMPLE_TEXT];
    assert_int_equal(text->flags, CSNI_SECTION_ALLOC | CSNI_SECTION_EXEC | CSNI_SECTION_NOBITS);
    assert_int_equal(text->size, 0x20);
    assert_int_equal(text->file_size, 0);
    assert_int_equal(csni_object_read_section(f.object, MACHO_SAMPLE_INFO, &bytes, &f.err), CSN_OK);
    assert_int_equal(bytes.size, 4);
    macho_sample_end(&f);
}

/* The offset field wraps at 4 GB; segment and address tell the rest. */
/* The section's header without its bytes, in a file that tells of another. */
static void index_section_without_bytes(void **state) {
    (void)state;
    static const uint8_t kinds[] = { S_ZEROFILL, S_GB_ZEROFILL, S_THREAD_LOCAL_ZEROFILL };
    for (size_t i = 0; i < sizeof kinds; i++) {
        struct macho_sample_file f;
        struct csni_span found;
        macho_sample_begin(&f, true, false);
        wire_macho_add_segment(&f.macho, "__GSYM", MACHO_SAMPLE_BASE + 0x1000, 0x100, 1);
        struct csni_span none = { NULL, 0 };
        wire_macho_add(&f.macho, "__GSYM", "__gsym", MACHO_SAMPLE_BASE + 0x1000, kinds[i], none)->size = 0x100;
        wire_macho_build(&f.macho, &f.wire, NULL);
        assert_int_equal(csni_section_find_index(wire_span(&f.wire), &found, &f.err), CSN_E_UNSUPPORTED);
        assert_string_equal(csn_error_text(&f.err), "section __gsym has no bytes in this file");
        macho_sample_end(&f);
    }
}

static void offsets_beyond_4_gb(void **state) {
    (void)state;
    struct macho_sample_file f;
    struct wire_macho_places places;
    enum { FILEOFF = 40 };
    macho_sample_begin(&f, true, false);
    wire_macho_build(&f.macho, &f.wire, &places);
    (void)wire_span(&f.wire);
    size_t section_at = places.segments[3] + SEGMENT_COMMAND_64_SIZE + SECTION_64_SIZE; /* __debug_str_offs, at + 4 */
    wire_patch(&f.wire, places.segments[3] + FILEOFF, UINT64_C(0x2fffffffe), 8);
    wire_patch(&f.wire, section_at + 48, 2, 4);
    assert_int_equal(csni_object_open((struct csni_span){ f.wire.bytes, f.wire.size }, NULL, &f.object, &f.err), CSN_OK);
    assert_true(f.object->sections[MACHO_SAMPLE_STR_OFFSETS].file_off == UINT64_C(0x300000002));
    assert_true(f.object->sections[MACHO_SAMPLE_INFO].file_off < f.wire.size);
    macho_sample_end(&f);
}

static void finds_compressed_sections(void **state) {
    (void)state;
    if (!sample_can_compress(SAMPLE_ZDEBUG)) skip();
    struct macho_sample_file f;
    struct wire content;
    struct csni_span bytes;
    macho_sample_begin(&f, true, false);
    wire_init(&content, false);
    sample_compress(&content, SAMPLE_ZDEBUG, true, sample_text(), SAMPLE_TEXT_SIZE);
    struct wire_macho_section *s = &f.macho.sections[MACHO_SAMPLE_STR_OFFSETS - 1];
    memcpy(s->name, "__zdebug_str_off", 16);
    s->bytes = wire_span(&content);
    s->size = s->bytes.size;
    assert_int_equal(macho_sample_open(&f), CSN_OK);
    uint32_t found = csni_object_find_debug_section(f.object, "str_offsets", false);
    assert_int_equal(found, MACHO_SAMPLE_STR_OFFSETS);
    assert_int_equal(csni_object_read_section(f.object, found, &bytes, &f.err), CSN_OK);
    assert_int_equal(bytes.size, SAMPLE_TEXT_SIZE);
    assert_memory_equal(bytes.ptr, sample_text().ptr, SAMPLE_TEXT_SIZE);
    wire_deinit(&content);
    macho_sample_end(&f);
}

/* ---- damage ---- */

/* Opens the sample with 4 bytes at `off` changed. */
static void check_patched(size_t off, uint32_t value, csn_status status, const char *text) {
    struct macho_sample_file f;
    macho_sample_begin(&f, true, false);
    wire_macho_build(&f.macho, &f.wire, NULL);
    (void)wire_span(&f.wire);
    wire_patch(&f.wire, off, value, 4);
    assert_int_equal(csni_object_open((struct csni_span){ f.wire.bytes, f.wire.size }, NULL, &f.object, &f.err), status);
    assert_string_equal(csn_error_text(&f.err), text);
    macho_sample_end(&f);
}

static void names_bad_fields(void **state) {
    (void)state;
    struct macho_sample_file f;
    struct wire_macho_places places;
    macho_sample_begin(&f, true, false);
    wire_macho_build(&f.macho, &f.wire, &places);
    assert_int_equal(f.wire.size, 0x60c);
    macho_sample_end(&f);
    check_patched(20, 0x7fffffff, CSN_E_TRUNCATED, "Mach-O header: 0x7fffffff bytes of load commands, but 0x5ec follow");
    check_patched(16, 100, CSN_E_FORMAT, "load command 9 of 100: 0 bytes of sizeofcmds left, need 8");
    check_patched(places.segments[0] + 4, 7, CSN_E_FORMAT, "load command 0: cmdsize 7, need >= 8 and <= 928");
    check_patched(places.segments[0] + 4, 2000, CSN_E_FORMAT, "load command 0: cmdsize 2000, need >= 8 and <= 928");
    check_patched(places.segments[0] + 4, 64, CSN_E_FORMAT, "load command 0 (0x19): cmdsize 64, need >= 72");
    check_patched(places.segments[1] + 64, 3, CSN_E_FORMAT,
                  "load command 1: 3 sections take 240 bytes, cmdsize leaves 160");
    check_patched(places.segments[1] + 64, 0xffffffff, CSN_E_FORMAT,
                  "load command 1: 4294967295 sections take 343597383600 bytes, cmdsize leaves 160");
    check_patched(places.symtab, LC_DYSYMTAB, CSN_E_FORMAT, "load command 4 (0xb): cmdsize 24, need >= 80");
}

static void names_tables_outside_of_file(void **state) {
    (void)state;
    struct macho_sample_file f;
    struct csni_symbol_iter iter;
    struct wire_macho_places places;
    macho_sample_begin(&f, true, false);
    wire_macho_build(&f.macho, &f.wire, &places);
    (void)wire_span(&f.wire);
    wire_patch(&f.wire, places.symtab + 12, 0x10000000, 4);
    struct csni_span file = { f.wire.bytes, f.wire.size };
    assert_int_equal(csni_object_open(file, NULL, &f.object, &f.err), CSN_OK);
    assert_int_equal(csni_symbol_iter_init(&iter, f.object, CSNI_SYMBOLS_STATIC, &f.err), CSN_E_TRUNCATED);
    assert_string_equal(csn_error_text(&f.err),
                        "symbol table: 268435456 entries of 16 bytes at 0x438, but the file has 0x60c bytes");
    macho_sample_end(&f);
}

static void refuses_short_files(void **state) {
    (void)state;
    static const uint8_t header[27] = { 0xce, 0xfa, 0xed, 0xfe };
    struct csni_object *object = NULL;
    struct csn_error err = CSN_ERROR_INIT;
    assert_int_equal(csni_object_open((struct csni_span){ header, 27 }, NULL, &object, &err), CSN_E_TRUNCATED);
    assert_string_equal(csn_error_text(&err), "Mach-O header: 27 bytes, need 28");
    assert_null(object);
}

static void check_damage(bool wide, bool big) {
    struct macho_sample_file f;
    macho_sample_begin(&f, wide, big);
    wire_macho_build(&f.macho, &f.wire, NULL);
    macho_sample_damage(wire_span(&f.wire), SIZE_MAX);
    macho_sample_end(&f);
}

static void every_damage_is_clean(void **state) {
    (void)state;
    for_each_shape(check_damage);
}

static csn_status use_with(void *context, const struct csn_allocator *alloc) {
    return macho_sample_use(*(struct csni_span *)context, alloc, NULL);
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    struct macho_sample_file f;
    macho_sample_begin(&f, true, false);
    wire_macho_build(&f.macho, &f.wire, NULL);
    struct csni_span file = wire_span(&f.wire);
    assert_true(test_allocator_sweep(use_with, &file, 0) > 10);
    test_allocator_sweep(use_with, &file, 1);
    macho_sample_end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opens_whole_file),
        cmocka_unit_test(tells_kinds_apart),
        cmocka_unit_test(names_machines),
        cmocka_unit_test(code_of_dsym_has_no_bytes),
        cmocka_unit_test(index_section_without_bytes),
        cmocka_unit_test(offsets_beyond_4_gb),
        cmocka_unit_test(finds_compressed_sections),
        cmocka_unit_test(names_bad_fields),
        cmocka_unit_test(names_tables_outside_of_file),
        cmocka_unit_test(refuses_short_files),
        cmocka_unit_test(every_damage_is_clean),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
