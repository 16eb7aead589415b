/* Callsign: the memory maps of processes. They show which image is mapped where, and which address of the image a pc
 * is.
 *
 * Memory maps come from several sources: the text of /proc/PID/maps, perf's mmap records, and lists of loaded images
 * in crash reports. Each source has a function that adds its data; csn_process_maps_modules() returns the resulting
 * modules. Load biases come from the program headers of the images, if this machine has the files, or from where an
 * image's first byte was mapped. */
#ifndef CALLSIGN_PROCESS_H
#define CALLSIGN_PROCESS_H

#include <stdbool.h>

#include <callsign/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The memory maps of any number of processes, by process id. Only one thread may use them at a time. */
struct csn_process_maps;

struct csn_process_maps_options {
    size_t struct_size;                    /* set by CSN_PROCESS_MAPS_OPTIONS_INIT */
    const struct csn_allocator *allocator; /* NULL: malloc; must outlive the maps */
    uint32_t max_mappings;                 /* limit for all processes together; 0: 8192. The oldest are dropped */
    uint32_t flags;                        /* CSN_PROCESS_ */
};
#define CSN_PROCESS_MAPS_OPTIONS_INIT CSN_SIZED_INIT(csn_process_maps_options)
CSN_API void csn_process_maps_options_init(struct csn_process_maps_options *options);

enum {
    CSN_PROCESS_NO_FILES = 1 /* do not open images, as for maps of another machine; biases come from the maps alone */
};

/* Creates an empty set of maps. `options` may be NULL. The caller releases *out with csn_process_maps_destroy().
 * CSN_OK; CSN_E_UNSUPPORTED: unknown flags or fields; CSN_E_MEMORY. */
CSN_API csn_status csn_process_maps_create(const struct csn_process_maps_options *options, struct csn_process_maps **out,
                                           struct csn_error *err);
CSN_API void csn_process_maps_destroy(struct csn_process_maps *maps); /* `maps` may be NULL */

/* ---- sources ----
 *
 * These functions copy their arguments. A new mapping replaces the parts of earlier mappings of the same process that
 * it overlaps, as mmap(2) does. `pid` only distinguishes processes: it may be any number, such as 0 for a text
 * without process ids.
 * CSN_OK; CSN_E_ARGUMENT: the range is empty, or the path is empty or contains a NUL; CSN_E_UNSUPPORTED: unknown flags or
 * fields; CSN_E_MEMORY.
 * Cost: logarithmic in the number of known mappings, but for moving 8 bytes of each. */
enum { CSN_BUILD_ID_MAX = 32 };

enum {
    CSN_MAPPING_EXECUTABLE = 1 /* only executable mappings become modules; others help to find where an image begins */
};

/* A mapped part of a file: the fields of a line of /proc/PID/maps and of perf's PERF_RECORD_MMAP and
 * PERF_RECORD_MMAP2. */
struct csn_process_mapping {
    size_t struct_size;        /* set by CSN_PROCESS_MAPPING_INIT */
    uint64_t start, end;       /* pcs, half-open */
    uint64_t file_off;         /* file offset of the byte at `start` */
    struct csn_str path;
    const uint8_t *build_id;   /* build id of the file; NULL: unknown */
    size_t build_id_size;      /* bytes; truncated to CSN_BUILD_ID_MAX */
    uint32_t flags;            /* CSN_MAPPING_ */
    uint32_t reserved;
};
#define CSN_PROCESS_MAPPING_INIT CSN_SIZED_INIT(csn_process_mapping)
CSN_API void csn_process_mapping_init(struct csn_process_mapping *mapping);

/* Adds one mapping. */
CSN_API csn_status csn_process_maps_add_mapping(struct csn_process_maps *maps, uint64_t pid,
                                                const struct csn_process_mapping *mapping, struct csn_error *err);

/* Adds a whole image whose first byte is at `start`, as lists of loaded images describe it (Apple's "Binary Images",
 * the module maps of sanitizers). `file_off` and `flags` are ignored. */
CSN_API csn_status csn_process_maps_add_image(struct csn_process_maps *maps, uint64_t pid,
                                              const struct csn_process_mapping *image, struct csn_error *err);

/* Adds one line of /proc/PID/maps, with or without its newline.
 * CSN_OK: the line is a mapping; one without a file is ignored. CSN_NONE: the line is not a mapping.
 * Serves: proc_pid_maps(5). */
CSN_API csn_status csn_process_maps_add_line(struct csn_process_maps *maps, uint64_t pid, struct csn_str line,
                                             struct csn_error *err);

