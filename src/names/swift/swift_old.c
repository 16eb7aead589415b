/* A whole Swift name of the old scheme. */
#include "names/swift/swift_old.h"
#include "names/swift/swift_specialization.h"

static swift_node *of_type(swift_old_reader *r, const char *label) {
    return csni_swift_with1(r->memory, SWIFT_PHRASE, label, csni_swift_old_type(r));
}
static swift_node *of_conformance(swift_old_reader *r, const char *label) {
    return csni_swift_with1(r->memory, SWIFT_PHRASE, label, csni_swift_old_conformance(r));
}

static swift_node *metadata(swift_old_reader *r) {
    if (csni_swift_old_take(r, 'P')) return of_type(r, "generic type metadata pattern for %0");
    if (csni_swift_old_take(r, 'a')) return of_type(r, "type metadata accessor for %0");
    if (csni_swift_old_take(r, 'L')) return of_type(r, "lazy cache variable for type metadata for %0");
    if (csni_swift_old_take(r, 'm')) return of_type(r, "metaclass for %0");
    if (csni_swift_old_take(r, 'n')) return of_type(r, "nominal type descriptor for %0");
    if (csni_swift_old_take(r, 'f')) return of_type(r, "full type metadata for %0");
    if (csni_swift_old_take(r, 'p'))
        return csni_swift_with1(r->memory, SWIFT_PHRASE, "protocol descriptor for %0", csni_swift_old_protocol(r));
    return of_type(r, "type metadata for %0");
}

static swift_node *field_offset(swift_old_reader *r) {
    char c = csni_swift_old_next(r);
    if (c != 'd' && c != 'i') return NULL;
    const char *label = c == 'd' ? "direct field offset for %0" : "indirect field offset for %0";
    return csni_swift_with1(r->memory, SWIFT_PHRASE, label, csni_swift_old_entity(r));
}

static swift_node *lazy_table(swift_old_reader *r, const char *label) {
    swift_node *type = csni_swift_old_type(r);
    return type ? csni_swift_with2(r->memory, SWIFT_PHRASE, label, type, csni_swift_old_conformance(r)) : NULL;
}

static swift_node *associated_accessor(swift_old_reader *r, bool with_protocol) {
    swift_node *conformance = csni_swift_old_conformance(r), *name = conformance ? csni_swift_old_decl_name(r) : NULL;
    if (!with_protocol)
        return csni_swift_with2(r->memory, SWIFT_PHRASE, "associated type metadata accessor for %1 in %0", conformance, name);
    static const char label[] = "associated type witness table accessor for %1 : %2 in %0";
    return name ? csni_swift_with3(r->memory, SWIFT_PHRASE, label, conformance, name, csni_swift_old_protocol(r)) : NULL;
}

static swift_node *witness(swift_old_reader *r) {
    switch (csni_swift_old_next(r)) {
    case 'V': return of_type(r, "value witness table for %0");
    case 'v': return field_offset(r);
    case 'P': return of_conformance(r, "protocol witness table for %0");
    case 'G': return of_conformance(r, "generic protocol witness table for %0");
    case 'I': return of_conformance(r, "instantiation function for generic protocol witness table for %0");
    case 'l': return lazy_table(r, "lazy protocol witness table accessor for type %0 and conformance %1");
    case 'L': return lazy_table(r, "lazy protocol witness table cache variable for type %0 and conformance %1");
    case 'a': return of_conformance(r, "protocol witness table accessor for %0");
    case 't': return associated_accessor(r, false);
    case 'T': return associated_accessor(r, true);
    default: return NULL;
    }
}

static swift_node *thunk(swift_old_reader *r) {
    char c = csni_swift_old_next(r);
    if (c == 'W') {
        swift_node *conformance = csni_swift_old_conformance(r), *entity = conformance ? csni_swift_old_entity(r) : NULL;
        return csni_swift_with2(r->memory, SWIFT_PHRASE, "protocol witness for %1 in conformance %0", conformance, entity);
    }
    if (c != 'R' && c != 'r') return NULL;
    const char *label = c == 'R' ? "reabstraction thunk helper " : "reabstraction thunk ";
    swift_node *out = csni_swift_new_label(r->memory, SWIFT_REABSTRACTION_THUNK, label);
    if (csni_swift_old_take(r, 'G')) out = csni_swift_add(r->memory, out, csni_swift_old_signature(r, false));
    for (int i = 0; i < 2 && out; i++) out = csni_swift_add(r->memory, out, csni_swift_old_type(r));
    return out;
}

static swift_node *value_witness(swift_old_reader *r) {
    const char *label = r->end - r->at >= 2 ? csni_swift_value_witness_name(r->at) : NULL;
    if (!label) return NULL;
    r->at += 2;
    return of_type(r, label);
}

