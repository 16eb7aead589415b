/* Modules from core dumps, the kernel's texts, and the lists of images in reports. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <callsign/process.h>

#include "base/core/endian.h"
#include "base/core/span.h"
#include "object/elf/elf_layout.h"
#include "support/test_alloc.h"

static struct csn_error err;

static struct csn_process_maps *new_maps(void) {
    struct csn_process_maps_options options = CSN_PROCESS_MAPS_OPTIONS_INIT;
    struct csn_process_maps *maps;
    options.flags = CSN_PROCESS_NO_FILES;
    assert_int_equal(csn_process_maps_create(&options, &maps, &err), CSN_OK);
    return maps;
}

/* "START-END PATH bias BIAS id HEX;" of each module. */
static void expect_modules(struct csn_process_maps *maps, const char *expected) {
    const struct csn_process_module *modules;
    size_t count;
    char text[2000] = "";
    assert_int_equal(csn_process_maps_modules(maps, 7, &modules, &count, &err), CSN_OK);
    for (size_t i = 0; i < count; i++) {
        char *at = text + strlen(text);
        at += snprintf(at, 500, "%llx-%llx %.*s bias %llx id ", (unsigned long long)modules[i].start,
                       (unsigned long long)modules[i].end, (int)modules[i].path.len, modules[i].path.ptr,
                       (unsigned long long)modules[i].bias);
        for (size_t k = 0; k < modules[i].build_id_size; k++) at += snprintf(at, 3, "%02x", modules[i].build_id[k]);
        strcpy(at, ";");
    }
    assert_string_equal(text, expected);
}

static void expect_text(const char *text, size_t lines, const char *expected) {
    struct csn_process_maps *maps = new_maps();
    size_t count;
    assert_int_equal(csn_process_maps_add_text(maps, 7, csni_str(text), &count, &err), CSN_OK);
    assert_int_equal(count, lines);
    expect_modules(maps, expected);
    csn_process_maps_destroy(maps);
}

/* ---- reports ---- */

static void test_android(void **state) {
    (void)state;
    expect_text("memory map (3 entries):\n"
                "    00007f12'34560000-00007f12'34561fff r--         0      2000  /system/lib64/libc.so (BuildId: 0a0b0c0d)\n"
                "--->00007f12'34562000-00007f12'34567fff r-x      2000      6000  /system/lib64/libc.so (BuildId: 0a0b0c0d) (load bias 0x1000)\n"
                "    00007f12'35000000-00007f12'35000fff rw-         0      1000  [anon:bss]\n"
                "    7f136000-7f136fff r-x         0      1000  /data/app/base.apk!libapp.so\n",
                4,
                "7f1234562000-7f1234568000 /system/lib64/libc.so bias 7f1234560000 id 0a0b0c0d;"
                "7f136000-7f137000 /data/app/base.apk!libapp.so bias 7f136000 id ;");
    expect_text("    7f136000-7f136fff r-x         0      1000  /system/lib/libcut.so (BuildId: 0a0b", 1,
                "7f136000-7f137000 /system/lib/libcut.so bias 7f136000 id 0a0b;");
    expect_text("    7f136000 7f136fff r-x         0      1000  /wrong/range\n", 0, "");
    expect_text("    7f136000-7f136fff r-x         0      2000  /wrong/size\n", 0, "");
    expect_text("    7f136000-7f136fff rwxq        0      1000  /wrong/access\n", 0, "");
}

