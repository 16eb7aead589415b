/* The files that a process had mapped, from its core dump; the build ids of images in memory. */
#ifndef CSNI_CORE_FILES_H
#define CSNI_CORE_FILES_H

#include "base/core/vec.h"
#include "base/core/span.h"

/* A mapped part of a file. Views into the dump. */
struct csni_core_file {
    uint64_t start, end;       /* pcs, half-open */
    uint64_t file_off;
    struct csn_str path;
    bool exec;                 /* or the dump lacks that memory, as gdb leaves code out: then it may be */
    struct csni_span build_id; /* of the image whose first page is in the dump at `start`; empty: it is not, or has none */
    struct csni_span headers;  /* its first bytes up to the end of its program headers; empty: they are not in the dump */
};
typedef CSNI_VEC(struct csni_core_file) csni_core_files;

/* Appends what the note NT_FILE of an ELF core dump lists, in its order; `out` needs its allocator. A dump that was cut short
 * gives what its notes have.
 * CSN_NONE: the dump has no such note. CSN_E_UNSUPPORTED: the bytes are no ELF core dump. CSN_E_TRUNCATED: its headers are
 * outside of the file. CSN_E_FORMAT: the note is damaged. CSN_E_LIMIT: it has more files than a process can map. */
csn_status csni_elf_core_files(struct csni_span file, csni_core_files *out, struct csn_error *err);

/* The build id of the ELF image whose first bytes in memory these are; empty: it has none there. */
struct csni_span csni_elf_build_id_in_memory(struct csni_span memory);

#endif
