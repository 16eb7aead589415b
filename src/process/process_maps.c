/* Mappings of processes, and the modules that they make up. */
#include "process/process_private.h"

#include "base/core/fail.h"
#include "base/core/image_base.h"
#include "base/core/sort.h"
#include "base/core/vec.h"
#include "base/core/sized.h"
#include "base/core/file_map.h"
#include "process/live_file.h"
#include "process/mapping_set.h"
#include "process/maps_line.h"
#include "process/process_images.h"

enum { MAPPINGS_DEFAULT = 1 << 13, MAPPINGS_MIN = 64 };

struct csn_process_maps {
    const struct csn_allocator *alloc;
    struct csni_mapping_set set;
    uint64_t generation;
    CSNI_VEC(struct csn_process_module) modules; /* of one process, while `modules_generation` is the generation */
    CSNI_VEC(uint32_t) order;
    uint64_t modules_pid, modules_generation;
    bool has_build_ids;             /* of mappings that were added */
    struct csni_process_images images;
    struct csni_live_opened opened; /* the file that was opened last; its map is the caller's */
};

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
    const size_t wanted = options.max_mappings ? options.max_mappings : MAPPINGS_DEFAULT;
    maps->alloc = maps->modules.alloc = maps->order.alloc = alloc;
    csni_mapping_set_init(&maps->set, alloc, wanted < MAPPINGS_MIN ? MAPPINGS_MIN : wanted);
    csni_process_images_init(&maps->images, alloc, options.flags & CSN_PROCESS_NO_FILES);
    maps->generation = 1;
    *out = maps;
    return CSN_OK;
}

void csn_process_maps_destroy(struct csn_process_maps *maps) {
    if (!maps) return;
    csni_mapping_set_deinit(&maps->set);
    csni_vec_deinit(&maps->modules);
    csni_vec_deinit(&maps->order);
    csni_process_images_deinit(&maps->images);
    csni_free(maps->alloc, maps, sizeof *maps);
}

const struct csn_allocator *csni_process_maps_allocator(const struct csn_process_maps *maps) { return maps->alloc; }

uint64_t csni_process_maps_next_start(const struct csn_process_maps *maps, uint64_t pid, uint64_t start) {
    for (size_t place = csni_mapping_set_first_after(&maps->set, pid, start); place < maps->set.by_start.count; place++) {
        const struct csni_mapping *mapping = csni_mapping_set_at_start(&maps->set, place);
        if (mapping->pid != pid) break;
        if (mapping->start > start) return mapping->start;
    }
    return UINT64_MAX;
}

uint64_t csn_process_maps_generation(const struct csn_process_maps *maps) { return maps->generation; }

/* ---- adding ---- */

/* What is known of a mapping's file besides. */
struct mapped_file {
    bool is_image, is_other;
    const struct csni_live_node *node; /* NULL: of no running process */
};

static csn_status add_given(struct csn_process_maps *maps, uint64_t pid, const struct csn_process_mapping *given,
                            struct mapped_file file, struct csn_error *err) {
    const bool is_image = file.is_image;
    struct csn_process_mapping m = CSN_PROCESS_MAPPING_INIT;
    CSNI_TRY(csni_options_copy(&m, sizeof m, given, given->struct_size, err));
    CSNI_TRY(csni_check_reserved("csn_process_mapping.reserved", m.reserved, err));
    if (!is_image) CSNI_TRY(csni_check_flags("csn_process_mapping.flags", m.flags, CSN_MAPPING_EXECUTABLE, err));
    if (m.start >= m.end) return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "a mapping without bytes");
    if (!m.path.len || memchr(m.path.ptr, 0, m.path.len))
        return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "the path of a mapping is empty or has a NUL in it");
    struct csni_mapping mapping = { .pid = pid, .start = m.start, .end = m.end, .is_image = is_image,
                                    .is_executable = is_image || (m.flags & CSN_MAPPING_EXECUTABLE),
                                    .file_off = is_image ? 0 : m.file_off, .image_start = is_image ? m.start : 0,
                                    .is_of_other_file = file.is_other };
    if (file.node) mapping.node = *file.node;
    if (m.build_id && m.build_id_size) {
        mapping.build_id_size = m.build_id_size < CSN_BUILD_ID_MAX ? (uint8_t)m.build_id_size : CSN_BUILD_ID_MAX;
        memcpy(mapping.build_id, m.build_id, mapping.build_id_size);
        maps->has_build_ids = true;
    }
    maps->generation++;
    csn_status status = csni_mapping_set_add(&maps->set, &mapping, m.path);
    return status == CSN_E_MEMORY ? csni_fail_memory(err, m.path.len + sizeof mapping) : status;
}

