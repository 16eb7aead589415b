/* Finding a section in place: which container it is, and the images of universal files. */
#include "object/find/section_find.h"

#include "base/core/endian.h"
#include "object/find/macho_arch.h"
#include "object/macho/macho_layout.h"

/* Where a universal file has the number of its images, a Java class has its version, which began at 45. */
enum { IMAGES_MAX = 44 };

static bool is_universal(struct csni_span file) {
    if (file.size < FAT_HEADER_SIZE) return false;
    uint32_t magic = csni_get32(file.ptr, true);
    return (magic == FAT_MAGIC || magic == FAT_MAGIC_64) && csni_get32(file.ptr + MACHO_MAGIC_SIZE, true) <= IMAGES_MAX;
}

bool csni_section_find_recognize(struct csni_span file) {
    return csni_section_find_is_elf(file) || csni_section_find_is_macho(file) || is_universal(file) ||
           csni_section_find_is_pe(file);
}

uint32_t csni_section_find_images(struct csni_span file) {
    return is_universal(file) ? csni_get32(file.ptr + MACHO_MAGIC_SIZE, true) : 1;
}

bool csni_section_find_image(struct csni_span file, uint32_t idx, struct csni_span *out) {
    if (!is_universal(file)) {
        *out = file;
        return true;
    }
    bool wide = csni_get32(file.ptr, true) == FAT_MAGIC_64;
    size_t size = wide ? FAT_ARCH_64_SIZE : FAT_ARCH_SIZE;
    unsigned word = wide ? 8 : 4;
    struct csni_span arch;
    if (!csni_span_sub(file, FAT_HEADER_SIZE + (uint64_t)idx * size, size, &arch)) return false;
    const uint8_t *place = arch.ptr + 8; /* after cputype and cpusubtype */
    return csni_span_sub(file, csni_get_sized(place, word, true), csni_get_sized(place + word, word, true), out);
}

const char *csni_section_find_arch(struct csni_span image) {
    if (!csni_section_find_is_macho(image)) return "";
    uint32_t magic = csni_get32(image.ptr, false);
    bool big = magic != MH_MAGIC && magic != MH_MAGIC_64;
    return csni_macho_arch_name(csni_get32(image.ptr + 4, big), csni_get32(image.ptr + 8, big));
}

csn_status csni_section_find(struct csni_span image, struct csn_str name, struct csni_span *out, struct csn_error *err) {
    if (csni_section_find_is_elf(image)) return csni_section_find_elf(image, name, out, err);
    if (csni_section_find_is_macho(image)) return csni_section_find_macho(image, name, out, err);
    if (csni_section_find_is_pe(image)) return csni_section_find_pe(image, name, out, err);
    return CSN_NONE;
}

csn_status csni_section_find_index(struct csni_span image, struct csni_span *out, struct csn_error *err) {
    return csni_section_find(image, csni_str(csni_section_find_is_macho(image) ? "__gsym" : ".gsym"), out, err);
}
