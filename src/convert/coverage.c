/* How many bytes of code the input has a name, a line and inlined calls for. */
#include "convert/coverage.h"

#include "base/core/fail.h"
#include "base/core/ranges.h"

csn_status csni_coverage_create(struct csni_conversion *c, struct csn_error *err) {
    if (!(c->options.flags & CSN_CONVERT_COVERAGE)) return CSN_OK;
    c->coverage = csni_alloc_zeroed(c->alloc, c->workers, sizeof *c->coverage);
    if (!c->coverage) return csni_fail_memory(err, c->workers * sizeof *c->coverage);
    for (uint32_t i = 0; i < c->workers; i++) c->coverage[i].lines.alloc = c->coverage[i].inlined.alloc = c->alloc;
    return CSN_OK;
}

void csni_coverage_destroy(struct csni_conversion *c) {
    for (uint32_t i = 0; c->coverage && i < c->workers; i++) {
        csni_vec_deinit(&c->coverage[i].lines);
        csni_vec_deinit(&c->coverage[i].inlined);
    }
    csni_free(c->alloc, c->coverage, c->workers * sizeof *c->coverage);
    c->coverage = NULL;
}

bool csni_coverage_add(csni_address_ranges *ranges, uint64_t low, uint64_t high) {
    struct csni_address_range *last = ranges->count ? &ranges->items[ranges->count - 1] : NULL;
    if (low >= high) return true;
    if (last && last->high == low) {
        last->high = high;
        return true;
    }
    return csni_vec_push(ranges, ((struct csni_address_range){ low, high }));
}

void csni_coverage_join(csni_address_ranges *ranges, size_t first) {
    ranges->count = first + csni_join_ranges(ranges->items + first, ranges->count - first, low, high);
}

/* ---- functions of the model ---- */

static uint64_t function_end(const struct csni_function *f) {
    return f->start + f->size >= f->start ? f->start + f->size : UINT64_MAX;
}

/* Sources other than DWARF and symbol tables: what the functions themselves have. */
static bool add_own_lines(const struct csni_batch *b, const struct csni_function *f, csni_address_ranges *out) {
    for (uint32_t i = 0; i < f->row_count; i++) {
        const struct csni_row *row = &b->rows[f->first_row + i];
        uint64_t high = i + 1 < f->row_count ? f->start + row[1].off : function_end(f);
        if (row->line && csni_row_file(*row) && !csni_coverage_add(out, f->start + row->off, high)) return false;
    }
    return true;
}

static bool add_own_inlines(const struct csni_batch *b, const struct csni_function *f, csni_address_ranges *out) {
    for (uint32_t i = 0; i < f->inline_count; i += 1 + b->inlines[f->first_inline + i].descendants) {
        const struct csni_inline_node *node = &b->inlines[f->first_inline + i];
        for (uint32_t k = 0; k < node->part_count; k++) {
            const struct csni_part *part = &b->parts[node->first_part + k];
            if (!csni_coverage_add(out, f->start + part->start, f->start + part->end)) return false;
        }
    }
    return true;
}

/* All ranges of the input, gathered from batches and workers. */
struct sums {
    csni_address_ranges named, functions, lines, inlined;
    csni_address_ranges copies;    /* inlined calls of descriptions that gave way to another one of the same function */
    csni_address_ranges described; /* inlined calls of all other functions */
};

/* Whether a description of the same function stays, which has inlined calls, too. What this one has besides is of code that the
 * linker dropped (model_order.c). */
static bool gave_way(const struct csni_model *m, const struct csni_batch *b, const struct csni_function *f) {
    if (f->kept || f->source != CSNI_SOURCE_DWARF || m->image.binary_count) return false;
    size_t low = 0, high = m->entry_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (csni_model_function(m, &m->entries[middle])->start < f->start) low = middle + 1;
        else high = middle;
    }
    for (; low < m->entry_count; low++) {
        const struct csni_function *k = csni_model_function(m, &m->entries[low]);
        if (k->start != f->start) break;
        if (k->size == f->size && k->inline_count &&
            csni_str_equal(m->batches[m->entries[low].batch].strings[k->name], b->strings[f->name]))
            return true;
    }
    return false;
}

static bool add_function(struct sums *s, const struct csni_model *m, const struct csni_batch *b, const struct csni_function *f) {
    bool tells_itself = f->source != CSNI_SOURCE_DWARF && f->source != CSNI_SOURCE_SYMBOL && f->source != CSNI_SOURCE_FOLDED;
    uint64_t end = function_end(f);
    if (b->strings[f->name].len && !csni_coverage_add(&s->named, f->start, end)) return false;
    if (!csni_coverage_add(&s->functions, f->start, end)) return false;
    if (f->inline_count && !add_own_inlines(b, f, gave_way(m, b, f) ? &s->copies : &s->described)) return false;
    return !tells_itself || (add_own_lines(b, f, &s->lines) && add_own_inlines(b, f, &s->inlined));
}

