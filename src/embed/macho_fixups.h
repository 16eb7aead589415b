/* Chained fixups of Mach-O images (LC_DYLD_CHAINED_FIXUPS). They tell for each segment by number where its fixups start, and
 * dyld does not load an image that has another number of segments. */
#ifndef CSNI_MACHO_FIXUPS_H
#define CSNI_MACHO_FIXUPS_H

#include "base/core/span.h"
#include "embed/assembly.h"

/* What becomes of them when a segment without fixups is added. */
struct csni_macho_fixups {
    uint64_t off;       /* where they stand in the file; `old.size` bytes. 0: there are none, or they stay as they are */
    struct csni_span old;
    uint32_t starts;    /* where the starts of segments stand in them */
    uint32_t count;     /* number of segments they tell */
    uint32_t added;     /* number of the new one */
    uint32_t grown;     /* by how many bytes they become larger; 0: there was room */
    bool big;
};

/* `segments`: how many the image has; `added`: the number of the new one. CSN_E_FORMAT: they are damaged. */
csn_status csni_macho_fixups_plan(struct csni_macho_fixups *f, struct csni_span file, uint64_t off, uint64_t size, bool big,
                                  uint32_t segments, uint32_t added, struct csn_error *err);
/* Adds what takes the place of the old ones. */
void csni_macho_fixups_add(const struct csni_macho_fixups *f, struct csni_assembly *out);

#endif
