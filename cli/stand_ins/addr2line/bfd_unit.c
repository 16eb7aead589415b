/* Reading a unit. */
#define _GNU_SOURCE
#include "stand_ins/addr2line/bfd_unit.h"

#include <stdlib.h>
#include <string.h>

#include "stand_ins/addr2line/bfd_damage.h"
#include "stand_ins/base/dwarf_words.h"
#include "stand_ins/base/growth.h"
#include "ui/bounds.h"

/* ---- ranges ---- */

/* Two ranges that touch become one, as far as the new one touches one that there is. */
static void add_to_ranges(struct bfd_ranges *ranges, uint64_t low, uint64_t high) {
    for (size_t i = 0; i < ranges->count; i++) {
        struct bfd_range *r = &ranges->items[i];
        if (low == r->high) {
            r->high = high;
            return;
        }
        if (high == r->low) {
            r->low = low;
            return;
        }
    }
    const struct bfd_range made = { low, high };
    GROW_PUSH(ranges, made);
}

static void add_range(struct bfd_unit *u, struct bfd_file *file, struct bfd_ranges *ranges, uint64_t low, uint64_t high) {
    if (low == high) return;
    file->add_range(file->context, u, low, high);
    add_to_ranges(ranges, low, high);
}

/* Bytes of a range list. */
struct list_reader {
    const unsigned char *p, *end;
    bool big, failed;
};

static uint64_t read_number(struct list_reader *r, unsigned size) {
    uint64_t value = 0;
    if ((size_t)(r->end - r->p) < size) {
        r->failed = true;
        return 0;
    }
    for (unsigned i = 0; i < size; i++) value |= (uint64_t)r->p[i] << 8 * (r->big ? size - 1 - i : i);
    r->p += size;
    return value;
}

static uint64_t read_leb(struct list_reader *r) {
    uint64_t value = 0;
    for (unsigned shift = 0; r->p < r->end; shift += 7) {
        unsigned char b = *r->p++;
        if (shift < 64) value |= (uint64_t)(b & 0x7f) << shift;
        if (!(b & 0x80)) break;
    }
    return value;
}

static bool read_range_list(struct bfd_unit *u, struct bfd_file *file, struct bfd_ranges *ranges, struct list_reader *r,
                            uint64_t base) {
    const unsigned size = u->unit->address_size;
    const uint64_t mask = UINT64_MAX >> (64 - 8 * size);
    for (;;) {
        uint64_t low = read_number(r, size), high = read_number(r, size);
        if (r->failed) return false;
        if (!low && !high) return true;
        if (low == UINT64_MAX && high != UINT64_MAX) base = high;
        else
            add_range(u, file, ranges, (base + low) & (size == 8 ? mask : UINT64_MAX),
                      (base + high) & (size == 8 ? mask : UINT64_MAX));
    }
}

/* Entries with an index of .debug_addr are unknown to BFD. */
static bool read_rnglist(struct bfd_unit *u, struct bfd_file *file, struct bfd_ranges *ranges, struct list_reader *r,
                         uint64_t base) {
    const unsigned size = u->unit->address_size;
    for (;;) {
        uint64_t low, high;
        if (r->p >= r->end) return false;
        switch (*r->p++) {
        case 0: return true;
        case 5: base = read_number(r, size); if (r->failed) return false; continue;
        case 7: low = read_number(r, size); high = low + read_leb(r); break;
        case 4: low = base + read_leb(r); high = base + read_leb(r); break;
        case 6: low = read_number(r, size); high = read_number(r, size); break;
        default: return false;
        }
        if (r->failed) return false;
        add_range(u, file, ranges, low, high);
    }
}

static bool read_ranges(struct bfd_unit *u, struct bfd_file *file, struct bfd_ranges *ranges, uint64_t offset, uint64_t base) {
    bool old = u->unit->version <= 4;
    struct csn_str section = old ? file->range_section : file->rnglist_section;
    if (!section.ptr || offset > section.len) return false;
    const unsigned char *bytes = (const unsigned char *)section.ptr;
    struct list_reader r = { bytes + offset, bytes + section.len, file->big_endian, false };
    return old ? read_range_list(u, file, ranges, &r, base) : read_rnglist(u, file, ranges, &r, base);
}

/* ---- the root ---- */

static bool has_number(const struct csn_debug_value *value) {
    switch (value->kind) {
    case CSN_VALUE_NUMBER: case CSN_VALUE_SIGNED: case CSN_VALUE_ADDRESS: case CSN_VALUE_REFERENCE: return true;
    case CSN_VALUE_LIST: return value->form != DW_FORM_rnglistx && value->form != DW_FORM_loclistx;
    default: return false;
    }
}

