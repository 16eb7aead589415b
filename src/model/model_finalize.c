/* The functions that stay, in order. */
#include "base/core/fail.h"
#include "model/model_key.h"

/* ---- choosing ---- */

static size_t choose_functions(const struct csni_model *m, struct csni_key *keys, size_t count,
                               struct csn_convert_report *report) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        enum csni_verdict v = kept ? csni_model_judge(m, &keys[kept - 1], &keys[i], report) : CSNI_KEEP_BOTH;
        if (v == CSNI_KEEP_BOTH) keys[kept++] = keys[i];
        else if (v == CSNI_REPLACE) keys[kept - 1] = keys[i];
    }
    return kept;
}

/* ---- in shares ---- */

enum { SHARES_A_WORKER = 2, SHARES_MAX = 32, SHARE_MIN = 2048 };

/* Keys of starts that no other share has. */
struct share {
    size_t first, end;
    size_t kept;                        /* of them, from `first` on */
    struct csni_key lowest;             /* that came first before any was replaced */
    struct csn_convert_report *report;
};

struct choosing {
    const struct csni_model *model;
    struct csni_key *keys, *spare;
    bool order_only;
    struct share shares[SHARES_MAX];
    size_t count;                       /* of shares */
};

static csn_status choose_share(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    (void)worker;
    (void)err;
    struct choosing *c = context;
    struct share *s = &c->shares[item];
    size_t count = s->end - s->first;
    if (!count) return CSN_OK;
    csni_sort_groups(c->model, c->keys + s->first, c->spare + s->first, count);
    s->lowest = c->keys[s->first];
    if (!c->order_only) s->kept = choose_functions(c->model, c->keys + s->first, count, s->report);
    return CSN_OK;
}

static void cut_shares(struct choosing *c, size_t count, size_t shares) {
    size_t at = 0;
    for (c->count = 0; c->count < shares; c->count++) {
        size_t end = c->count + 1 < shares ? count / shares * (c->count + 1) : count;
        while (end && end < count && c->keys[end].start == c->keys[end - 1].start) end++;
        if (end < at) end = at;
        c->shares[c->count] = (struct share){ .first = at, .end = end };
        at = end;
    }
}

/* What is kept moves together. Between shares nothing is replaced, but what overlaps is told. */
static size_t join_shares(struct choosing *c, struct csn_convert_report *report) {
    size_t kept = 0;
    for (size_t i = 0; i < c->count; i++) {
        const struct share *s = &c->shares[i];
        if (kept && s->kept) csni_model_judge(c->model, &c->keys[kept - 1], &s->lowest, report);
        for (unsigned e = 0; s->report != report && e < CSN_EVENT_CAPACITY; e++)
            csni_report_add(report, (enum csn_event)e, s->report->events[e].count, csni_str(s->report->events[e].example));
        if (kept != s->first) memmove(c->keys + kept, c->keys + s->first, s->kept * sizeof *c->keys);
        kept += s->kept;
    }
    return kept;
}

/* Orders the keys, which are sorted by start, within each start; and, unless order_only, leaves those that stay: *count. */
static csn_status choose_all(struct csni_model *m, struct csni_pool *pool, struct csni_key *keys, size_t *count, bool order_only,
                             struct csn_convert_report *report, struct csn_error *err) {
    if (!*count) return CSN_OK;
    struct choosing c = { .model = m, .keys = keys, .spare = keys + *count, .order_only = order_only };
    size_t shares = pool && csni_pool_workers(pool) > 1 ? SHARES_A_WORKER * (size_t)csni_pool_workers(pool) : 1;
    if (shares > SHARES_MAX) shares = SHARES_MAX;
    if (shares > *count / SHARE_MIN) shares = *count / SHARE_MIN + !(*count / SHARE_MIN);
    struct csn_convert_report *reports = shares > 1 ? csni_alloc_zeroed(m->alloc, shares, sizeof *reports) : NULL;
    if (shares > 1 && !reports) return csni_fail_memory(err, shares * sizeof *reports);
    cut_shares(&c, *count, shares);
    for (size_t i = 0; i < shares; i++) c.shares[i].report = reports ? &reports[i] : report;
    csn_status status = csni_pool_run(pool, shares, choose_share, &c, err);
    if (status == CSN_OK && !order_only) *count = join_shares(&c, report);
    csni_free(m->alloc, reports, shares * sizeof *reports);
    return status;
}

/* ---- exact models ---- */

/* Functions that are not merged into others become entries, in order of their starts and of the batch. */
static void take_entries(struct csni_model *m, struct csni_key *keys, struct csni_key *spare) {
    size_t count = 0;
    const struct csni_batch *b = m->batches;
    for (uint32_t f = 0; f < b->function_count; f += 1 + b->functions[f].merged_count)
        keys[count++] = (struct csni_key){ b->functions[f].start, 0, f };
    csni_sort_by_start(keys, spare, count);
    uint32_t child = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t first = keys[i].function, merged = b->functions[first].merged_count;
        m->entries[m->entry_count++] = (struct csni_entry){ 0, first, child, merged };
        for (uint32_t k = 1; k <= merged; k++) m->children[child++] = (struct csni_entry){ 0, first + k, 0, 0 };
    }
}

