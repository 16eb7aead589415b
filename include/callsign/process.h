/* Callsign: the memory of processes as modules: which image lies where, and which address of the image a pc is.
 *
 * Memory maps come from several sources: the text of /proc/PID/maps, perf's mmap records, lists of loaded images in crash
 * reports. Each source has a function that adds what it knows; csn_process_maps_modules() gives the result, whatever the
 * source. Load biases come from the program headers of the images, as far as this machine has the files, or from where an
 * image's first byte was mapped. */
#ifndef CALLSIGN_PROCESS_H
#define CALLSIGN_PROCESS_H

#include <stdbool.h>

#include <callsign/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The memory maps of any number of processes, by process id. One thread at a time uses it. */
struct csn_process_maps;

struct csn_process_maps_options {
    size_t struct_size;                    /* set by CSN_PROCESS_MAPS_OPTIONS_INIT */
    const struct csn_allocator *allocator; /* NULL: malloc; must outlive the maps */
    uint32_t max_mappings;                 /* of all processes together; 0: 8192. Beyond it, the oldest are forgotten */
    uint32_t flags;                        /* CSN_PROCESS_ */
};
#define CSN_PROCESS_MAPS_OPTIONS_INIT CSN_SIZED_INIT(csn_process_maps_options)
CSN_API void csn_process_maps_options_init(struct csn_process_maps_options *options);

enum {
    CSN_PROCESS_NO_FILES = 1 /* open no image: biases come from the maps alone. For maps of another machine */
};

/* `options` may be NULL. CSN_E_UNSUPPORTED: unknown flags or fields. */
CSN_API csn_status csn_process_maps_create(const struct csn_process_maps_options *options, struct csn_process_maps **out,
                                           struct csn_error *err);
CSN_API void csn_process_maps_destroy(struct csn_process_maps *maps); /* NULL is fine */

/* ---- sources ----
 *
 * All of them copy what they are given. Where a new mapping overlaps earlier ones of the same process, it takes their bytes
 * over, as mmap(2) does. `pid` only tells processes apart: any number will do, 0 for a text that names none.
 * CSN_E_ARGUMENT: an empty range, or a path that is empty or has a NUL in it. CSN_E_MEMORY. Cost: linear in the number of
 * mappings that are known. */

enum { CSN_BUILD_ID_MAX = 32 };

enum {
    CSN_MAPPING_EXECUTABLE = 1 /* only these become modules; the others tell where an image begins */
};

/* A part of a file in memory: the fields of a line of /proc/PID/maps and of perf's PERF_RECORD_MMAP and MMAP2. */
struct csn_process_mapping {
    size_t struct_size;        /* set by CSN_PROCESS_MAPPING_INIT */
    uint64_t start, end;       /* pcs, half-open */
    uint64_t file_off;         /* of the byte at `start`, in the file */
    struct csn_str path;
    const uint8_t *build_id;   /* of the file; NULL: not known */
    size_t build_id_size;      /* bytes; more than CSN_BUILD_ID_MAX are cut */
    uint32_t flags;            /* CSN_MAPPING_ */
    uint32_t reserved;
};
#define CSN_PROCESS_MAPPING_INIT CSN_SIZED_INIT(csn_process_mapping)
CSN_API void csn_process_mapping_init(struct csn_process_mapping *mapping);

CSN_API csn_status csn_process_maps_add_mapping(struct csn_process_maps *maps, uint64_t pid,
                                                const struct csn_process_mapping *mapping, struct csn_error *err);

/* A whole image whose first byte lies at `start`: what lists of loaded images have (Apple's "Binary Images", the module maps
 * of sanitizers). `file_off` and `flags` are not looked at. */
CSN_API csn_status csn_process_maps_add_image(struct csn_process_maps *maps, uint64_t pid,
                                              const struct csn_process_mapping *image, struct csn_error *err);

/* One line of /proc/PID/maps, with or without its newline. CSN_OK: it is one; a mapping of no file is passed over.
 * CSN_NONE: the line is something else.
 * Serves: proc_pid_maps(5). */
CSN_API csn_status csn_process_maps_add_line(struct csn_process_maps *maps, uint64_t pid, struct csn_str line,
                                             struct csn_error *err);

/* The text of /proc/PID/maps. Lines that are something else are passed over. *out_lines (NULL is fine) gets the number of
 * lines that were mappings. */
CSN_API csn_status csn_process_maps_add_text(struct csn_process_maps *maps, uint64_t pid, struct csn_str text,
                                             size_t *out_lines, struct csn_error *err);

/* ---- modules ---- */

enum {
    CSN_PROCESS_MODULE_IMAGE = 1 /* added by csn_process_maps_add_image(): `image_start` is known, the file's layout is not */
};

/* Pcs [start, end) that belong to one image. Strings and ids live until the maps change. */
struct csn_process_module {
    struct csn_str path;
    const uint8_t *build_id; /* NULL: the source does not tell it */
    size_t build_id_size;
    uint64_t start, end;
    uint64_t bias;           /* address in the image = pc - bias */
    uint64_t file_off;       /* of the byte at `start`; 0 with CSN_PROCESS_MODULE_IMAGE */
    uint64_t image_start;    /* pc of the image's first byte; 0: not known */
    uint32_t flags;          /* CSN_PROCESS_MODULE_ */
    uint32_t reserved;
};

/* The modules of a process, in the order in which they were added; none overlap. They live until the next call of this or
 * of a function that adds. Cost: linear in the number of mappings; each image's headers are read once, and kept for some
 * dozens of images. */
CSN_API csn_status csn_process_maps_modules(struct csn_process_maps *maps, uint64_t pid,
                                            const struct csn_process_module **out, size_t *out_count,
                                            struct csn_error *err);

/* Changes whenever a source has added something: while it stays the same, csn_process_maps_modules() gives the same. */
CSN_API uint64_t csn_process_maps_generation(const struct csn_process_maps *maps);

/* The bias of a module whose image is known to begin at address `image_base`, which an index tells where this machine does
 * not have the image itself: an image that is not relocated lies where it was linked to. 0: not known. */
CSN_API uint64_t csn_process_module_bias(const struct csn_process_module *module, uint64_t image_base);

/* The address in the image of the byte at `file_off` of the file `path`: by its program headers; where this machine cannot
 * read them, as far from the image's first byte as the two were mapped. CSN_NONE: neither is known; CSN_E_MEMORY. */
CSN_API csn_status csn_process_maps_file_address(struct csn_process_maps *maps, struct csn_str path, uint64_t file_off,
                                                 uint64_t *out);

/* The address of the image's first byte, by the program headers of the file `path`. CSN_NONE: it cannot be read;
 * CSN_E_MEMORY. */
CSN_API csn_status csn_process_maps_image_base(struct csn_process_maps *maps, struct csn_str path, uint64_t *out);

#ifdef __cplusplus
}
#endif
#endif
