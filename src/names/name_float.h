/* Floating numbers in names, as C's "%a" writes them. */
#ifndef CSNI_NAME_FLOAT_H
#define CSNI_NAME_FLOAT_H

#include "names/name_text.h"

/* `hex`: the bytes, most significant first, two lower-case hexadecimal digits each.
 * IEEE 754: a sign, an exponent, a fraction after a one that is not stored. `normalize`: a small number as a wider type has it. */
void csni_name_put_ieee(struct csni_name_text *text, struct csn_str hex, size_t exponent_bits, bool normalize);
/* x87: a sign, 15 bits of exponent, 64 of mantissa, of which the first digit stands before the point. */
void csni_name_put_x87(struct csni_name_text *text, struct csn_str hex);

#endif
