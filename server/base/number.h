/* Numbers in requests. */
#ifndef CALLSIGN_SERVER_NUMBER_H
#define CALLSIGN_SERVER_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Decimal digits (at most 20), or 0x and hexadecimal ones (at most 16), and nothing else; 64 bits. False: *out is as it was. */
bool number_read(const char *text, uint64_t *out);
/* Hexadecimal digits, with 0x before them or not. */
bool number_read_hex(const char *text, uint64_t *out);

#endif
