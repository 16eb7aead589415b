/* The order of functions, and which of several at one place stays. */
#include "base/fail.h"
#include "model/model.h"

#include <stdio.h>

struct key {
    uint64_t start;
    uint32_t batch, function;
};

static const struct csni_function *function_of(const struct csni_model *m, const struct key *k) {
    return &m->batches[k->batch].functions[k->function];
}

static int compare_u64(uint64_t a, uint64_t b) { return a < b ? -1 : a > b; }

/* Functions of one start: by end, then by how much is known of them, least first, so that the best known comes last. */
static int compare(const struct csni_model *m, const struct key *ka, const struct key *kb) {
    const struct csni_function *a = function_of(m, ka), *b = function_of(m, kb);
    int by = compare_u64(a->size, b->size);
    if (!by) by = compare_u64(a->inline_count, b->inline_count);
    if (!by) by = compare_u64(a->row_count, b->row_count);
    if (by) return by;
    const struct csni_row *ra = m->batches[ka->batch].rows + a->first_row;
    const struct csni_row *rb = m->batches[kb->batch].rows + b->first_row;
    for (uint32_t i = 0; i < a->row_count; i++)
        if (ra[i].off != rb[i].off) return compare_u64(ra[i].off, rb[i].off);
    /* Or a symbol that comes later would replace a function of which nothing but its call sites is known. */
    return compare_u64(a->site_count > 0, b->site_count > 0);
}

/* Stable merge sort of keys[0..count) with room for as many in `spare`. */
static void merge_sort(const struct csni_model *m, struct key *keys, struct key *spare, size_t count) {
    for (size_t width = 1; width < count; width *= 2) {
        for (size_t low = 0; low < count; low += 2 * width) {
            size_t middle = low + width < count ? low + width : count;
            size_t high = low + 2 * width < count ? low + 2 * width : count;
            size_t a = low, b = middle;
            for (size_t i = low; i < high; i++)
                spare[i] = a < middle && (b >= high || compare(m, &keys[a], &keys[b]) <= 0) ? keys[a++] : keys[b++];
        }
        memcpy(keys, spare, count * sizeof *keys);
    }
}

/* Stable radix sort by start; digits that all keys share cost one look. The result is in `keys`. */
static void radix_sort(struct key *keys, struct key *spare, size_t count) {
    enum { BITS = 11, DIGITS = 1 << BITS };
    struct key *from = keys, *to = spare;
    for (unsigned shift = 0; shift < 64; shift += BITS) {
        size_t place[DIGITS] = { 0 };
        for (size_t i = 0; i < count; i++) place[from[i].start >> shift & (DIGITS - 1)]++;
        if (count && place[from[0].start >> shift & (DIGITS - 1)] == count) continue;
        size_t sum = 0;
        for (size_t d = 0; d < DIGITS; d++) {
            size_t n = place[d];
            place[d] = sum;
            sum += n;
        }
        for (size_t i = 0; i < count; i++) to[place[from[i].start >> shift & (DIGITS - 1)]++] = from[i];
        struct key *was = from;
        from = to;
        to = was;
    }
    if (from != keys && count) memcpy(keys, from, count * sizeof *keys);
}

static void sort_keys(const struct csni_model *m, struct key *keys, struct key *spare, size_t count) {
    radix_sort(keys, spare, count);
    for (size_t low = 0, high; low < count; low = high) {
        for (high = low + 1; high < count && keys[high].start == keys[low].start;) high++;
        if (high - low > 1) merge_sort(m, keys + low, spare + low, high - low);
    }
}

/* ---- equality ---- */

static bool same_string(const struct csni_batch *a, uint32_t x, const struct csni_batch *b, uint32_t y) {
    return csni_str_equal(a->strings[x], b->strings[y]);
}

static bool same_file(const struct csni_batch *a, uint32_t x, const struct csni_batch *b, uint32_t y) {
    return same_string(a, a->files[x].directory, b, b->files[y].directory) &&
           same_string(a, a->files[x].base, b, b->files[y].base);
}

static bool same_rows(const struct csni_batch *a, const struct csni_function *f, const struct csni_batch *b,
                      const struct csni_function *g) {
    if (f->row_count != g->row_count) return false;
    uint32_t file_x = 0, file_y = 0; /* known to be the same: the empty one */
    for (uint32_t i = 0; i < f->row_count; i++) {
        const struct csni_row *x = &a->rows[f->first_row + i], *y = &b->rows[g->first_row + i];
        if (x->off != y->off || x->line != y->line) return false;
        if (x->file == file_x && y->file == file_y) continue;
        if (!same_file(a, x->file, b, y->file)) return false;
        file_x = x->file;
        file_y = y->file;
    }
    return true;
}

static bool same_inlines(const struct csni_batch *a, const struct csni_function *f, const struct csni_batch *b,
                         const struct csni_function *g) {
    if (f->inline_count != g->inline_count) return false;
    for (uint32_t i = 0; i < f->inline_count; i++) {
        const struct csni_inline_node *x = &a->inlines[f->first_inline + i], *y = &b->inlines[g->first_inline + i];
        if (x->descendants != y->descendants || x->call_line != y->call_line || x->part_count != y->part_count ||
            !same_string(a, x->name, b, y->name) || !same_file(a, x->call_file, b, y->call_file) ||
            memcmp(&a->parts[x->first_part], &b->parts[y->first_part], x->part_count * sizeof *a->parts) != 0)
            return false;
    }
    return true;
}

static bool same_function(const struct csni_model *m, const struct key *ka, const struct key *kb) {
    const struct csni_batch *a = &m->batches[ka->batch], *b = &m->batches[kb->batch];
    const struct csni_function *f = function_of(m, ka), *g = function_of(m, kb);
    return same_string(a, f->name, b, g->name) && same_rows(a, f, b, g) && same_inlines(a, f, b, g);
}

