/* The copies of names before blocks of an accelerator: formats/gsym/gsym_accel_layout.h. */
#include "remote/remote_names.h"

#include "base/core/alloc.h"
#include "base/core/fail.h"

static size_t slot_of(const struct csni_remote_names *names, uint64_t offset) {
    size_t at = (size_t)(offset * UINT64_C(0x9e3779b97f4a7c15) >> 32) & (names->capacity - 1);
    while (names->slots[at].offset && names->slots[at].offset != offset) at = (at + 1) & (names->capacity - 1);
    return at;
}

static csn_status grow_names(struct csni_remote_names *names, struct csn_error *err) {
    enum { FIRST = 64 };
    struct csni_remote_names grown = { .allocator = names->allocator,
                                       .count = names->count,
                                       .capacity = names->capacity ? names->capacity * 2 : FIRST };
    if (names->count * 2 < names->capacity) return CSN_OK;
    grown.slots = csni_alloc_zeroed(grown.allocator, grown.capacity, sizeof *grown.slots);
    if (!grown.slots) return csni_fail_memory(err, grown.capacity * sizeof *grown.slots);
    for (size_t i = 0; i < names->capacity; i++)
        if (names->slots[i].offset) grown.slots[slot_of(&grown, names->slots[i].offset)] = names->slots[i];
    csni_remote_names_deinit(names);
    *names = grown;
    return CSN_OK;
}

static csn_status add_remote_name(struct csni_remote_names *names, uint64_t offset, struct csn_str text, struct csn_error *err) {
    if (!offset) return CSN_OK;
    CSNI_TRY(grow_names(names, err));
    struct csni_remote_name *slot = &names->slots[slot_of(names, offset)];
    names->count += !slot->offset;
    *slot = (struct csni_remote_name){ offset, text };
    return CSN_OK;
}

/* Of [p, p + size), with all that is around them. */
static csn_status take_names(struct csni_remote_names *names, const uint8_t *p, uint32_t size, struct csn_error *err) {
    uint32_t count = csni_accel_u32(p), most = (size - CSNI_ACCEL_NAMES_START - CSNI_ACCEL_NAMES_END) / CSNI_ACCEL_NAMES_ENTRY;
    if (count > most) return CSN_OK;
    const uint8_t *entry = p + CSNI_ACCEL_NAMES_START, *text = entry + (size_t)count * CSNI_ACCEL_NAMES_ENTRY,
                  *end = p + size - CSNI_ACCEL_NAMES_END;
    struct csn_str known;
    if (count && csni_remote_names_find(names, csni_accel_u32(entry), &known) && known.ptr == (const char *)text) return CSN_OK; /* taken before */
    for (uint32_t i = 0; i < count; i++, entry += CSNI_ACCEL_NAMES_ENTRY) {
        uint32_t length = csni_accel_u32(entry + 4);
        if (length >= (uint64_t)(end - text) || text[length]) return CSN_OK;
        CSNI_TRY(add_remote_name(names, csni_accel_u32(entry), (struct csn_str){ (const char *)text, length }, err));
        text += length + 1;
    }
    return CSN_OK;
}

csn_status csni_remote_names_take(struct csni_remote_names *names, const struct csni_gsym_accel *accel, const uint8_t *entry,
                                  struct csn_error *err) {
    uint64_t at = csni_accel_u32(entry);
    if (at >= accel->readable || accel->readable - at < CSNI_ACCEL_BLOCK_HEADER || at < CSNI_ACCEL_NAMES_END) return CSN_OK;
    const uint8_t *block = accel->blocks + at;
    if (!(block[CSNI_ACCEL_B_NODE_BITS] & CSNI_ACCEL_HAS_NAMES)) return CSN_OK;
    for (uint64_t end = at; end >= CSNI_ACCEL_NAMES_END;) {
        const uint8_t *p = accel->blocks + end;
        uint32_t size = csni_accel_u32(p - 4), back = csni_accel_u32(p - CSNI_ACCEL_NAMES_END);
        if (size < CSNI_ACCEL_NAMES_START + CSNI_ACCEL_NAMES_END || size > CSNI_ACCEL_NAMES_MOST || size > end ||
            at - end + size > CSNI_ACCEL_NEAR)
            return CSN_OK;
        CSNI_TRY(take_names(names, p - size, size, err));
        if (back < size || back > end || at - end + back > CSNI_ACCEL_NEAR - CSNI_ACCEL_NAMES_END) return CSN_OK;
        end -= back;
    }
    return CSN_OK;
}

bool csni_remote_names_find(const struct csni_remote_names *names, uint64_t offset, struct csn_str *out) {
    if (!names->count || !offset) return false;
    const struct csni_remote_name *slot = &names->slots[slot_of(names, offset)];
    if (slot->offset) *out = slot->text;
    return slot->offset != 0;
}

void csni_remote_names_deinit(struct csni_remote_names *names) {
    csni_free(names->allocator, names->slots, names->capacity * sizeof *names->slots);
    names->slots = NULL;
    names->count = names->capacity = 0;
}
