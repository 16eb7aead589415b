/* The list of indexes that `callsign convert --segment-size` writes (docs/formats/gsym.md, Segments). */
#ifndef CALLSIGN_CLI_SEGMENT_MANIFEST_H
#define CALLSIGN_CLI_SEGMENT_MANIFEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct manifest_segment {
    char *path;      /* of its index, beside the manifest */
    uint64_t start;  /* of its first function */
};

struct segment_manifest {
    struct manifest_segment *items; /* ascending by start, at least one */
    size_t count;
};

/* Whether the file has the name and the first bytes of a manifest. Its name names the segments. */
bool segment_manifest_is(const char *path);
/* False, with a message: what is wrong in which segment. */
bool segment_manifest_read(const char *path, struct segment_manifest *out);
void segment_manifest_deinit(struct segment_manifest *manifest); /* a zeroed one is fine */

#endif
