/* Text of a Swift name: phrases, names, and what goes to the files for entities, types and thunks. */
#include "names/swift/swift_print.h"

#include "names/swift/swift_read.h"

void csni_swift_print_child(swift_printer *p, const swift_node *node, uint32_t i) {
    csni_swift_print(p, csni_swift_child(node, i));
}

void csni_swift_print_children(swift_printer *p, const swift_node *node, const char *separator) {
    if (!node) p->failed = true;
    for (uint32_t i = 0; !p->failed && i < csni_swift_count(node); i++) {
        if (i) csni_swift_put(p, separator);
        csni_swift_print_child(p, node, i);
    }
}

static void print_phrase(swift_printer *p, const swift_node *node) {
    for (const char *at = node->label; *at && !p->failed; at++) {
        if (*at != '%') {
            csni_name_put_char(p->out, *at);
            continue;
        }
        switch (*++at) {
        case '*': csni_swift_print_children(p, node, ""); break;
        case 'i': csni_name_put_number(p->out, node->index); break;
        case 't': csni_name_put_str(p->out, node->text); break;
        default: csni_swift_print_child(p, node, (uint32_t)(*at - '0')); break;
        }
    }
}

static void print_text(swift_printer *p, const swift_node *node) {
    if (node && node->payload == SWIFT_HAS_TEXT) csni_name_put_str(p->out, node->text);
    else p->failed = true;
}

static void print_number(swift_printer *p, const swift_node *node, uint64_t more) {
    if (node && node->payload == SWIFT_HAS_INDEX) csni_name_put_number(p->out, node->index + more);
    else p->failed = true;
}

static void print_negative(swift_printer *p, uint64_t value) {
    if (value >> 63) csni_swift_put(p, "-");
    csni_name_put_number(p->out, value >> 63 ? -value : value);
}

static void print_private_name(swift_printer *p, const swift_node *node) {
    if (csni_swift_count(node) < 2) {
        csni_swift_put(p, "(in ");
    } else {
        csni_swift_put(p, "(");
        csni_swift_print_child(p, node, 1);
        csni_swift_put(p, " in ");
    }
    print_text(p, csni_swift_child(node, 0));
    csni_swift_put(p, ")");
}

static bool print_name(swift_printer *p, const swift_node *node) {
    switch (node->kind) {
    case SWIFT_MODULE:
    case SWIFT_IDENTIFIER: print_text(p, node); return true;
    case SWIFT_OPERATOR:
        print_text(p, node);
        csni_swift_put(p, node->label);
        return true;
    case SWIFT_LOCAL_NAME:
        csni_swift_print_child(p, node, 1);
        csni_swift_put(p, " #");
        print_number(p, csni_swift_child(node, 0), 1);
        return true;
    case SWIFT_PRIVATE_NAME: print_private_name(p, node); return true;
    case SWIFT_RELATED_NAME:
        csni_swift_put(p, "related decl '");
        print_text(p, csni_swift_child(node, 0));
        csni_swift_put(p, "' for ");
        csni_swift_print_child(p, node, 1);
        return true;
    default: return false;
    }
}

/* What compilers put after a name, in quotes. */
static void print_suffix(swift_printer *p, struct csn_str text) {
    static const char digits[] = "0123456789ABCDEF";
    csni_swift_put(p, " with unmangled suffix \"");
    for (size_t i = 0; i < text.len; i++) {
        unsigned char c = (unsigned char)text.ptr[i];
        const char *escaped = c == '\\'   ? "\\\\"
                              : c == '\t' ? "\\t"
                              : c == '\n' ? "\\n"
                              : c == '\r' ? "\\r"
                              : c == '"'  ? "\\\""
                                          : NULL;
        if (escaped) {
            csni_swift_put(p, escaped);
        } else if (c < 0x20 || c >= 0x7f) {
            char hex[] = { '\\', 'x', digits[c >> 4], digits[c & 15], 0 };
            csni_swift_put(p, hex);
        } else {
            csni_name_put_char(p->out, (char)c);
        }
    }
    csni_swift_put(p, "\"");
}

