/* Addresses where answers may change, while an address index is made. */
#ifndef CALLSIGN_CLI_ADDRESS_BOUNDS_H
#define CALLSIGN_CLI_ADDRESS_BOUNDS_H

#include <stddef.h>
#include <stdint.h>

/* Sorts addresses and leaves each once; returns how many are left. */
size_t sort_addresses(uint64_t *addrs, size_t count);

#endif
