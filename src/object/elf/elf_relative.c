/* Pointers that a dynamic linker sets whatever the load address is: relocations of an image that add the load bias. Their
 * places hold zeros in the file where addends stand in the relocations (RELA). */
#include <stdlib.h>

#include "base/core/endian.h"
#include "base/core/fail.h"
#include "object/elf/elf_layout.h"
#include "object/elf/elf_relocation_types.h"
#include "object/object_private.h"

static uint32_t relative_type(uint32_t machine) {
    switch (machine) {
    case EM_X86_64: return R_X86_64_RELATIVE;
    case EM_AARCH64: return R_AARCH64_RELATIVE;
    case EM_RISCV: return R_RISCV_RELATIVE;
    case EM_PPC64: return R_PPC64_RELATIVE;
    case EM_S390: return R_390_RELATIVE;
    default: return 0;
    }
}

static int object_pointer_by_place(const void *pa, const void *pb) {
    const struct csni_object_pointer *a = pa, *b = pb;
    return a->place < b->place ? -1 : a->place > b->place;
}

static csn_status add_elf_section(const struct csni_object *object, uint32_t section, uint32_t type,
                                  csni_object_pointers *out, struct csn_error *err) {
    struct csni_span bytes;
    CSNI_TRY(csni_section_stored(object, section, &bytes, err));
    if (!csni_vec_reserve(out, out->count + bytes.size / RELA64_SIZE)) return csni_fail_memory(err, bytes.size);
    for (size_t off = 0; RELA64_SIZE <= bytes.size - off; off += RELA64_SIZE) {
        const uint8_t *p = bytes.ptr + off;
        if ((uint32_t)csni_get64(p + 8, object->big_endian) != type) continue;
        out->items[out->count++] = (struct csni_object_pointer){ csni_get64(p, object->big_endian),
                                                                  csni_get64(p + 16, object->big_endian) };
    }
    return CSN_OK;
}

csn_status csni_object_relative_pointers(const struct csni_object *object, csni_object_pointers *out, struct csn_error *err) {
    uint32_t type = relative_type(object->machine);
    uint64_t left = object->file.size; /* sections that overlap must not give more than a file has */
    if (object->container != CSNI_CONTAINER_ELF || object->kind != CSNI_OBJECT_SHARED || !type || object->address_size != 8)
        return CSN_NONE;
    for (uint32_t i = 1; i < object->section_count; i++) {
        const struct csni_section *s = &object->sections[i];
        if (s->type != SHT_RELA || !(s->flags & CSNI_SECTION_ALLOC) || (s->flags & CSNI_SECTION_COMPRESSED)) continue;
        if (s->file_size > left) break;
        left -= s->file_size;
        csn_status status = add_elf_section(object, i, type, out, err);
        if (status == CSN_E_MEMORY) return status;
    }
    if (out->count) qsort(out->items, out->count, sizeof *out->items, object_pointer_by_place);
    return CSN_OK;
}
