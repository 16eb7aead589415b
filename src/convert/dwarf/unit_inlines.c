/* Inlined calls of one unit's functions. */
#include "base/core/fail.h"
#include "base/core/search.h"
#include "convert/dwarf/unit_coverage.h"
#include "convert/dwarf/unit_files.h"
#include "convert/dwarf/unit_inlines.h"
#include "convert/dwarf/unit_names.h"

/* Whether none is empty, and each begins after the end of the one before. */
static inline bool stand_apart(const struct csni_address_range *r, size_t count) {
    bool apart = !count || r[0].low < r[0].high;
    for (size_t i = 1; i < count; i++) apart &= (r[i].low < r[i].high) & (r[i - 1].high < r[i].low);
    return apart;
}

/* ---- while walking ---- */

/* Whether [low, high) lies within one of the ranges, at least one, which are ascending. */
static inline bool ranges_contain(const struct csni_address_range *ranges, uint32_t count,
                                  struct csni_address_range r) {
    /* The last one that begins at or below r.low, if any does. */
    const struct csni_address_range *at = ranges + csni_upper_bound(ranges + 1, count - 1, low, r.low);
    return at->low <= r.low && r.high <= at->high;
}

/* Whether [low, high) and one of the ranges, which are ascending, have an address in common. */
static bool ranges_meet(const struct csni_address_range *ranges, uint32_t count, struct csni_address_range r) {
    size_t at = csni_upper_bound(ranges, count, high, r.low);
    return at < count && ranges[at].low < r.high;
}

static CSNI_COLD void note_outside_parent(struct csni_unit_job *job, const struct csni_die *die, struct csni_address_range r,
                                          bool meets) {
    csni_unit_enclosing_function(job)->ranges_nest = false;
    csni_batch_note(job->writer, meets ? CSN_EVENT_INLINE_CLIPPED : CSN_EVENT_INLINE_OUTSIDE_PARENT, "DIE 0x%llx, [0x%llx, 0x%llx)",
                    (unsigned long long)die->off, (unsigned long long)r.low, (unsigned long long)r.high);
}

/* Notes ranges that the parent (NULL: the function) does not have, or in part; the writer of each function leaves out the rest. */
static void check_within_parent(struct csni_unit_job *job, const struct csni_die *die, const struct csni_inlined *parent,
                                uint32_t first) {
    const struct csni_open_function *f = csni_unit_enclosing_function(job);
    const struct csni_address_range *ranges = job->ranges.items;
    const struct csni_address_range *around = ranges + (parent ? parent->first_range : f->first_range);
    uint32_t count = parent ? parent->range_count : f->range_count;
    for (size_t i = first; i < job->ranges.count; i++)
        if (!ranges_contain(around, count, ranges[i]))
            note_outside_parent(job, die, ranges[i], ranges_meet(around, count, ranges[i]));
}

static CSNI_COLD void note_bad_call_file(struct csni_unit_job *job, const struct csni_die *die, uint64_t file) {
    csni_batch_note(job->writer, CSN_EVENT_INLINE_BAD_FILE, "DIE 0x%llx names file %llu of %zu", (unsigned long long)die->off,
                    (unsigned long long)file, job->lines.files.count);
}

/* Reads where an inlined call comes from. The file may be unknown: some producers write none (gcc -gdwarf-2 -gstrict-dwarf,
 * Zig's own backend), or no line table. */
static csn_status read_call(struct csni_unit_job *job, const struct csni_die *die, struct csni_inlined *out) {
    uint64_t file = 0, line = 0;
    out->call_file = 0;
    csn_status status = csni_attr_unsigned(die, CSNI_AT_CALL_FILE, &file);
    if (status == CSN_OK && job->has_lines) {
        status = csni_unit_file(job, file, &out->call_file);
        bool names_none = file == 0 && job->lines.version < 5; /* DWARF 4, 2.14 */
        if (status == CSN_NONE && !names_none) note_bad_call_file(job, die, file);
    }
    if (status < 0) return status;
    (void)csni_attr_unsigned(die, CSNI_AT_CALL_LINE, &line);
    out->call_line = (uint32_t)line;
    return CSN_OK;
}

