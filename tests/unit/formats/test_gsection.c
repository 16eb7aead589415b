/* The section-embedded GSYM of 2017: every byte of the format's examples, what the scripts of the day wrote, round trips of
 * generated models through every revision, and damage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "base/core/endian.h"
#include "base/core/file_map.h"
#include "base/sink.h"
#include "convert/outputs/output_gsection.h"
#include "formats/gsection/read/gsection.h"
#include "formats/gsection/write/gsection_write.h"
#include "formats/gsym/write/gsym_write.h"
#include "support/model_sample.h"
#include "object/find/section_find.h"
#include "support/sweep.h"
#include "support/test_alloc.h"

static const uint32_t revisions[] = { CSN_REVISION_A, CSN_REVISION_B, CSN_REVISION_B_SCRIPT, CSN_REVISION_C,
                                      CSN_REVISION_D, CSN_REVISION_E, CSN_REVISION_F, CSN_REVISION_G };
enum { REVISIONS = sizeof revisions / sizeof *revisions };

/* ---- the example ---- */

static const uint8_t example_b[] = {
    0x4d, 0x59, 0x53, 0x47, 0x01, 0x00, 0x02, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00,
    0x2e, 0x67, 0x73, 0x79, 0x6d, 0x73, 0x74, 0x72, 0x74, 0x61, 0x62, 0x00, 0x00, 0x00, 0x20, 0x00, 0x40, 0x00, 0x00, 0x00,
    0x8c, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x06, 0x00, 0x00, 0x00, 0x09, 0x00, 0x00, 0x00, 0x06, 0x00, 0x00, 0x00,
    0x0d, 0x00, 0x00, 0x00, 0x20, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x14, 0x00, 0x00, 0x00,
    0x7c, 0x0a, 0x0a, 0x08, 0x45, 0x01, 0x02, 0x03, 0x78, 0x02, 0x04, 0x01, 0x01, 0x03, 0x25, 0x02, 0x08, 0xbd, 0x00, 0x00,
    0x02, 0x00, 0x00, 0x00, 0x18, 0x00, 0x00, 0x00, 0x01, 0x00, 0x20, 0x01, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x08,
    0x08, 0x00, 0x15, 0x00, 0x00, 0x00, 0x01, 0x0b, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x10, 0x00, 0x00, 0x00, 0x11, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
};
/* As the script of the day wrote it, from byte 0x20 on. */
static const uint8_t example_script[] = {
    0x00, 0x00, 0x20, 0x00, 0x40, 0x00, 0x00, 0x00, 0x88, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x06, 0x00, 0x00, 0x00,
    0x09, 0x00, 0x00, 0x00, 0x06, 0x00, 0x00, 0x00, 0x0d, 0x00, 0x00, 0x00, 0x20, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00,
    0x01, 0x00, 0x00, 0x00, 0x19, 0x00, 0x00, 0x00, 0x7c, 0x0a, 0x0a, 0x01, 0x02, 0x08, 0x45, 0x01, 0x03, 0x03, 0x78, 0x02,
    0x04, 0x01, 0x02, 0x03, 0x25, 0x02, 0x08, 0xbd, 0x00, 0x02, 0x00, 0x00, 0x00, 0x19, 0x00, 0x00, 0x00, 0x01, 0x00, 0x20,
    0x01, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x08, 0x08, 0x00, 0x15, 0x00, 0x00, 0x00, 0x01, 0x0b, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0x11, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
};
static const char example_strings[] = "\0main\0/s\0a.c\0b.h\0foo\0sq"; /* with its last NUL: 24 bytes */
static const uint8_t example_big_header[] = { 0x47, 0x53, 0x59, 0x4d, 0x00, 0x01, 0x02, 0x00, 0x00, 0x00, 0x00,
                                              0x00, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0x00, 0x02, 0x2e, 0x67 };
static const uint8_t example_big_tables[] = { 0x00, 0x00, 0x00, 0x20, 0x00, 0x00, 0x00, 0x40,
                                              0x00, 0x00, 0x00, 0x8c, 0x00, 0x00, 0x00, 0x02 };

static void fill_example(struct model_sample *s) {
    uint32_t a = model_sample_file(s, "/s", "a.c"), b = model_sample_file(s, "/s", "b.h");
    model_sample_function(s, 0x1000, 0x20, "main");
    csni_batch_add_row(&s->writer, 0, a, 10);
    csni_batch_add_row(&s->writer, 4, a, 11);
    csni_batch_add_row(&s->writer, 8, b, 3);
    csni_batch_add_row(&s->writer, 0x10, a, 40);
    csni_batch_add_row(&s->writer, 0x1c, a, 41);
    model_sample_inline(s, "sq", a, 11, 8, 0x10);
    model_sample_function(s, 0x1020, 0x10, "foo");
}

/* A model of the example, ready to be written. */
static void link_example(struct model_sample *s, bool big) {
    model_sample_init(s, NULL);
    fill_example(s);
    assert_int_equal(model_sample_link(s), CSN_OK);
    s->model.image.big_endian = big;
}

static struct csni_gsection_image build(struct model_sample *s, char revision, bool script) {
    struct csni_gsection_options options = { .revision = revision, .script = script, .strings_name = csni_str(".gsymstrtab") };
    struct csni_gsection_image image;
    assert_int_equal(csni_gsection_build(&s->model, &options, &image, &s->report, NULL), CSN_OK);
    return image;
}

