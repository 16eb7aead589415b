/* Walking one DWARF unit: which DIEs become functions. */
#include "convert/dwarf/unit_walk.h"

#include "base/core/fail.h"
#include "convert/dwarf/unit_coverage.h"
#include "convert/dwarf/unit_inline_ranges.h"
#include "convert/dwarf/unit_inlines.h"
#include "convert/dwarf/unit_lines.h"
#include "convert/dwarf/unit_names.h"
#include "convert/dwarf/unit_symbols.h"
#include "convert/dwarf/unit_unclaimed.h"
#include "convert/dwarf/unit_zero.h"
#include "object/address_map.h"

/* ---- functions ---- */

/* Where `addr` of the object is in the image. False: the linker left it out. */
static bool image_address(const struct csni_unit_job *job, uint64_t addr, uint64_t *out) {
    *out = addr;
    if (!job->map) return true;
    const struct csni_mapped_range *range = csni_address_map_find(job->map, addr);
    if (range) *out = range->image_start + (addr - range->object_start);
    return range != NULL;
}

/* Whether functions that the linker folded into others are of use: all of them, or who is called by them. */
static bool wants_unplaced(const struct csni_conversion *c) {
    if (c->options.merged_functions == CSN_MERGE_LLVM) return false;
    return c->options.merged_functions != CSN_MERGE_NONE || c->options.flags & CSN_CONVERT_CALL_SITES;
}

/* How many of the DIE's ranges, in its order, become functions: those up to the first that a linker marked as removed or
 * that is not code. */
static uint32_t count_usable(struct csni_unit_job *job, uint32_t first) {
    uint64_t removed = job->unit->address_size == 8 ? UINT64_MAX : job->unit->address_size == 4 ? UINT32_MAX : UINT16_MAX;
    for (size_t i = first; i < job->ranges.count; i++) {
        struct csni_address_range r = job->ranges.items[i];
        uint64_t start;
        if (r.low >= r.high || r.low == removed || !image_address(job, r.low, &start)) {
            csni_batch_note(job->writer, CSN_EVENT_FUNCTION_DISCARDED, NULL);
        } else if (!csni_in_text(job->conversion, start)) {
            enum csn_event event = r.low ? CSN_EVENT_FUNCTION_OUTSIDE_TEXT : CSN_EVENT_FUNCTION_DISCARDED;
            csni_batch_note(job->writer, event, "[0x%llx, 0x%llx)", (unsigned long long)r.low, (unsigned long long)r.high);
        } else {
            continue;
        }
        return (uint32_t)(i - first);
    }
    return (uint32_t)(job->ranges.count - first);
}

/* Linkers leave 0 or all ones in place of the address of a function that was folded into another one; in an object file of a
 * debug map its own address stands. */
static void find_removed(const struct csni_unit_job *job, struct csni_address_range r, struct csni_open_function *out) {
    uint64_t size = r.high - r.low, all_ones = job->unit->address_size == 8 ? UINT64_MAX : UINT32_MAX, start;
    bool marked = r.low == 0 || r.low == all_ones;
    if (job->map ? image_address(job, r.low, &start) : !marked || csni_in_text(job->conversion, r.low)) return;
    if (job->unit->address_size == 4) size &= UINT32_MAX;
    if (!size || size > UINT32_MAX) return;
    out->is_unplaced = true;
    out->removed = (struct csni_address_range){ r.low, r.low + size };
}

/* dsymutil takes the addresses of functions that are not in the debug map from their DIEs, which are definitions all the same. */
static bool lost_addresses(const struct csni_unit_job *job, const struct csni_die *die) {
    const struct csni_object *object = job->conversion->object;
    return !job->map && object && object->container == CSNI_CONTAINER_MACHO && !csni_die_has(die, CSNI_AT_DECLARATION) &&
           !csni_die_has(die, CSNI_AT_INLINE) && !csni_die_has(die, CSNI_AT_ABSTRACT_ORIGIN);
}

/* Assemblers give Thumb functions the address of their symbol, which has a bit that is no part of the address. */
static void drop_thumb_bits(const struct csni_unit_job *job, size_t first) {
    const struct csni_object *object = job->conversion->object;
    for (size_t i = first; i < job->ranges.count; i++) {
        struct csni_address_range *r = &job->ranges.items[i];
        if (!(r->low & 1) || r->high <= r->low || !object || strcmp(object->arch, "arm") != 0) continue;
        r->low--;
        r->high--;
    }
}

