/* Finding indexes: each location in its order, what is refused and why, closing many. */
#define _GNU_SOURCE
#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <callsign/store.h>

#include "base/core/span.h"
#include "base/own_path.h"
#include "store/index_store.h"
#include "object/elf/elf_layout.h"
#include "support/test_alloc.h"
#include "wire/wire_elf.h"
#include "wire/wire_gsym.h"

static struct csn_error err;
static const uint8_t ID[4] = { 0xab, 0xcd, 0xef, 1 }, OTHER_ID[4] = { 0xab, 0xcd, 0xef, 2 };
static char folder[] = "/tmp/csn-store-XXXXXX";

static const char *in_folder(const char *name) {
    static char paths[4][256];
    static unsigned next;
    char *path = paths[next++ % 4];
    snprintf(path, 256, "%s/%s", folder, name);
    return path;
}

static void put_bytes(const char *path, struct csni_span bytes) {
    char parent[256];
    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(parent, sizeof parent, "%.*s", (int)(slash - path), path);
        mkdir(parent, 0700);
    }
    FILE *file = fopen(path, "wb");
    assert_true(file && fwrite(bytes.ptr, 1, bytes.size, file) == bytes.size && fclose(file) == 0);
}

/* An index with one function, at `start`. */
static void make_index(struct wire_gsym *g, const uint8_t *id, uint64_t start) {
    wire_gsym_init(g, false, 4, start);
    if (id) memcpy(g->uuid, id, g->uuid_size = sizeof ID);
    wire_gsym_function(g, start, 16, "f");
    wire_gsym_build(g);
}

static void put_index(const char *name, const uint8_t *id, uint64_t start) {
    struct wire_gsym g;
    make_index(&g, id, start);
    put_bytes(in_folder(name), wire_gsym_build(&g));
    wire_gsym_deinit(&g);
}

static struct csn_store *store_with(uint32_t flags, bool has_folder) {
    struct csn_store_options options = CSN_STORE_OPTIONS_INIT;
    const char *const folders[] = { folder };
    struct csn_store *store;
    options.flags = flags;
    options.folders = folders;
    options.folder_count = has_folder;
    assert_int_equal(csn_store_create(&options, &store, &err), CSN_OK);
    return store;
}

static struct csn_store_module module_of(const char *name, const uint8_t *id) {
    struct csn_store_module module = CSN_STORE_MODULE_INIT;
    module.name = csni_str(name);
    module.build_id = id;
    module.build_id_size = id ? sizeof ID : 0;
    return module;
}

/* The address that the index found begins at; 0: none was. */
static uint64_t found_start(struct csn_store *store, struct csn_store_module module) {
    const struct csn_index *index = NULL;
    csn_status status = csn_store_find(store, &module, &index, NULL, &err);
    if (status == CSN_NONE) return 0;
    assert_int_equal(status, CSN_OK);
    struct csn_index_info info;
    csn_index_get_info(index, &info, sizeof(info));
    return info.base_address;
}

