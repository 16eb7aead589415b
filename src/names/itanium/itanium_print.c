/* From the tree of a C++ name to text: names and types. A declarator has text on both sides of what it declares
 * ("int (*" and ")(char)"), so there are two passes over each type. */
#include "names/itanium/itanium_print.h"

#define TEXT(p, literal) csni_name_put((p)->text, literal, sizeof(literal) - 1)

enum {
    DEPTH_MAX = 1024,  /* of nested calls: 0.3 MB of stack */
    STEPS_MAX = 1 << 21, /* parts visited; more than the longest text needs */
};

static bool enter_node(struct csni_itanium_printer *p) {
    if (p->depth >= DEPTH_MAX || p->steps >= STEPS_MAX || p->text->too_long) p->failed = true;
    if (p->failed) return false;
    p->depth++;
    p->steps++;
    return true;
}

/* ---- what a type is ---- */

/* The element of a pack that is being written; the first use of a pack in an expansion begins it. */
static node *pack_element(struct csni_itanium_printer *p, node *pack) {
    if (p->pack_count == CSNI_NO_PACK) {
        p->pack_count = pack->count;
        p->pack_index = 0;
    }
    return p->pack_index < pack->count ? pack->list[p->pack_index] : NULL;
}

/* What packs and forward references stand for. */
static node *referred_to(struct csni_itanium_printer *p, node *n) {
    for (;;) {
        if (!n || p->steps++ >= STEPS_MAX) return NULL;
        if (n->kind == NODE_FORWARD) n = n->forward->target;
        else if (n->kind == NODE_PACK) n = pack_element(p, n);
        else return n;
    }
}

enum type_question { HAS_RIGHT, IS_ARRAY, IS_FUNCTION };

static enum csni_itanium_answer known_answer(node *n, enum type_question question) {
    switch (question) {
    case HAS_RIGHT: return n->has_right;
    case IS_ARRAY: return n->is_array;
    default: return n->is_function;
    }
}

/* The type whose answer a node's own is. */
static node *deciding_type(struct csni_itanium_printer *p, node *n) {
    switch (n->kind) {
    case NODE_FORWARD: case NODE_PACK: return referred_to(p, n);
    case NODE_MEMBER_POINTER: return n->b;
    default: return n->a;
    }
}

static bool type_is(struct csni_itanium_printer *p, node *n, enum type_question question) {
    while (n && known_answer(n, question) == ANSWER_MAYBE) {
        if (p->steps++ >= STEPS_MAX) return false;
        n = deciding_type(p, n);
    }
    return n && known_answer(n, question) == ANSWER_YES;
}

static bool is_array(struct csni_itanium_printer *p, node *n) { return type_is(p, n, IS_ARRAY); }

static bool needs_brackets(struct csni_itanium_printer *p, node *n) { return is_array(p, n) || type_is(p, n, IS_FUNCTION); }

/* References to references are one: an rvalue's only if all of them are. */
static node *collapse_reference(struct csni_itanium_printer *p, node *n, bool *is_rvalue) {
    *is_rvalue = n->flag != 0;
    for (node *target = n->a;;) {
        node *seen = referred_to(p, target);
        if (p->steps >= STEPS_MAX) return NULL;
        if (!seen || seen->kind != NODE_REFERENCE) return target;
        *is_rvalue = *is_rvalue && seen->flag;
        target = seen->a;
    }
}

/* ---- lists ---- */

void csni_itanium_print_list(struct csni_itanium_printer *p, node *n) {
    bool first = true;
    for (uint32_t i = 0; i < n->count; i++) {
        struct csni_name_mark before = csni_name_get_mark(p->text);
        if (!first) TEXT(p, ", ");
        size_t len = p->text->len;
        csni_itanium_print_operand(p, n->list[i], PREC_COMMA, false);
        if (p->failed) return;
        if (p->text->len == len) csni_name_back_to(p->text, before);
        else first = false;
    }
}

static void print_in_brackets(struct csni_itanium_printer *p, node *list) {
    csni_itanium_open(p, '(');
    csni_itanium_print_list(p, list);
    csni_itanium_close(p, ')');
}

