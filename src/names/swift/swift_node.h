/* The tree of a Swift name. Nodes are shared: a substitution refers to a part that was read before, so the tree is a graph without
 * cycles, whose text can be far longer than the name. */
#ifndef CSNI_SWIFT_NODE_H
#define CSNI_SWIFT_NODE_H

#include "names/name_memory.h"
#include "names/name_text.h"

/* What has no rules of its own is a phrase: its label has "%0" to "%3" where children stand, "%*" for all children one after the
 * other, "%i" for the index and "%t" for the text. */
enum csni_swift_kind {
    /* Contexts: what declarations stand in. */
    SWIFT_MODULE,
    SWIFT_CLASS,
    SWIFT_STRUCTURE,
    SWIFT_ENUM,
    SWIFT_PROTOCOL,
    SWIFT_TYPE_ALIAS,
    SWIFT_OTHER_NOMINAL,
    SWIFT_BUILTIN_TUPLE,
    SWIFT_EXTENSION,
    SWIFT_ANONYMOUS_CONTEXT,
    SWIFT_FUNCTION,
    SWIFT_VARIABLE,
    SWIFT_SUBSCRIPT,
    SWIFT_ACCESSOR, /* label: "getter" and the like */
    SWIFT_ALLOCATOR,
    SWIFT_CONSTRUCTOR,
    SWIFT_DEALLOCATOR,
    SWIFT_ISOLATED_DEALLOCATOR,
    SWIFT_MEMBER, /* label: "deinit" and the like */
    SWIFT_CLOSURE, /* label: "closure #", "implicit closure #" */
    SWIFT_DEFAULT_ARGUMENT,
    SWIFT_INITIALIZER, /* label: of a variable or property wrapper */
    SWIFT_STATIC,
    SWIFT_OPAQUE_RETURN_TYPE_OF,
    SWIFT_DERIVATIVE,
    SWIFT_LAST_CONTEXT = SWIFT_DERIVATIVE,

    /* Names of declarations. */
    SWIFT_IDENTIFIER,
    SWIFT_LOCAL_NAME,
    SWIFT_PRIVATE_NAME,
    SWIFT_RELATED_NAME,
    SWIFT_OPERATOR, /* label: " infix" and the like */
    SWIFT_LAST_NAME = SWIFT_OPERATOR,

    /* What stands before a function's name: thunks, specializations. */
    SWIFT_ATTRIBUTE, /* a phrase */
    SWIFT_PARTIAL_APPLY,
    SWIFT_SPECIALIZATION,
    SWIFT_FUNCTION_SPECIALIZATION,
    SWIFT_LAST_ATTRIBUTE = SWIFT_FUNCTION_SPECIALIZATION,

    /* Requirements of generic signatures. */
    SWIFT_PACK_MARKER,
    SWIFT_VALUE_MARKER,
    SWIFT_REQUIREMENT, /* a phrase */
    SWIFT_LAYOUT_REQUIREMENT,
    SWIFT_LAST_REQUIREMENT = SWIFT_LAYOUT_REQUIREMENT,

    /* Macro expansions that others can stand in. */
    SWIFT_ATTACHED_MACRO, /* label: its role */
    SWIFT_FREESTANDING_MACRO,
    SWIFT_MACRO_LOCATION,
    SWIFT_LAST_OUTER_MACRO = SWIFT_MACRO_LOCATION,
    SWIFT_BODY_MACRO,
    SWIFT_UNIQUE_NAME,
    SWIFT_MACRO,
    SWIFT_GENERIC_PARAMETER_DECLARATION,

    SWIFT_GLOBAL,
    SWIFT_SUFFIX,
    SWIFT_PHRASE,
    SWIFT_SIMPLE_PHRASE, /* a type that needs no parentheses before '?' and ".Type" */
    SWIFT_INDEX,
    SWIFT_UNKNOWN_INDEX,
    SWIFT_NUMBER,
    SWIFT_INTEGER,
    SWIFT_NEGATIVE_INTEGER,
    SWIFT_VALUE_WITNESS,
    SWIFT_REABSTRACTION_THUNK,
    SWIFT_REABSTRACTION_THUNK_WITH_SELF,
    SWIFT_KEY_PATH_THUNK,
    SWIFT_KEY_PATH_OPERATOR,
    SWIFT_COMPLETION_HANDLER,
    SWIFT_ONCE, /* label: token or function */
    SWIFT_ONCE_DECLARATIONS,
    SWIFT_PROTOCOL_CONFORMANCE,
    SWIFT_TYPE_MANGLING,
    SWIFT_SELF_REORDERING_THUNK,
    SWIFT_SUBSET_THUNK,
    SWIFT_DERIVATIVE_VTABLE_THUNK,
    SWIFT_DERIVATIVE_KIND,
    SWIFT_DIFFERENTIABILITY_WITNESS,
    SWIFT_INDEX_SUBSET,

