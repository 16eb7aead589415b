/* What Symbian's build tools leave of symbols: `.symbol` files, the logs of rombuild and rofsbuild, and the linkers' maps that
 * the logs lead to. docs/formats/symbian.md has the grammar and its sources. */
#ifndef CSNI_SYMBIAN_H
#define CSNI_SYMBIAN_H

#include "model/model.h"

/* Whether the file begins like one; looks at no more than 4 KiB. */
bool csni_symbol_file_recognize(struct csni_span file);
bool csni_rom_log_recognize(struct csni_span file);
bool csni_linker_map_recognize(struct csni_span file);

/* The binaries of an image, for the model. Strings are views into the files or live in the arena of the batch. */
struct csni_symbian_image {
    const struct csni_binary *binaries;
    const struct csni_rename *renames;
    uint32_t binary_count, rename_count, checksum;
};

/* Finds the map of a binary, by its path in the log. CSN_NONE: there is none. The bytes last as long as the batch. */
typedef csn_status csni_map_finder(void *context, struct csn_str path, struct csni_span *out, struct csn_error *err);

/* Each adds functions to the batch that is being written and fills *out. Lines that mean nothing are passed over, as the
 * formats want it; damaged ones are noted. CSN_E_MEMORY; what `find` returns below 0. */
csn_status csni_symbol_file_read(struct csni_span file, const struct csn_allocator *alloc, struct csni_batch_writer *w,
                                 struct csni_symbian_image *out, struct csn_error *err);
csn_status csni_rom_log_read(struct csni_span file, const struct csn_allocator *alloc, csni_map_finder *find, void *context,
                             struct csni_batch_writer *w, struct csni_symbian_image *out, struct csn_error *err);
/* One map: its code begins at 0, as in a binary that is loaded anywhere. */
csn_status csni_linker_map_read(struct csni_span file, struct csn_str name, const struct csn_allocator *alloc,
                                struct csni_batch_writer *w, struct csni_symbian_image *out, struct csn_error *err);

#endif
