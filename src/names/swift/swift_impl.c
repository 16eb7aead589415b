/* Function types of the intermediate language, with how each value is passed. */
#include "names/swift/swift_read.h"

struct convention {
    char letter;
    const char *label;
};

static swift_node *convention(swift_reader *r, const struct convention *known, size_t count) {
    char c = csni_swift_peek(r);
    for (size_t i = 0; i < count; i++) {
        if (known[i].letter != c) continue;
        r->at++;
        return csni_swift_new_label(r->memory, SWIFT_IMPL_CONVENTION, known[i].label);
    }
    return NULL;
}

static swift_node *parameter(swift_reader *r, enum csni_swift_kind kind, const char *label) {
    static const struct convention known[] = {
        { 'i', "@in" },           { 'c', "@in_constant" }, { 'l', "@inout" },           { 'b', "@inout_aliasable" },
        { 'n', "@in_guaranteed" }, { 'X', "@in_cxx" },     { 'x', "@owned" },           { 'g', "@guaranteed" },
        { 'e', "@deallocating" }, { 'y', "@unowned" },     { 'v', "@pack_owned" },      { 'p', "@pack_guaranteed" },
        { 'm', "@pack_inout" },
    };
    return csni_swift_with1(r->memory, kind, label, convention(r, known, sizeof(known) / sizeof(known[0])));
}

static swift_node *result(swift_reader *r, enum csni_swift_kind kind, const char *label) {
    static const struct convention known[] = {
        { 'r', "@out" },          { 'o', "@owned" },    { 'd', "@unowned" },            { 'u', "@unowned_inner_pointer" },
        { 'a', "@autoreleased" }, { 'k', "@pack_out" }, { 'l', "@guaranteed_address" }, { 'g', "@guaranteed" },
        { 'm', "@inout" },
    };
    return csni_swift_with1(r->memory, kind, label, convention(r, known, sizeof(known) / sizeof(known[0])));
}

static void add_label(swift_reader *r, swift_node *parent, enum csni_swift_kind kind, const char *label) {
    csni_swift_add(r->memory, parent, csni_swift_new_label(r->memory, kind, label));
}

/* What it is a generic type for, from the stack. */
static bool add_substitutions(swift_reader *r, swift_node *type, bool is_pattern) {
    struct csni_swift_list lists = { 0 };
    swift_node *conformances, *signature = NULL;
    if (!csni_swift_pop_bound(r, &lists, &conformances)) return false;
    if (is_pattern && !(signature = csni_swift_pop_signature(r))) return false;
    if (lists.count != 1) return false;
    enum csni_swift_kind kind = is_pattern ? SWIFT_IMPL_PATTERN_SUBSTITUTIONS : SWIFT_IMPL_INVOCATION_SUBSTITUTIONS;
    swift_node *node = csni_swift_new(r->memory, kind);
    if (signature) csni_swift_add(r->memory, node, signature);
    return csni_swift_add(r->memory, type, csni_swift_add(r->memory, node, lists.at[0]));
}

static bool add_callee(swift_reader *r, swift_node *type) {
    static const struct convention callees[] = {
        { 'y', "@callee_unowned" }, { 'g', "@callee_guaranteed" }, { 'x', "@callee_owned" }, { 't', "@convention(thin)" }
    };
    return csni_swift_add(r->memory, type, convention(r, callees, sizeof(callees) / sizeof(callees[0])));
}

static void add_convention(swift_reader *r, swift_node *type) {
    static const struct convention known[] = {
        { 'B', "block" }, { 'C', "c" }, { 'M', "method" }, { 'O', "objc_method" }, { 'K', "closure" }, { 'W', "witness_method" }
    };
    bool has_clang_type = r->end - r->at > 1 && r->at[0] == 'z' && (r->at[1] == 'B' || r->at[1] == 'C');
    if (has_clang_type) r->at++;
    swift_node *node = convention(r, known, sizeof(known) / sizeof(known[0]));
    if (!node) return;
    node->kind = SWIFT_IMPL_FUNCTION_CONVENTION;
    if (has_clang_type) csni_swift_add(r->memory, node, csni_swift_clang_type(r));
    csni_swift_add(r->memory, type, node);
}

