/* What one unit's debug information covers, whatever becomes of it. */
#include "convert/dwarf/unit_coverage.h"

#include "base/core/fail.h"
#include "base/core/search.h"
#include "convert/coverage.h"
#include "object/address_map.h"

/* [low, high) of the object, as far as it is in the image. */
static csn_status cover(const struct csni_unit_job *job, csni_address_ranges *out, uint64_t low, uint64_t high) {
    if (!job->map) return csni_coverage_add(out, low, high) ? CSN_OK : CSN_E_MEMORY;
    const struct csni_mapped_range *r = job->map->ranges.items;
    size_t count = job->map->ranges.count;
    for (size_t i = csni_upper_bound(r, count, object_end, low); i < count && r[i].object_start < high; i++) {
        uint64_t shift = r[i].image_start - r[i].object_start;
        uint64_t from = r[i].object_start > low ? r[i].object_start : low, to = r[i].object_end < high ? r[i].object_end : high;
        if (!csni_coverage_add(out, from + shift, to + shift)) return CSN_E_MEMORY;
    }
    return CSN_OK;
}

csn_status csni_unit_cover_lines(struct csni_unit_job *job) {
    if (!job->coverage) return CSN_OK;
    for (size_t i = 0; i < job->lines.sequences.count; i++) {
        const struct csni_line_sequence *s = &job->lines.sequences.items[i];
        const struct csni_line_row *row = job->lines.rows.items + s->first_row, *end = row + s->row_count - 1;
        if (!job->map && !csni_in_text(job->conversion, s->low)) continue;
        for (; row < end; row++)
            if (row->line && row->file != CSNI_LINE_END) CSNI_TRY(cover(job, &job->coverage->lines, row->addr, row[1].addr));
    }
    return CSN_OK;
}

csn_status csni_unit_cover_inlined(struct csni_unit_job *job, uint32_t first) {
    for (size_t i = first; job->coverage && i < job->ranges.count; i++)
        CSNI_TRY(cover(job, &job->coverage->inlined, job->ranges.items[i].low, job->ranges.items[i].high));
    return CSN_OK;
}

void csni_unit_coverage_begin(struct csni_unit_job *job) {
    if (!job->coverage) return;
    job->covered_lines = job->coverage->lines.count;
    job->covered_inlined = job->coverage->inlined.count;
}

void csni_unit_coverage_end(struct csni_unit_job *job) {
    if (!job->coverage) return;
    csni_coverage_join(&job->coverage->lines, job->covered_lines);
    csni_coverage_join(&job->coverage->inlined, job->covered_inlined);
}
