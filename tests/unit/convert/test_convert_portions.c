/* convert/: a .debug_info that is read in portions, compressed or of a mapped file, gives what the same section
 * gives as a whole. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <callsign/convert.h>

#include "convert/dwarf/info_portions.h"
#include "support/convert_sample.h"
#include "support/model_sample.h"
#include "object/elf/elf_layout.h"
#include "support/object_sample.h"
#include "support/sweep.h"
#include "support/test_alloc.h"

enum { CONST_VALUE = 0x1c }; /* DW_AT_const_value, which the library does not read */
enum { UNIT = 1, FUNCTION, INLINED, ABSTRACT, FILLER };

/* Abbreviations for the units that follow. `reference`: the form by which inlined calls refer. */
static void write_abbrevs(struct dwarf_sample *d, int reference) {
    d->abbrev_off = d->abbrev.size;
    dwarf_sample_abbrev(d, UNIT, DW_TAG_compile_unit, true, DW_AT_language, DW_FORM_data1, DW_AT_stmt_list,
                        DW_FORM_sec_offset, 0);
    dwarf_sample_abbrev(d, FUNCTION, DW_TAG_subprogram, true, DW_AT_name, DW_FORM_string, DW_AT_low_pc, DW_FORM_addr,
                        DW_AT_high_pc, DW_FORM_data1, 0);
    dwarf_sample_abbrev(d, INLINED, DW_TAG_inlined_subroutine, false, DW_AT_abstract_origin, reference, DW_AT_low_pc,
                        DW_FORM_addr, DW_AT_high_pc, DW_FORM_data1, DW_AT_call_file, DW_FORM_data1, DW_AT_call_line,
                        DW_FORM_data1, 0);
    dwarf_sample_abbrev(d, ABSTRACT, DW_TAG_subprogram, false, DW_AT_name, DW_FORM_string, DW_AT_inline, DW_FORM_data1, 0);
    dwarf_sample_abbrev(d, FILLER, DW_TAG_variable, false, CONST_VALUE, DW_FORM_block4, 0);
    dwarf_sample_abbrevs_end(d);
}

enum { FUNCTIONS = 40 };

/* All functions are in one sequence of one line table. */
static void begin(struct convert_sample *s) {
    convert_sample_init(s, 5, false);
    wire_deinit(&s->dwarf.abbrev);
    wire_init(&s->dwarf.abbrev, false);
    struct line lines[FUNCTIONS + 1];
    for (unsigned i = 0; i <= FUNCTIONS; i++)
        lines[i] = (struct line){ CONVERT_SAMPLE_TEXT + 0x10 * i, i < FUNCTIONS ? 1 : LINE_END, 1 + i };
    convert_sample_lines(s, lines, FUNCTIONS + 1, NULL);
    write_abbrevs(&s->dwarf, DW_FORM_ref4);
}

/* A unit of one function that calls `origin`, which is in the same unit where it is 0, and `filler` bytes. Returns where in
 * the section the abstract function stands that it has, unless it refers to another one. */
static size_t add_unit(struct convert_sample *s, unsigned number, size_t origin, size_t filler) {
    struct dwarf_sample *d = &s->dwarf;
    struct wire *w = &d->info;
    size_t begun = dwarf_sample_unit(d), start = begun, abstract = 0;
    char name[32];
    wire_uleb(w, UNIT);
    wire_u8(w, DW_LANG_C99);
    wire_u32(w, (uint32_t)s->line_table);
    if (!origin) {
        abstract = w->size;
        wire_uleb(w, ABSTRACT);
        snprintf(name, sizeof name, "inlined_of_%u", number);
        wire_cstr(w, name);
        wire_u8(w, 1);
    }
    wire_uleb(w, FUNCTION);
    snprintf(name, sizeof name, "function_%u", number);
    wire_cstr(w, name);
    wire_u64(w, CONVERT_SAMPLE_TEXT + 0x10 * number);
    wire_u8(w, 0x10);
    wire_uleb(w, INLINED);
    wire_u32(w, (uint32_t)(origin ? origin : abstract - start));
    wire_u64(w, CONVERT_SAMPLE_TEXT + 0x10 * number + 4);
    wire_u8(w, 4);
    wire_u8(w, 1);
    wire_u8(w, 7);
    wire_u8(w, 0); /* of the function */
    wire_uleb(w, FILLER);
    wire_u32(w, (uint32_t)filler);
    for (size_t i = 0; i < filler; i += 64) wire_fill(w, (uint8_t)(number + i / 64), filler - i < 64 ? filler - i : 64);
    wire_u8(w, 0); /* of the unit */
    dwarf_sample_end(d, begun);
    return abstract;
}

