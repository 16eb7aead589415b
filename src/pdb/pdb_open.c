/* Opening a program database: identity, modules, file names. */
#include <inttypes.h>
#include <stdio.h>

#include "base/guid.h"
#include "pdb/pdb_private.h"

static const char INFO[] = "PDB information", DBI[] = "DBI";

/* ---- identity and named streams ---- */

struct info {
    uint32_t age;
    bool is_minimal;       /* /DEBUG:FASTLINK */
    uint32_t names_stream; /* 0: none */
};

/* The value of key `wanted`, an offset in `strings`, in a hash table of numbers: only those that are there are stored. */
static void read_named_streams(struct csni_cursor *c, struct csni_span strings, struct info *out) {
    uint32_t count = csni_cursor_u32(c);
    csni_cursor_u32(c); /* capacity */
    for (int bits = 0; bits < 2; bits++) csni_cursor_skip(c, (uint64_t)csni_cursor_u32(c) * 4); /* present, deleted */
    for (uint32_t i = 0; i < count && !c->failed; i++) {
        uint32_t key = csni_cursor_u32(c), value = csni_cursor_u32(c);
        struct csn_str name;
        if (!c->failed && csni_span_cstr(strings, key, &name) && csni_str_is(name, "/names")) out->names_stream = value;
    }
}

static void read_features(struct csni_cursor *c, struct info *out) {
    csni_cursor_u32(c); /* how many ids of names there are */
    while (csni_cursor_left(c) >= 4) {
        uint32_t feature = csni_cursor_u32(c);
        if (feature == FEATURE_MINIMAL_DEBUG_INFO) out->is_minimal = true;
        if (feature == FEATURE_VC110) return; /* nothing follows that */
    }
}

static csn_status read_info(struct csni_pdb *pdb, struct info *out, struct csn_error *err) {
    struct csni_pdb_bytes bytes;
    CSNI_TRY(csni_pdb_read_stream(pdb, PDB_STREAM_INFO, &bytes, err));
    csn_status status = CSN_OK;
    *out = (struct info){ 0 };
    if (bytes.span.size < INFO_HEADER_SIZE) {
        status = csni_fail(err, CSN_E_TRUNCATED, INFO, 0, "%zu bytes, need %d", bytes.span.size, INFO_HEADER_SIZE);
    } else {
        out->age = csni_get32(bytes.span.ptr + INFO_AGE, false);
        memcpy(pdb->guid, bytes.span.ptr + INFO_GUID, sizeof pdb->guid);
        struct csni_cursor c = csni_cursor_at(bytes.span, false);
        csni_cursor_skip(&c, INFO_HEADER_SIZE);
        struct csni_span strings = csni_cursor_bytes(&c, csni_cursor_u32(&c));
        read_named_streams(&c, strings, out);
        read_features(&c, out);
    }
    csni_pdb_free_bytes(pdb, &bytes);
    return status;
}

/* ---- the DBI stream ---- */

/* Sizes of the parts of the stream, in their order after its header. */
struct dbi_header {
    uint32_t age, module_size, skipped_size, debug_header_size;
    uint16_t symbol_stream, flags, machine;
};

static csn_status read_dbi_header(struct csni_span dbi, struct dbi_header *out, struct csn_error *err) {
    struct csni_cursor c = csni_cursor_at(dbi, false);
    if (dbi.size < DBI_HEADER_SIZE)
        return csni_fail(err, CSN_E_TRUNCATED, DBI, 0, "%zu bytes, the header has %d", dbi.size, DBI_HEADER_SIZE);
    uint32_t signature = csni_cursor_u32(&c), version = csni_cursor_u32(&c);
    if (signature != UINT32_MAX || version < DBI_VERSION_V70)
        return csni_fail(err, CSN_E_UNSUPPORTED, DBI, 4, "version %" PRIu32 ", need %d or later", version, DBI_VERSION_V70);
    out->age = csni_cursor_u32(&c);
    csni_cursor_skip(&c, 8); /* streams of global and public symbols, versions */
    out->symbol_stream = csni_cursor_u16(&c);
    csni_cursor_skip(&c, 2);
    out->module_size = csni_cursor_u32(&c);
    uint64_t skipped = 0;
    for (int i = 0; i < 4; i++) skipped += csni_cursor_u32(&c); /* contributions, section map, source files, type servers */
    csni_cursor_skip(&c, 4);
    out->debug_header_size = csni_cursor_u32(&c);
    skipped += csni_cursor_u32(&c); /* edit and continue */
    out->flags = csni_cursor_u16(&c);
    out->machine = csni_cursor_u16(&c);
    out->skipped_size = (uint32_t)skipped;
    if ((uint64_t)out->module_size + skipped + out->debug_header_size > dbi.size - DBI_HEADER_SIZE)
        return csni_fail(err, CSN_E_TRUNCATED, DBI, 0,
                         "parts of 0x%" PRIx32 ", 0x%" PRIx64 " and 0x%" PRIx32 " bytes after the header, there are 0x%zx",
                         out->module_size, skipped, out->debug_header_size, dbi.size - DBI_HEADER_SIZE);
    return CSN_OK;
}

