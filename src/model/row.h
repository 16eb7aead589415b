/* A line row as the model keeps it and encoders take it. */
#ifndef CSNI_ROW_H
#define CSNI_ROW_H

#include <stdint.h>

/* It holds up to the next row's address. */
struct csni_row {
    uint32_t off;  /* from the function's start */
    uint32_t file; /* file number of the batch, 0: none; before csni_model_link() with a count above it, see below */
    uint32_t line;
};

/* Of several rows at one offset a lookup answers with the last, but how many there were decides which of two functions at
 * one address is the better known. So a source may leave the others out where it counts them: 8 bits above the file. */
enum { CSNI_ROW_FILE_BITS = 24, CSNI_ROW_SUPERSEDED_MAX = 255 };

static inline uint32_t csni_row_file(struct csni_row row) { return row.file & ((1u << CSNI_ROW_FILE_BITS) - 1); }
static inline uint32_t csni_row_superseded(struct csni_row row) { return row.file >> CSNI_ROW_FILE_BITS; }

#endif
