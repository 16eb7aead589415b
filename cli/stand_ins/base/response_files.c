/* Reading response files. */
#define _GNU_SOURCE
#include "stand_ins/base/response_files.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FILES = 2000 };

static void *need(void *memory) {
    if (memory) return memory;
    fputs("out of memory\n", stderr);
    exit(1);
}

static void push_word(char ***words, int *count, char *word) {
    const size_t needed = (size_t)*count + 2;
    if (needed <= 2 || !(*count & (*count - 1))) *words = need(realloc(*words, 2 * needed * sizeof **words)); /* doubled */
    (*words)[(*count)++] = word;
    (*words)[*count] = NULL;
}

/* One word from `text` on, which does not begin with a blank. Quotes group, a backslash takes the next byte as it is.
 * `raw_in_single`: within single quotes a backslash is one. Returns where it ends. */
static const char *read_word(const char *text, bool raw_in_single, char *out) {
    char quote = 0;
    for (; *text && (quote || !isspace((unsigned char)*text)); text++) {
        if (*text == '\\' && !(raw_in_single && quote == '\'')) {
            if (!text[1]) break;
            *out++ = *++text;
        } else if (quote) {
            if (*text == quote) quote = 0;
            else *out++ = *text;
        } else if (*text == '\'' || *text == '"') {
            quote = *text;
        } else {
            *out++ = *text;
        }
    }
    *out = 0;
    return *text == '\\' ? text + 1 : text;
}

static void split(const char *text, bool raw_in_single, char ***words, int *count) {
    char *word = need(malloc(strlen(text) + 1));
    for (;;) {
        while (isspace((unsigned char)*text)) text++;
        if (!*text) break;
        text = read_word(text, raw_in_single, word);
        push_word(words, count, need(strdup(word)));
    }
    free(word);
}

void split_words(const char *text, char ***words, int *count) { split(text, false, words, count); }

/* The content of a file, with a NUL; NULL: it cannot be read. */
static char *read_text(const char *path) {
    FILE *file = fopen(path, "r");
    char *text = NULL;
    size_t size = 0, capacity = 0;
    if (!file) return NULL;
    for (;;) {
        if (capacity - size < 4096) text = need(realloc(text, capacity = 2 * capacity + 8192));
        size_t got = fread(text + size, 1, capacity - size - 1, file);
        size += got;
        if (!got) break;
    }
    fclose(file);
    text[size] = 0;
    return text;
}

static bool is_folder(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* The words live as long as the program: each list that was made points to the one before. */
static struct kept_words {
    char **words;
    struct kept_words *before;
} *all_words;

static char **keep_words(char **words) {
    struct kept_words *kept = need(malloc(sizeof *kept));
    *kept = (struct kept_words){ words, all_words };
    all_words = kept;
    return words;
}

/* Words in the place of `words[at]`. */
static void replace_word(char ***words, int *count, int at, char **inner, int inner_count) {
    const int rest = *count - at - 1;
    *words = need(realloc(*words, ((size_t)*count + (size_t)inner_count + 1) * sizeof **words));
    memmove(*words + at + inner_count, *words + at + 1, ((size_t)rest + 1) * sizeof **words);
    if (inner_count) memcpy(*words + at, inner, (size_t)inner_count * sizeof **words);
    *count += inner_count - 1;
}

/* The files whose words are being read, each within the one before. */
struct open_files {
    struct { char *path; struct stat st; int end; } *items;
    size_t count, capacity;
};

static void close_read(struct open_files *open, int at) {
    while (open->count && open->items[open->count - 1].end <= at) free(open->items[--open->count].path);
}

/* With the working folder before it. */
static char *whole_path(const char *path) {
    char *cwd = path[0] == '/' ? NULL : getcwd(NULL, 0), *whole = NULL;
    if (asprintf(&whole, "%s%s%s", cwd ? cwd : "", cwd && path[0] ? "/" : "", path) < 0) whole = need(NULL);
    free(cwd);
    return whole;
}

/* Why LLVM expands no further: a file within itself, or a folder. False: it goes on. */
static bool is_refused(const struct open_files *open, const char *path, const struct stat *st) {
    char *whole = whole_path(path);
    bool refused = S_ISDIR(st->st_mode);
    if (refused) fprintf(stderr, "cannot not open file '%s': Is a directory\n", whole);
    for (size_t i = 0; i < open->count && !refused; i++) {
        refused = open->items[i].st.st_dev == st->st_dev && open->items[i].st.st_ino == st->st_ino;
        if (refused) fprintf(stderr, "recursive expansion of: '%s'\n", open->items[i].path);
    }
    free(whole);
    return refused;
}

static void add_open(struct open_files *open, const char *path, const struct stat *st, int at, int inner_count) {
    for (size_t i = 0; i < open->count; i++) open->items[i].end += inner_count - 1;
    if (open->count == open->capacity) {
        open->capacity = 2 * open->capacity + 8;
        open->items = need(realloc(open->items, open->capacity * sizeof *open->items));
    }
    open->items[open->count].path = whole_path(path);
    open->items[open->count].st = *st;
    open->items[open->count++].end = at + inner_count;
}

/* False: GNU's tools end here, which is printed. */
static bool may_read(const char *program, const char *path, int files) {
    if (files < MAX_FILES && !is_folder(path)) return true;
    fprintf(stderr, "%s: error: %s\n", program,
            files < MAX_FILES ? "@-file refers to a directory" : "too many @-files encountered");
    return false;
}

static void expand(int *argc, char ***argv, bool gnu) {
    int count = 0, files = 0;
    char **words = NULL;
    struct open_files open = { 0 };
    bool ends = false;
    for (int i = 0; i < *argc; i++) push_word(&words, &count, (*argv)[i]);
    for (int i = 1; i < count; i++) {
        char *word = words[i];
        struct stat st;
        close_read(&open, i);
        const bool is_of_file = open.count > 0;
        if (word[0] != '@') continue;
        files++;
        ends = gnu && !may_read(words[0], word + 1, files);
        if (ends || files >= MAX_FILES) break;
        if (stat(gnu || word[1] ? word + 1 : ".", &st) != 0) continue;
        if (!gnu && is_refused(&open, word + 1, &st)) break;
        char *text = read_text(word + 1), **inner = NULL;
        int inner_count = 0;
        if (!text) continue;
        split(text, !gnu, &inner, &inner_count);
        free(text);
        add_open(&open, word + 1, &st, i, inner_count);
        replace_word(&words, &count, i, inner, inner_count);
        free(inner);
        if (is_of_file) free(word);
        i--;
    }
    close_read(&open, count);
    free(open.items);
    *argc = count;
    *argv = keep_words(words);
    if (ends) exit(1);
}

void gnu_expand_arguments(int *argc, char ***argv) { expand(argc, argv, true); }
void llvm_expand_arguments(int *argc, char ***argv) { expand(argc, argv, false); }
