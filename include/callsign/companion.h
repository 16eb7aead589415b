/* Callsign: companions, the other files in which an image's debug information lies.
 *
 * A conversion opens no file but its input. What else it needs it asks a resolver for: a callback of the caller's, or the
 * stock one of this header, which looks where debuggers look. */
#ifndef CALLSIGN_COMPANION_H
#define CALLSIGN_COMPANION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <callsign/error.h>

#ifdef __cplusplus
extern "C" {
#endif

enum csn_companion_kind {
    CSN_COMPANION_DEBUG_FILE, /* the image's own debug information, split off: by build id, .gnu_debuglink or UUID */
    CSN_COMPANION_SUPPLEMENT, /* what dwz took out of several files: .gnu_debugaltlink, .debug_sup */
    CSN_COMPANION_DWP,        /* the package of the image's split DWARF */
    CSN_COMPANION_DWO,        /* one unit of split DWARF */
    CSN_COMPANION_OBJECT      /* object file or archive that a Mach-O debug map names */
};

/* What is looked for. Pointers are valid during the call. */
struct csn_companion_request {
    size_t struct_size;
    uint32_t kind;          /* enum csn_companion_kind */
    uint32_t crc;           /* CRC-32 of the whole file, as .gnu_debuglink tells it; valid where has_crc */
    bool has_crc;
    const char *image_path; /* of the file that names the companion; NULL: it came from memory */
    const uint8_t *id;      /* build id or UUID that the companion must have; NULL: none is known */
    size_t id_size;
    const char *name;       /* file name or path, as the image has it; NULL: it tells none */
    const char *directory;  /* where a relative name begins: DW_AT_comp_dir; NULL: unknown */
    uint64_t dwo_id;        /* CSN_COMPANION_DWO */
    uint64_t modified;      /* CSN_COMPANION_OBJECT: seconds since 1970; 0: unknown */
    uint32_t index;         /* CSN_COMPANION_DWP: 0, 1, ... of several packages, asked for until there is none */
};

/* What was found. The bytes stay as they are until release(), which is called once, from any thread. */
struct csn_companion {
    const void *bytes;
    size_t size;
    bool is_mapped;         /* a file mapping: its pages may be given back to the kernel meanwhile */
    const char *path;       /* for messages; valid until release(); NULL: none */
    void (*release)(struct csn_companion *companion); /* NULL: nothing to do */
    void *context;          /* the resolver's own */
};

/* CSN_OK: *out is filled. CSN_NONE: there is no such file; the conversion goes on without it and says so in its report. A
 * failure fails the conversion. Called from any worker, one call at a time. */
typedef csn_status csn_companion_resolver(void *context, const struct csn_companion_request *request,
                                          struct csn_companion *out, struct csn_error *err);

#ifdef __cplusplus
}
#endif
#endif
