/* The container: a file of equal blocks, which a directory makes streams of. */
#include <inttypes.h>

#include "pdb/pdb_private.h"

static const char SECTION[] = "MSF";

static bool starts_with(struct csni_span file, const char *magic, size_t size) {
    return file.size >= size && memcmp(file.ptr, magic, size) == 0;
}

static bool is_msf_7(struct csni_span file) { return starts_with(file, MSF_MAGIC, MSF_MAGIC_SIZE); }
static bool is_msf_2(struct csni_span file) { return starts_with(file, MSF_2_MAGIC, sizeof MSF_2_MAGIC - 1); }
static bool is_portable(struct csni_span file) { return starts_with(file, PORTABLE_PDB_MAGIC, sizeof PORTABLE_PDB_MAGIC - 1); }

bool csni_pdb_recognize(struct csni_span file) { return is_msf_7(file) || is_msf_2(file) || is_portable(file); }

/* ---- blocks ---- */

static uint32_t blocks_of(const struct csni_pdb *pdb, uint32_t size) {
    return size / pdb->block_size + (size % pdb->block_size != 0);
}

static uint32_t block_at(const uint8_t *list, uint32_t i) { return csni_get32(list + (size_t)i * 4, false); }

/* The file's bytes where block `list[0]` and its neighbours are, if all of them are neighbours. */
static bool find_neighbours(const struct csni_pdb *pdb, const uint8_t *list, uint32_t count, uint32_t size,
                            struct csni_span *out) {
    uint32_t first = block_at(list, 0);
    for (uint32_t i = 1; i < count; i++)
        if (block_at(list, i) != first + i) return false;
    return csni_span_sub(pdb->file, (uint64_t)first * pdb->block_size, size, out);
}

static csn_status copy_blocks(const struct csni_pdb *pdb, const uint8_t *list, uint32_t size, uint8_t *out,
                              struct csn_error *err) {
    for (uint32_t i = 0, done = 0; done < size; i++, done += pdb->block_size) {
        uint32_t part = size - done < pdb->block_size ? size - done : pdb->block_size, block = block_at(list, i);
        struct csni_span bytes;
        if (!csni_span_sub(pdb->file, (uint64_t)block * pdb->block_size, part, &bytes))
            return csni_fail(err, CSN_E_TRUNCATED, SECTION, (uint64_t)block * pdb->block_size,
                             "block %" PRIu32 " of a stream lies outside of the file's 0x%zx bytes", block, pdb->file.size);
        memcpy(out + done, bytes.ptr, part);
    }
    return CSN_OK;
}

/* `list`: the numbers of the blocks that `size` bytes are in. */
static csn_status gather(const struct csni_pdb *pdb, const uint8_t *list, uint32_t size, struct csni_pdb_bytes *out,
                         struct csn_error *err) {
    *out = (struct csni_pdb_bytes){ .span = { NULL, 0 } };
    if (!size || find_neighbours(pdb, list, blocks_of(pdb, size), size, &out->span)) return CSN_OK;
    if (size > pdb->file.size)
        return csni_fail(err, CSN_E_TRUNCATED, SECTION, 0, "a stream has 0x%" PRIx32 " bytes, the file 0x%zx", size,
                         pdb->file.size);
    uint8_t *copy = csni_alloc(pdb->alloc, size);
    if (!copy) return csni_fail_memory(err, size);
    csn_status status = copy_blocks(pdb, list, size, copy, err);
    if (status < 0) {
        csni_free(pdb->alloc, copy, size);
        return status;
    }
    *out = (struct csni_pdb_bytes){ { copy, size }, copy };
    return CSN_OK;
}

void csni_pdb_free_bytes(const struct csni_pdb *pdb, struct csni_pdb_bytes *bytes) {
    if (bytes->owned) csni_free(pdb->alloc, bytes->owned, bytes->span.size);
    *bytes = (struct csni_pdb_bytes){ .span = { NULL, 0 } };
}

/* ---- header ---- */

static csn_status check_kind(struct csni_span file, struct csn_error *err) {
    if (is_msf_7(file)) return CSN_OK;
    if (is_msf_2(file))
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "a program database of format 2.0 (before Visual C++ 7), need 7.0");
    if (is_portable(file))
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "a portable PDB of .NET, which has no native code");
    return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "no program database");
}

