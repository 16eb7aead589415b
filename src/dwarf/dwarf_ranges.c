/* Address ranges of a DIE: low_pc and high_pc, .debug_ranges, .debug_rnglists. */
#include "base/core/checked.h"
#include "dwarf/dwarf_private.h"

#include <inttypes.h>

/* A range list that is being read. */
struct list {
    const struct csni_dwarf *dwarf;
    const struct csni_unit *unit;
    struct csni_cursor c;
    uint64_t off;       /* where it begins */
    uint64_t base;      /* address that offsets are relative to */
    uint64_t mask;      /* highest address */
    bool base_is_dead, keeps_empty;
    csni_address_ranges *out;
};

/* Where a range from `low` on ends that was added up. The end of the last byte that 32 bits can address takes 33. */
static uint64_t end_of_sum(uint64_t low, uint64_t sum, uint64_t mask) {
    uint64_t high = sum & mask;
    return high || !low ? high : mask + 1; /* of 64 bits that is 0, too */
}

static csn_status add_range(struct list *list, uint64_t low, uint64_t high, struct csn_error *err) {
    struct csni_address_range range = { low, high };
    if (low == high && !list->keeps_empty) return CSN_OK;
    return csni_vec_push(list->out, range) ? CSN_OK : csni_fail_memory(err, sizeof range);
}

static csn_status no_end(const struct list *list, const char *section, struct csn_error *err) {
    return csni_fail(err, CSN_E_TRUNCATED, section, list->off, "range list has no end in the section's %zu bytes",
                     (size_t)(list->c.end - list->c.begin));
}

static struct list list_at(const struct csni_dwarf *dwarf, const struct csni_unit *unit, struct csni_span section,
                           uint64_t off, bool keeps_empty, csni_address_ranges *out) {
    struct list list = { .dwarf = dwarf, .unit = unit, .off = off, .keeps_empty = keeps_empty, .out = out,
                         .c = csni_cursor_at(section, dwarf->sections.big_endian) };
    list.base = unit->has_low_pc ? unit->low_pc : 0;
    list.mask = UINT64_MAX >> (64 - 8 * unit->address_size);
    csni_cursor_seek(&list.c, off);
    return list;
}

/* DWARF 2 to 4, 2.17.3. Linkers mark what they discarded by the highest address but one: the highest is taken. */
static csn_status read_range_list_ranges(struct list *list, struct csn_error *err) {
    struct csni_cursor *c = &list->c;
    unsigned size = list->unit->address_size;
    for (;;) {
        uint64_t low = csni_cursor_uint(c, size), high = csni_cursor_uint(c, size);
        if (c->failed) return no_end(list, ".debug_ranges", err);
        if (!low && !high) return CSN_OK;
        if (low == list->mask) {
            list->base = high;
            list->base_is_dead = high == list->mask - 1;
        } else if (low != list->mask - 1 && !list->base_is_dead) {
            const uint64_t start = (list->base + low) & list->mask;
            CSNI_TRY(add_range(list, start, end_of_sum(start, list->base + high, list->mask), err));
        }
    }
}

/* The operand of an entry that is an index of .debug_addr. */
static csn_status indexed_address(struct list *list, uint64_t *out, struct csn_error *err) {
    uint64_t index = csni_cursor_uleb(&list->c);
    if (list->c.failed) return no_end(list, ".debug_rnglists", err);
    return csni_address_index(list->dwarf, list->unit, index, out, err);
}

/* One entry with two operands: both ends of a range. */
static csn_status read_pair(struct list *list, uint8_t kind, uint64_t *low, uint64_t *high, struct csn_error *err) {
    struct csni_cursor *c = &list->c;
    unsigned size = list->unit->address_size;
    switch (kind) {
    case DW_RLE_startx_endx:
        CSNI_TRY(indexed_address(list, low, err));
        return indexed_address(list, high, err);
    case DW_RLE_startx_length:
        CSNI_TRY(indexed_address(list, low, err));
        *high = end_of_sum(*low, *low + csni_cursor_uleb(c), list->mask);
        return CSN_OK;
    case DW_RLE_offset_pair:
        *low = (list->base + csni_cursor_uleb(c)) & list->mask;
        *high = end_of_sum(*low, list->base + csni_cursor_uleb(c), list->mask);
        return CSN_OK;
    case DW_RLE_start_end:
        *low = csni_cursor_uint(c, size);
        *high = csni_cursor_uint(c, size);
        return CSN_OK;
    default: /* DW_RLE_start_length */
        *low = csni_cursor_uint(c, size);
        *high = end_of_sum(*low, *low + csni_cursor_uleb(c), list->mask);
        return CSN_OK;
    }
}

