/* A symbolicator: its modules, and the answer to a stack. */
#include "symbolicate/symbolicator.h"

#include <string.h>

#include "base/core/checked.h"
#include "base/core/fail.h"
#include "base/core/prefetch.h"
#include "base/core/sized.h"
#include "symbolicate/choose.h"

enum { DEFAULT_MAX_FRAMES = 1 << 20, DEFAULT_CACHE_BYTES = 32 << 20, ARENA_CHUNK = 1 << 14 };
/* Steps for one stack, and more for each frame: some nanoseconds each. */
enum { BUDGET_MIN = 1 << 26, BUDGET_FRAME = 256 };
enum { BLOCK_FRAMES = 64 }; /* looked up together */

void csn_symbolicator_options_init(struct csn_symbolicator_options *options) {
    *options = (struct csn_symbolicator_options)CSN_SYMBOLICATOR_OPTIONS_INIT;
}

csn_status csn_symbolicator_create(const struct csn_symbolicator_options *options, struct csn_symbolicator **out,
                                   struct csn_error *err) {
    struct csn_symbolicator_options o = CSN_SYMBOLICATOR_OPTIONS_INIT;
    if (options) CSNI_TRY(csni_options_copy(&o, sizeof(o), options, options->struct_size, err));
    const struct csn_allocator *alloc = csni_allocator_or_default(o.allocator);
    struct csn_symbolicator *s = csni_alloc_zeroed(alloc, 1, sizeof(*s));
    if (!s) return csni_fail_memory(err, sizeof(*s));
    s->alloc = alloc;
    s->max_frames = o.max_frames ? o.max_frames : DEFAULT_MAX_FRAMES;
    s->cache_bytes = o.cache_bytes ? o.cache_bytes : DEFAULT_CACHE_BYTES;
    csni_module_map_init(&s->map, alloc);
    csni_patterns_init(&s->patterns, alloc);
    csni_site_cache_init(&s->sites, alloc);
    csni_tail_tables_init(&s->tail_tables, alloc);
    csni_arena_init(&s->arena, alloc, ARENA_CHUNK);
    *out = s;
    return CSN_OK;
}

static void drop_modules(struct csn_symbolicator *s) {
    csni_module_map_set(&s->map, NULL, 0);
    csni_free(s->alloc, s->modules, s->module_capacity * sizeof(*s->modules));
    s->modules = NULL;
    s->module_count = s->module_capacity = 0;
}

void csn_symbolicator_forget(struct csn_symbolicator *s) {
    drop_modules(s);
    csni_site_cache_clear(&s->sites);
    csni_tail_tables_clear(&s->tail_tables);
    csni_patterns_deinit(&s->patterns);
    csni_arena_deinit(&s->arena);
}

void csni_symbolicator_follow(struct csn_symbolicator *s, const void *owner, uint64_t generation) {
    if (s->owner == owner && s->owner_generation == generation) return;
    csn_symbolicator_forget(s);
    s->owner = owner;
    s->owner_generation = generation;
}

uint64_t csn_symbolicator_generation(const struct csn_symbolicator *s) { return s->sites.generation; }

void csn_symbolicator_destroy(struct csn_symbolicator *s) {
    if (!s) return;
    csn_symbolicator_forget(s);
    csni_module_map_deinit(&s->map);
    csni_free(s->alloc, s, sizeof(*s));
}

static csn_status check_modules(const struct csn_module *modules, size_t count, struct csn_error *err) {
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < sizeof modules->reserved / sizeof *modules->reserved; k++)
            CSNI_TRY(csni_check_reserved("csn_module.reserved", modules[i].reserved[k], err));
    return CSN_OK;
}

