/* Specializations of functions: for types, and for how their arguments are passed. */
#include "names/swift/swift_read.h"
#include "names/swift/swift_specialization.h"

/* What is put before a specialization's parameters; the digit is the pass of the optimizer. Compilers before Swift
 * 6.3 wrote 'm' where parameters of metatypes were removed. */
static swift_node *new_specialization(swift_reader *r, enum csni_swift_kind kind, const char *label) {
    csni_swift_take(r, 'm');
    bool serialized = csni_swift_take(r, 'q'), async_removed = csni_swift_take(r, 'a'), changed = csni_swift_take(r, 'r');
    char pass = csni_swift_next(r);
    if (!csni_swift_digit(pass)) return NULL;
    swift_node *out = csni_swift_new_label(r->memory, kind, label);
    if (serialized) csni_swift_add(r->memory, out, csni_swift_new(r->memory, SWIFT_SERIALIZED));
    if (async_removed) csni_swift_add(r->memory, out, csni_swift_new(r->memory, SWIFT_ASYNC_REMOVED));
    if (changed) csni_swift_add(r->memory, out, csni_swift_new(r->memory, SWIFT_REPRESENTATION_CHANGED));
    return csni_swift_add(r->memory, out, csni_swift_new_index(r->memory, SWIFT_PASS, (uint64_t)(pass - '0')));
}

static swift_node *add_types(swift_reader *r, swift_node *out) {
    swift_node *types = out ? csni_swift_pop_type_list(r) : NULL;
    if (!types) return NULL;
    for (uint32_t i = 0; i < csni_swift_count(types); i++) {
        swift_node *type = csni_swift_with1(r->memory, SWIFT_SPECIALIZATION_PARAMETER, NULL, csni_swift_child(types, i));
        if (!csni_swift_add(r->memory, out, type)) return NULL;
    }
    return out;
}

swift_node *csni_swift_generic_specialization(swift_reader *r, const char *label) {
    return add_types(r, new_specialization(r, SWIFT_SPECIALIZATION, label));
}

swift_node *csni_swift_partial_specialization(swift_reader *r, const char *label) {
    swift_node *out = new_specialization(r, SWIFT_SPECIALIZATION, label);
    return csni_swift_add(r->memory, out,
                          csni_swift_with1(r->memory, SWIFT_SPECIALIZATION_PARAMETER, NULL, csni_swift_pop_type(r)));
}

/* "t", and the number of an argument that is dropped, once for each. The arguments are not written. */
swift_node *csni_swift_specialization_with_dropped(swift_reader *r) {
    do csni_swift_natural(r);
    while (csni_swift_take(r, 't'));
    switch (csni_swift_next(r)) {
    case 'g':
    case 'B': return csni_swift_generic_specialization(r, "generic specialization <");
    case 'G': return csni_swift_generic_specialization(r, "generic not re-abstracted specialization <");
    default: return NULL;
    }
}

static swift_node *add_kind(swift_reader *r, swift_node *parameter, uint64_t kind) {
    return csni_swift_add(r->memory, parameter, csni_swift_new_index(r->memory, SWIFT_PARAMETER_KIND, kind));
}

static swift_node *add_payload(swift_reader *r, swift_node *parameter, struct csn_str text) {
    return csni_swift_add(r->memory, parameter, csni_swift_new_text(r->memory, SWIFT_PARAMETER_PAYLOAD, text));
}

static swift_node *add_number(swift_reader *r, swift_node *parameter, uint64_t kind) {
    const char *start = r->at;
    while (csni_swift_digit(csni_swift_peek(r))) r->at++;
    if (r->at == start || !add_kind(r, parameter, kind)) return NULL;
    return add_payload(r, parameter, (struct csn_str){ start, (size_t)(r->at - start) });
}

static swift_node *add_string(swift_reader *r, swift_node *parameter) {
    const char *encoding;
    switch (csni_swift_next(r)) {
    case 'b': encoding = "u8"; break;
    case 'w': encoding = "u16"; break;
    case 'c': encoding = "objc"; break;
    default: return NULL;
    }
    if (!add_kind(r, parameter, SWIFT_CONSTANT_STRING)) return NULL;
    return add_payload(r, parameter, (struct csn_str){ encoding, strlen(encoding) });
}

/* Constants that are known: a row of them where structures are taken apart. */
static swift_node *add_constants(swift_reader *r, swift_node *parameter) {
    for (;; r->at++) {
        swift_node *done;
        switch (csni_swift_peek(r)) {
        case 'S': done = add_kind(r, parameter, SWIFT_CONSTANT_STRUCT); break;
        case 'f': done = add_kind(r, parameter, SWIFT_CONSTANT_FUNCTION); break;
        case 'g': done = add_kind(r, parameter, SWIFT_CONSTANT_GLOBAL); break;
        case 'k': done = add_kind(r, parameter, SWIFT_CONSTANT_KEY_PATH); break;
        case 'i':
        case 'd':
            done = add_number(r, parameter, *r->at++ == 'i' ? SWIFT_CONSTANT_INTEGER : SWIFT_CONSTANT_FLOAT);
            r->at--;
            break;
        case 's':
            r->at++;
            done = add_string(r, parameter);
            r->at--;
            break;
        default: return parameter;
        }
        if (!done) return NULL;
    }
}

