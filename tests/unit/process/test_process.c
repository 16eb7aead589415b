/* Memory maps: mappings over mappings, biases with and without the image's file, the text of /proc/PID/maps. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <callsign/process.h>

#include "base/core/span.h"
#include "object/elf/elf_layout.h"
#include "support/test_alloc.h"
#include "wire/wire_elf.h"

static struct csn_error err;

static struct csn_process_maps *maps_of(const char *text) {
    struct csn_process_maps *maps;
    assert_int_equal(csn_process_maps_create(NULL, &maps, &err), CSN_OK);
    assert_int_equal(csn_process_maps_add_text(maps, 7, csni_str(text), NULL, &err), CSN_OK);
    return maps;
}

/* "START-END PATH bias off image_start;" of each module of process 7. */
static void expect_modules(struct csn_process_maps *maps, const char *expected) {
    const struct csn_process_module *modules;
    size_t count;
    char text[2000] = "";
    assert_int_equal(csn_process_maps_modules(maps, 7, &modules, &count, &err), CSN_OK);
    for (size_t i = 0; i < count; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text), "%llx-%llx %.*s bias %llx off %llx at %llx;",
                 (unsigned long long)modules[i].start, (unsigned long long)modules[i].end, (int)modules[i].path.len,
                 modules[i].path.ptr, (unsigned long long)modules[i].bias, (unsigned long long)modules[i].file_off,
                 (unsigned long long)modules[i].image_start);
    assert_string_equal(text, expected);
}

/* ---- maps alone ---- */

/* No first byte of the image is mapped, and each mapping's bytes may be those of every other: looking at all mappings for each
 * pair of them would take hours. */
static void test_many_mappings_of_one_file(void **state) {
    (void)state;
    enum { COUNT = 4096 };
    struct csn_process_maps *maps = maps_of("");
    const struct csn_process_module *modules;
    size_t count;
    for (unsigned i = 0; i < COUNT; i++) {
        char line[100];
        snprintf(line, sizeof line, "%llx-%llx r-xp 1000 08:01 1 /nowhere/app\n", 0x10000ull * i + 0x10000,
                 0x10000ull * i + 0x18000);
        assert_int_equal(csn_process_maps_add_text(maps, 7, csni_str(line), NULL, &err), CSN_OK);
    }
    assert_int_equal(csn_process_maps_modules(maps, 7, &modules, &count, &err), CSN_OK);
    assert_int_equal(count, COUNT);
    assert_int_equal(modules[1].bias, 0x20000 - 0x1000);
    csn_process_maps_destroy(maps);
}

static void test_text(void **state) {
    (void)state;
    struct csn_process_maps *maps = maps_of("");
    size_t lines;
    uint64_t generation = csn_process_maps_generation(maps);
    static const char text[] = "55d000000000-55d000001000 r--p 00000000 08:01 1234    /nowhere/app\r\n"
                               "55d000001000-55d000003000 r-xp 00001000 08:01 1234    /nowhere/app\n"
                               "55d000003000-55d000004000 rw-p 00000000 00:00 0       [heap]\n"
                               "7fff00000000-7fff00001000 r-xp 00000000 00:00 0 \n"
                               "Size:                  4 kB\n"
                               "7f0000001000-7f0000001000 r-xp 00000000 08:01 9       /nowhere/empty\n"
                               "7f0000000000-7f0000001000 r-xp 00000000 08:01 12 /nowhere/with blanks (deleted)";
    assert_int_equal(csn_process_maps_add_text(maps, 7, csni_str(text), &lines, &err), CSN_OK);
    assert_int_equal(lines, 6);
    assert_int_not_equal(csn_process_maps_generation(maps), generation);
    expect_modules(maps, "55d000001000-55d000003000 /nowhere/app bias 55d000000000 off 1000 at 55d000000000;"
                         "7f0000000000-7f0000001000 /nowhere/with blanks (deleted) bias 7f0000000000 off 0 at 7f0000000000;");
    static const char *const none[] = { "", "-", "55d0-", "55d0-55e0 r-xp", "xyz-55e0 r-xp 0 08:01 1 /a",
                                        "55d0-55e0 r-xpx 0 08:01 1 /a", "55d0-55e0 r-xp 0 08:01 one /a",
                                        "11112222333344445-2 r-xp 0 08:01 1 /a" };
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_int_equal(csn_process_maps_add_line(maps, 7, csni_str(none[i]), &err), CSN_NONE);
    /* The end of a line is no part of its path; what is before the image is not the image. */
    struct csn_process_module found;
    assert_int_equal(csn_process_maps_add_line(maps, 7, csni_str("8000-9000 r-xp 0 08:01 1 /nowhere/b\r\n"), &err), CSN_OK);
    assert_int_equal(csn_process_maps_find(maps, 7, 0x8000, &found), CSN_OK);
    assert_true(csni_str_is(found.path, "/nowhere/b"));
    assert_int_equal(csn_process_maps_find(maps, 7, 0x55d000001000, &found), CSN_OK);
    assert_int_equal(csn_process_module_bias(&found, 0x55d000000000), 0);
    assert_int_equal(csn_process_module_bias(&found, 0x55cffffff800), 0x55d000000000);
    csn_process_maps_destroy(maps);
}

