/* CRC-32, by libdeflate or by tables. */
#include "store/crc32.h"

#include "base/core/endian.h"
#include "base/core/file_map.h"

#ifdef CSNI_HAVE_LIBDEFLATE
#include <libdeflate.h>
#endif

enum { SLICES = 8, CHUNK = 4 << 20 };

/* table[k][b]: the CRC of byte b with k zero bytes after it. Made anew each time: 2,048 steps are nothing beside a file. */
static void make_tables(uint32_t table[SLICES][256]) {
    for (uint32_t b = 0; b < 256; b++) {
        uint32_t crc = b;
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
        table[0][b] = crc;
    }
    for (int k = 1; k < SLICES; k++)
        for (uint32_t b = 0; b < 256; b++) table[k][b] = table[k - 1][b] >> 8 ^ table[0][table[k - 1][b] & 0xff];
}

uint32_t csni_crc32_portable(uint32_t crc, struct csni_span bytes) {
    uint32_t table[SLICES][256];
    make_tables(table);
    const uint8_t *p = bytes.ptr;
    size_t left = bytes.size;
    crc = ~crc;
    for (; left >= SLICES; left -= SLICES, p += SLICES) {
        uint32_t low = crc ^ csni_get32(p, false), high = csni_get32(p + 4, false);
        crc = table[7][low & 0xff] ^ table[6][low >> 8 & 0xff] ^ table[5][low >> 16 & 0xff] ^ table[4][low >> 24] ^
              table[3][high & 0xff] ^ table[2][high >> 8 & 0xff] ^ table[1][high >> 16 & 0xff] ^ table[0][high >> 24];
    }
    for (; left; left--) crc = crc >> 8 ^ table[0][(crc ^ *p++) & 0xff];
    return ~crc;
}

uint32_t csni_crc32(uint32_t crc, struct csni_span bytes) {
#ifdef CSNI_HAVE_LIBDEFLATE
    return bytes.size ? libdeflate_crc32(crc, bytes.ptr, bytes.size) : crc;
#else
    return csni_crc32_portable(crc, bytes);
#endif
}

uint32_t csni_crc32_mapped(struct csni_span bytes) {
    uint32_t crc = 0;
    struct csni_span part;
    for (size_t off = 0; off < bytes.size; off += CHUNK) {
        size_t size = bytes.size - off < CHUNK ? bytes.size - off : CHUNK;
        if (!csni_span_sub(bytes, off, size, &part)) break;
        crc = csni_crc32(crc, part);
        csni_file_map_forget(part.ptr, part.size);
    }
    return crc;
}
