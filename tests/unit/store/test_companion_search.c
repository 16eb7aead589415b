/* companions: where each kind of companion is found, in folders of the test's own; what is passed over; memory; CRC. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utime.h>

#include <callsign/companion.h>

#include "base/core/alloc.h"
#include "store/crc32.h"
#include "object/elf/elf_layout.h"
#include "object/macho/macho_layout.h"
#include "support/object_sample.h"
#include "support/pdb_sample.h"
#include "support/test_alloc.h"
#include "wire/wire_macho.h"

/* A folder that is the current one while the test runs. */
struct place {
    char root[64], before[4096];
};

static int set_up(void **state) {
    struct place *place = calloc(1, sizeof *place);
    strcpy(place->root, "/tmp/companion-search-XXXXXX");
    if (!getcwd(place->before, sizeof place->before) || !mkdtemp(place->root) || chdir(place->root) != 0) return -1;
    *state = place;
    return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *walk) {
    (void)st, (void)type, (void)walk;
    return remove(path);
}

static int tear_down(void **state) {
    struct place *place = *state;
    int failed = chdir(place->before) != 0 || nftw(place->root, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0;
    free(place);
    return failed;
}

/* ---- files ---- */

static void make_folders(const char *path) {
    char part[512];
    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(part, sizeof part, "%.*s", (int)(slash - path), path);
        mkdir(part, 0777);
    }
}

static void put_bytes(const char *path, struct csni_span bytes) {
    make_folders(path);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes.ptr, 1, bytes.size, file), bytes.size);
    assert_int_equal(fclose(file), 0);
}

static void put_text(const char *path, const char *text) {
    put_bytes(path, (struct csni_span){ (const uint8_t *)text, strlen(text) });
}

static const uint8_t ID[] = { 0xab, 0xcd, 0xef, 1 }, OTHER_ID[] = { 0xab, 0xcd, 0xef, 2 };

/* An ELF file with that build id, or none; returns its CRC. */
static uint32_t put_object(const char *path, const uint8_t *id) {
    struct wire_elf elf;
    struct wire file;
    wire_elf_init(&elf, true, false, ET_EXEC, EM_X86_64);
    wire_init(&file, false);
    wire_elf_add(&elf, ".debug_str", SHT_PROGBITS, 0, 0, (struct csni_span){ (const uint8_t *)path, strlen(path) });
    if (id) wire_elf_add_build_id(&elf, id, sizeof ID);
    wire_elf_build(&elf, &file, NULL);
    uint32_t crc = csni_crc32(0, wire_span(&file));
    put_bytes(path, wire_span(&file));
    wire_deinit(&file);
    wire_elf_deinit(&elf);
    return crc;
}

/* ---- asking ---- */

static struct csn_companion_search_options options;
static struct csn_error err;

static struct csn_companion_request request_for(uint32_t kind, const char *name) {
    options = (struct csn_companion_search_options)CSN_COMPANION_SEARCH_OPTIONS_INIT;
    static const char *const dirs[] = { "debug", "debug2" };
    options.debug_dirs = dirs;
    options.debug_dir_count = 2;
    return (struct csn_companion_request){ .struct_size = sizeof(struct csn_companion_request), .kind = kind,
                                           .image_path = "bin/app", .name = name };
}

static struct csn_companion_request with_id(struct csn_companion_request request) {
    request.id = ID;
    request.id_size = sizeof ID;
    return request;
}

static csn_status ask(const struct csn_companion_request *request, struct csn_companion *out) {
    struct csn_companion_search *search;
    err = (struct csn_error)CSN_ERROR_INIT;
    assert_int_equal(csn_companion_search_create(&options, &search, &err), CSN_OK);
    csn_status status = csn_companion_search_resolve(search, request, out, &err);
    csn_companion_search_destroy(search); /* what was found outlives it */
    return status;
}

