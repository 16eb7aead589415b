/* callsign store: add, list, prune, fsck. */
#define _GNU_SOURCE
#include "store_command.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <callsign/inspect.h>

#include "artifact_line.h"
#include "base/text.h"
#include "store/bucket.h"
#include "store/file_sync.h"
#include "store/open_store.h"
#include "store_add.h"

enum { WHY_SIZE = 512, WORKED = 0, PARTIAL = 1, FAILED = 2 };

struct store_run {
    struct opened_store opened;
    bool is_json, is_quiet, is_dry;
    bool has_max_bytes, has_max_age;
    uint64_t max_bytes, max_age_s;
    const char *keep_file;
    uint64_t stored, damaged;
    bool failed;
};

/* A line of text, its parts with control characters made visible. */
static void put_parts(FILE *to, const char *const *parts) {
    struct text line = { 0 };
    for (; *parts; parts++) text_safe(&line, *parts);
    text_char(&line, '\n');
    fwrite(line.ptr, 1, line.size, to);
    text_free(&line);
}
#define PUT_PARTS(to, ...) put_parts((to), (const char *const[]){ __VA_ARGS__, NULL })

static void complain(const char *path, const char *why) { PUT_PARTS(stderr, "callsign: ", *path ? path : "''", ": ", why); }

/* ---- add ---- */

static int add_paths(struct store_run *run, char **paths, int count) {
    struct store_add add = { .opened = &run->opened, .is_json = run->is_json, .is_quiet = run->is_quiet };
    if (count == 0) {
        fprintf(stderr, "callsign: store add: no file given\n");
        return FAILED;
    }
    store_add_paths(&add, paths, count);
    if (add.failed) return FAILED;
    if (!add.stored && !add.is_explained) fprintf(stderr, "callsign: store add: nothing was stored\n");
    return add.stored ? WORKED : PARTIAL;
}

/* ---- list ---- */

static void print_artifact(const struct store_run *run, const struct artifact *artifact) {
    struct text line = { 0 };
    artifact_line(&line, artifact, run->is_json);
    fwrite(line.ptr, 1, line.size, stdout);
    text_free(&line);
}

static bool list_artifact(void *context, const struct artifact *artifact) {
    struct store_run *run = context;
    print_artifact(run, artifact);
    return !ferror(stdout);
}

/* A bucket is listed by its keys: they have the ids. */
static bool list_key(void *context, const char *path, uint64_t bytes) {
    struct artifact artifact = { .bytes = bytes, .source = "s3" };
    struct tree_query query;
    size_t size = strlen(path);
    if (size >= sizeof(artifact.path) || !tree_query_parse(path, &query)) return true;
    memcpy(artifact.path, path, size + 1);
    memcpy(artifact.build_id, query.build_id, sizeof(artifact.build_id));
    memcpy(artifact.debug_id, query.debug_id, sizeof(artifact.debug_id));
    memcpy(artifact.name, query.name, sizeof(artifact.name));
    artifact.kind = query.kinds & ARTIFACT_ANY;
    return list_artifact(context, &artifact);
}

static int list_store(struct store_run *run, char **paths, int count) {
    char why[WHY_SIZE] = "";
    (void)paths, (void)count;
    int result = run->opened.bucket ? bucket_list(run->opened.bucket, "", list_key, run, why, sizeof(why)) != STORE_OK
                                    : symbol_store_scan(run->opened.store, NULL, why, sizeof(why)) < 0 ||
                                          catalogue_walk(symbol_store_catalogue(run->opened.store), list_artifact, run) < 0;
    if (!result) return WORKED;
    if (*why || !ferror(stdout)) complain("store list", *why ? why : "the catalogue cannot be read");
    return FAILED;
}

/* ---- prune ---- */

struct prunable { char path[STORE_PATH_SIZE]; uint64_t bytes; int64_t modified_ns; bool is_kept; };
struct prune {
    struct prunable *items;
    size_t count, cap;
    char **keep;
    size_t keep_count;
    uint64_t bytes;
};

