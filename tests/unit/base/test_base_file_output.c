/* base/file_output.c. */
#define _GNU_SOURCE

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/core/fail.h"
#include "base/file_output.h"
#include "support/test_alloc.h"

static char folder[64];
static char path[2 * PATH_MAX];

static int make_folder(void **state) {
    (void)state;
    strcpy(folder, "/tmp/csn-file-output-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static size_t entries(bool remove_them) {
    DIR *dir = opendir(folder);
    assert_non_null(dir);
    size_t count = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..")) continue;
        count++;
        if (remove_them) unlinkat(dirfd(dir), entry->d_name, 0);
    }
    closedir(dir);
    return count;
}

static int remove_folder(void **state) {
    (void)state;
    entries(true);
    return rmdir(folder);
}

static const char *at(const char *name) {
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void put(const char *name, const char *text, mode_t mode) {
    FILE *f = fopen(at(name), "wb");
    assert_non_null(f);
    fputs(text, f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(chmod(path, mode), 0);
}

static void check_content(const char *name, const char *text) {
    char buffer[256];
    FILE *f = fopen(at(name), "rb");
    assert_non_null(f);
    size_t n = fread(buffer, 1, sizeof buffer - 1, f);
    fclose(f);
    buffer[n] = 0;
    assert_string_equal(buffer, text);
}

static mode_t mode_of(const char *name) {
    struct stat st;
    assert_int_equal(stat(at(name), &st), 0);
    return st.st_mode & 07777;
}

static csn_status save(const char *target, const char *text, struct csn_error *err) {
    struct test_allocator t;
    test_allocator_init(&t);
    struct csni_file_output out;
    csn_status status = csni_file_output_open(&out, target, &t.base, err);
    if (status >= 0) status = csni_file_output_write(&out, 0, text, strlen(text), err);
    if (status >= 0) status = csni_file_output_commit(&out, err);
    csni_file_output_abort(&out);
    test_allocator_check_empty(&t);
    return status;
}

static void new_file(void **state) {
    (void)state;
    mode_t mask = umask(027);
    assert_int_equal(save(at("new"), "hello", NULL), CSN_OK);
    umask(mask);
    check_content("new", "hello");
    assert_int_equal(mode_of("new"), 0640);
    assert_int_equal(entries(false), 1);
}

static void nothing_shows_before_commit(void **state) {
    (void)state;
    put("f", "old", 0600);
    struct csni_file_output out;
    assert_int_equal(csni_file_output_open(&out, at("f"), NULL, NULL), CSN_OK);
    assert_int_equal(csni_file_output_write(&out, 3, "def", 3, NULL), CSN_OK);
    assert_int_equal(csni_file_output_write(&out, 0, "abc", 3, NULL), CSN_OK);
    assert_int_equal(csni_file_output_write(&out, 0, NULL, 0, NULL), CSN_OK);
    assert_int_equal(out.size, 6);
    check_content("f", "old");
    assert_int_equal(csni_file_output_commit(&out, NULL), CSN_OK);
    check_content("f", "abcdef");
    csni_file_output_abort(&out);
    check_content("f", "abcdef");
    assert_int_equal(entries(false), 1);
}

static void abort_keeps_the_old_file(void **state) {
    (void)state;
    put("f", "old", 0644);
    struct csni_file_output out;
    assert_int_equal(csni_file_output_open(&out, at("f"), NULL, NULL), CSN_OK);
    assert_int_equal(csni_file_output_write(&out, 0, "new", 3, NULL), CSN_OK);
    assert_int_equal(entries(false), 2);
    csni_file_output_abort(&out);
    assert_int_equal(entries(false), 1);
    check_content("f", "old");
    csni_file_output_abort(&out);
    csni_file_output_abort(NULL);
    struct csni_file_output zeroed;
    memset(&zeroed, 0, sizeof zeroed);
    csni_file_output_abort(&zeroed);
    assert_int_not_equal(fcntl(0, F_GETFD), -1); /* file 0 was not its own to close */
}

static void mode_of_the_replaced_file_is_kept(void **state) {
    (void)state;
    static const mode_t modes[] = { 0600, 0644, 0755, 0666, 0620 };
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        put("f", "old", modes[i]);
        struct csni_file_output out;
        assert_int_equal(csni_file_output_open(&out, at("f"), NULL, NULL), CSN_OK);
        struct stat st; /* and never more open before */
        assert_int_equal(fstat(out.fd, &st), 0);
        assert_int_equal(st.st_mode & 07777, modes[i]);
        assert_int_equal(csni_file_output_commit(&out, NULL), CSN_OK);
        assert_int_equal(mode_of("f"), modes[i]);
        unlink(at("f"));
    }
}

static void links_stay(void **state) {
    (void)state;
    put("target", "old", 0640);
    assert_int_equal(symlink("target", at("relative")), 0);
    char absolute[300];
    snprintf(absolute, sizeof absolute, "%s/relative", folder);
    assert_int_equal(symlink(absolute, at("chain")), 0);
    assert_int_equal(save(at("chain"), "new", NULL), CSN_OK);
    check_content("target", "new");
    check_content("chain", "new");
    assert_int_equal(mode_of("target"), 0640);
    struct stat st;
    assert_int_equal(lstat(at("chain"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(lstat(at("relative"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    assert_int_equal(entries(true), 3);

    /* a link to a file that is not there yet */
    assert_int_equal(symlink("later", at("dangling")), 0);
    assert_int_equal(save(at("dangling"), "new", NULL), CSN_OK);
    check_content("later", "new");
    assert_int_equal(lstat(at("dangling"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));

    assert_int_equal(symlink("round", at("round")), 0);
    struct csn_error err = CSN_ERROR_INIT;
    assert_int_equal(save(at("round"), "new", &err), CSN_E_IO);
    assert_int_equal(err.os_error, ELOOP);
}

static void check_refused(const char *target, csn_status status, int os_error, const char *text) {
    struct csn_error err = CSN_ERROR_INIT;
    assert_int_equal(save(target, "new", &err), status);
    assert_string_equal(csn_error_text(&err), text);
    assert_int_equal(err.os_error, os_error);
}

static void targets_that_are_no_files(void **state) {
    (void)state;
    char text[300];
    snprintf(text, sizeof text, "%s: Is a directory", folder);
    check_refused(folder, CSN_E_IO, EISDIR, text);
    check_refused("/dev/null", CSN_E_UNSUPPORTED, 0, "/dev/null: not a regular file, will not be replaced");
    check_refused("", CSN_E_ARGUMENT, 0, "the name of the output file is empty");
    assert_int_equal(mkfifo(at("pipe"), 0600), 0);
    snprintf(text, sizeof text, "%s/pipe: not a regular file, will not be replaced", folder);
    check_refused(path, CSN_E_UNSUPPORTED, 0, text);
    assert_int_equal(entries(true), 1);

    snprintf(text, sizeof text, "cannot create a file in %s/no/: No such file or directory", folder);
    check_refused(at("no/such"), CSN_E_IO, ENOENT, text);
    put("file", "", 0600);
    snprintf(text, sizeof text, "%s/file/x: Not a directory", folder);
    check_refused(at("file/x"), CSN_E_IO, ENOTDIR, text);
    assert_int_equal(entries(true), 1);
}

/* capget(2) has this in <linux/capability.h>, which musl-gcc does not find. */
enum { CAPABILITY_VERSION_3 = 0x20080522, CAPABILITY_DAC_OVERRIDE = 1 };
struct capability_header {
    uint32_t version;
    int pid;
};
struct capability_set {
    uint32_t effective, permitted, inheritable;
};

/* Root may write everywhere; without this right permissions hold for it too. */
static void drop_rights_over_permissions(void) {
    struct capability_header header = { .version = CAPABILITY_VERSION_3 };
    struct capability_set sets[2];
    assert_int_equal(syscall(SYS_capget, &header, sets), 0);
    sets[0].effective &= ~(1u << CAPABILITY_DAC_OVERRIDE);
    assert_int_equal(syscall(SYS_capset, &header, sets), 0);
}

static void protected_files_and_folders(void **state) {
    (void)state;
    drop_rights_over_permissions();
    put("f", "old", 0444);
    struct csn_error err = CSN_ERROR_INIT;
    assert_int_equal(save(at("f"), "new", &err), CSN_E_IO);
    assert_int_equal(err.os_error, EACCES);
    check_content("f", "old");
    unlink(at("f"));
    assert_int_equal(chmod(folder, 0500), 0);
    csn_status status = save(at("g"), "new", &err);
    assert_int_equal(chmod(folder, 0700), 0);
    assert_int_equal(status, CSN_E_IO);
    assert_int_equal(err.os_error, EACCES);
    assert_non_null(strstr(err.text, folder));
    assert_int_equal(entries(false), 0);
}

static void a_file_in_the_current_folder(void **state) {
    (void)state;
    int before = open(".", O_RDONLY | O_DIRECTORY);
    assert_true(before >= 0);
    assert_int_equal(chdir(folder), 0);
    csn_status status = save("f", "new", NULL);
    assert_int_equal(fchdir(before), 0);
    close(before);
    assert_int_equal(status, CSN_OK);
    check_content("f", "new");
    assert_int_equal(entries(false), 1);
}

static void names_as_long_as_they_may_be(void **state) {
    (void)state;
    char name[256];
    memset(name, 'n', 255);
    name[255] = 0;
    assert_int_equal(save(at(name), "new", NULL), CSN_OK);
    check_content(name, "new");
    assert_int_equal(save(at(name), "newer", NULL), CSN_OK);
    check_content(name, "newer");

    struct csn_error err = CSN_ERROR_INIT;
    memset(path, 'x', sizeof path - 1);
    path[sizeof path - 1] = 0;
    path[0] = '/';
    assert_int_equal(save(path, "new", &err), CSN_E_IO);
    assert_int_equal(err.os_error, ENAMETOOLONG);
    assert_non_null(strstr(err.text, strerror(ENAMETOOLONG))); /* "File name too long", or "Filename ..." with musl */
}

static void leftovers_are_stepped_over(void **state) {
    (void)state;
    char name[64];
    snprintf(name, sizeof name, "f.tmp-%ld-0", (long)getpid());
    put(name, "somebody's", 0600);
    assert_int_equal(save(at("f"), "new", NULL), CSN_OK);
    check_content("f", "new");
    check_content(name, "somebody's");
    assert_int_equal(entries(false), 2);
}

/* As on a full disk: part of the write succeeds, then the system refuses. */
static void no_space(void **state) {
    (void)state;
    put("f", "old", 0600);
    struct csni_file_output out;
    struct csn_error err = CSN_ERROR_INIT;
    assert_int_equal(csni_file_output_open(&out, at("f"), NULL, &err), CSN_OK);
    static uint8_t bytes[20000];
    struct rlimit old, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = old;
    small.rlim_cur = 8192;
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    csn_status status = csni_file_output_write(&out, 0, bytes, sizeof bytes, &err);
    csn_status again = csni_file_output_write(&out, 100000, bytes, 1, NULL);
    setrlimit(RLIMIT_FSIZE, &old);
    signal(SIGXFSZ, handler);
    assert_int_equal(status, CSN_E_IO);
    assert_int_equal(again, CSN_E_IO);
    assert_int_equal(err.os_error, EFBIG);
    char text[300];
    snprintf(text, sizeof text, "write to %s/f: File too large", folder);
    assert_string_equal(err.text, text);
    assert_int_equal(csni_file_output_write(&out, UINT64_MAX - 1, bytes, 4, &err), CSN_E_IO);
    assert_int_equal(err.os_error, EFBIG);
    assert_int_equal(csni_file_output_write(&out, INT64_MAX, bytes, 1, &err), CSN_E_IO);
    csni_file_output_abort(&out);
    check_content("f", "old");
    assert_int_equal(entries(false), 1);
}

static void failing_commit(void **state) {
    (void)state;
    struct test_allocator t;
    test_allocator_init(&t);
    struct csni_file_output out;
    struct csn_error err = CSN_ERROR_INIT;
    assert_int_equal(csni_file_output_open(&out, at("f"), &t.base, &err), CSN_OK);
    assert_int_equal(mkdir(at("f"), 0700), 0); /* comes in between */
    assert_int_equal(csni_file_output_commit(&out, &err), CSN_E_IO);
    assert_int_equal(err.os_error, EISDIR);
    assert_int_equal(out.fd, -1);
    csni_file_output_abort(&out);
    test_allocator_check_empty(&t);
    assert_int_equal(rmdir(at("f")), 0);
    assert_int_equal(entries(false), 0);
}

static void killed_half_way(void **state) {
    (void)state;
    put("f", "old", 0600);
    pid_t child = fork();
    if (child == 0) {
        struct csni_file_output out;
        if (csni_file_output_open(&out, at("f"), NULL, NULL) == CSN_OK)
            csni_file_output_write(&out, 0, "half", 4, NULL);
        raise(SIGKILL);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    check_content("f", "old");
    assert_int_equal(entries(false), 2); /* and what was begun */
    assert_int_equal(save(at("f"), "new", NULL), CSN_OK);
    check_content("f", "new");
}

struct part {
    struct csni_file_output *out;
    uint64_t offset;
    csn_status status;
};

static void *write_part(void *argument) {
    struct part *part = argument;
    uint8_t bytes[1000];
    memset(bytes, 'a' + (int)(part->offset / 100000), sizeof bytes);
    for (uint64_t off = 0; off < 100000 && part->status == CSN_OK; off += sizeof bytes)
        part->status = csni_file_output_write(part->out, part->offset + off, bytes, sizeof bytes, NULL);
    return NULL;
}

static void several_threads_write(void **state) {
    (void)state;
    struct csni_file_output out;
    assert_int_equal(csni_file_output_open(&out, at("f"), NULL, NULL), CSN_OK);
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    struct part parts[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        parts[i] = (struct part){ &out, i * 100000u, CSN_OK };
        assert_int_equal(pthread_create(&threads[i], NULL, write_part, &parts[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(parts[i].status, CSN_OK);
    }
    assert_int_equal(out.size, THREADS * 100000);
    assert_int_equal(csni_file_output_commit(&out, NULL), CSN_OK);
    FILE *f = fopen(at("f"), "rb");
    assert_non_null(f);
    for (unsigned i = 0; i < THREADS * 100000; i++) assert_int_equal(getc(f), 'a' + (int)(i / 100000));
    assert_int_equal(getc(f), EOF);
    fclose(f);
}

static csn_status save_with(void *context, const struct csn_allocator *alloc) {
    struct csni_file_output out;
    CSNI_TRY(csni_file_output_open(&out, context, alloc, NULL));
    return csni_file_output_commit(&out, NULL);
}

static void out_of_memory(void **state) {
    (void)state;
    put("f", "old", 0600);
    assert_int_equal(symlink("f", at("link")), 0);
    /* The folder's name for syncing is the one block that may be missing: three others must be there. */
    for (uint64_t nth = 1; nth <= 3; nth++) {
        struct test_allocator t;
        test_allocator_init(&t);
        test_allocator_fail(&t, nth, 0);
        assert_int_equal(save_with(path, &t.base), CSN_E_MEMORY);
        test_allocator_check_empty(&t);
        check_content("f", "old");
        assert_int_equal(entries(false), 2);
        at("link");
    }
    struct test_allocator t;
    test_allocator_init(&t);
    test_allocator_fail(&t, 4, 1);
    assert_int_equal(save_with(path, &t.base), CSN_OK);
    test_allocator_check_empty(&t);
    check_content("f", "");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, make_folder, remove_folder)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(new_file),
        TEST(nothing_shows_before_commit),
        TEST(abort_keeps_the_old_file),
        TEST(mode_of_the_replaced_file_is_kept),
        TEST(links_stay),
        TEST(targets_that_are_no_files),
        TEST(protected_files_and_folders),
        TEST(a_file_in_the_current_folder),
        TEST(names_as_long_as_they_may_be),
        TEST(leftovers_are_stepped_over),
        TEST(no_space),
        TEST(failing_commit),
        TEST(killed_half_way),
        TEST(several_threads_write),
        TEST(out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