/* The entries that nearly all lists consist of: perhaps a base address, then offset pairs, then the end. False: there is
 * something else, damage, or no memory; nothing has been added then. */
static bool read_usual_rnglist(const uint8_t *p, const uint8_t *end, const struct csni_unit *unit, bool big,
                               bool keeps_empty, csni_address_ranges *out) {
    const uint64_t mask = UINT64_MAX >> (64 - 8 * unit->address_size);
    const size_t kept = out->count;
    uint64_t base = unit->has_low_pc ? unit->low_pc : 0;
    if (*p == DW_RLE_base_address && unit->address_size == 8 && end - p > 9) {
        base = csni_get64(p + 1, big);
        p += 9;
    }
    if (base == mask) return false; /* removed by the linker */
    while (p < end && *p == DW_RLE_offset_pair) {
        uint64_t low, high;
        p = csni_uleb(p + 1, end, &low);
        if (p) p = csni_uleb(p, end, &high);
        if (CSNI_UNLIKELY(!p)) break;
        const uint64_t start = (base + low) & mask;
        const struct csni_address_range range = { start, end_of_sum(start, base + high, mask) };
        if ((range.low != range.high || keeps_empty) && !csni_vec_push(out, range)) break;
    }
    if (CSNI_LIKELY(p && p < end && *p == DW_RLE_end_of_list)) return true;
    out->count = kept;
    return false;
}

/* DWARF 5, 2.17.3 and 7.25. Linkers mark what they discarded by the highest address. */
static csn_status read_rnglist(struct list *list, struct csn_error *err) {
    struct csni_cursor *c = &list->c;
    for (;;) {
        uint64_t at = csni_cursor_off(c), low = 0, high = 0;
        uint8_t kind = csni_cursor_u8(c);
        if (c->failed) return no_end(list, ".debug_rnglists", err);
        if (kind == DW_RLE_end_of_list) return CSN_OK;
        if (kind == DW_RLE_base_addressx || kind == DW_RLE_base_address) {
            if (kind == DW_RLE_base_address) list->base = csni_cursor_uint(c, list->unit->address_size);
            else CSNI_TRY(indexed_address(list, &list->base, err));
            list->base_is_dead = list->base == list->mask;
            continue;
        }
        if (kind > DW_RLE_start_length)
            return csni_fail(err, CSN_E_FORMAT, ".debug_rnglists", at, "range list entry of kind %u, need <= %u", kind,
                             DW_RLE_start_length);
        CSNI_TRY(read_pair(list, kind, &low, &high, err));
        if (c->failed) return no_end(list, ".debug_rnglists", err);
        if (kind == DW_RLE_offset_pair ? list->base_is_dead : low == list->mask) continue;
        CSNI_TRY(add_range(list, low, high, err));
    }
}

csn_status csni_rnglist_index(const struct csni_dwarf *dwarf, const struct csni_unit *unit, uint64_t index,
                              uint64_t *out, struct csn_error *err) {
    struct csni_span entry;
    uint64_t off;
    if (!csni_mul_u64(index, unit->offset_size, &off) || !csni_add_u64(off, unit->rnglists_base, &off) ||
        !csni_span_sub(dwarf->sections.rnglists, off, unit->offset_size, &entry))
        return csni_fail(err, CSN_E_FORMAT, ".debug_rnglists", unit->rnglists_base,
                         "index %" PRIu64 " of the table here is to be read, the section has %zu bytes", index,
                         dwarf->sections.rnglists.size);
    *out = unit->rnglists_base + csni_get_sized(entry.ptr, unit->offset_size, dwarf->sections.big_endian);
    return CSN_OK;
}

