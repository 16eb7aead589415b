/* Text of function types of the intermediate language. */
#include "names/swift/swift_print.h"

enum part { ATTRIBUTES, PARAMETERS, RESULTS };

struct notes {
    const swift_node *pattern, *invocation;
    bool sending;
};

/* Closes what comes before a part. */
static enum part enter(swift_printer *p, enum part at, enum part to, const struct notes *notes) {
    if (at == ATTRIBUTES && to > ATTRIBUTES) {
        if (notes->pattern) {
            csni_swift_put(p, "@substituted ");
            csni_swift_print_child(p, notes->pattern, 0);
            csni_swift_put(p, " ");
        }
        csni_swift_put(p, "(");
        at = PARAMETERS;
    }
    if (at == PARAMETERS && to == RESULTS) csni_swift_put(p, notes->sending ? ") -> sending (" : ") -> (");
    if (to < at) p->failed = true;
    return to;
}

static void print_substituted(swift_printer *p, const swift_node *node, uint32_t i) {
    if (!node) return;
    csni_swift_put(p, " for <");
    csni_swift_print_children(p, csni_swift_child(node, i), "");
    csni_swift_put(p, ">");
}

static void print_function(swift_printer *p, const swift_node *node) {
    struct notes notes = { 0 };
    enum part at = ATTRIBUTES;
    for (uint32_t i = 0; i < csni_swift_count(node) && !p->failed; i++) {
        const swift_node *child = csni_swift_child(node, i);
        enum part of = child->kind == SWIFT_IMPL_PARAMETER ? PARAMETERS
                       : child->kind == SWIFT_IMPL_RESULT || child->kind == SWIFT_IMPL_MARKED_RESULT ? RESULTS
                                                                                                       : ATTRIBUTES;
        if (child->kind == SWIFT_IMPL_PATTERN_SUBSTITUTIONS) {
            notes.pattern = child;
        } else if (child->kind == SWIFT_IMPL_INVOCATION_SUBSTITUTIONS) {
            notes.invocation = child;
        } else if (child->kind == SWIFT_IMPL_SENDING_RESULT) {
            notes.sending = true;
        } else {
            if (of != ATTRIBUTES && at == of) csni_swift_put(p, ", ");
            at = enter(p, at, of, &notes);
            csni_swift_print(p, child);
            if (of == ATTRIBUTES) csni_swift_put(p, " ");
        }
    }
    enter(p, at, RESULTS, &notes);
    csni_swift_put(p, ")");
    print_substituted(p, notes.pattern, 1);
    print_substituted(p, notes.invocation, 0);
}

static void print_function_convention(swift_printer *p, const swift_node *node) {
    csni_swift_put(p, "@convention(");
    csni_swift_put(p, node->label);
    if (csni_swift_count(node)) {
        csni_swift_put(p, ", mangledCType: \"");
        csni_swift_print_child(p, node, 0);
        csni_swift_put(p, "\"");
    }
    csni_swift_put(p, ")");
}

/* Convention, notes, type. Where there are more than two notes, the reference leaves them out. */
static void print_value(swift_printer *p, const swift_node *node) {
    uint32_t count = csni_swift_count(node);
    csni_swift_print_child(p, node, 0);
    csni_swift_put(p, " ");
    if (count == 3 || count == 4) csni_swift_print_child(p, node, 1);
    if (count == 4) csni_swift_print_child(p, node, 2);
    csni_swift_print_child(p, node, count - 1);
}

bool csni_swift_print_impl(swift_printer *p, const swift_node *node) {
    switch (node->kind) {
    case SWIFT_IMPL_FUNCTION: print_function(p, node); return true;
    case SWIFT_IMPL_CONVENTION:
    case SWIFT_IMPL_PARAMETER_NOTE: csni_swift_put(p, node->label); return true;
    case SWIFT_IMPL_FUNCTION_CONVENTION: print_function_convention(p, node); return true;
    case SWIFT_IMPL_PARAMETER:
    case SWIFT_IMPL_RESULT: print_value(p, node); return true;
    case SWIFT_IMPL_MARKED_RESULT:
        csni_swift_put(p, node->label);
        csni_swift_print_children(p, node, " ");
        return true;
    default: return false;
    }
}
