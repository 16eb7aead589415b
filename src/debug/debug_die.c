/* DIEs with any attribute, and what the attributes mean. */
#include <callsign/debug_info.h>

#include <inttypes.h>

#include "base/core/fail.h"
#include "base/core/search.h"
#include "debug/debug_private.h"
#include "dwarf/dwarf_private.h"

/* ---- reading ---- */

static const struct csni_debug_abbrev *find_abbrev(const struct csni_debug_abbrevs *abbrevs, uint64_t code) {
    size_t i = (size_t)code - 1;
    if (!abbrevs->is_dense) i = csni_lower_bound(abbrevs->items.items, abbrevs->items.count, code, code);
    return i < abbrevs->items.count && abbrevs->items.items[i].code == code ? &abbrevs->items.items[i] : NULL;
}

/* The bytes of a unit, as a cursor that counts in the unit's section. */
static struct csni_cursor unit_cursor(const struct csni_unit *unit, uint64_t off) {
    const struct csni_dwarf *dwarf = unit->dwarf;
    struct csni_cursor c =
        csni_cursor_at(unit->in_types ? dwarf->sections.types : dwarf->sections.info, dwarf->sections.big_endian);
    c.end = c.begin + unit->end;
    c.p = c.begin + off;
    return c;
}

/* Reads one value, or steps over it. False: a form that is not known, or the unit ends. */
static bool read_value(struct csni_cursor *c, const struct csni_debug_attr *attr, const struct csni_abbrevs *sizes,
                       struct csni_attr *out) {
    out->form = attr->form;
    out->size = 0;
    out->value = 0;
    struct csni_span block;
    switch (attr->op) {
    case CSNI_STEP_FIXED: out->value = csni_cursor_uint(c, attr->size); break;
    case CSNI_STEP_BYTES:
        out->value = csni_cursor_off(c);
        out->size = attr->size;
        csni_cursor_skip(c, attr->size);
        break;
    case CSNI_STEP_FLAG: out->value = 1; break;
    case CSNI_STEP_CONST: out->value = (uint64_t)attr->implicit; break;
    case CSNI_STEP_ULEB: out->value = csni_cursor_uleb(c); break;
    case CSNI_STEP_SLEB: out->value = (uint64_t)csni_cursor_sleb(c); break;
    case CSNI_STEP_ULEB_FIXED:
        out->value = csni_cursor_uleb(c);
        out->size = (uint32_t)csni_cursor_uint(c, attr->size);
        break;
    case CSNI_STEP_STRING:
        out->value = csni_cursor_off(c);
        out->size = (uint32_t)csni_cursor_cstr(c).len;
        break;
    case CSNI_STEP_BLOCK: case CSNI_STEP_BLOCK_FIXED:
        block = csni_cursor_bytes(c, attr->op == CSNI_STEP_BLOCK ? csni_cursor_uleb(c) : csni_cursor_uint(c, attr->size));
        out->value = csni_cursor_off(c) - block.size;
        out->size = (uint32_t)block.size;
        break;
    case CSNI_STEP_INDIRECT: {
        struct csni_debug_attr inner = { .form = (uint16_t)csni_cursor_uleb(c) };
        union csni_step step;
        if (c->failed || inner.form == DW_FORM_indirect || !csni_form_step(inner.form, sizes, &step)) return false;
        if (inner.form == DW_FORM_implicit_const) inner.implicit = csni_cursor_sleb(c);
        inner.op = step.op;
        inner.size = step.size;
        return read_value(c, &inner, sizes, out);
    }
    default: return false;
    }
    return !c->failed;
}

