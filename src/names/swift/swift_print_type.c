/* Text of types and generic signatures. */
#include "names/swift/swift_print.h"

enum { PARAMETERS_SHOWN_MAX = 128 };

/* Types that need no parentheses before '?' and ".Type". */
static bool is_simple(const swift_node *type) {
    for (uint32_t i = 0; csni_swift_is(type, SWIFT_TYPE) && i < CSNI_SWIFT_PRINT_DEPTH_MAX; i++) type = csni_swift_child(type, 0);
    if (!type) return true;
    switch (type->kind) {
    case SWIFT_MODULE:
    case SWIFT_CLASS:
    case SWIFT_STRUCTURE:
    case SWIFT_ENUM:
    case SWIFT_PROTOCOL:
    case SWIFT_TYPE_ALIAS:
    case SWIFT_OTHER_NOMINAL:
    case SWIFT_BUILTIN_TUPLE:
    case SWIFT_BOUND_CLASS:
    case SWIFT_BOUND_STRUCTURE:
    case SWIFT_BOUND_ENUM:
    case SWIFT_BOUND_PROTOCOL:
    case SWIFT_BOUND_OTHER_NOMINAL:
    case SWIFT_BOUND_TYPE_ALIAS:
    case SWIFT_BOUND_FUNCTION:
    case SWIFT_BUILTIN:
    case SWIFT_SIMPLE_PHRASE:
    case SWIFT_GENERIC_TYPE:
    case SWIFT_MEMBER_TYPE:
    case SWIFT_GENERIC_PARAMETER:
    case SWIFT_EXISTENTIAL_METATYPE:
    case SWIFT_METATYPE:
    case SWIFT_METATYPE_REPRESENTATION:
    case SWIFT_TUPLE:
    case SWIFT_PACK:
    case SWIFT_REQUIREMENT_LIST:
    case SWIFT_RETURN_TYPE:
    case SWIFT_BOX_WITH_LAYOUT:
    case SWIFT_TUPLE_ELEMENT_NAME:
    case SWIFT_TYPE_LIST:
    case SWIFT_LABEL_LIST:
    case SWIFT_SUGARED_OPTIONAL:
    case SWIFT_ASSOCIATED_TYPE_REFERENCE:
    case SWIFT_INTEGER:
    case SWIFT_NEGATIVE_INTEGER: return true;
    case SWIFT_PROTOCOL_LIST: {
        const swift_node *list = csni_swift_child(type, 0);
        return list && csni_swift_count(list) <= 1;
    }
    case SWIFT_PROTOCOL_LIST_WITH_ANY_OBJECT: {
        const swift_node *list = csni_swift_child(csni_swift_child(type, 0), 0);
        return list && csni_swift_count(list) == 0;
    }
    default: return false;
    }
}

static void print_in_parentheses(swift_printer *p, const swift_node *type) {
    bool simple = is_simple(type);
    if (!simple) csni_swift_put(p, "(");
    csni_swift_print(p, type);
    if (!simple) csni_swift_put(p, ")");
}

/* Whether a bound type is one of the standard library. */
static bool is_library_type(const swift_node *bound, const char *name, uint32_t arguments) {
    const swift_node *type = csni_swift_child(csni_swift_child(bound, 0), 0), *list = csni_swift_child(bound, 1);
    const swift_node *module = csni_swift_child(type, 0), *identifier = csni_swift_child(type, 1);
    return list && csni_swift_count(bound) == 2 && csni_swift_count(list) == arguments && csni_swift_is(module, SWIFT_MODULE) &&
           csni_swift_has_text(module, "Swift") && csni_swift_is(identifier, SWIFT_IDENTIFIER) &&
           csni_swift_has_text(identifier, name);
}

static void print_arguments(swift_printer *p, const swift_node *list) {
    csni_swift_put(p, "<");
    csni_swift_print_children(p, list, ", ");
    csni_swift_put(p, ">");
}

static void print_bound(swift_printer *p, const swift_node *node) {
    const swift_node *list = csni_swift_child(node, 1);
    bool is_plain = p->names_within != 0 || csni_swift_count(node) != 2;
    if (node->kind == SWIFT_BOUND_PROTOCOL && !is_plain) {
        csni_swift_print_children(p, list, "");
        csni_swift_put(p, " as ");
        csni_swift_print_child(p, node, 0);
    } else if (node->kind == SWIFT_BOUND_ENUM && !is_plain && is_library_type(node, "Optional", 1)) {
        print_in_parentheses(p, csni_swift_child(list, 0));
        csni_swift_put(p, "?");
    } else if (node->kind == SWIFT_BOUND_ENUM && !is_plain && is_library_type(node, "ImplicitlyUnwrappedOptional", 1)) {
        print_in_parentheses(p, csni_swift_child(list, 0));
        csni_swift_put(p, "!");
    } else if (node->kind == SWIFT_BOUND_STRUCTURE && !is_plain &&
               (is_library_type(node, "Array", 1) || is_library_type(node, "Dictionary", 2))) {
        csni_swift_put(p, "[");
        csni_swift_print_children(p, list, " : ");
        csni_swift_put(p, "]");
    } else {
        csni_swift_print_child(p, node, 0);
        print_arguments(p, list);
    }
}

