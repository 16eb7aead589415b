/* Callsign: companions, the other files that contain an image's debug information.
 *
 * A conversion opens no file except its input. It requests the others from a resolver: a callback of the caller, or
 * the stock resolver of this header, which searches where debuggers search. */
#ifndef CALLSIGN_COMPANION_H
#define CALLSIGN_COMPANION_H

#include <callsign/base.h>

#ifdef __cplusplus
extern "C" {
#endif

enum csn_companion_kind {
    CSN_COMPANION_DEBUG_FILE, /* the image's own debug information, split off: by build id, .gnu_debuglink or UUID */
    CSN_COMPANION_SUPPLEMENT, /* debug information shared by several files (dwz): .gnu_debugaltlink, .debug_sup */
    CSN_COMPANION_DWP,        /* the package of the image's split DWARF */
    CSN_COMPANION_DWO,        /* one unit of split DWARF */
    CSN_COMPANION_OBJECT,     /* object file or archive named by a Mach-O debug map */
    CSN_COMPANION_MAP,        /* linker's map of a binary named by a ROM's build log; `name` is relative to the build tree */
    CSN_COMPANION_IMAGE,      /* the image that a debug-only file (`image_path`) was split off from */
    CSN_COMPANION_PDB         /* the program database of a PE image: by GUID and age (`id`, `id_age`); `name` is its path where it
                               * was linked. Another debug file that the user chose is an answer, too */
};

/* A request for a companion. The pointers are valid during the call. */
struct csn_companion_request {
    size_t struct_size;
    uint32_t kind;          /* enum csn_companion_kind */
    uint32_t crc;           /* CRC-32 of the whole file, from .gnu_debuglink; valid if has_crc */
    bool has_crc;
    bool has_debug_info;    /* CSN_COMPANION_DEBUG_FILE: the image has debug information itself, so only a file chosen by
                             * the user is used */
    uint32_t skip;          /* how many candidates to pass over: the caller rejected them or has them already */
    const char *image_path; /* path of the file that names the companion; NULL: that file is in memory */
    const uint8_t *id;      /* build id or UUID that the companion must have; NULL: none is known */
    size_t id_size;
    const char *name;       /* file name or path, as stored in the image; NULL: none. CSN_COMPANION_DWP: path of the
                             * image's debug file, if it has one */
    const char *directory;  /* base of a relative name: DW_AT_comp_dir; NULL: unknown */
    uint64_t dwo_id;        /* CSN_COMPANION_DWO */
    uint64_t modified;      /* CSN_COMPANION_OBJECT: seconds since 1970; 0: unknown */
    uint32_t id_age;        /* PE images: the age that goes with the GUID in `id` */
    uint32_t reserved;
};

/* A companion that was found. The bytes stay valid and unchanged until release(), which is called once, from any
 * thread. */
struct csn_companion {
    const void *bytes;
    size_t size;
    bool is_mapped;         /* a file mapping: the conversion may release its pages early (MADV_DONTNEED) */
    const char *path;       /* for messages; valid until release(); NULL: none */
    uint64_t modified;      /* modification time, seconds since 1970; 0: unknown */
    void (*release)(struct csn_companion *companion); /* NULL: nothing to do */
    void *context;          /* for the resolver */
};

/* Finds a companion. Any worker may call it, but only one call runs at a time.
 * CSN_OK: *out is filled. CSN_NONE: there is no such file, and the conversion continues without it; a text in `err`,
 * such as what was searched for or why a candidate was rejected, becomes part of its report. A failure fails the
 * conversion. */
typedef csn_status csn_companion_resolver(void *context, const struct csn_companion_request *request,
                                          struct csn_companion *out, struct csn_error *err);

/* ---- the stock resolver ---- */

/* Searches for companions in the file system where debuggers do and, if enabled, on debuginfod servers.
 * docs/companions.md lists the places and their order.
 *
 * A search is immutable: any number of conversions may use it at the same time, from any thread. The companions that
 * it finds belong to the conversion and may outlive it. */
struct csn_companion_search;

/* Reports the progress of a download in bytes; `total` is 0 if unknown. Called from the thread that requested the
 * companion. Return false to stop: the request then fails with CSN_E_CANCELLED. */
typedef bool csn_download_progress(void *context, const char *what, uint64_t done, uint64_t total);

enum {
    /* Query the servers in the environment variable DEBUGINFOD_URLS through libdebuginfod, which is loaded on first use,
     * shares elfutils' cache and obeys the other DEBUGINFOD_ variables. Without this flag the search uses neither the
     * network nor the environment. */
    CSN_SEARCH_DEBUGINFOD = 1,
    /* Use only files below debug_dirs, symbolic links resolved, and debug_file. An image can name any file of the machine:
     * objects of a debug map, split DWARF, supplements, members of a thin archive. For servers, whose images come from others. */
    CSN_SEARCH_DEBUG_DIRS_ONLY = 2
};

struct csn_companion_search_options {
    size_t struct_size;                    /* set by CSN_COMPANION_SEARCH_OPTIONS_INIT */
    const struct csn_allocator *allocator; /* NULL: malloc; called from the threads that request and release */
    const char *const *debug_dirs;         /* roots of debug files: DIR/.build-id/, DIR/usr/bin/; none: /usr/lib/debug */
    size_t debug_dir_count;
    const char *debug_file;                /* the image's debug file, or a dSYM bundle; NULL: it is searched for */
    const char *const *dwp_files;          /* packages of split DWARF, searched before those beside the image */
    size_t dwp_file_count;
    const char *object_prefix;             /* prepended to paths of a debug map that do not exist unchanged */
    uint32_t flags;                        /* CSN_SEARCH_ */
    uint32_t timeout_ms;                   /* limit for one download; 0: libdebuginfod's own limit */
    uint64_t max_download_bytes;           /* larger files are rejected; 0: libdebuginfod's own limit */
    csn_download_progress *progress;
    void *progress_context;
    const char *const *dwo_dirs;           /* folders of .dwo files, searched before the places that the image names */
    size_t dwo_dir_count;
    const char *const *symbol_servers;     /* URLs that have PDBs as URL/NAME.pdb/ID/NAME.pdb; asked last, in this order, through
                                            * libcurl, which is loaded when it is needed; none: no server is asked */
    size_t symbol_server_count;
    const char *download_dir;              /* where files of symbol servers are kept in the same layout, and searched first;
                                            * NULL: no server is asked */
};
#define CSN_COMPANION_SEARCH_OPTIONS_INIT CSN_SIZED_INIT(csn_companion_search_options)
CSN_API void csn_companion_search_options_init(struct csn_companion_search_options *options);

/* Creates a search. It copies all strings. `options` may be NULL. The caller releases *out with
 * csn_companion_search_destroy(). Files named in the options are opened on request: if debug_file is missing, is not
 * an object file or has another build id, the conversion fails; the text contains both ids. */
CSN_API csn_status csn_companion_search_create(const struct csn_companion_search_options *options,
                                               struct csn_companion_search **out, struct csn_error *err);
CSN_API void csn_companion_search_destroy(struct csn_companion_search *search); /* `search` may be NULL */

/* The stock csn_companion_resolver. Its context is the search. */
CSN_API csn_status csn_companion_search_resolve(void *search, const struct csn_companion_request *request,
                                                struct csn_companion *out, struct csn_error *err);

#ifdef __cplusplus
}
#endif
#endif
