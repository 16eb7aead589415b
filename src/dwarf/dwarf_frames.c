/* Where functions are by call frame information: each FDE is of one range of code. */
#include "dwarf/dwarf_frames.h"

#include <stdlib.h>

#include "base/core/fail.h"

static int address_range_by_start(const void *pa, const void *pb) {
    const struct csni_address_range *a = pa, *b = pb;
    if (a->low != b->low) return a->low < b->low ? -1 : 1;
    return a->high < b->high ? -1 : a->high > b->high;
}

/* Of several ranges with one start the longest stays. */
static void sort_ranges(csni_address_ranges *out, size_t first) {
    if (out->count == first) return; /* perhaps without memory */
    struct csni_address_range *r = out->items + first;
    size_t count = out->count - first, kept = 0;
    qsort(r, count, sizeof *r, address_range_by_start);
    for (size_t i = 0; i < count; i++) {
        if (kept && r[kept - 1].low == r[i].low) r[kept - 1] = r[i];
        else r[kept++] = r[i];
    }
    out->count = first + kept;
}

csn_status csni_dwarf_frame_ranges(const struct csni_frame_section *section, csni_address_ranges *out, struct csn_error *err) {
    struct csni_frame_cie cie = { .off = UINT64_MAX };
    size_t first = out->count;
    csn_status status = CSN_OK;
    for (uint64_t off = 0; off < section->bytes.size && status == CSN_OK;) {
        struct csni_frame_record r;
        struct csni_frame_fde fde;
        status = csni_frame_record_read(section, off, &r, &off, err);
        if (status != CSN_OK || r.ends_list || r.is_cie || !csni_frame_fde_read(section, &r, &cie, &fde)) continue;
        struct csni_address_range range = { fde.start, fde.start + fde.size };
        if (!csni_vec_push(out, range)) status = csni_fail_memory(err, sizeof range);
    }
    sort_ranges(out, first);
    return status;
}
