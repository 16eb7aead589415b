/* Types, contexts and entities of old Swift names. */
#include "names/swift/swift_old.h"

static swift_node *within_type(swift_old_reader *r, swift_node *node) {
    return csni_swift_with1(r->memory, SWIFT_TYPE, NULL, node);
}

static swift_node *context(swift_old_reader *r);
static swift_node *bare_type(swift_old_reader *r);

static swift_node *declaration(swift_old_reader *r, enum csni_swift_kind kind) {
    swift_node *parent = context(r);
    if (!parent) return NULL;
    swift_node *name = csni_swift_old_decl_name(r);
    return csni_swift_old_substitute(r, csni_swift_with2(r->memory, kind, NULL, parent, name));
}

static swift_node *protocol_in(swift_old_reader *r, swift_node *parent) {
    swift_node *name = csni_swift_old_decl_name(r);
    return csni_swift_old_substitute(r, csni_swift_with2(r->memory, SWIFT_PROTOCOL, NULL, parent, name));
}

static swift_node *standard_library(swift_old_reader *r) {
    return csni_swift_new_text(r->memory, SWIFT_MODULE, (struct csn_str){ "Swift", 5 });
}

/* A substitution is the protocol, or the module it stands in. */
swift_node *csni_swift_old_protocol(swift_old_reader *r) {
    if (csni_swift_old_take(r, 'S')) {
        swift_node *node = csni_swift_old_substitution(r);
        if (csni_swift_is(node, SWIFT_MODULE)) node = protocol_in(r, node);
        return csni_swift_is(node, SWIFT_PROTOCOL) ? within_type(r, node) : NULL;
    }
    if (csni_swift_old_take(r, 's')) return within_type(r, protocol_in(r, standard_library(r)));
    return within_type(r, declaration(r, SWIFT_PROTOCOL));
}

static enum csni_swift_kind nominal_kind(char c) {
    return c == 'C'   ? SWIFT_CLASS
           : c == 'V' ? SWIFT_STRUCTURE
           : c == 'O' ? SWIFT_ENUM
           : c == 'P' ? SWIFT_PROTOCOL
                      : SWIFT_KIND_COUNT;
}

static swift_node *nominal(swift_old_reader *r) {
    if (csni_swift_old_take(r, 'S')) return csni_swift_old_substitution(r);
    enum csni_swift_kind kind = nominal_kind(csni_swift_old_peek(r));
    if (kind == SWIFT_KIND_COUNT) return NULL;
    r->at++;
    return declaration(r, kind);
}

/* The arguments of the outermost type stand first. */
static swift_node *bound_arguments(swift_old_reader *r, swift_node *type) {
    swift_node *parent = csni_swift_child(type, 0);
    if (!parent || ++r->depth > CSNI_SWIFT_OLD_DEPTH_MAX) return NULL;
    if (parent->kind != SWIFT_MODULE && parent->kind != SWIFT_FUNCTION && parent->kind != SWIFT_EXTENSION) {
        parent = bound_arguments(r, parent);
        type = csni_swift_with2(r->memory, type->kind, type->label, parent, csni_swift_child(type, 1));
        if (!type) return NULL;
    }
    r->depth--;
    swift_node *arguments = csni_swift_new(r->memory, SWIFT_TYPE_LIST);
    while (!csni_swift_old_take(r, '_'))
        if (!csni_swift_add(r->memory, arguments, csni_swift_old_type(r)) || r->at == r->end) return NULL;
    if (!arguments || !csni_swift_count(arguments)) return arguments ? type : NULL;
    enum csni_swift_kind kind;
    switch (type->kind) {
    case SWIFT_CLASS: kind = SWIFT_BOUND_CLASS; break;
    case SWIFT_STRUCTURE: kind = SWIFT_BOUND_STRUCTURE; break;
    case SWIFT_ENUM: kind = SWIFT_BOUND_ENUM; break;
    default: return NULL;
    }
    return csni_swift_with2(r->memory, kind, NULL, within_type(r, type), arguments);
}

static swift_node *bound_type(swift_old_reader *r) {
    swift_node *type = nominal(r);
    return type ? bound_arguments(r, type) : NULL;
}

static swift_node *extension(swift_old_reader *r, bool is_constrained) {
    swift_node *module = csni_swift_old_module(r);
    if (!module) return NULL;
    swift_node *signature = is_constrained ? csni_swift_old_signature(r, false) : NULL;
    if (is_constrained && !signature) return NULL;
    swift_node *out = csni_swift_with2(r->memory, SWIFT_EXTENSION, NULL, module, context(r));
    return signature ? csni_swift_add(r->memory, out, signature) : out;
}

