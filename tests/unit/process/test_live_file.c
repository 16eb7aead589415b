/* The files that a running process has mapped: this one, and one that ends. No rights beyond those of a parent are needed; where
 * /proc/PID/map_files may be read, more is found. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <callsign/process.h>

#include "base/core/span.h"
#include "object/elf/elf_layout.h"
#include "process/live_file.h"
#include "process/maps_line.h"
#include "support/test_alloc.h"
#include "wire/wire_elf.h"

enum { PAGE = 4096, PID = 7 };

static struct csn_error err;
static char folder[64], library[96];

static int make_folder(void **state) {
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/test_live_file.XXXXXX");
    if (!mkdtemp(folder)) return -1;
    snprintf(library, sizeof library, "%s/lib.so", folder);
    return 0;
}

static int remove_folder(void **state) {
    (void)state;
    unlink(library);
    return rmdir(folder);
}

/* ---- a small library ---- */

/* With `id` in its first page, and `mark` in its code. */
static void write_library(const char *path, uint8_t id, uint8_t mark) {
    struct wire_elf elf;
    struct wire out;
    uint8_t code[PAGE], build_id[20];
    memset(code, mark, sizeof code);
    memset(build_id, id, sizeof build_id);
    wire_elf_init(&elf, true, false, ET_DYN, 62);
    if (id) {
        const uint32_t note = wire_elf_add_build_id(&elf, build_id, sizeof build_id);
        wire_elf_add_segment(&elf, (struct wire_segment){ .type = PT_NOTE, .section = note, .align = 4 });
    }
    const uint32_t text = wire_elf_add(&elf, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x1000,
                                       (struct csni_span){ code, sizeof code });
    wire_elf_add_segment(&elf, (struct wire_segment){ .type = PT_LOAD, .flags = PF_X, .vaddr = 0x1000, .section = text,
                                                      .align = 16 });
    wire_init(&out, false);
    wire_elf_build(&elf, &out, NULL);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(out.bytes, 1, out.size, file), out.size);
    assert_int_equal(fclose(file), 0);
    wire_deinit(&out);
    wire_elf_deinit(&elf);
}

static void replace_library(uint8_t id, uint8_t mark) {
    char new[128];
    snprintf(new, sizeof new, "%s.new", library);
    write_library(new, id, mark);
    assert_int_equal(rename(new, library), 0);
}

/* ---- a process that has it mapped ---- */

struct other_process {
    pid_t pid;
    uint8_t *address;
};

static void stop(struct other_process *other) {
    kill(other->pid, SIGKILL);
    waitpid(other->pid, NULL, 0);
}

/* The kernel shows memory of an emulator otherwise than the emulated program has it: elsewhere, or not as code. */
static bool is_shown(const struct other_process *other) {
    char path[64], line[512], access[8];
    unsigned long start, end;
    bool found = false;
    snprintf(path, sizeof path, "/proc/%d/maps", (int)other->pid);
    FILE *maps = fopen(path, "r");
    assert_non_null(maps);
    while (!found && fgets(line, sizeof line, maps))
        found = sscanf(line, "%lx-%lx %7s", &start, &end, access) == 3 && start == (uintptr_t)other->address && access[2] == 'x';
    fclose(maps);
    return found;
}

/* A child has what its parent mapped, at the same place. */
static struct other_process start(uint8_t id) {
    struct other_process other;
    write_library(library, id, 0x11);
    const int fd = open(library, O_RDONLY);
    assert_true(fd >= 0);
    other.address = mmap(NULL, 2 * PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
    assert_ptr_not_equal(other.address, MAP_FAILED);
    close(fd);
    const pid_t parent = getpid();
    other.pid = fork();
    assert_true(other.pid >= 0);
    if (!other.pid) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(1);
        pause();
        _exit(0);
    }
    munmap(other.address, 2 * PAGE);
    if (!is_shown(&other)) {
        stop(&other);
        skip();
    }
    return other;
}

static struct csn_process_maps *maps_of(const struct other_process *other) {
    struct csn_process_maps *maps;
    assert_int_equal(csn_process_maps_create(NULL, &maps, &err), CSN_OK);
    assert_int_equal(csn_process_maps_add_live(maps, PID, (uint64_t)other->pid, &err), CSN_OK);
    return maps;
}

static bool reads_map_files(const struct other_process *other) {
    char path[128];
    snprintf(path, sizeof path, "/proc/%d/map_files/%lx-%lx", (int)other->pid, (unsigned long)(uintptr_t)other->address,
             (unsigned long)(uintptr_t)other->address + 2 * PAGE);
    const int fd = open(path, O_RDONLY);
    if (fd >= 0) close(fd);
    return fd >= 0;
}

