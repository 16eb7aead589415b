/* object: opening ELF files: headers, sections, segments, build id; every truncation; every allocation failing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "object/elf/elf_layout.h"
#include "support/object_sample.h"
#include "support/test_alloc.h"

/* A file being damaged by a test, and what came of opening it. */
struct sample {
    struct wire_elf elf;
    struct wire_elf_places places;
    struct wire file;
    struct csni_object *object;
    struct csn_error err;
};

static void begin(struct sample *s, bool wide, bool big) {
    memset(s, 0, sizeof *s);
    sample_elf(&s->elf, wide, big);
    wire_init(&s->file, big);
}

static void begin_empty(struct sample *s, bool wide, bool big, uint16_t type) {
    memset(s, 0, sizeof *s);
    wire_elf_init(&s->elf, wide, big, type, EM_X86_64);
    wire_init(&s->file, big);
}

static void build(struct sample *s) { wire_elf_build(&s->elf, &s->file, &s->places); }

static csn_status open_file(struct sample *s) {
    s->err = (struct csn_error)CSN_ERROR_INIT;
    return csni_object_open(wire_span(&s->file), NULL, &s->object, &s->err);
}

static void end(struct sample *s) {
    csni_object_close(s->object);
    wire_elf_deinit(&s->elf);
    wire_deinit(&s->file);
}

#define assert_text(s, text) assert_string_equal(csn_error_text(&(s)->err), (text))

static void for_each_shape(void (*check)(bool wide, bool big)) {
    for (int shape = 0; shape < 4; shape++) check(shape & 1, shape & 2);
}

/* ---- what a sound file gives ---- */

static void check_sections(const struct csni_object *o) {
    assert_int_equal(csni_object_find_section(o, ".nothing"), CSNI_NO_SECTION);
    uint32_t text = csni_object_find_section(o, ".text"), bss = csni_object_find_section(o, ".bss");
    assert_int_equal(text, 1);
    assert_int_equal(o->sections[text].addr, 0x401000);
    assert_int_equal(o->sections[text].size, 4);
    assert_int_equal(o->sections[text].file_size, 4);
    assert_int_equal(o->sections[text].flags, CSNI_SECTION_ALLOC | CSNI_SECTION_EXEC);
    assert_int_equal(o->sections[bss].size, 0x1000);
    assert_int_equal(o->sections[bss].file_size, 0);
    assert_int_equal(o->sections[bss].flags, CSNI_SECTION_ALLOC | CSNI_SECTION_WRITE | CSNI_SECTION_NOBITS);
    uint32_t symtab = csni_object_find_section(o, ".symtab");
    assert_int_equal(o->sections[symtab].link, csni_object_find_section(o, ".strtab"));
    assert_int_equal(o->sections[symtab].type, SHT_SYMTAB);
    uint32_t info = csni_object_find_debug_section(o, "info", false);
    assert_true(info != CSNI_NO_SECTION);
    assert_int_equal(o->sections[info].size, SAMPLE_TEXT_SIZE);
    assert_true(sample_can_compress(SAMPLE_ZLIB) == (o->sections[info].file_size < SAMPLE_TEXT_SIZE));
}

static void check_whole(bool wide, bool big) {
    struct sample s;
    begin(&s, wide, big);
    build(&s);
    assert_true(csni_object_recognize(wire_span(&s.file)));
    assert_int_equal(open_file(&s), CSN_OK);
    const struct csni_object *o = s.object;
    assert_int_equal(o->container, CSNI_CONTAINER_ELF);
    assert_int_equal(o->kind, CSNI_OBJECT_EXECUTABLE);
    assert_int_equal(o->machine, wide ? EM_X86_64 : EM_386);
    assert_string_equal(o->arch, wide ? "x86_64" : "i386");
    assert_int_equal(o->address_size, wide ? 8 : 4);
    assert_int_equal(o->big_endian, big);
    assert_int_equal(o->section_count, s.elf.section_count + 1);
    check_sections(o);
    assert_int_equal(o->segment_count, 2);
    assert_true(o->segments[0].exec && !o->segments[1].exec);
    assert_int_equal(o->segments[0].file_off, s.places.section_off[1]);
    assert_int_equal(o->segments[1].size, 0x1000);
    assert_int_equal(o->segments[1].file_size, 0);
    assert_true(o->has_image_base);
    assert_int_equal(o->image_base, 0x401000);
    assert_int_equal(o->build_id.size, sizeof sample_build_id);
    assert_memory_equal(o->build_id.ptr, sample_build_id, sizeof sample_build_id);
    end(&s);
}

