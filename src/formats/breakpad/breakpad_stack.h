/* STACK records: rules of unwinding as Breakpad's postfix text. */
#ifndef CSNI_BREAKPAD_STACK_H
#define CSNI_BREAKPAD_STACK_H

#include "base/buffer.h"
#include "unwind/unwind.h"

enum { CSNI_BREAKPAD_REGISTER_NAME_MAX = 9 };

/* Registers of one machine by their DWARF numbers. */
struct csni_breakpad_register {
    char text[CSNI_BREAKPAD_REGISTER_NAME_MAX];
    uint8_t len;             /* 0: it has no name */
};
struct csni_breakpad_registers {
    struct csni_breakpad_register names[CSNI_UNWIND_REGISTERS];
    uint16_t pc;             /* that frame information has for the return address where calls push it; others have
                              * CSNI_UNWIND_REGISTERS: the return address is in a register of its own */
};

/* False: readers of Breakpad's files do not unwind on `arch`, a name as in struct csni_identity. */
bool csni_breakpad_registers_of(struct csn_str arch, struct csni_breakpad_registers *out);

/* Appends the records of a table, or nothing where no rule of its first row can be told. Addresses count from `base`, which is not
 * above the table's start. `subtracts`: offsets from the CFA are written as positive numbers to subtract, as dump_syms does for
 * Windows. */
void csni_breakpad_put_stack(struct csni_buffer *t, const struct csni_breakpad_registers *registers,
                             const struct csni_unwind_table *table, uint64_t base, bool subtracts);

/* A STACK WIN record: of FPO data, or of frame data, which has a program. */
struct csni_breakpad_stack_win {
    uint8_t type;
    uint32_t rva, code_size, prologue_size, parameter_size, saved_register_size, local_size, max_stack_size;
    bool has_program, allocates_base_pointer;
    struct csn_str program;
};
void csni_breakpad_put_stack_win(struct csni_buffer *t, const struct csni_breakpad_stack_win *record);

#endif
