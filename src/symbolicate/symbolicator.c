/* A symbolicator: modules, places seen before, and the answer to a stack. */
#include "symbolicate/symbolicator.h"

#include <string.h>

#include "base/core/checked.h"
#include "base/core/fail.h"
#include "base/core/file_map.h"
#include "base/core/hash.h"
#include "base/options.h"
#include "base/core/prefetch.h"

enum { DEFAULT_MAX_FRAMES = 1 << 20, DEFAULT_CACHE_BYTES = 32 << 20, FIRST_SEEN = 1 << 10, ARENA_CHUNK = 1 << 14 };
/* Steps of work for one stack, and more for each frame: some nanoseconds each. */
enum { WORK_MIN = 1 << 26, WORK_FRAME = 256 };
/* Frames that are looked up together, and what is read of a place at first. */
enum { BLOCK_FRAMES = 64, PLACE_BYTES = 136 };

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
    s->seen.alloc = s->tails.alloc = alloc;
    csni_module_map_init(&s->map, alloc);
    csni_patterns_init(&s->patterns, alloc);
    csni_arena_init(&s->seen_arena, alloc, ARENA_CHUNK);
    s->seen_arena.read_at_random = true;
    csni_arena_init(&s->arena, alloc, ARENA_CHUNK);
    *out = s;
    return CSN_OK;
}

static void forget_places(struct csn_symbolicator *s) {
    csni_arena_deinit(&s->seen_arena);
    csni_vec_deinit(&s->seen);
    s->seen_count = 0;
    s->generation++;
}

static void drop_modules(struct csn_symbolicator *s) {
    csni_module_map_set(&s->map, NULL, 0);
    csni_free(s->alloc, s->modules, s->module_count * sizeof(*s->modules));
    s->modules = NULL;
    s->module_count = 0;
}

void csn_symbolicator_forget(struct csn_symbolicator *s) {
    drop_modules(s);
    forget_places(s);
    csni_tails_forget(s);
    csni_patterns_deinit(&s->patterns);
    csni_arena_deinit(&s->arena);
}

uint64_t csn_symbolicator_generation(const struct csn_symbolicator *s) { return s->generation; }

void csn_symbolicator_destroy(struct csn_symbolicator *s) {
    if (!s) return;
    csn_symbolicator_forget(s);
    csni_module_map_deinit(&s->map);
    csni_free(s->alloc, s, sizeof(*s));
}

csn_status csn_symbolicator_set_modules(struct csn_symbolicator *s, const struct csn_module *modules, size_t count,
                                        struct csn_error *err) {
    if (count >= CSNI_NO_MODULE)
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "modules: %zu, limit %u", count, CSNI_NO_MODULE - 1);
    if (count != s->module_count) {
        drop_modules(s);
        s->modules = csni_alloc_zeroed(s->alloc, count, sizeof(*modules));
        if (count && !s->modules) return csni_fail_memory(err, count * sizeof(*modules));
        s->module_count = (uint32_t)count;
    }
    if (count) memcpy(s->modules, modules, count * sizeof(*modules));
    if (csni_module_map_set(&s->map, s->modules, s->module_count)) return CSN_OK;
    return csni_fail_memory(err, count * sizeof(struct csni_module_part));
}

/* ---- places ---- */

static bool is_place(const struct csni_place *place, const struct csn_index *index, uint64_t addr, unsigned shift) {
    return place->addr == addr && place->index == index && place->shift == shift;
}

static uint64_t hash_place(const struct csn_index *index, uint64_t addr, unsigned shift) {
    return csni_hash_u64(addr + shift + (uint64_t)(uintptr_t)index * 0x9e3779b97f4a7c15u);
}

static bool seen_grow(struct csn_symbolicator *s) {
    size_t old_count = s->seen.count, count = old_count ? old_count * 2 : FIRST_SEEN;
    struct csni_seen *old = s->seen.items;
    struct csni_seen *items = csni_alloc_zeroed(s->alloc, count, sizeof(*items));
    if (!items) return false;
    if (count * sizeof(*items) >= CSNI_HUGE_PAGE) csni_pages_prefer_huge(items, count * sizeof(*items));
    s->seen.items = items;
    s->seen.count = s->seen.room = count;
    for (size_t k = 0; k < old_count; k++) {
        if (!old[k].place) continue;
        size_t i = (size_t)old[k].hash & (count - 1);
        while (items[i].place) i = (i + 1) & (count - 1);
        items[i] = old[k];
    }
    csni_free(s->alloc, old, old_count * sizeof(*old));
    return true;
}

