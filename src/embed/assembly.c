/* Files put together from pieces. */
#include "embed/assembly.h"

#include "base/core/checked.h"
#include "base/core/fail.h"

void csni_assembly_init(struct csni_assembly *a, const struct csn_allocator *alloc) {
    *a = (struct csni_assembly){ .pieces = { .alloc = alloc } };
}

void csni_assembly_deinit(struct csni_assembly *a) {
    for (size_t i = 0; i < a->pieces.count; i++)
        csni_free(a->pieces.alloc, a->pieces.items[i].own, a->pieces.items[i].own ? a->pieces.items[i].bytes.size : 0);
    csni_vec_deinit(&a->pieces);
}

static bool add_piece(struct csni_assembly *a, struct csni_span bytes, uint8_t *own) {
    struct csni_assembly_piece piece = { bytes, own };
    if (a->failed || !csni_vec_push(&a->pieces, piece)) {
        a->failed = true;
        return false;
    }
    a->size += bytes.size;
    return true;
}

void csni_assembly_add(struct csni_assembly *a, struct csni_span bytes) {
    if (bytes.size) add_piece(a, bytes, NULL);
}

bool csni_assembly_add_own(struct csni_assembly *a, uint8_t *own, size_t size) {
    if (own && add_piece(a, (struct csni_span){ own, size }, own)) return true;
    csni_free(a->pieces.alloc, own, size);
    a->failed = true;
    return false;
}

uint8_t *csni_assembly_add_zeros(struct csni_assembly *a, size_t size) {
    if (!size || a->failed) return NULL;
    uint8_t *own = csni_alloc_zeroed(a->pieces.alloc, 1, size);
    return csni_assembly_add_own(a, own, size) ? own : NULL;
}

uint8_t *csni_assembly_add_copy(struct csni_assembly *a, struct csni_span bytes) {
    uint8_t *own = csni_assembly_add_zeros(a, bytes.size);
    if (own) memcpy(own, bytes.ptr, bytes.size);
    return own;
}

void csni_assembly_align(struct csni_assembly *a, uint64_t align) {
    csni_assembly_add_zeros(a, (size_t)(csni_align_up(a->size, align) - a->size));
}

csn_status csni_assembly_write(const struct csni_assembly *a, const struct csni_sink *sink, struct csn_error *err) {
    if (a->failed) return csni_fail_memory(err, a->size);
    CSNI_TRY(sink->reserve(sink->context, a->size, err));
    uint64_t at = 0;
    for (size_t i = 0; i < a->pieces.count; i++) {
        struct csni_span bytes = a->pieces.items[i].bytes;
        CSNI_TRY(sink->write(sink->context, at, bytes.ptr, bytes.size, err));
        at += bytes.size;
    }
    return CSN_OK;
}
