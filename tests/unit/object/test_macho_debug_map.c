/* object: debug maps of Mach-O images, and the address maps made with them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "support/macho_sample.h"
#include "object/address_map.h"
#include "object/macho/macho_layout.h"

#define BASE MACHO_SAMPLE_BASE

static void check_object(const struct csni_debug_map_object *o, const char *path, const char *member, uint64_t mtime,
                         uint32_t first, uint32_t count) {
    assert_true(csni_str_is(o->path, path));
    assert_true(csni_str_is(o->member, member));
    assert_int_equal(o->mtime, mtime);
    assert_int_equal(o->first_function, first);
    assert_int_equal(o->function_count, count);
}

static void check_function(const struct csni_debug_map_function *f, const char *name, uint64_t addr, uint64_t size) {
    assert_true(csni_str_is(f->name, name));
    assert_int_equal(f->addr, addr);
    assert_int_equal(f->size, size);
}

static void reads_sample(void **state) {
    (void)state;
    for (int shape = 0; shape < 4; shape++) {
        struct macho_sample_file f;
        struct csni_debug_map map;
        macho_sample_begin(&f, shape & 1, shape & 2);
        assert_int_equal(macho_sample_open(&f), CSN_OK);
        assert_int_equal(csni_macho_debug_map(f.object, &csni_libc_allocator, &map, &f.err), CSN_OK);
        assert_int_equal(map.objects.count, 2);
        check_object(&map.objects.items[0], "/build/main.o", "", 1700000000, 0, 1);
        check_object(&map.objects.items[1], "/build/libx.a", "work.o", 0, 1, 2);
        assert_int_equal(map.functions.count, 3);
        check_function(&map.functions.items[0], "main", BASE + 0x100, 0x10);
        check_function(&map.functions.items[1], "work", BASE + 0x110, 8);
        check_function(&map.functions.items[2], "late", BASE + 0x118, 8);
        assert_int_equal(map.damaged, 0);
        csni_debug_map_deinit(&map);
        macho_sample_end(&f);
    }
}

static void read_map(struct macho_sample_file *f, const struct wire_macho_symbol *symbols, uint32_t count,
                     struct csni_debug_map *map, csn_status expected) {
    macho_sample_begin(f, true, false);
    f->macho.symbols = symbols;
    f->macho.symbol_count = count;
    assert_int_equal(macho_sample_open(f), CSN_OK);
    assert_int_equal(csni_macho_debug_map(f->object, &csni_libc_allocator, map, &f->err), expected);
}

static void images_without_stabs_have_none(void **state) {
    (void)state;
    static const struct wire_macho_symbol symbols[] = { { "_main", N_SECT, 1, 0, BASE + 0x100 } };
    struct macho_sample_file f;
    struct csni_debug_map map;
    read_map(&f, symbols, 1, &map, CSN_NONE);
    macho_sample_end(&f);
    read_map(&f, NULL, 0, &map, CSN_NONE);
    macho_sample_end(&f);
}

static void passes_over_what_does_not_belong(void **state) {
    (void)state;
    static const struct wire_macho_symbol symbols[] = {
        { "_early", N_FUN, 1, 0, BASE + 0x100 },  { "", N_FUN, 0, 0, 4 }, /* before any object file */
        { "dir/(x)/a.o", N_OSO, 0, 1, 1 },
        { "", N_BNSYM, 1, 0, BASE + 0x100 },      { "_f", N_FUN, 1, 0, BASE + 0x100 },
        { "", N_FUN, 0, 0, 4 },                   { "", N_ENSYM, 1, 0, 4 },
        { "", N_FUN, 0, 0, 9 },                   { "_g", N_FUN, 1, 0, BASE + 0x104 },
        { "_h", N_FUN, 1, 0, BASE + 0x108 },      { "", N_FUN, 0, 0, UINT64_MAX },
        { "", N_SO, 1, 0, 0 },                    { "_i", N_FUN, 1, 0, BASE + 0x10c },
        { "", N_OSO, 0, 1, 1 },                   { "_j", N_FUN, 1, 0, BASE + 0x10c },
    };
    struct macho_sample_file f;
    struct csni_debug_map map;
    read_map(&f, symbols, 15, &map, CSN_OK);
    assert_int_equal(map.objects.count, 1);
    check_object(&map.objects.items[0], "dir/(x)/a.o", "", 1, 0, 3);
    assert_int_equal(map.functions.count, 3);
    check_function(&map.functions.items[0], "f", BASE + 0x100, 4);
    check_function(&map.functions.items[1], "g", BASE + 0x104, 0);
    check_function(&map.functions.items[2], "h", BASE + 0x108, 0);
    assert_int_equal(map.damaged, 2); /* the size of h, the path that is empty */
    csni_debug_map_deinit(&map);
    macho_sample_end(&f);
}

