/* Choosing among merged functions.
 *
 * From the outermost frame inwards, each call says something about the frame that it made: the caller's call site for this
 * return address names the callee. What an external call site says of a callee elsewhere is carried inwards (the library
 * that is called may call back), until a frame meets it or contradicts it, or a nearer call site speaks.
 *
 * A call site speaks for one function only. Where the caller is one of several that share its code, the call sites of
 * all that remain must speak, each for itself. */
#include <string.h>

#include "base/span.h"
#include "symbolicate/symbolicator.h"

enum {
    SPEAKERS_MAX = 64,      /* remaining records of a caller that are asked */
    EXPRESSION_WORK = 100,  /* an expression costs that many comparisons, */
    PATTERN_BYTES = 8,      /* that much of a pattern another one, */
    GIVE_UP_WORK = 100000   /* or all that it may do */
};

struct stack_walk {
    struct csn_symbolicator *s;
    const struct csni_stack_place *places;
    struct csn_stack_answer *answers;
    size_t count;
    uint64_t *work;
};

/* What an outer call site expects further inwards. */
struct expectation {
    struct csni_say say;
    uint32_t frame;        /* whose call site it is */
    uint32_t module;       /* of that frame */
    bool only_that_module; /* met by a frame of the same module only: the callee proper has been met already */
    bool held;
};

/* ---- matching ---- */