static void example_bytes(void **state) {
    (void)state;
    struct model_sample s;
    link_example(&s, false);
    struct csni_gsection_image image = build(&s, 'B', false);
    assert_int_equal(image.section.count, sizeof example_b);
    assert_memory_equal(image.section.items, example_b, sizeof example_b);
    assert_int_equal(image.strings.count, sizeof example_strings);
    assert_memory_equal(image.strings.items, example_strings, sizeof example_strings);
    csni_gsection_image_free(&image);

    image = build(&s, 'B', true);
    assert_int_equal(image.section.count, 0x20 + sizeof example_script);
    assert_memory_equal(image.section.items, example_b, 0x20);
    assert_memory_equal(image.section.items + 0x20, example_script, sizeof example_script);
    csni_gsection_image_free(&image);

    image = build(&s, 'C', false);
    assert_memory_equal(image.section.items, example_b, 20);
    assert_int_equal(csni_get32(image.section.items + 24, false), sizeof example_strings);
    assert_int_equal(csni_get32(image.section.items + 28, false), 0x00200000); /* the address table */
    assert_int_equal(image.strings.count, sizeof example_strings);
    csni_gsection_image_free(&image);

    image = build(&s, 'E', false); /* the strings are within */
    assert_int_equal(csni_get32(image.section.items + 24, false), sizeof example_strings);
    assert_memory_equal(image.section.items + csni_get32(image.section.items + 20, false), example_strings, sizeof example_strings);
    assert_int_equal(image.strings.count, 0);
    csni_gsection_image_free(&image);
    model_sample_deinit(&s);

    link_example(&s, true);
    image = build(&s, 'B', false);
    assert_memory_equal(image.section.items, example_big_header, sizeof example_big_header);
    assert_memory_equal(image.section.items + 0x20, example_big_tables, sizeof example_big_tables);
    csni_gsection_image_free(&image);
    model_sample_deinit(&s);
}

/* ---- objects ---- */

static csn_status write_object(struct model_sample *s, uint32_t revision, struct csn_bytes *out, struct csn_error *err) {
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    struct csn_gsection_options section = CSN_GSECTION_OPTIONS_INIT;
    section.revision = revision;
    options.gsection = &section;
    *out = (struct csn_bytes){ NULL, 0, s->alloc };
    struct csni_sink sink = csni_memory_sink(out);
    csn_status status = csni_write_gsection(&s->model, &options, NULL, &sink, &s->report, err);
    if (status < 0) csn_bytes_free(out);
    return status;
}

static struct csn_bytes object_of(struct model_sample *s, uint32_t revision) {
    struct csn_bytes out;
    struct csn_error err = CSN_ERROR_INIT;
    if (write_object(s, revision, &out, &err) < 0) fail_msg("%s", csn_error_text(&err));
    return out;
}

static struct csn_index *opened(const void *bytes, size_t size) {
    struct csn_index *index;
    struct csn_error err = CSN_ERROR_INIT;
    if (csn_index_open_memory(bytes, size, NULL, &index, &err) < 0) fail_msg("%s", csn_error_text(&err));
    return index;
}

static bool print_problem(void *context, const struct csn_error *err) {
    (void)context;
    print_error("problem: %s\n", err->text);
    return true;
}

static void check_sound(const struct csn_index *index) {
    struct csn_verify_counts counts;
    assert_int_equal(csn_index_verify(index, print_problem, NULL, &counts, NULL), CSN_OK);
    assert_int_equal(counts.problems, 0);
}

/* "NAME+OFFSET DIRECTORY/BASE:LINE" of each frame, with " < " between. */
static void put_answer(const struct csn_index *index, uint64_t addr, char *out, size_t capacity) {
    struct csn_frame frames[8];
    size_t count = 0, at = 0;
    csn_status status = csn_index_lookup(index, addr, frames, 8, &count, NULL);
    out[0] = 0;
    if (status != CSN_OK) snprintf(out, capacity, "status %d", status);
    for (size_t i = 0; status == CSN_OK && i < count && i < 8 && at < capacity; i++)
        at += (size_t)snprintf(out + at, capacity - at, "%s%.*s+%llu %.*s/%.*s:%u", i ? " < " : "", (int)frames[i].name.len,
                               frames[i].name.ptr, (unsigned long long)frames[i].offset, (int)frames[i].directory.len,
                               frames[i].directory.ptr, (int)frames[i].base.len, frames[i].base.ptr, frames[i].line);
}

/* References, resolved, are the same frames. */
static void want_same_by_references(const struct csn_index *index, uint64_t addr) {
    struct csn_frame frames[8], frame;
    struct csn_frame_ref refs[8];
    struct csn_lookup found;
    size_t count = 0;
    csn_status status = csn_index_lookup(index, addr, frames, 8, &count, NULL);
    assert_int_equal(csn_index_lookup_refs(index, addr, CSN_LOOKUP_DEFAULT, refs, 8, &found, NULL), status);
    if (status != CSN_OK) return;
    assert_int_equal(found.frame_count, count);
    for (size_t i = 0; i < count; i++) {
        csn_index_resolve(index, &refs[i], &frame);
        assert_true(csni_str_equal(frame.name, frames[i].name) && csni_str_equal(frame.base, frames[i].base));
        assert_int_equal(frame.line, frames[i].line);
        assert_int_equal(frame.offset, frames[i].offset);
    }
}

