/* A part of an address index while it is made: what some units answer. It answers itself, too. */
#ifndef CALLSIGN_CLI_ADDRESS_PART_H
#define CALLSIGN_CLI_ADDRESS_PART_H

#include "stand_ins/address_index/address_index.h"
#include "stand_ins/address_index/address_texts.h"

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
    bool keeps_rows;         /* each is kept, though like the one before: where it begins counts */
};
void address_part_deinit(struct address_part *part);

/* A chunk begins; rows and spans that follow are in it. */
void address_part_begin(struct address_part *part, uint32_t low);
/* From `addr` on. `place->scope` does not count, and its file is an index of the texts. A row like the one before is
 * left out, but for keeps_rows. */
void address_part_add_row(struct address_part *part, uint32_t addr, const struct address_wide_row *row);
void address_part_add_span(struct address_part *part, uint32_t addr, uint32_t scope);
/* Nothing is known from `addr` on. */
void address_part_end(struct address_part *part, uint32_t addr);

/* What a chunk answers at an address within it. Strings count until more are added. False: it does not tell. */
bool address_part_find(const struct address_part *part, const struct address_texts *texts, uint32_t chunk, uint32_t addr,
                       struct address_place *out);
void address_part_scope(const struct address_part *part, const struct address_texts *texts, uint32_t scope,
                        struct address_call *out);

#endif
