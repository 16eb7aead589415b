/* Numbering of what is written. */
#include "profile/profile_used.h"

#include <string.h>

#include "base/core/search.h"
#include "base/hex.h"
#include "base/utf8_text.h"
#include "profile/profile_places.h"
#include "profile/proto_wire.h"

static uint32_t *new_numbers(struct profile_used *u, size_t i, size_t count) {
    u->sizes[i] = count + 1;
    return csni_alloc_zeroed(u->alloc, count + 1, sizeof(uint32_t));
}

static void use_location(struct profile_used *u, const struct csn_profile *p, uint32_t number) {
    const struct profile_location *location = &p->locations.items[number];
    if (u->locations[number]) return;
    u->locations[number] = 1;
    if (location->module != CSN_PROFILE_NO_MODULE) {
        u->modules[location->module] = 1;
        const uint64_t place = csni_profile_mapped_place(p, location);
        if (place > u->module_last[location->module]) u->module_last[location->module] = place;
    }
    for (uint32_t i = 0; i < location->line_count; i++) u->functions[p->lines.items[location->first_line + i].function] = 1;
}

/* In their order in the profile: tables are written in it. */
static size_t number_marked(uint32_t *numbers, size_t count) {
    uint32_t next = 0;
    for (size_t i = 0; i < count; i++)
        if (numbers[i]) numbers[i] = ++next;
    return next;
}

/* Callers have smaller numbers than those they call: marked downwards, numbered upwards. */
static void use_nodes(struct profile_used *u, const struct csn_profile *p) {
    for (size_t i = 0; i < p->samples.count; i++) u->nodes[p->samples.items[i].stack] = 1;
    for (size_t i = p->nodes.count; i-- > 1;)
        if (u->nodes[i]) u->nodes[p->nodes.items[i].caller] = 1;
    u->nodes[0] = 0;
    for (size_t i = 1; i < p->nodes.count; i++) {
        if (!u->nodes[i]) continue;
        u->nodes[i] = (uint32_t)++u->node_count;
        use_location(u, p, p->nodes.items[i].location);
    }
}

/* Readers take the first module for the program. Where no mapping tells which it is, it is the first that is no library. */
static bool may_be_program(const struct csn_profile *p, const struct profile_module *module) {
    const struct csn_str path = csni_profile_str(p, module->path);
    if (!path.len || path.ptr[0] == '[' || csni_str_equal(path, CSN_STR("vmlinux"))) return false;
    for (size_t i = 0; i + 3 <= path.len; i++) /* nor a module of the kernel */
        if (memcmp(path.ptr + i, ".so", 3) == 0 || memcmp(path.ptr + i, ".ko", 3) == 0) return false;
    return true;
}

static void number_modules(struct profile_used *u, const struct csn_profile *p) {
    size_t first = 0;
    while (first < p->modules.count && !(u->modules[first] && may_be_program(p, &p->modules.items[first]))) first++;
    if (p->modules.count && p->modules.items[0].end) first = p->modules.count;
    if (first < p->modules.count) u->modules[first] = (uint32_t)++u->module_count;
    for (size_t i = 0; i < p->modules.count; i++)
        if (u->modules[i] && i != first) u->modules[i] = (uint32_t)++u->module_count;
    for (size_t i = 0; i < p->modules.count; i++)
        if (u->modules[i]) u->module_order[u->modules[i] - 1] = (uint32_t)i;
}

static uint32_t location_shows(const struct csn_profile *p, const struct profile_location *location) {
    uint32_t shown = 0;
    for (uint32_t i = 0; i < location->line_count; i++) {
        const struct profile_line *line = &p->lines.items[location->first_line + i];
        const struct profile_function *function = &p->functions.items[line->function];
        shown |= (function->name ? MODULE_FUNCTIONS : 0u) | (function->file ? MODULE_FILES : 0u) | (line->line ? MODULE_LINES : 0u);
    }
    return shown;
}

/* What the input says, and what each location shows: pprof looks up nothing in a mapping that has one of them. */
static void find_what_is_known(struct profile_used *u, const struct csn_profile *p) {
    enum { SHOWN = MODULE_FUNCTIONS | MODULE_FILES | MODULE_LINES, ALL = SHOWN | MODULE_INLINES };
    for (size_t i = 0; i < p->locations.count; i++)
        if (u->locations[i] && p->locations.items[i].module != CSN_PROFILE_NO_MODULE)
            u->module_known[p->locations.items[i].module] = SHOWN;
    for (size_t i = 0; i < p->locations.count; i++)
        if (u->locations[i] && p->locations.items[i].module != CSN_PROFILE_NO_MODULE)
            u->module_known[p->locations.items[i].module] &= location_shows(p, &p->locations.items[i]);
    for (size_t i = 0; i < p->modules.count; i++) {
        const uint32_t told = p->modules.items[i].known;
        u->module_known[i] = ((told & MODULE_BY_LOCATIONS ? u->module_known[i] : 0) | told) & ALL;
    }
}