static void print_template_args(struct csni_itanium_printer *p, node *n) {
    uint32_t enclosed = p->enclosed;
    bool in_args = p->in_args;
    p->enclosed = 0;
    p->in_args = true;
    TEXT(p, "<");
    csni_itanium_print_list(p, n);
    TEXT(p, ">");
    p->enclosed = enclosed;
    p->in_args = in_args;
}

static void print_elements(struct csni_itanium_printer *p, node *child, struct csni_name_mark start) {
    csni_itanium_print(p, child);
    if (p->pack_count == CSNI_NO_PACK) {
        TEXT(p, "..."); /* of a function parameter */
        return;
    }
    if (!p->pack_count) csni_name_back_to(p->text, start);
    uint32_t count = p->pack_count;
    for (uint32_t i = 1; i < count && !p->failed; i++) {
        TEXT(p, ", ");
        p->pack_index = i;
        csni_itanium_print(p, child);
    }
}

void csni_itanium_print_expansion(struct csni_itanium_printer *p, node *child) {
    uint32_t index = p->pack_index, count = p->pack_count;
    p->pack_index = p->pack_count = CSNI_NO_PACK;
    print_elements(p, child, csni_name_get_mark(p->text));
    p->pack_index = index;
    p->pack_count = count;
}

/* ---- names ---- */

static const char *const std_names[] = { "allocator",     "basic_string",  "basic_string",
                                         "basic_istream", "basic_ostream", "basic_iostream" };

/* std::string and its like are written in full where their constructor is named. */
static const char *std_base_name(node *n) {
    unsigned which = n->flag & STD_KIND;
    return std_names[which] + (which >= STD_STRING && !(n->flag & STD_EXPANDED) ? strlen("basic_") : 0);
}

static void print_std(struct csni_itanium_printer *p, node *n) {
    unsigned which = n->flag & STD_KIND;
    TEXT(p, "std::");
    csni_name_put_text(p->text, std_base_name(n));
    if (which < STD_STRING || !(n->flag & STD_EXPANDED)) return;
    TEXT(p, "<char, std::char_traits<char>");
    if (which == STD_STRING) TEXT(p, ", std::allocator<char>");
    TEXT(p, ">");
}

/* The name of a class without scope and arguments, which its constructors bear. */
static void print_base_name(struct csni_itanium_printer *p, node *n) {
    for (;;) {
        switch (n->kind) {
        case NODE_NAME: csni_name_put_str(p->text, n->text); return;
        case NODE_OPERATOR: csni_itanium_print(p, n); return;
        case NODE_STD: csni_name_put_text(p->text, std_base_name(n)); return;
        case NODE_ABI_TAG: case NODE_TEMPLATE_ID: case NODE_GLOBAL: n = n->a; break;
        case NODE_SCOPED: case NODE_FRIEND: case NODE_MODULE_ENTITY: n = n->b; break;
        default: return;
        }
    }
}

static void print_operator(struct csni_itanium_printer *p, node *n) {
    TEXT(p, "operator");
    if (n->text.ptr[0] >= 'a' && n->text.ptr[0] <= 'z') TEXT(p, " ");
    csni_name_put_str(p->text, n->text);
}

static void print_module(struct csni_itanium_printer *p, node *n) {
    if (n->a) csni_itanium_print(p, n->a);
    if (n->flag) TEXT(p, ":");
    else if (n->a) TEXT(p, ".");
    csni_itanium_print(p, n->b);
}

static void print_pair(struct csni_itanium_printer *p, node *first, const char *between, node *second) {
    csni_itanium_print(p, first);
    csni_name_put_text(p->text, between);
    csni_itanium_print(p, second);
}

static void print_invented_param(struct csni_itanium_printer *p, node *n) {
    static const char *const names[] = { "$T", "$N", "$TT" };
    csni_name_put_text(p->text, names[n->flag]);
    if (n->count) csni_name_put_number(p->text, n->count - 1);
}

static void print_constraint(struct csni_itanium_printer *p, node *constraint) {
    if (!constraint) return;
    TEXT(p, " requires ");
    csni_itanium_print(p, constraint);
}