static void opens_whole_file(void **state) {
    (void)state;
    for_each_shape(check_whole);
}

static void tells_kinds_apart(void **state) {
    (void)state;
    static const struct { uint16_t type; enum csni_object_kind kind; } cases[] = {
        { ET_REL, CSNI_OBJECT_RELOCATABLE }, { ET_EXEC, CSNI_OBJECT_EXECUTABLE }, { ET_DYN, CSNI_OBJECT_SHARED },
        { ET_CORE, CSNI_OBJECT_CORE },       { 0, CSNI_OBJECT_OTHER },            { 0xfe00, CSNI_OBJECT_OTHER },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sample s;
        begin_empty(&s, true, false, cases[i].type);
        build(&s);
        assert_int_equal(open_file(&s), CSN_OK);
        assert_int_equal(s.object->kind, cases[i].kind);
        assert_false(s.object->has_image_base);
        assert_int_equal(s.object->build_id.size, 0);
        end(&s);
    }
}

static void check_extended_numbering(bool wide, bool big) {
    struct sample s;
    begin(&s, wide, big);
    s.elf.extended_numbering = true;
    build(&s);
    assert_int_equal(open_file(&s), CSN_OK);
    assert_int_equal(s.object->section_count, s.elf.section_count + 1);
    assert_int_equal(s.object->segment_count, 2);
    check_sections(s.object);
    end(&s);
}

static void reads_extended_numbering(void **state) {
    (void)state;
    for_each_shape(check_extended_numbering);
}

static void check_without_section_headers(bool wide, bool big) {
    struct sample s;
    begin(&s, wide, big);
    s.elf.without_section_headers = true;
    build(&s);
    assert_int_equal(open_file(&s), CSN_OK);
    assert_int_equal(s.object->section_count, 0);
    assert_int_equal(s.object->segment_count, 2);
    assert_int_equal(s.object->image_base, 0x401000);
    assert_int_equal(s.object->build_id.size, sizeof sample_build_id);
    assert_memory_equal(s.object->build_id.ptr, sample_build_id, sizeof sample_build_id);
    assert_int_equal(csni_object_find_debug_section(s.object, "info", false), CSNI_NO_SECTION);
    struct csni_symbol_iter iter;
    assert_int_equal(csni_symbol_iter_init(&iter, s.object, CSNI_SYMBOLS_STATIC, &s.err), CSN_NONE);
    end(&s);
}

static void reads_file_without_section_headers(void **state) {
    (void)state;
    for_each_shape(check_without_section_headers);
}

/* As objcopy --only-keep-debug leaves it: code without bytes, flags as they were. */
static void keeps_code_flags_without_bytes(void **state) {
    (void)state;
    struct sample s;
    begin_empty(&s, true, false, ET_DYN);
    wire_elf_add_nobits(&s.elf, ".text", SHF_ALLOC | SHF_EXECINSTR, 0x1000, UINT64_C(0x7fff000000));
    build(&s);
    assert_int_equal(open_file(&s), CSN_OK);
    const struct csni_section *text = &s.object->sections[1];
    assert_int_equal(text->flags, CSNI_SECTION_ALLOC | CSNI_SECTION_EXEC | CSNI_SECTION_NOBITS);
    assert_true(text->size == UINT64_C(0x7fff000000) && text->file_size == 0);
    struct csni_span bytes = { (const uint8_t *)"x", 1 };
    assert_int_equal(csni_object_read_section(s.object, 1, &bytes, &s.err), CSN_OK);
    assert_int_equal(bytes.size, 0);
    end(&s);
}

