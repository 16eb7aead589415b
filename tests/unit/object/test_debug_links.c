/* object: debug links, alt links, mini debug information: whole, cut, flipped, without memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "object/debug_links.h"
#include "object/elf/elf_layout.h"
#include "object/elf/mini_debug.h"
#include "support/object_sample.h"
#include "support/test_alloc.h"

#ifdef CSNI_HAVE_LIBLZMA
#include <lzma.h>
#endif

static const uint8_t ID[] = { 0xab, 0xcd, 1, 2, 3 };

/* An object with one section. */
struct sample {
    struct wire_elf elf;
    struct wire content, file;
    struct csni_object *object;
    struct csn_error err;
};

static void begin(struct sample *s, bool big) {
    memset(s, 0, sizeof *s);
    wire_elf_init(&s->elf, true, big, ET_EXEC, EM_X86_64);
    wire_init(&s->content, big);
    wire_init(&s->file, big);
}

static void open_section(struct sample *s, const char *name, struct csni_span bytes) {
    wire_elf_add(&s->elf, name, SHT_PROGBITS, 0, 0, bytes);
    wire_elf_build(&s->elf, &s->file, NULL);
    struct csni_object_options options = { .max_decompressed_bytes = 1 << 20 };
    assert_int_equal(csni_object_open(wire_span(&s->file), &options, &s->object, &s->err), CSN_OK);
}

static void end(struct sample *s) {
    csni_object_close(s->object);
    wire_elf_deinit(&s->elf);
    wire_deinit(&s->content);
    wire_deinit(&s->file);
}

static size_t put_debug_link(struct wire *w) {
    wire_cstr(w, "app.debug");
    wire_align(w, 4);
    wire_u32(w, 0x12345678);
    return w->size;
}

static size_t put_alt_link(struct wire *w) {
    wire_cstr(w, "../.dwz/app");
    wire_bytes(w, ID, sizeof ID);
    return w->size;
}

static size_t put_sup(struct wire *w, uint16_t version, bool is_supplementary, const char *name) {
    wire_u16(w, version);
    wire_u8(w, is_supplementary);
    wire_cstr(w, name);
    wire_uleb(w, sizeof ID);
    wire_bytes(w, ID, sizeof ID);
    return w->size;
}

static void debug_link(void **state) {
    (void)state;
    for (int big = 0; big < 2; big++) {
        struct sample s;
        struct csni_debug_link link;
        begin(&s, big);
        put_debug_link(&s.content);
        open_section(&s, ".gnu_debuglink", wire_span(&s.content));
        assert_int_equal(csni_object_debug_link(s.object, &link, &s.err), CSN_OK);
        assert_true(csni_str_is(link.name, "app.debug"));
        assert_int_equal(link.name.ptr[link.name.len], 0);
        assert_int_equal(link.crc, 0x12345678);
        end(&s);
    }
}

static void alt_link(void **state) {
    (void)state;
    struct sample s;
    struct csni_alt_link link;
    begin(&s, false);
    put_alt_link(&s.content);
    open_section(&s, ".gnu_debugaltlink", wire_span(&s.content));
    assert_int_equal(csni_object_alt_link(s.object, &link, &s.err), CSN_OK);
    assert_true(csni_str_is(link.name, "../.dwz/app"));
    assert_int_equal(link.id.size, sizeof ID);
    assert_memory_equal(link.id.ptr, ID, sizeof ID);
    assert_false(link.is_supplementary);
    end(&s);
}

static void sup(void **state) {
    (void)state;
    for (int is_supplementary = 0; is_supplementary < 2; is_supplementary++) {
        struct sample s;
        struct csni_alt_link link;
        begin(&s, is_supplementary);
        put_sup(&s.content, 5, is_supplementary, is_supplementary ? "" : "app.sup");
        open_section(&s, ".debug_sup", wire_span(&s.content));
        assert_int_equal(csni_object_alt_link(s.object, &link, &s.err), CSN_OK);
        assert_true(csni_str_is(link.name, is_supplementary ? "" : "app.sup"));
        assert_int_equal(link.is_supplementary, is_supplementary);
        assert_int_equal(link.id.size, sizeof ID);
        assert_memory_equal(link.id.ptr, ID, sizeof ID);
        end(&s);
    }
}

static void none(void **state) {
    (void)state;
    struct sample s;
    struct csni_debug_link link;
    struct csni_alt_link alt;
    struct csni_mini_debug *mini;
    struct csni_object_options options = { .allocator = NULL };
    begin(&s, false);
    open_section(&s, ".comment", (struct csni_span){ ID, sizeof ID });
    assert_int_equal(csni_object_debug_link(s.object, &link, &s.err), CSN_NONE);
    assert_int_equal(csni_object_alt_link(s.object, &alt, &s.err), CSN_NONE);
    assert_int_equal(csni_mini_debug_read(s.object, &options, &mini, &s.err), CSN_NONE);
    assert_int_equal(s.err.code, CSN_OK);
    end(&s);
}

