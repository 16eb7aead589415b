/* Reading one module of a PDB: its symbols' scopes, files and functions. */
#include "base/core/fail.h"
#include "convert/pdb/pdb_job.h"

/* ---- the job ---- */

void csni_pdb_job_init(struct csni_pdb_job *job, struct csni_pdb_reading *reading, uint32_t worker) {
    struct csni_conversion *c = reading->conversion;
    *job = (struct csni_pdb_job){ .reading = reading, .writer = &c->writers[worker], .arena = &c->arenas[worker] };
    job->lines.fragments.alloc = job->lines.rows.alloc = job->lines.spare.alloc = job->lines.inlinees.alloc = job->files.alloc =
        job->scopes.alloc = c->alloc;
    job->sites.alloc = job->runs.alloc = job->places.alloc = job->pieces.alloc = job->cuts.alloc = c->alloc;
    job->sorted.alloc = job->stack.alloc = job->calls.alloc = job->rows.alloc = c->alloc;
}

void csni_pdb_job_deinit(struct csni_pdb_job *job) {
    csni_vec_deinit(&job->lines.fragments);
    csni_vec_deinit(&job->lines.rows);
    csni_vec_deinit(&job->lines.spare);
    csni_vec_deinit(&job->lines.inlinees);
    csni_vec_deinit(&job->files);
    csni_vec_deinit(&job->scopes);
    csni_vec_deinit(&job->sites);
    csni_vec_deinit(&job->runs);
    csni_vec_deinit(&job->places);
    csni_vec_deinit(&job->pieces);
    csni_vec_deinit(&job->cuts);
    csni_vec_deinit(&job->sorted);
    csni_vec_deinit(&job->stack);
    csni_vec_deinit(&job->calls);
    csni_vec_deinit(&job->rows);
}

/* ---- scopes ---- */

/* The innermost inlined call that is open. */
static uint32_t current_site(const struct csni_pdb_job *job) {
    return job->scopes.count ? job->scopes.items[job->scopes.count - 1].site : CSNI_PDB_NO_PARENT;
}

static csn_status push_scope(struct csni_pdb_job *job, struct csni_pdb_scope scope, struct csn_error *err) {
    return csni_vec_push(&job->scopes, scope) ? CSN_OK : csni_fail_memory(err, sizeof scope);
}

static csn_status open_site(struct csni_pdb_job *job, const struct csni_pdb_inline_site *record, struct csn_error *err) {
    uint32_t parent = current_site(job), depth = parent == CSNI_PDB_NO_PARENT ? 1 : job->sites.items[parent].depth + 1;
    struct csni_pdb_site site = { .record = *record, .parent = parent, .depth = depth };
    if (!csni_vec_push(&job->sites, site)) return csni_fail_memory(err, sizeof site);
    return push_scope(job, (struct csni_pdb_scope){ .is_site = true, .site = (uint32_t)job->sites.count - 1 }, err);
}

static csn_status open_scope(struct csni_pdb_job *job, const struct csni_pdb_symbol *symbol, struct csn_error *err) {
    struct csni_pdb_inline_site site;
    struct csni_pdb_code code;
    if (job->has_function && csni_pdb_read_inline_site(symbol, &site)) return open_site(job, &site, err);
    bool begins = !job->has_function && csni_pdb_read_code(symbol, &code);
    if (begins) {
        job->has_function = true;
        job->function = code;
        job->sites.count = 0;
    }
    return push_scope(job, (struct csni_pdb_scope){ .is_function = begins, .site = current_site(job) }, err);
}

static csn_status end_scope(struct csni_pdb_job *job, struct csn_error *err) {
    if (!job->scopes.count) return CSN_OK;
    bool is_function = job->scopes.items[--job->scopes.count].is_function;
    if (!is_function) return CSN_OK;
    job->has_function = false;
    return csni_pdb_write_function(job, err);
}

/* Labels of assembler code outside of functions are functions without a size. */
static csn_status read_symbol(struct csni_pdb_job *job, const struct csni_pdb_symbol *symbol, struct csn_error *err) {
    if (csni_pdb_ends_scope(symbol->kind)) return end_scope(job, err);
    if (csni_pdb_opens_scope(symbol->kind)) return open_scope(job, symbol, err);
    if (job->has_function || !csni_pdb_read_label(symbol, &job->function)) return CSN_OK;
    job->sites.count = 0;
    return csni_pdb_write_function(job, err);
}