csn_status csn_symbolicator_set_modules(struct csn_symbolicator *s, const struct csn_module *modules, size_t count,
                                        struct csn_error *err) {
    if (count >= CSNI_NO_MODULE)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "modules: %zu, limit %u", count, CSNI_NO_MODULE - 1);
    CSNI_TRY(check_modules(modules, count, err));
    struct csn_module *grown = NULL;
    if (count > s->module_capacity) {
        grown = csni_alloc_zeroed(s->alloc, count, sizeof(*modules));
        if (!grown) return csni_fail_memory(err, count * sizeof(*modules));
    }
    if (!csni_module_map_set(&s->map, modules, (uint32_t)count)) {
        csni_free(s->alloc, grown, count * sizeof(*modules));
        return csni_fail_memory(err, count * sizeof(struct csni_module_part));
    }
    if (grown) {
        csni_free(s->alloc, s->modules, s->module_capacity * sizeof(*s->modules));
        s->modules = grown;
        s->module_capacity = (uint32_t)count;
    }
    s->module_count = (uint32_t)count;
    if (count) memmove(s->modules, modules, count * sizeof(*modules));
    return CSN_OK;
}

static bool reserve_module(struct csn_symbolicator *s) {
    enum { CAPACITY_MIN = 16 };
    if (s->module_count < s->module_capacity) return true;
    const uint32_t capacity = s->module_capacity < CAPACITY_MIN           ? CAPACITY_MIN
                              : s->module_capacity < CSNI_NO_MODULE / 2 ? s->module_capacity * 2
                                                                        : CSNI_NO_MODULE - 1;
    struct csn_module *grown = csni_alloc_zeroed(s->alloc, capacity, sizeof(*grown));
    if (!grown) return false;
    if (s->module_count) memcpy(grown, s->modules, s->module_count * sizeof(*grown));
    csni_free(s->alloc, s->modules, s->module_capacity * sizeof(*s->modules));
    s->modules = grown;
    s->module_capacity = capacity;
    return true;
}

static bool has_range(const struct csn_module *module) { return module->start < module->end; }

csn_status csn_symbolicator_set_module(struct csn_symbolicator *s, size_t i, const struct csn_module *module,
                                       struct csn_error *err) {
    if (i > s->module_count) return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "module %zu of %u", i, s->module_count);
    if (i == CSNI_NO_MODULE - 1) return csni_fail(err, CSN_E_LIMIT, NULL, 0, "modules: limit %u", CSNI_NO_MODULE - 1);
    CSNI_TRY(check_modules(module, 1, err));
    if (i == s->module_count && !reserve_module(s)) return csni_fail_memory(err, sizeof(*module));
    struct csn_module *place = &s->modules[i];
    const bool is_new = i == s->module_count;
    const bool in_map = has_range(module) || (!is_new && has_range(place));
    const bool same_range = !is_new && place->start == module->start && place->end == module->end;
    const struct csn_module before = *place;
    const uint32_t count = s->module_count + is_new;
    *place = *module;
    if (in_map && !same_range && !csni_module_map_set(&s->map, s->modules, count)) {
        *place = before;
        return csni_fail_memory(err, count * sizeof(struct csni_module_part));
    }
    s->module_count = count;
    return CSN_OK;
}

/* ---- answering ---- */

static const struct csn_index *index_at(const struct csn_symbolicator *s, const struct csni_frame_state *at) {
    return at->module == CSNI_NO_MODULE ? NULL : s->modules[at->module].index;
}

