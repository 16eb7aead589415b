/* Function descriptors of the older ABI of 64-bit PowerPC: a symbol names a descriptor in .opd, whose first word is
 * the address of the code. */
#include "base/core/endian.h"
#include "base/core/fail.h"
#include "base/core/search.h"
#include "object/elf/elf_layout.h"
#include "object/object_private.h"

csn_status csni_object_descriptors(struct csni_object *object, struct csni_descriptors *out, struct csn_error *err) {
    if (object->container != CSNI_CONTAINER_ELF || object->machine != EM_PPC64) return CSN_NONE;
    uint32_t section = csni_object_find_section(object, ".opd");
    if (section == CSNI_NO_SECTION || (object->sections[section].flags & CSNI_SECTION_NOBITS)) return CSN_NONE;
    struct csni_span bytes;
    CSNI_TRY(csni_object_read_section(object, section, &bytes, err));
    *out = (struct csni_descriptors){ .addr = object->sections[section].addr, .bytes = bytes, .big_endian = object->big_endian };
    out->pointers.alloc = csni_object_priv(object)->alloc;
    csn_status status = csni_object_relative_pointers(object, &out->pointers, err);
    if (status >= 0) return CSN_OK;
    csni_descriptors_deinit(out);
    return status;
}

void csni_descriptors_deinit(struct csni_descriptors *d) { csni_vec_deinit(&d->pointers); }

bool csni_descriptor_code(const struct csni_descriptors *d, uint64_t addr, uint64_t *out) {
    struct csni_span word;
    if (addr < d->addr || !csni_span_sub(d->bytes, addr - d->addr, 8, &word)) return false;
    size_t at = csni_lower_bound(d->pointers.items, d->pointers.count, place, addr);
    bool is_linked_later = at < d->pointers.count && d->pointers.items[at].place == addr;
    *out = is_linked_later ? d->pointers.items[at].value : csni_get64(word.ptr, d->big_endian);
    return true;
}
