/* Making the checkpoints of a file that is being written, run by run. */
#include "formats/gsym/write/gsym_write_checkpoints.h"

enum {
    RECORD_BYTES_MIN = 64 * 1024, /* about; less is passed in no time */
    RECORD_SHARE = 4,             /* checkpoints take about so small a part of the records */
    ENTRY_BYTES = 16,             /* about */
    SHIFT_MIN = 6, SHIFT_MAX = 12
};

static const struct csni_function *function_at(const struct csni_model *m, uint32_t idx) {
    return csni_model_function(m, &m->entries[idx]);
}

/* Where entries end: after the last function. */
static uint64_t end_of_code(const struct csni_model *m) {
    const struct csni_function *last = function_at(m, m->entry_count - 1);
    return last->start + (last->size ? last->size : 1);
}

/* About how many bytes of records there will be. */
static uint64_t estimate_records(const struct csni_model *m) {
    uint64_t bytes = (uint64_t)m->entry_count * 40;
    for (uint32_t i = 0; i < m->entry_count; i++) {
        const struct csni_function *f = function_at(m, i);
        bytes += (uint64_t)f->row_count * 3 + (uint64_t)f->inline_count * 14;
    }
    return bytes;
}

unsigned csni_gsym_checkpoint_shift(const struct csni_model *m) {
    uint64_t code = end_of_code(m) - function_at(m, 0)->start, records = estimate_records(m);
    if (records < RECORD_BYTES_MIN) return 0;
    for (unsigned shift = SHIFT_MIN; shift <= SHIFT_MAX; shift++)
        if (((code >> shift) + 1) * ENTRY_BYTES <= records / RECORD_SHARE) return shift;
    return 0;
}

static void add_checkpoint(struct csni_checkpoint_share *share, const struct csni_gsym_checkpoint_run *run,
                           const struct csni_gsym *gsym, uint32_t k) {
    const struct csni_model *m = run->model;
    uint32_t idx = run->first + k, count = m->entry_count;
    uint64_t start = function_at(m, idx)->start, at = run->offsets[k];
    struct csni_checkpoint_function f = { .idx = idx, .start = start, .record_at = at };
    f.next = idx + 1 < count ? function_at(m, idx + 1)->start : end_of_code(m);
    f.shares_start = idx && function_at(m, idx - 1)->start == start;
    struct csni_span bytes = { run->records.ptr + at, run->records.size - (size_t)at };
    struct csni_gsym_record record;
    csn_status status = csni_gsym_record_at(gsym, bytes, at, start, &record, NULL);
    csni_checkpoint_add(share, gsym, &f, status == CSN_OK ? &record : NULL);
}

void csni_gsym_add_checkpoints(struct csni_checkpoint_share *share, const struct csni_gsym_checkpoint_run *run) {
    struct csni_gsym gsym = { .bytes = run->records, .strp_size = (uint8_t)run->strp_size, .big = run->big };
    gsym.parts_at = run->strp_size == CSNI_GSYM_STRP_SIZE ? CSNI_GSYM_R_PARTS : CSNI_GSYM_2_RECORD_PARTS;
    for (uint32_t k = 0; k < run->count; k++) add_checkpoint(share, run, &gsym, k);
    csni_checkpoint_share_measure(share);
    csni_vec_deinit(&share->nodes);
}