static swift_node *read_global(swift_old_reader *r);

static swift_node *partial_apply(swift_old_reader *r) {
    const char *label = csni_swift_old_take(r, 'o') ? "partial apply ObjC forwarder" : "partial apply forwarder";
    swift_node *out = csni_swift_new_label(r->memory, SWIFT_PARTIAL_APPLY, label);
    if (!csni_swift_old_take_text(r, "__T")) return out;
    if (++r->depth > CSNI_SWIFT_OLD_DEPTH_MAX) return NULL;
    return csni_swift_add(r->memory, out, read_global(r));
}

static swift_node *read_global(swift_old_reader *r) {
    if (csni_swift_old_take(r, 'M')) return metadata(r);
    if (csni_swift_old_take_text(r, "PA")) return partial_apply(r);
    if (csni_swift_old_take(r, 't')) return csni_swift_with1(r->memory, SWIFT_TYPE_MANGLING, NULL, csni_swift_old_type(r));
    if (csni_swift_old_take(r, 'w')) return value_witness(r);
    if (csni_swift_old_take(r, 'W')) return witness(r);
    if (csni_swift_old_take(r, 'T')) return thunk(r);
    return csni_swift_old_entity(r);
}

/* Specializations. */

static swift_node *generic_parameters(swift_old_reader *r, swift_node *out) {
    while (out && !csni_swift_old_take(r, '_')) {
        swift_node *parameter = csni_swift_with1(r->memory, SWIFT_SPECIALIZATION_PARAMETER, NULL, csni_swift_old_type(r));
        while (parameter && !csni_swift_old_take(r, '_'))
            parameter = csni_swift_add(r->memory, parameter, csni_swift_old_conformance(r));
        out = csni_swift_add(r->memory, out, parameter);
    }
    return out;
}

static bool add_kind(swift_old_reader *r, swift_node *parameter, uint64_t kind) {
    return csni_swift_add(r->memory, parameter, csni_swift_new_index(r->memory, SWIFT_PARAMETER_KIND, kind));
}

static bool add_payload(swift_old_reader *r, swift_node *parameter, struct csn_str text) {
    return csni_swift_add(r->memory, parameter, csni_swift_new_text(r->memory, SWIFT_PARAMETER_PAYLOAD, text));
}

static bool add_name(swift_old_reader *r, swift_node *parameter, uint64_t kind) {
    swift_node *name = csni_swift_old_identifier(r, SWIFT_IDENTIFIER);
    return name && csni_swift_old_take(r, '_') && add_kind(r, parameter, kind) && csni_swift_add(r->memory, parameter, name);
}

static bool add_number(swift_old_reader *r, swift_node *parameter, uint64_t kind) {
    const char *start = r->at;
    while (r->at < r->end && *r->at != '_') r->at++;
    struct csn_str text = { start, (size_t)(r->at - start) };
    return text.len && csni_swift_old_take(r, '_') && add_kind(r, parameter, kind) && add_payload(r, parameter, text);
}

static bool add_string(swift_old_reader *r, swift_node *parameter) {
    char c = csni_swift_old_next(r);
    if ((c != '0' && c != '1') || !csni_swift_old_take(r, 'v')) return false;
    swift_node *text = csni_swift_old_identifier(r, SWIFT_IDENTIFIER);
    const char *encoding = c == '0' ? "u8" : "u16";
    return text && csni_swift_old_take(r, '_') && add_kind(r, parameter, SWIFT_CONSTANT_STRING) &&
           add_payload(r, parameter, (struct csn_str){ encoding, strlen(encoding) }) &&
           csni_swift_add(r->memory, parameter, text);
}

static bool add_constant(swift_old_reader *r, swift_node *parameter) {
    if (csni_swift_old_take_text(r, "fr")) return add_name(r, parameter, SWIFT_CONSTANT_FUNCTION);
    if (csni_swift_old_take(r, 'g')) return add_name(r, parameter, SWIFT_CONSTANT_GLOBAL);
    if (csni_swift_old_take(r, 'i')) return add_number(r, parameter, SWIFT_CONSTANT_INTEGER);
    if (csni_swift_old_take_text(r, "fl")) return add_number(r, parameter, SWIFT_CONSTANT_FLOAT);
    return csni_swift_old_take_text(r, "se") && add_string(r, parameter);
}

static bool add_closure(swift_old_reader *r, swift_node *parameter) {
    swift_node *name = csni_swift_old_identifier(r, SWIFT_IDENTIFIER);
    if (!name || !add_kind(r, parameter, SWIFT_CLOSURE_PROPAGATED) || !add_payload(r, parameter, name->text)) return false;
    swift_node *type;
    while (csni_swift_old_peek(r) != '_' && (type = csni_swift_old_type(r))) csni_swift_add(r->memory, parameter, type);
    return csni_swift_old_take(r, '_');
}