static csn_status locate_frame(struct csn_symbolicator *s, const struct csn_stack_frame *frame, size_t i,
                              struct csni_frame_state *out, struct csn_error *err) {
    bool by_address = frame->flags & CSN_STACK_ADDRESS;
    if (by_address && frame->module >= s->module_count)
        return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "frame %zu: module %u of %u", i, frame->module, s->module_count);
    enum { CALLING = CSN_STACK_RETURN | CSN_STACK_BEFORE | CSN_STACK_EITHER };
    out->exact = (frame->flags & CSN_STACK_EXACT) || (i == 0 && !(frame->flags & CALLING));
    out->either = frame->flags & (CSN_STACK_BEFORE | CSN_STACK_EITHER);
    out->unreliable = frame->flags & CSN_STACK_UNRELIABLE;
    /* With EITHER, the byte before is within the call for both: no call is shorter than 2 bytes. */
    unsigned step = out->exact || (frame->flags & CSN_STACK_BEFORE) ? 0 : 1;
    out->shift = (uint8_t)step;
    /* A return address may be the first byte after its module. */
    out->module = by_address ? frame->module : csni_module_map_find(&s->map, frame->pc - step);
    out->addr = frame->pc;
    if (out->module != CSNI_NO_MODULE && !by_address) out->addr -= s->modules[out->module].bias;
    const struct csn_index *index = index_at(s, out);
    if (!index) return CSN_OK;
    out->hash = csni_site_hash(index, out->addr - step, step);
    csni_site_cache_prefetch_slot(&s->sites, out->hash);
    return CSN_OK;
}

/* The texts that are compared first. */
static void prefetch_texts(const struct csni_site *site) {
    if (site->name_count) csni_prefetch(site->names[0].ptr);
    if (site->evidence.pattern_count) csni_prefetch(site->evidence.patterns[0].ptr);
}

static bool find_site(struct csn_symbolicator *s, struct csni_frame_state *at, struct csni_budget *budget) {
    const struct csn_index *index = index_at(s, at);
    if (!index) return true;
    at->site = csni_site_cache_find(&s->sites, index, at->addr - at->shift, at->shift, at->hash, budget);
    return at->site != NULL;
}

/* The same frame with a pc that is no return address. `step`: one was taken off it all the same. */
static csn_status locate_exact(struct csn_symbolicator *s, const struct csn_stack_frame *frame, size_t i, bool step,
                               struct csni_frame_state *out, struct csn_error *err) {
    struct csn_stack_frame exact = *frame;
    *out = (struct csni_frame_state){ .stepped = step && (frame->flags & CSN_STACK_BEFORE) };
    exact.pc += out->stepped ? 1 : 0;
    exact.flags = CSN_STACK_EXACT | (frame->flags & (CSN_STACK_ADDRESS | CSN_STACK_UNRELIABLE));
    return locate_frame(s, &exact, i, out, err);
}

/* A handler's return address is a signal frame's first byte, and the byte before belongs to another function or to none. */
static csn_status find_signal_frame(struct csn_symbolicator *s, const struct csn_stack_frame *frame, size_t i,
                                    struct csni_frame_state *at, struct csni_budget *budget, struct csn_error *err) {
    struct csni_frame_state exact;
    CSNI_TRY(locate_exact(s, frame, i, true, &exact, err));
    if (!find_site(s, &exact, budget)) return csni_fail_memory(err, sizeof(*exact.site));
    if (exact.site && exact.site->is_signal_frame && exact.site->start == exact.addr) *at = exact;
    return CSN_OK;
}

/* `callee`: the frame before; NULL: there is none. Was it a signal's, this one was interrupted. */
static csn_status find_frame(struct csn_symbolicator *s, const struct csn_stack_frame *frame, size_t i,
                             const struct csni_frame_state *callee, struct csni_frame_state *at,
                             struct csni_budget *budget, struct csn_error *err) {
    bool interrupted = callee && callee->site && callee->site->is_signal_frame;
    if (interrupted && !at->exact) CSNI_TRY(locate_exact(s, frame, i, callee->stepped, at, err));
    if (!find_site(s, at, budget)) return csni_fail_memory(err, sizeof(*at->site));
    return !at->exact && at->site && at->site->ends ? find_signal_frame(s, frame, i, at, budget, err) : CSN_OK;
}

