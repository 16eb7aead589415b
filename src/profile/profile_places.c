/* From what an input's number counts from to what an output's does. */
#include "profile/profile_places.h"

static const struct profile_module *module_of(const struct csn_profile *p, const struct profile_location *location) {
    return location->module == CSN_PROFILE_NO_MODULE ? NULL : &p->modules.items[location->module];
}

static bool is_of_kernel(const struct profile_location *location) { return location->value >> 63; }

bool csni_profile_is_mapped(const struct csn_profile *p, const struct profile_location *location) {
    const struct profile_module *m = module_of(p, location);
    if (!m || location->kind != CSN_PROFILE_AT_PC || m->start >= m->end || (!m->start && !m->file_off)) return false;
    return location->value >= m->start; /* below, it is an address of the image */
}

bool csni_profile_is_offset(const struct profile_layout *layout, uint64_t offset) {
    return layout->base + offset < layout->end || offset < layout->base || offset >= layout->end;
}

bool csni_profile_counts_in_file(const struct profile_module *m) {
    return m->start && m->start == m->file_off && m->start < m->end && !(m->start >> 63);
}

static const struct csni_process_segment *parts_of(const struct csn_profile *p, const struct profile_layout *layout) {
    return layout->part_count ? p->parts.items + layout->first_part : NULL;
}

bool csni_profile_file_address(const struct csn_profile *p, const struct profile_layout *layout, uint64_t file_off, uint64_t *out) {
    return csni_process_segments_addr(parts_of(p, layout), layout->part_count, file_off, out);
}

/* False: it is not known. */
static bool find_address(const struct csn_profile *p, const struct profile_location *location, uint64_t *out) {
    const struct profile_module *m = module_of(p, location);
    const uint64_t value = *out = location->value;
    if (!m || location->kind == CSN_PROFILE_AT_NAME) return false;
    if (csni_profile_is_mapped(p, location)) {
        if (csni_profile_counts_in_file(m)) return csni_profile_file_address(p, &m->layout, value, out);
        *out = value - m->layout.bias;
        return m->layout.has_bias;
    }
    if (location->kind == CSN_PROFILE_AT_OFFSET) {
        if (csni_profile_is_offset(&m->layout, value)) *out = value + m->layout.base;
        return m->layout.has_base;
    }
    if (csni_profile_is_below(&m->layout, value)) *out = value + m->layout.base;
    return true;
}

static uint64_t mapped_file_offset(const struct csn_profile *p, const struct profile_location *location) {
    const struct profile_module *m = module_of(p, location);
    return location->value - m->start + m->file_off;
}

/* From the image's first byte, where nothing tells more: a kernel's mapping begins at it or, within 64 KiB, at _stext. */
static uint64_t mapped_offset(const struct csn_profile *p, const struct profile_location *location) {
    const uint64_t unit = 1 << 16, start = module_of(p, location)->start;
    return is_of_kernel(location) ? location->value - (start & ~(unit - 1)) : mapped_file_offset(p, location);
}

static bool find_file_offset(const struct csn_profile *p, const struct profile_layout *layout, uint64_t addr, uint64_t *out) {
    return csni_process_segments_file_off(parts_of(p, layout), layout->part_count, addr, out);
}

static bool has_path(const struct csn_profile *p, const struct profile_module *module) {
    const struct csn_str path = csni_profile_str(p, module->path);
    return path.len && path.ptr[0] == '/';
}

static uint64_t within_call(const struct profile_location *location, uint64_t place) {
    return place - (location->value - csni_profile_call_address(location));
}

static uint64_t behind_call(const struct profile_location *location, uint64_t place, bool is_caller) {
    return place + (csni_profile_return_address(location, is_caller) - location->value);
}

uint64_t csni_profile_mapped_place(const struct csn_profile *p, const struct profile_location *location) {
    uint64_t place;
    if (csni_profile_is_mapped(p, location) || !find_address(p, location, &place)) place = location->value;
    return within_call(location, place);
}

uint64_t csni_profile_offset_place(const struct csn_profile *p, const struct profile_location *location) {
    const struct profile_module *m = module_of(p, location);
    uint64_t place;
    if (location->kind == CSN_PROFILE_AT_OFFSET) place = location->value;
    else if (find_address(p, location, &place)) place -= m->layout.has_base && place >= m->layout.base ? m->layout.base : 0;
    else place = csni_profile_is_mapped(p, location) ? mapped_offset(p, location) : location->value;
    return within_call(location, place);
}

uint64_t csni_profile_perf_place(const struct csn_profile *p, const struct profile_location *location, bool is_caller) {
    const struct profile_module *m = module_of(p, location);
    const bool is_mapped = csni_profile_is_mapped(p, location) && !is_of_kernel(location);
    uint64_t place, addr;
    const bool has_addr = find_address(p, location, &addr);
    if (is_mapped && (!has_addr || has_path(p, m))) place = mapped_file_offset(p, location);
    else if (!has_addr) place = location->value;
    else if (is_of_kernel(location) || !has_path(p, m) || !find_file_offset(p, &m->layout, addr, &place)) place = addr;
    return behind_call(location, place, is_caller);
}

uint64_t csni_profile_folded_place(const struct csn_profile *p, const struct profile_location *location, bool is_caller,
                                   bool *is_in_file) {
    uint64_t place;
    *is_in_file = !find_address(p, location, &place) && csni_profile_is_mapped(p, location) && !is_of_kernel(location);
    if (*is_in_file) place = mapped_file_offset(p, location);
    return behind_call(location, place, is_caller);
}