static swift_node *read_context(swift_old_reader *r) {
    char c = csni_swift_old_peek(r);
    if (!c) return NULL;
    if (csni_swift_old_take(r, 'E')) return extension(r, false);
    if (csni_swift_old_take(r, 'e')) return extension(r, true);
    if (csni_swift_old_take(r, 'S')) return csni_swift_old_substitution(r);
    if (csni_swift_old_take(r, 's')) return standard_library(r);
    if (csni_swift_old_take(r, 'G')) return bound_type(r);
    return strchr("FIvPZCVO", c) ? csni_swift_old_entity(r) : csni_swift_old_module(r);
}

static swift_node *context(swift_old_reader *r) {
    swift_node *out = ++r->depth <= CSNI_SWIFT_OLD_DEPTH_MAX ? read_context(r) : NULL;
    r->depth--;
    return out;
}

swift_node *csni_swift_old_conformance(swift_old_reader *r) {
    swift_node *type = csni_swift_old_type(r), *protocol = type ? csni_swift_old_protocol(r) : NULL;
    return protocol ? csni_swift_with3(r->memory, SWIFT_PROTOCOL_CONFORMANCE, NULL, type, protocol, context(r)) : NULL;
}

/* Entities. */

static const char *old_accessor_name(swift_old_reader *r, char c) {
    if (c == 'a' || c == 'l') {
        bool is_mutable = c == 'a';
        switch (csni_swift_old_next(r)) {
        case 'O': return is_mutable ? "owningMutableAddressor" : "owningAddressor";
        case 'o': return is_mutable ? "nativeOwningMutableAddressor" : "nativeOwningAddressor";
        case 'p': return is_mutable ? "nativePinningMutableAddressor" : "nativePinningAddressor";
        case 'u': return is_mutable ? "unsafeMutableAddressor" : "unsafeAddressor";
        default: return NULL;
        }
    }
    switch (c) {
    case 'g':
    case 'G': return "getter";
    case 's': return "setter";
    case 'm': return "materializeForSet";
    case 'w': return "willset";
    case 'W': return "didset";
    case 'r': return "read";
    case 'M': return "modify";
    default: return NULL;
    }
}

/* An accessor of a variable, or of a subscript, which has this name. */
static swift_node *accessor(swift_old_reader *r, char c, swift_node *parent) {
    const char *label = old_accessor_name(r, c);
    swift_node *name = label ? csni_swift_old_decl_name(r) : NULL, *private_name = NULL;
    if (!name) return NULL;
    swift_node *within = name->kind == SWIFT_PRIVATE_NAME ? csni_swift_child(name, 1) : name;
    bool is_subscript = within && (within->kind == SWIFT_IDENTIFIER) && csni_swift_has_text(within, "subscript");
    if (is_subscript && name->kind == SWIFT_PRIVATE_NAME)
        private_name = csni_swift_with1(r->memory, SWIFT_PRIVATE_NAME, NULL, csni_swift_child(name, 0));
    swift_node *out = csni_swift_with1(r->memory, is_subscript ? SWIFT_SUBSCRIPT : SWIFT_VARIABLE, NULL, parent);
    if (!is_subscript) out = csni_swift_add(r->memory, out, name);
    out = csni_swift_add(r->memory, out, csni_swift_old_type(r));
    if (private_name) out = csni_swift_add(r->memory, out, private_name);
    return csni_swift_with1(r->memory, SWIFT_ACCESSOR, label, out);
}

static swift_node *typed(swift_old_reader *r, enum csni_swift_kind kind, const char *label, swift_node *parent, swift_node *name) {
    swift_node *out = csni_swift_with1(r->memory, kind, label, parent);
    if (name) out = csni_swift_add(r->memory, out, name);
    return out ? csni_swift_add(r->memory, out, csni_swift_old_type(r)) : NULL;
}

static swift_node *closure(swift_old_reader *r, const char *label, swift_node *parent) {
    swift_node *index = csni_swift_old_index_node(r);
    return index ? typed(r, SWIFT_CLOSURE, label, parent, index) : NULL;
}

