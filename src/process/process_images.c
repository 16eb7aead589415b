/* Program headers of image files, as src/object reads them. */
#include "process/process_images.h"

#include "base/core/file_map.h"
#include "base/core/search.h"
#include "base/hash.h"
#include "base/own_path.h"
#include "object/object.h"
#include "process/live_file.h"
#include "process/mapping_set.h"

#include <inttypes.h>
#include <stdio.h>

enum { SEGMENTS_MAX = 1 << 16, NODE_TEXT_SIZE = 100 };

void csni_process_images_init(struct csni_process_images *images, const struct csn_allocator *alloc, bool no_files) {
    *images = (struct csni_process_images){ .alloc = alloc, .no_files = no_files };
    images->items.alloc = images->slots.alloc = images->named.alloc = alloc;
}

static void forget_image(const struct csni_process_images *images, struct csni_process_image *image) {
    csni_free(images->alloc, (void *)(uintptr_t)image->key.ptr, image->key.len + 1);
    csni_free(images->alloc, image->segments, image->segment_count * sizeof *image->segments);
}

static void forget_images(struct csni_process_images *images) {
    for (size_t i = 0; i < images->items.count; i++) forget_image(images, &images->items.items[i]);
    images->items.count = 0;
    memset(images->memos, 0, sizeof images->memos);
    if (images->slots.count) memset(images->slots.items, 0, images->slots.count * sizeof *images->slots.items);
}

void csni_process_images_deinit(struct csni_process_images *images) {
    forget_images(images);
    for (size_t i = 0; i < images->named.count; i++) {
        const struct csni_named_file *file = &images->named.items[i];
        csni_free(images->alloc, file->text, file->name_len + file->path_len + 2);
    }
    csni_vec_deinit(&images->named);
    csni_vec_deinit(&images->items);
    csni_vec_deinit(&images->slots);
}

/* ---- reading ---- */

/* A debug file has no bytes of code, and what its program headers say of bytes is not true. */
static bool has_code(const struct csni_object *object) {
    for (uint32_t i = 0; i < object->segment_count; i++)
        if (object->segments[i].exec && object->segments[i].file_size) return true;
    return false;
}

static void keep_segments(struct csni_process_images *images, const struct csni_object *object,
                          struct csni_process_image *out) {
    uint32_t count = object->segment_count;
    if (!count || count > SEGMENTS_MAX) return;
    struct csni_process_segment *segments = csni_alloc_zeroed(images->alloc, count, sizeof *segments);
    if (!segments) {
        images->no_memory = true;
        return;
    }
    out->has_code = has_code(object);
    for (uint32_t i = 0; out->has_code && i < count; i++) {
        const struct csni_segment *segment = &object->segments[i];
        segments[i] = (struct csni_process_segment){ segment->file_off, segment->addr, segment->file_size, segment->exec };
    }
    out->segments = segments;
    out->segment_count = count;
    out->base = object->image_base;
}

static void keep_id(struct csni_process_image *image, const uint8_t *id, size_t size) {
    image->build_id_size = (uint8_t)(size < CSNI_PROCESS_ID_MAX ? size : CSNI_PROCESS_ID_MAX);
    if (image->build_id_size) memcpy(image->build_id, id, image->build_id_size);
}

static void read_headers(struct csni_process_images *images, struct csni_span file, struct csni_process_image *image) {
    struct csni_object_options options = { .allocator = images->alloc, .file_is_mapped = true };
    struct csni_object *object;
    csn_status status = csni_object_open(file, &options, &object, NULL);
    if (status == CSN_OK) {
        keep_segments(images, object, image);
        keep_id(image, object->build_id.ptr, object->build_id.size);
        csni_object_close(object);
    }
    if (status == CSN_E_MEMORY) images->no_memory = true;
}

/* A file that cannot be read is an image that nothing is known of: maps come from other machines, too. */
static void read_image(struct csni_process_images *images, struct csni_process_image *image) {
    struct csni_file_map map;
    if (csni_file_map_open(&map, image->key.ptr, NULL) < 0) return;
    read_headers(images, map.bytes, image);
    csni_file_map_close(&map);
}

static void read_live_image(struct csni_process_images *images, const struct csni_live_file *file,
                            struct csni_process_image *image) {
    struct csni_live_opened opened;
    csn_status status = csni_live_file_open(file, images->alloc, &opened, NULL);
    if (status == CSN_E_MEMORY) images->no_memory = true;
    if (status == CSN_OK) {
        read_headers(images, opened.map.bytes, image);
        csni_file_map_close(&opened.map);
    } else if (status == CSN_E_NOT_FOUND) {
        keep_id(image, opened.memory_id, opened.memory_id_size);
    }
}

