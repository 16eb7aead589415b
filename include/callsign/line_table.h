/* Callsign: one GSYM line table by itself: encode, decode, look up one address. Decoding and looking up are part of the
 * lookup-only library, encoding is not.
 * Serves: GSYM "LineTable" payload (info type 1); the same bytes in versions 1 and 2. */
#ifndef CALLSIGN_LINE_TABLE_H
#define CALLSIGN_LINE_TABLE_H

#include <callsign/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Encodes `count` rows into `out`, which holds `cap` bytes. There is at least one row; addresses ascend and are not
 * below `start`. *out_size receives the required size, even if it is larger than `cap`; the contents of `out` are
 * then undefined.
 * CSN_OK; CSN_E_LIMIT: `cap` is too small, call again with a larger buffer; CSN_E_ARGUMENT: the rows are out of
 * order. No allocation. The line window is the one that encodes the first 2,048 rows in the fewest bytes.
 * Cost: a few passes over the rows. */
CSN_API csn_status csn_line_table_encode(uint64_t start, const struct csn_row *rows, size_t count, uint8_t *out,
                                         size_t cap, size_t *out_size, struct csn_error *err);

/* Decodes up to `cap` rows into `rows`. *out_count receives the number of rows in the table, even if it is larger
 * than `cap`. */
CSN_API csn_status csn_line_table_decode(uint64_t start, const uint8_t *bytes, size_t size, struct csn_row *rows,
                                         size_t cap, size_t *out_count, struct csn_error *err);

/* Finds the last row whose address is not above `addr`. It reads the table as a stream, stops at the result, and
 * allocates nothing.
 * CSN_OK; CSN_NONE: the first row is above `addr`; CSN_E_FORMAT, CSN_E_TRUNCATED. */
CSN_API csn_status csn_line_table_lookup(uint64_t start, const uint8_t *bytes, size_t size, uint64_t addr,
                                         struct csn_row *out, struct csn_error *err);

#ifdef __cplusplus
}
#endif
#endif
