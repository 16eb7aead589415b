/* Where the bytes of an ELF file are loaded: its program headers. */
#ifndef CALLSIGN_CLI_IMAGE_SEGMENTS_H
#define CALLSIGN_CLI_IMAGE_SEGMENTS_H

#include <stdbool.h>
#include <stdint.h>

enum { SEGMENTS_MAX = 32 };

struct image_segment {
    uint64_t file_offset, addr, file_size;
    bool executable;
};
struct image_segments {
    struct image_segment items[SEGMENTS_MAX];
    unsigned count;
};

/* False: no ELF file that can be read. */
bool image_segments_read(const char *path, struct image_segments *out);
/* False: no segment has this byte. */
bool image_segments_addr(const struct image_segments *segments, uint64_t file_offset, uint64_t *out);
/* The address of the first byte of an executable mapping of `size` bytes of the file: mappings are of whole pages, so that the
 * byte may belong to the segment before. */
bool image_segments_code_addr(const struct image_segments *segments, uint64_t file_offset, uint64_t size, uint64_t *out);

#endif
