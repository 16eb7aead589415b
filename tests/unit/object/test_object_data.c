/* object: content of sections: plain, inflated, damaged, limited, released, discarded, from several threads. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <pthread.h>
#include <unistd.h>

#include "base/core/file_map.h"
#include "object/elf/elf_layout.h"
#include "support/object_sample.h"

/* A file with one debug section of given content. */
struct sample {
    struct wire_elf elf;
    struct wire content, file;
    struct csni_object *object;
    struct csn_error err;
};

static void begin(struct sample *s, bool wide, bool big) {
    memset(s, 0, sizeof *s);
    wire_elf_init(&s->elf, wide, big, ET_EXEC, EM_X86_64);
    wire_init(&s->content, big);
    wire_init(&s->file, big);
}

/* Section 1 gets what was written to `content`. */
static void open_content(struct sample *s, const char *name, uint64_t flags, uint64_t limit) {
    struct csni_object_options options = { .max_decompressed_bytes = limit };
    wire_elf_add_wire(&s->elf, name, SHT_PROGBITS, flags, 0, &s->content);
    wire_elf_build(&s->elf, &s->file, NULL);
    assert_int_equal(csni_object_open(wire_span(&s->file), &options, &s->object, &s->err), CSN_OK);
}

static void end(struct sample *s) {
    csni_object_close(s->object);
    wire_elf_deinit(&s->elf);
    wire_deinit(&s->content);
    wire_deinit(&s->file);
}

static const char *debug_name(enum sample_compression c) { return c == SAMPLE_ZDEBUG ? ".zdebug_info" : ".debug_info"; }
static uint64_t debug_flags(enum sample_compression c) { return c == SAMPLE_ZLIB || c == SAMPLE_ZSTD ? SHF_COMPRESSED : 0; }

static void open_compressed(struct sample *s, enum sample_compression c, bool wide, bool big, uint64_t promised_size,
                            uint64_t limit) {
    begin(s, wide, big);
    sample_compress(&s->content, c, wide, sample_text(), promised_size);
    open_content(s, debug_name(c), debug_flags(c), limit);
}

static csn_status read_one(struct sample *s, struct csni_span *out) {
    s->err = (struct csn_error)CSN_ERROR_INIT;
    return csni_object_read_section(s->object, 1, out, &s->err);
}

static void expect_copy(const struct sample *s) {
    static uint8_t copy[SAMPLE_TEXT_SIZE];
    size_t size;
    memset(copy, 0, sizeof copy);
    assert_int_equal(csni_object_copy_unrelocated(s->object, 1, copy, sizeof copy - 1, &size, NULL), CSN_OK);
    assert_int_equal(size, SAMPLE_TEXT_SIZE);
    assert_int_equal(copy[0], 0); /* no room for all */
    assert_int_equal(csni_object_copy_unrelocated(s->object, 1, copy, sizeof copy, &size, NULL), CSN_OK);
    assert_memory_equal(copy, sample_text().ptr, SAMPLE_TEXT_SIZE);
    assert_int_equal(csni_object_copy_unrelocated(s->object, s->object->section_count, copy, sizeof copy, &size, NULL), CSN_E_ARGUMENT);
    assert_int_equal(size, 0);
}

static void check_inflated(enum sample_compression c, bool wide, bool big) {
    struct sample s;
    struct csni_span bytes, again;
    open_compressed(&s, c, wide, big, SAMPLE_TEXT_SIZE, 0);
    assert_int_equal(s.object->sections[1].size, SAMPLE_TEXT_SIZE);
    assert_int_equal(s.object->sections[1].flags & CSNI_SECTION_COMPRESSED, c == SAMPLE_PLAIN ? 0 : CSNI_SECTION_COMPRESSED);
    assert_int_equal(csni_object_find_debug_section(s.object, "info", false), 1);
    assert_int_equal(csni_object_inflated_bytes(s.object), 0);
    assert_int_equal(read_one(&s, &bytes), CSN_OK);
    assert_int_equal(bytes.size, SAMPLE_TEXT_SIZE);
    assert_memory_equal(bytes.ptr, sample_text().ptr, SAMPLE_TEXT_SIZE);
    assert_int_equal(read_one(&s, &again), CSN_OK);
    assert_ptr_equal(again.ptr, bytes.ptr);
    uint64_t inflated = c == SAMPLE_PLAIN ? 0 : SAMPLE_TEXT_SIZE;
    assert_int_equal(csni_object_inflated_bytes(s.object), inflated);
    csni_object_release_section(s.object, 1);
    csni_object_release_section(s.object, 1);
    assert_int_equal(read_one(&s, &bytes), CSN_OK);
    assert_memory_equal(bytes.ptr, sample_text().ptr, SAMPLE_TEXT_SIZE);
    assert_int_equal(csni_object_inflated_bytes(s.object), 2 * inflated);
    expect_copy(&s);
    end(&s);
}

