/* Copies of lines that wait to be read. */
#ifndef CALLSIGN_CLI_LINE_QUEUE_H
#define CALLSIGN_CLI_LINE_QUEUE_H

#include "ui/growing.h"

struct line_queue {
    struct queued_line {
        size_t at, size;
        bool is_part;      /* of a line that is too long */
    } *lines;
    size_t count, capacity;
    struct text_buffer text;
};

void line_queue_deinit(struct line_queue *queue);
void line_queue_clear(struct line_queue *queue);
/* False: no memory. */
bool line_queue_add(struct line_queue *queue, struct csn_str line, bool is_part);
static inline struct csn_str line_queue_at(const struct line_queue *queue, size_t i) {
    return (struct csn_str){ queue->text.bytes + queue->lines[i].at, queue->lines[i].size };
}

#endif
