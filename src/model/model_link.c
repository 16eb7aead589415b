/* Numbers for the strings and files that the kept functions use.
 *
 * Workers mark and hash what each batch uses; then the strings are told apart in shards by hash, a share of the shards by one
 * worker that goes through all batches in order. Files are numbered by use, so that the indexes of the busy ones fit one byte of
 * LEB128; their strings come first in the table. Names that many functions use follow, then the others in the order
 * of the functions, so that what one lookup reads lies close together. */
#include "base/core/fail.h"
#include "base/core/sort.h"
#include "model/early_hashes.h"
#include "model/model_link.h"

static void *zeroed(struct csni_arena *arena, size_t size) {
    void *p = csni_arena_alloc(arena, size);
    if (p) memset(p, 0, size);
    return p;
}

/* ---- marking ---- */

static void use_linked_string(const struct csni_batch *b, struct csni_link_usage *u, uint32_t number) {
    uint64_t hash = u->hashes[number];
    if (hash & CSNI_USED_BIT) return;
    if (!hash && !b->strings[number].len) return;
    u->hashes[number] = (hash ? hash : csni_link_hash(b->strings[number])) | CSNI_USED_BIT;
}

/* The name of a function or inlined call. Where names change, it is told apart from an equal string of a path or pattern. */
static void use_name(const struct csni_link *link, const struct csni_batch *b, struct csni_link_usage *u, uint32_t number) {
    use_linked_string(b, u, number);
    if (link->model->rename && u->hashes[number] & CSNI_USED_BIT) u->hashes[number] |= CSNI_NAME_BIT;
    u->name_uses[number]++;
}

/* Of several rows at one address a lookup answers with the last: the others go, and so do rows that then repeat the one
 * before them. Compilers that tell views of a variable apart leave many. What is kept counts as a use of its file where
 * the encoder will have to name it. */
static void drop_superseded_rows(struct csni_batch *b, struct csni_link_usage *u, struct csni_function *f) {
    struct csni_row *rows = b->rows + f->first_row;
    uint32_t kept = 0, file = UINT32_MAX, line = 0;
    for (uint32_t i = 0; i < f->row_count; i++) {
        struct csni_row row = rows[i];
        if (i + 1 < f->row_count && rows[i + 1].off == row.off) continue;
        row.file = csni_row_file(row);
        if (row.file != file) u->file_uses[row.file]++;
        else if (row.line == line) continue;
        file = row.file;
        line = row.line;
        rows[kept++] = row;
    }
    f->row_count = kept;
}

static void use_function(const struct csni_link *link, const struct csni_batch *b, struct csni_link_usage *u,
                         const struct csni_function *f) {
    use_name(link, b, u, f->name);
    for (uint32_t i = 0; i < f->inline_count; i++) {
        const struct csni_inline_node *node = &b->inlines[f->first_inline + i];
        use_name(link, b, u, node->name);
        u->file_uses[node->call_file]++;
    }
    for (uint32_t i = 0; i < f->site_count; i++) {
        const struct csni_call_site *s = &b->sites[f->first_site + i];
        for (uint32_t k = 0; k < s->pattern_count; k++) use_linked_string(b, u, b->patterns[s->first_pattern + k]);
    }
}

/* So that whoever takes a share looks at its own strings alone. */
static bool group_by_shard(struct csni_link_usage *u, uint32_t string_count, struct csni_arena *arena) {
    uint32_t *ends = u->shard_ends, used = 0;
    for (uint32_t k = 1; k < string_count; k++) ends[csni_link_shard(u->hashes[k])] += (u->hashes[k] & CSNI_USED_BIT) != 0;
    for (unsigned i = 0; i < CSNI_LINK_SHARDS; i++) {
        uint32_t count = ends[i];
        ends[i] = used;
        used += count;
    }
    u->by_shard = csni_arena_alloc(arena, used * sizeof *u->by_shard);
    if (!u->by_shard) return false;
    for (uint32_t k = 1; k < string_count; k++)
        if (u->hashes[k] & CSNI_USED_BIT) u->by_shard[ends[csni_link_shard(u->hashes[k])]++] = k;
    return true;
}

