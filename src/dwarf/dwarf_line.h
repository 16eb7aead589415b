/* What the files dwarf_line*.c share: the header of a line table, and the steps of reading one. */
#ifndef CSNI_DWARF_LINE_H
#define CSNI_DWARF_LINE_H

#include "dwarf/dwarf_private.h"

static const char csni_line_section[] = ".debug_line";

struct csni_line_header {
    uint64_t off, end;        /* of the whole table */
    uint64_t program;         /* where the opcodes begin */
    uint8_t min_inst_length, max_ops, line_range, opcode_base;
    int8_t line_base;
    const uint8_t *operands;  /* of standard opcodes 1 to opcode_base - 1 */
};

/* ---- the header, in the order it stands (dwarf_line_header.c) ---- */

csn_status csni_line_read_lengths(struct csni_cursor *c, struct csni_line_table *table, struct csni_line_header *h,
                                  struct csn_error *err);
csn_status csni_line_read_machine(struct csni_cursor *c, const struct csni_line_table *table,
                                  struct csni_line_header *h, struct csn_error *err);
/* Directories and files of versions 2 to 4, and one such file. */
csn_status csni_line_read_old_tables(struct csni_cursor *c, struct csni_line_table *table,
                                     const struct csni_line_header *h, struct csn_error *err);
csn_status csni_line_read_old_file(struct csni_cursor *c, struct csni_line_table *table,
                                   const struct csni_line_header *h, struct csn_error *err);
/* Directories, then files, of version 5. */
csn_status csni_line_read_entries(struct csni_cursor *c, struct csni_line_table *table, const struct csni_dwarf *dwarf,
                                  const struct csni_unit *unit, const struct csni_line_header *h, bool files,
                                  struct csn_error *err);

#endif
