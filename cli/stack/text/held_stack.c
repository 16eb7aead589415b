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

bool held_stack_add(struct held_stack *held, struct csn_str line, uint32_t frame, const struct line_frame *read) {
    size_t at = held->text.count;
    if (!reserve_items(&held->lines, &held->capacity, held->count + 1, sizeof(*held->lines))) return false;
    if (!text_buffer_add(&held->text, line)) return false;
    struct held_line *item = &held->lines[held->count++];
    *item = (struct held_line){ .at = at, .size = line.len, .frame = frame };
    if (frame != HELD_NO_FRAME) {
        item->read = *read;
        bool own = (uintptr_t)read->module.ptr >= (uintptr_t)line.ptr
                   && (uintptr_t)read->module.ptr < (uintptr_t)line.ptr + line.len;
        item->module_at = own && read->module.len ? (size_t)(read->module.ptr - line.ptr) : SIZE_MAX;
    }
    return true;
}

void held_stack_fill(const struct held_stack *held, struct stack_output *output, const struct stack_session *session,
                     const struct stack_dialect *dialect, uint64_t *added) {
    for (size_t i = 0; i < held->count; i++) {
        const struct held_line *item = &held->lines[i];
        struct csn_str line = { held->text.bytes + item->at, item->size };
        if (!session || item->frame == HELD_NO_FRAME) {
            out_bytes(output->out, line.ptr, line.len);
            continue;
        }
        /* The text of a dialect's own stays where it is; that of the line has moved. */
        struct line_frame read = item->read;
        if (item->module_at != SIZE_MAX) read.module.ptr = line.ptr + item->module_at;
        fill_line(output, session, item->frame, dialect, line, &read, added);
    }
}
