/* Choosing among merged functions.
 *
 * From the outermost frame inwards, each call is evidence about the frame that it made: the caller's call site for this
 * return address names the callee. What an external call site expects of a callee elsewhere is carried inwards (the library
 * that is called may call back), until a frame meets it or contradicts it, or a nearer call site has patterns. */
#include "symbolicate/choose.h"

#include "symbolicate/caller_evidence.h"
#include "symbolicate/candidate_match.h"

/* What an outer call site expects further inwards. */
struct expectation {
    struct csni_call_evidence evidence;
    uint32_t frame;        /* whose call site it is */
    uint32_t module;       /* of that frame */
    bool only_that_module; /* met by a frame of the same module only: the callee proper has been met already */
    bool held;
};

static void set_evidence(struct csn_stack_answer *answer, uint32_t frame, const struct csni_call_evidence *evidence,
                         const struct csni_candidate_match *match) {
    answer->evidence_frame = frame;
    if (match->count) answer->evidence_pattern = evidence->patterns[match->pattern];
}

/* Applies the names that a call site allows to a frame of several. */
static void decide(struct csn_stack_answer *answer, const struct csni_site *site, const struct csni_call_evidence *evidence,
                   const struct csni_candidate_match *match, uint32_t frame, bool outer) {
    answer->notes |= match->notes;
    if (match->unknown || (evidence->notes & CSN_STACK_NOTE_LIMIT)) return;
    if (!match->count) {
        answer->notes |= CSN_STACK_NOTE_OTHER_CALLEE;
        return;
    }
    set_evidence(answer, frame, evidence, match);
    answer->remaining = match->names;
    answer->remaining_count = match->count;
    if (match->count > 1 || site->truncated) return;
    answer->evidence_tail_calls = match->tail_calls;
    bool exact = csni_pattern_is_exact(answer->evidence_pattern);
    bool several = !match->tail_calls && (!exact || evidence->pattern_count > 1);
    answer->chosen = match->names[0];
    answer->choice = outer ? CSN_CHOICE_OUTER : several ? CSN_CHOICE_PATTERN : CSN_CHOICE_CALLER;
    answer->confidence = outer ? (exact ? CSN_CONFIDENCE_MEDIUM : CSN_CONFIDENCE_LOW)
                               : (several || match->tail_calls ? CSN_CONFIDENCE_MEDIUM : CSN_CONFIDENCE_HIGH);
}

/* The patterns that no name met. False: no memory. */
static bool keep_unused(struct csni_stack_walk *walk, const struct csni_candidate_match *match,
                        struct csni_call_evidence *evidence) {
    struct csn_str *rest = csni_arena_alloc(&walk->s->arena, evidence->pattern_count * sizeof(*rest));
    if (!rest) return false;
    uint32_t count = 0;
    for (uint32_t k = 0; k < evidence->pattern_count; k++)
        if (!match->used[k]) rest[count++] = evidence->patterns[k];
    evidence->patterns = rest;
    evidence->pattern_count = count;
    return true;
}

static bool goes_elsewhere(const struct csni_call_evidence *evidence, const struct csni_frame_state *callee,
                           const struct csni_frame_state *caller) {
    return (evidence->flags & CSN_CALL_SITE_EXTERNAL) && callee->module != caller->module;
}

/* What an external call site expects beyond the frame that it made. */
static bool expect_beyond(struct csni_stack_walk *walk, size_t i, const struct csni_call_evidence *evidence,
                          const struct csni_candidate_match *match, struct expectation *out) {
    const struct csni_frame_state *callee = &walk->frames[i], *caller = &walk->frames[i + 1];
    *out = (struct expectation){ .evidence = *evidence, .frame = (uint32_t)i + 1, .module = caller->module };
    if (!goes_elsewhere(evidence, callee, caller) || match->unknown) return true;
    if (match->tail_calls) return true;
    if (match->count) {
        if (!keep_unused(walk, match, &out->evidence)) return false;
        out->only_that_module = true;
    }
    out->held = out->evidence.pattern_count > 0;
    return true;
}