/* Names that become equal are one string. */
static csn_status replace_strings(struct profile_used *u, struct csn_profile *p, struct csn_error *err) {
    const uint32_t count = (uint32_t)p->strings.count;
    struct csni_buffer text = { .alloc = p->alloc };
    csn_status status = CSN_OK;
    for (uint32_t i = 0; i < count && status == CSN_OK; i++) {
        const struct csn_str own = csni_profile_str(p, i);
        struct replaced_string made = { i, 0 };
        if (csni_is_utf8(own)) continue;
        text.size = 0;
        char *at = (char *)csni_buffer_reserve(&text, CSNI_UTF8_GROWTH * own.len);
        const struct csn_str clean = { at, at ? csni_to_utf8(own, at) : 0 };
        status = at ? csni_profile_string(p, clean, &made.by, err) : csni_fail_memory(err, own.len);
        if (status == CSN_OK && !csni_vec_push(&u->replaced, made)) status = csni_fail_memory(err, sizeof made);
    }
    csni_buffer_deinit(&text);
    return status;
}

csn_status csni_profile_used_init(struct profile_used *u, struct csn_profile *p, bool keeps_mappings, struct csn_error *err) {
    *u = (struct profile_used){ .alloc = p->alloc, .string_order = { .alloc = p->alloc }, .replaced = { .alloc = p->alloc } };
    csn_status status = replace_strings(u, p, err);
    if (status < 0) {
        csni_profile_used_deinit(u);
        return status;
    }
    u->nodes = new_numbers(u, 0, p->nodes.count);
    u->locations = new_numbers(u, 1, p->locations.count);
    u->functions = new_numbers(u, 2, p->functions.count);
    u->modules = new_numbers(u, 3, p->modules.count);
    u->strings = new_numbers(u, 4, p->strings.count);
    u->module_order = new_numbers(u, 5, p->modules.count);
    u->module_known = new_numbers(u, 6, p->modules.count);
    u->module_last = csni_alloc_zeroed(u->alloc, p->modules.count + 1, sizeof *u->module_last);
    if (!u->module_last || !u->nodes || !u->locations || !u->functions || !u->modules || !u->strings ||
        !u->module_order || !u->module_known || csni_profile_used_string(u, 0) == UINT32_MAX) {
        csni_profile_used_deinit(u);
        return csni_fail_memory(err, p->nodes.count * sizeof *u->nodes);
    }
    use_nodes(u, p);
    for (size_t i = 0; keeps_mappings && i < p->modules.count; i++)
        if (p->modules.items[i].end) u->modules[i] = 1;
    u->location_count = number_marked(u->locations, p->locations.count);
    u->function_count = number_marked(u->functions, p->functions.count);
    number_modules(u, p);
    find_what_is_known(u, p);
    return CSN_OK;
}

void csni_profile_used_deinit(struct profile_used *u) {
    uint32_t *const numbers[] = { u->nodes, u->locations, u->functions, u->modules, u->strings, u->module_order, u->module_known };
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) csni_free(u->alloc, numbers[i], u->sizes[i] * sizeof(uint32_t));
    csni_free(u->alloc, u->module_last, u->sizes[5] * sizeof *u->module_last);
    csni_vec_deinit(&u->string_order);
    csni_vec_deinit(&u->replaced);
    *u = (struct profile_used){ .alloc = u->alloc };
}

static bool replaced_before(const void *context, size_t i, const void *key) {
    const struct profile_used *u = context;
    return u->replaced.items[i].string < *(const uint32_t *)key;
}

uint32_t csni_profile_used_utf8(const struct profile_used *u, uint32_t string) {
    const size_t at = csni_search_in(0, u->replaced.count, replaced_before, u, &string);
    return at < u->replaced.count && u->replaced.items[at].string == string ? u->replaced.items[at].by : string;
}

uint32_t csni_profile_used_string(struct profile_used *u, uint32_t string) {
    string = csni_profile_used_utf8(u, string);
    if (u->strings[string]) return u->strings[string] - 1;
    if (!csni_vec_push(&u->string_order, string)) return UINT32_MAX;
    u->strings[string] = (uint32_t)u->string_order.count;
    return u->strings[string] - 1;
}

struct csn_str csni_profile_build_id(const struct csn_profile *p, const struct profile_module *module,
                                     char digits[PROFILE_ID_DIGITS]) {
    if (module->build_id_text) return csni_profile_str(p, module->build_id_text);
    csni_hex_text(module->build_id, module->build_id_size, digits);
    return csni_str(digits);
}

uint64_t csni_profile_module_end(const struct profile_used *u, uint32_t module) {
    enum { PAGE = 4096 };
    const uint64_t last = u->module_last[module];
    return last > UINT64_MAX - PAGE ? UINT64_MAX : (last / PAGE + 1) * PAGE;
}

void csni_profile_put_lines(struct csni_buffer *message, uint32_t number, struct csni_buffer *inner,
                            const struct csn_profile *profile, const struct profile_used *used,
                            const struct profile_location *location) {
    for (uint32_t k = 0; k < location->line_count; k++) {
        const struct profile_line *line = &profile->lines.items[location->first_line + k];
        csni_proto_put_number(inner, 1, used->functions[line->function]);
        csni_proto_put_number(inner, 2, line->line);
        csni_proto_put_number(inner, 3, line->column);
        csni_proto_put_message(message, number, inner);
    }
}
