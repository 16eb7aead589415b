/* What a caller says of its callee: the call site for the return address names it.
 *
 * A call site speaks for one function only. Where the caller is one of several that share its code, the call sites of
 * all that remain must speak, each for itself. */
#include <string.h>

#include "symbolicate/stack_choose.h"

enum { SPEAKERS_MAX = 64 }; /* remaining records of a caller that are asked */

static bool name_remains(const struct csn_stack_answer *answer, uint32_t name) {
    if (!answer->remaining) return true;
    for (uint32_t i = 0; i < answer->remaining_count; i++)
        if (answer->remaining[i] == name) return true;
    return false;
}

/* Whether a say names one of the callee's candidates. False for `out` too where nothing is known of the callee. */
static bool names_callee(struct csni_stack_walk *walk, const struct csni_stack_place *callee, const struct csni_say *say,
                         bool *out) {
    struct csni_stack_match match = { 0 };
    *out = false;
    if (!callee->place || !callee->place->name_count) return true;
    if (!csni_stack_match(walk, callee->place, say, false, &match)) return false;
    *out = match.count > 0 && !match.unknown;
    return true;
}

static bool ask(struct csni_stack_walk *walk, const struct csni_stack_place *at, uint32_t k, struct csni_say *out) {
    return csni_place_ask(at->place, k, at->either, &walk->s->seen_arena, &walk->s->arena, walk->work, out);
}

/* Who of the callee's candidates is reached by the tail calls. */
static bool reached(struct csni_stack_walk *walk, const struct csni_stack_place *callee, const struct csni_tails *tails,
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
static bool follow_say(struct csni_stack_walk *walk, size_t caller, struct csni_say *say, bool *fits) {
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

static bool add_say(struct csni_stack_walk *walk, const struct csni_say *own, struct csni_say *whole) {
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
static bool ask_several(struct csni_stack_walk *walk, size_t caller, struct csni_say *out) {
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

bool csni_stack_ask_caller(struct csni_stack_walk *walk, size_t caller, struct csni_say *out) {
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
