/* Parents of DIEs all over the image and its supplement: an index of scopes per unit, made when a name first needs it. It
 * goes down only where it must: subtrees with a sibling attribute are jumped over and indexed by themselves once a DIE
 * within them is asked for. For one worker. */
#ifndef CSNI_DWARF_SCOPE_INDEX_H
#define CSNI_DWARF_SCOPE_INDEX_H

#include "dwarf/dwarf_private.h"

struct csni_scope_index;

struct csni_scope_indexes {
    const struct csni_dwarf *dwarf;
    const struct csn_allocator *alloc;
    struct csni_scope_index **items; /* per unit, or NULL; those of the supplement after the image's */
    uint8_t *was_indexed;            /* per unit */
    size_t count;                    /* of both */
    size_t nodes;                    /* of all indexes; at the limit they are dropped */
    size_t limit, rebuilt;
    uint64_t cost;                 /* steps that searches took so far */
};

csn_status csni_scope_indexes_init(struct csni_scope_indexes *indexes, const struct csni_dwarf *dwarf,
                                   struct csn_error *err);
void csni_scope_indexes_deinit(struct csni_scope_indexes *indexes);

/* The DIE that the one at `off` stands in, if it is one of the kinds that are indexed: where it is and its tag. CSN_NONE: in
 * none. */
csn_status csni_scope_parent(struct csni_scope_indexes *indexes, const struct csni_unit *unit, uint64_t off,
                             uint64_t *parent, uint16_t *tag, struct csn_error *err);

#endif