static void print_tuple_element(swift_printer *p, const swift_node *node) {
    const swift_node *name = csni_swift_child_of(node, SWIFT_TUPLE_ELEMENT_NAME);
    if (name) {
        csni_name_put_str(p->out, name->text);
        csni_swift_put(p, ": ");
    }
    csni_swift_print(p, csni_swift_child_of(node, SWIFT_TYPE));
    if (csni_swift_child_of(node, SWIFT_VARIADIC)) csni_swift_put(p, "...");
}

static void print_label(swift_printer *p, const swift_node *label) {
    if (!label) p->failed = true;
    else if (label->kind == SWIFT_IDENTIFIER) csni_name_put_str(p->out, label->text);
    else csni_swift_put(p, "_");
}

static void print_parameters(swift_printer *p, const swift_node *labels, const swift_node *arguments) {
    const swift_node *tuple = csni_swift_child(csni_swift_child(arguments, 0), 0);
    bool has_labels = labels && csni_swift_count(labels);
    csni_swift_put(p, "(");
    if (!csni_swift_is(tuple, SWIFT_TUPLE)) {
        csni_swift_print(p, tuple);
    } else {
        for (uint32_t i = 0; i < csni_swift_count(tuple) && !p->failed; i++) {
            if (i) csni_swift_put(p, ", ");
            if (has_labels) {
                print_label(p, csni_swift_child(labels, i));
                csni_swift_put(p, ": ");
            }
            csni_swift_print_child(p, tuple, i);
        }
    }
    csni_swift_put(p, ")");
}

static void print_convention(swift_printer *p, const swift_node *type, const char *name) {
    const swift_node *clang_type = csni_swift_child(type, 0);
    csni_swift_put(p, "@convention(");
    csni_swift_put(p, name);
    if (csni_swift_is(clang_type, SWIFT_CLANG_TYPE)) {
        csni_swift_put(p, ", mangledCType: \"");
        csni_name_put_str(p->out, clang_type->text);
        csni_swift_put(p, "\"");
    }
    csni_swift_put(p, ") ");
}

static void print_differentiability(swift_printer *p, uint64_t kind) {
    csni_swift_put(p, "@differentiable");
    csni_swift_put(p, kind == 'f' ? "(_forward)" : kind == 'r' ? "(reverse)" : kind == 'l' ? "(_linear)" : "");
}

static void print_if(swift_printer *p, const swift_node *node) {
    if (node) csni_swift_print(p, node);
}

void csni_swift_print_function_type(swift_printer *p, const swift_node *labels, const swift_node *type) {
    uint32_t count = type ? csni_swift_count(type) : 0;
    const swift_node *arguments = count >= 2 ? csni_swift_child(type, count - 2) : NULL;
    if (!csni_swift_is(arguments, SWIFT_ARGUMENTS)) {
        p->failed = true;
        return;
    }
    switch (type->kind) {
    case SWIFT_AUTOCLOSURE_TYPE: csni_swift_put(p, "@autoclosure "); break;
    case SWIFT_THIN_FUNCTION_TYPE: csni_swift_put(p, "@convention(thin) "); break;
    case SWIFT_C_FUNCTION_POINTER: print_convention(p, type, "c"); break;
    case SWIFT_ESCAPING_OBJC_BLOCK:
        csni_swift_put(p, "@escaping ");
        print_convention(p, type, "block");
        break;
    case SWIFT_OBJC_BLOCK: print_convention(p, type, "block"); break;
    default: break;
    }
    print_if(p, csni_swift_child_of(type, SWIFT_ISOLATED_ANY));
    print_if(p, csni_swift_child_of(type, SWIFT_GLOBAL_ACTOR));
    print_if(p, csni_swift_child_of(type, SWIFT_DIFFERENTIABLE));
    print_if(p, csni_swift_child_of(type, SWIFT_NONISOLATED_CALLER));
    print_if(p, csni_swift_child_of(type, SWIFT_SENDABLE));
    print_parameters(p, labels, arguments);
    print_if(p, csni_swift_child_of(type, SWIFT_ASYNC));
    print_if(p, csni_swift_child_of(type, SWIFT_THROWS));
    print_if(p, csni_swift_child_of(type, SWIFT_TYPED_THROWS));
    csni_swift_put(p, csni_swift_child_of(type, SWIFT_SENDING_RESULT) ? " -> sending " : " -> ");
    csni_swift_print_child(p, type, count - 1);
}