static void add(struct csn_process_maps *maps, uint64_t start, uint64_t end, uint64_t off, const char *path) {
    struct csn_process_mapping mapping = CSN_PROCESS_MAPPING_INIT;
    mapping.start = start;
    mapping.end = end;
    mapping.file_off = off;
    mapping.path = csni_str(path);
    mapping.flags = CSN_MAPPING_EXECUTABLE;
    assert_int_equal(csn_process_maps_add_mapping(maps, 7, &mapping, &err), CSN_OK);
}

/* A new mapping takes the bytes of those below it, as mmap does. */
static void test_overlaps(void **state) {
    (void)state;
    struct csn_process_maps *maps = maps_of("");
    add(maps, 0x10000, 0x20000, 0, "/no/a");
    add(maps, 0x14000, 0x16000, 0x500, "/no/b");
    expect_modules(maps, "10000-14000 /no/a bias 10000 off 0 at 10000;16000-20000 /no/a bias 10000 off 6000 at 10000;"
                         "14000-16000 /no/b bias 13b00 off 500 at 0;");
    add(maps, 0x12000, 0x15000, 0, "/no/c");
    expect_modules(maps, "10000-12000 /no/a bias 10000 off 0 at 10000;16000-20000 /no/a bias 10000 off 6000 at 10000;"
                         "15000-16000 /no/b bias 13b00 off 1500 at 0;12000-15000 /no/c bias 12000 off 0 at 12000;");
    add(maps, 0, 0x30000, 0, "/no/d");
    expect_modules(maps, "0-30000 /no/d bias 0 off 0 at 0;");
    csn_process_maps_destroy(maps);
}

/* Modules are those of the process that is asked for, whoever was asked for before, and whose mappings lie beside. */
static void test_other_processes(void **state) {
    (void)state;
    struct csn_process_maps *maps = maps_of("");
    for (uint64_t pid = 6; pid <= 8; pid++)
        for (uint64_t i = 0; i < pid - 4; i++) {
            struct csn_process_mapping mapping = CSN_PROCESS_MAPPING_INIT;
            mapping.start = 0x10000 * pid + 0x1000 * i;
            mapping.end = mapping.start + 0x1000;
            mapping.path = csni_str("/no/a");
            mapping.flags = CSN_MAPPING_EXECUTABLE;
            assert_int_equal(csn_process_maps_add_mapping(maps, pid, &mapping, &err), CSN_OK);
        }
    for (unsigned round = 0; round < 2; round++)
        for (uint64_t pid = 6; pid <= 8; pid++) {
            const struct csn_process_module *modules;
            size_t count;
            assert_int_equal(csn_process_maps_modules(maps, pid, &modules, &count, &err), CSN_OK);
            assert_int_equal(count, pid - 4);
            for (size_t i = 0; i < count; i++) assert_int_equal(modules[i].start, 0x10000 * pid + 0x1000 * i);
        }
    csn_process_maps_destroy(maps);
}

