/* Lines are copied: those of the input go when the next one is read. */
#define _GNU_SOURCE
#include "stack/held_stack.h"

#include <stdlib.h>
#include <string.h>

#include "stack/stack_fill.h"

void held_stack_clear(struct held_stack *held) { held->count = held->byte_count = 0; }

void held_stack_deinit(struct held_stack *held) {
    free(held->lines);
    free(held->bytes);
    *held = (struct held_stack){ 0 };
}

static bool reserve_line(struct held_stack *held) {
    if (held->count < held->capacity) return true;
    size_t capacity = held->capacity ? held->capacity * 2 : 16;
    struct held_line *lines = reallocarray(held->lines, capacity, sizeof(*lines));
    if (!lines) return false;
    held->lines = lines;
    held->capacity = capacity;
    return true;
}

static bool reserve_bytes(struct held_stack *held, size_t need) {
    if (need <= held->byte_capacity) return true;
    size_t capacity = held->byte_capacity ? held->byte_capacity : 1 << 12;
    while (capacity < need) capacity *= 2;
    char *bytes = realloc(held->bytes, capacity);
    if (!bytes) return false;
    held->bytes = bytes;
    held->byte_capacity = capacity;
    return true;
}

bool held_stack_add(struct held_stack *held, struct csn_str line, uint32_t frame, const struct line_frame *read) {
    if (!reserve_line(held) || !reserve_bytes(held, held->byte_count + line.len)) return false;
    struct held_line *item = &held->lines[held->count++];
    *item = (struct held_line){ .at = held->byte_count, .size = line.len, .frame = frame };
    if (frame != HELD_NO_FRAME) {
        item->read = *read;
        bool own = (uintptr_t)read->module.ptr >= (uintptr_t)line.ptr
                   && (uintptr_t)read->module.ptr < (uintptr_t)line.ptr + line.len;
        item->module_at = own && read->module.len ? (size_t)(read->module.ptr - line.ptr) : SIZE_MAX;
    }
    memcpy(held->bytes + held->byte_count, line.ptr, line.len);
    held->byte_count += line.len;
    return true;
}

void held_stack_fill(const struct held_stack *held, struct stack_output *output, const struct stack_session *session,
                     const struct stack_dialect *dialect, uint64_t *added) {
    for (size_t i = 0; i < held->count; i++) {
        const struct held_line *item = &held->lines[i];
        struct csn_str line = { held->bytes + item->at, item->size };
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
