/* Derivatives of functions. */
#include "names/swift/swift_read.h"

static swift_node *add_rest(swift_reader *r, swift_node *out) {
    swift_node *node;
    while (out && (node = csni_swift_pop(r))) out = csni_swift_add(r->memory, out, node);
    if (out) csni_swift_reverse(out, 0);
    return out;
}

static swift_node *derivative_kind(swift_reader *r) {
    char kind = csni_swift_next(r);
    if (!kind || !strchr("frdp", kind)) return NULL;
    return csni_swift_new_index(r->memory, SWIFT_DERIVATIVE_KIND, (uint64_t)kind);
}

/* Which of the parameters, 'S', or not, 'U'; and the letter after them. */
static swift_node *add_subset(swift_reader *r, swift_node *out, char end) {
    const char *start = r->at;
    while (csni_swift_peek(r) == 'S' || csni_swift_peek(r) == 'U') r->at++;
    struct csn_str text = { start, (size_t)(r->at - start) };
    if (!text.len || !csni_swift_take(r, end)) return NULL;
    return csni_swift_add(r->memory, out, csni_swift_new_text(r->memory, SWIFT_INDEX_SUBSET, text));
}

static swift_node *function(swift_reader *r, enum csni_swift_kind kind) {
    swift_node *out = add_rest(r, csni_swift_new(r->memory, kind));
    out = csni_swift_add(r->memory, out, derivative_kind(r));
    return add_subset(r, add_subset(r, out, 'p'), 'r');
}

static swift_node *subset_thunk(swift_reader *r) {
    swift_node *out = add_rest(r, csni_swift_new(r->memory, SWIFT_SUBSET_THUNK));
    if (!out || !csni_swift_count(out)) return NULL;
    out = csni_swift_add(r->memory, out, derivative_kind(r));
    return add_subset(r, add_subset(r, add_subset(r, out, 'p'), 'r'), 'P');
}

static swift_node *reordering_thunk(swift_reader *r) {
    swift_node *signature = csni_swift_pop_signature(r), *to = csni_swift_pop_type(r), *from = csni_swift_pop_type(r);
    swift_node *out = csni_swift_with2(r->memory, SWIFT_SELF_REORDERING_THUNK, NULL, from, to);
    if (signature) out = csni_swift_add(r->memory, out, signature);
    return csni_swift_add(r->memory, out, derivative_kind(r));
}

swift_node *csni_swift_derivative(swift_reader *r) {
    if (csni_swift_take(r, 'S')) return subset_thunk(r);
    if (csni_swift_take(r, 'O')) return reordering_thunk(r);
    if (csni_swift_take(r, 'V')) return function(r, SWIFT_DERIVATIVE_VTABLE_THUNK);
    return function(r, SWIFT_DERIVATIVE);
}

swift_node *csni_swift_differentiability_witness(swift_reader *r) {
    swift_node *signature = csni_swift_pop_signature(r);
    swift_node *out = add_rest(r, csni_swift_new(r->memory, SWIFT_DIFFERENTIABILITY_WITNESS));
    char kind = csni_swift_next(r);
    if (!kind || !strchr("frdl", kind)) return NULL;
    out = csni_swift_add(r->memory, out, csni_swift_new_index(r->memory, SWIFT_INDEX, (uint64_t)kind));
    out = add_subset(r, add_subset(r, out, 'p'), 'r');
    csni_swift_add(r->memory, out, signature);
    return out;
}
