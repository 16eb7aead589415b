/* Modules and frames on their way to the library. */
#define _GNU_SOURCE
#include "stack/stack_session.h"

#include <stdlib.h>
#include <string.h>

#include "ui/complain.h"

static uint32_t hash_name(struct csn_str name) {
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < name.len; i++) hash = (hash ^ (unsigned char)name.ptr[i]) * 16777619u;
    return hash;
}

static struct csn_str str_of(const char *text) {
    return text ? (struct csn_str){ text, strlen(text) } : (struct csn_str){ "", 0 };
}

static bool same_text(struct csn_str a, struct csn_str b) { return a.len == b.len && memcmp(a.ptr, b.ptr, a.len) == 0; }

/* ---- the table ---- */

static void table_clear(struct module_table *table) {
    for (uint32_t i = 0; i < table->count; i++) {
        free(table->items[i].name);
        free(table->items[i].index_path);
    }
    table->count = 0;
    if (table->slots) memset(table->slots, 0, table->slot_count * sizeof(*table->slots));
}

static void table_deinit(struct module_table *table) {
    table_clear(table);
    free(table->items);
    free(table->slots);
    *table = (struct module_table){ 0 };
}

static void table_place(struct module_table *table, uint32_t module) {
    struct csn_str base = base_name_of(str_of(table->items[module].name));
    uint32_t i = hash_name(base) & (table->slot_count - 1);
    while (table->slots[i]) i = (i + 1) & (table->slot_count - 1);
    table->slots[i] = module + 1;
}

static bool table_grow(struct module_table *table) {
    uint32_t room = table->room ? table->room * 2 : 16;
    struct stack_module *items = reallocarray(table->items, room, sizeof(*items));
    if (!items) return false;
    table->items = items;
    uint32_t *slots = calloc(room * (size_t)2, sizeof(*slots));
    if (!slots) return false;
    free(table->slots);
    table->slots = slots;
    table->slot_count = room * 2;
    table->room = room;
    for (uint32_t i = 0; i < table->count; i++) table_place(table, i);
    return true;
}

/* The exact name goes before a base name, the later module before the earlier. */
static uint32_t table_find(const struct module_table *table, struct csn_str name) {
    if (!table->slot_count || !name.len) return NO_MODULE;
    enum { PROBES = 256 }; /* of one file that is mapped often, or of an input that makes names collide */
    struct csn_str base = base_name_of(name);
    uint32_t i = hash_name(base) & (table->slot_count - 1), found = NO_MODULE;
    for (unsigned probe = 0; table->slots[i] && probe < PROBES; i = (i + 1) & (table->slot_count - 1), probe++) {
        uint32_t module = table->slots[i] - 1;
        struct csn_str own = str_of(table->items[module].name);
        if (same_text(own, name)) return module;
        if (same_text(base_name_of(own), base)) found = module;
    }
    return found;
}

/* ---- the session ---- */

bool session_init(struct stack_session *session, const struct text_list *files, const struct text_list *folders,
                  uint64_t max_frames, uint64_t cache_bytes) {
    *session = (struct stack_session){ .max_frames = max_frames, .stale = true };
    session->modules = &session->lasting;
    struct csn_symbolicator_options options = CSN_SYMBOLICATOR_OPTIONS_INIT;
    options.max_frames = max_frames;
    options.cache_bytes = cache_bytes;
    if (!stack_indexes_init(&session->indexes, files, folders)) return false;
    if (csn_symbolicator_create(&options, &session->symbolicator, NULL) == CSN_OK) return true;
    complain_memory("stacks");
    return false;
}

void session_deinit(struct stack_session *session) {
    csn_symbolicator_destroy(session->symbolicator);
    table_deinit(&session->lasting);
    table_deinit(&session->own);
    free(session->placed);
    free(session->frames);
    free(session->same_name);
    stack_indexes_deinit(&session->indexes);
}

void session_use(struct stack_session *session, bool own) {
    struct module_table *wanted = own ? &session->own : &session->lasting;
    if (own) table_clear(&session->own);
    if (own || session->modules != wanted) session->stale = true;
    session->modules = wanted;
}

void session_clear_modules(struct stack_session *session) {
    table_clear(session->modules);
    session->stale = true;
}

static char *copy_of(struct csn_str text) { return text.len ? strndup(text.ptr, text.len) : NULL; }

