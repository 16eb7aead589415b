/* Text of thunks, specializations and derivatives. */
#include "names/swift/swift_print.h"
#include "names/swift/swift_specialization.h"

static void print_reabstraction(swift_printer *p, const swift_node *node) {
    uint32_t with_self = node->kind == SWIFT_REABSTRACTION_THUNK_WITH_SELF;
    uint32_t first = csni_swift_count(node) == 3 + with_self;
    csni_swift_put(p, node->label);
    if (first) {
        csni_swift_print_child(p, node, 0);
        csni_swift_put(p, " ");
    }
    csni_swift_put(p, "from ");
    csni_swift_print_child(p, node, first + with_self + 1);
    csni_swift_put(p, " to ");
    csni_swift_print_child(p, node, first + with_self);
    if (!with_self) return;
    csni_swift_put(p, " self ");
    csni_swift_print_child(p, node, first);
}

static void print_key_path(swift_printer *p, const swift_node *node) {
    csni_swift_put(p, node->label);
    csni_swift_print_child(p, node, 0);
    csni_swift_put(p, " : ");
    for (uint32_t i = 1; i < csni_swift_count(node) && !p->failed; i++) {
        if (csni_swift_is(csni_swift_child(node, i), SWIFT_SERIALIZED)) csni_swift_put(p, ", ");
        csni_swift_print_child(p, node, i);
    }
}

static void print_key_path_operator(swift_printer *p, const swift_node *node) {
    uint32_t count = csni_swift_count(node);
    csni_swift_put(p, node->label);
    if (count && csni_swift_is(csni_swift_child(node, count - 1), SWIFT_SERIALIZED)) count--;
    if (count && csni_swift_is(csni_swift_child(node, count - 1), SWIFT_GENERIC_SIGNATURE))
        csni_swift_print_child(p, node, --count);
    csni_swift_put(p, "(");
    for (uint32_t i = 0; i < count && !p->failed; i++) {
        if (i) csni_swift_put(p, ", ");
        csni_swift_print_child(p, node, i);
    }
    csni_swift_put(p, ")");
}

static void print_completion_handler(swift_printer *p, const swift_node *node) {
    csni_swift_put(p, node->label);
    if (csni_swift_count(node) >= 4) csni_swift_print_child(p, node, 3);
    csni_swift_print_child(p, node, 0);
    csni_swift_put(p, " with result type ");
    csni_swift_print_child(p, node, 1);
    switch (csni_swift_child(node, 2)->index) {
    case 0: break;
    case 1: csni_swift_put(p, " nonzero on error"); break;
    case 2: csni_swift_put(p, " zero on error"); break;
    default: csni_swift_put(p, " <invalid error flag>"); break;
    }
}

static void print_once_names(swift_printer *p, const swift_node *node) {
    bool is_one = csni_swift_count(node) == 1;
    if (!is_one) csni_swift_put(p, "(");
    csni_swift_print_children(p, node, ", ");
    if (!is_one) csni_swift_put(p, ")");
}

/* Specializations. */

void csni_swift_print_parameter_kind(swift_printer *p, uint64_t kind) {
    static const struct { uint64_t flag; const char *text; } flags[] = {
        { SWIFT_TO_GENERIC, "Existential To Protocol Constrained Generic" },
        { SWIFT_DEAD, "Dead" },
        { SWIFT_TO_GUARANTEED, "Owned To Guaranteed" },
        { SWIFT_TO_OWNED, "Guaranteed To Owned" },
        { SWIFT_EXPLODED, "Exploded" },
    };
    static const char *const kinds[] = {
        [SWIFT_CONSTANT_FUNCTION] = "Constant Propagated Function", [SWIFT_CONSTANT_GLOBAL] = "Constant Propagated Global",
        [SWIFT_CONSTANT_INTEGER] = "Constant Propagated Integer",   [SWIFT_CONSTANT_FLOAT] = "Constant Propagated Float",
        [SWIFT_CONSTANT_STRING] = "Constant Propagated String",     [SWIFT_CLOSURE_PROPAGATED] = "Closure Propagated",
        [SWIFT_BOX_TO_VALUE] = "Value Promoted from Box",           [SWIFT_BOX_TO_STACK] = "Stack Promoted from Box",
        [SWIFT_INOUT_TO_OUT] = "InOut Converted to Out",            [SWIFT_CONSTANT_KEY_PATH] = "Constant Propagated KeyPath",
        [SWIFT_CONSTANT_STRUCT] = "Constant Propagated Struct",     [SWIFT_CLOSURE_OF_ARGUMENT] = "Same As Argument",
    };
    bool any = false;
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        if (!(kind & flags[i].flag)) continue;
        if (any) csni_swift_put(p, " and ");
        csni_swift_put(p, flags[i].text);
        any = true;
    }
    if (!any && kind < sizeof(kinds) / sizeof(kinds[0])) csni_swift_put(p, kinds[kind]);
}