static void inflates(void **state) {
    (void)state;
    for (int c = SAMPLE_PLAIN; c <= SAMPLE_ZDEBUG; c++)
        for (int shape = 0; shape < 4 && sample_can_compress((enum sample_compression)c); shape++)
            check_inflated((enum sample_compression)c, shape & 1, shape & 2);
}

/* Skips where the build lacks the library; elsewhere says so instead of passing in silence. */
static void need(enum sample_compression c) {
    if (!sample_can_compress(c)) skip();
}

static void names_both_sizes(void **state) {
    (void)state;
    need(SAMPLE_ZLIB);
    struct sample s;
    struct csni_span bytes = { NULL, 77 };
    open_compressed(&s, SAMPLE_ZLIB, true, false, SAMPLE_TEXT_SIZE + 1, 0);
    assert_int_equal(read_one(&s, &bytes), CSN_E_FORMAT);
    assert_string_equal(csn_error_text(&s.err), ".debug_info+0x0: inflates to 0x4e20 bytes, header promises 0x4e21");
    assert_string_equal(s.err.section, ".debug_info");
    assert_int_equal(bytes.size, 77); /* untouched */
    end(&s);
    open_compressed(&s, SAMPLE_ZDEBUG, true, false, SAMPLE_TEXT_SIZE - 1, 0);
    assert_int_equal(read_one(&s, &bytes), CSN_E_FORMAT);
    assert_string_equal(csn_error_text(&s.err),
                        ".zdebug_info+0x0: inflates to more than the 0x4e1f bytes of its header");
    end(&s);
}

static void names_both_sizes_of_zstd(void **state) {
    (void)state;
    need(SAMPLE_ZSTD);
    struct sample s;
    struct csni_span bytes;
    open_compressed(&s, SAMPLE_ZSTD, true, false, SAMPLE_TEXT_SIZE + 1, 0);
    assert_int_equal(read_one(&s, &bytes), CSN_E_FORMAT);
    assert_string_equal(csn_error_text(&s.err), ".debug_info+0x0: inflates to 0x4e20 bytes, header promises 0x4e21");
    end(&s);
    open_compressed(&s, SAMPLE_ZSTD, true, false, SAMPLE_TEXT_SIZE - 1, 0);
    assert_int_equal(read_one(&s, &bytes), CSN_E_FORMAT);
    assert_string_equal(csn_error_text(&s.err), ".debug_info+0x0: zstd frame of 0x4e20 bytes, header promises 0x4e1f");
    end(&s);
}

/* As linkers that compress in parallel may write it. */
static void inflates_several_zstd_frames(void **state) {
    (void)state;
    need(SAMPLE_ZSTD);
    struct sample s;
    struct wire second;
    struct csni_span bytes, text = sample_text();
    begin(&s, true, false);
    sample_compress(&s.content, SAMPLE_ZSTD, true, (struct csni_span){ text.ptr, 5000 }, SAMPLE_TEXT_SIZE);
    wire_init(&second, false);
    sample_compress(&second, SAMPLE_ZSTD, true, csni_span_from(text, 5000), 0);
    wire_bytes(&s.content, second.bytes + CHDR64_SIZE, second.size - CHDR64_SIZE);
    open_content(&s, ".debug_info", SHF_COMPRESSED, 0);
    assert_int_equal(read_one(&s, &bytes), CSN_OK);
    assert_memory_equal(bytes.ptr, text.ptr, text.size);
    wire_deinit(&second);
    end(&s);
}

/* A small file that promises terabytes is refused before memory is asked for. */
static void refuses_impossible_sizes(void **state) {
    (void)state;
    static const enum sample_compression all[] = { SAMPLE_ZLIB, SAMPLE_ZSTD, SAMPLE_ZDEBUG };
    static const uint64_t sizes[] = { UINT64_C(1) << 40, UINT64_MAX, UINT64_C(1) << 63 };
    for (size_t i = 0; i < 3; i++) {
        for (size_t k = 0; k < 3 && sample_can_compress(all[i]); k++) {
            struct sample s;
            struct csni_span bytes;
            open_compressed(&s, all[i], true, false, sizes[k], 0);
            assert_true(s.object->sections[1].size == sizes[k]);
            assert_int_equal(read_one(&s, &bytes), CSN_E_FORMAT);
            assert_non_null(strstr(csn_error_text(&s.err), "cannot come from 0x"));
            end(&s);
        }
    }
}