static csn_status read_modules(struct csni_pdb *pdb, struct csni_span list, struct csn_error *err) {
    struct csni_cursor c = csni_cursor_at(list, false);
    while (csni_cursor_left(&c) >= MODULE_INFO_SIZE) {
        const uint8_t *p = c.p;
        struct csni_pdb_module module = { .stream = csni_get16(p + MODULE_STREAM, false),
                                          .symbol_size = csni_get32(p + MODULE_SYMBOL_SIZE, false),
                                          .c11_size = csni_get32(p + MODULE_C11_SIZE, false),
                                          .c13_size = csni_get32(p + MODULE_C13_SIZE, false) };
        csni_cursor_skip(&c, MODULE_INFO_SIZE);
        module.name = csni_cursor_cstr(&c);
        csni_cursor_cstr(&c); /* of the object file */
        if (c.failed)
            return csni_fail(err, CSN_E_TRUNCATED, DBI, DBI_HEADER_SIZE + c.failed_at, "module %zu: its name has no end",
                             pdb->modules.count);
        if (!csni_vec_push(&pdb->modules, module)) return csni_fail_memory(err, sizeof module);
        csni_cursor_seek(&c, csni_cursor_off(&c) + (4 - csni_cursor_off(&c) % 4) % 4);
    }
    return CSN_OK;
}

/* A PDB without modules' symbols has no file names; one without names has lines all the same. */
static csn_status read_names(struct csni_pdb *pdb, uint32_t stream, struct csn_error *err) {
    if (!stream) return CSN_OK;
    CSNI_TRY(csni_pdb_read_stream(pdb, stream, &pdb->names_stream, err));
    struct csni_span bytes = pdb->names_stream.span;
    if (bytes.size < NAMES_HEADER_SIZE || csni_get32(bytes.ptr, false) != NAMES_SIGNATURE)
        return csni_fail(err, CSN_E_FORMAT, "/names", 0, "%zu bytes without the signature 0x%x", bytes.size, NAMES_SIGNATURE);
    pdb->names = csni_span_from(bytes, NAMES_HEADER_SIZE);
    uint32_t size = csni_get32(bytes.ptr + 8, false);
    if (size < pdb->names.size) pdb->names.size = size;
    return CSN_OK;
}

static csn_status fail_fastlink(struct csn_error *err) {
    return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0,
                     "made by /DEBUG:FASTLINK: lines and private symbols are in the object files; link with /DEBUG:FULL, or "
                     "complete it with mspdbcmf");
}

static csn_status read_debug_info(struct csni_pdb *pdb, const struct info *info, struct csn_error *err) {
    struct dbi_header header;
    CSNI_TRY(csni_pdb_read_stream(pdb, PDB_STREAM_DBI, &pdb->dbi, err));
    struct csni_span dbi = pdb->dbi.span;
    if (!dbi.size) return CSN_OK;
    CSNI_TRY(read_dbi_header(dbi, &header, err));
    pdb->has_debug_info = true;
    if (header.age) pdb->age = header.age;
    pdb->machine = header.machine;
    pdb->is_stripped = header.flags & DBI_FLAG_STRIPPED;
    pdb->symbol_stream = header.symbol_stream;
    struct csni_span modules = { dbi.ptr + DBI_HEADER_SIZE, header.module_size };
    struct csni_span debug_headers = { modules.ptr + header.module_size + header.skipped_size, header.debug_header_size };
    CSNI_TRY(csni_pdb_read_sections(pdb, debug_headers, err));
    CSNI_TRY(read_modules(pdb, modules, err));
    CSNI_TRY(read_names(pdb, info->names_stream, err));
    return pdb->symbol_stream == PDB_NO_STREAM ? CSN_OK : csni_pdb_read_stream(pdb, pdb->symbol_stream, &pdb->symbols, err);
}

