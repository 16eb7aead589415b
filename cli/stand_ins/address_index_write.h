/* Making an address index: parts, each filled by one thread, are put together by address. */
#ifndef CALLSIGN_CLI_ADDRESS_INDEX_WRITE_H
#define CALLSIGN_CLI_ADDRESS_INDEX_WRITE_H

#include <stdbool.h>

#include "stand_ins/address_index.h"
#include "stand_ins/address_texts.h"

/* A range of addresses that a part is about. Ranges of all parts together are apart from each other. */
struct address_chunk {
    uint32_t low;
    size_t first_row, row_count, first_span, span_count; /* of the part; each list begins at `low` */
};

struct address_part {
    struct { struct address_row *items; size_t count, capacity; } rows;   /* within a chunk ascending */
    struct { struct address_span *items; size_t count, capacity; } spans; /* the same */
    struct { struct address_wide_row *items; size_t count, capacity; } wide_rows;
    struct { struct address_scope *items; size_t count, capacity; } scopes;
    struct { struct address_chunk *items; size_t count, capacity; } chunks;
};
void address_part_deinit(struct address_part *part);

/* A chunk begins; rows and spans that follow are in it. */
void address_part_begin(struct address_part *part, uint32_t low);
/* From `addr` on. `place->scope` does not count, and its file is an index of the texts. A row like the one before is left out. */
void address_part_add_row(struct address_part *part, uint32_t addr, const struct address_wide_row *row);
void address_part_add_span(struct address_part *part, uint32_t addr, uint32_t scope);
/* Nothing is known from `addr` on. */
void address_part_end(struct address_part *part, uint32_t addr);

struct address_content {
    struct kept_subject subject;
    uint64_t base, size;
    struct address_part *parts;
    size_t part_count;
    struct address_texts *texts;
    struct { struct address_symbol *items; size_t count, capacity; } symbols; /* ascending */
};
/* Writes the index to a path, or where that cannot be done (`path` NULL) into memory, and opens it. NULL: it is too large. */
struct address_index *address_index_make(const struct address_content *content, const char *path);

#endif
