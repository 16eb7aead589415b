/* Two arrays that grow: lines, and their bytes. */
#include "stack/text/line_queue.h"

#include <stdlib.h>

void line_queue_deinit(struct line_queue *queue) {
    free(queue->lines);
    text_buffer_deinit(&queue->text);
    *queue = (struct line_queue){ .count = 0 };
}

void line_queue_clear(struct line_queue *queue) { queue->count = queue->text.count = 0; }

bool line_queue_add(struct line_queue *queue, struct csn_str line, bool is_part) {
    size_t at = queue->text.count;
    if (!reserve_items(&queue->lines, &queue->capacity, queue->count + 1, sizeof(*queue->lines))) return false;
    if (!text_buffer_add(&queue->text, line)) return false;
    queue->lines[queue->count++] = (struct queued_line){ at, line.len, is_part };
    return true;
}
