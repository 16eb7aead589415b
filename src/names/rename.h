/* Other names, as a caller's callback wants them. */
#ifndef CSNI_RENAME_H
#define CSNI_RENAME_H

#include <callsign/base.h>

#include "base/core/alloc.h"
#include "base/core/span.h"

struct csni_renamer {
    csn_name_callback *callback;
    void *context;
    const struct csn_allocator *alloc;
    char *scratch;     /* what the callback writes to; it grows up to a limit */
    size_t capacity;
};

csn_status csni_renamer_init(struct csni_renamer *renamer, csn_name_callback *callback, void *context,
                             const struct csn_allocator *alloc, struct csn_error *err);
void csni_renamer_deinit(struct csni_renamer *renamer);

/* *out: the new name, in the scratch memory until the next call. CSN_NONE: the name stays, because the callback wants no other,
 * failed, or gave something that cannot be stored: an empty name, one with a NUL, one of 16 MiB. */
csn_status csni_renamer_call(struct csni_renamer *renamer, struct csn_str name, struct csn_str *out, struct csn_error *err);

#endif
