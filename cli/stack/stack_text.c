/* A stack is held until it ends; everything else passes at once. */
#define _GNU_SOURCE
#include "stack/stack_text.h"

#include <stdlib.h>
#include <string.h>

#include "ui/line_input.h"
#include "stack/stack_fill.h"
#include "stack/stack_places.h"
#include "stack/stack_symbols.h"

enum { LINE_MAX_BYTES = 1 << 16, HELD_MAX_BYTES = 1 << 26, NO_FRAME = UINT32_MAX };

struct held_line {
    size_t at, size;
    uint32_t frame;           /* of the session; NO_FRAME: a line between frames */
    struct line_frame place;
    size_t module_at;         /* of place.module within the line; SIZE_MAX: it is elsewhere */
};

const struct stack_dialect *const stack_dialects[DIALECT_COUNT] = { &sanitizer_dialect, &kernel_dialect, &go_dialect,
                                                                    &perf_dialect, &crash_dialect, &plain_dialect };

static const struct stack_dialect *find_dialect(const char *name) {
    for (size_t i = 0; i < DIALECT_COUNT; i++)
        if (strcmp(stack_dialects[i]->name, name) == 0) return stack_dialects[i];
    return NULL;
}

bool stack_text_knows(const char *format) { return find_dialect(format) != NULL; }

bool stack_text_init(struct stack_text *text, struct stack_session *session, struct stack_output *output, bool in_place,
                     const char *format) {
    *text = (struct stack_text){ .session = session, .output = output, .in_place = in_place };
    text->state.session = session;
    text->state.go_module = stack_indexes_first_name(&session->indexes);
    if (format) text->forced = find_dialect(format);
    session_use(session, false);
    session_clear_modules(session);
    session_begin_stack(session);
    return true;
}

void stack_text_deinit(struct stack_text *text) {
    places_deinit(&text->state);
    symbols_deinit(&text->state);
    free(text->held);
    free(text->bytes);
    text->held = NULL;
    text->bytes = NULL;
}

static void pass(struct stack_text *text, struct csn_str line) {
    if (text->in_place) out_bytes(text->output->out, line.ptr, line.len);
}

/* ---- the stack that is held ---- */

static bool hold(struct stack_text *text, struct csn_str line, const struct line_frame *place) {
    if (text->held_count == text->held_room) {
        size_t room = text->held_room ? text->held_room * 2 : 64;
        struct held_line *held = reallocarray(text->held, room, sizeof(*held));
        if (!held) return false;
        text->held = held;
        text->held_room = room;
    }
    size_t need = text->byte_count + line.len;
    if (need > text->byte_room) {
        size_t room = text->byte_room ? text->byte_room : 1 << 12;
        while (room < need) room *= 2;
        char *bytes = realloc(text->bytes, room);
        if (!bytes) return false;
        text->bytes = bytes;
        text->byte_room = room;
    }
    struct held_line held = { .at = text->byte_count, .size = line.len, .frame = NO_FRAME };
    if (place) {
        held.frame = (uint32_t)text->session->frame_count - 1;
        held.place = *place;
        bool own = (uintptr_t)place->module.ptr >= (uintptr_t)line.ptr
                   && (uintptr_t)place->module.ptr < (uintptr_t)line.ptr + line.len;
        held.module_at = own && place->module.len ? (size_t)(place->module.ptr - line.ptr) : SIZE_MAX;
    }
    memcpy(text->bytes + text->byte_count, line.ptr, line.len);
    text->byte_count = need;
    text->held[text->held_count++] = held;
    return true;
}

static void fill_held(struct stack_text *text) {
    for (size_t i = 0; i < text->held_count; i++) {
        struct held_line *held = &text->held[i];
        struct csn_str line = { text->bytes + held->at, held->size };
        if (held->frame == NO_FRAME) {
            out_bytes(text->output->out, line.ptr, line.len);
            continue;
        }
        /* The text of a dialect's own stays where it is; that of the line has moved. */
        if (held->module_at != SIZE_MAX) held->place.module.ptr = line.ptr + held->module_at;
        fill_line(text->output, text->session, held->frame, text->current->fill, line, &held->place);
    }
}

static bool end_stack(struct stack_text *text) {
    struct csn_error err = CSN_ERROR_INIT;
    if (text->current && text->session->frame_count) {
        if (session_answer(text->session, &err) < 0) return false;
        if (text->in_place) fill_held(text);
        else output_stack(text->output, text->session);
    } else if (text->current) {
        for (size_t i = 0; i < text->held_count; i++)
            pass(text, (struct csn_str){ text->bytes + text->held[i].at, text->held[i].size });
    }
    text->current = NULL;
    text->held_count = text->byte_count = 0;
    session_begin_stack(text->session);
    return true;
}

bool stack_text_end(struct stack_text *text) { return end_stack(text); }

/* ---- lines ---- */

/* The dialect of the stack that is open goes first, so that its lines are not taken for another's. */
static const struct stack_dialect *read_line(struct stack_text *text, struct csn_str line, enum line_kind *kind,
                                             struct line_frame *out) {
    const struct stack_dialect *first = text->forced ? text->forced : text->current;
    for (size_t i = 0; i <= DIALECT_COUNT; i++) {
        const struct stack_dialect *dialect = i ? stack_dialects[i - 1] : first;
        if (!dialect || (i && (dialect == first || text->forced))) continue;
        *out = (struct line_frame){ .place = PLACE_PC };
        *kind = dialect->read(&text->state, line, text->current == dialect, out);
        if (*kind != KIND_NONE) return dialect;
    }
    *kind = KIND_NONE;
    return NULL;
}

static bool is_full(const struct stack_text *text) {
    return text->session->frame_count >= text->session->max_frames || text->byte_count > HELD_MAX_BYTES;
}

bool stack_text_line(struct stack_text *text, struct csn_str line, bool is_part) {
    struct csn_str bare = line_text(line);
    enum line_kind kind = KIND_NONE;
    struct line_frame frame = { .place = PLACE_PC };
    const struct stack_dialect *dialect = NULL;
    bool too_long = is_part || text->inside_long_line || line.len > LINE_MAX_BYTES;
    text->inside_long_line = is_part;
    text->state.by_maps = false;
    if (!too_long && bare.len) dialect = read_line(text, bare, &kind, &frame);
    if (text->state.no_memory) return false;
    bool goes_on = dialect && dialect == text->current && (kind == KIND_FRAME || kind == KIND_INSIDE);
    if (!goes_on || is_full(text)) {
        if (!end_stack(text)) return false;
    }
    if (kind == KIND_NONE || kind == KIND_CONTEXT) {
        pass(text, line);
        return true;
    }
    text->current = dialect;
    /* Only now: the stack before it had the modules of its own process. */
    if (text->state.by_maps && text->state.maps_changed) {
        places_use_process(&text->state, text->state.pid);
        text->state.maps_changed = false;
    }
    if (kind == KIND_INSIDE) return hold(text, line, NULL);
    if (!places_add_frame(&text->state, &frame)) return false;
    return hold(text, line, &frame);
}
