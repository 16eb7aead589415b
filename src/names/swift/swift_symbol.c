/* A whole Swift name: its operators, substitutions, and what stands before it. */
#include "names/swift/swift_read.h"

/* "Array" of the standard library and the like. */
static swift_node *standard_type(swift_reader *r, enum csni_swift_kind kind, const char *name) {
    struct csn_str library = { "Swift", 5 }, text = { name, strlen(name) };
    swift_node *module = csni_swift_new_text(r->memory, SWIFT_MODULE, library);
    swift_node *identifier = csni_swift_new_text(r->memory, SWIFT_IDENTIFIER, text);
    return csni_swift_type(r, csni_swift_with2(r->memory, kind, NULL, module, identifier));
}

struct standard_type {
    char letter;
    enum csni_swift_kind kind;
    const char *name;
};

static const struct standard_type library_types[] = {
    { 'A', SWIFT_STRUCTURE, "AutoreleasingUnsafeMutablePointer" },
    { 'a', SWIFT_STRUCTURE, "Array" },
    { 'b', SWIFT_STRUCTURE, "Bool" },
    { 'D', SWIFT_STRUCTURE, "Dictionary" },
    { 'd', SWIFT_STRUCTURE, "Double" },
    { 'f', SWIFT_STRUCTURE, "Float" },
    { 'h', SWIFT_STRUCTURE, "Set" },
    { 'I', SWIFT_STRUCTURE, "DefaultIndices" },
    { 'i', SWIFT_STRUCTURE, "Int" },
    { 'J', SWIFT_STRUCTURE, "Character" },
    { 'N', SWIFT_STRUCTURE, "ClosedRange" },
    { 'n', SWIFT_STRUCTURE, "Range" },
    { 'O', SWIFT_STRUCTURE, "ObjectIdentifier" },
    { 'P', SWIFT_STRUCTURE, "UnsafePointer" },
    { 'p', SWIFT_STRUCTURE, "UnsafeMutablePointer" },
    { 'R', SWIFT_STRUCTURE, "UnsafeBufferPointer" },
    { 'r', SWIFT_STRUCTURE, "UnsafeMutableBufferPointer" },
    { 'S', SWIFT_STRUCTURE, "String" },
    { 's', SWIFT_STRUCTURE, "Substring" },
    { 'u', SWIFT_STRUCTURE, "UInt" },
    { 'V', SWIFT_STRUCTURE, "UnsafeRawPointer" },
    { 'v', SWIFT_STRUCTURE, "UnsafeMutableRawPointer" },
    { 'W', SWIFT_STRUCTURE, "UnsafeRawBufferPointer" },
    { 'w', SWIFT_STRUCTURE, "UnsafeMutableRawBufferPointer" },
    { 'q', SWIFT_ENUM, "Optional" },
    { 'B', SWIFT_PROTOCOL, "BinaryFloatingPoint" },
    { 'E', SWIFT_PROTOCOL, "Encodable" },
    { 'e', SWIFT_PROTOCOL, "Decodable" },
    { 'F', SWIFT_PROTOCOL, "FloatingPoint" },
    { 'G', SWIFT_PROTOCOL, "RandomNumberGenerator" },
    { 'H', SWIFT_PROTOCOL, "Hashable" },
    { 'j', SWIFT_PROTOCOL, "Numeric" },
    { 'K', SWIFT_PROTOCOL, "BidirectionalCollection" },
    { 'k', SWIFT_PROTOCOL, "RandomAccessCollection" },
    { 'L', SWIFT_PROTOCOL, "Comparable" },
    { 'l', SWIFT_PROTOCOL, "Collection" },
    { 'M', SWIFT_PROTOCOL, "MutableCollection" },
    { 'm', SWIFT_PROTOCOL, "RangeReplaceableCollection" },
    { 'Q', SWIFT_PROTOCOL, "Equatable" },
    { 'T', SWIFT_PROTOCOL, "Sequence" },
    { 't', SWIFT_PROTOCOL, "IteratorProtocol" },
    { 'U', SWIFT_PROTOCOL, "UnsignedInteger" },
    { 'X', SWIFT_PROTOCOL, "RangeExpression" },
    { 'x', SWIFT_PROTOCOL, "Strideable" },
    { 'Y', SWIFT_PROTOCOL, "RawRepresentable" },
    { 'y', SWIFT_PROTOCOL, "StringProtocol" },
    { 'Z', SWIFT_PROTOCOL, "SignedInteger" },
    { 'z', SWIFT_PROTOCOL, "BinaryInteger" },
};

