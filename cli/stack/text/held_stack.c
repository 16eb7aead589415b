/* Lines are copied: those of the input go when the next one is read. */
#include "stack/text/held_stack.h"

#include <stdlib.h>

#include "stack/lines/stack_fill.h"

void held_stack_clear(struct held_stack *held) { held->count = held->text.count = 0; }

void held_stack_deinit(struct held_stack *held) {
    free(held->lines);
    text_buffer_deinit(&held->text);
    *held = (struct held_stack){ 0 };
}

bool held_stack_add(struct held_stack *held, const struct log_line *line, uint32_t frame, const struct line_frame *read) {
    const size_t at = held->text.count;
    const struct csn_str text = line->text;
    if (!reserve_items(&held->lines, &held->capacity, held->count + 1, sizeof(*held->lines))) return false;
    if (!text_buffer_add(&held->text, line->raw)) return false;
    const size_t text_at = line->code.count ? held->text.count : at;
    if (line->code.count && !text_buffer_add(&held->text, text)) return false;
    struct held_line *item = &held->lines[held->count++];
    *item = (struct held_line){ .at = at, .size = line->raw.len, .text_at = text_at, .line = *line, .frame = frame };
    if (read) {
        item->read = *read;
        bool own = (uintptr_t)read->module.ptr >= (uintptr_t)text.ptr
                   && (uintptr_t)read->module.ptr < (uintptr_t)text.ptr + text.len;
        item->module_at = own && read->module.len ? (size_t)(read->module.ptr - text.ptr) : SIZE_MAX;
    }
    return true;
}

/* Whether the line may change: that of a frame, or one between frames with a number, which lines added before it make greater. */
static bool is_written_anew(const struct held_line *item, uint64_t added) {
    return item->frame != HELD_NO_FRAME || (added && item->read.number_at < item->read.number_end);
}

/* A line of a string of JSON: what stands before and after it stays, and so does everything in it that is not filled in. */
static void fill_coded_line(const struct held_line *item, struct csn_str text, struct csn_str raw, struct stack_output *output,
                            const struct stack_session *session, const struct stack_dialect *dialect, const struct line_frame *read,
                            uint64_t *added) {
    const struct log_line *line = &item->line;
    const struct csn_str inside = { raw.ptr + line->before, raw.len - line->before - line->after };
    out_bytes(output->out, raw.ptr, line->before);
    fill_line_in_json(output, session, item->frame, dialect, text,
                      &(struct json_line){ &line->code, inside, line->continues }, read, added);
    out_bytes(output->out, raw.ptr + raw.len - line->after, line->after);
}

void held_stack_fill(const struct held_stack *held, struct stack_output *output, const struct stack_session *session,
                     const struct stack_dialect *dialect, uint64_t *added) {
    for (size_t i = 0; i < held->count; i++) {
        const struct held_line *item = &held->lines[i];
        const struct csn_str raw = held_stack_raw(held, i), text = { held->text.bytes + item->text_at, item->line.text.len };
        if (!session || !is_written_anew(item, *added)) {
            out_bytes(output->out, raw.ptr, raw.len);
            continue;
        }
        /* The text of a dialect's own stays where it is; that of the line has moved. */
        struct line_frame read = item->read;
        const struct stack_session *named = item->frame == HELD_NO_FRAME ? NULL : session;
        if (item->module_at != SIZE_MAX) read.module.ptr = text.ptr + item->module_at;
        if (item->line.code.count) fill_coded_line(item, text, raw, output, named, dialect, &read, added);
        else fill_line(output, named, item->frame, dialect, text, &read, added);
    }
}
