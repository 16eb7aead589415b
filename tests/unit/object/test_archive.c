/* object: `ar` archives. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "object/archive.h"
#include "support/object_sample.h"

static void begin(struct wire *w) {
    wire_init(w, false);
    wire_bytes(w, "!<arch>\n", 8);
}

/* `name` as it stands in the header; `front` (a BSD name) before the bytes. */
static void add(struct wire *w, const char *name, unsigned mtime, const char *front, size_t front_size, const char *bytes) {
    char header[128];
    snprintf(header, sizeof header, "%-16s%-12u%-6u%-6u%-8o%-10zu`\n", name, mtime, 0u, 0u, 0644u, front_size + strlen(bytes));
    wire_bytes(w, header, 60);
    wire_bytes(w, front, front_size);
    wire_bytes(w, bytes, strlen(bytes));
    if (w->size & 1) wire_u8(w, '\n');
}

static void check_next(struct csni_archive *archive, const char *name, uint64_t mtime, const char *bytes) {
    struct csni_archive_member m;
    struct csn_error err = CSN_ERROR_INIT;
    csn_status status = csni_archive_next(archive, &m, &err);
    if (status != CSN_OK) fail_msg("%s: %s", name, csn_error_text(&err));
    assert_true(csni_str_is(m.name, name));
    assert_int_equal(m.mtime, mtime);
    assert_int_equal(m.bytes.size, strlen(bytes));
    assert_memory_equal(m.bytes.ptr, bytes, strlen(bytes));
}

static void add_all(struct wire *w) {
    add(w, "/", 0, "", 0, "symbols");
    add(w, "/SYM64/", 0, "", 0, "symbols");
    add(w, "__.SYMDEF SORTED", 0, "", 0, "symbols");
    add(w, "#1/20", 0, "__.SYMDEF_64\0\0\0\0\0\0\0\0", 20, "symbols");
    add(w, "//", 0, "", 0, "a name that is long.o/\nanother.o/\nlast/");
    add(w, "short.o/", 12, "", 0, "gnu");
    add(w, "bsd.o", 13, "", 0, "bsd");
    add(w, "/0", 14, "", 0, "long gnu");
    add(w, "/23", 15, "", 0, "another");
    add(w, "#1/16", 16, "with blanks.o\0\0\0", 16, "long bsd");
    add(w, "#1/4", 17, "full", 4, "");
}

/* A member by its place, as a debug map names it: with its long name, whatever is before it. */
static void reads_a_member_by_its_place(void **state) {
    (void)state;
    struct wire w;
    struct csni_archive archive;
    struct csni_archive_member m, again;
    begin(&w);
    add_all(&w);
    assert_int_equal(csni_archive_open(wire_span(&w), &archive, NULL), CSN_OK);
    for (unsigned count = 0;; count++) {
        uint64_t off = archive.off;
        csn_status status = csni_archive_next(&archive, &m, NULL);
        if (status != CSN_OK) break;
        assert_int_equal(csni_archive_at(wire_span(&w), off, &again, NULL), CSN_OK);
        assert_true(csni_str_equal(again.name, m.name));
        assert_ptr_equal(again.bytes.ptr, m.bytes.ptr);
        assert_true(count < 6);
    }
    wire_deinit(&w);
}

static void reads_every_spelling(void **state) {
    (void)state;
    struct wire w;
    struct csni_archive archive;
    struct csni_archive_member m;
    begin(&w);
    add_all(&w);
    assert_int_equal(csni_archive_open(wire_span(&w), &archive, NULL), CSN_OK);
    check_next(&archive, "short.o", 12, "gnu");
    check_next(&archive, "bsd.o", 13, "bsd");
    check_next(&archive, "a name that is long.o", 14, "long gnu");
    check_next(&archive, "another.o", 15, "another");
    check_next(&archive, "with blanks.o", 16, "long bsd");
    check_next(&archive, "full", 17, "");
    assert_int_equal(csni_archive_next(&archive, &m, NULL), CSN_NONE);
    wire_deinit(&w);
}

static void check_found(struct csni_span file, const char *name, uint64_t mtime, const char *bytes) {
    struct csni_archive_member m;
    assert_int_equal(csni_archive_find(file, csni_str(name), mtime, &m, NULL), CSN_OK);
    assert_int_equal(m.bytes.size, strlen(bytes));
    assert_memory_equal(m.bytes.ptr, bytes, m.bytes.size);
}

static void finds_by_name_and_time(void **state) {
    (void)state;
    struct wire w;
    struct csni_archive_member m;
    struct csn_error err = CSN_ERROR_INIT;
    begin(&w);
    add(&w, "a.o/", 5, "", 0, "a5");
    add(&w, "a.o/", 6, "", 0, "a6");
    add(&w, "b.o/", 6, "", 0, "b6");
    check_found(wire_span(&w), "a.o", 5, "a5");
    check_found(wire_span(&w), "a.o", 6, "a6");
    check_found(wire_span(&w), "a.o", 7, "a5");
    check_found(wire_span(&w), "b.o", 0, "b6");
    assert_int_equal(csni_archive_find(wire_span(&w), csni_str("c.o"), 0, &m, &err), CSN_NONE);
    wire_u8(&w, 'x'); /* damage after what is looked for */
    check_found(wire_span(&w), "b.o", 0, "b6");
    assert_int_equal(csni_archive_find(wire_span(&w), csni_str("a.o"), 1, &m, &err), CSN_OK);
    assert_int_equal(err.code, CSN_OK);
    assert_int_equal(csni_archive_find(wire_span(&w), csni_str("c.o"), 0, &m, &err), CSN_E_TRUNCATED);
    assert_string_equal(csn_error_text(&err), "archive member at 0xc2: header of 1 bytes, need 60");
    wire_deinit(&w);
}

