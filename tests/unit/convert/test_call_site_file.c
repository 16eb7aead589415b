/* convert/call_site_*.c: call-site files of every form, what is wrong with them said with line and column. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/span.h"
#include "convert/call_sites/call_site_file.h"
#include "support/test_alloc.h"

struct reading {
    struct csni_arena arena;
    struct csni_given_sites given;
    struct csn_error err;
    csn_status status;
};

static void read_bytes(struct reading *r, const void *bytes, size_t size, const struct csn_allocator *alloc) {
    struct csn_call_site_file file = { "f", bytes, size };
    memset(r, 0, sizeof *r);
    csni_arena_init(&r->arena, alloc, 64);
    r->given.arena = &r->arena;
    r->given.sites.alloc = r->given.patterns.alloc = alloc;
    r->status = csni_call_site_file_read(&file, 7, &r->given, &r->err);
}

static void end(struct reading *r) {
    csni_vec_deinit(&r->given.sites);
    csni_vec_deinit(&r->given.patterns);
    csni_arena_deinit(&r->arena);
}

/* "function+offset!flags=name /pattern/; ..." */
static void expect(const char *text, const char *sites) {
    struct reading r;
    char got[2048] = "";
    size_t at = 0;
    read_bytes(&r, text, strlen(text), &csni_libc_allocator);
    assert_string_equal(r.err.text, "");
    assert_int_equal(r.status, CSN_OK);
    for (size_t i = 0; i < r.given.sites.count; i++) {
        const struct csni_given_site *s = &r.given.sites.items[i];
        assert_int_equal(s->file, 7);
        at += (size_t)snprintf(got + at, sizeof got - at, "%s%.*s+%llx!%u@%u", at ? "; " : "", (int)s->function.len,
                               s->function.ptr, (unsigned long long)s->return_off, s->flags, s->line);
        for (size_t k = 0; k < s->pattern_count; k++) {
            const struct csni_given_pattern *p = &r.given.patterns.items[s->first_pattern + k];
            at += (size_t)snprintf(got + at, sizeof got - at, p->is_name ? " %.*s" : " /%.*s/", (int)p->text.len, p->text.ptr);
        }
    }
    assert_string_equal(got, sites);
    end(&r);
}

static void expect_failure(const char *text, const char *message) {
    struct reading r;
    read_bytes(&r, text, strlen(text), &csni_libc_allocator);
    assert_int_equal(r.status, CSN_E_FORMAT);
    assert_string_equal(r.err.text, message);
    end(&r);
}

static const char lines[] = "# who calls whom\n"
                            "main 0x20 internal total /die.*/\n"
                            "\n"
                            "  main\t69\r\n"
                            "\"operator new (x)\" 0 external \"a \\\"b\\\\\" # more\n"
                            "f 0b11 internal external internal";

static void text_lines(void **state) {
    (void)state;
    expect("", "");
    expect("\n # nothing\n\n", "");
    expect(lines, "main+20!1@2 total /die.*/; main+45!0@4; operator new (x)+0!2@5 a \"b\\; f+3!3@6");
    expect("f 1 \"internal\"", "f+1!0@1 internal");
    expect("f 1 /", "f+1!0@1 /");
}

static void text_failures(void **state) {
    (void)state;
    expect_failure("main\n", "f:1:5: a return offset is to be here: ''");
    expect_failure("\nmain zz", "f:2:6: this is no return offset, such as 0x20: 'zz'");
    expect_failure("main 0x10000000000000000", "f:1:6: this is no return offset, such as 0x20: '0x10000000000000000'");
    expect_failure("main 1 \"x\n", "f:1:8: a quote that does not end: '\"x'");
    expect_failure("main 1 /a b/", "f:1:8: a pattern that does not end; with spaces in it, put it in double quotes: '/a'");
    expect_failure("main 1 //", "f:1:8: a name or pattern is to be here: ''");
    expect_failure("\"\" 1", "f:1:1: a function is to be here: ''");
    struct reading r;
    read_bytes(&r, "main 1 a\0b", 10, &csni_libc_allocator);
    assert_string_equal(r.err.text, "f: is no text: it has NUL bytes");
    end(&r);
}

static void numbers(void **state) {
    (void)state;
    static const struct { const char *text; uint64_t value; } good[] = {
        { "0", 0 }, { "7", 7 }, { "010", 8 }, { "0x1F", 31 }, { "0Xff", 255 }, { "0b101", 5 }, { "0o17", 15 },
        { "18446744073709551615", UINT64_MAX }, { "0xffffffffffffffff", UINT64_MAX },
    };
    static const char *const bad[] = { "", "0x", "0xg", "8z", "09", "-1", "18446744073709551616", "0b2", " 1" };
    uint64_t value;
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        assert_true(csni_call_site_number(csni_str(good[i].text), &value));
        assert_int_equal(value, good[i].value);
    }
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(csni_call_site_number(csni_str(bad[i]), &value));
}

#ifdef CSNI_HAVE_LIBYAML
static const char yaml[] = "# comment\n"
                           "functions:\n"
                           "  - name: main\n"
                           "    callsites:\n"
                           "      - return_offset: 0x20\n"
                           "        match_regex: [\"total\", 'die.*']\n"
                           "        flags: [\"InternalCall\", \"ExternalCall\"]\n"
                           "      - {match_regex: [], return_offset: 69}\n"
                           "  - callsites: [{return_offset: 3, match_regex: [x]}]\n"
                           "    name: late\n"
                           "  - name: none\n";

