/* Supplementary object files (DWARF 5, 7.3.6): how a file names the one that it refers to. */
#ifndef CSNI_DWARF_SUPPLEMENT_H
#define CSNI_DWARF_SUPPLEMENT_H

#include "dwarf/dwarf.h"

/* What .debug_sup tells. Views into the section. */
struct csni_dwarf_sup {
    bool is_supplementary;    /* this file is a supplement itself; else it needs the one that is named */
    struct csn_str name;      /* of the supplement; empty in the supplement itself */
    struct csni_span checksum;/* that both files have; empty: none */
};

/* CSN_NONE: the section is empty. */
csn_status csni_dwarf_read_sup(struct csni_span section, bool big_endian, struct csni_dwarf_sup *out,
                               struct csn_error *err);

#endif