void csni_itanium_print_closure(struct csni_itanium_printer *p, node *n) {
    if (n->c->count) print_template_args(p, n->c);
    print_constraint(p, n->a);
    if (n->a) TEXT(p, " ");
    print_in_brackets(p, n);
    print_constraint(p, n->b);
}

static void print_closure_name(struct csni_itanium_printer *p, node *n) {
    TEXT(p, "'lambda");
    csni_name_put_str(p->text, n->text);
    TEXT(p, "'");
    csni_itanium_print_closure(p, n);
}

static void print_qualifiers(struct csni_itanium_printer *p, unsigned qualifiers) {
    if (!qualifiers) return;
    if (qualifiers & QUAL_CONST) TEXT(p, " const");
    if (qualifiers & QUAL_VOLATILE) TEXT(p, " volatile");
    if (qualifiers & QUAL_RESTRICT) TEXT(p, " restrict");
    if (qualifiers & QUAL_LVALUE_REF) TEXT(p, " &");
    if (qualifiers & QUAL_RVALUE_REF) TEXT(p, " &&");
}

static void print_encoding_left(struct csni_itanium_printer *p, node *n) {
    if (n->a) {
        csni_itanium_print_left(p, n->a);
        if (!type_is(p, n->a, HAS_RIGHT)) TEXT(p, " ");
    }
    csni_itanium_print(p, n->b);
}

static void print_encoding_right(struct csni_itanium_printer *p, node *n) {
    print_in_brackets(p, n);
    if (n->a) csni_itanium_print_right(p, n->a);
    print_qualifiers(p, n->flag);
    if (n->c) csni_itanium_print(p, n->c);
    print_constraint(p, n->d);
}

/* ---- types ---- */

static void print_function_right(struct csni_itanium_printer *p, node *n) {
    print_in_brackets(p, n);
    csni_itanium_print_right(p, n->a);
    print_qualifiers(p, n->flag);
    if (!n->b) return;
    TEXT(p, " ");
    csni_itanium_print(p, n->b);
}

/* Objective-C writes "id<P>" for a pointer to an object of protocol P. */
static bool is_objc_object(node *n) {
    return n->kind == NODE_OBJC_PROTOCOL && n->a->kind == NODE_NAME && n->a->text.len == 11 &&
           memcmp(n->a->text.ptr, "objc_object", 11) == 0;
}

static void print_vendor_qualifier(struct csni_itanium_printer *p, node *n) {
    csni_name_put_str(p->text, n->text);
    if (n->b) csni_itanium_print(p, n->b);
}

static node *without_vendor_qualifiers(struct csni_itanium_printer *p, node *n) {
    while (n->kind == NODE_VENDOR_QUALIFIED && p->steps++ < STEPS_MAX) n = n->a;
    return n;
}

/* A vendor's qualifiers of a function or an array stand with the pointer: "void (stdcall*)(int)". */
static void print_vendor_qualifiers(struct csni_itanium_printer *p, node *n) {
    if (n->kind != NODE_VENDOR_QUALIFIED || !enter_node(p)) return;
    print_vendor_qualifiers(p, n->a);
    if (n->a->kind == NODE_VENDOR_QUALIFIED) TEXT(p, " ");
    print_vendor_qualifier(p, n);
    p->depth--;
}

static void print_target_left(struct csni_itanium_printer *p, node *target) {
    bool brackets = needs_brackets(p, target);
    csni_itanium_print_left(p, brackets ? without_vendor_qualifiers(p, target) : target);
    if (is_array(p, target)) TEXT(p, " ");
    if (brackets) TEXT(p, "(");
    if (brackets) print_vendor_qualifiers(p, target);
}

static void print_target_right(struct csni_itanium_printer *p, node *target) {
    bool brackets = needs_brackets(p, target);
    if (brackets) TEXT(p, ")");
    csni_itanium_print_right(p, brackets ? without_vendor_qualifiers(p, target) : target);
}

