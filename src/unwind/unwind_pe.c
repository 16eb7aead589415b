/* Exception data of PE images, of any machine. */
#include "unwind/unwind_pe.h"

#include "object/pe/pe_layout.h"

uint32_t csni_unwind_pe_entry_size(const struct csni_unwind_pe *pe) {
    return pe->is_arm64 ? ARM_FUNCTION_SIZE : RUNTIME_FUNCTION_SIZE;
}

bool csni_unwind_pe_read(const struct csni_unwind_pe *pe, uint64_t off, struct csni_unwind_table *table,
                         enum csni_unwind_result *result) {
    struct csni_span entry;
    *result = CSNI_UNWIND_DAMAGED;
    if (!csni_span_sub(pe->entries, off, csni_unwind_pe_entry_size(pe), &entry)) {
        csni_unwind_begin(table, pe->image_base, 0);
        return true;
    }
    return pe->is_arm64 ? csni_unwind_pe_arm64(pe, entry.ptr, table, result) : csni_unwind_pe_x64(pe, entry.ptr, table, result);
}
