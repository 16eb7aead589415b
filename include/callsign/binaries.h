/* Callsign: images of many binaries, such as a Symbian ROM: list the binaries of a BSYM index and look up an offset
 * in one of them. Part of the lookup-only library. Threads and lifetimes are as in index.h. These functions are
 * async-signal-safe.
 * Serves: BSYM "binaries", "renames section", "lookup". */
#ifndef CALLSIGN_BINARIES_H
#define CALLSIGN_BINARIES_H

#include <callsign/index.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A binary of an image. */
struct csn_binary {
    struct csn_str name;     /* path on the build machine, lower-case */
    uint64_t address;        /* run address; 0: relocatable, functions have offsets from its start */
    uint64_t size;           /* bytes up to the end of its last function */
    uint32_t first_function, function_count; /* for csn_index_function() */
    uint64_t reserved[2];
};

/* Reads binary `idx`, 0 <= idx < binary_count of csn_index_info, or < member_count: the object file of an archive,
 * whose functions have the addresses from `address` on. The last member's size is 0: not known. A name that is stored
 * in pieces is assembled in `scratch`, as by csn_index_resolve_into(); *out_need receives what that function would
 * return.
 * CSN_E_ARGUMENT: idx is out of range. */
CSN_API csn_status csn_index_binary(const struct csn_index *index, uint32_t idx, void *scratch, size_t scratch_size,
                                    struct csn_binary *out, size_t *out_need, struct csn_error *err);

/* Reads alias `idx`, 0 <= idx < alias_count of csn_index_info: the name of a binary on the device. *out_binary
 * receives 1 + the index of the binary, or 0 if the file does not contain it. `scratch` and *out_need are as in
 * csn_index_binary().
 * CSN_E_ARGUMENT: idx is out of range. */
CSN_API csn_status csn_index_alias(const struct csn_index *index, uint32_t idx, void *scratch, size_t scratch_size,
                                   struct csn_str *out, uint32_t *out_binary, size_t *out_need, struct csn_error *err);

/* How csn_index_find_binary() found a binary. */
enum csn_binary_match {
    CSN_BINARY_NAMED = 0,    /* its file name */
    CSN_BINARY_ALIAS = 1,  /* its name on the device */
    CSN_BINARY_GUESSED = 2,  /* by the name of a variant (euser_variant.dll), in files without aliases */
    CSN_BINARY_AMBIGUOUS = 3 /* as CSN_BINARY_GUESSED, but several binaries match */
};

/* Finds a binary by a path on the device or by a file name. Upper and lower case are equal, and so are '/' and '\'.
 * CSN_OK; CSN_NONE: there is no such binary.
 * Any thread; no allocation; async-signal-safe.
 * Cost: compares the names of all binaries. Keep the result for further lookups.
 * Serves: BSYM "renames section", "lookup". */
CSN_API csn_status csn_index_find_binary(const struct csn_index *index, struct csn_str name, uint32_t *out_idx,
                                         uint32_t *out_match, struct csn_error *err);

/* Looks up an offset from the start of a binary's code; otherwise as csn_index_lookup_refs(). CSN_NONE with `binary`
 * set in *out: no function of the binary covers the offset. */
CSN_API csn_status csn_index_lookup_in_binary(const struct csn_index *index, uint32_t binary, uint64_t offset,
                                              struct csn_frame_ref *frames, size_t cap, struct csn_lookup *out,
                                              struct csn_error *err);

/* Combines csn_index_find_binary() and csn_index_lookup_in_binary(). */
CSN_API csn_status csn_index_lookup_in_named_binary(const struct csn_index *index, struct csn_str name, uint64_t offset,
                                                    struct csn_frame_ref *frames, size_t cap, struct csn_lookup *out,
                                                    struct csn_error *err);

#ifdef __cplusplus
}
#endif
#endif
