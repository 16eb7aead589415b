/* From what a line says to an address in an image. */
#include "stack/lines/stack_modules.h"

#include <string.h>

#include <callsign/inspect.h>

#include "stack/lines/gdb_mapping.h"
#include "stack/lines/line_scan.h"

static bool create_maps(struct stack_modules *modules) {
    const struct csn_store *store = modules->session->store;
    if (csn_process_maps_create(NULL, &modules->maps, NULL) < 0) return false;
    for (size_t i = 0; i < csn_store_given_count(store); i++) {
        const struct csn_str name = csn_store_given_name(store, i);
        if (csn_process_maps_name_image(modules->maps, name, csn_store_given_path(store, i), NULL) < 0) return false;
    }
    modules->first_generation = csn_process_maps_generation(modules->maps);
    return true;
}

bool stack_modules_init(struct stack_modules *modules, struct stack_session *session) {
    *modules = (struct stack_modules){ .session = session };
    const bool good = create_maps(modules);
    modules->generation = modules->first_generation;
    return good;
}

void stack_modules_deinit(struct stack_modules *modules) {
    csn_process_maps_destroy(modules->maps);
    stack_places_deinit(&modules->places);
    modules->maps = NULL;
}

/* ---- what lines describe ---- */

void stack_modules_add_mapping(struct stack_modules *modules, uint64_t pid, const struct csn_process_mapping *mapping) {
    if (csn_process_maps_add_mapping(modules->maps, pid, mapping, NULL) == CSN_E_MEMORY) modules->no_memory = true;
}

bool stack_modules_add_maps_line(struct stack_modules *modules, struct csn_str line) {
    csn_status status = csn_process_maps_add_line(modules->maps, 0, line, NULL);
    if (status == CSN_E_MEMORY) modules->no_memory = true;
    return status != CSN_NONE;
}

bool stack_modules_add_gdb_line(struct stack_modules *modules, struct csn_str line) {
    struct csn_process_mapping mapping;
    if (!gdb_mapping_read(line, &mapping)) return false;
    stack_modules_add_mapping(modules, 0, &mapping);
    return true;
}

bool stack_modules_add_any_line(struct stack_modules *modules, struct csn_str line) {
    if (stack_modules_add_maps_line(modules, line) || stack_modules_add_gdb_line(modules, line)) return true;
    csn_status status = csn_process_maps_add_report_line(modules->maps, 0, line, NULL);
    if (status == CSN_E_MEMORY) modules->no_memory = true;
    return status != CSN_NONE;
}

void stack_modules_forget(struct stack_modules *modules) {
    struct csn_process_maps *old = modules->maps;
    if (!create_maps(modules)) {
        csn_process_maps_destroy(modules->maps);
        modules->maps = old;
        modules->no_memory = true;
        return;
    }
    csn_process_maps_destroy(old);
    modules->generation = UINT64_MAX; /* of none: the session's modules are not of these maps */
    modules->places.count = 0;
}

bool stack_modules_has_maps(const struct stack_modules *modules) {
    return csn_process_maps_generation(modules->maps) != modules->first_generation;
}

void stack_modules_add_image(struct stack_modules *modules, const struct module_names *names, uint64_t start, uint64_t end) {
    struct csn_process_mapping image = CSN_PROCESS_MAPPING_INIT;
    image.start = start;
    image.end = end;
    image.path = names->name;
    image.build_id = names->id.bytes;
    image.build_id_size = names->id.size;
    if (csn_process_maps_add_image(modules->maps, 0, &image, NULL) == CSN_E_MEMORY) modules->no_memory = true;
}

/* ---- the session's modules ---- */

static struct module_names names_of(const struct csn_process_module *module) {
    struct module_names names = { .name = module->path, .id = { .size = module->build_id_size } };
    for (size_t i = 0; i < module->build_id_size; i++) names.id.bytes[i] = module->build_id[i];
    return names;
}

/* A module becomes one of the session when a frame needs it: a log may have thousands of mappings between two stacks. */
static bool use_module(struct stack_modules *modules, const struct csn_process_module *found, uint32_t *out) {
    struct stack_session *session = modules->session;
    const struct module_names names = names_of(found);
    if (!session_add_module(session, &names, found->start, found->end, 0, out)) return false;
    const struct csn_index *index = session_index(session, *out);
    session->modules->items[*out].bias = index ? module_bias(found, index) : found->bias;
    return true;
}