/* Random mappings of three processes against one entry for each page: what a page was mapped to last. */
static void test_found_as_mapped_last(void **state) {
    (void)state;
    enum { PIDS = 3, PAGES = 64, ROUNDS = 3000, PAGE = 0x1000 };
    static unsigned last[PIDS][PAGES], first_page[ROUNDS + 1];
    struct csn_process_maps *maps = maps_of("");
    uint32_t random = 12345;
    memset(last, 0, sizeof last);
    for (unsigned i = 1; i <= ROUNDS; i++) {
        char path[32];
        struct csn_process_mapping mapping = CSN_PROCESS_MAPPING_INIT;
        random = random * 1664525 + 1013904223;
        unsigned pid = (random >> 8) % PIDS, page = (random >> 12) % PAGES, count = 1 + (random >> 20) % 8;
        if (page + count > PAGES) count = PAGES - page;
        snprintf(path, sizeof path, "/no/%u/lib%u.so", i % 5, i);
        mapping.start = (uint64_t)page * PAGE;
        mapping.end = (uint64_t)(page + count) * PAGE;
        mapping.file_off = 0x2000;
        mapping.path = csni_str(path);
        mapping.flags = CSN_MAPPING_EXECUTABLE;
        assert_int_equal(csn_process_maps_add_mapping(maps, pid, &mapping, &err), CSN_OK);
        for (unsigned k = page; k < page + count; k++) last[pid][k] = i;
        first_page[i] = page;
        for (unsigned k = 0; k < PAGES; k++) {
            struct csn_process_module found;
            csn_status status = csn_process_maps_find(maps, pid, (uint64_t)k * PAGE + 5, &found);
            assert_int_equal(status, last[pid][k] ? CSN_OK : CSN_NONE);
            if (status != CSN_OK) continue;
            snprintf(path, sizeof path, "/no/%u/lib%u.so", last[pid][k] % 5, last[pid][k]);
            assert_true(csni_str_is(found.path, path));
            assert_int_equal(found.file_off, 0x2000 + found.start - (uint64_t)first_page[last[pid][k]] * PAGE);
            assert_true(found.start <= (uint64_t)k * PAGE && found.end > (uint64_t)k * PAGE);
        }
    }
    csn_process_maps_destroy(maps);
}

static void test_found_by_name(void **state) {
    (void)state;
    struct csn_process_maps *maps = maps_of("");
    struct csn_process_module found;
    add(maps, 0x10000, 0x20000, 0, "/no/a/lib.so");
    add(maps, 0x30000, 0x40000, 0, "/no/b/lib.so");
    add(maps, 0x50000, 0x60000, 0, "/no/b/lib.so.1");
    assert_int_equal(csn_process_maps_find_named(maps, 7, csni_str("lib.so"), &found), CSN_OK);
    assert_int_equal(found.start, 0x30000);
    assert_int_equal(csn_process_maps_find_named(maps, 7, csni_str("/no/a/lib.so"), &found), CSN_OK);
    assert_int_equal(found.start, 0x10000);
    assert_int_equal(csn_process_maps_find_named(maps, 7, csni_str("/other/lib.so"), &found), CSN_OK);
    assert_int_equal(found.start, 0x30000);
    for (uint64_t i = 1; i <= 3000; i++) { /* more of one name than are looked at */
        char path[32];
        snprintf(path, sizeof path, "/%llu/app", (unsigned long long)i);
        add(maps, i << 24, (i << 24) + 0x1000, 0, path);
    }
    for (uint64_t i = 1; i <= 3000; i += 577) {
        char path[32];
        snprintf(path, sizeof path, "/%llu/app", (unsigned long long)i);
        assert_int_equal(csn_process_maps_find_named(maps, 7, csni_str(path), &found), CSN_OK);
        assert_int_equal(found.start, i << 24);
    }
    assert_int_equal(csn_process_maps_find_named(maps, 7, csni_str("lib"), &found), CSN_NONE);
    assert_int_equal(csn_process_maps_find_named(maps, 8, csni_str("lib.so"), &found), CSN_NONE);
    assert_int_equal(csn_process_maps_find_named(maps, 7, csni_str("/no/a/"), &found), CSN_NONE);
    assert_int_equal(csn_process_maps_find(maps, 8, 0x10000, &found), CSN_NONE);
    assert_int_equal(csn_process_maps_find(maps, 7, 0x20000, &found), CSN_NONE);
    csn_process_maps_destroy(maps);
}

static void test_oldest_go(void **state) {
    (void)state;
    struct csn_process_maps_options options = CSN_PROCESS_MAPS_OPTIONS_INIT;
    struct csn_process_maps *maps;
    const struct csn_process_module *modules;
    size_t count;
    options.max_mappings = 64;
    assert_int_equal(csn_process_maps_create(&options, &maps, &err), CSN_OK);
    /* 143 * 7 is 1 modulo 1000: the one at place k came as number 7 * k. */
    for (uint64_t i = 0; i < 1000; i++) add(maps, i * 143 % 1000 * 0x1000, (i * 143 % 1000 + 1) * 0x1000, 0, "/no/a");
    assert_int_equal(csn_process_maps_modules(maps, 7, &modules, &count, &err), CSN_OK);
    assert_true(count <= 64 && count > 50);
    for (size_t i = 0; i < count; i++) assert_true(modules[i].start / 0x1000 * 7 % 1000 >= 1000 - count);
    /* The path of a module may name the mapping that replaces it. */
    struct csn_process_mapping again = CSN_PROCESS_MAPPING_INIT;
    again.start = modules[0].start;
    again.end = modules[0].end;
    again.path = modules[0].path;
    assert_int_equal(csn_process_maps_add_mapping(maps, 7, &again, &err), CSN_OK);
    csn_process_maps_destroy(maps);
}

