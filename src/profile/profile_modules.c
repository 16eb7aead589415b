/* The index of each module, where its image begins, and how far a pc of its mapping is from the address in the index. */
#include "profile/profile_modules.h"

#include <string.h>

#include "process/process_private.h"
#include "profile/profile_places.h"

#include <callsign/inspect.h>
#include <callsign/process.h>

static csn_status fail_no_memory(struct profile_modules *m) { return csni_fail_memory(m->err, 0); }

static csn_status find_index(struct profile_modules *m, struct csn_store *store, const struct profile_module *module,
                             const struct csn_index **out) {
    struct csn_store_module wanted = CSN_STORE_MODULE_INIT;
    wanted.name = csni_profile_str(m->p, module->path);
    wanted.build_id = module->build_id;
    wanted.build_id_size = module->build_id_size;
    csn_status status = csn_store_find(store, &wanted, out, NULL, m->err);
    /* perf and /proc/kallsyms have the kernel's modules in brackets. */
    const struct csn_str name = wanted.name;
    if (status == CSN_NONE && name.len > 2 && name.ptr[0] == '[' && name.ptr[name.len - 1] == ']') {
        wanted.name = (struct csn_str){ name.ptr + 1, name.len - 2 };
        status = csn_store_find(store, &wanted, out, NULL, m->err);
    }
    if (status == CSN_NONE) *out = NULL;
    return status < 0 ? status : CSN_OK;
}

static uint64_t index_base(const struct csn_index *index) {
    struct csn_index_info info = { .base_address = 0 };
    csn_index_get_info(index, &info, sizeof info);
    return info.base_address;
}

/* What stands behind the bracket of "[kernel.kallsyms]_stext". */
static struct csn_str mapped_symbol(const struct profile_modules *m, const struct profile_module *module) {
    const struct csn_str name = csni_profile_str(m->p, module->mapping_name);
    const char *close = name.len ? memchr(name.ptr, ']', name.len) : NULL;
    return close ? (struct csn_str){ close + 1, (size_t)(name.ptr + name.len - close - 1) } : CSN_STR("");
}

/* What is linked in the upper half and lies there is a kernel, whatever its mapping is called. That begins at _text or _stext, from
 * its first byte on (which PowerPC has at a place of its own) or, once it was moved (KASLR), from the place where it is. */
static bool kernel_bias(struct profile_modules *m, const struct profile_module *module, const struct csn_index *index,
                        uint64_t *out) {
    const uint64_t base = index_base(index), power_pc = 0xc000000000000000;
    const uint64_t file_off = module->file_off;
    if (!(module->start >> 63) || !(base >> 63)) return false;
    if (file_off && file_off != power_pc && file_off != module->start) return false;
    *out = csn_index_kernel_bias(index, mapped_symbol(m, module), module->start);
    return true;
}

/* Behind the last function; 0: not known. */
static uint64_t index_end(const struct csn_index *index) {
    struct csn_index_info info = { .base_address = 0 };
    struct csn_function last;
    csn_index_get_info(index, &info, sizeof info);
    if (!info.function_count || info.binary_count) return 0;
    return csn_index_function(index, info.function_count - 1, &last, NULL) == CSN_OK ? last.start + last.size : 0;
}

static struct profile_layout index_layout(const struct csn_index *index) {
    if (!index) return (struct profile_layout){ .has_base = false };
    return (struct profile_layout){ .has_base = true, .base = csn_index_image_base(index), .end = index_end(index) };
}

/* A debug file tells where the image begins, but has no parts. */
static csn_status take_headers(struct profile_modules *m, const struct csni_process_image *image, struct profile_layout *out) {
    *out = (struct profile_layout){ .has_base = true, .base = image->base, .first_part = (uint32_t)m->p->parts.count };
    for (uint32_t i = 0; image->has_code && i < image->segment_count; i++) {
        const struct csni_process_segment *segment = &image->segments[i];
        if (!segment->file_size) continue;
        if (!csni_vec_push(&m->p->parts, *segment)) return fail_no_memory(m);
        if (segment->addr + segment->file_size > out->end) out->end = segment->addr + segment->file_size;
        out->part_count++;
    }
    return CSN_OK;
}

static csn_status find_layout(struct profile_modules *m, uint32_t number) {
    struct profile_module *module = &m->p->modules.items[number];
    const struct csni_span id = { module->build_id, module->build_id_size };
    const struct csni_process_image *image;
    module->layout = m->indexed.items[number];
    csn_status status = csni_process_maps_image(m->maps, csni_profile_str(m->p, module->path), id, &image);
    if (status == CSN_OK) status = take_headers(m, image, &module->layout);
    return status < 0 ? fail_no_memory(m) : CSN_OK;
}

