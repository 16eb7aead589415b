/* Arrow arrays and schemas of our own: a tree of nodes, each of which owns its buffers and is released by itself, so that a
 * consumer may move children out. */
#ifndef CSNI_ARROW_NODE_H
#define CSNI_ARROW_NODE_H

#include <callsign/arrow.h>

#include "base/core/alloc.h"

enum { CSNI_ARROW_BUFFERS_MAX = 3, CSNI_ARROW_CHILDREN_MAX = 5 };

/* A type, as a constant: children and dictionary are types, too. */
struct csni_arrow_type {
    const char *format, *name;
    bool is_nullable;
    const struct csni_arrow_type *dictionary; /* NULL: none */
    uint32_t child_count;
    const struct csni_arrow_type *children[CSNI_ARROW_CHILDREN_MAX];
};

/* A schema of that type. Nothing is left to release after a failure. */
csn_status csni_arrow_schema_make(const struct csni_arrow_type *type, const struct csn_allocator *alloc, struct ArrowSchema *out,
                                  struct csn_error *err);

/* An array of `length` values without nulls and without children: its `buffers` buffers are those of `sizes` bytes, zeroed, but for
 * a size of 0, which is a validity that is not there. */
csn_status csni_arrow_array_make(const struct csn_allocator *alloc, int64_t length, unsigned buffers, const size_t *sizes,
                                 struct ArrowArray *out, struct csn_error *err);
/* Gives it `count` children, or a dictionary: empty arrays, which are to be made. */
void csni_arrow_array_add_children(struct ArrowArray *array, uint32_t count);
struct ArrowArray *csni_arrow_array_add_dictionary(struct ArrowArray *array);

/* Buffer `n`, to be written. */
void *csni_arrow_buffer(const struct ArrowArray *array, unsigned n);
/* Releases what may be released. */
void csni_arrow_array_release(struct ArrowArray *array);
void csni_arrow_schema_release(struct ArrowSchema *schema);

/* Bytes of a bitmap. */
static inline size_t csni_arrow_bits_size(int64_t count) { return ((size_t)count + 7) / 8; }
static inline void csni_arrow_set_bit(uint8_t *bits, int64_t row) { bits[row / 8] = (uint8_t)(bits[row / 8] | 1u << row % 8); }

#endif
