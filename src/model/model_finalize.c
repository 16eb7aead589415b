/* The order of functions, and which of several at one place stays. */
#include "base/fail.h"
#include "model/model_key.h"

#include <stdio.h>

static int compare_u64(uint64_t a, uint64_t b) { return a < b ? -1 : a > b; }

/* Orders by the offsets of all rows given, those superseded included. */
static int compare_rows(const struct csni_row *a, const struct csni_row *a_end, const struct csni_row *b,
                        const struct csni_row *b_end) {
    uint32_t left_a = 0, left_b = 0; /* rows still to come at the offset of a[-1], of b[-1] */
    for (;;) {
        if (!left_a && a < a_end) left_a = csni_row_superseded(*a++) + 1;
        if (!left_b && b < b_end) left_b = csni_row_superseded(*b++) + 1;
        if (!left_a || !left_b) return 0;
        if (a[-1].off != b[-1].off) return compare_u64(a[-1].off, b[-1].off);
        uint32_t both = left_a < left_b ? left_a : left_b;
        left_a -= both;
        left_b -= both;
    }
}

/* Functions of one start: by end, then by how much is known of them, least first, so that the best known comes last. */
static int compare(const struct csni_model *m, const struct csni_key *ka, const struct csni_key *kb) {
    const struct csni_function *a = csni_key_function(m, ka), *b = csni_key_function(m, kb);
    int by = compare_u64(a->size, b->size);
    if (!by) by = compare_u64(a->inline_count, b->inline_count);
    if (!by) by = compare_u64(a->given_rows, b->given_rows);
    if (by) return by;
    const struct csni_row *ra = m->batches[ka->batch].rows + a->first_row;
    const struct csni_row *rb = m->batches[kb->batch].rows + b->first_row;
    by = compare_rows(ra, ra + a->row_count, rb, rb + b->row_count);
    if (by) return by;
    /* Or a symbol that comes later would replace a function of which nothing but its call sites is known. */
    return compare_u64(a->site_count > 0, b->site_count > 0);
}

/* Stable merge sort of keys[0..count) with room for as many in `spare`. */
static void merge_sort(const struct csni_model *m, struct csni_key *keys, struct csni_key *spare, size_t count) {
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
static void radix_sort(struct csni_key *keys, struct csni_key *spare, size_t count) {
    enum { BITS = 11, DIGITS = 1 << BITS };
    struct csni_key *from = keys, *to = spare;
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
        struct csni_key *was = from;
        from = to;
        to = was;
    }
    if (from != keys && count) memcpy(keys, from, count * sizeof *keys);
}

static void sort_keys(const struct csni_model *m, struct csni_key *keys, struct csni_key *spare, size_t count) {
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
    uint32_t file_x = 0, file_y = 0; /* known to be the same: the empty one */
    for (uint32_t i = 0; i < f->row_count; i++) {
        const struct csni_row *x = &a->rows[f->first_row + i], *y = &b->rows[g->first_row + i];
        if (x->off != y->off || x->line != y->line || csni_row_superseded(*x) != csni_row_superseded(*y)) return false;
        if (csni_row_file(*x) == file_x && csni_row_file(*y) == file_y) continue;
        file_x = csni_row_file(*x);
        file_y = csni_row_file(*y);
        if (!same_file(a, file_x, b, file_y)) return false;
    }
    return true;
}

static bool same_inlines(const struct csni_batch *a, const struct csni_function *f, const struct csni_batch *b,
                         const struct csni_function *g) {
    for (uint32_t i = 0; i < f->inline_count; i++) {
        const struct csni_inline_node *x = &a->inlines[f->first_inline + i], *y = &b->inlines[g->first_inline + i];
        if (x->descendants != y->descendants || x->call_line != y->call_line || x->part_count != y->part_count ||
            !same_string(a, x->name, b, y->name) || !same_file(a, x->call_file, b, y->call_file) ||
            memcmp(&a->parts[x->first_part], &b->parts[y->first_part], x->part_count * sizeof *a->parts) != 0)
            return false;
    }
    return true;
}

bool csni_model_same_function(const struct csni_model *m, const struct csni_key *ka, const struct csni_key *kb) {
    const struct csni_batch *a = &m->batches[ka->batch], *b = &m->batches[kb->batch];
    const struct csni_function *f = csni_key_function(m, ka), *g = csni_key_function(m, kb);
    if (f->row_count != g->row_count || f->given_rows != g->given_rows || f->inline_count != g->inline_count) return false;
    return same_string(a, f->name, b, g->name) && same_rows(a, f, b, g) && same_inlines(a, f, b, g);
}

/* ---- choosing ---- */