bool session_add_module(struct stack_session *session, const struct module_names *names, uint64_t start, uint64_t end,
                        uint64_t bias, uint32_t *out) {
    struct module_table *table = session->modules;
    if (table->count == MODULES_MAX) return false;
    if (table->count == table->room && !table_grow(table)) return false;
    struct stack_module module = { .name = copy_of(names->name), .index_path = copy_of(names->index), .id = names->id,
                                   .start = start, .end = end, .bias = bias };
    if ((names->name.len && !module.name) || (names->index.len && !module.index_path)) {
        free(module.name);
        free(module.index_path);
        return false;
    }
    table->items[table->count] = module;
    table_place(table, table->count);
    *out = table->count++;
    session->stale = true;
    return true;
}

uint32_t session_find_module(const struct stack_session *session, struct csn_str name) {
    return table_find(session->modules, name);
}

uint32_t session_name_module(struct stack_session *session, struct csn_str name, const struct build_id *id) {
    uint32_t module = table_find(session->modules, name);
    if (module != NO_MODULE && !(id && id->size)) return module;
    if (module != NO_MODULE) {
        struct stack_module *known = &session->modules->items[module];
        if (known->id.size == id->size && memcmp(known->id.bytes, id->bytes, id->size) == 0) return module;
        if (!known->id.size) {
            known->id = *id;
            known->resolved = false;
            session->stale = true;
            return module;
        }
    }
    struct module_names names = { .name = name };
    if (id) names.id = *id;
    return session_add_module(session, &names, 0, 0, 0, &module) ? module : NO_MODULE;
}

const struct csn_index *session_index(struct stack_session *session, uint32_t module) {
    struct stack_module *m = &session->modules->items[module];
    if (m->resolved) return m->index;
    const struct module_names names = { str_of(m->name), str_of(m->index_path), m->id };
    m->index = stack_indexes_find(&session->indexes, &names);
    m->resolved = true;
    return m->index;
}

void session_begin_stack(struct stack_session *session) {
    session->frame_count = 0;
    session->too_many = false;
}

static bool make_room(struct stack_session *session) {
    if (session->frame_count < session->frame_room) return true;
    size_t room = session->frame_room ? session->frame_room * 2 : 64;
    struct csn_stack_frame *frames = reallocarray(session->frames, room, sizeof(*frames));
    if (!frames) return false;
    session->frames = frames;
    uint32_t *same_name = reallocarray(session->same_name, room, sizeof(*same_name));
    if (!same_name) return false;
    session->same_name = same_name;
    session->frame_room = room;
    return true;
}

static bool add_frame(struct stack_session *session, struct csn_stack_frame frame, uint32_t same_name) {
    if (session->frame_count == session->max_frames) {
        session->too_many = true;
        return true;
    }
    if (!make_room(session)) return false;
    session->same_name[session->frame_count] = same_name;
    session->frames[session->frame_count++] = frame;
    return true;
}

bool session_add_frame(struct stack_session *session, uint64_t pc, uint32_t module, uint32_t flags) {
    return add_frame(session, (struct csn_stack_frame){ pc, module, flags }, PLACED);
}

bool session_add_unplaced(struct stack_session *session, uint32_t same_name) {
    /* No module covers the last pc: the frame has a place in the stack and nothing else. */
    return add_frame(session, (struct csn_stack_frame){ UINT64_MAX, 0, CSN_STACK_EXACT }, same_name);
}

static csn_status place_modules(struct stack_session *session, struct csn_error *err) {
    const struct module_table *table = session->modules;
    session->placings++;
    if (stack_indexes_full(&session->indexes)) {
        csn_symbolicator_forget(session->symbolicator);
        stack_indexes_trim(&session->indexes);
        for (uint32_t i = 0; i < session->lasting.count; i++) session->lasting.items[i].resolved = false;
        for (uint32_t i = 0; i < session->own.count; i++) session->own.items[i].resolved = false;
    }
    if (table->count > session->placed_room) {
        struct csn_module *placed = reallocarray(session->placed, table->count, sizeof(*placed));
        if (!placed) return CSN_E_MEMORY;
        session->placed = placed;
        session->placed_room = table->count;
    }
    for (uint32_t i = 0; i < table->count; i++) {
        const struct stack_module *m = &table->items[i];
        session->placed[i] = (struct csn_module){ .name = str_of(m->name), .index = session_index(session, i),
                                                  .start = m->start, .end = m->end, .bias = m->bias };
    }
    csn_status status = csn_symbolicator_set_modules(session->symbolicator, session->placed, table->count, err);
    session->stale = status < 0;
    return status;
}

csn_status session_answer(struct stack_session *session, struct csn_error *err) {
    if (session->stale) {
        csn_status status = place_modules(session, err);
        if (status < 0) return status;
    }
    return csn_symbolicator_answer(session->symbolicator, session->frames, session->frame_count, &session->answers, err);
}

uint64_t session_epoch(const struct stack_session *session) {
    return session->placings + csn_symbolicator_generation(session->symbolicator);
}
