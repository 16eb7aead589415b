/* The part of an address index that is about one unit, by LLVM's rules. */
#ifndef CALLSIGN_CLI_LLVM_INDEX_UNIT_H
#define CALLSIGN_CLI_LLVM_INDEX_UNIT_H

#include "stand_ins/address_index/address_index_write.h"
#include "stand_ins/llvm/llvm_module.h"

struct llvm_index_output {
    struct address_part *part;
    struct address_texts *texts;
    enum llvm_path_kind paths;
    uint64_t base, size;     /* addresses that the index is for */
    const uint64_t *addrs;   /* ascending: functions at others are not read, and not told; NULL: all are */
    size_t addr_count;
};

/* Adds what the unit answers within some ranges of the module, which are its own. chunks: of the part, by range;
 * ADDRESS_NONE where the index is not for its addresses; may be NULL. */
void llvm_index_add_unit(const struct llvm_index_output *out, struct llvm_module *module, struct llvm_unit *unit,
                         const struct llvm_unit_range *ranges, const uint32_t *range_indexes, size_t count, uint32_t *chunks);

#endif
