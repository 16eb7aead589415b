/* Checkpoints: where a lookup may begin within an index, for every so many bytes of code.
 *
 * Line tables and inline trees are read from their beginning, and nothing tells how long a node is, so that a lookup in a long
 * function would pass thousands of them. An entry holds, for one address: the function, the state of the line table there, the
 * call that encloses all code up to the next entry, and which of the calls within that one may cover any of it.
 *
 * They are as foreign as the rest of a file. Where they lie is checked when it is opened, in constant time; the function is held
 * against the address table, and enclosing calls against their ranges; what does not fit is looked up without. A damaged line or
 * window gives a wrong line or a call too few, as a damaged record does; gsym_checkpoint_verify.c finds it. */
#ifndef CSNI_GSYM_CHECKPOINT_H
#define CSNI_GSYM_CHECKPOINT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/core/endian.h"
#include "formats/gsym/gsym_checkpoint_layout.h"

struct csni_gsym;

/* A field: within 64 bits from a byte on. */
struct csni_bit_field {
    uint8_t byte, shift;
    uint32_t mask;
};

struct csni_gsym_checkpoints {
    const uint8_t *places;    /* of the entries; NULL: revision 1 */
    const uint8_t *entries;   /* NULL: there are none */
    const uint8_t *calls;
    uint64_t first;           /* address of entry 0 */
    uint32_t count, call_count;
    uint32_t function_mask, record_mask; /* of a place, the function first */
    uint8_t shift, place_bytes, record_shift, entry_bytes, call_bytes;
    struct csni_bit_field fields[CSNI_CP_FIELDS], call_fields[CSNI_CP_CALL_FIELDS];
};

/* The head of a file's checkpoints, of which nothing but the magic number is known; NULL: it has none. Once the tables, the address
 * sample and the accelerator are known. */
const uint8_t *csni_gsym_checkpoint_head(const struct csni_gsym *gsym);
/* Those that can be used, into gsym->checkpoints. */
void csni_gsym_find_checkpoints(struct csni_gsym *gsym);

/* The table, and its bytes. */
static inline const uint8_t *csni_checkpoint_table(const struct csni_gsym_checkpoints *c) {
    return c->places ? c->places : c->entries;
}
static inline uint64_t csni_checkpoint_bytes(const struct csni_gsym_checkpoints *c) {
    uint64_t used = (uint64_t)c->count * (c->place_bytes + c->entry_bytes) + (uint64_t)c->call_count * c->call_bytes +
                    CSNI_CP_OVERREAD;
    return c->entries ? (used + 3) / 4 * 4 : 0;
}

static inline uint32_t csni_checkpoint_get(const uint8_t *p, const struct csni_bit_field *field) {
    return (uint32_t)(csni_get64(p + field->byte, false) >> field->shift) & field->mask;
}

/* The number of the entry of the code that `addr` lies in. False: there is none. */
static inline bool csni_checkpoint_number(const struct csni_gsym_checkpoints *c, uint64_t addr, size_t *out) {
    uint64_t number = (addr - c->first) >> c->shift;
    *out = (size_t)number;
    return addr >= c->first && number < c->count;
}

/* number < count */
static inline const uint8_t *csni_checkpoint_entry(const struct csni_gsym_checkpoints *c, size_t number) {
    return c->entries + number * c->entry_bytes;
}

/* The last function that starts at or below the entry's address, and the offset of its record; 0: none is known. */
struct csni_checkpoint_place {
    uint32_t function;
    uint64_t record;
};
/* number < count */
static inline struct csni_checkpoint_place csni_checkpoint_place(const struct csni_gsym_checkpoints *c, size_t number) {
    if (!c->places) {
        const uint8_t *entry = csni_checkpoint_entry(c, number);
        return (struct csni_checkpoint_place){ csni_checkpoint_get(entry, &c->fields[CSNI_CP_FUNCTION]),
                                               (uint64_t)csni_checkpoint_get(entry, &c->fields[CSNI_CP_RECORD]) * 4 };
    }
    uint64_t place = csni_get64(c->places + number * c->place_bytes, false);
    return (struct csni_checkpoint_place){ (uint32_t)place & c->function_mask,
                                           (place >> c->record_shift & c->record_mask) * 4 };
}

/* Where the calls begin that an entry leaves to search, from the start of the tree, which is `tree` bytes after that
 * of the record. */
static inline uint32_t csni_checkpoint_tree_at(const struct csni_gsym_checkpoints *c, const uint8_t *entry, size_t tree) {
    uint32_t at = csni_checkpoint_get(entry, &c->fields[CSNI_CP_TREE_AT]);
    return c->places && at > CSNI_CP_TREE_EMPTY ? at - (uint32_t)tree : at;
}

/* Of a field of a place that has so many bits. */
static inline unsigned csni_checkpoint_place_bytes(unsigned bits) { return bits ? (bits + 7) / 8 : 1; }

/* Its address. */
static inline uint64_t csni_checkpoint_address(const struct csni_gsym_checkpoints *c, uint64_t addr) {
    return addr - ((addr - c->first) & (((uint64_t)1 << c->shift) - 1));
}

/* The calls that enclose the code of an entry, as offsets in the tree, outermost first. False: too many, or damaged. */
struct csni_checkpoint_calls {
    uint32_t at[CSNI_CP_DEPTH_MAX];
    unsigned count;
};
bool csni_checkpoint_calls(const struct csni_gsym_checkpoints *c, const uint8_t *entry, struct csni_checkpoint_calls *out);

#endif
