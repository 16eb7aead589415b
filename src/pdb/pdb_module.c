/* A module's stream, and ids of functions that modules lend each other. */
#include <inttypes.h>

#include "base/core/sort.h"
#include "pdb/pdb_private.h"

/* Symbols begin after a signature; C11 lines stand between them and C13 lines. */
csn_status csni_pdb_cut_module(const struct csni_pdb_module *module, struct csni_span bytes, struct csni_span *symbols,
                               struct csni_span *c13, struct csn_error *err) {
    enum { SIGNATURE_SIZE = 4 };
    uint64_t lines = (uint64_t)module->symbol_size + module->c11_size;
    if (module->symbol_size < SIGNATURE_SIZE || !csni_span_sub(bytes, 0, module->symbol_size, symbols) ||
        !csni_span_sub(bytes, lines, module->c13_size, c13))
        return csni_fail(err, CSN_E_TRUNCATED, NULL, 0,
                         "0x%" PRIx32 " bytes of symbols, 0x%" PRIx32 " of lines in a stream of 0x%zx",
                         module->symbol_size, module->c13_size, bytes.size);
    uint32_t signature = csni_get32(bytes.ptr, false);
    if (signature != CV_SIGNATURE_C13)
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "symbols of version %" PRIu32 ", need %d", signature, CV_SIGNATURE_C13);
    *symbols = csni_span_from(*symbols, SIGNATURE_SIZE);
    return CSN_OK;
}

/* ---- imports ---- */

bool csni_pdb_id_is_imported(uint32_t id) { return id & CROSS_SCOPE_ID; }

/* For each module that is imported from: the name's offset in /names, how many ids, the ids. */
bool csni_pdb_find_import(const struct csni_pdb *pdb, const struct csni_pdb_lines *lines, uint32_t id, struct csn_str *module,
                          uint32_t *own_id) {
    struct csni_cursor c = csni_cursor_at(lines->imports, false);
    uint32_t which = id >> CROSS_SCOPE_MODULE_SHIFT & CROSS_SCOPE_MODULE_MASK, item = id & CROSS_SCOPE_ITEM_MASK;
    for (uint32_t i = 0; csni_cursor_left(&c); i++) {
        uint32_t name = csni_cursor_u32(&c), count = csni_cursor_u32(&c);
        struct csni_span ids = csni_cursor_bytes(&c, (uint64_t)count * 4);
        if (c.failed) return false;
        if (i != which) continue;
        if (item >= count || !csni_span_cstr(pdb->names, name, module)) return false;
        *own_id = csni_get32(ids.ptr + (size_t)item * 4, false);
        return true;
    }
    return false;
}

/* ---- exports ---- */

static bool export_before(const void *context, const void *a, const void *b) {
    (void)context;
    const struct csni_pdb_export *x = a, *y = b;
    return x->own_id != y->own_id ? x->own_id < y->own_id : x->id < y->id;
}

/* The subsection of exports. */
static struct csni_span find_exports(struct csni_span c13) {
    struct csni_cursor c = csni_cursor_at(c13, false);
    while (csni_cursor_left(&c)) {
        uint32_t kind = csni_cursor_u32(&c);
        struct csni_span bytes = csni_cursor_bytes(&c, csni_cursor_u32(&c));
        if (kind == DEBUG_S_CROSSSCOPEEXPORTS) return bytes;
        csni_cursor_skip(&c, (4 - csni_cursor_off(&c) % 4) % 4);
    }
    return (struct csni_span){ NULL, 0 };
}

static csn_status list_exports(struct csni_span bytes, csni_pdb_exports *out, struct csn_error *err) {
    enum { PAIR_SIZE = 8 };
    size_t count = bytes.size / PAIR_SIZE;
    if (!csni_vec_reserve(out, count)) return csni_fail_memory(err, count * sizeof *out->items);
    for (out->count = 0; out->count < count; out->count++) {
        const uint8_t *p = bytes.ptr + out->count * PAIR_SIZE;
        out->items[out->count] = (struct csni_pdb_export){ csni_get32(p, false), csni_get32(p + 4, false) };
    }
    csni_heap_sort(out->items, count, sizeof *out->items, export_before, NULL);
    return CSN_OK;
}

csn_status csni_pdb_read_exports(const struct csni_pdb *pdb, uint32_t module, csni_pdb_exports *out, struct csn_error *err) {
    struct csni_pdb_bytes bytes;
    struct csni_span symbols, c13;
    CSNI_TRY(csni_pdb_read_stream(pdb, pdb->modules.items[module].stream, &bytes, err));
    csn_status status = csni_pdb_cut_module(&pdb->modules.items[module], bytes.span, &symbols, &c13, err);
    if (status == CSN_OK) status = list_exports(find_exports(c13), out, err);
    csni_pdb_free_bytes(pdb, &bytes);
    return status;
}