static int set_up(void **state) {
    (void)state;
    strcpy(folder + sizeof folder - 7, "XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    char command[300];
    snprintf(command, sizeof command, "rm -r '%s'", folder);
    return system(command);
}

/* ---- locations ---- */

static void test_given(void **state) {
    (void)state;
    struct csn_store *store = store_with(0, false);
    const struct csn_index *index;
    put_index("app.gsym", ID, 0x1000);
    put_index("other.bsym", NULL, 0x2000);
    assert_int_equal(csn_store_add_index(store, in_folder("app.gsym"), &index, &err), CSN_OK);
    assert_int_equal(csn_store_add_index(store, in_folder("other.bsym"), NULL, &err), CSN_OK);
    assert_int_equal(csn_store_add_index(store, in_folder("missing"), NULL, &err), CSN_E_IO);
    assert_int_equal(csn_store_given_count(store), 2);
    assert_memory_equal(csn_store_given_name(store, 1).ptr, "other", csn_store_given_name(store, 1).len);
    assert_int_equal(found_start(store, module_of("/somewhere/app", NULL)), 0x1000);
    assert_int_equal(found_start(store, module_of("C:\\bin\\other", NULL)), 0x2000);
    assert_int_equal(found_start(store, module_of("renamed", ID)), 0x1000);
    assert_int_equal(found_start(store, module_of("other", OTHER_ID)), 0x2000); /* it has no id that could differ */
    assert_int_equal(found_start(store, module_of("app", OTHER_ID)), 0);
    assert_int_equal(found_start(store, module_of("ap", NULL)), 0);
    csn_store_destroy(store);
    csn_store_destroy(NULL);
}

/* What was found before stays open, and those given count before it from then on. */
static void test_given_after_finding(void **state) {
    (void)state;
    struct csn_store *store = store_with(0, true);
    const struct csn_index *found, *given;
    struct csn_index_info info;
    put_index("app.gsym", ID, 0x1000);
    put_index("bin/other.gsym", ID, 0x2000);
    const struct csn_store_module module = module_of("app", NULL);
    assert_int_equal(csn_store_find(store, &module, &found, NULL, &err), CSN_OK);
    const uint64_t generation = csn_store_generation(store);
    for (int round = 0; round < 3; round++) {
        assert_int_equal(csn_store_add_index(store, in_folder("missing"), NULL, &err), CSN_E_IO);
        assert_int_equal(csn_store_add_named_index(store, CSN_STR("/"), in_folder("bin/other.gsym"), NULL, &err), CSN_E_ARGUMENT);
        assert_int_equal(csn_store_add_index(store, in_folder("bin/other.gsym"), &given, &err), CSN_OK);
        assert_true(csni_str_is(csn_store_given_name(store, (size_t)round), "other"));
        csn_index_get_info(found, &info, sizeof info);
        assert_int_equal(info.base_address, 0x1000);
        assert_int_equal(found_start(store, module_of("app", NULL)), 0x1000);
        assert_int_equal(found_start(store, module_of("other", NULL)), 0x2000);
        assert_int_equal(found_start(store, module_of("renamed", ID)), 0x2000);
    }
    assert_int_equal(csn_store_given_count(store), 3);
    assert_int_equal(csn_store_generation(store), generation);
    csn_store_trim(store);
    assert_int_not_equal(csn_store_generation(store), generation);
    assert_int_equal(found_start(store, module_of("app", NULL)), 0x1000);
    csn_store_destroy(store);
}

/* The name decides between builds that have one id, as a program and its debug file. */
static void test_same_id(void **state) {
    (void)state;
    struct csn_store *store = store_with(0, false);
    put_index("app.debug.gsym", ID, 0x1000);
    put_index("app.gsym", ID, 0x2000);
    assert_int_equal(csn_store_add_index(store, in_folder("app.debug.gsym"), NULL, &err), CSN_OK);
    assert_int_equal(csn_store_add_index(store, in_folder("app.gsym"), NULL, &err), CSN_OK);
    assert_int_equal(found_start(store, module_of("/bin/app", ID)), 0x2000);
    assert_int_equal(found_start(store, module_of("app.debug", ID)), 0x1000);
    assert_int_equal(found_start(store, module_of("renamed", ID)), 0x1000);
    csn_store_destroy(store);
}

static void test_folders(void **state) {
    (void)state;
    static const char *const files[] = { "ab/cdef01.gsym", "app/01EFCDAB0000000000000000000000000/app.gsym",
                                         "app/ABCDEF010000000000000000000000000/app.sym", "app/ABCDEF01/app.gsym", "app.gsym" };
    enum { COUNT = sizeof files / sizeof *files };
    for (uint64_t i = 0; i < COUNT; i++) put_index(files[i], i == COUNT - 1 ? ID : NULL, 0x1000 * (i + 1));
    for (uint64_t i = 0; i < COUNT; i++) {
        struct csn_store *store = store_with(0, true);
        assert_int_equal(found_start(store, module_of("/bin/app", ID)), 0x1000 * (i + 1));
        csn_store_destroy(store);
        assert_int_equal(unlink(in_folder(files[i])), 0);
    }
    put_index("app.gsym", OTHER_ID, 0x1000);
    struct csn_store *store = store_with(0, true);
    assert_int_equal(found_start(store, module_of("/bin/app", ID)), 0);
    assert_int_equal(found_start(store, module_of("/bin/app", NULL)), 0x1000);
    assert_int_equal(found_start(store, module_of("..", NULL)), 0);
    csn_store_destroy(store);
}

/* An id that was cut leads to the only file that begins with it, whatever is open. */
static void test_short_id_in_folder(void **state) {
    (void)state;
    struct csn_store *store = store_with(0, true);
    put_index("ab/cdef0123.gsym", NULL, 0x1000);
    put_index("ab/cdef02aa.gsym", NULL, 0x2000);
    put_index("ab/cdef02bb.gsym", NULL, 0x3000);
    put_index("ab/cdef02xx.gsym", NULL, 0x4000);
    assert_int_equal(found_start(store, module_of("app", ID)), 0x1000);
    assert_int_equal(found_start(store, module_of("app", OTHER_ID)), 0);
    assert_int_equal(unlink(in_folder("ab/cdef02aa.gsym")), 0);
    assert_int_equal(found_start(store, module_of("app", OTHER_ID)), 0x3000);
    csn_store_destroy(store);
}

static void test_beside(void **state) {
    (void)state;
    struct wire_gsym g;
    struct wire_elf elf;
    struct wire file;
    make_index(&g, ID, 0x3000);
    wire_elf_init(&elf, true, false, ET_EXEC, EM_X86_64);
    wire_init(&file, false);
    wire_elf_add(&elf, ".gsym", SHT_PROGBITS, 0, 0, wire_gsym_build(&g));
    wire_elf_build(&elf, &file, NULL);
    put_bytes(in_folder("bin/app"), wire_span(&file));
    wire_deinit(&file);
    wire_elf_deinit(&elf);
    wire_gsym_deinit(&g);
    struct csn_store *store = store_with(0, false);
    struct csn_store_module module = module_of(in_folder("bin/app"), ID);
    assert_int_equal(found_start(store, module), 0);
    csn_store_destroy(store);
    store = store_with(CSN_STORE_BESIDE, false);
    assert_int_equal(found_start(store, module), 0x3000);
    csn_store_destroy(store);
    put_index("bin/app.gsym", ID, 0x4000);
    store = store_with(CSN_STORE_BESIDE, false);
    assert_int_equal(found_start(store, module), 0x4000);
    csn_store_destroy(store);
}

/* Of one file name, each has its own: what an earlier module was answered from does not serve the next. */
static void test_beside_of_one_name(void **state) {
    (void)state;
    struct csn_store *store = store_with(CSN_STORE_BESIDE, true);
    put_index("a/app.gsym", NULL, 0x1000);
    put_index("b/app.gsym", NULL, 0x2000);
    put_index("tool/ABCDEF010000000000000000000000000/tool.sym", NULL, 0x3000);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(found_start(store, module_of(in_folder("a/app"), NULL)), 0x1000);
        assert_int_equal(found_start(store, module_of(in_folder("b/app"), NULL)), 0x2000);
        assert_int_equal(found_start(store, module_of(in_folder("c/app"), NULL)), 0);
        assert_int_equal(found_start(store, module_of("app", NULL)), 0);
        assert_int_equal(found_start(store, module_of("app.debug", NULL)), 0);
        assert_int_equal(found_start(store, module_of("tool", ID)), 0x3000);
        assert_int_equal(found_start(store, module_of("tool", NULL)), 0);
    }
    csn_store_destroy(store);
}

