/* Thunks, descriptors and what else stands before or around a function: operators that begin with 'T'. */
#include "names/swift/swift_read.h"

static swift_node *attribute(swift_reader *r, const char *label) { return csni_swift_new_label(r->memory, SWIFT_ATTRIBUTE, label); }

static swift_node *of_entity(swift_reader *r, const char *label) { return csni_swift_phrase(r, label, csni_swift_pop_entity(r)); }

static swift_node *reabstraction(swift_reader *r, char kind) {
    bool has_self = kind == 'y';
    const char *label = kind == 'R' ? "reabstraction thunk helper " : "reabstraction thunk ";
    swift_node *out =
        csni_swift_new_label(r->memory, has_self ? SWIFT_REABSTRACTION_THUNK_WITH_SELF : SWIFT_REABSTRACTION_THUNK, label);
    csni_swift_add(r->memory, out, csni_swift_pop_signature(r));
    for (int i = has_self ? 3 : 2; i > 0; i--) csni_swift_add(r->memory, out, csni_swift_pop_type(r));
    return out;
}

static swift_node *resume(swift_reader *r, const char *label) {
    return csni_swift_with1(r->memory, SWIFT_ATTRIBUTE, label, csni_swift_index_node(r));
}

static swift_node *completion_handler(swift_reader *r, const char *label) {
    swift_node *flag = csni_swift_index_node(r), *signature = csni_swift_pop_signature(r);
    swift_node *result = csni_swift_pop_type(r), *type = csni_swift_pop_type(r);
    swift_node *out = csni_swift_with3(r->memory, SWIFT_COMPLETION_HANDLER, label, type, result, flag);
    csni_swift_add(r->memory, out, signature);
    return out;
}

static const char *key_path_label(swift_reader *r, char kind) {
    if (r->end - r->at >= 2 && (memcmp(r->at, "mu", 2) == 0 || memcmp(r->at, "MA", 2) == 0)) {
        r->at += 2;
        return r->at[-1] == 'u' ? "key path unapplied method " : "key path applied method ";
    }
    return kind == 'K' ? "key path getter for " : "key path setter for ";
}

/* In the order of the name, from a list that was popped. */
static swift_node *add_backwards(swift_reader *r, swift_node *out, const struct csni_swift_list *types) {
    for (uint32_t i = types->count; i-- > 0;) out = csni_swift_add(r->memory, out, types->at[i]);
    return out;
}

static bool pop_types(swift_reader *r, struct csni_swift_list *types) {
    swift_node *type;
    while ((type = csni_swift_pop_type(r)))
        if (!csni_swift_push(r->memory, types, type)) return false;
    return true;
}

static swift_node *add_serialized(swift_reader *r, swift_node *out, bool is_serialized) {
    return is_serialized ? csni_swift_add(r->memory, out, csni_swift_new(r->memory, SWIFT_SERIALIZED)) : out;
}

static swift_node *key_path(swift_reader *r, char kind) {
    struct csni_swift_list types = { 0 };
    const char *label = key_path_label(r, kind);
    bool is_serialized = csni_swift_take(r, 'q');
    if (!pop_types(r, &types) || !types.count) return NULL;
    swift_node *declaration = csni_swift_pop(r), *out;
    if (csni_swift_is(declaration, SWIFT_GENERIC_SIGNATURE))
        out = csni_swift_with2(r->memory, SWIFT_KEY_PATH_THUNK, label, csni_swift_pop(r), declaration);
    else
        out = csni_swift_with1(r->memory, SWIFT_KEY_PATH_THUNK, label, declaration);
    return add_serialized(r, add_backwards(r, out, &types), is_serialized);
}

static swift_node *key_path_operator(swift_reader *r, const char *label) {
    struct csni_swift_list types = { 0 };
    bool is_serialized = csni_swift_take(r, 'q');
    swift_node *signature = csni_swift_pop_signature(r);
    if (!pop_types(r, &types) || r->stack.count || (!signature && !types.count)) return NULL;
    swift_node *out = add_backwards(r, csni_swift_new_label(r->memory, SWIFT_KEY_PATH_OPERATOR, label), &types);
    if (signature) out = csni_swift_add(r->memory, out, signature);
    return add_serialized(r, out, is_serialized);
}

static swift_node *associated_conformance(swift_reader *r, const char *label) {
    swift_node *requirement = csni_swift_pop_protocol(r), *path = csni_swift_pop_associated_path(r);
    swift_node *protocol = csni_swift_pop_type(r);
    return csni_swift_with3(r->memory, SWIFT_PHRASE, label, protocol, path, requirement);
}

static swift_node *base_conformance(swift_reader *r) {
    swift_node *requirement = csni_swift_pop_protocol(r), *protocol = csni_swift_pop_type(r);
    return csni_swift_with2(r->memory, SWIFT_PHRASE, "base conformance descriptor for %0: %1", protocol, requirement);
}

/* A constant that was moved out of a function. */
static swift_node *outlined_variable(swift_reader *r) {
    int32_t index = csni_swift_index(r);
    if (index < 0) return NULL;
    bool read_only = csni_swift_next(r) == 'r';
    swift_node *out = csni_swift_new_index(r->memory, SWIFT_ATTRIBUTE, (uint64_t)index);
    if (out) out->label = read_only ? "outlined read-only object #%i of " : "outlined variable #%i of ";
    return out;
}

