#include "mutate_part.h"

#include <stdlib.h>
#include <string.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

enum { PLAIN_OF = 8 /* one of so many mutations knows nothing of the format */, GROWTH = 256 };

uint32_t fuzz_random(struct fuzz_input *in, uint32_t count) {
    in->random = in->random * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)in->random * count >> 32);
}

uint64_t fuzz_number(const uint8_t *at, unsigned width, bool big_endian) {
    uint64_t value = 0;
    for (unsigned i = 0; i < width; i++) value |= (uint64_t)at[big_endian ? width - 1 - i : i] << 8 * i;
    return value;
}

void fuzz_set_number(uint8_t *at, unsigned width, bool big_endian, uint64_t value) {
    for (unsigned i = 0; i < width; i++) at[big_endian ? width - 1 - i : i] = (uint8_t)(value >> 8 * i);
}

void fuzz_move_offset(uint8_t *field, unsigned width, bool big_endian, uint64_t end, ptrdiff_t delta) {
    uint64_t value = fuzz_number(field, width, big_endian);
    if (value >= end) fuzz_set_number(field, width, big_endian, value + (uint64_t)delta);
}

static void mutate_plain(struct fuzz_input *in) { in->size = LLVMFuzzerMutate(in->data, in->size, in->capacity); }

/* Puts `copy` in the place of [at, at + size), zeros behind it up to a multiple of `align` more or less than there were. */
static ptrdiff_t splice(struct fuzz_input *in, size_t at, size_t size, const uint8_t *copy, size_t copied, size_t align) {
    size_t room = copied;
    while ((room > size ? room - size : size - room) % align) room++;
    if (in->size - size + room > in->capacity) return 0;
    memmove(in->data + at + room, in->data + at + size, in->size - at - size);
    memcpy(in->data + at, copy, copied);
    memset(in->data + at + copied, 0, room - copied);
    in->size = in->size - size + room;
    return (ptrdiff_t)room - (ptrdiff_t)size;
}

static ptrdiff_t mutate(struct fuzz_input *in, size_t at, size_t size, bool may_resize, size_t align,
                        void (*mutator)(struct fuzz_input *)) {
    struct fuzz_input part = { .size = size, .capacity = size + (may_resize ? GROWTH : 0), .random = in->random };
    if (!part.capacity || !(part.data = calloc(1, part.capacity))) return 0;
    memcpy(part.data, in->data + at, size);
    mutator(&part);
    in->random = part.random;
    ptrdiff_t delta = splice(in, at, size, part.data, may_resize ? part.size : size, align);
    free(part.data);
    return delta;
}

ptrdiff_t fuzz_mutate_part(struct fuzz_input *in, size_t at, size_t size, bool may_resize, size_t align) {
    return mutate(in, at, size, may_resize, align, mutate_plain);
}

ptrdiff_t fuzz_mutate_file(struct fuzz_input *in, size_t at, size_t size, bool may_resize) {
    return mutate(in, at, size, may_resize, 1, fuzz_mutate_any);
}

void fuzz_mutate_any(struct fuzz_input *in) {
    if (!fuzz_mutate_elf(in) && !fuzz_mutate_gsym(in)) mutate_plain(in);
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed) {
    struct fuzz_input in = { .data = data, .size = size, .capacity = max_size, .random = seed };
    if (fuzz_random(&in, PLAIN_OF)) fuzz_mutate_container(&in);
    else mutate_plain(&in);
    return in.size;
}
