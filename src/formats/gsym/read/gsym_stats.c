/* Where the bytes of a GSYM file go.
 *
 * Tables and records are visited by ascending place in the file, and a byte belongs to what claims it first: so each is
 * counted once, whatever overlaps, and what nobody claims is padding. */
#include "formats/gsym/read/gsym_stats.h"

#include "base/core/alloc.h"
#include "base/core/sort.h"
#include "formats/gsym/gsym_accel_layout.h"
#include "formats/gsym/read/gsym_names.h"

enum csn_part csni_gsym_stats_part(uint32_t type) {
    switch (type) {
    case CSNI_GSYM_PART_END: return CSN_PART_RECORDS;
    case CSNI_GSYM_PART_LINES: return CSN_PART_LINES;
    case CSNI_GSYM_PART_INLINE: return CSN_PART_INLINES;
    case CSNI_GSYM_PART_MERGED: return CSN_PART_MERGED;
    case CSNI_GSYM_PART_CALL_SITES: return CSN_PART_CALL_SITES;
    default: return CSN_PART_OTHER;
    }
}

static csn_status gsym_next_part(const void *context, const struct csni_gsym_record *record, uint64_t *pos,
                                 struct csni_gsym_payload *out) {
    return csni_gsym_part_next(context, record, pos, out, NULL);
}

static void claim_record(struct csni_byte_sweep *sweep, const struct csni_gsym_stats_source *source,
                         const struct csni_gsym_record *record) {
    uint64_t pos = source->gsym->parts_at;
    struct csni_gsym_payload part;
    csni_sweep_claim(sweep, CSN_PART_RECORDS, record->offset, pos);
    for (;;) {
        uint64_t header = record->offset + pos;
        csn_status status = source->next(source->context, record, &pos, &part);
        if (status == CSN_NONE) csni_sweep_claim(sweep, CSN_PART_RECORDS, header, source->end_mark);
        if (status != CSN_OK) return;
        csni_sweep_claim(sweep, CSN_PART_RECORDS, header, part.offset - header);
        csni_sweep_claim(sweep, csni_gsym_stats_part(part.type), part.offset, part.bytes.size);
    }
}

/* ---- records by place ---- */

static bool is_offset_before(const void *context, const void *a, const void *b) {
    (void)context;
    return *(const uint64_t *)a < *(const uint64_t *)b;
}

/* Every writer known has them in order already. */
static void sort_offsets(uint64_t *offsets, size_t count) {
    if (!csni_is_sorted(offsets, count, sizeof *offsets, is_offset_before, NULL))
        csni_heap_sort(offsets, count, sizeof *offsets, is_offset_before, NULL);
}

/* ---- the sweep ---- */

enum { REGION_COUNT = 13 };

static uint64_t place_of(const struct csni_gsym *gsym, const uint8_t *p) {
    return p ? (uint64_t)(p - gsym->bytes.ptr) : 0;
}

/* The tables: version 2 may have them anywhere. Sections of types that are not known stay padding. */
static void find_gsym_regions(const struct csni_gsym *gsym, struct csni_byte_region out[REGION_COUNT]) {
    uint64_t count = gsym->address_count;
    bool first_version = gsym->version == CSNI_GSYM_VERSION_1;
    struct csni_gsym_names names = { NULL, 0, false };
    bool has_names = csni_gsym_find_names(gsym->bytes, gsym->big, &names);
    const struct csni_byte_region found[REGION_COUNT] = {
        { CSN_PART_HEADER, 0, first_version ? CSNI_GSYM_HEADER_SIZE : gsym->tables_end },
        { CSN_PART_HEADER, place_of(gsym, gsym->uuid.ptr), gsym->uuid.size },
        { CSN_PART_ADDRESSES, place_of(gsym, gsym->addresses), count * gsym->address_size },
        { CSN_PART_ADDRESSES, place_of(gsym, gsym->sample),
          gsym->sample ? (uint64_t)gsym->sample_count * gsym->address_size + CSNI_GSYM_SAMPLE_TRAILER : 0 },
        { CSN_PART_ACCELERATOR, place_of(gsym, gsym->accel.ptr), gsym->accel.size },
        { CSN_PART_ACCELERATOR, place_of(gsym, gsym->accel_trailer), gsym->accel_trailer ? CSNI_ACCEL_TRAILER : 0 },
        { CSN_PART_CHECKPOINTS, place_of(gsym, csni_gsym_checkpoint_head(gsym)), gsym->checkpoints.entries ? CSNI_CP_HEAD : 0 },
        { CSN_PART_CHECKPOINTS, place_of(gsym, csni_checkpoint_table(&gsym->checkpoints)),
          csni_checkpoint_bytes(&gsym->checkpoints) },
        { CSN_PART_FILES, place_of(gsym, gsym->members),
          gsym->members ? (uint64_t)(gsym->members_end - gsym->members) + CSNI_GSYM_MEMBERS_TRAILER : 0 },
        { CSN_PART_RECORD_OFFSETS, place_of(gsym, gsym->infos), count * gsym->info_size },
        { CSN_PART_FILES, place_of(gsym, gsym->files) - CSNI_GSYM_FILE_COUNT_SIZE,
          CSNI_GSYM_FILE_COUNT_SIZE + (uint64_t)gsym->file_count * 2 * gsym->strp_size },
        { CSN_PART_STRINGS, gsym->strings_offset, gsym->strings.size },
        { CSN_PART_NAMES, place_of(gsym, names.entries),
          has_names ? (uint64_t)names.count * CSNI_GSYM_NAMES_ENTRY + CSNI_GSYM_NAMES_TRAILER : 0 },
    };
    memcpy(out, found, sizeof found);
}

