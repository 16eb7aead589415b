/* The strings of revisions A to D in another object file. */
#include "formats/gsection/write/gsection_strings.h"

#include "base/core/alloc.h"
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

csn_status csni_gsection_rename_strings(const struct csni_gsection *g, struct csn_str name, const struct csn_allocator *alloc,
                                        struct csni_gsection_pieces *out, uint8_t **out_own, size_t *out_own_size,
                                        struct csn_error *err) {
    const struct csni_gsym *gsym = &g->gsym;
    const uint8_t *section = gsym->bytes.ptr;
    size_t addresses = (size_t)gsym->address_count * gsym->address_size,
           infos = (size_t)gsym->address_count * CSNI_GSYM_INFO_OFFSET_SIZE;
    size_t addresses_at = (size_t)csni_align_up(CSNI_GSECTION_H_NAME + name.len + 1, gsym->address_size);
    size_t infos_at = (size_t)csni_align_up(addresses_at + addresses, CSNI_GSYM_ALIGN), size = infos_at + infos;
    size_t old_infos_at = (size_t)(gsym->infos - section);
    uint8_t *own = csni_alloc_zeroed(alloc, 1, size);
    if (!own) return csni_fail_memory(err, size);
    memcpy(own, section, CSNI_GSECTION_H_NAME);
    memcpy(own + CSNI_GSECTION_H_NAME, name.ptr, name.len);
    memcpy(own + addresses_at, gsym->addresses, addresses);
    for (uint32_t i = 0; i < gsym->address_count; i++) {
        uint64_t moved = csni_gsym_info_offset(gsym, i) + infos_at;
        if (moved < old_infos_at || moved - old_infos_at > UINT32_MAX) {
            csni_free(alloc, own, size);
            return csni_fail(err, CSN_E_LIMIT, "info offset table", i, "record %u at 0x%llx cannot be moved by %lld bytes", i,
                             (unsigned long long)csni_gsym_info_offset(gsym, i), (long long)infos_at - (long long)old_infos_at);
        }
        csni_put32(own + infos_at + (size_t)i * CSNI_GSYM_INFO_OFFSET_SIZE, (uint32_t)(moved - old_infos_at), gsym->big);
    }
    *out = (struct csni_gsection_pieces){ .pieces = { { own, size }, csni_span_from(gsym->bytes, old_infos_at + infos) } };
    *out_own = own;
    *out_own_size = size;
    return CSN_OK;
}
