/* Making an address index: parts, each filled by one thread, are put together by address. */
#ifndef CALLSIGN_CLI_ADDRESS_INDEX_WRITE_H
#define CALLSIGN_CLI_ADDRESS_INDEX_WRITE_H

#include <stdbool.h>

#include "stand_ins/address_index/address_index.h"
#include "stand_ins/address_index/address_part.h"

struct address_content {
    struct kept_subject subject;
    uint64_t base, size;
    const struct address_part *const *parts;
    size_t part_count;
    struct address_texts *texts;
    struct { struct address_symbol *items; size_t count, capacity; } symbols; /* ascending */
};
/* Writes the index to a path, or where that cannot be done (`path` NULL) into memory, and opens it. NULL: it is too large. */
struct address_index *address_index_make(const struct address_content *content, const char *path);

#endif
