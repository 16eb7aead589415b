/* A byte builder for tests: puts together small files of any format, byte by byte, in either byte order. Labels stand for
 * offsets that are not known yet. Aborts where something is wrong with its use or memory runs out; tests only. */
#ifndef CSNI_WIRE_H
#define CSNI_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/span.h"

struct wire_reference; /* a value to be filled in: label - base */

struct wire {
    uint8_t *bytes;
    size_t size, capacity;
    bool big;
    size_t *labels;                  /* offset of each label, SIZE_MAX: not placed yet */
    size_t label_count, label_capacity;
    struct wire_reference *references;
    size_t reference_count, reference_capacity;
};

void wire_init(struct wire *w, bool big);
void wire_deinit(struct wire *w);

/* Each call that writes returns the offset at which it began. */
size_t wire_uint(struct wire *w, uint64_t value, unsigned size); /* of 1 to 8 bytes */
size_t wire_u8(struct wire *w, uint64_t value);
size_t wire_u16(struct wire *w, uint64_t value);
size_t wire_u32(struct wire *w, uint64_t value);
size_t wire_u64(struct wire *w, uint64_t value);
size_t wire_uleb(struct wire *w, uint64_t value);
size_t wire_sleb(struct wire *w, int64_t value);
size_t wire_uleb_padded(struct wire *w, uint64_t value, size_t length); /* in exactly `length` bytes */
size_t wire_bytes(struct wire *w, const void *bytes, size_t size);
size_t wire_cstr(struct wire *w, const char *text); /* with its NUL */
size_t wire_fill(struct wire *w, uint8_t byte, size_t count);
size_t wire_align(struct wire *w, size_t align);    /* with zeros */
size_t wire_append(struct wire *w, struct wire *other); /* its bytes; labels stay its own */

/* Overwrites bytes that are there. */
void wire_patch(struct wire *w, size_t off, uint64_t value, unsigned size);

/* A label for an offset in this wire, now or later. */
enum { WIRE_START = 0 }; /* the label of offset 0 */
size_t wire_label(struct wire *w);             /* not placed */
void wire_place(struct wire *w, size_t label); /* here */
size_t wire_label_here(struct wire *w);
/* Writes `size` bytes that become label - base, as soon as both are placed; base WIRE_START: the label's offset. */
size_t wire_reference(struct wire *w, size_t label, size_t base, unsigned size);

/* A length field of 4 bytes, or of 12 (ffffffff and 8 bytes: 64-bit DWARF) for offset_size 8, counting what follows it
 * until wire_end_length(). */
size_t wire_begin_length(struct wire *w, unsigned offset_size);
void wire_end_length(struct wire *w, size_t begun);

/* The bytes, all references filled in. Lives until the wire is written to again. */
struct csni_span wire_span(struct wire *w);

#endif
