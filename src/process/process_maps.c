/* Mappings of processes, and the modules that they make up. */
#include "process/process_private.h"

#include "base/core/fail.h"
#include "base/core/search.h"
#include "base/core/sort.h"
#include "base/core/vec.h"
#include "base/core/sized.h"
#include "base/hex.h"
#include "base/lines.h"
#include "process/process_images.h"

enum { MAPPINGS_DEFAULT = 1 << 13, MAPPINGS_MIN = 64 };

struct kept_mapping {
    uint64_t pid, start, end, file_off;
    uint64_t image_start;  /* of an image as a whole; the start may since have been mapped over */
    char *path;            /* of path_len + 1 bytes */
    size_t path_len;
    bool is_image, is_executable;
    uint8_t build_id_size, build_id[CSN_BUILD_ID_MAX];
};

struct csn_process_maps {
    const struct csn_allocator *alloc;
    size_t max_mappings;
    CSNI_VEC(struct kept_mapping) mappings; /* in the order in which they were added */
    uint64_t generation;
    CSNI_VEC(uint32_t) firsts; /* mappings with file offset 0, sorted, while `firsts_generation` is the generation */
    uint64_t firsts_generation;
    CSNI_VEC(struct csn_process_module) modules; /* of one process, while `modules_generation` is the generation */
    uint64_t modules_pid, modules_generation;
    struct csni_process_images images;
};

static struct csn_str path_of(const struct kept_mapping *mapping) {
    return (struct csn_str){ mapping->path, mapping->path_len };
}

/* ---- the handle ---- */

void csn_process_maps_options_init(struct csn_process_maps_options *options) {
    *options = (struct csn_process_maps_options)CSN_PROCESS_MAPS_OPTIONS_INIT;
}

void csn_process_mapping_init(struct csn_process_mapping *mapping) {
    *mapping = (struct csn_process_mapping)CSN_PROCESS_MAPPING_INIT;
}

csn_status csn_process_maps_create(const struct csn_process_maps_options *given, struct csn_process_maps **out,
                                   struct csn_error *err) {
    struct csn_process_maps_options options = CSN_PROCESS_MAPS_OPTIONS_INIT;
    if (given) CSNI_TRY(csni_options_copy(&options, sizeof options, given, given->struct_size, err));
    uint32_t unknown = options.flags & ~(uint32_t)CSN_PROCESS_NO_FILES;
    if (unknown) return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "unknown flags 0x%x for process maps", unknown);
    const struct csn_allocator *alloc = csni_allocator_or_default(options.allocator);
    struct csn_process_maps *maps = csni_alloc_zeroed(alloc, 1, sizeof *maps);
    if (!maps) return csni_fail_memory(err, sizeof *maps);
    maps->alloc = maps->mappings.alloc = maps->modules.alloc = maps->firsts.alloc = maps->images.alloc = alloc;
    maps->images.no_files = options.flags & CSN_PROCESS_NO_FILES;
    maps->max_mappings = options.max_mappings ? options.max_mappings : MAPPINGS_DEFAULT;
    if (maps->max_mappings < MAPPINGS_MIN) maps->max_mappings = MAPPINGS_MIN;
    maps->generation = 1;
    *out = maps;
    return CSN_OK;
}

static void free_path(const struct csn_process_maps *maps, const struct kept_mapping *mapping) {
    csni_free(maps->alloc, mapping->path, mapping->path_len + 1);
}

void csn_process_maps_destroy(struct csn_process_maps *maps) {
    if (!maps) return;
    for (size_t i = 0; i < maps->mappings.count; i++) free_path(maps, &maps->mappings.items[i]);
    csni_vec_deinit(&maps->mappings);
    csni_vec_deinit(&maps->modules);
    csni_vec_deinit(&maps->firsts);
    csni_process_images_deinit(&maps->images);
    csni_free(maps->alloc, maps, sizeof *maps);
}

const struct csn_allocator *csni_process_maps_allocator(const struct csn_process_maps *maps) { return maps->alloc; }