    /* Specializations. */
    SWIFT_SERIALIZED,
    SWIFT_ASYNC_REMOVED,
    SWIFT_REPRESENTATION_CHANGED,
    SWIFT_PASS,
    SWIFT_DROPPED_ARGUMENT,
    SWIFT_SPECIALIZATION_PARAMETER,
    SWIFT_FUNCTION_PARAMETER,
    SWIFT_FUNCTION_RETURN,
    SWIFT_PARAMETER_KIND,
    SWIFT_PARAMETER_PAYLOAD,

    /* Types. */
    SWIFT_TYPE,
    SWIFT_BOUND_CLASS,
    SWIFT_BOUND_STRUCTURE,
    SWIFT_BOUND_ENUM,
    SWIFT_BOUND_PROTOCOL,
    SWIFT_BOUND_OTHER_NOMINAL,
    SWIFT_BOUND_TYPE_ALIAS,
    SWIFT_BOUND_FUNCTION,
    SWIFT_BUILTIN,
    SWIFT_FUNCTION_TYPE,
    SWIFT_NO_ESCAPE_FUNCTION_TYPE,
    SWIFT_UNCURRIED_FUNCTION_TYPE,
    SWIFT_THIN_FUNCTION_TYPE,
    SWIFT_AUTOCLOSURE_TYPE,
    SWIFT_C_FUNCTION_POINTER,
    SWIFT_OBJC_BLOCK,
    SWIFT_ESCAPING_OBJC_BLOCK,
    SWIFT_CLANG_TYPE,
    SWIFT_SENDING_RESULT,
    SWIFT_GLOBAL_ACTOR,
    SWIFT_ISOLATED_ANY,
    SWIFT_NONISOLATED_CALLER,
    SWIFT_DIFFERENTIABLE,
    SWIFT_THROWS,
    SWIFT_TYPED_THROWS,
    SWIFT_SENDABLE,
    SWIFT_ASYNC,
    SWIFT_ARGUMENTS,
    SWIFT_RETURN_TYPE,
    SWIFT_TUPLE,
    SWIFT_TUPLE_ELEMENT,
    SWIFT_TUPLE_ELEMENT_NAME,
    SWIFT_VARIADIC,
    SWIFT_PACK, /* label: what stands before it */
    SWIFT_PACK_ELEMENT,
    SWIFT_TYPE_LIST,
    SWIFT_LABEL_LIST,
    SWIFT_IN_OUT,
    SWIFT_METATYPE,
    SWIFT_EXISTENTIAL_METATYPE,
    SWIFT_METATYPE_REPRESENTATION,
    SWIFT_PROTOCOL_LIST,
    SWIFT_PROTOCOL_LIST_WITH_CLASS,
    SWIFT_PROTOCOL_LIST_WITH_ANY_OBJECT,
    SWIFT_REQUIREMENT_LIST,
    SWIFT_SUGARED_OPTIONAL,
    SWIFT_ASSOCIATED_TYPE_REFERENCE,
    SWIFT_OPAQUE_RETURN_TYPE,
    SWIFT_BOX_WITH_LAYOUT,
    SWIFT_BOX_LAYOUT,
    SWIFT_GENERIC_SIGNATURE,
    SWIFT_PSEUDOGENERIC_SIGNATURE,
    SWIFT_PARAMETER_COUNT,
    SWIFT_GENERIC_PARAMETER,
    SWIFT_GENERIC_TYPE,
    SWIFT_MEMBER_TYPE,
    SWIFT_MEMBER_TYPE_NAME,
    SWIFT_ASSOCIATED_TYPE_PATH,

    /* Protocol conformances. */
    SWIFT_CONFORMANCE_REFERENCE, /* a phrase */
    SWIFT_CONCRETE_CONFORMANCE,
    SWIFT_PACK_CONFORMANCE, /* a phrase */
    SWIFT_DEPENDENT_CONFORMANCE, /* label: what kind of it */
    SWIFT_OPAQUE_CONFORMANCE, /* a phrase */
    SWIFT_RETROACTIVE_CONFORMANCE,
    SWIFT_CONFORMANCE_LIST,

