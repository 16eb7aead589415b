/* SHA-256 (FIPS 180-4), for code signatures. */
#ifndef CSNI_SHA256_H
#define CSNI_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { CSNI_SHA256_SIZE = 32, CSNI_SHA256_BLOCK = 64 };

struct csni_sha256 {
    uint32_t state[8];
    uint64_t size;                     /* bytes so far */
    uint8_t block[CSNI_SHA256_BLOCK];  /* those that make no whole block yet */
};

void csni_sha256_init(struct csni_sha256 *hash);
void csni_sha256_add(struct csni_sha256 *hash, const void *bytes, size_t size);
void csni_sha256_finish(struct csni_sha256 *hash, uint8_t out[CSNI_SHA256_SIZE]);

#endif
