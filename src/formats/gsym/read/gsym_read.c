/* Opening GSYM: magic number, then header and bounds of the tables of version 1; failures of records and their parts. */
#include "formats/gsym/read/gsym.h"

#include "base/core/byte_blocks.h"
#include "base/core/checked.h"
#include "base/core/endian.h"
#include "formats/gsym/gsym_layout.h"

static const char header_name[] = "header";
static const char record_name[] = "FunctionInfo";

static csn_status check_magic(struct csni_gsym *gsym, struct csn_error *err) {
    struct csni_span bytes = gsym->bytes;
    if (bytes.size < 4)
        return csni_fail(err, CSN_E_TRUNCATED, NULL, 0, "not a GSYM file: %zu bytes, need >= %d", bytes.size,
                         CSNI_GSYM_HEADER_SIZE);
    uint32_t magic = csni_get32(bytes.ptr, CSNI_HOST_BIG);
    if (magic == CSNI_GSYM_MAGIC) gsym->big = CSNI_HOST_BIG;
    else if (magic == csni_swap32(CSNI_GSYM_MAGIC)) gsym->big = !CSNI_HOST_BIG;
    else
        return csni_fail(err, CSN_E_FORMAT, NULL, 0, "not a GSYM file: magic %02x %02x %02x %02x, need 4d 59 53 47 or "
                         "47 53 59 4d", bytes.ptr[0], bytes.ptr[1], bytes.ptr[2], bytes.ptr[3]);
    return CSN_OK;
}

/* The version comes first: another version has another header, perhaps a shorter one. */
static csn_status check_version(struct csni_gsym *gsym, struct csn_error *err) {
    gsym->version = CSNI_GSYM_VERSION_1;
    if (gsym->bytes.size < CSNI_GSYM_H_VERSION + 2) return CSN_OK; /* too small for any, as parse_v1() says */
    unsigned version = csni_get16(gsym->bytes.ptr + CSNI_GSYM_H_VERSION, gsym->big);
    if (version != CSNI_GSYM_VERSION_1 && version != CSNI_GSYM_VERSION_2)
        return csni_fail(err, CSN_E_UNSUPPORTED, header_name, CSNI_GSYM_H_VERSION,
                         "GSYM version %u is not supported by this build; know %d and %d", version, CSNI_GSYM_VERSION_1,
                         CSNI_GSYM_VERSION_2);
    gsym->version = (uint8_t)version;
    return CSN_OK;
}

static csn_status check_gsym_header(struct csni_gsym *gsym, struct csn_error *err) {
    const uint8_t *h = gsym->bytes.ptr;
    size_t size = gsym->bytes.size;
    if (size < CSNI_GSYM_HEADER_SIZE)
        return csni_fail(err, CSN_E_TRUNCATED, header_name, size, "file of %zu bytes, need >= %d", size,
                         CSNI_GSYM_HEADER_SIZE);
    unsigned width = h[CSNI_GSYM_H_ADDR_OFF_SIZE], uuid_size = h[CSNI_GSYM_H_UUID_SIZE];
    if (width != 1 && width != 2 && width != 4 && width != 8)
        return csni_fail(err, CSN_E_FORMAT, header_name, CSNI_GSYM_H_ADDR_OFF_SIZE,
                         "address offset size %u, need 1, 2, 4 or 8", width);
    if (uuid_size > CSNI_GSYM_UUID_MAX)
        return csni_fail(err, CSN_E_FORMAT, header_name, CSNI_GSYM_H_UUID_SIZE, "UUID of %u bytes, need <= %d",
                         uuid_size, CSNI_GSYM_UUID_MAX);
    gsym->address_size = (uint8_t)width;
    gsym->uuid = (struct csni_span){ h + CSNI_GSYM_H_UUID, uuid_size };
    gsym->base_address = csni_get64(h + CSNI_GSYM_H_BASE_ADDRESS, gsym->big);
    gsym->address_count = csni_get32(h + CSNI_GSYM_H_NUM_ADDRESSES, gsym->big);
    return CSN_OK;
}

/* The table of `size` bytes at `off`. All sums stay below 2^40: counts are 32 bits wide, entries at most 8 bytes. */
static csn_status take_gsym_table(const struct csni_gsym *gsym, const char *name, uint64_t off, uint64_t size,
                                  const uint8_t **out, struct csn_error *err) {
    struct csni_span table;
    if (!csni_span_sub(gsym->bytes, off, size, &table))
        return csni_fail(err, CSN_E_TRUNCATED, name, off, "table ends at 0x%llx, file has 0x%zx bytes",
                         (unsigned long long)(off + size), gsym->bytes.size);
    *out = table.ptr;
    return CSN_OK;
}

static csn_status find_gsym_tables(struct csni_gsym *gsym, struct csn_error *err) {
    uint64_t count = gsym->address_count;
    uint64_t off = csni_align_up(CSNI_GSYM_HEADER_SIZE, gsym->address_size);
    CSNI_TRY(take_gsym_table(gsym, "address table", off, count * gsym->address_size, &gsym->addresses, err));
    off = csni_align_up(off + count * gsym->address_size, CSNI_GSYM_ALIGN);
    CSNI_TRY(take_gsym_table(gsym, "info offset table", off, count * CSNI_GSYM_INFO_OFFSET_SIZE, &gsym->infos, err));
    off += count * CSNI_GSYM_INFO_OFFSET_SIZE;
    const uint8_t *file_count = NULL;
    CSNI_TRY(take_gsym_table(gsym, "file table", off, CSNI_GSYM_FILE_COUNT_SIZE, &file_count, err));
    gsym->file_count = csni_get32(file_count, gsym->big);
    off += CSNI_GSYM_FILE_COUNT_SIZE;
    uint64_t files_size = (uint64_t)gsym->file_count * CSNI_GSYM_FILE_ENTRY_SIZE;
    CSNI_TRY(take_gsym_table(gsym, "file table", off, files_size, &gsym->files, err));
    gsym->tables_end = off + files_size;
    return CSN_OK;
}

