/* Names of inlined functions: records of ids (IPI), and of types (TPI) for the classes that functions are members of. */
#include <inttypes.h>

#include "pdb/pdb_private.h"

/* ---- finding records ---- */

/* Records stand one after the other, and have numbers in that order. */
static csn_status index_records(const struct csni_pdb *pdb, struct csni_pdb_types *types, struct csn_error *err) {
    types->offsets = csni_alloc_zeroed(pdb->alloc, types->count, sizeof *types->offsets);
    if (types->count && !types->offsets) return csni_fail_memory(err, (uint64_t)types->count * sizeof *types->offsets);
    uint64_t off = 0;
    uint32_t found = 0;
    for (; found < types->count && types->records.size - off >= 4; found++) {
        uint32_t size = csni_get16(types->records.ptr + off, false);
        if (size < 2 || size + 2u > types->records.size - off) break;
        types->offsets[found] = (uint32_t)off;
        off += size + 2u;
    }
    for (uint32_t i = found; i < types->count; i++) types->offsets[i] = UINT32_MAX;
    return CSN_OK;
}

static csn_status open_stream(struct csni_pdb *pdb, uint32_t stream, struct csni_pdb_types *out, struct csn_error *err) {
    if (stream >= pdb->streams.count || !pdb->streams.items[stream].size) return CSN_OK;
    CSNI_TRY(csni_pdb_read_stream(pdb, stream, &out->bytes, err));
    struct csni_span bytes = out->bytes.span;
    if (bytes.size < TPI_HEADER_SIZE)
        return csni_fail(err, CSN_E_TRUNCATED, "TPI", 0, "%zu bytes, the header has %d", bytes.size, TPI_HEADER_SIZE);
    uint32_t begin = csni_get32(bytes.ptr + TPI_INDEX_BEGIN, false), end = csni_get32(bytes.ptr + TPI_INDEX_END, false);
    uint32_t header = csni_get32(bytes.ptr + TPI_HEADER_SIZE_FIELD, false);
    out->records = csni_span_from(bytes, header);
    uint32_t size = csni_get32(bytes.ptr + TPI_RECORD_BYTES, false);
    if (size < out->records.size) out->records.size = size;
    if (end < begin || (end - begin) > out->records.size / 4)
        return csni_fail(err, CSN_E_FORMAT, "TPI", TPI_INDEX_BEGIN,
                         "records 0x%" PRIx32 " to 0x%" PRIx32 " in 0x%zx bytes", begin, end, out->records.size);
    out->first = begin;
    out->count = end - begin;
    return index_records(pdb, out, err);
}

csn_status csni_pdb_open_types(struct csni_pdb *pdb, struct csn_error *err) {
    CSNI_TRY(open_stream(pdb, PDB_STREAM_IPI, &pdb->ids, err));
    return pdb->ids.count ? open_stream(pdb, PDB_STREAM_TPI, &pdb->types, err) : CSN_OK;
}

static void close_types(struct csni_pdb *pdb, struct csni_pdb_types *types) {
    csni_free(pdb->alloc, types->offsets, types->count * sizeof *types->offsets);
    csni_pdb_free_bytes(pdb, &types->bytes);
    *types = (struct csni_pdb_types){ .offsets = NULL };
}

void csni_pdb_close_types(struct csni_pdb *pdb) {
    close_types(pdb, &pdb->ids);
    close_types(pdb, &pdb->types);
}

bool csni_pdb_find_record(const struct csni_pdb_types *types, uint32_t number, struct csni_cursor *out) {
    uint32_t i = number - types->first;
    if (number < types->first || i >= types->count || types->offsets[i] == UINT32_MAX) return false;
    const uint8_t *p = types->records.ptr + types->offsets[i];
    *out = csni_cursor_at((struct csni_span){ p + 2, csni_get16(p, false) }, false);
    return true;
}

/* ---- names ---- */

/* A number before a name: small ones stand alone, of others the kind comes first. */
static void skip_numeric(struct csni_cursor *c) {
    uint16_t kind = csni_cursor_u16(c);
    switch (kind < LF_NUMERIC ? 0 : kind) {
    case 0: return;
    case LF_CHAR: csni_cursor_skip(c, 1); return;
    case LF_SHORT: case LF_USHORT: csni_cursor_skip(c, 2); return;
    case LF_LONG: case LF_ULONG: csni_cursor_skip(c, 4); return;
    case LF_QUADWORD: case LF_UQUADWORD: csni_cursor_skip(c, 8); return;
    default: csni_cursor_fail(c); return;
    }
}

/* What stands before the name depends on the kind. */
struct csn_str csni_pdb_class_name(const struct csni_pdb *pdb, uint32_t type) {
    struct csni_cursor c;
    struct csn_str none = { "", 0 };
    if (!csni_pdb_find_record(&pdb->types, type, &c)) return none;
    switch (csni_cursor_u16(&c)) {
    case LF_CLASS: case LF_STRUCTURE: case LF_INTERFACE: csni_cursor_skip(&c, 16); break;
    case LF_UNION: csni_cursor_skip(&c, 8); break;
    case LF_ENUM: csni_cursor_skip(&c, 12); return csni_cursor_cstr(&c);
    case LF_CLASS2: case LF_STRUCTURE2: case LF_INTERFACE2: csni_cursor_skip(&c, 18); break;
    case LF_UNION2: csni_cursor_skip(&c, 10); break;
    default: return none;
    }
    skip_numeric(&c);
    struct csn_str name = csni_cursor_cstr(&c);
    return c.failed ? none : name;
}

/* A namespace. */
static struct csn_str scope_name(const struct csni_pdb *pdb, uint32_t id) {
    struct csni_cursor c;
    struct csn_str none = { "", 0 };
    if (!csni_pdb_find_record(&pdb->ids, id, &c) || csni_cursor_u16(&c) != LF_STRING_ID) return none;
    csni_cursor_u32(&c); /* a list of what stands before it: nobody writes one */
    struct csn_str name = csni_cursor_cstr(&c);
    return c.failed ? none : name;
}

bool csni_pdb_id_name(const struct csni_pdb *pdb, uint32_t id, struct csn_str *scope, struct csn_str *name) {
    struct csni_cursor c;
    if (!csni_pdb_find_record(&pdb->ids, id, &c)) return false;
    uint16_t kind = csni_cursor_u16(&c);
    if (kind != LF_FUNC_ID && kind != LF_MFUNC_ID) return false;
    uint32_t parent = csni_cursor_u32(&c);
    csni_cursor_u32(&c); /* type */
    *name = csni_cursor_cstr(&c);
    if (c.failed) return false;
    *scope = kind == LF_MFUNC_ID ? csni_pdb_class_name(pdb, parent) : scope_name(pdb, parent);
    return true;
}
