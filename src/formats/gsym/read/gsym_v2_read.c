/* Opening GSYM version 2: header, directory, and the sections that it names, wherever they stand. */
#include "base/core/endian.h"
#include "formats/gsym/read/gsym.h"
#include "formats/gsym/gsym_layout.h"

typedef unsigned long long ull; /* for %llx */

static const char directory_name[] = "directory";

/* The sections of the types that are known. Of several of one type the last counts; size 0: there is none. */
struct sections {
    struct csni_gsym_entry known[CSNI_GSYM_SECTION_KNOWN];
};

static csn_status check_v2_header(struct csni_gsym *gsym, struct csn_error *err) {
    const uint8_t *h = gsym->bytes.ptr;
    if (gsym->bytes.size < CSNI_GSYM_2_HEADER_SIZE)
        return csni_fail(err, CSN_E_TRUNCATED, "header", gsym->bytes.size, "file of %zu bytes, need >= %d",
                         gsym->bytes.size, CSNI_GSYM_2_HEADER_SIZE);
    unsigned width = h[CSNI_GSYM_H_ADDR_OFF_SIZE], encoding = h[CSNI_GSYM_2_STRING_ENCODING];
    if (width != 1 && width != 2 && width != 4 && width != 8)
        return csni_fail(err, CSN_E_FORMAT, "header", CSNI_GSYM_H_ADDR_OFF_SIZE,
                         "address offset size %u, need 1, 2, 4 or 8", width);
    if (encoding)
        return csni_fail(err, CSN_E_UNSUPPORTED, "header", CSNI_GSYM_2_STRING_ENCODING,
                         "string table encoding %u is not supported, only 0 is", encoding);
    gsym->address_size = (uint8_t)width;
    gsym->base_address = csni_get64(h + CSNI_GSYM_H_BASE_ADDRESS, gsym->big);
    gsym->address_count = csni_get32(h + CSNI_GSYM_H_NUM_ADDRESSES, gsym->big);
    return CSN_OK;
}

csn_status csni_gsym_directory_entry(const struct csni_gsym *gsym, uint64_t idx, struct csni_gsym_entry *out,
                                     struct csn_error *err) {
    struct csni_span entry;
    uint64_t at = CSNI_GSYM_2_HEADER_SIZE + idx * CSNI_GSYM_2_ENTRY_BYTES;
    if (!csni_span_sub(gsym->bytes, at, CSNI_GSYM_2_ENTRY_BYTES, &entry))
        return csni_fail(err, CSN_E_TRUNCATED, directory_name, at,
                         "entry %llu ends at 0x%llx, file has 0x%zx bytes", (ull)idx, (ull)(at + CSNI_GSYM_2_ENTRY_BYTES),
                         gsym->bytes.size);
    out->type = csni_get32(entry.ptr + CSNI_GSYM_2_ENTRY_TYPE, gsym->big);
    out->offset = csni_get64(entry.ptr + CSNI_GSYM_2_ENTRY_OFFSET, gsym->big);
    out->size = csni_get64(entry.ptr + CSNI_GSYM_2_ENTRY_SIZE, gsym->big);
    return out->type == CSNI_GSYM_SECTION_END ? CSN_NONE : CSN_OK;
}

/* Sections of types that are not known are the format's way to grow; only their bounds are looked at. */
static csn_status read_v2_directory(struct csni_gsym *gsym, struct sections *out, struct csn_error *err) {
    struct csni_gsym_entry entry;
    csn_status status;
    uint64_t idx = 0, at = CSNI_GSYM_2_HEADER_SIZE;
    for (; (status = csni_gsym_directory_entry(gsym, idx, &entry, err)) == CSN_OK; idx++) {
        struct csni_span section;
        at = CSNI_GSYM_2_HEADER_SIZE + idx * CSNI_GSYM_2_ENTRY_BYTES;
        if (!entry.size)
            return csni_fail(err, CSN_E_FORMAT, directory_name, at, "section of type %u has 0 bytes, need > 0",
                             entry.type);
        if (!csni_span_sub(gsym->bytes, entry.offset, entry.size, &section))
            return csni_fail(err, CSN_E_TRUNCATED, directory_name, at,
                             "section of type %u: 0x%llx bytes at 0x%llx, file has 0x%zx bytes", entry.type,
                             (ull)entry.size, (ull)entry.offset, gsym->bytes.size);
        if (entry.type < CSNI_GSYM_SECTION_KNOWN) out->known[entry.type] = entry;
    }
    gsym->tables_end = CSNI_GSYM_2_HEADER_SIZE + (idx + 1) * CSNI_GSYM_2_ENTRY_BYTES;
    return status < 0 ? status : CSN_OK;
}

