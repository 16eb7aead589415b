/* The answers of GNU's BFD library from DWARF: which function and line an address is in, and what that was inlined into. */
#ifndef CALLSIGN_CLI_BFD_DWARF_H
#define CALLSIGN_CLI_BFD_DWARF_H

#include "stand_ins/addr2line/bfd_object.h"

struct bfd_answer {
    const char *file;        /* NULL: unknown */
    const char *function;    /* NULL: unknown */
    uint32_t line, discriminator;
};

struct bfd_dwarf;

/* reads_units: false where BFD could not read them. */
struct bfd_dwarf *bfd_dwarf_open(struct bfd_object *object, bool reads_units);
void bfd_dwarf_close(struct bfd_dwarf *dwarf);

/* Bytes of units whose DIEs were read. */
uint64_t bfd_dwarf_bytes_read(const struct bfd_dwarf *dwarf);

/* What is at `offset` of a section. False: nothing is known. */
bool bfd_find_nearest_line(struct bfd_dwarf *dwarf, const struct bfd_section *section, uint64_t offset, struct bfd_answer *out);
/* After that: the caller of the function that was inlined. False: there is none, or it was given. The discriminator stays. */
bool bfd_find_inliner(struct bfd_dwarf *dwarf, struct bfd_answer *out);

#endif
