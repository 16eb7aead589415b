/* Growing arrays. */
#define _GNU_SOURCE
#include "stand_ins/base/growth.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static void *need(void *memory) {
    if (memory) return memory;
    fputs("callsign: out of memory\n", stderr);
    exit(1);
}

void *grow_items(void *items, size_t count, size_t *capacity, size_t size) {
    if (count <= *capacity) return items;
    size_t wanted = *capacity ? 2 * *capacity : 8;
    if (wanted < count) wanted = count;
    *capacity = wanted;
    return need(reallocarray(items, wanted, size));
}

void *fit_items(void *items, size_t count, size_t *capacity, size_t size) {
    if (!count || count == *capacity) return items;
    *capacity = count;
    return need(reallocarray(items, count, size));
}

void *zeroed_memory(size_t count, size_t size) { return need(calloc(count ? count : 1, size)); }

void grow_text(struct grown_text *text, const char *bytes, size_t size) {
    if (!size) return;
    text->items = grow_items(text->items, text->count + size, &text->capacity, 1);
    memcpy(text->items + text->count, bytes, size);
    text->count += size;
}

char *copy_text(const char *text, size_t size) {
    char *copy = need(malloc(size + 1));
    if (size) memcpy(copy, text, size);
    copy[size] = 0;
    return copy;
}

char *formatted_text(const char *format, ...) {
    char *made;
    va_list args;
    va_start(args, format);
    const int size = vasprintf(&made, format, args);
    va_end(args);
    return need(size < 0 ? NULL : made);
}

ssize_t input_line(char **line, size_t *capacity, FILE *input) {
    errno = 0;
    const ssize_t size = getline(line, capacity, input);
    if (size < 0 && errno == ENOMEM) (void)need(NULL);
    return size;
}

/* More than that is what damaged files ask for. */
enum { MAX_NEEDED = 1 << 30 };

static void *allocate(void *context, size_t size) {
    (void)context;
    void *made = malloc(size);
    return size > MAX_NEEDED ? made : need(made);
}

static void *reallocate(void *context, void *memory, size_t old_size, size_t size) {
    (void)context, (void)old_size;
    void *made = realloc(memory, size);
    return size > MAX_NEEDED ? made : need(made);
}

static void release(void *context, void *memory, size_t size) {
    (void)context, (void)size;
    free(memory);
}

const struct csn_allocator ending_allocator = { allocate, reallocate, release, NULL };