static struct csni_span build(struct convert_sample *s, enum sample_compression compression) {
    struct wire_elf elf;
    struct dwarf_sample *d = &s->dwarf;
    wire_elf_init(&elf, true, false, ET_DYN, EM_X86_64);
    wire_elf_add_nobits(&elf, ".text", SHF_ALLOC | SHF_EXECINSTR, CONVERT_SAMPLE_TEXT, CONVERT_SAMPLE_TEXT_SIZE);
    wire_elf_add_wire(&elf, ".debug_abbrev", SHT_PROGBITS, 0, 0, &d->abbrev);
    if (compression == SAMPLE_PLAIN) {
        wire_elf_add_wire(&elf, ".debug_line", SHT_PROGBITS, 0, 0, &d->line);
        wire_elf_add_wire(&elf, ".debug_info", SHT_PROGBITS, 0, 0, &d->info);
    } else {
        sample_add_debug(&elf, compression, "line", wire_span(&d->line));
        sample_add_debug(&elf, compression, "info", wire_span(&d->info));
    }
    wire_deinit(&s->file);
    wire_init(&s->file, false);
    wire_elf_build(&elf, &s->file, NULL);
    wire_elf_deinit(&elf);
    return wire_span(&s->file);
}

static void convert(struct csni_span file, uint32_t threads, struct csn_bytes *out, struct csn_convert_report *report) {
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    struct csn_error err = CSN_ERROR_INIT;
    options.threads = threads;
    if (csn_convert_memory(file.ptr, file.size, &options, out, report, &err) != CSN_OK) fail_msg("%s", err.text);
}

struct converted {
    struct csn_bytes bytes;
    struct csn_convert_report report;
};

static void expect_equal(struct converted *other, const struct converted *whole) {
    assert_int_equal(other->bytes.size, whole->bytes.size);
    assert_memory_equal(other->bytes.ptr, whole->bytes.ptr, whole->bytes.size);
    assert_int_equal(other->report.units, whole->report.units);
    assert_int_equal(other->report.units_failed, whole->report.units_failed);
    assert_int_equal(other->report.functions_from_dwarf, whole->report.functions_from_dwarf);
    assert_string_equal(model_sample_events(&other->report), model_sample_events(&whole->report));
    csn_bytes_free(&other->bytes);
}