/* The caller's call site has patterns: it alone counts. */
static bool apply_caller_evidence(struct csni_stack_walk *walk, size_t i, const struct csni_call_evidence *evidence,
                                  struct expectation *expected) {
    const struct csni_frame_state *callee = &walk->frames[i], *caller = &walk->frames[i + 1];
    struct csn_stack_answer *answer = &walk->answers[i];
    struct csni_candidate_match match = { 0 };
    uint32_t name_count = callee->site ? callee->site->name_count : 0;
    bool merged = name_count > 1;
    uint32_t where = evidence->flags & (CSN_CALL_SITE_INTERNAL | CSN_CALL_SITE_EXTERNAL);
    bool other = where == CSN_CALL_SITE_INTERNAL && callee->module != caller->module;
    /* The only name of a frame needs no patterns, unless they tell what to expect further in. */
    if (merged || (name_count && (other || goes_elsewhere(evidence, callee, caller)))) {
        if (!csni_match_candidates(walk, callee->site, evidence, true, &match)) return false;
        if (other) match.count = 0;
        bool gone = merged && !match.count && !match.unknown;
        if (gone && !csni_match_tail_calls(walk, i, evidence, &match)) return false;
        if (merged && !gone && !match.unknown && !csni_match_tail_called_siblings(walk, callee, &match)) return false;
        if (other && !match.count) {
            answer->notes |= CSN_STACK_NOTE_OTHER_IMAGE | match.notes;
        } else if (merged) {
            decide(answer, callee->site, evidence, &match, (uint32_t)i + 1, false);
        }
    }
    return expect_beyond(walk, i, evidence, &match, expected);
}

/* The caller has no evidence: an outer expectation may fit. */
static bool apply_expectation(struct csni_stack_walk *walk, size_t i, struct expectation *expected) {
    const struct csni_frame_state *at = &walk->frames[i];
    struct csni_candidate_match match = { 0 };
    bool same = at->module == expected->module;
    bool asked = at->site && at->site->name_count && (same || !expected->only_that_module);
    if (asked && !csni_match_candidates(walk, at->site, &expected->evidence, false, &match)) return false;
    if (match.count && !match.unknown && !csni_match_tail_called_siblings(walk, at, &match)) return false;
    if (match.count && at->site->name_count > 1)
        decide(&walk->answers[i], at->site, &expected->evidence, &match, expected->frame, true);
    /* Met, or back in the image that expected something else. */
    if (match.count || match.unknown || same) expected->held = false;
    return true;
}

/* The frames of the function that was chosen, where they are not the index's own. */
static bool show_chosen(struct csni_stack_walk *walk, size_t i) {
    struct csni_site *site = walk->frames[i].site;
    struct csn_stack_answer *answer = &walk->answers[i];
    uint32_t name = answer->chosen != CSN_NOT_CHOSEN ? answer->chosen : answer->remaining ? answer->remaining[0] : 0;
    uint32_t k = 0;
    while (k < site->record_count && site->name_of[k] != name) k++;
    if (k == 0 || k == site->record_count) return true;
    const struct csni_folded_frames *folded = csni_site_folded_frames(site, k, &walk->s->sites.arena, walk->budget);
    if (!folded) return false;
    answer->frames = folded->frames;
    answer->frame_count = folded->count;
    answer->error = folded->error;
    answer->status = folded->status;
    return true;
}

static bool choose_frame(struct csni_stack_walk *walk, size_t i, struct expectation *expected) {
    struct csni_call_evidence evidence;
    struct csn_stack_answer *answer = &walk->answers[i];
    const struct csni_site *site = walk->frames[i].site;
    bool merged = site && site->name_count > 1;
    if (!csni_caller_evidence(walk, i + 1, &evidence)) return false;
    if (evidence.notes & CSN_STACK_NOTE_INTERRUPTED) expected->held = false;
    if (merged) answer->notes |= evidence.notes | (site->truncated ? CSN_STACK_NOTE_LIMIT : 0);
    if (evidence.pattern_count) {
        if (!apply_caller_evidence(walk, i, &evidence, expected)) return false;
    } else if (expected->held && !apply_expectation(walk, i, expected)) {
        return false;
    }
    return !merged || show_chosen(walk, i);
}

bool csni_choose(struct csni_stack_walk *walk) {
    struct expectation expected = { 0 };
    for (size_t i = walk->count; i-- > 0;)
        if (!choose_frame(walk, i, &expected)) return false;
    return true;
}