/* CSN_NONE: no code of its own (a declaration, an abstract instance, a function that was removed). */
static csn_status read_function_ranges(struct csni_unit_job *job, const struct csni_die *die, struct csni_open_function *out) {
    out->first_own = (uint32_t)job->ranges.count;
    csn_status status = csni_die_ranges(job->dwarf, die, &job->ranges, NULL);
    if (status == CSN_E_MEMORY) return status;
    if (status < 0) {
        csni_unit_note_damaged_ranges(job, die, out->first_own);
        return CSN_NONE;
    }
    drop_thumb_bits(job, out->first_own);
    CSNI_TRY(csni_unit_mark_removed(job, die, out->first_own));
    uint32_t all = (uint32_t)job->ranges.count - out->first_own;
    CSNI_TRY(csni_unit_charge(job, all));
    out->own_count = count_usable(job, out->first_own);
    if (!out->own_count) {
        if (all && wants_unplaced(job->conversion)) find_removed(job, job->ranges.items[out->first_own], out);
        else if (!all && wants_unplaced(job->conversion)) out->is_unplaced = lost_addresses(job, die);
        job->ranges.count = out->first_own;
        return CSN_NONE;
    }
    if (!csni_vec_reserve(&job->ranges, job->ranges.count + all)) return CSN_E_MEMORY;
    out->first_range = (uint32_t)job->ranges.count;
    for (uint32_t i = 0; i < all; i++) job->ranges.items[job->ranges.count++] = job->ranges.items[out->first_own + i];
    csni_unit_join_ranges(job, out->first_range);
    out->range_count = (uint32_t)job->ranges.count - out->first_range;
    out->ranges_nest = out->own_count == all && out->range_count == all;
    return CSN_OK;
}

/* Of a function without code: what is in it is passed by, unless it need not be given from now on. */
static csn_status open_ignored(struct csni_unit_job *job, const struct csni_die *die) {
    if (job->skips_codeless && !job->open.count) return CSN_OK;
    struct csni_open_die open = { .depth = die->depth, .ignored = true };
    return csni_vec_push(&job->open, open) ? CSN_OK : CSN_E_MEMORY;
}

static csn_status open_function(struct csni_unit_job *job, const struct csni_die *die) {
    if (die->codeless && job->ignores_codeless) return open_ignored(job, die);
    struct csni_open_function f = { .die_off = die->off };
    f.first_inlined = (uint32_t)job->inlined.count;
    f.first_call = (uint32_t)job->calls.count;
    csn_status status = read_function_ranges(job, die, &f);
    if (status < 0) return status;
    f.ignored = status == CSN_NONE && !f.is_unplaced;
    if (!f.ignored) {
        uint64_t all_ones = job->unit->offset_size == 8 ? UINT64_MAX : UINT32_MAX;
        f.has_stmt_sequence = csni_attr_unsigned(die, CSNI_AT_STMT_SEQUENCE, &f.stmt_sequence) == CSN_OK &&
                              f.stmt_sequence != all_ones;
        if (!job->lines_read) CSNI_TRY(csni_unit_read_lines(job));
        CSNI_TRY(csni_unit_function_name(job, die, &f.name));
    }
    if (f.ignored && job->skips_codeless && !job->open.count) return CSN_OK; /* what else is without code may then be passed */
    struct csni_open_die open = { .depth = die->depth, .is_function = true, .index = (uint32_t)job->functions.count };
    open.ignored = status == CSN_NONE;
    return csni_vec_push(&job->functions, f) && csni_vec_push(&job->open, open) ? CSN_OK : CSN_E_MEMORY;
}

/* A call that does not return may be the last instruction of a function: the return address is after it then. */
static bool returns_into(uint64_t return_pc, uint64_t start, uint64_t end) { return return_pc > start && return_pc <= end; }