/* The stack that begins is of this process. Mappings end a stack: its modules are the same for all of its frames, which
 * have their numbers. */
static void use_process(struct stack_modules *modules, uint64_t pid) {
    uint64_t generation = csn_process_maps_generation(modules->maps);
    if (modules->pid == pid && modules->generation == generation) return;
    session_clear_modules(modules->session);
    modules->pid = pid;
    modules->generation = generation;
}

/* False: no memory; so below. */
static bool use_module_at(struct stack_modules *modules, uint64_t pc) {
    struct csn_process_module found;
    uint32_t module;
    if (module_table_covers(modules->session->modules, pc)) return true;
    csn_status status = csn_process_maps_find(modules->maps, modules->pid, pc, &found);
    if (status == CSN_OK) use_module(modules, &found, &module);
    return status >= 0;
}

static bool use_module_named(struct stack_modules *modules, struct csn_str name) {
    struct csn_process_module found;
    uint32_t module;
    struct module_table *table = modules->session->modules;
    if (!name.len || !stack_modules_has_maps(modules)) return true;
    module = session_find_module(modules->session, name);
    /* Other mappings make all modules new ones. */
    if (module != NO_MODULE && (!table->items[module].named_in || table->items[module].is_searched)) return true;
    if (module != NO_MODULE) table->items[module].is_searched = true;
    csn_status status = csn_process_maps_find_named(modules->maps, modules->pid, name, &found);
    /* It may have been used already, and be called otherwise by the line. */
    if (status == CSN_OK && !module_table_covers(table, found.start)) use_module(modules, &found, &module);
    return status >= 0;
}

/* ---- frames ---- */

/* An index of any name serves a line that names no module, if it has that function in that size. */
static uint32_t module_of_symbol(struct stack_session *session, const struct line_frame *frame, uint32_t module) {
    const struct symbol_site site = { frame->symbol, frame->value, frame->symbol_size, true };
    struct csn_str given;
    if (!frame->is_unnamed || !frame->symbol_size || session_index(session, module)) return module;
    return stack_place_symbol(session, &site, &given) ? session_name_module(session, given, NULL) : module;
}

enum { SAME_NAME_MAX = 16 };

/* The one function of that name, or of what a demangler made of it. */
static bool find_function(struct stack_session *session, const struct csn_index *index, const struct symbol_site *site,
                          uint64_t *start, uint32_t *count) {
    uint64_t starts[SAME_NAME_MAX];
    if (!symbol_tables_find(&session->symbols, index, site, start, count)) return false;
    if (*count || !(memchr(site->name.ptr, '(', site->name.len) || memchr(site->name.ptr, ':', site->name.len))) return true;
    if (!symbol_tables_find_plain(&session->symbols, index, site->name, false, starts, SAME_NAME_MAX, count)) return false;
    if (*count) *start = starts[0];
    return true;
}

bool stack_modules_demangled(struct stack_session *session, const struct symbol_site *site, struct csn_str *module) {
    const size_t given = csn_store_given_count(session->store);
    for (size_t i = 0; i < given && i < SESSION_GIVEN_MAX; i++) {
        const struct csn_index *index = session_given_index(session, i);
        uint64_t start;
        uint32_t count;
        if (!index || !find_function(session, index, site, &start, &count) || !count) continue;
        *module = csn_store_given_name(session->store, i);
        return true;
    }
    return false;
}

/* A line may name a function alone: an index that was given may have it. */
static bool find_bare_symbol(struct stack_session *session, const struct line_frame *frame, struct csn_str *module) {
    const struct symbol_site site = { frame->symbol, frame->value, frame->symbol_size, false };
    return stack_place_symbol(session, &site, module);
}

static bool add_bare_symbol(struct stack_session *session, const struct line_frame *frame) {
    const struct frame_symbol named = { .offset = frame->value, .module = NO_MODULE };
    return session_add_symbol(session, &named, frame->symbol, frame->flags);
}

static uint32_t site_flags(const struct line_frame *frame, uint64_t start) {
    const bool interrupted = frame->interrupted_pc && may_lie_at(start + frame->value, frame->interrupted_pc);
    return interrupted ? CSN_STACK_EXACT : frame->flags;
}

