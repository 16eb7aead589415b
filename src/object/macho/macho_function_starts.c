/* LC_FUNCTION_STARTS: where functions begin, each as the ULEB128 distance from the one before. */
#include "base/core/checked.h"
#include "base/core/cursor.h"
#include "base/core/fail.h"
#include "object/macho/macho_private.h"

csn_status csni_macho_function_bounds(struct csni_object *object, csni_function_bounds *out, struct csn_error *err) {
    const struct csni_macho *own = csni_macho_own(object);
    struct csni_span bytes;
    if (!own->function_starts.count) return CSN_NONE;
    CSNI_TRY(csni_macho_part_bytes(object, "function starts", own->function_starts, 1, &bytes, err));
    struct csni_cursor c = csni_cursor_at(bytes, false);
    /* The first distance is from __TEXT. That of Thumb code carries its mark, bit 0, into the sum. */
    uint64_t addr = object->image_base;
    for (;;) {
        uint64_t distance = csni_cursor_uleb(&c);
        if (c.failed || !distance || !csni_add_u64(addr, distance, &addr)) return CSN_OK;
        const struct csni_function_bound bound = { csni_macho_code_addr(object, addr), 0 };
        if (out->count && out->items[out->count - 1].start >= bound.start) continue;
        if (!csni_vec_push(out, bound)) return csni_fail_memory(err, sizeof bound);
    }
}
