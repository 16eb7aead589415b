/* Ranges of a DIE as LLVM has them: an empty one in a list is one, too, as linkers leave it of parts that they removed. */
#include <stdlib.h>

#include "stand_ins/base/dwarf_words.h"
#include "stand_ins/base/growth.h"
#include "stand_ins/gsymutil/gsym_bytes.h"
#include "stand_ins/gsymutil/gsym_dwarf.h"

/* A list that is read. */
struct list {
    struct gsym_bytes bytes;
    unsigned size;           /* of addresses */
    uint64_t base, mask;
};

static uint64_t take_address(struct list *l) { return gsym_take_number(&l->bytes, l->size); }

static void push(struct gsym_ranges *out, const struct list *l, uint64_t low, uint64_t high) {
    const struct csn_range made = { low & l->mask, high & l->mask };
    GROW_PUSH(out, made);
}

static void read_old(struct list *l, struct gsym_ranges *out) {
    while (!l->bytes.bad) {
        const uint64_t low = take_address(l), high = take_address(l);
        if (l->bytes.bad || (!low && !high)) return;
        if (low == l->mask) l->base = high;
        else if (low != l->mask - 1 && l->base != l->mask - 1) push(out, l, l->base + low, l->base + high);
    }
}

/* False: an entry that is not read here. */
static bool read_new(struct list *l, struct gsym_ranges *out) {
    enum { END, OFFSET_PAIR = 4, BASE_ADDRESS, START_END, START_LENGTH };
    while (!l->bytes.bad) {
        const unsigned kind = (unsigned)gsym_take_number(&l->bytes, 1);
        if (l->bytes.bad || kind == END) return true;
        if (kind < OFFSET_PAIR || kind > START_LENGTH) return false; /* by index */
        const uint64_t low = kind == OFFSET_PAIR ? gsym_take_leb(&l->bytes, false) : take_address(l);
        if (kind == BASE_ADDRESS) {
            l->base = low;
            continue;
        }
        const uint64_t other = kind == START_END ? take_address(l) : gsym_take_leb(&l->bytes, false);
        if (kind == OFFSET_PAIR && l->base != l->mask) push(out, l, l->base + low, l->base + other);
        if (kind != OFFSET_PAIR && low != l->mask) push(out, l, low, kind == START_END ? other : low + other);
    }
    return true;
}

/* False: there is no list that can be read here. */
static bool read_list(const struct gsym_unit *u, const struct csn_debug_die *die, struct gsym_ranges *out) {
    const struct csn_debug_unit *unit = die->unit;
    struct csn_debug_value value;
    struct csn_str section;
    const char *name = unit->version < 5 ? "ranges" : "rnglists";
    if (unit->is_split || csn_debug_die_attribute(die, DW_AT_low_pc, &value) == CSN_OK) return false;
    if (csn_debug_die_attribute(die, DW_AT_ranges, &value) != CSN_OK || value.form == DW_FORM_rnglistx || value.kind != CSN_VALUE_LIST) return false;
    if (csn_debug_info_dwarf_section(u->module->info, name, &section, NULL) != CSN_OK || value.number >= section.len) return false;
    const unsigned char *begin = (const unsigned char *)section.ptr;
    struct list l = { .bytes = { begin + value.number, begin + section.len, false, u->module->object.big_endian },
                      .size = unit->address_size, .base = unit->low_pc };
    l.mask = UINT64_MAX >> (64 - 8 * l.size);
    if (unit->version < 5) read_old(&l, out);
    else if (!read_new(&l, out)) l.bytes.bad = true;
    return !l.bytes.bad;
}

bool gsym_die_ranges(const struct gsym_unit *u, const struct csn_debug_die *die, struct csn_range **out, size_t *out_count) {
    struct csn_debug_value value;
    struct gsym_ranges all = { 0 };
    size_t count = 0;
    *out = NULL;
    *out_count = 0;
    if (csn_debug_die_attribute(die, DW_AT_low_pc, &value) != CSN_OK &&
        csn_debug_die_attribute(die, DW_AT_ranges, &value) != CSN_OK)
        return false;
    if (csn_debug_die_ranges(die, NULL, 0, &count, NULL) != CSN_OK) return false;
    if (!read_list(u, die, &all)) {
        free(all.items);
        all.items = zeroed_memory(count, sizeof *all.items);
        all.count = count;
        if (count) (void)csn_debug_die_ranges(die, all.items, count, &count, NULL);
    }
    for (size_t i = 0; i < all.count; i++) {
        const uint64_t low = llvm_raw_addr(u->module, all.items[i].start, NULL);
        all.items[i] = (struct csn_range){ low, low + (all.items[i].end - all.items[i].start) };
    }
    if (!all.count) {
        free(all.items);
        return false;
    }
    *out = all.items;
    *out_count = all.count;
    return true;
}
