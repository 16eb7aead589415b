/* Callsign: embed an index in the program that it belongs to, and extract it again.
 *
 * The index is a section of the object file: .gsym in ELF, PE and COFF, __GSYM,__gsym in Mach-O. It is not loaded
 * with the program by default; csn_index_open_file() finds it in the file. docs/formats/gsym-sections.md describes
 * how embedding changes an object file, and how `strip` and similar tools treat the section. */
#ifndef CALLSIGN_EMBED_H
#define CALLSIGN_EMBED_H

#include <callsign/base.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    CSN_EMBED_LOADED = 1,         /* load the section with the program: in relocatable ELF files; PE sections are kept */
    CSN_EMBED_DROP_SIGNATURE = 2, /* remove the code signature, which embedding invalidates. Without this flag an ad-hoc signature
                                   * (no certificate) is replaced by a new one, and any other signature is an error */
    CSN_EMBED_FORCE = 4           /* accept an index whose build id differs from the object's, or none of whose functions lies in its
                                   * code, and a program with data appended to it, which may not find them any more: they keep their
                                   * place in ELF and PE files, and move back with __LINKEDIT in Mach-O */
};

struct csn_embed_options {
    size_t struct_size;                    /* set by CSN_EMBED_OPTIONS_INIT */
    const struct csn_allocator *allocator; /* NULL: malloc */
    const char *arch;                      /* image of a universal file; NULL: the only one */
    uint32_t flags;                        /* CSN_EMBED_ */
    uint32_t reserved;
    const uint8_t *index_uuid;             /* build id of the index, if its format cannot hold one; NULL: none */
    size_t index_uuid_size;                /* bytes */
};
#define CSN_EMBED_OPTIONS_INIT CSN_SIZED_INIT(csn_embed_options)
CSN_API void csn_embed_options_init(struct csn_embed_options *options);

/* Writes to `out_path` a copy of the object file at `object_path` that contains the index. The index is a GSYM file of
 * either version, or an object that csn_convert_file() made with CSN_FORMAT_GSYM_SECTION. It replaces an index that the
 * object already contains. The same input gives the same bytes; permissions to read, write and execute are those of the
 * object. Set-user-id, set-group-id and sticky bits are not kept: the file belongs to the caller. `out_path` is always either
 * the old file or the complete new one, and may equal `object_path`.
 * If the index needs a second section for its strings, that section gets a name that the object's container allows. If
 * both build ids are known, they must be equal. An index whose addresses count from the image's first byte (made from a
 * Breakpad file or a PDB: its base address is 0) gets the object's addresses: its base address becomes that of the object.
 * It is told by its functions: more of them lie in the object's code at the object's base address than at 0.
 * CSN_E_UNSUPPORTED: unsupported container, signed file, data appended to a program, no space for another load command ...;
 * CSN_E_FORMAT, CSN_E_TRUNCATED: the object or the index is damaged; CSN_E_NOT_FOUND: no index, or no image of that architecture;
 * CSN_E_ARGUMENT: several images and no architecture, or an index of another build or of other code. */
CSN_API csn_status csn_embed_file(const char *index_path, const char *object_path, const char *out_path,
                                  const struct csn_embed_options *options, struct csn_error *err);
/* Does the same in memory. The caller releases *out with csn_bytes_free(). */
CSN_API csn_status csn_embed_memory(const void *index, size_t index_size, const void *object, size_t object_size,
                                    const struct csn_embed_options *options, struct csn_bytes *out, struct csn_error *err);
/* Does the same with the index in memory and the object in a file. */
CSN_API csn_status csn_embed_memory_in_file(const void *index, size_t index_size, const char *object_path,
                                            const char *out_path, const struct csn_embed_options *options,
                                            struct csn_error *err);

/* Writes the index that an object contains to a file: a GSYM file as it was embedded or, if the index needs another
 * section for its strings, an object file with only these two sections.
 * CSN_E_NOT_FOUND: the object contains no index. */
CSN_API csn_status csn_extract_file(const char *object_path, const char *out_path, const struct csn_embed_options *options,
                                    struct csn_error *err);
/* Does the same in memory. The caller releases *out with csn_bytes_free(). */
CSN_API csn_status csn_extract_memory(const void *object, size_t object_size, const struct csn_embed_options *options,
                                      struct csn_bytes *out, struct csn_error *err);

#ifdef __cplusplus
}
#endif
#endif
