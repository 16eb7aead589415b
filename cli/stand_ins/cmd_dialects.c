/* dialects: the programs that callsign stands in for, and links that start it as one of them. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "stand_ins/stand_ins.h"
#include "ui/cli_message.h"
#include "ui/out_buffer.h"

struct dialects_values {
    const char *install;
};

static const struct option_spec options[] = {
    { .name = "install", .kind = OPTION_TEXT, .offset = offsetof(struct dialects_values, install), .value_name = "DIR",
      .help = "make links with the names of the programs in DIR, which is\nmade where it is missing; put DIR first in PATH" },
};

/* The folder with all above it. */
static bool make_folder(const char *path) {
    char *copy = strdup(path);
    bool made = copy != NULL;
    for (char *slash = copy ? strchr(copy + 1, '/') : NULL; made && slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        made = mkdir(copy, 0777) == 0 || errno == EEXIST;
        *slash = '/';
    }
    struct stat st;
    made = made && (mkdir(path, 0777) == 0 || errno == EEXIST);
    if (made && stat(path, &st) == 0 && !S_ISDIR(st.st_mode)) {
        errno = ENOTDIR;
        made = false;
    }
    if (!made) cli_error(path, "cannot make the folder: %s", strerror(errno));
    free(copy);
    return made;
}

/* A link that leads elsewhere is replaced; a file of that name is left alone. */
static bool make_link(const char *folder, const char *name, const char *program) {
    char *path;
    struct stat st;
    if (asprintf(&path, "%s/%s", folder, name) < 0) {
        cli_error_memory("paths");
        return false;
    }
    bool is_there = lstat(path, &st) == 0;
    bool done = !is_there || S_ISLNK(st.st_mode);
    if (!done) cli_error(path, "is there and is no link");
    if (done && is_there) done = unlink(path) == 0;
    if (done && symlink(program, path) != 0) {
        cli_error(path, "cannot make the link: %s", strerror(errno));
        done = false;
    }
    free(path);
    return done;
}

static bool install_links(const char *folder) {
    char program[4096];
    ssize_t size = readlink("/proc/self/exe", program, sizeof program - 1);
    if (size <= 0) {
        cli_error(NULL, "cannot find the own program: %s", strerror(errno));
        return false;
    }
    program[size] = 0;
    if (!make_folder(folder)) return false;
    bool good = true;
    for (size_t i = 0; stand_in_at(i); i++) good &= make_link(folder, stand_in_at(i)->name, program);
    return good;
}

static enum exit_code run_dialects(const void *command_values, char **operands, int operand_count) {
    const struct dialects_values *values = command_values;
    (void)operands;
    (void)operand_count;
    if (values->install) return install_links(values->install) ? EXIT_WORKED : EXIT_FAILED;
    struct out_buffer out;
    out_init(&out, STDOUT_FILENO);
    for (size_t i = 0; stand_in_at(i); i++) {
        const struct stand_in *s = stand_in_at(i);
        size_t size = strlen(s->name);
        out_text(&out, s->name);
        out_spaces(&out, size < 18 ? 18 - size : 1);
        out_text(&out, s->summary);
        out_char(&out, '\n');
    }
    return out_finish_stdout(&out) ? EXIT_WORKED : EXIT_FAILED;
}

const struct command dialects_command = {
    .name = "dialects",
    .arguments = "",
    .summary = "other symbolizers' commands that callsign stands in for",
    .description =
        "Lists the programs that callsign stands in for. 'callsign NAME ...' takes their options and prints what they print;\n"
        "so does callsign itself when it is started by such a name, through a link. docs/stand-ins.md lists differences.\n",
    .example = "callsign dialects --install ~/.local/callsign && PATH=~/.local/callsign:$PATH perf report",
    .min_operands = 0,
    .max_operands = 0,
    .values_size = sizeof(struct dialects_values),
    .options = options,
    .option_count = sizeof(options) / sizeof(options[0]),
    .run = run_dialects,
};
