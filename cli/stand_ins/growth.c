/* Growing arrays. */
#define _GNU_SOURCE
#include "stand_ins/growth.h"

#include <stdio.h>
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

char *copy_text(const char *text, size_t size) {
    char *copy = need(malloc(size + 1));
    if (size) memcpy(copy, text, size);
    copy[size] = 0;
    return copy;
}
