/* Text of functions, variables, types by name: where their context stands and how their type is written. */
#include "names/swift/swift_print.h"

enum type_style { NO_TYPE, WITH_COLON, LIKE_FUNCTION };

/* How an entity is written: "CONTEXT.NAME.EXTRA", or "EXTRA of NAME in CONTEXT" where `extra` has blanks. */
struct style {
    enum type_style type;
    bool has_name;
    const char *extra; /* after the name: "getter", "closure #" */
    const swift_node *extra_node; /* of a macro: its name follows, then " expansion #" */
    int64_t number; /* after that; negative: none */
    const char *overwrite; /* instead of the name */
};

static int64_t number_of(swift_printer *p, const swift_node *node, uint32_t i, int64_t more) {
    const swift_node *index = csni_swift_child(node, i);
    if (!index || index->payload != SWIFT_HAS_INDEX) {
        p->failed = true;
        return -1;
    }
    return (int64_t)(int32_t)index->index + more;
}

static struct style accessor_style(swift_printer *p, const swift_node *storage, const char *name) {
    struct style style = { .type = WITH_COLON, .has_name = true, .extra = name, .number = -1 };
    if (csni_swift_is(storage, SWIFT_SUBSCRIPT)) {
        style.has_name = false;
        style.overwrite = "subscript";
    } else if (!csni_swift_is(storage, SWIFT_VARIABLE)) {
        p->failed = true;
    }
    return style;
}

static struct style macro_style(swift_printer *p, const swift_node *node) {
    struct style style = { .has_name = true, .number = -1 };
    if (node->kind == SWIFT_MACRO) {
        style.type = csni_swift_count(node) == 3 ? WITH_COLON : LIKE_FUNCTION;
    } else if (node->kind == SWIFT_FREESTANDING_MACRO || node->kind == SWIFT_UNIQUE_NAME) {
        style.extra = node->kind == SWIFT_UNIQUE_NAME ? "unique name #" : "freestanding macro expansion #";
        style.number = number_of(p, node, 2, 1);
    } else {
        if (csni_swift_count(node) < 4) p->failed = true;
        style.extra = node->label;
        style.extra_node = csni_swift_child(node, 2);
        style.number = number_of(p, node, 3, 1);
    }
    return style;
}

static struct style style_of(swift_printer *p, const swift_node *node) {
    struct style style = { .has_name = true, .number = -1 };
    bool is_class = csni_swift_is(csni_swift_child(node, 0), SWIFT_CLASS);
    switch (node->kind) {
    case SWIFT_VARIABLE: style.type = WITH_COLON; return style;
    case SWIFT_FUNCTION:
    case SWIFT_BOUND_FUNCTION: style.type = LIKE_FUNCTION; return style;
    case SWIFT_SUBSCRIPT:
        style.type = LIKE_FUNCTION;
        style.has_name = false;
        style.overwrite = "subscript";
        return style;
    case SWIFT_MACRO:
    case SWIFT_ATTACHED_MACRO:
    case SWIFT_BODY_MACRO:
    case SWIFT_FREESTANDING_MACRO:
    case SWIFT_UNIQUE_NAME: return macro_style(p, node);
    case SWIFT_CONSTRUCTOR:
        style.type = LIKE_FUNCTION;
        style.has_name = csni_swift_count(node) > 2;
        style.extra = "init";
        return style;
    default: break;
    }
    if (node->kind <= SWIFT_OTHER_NOMINAL || node->kind == SWIFT_GENERIC_PARAMETER_DECLARATION) return style;
    style.has_name = false;
    style.extra = node->label;
    switch (node->kind) {
    case SWIFT_CLOSURE:
        style.type = LIKE_FUNCTION;
        style.number = number_of(p, node, 1, 1);
        break;
    case SWIFT_DEFAULT_ARGUMENT:
        style.extra = "default argument ";
        style.number = number_of(p, node, 1, 0);
        break;
    case SWIFT_ALLOCATOR:
        style.type = LIKE_FUNCTION;
        style.extra = is_class ? "__allocating_init" : "init";
        break;
    case SWIFT_DEALLOCATOR: style.extra = is_class ? "__deallocating_deinit" : "deinit"; break;
    case SWIFT_ISOLATED_DEALLOCATOR: style.extra = is_class ? "__isolated_deallocating_deinit" : "deinit"; break;
    default: break;
    }
    return style;
}

bool csni_swift_is_printed_entity(uint32_t kind) {
    return (kind >= SWIFT_CLASS && kind <= SWIFT_OTHER_NOMINAL) || (kind >= SWIFT_FUNCTION && kind <= SWIFT_INITIALIZER) ||
           kind == SWIFT_BOUND_FUNCTION || kind == SWIFT_ATTACHED_MACRO || kind == SWIFT_FREESTANDING_MACRO ||
           (kind >= SWIFT_BODY_MACRO && kind <= SWIFT_GENERIC_PARAMETER_DECLARATION);
}

