/* Mappings from core dumps and from the kernel. */
#include "process/process_private.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/core/fail.h"
#include "base/core/file_map.h"
#include "base/core/search.h"
#include "base/core/sort.h"
#include "base/core/vec.h"
#include "base/hex.h"
#include "base/lines.h"
#include "object/core_files.h"

/* ---- core dumps ---- */

/* What the first mapping of an image tells of the others, which follow it: that one has the headers. */
struct core_image {
    struct csni_span build_id;
    bool has_other_file;
};

static csn_status add_core_file(struct csn_process_maps *maps, uint64_t pid, const struct csni_core_file *file,
                                const struct core_image *image, struct csn_error *err) {
    struct csn_process_mapping mapping = CSN_PROCESS_MAPPING_INIT;
    mapping.start = file->start;
    mapping.end = file->end;
    mapping.file_off = file->file_off;
    mapping.path = file->path;
    mapping.flags = file->exec ? CSN_MAPPING_EXECUTABLE : 0;
    mapping.build_id = image->build_id.ptr;
    mapping.build_id_size = image->build_id.size;
    if (!file->path.len) return CSN_OK;
    return csni_process_maps_add_core_mapping(maps, pid, &mapping, image->has_other_file, err);
}

/* Where there is no build id, the headers tell whether the file is still the same: they have its size and that of its segments. */
static csn_status add_core_files(struct csn_process_maps *maps, uint64_t pid, const csni_core_files *files, struct csn_error *err) {
    struct core_image image = { .has_other_file = false };
    for (size_t i = 0; i < files->count; i++) {
        const struct csni_core_file *file = &files->items[i];
        bool is_same = i && csni_str_equal(file->path, files->items[i - 1].path);
        if (!is_same || !file->file_off) {
            image.build_id = file->build_id;
            image.has_other_file = !file->build_id.size && file->headers.size &&
                                   csni_process_maps_file_differs(maps, file->path, file->headers);
        }
        CSNI_TRY(add_core_file(maps, pid, file, &image, err));
    }
    return CSN_OK;
}

csn_status csn_process_maps_add_core(struct csn_process_maps *maps, uint64_t pid, const void *bytes, size_t size,
                                     struct csn_error *err) {
    csni_core_files files = { .alloc = csni_process_maps_allocator(maps) };
    csn_status status = csni_elf_core_files((struct csni_span){ bytes, size }, &files, err);
    if (status == CSN_OK) status = add_core_files(maps, pid, &files, err);
    csni_vec_deinit(&files);
    return status;
}

/* ---- the kernel ---- */

static struct csn_str next_word(struct csn_str *rest) {
    while (rest->len && csni_is_blank(rest->ptr[0])) *rest = (struct csn_str){ rest->ptr + 1, rest->len - 1 };
    size_t len = 0;
    while (len < rest->len && !csni_is_blank(rest->ptr[len])) len++;
    struct csn_str word = { rest->ptr, len };
    *rest = (struct csn_str){ rest->ptr + len, rest->len - len };
    return word;
}

static bool parse_hex_word(struct csn_str text, uint64_t *out) {
    if (csni_str_starts(text, "0x")) text = (struct csn_str){ text.ptr + 2, text.len - 2 };
    return csni_hex_value(text, out);
}

static bool parse_decimal_word(struct csn_str text, uint64_t *out) {
    uint64_t value = 0;
    if (!text.len || text.len > 18) return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9') return false;
        value = value * 10 + (uint64_t)(text.ptr[i] - '0');
    }
    *out = value;
    return true;
}

csn_status csn_process_kallsyms_find(struct csn_str kallsyms, struct csn_str name, uint64_t *out) {
    struct csni_lines lines = { .rest = { (const uint8_t *)kallsyms.ptr, kallsyms.len } };
    struct csn_str line;
    while (csni_lines_next(&lines, &line)) {
        uint64_t addr;
        struct csn_str word = next_word(&line), type = next_word(&line), symbol = next_word(&line);
        if (type.len != 1 || !csni_str_equal(symbol, name) || !parse_hex_word(word, &addr)) continue;
        if (next_word(&line).len) continue; /* of a module: "[name]" follows */
        *out = addr;
        return CSN_OK;
    }
    return CSN_NONE;
}

static csn_status add_kernel_image(struct csn_process_maps *maps, uint64_t pid, struct csn_str name, uint64_t start, uint64_t end,
                                   struct csn_error *err) {
    struct csn_process_mapping image = CSN_PROCESS_MAPPING_INIT;
    image.start = start;
    image.end = end;
    image.path = name;
    return csn_process_maps_add_image(maps, pid, &image, err);
}

static csn_status add_vmlinux(struct csn_process_maps *maps, uint64_t pid, struct csn_str kallsyms, struct csn_error *err) {
    static const char *const starts[] = { "_text", "_stext" }, *const ends[] = { "_end", "_etext" };
    uint64_t start = 0, end = 0;
    for (size_t i = 0; i < 2 && !start; i++) csn_process_kallsyms_find(kallsyms, csni_str(starts[i]), &start);
    for (size_t i = 0; i < 2 && end <= start; i++) csn_process_kallsyms_find(kallsyms, csni_str(ends[i]), &end);
    if (!start)
        return csni_fail(err, CSN_NONE, NULL, 0,
                         "kallsyms has no address of _text or _stext; it hides addresses from who may not read them");
    if (end <= start) return csni_fail(err, CSN_NONE, NULL, 0, "kallsyms has no address of _end or _etext");
    return add_kernel_image(maps, pid, CSN_STR("vmlinux"), start, end, err);
}

