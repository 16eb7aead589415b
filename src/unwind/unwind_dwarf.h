/* Rules from DWARF's call frame information. */
#ifndef CSNI_UNWIND_DWARF_H
#define CSNI_UNWIND_DWARF_H

#include "dwarf/dwarf_frames.h"
#include "unwind/unwind.h"

/* Expressions that depend on the program counter are computed for each address of a linkage table, 12 steps each: enough for 20,000
 * functions in one FDE. */
enum { CSNI_UNWIND_PC_STEPS_MAX = 1 << 22 };

/* What one thread needs. */
struct csni_unwind_dwarf;
csn_status csni_unwind_dwarf_create(const struct csni_frame_section *section, const struct csn_allocator *alloc,
                                    struct csni_unwind_dwarf **out, struct csn_error *err);
void csni_unwind_dwarf_destroy(struct csni_unwind_dwarf *u); /* NULL is fine */
/* Goes on with another section. */
void csni_unwind_dwarf_use(struct csni_unwind_dwarf *u, const struct csni_frame_section *section);

/* Reads the record at `off`, gives the offset after it and an enum csni_unwind_result. A row has only rules that differ from
 * those of the row before; a register that is restored to what it was on entry has a rule that says so. `table` is filled for
 * CSNI_UNWIND_OK, and for CSNI_UNWIND_DAMAGED perhaps: see its row count. CSN_E_TRUNCATED: the record does not fit the section. */
csn_status csni_unwind_dwarf_read(struct csni_unwind_dwarf *u, uint64_t off, uint64_t *next, struct csni_unwind_table *table,
                                  enum csni_unwind_result *result, struct csn_error *err);

/* How much reading records took since this was last asked: bytes of instructions that were run, and of expressions, once
 * for each address that they were computed for. A hostile file makes both large. */
uint64_t csni_unwind_dwarf_take_work(struct csni_unwind_dwarf *u);

#endif
