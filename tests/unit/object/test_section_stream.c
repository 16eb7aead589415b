/* object/: sections that are read while they inflate. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/core/fail.h"
#include "object/elf/elf_layout.h"
#include "object/section_stream.h"
#include "support/object_sample.h"
#include "support/test_alloc.h"

struct sample {
    struct wire_elf elf;
    struct wire content, file;
    struct csni_object *object;
    struct csni_section_stream *stream;
    struct csn_error err;
};

static const enum sample_compression kinds[] = { SAMPLE_ZLIB, SAMPLE_ZSTD, SAMPLE_ZDEBUG };
enum { KINDS = 3 };

static void build(struct sample *s, enum sample_compression c, uint64_t promised_size) {
    memset(s, 0, sizeof *s);
    wire_elf_init(&s->elf, true, false, ET_EXEC, EM_X86_64);
    wire_init(&s->content, false);
    wire_init(&s->file, false);
    sample_compress(&s->content, c, true, sample_text(), promised_size);
    bool named = c == SAMPLE_ZDEBUG;
    wire_elf_add_wire(&s->elf, named ? ".zdebug_info" : ".debug_info", SHT_PROGBITS,
                      named || c == SAMPLE_PLAIN ? 0 : SHF_COMPRESSED, 0, &s->content);
    wire_elf_build(&s->elf, &s->file, NULL);
}

static csn_status open_file(struct sample *s, struct csni_span file, uint64_t limit, const struct csn_allocator *alloc) {
    struct csni_object_options options = { .max_decompressed_bytes = limit, .allocator = alloc };
    s->err = (struct csn_error)CSN_ERROR_INIT;
    CSNI_TRY(csni_object_open(file, &options, &s->object, &s->err));
    return csni_object_stream_section(s->object, 1, &s->stream, &s->err);
}

static void close_file(struct sample *s) {
    csni_section_stream_close(s->stream);
    csni_object_close(s->object);
    s->stream = NULL;
    s->object = NULL;
}

static void end(struct sample *s) {
    close_file(s);
    wire_elf_deinit(&s->elf);
    wire_deinit(&s->content);
    wire_deinit(&s->file);
}

/* False where the build cannot inflate that way in pieces: then nothing is left open. */
static bool begin(struct sample *s, enum sample_compression c, uint64_t promised_size) {
    if (!sample_can_compress(c)) return false;
    build(s, c, promised_size);
    csn_status status = open_file(s, wire_span(&s->file), 0, NULL);
    if (status == CSN_NONE) end(s);
    else if (status < 0) fail_msg("%s", csn_error_text(&s->err));
    return status == CSN_OK;
}

static void piece_after_piece(void **state) {
    (void)state;
    int tried = 0;
    for (int k = 0; k < KINDS; k++) {
        static const uint64_t steps[] = { 17, 1000, SAMPLE_TEXT_SIZE };
        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
            struct sample s;
            if (!begin(&s, kinds[k], SAMPLE_TEXT_SIZE)) continue;
            tried++;
            for (uint64_t at = 0, left; (left = csni_section_stream_left(s.stream)) > 0; at += steps[i]) {
                size_t size = (size_t)(steps[i] < left ? steps[i] : left);
                assert_int_equal(left, SAMPLE_TEXT_SIZE - at);
                uint8_t *piece = malloc(size); /* each elsewhere: what stands after is not looked at again */
                assert_int_equal(csni_section_stream_read(s.stream, piece, size, &s.err), CSN_OK);
                assert_memory_equal(piece, sample_text().ptr + at, size);
                free(piece);
            }
            uint8_t more;
            assert_int_equal(csni_section_stream_read(s.stream, &more, 1, &s.err), CSN_E_ARGUMENT);
            assert_int_equal(csni_section_stream_read(s.stream, &more, 0, &s.err), CSN_OK);
            assert_int_equal(csni_object_inflated_bytes(s.object), SAMPLE_TEXT_SIZE);
            end(&s);
        }
    }
    if (!tried) skip();
}

/* The section can be read as a whole beside it, and again. */
static void twice(void **state) {
    (void)state;
    struct sample s;
    if (!begin(&s, SAMPLE_ZLIB, SAMPLE_TEXT_SIZE)) skip();
    uint8_t first[100];
    struct csni_span read;
    assert_int_equal(csni_section_stream_read(s.stream, first, sizeof first, &s.err), CSN_OK);
    assert_int_equal(csni_object_read_section(s.object, 1, &read, &s.err), CSN_OK);
    assert_memory_equal(read.ptr, sample_text().ptr, SAMPLE_TEXT_SIZE);
    struct csni_section_stream *second = NULL;
    assert_int_equal(csni_object_stream_section(s.object, 1, &second, &s.err), CSN_OK);
    assert_int_equal(csni_section_stream_read(second, first, sizeof first, &s.err), CSN_OK);
    assert_memory_equal(first, sample_text().ptr, sizeof first);
    csni_section_stream_close(second);
    end(&s);
}

