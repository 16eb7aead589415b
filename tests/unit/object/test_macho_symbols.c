/* object: symbols of Mach-O files: the symbol table, stubs, the export trie, function starts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/macho_sample.h"
#include "object/macho/macho_layout.h"

struct expected {
    const char *name;
    uint64_t addr, size;
    uint32_t section;
    uint8_t kind, bind;
    bool defined;
};

static void check_symbols(struct csni_object *object, enum csni_symbol_table table, const struct expected *expected,
                          size_t count, uint64_t damaged) {
    struct csni_symbol_iter iter;
    struct csni_symbol s;
    assert_int_equal(csni_symbol_iter_init(&iter, object, table, NULL), CSN_OK);
    for (size_t i = 0; i < count; i++) {
        const struct expected *e = &expected[i];
        assert_int_equal(csni_symbol_iter_next(&iter, &s), CSN_OK);
        if (!csni_str_is(s.name, e->name)) fail_msg("symbol %zu: %.*s, expected %s", i, (int)s.name.len, s.name.ptr, e->name);
        assert_int_equal(s.addr, e->addr);
        assert_int_equal(s.size, e->size);
        assert_int_equal(s.section, e->section);
        assert_int_equal(s.kind, e->kind);
        assert_int_equal(s.bind, e->bind);
        assert_int_equal(s.defined, e->defined);
    }
    assert_int_equal(csni_symbol_iter_next(&iter, &s), CSN_NONE);
    assert_int_equal(iter.damaged, damaged);
}

enum { FUNCTION = CSNI_SYMBOL_FUNCTION, DATA = CSNI_SYMBOL_DATA, PLAIN = CSNI_SYMBOL_NONE };
enum { LOCAL = CSNI_BIND_LOCAL, GLOBAL = CSNI_BIND_GLOBAL, WEAK = CSNI_BIND_WEAK };
#define BASE MACHO_SAMPLE_BASE
#define NOWHERE CSNI_NO_SECTION

static void check_whole(bool wide, bool big) {
    static const struct expected expected[] = {
        { "work", BASE + 0x110, 0, 1, FUNCTION, LOCAL, true },
        { "counter", BASE + 0x200, 0, 3, DATA, LOCAL, true },
        { "_mh_execute_header", BASE, 0, 1, PLAIN, GLOBAL, true },
        { "main", BASE + 0x100, 0, 1, FUNCTION, GLOBAL, true },
        { "late", BASE + 0x118, 0, 1, FUNCTION, WEAK, true },
        { "absolute", 0x1234, 0, NOWHERE, PLAIN, GLOBAL, true },
        { "puts", 0, 0, NOWHERE, PLAIN, GLOBAL, false },
        { "free", 0, 0, NOWHERE, PLAIN, GLOBAL, false },
        { "symbol stub for: puts", BASE + 0x120, 8, 2, FUNCTION, LOCAL, true },
        { "symbol stub for: free", BASE + 0x128, 8, 2, FUNCTION, LOCAL, true },
    };
    static const struct expected exports[] = {
        { "main", BASE + 0x100, 0, 1, FUNCTION, GLOBAL, true },
        { "late", BASE + 0x118, 0, 1, FUNCTION, WEAK, true },
    };
    struct macho_sample_file f;
    for (int in_dyld_info = 0; in_dyld_info < 2; in_dyld_info++) {
        macho_sample_begin(&f, wide, big);
        f.macho.exports_in_dyld_info = in_dyld_info;
        assert_int_equal(macho_sample_open(&f), CSN_OK);
        check_symbols(f.object, CSNI_SYMBOLS_STATIC, expected, sizeof expected / sizeof *expected, 0);
        check_symbols(f.object, CSNI_SYMBOLS_STATIC, expected, sizeof expected / sizeof *expected, 0);
        check_symbols(f.object, CSNI_SYMBOLS_DYNAMIC, exports, 2, 0);
        check_symbols(f.object, CSNI_SYMBOLS_DYNAMIC, exports, 2, 0);
        macho_sample_end(&f);
    }
}

static void reads_whole_file(void **state) {
    (void)state;
    for (int shape = 0; shape < 4; shape++) check_whole(shape & 1, shape & 2);
}

static void knows_files_without_tables(void **state) {
    (void)state;
    struct macho_sample_file f;
    struct csni_symbol_iter iter;
    csni_function_bounds bounds = { .alloc = &csni_libc_allocator };
    macho_sample_begin(&f, true, false);
    f.macho.symbols = NULL;
    f.macho.symbol_count = 0;
    f.macho.exports.size = f.macho.function_starts.size = 0;
    assert_int_equal(macho_sample_open(&f), CSN_OK);
    assert_int_equal(csni_symbol_iter_init(&iter, f.object, CSNI_SYMBOLS_STATIC, NULL), CSN_NONE);
    assert_int_equal(csni_symbol_iter_init(&iter, f.object, CSNI_SYMBOLS_DYNAMIC, NULL), CSN_NONE);
    assert_int_equal(csni_object_function_bounds(f.object, &bounds, NULL), CSN_NONE);
    macho_sample_end(&f);
}

/* Table and strings given, stubs and the rest of the sample left out. */
static void open_with(struct macho_sample_file *f, const struct wire_macho_symbol *symbols, uint32_t count) {
    macho_sample_begin(f, true, false);
    f->macho.symbols = symbols;
    f->macho.symbol_count = count;
    f->macho.indirect = NULL;
    f->macho.indirect_count = 0;
}

