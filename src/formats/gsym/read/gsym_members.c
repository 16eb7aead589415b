/* The members of an archive, whose functions an index has. The table is as foreign as everything else in a file: what does not lie
 * within it is no name. */
#include "base/core/endian.h"
#include "base/core/search.h"
#include "formats/gsym/gsym_layout.h"
#include "formats/gsym/read/gsym.h"

/* Only where other writers leave no room, right before the strings, where the address sample is looked for anyway. */
void csni_gsym_find_members(struct csni_gsym *gsym) {
    uint64_t files_end = csni_gsym_files_end(gsym);
    if (!gsym->strings.size || gsym->strings_offset < files_end) return;
    uint64_t capacity = gsym->strings_offset - files_end;
    if (capacity < CSNI_GSYM_MEMBERS_TRAILER) return;
    const uint8_t *end = gsym->strings.ptr;
    if (csni_get32(end + CSNI_GSYM_MEMBERS_MAGIC_AT, gsym->big) != CSNI_GSYM_MEMBERS_MAGIC) return;
    uint64_t size = csni_get64(end + CSNI_GSYM_MEMBERS_SIZE, gsym->big);
    uint32_t count = csni_get32(end + CSNI_GSYM_MEMBERS_COUNT, gsym->big);
    if (size > capacity || size < CSNI_GSYM_MEMBERS_TRAILER + (uint64_t)count * CSNI_GSYM_MEMBER_BYTES) return;
    gsym->members = end - size;
    gsym->members_end = end - CSNI_GSYM_MEMBERS_TRAILER;
    gsym->member_count = count;
}

static uint64_t member_address(const struct csni_gsym *gsym, size_t idx) {
    return csni_get64(gsym->members + idx * CSNI_GSYM_MEMBER_BYTES + CSNI_GSYM_MEMBER_ADDRESS, gsym->big);
}

uint64_t csni_gsym_member(const struct csni_gsym *gsym, uint32_t idx, struct csn_str *name) {
    const uint8_t *entry = gsym->members + (size_t)idx * CSNI_GSYM_MEMBER_BYTES;
    struct csni_span table = { gsym->members, (size_t)(gsym->members_end - gsym->members) }, text;
    uint32_t off = csni_get32(entry + CSNI_GSYM_MEMBER_NAME, gsym->big);
    bool ok = csni_span_sub(table, off, csni_get32(entry + CSNI_GSYM_MEMBER_NAME_SIZE, gsym->big), &text);
    *name = ok ? (struct csn_str){ (const char *)text.ptr, text.size } : (struct csn_str){ "", 0 };
    return member_address(gsym, idx);
}

static CSNI_GSYM_INLINE bool begins_up_to(const void *context, size_t index, const void *key) {
    return member_address(context, index) <= *(const uint64_t *)key;
}

uint32_t csni_gsym_member_at(const struct csni_gsym *gsym, uint64_t addr) {
    return (uint32_t)csni_search_in(0, gsym->member_count, begins_up_to, gsym, &addr);
}
