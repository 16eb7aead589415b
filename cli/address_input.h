/* Addresses as people and programs write them, and lines of them on standard input. */
#ifndef CALLSIGN_CLI_ADDRESS_INPUT_H
#define CALLSIGN_CLI_ADDRESS_INPUT_H

#include "out_buffer.h"

/* Hexadecimal digits, with or without 0x; blanks around them are ignored. False: not an address of 64 bits. */
bool address_parse(struct csn_str text, uint64_t *out);

/* NAME+0xOFFSET: the name of a binary in an image of many, and an offset from its start. */
bool named_address_parse(struct csn_str text, struct csn_str *out_name, uint64_t *out_offset);

enum { ADDRESS_INPUT_SIZE = 1 << 18 }; /* some 20,000 lines, which are then asked together */

struct address_input {
    int fd;
    bool at_end;
    int os_error;
    uint64_t line;      /* number of the last line given, from 1 */
    size_t start, end;  /* what of `bytes` has not been given yet */
    char bytes[ADDRESS_INPUT_SIZE];
};

enum input_result { INPUT_LINE, INPUT_END, INPUT_FAILED };

void address_input_init(struct address_input *input, int fd);

/* The next line, without its newline and a carriage return; it lives until the next call. A line longer than the buffer is
 * given as its beginning only. Flushes `out` whenever reading may have to wait, so that whoever writes one line
 * and waits for its answer gets it. INPUT_FAILED: see os_error; or `out` failed. */
enum input_result address_input_next(struct address_input *input, struct out_buffer *out, struct csn_str *line);

/* Whether the next line is there already, so that no reading may have to wait. */
bool address_input_has_line(const struct address_input *input);

#endif
