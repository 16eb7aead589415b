/* Inlined calls of one unit's functions. */
#include "base/core/fail.h"
#include "convert/dwarf/unit_coverage.h"
#include "convert/dwarf/unit_files.h"
#include "convert/dwarf/unit_inline_ranges.h"
#include "convert/dwarf/unit_inlines.h"
#include "convert/dwarf/unit_names.h"

/* Whether none is empty, and each begins after the end of the one before. */
static inline bool stand_apart(const struct csni_address_range *r, size_t count) {
    bool apart = !count || r[0].low < r[0].high;
    for (size_t i = 1; i < count; i++) apart &= (r[i].low < r[i].high) & (r[i - 1].high < r[i].low);
    return apart;
}

/* ---- while walking ---- */

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

/* Looks at ranges of `die` from `first` on; it is in call `parent` (NULL: in the function itself). */
static void check_within_parent(struct csni_unit_job *job, const struct csni_die *die, const struct csni_inlined *parent,
                                uint32_t first) {
    const struct csni_open_function *f = csni_unit_enclosing_function(job);
    const struct csni_address_range *ranges = job->ranges.items;
    const struct csni_address_range *around = ranges + (parent ? parent->first_range : f->first_range);
    uint32_t count = parent ? parent->range_count : f->range_count;
    for (size_t i = first; i < job->ranges.count; i++)
        if (!csni_ranges_contain(around, count, ranges[i])) csni_unit_note_outer_range(job, die, ranges[i]);
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
        if (!die->has_children || !csni_die_has(die, CSNI_AT_LOW_PC)) return CSN_NONE; /* else what is in it may have code all the same */
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

/* The calls of a function whose ranges are nested: what lies in [start, end) lies within what its parent has there. *all:
 * how many parts were added. */
static csn_status add_nested(struct csni_unit_job *job, struct csni_open_function *f, uint64_t start, uint64_t end, size_t *all) {
    uint32_t count = (uint32_t)job->inlined.count - f->first_inlined, made = 0, kept = 0, given = 0;
    struct csni_part *parts;
    struct csni_inline_node *nodes = csni_batch_reserve_inlines(
        job->writer, count, job->ranges.count - (f->first_range + f->range_count), &parts);
    if (!nodes) return CSN_E_MEMORY;
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
    *all = kept;
    return CSN_OK;
}

csn_status csni_unit_add_inlines(struct csni_unit_job *job, struct csni_open_function *f, uint64_t start, uint64_t end) {
    if (job->inlined.count == f->first_inlined) return CSN_OK;
    bool cut_off = end - start == UINT32_MAX; /* of a function that was larger */
    size_t kept = 0;
    CSNI_TRY(f->ranges_nest && !cut_off ? add_nested(job, f, start, end, &kept)
                                        : csni_unit_add_any_inlines(job, f, start, end, &kept));
    CSNI_TRY(csni_unit_charge(job, kept));
    if (!kept && !f->inlined_elsewhere)
        csni_batch_note(job->writer, CSN_EVENT_INLINE_WITHOUT_RANGES, "function at 0x%llx", (unsigned long long)start);
    return CSN_OK;
}