static void finds_debug_sections(void **state) {
    (void)state;
    struct csni_span none = { NULL, 0 };
    struct sample s;
    begin_empty(&s, true, false, ET_REL);
    uint32_t type_info = wire_elf_add(&s.elf, ".debug_info", SHT_PROGBITS, SHF_GROUP, 0, none);
    uint32_t info = wire_elf_add(&s.elf, ".debug_info", SHT_PROGBITS, 0, 0, none);
    uint32_t dwo = wire_elf_add(&s.elf, ".debug_info.dwo", SHT_PROGBITS, 0, 0, none);
    uint32_t line = wire_elf_add(&s.elf, ".zdebug_line", SHT_PROGBITS, 0, 0, none);
    uint32_t types = wire_elf_add(&s.elf, ".debug_types", SHT_PROGBITS, SHF_GROUP, 0, none);
    wire_elf_add(&s.elf, ".debug_types", SHT_PROGBITS, SHF_GROUP, 0, none);
    wire_elf_add(&s.elf, ".debug_", SHT_PROGBITS, 0, 0, none);
    build(&s);
    assert_int_equal(open_file(&s), CSN_OK);
    assert_int_equal(csni_object_find_section(s.object, ".debug_info"), type_info);
    assert_int_equal(csni_object_find_debug_section(s.object, "info", false), info);
    assert_int_equal(csni_object_find_debug_section(s.object, "info", true), dwo);
    assert_int_equal(csni_object_find_debug_section(s.object, "line", false), line);
    assert_int_equal(csni_object_find_debug_section(s.object, "line", true), CSNI_NO_SECTION);
    assert_int_equal(csni_object_find_debug_section(s.object, "types", false), types);
    assert_int_equal(csni_object_find_debug_section(s.object, "str", false), CSNI_NO_SECTION);
    end(&s);
}

/* ---- build ids ---- */

static void put_note(struct wire *w, const char *name, uint32_t type, const char *desc, size_t desc_size, size_t align) {
    wire_u32(w, strlen(name) + 1);
    wire_u32(w, desc_size);
    wire_u32(w, type);
    wire_cstr(w, name);
    wire_align(w, align);
    wire_bytes(w, desc, desc_size);
    wire_align(w, align);
}

static void check_build_id_behind_notes(size_t align, bool big) {
    struct wire w;
    wire_init(&w, big);
    put_note(&w, "GNU", 5, "properties!!", 12, align);
    put_note(&w, "Linux!", NT_GNU_BUILD_ID, "other owner", 11, align);
    put_note(&w, "GNU", NT_GNU_BUILD_ID, "", 0, align);
    put_note(&w, "GNU", NT_GNU_BUILD_ID, "id", 2, align);
    struct sample s;
    begin_empty(&s, true, big, ET_EXEC);
    uint32_t section = wire_elf_add_wire(&s.elf, ".notes", SHT_NOTE, SHF_ALLOC, 0, &w);
    s.elf.sections[section].align = align;
    build(&s);
    assert_int_equal(open_file(&s), CSN_OK);
    assert_int_equal(s.object->build_id.size, 2);
    assert_memory_equal(s.object->build_id.ptr, "id", 2);
    end(&s);
    wire_deinit(&w);
}

static void finds_build_id_behind_other_notes(void **state) {
    (void)state;
    check_build_id_behind_notes(4, false);
    check_build_id_behind_notes(8, false);
    check_build_id_behind_notes(4, true);
    check_build_id_behind_notes(8, true);
}

/* Where sections do not tell, program headers do: in what is stripped of section headers, and where the section that should have it
 * has no bytes. */
static void finds_build_id_in_segments(void **state) {
    (void)state;
    for (unsigned k = 0; k < 3; k++) {
        struct wire w;
        wire_init(&w, false);
        put_note(&w, "GNU", NT_GNU_BUILD_ID, "mine", 4, 4);
        struct sample s;
        begin_empty(&s, k & 1, false, ET_EXEC);
        uint32_t section = wire_elf_add_wire(&s.elf, ".data", SHT_PROGBITS, SHF_ALLOC, 0x1000, &w);
        if (k == 1) wire_elf_add_build_id(&s.elf, "far away", 8);
        if (k == 2) wire_elf_add_nobits(&s.elf, ".note.gnu.build-id", SHF_ALLOC, 0x2000, 20);
        wire_elf_add_segment(&s.elf, (struct wire_segment){ PT_NOTE, 4, 0x1000, 20, section, 4 });
        s.elf.without_section_headers = k == 0;
        build(&s);
        if (k == 1) /* sh_offset of a section behind the end of the file */
            wire_patch(&s.file, s.places.section_headers + 2 * s.places.section_header_size + 24, 1 << 20, 8);
        assert_int_equal(open_file(&s), CSN_OK);
        assert_int_equal(s.object->build_id.size, 4);
        assert_memory_equal(s.object->build_id.ptr, "mine", 4);
        end(&s);
        wire_deinit(&w);
    }
}

