/* The table of an archive's members: gsym_layout.h has its form. */
#include "formats/gsym/write/gsym_write_members.h"

#include <string.h>

#include "base/core/checked.h"
#include "base/core/endian.h"
#include "formats/gsym/gsym_layout.h"

static uint64_t name_bytes(const struct csni_image *image) {
    uint64_t size = 0;
    for (size_t i = 0; i < image->members.count; i++) size += image->members.items[i].name.len;
    return size;
}

uint64_t csni_gsym_members_size(const struct csni_image *image) {
    uint64_t entries = (uint64_t)image->members.count * CSNI_GSYM_MEMBER_BYTES;
    if (!entries || entries + name_bytes(image) > UINT32_MAX) return 0;
    return csni_align_up(entries + name_bytes(image), 8) + CSNI_GSYM_MEMBERS_TRAILER;
}

void csni_gsym_fill_members(const struct csni_image *image, uint8_t *p, bool big) {
    uint64_t size = csni_gsym_members_size(image), name = (uint64_t)image->members.count * CSNI_GSYM_MEMBER_BYTES;
    if (!size) return;
    for (size_t i = 0; i < image->members.count; i++) {
        const struct csni_member *m = &image->members.items[i];
        uint8_t *entry = p + i * CSNI_GSYM_MEMBER_BYTES;
        csni_put64(entry + CSNI_GSYM_MEMBER_ADDRESS, m->start, big);
        csni_put32(entry + CSNI_GSYM_MEMBER_NAME, (uint32_t)name, big);
        csni_put32(entry + CSNI_GSYM_MEMBER_NAME_SIZE, (uint32_t)m->name.len, big);
        if (m->name.len) memcpy(p + name, m->name.ptr, m->name.len);
        name += m->name.len;
    }
    csni_put64(p + size + CSNI_GSYM_MEMBERS_SIZE, size, big);
    csni_put32(p + size + CSNI_GSYM_MEMBERS_COUNT, (uint32_t)image->members.count, big);
    csni_put32(p + size + CSNI_GSYM_MEMBERS_MAGIC_AT, CSNI_GSYM_MEMBERS_MAGIC, big);
}
