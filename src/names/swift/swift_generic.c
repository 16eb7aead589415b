/* Generic parameters, associated types, generic signatures and their requirements. */
#include "names/swift/swift_read.h"

swift_node *csni_swift_parameter_type(swift_reader *r, int32_t depth, int32_t index) {
    if (depth < 0 || index < 0) return NULL;
    swift_node *outer = csni_swift_new_index(r->memory, SWIFT_INDEX, (uint64_t)depth);
    swift_node *inner = csni_swift_new_index(r->memory, SWIFT_INDEX, (uint64_t)index);
    return csni_swift_with2(r->memory, SWIFT_GENERIC_PARAMETER, NULL, outer, inner);
}

/* One more, if it is a number. */
static int32_t next_index(swift_reader *r) {
    int32_t index = csni_swift_index(r);
    return index == INT32_MAX ? -1 : index + 1;
}

swift_node *csni_swift_parameter_index(swift_reader *r) {
    if (csni_swift_take(r, 'd')) {
        int32_t depth = next_index(r), index = csni_swift_index(r);
        return csni_swift_parameter_type(r, depth, index);
    }
    if (csni_swift_take(r, 'z')) return csni_swift_parameter_type(r, 0, 0);
    if (csni_swift_take(r, 's')) return csni_swift_new_label(r->memory, SWIFT_SIMPLE_PHRASE, "Self");
    return csni_swift_parameter_type(r, 0, next_index(r));
}

swift_node *csni_swift_pop_associated_name(swift_reader *r) {
    swift_node *protocol = csni_swift_pop_type(r);
    if (protocol && !csni_swift_is(csni_swift_child(protocol, 0), SWIFT_PROTOCOL)) return NULL;
    swift_node *name = csni_swift_pop_kind(r, SWIFT_IDENTIFIER);
    swift_node *out = csni_swift_with1(r->memory, SWIFT_MEMBER_TYPE_NAME, NULL, name);
    csni_swift_add(r->memory, out, protocol);
    return out;
}

swift_node *csni_swift_pop_associated_path(swift_reader *r) {
    swift_node *path = csni_swift_new(r->memory, SWIFT_ASSOCIATED_TYPE_PATH);
    for (bool first = false; !first;) {
        first = csni_swift_pop_kind(r, SWIFT_FIRST_ELEMENT) != NULL;
        if (!csni_swift_add(r->memory, path, csni_swift_pop_associated_name(r))) return NULL;
    }
    csni_swift_reverse(path, 0);
    return path;
}

/* The type that an associated type is a member of: one that was read, or (`base` absent) the one on the stack. */
static swift_node *base_type(swift_reader *r, bool has_base, swift_node *base) {
    return has_base && base ? csni_swift_type(r, base) : csni_swift_pop_type(r);
}

static swift_node *associated_simple(swift_reader *r, bool has_base, swift_node *base) {
    swift_node *name = csni_swift_pop_associated_name(r), *type = base_type(r, has_base, base);
    swift_node *out = csni_swift_type(r, csni_swift_with2(r->memory, SWIFT_MEMBER_TYPE, NULL, type, name));
    csni_swift_substitute(r, out);
    return out;
}

static swift_node *associated_compound(swift_reader *r, bool has_base, swift_node *base) {
    struct csni_swift_list names = { 0 };
    for (bool first = false; !first;) {
        first = csni_swift_pop_kind(r, SWIFT_FIRST_ELEMENT) != NULL;
        swift_node *name = csni_swift_pop_associated_name(r);
        if (!name || !csni_swift_push(r->memory, &names, name)) return NULL;
    }
    swift_node *type = base_type(r, has_base, base);
    while (names.count)
        type = csni_swift_type(r, csni_swift_with2(r->memory, SWIFT_MEMBER_TYPE, NULL, type, names.at[--names.count]));
    csni_swift_substitute(r, type);
    return type;
}

static swift_node *associated_reference(swift_reader *r) {
    swift_node *name = csni_swift_pop_kind(r, SWIFT_IDENTIFIER), *base = csni_swift_pop_type_child(r);
    swift_node *type = csni_swift_type(r, csni_swift_with2(r->memory, SWIFT_ASSOCIATED_TYPE_REFERENCE, NULL, base, name));
    csni_swift_substitute(r, type);
    return type;
}

