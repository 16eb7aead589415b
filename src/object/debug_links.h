/* What an object file says about the other files that its debug information lies in. */
#ifndef CSNI_DEBUG_LINKS_H
#define CSNI_DEBUG_LINKS_H

#include "object/object.h"

/* .gnu_debugaltlink: path and build id of the supplement that dwz made. Views into the section; the id may be empty.
 * CSN_NONE: the object has no such section. */
csn_status csni_object_alt_link(struct csni_object *object, struct csn_str *name, struct csni_span *id,
                                struct csn_error *err);

#endif
