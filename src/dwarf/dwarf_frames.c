/* Where functions are by call frame information: each FDE is of one range of code. */
#include "dwarf/dwarf_frames.h"

#include "base/core/fail.h"
#include "base/core/sort.h"

static bool address_range_before(const void *context, const void *pa, const void *pb) {
    (void)context;
    const struct csni_address_range *a = pa, *b = pb;
    return a->low != b->low ? a->low < b->low : a->high < b->high;
}

/* Of several ranges with one start the longest stays. False when out of memory. */
static bool sort_ranges(csni_address_ranges *out, size_t first) {
    size_t count = out->count - first, kept = 0;
    if (!count) return true; /* perhaps without memory */
    if (!csni_vec_reserve(out, out->count + count)) return false;
    struct csni_address_range *r = out->items + first;
    csni_merge_sort(r, r + count, count, sizeof *r, address_range_before, NULL);
    for (size_t i = 0; i < count; i++) {
        if (kept && r[kept - 1].low == r[i].low) r[kept - 1] = r[i];
        else r[kept++] = r[i];
    }
    out->count = first + kept;
    return true;
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
    if (!sort_ranges(out, first) && status == CSN_OK) status = csni_fail_memory(err, (out->count - first) * sizeof *out->items);
    return status;
}
