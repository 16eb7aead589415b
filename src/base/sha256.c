/* SHA-256 (FIPS 180-4). */
#include "base/sha256.h"

#include <string.h>

#include "base/core/endian.h"

static const uint32_t K[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static inline uint32_t rotate(uint32_t v, unsigned bits) { return v >> bits | v << (32 - bits); }

static void extend(const uint8_t *block, uint32_t w[64]) {
    for (unsigned t = 0; t < 16; t++) w[t] = csni_get32(block + 4 * t, true);
    for (unsigned t = 16; t < 64; t++) {
        uint32_t s0 = rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^ w[t - 15] >> 3;
        uint32_t s1 = rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^ w[t - 2] >> 10;
        w[t] = w[t - 16] + s0 + w[t - 7] + s1;
    }
}

static void add_block(struct csni_sha256 *hash, const uint8_t *block) {
    uint32_t w[64], v[8]; /* v: a to h */
    extend(block, w);
    memcpy(v, hash->state, sizeof v);
    for (unsigned t = 0; t < 64; t++) {
        uint32_t s1 = rotate(v[4], 6) ^ rotate(v[4], 11) ^ rotate(v[4], 25), ch = (v[4] & v[5]) ^ (~v[4] & v[6]);
        uint32_t t1 = v[7] + s1 + ch + K[t] + w[t];
        uint32_t s0 = rotate(v[0], 2) ^ rotate(v[0], 13) ^ rotate(v[0], 22), maj = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += t1;
        v[0] = t1 + s0 + maj;
    }
    for (unsigned k = 0; k < 8; k++) hash->state[k] += v[k];
}

void csni_sha256_init(struct csni_sha256 *hash) {
    *hash = (struct csni_sha256){ .state = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab,
                                             0x5be0cd19 } };
}

void csni_sha256_add(struct csni_sha256 *hash, const void *bytes, size_t size) {
    const uint8_t *p = bytes;
    size_t used = (size_t)(hash->size % CSNI_SHA256_BLOCK);
    hash->size += size;
    if (used) {
        size_t some = CSNI_SHA256_BLOCK - used < size ? CSNI_SHA256_BLOCK - used : size;
        memcpy(hash->block + used, p, some);
        p += some;
        size -= some;
        if (used + some < CSNI_SHA256_BLOCK) return;
        add_block(hash, hash->block);
    }
    for (; size >= CSNI_SHA256_BLOCK; p += CSNI_SHA256_BLOCK, size -= CSNI_SHA256_BLOCK) add_block(hash, p);
    if (size) memcpy(hash->block, p, size);
}

void csni_sha256_finish(struct csni_sha256 *hash, uint8_t out[CSNI_SHA256_SIZE]) {
    static const uint8_t padding[CSNI_SHA256_BLOCK] = { 0x80 };
    uint8_t length[8];
    csni_put64(length, hash->size * 8, true);
    size_t used = (size_t)(hash->size % CSNI_SHA256_BLOCK);
    csni_sha256_add(hash, padding, (used < 56 ? 56 : 120) - used);
    csni_sha256_add(hash, length, sizeof length);
    for (unsigned k = 0; k < 8; k++) csni_put32(out + 4 * k, hash->state[k], true);
}
