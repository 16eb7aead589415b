/* Modules and frames on their way to the library. */
#define _GNU_SOURCE
#include "stack/session/stack_session.h"

#include <stdlib.h>
#include <string.h>

#include <callsign/inspect.h>

#include "ui/cli_message.h"
#include "ui/growing.h"

static struct csn_str str_of(const char *text) {
    return text ? (struct csn_str){ text, strlen(text) } : (struct csn_str){ "", 0 };
}

/* ---- the session ---- */

bool session_init(struct stack_session *session, const struct text_list *files, const struct text_list *folders,
                  const struct search_values *search, uint64_t max_frames, uint64_t cache_bytes) {
    *session = (struct stack_session){ .max_frames = max_frames, .is_stale = true, .files = files, .stack = 2 };
    session->modules = &session->stream_modules;
    struct csn_symbolicator_options options = CSN_SYMBOLICATOR_OPTIONS_INIT;
    options.max_frames = max_frames;
    options.cache_bytes = cache_bytes;
    if (!symbol_search_begin(&session->search, search)) return false;
    if (!module_store_create(files, folders, &session->search, &session->store)) return false;
    if (csn_symbolicator_create(&options, &session->symbolicator, NULL) == CSN_OK) return true;
    cli_error_memory("stacks");
    return false;
}

void session_deinit(struct stack_session *session) {
    csn_symbolicator_destroy(session->symbolicator);
    symbol_tables_clear(&session->symbols);
    module_table_deinit(&session->stream_modules);
    module_table_deinit(&session->own_modules);
    free(session->own_text);
    free(session->placed);
    free(session->frames);
    frame_symbols_deinit(&session->frame_symbols);
    csn_store_destroy(session->store);
    symbol_search_end(&session->search);
}

bool session_is_full(const struct stack_session *session) {
    return csn_store_is_full(session->store) && session->opened > session->spared;
}

void session_trim(struct stack_session *session) {
    csn_symbolicator_forget(session->symbolicator);
    symbol_tables_clear(&session->symbols);
    module_table_forget_indexes(&session->stream_modules);
    module_table_forget_indexes(&session->own_modules);
    csn_store_trim(session->store);
    session->has_forgotten = true;
    session->spared = 2 * session->reopened;
    session->opened = session->reopened = 0;
}

/* ---- modules ---- */

void session_use(struct stack_session *session, bool own) {
    struct module_table *wanted = own ? &session->own_modules : &session->stream_modules;
    if (own) module_table_clear(&session->own_modules);
    if (own) session->own_text_size = 0;
    if (own || session->modules != wanted) session->is_stale = true;
    session->modules = wanted;
}

void session_keep_text(struct stack_session *session, struct csn_str text) {
    if (text.len > session->own_text_capacity) {
        char *grown = realloc(session->own_text, text.len);
        if (!grown) return;
        session->own_text = grown;
        session->own_text_capacity = text.len;
    }
    memcpy(session->own_text, text.ptr, text.len);
    session->own_text_size = text.len;
}

bool session_use_same(struct stack_session *session, struct csn_str text, size_t *size) {
    *size = session->own_text_size;
    if (!*size || text.len < *size || memcmp(text.ptr, session->own_text, *size) != 0) return false;
    if (session->modules != &session->own_modules) session->is_stale = true;
    session->modules = &session->own_modules;
    return true;
}

void session_clear_modules(struct stack_session *session) {
    module_table_clear(session->modules);
    session->is_stale = true;
}

bool session_add_module(struct stack_session *session, const struct module_names *names, uint64_t start, uint64_t end,
                        uint64_t bias, uint32_t *out) {
    if (!module_table_add(session->modules, names, start, end, bias, out)) return false;
    session->has_new_range |= start < end;
    session->is_short = true;
    return true;
}

uint32_t session_find_module(const struct stack_session *session, struct csn_str name) {
    return module_table_find(session->modules, name);
}

/* Whether what is known of the module's build holds for the stack that is read: it told that itself, or a list of modules did. */
static bool is_of_stack(const struct stack_session *session, const struct stack_module *module) {
    return !module->named_in || module->named_in == session->stack;
}

/* A line names it without a build id. */
static uint32_t find_any_build(const struct stack_session *session, struct csn_str name) {
    static const struct build_id none = { .size = 0 };
    const uint32_t module = module_table_find(session->modules, name);
    if (module == NO_MODULE) return NO_MODULE;
    const struct stack_module *known = &session->modules->items[module];
    return !known->id.size || is_of_stack(session, known) ? module : module_table_find_build(session->modules, name, &none);
}

