/* A symbolicator's inside, shared by the files that answer a stack. */
#ifndef CSNI_SYMBOLICATOR_H
#define CSNI_SYMBOLICATOR_H

#include "symbolicate/module_map.h"
#include "symbolicate/pattern.h"
#include "symbolicate/place.h"
#include "symbolicate/stack_tails.h"

struct csni_stack_place;
struct csn_symbolicator {
    const struct csn_allocator *alloc;
    uint64_t max_frames, cache_bytes;
    struct csn_module *modules;
    uint32_t module_count;
    struct csni_module_map map;
    struct csni_patterns patterns;
    struct csni_arena seen_arena;  /* places seen before and all that they point to; emptied beyond cache_bytes */
    CSNI_VEC(struct csni_place *) seen; /* by hash; a power of two, at most half full */
    size_t seen_count;
    struct csni_arena arena;       /* the last answer */
    CSNI_VEC(struct csni_tail_table) tails; /* of indexes that were asked where tail calls lead */
    uint64_t tail_bytes;           /* of those; forgotten beyond cache_bytes */
    const struct csni_stack_place *places; /* of the stack that is answered */
    size_t place_count;
    uint32_t *tail_tables;         /* by module: 1 + number of its table, 0: none; NULL until this stack asks */
};

/* What is known of one frame while its stack is answered. */
struct csni_stack_place {
    struct csni_place *place; /* NULL: no module, or no index */
    uint64_t addr;                  /* as it came */
    uint32_t module;
    bool exact, either;             /* not a return address; perhaps the byte before one */
    uint8_t shift;                  /* it is looked up at that many bytes before */
};

/* Chooses among merged functions, from the outermost frame inwards. `answers` has names and frames of the index's own
 * function already. False: no memory. */
bool csni_stack_choose(struct csn_symbolicator *s, const struct csni_stack_place *places, size_t count, uint64_t *work,
                       struct csn_stack_answer *answers);

#endif