/* Those that are dropped as duplicates, too. */
static bool add_functions(struct sums *s, const struct csni_model *m) {
    for (uint32_t b = 0; b < m->batch_count; b++)
        for (uint32_t i = 0; i < m->batches[b].function_count; i++)
            if (!add_function(s, m, &m->batches[b], &m->batches[b].functions[i])) return false;
    return true;
}

static bool add_worker_ranges(struct sums *s, const struct csni_coverage *of) {
    for (size_t i = 0; i < of->lines.count; i++)
        if (!csni_vec_push(&s->lines, of->lines.items[i])) return false;
    for (size_t i = 0; i < of->inlined.count; i++)
        if (!csni_vec_push(&s->inlined, of->inlined.items[i])) return false;
    return true;
}

/* ---- sums ---- */

/* Leaves of `a` what is in `b` as well; both are joined. False: out of memory. */
static bool intersect(csni_address_ranges *a, const csni_address_ranges *b) {
    csni_address_ranges out = { .alloc = a->alloc };
    bool ok = true;
    for (size_t i = 0, k = 0; ok && i < a->count && k < b->count;) {
        uint64_t low = a->items[i].low > b->items[k].low ? a->items[i].low : b->items[k].low;
        bool a_first = a->items[i].high < b->items[k].high;
        uint64_t high = a_first ? a->items[i].high : b->items[k].high;
        if (low < high) ok = csni_vec_push(&out, ((struct csni_address_range){ low, high }));
        if (a_first) i++;
        else k++;
    }
    csni_vec_deinit(a);
    *a = out;
    return ok;
}

/* Takes from `a` what is in `b`; both are joined. False: out of memory. */
static bool subtract(csni_address_ranges *a, const csni_address_ranges *b) {
    csni_address_ranges out = { .alloc = a->alloc };
    bool ok = true;
    size_t k = 0;
    for (size_t i = 0; ok && i < a->count; i++) {
        uint64_t low = a->items[i].low, high = a->items[i].high;
        while (k < b->count && b->items[k].high <= low) k++;
        for (size_t j = k; ok && low < high; j++) {
            bool meets = j < b->count && b->items[j].low < high;
            ok = csni_coverage_add(&out, low, meets ? b->items[j].low : high);
            low = meets ? b->items[j].high : high;
        }
    }
    csni_vec_deinit(a);
    *a = out;
    return ok;
}

static uint64_t bytes_of(const csni_address_ranges *r) {
    uint64_t sum = 0;
    for (size_t i = 0; i < r->count; i++) sum += r->items[i].high - r->items[i].low;
    return sum;
}

/* Executable sections; where none are known, what functions cover. */
static bool code_ranges(const struct csni_conversion *c, const struct sums *s, csni_address_ranges *out) {
    for (size_t i = 0; i < c->image.text.count; i++)
        if (!csni_vec_push(out, ((struct csni_address_range){ c->image.text.items[i].start, c->image.text.items[i].end })))
            return false;
    for (size_t i = 0; !c->image.text.count && i < s->functions.count; i++)
        if (!csni_vec_push(out, s->functions.items[i])) return false;
    return true;
}

static bool sum_up(struct csni_conversion *c, const struct csni_model *m, struct sums *s, csni_address_ranges *code) {
    bool ok = add_functions(s, m);
    for (uint32_t i = 0; ok && i < c->workers; i++) ok = add_worker_ranges(s, &c->coverage[i]);
    csni_coverage_join(&s->named, 0);
    csni_coverage_join(&s->functions, 0);
    csni_coverage_join(&s->lines, 0);
    csni_coverage_join(&s->inlined, 0);
    csni_coverage_join(&s->copies, 0);
    csni_coverage_join(&s->described, 0);
    /* Behind a function, what the end of its last row covers is padding. */
    ok = ok && code_ranges(c, s, code) && intersect(&s->named, code) && intersect(&s->functions, code) &&
         intersect(&s->lines, &s->functions) && intersect(&s->inlined, code) && subtract(&s->copies, &s->described) &&
         subtract(&s->inlined, &s->copies);
    if (!ok) return false;
    c->report->coverage_code = bytes_of(code);
    c->report->coverage_name = bytes_of(&s->named);
    c->report->coverage_line = bytes_of(&s->lines);
    c->report->coverage_inlined = bytes_of(&s->inlined);
    return true;
}

csn_status csni_coverage_report(struct csni_conversion *c, const struct csni_model *model, struct csn_error *err) {
    if (!c->coverage) return CSN_OK;
    struct sums s = { .named.alloc = c->alloc, .functions.alloc = c->alloc, .lines.alloc = c->alloc, .inlined.alloc = c->alloc,
                      .copies.alloc = c->alloc, .described.alloc = c->alloc };
    csni_address_ranges code = { .alloc = c->alloc };
    bool ok = sum_up(c, model, &s, &code);
    csni_vec_deinit(&s.named);
    csni_vec_deinit(&s.functions);
    csni_vec_deinit(&s.lines);
    csni_vec_deinit(&s.inlined);
    csni_vec_deinit(&s.copies);
    csni_vec_deinit(&s.described);
    csni_vec_deinit(&code);
    return ok ? CSN_OK : csni_fail_memory(err, 0);
}