/* Forms that BFD does not know: it reads nothing after them. */
static bool is_unknown_form(uint32_t form) {
    return form == DW_FORM_GNU_addr_index || form == DW_FORM_GNU_str_index || form == DW_FORM_strp_sup ||
           form == DW_FORM_ref_sup4 || form == DW_FORM_ref_sup8 || form == DW_FORM_LLVM_addrx_offset;
}

static bool report_form(const struct bfd_file *file, uint32_t form) {
    bfd_print_damage(file, "invalid or unhandled FORM value: %#x", form);
    return false;
}

static bool is_addrx(uint32_t form) { return form == DW_FORM_addrx || (form >= DW_FORM_addrx1 && form <= DW_FORM_addrx4); }

/* What the attributes of a DIE say of its addresses, in their order. */
struct extent {
    uint64_t low, high, base;
    bool high_is_size;
};

/* CSN: true unless a list is damaged. */
static bool take_extent(struct bfd_unit *u, struct bfd_file *file, struct bfd_ranges *ranges, uint32_t name,
                        const struct csn_debug_value *value, bool is_root, struct extent *to) {
    if (!has_number(value)) return true;
    switch (name) {
    case DW_AT_low_pc:
        to->low = value->number;
        if (is_root) to->base = value->number;
        return true;
    case DW_AT_high_pc:
        to->high = value->number;
        to->high_is_size = value->form != DW_FORM_addr;
        return true;
    case DW_AT_ranges: return read_ranges(u, file, ranges, value->number, to->base);
    default: return true;
    }
}

bool bfd_unit_open(struct bfd_unit *out, struct bfd_file *file, const struct csn_debug_unit *unit) {
    struct csn_debug_die die;
    struct csn_debug_value value, later[2];
    uint32_t name, later_names[2], later_count = 0;
    uint64_t position = 0;
    bool has_addr_base = false;
    *out = (struct bfd_unit){ .unit = unit };
    if (csn_debug_die_at(unit, unit->root, &die, NULL) != CSN_OK) {
        bfd_report_unit(file, unit->offset);
        return false;
    }
    struct extent extent = { 0 };
    bool is_root = die.tag == DW_TAG_compile_unit;
    while (csn_debug_die_next_attribute(&die, &position, &name, &value) == CSN_OK) {
        if (is_unknown_form(value.form)) return report_form(file, value.form);
        if (name == DW_AT_addr_base) has_addr_base = true;
        if (is_addrx(value.form) && !has_addr_base && later_count < 2) {
            later[later_count] = value;
            later_names[later_count++] = name;
        } else if (!take_extent(out, file, &out->ranges, name, &value, is_root, &extent)) {
            return false;
        }
    }
    for (uint32_t i = 0; i < later_count; i++)
        (void)take_extent(out, file, &out->ranges, later_names[i], &later[i], is_root, &extent);
    if (extent.high_is_size) extent.high += extent.low;
    if (extent.high) add_range(out, file, &out->ranges, extent.low, extent.high);
    return true;
}

bool bfd_unit_contains(const struct bfd_unit *unit, uint64_t addr) {
    if (unit->has_error) return false;
    for (size_t i = 0; i < unit->ranges.count; i++)
        if (addr >= unit->ranges.items[i].low && addr < unit->ranges.items[i].high) return true;
    return false;
}

/* ---- functions ---- */

static bool add_function(struct bfd_unit *u, struct bfd_file *file, const struct csn_debug_die *die, uint32_t caller) {
    static const uint32_t names[] = { DW_AT_low_pc, DW_AT_high_pc, DW_AT_ranges };
    struct bfd_function f = { .offset = die->offset, .tag = die->tag, .caller = caller };
    struct bfd_ranges ranges = { 0 };
    struct extent extent = { .base = u->unit->tag == DW_TAG_compile_unit ? u->unit->low_pc : 0 };
    struct csn_debug_value value;
    bool good = true;
    for (size_t i = 0; good && i < sizeof names / sizeof names[0]; i++)
        if (csn_debug_die_attribute(die, names[i], &value) == CSN_OK)
            good = take_extent(u, file, &ranges, names[i], &value, false, &extent);
    if (good && extent.high_is_size) extent.high += extent.low;
    if (good && extent.high) add_range(u, file, &ranges, extent.low, extent.high);
    if (ranges.count) f.low = ranges.items[0].low;
    for (size_t i = 0; i < ranges.count; i++) {
        const struct bfd_span span = { ranges.items[i].low, ranges.items[i].high, 0, (uint32_t)u->functions.count };
        GROW_PUSH(&u->spans, span);
    }
    free(ranges.items);
    GROW_PUSH(&u->functions, f);
    return good;
}

static int by_low(const void *pa, const void *pb) {
    const struct bfd_span *a = pa, *b = pb;
    if (a->low != b->low) return a->low < b->low ? -1 : 1;
    return a->function < b->function ? -1 : a->function > b->function;
}

