/* Expectations of external calls, carried inwards. */
#include "symbolicate/expectation.h"


enum { STEPS_PER_OWN = 16 };

/* ---- adding ---- */

/* Takes the patterns that the callee proper meets out of the evidence. False: no memory. */
static bool remove_met_patterns(struct csni_stack_walk *walk, const struct csni_candidate_match *match,
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

/* What one function expects beyond the callee proper, of which `match` is known or NULL; no patterns: nothing. */
static bool expect_beyond(struct csni_stack_walk *walk, size_t i, const struct csni_candidate_match *match,
                          struct csni_call_evidence *evidence, bool *met) {
    const struct csni_site *site = walk->frames[i].site;
    struct csni_candidate_match found;
    if (!site || !site->name_count) return true;
    if (!match) {
        if (!csni_match_candidates(walk, site, evidence, evidence->pattern_count > 1, &found)) return false;
        match = &found;
    }
    if (!match->count && !match->unknown) return true;
    *met = true;
    if (!match->unknown && evidence->pattern_count > 1 && csni_budget_charge(walk->budget, evidence->pattern_count))
        return remove_met_patterns(walk, match, evidence);
    evidence->pattern_count = 0;
    return true;
}

static void add_expectation(struct csni_expectations *expectations, const struct csni_expectation *new) {
    if (expectations->count == CSNI_EXPECTATIONS_MAX) {
        for (uint32_t k = 1; k < expectations->count; k++) expectations->items[k - 1] = expectations->items[k];
        expectations->count--;
    }
    expectations->items[expectations->count++] = *new;
}

bool csni_expectations_add(struct csni_expectations *expectations, struct csni_stack_walk *walk, size_t i,
                           const struct csni_caller_evidence *caller, const struct csni_candidate_match *match) {
    if (!caller->own_count) return true; /* the outermost frame has no caller */
    const struct csni_frame_state *callee = &walk->frames[i], *expecting = &walk->frames[i + 1];
    struct csni_expectation new = { .own_count = caller->own_count, .frame = (uint32_t)i + 1, .module = expecting->module,
                                    .met_in = CSNI_NO_MODULE };
    if (callee->module == expecting->module) return true;
    for (uint32_t k = 0; k < caller->own_count; k++) {
        bool met = false;
        struct csni_call_evidence own = caller->own[k];
        if (!(own.flags & CSN_CALL_SITE_EXTERNAL)) return true;
        if (!expect_beyond(walk, i, caller->own_count == 1 ? match : NULL, &own, &met)) return false;
        if (!own.pattern_count) return true;
        if (met) new.met_in = callee->module;
        if (!new.own) {
            if (!csni_budget_charge(walk->budget, (uint64_t)caller->own_count * STEPS_PER_OWN)) return true;
            new.own = csni_arena_alloc(&walk->s->arena, caller->own_count * sizeof(*new.own));
            if (!new.own) return false;
        }
        new.own[k] = own;
    }
    add_expectation(expectations, &new);
    return true;
}

/* ---- applying ---- */

/* The candidates of a frame that an expectation allows, of those that its caller left. */
struct allowed_names {
    uint32_t *names;
    uint32_t count;
    uint32_t own_count;      /* how many of the functions that the expecting frame may be allow one */
    struct csn_str pattern;  /* that holds for the last name of the first of those */
    bool exact;              /* all patterns that were used */
    uint32_t notes;
    bool unknown;            /* a pattern could not be used */
};

static bool is_among(const uint32_t *names, uint32_t count, uint32_t name) {
    for (uint32_t i = 0; i < count; i++)
        if (names[i] == name) return true;
    return false;
}

static void keep_remaining(const struct csn_stack_answer *answer, struct csni_candidate_match *match) {
    uint32_t count = 0;
    for (uint32_t i = 0; answer->remaining && i < match->count; i++)
        if (is_among(answer->remaining, answer->remaining_count, match->names[i])) match->names[count++] = match->names[i];
    if (answer->remaining) match->count = count;
}

static void merge_match(const struct csni_call_evidence *own, const struct csni_candidate_match *match,
                        struct allowed_names *out) {
    if (!match->count) return;
    struct csn_str pattern = own->patterns[match->pattern];
    bool exact = csni_pattern_is_exact(pattern);
    if (out->own_count++ == 0) {
        out->names = match->names; /* there is space for all candidates */
        out->count = match->count;
        out->pattern = pattern;
        out->exact = exact;
        return;
    }
    out->exact = out->exact && exact;
    for (uint32_t i = 0; i < match->count; i++)
        if (!is_among(out->names, out->count, match->names[i])) out->names[out->count++] = match->names[i];
}

static bool find_allowed(struct csni_stack_walk *walk, size_t i, const struct csni_expectation *expectation,
                         struct allowed_names *out) {
    const struct csni_frame_state *at = &walk->frames[i];
    *out = (struct allowed_names){ 0 };
    for (uint32_t k = 0; k < expectation->own_count && !out->unknown; k++) {
        struct csni_candidate_match match;
        if (!csni_match_candidates(walk, at->site, &expectation->own[k], false, &match)) return false;
        if (match.count && !match.unknown && !csni_match_tail_called_siblings(walk, at, &match)) return false;
        uint64_t steps = (uint64_t)match.count * (out->count + (walk->answers[i].remaining ? walk->answers[i].remaining_count : 0));
        if (match.count > 1 && !csni_budget_charge(walk->budget, steps)) match.notes |= CSN_STACK_NOTE_LIMIT;
        out->notes |= match.notes;
        out->unknown = match.unknown || (match.notes & CSN_STACK_NOTE_LIMIT);
        if (out->unknown) return true;
        keep_remaining(&walk->answers[i], &match);
        merge_match(&expectation->own[k], &match, out);
    }
    return true;
}

static void narrow_answer(struct csn_stack_answer *answer, const struct csni_site *site,
                          const struct csni_expectation *expectation, const struct allowed_names *allowed) {
    if (answer->chosen != CSN_NOT_CHOSEN || (answer->remaining && allowed->count == answer->remaining_count)) return;
    answer->evidence_frame = expectation->frame;
    answer->evidence_pattern = allowed->pattern;
    answer->remaining = allowed->names;
    answer->remaining_count = allowed->count;
    if (allowed->count > 1 || site->truncated) return;
    answer->chosen = allowed->names[0];
    answer->choice = CSN_CHOICE_OUTER;
    answer->confidence = allowed->exact ? CSN_CONFIDENCE_MEDIUM : CSN_CONFIDENCE_LOW;
}

/* It narrows the frame only if each function that the expecting frame may be allows a candidate. It ends in any case where one
 * of them does: that one may have been meant. */
static bool apply_expectation(struct csni_stack_walk *walk, size_t i, const struct csni_expectation *expectation, bool *met) {
    const struct csni_frame_state *at = &walk->frames[i];
    struct csn_stack_answer *answer = &walk->answers[i];
    struct allowed_names allowed;
    *met = false;
    if (!at->site || !at->site->name_count || at->module == expectation->met_in) return true;
    if (!find_allowed(walk, i, expectation, &allowed)) return false;
    bool merged = at->site->name_count > 1;
    if (merged) answer->notes |= allowed.notes;
    *met = allowed.unknown || allowed.own_count;
    if (merged && !allowed.unknown && allowed.own_count == expectation->own_count)
        narrow_answer(answer, at->site, expectation, &allowed);
    return true;
}

static void remove_expectation(struct csni_expectations *expectations, uint32_t k) {
    expectations->count--;
    for (; k < expectations->count; k++) expectations->items[k] = expectations->items[k + 1];
}

bool csni_expectations_apply(struct csni_expectations *expectations, struct csni_stack_walk *walk, size_t i) {
    for (uint32_t k = expectations->count; k-- > 0;) {
        bool met;
        if (!apply_expectation(walk, i, &expectations->items[k], &met)) return false;
        if (met) expectations->count = k; /* calls that were made further in led here, too */
        else if (walk->frames[i].module == expectations->items[k].module) remove_expectation(expectations, k);
    }
    return true;
}
