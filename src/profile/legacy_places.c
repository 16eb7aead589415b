/* Addresses of legacy profiles as locations. */
#include "base/hash.h"
#include "profile/legacy_read.h"
#include "profile/profile_read.h"

enum { MAPPINGS_MAX = 1 << 20 };

static csn_status fail_memory(struct legacy_places *l) { return csni_fail_memory(l->err, sizeof(struct legacy_name)); }

csn_status csni_legacy_places_init(struct legacy_places *l, struct csn_profile *p, struct csni_span maps, struct csn_error *err) {
    struct csn_process_maps_options options = CSN_PROCESS_MAPS_OPTIONS_INIT;
    *l = (struct legacy_places){ .p = p, .err = err, .names.alloc = p->alloc, .stack.alloc = p->alloc,
                                 .name_table.alloc = p->alloc, .location_table.alloc = p->alloc };
    options.allocator = p->alloc;
    options.flags = CSN_PROCESS_NO_FILES;
    options.max_mappings = MAPPINGS_MAX;
    CSNI_TRY(csn_process_maps_create(&options, &l->maps, err));
    const csn_status status =
        csn_process_maps_add_text(l->maps, 0, (struct csn_str){ (const char *)maps.ptr, maps.size }, NULL, err);
    return status < 0 ? status : CSN_OK;
}

void csni_legacy_places_deinit(struct legacy_places *l) {
    csn_process_maps_destroy(l->maps);
    csni_vec_deinit(&l->names);
    csni_vec_deinit(&l->stack);
    csni_profile_table_deinit(&l->name_table);
    csni_profile_table_deinit(&l->location_table);
}

/* ---- names ---- */

static bool name_has_address(const void *context, uint32_t number, const void *key) {
    const struct legacy_places *l = context;
    return l->names.items[number].addr == *(const uint64_t *)key;
}

static bool find_name(const struct legacy_places *l, uint64_t addr, uint32_t *out) {
    return csni_profile_table_find(&l->name_table, csni_hash_u64(addr), name_has_address, l, &addr, out);
}

bool csni_legacy_has_name(const struct legacy_places *l, uint64_t addr) {
    uint32_t number;
    return find_name(l, addr, &number);
}

csn_status csni_legacy_add_name(struct legacy_places *l, const struct legacy_name *name, bool is_more) {
    if (l->names.count >= PROFILE_NONE - 1) return csni_fail(l->err, CSN_E_LIMIT, NULL, 0, "more than %u names", PROFILE_NONE - 1);
    const uint32_t number = (uint32_t)l->names.count;
    if (!csni_vec_push(&l->names, *name)) return fail_memory(l);
    if (is_more) return CSN_OK;
    return csni_profile_table_add(&l->name_table, csni_hash_u64(name->addr), number) ? CSN_OK : fail_memory(l);
}

/* ---- locations ---- */

static bool location_has_address(const void *context, uint32_t number, const void *key) {
    const struct legacy_places *l = context;
    return l->p->locations.items[number].value == *(const uint64_t *)key;
}

static csn_status module_of(struct legacy_places *l, uint64_t addr, uint32_t *out) {
    struct csn_process_module from;
    const csn_status status = csn_process_maps_find(l->maps, 0, addr, &from);
    *out = CSN_PROFILE_NO_MODULE;
    if (status != CSN_OK) return status < 0 ? fail_memory(l) : CSN_OK;
    const struct csn_profile_module module = { .path = from.path, .build_id = from.build_id, .build_id_size = from.build_id_size,
                                               .start = from.start, .end = from.end, .file_off = from.file_off };
    return csn_profile_add_module(l->p, &module, out, l->err);
}

static csn_status push_lines(struct legacy_places *l, uint64_t addr, struct profile_location *location) {
    uint32_t number;
    if (!find_name(l, addr, &number)) return CSN_OK;
    size_t end = number;
    while (end < l->names.count && l->names.items[end].addr == addr) end++;
    for (size_t i = number; i < end; i++) {
        const struct legacy_name *name = &l->names.items[i];
        struct profile_function function = { .name = 0 };
        struct profile_line line = { .line = name->line, .inlined = i + 1 < end };
        CSNI_TRY(csni_profile_string(l->p, name->function, &function.name, l->err));
        CSNI_TRY(csni_profile_string(l->p, name->file, &function.file, l->err));
        CSNI_TRY(csni_profile_function(l->p, &function, &line.function, l->err));
        CSNI_TRY(csni_profile_push_line(l->p, &line, l->err));
    }
    location->line_count = (uint32_t)(end - number);
    return CSN_OK;
}

csn_status csni_legacy_push(struct legacy_places *l, uint64_t addr) {
    struct profile_location location = { .kind = CSN_PROFILE_AT_PC, .value = addr, .first_line = (uint32_t)l->p->lines.count };
    const uint64_t hash = csni_hash_u64(addr);
    uint32_t number;
    if (l->stack.count == PROFILE_FRAMES_MAX) return csni_profile_fail_frames(l->err, NULL, 0, "a stack");
    if (!csni_profile_table_find(&l->location_table, hash, location_has_address, l, &addr, &number)) {
        CSNI_TRY(module_of(l, addr, &location.module));
        CSNI_TRY(push_lines(l, addr, &location));
        CSNI_TRY(csni_profile_push_location(l->p, &location, &number, l->err));
        if (!csni_profile_table_add(&l->location_table, hash, number)) return fail_memory(l);
    }
    return csni_vec_push(&l->stack, number) ? CSN_OK : fail_memory(l);
}

/* ---- samples ---- */

csn_status csni_legacy_add_sample(struct legacy_places *l, const uint32_t *types, const int64_t *values, uint32_t count,
                                  int64_t block_bytes) {
    struct profile_sample_row row = { .input = (uint32_t)l->p->inputs.count - 1 };
    struct profile_label label = { .number = block_bytes };
    CSNI_TRY(csn_profile_add_stack(l->p, l->stack.items, l->stack.count, &row.stack, l->err));
    CSNI_TRY(csni_profile_string(l->p, CSN_STR("bytes"), &label.key, l->err));
    CSNI_TRY(csni_profile_label_set(l->p, &label, block_bytes > 0, &row.labels, l->err));
    int64_t *to = csni_profile_sample(l->p, &row, l->err);
    if (!to) return l->err ? l->err->code : CSN_E_MEMORY;
    for (uint32_t i = 0; i < count; i++) l->p->sums_cut += !csni_profile_add_value(&to[types[i]], values[i]);
    l->stack.count = 0;
    return CSN_OK;
}

csn_status csni_legacy_set_period(struct legacy_places *l, struct csn_str type, struct csn_str unit, int64_t period) {
    struct profile_times times = { .period = period };
    CSNI_TRY(csni_profile_string(l->p, type, &times.period_type, l->err));
    CSNI_TRY(csni_profile_string(l->p, unit, &times.period_unit, l->err));
    csni_profile_add_times(l->p, &times);
    return CSN_OK;
}
