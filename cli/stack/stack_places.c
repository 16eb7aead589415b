/* From what a line says to an address in an image. */
#define _GNU_SOURCE
#include "stack/stack_places.h"

#include <stdlib.h>
#include <string.h>

#include "stack/image_segments.h"
#include "stack/stack_symbols.h"

struct known_image {
    char *path; /* NULL: free */
    bool readable;
    struct image_segments segments;
};
enum { IMAGES_KEPT = 64 };

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
    if (i == MAPS_MAX) i = state->map_next++ % MAPS_MAX;
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
    for (size_t i = 0; state->images && i < IMAGES_KEPT; i++) free(state->images[i].path);
    free(state->images);
    state->images = NULL;
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

static struct known_image *image_slot(struct dialect_state *state, struct csn_str path) {
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < path.len; i++) hash = (hash ^ (unsigned char)path.ptr[i]) * 16777619u;
    if (!state->images) state->images = calloc(IMAGES_KEPT, sizeof(*state->images));
    return state->images ? &state->images[(hash ^ hash >> 16) % IMAGES_KEPT] : NULL;
}

/* The program headers of the file at a path, as far as this machine has it. Read once for many frames. */
static const struct image_segments *image_at(struct dialect_state *state, struct csn_str path) {
    if (!path.len || path.ptr[0] != '/' || memchr(path.ptr, 0, path.len)) return NULL;
    struct known_image *image = image_slot(state, path);
    if (!image) return NULL;
    if (!image->path || strlen(image->path) != path.len || memcmp(image->path, path.ptr, path.len) != 0) {
        free(image->path);
        image->path = strndup(path.ptr, path.len);
        image->readable = image->path && image_segments_read(image->path, &image->segments);
    }
    return image->readable ? &image->segments : NULL;
}

uint64_t places_of_file_offset(struct dialect_state *state, struct csn_str path, uint64_t offset) {
    uint64_t addr;
    const struct image_segments *segments = image_at(state, path);
    if (segments && image_segments_addr(segments, offset, &addr)) return addr;
    for (size_t i = 0; i < state->map_count; i++) {
        const struct process_map *map = &state->maps[i];
        if (offset < map->file_offset || offset - map->file_offset >= map->end - map->start) continue;
        if (!same_path(map, path)) continue;
        const struct process_map *first = first_map(state, &map->pid, path);
        if (first) return offset - map->file_offset + map->start - first->start;
    }
    return offset;
}

uint64_t places_image_base(struct dialect_state *state, uint32_t module) {
    const struct csn_index *index = session_index(state->session, module);
    struct csn_index_info info = { .base_address = 0 };
    if (index) csn_index_get_info(index, &info);
    return info.base_address;
}

/* Address = pc - bias, for a mapping of some bytes of a file. An image that is not relocated lies where its index says. */
static uint64_t bias_of(struct dialect_state *state, const struct process_map *map, uint32_t module) {
    struct csn_str path = { map->path, strlen(map->path) };
    uint64_t base = places_image_base(state, module);
    if (base >= map->start && base < map->end) return 0;
    uint64_t addr;
    const struct image_segments *segments = image_at(state, path);
    if (segments && image_segments_code_addr(segments, map->file_offset, map->end - map->start, &addr))
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
    uint64_t base = places_image_base(state, module);
    /* An image below 4 GiB that starts where it was linked to is not relocated; others count from their first byte. */
    if (base >= start && base < end) state->session->modules->items[module].bias = 0;
    else if (base >> 32) state->session->modules->items[module].bias = start - base;
}

/* ---- frames ---- */

/* Where the text does not say where the kernel is, a function does of which there is only one: kernels move by whole pages, so
 * that one of another build shows as what it is. */
static void find_kernel_start(struct dialect_state *state, const struct line_frame *frame, uint32_t module) {
    enum { PAGE = 4096 };
    uint64_t addr;
    const struct csn_index *index = session_index(state->session, module);
    if (!index || !frame->has_symbol_offset || !symbols_find(state, index, frame, &addr)) return;
    uint64_t base = places_image_base(state, module);
    if (base >> 32 && (frame->value - addr) % PAGE == 0) state->kernel_start = base + (frame->value - addr);
}

bool places_add_frame(struct dialect_state *state, const struct line_frame *frame) {
    struct stack_session *session = state->session;
    uint64_t value = frame->value;
    if (frame->place == PLACE_PC) return session_add_frame(session, value, NO_MODULE, frame->flags);
    uint32_t module = session_name_module(session, frame->module, &frame->id);
    if (module == NO_MODULE) return session_add_frame(session, frame->pc, NO_MODULE, frame->flags);
    if (frame->place == PLACE_SYMBOL) return symbols_add_frame(state, frame, module);
    if (frame->place == PLACE_FILE_OFFSET) value = places_of_file_offset(state, frame->module, value);
    if (frame->place == PLACE_ADDRESS && !state->kernel_start) find_kernel_start(state, frame, module);
    if (frame->place == PLACE_ADDRESS && state->kernel_start) {
        uint64_t base = places_image_base(state, module);
        /* The kernel is loaded at a random place; its index begins with its text. */
        if (base >> 32) value += base - state->kernel_start;
    }
    if (frame->place == PLACE_OFFSET) {
        uint64_t base = places_image_base(state, module);
        if (value < base) value += base;
    }
    return session_add_frame(session, value, module, frame->flags | CSN_STACK_ADDRESS);
}