static void print_extension(swift_printer *p, const swift_node *node) {
    csni_swift_put(p, "(extension in ");
    csni_swift_print_prefix(p, csni_swift_child(node, 0));
    csni_swift_put(p, "):");
    csni_swift_print_child(p, node, 1);
    if (csni_swift_count(node) == 3) csni_swift_print_child(p, node, 2);
}

static void print_anonymous(swift_printer *p, const swift_node *node) {
    csni_swift_print_child(p, node, 1);
    csni_swift_put(p, ".(unknown context at ");
    csni_swift_print_child(p, node, 0);
    csni_swift_put(p, ")");
    const swift_node *types = csni_swift_child(node, 2);
    if (!types || !csni_swift_count(types)) return;
    csni_swift_put(p, "<");
    csni_swift_print(p, types);
    csni_swift_put(p, ">");
}

static void print_macro_location(swift_printer *p, const swift_node *node) {
    static const char *const before[] = { "module ", " file ", " line ", " column " };
    for (uint32_t i = 0; i < csni_swift_count(node) && i < 4; i++) {
        csni_swift_put(p, before[i]);
        csni_swift_print_child(p, node, i);
    }
}

static void print_conformance(swift_printer *p, const swift_node *node) {
    bool is_behavior = csni_swift_count(node) == 4;
    if (is_behavior) {
        csni_swift_put(p, "property behavior storage of ");
        csni_swift_print_child(p, node, 2);
        csni_swift_put(p, " in ");
    }
    csni_swift_print_child(p, node, 0);
    csni_swift_put(p, " : ");
    csni_swift_print_child(p, node, 1);
    if (is_behavior) return;
    csni_swift_put(p, " in ");
    csni_swift_print_child(p, node, 2);
}

static void print_concrete(swift_printer *p, const swift_node *node) {
    csni_swift_put(p, "concrete protocol conformance ");
    csni_swift_print_child(p, node, 0);
    csni_swift_put(p, " to ");
    csni_swift_print_child(p, node, 1);
    const swift_node *conditions = csni_swift_child(node, 2);
    if (!conditions || !csni_swift_count(conditions)) return;
    csni_swift_put(p, " with conditional requirements: ");
    csni_swift_print(p, conditions);
}

static void print_dependent(swift_printer *p, const swift_node *node) {
    const swift_node *index = csni_swift_child(node, 2);
    csni_swift_put(p, node->label);
    if (csni_swift_is(index, SWIFT_INDEX)) {
        csni_swift_put(p, "#");
        csni_swift_print(p, index);
        csni_swift_put(p, " ");
    }
    csni_swift_print_child(p, node, 0);
    csni_swift_put(p, " to ");
    csni_swift_print_child(p, node, 1);
}

static void print_partial_apply(swift_printer *p, const swift_node *node) {
    csni_swift_put(p, node->label);
    if (!csni_swift_count(node)) return;
    csni_swift_put(p, " for ");
    csni_swift_print_children(p, node, "");
}

static void print_list(swift_printer *p, const swift_node *node, const char *before, const char *after) {
    csni_swift_put(p, before);
    csni_swift_print_children(p, node, ", ");
    csni_swift_put(p, after);
}

static void print_type_mangling(swift_printer *p, const swift_node *node) {
    const swift_node *labels = csni_swift_child(node, 0);
    if (csni_swift_is(labels, SWIFT_LABEL_LIST))
        csni_swift_print_function_type(p, labels, csni_swift_child(csni_swift_child(node, 1), 0));
    else
        csni_swift_print(p, labels);
}