static void test_arguments(void **state) {
    (void)state;
    struct csn_process_maps_options options = CSN_PROCESS_MAPS_OPTIONS_INIT;
    struct csn_process_maps *maps;
    options.flags = 0x80;
    assert_int_equal(csn_process_maps_create(&options, &maps, &err), CSN_E_UNSUPPORTED);
    maps = maps_of("");
    struct csn_process_mapping mapping = CSN_PROCESS_MAPPING_INIT;
    mapping.path = csni_str("/a");
    assert_int_equal(csn_process_maps_add_mapping(maps, 7, &mapping, &err), CSN_E_ARGUMENT);
    mapping.end = 1;
    mapping.path = (struct csn_str){ "/a\0b", 4 };
    assert_int_equal(csn_process_maps_add_mapping(maps, 7, &mapping, &err), CSN_E_ARGUMENT);
    mapping.path.len = 0;
    assert_int_equal(csn_process_maps_add_image(maps, 7, &mapping, &err), CSN_E_ARGUMENT);
    csn_process_maps_destroy(maps);
    csn_process_maps_destroy(NULL);
}

static void test_images(void **state) {
    (void)state;
    static const uint8_t id[40] = { 1, 2, 3 };
    struct csn_process_maps *maps = maps_of("");
    struct csn_process_mapping image = CSN_PROCESS_MAPPING_INIT;
    const struct csn_process_module *modules;
    size_t count;
    image.start = 0x104a28000;
    image.end = 0x104a30000;
    image.path = csni_str("/no/MyApp");
    image.build_id = id;
    image.build_id_size = sizeof id;
    assert_int_equal(csn_process_maps_add_image(maps, 7, &image, &err), CSN_OK);
    expect_modules(maps, "104a28000-104a30000 /no/MyApp bias 104a28000 off 0 at 104a28000;");
    assert_int_equal(csn_process_maps_modules(maps, 7, &modules, &count, &err), CSN_OK);
    assert_int_equal(modules[0].build_id_size, CSN_BUILD_ID_MAX);
    assert_memory_equal(modules[0].build_id, id, CSN_BUILD_ID_MAX);
    /* What an index says of the image's first byte. */
    assert_int_equal(csn_process_module_bias(&modules[0], 0), 0x104a28000);
    assert_int_equal(csn_process_module_bias(&modules[0], 0x1000), 0x104a28000);
    assert_int_equal(csn_process_module_bias(&modules[0], 0x100000000), 0x4a28000);
    assert_int_equal(csn_process_module_bias(&modules[0], 0x104a28000), 0);
    csn_process_maps_destroy(maps);
    /* One that is where it was linked, below 4 GiB. */
    maps = maps_of("");
    image.start = 0x400000;
    image.end = 0x408000;
    assert_int_equal(csn_process_maps_add_image(maps, 7, &image, &err), CSN_OK);
    assert_int_equal(csn_process_maps_modules(maps, 7, &modules, &count, &err), CSN_OK);
    assert_int_equal(csn_process_module_bias(&modules[0], 0x400000), 0);
    assert_int_equal(csn_process_module_bias(&modules[0], 0x407fff), 0);
    assert_int_equal(csn_process_module_bias(&modules[0], 0x408000), 0x400000);
    assert_int_equal(csn_process_module_bias(&modules[0], 0x3fffff), 0x400000);
    csn_process_maps_destroy(maps);
    /* A later part of the code of such an image, as where the part before it was put into huge pages; nothing tells
     * where it begins. */
    maps = maps_of("");
    add(maps, 0x600000, 0x700000, 0x200000, "/no/app");
    assert_int_equal(csn_process_maps_modules(maps, 7, &modules, &count, &err), CSN_OK);
    assert_int_equal(csn_process_module_bias(&modules[0], 0x401000), 0);
    assert_int_equal(csn_process_module_bias(&modules[0], 0x1000), 0x400000);
    assert_int_equal(csn_process_module_bias(&modules[0], 0x3ff000), 0x400000);
    assert_int_equal(csn_process_module_bias(&modules[0], 0x700000), 0x400000);
    csn_process_maps_destroy(maps);
}

/* ---- with the image's file ---- */

