/* Rules from the compact unwind information of Mach-O images (__unwind_info): two levels of pages with a word of 32 bits for each
 * function, after LLVM's compact_unwind_encoding.h. Words of functions that it cannot describe lead into __eh_frame. */
#ifndef CSNI_UNWIND_COMPACT_H
#define CSNI_UNWIND_COMPACT_H

#include "unwind/unwind.h"
#include "unwind/unwind_dwarf.h"

enum csni_compact_machine { CSNI_COMPACT_X86, CSNI_COMPACT_X86_64, CSNI_COMPACT_ARM64 };

/* The bytes from an image address on; false: there are none. */
typedef bool csni_unwind_code_at(const void *context, uint64_t addr, struct csni_span *out);

struct csni_unwind_compact {
    struct csni_span bytes;        /* of __unwind_info */
    uint64_t image_base;           /* that its addresses count from */
    enum csni_compact_machine machine;
    csni_unwind_code_at *code_at;
    const void *context;
};

/* Second-level pages; 0: no table that is known. */
uint32_t csni_unwind_compact_pages(const struct csni_unwind_compact *c);

/* Reads word `entry` of page `page`. `frames`: reads __eh_frame; NULL: there is none. *is_last: the page has no more. Else as
 * csni_unwind_dwarf_read(). */
csn_status csni_unwind_compact_read(const struct csni_unwind_compact *c, uint32_t page, uint32_t entry,
                                    struct csni_unwind_dwarf *frames, struct csni_unwind_table *table,
                                    enum csni_unwind_result *result, bool *is_last, struct csn_error *err);

/* What a word says of a function, which `table` has been begun for. False: nothing that is known. */
bool csni_unwind_compact_rules(const struct csni_unwind_compact *c, uint32_t word, struct csni_unwind_table *table,
                               bool *out_of_memory);

#endif
