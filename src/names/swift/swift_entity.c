/* Functions, variables and their accessors, closures, macros. */
#include "names/swift/swift_read.h"

swift_node *csni_swift_extension(swift_reader *r) {
    swift_node *signature = csni_swift_pop_signature(r), *module = csni_swift_pop_module(r), *type = csni_swift_pop_nominal(r);
    swift_node *out = csni_swift_with2(r->memory, SWIFT_EXTENSION, NULL, module, type);
    csni_swift_add(r->memory, out, signature);
    return out;
}

/* A declaration of context, name, the labels of its parameters (if any) and type. */
static swift_node *declaration(swift_reader *r, enum csni_swift_kind kind, swift_node *labels, swift_node *type) {
    swift_node *name = csni_swift_pop_name(r), *context = csni_swift_pop_context(r);
    swift_node *out = csni_swift_with2(r->memory, kind, NULL, context, name);
    if (labels) out = csni_swift_add(r->memory, out, labels);
    return csni_swift_add(r->memory, out, type);
}

swift_node *csni_swift_function(swift_reader *r) {
    swift_node *signature = csni_swift_pop_signature(r);
    swift_node *type = csni_swift_pop_function_type(r, SWIFT_FUNCTION_TYPE, NULL, false), *labels = csni_swift_pop_labels(r, type);
    if (signature) type = csni_swift_type(r, csni_swift_with2(r->memory, SWIFT_GENERIC_TYPE, NULL, signature, type));
    return declaration(r, SWIFT_FUNCTION, labels, type);
}

static swift_node *entity(swift_reader *r, enum csni_swift_kind kind) {
    swift_node *type = csni_swift_pop_type(r);
    return declaration(r, kind, csni_swift_pop_labels(r, type), type);
}

static const char *addressor_name(char kind, char of) {
    bool is_mutable = kind == 'a';
    switch (of) {
    case 'O': return is_mutable ? "owningMutableAddressor" : "owningAddressor";
    case 'o': return is_mutable ? "nativeOwningMutableAddressor" : "nativeOwningAddressor";
    case 'P': return is_mutable ? "nativePinningMutableAddressor" : NULL;
    case 'p': return is_mutable ? NULL : "nativePinningAddressor";
    case 'u': return is_mutable ? "unsafeMutableAddressor" : "unsafeAddressor";
    default: return NULL;
    }
}

static const char *accessor_name(char kind) {
    switch (kind) {
    case 'm': return "materializeForSet";
    case 's': return "setter";
    case 'g':
    case 'G': return "getter";
    case 'w': return "willset";
    case 'W': return "didset";
    case 'r': return "read";
    case 'y': return "read2";
    case 'M': return "modify";
    case 'x': return "modify2";
    case 'i': return "init";
    case 'b': return "borrow";
    case 'z': return "mutate";
    default: return NULL;
    }
}

static swift_node *accessor(swift_reader *r, swift_node *of) {
    char kind = csni_swift_next(r);
    if (kind == 'p') return of;
    const char *name = kind == 'a' || kind == 'l' ? addressor_name(kind, csni_swift_next(r)) : accessor_name(kind);
    return name ? csni_swift_with1(r->memory, SWIFT_ACCESSOR, name, of) : NULL;
}

swift_node *csni_swift_variable(swift_reader *r) { return accessor(r, entity(r, SWIFT_VARIABLE)); }

swift_node *csni_swift_subscript(swift_reader *r) {
    swift_node *private_name = csni_swift_pop_kind(r, SWIFT_PRIVATE_NAME), *type = csni_swift_pop_type(r);
    swift_node *labels = csni_swift_pop_labels(r, type), *context = csni_swift_pop_context(r);
    swift_node *subscript = csni_swift_with1(r->memory, SWIFT_SUBSCRIPT, NULL, context);
    csni_swift_add(r->memory, subscript, labels);
    subscript = csni_swift_add(r->memory, subscript, type);
    csni_swift_add(r->memory, subscript, private_name);
    return accessor(r, subscript);
}

static swift_node *member(swift_reader *r, enum csni_swift_kind kind, const char *label) {
    return csni_swift_with1(r->memory, kind, label, csni_swift_pop_context(r));
}

static swift_node *constructor(swift_reader *r, enum csni_swift_kind kind) {
    swift_node *private_name = csni_swift_pop_kind(r, SWIFT_PRIVATE_NAME), *type = csni_swift_pop_type(r);
    swift_node *labels = csni_swift_pop_labels(r, type), *out = member(r, kind, NULL);
    csni_swift_add(r->memory, out, labels);
    out = csni_swift_add(r->memory, out, type);
    csni_swift_add(r->memory, out, private_name);
    return out;
}

static swift_node *closure(swift_reader *r, const char *label) {
    swift_node *index = csni_swift_index_node(r), *type = csni_swift_pop_type(r);
    return csni_swift_add(r->memory, csni_swift_add(r->memory, member(r, SWIFT_CLOSURE, label), index), type);
}