static swift_node *initializer(swift_old_reader *r, swift_node *parent) {
    if (csni_swift_old_take(r, 'A'))
        return csni_swift_with2(r->memory, SWIFT_DEFAULT_ARGUMENT, NULL, parent, csni_swift_old_index_node(r));
    if (csni_swift_old_take(r, 'i'))
        return csni_swift_with1(r->memory, SWIFT_INITIALIZER, "variable initialization expression", parent);
    return NULL;
}

static swift_node *entity_in(swift_old_reader *r, enum csni_swift_kind kind, swift_node *parent) {
    char c = csni_swift_old_peek(r);
    if (c && strchr("DdZeECcalgGsmwWrMUu", c)) r->at++;
    switch (c) {
    case 'D': return csni_swift_with1(r->memory, SWIFT_DEALLOCATOR, NULL, parent);
    case 'd': return csni_swift_with1(r->memory, SWIFT_MEMBER, "deinit", parent);
    case 'Z': return csni_swift_with1(r->memory, SWIFT_ISOLATED_DEALLOCATOR, NULL, parent);
    case 'e': return csni_swift_with1(r->memory, SWIFT_MEMBER, "__ivar_initializer", parent);
    case 'E': return csni_swift_with1(r->memory, SWIFT_MEMBER, "__ivar_destroyer", parent);
    case 'C': return typed(r, SWIFT_ALLOCATOR, NULL, parent, NULL);
    case 'c': return typed(r, SWIFT_CONSTRUCTOR, NULL, parent, NULL);
    case 'a':
    case 'l':
    case 'g':
    case 'G':
    case 's':
    case 'm':
    case 'w':
    case 'W':
    case 'r':
    case 'M': return accessor(r, c, parent);
    case 'U': return closure(r, "closure #", parent);
    case 'u': return closure(r, "implicit closure #", parent);
    default: break;
    }
    if (kind == SWIFT_INITIALIZER) return initializer(r, parent);
    swift_node *name = csni_swift_old_decl_name(r);
    return name ? typed(r, kind, NULL, parent, name) : NULL;
}

swift_node *csni_swift_old_entity(swift_old_reader *r) {
    bool is_static = csni_swift_old_take(r, 'Z');
    enum csni_swift_kind kind = csni_swift_old_take(r, 'F')   ? SWIFT_FUNCTION
                                : csni_swift_old_take(r, 'v') ? SWIFT_VARIABLE
                                : csni_swift_old_take(r, 'I') ? SWIFT_INITIALIZER
                                : csni_swift_old_take(r, 'i') ? SWIFT_SUBSCRIPT
                                                              : SWIFT_KIND_COUNT;
    if (kind == SWIFT_KIND_COUNT) return nominal(r);
    swift_node *parent = context(r);
    swift_node *out = parent ? entity_in(r, kind, parent) : NULL;
    return is_static ? csni_swift_with1(r->memory, SWIFT_STATIC, NULL, out) : out;
}

/* Generic parameters and what they require. */

static swift_node *parameter_type(swift_old_reader *r, uint64_t depth, uint64_t index) {
    swift_node *outer = csni_swift_new_index(r->memory, SWIFT_INDEX, depth);
    return csni_swift_with2(r->memory, SWIFT_GENERIC_PARAMETER, NULL, outer, csni_swift_new_index(r->memory, SWIFT_INDEX, index));
}

static swift_node *parameter_index(swift_old_reader *r) {
    uint64_t depth = 0, index = 0;
    if (csni_swift_old_take(r, 'd')) {
        if (!csni_swift_old_index(r, &depth) || !csni_swift_old_index(r, &index)) return NULL;
        return parameter_type(r, depth + 1, index);
    }
    if (csni_swift_old_take(r, 'x')) return parameter_type(r, 0, 0);
    return csni_swift_old_index(r, &index) ? parameter_type(r, 0, index + 1) : NULL;
}

static swift_node *member_of(swift_old_reader *r, swift_node *base) {
    swift_node *name;
    if (csni_swift_old_take(r, 'S')) {
        name = csni_swift_old_substitution(r);
        if (!csni_swift_is(name, SWIFT_MEMBER_TYPE_NAME)) return NULL;
    } else {
        bool has_protocol = csni_swift_old_take(r, 'P');
        swift_node *protocol = has_protocol ? csni_swift_old_protocol(r) : NULL;
        if (has_protocol && !protocol) return NULL;
        swift_node *identifier = csni_swift_old_identifier(r, SWIFT_IDENTIFIER);
        name = csni_swift_with1(r->memory, SWIFT_MEMBER_TYPE_NAME, NULL, identifier);
        if (protocol) name = csni_swift_add(r->memory, name, protocol);
        name = csni_swift_old_substitute(r, name);
    }
    return csni_swift_with2(r->memory, SWIFT_MEMBER_TYPE, NULL, within_type(r, base), name);
}

