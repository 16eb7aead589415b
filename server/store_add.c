/* Adding files to a store. Each is synced before it counts, so most of the time is waiting for the disk: many wait together. */
#define _GNU_SOURCE
#include "store_add.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "artifact_line.h"
#include "base/thread_start.h"
#include "store/archive_intake.h"
#include "store/file_sync.h"

enum { WHY_SIZE = 512, AT_ONCE = 16, DEEPEST = 64, PATH_SIZE = 4096 };

struct added_file {
    char *path;
    bool is_named;           /* on the command line, not found in a folder */
    bool is_done;
    struct text answer;      /* for standard output */
    struct text complaint;   /* for standard error */
};

struct adding {
    struct store_add *add;
    struct added_file *files;
    size_t count, cap;
    bool no_memory;
    pthread_mutex_t lock;    /* guards the following, and the counts of `add` while threads run */
    size_t next, shown;
};

/* ---- gathering ---- */

/* NULL: no memory. */
static struct added_file *new_file(struct adding *all, const char *path, bool is_named) {
    if (all->count == all->cap) {
        size_t cap = all->cap ? 2 * all->cap : 64;
        struct added_file *files = realloc(all->files, cap * sizeof(*files));
        if (!files) {
            all->no_memory = true;
            return NULL;
        }
        all->files = files;
        all->cap = cap;
    }
    struct added_file *file = &all->files[all->count];
    *file = (struct added_file){ .path = strdup(path), .is_named = is_named };
    all->no_memory |= !file->path;
    all->count += file->path != NULL;
    return file->path ? file : NULL;
}

static void put_complaint(struct added_file *file, const char *why) {
    text_put(&file->complaint, "callsign: ");
    text_safe(&file->complaint, *file->path ? file->path : "''");
    text_put(&file->complaint, ": ");
    text_safe(&file->complaint, why);
    text_char(&file->complaint, '\n');
}

static void complain(struct store_add *add, struct added_file *file, const char *why) {
    put_complaint(file, why);
    add->failed = true;
}

/* A path that cannot be read: what is said about it has its place among the files. */
static void gather_refused(struct adding *all, const char *path, const char *why) {
    struct added_file *file = new_file(all, path, false);
    if (!file) return;
    file->is_done = true;
    complain(all->add, file, why);
}

static void gather_failure(struct adding *all, const char *path, int error) { gather_refused(all, path, strerror(error)); }

static void gather(struct adding *all, const char *path, bool is_named, int depth);

static void gather_folder(struct adding *all, const char *path, int depth) {
    DIR *folder = opendir(path);
    if (!folder) {
        gather_failure(all, path, errno);
        return;
    }
    for (struct dirent *entry; (entry = readdir(folder));) {
        char inner[PATH_SIZE];
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name) < (int)sizeof(inner)) gather(all, inner, false, depth + 1);
    }
    closedir(folder);
}

/* Symbolic links in folders are not followed. */
static void gather(struct adding *all, const char *path, bool is_named, int depth) {
    struct stat st;
    if ((is_named ? stat(path, &st) : lstat(path, &st)) < 0) gather_failure(all, path, errno);
    else if (S_ISDIR(st.st_mode) && depth < DEEPEST) gather_folder(all, path, depth);
    else if (S_ISREG(st.st_mode)) new_file(all, path, is_named);
    else if (is_named) gather_refused(all, path, "is not a regular file");
}

/* ---- one file ---- */

struct one_file {
    struct adding *all;
    struct text answer;
    uint64_t stored;
};

static void note_added(void *context, const char *name, enum store_status status, const struct artifact *artifact,
                       const char *why) {
    struct one_file *one = context;
    const struct store_add *add = one->all->add;
    (void)why, (void)name;
    if (status != STORE_OK) return;
    one->stored++;
    if (!add->is_quiet) artifact_line(&one->answer, artifact, add->is_json);
}