static bool is_on_list(const struct prune *prune, const struct artifact *a) {
    for (size_t i = 0; i < prune->keep_count; i++)
        if (strcasecmp(prune->keep[i], a->build_id) == 0 || strcasecmp(prune->keep[i], a->debug_id) == 0 ||
            strcmp(prune->keep[i], a->name) == 0 || strcmp(prune->keep[i], a->path) == 0)
            return true;
    return false;
}

static bool note_prunable(void *context, const struct artifact *a) {
    struct prune *prune = context;
    if (prune->count == prune->cap) {
        size_t cap = prune->cap ? prune->cap * 2 : 1024;
        struct prunable *grown = reallocarray(prune->items, cap, sizeof(*grown));
        if (!grown) return false;
        prune->items = grown;
        prune->cap = cap;
    }
    struct prunable *item = &prune->items[prune->count++];
    memcpy(item->path, a->path, sizeof(item->path));
    item->bytes = a->bytes;
    item->modified_ns = a->modified_ns;
    item->is_kept = is_on_list(prune, a);
    prune->bytes += a->bytes;
    return true;
}

static int compare_ages(const void *a, const void *b) {
    int64_t x = ((const struct prunable *)a)->modified_ns, y = ((const struct prunable *)b)->modified_ns;
    return x < y ? -1 : x > y;
}

static bool keep_line(struct prune *prune, const char *line) {
    char **grown = reallocarray(prune->keep, prune->keep_count + 1, sizeof(*grown));
    if (!grown) return false;
    prune->keep = grown;
    if (!(prune->keep[prune->keep_count] = strdup(line))) return false;
    prune->keep_count++;
    return true;
}

/* 0, or an errno: without the whole list, files would go that have to stay. */
static int read_keep_list(struct prune *prune, const char *path) {
    char *line = NULL;
    size_t cap = 0;
    ssize_t size;
    bool kept = true;
    FILE *file = path ? fopen(path, "re") : NULL;
    if (path && !file) return errno;
    errno = 0;
    while (file && kept && (size = getline(&line, &cap, file)) >= 0) {
        while (size && (line[size - 1] == '\n' || line[size - 1] == ' ' || line[size - 1] == '\r')) line[--size] = 0;
        kept = size == 0 || line[0] == '#' || keep_line(prune, line);
    }
    int error = !kept ? ENOMEM : file && !feof(file) ? (errno ? errno : EIO) : 0;
    free(line);
    if (file) fclose(file);
    return error;
}

static void free_prune(struct prune *prune) {
    for (size_t i = 0; i < prune->keep_count; i++) free(prune->keep[i]);
    free(prune->keep);
    free(prune->items);
}

static void remove_file(struct store_run *run, const char *relative) {
    char path[2 * STORE_PATH_SIZE], meta[2 * STORE_PATH_SIZE + 8];
    snprintf(path, sizeof(path), "%s/%s", symbol_store_dir(run->opened.store), relative);
    snprintf(meta, sizeof(meta), "%s.meta", path);
    if (unlink(path) < 0 && errno != ENOENT) {
        complain(path, strerror(errno));
        run->failed = true;
        return;
    }
    unlink(meta);
    symbol_store_forget(run->opened.store, relative);
}

static void print_pruned(const struct store_run *run, const struct prunable *item) {
    struct text line = { 0 };
    if (!run->is_json) {
        PUT_PARTS(stdout, item->path);
        return;
    }
    text_char(&line, '{');
    text_json_member(&line, "path", item->path);
    text_format(&line, ",\"bytes\":%llu}\n", (unsigned long long)item->bytes);
    fwrite(line.ptr, 1, line.size, stdout);
    text_free(&line);
}

static void prune_items(struct store_run *run, struct prune *prune) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    int64_t oldest = run->has_max_age ? ((int64_t)now.tv_sec - (int64_t)run->max_age_s) * 1000000000 + now.tv_nsec : INT64_MIN;
    qsort(prune->items, prune->count, sizeof(*prune->items), compare_ages);
    for (size_t i = 0; i < prune->count; i++) {
        const struct prunable *item = &prune->items[i];
        bool is_old = item->modified_ns < oldest, is_too_much = run->has_max_bytes && prune->bytes > run->max_bytes;
        if (item->is_kept || (!is_old && !is_too_much)) continue;
        if (!run->is_dry) remove_file(run, item->path);
        prune->bytes -= item->bytes;
        run->stored++;
        if (!run->is_quiet) print_pruned(run, item);
    }
}