static void want_answer(const struct csn_index *index, uint64_t addr, const char *want) {
    char got[512];
    put_answer(index, addr, got, sizeof got);
    assert_string_equal(got, want);
    want_same_by_references(index, addr);
}

static void example_object(void **state) {
    (void)state;
    struct model_sample s;
    link_example(&s, false);
    struct csn_bytes object = object_of(&s, 0);
    assert_int_equal(object.size, 0x214);
    assert_memory_equal(object.ptr + 0x140, "\0.shstrtab\0.gsym\0.gsymstrtab", 29);
    assert_memory_equal(object.ptr + 0x160, example_b, sizeof example_b);
    assert_memory_equal(object.ptr + 0x1fc, example_strings, sizeof example_strings);
    csn_bytes_free(&object);
    model_sample_deinit(&s);
}

static void example_answers(void **state) {
    (void)state;
    static const char letters[REVISIONS + 1] = "ABBCDEGG"; /* F is told from G by nothing */
    for (int big = 0; big < 2; big++) {
        struct model_sample s;
        link_example(&s, big);
        for (unsigned i = 0; i < REVISIONS; i++) {
            struct csn_bytes object = object_of(&s, revisions[i]);
            struct csn_index *index = opened(object.ptr, object.size);
            struct csn_index_info info;
            csn_index_get_info(index, &info, sizeof(info));
            assert_int_equal(info.function_count, 2);
            assert_int_equal(info.file_count, 3);
            assert_int_equal(info.big_endian, big);
            if (letters[i] != 'G') assert_int_equal(info.revision, letters[i]);
            for (uint32_t k = 0; k < 3; k++) {
                static const char *const bases[] = { "", "a.c", "b.h" };
                struct csn_str directory, base;
                assert_int_equal(csn_index_file(index, k, &directory, &base, NULL), CSN_OK);
                assert_true(csni_str_is(base, bases[k]) && csni_str_is(directory, k ? "/s" : ""));
            }
            check_sound(index);
            want_answer(index, 0x1003, "main+3 /s/a.c:10");
            want_answer(index, 0x100f, letters[i] == 'A' ? "main+15 /s/b.h:3" : "sq+7 /s/b.h:3 < main+15 /s/a.c:11");
            want_answer(index, 0x101c, "main+28 /s/a.c:41");
            want_answer(index, 0x102f, "foo+15 /:0");
            want_answer(index, 0x1030, "status 1");
            want_answer(index, 0xfff, "status 1");
            csn_index_close(index);
            csn_bytes_free(&object);
        }
        model_sample_deinit(&s);
    }
}

/* ---- other writers ---- */

struct sections {
    struct csni_span section, strings;
};
static struct sections sections; /* of the test that runs */

static csn_status find_strings(struct csni_span object, struct csn_str name, struct csni_span *out, struct csn_error *err) {
    (void)object;
    (void)err;
    if (!csni_str_is(name, ".gsymstrtab")) return CSN_NONE;
    *out = sections.strings;
    return CSN_OK;
}

static const struct csni_gsection_home home = { { (const uint8_t *)"", 0 }, find_strings };

static void want_row(const struct csni_gsection *g, uint64_t addr, uint32_t file, uint32_t line, size_t inlined) {
    struct csni_gsym_answer answer;
    assert_int_equal(csni_gsection_lookup(g, addr, CSN_LOOKUP_DEFAULT, &answer, NULL), CSN_OK);
    assert_int_equal(answer.file, file);
    assert_int_equal(answer.line, line);
    assert_int_equal(answer.calls.count, inlined);
}

/* Entries aligned to 4 with padding that lengths do not count, as the README can be read, in both byte orders. */
static void uncounted_padding(void **state) {
    (void)state;
    for (int big = 0; big < 2; big++) {
        struct model_sample s;
        link_example(&s, big);
        struct csni_gsection_image image = build(&s, 'B', false);
        csni_put32(image.section.items + 0x4c, 0x13, big);
        csni_put32(image.section.items + 0x68, 0x15, big);
        sections = (struct sections){ { image.section.items, image.section.count }, { image.strings.items, image.strings.count } };
        struct csni_gsection g;
        assert_int_equal(csni_gsection_parse(&g, sections.section, &home, NULL), CSN_OK);
        want_row(&g, 0x100c, 2, 3, 1);
        want_row(&g, 0x1010, 1, 40, 0);
        csni_gsection_image_free(&image);
        model_sample_deinit(&s);
    }
}

/* A line table without rows is its end mark alone, of 1 byte, whether or not its length counts itself. */
static void empty_line_table(void **state) {
    (void)state;
    for (uint32_t length = 1; length <= 5; length++) {
        if (length == 4) continue; /* these are a header and an end mark */
        struct model_sample s;
        link_example(&s, false);
        struct csni_gsection_image image = build(&s, 'A', false);
        sections = (struct sections){ { image.section.items, image.section.count }, { image.strings.items, image.strings.count } };
        struct csni_gsection g;
        assert_int_equal(csni_gsection_parse(&g, sections.section, &home, NULL), CSN_OK);
        uint8_t *part = image.section.items + csni_gsym_info_offset(&g.gsym, 1) + CSNI_GSYM_R_PARTS;
        assert_int_equal(csni_get32(part, false), CSNI_GSYM_PART_LINES);
        assert_int_equal(csni_get32(part + 4, false), 5);
        csni_put32(part + 4, length, false);
        struct csni_gsym_answer answer;
        csn_status status = csni_gsection_lookup(&g, 0x102f, CSN_LOOKUP_DEFAULT, &answer, NULL);
        assert_int_equal(status == CSN_OK, length == 1 || length == 5);
        assert_true(status <= 0);
        csni_gsection_image_free(&image);
        model_sample_deinit(&s);
    }
}

