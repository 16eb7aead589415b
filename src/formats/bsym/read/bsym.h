/* Reading BSYM: binaries of a ROM, or of the files that are loaded beside it, each with its symbols. Looking up allocates
 * nothing; opening keeps a small table of the binaries, and, for files that are not sorted, an order of the symbols. */
#ifndef CSNI_BSYM_H
#define CSNI_BSYM_H

#include "base/core/alloc.h"
#include "base/core/counted_bytes.h"
#include "base/core/endian.h"
#include "base/core/span.h"
#include "formats/bsym/bsym_layout.h"

#include <callsign/inspect.h>

/* A binary's code or data ("code segment" in the format's words). */
struct csni_bsym_segment {
    uint32_t address;        /* 0: not executed in place, symbols have offsets */
    uint32_t first, count;   /* symbols */
    uint32_t last_address;   /* the highest of its symbols */
    uint32_t prefixes;       /* offset of its table; 0: none */
    uint32_t prefix_count;   /* how many entries there can be */
    uint32_t name;           /* offset of a string */
    uint32_t device_name;    /* version 3: the same; 0: none */
    uint32_t number;         /* its place in the file */
};

/* A page of the address space, and the segment at its start. */
struct csni_bsym_page {
    uint32_t first;          /* symbol at or after its start, counted from the first of the accelerator */
    uint32_t segment;
};

/* Starts and lengths of all symbols with an address, by page: those of one page stand together, starts first. */
struct csni_bsym_accel {
    struct csni_bsym_page *pages; /* one more than there are */
    uint16_t *data;          /* NULL: there is no accelerator */
    uint64_t memory_size;
    uint32_t base, page_count;
    uint32_t first, count;   /* symbols */
    uint32_t plain_count;    /* those that are left to the file */
};

struct csni_bsym {
    struct csni_span bytes;  /* the file */
    struct csni_span body;   /* what offsets count from: the file; version 3: what it holds, expanded */
    struct csni_span text;   /* what offsets of strings count from: the same; version 3: its string table */
    uint32_t version;        /* enum csni_bsym_version, the one that it is read as */
    uint32_t stored_version;
    bool big;
    uint32_t symbol_size;    /* of a record */
    const uint8_t *symbols;
    const uint8_t *tokens;   /* words; NULL: none */
    const uint8_t *renames;  /* records; NULL: no such section */
    uint32_t symbol_count, token_count, rename_count;
    uint32_t checksum;       /* of the ROM; 0: none */
    bool unsorted_segments, unsorted_symbols;
    struct csni_bsym_segment *segments; /* ascending by address; those of one address as in the file */
    uint32_t *starts;        /* their addresses once more: what a search looks at */
    uint32_t *owners;        /* segments by their first symbol */
    uint32_t segment_count, segment_capacity;
    uint32_t placed;         /* the first segment with an address */
    uint32_t *order;         /* symbols by address within each segment; NULL: as in the file */
    struct csni_bsym_accel accel;
    uint8_t *expanded;       /* version 3: the memory of `body` */
    size_t expanded_size;
};

bool csni_bsym_recognize(struct csni_span bytes);

/* Reads header and binaries, and looks whether symbols are in order. `b` is released by csni_bsym_close(), after success only.
 * Memory: about 40 bytes a binary; 4 a symbol if any are out of order; version 3: the expanded body. */
csn_status csni_bsym_open(struct csni_bsym *b, struct csni_span bytes, const struct csn_allocator *alloc,
                          struct csn_error *err);
void csni_bsym_close(struct csni_bsym *b, const struct csn_allocator *alloc);

/* ---- symbols ---- */

static inline uint32_t csni_bsym_word(const struct csni_bsym *b, const uint8_t *p) { return csni_get32(p, b->big); }

static inline const uint8_t *csni_bsym_symbol_record(const struct csni_bsym *b, uint32_t symbol) {
    return b->symbols + (size_t)symbol * b->symbol_size;
}

/* A symbol by its place in the order of addresses: an index into the symbol section. */
static inline uint32_t csni_bsym_in_order(const struct csni_bsym *b, uint32_t place) {
    return b->order ? b->order[place] : place;
}

/* Bit 0 of an address in Thumb code is not part of it. */
static inline uint32_t csni_bsym_symbol_address(const struct csni_bsym *b, uint32_t symbol) {
    return csni_bsym_word(b, csni_bsym_symbol_record(b, symbol)) & ~1u;
}

uint32_t csni_bsym_symbol_length(const struct csni_bsym *b, const struct csni_bsym_segment *s, uint32_t symbol);
/* The length of symbol *k of the segment, in the order of addresses, together with the symbols that continue it: a function too
 * long for one symbol stands as several. *k becomes the last of them. */
uint64_t csni_bsym_joined_length(const struct csni_bsym *b, const struct csni_bsym_segment *s, uint32_t *k);

