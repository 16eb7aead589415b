/* Which candidates of a frame patterns allow: by their names, or by the tail calls that lead to them. */
#include <string.h>

#include "base/core/span.h"
#include "symbolicate/stack_choose.h"

enum {
    EXPRESSION_WORK = 100,  /* an expression costs that many comparisons, */
    PATTERN_BYTES = 8,      /* that much of a pattern another one, */
    GIVE_UP_WORK = 100000   /* or all that it may do */
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

static bool match_pattern(struct csni_stack_walk *walk, const struct csni_place *place, struct csn_str pattern, uint32_t k,
                          bool *matched, struct csni_stack_match *out) {
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

bool csni_stack_match(struct csni_stack_walk *walk, const struct csni_place *place, const struct csni_say *say,
                      bool want_used, struct csni_stack_match *out) {
    *out = (struct csni_stack_match){ 0 };
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

/* ---- tail calls ---- */

bool csni_stack_match_tails(struct csni_stack_walk *walk, size_t i, const struct csni_say *say,
                            struct csni_stack_match *match) {
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

static bool is_matched(const struct csni_stack_match *match, uint32_t count, uint32_t name) {
    for (uint32_t i = 0; i < count; i++)
        if (match->names[i] == name) return true;
    return false;
}

bool csni_stack_match_behind(struct csni_stack_walk *walk, const struct csni_stack_place *callee,
                             struct csni_stack_match *match) {
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
