/* Program headers of image files, as src/object reads them. */
#include "process/process_images.h"

#include "base/core/file_map.h"
#include "base/hash.h"
#include "object/object.h"

enum { SEGMENTS_MAX = 1 << 16 };

void csni_process_images_init(struct csni_process_images *images, const struct csn_allocator *alloc, bool no_files) {
    *images = (struct csni_process_images){ .alloc = alloc, .no_files = no_files };
    images->items.alloc = images->slots.alloc = alloc;
}

static void forget_image(const struct csni_process_images *images, struct csni_process_image *image) {
    csni_free(images->alloc, (void *)(uintptr_t)image->path.ptr, image->path.len + 1);
    csni_free(images->alloc, image->segments, image->segment_count * sizeof *image->segments);
}

static void forget_images(struct csni_process_images *images) {
    for (size_t i = 0; i < images->items.count; i++) forget_image(images, &images->items.items[i]);
    images->items.count = 0;
    if (images->slots.count) memset(images->slots.items, 0, images->slots.count * sizeof *images->slots.items);
}

void csni_process_images_deinit(struct csni_process_images *images) {
    forget_images(images);
    csni_vec_deinit(&images->items);
    csni_vec_deinit(&images->slots);
}

/* ---- reading ---- */

static void keep_segments(struct csni_process_images *images, const struct csni_object *object,
                          struct csni_process_image *out) {
    uint32_t count = object->segment_count;
    if (!count || count > SEGMENTS_MAX) return;
    struct csni_process_segment *segments = csni_alloc_zeroed(images->alloc, count, sizeof *segments);
    if (!segments) {
        images->no_memory = true;
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct csni_segment *segment = &object->segments[i];
        segments[i] = (struct csni_process_segment){ segment->file_off, segment->addr, segment->file_size, segment->exec };
    }
    out->segments = segments;
    out->segment_count = count;
    out->base = object->image_base;
}

/* A file that cannot be read is an image that nothing is known of: maps come from other machines, too. */
static void read_image(struct csni_process_images *images, struct csni_process_image *image) {
    struct csni_object_options options = { .allocator = images->alloc, .file_is_mapped = true };
    struct csni_file_map map;
    struct csni_object *object;
    if (csni_file_map_open(&map, image->path.ptr, NULL) < 0) return;
    csn_status status = csni_object_open(map.bytes, &options, &object, NULL);
    if (status == CSN_OK) {
        keep_segments(images, object, image);
        struct csni_span id = object->build_id;
        image->build_id_size = (uint8_t)(id.size < CSNI_PROCESS_ID_MAX ? id.size : CSNI_PROCESS_ID_MAX);
        if (image->build_id_size) memcpy(image->build_id, id.ptr, image->build_id_size);
        csni_object_close(object);
    }
    if (status == CSN_E_MEMORY) images->no_memory = true;
    csni_file_map_close(&map);
}

/* ---- the table ---- */

/* The slot of the path, or the free one where it belongs. */
static uint32_t *image_slot(const struct csni_process_images *images, struct csn_str path) {
    const size_t mask = images->slots.count - 1;
    for (size_t at = (size_t)csni_hash_bytes(path.ptr, path.len) & mask;; at = (at + 1) & mask) {
        uint32_t *slot = &images->slots.items[at];
        if (!*slot || csni_str_equal(images->items.items[*slot - 1].path, path)) return slot;
    }
}

/* At most half of the slots are in use. */
static bool grow_image_slots(struct csni_process_images *images) {
    enum { SLOTS_FIRST = 64 };
    if (2 * (images->items.count + 1) <= images->slots.count) return true;
    size_t count = images->slots.count ? 2 * images->slots.count : SLOTS_FIRST;
    if (!csni_vec_reserve(&images->slots, count)) return false;
    images->slots.count = count;
    memset(images->slots.items, 0, count * sizeof *images->slots.items);
    for (size_t i = 0; i < images->items.count; i++) *image_slot(images, images->items.items[i].path) = (uint32_t)i + 1;
    return true;
}

/* Reads the image of a path that is not in the table. NULL: no memory. */
static struct csni_process_image *add_image(struct csni_process_images *images, struct csn_str path) {
    if (images->items.count == CSNI_PROCESS_IMAGES_KEPT) forget_images(images);
    if (!grow_image_slots(images) || !csni_vec_reserve(&images->items, images->items.count + 1)) return NULL;
    char *copy = csni_alloc(images->alloc, path.len + 1);
    if (!copy) return NULL;
    memcpy(copy, path.ptr, path.len);
    copy[path.len] = 0;
    struct csni_process_image *image = &images->items.items[images->items.count];
    *image = (struct csni_process_image){ .path = { copy, path.len } };
    read_image(images, image);
    if (images->no_memory) {
        forget_image(images, image);
        return NULL;
    }
    *image_slot(images, image->path) = (uint32_t)++images->items.count;
    return image;
}

const struct csni_process_image *csni_process_images_get(struct csni_process_images *images, struct csn_str path) {
    if (images->no_files || !path.len || path.ptr[0] != '/' || memchr(path.ptr, 0, path.len)) return NULL;
    uint32_t number = images->slots.count ? *image_slot(images, path) : 0;
    const struct csni_process_image *image = number ? &images->items.items[number - 1] : add_image(images, path);
    if (!image) images->no_memory = true;
    return image && image->segments ? image : NULL;
}

/* ---- asking ---- */

bool csni_process_image_addr(const struct csni_process_image *image, uint64_t file_off, uint64_t *out) {
    for (uint32_t i = 0; i < image->segment_count; i++) {
        const struct csni_process_segment *segment = &image->segments[i];
        if (file_off < segment->file_off || file_off - segment->file_off >= segment->file_size) continue;
        *out = file_off - segment->file_off + segment->addr;
        return true;
    }
    return false;
}

/* The bytes of the segment that are in [file_off, file_off + size). */
static uint64_t overlap(const struct csni_process_segment *segment, uint64_t file_off, uint64_t size) {
    const bool begins_within = segment->file_off >= file_off;
    const uint64_t skipped = begins_within ? segment->file_off - file_off : file_off - segment->file_off;
    const uint64_t room = begins_within ? size : segment->file_size, most = begins_within ? segment->file_size : size;
    if (skipped >= room) return 0;
    return room - skipped < most ? room - skipped : most;
}

bool csni_process_image_code_addr(const struct csni_process_image *image, uint64_t file_off, uint64_t size,
                                  const uint64_t likely[2], uint64_t *out) {
    uint64_t most = 0;
    unsigned best = 0; /* 3: the first likely address, 2: the second, 1: another */
    for (uint32_t i = 0; i < image->segment_count; i++) {
        const struct csni_process_segment *segment = &image->segments[i];
        const uint64_t bytes = segment->exec ? overlap(segment, file_off, size) : 0;
        const uint64_t addr = segment->addr - (segment->file_off - file_off);
        const unsigned rank = addr == likely[0] ? 3 : addr == likely[1] ? 2 : 1;
        if (!bytes || rank < best || (rank == best && bytes <= most)) continue;
        best = rank;
        most = bytes;
        *out = addr;
    }
    return best > 0;
}