/* Kinds and payloads stand first; what they refer to follows in the same order. */
static void print_operand(swift_printer *p, const swift_node *node, uint32_t *at, uint64_t kind) {
    for (; *at < csni_swift_count(node); ++*at) {
        const swift_node *child = csni_swift_child(node, *at);
        if (child->kind == SWIFT_PARAMETER_KIND || child->kind == SWIFT_PARAMETER_PAYLOAD) continue;
        ++*at;
        bool has_text = child->payload == SWIFT_HAS_TEXT;
        if ((kind == SWIFT_CONSTANT_FUNCTION || kind == SWIFT_CONSTANT_GLOBAL) && has_text)
            csni_swift_print_name_within(p, child->text);
        else if (kind == SWIFT_CONSTANT_STRING && has_text && child->text.len && child->text.ptr[0] == '_')
            csni_name_put(p->out, child->text.ptr + 1, child->text.len - 1);
        else
            csni_swift_print(p, child);
        return;
    }
}

/* The types of what a closure has captured. The reference closes one bracket of two. */
static uint32_t print_captures(swift_printer *p, const swift_node *node, uint32_t i) {
    csni_swift_put(p, ", Argument Types : [");
    while (csni_swift_is(csni_swift_child(node, i), SWIFT_TYPE) && !p->failed) {
        csni_swift_print_child(p, node, i++);
        const swift_node *next = csni_swift_child(node, i);
        if (next && next->payload == SWIFT_HAS_TEXT) csni_swift_put(p, ", ");
    }
    return i;
}

static bool needs_payload(uint64_t kind) {
    return kind == SWIFT_CONSTANT_INTEGER || kind == SWIFT_CONSTANT_FLOAT || kind == SWIFT_CONSTANT_STRING ||
           kind == SWIFT_CLOSURE_PROPAGATED || kind == SWIFT_CLOSURE_OF_ARGUMENT;
}

static void print_parameter(swift_printer *p, const swift_node *node) {
    uint32_t i = 0, operand = 0, count = csni_swift_count(node);
    while (i < count && !p->failed) {
        const swift_node *child = csni_swift_child(node, i);
        if (child->payload != SWIFT_HAS_INDEX || (needs_payload(child->index) && i + 2 > count)) return;
        uint64_t kind = child->index;
        bool in_brackets = kind <= SWIFT_CLOSURE_OF_ARGUMENT && kind != SWIFT_BOX_TO_VALUE && kind != SWIFT_BOX_TO_STACK &&
                           kind != SWIFT_INOUT_TO_OUT;
        if (in_brackets) csni_swift_put(p, "[");
        csni_swift_print_child(p, node, i++);
        if (!in_brackets) continue;
        csni_swift_put(p, kind == SWIFT_CLOSURE_OF_ARGUMENT ? " " : " : ");
        if (needs_payload(kind)) csni_swift_print_child(p, node, i++);
        switch (kind) {
        case SWIFT_CONSTANT_STRING:
            csni_swift_put(p, "'");
            print_operand(p, node, &operand, kind);
            csni_swift_put(p, "'");
            break;
        case SWIFT_CONSTANT_KEY_PATH:
            print_operand(p, node, &operand, kind);
            csni_swift_put(p, "<");
            print_operand(p, node, &operand, kind);
            csni_swift_put(p, ",");
            print_operand(p, node, &operand, kind);
            csni_swift_put(p, ">");
            break;
        case SWIFT_CLOSURE_PROPAGATED:
            i = print_captures(p, node, i);
            break;
        case SWIFT_CONSTANT_FUNCTION:
        case SWIFT_CONSTANT_GLOBAL:
        case SWIFT_CONSTANT_STRUCT: print_operand(p, node, &operand, kind); break;
        default: break;
        }
        csni_swift_put(p, "]");
    }
}