/* The segment that a symbol belongs to; NULL: none. */
const struct csni_bsym_segment *csni_bsym_owner(const struct csni_bsym *b, uint32_t symbol);

/* ---- names ---- */

/* A name as it is stored: bytes of which those with the highest bit set may stand for tokens. */
struct csni_bsym_name {
    struct csni_span scope, name; /* "scope::name" */
    bool has_scope;
};

/* False: the string does not lie within the file; *out is then empty. */
bool csni_bsym_string(const struct csni_bsym *b, uint32_t offset, struct csni_span *out);
struct csni_bsym_name csni_bsym_segment_name(const struct csni_bsym *b, const struct csni_bsym_segment *s);
struct csni_bsym_name csni_bsym_symbol_name(const struct csni_bsym *b, uint32_t symbol);
/* Whether all of it lies within the file. */
bool csni_bsym_symbol_name_is_there(const struct csni_bsym *b, uint32_t symbol);
/* Rename `idx`: the segment's place in the file, and its name on the device. */
struct csni_bsym_name csni_bsym_rename(const struct csni_bsym *b, uint32_t idx, uint32_t *out_segment);

/* A symbol's prefix number; 0: none, or not one of the table. `s` may be NULL. */
uint32_t csni_bsym_prefix_number(const struct csni_bsym *b, const struct csni_bsym_segment *s, uint32_t symbol);

/* A name that is stored whole is a view of the file. */
static inline struct csn_str csni_bsym_view(const struct csni_bsym_name *name) {
    return (struct csn_str){ name->name.size ? (const char *)name->name.ptr : "", name->name.size };
}
bool csni_bsym_name_is_whole(const struct csni_bsym *b, const struct csni_bsym_name *name);
/* The bytes of a name from `skip` on, as far as there is room. Returns the length of the whole. Cost: its stored bytes and
 * what is written. A byte that stands for no token gives '?'. */
uint64_t csni_bsym_expand(const struct csni_bsym *b, const struct csni_bsym_name *name, uint64_t skip, char *capacity,
                          size_t size);

/* ---- looking up ---- */

struct csni_bsym_answer {
    uint32_t segment;        /* index in `segments` */
    uint32_t symbol;         /* index in the symbol section */
    uint32_t start, size;    /* of the symbol; of several that are one function in pieces, all */
    uint32_t reason;         /* enum csn_reason */
    bool has_segment;
    bool uncertain;          /* the address is after the symbol, before the next one of its binary */
};

/* CSN_OK: a symbol; CSN_NONE: none, maybe a segment. */
csn_status csni_bsym_lookup(const struct csni_bsym *b, uint64_t addr, struct csni_bsym_answer *out);
/* By an offset from the start of a segment's code. */
csn_status csni_bsym_lookup_in(const struct csni_bsym *b, uint32_t segment, uint64_t off, struct csni_bsym_answer *out);
/* Builds an accelerator, if it takes no more than that and the file is regular; what it cannot answer is asked of the file.
 * False: out of memory. csni_bsym_accel_free() gives it back. */
bool csni_bsym_accel_build(struct csni_bsym *b, uint64_t max_bytes, const struct csn_allocator *alloc);
void csni_bsym_accel_free(struct csni_bsym *b, const struct csn_allocator *alloc);
/* `addr` is even. False: ask the file. */
bool csni_bsym_accel_lookup(const struct csni_bsym *b, uint32_t addr, struct csni_bsym_answer *out);
void csni_bsym_accel_prefetch(const struct csni_bsym *b, uint32_t addr);

/* Begins to load what a lookup of `addr` will read first. */
void csni_bsym_prefetch(const struct csni_bsym *b, uint64_t addr);

/* The segment of a binary by its path or name on the device, or by its name on the build PC. CSN_NONE: there is none.
 * *out_how: enum csn_binary_match. Cost: all names of binaries once. */
csn_status csni_bsym_find(const struct csni_bsym *b, struct csn_str name, uint32_t *out_segment, uint32_t *out_how);

/* ---- where the bytes go ---- */

/* Adds every byte of the file to one of part_bytes (by enum csn_part). Memory: 24 bytes a symbol for as long as it runs. */
csn_status csni_bsym_part_bytes(const struct csni_bsym *b, const struct csn_allocator *allocator, uint64_t *part_bytes,
                                struct csn_error *err);
/* Those of a symbol: its record, and what of its name no symbol before had. 0 in a compressed body, whose bytes are not told apart.
 * CSN_OK; CSN_E_MEMORY. */
csn_status csni_bsym_record_bytes(const struct csni_bsym *b, uint32_t symbol, struct csni_counted_bytes *counted, uint64_t *out);

/* ---- checking ---- */

csn_status csni_bsym_verify(const struct csni_bsym *b, csn_verify_callback *callback, void *context,
                            struct csn_verify_counts *out);

#endif
