/* Addresses for sections of objects that are not linked. */
#include <inttypes.h>

#include "base/core/checked.h"
#include "base/core/fail.h"
#include "object/object_private.h"

static uint64_t sane_align(uint64_t align) { return align && (align & (align - 1)) == 0 ? align : 1; }

/* The end of a section in memory, its beginning moved to its alignment; false when that is beyond 64 bits. */
static bool place_behind(uint64_t *end, uint64_t align, uint64_t size, uint64_t *addr) {
    uint64_t padded;
    if (!csni_add_u64(*end, align - 1, &padded)) return false;
    *addr = padded & ~(align - 1);
    return csni_add_u64(*addr, size, end);
}

csn_status csni_place_sections(struct csni_object_private *priv, struct csn_error *err) {
    uint64_t end = 0;
    for (uint32_t i = 1; i < priv->object.section_count; i++) {
        const struct csni_section *s = &priv->sections[i];
        uint64_t section_end;
        if ((s->flags & CSNI_SECTION_ALLOC) && s->addr && csni_add_u64(s->addr, s->size, &section_end) && section_end > end)
            end = section_end;
    }
    for (uint32_t i = 1; i < priv->object.section_count; i++) {
        struct csni_section *s = &priv->sections[i];
        if (!(s->flags & CSNI_SECTION_ALLOC) || s->addr) continue;
        if (!place_behind(&end, sane_align(s->align), s->size, &s->addr))
            return csni_fail(err, CSN_E_FORMAT, NULL, 0,
                             "section %" PRIu32 ": 0x%" PRIx64 " bytes behind 0x%" PRIx64 " exceed 64-bit addresses", i,
                             s->size, end);
    }
    return CSN_OK;
}