csn_status csn_debug_die_at(const struct csn_debug_unit *unit, uint64_t offset, struct csn_debug_die *out,
                            struct csn_error *err) {
    const struct csni_unit *of = csni_debug_dwarf_unit(unit);
    const char *section = csni_unit_section(of);
    if (offset < of->first_die || offset >= of->end)
        return csni_fail(err, CSN_E_FORMAT, section, offset, "a DIE is to be here, those of the unit are from 0x%" PRIx64
                         " to 0x%" PRIx64, of->first_die, of->end);
    const struct csni_debug_abbrevs *abbrevs = csni_debug_unit_abbrevs(unit);
    if (!abbrevs) return csni_fail(err, CSN_E_UNSUPPORTED, section, offset, "the unit cannot be read");
    if (abbrevs->status == CSN_E_MEMORY) return csni_fail_memory(err, sizeof *abbrevs->items.items);
    struct csni_cursor c = unit_cursor(of, offset);
    uint64_t code = csni_cursor_uleb(&c);
    out->unit = unit;
    out->offset = offset;
    out->next = csni_cursor_off(&c);
    if (!c.failed && !code) return CSN_NONE;
    const struct csni_debug_abbrev *abbrev = c.failed ? NULL : find_abbrev(abbrevs, code);
    if (!abbrev)
        return csni_fail(err, CSN_E_FORMAT, section, offset, "the DIE has abbreviation %" PRIu64 ", which is not there",
                         code);
    out->attributes = csni_cursor_off(&c);
    out->abbreviation = abbrev;
    out->tag = abbrev->tag;
    out->has_children = abbrev->has_children;
    if (abbrev->fixed_size != CSNI_NOT_FIXED) {
        csni_cursor_skip(&c, abbrev->fixed_size);
    } else {
        const struct csni_debug_attr *attr = &abbrevs->attrs.items[abbrev->first];
        struct csni_attr ignored;
        for (uint32_t i = 0; i < abbrev->count; i++)
            if (!read_value(&c, &attr[i], of->abbrevs, &ignored))
                return csni_fail(err, CSN_E_FORMAT, section, offset, "attribute 0x%x of form 0x%x cannot be read", attr[i].name,
                                 attr[i].form);
    }
    if (c.failed)
        return csni_fail(err, CSN_E_FORMAT, section, offset, "the DIE runs beyond its unit, which ends at 0x%" PRIx64,
                         of->end);
    out->next = csni_cursor_off(&c);
    return CSN_OK;
}

/* ---- values ---- */

/* A DIE of the converter's reader with one attribute, so that its functions tell what that means. */
static void put_attribute(struct csni_die *die, const struct csn_debug_die *of, enum csni_at at, const struct csni_attr *attr) {
    die->unit = csni_debug_dwarf_unit(of->unit);
    die->off = of->offset;
    die->present = UINT64_C(1) << at;
    die->at[at] = *attr;
}

static uint32_t kind_of_form(uint32_t form, uint32_t name) {
    switch (form) {
    case DW_FORM_addr: case DW_FORM_addrx: case DW_FORM_addrx1: case DW_FORM_addrx2: case DW_FORM_addrx3: case DW_FORM_addrx4:
    case DW_FORM_GNU_addr_index: case DW_FORM_LLVM_addrx_offset: return CSN_VALUE_ADDRESS;
    case DW_FORM_string: case DW_FORM_strp: case DW_FORM_line_strp: case DW_FORM_strp_sup: case DW_FORM_GNU_strp_alt:
    case DW_FORM_strx: case DW_FORM_strx1: case DW_FORM_strx2: case DW_FORM_strx3: case DW_FORM_strx4:
    case DW_FORM_GNU_str_index: return CSN_VALUE_STRING;
    case DW_FORM_block: case DW_FORM_block1: case DW_FORM_block2: case DW_FORM_block4: case DW_FORM_exprloc:
    case DW_FORM_data16: return CSN_VALUE_BLOCK;
    case DW_FORM_ref_addr: case DW_FORM_ref1: case DW_FORM_ref2: case DW_FORM_ref4: case DW_FORM_ref8: case DW_FORM_ref_udata:
    case DW_FORM_ref_sig8: case DW_FORM_ref_sup4: case DW_FORM_ref_sup8: case DW_FORM_GNU_ref_alt: return CSN_VALUE_REFERENCE;
    case DW_FORM_sec_offset: case DW_FORM_rnglistx: case DW_FORM_loclistx: return CSN_VALUE_LIST;
    case DW_FORM_sdata: case DW_FORM_implicit_const: return CSN_VALUE_SIGNED;
    case DW_FORM_data4: case DW_FORM_data8: /* before sec_offset, DWARF 4 */
        return name == DW_AT_ranges || name == DW_AT_stmt_list ? CSN_VALUE_LIST : CSN_VALUE_NUMBER;
    default: return CSN_VALUE_NUMBER;
    }
}

