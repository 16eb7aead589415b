/* What the tests of the dwarf layer share: sections that are built by hand, and opening them. */
#ifndef DWARF_SAMPLE_H
#define DWARF_SAMPLE_H

#include "dwarf/dwarf.h"
#include "wire/wire.h"

struct dwarf_sample {
    struct wire info, types, abbrev, line, str, line_str, str_offsets, addr, ranges, rnglists;
    bool big;
    uint16_t version;                  /* of the units that are begun next */
    unsigned address_size, offset_size;
    uint64_t abbrev_off;
    bool is_supplement;
    struct dwarf_sample *supplement;   /* that its DIEs refer to, opened before; NULL: none */
    struct csni_dwarf *dwarf;          /* once opened */
};

/* Version 5, addresses of 8 bytes, 32-bit DWARF. */
void dwarf_sample_init(struct dwarf_sample *s, bool big);
void dwarf_sample_deinit(struct dwarf_sample *s);

/* Begins a unit in .debug_info, up to where the unit DIE stands. Returns what dwarf_sample_end() wants. */
size_t dwarf_sample_unit(struct dwarf_sample *s);
void dwarf_sample_end(struct dwarf_sample *s, size_t begun);

/* An abbreviation: pairs of attribute and form, ended by 0. The constant of DW_FORM_implicit_const follows its form. */
void dwarf_sample_abbrev(struct dwarf_sample *s, uint64_t code, unsigned tag, int children, ...);
void dwarf_sample_abbrevs_end(struct dwarf_sample *s);

/* Writes an address or an offset of the current size. */
void dwarf_sample_address(struct dwarf_sample *s, struct wire *w, uint64_t v);
void dwarf_sample_offset(struct dwarf_sample *s, struct wire *w, uint64_t v);

struct csni_dwarf_sections dwarf_sample_sections(struct dwarf_sample *s);

/* Opens, compiles and prepares everything; all of it must work. */
struct csni_dwarf *dwarf_sample_open(struct dwarf_sample *s);

/* A sample with a bit of everything in the current version: a namespace with a class, functions with and without
 * specification, an inlined one, ranges, a line table of two sequences. */
void dwarf_sample_fill(struct dwarf_sample *s);

/* Opens sections and does everything there is to do with them. Whatever they hold, it must end. The first failure that is
 * not of the input (CSN_E_MEMORY), or CSN_OK. `names`, unless NULL, gets the number of names found. */
csn_status dwarf_sample_exercise(const struct csni_dwarf_sections *sections, const struct csn_allocator *alloc,
                                 size_t *names);

#endif
