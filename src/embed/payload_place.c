/* Whether an index has the addresses of the object that it is put into.
 *
 * Breakpad files and program databases tell addresses from the image's first byte on. An index made from one has the base
 * address 0, and its readers cannot know; in an object that is linked to begin elsewhere no address of the object would be
 * found. No format has a word for it, but the object tells: with its base added, more functions lie in its code than without. */
#include "base/core/fail.h"
#include "embed/embed_private.h"
#include "formats/gsection/write/gsection_move.h"

typedef unsigned long long ull; /* for %llx */

/* Functions that begin in `size` bytes from `start` on, once all addresses are `by` higher. */
static uint64_t count_in_range(const struct csni_gsym *g, uint64_t start, uint64_t size, uint64_t by) {
    uint64_t last = size - 1 > UINT64_MAX - start ? UINT64_MAX : start + size - 1;
    if (!size || last < by) return 0;
    size_t up_to = csni_gsym_count_up_to(g, last - by), below = start > by ? csni_gsym_count_up_to(g, start - by - 1) : 0;
    return up_to > below ? up_to - below : 0; /* the table need not ascend */
}

/* False: the object does not tell where its code is. */
static bool count_in_code(const struct csni_gsym *g, const struct csni_object *object, uint64_t by, uint64_t *out) {
    const uint32_t code = CSNI_SECTION_ALLOC | CSNI_SECTION_EXEC;
    bool is_known = false;
    *out = 0;
    for (uint32_t i = 1; i < object->section_count; i++) {
        const struct csni_section *s = &object->sections[i];
        if ((s->flags & code) != code) continue;
        *out += count_in_range(g, s->addr, s->size, by);
        is_known = true;
    }
    /* Section headers may be stripped, too. */
    for (uint32_t i = 0, count = is_known ? 0 : object->segment_count; i < count; i++) {
        const struct csni_segment *s = &object->segments[i];
        if (!s->exec) continue;
        *out += count_in_range(g, s->addr, s->size, by);
        is_known = true;
    }
    return is_known;
}

/* The bytes of the index are a view of its file, which stays as it is. */
static csn_status move(struct csni_payload *p, uint64_t by, struct csn_error *err) {
    size_t size = (size_t)csni_payload_size(p);
    uint8_t *own = csni_alloc(p->alloc, size), *at = own;
    if (!own) return csni_fail_memory(err, size);
    for (unsigned i = 0; i < CSNI_GSECTION_PIECES; i++) {
        struct csni_span piece = p->index.pieces[i];
        if (piece.size) memcpy(at, piece.ptr, piece.size);
        at += piece.size;
    }
    csni_gsection_move(own, size, p->tables.big, by);
    csni_free(p->alloc, p->own, p->own_size);
    p->own = own;
    p->own_size = size;
    p->index = (struct csni_gsection_pieces){ .pieces = { { own, size } } };
    return CSN_OK;
}

csn_status csni_payload_place(struct csni_payload *p, const struct csni_object *object, bool force, struct csn_error *err) {
    const struct csni_gsym *g = &p->tables;
    uint64_t here, moved = 0;
    /* What is not linked has no addresses of its own. */
    if (!g->address_count || object->kind == CSNI_OBJECT_RELOCATABLE || !count_in_code(g, object, 0, &here)) return CSN_OK;
    if (!g->base_address && !g->member_count) (void)count_in_code(g, object, object->image_base, &moved);
    if (moved > here) return move(p, object->image_base, err);
    if (here || force) return CSN_OK;
    return csni_fail(err, CSN_E_ARGUMENT, NULL, 0,
                     "no function of the index lies in the object's code: the first one is at 0x%llx, the object begins at 0x%llx "
                     "(--force embeds it all the same)",
                     (ull)csni_gsym_address(g, 0), (ull)object->image_base);
}