/* ---- choosing ---- */

static void note(const struct csni_model *m, struct csn_convert_report *report, enum csn_event event,
                 const struct key *ka, const struct key *kb) {
    const struct csni_function *f = function_of(m, ka), *g = function_of(m, kb);
    struct csn_str a = m->batches[ka->batch].strings[f->name], b = m->batches[kb->batch].strings[g->name];
    char text[CSN_EXAMPLE_SIZE];
    int len = report->events[event].count ? 0
                                          : snprintf(text, sizeof text, "%.*s at 0x%llx+0x%x, %.*s at 0x%llx+0x%x",
                                                     (int)(a.len < 60 ? a.len : 60), a.ptr,
                                                     (unsigned long long)f->start, f->size,
                                                     (int)(b.len < 60 ? b.len : 60), b.ptr,
                                                     (unsigned long long)g->start, g->size);
    csni_report_add(report, event, 1, (struct csn_str){ text, len > 0 ? (size_t)len : 0 });
}

enum verdict { KEEP_BOTH, REPLACE, DROP };

/* What becomes of `current`, given `last`, the function kept before it. */
static enum verdict judge(const struct csni_model *m, const struct key *last, const struct key *current,
                          struct csn_convert_report *report) {
    const struct csni_function *p = function_of(m, last), *c = function_of(m, current);
    if (p->binary != c->binary) return KEEP_BOTH;
    if (p->start == c->start && p->size == c->size) {
        if (same_function(m, last, current)) {
            note(m, report, CSN_EVENT_DUPLICATE_DROPPED, current, last);
            return DROP;
        }
        if (m->keeps_aliases) return KEEP_BOTH;
        bool both = csni_function_is_rich(p) && csni_function_is_rich(c);
        note(m, report, both ? CSN_EVENT_DUPLICATE_REPLACED : CSN_EVENT_DUPLICATE_DROPPED, last, current);
        return REPLACE;
    }
    /* start <= start holds by order, so only the end of the earlier one decides. */
    if (p->start < c->start + c->size && c->start < p->start + p->size) {
        note(m, report, CSN_EVENT_OVERLAP, last, current);
        return KEEP_BOTH;
    }
    if (!p->size && p->start == c->start && c->size) {
        note(m, report, CSN_EVENT_DUPLICATE_DROPPED, last, current);
        return REPLACE;
    }
    return KEEP_BOTH;
}

static size_t choose(const struct csni_model *m, struct key *keys, size_t count, struct csn_convert_report *report) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        enum verdict v = kept ? judge(m, &keys[kept - 1], &keys[i], report) : KEEP_BOTH;
        if (v == KEEP_BOTH) keys[kept++] = keys[i];
        else if (v == REPLACE) keys[kept - 1] = keys[i];
    }
    return kept;
}

/* Brings the functions of each binary together, in the order that they have. */
static csn_status group_by_binary(const struct csni_model *m, struct key *keys, struct key *spare, size_t count,
                                  struct csn_error *err) {
    size_t groups = (size_t)m->binary_count + 2;
    size_t *place = csni_alloc_zeroed(m->alloc, groups, sizeof *place);
    if (!place) return csni_fail_memory(err, groups * sizeof *place);
    for (size_t i = 0; i < count; i++) place[function_of(m, &keys[i])->binary + 1]++;
    for (size_t g = 1; g < groups; g++) place[g] += place[g - 1];
    for (size_t i = 0; i < count; i++) spare[place[function_of(m, &keys[i])->binary]++] = keys[i];
    if (count) memcpy(keys, spare, count * sizeof *keys);
    csni_free(m->alloc, place, groups * sizeof *place);
    return CSN_OK;
}

csn_status csni_model_finalize(struct csni_model *m, struct csn_convert_report *report, struct csn_error *err) {
    size_t count = 0;
    for (uint32_t b = 0; b < m->batch_count; b++) count += m->batches[b].function_count;
    if (count > UINT32_MAX)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "%zu functions, an index holds at most %u", count, UINT32_MAX);
    struct key *keys = csni_alloc_zeroed(m->alloc, 2 * count, sizeof *keys);
    m->entries = csni_alloc_zeroed(m->alloc, count, sizeof *m->entries);
    m->entry_room = (uint32_t)count;
    if (count && (!keys || !m->entries)) {
        csni_free(m->alloc, keys, 2 * count * sizeof *keys);
        return csni_fail_memory(err, 2 * count * sizeof *keys);
    }
    size_t n = 0;
    for (uint32_t b = 0; b < m->batch_count; b++)
        for (uint32_t f = 0; f < m->batches[b].function_count; f++)
            keys[n++] = (struct key){ m->batches[b].functions[f].start, b, f };
    if (count) sort_keys(m, keys, keys + count, count);
    csn_status status = m->binary_count && count ? group_by_binary(m, keys, keys + count, count, err) : CSN_OK;
    if (status < 0) {
        csni_free(m->alloc, keys, 2 * count * sizeof *keys);
        return status;
    }
    m->entry_count = (uint32_t)choose(m, keys, count, report);
    for (uint32_t i = 0; i < m->entry_count; i++) {
        m->entries[i] = (struct csni_entry){ keys[i].batch, keys[i].function, 0, 0 };
        csni_model_function(m, &m->entries[i])->kept = true;
    }
    csni_free(m->alloc, keys, 2 * count * sizeof *keys);
    csni_model_size_functions(m);
    report->functions_written = m->entry_count;
    report->functions_pruned = count - m->entry_count;
    return CSN_OK;
}
