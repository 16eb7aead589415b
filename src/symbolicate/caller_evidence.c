/* The evidence of a caller about its callee: the call site for the return address names it.
 *
 * A call site belongs to one function only. Where the caller is one of several that share its code, the call sites of all
 * that remain must name a candidate. */
#include "symbolicate/caller_evidence.h"

#include <string.h>

#include "symbolicate/candidate_match.h"
#include "symbolicate/step_budget.h"
#include "symbolicate/tail_ends.h"

enum { CALLERS_MAX = 64 }; /* remaining records of a caller that are read */

static bool name_remains(const struct csn_stack_answer *answer, uint32_t name) {
    if (!answer->remaining) return true;
    for (uint32_t i = 0; i < answer->remaining_count; i++)
        if (answer->remaining[i] == name) return true;
    return false;
}

/* *out: whether the evidence names one of the callee's candidates; false where nothing is known of the callee. */
static bool names_candidate(struct csni_stack_walk *walk, const struct csni_frame_state *callee,
                            const struct csni_call_evidence *evidence, bool *out) {
    struct csni_candidate_match match = { 0 };
    *out = false;
    if (!callee->site || !callee->site->name_count) return true;
    if (!csni_match_candidates(walk, callee->site, evidence, false, &match)) return false;
    *out = match.count > 0 && !match.unknown;
    return true;
}

static bool read_evidence(struct csni_stack_walk *walk, const struct csni_frame_state *at, uint32_t k,
                          struct csni_call_evidence *out) {
    return csni_site_evidence(at->site, k, at->either, &walk->s->sites.arena, &walk->s->arena, walk->budget, out);
}

/* The callee's candidates that the tail calls reach. */
static bool reached(struct csni_stack_walk *walk, const struct csni_frame_state *callee, const struct csni_tail_ends *tails,
                    struct csn_str **names, uint32_t *count) {
    const struct csni_site *site = callee->site;
    *count = 0;
    if (!tails->count || !csni_budget_take(walk->budget, (uint64_t)site->name_count * tails->count)) return true;
    *names = csni_arena_alloc(&walk->s->arena, site->name_count * sizeof(**names));
    if (!*names) return false;
    for (uint32_t i = 0; i < site->name_count; i++)
        if (csni_tail_ends_find(tails, site->names[i], callee->module)) (*names)[(*count)++] = site->names[i];
    return true;
}

/* Evidence that names none of the candidates is replaced by the names of those that tail calls reach from its callees. */
static bool follow_tail_evidence(struct csni_stack_walk *walk, size_t caller, struct csni_call_evidence *evidence, bool *fits) {
    const struct csni_frame_state *callee = &walk->frames[caller - 1];
    struct csni_tail_ends tails;
    struct csn_str *names = NULL;
    uint32_t count;
    if (!callee->site || callee->site->name_count < 2) return true;
    if (!csni_tail_ends_follow(walk, evidence, walk->frames[caller].module, &tails)) return false;
    if (!reached(walk, callee, &tails, &names, &count)) return false;
    if (!count) return true;
    *fits = true;
    evidence->patterns = names;
    evidence->pattern_count = count;
    evidence->flags &= ~(uint32_t)(CSN_CALL_SITE_INTERNAL | CSN_CALL_SITE_EXTERNAL);
    return true;
}

static bool append_evidence(struct csni_stack_walk *walk, const struct csni_call_evidence *own,
                            struct csni_call_evidence *whole) {
    size_t count = (size_t)whole->pattern_count + own->pattern_count;
    struct csn_str *patterns = csni_arena_alloc(&walk->s->arena, count * sizeof(*patterns));
    if (!patterns) return false;
    if (whole->pattern_count) memcpy(patterns, whole->patterns, whole->pattern_count * sizeof(*patterns));
    memcpy(patterns + whole->pattern_count, own->patterns, own->pattern_count * sizeof(*patterns));
    whole->patterns = patterns;
    whole->pattern_count = (uint32_t)count;
    whole->flags |= own->flags;
    whole->notes |= own->notes;
    whole->known = true;
    return true;
}

/* Several share the caller's code: the evidence of all that remain counts together. There is none if one of them has none, or
 * names another callee from which no known tail call leads to a candidate. */
static bool read_remaining_callers(struct csni_stack_walk *walk, size_t caller, struct csni_call_evidence *out) {
    const struct csni_frame_state *at = &walk->frames[caller];
    const struct csn_stack_answer *answer = &walk->answers[caller];
    const struct csni_site *site = at->site;
    uint32_t read = 0, callers = 0;
    struct csni_call_evidence whole = { 0 };
    bool undecided = answer->chosen == CSN_NOT_CHOSEN;
    bool too_many = site->truncated || answer->remaining_count > CALLERS_MAX;
    if (too_many || !csni_budget_take(walk->budget, (uint64_t)site->record_count * answer->remaining_count)) {
        out->notes |= CSN_STACK_NOTE_CALLER_UNDECIDED;
        return true;
    }
    for (uint32_t k = 0; k < site->record_count; k++) callers += name_remains(answer, site->name_of[k]);
    for (uint32_t k = 0; k < site->record_count; k++) {
        if (!name_remains(answer, site->name_of[k])) continue;
        struct csni_call_evidence own = { 0 };
        if (read++ == CALLERS_MAX) own.notes = CSN_STACK_NOTE_LIMIT;
        else if (!read_evidence(walk, at, k, &own)) return false;
        bool fits = true;
        if (callers > 1 && own.pattern_count) {
            if (!names_candidate(walk, &walk->frames[caller - 1], &own, &fits)) return false;
            if (!fits && !follow_tail_evidence(walk, caller, &own, &fits)) return false;
        }
        if (!own.pattern_count || !fits || (own.notes & CSN_STACK_NOTE_LIMIT)) {
            *out = (struct csni_call_evidence){ .notes = own.notes | (undecided ? CSN_STACK_NOTE_CALLER_UNDECIDED : 0) };
            return true;
        }
        if (callers == 1) whole = own;
        else if (!append_evidence(walk, &own, &whole)) return false;
    }
    *out = whole;
    if (callers > 1) out->flags &= ~(uint32_t)CSN_CALL_SITE_EXTERNAL;
    return true;
}

bool csni_caller_evidence(struct csni_stack_walk *walk, size_t caller, struct csni_call_evidence *out) {
    *out = (struct csni_call_evidence){ 0 };
    if (caller >= walk->count) {
        out->notes = CSN_STACK_NOTE_NO_CALLER;
        return true;
    }
    const struct csni_frame_state *at = &walk->frames[caller];
    if (at->exact) out->notes = CSN_STACK_NOTE_INTERRUPTED;
    else if (!at->site || !at->site->record_count) out->notes = CSN_STACK_NOTE_NO_CALLER;
    else if (at->site->record_count > 1) return read_remaining_callers(walk, caller, out);
    else return read_evidence(walk, at, 0, out);
    return true;
}