static void test_own_paths(void **state) {
    (void)state;
    static const struct { const char *path; bool is_own; } cases[] = {
        { "/proc/self/exe", true }, { "/proc/self/fd/3", true }, { "/proc/thread-self/exe", true }, { "/dev/fd/63", true },
        { "/dev/stdin", true }, { "//proc/./self//exe", true }, { "/usr/../proc/self/root/bin/app", true }, { "/../proc/self/exe", true },
        { "/proc/1/exe", false }, { "/proc/selfish/exe", false }, { "/proc/self", true }, { "/proc", false }, { "/dev/shm/self", false },
        { "/opt/proc/self/exe", false }, { "/proc/../self/exe", false }, { "proc/self/exe", false }, { "", false }, { "/", false } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (csni_is_own_path(csni_str(cases[i].path)) != cases[i].is_own) fail_msg("%s", cases[i].path);
}

static void test_named_index(void **state) {
    (void)state;
    struct csn_store *store = store_with(0, true);
    struct csn_store_module module = module_of("app", NULL);
    put_index("app.gsym", NULL, 0x1000);
    put_index("elsewhere", NULL, 0x2000);
    module.index = csni_str(in_folder("elsewhere"));
    assert_int_equal(found_start(store, module), 0x2000);
    module.index = csni_str(in_folder("missing"));
    assert_int_equal(found_start(store, module), 0);
    csn_store_destroy(store);
}

/* ---- what it tells ---- */

static void test_explanation(void **state) {
    (void)state;
    struct csn_store *store = store_with(CSN_STORE_BESIDE, true);
    struct csn_store_explanation *explanation;
    struct csn_store_location location;
    const struct csn_index *index = NULL;
    put_index("app.gsym", OTHER_ID, 0x1000);
    put_bytes(in_folder("ab/cdef01.gsym"), (struct csni_span){ (const uint8_t *)"no index", 8 });
    assert_int_equal(csn_store_explanation_create(NULL, &explanation, &err), CSN_OK);
    struct csn_store_module module = module_of("/bin-of-nobody/app", ID);
    for (int round = 0; round < 2; round++) { /* the second time, what cannot be opened is known */
        assert_int_equal(csn_store_find(store, &module, &index, explanation, &err), CSN_NONE);
        size_t count = csn_store_explanation_count(explanation), refused = 0;
        for (size_t i = 0; i < count; i++) {
            csn_store_explanation_get(explanation, i, &location);
            if (location.status >= 0) continue;
            refused++;
            assert_true(location.path.len && location.text.len);
            bool is_by_id = location.place == CSN_STORE_PLACE_FOLDER_BY_ID;
            const char *end = is_by_id ? "/ab/cdef01.gsym" : "/app.gsym";
            assert_true(location.path.len > strlen(end));
            assert_memory_equal(location.path.ptr + location.path.len - strlen(end), end, strlen(end));
            if (!is_by_id) assert_true(csni_str_is(location.text, "it has another build id: abcdef02 instead of abcdef01"));
        }
        assert_int_equal(refused, 2); /* by id, by name in the folder */
        csn_store_explanation_get(explanation, count - 1, &location);
        assert_int_equal(location.place, CSN_STORE_PLACE_BESIDE);
        assert_int_equal(location.status, CSN_NONE);
    }
    module = module_of("app", NULL);
    assert_int_equal(csn_store_find(store, &module, &index, explanation, &err), CSN_OK);
    assert_int_equal(csn_store_explanation_count(explanation), 1);
    csn_store_explanation_get(explanation, 0, &location);
    assert_int_equal(location.status, CSN_OK);
    csn_store_explanation_destroy(explanation);
    csn_store_explanation_destroy(NULL);
    csn_store_destroy(store);
}

static unsigned opened_count, closed_count, reported_count;

static csn_status open_counted(void *context, const char *path, struct csn_index **out, void **out_handle,
                               struct csn_error *error) {
    opened_count++;
    *out_handle = context;
    return csn_index_open_file(path, NULL, out, error);
}

static void close_counted(void *context, struct csn_index *index, void *handle) {
    assert_ptr_equal(context, handle);
    closed_count++;
    csn_index_close(index);
}

static void count_report(void *context, const char *path, const char *text) {
    (void)context;
    if (strcmp(path, in_folder("found/app.gsym")) != 0) assert_string_equal(path, in_folder("app.gsym"));
    assert_string_equal(text, "has another build id than the module 'app': abcdef02 instead of abcdef01; not used");
    reported_count++;
}

static void test_callbacks_and_trim(void **state) {
    (void)state;
    struct csn_store_options options = CSN_STORE_OPTIONS_INIT;
    char found[256];
    snprintf(found, sizeof found, "%s", in_folder("found"));
    const char *const folders[] = { folder, found };
    struct csn_store *store;
    opened_count = closed_count = reported_count = 0;
    options.folders = folders;
    options.folder_count = 2;
    options.open = open_counted;
    options.close = close_counted;
    options.report = count_report;
    options.context = &options;
    options.max_open = 2;
    put_index("app.gsym", OTHER_ID, 0x1000);
    assert_int_equal(csn_store_create(&options, &store, &err), CSN_OK);
    assert_int_equal(csn_store_add_index(store, in_folder("app.gsym"), NULL, &err), CSN_OK);
    for (int i = 0; i < 3; i++) assert_int_equal(found_start(store, module_of("app", ID)), 0);
    assert_int_equal(reported_count, 1);
    put_index("found/app.gsym", OTHER_ID, 0x1000);
    for (int i = 0; i < 3; i++) { /* one that is closed and opened again */
        assert_int_equal(found_start(store, module_of("app", ID)), 0);
        assert_int_equal(reported_count, 2);
        csn_store_trim(store);
    }
    assert_false(csn_store_is_full(store));
    uint64_t generation = csn_store_generation(store);
    for (unsigned i = 1; i <= 3; i++) {
        char name[32];
        snprintf(name, sizeof name, "m%u.gsym", i);
        put_index(name, NULL, 0x1000 * i);
        snprintf(name, sizeof name, "m%u", i);
        assert_int_equal(found_start(store, module_of(name, NULL)), 0x1000 * i);
    }
    assert_true(csn_store_is_full(store));
    assert_int_equal(csn_store_generation(store), generation);
    csn_store_trim(store);
    assert_int_not_equal(csn_store_generation(store), generation);
    assert_false(csn_store_is_full(store));
    assert_int_equal(csn_store_given_count(store), 1);
    assert_int_equal(found_start(store, module_of("app", OTHER_ID)), 0x1000);
    csn_store_destroy(store);
    assert_int_equal(opened_count, closed_count);
}

/* ---- names ---- */

static void test_names(void **state) {
    (void)state;
    static const struct { const char *module, *index; unsigned match; } cases[] = {
        { "app", "app", CSNI_NAME_EXACT }, { "app", "App", 0 }, { "", "", 0 }, { "app", "", 0 },
        { "orders.exe", "orders", 2 }, { "orders", "ORDERS.EXE", 0 }, { "orders.EXE", "orders", 2 }, { "orders.exe", "orders.dll", 0 },
        { "app.debug", "app", 2 }, { "app", "app.debug", 2 }, { "app (deleted)", "app", 2 }, { "app.pdb", "app.exe", 2 },
        { "liborders.so.1", "liborders.so.1.2.3", 1 }, { "liborders.so.1.2.3", "liborders.so", 1 },
        { "liborders.so.1", "liborders.so.10", 0 }, { "liborders.so.2", "liborders.so.1", 0 }, { "liborders.so.1", "libother.so.1", 0 },
        { "liborders.so", "liborders", 2 }, { "snd_pcm", "snd-pcm.ko", 2 }, { "snd-pcm.ko", "snd_pcm", 2 }, { "snd_pcm", "snd-pcm", 0 },
        { "a.so", "a.so.so", 2 }, { ".so", ".so", CSNI_NAME_EXACT }, { ".so", ".so.1", 1 }, { ".debug", "", 0 } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        unsigned match = csni_module_name_match(csni_str(cases[i].module), csni_str(cases[i].index));
        if (match != cases[i].match) fail_msg("%s, %s: %u", cases[i].module, cases[i].index, match);
    }
}

static void test_loose_names(void **state) {
    (void)state;
    struct csn_store *store = store_with(0, false);
    put_index("libx.so.1.2.gsym", NULL, 0x1000);
    put_index("libx.so.1.gsym", NULL, 0x2000);
    put_index("whatever.gsym", NULL, 0x3000);
    struct csn_store_module nameless = CSN_STORE_MODULE_INIT;
    assert_int_equal(csn_store_add_index(store, in_folder("libx.so.1.2.gsym"), NULL, &err), CSN_OK);
    assert_int_equal(found_start(store, module_of("libx.so.1", NULL)), 0x1000);
    assert_int_equal(found_start(store, nameless), 0x1000); /* the only one */
    assert_int_equal(csn_store_add_index(store, in_folder("libx.so.1.gsym"), NULL, &err), CSN_OK);
    assert_int_equal(found_start(store, module_of("/lib/libx.so.1", NULL)), 0x2000);
    assert_int_equal(found_start(store, module_of("libx.so.1.2.9", NULL)), 0x1000);
    assert_int_equal(found_start(store, nameless), 0);
    assert_int_equal(csn_store_add_named_index(store, CSN_STR("/opt/service"), in_folder("whatever.gsym"), NULL, &err), CSN_OK);
    assert_true(csni_str_is(csn_store_given_name(store, 2), "service"));
    assert_int_equal(found_start(store, module_of("service", NULL)), 0x3000);
    assert_int_equal(found_start(store, module_of("whatever", NULL)), 0);
    assert_int_equal(csn_store_add_named_index(store, CSN_STR("/"), in_folder("whatever.gsym"), NULL, &err), CSN_E_ARGUMENT);
    assert_int_equal(csn_store_given_count(store), 3);
    csn_store_destroy(store);
    store = store_with(0, true);
    assert_int_equal(found_start(store, module_of("libx.so", NULL)), 0x1000); /* "libx.so.1.2.gsym" sorts before "libx.so.1.gsym" */
    csn_store_destroy(store);
}

/* Whatever was searched before, and however the folder's time of change looks: a name that appears is found. */
static void test_names_that_appear(void **state) {
    (void)state;
    struct csn_store *store = store_with(0, true);
    put_index("libx.so.1.gsym", NULL, 0x1000);
    for (time_t age = 0; age <= 100; age += 100) {
        const struct timespec times[2] = { { .tv_sec = time(NULL) - age }, { .tv_sec = time(NULL) - age } };
        assert_int_equal(utimensat(AT_FDCWD, folder, times, 0), 0);
        assert_int_equal(found_start(store, module_of("liby.so", NULL)), 0);
        assert_int_equal(found_start(store, module_of("liby.so.7", NULL)), 0);
        assert_int_equal(store->folder_names[0].is_kept, age > 0); /* thousands of modules read the folder once a second */
        put_index("liby.so.7.1.gsym", NULL, 0x3000);
        assert_int_equal(found_start(store, module_of("liby.so.7", NULL)), 0x3000);
        assert_int_equal(found_start(store, module_of("libx.so", NULL)), 0x1000);
        assert_int_equal(unlink(in_folder("liby.so.7.1.gsym")), 0);
        csn_store_trim(store);
        assert_int_equal(found_start(store, module_of("liby.so", NULL)), 0);
    }
    csn_store_destroy(store);
}

static void count_any_report(void *context, const char *path, const char *text) {
    (void)text;
    assert_string_equal(path, in_folder(context));
    reported_count++;
}

/* Of several names that match, the build decides, in one folder and in another; the first is reported where none fits. */
static void test_names_and_ids(void **state) {
    (void)state;
    static const uint8_t third_id[4] = { 1, 1, 1, 1 }, fourth_id[4] = { 2, 2, 2, 2 };
    struct csn_store_options options = CSN_STORE_OPTIONS_INIT;
    char second[256];
    snprintf(second, sizeof second, "%s", in_folder("second"));
    const char *const folders[] = { folder, second };
    struct csn_store *store;
    options.folders = folders;
    options.folder_count = 2;
    options.report = count_any_report;
    options.context = "libx.so.1.2.gsym";
    reported_count = 0;
    put_index("libx.so.1.2.gsym", ID, 0x1000);
    put_index("libx.so.1.3.gsym", OTHER_ID, 0x2000);
    put_index("second/liby.so.1.gsym", third_id, 0x4000);
    put_index("liby.so.1.gsym", NULL, 0x3000);
    put_index("libw.so.1.gsym", NULL, 0x5000);
    assert_int_equal(csn_store_create(&options, &store, &err), CSN_OK);
    for (int round = 0; round < 2; round++) {
        assert_int_equal(found_start(store, module_of("libx.so.1", OTHER_ID)), 0x2000);
        assert_int_equal(found_start(store, module_of("libx.so.1", ID)), 0x1000);
        assert_int_equal(found_start(store, module_of("liby.so.1", third_id)), 0x4000);
        assert_int_equal(found_start(store, module_of("libw.so.1", fourth_id)), 0x5000);
        assert_int_equal(found_start(store, module_of("liby.so.1", NULL)), 0x3000);
        assert_int_equal(reported_count, 0);
        csn_store_trim(store);
    }
    assert_int_equal(found_start(store, module_of("libx.so.1", fourth_id)), 0);
    assert_int_equal(reported_count, 1);
    csn_store_destroy(store);
}

/* As many as there are: the best matches go first. */
static void test_many_loose_names(void **state) {
    (void)state;
    struct csn_store *store = store_with(0, true);
    char name[32];
    put_index("libz.so.1.debug.gsym", OTHER_ID, 0x1000);
    for (unsigned i = 10; i < 40; i++) {
        snprintf(name, sizeof name, "libz.so.1.%u.gsym", i);
        put_index(name, i == 24 ? ID : OTHER_ID, 0x1000 * i);
    }
    assert_int_equal(found_start(store, module_of("libz.so.1", ID)), 24 * 0x1000);
    assert_int_equal(found_start(store, module_of("libz.so.1", NULL)), 0x1000);
    csn_store_destroy(store);
}

/* ---- conversion ---- */

static unsigned convert_count;

static csn_status convert(void *context, const struct csn_store_module *module, struct csn_index **out,
                          struct csn_store_explanation *explanation, struct csn_error *error) {
    const struct csn_store_location location = {
        .place = CSN_STORE_PLACE_IMAGE, .status = CSN_OK, .path = module->name, .text = csni_str("")
    };
    assert_ptr_equal(context, &convert_count);
    convert_count++;
    if (csn_store_explanation_add(explanation, &location, error) < 0) return CSN_E_MEMORY;
    if (csni_str_is(module->name, "/none")) return CSN_NONE;
    if (csni_str_is(module->name, "/bad")) return CSN_E_FORMAT;
    if (csni_str_is(module->name, "/away")) return CSN_E_IO;
    if (csni_str_is(module->name, "/again") && !(convert_count & 1)) return CSN_E_IO;
    return csn_index_open_file(in_folder("made.gsym"), NULL, out, error);
}

static void test_converting(void **state) {
    (void)state;
    struct csn_store_options options = CSN_STORE_OPTIONS_INIT;
    struct csn_store *store;
    options.convert = convert;
    options.convert_context = &convert_count;
    options.close = close_counted; /* not for what the callback opened */
    convert_count = closed_count = 0;
    put_index("made.gsym", NULL, 0x5000);
    assert_int_equal(csn_store_create(&options, &store, &err), CSN_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(found_start(store, module_of("/bin/app", NULL)), 0x5000);
        assert_int_equal(found_start(store, module_of("/none", NULL)), 0);
        assert_int_equal(found_start(store, module_of("/bad", NULL)), 0);
    }
    assert_int_equal(convert_count, 3);
    assert_int_equal(found_start(store, module_of("/other/app", NULL)), 0x5000); /* another image of that file name */
    assert_int_equal(convert_count, 4);
    csn_store_trim(store);
    assert_int_equal(found_start(store, module_of("/bin/app", NULL)), 0x5000);
    assert_int_equal(convert_count, 5);
    for (int i = 0; i < 2; i++) assert_int_equal(found_start(store, module_of("/away", NULL)), 0);
    assert_int_equal(convert_count, 7);
    assert_int_equal(found_start(store, module_of("/again", NULL)), 0); /* the eighth call fails */
    for (int i = 0; i < 2; i++) assert_int_equal(found_start(store, module_of("/again", NULL)), 0x5000);
    assert_int_equal(convert_count, 9);
    csn_store_destroy(store);
    assert_int_equal(closed_count, 0);
    for (uint32_t place = 0; place <= CSN_STORE_PLACE_DEBUG_FILE + 1; place++) assert_true(csn_store_place_text(place)[0]);
}

static csn_status find_nothing(void *context, const struct csn_store_module *module, struct csn_index **out,
                               struct csn_store_explanation *explanation, struct csn_error *error) {
    (void)module, (void)explanation, (void)error;
    ++*(unsigned *)context;
    *out = NULL;
    return CSN_NONE;
}

/* They are no open indexes, are searched once, and do not become more and more. */
static void test_misses(void **state) {
    (void)state;
    enum { FEW = 1000, MANY = 40000 };
    struct csn_store_options options = CSN_STORE_OPTIONS_INIT;
    struct csn_store *store;
    char name[32];
    unsigned searched = 0;
    options.max_open = 2;
    options.convert = find_nothing;
    options.convert_context = &searched;
    assert_int_equal(csn_store_create(&options, &store, &err), CSN_OK);
    for (unsigned i = 0; i < 2 * FEW; i++) {
        snprintf(name, sizeof name, "/none/%u", i % FEW);
        assert_int_equal(found_start(store, module_of(name, NULL)), 0);
    }
    assert_int_equal(searched, FEW);
    assert_false(csn_store_is_full(store));
    for (unsigned i = FEW; i < MANY; i++) {
        snprintf(name, sizeof name, "/none/%u", i);
        assert_int_equal(found_start(store, module_of(name, NULL)), 0);
        assert_true(store->entries.count < MANY / 2);
    }
    assert_int_equal(searched, MANY);
    assert_false(csn_store_is_full(store));
    csn_store_destroy(store);
}

/* By name and by id, each its own; of equals the one that was added first. */
static void test_many(void **state) {
    (void)state;
    enum { MANY = 300 };
    struct csn_store *store = store_with(0, false);
    char name[32];
    for (unsigned i = 0; i < MANY; i++) {
        const uint8_t id[20] = { 1, 2, (uint8_t)i, (uint8_t)(i >> 8) };
        snprintf(name, sizeof name, "lib-%u.so.1.gsym", i);
        put_index(name, i % 3 ? id : NULL, 0x1000 + i);
        assert_int_equal(csn_store_add_index(store, in_folder(name), NULL, &err), CSN_OK);
    }
    for (unsigned i = 0; i < MANY; i++) {
        const uint8_t id[20] = { 1, 2, (uint8_t)i, (uint8_t)(i >> 8) };
        snprintf(name, sizeof name, "lib-%u.so.1", i);
        assert_int_equal(found_start(store, module_of(name, NULL)), 0x1000 + i);
        snprintf(name, sizeof name, "/opt/lib-%u.so.1.2", i);
        assert_int_equal(found_start(store, module_of(name, NULL)), 0x1000 + i);
        if (i % 3) assert_int_equal(found_start(store, module_of("other", id)), 0x1000 + i);
    }
    assert_int_equal(found_start(store, module_of("lib-300.so.1", NULL)), 0);
    csn_store_destroy(store);
}

static void test_arguments(void **state) {
    (void)state;
    struct csn_store_options options = CSN_STORE_OPTIONS_INIT;
    const char *const folders[] = { NULL };
    struct csn_store *store;
    options.flags = 0x80;
    assert_int_equal(csn_store_create(&options, &store, &err), CSN_E_UNSUPPORTED);
    options.flags = 0;
    options.folders = folders;
    options.folder_count = 1;
    assert_int_equal(csn_store_create(&options, &store, &err), CSN_E_ARGUMENT);
    assert_int_equal(csn_store_create(NULL, &store, &err), CSN_OK);
    struct csn_store_module module = CSN_STORE_MODULE_INIT;
    assert_int_equal(found_start(store, module), 0);
    csn_store_destroy(store);
}

/* ---- memory ---- */

/* A search may go on without the text of an error, so only what must be there is counted. */
static csn_status step(void *context, const struct csn_allocator *alloc) {
    (void)context;
    struct csn_store_options options = CSN_STORE_OPTIONS_INIT;
    const char *const folders[] = { folder };
    struct csn_store *store;
    struct csn_store_explanation *explanation = NULL;
    const struct csn_index *index = NULL;
    options.allocator = alloc;
    options.folders = folders;
    options.folder_count = 1;
    csn_status status = csn_store_create(&options, &store, &err);
    if (status < 0) return status;
    struct csn_store_module module = module_of("app", ID);
    status = csn_store_explanation_create(alloc, &explanation, &err);
    if (status == CSN_OK) status = csn_store_add_index(store, in_folder("given.gsym"), NULL, &err);
    if (status == CSN_OK) status = csn_store_find(store, &module, &index, explanation, &err);
    csn_store_explanation_destroy(explanation);
    csn_store_destroy(store);
    return status;
}

static void test_no_memory(void **state) {
    (void)state;
    put_index("given.gsym", NULL, 0x1000);
    put_index("app.gsym", ID, 0x2000);
    assert_true(test_allocator_sweep(step, NULL, 0) > 5);
    assert_true(test_allocator_sweep(step, NULL, 1) > 5);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_given, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_given_after_finding, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_same_id, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_folders, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_short_id_in_folder, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_beside, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_beside_of_one_name, set_up, tear_down),
        cmocka_unit_test(test_own_paths),
        cmocka_unit_test_setup_teardown(test_named_index, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_explanation, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_callbacks_and_trim, set_up, tear_down),
        cmocka_unit_test(test_names),
        cmocka_unit_test_setup_teardown(test_loose_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_names_that_appear, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_names_and_ids, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_many_loose_names, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_converting, set_up, tear_down),
        cmocka_unit_test(test_misses),
        cmocka_unit_test_setup_teardown(test_many, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_arguments, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_no_memory, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
