/* Reading a Swift name of today's scheme: operators in postfix order take what they need from a stack of nodes. */
#ifndef CSNI_SWIFT_READ_H
#define CSNI_SWIFT_READ_H

#include "names/swift/swift_node.h"

enum { CSNI_SWIFT_WORDS_MAX = 26, CSNI_SWIFT_REPEAT_MAX = 2048 };

struct csni_swift_reader {
    const char *at, *end;
    struct csni_name_memory *memory;
    struct csni_swift_list stack, substitutions;
    struct csn_str words[CSNI_SWIFT_WORDS_MAX];
    uint32_t word_count;
    bool labels_in_types; /* "_T0": the labels of parameters stand within the function's type */
};

typedef struct csni_swift_reader swift_reader;

/* 0 at the end. */
static inline char csni_swift_peek(const swift_reader *r) { return r->at < r->end ? *r->at : 0; }
static inline char csni_swift_next(swift_reader *r) { return r->at < r->end ? *r->at++ : 0; }

static inline bool csni_swift_take(swift_reader *r, char c) {
    if (r->at == r->end || *r->at != c) return false;
    r->at++;
    return true;
}

static inline bool csni_swift_digit(char c) { return c >= '0' && c <= '9'; }
static inline bool csni_swift_lower(char c) { return c >= 'a' && c <= 'z'; }
static inline bool csni_swift_upper(char c) { return c >= 'A' && c <= 'Z'; }

static inline swift_node *csni_swift_type(swift_reader *r, swift_node *child) {
    return csni_swift_with1(r->memory, SWIFT_TYPE, NULL, child);
}
static inline swift_node *csni_swift_phrase(swift_reader *r, const char *label, swift_node *child) {
    return csni_swift_with1(r->memory, SWIFT_PHRASE, label, child);
}
static inline void csni_swift_substitute(swift_reader *r, swift_node *node) {
    if (node) csni_swift_push(r->memory, &r->substitutions, node);
}

/* swift_number.c. A number, or a negative one: there is none, or it does not fit. An index is "_" for 0, and N "_" for N + 1. */
int32_t csni_swift_natural(swift_reader *r);
int32_t csni_swift_index(swift_reader *r);
swift_node *csni_swift_index_node(swift_reader *r);

/* swift_identifier.c */
swift_node *csni_swift_identifier(swift_reader *r);
swift_node *csni_swift_operator_name(swift_reader *r);
swift_node *csni_swift_local_identifier(swift_reader *r);

/* swift_pop.c: from the stack. NULL: there is nothing, or something else; then it stays. */
swift_node *csni_swift_pop(swift_reader *r);
swift_node *csni_swift_pop_kind(swift_reader *r, enum csni_swift_kind kind);
swift_node *csni_swift_pop_if(swift_reader *r, bool (*wanted)(uint32_t kind));
swift_node *csni_swift_pop_name(swift_reader *r);
swift_node *csni_swift_pop_module(swift_reader *r);
swift_node *csni_swift_pop_context(swift_reader *r);
swift_node *csni_swift_pop_entity(swift_reader *r);
/* What stands within the type on the stack. */
swift_node *csni_swift_pop_type_child(swift_reader *r);
swift_node *csni_swift_pop_nominal(swift_reader *r);
swift_node *csni_swift_pop_protocol(swift_reader *r);
/* A list whose first element has a mark: the nodes that `pop` gives, in the order of the name, in a node of a kind. */
swift_node *csni_swift_pop_list(swift_reader *r, swift_node *list, swift_node *(*pop)(swift_reader *));
swift_node *csni_swift_pop_type_list(swift_reader *r);
swift_node *csni_swift_pop_type(swift_reader *r);
swift_node *csni_swift_pop_signature(swift_reader *r);

/* swift_function.c */
swift_node *csni_swift_pop_function_type(swift_reader *r, enum csni_swift_kind kind, const char *label, bool has_clang_type);
swift_node *csni_swift_pop_labels(swift_reader *r, swift_node *type);
swift_node *csni_swift_clang_type(swift_reader *r);
swift_node *csni_swift_pop_tuple(swift_reader *r);

/* swift_bound.c: lists of generic arguments from the stack, the innermost type's first. */
bool csni_swift_pop_bound(swift_reader *r, struct csni_swift_list *lists, swift_node **conformances);
swift_node *csni_swift_bound_type(swift_reader *r);

/* swift_type.c */
swift_node *csni_swift_builtin(swift_reader *r);
swift_node *csni_swift_nominal(swift_reader *r, enum csni_swift_kind kind);
swift_node *csni_swift_special_type(swift_reader *r);
swift_node *csni_swift_protocol_list(swift_reader *r);
swift_node *csni_swift_annotation(swift_reader *r);
swift_node *csni_swift_integer(swift_reader *r);
swift_node *csni_swift_impl_function(swift_reader *r);

/* swift_generic.c */
swift_node *csni_swift_archetype(swift_reader *r);
swift_node *csni_swift_parameter_type(swift_reader *r, int32_t depth, int32_t index);
swift_node *csni_swift_parameter_index(swift_reader *r);
swift_node *csni_swift_pop_associated_name(swift_reader *r);
swift_node *csni_swift_pop_associated_path(swift_reader *r);
swift_node *csni_swift_signature(swift_reader *r, bool has_counts);
swift_node *csni_swift_requirement(swift_reader *r);
swift_node *csni_swift_generic_type(swift_reader *r);

/* swift_conformance.c */
swift_node *csni_swift_pop_conformance(swift_reader *r);
swift_node *csni_swift_pop_any_conformance(swift_reader *r);
swift_node *csni_swift_conformance(swift_reader *r);
swift_node *csni_swift_retroactive(swift_reader *r);

/* swift_entity.c */
swift_node *csni_swift_extension(swift_reader *r);
swift_node *csni_swift_function(swift_reader *r);
swift_node *csni_swift_function_entity(swift_reader *r);
swift_node *csni_swift_variable(swift_reader *r);
swift_node *csni_swift_subscript(swift_reader *r);

/* swift_thunk.c, swift_specialize.c, swift_derivative.c, swift_witness.c */
swift_node *csni_swift_thunk(swift_reader *r);
swift_node *csni_swift_generic_specialization(swift_reader *r, const char *label);
swift_node *csni_swift_partial_specialization(swift_reader *r, const char *label);
swift_node *csni_swift_specialization_with_dropped(swift_reader *r);
swift_node *csni_swift_function_specialization(swift_reader *r);
swift_node *csni_swift_derivative(swift_reader *r);
swift_node *csni_swift_differentiability_witness(swift_reader *r);
swift_node *csni_swift_metatype(swift_reader *r);
swift_node *csni_swift_witness(swift_reader *r);
swift_node *csni_swift_value_witness(swift_reader *r);

/* swift_value_witness.c: the label of two letters; NULL: there is none. */
const char *csni_swift_value_witness_name(const char *letters);

/* swift_symbol.c: the whole name, NULL: it cannot be read. */
swift_node *csni_swift_symbol(struct csn_str name, struct csni_name_memory *memory);
/* swift_old.c: of the scheme before Swift 4, "_T". */
swift_node *csni_swift_old_symbol(struct csn_str name, struct csni_name_memory *memory);

/* The characters of operators are letters in names; 0: the letter stands for none. */
static inline char csni_swift_operator_character(char letter) {
    static const char characters[] = "&\0@/=\0>\0\0\0\0<*!|+?%-~\0\0\0^\0.";
    return csni_swift_lower(letter) ? characters[letter - 'a'] : 0;
}

#endif