static bool add_symbol_frame(struct stack_modules *modules, const struct line_frame *frame, uint32_t named_module) {
    struct stack_session *session = modules->session;
    uint32_t module = module_of_symbol(session, frame, named_module);
    const struct csn_index *index = session_index(session, module);
    const struct symbol_site site = { frame->symbol, frame->value, frame->symbol_size, false };
    uint64_t start = 0;
    uint32_t count = 0;
    if (index && !find_function(session, index, &site, &start, &count)) return false;
    if (count == 1) return session_add_frame(session, start + frame->value, module, site_flags(frame, start) | CSN_STACK_ADDRESS);
    if (!count && frame->pc) return session_add_frame(session, frame->pc, NO_MODULE, frame->flags);
    const struct frame_symbol named = { .offset = frame->value, .module = module, .same_name = count, .has_index = index };
    return session_add_symbol(session, &named, frame->symbol, frame->flags);
}

/* A pc in a module of which nothing tells where it lies, and that has no index, is a number of it. A module that has one would be
 * asked for the number, which is no address of it. Code without a name in "[heap]" or in a kernel's module is found by no index. */
static uint32_t module_without_index(struct stack_session *session, const struct line_frame *frame) {
    if (!frame->module.len || frame->is_unnamed || is_word(frame->module, "[unknown]")) return NO_MODULE;
    if (!frame->symbol.len && (frame->module.ptr[0] == '[' || frame->value >> 63)) return NO_MODULE;
    const uint32_t module = session_find_module(session, frame->module);
    return module != NO_MODULE && session_index(session, module) ? NO_MODULE : module;
}

/* A pc that no mapping covers may be placed all the same. */
static bool add_pc_frame(struct stack_modules *modules, const struct line_frame *frame) {
    struct stack_session *session = modules->session;
    uint32_t module;
    uint64_t addr;
    if (module_table_covers(session->modules, frame->value))
        return session_add_frame(session, frame->value, NO_MODULE, frame->flags);
    if (stack_place_pc(&modules->places, session, frame, &module, &addr))
        return session_add_frame(session, addr, module, frame->flags | CSN_STACK_ADDRESS)
               && stack_place_guessed(&modules->places, session, frame, module, addr);
    module = module_without_index(session, frame);
    if (module != NO_MODULE && frame->symbol.len) {
        const struct frame_symbol named = { .offset = frame->symbol_offset, .pc = frame->value, .module = module,
                                            .is_offset_unknown = !frame->has_symbol_offset };
        return session_add_symbol(session, &named, frame->symbol, frame->flags);
    }
    return session_add_frame(session, frame->value, module, frame->flags | (module == NO_MODULE ? 0 : CSN_STACK_ADDRESS))
           && stack_place_later(&modules->places, session, frame);
}

static bool add_pc_at(struct stack_modules *modules, const struct line_frame *frame) {
    return (!frame->by_maps || use_module_at(modules, frame->value)) && add_pc_frame(modules, frame);
}

/* A pc less the module's bias: what is not below its base is an address already. */
static uint64_t address_less_bias(struct stack_session *session, uint32_t module, uint64_t value) {
    uint64_t base = session_first_byte(session, module);
    return value < base ? value + base : value;
}

/* What an index calls an address of the image. Where that is linked to this machine's image tells. */
static uint64_t index_address(struct stack_modules *modules, struct csn_str path, uint32_t module, uint64_t addr) {
    const struct csn_index *index = session_index(modules->session, module);
    uint64_t linked_at;
    if (!index || csn_process_maps_image_base(modules->maps, path, &linked_at) != CSN_OK) return addr;
    const uint64_t bias = csn_index_link_bias(index, linked_at);
    return addr >= bias ? addr - bias : addr;
}

/* An address of the image, if this machine has it; else it counts from the first byte: by the mappings, or as most linkers lay
 * files out. False: no memory. */
static bool read_file_offset(struct stack_modules *modules, struct csn_str path, uint64_t *value, enum frame_site *site) {
    uint64_t base;
    if (csn_process_maps_file_address(modules->maps, path, *value, value) == CSN_E_MEMORY) return false;
    *site = csn_process_maps_image_base(modules->maps, path, &base) == CSN_OK ? SITE_ADDRESS : SITE_LESS_BIAS;
    return true;
}

