/* A program database as a source. */
#include "convert/pdb/source_pdb.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/core/fail.h"
#include "base/core/ranges.h"
#include "convert/pdb/pdb_job.h"
#include "convert/pdb/pdb_stack.h"

/* What rows and inlined calls of real programs take of a byte of their PDB is far below. */
enum { BUDGET_A_BYTE = 2 };

/* ---- modules ---- */

struct modules {
    struct csni_pdb_reading *reading;
    struct csni_pdb_job *jobs;  /* one for each worker */
    uint32_t *order;            /* modules with symbols */
    uint32_t count, first_batch;
};

static csn_status convert_one(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    struct modules *m = context;
    struct csni_conversion *c = m->reading->conversion;
    uint32_t module = m->order[item];
    CSNI_TRY(csni_pdb_convert_module(&m->jobs[worker], module, &c->batches[m->first_batch + item], err));
    const struct csni_pdb_module *info = &m->reading->pdb->modules.items[module];
    return csni_progress(c, "modules", (uint64_t)info->symbol_size + info->c13_size, err);
}

static csn_status run_modules(struct modules *m, struct csn_error *err) {
    struct csni_conversion *c = m->reading->conversion;
    m->jobs = csni_alloc_zeroed(c->alloc, c->workers, sizeof *m->jobs);
    if (!m->jobs) return csni_fail_memory(err, c->workers * sizeof *m->jobs);
    for (uint32_t i = 0; i < c->workers; i++) csni_pdb_job_init(&m->jobs[i], m->reading, i);
    csn_status status = csni_pool_run(c->pool, m->count, convert_one, m, err);
    for (uint32_t i = 0; i < c->workers; i++) csni_pdb_job_deinit(&m->jobs[i]);
    csni_free(c->alloc, m->jobs, c->workers * sizeof *m->jobs);
    return status;
}

static csn_status convert_modules(struct csni_pdb_reading *reading, struct csn_error *err) {
    struct csni_conversion *c = reading->conversion;
    const struct csni_pdb *pdb = reading->pdb;
    struct modules m = { .reading = reading, .first_batch = c->batch_count };
    size_t capacity = pdb->modules.count;
    m.order = csni_alloc_zeroed(c->alloc, capacity, sizeof *m.order);
    if (capacity && !m.order) return csni_fail_memory(err, capacity * sizeof *m.order);
    for (uint32_t i = 0; i < capacity; i++) {
        const struct csni_pdb_module *module = &pdb->modules.items[i];
        if (module->stream == CSNI_PDB_NO_STREAM) continue;
        c->progress_total += (uint64_t)module->symbol_size + module->c13_size;
        m.order[m.count++] = i;
    }
    csn_status status = CSN_OK;
    if (!csni_add_batches(c, m.count) && m.count) status = csni_fail_memory(err, m.count * sizeof *c->batches);
    if (status == CSN_OK) status = run_modules(&m, err);
    csni_free(c->alloc, m.order, capacity * sizeof *m.order);
    c->report->units += m.count;
    return status;
}

/* ---- all of it ---- */

/* Without ids, inlined calls have no names; all else is there. */
static csn_status open_names(struct csni_pdb_reading *reading, struct csn_error *err) {
    struct csn_error damage = CSN_ERROR_INIT;
    csn_status status = csni_pdb_open_types(reading->pdb, &damage);
    if (status == CSN_E_MEMORY) return csni_fail_memory(err, 0);
    if (status < 0) csni_report_add(reading->conversion->report, CSN_EVENT_DAMAGED_UNIT, 1, csni_str(csn_error_text(&damage)));
    return CSN_OK;
}

