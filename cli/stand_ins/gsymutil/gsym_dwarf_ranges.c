/* Ranges of a DIE as LLVM has them: an empty one in a list is one, too, as linkers leave it of parts that they removed. */
#include "stand_ins/base/dwarf_words.h"
#include "stand_ins/base/growth.h"
#include "stand_ins/gsymutil/gsym_dwarf.h"

bool gsym_die_ranges(const struct gsym_unit *u, const struct csn_debug_die *die, struct csn_range **out, size_t *out_count) {
    struct csn_debug_value value;
    size_t count;
    *out = NULL;
    *out_count = 0;
    if (csn_debug_die_attribute(die, DW_AT_low_pc, &value) != CSN_OK &&
        csn_debug_die_attribute(die, DW_AT_ranges, &value) != CSN_OK)
        return false;
    if (csn_debug_die_ranges(die, NULL, 0, &count, NULL) != CSN_OK || !count) return false;
    struct csn_range *ranges = zeroed_memory(count, sizeof *ranges);
    (void)csn_debug_die_ranges(die, ranges, count, &count, NULL);
    count = llvm_listed_ranges(u->module, die->unit, ranges, count);
    for (size_t i = 0; i < count; i++) {
        const uint64_t low = llvm_raw_addr(u->module, ranges[i].start, NULL);
        ranges[i] = (struct csn_range){ low, low + (ranges[i].end - ranges[i].start) };
    }
    *out = ranges;
    *out_count = count;
    return true;
}
