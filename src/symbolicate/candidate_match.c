/* Which candidates of a frame patterns allow: by their names, or by the tail calls that lead to them. */
#include <string.h>

#include "base/core/span.h"
#include "symbolicate/candidate_match.h"
#include "symbolicate/tail_ends.h"

enum {
    EXPRESSION_COST = 100,  /* an expression costs that many comparisons, */
    PATTERN_BYTES = 8,      /* that much of a pattern another one, */
    GIVE_UP_COST = 100000   /* or all that it may do */
};

static uint32_t note_of(enum csni_match match) {
    switch (match) {
    case CSNI_MATCH_BAD: return CSN_STACK_NOTE_BAD_PATTERN;
    case CSNI_MATCH_COSTLY: return CSN_STACK_NOTE_COSTLY_PATTERN;
    case CSNI_MATCH_NO_ENGINE: return CSN_STACK_NOTE_NO_ENGINE;
    default: return 0;
    }
}

/* An expression that is, letter for letter, one of the names is that name: the reference tool writes names unescaped. */
static bool is_bare_name(const struct csni_site *site, struct csn_str pattern) {
    for (uint32_t i = 0; i < site->name_count; i++)
        if (csni_str_equal(site->names[i], pattern)) return true;
    return false;
}

static bool match_pattern(struct csni_stack_walk *walk, const struct csni_site *site, struct csn_str pattern, uint32_t k,
                          bool *matched, struct csni_candidate_match *out) {
    if (pattern.len > CSNI_PATTERN_MAX) {
        out->notes |= CSN_STACK_NOTE_BAD_PATTERN;
        out->unknown = true;
        return true;
    }
    csni_budget_charge(walk->budget, pattern.len / PATTERN_BYTES);
    struct csn_str name = pattern; /* that is compared letter for letter */
    bool bare = csni_pattern_is_plain(pattern, &name);
    bool exact = bare || csni_pattern_is_exact(pattern);
    if (!exact) bare = is_bare_name(site, pattern);
    uint64_t steps = exact || bare ? 1 : EXPRESSION_COST + pattern.len / PATTERN_BYTES;
    for (uint32_t i = 0; i < site->name_count; i++) {
        if (!csni_budget_charge(walk->budget, steps)) {
            out->notes |= CSN_STACK_NOTE_LIMIT;
            out->unknown = true;
            return true;
        }
        enum csni_match match = bare    ? (enum csni_match)csni_str_equal(site->names[i], name)
                                : exact ? (enum csni_match)csni_pattern_is_name(pattern, site->names[i])
                                        : csni_pattern_match(&walk->s->patterns, pattern, site->names[i]);
        if (match == CSNI_MATCH_MEMORY) return false;
        out->notes |= note_of(match);
        if (match > CSNI_MATCH_YES) {
            csni_budget_charge(walk->budget, GIVE_UP_COST);
            out->unknown = true;
            return true;
        }
        if (match == CSNI_MATCH_NO) continue;
        if (!matched[i]) out->pattern = k;
        matched[i] = true;
        if (out->used) out->used[k] = true;
    }
    return true;
}

bool csni_match_candidates(struct csni_stack_walk *walk, const struct csni_site *site,
                           const struct csni_call_evidence *evidence, bool want_used, struct csni_candidate_match *out) {
    *out = (struct csni_candidate_match){ 0 };
    struct csni_arena *arena = &walk->s->arena;
    /* Each name costs a step: no memory for what cannot be paid, of a million frames. */
    if (csni_budget_left(walk->budget) < site->name_count) {
        out->notes = CSN_STACK_NOTE_LIMIT;
        out->unknown = true;
        return true;
    }
    size_t flag_count = (size_t)site->name_count + (want_used ? evidence->pattern_count : 0);
    out->names = csni_arena_alloc(arena, site->name_count * sizeof(*out->names) + flag_count);
    if (!out->names) return false;
    bool *matched = (bool *)(out->names + site->name_count);
    memset(matched, 0, flag_count);
    if (want_used) out->used = matched + site->name_count;
    for (uint32_t k = 0; k < evidence->pattern_count; k++)
        if (!match_pattern(walk, site, evidence->patterns[k], k, matched, out)) return false;
    for (uint32_t i = 0; i < site->name_count; i++)
        if (matched[i]) out->names[out->count++] = i;
    return true;
}

/* ---- tail calls ---- */

bool csni_match_tail_calls(struct csni_stack_walk *walk, size_t i, const struct csni_call_evidence *evidence,
                           struct csni_candidate_match *match) {
    const struct csni_frame_state *callee = &walk->frames[i], *caller = &walk->frames[i + 1];
    const struct csni_site *site = callee->site;
    struct csni_tail_ends tails;
    if (!csni_tail_ends_follow(walk, evidence, caller->module, &tails)) return false;
    match->notes |= tails.notes;
    if (!csni_budget_charge(walk->budget, (uint64_t)site->name_count * tails.count)) return true;
    for (uint32_t k = 0; k < site->name_count; k++) {
        const struct csni_tail_end *end = csni_tail_ends_find(&tails, site->names[k], callee->module);
        if (!end) continue;
        match->names[match->count++] = k;
        match->pattern = end->start;
        match->tail_calls = end->calls;
    }
    return true;
}

static bool is_matched(const struct csni_candidate_match *match, uint32_t count, uint32_t name) {
    for (uint32_t i = 0; i < count; i++)
        if (match->names[i] == name) return true;
    return false;
}

bool csni_match_tail_called_siblings(struct csni_stack_walk *walk, const struct csni_frame_state *callee,
                                    struct csni_candidate_match *match) {
    const struct csni_site *site = callee->site;
    uint32_t named = match->count;
    for (uint32_t i = 0; i < named && named < site->name_count; i++) {
        struct csni_tail_ends tails;
        if (!csni_tail_ends_of_candidate(walk, site, match->names[i], callee->module, &tails)) return false;
        uint64_t steps = (uint64_t)site->name_count * (tails.count + match->count);
        if (tails.count && !csni_budget_charge(walk->budget, steps)) tails.notes |= CSN_STACK_NOTE_LIMIT;
        match->notes |= tails.notes & CSN_STACK_NOTE_LIMIT;
        match->unknown = match->notes & CSN_STACK_NOTE_LIMIT;
        if (match->unknown) return true;
        for (uint32_t k = 0; tails.count && k < site->name_count; k++)
            if (!is_matched(match, match->count, k) && csni_tail_ends_find(&tails, site->names[k], callee->module))
                match->names[match->count++] = k;
    }
    return true;
}