void csni_model_note_pair(const struct csni_model *m, struct csn_convert_report *report, enum csn_event event,
                          const struct csni_key *ka, const struct csni_key *kb) {
    const struct csni_function *f = csni_key_function(m, ka), *g = csni_key_function(m, kb);
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

enum csni_verdict csni_model_judge(const struct csni_model *m, const struct csni_key *last,
                                   const struct csni_key *current, struct csn_convert_report *report) {
    const struct csni_function *p = csni_key_function(m, last), *c = csni_key_function(m, current);
    if (p->binary != c->binary) return CSNI_KEEP_BOTH;
    if (p->start == c->start && p->size == c->size) {
        if (csni_model_same_function(m, last, current)) {
            csni_model_note_pair(m, report, CSN_EVENT_DUPLICATE_DROPPED, current, last);
            return CSNI_DROP;
        }
        if (m->keeps_aliases) return CSNI_KEEP_BOTH;
        bool both = csni_function_is_rich(p) && csni_function_is_rich(c);
        csni_model_note_pair(m, report, both ? CSN_EVENT_DUPLICATE_REPLACED : CSN_EVENT_DUPLICATE_DROPPED, last, current);
        return CSNI_REPLACE;
    }
    /* start <= start holds by order, so only the end of the earlier one decides. */
    if (p->start < c->start + c->size && c->start < p->start + p->size) {
        csni_model_note_pair(m, report, CSN_EVENT_OVERLAP, last, current);
        return CSNI_KEEP_BOTH;
    }
    if (!p->size && p->start == c->start && c->size) {
        csni_model_note_pair(m, report, CSN_EVENT_DUPLICATE_DROPPED, last, current);
        return CSNI_REPLACE;
    }
    return CSNI_KEEP_BOTH;
}

static size_t choose(const struct csni_model *m, struct csni_key *keys, size_t count, struct csn_convert_report *report) {
    size_t kept = 0;
    for (size_t i = 0; i < count; i++) {
        enum csni_verdict v = kept ? csni_model_judge(m, &keys[kept - 1], &keys[i], report) : CSNI_KEEP_BOTH;
        if (v == CSNI_KEEP_BOTH) keys[kept++] = keys[i];
        else if (v == CSNI_REPLACE) keys[kept - 1] = keys[i];
    }
    return kept;
}

/* ---- exact models ---- */

/* Functions that are not merged into others become entries, in order of their starts and of the batch. */
static void take_entries(struct csni_model *m, struct csni_key *keys, struct csni_key *spare) {
    size_t count = 0;
    const struct csni_batch *b = m->batches;
    for (uint32_t f = 0; f < b->function_count; f += 1 + b->functions[f].merged_count)
        keys[count++] = (struct csni_key){ b->functions[f].start, 0, f };
    radix_sort(keys, spare, count);
    uint32_t child = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t first = keys[i].function, merged = b->functions[first].merged_count;
        m->entries[m->entry_count++] = (struct csni_entry){ 0, first, child, merged };
        for (uint32_t k = 1; k <= merged; k++) m->children[child++] = (struct csni_entry){ 0, first + k, 0, 0 };
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
    m->entry_room = count;
    m->entries = csni_alloc_zeroed(m->alloc, count, sizeof *m->entries);
    m->child_room = m->child_count;
    if (m->child_count) m->children = csni_alloc_zeroed(m->alloc, m->child_count, sizeof *m->children);
    bool ok = keys && m->entries && (m->children || !m->child_count);
    if (ok) take_entries(m, keys, keys + count);
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
    size_t groups = (size_t)m->binary_count + 2;
    size_t *place = csni_alloc_zeroed(m->alloc, groups, sizeof *place);
    if (!place) return csni_fail_memory(err, groups * sizeof *place);
    for (size_t i = 0; i < count; i++) place[csni_key_function(m, &keys[i])->binary + 1]++;
    for (size_t g = 1; g < groups; g++) place[g] += place[g - 1];
    for (size_t i = 0; i < count; i++) spare[place[csni_key_function(m, &keys[i])->binary]++] = keys[i];
    if (count) memcpy(keys, spare, count * sizeof *keys);
    csni_free(m->alloc, place, groups * sizeof *place);
    return CSN_OK;
}

csn_status csni_model_finalize(struct csni_model *m, struct csn_convert_report *report, struct csn_error *err) {
    if (m->exact) return finalize_exact(m, report, err);
    size_t count = 0;
    for (uint32_t b = 0; b < m->batch_count; b++) count += m->batches[b].function_count;
    if (count > UINT32_MAX)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "%zu functions, an index holds at most %u", count, UINT32_MAX);
    struct csni_key *keys = csni_alloc_present(m->alloc, 2 * count, sizeof *keys);
    m->entries = csni_alloc_present(m->alloc, count, sizeof *m->entries);
    m->entry_room = (uint32_t)count;
    if (count && (!keys || !m->entries)) {
        csni_free(m->alloc, keys, 2 * count * sizeof *keys);
        return csni_fail_memory(err, 2 * count * sizeof *keys);
    }
    size_t n = 0;
    for (uint32_t b = 0; b < m->batch_count; b++)
        for (uint32_t f = 0; f < m->batches[b].function_count; f++)
            keys[n++] = (struct csni_key){ m->batches[b].functions[f].start, b, f };
    if (count) sort_keys(m, keys, keys + count, count);
    csn_status status = m->binary_count && count ? group_by_binary(m, keys, keys + count, count, err) : CSN_OK;
    if (status >= 0 && m->merge != CSN_MERGE_NONE && !m->binary_count) {
        status = csni_model_merge(m, keys, count, report, err);
    } else if (status >= 0) {
        m->entry_count = (uint32_t)choose(m, keys, count, report);
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
