/* Choosing among merged functions.
 *
 * From the outermost frame inwards, each call is evidence about the frame that it made: the caller's call site for this
 * return address names the callee. What an external call site expects of a callee elsewhere is carried inwards (the library
 * that is called may call back), past the library's own calls, until a frame meets it or contradicts it. */
#include "symbolicate/choose.h"

#include "symbolicate/caller_evidence.h"
#include "symbolicate/candidate_match.h"
#include "symbolicate/expectation.h"

/* Applies the names that the caller's call site allows to a frame of several. */
static void decide(struct csn_stack_answer *answer, const struct csni_site *site, const struct csni_call_evidence *evidence,
                   const struct csni_candidate_match *match, uint32_t caller) {
    answer->notes |= match->notes;
    if (match->unknown || (evidence->notes & CSN_STACK_NOTE_LIMIT)) return;
    if (!match->count) {
        answer->notes |= CSN_STACK_NOTE_OTHER_CALLEE;
        return;
    }
    answer->evidence_frame = caller;
    answer->evidence_pattern = evidence->patterns[match->pattern];
    answer->remaining = match->names;
    answer->remaining_count = match->count;
    if (match->count > 1 || site->truncated) return;
    answer->evidence_tail_calls = match->tail_calls;
    bool several = !match->tail_calls && (!csni_pattern_is_exact(answer->evidence_pattern) || evidence->pattern_count > 1);
    answer->chosen = match->names[0];
    answer->choice = several ? CSN_CHOICE_PATTERN : CSN_CHOICE_CALLER;
    answer->confidence = several || match->tail_calls ? CSN_CONFIDENCE_MEDIUM : CSN_CONFIDENCE_HIGH;
}

/* The caller's call site has patterns. *matched: `match` is what they allow. */
static bool apply_caller_evidence(struct csni_stack_walk *walk, size_t i, const struct csni_call_evidence *evidence,
                                  struct csni_candidate_match *match, bool *matched) {
    const struct csni_frame_state *callee = &walk->frames[i], *caller = &walk->frames[i + 1];
    struct csn_stack_answer *answer = &walk->answers[i];
    uint32_t name_count = callee->site ? callee->site->name_count : 0;
    bool merged = name_count > 1;
    uint32_t where = evidence->flags & (CSN_CALL_SITE_INTERNAL | CSN_CALL_SITE_EXTERNAL);
    bool other_image = where == CSN_CALL_SITE_INTERNAL && callee->module != caller->module;
    if (!merged && !(name_count && other_image)) return true; /* the only name of a frame needs no patterns */
    if (!csni_match_candidates(walk, callee->site, evidence, evidence->pattern_count > 1, match)) return false;
    *matched = true;
    if (other_image) match->count = 0;
    bool gone = merged && !match->count && !match->unknown;
    if (gone && !csni_match_tail_calls(walk, i, evidence, match)) return false;
    if (merged && !gone && !match->unknown && !csni_match_tail_called_siblings(walk, callee, match)) return false;
    if (other_image && !match->count) answer->notes |= CSN_STACK_NOTE_OTHER_IMAGE | match->notes;
    else if (merged) decide(answer, callee->site, evidence, match, (uint32_t)i + 1);
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

static bool choose_frame(struct csni_stack_walk *walk, size_t i, struct csni_expectations *expectations) {
    struct csni_caller_evidence caller;
    struct csn_stack_answer *answer = &walk->answers[i];
    const struct csni_site *site = walk->frames[i].site;
    struct csni_candidate_match match = { 0 };
    bool merged = site && site->name_count > 1, matched = false;
    if (!csni_caller_evidence(walk, i + 1, &caller)) return false;
    if (caller.whole.notes & CSN_STACK_NOTE_INTERRUPTED) expectations->count = 0;
    if (merged) answer->notes |= caller.whole.notes | (site->truncated ? CSN_STACK_NOTE_LIMIT : 0);
    if (caller.whole.pattern_count && !apply_caller_evidence(walk, i, &caller.whole, &match, &matched)) return false;
    if (!csni_expectations_apply(expectations, walk, i)) return false;
    if (!match.tail_calls && !csni_expectations_add(expectations, walk, i, &caller, matched ? &match : NULL)) return false;
    return !merged || show_chosen(walk, i);
}

bool csni_choose(struct csni_stack_walk *walk) {
    struct csni_expectations expectations = { .count = 0 };
    for (size_t i = walk->count; i-- > 0;)
        if (!choose_frame(walk, i, &expectations)) return false;
    return true;
}
