/* What is inlined in a call is within the call: code that only the inner one names is of all around it, as
 * llvm-symbolizer and addr2line have it. GCC's strict DWARF 2 names the first range of each call, BOLT one range of
 * calls that it does not understand. */
#include "convert/dwarf/unit_inline_ranges.h"

#include "base/core/fail.h"
#include "base/core/sort.h"

typedef unsigned long long ull;

/* ---- while walking ---- */

/* Whether r and one of the ranges, which are ascending, have an address in common. */
static bool ranges_meet(const struct csni_address_range *ranges, uint32_t count, struct csni_address_range r) {
    size_t at = csni_upper_bound(ranges, count, high, r.low);
    return at < count && ranges[at].low < r.high;
}

static const struct csni_address_range *function_ranges(const struct csni_unit_job *job, const struct csni_open_function *f) {
    return job->ranges.items + f->first_range;
}

/* Code of none of the function's ranges may be of a part that only a symbol tells of. */
static bool is_stray(const struct csni_unit_job *job, const struct csni_open_function *f, struct csni_address_range r) {
    return !ranges_meet(function_ranges(job, f), f->range_count, r);
}

void csni_unit_note_outer_range(struct csni_unit_job *job, const struct csni_die *die, struct csni_address_range r) {
    struct csni_open_function *f = csni_unit_enclosing_function(job);
    f->ranges_nest = false;
    if (csni_ranges_contain(function_ranges(job, f), f->range_count, r)) return;
    bool is_outside = is_stray(job, f, r);
    if (is_outside && !job->map) f->has_strays = true; /* where the linker put code that no function has is not known */
    else csni_batch_note(job->writer, is_outside ? CSN_EVENT_INLINE_OUTSIDE_PARENT : CSN_EVENT_INLINE_CLIPPED,
                         "DIE 0x%llx, [0x%llx, 0x%llx)", (ull)die->off, (ull)r.low, (ull)r.high);
}

/* ---- when a function is complete ---- */

/* A range of call `index` is one of each call around it, too. */
static csn_status gather_range(struct csni_unit_job *job, uint32_t index, struct csni_address_range r) {
    CSNI_TRY(csni_unit_charge(job, job->inlined.items[index].depth));
    for (uint32_t call = index; call != CSNI_NO_PARENT; call = job->inlined.items[call].parent)
        if (!csni_vec_push(&job->inline_ranges, ((struct csni_inline_range){ r.low, r.high, call }))) return CSN_E_MEMORY;
    return CSN_OK;
}

/* What all calls have of [start, end). */
static csn_status gather_within(struct csni_unit_job *job, struct csni_open_function *f, uint64_t start, uint64_t end) {
    job->inline_ranges.count = 0;
    for (uint32_t i = f->first_inlined; i < job->inlined.count; i++) {
        const struct csni_inlined *inlined = &job->inlined.items[i];
        for (uint32_t k = 0; k < inlined->range_count; k++) {
            struct csni_address_range r = job->ranges.items[inlined->first_range + k];
            if (r.low < start || r.high > end) f->inlined_elsewhere = true;
            if (r.low < start) r.low = start;
            if (r.high > end) r.high = end;
            if (r.low < r.high) CSNI_TRY(gather_range(job, i, r));
        }
    }
    return CSN_OK;
}

static csn_status gather_strays(struct csni_unit_job *job, const struct csni_open_function *f) {
    job->inline_ranges.count = 0;
    for (uint32_t i = f->first_inlined; i < job->inlined.count; i++) {
        const struct csni_inlined *inlined = &job->inlined.items[i];
        for (uint32_t k = 0; k < inlined->range_count; k++) {
            struct csni_address_range r = job->ranges.items[inlined->first_range + k];
            if (is_stray(job, f, r)) CSNI_TRY(gather_range(job, i, r));
        }
    }
    return CSN_OK;
}

static bool comes_before(const void *context, const void *a, const void *b) {
    const struct csni_inline_range *x = a, *y = b;
    (void)context;
    if (x->call != y->call) return x->call < y->call;
    return x->low != y->low ? x->low < y->low : x->high < y->high;
}

/* Calls in document order; the ranges of each ascend and are apart. */
static void order_ranges(struct csni_unit_job *job) {
    struct csni_inline_range *items = job->inline_ranges.items;
    size_t count = job->inline_ranges.count, kept = 0;
    if (!csni_is_sorted(items, count, sizeof *items, comes_before, NULL))
        csni_heap_sort(items, count, sizeof *items, comes_before, NULL);
    for (size_t i = 0; i < count; i++) {
        struct csni_inline_range *last = kept ? &items[kept - 1] : NULL;
        if (!last || last->call != items[i].call || last->high < items[i].low) items[kept++] = items[i];
        else if (last->high < items[i].high) last->high = items[i].high;
    }
    job->inline_ranges.count = kept;
}

/* Closes nodes of the batch until the one of call `parent` is the innermost open one. */
static void close_nodes_until(struct csni_unit_job *job, uint32_t parent) {
    while (job->unclosed.count) {
        uint32_t *top = job->unclosed.items + job->unclosed.count - 2;
        if (top[0] == parent) return;
        csni_batch_end_inline(job->writer, top[1]);
        job->unclosed.count -= 2;
    }
}

static bool write_nodes(struct csni_unit_job *job, uint64_t start) {
    const struct csni_inline_range *ranges = job->inline_ranges.items;
    job->unclosed.count = 0;
    for (size_t i = 0; i < job->inline_ranges.count; i++) {
        const struct csni_inlined *inlined = &job->inlined.items[ranges[i].call];
        if (!i || ranges[i].call != ranges[i - 1].call) {
            close_nodes_until(job, inlined->parent);
            uint32_t node = csni_batch_begin_inline(job->writer, inlined->name, inlined->call_file, inlined->call_line);
            if (!csni_vec_push(&job->unclosed, ranges[i].call) || !csni_vec_push(&job->unclosed, node)) return false;
        }
        csni_batch_add_part(job->writer, (uint32_t)(ranges[i].low - start), (uint32_t)(ranges[i].high - start));
    }
    close_nodes_until(job, CSNI_NO_PARENT);
    return true;
}

csn_status csni_unit_add_any_inlines(struct csni_unit_job *job, struct csni_open_function *f, uint64_t start,
                                     uint64_t end, size_t *kept) {
    CSNI_TRY(gather_within(job, f, start, end));
    order_ranges(job);
    *kept = job->inline_ranges.count;
    return write_nodes(job, start) ? CSN_OK : CSN_E_MEMORY;
}

csn_status csni_unit_add_strays(struct csni_unit_job *job, struct csni_open_function *f) {
    uint64_t low = UINT64_MAX, high = 0;
    CSNI_TRY(gather_strays(job, f));
    for (size_t i = 0; i < job->inline_ranges.count; i++) {
        if (job->inline_ranges.items[i].low < low) low = job->inline_ranges.items[i].low;
        if (job->inline_ranges.items[i].high > high) high = job->inline_ranges.items[i].high;
    }
    if (high - low > UINT32_MAX) {
        csni_batch_note(job->writer, CSN_EVENT_INLINE_OUTSIDE_PARENT, "function DIE 0x%llx, [0x%llx, 0x%llx)",
                        (ull)f->die_off, (ull)low, (ull)high);
        return CSN_OK;
    }
    order_ranges(job);
    csni_batch_begin_function(job->writer, low, (uint32_t)(high - low), 0, CSNI_SOURCE_DWARF);
    if (!write_nodes(job, low)) return CSN_E_MEMORY;
    csni_batch_mark_stray(job->writer);
    return CSN_OK;
}