/* The section of that type, which must be there; `need`: its exact size, 0 for any. */
static csn_status take_section(const struct csni_gsym *gsym, const struct sections *sections, uint32_t type,
                               const char *name, uint64_t need, struct csni_span *out, struct csn_error *err) {
    const struct csni_gsym_entry *entry = &sections->known[type];
    if (!entry->size)
        return csni_fail(err, CSN_E_FORMAT, directory_name, CSNI_GSYM_2_HEADER_SIZE, "no section of type %u (%s)", type,
                         name);
    if (need && entry->size != need)
        return csni_fail(err, CSN_E_FORMAT, name, entry->offset, "section of 0x%llx bytes, need 0x%llx for %u functions",
                         (ull)entry->size, (ull)need, gsym->address_count);
    *out = (struct csni_span){ gsym->bytes.ptr + entry->offset, (size_t)entry->size };
    return CSN_OK;
}

static csn_status take_files(struct csni_gsym *gsym, const struct sections *sections, struct csn_error *err) {
    struct csni_span files = { NULL, 0 };
    CSNI_TRY(take_section(gsym, sections, CSNI_GSYM_SECTION_FILES, "file table", 0, &files, err));
    uint64_t at = sections->known[CSNI_GSYM_SECTION_FILES].offset;
    if (files.size < CSNI_GSYM_FILE_COUNT_SIZE)
        return csni_fail(err, CSN_E_TRUNCATED, "file table", at, "section of %zu bytes, need >= %d", files.size,
                         CSNI_GSYM_FILE_COUNT_SIZE);
    gsym->file_count = csni_get32(files.ptr, gsym->big);
    gsym->files = files.ptr + CSNI_GSYM_FILE_COUNT_SIZE;
    uint64_t need = (uint64_t)gsym->file_count * 2 * CSNI_GSYM_2_STRP_SIZE;
    if (need > files.size - CSNI_GSYM_FILE_COUNT_SIZE)
        return csni_fail(err, CSN_E_TRUNCATED, "file table", at, "section of 0x%zx bytes, need 0x%llx for %u files",
                         files.size, (ull)(need + CSNI_GSYM_FILE_COUNT_SIZE), gsym->file_count);
    return CSN_OK;
}

/* Of no functions the tables would have no bytes, which the directory cannot say: csni_gsym_parse() refuses such a file. */
csn_status csni_gsym_parse_v2(struct csni_gsym *gsym, struct csn_error *err) {
    struct sections sections = { 0 };
    struct csni_span addresses = { NULL, 0 }, infos = { NULL, 0 };
    gsym->strp_size = CSNI_GSYM_2_STRP_SIZE;
    gsym->info_size = CSNI_GSYM_2_INFO_OFFSET_SIZE;
    gsym->parts_at = CSNI_GSYM_2_RECORD_PARTS;
    CSNI_TRY(check_v2_header(gsym, err));
    CSNI_TRY(read_v2_directory(gsym, &sections, err));
    uint64_t count = gsym->address_count;
    if (!count) return csni_fail(err, CSN_E_FORMAT, "header", CSNI_GSYM_H_NUM_ADDRESSES, "0 functions, need > 0");
    CSNI_TRY(take_section(gsym, &sections, CSNI_GSYM_SECTION_ADDRESSES, "address table", count * gsym->address_size,
                          &addresses, err));
    CSNI_TRY(take_section(gsym, &sections, CSNI_GSYM_SECTION_INFOS, "info offset table",
                          count * CSNI_GSYM_2_INFO_OFFSET_SIZE, &infos, err));
    CSNI_TRY(take_section(gsym, &sections, CSNI_GSYM_SECTION_STRINGS, "string table", 0, &gsym->strings, err));
    CSNI_TRY(take_files(gsym, &sections, err));
    CSNI_TRY(take_section(gsym, &sections, CSNI_GSYM_SECTION_RECORDS, "FunctionInfo", 0, &gsym->records, err));
    gsym->addresses = addresses.ptr;
    gsym->infos = infos.ptr;
    gsym->strings_offset = sections.known[CSNI_GSYM_SECTION_STRINGS].offset;
    gsym->records_offset = sections.known[CSNI_GSYM_SECTION_RECORDS].offset;
    const struct csni_gsym_entry *uuid = &sections.known[CSNI_GSYM_SECTION_UUID];
    if (uuid->size) gsym->uuid = (struct csni_span){ gsym->bytes.ptr + uuid->offset, (size_t)uuid->size };
    return CSN_OK;
}