/* A mapped file is converted in portions, the same bytes in memory are not. */
static void expect_mapped(struct csni_span file, const struct converted *whole) {
    char path[] = "/tmp/test_convert_portions-XXXXXX";
    FILE *f = fdopen(mkstemp(path), "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(file.ptr, 1, file.size, f), file.size);
    assert_int_equal(fclose(f), 0);
    for (uint32_t threads = 1; threads <= 4; threads += SWEEP_STEP > 1 ? 2 : 1) {
        struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
        struct csn_error err = CSN_ERROR_INIT;
        struct converted other;
        options.threads = threads;
        if (csn_convert_file_to_memory(path, &options, &other.bytes, &other.report, &err) != CSN_OK) fail_msg("%s", err.text);
        expect_equal(&other, whole);
    }
    unlink(path);
}

/* Plain, mapped, and compressed in each way this build has, on one to four threads. */
static void expect_the_same(struct convert_sample *s, uint64_t units, const char *part_of_text) {
    struct converted whole, other;
    struct csni_span plain = build(s, SAMPLE_PLAIN);
    convert(plain, 1, &whole.bytes, &whole.report);
    assert_int_equal(whole.report.units, units);
    const char *text = index_text(whole.bytes.ptr, whole.bytes.size);
    if (!strstr(text, part_of_text)) fail_msg("%s", text);
    expect_mapped(plain, &whole);
    static const enum sample_compression kinds[] = { SAMPLE_ZLIB, SAMPLE_ZSTD };
    for (size_t i = 0; i < 2 && sample_can_compress(kinds[i]); i++) {
        struct csni_span file = build(s, kinds[i]);
        for (uint32_t threads = 1; threads <= 4; threads += SWEEP_STEP > 1 ? 2 : 1) {
            convert(file, threads, &other.bytes, &other.report);
            expect_equal(&other, &whole);
        }
    }
    csn_bytes_free(&whole.bytes);
}

enum { MEGABYTE = 1 << 20 };

/* Units smaller and larger than a portion, also one that begins in the last bytes of a portion. */
static void units_of_all_sizes(void **state) {
    (void)state;
    struct convert_sample s;
    begin(&s);
    static const size_t sizes[] = { 10, 3 * MEGABYTE, 4 * MEGABYTE - 200, 30, 9 * MEGABYTE, 0, 5 * MEGABYTE };
    unsigned number = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) add_unit(&s, number++, 0, sizes[i]);
    for (size_t left = 0; left < 20; left++) {
        size_t portion = 4 * MEGABYTE, used = s.dwarf.info.size % portion;
        if (left == 0) add_unit(&s, number++, 0, portion - used - 100);
        add_unit(&s, number++, 0, left);
    }
    expect_the_same(&s, number, "function_26 [11a0,11b0)\n 11a0 a.c:27\n >inlined_of_26 [11a4,11a8) a.c:7\n");
    convert_sample_deinit(&s);
}

/* The first unit that refers to another comes late, when what it refers to was given back. */
static void late_references(void **state) {
    (void)state;
    struct convert_sample s;
    begin(&s);
    size_t origin = add_unit(&s, 0, 0, 20);
    for (unsigned i = 1; i < 6; i++) add_unit(&s, i, 0, 4 * MEGABYTE);
    write_abbrevs(&s.dwarf, DW_FORM_ref_addr);
    add_unit(&s, 6, origin, 10);
    expect_the_same(&s, 7, "function_6 [1060,1070)\n 1060 a.c:7\n >inlined_of_0 [1064,1068)");
    convert_sample_deinit(&s);
}

static void early_references(void **state) {
    (void)state;
    struct convert_sample s;
    begin(&s);
    size_t origin = add_unit(&s, 0, 0, 20);
    uint64_t first_table = s.dwarf.abbrev_off;
    write_abbrevs(&s.dwarf, DW_FORM_ref_addr);
    add_unit(&s, 1, origin, 10);
    s.dwarf.abbrev_off = first_table;
    for (unsigned i = 2; i < 5; i++) add_unit(&s, i, 0, 4 * MEGABYTE);
    expect_the_same(&s, 5, "function_1 [1010,1020)\n 1010 a.c:2\n >inlined_of_0 [1014,1018)");
    convert_sample_deinit(&s);
}

/* A line table of its own for the next unit, larger than what is given back at a time. */
static size_t add_lines(struct convert_sample *s, unsigned number) {
    struct line lines[FUNCTIONS + 1];
    for (unsigned i = 0; i <= FUNCTIONS; i++)
        lines[i] = (struct line){ CONVERT_SAMPLE_TEXT + 0x10 * i, i < FUNCTIONS ? 1 : LINE_END, 1000 * number + i };
    convert_sample_lines(s, lines, FUNCTIONS + 1, NULL);
    wire_fill(&s->dwarf.line, (uint8_t)number, 200 << 10);
    return s->line_table;
}

