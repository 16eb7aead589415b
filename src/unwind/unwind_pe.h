/* Rules from the exception data of PE images: .pdata, and the codes in .xdata that undo a function's prologue. */
#ifndef CSNI_UNWIND_PE_H
#define CSNI_UNWIND_PE_H

#include "unwind/unwind.h"

/* The bytes from an RVA on; false: there are none. */
typedef bool csni_unwind_bytes_at(const void *context, uint64_t rva, struct csni_span *out);

struct csni_unwind_pe {
    struct csni_span entries;      /* of .pdata */
    uint64_t image_base;
    csni_unwind_bytes_at *bytes_at;
    const void *context;
    bool is_arm64;                 /* else x86-64 */
};

uint32_t csni_unwind_pe_entry_size(const struct csni_unwind_pe *pe);

/* Reads the entry at `off` into `table`, and gives an enum csni_unwind_result. On x86-64 one row for the whole function: rules hold
 * after the prologue, where stacks are usually walked. On ARM64 a row for each instruction of the prologue. False:
 * out of memory. */
bool csni_unwind_pe_read(const struct csni_unwind_pe *pe, uint64_t off, struct csni_unwind_table *table,
                         enum csni_unwind_result *result);

/* ---- parts, by machine ---- */

bool csni_unwind_pe_x64(const struct csni_unwind_pe *pe, const uint8_t *entry, struct csni_unwind_table *table,
                        enum csni_unwind_result *result);
bool csni_unwind_pe_arm64(const struct csni_unwind_pe *pe, const uint8_t *entry, struct csni_unwind_table *table,
                          enum csni_unwind_result *result);

#endif
