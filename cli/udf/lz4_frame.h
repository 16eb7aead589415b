/* LZ4 frames, in which ClickHouse compresses Arrow by default. */
#ifndef CALLSIGN_CLI_LZ4_FRAME_H
#define CALLSIGN_CLI_LZ4_FRAME_H

#include <stdbool.h>
#include <stddef.h>

#include <callsign/base.h>

/* Bytes that one byte of a frame gives at most: one more of a length. */
enum { LZ4_MAX_RATIO = 255 };

/* Fills `out` with exactly `size` bytes. False: the frame is damaged, or of another size. Checksums are not compared. */
bool lz4_frame_decode(struct csn_str frame, char *out, size_t size);

#endif
