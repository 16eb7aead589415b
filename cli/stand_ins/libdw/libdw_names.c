/* Names, numbers and scopes. */
#include "stand_ins/libdw/libdw_names.h"

#include "stand_ins/base/dwarf_words.h"

enum { MAX_ORIGINS = 16, MAX_SCOPES = 256 };

/* A text of the DIE, or of those that it stands for. */
static bool find_text(const struct csn_debug_die *die, uint32_t name, unsigned depth, struct csn_str *out) {
    struct csn_debug_value value;
    struct csn_debug_die origin;
    if (csn_debug_die_attribute(die, name, &value) == CSN_OK && value.kind == CSN_VALUE_STRING) {
        *out = value.bytes;
        return true;
    }
    bool has_origin = csn_debug_die_attribute(die, DW_AT_abstract_origin, &value) == CSN_OK ||
                      csn_debug_die_attribute(die, DW_AT_specification, &value) == CSN_OK;
    return has_origin && depth < MAX_ORIGINS && csn_debug_die_follow(die, &value, &origin, NULL) == CSN_OK &&
           find_text(&origin, name, depth + 1, out);
}

struct csn_str libdw_die_name(const struct csn_debug_die *die) {
    struct csn_str name = CSN_STR("??");
    if (!find_text(die, DW_AT_MIPS_linkage_name, 0, &name) && !find_text(die, DW_AT_linkage_name, 0, &name))
        (void)find_text(die, DW_AT_name, 0, &name);
    return name;
}

uint64_t libdw_die_number(const struct csn_debug_die *die, uint32_t name, bool *found) {
    struct csn_debug_value value;
    *found = csn_debug_die_attribute(die, name, &value) == CSN_OK;
    return *found ? value.number : 0;
}

struct csn_str libdw_call_directory(const struct libdw_unit *unit) {
    struct csn_str directory = { "", 0 };
    if (unit->lines && csn_debug_lines_directory(unit->lines, 0, &directory) != CSN_OK) directory = unit->lines->comp_dir;
    return directory;
}

bool libdw_is_function(uint32_t tag) {
    return tag == DW_TAG_inlined_subroutine || tag == DW_TAG_entry_point || tag == DW_TAG_subprogram;
}

bool libdw_scopes_from(struct libdw_unit *unit, uint32_t innermost, struct libdw_scopes *out) {
    struct csn_debug_value value;
    struct csn_debug_die origin;
    out->count = 0;
    for (uint32_t at = innermost; at != LIBDW_NO_PARENT && out->count < MAX_SCOPES; at = unit->dies.items[at].parent) {
        out->items[out->count++] = at;
        const struct csn_debug_die *die = &unit->dies.items[at].die;
        if (die->tag != DW_TAG_inlined_subroutine) continue;
        if (csn_debug_die_attribute(die, DW_AT_abstract_origin, &value) != CSN_OK ||
            csn_debug_die_follow(die, &value, &origin, NULL) != CSN_OK)
            return false;
        if (origin.unit != unit->unit) return origin.unit->tag == DW_TAG_partial_unit; /* which this one imports */
        uint32_t from = libdw_unit_find(unit, origin.offset);
        if (from == LIBDW_NO_PARENT) return false;
        for (at = unit->dies.items[from].parent; at != LIBDW_NO_PARENT && out->count < MAX_SCOPES; at = unit->dies.items[at].parent)
            out->items[out->count++] = at;
        return true;
    }
    return out->count > 0;
}

bool libdw_find_scopes(struct libdw_unit *unit, uint64_t addr, struct libdw_scopes *out) {
    return libdw_scopes_from(unit, libdw_unit_scope(unit, addr), out);
}
