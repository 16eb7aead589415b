/* Portions of .debug_info. */
#include "convert/info_portions.h"

#include "base/fail.h"
#include "base/file_map.h"
#include "dwarf/dwarf.h"

enum { STEP = 1 << 20 }; /* a unit's length is not believed further ahead than that */

struct buffer {
    uint8_t *bytes; /* of csni_pages_alloc() */
    size_t room, used;
};

struct csni_info_portions {
    const struct csn_allocator *alloc;
    struct csni_section_stream *stream;
    bool big_endian;
    size_t enough;
    uint64_t from;             /* of the next portion */
    unsigned turn;
    struct buffer buffers[2];
};

static csn_status make_room(struct buffer *b, size_t room, struct csn_error *err) {
    if (room <= b->room) return CSN_OK;
    if (room < 2 * b->room) room = 2 * b->room;
    uint8_t *bytes = csni_pages_alloc(room);
    if (!bytes) return csni_fail_memory(err, room);
    if (b->used) memcpy(bytes, b->bytes, b->used);
    csni_pages_free(b->bytes, b->room);
    b->bytes = bytes;
    b->room = room;
    return CSN_OK;
}

/* Inflates until `upto` bytes are in the buffer, or all. */
static csn_status fill(struct csni_info_portions *p, struct buffer *b, uint64_t upto, struct csn_error *err) {
    uint64_t left = csni_section_stream_left(p->stream);
    if (upto > b->used + left) upto = b->used + left;
    while (b->used < upto) {
        size_t step = upto - b->used < STEP ? (size_t)(upto - b->used) : STEP;
        CSNI_TRY(make_room(b, b->used + step, err));
        CSNI_TRY(csni_section_stream_read(p->stream, b->bytes + b->used, step, err));
        b->used += step;
    }
    return CSN_OK;
}

csn_status csni_info_portions_open(struct csni_object *object, uint32_t section, size_t enough,
                                   const struct csn_allocator *alloc, struct csni_info_portions **out,
                                   struct csn_error *err) {
    struct csni_section_stream *stream;
    csn_status status = csni_object_stream_section(object, section, &stream, err);
    if (status != CSN_OK) return status;
    /* Offsets are differences of pointers (csni_info_base()): on a host of 32 bits they end at 2 GiB. */
    bool fits = csni_section_stream_left(stream) <= PTRDIFF_MAX;
    struct csni_info_portions *p = fits ? csni_alloc_zeroed(alloc, 1, sizeof *p) : NULL;
    if (!p) {
        csni_section_stream_close(stream);
        return fits ? csni_fail_memory(err, sizeof *p) : CSN_NONE;
    }
    *p = (struct csni_info_portions){ .alloc = alloc, .stream = stream, .big_endian = object->big_endian, .enough = enough };
    *out = p;
    return CSN_OK;
}

csn_status csni_info_portions_read(struct csni_info_portions *p, struct csni_portion *out, struct csn_error *err) {
    struct buffer *b = &p->buffers[p->turn++ % 2];
    b->used = 0;
    uint64_t all = csni_section_stream_left(p->stream), end = 0;
    CSNI_TRY(fill(p, b, p->enough, err));
    while (end < all && end < p->enough) {
        CSNI_TRY(fill(p, b, end + CSNI_UNIT_LENGTH_SIZE, err));
        struct csni_span header = { b->bytes + end, b->used - (size_t)end };
        uint64_t size = csni_dwarf_unit_size(header, p->big_endian);
        if (size < CSNI_UNIT_LENGTH_SIZE || size > all - end) return CSN_NONE;
        end += size;
    }
    CSNI_TRY(fill(p, b, end, err));
    *out = (struct csni_portion){ { b->bytes, b->used }, p->from };
    p->from += b->used;
    return CSN_OK;
}

bool csni_info_portions_at_end(const struct csni_info_portions *p) { return !csni_section_stream_left(p->stream); }

void csni_info_portions_close(struct csni_info_portions *p) {
    if (!p) return;
    csni_section_stream_close(p->stream);
    for (unsigned i = 0; i < 2; i++) csni_pages_free(p->buffers[i].bytes, p->buffers[i].room);
    csni_free(p->alloc, p, sizeof *p);
}
