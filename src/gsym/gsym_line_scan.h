/* Scanning a line table for the row of an address: the state between rows, and the vectorized scan. Private to
 * gsym_line.c and the scans. */
#ifndef CSNI_GSYM_LINE_SCAN_H
#define CSNI_GSYM_LINE_SCAN_H

#include <stdbool.h>
#include <stdint.h>

/* The state behind a row, or before the first. `p` is the first opcode that has not been read. */
struct csni_line_scan {
    const uint8_t *p, *end;   /* end of the table */
    const uint8_t *readable;  /* end of the bytes that may be read: at or behind `end` */
    const uint8_t *file_at;   /* operand of the last SET_FILE; NULL before the first */
    uint64_t addr, range;
    uint32_t min, line;
    uint32_t reciprocal;      /* delta * reciprocal >> 16 is delta / range for every delta of a special opcode */
    bool any;                 /* a row has been read */
};

/* CSNI_PORTABLE: the plain loops alone, to test and measure them. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(CSNI_PORTABLE)
#define CSNI_LINE_SCAN_AVX2 1
/* Moves over rows at or below `addr`. True: those were all; false: the opcodes at scan->p up to the next row are for the
 * caller. Only where csni_line_scan_has_avx2(). */
bool csni_line_scan_avx2(struct csni_line_scan *scan, uint64_t addr);
static inline bool csni_line_scan_has_avx2(void) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("pclmul");
}
#else
#define CSNI_LINE_SCAN_AVX2 0
static inline bool csni_line_scan_avx2(struct csni_line_scan *scan, uint64_t addr) {
    (void)scan;
    (void)addr;
    return false;
}
static inline bool csni_line_scan_has_avx2(void) { return false; }
#endif

#endif