static void what_is_no_stream(void **state) {
    (void)state;
    struct sample s;
    build(&s, SAMPLE_PLAIN, 0);
    assert_int_equal(open_file(&s, wire_span(&s.file), 0, NULL), CSN_NONE);
    assert_int_equal(csni_object_stream_section(s.object, 99, &s.stream, &s.err), CSN_NONE);
    end(&s);
}

/* All of it, in two pieces. */
static csn_status read_all(struct sample *s) {
    size_t size = (size_t)csni_section_stream_left(s->stream), first = size < 5000 ? size : 5000;
    uint8_t *bytes = malloc(size);
    csn_status status = csni_section_stream_read(s->stream, bytes, first, &s->err);
    if (status == CSN_OK) status = csni_section_stream_read(s->stream, bytes + first, size - first, &s->err);
    free(bytes);
    return status;
}

static void expect_failure(enum sample_compression c, uint64_t promised_size, const char *text) {
    struct sample s;
    if (!begin(&s, c, promised_size)) return;
    assert_int_equal(read_all(&s), CSN_E_FORMAT);
    assert_string_equal(csn_error_text(&s.err), text);
    end(&s);
}

static void names_both_sizes(void **state) {
    (void)state;
    for (int k = 0; k < 2; k++)
        expect_failure(kinds[k], SAMPLE_TEXT_SIZE + 1,
                       ".debug_info+0x0: inflates to 0x4e20 bytes, header promises 0x4e21");
    expect_failure(SAMPLE_ZLIB, SAMPLE_TEXT_SIZE - 1,
                   ".debug_info+0x0: inflates to more than the 0x4e1f bytes of its header");
}

static void keeps_the_limit(void **state) {
    (void)state;
    if (!sample_can_compress(SAMPLE_ZLIB)) skip();
    struct sample s;
    build(&s, SAMPLE_ZLIB, SAMPLE_TEXT_SIZE);
    csn_status status = open_file(&s, wire_span(&s.file), SAMPLE_TEXT_SIZE - 1, NULL);
    if (status == CSN_OK) fail_msg("no limit");
    if (status < 0)
        assert_string_equal(csn_error_text(&s.err),
                            ".debug_info+0x0: needs 0x4e20 bytes inflated besides 0x0 held, limit 0x4e1f");
    close_file(&s);
    /* What a stream held is free again. */
    for (int i = 0; i < 3; i++) {
        assert_true(open_file(&s, wire_span(&s.file), SAMPLE_TEXT_SIZE, NULL) >= 0);
        struct csni_span read;
        csni_section_stream_close(s.stream);
        s.stream = NULL;
        assert_int_equal(csni_object_read_section(s.object, 1, &read, &s.err), CSN_OK);
        close_file(&s);
    }
    end(&s);
}

/* Data cut anywhere, and with any byte changed: a failure that says so, or, where the change does not show, some bytes. */
static void damaged_data(void **state) {
    (void)state;
    for (int k = 0; k < KINDS; k++) {
        struct sample s;
        if (!begin(&s, kinds[k], SAMPLE_TEXT_SIZE)) continue;
        close_file(&s);
        size_t header = kinds[k] == SAMPLE_ZDEBUG ? 12 : 24;
        struct csni_object *plain = NULL;
        assert_int_equal(csni_object_open(wire_span(&s.file), NULL, &plain, &s.err), CSN_OK);
        uint8_t *data = s.file.bytes + plain->sections[1].file_off;
        csni_object_close(plain);
        size_t detected = 0, changes = 0;
        for (size_t i = header; i < s.content.size; i += i < header + 100 ? 1 : 9, changes++) {
            data[i] ^= 0x55;
            csn_status status = open_file(&s, wire_span(&s.file), 0, NULL);
            if (status == CSN_OK) status = read_all(&s);
            detected += status == CSN_E_FORMAT;
            assert_true(status == CSN_OK || s.err.text[0]);
            close_file(&s);
            data[i] ^= 0x55;
        }
        /* zlib data has a checksum; the samples of zstd need not have one. */
        if (kinds[k] != SAMPLE_ZSTD) assert_int_equal(detected, changes);
        assert_true(detected > 0);
        end(&s);
    }
}

static csn_status all_of_it(void *context, const struct csn_allocator *alloc) {
    struct sample *s = context;
    csn_status status = open_file(s, wire_span(&s->file), 0, alloc);
    if (status == CSN_OK) status = read_all(s);
    close_file(s);
    return status;
}

static void out_of_memory(void **state) {
    (void)state;
    struct sample s;
    if (!begin(&s, SAMPLE_ZLIB, SAMPLE_TEXT_SIZE)) skip();
    close_file(&s);
    assert_true(test_allocator_sweep(all_of_it, &s, 0) > 2);
    end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(piece_after_piece), cmocka_unit_test(twice),          cmocka_unit_test(what_is_no_stream),
        cmocka_unit_test(names_both_sizes),  cmocka_unit_test(keeps_the_limit), cmocka_unit_test(damaged_data),
        cmocka_unit_test(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
