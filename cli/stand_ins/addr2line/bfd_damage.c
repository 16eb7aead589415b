/* Why units and DIEs cannot be read, in BFD's words. */
#define _GNU_SOURCE
#include "stand_ins/addr2line/bfd_damage.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stand_ins/base/dwarf_words.h"
#include "stand_ins/base/growth.h"

void bfd_print_damage(const struct bfd_file *file, const char *format, ...) {
    va_list args;
    if (file->is_damaged) {
        *file->is_damaged = true;
        return;
    }
    fflush(stdout);
    fprintf(stderr, "%s: DWARF error: ", file->program);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputc('\n', stderr);
}

/* ---- raw bytes ---- */

struct bfd_bytes bfd_section_bytes(const struct bfd_file *file, const char *name) {
    struct csn_str bytes = { "", 0 };
    (void)csn_debug_info_dwarf_section(file->info, name, &bytes, NULL);
    const unsigned char *begin = (const unsigned char *)bytes.ptr;
    return (struct bfd_bytes){ begin, begin, begin + bytes.len, file->big_endian };
}

uint64_t bfd_take_number(struct bfd_bytes *b, unsigned size) {
    uint64_t value = 0;
    if ((size_t)(b->end - b->p) < size) {
        b->p = b->end;
        return 0;
    }
    for (unsigned i = 0; i < size; i++) value |= (uint64_t)b->p[i] << 8 * (b->big ? size - 1 - i : i);
    b->p += size;
    return value;
}

uint64_t bfd_take_leb(struct bfd_bytes *b) {
    uint64_t value = 0;
    for (unsigned shift = 0; b->p < b->end; shift += 7) {
        const unsigned char byte = *b->p++;
        if (shift < 64) value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) break;
    }
    return value;
}

static void skip_bytes(struct bfd_bytes *b, uint64_t size) { b->p = size > (size_t)(b->end - b->p) ? b->end : b->p + size; }

bool bfd_skip_string(struct bfd_bytes *b) {
    const unsigned char *end = b->p < b->end ? memchr(b->p, 0, (size_t)(b->end - b->p)) : NULL;
    const bool has_text = end && end > b->p;
    b->p = end ? end + 1 : b->end;
    return has_text;
}

static void skip_string_offset(const struct bfd_file *file, struct bfd_bytes *b, const char *section, unsigned size) {
    if ((size_t)(b->end - b->p) < size) {
        b->p = b->end;
        return;
    }
    const uint64_t offset = bfd_take_number(b, size);
    const struct bfd_bytes strings = bfd_section_bytes(file, section);
    const uint64_t length = (uint64_t)(strings.end - strings.begin);
    if (offset && offset >= length)
        bfd_print_damage(file, "offset (%" PRIu64 ") greater than or equal to .debug_%s size (%" PRIu64 ")", offset,
                         section, length);
}

enum raw_form {
    FORM_block2 = 0x03, FORM_block4 = 0x04, FORM_data2 = 0x05, FORM_data4 = 0x06, FORM_data8 = 0x07, FORM_string = 0x08, FORM_block = 0x09,
    FORM_block1 = 0x0a, FORM_data1 = 0x0b, FORM_flag = 0x0c, FORM_strp = 0x0e, FORM_udata = 0x0f, FORM_ref1 = 0x11, FORM_ref2 = 0x12,
    FORM_ref8 = 0x14, FORM_ref_udata = 0x15, FORM_indirect = 0x16, FORM_sec_offset = 0x17, FORM_exprloc = 0x18, FORM_flag_present = 0x19,
    FORM_strx = 0x1a, FORM_data16 = 0x1e, FORM_line_strp = 0x1f, FORM_ref_sig8 = 0x20, FORM_strx1 = 0x25, FORM_strx2 = 0x26, FORM_strx3 = 0x27,
    FORM_strx4 = 0x28, FORM_addrx2 = 0x2a, FORM_addrx3 = 0x2b, FORM_GNU_ref_alt = 0x1f20, FORM_GNU_strp_alt = 0x1f21
};

/* Bytes of a form that always has as many; 0: it has not. */
static unsigned fixed_size(uint64_t form, const struct bfd_widths *w) {
    switch (form) {
    case FORM_ref1: case FORM_flag: case FORM_data1: case DW_FORM_addrx1: case FORM_strx1: return 1;
    case FORM_data2: case FORM_ref2: case FORM_addrx2: case FORM_strx2: return 2;
    case FORM_addrx3: case FORM_strx3: return 3;
    case DW_FORM_ref4: case FORM_data4: case DW_FORM_addrx4: case FORM_strx4: return 4;
    case FORM_data8: case FORM_ref8: case FORM_ref_sig8: return 8;
    case FORM_data16: return 16;
    case DW_FORM_addr: return w->address;
    case DW_FORM_ref_addr: return w->version >= 3 ? w->offset : w->address;
    case FORM_sec_offset: case FORM_GNU_ref_alt: case FORM_GNU_strp_alt: return w->offset;
    default: return 0;
    }
}