bool csni_swift_needs_space_before(const swift_node *type) {
    for (uint32_t i = 0; csni_swift_is(type, SWIFT_TYPE) && i < CSNI_SWIFT_PRINT_DEPTH_MAX; i++) type = csni_swift_child(type, 0);
    return type && type->kind != SWIFT_FUNCTION_TYPE && type->kind != SWIFT_NO_ESCAPE_FUNCTION_TYPE &&
           type->kind != SWIFT_UNCURRIED_FUNCTION_TYPE && type->kind != SWIFT_GENERIC_TYPE;
}

static void print_parameter_name(swift_printer *p, uint64_t depth, uint64_t index) {
    do csni_name_put_char(p->out, (char)('A' + index % 26));
    while (index /= 26);
    if (depth) csni_name_put_number(p->out, depth);
}

/* Whether a parameter has a mark among the children of a signature from `from` to `to`. */
static bool is_marked(swift_printer *p, const swift_node *node, uint32_t from, uint32_t to, uint32_t kind, uint64_t depth,
                      uint64_t index) {
    for (uint32_t i = from; i < to && csni_swift_step(p); i++) {
        const swift_node *mark = csni_swift_child(node, i);
        const swift_node *parameter = mark->kind == kind ? csni_swift_child(csni_swift_child(mark, 0), 0) : NULL;
        if (!csni_swift_is(parameter, SWIFT_GENERIC_PARAMETER)) continue;
        /* As the reference does, depth and index are exchanged. */
        if (csni_swift_child(parameter, 0)->index == index && csni_swift_child(parameter, 1)->index == depth) return true;
    }
    return false;
}

void csni_swift_print_signature(swift_printer *p, const swift_node *node) {
    uint32_t count = csni_swift_count(node), depths = 0;
    while (depths < count && csni_swift_child(node, depths)->kind == SWIFT_PARAMETER_COUNT) depths++;
    uint32_t first = depths;
    while (csni_swift_is(csni_swift_child(node, first), SWIFT_PACK_MARKER) ||
           csni_swift_is(csni_swift_child(node, first), SWIFT_VALUE_MARKER)) first++;
    csni_swift_put(p, "<");
    for (uint32_t depth = 0; depth < depths && csni_swift_step(p); depth++) {
        if (depth) csni_swift_put(p, "><");
        uint32_t parameters = (uint32_t)csni_swift_child(node, depth)->index;
        for (uint32_t index = 0; index < parameters && csni_swift_step(p); index++) {
            if (index) csni_swift_put(p, ", ");
            if (index == PARAMETERS_SHOWN_MAX) {
                csni_swift_put(p, "...");
                break;
            }
            if (is_marked(p, node, depths, first, SWIFT_PACK_MARKER, depth, index)) csni_swift_put(p, "each ");
            if (is_marked(p, node, depths, first, SWIFT_VALUE_MARKER, depth, index)) csni_swift_put(p, "let ");
            print_parameter_name(p, depth, index);
        }
    }
    for (uint32_t i = first; i < count && !p->failed; i++) {
        csni_swift_put(p, i == first ? " where " : ", ");
        csni_swift_print_child(p, node, i);
    }
    csni_swift_put(p, ">");
}

static void print_metatype(swift_printer *p, const swift_node *node) {
    uint32_t last = csni_swift_count(node) == 2;
    if (last) {
        csni_swift_print_child(p, node, 0);
        csni_swift_put(p, " ");
    }
    const swift_node *type = csni_swift_child(node, last);
    if (node->kind == SWIFT_EXISTENTIAL_METATYPE) {
        csni_swift_print(p, type);
        csni_swift_put(p, ".Type");
        return;
    }
    type = csni_swift_child(type, 0);
    print_in_parentheses(p, type);
    bool is_existential =
        type && (type->kind == SWIFT_EXISTENTIAL_METATYPE || type->kind == SWIFT_PROTOCOL_LIST ||
                 type->kind == SWIFT_PROTOCOL_LIST_WITH_CLASS || type->kind == SWIFT_PROTOCOL_LIST_WITH_ANY_OBJECT);
    csni_swift_put(p, is_existential ? ".Protocol" : ".Type");
}