uint64_t csn_process_maps_generation(const struct csn_process_maps *maps) { return maps->generation; }

/* ---- adding ---- */

static bool copy_path(const struct csn_process_maps *maps, struct csn_str path, struct kept_mapping *out) {
    out->path = csni_alloc(maps->alloc, path.len + 1);
    out->path_len = path.len;
    if (!out->path) return false;
    memcpy(out->path, path.ptr, path.len);
    out->path[path.len] = 0;
    return true;
}

static void cut_front(struct kept_mapping *mapping, uint64_t start) {
    mapping->file_off += mapping->is_image ? 0 : start - mapping->start;
    mapping->start = start;
}

/* Takes the bytes [start, end) away from the process's mappings. One that loses bytes in its middle becomes two: *tail is
 * the second, its path NULL where there is none. */
static csn_status unmap_range(struct csn_process_maps *maps, uint64_t pid, uint64_t start, uint64_t end,
                              struct kept_mapping *tail) {
    size_t kept = 0;
    csn_status status = CSN_OK;
    tail->path = NULL;
    for (size_t i = 0; i < maps->mappings.count; i++) {
        struct kept_mapping *mapping = &maps->mappings.items[i];
        bool overlaps = mapping->pid == pid && mapping->start < end && mapping->end > start;
        if (overlaps && mapping->start >= start && mapping->end <= end) {
            free_path(maps, mapping);
            continue;
        }
        if (overlaps && mapping->start < start && mapping->end > end) {
            *tail = *mapping;
            if (!copy_path(maps, path_of(mapping), tail)) status = CSN_E_MEMORY;
            cut_front(tail, end);
        }
        if (overlaps && mapping->start < start) mapping->end = start;
        else if (overlaps) cut_front(mapping, end);
        if (kept != i) maps->mappings.items[kept] = *mapping;
        kept++;
    }
    maps->mappings.count = kept;
    return status;
}

/* An eighth at once, so that moving the others costs little each time. */
static void forget_oldest(struct csn_process_maps *maps) {
    size_t count = maps->max_mappings / 8;
    if (maps->mappings.count + 2 <= maps->max_mappings) return;
    for (size_t i = 0; i < count; i++) free_path(maps, &maps->mappings.items[i]);
    maps->mappings.count -= count;
    memmove(maps->mappings.items, maps->mappings.items + count, maps->mappings.count * sizeof *maps->mappings.items);
}

static csn_status add_mapping(struct csn_process_maps *maps, struct kept_mapping *mapping, struct csn_str path,
                              struct csn_error *err) {
    struct kept_mapping tail = { .path = NULL };
    /* First of all: the path may be that of a mapping which goes. */
    if (!copy_path(maps, path, mapping)) return csni_fail_memory(err, path.len + 1);
    forget_oldest(maps);
    maps->generation++;
    csn_status status = unmap_range(maps, mapping->pid, mapping->start, mapping->end, &tail);
    if (status == CSN_OK && csni_vec_reserve(&maps->mappings, maps->mappings.count + 2)) {
        if (tail.path) maps->mappings.items[maps->mappings.count++] = tail;
        maps->mappings.items[maps->mappings.count++] = *mapping;
        return CSN_OK;
    }
    if (tail.path) free_path(maps, &tail);
    free_path(maps, mapping);
    return csni_fail_memory(err, sizeof *mapping);
}

static csn_status add_given(struct csn_process_maps *maps, uint64_t pid, const struct csn_process_mapping *given,
                            bool is_image, struct csn_error *err) {
    struct csn_process_mapping m = CSN_PROCESS_MAPPING_INIT;
    CSNI_TRY(csni_options_copy(&m, sizeof m, given, given->struct_size, err));
    if (m.start >= m.end) return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "a mapping without bytes");
    if (!m.path.len || memchr(m.path.ptr, 0, m.path.len))
        return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "the path of a mapping is empty or has a NUL in it");
    struct kept_mapping mapping = { .pid = pid, .start = m.start, .end = m.end, .is_image = is_image,
                                    .is_executable = is_image || (m.flags & CSN_MAPPING_EXECUTABLE),
                                    .file_off = is_image ? 0 : m.file_off, .image_start = is_image ? m.start : 0 };
    if (m.build_id && m.build_id_size) {
        mapping.build_id_size = m.build_id_size < CSN_BUILD_ID_MAX ? (uint8_t)m.build_id_size : CSN_BUILD_ID_MAX;
        memcpy(mapping.build_id, m.build_id, mapping.build_id_size);
    }
    return add_mapping(maps, &mapping, m.path, err);
}

