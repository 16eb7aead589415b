/* A file with split DWARF, a package or a .dwo file, opened for an image. */
#ifndef CSNI_SPLIT_FILE_H
#define CSNI_SPLIT_FILE_H

#include "convert/companions.h"

/* Several sections made one; empty where there is but one. */
struct csni_joined {
    uint8_t *bytes;
    size_t size;
};

struct csni_split_file {
    struct csni_object *object;
    struct csni_companion_file *companion; /* NULL: the object is the image itself */
    struct csni_dwarf *dwarf;              /* NULL: not open */
    struct csni_joined info, types;
    struct csni_shared_budget budget;      /* of its units: by its own size, whatever else is open */
};

/* Whether an object holds split DWARF. */
bool csni_split_file_recognize(const struct csni_object *object);

/* Reads sections, abbreviations and unit DIEs of `file->object`, by all workers of `pool`, or by the caller alone with
 * NULL. Addresses and ranges are read from `image`. Damage of single units comes out when they are used. */
csn_status csni_split_file_open(struct csni_split_file *file, struct csni_conversion *c, struct csni_pool *pool,
                                const struct csni_dwarf *image, struct csn_error *err);
void csni_split_file_close(struct csni_split_file *file, struct csni_conversion *c);
/* The same, but strings of names stay until the conversion ends. */
void csni_split_file_close_later(struct csni_split_file *file, struct csni_conversion *c);

#endif
