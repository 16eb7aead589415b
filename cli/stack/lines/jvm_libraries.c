/* The libraries of a JVM's hs_err file, which stand after the frames that need them. */
#define _GNU_SOURCE
#include "stack/lines/jvm_libraries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { IDLE_MS = 1000, LINES_MAX = 1 << 20 }; /* of a file that is no hs_err file after all */

static FILE *open_again(int fd) {
    char path[64];
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) return NULL;
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    return fopen(path, "re");
}

static bool begins_with(struct csn_str line, const char *text) {
    return line.len >= strlen(text) && memcmp(line.ptr, text, strlen(text)) == 0;
}

/* What has been read of a report, line by line. */
struct report_reader {
    struct stack_modules *modules;
    unsigned count;
    bool is_report, in_list, no_memory;
};

/* False: nothing that follows matters. */
static bool read_report_line(struct report_reader *r, struct csn_str line) {
    static const char head[] = "# A fatal error has been detected by the Java Runtime Environment";
    line = log_line_text(line);
    if (!r->count) line = without_byte_order_mark(line);
    if (r->in_list) {
        const bool is_mapping = stack_modules_add_maps_line(r->modules, line);
        r->no_memory = r->modules->no_memory;
        return is_mapping && !r->no_memory;
    }
    if (begins_with(line, head)) r->is_report = true;
    else if (!r->is_report && !begins_with(line, "#")) return false;
    else if (begins_with(line, "Dynamic libraries:")) r->in_list = true;
    return ++r->count < LINES_MAX;
}

/* ---- a file ---- */

static bool read_file_list(struct stack_modules *modules, FILE *file) {
    struct report_reader reader = { .modules = modules };
    char *line = NULL;
    size_t capacity = 0;
    ssize_t len;
    while ((len = getline(&line, &capacity, file)) > 0 && read_report_line(&reader, (struct csn_str){ line, (size_t)len }))
        continue;
    free(line);
    return !reader.no_memory;
}

/* ---- a pipe ---- */

/* The next whole line of a text. */
static bool take_line(struct csn_str *text, struct csn_str *line) {
    const char *end = memchr(text->ptr, '\n', text->len);
    if (!end) return false;
    *line = (struct csn_str){ text->ptr, (size_t)(end - text->ptr) + 1 };
    *text = (struct csn_str){ text->ptr + line->len, text->len - line->len };
    return true;
}

/* The text has the list, and the line after it; or is no report. */
static bool has_list(struct csn_str text) {
    static const char list[] = "\nDynamic libraries:\n",
                      head[] = "# A fatal error has been detected by the Java Runtime Environment";
    struct csn_str line, rest = text;
    for (int i = 0; i < 2; i++)
        if (!take_line(&rest, &line)) return false;
    if (!begins_with((struct csn_str){ line.ptr, line.len }, head)) return true;
    const char *found = memmem(text.ptr, text.len, list, sizeof(list) - 1);
    return found && memmem(found, text.len - (size_t)(found - text.ptr), "\n\n", 2);
}

static bool read_pipe_list(struct stack_modules *modules, struct line_input *input, struct csn_str *first) {
    struct report_reader reader = { .modules = modules };
    struct csn_str text, line;
    if (!line_input_ahead(input, JVM_REPORT_MAX, IDLE_MS, has_list, first, &text)) return false;
    while (take_line(&text, &line) && read_report_line(&reader, line)) continue;
    return !reader.no_memory;
}

bool jvm_libraries_read(struct stack_modules *modules, struct line_input *input, struct csn_str *line) {
    if (line_text(*line).len != 1 || line->ptr[0] != '#') return true;
    FILE *file = open_again(input->fd);
    const bool good = file ? read_file_list(modules, file) : read_pipe_list(modules, input, line);
    if (file) fclose(file);
    input->no_memory |= modules->no_memory;
    return good;
}
