/* Go programs in WebAssembly: where their function table is, and the addresses that it has. */
#ifndef CSNI_GO_WASM_H
#define CSNI_GO_WASM_H

#include "convert/conversion.h"
#include "go/go_pclntab.h"

typedef CSNI_VEC(struct csni_go_section) csni_go_sections;

/* What Go calls an address is (0x1000 + number of the function, imported ones left out) << 16 | block within it. */
enum { CSNI_GO_WASM_TEXT = 0x10000000 };

/* The memory that the module begins with, in pieces between which much is zero: appended to `out`, in the arena. CSN_NONE: no
 * WebAssembly, or it has no data. */
csn_status csni_go_wasm_memory(struct csni_conversion *c, struct csni_arena *arena, csni_go_sections *out, struct csn_error *err);

#endif