/* Line tables in the order of their units, which are given back when their units are done, and not earlier. */
static void lines_in_order(void **state) {
    (void)state;
    struct convert_sample s;
    begin(&s);
    for (unsigned i = 0; i < 9; i++) {
        add_lines(&s, i);
        add_unit(&s, i, 0, i % 2 ? 30 : 2 * MEGABYTE);
    }
    expect_the_same(&s, 9, "function_8 [1080,1090)\n 1080 a.c:8008\n");
    convert_sample_deinit(&s);
}

/* A late unit has the line table of the first, which was given back, and the unit after that its own. */
static void lines_of_an_earlier_unit(void **state) {
    (void)state;
    struct convert_sample s;
    begin(&s);
    size_t first = add_lines(&s, 0);
    add_unit(&s, 0, 0, 20);
    for (unsigned i = 1; i < 9; i++) {
        size_t own = add_lines(&s, i);
        s.line_table = i == 7 ? first : own;
        add_unit(&s, i, 0, 2 * MEGABYTE);
    }
    expect_the_same(&s, 9, "function_7 [1070,1080)\n 1070 a.c:7\n");
    convert_sample_deinit(&s);
}

/* A header that cannot be read ends the units: in the first portion, or in a later one; and bytes too few for a header. */
static void damaged_headers(void **state) {
    (void)state;
    static const struct { unsigned units; uint32_t length; } cases[] = {
        { 1, 0xfffffff1 }, { 4, 0x7fffffff }, { 4, 0 }, { 4, 1 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct convert_sample s;
        begin(&s);
        for (unsigned u = 0; u < cases[i].units; u++) add_unit(&s, u, 0, 3 * MEGABYTE);
        wire_u32(&s.dwarf.info, cases[i].length);
        wire_fill(&s.dwarf.info, 0x11, 5 * MEGABYTE);
        expect_the_same(&s, cases[i].units, "function_0 [1000,1010)\n");
        convert_sample_deinit(&s);
    }
}

/* The data of the last portion is damaged, or ends: that fails, as it does where a section is inflated as a whole. */
static void damaged_data(void **state) {
    (void)state;
    if (!sample_can_compress(SAMPLE_ZLIB)) skip();
    struct convert_sample s;
    begin(&s);
    for (unsigned u = 0; u < 8; u++) add_unit(&s, u, 0, 4 * MEGABYTE);
    struct csni_span file = build(&s, SAMPLE_ZLIB);
    struct csni_object *object = NULL;
    assert_int_equal(csni_object_open(file, NULL, &object, NULL), CSN_OK);
    const struct csni_section *info = &object->sections[csni_object_find_debug_section(object, "info", false)];
    uint8_t *last = s.file.bytes + info->file_off + info->file_size - 1; /* of the checksum */
    csni_object_close(object);
    *last ^= 1;
    for (uint32_t threads = 1; threads <= 2; threads++) {
        struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
        struct csn_error err = CSN_ERROR_INIT;
        struct csn_convert_report report;
        struct csn_bytes out;
        options.threads = threads;
        assert_int_equal(csn_convert_memory(file.ptr, file.size, &options, &out, &report, &err), CSN_E_FORMAT);
        assert_non_null(strstr(err.text, ".debug_info+0x0: damaged zlib data"));
    }
    convert_sample_deinit(&s);
}

/* A window of 256 MiB, as of zstd --long=28: libzstd does not inflate that in pieces. */
static void wide_window(void **state) {
    (void)state;
    if (!sample_can_compress(SAMPLE_ZSTD)) skip();
    struct convert_sample s;
    struct csn_bytes plain, other;
    struct csn_convert_report first, report;
    begin(&s);
    for (unsigned u = 0; u < 6; u++) add_unit(&s, u, 0, MEGABYTE);
    convert(build(&s, SAMPLE_PLAIN), 1, &plain, &first);
    struct csni_span file = build(&s, SAMPLE_ZSTD);
    static const uint8_t magic[] = { 0x28, 0xb5, 0x2f, 0xfd };
    size_t at = file.size - 6; /* the last section's */
    while (at && memcmp(file.ptr + at, magic, sizeof magic) != 0) at--;
    assert_int_equal(file.ptr[at + 4] & 0x20, 0); /* else it has no window of its own */
    s.file.bytes[at + 5] = 18 << 3;
    for (uint32_t threads = 1; threads <= 2; threads++) {
        convert(file, threads, &other, &report);
        assert_int_equal(other.size, plain.size);
        assert_memory_equal(other.ptr, plain.ptr, plain.size);
        assert_int_equal(report.units, first.units);
        csn_bytes_free(&other);
    }
    csn_bytes_free(&plain);
    convert_sample_deinit(&s);
}

/* Portions of a few units, which follow each other and hold all. */
static csn_status read_portions(void *context, const struct csn_allocator *alloc) {
    struct convert_sample *s = context;
    const struct csni_object_options options = { .allocator = alloc };
    struct csni_object *object = NULL;
    struct csni_info_portions *portions = NULL;
    csn_status status = csni_object_open(wire_span(&s->file), &options, &object, NULL);
    if (status == CSN_OK)
        status = csni_info_portions_open(object, csni_object_find_debug_section(object, "info", false), 200, alloc, &portions,
                                         NULL);
    const struct csni_span info = wire_span(&s->dwarf.info);
    struct csni_portion parts[2] = { { .from = 0 }, { .from = 0 } };
    size_t count = 0, done = 0;
    for (; status == CSN_OK && !csni_info_portions_at_end(portions); count++) {
        struct csni_portion *part = &parts[count % 2], *before = &parts[(count + 1) % 2];
        status = csni_info_portions_read(portions, part, NULL);
        if (status != CSN_OK) break;
        assert_int_equal(part->from, done);
        assert_memory_equal(part->bytes, info.ptr + done, part->size);
        if (before->size) assert_memory_equal(before->bytes, info.ptr + before->from, before->size);
        done += part->size;
    }
    if (status == CSN_OK) assert_true(count > 2 && done == info.size);
    for (int i = 0; i < 2; i++) csni_portion_free(&parts[i]);
    assert_null(parts[0].bytes);
    csni_info_portions_close(portions);
    csni_object_close(object);
    return status;
}

/* ---- ends before the end ---- */

struct stopping {
    uint64_t calls, stop_at;
};

static bool stop(void *context, const char *phase, uint64_t done, uint64_t total) {
    struct stopping *s = context;
    if (done > total || strcmp(phase, "units") != 0) return false;
    return ++s->calls != s->stop_at;
}

/* At any unit, with portions after it that are being inflated, prepared and converted. */
static void cancelled(void **state) {
    (void)state;
    if (!sample_can_compress(SAMPLE_ZLIB)) skip();
    enum { UNITS = 14 };
    struct convert_sample s;
    begin(&s);
    for (unsigned u = 0; u < UNITS; u++) add_unit(&s, u, 0, u % 3 ? 30 : 3 * MEGABYTE);
    struct csni_span file = build(&s, SAMPLE_ZLIB);
    for (uint32_t threads = 1; threads <= 3; threads++) {
        for (uint64_t stop_at = 1; stop_at <= UNITS + 1; stop_at += threads == 1 ? SWEEP_STEP : 1) {
            struct test_allocator t;
            struct stopping stopping = { 0, stop_at };
            struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
            struct csn_error err = CSN_ERROR_INIT;
            struct csn_convert_report report;
            struct csn_bytes out;
            test_allocator_init(&t);
            options.allocator = &t.base;
            options.threads = threads;
            options.progress = stop;
            options.progress_context = &stopping;
            csn_status status = csn_convert_memory(file.ptr, file.size, &options, &out, &report, &err);
            assert_int_equal(status, stop_at <= UNITS ? CSN_E_CANCELLED : CSN_OK);
            assert_string_equal(err.text, stop_at <= UNITS ? "stopped by the caller" : "");
            if (status == CSN_OK) csn_bytes_free(&out);
            test_allocator_check_empty(&t);
        }
    }
    convert_sample_deinit(&s);
}

static uint32_t threads_at_once = 1;

static csn_status convert_with(const struct convert_sample *s, const struct csn_allocator *alloc, struct csn_bytes *out) {
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    struct csn_convert_report report;
    options.allocator = alloc;
    options.threads = threads_at_once;
    return csn_convert_memory(s->file.bytes, s->file.size, &options, out, &report, NULL);
}

static csn_status convert_once(void *context, const struct csn_allocator *alloc) {
    struct csn_bytes out;
    csn_status status = convert_with(context, alloc, &out);
    if (status == CSN_OK) csn_bytes_free(&out);
    return status;
}

static void out_of_memory(void **state) {
    (void)state;
    if (!sample_can_compress(SAMPLE_ZLIB)) skip();
    struct convert_sample s;
    begin(&s);
    for (unsigned u = 0; u < 30; u++) add_unit(&s, u, 0, 10 * u);
    build(&s, SAMPLE_ZLIB);
    struct test_allocator counting;
    test_allocator_init(&counting);
    csn_status status = read_portions(&s, &counting.base);
    if (status == CSN_OK) assert_true(test_allocator_sweep(read_portions, &s, 0) > 3);
    else assert_int_equal(status, CSN_NONE); /* built without what inflates in pieces */
    add_unit(&s, 30, 0, 4 * MEGABYTE);
    add_unit(&s, 31, 0, 10);
    build(&s, SAMPLE_ZLIB);
    assert_true(test_allocator_sweep(convert_once, &s, 0) > 30);
    convert_sample_deinit(&s);
}

/* Which allocation is refused depends on timing then; whichever it is, nothing else may happen than that it fails, or that the same
 * bytes come out: hashes that are made ahead of time are done without. */
static void out_of_memory_on_several_threads(void **state) {
    (void)state;
    if (!sample_can_compress(SAMPLE_ZLIB)) skip();
    struct convert_sample s;
    begin(&s);
    for (unsigned u = 0; u < 4; u++) add_unit(&s, u, 0, 2 * MEGABYTE);
    build(&s, SAMPLE_ZLIB);
    struct csn_bytes want, out;
    unsigned failed = 0;
    assert_int_equal(convert_with(&s, NULL, &want), CSN_OK);
    for (threads_at_once = 2; threads_at_once <= 3; threads_at_once++)
        for (uint64_t refused = 1; refused < 400; refused += 7 * (SWEEP_STEP > 1 ? 4 : 1)) {
            struct test_allocator t;
            test_allocator_init(&t);
            test_allocator_fail(&t, refused, 0);
            csn_status status = convert_with(&s, &t.base, &out);
            if (!atomic_load(&t.refused) || status != CSN_E_MEMORY) assert_int_equal(status, CSN_OK);
            if (status == CSN_OK) {
                assert_int_equal(out.size, want.size);
                assert_memory_equal(out.ptr, want.ptr, want.size);
                csn_bytes_free(&out);
            }
            failed += status < 0;
            test_allocator_check_empty(&t);
        }
    assert_true(failed > 10);
    threads_at_once = 1;
    csn_bytes_free(&want);
    convert_sample_deinit(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_of_all_sizes), cmocka_unit_test(late_references), cmocka_unit_test(early_references),
        cmocka_unit_test(lines_in_order),     cmocka_unit_test(lines_of_an_earlier_unit),
        cmocka_unit_test(damaged_headers),    cmocka_unit_test(damaged_data),    cmocka_unit_test(wide_window),
        cmocka_unit_test(cancelled),          cmocka_unit_test(out_of_memory),
        cmocka_unit_test(out_of_memory_on_several_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