static void print_vendor_qualified_left(struct csni_itanium_printer *p, node *n) {
    if (n->has_right == ANSWER_NO) csni_itanium_print(p, n->a);
    else csni_itanium_print_left(p, n->a);
    if (needs_brackets(p, n)) return;
    TEXT(p, " ");
    print_vendor_qualifier(p, n);
}

static void print_vendor_qualified_right(struct csni_itanium_printer *p, node *n) {
    csni_itanium_print_right(p, n->a);
    if (!needs_brackets(p, n)) return;
    TEXT(p, " ");
    print_vendor_qualifier(p, n);
}

static void print_pointer_left(struct csni_itanium_printer *p, node *n) {
    if (is_objc_object(n->a)) {
        TEXT(p, "id<");
        csni_name_put_str(p->text, n->a->text);
        TEXT(p, ">");
        return;
    }
    print_target_left(p, n->a);
    TEXT(p, "*");
}

static void print_reference_left(struct csni_itanium_printer *p, node *n) {
    bool is_rvalue;
    node *target = collapse_reference(p, n, &is_rvalue);
    if (!target) return;
    print_target_left(p, target);
    csni_name_put(p->text, "&&", is_rvalue ? 2 : 1);
}

static void print_reference_right(struct csni_itanium_printer *p, node *n) {
    bool is_rvalue;
    node *target = collapse_reference(p, n, &is_rvalue);
    if (target) print_target_right(p, target);
}

static void print_member_pointer_left(struct csni_itanium_printer *p, node *n) {
    bool brackets = needs_brackets(p, n->b);
    csni_itanium_print_left(p, brackets ? without_vendor_qualifiers(p, n->b) : n->b);
    csni_name_put_char(p->text, brackets ? '(' : ' ');
    if (brackets && n->b->kind == NODE_VENDOR_QUALIFIED) {
        print_vendor_qualifiers(p, n->b);
        TEXT(p, " ");
    }
    csni_itanium_print(p, n->a);
    TEXT(p, "::*");
}

static void print_array_right(struct csni_itanium_printer *p, node *n) {
    if (p->text->last != ']') TEXT(p, " ");
    TEXT(p, "[");
    if (n->b) csni_itanium_print(p, n->b);
    TEXT(p, "]");
    csni_itanium_print_right(p, n->a);
}

static void print_vector(struct csni_itanium_printer *p, node *n) {
    csni_itanium_print(p, n->a);
    TEXT(p, " vector[");
    if (n->b) csni_itanium_print(p, n->b);
    TEXT(p, "]");
}

static void print_wrapped(struct csni_itanium_printer *p, const char *before, node *n, const char *after) {
    csni_name_put_text(p->text, before);
    csni_itanium_print(p, n);
    csni_name_put_text(p->text, after);
}

static void print_bit_int(struct csni_itanium_printer *p, node *n) {
    if (!n->flag) TEXT(p, "unsigned ");
    TEXT(p, "_BitInt");
    csni_itanium_open(p, '(');
    csni_itanium_print_operand(p, n->a, PREC_DEFAULT, false);
    csni_itanium_close(p, ')');
}

static void print_noexcept(struct csni_itanium_printer *p, node *n) {
    TEXT(p, "noexcept");
    csni_itanium_open(p, '(');
    csni_itanium_print_operand(p, n->a, PREC_DEFAULT, false);
    csni_itanium_close(p, ')');
}