/* A path beginning with '/' is compared as it is; otherwise, its end is. */
static void expect(struct csn_companion_request request, const char *path) {
    struct csn_companion found = { 0 };
    csn_status status = ask(&request, &found);
    if (!path) {
        assert_int_equal(status, CSN_NONE);
        assert_null(found.bytes);
        return;
    }
    if (status != CSN_OK) fail_msg("status %d for %s: %s", status, path, csn_error_text(&err));
    size_t len = strlen(found.path), want = strlen(path);
    if (len < want || strcmp(found.path + len - want, path) != 0) fail_msg("found %s, need %s", found.path, path);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(found.size, st.st_size);
    assert_true(found.is_mapped);
    found.release(&found);
}

static void expect_failure(struct csn_companion_request request, csn_status status, const char *text) {
    struct csn_companion found = { 0 };
    assert_int_equal(ask(&request, &found), status);
    assert_string_equal(csn_error_text(&err), text);
}

/* ---- debug files ---- */

static void order_of_debug_files(void **state) {
    struct place *place = *state;
    char under_dir[256], written[128];
    put_object("bin/app", ID);
    struct csn_companion_request request = with_id(request_for(CSN_COMPANION_DEBUG_FILE, "app.debug"));
    expect(request, NULL);
    assert_string_equal(csn_error_text(&err),
                        "app.debug is neither beside the image nor in its .debug folder nor under debug and 1 more");
    put_object("bin/app.dSYM/Contents/Resources/DWARF/app", ID);
    expect(request, "bin/app.dSYM/Contents/Resources/DWARF/app");
    snprintf(under_dir, sizeof under_dir, "debug2%s/bin/app.debug", place->root);
    put_object(under_dir, ID);
    expect(request, under_dir);
    put_object("bin/.debug/app.debug", ID);
    expect(request, "bin/.debug/app.debug");
    put_object("bin/app.debug", ID);
    expect(request, "bin/app.debug");
    put_object("debug2/.build-id/ab/cdef01.debug", ID);
    expect(request, "debug2/.build-id/ab/cdef01.debug");
    put_object("debug/.build-id/ab/cdef01.debug", ID);
    expect(request, "debug/.build-id/ab/cdef01.debug");
    put_object("chosen", ID);
    options.debug_file = "chosen";
    expect(request, "chosen");
    snprintf(written, sizeof written, "%s/bin/app", place->root);
    request.image_path = written;
    expect(request, "chosen");
}

static void chosen_for_an_image_with_debug_info(void **state) {
    (void)state;
    put_object("bin/app", ID);
    put_object("bin/app.debug", ID);
    struct csn_companion_request request = with_id(request_for(CSN_COMPANION_DEBUG_FILE, "app.debug"));
    request.has_debug_info = true;
    expect(request, NULL);
    assert_int_equal(err.code, CSN_OK);
    options.debug_file = "bin/app.debug";
    expect(request, "bin/app.debug");
}

static void crc(void **state) {
    (void)state;
    put_object("bin/app", NULL);
    uint32_t wrong = put_object("bin/app.debug", NULL), right = put_object("bin/.debug/app.debug", NULL);
    struct csn_companion_request request = request_for(CSN_COMPANION_DEBUG_FILE, "app.debug");
    request.has_crc = true;
    request.crc = right;
    expect(request, "bin/.debug/app.debug");
    request.crc = ~wrong;
    char text[200];
    snprintf(text, sizeof text, "bin/app.debug has CRC 0x%08x, the image needs 0x%08x", wrong, ~wrong);
    expect_failure(request, CSN_NONE, text);
    assert_int_equal(err.code, CSN_NONE);
}

