/* Numbers for names, in the order of the functions.
 *
 * With several workers each takes shares of the functions, and lists the names that it is the first to see there: those of an
 * earlier share may be among them. When all shares are through, each name knows the first one that has it, so that every share
 * can count its own and give them numbers after those of the shares before. */
#include "base/hash.h"
#include "model/model_link.h"

#include "base/core/fail.h"

/* The string with the text of `d` that has or gets a number: `d` itself unless names changed. NULL when out of memory. */
static struct csni_distinct_string *numbered(struct csni_link *link, struct csni_distinct_string *d) {
    if (!link->model->rename) return d;
    uint32_t index;
    uint64_t hash = csni_hash_bytes(d->text.ptr, d->text.len);
    if (!csni_distinct_strings_add(&link->renamed, d->text, hash, &index)) return NULL;
    return &link->renamed.items.items[index];
}

bool csni_link_number_string(struct csni_link *link, struct csni_distinct_string *d, uint32_t *out) {
    struct csni_model *m = link->model;
    *out = 0;
    if (!d) return true;
    if (!d->number) {
        struct csni_distinct_string *one = numbered(link, d);
        if (!one) return false;
        if (!one->number) {
            one->number = m->string_count;
            m->strings[m->string_count++] = d->text;
        }
        d->number = one->number;
    }
    *out = d->number;
    return true;
}

/* ---- one worker, or names that change ---- */

typedef bool use_name(void *context, struct csni_distinct_string *d);

/* Calls `use` for each string of a function, in the order in which they are numbered; until it gives false. */
static bool each_name(struct csni_link *link, const struct csni_entry *e, use_name *use, void *context) {
    const struct csni_batch *b = &link->model->batches[e->batch];
    const struct csni_function *f = &b->functions[e->function];
    bool ok = use(context, csni_link_distinct(link, b, f->name));
    for (uint32_t i = 0; i < f->inline_count && ok; i++)
        ok = use(context, csni_link_distinct(link, b, b->inlines[f->first_inline + i].name));
    for (uint32_t i = 0; i < f->site_count && ok; i++) {
        const struct csni_call_site *s = &b->sites[f->first_site + i];
        for (uint32_t k = 0; k < s->pattern_count && ok; k++)
            ok = use(context, csni_link_distinct(link, b, b->patterns[s->first_pattern + k]));
    }
    return ok;
}

/* The same for the functions [first, end) and their children. */
static inline bool each_name_of(struct csni_link *link, uint32_t first, uint32_t end, use_name *use, void *context) {
    const struct csni_model *m = link->model;
    bool ok = true;
    for (uint32_t i = first; i < end && ok; i++) {
        ok = each_name(link, &m->entries[i], use, context);
        for (uint32_t k = 0; k < m->entries[i].child_count && ok; k++)
            ok = each_name(link, &m->children[m->entries[i].first_child + k], use, context);
    }
    return ok;
}

static bool number_one(void *context, struct csni_distinct_string *d) {
    uint32_t number;
    return csni_link_number_string(context, d, &number);
}

/* ---- in shares ---- */

enum { SHARES_A_WORKER = 4, SHARES_MAX = 64, SHARE_MIN = 256 };

struct share {
    uint32_t first, end;                          /* functions */
    uint32_t rank;                                /* the earlier, the higher; from 1 on */
    CSNI_VEC(struct csni_distinct_string *) names; /* that no earlier share was known to have when they were met */
    uint32_t first_number;                        /* of its own names, which are what `names` holds in the end */
};

struct naming {
    struct csni_link *link;
    struct share shares[SHARES_MAX];
    uint32_t count;
};

/* Makes the share the first one that has the name, unless an earlier one has it or it has a number. */
static bool claim_name(void *context, struct csni_distinct_string *d) {
    struct share *share = context;
    if (!d || d->number) return true;
    uint32_t rank = __atomic_load_n(&d->rank, __ATOMIC_RELAXED);
    do if (rank >= share->rank) return true;
    while (!__atomic_compare_exchange_n(&d->rank, &rank, share->rank, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return csni_vec_push(&share->names, d);
}

static csn_status claim_share_names(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    (void)worker;
    struct naming *n = context;
    struct share *share = &n->shares[item];
    bool ok = each_name_of(n->link, share->first, share->end, claim_name, share);
    return ok ? CSN_OK : csni_fail_memory(err, (share->names.count + 1) * sizeof *share->names.items);
}

static csn_status drop_foreign(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    (void)worker;
    (void)err;
    struct share *share = &((struct naming *)context)->shares[item];
    size_t kept = 0;
    for (size_t i = 0; i < share->names.count; i++) {
        struct csni_distinct_string *d = share->names.items[i];
        if (d->rank == share->rank) share->names.items[kept++] = d;
    }
    share->names.count = kept;
    return CSN_OK;
}

static csn_status number_share(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    (void)worker;
    (void)err;
    struct naming *n = context;
    const struct share *share = &n->shares[item];
    for (size_t i = 0; i < share->names.count; i++) {
        struct csni_distinct_string *d = share->names.items[i];
        d->number = share->first_number + (uint32_t)i;
        n->link->model->strings[d->number] = d->text;
    }
    return CSN_OK;
}

static csn_status number_in_shares(struct naming *n, struct csni_pool *pool, struct csn_error *err) {
    struct csni_model *m = n->link->model;
    for (uint32_t i = 0; i < n->count; i++) {
        n->shares[i].first = (uint32_t)((uint64_t)m->entry_count * i / n->count);
        n->shares[i].end = (uint32_t)((uint64_t)m->entry_count * (i + 1) / n->count);
        n->shares[i].rank = n->count - i;
        n->shares[i].names.alloc = m->alloc;
    }
    CSNI_TRY(csni_pool_run(pool, n->count, claim_share_names, n, err));
    CSNI_TRY(csni_pool_run(pool, n->count, drop_foreign, n, err));
    for (uint32_t i = 0; i < n->count; i++) {
        n->shares[i].first_number = m->string_count;
        m->string_count += (uint32_t)n->shares[i].names.count;
    }
    return csni_pool_run(pool, n->count, number_share, n, err);
}

/* ---- all of it ---- */

csn_status csni_link_number_names(struct csni_link *link, struct csni_pool *pool, struct csn_error *err) {
    const struct csni_model *m = link->model;
    uint32_t workers = csni_pool_workers(pool), shares = m->entry_count / SHARE_MIN;
    if (workers == 1 || m->rename || shares < 2) {
        bool ok = each_name_of(link, 0, m->entry_count, number_one, link);
        return ok ? CSN_OK : csni_fail_memory(err, link->renamed.slot_count * sizeof *link->renamed.slots);
    }
    if (shares > SHARES_A_WORKER * workers) shares = SHARES_A_WORKER * workers;
    struct naming n = { .link = link, .count = shares < SHARES_MAX ? shares : SHARES_MAX };
    csn_status status = number_in_shares(&n, pool, err);
    for (uint32_t i = 0; i < n.count; i++) csni_vec_deinit(&n.shares[i].names);
    return status;
}
