/* Rows of one unit that none of its functions has. Compilers describe no DIE for thunks and aliases, none at all for most functions
 * at -gmlt, and assemblers none for a file's code unless it has labels of its own; the line table covers them all the same. */
#include "base/core/fail.h"
#include "base/core/search.h"
#include "convert/dwarf/unit_files.h"
#include "convert/dwarf/unit_lines.h"
#include "convert/dwarf/unit_unclaimed.h"
#include "object/address_map.h"

/* Writes rows [row, stop) of a sequence, which count from the first one's address. Gives how many were kept. */
static csn_status copy_unclaimed(struct csni_unit_job *job, const struct csni_line_row *row, const struct csni_line_row *stop,
                                 struct csni_row *out, uint32_t *count) {
    const struct csni_row *const first = out;
    const uint64_t start = row->addr;
    uint64_t previous = start;
    for (; row < stop && row->addr >= previous && row->addr - start <= UINT32_MAX; row++) {
        uint32_t file;
        csn_status status = csni_unit_file(job, row->file, &file);
        if (status < 0) return status;
        if (status == CSN_NONE) continue;
        previous = row->addr;
        out -= out > first && out[-1].off == (uint32_t)(row->addr - start);
        *out++ = (struct csni_row){ (uint32_t)(row->addr - start), file, row->line };
    }
    *count = (uint32_t)(out - first);
    return CSN_OK;
}

/* Rows [first, stop) of the table for code [low, high) of the object, `shift` bytes further on in the image. */
static csn_status add_rows(struct csni_unit_job *job, uint32_t first, uint32_t stop, uint64_t low, uint64_t high, uint64_t shift) {
    const struct csni_line_row *rows = job->lines.rows.items;
    CSNI_TRY(csni_unit_charge(job, 1 + stop - first));
    struct csni_row *out = csni_batch_reserve_rows(job->writer, stop - first);
    if (!out) return CSN_E_MEMORY;
    struct csni_unclaimed_rows added = { rows[first].addr + shift, low + shift, high + shift, 0, 0 };
    CSNI_TRY(copy_unclaimed(job, rows + first, rows + stop, out, &added.row_count));
    if (added.row_count) csni_batch_add_unclaimed(job->writer, &added);
    return job->writer->failed ? CSN_E_MEMORY : CSN_OK;
}

/* Of an object file of a debug map: as far as the code was linked. */
static csn_status add_linked_rows(struct csni_unit_job *job, uint32_t first, uint32_t stop, uint64_t low, uint64_t high) {
    const struct csni_mapped_range *r = job->map->ranges.items;
    const struct csni_line_row *rows = job->lines.rows.items;
    size_t count = job->map->ranges.count;
    for (size_t i = csni_upper_bound(r, count, object_end, low); i < count && r[i].object_start < high; i++) {
        uint64_t part_low = r[i].object_start > low ? r[i].object_start : low;
        uint64_t part_high = r[i].object_end < high ? r[i].object_end : high;
        uint32_t from = first, until;
        while (from + 1 < stop && rows[from + 1].addr <= part_low) from++;
        for (until = from + 1; until < stop && rows[until].addr < part_high;) until++;
        CSNI_TRY(csni_unit_charge(job, until - first));
        CSNI_TRY(add_rows(job, from, until, part_low, part_high, r[i].image_start - r[i].object_start));
    }
    return CSN_OK;
}

static csn_status add_unclaimed(struct csni_unit_job *job, uint32_t first, uint32_t stop, uint64_t low, uint64_t high) {
    if (low >= high) return CSN_OK;
    return job->map ? add_linked_rows(job, first, stop, low, high) : add_rows(job, first, stop, low, high, 0);
}

/* Where the next row from `row` on begins that is claimed or not, up to `end`. */
static uint32_t next_row(const struct csni_unit_job *job, uint32_t row, uint32_t end, bool claimed) {
    const uint8_t *from = job->claimed.items + row, *found = memchr(from, claimed, end - row);
    return found ? row + (uint32_t)(found - from) : end;
}

static csn_status add_unclaimed_of(struct csni_unit_job *job, const struct csni_line_sequence *s) {
    const struct csni_line_row *rows = job->lines.rows.items;
    uint32_t end = s->first_row + s->row_count - 1; /* the end row */
    for (uint32_t row = s->first_row, stop; (row = next_row(job, row, end, false)) < end; row = stop) {
        stop = next_row(job, row, end, true);
        CSNI_TRY(add_unclaimed(job, row, stop, rows[row].addr, rows[stop].addr));
    }
    return CSN_OK;
}

/* Partial and type units name line tables that other units have, too. */
static bool has_own_lines(const struct csni_unit_job *job) {
    return job->unit->tag == DW_TAG_compile_unit || job->unit->tag == DW_TAG_skeleton_unit;
}

csn_status csni_unit_add_unclaimed(struct csni_unit_job *job) {
    if (!job->lines_read && has_own_lines(job)) CSNI_TRY(csni_unit_read_lines(job));
    if (!job->has_lines) return CSN_OK;
    for (size_t i = 0; i < job->row_parts.count; i++) {
        const struct csni_row_part *part = &job->row_parts.items[i];
        CSNI_TRY(add_unclaimed(job, part->row, part->row + 1, part->low, part->high));
    }
    CSNI_TRY(csni_unit_charge(job, job->lines.sequences.count));
    for (size_t i = 0; i < job->lines.sequences.count; i++) {
        const struct csni_line_sequence *s = &job->lines.sequences.items[i];
        if (job->map || csni_in_text(job->conversion, s->low)) CSNI_TRY(add_unclaimed_of(job, s));
    }
    return CSN_OK;
}