static int prune_store(struct store_run *run, char **paths, int count) {
    struct prune prune = { .items = NULL };
    char why[WHY_SIZE] = "";
    bool is_listed = false;
    (void)paths, (void)count;
    if (run->opened.bucket || (!run->has_max_bytes && !run->has_max_age)) {
        fprintf(stderr, run->opened.bucket ? "callsign: store prune: a bucket is pruned by its own lifecycle rules\n"
                                           : "callsign: store prune: --max-bytes or --max-age is needed\n");
        return FAILED;
    }
    int error = read_keep_list(&prune, run->keep_file);
    if (error) complain(run->keep_file, strerror(error));
    else if (symbol_store_scan(run->opened.store, NULL, why, sizeof(why)) < 0 ||
        catalogue_walk(symbol_store_catalogue(run->opened.store), note_prunable, &prune) < 0)
        complain("store prune", *why ? why : "the catalogue cannot be read");
    else is_listed = true;
    if (is_listed) prune_items(run, &prune);
    free_prune(&prune);
    return run->failed || !is_listed ? FAILED : WORKED;
}

/* ---- fsck ---- */

struct fsck {
    struct store_run *run;
    char why[WHY_SIZE];
};

static void name_damaged(struct store_run *run, const char *path, const char *why) {
    run->damaged++;
    if (run->is_json) {
        struct text line = { 0 };
        text_char(&line, '{');
        text_json_member(&line, "path", path);
        text_json_member(&line, "error", why);
        text_put(&line, "}\n");
        fwrite(line.ptr, 1, line.size, stdout);
        text_free(&line);
    } else {
        PUT_PARTS(stdout, path, ": ", why);
    }
}

struct first_problem {
    char *why;
    size_t why_size;
    bool is_one;
};

static bool note_problem(void *context, const struct csn_error *err) {
    struct first_problem *problem = context;
    problem->is_one = true;
    snprintf(problem->why, problem->why_size, "%s", csn_error_text(err));
    return false;
}

static bool index_is_sound(const char *path, char *why, size_t why_size) {
    struct csn_index *index;
    struct csn_error err = CSN_ERROR_INIT;
    struct first_problem problem = { .why = why, .why_size = why_size };
    csn_status status = csn_index_open_file(path, NULL, &index, &err);
    if (status == CSN_OK) {
        struct csn_verify_counts result;
        status = csn_index_verify(index, note_problem, &problem, &result, &err);
        csn_index_close(index);
    }
    if (status < 0) snprintf(why, why_size, "%s", csn_error_text(&err));
    return status >= 0 && !problem.is_one;
}

/* Whether the file still is what the catalogue says. */
static bool check_artifact(void *context, const struct artifact *known) {
    struct fsck *fsck = context;
    struct artifact found;
    char path[2 * STORE_PATH_SIZE], why[WHY_SIZE] = "";
    snprintf(path, sizeof(path), "%s/%s", symbol_store_dir(fsck->run->opened.store), known->path);
    if (artifact_identify(path, known->name, &found, why, sizeof(why)) != 0) name_damaged(fsck->run, known->path, why);
    else if (found.bytes != known->bytes) {
        snprintf(why, sizeof(why), "changed since it was stored: %llu bytes instead of %llu", (unsigned long long)found.bytes,
                 (unsigned long long)known->bytes);
        name_damaged(fsck->run, known->path, why);
    } else if (strcmp(found.htlhash, known->htlhash) != 0) {
        snprintf(why, sizeof(why), "changed since it was stored: htlhash %s instead of %s", found.htlhash, known->htlhash);
        name_damaged(fsck->run, known->path, why);
    } else if (strcmp(found.build_id, known->build_id) != 0)
        name_damaged(fsck->run, known->path, "it has another build id than the catalogue says");
    else if (known->kind & ARTIFACT_GSYM && !index_is_sound(path, why, sizeof(why))) name_damaged(fsck->run, known->path, why);
    return true;
}

