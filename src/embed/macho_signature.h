/* Code signatures of Mach-O images without a certificate ("ad hoc"), which every arm64 linker makes. They hold hashes of the
 * file's pages, so that who changes the file can make them anew. */
#ifndef CSNI_MACHO_SIGNATURE_H
#define CSNI_MACHO_SIGNATURE_H

#include "base/core/span.h"
#include "embed/assembly.h"

enum { CSNI_SIGNATURE_BLOBS_MAX = 8 };

/* What stays of a signature when it is made anew. Views of the old one. */
struct csni_macho_signature {
    struct csni_span identifier;      /* without NUL */
    struct csni_span special;         /* hashes of other blobs and files, by slot downwards */
    uint32_t special_count;
    uint32_t flags;
    unsigned page_bits;               /* log2 of the size of a page */
    uint64_t segment_off, segment_size, segment_flags; /* of the executable segment */
    struct {
        uint32_t slot;
        struct csni_span bytes;
    } blobs[CSNI_SIGNATURE_BLOBS_MAX]; /* entitlements and the like */
    unsigned blob_count;
};

/* CSN_NONE: it has a certificate, or is of a kind that cannot be made anew. CSN_E_FORMAT: it is damaged. */
csn_status csni_macho_signature_read(struct csni_span bytes, struct csni_macho_signature *out, struct csn_error *err);

/* The size of a signature of a file whose other bytes end at `limit`. */
uint64_t csni_macho_signature_size(const struct csni_macho_signature *s, uint64_t limit);
/* Adds it to an assembly that holds exactly those bytes, complete. */
csn_status csni_macho_signature_add(const struct csni_macho_signature *s, struct csni_assembly *out, struct csn_error *err);

#endif
