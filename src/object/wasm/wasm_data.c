/* The data section of WebAssembly: what a module's memory begins with. */
#include "base/core/fail.h"
#include "object/wasm/wasm_layout.h"
#include "object/wasm/wasm_private.h"

/* A segment's address is an expression; all that compilers write is one constant. False: another expression. */
static bool constant_address(struct csni_cursor *c, uint64_t *out) {
    uint8_t code = csni_cursor_u8(c);
    int64_t value = csni_cursor_sleb(c);
    *out = code == WASM_I32_CONST ? (uint32_t)value : (uint64_t)value;
    return (code == WASM_I32_CONST || code == WASM_I64_CONST) && csni_cursor_u8(c) == WASM_END && !c->failed;
}

/* CSN_NONE: it is passive, and has no address. */
static csn_status read_segment(struct csni_cursor *c, struct csni_data_segment *out) {
    uint64_t kind = csni_cursor_uleb(c), addr = 0;
    if (kind == WASM_DATA_IN_MEMORY) (void)csni_cursor_uleb(c);
    if (kind != WASM_DATA_PASSIVE && !constant_address(c, &addr)) return CSN_E_FORMAT;
    struct csni_span bytes = csni_cursor_bytes(c, csni_cursor_uleb(c));
    if (c->failed || bytes.size > UINT64_MAX - addr) return CSN_E_FORMAT;
    *out = (struct csni_data_segment){ addr, bytes };
    return kind == WASM_DATA_PASSIVE ? CSN_NONE : CSN_OK;
}

csn_status csni_wasm_data_segments(struct csni_object *object, csni_data_segments *out, struct csn_error *err) {
    struct csni_cursor c = csni_cursor_at(csni_wasm_of(object)->data, false);
    for (uint64_t left = csni_cursor_uleb(&c); left && csni_cursor_left(&c); left--) {
        struct csni_data_segment segment;
        csn_status status = read_segment(&c, &segment);
        if (status < 0) break; /* where the next one begins is not known */
        if (status == CSN_OK && !csni_vec_push(out, segment)) return csni_fail_memory(err, sizeof segment);
    }
    return out->count ? CSN_OK : CSN_NONE;
}
