/* What the files of the BSYM writer share. */
#ifndef CSNI_BSYM_WRITE_PRIVATE_H
#define CSNI_BSYM_WRITE_PRIVATE_H

#include "formats/bsym/write/bsym_write.h"
#include "model/distinct.h"

/* ---- tokens (bsym_write_tokens.c) ---- */

enum { CSNI_BSYM_TOKEN_BYTES = 64 }; /* longest token of a table that is chosen here */

struct csni_bsym_tokens {
    struct csn_str items[CSNI_BSYM_TOKEN_MAX];
    uint32_t count;
    uint8_t first[65536];                /* by two bytes: 1 + the first token that begins so, the longest first */
    uint8_t next[CSNI_BSYM_TOKEN_MAX];   /* 1 + the next one */
};

void csni_bsym_tokens_set(struct csni_bsym_tokens *t, const struct csn_str *items, uint32_t count);
/* Fills the table for these strings; the tokens' bytes come from `arena`. Looks at a sample. */
csn_status csni_bsym_tokens_choose(struct csni_bsym_tokens *t, const struct csni_distinct_string *strings, size_t count,
                                   const struct csn_allocator *alloc, struct csni_arena *arena, struct csn_error *err);
/* The fewest bytes for a string, and how many. `out` has room for text.len, `costs` for text.len + 1. */
size_t csni_bsym_encode(const struct csni_bsym_tokens *t, struct csn_str text, uint8_t *out, uint32_t *costs);

/* ---- the plan of a file ---- */

enum { CSNI_BSYM_NO_PIECE = UINT32_MAX };

struct csni_bsym_out_symbol {
    uint32_t address;
    uint16_t length, prefix;
    uint32_t name;        /* index in pieces */
};

struct csni_bsym_out_segment {
    uint32_t address, first, count;
    uint32_t binary;      /* number in the model; UINT32_MAX: the image itself */
    uint32_t name;        /* index in pieces */
    uint32_t first_prefix, prefix_count; /* in prefixes */
    uint32_t prefix_offset;
};

struct csni_bsym_plan {
    const struct csni_model *model;
    const struct csn_allocator *alloc;
    struct csn_convert_report *report;
    uint32_t version;
    bool all_prefixes;
    uint64_t rebase;      /* taken from every address */
    CSNI_VEC(struct csni_bsym_out_segment) segments; /* ascending by address */
    CSNI_VEC(struct csni_bsym_out_symbol) symbols;   /* in file order; `name` is a string of the model at first */
    CSNI_VEC(uint32_t) prefixes;                     /* pieces, segment by segment */
    struct csni_distinct_strings pieces;             /* every string of the file but tokens, once */
    uint32_t *rename_pieces;
    uint32_t *rename_segments;
    uint32_t rename_count;
    struct csni_arena arena;                         /* strings that are no views of the model's */
};

/* Segments and symbols (bsym_write_plan.c). */
csn_status csni_bsym_plan_symbols(struct csni_bsym_plan *plan, struct csn_error *err);
/* Their names: prefixes and pieces (bsym_write_names.c). */
csn_status csni_bsym_plan_names(struct csni_bsym_plan *plan, struct csn_error *err);

#endif
