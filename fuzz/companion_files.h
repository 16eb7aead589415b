/* The input of fuzz_companions: files behind one another, each after a head of 4 bytes: what it is as a companion (enum
 * csn_companion_kind; of the first, the image itself, nothing), and its size in 3 bytes, the lowest first. */
#ifndef FUZZ_COMPANION_FILES_H
#define FUZZ_COMPANION_FILES_H

#include <stddef.h>
#include <stdint.h>

enum { COMPANION_HEAD = 4, COMPANION_SIZE_AT = 1, COMPANION_SIZE_WIDTH = 3, COMPANION_FILES_MAX = 8 };

struct companion_file {
    const uint8_t *bytes;
    size_t size;
    uint32_t kind;
};

/* How many files there are; the last one may be cut. */
static inline size_t companion_files_read(const uint8_t *data, size_t size, struct companion_file files[COMPANION_FILES_MAX]) {
    size_t count = 0;
    while (size >= COMPANION_HEAD && count < COMPANION_FILES_MAX) {
        size_t bytes = (size_t)data[1] | (size_t)data[2] << 8 | (size_t)data[3] << 16;
        if (bytes > size - COMPANION_HEAD) bytes = size - COMPANION_HEAD;
        files[count++] = (struct companion_file){ data + COMPANION_HEAD, bytes, data[0] };
        data += COMPANION_HEAD + bytes;
        size -= COMPANION_HEAD + bytes;
    }
    return count;
}

#endif
