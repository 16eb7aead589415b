/* Folded functions get the place of the code that was kept for them. */
#include "convert/call_sites/folded.h"

#include "base/core/fail.h"

enum {
    NAMESAKES_MAX = 64,  /* functions of one name that are looked at */
    NEIGHBOURS_MAX = 64  /* functions at one address that are looked at */
};

/* ---- where ---- */

/* Whether anything else is known of the code at a symbol: another name, or debug information. */
static bool has_company(const struct csni_name_table *t, const struct csni_named *symbol) {
    size_t first = csni_name_table_at(t, symbol->start);
    for (size_t i = first; i < t->placed && i < first + NEIGHBOURS_MAX; i++) {
        const struct csni_named *other = &t->by_name[t->by_start[i]];
        if (other->start != symbol->start) return false;
        if (other->hash != symbol->hash) return true;
    }
    return false;
}

/* The only symbol among `count` functions of one name, which ascend by address, that no function has been found for
 * yet. NULL: none, or there are several at different addresses. */
static struct csni_named *free_symbol(const struct csni_name_table *t, struct csni_named *named, size_t count,
                                      uint32_t size) {
    struct csni_named *found = NULL;
    if (count > NAMESAKES_MAX) return NULL;
    for (size_t i = 0, end; i < count; i = end) {
        struct csni_named *symbol = NULL;
        size_t symbols = 0, owners = 0;
        for (end = i; end < count && named[end].start == named[i].start; end++) {
            const struct csni_function *f = csni_named_function(t, &named[end]);
            if (named[end].start == UINT64_MAX) continue;
            bool is_symbol = f->source == CSNI_SOURCE_SYMBOL && !f->row_count;
            owners += !is_symbol || named[end].taken;
            if (!is_symbol || (f->size && size && f->size != size)) continue;
            symbols++;
            if (!symbol && !named[end].taken) symbol = &named[end];
        }
        if (!symbol || owners >= symbols || !has_company(t, symbol)) continue;
        if (found) return NULL;
        found = symbol;
    }
    return found;
}

/* ---- where its calls return to ---- */

static struct csn_str callee_of(const struct csni_batch *b, const struct csni_call_site *site) {
    if (!site->pattern_count) return (struct csn_str){ "", 0 };
    return b->strings[b->patterns[site->first_pattern]];
}

/* Whether two names can be the target of one call instruction: of which the addresses are known, they are the same. */
static bool may_be_same_target(const struct csni_name_table *t, struct csn_str a, struct csn_str b) {
    size_t count_a, count_b;
    if (csni_str_equal(a, b)) return true;
    const struct csni_named *x = csni_name_table_find(t, a, &count_a), *y = csni_name_table_find(t, b, &count_b);
    if (!count_a || !count_b || x[0].start == UINT64_MAX || y[0].start == UINT64_MAX) return true;
    bool one_x = x[count_a - 1].start == x[0].start || x[count_a - 1].start == UINT64_MAX;
    bool one_y = y[count_b - 1].start == y[0].start || y[count_b - 1].start == UINT64_MAX;
    return !one_x || !one_y || x[0].start == y[0].start;
}

static bool same_calls(const struct csni_name_table *t, const struct csni_batch *a, const struct csni_function *f,
                       const struct csni_batch *b, const struct csni_function *kept) {
    if (f->site_count != kept->site_count || (f->size && f->size != kept->size) || kept->source != CSNI_SOURCE_DWARF) return false;
    for (uint32_t i = 0; i < f->site_count; i++) {
        const struct csni_call_site *x = &a->sites[f->first_site + i], *y = &b->sites[kept->first_site + i];
        if ((x->flags ^ y->flags) & CSNI_SITE_TAIL) return false;
        struct csn_str callee_x = callee_of(a, x), callee_y = callee_of(b, y);
        if (!callee_x.len != !callee_y.len || !may_be_same_target(t, callee_x, callee_y)) return false;
    }
    return true;
}

/* The function with debug information at the address whose calls are those of `f`, or NULL. */
static const struct csni_named *kept_code(const struct csni_name_table *t, const struct csni_batch *batch,
                                          const struct csni_function *f) {
    size_t first = csni_name_table_at(t, f->start);
    for (size_t i = first; i < t->placed && i < first + NEIGHBOURS_MAX; i++) {
        const struct csni_named *n = &t->by_name[t->by_start[i]];
        if (n->start != f->start) return NULL;
        if (same_calls(t, batch, f, &t->conversion->batches[n->batch], csni_named_function(t, n))) return n;
    }
    return NULL;
}

static void note(struct csni_conversion *c, enum csn_event event, uint64_t count, struct csn_str name) {
    csni_report_add(c->report, event, count, name);
}

static void recover_sites(struct csni_conversion *c, const struct csni_name_table *t, struct csni_batch *batch,
                          struct csni_function *f) {
    struct csn_str name = batch->strings[f->name];
    uint64_t lost = 0;
    for (uint32_t i = 0; i < f->site_count; i++) lost += (batch->sites[f->first_site + i].flags & CSNI_SITE_LOST) != 0;
    if (!lost) return;
    const struct csni_named *kept = kept_code(t, batch, f);
    if (!kept) {
        f->site_count = 0;
        note(c, CSN_EVENT_CALL_SITE_WITHOUT_PLACE, 1, name);
        return;
    }
    const struct csni_batch *other = &c->batches[kept->batch];
    const struct csni_function *code = csni_named_function(t, kept);
    for (uint32_t i = 0; i < f->site_count; i++) {
        struct csni_call_site *site = &batch->sites[f->first_site + i];
        site->return_off = other->sites[code->first_site + i].return_off;
        site->flags = (site->flags & ~(uint32_t)CSNI_SITE_LOST) | CSN_CALL_SITE_RECOVERED;
    }
    note(c, CSN_EVENT_CALL_SITE_RECOVERED, f->site_count, name);
}

/* ---- all of them ---- */

/* Puts functions that have a place by now before those that have none. */
static csn_status move_placed(struct csni_conversion *c, struct csni_batch *batch, struct csn_error *err) {
    uint32_t first = batch->function_count, count = batch->unplaced_count, placed = 0, left = 0;
    struct csni_function *apart = csni_arena_alloc(&c->arenas[0], count * sizeof *apart);
    if (!apart) return csni_fail_memory(err, count * sizeof *apart);
    struct csni_function *f = batch->functions + first;
    for (uint32_t i = 0; i < count; i++) {
        if (f[i].unplaced) apart[left++] = f[i];
        else f[placed++] = f[i];
    }
    if (left) memcpy(f + placed, apart, left * sizeof *apart);
    batch->function_count += placed;
    batch->unplaced_count = left;
    c->report->functions_from_dwarf += placed;
    return CSN_OK;
}

csn_status csni_place_folded(struct csni_conversion *c, struct csni_name_table *t, struct csn_error *err) {
    for (uint32_t b = 0; b < c->batch_count; b++) {
        struct csni_batch *batch = &c->batches[b];
        bool found = false;
        for (uint32_t i = 0; i < batch->unplaced_count; i++) {
            struct csni_function *f = &batch->functions[batch->function_count + i];
            size_t count;
            struct csni_named *named = csni_name_table_find(t, batch->strings[f->name], &count);
            struct csni_named *symbol = free_symbol(t, named, count, f->size);
            if (!symbol) continue;
            symbol->taken = found = true;
            f->start = symbol->start;
            f->unplaced = false;
            recover_sites(c, t, batch, f);
        }
        if (found) CSNI_TRY(move_placed(c, batch, err));
    }
    return CSN_OK;
}
