/* Files that an image's debug information lies in besides the image, from the caller's resolver. */
#ifndef CSNI_COMPANIONS_H
#define CSNI_COMPANIONS_H

#include "convert/conversion.h"

#include <callsign/companion.h>

/* A companion while the conversion lasts. */
struct csni_companion_file {
    struct csn_companion found;
    struct csni_span bytes;
    struct csni_object *object;              /* NULL: not opened as one */
    CSNI_VEC(struct csni_object *) members;  /* of an archive, those that were opened */
};

/* Asks the resolver and opens what it gives as an object file. CSN_NONE: there is no resolver, or it found nothing; `told`
 * then holds what it says about that, or is empty. Any thread. The file stays open until the conversion ends. Errors name
 * the companion. */
csn_status csni_companion_open(struct csni_conversion *c, const struct csn_companion_request *request,
                               struct csni_companion_file **out, struct csn_error *told);
/* The same without opening it. */
csn_status csni_companion_request(struct csni_conversion *c, const struct csn_companion_request *request,
                                  struct csni_companion_file **out, struct csn_error *told);
/* The same in two steps: damage of the file comes from the second alone. With CSN_NONE, `err` stays as it was. */
csn_status csni_companion_find(struct csni_conversion *c, const struct csn_companion_request *request,
                               struct csni_companion_file **out, struct csn_error *err);
csn_status csni_companion_parse(struct csni_conversion *c, struct csni_companion_file *file, struct csn_error *err);
/* For messages. */
const char *csni_companion_path(const struct csni_companion_file *file);

/* Opens a part of the file, such as a member of an archive. It stays open until the conversion ends. */
csn_status csni_companion_open_part(struct csni_conversion *c, struct csni_companion_file *file, struct csni_span part,
                                    struct csni_object **out, struct csn_error *err);
/* The small ELF file in the object's .gnu_debugdata. CSN_NONE: it has none. */
csn_status csni_companion_open_mini_debug(struct csni_conversion *c, struct csni_object *object,
                                          struct csni_companion_file **out, struct csn_error *err);

/* CSN_E_FORMAT with both ids where both have one and they differ. */
csn_status csni_companion_check_id(const struct csni_companion_file *file, const struct csn_companion_request *request,
                                   struct csn_error *err);

/* Closes one before the conversion ends. Nothing may look at its bytes any more. */
void csni_companion_close(struct csni_conversion *c, struct csni_companion_file *file);
void csni_companions_release(struct csni_conversion *c);

#endif
