/* A stack by its frame pointers. */
#ifndef CSNI_FRAME_POINTERS_H
#define CSNI_FRAME_POINTERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Whether the word at an address can be read. Takes no signal and may be called within a handler. */
bool csni_is_readable(uintptr_t addr);
/* A return address without its signature (pointer authentication). */
uintptr_t csni_strip_signature(uintptr_t addr);
/* The callers of the frame, `skip` of them left out: return addresses minus 1. A frame begins with the caller's
 * frame pointer, then the return address. is_doubtful: the register that `frame` is from may hold something else. 0
 * where the machine is unknown. */
size_t csni_walk_frame_pointers(uintptr_t frame, bool is_doubtful, size_t skip, uint64_t *pcs, size_t cap);

#endif
