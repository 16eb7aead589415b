/* Two arrays that grow: lines, and their bytes. */
#define _GNU_SOURCE
#include "stack/line_queue.h"

#include <stdlib.h>
#include <string.h>

void line_queue_deinit(struct line_queue *queue) {
    free(queue->lines);
    free(queue->bytes);
    *queue = (struct line_queue){ .count = 0 };
}

void line_queue_clear(struct line_queue *queue) { queue->count = queue->byte_count = 0; }

static bool reserve_lines(struct line_queue *queue) {
    if (queue->count < queue->capacity) return true;
    size_t capacity = queue->capacity ? queue->capacity * 2 : 64;
    struct queued_line *lines = reallocarray(queue->lines, capacity, sizeof(*lines));
    if (!lines) return false;
    queue->lines = lines;
    queue->capacity = capacity;
    return true;
}

static bool reserve_bytes(struct line_queue *queue, size_t need) {
    if (need <= queue->byte_capacity) return true;
    size_t capacity = queue->byte_capacity ? queue->byte_capacity : 1 << 12;
    while (capacity < need) capacity *= 2;
    char *bytes = realloc(queue->bytes, capacity);
    if (!bytes) return false;
    queue->bytes = bytes;
    queue->byte_capacity = capacity;
    return true;
}

bool line_queue_add(struct line_queue *queue, struct csn_str line, bool is_part) {
    if (!reserve_lines(queue) || !reserve_bytes(queue, queue->byte_count + line.len)) return false;
    queue->lines[queue->count++] = (struct queued_line){ queue->byte_count, line.len, is_part };
    if (line.len) memcpy(queue->bytes + queue->byte_count, line.ptr, line.len);
    queue->byte_count += line.len;
    return true;
}
