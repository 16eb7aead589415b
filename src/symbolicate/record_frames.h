/* The frames of an address in one record: of a function that was folded into another, which a lookup does not reach. */
#ifndef CSNI_RECORD_FRAMES_H
#define CSNI_RECORD_FRAMES_H

#include <callsign/index.h>
#include <callsign/inspect.h>

#include "base/arena.h"

/* Frames in `arena`, innermost first, as csn_index_lookup() gives them for a record of its own. CSN_OK, CSN_E_MEMORY, or that
 * the record is damaged. */
csn_status csni_record_frames(const struct csn_index *index, const struct csn_record *record, uint64_t addr,
                              struct csni_arena *arena, struct csn_frame **out, uint32_t *out_count,
                              struct csn_error *err);

#endif
