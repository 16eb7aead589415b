/* Locations of a profile, with the modules that the session knows. */
#include "profile/profile_frames.h"

#include <stdlib.h>
#include <string.h>

#include "stack/lines/line_scan.h"
#include "ui/growing.h"

/* A module whose pcs are offsets in its file: as if that were mapped so, but for its first page, which is no code. */
enum { FILE_MAPPED_FROM = 4096 };
/* How a location is looked up. */
enum { LOOKUP = CSN_STACK_EXACT | CSN_STACK_RETURN | CSN_STACK_BEFORE | CSN_STACK_EITHER };
static const uint64_t FILE_MAPPED_TO = (uint64_t)1 << 47, NO_FILE_OFFSET = UINT64_MAX;

bool profile_frames_init(struct profile_frames *frames, struct csn_profile *profile, struct stack_session *session,
                         const struct stack_dialect *dialect) {
    *frames = (struct profile_frames){ .profile = profile, .session = session, .dialect = dialect };
    session_use(session, false);
    session_clear_modules(session);
    session_begin_stack(session);
    if (!stack_modules_init(&frames->modules, session)) return false;
    frames->state = calloc(1, dialect->state_size ? dialect->state_size : 1);
    if (frames->state && dialect->init) dialect->init(frames->state, session);
    return frames->state != NULL;
}

void profile_frames_deinit(struct profile_frames *frames) {
    stack_modules_deinit(&frames->modules);
    free(frames->state);
    free(frames->told);
    free(frames->inlined);
    free(frames->calls);
    free(frames->locations);
}

void profile_frames_begin(struct profile_frames *frames) {
    session_begin_stack(frames->session);
    frames->location_count = frames->inlined_count = 0;
}

static bool is_unknown(struct csn_str name) { return is_word(name, "[unknown]"); }

/* Whether the line has an offset in a file of which nothing tells where it is loaded: no index, headers or mappings. */
static bool is_in_unknown_file(const struct profile_frames *frames, size_t number, const struct line_frame *frame) {
    struct csn_process_maps *maps = frames->modules.maps;
    const struct csn_stack_frame *found = &frames->session->frames[number];
    uint64_t addr;
    if (found->flags & CSN_STACK_ADDRESS && session_index(frames->session, found->module)) return false;
    return frame->site == SITE_FILE_OFFSET && frame->value >= FILE_MAPPED_FROM && frame->value < FILE_MAPPED_TO
           && csn_process_maps_file_address(maps, frame->module, frame->value, &addr) == CSN_NONE
           && csn_process_maps_image_base(maps, frame->module, &addr) == CSN_NONE;
}

static bool keep_told(struct profile_frames *frames, size_t number, const struct line_frame *frame) {
    if (!reserve_items(&frames->told, &frames->told_capacity, number + 1, sizeof(*frames->told))) return false;
    const bool is_renamed = frame->site == SITE_SYMBOL && frame->image.len;
    const struct csn_str module = is_renamed ? frame->image : frame->module;
    frames->told[number] = (struct told_frame){
        .name = is_unknown(frame->symbol) ? CSN_STR("") : frame->symbol, .pc = frame->pc, .flags = frame->flags & LOOKUP,
        .file_offset = is_in_unknown_file(frames, number, frame) ? frame->value : NO_FILE_OFFSET,
        .module = is_unknown(module) ? CSN_STR("") : module, .is_renamed = is_renamed, .is_pc = frame->site == SITE_PC,
    };
    return true;
}

bool profile_frames_add(struct profile_frames *frames, const struct line_frame *frame) {
    size_t before = frames->session->frame_count;
    frames->left_out += before == frames->session->max_frames;
    if (!stack_modules_add_frame(&frames->modules, frames->dialect, frames->state, frame) || frames->modules.no_memory)
        return false;
    if (frames->session->frame_count == before) return true;
    return keep_told(frames, before, frame);
}

bool profile_frames_add_inlined(struct profile_frames *frames, struct csn_str name) {
    if (!reserve_items(&frames->inlined, &frames->inlined_capacity, frames->inlined_count + 1,
                       sizeof(*frames->inlined)))
        return false;
    frames->inlined[frames->inlined_count++] = (struct inlined_name){ frames->session->frame_count, name };
    return true;
}

static bool add_call(struct profile_frames *frames, struct csn_str name) {
    if (!reserve_items(&frames->calls, &frames->call_capacity, frames->call_count + 1, sizeof(*frames->calls))) return false;
    frames->calls[frames->call_count++] = (struct csn_profile_frame){ .function = name };
    return true;
}

/* With the calls that were added for it. */
static bool add_location(struct profile_frames *frames, const struct csn_profile_location *location) {
    if (!reserve_items(&frames->locations, &frames->location_capacity, frames->location_count + 1, sizeof(*frames->locations)))
        return false;
    const size_t count = frames->call_count;
    frames->call_count = 0;
    return csn_profile_add_location_frames(frames->profile, location, frames->calls, count,
                                           &frames->locations[frames->location_count++], NULL) == CSN_OK;
}

bool profile_frames_add_names(struct profile_frames *frames, const struct csn_str *names, size_t count) {
    const struct csn_profile_location location = { .module = CSN_PROFILE_NO_MODULE };
    for (size_t i = 0; i < count; i++)
        if (!add_call(frames, names[i])) return false;
    return add_location(frames, &location);
}

/* The session's module that covers a pc. NULL: none. */
static const struct stack_module *covering_module(const struct stack_session *session, uint64_t pc) {
    const struct stack_module *found = NULL;
    for (uint32_t i = 0; i < session->modules->count; i++) {
        const struct stack_module *m = &session->modules->items[i];
        if (pc >= m->start && pc < m->end && (!found || m->start >= found->start)) found = m;
    }
    return found;
}

