/* What the tests of the PE reader share: an image and an object with a bit of everything. */
#ifndef PE_SAMPLE_H
#define PE_SAMPLE_H

#include "object/object.h"
#include "object/pe/pe_layout.h"
#include "base/core/endian.h"
#include "wire/wire_pe.h"

enum { PE_TEXT = 1, PE_DATA, PE_RDATA, PE_XDATA, PE_PDATA, PE_BSS, PE_INFO, PE_LINE, PE_SECTIONS };
enum { PE_BASE = 0x400000, PE_TEXT_RVA = 0x1000, PE_DATA_RVA = 0x2000, PE_RDATA_RVA = 0x3000, PE_XDATA_RVA = 0x4000,
       PE_PDATA_RVA = 0x5000, PE_BSS_RVA = 0x6000, PE_INFO_RVA = 0x7000, PE_LINE_RVA = 0x8000 };
enum { PE_TEXT_SIZE = 0x100, PE_INFO_SIZE = 24 };
enum { PE_EXPORT_NAMES = 3 }; /* a function, data, a forwarder */
extern const uint8_t pe_sample_guid[16];

struct pe_sample {
    struct wire_pe pe;
    struct wire_pe_section sections[PE_SECTIONS - 1]; /* section PE_TEXT is the first of them */
    struct wire parts[PE_SECTIONS];
    struct wire file;
    struct wire_pe_places places;
    struct csni_object *object;
    struct csn_error err;
};

/* Ready to be changed and then built. An image has exports, unwind information, a CodeView record; its .debug_info and
 * .debug_line are PE_INFO and PE_LINE. An object has PE_TEXT, PE_DATA, PE_RDATA (another code section, .text$b) and
 * PE_XDATA (.debug_info, with relocations). */
void pe_sample_begin(struct pe_sample *s, enum wire_pe_shape shape, uint16_t machine);
void pe_sample_build(struct pe_sample *s);
/* Builds if that was not done, and opens. */
csn_status pe_sample_open(struct pe_sample *s);
void pe_sample_end(struct pe_sample *s);

#endif
