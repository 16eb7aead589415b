/* .gnu_debugdata: a small ELF file, xz-compressed, that a stripped image carries along. It has the names of functions that
 * the dynamic symbol table leaves out, and nothing else of debug information. */
#ifndef CSNI_MINI_DEBUG_H
#define CSNI_MINI_DEBUG_H

#include "object/object.h"

struct csni_mini_debug {
    const struct csn_allocator *alloc;
    struct csni_span bytes; /* an ELF file, for csni_object_open() */
    size_t capacity;
};

/* The largest that is inflated, if the options do not tell less: those of whole distributions stay below 50 MiB. */
enum { CSNI_MINI_DEBUG_MAX = 1 << 30 };

/* CSN_NONE: the object has none. CSN_E_LIMIT, CSN_E_FORMAT, CSN_E_TRUNCATED: it does not inflate; CSN_E_UNSUPPORTED: this
 * build cannot. Of the options, allocator and max_decompressed_bytes count. */
csn_status csni_mini_debug_read(struct csni_object *object, const struct csni_object_options *options,
                                struct csni_mini_debug **out, struct csn_error *err);
void csni_mini_debug_free(struct csni_mini_debug *mini); /* NULL is fine */

#endif
