/* Callsign: images of many binaries, as a ROM of Symbian's is: which binaries a BSYM index has, and looking up an offset in one
 * of them. Part of the lookup-only library; threads and lifetimes as in index.h.
 * Serves: BSYM "binaries", "renames section", "lookup". */
#ifndef CALLSIGN_BINARIES_H
#define CALLSIGN_BINARIES_H

#include <callsign/index.h>

#ifdef __cplusplus
extern "C" {
#endif

struct csn_binary {
    struct csn_str name;     /* path on the build machine, lower-case */
    uint64_t address;        /* where it runs; 0: it is loaded anywhere, its functions have offsets from its start */
    uint64_t size;           /* bytes up to the end of its last function */
    uint32_t first_function, function_count; /* for csn_index_function() */
    uint64_t reserved[2];
};

/* Binary `idx`, 0 <= idx < binary_count of the info. Its name goes through `scratch` as that of csn_index_resolve_into();
 * *out_need is what that would return. CSN_E_ARGUMENT beyond. */
CSN_API csn_status csn_index_binary(const struct csn_index *index, uint32_t idx, void *scratch, size_t scratch_size,
                                    struct csn_binary *out, size_t *out_need, struct csn_error *err);

/* Alias `idx`, 0 <= idx < alias_count of the info: a name on the device, and 1 + the binary that has it (0: the file names none).
 * `scratch` and *out_need are as in csn_index_binary(). CSN_E_ARGUMENT beyond. */
CSN_API csn_status csn_index_alias(const struct csn_index *index, uint32_t idx, void *scratch, size_t scratch_size,
                                   struct csn_str *out, uint32_t *out_binary, size_t *out_need, struct csn_error *err);

/* How a binary was found. */
enum csn_binary_match {
    CSN_BINARY_NAMED = 0,    /* its file name */
    CSN_BINARY_ALIAS = 1,  /* its name on the device */
    CSN_BINARY_GUESSED = 2,  /* a variant's name (euser_variant.dll), in files without names on the device */
    CSN_BINARY_AMBIGUOUS = 3 /* the same; there are others */
};

/* The binary that a name means, upper or lower case, either slash: a path on the device, or a file name. CSN_NONE: there is
 * none. Cost: the names of all binaries; keep the answer for many lookups. No allocation.
 * Serves: BSYM "renames section", "lookup". */
CSN_API csn_status csn_index_find_binary(const struct csn_index *index, struct csn_str name, uint32_t *out_idx,
                                         uint32_t *out_match, struct csn_error *err);

/* As csn_index_lookup_refs(), for an offset from the start of a binary's code. CSN_NONE with `binary` set: the offset is in
 * none of its functions. */
CSN_API csn_status csn_index_lookup_in_binary(const struct csn_index *index, uint32_t binary, uint64_t offset,
                                              struct csn_frame_ref *frames, size_t cap, struct csn_lookup *out,
                                              struct csn_error *err);

/* csn_index_find_binary() and csn_index_lookup_in_binary() in one. */
CSN_API csn_status csn_index_lookup_in_named_binary(const struct csn_index *index, struct csn_str name, uint64_t offset,
                                                    struct csn_frame_ref *frames, size_t cap, struct csn_lookup *out,
                                                    struct csn_error *err);

#ifdef __cplusplus
}
#endif
#endif