/* A part of an unknown type whose length counts itself, and nothing else, before a line table. */
static void unknown_part(void **state) {
    (void)state;
    struct model_sample s;
    model_sample_init(&s, NULL);
    uint32_t file = model_sample_file(&s, "/s", "a.c");
    model_sample_function(&s, 0x1000, 0x20, "short");
    csni_batch_add_row(&s.writer, 0, file, 10);
    model_sample_function(&s, 0x1020, 0x100, "long");
    for (uint32_t i = 0; i < 16; i++) csni_batch_add_row(&s.writer, 16 * i, file, 1000 * i + 1);
    assert_int_equal(model_sample_link(&s), CSN_OK);
    struct csni_gsection_image image = build(&s, 'A', false);
    sections = (struct sections){ { image.section.items, image.section.count }, { image.strings.items, image.strings.count } };
    struct csni_gsection g;
    assert_int_equal(csni_gsection_parse(&g, sections.section, &home, NULL), CSN_OK);
    const uint8_t *table = image.section.items + csni_gsym_info_offset(&g.gsym, 0) + CSNI_GSYM_R_PARTS;
    uint8_t *part = image.section.items + csni_gsym_info_offset(&g.gsym, 1) + CSNI_GSYM_R_PARTS;
    uint32_t size = CSNI_GSYM_PART_HEADER_SIZE + csni_get32(table + 4, false), room = csni_get32(part + 4, false);
    assert_true(size + CSNI_GSYM_PART_HEADER_SIZE < room);
    csni_put32(part, 7, false);
    csni_put32(part + 4, 4, false);
    memset(part + CSNI_GSYM_PART_HEADER_SIZE, 0, room - 4);
    memcpy(part + CSNI_GSYM_PART_HEADER_SIZE, table, size - 4);
    assert_int_equal(csni_gsection_parse(&g, sections.section, &home, NULL), CSN_OK);
    want_row(&g, 0x1000, 1, 10, 0);
    want_row(&g, 0x1020, 1, 10, 0);
    csni_gsection_image_free(&image);
    model_sample_deinit(&s);
}

/* The scripts of 2017 wrote the row that stands at the function's end. Of other writers it is a fault. */
static void rows_at_the_end(void **state) {
    (void)state;
    static const uint32_t writers[] = { CSN_REVISION_A, CSN_REVISION_E };
    for (unsigned i = 0; i < 2; i++) {
        struct model_sample s;
        model_sample_init(&s, NULL);
        uint32_t file = model_sample_file(&s, "/s", "a.c");
        for (uint64_t start = 0x1000; start <= 0x1020; start += 0x20) {
            model_sample_function(&s, start, 0x20, start == 0x1000 ? "first" : "second");
            csni_batch_add_row(&s.writer, 0, file, 10);
            csni_batch_add_row(&s.writer, 4, file, 11);
        }
        assert_int_equal(model_sample_link(&s), CSN_OK);
        struct csn_bytes object = object_of(&s, writers[i]), again;
        struct csni_span section;
        assert_int_equal(csni_section_find_index((struct csni_span){ object.ptr, object.size }, &section, NULL), CSN_OK);
        struct csn_index *index = opened(object.ptr, object.size);
        struct csn_record record;
        assert_int_equal(csn_index_record(index, 0, &record, NULL), CSN_OK);
        csn_index_close(index);
        csni_put32(object.ptr + (section.ptr - object.ptr) + record.offset, 4, false);
        index = opened(object.ptr, object.size);
        struct csn_verify_counts counts;
        assert_int_equal(csn_index_verify(index, NULL, NULL, &counts, NULL), CSN_OK);
        assert_int_equal(counts.problems, i);
        want_answer(index, 0x1003, "first+3 /s/a.c:10");
        csn_index_close(index);
        struct csn_convert_report report = { 0 };
        assert_true(csn_convert_memory(object.ptr, object.size, NULL, &again, &report, NULL) >= 0);
        assert_int_equal(report.events[CSN_EVENT_LINE_NOT_ASCENDING].count, i);
        csn_bytes_free(&again);
        csn_bytes_free(&object);
        model_sample_deinit(&s);
    }
}

static void names_of_strings(void **state) {
    (void)state;
    struct csn_error err = CSN_ERROR_INIT;
    struct csni_gsection g;
    uint8_t other[sizeof example_b];
    memcpy(other, example_b, sizeof other);
    memcpy(other + 20, ".otherstrtab"  , 12);
    other[0x1f] = 0;
    sections.strings = (struct csni_span){ (const uint8_t *)example_strings, sizeof example_strings };
    assert_int_equal(csni_gsection_parse(&g, (struct csni_span){ other, sizeof other }, &home, &err), CSN_E_NOT_FOUND);
    assert_non_null(strstr(err.text, "the strings are in section .otherstrta, which is not there"));
    assert_int_equal(csni_gsection_parse(&g, (struct csni_span){ example_b, sizeof example_b }, NULL, &err), CSN_E_NOT_FOUND);
    memcpy(other, "GSYX", 4);
    assert_int_equal(csni_gsection_parse(&g, (struct csni_span){ other, sizeof other }, &home, &err), CSN_E_FORMAT);
    memcpy(other, example_b, 8);
    other[4] = 3;
    assert_int_equal(csni_gsection_parse(&g, (struct csni_span){ other, sizeof other }, &home, &err), CSN_E_UNSUPPORTED);
    assert_non_null(strstr(err.text, "GSYM version 3, need 1"));
    other[4] = 1;
    other[6] = 3;
    assert_int_equal(csni_gsection_parse(&g, (struct csni_span){ other, sizeof other }, &home, &err), CSN_E_FORMAT);
    assert_non_null(strstr(err.text, "address offset size 3"));
}

