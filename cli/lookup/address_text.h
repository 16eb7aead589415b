/* Addresses as people and programs write them. */
#ifndef CALLSIGN_CLI_ADDRESS_TEXT_H
#define CALLSIGN_CLI_ADDRESS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <callsign/base.h>

/* Hexadecimal digits, with or without 0x; blanks around them are ignored. False: not an address of 64 bits. */
bool address_parse(struct csn_str text, uint64_t *out);
static inline bool text_is_address(struct csn_str text) {
    uint64_t addr;
    return address_parse(text, &addr);
}

/* Whether Linux puts programs and libraries that are loaded anywhere at such addresses (x86-64, arm64): an image's file has none
 * there. */
bool address_looks_loaded(uint64_t addr);
#define LOADED_HINT "looks like an address of a running process: 'callsign lookup' takes those with --pid, --maps or --load-address"

/* A-B, of which A is below B. */
bool address_range_parse(struct csn_str text, uint64_t *start, uint64_t *end);
/* file:0xOFFSET. */
bool file_offset_parse(struct csn_str text, uint64_t *out);

/* What a text is that address_parse() refuses, for messages: "not a hexadecimal address", or what is wrong with a number that is
 * too large, or with a range. */
const char *address_fault(struct csn_str text);

/* NAME+0xOFFSET: the name of a binary in an image of many, and an offset from its start. */
bool named_address_parse(struct csn_str text, struct csn_str *out_name, uint64_t *out_offset);

#endif
