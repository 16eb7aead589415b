/* Metadata of types ('M'), witness tables and outlined operations ('W'), value witnesses ('w'). */
#include "names/swift/swift_read.h"

static swift_node *of_type(swift_reader *r, const char *label) { return csni_swift_phrase(r, label, csni_swift_pop_type(r)); }
static swift_node *of_any(swift_reader *r, const char *label) { return csni_swift_phrase(r, label, csni_swift_pop(r)); }
static swift_node *of_conformance(swift_reader *r, const char *label) {
    return csni_swift_phrase(r, label, csni_swift_pop_conformance(r));
}

static swift_node *superclass_descriptor(swift_reader *r) {
    swift_node *child = csni_swift_child(csni_swift_pop_type(r), 0);
    if (!child || !csni_swift_is_nominal(child->kind)) return NULL;
    return csni_swift_phrase(r, "reflection metadata superclass descriptor %0", child);
}

static swift_node *context_descriptor(swift_reader *r) {
    switch (csni_swift_next(r)) {
    case 'E': return csni_swift_phrase(r, "extension descriptor %0", csni_swift_pop_context(r));
    case 'M': return csni_swift_phrase(r, "module descriptor %0", csni_swift_pop_module(r));
    case 'Y': {
        swift_node *discriminator = csni_swift_pop(r), *context = csni_swift_pop_context(r);
        return csni_swift_with2(r->memory, SWIFT_PHRASE, "anonymous descriptor %0", context, discriminator);
    }
    case 'X': return csni_swift_phrase(r, "anonymous descriptor %0", csni_swift_pop_context(r));
    case 'A': {
        swift_node *path = csni_swift_pop_associated_path(r), *base = csni_swift_pop_type(r);
        return csni_swift_with2(r->memory, SWIFT_PHRASE, "generic parameter reference for associated type %*", base, path);
    }
    default: return NULL;
    }
}

swift_node *csni_swift_metatype(swift_reader *r) {
    switch (csni_swift_next(r)) {
    case 'a': return of_type(r, "type metadata accessor for %0");
    case 'A': return of_conformance(r, "reflection metadata associated type descriptor %0");
    case 'b': return of_type(r, "canonical specialized generic type metadata accessor for %0");
    case 'B': return of_type(r, "reflection metadata builtin descriptor %0");
    case 'c': return of_conformance(r, "protocol conformance descriptor for %0");
    case 'C': return superclass_descriptor(r);
    case 'D': return of_type(r, "demangling cache variable for type metadata for %0");
    case 'f': return of_type(r, "full type metadata for %0");
    case 'F': return of_type(r, "reflection metadata field descriptor %0");
    case 'g': return of_any(r, "opaque type descriptor accessor for %0");
    case 'h': return of_any(r, "opaque type descriptor accessor impl for %0");
    case 'i': return of_type(r, "type metadata instantiation function for %0");
    case 'I': return of_type(r, "type metadata instantiation cache for %0");
    case 'j': return of_any(r, "opaque type descriptor accessor key for %0");
    case 'J': return of_any(r, "cache variable for noncanonical specialized generic type metadata for %0");
    case 'k': return of_any(r, "opaque type descriptor accessor var for %0");
    case 'K': return of_any(r, "metadata instantiation cache for %0");
    case 'l': return of_type(r, "type metadata singleton initialization cache for %0");
    case 'L': return of_type(r, "lazy cache variable for type metadata for %0");
    case 'm': return of_type(r, "metaclass for %0");
    case 'M': return of_type(r, "specialized generic metaclass for %0");
    case 'n': return of_type(r, "nominal type descriptor for %0");
    case 'N': return of_type(r, "noncanonical specialized generic type metadata for %0");
    case 'o': return of_type(r, "class metadata base offset for %0");
    case 'p': return csni_swift_phrase(r, "protocol descriptor for %0", csni_swift_pop_protocol(r));
    case 'P': return of_type(r, "generic type metadata pattern for %0");
    case 'q': return of_any(r, "uniquable %0");
    case 'Q': return of_any(r, "opaque type descriptor for %0");
    case 'r': return of_type(r, "type metadata completion function for %0");
    case 's': return of_type(r, "ObjC resilient class stub for %0");
    case 'S': return csni_swift_phrase(r, "protocol self-conformance descriptor for %0", csni_swift_pop_protocol(r));
    case 't': return of_type(r, "full ObjC resilient class stub for %0");
    case 'u': return of_type(r, "method lookup function for %0");
    case 'U': return of_type(r, "ObjC metadata update function for %0");
    case 'V': return csni_swift_phrase(r, "property descriptor for %0", csni_swift_pop_entity(r));
    case 'X': return context_descriptor(r);
    case 'z': return of_type(r, "flag for loading of canonical specialized generic type metadata for %0");
    default: return NULL;
    }
}

