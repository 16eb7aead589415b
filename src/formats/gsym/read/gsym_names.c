/* Finding, searching and making the name table. */
#include "formats/gsym/read/gsym_names.h"

#include <stdlib.h>

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

static int compare_name_entries(const void *a, const void *b) {
    const struct csni_gsym_name_entry *x = a, *y = b;
    if (x->hash != y->hash) return x->hash < y->hash ? -1 : 1;
    return x->function < y->function ? -1 : x->function > y->function;
}

void csni_gsym_names_put(struct csni_gsym_name_entry *entries, uint32_t count, bool big, uint8_t *p) {
    if (count) qsort(entries, count, sizeof *entries, compare_name_entries);
    for (uint32_t i = 0; i < count; i++, p += CSNI_GSYM_NAMES_ENTRY) {
        csni_put32(p, entries[i].hash, big);
        csni_put32(p + 4, entries[i].function, big);
    }
    csni_put32(p, count, big);
    csni_put32(p + 4, CSNI_GSYM_NAMES_REVISION, big);
    csni_put32(p + 8, 0, big);
    csni_put32(p + 12, CSNI_GSYM_NAMES_MAGIC, big);
}