/* Some machines have a name for each width or byte order. */
static void names_machines(void **state) {
    (void)state;
    static const struct { uint16_t machine; bool wide, big; const char *arch; } cases[] = {
        { EM_MIPS, true, true, "mips64" }, { EM_MIPS, false, false, "mips" }, { EM_S390, true, true, "s390x" },
        { EM_S390, false, true, "s390" }, { EM_RISCV, true, false, "riscv64" }, { EM_RISCV, false, false, "riscv32" },
        { EM_LOONGARCH, true, false, "loongarch64" }, { EM_LOONGARCH, false, false, "loongarch32" },
        { EM_BPF, true, true, "bpfeb" }, { EM_BPF, true, false, "bpfel" }, { EM_PARISC, true, true, "hppa64" },
        { EM_PARISC, false, true, "hppa" },
        { EM_PPC64, true, false, "ppc64" }, { 0xfffe, true, false, "" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct sample s;
        begin_empty(&s, cases[i].wide, cases[i].big, ET_EXEC);
        s.elf.machine = cases[i].machine;
        build(&s);
        assert_int_equal(open_file(&s), CSN_OK);
        assert_string_equal(s.object->arch, cases[i].arch);
        end(&s);
    }
}

static void prefers_build_id_of_its_own_section(void **state) {
    (void)state;
    struct wire w;
    wire_init(&w, false);
    put_note(&w, "GNU", NT_GNU_BUILD_ID, "wrong", 5, 4);
    struct sample s;
    begin_empty(&s, false, false, ET_EXEC);
    wire_elf_add_wire(&s.elf, ".note.package", SHT_NOTE, 0, 0, &w);
    uint32_t own = wire_elf_add_build_id(&s.elf, "right", 5);
    s.elf.sections[own].type = SHT_PROGBITS; /* some linker scripts */
    build(&s);
    assert_int_equal(open_file(&s), CSN_OK);
    assert_memory_equal(s.object->build_id.ptr, "right", 5);
    end(&s);
    wire_deinit(&w);
}

static void survives_damaged_notes(void **state) {
    (void)state;
    static const uint32_t sizes[][2] = { { 0xffffffff, 4 }, { 4, 0xffffffff }, { 0xfffffffd, 0xfffffffd }, { 40, 0 } };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct wire w;
        wire_init(&w, false);
        wire_u32(&w, sizes[i][0]);
        wire_u32(&w, sizes[i][1]);
        wire_u32(&w, NT_GNU_BUILD_ID);
        wire_bytes(&w, "GNU\0idid", 8);
        struct sample s;
        begin_empty(&s, true, false, ET_EXEC);
        wire_elf_add_wire(&s.elf, ".note.gnu.build-id", SHT_NOTE, 0, 0, &w);
        build(&s);
        assert_int_equal(open_file(&s), CSN_OK);
        assert_int_equal(s.object->build_id.size, 0);
        end(&s);
        wire_deinit(&w);
    }
}

/* ---- places of sections in relocatable objects ---- */