bool bfd_skip_value(const struct bfd_file *file, struct bfd_bytes *b, uint64_t form, const struct bfd_widths *w) {
    enum { MAX_INDIRECT = 1000 };
    for (int i = 0; i < MAX_INDIRECT; i++) {
        if (b->p >= b->end && form != FORM_flag_present) {
            bfd_print_damage(file, "info pointer extends beyond end of attributes");
            return false;
        }
        if (form != FORM_indirect) break;
        form = bfd_take_leb(b);
        if (form == DW_FORM_implicit_const) bfd_take_leb(b);
    }
    const unsigned size = fixed_size(form, w);
    if (size) {
        skip_bytes(b, size);
        return true;
    }
    switch (form) {
    case FORM_flag_present: case DW_FORM_implicit_const: return true;
    case FORM_block1: skip_bytes(b, bfd_take_number(b, 1)); return true;
    case FORM_block2: skip_bytes(b, bfd_take_number(b, 2)); return true;
    case FORM_block4: skip_bytes(b, bfd_take_number(b, 4)); return true;
    case FORM_block: case FORM_exprloc: skip_bytes(b, bfd_take_leb(b)); return true;
    case FORM_string: (void)bfd_skip_string(b); return true;
    case FORM_strp: skip_string_offset(file, b, "str", w->offset); return true;
    case FORM_line_strp: skip_string_offset(file, b, "line_str", w->offset); return true;
    case FORM_strx: case DW_FORM_sdata: case DW_FORM_rnglistx: case DW_FORM_loclistx: case FORM_ref_udata: case FORM_udata: case DW_FORM_addrx:
        bfd_take_leb(b);
        return true;
    default:
        bfd_print_damage(file, "invalid or unhandled FORM value: %#x", (unsigned)form);
        return false;
    }
}

/* ---- abbreviations ---- */

struct abbreviation {
    uint32_t number;         /* BFD's have 32 bits */
    bool has_children;
    const unsigned char *declarations;
};

struct abbreviations {
    struct { struct abbreviation *items; size_t count, capacity; } all;
    const unsigned char *end;
    uint32_t slots[1024];    /* by number: 1 + index of the last one; 0: none */
};

static const struct abbreviation *find_abbreviation(const struct abbreviations *table, uint32_t number) {
    enum { SLOTS = sizeof table->slots / sizeof table->slots[0] };
    const uint32_t slot = table->slots[number % SLOTS];
    if (slot && table->all.items[slot - 1].number == number) return &table->all.items[slot - 1];
    for (size_t i = table->all.count; slot && i-- > 0;)
        if (table->all.items[i].number == number) return &table->all.items[i];
    return NULL;
}

static void skip_declarations(struct bfd_bytes *b) {
    for (uint64_t name = 1; name;) {
        name = bfd_take_leb(b);
        if (bfd_take_leb(b) == DW_FORM_implicit_const) bfd_take_leb(b);
    }
}

/* A number that was read before ends the table. */
static struct abbreviations *read_abbreviations(struct bfd_bytes b) {
    enum { MAX_ABBREVIATIONS = 1 << 13 };
    struct abbreviations *table = zeroed_memory(1, sizeof *table);
    table->end = b.end;
    while (b.p < b.end && table->all.count < MAX_ABBREVIATIONS) {
        const uint32_t number = (uint32_t)bfd_take_leb(&b);
        if (!number || find_abbreviation(table, number)) break;
        bfd_take_leb(&b); /* the tag */
        const bool has_children = bfd_take_number(&b, 1) != 0;
        const struct abbreviation made = { number, has_children, b.p };
        skip_declarations(&b);
        GROW_PUSH(&table->all, made);
        table->slots[number % (sizeof table->slots / sizeof table->slots[0])] = (uint32_t)table->all.count;
    }
    return table;
}

static void free_abbreviations(struct abbreviations *table) {
    if (table) free(table->all.items);
    free(table);
}

/* False: a value cannot be read, which was printed; or *budget is used up. */
static bool skip_attributes(const struct bfd_file *file, struct bfd_bytes *b, struct bfd_bytes declarations,
                            const struct bfd_widths *w, uint64_t *budget) {
    for (; *budget; --*budget) {
        const uint64_t name = bfd_take_leb(&declarations), form = bfd_take_leb(&declarations);
        if (form == DW_FORM_implicit_const) bfd_take_leb(&declarations);
        if (!name) return true;
        if (!bfd_skip_value(file, b, form, w)) return false;
    }
    return false;
}

/* ---- units ---- */

struct header {
    struct bfd_widths widths;
    uint64_t abbreviations;
    struct bfd_bytes dies;   /* from the root to the end of the unit */
};