static void test_apple(void **state) {
    (void)state;
    expect_text("Binary Images:\n"
                "       0x104a28000 -        0x104a2ffff +MyApp arm64  <0102030405060708090a0b0c0d0e0f10> /var/My App/MyApp\n"
                "       0x104a30000 -        0x104a2ffff +Empty arm64  <01> /empty\n", 2,
                "104a28000-104a30000 /var/My App/MyApp bias 104a28000 id 0102030405060708090a0b0c0d0e0f10;");
    expect_text(
        "__TEXT                      104a28000-104a30000    [   32K    32K     0K     0K] r-x/r-x SM=COW          /Users/USER/app\n"
        "__DATA                      104a30000-104a34000    [   16K] rw-/rw- SM=COW /Users/USER/app\n",
        1, "104a28000-104a30000 /Users/USER/app bias 104a28000 id ;");
    expect_text("[  0] 01020304-0506-0708-090A-0B0C0D0E0F10 0x0000000100000000 /bin/app\n"
                "[  1] 11020304-0506-0708-090A-0B0C0D0E0F10 0x0000000100008000 /usr/lib/libx.dylib (0x100008000)\n", 2,
                "100000000-100008000 /bin/app bias 100000000 id 0102030405060708090a0b0c0d0e0f10;"
                "100008000-140008000 /usr/lib/libx.dylib (0x100008000) bias 100008000 id 1102030405060708090a0b0c0d0e0f10;");
    /* An image that is told of later leaves the one behind it what it has. */
    expect_text("[  1] 01020304-0506 0x0000000100008000 /lib/x\n[  0] 11020304-0506 0x0000000100000000 /bin/app\n", 2,
                "100008000-140008000 /lib/x bias 100008000 id 010203040506;"
                "100000000-100008000 /bin/app bias 100000000 id 110203040506;");
    /* The list is in the order of loading, not of places; the last line has an image again. */
    expect_text("[  0] 01020304-0506 0x0000555555554000 /bin/app\n[  1] 11020304-0506 0x00007ffff7fc5000 /lib/ld.so\n"
                "[  2] 21020304-0506 0x00007ffff7d80000 /lib/libc.so\n[  1] 11020304-0506 0x00007ffff7fc5000 /lib/ld.so\n", 4,
                "555555554000-555595554000 /bin/app bias 555555554000 id 010203040506;"
                "7ffff7d80000-7ffff7fc5000 /lib/libc.so bias 7ffff7d80000 id 210203040506;"
                "7ffff7fc5000-800037fc5000 /lib/ld.so bias 7ffff7fc5000 id 110203040506;");
}

static void test_swift(void **state) {
    (void)state;
    expect_text("Images (3 omitted):\n"
                "0x00005653fe210000\xe2\x80\x93" "0x00005653fe215000 0102030405060708 orders       /opt/my app/orders\n"
                "0x00007f8fe404b000\xe2\x80\x93" "0x00007f8fe4050000 <no build ID>    liborders.so /opt/app/liborders.so\n"
                "0x00007f8fe404b000\xe2\x80\x93" "0x00007f8fe4050000 01 nowhere\n", 2,
                "5653fe210000-5653fe215000 /opt/my app/orders bias 5653fe210000 id 0102030405060708;"
                "7f8fe404b000-7f8fe4050000 /opt/app/liborders.so bias 7f8fe404b000 id ;");
}

static void test_other_lines(void **state) {
    (void)state;
    static const char *const lines[] = { "", " ", "[", "[ 0]", "[x] 01 0x1 /a", "[  0] zz 0x1 /a", "[  0] 01 1000 /a",
                                         "0x1 - 0x2 a /b", "0x1 - 0x2 <01",
                                         "__TEXT", "__TEXT 1-2 /a", "1-2 r-x", "1-1 r-x 0 1", "-1 r-x 0 1 /a",
                                         "0x1 - 0xffffffffffffffff a <01> /a", "0x1\xe2\x80\x93" "0x2", "0x1\xe2\x80\x93" "2 01 a /a", "0x1\xe2\x80", "11111111111111111-2 r-x 0 1 /a" };
    struct csn_process_maps *maps = new_maps();
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        if (csn_process_maps_add_report_line(maps, 7, csni_str(lines[i]), &err) == CSN_NONE) continue;
        expect_modules(maps, ""); /* at most a mapping without a file */
    }
    csn_process_maps_destroy(maps);
}

/* ---- the kernel ---- */

static const char kallsyms[] =
    "0000000000000000 A fixed_percpu_data\nffffffff9a000000 T _text\nffffffff9a000010 T start_it\n"
    "ffffffff9b000000 B _end\nffffffffc0a01000 t start_it\t[snd_pcm]\nffffffffc0a01230 t only_there\t[snd_pcm]\n";

static bool text_of(void *context, struct csn_str name, uint64_t *out) {
    assert_ptr_equal(context, &err);
    if (!csni_str_is(name, "snd_pcm")) return false;
    *out = 0xffffffffc0a01000;
    return true;
}