/* Without a size a function answers up to the next one, where no other covers the address. */
static void functions_without_size(void **state) {
    (void)state;
    struct model_sample s;
    model_sample_init(&s, NULL);
    uint32_t file = model_sample_file(&s, "/d", "f.c");
    model_sample_function(&s, 0x100, 0x40, "outer");
    csni_batch_add_row(&s.writer, 0, file, 7);
    model_sample_function(&s, 0x110, 8, "label");
    model_sample_function(&s, 0x200, 8, "last");
    assert_int_equal(model_sample_link(&s), CSN_OK);
    struct csni_gsection_image image = build(&s, 'B', false);
    struct csni_gsection g;
    sections.strings = (struct csni_span){ image.strings.items, image.strings.count };
    assert_int_equal(csni_gsection_parse(&g, (struct csni_span){ image.section.items, image.section.count }, &home, NULL), CSN_OK);
    for (uint32_t i = 1; i < 3; i++) csni_put32(image.section.items + csni_gsym_info_offset(&g.gsym, i), 0, false);
    want_row(&g, 0x118, 1, 7, 0);
    want_row(&g, 0x250, 0, 0, 0);
    struct csni_gsym_answer answer;
    assert_int_equal(csni_gsection_lookup(&g, 0x150, CSN_LOOKUP_DEFAULT, &answer, NULL), CSN_OK);
    assert_int_equal(answer.idx, 1); /* the label: outer ends before */
    csni_gsection_image_free(&image);
    model_sample_deinit(&s);
}

/* Of functions with one start, a lookup reads only so many. */
static void many_equal_starts(void **state) {
    (void)state;
    for (uint32_t count = CSNI_GSYM_SAME_START_MAX; count <= CSNI_GSYM_SAME_START_MAX + 1; count++) {
        struct model_sample s;
        model_sample_init(&s, NULL);
        for (uint32_t k = 1; k <= count; k++) model_sample_function(&s, 0x1000, k, "f");
        assert_int_equal(model_sample_link(&s), CSN_OK);
        struct csni_gsection_image image = build(&s, 'B', false);
        struct csni_gsection g;
        sections.strings = (struct csni_span){ image.strings.items, image.strings.count };
        struct csni_span bytes = { image.section.items, image.section.count };
        assert_int_equal(csni_gsection_parse(&g, bytes, &home, NULL), CSN_OK);
        assert_int_equal(g.gsym.address_count, count);
        struct csni_gsym_answer answer;
        assert_int_equal(csni_gsection_lookup(&g, 0x1000, CSN_LOOKUP_DEFAULT, &answer, NULL), CSN_OK);
        csn_status last = csni_gsection_lookup(&g, 0x1000 + count, CSN_LOOKUP_DEFAULT, &answer, NULL);
        assert_int_equal(last, count > CSNI_GSYM_SAME_START_MAX ? CSN_E_LIMIT : CSN_NONE);
        csni_gsection_image_free(&image);
        model_sample_deinit(&s);
    }
}

static void files_of_the_scripts(void **state) {
    (void)state;
    static const struct { const char *path; char revision; } files[] = {
        { CSN_TEST_DATA "/gsection/script-A.o", 'A' },  { CSN_TEST_DATA "/gsection/script-B.o", 'B' },
        { CSN_TEST_DATA "/gsection/script-C.o", 'C' },  { CSN_TEST_DATA "/gsection/script-C2.o", 'C' },
        { CSN_TEST_DATA "/gsection/script-D.o", 'D' },  { CSN_TEST_DATA "/gsection/script-D.gsym", 'D' },
    };
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct csn_index *index;
        struct csn_index_info info;
        struct csn_error err = CSN_ERROR_INIT;
        if (csn_index_open_file(files[i].path, NULL, &index, &err) < 0) fail_msg("%s: %s", files[i].path, err.text);
        csn_index_get_info(index, &info, sizeof(info));
        assert_int_equal(info.revision, files[i].revision);
        check_sound(index);
        bool has_inlines = files[i].revision != 'A';
        want_answer(index, 0x100c, "sum+12 /s/shapes.c:6");
        want_answer(index, 0x1018, has_inlines ? "sum::square+11 /s/shapes.c:3 < sum+24 /s/shapes.c:6" : "sum+24 /s/shapes.c:3");
        want_answer(index, 0x1020, "sum+32 /s/shapes.c:7");
        want_answer(index, 0x1030, has_inlines ? "sum::square+10 /s/shapes.c:3 < sum+48 /s/shapes.c:7" : "sum+48 /s/shapes.c:3");
        want_answer(index, 0x1050, "main+16 /s/shapes.c:9");
        csn_index_close(index);
    }
}

/* ---- shared strings ---- */

