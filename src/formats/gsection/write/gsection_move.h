/* Giving an index other addresses: all of them are higher by the same number. */
#ifndef CSNI_GSECTION_MOVE_H
#define CSNI_GSECTION_MOVE_H

#include "base/core/span.h"

/* `index` is a section GSYM of any revision, or a whole GSYM file of version 1 or 2, that a reader has opened. Its tables
 * count from the base address, so that nothing but that and what an accelerator has of it changes. The index of an archive
 * has addresses besides and must not be given. */
void csni_gsection_move(uint8_t *index, size_t size, bool big, uint64_t by);

#endif