static const struct standard_type concurrency_types[] = {
    { 'A', SWIFT_PROTOCOL, "Actor" },
    { 'C', SWIFT_STRUCTURE, "CheckedContinuation" },
    { 'c', SWIFT_STRUCTURE, "UnsafeContinuation" },
    { 'E', SWIFT_STRUCTURE, "CancellationError" },
    { 'e', SWIFT_STRUCTURE, "UnownedSerialExecutor" },
    { 'F', SWIFT_PROTOCOL, "Executor" },
    { 'f', SWIFT_PROTOCOL, "SerialExecutor" },
    { 'G', SWIFT_STRUCTURE, "TaskGroup" },
    { 'g', SWIFT_STRUCTURE, "ThrowingTaskGroup" },
    { 'h', SWIFT_PROTOCOL, "TaskExecutor" },
    { 'I', SWIFT_PROTOCOL, "AsyncIteratorProtocol" },
    { 'i', SWIFT_PROTOCOL, "AsyncSequence" },
    { 'J', SWIFT_STRUCTURE, "UnownedJob" },
    { 'M', SWIFT_CLASS, "MainActor" },
    { 'P', SWIFT_STRUCTURE, "TaskPriority" },
    { 'S', SWIFT_STRUCTURE, "AsyncStream" },
    { 's', SWIFT_STRUCTURE, "AsyncThrowingStream" },
    { 'T', SWIFT_STRUCTURE, "Task" },
    { 't', SWIFT_STRUCTURE, "UnsafeCurrentTask" },
};

static swift_node *lettered_type(swift_reader *r, const struct standard_type *known, size_t count) {
    char letter = csni_swift_next(r);
    for (size_t i = 0; i < count; i++)
        if (known[i].letter == letter) return standard_type(r, known[i].kind, known[i].name);
    return NULL;
}

static bool repeat(swift_reader *r, swift_node *node, int32_t times) {
    if (!node || times > CSNI_SWIFT_REPEAT_MAX) return false;
    for (; times > 1; times--)
        if (!csni_swift_push(r->memory, &r->stack, node)) return false;
    return true;
}

static swift_node *optional(swift_reader *r) {
    swift_node *arguments = csni_swift_with1(r->memory, SWIFT_TYPE_LIST, NULL, csni_swift_pop_type(r));
    swift_node *bound =
        csni_swift_with2(r->memory, SWIFT_BOUND_ENUM, NULL, standard_type(r, SWIFT_ENUM, "Optional"), arguments);
    swift_node *type = csni_swift_type(r, bound);
    csni_swift_substitute(r, type);
    return type;
}

static swift_node *standard_substitution(swift_reader *r) {
    if (csni_swift_take(r, 'o')) return csni_swift_new_text(r->memory, SWIFT_MODULE, (struct csn_str){ "__C", 3 });
    if (csni_swift_take(r, 'C')) return csni_swift_new_text(r->memory, SWIFT_MODULE, (struct csn_str){ "__C_Synthesized", 15 });
    if (csni_swift_take(r, 'g')) return optional(r);
    int32_t times = csni_swift_natural(r);
    swift_node *type = csni_swift_take(r, 'c')
                           ? lettered_type(r, concurrency_types, sizeof(concurrency_types) / sizeof(concurrency_types[0]))
                           : lettered_type(r, library_types, sizeof(library_types) / sizeof(library_types[0]));
    return repeat(r, type, times) ? type : NULL;
}

/* Lower-case letters are substitutions that others follow, an upper-case one is the last; a number before a letter
 * repeats it, before '_' it is the substitution's number, from 27 on. */
static swift_node *substitutions(swift_reader *r) {
    for (int32_t times = -1;;) {
        char c = csni_swift_next(r);
        if (csni_swift_digit(c)) {
            r->at--;
            times = csni_swift_natural(r);
            if (times < 0) return NULL;
            continue;
        }
        bool is_last = csni_swift_upper(c);
        uint64_t index = c == '_' ? (uint64_t)(times + 27ll) : (uint64_t)(is_last ? c - 'A' : c - 'a');
        if ((c != '_' && !is_last && !csni_swift_lower(c)) || index >= r->substitutions.count) return NULL;
        swift_node *node = r->substitutions.at[index];
        if (c == '_') return node;
        if (!repeat(r, node, times)) return NULL;
        if (is_last) return node;
        if (!csni_swift_push(r->memory, &r->stack, node)) return NULL;
        times = -1;
    }
}

static swift_node *wrapped(swift_reader *r, const char *label) {
    return csni_swift_type(r, csni_swift_phrase(r, label, csni_swift_pop_type_child(r)));
}

static swift_node *suffix(swift_reader *r) {
    struct csn_str rest = { r->at - 1, (size_t)(r->end - r->at) + 1 };
    r->at = r->end;
    return csni_swift_new_text(r->memory, SWIFT_SUFFIX, rest);
}

static swift_node *type_mangling(swift_reader *r) {
    swift_node *type = csni_swift_pop_type(r), *labels = csni_swift_pop_labels(r, type);
    swift_node *out = csni_swift_new(r->memory, SWIFT_TYPE_MANGLING);
    csni_swift_add(r->memory, out, labels);
    return csni_swift_add(r->memory, out, type);
}

