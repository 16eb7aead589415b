/* From what a line says to an address in an image. */
#define _GNU_SOURCE
#include "stack_places.h"

#include <stdlib.h>
#include <string.h>

#include "image_segments.h"
#include "stack_symbols.h"

static bool same_path(const struct process_map *map, struct csn_str path) {
    return strlen(map->path) == path.len && memcmp(map->path, path.ptr, path.len) == 0;
}

void places_add_map(struct dialect_state *state, uint64_t pid, uint64_t start, uint64_t end, uint64_t file_offset,
                    bool executable, struct csn_str path) {
    if (start >= end || !path.len || memchr(path.ptr, 0, path.len)) return;
    struct process_map map = { pid, start, end, file_offset, NULL, executable };
    size_t i = 0;
    /* What was mapped there before is gone. */
    while (i < state->map_count
           && (state->maps[i].pid != pid || state->maps[i].end <= start || state->maps[i].start >= end)) i++;
    if (i == MAPS_MAX) return;
    if (i == state->map_room) {
        size_t room = state->map_room ? state->map_room * 2 : 64;
        struct process_map *maps = reallocarray(state->maps, room, sizeof(*maps));
        if (!maps) {
            state->no_memory = true;
            return;
        }
        state->maps = maps;
        state->map_room = room;
    }
    map.path = strndup(path.ptr, path.len);
    if (!map.path) {
        state->no_memory = true;
        return;
    }
    if (i < state->map_count) free(state->maps[i].path);
    else state->map_count++;
    state->maps[i] = map;
}

void places_deinit(struct dialect_state *state) {
    for (size_t i = 0; i < state->map_count; i++) free(state->maps[i].path);
    free(state->maps);
    state->maps = NULL;
    state->map_count = state->map_room = 0;
}

/* ---- images ---- */

/* The mapping of an image's first bytes. */
static const struct process_map *first_map(const struct dialect_state *state, const uint64_t *pid, struct csn_str path) {
    const struct process_map *first = NULL;
    for (size_t i = 0; i < state->map_count; i++) {
        const struct process_map *map = &state->maps[i];
        if ((pid && map->pid != *pid) || map->file_offset || !same_path(map, path)) continue;
        if (!first || map->start < first->start) first = map;
    }
    return first;
}

/* The program headers of the file at a path, as far as this machine has it. */
static bool read_image(struct csn_str path, struct image_segments *out) {
    char text[4096];
    if (path.len >= sizeof(text) || !path.len || path.ptr[0] != '/') return false;
    memcpy(text, path.ptr, path.len);
    text[path.len] = 0;
    return image_segments_read(text, out);
}

uint64_t places_of_file_offset(struct dialect_state *state, struct csn_str path, uint64_t offset) {
    struct image_segments segments;
    uint64_t addr;
    if (read_image(path, &segments) && image_segments_addr(&segments, offset, &addr)) return addr;
    for (size_t i = 0; i < state->map_count; i++) {
        const struct process_map *map = &state->maps[i];
        if (offset < map->file_offset || offset - map->file_offset >= map->end - map->start) continue;
        if (!same_path(map, path)) continue;
        const struct process_map *first = first_map(state, &map->pid, path);
        if (first) return offset - map->file_offset + map->start - first->start;
    }
    return offset;
}

uint64_t places_image_base(struct dialect_state *state, uint32_t module, struct csn_str path) {
    (void)path;
    const struct csn_index *index = session_index(state->session, module);
    struct csn_index_info info = { .base_address = 0 };
    if (index) csn_index_get_info(index, &info);
    return info.base_address;
}

/* Address = pc - bias, for a mapping of some bytes of a file. An image that is not relocated lies where its index says. */
static uint64_t bias_of(struct dialect_state *state, const struct process_map *map, uint32_t module) {
    struct csn_str path = { map->path, strlen(map->path) };
    uint64_t base = places_image_base(state, module, path);
    if (base >= map->start && base < map->end) return 0;
    struct image_segments segments;
    uint64_t addr;
    if (read_image(path, &segments) && image_segments_code_addr(&segments, map->file_offset, map->end - map->start, &addr))
        return map->start - addr;
    return map->start - places_of_file_offset(state, path, map->file_offset);
}

void places_use_process(struct dialect_state *state, uint64_t pid) {
    struct stack_session *session = state->session;
    session_clear_modules(session);
    for (size_t i = 0; i < state->map_count; i++) {
        const struct process_map *map = &state->maps[i];
        struct module_names names = { .name = { map->path, strlen(map->path) } };
        uint32_t module;
        if (map->pid != pid || !map->executable) continue;
        if (!session_add_module(session, &names, map->start, map->end, 0, &module)) return;
        session->modules->items[module].bias = bias_of(state, map, module);
    }
}

void places_add_module(struct dialect_state *state, const struct module_names *names, uint64_t start, uint64_t end) {
    uint32_t module;
    if (!session_add_module(state->session, names, start, end, start, &module)) return;
    uint64_t base = places_image_base(state, module, names->name);
    /* An image below 4 GiB that starts where it was linked to is not relocated; others count from their first byte. */
    if (base >= start && base < end) state->session->modules->items[module].bias = 0;
    else if (base >> 32) state->session->modules->items[module].bias = start - base;
}

/* ---- frames ---- */

bool places_add_frame(struct dialect_state *state, const struct line_frame *frame) {
    struct stack_session *session = state->session;
    uint64_t value = frame->value;
    if (frame->place == PLACE_PC) return session_add_frame(session, value, NO_MODULE, frame->flags);
    uint32_t module = session_name_module(session, frame->module, &frame->id);
    if (module == NO_MODULE) return session_add_frame(session, frame->pc, NO_MODULE, frame->flags);
    if (frame->place == PLACE_SYMBOL) return symbols_add_frame(state, frame, module);
    if (frame->place == PLACE_FILE_OFFSET) value = places_of_file_offset(state, frame->module, value);
    if (frame->place == PLACE_ADDRESS && state->kernel_start) {
        uint64_t base = places_image_base(state, module, frame->module);
        /* The kernel is loaded at a random place; its index begins with its text. */
        if (base >> 32) value += base - state->kernel_start;
    }
    if (frame->place == PLACE_OFFSET) {
        uint64_t base = places_image_base(state, module, frame->module);
        if (value < base) value += base;
    }
    return session_add_frame(session, value, module, frame->flags | CSN_STACK_ADDRESS);
}
