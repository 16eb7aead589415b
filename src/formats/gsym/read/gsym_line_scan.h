/* Scanning a line table for the row of an address: the state between rows, which can go on to a later row, and the
 * vectorized scan. */
#ifndef CSNI_GSYM_LINE_SCAN_H
#define CSNI_GSYM_LINE_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "base/core/byte_blocks.h"
#include "formats/gsym/read/gsym.h"

/* The state after a row, or before the first. `p` is the first opcode that has not been read. */
struct csni_line_scan {
    const uint8_t *p, *end;   /* end of the table */
    const uint8_t *readable;  /* end of the bytes that may be read: at or after `end` */
    const uint8_t *file_at;   /* operand of the last SET_FILE; NULL before the first */
    uint64_t addr, range;
    uint32_t min, line;
    uint32_t file;            /* before the first SET_FILE */
    uint32_t reciprocal;      /* delta * reciprocal >> 16 is delta / range for every delta of a special opcode */
    bool any;                 /* a row has been read */
};

/* The state before the first row. */
csn_status csni_line_scan_start(struct csni_line_scan *scan, const struct csni_gsym_lines *lines, struct csn_error *err);
/* Goes on to the last row at or below `addr`, which is not below that of the call before; answers as csni_gsym_line_find(). */
csn_status csni_line_scan_to(struct csni_line_scan *scan, const struct csni_gsym_lines *lines, uint64_t addr,
                             struct csn_row *out, struct csn_error *err);
/* The same row by row: faster where few rows are passed. */
csn_status csni_line_scan_near(struct csni_line_scan *scan, const struct csni_gsym_lines *lines, uint64_t addr,
                               struct csn_row *out, struct csn_error *err);

/* From before the first row to `place`, if it is within the table. */
static inline void csni_line_scan_move(struct csni_line_scan *scan, const struct csni_gsym_lines *lines,
                                       const struct csni_gsym_line_place *place) {
    if (!place->at || place->at >= lines->bytes.size) return;
    scan->p = lines->bytes.ptr + place->at;
    scan->addr = place->row.addr;
    scan->line = place->row.line;
    scan->file = place->row.file;
    scan->any = true;
}

#if CSNI_BYTE_BLOCKS
/* Moves over rows at or below `addr`. True: those were all; false: the opcodes at scan->p up to the next row are for the
 * caller. Only where csni_has_byte_blocks(). */
bool csni_line_scan_avx2(struct csni_line_scan *scan, uint64_t addr);
#else
static inline bool csni_line_scan_avx2(struct csni_line_scan *scan, uint64_t addr) {
    (void)scan;
    (void)addr;
    return false;
}
#endif

#endif
