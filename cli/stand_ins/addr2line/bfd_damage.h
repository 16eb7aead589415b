/* What BFD prints of damaged DWARF. It is read anew for that, as BFD reads it. */
#ifndef CALLSIGN_CLI_BFD_DAMAGE_H
#define CALLSIGN_CLI_BFD_DAMAGE_H

#include "stand_ins/addr2line/bfd_unit.h"

/* Of the unit at an offset of .debug_info, which cannot be used: why. Nothing, where BFD prints nothing. */
void bfd_report_unit(struct bfd_file *file, uint64_t offset);
/* Of a DIE that cannot be read, or the next one. */
void bfd_report_die(struct bfd_file *file, const struct csn_debug_unit *unit, uint64_t offset);
/* Of the unit's line table. False: BFD cannot use it. */
bool bfd_report_lines(const struct bfd_file *file, const struct csn_debug_unit *unit);

/* ---- reading raw bytes ---- */

/* A part of a section. What is read beyond the end is 0. */
struct bfd_bytes {
    const unsigned char *begin, *p, *end;
    bool big;
};

struct bfd_bytes bfd_section_bytes(const struct bfd_file *file, const char *name);
uint64_t bfd_take_number(struct bfd_bytes *b, unsigned size);
uint64_t bfd_take_leb(struct bfd_bytes *b);
/* Steps over a NUL-terminated string. False: it is empty or has no end. */
bool bfd_skip_string(struct bfd_bytes *b);

/* How a unit writes its values. */
struct bfd_widths {
    unsigned version, address, offset;
};
/* Steps over an attribute's value. False: it cannot be read, which was printed. */
bool bfd_skip_value(const struct bfd_file *file, struct bfd_bytes *b, uint64_t form, const struct bfd_widths *widths);

void bfd_print_damage(const struct bfd_file *file, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