/* "snd_pcm 159744 5 snd_hda_codec, Live 0xffffffffc0a00000 (OE)" */
static bool parse_kernel_module(struct csn_str line, struct csn_str *name, uint64_t *start, uint64_t *size) {
    *name = next_word(&line);
    if (!name->len || memchr(name->ptr, 0, name->len) || !parse_decimal_word(next_word(&line), size) || !*size) return false;
    next_word(&line); /* users */
    next_word(&line); /* their names */
    next_word(&line); /* state */
    return parse_hex_word(next_word(&line), start) && *start && *size <= UINT64_MAX - *start;
}

struct kernel_module {
    struct csn_str name;
    uint64_t start, end;
};
struct module_start {
    uint64_t start;
};
struct kernel_modules {
    CSNI_VEC(struct kernel_module) items;
    CSNI_VEC(struct module_start) starts; /* ascending */
};

static bool starts_before(const void *context, const void *a, const void *b) {
    (void)context;
    return ((const struct module_start *)a)->start < ((const struct module_start *)b)->start;
}

/* False: no memory. */
static bool list_kernel_modules(struct kernel_modules *out, struct csn_str modules,
                                csn_process_module_text *module_text, void *context) {
    struct csni_lines lines = { .rest = { (const uint8_t *)modules.ptr, modules.len } };
    struct csn_str line, name;
    while (csni_lines_next(&lines, &line)) {
        uint64_t start, size, text;
        if (!parse_kernel_module(line, &name, &start, &size)) continue;
        /* Addresses of a module's index count from its section .text, which need not come first in memory. */
        uint64_t end = start + size;
        if (module_text && module_text(context, name, &text) && text >= start && text < end) start = text;
        const struct kernel_module module = { name, start, end };
        const struct module_start module_start = { start };
        if (!csni_vec_push(&out->items, module) || !csni_vec_push(&out->starts, module_start)) return false;
    }
    if (out->starts.count) csni_heap_sort(out->starts.items, out->starts.count, sizeof *out->starts.items, starts_before, NULL);
    return true;
}

/* Linux 6.4 and later have a module's code and data in places of their own, and still list one start, that of the code,
 * with the size
 * of all: a module ends where the next one begins at the latest, in whatever order they are listed. */
static csn_status add_kernel_modules(struct csn_process_maps *maps, uint64_t pid, const struct kernel_modules *modules,
                                     struct csn_error *err) {
    for (size_t i = 0; i < modules->items.count; i++) {
        const struct kernel_module *module = &modules->items.items[i];
        const size_t next = csni_upper_bound(modules->starts.items, modules->starts.count, start, module->start);
        const uint64_t limit = next < modules->starts.count ? modules->starts.items[next].start : UINT64_MAX;
        CSNI_TRY(add_kernel_image(maps, pid, module->name, module->start, module->end < limit ? module->end : limit, err));
    }
    return modules->items.count ? CSN_OK : CSN_NONE;
}

csn_status csn_process_maps_add_kernel(struct csn_process_maps *maps, uint64_t pid, struct csn_str kallsyms, struct csn_str modules,
                                       csn_process_module_text *module_text, void *context, struct csn_error *err) {
    const struct csn_allocator *alloc = csni_process_maps_allocator(maps);
    struct kernel_modules list = { .items.alloc = alloc, .starts.alloc = alloc };
    const csn_status kernel = kallsyms.len ? add_vmlinux(maps, pid, kallsyms, err) : CSN_NONE;
    if (kernel < 0) return kernel;
    csn_status status = list_kernel_modules(&list, modules, module_text, context) ? add_kernel_modules(maps, pid, &list, err)
                                                                                  : csni_fail_memory(err, modules.len);
    csni_vec_deinit(&list.items);
    csni_vec_deinit(&list.starts);
    return status == CSN_NONE ? kernel : status;
}

/* /sys/module/NAME/sections/.text: "0xffffffffc0a00000". A name has no '/'. */
static bool read_module_text(void *context, struct csn_str name, uint64_t *out) {
    char path[256];
    struct csni_file_map map;
    (void)context;
    if (memchr(name.ptr, '/', name.len) || name.ptr[0] == '.' || name.len > 100) return false;
    snprintf(path, sizeof path, "/sys/module/%.*s/sections/.text", (int)name.len, name.ptr);
    if (csni_file_map_open(&map, path, NULL) != CSN_OK) return false;
    struct csn_str text = { (const char *)map.bytes.ptr, map.bytes.size };
    while (text.len && (text.ptr[text.len - 1] == '\n' || text.ptr[text.len - 1] == 0)) text.len--;
    bool good = parse_hex_word(text, out) && *out;
    csni_file_map_close(&map);
    return good;
}

csn_status csn_process_maps_add_live_kernel(struct csn_process_maps *maps, uint64_t pid, struct csn_error *err) {
    struct csni_file_map kallsyms, modules = { .mapped = 0 };
    CSNI_TRY(csni_file_map_open(&kallsyms, "/proc/kallsyms", err));
    bool has_modules = csni_file_map_open(&modules, "/proc/modules", NULL) == CSN_OK;
    csn_status status = csn_process_maps_add_kernel(
        maps, pid, (struct csn_str){ (const char *)kallsyms.bytes.ptr, kallsyms.bytes.size },
        (struct csn_str){ (const char *)modules.bytes.ptr, modules.bytes.size }, read_module_text, NULL, err);
    csni_file_map_close(&kallsyms);
    if (has_modules) csni_file_map_close(&modules);
    return status;
}