/* Adds one line of a list of loaded images: the memory map of an Android tombstone, Apple's "Binary Images", the
 * __TEXT lines of vmmap, the images of Swift's backtraces, or lldb's "image list", whose images reach up to the next
 * one. Build ids and UUIDs are taken.
 * CSN_OK: the line is one of these; one without a file is ignored. CSN_NONE: it is not. */
CSN_API csn_status csn_process_maps_add_report_line(struct csn_process_maps *maps, uint64_t pid, struct csn_str line,
                                                    struct csn_error *err);

/* Adds the text of /proc/PID/maps, or a text with lines of csn_process_maps_add_report_line(). Other lines are ignored.
 * *out_lines receives the number of lines that are mappings or images; `out_lines` may be NULL. */
CSN_API csn_status csn_process_maps_add_text(struct csn_process_maps *maps, uint64_t pid, struct csn_str text,
                                             size_t *out_lines, struct csn_error *err);

/* Adds the mappings of a running process, from /proc/PID/maps, as those of process `pid`. Its modules have the build ids and load
 * biases of the files that are mapped, which may have no path any more, or another one here: see
 * csn_process_maps_open_file(). Where such a file cannot be opened, the build id is read from the process's memory, if it may be.
 * CSN_OK; CSN_E_IO: there is no such process, or it may not be read; CSN_E_UNSUPPORTED: this system has no /proc;
 * CSN_E_MEMORY. */
CSN_API csn_status csn_process_maps_add_live(struct csn_process_maps *maps, uint64_t pid, uint64_t running_pid,
                                             struct csn_error *err);

/* Adds the files that a process had mapped, from its ELF core dump (32 and 64 bits, either byte order). Build ids come
 * from the images' first pages, which Linux dumps by default.
 * CSN_OK; CSN_NONE: the dump has no NT_FILE note; CSN_E_UNSUPPORTED: the bytes are no ELF core dump; CSN_E_TRUNCATED,
 * CSN_E_FORMAT, CSN_E_LIMIT: it is damaged; CSN_E_MEMORY.
 * Serves: core(5), NT_FILE. */
CSN_API csn_status csn_process_maps_add_core(struct csn_process_maps *maps, uint64_t pid, const void *bytes, size_t size,
                                             struct csn_error *err);

/* Finds the address of the section .text of a kernel module, as /sys/module/NAME/sections/.text has it. Returns false if
 * it is unknown. */
typedef bool csn_process_module_text(void *context, struct csn_str name, uint64_t *out);

/* Adds a Linux kernel and its modules as images: "vmlinux" from `kallsyms`, the text of /proc/kallsyms, between _text and
 * _end; modules from `modules`, the text of /proc/modules, each of which ends where the next one begins at the latest.
 * Either text may be empty; module_text may be NULL.
 * CSN_OK: something was added; CSN_NONE: nothing was, as when the kernel hides its addresses; CSN_E_MEMORY. */
CSN_API csn_status csn_process_maps_add_kernel(struct csn_process_maps *maps, uint64_t pid, struct csn_str kallsyms,
                                               struct csn_str modules, csn_process_module_text *module_text, void *context,
                                               struct csn_error *err);
/* The same for the running kernel, from /proc and /sys. CSN_E_IO: they cannot be read. */
CSN_API csn_status csn_process_maps_add_live_kernel(struct csn_process_maps *maps, uint64_t pid, struct csn_error *err);
/* Finds the address of a kernel symbol in the text of /proc/kallsyms; symbols of modules do not count. The difference to
 * the function of that name in an index of vmlinux is the kernel's load bias (KASLR). CSN_OK; CSN_NONE. */
CSN_API csn_status csn_process_kallsyms_find(struct csn_str kallsyms, struct csn_str name, uint64_t *out);

/* Says that images of this path or base name are the object file at `path`, wherever they were when they ran: maps may
 * come from another machine. Its headers then tell how they were loaded, unless it has no code (a debug file) or another
 * build id than a mapping. A file that cannot be read, or is no object file, tells nothing. Both strings are copied.
 * Modules of which csn_process_maps_modules() has already told stay as they are.
 * CSN_OK; CSN_E_ARGUMENT: one is empty, or the name has a NUL in it; CSN_E_MEMORY. Of several files of
 * one name the first one counts. Cost: logarithmic in the number of names, but for moving 24 bytes of each. */
CSN_API csn_status csn_process_maps_name_image(struct csn_process_maps *maps, struct csn_str name, const char *path,
                                               struct csn_error *err);

/* ---- modules ---- */

enum {
    CSN_PROCESS_MODULE_IMAGE = 1,     /* from csn_process_maps_add_image(): the file layout is unknown */
    CSN_PROCESS_MODULE_OTHER_FILE = 2 /* of a core dump: the file at `path` is not the one that was mapped. It has no build id,
                                       * and its headers differ from those in the dump */
};