static void print_protocols(swift_printer *p, const swift_node *node) {
    const swift_node *list = csni_swift_child(node, 0);
    if (node->kind == SWIFT_PROTOCOL_LIST_WITH_CLASS) {
        csni_swift_print_child(p, node, 1);
        csni_swift_put(p, " & ");
    }
    if (node->kind != SWIFT_PROTOCOL_LIST) list = csni_swift_child(list, 0);
    if (node->kind == SWIFT_PROTOCOL_LIST && list && !csni_swift_count(list)) csni_swift_put(p, "Any");
    csni_swift_print_children(p, list, " & ");
    if (node->kind != SWIFT_PROTOCOL_LIST_WITH_ANY_OBJECT || !list) return;
    csni_swift_put(p, csni_swift_count(list) ? " & Swift.AnyObject" : "Swift.AnyObject");
}

static const char *layout_name(char letter) {
    switch (letter) {
    case 'U': return "_UnknownLayout";
    case 'R': return "_RefCountedObject";
    case 'N': return "_NativeRefCountedObject";
    case 'C': return "AnyObject";
    case 'D': return "_NativeClass";
    case 'T':
    case 'E':
    case 'e': return "_Trivial";
    case 'M':
    case 'm': return "_TrivialAtMost";
    default: return "";
    }
}

static void print_layout_requirement(swift_printer *p, const swift_node *node) {
    csni_swift_print_child(p, node, 0);
    csni_swift_put(p, ": ");
    csni_swift_put(p, layout_name(csni_swift_child(node, 1)->text.ptr[0]));
    if (csni_swift_count(node) < 3) return;
    csni_swift_put(p, "(");
    csni_swift_print_child(p, node, 2);
    if (csni_swift_count(node) > 3) {
        csni_swift_put(p, ", ");
        csni_swift_print_child(p, node, 3);
    }
    csni_swift_put(p, ")");
}

static void print_generic_type(swift_printer *p, const swift_node *node) {
    csni_swift_print_child(p, node, 0);
    if (csni_swift_needs_space_before(csni_swift_child(node, 1))) csni_swift_put(p, " ");
    csni_swift_print_child(p, node, 1);
}

static void print_box(swift_printer *p, const swift_node *node) {
    if (csni_swift_count(node) == 3) {
        csni_swift_print_child(p, node, 1);
        csni_swift_put(p, " ");
    }
    csni_swift_print_child(p, node, 0);
    if (csni_swift_count(node) != 3) return;
    csni_swift_put(p, " ");
    print_arguments(p, csni_swift_child(node, 2));
}

static void print_box_layout(swift_printer *p, const swift_node *node) {
    csni_swift_put(p, "{");
    for (uint32_t i = 0; i < csni_swift_count(node) && !p->failed; i++) {
        csni_swift_put(p, i ? ", " : " ");
        csni_swift_print_child(p, node, i);
    }
    csni_swift_put(p, " }");
}

static void print_member_name(swift_printer *p, const swift_node *node) {
    if (csni_swift_count(node) > 1) {
        csni_swift_print_child(p, node, 1);
        csni_swift_put(p, ".");
    }
    csni_swift_print_child(p, node, 0);
}

static void print_two(swift_printer *p, const swift_node *node, const char *between) {
    csni_swift_print_child(p, node, 0);
    csni_swift_put(p, between);
    csni_swift_print_child(p, node, 1);
}

static void print_around(swift_printer *p, const swift_node *node, const char *before, const char *after) {
    csni_swift_put(p, before);
    csni_swift_print_child(p, node, 0);
    csni_swift_put(p, after);
}

static bool print_annotation(swift_printer *p, const swift_node *node) {
    switch (node->kind) {
    case SWIFT_CLANG_TYPE: csni_name_put_str(p->out, node->text); return true;
    case SWIFT_SENDING_RESULT: csni_swift_put(p, "sending "); return true;
    case SWIFT_GLOBAL_ACTOR: print_around(p, node, "@", " "); return true;
    case SWIFT_ISOLATED_ANY: csni_swift_put(p, "@isolated(any) "); return true;
    case SWIFT_NONISOLATED_CALLER: csni_swift_put(p, "nonisolated(nonsending) "); return true;
    case SWIFT_DIFFERENTIABLE:
        print_differentiability(p, node->index);
        csni_swift_put(p, " ");
        return true;
    case SWIFT_IMPL_DIFFERENTIABILITY: print_differentiability(p, node->index); return true;
    case SWIFT_THROWS: csni_swift_put(p, " throws"); return true;
    case SWIFT_TYPED_THROWS: print_around(p, node, " throws(", ")"); return true;
    case SWIFT_SENDABLE: csni_swift_put(p, "@Sendable "); return true;
    case SWIFT_ASYNC: csni_swift_put(p, " async"); return true;
    default: return false;
    }
}

