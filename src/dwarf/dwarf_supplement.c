/* .debug_sup. */
#include "dwarf/dwarf_supplement.h"

#include <inttypes.h>

#include "base/cursor.h"
#include "base/fail.h"

csn_status csni_dwarf_read_sup(struct csni_span section, bool big_endian, struct csni_dwarf_sup *out,
                               struct csn_error *err) {
    if (!section.size) return CSN_NONE;
    struct csni_cursor c = csni_cursor_at(section, big_endian);
    struct csni_dwarf_sup sup = { 0 };
    uint16_t version = csni_cursor_u16(&c);
    uint8_t is_supplementary = csni_cursor_u8(&c);
    sup.name = csni_cursor_cstr(&c);
    uint64_t size = csni_cursor_uleb(&c);
    sup.checksum = csni_cursor_bytes(&c, size);
    if (c.failed)
        return csni_fail(err, CSN_E_TRUNCATED, ".debug_sup", c.failed_at, "ends early: the section has %zu bytes",
                         section.size);
    if (version != 5) return csni_fail(err, CSN_E_UNSUPPORTED, ".debug_sup", 0, "version %u, need 5", version);
    if (is_supplementary > 1)
        return csni_fail(err, CSN_E_FORMAT, ".debug_sup", 2, "is_supplementary is %u, need 0 or 1", is_supplementary);
    sup.is_supplementary = is_supplementary;
    *out = sup;
    return CSN_OK;
}