static swift_node *opaque_type(swift_reader *r) {
    struct csni_swift_list lists = { 0 };
    swift_node *conformances, *index = csni_swift_new_index(r->memory, SWIFT_INDEX, (uint64_t)(int64_t)csni_swift_index(r));
    if (!csni_swift_pop_bound(r, &lists, &conformances)) return NULL;
    swift_node *type = csni_swift_type(r, csni_swift_with2(r->memory, SWIFT_PHRASE, "%0.%1", csni_swift_pop(r), index));
    csni_swift_substitute(r, type);
    return type;
}

static swift_node *pack_element(swift_reader *r) {
    swift_node *pack = csni_swift_pop_type_child(r), *level = csni_swift_index_node(r);
    return csni_swift_type(r, csni_swift_with2(r->memory, SWIFT_PHRASE, "/* level: %1 */ each %0", pack, level));
}

static swift_node *pack(swift_reader *r, const char *label) {
    swift_node *list = csni_swift_new_label(r->memory, SWIFT_PACK, label);
    return csni_swift_type(r, csni_swift_pop_list(r, list, csni_swift_pop_type));
}

swift_node *csni_swift_archetype(swift_reader *r) {
    switch (csni_swift_next(r)) {
    case 'a': return associated_reference(r);
    case 'O': return csni_swift_with1(r->memory, SWIFT_OPAQUE_RETURN_TYPE_OF, NULL, csni_swift_pop_context(r));
    case 'o': return opaque_type(r);
    case 'r': return csni_swift_type(r, csni_swift_new(r->memory, SWIFT_OPAQUE_RETURN_TYPE));
    case 'R': return csni_swift_index(r) < 0 ? NULL : csni_swift_type(r, csni_swift_new(r->memory, SWIFT_OPAQUE_RETURN_TYPE));
    case 'x': return associated_simple(r, false, NULL);
    case 'X': return associated_compound(r, false, NULL);
    case 'y': return associated_simple(r, true, csni_swift_parameter_index(r));
    case 'Y': return associated_compound(r, true, csni_swift_parameter_index(r));
    case 'z': return associated_simple(r, true, csni_swift_parameter_type(r, 0, 0));
    case 'Z': return associated_compound(r, true, csni_swift_parameter_type(r, 0, 0));
    case 'p': {
        swift_node *count = csni_swift_pop_type_child(r), *pattern = csni_swift_pop_type_child(r);
        return csni_swift_type(r, csni_swift_with2(r->memory, SWIFT_PHRASE, "repeat %0", pattern, count));
    }
    case 'e': return pack_element(r);
    case 'P': return pack(r, "");
    case 'S':
        switch (csni_swift_next(r)) {
        case 'd': return pack(r, "@direct ");
        case 'i': return pack(r, "@indirect ");
        default: return NULL;
        }
    default: return NULL;
    }
}

static bool add_count(swift_reader *r, swift_node *signature, int32_t count) {
    return csni_swift_add(r->memory, signature, csni_swift_new_index(r->memory, SWIFT_PARAMETER_COUNT, (uint64_t)count));
}

swift_node *csni_swift_signature(swift_reader *r, bool has_counts) {
    swift_node *signature = csni_swift_new(r->memory, SWIFT_GENERIC_SIGNATURE), *requirement;
    if (!has_counts && !add_count(r, signature, 1)) return NULL;
    while (has_counts && !csni_swift_take(r, 'l')) {
        int32_t count = csni_swift_take(r, 'z') ? 0 : next_index(r);
        if (count < 0 || !add_count(r, signature, count)) return NULL;
    }
    if (!signature) return NULL;
    uint32_t counts = csni_swift_count(signature);
    while ((requirement = csni_swift_pop_if(r, csni_swift_is_requirement)))
        if (!csni_swift_add(r->memory, signature, requirement)) return NULL;
    csni_swift_reverse(signature, counts);
    return signature;
}

swift_node *csni_swift_generic_type(swift_reader *r) {
    swift_node *signature = csni_swift_pop_signature(r), *type = csni_swift_pop_type(r);
    return csni_swift_type(r, csni_swift_with2(r->memory, SWIFT_GENERIC_TYPE, NULL, signature, type));
}