/* What job->open has on top is around it. CSN_NONE: the call has no place in any function and is left out with all below it. */
static inline csn_status read_inlined(struct csni_unit_job *job, const struct csni_die *die, struct csni_inlined *out) {
    const struct csni_open_die *around = &job->open.items[job->open.count - 1];
    const struct csni_inlined *parent = around->is_function ? NULL : &job->inlined.items[around->index];
    out->parent = parent ? around->index : CSNI_NO_PARENT;
    out->depth = parent ? parent->depth + 1 : 1;
    if (out->depth >= CSN_INLINE_DEPTH_MAX) {
        csni_batch_note(job->writer, CSN_EVENT_INLINE_TOO_DEEP, "DIE 0x%llx", (unsigned long long)die->off);
        return CSN_NONE;
    }
    out->first_range = (uint32_t)job->ranges.count;
    csn_status status = csni_die_ranges(job->dwarf, die, &job->ranges, NULL);
    if (status == CSN_E_MEMORY) return status;
    if (status < 0) csni_unit_note_damaged_ranges(job, die, out->first_range);
    CSNI_TRY(csni_unit_charge(job, job->ranges.count - out->first_range));
    if (!stand_apart(job->ranges.items + out->first_range, job->ranges.count - out->first_range))
        csni_unit_join_ranges(job, out->first_range);
    out->range_count = (uint32_t)job->ranges.count - out->first_range;
    if (!out->range_count) {
        csni_unit_enclosing_function(job)->inlined_elsewhere = true; /* moved or optimised away: no fault of the producer */
        return CSN_NONE;
    }
    CSNI_TRY(csni_unit_cover_inlined(job, out->first_range));
    check_within_parent(job, die, parent, out->first_range);
    status = read_call(job, die, out);
    if (status != CSN_OK) return status;
    return csni_unit_inlined_name(job, die, &out->name);
}

csn_status csni_unit_open_inlined(struct csni_unit_job *job, const struct csni_die *die) {
    if (!job->open.count || job->open.items[job->open.count - 1].ignored) return CSN_OK; /* as what encloses it */
    size_t index = job->inlined.count;
    if (!csni_vec_reserve(&job->inlined, index + 1)) return CSN_E_MEMORY;
    csn_status status = read_inlined(job, die, &job->inlined.items[index]);
    if (status < 0) return status;
    struct csni_open_die open = { .depth = die->depth, .index = (uint32_t)index, .ignored = status == CSN_NONE };
    job->inlined.count += status == CSN_OK;
    return csni_vec_push(&job->open, open) ? CSN_OK : CSN_E_MEMORY;
}

/* ---- when a function is complete ---- */

/* The first of parts [low, high) of `kept`, which ascend, that ends after `start`. */
static uint32_t first_reaching(const struct csni_unit_job *job, uint32_t low, uint32_t high, uint32_t start) {
    return (uint32_t)csni_search_field(CSNI_SEARCH_FIELD(job->kept.items, end), low, high, true, start);
}

/* Keeps what `part` has in common with the parts [parent->start, parent->end) of `kept`, and moves on to the last of these that
 * it met. */
static bool keep_common(struct csni_unit_job *job, struct csni_part *parent, struct csni_part part) {
    parent->start = first_reaching(job, parent->start, parent->end, part.start);
    for (uint32_t i = parent->start; i < parent->end && job->kept.items[i].start < part.end; i++) {
        struct csni_part common = job->kept.items[i];
        parent->start = i;
        if (common.start < part.start) common.start = part.start;
        if (common.end > part.end) common.end = part.end;
        if (!csni_vec_push(&job->kept, common)) return false;
    }
    return true;
}

/* Which parts of an inlined call lie in [start, end) and within what its parent kept; false when out of memory. */
static bool keep_parts(struct csni_unit_job *job, struct csni_open_function *f, uint32_t index, uint64_t start, uint64_t end) {
    const struct csni_inlined *inlined = &job->inlined.items[index];
    struct csni_part kept_of = { (uint32_t)job->kept.count, (uint32_t)job->kept.count };
    bool top = inlined->parent == CSNI_NO_PARENT;
    struct csni_part parent = { 0, 0 };
    if (!top) parent = job->kept_of.items[inlined->parent - f->first_inlined];
    for (uint32_t i = 0; i < inlined->range_count; i++) {
        struct csni_address_range r = job->ranges.items[inlined->first_range + i];
        if (r.low < start || r.high > end) f->inlined_elsewhere = true;
        if (r.low < start) r.low = start;
        if (r.high > end) r.high = end;
        if (r.low >= r.high) continue;
        struct csni_part part = { (uint32_t)(r.low - start), (uint32_t)(r.high - start) };
        if (!(top ? csni_vec_push(&job->kept, part) : keep_common(job, &parent, part))) return false; /* both lists ascend */
    }
    kept_of.end = (uint32_t)job->kept.count;
    return csni_vec_push(&job->kept_of, kept_of);
}