/* An empty one; `path` ends in XXXXXX, which are replaced. */
static void make_file(char *path) {
    const int fd = mkstemp(path);
    assert_true(fd >= 0 && close(fd) == 0);
}

/* Two segments: bytes of the file 0x0.. at 0x400000, code at 0x402000 + its offset in the file. */
static const uint8_t image_id[20] = { 9, 8, 7 };
static uint64_t put_image_with(const char *path, struct wire_elf_places *places, bool has_id) {
    static uint8_t code[0x300];
    struct wire_elf elf;
    struct wire file;
    wire_elf_init(&elf, true, false, ET_DYN, EM_X86_64);
    wire_init(&file, false);
    uint32_t rodata = wire_elf_add(&elf, ".rodata", SHT_PROGBITS, SHF_ALLOC, 0x400200, (struct csni_span){ code, sizeof code });
    uint32_t text = wire_elf_add(&elf, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x402000,
                                 (struct csni_span){ code, sizeof code });
    wire_elf_add_segment(&elf, (struct wire_segment){ PT_LOAD, 4, 0x400200, sizeof code, rodata, 1 });
    wire_elf_add_segment(&elf, (struct wire_segment){ PT_LOAD, 5, 0x402000, sizeof code, text, 1 });
    if (has_id) {
        const uint32_t note = wire_elf_add_build_id(&elf, image_id, sizeof image_id);
        wire_elf_add_segment(&elf, (struct wire_segment){ .type = PT_NOTE, .section = note, .align = 4 });
    }
    wire_elf_build(&elf, &file, places);
    FILE *out = fopen(path, "wb");
    struct csni_span bytes = wire_span(&file);
    assert_true(out && fwrite(bytes.ptr, 1, bytes.size, out) == bytes.size && fclose(out) == 0);
    uint64_t off = places->section_off[text];
    wire_deinit(&file);
    wire_elf_deinit(&elf);
    return off;
}

static uint64_t put_image(const char *path, struct wire_elf_places *places) { return put_image_with(path, places, false); }

/* A page of code at 0x7f0000000000. `id`: as long as image_id; NULL: not known. */
static struct csn_process_mapping mapping_of(const char *path, const uint8_t *id) {
    struct csn_process_mapping mapping = CSN_PROCESS_MAPPING_INIT;
    mapping.start = 0x7f0000000000;
    mapping.end = 0x7f0000001000;
    mapping.path = csni_str(path);
    mapping.flags = CSN_MAPPING_EXECUTABLE;
    mapping.build_id = id;
    mapping.build_id_size = id ? sizeof image_id : 0;
    return mapping;
}

static uint64_t bias_of(const char *name, const char *image, const char *path, const uint8_t *id) {
    struct csn_process_maps *maps = maps_of("");
    const struct csn_process_mapping mapping = mapping_of(path, id);
    const struct csn_process_module *modules;
    size_t count;
    assert_int_equal(csn_process_maps_name_image(maps, csni_str(name), image, &err), CSN_OK);
    assert_int_equal(csn_process_maps_add_mapping(maps, 7, &mapping, &err), CSN_OK);
    assert_int_equal(csn_process_maps_modules(maps, 7, &modules, &count, &err), CSN_OK);
    const uint64_t bias = 0x7f0000000000 - modules[0].bias;
    csn_process_maps_destroy(maps);
    return bias;
}

