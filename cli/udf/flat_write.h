/* Writing flatbuffers into memory that the caller knows to be large enough. */
#ifndef CALLSIGN_CLI_FLAT_WRITE_H
#define CALLSIGN_CLI_FLAT_WRITE_H

#include <stddef.h>
#include <stdint.h>

/* The metadata of a message is some 300 bytes for a column; a footer has 24 for each block besides. */
struct flat_out {
    uint8_t *bytes;
    size_t size;
};
struct flat_member {
    unsigned id;
    uint8_t size;      /* 1, 2, 4 or 8 bytes */
    uint64_t value;
    size_t at;         /* output: where it was written */
};

void flat_put(struct flat_out *flat, uint64_t value, size_t size);
void flat_align(struct flat_out *flat, size_t alignment);
/* The 32-bit offset at `at` points to what is written next. */
void flat_point(struct flat_out *flat, size_t at);
/* A vtable and its table, to which the offset at `from` points. Members are in the order of their ids, which are below 8. */
void flat_table(struct flat_out *flat, size_t from, struct flat_member *members, unsigned count);
/* The number of elements of a vector, which are written next; `alignment` is theirs. */
void flat_vector(struct flat_out *flat, size_t from, size_t count, size_t alignment);
void flat_string(struct flat_out *flat, size_t from, const char *text);

#endif