static void sort_spans(struct bfd_unit *u) {
    uint64_t reach = 0;
    if (u->spans.count) qsort(u->spans.items, u->spans.count, sizeof *u->spans.items, by_low);
    for (size_t i = 0; i < u->spans.count; i++) {
        if (u->spans.items[i].high > reach) reach = u->spans.items[i].high;
        u->spans.items[i].reach = reach;
    }
}

/* By depth: the function that the last DIE there is, or none. */
struct nesting {
    uint32_t *items;
    size_t count, capacity;
};

static uint32_t function_around(const struct nesting *n, size_t depth) {
    for (size_t i = depth; i-- > 0;)
        if (n->items[i] != BFD_NO_FUNCTION) return n->items[i];
    return BFD_NO_FUNCTION;
}

static bool scan_functions(struct bfd_unit *u, struct bfd_file *file) {
    struct csn_debug_die die;
    struct nesting nesting = { 0 };
    size_t depth = 0;
    bool good = csn_debug_die_at(u->unit, u->unit->root, &die, NULL) == CSN_OK;
    uint64_t offset = die.next;
    if (good && offset >= u->unit->end) return true;
    while (good) {
        csn_status status = csn_debug_die_at(u->unit, offset, &die, NULL);
        good = status >= 0;
        if (!good) bfd_report_die(file, u->unit, offset);
        offset = die.next;
        if (status == CSN_NONE) {
            if (!depth--) break;
            continue;
        }
        if (!good) break;
        while (nesting.count <= depth) GROW_PUSH(&nesting, BFD_NO_FUNCTION);
        bool is_function = die.tag == DW_TAG_subprogram || die.tag == DW_TAG_entry_point || die.tag == DW_TAG_inlined_subroutine;
        nesting.items[depth] = BFD_NO_FUNCTION;
        if (is_function) {
            uint32_t caller = die.tag == DW_TAG_inlined_subroutine ? function_around(&nesting, depth) : BFD_NO_FUNCTION;
            nesting.items[depth] = (uint32_t)u->functions.count;
            good = add_function(u, file, &die, caller);
        }
        depth += die.has_children != 0;
    }
    free(nesting.items);
    sort_spans(u);
    return good;
}

/* NULL: BFD cannot use the table. */
static struct bfd_lines *read_lines(struct bfd_unit *u, struct bfd_file *file) {
    struct bfd_lines *lines = bfd_lines_read(u->unit);
    if (lines && !lines->is_damaged && !lines->has_odd_file) return lines;
    const bool is_usable = bfd_report_lines(file, u->unit);
    if (is_usable) return lines;
    bfd_lines_free(lines);
    return NULL;
}

bool bfd_unit_decode(struct bfd_unit *u, struct bfd_file *file) {
    if (u->has_error || u->is_decoded) return !u->has_error;
    u->is_decoded = true;
    bool is_first = u->unit->has_lines && !u->unit->line_offset;
    u->lines = is_first && file->first_lines ? file->first_lines : read_lines(u, file);
    bool is_shared = is_first && u->lines == file->first_lines;
    for (size_t i = 0; u->lines && !is_shared && i < u->lines->all_count; i++)
        add_range(u, file, &u->ranges, u->lines->all[i].min, u->lines->all[i].max);
    if (is_first && !file->first_lines) file->first_lines = u->lines;
    u->owns_lines = u->lines && !is_first;
    u->has_error = !u->lines || !scan_functions(u, file);
    FIT_ITEMS(&u->functions);
    FIT_ITEMS(&u->spans);
    return !u->has_error;
}

void bfd_unit_close(struct bfd_unit *u) {
    if (u->owns_lines) bfd_lines_free(u->lines);
    for (size_t i = 0; i < u->functions.count; i++) free(u->functions.items[i].name);
    for (size_t i = 0; i < u->variables.count; i++) free(u->variables.items[i].name);
    free(u->functions.items);
    free(u->spans.items);
    free(u->variables.items);
    free(u->ranges.items);
}

struct bfd_function *bfd_unit_function_at(struct bfd_unit *u, uint64_t addr) {
    const struct bfd_span *spans = u->spans.items;
    const struct bfd_span *best = NULL;
    size_t low = UPPER_BOUND(spans, u->spans.count, low, addr);
    while (low-- > 0 && spans[low].reach > addr) {
        u->steps++;
        const struct bfd_span *s = &spans[low];
        if (addr >= s->high) continue;
        uint64_t size = s->high - s->low;
        if (!best || size < best->high - best->low || (size == best->high - best->low && s->function > best->function)) best = s;
    }
    return best ? &u->functions.items[best->function] : NULL;
}