csn_status csn_process_maps_add_mapping(struct csn_process_maps *maps, uint64_t pid, const struct csn_process_mapping *mapping,
                                        struct csn_error *err) {
    return add_given(maps, pid, mapping, (struct mapped_file){ .is_image = false }, err);
}

csn_status csni_process_maps_add_live_mapping(struct csn_process_maps *maps, uint64_t pid,
                                              const struct csn_process_mapping *mapping, const struct csni_live_node *node,
                                              struct csn_error *err) {
    return add_given(maps, pid, mapping, (struct mapped_file){ .node = node }, err);
}

csn_status csni_process_maps_add_core_mapping(struct csn_process_maps *maps, uint64_t pid,
                                              const struct csn_process_mapping *mapping, bool other_file, struct csn_error *err) {
    return add_given(maps, pid, mapping, (struct mapped_file){ .is_other = other_file }, err);
}

bool csni_process_maps_file_differs(const struct csn_process_maps *maps, struct csn_str path, struct csni_span beginning) {
    return csni_process_images_file_differs(&maps->images, path, beginning);
}

csn_status csn_process_maps_add_image(struct csn_process_maps *maps, uint64_t pid, const struct csn_process_mapping *image,
                                      struct csn_error *err) {
    return add_given(maps, pid, image, (struct mapped_file){ .is_image = true }, err);
}

csn_status csn_process_maps_name_image(struct csn_process_maps *maps, struct csn_str name, const char *path,
                                       struct csn_error *err) {
    if (!name.len || memchr(name.ptr, 0, name.len) || !path[0])
        return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "the name of an image or the path of its file is empty, or has a NUL in it");
    if (!csni_process_images_name(&maps->images, name, path)) return csni_fail_memory(err, name.len + strlen(path));
    maps->generation++;
    return CSN_OK;
}

/* ---- addresses ---- */

/* The mapping of an image's first bytes, the lowest of several. */
static const struct csni_mapping *first_mapping(const struct csn_process_maps *maps, uint64_t pid, struct csn_str path) {
    size_t place = csni_mapping_set_first_of(&maps->set, path, pid);
    if (place == maps->set.by_name.count) return NULL;
    const struct csni_mapping *mapping = csni_mapping_set_at_name(&maps->set, place);
    return mapping->pid == pid && !mapping->file_off && csni_str_equal(csni_mapping_path(mapping), path) ? mapping : NULL;
}

/* CSN_E_MEMORY where an image was not read for want of it since the last call. */
static csn_status image_status(struct csn_process_maps *maps) {
    bool failed = maps->images.no_memory;
    maps->images.no_memory = false;
    return failed ? CSN_E_MEMORY : CSN_OK;
}

enum { PROBES = 1024 }; /* of a file that is mapped more often than that */

/* From the distance to the image's first byte in memory, in the mapping that was added first. */
static csn_status mapped_address(const struct csn_process_maps *maps, struct csn_str path, uint64_t file_off, uint64_t *out) {
    const struct csni_mapping *found = NULL, *first = NULL;
    size_t place = csni_mapping_set_first_of(&maps->set, path, 0);
    for (unsigned probe = 0; place < maps->set.by_name.count && probe < PROBES; place++, probe++) {
        const struct csni_mapping *mapping = csni_mapping_set_at_name(&maps->set, place);
        if (!csni_str_equal(csni_mapping_path(mapping), path)) break;
        /* They are in order of their file offsets. A list of images, of another run, may have the image's first byte
         * at another place. */
        if (!first || first->pid != mapping->pid || (!mapping->file_off && mapping->sequence < first->sequence)) first = mapping;
        if (first->file_off || file_off < mapping->file_off ||
            file_off - mapping->file_off >= mapping->end - mapping->start)
            continue;
        if (found && found->sequence < mapping->sequence) continue;
        found = mapping;
        *out = file_off - mapping->file_off + mapping->start - first->start;
    }
    return found ? CSN_OK : CSN_NONE;
}

/* `image` NULL: its file cannot be read. */
static csn_status file_address(struct csn_process_maps *maps, const struct csni_process_image *image, struct csn_str path,
                               uint64_t file_off, uint64_t *out) {
    if (image && csni_process_image_addr(image, file_off, out)) return CSN_OK;
    return mapped_address(maps, path, file_off, out);
}

