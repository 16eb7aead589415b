/* Universal ("fat") Mach-O files: several images for several machines in one file. */
#ifndef CSNI_MACHO_UNIVERSAL_H
#define CSNI_MACHO_UNIVERSAL_H

#include "object/object.h"

/* Whether bytes begin like one. A Java class file begins with the same four. */
bool csni_macho_is_universal(struct csni_span file);

/* Its slices, as csni_object_slices() gives them. CSN_E_TRUNCATED: header or a slice outside of the file. CSN_E_FORMAT: no
 * slice, or two that overlap. */
csn_status csni_macho_slices(struct csni_span file, const struct csn_allocator *alloc, struct csni_slice **out,
                             uint32_t *count, struct csn_error *err);

/* The one slice. CSN_E_ARGUMENT names the architectures where there are several. */
csn_status csni_macho_only_slice(struct csni_span file, const struct csn_allocator *alloc, struct csni_span *out,
                                 struct csn_error *err);

#endif