/* Frames before it in the stack may have named it without the build id. */
static void tell_build(struct stack_session *session, struct csn_str name, uint32_t module) {
    static const struct build_id none = { .size = 0 };
    const uint32_t unknown = module_table_find_build(session->modules, name, &none);
    if (unknown == NO_MODULE || session->modules->items[unknown].named_in != session->stack) return;
    for (size_t i = 0; i < session->frame_count; i++) {
        struct csn_stack_frame *frame = &session->frames[i];
        if ((frame->flags & CSN_STACK_ADDRESS) && frame->module == unknown) frame->module = module;
    }
    for (size_t i = 0; i < session->frame_symbols.count; i++)
        if (session->frame_symbols.items[i].module == unknown) session->frame_symbols.items[i].module = module;
    session->modules->items[unknown].named_in = session->stack - 1; /* it is told */
}

/* A line names it with a build id, which a list of modules may lack. */
static uint32_t find_build(struct stack_session *session, struct csn_str name, const struct build_id *id) {
    uint32_t module = module_table_find_build(session->modules, name, id);
    if (module != NO_MODULE) return module;
    module = module_table_find(session->modules, name);
    if (module == NO_MODULE) return NO_MODULE;
    const struct stack_module *known = &session->modules->items[module];
    if (build_id_equal(&known->id, id)) return module;
    if (known->id.size || known->named_in) return NO_MODULE;
    module_table_set_id(session->modules, module, id);
    session->is_stale = true;
    return module;
}

uint32_t session_name_module(struct stack_session *session, struct csn_str name, const struct build_id *id) {
    const bool has_id = id && id->size;
    struct module_names names = { .name = name };
    uint32_t module = has_id ? find_build(session, name, id) : find_any_build(session, name);
    if (has_id) names.id = *id;
    if (module != NO_MODULE) {
        module_table_name(session->modules, module, session->modules->items[module].named_in ? session->stack : 0);
    } else {
        if (!session_add_module(session, &names, 0, 0, 0, &module)) return NO_MODULE;
        module_table_name(session->modules, module, session->stack);
        session->modules->named_count++;
    }
    if (has_id) tell_build(session, name, module);
    return module;
}

const struct csn_index *session_index(struct stack_session *session, uint32_t module) {
    const struct stack_module *m = &session->modules->items[module];
    const bool was_resolved = m->resolved, was_forgotten = m->forgotten;
    const struct csn_index *index = module_table_index(session->modules, session->store, module, session->explain);
    session->opened += !was_resolved && index;
    session->reopened += was_forgotten && index;
    return index;
}

struct csn_module session_placed_module(struct stack_session *session, uint32_t module) {
    const struct stack_module *m = &session->modules->items[module];
    const bool is_closed = m->forgotten && m->start >= m->end;
    return (struct csn_module){ .name = str_of(m->name), .index = is_closed ? NULL : session_index(session, module),
                                .start = m->start, .end = m->end, .bias = m->bias };
}

bool session_next_reopened(struct stack_session *session, const struct csn_module *placed, size_t *frame, uint32_t *module) {
    if (!session->has_forgotten) return false;
    while (*frame < session->frame_count) {
        const struct csn_stack_frame *at = &session->frames[(*frame)++];
        if (!(at->flags & CSN_STACK_ADDRESS) || placed[at->module].index == session_index(session, at->module)) continue;
        *module = at->module;
        return true;
    }
    return false;
}

const struct csn_index *session_given_index(struct stack_session *session, size_t number) {
    uint32_t module = session_name_module(session, csn_store_given_name(session->store, number), NULL);
    return module == NO_MODULE ? NULL : session_index(session, module);
}

uint64_t session_image_base(struct stack_session *session, uint32_t module) {
    return session_index(session, module) ? session->modules->items[module].base : 0;
}

uint64_t session_first_byte(struct stack_session *session, uint32_t module) {
    return session_index(session, module) ? session->modules->items[module].first_byte : 0;
}

uint64_t session_offset_address(struct stack_session *session, uint32_t module, uint64_t offset) {
    const struct csn_index *index = session_index(session, module);
    return index ? csn_index_offset_address(index, offset) : offset;
}