static void empty_archive_has_none(void **state) {
    (void)state;
    struct csni_archive archive;
    struct csni_archive_member m;
    assert_int_equal(csni_archive_open((struct csni_span){ (const uint8_t *)"!<arch>\n", 8 }, &archive, NULL), CSN_OK);
    assert_int_equal(csni_archive_next(&archive, &m, NULL), CSN_NONE);
}

static void refuses_others(void **state) {
    (void)state;
    struct csni_archive archive;
    struct csni_archive_member member;
    struct csn_error err = CSN_ERROR_INIT;
    struct csni_span thin = { (const uint8_t *)"!<thin>\n", 8 }, none = { (const uint8_t *)"!<arch>", 7 };
    assert_int_equal(csni_archive_open(thin, &archive, &err), CSN_OK);
    assert_true(archive.is_thin);
    assert_int_equal(csni_archive_find(thin, csni_str("a.o"), 0, &member, &err), CSN_E_UNSUPPORTED);
    assert_non_null(strstr(csn_error_text(&err), "thin archive"));
    assert_int_equal(csni_archive_open(none, &archive, &err), CSN_E_UNSUPPORTED);
    assert_string_equal(csn_error_text(&err), "not an archive: does not begin with !<arch>");
}

static void check_damaged(size_t off, const char *bytes, csn_status status, const char *text) {
    struct wire w;
    struct csni_archive archive;
    struct csni_archive_member m;
    struct csn_error err = CSN_ERROR_INIT;
    begin(&w);
    add(&w, "a.o/", 5, "", 0, "bytes");
    (void)wire_span(&w);
    memcpy(w.bytes + 8 + off, bytes, strlen(bytes));
    assert_int_equal(csni_archive_open(wire_span(&w), &archive, NULL), CSN_OK);
    assert_int_equal(csni_archive_next(&archive, &m, &err), status);
    assert_string_equal(csn_error_text(&err), text);
    assert_int_equal(csni_archive_next(&archive, &m, NULL), CSN_NONE);
    wire_deinit(&w);
}

static void names_damage(void **state) {
    (void)state;
    check_damaged(58, "xy", CSN_E_FORMAT, "archive member at 0x8: header ends with 78 79, need 60 0a");
    check_damaged(48, "12x", CSN_E_FORMAT, "archive member at 0x8: size \"12x       \", need decimal");
    check_damaged(48, "9999999999", CSN_E_TRUNCATED,
                  "archive member at 0x8: 0x2540be3ff bytes, but the file has 0x6 after its header");
    check_damaged(0, "/7  ", CSN_E_FORMAT, "archive member at 0x8: name \"/7              \" leads nowhere");
    check_damaged(0, "#1/6", CSN_E_FORMAT, "archive member at 0x8: name \"#1/6            \" leads nowhere");
    check_damaged(0, "#1/x", CSN_E_FORMAT, "archive member at 0x8: name \"#1/x            \" leads nowhere");
}

static void use_all(struct csni_span file) {
    struct csni_archive archive;
    struct csni_archive_member m;
    struct csn_error err = CSN_ERROR_INIT;
    unsigned sum = 0;
    csn_status status = csni_archive_open(file, &archive, &err);
    while (status == CSN_OK && (status = csni_archive_next(&archive, &m, &err)) == CSN_OK) {
        for (size_t i = 0; i < m.name.len; i++) sum += (unsigned char)m.name.ptr[i];
        for (size_t i = 0; i < m.bytes.size; i++) sum += m.bytes.ptr[i];
    }
    assert_true(status == CSN_NONE || (status == err.code && err.text[0]));
    assert_true(sum < 1u << 30);
}

static void every_damage_is_clean(void **state) {
    (void)state;
    struct wire w;
    begin(&w);
    add_all(&w);
    struct csni_span whole = wire_span(&w);
    for (size_t size = 0; size < whole.size; size++) {
        struct csni_span copy = sample_copy(whole, size);
        use_all(copy);
        sample_free(copy);
    }
    struct csni_span copy = sample_copy(whole, whole.size);
    uint8_t *bytes = (uint8_t *)(uintptr_t)copy.ptr;
    for (size_t bit = 0; bit < 8 * whole.size; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        use_all(copy);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    sample_free(copy);
    wire_deinit(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_spelling), cmocka_unit_test(reads_a_member_by_its_place),
        cmocka_unit_test(finds_by_name_and_time),
        cmocka_unit_test(empty_archive_has_none),
        cmocka_unit_test(refuses_others),
        cmocka_unit_test(names_damage),
        cmocka_unit_test(every_damage_is_clean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
