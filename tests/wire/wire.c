/* The byte builder: bytes, numbers, labels. */
#include "wire/wire.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/core/endian.h"
#include "base/leb128.h"

struct wire_reference {
    size_t off, label, base;
    unsigned size;
};

static void require(bool condition, const char *what) {
    if (condition) return;
    fprintf(stderr, "wire: %s\n", what);
    abort();
}

static void grow(void *items_pointer, size_t *capacity, size_t need, size_t element_size) {
    if (need <= *capacity) return;
    size_t new_capacity = need < 32 ? 64 : need * 2;
    void *items;
    memcpy(&items, items_pointer, sizeof items);
    items = realloc(items, new_capacity * element_size);
    require(items != NULL, "out of memory");
    memcpy(items_pointer, &items, sizeof items);
    *capacity = new_capacity;
}

void wire_init(struct wire *w, bool big) {
    *w = (struct wire){ .big = big };
    wire_label_here(w); /* WIRE_START */
}

void wire_deinit(struct wire *w) {
    free(w->bytes);
    free(w->labels);
    free(w->references);
    *w = (struct wire){ .big = w->big };
}

size_t wire_bytes(struct wire *w, const void *bytes, size_t size) {
    size_t off = w->size;
    grow(&w->bytes, &w->capacity, w->size + size, 1);
    if (size) memcpy(w->bytes + off, bytes, size);
    w->size += size;
    return off;
}

size_t wire_uint(struct wire *w, uint64_t value, unsigned size) {
    uint8_t bytes[8];
    require(size >= 1 && size <= 8, "integer size");
    csni_put_sized(bytes, value, size, w->big);
    return wire_bytes(w, bytes, size);
}

size_t wire_u8(struct wire *w, uint64_t value) { return wire_uint(w, value, 1); }
size_t wire_u16(struct wire *w, uint64_t value) { return wire_uint(w, value, 2); }
size_t wire_u32(struct wire *w, uint64_t value) { return wire_uint(w, value, 4); }
size_t wire_u64(struct wire *w, uint64_t value) { return wire_uint(w, value, 8); }

size_t wire_uleb(struct wire *w, uint64_t value) {
    uint8_t bytes[CSNI_LEB_MAX];
    return wire_bytes(w, bytes, (size_t)(csni_put_uleb(bytes, value) - bytes));
}

size_t wire_sleb(struct wire *w, int64_t value) {
    uint8_t bytes[CSNI_LEB_MAX];
    return wire_bytes(w, bytes, (size_t)(csni_put_sleb(bytes, value) - bytes));
}

size_t wire_uleb_padded(struct wire *w, uint64_t value, size_t length) {
    size_t off = w->size;
    for (size_t i = 0; i < length; i++) {
        wire_u8(w, (value & 0x7f) | (i + 1 < length ? 0x80 : 0));
        value >>= 7;
    }
    require(value == 0, "ULEB128 does not fit its length");
    return off;
}

size_t wire_cstr(struct wire *w, const char *text) { return wire_bytes(w, text, strlen(text) + 1); }

size_t wire_fill(struct wire *w, uint8_t byte, size_t count) {
    size_t off = w->size;
    grow(&w->bytes, &w->capacity, w->size + count, 1);
    if (count) memset(w->bytes + off, byte, count);
    w->size += count;
    return off;
}

size_t wire_align(struct wire *w, size_t align) {
    return wire_fill(w, 0, align > 1 ? (align - w->size % align) % align : 0);
}

size_t wire_append(struct wire *w, struct wire *other) {
    struct csni_span span = wire_span(other);
    return wire_bytes(w, span.ptr, span.size);
}

void wire_patch(struct wire *w, size_t off, uint64_t value, unsigned size) {
    require(off <= w->size && size <= w->size - off, "patch outside of what is written");
    csni_put_sized(w->bytes + off, value, size, w->big);
}

size_t wire_label(struct wire *w) {
    grow(&w->labels, &w->label_capacity, w->label_count + 1, sizeof *w->labels);
    w->labels[w->label_count] = SIZE_MAX;
    return w->label_count++;
}

void wire_place(struct wire *w, size_t label) {
    require(label < w->label_count && w->labels[label] == SIZE_MAX, "label placed twice or never made");
    w->labels[label] = w->size;
}

size_t wire_label_here(struct wire *w) {
    size_t label = wire_label(w);
    wire_place(w, label);
    return label;
}

size_t wire_reference(struct wire *w, size_t label, size_t base, unsigned size) {
    require(label < w->label_count && base < w->label_count, "reference to a label never made");
    grow(&w->references, &w->reference_capacity, w->reference_count + 1, sizeof *w->references);
    size_t off = wire_uint(w, 0, size);
    w->references[w->reference_count++] = (struct wire_reference){ off, label, base, size };
    return off;
}

size_t wire_begin_length(struct wire *w, unsigned offset_size) {
    require(offset_size == 4 || offset_size == 8, "offset size");
    if (offset_size == 8) wire_u32(w, 0xffffffff);
    return wire_uint(w, 0, offset_size);
}

void wire_end_length(struct wire *w, size_t begun) {
    bool is_wide = begun >= 4 && csni_get32(w->bytes + begun - 4, w->big) == 0xffffffff;
    unsigned size = is_wide ? 8 : 4;
    wire_patch(w, begun, w->size - begun - size, size);
}

struct csni_span wire_span(struct wire *w) {
    for (size_t i = 0; i < w->reference_count; i++) {
        const struct wire_reference *r = &w->references[i];
        require(w->labels[r->label] != SIZE_MAX && w->labels[r->base] != SIZE_MAX, "reference to a label never placed");
        wire_patch(w, r->off, w->labels[r->label] - w->labels[r->base], r->size);
    }
    return (struct csni_span){ w->bytes, w->size };
}
