/* Callsign: one GSYM line table by itself: encode, decode, look up one address. Part of the lookup-only library.
 * Serves: GSYM "LineTable" payload (info type 1); the same bytes in versions 1 and 2. */
#ifndef CALLSIGN_LINE_TABLE_H
#define CALLSIGN_LINE_TABLE_H

#include <callsign/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Encodes `count` rows (count >= 1; addresses ascending and not below `start`) into `out`, which has room for `cap`
 * bytes. *out_size gets the size needed, even if larger than cap; then nothing of `out` is meaningful.
 * CSN_OK, CSN_E_LIMIT (cap is too small: call again), CSN_E_ARGUMENT (rows out of order).
 * No allocation. The line window is searched for by the size it gives the first 2,048 rows. Cost: a few passes over them. */
CSN_API csn_status csn_line_table_encode(uint64_t start, const struct csn_row *rows, size_t count, uint8_t *out,
                                         size_t cap, size_t *out_size, struct csn_error *err);

/* Decodes up to `cap` rows; *out_count gets the number of rows of the table, even if larger than cap. */
CSN_API csn_status csn_line_table_decode(uint64_t start, const uint8_t *bytes, size_t size, struct csn_row *rows,
                                         size_t cap, size_t *out_count, struct csn_error *err);

/* The last row whose address is at or below `addr`, read as a stream: no allocation, stops as soon as it is known.
 * CSN_OK, CSN_NONE (the first row is after addr), CSN_E_FORMAT, CSN_E_TRUNCATED. */
CSN_API csn_status csn_line_table_lookup(uint64_t start, const uint8_t *bytes, size_t size, uint64_t addr,
                                         struct csn_row *out, struct csn_error *err);

#ifdef __cplusplus
}
#endif
#endif
