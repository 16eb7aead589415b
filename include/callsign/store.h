/* Callsign: find the index of an image.
 *
 * A store finds the index of a module by build id and name: among indexes that the caller added, in symbol folders,
 * and next to the image. It can explain where it searched and why it rejected an index. Separate debug files are
 * found by the companion search of callsign/companion.h. */
#ifndef CALLSIGN_STORE_H
#define CALLSIGN_STORE_H

#include <callsign/companion.h>
#include <callsign/index.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A set of open indexes and the folders in which to search for more. Only one thread may use a store at a time; any
 * number of threads may use the indexes that it returns. */
struct csn_store;

/* Opens an index, for callers that accept more than index files. The store passes *out_handle to
 * csn_store_close_index. */
typedef csn_status csn_store_open_index(void *context, const char *path, struct csn_index **out, void **out_handle,
                                        struct csn_error *err);
/* Closes an index that csn_store_open_index opened. */
typedef void csn_store_close_index(void *context, struct csn_index *index, void *handle);
/* Called once for each index that has the module's name but is rejected, also when it is opened again after a trim. `text` is
 * the reason. */
typedef void csn_store_report(void *context, const char *path, const char *text);

struct csn_store_module;
struct csn_store_explanation;
/* Makes the index of a module that the store did not find: takes it from a cache, or converts the image or its debug
 * file. csn_opener_find() of callsign/open.h is the stock function. The store closes *out with csn_index_close(), and
 * calls it at most once for each module until csn_store_trim(), except that it forgets which modules it did not find once
 * those are more than some thousands.
 * CSN_OK; CSN_NONE: it cannot be made; CSN_E_MEMORY; CSN_E_IO: not now, such as when a server fails: there is no index this
 * time, and the next search calls again. Other failures count as CSN_NONE. Searched locations are added to `explanation`,
 * which may be NULL. */
typedef csn_status csn_store_convert(void *context, const struct csn_store_module *module, struct csn_index **out,
                                     struct csn_store_explanation *explanation, struct csn_error *err);

struct csn_store_options {
    size_t struct_size;                    /* set by CSN_STORE_OPTIONS_INIT */
    const struct csn_allocator *allocator; /* NULL: malloc; must outlive the store */
    const char *const *folders;            /* symbol folders in search order; copied */
    size_t folder_count;
    csn_store_open_index *open;            /* NULL: csn_index_open_file() */
    csn_store_close_index *close;          /* NULL: csn_index_close() */
    csn_store_report *report;              /* NULL: no reports */
    void *context;                         /* passed to the callbacks */
    uint32_t max_open;                     /* for csn_store_is_full(); added indexes do not count. 0: 1024 */
    uint32_t flags;                        /* CSN_STORE_ */
    csn_store_convert *convert;            /* searched last; NULL: only existing indexes are used */
    void *convert_context;
};
#define CSN_STORE_OPTIONS_INIT CSN_SIZED_INIT(csn_store_options)
CSN_API void csn_store_options_init(struct csn_store_options *options);

enum {
    CSN_STORE_BESIDE = 1 /* also search next to the module's path: PATH.gsym, then an index within PATH itself */
};

/* Creates a store. It opens no index. `options` may be NULL; strings in it are copied. The caller releases *out with
 * csn_store_destroy().
 * CSN_OK; CSN_E_UNSUPPORTED: unknown flags or fields; CSN_E_ARGUMENT: a folder is NULL; CSN_E_MEMORY. */
CSN_API csn_status csn_store_create(const struct csn_store_options *options, struct csn_store **out, struct csn_error *err);
CSN_API void csn_store_destroy(struct csn_store *store); /* closes all indexes; `store` may be NULL */

/* Opens the index at `path` and keeps it open as long as the store. It serves every module that it matches. *out
 * belongs to the store; `out` may be NULL. Fails as the `open` callback or csn_index_open_file() fails, or with
 * CSN_E_MEMORY. */
CSN_API csn_status csn_store_add_index(struct csn_store *store, const char *path, const struct csn_index **out,
                                       struct csn_error *err);
/* The same for the modules of a name, whatever the index file is called. `name` is a file name or a path. */
CSN_API csn_status csn_store_add_named_index(struct csn_store *store, struct csn_str name, const char *path,
                                             const struct csn_index **out, struct csn_error *err);
/* Returns the number of indexes that were added. */
CSN_API size_t csn_store_given_count(const struct csn_store *store);
/* Returns the name by which modules find added index `i`: the name it was added with, or its file name without ".gsym",
 * ".bsym" or ".sym". Valid as long as the store. */
CSN_API struct csn_str csn_store_given_name(const struct csn_store *store, size_t i);
/* Returns the path that added index `i` was opened from: that of the index, or of the file that the `open` callback
 * converted. Valid as long as the store. */
CSN_API const char *csn_store_given_path(const struct csn_store *store, size_t i);

/* What the caller knows about a module. Empty strings and NULL mean unknown. */
struct csn_store_module {
    size_t struct_size;      /* set by CSN_STORE_MODULE_INIT */
    struct csn_str name;     /* file name or path. Below /proc/self, /proc/thread-self and /dev/fd it is no file of this process */
    struct csn_str index;    /* path of its index; if set, no other place is searched */
    const uint8_t *build_id; /* build id or UUID */
    size_t build_id_size;
    struct csn_str image;    /* path by which its file is opened, where that is not `name`: /proc/PID/root/usr/bin/app. Files beside
                              * the module are searched beside this path */
    const struct csn_file *file; /* the open file at that path, which then is the image whatever its path names by now, and comes
                              * before an entry of the cache; used during the call. NULL: it is opened */
};
#define CSN_STORE_MODULE_INIT CSN_SIZED_INIT(csn_store_module)
CSN_API void csn_store_module_init(struct csn_store_module *module);