    /* Function types of the intermediate language. */
    SWIFT_IMPL_FUNCTION,
    SWIFT_IMPL_CONVENTION, /* label */
    SWIFT_IMPL_FUNCTION_CONVENTION, /* label */
    SWIFT_IMPL_DIFFERENTIABILITY,
    SWIFT_IMPL_SENDING_RESULT,
    SWIFT_IMPL_PARAMETER,
    SWIFT_IMPL_RESULT,
    SWIFT_IMPL_MARKED_RESULT, /* label: "@error ", "@yields " */
    SWIFT_IMPL_PARAMETER_NOTE, /* label */
    SWIFT_IMPL_PATTERN_SUBSTITUTIONS,
    SWIFT_IMPL_INVOCATION_SUBSTITUTIONS,

    /* Marks on the stack. */
    SWIFT_EMPTY_LIST,
    SWIFT_FIRST_ELEMENT,
    SWIFT_KIND_COUNT
};

typedef struct csni_swift_node swift_node;

struct csni_swift_list {
    swift_node **at;
    uint32_t count, cap;
};

enum csni_swift_payload { SWIFT_HAS_NOTHING, SWIFT_HAS_TEXT, SWIFT_HAS_INDEX };

struct csni_swift_node {
    uint16_t kind, payload;
    const char *label;
    union {
        struct csn_str text;
        uint64_t index;
        struct csni_swift_list children; /* of nodes without payload */
    };
};

/* NULL: no memory, here and below. */
swift_node *csni_swift_new(struct csni_name_memory *memory, enum csni_swift_kind kind);
swift_node *csni_swift_new_label(struct csni_name_memory *memory, enum csni_swift_kind kind, const char *label);
swift_node *csni_swift_new_text(struct csni_name_memory *memory, enum csni_swift_kind kind, struct csn_str text);
swift_node *csni_swift_new_index(struct csni_name_memory *memory, enum csni_swift_kind kind, uint64_t index);

bool csni_swift_push(struct csni_name_memory *memory, struct csni_swift_list *list, swift_node *node);
/* The parent with one more child; NULL: one of them is NULL, or the parent has a text or an index. */
swift_node *csni_swift_add(struct csni_name_memory *memory, swift_node *parent, swift_node *child);
/* A node with children; NULL: one of them is. */
swift_node *csni_swift_with1(struct csni_name_memory *memory, enum csni_swift_kind kind, const char *label, swift_node *a);
swift_node *csni_swift_with2(struct csni_name_memory *memory, enum csni_swift_kind kind, const char *label, swift_node *a,
                             swift_node *b);
swift_node *csni_swift_with3(struct csni_name_memory *memory, enum csni_swift_kind kind, const char *label,
                             swift_node *a, swift_node *b, swift_node *c);
/* The children from `from` on in the opposite order. */
void csni_swift_reverse(swift_node *node, uint32_t from);

static inline uint32_t csni_swift_count(const swift_node *node) {
    return node->payload == SWIFT_HAS_NOTHING ? node->children.count : 0;
}

/* NULL: there is no such child. */
static inline swift_node *csni_swift_child(const swift_node *node, uint32_t i) {
    return node && i < csni_swift_count(node) ? node->children.at[i] : NULL;
}

static inline bool csni_swift_is(const swift_node *node, enum csni_swift_kind kind) { return node && node->kind == kind; }

/* The first child of a kind. */
static inline swift_node *csni_swift_child_of(const swift_node *node, enum csni_swift_kind kind) {
    for (uint32_t i = 0; i < csni_swift_count(node); i++)
        if (node->children.at[i]->kind == kind) return node->children.at[i];
    return NULL;
}

static inline bool csni_swift_has_text(const swift_node *node, const char *text) {
    return node->payload == SWIFT_HAS_TEXT && node->text.len == strlen(text) && memcmp(node->text.ptr, text, node->text.len) == 0;
}

static inline bool csni_swift_is_nominal(uint32_t kind) { return kind >= SWIFT_CLASS && kind <= SWIFT_BUILTIN_TUPLE; }
static inline bool csni_swift_is_context(uint32_t kind) { return kind <= SWIFT_LAST_CONTEXT; }
static inline bool csni_swift_is_entity(uint32_t kind) { return kind == SWIFT_TYPE || csni_swift_is_context(kind); }
static inline bool csni_swift_is_name(uint32_t kind) { return kind >= SWIFT_IDENTIFIER && kind <= SWIFT_LAST_NAME; }
static inline bool csni_swift_is_attribute(uint32_t kind) { return kind >= SWIFT_ATTRIBUTE && kind <= SWIFT_LAST_ATTRIBUTE; }
static inline bool csni_swift_is_requirement(uint32_t kind) {
    return kind >= SWIFT_PACK_MARKER && kind <= SWIFT_LAST_REQUIREMENT;
}
static inline bool csni_swift_is_outer_macro(uint32_t kind) {
    return kind >= SWIFT_ATTACHED_MACRO && kind <= SWIFT_LAST_OUTER_MACRO;
}

#endif
