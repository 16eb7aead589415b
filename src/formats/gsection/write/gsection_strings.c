/* The strings of revisions C and D in another object file. */
#include "formats/gsection/write/gsection_strings.h"

#include "base/core/checked.h"
#include "base/core/endian.h"
#include "base/core/fail.h"

enum { STRINGS_ALIGN = 4 };

void csni_gsection_set_strings_offset(uint8_t *section, uint32_t off, bool big) {
    csni_put32(section + CSNI_GSECTION_H_STRTAB_OFFSET, off, big);
}

csn_status csni_gsection_append_strings(const struct csni_gsection *g, struct csni_gsection_pieces *out, struct csn_error *err) {
    struct csni_span section = g->gsym.bytes;
    static const uint8_t zeros[STRINGS_ALIGN];
    uint64_t at = csni_align_up(section.size, STRINGS_ALIGN);
    if (at > UINT32_MAX)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "the index has 0x%zx bytes, its strings must begin below 4 GiB", section.size);
    memcpy(out->header, section.ptr, sizeof out->header);
    csni_gsection_set_strings_offset(out->header, (uint32_t)at, g->gsym.big);
    out->pieces[0] = (struct csni_span){ out->header, sizeof out->header };
    out->pieces[1] = csni_span_from(section, sizeof out->header);
    out->pieces[2] = (struct csni_span){ zeros, (size_t)(at - section.size) };
    out->pieces[3] = g->gsym.strings;
    return CSN_OK;
}
