/* How to unwind functions: from call frame information (.eh_frame, .debug_frame) and from the tables that Windows and macOS have in
 * its place, to rules that writers turn into text. Bytes in, rules out: knows no container and no output.
 *
 * Registers have the numbers that DWARF gives them on the machine. */
#ifndef CSNI_UNWIND_H
#define CSNI_UNWIND_H

#include <stdbool.h>

#include "base/core/span.h"
#include "base/core/vec.h"

enum {
    CSNI_UNWIND_REGISTERS = 192,    /* those with higher numbers are left out */
    CSNI_UNWIND_CFA = 0xfffe,       /* the canonical frame address: the caller's stack pointer, on most machines */
    CSNI_UNWIND_RETURN = 0xffff     /* the caller's program counter */
};

/* How a value of the caller comes out of those of the callee. */
enum csni_unwind_kind {
    CSNI_UNWIND_VALUE,       /* base + offset */
    CSNI_UNWIND_SAVED,       /* memory at base + offset */
    CSNI_UNWIND_REGISTER,    /* base */
    CSNI_UNWIND_EXPRESSION,  /* tokens [first_token, +token_count) of the table */
    CSNI_UNWIND_NONE,        /* there is none: of CSNI_UNWIND_RETURN, this is the outermost frame */
    CSNI_UNWIND_UNKNOWN      /* it cannot be told */
};

struct csni_unwind_rule {
    uint16_t target, base;   /* a register, CSNI_UNWIND_CFA or, only a target, CSNI_UNWIND_RETURN */
    uint8_t kind;            /* enum csni_unwind_kind */
    int64_t offset;
    uint32_t first_token, token_count;
};

/* Of an expression in postfix order. */
enum csni_unwind_op {
    CSNI_UNWIND_PUSH_REGISTER, CSNI_UNWIND_PUSH_CONSTANT, CSNI_UNWIND_PUSH_CFA, CSNI_UNWIND_ADD, CSNI_UNWIND_SUBTRACT,
    CSNI_UNWIND_MULTIPLY, CSNI_UNWIND_ALIGN, /* down to a multiple */
    CSNI_UNWIND_LOAD         /* memory at an address */
};
struct csni_unwind_token {
    uint8_t op;              /* enum csni_unwind_op */
    int64_t value;           /* of a constant, or number of a register */
};

/* Rules that hold from an address on, until a later row has others for the same targets. */
struct csni_unwind_row {
    uint64_t addr;
    uint32_t first_rule, rule_count;
};

/* One function, or one range of code with rules of its own. The buffers are used again for the next one. */
struct csni_unwind_table {
    uint64_t start, size;
    CSNI_VEC(struct csni_unwind_row) rows; /* ascending; the first is at `start` */
    CSNI_VEC(struct csni_unwind_rule) rules;
    CSNI_VEC(struct csni_unwind_token) tokens;
};

void csni_unwind_table_init(struct csni_unwind_table *table, const struct csn_allocator *alloc);
void csni_unwind_table_deinit(struct csni_unwind_table *table);

/* What becomes of a record. Out of memory is CSN_E_MEMORY. */
enum csni_unwind_result {
    CSNI_UNWIND_OK,
    CSNI_UNWIND_SKIPPED,     /* nothing to unwind: a CIE, an end mark, discarded code */
    CSNI_UNWIND_DAMAGED      /* it cannot be read; of call frame information, rows before the damage are given */
};

/* Begins a table, and adds to it: rows by ascending address, then the rules of the last row. False: out of memory. */
void csni_unwind_begin(struct csni_unwind_table *table, uint64_t start, uint64_t size);
bool csni_unwind_add_row(struct csni_unwind_table *table, uint64_t addr);
bool csni_unwind_add_rule(struct csni_unwind_table *table, struct csni_unwind_rule rule);

#endif
