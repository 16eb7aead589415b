/* Answers of eu-addr2line from an address index, which opens no object. */
#ifndef CALLSIGN_CLI_EU_INDEXED_H
#define CALLSIGN_CLI_EU_INDEXED_H

#include "stand_ins/address_index/kept_index.h"
#include "stand_ins/eu_addr2line/eu_print.h"

/* The index for the object and the options, there or to be made. False: they ask for what no index holds. */
bool eu_index_open(struct kept_index *out, const struct eu *e);
/* Prints the answer to an address, whose result is 0. False, and nothing is printed: the object has to be asked. */
bool eu_index_put(struct kept_index *index, struct eu *e, uint64_t addr);

#endif
