/* How much memory a conversion will take, before it is begun. */
#include "object/object.h"
#include "open/fill_admission.h"

/* Peaks of real conversions are 0.5 to 0.7 bytes for one of inflated debug information, with one thread and with two, and
 * some megabytes (docs/performance-log.md, "Growth"). */
enum { FIXED_BYTES = 8 << 20, SHARE_OF = 4, SHARE = 3 };

static uint64_t section_size(const struct csni_object *object, uint32_t section) {
    if (section == CSNI_NO_SECTION || object->sections[section].flags & CSNI_SECTION_NOBITS) return 0;
    return object->sections[section].size;
}

/* 64-bit sums cannot run over: where a header promises too much, the file is damaged, and its conversion fails early. */
static uint64_t add_bounded(uint64_t a, uint64_t b) { return a > UINT64_MAX / 8 || b > UINT64_MAX / 8 ? UINT64_MAX / 8 : a + b; }

static uint64_t debug_bytes(const struct csni_object *object) {
    static const char *const names[] = { "info",     "types",       "abbrev", "line",   "str",
                                         "line_str", "str_offsets", "addr",   "ranges", "rnglists" };
    uint64_t sum = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        sum = add_bounded(sum, section_size(object, csni_object_find_debug_section(object, names[i], false)));
    return sum;
}

static uint64_t symbol_bytes(const struct csni_object *object) {
    static const char *const names[] = { ".symtab", ".strtab", ".dynsym", ".dynstr", ".gopclntab", "__gopclntab" };
    uint64_t sum = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        sum = add_bounded(sum, section_size(object, csni_object_find_section(object, names[i])));
    return sum;
}

static uint64_t object_bytes(struct csni_span file, const struct csni_object *object) {
    uint64_t debug = debug_bytes(object);
    /* Containers whose debug information lies elsewhere or in sections of other names: at most the file. */
    return debug || object->container == CSNI_CONTAINER_ELF
               ? add_bounded(debug / SHARE_OF * SHARE, symbol_bytes(object))
               : file.size;
}

static uint64_t elsewhere(const struct csn_opener *opener, const char *path, struct csni_object *object) {
    struct csni_object_options options = { .allocator = opener->alloc, .file_is_mapped = true };
    struct csni_object *debug;
    struct csn_companion found;
    uint64_t bytes = 0;
    if (csni_image_debug_file(opener, path, object, &found) != CSN_OK) return 0;
    const struct csni_span file = { found.bytes, found.size };
    if (csni_object_open(file, &options, &debug, NULL) == CSN_OK) {
        bytes = object_bytes(file, debug);
        csni_object_close(debug);
    }
    if (found.release) found.release(&found);
    return bytes;
}

uint64_t csni_estimate_memory(const struct csn_opener *opener, const char *path, struct csni_span image) {
    struct csni_object_options options = { .allocator = opener->alloc, .file_is_mapped = true };
    struct csni_object *object;
    if (!csni_object_recognize(image)) return 0;
    if (csni_object_open(image, &options, &object, NULL) != CSN_OK) return add_bounded(FIXED_BYTES, image.size); /* a universal file */
    uint64_t bytes = add_bounded(FIXED_BYTES, object_bytes(image, object));
    if (object->container == CSNI_CONTAINER_ELF && !debug_bytes(object))
        bytes = add_bounded(bytes, elsewhere(opener, path, object));
    csni_object_close(object);
    return bytes;
}
