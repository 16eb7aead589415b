/* formats/gsym/read/gsym_lookup.c through callsign/index.h: address to record, row and inlined calls to frames, in both modes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>

#include <callsign/index.h>

#include "formats/gsym/gsym_layout.h"
#include "wire/wire_gsym.h"

static struct csn_index *open_index(struct wire_gsym *g) {
    struct csni_span file = wire_gsym_build(g);
    struct csn_index *index = NULL;
    assert_int_equal(csn_index_open_memory(file.ptr, file.size, NULL, &index, NULL), CSN_OK);
    return index;
}

/* The answer as "NAME+OFFSET@PATH:LINE", inlined frames with " <- " after them, reasons as "!N"; "none N"; the error. */
static void expect(const struct csn_index *index, uint64_t addr, enum csn_lookup_mode mode, const char *text) {
    struct csn_frame_ref refs[8];
    struct csn_lookup found = { 0 };
    struct csn_error err = CSN_ERROR_INIT;
    char got[512] = "";
    csn_status status = csn_index_lookup_refs(index, addr, mode, refs, 8, &found, &err);
    if (status < 0) snprintf(got, sizeof got, "%s", err.text);
    if (status == CSN_NONE) snprintf(got, sizeof got, "none %u", found.reason);
    for (size_t k = 0, at = 0; status == CSN_OK && k < found.frame_count; k++) {
        struct csn_frame f;
        csn_index_resolve(index, &refs[k], &f);
        at += (size_t)snprintf(got + at, sizeof got - at, "%.*s+%llu@%.*s/%.*s:%u%s", (int)f.name.len, f.name.ptr,
                               (unsigned long long)f.offset, (int)f.directory.len, f.directory.ptr, (int)f.base.len,
                               f.base.ptr, f.line, f.flags & CSN_FRAME_INLINED ? " <- " : "");
        if (f.reason) at += (size_t)snprintf(got + at, sizeof got - at, "!%u", f.reason);
    }
    assert_string_equal(got, text);
}

static void expect_both(const struct csn_index *index, uint64_t addr, const char *text) {
    expect(index, addr, CSN_LOOKUP_DEFAULT, text);
    expect(index, addr, CSN_LOOKUP_LLVM, text);
}

static void example(void **state) {
    (void)state;
    for (int big = 0; big < 2; big++)
        for (unsigned width = 2; width <= 16; width *= 2) {
            struct wire_gsym g;
            wire_gsym_example(&g, big, width & 15 ? width : 4);
            g.sample_shift = width >> 4; /* once with a sample */
            struct csn_index *index = open_index(&g);
            expect_both(index, 0xfff, "none 1");
            expect_both(index, 0, "none 1");
            expect_both(index, 0x1000, "die+0@/src/demo.c:10");
            expect_both(index, 0x1018, "die+24@/src/demo.c:11");
            expect_both(index, 0x1022, "die+34@/src/demo.c:12");
            expect_both(index, 0x1023, "none 2");
            expect_both(index, 0x11e0, "total+0@/src/demo.c:6");
            expect_both(index, 0x11ef, "total+15@/src/demo.c:5");
            expect_both(index, 0x11f0, "area+0@/src/shapes.h:5 <- total+16@/src/demo.c:7");
            expect_both(index, 0x11f5, "total+21@/src/shapes.h:3");
            expect_both(index, 0x11f9, "scale+0@/src/shapes.h:3 <- area+9@/src/shapes.h:5 <- total+25@/src/demo.c:7");
            expect_both(index, 0x1202, "area+18@/src/shapes.h:3 <- total+34@/src/demo.c:7");
            expect_both(index, 0x1205, "scale+12@/src/shapes.h:3 <- area+21@/src/shapes.h:5 <- total+37@/src/demo.c:7");
            expect_both(index, 0x1210, "scale+8@/src/shapes.h:3 <- area+32@/src/shapes.h:6 <- total+48@/src/demo.c:7");
            expect_both(index, 0x1226, "total+70@/src/demo.c:8");
            expect_both(index, 0x1227, "none 2");
            expect(index, 0x1230, CSN_LOOKUP_DEFAULT, "_fini+8@/:0!3");
            expect(index, 0x1230, CSN_LOOKUP_LLVM, "_fini+8@/:0!3");
            expect_both(index, 0x1231, "none 2");
            expect_both(index, UINT64_MAX, "none 2");
            csn_index_close(index);
            wire_gsym_deinit(&g);
        }
}