/* ---- frames ---- */

/* Modules that only lines of stacks before have named are named again where they come again: there may be any number in a log. */
static void drop_named_modules(struct stack_session *session) {
    struct module_table *table = &session->stream_modules;
    if (session->modules != table || table->named_count <= (MODULES_MAX - (table->count - table->named_count)) / 2) return;
    module_table_drop_named(table);
    session->is_stale = true;
}

void session_begin_stack(struct stack_session *session) {
    session->frame_count = 0;
    session->stack++;
    drop_named_modules(session);
    session->sample.known = false;
    frame_symbols_clear(&session->frame_symbols);
}

bool session_add_frame(struct stack_session *session, uint64_t pc, uint32_t module, uint32_t flags) {
    if (session->frame_count == session->max_frames) return true;
    if (!reserve_items(&session->frames, &session->frame_capacity, session->frame_count + 1, sizeof(*session->frames)))
        return false;
    session->frames[session->frame_count++] = (struct csn_stack_frame){ pc, module, flags };
    return true;
}

bool session_add_symbol(struct stack_session *session, const struct frame_symbol *symbol, struct csn_str name, uint32_t flags) {
    struct frame_symbol item = *symbol;
    item.frame = session->frame_count;
    if (session->frame_count == session->max_frames) return true;
    if (!frame_symbols_add(&session->frame_symbols, &item, name)) return false;
    /* No module covers the last pc: the frame is part of the stack, and nothing is found there. */
    return session_add_frame(session, UINT64_MAX, NO_MODULE, CSN_STACK_EXACT | (flags & CSN_STACK_UNRELIABLE));
}

static bool reserve_placed(struct stack_session *session, uint32_t count) {
    if (count <= session->placed_capacity) return true;
    const uint32_t capacity = count < MODULES_MAX / 2 ? 2 * count : MODULES_MAX;
    struct csn_module *placed = reallocarray(session->placed, capacity, sizeof(*placed));
    if (!placed) return false;
    session->placed = placed;
    session->placed_capacity = capacity;
    return true;
}

static csn_status place_all(struct stack_session *session, struct csn_error *err) {
    session->placings++;
    for (uint32_t i = 0; i < session->modules->count; i++) session->placed[i] = session_placed_module(session, i);
    return csn_symbolicator_set_modules(session->symbolicator, session->placed, session->modules->count, err);
}

/* The symbolicator keeps the ones that it has. */
static csn_status place_last(struct stack_session *session, struct csn_error *err) {
    csn_status status = CSN_OK;
    for (uint32_t i = session->placed_count; status == CSN_OK && i < session->modules->count; i++) {
        session->placed[i] = session_placed_module(session, i);
        status = csn_symbolicator_set_module(session->symbolicator, i, &session->placed[i], err);
    }
    return status;
}

static csn_status place_modules(struct stack_session *session, struct csn_error *err) {
    if (session_is_full(session)) {
        session_trim(session);
        session->is_stale = true;
    }
    if (!reserve_placed(session, session->modules->count)) return CSN_E_MEMORY;
    csn_status status = session->is_stale || session->has_new_range ? place_all(session, err) : place_last(session, err);
    session->placed_count = session->modules->count;
    session->has_new_range = false;
    session->is_stale = session->is_short = status < 0;
    return status;
}

static csn_status place_reopened(struct stack_session *session, struct csn_error *err) {
    size_t frame = 0;
    uint32_t i;
    while (session_next_reopened(session, session->placed, &frame, &i)) {
        session->placed[i] = session_placed_module(session, i);
        csn_status status = csn_symbolicator_set_module(session->symbolicator, i, &session->placed[i], err);
        if (status < 0) return status;
    }
    return CSN_OK;
}

csn_status session_answer(struct stack_session *session, struct csn_error *err) {
    if (session->is_stale || session->is_short) {
        csn_status status = place_modules(session, err);
        if (status < 0) return status;
    }
    csn_status status = place_reopened(session, err);
    if (status < 0) return status;
    status = csn_symbolicator_answer(session->symbolicator, session->frames, session->frame_count, &session->answers, err);
    if (status == CSN_OK) tally_stack(&session->tally, session->answers, session->frame_count, &session->frame_symbols);
    return status;
}

uint64_t session_epoch(const struct stack_session *session) {
    return session->placings + csn_symbolicator_generation(session->symbolicator);
}
