/* The expressions of a location: one, or those of a list. */
#include "stand_ins/llvm/llvm_locations.h"

#include "stand_ins/base/dwarf_words.h"

static uint64_t take_number(struct llvm_locations *l, unsigned size) {
    uint64_t value = 0;
    if ((size_t)(l->end - l->p) < size) {
        l->p = l->end;
        return 0;
    }
    for (unsigned i = 0; i < size; i++) value |= (uint64_t)l->p[i] << 8 * (l->big ? size - 1 - i : i);
    l->p += size;
    return value;
}

static uint64_t take_uleb(struct llvm_locations *l) {
    uint64_t value = 0;
    for (unsigned shift = 0; l->p < l->end; shift += 7) {
        unsigned char b = *l->p++;
        if (shift < 64) value |= (uint64_t)(b & 0x7f) << shift;
        if (!(b & 0x80)) break;
    }
    return value;
}

static struct csn_str take_expression(struct llvm_locations *l, uint64_t size) {
    if (size > (uint64_t)(l->end - l->p)) size = (uint64_t)(l->end - l->p);
    l->p += size;
    return (struct csn_str){ (const char *)l->p - size, (size_t)size };
}

/* Whether an entry of .debug_loclists follows, with its expression. */
static bool next_loclist(struct llvm_locations *l, struct csn_str *out) {
    while (l->p < l->end) {
        switch (*l->p++) {
        case 1: take_uleb(l); continue;
        case 6: take_number(l, l->addr_size); continue;
        case 2: case 3: case 4: take_uleb(l); take_uleb(l); break;
        case 5: break;
        case 7: take_number(l, l->addr_size); take_number(l, l->addr_size); break;
        case 8: take_number(l, l->addr_size); take_uleb(l); break;
        default: return false;
        }
        *out = take_expression(l, take_uleb(l));
        return true;
    }
    return false;
}

static bool next_loc(struct llvm_locations *l, struct csn_str *out) {
    const uint64_t highest = UINT64_MAX >> (64 - 8 * l->addr_size);
    while (l->p < l->end) {
        uint64_t low = take_number(l, l->addr_size), high = take_number(l, l->addr_size);
        if (!low && !high) return false;
        if (low == highest) continue;
        *out = take_expression(l, take_number(l, 2));
        return true;
    }
    return false;
}

/* Where a list begins in its section. */
static bool list_offset(const struct csn_debug_die *die, const struct csn_debug_value *value, struct csn_str section,
                        bool big, uint64_t *out) {
    enum { DW_AT_loclists_base = 0x8c };
    struct csn_debug_die root;
    struct csn_debug_value base;
    *out = value->number;
    if (value->form != DW_FORM_loclistx) return true;
    if (csn_debug_die_at(die->unit, die->unit->root, &root, NULL) != CSN_OK) return false;
    uint64_t from = csn_debug_die_attribute(&root, DW_AT_loclists_base, &base) == CSN_OK ? base.number : 12;
    uint64_t at = from + value->number * die->unit->offset_size;
    if (at > section.len) return false;
    const unsigned char *bytes = (const unsigned char *)section.ptr;
    struct llvm_locations l = { .p = bytes + at, .end = bytes + section.len, .big = big };
    *out = from + take_number(&l, die->unit->offset_size);
    return true;
}

struct llvm_locations llvm_die_locations(const struct llvm_module *m, const struct csn_debug_die *die) {
    struct llvm_locations l = { .big = m->object.big_endian,
                                .is_new = die->unit->version >= 5,
                                .addr_size = die->unit->address_size };
    struct csn_debug_value value;
    struct csn_str section;
    uint64_t offset;
    if (csn_debug_die_attribute(die, DW_AT_location, &value) != CSN_OK) return l;
    if (value.kind == CSN_VALUE_BLOCK) {
        l.single = value.bytes;
        l.has_single = true;
        return l;
    }
    if (die->unit->is_split || csn_debug_info_dwarf_section(m->info, l.is_new ? "loclists" : "loc", &section, NULL) != CSN_OK ||
        !list_offset(die, &value, section, l.big, &offset) || offset >= section.len)
        return l;
    l.p = (const unsigned char *)section.ptr + offset;
    l.end = (const unsigned char *)section.ptr + section.len;
    return l;
}

bool llvm_locations_next(struct llvm_locations *l, struct csn_str *out) {
    if (l->has_single) {
        *out = l->single;
        l->has_single = false;
        return true;
    }
    return l->is_new ? next_loclist(l, out) : next_loc(l, out);
}
