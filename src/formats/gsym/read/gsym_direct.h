/* The lookup of a usual record in one go, from the address to the answer. Private to gsym_lookup.c. */
#ifndef CSNI_GSYM_DIRECT_H
#define CSNI_GSYM_DIRECT_H

#include "base/core/byte_blocks.h"
#include "formats/gsym/read/gsym.h"

#if CSNI_BYTE_BLOCKS
/* True: *out is what csni_gsym_lookup() answers by CSN_LOOKUP_DEFAULT with CSN_OK. False: the address is for
 * csni_gsym_lookup(), and *out holds nothing. Only where gsym->direct is set. */
bool csni_gsym_lookup_direct(const struct csni_gsym *gsym, uint64_t addr, struct csni_gsym_answer *out);
#else
static inline bool csni_gsym_lookup_direct(const struct csni_gsym *gsym, uint64_t addr, struct csni_gsym_answer *out) {
    (void)gsym;
    (void)addr;
    (void)out;
    return false;
}
#endif

#endif