static void add_die_call_sites(struct csni_unit_job *job, const struct csni_open_function *f, uint64_t start,
                               uint64_t end) {
    for (size_t i = f->first_call; i < job->calls.count; i++) {
        const struct csni_found_call *call = &job->calls.items[i];
        bool tail = call->flags & CSNI_SITE_TAIL && start == job->ranges.items[f->first_own].low;
        if (!tail && !returns_into(call->return_pc, start, end)) continue;
        csni_batch_add_call_site(job->writer, tail ? 0 : call->return_pc - start, call->flags);
        if (call->callee) csni_batch_add_pattern(job->writer, call->callee);
    }
}

/* Assemblers describe each label of a function as a function of its own. */
static bool is_assembler(const struct csni_unit *unit) {
    return unit->language == DW_LANG_Mips_Assembler || unit->language == DW_LANG_Assembly;
}

static csn_status write_function(struct csni_unit_job *job, struct csni_open_function *f, struct csni_address_range r) {
    if (r.high - r.low > UINT32_MAX) {
        csni_batch_note(job->writer, CSN_EVENT_FUNCTION_TOO_LARGE, "[0x%llx, 0x%llx)", (unsigned long long)r.low,
                        (unsigned long long)r.high);
        r.high = r.low + UINT32_MAX;
    }
    /* All of these are looked at for each part of a function, though that takes little. */
    size_t looked_at = job->ranges.count - (f->first_range + f->range_count) + job->inlined.count - f->first_inlined +
                       job->calls.count - f->first_call;
    CSNI_TRY(csni_unit_charge(job, looked_at / 16));
    uint64_t start;
    image_address(job, r.low, &start);
    csni_batch_begin_function(job->writer, start, (uint32_t)(r.high - r.low), f->name, CSNI_SOURCE_DWARF);
    if (is_assembler(job->unit) && !job->writer->failed)
        job->writer->functions.items[job->writer->functions.count - 1].label = true;
    CSNI_TRY(csni_unit_add_rows(job, f, r.low, r.high));
    CSNI_TRY(csni_unit_add_inlines(job, f, r.low, r.high));
    add_die_call_sites(job, f, r.low, r.high);
    return CSN_OK;
}

/* What is told of a function without a place. */
static csn_status write_unplaced(struct csni_unit_job *job, struct csni_open_function *f) {
    csni_batch_begin_function(job->writer, 0, (uint32_t)(f->removed.high - f->removed.low), f->name, CSNI_SOURCE_FOLDED);
    csni_batch_mark_unplaced(job->writer);
    if (job->map) {
        CSNI_TRY(csni_unit_add_rows(job, f, f->removed.low, f->removed.high));
    } else if (job->has_lines) {
        CSNI_TRY(csni_unit_add_declaration(job, f));
    }
    for (size_t i = f->first_call; i < job->calls.count; i++) {
        const struct csni_found_call *call = &job->calls.items[i];
        bool placed = job->map && returns_into(call->return_pc, f->removed.low, f->removed.high);
        uint32_t flags = call->flags | (placed ? 0u : (uint32_t)CSNI_SITE_LOST);
        csni_batch_add_call_site(job->writer, placed ? call->return_pc - f->removed.low : 0, flags);
        if (call->callee) csni_batch_add_pattern(job->writer, call->callee);
    }
    job->calls.count = f->first_call;
    return CSN_OK;
}

static csn_status close_function(struct csni_unit_job *job) {
    struct csni_open_function *f = &job->functions.items[--job->functions.count];
    if (f->ignored) return CSN_OK;
    if (f->is_unplaced) return write_unplaced(job, f);
    for (uint32_t i = 0; i < f->own_count; i++)
        CSNI_TRY(write_function(job, f, job->ranges.items[f->first_own + i]));
    if (f->has_strays) CSNI_TRY(csni_unit_add_strays(job, f));
    job->inlined.count = f->first_inlined;
    job->calls.count = f->first_call;
    job->ranges.count = f->first_own;
    return CSN_OK;
}

/* Everything that does not enclose a DIE of this depth is complete. */
static inline csn_status close_to_depth(struct csni_unit_job *job, uint32_t depth) {
    while (job->open.count && job->open.items[job->open.count - 1].depth >= depth)
        if (job->open.items[--job->open.count].is_function) CSNI_TRY(close_function(job));
    return CSN_OK;
}

