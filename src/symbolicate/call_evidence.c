/* Reading the call sites of one return address. */
#include "symbolicate/call_evidence.h"


enum { PATTERN_BYTES_PER_STEP = 64 };

/* The call sites of one record that return to one address. */
struct return_walk {
    struct csn_call_site_iter iter;
    uint64_t offset; /* of the return address in the function */
    bool either;
};

/* CSN_OK, CSN_NONE at the end, CSN_E_LIMIT when the budget is used up, or damage. */
static csn_status next_return_site(struct return_walk *walk, struct csni_budget *budget, struct csn_call_site *out) {
    for (;;) {
        csn_status status = csn_call_site_iter_next(&walk->iter, out, NULL);
        if (status != CSN_OK) return status;
        if (!csni_budget_charge(budget, 1)) return CSN_E_LIMIT;
        if (out->flags & CSN_CALL_SITE_TAIL) continue;
        if (out->return_offset == walk->offset || (walk->either && out->return_offset == walk->offset + 1)) return CSN_OK;
    }
}

static void append_patterns(const struct csn_index *index, const struct csn_call_site *call, struct csn_str *patterns,
                            struct csni_budget *budget, struct csni_call_evidence *out) {
    for (uint32_t k = 0; k < call->pattern_count; k++) {
        struct csn_str *pattern = &patterns[out->pattern_count];
        if (csn_call_site_pattern(index, call, k, pattern, NULL) != CSN_OK) {
            out->notes |= CSN_STACK_NOTE_BAD_PATTERN;
        } else if (csni_budget_charge(budget, pattern->len / PATTERN_BYTES_PER_STEP)) {
            out->pattern_count++;
        } else {
            out->notes |= CSN_STACK_NOTE_LIMIT;
            return;
        }
    }
}

/* Damage ends the list: what follows it cannot be known. */
bool csni_call_evidence_read(const struct csn_index *index, const struct csn_record *record, uint64_t ret, bool either,
                             struct csni_arena *arena, struct csni_budget *budget, struct csni_call_evidence *out) {
    struct return_walk walk = { .offset = ret - record->start, .either = either };
    struct csn_call_site call;
    uint64_t site_count = 0, pattern_count = 0;
    *out = (struct csni_call_evidence){ 0 };
    csn_status status = csn_call_site_iter_init(&walk.iter, index, record, NULL);
    while (status == CSN_OK && (status = next_return_site(&walk, budget, &call)) == CSN_OK) {
        site_count++;
        pattern_count += call.pattern_count;
        out->flags |= call.flags;
    }
    if (status < 0 || !csni_budget_charge(budget, pattern_count)) {
        out->notes |= CSN_STACK_NOTE_LIMIT;
        return true;
    }
    if (!site_count) out->notes |= CSN_STACK_NOTE_NO_CALL_SITE;
    else if (!pattern_count) out->notes |= CSN_STACK_NOTE_INDIRECT;
    out->known = site_count > 0;
    if (!pattern_count) return true;

    struct csn_str *patterns = csni_arena_alloc(arena, (size_t)pattern_count * sizeof(*patterns));
    if (!patterns) return false;
    out->patterns = patterns;
    status = csn_call_site_iter_init(&walk.iter, index, record, NULL);
    for (; site_count && status == CSN_OK && next_return_site(&walk, budget, &call) == CSN_OK; site_count--)
        append_patterns(index, &call, patterns, budget, out);
    if (site_count) out->notes |= CSN_STACK_NOTE_LIMIT;
    return true;
}
