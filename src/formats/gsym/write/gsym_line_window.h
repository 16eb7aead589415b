/* Choosing the window of line deltas for which special opcodes of a line table are good, and encoding with it. Private
 * to gsym_line_encode*.c and gsym_line_window.c. */
#ifndef CSNI_GSYM_LINE_WINDOW_H
#define CSNI_GSYM_LINE_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "base/core/byte_blocks.h"
#include "formats/gsym/gsym_layout.h"
#include "model/row.h"

enum {
    CSNI_SPECIAL_MAX = 255 - CSNI_GSYM_LINE_FIRST_SPECIAL, /* largest operand of a special opcode */
    CSNI_SAMPLE_MAX = 2048, /* rows that are looked at; the rest of a longer table is much the same */
    CSNI_SAMPLE_LANES = 16  /* rows of one step of vector code */
};

/* Line deltas [min, min + width). */
struct csni_line_window {
    int64_t min;
    uint32_t width; /* 1..CSNI_SPECIAL_MAX + 1 */
};

/* Rows as the search for a window sees them: 16-bit lanes. Most tables are short, so the last step is filled up with
 * rows that are never special, instead of being done row by row. */
struct csni_line_sample {
    uint32_t count, padded;
    uint16_t pc[CSNI_SAMPLE_MAX];    /* address delta; what is too large to be special is cut */
    uint16_t line[CSNI_SAMPLE_MAX];  /* line delta, two's complement; likewise */
    uint16_t saved[CSNI_SAMPLE_MAX]; /* bytes that the row saves where it is special */
    uint32_t total;                  /* bytes of all rows if none is special */
};

/* The row after one whose address and line are less by these. */
static inline void csni_sample_row(struct csni_line_sample *s, uint32_t i, uint64_t pc, int64_t line) {
    s->pc[i] = pc <= CSNI_SPECIAL_MAX ? (uint16_t)pc : CSNI_SPECIAL_MAX + 1;
    s->line[i] = (uint16_t)(line > INT16_MAX ? INT16_MAX : line < INT16_MIN ? INT16_MIN : line);
}

/* The window for the sample, of which count (at least 2), pc and line are there. */
struct csni_line_window csni_best_line_window(struct csni_line_sample *s);

/* Windows that the search looks at around one, by how min and width differ, and the one itself. */
enum csni_nearby_window { CSNI_WIDER, CSNI_NARROWER, CSNI_LOWER, CSNI_HIGHER, CSNI_SAME, CSNI_NEARBY };

/* The bytes of each row, as a little-endian number, but for a change of file: a special opcode, with an ADVANCE_LINE of two
 * or three bytes before it. Their number is 0 where a row needs something else. */
struct csni_row_plans {
    uint32_t bytes[CSNI_SAMPLE_MAX], sizes[CSNI_SAMPLE_MAX];
};

#if CSNI_BYTE_BLOCKS
/* With AVX2, where csni_has_byte_blocks(). False: lines are so high that 32 bits do not hold their differences. */
bool csni_sample_rows_avx2(struct csni_line_sample *s, const struct csni_row *rows);
void csni_weigh_sample_avx2(struct csni_line_sample *s);
void csni_window_savings_avx2(const struct csni_line_sample *s, struct csni_line_window w, uint32_t saved[CSNI_NEARBY]);
/* Of a sample that csni_best_line_window() has seen. */
void csni_plan_rows_avx2(const struct csni_line_sample *s, struct csni_line_window w, struct csni_row_plans *plans);
#else
static inline bool csni_sample_rows_avx2(struct csni_line_sample *s, const struct csni_row *rows) {
    (void)s, (void)rows;
    return false;
}
static inline void csni_weigh_sample_avx2(struct csni_line_sample *s) { (void)s; }
static inline void csni_window_savings_avx2(const struct csni_line_sample *s, struct csni_line_window w,
                                            uint32_t saved[CSNI_NEARBY]) {
    (void)s, (void)w, (void)saved;
}
static inline void csni_plan_rows_avx2(const struct csni_line_sample *s, struct csni_line_window w,
                                       struct csni_row_plans *plans) {
    (void)s, (void)w, (void)plans;
}
#endif

#endif
