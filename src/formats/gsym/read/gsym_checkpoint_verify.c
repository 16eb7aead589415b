/* Checking checkpoints: made again, they have the same bytes. */
#include "formats/gsym/read/gsym_checkpoint_verify.h"

#include "base/core/budget.h"
#include "base/core/fail.h"
#include "formats/gsym/read/gsym_checkpoint_build.h"

typedef unsigned long long ull; /* for %llx */

static const char checkpoints_name[] = "checkpoints";

/* ---- making them again ---- */

/* Bytes of a record that are read; UINT64_MAX: it has parts without end. */
static uint64_t cost_of(const struct csni_gsym *gsym, const struct csni_gsym_record *record) {
    uint64_t pos = gsym->parts_at;
    struct csni_gsym_payload part;
    for (unsigned k = 0; k < CSNI_GSYM_PARTS_MAX; k++)
        if (csni_gsym_part_next(gsym, record, &pos, &part, NULL) != CSN_OK) return pos;
    return UINT64_MAX;
}

/* Where the last function ends. */
static uint64_t end_of_code(const struct csni_gsym *gsym) {
    uint32_t last = gsym->address_count - 1;
    struct csni_gsym_record record = { .size = 0 };
    (void)csni_gsym_record(gsym, last, &record, NULL);
    return csni_gsym_address(gsym, last) + (record.size ? record.size : 1);
}

static void add_function(struct csni_checkpoint_share *share, const struct csni_gsym *gsym, uint32_t idx, uint64_t end,
                         struct csni_budget *budget) {
    uint64_t start = csni_gsym_address(gsym, idx);
    struct csni_checkpoint_function f = { .idx = idx, .start = start, .record_at = csni_gsym_info_offset(gsym, idx) };
    f.next = idx + 1 < gsym->address_count ? csni_gsym_address(gsym, idx + 1) : end;
    f.shares_start = idx && csni_gsym_address(gsym, idx - 1) == start;
    struct csni_gsym_record record;
    bool usable = csni_gsym_record(gsym, idx, &record, NULL) == CSN_OK && csni_budget_charge(budget, cost_of(gsym, &record));
    csni_checkpoint_add(share, gsym, &f, usable ? &record : NULL);
}

/* As many entries as the file has; more are not compared. */
static bool make_share(struct csni_checkpoint_share *share, const struct csni_gsym *gsym) {
    struct csni_budget budget = csni_budget_for((uint64_t)CSNI_GSYM_SHARED_FREE * CSNI_GSYM_SHARED_TIMES, gsym->bytes.size,
                                                CSNI_GSYM_SHARED_TIMES);
    uint64_t end = end_of_code(gsym), code = end - share->first;
    const struct csni_gsym_checkpoints *c = &gsym->checkpoints;
    if (end <= share->first || ((code - 1) >> c->shift) + 1 != c->count) return false;
    for (uint32_t idx = 0; idx < gsym->address_count; idx++) {
        uint64_t start = csni_gsym_address(gsym, idx);
        if (start < share->first || start >= end) return false;
        add_function(share, gsym, idx, end, &budget);
        if (share->entries.count > c->count) return false;
    }
    return share->entries.count == c->count;
}

/* ---- comparing ---- */

static csn_status compare_bytes(const struct csni_gsym *g, const uint8_t *stored, const uint8_t *made, size_t size,
                                struct csn_error *problem) {
    if (!memcmp(stored, made, size)) return CSN_OK;
    size_t k = 0;
    while (stored[k] == made[k]) k++;
    return csni_fail(problem, CSN_E_FORMAT, checkpoints_name, (uint64_t)(stored + k - g->bytes.ptr),
                     "byte 0x%02x, need 0x%02x as the records have it", stored[k], made[k]);
}

static csn_status compare_share(const struct csni_gsym *g, struct csni_checkpoint_share *share, const uint8_t *head,
                                const struct csn_allocator *allocator, bool *out_equal, struct csn_error *problem,
                                struct csn_error *err) {
    struct csni_checkpoint_plan plan;
    uint8_t own[CSNI_CP_HEAD];
    struct csni_span stored;
    uint64_t at = csni_get64(head + CSNI_CP_H_TABLE, false);
    const struct csni_checkpoint_share *measured = share;
    csni_checkpoint_share_measure(share);
    csni_checkpoint_plan(&plan, &measured, 1);
    csni_checkpoint_put_head(&plan, at, own);
    *out_equal = compare_bytes(g, head, own, CSNI_CP_HEAD, problem) == CSN_OK;
    if (!*out_equal) return CSN_OK;
    if (!csni_span_sub(g->bytes, at, plan.size, &stored)) {
        *out_equal = false;
        csni_fail(problem, CSN_E_FORMAT, checkpoints_name, at, "%zu bytes left, need %llu", (size_t)(g->bytes.size - at),
                  (ull)plan.size);
        return CSN_OK;
    }
    uint8_t *table = csni_alloc_zeroed(allocator, 1, (size_t)plan.size);
    if (!table) return csni_fail_memory(err, plan.size);
    csni_checkpoint_put(&plan, share, 0, 0, table);
    *out_equal = compare_bytes(g, stored.ptr, table, (size_t)plan.size, problem) == CSN_OK;
    csni_free(allocator, table, (size_t)plan.size);
    return CSN_OK;
}

/* ---- all of it ---- */

csn_status csni_gsym_checkpoint_verify(const struct csni_gsym *gsym, const struct csn_allocator *allocator, bool *out_equal,
                                       struct csn_error *problem, struct csn_error *err) {
    const uint8_t *head = csni_gsym_checkpoint_head(gsym);
    *out_equal = !head;
    if (!head) return CSN_OK;
    uint64_t at = (uint64_t)(head - gsym->bytes.ptr);
    if (!gsym->checkpoints.entries) {
        csni_fail(problem, CSN_E_FORMAT, checkpoints_name, at, "begin here, but cannot be used: table of %u entries at 0x%llx",
                  csni_get32(head + CSNI_CP_H_ENTRIES, false), (ull)csni_get64(head + CSNI_CP_H_TABLE, false));
        return CSN_OK;
    }
    struct csni_checkpoint_share share;
    csni_checkpoint_share_init(&share, allocator, csni_gsym_address(gsym, 0), gsym->checkpoints.shift,
                               csni_get32(head + CSNI_CP_H_REVISION, false));
    csn_status status = CSN_OK;
    if (!make_share(&share, gsym))
        csni_fail(problem, CSN_E_FORMAT, checkpoints_name, at, "%u entries for each %llu bytes of code, the functions need others",
                  gsym->checkpoints.count, (ull)1 << gsym->checkpoints.shift);
    else
        status = compare_share(gsym, &share, head, allocator, out_equal, problem, err);
    if (share.failed) status = csni_fail_memory(err, share.entries.capacity * sizeof(struct csni_checkpoint));
    csni_checkpoint_share_free(&share);
    return status;
}