/* What a pc of the mapping is more than its address. Each module is a process of its own: profiles may be merged from several. */
static csn_status find_bias(struct profile_modules *m, uint32_t number, const struct csn_index *index) {
    struct profile_module *module = &m->p->modules.items[number];
    struct profile_layout *layout = &module->layout;
    const struct csn_process_module *found;
    struct csn_process_mapping mapping = CSN_PROCESS_MAPPING_INIT;
    size_t count;
    mapping.path = csni_profile_str(m->p, module->path);
    /* Without a beginning, pcs are addresses already. */
    if (module->start >= module->end || !mapping.path.len || (!module->start && !module->file_off)) return CSN_OK;
    if (csni_profile_counts_in_file(module)) return CSN_OK;
    if (index && kernel_bias(m, module, index, &layout->bias)) {
        m->biases.items[number] = layout->bias;
        layout->has_bias = true;
        return CSN_OK;
    }
    mapping.start = module->start;
    mapping.end = module->end;
    mapping.file_off = module->file_off;
    mapping.build_id = module->build_id;
    mapping.build_id_size = module->build_id_size;
    mapping.flags = CSN_MAPPING_EXECUTABLE;
    csn_status status = csn_process_maps_add_mapping(m->maps, number, &mapping, m->err);
    if (status == CSN_E_ARGUMENT) return CSN_OK; /* a path with a NUL */
    CSNI_TRY(status);
    CSNI_TRY(csn_process_maps_modules(m->maps, number, &found, &count, m->err));
    if (!count) return CSN_OK;
    if (index) m->biases.items[number] = csn_process_module_bias(&found[0], index_base(index));
    layout->has_bias = index || layout->part_count;
    layout->bias = layout->part_count ? found[0].bias : m->biases.items[number];
    return CSN_OK;
}

/* Whether an index is asked for its names. */
static bool is_asked_for(const struct profile_location *location) {
    return location->kind != CSN_PROFILE_AT_NAME && location->module != CSN_PROFILE_NO_MODULE &&
           !(location->flags & CSN_PROFILE_AS_NAMED);
}

static void mark_used_modules(const struct csn_profile *p, bool *used) {
    for (size_t i = 0; i < p->locations.count; i++)
        if (is_asked_for(&p->locations.items[i])) used[p->locations.items[i].module] = true;
}

static csn_status add_index(struct profile_modules *m, struct csn_store *store, uint32_t number, bool used) {
    struct profile_module *module = &m->p->modules.items[number];
    struct csn_module placed = { .name = csni_profile_str(m->p, module->path) };
    if (used) {
        CSNI_TRY(find_index(m, store, module, &placed.index));
        module->is_missing = !placed.index;
        m->used_count++;
        m->without_count += !placed.index;
        if (!placed.index && !csni_vec_push(&m->p->missing, number)) return fail_no_memory(m);
    }
    if (!csni_vec_push(&m->items, placed) || !csni_vec_push(&m->biases, 0)
        || !csni_vec_push(&m->indexed, index_layout(placed.index)))
        return fail_no_memory(m);
    if (!used) return CSN_OK;
    CSNI_TRY(find_layout(m, number));
    return find_bias(m, number, placed.index);
}

csn_status csni_profile_find_modules(struct profile_modules *m, struct csn_store *store) {
    struct csn_process_maps_options options = CSN_PROCESS_MAPS_OPTIONS_INIT;
    const size_t count = m->p->modules.count;
    bool *used = csni_alloc_zeroed(m->p->alloc, count + 1, sizeof *used);
    options.allocator = m->p->alloc;
    options.max_mappings = (uint32_t)(count < UINT32_MAX - 1 ? count + 1 : UINT32_MAX);
    csn_status status = used ? csn_process_maps_create(&options, &m->maps, m->err) : fail_no_memory(m);
    for (size_t i = 0; status == CSN_OK && i < csn_store_given_count(store); i++)
        status = csn_process_maps_name_image(m->maps, csn_store_given_name(store, i), csn_store_given_path(store, i), m->err);
    if (status == CSN_OK) mark_used_modules(m->p, used);
    m->p->missing.count = m->p->parts.count = 0;
    for (uint32_t i = 0; status == CSN_OK && i < count; i++) status = add_index(m, store, i, used[i]);
    csn_process_maps_destroy(m->maps);
    m->maps = NULL;
    csni_free(m->p->alloc, used, (count + 1) * sizeof *used);
    return status < 0 ? status : CSN_OK;
}

/* ---- addresses ---- */

uint64_t csni_profile_image_addr(const struct profile_modules *m, const struct profile_location *location) {
    const struct profile_layout *indexed = &m->indexed.items[location->module];
    const struct profile_module *module = &m->p->modules.items[location->module];
    const struct profile_layout *layout = &module->layout;
    const bool is_mapped = csni_profile_is_mapped(m->p, location);
    uint64_t value = location->value;
    if (is_mapped && !csni_profile_counts_in_file(module)) return value - m->biases.items[location->module];
    if (is_mapped) csni_profile_file_address(m->p, layout, value, &value);
    if (location->kind == CSN_PROFILE_AT_OFFSET) {
        const uint64_t addr = csn_index_offset_address(m->items.items[location->module].index, value);
        return csni_profile_is_offset(indexed, value) ? addr : value;
    }
    if (csni_profile_is_below(indexed, value)) return value + indexed->base;
    const uint64_t bias = csn_index_link_bias(m->items.items[location->module].index, layout->base);
    return location->kind == CSN_PROFILE_AT_PC && value >= bias ? value - bias : value;
}

bool csni_profile_has_index(const struct profile_modules *m, const struct profile_location *location) {
    return is_asked_for(location) && m->items.items[location->module].index;
}

bool csni_profile_may_be_elsewhere(const struct profile_modules *m, const struct profile_location *location) {
    const struct profile_module *module = &m->p->modules.items[location->module];
    return location->kind == CSN_PROFILE_AT_PC && !module->layout.has_bias && location->value >> 63
           && index_base(m->items.items[location->module].index) >> 63;
}

void csni_profile_modules_deinit(struct profile_modules *m) {
    csni_vec_deinit(&m->items);
    csni_vec_deinit(&m->biases);
    csni_vec_deinit(&m->indexed);
}