/* A file of this machine is the image of a path or base name, unless the mapping is of another build. */
static void test_named_images(void **state) {
    (void)state;
    char path[] = "/tmp/csn-process-XXXXXX";
    static const uint8_t other_id[20] = { 9, 8, 6 };
    make_file(path);
    struct wire_elf_places places;
    const uint64_t off = put_image_with(path, &places, true), found = 0x402000 - off;
    uint64_t addr;
    assert_int_equal(bias_of("app", path, "/nowhere/app", NULL), found);
    assert_int_equal(bias_of("/nowhere/app", path, "/nowhere/app", image_id), found);
    assert_int_equal(bias_of("app", path, "app", image_id), found);
    assert_int_equal(bias_of("ap", path, "/nowhere/app", NULL), 0);
    assert_int_equal(bias_of("/here/app", path, "/nowhere/app", NULL), 0);
    assert_int_equal(bias_of("app", path, "/nowhere/app", other_id), 0);
    assert_int_equal(bias_of("app", "/no/file", "/nowhere/app", NULL), 0);
    /* The file at the mapping's path, where the named one is none. */
    assert_int_equal(bias_of(path + strlen("/tmp/"), "/no/file", path, image_id), found);
    assert_int_equal(bias_of(path + strlen("/tmp/"), "no/file", path, image_id), found);
    struct csn_process_maps *maps = maps_of("");
    assert_int_equal(csn_process_maps_name_image(maps, csni_str(""), path, &err), CSN_E_ARGUMENT);
    assert_int_equal(csn_process_maps_name_image(maps, csni_str("app"), "", &err), CSN_E_ARGUMENT);
    assert_int_equal(csn_process_maps_name_image(maps, (struct csn_str){ "a\0b", 3 }, path, &err), CSN_E_ARGUMENT);
    const uint64_t generation = csn_process_maps_generation(maps);
    assert_int_equal(csn_process_maps_name_image(maps, csni_str("app"), path, &err), CSN_OK);
    assert_int_not_equal(csn_process_maps_generation(maps), generation);
    static const char *const others[] = { "b", "appendix", "a", "app", "zap", "aaa" };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_equal(csn_process_maps_name_image(maps, csni_str(others[i]), "/no/file", &err), CSN_OK);
    assert_int_equal(csn_process_maps_image_base(maps, csni_str("/other/app"), &addr), CSN_OK);
    assert_int_equal(addr, 0x400200);
    assert_int_equal(csn_process_maps_file_address(maps, csni_str("app"), off + 5, &addr), CSN_OK);
    assert_int_equal(addr, 0x402005);
    csn_process_maps_destroy(maps);
    assert_int_equal(unlink(path), 0);
}

/* Mappings of a path with build ids: the file there tells nothing if it has none of them. */
static void test_headers_of_other_builds(void **state) {
    (void)state;
    char path[] = "/tmp/csn-process-XXXXXX";
    static const uint8_t other_id[20] = { 9, 8, 6 };
    make_file(path);
    struct wire_elf_places places;
    const uint64_t off = put_image_with(path, &places, true);
    struct csn_process_maps *maps = maps_of("");
    uint64_t addr;
    static const struct { uint64_t pid; const uint8_t *id; csn_status wanted; } steps[] = {
        { 7, NULL, CSN_OK }, { 8, other_id, CSN_NONE }, { 9, other_id, CSN_NONE }, { 10, image_id, CSN_OK },
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        struct csn_process_mapping mapping = mapping_of(path, steps[i].id);
        mapping.file_off = 0x1000000; /* the mappings tell nothing of the offset */
        assert_int_equal(csn_process_maps_add_mapping(maps, steps[i].pid, &mapping, &err), CSN_OK);
        assert_int_equal(csn_process_maps_image_base(maps, csni_str(path), &addr), steps[i].wanted);
        assert_int_equal(csn_process_maps_file_address(maps, csni_str(path), off + 5, &addr), steps[i].wanted);
        if (steps[i].wanted == CSN_OK) assert_int_equal(addr, 0x402005);
    }
    csn_process_maps_destroy(maps);
    assert_int_equal(unlink(path), 0);
}

static void test_program_headers(void **state) {
    (void)state;
    char path[] = "/tmp/csn-process-XXXXXX";
    make_file(path);
    struct wire_elf_places places;
    uint64_t off = put_image(path, &places), addr;
    struct csn_process_maps *maps = maps_of("");
    add(maps, 0x7f0000000000, 0x7f0000001000, 0, path);
    const struct csn_process_module *modules;
    size_t count;
    assert_int_equal(csn_process_maps_modules(maps, 7, &modules, &count, &err), CSN_OK);
    assert_int_equal(count, 1);
    assert_int_equal(modules[0].bias, 0x7f0000000000 + off - 0x402000);
    assert_int_equal(modules[0].image_start, modules[0].bias + 0x400200);
    assert_int_equal(csn_process_maps_image_base(maps, csni_str(path), &addr), CSN_OK);
    assert_int_equal(addr, 0x400200);
    assert_int_equal(csn_process_maps_file_address(maps, csni_str(path), off + 5, &addr), CSN_OK);
    assert_int_equal(addr, 0x402005);
    assert_int_equal(csn_process_maps_file_address(maps, csni_str(path), 0x100000, &addr), CSN_NONE);
    assert_int_equal(csn_process_maps_file_address(maps, csni_str("/no/file"), off, &addr), CSN_NONE);
    assert_int_equal(csn_process_maps_image_base(maps, csni_str("relative"), &addr), CSN_NONE);
    csn_process_maps_destroy(maps);
    /* An id that the file does not have says nothing against it; a list of images has their first bytes. */
    static const uint8_t id[20] = { 1, 2, 3 };
    for (unsigned is_image = 0; is_image < 2; is_image++) {
        const struct csn_process_mapping mapping = mapping_of(path, id);
        maps = maps_of("");
        if (is_image) assert_int_equal(csn_process_maps_add_image(maps, 7, &mapping, &err), CSN_OK);
        else assert_int_equal(csn_process_maps_add_mapping(maps, 7, &mapping, &err), CSN_OK);
        assert_int_equal(csn_process_maps_modules(maps, 7, &modules, &count, &err), CSN_OK);
        assert_int_equal(modules[0].bias, 0x7f0000000000 - (is_image ? 0x400200 : 0x402000 - off));
        csn_process_maps_destroy(maps);
    }
    /* Maps of another machine: the file of that name is not opened. */
    struct csn_process_maps_options options = CSN_PROCESS_MAPS_OPTIONS_INIT;
    options.flags = CSN_PROCESS_NO_FILES;
    assert_int_equal(csn_process_maps_create(&options, &maps, &err), CSN_OK);
    add(maps, 0x7f0000000000, 0x7f0000001000, 0, path);
    assert_int_equal(csn_process_maps_modules(maps, 7, &modules, &count, &err), CSN_OK);
    assert_int_equal(modules[0].bias, 0x7f0000000000);
    csn_process_maps_destroy(maps);
    assert_int_equal(unlink(path), 0);
}