/* False: it cannot be used, which was printed where BFD prints it. */
static bool read_header(const struct bfd_file *file, uint64_t offset, struct header *out) {
    struct bfd_bytes b = bfd_section_bytes(file, "info");
    *out = (struct header){ .widths.offset = 4 };
    skip_bytes(&b, offset);
    uint64_t length = bfd_take_number(&b, 4), kind = 1;
    if (length == UINT32_MAX) {
        length = bfd_take_number(&b, 8);
        out->widths.offset = 8;
    }
    if (!length || length > (size_t)(b.end - b.p)) return false;
    b.end = b.p + length;
    const unsigned version = out->widths.version = (unsigned)bfd_take_number(&b, 2);
    if (version < 2 || version > 5) {
        if (version)
            bfd_print_damage(file, "found dwarf version '%u', this reader only handles version 2, 3, 4 and 5 information", version);
        return false;
    }
    if (version == 5) {
        kind = bfd_take_number(&b, 1);
        out->widths.address = (unsigned)bfd_take_number(&b, 1);
    }
    out->abbreviations = bfd_take_number(&b, out->widths.offset);
    if (version < 5) out->widths.address = (unsigned)bfd_take_number(&b, 1);
    enum { UNIT_TYPE = 2, UNIT_SKELETON = 4 };
    if (kind == UNIT_TYPE || kind == UNIT_SKELETON) skip_bytes(&b, kind == UNIT_TYPE ? 8 + out->widths.offset : 8);
    const unsigned size = out->widths.address;
    if (size > 8) bfd_print_damage(file, "found address size '%u', this reader can not handle sizes greater than '8'", size);
    else if (size != 2 && size != 4 && size != 8)
        bfd_print_damage(file, "found address size '%u', this reader can only handle address sizes '2', '4' and '8'", size);
    out->dies = b;
    return size == 2 || size == 4 || size == 8;
}

/* The table of a unit. NULL: there is none, which was printed. */
static struct abbreviations *find_table(const struct bfd_file *file, const struct header *h) {
    struct bfd_bytes b = bfd_section_bytes(file, "abbrev");
    const uint64_t size = (uint64_t)(b.end - b.begin);
    if (h->abbreviations && h->abbreviations >= size) {
        bfd_print_damage(file, "offset (%" PRIu64 ") greater than or equal to .debug_abbrev size (%" PRIu64 ")",
                         h->abbreviations, size);
        return NULL;
    }
    skip_bytes(&b, h->abbreviations);
    return read_abbreviations(b);
}

/* ---- DIEs ---- */

enum { MAX_ATTRIBUTES = 1 << 24 }; /* that are read for a message */

/* Steps over a DIE. False: it cannot be read, which was printed. *depth changes with children and ends. */
static bool skip_die(struct bfd_file *file, const struct header *h, const struct abbreviations *table,
                     struct bfd_bytes *b, size_t *depth, uint64_t *budget) {
    const uint32_t number = (uint32_t)bfd_take_leb(b);
    if (!number) {
        --*depth;
        return true;
    }
    const struct abbreviation *found = find_abbreviation(table, number);
    if (found) {
        *depth += found->has_children;
        return skip_attributes(file, b, (struct bfd_bytes){ found->declarations, found->declarations, table->end, b->big },
                               &h->widths, budget);
    }
    if (!file->has_missing || file->missing_abbreviation != number) /* one after the other is printed once */
        bfd_print_damage(file, "could not find abbrev number %u", number);
    file->missing_abbreviation = number;
    file->has_missing = true;
    return false;
}

static void report_first(struct bfd_file *file, const struct header *h, const struct abbreviations *table, struct bfd_bytes b) {
    uint64_t budget = MAX_ATTRIBUTES;
    size_t depth = 1;
    while (depth && b.p < b.end && skip_die(file, h, table, &b, &depth, &budget)) continue;
}

void bfd_report_unit(struct bfd_file *file, uint64_t offset) {
    struct header h;
    if (!read_header(file, offset, &h)) return;
    struct abbreviations *table = find_table(file, &h);
    struct bfd_bytes b = h.dies;
    const uint32_t number = table ? (uint32_t)bfd_take_leb(&b) : 0;
    const struct abbreviation *root = number ? find_abbreviation(table, number) : NULL;
    uint64_t budget = MAX_ATTRIBUTES;
    if (number && !root)
        bfd_print_damage(file, "could not find abbrev number %u", number);
    else if (root && skip_attributes(file, &b, (struct bfd_bytes){ root->declarations, root->declarations, table->end, b.big },
                                     &h.widths, &budget))
        report_first(file, &h, table, b);
    free_abbreviations(table);
}

void bfd_report_die(struct bfd_file *file, const struct csn_debug_unit *unit, uint64_t offset) {
    struct header h;
    struct abbreviations *table = read_header(file, unit->offset, &h) ? find_table(file, &h) : NULL;
    struct bfd_bytes b = h.dies;
    b.p = b.begin;
    skip_bytes(&b, offset);
    if (table && b.p < b.end) report_first(file, &h, table, b);
    free_abbreviations(table);
}
