/* What a stand-in answers at every address of an object: rows, functions and inlined calls, symbols. Made once from all
 * units, kept in the cache folder and read in place, so that runs share it and open no object.
 *
 * Each block of the file is compared with its sum when it is first read. A file that is damaged answers nothing. */
#ifndef CALLSIGN_CLI_ADDRESS_INDEX_H
#define CALLSIGN_CLI_ADDRESS_INDEX_H

#include "stand_ins/address_index/address_index_layout.h"

struct address_index;

/* The index at a path, if it is about the object as it is now; else NULL. */
struct address_index *address_index_open(const char *path, const struct file_identity *object);
/* One in memory, which it frees. NULL: it is damaged. */
struct address_index *address_index_adopt(char *bytes, size_t size);
void address_index_close(struct address_index *index); /* `index` may be NULL */
/* Whether a block was not as it was written. */
bool address_index_is_damaged(const struct address_index *index);

struct address_place {
    uint32_t scope;          /* the innermost; ADDRESS_NONE: none */
    const char *file;        /* NULL: no row */
    uint32_t line, column, discriminator;
    uint64_t row_addr;       /* of the row */
    bool has_unit;           /* a unit has the address; only where it was made so */
};
/* False: the index does not tell. Strings live as long as the index, here and below. */
bool address_index_find(struct address_index *index, uint64_t addr, struct address_place *out);

struct address_call {
    const char *name;        /* of the function; NULL: none */
    const char *file;        /* of the call */
    uint32_t line, column, discriminator;
    uint32_t parent;         /* scope; ADDRESS_NONE: it was not inlined */
};
bool address_index_scope(struct address_index *index, uint32_t scope, struct address_call *out);

/* The symbol at an address that is in the index; out->name NULL: none. */
struct address_name { const char *name, *file; };
bool address_index_symbol(struct address_index *index, uint64_t addr, struct address_name *out);

/* The symbol at or before an address, whatever its end; out->name NULL: none. */
struct address_nearest { uint64_t addr, end; const char *name, *file; };
bool address_index_nearest(struct address_index *index, uint64_t addr, struct address_nearest *out);

uint32_t address_index_scope_count(const struct address_index *index);
uint64_t address_index_base(const struct address_index *index);

/* How many of some elements, whose first field is an address of 32 bits, are at or below one. */
size_t address_count_not_above(const void *elements, size_t stride, size_t count, uint32_t addr);

#endif
