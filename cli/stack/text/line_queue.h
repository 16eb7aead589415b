/* Copies of lines that wait to be read. */
#ifndef CALLSIGN_CLI_LINE_QUEUE_H
#define CALLSIGN_CLI_LINE_QUEUE_H

#include "stack/text/log_lines.h"

struct line_queue {
    struct queued_line {
        size_t at;             /* of what was written, then what was read where that is coded */
        struct log_line line;  /* without its pointers */
        bool is_part;          /* of a line that is too long */
    } *lines;
    size_t count, capacity;
    struct text_buffer text;
};

void line_queue_deinit(struct line_queue *queue);
void line_queue_clear(struct line_queue *queue);
/* False: no memory. */
bool line_queue_add(struct line_queue *queue, const struct log_line *line, bool is_part);
struct log_line line_queue_at(const struct line_queue *queue, size_t i);

#endif
