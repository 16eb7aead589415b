/* atos of macOS: addresses of a running image, one line each. */
#define _GNU_SOURCE
#include "stand_ins/atos.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stand_ins/base/growth.h"
#include "stand_ins/llvm/llvm_answer.h"

struct atos {
    const char *program, *path, *arch, *input, *delimiter;
    uint64_t load, slide;
    bool has_load, has_slide, is_offset, inlines, full_path;
    struct llvm_module *module;
    struct llvm_request request;
    char *module_name;
    uint64_t text;           /* address of the image in its file */
};

static bool read_hex(const char *text, uint64_t *out) {
    char *end;
    *out = strtoull(text, &end, 16);
    return end != text && !*end;
}

static const char *base_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* From the address of a running image to that in the file. */
static uint64_t image_address(const struct atos *a, uint64_t addr) {
    if (a->is_offset) return addr + a->text;
    if (a->has_slide) return addr - a->slide;
    return a->has_load ? addr - a->load + a->text : addr;
}

static void put_frame(const struct atos *a, const struct llvm_frame *f, uint64_t addr) {
    printf("%s (in %s)", f->function, a->module_name);
    if (f->file && f->line) printf(" (%s:%u)", a->full_path ? f->file : base_of(f->file), f->line);
    else printf(" + %" PRIu64, f->has_start_address ? addr - f->start_address : 0);
    fputs(a->delimiter, stdout);
}

static void answer(struct atos *a, const char *text) {
    uint64_t given;
    if (!read_hex(text, &given)) {
        printf("%s%s", text, a->delimiter);
        return;
    }
    const uint64_t addr = image_address(a, given);
    struct llvm_frames frames = llvm_find_inlined(a->module, &a->request, addr);
    const bool is_known = frames.items[0].function != NULL;
    if (is_known) put_frame(a, &frames.items[0], addr);
    else printf("%s%s", text, a->delimiter);
    for (size_t i = 1; a->inlines && i < frames.count; i++)
        if (frames.items[i].function) put_frame(a, &frames.items[i], addr);
    if (a->inlines) fputs(a->delimiter, stdout);
    llvm_frames_free(&frames);
}

/* Addresses of a file or of standard input, between blanks; each line is answered when it was read. */
static int answer_lines(struct atos *a) {
    FILE *input = a->input ? fopen(a->input, "r") : stdin;
    char *line = NULL;
    size_t capacity = 0;
    if (!input) {
        fprintf(stderr, "%s: cannot open %s\n", a->program, a->input);
        return 1;
    }
    while (input_line(&line, &capacity, input) > 0) {
        char *rest = line;
        for (char *word; (word = strsep(&rest, " \t\r\n"));)
            if (*word) answer(a, word);
        fflush(stdout);
    }
    free(line);
    if (a->input) fclose(input);
    return 0;
}

static int refuse_usage(const struct atos *a) {
    fprintf(stderr, "Usage: %s [-p pid] [-o executable/dSYM] [-f file] [-s slide | -l loadAddress] [-arch architecture] [-offset] [-i] [-d delimiter] "
                    "[-fullPath] [address ...]\n", a->program);
    return 1;
}

/* Options have one dash or two. The index of the first address; -1: they make no sense. */
static int read_options(struct atos *a, int argc, char **argv) {
    int at = 1;
    for (; at < argc && argv[at][0] == '-' && argv[at][1]; at++) {
        const char *name = argv[at] + 1 + (argv[at][1] == '-'), *value = at + 1 < argc ? argv[at + 1] : NULL;
        bool takes = true;
        if (strcmp(name, "i") == 0 || strcmp(name, "inlineFrames") == 0) a->inlines = true, takes = false;
        else if (strcmp(name, "fullPath") == 0) a->full_path = true, takes = false;
        else if (strcmp(name, "offset") == 0) a->is_offset = true, takes = false;
        else if (!value) return -1;
        else if (strcmp(name, "o") == 0) a->path = value;
        else if (strcmp(name, "arch") == 0) a->arch = value;
        else if (strcmp(name, "f") == 0) a->input = value;
        else if (strcmp(name, "d") == 0 || strcmp(name, "delimiter") == 0) a->delimiter = strcmp(value, "\\n") == 0 ? "\n" : value;
        else if (strcmp(name, "l") == 0) a->has_load = read_hex(value, &a->load);
        else if (strcmp(name, "s") == 0) a->has_slide = read_hex(value, &a->slide);
        else return -1;
        at += takes;
    }
    return at;
}

/* The file in a dSYM bundle; else the path itself. */
static char *file_of(const char *path) {
    size_t size = strlen(path);
    while (size && path[size - 1] == '/') size--;
    if (size < 5 || strncmp(path + size - 5, ".dSYM", 5) != 0) return copy_text(path, strlen(path));
    char *bundle = copy_text(path, size);
    const char *name = base_of(bundle);
    char *inner = formatted_text("%s/Contents/Resources/DWARF/%.*s", bundle, (int)strlen(name) - 5, name);
    free(bundle);
    return inner;
}

static bool open_module(struct atos *a) {
    const struct llvm_module_options options = { .arch = a->arch };
    const char *message;
    char *path = file_of(a->path);
    a->module = llvm_module_open(path, path, &options, &message);
    if (!a->module) {
        fprintf(stderr, "%s: cannot load symbols for the file %s: %s\n", a->program, a->path, message);
        free(path);
        return false;
    }
    a->module_name = copy_text(base_of(path), strlen(base_of(path)));
    a->text = a->module->object.image_base;
    free(path);
    return true;
}

int atos_main(int argc, char **argv) {
    static struct atos a;
    a = (struct atos){ .program = argv[0],
                       .delimiter = "\n",
                       .request = { .names = LLVM_NAME_LINKAGE, .paths = LLVM_PATH_ABSOLUTE, .demangle = true } };
    int at = read_options(&a, argc, argv);
    if (at < 0 || !a.path) return refuse_usage(&a);
    if (!open_module(&a)) return 1;
    for (int i = at; i < argc; i++) answer(&a, argv[i]);
    return at == argc || a.input ? answer_lines(&a) : 0;
}