static int copy_into(int from, const struct incoming *to) {
    char portion[1 << 16];
    ssize_t got;
    while ((got = read(from, portion, sizeof(portion))) > 0)
        if (write_all(to->fd, portion, (size_t)got) < 0) return -1;
    return got < 0 ? -1 : 0;
}

static enum store_status take_file(struct one_file *one, const char *path, char *why) {
    struct symbol_store *store = one->all->add->opened->store;
    struct incoming incoming;
    const char *last = strrchr(path, '/');
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || incoming_create(store, &incoming, why, WHY_SIZE) < 0) {
        if (!*why) snprintf(why, WHY_SIZE, "%s", strerror(errno));
        if (fd >= 0) close(fd);
        return STORE_FAILED;
    }
    enum store_status status = STORE_FAILED;
    if (copy_into(fd, &incoming) < 0) {
        snprintf(why, WHY_SIZE, "%s", strerror(errno));
        incoming_discard(&incoming);
    } else {
        status = store_take_file(store, &incoming, last ? last + 1 : path, "add", note_added, one, why, WHY_SIZE);
    }
    close(fd);
    return status;
}

/* Prints what is done and has nothing before it that is not. */
static void show_done(struct adding *all) {
    for (; all->shown < all->count && all->files[all->shown].is_done; all->shown++) {
        struct added_file *file = &all->files[all->shown];
        if (file->answer.size) fwrite(file->answer.ptr, 1, file->answer.size, stdout);
        if (file->complaint.size) fwrite(file->complaint.ptr, 1, file->complaint.size, stderr);
        text_free(&file->answer);
        text_free(&file->complaint);
    }
}

static void add_file(struct adding *all, struct added_file *file) {
    struct one_file one = { .all = all };
    char why[WHY_SIZE] = "";
    enum store_status status = take_file(&one, file->path, why);
    pthread_mutex_lock(&all->lock);
    file->answer = one.answer;
    all->add->stored += one.stored;
    all->add->rejected += status == STORE_REJECTED;
    bool is_partial = status == STORE_REJECTED && one.stored; /* a damaged archive */
    if (status == STORE_REJECTED && file->is_named && !is_partial) {
        put_complaint(file, why);
        all->add->is_explained = true;
    }
    if (is_partial || (status != STORE_REJECTED && status != STORE_OK)) complain(all->add, file, why);
    file->is_done = true;
    show_done(all);
    pthread_mutex_unlock(&all->lock);
}

static void *add_files(void *context) {
    struct adding *all = context;
    for (;;) {
        pthread_mutex_lock(&all->lock);
        while (all->next < all->count && all->files[all->next].is_done) all->next++;
        struct added_file *file = all->next < all->count ? &all->files[all->next++] : NULL;
        pthread_mutex_unlock(&all->lock);
        if (!file) return NULL;
        add_file(all, file);
    }
}

/* ---- all ---- */

/* A bucket is asked for one file after the other. */
static void run_threads(struct adding *all) {
    pthread_t threads[AT_ONCE];
    size_t started = 0, wanted = all->add->opened->bucket ? 1 : all->count < AT_ONCE ? all->count : AT_ONCE;
    while (started + 1 < wanted && thread_start(&threads[started], add_files, all)) started++;
    add_files(all);
    while (started) pthread_join(threads[--started], NULL);
    show_done(all);
}

void store_add_paths(struct store_add *add, char **paths, int count) {
    struct adding all = { .add = add, .lock = PTHREAD_MUTEX_INITIALIZER };
    for (int i = 0; i < count; i++) gather(&all, paths[i], true, 0);
    run_threads(&all);
    if (all.no_memory) {
        fprintf(stderr, "callsign: store add: no memory for the names of all files\n");
        add->failed = true;
    }
    for (size_t i = 0; i < all.count; i++) free(all.files[i].path);
    free(all.files);
    pthread_mutex_destroy(&all.lock);
}