/* The file at the path, unless mappings of that path have build ids and it has another one. */
static const struct csni_process_image *image_at(struct csn_process_maps *maps, struct csn_str path) {
    enum { BUILDS = 32 }; /* of a file that was another one in most processes */
    const struct csni_span any_build = { NULL, 0 };
    const struct csni_process_image *there = csni_process_images_get(&maps->images, path, any_build);
    const struct csni_mapping *tried = NULL;
    unsigned builds = 0;
    size_t place = maps->has_build_ids ? csni_mapping_set_first_of(&maps->set, path, 0) : maps->set.by_name.count;
    for (unsigned probe = 0; there && place < maps->set.by_name.count && probe < PROBES && builds < BUILDS; place++, probe++) {
        const struct csni_mapping *mapping = csni_mapping_set_at_name(&maps->set, place);
        if (!csni_str_equal(csni_mapping_path(mapping), path)) break;
        const struct csni_span id = { mapping->build_id, mapping->build_id_size };
        if (!id.size || (tried && tried->build_id_size == id.size && memcmp(tried->build_id, id.ptr, id.size) == 0)) continue;
        const struct csni_process_image *image = csni_process_images_get(&maps->images, path, id);
        if (image) return image;
        tried = mapping;
        builds++;
    }
    return tried ? NULL : there;
}

csn_status csn_process_maps_file_address(struct csn_process_maps *maps, struct csn_str path, uint64_t file_off,
                                         uint64_t *out) {
    uint64_t addr;
    csn_status status = file_address(maps, image_at(maps, path), path, file_off, &addr);
    CSNI_TRY(image_status(maps));
    if (status == CSN_OK) *out = addr;
    return status;
}

csn_status csni_process_maps_image(struct csn_process_maps *maps, struct csn_str path, struct csni_span build_id,
                                   const struct csni_process_image **out) {
    *out = csni_process_images_get(&maps->images, path, build_id);
    CSNI_TRY(image_status(maps));
    return *out ? CSN_OK : CSN_NONE;
}

csn_status csn_process_maps_image_base(struct csn_process_maps *maps, struct csn_str path, uint64_t *out) {
    const struct csni_process_image *image = image_at(maps, path);
    CSNI_TRY(image_status(maps));
    if (image) *out = image->base;
    return image ? CSN_OK : CSN_NONE;
}

/* ---- modules ---- */

static struct csni_live_file live_file_of(const struct csn_process_maps *maps, const struct csni_mapping *mapping) {
    struct csni_live_file file = { .node = mapping->node, .path = csni_mapping_path(mapping), .start = mapping->start,
                                   .end = mapping->end };
    const struct csni_mapping *first = first_mapping(maps, mapping->pid, file.path);
    if (!first || memcmp(&first->node, &file.node, sizeof file.node) != 0) return file;
    file.head = first->start;
    file.head_size = first->end - first->start;
    return file;
}

/* The file that a running process has mapped, which also tells the build id. */
static const struct csni_process_image *live_image_of(struct csn_process_maps *maps, struct csni_mapping *mapping) {
    const struct csni_live_file file = live_file_of(maps, mapping);
    const struct csni_process_image *image = csni_process_images_get_live(&maps->images, &file);
    if (image && image->build_id_size && !mapping->build_id_size) {
        mapping->build_id_size = image->build_id_size;
        memcpy(mapping->build_id, image->build_id, image->build_id_size);
    }
    return image && image->segments ? image : NULL;
}

/* The file of the mapping, unless it is of another build by now. */
static const struct csni_process_image *image_of(struct csn_process_maps *maps, struct csni_mapping *mapping) {
    if (mapping->node.running_pid) return live_image_of(maps, mapping);
    if (mapping->is_of_other_file) return NULL;
    const struct csni_span id = { mapping->build_id, mapping->build_id_size };
    return csni_process_images_get(&maps->images, csni_mapping_path(mapping), id);
}