static csn_status read_symbols(struct csni_pdb_job *job, struct csni_span records, struct csn_error *err) {
    struct csni_pdb_symbol_iter iter = { .records = records };
    struct csni_pdb_symbol symbol;
    job->scopes.count = 0;
    job->next_fragment = 0;
    job->has_function = false;
    while (csni_pdb_next_symbol(&iter, &symbol)) CSNI_TRY(read_symbol(job, &symbol, err));
    while (job->scopes.count) CSNI_TRY(end_scope(job, err)); /* what the damage left open */
    if (iter.damaged) csni_batch_note(job->writer, CSN_EVENT_DAMAGED_UNIT, "symbols of a module end too early");
    return CSN_OK;
}

/* ---- one module ---- */

static csn_status begin_files(struct csni_pdb_job *job, struct csn_error *err) {
    size_t count = job->lines.checksums.size / 4 + 1;
    if (!csni_vec_reserve(&job->files, count)) return csni_fail_memory(err, count * sizeof *job->files.items);
    memset(job->files.items, 0, count * sizeof *job->files.items);
    job->files.count = count;
    return CSN_OK;
}

static csn_status read_module(struct csni_pdb_job *job, const struct csni_pdb_module *module, struct csni_span bytes,
                              struct csn_error *err) {
    struct csn_error damage = CSN_ERROR_INIT;
    struct csni_span symbols = { NULL, 0 }, c13 = symbols;
    csn_status status = csni_pdb_cut_module(module, bytes, &symbols, &c13, &damage);
    if (status < 0) {
        csni_batch_note(job->writer, CSN_EVENT_DAMAGED_UNIT, "module %.*s: %s",
                        (int)(module->name.len < 80 ? module->name.len : 80), module->name.ptr,
                        csn_error_text(&damage));
        return CSN_OK;
    }
    status = csni_pdb_read_lines(c13, &job->lines, &damage);
    if (status == CSN_E_MEMORY) return csni_fail_memory(err, 0);
    if (status < 0)
        csni_batch_note(job->writer, CSN_EVENT_DAMAGED_LINE_TABLE, "module %.*s: %s",
                        (int)(module->name.len < 80 ? module->name.len : 80), module->name.ptr, csn_error_text(&damage));
    CSNI_TRY(begin_files(job, err));
    return read_symbols(job, symbols, err);
}

static csn_status charge_conversion(struct csni_pdb_job *job, struct csn_error *err) {
    struct csni_conversion *c = job->reading->conversion;
    if (csni_shared_budget_charge(&c->budget, job->spent)) return CSN_OK;
    return csni_fail(err, CSN_E_LIMIT, NULL, 0,
                     "rows and inlined calls come to over %llu, the limit for debug information of this size",
                     (unsigned long long)csni_shared_budget_limit(&c->budget));
}

csn_status csni_pdb_convert_module(struct csni_pdb_job *job, uint32_t index, struct csni_batch *out, struct csn_error *err) {
    const struct csni_pdb *pdb = job->reading->pdb;
    const struct csni_pdb_module *module = &pdb->modules.items[index];
    struct csni_pdb_bytes bytes;
    struct csn_error damage = CSN_ERROR_INIT;
    job->spent = 0;
    csni_batch_begin(job->writer, job->arena);
    csn_status status = csni_pdb_read_stream(pdb, module->stream, &bytes, &damage);
    if (status == CSN_E_MEMORY) return csni_fail_memory(err, 0);
    if (status < 0) {
        csni_batch_note(job->writer, CSN_EVENT_DAMAGED_UNIT, "module %u: %s", index, csn_error_text(&damage));
        return csni_batch_finish(job->writer, out, err);
    }
    job->copies_names = bytes.owned != NULL;
    status = read_module(job, module, bytes.span, err);
    csni_pdb_free_bytes(pdb, &bytes);
    if (status < 0 && status != CSN_E_LIMIT) return status;
    CSNI_TRY(charge_conversion(job, err));
    return csni_batch_finish(job->writer, out, err);
}