enum { HOT = 0x800400, MAIN = 0x902860 };

/* Code in two segments, whose bytes are in one page of the file, as LLVM's linker puts them. */
static void put_image_of_two(const char *path, struct wire_elf_places *places, uint32_t sections[2]) {
    static uint8_t code[0x300];
    struct wire_elf elf;
    struct wire file;
    wire_elf_init(&elf, true, false, ET_DYN, EM_X86_64);
    wire_init(&file, false);
    uint32_t rodata = wire_elf_add(&elf, ".rodata", SHT_PROGBITS, SHF_ALLOC, 0x200000, (struct csni_span){ code, 0x10 });
    sections[0] = wire_elf_add(&elf, ".hot", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, HOT, (struct csni_span){ code, 0x10 });
    sections[1] =
        wire_elf_add(&elf, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, MAIN, (struct csni_span){ code, sizeof code });
    wire_elf_add_segment(&elf, (struct wire_segment){ PT_LOAD, 4, 0x200000, 0x10, rodata, 1 });
    wire_elf_add_segment(&elf, (struct wire_segment){ PT_LOAD, 5, HOT, 0x10, sections[0], 1 });
    wire_elf_add_segment(&elf, (struct wire_segment){ PT_LOAD, 5, MAIN, sizeof code, sections[1], 1 });
    wire_elf_build(&elf, &file, places);
    FILE *out = fopen(path, "wb");
    struct csni_span bytes = wire_span(&file);
    assert_true(out && fwrite(bytes.ptr, 1, bytes.size, out) == bytes.size && fclose(out) == 0);
    wire_deinit(&file);
    wire_elf_deinit(&elf);
}

/* `first`: where the image's first byte is mapped, too; 0: nowhere. The biases of both mappings of code that are found. */
static void biases_of_two(const char *path, const uint64_t starts[2], uint64_t first, uint64_t out[2]) {
    struct csn_process_maps *maps = maps_of("");
    const struct csn_process_module *modules;
    size_t count;
    struct csn_process_mapping head = CSN_PROCESS_MAPPING_INIT;
    head.start = first;
    head.end = first + 0x1000;
    head.path = csni_str(path);
    if (first) assert_int_equal(csn_process_maps_add_mapping(maps, 7, &head, &err), CSN_OK);
    for (int i = 0; i < 2; i++) add(maps, starts[i], starts[i] + 0x1000, 0, path);
    assert_int_equal(csn_process_maps_modules(maps, 7, &modules, &count, &err), CSN_OK);
    assert_int_equal(count, 2);
    for (int i = 0; i < 2; i++) out[i] = modules[i].bias;
    csn_process_maps_destroy(maps);
}