static void test_kernel(void **state) {
    (void)state;
    static const char modules[] =
        "snd_pcm 16384 5 snd_hda_codec, Live 0xffffffffc0a00000 (OE)\nloop 8192 0 - Live 0xffffffffc0b00000\n"
        "hidden 8192 0 - Live 0x0000000000000000\nbroken\nzero 0 0 - Live 0xffffffffc0b00000\n";
    struct csn_process_maps *maps = new_maps();
    uint64_t addr;
    assert_int_equal(csn_process_maps_add_kernel(maps, 7, csni_str(kallsyms), csni_str(modules), text_of, &err, &err), CSN_OK);
    expect_modules(maps, "ffffffff9a000000-ffffffff9b000000 vmlinux bias ffffffff9a000000 id ;"
                         "ffffffffc0a01000-ffffffffc0a04000 snd_pcm bias ffffffffc0a01000 id ;"
                         "ffffffffc0b00000-ffffffffc0b02000 loop bias ffffffffc0b00000 id ;");
    const struct csn_process_module *found;
    size_t count;
    assert_int_equal(csn_process_maps_modules(maps, 7, &found, &count, &err), CSN_OK);
    assert_int_equal(csn_process_module_bias(&found[0], 0xffffffff81000000), 0x19000000); /* KASLR */
    assert_int_equal(csn_process_kallsyms_find(csni_str(kallsyms), csni_str("start_it"), &addr), CSN_OK);
    assert_int_equal(addr, 0xffffffff9a000010);
    assert_int_equal(csn_process_kallsyms_find(csni_str(kallsyms), csni_str("only_there"), &addr), CSN_NONE);
    csn_process_maps_destroy(maps);
    maps = new_maps();
    assert_int_equal(csn_process_maps_add_kernel(maps, 7, csni_str("0000000000000000 T _text\n"), csni_str(""), NULL, NULL, &err),
                     CSN_NONE);
    assert_int_equal(csn_process_maps_add_kernel(maps, 7, csni_str("10 T _text\n"), csni_str(""), NULL, NULL, &err), CSN_NONE);
    assert_int_equal(csn_process_maps_add_kernel(maps, 7, csni_str(""), csni_str(""), NULL, NULL, &err), CSN_NONE);
    csn_status status = csn_process_maps_add_live_kernel(maps, 7, &err);
    assert_true(status == CSN_OK || status == CSN_NONE || status == CSN_E_IO); /* as this machine allows */
    csn_process_maps_destroy(maps);
}

/* Linux 6.4 and later list the start of a module's code with the size of its code and data. */
static void test_kernel_modules_that_overlap(void **state) {
    (void)state;
    static const char modules[] = "newest 20480 0 - Live 0xffffffffc0a03000\nold 40960 1 newest, Live 0xffffffffc0a00000\n"
                                  "middle 16384 0 - Live 0xffffffffc0a01000\n";
    struct csn_process_maps *maps = new_maps();
    assert_int_equal(csn_process_maps_add_kernel(maps, 7, csni_str(""), csni_str(modules), NULL, NULL, &err), CSN_OK);
    expect_modules(maps, "ffffffffc0a03000-ffffffffc0a08000 newest bias ffffffffc0a03000 id ;"
                         "ffffffffc0a00000-ffffffffc0a01000 old bias ffffffffc0a00000 id ;"
                         "ffffffffc0a01000-ffffffffc0a03000 middle bias ffffffffc0a01000 id ;");
    csn_process_maps_destroy(maps);
}

static void test_live(void **state) {
    (void)state;
    struct csn_process_maps *maps = new_maps();
    const struct csn_process_module *modules;
    size_t count;
    bool found = false;
    uint64_t pc = (uint64_t)(uintptr_t)&test_live;
    assert_int_equal(csn_process_maps_add_live(maps, 7, (uint64_t)getpid(), &err), CSN_OK);
    assert_int_equal(csn_process_maps_modules(maps, 7, &modules, &count, &err), CSN_OK);
    for (size_t i = 0; i < count; i++) found = found || (pc >= modules[i].start && pc < modules[i].end);
    assert_true(found);
    assert_int_equal(csn_process_maps_add_live(maps, 7, UINT32_MAX, &err), CSN_E_IO);
    csn_process_maps_destroy(maps);
}

