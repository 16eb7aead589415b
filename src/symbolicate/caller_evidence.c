/* The evidence of a caller about its callee: the call site for the return address names it.
 *
 * A call site belongs to one function only. Where the caller is one of several that share its code, the call sites of all
 * that remain must name a candidate. */
#include "symbolicate/caller_evidence.h"

#include <string.h>

#include "symbolicate/candidate_match.h"
#include "symbolicate/tail_ends.h"

/* CALLERS_MAX: remaining records of a caller that are read. */
enum { CALLERS_MAX = 64, STEPS_PER_CALLER = 16 };

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
    if (!tails->count || !csni_budget_charge(walk->budget, (uint64_t)site->name_count * tails->count)) return true;
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

/* The evidence of the functions that share the caller's code and remain, one after the other. */
struct caller_walk {
    const struct csni_frame_state *at;
    uint32_t callers;                 /* records that remain */
    uint32_t read;
    bool disagree;                    /* one of them names none of the callee's candidates */
    bool outward;                     /* all are external, of another module's function */
    struct csni_call_evidence *own;
};

static bool keep_own(struct csni_stack_walk *walk, struct caller_walk *callers, const struct csni_call_evidence *own) {
    callers->outward = callers->outward && (own->flags & CSN_CALL_SITE_EXTERNAL);
    if (!callers->outward) return true;
    if (!callers->own) {
        callers->outward = csni_budget_charge(walk->budget, (uint64_t)callers->callers * STEPS_PER_CALLER);
        if (!callers->outward) return true;
        callers->own = csni_arena_alloc(&walk->s->arena, callers->callers * sizeof(*callers->own));
        if (!callers->own) return false;
    }
    callers->own[callers->read - 1] = *own;
    return true;
}

/* Adds what record `k` of the caller knows. *silent: it knows nothing, so that nothing is known. */
static bool read_caller(struct csni_stack_walk *walk, size_t caller, uint32_t k, struct caller_walk *callers,
                        struct csni_call_evidence *whole, bool *silent) {
    struct csni_call_evidence own = { 0 };
    bool fits = true;
    if (callers->read++ == CALLERS_MAX) own.notes = CSN_STACK_NOTE_LIMIT;
    else if (!read_evidence(walk, callers->at, k, &own)) return false;
    *silent = !own.pattern_count || (own.notes & CSN_STACK_NOTE_LIMIT);
    if (*silent || callers->callers == 1) {
        *whole = own;
        return true;
    }
    if (!names_candidate(walk, &walk->frames[caller - 1], &own, &fits)) return false;
    if (!fits && !follow_tail_evidence(walk, caller, &own, &fits)) return false;
    if (!fits) callers->disagree = true;
    if (!keep_own(walk, callers, &own)) return false;
    *silent = callers->disagree && !callers->outward;
    if (callers->disagree) {
        *whole = (struct csni_call_evidence){ .notes = whole->notes | own.notes };
        return true;
    }
    return append_evidence(walk, &own, whole);
}

/* Several share the caller's code: the evidence of all that remain counts together. There is none about the callee if one of them
 * has none, or names another function from which no known tail call leads to a candidate. What they expect further in
 * counts for each of them. */
static bool read_remaining_callers(struct csni_stack_walk *walk, size_t caller, struct csni_caller_evidence *out) {
    const struct csni_frame_state *at = &walk->frames[caller];
    const struct csn_stack_answer *answer = &walk->answers[caller];
    const struct csni_site *site = at->site;
    struct caller_walk callers = { .at = at, .outward = walk->frames[caller - 1].module != at->module };
    uint32_t undecided = answer->chosen == CSN_NOT_CHOSEN ? CSN_STACK_NOTE_CALLER_UNDECIDED : 0;
    bool too_many = site->truncated || answer->remaining_count > CALLERS_MAX;
    if (too_many || !csni_budget_charge(walk->budget, (uint64_t)site->record_count * answer->remaining_count)) {
        out->whole.notes = CSN_STACK_NOTE_CALLER_UNDECIDED;
        return true;
    }
    for (uint32_t k = 0; k < site->record_count; k++) callers.callers += name_remains(answer, site->name_of[k]);
    for (uint32_t k = 0; k < site->record_count; k++) {
        bool silent;
        if (!name_remains(answer, site->name_of[k])) continue;
        if (!read_caller(walk, caller, k, &callers, &out->whole, &silent)) return false;
        if (!silent) continue;
        out->whole = (struct csni_call_evidence){ .notes = out->whole.notes | undecided };
        return true;
    }
    if (callers.disagree) out->whole.notes |= undecided;
    if (callers.callers == 1) {
        out->own = &out->whole;
        out->own_count = 1;
    } else if (callers.outward) {
        out->own = callers.own;
        out->own_count = callers.callers;
    }
    return true;
}

bool csni_caller_evidence(struct csni_stack_walk *walk, size_t caller, struct csni_caller_evidence *out) {
    *out = (struct csni_caller_evidence){ 0 };
    if (caller >= walk->count) {
        out->whole.notes = CSN_STACK_NOTE_NO_CALLER;
        return true;
    }
    const struct csni_frame_state *at = &walk->frames[caller];
    if (at->exact) out->whole.notes = CSN_STACK_NOTE_INTERRUPTED;
    else if (!at->site || !at->site->record_count) out->whole.notes = CSN_STACK_NOTE_NO_CALLER;
    else if (at->site->record_count > 1) return read_remaining_callers(walk, caller, out);
    else if (!read_evidence(walk, at, 0, &out->whole)) return false;
    out->own = &out->whole;
    out->own_count = out->whole.pattern_count > 0 && !(out->whole.notes & CSN_STACK_NOTE_LIMIT);
    return true;
}
