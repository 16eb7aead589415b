/* Floating arguments of templates. */
#ifndef CALLSIGN_CLI_GNU_FLOATS_H
#define CALLSIGN_CLI_GNU_FLOATS_H

#include "stand_ins/base/growth.h"

/* GNU writes "0x1p+2" as the mangled name has it, the bytes of the number: "(double)[4010000000000000]". Returns what was read
 * at `at` in the text `given`; 0: no such number is there. Infinities and what is no number have words of their own, which stay. */
size_t gnu_put_float(struct grown_text *out, const char *given, const char *at);

#endif
