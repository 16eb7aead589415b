/* Finding one section of an object file by its name, in place: nothing is allocated, nothing inflated, and this part of the
 * folder stands in the lookup-only library, for indexes that programs carry in a section of their own. */
#ifndef CSNI_SECTION_FIND_H
#define CSNI_SECTION_FIND_H

#include "base/core/span.h"

/* Whether bytes begin like an ELF, Mach-O (universal files too), PE or COFF file. */
bool csni_section_find_recognize(struct csni_span file);

/* The images in `file`: 1, or as many as a universal Mach-O file has. */
uint32_t csni_section_find_images(struct csni_span file);
/* Image idx < csni_section_find_images(). False where it lies outside of the file. */
bool csni_section_find_image(struct csni_span file, uint32_t idx, struct csni_span *out);

/* The name of the machine that a Mach-O image is for, as "x86_64" and "arm64"; "" for other files. */
const char *csni_section_find_arch(struct csni_span image);

/* The stored bytes of the first section of that name in an image that is no universal file. A Mach-O section is found in any
 * segment, first in __GSYM. CSN_NONE: there is none. CSN_E_UNSUPPORTED: it is compressed, or has no bytes in this file.
 * CSN_E_TRUNCATED and CSN_E_FORMAT tell what is wrong with the headers. */
csn_status csni_section_find(struct csni_span image, struct csn_str name, struct csni_span *out, struct csn_error *err);

/* The section in which programs carry an index: .gsym, in Mach-O __gsym. */
csn_status csni_section_find_index(struct csni_span image, struct csni_span *out, struct csn_error *err);

/* ---- one file for each container ---- */

bool csni_section_find_is_elf(struct csni_span image);
bool csni_section_find_is_macho(struct csni_span image);
bool csni_section_find_is_pe(struct csni_span image);
csn_status csni_section_find_elf(struct csni_span image, struct csn_str name, struct csni_span *out, struct csn_error *err);
csn_status csni_section_find_macho(struct csni_span image, struct csn_str name, struct csni_span *out, struct csn_error *err);
csn_status csni_section_find_pe(struct csni_span image, struct csn_str name, struct csni_span *out, struct csn_error *err);

#endif
