/* One unit on one worker. */
#include "convert/dwarf/unit_workers.h"

#include "base/core/fail.h"
#include "convert/dwarf/unit_walk.h"

csn_status csni_unit_workers_init(struct csni_unit_workers *workers, struct csni_conversion *c,
                                  const struct csni_address_map *map, struct csn_error *err) {
    *workers = (struct csni_unit_workers){ .conversion = c };
    workers->jobs = csni_alloc_zeroed(c->alloc, c->workers, sizeof *workers->jobs);
    if (!workers->jobs) return csni_fail_memory(err, c->workers * sizeof *workers->jobs);
    for (uint32_t i = 0; i < c->workers; i++) {
        csni_unit_job_init(&workers->jobs[i], c, i);
        workers->jobs[i].map = map;
    }
    return CSN_OK;
}

void csni_unit_workers_deinit(struct csni_unit_workers *workers) {
    struct csni_conversion *c = workers->conversion;
    if (!workers->jobs) return;
    for (uint32_t i = 0; i < c->workers; i++) csni_unit_job_deinit(&workers->jobs[i]);
    csni_free(c->alloc, workers->jobs, c->workers * sizeof *workers->jobs);
    workers->jobs = NULL;
}

static csn_status note_unprepared(struct csni_unit_workers *workers, uint32_t worker, struct csni_dwarf *dwarf,
                                  struct csni_unit *unit, struct csni_batch *out, struct csn_error *err) {
    struct csn_error damage = CSN_ERROR_INIT;
    struct csni_conversion *c = workers->conversion;
    if (csni_unit_prepare(dwarf, unit, &damage) == CSN_E_MEMORY) return csni_fail_memory(err, 0);
    csni_batch_begin(&c->writers[worker], &c->arenas[worker]);
    csni_batch_note(&c->writers[worker], CSN_EVENT_DAMAGED_UNIT, "unit 0x%llx: %s", (unsigned long long)unit->off,
                    csn_error_text(&damage));
    return csni_batch_finish(&c->writers[worker], out, err);
}

csn_status csni_unit_workers_convert(struct csni_unit_workers *workers, uint32_t worker, struct csni_dwarf *dwarf,
                                     struct csni_unit *unit, struct csni_batch *out, struct csn_error *err) {
    if (!unit->prepared) return note_unprepared(workers, worker, dwarf, unit, out, err);
    return unit->tag == DW_TAG_type_unit ? CSN_OK : csni_unit_convert(&workers->jobs[worker], unit, out, err);
}

/* Batches of skeletons can have functions from symbols. */
uint32_t csni_count_from_dwarf(const struct csni_batch *batch) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < batch->function_count; i++) count += batch->functions[i].source == CSNI_SOURCE_DWARF;
    return count;
}

void csni_report_units(struct csni_conversion *c, const struct csni_batch *batches, uint32_t count,
                       const struct csn_error *damage) {
    uint64_t functions = 0;
    for (uint32_t i = 0; i < count; i++) functions += csni_count_from_dwarf(&batches[i]);
    csni_report_counted_units(c, count, functions, damage);
}

void csni_report_counted_units(struct csni_conversion *c, uint32_t count, uint64_t functions, const struct csn_error *damage) {
    struct csn_convert_report *report = c->report;
    report->units += count;
    report->functions_from_dwarf += functions;
    if (!damage->code) return;
    csni_report_add(report, CSN_EVENT_DAMAGED_UNIT, 1, csni_str(csn_error_text(damage)));
    report->units_failed++;
}
