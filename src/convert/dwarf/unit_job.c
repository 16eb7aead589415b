/* The state of one worker that converts units. */
#include "convert/dwarf/unit_job.h"

#include "base/core/fail.h"
#include "convert/coverage.h"
#include "base/core/ranges.h"

void csni_unit_job_init(struct csni_unit_job *job, struct csni_conversion *c, uint32_t worker) {
    *job = (struct csni_unit_job){ .conversion = c };
    job->writer = &c->writers[worker];
    job->arena = &c->arenas[worker];
    job->coverage = c->coverage ? &c->coverage[worker] : NULL;
    job->file_numbers.alloc = job->directories.alloc = job->by_offset.alloc = job->pending.alloc = c->alloc;
    job->claimed.alloc = job->row_parts.alloc = c->alloc;
    job->open.alloc = job->functions.alloc = job->inlined.alloc = job->calls.alloc = job->ranges.alloc = c->alloc;
    job->inline_ranges.alloc = job->unclosed.alloc = c->alloc;
    csni_line_table_init(&job->lines, c->alloc);
    job->lines.fold = true;
}

csn_status csni_unit_job_rebind(struct csni_unit_job *job, const struct csni_dwarf *dwarf, enum csni_string_lifetime lifetime,
                                struct csn_error *err) {
    struct csni_scopes *scopes = job->image.scopes;
    job->image = (struct csni_unit_source){ .dwarf = dwarf, .scopes = scopes, .line_dwarf = dwarf, .lifetime = lifetime,
                                           .budget = &job->conversion->budget };
    return scopes ? csni_scopes_rebind(scopes, dwarf, err) : csni_scopes_create(dwarf, &job->image.scopes, err);
}

void csni_unit_job_deinit(struct csni_unit_job *job) {
    if (!job->conversion) return;
    csni_free(job->conversion->alloc, job->names, job->name_capacity * sizeof *job->names);
    csni_vec_deinit(&job->file_numbers);
    csni_vec_deinit(&job->directories);
    csni_vec_deinit(&job->by_offset);
    csni_vec_deinit(&job->claimed);
    csni_vec_deinit(&job->row_parts);
    csni_vec_deinit(&job->pending);
    csni_vec_deinit(&job->open);
    csni_vec_deinit(&job->functions);
    csni_vec_deinit(&job->inlined);
    csni_vec_deinit(&job->calls);
    csni_vec_deinit(&job->ranges);
    csni_vec_deinit(&job->inline_ranges);
    csni_vec_deinit(&job->unclosed);
    csni_line_table_deinit(&job->lines);
    csni_scopes_destroy(job->image.scopes);
}

/* ---- ranges of DIEs ---- */

void csni_unit_note_damaged_ranges(struct csni_unit_job *job, const struct csni_die *die, uint32_t first) {
    struct csn_error err = CSN_ERROR_INIT;
    job->ranges.count = first;
    (void)csni_die_ranges(job->dwarf, die, &job->ranges, &err); /* once more, for the reason */
    job->ranges.count = first;
    csni_batch_note(job->writer, CSN_EVENT_DAMAGED_RANGES, "DIE 0x%llx: %s", (unsigned long long)die->off,
                    csn_error_text(&err));
}

void csni_unit_join_ranges(struct csni_unit_job *job, uint32_t first) {
    struct csni_address_range *r = job->ranges.items + first;
    size_t count = job->ranges.count - first, kept = 0;
    for (size_t i = 0; i < count; i++)
        if (r[i].low < r[i].high) r[kept++] = r[i];
    job->ranges.count = first + csni_join_ranges(r, kept, low, high);
}