/* ---- open and close ---- */

static struct csni_pdb pdb_on(struct csni_span file, const struct csn_allocator *alloc) {
    struct csni_pdb pdb = { .alloc = alloc, .file = file, .symbol_stream = PDB_NO_STREAM };
    pdb.streams.alloc = pdb.modules.alloc = pdb.sections.alloc = pdb.image_sections.alloc = pdb.moves.alloc = alloc;
    return pdb;
}

static csn_status open_all(struct csni_pdb *pdb, struct csn_error *err) {
    struct info info;
    CSNI_TRY(csni_msf_open(pdb, err));
    CSNI_TRY(read_info(pdb, &info, err));
    pdb->age = info.age;
    if (info.is_minimal) return fail_fastlink(err);
    CSNI_TRY(read_debug_info(pdb, &info, err));
    return pdb->has_debug_info ? CSN_OK : csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "a PDB of types only: no DBI stream");
}

static void release(struct csni_pdb *pdb) {
    csni_pdb_close_types(pdb);
    csni_pdb_free_bytes(pdb, &pdb->dbi);
    csni_pdb_free_bytes(pdb, &pdb->names_stream);
    csni_pdb_free_bytes(pdb, &pdb->symbols);
    csni_vec_deinit(&pdb->modules);
    csni_vec_deinit(&pdb->sections);
    csni_vec_deinit(&pdb->image_sections);
    csni_vec_deinit(&pdb->moves);
    csni_msf_close(pdb);
}

csn_status csni_pdb_open(struct csni_span file, const struct csn_allocator *alloc, struct csni_pdb **out,
                         struct csn_error *err) {
    struct csni_pdb *pdb = csni_alloc(alloc, sizeof *pdb);
    if (!pdb) return csni_fail_memory(err, sizeof *pdb);
    *pdb = pdb_on(file, alloc);
    csn_status status = open_all(pdb, err);
    if (status < 0) csni_pdb_close(pdb);
    else *out = pdb;
    return status;
}

void csni_pdb_close(struct csni_pdb *pdb) {
    if (!pdb) return;
    release(pdb);
    csni_free(pdb->alloc, pdb, sizeof *pdb);
}

csn_status csni_pdb_identity(struct csni_span file, const struct csn_allocator *alloc, uint8_t guid[CSNI_PDB_GUID_SIZE],
                             uint32_t *age, struct csn_error *err) {
    struct csni_pdb pdb = pdb_on(file, alloc);
    struct info info;
    csn_status status = csni_msf_open(&pdb, err);
    if (status == CSN_OK) status = read_info(&pdb, &info, err);
    if (status == CSN_OK) {
        pdb.age = info.age;
        struct dbi_header header;
        if (csni_pdb_read_stream(&pdb, PDB_STREAM_DBI, &pdb.dbi, NULL) == CSN_OK &&
            read_dbi_header(pdb.dbi.span, &header, NULL) == CSN_OK && header.age)
            pdb.age = header.age;
        memcpy(guid, pdb.guid, sizeof pdb.guid);
        *age = pdb.age;
    }
    release(&pdb);
    return status;
}

csn_status csni_pdb_compare(struct csni_span file, const struct csn_allocator *alloc, const uint8_t *guid, size_t guid_size,
                            uint32_t age, enum csni_pdb_fit *fit, char has[CSNI_PDB_ID_SIZE], struct csn_error *err) {
    uint8_t own[CSNI_PDB_GUID_SIZE];
    uint32_t own_age;
    CSNI_TRY(csni_pdb_identity(file, alloc, own, &own_age, err));
    bool fits = !guid_size || (guid_size == sizeof own && memcmp(own, guid, sizeof own) == 0 && own_age == age);
    *fit = fits ? CSNI_PDB_FITS : CSNI_PDB_HAS_OTHER_ID;
    csni_pdb_id_text(own, own_age, has);
    return CSN_OK;
}

void csni_pdb_id_text(const uint8_t guid[CSNI_PDB_GUID_SIZE], uint32_t age, char out[CSNI_PDB_ID_SIZE]) {
    csni_guid_text(guid, CSNI_PDB_GUID_SIZE, out);
    snprintf(out + CSNI_GUID_DIGITS, CSNI_PDB_ID_SIZE - CSNI_GUID_DIGITS, "%" PRIX32, age);
}
