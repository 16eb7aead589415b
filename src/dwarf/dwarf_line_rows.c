/* Line programs: usual rows one after the other. */
#include "dwarf/dwarf_line_rows.h"

/* Runs opcodes from p on while they are those of usual rows. Producers write what precedes a row in one order:
 *     [set_file] [set_column] [set_discriminator] [negate_stmt] [advance_line] (copy | special opcode)
 * Which of them are there is next to random: a branch on each opcode is mispredicted for every second row. So a row is
 * decoded as a whole, with conditional moves where a part is missing; 8 bytes hold all from set_column on. Only set_file
 * and discriminators are branches. Whatever is out of order stops here, at an opcode that the caller runs. `fold` is a
 * constant where this is inlined; rows are folded only after one of their sequence, of a file that there is. */
static inline const uint8_t *run_rows(const struct csni_line_program *pr, const bool fold,
                                      struct csni_line_machine *machine, const uint8_t *p, const uint8_t *stretch,
                                      struct csni_line_row **rows) {
    struct csni_line_row *row = *rows;
    uint64_t addr = machine->addr;
    uint32_t file = machine->file, line = machine->line;
    while (stretch - p >= 16) {
        uint64_t w = csni_get64(p, false);
        if ((uint8_t)w == DW_LNS_set_file) {
            uint32_t number = (uint32_t)(w >> 8) & 0x7f, two = w >> 15 & 1;
            if (two & (w >> 23)) break;
            if (two) number |= ((uint32_t)(w >> 16) & 0x7f) << 7;
            if (fold) {
                number += !number & pr->repeats_first;
                if (!csni_line_file_exists(pr->table, number)) break;
            }
            file = number;
            p += 2 + two;
            w = csni_get64(p, false);
        }
        /* 0 or 1 each, and used in arithmetic: compilers would make branches of conditions. */
        unsigned column = (uint8_t)w == DW_LNS_set_column;
        unsigned odd = column & (unsigned)(w >> 15);
        w >>= 16 * column;
        if ((uint8_t)w == 0) {
            /* DW_LNE_set_discriminator and vendors' opcodes do nothing here. */
            if ((uint8_t)(w >> 8) > 6 || (uint8_t)(w >> 16) <= DW_LNE_define_file || odd & 1) break;
            p += 2 * column + 2 + (uint8_t)(w >> 8);
            continue;
        }
        unsigned negate = (uint8_t)w == DW_LNS_negate_stmt;
        w >>= 8 * negate;
        unsigned advance = (uint8_t)w == DW_LNS_advance_line, two = w >> 15 & 1;
        odd |= advance & two & (unsigned)(w >> 23);
        /* The operand's 14 bits; of one byte, the shift to the left loses the upper 7. */
        uint32_t operand = ((uint32_t)(w >> 8) & 0x7f) | ((uint32_t)(w >> 9) & 0x3f80);
        unsigned unused = 25 - 7 * two;
        uint32_t delta = (uint32_t)((int32_t)(operand << unused) >> unused) & (0 - advance);
        unsigned operand_size = (2 + two) & (0 - advance);
        w >>= 8 * operand_size;
        const struct csni_line_effect *e = &pr->effects[(uint8_t)w];
        if (CSNI_UNLIKELY((odd & 1) | !e->row)) break;
        addr += e->addr;
        line += delta + e->line;
        if (fold) row = csni_line_fold_row(row, addr, file, line);
        else *row++ = (struct csni_line_row){ addr, file, line, 0 };
        p += 2 * column + negate + operand_size + 1;
    }
    machine->addr = addr;
    machine->file = file;
    machine->line = line;
    *rows = row;
    return p;
}

CSNI_NOINLINE static const uint8_t *run_rows_folding(const struct csni_line_program *pr, struct csni_line_machine *m,
                                                     const uint8_t *p, const uint8_t *stretch,
                                                     struct csni_line_row **rows) {
    return run_rows(pr, true, m, p, stretch, rows);
}

CSNI_NOINLINE static const uint8_t *run_rows_keeping(const struct csni_line_program *pr, struct csni_line_machine *m,
                                                     const uint8_t *p, const uint8_t *stretch,
                                                     struct csni_line_row **rows) {
    return run_rows(pr, false, m, p, stretch, rows);
}

const uint8_t *csni_line_run_rows(const struct csni_line_program *pr, struct csni_line_machine *m, const uint8_t *p,
                                  const uint8_t *stretch, struct csni_line_row **rows) {
    return pr->fold ? run_rows_folding(pr, m, p, stretch, rows) : run_rows_keeping(pr, m, p, stretch, rows);
}
