/* What every part of a module's conversion needs: the budget and strings. */
#include "convert/pdb/pdb_job.h"

bool csni_pdb_charge(struct csni_pdb_job *job, uint64_t amount) {
    job->spent = amount < UINT64_MAX - job->spent ? job->spent + amount : UINT64_MAX;
    return job->spent <= csni_shared_budget_limit(&job->reading->conversion->budget);
}

uint32_t csni_pdb_add_string(struct csni_pdb_job *job, struct csn_str s) {
    if (!job->copies_names || !s.len) return csni_batch_add_string(job->writer, s);
    const char *copy = csni_arena_copy(job->arena, s.ptr, s.len);
    if (!copy) {
        job->writer->failed = true;
        return 0;
    }
    return csni_batch_add_string(job->writer, (struct csn_str){ copy, s.len });
}
