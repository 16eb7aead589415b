/* Moving a section-embedded GSYM of 2017 to another object file: revisions C and D hold the file offset of their strings. */
#ifndef CSNI_GSECTION_STRINGS_H
#define CSNI_GSECTION_STRINGS_H

#include "formats/gsection/read/gsection.h"

/* Sets where the strings are: from the start of the object file, or of the section. `section` holds the header at least. */
void csni_gsection_set_strings_offset(uint8_t *section, uint32_t off, bool big);

enum { CSNI_GSECTION_PIECES = 4 };

/* A section with its strings inside: its bytes are those of all pieces, in order. Pieces are views of the section and of `header`,
 * so the struct must stay where it is. */
struct csni_gsection_pieces {
    struct csni_span pieces[CSNI_GSECTION_PIECES];
    uint8_t header[CSNI_GSECTION_HEADER_SIZE];
};

/* Appends the strings of revision C or D to the section and counts their offset from its start, as every reader of these
 * revisions accepts. CSN_E_LIMIT: they would begin beyond 4 GiB. */
csn_status csni_gsection_append_strings(const struct csni_gsection *g, struct csni_gsection_pieces *out, struct csn_error *err);

/* Gives the strings of revision A or B another section's name: what stands after the header moves. *out_own is memory of `alloc`
 * that the pieces are views of, *out_own_size bytes. CSN_E_LIMIT: records would begin beyond 4 GiB. */
csn_status csni_gsection_rename_strings(const struct csni_gsection *g, struct csn_str name, const struct csn_allocator *alloc,
                                        struct csni_gsection_pieces *out, uint8_t **out_own, size_t *out_own_size,
                                        struct csn_error *err);

#endif