/* NULL: no memory. */
static struct csni_place *find_place(struct csn_symbolicator *s, const struct csn_index *index, uint64_t addr,
                                     unsigned shift, uint64_t hash, uint64_t *work) {
    if (2 * (s->seen_count + 1) > s->seen.count && !seen_grow(s)) return NULL;
    size_t mask = s->seen.count - 1, i = (size_t)hash & mask;
    for (; s->seen.items[i].place; i = (i + 1) & mask) {
        const struct csni_seen *seen = &s->seen.items[i];
        if (seen->hash == hash && is_place(seen->place, index, addr, shift)) return seen->place;
    }
    struct csni_place *place = csni_arena_alloc(&s->seen_arena, sizeof(*place));
    if (!place || csni_place_find(index, addr, shift, &s->seen_arena, work, place) < 0) return NULL;
    s->seen.items[i] = (struct csni_seen){ hash, place };
    s->seen_count++;
    return place;
}

/* ---- answering ---- */

static const struct csn_index *index_at(const struct csn_symbolicator *s, const struct csni_stack_place *at) {
    return at->module == CSNI_NO_MODULE ? NULL : s->modules[at->module].index;
}

static csn_status place_frame(struct csn_symbolicator *s, const struct csn_stack_frame *frame, size_t i,
                              struct csni_stack_place *out, struct csn_error *err) {
    bool by_address = frame->flags & CSN_STACK_ADDRESS;
    if (by_address && frame->module >= s->module_count)
        return csni_fail(err, CSN_E_ARGUMENT, NULL, 0, "frame %zu: module %u of %u", i, frame->module, s->module_count);
    enum { CALLING = CSN_STACK_RETURN | CSN_STACK_BEFORE | CSN_STACK_EITHER };
    out->exact = (frame->flags & CSN_STACK_EXACT) || (i == 0 && !(frame->flags & CALLING));
    out->either = frame->flags & (CSN_STACK_BEFORE | CSN_STACK_EITHER);
    /* With EITHER, the byte before is within the call for both: no call is shorter than 2 bytes. */
    unsigned step = out->exact || (frame->flags & CSN_STACK_BEFORE) ? 0 : 1;
    out->shift = (uint8_t)step;
    /* A return address may be the first byte behind its module. */
    out->module = by_address ? frame->module : csni_module_map_find(&s->map, frame->pc - step);
    out->addr = frame->pc;
    if (out->module != CSNI_NO_MODULE && !by_address) out->addr -= s->modules[out->module].bias;
    const struct csn_index *index = index_at(s, out);
    if (!index) return CSN_OK;
    out->hash = hash_place(index, out->addr - step, step);
    if (s->seen.count) csni_prefetch(&s->seen.items[out->hash & (s->seen.count - 1)]);
    return CSN_OK;
}

/* Places were all over the memory before: those of a whole block of frames are asked for before the first one is read. */
static void prefetch_place(const struct csn_symbolicator *s, const struct csni_stack_place *at) {
    if (!s->seen.count) return;
    const struct csni_seen *seen = &s->seen.items[at->hash & (s->seen.count - 1)];
    if (seen->hash != at->hash || !seen->place) return;
    csni_prefetch_lines(seen->place, PLACE_BYTES);
}

/* What comes to be compared. */
static void prefetch_texts(const struct csni_place *place) {
    if (place->name_count) csni_prefetch(place->names[0].ptr);
    if (place->say.pattern_count) csni_prefetch(place->say.patterns[0].ptr);
}

static bool look_up(struct csn_symbolicator *s, struct csni_stack_place *at, uint64_t *work) {
    const struct csn_index *index = index_at(s, at);
    if (!index) return true;
    at->place = find_place(s, index, at->addr - at->shift, at->shift, at->hash, work);
    return at->place != NULL;
}