static uint32_t string_at(struct csni_span table, const char *text, bool whole) {
    struct model_sample s;
    model_sample_init(&s, NULL);
    model_sample_function(&s, 0x1000, 8, text);
    assert_int_equal(model_sample_link(&s), CSN_OK);
    uint32_t *at = calloc(s.model.string_count, sizeof *at);
    assert_non_null(at);
    assert_int_equal(csni_gsection_find_strings(&s.model, table, whole, at, NULL), CSN_OK);
    uint32_t found = at[*text ? s.model.string_count - 1 : 0];
    free(at);
    model_sample_deinit(&s);
    return found;
}

static void strings_found_in_others(void **state) {
    (void)state;
    static const char text[] = "first\0subfunction\0function\0\0tail";
    struct csni_span table = { (const uint8_t *)text, sizeof text };
    assert_int_equal(string_at(table, "first", false), 0);
    assert_int_equal(string_at(table, "function", false), 9);
    assert_int_equal(string_at(table, "function", true), 18);
    assert_int_equal(string_at(table, "tion", true), CSNI_NO_STRING);
    assert_int_equal(string_at(table, "tion", false), 13);
    assert_int_equal(string_at(table, "missing", false), CSNI_NO_STRING);
    assert_int_equal(string_at(table, "", false), 5);
    assert_int_equal(string_at(table, "", true), 27);
    assert_int_equal(string_at((struct csni_span){ table.ptr, 6 }, "", true), CSNI_NO_STRING);
    table.size -= 1; /* "tail" without its NUL */
    assert_int_equal(string_at(table, "tail", false), CSNI_NO_STRING);
}

static void shared_strings(void **state) {
    (void)state;
    static const char text[] = "x_main\0/s\0sq\0xfoo";
    struct model_sample s;
    link_example(&s, false);
    struct csni_gsection_options options = { .revision = 'B', .strings_name = csni_str(".gsymstrtab"),
                                             .shared = { (const uint8_t *)text, sizeof text } };
    struct csni_gsection_image image;
    assert_int_equal(csni_gsection_build(&s.model, &options, &image, &s.report, NULL), CSN_OK);
    assert_int_equal(image.strings.count, 8); /* a.c and b.h */
    uint8_t both[sizeof text + 8];
    memcpy(both, text, sizeof text);
    memcpy(both + sizeof text, image.strings.items, 8);
    sections.strings = (struct csni_span){ both, sizeof both };
    struct csni_gsection g;
    assert_int_equal(csni_gsection_parse(&g, (struct csni_span){ image.section.items, image.section.count }, &home, NULL), CSN_OK);
    struct csn_str directory, base;
    assert_true(csni_gsection_file(&g, 2, &directory, &base));
    assert_true(csni_str_is(directory, "/s") && csni_str_is(base, "b.h"));
    assert_false(csni_gsection_file(&g, 3, &directory, &base));
    struct csni_gsym_record record = { 0 };
    assert_int_equal(csni_gsym_record(&g.gsym, 0, &record, NULL), CSN_OK);
    assert_true(csni_str_is(csni_gsym_string(&g.gsym, record.name), "main"));
    csni_gsection_image_free(&image);
    model_sample_deinit(&s);
}

/* ---- generated models ---- */

static uint32_t next_random(uint64_t *seed, uint32_t below) {
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33) % below;
}

static const char *const words[] = { "alpha", "beta", "gamma", "delta", "epsilon", "a", "x::y", "b::c<d>", "operator+" };

static void add_inlines(struct model_sample *s, uint64_t *seed, uint32_t files, uint32_t start, uint32_t end, int depth) {
    for (uint32_t at = start; depth < 4 && end > start && at + 2 < end;) {
        uint32_t from = at + next_random(seed, 4), to = from + 1 + next_random(seed, 8);
        if (to > end) return;
        uint32_t name = model_sample_string(s, words[next_random(seed, 5)]);
        uint32_t node = csni_batch_begin_inline(&s->writer, name, 1 + next_random(seed, files), 1 + next_random(seed, 500));
        csni_batch_add_part(&s->writer, from, to);
        uint32_t second = to + 1 + next_random(seed, 3);
        at = to;
        if (second + 2 <= end && next_random(seed, 2)) {
            csni_batch_add_part(&s->writer, second, second + 2);
            at = second + 2;
        }
        add_inlines(s, seed, files, from, to, depth + 1);
        csni_batch_end_inline(&s->writer, node);
        at += 1;
    }
}

static void generate(struct model_sample *s, uint64_t seed) {
    model_sample_init(s, NULL);
    uint32_t files = 1 + next_random(&seed, 5);
    for (uint32_t i = 0; i < files; i++) model_sample_file(s, words[i], words[(i + 1) % 5]);
    uint64_t at = next_random(&seed, 2) ? 0xffffffff80000000u : 0x1000;
    uint32_t count = 1 + next_random(&seed, 12);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t size = 1 + next_random(&seed, 60);
        model_sample_function(s, at, size, words[next_random(&seed, 9)]);
        uint32_t off = next_random(&seed, 3), rows = next_random(&seed, 6);
        for (uint32_t k = 0; k < rows && off < size; k++) {
            csni_batch_add_row(&s->writer, off, next_random(&seed, files + 1), /* 0: none */
                               next_random(&seed, next_random(&seed, 2) ? 20 : 9000));
            off += 1 + next_random(&seed, 30);
        }
        if (next_random(&seed, 2)) add_inlines(s, &seed, files, 0, size, 0);
        at += size + next_random(&seed, 3) * next_random(&seed, 70000);
    }
    assert_int_equal(model_sample_link(s), CSN_OK);
    s->model.image.big_endian = next_random(&seed, 2);
}

