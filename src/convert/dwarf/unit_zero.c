/* What of a unit is at address 0, where linkers also leave what they removed. */
#include "convert/dwarf/unit_zero.h"

#include "base/core/fail.h"
#include "base/core/sort.h"

static bool is_asked(const struct csni_unit_job *job) { return job->conversion->zero.is_shared && !job->map; }

static uint64_t highest_address(const struct csni_unit_job *job) {
    return job->unit->address_size == 8 ? UINT64_MAX : job->unit->address_size == 4 ? UINT32_MAX : UINT16_MAX;
}

/* ---- functions ---- */

csn_status csni_unit_mark_removed(struct csni_unit_job *job, const struct csni_die *die, uint32_t first) {
    if (!is_asked(job)) return CSN_OK;
    uint64_t highest = highest_address(job);
    struct csn_str name = { NULL, 0 };
    bool has_name = false;
    for (size_t i = first; i < job->ranges.count; i++) {
        struct csni_address_range *r = &job->ranges.items[i];
        if (r->low || !r->high) continue;
        if (!has_name) {
            csn_status status = csni_scopes_name(job->scopes, job->unit, die, job->arena, &name, NULL);
            if (status == CSN_E_MEMORY) return status;
            if (status != CSN_OK) name = (struct csn_str){ NULL, 0 };
            has_name = true;
            CSNI_TRY(csni_unit_charge(job, csni_scopes_take_cost(job->scopes)));
        }
        CSNI_TRY(csni_unit_charge(job, 1 + name.len / 16));
        if (csni_zero_code_has(&job->conversion->zero, name, r->high)) continue;
        r->low = highest;
        r->high += highest;
    }
    return CSN_OK;
}

/* ---- line sequences ---- */

/* What a unit's functions tell of address 0. */
struct told {
    uint64_t end;        /* of the functions that are the code there; 0: none of its */
    size_t first, count; /* in job->ranges: those that were removed, counted from 0 */
};

static csn_status look_at_function(struct csni_unit_job *job, const struct csni_die *die, struct told *told) {
    uint32_t first = (uint32_t)job->ranges.count;
    uint64_t highest = highest_address(job);
    csn_status status = csni_die_ranges(job->dwarf, die, &job->ranges, NULL);
    if (status == CSN_OK) status = csni_unit_charge(job, 1 + job->ranges.count - first);
    if (status == CSN_OK) status = csni_unit_mark_removed(job, die, first);
    for (size_t i = first; i < job->ranges.count && status == CSN_OK; i++) {
        struct csni_address_range r = job->ranges.items[i];
        if (r.low <= 1 && r.high > told->end) told->end = r.high; /* 1: of Thumb */
        if (r.low == highest) job->ranges.items[told->first + told->count++] = (struct csni_address_range){ 0, r.high - highest };
    }
    job->ranges.count = told->first + told->count;
    return status == CSN_E_MEMORY || status == CSN_E_LIMIT ? status : CSN_OK;
}

static csn_status ask_functions(struct csni_unit_job *job, struct told *told) {
    struct csni_die_walk walk;
    struct csni_die die;
    if (!job->unit->abbrevs) return CSN_OK; /* of a line table that no unit names */
    csn_status status = csni_die_walk_init(&walk, job->dwarf, job->unit, NULL);
    walk.options.skip_call_sites = true;
    while (status == CSN_OK) {
        status = csni_die_walk_next(&walk, &die, NULL);
        if (status == CSN_OK && die.tag == DW_TAG_subprogram) status = look_at_function(job, &die, told);
    }
    return status == CSN_E_MEMORY || status == CSN_E_LIMIT ? status : CSN_OK;
}

static bool ends_before(const void *context, const void *a, const void *b) {
    (void)context;
    return ((const struct csni_address_range *)a)->high < ((const struct csni_address_range *)b)->high;
}

/* A linker leaves a symbol where it leaves code. */
static bool symbol_fits(const struct csni_zero_code *zero, uint64_t end, bool exactly) {
    for (uint32_t i = 0; i < zero->count; i++)
        if (exactly ? zero->symbols[i].size == end : zero->symbols[i].size < end) return true;
    return false;
}

/* Where the sequence at 0 ends that is the code there; 0: none is. Removed functions each have the shortest sequence that has room
 * for them. What is left is code if a function of the unit tells so; or else, as not all functions have DIEs, if a symbol has its
 * size, or may have it where nothing else is left. */
static uint64_t choose_end(const struct csni_unit_job *job, const struct told *told) {
    const struct csni_zero_code *zero = &job->conversion->zero;
    const struct csni_address_range *removed = told->count ? job->ranges.items + told->first : NULL;
    uint64_t last_removed = 0, left = 0, exact = 0, live = 0, any_live = 0;
    size_t next = 0, left_count = 0;
    for (size_t i = 0; i < job->lines.sequences.count; i++) {
        const struct csni_line_sequence *s = &job->lines.sequences.items[i]; /* they ascend by their ends */
        if (s->low) continue;
        for (; next < told->count && removed[next].high <= s->high; next++) last_removed = s->high;
        bool has_room = told->end && s->high >= told->end;
        if (has_room && !any_live) any_live = s->high;
        if (s->high == last_removed) continue;
        if (has_room && !live) live = s->high;
        if (!exact && symbol_fits(zero, s->high, true)) exact = s->high;
        left = s->high;
        left_count++;
    }
    if (told->end) return live ? live : any_live;
    return exact ? exact : left_count == 1 && symbol_fits(zero, left, false) ? left : 0;
}

static csn_status find_end(struct csni_unit_job *job, uint64_t *end) {
    struct told told = { .first = job->ranges.count };
    csn_status status = ask_functions(job, &told);
    if (status >= 0) {
        if (told.count) csni_heap_sort(job->ranges.items + told.first, told.count, sizeof *job->ranges.items, ends_before, NULL);
        *end = choose_end(job, &told);
    }
    job->ranges.count = told.first;
    return status;
}

csn_status csni_unit_drop_removed_lines(struct csni_unit_job *job) {
    struct csni_line_table *t = &job->lines;
    size_t count = 0, kept = 0;
    uint64_t end = 0;
    if (!is_asked(job)) return CSN_OK;
    for (size_t i = 0; i < t->sequences.count; i++) count += !t->sequences.items[i].low;
    if (!count) return CSN_OK;
    CSNI_TRY(csni_unit_charge(job, t->sequences.count));
    if (job->conversion->zero.count) CSNI_TRY(find_end(job, &end));
    for (size_t i = 0; i < t->sequences.count; i++)
        if (t->sequences.items[i].low || t->sequences.items[i].high == end) t->sequences.items[kept++] = t->sequences.items[i];
    t->sequences.count = kept;
    return CSN_OK;
}