static void begin_answer(const struct csni_stack_place *at, struct csn_stack_answer *out) {
    const struct csni_place *place = at->place;
    *out = (struct csn_stack_answer){ .addr = at->addr, .module = at->module, .chosen = CSN_NOT_CHOSEN,
                                      .evidence_frame = UINT32_MAX };
    if (!place) {
        out->status = CSN_NONE;
        out->reason = at->module == CSNI_NO_MODULE ? CSN_REASON_NO_MODULE : CSN_REASON_NO_INDEX;
        return;
    }
    out->status = place->status;
    out->error = place->error;
    out->reason = place->reason;
    out->function_start = place->start;
    out->frames = place->frames;
    out->frame_count = place->frame_count;
    out->candidates = place->names;
    out->candidate_count = out->remaining_count = place->name_count;
    if (place->name_count == 1 && !place->truncated) {
        out->chosen = 0;
        out->choice = CSN_CHOICE_ONLY;
        out->confidence = CSN_CONFIDENCE_CERTAIN;
    } else if (place->name_count) {
        out->choice = CSN_CHOICE_AMBIGUOUS;
    }
}

static csn_status answer_stack(struct csn_symbolicator *s, const struct csn_stack_frame *frames, size_t count,
                               const struct csn_stack_answer **out, struct csn_error *err) {
    uint64_t work = WORK_MIN + (uint64_t)count * WORK_FRAME;
    size_t place_bytes = 0, answer_bytes = 0;
    struct csni_stack_place *places = NULL;
    struct csn_stack_answer *answers = NULL;
    if (csni_mul_size(count, sizeof(*places), &place_bytes)) places = csni_arena_alloc(&s->arena, place_bytes);
    if (csni_mul_size(count, sizeof(*answers), &answer_bytes)) answers = csni_arena_alloc(&s->arena, answer_bytes);
    if (!places || !answers) return csni_fail_memory(err, answer_bytes);
    for (size_t begin = 0; begin < count; begin += BLOCK_FRAMES) {
        size_t end = count - begin < BLOCK_FRAMES ? count : begin + BLOCK_FRAMES;
        for (size_t i = begin; i < end; i++) {
            places[i] = (struct csni_stack_place){ 0 };
            CSNI_TRY(place_frame(s, &frames[i], i, &places[i], err));
        }
        for (size_t i = begin; i < end; i++) prefetch_place(s, &places[i]);
        for (size_t i = begin; i < end; i++) {
            if (!look_up(s, &places[i], &work)) return csni_fail_memory(err, sizeof(struct csni_place));
            begin_answer(&places[i], &answers[i]);
            if (places[i].place) prefetch_texts(places[i].place);
        }
    }
    s->places = places;
    s->place_count = count;
    if (!csni_stack_choose(s, places, count, &work, answers)) return csni_fail_memory(err, answer_bytes);
    *out = answers;
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
    if (s->seen_arena.total + s->seen.count * sizeof(*s->seen.items) > s->cache_bytes) forget_places(s);
    if (s->tail_bytes > s->cache_bytes) csni_tails_forget(s);
    s->tail_tables = NULL;
    return answer_stack(s, frames, frame_count, out, err);
}

const char *csn_stack_note_text(uint32_t note) {
    switch (note) {
    case CSN_STACK_NOTE_NO_CALLER: return "nothing is known of a caller";
    case CSN_STACK_NOTE_NO_CALL_SITE: return "the caller has no call site for this return address";
    case CSN_STACK_NOTE_INDIRECT: return "the caller's call site names nobody: an indirect call";
    case CSN_STACK_NOTE_CALLER_UNDECIDED:
        return "the caller is itself one of several, and not all of them have a call site here that fits";
    case CSN_STACK_NOTE_OTHER_CALLEE: return "the call site names none of these functions";
    case CSN_STACK_NOTE_OTHER_IMAGE: return "the call site's callee is in the caller's own image";
    case CSN_STACK_NOTE_INTERRUPTED: return "the outer frame was interrupted here, it made no call";
    case CSN_STACK_NOTE_BAD_PATTERN: return "a pattern of the call site is no regular expression, or is too long";
    case CSN_STACK_NOTE_COSTLY_PATTERN: return "a pattern of the call site was given up after too much work";
    case CSN_STACK_NOTE_NO_ENGINE: return "a pattern of the call site needs PCRE2, which this build does not have";
    case CSN_STACK_NOTE_LIMIT: return "too many functions, call sites or patterns to look at all of them";
    case CSN_STACK_NOTE_TAIL_INDIRECT: return "a function that the call site leads to makes an indirect tail call";
    default: return "the note is not known to this version of the library";
    }
}