static void yaml_and_json(void **state) {
    (void)state;
    expect(yaml, "main+20!3@5 /total/ /die.*/; main+45!0@8; late+3!0@9 /x/");
    expect("{\"functions\": [{\"name\": \"f\", \"callsites\": [\n\t{\"return_offset\": \"0x10\", \"match_regex\": [\"^a\\\\.b$\"],"
           " \"flags\": [\"ExternalCall\"]}]}]}",
           "f+10!2@2 /^a\\.b$/");
    expect("functions:\n", "");
    expect("---\n", "");
    expect("functions: []\n", "");
    expect("\xef\xbb\xbf" "functions: []\n", "");
}

static void yaml_failures(void **state) {
    (void)state;
    expect_failure("functions: {name: x}\n", "f:1:12: a list of functions is to be here");
    expect_failure("functions:\n- nam: x\n", "f:2:3: unknown key 'nam'");
    expect_failure("functions:\n- callsites:\n", "f:2:3: the function has no 'name'");
    expect_failure("functions:\n- name: x\n  name: y\n", "f:3:3: a second key 'name'");
    expect_failure("functions:\n- name: x\n  callsites: [{match_regex: []}]\n", "f:3:15: the call site has no 'return_offset'");
    expect_failure("functions:\n- name: x\n  callsites: [{return_offset: 1}]\n", "f:3:15: the call site has no 'match_regex'");
    expect_failure("functions:\n- name: x\n  callsites: [{return_offset: -1, match_regex: []}]\n",
                   "f:3:31: a return offset such as 0x20 is to be here, not '-1'");
    expect_failure("functions:\n- name: x\n  callsites: [{return_offset: 1, match_regex: [], flags: [Weird]}]\n",
                   "f:3:59: unknown flag 'Weird'");
    expect_failure("functions: &a\n- *a\n", "f:2:3: a function is to be here");
    expect_failure("functions: []\n---\nfunctions: []\n", "f:2:1: the end of the file is to be here");
    struct reading r;
    read_bytes(&r, "functions: [a", 13, &csni_libc_allocator);
    assert_int_equal(r.status, CSN_E_FORMAT);
    end(&r);
}

/* Aliases within aliases, and brackets without end, fail where they begin. */
static void yaml_bombs(void **state) {
    (void)state;
    enum { SIZE = 1 << 20 };
    char *text = malloc(SIZE);
    assert_non_null(text);
    memset(text, '[', SIZE);
    memcpy(text, "functions: ", 11);
    struct reading r;
    read_bytes(&r, text, SIZE, &csni_libc_allocator);
    assert_int_equal(r.status, CSN_E_FORMAT);
    end(&r);
    free(text);
}
#else
static void without_yaml(void **state) {
    (void)state;
    struct reading r;
    read_bytes(&r, "functions: []", 13, &csni_libc_allocator);
    assert_int_equal(r.status, CSN_E_UNSUPPORTED);
    end(&r);
}
static const char yaml[] = "";
#endif

/* Any part of a file is read to its end or fails with a message. */
static void check(const char *bytes, size_t size) {
    struct reading r;
    char *copy = malloc(size + 1);
    assert_non_null(copy);
    memcpy(copy, bytes, size);
    read_bytes(&r, copy, size, &csni_libc_allocator);
    assert_true(r.status == CSN_OK || (r.status < 0 && r.err.text[0]));
    end(&r);
    free(copy);
}

static void damage(void **state) {
    (void)state;
    const char *const files[] = { lines, yaml };
    uint32_t seed = 1;
    for (int f = 0; f < 2; f++) {
        size_t size = strlen(files[f]);
        for (size_t cut = 0; cut <= size; cut++) check(files[f], cut);
        for (int run = 0; run < 2000 && size; run++) {
            char copy[1024];
            memcpy(copy, files[f], size);
            for (int k = 0; k < 3; k++) {
                seed = seed * 1664525 + 1013904223;
                copy[(seed >> 8) % size] ^= (char)(1 << (seed >> 4 & 7));
            }
            check(copy, size);
        }
    }
}

static csn_status read_step(void *context, const struct csn_allocator *alloc) {
    struct reading r;
    const char *text = context;
    read_bytes(&r, text, strlen(text), alloc);
    end(&r);
    return r.status;
}

static void every_allocation_failing(void **state) {
    (void)state;
    char text[sizeof lines], more[sizeof yaml];
    memcpy(text, lines, sizeof lines);
    memcpy(more, yaml, sizeof yaml);
    test_allocator_sweep(read_step, text, 0);
    test_allocator_sweep(read_step, more, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_lines),
        cmocka_unit_test(text_failures),
        cmocka_unit_test(numbers),
#ifdef CSNI_HAVE_LIBYAML
        cmocka_unit_test(yaml_and_json),
        cmocka_unit_test(yaml_failures),
        cmocka_unit_test(yaml_bombs),
#else
        cmocka_unit_test(without_yaml),
#endif
        cmocka_unit_test(damage),
        cmocka_unit_test(every_allocation_failing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
