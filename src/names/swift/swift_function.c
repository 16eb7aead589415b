/* Function types, their parameters' labels, tuples. */
#include "names/swift/swift_read.h"

swift_node *csni_swift_clang_type(swift_reader *r) {
    int32_t size = csni_swift_natural(r);
    if (size <= 0 || size > r->end - r->at) return NULL;
    r->at += size;
    return csni_swift_new_text(r->memory, SWIFT_CLANG_TYPE, (struct csn_str){ r->at - size, (size_t)size });
}

static bool is_isolation(uint32_t kind) {
    return kind == SWIFT_GLOBAL_ACTOR || kind == SWIFT_ISOLATED_ANY || kind == SWIFT_NONISOLATED_CALLER;
}
static bool is_sending(uint32_t kind) { return kind == SWIFT_SENDING_RESULT; }
static bool is_differentiable(uint32_t kind) { return kind == SWIFT_DIFFERENTIABLE; }
static bool is_throws(uint32_t kind) { return kind == SWIFT_THROWS || kind == SWIFT_TYPED_THROWS; }
static bool is_sendable(uint32_t kind) { return kind == SWIFT_SENDABLE; }
static bool is_async(uint32_t kind) { return kind == SWIFT_ASYNC; }

static swift_node *pop_parameters(swift_reader *r, enum csni_swift_kind kind) {
    swift_node *type = csni_swift_pop_kind(r, SWIFT_EMPTY_LIST) ? csni_swift_type(r, csni_swift_new(r->memory, SWIFT_TUPLE))
                                                                : csni_swift_pop_type(r);
    return csni_swift_with1(r->memory, kind, NULL, type);
}

swift_node *csni_swift_pop_function_type(swift_reader *r, enum csni_swift_kind kind, const char *label, bool has_clang_type) {
    static bool (*const notes[])(uint32_t) = { is_sending, is_isolation, is_differentiable, is_throws, is_sendable, is_async };
    swift_node *type = csni_swift_new_label(r->memory, kind, label);
    if (has_clang_type) csni_swift_add(r->memory, type, csni_swift_clang_type(r));
    for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++) csni_swift_add(r->memory, type, csni_swift_pop_if(r, notes[i]));
    type = csni_swift_add(r->memory, type, pop_parameters(r, SWIFT_ARGUMENTS));
    return csni_swift_type(r, csni_swift_add(r->memory, type, pop_parameters(r, SWIFT_RETURN_TYPE)));
}

/* The type of a function's parameters: a tuple, or the one parameter's type. */
static swift_node *parameters_of(swift_node *type) {
    swift_node *function = csni_swift_is(type, SWIFT_TYPE) ? csni_swift_child(type, 0) : NULL;
    if (csni_swift_is(function, SWIFT_GENERIC_TYPE)) function = csni_swift_child(csni_swift_child(function, 1), 0);
    if (!csni_swift_is(function, SWIFT_FUNCTION_TYPE) && !csni_swift_is(function, SWIFT_NO_ESCAPE_FUNCTION_TYPE)) return NULL;
    return csni_swift_child(csni_swift_child(csni_swift_child(function, csni_swift_count(function) - 2), 0), 0);
}

/* The label within a tuple's element, which it then lacks. */
static swift_node *take_label(swift_reader *r, swift_node *element) {
    for (uint32_t i = 0; element && i < csni_swift_count(element); i++) {
        swift_node *name = element->children.at[i];
        if (name->kind != SWIFT_TUPLE_ELEMENT_NAME) continue;
        element->children.count--;
        memmove(element->children.at + i, element->children.at + i + 1, (element->children.count - i) * sizeof(swift_node *));
        return csni_swift_new_text(r->memory, SWIFT_IDENTIFIER, name->text);
    }
    return csni_swift_new(r->memory, SWIFT_FIRST_ELEMENT);
}

swift_node *csni_swift_pop_labels(swift_reader *r, swift_node *type) {
    if (!r->labels_in_types && csni_swift_pop_kind(r, SWIFT_EMPTY_LIST)) return csni_swift_new(r->memory, SWIFT_LABEL_LIST);
    swift_node *parameters = parameters_of(type);
    bool is_tuple = csni_swift_is(parameters, SWIFT_TUPLE);
    uint32_t count = !parameters ? 0 : is_tuple ? csni_swift_count(parameters) : 1;
    if (!count) return NULL;
    swift_node *labels = csni_swift_new(r->memory, SWIFT_LABEL_LIST);
    if (r->labels_in_types && !is_tuple) return labels;

    bool has_labels = false;
    for (uint32_t i = 0; i < count; i++) {
        swift_node *label = r->labels_in_types ? take_label(r, csni_swift_child(parameters, i)) : csni_swift_pop(r);
        if (!csni_swift_is(label, SWIFT_IDENTIFIER) && !csni_swift_is(label, SWIFT_FIRST_ELEMENT)) return NULL;
        if (!csni_swift_add(r->memory, labels, label)) return NULL;
        has_labels |= label->kind == SWIFT_IDENTIFIER;
    }
    if (!has_labels) return csni_swift_new(r->memory, SWIFT_LABEL_LIST);
    if (!r->labels_in_types) csni_swift_reverse(labels, 0);
    return labels;
}

static swift_node *pop_element(swift_reader *r) {
    swift_node *element = csni_swift_new(r->memory, SWIFT_TUPLE_ELEMENT);
    csni_swift_add(r->memory, element, csni_swift_pop_kind(r, SWIFT_VARIADIC));
    swift_node *name = csni_swift_pop_kind(r, SWIFT_IDENTIFIER);
    if (name) csni_swift_add(r->memory, element, csni_swift_new_text(r->memory, SWIFT_TUPLE_ELEMENT_NAME, name->text));
    return csni_swift_add(r->memory, element, csni_swift_pop_type(r));
}

swift_node *csni_swift_pop_tuple(swift_reader *r) {
    return csni_swift_type(r, csni_swift_pop_list(r, csni_swift_new(r->memory, SWIFT_TUPLE), pop_element));
}