static void only_stabs_are_no_symbols(void **state) {
    (void)state;
    static const struct wire_macho_symbol symbols[] = { { "a.c", N_SO, 0, 0, 0 }, { "", N_SO, 1, 0, 0 } };
    struct macho_sample_file f;
    open_with(&f, symbols, 2);
    assert_int_equal(macho_sample_open(&f), CSN_OK);
    check_symbols(f.object, CSNI_SYMBOLS_STATIC, NULL, 0, 0);
    macho_sample_end(&f);
}

static void counts_damaged_symbols(void **state) {
    (void)state;
    static const struct wire_macho_symbol symbols[] = {
        { "_far", N_SECT, 7, 0, 0 }, { "a.c", N_SO, 0, 0, 0 },        { "_none", N_SECT, 0, 0, 0 },
        { "__b", N_SECT, 1, 0, 0x10100 }, { "plain", N_SECT, 1, 0, 0x10101 }, { "", N_SECT, 1, 0, 0x10102 },
    };
    static const struct expected expected[] = {
        { "_b", 0x10100, 0, 1, FUNCTION, LOCAL, true },
        { "plain", 0x10101, 0, 1, FUNCTION, LOCAL, true },
        { "", 0x10102, 0, 1, FUNCTION, LOCAL, true },
    };
    struct macho_sample_file f;
    open_with(&f, symbols, 6);
    assert_int_equal(macho_sample_open(&f), CSN_OK);
    check_symbols(f.object, CSNI_SYMBOLS_STATIC, expected, 3, 2);
    macho_sample_end(&f);
}

/* A table of strings that is cut off holds no names; it is no reason to have symbols without one. */
static void names_beyond_the_strings_are_damaged(void **state) {
    (void)state;
    static const struct wire_macho_symbol symbols[] = { { "_near", N_SECT, 1, 0, 0x10100 }, { "_far", N_SECT, 1, 0, 0x10108 } };
    static const struct expected expected[] = { { "near", 0x10100, 0, 1, FUNCTION, LOCAL, true } };
    struct macho_sample_file f;
    struct wire_macho_places places;
    open_with(&f, symbols, 2);
    wire_macho_build(&f.macho, &f.wire, &places);
    (void)wire_span(&f.wire);
    wire_patch(&f.wire, places.symtab + 20, 1 + sizeof "_near", 4); /* strsize */
    assert_int_equal(csni_object_open((struct csni_span){ f.wire.bytes, f.wire.size }, NULL, &f.object, NULL), CSN_OK);
    check_symbols(f.object, CSNI_SYMBOLS_STATIC, expected, 1, 1);
    macho_sample_end(&f);
}