static bool add_flags(swift_old_reader *r, swift_node *parameter) {
    uint64_t flags = 0;
    if (csni_swift_old_take(r, 'd')) flags |= SWIFT_DEAD;
    if (csni_swift_old_take(r, 'g')) flags |= SWIFT_TO_GUARANTEED;
    if (csni_swift_old_take(r, 'o')) flags |= SWIFT_TO_OWNED;
    if (csni_swift_old_take(r, 's')) flags |= SWIFT_EXPLODED;
    return flags && csni_swift_old_take(r, '_') && add_kind(r, parameter, flags);
}

static bool read_parameter(swift_old_reader *r, swift_node *parameter) {
    if (csni_swift_old_take_text(r, "n_")) return true;
    if (csni_swift_old_take_text(r, "cp")) return add_constant(r, parameter);
    if (csni_swift_old_take_text(r, "cl")) return add_closure(r, parameter);
    if (csni_swift_old_take_text(r, "i_")) return add_kind(r, parameter, SWIFT_BOX_TO_VALUE);
    if (csni_swift_old_take_text(r, "k_")) return add_kind(r, parameter, SWIFT_BOX_TO_STACK);
    return add_flags(r, parameter);
}

static swift_node *function_parameters(swift_old_reader *r, swift_node *out) {
    while (out && !csni_swift_old_take(r, '_')) {
        swift_node *parameter = csni_swift_new(r->memory, SWIFT_FUNCTION_PARAMETER);
        out = read_parameter(r, parameter) ? csni_swift_add(r->memory, out, parameter) : NULL;
    }
    return out;
}

static swift_node *specialization(swift_old_reader *r) {
    char c = csni_swift_old_next(r);
    const char *label = c == 'g'   ? "generic specialization <"
                        : c == 'r' ? "generic not re-abstracted specialization <"
                        : c == 'f' ? "function signature specialization <"
                                   : NULL;
    if (!label) return NULL;
    swift_node *out = csni_swift_new_label(r->memory, c == 'f' ? SWIFT_FUNCTION_SPECIALIZATION : SWIFT_SPECIALIZATION, label);
    if (csni_swift_old_take(r, 'q')) csni_swift_add(r->memory, out, csni_swift_new(r->memory, SWIFT_SERIALIZED));
    char pass = csni_swift_old_next(r);
    out = csni_swift_add(r->memory, out, csni_swift_new_index(r->memory, SWIFT_PASS, (unsigned char)pass));
    return c == 'f' ? function_parameters(r, out) : generic_parameters(r, out);
}

static swift_node *add_specializations(swift_old_reader *r, swift_node *out) {
    do {
        out = csni_swift_add(r->memory, out, specialization(r));
        r->substitutions.count = 0;
    } while (out && csni_swift_old_take_text(r, "_TTS"));
    return out && csni_swift_old_take_text(r, "_T") ? out : NULL;
}

static swift_node *add_attribute(swift_old_reader *r, swift_node *out) {
    static const char *const known[][2] = {
        { "To", "@objc " }, { "TO", "@nonobjc " }, { "TD", "dynamic " }, { "Td", "super " }, { "TV", "override " },
    };
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (csni_swift_old_take_text(r, known[i][0]))
            return csni_swift_add(r->memory, out, csni_swift_new_label(r->memory, SWIFT_ATTRIBUTE, known[i][1]));
    return out;
}

/* C has names like "_TSSL_new" where all names begin with an underscore: a known type is no symbol, and what follows the name of a
 * function begins with '.' or '_'. */
static bool may_be_symbol(const swift_old_reader *r, const char *entity) {
    return *entity != 'S' && (r->at == r->end || (*entity != 't' && (*r->at == '.' || *r->at == '_')));
}

swift_node *csni_swift_old_symbol(struct csn_str name, struct csni_name_memory *memory) {
    swift_old_reader r = { .at = name.ptr + 2, .end = name.ptr + name.len, .memory = memory };
    swift_node *out = csni_swift_new(memory, SWIFT_GLOBAL);
    out = csni_swift_old_take_text(&r, "TS") ? add_specializations(&r, out) : add_attribute(&r, out);
    const char *entity = r.at;
    if (out) out = csni_swift_add(memory, out, read_global(&r));
    if (!out || !may_be_symbol(&r, entity)) return NULL;
    if (r.at == r.end) return out;
    struct csn_str rest = { r.at, (size_t)(r.end - r.at) };
    return csni_swift_add(memory, out, csni_swift_new_text(memory, SWIFT_SUFFIX, rest));
}