static swift_node *associated_simple(swift_old_reader *r) {
    swift_node *base = parameter_index(r);
    return base ? member_of(r, base) : NULL;
}

static swift_node *associated_compound(swift_old_reader *r) {
    swift_node *base = parameter_index(r);
    while (base && !csni_swift_old_take(r, '_')) base = member_of(r, base);
    return base;
}

static swift_node *dependent_type(swift_old_reader *r) {
    char c = csni_swift_old_peek(r);
    if (!c) return NULL;
    if (c == 'd' || c == '_' || csni_swift_digit(c)) return parameter_index(r);
    swift_node *base = bare_type(r);
    return base ? member_of(r, base) : NULL;
}

static swift_node *layout_requirement(swift_old_reader *r, swift_node *type) {
    char c = csni_swift_old_peek(r);
    if (!c || !strchr("URNTEeMm", c)) return NULL;
    swift_node *name = csni_swift_new_text(r->memory, SWIFT_IDENTIFIER, (struct csn_str){ r->at++, 1 });
    swift_node *out = csni_swift_with2(r->memory, SWIFT_LAYOUT_REQUIREMENT, NULL, type, name);
    if (strchr("URNT", c)) return out;
    uint64_t size, alignment;
    if (!csni_swift_old_natural(r, &size)) return NULL;
    out = csni_swift_add(r->memory, out, csni_swift_new_index(r->memory, SWIFT_NUMBER, size));
    if (c == 'e' || c == 'm') return out;
    if (!csni_swift_old_take(r, '_') || !csni_swift_old_natural(r, &alignment)) return NULL;
    return csni_swift_add(r->memory, out, csni_swift_new_index(r->memory, SWIFT_NUMBER, alignment));
}

/* A protocol, or a class, which begins with 'C' or is a substitution. */
static swift_node *constraint(swift_old_reader *r) {
    char c = csni_swift_old_peek(r);
    if (c == 'C') return csni_swift_old_type(r);
    if (!csni_swift_old_take(r, 'S')) return c ? csni_swift_old_protocol(r) : NULL;
    swift_node *node = csni_swift_old_substitution(r);
    if (csni_swift_is(node, SWIFT_MODULE)) node = protocol_in(r, node);
    return csni_swift_is(node, SWIFT_PROTOCOL) || csni_swift_is(node, SWIFT_CLASS) ? within_type(r, node) : NULL;
}

static swift_node *requirement(swift_old_reader *r) {
    swift_node *type = within_type(r, csni_swift_old_take(r, 'w')   ? associated_simple(r)
                                      : csni_swift_old_take(r, 'W') ? associated_compound(r)
                                                                    : parameter_index(r));
    if (!type) return NULL;
    if (csni_swift_old_take(r, 'z'))
        return csni_swift_with2(r->memory, SWIFT_REQUIREMENT, "%0 == %1", type, csni_swift_old_type(r));
    if (csni_swift_old_take(r, 'l')) return layout_requirement(r, type);
    return csni_swift_with2(r->memory, SWIFT_REQUIREMENT, "%0: %1", type, constraint(r));
}

swift_node *csni_swift_old_signature(swift_old_reader *r, bool is_pseudogeneric) {
    swift_node *out = csni_swift_new(r->memory, is_pseudogeneric ? SWIFT_PSEUDOGENERIC_SIGNATURE : SWIFT_GENERIC_SIGNATURE);
    uint64_t count = 1;
    bool any = false;
    while (!any || (csni_swift_old_peek(r) != 'R' && csni_swift_old_peek(r) != 'r')) {
        bool none = csni_swift_old_peek(r) == 'R' || csni_swift_old_peek(r) == 'r';
        if (csni_swift_old_take(r, 'z')) count = 0;
        else if (!none && !csni_swift_old_index(r, &count)) return NULL;
        else if (!none) count++;
        if (!csni_swift_add(r->memory, out, csni_swift_new_index(r->memory, SWIFT_PARAMETER_COUNT, count))) return NULL;
        any = true;
    }
    if (csni_swift_old_take(r, 'r')) return out;
    if (!csni_swift_old_take(r, 'R')) return NULL;
    while (!csni_swift_old_take(r, 'r'))
        if (!csni_swift_add(r->memory, out, requirement(r))) return NULL;
    return out;
}