static void add_attributes(swift_reader *r, swift_node *type) {
    if (csni_swift_take(r, 'A')) add_label(r, type, SWIFT_IMPL_CONVENTION, "@yield_once");
    else if (csni_swift_take(r, 'I')) add_label(r, type, SWIFT_IMPL_CONVENTION, "@yield_once_2");
    else if (csni_swift_take(r, 'G')) add_label(r, type, SWIFT_IMPL_CONVENTION, "@yield_many");
    if (csni_swift_take(r, 'h')) add_label(r, type, SWIFT_IMPL_CONVENTION, "@Sendable");
    if (csni_swift_take(r, 'H')) add_label(r, type, SWIFT_IMPL_CONVENTION, "@async");
    if (csni_swift_take(r, 'T')) add_label(r, type, SWIFT_IMPL_SENDING_RESULT, NULL);
}

/* Of parameters and results, without their types: how many there are; negative: damaged. */
static int32_t add_values(swift_reader *r, swift_node *type) {
    int32_t count = 0;
    swift_node *value;
    for (; (value = parameter(r, SWIFT_IMPL_PARAMETER, NULL)); count++) {
        if (!csni_swift_add(r->memory, type, value)) return -1;
        add_label(r, value, SWIFT_IMPL_PARAMETER_NOTE, csni_swift_take(r, 'w') ? "@noDerivative " : "");
        if (csni_swift_take(r, 'T')) add_label(r, value, SWIFT_IMPL_PARAMETER_NOTE, "sending ");
        if (csni_swift_take(r, 'I')) add_label(r, value, SWIFT_IMPL_PARAMETER_NOTE, "isolated ");
        if (csni_swift_take(r, 'L')) add_label(r, value, SWIFT_IMPL_PARAMETER_NOTE, "sil_implicit_leading_param ");
    }
    for (; (value = result(r, SWIFT_IMPL_RESULT, NULL)); count++) {
        if (!csni_swift_add(r->memory, type, value)) return -1;
        add_label(r, value, SWIFT_IMPL_PARAMETER_NOTE, csni_swift_take(r, 'w') ? "@noDerivative " : "");
    }
    for (; csni_swift_take(r, 'Y'); count++)
        if (!csni_swift_add(r->memory, type, parameter(r, SWIFT_IMPL_MARKED_RESULT, "@yields "))) return -1;
    if (!csni_swift_take(r, 'z')) return count;
    return csni_swift_add(r->memory, type, result(r, SWIFT_IMPL_MARKED_RESULT, "@error ")) ? count + 1 : -1;
}

swift_node *csni_swift_impl_function(swift_reader *r) {
    swift_node *type = csni_swift_new(r->memory, SWIFT_IMPL_FUNCTION);
    if (csni_swift_take(r, 's') && !add_substitutions(r, type, true)) return NULL;
    if (csni_swift_take(r, 'I') && !add_substitutions(r, type, false)) return NULL;
    swift_node *signature = csni_swift_pop_signature(r);
    if (signature && csni_swift_take(r, 'P')) {
        swift_node *pseudo = csni_swift_new(r->memory, SWIFT_PSEUDOGENERIC_SIGNATURE);
        if (pseudo) pseudo->children = signature->children;
        signature = pseudo;
    }
    if (csni_swift_take(r, 'e')) add_label(r, type, SWIFT_IMPL_CONVENTION, "@escaping");
    if (csni_swift_take(r, 'A')) add_label(r, type, SWIFT_IMPL_CONVENTION, "@isolated(any)");
    if (csni_swift_peek(r) && strchr("dlfr", csni_swift_peek(r)))
        csni_swift_add(r->memory, type, csni_swift_new_index(r->memory, SWIFT_IMPL_DIFFERENTIABILITY, (uint64_t)*r->at++));
    if (!add_callee(r, type)) return NULL;
    add_convention(r, type);
    add_attributes(r, type);
    csni_swift_add(r->memory, type, signature);
    int32_t count = add_values(r, type);
    if (count < 0 || !csni_swift_take(r, '_')) return NULL;
    uint32_t children = csni_swift_count(type);
    for (int32_t i = 0; i < count; i++) {
        swift_node *value = csni_swift_child(type, children - (uint32_t)i - 1);
        if (!value || !csni_swift_add(r->memory, value, csni_swift_pop_type(r))) return NULL;
    }
    return csni_swift_type(r, type);
}
