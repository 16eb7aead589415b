/* Where the bytes of a section of 2017 go. */
#include "formats/gsection/read/gsection.h"
#include "formats/gsym/read/gsym_stats.h"

enum { REGION_COUNT = 5 };

static csn_status gsection_next_part(const void *context, const struct csni_gsym_record *record, uint64_t *pos,
                                     struct csni_gsym_payload *out) {
    return csni_gsection_part_next(context, record, pos, out, NULL);
}

static uint64_t gsection_header_size(const struct csni_gsection *g) {
    if (g->strings_name.len) return CSNI_GSECTION_H_NAME + g->strings_name.len + 1;
    return g->regular ? CSNI_GSYM_HEADER_SIZE : CSNI_GSECTION_HEADER_SIZE;
}

static void find_gsection_regions(const struct csni_gsection *g, struct csni_byte_region out[REGION_COUNT]) {
    const struct csni_gsym *gsym = &g->gsym;
    const uint8_t *begin = gsym->bytes.ptr;
    uint64_t count = gsym->address_count, files = gsym->file_count - !g->has_file_0;
    bool inside = gsym->strings.ptr >= begin && gsym->strings.ptr < begin + gsym->bytes.size;
    const struct csni_byte_region found[REGION_COUNT] = {
        { CSN_PART_HEADER, 0, gsection_header_size(g) },
        { CSN_PART_ADDRESSES, (uint64_t)(gsym->addresses - begin), count * gsym->address_size },
        { CSN_PART_RECORD_OFFSETS, (uint64_t)(gsym->infos - begin), count * gsym->info_size },
        { CSN_PART_FILES, (uint64_t)(gsym->files - begin) - CSNI_GSYM_FILE_COUNT_SIZE,
          CSNI_GSYM_FILE_COUNT_SIZE + files * CSNI_GSYM_FILE_ENTRY_SIZE },
        { CSN_PART_STRINGS, inside ? (uint64_t)(gsym->strings.ptr - begin) : 0, inside ? gsym->strings.size : 0 },
    };
    memcpy(out, found, sizeof found);
}

csn_status csni_gsection_part_bytes(const struct csni_gsection *g, const struct csn_allocator *allocator, uint64_t *part_bytes,
                                    struct csn_error *err) {
    struct csni_byte_region regions[REGION_COUNT];
    /* Some writers end a list with 8 bytes: the second half of those counts as padding. */
    unsigned end_mark = g->regular ? CSNI_GSECTION_LONG_END : CSNI_GSECTION_SHORT_END;
    struct csni_gsym_stats_source source = { &g->gsym, regions, REGION_COUNT, gsection_next_part, g, end_mark };
    find_gsection_regions(g, regions);
    csni_sort_regions(regions, REGION_COUNT);
    return csni_gsym_stats_sweep(&source, allocator, part_bytes, err);
}

csn_status csni_gsection_record_sizes(const struct csni_gsection *g, const struct csni_gsym_record *record, uint64_t *out_all,
                                      uint64_t *out_lines, uint64_t *out_inlines) {
    uint64_t pos = CSNI_GSYM_R_PARTS;
    struct csni_gsym_payload part;
    csn_status status;
    *out_lines = *out_inlines = 0;
    while ((status = csni_gsection_part_next(g, record, &pos, &part, NULL)) == CSN_OK) {
        if (part.type == CSNI_GSYM_PART_LINES) *out_lines += part.bytes.size;
        if (part.type == CSNI_GSYM_PART_INLINE) *out_inlines += part.bytes.size;
    }
    *out_all = pos + (status == CSN_NONE ? CSNI_GSECTION_SHORT_END : 0);
    return status;
}