static csn_status mark_batch(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    struct csni_link *link = context;
    struct csni_batch *b = &link->model->batches[item];
    struct csni_link_usage *u = &link->usages[item];
    /* Also those of an index that is converted, which no option asked for. */
    if (link->model->rename && b->pattern_count)
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "names cannot be changed: %u patterns of call sites are made for the "
                         "names of the input", b->pattern_count);
    u->hashes = link->model->hashed ? csni_early_hashes_of(link->model->hashed, (uint32_t)item, b) : NULL;
    if (!u->hashes) u->hashes = zeroed(&link->arenas[worker], b->string_count * sizeof *u->hashes);
    u->name_uses = zeroed(&link->arenas[worker], b->string_count * sizeof *u->name_uses);
    u->file_uses = zeroed(&link->arenas[worker], b->file_count * sizeof *u->file_uses);
    b->string_numbers = zeroed(&link->arenas[worker], b->string_count * sizeof *b->string_numbers);
    b->file_numbers = zeroed(&link->arenas[worker], b->file_count * sizeof *b->file_numbers);
    if (!u->hashes || !u->name_uses || !u->file_uses || !b->string_numbers || !b->file_numbers)
        return csni_fail_memory(err, b->string_count * sizeof *u->hashes);
    for (uint32_t i = 0; i < b->function_count; i++) {
        if (!b->functions[i].kept) continue;
        if (!link->model->image.exact) drop_superseded_rows(b, u, &b->functions[i]);
        use_function(link, b, u, &b->functions[i]);
    }
    for (uint32_t i = 1; i < b->file_count; i++) {
        if (!u->file_uses[i] && !link->model->image.exact) continue;
        use_linked_string(b, u, b->files[i].directory);
        use_linked_string(b, u, b->files[i].base);
    }
    if (link->shares > 1 && !group_by_shard(u, b->string_count, &link->arenas[worker]))
        return csni_fail_memory(err, b->string_count * sizeof *u->by_shard);
    return CSN_OK;
}

/* ---- telling strings apart ---- */

static bool intern_string(struct csni_link *link, uint32_t batch, uint32_t k) {
    struct csni_batch *b = &link->model->batches[batch];
    const struct csni_link_usage *u = &link->usages[batch];
    struct csni_distinct_strings *strings = &link->shards[csni_link_shard(u->hashes[k])];
    /* The number is one within the shard until csni_model_link() is done. */
    if (!csni_distinct_strings_add(strings, b->strings[k], u->hashes[k], &b->string_numbers[k])) return false;
    strings->items.items[b->string_numbers[k]].uses += u->name_uses[k];
    return true;
}

static bool intern_all(struct csni_link *link) {
    for (uint32_t i = 0; i < link->model->batch_count; i++)
        for (uint32_t k = 1; k < link->model->batches[i].string_count; k++)
            if (link->usages[i].hashes[k] & CSNI_USED_BIT && !intern_string(link, i, k)) return false;
    return true;
}

static bool intern_share(struct csni_link *link, size_t share) {
    size_t shards = CSNI_LINK_SHARDS / link->shares, first = share * shards;
    for (uint32_t i = 0; i < link->model->batch_count; i++) {
        const struct csni_link_usage *u = &link->usages[i];
        uint32_t end = u->shard_ends[first + shards - 1];
        for (uint32_t at = first ? u->shard_ends[first - 1] : 0; at < end; at++)
            if (!intern_string(link, i, u->by_shard[at])) return false;
    }
    return true;
}

static csn_status intern_strings(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    (void)worker;
    struct csni_link *link = context;
    bool ok = link->shares == 1 ? intern_all(link) : intern_share(link, item);
    return ok ? CSN_OK : csni_fail_memory(err, sizeof(struct csni_distinct_string));
}

/* One for each worker. */
static unsigned share_count(struct csni_pool *pool) {
    unsigned shares = 1;
    while (shares < CSNI_LINK_SHARDS && shares < csni_pool_workers(pool)) shares *= 2;
    return shares;
}

static csn_status rename_shard(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    struct csni_link *link = context;
    return csni_distinct_strings_rename(&link->shards[item], link->model, &link->arenas[worker], err);
}

/* ---- files ---- */

static bool gather_files(struct csni_link *link, struct csni_distinct_files *t) {
    struct csni_model *m = link->model;
    for (uint32_t i = 0; i < m->batch_count; i++) {
        struct csni_batch *b = &m->batches[i];
        for (uint32_t k = 1; k < b->file_count; k++) {
            uint32_t uses = link->usages[i].file_uses[k];
            if (!uses) continue;
            const struct csni_file *f = &b->files[k];
            struct csni_distinct_file *key =
                csni_distinct_files_add(t, csni_link_distinct(link, b, f->directory), csni_link_distinct(link, b, f->base));
            if (!key) return false;
            key->uses += uses;
            b->file_numbers[k] = key->number;
        }
    }
    return true;
}

static bool is_busier(const void *context, const void *pa, const void *pb) {
    (void)context;
    const struct csni_distinct_file *a = pa, *b = pb;
    return a->uses > b->uses;
}

/* The files of the one batch as they are. */
static csn_status keep_files(struct csni_link *link, struct csn_error *err) {
    struct csni_model *m = link->model;
    struct csni_batch *b = m->batches;
    m->files = csni_alloc_zeroed(m->alloc, b->file_count, sizeof *m->files);
    if (!m->files) return csni_fail_memory(err, b->file_count * sizeof *m->files);
    m->file_count = b->file_count;
    for (uint32_t i = 1; i < b->file_count; i++) {
        if (!csni_link_number_string(link, csni_link_distinct(link, b, b->files[i].directory), &m->files[i].directory) ||
            !csni_link_number_string(link, csni_link_distinct(link, b, b->files[i].base), &m->files[i].base))
            return csni_fail_memory(err, link->renamed.slot_count * sizeof *link->renamed.slots);
        b->file_numbers[i] = i;
    }
    return CSN_OK;
}