static void begin_answer(const struct csni_frame_state *at, struct csn_stack_answer *out) {
    const struct csni_site *site = at->site;
    *out = (struct csn_stack_answer){ .addr = at->addr, .module = at->module, .chosen = CSN_NOT_CHOSEN,
                                      .evidence_frame = UINT32_MAX };
    if (!site) {
        out->status = CSN_NONE;
        out->reason = at->module == CSNI_NO_MODULE ? CSN_REASON_NO_MODULE : CSN_REASON_NO_INDEX;
        return;
    }
    out->status = site->status;
    out->error = site->error;
    out->reason = site->reason;
    out->function_start = site->start;
    out->frames = site->frames;
    out->frame_count = site->frame_count;
    out->candidates = site->names;
    out->candidate_count = out->remaining_count = site->name_count;
    if (site->name_count == 1 && !site->truncated) {
        out->chosen = 0;
        out->choice = CSN_CHOICE_ONLY;
        out->confidence = CSN_CONFIDENCE_CERTAIN;
    } else if (site->name_count) {
        out->choice = CSN_CHOICE_AMBIGUOUS;
        if (at->unreliable) out->notes = CSN_STACK_NOTE_NO_CALLER;
    }
}

/* `flags`: all bits of the frames from `begin` to `end`, so that one look is enough where all are known. */
static csn_status check_frame_flags(const struct csn_stack_frame *frames, size_t begin, size_t end, uint32_t flags,
                                    struct csn_error *err) {
    const uint32_t known = CSN_STACK_ADDRESS | CSN_STACK_EXACT | CSN_STACK_RETURN | CSN_STACK_BEFORE | CSN_STACK_EITHER |
                           CSN_STACK_UNRELIABLE;
    if (!(flags & ~known)) return CSN_OK;
    while (begin + 1 < end && !(frames[begin].flags & ~known)) begin++;
    return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "frame %zu: csn_stack_frame.flags is 0x%x, this version does not know 0x%x",
                     begin, frames[begin].flags, frames[begin].flags & ~known);
}

/* The frames' sites, a block at a time. */
static csn_status find_sites(struct csni_stack_walk *walk, const struct csn_stack_frame *frames, struct csn_error *err) {
    struct csn_symbolicator *s = walk->s;
    for (size_t begin = 0; begin < walk->count; begin += BLOCK_FRAMES) {
        size_t end = walk->count - begin < BLOCK_FRAMES ? walk->count : begin + BLOCK_FRAMES;
        uint32_t flags = 0;
        for (size_t i = begin; i < end; i++) {
            walk->frames[i] = (struct csni_frame_state){ 0 };
            flags |= frames[i].flags;
            CSNI_TRY(locate_frame(s, &frames[i], i, &walk->frames[i], err));
        }
        CSNI_TRY(check_frame_flags(frames, begin, end, flags, err));
        for (size_t i = begin; i < end; i++) csni_site_cache_prefetch_site(&s->sites, walk->frames[i].hash);
        for (size_t i = begin; i < end; i++) {
            CSNI_TRY(find_frame(s, &frames[i], i, i ? &walk->frames[i - 1] : NULL, &walk->frames[i], walk->budget, err));
            begin_answer(&walk->frames[i], &walk->answers[i]);
            if (walk->frames[i].site) prefetch_texts(walk->frames[i].site);
        }
    }
    return CSN_OK;
}

/* Decides the frames that are part of the chain of calls, as a stack of their own. False: no memory. */
static bool choose_in_chain(struct csni_stack_walk *walk) {
    struct csni_stack_walk chain = { .s = walk->s, .budget = walk->budget };
    for (size_t i = 0; i < walk->count; i++) chain.count += !walk->frames[i].unreliable;
    if (chain.count == walk->count) return csni_choose(walk);
    if (!chain.count) return true;
    chain.frames = csni_arena_alloc(&walk->s->arena, chain.count * sizeof(*chain.frames));
    chain.answers = csni_arena_alloc(&walk->s->arena, chain.count * sizeof(*chain.answers));
    uint32_t *number = csni_arena_alloc(&walk->s->arena, chain.count * sizeof(*number));
    if (!chain.frames || !chain.answers || !number) return false;
    for (size_t i = 0, k = 0; i < walk->count; i++) {
        if (walk->frames[i].unreliable) continue;
        chain.frames[k] = walk->frames[i];
        chain.answers[k] = walk->answers[i];
        number[k++] = (uint32_t)i;
    }
    if (!csni_choose(&chain)) return false;
    for (size_t k = 0; k < chain.count; k++) {
        struct csn_stack_answer *answer = &chain.answers[k];
        if (answer->evidence_frame != UINT32_MAX) answer->evidence_frame = number[answer->evidence_frame];
        walk->answers[number[k]] = *answer;
    }
    return true;
}

