/* What the files dwarf_line_program.c and dwarf_line_rows*.c share: the line machine, and the fast loops over rows. */
#ifndef CSNI_DWARF_LINE_ROWS_H
#define CSNI_DWARF_LINE_ROWS_H

#include "base/core/byte_blocks.h"
#include "dwarf/dwarf_line.h"

/* The registers of the line machine that matter here. */
struct csni_line_machine {
    uint64_t addr;
    uint32_t file, line;
    uint32_t op_index;
    bool dead;             /* the address says that a linker discarded the code */
    bool leaps;            /* the address may have gone back, or on by so much that several such leaps may wrap around */
    uint64_t sequence_off; /* where the opcodes of the sequence begin */
    size_t first_row;      /* of the sequence */
    uint32_t first_file, first_line; /* of that row */
};

struct csni_line_program {
    struct csni_line_table *table;
    const struct csni_line_header *h;
    const uint8_t *base, *p, *end;
    uint64_t operation_max;   /* operations that DW_LNS_const_add_pc advances by */
    bool big;
    bool fast;                /* csni_line_run_rows() knows this machine */
    bool blocks;              /* csni_line_run_blocks() does */
    uint8_t odd_opcode;       /* the one it does not know, of standard opcodes above DW_LNS_fixed_advance_pc */
    bool fold;                /* rows at one address become one; not in the sequence that is run once more */
    bool repeats_first;       /* where rows are folded: files 0 and 1 are the same */
    bool may_repeat_first;
    size_t sequence_files;    /* that there were when the sequence began */
    const struct csni_line_effect *effects; /* the table's */
};

static inline bool csni_line_file_exists(const struct csni_line_table *table, uint32_t file) {
    return table->version >= 5 ? file < table->files.count : file && file <= table->files.count;
}

/* The row as the machine has it, after `row` or in its place where it is at the same address; row[-1] is of the same
 * sequence. Next to random as that is, it is done without a branch. Returns the place after. */
static inline struct csni_line_row *csni_line_fold_row(struct csni_line_row *row, uint64_t addr, uint32_t file,
                                                       uint32_t line) {
    const struct csni_line_row last = row[-1];
    uint32_t differs = ((file ^ last.file) | (line ^ last.line)) != 0;
    row -= addr == last.addr;
    *row = (struct csni_line_row){ addr, file, line, last.changes + differs };
    return row + 1;
}

/* Both run opcodes from p on while they are those of usual rows; *rows is the place of the next row. They read no byte at
 * or after `stretch`, nor make more rows than there are bytes before it. Where rows are folded, it is only after one of
 * the same sequence, of a file that there is. */
const uint8_t *csni_line_run_rows(const struct csni_line_program *pr, struct csni_line_machine *m, const uint8_t *p,
                                  const uint8_t *stretch, struct csni_line_row **rows);

/* The same with folding for many rows at once, where pr->blocks. Stops with less than CSNI_LINE_BLOCK_MIN bytes left. */
enum { CSNI_LINE_BLOCK_MIN = 66 };
#if CSNI_BYTE_BLOCKS
const uint8_t *csni_line_run_blocks(const struct csni_line_program *pr, struct csni_line_machine *m, const uint8_t *p,
                                    const uint8_t *stretch, struct csni_line_row **rows);
#else
static inline const uint8_t *csni_line_run_blocks(const struct csni_line_program *pr, struct csni_line_machine *m,
                                                  const uint8_t *p, const uint8_t *stretch, struct csni_line_row **rows) {
    (void)pr, (void)m, (void)stretch, (void)rows;
    return p;
}
#endif

#endif
