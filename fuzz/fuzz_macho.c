/* Any bytes as a Mach-O file, a universal one, or an archive of them, thin ones too: slices and members, function bounds, debug
 * maps, and address maps made of these and of the file's own symbols. What any object file has is fuzz_object's. Invariants: a
 * status and its error agree, views lie within the file, bounds and ranges ascend, the functions of a debug map belong to its
 * objects in order, members are found by name where the archive has their bytes. */
#include <stdlib.h>

#include "object/address_map.h"
#include "object/archive.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LIMIT = 16 << 20 };

static void require(bool condition) {
    if (!condition) abort();
}

static void require_within(struct csni_span file, const void *ptr, size_t size) {
    struct csni_span view = { ptr, size };
    require(!size || (csni_span_holds(file, view.ptr) && csni_span_holds(file, view.ptr + size - 1)));
}

static void read_bounds(struct csni_object *object) {
    csni_function_bounds bounds = { .alloc = &csni_libc_allocator };
    struct csn_error err = CSN_ERROR_INIT;
    csn_status status = csni_object_function_bounds(object, &bounds, &err);
    require(status == err.code || status == CSN_NONE);
    for (size_t i = 1; i < bounds.count; i++) require(bounds.items[i - 1].start < bounds.items[i].start);
    csni_vec_deinit(&bounds);
}

static void make_addresses(struct csni_object *object, const struct csni_debug_map *map) {
    struct csni_address_map addresses;
    uint32_t count = (uint32_t)map->functions.count;
    if (csni_address_map_make(object, map->functions.items, count, &csni_libc_allocator, &addresses, NULL) != CSN_OK) return;
    require(addresses.ranges.count + addresses.missing <= count);
    for (size_t i = 0; i < addresses.ranges.count; i++) {
        const struct csni_mapped_range *r = &addresses.ranges.items[i];
        require(r->object_start < r->object_end && (!i || r[-1].object_end <= r->object_start));
        require(csni_address_map_find(&addresses, r->object_start) == r);
        require(csni_address_map_find(&addresses, r->object_end - 1) == r);
    }
    csni_address_map_deinit(&addresses);
}

static void read_debug_map(struct csni_object *object) {
    struct csni_debug_map map;
    struct csn_error err = CSN_ERROR_INIT;
    csn_status status = csni_macho_debug_map(object, &csni_libc_allocator, &map, &err);
    require(status == err.code || status == CSN_NONE);
    if (status != CSN_OK) return;
    uint32_t functions = 0;
    for (size_t i = 0; i < map.objects.count; i++) {
        const struct csni_debug_map_object *o = &map.objects.items[i];
        require(o->first_function == functions && o->path.len);
        functions += o->function_count;
        require_within(object->file, o->path.ptr, o->path.len);
        require_within(object->file, o->member.ptr, o->member.len);
    }
    require(functions == map.functions.count);
    for (size_t i = 0; i < map.functions.count; i++) {
        const struct csni_debug_map_function *f = &map.functions.items[i];
        require(f->addr <= UINT64_MAX - f->size);
        require_within(object->file, f->name.ptr, f->name.len);
    }
    make_addresses(object, &map);
    csni_debug_map_deinit(&map);
}

static void read_image(struct csni_span file) {
    struct csni_object_options options = { .max_decompressed_bytes = LIMIT };
    struct csni_object *object = NULL;
    if (csni_object_open(file, &options, &object, NULL) != CSN_OK) return;
    read_bounds(object);
    read_debug_map(object);
    csni_object_close(object);
}

static void read_members(struct csni_span file) {
    struct csni_archive archive;
    struct csni_archive_member member, again;
    struct csn_error err = CSN_ERROR_INIT;
    csn_status status = csni_archive_open(file, &archive, &err);
    require(status == err.code);
    while (status == CSN_OK && (status = csni_archive_next(&archive, &member, &err)) == CSN_OK) {
        require(member.name.len);
        require_within(file, member.name.ptr, member.name.len);
        require_within(file, member.bytes.ptr, member.bytes.size);
        csn_status found = csni_archive_find(file, member.name, member.mtime, &again, NULL);
        require(found == (archive.is_thin ? CSN_E_UNSUPPORTED : CSN_OK));
        read_image(member.bytes);
    }
    require(status == CSN_NONE || status == err.code);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct csni_span file = { data, size };
    struct csni_slice *slices = NULL;
    uint32_t count = 0;
    struct csn_error err = CSN_ERROR_INIT;
    csn_status status = csni_object_slices(file, &csni_libc_allocator, &slices, &count, &err);
    require(status == err.code && (status == CSN_OK) == (slices != NULL) && (count != 0) == (slices != NULL));
    for (uint32_t i = 0; i < count; i++) {
        require_within(file, slices[i].file.ptr, slices[i].file.size);
        read_image(slices[i].file);
    }
    csni_free(&csni_libc_allocator, slices, count * sizeof *slices);
    read_members(file);
    return 0;
}