static csn_status read_header(struct csni_pdb *pdb, uint32_t *directory_size, struct csn_error *err) {
    struct csni_span file = pdb->file;
    CSNI_TRY(check_kind(file, err));
    if (file.size < MSF_HEADER_SIZE)
        return csni_fail(err, CSN_E_TRUNCATED, SECTION, 0, "%zu bytes, the header has %d", file.size, MSF_HEADER_SIZE);
    pdb->block_size = csni_get32(file.ptr + MSF_BLOCK_SIZE, false);
    pdb->block_count = csni_get32(file.ptr + MSF_BLOCK_COUNT, false);
    *directory_size = csni_get32(file.ptr + MSF_DIRECTORY_SIZE, false);
    bool is_power = pdb->block_size && !(pdb->block_size & (pdb->block_size - 1));
    if (!is_power || pdb->block_size < MSF_BLOCK_SIZE_MIN || pdb->block_size > MSF_BLOCK_SIZE_MAX)
        return csni_fail(err, CSN_E_FORMAT, SECTION, MSF_BLOCK_SIZE,
                         "blocks of %" PRIu32 " bytes, need a power of two from %d to %d", pdb->block_size,
                         MSF_BLOCK_SIZE_MIN, MSF_BLOCK_SIZE_MAX);
    return CSN_OK;
}

/* The numbers of the directory's blocks stand in blocks of their own, whose numbers stand in the header. */
static csn_status read_directory(struct csni_pdb *pdb, uint32_t size, struct csn_error *err) {
    struct csni_pdb_bytes map;
    struct csni_span list;
    uint64_t map_size = (uint64_t)blocks_of(pdb, size) * 4;
    uint64_t list_size = (map_size + pdb->block_size - 1) / pdb->block_size * 4;
    if (size < 4 || size > pdb->file.size || !csni_span_sub(pdb->file, MSF_BLOCK_MAP, list_size, &list) ||
        MSF_BLOCK_MAP + list_size > pdb->block_size)
        return csni_fail(err, size < 4 ? CSN_E_FORMAT : CSN_E_TRUNCATED, SECTION, MSF_DIRECTORY_SIZE,
                         "a directory of 0x%" PRIx32 " bytes, the file has 0x%zx", size, pdb->file.size);
    CSNI_TRY(gather(pdb, list.ptr, (uint32_t)map_size, &map, err));
    csn_status status = gather(pdb, map.span.ptr, size, &pdb->directory, err);
    csni_pdb_free_bytes(pdb, &map);
    return status;
}

/* Each block belongs to one stream, so that reading all streams reads no more than the file. The first stream is an older
 * directory, whose blocks may have been used again. */
static csn_status read_stream_table(struct csni_pdb *pdb, struct csn_error *err) {
    struct csni_span bytes = pdb->directory.span;
    uint32_t count = csni_get32(bytes.ptr, false);
    uint64_t words = bytes.size / 4, at = 1 + (uint64_t)count, total = 0;
    if (count >= words)
        return csni_fail(err, CSN_E_FORMAT, SECTION, 0, "%" PRIu32 " streams in a directory of 0x%zx bytes", count, bytes.size);
    if (!csni_vec_reserve(&pdb->streams, count)) return csni_fail_memory(err, (uint64_t)count * sizeof *pdb->streams.items);
    for (uint64_t i = 0; i < count; i++) {
        uint32_t size = csni_get32(bytes.ptr + 4 + i * 4, false);
        if (size == MSF_NIL_SIZE) size = 0;
        uint32_t blocks = blocks_of(pdb, size);
        if (blocks > words - at)
            return csni_fail(err, CSN_E_FORMAT, SECTION, 0,
                             "stream %" PRIu64 " has %" PRIu32 " blocks, the directory names %" PRIu64, i, blocks,
                             words - at);
        if (i) total += blocks;
        pdb->streams.items[pdb->streams.count++] = (struct csni_pdb_stream){ size, (uint32_t)at };
        at += blocks;
    }
    uint64_t there = pdb->file.size / pdb->block_size + (pdb->file.size % pdb->block_size != 0);
    if (total > there)
        return csni_fail(err, CSN_E_TRUNCATED, SECTION, 0,
                         "streams have %" PRIu64 " blocks together, the file %" PRIu64, total, there);
    return CSN_OK;
}

csn_status csni_msf_open(struct csni_pdb *pdb, struct csn_error *err) {
    uint32_t directory_size = 0;
    CSNI_TRY(read_header(pdb, &directory_size, err));
    CSNI_TRY(read_directory(pdb, directory_size, err));
    return read_stream_table(pdb, err);
}

void csni_msf_close(struct csni_pdb *pdb) {
    csni_pdb_free_bytes(pdb, &pdb->directory);
    csni_vec_deinit(&pdb->streams);
}

csn_status csni_pdb_read_stream(const struct csni_pdb *pdb, uint32_t stream, struct csni_pdb_bytes *out,
                                struct csn_error *err) {
    if (stream >= pdb->streams.count)
        return csni_fail(err, CSN_E_FORMAT, SECTION, 0, "stream %" PRIu32 " is named, there are %zu", stream, pdb->streams.count);
    const struct csni_pdb_stream *s = &pdb->streams.items[stream];
    struct csn_error inner = CSN_ERROR_INIT;
    csn_status status = gather(pdb, pdb->directory.span.ptr + (size_t)s->first_block * 4, s->size, out, &inner);
    if (status < 0) csni_fail(err, status, NULL, 0, "stream %" PRIu32 ": %s", stream, csn_error_text(&inner));
    return status;
}
