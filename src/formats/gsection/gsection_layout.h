/* The section-embedded GSYM of 2017 as it lies in a section: what differs from GSYM version 1, nothing else. Offsets are from
 * the start of the section; every fixed-width number is in the writer's byte order. docs/formats/gsym-sections.md tells the
 * whole, and what the revisions A to G are. */
#ifndef CSNI_GSECTION_LAYOUT_H
#define CSNI_GSECTION_LAYOUT_H

/* The first 20 bytes are those of GSYM version 1, but for byte 7: 0 before revision F. */
enum {
    CSNI_GSECTION_H_PAD = 7,
    CSNI_GSECTION_H_NAME = 20,          /* A, B: name of the section with the strings, NUL-terminated */
    CSNI_GSECTION_NAME_MAX = 255,       /* longest name taken */
    CSNI_GSECTION_H_STRTAB_OFFSET = 20, /* C on: u32 offset in the object file, or in the section */
    CSNI_GSECTION_H_STRTAB_SIZE = 24,   /* C on: u32 */
    CSNI_GSECTION_HEADER_SIZE = 28      /* C, D, E; F and G have the header of GSYM version 1 */
};

/* A length may count its own field, too: revisions A to D. */
enum { CSNI_GSECTION_SELF_COUNT = 4, CSNI_GSECTION_SHORT_END = 4, CSNI_GSECTION_LONG_END = 8 };

/* The line deltas of special opcodes: the reader of that day clamps what it reads to them. */
enum { CSNI_GSECTION_MIN_DELTA = -4, CSNI_GSECTION_MAX_DELTA = 10 };

#endif