/* ---- damage ---- */

static csn_status read_links(struct csni_object *object, struct csn_error *err) {
    struct csni_debug_link link;
    struct csni_alt_link alt;
    csn_status status = csni_object_debug_link(object, &link, err);
    if (status == CSN_OK) assert_int_equal(link.name.ptr[link.name.len], 0);
    if (status != CSN_NONE) return status;
    status = csni_object_alt_link(object, &alt, err);
    if (status == CSN_OK) assert_int_equal(alt.name.ptr[alt.name.len], 0);
    uint8_t sum = 0;
    for (size_t i = 0; status == CSN_OK && i < alt.id.size; i++) sum = (uint8_t)(sum + alt.id.ptr[i]);
    (void)sum;
    return status;
}

static void expect_damage(const char *section, const struct wire *content, size_t size, csn_status status, const char *text) {
    struct sample s;
    begin(&s, false);
    open_section(&s, section, (struct csni_span){ content->bytes, size });
    assert_int_equal(read_links(s.object, &s.err), status);
    if (text) assert_string_equal(csn_error_text(&s.err), text);
    end(&s);
}

/* Of every length shorter than the whole, none reads as a link but an alt link whose id is cut. */
static void truncated(void **state) {
    (void)state;
    struct wire w;
    wire_init(&w, false);
    size_t size = put_debug_link(&w);
    for (size_t cut = 1; cut < size; cut++) expect_damage(".gnu_debuglink", &w, cut, CSN_E_TRUNCATED, NULL);
    expect_damage(".gnu_debuglink", &w, 0, CSN_NONE, NULL);
    expect_damage(".gnu_debuglink", &w, 15, CSN_E_TRUNCATED, ".gnu_debuglink+0xc: the CRC reaches past the section's 0xf bytes");
    wire_deinit(&w);
    wire_init(&w, false);
    put_alt_link(&w);
    for (size_t cut = 1; cut < strlen("../.dwz/app") + 1; cut++)
        expect_damage(".gnu_debugaltlink", &w, cut, CSN_E_TRUNCATED, NULL);
    expect_damage(".gnu_debugaltlink", &w, strlen("../.dwz/app") + 1, CSN_OK, NULL);
    wire_deinit(&w);
    wire_init(&w, false);
    size = put_sup(&w, 5, false, "app.sup");
    for (size_t cut = 1; cut < size; cut++) expect_damage(".debug_sup", &w, cut, CSN_E_TRUNCATED, NULL);
    wire_deinit(&w);
}

static void contradictions(void **state) {
    (void)state;
    struct wire w;
    wire_init(&w, false);
    wire_fill(&w, 0, 8);
    expect_damage(".gnu_debuglink", &w, 8, CSN_E_FORMAT, ".gnu_debuglink+0x0: an empty name");
    expect_damage(".gnu_debugaltlink", &w, 8, CSN_E_FORMAT, ".gnu_debugaltlink+0x0: an empty name");
    wire_deinit(&w);
    wire_init(&w, false);
    size_t size = put_sup(&w, 4, false, "app.sup");
    expect_damage(".debug_sup", &w, size, CSN_E_UNSUPPORTED, ".debug_sup+0x0: version 4, need 5");
    wire_deinit(&w);
    wire_init(&w, false);
    size = put_sup(&w, 5, false, "");
    expect_damage(".debug_sup", &w, size, CSN_E_FORMAT, ".debug_sup+0x3: an empty name");
    wire_deinit(&w);
}

static uint32_t next_random(uint32_t *seed) { return *seed = *seed * 1664525u + 1013904223u; }

static void flipped(void **state) {
    (void)state;
    static const char *const names[] = { ".gnu_debuglink", ".gnu_debugaltlink", ".debug_sup" };
    uint32_t seed = 7;
    for (int kind = 0; kind < 3; kind++) {
        struct wire w;
        wire_init(&w, false);
        size_t size = kind == 0 ? put_debug_link(&w) : kind == 1 ? put_alt_link(&w) : put_sup(&w, 5, false, "app.sup");
        for (int round = 0; round < 400; round++) {
            struct csni_span copy = sample_copy((struct csni_span){ w.bytes, size }, size);
            uint8_t *bytes = (uint8_t *)(uintptr_t)copy.ptr;
            for (uint32_t flips = 1 + next_random(&seed) % 4; flips; flips--)
                bytes[(next_random(&seed) >> 8) % size] ^= (uint8_t)(1 << (next_random(&seed) >> 16) % 8);
            struct sample s;
            begin(&s, round & 1);
            open_section(&s, names[kind], copy);
            csn_status status = read_links(s.object, &s.err);
            assert_true(status <= CSN_NONE);
            assert_true(status >= 0 || s.err.code == status);
            end(&s);
            sample_free(copy);
        }
        wire_deinit(&w);
    }
}

/* ---- mini debug information ---- */