struct match_result {
    uint32_t *names;       /* places in the candidates */
    uint32_t count;
    bool *used;            /* by pattern: it holds for one of the names; NULL: not asked for */
    uint32_t pattern;      /* one that holds for the last name found */
    uint32_t tail_calls;   /* from the function of that pattern to the last name found */
    uint32_t notes;
    bool unknown;          /* a pattern could not be used: nothing is ruled out */
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
static bool is_bare_name(const struct csni_place *place, struct csn_str pattern) {
    for (uint32_t i = 0; i < place->name_count; i++)
        if (csni_str_equal(place->names[i], pattern)) return true;
    return false;
}

static bool match_pattern(struct stack_walk *walk, const struct csni_place *place, struct csn_str pattern, uint32_t k,
                          bool *matched, struct match_result *out) {
    if (pattern.len > CSNI_PATTERN_MAX) {
        out->notes |= CSN_STACK_NOTE_BAD_PATTERN;
        out->unknown = true;
        return true;
    }
    csni_spend(walk->work, pattern.len / PATTERN_BYTES);
    struct csn_str name = pattern; /* that is compared letter for letter */
    bool bare = csni_pattern_is_plain(pattern, &name);
    bool exact = bare || csni_pattern_is_exact(pattern);
    if (!exact) bare = is_bare_name(place, pattern);
    uint64_t steps = exact || bare ? 1 : EXPRESSION_WORK + pattern.len / PATTERN_BYTES;
    for (uint32_t i = 0; i < place->name_count; i++) {
        if (!csni_spend(walk->work, steps)) {
            out->notes |= CSN_STACK_NOTE_LIMIT;
            out->unknown = true;
            return true;
        }
        enum csni_match match = bare    ? (enum csni_match)csni_str_equal(place->names[i], name)
                                : exact ? (enum csni_match)csni_pattern_is_name(pattern, place->names[i])
                                        : csni_pattern_match(&walk->s->patterns, pattern, place->names[i]);
        if (match == CSNI_MATCH_MEMORY) return false;
        out->notes |= note_of(match);
        if (match > CSNI_MATCH_YES) {
            csni_spend(walk->work, GIVE_UP_WORK);
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

/* Which candidates the patterns allow. False: no memory. */
static bool match_say(struct stack_walk *walk, const struct csni_place *place, const struct csni_say *say,
                      bool want_used, struct match_result *out) {
    *out = (struct match_result){ 0 };
    struct csni_arena *arena = &walk->s->arena;
    /* Each name costs a step: no memory for what cannot be paid, of a million frames. */
    if (*walk->work < place->name_count) {
        out->notes = CSN_STACK_NOTE_LIMIT;
        out->unknown = true;
        return true;
    }
    size_t flag_count = (size_t)place->name_count + (want_used ? say->pattern_count : 0);
    out->names = csni_arena_alloc(arena, place->name_count * sizeof(*out->names) + flag_count);
    if (!out->names) return false;
    bool *matched = (bool *)(out->names + place->name_count);
    memset(matched, 0, flag_count);
    if (want_used) out->used = matched + place->name_count;
    for (uint32_t k = 0; k < say->pattern_count; k++)
        if (!match_pattern(walk, place, say->patterns[k], k, matched, out)) return false;
    for (uint32_t i = 0; i < place->name_count; i++)
        if (matched[i]) out->names[out->count++] = i;
    return true;
}

/* ---- what the caller says ---- */

static bool name_remains(const struct csn_stack_answer *answer, uint32_t name) {
    if (!answer->remaining) return true;
    for (uint32_t i = 0; i < answer->remaining_count; i++)
        if (answer->remaining[i] == name) return true;
    return false;
}

/* Whether a say names one of the callee's candidates. False for `out` too where nothing is known of the callee. */
static bool names_callee(struct stack_walk *walk, const struct csni_stack_place *callee, const struct csni_say *say,
                         bool *out) {
    struct match_result match = { 0 };
    *out = false;
    if (!callee->place || !callee->place->name_count) return true;
    if (!match_say(walk, callee->place, say, false, &match)) return false;
    *out = match.count > 0 && !match.unknown;
    return true;
}

static bool ask(struct stack_walk *walk, const struct csni_stack_place *at, uint32_t k, struct csni_say *out) {
    return csni_place_ask(at->place, k, at->either, &walk->s->seen_arena, &walk->s->arena, walk->work, out);
}

/* Who of the callee's candidates is reached by the tail calls. */
static bool reached(struct stack_walk *walk, const struct csni_stack_place *callee, const struct csni_tails *tails,
                    struct csn_str **names, uint32_t *count) {
    const struct csni_place *place = callee->place;
    *count = 0;
    if (!tails->count || !csni_spend(walk->work, (uint64_t)place->name_count * tails->count)) return true;
    *names = csni_arena_alloc(&walk->s->arena, place->name_count * sizeof(**names));
    if (!*names) return false;
    for (uint32_t i = 0; i < place->name_count; i++)
        if (csni_tails_find(tails, place->names[i], callee->module)) (*names)[(*count)++] = place->names[i];
    return true;
}

/* Instead of a say that names none of the callee's candidates, one that names those that its callees call last. */
static bool follow_say(struct stack_walk *walk, size_t caller, struct csni_say *say, bool *fits) {
    const struct csni_stack_place *callee = &walk->places[caller - 1];
    struct csni_tails tails;
    struct csn_str *names = NULL;
    uint32_t count;
    if (!callee->place || callee->place->name_count < 2) return true;
    if (!csni_tails_follow(walk->s, say, walk->places[caller].module, walk->work, &tails)) return false;
    if (!reached(walk, callee, &tails, &names, &count)) return false;
    if (!count) return true;
    *fits = true;
    say->patterns = names;
    say->pattern_count = count;
    say->flags &= ~(uint32_t)(CSN_CALL_SITE_INTERNAL | CSN_CALL_SITE_EXTERNAL);
    return true;
}

static bool add_say(struct stack_walk *walk, const struct csni_say *own, struct csni_say *whole) {
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

/* Several share the caller's code: each that remains is asked. One that does not speak silences all, and so does one that
 * names somebody else that no known tail call leads away from. For the same reason nothing is expected further in. */
static bool ask_several(struct stack_walk *walk, size_t caller, struct csni_say *out) {
    const struct csni_stack_place *at = &walk->places[caller];
    const struct csn_stack_answer *answer = &walk->answers[caller];
    const struct csni_place *place = at->place;
    uint32_t asked = 0, speakers = 0;
    struct csni_say whole = { 0 };
    bool undecided = answer->chosen == CSN_NOT_CHOSEN;
    bool too_many = place->truncated || answer->remaining_count > SPEAKERS_MAX;
    if (too_many || !csni_spend(walk->work, (uint64_t)place->record_count * answer->remaining_count)) {
        out->notes |= CSN_STACK_NOTE_CALLER_UNDECIDED;
        return true;
    }
    for (uint32_t k = 0; k < place->record_count; k++) speakers += name_remains(answer, place->name_of[k]);
    for (uint32_t k = 0; k < place->record_count; k++) {
        if (!name_remains(answer, place->name_of[k])) continue;
        struct csni_say own = { 0 };
        if (asked++ == SPEAKERS_MAX) own.notes = CSN_STACK_NOTE_LIMIT;
        else if (!ask(walk, at, k, &own)) return false;
        bool fits = true;
        if (speakers > 1 && own.pattern_count) {
            if (!names_callee(walk, &walk->places[caller - 1], &own, &fits)) return false;
            if (!fits && !follow_say(walk, caller, &own, &fits)) return false;
        }
        if (!own.pattern_count || !fits || (own.notes & CSN_STACK_NOTE_LIMIT)) {
            *out = (struct csni_say){ .notes = own.notes | (undecided ? CSN_STACK_NOTE_CALLER_UNDECIDED : 0) };
            return true;
        }
        if (speakers == 1) whole = own;
        else if (!add_say(walk, &own, &whole)) return false;
    }
    *out = whole;
    if (speakers > 1) out->flags &= ~(uint32_t)CSN_CALL_SITE_EXTERNAL;
    return true;
}

/* What is said of the callee of frame `caller`. False: no memory. */
static bool ask_caller(struct stack_walk *walk, size_t caller, struct csni_say *out) {
    *out = (struct csni_say){ 0 };
    if (caller >= walk->count) {
        out->notes = CSN_STACK_NOTE_NO_CALLER;
        return true;
    }
    const struct csni_stack_place *at = &walk->places[caller];
    if (at->exact) out->notes = CSN_STACK_NOTE_INTERRUPTED;
    else if (!at->place || !at->place->record_count) out->notes = CSN_STACK_NOTE_NO_CALLER;
    else if (at->place->record_count > 1) return ask_several(walk, caller, out);
    else return ask(walk, at, 0, out);
    return true;
}

/* ---- deciding ---- */

static void set_evidence(struct csn_stack_answer *answer, uint32_t frame, const struct csni_say *say,
                         const struct match_result *match) {
    answer->evidence_frame = frame;
    if (match->count) answer->evidence_pattern = say->patterns[match->pattern];
}

/* Applies the names that a call site allows to a frame of several. */
static void decide(struct csn_stack_answer *answer, const struct csni_place *place, const struct csni_say *say,
                   const struct match_result *match, uint32_t frame, bool outer) {
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
static bool keep_unused(struct stack_walk *walk, const struct match_result *match, struct csni_say *say) {
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
static bool expect_beyond(struct stack_walk *walk, size_t i, const struct csni_say *say,
                          const struct match_result *match, struct expectation *out) {
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

/* A call site names none of the candidates: perhaps those that it names made a tail call. */
static bool match_through_tails(struct stack_walk *walk, size_t i, const struct csni_say *say, struct match_result *match) {
    const struct csni_stack_place *callee = &walk->places[i], *caller = &walk->places[i + 1];
    const struct csni_place *place = callee->place;
    struct csni_tails tails;
    if (!csni_tails_follow(walk->s, say, caller->module, walk->work, &tails)) return false;
    match->notes |= tails.notes;
    if (!csni_spend(walk->work, (uint64_t)place->name_count * tails.count)) return true;
    for (uint32_t k = 0; k < place->name_count; k++) {
        const struct csni_tail_end *end = csni_tails_find(&tails, place->names[k], callee->module);
        if (!end) continue;
        match->names[match->count++] = k;
        match->pattern = end->start;
        match->tail_calls = end->calls;
    }
    return true;
}

static bool is_matched(const struct match_result *match, uint32_t count, uint32_t name) {
    for (uint32_t i = 0; i < count; i++)
        if (match->names[i] == name) return true;
    return false;
}

/* One that is named may have made a tail call to another one of the same code. */
static bool add_those_behind(struct stack_walk *walk, const struct csni_stack_place *callee, struct match_result *match) {
    const struct csni_place *place = callee->place;
    uint32_t named = match->count;
    for (uint32_t i = 0; i < named && named < place->name_count; i++) {
        struct csni_tails tails;
        if (!csni_tails_of_name(walk->s, place, match->names[i], callee->module, walk->work, &tails)) return false;
        uint64_t steps = (uint64_t)place->name_count * (tails.count + match->count);
        if (tails.count && !csni_spend(walk->work, steps)) tails.notes |= CSN_STACK_NOTE_LIMIT;
        match->notes |= tails.notes & CSN_STACK_NOTE_LIMIT;
        match->unknown = match->notes & CSN_STACK_NOTE_LIMIT;
        if (match->unknown) return true;
        for (uint32_t k = 0; tails.count && k < place->name_count; k++)
            if (!is_matched(match, match->count, k) && csni_tails_find(&tails, place->names[k], callee->module))
                match->names[match->count++] = k;
    }
    return true;
}

/* The caller's call site has patterns: it alone counts. */
static bool hear_caller(struct stack_walk *walk, size_t i, const struct csni_say *say, struct expectation *expected) {
    const struct csni_stack_place *callee = &walk->places[i], *caller = &walk->places[i + 1];
    struct csn_stack_answer *answer = &walk->answers[i];
    struct match_result match = { 0 };
    uint32_t name_count = callee->place ? callee->place->name_count : 0;
    bool merged = name_count > 1;
    uint32_t where = say->flags & (CSN_CALL_SITE_INTERNAL | CSN_CALL_SITE_EXTERNAL);
    bool other = where == CSN_CALL_SITE_INTERNAL && callee->module != caller->module;
    /* The only name of a frame needs no patterns, unless they say what is expected further in. */
    if (merged || (name_count && (other || goes_elsewhere(say, callee, caller)))) {
        if (!match_say(walk, callee->place, say, true, &match)) return false;
        if (other) match.count = 0;
        bool gone = merged && !match.count && !match.unknown;
        if (gone && !match_through_tails(walk, i, say, &match)) return false;
        if (merged && !gone && !match.unknown && !add_those_behind(walk, callee, &match)) return false;
        if (other && !match.count) {
            answer->notes |= CSN_STACK_NOTE_OTHER_IMAGE | match.notes;
        } else if (merged) {
            decide(answer, callee->place, say, &match, (uint32_t)i + 1, false);
        }
    }
    return expect_beyond(walk, i, say, &match, expected);
}

/* The caller says nothing: an outer expectation may fit. */
static bool hear_outer(struct stack_walk *walk, size_t i, struct expectation *expected) {
    const struct csni_stack_place *at = &walk->places[i];
    struct match_result match = { 0 };
    bool same = at->module == expected->module;
    bool asked = at->place && at->place->name_count && (same || !expected->only_that_module);
    if (asked && !match_say(walk, at->place, &expected->say, false, &match)) return false;
    if (match.count && !match.unknown && !add_those_behind(walk, at, &match)) return false;
    if (match.count && at->place->name_count > 1)
        decide(&walk->answers[i], at->place, &expected->say, &match, expected->frame, true);
    /* Met, or back in the image that expected something else. */
    if (match.count || match.unknown || same) expected->held = false;
    return true;
}

/* The frames of the function that was chosen, where they are not the index's own. */
static bool show_chosen(struct stack_walk *walk, size_t i) {
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

static bool choose_frame(struct stack_walk *walk, size_t i, struct expectation *expected) {
    struct csni_say say;
    struct csn_stack_answer *answer = &walk->answers[i];
    const struct csni_place *place = walk->places[i].place;
    bool merged = place && place->name_count > 1;
    if (!ask_caller(walk, i + 1, &say)) return false;
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
    struct stack_walk walk = { s, places, answers, count, work };
    struct expectation expected = { 0 };
    for (size_t i = count; i-- > 0;)
        if (!choose_frame(&walk, i, &expected)) return false;
    return true;
}