/* The innermost are kept where there is no room for all. */
static void small_capacity(void **state) {
    (void)state;
    struct wire_gsym g;
    wire_gsym_example(&g, false, 4);
    struct csn_index *index = open_index(&g);
    struct csn_frame frames[3];
    struct csn_frame_ref refs[3];
    struct csn_lookup found;
    size_t count;
    memset(frames, 0x55, sizeof frames);
    assert_int_equal(csn_index_lookup(index, 0x11f9, frames, 2, &count, NULL), CSN_OK);
    assert_int_equal(count, 3);
    assert_memory_equal(frames[0].name.ptr, "scale", 5);
    assert_memory_equal(frames[1].name.ptr, "area", 4);
    assert_int_equal(frames[2].line, 0x55555555);
    assert_int_equal(csn_index_lookup(index, 0x11f9, NULL, 0, &count, NULL), CSN_OK);
    assert_int_equal(count, 3);
    assert_int_equal(csn_index_lookup_refs(index, 0x11f9, CSN_LOOKUP_DEFAULT, refs, 3, &found, NULL), CSN_OK);
    assert_int_equal(found.function_start, 0x11e0);
    assert_int_equal(found.function_size, 0x47);
    assert_int_equal(found.function_index, 1);
    assert_int_equal(found.frame_count, 3);
    csn_index_close(index);
    wire_gsym_deinit(&g);
}

static void equal_starts_and_empty_functions(void **state) {
    (void)state;
    struct wire_gsym g;
    wire_gsym_init(&g, false, 1, 0x1000);
    wire_gsym_function(&g, 0x1000, 8, "small");
    wire_gsym_function(&g, 0x1000, 0x20, "big");
    wire_gsym_function(&g, 0x1010, 4, "nested");
    wire_gsym_function(&g, 0x1018, 0, "label");
    wire_gsym_function(&g, 0x1040, 0, "first");
    wire_gsym_function(&g, 0x1040, 4, "second");
    struct csn_index *index = open_index(&g);
    expect_both(index, 0x1007, "small+7@/:0!3");
    expect_both(index, 0x1008, "big+8@/:0!3");
    expect_both(index, 0x100f, "big+15@/:0!3");
    /* The later start hides the earlier. */
    expect_both(index, 0x1010, "nested+0@/:0!3");
    expect_both(index, 0x1014, "none 2");
    expect_both(index, 0x1018, "label+0@/:0!3");
    expect_both(index, 0x103f, "label+39@/:0!3");
    expect_both(index, 0x1040, "first+0@/:0!3");
    expect_both(index, 0xffffffff, "first+4294963135@/:0!3");
    csn_index_close(index);
    wire_gsym_deinit(&g);
}

static void many_equal_starts(void **state) {
    (void)state;
    for (uint32_t count = CSNI_GSYM_SAME_START_MAX; count <= CSNI_GSYM_SAME_START_MAX + 1; count++) {
        struct wire w;
        struct csn_index *index = NULL;
        wire_gsym_equal_starts(&w, count);
        assert_int_equal(csn_index_open_memory(w.bytes, w.size, NULL, &index, NULL), CSN_OK);
        expect_both(index, 0x1003, "short+3@/:0!3");
        expect_both(index, 0x101f, count > CSNI_GSYM_SAME_START_MAX
                                       ? "address table+0x30: more than 1024 functions start at 0x1000"
                                       : "long+31@/:0!3");
        csn_index_close(index);
        wire_deinit(&w);
    }
}

/* All entries, in tables of every size up to 16 and each width. */
static void address_search(void **state) {
    (void)state;
    static char name[WIRE_GSYM_MAX_FUNCTIONS][16];
    for (unsigned width = 1; width <= 8; width *= 2)
        for (unsigned count = 1; count <= WIRE_GSYM_MAX_FUNCTIONS; count++)
            for (int big = 0; big < 2; big++) {
                struct wire_gsym g;
                wire_gsym_init(&g, big, width, 0x1000);
                for (unsigned k = 0; k < count; k++) {
                    snprintf(name[k], sizeof name[k], "f%u", k);
                    wire_gsym_function(&g, 0x1000 + k * 10, 8, name[k]);
                }
                struct csn_index *index = open_index(&g);
                for (unsigned k = 0; k < count; k++) {
                    char text[32];
                    snprintf(text, sizeof text, "f%u+3@/:0!3", k);
                    expect(index, 0x1000 + k * 10 + 3, CSN_LOOKUP_DEFAULT, text);
                    expect(index, 0x1000 + k * 10 + 9, CSN_LOOKUP_DEFAULT, "none 2");
                }
                csn_index_close(index);
                wire_gsym_deinit(&g);
            }
}

static void add_lines(struct wire_gsym_function *f, const uint8_t *bytes, size_t size) {
    wire_gsym_part(&f->parts, CSNI_GSYM_PART_LINES, (struct csni_span){ bytes, size });
}