/* The signature, if there is one, is written after the type by copies and releases only. */
static swift_node *outlined(swift_reader *r) {
    static const struct { char letter; bool with_signature; const char *label; } known[] = {
        { 'y', true, "outlined copy of %*" },           { 'e', true, "outlined consume of %*" },
        { 'r', false, "outlined retain of %0" },        { 's', false, "outlined release of %0" },
        { 'b', false, "outlined init with take of %0" },   { 'B', false, "outlined init with take of %0" },
        { 'c', false, "outlined init with copy of %0" },   { 'C', false, "outlined init with copy of %0" },
        { 'd', false, "outlined assign with take of %0" }, { 'D', false, "outlined assign with take of %0" },
        { 'f', false, "outlined assign with copy of %0" }, { 'F', false, "outlined assign with copy of %0" },
        { 'h', false, "outlined destroy of %0" },          { 'H', false, "outlined destroy of %0" },
        { 'g', false, "outlined enum get tag of %0" },     { 'i', false, "outlined enum tag store of %0" },
        { 'j', false, "outlined enum project data for load of %0" },
    };
    char letter = csni_swift_next(r);
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (known[i].letter != letter) continue;
        if ((letter == 'i' || letter == 'j') && csni_swift_index(r) < 0) return NULL;
        swift_node *signature = csni_swift_pop_signature(r), *out = of_type(r, known[i].label);
        return signature && known[i].with_signature ? csni_swift_add(r->memory, out, signature) : out;
    }
    return NULL;
}

static swift_node *field_offset(swift_reader *r) {
    switch (csni_swift_next(r)) {
    case 'd': return csni_swift_phrase(r, "direct field offset for %0", csni_swift_pop_entity(r));
    case 'i': return csni_swift_phrase(r, "indirect field offset for %0", csni_swift_pop_entity(r));
    default: return NULL;
    }
}

static swift_node *lazy_table(swift_reader *r, const char *label) {
    swift_node *conformance = csni_swift_pop_conformance(r), *type = csni_swift_pop_type(r);
    return csni_swift_with2(r->memory, SWIFT_PHRASE, label, type, conformance);
}

static swift_node *associated_witness(swift_reader *r) {
    swift_node *protocol = csni_swift_pop_type(r), *path = csni_swift_pop_associated_path(r);
    swift_node *conformance = csni_swift_pop_conformance(r);
    static const char label[] = "associated type witness table accessor for %1 : %2 in %0";
    return csni_swift_with3(r->memory, SWIFT_PHRASE, label, conformance, path, protocol);
}

/* Variables that are initialized together. */
static swift_node *once(swift_reader *r, const char *label) {
    swift_node *names = csni_swift_new(r->memory, SWIFT_ONCE_DECLARATIONS);
    while (csni_swift_pop_kind(r, SWIFT_FIRST_ELEMENT))
        if (!csni_swift_add(r->memory, names, csni_swift_pop_name(r))) return NULL;
    if (names) csni_swift_reverse(names, 0);
    return csni_swift_with2(r->memory, SWIFT_ONCE, label, csni_swift_pop_context(r), names);
}

