/* The names under which an object tells where the rest of its debug information is. */
#ifndef CSNI_DEBUG_LINKS_H
#define CSNI_DEBUG_LINKS_H

#include "object/object.h"

/* .gnu_debuglink: the debug file that was split off. */
struct csni_debug_link {
    struct csn_str name; /* a NUL follows it */
    uint32_t crc;        /* CRC-32 of the whole debug file */
};
/* CSN_NONE: no such section. CSN_E_TRUNCATED, CSN_E_FORMAT: it is damaged. Names live as long as the section is read, until
 * csni_object_release_section() or close. */
csn_status csni_object_debug_link(struct csni_object *object, struct csni_debug_link *out, struct csn_error *err);

/* .gnu_debugaltlink, or .debug_sup of DWARF 5: the supplementary file, which dwz makes of what several files share. */
struct csni_alt_link {
    struct csn_str name;   /* a NUL follows it */
    struct csni_span id;   /* build id (.gnu_debugaltlink) or checksum (.debug_sup) that the supplement has; may be empty */
    bool is_checksum;      /* `id` is a checksum, not a build id */
    bool is_supplementary; /* this object is the supplement itself (.debug_sup): the name is empty, `id` its own */
};
/* As above. With both sections, .gnu_debugaltlink counts. CSN_E_UNSUPPORTED: a version of .debug_sup other than 5. */
csn_status csni_object_alt_link(struct csni_object *object, struct csni_alt_link *out, struct csn_error *err);

#endif