static csn_status describe_value(const struct csn_debug_die *die, const struct csni_attr *attr, uint32_t name,
                                 struct csn_debug_value *out) {
    const struct csni_dwarf *dwarf = csni_debug_dwarf_unit(die->unit)->dwarf;
    struct csni_die shadow;
    *out = (struct csn_debug_value){ kind_of_form(attr->form, name), attr->form, attr->value, { "", 0 } };
    switch (out->kind) {
    case CSN_VALUE_STRING:
        put_attribute(&shadow, die, CSNI_AT_NAME, attr);
        return csni_attr_string(dwarf, &shadow, CSNI_AT_NAME, &out->bytes, NULL) == CSN_OK ? CSN_OK : CSN_NONE;
    case CSN_VALUE_ADDRESS:
        put_attribute(&shadow, die, CSNI_AT_LOW_PC, attr);
        return csni_attr_address(dwarf, &shadow, CSNI_AT_LOW_PC, &out->number, NULL) == CSN_OK ? CSN_OK : CSN_NONE;
    case CSN_VALUE_BLOCK: {
        const struct csni_unit *unit = csni_debug_dwarf_unit(die->unit);
        out->bytes = (struct csn_str){ (const char *)csni_unit_base(dwarf, unit) + attr->value, attr->size };
        return CSN_OK;
    }
    default: return CSN_OK;
    }
}

/* The attribute as it stands. */
static bool find_attribute(const struct csn_debug_die *die, uint32_t name, struct csni_attr *out) {
    const struct csni_debug_abbrev *abbrev = die->abbreviation;
    const struct csni_unit *unit = csni_debug_dwarf_unit(die->unit);
    const struct csni_debug_abbrevs *abbrevs = csni_debug_unit_abbrevs(die->unit);
    if (!abbrev->count) return false;
    const struct csni_debug_attr *attr = &abbrevs->attrs.items[abbrev->first];
    uint32_t at = 0;
    while (at < abbrev->count && attr[at].name != name) at++;
    if (at == abbrev->count) return false;
    struct csni_cursor c = unit_cursor(unit, die->attributes);
    for (uint32_t i = 0; i <= at; i++)
        if (!read_value(&c, &attr[i], unit->abbrevs, out)) return false;
    return true;
}

csn_status csn_debug_die_attribute(const struct csn_debug_die *die, uint32_t attribute, struct csn_debug_value *out) {
    struct csni_attr attr;
    return find_attribute(die, attribute, &attr) ? describe_value(die, &attr, attribute, out) : CSN_NONE;
}

/* A position holds how many attributes were given, and where the next one begins after the first. */
csn_status csn_debug_die_next_attribute(const struct csn_debug_die *die, uint64_t *position, uint32_t *attribute,
                                        struct csn_debug_value *out) {
    const struct csni_debug_abbrev *abbrev = die->abbreviation;
    const struct csni_unit *unit = csni_debug_dwarf_unit(die->unit);
    const struct csni_debug_abbrevs *abbrevs = csni_debug_unit_abbrevs(die->unit);
    const uint64_t at = *position & UINT16_MAX, off = *position >> 16;
    struct csni_attr attr;
    if (at >= abbrev->count || at == UINT16_MAX) return CSN_NONE;
    struct csni_cursor c = unit_cursor(unit, die->attributes + off);
    const struct csni_debug_attr *read = &abbrevs->attrs.items[abbrev->first + at];
    if (!read_value(&c, read, unit->abbrevs, &attr)) return CSN_NONE;
    *position = (csni_cursor_off(&c) - die->attributes) << 16 | (at + 1);
    *attribute = read->name;
    if (describe_value(die, &attr, read->name, out) != CSN_OK) out->kind = 0;
    return CSN_OK;
}