static void test_two_code_segments_in_a_page(void **state) {
    (void)state;
    char path[] = "/tmp/csn-process-XXXXXX";
    make_file(path);
    struct wire_elf_places places;
    uint32_t sections[2];
    put_image_of_two(path, &places, sections);
    enum { BIAS = 0x10000000 };
    const uint64_t hot = HOT - places.section_off[sections[0]], text = MAIN - places.section_off[sections[1]];
    uint64_t found[2];
    biases_of_two(path, (uint64_t[]){ hot, text }, 0, found); /* where they were linked to be */
    assert_int_equal(found[0], 0);
    assert_int_equal(found[1], 0);
    biases_of_two(path, (uint64_t[]){ hot + BIAS, text + BIAS }, 0x200000 + BIAS, found);
    assert_int_equal(found[0], BIAS);
    assert_int_equal(found[1], BIAS);
    biases_of_two(path, (uint64_t[]){ hot + BIAS, text + BIAS }, 0, found); /* the larger one is meant */
    assert_int_equal(found[1], BIAS);
    assert_int_equal(unlink(path), 0);
}

/* ---- memory ---- */

static csn_status step(void *context, const struct csn_allocator *alloc) {
    (void)context;
    struct csn_process_maps_options options = CSN_PROCESS_MAPS_OPTIONS_INIT;
    struct csn_process_maps *maps;
    const struct csn_process_module *modules;
    size_t count;
    options.allocator = alloc;
    csn_status status = csn_process_maps_create(&options, &maps, &err);
    if (status < 0) return status;
    static const char text[] = "10000-20000 r-xp 00000000 08:01 1 /no/a\n14000-16000 r-xp 00000500 08:01 1 /no/b\n";
    status = csn_process_maps_name_image(maps, CSN_STR("app"), "/no/file", &err);
    if (status == CSN_OK) status = csn_process_maps_add_text(maps, 7, csni_str(text), NULL, &err);
    if (status == CSN_OK) status = csn_process_maps_modules(maps, 7, &modules, &count, &err);
    csn_process_maps_destroy(maps);
    return status;
}

static void test_no_memory(void **state) {
    (void)state;
    assert_true(test_allocator_sweep(step, NULL, 0) > 5);
    assert_true(test_allocator_sweep(step, NULL, 1) > 5);
}

/* Lists of images of two runs: an offset in the file counts from the place of one of them. */
static void test_images_at_two_places(void **state) {
    (void)state;
    struct csn_process_maps *maps = maps_of("");
    struct csn_process_mapping image = CSN_PROCESS_MAPPING_INIT;
    uint64_t addr = 0;
    image.path = csni_str("liborders.so");
    for (unsigned i = 0; i < 2; i++) {
        image.start = i ? 0x7f1af12fd000 : 0x7ffff7fbb000; /* the later one lies lower */
        image.end = image.start + 0x5000;
        assert_int_equal(csn_process_maps_add_image(maps, 7, &image, &err), CSN_OK);
        assert_int_equal(csn_process_maps_file_address(maps, image.path, 0x1161, &addr), CSN_OK);
        assert_int_equal(addr, 0x1161);
    }
    csn_process_maps_destroy(maps);
}

/* Of a program that is linked at 0x400000 and runs there. */
static void test_bias_of_indexes_below_the_image(void **state) {
    const struct csn_process_module module = { .start = 0x401000, .end = 0x402000, .file_off = 0x1000, .image_start = 0x400000 };
    const struct csn_process_module moved = {
        .start = 0x55d000001000, .end = 0x55d000002000, .bias = 0x55d000000000, .image_start = 0x55d000000000
    };
    (void)state;
    assert_int_equal(csn_process_module_bias(&module, 0), 0x400000);
    assert_int_equal(csn_process_module_bias(&module, 0xffff), 0x400000);
    assert_int_equal(csn_process_module_bias(&module, 0x10000), 0);
    assert_int_equal(csn_process_module_bias(&module, 0x3ff000), 0);
    assert_int_equal(csn_process_module_bias(&module, 0x400000), 0);
    assert_int_equal(csn_process_module_bias(&moved, 0), 0x55d000000000);
    assert_int_equal(csn_process_module_bias(&moved, 0x1000), 0x55d000000000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),      cmocka_unit_test(test_overlaps),        cmocka_unit_test(test_oldest_go),
        cmocka_unit_test(test_arguments), cmocka_unit_test(test_images),          cmocka_unit_test(test_named_images),
        cmocka_unit_test(test_headers_of_other_builds), cmocka_unit_test(test_program_headers),
        cmocka_unit_test(test_two_code_segments_in_a_page),
        cmocka_unit_test(test_no_memory), cmocka_unit_test(test_many_mappings_of_one_file),
        cmocka_unit_test(test_other_processes), cmocka_unit_test(test_found_as_mapped_last), cmocka_unit_test(test_found_by_name),
        cmocka_unit_test(test_images_at_two_places), cmocka_unit_test(test_bias_of_indexes_below_the_image),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
