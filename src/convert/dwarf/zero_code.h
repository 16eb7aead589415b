/* Code at address 0: of programs for machines without an operating system. Linkers leave 0 in place of the address of a function
 * that they removed, too. Symbols tell the two apart. */
#ifndef CSNI_ZERO_CODE_H
#define CSNI_ZERO_CODE_H

#include "base/core/span.h"

struct csni_conversion;

struct csni_zero_symbol {
    struct csn_str name;
    uint64_t size;       /* 0: not known */
};
enum { CSNI_ZERO_SYMBOLS_MAX = 16 };

struct csni_zero_code {
    bool is_shared;      /* code begins at 0, and so may what was removed; else nothing of the following counts */
    uint32_t count;      /* 0: what is at 0 is no code */
    struct csni_zero_symbol symbols[CSNI_ZERO_SYMBOLS_MAX]; /* of code at 0; one without a name of code that no function or label begins */
};

/* Fills c->zero. Before sources are read, and after the debug file was found. */
csn_status csni_zero_code_find(struct csni_conversion *c, struct csn_error *err);
/* Whether a function of that name (empty: none) and size is the code at 0. */
bool csni_zero_code_has(const struct csni_zero_code *zero, struct csn_str name, uint64_t size);

#endif