static void check_header_refused(const char *name, uint64_t flags, const char *content, size_t size, csn_status status,
                                 const char *text) {
    struct sample s;
    struct csni_span bytes;
    begin(&s, true, false);
    wire_bytes(&s.content, content, size);
    open_content(&s, name, flags, 0);
    assert_int_equal(s.object->sections[1].size, size);
    assert_int_equal(read_one(&s, &bytes), status);
    assert_string_equal(csn_error_text(&s.err), text);
    end(&s);
}

static void names_bad_compression_headers(void **state) {
    (void)state;
    static const char type3[CHDR64_SIZE] = { 3 };
    check_header_refused(".debug_info", SHF_COMPRESSED, type3, sizeof type3, CSN_E_UNSUPPORTED,
                         ".debug_info+0x0: compression type 3, need 1 (zlib) or 2 (zstd)");
    check_header_refused(".debug_info", SHF_COMPRESSED, type3, 23, CSN_E_TRUNCATED,
                         ".debug_info+0x0: compression header: 23 bytes, need 24");
    check_header_refused(".zdebug_info", 0, "ZLIB1234567", 11, CSN_E_TRUNCATED,
                         ".zdebug_info+0x0: compression header: 11 bytes, need 12");
    check_header_refused(".zdebug_info", 0, "plain, not packed", 17, CSN_E_FORMAT,
                         ".zdebug_info+0x0: begins with 70 6c 61 69, need 5a 4c 49 42 (ZLIB)");
}

static void names_a_library_that_is_missing(void **state) {
    (void)state;
    if (sample_can_compress(SAMPLE_ZSTD)) skip();
    static const uint8_t header[CHDR64_SIZE + 4] = { ELFCOMPRESS_ZSTD, [8] = 5 };
    struct sample s;
    struct csni_span bytes;
    begin(&s, true, false);
    wire_bytes(&s.content, header, sizeof header);
    open_content(&s, ".debug_info", SHF_COMPRESSED, 0);
    assert_int_equal(read_one(&s, &bytes), CSN_E_UNSUPPORTED);
    assert_string_equal(csn_error_text(&s.err), ".debug_info+0x0: zstd compression: this build lacks libzstd");
    end(&s);
}

/* Every cut and every flipped bit of compressed data gives the right bytes or an error. */
static void check_damage(enum sample_compression c) {
    struct wire good;
    wire_init(&good, false);
    sample_compress(&good, c, true, sample_text(), SAMPLE_TEXT_SIZE);
    for (size_t size = 0; size < good.size; size++) {
        struct sample s;
        struct csni_span bytes;
        begin(&s, true, false);
        wire_bytes(&s.content, good.bytes, size);
        open_content(&s, debug_name(c), debug_flags(c), 0);
        csn_status status = read_one(&s, &bytes);
        assert_true(status == CSN_E_FORMAT || status == CSN_E_TRUNCATED);
        assert_string_equal(s.err.section, debug_name(c));
        end(&s);
    }
    for (size_t bit = 0; bit < 8 * good.size; bit += 3) {
        struct sample s;
        struct csni_span bytes;
        begin(&s, true, false);
        wire_bytes(&s.content, good.bytes, good.size);
        s.content.bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        open_content(&s, debug_name(c), debug_flags(c), 1 << 24);
        if (read_one(&s, &bytes) == CSN_OK) assert_true(bytes.size == s.object->sections[1].size);
        end(&s);
    }
    wire_deinit(&good);
}

static void survives_damaged_data(void **state) {
    (void)state;
    for (int c = SAMPLE_ZLIB; c <= SAMPLE_ZDEBUG; c++)
        if (sample_can_compress((enum sample_compression)c)) check_damage((enum sample_compression)c);
}

static void empty_compressed_section_is_empty(void **state) {
    (void)state;
    need(SAMPLE_ZLIB);
    struct sample s;
    struct csni_span bytes = { NULL, 1 };
    begin(&s, true, false);
    sample_compress(&s.content, SAMPLE_ZLIB, true, (struct csni_span){ NULL, 0 }, 0);
    open_content(&s, ".debug_info", SHF_COMPRESSED, 0);
    assert_int_equal(read_one(&s, &bytes), CSN_OK);
    assert_int_equal(bytes.size, 0);
    end(&s);
}