/* ---- core dumps ---- */

struct core {
    uint8_t bytes[4096];
    size_t size;
    bool is_64, big;
};

static void put_word(struct core *core, uint64_t value) {
    unsigned size = core->is_64 ? 8 : 4;
    csni_put_sized(core->bytes + core->size, value, size, core->big);
    core->size += size;
}
static void put_32(struct core *core, uint32_t value) {
    csni_put32(core->bytes + core->size, value, core->big);
    core->size += 4;
}
static void put_16(struct core *core, uint16_t value) {
    csni_put16(core->bytes + core->size, value, core->big);
    core->size += 2;
}
static void put_text(struct core *core, const char *text, size_t size) {
    memcpy(core->bytes + core->size, text, size);
    core->size += size;
}

static void put_header(struct core *core, uint16_t type, uint16_t segments) {
    size_t start = core->size;
    put_text(core, "\177ELF", 4);
    core->bytes[core->size++] = core->is_64 ? ELFCLASS64 : ELFCLASS32;
    core->bytes[core->size++] = core->big ? ELFDATA2MSB : ELFDATA2LSB;
    core->size = start + EI_NIDENT;
    put_16(core, type);
    put_16(core, EM_X86_64);
    put_32(core, 1);
    put_word(core, 0);
    put_word(core, core->is_64 ? EHDR64_SIZE : EHDR32_SIZE);
    put_word(core, 0);
    put_32(core, 0);
    put_16(core, core->is_64 ? EHDR64_SIZE : EHDR32_SIZE);
    put_16(core, core->is_64 ? PHDR64_SIZE : PHDR32_SIZE);
    put_16(core, segments);
    core->size = start + (core->is_64 ? EHDR64_SIZE : EHDR32_SIZE);
}

static void put_segment(struct core *core, uint32_t type, uint32_t flags, uint64_t off, uint64_t addr, uint64_t size) {
    put_32(core, type);
    if (core->is_64) put_32(core, flags);
    put_word(core, off);
    put_word(core, addr);
    put_word(core, 0);
    put_word(core, size);
    put_word(core, size);
    if (!core->is_64) put_32(core, flags);
    put_word(core, 4096);
}

static void put_note(struct core *core, uint32_t type, const char *name, uint32_t size) {
    put_32(core, (uint32_t)strlen(name) + 1);
    put_32(core, size);
    put_32(core, type);
    put_text(core, name, strlen(name) + 1);
    core->size = (core->size + 3) & ~(size_t)3;
}

enum { NOTES_AT = 0x200, IMAGE_AT = 0x400 };

/* Two mappings of /bin/app, the first with the image's headers in the dump, and one of a library that is not. */
static void build_core(struct core *core, bool is_64, bool big) {
    *core = (struct core){ .is_64 = is_64, .big = big };
    put_header(core, ET_CORE, 4);
    put_segment(core, PT_NOTE, 0, NOTES_AT, 0, 0x200);
    put_segment(core, PT_LOAD, 0, IMAGE_AT, 0x10000, 0x200);
    put_segment(core, PT_LOAD, PF_X, 0x700, 0x11000, 0);
    put_segment(core, PT_LOAD, PF_X, 0x700, 0x20000, 0);
    core->size = NOTES_AT;
    static const char names[] = "/bin/app\0/bin/app\0/lib/libx.so";
    unsigned word = is_64 ? 8 : 4;
    put_note(core, 1, "CORE", 8);
    put_text(core, "12345678", 8);
    put_note(core, NT_FILE, "CORE", (uint32_t)(11 * word + sizeof names));
    put_word(core, 3);
    put_word(core, 4096);
    static const uint64_t files[] = { 0x10000, 0x11000, 0, 0x11000, 0x13000, 1, 0x20000, 0x22000, 2 };
    for (size_t i = 0; i < 9; i++) put_word(core, files[i]);
    put_text(core, names, sizeof names);
    core->size = IMAGE_AT;
    put_header(core, ET_DYN, 1);
    put_segment(core, PT_NOTE, 0, 0x100, 0x100, 20);
    core->size = IMAGE_AT + 0x100;
    put_note(core, NT_GNU_BUILD_ID, "GNU", 4);
    put_text(core, "\xab\xcd\xef\x01", 4);
    core->size = 0x700;
}