static struct csn_bytes gsym_of(struct model_sample *s) {
    struct csn_bytes out = { NULL, 0, s->alloc };
    struct csni_sink sink = csni_memory_sink(&out);
    assert_int_equal(csni_gsym_write(&s->model, CSNI_GSYM_WRITE_V1, NULL, &sink, &s->report, NULL), CSN_OK);
    return out;
}

/* The answers at every address of every function, and around them. */
static void compare_answers(const struct csn_index *want, const struct csn_index *got, bool with_inlines) {
    struct csn_index_info info;
    csn_index_get_info(want, &info, sizeof(info));
    for (uint32_t i = 0; i < info.function_count; i++) {
        struct csn_function function;
        assert_int_equal(csn_index_function(want, i, &function, NULL), CSN_OK);
        for (uint64_t addr = function.start - 1; addr <= function.start + function.size; addr++) {
            struct csn_frame first[8], second[8];
            size_t first_count = 0, second_count = 0;
            csn_status status = csn_index_lookup(want, addr, first, 8, &first_count, NULL);
            assert_int_equal(csn_index_lookup(got, addr, second, 8, &second_count, NULL), status);
            if (!with_inlines && status == CSN_OK) {
                assert_int_equal(second_count, 1);
                first[0].name = first[first_count - 1].name; /* the function, at the innermost place */
                first[0].offset = addr - function.start;
                first[0].flags = 0;
                if (addr == function.start - 1 || addr == function.start + function.size) continue;
                first_count = 1;
            }
            assert_int_equal(first_count, second_count);
            for (size_t k = 0; k < first_count && k < 8; k++) {
                assert_true(csni_str_equal(first[k].name, second[k].name));
                assert_true(csni_str_equal(first[k].directory, second[k].directory));
                assert_true(csni_str_equal(first[k].base, second[k].base));
                assert_int_equal(first[k].line, second[k].line);
                assert_int_equal(first[k].offset, second[k].offset);
                assert_int_equal(first[k].flags, second[k].flags);
                assert_int_equal(first[k].reason, second[k].reason);
            }
        }
    }
}

/* model -> section -> lookups, and model -> section -> model -> GSYM version 1: all answers equal those of GSYM version 1 made
 * from the model itself. */
static void round_trips(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 150; seed++) {
        struct model_sample s;
        generate(&s, seed);
        struct csn_bytes plain = gsym_of(&s);
        struct csn_index *want = opened(plain.ptr, plain.size);
        for (unsigned i = 0; i < REVISIONS; i++) {
            struct csn_bytes object = object_of(&s, revisions[i]), again;
            struct csn_index *got = opened(object.ptr, object.size);
            struct csn_error err = CSN_ERROR_INIT;
            check_sound(got);
            compare_answers(want, got, revisions[i] != CSN_REVISION_A);
            csn_index_close(got);
            if (csn_convert_memory(object.ptr, object.size, NULL, &again, NULL, &err) < 0) fail_msg("%s", err.text);
            got = opened(again.ptr, again.size);
            check_sound(got);
            compare_answers(want, got, revisions[i] != CSN_REVISION_A);
            csn_index_close(got);
            csn_bytes_free(&again);
            csn_bytes_free(&object);
        }
        csn_index_close(want);
        csn_bytes_free(&plain);
        model_sample_deinit(&s);
    }
}

/* The older revisions have no place for a build id, and that is told. */
static void build_id_that_is_lost(void **state) {
    (void)state;
    static const uint8_t id[] = { 1, 2, 3, 4 };
    for (unsigned i = 0; i < REVISIONS; i++) {
        struct model_sample s;
        link_example(&s, false);
        s.model.image.uuid = (struct csni_span){ id, sizeof id };
        struct csn_bytes object = object_of(&s, revisions[i]);
        struct csn_index *index = opened(object.ptr, object.size);
        struct csn_index_info info;
        csn_index_get_info(index, &info, sizeof(info));
        bool holds = revisions[i] == CSN_REVISION_F || revisions[i] == CSN_REVISION_G;
        assert_int_equal(info.uuid_size, holds ? sizeof id : 0);
        if (holds) assert_memory_equal(info.uuid, id, sizeof id);
        assert_int_equal(s.report.events[CSN_EVENT_PART_LOST].count, !holds);
        assert_string_equal(s.report.events[CSN_EVENT_PART_LOST].example, holds ? "" : "build id");
        csn_index_close(index);
        csn_bytes_free(&object);
        model_sample_deinit(&s);
    }
}

/* ---- damage ---- */