static void removes_thumb_bits(void **state) {
    (void)state;
    static const struct wire_macho_symbol symbols[] = {
        { "_odd", N_SECT, 1, N_ARM_THUMB_DEF, 0x10101 }, { "_even", N_SECT, 1, N_ARM_THUMB_DEF, 0x10102 },
        { "_data", N_SECT, 3, 0, 0x10201 },
    };
    static const struct expected expected[] = {
        { "odd", 0x10100, 0, 1, FUNCTION, LOCAL, true },
        { "even", 0x10102, 0, 1, FUNCTION, LOCAL, true },
        { "data", 0x10201, 0, 3, DATA, LOCAL, true },
    };
    static const uint8_t starts[] = { 0x81, 0x02, 0x10, 0x07 }; /* 0x101, 0x111, 0x118; no end mark */
    struct macho_sample_file f;
    csni_function_bounds bounds = { .alloc = &csni_libc_allocator };
    open_with(&f, symbols, 3);
    f.macho.wide = false;
    f.macho.cpu_type = CPU_TYPE_ARM;
    f.macho.function_starts = (struct csni_span){ starts, sizeof starts };
    assert_int_equal(macho_sample_open(&f), CSN_OK);
    check_symbols(f.object, CSNI_SYMBOLS_STATIC, expected, 3, 0);
    assert_int_equal(csni_object_function_bounds(f.object, &bounds, NULL), CSN_OK);
    assert_int_equal(bounds.count, 3);
    assert_int_equal(bounds.items[0].start, 0x10100);
    assert_int_equal(bounds.items[1].start, 0x10110);
    assert_int_equal(bounds.items[2].start, 0x10118);
    assert_int_equal(bounds.items[2].end, 0);
    csni_vec_deinit(&bounds);
    macho_sample_end(&f);
}

static void assembler_labels_are_no_functions(void **state) {
    (void)state;
    static const struct wire_macho_symbol symbols[] = { { "ltmp0", N_SECT, 1, 0, 0x10100 },
                                                        { "ltmp", N_SECT, 1, 0, 0x10100 },
                                                        { "ltmp1x", N_SECT, 1, 0, 0x10100 } };
    static const struct expected expected[] = { { "ltmp0", 0x10100, 0, 1, PLAIN, LOCAL, true },
                                                { "ltmp", 0x10100, 0, 1, FUNCTION, LOCAL, true },
                                                { "ltmp1x", 0x10100, 0, 1, FUNCTION, LOCAL, true } };
    struct macho_sample_file f;
    open_with(&f, symbols, 3);
    f.macho.file_type = MH_OBJECT;
    assert_int_equal(macho_sample_open(&f), CSN_OK);
    check_symbols(f.object, CSNI_SYMBOLS_STATIC, expected, 3, 0);
    macho_sample_end(&f);
}

static void reads_function_starts(void **state) {
    (void)state;
    struct macho_sample_file f;
    csni_function_bounds bounds = { .alloc = &csni_libc_allocator };
    macho_sample_begin(&f, true, false);
    assert_int_equal(macho_sample_open(&f), CSN_OK);
    assert_int_equal(csni_object_function_bounds(f.object, &bounds, NULL), CSN_OK);
    assert_int_equal(bounds.count, 3);
    assert_int_equal(bounds.items[0].start, BASE + 0x100);
    assert_int_equal(bounds.items[1].start, BASE + 0x110);
    assert_int_equal(bounds.items[2].start, BASE + 0x118);
    csni_vec_deinit(&bounds);
    macho_sample_end(&f);
}

/* ---- stubs that lead nowhere ---- */

static void counts_damaged_stubs(void **state) {
    (void)state;
    static const struct wire_macho_symbol symbols[] = { { "_puts", N_UNDF | N_EXT, 0, 0, 0 } };
    static const uint32_t indirect[] = { 0x80000000, 0x40000000, 5, 0 };
    static const struct expected expected[] = { { "puts", 0, 0, NOWHERE, PLAIN, GLOBAL, false },
                                                { "symbol stub for: puts", BASE + 0x12c, 4, 2, FUNCTION, LOCAL, true } };
    struct macho_sample_file f;
    open_with(&f, symbols, 1);
    f.macho.indirect = indirect;
    f.macho.indirect_count = 4;
    f.macho.sections[1].reserved1 = 0;
    f.macho.sections[1].reserved2 = 4;
    assert_int_equal(macho_sample_open(&f), CSN_OK);
    check_symbols(f.object, CSNI_SYMBOLS_STATIC, expected, 2, 1);
    macho_sample_end(&f);
}

