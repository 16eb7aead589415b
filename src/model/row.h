/* A line row as the model keeps it and encoders take it. */
#ifndef CSNI_ROW_H
#define CSNI_ROW_H

#include <stdint.h>

/* It holds up to the next row's address. */
struct csni_row {
    uint32_t off;  /* from the function's start */
    uint32_t file; /* file number of the batch, 0: none */
    uint32_t line;
};

#endif
