/* Finding and searching the name table. */
#include "formats/gsym/read/gsym_names.h"

#include "base/core/endian.h"
#include "formats/gsym/gsym_layout.h"

static uint32_t entry_hash(const struct csni_gsym_names *names, uint32_t i) {
    return csni_get32(names->entries + (size_t)i * CSNI_GSYM_NAMES_ENTRY, names->big);
}

bool csni_gsym_find_names(struct csni_span file, bool big, struct csni_gsym_names *out) {
    if (file.size < CSNI_GSYM_NAMES_TRAILER) return false;
    const uint8_t *trailer = file.ptr + file.size - CSNI_GSYM_NAMES_TRAILER;
    uint32_t count = csni_get32(trailer, big);
    if (csni_get32(trailer + 12, big) != CSNI_GSYM_NAMES_MAGIC ||
        csni_get32(trailer + 4, big) != CSNI_GSYM_NAMES_REVISION)
        return false;
    if (count > (file.size - CSNI_GSYM_NAMES_TRAILER) / CSNI_GSYM_NAMES_ENTRY) return false;
    *out = (struct csni_gsym_names){ trailer - (size_t)count * CSNI_GSYM_NAMES_ENTRY, count, big };
    return true;
}

uint32_t csni_gsym_names_first(const struct csni_gsym_names *names, struct csn_str name) {
    uint32_t hash = csni_gsym_name_hash(name.ptr, name.len), low = 0, high = names->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (entry_hash(names, middle) < hash) low = middle + 1;
        else high = middle;
    }
    return low;
}

bool csni_gsym_names_at(const struct csni_gsym_names *names, uint32_t i, struct csn_str name, uint32_t *function) {
    if (i >= names->count || entry_hash(names, i) != csni_gsym_name_hash(name.ptr, name.len)) return false;
    *function = csni_get32(names->entries + (size_t)i * CSNI_GSYM_NAMES_ENTRY + 4, names->big);
    return true;
}