csn_status csn_debug_die_follow(const struct csn_debug_die *die, const struct csn_debug_value *reference,
                                struct csn_debug_die *out, struct csn_error *err) {
    const struct csni_attr attr = { reference->number, reference->form, 0 };
    struct csni_die shadow;
    const struct csni_unit *unit;
    uint64_t off;
    if (reference->kind != CSN_VALUE_REFERENCE) return CSN_NONE;
    put_attribute(&shadow, die, CSNI_AT_ABSTRACT_ORIGIN, &attr);
    csn_status status = csni_die_target(&shadow, CSNI_AT_ABSTRACT_ORIGIN, &unit, &off);
    if (status != CSN_OK) return status;
    if (unit == shadow.unit) {
        status = csn_debug_die_at(die->unit, off, out, err);
    } else {
        struct csni_debug_file *file = csni_debug_unit_file(die->unit);
        const struct csn_debug_unit *other;
        if (unit->dwarf == file->info->supplement.dwarf) file = &file->info->supplement;
        CSNI_TRY(csni_debug_file_unit(file, (uint32_t)(unit - unit->dwarf->units), &other, err));
        status = csn_debug_die_at(other, off, out, err);
    }
    return status == CSN_NONE ? csni_fail(err, CSN_E_FORMAT, NULL, off, "the reference leads to a null entry") : status;
}

csn_status csn_debug_unit_address(const struct csn_debug_unit *unit, uint64_t index, uint64_t *out) {
    const struct csni_unit *of = csni_debug_dwarf_unit(unit);
    return csni_address_index(of->dwarf, of, index, out, NULL) == CSN_OK ? CSN_OK : CSN_NONE;
}

csn_status csn_debug_unit_range_list(const struct csn_debug_unit *unit, uint64_t index, uint64_t *out) {
    const struct csni_unit *of = csni_debug_dwarf_unit(unit);
    return csni_rnglist_index(of->dwarf, of, index, out, NULL) == CSN_OK ? CSN_OK : CSN_NONE;
}

csn_status csn_debug_die_ranges(const struct csn_debug_die *die, struct csn_range *out, size_t cap, size_t *out_count,
                                struct csn_error *err) {
    static const struct { uint32_t name; enum csni_at at; } wanted[] = { { DW_AT_low_pc, CSNI_AT_LOW_PC },
                                                                         { DW_AT_high_pc, CSNI_AT_HIGH_PC },
                                                                         { DW_AT_ranges, CSNI_AT_RANGES } };
    const struct csni_unit *unit = csni_debug_dwarf_unit(die->unit);
    csni_address_ranges ranges = { .alloc = csni_debug_unit_file(die->unit)->info->alloc };
    struct csni_die shadow;
    shadow.unit = unit;
    shadow.off = die->offset;
    shadow.present = 0;
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        if (find_attribute(die, wanted[i].name, &shadow.at[wanted[i].at])) shadow.present |= UINT64_C(1) << wanted[i].at;
    if (!shadow.present) return CSN_NONE;
    csn_status status = csni_die_all_ranges(unit->dwarf, &shadow, &ranges, err);
    if (status == CSN_OK) {
        *out_count = ranges.count;
        for (size_t i = 0; i < ranges.count && i < cap; i++)
            out[i] = (struct csn_range){ ranges.items[i].low, ranges.items[i].high };
    }
    csni_vec_deinit(&ranges);
    return status;
}
