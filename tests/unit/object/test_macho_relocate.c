/* object: relocations in debug sections of Mach-O object files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/macho_sample.h"
#include "object/macho/macho_layout.h"

/* Symbols 0: at 0x110, 1: undefined. */
static const struct wire_macho_symbol symbols[] = { { "_f", N_SECT, 1, 0, 0x110 }, { "_u", N_UNDF | N_EXT, 0, 0, 0x55 } };

/* An object file whose section 2, __debug_info, has these bytes and relocations. */
struct sample {
    struct wire_macho macho;
    struct wire wire;
    struct csni_object *object;
    struct csn_error err;
    struct csni_span bytes;
    csn_status status;
};

static void read_relocated(struct sample *s, bool wide, bool big, uint32_t cpu_type, uint32_t file_type, struct csni_span content,
                           const struct wire_macho_relocation *relocations, uint32_t count) {
    static const uint8_t code[0x200];
    memset(s, 0, sizeof *s);
    wire_macho_init(&s->macho, wide, big, cpu_type, file_type);
    wire_macho_add_segment(&s->macho, "", 0, 0x300, 7);
    wire_macho_add(&s->macho, "__TEXT", "__text", 0, S_ATTR_PURE_INSTRUCTIONS, (struct csni_span){ code, sizeof code });
    struct wire_macho_section *debug = wire_macho_add(&s->macho, "__DWARF", "__debug_info", 0x200, S_ATTR_DEBUG, content);
    debug->relocations = relocations;
    debug->relocation_count = count;
    s->macho.symbols = symbols;
    s->macho.symbol_count = 2;
    wire_init(&s->wire, big);
    wire_macho_build(&s->macho, &s->wire, NULL);
    assert_int_equal(csni_object_open(wire_span(&s->wire), NULL, &s->object, &s->err), CSN_OK);
    s->status = csni_object_read_section(s->object, 2, &s->bytes, &s->err);
}

static void end(struct sample *s) {
    csni_object_close(s->object);
    wire_deinit(&s->wire);
}

static bool is_view(const struct sample *s) { return csni_span_holds(s->object->file, s->bytes.ptr); }

static const struct csni_span twos = { (const uint8_t *)"\2\0\0\0\2\0\0\0\2\0\0\0\0\0\0\2", 16 };

static void applies_symbols(void **state) {
    (void)state;
    static const struct wire_macho_relocation relocations[] = {
        { .off = 0, .symbol = 0, .type = X86_64_RELOC_UNSIGNED, .length = 2, .is_extern = true },
        { .off = 4, .symbol = 1, .type = X86_64_RELOC_UNSIGNED, .length = 2, .is_extern = true },
        { .off = 8, .symbol = 0, .type = X86_64_RELOC_SUBTRACTOR, .length = 3, .is_extern = true },
        { .off = 8, .symbol = 0, .type = X86_64_RELOC_UNSIGNED, .length = 3, .is_extern = true },
        { .off = 4, .symbol = 1, .type = X86_64_RELOC_UNSIGNED, .length = 3 }, /* against a section: done already */
    };
    static const uint8_t expected[16] = { 0x12, 1, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 2 };
    struct sample s;
    struct csni_relocation_counts counts;
    read_relocated(&s, true, false, CPU_TYPE_X86_64, MH_OBJECT, twos, relocations, 5);
    assert_int_equal(s.status, CSN_OK);
    assert_memory_equal(s.bytes.ptr, expected, 16);
    csni_object_relocation_counts(s.object, &counts);
    assert_int_equal(counts.unknown + counts.damaged, 0);
    end(&s);
}

static void subtracts(void **state) {
    (void)state;
    static const struct wire_macho_relocation relocations[] = {
        { .off = 0, .symbol = 0, .type = ARM64_RELOC_SUBTRACTOR, .length = 2, .is_extern = true },
        { .off = 0, .symbol = 1, .type = ARM64_RELOC_UNSIGNED, .length = 2, .is_extern = true },
    };
    struct sample s;
    read_relocated(&s, true, false, CPU_TYPE_ARM64, MH_OBJECT, twos, relocations, 2);
    assert_int_equal(s.status, CSN_OK);
    assert_memory_equal(s.bytes.ptr, "\xf2\xfe\xff\xff", 4); /* 2 - 0x110 */
    end(&s);
}