static void gsym_sweep_file(const struct csni_gsym_stats_source *source, const uint64_t *offsets,
                            uint64_t *part_bytes) {
    const struct csni_gsym *gsym = source->gsym;
    struct csni_byte_sweep sweep = { .part_bytes = part_bytes };
    unsigned next = 0;
    for (uint32_t i = 0; i <= gsym->address_count; i++) {
        uint64_t offset = i < gsym->address_count ? offsets[i] : UINT64_MAX;
        for (; next < source->region_count && source->regions[next].start <= offset; next++)
            csni_sweep_claim(&sweep, source->regions[next].part, source->regions[next].start, source->regions[next].size);
        /* One that begins in bytes already counted is shared, or nonsense that could be made to take forever. */
        if (offset == UINT64_MAX || offset < sweep.claimed) continue;
        uint64_t end = gsym->records_offset + gsym->records.size;
        struct csni_span rest = { gsym->bytes.ptr + offset, (size_t)(end - offset) };
        struct csni_gsym_record record;
        if (csni_gsym_record_at(gsym, rest, offset, 0, &record, NULL) == CSN_OK) claim_record(&sweep, source, &record);
    }
    part_bytes[CSN_PART_PADDING] += gsym->bytes.size - sweep.counted;
}

csn_status csni_gsym_stats_sweep(const struct csni_gsym_stats_source *source, const struct csn_allocator *allocator,
                                 uint64_t *part_bytes, struct csn_error *err) {
    const struct csni_gsym *gsym = source->gsym;
    size_t size = gsym->address_count * sizeof(uint64_t); /* no more than the tables take, which are in memory */
    uint64_t *offsets = csni_alloc(allocator, size);
    if (size && !offsets) return csni_fail_memory(err, size);
    for (uint32_t i = 0; i < gsym->address_count; i++) {
        uint64_t offset = csni_gsym_info_offset(gsym, i);
        offsets[i] = offset < gsym->records.size ? gsym->records_offset + offset : UINT64_MAX; /* nowhere */
    }
    sort_offsets(offsets, gsym->address_count);
    gsym_sweep_file(source, offsets, part_bytes);
    csni_free(allocator, offsets, size);
    return CSN_OK;
}

csn_status csni_gsym_part_bytes(const struct csni_gsym *gsym, const struct csn_allocator *allocator, uint64_t *part_bytes,
                                struct csn_error *err) {
    struct csni_byte_region regions[REGION_COUNT];
    struct csni_gsym_stats_source source = { gsym, regions, REGION_COUNT, gsym_next_part, gsym,
                                             CSNI_GSYM_PART_HEADER_SIZE };
    find_gsym_regions(gsym, regions);
    csni_sort_regions(regions, REGION_COUNT);
    return csni_gsym_stats_sweep(&source, allocator, part_bytes, err);
}

csn_status csni_gsym_record_sizes(const struct csni_gsym *gsym, const struct csni_gsym_record *record,
                                  struct csni_gsym_record_sizes *out) {
    uint64_t pos = gsym->parts_at;
    struct csni_gsym_payload part;
    csn_status status;
    *out = (struct csni_gsym_record_sizes){ 0 };
    while ((status = csni_gsym_part_next(gsym, record, &pos, &part, NULL)) == CSN_OK)
        switch (part.type) {
        case CSNI_GSYM_PART_LINES: out->lines += part.bytes.size; break;
        case CSNI_GSYM_PART_INLINE: out->inlines += part.bytes.size; break;
        case CSNI_GSYM_PART_MERGED: out->merged += part.bytes.size; break;
        case CSNI_GSYM_PART_CALL_SITES: out->call_sites += part.bytes.size; break;
        default: break;
        }
    out->all = pos;
    return status;
}
