/* What a file is, and the ids by which symbol stores name it. */
#include <callsign/identity.h>

#include <string.h>

#include "base/core/endian.h"
#include "base/core/fail.h"
#include "object/object.h"
#include "pdb/pdb.h"
#include "store/index_cache.h"

enum { PE_OFFSET_AT = 0x3c, PE_TIMESTAMP = 8, PE_IMAGE_SIZE = 24 + 56 };

/* Of a PE image; zeros where the headers end early. */
static void read_pe_stamp(struct csni_span file, struct csn_identity *out) {
    struct csni_span header;
    if (!csni_span_sub(file, PE_OFFSET_AT, 4, &header)) return;
    uint64_t pe = csni_get32(header.ptr, false);
    if (csni_span_sub(file, pe + PE_TIMESTAMP, 4, &header)) out->pe_timestamp = csni_get32(header.ptr, false);
    if (csni_span_sub(file, pe + PE_IMAGE_SIZE, 4, &header)) out->pe_image_size = csni_get32(header.ptr, false);
}

static bool has_bytes_of_code(const struct csni_object *object) {
    for (uint32_t i = 0; i < object->section_count; i++) {
        uint32_t flags = object->sections[i].flags;
        if ((flags & CSNI_SECTION_EXEC) && !(flags & CSNI_SECTION_NOBITS) && object->sections[i].file_size) return true;
    }
    if (object->section_count > 1) return false;
    for (uint32_t i = 0; i < object->segment_count; i++)
        if (object->segments[i].exec && object->segments[i].file_size) return true;
    return false;
}

static bool has_symbols(struct csni_object *object) {
    struct csni_symbol_iter iter;
    struct csni_symbol symbol;
    return csni_symbol_iter_init(&iter, object, CSNI_SYMBOLS_STATIC, NULL) == CSN_OK &&
           csni_symbol_iter_next(&iter, &symbol) == CSN_OK;
}

static void set_build_id(struct csn_identity *out, const uint8_t *id, size_t size) {
    if (size > sizeof(out->build_id)) size = sizeof(out->build_id);
    if (size) memcpy(out->build_id, id, size);
    out->build_id_size = (uint32_t)size;
}

static csn_status identify_object(struct csni_span file, struct csn_identity *out, struct csn_error *err) {
    struct csni_object *object = NULL;
    CSNI_TRY(csni_object_open(file, NULL, &object, err));
    out->container = (uint32_t)object->container;
    memcpy(out->arch, object->arch, sizeof(out->arch));
    out->image_base = object->image_base;
    set_build_id(out, object->build_id.ptr, object->build_id.size);
    out->age = object->build_id_age;
    if (object->container == CSNI_CONTAINER_PE) read_pe_stamp(file, out);
    if (has_bytes_of_code(object)) out->flags |= CSN_IDENTITY_CODE;
    if (csni_object_has_debug_section(object, "info")) out->flags |= CSN_IDENTITY_DEBUG_INFO;
    if (has_symbols(object)) out->flags |= CSN_IDENTITY_SYMBOLS;
    if (object->kind == CSNI_OBJECT_EXECUTABLE || object->kind == CSNI_OBJECT_SHARED) out->flags |= CSN_IDENTITY_LINKED;
    csni_object_close(object);
    return CSN_OK;
}

static csn_status identify_pdb(struct csni_span file, struct csn_identity *out, struct csn_error *err) {
    uint8_t guid[CSNI_PDB_GUID_SIZE];
    uint32_t age = 0;
    CSNI_TRY(csni_pdb_identity(file, NULL, guid, &age, err));
    out->container = CSN_IDENTITY_PDB;
    out->flags = CSN_IDENTITY_DEBUG_INFO | CSN_IDENTITY_LINKED;
    set_build_id(out, guid, sizeof(guid));
    out->age = age;
    return CSN_OK;
}

csn_status csn_identify_memory(const void *bytes, size_t size, struct csn_identity *out, size_t out_size, struct csn_error *err) {
    struct csni_span file = { bytes, size };
    struct csn_identity found = { .container = 0 };
    csn_status status = CSN_E_UNSUPPORTED;
    csni_htlhash(file, found.htlhash);
    if (csni_pdb_recognize(file)) status = identify_pdb(file, &found, err);
    else if (csni_object_recognize(file)) status = identify_object(file, &found, err);
    else csni_fail(err, status, NULL, 0, "neither an object file nor a program database");
    if (status < 0 && status != CSN_E_UNSUPPORTED) return status;
    memset(out, 0, out_size);
    memcpy(out, &found, out_size < sizeof(found) ? out_size : sizeof(found));
    return status;
}