/* ---- call sites ---- */

static csn_status add_die_call(struct csni_unit_job *job, const struct csni_die *die) {
    const struct csni_open_function *f = csni_unit_enclosing_function(job);
    if (!(job->conversion->options.flags & CSN_CONVERT_CALL_SITES) || !f || f->ignored) return CSN_OK;
    struct csni_found_call call = { 0 };
    uint64_t is_tail = 0;
    if (csni_attr_unsigned(die, CSNI_AT_TAIL_CALL, &is_tail) == CSN_OK && is_tail) call.flags = CSNI_SITE_TAIL;
    else if (csni_attr_address(job->dwarf, die, CSNI_AT_RETURN_PC, &call.return_pc, NULL) != CSN_OK) return CSN_OK;
    bool inside = f->is_unplaced || call.flags & CSNI_SITE_TAIL;
    for (uint32_t i = 0; i < f->own_count && !inside; i++) {
        struct csni_address_range r = job->ranges.items[f->first_own + i];
        inside = returns_into(call.return_pc, r.low, r.high);
    }
    if (!inside) {
        csni_batch_note(job->writer, CSN_EVENT_CALL_SITE_OUTSIDE, "DIE 0x%llx returns to 0x%llx",
                        (unsigned long long)die->off, (unsigned long long)call.return_pc);
        return CSN_OK;
    }
    CSNI_TRY(csni_unit_callee(job, die, &call.callee));
    return csni_vec_push(&job->calls, call) ? CSN_OK : CSN_E_MEMORY;
}

/* ---- the walk ---- */

static bool is_type(uint16_t tag) {
    return tag == DW_TAG_class_type || tag == DW_TAG_structure_type || tag == DW_TAG_union_type;
}

/* GCC and Clang write the functions of a type outside of it, unless the type stands within a function. */
static bool types_hold_no_code(const struct csni_unit *unit) {
    static const char *const producers[] = { "GNU ", "clang", "Debian clang", "Ubuntu clang" };
    for (size_t i = 0; i < sizeof producers / sizeof *producers; i++) {
        size_t len = strlen(producers[i]);
        if (unit->producer.len >= len && memcmp(unit->producer.ptr, producers[i], len) == 0) return true;
    }
    return false;
}

static csn_status enter_die(struct csni_unit_job *job, struct csni_die_walk *walk, const struct csni_die *die,
                            bool jump,
                            struct csn_error *err) {
    CSNI_TRY(close_to_depth(job, die->closed));
    if (die->tag == DW_TAG_subprogram) return open_function(job, die);
    if (die->tag == DW_TAG_inlined_subroutine) return csni_unit_open_inlined(job, die);
    if (die->tag == DW_TAG_call_site || die->tag == DW_TAG_GNU_call_site) return add_die_call(job, die);
    if (jump && is_type(die->tag) && !job->open.count) return csni_die_walk_skip_children(walk, die, err);
    return CSN_OK;
}

/* Damage ends the walk; what stands before it is kept. */
static csn_status walk_unit(struct csni_unit_job *job, struct csn_error *err) {
    struct csni_die_walk walk;
    struct csni_die die;
    bool jump = types_hold_no_code(job->unit);
    csn_status status = csni_die_walk_init(&walk, job->dwarf, job->unit, err);
    walk.options.skip_call_sites = !(job->conversion->options.flags & CSN_CONVERT_CALL_SITES);
    /* Types in functions may hold code, but for those of C. */
    job->ignores_codeless = walk.options.skip_call_sites && !wants_unplaced(job->conversion);
    walk.options.headers_only = job->ignores_codeless ? CSNI_HEADERS_OF_CODELESS : 0;
    job->skips_codeless = walk.options.skip_types && job->ignores_codeless;
    while (status == CSN_OK) {
        walk.options.jump_over_types = jump && !job->open.count;
        walk.options.skip_codeless = job->skips_codeless && !job->open.count;
        status = csni_die_walk_next(&walk, &die, err);
        if (status == CSN_OK) status = enter_die(job, &walk, &die, jump, err);
    }
    if (status == CSN_E_MEMORY) return status;
    csn_status closing = close_to_depth(job, 0);
    return closing < 0 ? closing : status;
}