static void places_sections_of_relocatable(void **state) {
    (void)state;
    static const uint8_t bytes[24];
    struct sample s;
    begin_empty(&s, true, false, ET_REL);
    uint64_t code = SHF_ALLOC | SHF_EXECINSTR;
    uint32_t text = wire_elf_add(&s.elf, ".text", SHT_PROGBITS, code, 0, (struct csni_span){ bytes, 5 });
    uint32_t data = wire_elf_add(&s.elf, ".data", SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 0, (struct csni_span){ bytes, 3 });
    uint32_t debug = wire_elf_add(&s.elf, ".debug_info", SHT_PROGBITS, 0, 0, (struct csni_span){ bytes, 24 });
    uint32_t bss = wire_elf_add_nobits(&s.elf, ".bss", SHF_ALLOC | SHF_WRITE, 0, 0x20);
    uint32_t hot = wire_elf_add(&s.elf, ".text.hot", SHT_PROGBITS, code, 0, (struct csni_span){ bytes, 24 });
    s.elf.sections[data].align = 4;
    s.elf.sections[bss].align = 32;
    s.elf.sections[hot].align = 7; /* no power of two: ignored */
    build(&s);
    assert_int_equal(open_file(&s), CSN_OK);
    assert_int_equal(s.object->sections[text].addr, 0);
    assert_int_equal(s.object->sections[data].addr, 8);
    assert_int_equal(s.object->sections[debug].addr, 0);
    assert_int_equal(s.object->sections[bss].addr, 32);
    assert_int_equal(s.object->sections[hot].addr, 64);
    end(&s);

    begin_empty(&s, true, false, ET_REL);
    text = wire_elf_add(&s.elf, ".text", SHT_PROGBITS, code, 0, (struct csni_span){ bytes, 5 });
    data = wire_elf_add(&s.elf, ".fixed", SHT_PROGBITS, SHF_ALLOC, 0x100, (struct csni_span){ bytes, 3 });
    build(&s);
    assert_int_equal(open_file(&s), CSN_OK);
    assert_int_equal(s.object->sections[text].addr, 0x103);
    assert_int_equal(s.object->sections[data].addr, 0x100);
    end(&s);
}

static void refuses_places_beyond_64_bits(void **state) {
    (void)state;
    struct sample s;
    begin_empty(&s, true, false, ET_REL);
    wire_elf_add_nobits(&s.elf, ".a", SHF_ALLOC, 0, UINT64_MAX - 1);
    wire_elf_add_nobits(&s.elf, ".b", SHF_ALLOC, 0, 2);
    build(&s);
    assert_int_equal(open_file(&s), CSN_E_FORMAT);
    assert_text(&s, "section 2: 0x2 bytes after 0xfffffffffffffffe exceed 64-bit addresses");
    end(&s);
}

/* ---- damage ---- */

static csn_status open_bytes(const void *bytes, size_t size, struct csn_error *err) {
    struct csni_object *object = NULL;
    struct csni_span copy = sample_copy((struct csni_span){ bytes, size }, size);
    csn_status status = csni_object_open(copy, NULL, &object, err);
    assert_true(status == CSN_OK || !object); /* outputs stay untouched on failure */
    csni_object_close(object);
    sample_free(copy);
    return status;
}

static void refuses_other_files(void **state) {
    (void)state;
    struct csn_error err = CSN_ERROR_INIT;
    assert_false(csni_object_recognize((struct csni_span){ NULL, 0 }));
    assert_int_equal(csni_object_open((struct csni_span){ NULL, 0 }, NULL, NULL, &err), CSN_E_UNSUPPORTED);
    assert_string_equal(csn_error_text(&err), "not an object file: 0 bytes, any header is longer");
    assert_int_equal(open_bytes("#!/bin/sh\n", 10, &err), CSN_E_UNSUPPORTED);
    assert_string_equal(csn_error_text(&err),
                        "not an object file: begins with 23 21 2f 62, unlike ELF, Mach-O, PE, COFF and WebAssembly");
    assert_int_equal(open_bytes("\x7f" "ELF", 4, &err), CSN_E_TRUNCATED);
    assert_string_equal(csn_error_text(&err), "ELF header: 4 bytes, need 52");
}

/* Overwrites `size` bytes of the built file and opens it. */
static csn_status open_patched(struct sample *s, size_t off, uint64_t value, unsigned size) {
    csni_object_close(s->object);
    s->object = NULL;
    uint8_t kept[8];
    memcpy(kept, s->file.bytes + off, size);
    wire_patch(&s->file, off, value, size);
    csn_status status = open_file(s);
    if (status == CSN_OK) csni_object_close(s->object); /* it borrows the bytes */
    s->object = NULL;
    memcpy(s->file.bytes + off, kept, size);
    return status;
}