static void other_id(void **state) {
    (void)state;
    static const char text[] = "bin/app.debug has build id abcdef02, the image needs abcdef01";
    put_object("bin/app", ID);
    put_object("bin/app.debug", OTHER_ID);
    struct csn_companion_request request = with_id(request_for(CSN_COMPANION_DEBUG_FILE, "app.debug"));
    expect_failure(request, CSN_E_FORMAT, text);
    options.debug_file = "bin/app.debug";
    expect_failure(request, CSN_E_FORMAT, text);
    options.debug_file = NULL;
    put_object("bin/.debug/app.debug", NULL); /* none to compare: the link's CRC vouches */
    expect(request, "bin/.debug/app.debug");
    put_object("debug/.build-id/ab/cdef01.debug", NULL); /* nothing vouches */
    expect(request, "bin/.debug/app.debug");
}

#define SAMPLE_PDB "00112233445566778899AABBCCDDEEFF" /* pdb_sample_guid */
#define OTHER_PDB "00112233445566778899AABBCCDDEEFE"

/* By GUID and age, as an image's CodeView record has them. */
static void program_database(void **state) {
    (void)state;
    struct pdb_sample pdb;
    pdb_sample_init(&pdb);
    put_object("bin/app", NULL);
    put_bytes("bin/app.pdb", pdb_sample_build(&pdb));
    pdb_sample_deinit(&pdb);
    uint8_t guid[16];
    memcpy(guid, pdb_sample_guid, sizeof guid);
    struct csn_companion_request request = request_for(CSN_COMPANION_PDB, "app.pdb");
    request.id = guid;
    request.id_size = sizeof guid;
    request.id_age = PDB_SAMPLE_AGE;
    expect(request, "bin/app.pdb");
    request.id_age = PDB_SAMPLE_AGE + 1;
    expect_failure(request, CSN_E_FORMAT, "bin/app.pdb has id " SAMPLE_PDB "3, the image needs " SAMPLE_PDB "4");
    request.id_age = PDB_SAMPLE_AGE;
    guid[15] ^= 1;
    expect_failure(request, CSN_E_FORMAT, "bin/app.pdb has id " SAMPLE_PDB "3, the image needs " OTHER_PDB "3");
    options.debug_file = "bin/app.pdb";
    expect_failure(request, CSN_E_FORMAT, "bin/app.pdb has id " SAMPLE_PDB "3, the image needs " OTHER_PDB "3");
    options.debug_file = NULL;
    put_text("bin/app.pdb", "Microsoft C/C++ MSF 7.00\r\n\032DS");
    expect(request, NULL);
    assert_non_null(strstr(csn_error_text(&err), "bin/app.pdb: "));
}

static void no_objects(void **state) {
    (void)state;
    put_object("bin/app", ID);
    put_text("bin/app.debug", "text");
    put_text("bin/.debug/app.debug", "");
    struct csn_companion_request request = with_id(request_for(CSN_COMPANION_DEBUG_FILE, "app.debug"));
    expect(request, NULL);
    assert_non_null(strstr(csn_error_text(&err), "bin/app.debug: not an object file"));
    unlink("bin/app.debug");
    assert_int_equal(mkdir("bin/app.debug", 0777), 0);
    expect_failure(request, CSN_NONE, "bin/app.debug is not a regular file");
    rmdir("bin/app.debug");
    assert_int_equal(link("bin/app", "bin/app.debug"), 0); /* the image itself is no candidate, whatever its name */
    expect(request, NULL);
    assert_non_null(strstr(csn_error_text(&err), "bin/.debug/app.debug: not an object file"));
    options.debug_file = "bin/app.debug";
    expect_failure(request, CSN_E_ARGUMENT, "bin/app.debug is the image itself");
    options.debug_file = "nowhere";
    expect_failure(request, CSN_E_IO, "nowhere: No such file or directory");
    options.debug_file = "bin";
    expect_failure(request, CSN_E_NOT_FOUND, "bin has no file for the image in Contents/Resources/DWARF");
}