#ifdef CSNI_HAVE_LIBLZMA
/* An xz file of the sample text; the caller frees it. */
static struct csni_span compressed(struct csni_span text) {
    size_t capacity = lzma_stream_buffer_bound(text.size), size = 0;
    uint8_t *bytes = malloc(capacity);
    assert_non_null(bytes);
    assert_int_equal(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC32, NULL, text.ptr, text.size, bytes, &size, capacity), LZMA_OK);
    return (struct csni_span){ bytes, size };
}

static csn_status read_mini(struct csni_span section, uint64_t limit, const struct csn_allocator *alloc, bool *same,
                            struct csn_error *err) {
    struct sample s;
    struct csni_mini_debug *mini = NULL;
    struct csni_object_options options = { .allocator = alloc, .max_decompressed_bytes = limit };
    begin(&s, false);
    open_section(&s, ".gnu_debugdata", section);
    csn_status status = csni_mini_debug_read(s.object, &options, &mini, err);
    assert_int_equal(status == CSN_OK, mini != NULL);
    *same = mini && mini->bytes.size == SAMPLE_TEXT_SIZE && memcmp(mini->bytes.ptr, sample_text().ptr, SAMPLE_TEXT_SIZE) == 0;
    csni_mini_debug_free(mini);
    end(&s);
    return status;
}

static void mini_debug(void **state) {
    (void)state;
    bool same;
    struct csn_error err = CSN_ERROR_INIT;
    struct csni_span xz = compressed(sample_text());
    assert_int_equal(read_mini(xz, 0, NULL, &same, &err), CSN_OK);
    assert_true(same);
    assert_int_equal(read_mini(xz, SAMPLE_TEXT_SIZE, NULL, &same, &err), CSN_OK);
    assert_true(same);
    assert_int_equal(read_mini(xz, SAMPLE_TEXT_SIZE - 1, NULL, &same, &err), CSN_E_LIMIT);
    assert_string_equal(csn_error_text(&err), ".gnu_debugdata+0x0: xz data inflates to 0x4e20 bytes, limit 0x4e1f");
    assert_int_equal(read_mini(xz, 100, NULL, &same, &err), CSN_E_LIMIT);
    assert_string_equal(csn_error_text(&err),
                        ".gnu_debugdata+0x0: xz data inflates to more than 0x64 bytes, the limit");
    free((void *)(uintptr_t)xz.ptr);
}

static void mini_debug_truncated_and_flipped(void **state) {
    (void)state;
    bool same;
    uint32_t seed = 3;
    struct csni_span xz = compressed(sample_text());
    for (size_t cut = 1; cut < xz.size; cut++) {
        struct csn_error err = CSN_ERROR_INIT;
        csn_status status = read_mini((struct csni_span){ xz.ptr, cut }, 0, NULL, &same, &err);
        assert_true(status == CSN_E_TRUNCATED || status == CSN_E_FORMAT);
    }
    for (int round = 0; round < 200; round++) {
        struct csn_error err = CSN_ERROR_INIT;
        struct csni_span copy = sample_copy(xz, xz.size);
        ((uint8_t *)(uintptr_t)copy.ptr)[(next_random(&seed) >> 8) % xz.size] ^= (uint8_t)(1 << round % 8);
        csn_status status = read_mini(copy, 1 << 20, NULL, &same, &err);
        assert_true(status < 0 || same); /* the CRC sees every flip; some bits mean nothing */
        sample_free(copy);
    }
    free((void *)(uintptr_t)xz.ptr);
}

static csn_status read_mini_step(void *context, const struct csn_allocator *alloc) {
    bool same;
    struct csn_error err = CSN_ERROR_INIT;
    const struct csni_span *xz = context;
    return read_mini(*xz, 0, alloc, &same, &err);
}

static void mini_debug_without_memory(void **state) {
    (void)state;
    static uint8_t large[300000];
    struct csni_span xz = compressed((struct csni_span){ large, sizeof large });
    assert_true(test_allocator_sweep(read_mini_step, &xz, 0) > 3);
    free((void *)(uintptr_t)xz.ptr);
}
#else
static void mini_debug(void **state) {
    (void)state;
    struct sample s;
    struct csni_mini_debug *mini;
    struct csni_object_options options = { .allocator = NULL };
    begin(&s, false);
    open_section(&s, ".gnu_debugdata", (struct csni_span){ ID, sizeof ID });
    assert_int_equal(csni_mini_debug_read(s.object, &options, &mini, &s.err), CSN_E_UNSUPPORTED);
    end(&s);
}

static void mini_debug_truncated_and_flipped(void **state) {
    (void)state;
    skip();
}

static void mini_debug_without_memory(void **state) {
    (void)state;
    skip();
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(debug_link),
        cmocka_unit_test(alt_link),
        cmocka_unit_test(sup),
        cmocka_unit_test(none),
        cmocka_unit_test(truncated),
        cmocka_unit_test(contradictions),
        cmocka_unit_test(flipped),
        cmocka_unit_test(mini_debug),
        cmocka_unit_test(mini_debug_truncated_and_flipped),
        cmocka_unit_test(mini_debug_without_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