void csni_swift_print_specialization(swift_printer *p, const swift_node *node) {
    if (csni_swift_is(csni_swift_child(node, 0), SWIFT_REPRESENTATION_CHANGED)) {
        csni_swift_put(p, "representation changed of ");
        return;
    }
    /* The label may end in a text that stands before each parameter. */
    const char *each = strchr(node->label, '<') + 1;
    csni_name_put(p->out, node->label, (size_t)(each - node->label));
    bool any = false;
    uint64_t argument = 0;
    for (uint32_t i = 0; i < csni_swift_count(node) && !p->failed; i++) {
        const swift_node *child = csni_swift_child(node, i);
        if (child->kind == SWIFT_PASS) continue;
        bool is_note = child->kind == SWIFT_SERIALIZED;
        if (!is_note) argument++;
        if (!is_note && !csni_swift_count(child)) continue;
        if (any) csni_swift_put(p, ", ");
        any = true;
        if (!is_note) csni_swift_put(p, each);
        if (child->kind == SWIFT_FUNCTION_PARAMETER) {
            csni_swift_put(p, "Arg[");
            csni_name_put_number(p->out, argument - 1);
            csni_swift_put(p, "] = ");
            print_parameter(p, child);
        } else if (child->kind == SWIFT_FUNCTION_RETURN) {
            csni_swift_put(p, "Return = ");
            print_parameter(p, child);
        } else {
            csni_swift_print(p, child);
        }
    }
    csni_swift_put(p, "> of ");
}

static void print_specialization_parameter(swift_printer *p, const swift_node *node) {
    csni_swift_print_child(p, node, 0);
    for (uint32_t i = 1; i < csni_swift_count(node) && !p->failed; i++) {
        csni_swift_put(p, i == 1 ? " with " : " and ");
        csni_swift_print_child(p, node, i);
    }
}

/* Derivatives. */

static void print_subset(swift_printer *p, struct csn_str text) {
    bool any = false;
    csni_swift_put(p, "{");
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] != 'S') continue;
        if (any) csni_swift_put(p, ", ");
        csni_name_put_number(p->out, i);
        any = true;
    }
    csni_swift_put(p, "}");
}

static uint32_t first_of(const swift_node *node, uint32_t kind) {
    uint32_t i = 0;
    while (i < csni_swift_count(node) && csni_swift_child(node, i)->kind != kind) i++;
    return i;
}

static void print_some(swift_printer *p, const swift_node *node, uint32_t count) {
    for (uint32_t i = 0; i < count && !p->failed; i++) csni_swift_print_child(p, node, i);
}

static void print_respect(swift_printer *p, const swift_node *node, uint32_t i) {
    csni_swift_put(p, " with respect to parameters ");
    csni_swift_print_child(p, node, i);
    csni_swift_put(p, " and results ");
    csni_swift_print_child(p, node, i + 1);
}

static void print_derivative(swift_printer *p, const swift_node *node) {
    uint32_t kind = first_of(node, SWIFT_DERIVATIVE_KIND), end = kind;
    if (node->kind == SWIFT_DERIVATIVE_VTABLE_THUNK) csni_swift_put(p, "vtable thunk for ");
    csni_swift_print_child(p, node, kind);
    csni_swift_put(p, " of ");
    bool is_generic = end && csni_swift_is(csni_swift_child(node, end - 1), SWIFT_GENERIC_SIGNATURE);
    print_some(p, node, end - is_generic);
    print_respect(p, node, kind + 1);
    if (!is_generic) return;
    csni_swift_put(p, " with ");
    csni_swift_print_child(p, node, end - 1);
}

static void print_reordering(swift_printer *p, const swift_node *node) {
    uint32_t is_generic = csni_swift_is(csni_swift_child(node, 2), SWIFT_GENERIC_SIGNATURE);
    csni_swift_put(p, "autodiff self-reordering reabstraction thunk for ");
    csni_swift_print_child(p, node, 2 + is_generic);
    if (is_generic) {
        csni_swift_print_child(p, node, 2);
        csni_swift_put(p, " ");
    }
    csni_swift_put(p, " from ");
    csni_swift_print_child(p, node, 0);
    csni_swift_put(p, " to ");
    csni_swift_print_child(p, node, 1);
}

