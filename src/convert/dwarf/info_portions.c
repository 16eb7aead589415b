/* Portions of .debug_info: inflated into memory, or views of a mapped file. */
#include "convert/dwarf/info_portions.h"

#include "base/core/fail.h"
#include "base/core/file_map.h"
#include "dwarf/dwarf.h"

enum { STEP = 1 << 20 }; /* a unit's length is not believed further ahead than that */

/* A portion has address space for nearly any unit from the beginning, where there is plenty: what is never written
 * costs nothing, and growing copies what is there into pages that are new. */
enum { CAPACITY = sizeof(void *) > 4 ? 32 << 20 : 2 << 20 };

/* Of a smaller plain section, all units are listed at once. */
enum { VIEW_FROM = 4 << 20 };

struct csni_info_portions {
    const struct csn_allocator *alloc;
    struct csni_section_stream *stream; /* NULL: portions are views */
    struct csni_span plain;             /* what they are views of */
    bool big_endian;
    size_t enough;
    uint64_t size;             /* of the section */
    uint64_t from;             /* of the next portion */
};

void csni_portion_free(struct csni_portion *portion) {
    csni_pages_free(portion->bytes, portion->capacity);
    *portion = (struct csni_portion){ 0 };
}

static bool is_view(const struct csni_portion *portion) { return portion->bytes && !portion->capacity; }

void csni_portion_shrink(struct csni_portion *b, size_t kept) {
    if (is_view(b)) {
        csni_file_map_forget(b->bytes, b->size);
        *b = (struct csni_portion){ 0 };
        return;
    }
    if (b->size > kept) csni_pages_discard(b->bytes + kept, b->capacity - kept);
    if (b->capacity > CAPACITY) csni_portion_free(b);
}

static csn_status ensure_capacity(struct csni_portion *b, size_t capacity, struct csn_error *err) {
    if (capacity <= b->capacity) return CSN_OK;
    if (capacity < 2 * b->capacity) capacity = 2 * b->capacity;
    uint8_t *bytes = csni_pages_alloc(capacity);
    if (!bytes) return csni_fail_memory(err, capacity);
    if (b->size) memcpy(bytes, b->bytes, b->size);
    csni_pages_free(b->bytes, b->capacity);
    b->bytes = bytes;
    b->capacity = capacity;
    return CSN_OK;
}

/* Inflates until `upto` bytes are in the portion, or all. */
static csn_status fill_portion(struct csni_info_portions *p, struct csni_portion *b, uint64_t upto,
                               struct csn_error *err) {
    uint64_t left = csni_section_stream_left(p->stream);
    if (upto > b->size + left) upto = b->size + left;
    while (b->size < upto) {
        size_t step = upto - b->size < STEP ? (size_t)(upto - b->size) : STEP;
        CSNI_TRY(ensure_capacity(b, b->size + step, err));
        CSNI_TRY(csni_section_stream_read(p->stream, b->bytes + b->size, step, err));
        b->size += step;
    }
    return CSN_OK;
}

/* The content of a large plain section of a mapped file; empty: the section is something else. */
static struct csni_span plain_content(struct csni_object *object, uint32_t section) {
    struct csni_span content;
    bool is_plain = csni_object_is_mapped_view(object, section) && object->sections[section].size >= VIEW_FROM;
    if (!is_plain || csni_object_read_section(object, section, &content, NULL) != CSN_OK) return (struct csni_span){ NULL, 0 };
    return content;
}

csn_status csni_info_portions_open(struct csni_object *object, uint32_t section, size_t enough,
                                   const struct csn_allocator *alloc, struct csni_info_portions **out,
                                   struct csn_error *err) {
    struct csni_section_stream *stream = NULL;
    const struct csni_span plain = plain_content(object, section);
    if (!plain.size) {
        csn_status status = csni_object_stream_section(object, section, &stream, err);
        if (status != CSN_OK) return status;
    }
    uint64_t size = stream ? csni_section_stream_left(stream) : plain.size;
    /* Offsets are differences of pointers (csni_info_base()): on a host of 32 bits they end at 2 GiB. */
    bool fits = size <= PTRDIFF_MAX;
    struct csni_info_portions *p = fits ? csni_alloc_zeroed(alloc, 1, sizeof *p) : NULL;
    if (!p) {
        csni_section_stream_close(stream);
        return fits ? csni_fail_memory(err, sizeof *p) : CSN_NONE;
    }
    *p = (struct csni_info_portions){ .alloc = alloc, .stream = stream, .plain = plain, .big_endian = object->big_endian,
                                       .enough = enough, .size = size };
    *out = p;
    return CSN_OK;
}

/* The unit at `at`, whose header is among the bytes, of a section that goes on up to `all`. 0: there is none. */
static uint64_t whole_unit(const struct csni_info_portions *p, struct csni_span bytes, uint64_t at, uint64_t all) {
    uint64_t size = csni_dwarf_unit_size(csni_span_from(bytes, (size_t)at), p->big_endian);
    return size < CSNI_UNIT_LENGTH_SIZE || size > all - at ? 0 : size;
}

static csn_status inflate_portion(struct csni_info_portions *p, struct csni_portion *out, struct csn_error *err) {
    uint64_t all = csni_section_stream_left(p->stream), end = 0;
    CSNI_TRY(ensure_capacity(out, (size_t)(all < CAPACITY ? all : CAPACITY), err));
    CSNI_TRY(fill_portion(p, out, p->enough, err));
    while (end < all && end < p->enough) {
        CSNI_TRY(fill_portion(p, out, end + CSNI_UNIT_LENGTH_SIZE, err));
        uint64_t size = whole_unit(p, (struct csni_span){ out->bytes, out->size }, end, all);
        if (!size) return CSN_NONE;
        end += size;
    }
    return fill_portion(p, out, end, err);
}

static csn_status view_portion(const struct csni_info_portions *p, struct csni_portion *out) {
    struct csni_span rest = csni_span_from(p->plain, (size_t)p->from);
    uint64_t end = 0;
    while (end < rest.size && end < p->enough) {
        uint64_t size = whole_unit(p, rest, end, rest.size);
        if (!size) return CSN_NONE;
        end += size;
    }
    out->bytes = (uint8_t *)(uintptr_t)rest.ptr;
    out->size = (size_t)end;
    return CSN_OK;
}

csn_status csni_info_portions_read(struct csni_info_portions *p, struct csni_portion *out, struct csn_error *err) {
    out->size = 0;
    out->from = p->from;
    csn_status status = p->stream ? inflate_portion(p, out, err) : view_portion(p, out);
    if (status == CSN_OK) p->from += out->size;
    return status;
}

uint64_t csni_info_portions_size(const struct csni_info_portions *p) { return p->size; }

bool csni_info_portions_at_end(const struct csni_info_portions *p) {
    return p->stream ? !csni_section_stream_left(p->stream) : p->from == p->size;
}

void csni_info_portions_close(struct csni_info_portions *p) {
    if (!p) return;
    csni_section_stream_close(p->stream);
    csni_free(p->alloc, p, sizeof *p);
}