/* Closes nodes of the batch until the one of `parent` is the innermost open one. */
static void close_inlined_until(struct csni_unit_job *job, uint32_t parent) {
    while (job->unclosed.count) {
        uint32_t *top = job->unclosed.items + job->unclosed.count - 2;
        if (top[0] == parent) return;
        csni_batch_end_inline(job->writer, top[1]);
        job->unclosed.count -= 2;
    }
}

static bool add_inlined_node(struct csni_unit_job *job, const struct csni_open_function *f, uint32_t index) {
    const struct csni_inlined *inlined = &job->inlined.items[index];
    struct csni_part kept = job->kept_of.items[index - f->first_inlined];
    if (kept.start == kept.end) return true;
    close_inlined_until(job, inlined->parent);
    uint32_t node = csni_batch_begin_inline(job->writer, inlined->name, inlined->call_file, inlined->call_line);
    for (uint32_t i = kept.start; i < kept.end; i++)
        csni_batch_add_part(job->writer, job->kept.items[i].start, job->kept.items[i].end);
    return csni_vec_push(&job->unclosed, index) && csni_vec_push(&job->unclosed, node);
}

/* The calls of a function whose ranges are nested: what lies in [start, end) lies within what its parent has there. Returns
 * how many parts were added; less than none when out of memory. */
static int64_t add_nested(struct csni_unit_job *job, struct csni_open_function *f, uint64_t start, uint64_t end) {
    uint32_t count = (uint32_t)job->inlined.count - f->first_inlined, made = 0, kept = 0, given = 0;
    struct csni_part *parts;
    struct csni_inline_node *nodes = csni_batch_reserve_inlines(
        job->writer, count, job->ranges.count - (f->first_range + f->range_count), &parts);
    if (!nodes) return -1;
    const uint32_t first_part = (uint32_t)job->writer->parts.count;
    struct csni_inlined *const inlined = job->inlined.items, *const first = inlined + f->first_inlined;
    for (struct csni_inlined *in = first; in < first + count; in++) {
        const struct csni_address_range *r = job->ranges.items + in->first_range, *stop = r + in->range_count;
        uint32_t before = kept;
        for (; r < stop; r++) { /* every one is written, and arithmetic says where the next one goes */
            parts[kept] = (struct csni_part){ (uint32_t)(r->low - start), (uint32_t)(r->high - start) };
            kept += (r->low >= start) & (r->high <= end);
        }
        given += in->range_count;
        nodes[made] = (struct csni_inline_node){ in->name, in->call_file, in->call_line, first_part + before,
                                                 kept - before, 0 };
        in->node = kept > before ? made : CSNI_NO_NODE;
        made += kept > before;
    }
    for (struct csni_inlined *in = first + count; in-- > first;)
        if (in->node != CSNI_NO_NODE && in->parent != CSNI_NO_PARENT)
            nodes[inlined[in->parent].node].descendants += nodes[in->node].descendants + 1;
    if (kept < given) f->inlined_elsewhere = true;
    csni_batch_commit_inlines(job->writer, made, kept);
    return kept;
}

/* The same where anything may be outside of anything. */
static int64_t add_any(struct csni_unit_job *job, struct csni_open_function *f, uint64_t start, uint64_t end) {
    uint32_t count = (uint32_t)job->inlined.count;
    job->kept.count = job->kept_of.count = job->unclosed.count = 0;
    for (uint32_t i = f->first_inlined; i < count; i++)
        if (!keep_parts(job, f, i, start, end) || !add_inlined_node(job, f, i)) return -1;
    close_inlined_until(job, CSNI_NO_PARENT);
    return (int64_t)job->kept.count;
}

csn_status csni_unit_add_inlines(struct csni_unit_job *job, struct csni_open_function *f, uint64_t start, uint64_t end) {
    if (job->inlined.count == f->first_inlined) return CSN_OK;
    bool cut_off = end - start == UINT32_MAX; /* of a function that was larger */
    int64_t kept = f->ranges_nest && !cut_off ? add_nested(job, f, start, end) : add_any(job, f, start, end);
    if (kept < 0) return CSN_E_MEMORY;
    CSNI_TRY(csni_unit_charge(job, (uint64_t)kept));
    if (!kept && !f->inlined_elsewhere)
        csni_batch_note(job->writer, CSN_EVENT_INLINE_WITHOUT_RANGES, "function at 0x%llx", (unsigned long long)start);
    return CSN_OK;
}