/* Text before, between or after the parts of a name, where that is all there is to its kind. False: another kind. */
static bool print_simple_left(struct csni_itanium_printer *p, node *n) {
    switch (n->kind) {
    case NODE_NAME: csni_name_put_str(p->text, n->text); return true;
    case NODE_SCOPED: case NODE_LOCAL: print_pair(p, n->a, "::", n->b); return true;
    case NODE_FRIEND: print_pair(p, n->a, "::friend ", n->b); return true;
    case NODE_MODULE_ENTITY: print_pair(p, n->b, "@", n->a); return true;
    case NODE_TEMPLATE_ID: print_pair(p, n->a, "", n->b); return true;
    case NODE_GLOBAL: print_wrapped(p, "::", n->a, ""); return true;
    case NODE_PREFIXED: csni_name_put_str(p->text, n->text); csni_itanium_print(p, n->a); return true;
    case NODE_CONSTRUCTION_VTABLE: TEXT(p, "construction vtable for "); print_pair(p, n->a, "-in-", n->b); return true;
    case NODE_CLONE_SUFFIX:
        print_wrapped(p, "", n->a, " (");
        csni_name_put_str(p->text, n->text);
        TEXT(p, ")");
        return true;
    case NODE_ABI_TAG:
        csni_itanium_print_left(p, n->a);
        TEXT(p, "[abi:");
        csni_name_put_str(p->text, n->text);
        TEXT(p, "]");
        return true;
    case NODE_UNNAMED_TYPE:
        TEXT(p, "'unnamed");
        csni_name_put_str(p->text, n->text);
        TEXT(p, "'");
        return true;
    case NODE_DESTRUCTOR_NAME: TEXT(p, "~"); csni_itanium_print_left(p, n->a); return true;
    case NODE_POSTFIXED: csni_itanium_print_left(p, n->a); csni_name_put_str(p->text, n->text); return true;
    case NODE_ELABORATED: csni_name_put_str(p->text, n->text); TEXT(p, " "); csni_itanium_print(p, n->a); return true;
    case NODE_TRANSFORMED: csni_name_put_str(p->text, n->text); print_wrapped(p, "(", n->a, ")"); return true;
    case NODE_VENDOR_QUALIFIED: print_vendor_qualified_left(p, n); return true;
    case NODE_OBJC_PROTOCOL:
        print_wrapped(p, "", n->a, "<");
        csni_name_put_str(p->text, n->text);
        TEXT(p, ">");
        return true;
    case NODE_BINARY_FLOAT: print_wrapped(p, "_Float", n->a, ""); return true;
    case NODE_PIXEL_VECTOR: print_wrapped(p, "pixel vector[", n->a, "]"); return true;
    default: return false;
    }
}

static void print_pack_index(struct csni_itanium_printer *p, node *n) {
    csni_itanium_print(p, n->a);
    TEXT(p, "...[");
    csni_itanium_print(p, n->b);
    TEXT(p, "]");
}

static bool print_list_left(struct csni_itanium_printer *p, node *n) {
    switch (n->kind) {
    case NODE_TEMPLATE_ARGS: print_template_args(p, n); return true;
    case NODE_LIST: case NODE_ARGUMENT_PACK: csni_itanium_print_list(p, n); return true;
    case NODE_THROWS: TEXT(p, "throw"); print_in_brackets(p, n); return true;
    case NODE_ENABLE_IF: TEXT(p, " [enable_if:"); csni_itanium_print_list(p, n); TEXT(p, "]"); return true;
    case NODE_BINDINGS:
        csni_itanium_open(p, '[');
        csni_itanium_print_list(p, n);
        csni_itanium_close(p, ']');
        return true;
    case NODE_EXPANSION: csni_itanium_print_expansion(p, n->a); return true;
    case NODE_PACK_INDEX: print_pack_index(p, n); return true;
    default: return false;
    }
}

static bool print_parameter_left(struct csni_itanium_printer *p, node *n) {
    switch (n->kind) {
    case NODE_INVENTED_PARAM: print_invented_param(p, n); return true;
    case NODE_QUALIFIED_ARG: csni_itanium_print(p, n->b); return true;
    case NODE_TYPE_PARAM: TEXT(p, "typename "); return true;
    case NODE_CONSTRAINED_PARAM: print_wrapped(p, "", n->a, " "); return true;
    case NODE_VALUE_PARAM:
        csni_itanium_print_left(p, n->b);
        if (!type_is(p, n->b, HAS_RIGHT)) TEXT(p, " ");
        return true;
    case NODE_TEMPLATE_PARAM: TEXT(p, "template"); print_template_args(p, n); TEXT(p, " typename "); return true;
    case NODE_PACK_PARAM: csni_itanium_print_left(p, n->a); TEXT(p, "..."); return true;
    default: return false;
    }
}

