/* Encoding of line tables. */
#ifndef CSNI_GSYM_LINE_ENCODE_H
#define CSNI_GSYM_LINE_ENCODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/row.h"

/* Bytes that `count` rows need at most. */
size_t csni_gsym_line_bound(size_t count);

/* Encodes count >= 1 rows at `out`, which has room for csni_gsym_line_bound(count) bytes; returns the bytes written.
 * Files go through `file_numbers` where that is not NULL. */
size_t csni_gsym_encode_lines(const struct csni_row *rows, size_t count, const uint32_t *file_numbers,
                              uint8_t *out);

#endif