static csn_status read_pdb(struct csni_pdb_reading *reading, struct csn_error *err) {
    struct csni_conversion *c = reading->conversion;
    uint32_t first_batch = c->batch_count;
    CSNI_TRY(open_names(reading, err));
    csni_pdb_imports_init(&reading->imports, reading->pdb);
    csn_status status = csni_pdb_publics_read(&reading->publics, reading->pdb, csni_shared_budget_limit(&c->budget), err);
    if (status == CSN_OK) status = convert_modules(reading, err);
    uint32_t end = c->batch_count;
    if (status == CSN_OK) status = csni_pdb_add_publics(c, &reading->publics, first_batch, reading->base, err);
    for (uint32_t b = first_batch; status == CSN_OK && b < end; b++) c->report->functions_from_pdb += c->batches[b].function_count;
    csni_pdb_publics_deinit(&reading->publics);
    csni_pdb_imports_deinit(&reading->imports);
    if (status >= 0) status = csni_pdb_add_stack_records(c, reading->pdb, err);
    return status;
}

csn_status csni_source_pdb_of_image(struct csni_conversion *c, struct csni_span file, const char *path, struct csn_error *err) {
    struct csn_error inner = CSN_ERROR_INIT;
    csn_status status = csni_pdb_open(file, c->alloc, &c->pdb, &inner);
    if (status < 0) return csni_fail(err, status, NULL, 0, "%s: %s", path, csn_error_text(&inner));
    csni_shared_budget_raise(&c->budget, BUDGET_A_BYTE * (uint64_t)file.size);
    struct csni_pdb_reading reading = { .conversion = c, .pdb = c->pdb, .base = c->image.base_address };
    return read_pdb(&reading, err);
}

/* ---- without an image ---- */

static const char *machine_name(uint16_t machine) {
    switch (machine) {
    case 0x14c: return "i386";
    case 0x8664: return "x86_64";
    case 0xaa64: case 0xa64e: return "arm64";
    case 0xa641: return "arm64ec";
    case 0x1c4: return "armv7";
    case 0x1c0: case 0x1c2: return "arm";
    default: return "";
    }
}

static csn_status describe_image(struct csni_conversion *c, const struct csni_pdb *pdb, struct csn_error *err) {
    enum { SECTION_IS_CODE = 0x20000020 };
    c->image.has_base_address = c->image.from_first_byte = true;
    c->image.uuid = (struct csni_span){ pdb->guid, sizeof pdb->guid };
    c->image.identity = (struct csni_identity){ .os = csni_str("windows"), .arch = csni_str(machine_name(pdb->machine)),
                                                .name = c->image.file_name, .age = pdb->age };
    c->image.symbols_lack_sizes = true;
    if (!csni_vec_reserve(&c->image.text, pdb->image_sections.count)) return csni_fail_memory(err, pdb->image_sections.count);
    uint32_t count = 0;
    for (size_t i = 0; i < pdb->image_sections.count; i++) {
        const struct csni_pdb_section *s = &pdb->image_sections.items[i];
        if (s->flags & SECTION_IS_CODE && s->size)
            c->image.text.items[count++] = (struct csni_text_range){ s->rva, (uint64_t)s->rva + s->size };
    }
    c->image.text.count = csni_join_ranges(c->image.text.items, count, start, end);
    return CSN_OK;
}

csn_status csni_source_pdb_file(struct csni_conversion *c, struct csn_error *err) {
    CSNI_TRY(csni_pdb_open(c->input.file, c->alloc, &c->pdb, err));
    const char *arch = machine_name(c->pdb->machine);
    if (c->options.arch && *arch && strcmp(c->options.arch, arch) != 0)
        return csni_fail(err, CSN_E_NOT_FOUND, NULL, 0, "no image for '%s'; the file has %s", c->options.arch, arch);
    CSNI_TRY(describe_image(c, c->pdb, err));
    csni_shared_budget_raise(&c->budget, BUDGET_A_BYTE * (uint64_t)c->input.file.size);
    struct csni_pdb_reading reading = { .conversion = c, .pdb = c->pdb };
    return read_pdb(&reading, err);
}
