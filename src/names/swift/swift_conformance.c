/* Conformances to protocols, and the records of the run-time library about them. */
#include "names/swift/swift_read.h"

swift_node *csni_swift_pop_conformance(swift_reader *r) {
    swift_node *signature = csni_swift_pop_signature(r), *module = csni_swift_pop_module(r);
    swift_node *protocol = csni_swift_pop_protocol(r), *type = csni_swift_pop_type(r), *behavior = NULL;
    if (!type) {
        behavior = csni_swift_pop_kind(r, SWIFT_IDENTIFIER);
        type = csni_swift_pop_type(r);
    }
    if (signature) type = csni_swift_type(r, csni_swift_with2(r->memory, SWIFT_GENERIC_TYPE, NULL, signature, type));
    swift_node *out = csni_swift_with3(r->memory, SWIFT_PROTOCOL_CONFORMANCE, NULL, type, protocol, module);
    csni_swift_add(r->memory, out, behavior);
    return out;
}

static bool is_any(uint32_t kind) {
    return kind == SWIFT_CONCRETE_CONFORMANCE || kind == SWIFT_PACK_CONFORMANCE || kind == SWIFT_DEPENDENT_CONFORMANCE ||
           kind == SWIFT_OPAQUE_CONFORMANCE;
}
static bool is_reference(uint32_t kind) { return kind == SWIFT_CONFORMANCE_REFERENCE; }
static bool is_dependent(uint32_t kind) { return kind == SWIFT_DEPENDENT_CONFORMANCE; }

swift_node *csni_swift_pop_any_conformance(swift_reader *r) { return csni_swift_pop_if(r, is_any); }

static swift_node *pop_conformance_list(swift_reader *r) {
    return csni_swift_pop_list(r, csni_swift_new(r->memory, SWIFT_CONFORMANCE_LIST), csni_swift_pop_any_conformance);
}

static swift_node *concrete(swift_reader *r) {
    swift_node *conditions = pop_conformance_list(r), *reference = csni_swift_pop_if(r, is_reference);
    if (!reference) {
        swift_node *module = csni_swift_pop_module(r), *protocol = csni_swift_pop_protocol(r);
        reference = csni_swift_with2(r->memory, SWIFT_PHRASE, "protocol conformance ref (retroactive) %*", protocol, module);
    }
    swift_node *type = csni_swift_pop_type(r);
    return csni_swift_with3(r->memory, SWIFT_CONCRETE_CONFORMANCE, NULL, type, reference, conditions);
}

/* Of an index, which is one more than is meant, and 1 where it is not known. */
static swift_node *dependent_index(swift_reader *r) {
    int32_t index = csni_swift_index(r);
    if (index <= 0) return NULL;
    return index == 1 ? csni_swift_new(r->memory, SWIFT_UNKNOWN_INDEX)
                      : csni_swift_new_index(r->memory, SWIFT_INDEX, (uint64_t)index - 2);
}

static swift_node *dependent(swift_reader *r, char kind) {
    swift_node *index = dependent_index(r), *protocol = csni_swift_pop_protocol(r), *base;
    const char *label = "dependent root protocol conformance ";
    if (kind == 'A') {
        swift_node *type = csni_swift_pop_type(r);
        protocol = csni_swift_with2(r->memory, SWIFT_PHRASE, "dependent associated conformance %*", type, protocol);
        label = "dependent associated protocol conformance ";
    }
    if (kind == 'I') label = "dependent inherited protocol conformance ";
    base = kind == 'D' ? csni_swift_pop_type(r) : csni_swift_pop_if(r, is_dependent);
    return csni_swift_with3(r->memory, SWIFT_DEPENDENT_CONFORMANCE, label, base, protocol, index);
}

static swift_node *opaque(swift_reader *r) {
    swift_node *type = csni_swift_pop_type(r), *conformance = csni_swift_pop_if(r, is_dependent);
    return csni_swift_with2(r->memory, SWIFT_OPAQUE_CONFORMANCE, "opaque result conformance %0 of %1", conformance, type);
}

static swift_node *reference(swift_reader *r, const char *label) {
    return csni_swift_with1(r->memory, SWIFT_CONFORMANCE_REFERENCE, label, csni_swift_pop_protocol(r));
}

swift_node *csni_swift_conformance(swift_reader *r) {
    char kind = csni_swift_next(r);
    switch (kind) {
    case 'A':
    case 'D':
    case 'I': return dependent(r, kind);
    case 'C': return concrete(r);
    case 'O': return opaque(r);
    case 'P': return reference(r, "protocol conformance ref (type's module) %0");
    case 'p': return reference(r, "protocol conformance ref (protocol's module) %0");
    case 'X': return csni_swift_with1(r->memory, SWIFT_PACK_CONFORMANCE, "pack protocol conformance %0", pop_conformance_list(r));
    case 'c':
        return csni_swift_phrase(r, "protocol conformance descriptor runtime record for %0", csni_swift_pop_conformance(r));
    case 'n': return csni_swift_phrase(r, "nominal type descriptor runtime record for %0", csni_swift_pop_type(r));
    case 'o': return csni_swift_phrase(r, "opaque type descriptor runtime record for %0", csni_swift_pop(r));
    case 'r': return csni_swift_phrase(r, "protocol descriptor runtime record for %0", csni_swift_pop_protocol(r));
    case 'F': return csni_swift_new_label(r->memory, SWIFT_ATTRIBUTE, "accessible function runtime record for ");
    default: return NULL;
    }
}

swift_node *csni_swift_retroactive(swift_reader *r) {
    swift_node *index = csni_swift_index_node(r), *conformance = csni_swift_pop_any_conformance(r);
    return csni_swift_with2(r->memory, SWIFT_RETROACTIVE_CONFORMANCE, "retroactive @ %0%1", index, conformance);
}