static void print_subset_thunk(swift_printer *p, const swift_node *node) {
    uint32_t count = csni_swift_count(node);
    if (count < 5) {
        p->failed = true;
        return;
    }
    uint32_t last = count - 5; /* the last of what it is a thunk of, before kind and three subsets */
    csni_swift_put(p, "autodiff subset parameters thunk for ");
    csni_swift_print_child(p, node, last + 1);
    csni_swift_put(p, " from ");
    print_some(p, node, last ? last : 1);
    print_respect(p, node, last + 2);
    csni_swift_put(p, " to parameters ");
    csni_swift_print_child(p, node, last + 4);
    if (!last) return;
    csni_swift_put(p, " of type ");
    csni_swift_print_child(p, node, last);
}

static void print_differentiability_witness(swift_printer *p, const swift_node *node) {
    uint32_t kind = first_of(node, SWIFT_INDEX);
    const swift_node *index = csni_swift_child(node, kind);
    switch (index ? index->index : 0) {
    case 'f': csni_swift_put(p, "forward-mode"); break;
    case 'r': csni_swift_put(p, "reverse-mode"); break;
    case 'd': csni_swift_put(p, "normal"); break;
    case 'l': csni_swift_put(p, "linear"); break;
    default: p->failed = true; return;
    }
    csni_swift_put(p, " differentiability witness for ");
    print_some(p, node, kind);
    print_respect(p, node, kind + 1);
    if (kind + 3 >= csni_swift_count(node)) return;
    csni_swift_put(p, " with ");
    csni_swift_print_child(p, node, kind + 3);
}

static void print_derivative_kind(swift_printer *p, uint64_t kind) {
    csni_swift_put(p, kind == 'f'   ? "forward-mode derivative"
                      : kind == 'r' ? "reverse-mode derivative"
                      : kind == 'd' ? "differential"
                                    : "pullback");
}

bool csni_swift_print_thunk(swift_printer *p, const swift_node *node) {
    switch (node->kind) {
    case SWIFT_SPECIALIZATION:
    case SWIFT_FUNCTION_SPECIALIZATION: csni_swift_print_specialization(p, node); return true;
    case SWIFT_SPECIALIZATION_PARAMETER: print_specialization_parameter(p, node); return true;
    case SWIFT_SERIALIZED: csni_swift_put(p, "serialized"); return true;
    case SWIFT_PARAMETER_KIND: csni_swift_print_parameter_kind(p, node->index); return true;
    case SWIFT_PARAMETER_PAYLOAD:
        if (node->payload == SWIFT_HAS_INDEX) csni_name_put_number(p->out, node->index);
        else csni_swift_print_name_within(p, node->text);
        return true;
    case SWIFT_REABSTRACTION_THUNK:
    case SWIFT_REABSTRACTION_THUNK_WITH_SELF: print_reabstraction(p, node); return true;
    case SWIFT_KEY_PATH_THUNK: print_key_path(p, node); return true;
    case SWIFT_KEY_PATH_OPERATOR: print_key_path_operator(p, node); return true;
    case SWIFT_COMPLETION_HANDLER: print_completion_handler(p, node); return true;
    case SWIFT_ONCE:
        csni_swift_put(p, node->label);
        csni_swift_print_child(p, node, 1);
        return true;
    case SWIFT_ONCE_DECLARATIONS: print_once_names(p, node); return true;
    case SWIFT_DERIVATIVE:
    case SWIFT_DERIVATIVE_VTABLE_THUNK: print_derivative(p, node); return true;
    case SWIFT_SELF_REORDERING_THUNK: print_reordering(p, node); return true;
    case SWIFT_SUBSET_THUNK: print_subset_thunk(p, node); return true;
    case SWIFT_DERIVATIVE_KIND: print_derivative_kind(p, node->index); return true;
    case SWIFT_DIFFERENTIABILITY_WITNESS: print_differentiability_witness(p, node); return true;
    case SWIFT_INDEX_SUBSET: print_subset(p, node->text); return true;
    default: return false;
    }
}