static void stubs_beyond_the_table_are_damaged(void **state) {
    (void)state;
    struct macho_sample_file f;
    struct csni_symbol_iter iter;
    macho_sample_begin(&f, true, false);
    f.macho.sections[1].reserved1 = 2; /* the second has no entry */
    assert_int_equal(macho_sample_open(&f), CSN_OK);
    assert_int_equal(csni_symbol_iter_init(&iter, f.object, CSNI_SYMBOLS_STATIC, NULL), CSN_OK);
    assert_int_equal(iter.damaged, 1);
    macho_sample_end(&f);
}

/* A section that promises stubs without end costs no more than the table has entries. */
static void many_stubs_are_bounded(void **state) {
    (void)state;
    struct macho_sample_file f;
    struct csni_symbol_iter iter;
    macho_sample_begin(&f, true, false);
    f.macho.sections[1].size = UINT64_C(1) << 60;
    f.macho.sections[1].reserved2 = 1;
    assert_int_equal(macho_sample_open(&f), CSN_OK);
    assert_int_equal(csni_symbol_iter_init(&iter, f.object, CSNI_SYMBOLS_STATIC, NULL), CSN_OK);
    assert_true(iter.damaged <= 3);
    macho_sample_end(&f);
}

/* ---- tries ---- */

static void check_trie(const uint8_t *trie, size_t size, const struct expected *expected, size_t count, uint64_t damaged) {
    struct macho_sample_file f;
    macho_sample_begin(&f, true, false);
    f.macho.exports = (struct csni_span){ trie, size };
    assert_int_equal(macho_sample_open(&f), CSN_OK);
    check_symbols(f.object, CSNI_SYMBOLS_DYNAMIC, expected, count, damaged);
    macho_sample_end(&f);
}

static void reads_kinds_of_exports(void **state) {
    (void)state;
    static const uint8_t trie[] = {
        0, 4, 'a', 0, 18, 'b', 0, 23, 'c', 0, 28, 'd', 0, 32, 'x', 0, 18, 0,
        3, 0, 0x80, 0x04, 0, /* at 18: data at 0x200 */
        3, 2, 0x80, 0x04, 0, /* absolute 0x200 */
        2, 8, 1, 0,          /* of another image */
        3, 0, 0x80, 0x02, 1, 'e', 0, 39, /* main, and more after it */
    };
    static const struct expected expected[] = {
        { "a", BASE + 0x200, 0, 3, DATA, GLOBAL, true },
        { "b", 0x200, 0, NOWHERE, PLAIN, GLOBAL, true },
        { "d", BASE + 0x100, 0, 1, FUNCTION, GLOBAL, true },
    };
    check_trie(trie, sizeof trie, expected, 3, 1); /* the child at 39 is not there: the trie ends at 40, its node is cut */
}

static void ends_loops_of_tries(void **state) {
    (void)state;
    static const uint8_t loop[] = { 0, 1, 'a', 0, 0 }, twins[] = { 0, 2, 0, 0, 0, 0 }, empty[] = { 0x80 };
    check_trie(loop, sizeof loop, NULL, 0, 1);
    check_trie(twins, sizeof twins, NULL, 0, 3);
    check_trie(empty, sizeof empty, NULL, 0, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_whole_file),
        cmocka_unit_test(knows_files_without_tables),
        cmocka_unit_test(only_stabs_are_no_symbols),
        cmocka_unit_test(counts_damaged_symbols),
        cmocka_unit_test(names_beyond_the_strings_are_damaged),
        cmocka_unit_test(removes_thumb_bits),
        cmocka_unit_test(assembler_labels_are_no_functions),
        cmocka_unit_test(reads_function_starts),
        cmocka_unit_test(counts_damaged_stubs),
        cmocka_unit_test(stubs_beyond_the_table_are_damaged),
        cmocka_unit_test(many_stubs_are_bounded),
        cmocka_unit_test(reads_kinds_of_exports),
        cmocka_unit_test(ends_loops_of_tries),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