/* Types. */

static swift_node *phrase_of_type(swift_old_reader *r, enum csni_swift_kind kind, const char *label) {
    return csni_swift_with1(r->memory, kind, label, csni_swift_old_type(r));
}

static swift_node *function_type(swift_old_reader *r, enum csni_swift_kind kind) {
    swift_node *out = csni_swift_new(r->memory, kind);
    if (csni_swift_old_take(r, 'z')) csni_swift_add(r->memory, out, csni_swift_new(r->memory, SWIFT_THROWS));
    if (csni_swift_old_take(r, 'y')) csni_swift_add(r->memory, out, csni_swift_new(r->memory, SWIFT_SENDABLE));
    if (csni_swift_old_take(r, 'Z')) csni_swift_add(r->memory, out, csni_swift_new(r->memory, SWIFT_ASYNC));
    if (csni_swift_old_take(r, 'D')) {
        char c = csni_swift_old_next(r);
        if (!c || !strchr("frdl", c)) return NULL;
        csni_swift_add(r->memory, out, csni_swift_new_index(r->memory, SWIFT_DIFFERENTIABLE, (uint64_t)c));
    }
    if (csni_swift_old_take(r, 'Y')) {
        if (!csni_swift_add(r->memory, out, phrase_of_type(r, SWIFT_GLOBAL_ACTOR, NULL))) return NULL;
    }
    out = csni_swift_add(r->memory, out, phrase_of_type(r, SWIFT_ARGUMENTS, NULL));
    return out ? csni_swift_add(r->memory, out, phrase_of_type(r, SWIFT_RETURN_TYPE, NULL)) : NULL;
}

static swift_node *tuple(swift_old_reader *r, bool is_variadic) {
    swift_node *out = csni_swift_new(r->memory, SWIFT_TUPLE), *element = NULL;
    while (!csni_swift_old_take(r, '_')) {
        if (r->at == r->end) return NULL;
        element = csni_swift_new(r->memory, SWIFT_TUPLE_ELEMENT);
        if (csni_swift_digit(csni_swift_old_peek(r)) || csni_swift_old_peek(r) == 'o')
            element = csni_swift_add(r->memory, element, csni_swift_old_identifier(r, SWIFT_TUPLE_ELEMENT_NAME));
        if (!element) return NULL;
        element = csni_swift_add(r->memory, element, csni_swift_old_type(r));
        if (!csni_swift_add(r->memory, out, element)) return NULL;
    }
    if (is_variadic && element) csni_swift_add(r->memory, element, csni_swift_new(r->memory, SWIFT_VARIADIC));
    return out;
}

static swift_node *protocol_list(swift_old_reader *r) {
    swift_node *list = csni_swift_new(r->memory, SWIFT_TYPE_LIST);
    while (!csni_swift_old_take(r, '_'))
        if (!csni_swift_add(r->memory, list, csni_swift_old_protocol(r))) return NULL;
    return csni_swift_with1(r->memory, SWIFT_PROTOCOL_LIST, NULL, list);
}

static swift_node *represented_metatype(swift_old_reader *r, enum csni_swift_kind kind) {
    char c = csni_swift_old_next(r);
    const char *label = c == 't' ? "@thin" : c == 'T' ? "@thick" : c == 'o' ? "@objc_metatype" : NULL;
    if (!label) return NULL;
    swift_node *representation = csni_swift_new_label(r->memory, SWIFT_METATYPE_REPRESENTATION, label);
    return csni_swift_with2(r->memory, kind, NULL, representation, csni_swift_old_type(r));
}

static swift_node *archetype(swift_old_reader *r) {
    swift_node *root = NULL;
    if (csni_swift_old_take(r, 'Q')) {
        if (++r->depth <= CSNI_SWIFT_OLD_DEPTH_MAX) root = archetype(r);
        r->depth--;
    } else if (csni_swift_old_take(r, 'S')) {
        root = csni_swift_old_substitution(r);
    } else if (csni_swift_old_take(r, 's')) {
        root = standard_library(r);
    }
    if (!root) return NULL;
    swift_node *name = csni_swift_old_identifier(r, SWIFT_IDENTIFIER);
    return csni_swift_old_substitute(r, csni_swift_with2(r->memory, SWIFT_ASSOCIATED_TYPE_REFERENCE, NULL, root, name));
}