/* ---- address maps ---- */

/* As an object file: `late` is the longest of three names at one place, `tail` has no size told. */
static const struct wire_macho_symbol object_symbols[] = {
    { "_late", N_SECT | N_EXT, 1, 0, BASE + 0x110 }, { "_main", N_SECT | N_EXT, 1, 0, BASE + 0x100 },
    { "_alias", N_SECT | N_EXT, 1, 0, BASE + 0x110 }, { "_tail", N_SECT, 1, 0, BASE + 0x118 },
    { "_inner", N_SECT, 1, 0, BASE + 0x114 },         { "_main", N_SECT, 1, 0, BASE + 0x104 },
    { "_undefined", N_UNDF | N_EXT, 0, 0, 0 },
};

static void check_range(const struct csni_address_map *map, uint64_t addr, uint64_t start, uint64_t end, uint64_t image) {
    const struct csni_mapped_range *r = csni_address_map_find(map, addr);
    assert_non_null(r);
    assert_int_equal(r->object_start, start);
    assert_int_equal(r->object_end, end);
    assert_int_equal(r->image_start, image);
}

static void maps_addresses(void **state) {
    (void)state;
    static const struct csni_debug_map_function functions[] = {
        { { "main", 4 }, 0x5000, 8 },   { { "late", 4 }, 0x4000, 6 },       { { "alias", 5 }, 0x4000, 4 },
        { { "tail", 4 }, 0x7000, 0 },   { { "inner", 5 }, 0x4004, 2 },      { { "gone", 4 }, 0x9000, 2 },
        { { "undefined", 9 }, 0x9000, 2 },
    };
    struct macho_sample_file f;
    struct csni_address_map map;
    macho_sample_begin(&f, true, false);
    f.macho.file_type = MH_OBJECT;
    f.macho.symbols = object_symbols;
    f.macho.symbol_count = 7;
    f.macho.indirect = NULL;
    f.macho.indirect_count = 0;
    assert_int_equal(macho_sample_open(&f), CSN_OK);
    assert_int_equal(csni_address_map_make(f.object, functions, 7, &csni_libc_allocator, &map, &f.err), CSN_OK);
    assert_int_equal(map.missing, 2);
    assert_int_equal(map.ranges.count, 4);
    assert_null(csni_address_map_find(&map, BASE + 0xff));
    check_range(&map, BASE + 0x100, BASE + 0x100, BASE + 0x108, 0x5000);
    check_range(&map, BASE + 0x107, BASE + 0x100, BASE + 0x108, 0x5000);
    assert_null(csni_address_map_find(&map, BASE + 0x108));
    check_range(&map, BASE + 0x112, BASE + 0x110, BASE + 0x114, 0x4000); /* ends where inner starts */
    check_range(&map, BASE + 0x115, BASE + 0x114, BASE + 0x116, 0x4004);
    assert_null(csni_address_map_find(&map, BASE + 0x116));
    check_range(&map, BASE + 0x11f, BASE + 0x118, BASE + 0x120, 0x7000); /* to the end of the section */
    assert_null(csni_address_map_find(&map, BASE + 0x120));
    csni_address_map_deinit(&map);
    assert_int_equal(csni_address_map_make(f.object, NULL, 0, &csni_libc_allocator, &map, &f.err), CSN_OK);
    assert_null(csni_address_map_find(&map, BASE + 0x100));
    macho_sample_end(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_sample),
        cmocka_unit_test(images_without_stabs_have_none),
        cmocka_unit_test(passes_over_what_does_not_belong),
        cmocka_unit_test(maps_addresses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