enum { OFF_CLASS = 4, OFF_DATA = 5, OFF64_PHOFF = 32, OFF64_SHOFF = 40, OFF64_PHENTSIZE = 54, OFF64_PHNUM = 56,
       OFF64_SHENTSIZE = 58, OFF64_SHNUM = 60, OFF64_SHSTRNDX = 62 };

static void names_bad_header_fields(void **state) {
    (void)state;
    struct sample s;
    begin(&s, true, false);
    build(&s);
    assert_int_equal(open_patched(&s, OFF_CLASS, 0, 1), CSN_E_UNSUPPORTED);
    assert_text(&s, "ELF header: class 0, need 1 (32-bit) or 2 (64-bit)");
    assert_int_equal(open_patched(&s, OFF_CLASS, 3, 1), CSN_E_UNSUPPORTED);
    assert_int_equal(open_patched(&s, OFF_DATA, 3, 1), CSN_E_UNSUPPORTED);
    assert_text(&s, "ELF header: byte order 3, need 1 (little-endian) or 2 (big-endian)");
    assert_int_equal(open_patched(&s, OFF64_SHENTSIZE, 63, 2), CSN_E_FORMAT);
    assert_text(&s, "section headers: entries of 63 bytes, need >= 64");
    assert_int_equal(open_patched(&s, OFF64_PHENTSIZE, 55, 2), CSN_E_FORMAT);
    assert_text(&s, "program headers: entries of 55 bytes, need >= 56");
    assert_int_equal(open_patched(&s, OFF64_SHSTRNDX, 200, 2), CSN_E_FORMAT);
    assert_text(&s, "ELF header: names in section 200 of 12");
    assert_int_equal(open_patched(&s, OFF64_SHNUM, 0xfe00, 2), CSN_E_TRUNCATED);
    assert_int_equal(open_patched(&s, OFF64_PHNUM, 0xfffe, 2), CSN_E_TRUNCATED);
    assert_int_equal(open_patched(&s, OFF64_SHOFF, UINT64_MAX - 8, 8), CSN_E_TRUNCATED);
    assert_int_equal(open_patched(&s, OFF64_PHOFF, UINT64_MAX, 8), CSN_E_TRUNCATED);
    assert_int_equal(open_patched(&s, OFF64_SHOFF, 0, 8), CSN_OK);
    assert_int_equal(open_patched(&s, OFF64_PHNUM, 0, 2), CSN_OK);
    assert_int_equal(open_patched(&s, OFF64_SHSTRNDX, 0, 2), CSN_OK);
    assert_int_equal(open_patched(&s, OFF_DATA, 2, 1), CSN_E_TRUNCATED);
    end(&s);
}

static void names_truncated_section_headers(void **state) {
    (void)state;
    struct sample s;
    char expected[160];
    begin(&s, true, false);
    build(&s);
    struct csn_error err = CSN_ERROR_INIT;
    assert_int_equal(open_bytes(s.file.bytes, s.file.size - 1, &err), CSN_E_TRUNCATED);
    snprintf(expected, sizeof expected,
             "section headers: %u entries of 64 bytes at e_shoff 0x%zx, but the file has 0x%zx bytes",
             s.elf.section_count + 1, s.places.section_headers, s.file.size - 1);
    assert_string_equal(csn_error_text(&err), expected);
    assert_true(err.offset == s.places.section_headers);
    end(&s);
}

/* Extended numbering gives 64-bit counts: none may pass for a small one. */
static void refuses_huge_extended_counts(void **state) {
    (void)state;
    struct sample s;
    begin(&s, true, false);
    s.elf.extended_numbering = true;
    build(&s);
    size_t size_field = s.places.section_headers + 32, info_field = s.places.section_headers + 44;
    assert_int_equal(open_patched(&s, size_field, UINT64_MAX, 8), CSN_E_TRUNCATED);
    assert_int_equal(open_patched(&s, size_field, UINT64_C(1) << 58, 8), CSN_E_TRUNCATED);
    assert_int_equal(open_patched(&s, size_field, UINT64_C(0x100000001), 8), CSN_E_TRUNCATED);
    assert_int_equal(open_patched(&s, size_field, 0, 8), CSN_OK);
    assert_int_equal(open_patched(&s, size_field, 11, 8), CSN_E_FORMAT);
    assert_text(&s, "ELF header: names in section 11 of 11");
    assert_int_equal(open_patched(&s, info_field, UINT32_MAX, 4), CSN_E_TRUNCATED);
    end(&s);
}