/* As the image's file tells; false: it tells nothing. */
static bool image_bias(const struct csn_process_maps *maps, const struct csni_process_image *image,
                       const struct csni_mapping *mapping, uint64_t *out) {
    uint64_t addr;
    if (mapping->is_image) {
        *out = mapping->image_start - (image ? image->base : 0);
        return true;
    }
    if (!image) return false;
    /* Where the image's first byte tells that it is, or where it was linked to be. */
    const struct csni_mapping *first = first_mapping(maps, mapping->pid, csni_mapping_path(mapping));
    const uint64_t likely[2] = { first ? mapping->start - first->start + image->base : mapping->start, mapping->start };
    bool found = csni_process_image_code_addr(image, mapping->file_off, mapping->end - mapping->start, likely, &addr)
                 || csni_process_image_addr(image, mapping->file_off, &addr);
    if (found) *out = mapping->start - addr;
    return found;
}

static struct csn_process_module module_of(struct csn_process_maps *maps, struct csni_mapping *mapping) {
    uint64_t addr;
    if (!mapping->has_bias) {
        const struct csni_process_image *image = image_of(maps, mapping);
        mapping->has_bias = image_bias(maps, image, mapping, &mapping->bias) && !maps->images.no_memory;
        if (mapping->has_bias && !mapping->is_image) mapping->image_start = mapping->bias + image->base;
    }
    struct csn_process_module module = {
        .path = csni_mapping_path(mapping), .build_id = mapping->build_id_size ? mapping->build_id : NULL,
        .build_id_size = mapping->build_id_size, .start = mapping->start, .end = mapping->end, .file_off = mapping->file_off,
        .flags = (mapping->is_image ? CSN_PROCESS_MODULE_IMAGE : 0) |
                 (mapping->is_of_other_file ? CSN_PROCESS_MODULE_OTHER_FILE : 0),
    };
    module.bias = mapping->bias;
    module.image_start = mapping->image_start;
    if (mapping->has_bias) return module;
    module.bias = mapping->start -
                  (mapped_address(maps, module.path, mapping->file_off, &addr) == CSN_OK ? addr : mapping->file_off);
    const struct csni_mapping *first = first_mapping(maps, mapping->pid, module.path);
    module.image_start = first ? first->start : 0;
    return module;
}

static bool was_added_before(const void *context, const void *a, const void *b) {
    const struct csni_mapping *slots = context;
    return slots[*(const uint32_t *)a].sequence < slots[*(const uint32_t *)b].sequence;
}

/* The slots of the process's executable mappings, in the order in which they were added. */
static csn_status order_mappings(struct csn_process_maps *maps, uint64_t pid) {
    const struct csni_mapping_set *set = &maps->set;
    maps->order.count = 0;
    for (size_t i = csni_mapping_set_first_after(set, pid, 0); i < set->by_start.count; i++) {
        const struct csni_mapping *mapping = csni_mapping_set_at_start(set, i);
        if (mapping->pid != pid) break;
        if (mapping->is_executable && !csni_vec_push(&maps->order, set->by_start.items[i])) return CSN_E_MEMORY;
    }
    csni_heap_sort(maps->order.items, maps->order.count, sizeof *maps->order.items, was_added_before, set->slots.items);
    return CSN_OK;
}

csn_status csn_process_maps_modules(struct csn_process_maps *maps, uint64_t pid, const struct csn_process_module **out,
                                    size_t *out_count, struct csn_error *err) {
    if (maps->modules_generation != maps->generation || maps->modules_pid != pid) {
        maps->modules.count = 0;
        maps->modules_generation = 0;
        if (order_mappings(maps, pid) < 0) return csni_fail_memory(err, maps->order.count * sizeof *maps->order.items);
        for (size_t i = 0; i < maps->order.count; i++) {
            const struct csn_process_module module = module_of(maps, &maps->set.slots.items[maps->order.items[i]]);
            if (image_status(maps) < 0 || !csni_vec_push(&maps->modules, module))
                return csni_fail_memory(err, maps->modules.count * sizeof *maps->modules.items);
        }
        maps->modules_generation = maps->generation;
        maps->modules_pid = pid;
    }
    *out = maps->modules.items;
    *out_count = maps->modules.count;
    return CSN_OK;
}

static csn_status give_module(struct csn_process_maps *maps, struct csni_mapping *mapping, struct csn_process_module *out) {
    if (!mapping || !mapping->is_executable) return CSN_NONE;
    const struct csn_process_module module = module_of(maps, mapping);
    CSNI_TRY(image_status(maps));
    *out = module;
    return CSN_OK;
}

csn_status csn_process_maps_find(struct csn_process_maps *maps, uint64_t pid, uint64_t pc, struct csn_process_module *out) {
    return give_module(maps, csni_mapping_set_find(&maps->set, pid, pc), out);
}