/* What is opened: the mark in its code; 0: nothing. */
static uint8_t opened_mark(struct csn_process_maps *maps, const struct other_process *other, char path[256]) {
    struct csn_file *file;
    struct csn_str from;
    csn_status status = csn_process_maps_open_file(maps, PID, (uintptr_t)other->address + 16, &file, &from, &err);
    if (status == CSN_E_NOT_FOUND) return 0;
    assert_int_equal(status, CSN_OK);
    snprintf(path, 256, "%.*s", (int)from.len, from.ptr);
    const uint8_t *bytes = csn_file_bytes(file);
    const uint8_t mark = memmem(bytes, csn_file_size(file), "\x11\x11\x11\x11", 4) ? 0x11 : 0x22;
    csn_file_close(file);
    return mark;
}

/* The first byte of its build id; 0: none. */
static uint8_t module_id(struct csn_process_maps *maps, const struct other_process *other, const char *path) {
    struct csn_process_module module;
    assert_int_equal(csn_process_maps_find(maps, PID, (uintptr_t)other->address + 16, &module), CSN_OK);
    assert_true(csni_str_is(module.path, path));
    return module.build_id_size ? module.build_id[0] : 0;
}

/* ---- tests ---- */

static void test_as_it_was(void **state) {
    (void)state;
    char path[256];
    struct other_process other = start(0xaa);
    struct csn_process_maps *maps = maps_of(&other);
    assert_int_equal(module_id(maps, &other, library), 0xaa);
    assert_int_equal(opened_mark(maps, &other, path), 0x11);
    assert_string_equal(path, library);
    stop(&other);
    assert_int_equal(opened_mark(maps, &other, path), 0x11); /* the file is still that one */
    replace_library(0xaa, 0x22);
    assert_int_equal(opened_mark(maps, &other, path), 0); /* and now nobody tells */
    csn_process_maps_destroy(maps);
}

/* Replaced by a file with `id`. `with_id`: by one whose id proves that it is the same. */
static void check_replaced(uint8_t id, uint8_t by_id, bool before_maps) {
    char path[256] = "", gone[128];
    struct other_process other = start(id);
    snprintf(gone, sizeof gone, "%s (deleted)", library);
    if (before_maps) replace_library(by_id, 0x22);
    struct csn_process_maps *maps = maps_of(&other);
    if (!before_maps) replace_library(by_id, 0x22);
    assert_int_equal(module_id(maps, &other, before_maps ? gone : library), id);
    const uint8_t mark = opened_mark(maps, &other, path);
    if (reads_map_files(&other)) {
        assert_int_equal(mark, 0x11);
        assert_non_null(strstr(path, "/map_files/"));
    } else if (id && id == by_id) {
        assert_int_equal(mark, 0x22);
        assert_non_null(strstr(path, library));
    } else {
        assert_int_equal(mark, 0);
        assert_non_null(strstr(err.text, id && by_id ? "another build id" : "another file has this path"));
    }
    stop(&other);
    csn_process_maps_destroy(maps);
}

static void test_replaced(void **state) {
    (void)state;
    for (int before = 0; before < 2; before++) {
        check_replaced(0xaa, 0xaa, before);
        check_replaced(0xaa, 0xbb, before);
        check_replaced(0xaa, 0, before);
        if (before) check_replaced(0, 0, before);
    }
}

static void test_deleted(void **state) {
    (void)state;
    char path[256], gone[128];
    struct other_process other = start(0xaa);
    snprintf(gone, sizeof gone, "%s (deleted)", library);
    assert_int_equal(unlink(library), 0);
    struct csn_process_maps *maps = maps_of(&other);
    assert_int_equal(module_id(maps, &other, gone), 0xaa); /* from memory, if from nowhere else */
    assert_int_equal(opened_mark(maps, &other, path), reads_map_files(&other) ? 0x11 : 0);
    stop(&other);
    csn_process_maps_destroy(maps);
    write_library(library, 1, 1);
}

/* It has its path still. Root, who may read all files, is somebody else for this. */
static void test_not_readable(void **state) {
    (void)state;
    enum { NOBODY = 65534 };
    char path[256];
    const bool is_root = geteuid() == 0;
    struct other_process other = start(0xaa);
    struct csn_process_maps *maps = maps_of(&other);
    assert_int_equal(chmod(folder, 0755), 0);
    assert_int_equal(chmod(library, 0), 0);
    if (is_root) assert_int_equal(seteuid(NOBODY), 0);
    const bool is_opened = reads_map_files(&other);
    const uint8_t mark = opened_mark(maps, &other, path);
    if (is_root) assert_int_equal(seteuid(0), 0);
    assert_int_equal(mark, is_opened ? 0x11 : 0);
    if (!is_opened) assert_non_null(strstr(err.text, "at its path: Permission denied, and /proc/PID/map_files"));
    stop(&other);
    csn_process_maps_destroy(maps);
    assert_int_equal(chmod(library, 0644), 0);
}

