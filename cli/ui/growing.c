/* Capacities double, from a kilobyte on. */
#define _GNU_SOURCE
#include "ui/growing.h"

#include <stdlib.h>
#include <string.h>

enum { LEAST_BYTES = 1 << 10 };

bool reserve_items(void *items_pointer, size_t *capacity, size_t need, size_t size) {
    if (need <= *capacity) return true;
    void *items;
    memcpy(&items, items_pointer, sizeof(items));
    size_t larger = *capacity ? *capacity * 2 : LEAST_BYTES / size;
    if (larger < need) larger = need;
    void *made = reallocarray(items, larger, size);
    if (!made) return false;
    memcpy(items_pointer, &made, sizeof(made));
    *capacity = larger;
    return true;
}

bool text_buffer_add(struct text_buffer *buffer, struct csn_str text) {
    if (!reserve_items(&buffer->bytes, &buffer->capacity, buffer->count + text.len, 1)) return false;
    if (text.len) memcpy(buffer->bytes + buffer->count, text.ptr, text.len);
    buffer->count += text.len;
    return true;
}

void text_buffer_deinit(struct text_buffer *buffer) {
    free(buffer->bytes);
    *buffer = (struct text_buffer){ .count = 0 };
}
