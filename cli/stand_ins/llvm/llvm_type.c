/* Sizes of types, as llvm-symbolizer works them out. */
#include "stand_ins/base/dwarf_words.h"
#include "stand_ins/llvm/llvm_module.h"

enum { MAX_TYPES = 64 }; /* that lead from one to the next */

static bool size_of_type(const struct csn_debug_die *type, unsigned depth, uint64_t *out);

static bool follow_type(const struct csn_debug_die *die, struct csn_debug_die *out) {
    struct csn_debug_value value;
    return csn_debug_die_attribute(die, DW_AT_type, &value) == CSN_OK && csn_debug_die_follow(die, &value, out, NULL) == CSN_OK;
}

/* Signed constants count only where the abbreviation has them. */
static bool unsigned_of(const struct csn_debug_die *die, uint32_t name, uint64_t *out) {
    struct csn_debug_value value;
    if (csn_debug_die_attribute(die, name, &value) != CSN_OK || value.form == DW_FORM_sdata ||
        (value.kind != CSN_VALUE_NUMBER && value.kind != CSN_VALUE_SIGNED))
        return false;
    *out = value.number;
    return true;
}

static int64_t number_of(const struct csn_debug_die *die, uint32_t name, bool *found) {
    struct csn_debug_value value;
    *found = csn_debug_die_attribute(die, name, &value) == CSN_OK &&
             (value.kind == CSN_VALUE_NUMBER || value.kind == CSN_VALUE_SIGNED);
    if (!*found) return 0;
    if (value.form == 0x0b) return (int8_t)value.number;
    if (value.form == 0x05) return (int16_t)value.number;
    if (value.form == 0x06) return (int32_t)value.number;
    return (int64_t)value.number;
}

/* The size of the elements times the length of each dimension. */
static bool size_of_array(const struct csn_debug_die *array, unsigned depth, uint64_t *out) {
    enum { DW_TAG_subrange_type = 0x21, DW_AT_lower_bound = 0x22 };
    struct csn_debug_die element, child;
    if (!follow_type(array, &element) || !size_of_type(&element, depth + 1, out)) return false;
    size_t level = 0;
    for (uint64_t offset = array->next; array->has_children;) {
        csn_status status = csn_debug_die_at(array->unit, offset, &child, NULL);
        offset = child.next;
        if (status < 0) return true;
        if (status == CSN_NONE) {
            if (!level--) return true;
            continue;
        }
        bool has_count, has_upper, has_lower;
        if (!level && child.tag == DW_TAG_subrange_type) {
            uint64_t count;
            has_count = unsigned_of(&child, DW_AT_count, &count);
            int64_t upper = number_of(&child, DW_AT_upper_bound, &has_upper),
                    lower = number_of(&child, DW_AT_lower_bound, &has_lower);
            if (has_count) *out *= count;
            if (has_upper) *out *= (uint64_t)(upper - lower + 1);
        }
        level += child.has_children != 0;
    }
    return true;
}

static bool size_of_type(const struct csn_debug_die *type, unsigned depth, uint64_t *out) {
    struct csn_debug_die other;
    if (depth > MAX_TYPES) return false;
    if (unsigned_of(type, DW_AT_byte_size, out)) return true;
    switch (type->tag) {
    case 0x0f: case 0x10: case 0x42: *out = type->unit->address_size; return true; /* pointer, references */
    case 0x1f: /* pointer to member: of functions, two words */
        *out = type->unit->address_size * (follow_type(type, &other) && other.tag == 0x15 ? 2u : 1u);
        return true;
    case 0x01: return size_of_array(type, depth, out);
    default: return follow_type(type, &other) && size_of_type(&other, depth + 1, out); /* const, typedef, subranges of Ada ... */
    }
}

bool llvm_type_size(const struct csn_debug_die *die, uint64_t *out) {
    struct csn_debug_die type;
    return follow_type(die, &type) && size_of_type(&type, 0, out);
}