static void print_pack(swift_printer *p, const swift_node *node) {
    csni_swift_put(p, node->label);
    csni_swift_put(p, "Pack{");
    csni_swift_print_children(p, node, ", ");
    csni_swift_put(p, "}");
}

static void print_tuple(swift_printer *p, const swift_node *node) {
    csni_swift_put(p, "(");
    csni_swift_print_children(p, node, ", ");
    csni_swift_put(p, ")");
}

bool csni_swift_print_type(swift_printer *p, const swift_node *node) {
    switch (node->kind) {
    case SWIFT_TYPE: csni_swift_print_child(p, node, 0); return true;
    case SWIFT_BUILTIN: csni_name_put_str(p->out, node->text); return true;
    case SWIFT_BUILTIN_TUPLE: csni_swift_put(p, "Builtin.TheTupleType"); return true;
    case SWIFT_BOUND_CLASS:
    case SWIFT_BOUND_STRUCTURE:
    case SWIFT_BOUND_ENUM:
    case SWIFT_BOUND_PROTOCOL:
    case SWIFT_BOUND_OTHER_NOMINAL:
    case SWIFT_BOUND_TYPE_ALIAS: print_bound(p, node); return true;
    case SWIFT_FUNCTION_TYPE:
    case SWIFT_NO_ESCAPE_FUNCTION_TYPE:
    case SWIFT_UNCURRIED_FUNCTION_TYPE:
    case SWIFT_THIN_FUNCTION_TYPE:
    case SWIFT_AUTOCLOSURE_TYPE:
    case SWIFT_C_FUNCTION_POINTER:
    case SWIFT_OBJC_BLOCK:
    case SWIFT_ESCAPING_OBJC_BLOCK: csni_swift_print_function_type(p, NULL, node); return true;
    case SWIFT_ARGUMENTS: print_parameters(p, NULL, node); return true;
    case SWIFT_RETURN_TYPE: csni_swift_print_children(p, node, ""); return true;
    case SWIFT_TUPLE: print_tuple(p, node); return true;
    case SWIFT_TUPLE_ELEMENT: print_tuple_element(p, node); return true;
    case SWIFT_PACK: print_pack(p, node); return true;
    case SWIFT_IN_OUT: print_around(p, node, "inout ", ""); return true;
    case SWIFT_METATYPE:
    case SWIFT_EXISTENTIAL_METATYPE: print_metatype(p, node); return true;
    case SWIFT_METATYPE_REPRESENTATION: csni_swift_put(p, node->label); return true;
    case SWIFT_PROTOCOL_LIST:
    case SWIFT_PROTOCOL_LIST_WITH_CLASS:
    case SWIFT_PROTOCOL_LIST_WITH_ANY_OBJECT: print_protocols(p, node); return true;
    case SWIFT_REQUIREMENT_LIST: csni_swift_print_children(p, node, ", "); return true;
    case SWIFT_LAYOUT_REQUIREMENT: print_layout_requirement(p, node); return true;
    case SWIFT_SUGARED_OPTIONAL:
        print_in_parentheses(p, csni_swift_child(node, 0));
        csni_swift_put(p, "?");
        return true;
    case SWIFT_ASSOCIATED_TYPE_REFERENCE:
    case SWIFT_MEMBER_TYPE: print_two(p, node, "."); return true;
    case SWIFT_MEMBER_TYPE_NAME: print_member_name(p, node); return true;
    case SWIFT_ASSOCIATED_TYPE_PATH: csni_swift_print_children(p, node, "."); return true;
    case SWIFT_OPAQUE_RETURN_TYPE: csni_swift_put(p, "some"); return true;
    case SWIFT_BOX_WITH_LAYOUT: print_box(p, node); return true;
    case SWIFT_BOX_LAYOUT: print_box_layout(p, node); return true;
    case SWIFT_GENERIC_SIGNATURE:
    case SWIFT_PSEUDOGENERIC_SIGNATURE: csni_swift_print_signature(p, node); return true;
    case SWIFT_GENERIC_PARAMETER:
        print_parameter_name(p, csni_swift_child(node, 0)->index, csni_swift_child(node, 1)->index);
        return true;
    case SWIFT_GENERIC_TYPE: print_generic_type(p, node); return true;
    default: return print_annotation(p, node);
    }
}
