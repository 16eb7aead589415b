/* What the name of an output leads to. */
#define _GNU_SOURCE
#include "ui/output_path.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ui/cli_message.h"

bool is_same_file(const char *a, const char *b) {
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

static char *directory_of(const char *path, const char **out_base) {
    const char *slash = strrchr(path, '/');
    *out_base = slash ? slash + 1 : path;
    return slash ? strndup(path, (size_t)(slash + 1 - path)) : strdup(".");
}

bool is_same_target(const char *a, const char *b) {
    const char *base_a, *base_b;
    char *directory_a = directory_of(a, &base_a), *directory_b = directory_of(b, &base_b);
    bool same = directory_a && directory_b && strcmp(base_a, base_b) == 0 && is_same_file(directory_a, directory_b);
    free(directory_a);
    free(directory_b);
    return same || is_same_file(a, b);
}

/* Where a symbolic link leads whose target is not there yet. */
static char *target_of_link(const char *path) {
    const char *base;
    char text[PATH_MAX], *joined, *directory = directory_of(path, &base);
    ssize_t size = directory ? readlink(path, text, sizeof(text) - 1) : -1;
    if (size >= 0) text[size] = 0;
    if (size < 0 || asprintf(&joined, "%s%s%s", text[0] == '/' ? "" : directory,
                             text[0] == '/' || base != path ? "" : "/", text) < 0)
        joined = NULL;
    free(directory);
    return joined;
}

/* A chain that leads nowhere has an end: where it goes round, realpath() has said so. */
char *output_target(const char *path) {
    struct stat st;
    char *found = realpath(path, NULL);
    if (found || errno != ENOENT) return found;
    found = strdup(path);
    while (found && lstat(found, &st) == 0 && S_ISLNK(st.st_mode)) {
        char *next = target_of_link(found);
        free(found);
        found = next;
    }
    return found;
}

bool output_is_file(const char *out) {
    if (strcmp(out, "-") != 0) return true;
    cli_error(NULL, "option '-o' needs a file, not standard output (write ./- for a file of that name)");
    return false;
}
