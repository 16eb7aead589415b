/* Records of symbols: public ones, code, scopes. */
#include "pdb/pdb_private.h"

/* ---- walking ---- */

enum { RECORD_HEADER = 4 };

bool csni_pdb_next_symbol(struct csni_pdb_symbol_iter *iter, struct csni_pdb_symbol *out) {
    struct csni_span left = csni_span_from(iter->records, iter->off);
    if (!left.size) return false;
    uint32_t size = left.size >= RECORD_HEADER ? csni_get16(left.ptr, false) : 0; /* of what follows the size */
    if (size < 2 || size + 2u > left.size) {
        iter->damaged = true;
        iter->off = iter->records.size;
        return false;
    }
    *out = (struct csni_pdb_symbol){ csni_get16(left.ptr + 2, false), (uint32_t)iter->off, { left.ptr + RECORD_HEADER, size - 2 } };
    iter->off += size + 2u;
    return true;
}

bool csni_pdb_opens_scope(uint16_t kind) {
    switch (kind) {
    case S_LPROC32_ST: case S_GPROC32_ST: case S_THUNK32: case S_BLOCK32: case S_WITH32: case S_LPROC32: case S_GPROC32:
    case S_GMANPROC: case S_LMANPROC: case S_SEPCODE: case S_LPROC32_ID: case S_GPROC32_ID: case S_INLINESITE:
    case S_LPROC32_DPC: case S_LPROC32_DPC_ID: case S_INLINESITE2:
        return true;
    default:
        return false;
    }
}

bool csni_pdb_ends_scope(uint16_t kind) { return kind == S_END || kind == S_INLINESITE_END || kind == S_PROC_ID_END; }

/* ---- names ---- */

/* Up to a NUL, which a record that was cut to fit may lack. */
static struct csn_str read_nul_name(struct csni_cursor *c) {
    const uint8_t *nul = csni_cursor_left(c) ? memchr(c->p, 0, csni_cursor_left(c)) : NULL;
    return (struct csn_str){ (const char *)c->p, nul ? (size_t)(nul - c->p) : csni_cursor_left(c) };
}

/* As compilers up to Visual C++ 7.1 wrote them: the length in a byte. */
static struct csn_str read_counted_name(struct csni_cursor *c) {
    struct csni_span bytes = csni_cursor_bytes(c, csni_cursor_u8(c));
    return (struct csn_str){ bytes.ptr ? (const char *)bytes.ptr : "", bytes.size };
}

/* ---- records ---- */

bool csni_pdb_read_public(const struct csni_pdb_symbol *symbol, struct csni_pdb_public *out) {
    if (symbol->kind != S_PUB32 && symbol->kind != S_PUB32_ST) return false;
    struct csni_cursor c = csni_cursor_at(symbol->data, false);
    out->flags = csni_cursor_u32(&c);
    out->offset = csni_cursor_u32(&c);
    out->section = csni_cursor_u16(&c);
    out->name = symbol->kind == S_PUB32 ? read_nul_name(&c) : read_counted_name(&c);
    return !c.failed && out->name.len;
}

/* Parent, end, next, size, where debugging starts and ends, type, offset, section, flags, name. */
static void read_function(struct csni_cursor *c, bool is_counted, struct csni_pdb_code *out) {
    csni_cursor_skip(c, 12);
    out->size = csni_cursor_u32(c);
    csni_cursor_skip(c, 8);
    out->type = csni_cursor_u32(c);
    out->offset = csni_cursor_u32(c);
    out->section = csni_cursor_u16(c);
    csni_cursor_u8(c);
    out->name = is_counted ? read_counted_name(c) : read_nul_name(c);
}

/* Parent, end, next, offset, section, size, kind, name. */
static void read_thunk(struct csni_cursor *c, struct csni_pdb_code *out) {
    out->kind = CSNI_PDB_THUNK;
    csni_cursor_skip(c, 12);
    out->offset = csni_cursor_u32(c);
    out->section = csni_cursor_u16(c);
    out->size = csni_cursor_u16(c);
    csni_cursor_u8(c);
    out->name = read_nul_name(c);
}

/* Parent, end, size, flags, offset, the function's offset, section, the function's section. */
static void read_separated(struct csni_cursor *c, struct csni_pdb_code *out) {
    out->kind = CSNI_PDB_SEPARATED;
    csni_cursor_skip(c, 8);
    out->size = csni_cursor_u32(c);
    csni_cursor_u32(c);
    out->offset = csni_cursor_u32(c);
    out->parent_offset = csni_cursor_u32(c);
    out->section = csni_cursor_u16(c);
    out->parent_section = csni_cursor_u16(c);
}

bool csni_pdb_read_code(const struct csni_pdb_symbol *symbol, struct csni_pdb_code *out) {
    struct csni_cursor c = csni_cursor_at(symbol->data, false);
    *out = (struct csni_pdb_code){ .kind = CSNI_PDB_FUNCTION, .name = { "", 0 } };
    switch (symbol->kind) {
    case S_LPROC32: case S_LPROC32_ID: case S_LPROC32_DPC: case S_LPROC32_DPC_ID: case S_LPROC32_ST:
        out->is_local = true;
        read_function(&c, symbol->kind == S_LPROC32_ST, out);
        break;
    case S_GPROC32: case S_GPROC32_ID: case S_GPROC32_ST:
        read_function(&c, symbol->kind == S_GPROC32_ST, out);
        break;
    case S_THUNK32:
        read_thunk(&c, out);
        break;
    case S_SEPCODE:
        read_separated(&c, out);
        break;
    default:
        return false;
    }
    return !c.failed;
}

bool csni_pdb_read_label(const struct csni_pdb_symbol *symbol, struct csni_pdb_code *out) {
    if (symbol->kind != S_LABEL32) return false;
    struct csni_cursor c = csni_cursor_at(symbol->data, false);
    *out = (struct csni_pdb_code){ .kind = CSNI_PDB_FUNCTION, .is_local = true };
    out->offset = csni_cursor_u32(&c);
    out->section = csni_cursor_u16(&c);
    csni_cursor_u8(&c);
    out->name = read_nul_name(&c);
    return !c.failed && out->name.len;
}

/* Parent, end, inlinee, in S_INLINESITE2 how often it is called, annotations. */
bool csni_pdb_read_inline_site(const struct csni_pdb_symbol *symbol, struct csni_pdb_inline_site *out) {
    if (symbol->kind != S_INLINESITE && symbol->kind != S_INLINESITE2) return false;
    struct csni_cursor c = csni_cursor_at(symbol->data, false);
    csni_cursor_skip(&c, 8);
    out->inlinee = csni_cursor_u32(&c);
    if (symbol->kind == S_INLINESITE2) csni_cursor_u32(&c);
    if (c.failed) return false;
    out->annotations = csni_cursor_bytes(&c, csni_cursor_left(&c));
    return true;
}