static void opens_with_section_outside_file(void **state) {
    (void)state;
    struct sample s;
    begin(&s, true, false);
    build(&s);
    size_t header = s.places.section_headers + s.places.section_header_size; /* of .text */
    wire_patch(&s.file, header + 24, 0x123456, 8);
    assert_int_equal(open_file(&s), CSN_OK);
    struct csni_span bytes;
    assert_int_equal(csni_object_read_section(s.object, 1, &bytes, &s.err), CSN_E_TRUNCATED);
    char expected[160];
    snprintf(expected, sizeof expected, ".text+0x0: at 0x123456, 0x4 bytes long, but the file has 0x%zx bytes",
             s.file.size);
    assert_text(&s, expected);
    assert_int_equal(csni_object_read_section(s.object, 99, &bytes, &s.err), CSN_E_ARGUMENT);
    end(&s);
}

static void section_without_a_good_name_has_none(void **state) {
    (void)state;
    struct sample s;
    begin(&s, true, false);
    build(&s);
    wire_patch(&s.file, s.places.section_headers + s.places.section_header_size, 0x7fffffff, 4);
    assert_int_equal(open_file(&s), CSN_OK);
    assert_int_equal(s.object->sections[1].name.len, 0);
    assert_int_equal(s.object->sections[1].size, 4);
    end(&s);
    begin(&s, true, false);
    build(&s);
    size_t names_header = s.places.section_headers + s.elf.section_count * s.places.section_header_size;
    wire_patch(&s.file, names_header + 24, 0x7fffffff, 8);
    assert_int_equal(open_file(&s), CSN_E_TRUNCATED);
    assert_non_null(strstr(csn_error_text(&s.err), "section names: at 0x7fffffff"));
    end(&s);
}

/* Everything that a user of an object does. */
/* CSN_E_MEMORY where a section ran out of it, otherwise CSN_OK. */
static csn_status use_everything(struct csni_object *object) {
    struct csni_span bytes;
    csn_status result = CSN_OK;
    for (uint32_t i = 0; i < object->section_count; i++) {
        csn_status status = csni_object_read_section(object, i, &bytes, NULL);
        if (status == CSN_E_MEMORY) result = status;
        if (status != CSN_OK) continue;
        uint8_t sum = 0;
        for (size_t k = 0; k < bytes.size; k++) sum = (uint8_t)(sum + bytes.ptr[k]);
        csni_object_discard(object, i, 0, bytes.size + (sum & 1));
    }
    for (int table = 0; table < 2; table++) {
        struct csni_symbol_iter iter;
        struct csni_symbol symbol;
        if (csni_symbol_iter_init(&iter, object, (enum csni_symbol_table)table, NULL) != CSN_OK) continue;
        while (csni_symbol_iter_next(&iter, &symbol) == CSN_OK)
            assert_true(symbol.name.len < 100);
    }
    return result;
}

static void check_truncations(bool wide, bool big) {
    for (int without_headers = 0; without_headers < 2; without_headers++) {
        struct sample s;
        begin(&s, wide, big);
        s.elf.without_section_headers = without_headers;
        build(&s);
        for (size_t size = 0; size < s.file.size; size++) {
            struct csni_span copy = sample_copy(wire_span(&s.file), size);
            struct csni_object *object = NULL;
            struct csn_error err = CSN_ERROR_INIT;
            csn_status status = csni_object_open(copy, NULL, &object, &err);
            if (!without_headers) assert_true(status == (size < 4 ? CSN_E_UNSUPPORTED : CSN_E_TRUNCATED));
            if (status == CSN_OK) use_everything(object);
            else assert_true(strlen(csn_error_text(&err)) > 10);
            csni_object_close(object);
            sample_free(copy);
        }
        end(&s);
    }
}