/* A range of pcs, [start, end), that belongs to one image. Strings and ids stay valid until the maps change. */
struct csn_process_module {
    struct csn_str path;
    const uint8_t *build_id; /* NULL: unknown */
    size_t build_id_size;
    uint64_t start, end;
    uint64_t bias;           /* address in the image = pc - bias */
    uint64_t file_off;       /* file offset of the byte at `start`; 0 with CSN_PROCESS_MODULE_IMAGE */
    uint64_t image_start;    /* pc of the image's first byte; 0: unknown */
    uint32_t flags;          /* CSN_PROCESS_MODULE_ */
    uint32_t reserved;
};

/* Returns the modules of a process in the order in which they were added. Modules do not overlap. *out stays valid
 * until the next call of this function or of a function that adds a mapping.
 * Cost: n log n in the number of the process's mappings, once for each change. The headers of each image are read
 * once; that an image cannot be read is remembered, too. Up to 16,384 images are cached. */
CSN_API csn_status csn_process_maps_modules(struct csn_process_maps *maps, uint64_t pid,
                                            const struct csn_process_module **out, size_t *out_count,
                                            struct csn_error *err);

/* Finds the module of a process that has a pc. CSN_OK; CSN_NONE: no executable mapping has it; CSN_E_MEMORY.
 * Cost: logarithmic, and the headers of an image whose first module this is. */
CSN_API csn_status csn_process_maps_find(struct csn_process_maps *maps, uint64_t pid, uint64_t pc, struct csn_process_module *out);

/* Opens the file that a running process (csn_process_maps_add_live()) has mapped at `pc`, also if it is deleted, replaced, or
 * in another root or mount namespace. Device and inode decide; a file with others is used only if its build id is that in the
 * process's memory. Places, in order: the path, /proc/PID/root/PATH, /proc/PID/exe, /proc/PID/map_files (needs
 * CAP_SYS_ADMIN or CAP_CHECKPOINT_RESTORE). The caller closes *out with csn_file_close(). *out_path receives the path by which it
 * was opened, for csn_store_module.image; it stays valid until the next call with these maps.
 * CSN_OK; CSN_NONE: no file of a running process is mapped there, or CSN_PROCESS_NO_FILES is set; CSN_E_NOT_FOUND: it cannot
 * be opened, and `err` says why; CSN_E_MEMORY.
 * Serves: proc_pid_maps(5), proc_pid_root(5), proc_pid_map_files(5). */
CSN_API csn_status csn_process_maps_open_file(struct csn_process_maps *maps, uint64_t pid, uint64_t pc, struct csn_file **out,
                                              struct csn_str *out_path, struct csn_error *err);

/* Finds a module of a process by its path, or by its base name, with a folder before it or without. Of several, a
 * module with exactly this path, and the one that was added last. CSN_OK; CSN_NONE: there is none; CSN_E_MEMORY.
 * Cost: logarithmic. */
CSN_API csn_status csn_process_maps_find_named(struct csn_process_maps *maps, uint64_t pid, struct csn_str name,
                                               struct csn_process_module *out);

/* Returns a number that changes whenever a source adds something. While it stays the same, csn_process_maps_modules()
 * returns the same modules. */
CSN_API uint64_t csn_process_maps_generation(const struct csn_process_maps *maps);

/* Returns the load bias of a module for an index with the base address `image_base`: address in the index = pc - bias. It is
 * that of the module, but if this machine does not have the image (one that is not relocated is mapped at its link address),
 * and where the index begins below 64 KiB and the image: it then counts from the image's first byte, as Breakpad files do.
 * 0: unknown. */
CSN_API uint64_t csn_process_module_bias(const struct csn_process_module *module, uint64_t image_base);

/* Computes the image address of the byte at `file_off` in the file `path`, from the file's program headers. If they
 * cannot be read, or mappings of that path have build ids and the file has another one, it uses the distance from the image's
 * first byte in the memory maps.
 * CSN_OK; CSN_NONE: neither is known; CSN_E_MEMORY. */
CSN_API csn_status csn_process_maps_file_address(struct csn_process_maps *maps, struct csn_str path, uint64_t file_off,
                                                 uint64_t *out);

/* Computes the address of the image's first byte from the program headers of the file `path`.
 * CSN_OK; CSN_NONE: they cannot be read, or are of another build than the mappings of that path; CSN_E_MEMORY. */
CSN_API csn_status csn_process_maps_image_base(struct csn_process_maps *maps, struct csn_str path, uint64_t *out);

#ifdef __cplusplus
}
#endif
#endif