static bool print_type_left(struct csni_itanium_printer *p, node *n) {
    switch (n->kind) {
    case NODE_QUALIFIED: csni_itanium_print_left(p, n->a); print_qualifiers(p, n->flag); return true;
    case NODE_POINTER: print_pointer_left(p, n); return true;
    case NODE_REFERENCE: print_reference_left(p, n); return true;
    case NODE_MEMBER_POINTER: print_member_pointer_left(p, n); return true;
    case NODE_ARRAY: csni_itanium_print_left(p, n->a); return true;
    case NODE_FUNCTION: csni_itanium_print_left(p, n->a); TEXT(p, " "); return true;
    case NODE_ENCODING: print_encoding_left(p, n); return true;
    case NODE_VECTOR: print_vector(p, n); return true;
    case NODE_BIT_INT: print_bit_int(p, n); return true;
    case NODE_NOEXCEPT: print_noexcept(p, n); return true;
    case NODE_STD: print_std(p, n); return true;
    case NODE_OPERATOR: print_operator(p, n); return true;
    case NODE_MODULE: print_module(p, n); return true;
    case NODE_CLOSURE: print_closure_name(p, n); return true;
    case NODE_STRUCTOR:
        if (n->flag) TEXT(p, "~");
        print_base_name(p, n->a);
        return true;
    default: return false;
    }
}

void csni_itanium_print_left(struct csni_itanium_printer *p, node *n) {
    if (!enter_node(p)) return;
    if (n->kind == NODE_FORWARD || n->kind == NODE_PACK) {
        node *target = n->kind == NODE_PACK ? pack_element(p, n) : n->forward->target;
        if (target) csni_itanium_print_left(p, target);
    } else if (!print_simple_left(p, n) && !print_type_left(p, n) && !print_list_left(p, n) && !print_parameter_left(p, n)) {
        csni_itanium_print_expression(p, n);
    }
    p->depth--;
}

static void print_template_param_right(struct csni_itanium_printer *p, node *n) {
    csni_itanium_print(p, n->a);
    print_constraint(p, n->b);
}

void csni_itanium_print_right(struct csni_itanium_printer *p, node *n) {
    if (n->has_right == ANSWER_NO || !enter_node(p)) return;
    node *target;
    switch (n->kind) {
    case NODE_PACK: case NODE_FORWARD:
        target = n->kind == NODE_PACK ? pack_element(p, n) : n->forward->target;
        if (target) csni_itanium_print_right(p, target);
        break;
    case NODE_QUALIFIED: csni_itanium_print_right(p, n->a); break;
    case NODE_VENDOR_QUALIFIED: print_vendor_qualified_right(p, n); break;
    case NODE_POINTER:
        if (!is_objc_object(n->a)) print_target_right(p, n->a);
        break;
    case NODE_REFERENCE: print_reference_right(p, n); break;
    case NODE_MEMBER_POINTER: print_target_right(p, n->b); break;
    case NODE_ARRAY: print_array_right(p, n); break;
    case NODE_FUNCTION: print_function_right(p, n); break;
    case NODE_ENCODING: print_encoding_right(p, n); break;
    case NODE_TYPE_PARAM: csni_itanium_print(p, n->a); break;
    case NODE_CONSTRAINED_PARAM: csni_itanium_print(p, n->b); break;
    case NODE_VALUE_PARAM: csni_itanium_print(p, n->a); csni_itanium_print_right(p, n->b); break;
    case NODE_TEMPLATE_PARAM: print_template_param_right(p, n); break;
    case NODE_PACK_PARAM: csni_itanium_print_right(p, n->a); break;
    default: break; /* an ABI tag after a type: nothing is to its right */
    }
    p->depth--;
}

void csni_itanium_print(struct csni_itanium_printer *p, node *n) {
    csni_itanium_print_left(p, n);
    csni_itanium_print_right(p, n);
}

void csni_itanium_print_operand(struct csni_itanium_printer *p, node *n, unsigned precedence, bool strictly) {
    bool brackets = n->precedence >= precedence + strictly;
    if (brackets) csni_itanium_open(p, '(');
    csni_itanium_print(p, n);
    if (brackets) csni_itanium_close(p, ')');
}