static swift_node *bridged_method(swift_reader *r) {
    const char *start = r->at;
    if (!strchr("opam", csni_swift_peek(r)) || !csni_swift_next(r)) return NULL;
    while (!csni_swift_take(r, '_')) {
        char c = csni_swift_next(r);
        if (c != 'n' && c != 'b' && c != 'g') return NULL;
    }
    struct csn_str parameters = { start, (size_t)(r->at - start) - 1 };
    swift_node *out = csni_swift_new_text(r->memory, SWIFT_ATTRIBUTE, parameters);
    if (out) out->label = "outlined bridged method (%t) of ";
    return out;
}

static swift_node *witness_thunk(swift_reader *r) {
    swift_node *entity = csni_swift_pop_entity(r), *conformance = csni_swift_pop_conformance(r);
    return csni_swift_with2(r->memory, SWIFT_PHRASE, "protocol witness for %1 in conformance %0", conformance, entity);
}

static swift_node *vtable_thunk(swift_reader *r) {
    swift_node *base = csni_swift_pop_entity(r), *derived = csni_swift_pop_entity(r);
    return csni_swift_with2(r->memory, SWIFT_PHRASE, "vtable thunk for %1 dispatching to %0", derived, base);
}

static swift_node *global_actor_thunk(swift_reader *r) {
    swift_node *actor = csni_swift_pop_type(r), *thunk = actor ? csni_swift_pop(r) : NULL;
    return csni_swift_with2(r->memory, SWIFT_PHRASE, "%0 with global actor constraint %1", thunk, actor);
}

static swift_node *deployment(swift_reader *r) {
    switch (csni_swift_next(r)) {
    case 'b': return attribute(r, "back deployment thunk for ");
    case 'B': return attribute(r, "back deployment fallback for ");
    case 'c': return attribute(r, "coro function pointer to ");
    case 'd': return attribute(r, "default override of ");
    case 'S': return attribute(r, "#_hasSymbol query for ");
    default: return NULL;
    }
}

static swift_node *partial_apply(swift_reader *r, const char *label) {
    return csni_swift_new_label(r->memory, SWIFT_PARTIAL_APPLY, label);
}

swift_node *csni_swift_thunk(swift_reader *r) {
    char kind = csni_swift_next(r);
    switch (kind) {
    case 'T': return csni_swift_take(r, 'I') ? of_entity(r, "identity thunk of %0") : NULL;
    case 'c': return of_entity(r, "curry thunk of %0");
    case 'j': return of_entity(r, "dispatch thunk of %0");
    case 'q': return of_entity(r, "method descriptor for %0");
    case 'o': return attribute(r, "@objc ");
    case 'O': return attribute(r, "@nonobjc ");
    case 'D': return attribute(r, "dynamic ");
    case 'd': return attribute(r, "super ");
    case 'E': return attribute(r, "distributed thunk ");
    case 'F': return attribute(r, "distributed accessor for ");
    case 'a': return partial_apply(r, "partial apply ObjC forwarder");
    case 'A': return partial_apply(r, "partial apply forwarder");
    case 'm': return attribute(r, "merged ");
    case 'X': return attribute(r, "dynamically replaceable variable for ");
    case 'x': return attribute(r, "dynamically replaceable key for ");
    case 'I': return attribute(r, "dynamically replaceable thunk for ");
    case 'Y': return resume(r, "(%0) suspend resume partial function for ");
    case 'Q': return resume(r, "(%0) await resume partial function for ");
    case 'C': return csni_swift_phrase(r, "coroutine continuation prototype for %0", csni_swift_pop_type(r));
    case 'z': return completion_handler(r, "@objc completion handler block implementation for ");
    case 'Z': return completion_handler(r, "checked @objc completion handler block implementation for ");
    case 'V': return vtable_thunk(r);
    case 'W': return witness_thunk(r);
    case 'S': return of_entity(r, "protocol self-conformance witness for %0");
    case 'R':
    case 'r':
    case 'y': return reabstraction(r, kind);
    case 'g':
    case 'B': return csni_swift_generic_specialization(r, "generic specialization <");
    case 'G': return csni_swift_generic_specialization(r, "generic not re-abstracted specialization <");
    case 't': return csni_swift_specialization_with_dropped(r);
    case 's': return csni_swift_generic_specialization(r, "generic pre-specialization <");
    case 'i': return csni_swift_generic_specialization(r, "inlined generic function <");
    case 'p': return csni_swift_partial_specialization(r, "generic partial specialization <Signature = ");
    case 'P': return csni_swift_partial_specialization(r, "generic not-reabstracted partial specialization <Signature = ");
    case 'f': return csni_swift_function_specialization(r);
    case 'K':
    case 'k': return key_path(r, kind);
    case 'l': return csni_swift_phrase(r, "associated type descriptor for %0", csni_swift_pop_associated_name(r));
    case 'L': return csni_swift_phrase(r, "protocol requirements base descriptor for %0", csni_swift_pop_protocol(r));
    case 'M': return csni_swift_phrase(r, "default associated type metadata accessor for %0", csni_swift_pop_associated_name(r));
    case 'n': return associated_conformance(r, "associated conformance descriptor for %0.%1: %2");
    case 'N': return associated_conformance(r, "default associated conformance accessor for %0.%1: %2");
    case 'b': return base_conformance(r);
    case 'H': return key_path_operator(r, "key path index equality operator for ");
    case 'h': return key_path_operator(r, "key path index hash operator for ");
    case 'v': return outlined_variable(r);
    case 'e': return bridged_method(r);
    case 'u': return attribute(r, "async function pointer to ");
    case 'U': return global_actor_thunk(r);
    case 'J': return csni_swift_derivative(r);
    case 'w': return deployment(r);
    default: return NULL;
    }
}
