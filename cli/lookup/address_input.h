/* Addresses as people and programs write them, and lines of them on standard input. */
#ifndef CALLSIGN_CLI_ADDRESS_INPUT_H
#define CALLSIGN_CLI_ADDRESS_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <callsign/base.h>

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
    size_t kept;        /* of it: the beginning of a line too long for the buffer; 0: there is none */
    char bytes[ADDRESS_INPUT_SIZE];
};

enum input_result { INPUT_LINE, INPUT_END, INPUT_PAUSED, INPUT_FAILED };

void address_input_init(struct address_input *input, int fd);

/* The next line, without its newline and a carriage return; it lives until the next call. A line longer than the buffer is
 * given as its beginning only. INPUT_PAUSED, only unless `may_wait`: reading would have to wait, so that answers should be
 * flushed first: whoever writes one line and waits for its answer gets it. INPUT_FAILED: see os_error. */
enum input_result address_input_next(struct address_input *input, bool may_wait, struct csn_str *line);

#endif
