/* Choosing among merged functions.
 *
 * From the outermost frame inwards, each call says something about the frame that it made: the caller's call site for this
 * return address names the callee. What an external call site says of a callee elsewhere is carried inwards (the library
 * that is called may call back), until a frame meets it or contradicts it, or a nearer call site speaks. */
#include "symbolicate/stack_choose.h"

/* What an outer call site expects further inwards. */
struct expectation {
    struct csni_say say;
    uint32_t frame;        /* whose call site it is */
    uint32_t module;       /* of that frame */
    bool only_that_module; /* met by a frame of the same module only: the callee proper has been met already */
    bool held;
};

static void set_evidence(struct csn_stack_answer *answer, uint32_t frame, const struct csni_say *say,
                         const struct csni_stack_match *match) {
    answer->evidence_frame = frame;
    if (match->count) answer->evidence_pattern = say->patterns[match->pattern];
}

/* Applies the names that a call site allows to a frame of several. */
static void decide(struct csn_stack_answer *answer, const struct csni_place *place, const struct csni_say *say,
                   const struct csni_stack_match *match, uint32_t frame, bool outer) {
    answer->notes |= match->notes;
    if (match->unknown || (say->notes & CSN_STACK_NOTE_LIMIT)) return;
    if (!match->count) {
        answer->notes |= CSN_STACK_NOTE_OTHER_CALLEE;
        return;
    }
    set_evidence(answer, frame, say, match);
    answer->remaining = match->names;
    answer->remaining_count = match->count;
    if (match->count > 1 || place->truncated) return;
    answer->evidence_tail_calls = match->tail_calls;
    bool exact = csni_pattern_is_exact(answer->evidence_pattern);
    bool several = !match->tail_calls && (!exact || say->pattern_count > 1);
    answer->chosen = match->names[0];
    answer->choice = outer ? CSN_CHOICE_OUTER : several ? CSN_CHOICE_PATTERN : CSN_CHOICE_CALLER;
    answer->confidence = outer ? (exact ? CSN_CONFIDENCE_MEDIUM : CSN_CONFIDENCE_LOW)
                               : (several || match->tail_calls ? CSN_CONFIDENCE_MEDIUM : CSN_CONFIDENCE_HIGH);
}

/* The patterns that no name met. False: no memory. */
static bool keep_unused(struct csni_stack_walk *walk, const struct csni_stack_match *match, struct csni_say *say) {
    struct csn_str *rest = csni_arena_alloc(&walk->s->arena, say->pattern_count * sizeof(*rest));
    if (!rest) return false;
    uint32_t count = 0;
    for (uint32_t k = 0; k < say->pattern_count; k++)
        if (!match->used[k]) rest[count++] = say->patterns[k];
    say->patterns = rest;
    say->pattern_count = count;
    return true;
}

static bool goes_elsewhere(const struct csni_say *say, const struct csni_stack_place *callee,
                           const struct csni_stack_place *caller) {
    return (say->flags & CSN_CALL_SITE_EXTERNAL) && callee->module != caller->module;
}

/* What an external call site expects beyond the frame that it made. */
static bool expect_beyond(struct csni_stack_walk *walk, size_t i, const struct csni_say *say,
                          const struct csni_stack_match *match, struct expectation *out) {
    const struct csni_stack_place *callee = &walk->places[i], *caller = &walk->places[i + 1];
    *out = (struct expectation){ .say = *say, .frame = (uint32_t)i + 1, .module = caller->module };
    if (!goes_elsewhere(say, callee, caller) || match->unknown) return true;
    if (match->tail_calls) return true;
    if (match->count) {
        if (!keep_unused(walk, match, &out->say)) return false;
        out->only_that_module = true;
    }
    out->held = out->say.pattern_count > 0;
    return true;
}

