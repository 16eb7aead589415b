/* Call frame information for tests: one CIE, FDEs, and the STACK records that come of them. */
#ifndef UNWIND_SAMPLE_H
#define UNWIND_SAMPLE_H

#include "formats/breakpad/breakpad_stack.h"
#include "unwind/unwind_dwarf.h"
#include "wire/wire.h"

enum { UNWIND_SAMPLE_ADDR = 0x5000, UNWIND_SAMPLE_START = 0x1000, UNWIND_SAMPLE_SIZE = 0x100 };

/* .eh_frame with a CIE of x86-64 and one FDE; returns the FDE's offset. `code`, `cie_code`: instructions. */
size_t unwind_sample_put(struct wire *w, const void *cie_code, size_t cie_size, const void *code, size_t size);
struct csni_frame_section unwind_sample_section(struct wire *w);
/* The text of all records that can be read up to the first that does not fit, and how many are damaged. For `arch`. */
char *unwind_sample_text(const struct csni_frame_section *section, const char *arch, const struct csn_allocator *alloc,
                         uint64_t *damaged, csn_status *status);

#endif
