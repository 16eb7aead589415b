/* Bounds of functions from the unwind table of an ELF image. */
#include "base/core/fail.h"
#include "convert/sources/source.h"

static csn_status add_bounds(struct csni_conversion *c, const csni_address_ranges *ranges, struct csn_error *err) {
    if (!csni_vec_reserve(&c->image.bounds, ranges->count))
        return csni_fail_memory(err, ranges->count * sizeof *c->image.bounds.items);
    for (size_t i = 0; i < ranges->count; i++)
        c->image.bounds.items[c->image.bounds.count++] =
            (struct csni_text_range){ ranges->items[i].low, ranges->items[i].high };
    return CSN_OK;
}

/* The bytes of a section, false where it is absent, not in this file, or cannot be read. */
static bool find_bytes(struct csni_object *object, const char *name, struct csni_eh_frame *out) {
    uint32_t section = csni_object_find_section(object, name);
    if (section == CSNI_NO_SECTION || (object->sections[section].flags & CSNI_SECTION_NOBITS)) return false;
    out->addr = object->sections[section].addr;
    return csni_object_read_section(object, section, &out->bytes, NULL) == CSN_OK && out->bytes.size;
}

static uint64_t section_addr(const struct csni_object *object, const char *name) {
    uint32_t section = csni_object_find_section(object, name);
    return section == CSNI_NO_SECTION ? 0 : object->sections[section].addr;
}

csn_status csni_find_frame_bounds(struct csni_conversion *c, struct csn_error *err) {
    struct csni_object *object = c->object;
    struct csni_eh_frame frame = { .address_size = object->address_size, .big_endian = object->big_endian };
    bool linked = object->kind == CSNI_OBJECT_EXECUTABLE || object->kind == CSNI_OBJECT_SHARED;
    if (object->container != CSNI_CONTAINER_ELF || !linked || c->image.bounds.count) return CSN_OK;
    if (!find_bytes(object, ".eh_frame", &frame)) return CSN_OK;
    frame.text_base = section_addr(object, ".text");
    frame.data_base = section_addr(object, ".got");
    csni_address_ranges ranges = { .alloc = c->alloc };
    csn_status status = csni_dwarf_frame_ranges(&frame, &ranges, NULL); /* damage ends the list */
    status = status == CSN_E_MEMORY ? csni_fail_memory(err, 0) : add_bounds(c, &ranges, err);
    csni_vec_deinit(&ranges);
    return status;
}