static bool is_later(const struct csni_mapping *mapping, const struct csni_mapping *found) {
    return mapping->is_executable && (!found || mapping->sequence > found->sequence);
}

/* The last one of exactly that path: those of a path and a process stand together. */
static struct csni_mapping *find_of_path(struct csn_process_maps *maps, uint64_t pid, struct csn_str path) {
    struct csni_mapping *found = NULL;
    size_t place = csni_mapping_set_first_of(&maps->set, path, pid);
    for (unsigned probe = 0; place < maps->set.by_name.count && probe < PROBES; place++, probe++) {
        struct csni_mapping *mapping = csni_mapping_set_at_name(&maps->set, place);
        if (mapping->pid != pid || !csni_str_equal(csni_mapping_path(mapping), path)) break;
        if (is_later(mapping, found)) found = mapping;
    }
    return found;
}

static struct csni_mapping *find_of_base(struct csn_process_maps *maps, uint64_t pid, struct csn_str base) {
    struct csni_mapping *found = NULL;
    size_t place = csni_mapping_set_first_named(&maps->set, base);
    for (unsigned probe = 0; place < maps->set.by_name.count && probe < PROBES; place++, probe++) {
        struct csni_mapping *mapping = csni_mapping_set_at_name(&maps->set, place);
        const struct csn_str path = csni_mapping_path(mapping);
        if (!csni_str_equal((struct csn_str){ path.ptr + mapping->name_at, path.len - mapping->name_at }, base)) break;
        if (mapping->pid == pid && is_later(mapping, found)) found = mapping;
    }
    return found;
}

csn_status csn_process_maps_find_named(struct csn_process_maps *maps, uint64_t pid, struct csn_str name,
                                       struct csn_process_module *out) {
    struct csni_mapping *found = find_of_path(maps, pid, name);
    return give_module(maps, found ? found : find_of_base(maps, pid, csni_path_base_name(name)), out);
}

uint64_t csn_process_module_bias(const struct csn_process_module *module, uint64_t image_base) {
    /* Where the image begins; if that is unknown, where its file would: a mapping may be a later part of the code. */
    uint64_t first = module->image_start && module->image_start < module->start ? module->image_start : module->start;
    if (!module->image_start && module->file_off < first) first -= module->file_off;
    bool is_in_place = image_base >= first && image_base < module->end;
    if (is_in_place && image_base) return 0;
    /* Only of an image that is linked above 4 GiB is it certain that addresses do not count from its first byte. */
    if ((module->flags & CSN_PROCESS_MODULE_IMAGE) && image_base >> 32) return module->image_start - image_base;
    /* Addresses of Breakpad files and PDBs count from the first byte, wherever the image is linked to; no image is linked below. */
    const uint64_t linked_at = module->image_start - module->bias;
    if (module->image_start && image_base < CSNI_LOWEST_IMAGE && image_base < linked_at) return module->image_start;
    return module->bias;
}

/* ---- the files of running processes ---- */

csn_status csn_process_maps_open_file(struct csn_process_maps *maps, uint64_t pid, uint64_t pc, struct csn_file **out,
                                      struct csn_str *out_path, struct csn_error *err) {
    const struct csni_mapping *mapping = csni_mapping_set_find(&maps->set, pid, pc);
    if (!mapping || !mapping->node.running_pid || maps->images.no_files) return CSN_NONE;
    const struct csni_live_file file = live_file_of(maps, mapping);
    CSNI_TRY(csni_live_file_open(&file, maps->alloc, &maps->opened, err));
    csn_status status = csni_file_of_map(&maps->opened.map, out, err);
    if (status < 0) csni_file_map_close(&maps->opened.map);
    else *out_path = csni_str(maps->opened.path);
    return status;
}

/* ---- text ---- */

csn_status csn_process_maps_add_line(struct csn_process_maps *maps, uint64_t pid, struct csn_str line, struct csn_error *err) {
    struct csni_maps_line parsed;
    while (line.len && (line.ptr[line.len - 1] == '\n' || line.ptr[line.len - 1] == '\r')) line.len--;
    if (!csni_maps_line_parse(line, &parsed)) return CSN_NONE;
    if (!csni_maps_line_has_file(&parsed)) return CSN_OK;
    const struct csn_process_mapping mapping = csni_maps_line_mapping(&parsed);
    return csn_process_maps_add_mapping(maps, pid, &mapping, err);
}