static void applies_in_big_endian_files(void **state) {
    (void)state;
    static const struct wire_macho_relocation relocations[] = {
        { .off = 12, .symbol = 0, .type = GENERIC_RELOC_VANILLA, .length = 2, .is_extern = true },
        { .off = 0, .symbol = 0x110, .type = GENERIC_RELOC_VANILLA, .length = 2, .is_scattered = true },
    };
    struct sample s;
    read_relocated(&s, false, true, CPU_TYPE_POWERPC, MH_OBJECT, twos, relocations, 2);
    assert_int_equal(s.status, CSN_OK);
    assert_memory_equal(s.bytes.ptr, "\2\0\0\0", 4);
    assert_memory_equal(s.bytes.ptr + 12, "\0\0\1\x12", 4);
    end(&s);
}

static void sections_that_are_done_stay_views(void **state) {
    (void)state;
    static const struct wire_macho_relocation relocations[] = {
        { .off = 0, .symbol = 1, .type = X86_64_RELOC_UNSIGNED, .length = 3 },
        { .off = 0, .symbol = 0, .type = X86_64_RELOC_UNSIGNED, .length = 2, .is_extern = true },
    };
    struct sample s;
    read_relocated(&s, true, false, CPU_TYPE_X86_64, MH_OBJECT, twos, relocations, 1);
    assert_true(s.status == CSN_OK && is_view(&s));
    end(&s);
    read_relocated(&s, true, false, CPU_TYPE_X86_64, MH_DYLIB, twos, relocations, 2); /* linked */
    assert_true(s.status == CSN_OK && is_view(&s));
    end(&s);
}

static void counts_what_it_cannot_apply(void **state) {
    (void)state;
    static const struct wire_macho_relocation relocations[] = {
        { .off = 14, .symbol = 0, .type = X86_64_RELOC_UNSIGNED, .length = 2, .is_extern = true },
        { .off = 0x7fffffff, .symbol = 0, .type = X86_64_RELOC_UNSIGNED, .length = 2, .is_extern = true },
        { .off = 0, .symbol = 2, .type = X86_64_RELOC_UNSIGNED, .length = 2, .is_extern = true },
        { .off = 0, .symbol = 0, .type = 9, .length = 2, .is_extern = true },
        { .off = 0, .symbol = 0, .type = X86_64_RELOC_UNSIGNED, .length = 2, .is_extern = true, .pc_relative = true },
    };
    struct sample s;
    struct csni_relocation_counts counts;
    read_relocated(&s, true, false, CPU_TYPE_X86_64, MH_OBJECT, twos, relocations, 5);
    assert_int_equal(s.status, CSN_OK);
    assert_memory_equal(s.bytes.ptr, twos.ptr, 16);
    csni_object_relocation_counts(s.object, &counts);
    assert_int_equal(counts.damaged, 3);
    assert_int_equal(counts.unknown, 2);
    assert_int_equal(counts.unknown_type, 9);
    end(&s);
}

static void names_relocations_outside_of_file(void **state) {
    (void)state;
    struct wire_macho m;
    struct wire w;
    struct wire_macho_places places;
    struct csni_object *object;
    struct csni_span bytes;
    struct csn_error err = CSN_ERROR_INIT;
    macho_sample(&m, true, false);
    m.file_type = MH_OBJECT;
    wire_init(&w, false);
    wire_macho_build(&m, &w, &places);
    (void)wire_span(&w);
    wire_patch(&w, places.segments[3] + SEGMENT_COMMAND_64_SIZE + 60, 1000, 4); /* nreloc of __debug_info */
    assert_int_equal(csni_object_open((struct csni_span){ w.bytes, w.size }, NULL, &object, &err), CSN_OK);
    assert_int_equal(csni_object_read_section(object, MACHO_SAMPLE_INFO, &bytes, &err), CSN_E_TRUNCATED);
    assert_string_equal(csn_error_text(&err), "relocations: 1000 entries of 8 bytes at 0x0, but the file has 0x60c bytes");
    csni_object_close(object);
    wire_deinit(&w);
}

static void every_damage_is_clean(void **state) {
    (void)state;
    static const struct wire_macho_relocation relocations[] = {
        { .off = 0, .symbol = 0, .type = X86_64_RELOC_UNSIGNED, .length = 2, .is_extern = true },
        { .off = 8, .symbol = 1, .type = X86_64_RELOC_SUBTRACTOR, .length = 3, .is_extern = true },
    };
    struct sample s;
    read_relocated(&s, true, false, CPU_TYPE_X86_64, MH_OBJECT, twos, relocations, 2);
    macho_sample_damage(wire_span(&s.wire), SIZE_MAX);
    end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(applies_symbols),
        cmocka_unit_test(subtracts),
        cmocka_unit_test(applies_in_big_endian_files),
        cmocka_unit_test(sections_that_are_done_stay_views),
        cmocka_unit_test(counts_what_it_cannot_apply),
        cmocka_unit_test(names_relocations_outside_of_file),
        cmocka_unit_test(every_damage_is_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
