/* Reading response files. */
#define _GNU_SOURCE
#include "stand_ins/base/response_files.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MAX_FILES = 2000 };

static void *need(void *memory) {
    if (memory) return memory;
    fputs("out of memory\n", stderr);
    exit(1);
}

static void push_word(char ***words, int *count, char *word) {
    *words = need(realloc(*words, ((size_t)*count + 2) * sizeof **words));
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
    for (;;) {
        while (isspace((unsigned char)*text)) text++;
        if (!*text) return;
        char *word = need(malloc(strlen(text) + 1));
        text = read_word(text, raw_in_single, word);
        push_word(words, count, word);
    }
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

static void expand(int *argc, char ***argv, bool gnu) {
    int count = 0, files = 0;
    char **words = NULL;
    for (int i = 0; i < *argc; i++) push_word(&words, &count, (*argv)[i]);
    for (int i = 1; i < count; i++) {
        const char *word = words[i];
        char *text;
        if (word[0] != '@') continue;
        if (++files == MAX_FILES || is_folder(word + 1)) {
            if (!gnu) continue;
            const char *what = files == MAX_FILES ? "too many @-files encountered" : "@-file refers to a directory";
            fprintf(stderr, "%s: error: %s\n", words[0], what);
            exit(1);
        }
        if (!(text = read_text(word + 1))) continue;
        char **inner = NULL;
        int inner_count = 0, rest = count - i - 1;
        split(text, !gnu, &inner, &inner_count);
        free(text);
        words = need(realloc(words, ((size_t)count + (size_t)inner_count + 1) * sizeof *words));
        memmove(words + i + inner_count, words + i + 1, ((size_t)rest + 1) * sizeof *words);
        if (inner_count) memcpy(words + i, inner, (size_t)inner_count * sizeof *words);
        free(inner);
        count += inner_count - 1;
        i--;
    }
    *argc = count;
    *argv = keep_words(words);
}

void gnu_expand_arguments(int *argc, char ***argv) { expand(argc, argv, true); }
void llvm_expand_arguments(int *argc, char ***argv) { expand(argc, argv, false); }