/* `renamed`: what the text calls it where that is not its name in the session; empty: the same. */
static bool place_in_module(struct profile_frames *frames, const struct stack_module *module, struct csn_str renamed,
                            struct csn_profile_location *out) {
    struct csn_profile_module own = { .path = renamed, .build_id = module->id.bytes, .build_id_size = module->id.size };
    if (out->kind == CSN_PROFILE_AT_PC) {
        own.start = own.file_off = FILE_MAPPED_FROM;
        own.end = FILE_MAPPED_TO;
    }
    if (!renamed.len && module->name) own.path = (struct csn_str){ module->name, strlen(module->name) };
    return csn_profile_add_module(frames->profile, &own, &out->module, NULL) == CSN_OK;
}

/* The frame's own name, behind those of the calls that were inlined into it. `next`: the first of these that is not of a frame
 * before. */
static bool add_calls(struct profile_frames *frames, size_t i, struct csn_str own, size_t *next) {
    for (; *next < frames->inlined_count && frames->inlined[*next].frame <= i; ++*next)
        if (frames->inlined[*next].frame == i && !add_call(frames, frames->inlined[*next].name)) return false;
    if (!own.len && !frames->call_count) return true;
    return add_call(frames, own.len ? own : CSN_STR("[unknown]"));
}

/* A frame without a place in an index: the text names its function. */
static bool locate_symbol(struct profile_frames *frames, size_t i, const struct frame_symbol *symbol,
                          struct csn_profile_location *location) {
    const struct told_frame *told = &frames->told[i];
    location->flags = told->pc ? told->flags : 0;
    if (!told->pc) return add_location(frames, location);
    const bool has_module = symbol->module != NO_MODULE && told->module.len;
    location->kind = has_module ? CSN_PROFILE_AT_ADDRESS : CSN_PROFILE_AT_PC;
    location->value = told->pc;
    if (symbol->is_elsewhere) location->flags |= CSN_PROFILE_AS_NAMED;
    if (has_module && !place_in_module(frames, &frames->session->modules->items[symbol->module], told->module, location))
        return false;
    return add_location(frames, location);
}

/* A pc in a module of which nothing tells where it lies: a number of it, as it is. What the text calls "[ext4]" or "[heap]", no index
 * has. */
static bool place_as_told(struct profile_frames *frames, const struct told_frame *told, struct csn_profile_location *out) {
    const struct csn_profile_module own = { .path = told->module };
    const bool is_named = told->pc && told->module.len && (told->module.ptr[0] == '[' || told->pc >> 63);
    if (!told->module.len || !(is_named || told->is_pc)) return true;
    out->kind = CSN_PROFILE_AT_ADDRESS;
    if (is_named) out->flags |= CSN_PROFILE_AS_NAMED;
    return csn_profile_add_module(frames->profile, &own, &out->module, NULL) == CSN_OK;
}

static bool locate_frame(struct profile_frames *frames, size_t i, size_t *next_inlined) {
    struct stack_session *session = frames->session;
    const struct csn_stack_frame *frame = &session->frames[i];
    const struct frame_symbol *symbol = frame_symbols_find(&session->frame_symbols, i);
    struct csn_profile_location location = { .module = CSN_PROFILE_NO_MODULE, .flags = frame->flags & LOOKUP };
    const struct stack_module *module = NULL;
    const struct csn_str own = symbol ? frame_symbol_name(&session->frame_symbols, symbol) : frames->told[i].name;
    if (!add_calls(frames, i, own, next_inlined)) return false;
    if (symbol) return locate_symbol(frames, i, symbol, &location);
    if (frame->flags & CSN_STACK_ADDRESS) module = &session->modules->items[frame->module];
    else module = covering_module(session, frame->pc);
    location.kind = module ? CSN_PROFILE_AT_ADDRESS : CSN_PROFILE_AT_PC;
    location.value = frame->pc - (module && !(frame->flags & CSN_STACK_ADDRESS) ? module->bias : 0);
    const struct csn_index *index = module ? session_index(session, (uint32_t)(module - session->modules->items)) : NULL;
    if (module && !index && frames->told[i].file_offset != NO_FILE_OFFSET) {
        location.kind = CSN_PROFILE_AT_PC;
        location.value = frames->told[i].file_offset;
    }
    const struct told_frame *told = &frames->told[i];
    if (module && !place_in_module(frames, module, told->is_renamed ? told->module : CSN_STR(""), &location)) return false;
    if (!module && !place_as_told(frames, told, &location)) return false;
    return add_location(frames, &location);
}

bool profile_frames_locate(struct profile_frames *frames) {
    stack_place_rest(&frames->modules.places, frames->session);
    size_t next_inlined = 0;
    for (size_t i = 0; i < frames->session->frame_count; i++)
        if (!locate_frame(frames, i, &next_inlined)) return false;
    frames->inlined_count = 0;
    session_begin_stack(frames->session);
    return true;
}

bool profile_frames_end(struct profile_frames *frames, bool reversed, uint32_t *out_stack) {
    for (size_t a = 0, b = frames->location_count; reversed && a + 1 < b; a++, b--) {
        uint32_t kept = frames->locations[a];
        frames->locations[a] = frames->locations[b - 1];
        frames->locations[b - 1] = kept;
    }
    return csn_profile_add_stack(frames->profile, frames->locations, frames->location_count, out_stack, NULL) == CSN_OK;
}