static swift_node *box_with_layout(swift_old_reader *r) {
    bool is_generic = csni_swift_old_take(r, 'G');
    swift_node *signature = is_generic ? csni_swift_old_signature(r, false) : NULL;
    if (is_generic && !signature) return NULL;
    swift_node *layout = csni_swift_new(r->memory, SWIFT_BOX_LAYOUT), *arguments = NULL;
    while (!csni_swift_old_take(r, '_')) {
        char c = csni_swift_old_next(r);
        if (c != 'm' && c != 'i') return NULL;
        if (!csni_swift_add(r->memory, layout, phrase_of_type(r, SWIFT_PHRASE, c == 'm' ? "var %0" : "let %0"))) return NULL;
    }
    swift_node *out = csni_swift_with1(r->memory, SWIFT_BOX_WITH_LAYOUT, NULL, layout);
    if (!is_generic) return out;
    arguments = csni_swift_new(r->memory, SWIFT_TYPE_LIST);
    while (!csni_swift_old_take(r, '_'))
        if (!csni_swift_add(r->memory, arguments, csni_swift_old_type(r))) return NULL;
    return csni_swift_add(r->memory, csni_swift_add(r->memory, out, signature), arguments);
}

/* Of the function itself, its parameters and its results; NULL: there is none. */
enum { OF_CALLEE, OF_PARAMETER, OF_RESULT };

static const char *impl_convention(swift_old_reader *r, int of) {
    static const struct { char letter; const char *labels[3]; } known[] = {
        { 'a', { NULL, NULL, "@autoreleased" } },
        { 'd', { "@callee_unowned", "@unowned", "@unowned" } },
        { 'D', { NULL, NULL, "@unowned_inner_pointer" } },
        { 'g', { "@callee_guaranteed", "@guaranteed", NULL } },
        { 'e', { NULL, "@deallocating", NULL } },
        { 'i', { NULL, "@in", "@out" } },
        { 'l', { NULL, "@inout", NULL } },
        { 'o', { "@callee_owned", "@owned", "@owned" } },
    };
    if (of == OF_CALLEE && csni_swift_old_take(r, 't')) return "@convention(thin)";
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (csni_swift_old_take(r, known[i].letter)) return known[i].labels[of];
    return NULL;
}

static bool add_label(swift_old_reader *r, swift_node *parent, enum csni_swift_kind kind, const char *label) {
    return label && csni_swift_add(r->memory, parent, csni_swift_new_label(r->memory, kind, label));
}

static bool add_impl_values(swift_old_reader *r, swift_node *out, int of) {
    while (!csni_swift_old_take(r, '_')) {
        bool is_error = of == OF_RESULT && csni_swift_old_take(r, 'z');
        enum csni_swift_kind kind = is_error          ? SWIFT_IMPL_MARKED_RESULT
                                    : of == OF_RESULT ? SWIFT_IMPL_RESULT
                                                      : SWIFT_IMPL_PARAMETER;
        swift_node *value = csni_swift_new_label(r->memory, kind, is_error ? "@error " : NULL);
        if (!add_label(r, value, SWIFT_IMPL_CONVENTION, impl_convention(r, of))) return false;
        if (!csni_swift_add(r->memory, out, csni_swift_add(r->memory, value, csni_swift_old_type(r)))) return false;
    }
    return true;
}

static const char *impl_language(char c) {
    switch (c) {
    case 'b': return "block";
    case 'c': return "c";
    case 'm': return "method";
    case 'O': return "objc_method";
    case 'w': return "witness_method";
    default: return NULL;
    }
}

static swift_node *impl_function(swift_old_reader *r) {
    swift_node *out = csni_swift_new(r->memory, SWIFT_IMPL_FUNCTION);
    if (!add_label(r, out, SWIFT_IMPL_CONVENTION, impl_convention(r, OF_CALLEE))) return NULL;
    if (csni_swift_old_take(r, 'C') &&
        !add_label(r, out, SWIFT_IMPL_FUNCTION_CONVENTION, impl_language(csni_swift_old_next(r)))) return NULL;
    if (csni_swift_old_take(r, 'h')) add_label(r, out, SWIFT_IMPL_CONVENTION, "@Sendable");
    if (csni_swift_old_take(r, 'H')) add_label(r, out, SWIFT_IMPL_CONVENTION, "@async");
    bool is_generic = csni_swift_old_take(r, 'G'), is_pseudogeneric = !is_generic && csni_swift_old_take(r, 'g');
    if ((is_generic || is_pseudogeneric) && !csni_swift_add(r->memory, out, csni_swift_old_signature(r, is_pseudogeneric)))
        return NULL;
    if (!csni_swift_old_take(r, '_') || !add_impl_values(r, out, OF_PARAMETER)) return NULL;
    return add_impl_values(r, out, OF_RESULT) ? out : NULL;
}

