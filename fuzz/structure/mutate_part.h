/* Mutation that knows the format: a mutator finds the parts of an input, changes one of them, and puts right the
 * fields that say where the others lie, so that what is behind the first check is reached, too. Only with libFuzzer. */
#ifndef FUZZ_MUTATE_PART_H
#define FUZZ_MUTATE_PART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An input that grows and shrinks in place. */
struct fuzz_input {
    uint8_t *data;
    size_t size, capacity;
    uint32_t random;     /* state of fuzz_random() */
};

/* A number below `count`, which is not 0. */
uint32_t fuzz_random(struct fuzz_input *in, uint32_t count);

/* Numbers of 1 to 8 bytes within the input. */
uint64_t fuzz_number(const uint8_t *at, unsigned width, bool big_endian);
void fuzz_set_number(uint8_t *at, unsigned width, bool big_endian, uint64_t value);

/* Changes [at, at + size) with libFuzzer's own mutations. Without `may_resize` it keeps its size; otherwise what follows moves by a
 * multiple of `align`, which is returned. */
ptrdiff_t fuzz_mutate_part(struct fuzz_input *in, size_t at, size_t size, bool may_resize, size_t align);
/* The same with the mutator of the format that the part begins with. */
ptrdiff_t fuzz_mutate_file(struct fuzz_input *in, size_t at, size_t size, bool may_resize);

/* Adds `delta` to a field that holds an offset at or behind `end`. */
void fuzz_move_offset(uint8_t *field, unsigned width, bool big_endian, uint64_t end, ptrdiff_t delta);

/* Each changes a file of its format. False: it is none, or has nothing to change; nothing happened. */
bool fuzz_mutate_elf(struct fuzz_input *in);
bool fuzz_mutate_gsym(struct fuzz_input *in);
/* A file of any format: one of the above, or libFuzzer's own mutations. */
void fuzz_mutate_any(struct fuzz_input *in);

/* The mutator of a target, which knows the container that its input is; fuzz_mutate_any() where the target's input is a file. */
void fuzz_mutate_container(struct fuzz_input *in);

#endif