static void test_core(void **state) {
    (void)state;
    static struct core core;
    for (unsigned i = 0; i < 4; i++) {
        struct csn_process_maps *maps = new_maps();
        build_core(&core, i & 1, i & 2);
        assert_int_equal(csn_process_maps_add_core(maps, 7, core.bytes, core.size, &err), CSN_OK);
        expect_modules(maps, "11000-13000 /bin/app bias 10000 id abcdef01;20000-22000 /lib/libx.so bias 1e000 id ;");
        csn_process_maps_destroy(maps);
    }
}

/* Every length of the dump, and every byte changed: no crash, and a status. */
static void test_damaged_core(void **state) {
    (void)state;
    static struct core core;
    for (unsigned i = 0; i < 4; i++) {
        build_core(&core, i & 1, i & 2);
        for (size_t size = 0; size <= core.size; size++) {
            uint8_t *copy = malloc(size ? size : 1); /* so that reading beyond the end is seen */
            struct csn_process_maps *maps = new_maps();
            assert_non_null(copy);
            memcpy(copy, core.bytes, size);
            csn_status status = csn_process_maps_add_core(maps, 7, copy, size, &err);
            assert_true(status == CSN_OK || status == CSN_NONE || status == CSN_E_UNSUPPORTED ||
                        status == CSN_E_TRUNCATED || status == CSN_E_FORMAT);
            csn_process_maps_destroy(maps);
            free(copy);
        }
        for (size_t at = 0; at < core.size; at++) {
            struct csn_process_maps *maps = new_maps();
            core.bytes[at] ^= 0xff;
            csn_status status = csn_process_maps_add_core(maps, 7, core.bytes, core.size, &err);
            assert_true(status <= CSN_NONE);
            core.bytes[at] ^= 0xff;
            csn_process_maps_destroy(maps);
        }
    }
    struct csn_process_maps *maps = new_maps();
    build_core(&core, true, false);
    csni_put64(core.bytes + NOTES_AT + 28 + 20, UINT64_MAX / 2, false); /* the count of files */
    assert_int_equal(csn_process_maps_add_core(maps, 7, core.bytes, core.size, &err), CSN_E_LIMIT);
    build_core(&core, true, false);
    core.bytes[16] = ET_DYN;
    assert_int_equal(csn_process_maps_add_core(maps, 7, core.bytes, core.size, &err), CSN_E_UNSUPPORTED);
    csn_process_maps_destroy(maps);
}

static csn_status add_core(void *context, const struct csn_allocator *alloc) {
    const struct core *core = context;
    struct csn_process_maps_options options = CSN_PROCESS_MAPS_OPTIONS_INIT;
    struct csn_process_maps *maps;
    options.flags = CSN_PROCESS_NO_FILES;
    options.allocator = alloc;
    csn_status status = csn_process_maps_create(&options, &maps, &err);
    if (status < 0) return status;
    status = csn_process_maps_add_core(maps, 7, core->bytes, core->size, &err);
    if (status == CSN_OK) status = csn_process_maps_add_report_line(maps, 7, CSN_STR("0x1000 - 0x1fff a <01> /a"), &err);
    csn_process_maps_destroy(maps);
    return status;
}

static void test_no_memory(void **state) {
    (void)state;
    static struct core core;
    build_core(&core, true, false);
    assert_true(test_allocator_sweep(add_core, &core, 0) > 5);
    assert_true(test_allocator_sweep(add_core, &core, 1) > 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_android),      cmocka_unit_test(test_apple),
        cmocka_unit_test(test_swift),        cmocka_unit_test(test_other_lines),
        cmocka_unit_test(test_kernel),       cmocka_unit_test(test_kernel_modules_that_overlap),
        cmocka_unit_test(test_live),         cmocka_unit_test(test_core),
        cmocka_unit_test(test_damaged_core), cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