/* ---- the table ---- */

/* The slot of the key, or the free one where it belongs. */
static uint32_t *image_slot(const struct csni_process_images *images, struct csn_str key) {
    const size_t mask = images->slots.count - 1;
    for (size_t at = (size_t)csni_hash_bytes(key.ptr, key.len) & mask;; at = (at + 1) & mask) {
        uint32_t *slot = &images->slots.items[at];
        if (!*slot || csni_str_equal(images->items.items[*slot - 1].key, key)) return slot;
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
    for (size_t i = 0; i < images->items.count; i++) *image_slot(images, images->items.items[i].key) = (uint32_t)i + 1;
    return true;
}

/* Reads an image that is not in the table: at the path `key`, or `file`. NULL: no memory. */
static struct csni_process_image *add_image(struct csni_process_images *images, struct csn_str key,
                                            const struct csni_live_file *file) {
    if (images->items.count == CSNI_PROCESS_IMAGES_KEPT) forget_images(images);
    if (!grow_image_slots(images) || !csni_vec_reserve(&images->items, images->items.count + 1)) return NULL;
    char *copy = csni_alloc(images->alloc, key.len + 1);
    if (!copy) return NULL;
    memcpy(copy, key.ptr, key.len);
    copy[key.len] = 0;
    struct csni_process_image *image = &images->items.items[images->items.count];
    *image = (struct csni_process_image){ .key = { copy, key.len } };
    if (file) read_live_image(images, file, image);
    else read_image(images, image);
    if (images->no_memory) {
        forget_image(images, image);
        return NULL;
    }
    *image_slot(images, image->key) = (uint32_t)++images->items.count;
    return image;
}

static const struct csni_process_image *get_image(struct csni_process_images *images, struct csn_str key,
                                                  const struct csni_live_file *file) {
    uint32_t number = images->slots.count ? *image_slot(images, key) : 0;
    const struct csni_process_image *image = number ? &images->items.items[number - 1] : add_image(images, key, file);
    if (!image) images->no_memory = true;
    return image;
}

/* ---- images by their paths ---- */

static int compare_name(const struct csni_named_file *file, struct csn_str name) {
    if (file->name_len != name.len) return file->name_len < name.len ? -1 : 1;
    return memcmp(file->text, name.ptr, name.len);
}

static bool is_before_name(const void *items, size_t index, const void *name) {
    return compare_name((const struct csni_named_file *)items + index, *(const struct csn_str *)name) < 0;
}

static bool is_up_to_name(const void *items, size_t index, const void *name) {
    return compare_name((const struct csni_named_file *)items + index, *(const struct csn_str *)name) <= 0;
}

bool csni_process_images_name(struct csni_process_images *images, struct csn_str name, const char *path) {
    const char *folder = path[0] == '/' ? "" : "./"; /* a key begins with none but these */
    struct csni_named_file file = { .name_len = name.len, .path_len = strlen(folder) + strlen(path) };
    const size_t size = file.name_len + file.path_len + 2;
    file.text = csni_alloc(images->alloc, size);
    if (!file.text) return false;
    memcpy(file.text, name.ptr, name.len);
    file.text[name.len] = 0;
    snprintf(file.text + name.len + 1, size - name.len - 1, "%s%s", folder, path);
    if (!csni_vec_reserve(&images->named, images->named.count + 1)) {
        csni_free(images->alloc, file.text, size);
        return false;
    }
    struct csni_named_file *items = images->named.items;
    const size_t at = csni_search_in(0, images->named.count, is_up_to_name, items, &name);
    memmove(&items[at + 1], &items[at], (images->named.count++ - at) * sizeof *items);
    items[at] = file;
    memset(images->memos, 0, sizeof images->memos);
    return true;
}

/* The first file that was named so. NULL: none was. */
static const struct csni_named_file *find_named(const struct csni_process_images *images, struct csn_str name) {
    const struct csni_named_file *items = images->named.items;
    const size_t at = csni_search_in(0, images->named.count, is_before_name, items, &name);
    return at < images->named.count && compare_name(&items[at], name) == 0 ? &items[at] : NULL;
}

static bool is_of_build(const struct csni_process_image *image, struct csni_span id) {
    const size_t size = id.size < image->build_id_size ? id.size : image->build_id_size;
    return !size || memcmp(image->build_id, id.ptr, size) == 0;
}

static const struct csni_process_image *read_if_of_build(struct csni_process_images *images, struct csn_str key,
                                                         struct csni_span id) {
    const struct csni_process_image *image = get_image(images, key, NULL);
    return image && image->segments && is_of_build(image, id) ? image : NULL;
}

static const struct csni_process_image *find_image(struct csni_process_images *images, struct csn_str path,
                                                   struct csni_span build_id) {
    if (memchr(path.ptr, 0, path.len)) return NULL;
    const struct csni_named_file *named = find_named(images, path);
    if (!named) named = find_named(images, csni_path_base_name(path));
    const struct csn_str key = named ? (struct csn_str){ named->text + named->name_len + 1, named->path_len } : path;
    const struct csni_process_image *image = named ? read_if_of_build(images, key, build_id) : NULL;
    if ((image && image->has_code) || path.ptr[0] != '/' || csni_is_own_path(path)) return image;
    const struct csni_process_image *there = read_if_of_build(images, path, build_id);
    if (there && (there->has_code || !image)) return there;
    return image ? read_if_of_build(images, key, build_id) : NULL;
}

/* NULL: the path is too long to be remembered. */
static struct csni_image_memo *memo_of(struct csni_process_images *images, struct csn_str path) {
    const size_t spread = path.len * 5 + (unsigned char)path.ptr[path.len - 1] + (unsigned char)path.ptr[path.len / 2];
    return path.len <= sizeof images->memos->path ? &images->memos[spread % CSNI_IMAGE_MEMOS] : NULL;
}

const struct csni_process_image *csni_process_images_get(struct csni_process_images *images, struct csn_str path,
                                                         struct csni_span build_id) {
    if (images->no_files || !path.len) return NULL;
    struct csni_image_memo *memo = build_id.size ? NULL : memo_of(images, path);
    if (memo && memo->path_len == path.len && memcmp(memo->path, path.ptr, path.len) == 0)
        return memo->image ? &images->items.items[memo->image - 1] : NULL;
    const struct csni_process_image *image = find_image(images, path, build_id);
    if (!memo || images->no_memory) return image;
    memo->image = image ? (uint32_t)(image - images->items.items) + 1 : 0;
    memo->path_len = (uint8_t)path.len;
    memcpy(memo->path, path.ptr, path.len);
    return image;
}

bool csni_process_images_file_differs(const struct csni_process_images *images, struct csn_str path,
                                      struct csni_span beginning) {
    char name[CSNI_LIVE_PATH_SIZE];
    struct csni_file_map map;
    if (images->no_files || !path.len || path.ptr[0] != '/' || path.len >= sizeof name || memchr(path.ptr, 0, path.len))
        return false;
    memcpy(name, path.ptr, path.len);
    name[path.len] = 0;
    if (csni_file_map_open(&map, name, NULL) < 0) return false;
    const bool differs = map.bytes.size < beginning.size || memcmp(map.bytes.ptr, beginning.ptr, beginning.size) != 0;
    csni_file_map_close(&map);
    return differs;
}

/* Keys of files begin with a digit, and paths with a slash. */
const struct csni_process_image *csni_process_images_get_live(struct csni_process_images *images,
                                                              const struct csni_live_file *file) {
    char key[NODE_TEXT_SIZE + CSNI_LIVE_PATH_SIZE];
    const struct csni_live_node *node = &file->node;
    if (images->no_files || file->path.len >= CSNI_LIVE_PATH_SIZE) return NULL;
    int len = snprintf(key, sizeof key, "%" PRIu64 " %" PRIx64 ":%" PRIx64 " %" PRIu64 " %.*s", node->running_pid, node->major,
                       node->minor, node->inode, (int)file->path.len, file->path.ptr);
    return len > 0 ? get_image(images, (struct csn_str){ key, (size_t)len }, file) : NULL;
}

/* ---- asking ---- */

bool csni_process_segments_addr(const struct csni_process_segment *segments, uint32_t count, uint64_t file_off, uint64_t *out) {
    for (uint32_t i = 0; i < count; i++) {
        if (file_off < segments[i].file_off || file_off - segments[i].file_off >= segments[i].file_size) continue;
        *out = file_off - segments[i].file_off + segments[i].addr;
        return true;
    }
    return false;
}

bool csni_process_segments_file_off(const struct csni_process_segment *segments, uint32_t count, uint64_t addr, uint64_t *out) {
    for (uint32_t i = 0; i < count; i++) {
        if (addr < segments[i].addr || addr - segments[i].addr >= segments[i].file_size) continue;
        *out = addr - segments[i].addr + segments[i].file_off;
        return true;
    }
    return false;
}

bool csni_process_image_addr(const struct csni_process_image *image, uint64_t file_off, uint64_t *out) {
    return csni_process_segments_addr(image->segments, image->segment_count, file_off, out);
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
