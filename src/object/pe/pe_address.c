/* Where the addresses of a PE image are in its file. */
#include <stdlib.h>

#include "base/core/fail.h"
#include "base/core/search.h"
#include "object/pe/pe_private.h"

static int by_addr(const void *pa, const void *pb) {
    const struct csni_pe_place *a = pa, *b = pb;
    if (a->addr != b->addr) return a->addr < b->addr ? -1 : 1;
    return a->section < b->section ? -1 : a->section > b->section;
}

/* RVAs lead to sections often enough, and a hostile file has 65,535 of those. */
csn_status csni_pe_order_sections(struct csni_object_private *priv, struct csn_error *err) {
    struct csni_pe *pe = priv->own;
    uint32_t count = priv->object.section_count - 1;
    pe->by_addr = csni_alloc_zeroed(priv->alloc, count, sizeof *pe->by_addr);
    if (count && !pe->by_addr) return csni_fail_memory(err, count * sizeof *pe->by_addr);
    pe->by_addr_count = count;
    for (uint32_t i = 0; i < count; i++)
        pe->by_addr[i] = (struct csni_pe_place){ priv->sections[i + 1].addr, i + 1 };
    if (count) qsort(pe->by_addr, count, sizeof *pe->by_addr, by_addr);
    return CSN_OK;
}

uint32_t csni_pe_section_at(const struct csni_object *object, uint64_t addr) {
    const struct csni_pe *pe = csni_pe_of(object);
    size_t upper = csni_upper_bound(pe->by_addr, pe->by_addr_count, addr, addr);
    if (!upper) return CSNI_NO_SECTION;
    uint32_t section = pe->by_addr[upper - 1].section;
    return addr - object->sections[section].addr < object->sections[section].size ? section : CSNI_NO_SECTION;
}

bool csni_pe_bytes_from(const struct csni_object *object, uint64_t rva, struct csni_span *out) {
    uint64_t addr = object->image_base + rva;
    uint32_t section = csni_pe_section_at(object, addr);
    if (section == CSNI_NO_SECTION) return false;
    const struct csni_section *s = &object->sections[section];
    uint64_t off = addr - s->addr;
    return !(s->flags & CSNI_SECTION_NOBITS) && off < s->file_size &&
           csni_span_sub(object->file, s->file_off + off, s->file_size - off, out);
}
