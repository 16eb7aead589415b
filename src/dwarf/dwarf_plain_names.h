/* Names as the attributes of DIEs tell them, without the scopes around. */
#ifndef CSNI_DWARF_PLAIN_NAMES_H
#define CSNI_DWARF_PLAIN_NAMES_H

#include "dwarf/dwarf_private.h"

/* Cost of a DIE that is looked at for a name: it comes from anywhere in memory. */
enum { CSNI_NAME_STEP_COST = 8 };

struct csni_die_ref {
    const struct csni_unit *unit;
    uint64_t off;
};

/* Empty: none. */
struct csni_plain_names {
    struct csn_str linkage, name;
    bool has_linkage, has_name; /* an attribute was found, or need not be looked for */
};

struct csni_name_reader {
    const struct csni_dwarf *dwarf;
    struct csn_str *strings;    /* by hash of the offset: units name the same ones over and over, and looking for their end
                                 * waits for memory */
    size_t string_slots;        /* a power of two */
    uint64_t cost;
};

csn_status csni_name_reader_init(struct csni_name_reader *reader, const struct csni_dwarf *dwarf, struct csn_error *err);
void csni_name_reader_deinit(struct csni_name_reader *reader, const struct csn_allocator *alloc);

/* What the DIE and those that it leads to have. */
csn_status csni_find_names(struct csni_name_reader *reader, const struct csni_die *die, bool want_linkage,
                           struct csni_plain_names *names, struct csn_error *err);
/* A part of a name that is in no file at hand. The name is better left out than half right. */
csn_status csni_check_missing(const struct csni_die *die, enum csni_at at, struct csn_error *err);
/* The whole name of the referenced DIE, where its own attributes decide it and nothing is odd, at the cost of finding it the
 * long way. `qualified`: a plain name does not do. CSN_NONE: it takes the long way. */
csn_status csni_quick_name(struct csni_name_reader *reader, struct csni_die_ref ref, bool qualified, struct csn_str *out);

#endif