csn_status csn_process_maps_add_mapping(struct csn_process_maps *maps, uint64_t pid, const struct csn_process_mapping *mapping,
                                        struct csn_error *err) {
    return add_given(maps, pid, mapping, false, err);
}

csn_status csn_process_maps_add_image(struct csn_process_maps *maps, uint64_t pid, const struct csn_process_mapping *image,
                                      struct csn_error *err) {
    return add_given(maps, pid, image, true, err);
}

/* ---- addresses ---- */

static int compare_texts(struct csn_str a, struct csn_str b) {
    int order = memcmp(a.ptr, b.ptr, a.len < b.len ? a.len : b.len);
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

static bool first_before(const void *context, const void *a, const void *b) {
    const struct kept_mapping *mappings = context, *x = &mappings[*(const uint32_t *)a], *y = &mappings[*(const uint32_t *)b];
    if (x->pid != y->pid) return x->pid < y->pid;
    int order = compare_texts(path_of(x), path_of(y));
    return order ? order < 0 : x->start < y->start;
}

/* The mappings of files' first bytes by process, path and address. */
static csn_status sort_firsts(struct csn_process_maps *maps) {
    if (maps->firsts_generation == maps->generation) return CSN_OK;
    maps->firsts.count = 0;
    if (!csni_vec_reserve(&maps->firsts, 2 * maps->mappings.count)) return CSN_E_MEMORY;
    for (uint32_t i = 0; i < maps->mappings.count; i++)
        if (!maps->mappings.items[i].file_off) maps->firsts.items[maps->firsts.count++] = i;
    csni_merge_sort(maps->firsts.items, maps->firsts.items + maps->firsts.count, maps->firsts.count, sizeof *maps->firsts.items,
                    first_before, maps->mappings.items);
    maps->firsts_generation = maps->generation;
    return CSN_OK;
}

struct first_key {
    uint64_t pid;
    struct csn_str path;
};

static bool is_first_below(const void *context, size_t index, const void *key) {
    const struct csn_process_maps *maps = context;
    const struct first_key *k = key;
    const struct kept_mapping *mapping = &maps->mappings.items[maps->firsts.items[index]];
    return mapping->pid != k->pid ? mapping->pid < k->pid : compare_texts(path_of(mapping), k->path) < 0;
}

/* The mapping of an image's first bytes, the lowest of several. */
static const struct kept_mapping *first_mapping(struct csn_process_maps *maps, uint64_t pid, struct csn_str path) {
    struct first_key key = { pid, path };
    if (sort_firsts(maps) < 0) {
        maps->images.no_memory = true;
        return NULL;
    }
    size_t k = csni_search_in(0, maps->firsts.count, is_first_below, maps, &key);
    if (k == maps->firsts.count) return NULL;
    const struct kept_mapping *mapping = &maps->mappings.items[maps->firsts.items[k]];
    return mapping->pid == pid && csni_str_equal(path_of(mapping), path) ? mapping : NULL;
}

/* CSN_E_MEMORY where an image was not read for want of it since the last call. */
static csn_status image_status(struct csn_process_maps *maps) {
    bool failed = maps->images.no_memory;
    maps->images.no_memory = false;
    return failed ? CSN_E_MEMORY : CSN_OK;
}

/* From the distance to the image's first byte in memory. */
static csn_status mapped_address(struct csn_process_maps *maps, struct csn_str path, uint64_t file_off, uint64_t *out) {
    for (size_t i = 0; i < maps->mappings.count; i++) {
        const struct kept_mapping *mapping = &maps->mappings.items[i];
        if (file_off < mapping->file_off || file_off - mapping->file_off >= mapping->end - mapping->start) continue;
        if (!csni_str_equal(path_of(mapping), path)) continue;
        const struct kept_mapping *first = first_mapping(maps, mapping->pid, path);
        if (!first) continue;
        *out = file_off - mapping->file_off + mapping->start - first->start;
        return CSN_OK;
    }
    return CSN_NONE;
}

/* `image` NULL: its file cannot be read. */
static csn_status file_address(struct csn_process_maps *maps, const struct csni_process_image *image, struct csn_str path,
                               uint64_t file_off, uint64_t *out) {
    if (image && csni_process_image_addr(image, file_off, out)) return CSN_OK;
    return mapped_address(maps, path, file_off, out);
}

csn_status csn_process_maps_file_address(struct csn_process_maps *maps, struct csn_str path, uint64_t file_off,
                                         uint64_t *out) {
    uint64_t addr;
    csn_status status = file_address(maps, csni_process_images_get(&maps->images, path), path, file_off, &addr);
    CSNI_TRY(image_status(maps));
    if (status == CSN_OK) *out = addr;
    return status;
}

csn_status csn_process_maps_image_base(struct csn_process_maps *maps, struct csn_str path, uint64_t *out) {
    const struct csni_process_image *image = csni_process_images_get(&maps->images, path);
    CSNI_TRY(image_status(maps));
    if (!image) return CSN_NONE;
    *out = image->base;
    return CSN_OK;
}

/* ---- modules ---- */

/* The file at the mapping's path, unless it is of another build by now. Ids may have been cut. */
static const struct csni_process_image *image_of(struct csn_process_maps *maps, const struct kept_mapping *mapping) {
    const struct csni_process_image *image = csni_process_images_get(&maps->images, path_of(mapping));
    size_t size = mapping->build_id_size;
    if (image && size > image->build_id_size) size = image->build_id_size;
    return image && size && memcmp(image->build_id, mapping->build_id, size) != 0 ? NULL : image;
}

static uint64_t mapping_bias(struct csn_process_maps *maps, const struct kept_mapping *mapping) {
    struct csn_str path = path_of(mapping);
    uint64_t addr;
    const struct csni_process_image *image = image_of(maps, mapping);
    if (mapping->is_image) return mapping->image_start - (image ? image->base : 0);
    if (image && csni_process_image_code_addr(image, mapping->file_off, mapping->end - mapping->start, &addr))
        return mapping->start - addr;
    if (file_address(maps, image, path, mapping->file_off, &addr) == CSN_OK) return mapping->start - addr;
    return mapping->start - mapping->file_off;
}

static uint64_t image_start(struct csn_process_maps *maps, const struct kept_mapping *mapping, uint64_t bias) {
    if (mapping->is_image) return mapping->image_start;
    const struct csni_process_image *image = image_of(maps, mapping);
    if (image) return bias + image->base;
    const struct kept_mapping *first = first_mapping(maps, mapping->pid, path_of(mapping));
    return first ? first->start : 0;
}

static struct csn_process_module module_of(struct csn_process_maps *maps, const struct kept_mapping *mapping) {
    uint64_t bias = mapping_bias(maps, mapping);
    return (struct csn_process_module){
        .path = path_of(mapping), .build_id = mapping->build_id_size ? mapping->build_id : NULL,
        .build_id_size = mapping->build_id_size, .start = mapping->start, .end = mapping->end, .bias = bias,
        .file_off = mapping->file_off, .image_start = image_start(maps, mapping, bias),
        .flags = mapping->is_image ? CSN_PROCESS_MODULE_IMAGE : 0,
    };
}

csn_status csn_process_maps_modules(struct csn_process_maps *maps, uint64_t pid, const struct csn_process_module **out,
                                    size_t *out_count, struct csn_error *err) {
    if (maps->modules_generation != maps->generation || maps->modules_pid != pid) {
        maps->modules.count = 0;
        for (size_t i = 0; i < maps->mappings.count; i++) {
            const struct kept_mapping *mapping = &maps->mappings.items[i];
            if (mapping->pid != pid || !mapping->is_executable) continue;
            const struct csn_process_module module = module_of(maps, mapping);
            if (image_status(maps) < 0 || !csni_vec_push(&maps->modules, module)) {
                maps->modules_generation = 0;
                return csni_fail_memory(err, maps->modules.count * sizeof *maps->modules.items);
            }
        }
        maps->modules_generation = maps->generation;
        maps->modules_pid = pid;
    }
    *out = maps->modules.items;
    *out_count = maps->modules.count;
    return CSN_OK;
}

uint64_t csn_process_module_bias(const struct csn_process_module *module, uint64_t image_base) {
    uint64_t first = module->image_start && module->image_start < module->start ? module->image_start : module->start;
    bool is_in_place = image_base >= first && image_base < module->end;
    if (is_in_place && image_base) return 0;
    /* Only of an image that is linked above 4 GiB is it certain that addresses do not count from its first byte. */
    if ((module->flags & CSN_PROCESS_MODULE_IMAGE) && image_base >> 32) return module->image_start - image_base;
    return module->bias;
}

/* ---- text ---- */

static void skip_blanks(struct csn_str *rest) {
    while (rest->len && csni_is_blank(rest->ptr[0])) *rest = (struct csn_str){ rest->ptr + 1, rest->len - 1 };
}

/* A word of up to `end`, or, with `end` 0, up to a blank; at least one character. */
static bool take_until(struct csn_str *rest, char end, struct csn_str *out) {
    size_t len = 0;
    while (len < rest->len && (end ? rest->ptr[len] != end : !csni_is_blank(rest->ptr[len]))) len++;
    if (!len || (end && len == rest->len)) return false;
    *out = (struct csn_str){ rest->ptr, len };
    *rest = (struct csn_str){ rest->ptr + len + (end != 0), rest->len - len - (end != 0) };
    return true;
}

/* "55d000000000-55d000002000 r-xp 00001000 08:01 1234      /path/app" */
static bool parse_line(struct csn_str rest, struct csn_process_mapping *out) {
    struct csn_str start, end, access, offset, device, inode;
    if (!take_until(&rest, '-', &start) || !take_until(&rest, 0, &end)) return false;
    if (!csni_hex_value(start, &out->start) || !csni_hex_value(end, &out->end)) return false;
    skip_blanks(&rest);
    if (!take_until(&rest, 0, &access) || access.len != 4) return false;
    skip_blanks(&rest);
    if (!take_until(&rest, 0, &offset) || !csni_hex_value(offset, &out->file_off)) return false;
    skip_blanks(&rest);
    if (!take_until(&rest, 0, &device)) return false;
    skip_blanks(&rest);
    if (!take_until(&rest, 0, &inode)) return false;
    for (size_t i = 0; i < inode.len; i++)
        if (inode.ptr[i] < '0' || inode.ptr[i] > '9') return false;
    skip_blanks(&rest);
    out->path = rest;
    out->flags = access.ptr[2] == 'x' ? CSN_MAPPING_EXECUTABLE : 0;
    return true;
}

csn_status csn_process_maps_add_line(struct csn_process_maps *maps, uint64_t pid, struct csn_str line, struct csn_error *err) {
    struct csn_process_mapping mapping = CSN_PROCESS_MAPPING_INIT;
    while (line.len && (line.ptr[line.len - 1] == '\n' || line.ptr[line.len - 1] == '\r')) line.len--;
    if (!parse_line(line, &mapping)) return CSN_NONE;
    bool is_file = mapping.path.len && mapping.path.ptr[0] == '/' && !memchr(mapping.path.ptr, 0, mapping.path.len);
    if (!is_file || mapping.start >= mapping.end) return CSN_OK;
    return csn_process_maps_add_mapping(maps, pid, &mapping, err);
}