/* Addresses of forms that are not usual. */
static CSNI_NOINLINE csn_status low_and_high(const struct csni_dwarf *dwarf, const struct csni_die *die,
                                             csni_address_ranges *out, struct csn_error *err) {
    struct csni_address_range range;
    csn_status status = csni_attr_address(dwarf, die, CSNI_AT_LOW_PC, &range.low, err);
    if (status != CSN_OK) return status;
    status = csni_attr_address(dwarf, die, CSNI_AT_HIGH_PC, &range.high, err);
    if (status < 0) return status;
    if (status == CSN_NONE) {
        if (csni_attr_unsigned(die, CSNI_AT_HIGH_PC, &range.high) != CSN_OK) return CSN_NONE;
        range.high += range.low;
    }
    return csni_vec_push(out, range) ? CSN_OK : csni_fail_memory(err, sizeof range);
}

static CSNI_NOINLINE csn_status listed_ranges(const struct csni_dwarf *dwarf, const struct csni_die *die, bool keeps_empty,
                                              csni_address_ranges *out, struct csn_error *err) {
    const struct csni_unit *unit = die->unit;
    uint64_t off;
    if (csni_attr_unsigned(die, CSNI_AT_RANGES, &off) != CSN_OK) return CSN_NONE;
    bool five = unit->version >= 5;
    if (die->at[CSNI_AT_RANGES].form == DW_FORM_rnglistx)
        CSNI_TRY(csni_rnglist_index(dwarf, unit, off, &off, err));
    else if (unit->is_split && !csni_add_u64(off, five ? unit->rnglists_at : unit->ranges_base, &off))
        off = UINT64_MAX;
    struct csni_span section = five ? dwarf->sections.rnglists : dwarf->sections.ranges;
    const char *name = five ? ".debug_rnglists" : ".debug_ranges";
    if (off >= section.size)
        return csni_fail(err, CSN_E_FORMAT, name, off, "a range list is to be here, the section has %zu bytes", section.size);
    const bool big = dwarf->sections.big_endian;
    if (five && read_usual_rnglist(section.ptr + off, section.ptr + section.size, unit, big, keeps_empty, out))
        return CSN_OK;
    struct list list = list_at(dwarf, unit, section, off, keeps_empty, out);
    size_t kept = out->count;
    csn_status status = five ? read_rnglist(&list, err) : read_range_list_ranges(&list, err);
    if (status < 0) out->count = kept;
    return status;
}

static inline csn_status die_ranges(const struct csni_dwarf *dwarf, const struct csni_die *die, bool keeps_empty,
                                    csni_address_ranges *out, struct csn_error *err) {
    const uint64_t both = UINT64_C(1) << CSNI_AT_LOW_PC | UINT64_C(1) << CSNI_AT_HIGH_PC;
    if ((die->present & both) != both) return listed_ranges(dwarf, die, keeps_empty, out, err);
    const struct csni_attr *low = &die->at[CSNI_AT_LOW_PC], *size = &die->at[CSNI_AT_HIGH_PC];
    bool usual = low->form == DW_FORM_addr && (size->form == DW_FORM_data8 || size->form == DW_FORM_data4);
    if (CSNI_LIKELY(usual && out->count < out->capacity)) {
        out->items[out->count++] = (struct csni_address_range){ low->value, low->value + size->value };
        return CSN_OK;
    }
    csn_status status = low_and_high(dwarf, die, out, err);
    return status == CSN_NONE ? listed_ranges(dwarf, die, keeps_empty, out, err) : status;
}

csn_status csni_die_ranges(const struct csni_dwarf *dwarf, const struct csni_die *die, csni_address_ranges *out,
                           struct csn_error *err) {
    return die_ranges(dwarf, die, false, out, err);
}

csn_status csni_die_all_ranges(const struct csni_dwarf *dwarf, const struct csni_die *die, csni_address_ranges *out,
                               struct csn_error *err) {
    return die_ranges(dwarf, die, true, out, err);
}
