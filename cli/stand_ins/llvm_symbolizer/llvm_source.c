/* Lines of source around a place. */
#include "stand_ins/llvm_symbolizer/llvm_printer.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stand_ins/base/growth.h"

static char *read_file(const char *path, size_t *size) {
    struct grown_text text = { 0 };
    FILE *file = path ? fopen(path, "r") : NULL;
    if (!file) return NULL;
    for (size_t got = 1; got;) {
        text.items = grow_items(text.items, text.count + 65536, &text.capacity, 1);
        got = fread(text.items + text.count, 1, 65536, file);
        text.count += got;
    }
    bool failed = ferror(file);
    fclose(file);
    if (failed) {
        free(text.items);
        return NULL;
    }
    *size = text.count;
    return text.items;
}

/* How many digits LLVM gives line numbers: the logarithm, rounded up, so that 10 has one. */
static int number_width(int64_t last) {
    int width = 0;
    for (int64_t power = 1; power < last; power *= 10) width++;
    return width;
}

/* The part of the file that lines [first, last] stand in. False: it ends before. */
static bool find_lines(const char *bytes, size_t size, int64_t first, int64_t last, size_t *begin, size_t *end) {
    size_t at = 0;
    bool found = false;
    *end = size;
    for (int64_t line = 1; line <= last; line++) {
        if (line == first) {
            *begin = at;
            found = true;
        }
        const char *newline = at <= size ? memchr(bytes + at, '\n', size - at) : NULL;
        if (!newline) return found;
        at = (size_t)(newline - bytes) + 1;
        if (line == last) *end = at - 1;
    }
    return found;
}

char *llvm_source_context(const char *file, int64_t line, int64_t count) {
    size_t size = 0, begin = 0, end = 0;
    if (count <= 0) return NULL;
    char *bytes = read_file(file, &size);
    int64_t first = line - count / 2 < 1 ? 1 : line - count / 2, last = first + count - 1;
    struct grown_text out = { 0 };
    if (bytes && find_lines(bytes, size, first, last, &begin, &end)) {
        for (int64_t number = first; begin < end || (begin == end && end < size && bytes[end] == '\n'); number++) {
            const char *newline = memchr(bytes + begin, '\n', end - begin);
            size_t stop = newline ? (size_t)(newline - bytes) : end, shown = stop;
            if (shown > begin && bytes[shown - 1] == '\r') shown--;
            char head[48];
            int length = snprintf(head, sizeof head, "%*" PRId64 "%s", number_width(last), number,
                                  number == line ? " >: " : "  : ");
            grow_text(&out, head, (size_t)length);
            grow_text(&out, bytes + begin, shown - begin);
            GROW_PUSH(&out, '\n');
            if (!newline) break;
            begin = stop + 1;
        }
        GROW_PUSH(&out, '\0');
    }
    free(bytes);
    return out.items;
}
