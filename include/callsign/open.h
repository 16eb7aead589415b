/* Callsign: open the symbols of an image from an index or from a file that must be converted first, and keep the
 * conversions in a cache. Not part of the lookup-only library. */
#ifndef CALLSIGN_OPEN_H
#define CALLSIGN_OPEN_H

#include <callsign/cache.h>
#include <callsign/convert.h>
#include <callsign/store.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Opens an index file, or an object file that contains an index, as csn_index_open_file() does. Any other input of
 * csn_convert_file() (a program, library or debug file, a dSYM bundle, a Breakpad symbol file and so on) is converted
 * in memory on all cores. Its debug file, dSYM bundle, dwz supplement and split DWARF are searched for as
 * csn_companion_search_create() does without options: in the file system, never over the network. The caller releases
 * *out with csn_index_close(), which also frees the memory of the conversion. Several threads call
 * options->allocator. options->arch selects the image of a universal file.
 * CSN_OK; the errors of csn_index_open_file() and csn_convert_file(); CSN_E_FORMAT: the file is neither an index nor
 * a supported input.
 * Cost: that of opening an index, or of a conversion, which takes seconds for a large program. Keep the result open,
 * or convert to a file first. */
CSN_API csn_status csn_index_open_any(const char *path, const struct csn_index_options *options, struct csn_index **out,
                                      struct csn_error *err);

/* ---- with a cache ---- */

/* Opens images by converting them: what a store uses for modules without an index. Immutable: any number of threads may
 * use an opener at the same time, if its callbacks allow it. */
struct csn_opener;

struct csn_opener_options {
    size_t struct_size;                    /* set by CSN_OPENER_OPTIONS_INIT */
    const struct csn_allocator *allocator; /* NULL: malloc; must outlive the opener and its indexes */
    struct csn_cache *cache;               /* conversions are taken from it and kept in it; NULL: they are made in memory.
                                            * Must outlive the opener */
    const struct csn_companion_search_options *companions; /* where debug files are searched, debuginfod included; copied.
                                            * NULL: the default. Their `progress` is called from the opener's threads */
    uint32_t threads;                      /* of one conversion; 0: one per core */
    uint32_t flags;                        /* CSN_OPENER_ */
    csn_progress_callback *progress;       /* of conversions; NULL: none */
    void *progress_context;
    csn_store_report *report;              /* a file that belongs to a module but is rejected; NULL: no reports */
    void *report_context;
    uint64_t max_memory;                   /* bytes: csn_opener_fill() converts as many files at the same time as this is likely to
                                            * be enough for, and one alone if it needs more; 0: half of the machine's memory */
};
#define CSN_OPENER_OPTIONS_INIT CSN_SIZED_INIT(csn_opener_options)
CSN_API void csn_opener_options_init(struct csn_opener_options *options);

enum {
    CSN_OPENER_SAME_FILE = 1 /* csn_opener_open() uses no entry that another file with the build id gave, as when the caller
                              * says where debug information is */
};

/* Creates an opener. `options` may be NULL. The caller releases *out with csn_opener_destroy(); its indexes may outlive
 * it. CSN_OK; CSN_E_UNSUPPORTED: unknown flags or fields; the errors of csn_companion_search_create(). */
CSN_API csn_status csn_opener_create(const struct csn_opener_options *options, struct csn_opener **out, struct csn_error *err);
CSN_API void csn_opener_destroy(struct csn_opener *opener); /* `opener` may be NULL */

enum {
    CSN_OPENED_CONVERTED = 1,    /* by this call; `report` of csn_opener_open() is filled */
    CSN_OPENED_FROM_CACHE = 2,   /* read from the cache */
    CSN_OPENED_KEPT = 4,         /* converted and stored in the cache */
    CSN_OPENED_SYMBOLS_ONLY = 8  /* the image has no debug information, and none was found elsewhere */
};

/* How csn_opener_open() made an index. */
struct csn_opened {
    size_t struct_size;          /* set by CSN_OPENED_INIT */
    uint32_t flags;              /* CSN_OPENED_; 0: the file is an index or contains one */
    uint32_t build_id_size;      /* bytes; 0: the image has none, or was not read */
    uint8_t build_id[64];
    char link_name[128];         /* of the debug file that was searched in vain; empty: the image names none */
};
#define CSN_OPENED_INIT CSN_SIZED_INIT(csn_opened)
CSN_API void csn_opened_init(struct csn_opened *opened);

/* Opens the file at `path` as csn_index_open_any() does, but takes conversions from the cache and keeps them there. An
 * entry is used if it was made from this very file (size, modification time and htlhash), or if the file itself has no
 * debug information and the entry has its build id. Conversions that lost something to damage are not kept. If another
 * process converts the image, the call waits for it. A cache that cannot be written is no error.
 * file: the open file at `path`, which must then stay open as long as the index; NULL: it is opened.
 * options, opened, report: may be NULL. CSN_OK; errors as csn_index_open_any(). */
CSN_API csn_status csn_opener_open(struct csn_opener *opener, const char *path, const struct csn_file *file,
                                   const struct csn_index_options *options, struct csn_index **out, struct csn_opened *opened,
                                   struct csn_convert_report *report, struct csn_error *err);

/* The stock csn_store_convert: its context is the opener. Searches the cache by build id, then the module's image at its
 * path (rejected if its build id differs from the module's), then a debug file by build id. What was not found on
 * servers is remembered in the cache for a while. */
CSN_API csn_status csn_opener_find(void *opener, const struct csn_store_module *module, struct csn_index **out,
                                   struct csn_store_explanation *explanation, struct csn_error *err);

/* ---- filling the cache ---- */

enum csn_fill_result {
    CSN_FILL_CONVERTED = 1,
    CSN_FILL_PRESENT,            /* the cache had it already */
    CSN_FILL_FAILED,             /* `text` says why */
    CSN_FILL_SKIPPED             /* no image, or one without functions */
};
/* One finished file of csn_opener_fill(). The strings are valid during the callback. */
struct csn_fill_step {
    const char *path;
    const char *text;            /* empty unless the result is CSN_FILL_FAILED or CSN_FILL_SKIPPED */
    uint32_t result;             /* enum csn_fill_result */
    uint32_t reserved;
    uint64_t done_bytes, total_bytes; /* of all files */
    uint64_t done_files, total_files;
};
/* Called after each file, from one thread at a time. Return false to stop. */
typedef bool csn_fill_callback(void *context, const struct csn_fill_step *step);

struct csn_fill_counts {
    uint64_t converted, present, failed, skipped;
    uint64_t reserved[4];
};

/* Converts every object file at `paths` into the cache. Folders are searched for object files; symbolic links to
 * files in them are not followed. A path that cannot be read is a file that failed. `threads` files are converted at
 * the same time (0: one per core), large ones first. One that is larger than all that come after it, or that needs more
 * memory than a thread's share of `max_memory`, is converted alone by the opener's threads.
 * Entries that exist and pass their checksum are kept, so a run that was killed is resumed by running it again.
 * The opener's `progress` is called from several threads at the same time; it can stop conversions. `callback` may be
 * NULL.
 * CSN_OK: all files were visited, see *out; CSN_E_ARGUMENT: the opener has no cache; CSN_E_CANCELLED: the callback
 * stopped it; CSN_E_MEMORY. */
CSN_API csn_status csn_opener_fill(struct csn_opener *opener, const char *const *paths, size_t path_count, uint32_t threads,
                                   csn_fill_callback *callback, void *context, struct csn_fill_counts *out,
                                   struct csn_error *err);

#ifdef __cplusplus
}
#endif
#endif
