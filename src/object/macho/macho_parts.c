/* Parts of a Mach-O file that load commands name, and what the entries of its symbol table have in common with other tables. */
#include <inttypes.h>

#include "base/core/endian.h"
#include "base/core/fail.h"
#include "object/macho/macho_layout.h"
#include "object/macho/macho_private.h"

csn_status csni_macho_part_bytes(const struct csni_object *object, const char *what, struct csni_macho_part part,
                                 uint64_t entry_size, struct csni_span *out, struct csn_error *err) {
    if (csni_span_sub(object->file, part.off, part.count * entry_size, out)) return CSN_OK;
    return csni_fail(err, CSN_E_TRUNCATED, NULL, part.off,
                     "%s: %" PRIu32 " entries of %" PRIu64 " bytes at 0x%" PRIx32 ", but the file has 0x%zx bytes", what,
                     part.count, entry_size, part.off, object->file.size);
}

void csni_macho_decode_nlist(const struct csni_object *object, const uint8_t *at, struct csni_nlist *out) {
    bool big = object->big_endian;
    *out = (struct csni_nlist){
        .name = csni_get32(at + NLIST_STRX, big), .type = at[NLIST_TYPE], .section = at[NLIST_SECT],
        .desc = csni_get16(at + NLIST_DESC, big), .value = csni_get_sized(at + NLIST_VALUE, object->address_size, big),
    };
}

csn_status csni_macho_symbol_table(const struct csni_object *object, struct csni_span *symbols, struct csni_span *strings,
                                   struct csn_error *err) {
    const struct csni_macho *own = csni_macho_own(object);
    if (!own->has_symbols) return CSN_NONE;
    CSNI_TRY(csni_macho_part_bytes(object, "symbol table", own->symbols, csni_macho_nlist_size(object), symbols, err));
    return csni_macho_part_bytes(object, "symbol names", own->strings, 1, strings, err);
}

uint64_t csni_macho_code_addr(const struct csni_object *object, uint64_t addr) {
    return object->machine == CPU_TYPE_ARM ? addr & ~(uint64_t)1 : addr;
}

uint32_t csni_macho_section_at(const struct csni_object *object, uint64_t addr) {
    /* Symbols could not name more; and a hostile file's many sections are not to be searched for each of its many exports. */
    for (uint32_t i = 1; i < object->section_count && i <= MAX_SECT; i++)
        if ((object->sections[i].flags & CSNI_SECTION_ALLOC) && csni_macho_is_in_section(&object->sections[i], addr)) return i;
    return CSNI_NO_SECTION;
}
