/* Flatbuffers are written forwards: each offset is filled in when what it points to is written. */
#include "udf/flat_write.h"

#include <string.h>

void flat_put(struct flat_out *flat, uint64_t value, size_t size) {
    for (size_t i = 0; i < size; i++) flat->bytes[flat->size++] = (uint8_t)(value >> 8 * i);
}

void flat_align(struct flat_out *flat, size_t alignment) {
    while (flat->size % alignment) flat->bytes[flat->size++] = 0;
}

void flat_point(struct flat_out *flat, size_t at) {
    uint32_t offset = (uint32_t)(flat->size - at);
    for (size_t i = 0; i < 4; i++) flat->bytes[at + i] = (uint8_t)(offset >> 8 * i);
}

void flat_table(struct flat_out *flat, size_t from, struct flat_member *members, unsigned count) {
    enum { IDS_MAX = 8 };
    uint16_t offsets[IDS_MAX] = { 0 };
    unsigned ids = count ? members[count - 1].id + 1 : 0;
    size_t end = 4;
    for (unsigned i = 0; i < count; i++) {
        end = (end + members[i].size - 1) / members[i].size * members[i].size;
        offsets[members[i].id] = (uint16_t)end;
        end += members[i].size;
    }
    flat_align(flat, 2);
    size_t vtable = flat->size, vtable_size = 4 + 2 * (size_t)ids;
    flat_put(flat, vtable_size, 2);
    flat_put(flat, end, 2);
    for (unsigned id = 0; id < ids; id++) flat_put(flat, offsets[id], 2);
    flat_align(flat, 8);
    flat_point(flat, from);
    size_t table = flat->size;
    flat_put(flat, table - vtable, 4);
    for (unsigned i = 0; i < count; i++) {
        while (flat->size < table + offsets[members[i].id]) flat_put(flat, 0, 1);
        members[i].at = flat->size;
        flat_put(flat, members[i].value, members[i].size);
    }
}

void flat_vector(struct flat_out *flat, size_t from, size_t count, size_t alignment) {
    while ((flat->size + 4) % alignment) flat_put(flat, 0, 1);
    flat_align(flat, 4);
    flat_point(flat, from);
    flat_put(flat, count, 4);
}

void flat_string(struct flat_out *flat, size_t from, const char *text) {
    flat_vector(flat, from, strlen(text), 4);
    for (; *text; text++) flat_put(flat, (uint8_t)*text, 1);
    flat_put(flat, 0, 1);
}