static csn_status number_files(struct csni_link *link, struct csn_error *err) {
    struct csni_model *m = link->model;
    if (m->image.exact) return keep_files(link, err);
    struct csni_distinct_files t = { .items.alloc = m->alloc };
    uint32_t *final = NULL;
    csn_status status = CSN_OK;
    bool ok = gather_files(link, &t) && csni_vec_reserve(&t.items, 2 * t.items.count);
    size_t count = t.items.count + 1;
    if (ok) {
        final = csni_alloc_present(m->alloc, count, sizeof *final);
        m->files = csni_alloc_zeroed(m->alloc, count, sizeof *m->files);
        if (m->files) m->file_count = (uint32_t)count;
    }
    if (!final || !m->files) {
        status = csni_fail_memory(err, count * sizeof *m->files);
        goto done;
    }
    if (t.items.count) /* equal ones stay in the order of their numbers */
        csni_merge_sort(t.items.items, t.items.items + t.items.count, t.items.count, sizeof *t.items.items, is_busier, NULL);
    for (uint32_t i = 0; i < t.items.count; i++) {
        struct csni_distinct_file *f = &t.items.items[i];
        final[f->number] = i + 1;
        if (!csni_link_number_string(link, f->directory, &m->files[i + 1].directory) ||
            !csni_link_number_string(link, f->base, &m->files[i + 1].base)) {
            status = csni_fail_memory(err, link->renamed.slot_count * sizeof *link->renamed.slots);
            goto done;
        }
    }
    for (uint32_t i = 0; i < m->batch_count; i++)
        for (uint32_t k = 1; k < m->batches[i].file_count; k++)
            m->batches[i].file_numbers[k] = final[m->batches[i].file_numbers[k]];
done:
    csni_free(m->alloc, final, count * sizeof *final);
    csni_distinct_files_deinit(&t);
    return status;
}

/* ---- all of it ---- */

static void finish_batch(struct csni_link *link, size_t batch) {
    struct csni_batch *b = &link->model->batches[batch];
    for (uint32_t k = 1; k < b->string_count; k++)
        if (link->usages[batch].hashes[k] & CSNI_USED_BIT) b->string_numbers[k] = csni_link_distinct(link, b, k)->number;
}

/* A batch takes less time than asking for the next one does, where other workers ask too. */
enum { BATCHES_AT_ONCE = 32 };

static csn_status finish_batches(void *context, uint32_t worker, size_t item, struct csn_error *err) {
    (void)worker;
    (void)err;
    struct csni_link *link = context;
    for (size_t i = item * BATCHES_AT_ONCE; i < (item + 1) * BATCHES_AT_ONCE && i < link->model->batch_count; i++)
        finish_batch(link, i);
    return CSN_OK;
}

static csn_status link_all(struct csni_link *link, struct csni_pool *pool, struct csn_error *err) {
    struct csni_model *m = link->model;
    link->shares = share_count(pool);
    CSNI_TRY(csni_pool_run(pool, m->batch_count, mark_batch, link, err));
    CSNI_TRY(csni_pool_run(pool, link->shares, intern_strings, link, err));
    if (m->rename) CSNI_TRY(csni_pool_run(pool, CSNI_LINK_SHARDS, rename_shard, link, err));
    uint64_t count = 1;
    for (unsigned i = 0; i < CSNI_LINK_SHARDS; i++) count += link->shards[i].items.count;
    if (count >= UINT32_MAX)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "%llu strings, an index holds at most %u",
                         (unsigned long long)count, UINT32_MAX);
    m->strings = csni_alloc_present(m->alloc, (size_t)count, sizeof *m->strings);
    if (!m->strings) return csni_fail_memory(err, count * sizeof *m->strings);
    m->string_capacity = (uint32_t)count;
    m->strings[0] = (struct csn_str){ "", 0 };
    m->string_count = 1;
    CSNI_TRY(number_files(link, err));
    CSNI_TRY(csni_link_number_busy_names(link, err));
    CSNI_TRY(csni_link_number_names(link, pool, err));
    return csni_pool_run(pool, ((size_t)m->batch_count + BATCHES_AT_ONCE - 1) / BATCHES_AT_ONCE, finish_batches, link, err);
}

csn_status csni_model_link(struct csni_model *m, struct csni_pool *pool, struct csni_arena *arenas,
                           struct csn_error *err) {
    struct csni_link link = { .model = m, .arenas = arenas, .renamed.items.alloc = m->alloc };
    link.usages = csni_alloc_zeroed(m->alloc, m->batch_count, sizeof *link.usages);
    if (m->batch_count && !link.usages) return csni_fail_memory(err, m->batch_count * sizeof *link.usages);
    for (unsigned i = 0; i < CSNI_LINK_SHARDS; i++) link.shards[i].items.alloc = m->alloc;
    csn_status status = link_all(&link, pool, err);
    for (unsigned i = 0; i < CSNI_LINK_SHARDS; i++) csni_distinct_strings_deinit(&link.shards[i]);
    csni_distinct_strings_deinit(&link.renamed);
    csni_free(m->alloc, link.usages, m->batch_count * sizeof *link.usages);
    return status;
}