static swift_node *macro_location(swift_reader *r) {
    swift_node *line = csni_swift_new_index(r->memory, SWIFT_INDEX, (uint64_t)(int64_t)csni_swift_index(r));
    swift_node *column = csni_swift_new_index(r->memory, SWIFT_INDEX, (uint64_t)(int64_t)csni_swift_index(r));
    swift_node *file = csni_swift_pop_kind(r, SWIFT_IDENTIFIER), *module = csni_swift_pop_kind(r, SWIFT_IDENTIFIER);
    swift_node *out = csni_swift_with3(r->memory, SWIFT_MACRO_LOCATION, NULL, module, file, line);
    return csni_swift_add(r->memory, out, column);
}

static const char *macro_role(char letter) {
    switch (letter) {
    case 'a': return "accessor macro @";
    case 'r': return "memberAttribute macro @";
    case 'm': return "member macro @";
    case 'p': return "peer macro @";
    case 'c': return "conformance macro @";
    case 'e': return "extension macro @";
    case 'b': return "body macro @";
    default: return NULL;
    }
}

/* Children: context, the name it is attached to (if it is), the macro's name, number, private name. */
static swift_node *macro_expansion(swift_reader *r) {
    char letter = csni_swift_next(r);
    const char *role = macro_role(letter);
    if (letter == 'X') return macro_location(r);
    if (!role && letter != 'f' && letter != 'u') return NULL;
    enum csni_swift_kind kind = letter == 'b'   ? SWIFT_BODY_MACRO
                                : letter == 'f' ? SWIFT_FREESTANDING_MACRO
                                : letter == 'u' ? SWIFT_UNIQUE_NAME
                                                : SWIFT_ATTACHED_MACRO;
    swift_node *name = csni_swift_pop_kind(r, SWIFT_IDENTIFIER);
    swift_node *private_name = letter == 'f' ? csni_swift_pop_kind(r, SWIFT_PRIVATE_NAME) : NULL;
    swift_node *attached = role ? csni_swift_pop_name(r) : NULL;
    swift_node *context = csni_swift_pop_if(r, csni_swift_is_outer_macro);
    if (!context) context = csni_swift_pop_context(r);
    swift_node *number = csni_swift_index_node(r), *out = csni_swift_with1(r->memory, kind, role, context);
    if (attached) out = csni_swift_add(r->memory, out, attached);
    out = csni_swift_add(r->memory, csni_swift_add(r->memory, out, name), number);
    csni_swift_add(r->memory, out, private_name);
    return out;
}

/* Swift 4.0 ("_T0") wrote an accessor as a function of the variable's name and type, and a subscript as a variable of that name. */
static swift_node *accessor_function(swift_reader *r) {
    char kind = csni_swift_next(r);
    const char *name = kind == 'a' || kind == 'l' ? addressor_name(kind, csni_swift_next(r)) : accessor_name(kind);
    swift_node *type = name ? csni_swift_pop_type(r) : NULL;
    return type ? csni_swift_with1(r->memory, SWIFT_ACCESSOR, name, declaration(r, SWIFT_VARIABLE, NULL, type)) : NULL;
}

swift_node *csni_swift_function_entity(swift_reader *r) {
    if (r->labels_in_types && csni_swift_peek(r) && strchr("mgGswWal", csni_swift_peek(r))) return accessor_function(r);
    switch (csni_swift_next(r)) {
    case 'D': return member(r, SWIFT_DEALLOCATOR, NULL);
    case 'd': return member(r, SWIFT_MEMBER, "deinit");
    case 'Z': return member(r, SWIFT_ISOLATED_DEALLOCATOR, NULL);
    case 'E': return member(r, SWIFT_MEMBER, "__ivar_destroyer");
    case 'e': return member(r, SWIFT_MEMBER, "__ivar_initializer");
    case 'i': return member(r, SWIFT_INITIALIZER, "variable initialization expression");
    case 'P': return member(r, SWIFT_INITIALIZER, "property wrapper backing initializer");
    case 'F': return member(r, SWIFT_INITIALIZER, "property wrapped field init accessor");
    case 'W': return member(r, SWIFT_INITIALIZER, "property wrapper init from projected value");
    case 'C': return constructor(r, SWIFT_ALLOCATOR);
    case 'c': return constructor(r, SWIFT_CONSTRUCTOR);
    case 'U': return closure(r, "closure #");
    case 'u': return closure(r, "implicit closure #");
    case 'A': {
        swift_node *index = csni_swift_index_node(r);
        return csni_swift_add(r->memory, member(r, SWIFT_DEFAULT_ARGUMENT, NULL), index);
    }
    case 'm': return entity(r, SWIFT_MACRO);
    case 'M': return macro_expansion(r);
    case 'p': return entity(r, SWIFT_GENERIC_PARAMETER_DECLARATION);
    default: return NULL;
    }
}