/* The type that a requirement is for. */
static swift_node *constrained_type(swift_reader *r, char how) {
    switch (how) {
    case 'g': return csni_swift_type(r, csni_swift_parameter_index(r));
    case 'a': return associated_simple(r, true, csni_swift_parameter_index(r));
    case 'c': return associated_compound(r, true, csni_swift_parameter_index(r));
    default: return csni_swift_pop_type(r);
    }
}

static swift_node *layout_requirement(swift_reader *r, swift_node *type) {
    char c = csni_swift_peek(r);
    if (!c || !strchr("URNCDTBEeMmS", c)) return NULL;
    swift_node *name = csni_swift_new_text(r->memory, SWIFT_IDENTIFIER, (struct csn_str){ r->at++, 1 });
    swift_node *size = strchr("EeMmS", c) ? csni_swift_index_node(r) : NULL;
    if (strchr("EeMmS", c) && !size) return NULL;
    swift_node *alignment = c == 'E' || c == 'M' ? csni_swift_index_node(r) : NULL;
    swift_node *out = csni_swift_with2(r->memory, SWIFT_LAYOUT_REQUIREMENT, NULL, type, name);
    csni_swift_add(r->memory, out, size);
    csni_swift_add(r->memory, out, alignment);
    return out;
}

static swift_node *inverse_requirement(swift_reader *r, char how) {
    swift_node *protocol = csni_swift_index_node(r);
    if (!protocol) return NULL;
    swift_node *type = constrained_type(r, how);
    switch (protocol->index) {
    case 0: return csni_swift_with1(r->memory, SWIFT_REQUIREMENT, "%0: ~Swift.Copyable", type);
    case 1: return csni_swift_with1(r->memory, SWIFT_REQUIREMENT, "%0: ~Swift.Escapable", type);
    default: return csni_swift_with2(r->memory, SWIFT_REQUIREMENT, "%0: ~Swift.<bit %1>", type, protocol);
    }
}

/* The letters, what each requires (conformance, base class, same type or shape, layout, markers), and how its type is written:
 * generic parameter, associated type of one, a path of them, or any type from the stack. */
swift_node *csni_swift_requirement(swift_reader *r) {
    static const struct { char letter, what, how; } known[] = {
        { 'V', 'V', 'g' }, { 'v', 'v', 'g' }, { 'c', 'b', 'a' }, { 'C', 'b', 'c' }, { 'b', 'b', 'g' }, { 'B', 'b', 's' },
        { 't', 't', 'a' }, { 'T', 't', 'c' }, { 's', 't', 'g' }, { 'S', 't', 's' }, { 'm', 'l', 'a' }, { 'M', 'l', 'c' },
        { 'l', 'l', 'g' }, { 'L', 'l', 's' }, { 'p', 'p', 'a' }, { 'P', 'p', 'c' }, { 'Q', 'p', 's' }, { 'h', 'h', 'g' },
        { 'i', 'i', 'g' }, { 'I', 'i', 's' },
    };
    char what = 'p', how = 'g';
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (csni_swift_peek(r) != known[i].letter) continue;
        what = known[i].what;
        how = known[i].how;
        r->at++;
        break;
    }
    if (what == 'i') return inverse_requirement(r, how);
    swift_node *type = constrained_type(r, how);
    switch (what) {
    case 'V': return csni_swift_with2(r->memory, SWIFT_VALUE_MARKER, NULL, type, csni_swift_pop_type(r));
    case 'v': return csni_swift_with1(r->memory, SWIFT_PACK_MARKER, NULL, type);
    case 'b': return csni_swift_with2(r->memory, SWIFT_REQUIREMENT, "%0: %1", type, csni_swift_pop_type(r));
    case 't': return csni_swift_with2(r->memory, SWIFT_REQUIREMENT, "%0 == %1", type, csni_swift_pop_type(r));
    case 'h': return csni_swift_with2(r->memory, SWIFT_REQUIREMENT, "%0.shape == %1.shape", type, csni_swift_pop_type(r));
    case 'l': return layout_requirement(r, type);
    default: return csni_swift_with2(r->memory, SWIFT_REQUIREMENT, "%0: %1", type, csni_swift_pop_protocol(r));
    }
}
