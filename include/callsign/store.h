/* Callsign: finding the index of an image.
 *
 * A store looks for the index of a module by its build id and name: among indexes that were given, in folders of symbols, and
 * beside the image. It tells each place that it looked at and why what was there is not used. What an image's debug
 * information is split into is found by the stock search of callsign/companion.h. */
#ifndef CALLSIGN_STORE_H
#define CALLSIGN_STORE_H

#include <callsign/companion.h>
#include <callsign/index.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Open indexes, and where more are looked for. One thread at a time uses it; the indexes that it gives may be used by any
 * number of threads. */
struct csn_store;

/* Opens an index; for callers that can open more than index files. *out_handle is given back to csn_store_close_index. */
typedef csn_status csn_store_open_index(void *context, const char *path, struct csn_index **out, void **out_handle,
                                        struct csn_error *err);
typedef void csn_store_close_index(void *context, struct csn_index *index, void *handle);
/* An index at `path` has the module's name but is not used: `text` says why. Once for each index. */
typedef void csn_store_report(void *context, const char *path, const char *text);

struct csn_store_options {
    size_t struct_size;                    /* set by CSN_STORE_OPTIONS_INIT */
    const struct csn_allocator *allocator; /* NULL: malloc; must outlive the store */
    const char *const *folders;            /* of symbols, looked into in this order; copied */
    size_t folder_count;
    csn_store_open_index *open;            /* NULL: csn_index_open_file() */
    csn_store_close_index *close;          /* NULL: csn_index_close() */
    csn_store_report *report;              /* NULL: nobody is told */
    void *context;                         /* of the callbacks */
    uint32_t max_open;                     /* indexes beside the given ones before csn_store_is_full(); 0: 1024 */
    uint32_t flags;                        /* CSN_STORE_ */
};
#define CSN_STORE_OPTIONS_INIT CSN_SIZED_INIT(csn_store_options)
CSN_API void csn_store_options_init(struct csn_store_options *options);

enum {
    CSN_STORE_BESIDE = 1 /* look beside a module's path, too: PATH.gsym, then an index within PATH itself */
};

/* Opens nothing. `options` may be NULL. CSN_E_UNSUPPORTED: unknown flags or fields; CSN_E_ARGUMENT: a folder that is NULL. */
CSN_API csn_status csn_store_create(const struct csn_store_options *options, struct csn_store **out, struct csn_error *err);
CSN_API void csn_store_destroy(struct csn_store *store); /* closes every index; NULL is fine */

/* Opens an index that serves every module it fits, and stays open as long as the store. *out (NULL is fine) belongs to the
 * store. Fails as opening it does. */
CSN_API csn_status csn_store_add_index(struct csn_store *store, const char *path, const struct csn_index **out,
                                       struct csn_error *err);
CSN_API size_t csn_store_given_count(const struct csn_store *store);
/* The name that a given index is found by: its file name less ".gsym", ".bsym" or ".sym". Lives as long as the store. */
CSN_API struct csn_str csn_store_given_name(const struct csn_store *store, size_t i);

/* What is known of a module. Empty strings and NULL: not known. */
struct csn_store_module {
    size_t struct_size;      /* set by CSN_STORE_MODULE_INIT */
    struct csn_str name;     /* file name or path */
    struct csn_str index;    /* path of its index: nothing else is looked at */
    const uint8_t *build_id; /* build id or UUID */
    size_t build_id_size;
};
#define CSN_STORE_MODULE_INIT CSN_SIZED_INIT(csn_store_module)
CSN_API void csn_store_module_init(struct csn_store_module *module);

struct csn_store_explanation;

/* The index of a module. In this order: the module's own `index`; an open index of its build id; in each folder FOLDER/ab/cdef.gsym
 * by build id, then NAME/ID/NAME.gsym and .sym as Breakpad's stores have them, then FOLDER/NAME.gsym; an open index of its
 * file name; beside the module's path, with CSN_STORE_BESIDE. What is found by a name is not
 * used if it has another build id than the module; ids may be cut, and agree as far as both go.
 * *out belongs to the store and stays open until csn_store_trim() or csn_store_destroy().
 * explanation: gets what was looked at, in place of what it held; NULL is fine.
 * CSN_OK; CSN_NONE: there is none; CSN_E_MEMORY; CSN_E_UNSUPPORTED: unknown fields. Cost: linear in the number of open
 * indexes, and up to eight looks at the file system for each folder. */
CSN_API csn_status csn_store_find(struct csn_store *store, const struct csn_store_module *module, const struct csn_index **out,
                                  struct csn_store_explanation *explanation, struct csn_error *err);

/* Whether so many indexes are open that the caller should call csn_store_trim() when nobody uses them. */
CSN_API bool csn_store_is_full(const struct csn_store *store);
/* Closes all indexes but the given ones, and changes csn_store_generation(). */
CSN_API void csn_store_trim(struct csn_store *store);
/* While this stays the same, every index that csn_store_find() gave is open. Whatever is kept by the address of an index must be
 * dropped when it changes: the next index may be opened at the same address. */
CSN_API uint64_t csn_store_generation(const struct csn_store *store);

/* ---- what was looked at ---- */

enum csn_store_place {
    CSN_STORE_PLACE_NAMED = 1,      /* the index that the module names */
    CSN_STORE_PLACE_OPEN_BY_ID,     /* among the open indexes, by build id */
    CSN_STORE_PLACE_OPEN_BY_NAME,   /* among the open indexes, by name */
    CSN_STORE_PLACE_FOLDER_BY_ID,   /* FOLDER/ab/cdef.gsym */
    CSN_STORE_PLACE_FOLDER_BREAKPAD, /* FOLDER/NAME/ID/NAME.gsym, .sym */
    CSN_STORE_PLACE_FOLDER_BY_NAME, /* FOLDER/NAME.gsym */
    CSN_STORE_PLACE_BESIDE          /* PATH.gsym, and PATH itself */
};

struct csn_store_location {
    uint32_t place;      /* enum csn_store_place */
    csn_status status;   /* CSN_OK: the index is there and is used; CSN_NONE: nothing is there; below 0: it is not used */
    struct csn_str path; /* empty: among the open indexes, none fits */
    struct csn_str text; /* why it is not used, in English; empty: it is, or nothing is there */
};

/* A list of locations in the order in which they were looked at. One thread at a time uses it. */
CSN_API csn_status csn_store_explanation_create(const struct csn_allocator *allocator, struct csn_store_explanation **out,
                                                struct csn_error *err);
CSN_API void csn_store_explanation_destroy(struct csn_store_explanation *explanation); /* NULL is fine */
CSN_API size_t csn_store_explanation_count(const struct csn_store_explanation *explanation);
/* i < count. Strings live until the explanation is used again. */
CSN_API void csn_store_explanation_get(const struct csn_store_explanation *explanation, size_t i, struct csn_store_location *out);

#ifdef __cplusplus
}
#endif
#endif
