/* Program headers of image files, as src/object reads them. */
#include "process/process_images.h"

#include "base/core/file_map.h"
#include "object/object.h"

enum { SEGMENTS_MAX = 1 << 16 };

static void forget_image(struct csni_process_images *images, struct csni_process_image *image) {
    csni_free(images->alloc, (void *)(uintptr_t)image->path.ptr, image->path.len + 1);
    csni_free(images->alloc, image->segments, image->segment_count * sizeof *image->segments);
    *image = (struct csni_process_image){ .segment_count = 0 };
}

void csni_process_images_deinit(struct csni_process_images *images) {
    for (size_t i = 0; i < CSNI_PROCESS_IMAGES_KEPT; i++)
        if (images->slots[i].path.ptr) forget_image(images, &images->slots[i]);
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

static struct csni_process_image *image_slot(struct csni_process_images *images, struct csn_str path) {
    uint32_t hash = 2166136261u;
    for (size_t i = 0; i < path.len; i++) hash = (hash ^ (unsigned char)path.ptr[i]) * 16777619u;
    return &images->slots[(hash ^ hash >> 16) % CSNI_PROCESS_IMAGES_KEPT];
}

const struct csni_process_image *csni_process_images_get(struct csni_process_images *images, struct csn_str path) {
    if (images->no_files || !path.len || path.ptr[0] != '/' || memchr(path.ptr, 0, path.len)) return NULL;
    struct csni_process_image *image = image_slot(images, path);
    if (!image->path.ptr || !csni_str_equal(image->path, path)) {
        if (image->path.ptr) forget_image(images, image);
        char *copy = csni_alloc(images->alloc, path.len + 1);
        if (!copy) {
            images->no_memory = true;
            return NULL;
        }
        memcpy(copy, path.ptr, path.len);
        copy[path.len] = 0;
        image->path = (struct csn_str){ copy, path.len };
        read_image(images, image);
        if (images->no_memory) forget_image(images, image);
    }
    return image->segments ? image : NULL;
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

bool csni_process_image_code_addr(const struct csni_process_image *image, uint64_t file_off, uint64_t size, uint64_t *out) {
    for (uint32_t i = 0; i < image->segment_count; i++) {
        const struct csni_process_segment *segment = &image->segments[i];
        bool is_before = segment->file_off <= file_off && file_off - segment->file_off >= segment->file_size;
        bool is_behind = segment->file_off >= file_off && segment->file_off - file_off >= size;
        if (!segment->exec || is_before || is_behind) continue;
        *out = segment->addr - (segment->file_off - file_off);
        return true;
    }
    return false;
}