/* ---- the limit ---- */

static void limit_is_exact(void **state) {
    (void)state;
    need(SAMPLE_ZLIB);
    struct sample s;
    struct csni_span bytes;
    open_compressed(&s, SAMPLE_ZLIB, true, false, SAMPLE_TEXT_SIZE, SAMPLE_TEXT_SIZE);
    assert_int_equal(read_one(&s, &bytes), CSN_OK);
    end(&s);
    open_compressed(&s, SAMPLE_ZLIB, true, false, SAMPLE_TEXT_SIZE, SAMPLE_TEXT_SIZE - 1);
    assert_int_equal(read_one(&s, &bytes), CSN_E_LIMIT);
    assert_string_equal(csn_error_text(&s.err),
                        ".debug_info+0x0: needs 0x4e20 bytes inflated besides 0x0 held, limit 0x4e1f");
    end(&s);
}

static void limit_counts_all_sections_that_are_held(void **state) {
    (void)state;
    need(SAMPLE_ZLIB);
    struct sample s;
    struct csni_span bytes;
    struct csni_object_options options = { .max_decompressed_bytes = 2 * SAMPLE_TEXT_SIZE };
    begin(&s, true, false);
    for (int i = 0; i < 3; i++) sample_add_debug(&s.elf, SAMPLE_ZLIB, "info", sample_text());
    wire_elf_build(&s.elf, &s.file, NULL);
    assert_int_equal(csni_object_open(wire_span(&s.file), &options, &s.object, NULL), CSN_OK);
    assert_int_equal(csni_object_read_section(s.object, 1, &bytes, NULL), CSN_OK);
    assert_int_equal(csni_object_read_section(s.object, 2, &bytes, NULL), CSN_OK);
    assert_int_equal(csni_object_read_section(s.object, 3, &bytes, &s.err), CSN_E_LIMIT);
    assert_string_equal(csn_error_text(&s.err),
                        ".debug_info+0x0: needs 0x4e20 bytes inflated besides 0x9c40 held, limit 0x9c40");
    csni_object_release_section(s.object, 1);
    assert_int_equal(csni_object_read_section(s.object, 3, &bytes, &s.err), CSN_OK);
    assert_memory_equal(bytes.ptr, sample_text().ptr, bytes.size);
    end(&s);
}

/* A section that failed to inflate gives back what it took of the limit. */
static void failure_gives_back_the_limit(void **state) {
    (void)state;
    need(SAMPLE_ZLIB);
    struct sample s;
    struct csni_span bytes;
    open_compressed(&s, SAMPLE_ZLIB, true, false, SAMPLE_TEXT_SIZE + 1, SAMPLE_TEXT_SIZE + 1);
    for (int i = 0; i < 3; i++) assert_int_equal(read_one(&s, &bytes), CSN_E_FORMAT);
    assert_int_equal(csni_object_inflated_bytes(s.object), 0);
    end(&s);
}

/* ---- threads ---- */

enum { THREADS = 4, SECTIONS = 24 };
struct reader {
    struct csni_object *object;
    struct csni_span expected;
    uint32_t first;
    int limited, wrong;
};

static void *read_every_fourth(void *context) {
    struct reader *r = context;
    for (uint32_t i = r->first; i <= SECTIONS; i += THREADS) {
        struct csni_span bytes;
        csn_status status = csni_object_read_section(r->object, i, &bytes, NULL);
        if (status == CSN_E_LIMIT) r->limited++;
        else if (status != CSN_OK || bytes.size != r->expected.size || memcmp(bytes.ptr, r->expected.ptr, bytes.size))
            r->wrong++;
    }
    return NULL;
}

static void reads_different_sections_at_once(void **state) {
    (void)state;
    need(SAMPLE_ZLIB);
    struct sample s;
    begin(&s, true, false);
    for (int i = 0; i < SECTIONS; i++) sample_add_debug(&s.elf, SAMPLE_ZLIB, "info", sample_text());
    wire_elf_build(&s.elf, &s.file, NULL);
    struct csni_object_options options = { .max_decompressed_bytes = (SECTIONS - 5) * SAMPLE_TEXT_SIZE + 7 };
    assert_int_equal(csni_object_open(wire_span(&s.file), &options, &s.object, NULL), CSN_OK);
    pthread_t threads[THREADS];
    struct csni_span text = sample_text();
    struct reader readers[THREADS];
    for (uint32_t i = 0; i < THREADS; i++) {
        readers[i] = (struct reader){ s.object, text, 1 + i, 0, 0 };
        assert_int_equal(pthread_create(&threads[i], NULL, read_every_fourth, &readers[i]), 0);
    }
    int limited = 0;
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(readers[i].wrong, 0);
        limited += readers[i].limited;
    }
    assert_int_equal(limited, 5);
    assert_int_equal(csni_object_inflated_bytes(s.object), (SECTIONS - 5) * SAMPLE_TEXT_SIZE);
    end(&s);
}