static csn_status find_strings(struct csni_gsym *gsym, struct csn_error *err) {
    const uint8_t *h = gsym->bytes.ptr;
    uint64_t size = csni_get32(h + CSNI_GSYM_H_STRTAB_SIZE, gsym->big);
    gsym->strings_offset = csni_get32(h + CSNI_GSYM_H_STRTAB_OFFSET, gsym->big);
    gsym->strings = (struct csni_span){ NULL, 0 };
    if (!size) return CSN_OK;
    CSNI_TRY(take_gsym_table(gsym, "string table", gsym->strings_offset, size, &gsym->strings.ptr, err));
    gsym->strings.size = (size_t)size;
    return CSN_OK;
}

static csn_status parse_v1(struct csni_gsym *gsym, struct csn_error *err) {
    csni_gsym_use_v1_widths(gsym);
    CSNI_TRY(check_gsym_header(gsym, err));
    CSNI_TRY(find_gsym_tables(gsym, err));
    return find_strings(gsym, err);
}

bool csni_gsym_recognize(struct csni_span file) {
    struct csni_gsym gsym = { .bytes = file };
    return check_magic(&gsym, NULL) == CSN_OK;
}

csn_status csni_gsym_parse(struct csni_gsym *gsym, struct csni_span bytes, struct csn_error *err) {
    struct csni_gsym parsed = { .bytes = bytes };
    CSNI_TRY(check_magic(&parsed, err));
    CSNI_TRY(check_version(&parsed, err));
    CSNI_TRY(parsed.version == CSNI_GSYM_VERSION_1 ? parse_v1(&parsed, err) : csni_gsym_parse_v2(&parsed, err));
    csni_gsym_find_members(&parsed);
    csni_gsym_find_sample(&parsed);
    csni_gsym_find_accel(&parsed);
    csni_gsym_find_checkpoints(&parsed);
    parsed.direct = csni_has_byte_blocks() && !parsed.big && parsed.address_size == 4 && parsed.checkpoints.places;
    *gsym = parsed;
    return CSN_OK;
}

void csni_gsym_fail_record(const struct csni_gsym *gsym, uint32_t idx, uint64_t offset, struct csn_error *err) {
    csni_fail(err, CSN_E_FORMAT, "info offset table",
              (uint64_t)(gsym->infos - gsym->bytes.ptr) + (uint64_t)idx * gsym->info_size,
              "record %u at 0x%llx, %s has 0x%zx bytes", idx, (unsigned long long)offset,
              gsym->records.ptr == gsym->bytes.ptr ? "file" : "section", gsym->records.size);
}

void csni_gsym_fail_short(const struct csni_gsym *gsym, uint64_t offset, size_t left, struct csn_error *err) {
    csni_fail(err, CSN_E_TRUNCATED, record_name, offset, "record of %zu bytes, need >= %d", left, gsym->parts_at);
}

void csni_gsym_fail_part(const struct csni_gsym_record *record, uint64_t pos, struct csn_error *err) {
    csni_fail(err, CSN_E_TRUNCATED, record_name, record->offset + pos,
              "part header: %zu bytes left, need %d", record->bytes.size - (size_t)pos,
              CSNI_GSYM_PART_HEADER_SIZE);
}

csn_status csni_gsym_fail_starts(const struct csni_gsym *gsym, uint32_t first, struct csn_error *err) {
    return csni_fail(err, CSN_E_LIMIT, "address table",
                     (uint64_t)(gsym->addresses - gsym->bytes.ptr) + (uint64_t)first * gsym->address_size,
                     "more than %d functions start at 0x%llx", CSNI_GSYM_SAME_START_MAX,
                     (unsigned long long)csni_gsym_address(gsym, first));
}

csn_status csni_gsym_fail_parts(const struct csni_gsym_record *record, struct csn_error *err) {
    return csni_fail(err, CSN_E_LIMIT, record_name, record->offset, "record of more than %d parts", CSNI_GSYM_PARTS_MAX);
}

void csni_gsym_fail_length(const struct csni_gsym_record *record, uint64_t pos, uint32_t type, uint64_t length,
                          struct csn_error *err) {
    csni_fail(err, CSN_E_TRUNCATED, record_name, record->offset + pos, "part of type %u: %zu bytes left, need %llu",
              type, record->bytes.size - (size_t)pos, (unsigned long long)length);
}

csn_status csni_gsym_part_find(const struct csni_gsym *gsym, const struct csni_gsym_record *record, uint32_t type,
                               struct csni_gsym_payload *out, struct csn_error *err) {
    uint64_t pos = gsym->parts_at;
    struct csni_gsym_payload part;
    csn_status status;
    while ((status = csni_gsym_part_next(gsym, record, &pos, &part, err)) == CSN_OK)
        if (part.type == type) {
            *out = part;
            return CSN_OK;
        }
    return status;
}