/* The file is what only the kernel's own numbers or the id prove; numbers that are another file's do not. */
static void test_numbers(void **state) {
    (void)state;
    struct other_process other = start(0xaa);
    struct csni_live_opened *opened = calloc(1, sizeof *opened);
    struct csni_live_file file = { .node = { (uint64_t)other.pid, 1, 2, 3 }, .path = csni_str(library),
                                   .start = (uintptr_t)other.address, .end = (uintptr_t)other.address + 2 * PAGE };
    assert_int_equal(csni_live_file_open(&file, NULL, opened, &err), CSN_E_NOT_FOUND);
    assert_int_equal(opened->memory_id_size, 0);
    file.head = file.start;
    file.head_size = 2 * PAGE;
    assert_int_equal(csni_live_file_open(&file, NULL, opened, &err), CSN_OK);
    assert_int_equal(opened->memory_id_size, 20);
    csni_file_map_close(&opened->map);
    replace_library(0xbb, 0x22);
    assert_int_equal(csni_live_file_open(&file, NULL, opened, &err), CSN_E_NOT_FOUND);
    assert_non_null(strstr(err.text, "bbbb"));
    assert_non_null(strstr(err.text, "aaaa"));
    stop(&other);
    free(opened);
}

static void test_no_process(void **state) {
    (void)state;
    struct csn_process_maps *maps;
    struct csn_file *file;
    struct csn_str path;
    assert_int_equal(csn_process_maps_create(NULL, &maps, &err), CSN_OK);
    assert_int_equal(csn_process_maps_add_live(maps, PID, 1ull << 40, &err), CSN_E_IO);
    assert_int_equal(csn_process_maps_add_text(maps, PID, csni_str("1000-2000 r-xp 0 08:01 1 /bin/true\n"), NULL, &err), CSN_OK);
    assert_int_equal(csn_process_maps_open_file(maps, PID, 0x1000, &file, &path, &err), CSN_NONE);
    assert_int_equal(csn_process_maps_open_file(maps, PID, 0x3000, &file, &path, &err), CSN_NONE);
    csn_process_maps_destroy(maps);
}

static void test_lines(void **state) {
    (void)state;
    struct csni_maps_line line;
    assert_true(csni_maps_line_parse(csni_str("1000-2000 r-xp 00001000 fd:1f 184467440737095516159 /a b "), &line));
    assert_int_equal(line.major, 0xfd);
    assert_int_equal(line.minor, 0x1f);
    assert_true(csni_str_is(line.path, "/a b ") && line.exec && csni_maps_line_has_file(&line));
    assert_true(csni_maps_line_parse(csni_str("1000-2000 r--p 00001000 ? 7"), &line));
    assert_true(line.major == UINT64_MAX && line.inode == 7 && !line.exec && !csni_maps_line_has_file(&line));
}

static csn_status step(void *context, const struct csn_allocator *alloc) {
    const struct other_process *other = context;
    struct csn_process_maps_options options = CSN_PROCESS_MAPS_OPTIONS_INIT;
    struct csn_process_maps *maps;
    struct csn_process_module module;
    struct csn_file *file;
    struct csn_str path;
    options.allocator = alloc;
    csn_status status = csn_process_maps_create(&options, &maps, &err);
    if (status < 0) return status;
    status = csn_process_maps_add_live(maps, PID, (uint64_t)other->pid, &err);
    if (status == CSN_OK) status = csn_process_maps_find(maps, PID, (uintptr_t)other->address, &module);
    if (status == CSN_OK) status = csn_process_maps_open_file(maps, PID, (uintptr_t)other->address, &file, &path, &err);
    if (status == CSN_OK) csn_file_close(file);
    csn_process_maps_destroy(maps);
    return status;
}

static void test_no_memory(void **state) {
    (void)state;
    struct other_process other = start(0xaa);
    replace_library(0xaa, 0x11);
    assert_true(test_allocator_sweep(step, &other, 0) > 5);
    assert_true(test_allocator_sweep(step, &other, 1) > 5);
    stop(&other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_as_it_was), cmocka_unit_test(test_replaced),   cmocka_unit_test(test_deleted),
        cmocka_unit_test(test_numbers),   cmocka_unit_test(test_no_process), cmocka_unit_test(test_lines),
        cmocka_unit_test(test_no_memory), cmocka_unit_test(test_not_readable),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
