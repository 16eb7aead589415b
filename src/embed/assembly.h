/* A file put together from pieces, most of them views into other files: nothing large is copied on the way to the output. */
#ifndef CSNI_ASSEMBLY_H
#define CSNI_ASSEMBLY_H

#include "base/sink.h"
#include "base/core/span.h"
#include "base/core/vec.h"

struct csni_assembly_piece {
    struct csni_span bytes;
    uint8_t *own; /* the bytes, where they are memory of the assembly */
};

struct csni_assembly {
    CSNI_VEC(struct csni_assembly_piece) pieces;
    uint64_t size;  /* of all pieces */
    bool failed;    /* out of memory: csni_assembly_write() says so */
};

void csni_assembly_init(struct csni_assembly *a, const struct csn_allocator *alloc);
void csni_assembly_deinit(struct csni_assembly *a);

/* The bytes must live until the assembly is written. */
void csni_assembly_add(struct csni_assembly *a, struct csni_span bytes);
/* `size` zeros, to be filled in before the assembly is written; NULL when out of memory, or for size 0. */
uint8_t *csni_assembly_add_zeros(struct csni_assembly *a, size_t size);
/* Memory of the assembly's allocator, which becomes its own in any case; false when out of memory. */
bool csni_assembly_add_own(struct csni_assembly *a, uint8_t *own, size_t size);
/* A copy, to be changed before the assembly is written; NULL when out of memory. */
uint8_t *csni_assembly_add_copy(struct csni_assembly *a, struct csni_span bytes);
/* Zeros up to a multiple of `align`, a power of two. */
void csni_assembly_align(struct csni_assembly *a, uint64_t align);

csn_status csni_assembly_write(const struct csni_assembly *a, const struct csni_sink *sink, struct csn_error *err);

#endif