/* Section headers stand last in the file; here they stand first, so that sections are cut off. */
static void check_truncated_sections(bool wide, bool big) {
    struct sample s;
    begin(&s, wide, big);
    build(&s);
    size_t word = wide ? 8 : 4;
    struct wire moved;
    wire_init(&moved, big);
    wire_bytes(&moved, s.file.bytes, s.file.size);
    wire_bytes(&moved, s.file.bytes, s.places.section_headers); /* contents again, after the headers */
    size_t count = s.elf.section_count + 1u;
    for (size_t i = 1; i < count; i++) {
        size_t off_field = s.places.section_headers + i * s.places.section_header_size + 8 + 2 * word;
        if (i + 1 < count) wire_patch(&moved, off_field, s.file.size + s.places.section_off[i], (unsigned)word);
    }
    for (size_t size = s.file.size; size <= moved.size; size += size % 7 ? 1 : 3) {
        struct csni_span copy = sample_copy(wire_span(&moved), size);
        struct csni_object *object = NULL;
        assert_int_equal(csni_object_open(copy, NULL, &object, NULL), CSN_OK);
        use_everything(object);
        csni_object_close(object);
        sample_free(copy);
    }
    wire_deinit(&moved);
    end(&s);
}

static void every_truncation_is_clean(void **state) {
    (void)state;
    for_each_shape(check_truncations);
    for_each_shape(check_truncated_sections);
}

/* Each byte of the headers set to extremes. */
static void every_damaged_header_byte_is_clean(void **state) {
    (void)state;
    static const uint8_t values[] = { 0, 1, 0x7f, 0x80, 0xff };
    for (int shape = 0; shape < 4; shape++) {
        struct sample s;
        begin(&s, shape & 1, shape & 2);
        build(&s);
        for (size_t off = 4; off < s.file.size; off++) {
            if (off >= s.places.section_off[1] && off < s.places.section_headers) continue;
            for (size_t k = 0; k < sizeof values; k++) {
                struct csni_span copy = sample_copy(wire_span(&s.file), s.file.size);
                ((uint8_t *)(uintptr_t)copy.ptr)[off] = values[k];
                struct csni_object *object = NULL;
                struct csni_object_options options = { .max_decompressed_bytes = 1 << 20 };
                if (csni_object_open(copy, &options, &object, NULL) == CSN_OK) use_everything(object);
                csni_object_close(object);
                sample_free(copy);
            }
        }
        end(&s);
    }
}

/* ---- memory ---- */

static csn_status open_with(void *context, const struct csn_allocator *alloc) {
    struct csni_object *object = NULL;
    struct csni_object_options options = { .allocator = alloc };
    csn_status status = csni_object_open(*(struct csni_span *)context, &options, &object, NULL);
    if (status == CSN_OK) status = use_everything(object);
    csni_object_close(object);
    return status;
}

static void every_allocation_may_fail(void **state) {
    (void)state;
    struct sample s;
    begin(&s, true, false);
    build(&s);
    struct csni_span file = wire_span(&s.file);
    assert_int_equal(test_allocator_sweep(open_with, &file, 0), sample_can_compress(SAMPLE_ZLIB) ? 7 : 5);
    /* Object, sections, contents, segments; two of what inflates .debug_info; and none. */
    test_allocator_sweep(open_with, &file, 1);
    end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opens_whole_file),
        cmocka_unit_test(tells_kinds_apart),
        cmocka_unit_test(reads_extended_numbering),
        cmocka_unit_test(reads_file_without_section_headers),
        cmocka_unit_test(keeps_code_flags_without_bytes),
        cmocka_unit_test(finds_debug_sections),
        cmocka_unit_test(finds_build_id_behind_other_notes),
        cmocka_unit_test(finds_build_id_in_segments), cmocka_unit_test(names_machines),
        cmocka_unit_test(prefers_build_id_of_its_own_section),
        cmocka_unit_test(survives_damaged_notes),
        cmocka_unit_test(places_sections_of_relocatable),
        cmocka_unit_test(refuses_places_beyond_64_bits),
        cmocka_unit_test(refuses_other_files),
        cmocka_unit_test(names_bad_header_fields),
        cmocka_unit_test(names_truncated_section_headers),
        cmocka_unit_test(refuses_huge_extended_counts),
        cmocka_unit_test(opens_with_section_outside_file),
        cmocka_unit_test(section_without_a_good_name_has_none),
        cmocka_unit_test(every_truncation_is_clean),
        cmocka_unit_test(every_damaged_header_byte_is_clean),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