/* A file that the catalogue does not have, at a place where the image of an id should be. */
static void note_rejected(void *run, const char *path, const char *why) {
    struct tree_query query;
    if (tree_query_parse(path, &query) && !query.is_meta) name_damaged(run, path, why);
}

static int fsck_store(struct store_run *run, char **paths, int count) {
    struct fsck fsck = { .run = run };
    struct scan_counts counts;
    (void)paths, (void)count;
    /* First against what is known, then what is not known yet: what was named stays as the catalogue has it, to be named again. */
    if (catalogue_walk(symbol_store_catalogue(run->opened.store), check_artifact, &fsck) < 0 ||
        symbol_store_scan_new(run->opened.store, note_rejected, run, &counts, fsck.why, sizeof(fsck.why)) < 0) {
        complain("store fsck", *fsck.why ? fsck.why : "the catalogue cannot be read");
        return FAILED;
    }
    if (counts.added && !run->is_quiet)
        fprintf(stderr, "callsign: store fsck: %llu files were not in the catalogue\n",
                (unsigned long long)counts.added);
    return run->damaged ? PARTIAL : WORKED;
}

/* ---- the command ---- */

static const struct verb {
    const char *name;
    int (*run)(struct store_run *run, char **paths, int count);
    bool takes_paths;
} verbs[] = {
    { "add", add_paths, true }, { "list", list_store, false }, { "prune", prune_store, false }, { "fsck", fsck_store, false }
};

static void read_flag(struct store_run *run, const char *flag) {
    if (strcmp(flag, "json") == 0) run->is_json = true;
    else if (strcmp(flag, "quiet") == 0) run->is_quiet = true;
    else if (strcmp(flag, "dry-run") == 0) run->is_dry = true;
    else if (strncmp(flag, "max-bytes:", 10) == 0) run->has_max_bytes = true, run->max_bytes = strtoull(flag + 10, NULL, 10);
    else if (strncmp(flag, "max-age:", 8) == 0) run->has_max_age = true, run->max_age_s = strtoull(flag + 8, NULL, 10);
    else if (strncmp(flag, "keep:", 5) == 0) run->keep_file = flag + 5;
}

/* What was printed is complete, or it is said why not. */
static int end_output(int code) {
    int error = fflush(stdout) == 0 ? 0 : errno;
    if (!error && !ferror(stdout)) return code;
    fprintf(stderr, "callsign: standard output: %s\n", error ? strerror(error) : "it cannot be written");
    return FAILED;
}

int store_command(struct settings *settings, int argc, char **argv, int first) {
    struct store_run run = { .is_json = false };
    char why[WHY_SIZE] = "";
    const struct verb *verb = NULL;
    struct stat st;
    for (int i = 2; i < first; i++) read_flag(&run, argv[i]);
    const char *name = first + 1 < argc ? argv[first + 1] : "";
    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
        if (strcmp(verbs[i].name, name) == 0) verb = &verbs[i];
    if (!verb) {
        PUT_PARTS(stderr, "callsign: store: '", name, "' is not add, list, prune or fsck");
        return FAILED;
    }
    if (!verb->takes_paths && first + 2 < argc) { /* prune of one path would remove others */
        PUT_PARTS(stderr, "callsign: store ", name, ": takes no PATH, but '", argv[first + 2], "' is given");
        return FAILED;
    }
    if (strcmp(name, "add") != 0 && strncmp(settings->store, "s3://", 5) != 0 &&
        (stat(settings->store, &st) < 0 || !S_ISDIR(st.st_mode))) {
        complain(settings->store, "there is no such store");
        return FAILED;
    }
    if (open_store_of_settings(settings, &run.opened, why, sizeof(why)) < 0) {
        PUT_PARTS(stderr, "callsign: store ", name, ": ", why);
        return FAILED;
    }
    int code = verb->run(&run, argv + first + 2, argc - first - 2);
    close_store(&run.opened);
    return end_output(code);
}
