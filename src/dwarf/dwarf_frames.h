/* Call frame information: the records of .eh_frame and .debug_frame. A CIE holds what several FDEs share; an FDE tells how to
 * unwind one range of code. Layout: DWARF 5, 6.4.1; what .eh_frame does otherwise: Linux Standard Base 5.0, 10.6. */
#ifndef CSNI_DWARF_FRAMES_H
#define CSNI_DWARF_FRAMES_H

#include "base/core/cursor.h"
#include "dwarf/dwarf.h"

struct csni_frame_section {
    struct csni_span bytes;
    uint64_t addr;           /* its address, which pointers are relative to */
    uint64_t text_base, data_base; /* other bases, that few machines use */
    uint8_t address_size;    /* 4 or 8 */
    bool big_endian;
    bool is_debug_frame;     /* .debug_frame, else .eh_frame */
    bool swaps_esp_ebp;      /* that of Mach-O for i386: 4 is EBP and 5 is ESP, the other way round than everywhere else */
};

struct csni_frame_record {
    uint64_t off, id_off, id;    /* of the length field, of the field after it */
    struct csni_cursor body;     /* after the id, up to the record's end */
    bool ends_list;              /* a length of 0: linkers join lists, so more may follow */
    bool is_cie;
};

/* The CIE that was read last. Set `off` to UINT64_MAX before the first. */
struct csni_frame_cie {
    uint64_t off;
    uint64_t code_align, return_register;
    int64_t data_align;
    uint8_t encoding;            /* of pointers in its FDEs */
    uint8_t address_size;
    bool has_augmentation_data;  /* its FDEs have some, too */
    bool is_usable;              /* its FDEs have ranges that can be read */
    bool has_instructions;       /* the place of the instructions is known, here and in FDEs */
    struct csni_span instructions;
};

struct csni_frame_fde {
    uint64_t start, size;
    struct csni_span instructions; /* only if the CIE has_instructions */
    uint64_t instructions_addr;  /* image address of the first of them */
};

/* Reads the head of the record at `off` and gives the offset after it. CSN_E_TRUNCATED: it does not fit the section. */
csn_status csni_frame_record_read(const struct csni_frame_section *section, uint64_t off, struct csni_frame_record *out,
                                  uint64_t *next, struct csn_error *err);
/* Reads a record that is no CIE and ends no list, and its CIE unless `cie` is that one. False: one of them cannot be understood,
 * or its code is at address 0, where linkers put what they discarded. */
bool csni_frame_fde_read(const struct csni_frame_section *section, struct csni_frame_record *record,
                         struct csni_frame_cie *cie, struct csni_frame_fde *out);
/* A pointer in the encoding of the CIE; `section_addr`: the address that c->begin has. Fails the cursor where it
 * cannot be known. */
uint64_t csni_frame_pointer_read(const struct csni_frame_section *section, const struct csni_frame_cie *cie,
                                 struct csni_cursor *c, uint64_t section_addr);

/* Appends the ranges that the section describes, ascending by start, one for each start. Records that cannot be understood are
 * passed over; one that does not fit the section ends the list with CSN_E_TRUNCATED, what stands before it is given. */
csn_status csni_dwarf_frame_ranges(const struct csni_frame_section *section, csni_address_ranges *out, struct csn_error *err);

#endif