static void use_everything(const void *bytes, size_t size) {
    struct csn_index *index;
    struct csn_index_info info;
    struct csn_verify_counts counts;
    if (csn_index_open_memory(bytes, size, NULL, &index, NULL) < 0) return;
    csn_index_get_info(index, &info, sizeof(info));
    csn_index_verify(index, NULL, NULL, &counts, NULL);
    for (uint32_t i = 0; i < info.function_count && i < 16; i++) {
        struct csn_record record;
        struct csn_row_iter rows;
        struct csn_row row;
        static struct csn_inline_iter nodes;
        struct csn_inline_node node;
        if (csn_index_record(index, i, &record, NULL) < 0) continue;
        if (csn_row_iter_init(&rows, index, &record, NULL) == CSN_OK)
            while (csn_row_iter_next(&rows, &row, NULL) == CSN_OK) {}
        if (csn_inline_iter_init(&nodes, index, &record, NULL) == CSN_OK)
            while (csn_inline_iter_next(&nodes, &node, NULL) == CSN_OK) {}
        char text[512];
        for (uint64_t addr = record.start - 1; addr < record.start + 40; addr += 3) put_answer(index, addr, text, sizeof text);
    }
    csn_index_close(index);
    struct csn_bytes again;
    if (csn_convert_memory(bytes, size, NULL, &again, NULL, NULL) >= 0) csn_bytes_free(&again);
}

/* A copy in a block of its own, so that a sanitizer sees every read past it. */
static uint8_t *copy_of(const struct csn_bytes *bytes, size_t size) {
    uint8_t *copy = malloc(size ? size : 1);
    assert_non_null(copy);
    memcpy(copy, bytes->ptr, size);
    return copy;
}

static void every_truncation(void **state) {
    (void)state;
    for (unsigned i = 0; i < REVISIONS; i++) {
        struct model_sample s;
        link_example(&s, i & 1);
        struct csn_bytes object = object_of(&s, revisions[i]);
        struct csni_span section;
        assert_int_equal(csni_section_find_index((struct csni_span){ object.ptr, object.size }, &section, NULL), CSN_OK);
        for (size_t size = 0; size < object.size; size++) {
            uint8_t *copy = copy_of(&object, size);
            use_everything(copy, size);
            free(copy);
        }
        /* The section alone, with its strings whole. */
        sections.strings = (struct csni_span){ (const uint8_t *)example_strings, sizeof example_strings };
        for (size_t size = 0; size < section.size; size++) {
            uint8_t *copy = malloc(size + 1);
            assert_non_null(copy);
            memcpy(copy, section.ptr, size);
            struct csni_gsection g;
            struct csn_error err = CSN_ERROR_INIT;
            csn_status status = csni_gsection_parse(&g, (struct csni_span){ copy, size }, &home, &err);
            assert_true(status >= 0 || err.text[0]);
            struct csn_verify_counts counts;
            if (status >= 0) csni_gsection_verify(&g, NULL, NULL, &counts);
            free(copy);
        }
        csn_bytes_free(&object);
        model_sample_deinit(&s);
    }
}

static void flipped_bits(void **state) {
    (void)state;
    uint64_t seed = 5;
    for (unsigned i = 0; i < REVISIONS; i++) {
        struct model_sample s;
        generate(&s, 20 + i);
        struct csn_bytes object = object_of(&s, revisions[i]);
        for (unsigned round = 0; round < 1500 / SWEEP_STEP; round++) {
            uint8_t *copy = copy_of(&object, object.size);
            for (uint32_t k = 1 + next_random(&seed, 4); k > 0; k--)
                copy[next_random(&seed, (uint32_t)object.size)] ^= (uint8_t)(1u << next_random(&seed, 8));
            use_everything(copy, object.size);
            free(copy);
        }
        csn_bytes_free(&object);
        model_sample_deinit(&s);
    }
}

static csn_status write_step(void *context, const struct csn_allocator *alloc) {
    struct model_sample s;
    struct csn_bytes out;
    model_sample_init(&s, alloc);
    fill_example(&s);
    csn_status status = model_sample_link(&s);
    if (status >= 0) status = write_object(&s, *(const uint32_t *)context, &out, NULL);
    if (status >= 0) csn_bytes_free(&out);
    model_sample_deinit(&s);
    return status;
}

static csn_status convert_step(void *context, const struct csn_allocator *alloc) {
    const struct csn_bytes *object = context;
    struct csn_convert_options options = CSN_CONVERT_OPTIONS_INIT;
    struct csn_bytes out;
    options.allocator = alloc;
    options.threads = 1;
    csn_status status = csn_convert_memory(object->ptr, object->size, &options, &out, NULL, NULL);
    if (status >= 0) csn_bytes_free(&out);
    return status;
}

static void allocation_failures(void **state) {
    (void)state;
    for (unsigned i = 0; i < REVISIONS; i++) {
        uint32_t revision = revisions[i];
        assert_true(test_allocator_sweep(write_step, &revision, 0) > 20);
        struct model_sample s;
        link_example(&s, false);
        struct csn_bytes object = object_of(&s, revision);
        assert_true(test_allocator_sweep(convert_step, &object, 1) > 10);
        csn_bytes_free(&object);
        model_sample_deinit(&s);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(example_bytes),          cmocka_unit_test(example_object),
        cmocka_unit_test(example_answers),        cmocka_unit_test(uncounted_padding),
        cmocka_unit_test(names_of_strings),       cmocka_unit_test(empty_line_table),
        cmocka_unit_test(functions_without_size), cmocka_unit_test(many_equal_starts),
        cmocka_unit_test(files_of_the_scripts),   cmocka_unit_test(strings_found_in_others),
        cmocka_unit_test(shared_strings),         cmocka_unit_test(round_trips),
        cmocka_unit_test(build_id_that_is_lost),  cmocka_unit_test(every_truncation),
        cmocka_unit_test(flipped_bits),           cmocka_unit_test(allocation_failures),
        cmocka_unit_test(unknown_part),           cmocka_unit_test(rows_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
