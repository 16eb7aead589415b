/* Runs a fuzz target without libFuzzer: once over each file given, and over each file of each folder given. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

static size_t run_count;

static int fail(const char *path) {
    fprintf(stderr, "%s: %s\n", path, strerror(errno));
    return 2;
}

static int run_file(const char *path, size_t size) {
    FILE *file = fopen(path, "rb");
    if (!file) return fail(path);
    /* Of exactly the input's size, so that a sanitizer sees a read past it. */
    uint8_t *bytes = malloc(size ? size : 1);
    int status = 0;
    if (!bytes || fread(bytes, 1, size, file) != size) {
        status = fail(path);
    } else {
        LLVMFuzzerTestOneInput(bytes, size);
        run_count++;
    }
    free(bytes);
    fclose(file);
    return status;
}

static int run_path(const char *path);

static int run_folder(const char *path) {
    struct dirent **entries;
    int count = scandir(path, &entries, NULL, alphasort);
    if (count < 0) return fail(path);
    int status = 0;
    for (int i = 0; i < count; i++) {
        char *child;
        if (entries[i]->d_name[0] != '.') {
            if (asprintf(&child, "%s/%s", path, entries[i]->d_name) < 0) abort();
            if (run_path(child)) status = 2;
            free(child);
        }
        free(entries[i]);
    }
    free(entries);
    return status;
}

static int run_path(const char *path) {
    struct stat info;
    if (stat(path, &info)) return fail(path);
    return S_ISDIR(info.st_mode) ? run_folder(path) : run_file(path, (size_t)info.st_size);
}

int main(int argc, char **argv) {
    int status = 0;
    for (int i = 1; i < argc; i++)
        if (run_path(argv[i])) status = 2;
    if (!run_count) {
        fprintf(stderr, "%s: no input was run\n", argv[0]);
        status = 2;
    }
    printf("%zu inputs\n", run_count);
    return status;
}
