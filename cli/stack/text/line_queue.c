/* Two arrays that grow: lines, and their bytes. */
#include "stack/text/line_queue.h"

#include <stdlib.h>

void line_queue_deinit(struct line_queue *queue) {
    free(queue->lines);
    text_buffer_deinit(&queue->text);
    *queue = (struct line_queue){ .count = 0 };
}

void line_queue_clear(struct line_queue *queue) { queue->count = queue->text.count = 0; }

bool line_queue_add(struct line_queue *queue, const struct log_line *line, bool is_part) {
    size_t at = queue->text.count;
    if (!reserve_items(&queue->lines, &queue->capacity, queue->count + 1, sizeof(*queue->lines))) return false;
    if (!text_buffer_add(&queue->text, line->raw)) return false;
    if (line->code.count && !text_buffer_add(&queue->text, line->text)) return false;
    queue->lines[queue->count++] = (struct queued_line){ at, *line, is_part };
    return true;
}

struct log_line line_queue_at(const struct line_queue *queue, size_t i) {
    const struct queued_line *queued = &queue->lines[i];
    struct log_line line = queued->line;
    line.raw.ptr = queue->text.bytes + queued->at;
    line.text.ptr = line.raw.ptr + (line.code.count ? line.raw.len : 0);
    return line;
}
