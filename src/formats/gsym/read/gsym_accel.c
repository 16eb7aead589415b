/* Finding the tables of an accelerator in its bytes. Only where they lie is checked: in constant time. */
#include "formats/gsym/read/gsym_accel.h"

#include "base/core/byte_blocks.h"
#include "base/core/checked.h"

/* Takes `size` bytes at *at of a region. */
static bool take_accel_table(struct csni_span region, uint64_t *at, uint64_t size, const uint8_t **out) {
    if (*at > region.size || size > region.size - *at) return false;
    *out = region.ptr + *at;
    *at += size;
    return true;
}

/* The fields of a node, which lie within node_bytes. */
static bool take_accel_fields(struct csni_gsym_accel *accel, const uint8_t *bits) {
    uint32_t at = 0;
    for (unsigned k = 0; k < CSNI_ACCEL_FIELDS; k++) {
        if (bits[k] > 32) return false;
        accel->fields[k] = (struct csni_accel_field){ at / 8, at % 8, ((uint64_t)1 << bits[k]) - 1 };
        at += bits[k];
    }
    return at <= accel->node_bytes * 8;
}

bool csni_gsym_accel_parse(struct csni_gsym_accel *out, const struct csni_gsym *gsym, const uint8_t *trailer,
                           struct csni_span region, uint64_t readable) {
    *out = (struct csni_gsym_accel){ .table = NULL };
    if (region.size < CSNI_ACCEL_START || readable < region.size) return false;
    if (csni_accel_u32(trailer + CSNI_ACCEL_T_MAGIC) != CSNI_ACCEL_MAGIC) return false;
    if (csni_accel_u32(trailer + CSNI_ACCEL_T_REVISION) != CSNI_ACCEL_REVISION) return false;
    struct csni_gsym_accel accel = {
        .first = csni_get64(trailer + CSNI_ACCEL_T_FIRST, false), .covered = csni_get64(trailer + CSNI_ACCEL_T_COVERED, false),
        .shift = trailer[CSNI_ACCEL_T_SHIFT], .node_bytes = trailer[CSNI_ACCEL_T_NODE_BYTES],
        .file_count = csni_accel_u32(trailer + CSNI_ACCEL_T_FILES),
        .function_count = gsym->address_count, .plain_functions = csni_accel_u32(trailer + CSNI_ACCEL_T_PLAIN),
    };
    if (accel.shift < CSNI_ACCEL_SHIFT_MIN || accel.shift > CSNI_ACCEL_SHIFT_MAX) return false;
    if (!accel.covered || accel.covered > UINT32_MAX || accel.file_count != gsym->file_count) return false;
    if (!take_accel_fields(&accel, trailer + CSNI_ACCEL_T_BITS)) return false;
    uint64_t buckets = ((accel.covered - 1) >> accel.shift) + 1, at = CSNI_ACCEL_START;
    uint64_t block_bytes = csni_accel_u32(trailer + CSNI_ACCEL_T_BLOCK_BYTES);
    const uint8_t *table, *blocks;
    if (!take_accel_table(region, &at, buckets * CSNI_ACCEL_ENTRY, &table)) return false;
    if (!take_accel_table(region, &at, block_bytes, &blocks)) return false;
    if (!take_accel_table(region, &at, (uint64_t)accel.file_count * CSNI_ACCEL_FILE, &accel.files)) return false;
    accel.table = table;
    accel.blocks = blocks;
    accel.node_count = accel.node_bytes ? (uint32_t)(block_bytes / accel.node_bytes) : 0;
    accel.readable = readable - (uint64_t)(blocks - region.ptr);
    accel.direct = csni_has_byte_blocks();
    *out = accel;
    return true;
}

/* The bytes of a region, which its trailer implies; 0: of none. */
static uint64_t region_bytes(const uint8_t *trailer) {
    uint64_t covered = csni_get64(trailer + CSNI_ACCEL_T_COVERED, false), files = csni_accel_u32(trailer + CSNI_ACCEL_T_FILES);
    unsigned shift = trailer[CSNI_ACCEL_T_SHIFT];
    if (!covered || covered > UINT32_MAX || shift < CSNI_ACCEL_SHIFT_MIN || shift > CSNI_ACCEL_SHIFT_MAX) return 0;
    uint64_t buckets = ((covered - 1) >> shift) + 1;
    return CSNI_ACCEL_START + buckets * CSNI_ACCEL_ENTRY + csni_accel_u32(trailer + CSNI_ACCEL_T_BLOCK_BYTES) +
           files * CSNI_ACCEL_FILE;
}

/* Where other writers leave no room, as the address sample, before it. */
void csni_gsym_find_accel(struct csni_gsym *gsym) {
    const uint8_t *end = gsym->sample ? gsym->sample : gsym->members ? gsym->members : gsym->strings.ptr;
    uint64_t files_end = csni_gsym_files_end(gsym);
    if (!gsym->strings.size || (uint64_t)(end - gsym->bytes.ptr) < files_end) return;
    uint64_t capacity = (uint64_t)(end - gsym->bytes.ptr) - files_end;
    if (capacity < CSNI_ACCEL_TRAILER) return;
    const uint8_t *trailer = end - CSNI_ACCEL_TRAILER;
    if (csni_accel_u32(trailer + CSNI_ACCEL_T_MAGIC) != CSNI_ACCEL_MAGIC) return;
    uint64_t size = region_bytes(trailer), at = csni_get64(trailer + CSNI_ACCEL_T_REGION, false);
    if (size && csni_span_sub(gsym->bytes, at, size, &gsym->accel)) gsym->accel_trailer = trailer;
}

bool csni_gsym_accel_take_stored(struct csni_gsym_accel *out, const struct csni_gsym *gsym) {
    if (!gsym->accel.size) return false;
    uint64_t readable = gsym->bytes.size - (uint64_t)(gsym->accel.ptr - gsym->bytes.ptr);
    if (!csni_gsym_accel_parse(out, gsym, gsym->accel_trailer, gsym->accel, readable)) return false;
    out->stored_size = gsym->accel.size + CSNI_ACCEL_TRAILER;
    return true;
}