swift_node *csni_swift_witness(swift_reader *r) {
    switch (csni_swift_next(r)) {
    case 'C': return csni_swift_phrase(r, "enum case for %0", csni_swift_pop_entity(r));
    case 'V': return of_type(r, "value witness table for %0");
    case 'v': return field_offset(r);
    case 'S': return csni_swift_phrase(r, "protocol self-conformance witness table for %0", csni_swift_pop_protocol(r));
    case 'P': return of_conformance(r, "protocol witness table for %0");
    case 'p': return of_conformance(r, "protocol witness table pattern for %0");
    case 'G': return of_conformance(r, "generic protocol witness table for %0");
    case 'I': return of_conformance(r, "instantiation function for generic protocol witness table for %0");
    case 'r': return of_conformance(r, "resilient protocol witness table for %0");
    case 'l': return lazy_table(r, "lazy protocol witness table accessor for type %0 and conformance %1");
    case 'L': return lazy_table(r, "lazy protocol witness table cache variable for type %0 and conformance %1");
    case 'a': return of_conformance(r, "protocol witness table accessor for %0");
    case 't': {
        swift_node *name = csni_swift_pop_name(r), *conformance = csni_swift_pop_conformance(r);
        return csni_swift_with2(r->memory, SWIFT_PHRASE, "associated type metadata accessor for %1 in %0", conformance, name);
    }
    case 'T': return associated_witness(r);
    case 'b': {
        swift_node *protocol = csni_swift_pop_type(r), *conformance = csni_swift_pop_conformance(r);
        return csni_swift_with2(r->memory, SWIFT_PHRASE, "base witness table accessor for %1 in %0", conformance, protocol);
    }
    case 'O': return outlined(r);
    case 'Z': return once(r, "one-time initialization function for ");
    case 'z': return once(r, "one-time initialization token for ");
    case 'J': return csni_swift_differentiability_witness(r);
    default: return NULL;
    }
}

const char *csni_swift_value_witness_name(const char *letters) {
    static const struct { char letters[3]; const char *label; } known[] = {
        { "al", "allocateBuffer value witness for %0" },
        { "ca", "assignWithCopy value witness for %0" },
        { "ta", "assignWithTake value witness for %0" },
        { "de", "deallocateBuffer value witness for %0" },
        { "xx", "destroy value witness for %0" },
        { "XX", "destroyBuffer value witness for %0" },
        { "Xx", "destroyArray value witness for %0" },
        { "CP", "initializeBufferWithCopyOfBuffer value witness for %0" },
        { "Cp", "initializeBufferWithCopy value witness for %0" },
        { "cp", "initializeWithCopy value witness for %0" },
        { "Tk", "initializeBufferWithTake value witness for %0" },
        { "tk", "initializeWithTake value witness for %0" },
        { "pr", "projectBuffer value witness for %0" },
        { "TK", "initializeBufferWithTakeOfBuffer value witness for %0" },
        { "Cc", "initializeArrayWithCopy value witness for %0" },
        { "Tt", "initializeArrayWithTakeFrontToBack value witness for %0" },
        { "tT", "initializeArrayWithTakeBackToFront value witness for %0" },
        { "xs", "storeExtraInhabitant value witness for %0" },
        { "xg", "getExtraInhabitantIndex value witness for %0" },
        { "ug", "getEnumTag value witness for %0" },
        { "up", "destructiveProjectEnumData value witness for %0" },
        { "ui", "destructiveInjectEnumTag value witness for %0" },
        { "et", "getEnumTagSinglePayload value witness for %0" },
        { "st", "storeEnumTagSinglePayload value witness for %0" },
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (memcmp(known[i].letters, letters, 2) == 0) return known[i].label;
    return NULL;
}

swift_node *csni_swift_value_witness(swift_reader *r) {
    const char *label = r->end - r->at >= 2 ? csni_swift_value_witness_name(r->at) : NULL;
    if (!label) return NULL;
    r->at += 2;
    return of_type(r, label);
}