static csn_status answer_stack(struct csn_symbolicator *s, const struct csn_stack_frame *frames, size_t count,
                               const struct csn_stack_answer **out, struct csn_error *err) {
    struct csni_budget budget = csni_budget_for(BUDGET_MIN, count, BUDGET_FRAME);
    size_t state_bytes = 0, answer_bytes = 0;
    struct csni_stack_walk walk = { .s = s, .count = count, .budget = &budget };
    if (csni_mul_size(count, sizeof(*walk.frames), &state_bytes)) walk.frames = csni_arena_alloc(&s->arena, state_bytes);
    if (csni_mul_size(count, sizeof(*walk.answers), &answer_bytes))
        walk.answers = csni_arena_alloc(&s->arena, answer_bytes);
    if (!walk.frames || !walk.answers) return csni_fail_memory(err, answer_bytes);
    CSNI_TRY(find_sites(&walk, frames, err));
    if (!choose_in_chain(&walk)) return csni_fail_memory(err, answer_bytes);
    *out = walk.answers;
    return CSN_OK;
}

csn_status csn_symbolicator_answer(struct csn_symbolicator *s, const struct csn_stack_frame *frames, size_t frame_count,
                                   const struct csn_stack_answer **out, struct csn_error *err) {
    if (frame_count > s->max_frames)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "frames of a stack: %zu, limit %llu", frame_count,
                         (unsigned long long)s->max_frames);
    static const struct csni_arena_mark start = { NULL, NULL };
    if (s->arena.total > s->cache_bytes) csni_arena_deinit(&s->arena);
    csni_arena_release(&s->arena, start);
    /* What the last stack's budget cut short holds for that stack only. */
    if (s->sites.incomplete || csni_site_cache_bytes(&s->sites) > s->cache_bytes) csni_site_cache_clear(&s->sites);
    if (s->tail_tables.bytes > s->cache_bytes) csni_tail_tables_clear(&s->tail_tables);
    return answer_stack(s, frames, frame_count, out, err);
}

const char *csn_stack_note_text(uint32_t note) {
    switch (note) {
    case CSN_STACK_NOTE_NO_CALLER: return "there is no caller, or its function cannot be found";
    case CSN_STACK_NOTE_NO_CALL_SITE: return "the caller has no call site for this return address";
    case CSN_STACK_NOTE_INDIRECT: return "the caller's call site is an indirect call without names";
    case CSN_STACK_NOTE_CALLER_UNDECIDED:
        return "the caller is itself undecided, and not all its candidates have a call site here that fits";
    case CSN_STACK_NOTE_OTHER_CALLEE: return "the call site names none of these functions";
    case CSN_STACK_NOTE_OTHER_IMAGE: return "the call site's callee is in the caller's own image";
    case CSN_STACK_NOTE_INTERRUPTED: return "the outer frame was interrupted; it made no call";
    case CSN_STACK_NOTE_BAD_PATTERN: return "a pattern of the call site is not a valid regular expression, or too long";
    case CSN_STACK_NOTE_COSTLY_PATTERN: return "a pattern of the call site exceeded its limits";
    case CSN_STACK_NOTE_NO_ENGINE: return "a pattern of the call site needs PCRE2, which this build does not have";
    case CSN_STACK_NOTE_LIMIT: return "there are too many functions, call sites or patterns to consider all of them";
    case CSN_STACK_NOTE_TAIL_INDIRECT: return "a function that the call site leads to ends in an indirect jump";
    default: return "the note is not known to this version of the library";
    }
}
