/* Files that an image's debug information lies in besides the image, from the caller's resolver. */
#ifndef CSNI_COMPANIONS_H
#define CSNI_COMPANIONS_H

#include "convert/source.h"

#include <callsign/companion.h>

/* A companion while the conversion lasts. */
struct csni_companion_file {
    struct csn_companion found;
    struct csni_object *object;
    struct csni_span bytes;
};

/* Asks the resolver and opens what it gives as an object file. CSN_NONE: there is no resolver, or it found nothing. Any
 * thread. The file stays open until the conversion ends. Errors name the companion. */
csn_status csni_companion_open(struct csni_conversion *c, const struct csn_companion_request *request,
                               struct csni_companion_file **out, struct csn_error *err);
/* The same in two steps: damage of the file comes from the second alone. */
csn_status csni_companion_find(struct csni_conversion *c, const struct csn_companion_request *request,
                               struct csni_companion_file **out, struct csn_error *err);
csn_status csni_companion_parse(struct csni_conversion *c, struct csni_companion_file *file, struct csn_error *err);
/* For messages. */
const char *csni_companion_path(const struct csni_companion_file *file);

/* CSN_E_FORMAT with both ids where both have one and they differ. */
csn_status csni_companion_check_id(const struct csni_companion_file *file, const struct csn_companion_request *request,
                                   struct csn_error *err);

/* Closes one before the conversion ends. Nothing may look at its bytes any more. */
void csni_companion_close(struct csni_conversion *c, struct csni_companion_file *file);
void csni_companions_release(struct csni_conversion *c);

#endif