static bool print_simple(swift_printer *p, const swift_node *node) {
    switch (node->kind) {
    case SWIFT_PHRASE:
    case SWIFT_SIMPLE_PHRASE:
    case SWIFT_ATTRIBUTE:
    case SWIFT_REQUIREMENT:
    case SWIFT_CONFORMANCE_REFERENCE:
    case SWIFT_PACK_CONFORMANCE:
    case SWIFT_OPAQUE_CONFORMANCE:
    case SWIFT_RETROACTIVE_CONFORMANCE: print_phrase(p, node); return true;
    case SWIFT_GLOBAL:
    case SWIFT_TYPE_LIST: csni_swift_print_children(p, node, ""); return true;
    case SWIFT_LABEL_LIST: return true;
    case SWIFT_INDEX:
    case SWIFT_NUMBER:
    case SWIFT_INTEGER:
    case SWIFT_PASS: print_number(p, node, 0); return true;
    case SWIFT_NEGATIVE_INTEGER: print_negative(p, node->index); return true;
    case SWIFT_UNKNOWN_INDEX: csni_swift_put(p, "unknown index"); return true;
    case SWIFT_SUFFIX: print_suffix(p, node->text); return true;
    case SWIFT_STATIC:
        csni_swift_put(p, "static ");
        csni_swift_print_child(p, node, 0);
        return true;
    case SWIFT_OPAQUE_RETURN_TYPE_OF: print_list(p, node, "<<opaque return type of ", ">>"); return true;
    case SWIFT_EXTENSION: print_extension(p, node); return true;
    case SWIFT_ANONYMOUS_CONTEXT: print_anonymous(p, node); return true;
    case SWIFT_MACRO_LOCATION: print_macro_location(p, node); return true;
    case SWIFT_PROTOCOL_CONFORMANCE: print_conformance(p, node); return true;
    case SWIFT_CONCRETE_CONFORMANCE: print_concrete(p, node); return true;
    case SWIFT_DEPENDENT_CONFORMANCE: print_dependent(p, node); return true;
    case SWIFT_CONFORMANCE_LIST:
        if (csni_swift_count(node)) print_list(p, node, "(", ")");
        return true;
    case SWIFT_PARTIAL_APPLY: print_partial_apply(p, node); return true;
    case SWIFT_TYPE_MANGLING: print_type_mangling(p, node); return true;
    default: return print_name(p, node);
    }
}

const swift_node *csni_swift_print_prefix(swift_printer *p, const swift_node *node) {
    if (!node || p->depth > CSNI_SWIFT_PRINT_DEPTH_MAX || !csni_swift_step(p)) {
        p->failed = true;
        return NULL;
    }
    if (csni_swift_is_printed_entity(node->kind)) {
        p->depth++;
        const swift_node *rest = csni_swift_print_entity(p, node, true);
        p->depth--;
        return rest;
    }
    csni_swift_print(p, node);
    return NULL;
}

void csni_swift_print(swift_printer *p, const swift_node *node) {
    if (!node || p->depth > CSNI_SWIFT_PRINT_DEPTH_MAX || !csni_swift_step(p)) {
        p->failed = true;
        return;
    }
    p->depth++;
    if (csni_swift_is_printed_entity(node->kind)) csni_swift_print_entity(p, node, false);
    else if (!print_simple(p, node) && !csni_swift_print_type(p, node) && !csni_swift_print_impl(p, node) &&
             !csni_swift_print_thunk(p, node))
        p->failed = true;
    p->depth--;
}

bool csni_swift_print_symbol(swift_printer *p, const swift_node *symbol) {
    csni_swift_print(p, symbol);
    return !p->failed && !p->out->too_long;
}

void csni_swift_print_name_within(swift_printer *p, struct csn_str name) {
    struct csni_name_mark start = csni_name_get_mark(p->out);
    swift_node *symbol = p->names_within < CSNI_SWIFT_NAMES_WITHIN_MAX ? csni_swift_symbol(name, p->memory) : NULL;
    if (symbol && !p->failed) {
        p->names_within++;
        csni_swift_print(p, symbol);
        p->names_within--;
        bool out_of_budget = p->visits >= CSNI_SWIFT_VISITS_MAX || p->out->too_long;
        if (!p->failed || out_of_budget) return;
        p->failed = false;
        csni_name_back_to(p->out, start);
    }
    csni_name_put_str(p->out, name);
}