static swift_node *add_flags(swift_reader *r, swift_node *parameter, uint64_t flags, const char *more) {
    for (; *more; more++) {
        if (!csni_swift_take(r, *more)) continue;
        flags |= *more == 'D' ? SWIFT_DEAD : *more == 'G' ? SWIFT_TO_GUARANTEED : *more == 'O' ? SWIFT_TO_OWNED : SWIFT_EXPLODED;
    }
    return add_kind(r, parameter, flags);
}

static swift_node *add_earlier_closure(swift_reader *r, swift_node *parameter) {
    int32_t argument = csni_swift_natural(r);
    if (argument < 0 || !add_kind(r, parameter, SWIFT_CLOSURE_OF_ARGUMENT)) return NULL;
    return csni_swift_add(r->memory, parameter, csni_swift_new_index(r->memory, SWIFT_PARAMETER_PAYLOAD, (uint64_t)argument));
}

static swift_node *parameter(swift_reader *r, enum csni_swift_kind kind) {
    swift_node *out = csni_swift_new(r->memory, kind);
    switch (csni_swift_next(r)) {
    case 'n': return out;
    case 'c': return add_kind(r, out, SWIFT_CLOSURE_PROPAGATED);
    case 'C': return add_earlier_closure(r, out);
    case 'p': return add_constants(r, out);
    case 'e': return add_flags(r, out, SWIFT_TO_GENERIC, "DGOX");
    case 'd': return add_flags(r, out, SWIFT_DEAD, "GOX");
    case 'g': return add_flags(r, out, SWIFT_TO_GUARANTEED, "X");
    case 'o': return add_flags(r, out, SWIFT_TO_OWNED, "X");
    case 'x': return add_kind(r, out, SWIFT_EXPLODED);
    case 'i': return add_kind(r, out, SWIFT_BOX_TO_VALUE);
    case 's': return add_kind(r, out, SWIFT_BOX_TO_STACK);
    case 'r': return add_kind(r, out, SWIFT_INOUT_TO_OUT);
    default: return NULL;
    }
}

/* What the parameter's kinds take from the stack: in the opposite order. */
static bool add_operands(swift_reader *r, swift_node *parameter) {
    uint32_t fixed = csni_swift_count(parameter);
    for (uint32_t i = fixed; i-- > 0;) {
        swift_node *kind = csni_swift_child(parameter, i), *type;
        if (kind->kind != SWIFT_PARAMETER_KIND) continue;
        switch (kind->index) {
        case SWIFT_CLOSURE_PROPAGATED:
            while ((type = csni_swift_pop_type(r)))
                if (!csni_swift_add(r->memory, parameter, type)) return false;
            break;
        case SWIFT_CONSTANT_KEY_PATH:
            if (!csni_swift_add(r->memory, parameter, csni_swift_pop_type(r))) return false;
            if (!csni_swift_add(r->memory, parameter, csni_swift_pop_type(r))) return false;
            break;
        case SWIFT_CONSTANT_STRUCT:
            if (!csni_swift_add(r->memory, parameter, csni_swift_pop_type(r))) return false;
            continue;
        case SWIFT_CONSTANT_FUNCTION:
        case SWIFT_CONSTANT_GLOBAL:
        case SWIFT_CONSTANT_STRING: break;
        default: continue;
        }
        if (!csni_swift_add(r->memory, parameter, csni_swift_pop_kind(r, SWIFT_IDENTIFIER))) return false;
    }
    csni_swift_reverse(parameter, fixed);
    return true;
}

swift_node *csni_swift_function_specialization(swift_reader *r) {
    swift_node *out = new_specialization(r, SWIFT_FUNCTION_SPECIALIZATION, "function signature specialization <");
    if (!out) return NULL;
    if (csni_swift_is(csni_swift_child(out, 0), SWIFT_REPRESENTATION_CHANGED)) return out;
    while (!csni_swift_take(r, '_'))
        if (!csni_swift_add(r->memory, out, parameter(r, SWIFT_FUNCTION_PARAMETER))) return NULL;
    if (!csni_swift_take(r, 'n') && !csni_swift_add(r->memory, out, parameter(r, SWIFT_FUNCTION_RETURN))) return NULL;
    for (uint32_t i = csni_swift_count(out); i-- > 0;) {
        swift_node *child = csni_swift_child(out, i);
        if (child->kind == SWIFT_FUNCTION_PARAMETER && !add_operands(r, child)) return NULL;
    }
    return out;
}
