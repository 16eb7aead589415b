/* The libraries of a JVM's hs_err file, which stand after the frames that need them. */
#define _GNU_SOURCE
#include "stack/jvm_libraries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINES_MAX = 1 << 20 }; /* of a file that is no hs_err file after all */

static FILE *open_again(int fd) {
    char path[64];
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) return NULL;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return fopen(path, "re");
}

static bool begins_with(const char *line, const char *text) { return strncmp(line, text, strlen(text)) == 0; }

/* The lines up to one that is no mapping. */
static bool read_list(struct stack_modules *modules, FILE *file, char **line, size_t *capacity) {
    ssize_t len;
    while ((len = getline(line, capacity, file)) > 0) {
        struct csn_str text = { *line, (size_t)len };
        while (text.len && (text.ptr[text.len - 1] == '\n' || text.ptr[text.len - 1] == '\r')) text.len--;
        if (!stack_modules_add_maps_line(modules, text)) break;
    }
    return !modules->no_memory;
}

static bool read_ahead(struct stack_modules *modules, FILE *file) {
    static const char head[] = "# A fatal error has been detected by the Java Runtime Environment";
    char *line = NULL;
    size_t capacity = 0;
    bool is_report = false, good = true;
    for (unsigned count = 0; good && count < LINES_MAX && getline(&line, &capacity, file) > 0; count++) {
        if (begins_with(line, head)) is_report = true;
        else if (!is_report && line[0] != '#') break;
        else if (begins_with(line, "Dynamic libraries:")) good = read_list(modules, file, &line, &capacity);
    }
    free(line);
    return good;
}

bool jvm_libraries_read(struct stack_modules *modules, int fd, struct csn_str first) {
    if (!first.len || first.ptr[0] != '#') return true;
    FILE *file = open_again(fd);
    if (!file) return true;
    bool good = read_ahead(modules, file);
    fclose(file);
    return good;
}