static swift_node *read_operator(swift_reader *r) {
    char c = csni_swift_next(r);
    switch (c) {
    case 'A': return substitutions(r);
    case 'B': return csni_swift_builtin(r);
    case 'C': return csni_swift_nominal(r, SWIFT_CLASS);
    case 'D': return type_mangling(r);
    case 'E': return csni_swift_extension(r);
    case 'F': return csni_swift_function(r);
    case 'G': return csni_swift_bound_type(r);
    case 'H': return csni_swift_conformance(r);
    case 'I': return csni_swift_impl_function(r);
    case 'K': return csni_swift_new(r->memory, SWIFT_THROWS);
    case 'L': return csni_swift_local_identifier(r);
    case 'M': return csni_swift_metatype(r);
    case 'N': return csni_swift_phrase(r, "type metadata for %0", csni_swift_pop_type(r));
    case 'O': return csni_swift_nominal(r, SWIFT_ENUM);
    case 'P': return csni_swift_nominal(r, SWIFT_PROTOCOL);
    case 'Q': return csni_swift_archetype(r);
    case 'R': return csni_swift_requirement(r);
    case 'S': return standard_substitution(r);
    case 'T': return csni_swift_thunk(r);
    case 'V': return csni_swift_nominal(r, SWIFT_STRUCTURE);
    case 'W': return csni_swift_witness(r);
    case 'X': return csni_swift_special_type(r);
    case 'Y': return csni_swift_annotation(r);
    case 'Z': return csni_swift_with1(r->memory, SWIFT_STATIC, NULL, csni_swift_pop_entity(r));
    case 'a': return csni_swift_nominal(r, SWIFT_TYPE_ALIAS);
    case 'c': return csni_swift_pop_function_type(r, SWIFT_FUNCTION_TYPE, NULL, false);
    case 'd': return csni_swift_new(r->memory, SWIFT_VARIADIC);
    case 'f': return csni_swift_function_entity(r);
    case 'g': return csni_swift_retroactive(r);
    case 'h': return wrapped(r, "__shared %0");
    case 'i': return csni_swift_subscript(r);
    case 'l': return csni_swift_signature(r, false);
    case 'm': return csni_swift_type(r, csni_swift_with1(r->memory, SWIFT_METATYPE, NULL, csni_swift_pop_type(r)));
    case 'n': return wrapped(r, "__owned %0");
    case 'o': return csni_swift_operator_name(r);
    case 'p': return csni_swift_type(r, csni_swift_protocol_list(r));
    case 'q': return csni_swift_type(r, csni_swift_parameter_index(r));
    case 'r': return csni_swift_signature(r, true);
    case 's': return csni_swift_new_text(r->memory, SWIFT_MODULE, (struct csn_str){ "Swift", 5 });
    case 't': return csni_swift_pop_tuple(r);
    case 'u': return csni_swift_generic_type(r);
    case 'v': return csni_swift_variable(r);
    case 'w': return csni_swift_value_witness(r);
    case 'x': return csni_swift_type(r, csni_swift_parameter_type(r, 0, 0));
    case 'y': return csni_swift_new(r->memory, SWIFT_EMPTY_LIST);
    case 'z': return csni_swift_type(r, csni_swift_with1(r->memory, SWIFT_IN_OUT, NULL, csni_swift_pop_type_child(r)));
    case '_': return csni_swift_new(r->memory, SWIFT_FIRST_ELEMENT);
    case '.': return suffix(r);
    case '$': return csni_swift_integer(r);
    default: r->at--; return csni_swift_identifier(r);
    }
}

/* What was read becomes one tree: attributes stand before the rest, a partial application has what follows it within. */
static swift_node *global_of(swift_reader *r) {
    swift_node *global = csni_swift_new(r->memory, SWIFT_GLOBAL), *parent = global, *node;
    swift_node *suffix = csni_swift_pop_kind(r, SWIFT_SUFFIX);
    if (!r->stack.count) return NULL;
    while ((node = csni_swift_pop_if(r, csni_swift_is_attribute))) {
        if (!csni_swift_add(r->memory, parent, node)) return NULL;
        if (node->kind == SWIFT_PARTIAL_APPLY) parent = node;
    }
    for (uint32_t i = 0; i < r->stack.count; i++) {
        node = r->stack.at[i];
        if (!csni_swift_add(r->memory, parent, node->kind == SWIFT_TYPE ? csni_swift_child(node, 0) : node)) return NULL;
    }
    if (suffix && !csni_swift_add(r->memory, global, suffix)) return NULL;
    return global;
}

swift_node *csni_swift_symbol(struct csn_str name, struct csni_name_memory *memory) {
    static const char *const prefixes[] = { "_T0", "$S", "_$S", "$s", "_$s", "$e", "_$e", "@__swiftmacro_" };
    size_t prefix = 0;
    for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]) && !prefix; i++) {
        size_t len = strlen(prefixes[i]);
        if (name.len >= len && memcmp(name.ptr, prefixes[i], len) == 0) prefix = len;
    }
    if (!prefix) return name.len > 2 && memcmp(name.ptr, "_T", 2) == 0 ? csni_swift_old_symbol(name, memory) : NULL;
    swift_reader r = { .at = name.ptr + prefix, .end = name.ptr + name.len, .memory = memory };
    r.labels_in_types = name.ptr[1] == 'T';
    while (r.at < r.end) {
        swift_node *node = read_operator(&r);
        if (!node || !csni_swift_push(memory, &r.stack, node)) return NULL;
    }
    return global_of(&r);
}