/* The index of its module has something else at the frame's address. */
static bool add_told_frame(struct stack_session *session, const struct line_frame *frame, uint32_t module) {
    const struct frame_symbol named = { .offset = frame->symbol_offset, .module = module, .is_elsewhere = true,
                                        .is_offset_unknown = !frame->has_symbol_offset };
    if (!frame->symbol.len) return session_add_frame(session, frame->pc, NO_MODULE, frame->flags);
    return session_add_symbol(session, &named, frame->symbol, frame->flags);
}

/* Whether a number that may be an offset in the file, which then is `addr`, is a pc: by the line's symbol, where a mapping has the
 * pc or in a program at a fixed place. That a symbol would lie there if the image was moved by whole pages tells nothing: in an
 * index of another build one function in 256 does. Nothing is learned from the end of the image, which another build has elsewhere,
 * too. */
static bool is_pc_by_symbol(struct stack_modules *modules, const struct stack_dialect *dialect, void *state,
                            const struct line_frame *frame, uint32_t module, uint64_t addr) {
    const struct csn_index *index = session_index(modules->session, module);
    struct csn_process_module at;
    if (!index) return false;
    const bool is_mapped = csn_process_maps_find(modules->maps, modules->pid, frame->value, &at) == CSN_OK;
    const uint64_t bias = is_mapped ? module_bias(&at, index) : 0;
    const bool is_offset = stack_place_has_symbol(index, frame, addr);
    const bool is_pc = stack_place_has_symbol(index, frame, frame->value - bias);
    if (is_offset != is_pc) dialect->learn_site(state, is_pc ? SITE_PC : SITE_FILE_OFFSET);
    return is_offset != is_pc ? is_pc : !stack_place_is_in_image(index, addr);
}

void stack_modules_add_place(struct stack_modules *modules, const struct module_names *names, uint64_t start, uint64_t offset) {
    const uint32_t module = session_name_module(modules->session, names->name, &names->id);
    if (module == NO_MODULE) return;
    stack_place_known(&modules->places, modules->session, module,
                      start + offset - session_offset_address(modules->session, module, offset));
}

bool stack_modules_add_frame(struct stack_modules *modules, const struct stack_dialect *dialect, void *state,
                             const struct line_frame *frame) {
    struct stack_session *session = modules->session;
    uint64_t value = frame->value;
    if (!session->frame_count) use_process(modules, frame->pid);
    if (!use_module_named(modules, frame->module)) return false;
    if (frame->site == SITE_PC) return add_pc_at(modules, frame);
    struct csn_str name = frame->module;
    if (frame->site == SITE_SYMBOL && !name.len && !find_bare_symbol(session, frame, &name)) return add_bare_symbol(session, frame);
    uint32_t module = session_name_module(session, name, &frame->id);
    if (module == NO_MODULE) return session_add_frame(session, frame->pc, NO_MODULE, frame->flags);
    if (frame->site == SITE_SYMBOL) return add_symbol_frame(modules, frame, module);
    enum frame_site site = frame->site;
    if (site == SITE_FILE_OFFSET && !read_file_offset(modules, frame->module, &value, &site)) return false;
    const bool is_dialects = frame->site == SITE_ADDRESS && dialect->address;
    if (is_dialects && !dialect->address(state, session, frame, module, &value)) return add_told_frame(session, frame, module);
    if (!is_dialects && site != SITE_OFFSET) value = index_address(modules, frame->module, module, value);
    if (is_dialects && value == UINT64_MAX) return session_add_frame(session, frame->value, NO_MODULE, frame->flags);
    if (site == SITE_OFFSET) value = session_offset_address(session, module, value);
    if (site == SITE_LESS_BIAS) value = address_less_bias(session, module, value);
    if (frame->may_be_pc && is_pc_by_symbol(modules, dialect, state, frame, module, value)) return add_pc_at(modules, frame);
    /* The text of perf has an offset in the file for the pc, unless the two differ. */
    const bool has_pc = frame->site == SITE_FILE_OFFSET ? frame->pc != frame->value : site == SITE_OFFSET || site == SITE_LESS_BIAS;
    if (has_pc && frame->pc)
        stack_place_known(&modules->places, session, module, frame->pc - value);
    return session_add_frame(session, value, module, frame->flags | CSN_STACK_ADDRESS);
}