static void print_extra(swift_printer *p, const struct style *style) {
    csni_swift_put(p, style->extra);
    if (style->extra_node) {
        csni_swift_print(p, style->extra_node);
        csni_swift_put(p, " expansion #");
    }
    if (style->number >= 0) csni_name_put_number(p->out, (uint64_t)style->number);
}

static void print_own_name(swift_printer *p, const swift_node *node) {
    const swift_node *name = csni_swift_child(node, 1);
    if (!csni_swift_is(name, SWIFT_PRIVATE_NAME)) csni_swift_print(p, name);
    const swift_node *private_name = csni_swift_child_of(node, SWIFT_PRIVATE_NAME);
    if (private_name) csni_swift_print(p, private_name);
}

static void print_entity_name(swift_printer *p, const swift_node *node, const struct style *style, bool has_blanks) {
    bool has_extra = style->extra != NULL;
    if (style->has_name || style->overwrite) {
        if (has_extra && has_blanks) {
            print_extra(p, style);
            csni_swift_put(p, " of ");
            has_extra = false;
        }
        size_t before = p->out->len;
        if (style->overwrite) csni_swift_put(p, style->overwrite);
        else print_own_name(p, node);
        if (p->out->len != before && has_extra) csni_swift_put(p, ".");
    }
    if (has_extra) print_extra(p, style);
}

/* Of an entity whose generic arguments are known (`arguments`), or which has labels. */
static void print_entity_type(swift_printer *p, const swift_node *node, const swift_node *type, const swift_node *arguments) {
    const swift_node *labels = csni_swift_child_of(node, SWIFT_LABEL_LIST);
    if (!labels && !arguments) {
        csni_swift_print(p, type);
        return;
    }
    if (arguments) {
        csni_swift_put(p, "<");
        csni_swift_print_children(p, arguments, ", ");
        csni_swift_put(p, ">");
    }
    if (type->kind == SWIFT_GENERIC_TYPE) {
        if (!arguments) csni_swift_print_child(p, type, 0);
        const swift_node *within = csni_swift_child(type, 1);
        if (csni_swift_needs_space_before(within)) csni_swift_put(p, " ");
        type = csni_swift_child(within, 0);
    }
    csni_swift_print_function_type(p, labels, type);
}

static bool is_function_type(const swift_node *type) {
    for (uint32_t i = 0; csni_swift_is(type, SWIFT_GENERIC_TYPE) && i < CSNI_SWIFT_PRINT_DEPTH_MAX; i++)
        type = csni_swift_child(csni_swift_child(type, 1), 0);
    return type && (type->kind == SWIFT_FUNCTION_TYPE || type->kind == SWIFT_NO_ESCAPE_FUNCTION_TYPE ||
                    type->kind == SWIFT_UNCURRIED_FUNCTION_TYPE || type->kind == SWIFT_C_FUNCTION_POINTER ||
                    type->kind == SWIFT_THIN_FUNCTION_TYPE);
}

static void print_typed(swift_printer *p, const swift_node *node, enum type_style how, bool has_blanks,
                        const swift_node *arguments) {
    const swift_node *type = csni_swift_child(csni_swift_child_of(node, SWIFT_TYPE), 0);
    if (!type) {
        p->failed = true;
        return;
    }
    if (how == WITH_COLON || !is_function_type(type)) csni_swift_put(p, " : ");
    else if (has_blanks || csni_swift_needs_space_before(type)) csni_swift_put(p, " ");
    print_entity_type(p, node, type, arguments);
}

const swift_node *csni_swift_print_entity(swift_printer *p, const swift_node *node, bool is_prefix) {
    const swift_node *arguments = NULL;
    const char *accessor = node->kind == SWIFT_ACCESSOR ? node->label : NULL;
    if (accessor) node = csni_swift_child(node, 0);
    struct style style = accessor ? accessor_style(p, node, accessor) : style_of(p, node);
    if (node && node->kind == SWIFT_BOUND_FUNCTION) {
        arguments = csni_swift_child(node, 1);
        node = csni_swift_child(node, 0);
    }
    const swift_node *context = csni_swift_child(node, 0);
    if (p->failed || !context) {
        p->failed = true;
        return NULL;
    }
    bool is_local = style.has_name && csni_swift_is(csni_swift_child(node, 1), SWIFT_LOCAL_NAME);
    bool has_blanks = is_local || (style.extra && strchr(style.extra, ' '));
    if (is_prefix && (style.type != NO_TYPE || has_blanks)) return node;

    const swift_node *rest = context;
    if (!has_blanks) {
        size_t before = p->out->len;
        rest = csni_swift_print_prefix(p, context);
        if (p->out->len != before) csni_swift_put(p, ".");
    }
    print_entity_name(p, node, &style, has_blanks);
    if (style.type != NO_TYPE) print_typed(p, node, style.type, has_blanks, arguments);
    if (is_prefix || !rest) return rest;
    bool is_of = node->kind == SWIFT_DEFAULT_ARGUMENT || node->kind == SWIFT_INITIALIZER;
    csni_swift_put(p, is_of ? " of " : " in ");
    csni_swift_print(p, rest);
    return NULL;
}