static void names_of_links(void **state) {
    (void)state;
    put_object("bin/app", NULL);
    put_object("secret", NULL);
    static const char *const names[] = { "../secret", "/etc/passwd", "..", ".", "", "a/", "bin/../secret" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        expect(request_for(CSN_COMPANION_DEBUG_FILE, names[i]), NULL);
    put_object("bin/secret", NULL);
    expect(request_for(CSN_COMPANION_DEBUG_FILE, "../secret"), "bin/secret");
    char *huge = malloc(10001);
    memset(huge, 'a', 10000);
    huge[10000] = 0;
    expect(request_for(CSN_COMPANION_DEBUG_FILE, huge), NULL);
    struct csn_companion_request request = request_for(CSN_COMPANION_DEBUG_FILE, huge);
    request.image_path = huge;
    expect(request, NULL);
    for (uint32_t kind = CSN_COMPANION_SUPPLEMENT; kind <= CSN_COMPANION_OBJECT; kind++) {
        request = request_for(kind, huge);
        request.directory = huge;
        request.image_path = huge;
        expect(request, NULL);
    }
    free(huge);
}

static void image_from_memory(void **state) {
    (void)state;
    put_object("debug/.build-id/ab/cdef01.debug", ID);
    struct csn_companion_request request = with_id(request_for(CSN_COMPANION_DEBUG_FILE, "app.debug"));
    request.image_path = NULL;
    expect(request, "debug/.build-id/ab/cdef01.debug");
    uint8_t long_id[100] = { 0 };
    request.id = long_id;
    request.id_size = sizeof long_id;
    expect(request, NULL);
    request.id_size = 1;
    expect(request, NULL);
}

static void bundles(void **state) {
    (void)state;
    put_object("A.app/Contents/MacOS/app", ID);
    struct csn_companion_request request = with_id(request_for(CSN_COMPANION_DEBUG_FILE, NULL));
    request.image_path = "A.app/Contents/MacOS/app";
    expect(request, NULL);
    assert_int_equal(err.code, CSN_OK);
    put_object("A.app.dSYM/Contents/Resources/DWARF/other-name", ID);
    expect(request, "A.app.dSYM/Contents/Resources/DWARF/other-name");
    put_object("A.app.dSYM/Contents/Resources/DWARF/app", ID);
    expect(request, "A.app.dSYM/Contents/Resources/DWARF/app");
    put_object("A.app/Contents/MacOS/app.dSYM/Contents/Resources/DWARF/app", OTHER_ID);
    expect(request, "A.app.dSYM/Contents/Resources/DWARF/app");
    unlink("A.app.dSYM/Contents/Resources/DWARF/app");
    unlink("A.app.dSYM/Contents/Resources/DWARF/other-name");
    expect_failure(request, CSN_NONE, "A.app/Contents/MacOS/app.dSYM/Contents/Resources/DWARF/app has build id abcdef02, "
                                          "the image needs abcdef01");
}

/* A universal file has an image for each machine: the one with the right UUID is handed out. */
static void universal_bundle(void **state) {
    (void)state;
    static const uint8_t uuids[2][16] = { { 1, 1 }, { 2, 2 } };
    struct wire_macho images[2];
    struct wire wires[2], file;
    struct wire_macho_slice slices[2];
    for (int i = 0; i < 2; i++) {
        wire_macho_init(&images[i], true, false, i ? CPU_TYPE_ARM64 : CPU_TYPE_X86_64, MH_DSYM);
        images[i].uuid = uuids[i];
        wire_init(&wires[i], false);
        wire_macho_build(&images[i], &wires[i], NULL);
        slices[i] = (struct wire_macho_slice){ images[i].cpu_type, 0, wire_span(&wires[i]) };
    }
    wire_init(&file, true);
    wire_macho_universal(&file, false, slices, 2);
    put_text("bin/app", "");
    put_bytes("bin/app.dSYM/Contents/Resources/DWARF/app", wire_span(&file));
    struct csn_companion_request request = request_for(CSN_COMPANION_DEBUG_FILE, NULL);
    for (int i = 0; i < 2; i++) {
        struct csn_companion found;
        request.id = uuids[i];
        request.id_size = sizeof uuids[i];
        assert_int_equal(ask(&request, &found), CSN_OK);
        assert_int_equal(found.size, wires[i].size);
        assert_memory_equal(found.bytes, wires[i].bytes, wires[i].size);
        found.release(&found);
    }
    request.id_size = 0;
    expect_failure(request, CSN_NONE, "bin/app.dSYM/Contents/Resources/DWARF/app: has 2 images, and the one at hand has no "
                                      "UUID to choose by");
    wire_deinit(&file);
    wire_deinit(&wires[0]);
    wire_deinit(&wires[1]);
}

/* ---- parts ---- */

static void supplements(void **state) {
    (void)state;
    put_object("bin/app", NULL);
    struct csn_companion_request request = with_id(request_for(CSN_COMPANION_SUPPLEMENT, "../x/.dwz/sub/sup"));
    expect_failure(request, CSN_NONE, "../x/.dwz/sub/sup not found");
    put_object("debug2/.dwz/sub/sup", ID);
    expect(request, "debug2/.dwz/sub/sup");
    put_object("debug/.build-id/ab/cdef01.debug", ID);
    expect(request, "debug/.build-id/ab/cdef01.debug");
    put_object("x/.dwz/sub/sup", ID);
    expect(request, "x/.dwz/sub/sup");
    put_object("x/.dwz/sub/sup", OTHER_ID);
    expect(request, "debug/.build-id/ab/cdef01.debug");
}

/* A supplement in the manner of DWARF 5: the checksum is in .debug_sup. */
static void supplement_by_checksum(void **state) {
    (void)state;
    struct wire_elf elf;
    struct wire sup, file;
    wire_elf_init(&elf, true, false, ET_EXEC, EM_X86_64);
    wire_init(&sup, false);
    wire_init(&file, false);
    wire_u16(&sup, 5);
    wire_u8(&sup, 1);
    wire_cstr(&sup, "");
    wire_uleb(&sup, sizeof ID);
    wire_bytes(&sup, OTHER_ID, sizeof OTHER_ID);
    wire_elf_add_wire(&elf, ".debug_sup", SHT_PROGBITS, 0, 0, &sup);
    wire_elf_build(&elf, &file, NULL);
    put_bytes("bin/sup", wire_span(&file));
    struct csn_companion_request request = with_id(request_for(CSN_COMPANION_SUPPLEMENT, "sup"));
    expect_failure(request, CSN_E_FORMAT, "bin/sup has build id abcdef02, the image needs abcdef01");
    request.id = OTHER_ID;
    expect(request, "bin/sup");
    wire_deinit(&file);
    wire_deinit(&sup);
    wire_elf_deinit(&elf);
}

static void packages(void **state) {
    (void)state;
    put_text("bin/app", "");
    put_text("debug/app.debug", "");
    struct csn_companion_request request = request_for(CSN_COMPANION_DWP, "debug/app.debug");
    expect(request, NULL);
    put_text("debug/app.dwp", "program's");
    expect(request, "debug/app.dwp");
    put_text("debug/app.debug.dwp", "debug file's");
    expect(request, "debug/app.debug.dwp");
    put_text("bin/app.dwp", "image's");
    expect(request, "bin/app.dwp");
    static const char *const chosen[] = { "one", "two" };
    put_text("one", "1");
    put_text("two", "22");
    options.dwp_files = chosen;
    options.dwp_file_count = 2;
    static const char *const order[] = { "one", "two", "bin/app.dwp", "debug/app.debug.dwp", "debug/app.dwp", NULL };
    for (uint32_t i = 0; i < sizeof order / sizeof *order; i++) {
        request.skip = i;
        expect(request, order[i]);
    }
    unlink("two");
    request.skip = 0;
    expect(request, "one");
    request.skip = 1;
    expect_failure(request, CSN_E_IO, "two: No such file or directory");
}

static void split_units(void **state) {
    struct place *place = *state;
    char absolute[128];
    put_text("bin/app", "");
    struct csn_companion_request request = request_for(CSN_COMPANION_DWO, "sub/a.dwo");
    request.directory = "build";
    expect(request, NULL);
    put_text("bin/a.dwo", "1");
    expect(request, "bin/a.dwo");
    put_text("bin/sub/a.dwo", "22");
    expect(request, "bin/sub/a.dwo");
    put_text("build/sub/a.dwo", "333");
    expect(request, "build/sub/a.dwo");
    request.skip = 2;
    expect(request, "bin/a.dwo");
    request.skip = 3;
    expect(request, NULL);
    snprintf(absolute, sizeof absolute, "%s/elsewhere/a.dwo", place->root);
    request = request_for(CSN_COMPANION_DWO, absolute);
    expect(request, "bin/a.dwo");
    put_text(absolute, "4444");
    expect(request, absolute);
}

/* Folders that the user named come first, in their order; the path within one before the last part alone. */
static void split_units_elsewhere(void **state) {
    (void)state;
    static const char *const folders[] = { "first", "second" };
    put_text("bin/app", "");
    struct csn_companion_request request = request_for(CSN_COMPANION_DWO, "sub/a.dwo");
    options.dwo_dirs = folders;
    options.dwo_dir_count = 2;
    request.directory = "build";
    expect(request, NULL);
    put_text("build/sub/a.dwo", "1");
    expect(request, "build/sub/a.dwo");
    put_text("second/a.dwo", "22");
    expect(request, "second/a.dwo");
    put_text("second/sub/a.dwo", "333");
    expect(request, "second/sub/a.dwo");
    put_text("first/a.dwo", "4444");
    expect(request, "first/a.dwo");
    request.skip = 3;
    expect(request, "build/sub/a.dwo");
    request.skip = 0;
    request.name = "/no/such/folder/a.dwo";
    expect(request, "first/a.dwo");
}

static void objects(void **state) {
    struct place *place = *state;
    char prefix[128];
    struct csn_companion_request request = request_for(CSN_COMPANION_OBJECT, "/b/a.o");
    snprintf(prefix, sizeof prefix, "%s/root", place->root);
    expect(request, NULL);
    put_text("root/b/a.o", "1");
    put_text("root/b/l.a", "22");
    expect(request, NULL);
    options.object_prefix = prefix;
    expect(request, "root/b/a.o");
    struct utimbuf times = { 1000, 1000 };
    assert_int_equal(utime("root/b/a.o", &times), 0);
    char older[160 + 8];
    snprintf(older, sizeof older, "%s/b/a.o", prefix);
    options.object_prefix = "/nowhere";
    request.name = older;
    request.modified = 1000;
    expect(request, "root/b/a.o");
    request.modified = 1001; /* who asked compares the times */
    struct csn_companion found;
    assert_int_equal(ask(&request, &found), CSN_OK);
    assert_int_equal(found.modified, 1000);
    found.release(&found);
    char newer[256];
    snprintf(newer, sizeof newer, "root%s", older);
    put_text(newer, "of the right time");
    times.modtime = 1001;
    assert_int_equal(utime(newer, &times), 0);
    options.object_prefix = prefix;
    expect(request, newer);
    request.modified = 0;
    request.name = "/b/l.a(m.o)";
    expect(request, "root/b/l.a");
    request.name = "(m.o)";
    expect(request, NULL);
}

/* ---- options, memory, CRC ---- */

static void options_are_checked(void **state) {
    (void)state;
    struct csn_companion_search *search = NULL;
    static const char *const hole[] = { "a", NULL };
    options = (struct csn_companion_search_options)CSN_COMPANION_SEARCH_OPTIONS_INIT;
    options.flags = 0x80;
    assert_int_equal(csn_companion_search_create(&options, &search, &err), CSN_E_UNSUPPORTED);
    options.flags = 0;
    options.debug_dirs = hole;
    options.debug_dir_count = 2;
    assert_int_equal(csn_companion_search_create(&options, &search, &err), CSN_E_ARGUMENT);
    assert_null(search);
    assert_int_equal(csn_companion_search_create(NULL, &search, &err), CSN_OK);
    csn_companion_search_destroy(search);
    csn_companion_search_destroy(NULL);
    struct csn_companion_request request = request_for(99, "a");
    expect(request, NULL);
}

static csn_status search_step(void *context, const struct csn_allocator *alloc) {
    struct csn_companion_search *search;
    struct csn_companion found;
    static const char *const packages_given[] = { "p" };
    struct csn_companion_search_options given = options;
    given.allocator = alloc;
    given.object_prefix = "prefix";
    given.dwp_files = packages_given;
    given.dwp_file_count = 1;
    csn_status status = csn_companion_search_create(&given, &search, NULL);
    if (status != CSN_OK) return status;
    status = csn_companion_search_resolve(search, context, &found, NULL);
    csn_companion_search_destroy(search);
    if (status == CSN_OK) found.release(&found);
    return status;
}

static void without_memory(void **state) {
    (void)state;
    put_object("bin/app", ID);
    uint32_t right = put_object("bin/app.debug", ID);
    struct csn_companion_request request = with_id(request_for(CSN_COMPANION_DEBUG_FILE, "app.debug"));
    request.has_crc = true;
    request.crc = right;
    assert_true(test_allocator_sweep(search_step, &request, 0) > 5);
    assert_true(test_allocator_sweep(search_step, &request, 1) > 5);
}

static void crc_of_bytes(void **state) {
    (void)state;
    const struct csni_span check = { (const uint8_t *)"123456789", 9 };
    assert_int_equal(csni_crc32_portable(0, check), 0xcbf43926);
    assert_int_equal(csni_crc32(0, check), 0xcbf43926);
    assert_int_equal(csni_crc32_mapped((struct csni_span){ NULL, 0 }), 0);
    struct csni_span text = sample_text(), part;
    for (size_t size = 0; size < 300; size++) {
        assert_true(csni_span_sub(text, size % 7, size, &part));
        assert_int_equal(csni_crc32(0, part), csni_crc32_portable(0, part));
    }
    assert_true(csni_span_sub(text, 0, 1001, &part));
    uint32_t half = csni_crc32_portable(0, part);
    assert_int_equal(csni_crc32_portable(half, csni_span_from(text, 1001)), csni_crc32(0, text));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(order_of_debug_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(chosen_for_an_image_with_debug_info, set_up, tear_down),
        cmocka_unit_test_setup_teardown(crc, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_id, set_up, tear_down),
        cmocka_unit_test_setup_teardown(program_database, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_objects, set_up, tear_down),
        cmocka_unit_test_setup_teardown(names_of_links, set_up, tear_down),
        cmocka_unit_test_setup_teardown(image_from_memory, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bundles, set_up, tear_down),
        cmocka_unit_test_setup_teardown(universal_bundle, set_up, tear_down),
        cmocka_unit_test_setup_teardown(supplements, set_up, tear_down),
        cmocka_unit_test_setup_teardown(supplement_by_checksum, set_up, tear_down),
        cmocka_unit_test_setup_teardown(packages, set_up, tear_down),
        cmocka_unit_test_setup_teardown(split_units, set_up, tear_down),
        cmocka_unit_test_setup_teardown(split_units_elsewhere, set_up, tear_down),
        cmocka_unit_test_setup_teardown(objects, set_up, tear_down),
        cmocka_unit_test_setup_teardown(options_are_checked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(without_memory, set_up, tear_down),
        cmocka_unit_test(crc_of_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