/* The caller's call site has patterns: it alone counts. */
static bool hear_caller(struct csni_stack_walk *walk, size_t i, const struct csni_say *say, struct expectation *expected) {
    const struct csni_stack_place *callee = &walk->places[i], *caller = &walk->places[i + 1];
    struct csn_stack_answer *answer = &walk->answers[i];
    struct csni_stack_match match = { 0 };
    uint32_t name_count = callee->place ? callee->place->name_count : 0;
    bool merged = name_count > 1;
    uint32_t where = say->flags & (CSN_CALL_SITE_INTERNAL | CSN_CALL_SITE_EXTERNAL);
    bool other = where == CSN_CALL_SITE_INTERNAL && callee->module != caller->module;
    /* The only name of a frame needs no patterns, unless they say what is expected further in. */
    if (merged || (name_count && (other || goes_elsewhere(say, callee, caller)))) {
        if (!csni_stack_match(walk, callee->place, say, true, &match)) return false;
        if (other) match.count = 0;
        bool gone = merged && !match.count && !match.unknown;
        if (gone && !csni_stack_match_tails(walk, i, say, &match)) return false;
        if (merged && !gone && !match.unknown && !csni_stack_match_behind(walk, callee, &match)) return false;
        if (other && !match.count) {
            answer->notes |= CSN_STACK_NOTE_OTHER_IMAGE | match.notes;
        } else if (merged) {
            decide(answer, callee->place, say, &match, (uint32_t)i + 1, false);
        }
    }
    return expect_beyond(walk, i, say, &match, expected);
}

/* The caller says nothing: an outer expectation may fit. */
static bool hear_outer(struct csni_stack_walk *walk, size_t i, struct expectation *expected) {
    const struct csni_stack_place *at = &walk->places[i];
    struct csni_stack_match match = { 0 };
    bool same = at->module == expected->module;
    bool asked = at->place && at->place->name_count && (same || !expected->only_that_module);
    if (asked && !csni_stack_match(walk, at->place, &expected->say, false, &match)) return false;
    if (match.count && !match.unknown && !csni_stack_match_behind(walk, at, &match)) return false;
    if (match.count && at->place->name_count > 1)
        decide(&walk->answers[i], at->place, &expected->say, &match, expected->frame, true);
    /* Met, or back in the image that expected something else. */
    if (match.count || match.unknown || same) expected->held = false;
    return true;
}

/* The frames of the function that was chosen, where they are not the index's own. */
static bool show_chosen(struct csni_stack_walk *walk, size_t i) {
    struct csni_place *place = walk->places[i].place;
    struct csn_stack_answer *answer = &walk->answers[i];
    uint32_t name = answer->chosen != CSN_NOT_CHOSEN ? answer->chosen : answer->remaining ? answer->remaining[0] : 0;
    uint32_t k = 0;
    while (k < place->record_count && place->name_of[k] != name) k++;
    if (k == 0 || k == place->record_count) return true;
    const struct csni_sibling *sibling = csni_place_sibling(place, k, &walk->s->seen_arena, walk->work);
    if (!sibling) return false;
    answer->frames = sibling->frames;
    answer->frame_count = sibling->count;
    answer->error = sibling->error;
    answer->status = sibling->status;
    return true;
}

static bool choose_frame(struct csni_stack_walk *walk, size_t i, struct expectation *expected) {
    struct csni_say say;
    struct csn_stack_answer *answer = &walk->answers[i];
    const struct csni_place *place = walk->places[i].place;
    bool merged = place && place->name_count > 1;
    if (!csni_stack_ask_caller(walk, i + 1, &say)) return false;
    if (say.notes & CSN_STACK_NOTE_INTERRUPTED) expected->held = false;
    if (merged) answer->notes |= say.notes | (place->truncated ? CSN_STACK_NOTE_LIMIT : 0);
    if (say.pattern_count) {
        if (!hear_caller(walk, i, &say, expected)) return false;
    } else if (expected->held && !hear_outer(walk, i, expected)) {
        return false;
    }
    return !merged || show_chosen(walk, i);
}

bool csni_stack_choose(struct csn_symbolicator *s, const struct csni_stack_place *places, size_t count, uint64_t *work,
                       struct csn_stack_answer *answers) {
    struct csni_stack_walk walk = { s, places, answers, count, work };
    struct expectation expected = { 0 };
    for (size_t i = count; i-- > 0;)
        if (!choose_frame(&walk, i, &expected)) return false;
    return true;
}
