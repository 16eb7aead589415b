/* What the files of the WebAssembly reader share. */
#ifndef CSNI_WASM_PRIVATE_H
#define CSNI_WASM_PRIVATE_H

#include "base/core/cursor.h"
#include "object/object_private.h"

struct csni_wasm_body {
    uint32_t off, size; /* in the code section's content */
};

/* priv->own. Functions are numbered: imported ones first, then those with a body. */
struct csni_wasm {
    uint32_t code;                     /* section, or CSNI_NO_SECTION */
    uint64_t imported_functions;
    struct csni_wasm_body *bodies;
    uint32_t body_count;
    struct csni_span exports, data, names, linking; /* contents of sections; empty without one */
};

static inline const struct csni_wasm *csni_wasm_of(const struct csni_object *object) {
    return csni_object_priv_const(object)->own;
}

/* A name or other bytes with their length before them. */
static inline struct csn_str csni_wasm_name(struct csni_cursor *c) {
    struct csni_span bytes = csni_cursor_bytes(c, csni_cursor_uleb(c));
    return (struct csn_str){ bytes.ptr ? (const char *)bytes.ptr : "", bytes.size };
}

csn_status csni_wasm_symbols(struct csni_symbol_iter *iter, struct csni_object *object, enum csni_symbol_table table,
                             struct csn_error *err);
bool csni_wasm_next_symbol(struct csni_symbol_iter *iter, struct csni_symbol *out);
csn_status csni_wasm_data_segments(struct csni_object *object, csni_data_segments *out, struct csn_error *err);

#endif
