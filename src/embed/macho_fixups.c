/* Chained fixups of Mach-O images: one segment more. */
#include "embed/macho_fixups.h"

#include "base/core/checked.h"
#include "base/core/endian.h"
#include "base/core/fail.h"

typedef unsigned long long ull; /* for %llx */

/* dyld_chained_fixups_header, and dyld_chained_starts_in_image: a count, then an offset from its begin for each segment. */
enum { HEADER_SIZE = 28, STARTS_OFFSET = 4, IMPORTS_OFFSET = 8, SYMBOLS_OFFSET = 12, ENTRY = 4,
       GROWTH = 8 /* what follows is aligned to 8 */ };

/* Where the offsets of the segments end, from the begin of the starts. */
static uint32_t entries_end(const struct csni_macho_fixups *f) { return ENTRY + f->count * ENTRY; }

csn_status csni_macho_fixups_plan(struct csni_macho_fixups *f, struct csni_span file, uint64_t off, uint64_t size, bool big,
                                  uint32_t segments, uint32_t added, struct csn_error *err) {
    struct csni_span old;
    if (!size) return CSN_OK;
    if (size < HEADER_SIZE || !csni_span_sub(file, off, size, &old))
        return csni_fail(err, CSN_E_FORMAT, NULL, off, "chained fixups: 0x%llx bytes, the file has 0x%zx", (ull)size, file.size);
    uint32_t starts = csni_get32(old.ptr + STARTS_OFFSET, big);
    bool fits = starts >= HEADER_SIZE && starts <= size && size - starts >= ENTRY;
    uint32_t count = fits ? csni_get32(old.ptr + starts, big) : UINT32_MAX;
    if (count == UINT32_MAX || count > (size - starts) / ENTRY - 1)
        return csni_fail(err, CSN_E_FORMAT, NULL, off,
                         "chained fixups: the starts of segments at 0x%x do not fit into 0x%llx bytes", starts,
                         (ull)size);
    if (count > segments) return CSN_OK; /* the new one is told already */
    *f = (struct csni_macho_fixups){
        .off = off, .old = old, .starts = starts, .count = count, .big = big, .added = added < count ? added : count
    };
    uint64_t end = (uint64_t)starts + entries_end(f), next = size;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t info = csni_get32(old.ptr + starts + ENTRY + (size_t)i * ENTRY, big);
        if (info && info < entries_end(f))
            return csni_fail(err, CSN_E_FORMAT, NULL, off, "chained fixups: those of segment %u at 0x%x, need >= 0x%x", i, info,
                             entries_end(f));
        if (info && (uint64_t)starts + info < next) next = (uint64_t)starts + info;
    }
    for (unsigned field = IMPORTS_OFFSET; field <= SYMBOLS_OFFSET; field += 4) {
        uint32_t at = csni_get32(old.ptr + field, big);
        if (at >= end && at < next) next = at;
    }
    f->grown = next - end >= ENTRY && csni_get32(old.ptr + end, big) == 0 ? 0 : GROWTH;
    return CSN_OK;
}

void csni_macho_fixups_add(const struct csni_macho_fixups *f, struct csni_assembly *out) {
    size_t end = (size_t)f->starts + entries_end(f), kept = f->grown ? end : end + ENTRY;
    uint8_t *p = csni_assembly_add_zeros(out, kept + f->grown);
    if (!p) return;
    memcpy(p, f->old.ptr, end);
    csni_put32(p + f->starts, f->count + 1, f->big);
    for (unsigned field = IMPORTS_OFFSET; field <= SYMBOLS_OFFSET; field += 4) {
        uint32_t at = csni_get32(p + field, f->big);
        if (at >= end) csni_put32(p + field, at + f->grown, f->big);
    }
    uint8_t *entries = p + f->starts + ENTRY;
    for (uint32_t i = 0; i < f->count; i++) {
        uint32_t info = csni_get32(f->old.ptr + f->starts + ENTRY + (size_t)i * ENTRY, f->big);
        csni_put32(entries + (size_t)(i + (i >= f->added)) * ENTRY, info ? info + f->grown : 0, f->big);
    }
    csni_put32(entries + (size_t)f->added * ENTRY, 0, f->big);
    csni_assembly_add(out, (struct csni_span){ f->old.ptr + kept, f->old.size - kept });
}
