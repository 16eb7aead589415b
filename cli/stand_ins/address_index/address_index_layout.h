/* The bytes of an address index: header, sums of the blocks of 4 KiB that follow, tables. In the machine's byte order. */
#ifndef CALLSIGN_CLI_ADDRESS_INDEX_LAYOUT_H
#define CALLSIGN_CLI_ADDRESS_INDEX_LAYOUT_H

#include <string.h>

#include "stand_ins/answers/kept_file.h"

#define ADDRESS_INDEX_MAGIC "csn-addresses-1"
enum { ADDRESS_INDEX_BLOCK = 4096, ADDRESS_INDEX_STEP = 128 /* elements of a sorted table for each key */ };

/* No file, scope or name. */
#define ADDRESS_NONE UINT32_MAX
/* Of scopes: the index does not tell, so that the object has to be read. Of files of rows: a unit has the address, and no row. */
#define ADDRESS_UNKNOWN (UINT32_MAX - 1)

/* From `addr`, counted from the base, to the next one. */
struct address_row {
    uint32_t addr;
    uint32_t line_column;    /* 20 bits of line, 12 of column; ADDRESS_NONE: `file_discriminator` is an index of the wide ones */
    uint32_t file_discriminator; /* 20 bits of file, 12 of discriminator; or ADDRESS_NONE: no unit, ADDRESS_UNKNOWN: a unit without a row */
};
struct address_wide_row { uint32_t file, line, column, discriminator; };

/* The innermost function or inlined call from `addr` to the next one. */
struct address_span {
    uint32_t addr;
    uint32_t scope;          /* or ADDRESS_NONE, ADDRESS_UNKNOWN */
};

struct address_scope {
    uint32_t name;           /* of strings */
    uint32_t parent;         /* that it was inlined in */
    uint32_t call_file;      /* of files */
    uint32_t call_line, call_column, call_discriminator;
};

struct address_symbol {
    uint32_t addr, end;      /* end UINT32_MAX: it has none */
    uint32_t name, file;     /* of strings */
};

enum address_table {
    ADDRESS_ROWS, ADDRESS_SPANS, ADDRESS_SYMBOLS, /* sorted: the key tables are in the same order */
    ADDRESS_ROW_KEYS, ADDRESS_SPAN_KEYS, ADDRESS_SYMBOL_KEYS, /* `addr` of each ADDRESS_INDEX_STEP-th element */
    ADDRESS_SCOPES, ADDRESS_WIDE_ROWS,
    ADDRESS_FILES,           /* offsets in strings */
    ADDRESS_STRINGS,         /* bytes; each string ends with a NUL */
    ADDRESS_TABLE_COUNT
};
static const uint8_t address_element_sizes[ADDRESS_TABLE_COUNT] = {
    sizeof(struct address_row), sizeof(struct address_span), sizeof(struct address_symbol), 4, 4, 4,
    sizeof(struct address_scope), sizeof(struct address_wide_row), 4, 1
};

struct address_index_header {
    char magic[16];
    struct kept_subject subject;
    uint64_t base, size;     /* addresses that the index is for */
    struct { uint64_t offset, count; } tables[ADDRESS_TABLE_COUNT]; /* offset: after the sums */
    uint64_t tables_size;
    uint64_t sum;            /* of all of the header before this field and the sums of blocks after it */
};

/* The sum of a block; `size` may be less for the last one. */
static inline uint64_t address_block_sum(const void *bytes, size_t size) {
    const unsigned char *p = bytes;
    uint64_t lanes[4] = { 0x9e3779b97f4a7c15, 0xbf58476d1ce4e5b9, 0x94d049bb133111eb, size };
    for (; size >= 32; p += 32, size -= 32)
        for (int i = 0; i < 4; i++) {
            uint64_t word;
            memcpy(&word, p + 8 * i, 8);
            lanes[i] = (lanes[i] ^ word) * UINT64_C(0x9fb21c651e98df25);
            lanes[i] ^= lanes[i] >> 29;
        }
    for (; size; p++, size--) lanes[size % 4] = (lanes[size % 4] ^ *p) * UINT64_C(0x100000001b3);
    uint64_t sum = 0;
    for (int i = 0; i < 4; i++) sum = (sum ^ lanes[i]) * UINT64_C(0xff51afd7ed558ccd), sum ^= sum >> 32;
    return sum;
}

#endif