static swift_node *special_type(swift_old_reader *r) {
    switch (csni_swift_old_next(r)) {
    case 'b': return phrase_of_type(r, SWIFT_SIMPLE_PHRASE, "@box %0");
    case 'B': return box_with_layout(r);
    case 'M': return represented_metatype(r, SWIFT_METATYPE);
    case 'P': return csni_swift_old_take(r, 'M') ? represented_metatype(r, SWIFT_EXISTENTIAL_METATYPE) : protocol_list(r);
    case 'f': return function_type(r, SWIFT_THIN_FUNCTION_TYPE);
    case 'o': return phrase_of_type(r, SWIFT_PHRASE, "unowned %0");
    case 'u': return phrase_of_type(r, SWIFT_PHRASE, "unowned(unsafe) %0");
    case 'w': return phrase_of_type(r, SWIFT_PHRASE, "weak %0");
    case 'F': return impl_function(r);
    default: return NULL;
    }
}

static swift_node *generic_type(swift_old_reader *r) {
    swift_node *signature = csni_swift_old_signature(r, false);
    return signature ? csni_swift_with2(r->memory, SWIFT_GENERIC_TYPE, NULL, signature, csni_swift_old_type(r)) : NULL;
}

static swift_node *read_type(swift_old_reader *r) {
    char c = csni_swift_old_next(r);
    switch (c) {
    case 'B': return csni_swift_old_builtin(r);
    case 'a': return declaration(r, SWIFT_TYPE_ALIAS);
    case 'b': return function_type(r, SWIFT_OBJC_BLOCK);
    case 'c': return function_type(r, SWIFT_C_FUNCTION_POINTER);
    case 'D': return phrase_of_type(r, SWIFT_SIMPLE_PHRASE, "Self");
    case 'E':
        return csni_swift_old_take_text(r, "RR") ? csni_swift_new_label(r->memory, SWIFT_SIMPLE_PHRASE, "<ERROR TYPE>")
                                                 : NULL;
    case 'F': return function_type(r, SWIFT_FUNCTION_TYPE);
    case 'f': return function_type(r, SWIFT_UNCURRIED_FUNCTION_TYPE);
    case 'G': return bound_type(r);
    case 'K': return function_type(r, SWIFT_AUTOCLOSURE_TYPE);
    case 'M': return phrase_of_type(r, SWIFT_METATYPE, NULL);
    case 'P': return csni_swift_old_take(r, 'M') ? phrase_of_type(r, SWIFT_EXISTENTIAL_METATYPE, NULL) : protocol_list(r);
    case 'Q': return csni_swift_old_take(r, 'u') ? csni_swift_new(r->memory, SWIFT_OPAQUE_RETURN_TYPE) : archetype(r);
    case 'q': return dependent_type(r);
    case 'x': return parameter_type(r, 0, 0);
    case 'w': return associated_simple(r);
    case 'W': return associated_compound(r);
    case 'R': return csni_swift_with1(r->memory, SWIFT_IN_OUT, NULL, bare_type(r));
    case 'k': return csni_swift_with1(r->memory, SWIFT_PHRASE, "@noDerivative %0", bare_type(r));
    case 'S': return csni_swift_old_substitution(r);
    case 'T': return tuple(r, false);
    case 't': return tuple(r, true);
    case 'u': return generic_type(r);
    case 'X': return special_type(r);
    case 'C':
    case 'V':
    case 'O': return declaration(r, nominal_kind(c));
    default: return NULL;
    }
}

static swift_node *bare_type(swift_old_reader *r) {
    swift_node *out = ++r->depth <= CSNI_SWIFT_OLD_DEPTH_MAX ? read_type(r) : NULL;
    r->depth--;
    return out;
}

swift_node *csni_swift_old_type(swift_old_reader *r) { return within_type(r, bare_type(r)); }