/* Of functions with one range an index answers with the first. */
static void put_first_last(struct csni_model *m) {
    for (uint32_t low = 0, high; low < m->entry_count; low = high) {
        const struct csni_function *f = csni_model_function(m, &m->entries[low]);
        for (high = low + 1; high < m->entry_count; high++) {
            const struct csni_function *g = csni_model_function(m, &m->entries[high]);
            if (g->start != f->start || g->size != f->size) break;
        }
        for (uint32_t i = low, k = high - 1; i < k; i++, k--) {
            struct csni_entry moved = m->entries[i];
            m->entries[i] = m->entries[k];
            m->entries[k] = moved;
        }
    }
}

static csn_status finalize_exact(struct csni_model *m, struct csn_convert_report *report, struct csn_error *err) {
    uint32_t count = m->batches->function_count;
    if (!count) return CSN_OK;
    for (uint32_t f = 0; f < count; f++) {
        m->child_count += m->batches->functions[f].merged_count;
        m->batches->functions[f].kept = true;
    }
    size_t size = 2 * (size_t)count * sizeof(struct csni_key);
    struct csni_key *keys = csni_alloc(m->alloc, size);
    m->entry_capacity = count;
    m->entries = csni_alloc_zeroed(m->alloc, count, sizeof *m->entries);
    m->child_capacity = m->child_count;
    if (m->child_count) m->children = csni_alloc_zeroed(m->alloc, m->child_count, sizeof *m->children);
    bool ok = keys && m->entries && (m->children || !m->child_count);
    if (ok) take_entries(m, keys, keys + count);
    if (ok && m->takes_last) put_first_last(m);
    csni_free(m->alloc, keys, size);
    report->functions_written = m->entry_count;
    report->functions_merged = m->child_count;
    return ok ? CSN_OK : csni_fail_memory(err, size);
}

/* ---- all of it ---- */

/* One piece of code has one size, also where only some of its names tell it. Gives how many children there are. */
static uint32_t keep_children(const struct csni_model *m) {
    uint32_t count = 0;
    for (uint32_t i = 0; i < m->entry_count; i++)
        for (uint32_t k = 0; k < m->entries[i].child_count; k++, count++) {
            struct csni_function *child = csni_model_function(m, &m->children[m->entries[i].first_child + k]);
            child->kept = true;
            if (!child->size) child->size = csni_model_function(m, &m->entries[i])->size;
        }
    return count;
}

/* Brings the functions of each binary together, in the order that they have. */
static csn_status group_by_binary(const struct csni_model *m, struct csni_key *keys, struct csni_key *spare, size_t count,
                                  struct csn_error *err) {
    size_t groups = (size_t)m->image.binary_count + 2;
    size_t *place = csni_alloc_zeroed(m->alloc, groups, sizeof *place);
    if (!place) return csni_fail_memory(err, groups * sizeof *place);
    for (size_t i = 0; i < count; i++) place[csni_key_function(m, &keys[i])->binary + 1]++;
    for (size_t g = 1; g < groups; g++) place[g] += place[g - 1];
    for (size_t i = 0; i < count; i++) spare[place[csni_key_function(m, &keys[i])->binary]++] = keys[i];
    if (count) memcpy(keys, spare, count * sizeof *keys);
    csni_free(m->alloc, place, groups * sizeof *place);
    return CSN_OK;
}

csn_status csni_model_finalize(struct csni_model *m, struct csni_pool *pool, struct csn_convert_report *report,
                               struct csn_error *err) {
    if (m->image.exact) return finalize_exact(m, report, err);
    size_t count = 0;
    for (uint32_t b = 0; b < m->batch_count; b++) count += m->batches[b].function_count;
    if (count > UINT32_MAX)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "%zu functions, an index holds at most %u", count, UINT32_MAX);
    struct csni_key *keys = csni_alloc_present(m->alloc, 2 * count, sizeof *keys);
    m->entries = csni_alloc_present(m->alloc, count, sizeof *m->entries);
    m->entry_capacity = (uint32_t)count;
    if (count && (!keys || !m->entries)) {
        csni_free(m->alloc, keys, 2 * count * sizeof *keys);
        return csni_fail_memory(err, 2 * count * sizeof *keys);
    }
    size_t n = 0;
    for (uint32_t b = 0; b < m->batch_count; b++)
        for (uint32_t f = 0; f < m->batches[b].function_count; f++)
            keys[n++] = (struct csni_key){ m->batches[b].functions[f].start, b, f };
    if (count) csni_sort_by_start(keys, keys + count, count);
    bool merges = m->merge != CSN_MERGE_NONE && !m->image.binary_count;
    size_t kept = count;
    csn_status status = choose_all(m, pool, keys, &kept, merges || m->image.binary_count, report, err);
    if (status >= 0 && m->image.binary_count && count) status = group_by_binary(m, keys, keys + count, count, err);
    if (status >= 0 && merges) {
        status = csni_model_merge(m, keys, count, report, err);
    } else if (status >= 0) {
        if (m->image.binary_count) kept = choose_functions(m, keys, count, report);
        else if (!m->keeps_aliases) kept = csni_model_join_starts(m, keys, kept, report);
        m->entry_count = (uint32_t)kept;
        for (uint32_t i = 0; i < m->entry_count; i++)
            m->entries[i] = (struct csni_entry){ keys[i].batch, keys[i].function, 0, 0 };
    }
    csni_free(m->alloc, keys, 2 * count * sizeof *keys);
    if (status < 0) return status;
    for (uint32_t i = 0; i < m->entry_count; i++) csni_model_function(m, &m->entries[i])->kept = true;
    csni_model_size_functions(m);
    report->functions_written = m->entry_count;
    report->functions_merged = keep_children(m);
    report->functions_pruned = count - m->entry_count - report->functions_merged;
    return CSN_OK;
}
