/* C++ names: names in expressions that could not be looked up yet, and requires expressions (Itanium C++ ABI, 5.1.6). */
#include "names/itanium/itanium_parse.h"

static node *with_args(parser *p, node *template) {
    if (!template || csni_peek(p, 0) != 'I') return template;
    node *args = csni_parse_template_args(p, false);
    return args ? csni_make_pair(p, NODE_TEMPLATE_ID, template, args) : NULL;
}

static node *parse_simple_id(parser *p) { return with_args(p, csni_parse_source_name(p)); }

/* LLVM counts no template-id of a parameter, which compilers count ("srT_IT0_E5value"). */
static node *parse_unresolved_type_as_llvm(parser *p) {
    if (csni_peek(p, 0) == 'T') return with_args(p, csni_add_substitution(p, csni_parse_template_param(p)));
    if (csni_peek(p, 0) == 'D') return with_args(p, csni_add_substitution(p, csni_parse_decltype(p)));
    return with_args(p, csni_parse_substitution(p));
}

/* gcc writes "srSt4pairIT_T0_E" where the grammar wants "srNSt4pairI..." or a substitution. */
static node *parse_unresolved_type(parser *p) {
    char c = csni_peek(p, 0), next = csni_peek(p, 1);
    if (p->as_llvm && !(c == 'S' && next == 't')) return parse_unresolved_type_as_llvm(p);
    bool is_decltype = c == 'D' && (next == 't' || next == 'T');
    return c == 'T' || c == 'S' || is_decltype ? csni_parse_type(p) : NULL;
}

static node *parse_destructor(parser *p) {
    node *type = csni_is_digit(csni_peek(p, 0)) ? parse_simple_id(p) : parse_unresolved_type(p);
    return csni_make_pair(p, NODE_DESTRUCTOR_NAME, type, NULL);
}

static node *parse_base_name(parser *p) {
    if (csni_is_digit(csni_peek(p, 0))) return parse_simple_id(p);
    if (csni_take_two(p, "dn")) return parse_destructor(p);
    csni_take_two(p, "on");
    return with_args(p, csni_parse_operator_name(p, NULL));
}

static node *scoped(parser *p, node *scope, node *name) {
    return scope && name ? csni_make_pair(p, NODE_SCOPED, scope, name) : NULL;
}

/* "srN": a type, then names up to 'E'. */
static node *parse_type_scope(parser *p) {
    node *scope = parse_unresolved_type(p);
    while (scope && !csni_take(p, 'E')) scope = scoped(p, scope, parse_simple_id(p));
    return scope;
}

/* "sr": names up to 'E'. */
static node *parse_name_scope(parser *p, bool global) {
    node *scope = parse_simple_id(p);
    if (scope && global) scope = csni_make_pair(p, NODE_GLOBAL, scope, NULL);
    while (scope && !csni_take(p, 'E')) scope = scoped(p, scope, parse_simple_id(p));
    return scope;
}

/* "srN" and the name of a namespace or a known class is gcc's: the ABI has names without 'N' there. */
static bool is_nested_type(parser *p) {
    node *known = csni_candidate_of(p, p->at + 1, p->substitutions.count);
    if (csni_peek(p, 1) == 'S' && csni_peek(p, 2) == 't') return true;
    return known && known->kind != NODE_DEPENDENT && known->kind != NODE_ENCLOSED && !p->as_llvm;
}

node *csni_parse_unresolved_name(parser *p, bool global) {
    if (!csni_take_two(p, "sr")) {
        node *name = parse_base_name(p);
        return name && global ? csni_make_pair(p, NODE_GLOBAL, name, NULL) : name;
    }
    node *scope;
    bool is_nested = csni_peek(p, 0) == 'N', is_name = csni_is_digit(csni_peek(p, 0));
    if (is_nested || is_name) p->dialect_matters = true;
    bool is_type = p->dialect != DIALECT_ABI || (is_nested && is_nested_type(p));
    if (is_type && (is_nested || is_name)) scope = csni_parse_type(p);
    else if (csni_take(p, 'N')) scope = parse_type_scope(p);
    else scope = is_name ? parse_name_scope(p, global) : parse_unresolved_type(p);
    return scope ? scoped(p, scope, parse_base_name(p)) : NULL;
}

/* ---- requires expressions ---- */

/* "X" EXPRESSION [N] [R CONSTRAINT] */
static node *parse_expression_requirement(parser *p) {
    node *expression = csni_parse_expression(p), *constraint = NULL;
    if (!expression) return NULL;
    bool is_noexcept = csni_take(p, 'N');
    if (csni_take(p, 'R')) {
        constraint = csni_parse_name(p, NULL);
        if (!constraint) return NULL;
    }
    struct csni_itanium_node *n = csni_make(p, NODE_EXPRESSION_REQUIREMENT);
    if (!n) return NULL;
    n->a = expression;
    n->b = constraint;
    n->flag = is_noexcept;
    return n;
}

static node *parse_requirement(parser *p) {
    if (csni_take(p, 'X')) return parse_expression_requirement(p);
    if (csni_take(p, 'T')) return csni_make_word(p, NODE_REQUIREMENT, " typename ", csni_parse_type(p));
    return csni_take(p, 'Q') ? csni_make_word(p, NODE_REQUIREMENT, " requires ", csni_parse_expression(p)) : NULL;
}

static node *parse_requires_params(parser *p) {
    uint32_t base = p->parts.count;
    while (!csni_take(p, '_'))
        if (!csni_push_part(p, csni_parse_type(p))) return NULL;
    return csni_make_list(p, NODE_LIST, base);
}

/* "rq" REQUIREMENT+ E, "rQ" TYPE* _ REQUIREMENT+ E */
node *csni_parse_requires(parser *p) {
    bool has_params = csni_peek(p, 1) == 'Q';
    p->at += 2;
    node *params = has_params ? parse_requires_params(p) : csni_make(p, NODE_LIST);
    if (!params) return NULL;
    uint32_t base = p->parts.count;
    do {
        if (!csni_push_part(p, parse_requirement(p))) return NULL;
    } while (!csni_take(p, 'E'));
    struct csni_itanium_node *n = csni_make_list(p, NODE_REQUIRES, base);
    if (n) n->c = params;
    return n;
}