static bool overspent(const struct csni_unit_job *job) { return job->spent > csni_shared_budget_limit(job->budget); }

/* The sum over all units of the budget: whether it is too large does not depend on which unit was read when. */
static csn_status charge_budget(struct csni_unit_job *job, struct csn_error *err) {
    uint64_t max = csni_shared_budget_limit(job->budget);
    if (csni_shared_budget_charge(job->budget, job->spent)) return CSN_OK;
    return csni_fail(err, CSN_E_LIMIT, NULL, 0,
                     "ranges, rows, inlined calls and names come to over %llu, the limit for debug information of this size",
                     (unsigned long long)max);
}

static void begin_unit(struct csni_unit_job *job, const struct csni_unit_source *source) {
    job->dwarf = source->dwarf;
    job->line_dwarf = source->line_dwarf;
    job->scopes = source->scopes;
    job->unit = source->unit;
    job->line_unit = source->line_unit;
    job->lifetime = source->lifetime;
    job->budget = source->budget;
    job->spent = 0;
    job->lines_read = job->has_lines = false;
    job->open.count = job->functions.count = job->inlined.count = job->calls.count = job->ranges.count = 0;
    csni_batch_begin(job->writer, job->arena);
}

/* What split DWARF would tell is left out; what else tells of the unit's code is kept. */
static csn_status convert_skeleton(struct csni_unit_job *job, const struct csni_unit_source *source) {
    struct csn_str name = job->unit->dwo_name;
    if (!source->damage || !source->damage->code)
        csni_batch_note(job->writer, CSN_EVENT_MISSING_SPLIT_UNIT, "%.*s",
                        (int)(name.len < CSN_EXAMPLE_SIZE ? name.len : CSN_EXAMPLE_SIZE), name.ptr ? name.ptr : "");
    return source->symbols ? csni_unit_add_symbols(job, source->symbols) : CSN_OK;
}

csn_status csni_unit_convert_from(struct csni_unit_job *job, const struct csni_unit_source *source,
                                  struct csni_batch *out, struct csn_error *err) {
    struct csn_error damage = CSN_ERROR_INIT;
    const struct csni_unit *unit = source->unit;
    begin_unit(job, source);
    csni_unit_coverage_begin(job);
    csni_unit_names_begin(job);
    csn_status status = walk_unit(job, &damage);
    if (status < 0 && status != CSN_E_MEMORY && !overspent(job)) {
        csni_batch_note(job->writer, CSN_EVENT_DAMAGED_UNIT, "unit 0x%llx: %s", (unsigned long long)unit->off,
                        csn_error_text(&damage));
        status = CSN_OK;
    }
    if (source->damage && source->damage->code)
        csni_batch_note(job->writer, CSN_EVENT_DAMAGED_UNIT, "unit 0x%llx: %s", (unsigned long long)job->line_unit->off,
                        csn_error_text(source->damage));
    if (status >= 0 && unit->is_skeleton && !unit->is_split) status = convert_skeleton(job, source);
    if (status >= 0) status = csni_unit_names_resolve(job);
    if (status >= 0) status = csni_unit_add_unclaimed(job);
    csni_unit_coverage_end(job);
    CSNI_TRY(charge_budget(job, err));
    if (status < 0) return csni_fail_memory(err, 0);
    return csni_batch_finish(job->writer, out, err);
}

csn_status csni_unit_convert(struct csni_unit_job *job, const struct csni_unit *unit, struct csni_batch *out,
                             struct csn_error *err) {
    struct csni_unit_source source = job->image;
    source.unit = source.line_unit = unit;
    return csni_unit_convert_from(job, &source, out, err);
}

csn_status csni_unit_convert_lines(struct csni_unit_job *job, const struct csni_unit *unit, struct csni_batch *out,
                                   struct csn_error *err) {
    struct csni_unit_source source = job->image;
    source.unit = source.line_unit = unit;
    begin_unit(job, &source);
    csni_unit_coverage_begin(job);
    csn_status status = csni_unit_add_unclaimed(job);
    csni_unit_coverage_end(job);
    CSNI_TRY(charge_budget(job, err));
    if (status < 0) return csni_fail_memory(err, 0);
    return csni_batch_finish(job->writer, out, err);
}