/* ---- giving back ---- */

static void discarded_pages_of_inflated_bytes_are_gone(void **state) {
    (void)state;
    need(SAMPLE_ZLIB);
    struct sample s;
    struct csni_span bytes;
    open_compressed(&s, SAMPLE_ZLIB, true, false, SAMPLE_TEXT_SIZE, 0);
    csni_object_discard(s.object, 1, 0, 1); /* not read yet */
    assert_int_equal(read_one(&s, &bytes), CSN_OK);
    csni_object_discard(s.object, 1, 0, SAMPLE_TEXT_SIZE + 1); /* not a part of it */
    csni_object_discard(s.object, 1, UINT64_MAX, 2);
    csni_object_discard(s.object, 9, 0, 1);
    assert_memory_equal(bytes.ptr, sample_text().ptr, bytes.size);
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    csni_object_discard(s.object, 1, 0, page + 100);
    if (page < SAMPLE_TEXT_SIZE) assert_int_equal(bytes.ptr[0], 0);
    assert_memory_equal(bytes.ptr + page + 100, sample_text().ptr + page + 100, bytes.size - page - 100);
    csni_object_release_section(s.object, 1);
    assert_int_equal(read_one(&s, &bytes), CSN_OK);
    assert_memory_equal(bytes.ptr, sample_text().ptr, bytes.size);
    end(&s);
}

static void discarded_views_of_a_mapped_file_come_back(void **state) {
    (void)state;
    static const char path[] = "test_object_data.elf";
    struct sample s;
    struct csni_file_map map;
    begin(&s, true, false);
    sample_add_debug(&s.elf, SAMPLE_PLAIN, "line", sample_text());
    sample_add_debug(&s.elf, sample_can_compress(SAMPLE_ZLIB) ? SAMPLE_ZLIB : SAMPLE_PLAIN, "info", sample_text());
    wire_elf_build(&s.elf, &s.file, NULL);
    FILE *f = fopen(path, "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(s.file.bytes, 1, s.file.size, f), s.file.size);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(csni_file_map_open(&map, path, NULL), CSN_OK);
    struct csni_object_options options = { .file_is_mapped = true };
    assert_int_equal(csni_object_open(map.bytes, &options, &s.object, NULL), CSN_OK);
    for (uint32_t i = 1; i <= 2; i++) {
        struct csni_span bytes;
        assert_int_equal(csni_object_read_section(s.object, i, &bytes, NULL), CSN_OK);
        assert_memory_equal(bytes.ptr, sample_text().ptr, bytes.size);
        if (i == 1) {
            assert_true(bytes.ptr > map.bytes.ptr && bytes.ptr < map.bytes.ptr + map.bytes.size);
            csni_object_discard(s.object, i, 0, bytes.size);
            assert_memory_equal(bytes.ptr, sample_text().ptr, bytes.size);
        }
        csni_object_release_section(s.object, i);
        assert_int_equal(csni_object_read_section(s.object, i, &bytes, NULL), CSN_OK);
        assert_memory_equal(bytes.ptr, sample_text().ptr, bytes.size);
    }
    csni_object_close(s.object);
    s.object = NULL;
    csni_file_map_close(&map);
    unlink(path);
    end(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(inflates),
        cmocka_unit_test(names_both_sizes),
        cmocka_unit_test(names_both_sizes_of_zstd),
        cmocka_unit_test(inflates_several_zstd_frames),
        cmocka_unit_test(refuses_impossible_sizes),
        cmocka_unit_test(names_bad_compression_headers),
        cmocka_unit_test(names_a_library_that_is_missing),
        cmocka_unit_test(survives_damaged_data),
        cmocka_unit_test(empty_compressed_section_is_empty),
        cmocka_unit_test(limit_is_exact),
        cmocka_unit_test(limit_counts_all_sections_that_are_held),
        cmocka_unit_test(failure_gives_back_the_limit),
        cmocka_unit_test(reads_different_sections_at_once),
        cmocka_unit_test(discarded_pages_of_inflated_bytes_are_gone),
        cmocka_unit_test(discarded_views_of_a_mapped_file_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