/* Finds the index of a module. It searches in this order:
 * - the module's own `index`;
 * - open indexes, by build id, added ones first, and of these one with the name of the module;
 * - in each folder: FOLDER/ab/cdef.gsym by build id (of an id with fewer than 20 bytes, the only file that begins so),
 *   NAME/ID/NAME.gsym and .sym (the layout of Breakpad stores);
 * - added indexes that have exactly the module's name;
 * - in each folder: FOLDER/NAME.gsym, and indexes in FOLDER whose names match loosely; for a module with an id, one that
 *   has the same in any folder goes before the first that has none;
 * - added indexes whose name matches otherwise, the best match first;
 * - with CSN_STORE_BESIDE, files next to the module's path;
 * - the `convert` callback.
 * A module without name and id is served by the added index if there is exactly one.
 *
 * Names match loosely: "liborders.so.1" and "liborders.so.1.2.3", "orders.exe" and "orders", "orders.debug" and "orders",
 * "snd-pcm.ko" and "snd_pcm", "app (deleted)" and "app". An exact name is preferred.
 *
 * An index is rejected if its build id differs from the module's, wherever it was found; the reports contain both ids.
 * (Breakpad stores spell ids differently, and are trusted.) Truncated ids are compared up to the shorter length. *out
 * belongs to the store and stays open until csn_store_trim() or csn_store_destroy().
 * explanation: receives the searched locations and replaces its previous contents; may be NULL.
 * CSN_OK; CSN_NONE: no index was found; CSN_E_MEMORY; CSN_E_UNSUPPORTED: unknown fields.
 * Cost: independent of the number of open indexes, except for those whose names begin alike up to the first '.'; up to
 * eight file system accesses for each folder. */
CSN_API csn_status csn_store_find(struct csn_store *store, const struct csn_store_module *module, const struct csn_index **out,
                                  struct csn_store_explanation *explanation, struct csn_error *err);

/* Returns whether more than max_open indexes are open, not counting the added ones, nor what was not found. The caller should then call
 * csn_store_trim() as soon as the indexes are not in use. */
CSN_API bool csn_store_is_full(const struct csn_store *store);
/* Closes all indexes except the added ones, and changes csn_store_generation(). */
CSN_API void csn_store_trim(struct csn_store *store);
/* Returns a number that changes when the store closes indexes. While it stays the same, every index that
 * csn_store_find() returned is open. When it changes, discard everything cached by the address of an index: another
 * index may be opened at the same address. */
CSN_API uint64_t csn_store_generation(const struct csn_store *store);

/* ---- explanations ---- */

/* A kind of place in which the store searches. */
enum csn_store_place {
    CSN_STORE_PLACE_NAMED = 1,      /* the index that the module names */
    CSN_STORE_PLACE_OPEN_BY_ID,     /* among the open indexes, by build id */
    CSN_STORE_PLACE_OPEN_BY_NAME,   /* among the added indexes, by name */
    CSN_STORE_PLACE_FOLDER_BY_ID,   /* FOLDER/ab/cdef.gsym */
    CSN_STORE_PLACE_FOLDER_BREAKPAD, /* FOLDER/NAME/ID/NAME.gsym, .sym */
    CSN_STORE_PLACE_FOLDER_BY_NAME, /* FOLDER/NAME.gsym */
    CSN_STORE_PLACE_BESIDE,         /* PATH.gsym, and PATH itself */
    CSN_STORE_PLACE_CACHE,          /* the cache of converted indexes, by build id */
    CSN_STORE_PLACE_IMAGE,          /* the module's file, converted with its debug file */
    CSN_STORE_PLACE_DEBUG_FILE      /* a debug file with the module's build id, converted: local or from debuginfod */
};

/* One searched location. */
struct csn_store_location {
    uint32_t place;      /* enum csn_store_place */
    csn_status status;   /* CSN_OK: the index is used; CSN_NONE: there is no index; below 0: it was rejected */
    struct csn_str path; /* empty: no open index matches */
    struct csn_str text; /* why it was rejected, in English; otherwise empty */
};

/* Creates an empty list of locations for csn_store_find(), which fills it in search order. Only one thread may use it
 * at a time. `allocator` may be NULL (malloc) and must outlive the list. The caller releases *out with
 * csn_store_explanation_destroy(). */
CSN_API csn_status csn_store_explanation_create(const struct csn_allocator *allocator, struct csn_store_explanation **out,
                                                struct csn_error *err);
CSN_API void csn_store_explanation_destroy(struct csn_store_explanation *explanation); /* `explanation` may be NULL */
/* Returns the name of a place, such as "beside the image": a static string, never NULL. */
CSN_API const char *csn_store_place_text(uint32_t place);
/* Adds a location, for csn_store_convert callbacks. `explanation` may be NULL. CSN_OK; CSN_E_MEMORY. */
CSN_API csn_status csn_store_explanation_add(struct csn_store_explanation *explanation, const struct csn_store_location *location,
                                             struct csn_error *err);
/* Returns the number of locations. */
CSN_API size_t csn_store_explanation_count(const struct csn_store_explanation *explanation);
/* Returns location `i`, i < count. Its strings stay valid until csn_store_find() uses the explanation again or it is
 * destroyed. */
CSN_API void csn_store_explanation_get(const struct csn_store_explanation *explanation, size_t i, struct csn_store_location *out);

#ifdef __cplusplus
}
#endif
#endif