/* Where the reference finds nothing, the default answers with what there is. */
static void modes(void **state) {
    (void)state;
    struct wire_gsym g;
    wire_gsym_init(&g, false, 4, 0);
    uint32_t file = wire_gsym_file(&g, "d", "f");
    static const uint8_t late[] = { 0, 0, 9, 2, 8, 0 }, no_file[] = { 0, 0, 9, 1, 0, 2, 0, 0 },
                         bad_file[] = { 0, 0, 9, 1, 7, 2, 0, 0 };
    uint32_t callee = wire_gsym_string(&g, "callee");
    struct wire tree;
    wire_init(&tree, false);
    wire_gsym_node(&tree, 1, (const uint32_t[]){ 0, 16 }, true, callee, 0, 0);
    wire_gsym_node(&tree, 1, (const uint32_t[]){ 0, 4 }, false, callee, file, 3);
    wire_gsym_node(&tree, 1, (const uint32_t[]){ 4, 4 }, false, callee, 9, 3);
    wire_u8(&tree, 0);
    struct wire_gsym_function *f = wire_gsym_function(&g, 0x100, 16, "late");
    add_lines(f, late, sizeof late);
    wire_gsym_part_wire(&f->parts, CSNI_GSYM_PART_INLINE, &tree);
    f = wire_gsym_function(&g, 0x200, 16, "symbol");
    wire_gsym_part_wire(&f->parts, CSNI_GSYM_PART_INLINE, &tree);
    add_lines(wire_gsym_function(&g, 0x300, 16, "no_file"), no_file, sizeof no_file);
    add_lines(wire_gsym_function(&g, 0x400, 16, "bad_file"), bad_file, sizeof bad_file);
    f = wire_gsym_function(&g, 0x500, 16, "bad_call");
    static const uint8_t plain[] = { 0, 0, 9, 2, 0, 0 };
    wire_gsym_part(&f->parts, 77, (struct csni_span){ plain, 3 }); /* unknown: skipped */
    add_lines(f, plain, sizeof plain);
    wire_gsym_part_wire(&f->parts, CSNI_GSYM_PART_INLINE, &tree);
    wire_deinit(&tree);
    struct csn_index *index = open_index(&g);

    expect(index, 0x109, CSN_LOOKUP_DEFAULT, "late+9@d/f:9");
    expect(index, 0x101, CSN_LOOKUP_DEFAULT, "callee+1@/:0 <- !4late+1@d/f:3");
    expect(index, 0x101, CSN_LOOKUP_LLVM, "none 4");
    expect(index, 0x201, CSN_LOOKUP_DEFAULT, "callee+1@/:0 <- !3symbol+1@d/f:3");
    expect(index, 0x201, CSN_LOOKUP_LLVM, "symbol+1@/:0!3");
    expect(index, 0x301, CSN_LOOKUP_DEFAULT, "no_file+1@/:0!4");
    expect(index, 0x301, CSN_LOOKUP_LLVM, "none 4");
    char text[128];
    expect(index, 0x401, CSN_LOOKUP_DEFAULT, "bad_file+1@/:9!5");
    snprintf(text, sizeof text, "FunctionInfo+0x%zx: row of address 0x401 names a file that is not in the table of 2",
             g.records[3] + 16);
    expect(index, 0x401, CSN_LOOKUP_LLVM, text);
    expect_both(index, 0x501, "callee+1@d/f:9 <- bad_call+1@d/f:3");
    expect(index, 0x505, CSN_LOOKUP_DEFAULT, "callee+1@d/f:9 <- bad_call+5@/:3!5");
    snprintf(text, sizeof text, "FunctionInfo+0x%zx: file 9, need < 2",
             g.records[4] + CSNI_GSYM_R_PARTS + 8 + 3 + 8 + sizeof plain + 8);
    expect(index, 0x505, CSN_LOOKUP_LLVM, text);
    csn_index_close(index);
    wire_gsym_deinit(&g);
}

/* Records that cannot be read are errors with a place; the functions beside them answer. */
static void damaged_records(void **state) {
    (void)state;
    struct wire_gsym g;
    wire_gsym_example(&g, false, 4);
    struct csn_index *index = open_index(&g);
    size_t size = g.out.size;
    char text[128];
    wire_patch(&g.out, g.info_table, 0x7000, 4);
    snprintf(text, sizeof text, "info offset table+0x%zx: record 0 at 0x7000, file has 0x%zx bytes", g.info_table, size);
    expect_both(index, 0x1000, text);
    expect_both(index, 0x11e0, "total+0@/src/demo.c:6");
    wire_patch(&g.out, g.info_table, size - 4, 4);
    snprintf(text, sizeof text, "FunctionInfo+0x%zx: record of 4 bytes, need >= 8", size - 4);
    expect_both(index, 0x1000, text);
    wire_patch(&g.out, g.records[1] + CSNI_GSYM_R_PARTS + 4, 0x1000, 4);
    snprintf(text, sizeof text, "FunctionInfo+0x%zx: part of type 1: %zu bytes left, need 4096", g.records[1] + 16,
             size - g.records[1] - 16);
    expect_both(index, 0x11e0, text);
    csn_index_close(index);
    wire_gsym_deinit(&g);
}

static void reasons(void **state) {
    (void)state;
    for (uint32_t reason = 0; reason < 7; reason++) assert_true(strlen(csn_reason_text(reason)) > 10);
    assert_string_equal(csn_reason_text(CSN_REASON_NO_LINE_TABLE), "the function has no line table");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(example), cmocka_unit_test(small_capacity), cmocka_unit_test(equal_starts_and_empty_functions),
        cmocka_unit_test(many_equal_starts),
        cmocka_unit_test(address_search), cmocka_unit_test(modes), cmocka_unit_test(damaged_records),
        cmocka_unit_test(reasons),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
