/* C++ names: nested, local, special and unnamed ones, and encodings (Itanium C++ ABI, 5.1.2 to 5.1.6). */
#include "names/itanium/itanium_parse.h"

#define NAME(literal) { .kind = NODE_NAME, .text = { literal, sizeof(literal) - 1 } }

static node std_name = NAME("std");

/* What an encoding's template parameters were outside of it. */
struct saved_params {
    struct csni_name_stack outer;
    uint32_t level_base, level_count, scope;
    bool args_ambiguous, forward_allowed, in_own_args;
};

static struct saved_params begin_own_params(parser *p) {
    struct saved_params saved = { p->outer, p->level_base, p->levels.count, p->scope, p->args_ambiguous, p->forward_allowed,
                                  p->in_own_args };
    p->level_base = p->levels.count;
    p->outer = (struct csni_name_stack){ 0 };
    p->args_ambiguous = p->forward_allowed = p->in_own_args = false;
    csni_new_scope(p);
    return saved;
}

static void end_own_params(parser *p, const struct saved_params *saved) {
    p->levels.count = saved->level_count;
    p->level_base = saved->level_base;
    p->outer = saved->outer;
    p->scope = saved->scope;
    p->args_ambiguous = saved->args_ambiguous;
    p->forward_allowed = saved->forward_allowed;
    p->in_own_args = saved->in_own_args;
}

/* ---- unqualified names ---- */

static bool is_anonymous(struct csn_str text) { return text.len >= 10 && memcmp(text.ptr, "_GLOBAL__N", 10) == 0; }

node *csni_parse_source_name(parser *p) {
    static node anonymous = NAME("(anonymous namespace)");
    struct csn_str text = csni_parse_identifier(p);
    if (!text.len) return NULL;
    return is_anonymous(text) ? &anonymous : csni_name_node(p, text);
}

/* "cv": the type may use template parameters whose arguments come later. */
static node *parse_conversion_operator(parser *p, struct csni_itanium_traits *traits) {
    bool ambiguous = p->args_ambiguous, forward = p->forward_allowed;
    p->args_ambiguous = true;
    p->forward_allowed = forward || traits;
    node *type = csni_parse_type(p);
    p->args_ambiguous = ambiguous;
    p->forward_allowed = forward;
    if (type && traits) traits->without_return_type = true;
    return csni_make_word(p, NODE_PREFIXED, "operator ", type);
}

static node *make_operator(parser *p, const char *symbol) {
    struct csni_itanium_node *n = csni_make(p, NODE_OPERATOR);
    if (n) n->text = (struct csn_str){ symbol, strlen(symbol) };
    return n;
}

node *csni_parse_operator_name(parser *p, struct csni_itanium_traits *traits) {
    const struct csni_itanium_operator *op = csni_take_operator(p);
    if (op) {
        if (op->kind == OP_CONVERSION) return parse_conversion_operator(p, traits);
        bool can_be_named = op->kind < OP_CAST && (op->kind != OP_MEMBER || op->flag);
        return can_be_named ? make_operator(p, op->symbol) : NULL;
    }
    if (csni_take_two(p, "li")) return csni_make_word(p, NODE_PREFIXED, "operator\"\" ", csni_parse_source_name(p));
    if (!csni_take(p, 'v') || !csni_is_digit(csni_peek(p, 0))) return NULL;
    p->at++; /* a vendor's operator: the number of its operands */
    return csni_make_word(p, NODE_PREFIXED, "operator ", csni_parse_source_name(p));
}

/* "C1", "CI2" NAME, "D0", ... */
static node *parse_structor(parser *p, node **scope, struct csni_itanium_traits *traits) {
    bool destroys = csni_peek(p, 0) == 'D';
    p->at++;
    bool inherited = !destroys && csni_take(p, 'I');
    char variant = csni_peek(p, 0);
    if (!variant || !strchr(destroys ? "01245" : "12345", variant)) return NULL;
    p->at++;
    if (traits) traits->without_return_type = true;
    if (inherited && !csni_parse_name(p, traits)) return NULL;
    if ((*scope)->kind == NODE_STD) {
        struct csni_itanium_node *expanded = csni_make(p, NODE_STD);
        if (!expanded) return NULL;
        expanded->flag = (uint8_t)((*scope)->flag | STD_EXPANDED);
        *scope = expanded;
    }
    struct csni_itanium_node *n = csni_make(p, NODE_STRUCTOR);
    if (!n) return NULL;
    n->a = *scope;
    n->flag = destroys;
    return n;
}

/* "DC" NAME+ E */
static node *parse_bindings(parser *p) {
    uint32_t base = p->parts.count;
    do {
        if (!csni_push_part(p, csni_parse_source_name(p))) return NULL;
    } while (!csni_take(p, 'E'));
    return csni_make_list(p, NODE_BINDINGS, base);
}

static node *parse_module_part(parser *p, node *parent) {
    bool partition = csni_take(p, 'P');
    node *name = csni_parse_source_name(p);
    struct csni_itanium_node *n = name ? csni_make(p, NODE_MODULE) : NULL;
    if (!n) return NULL;
    n->a = parent;
    n->b = name;
    n->flag = partition;
    return csni_add_substitution(p, n);
}

/* "W" NAME, "WP" NAME, any number of them. False: damaged. */
static bool parse_modules(parser *p, node **module) {
    while (csni_take(p, 'W')) {
        *module = parse_module_part(p, *module);
        if (!*module) return false;
    }
    return true;
}

static node *parse_plain_name(parser *p, struct csni_itanium_traits *traits, node **scope, node *module) {
    char c = csni_peek(p, 0);
    if (c >= '1' && c <= '9') return csni_parse_source_name(p);
    if (c == 'U') return csni_parse_unnamed_type(p, traits);
    if (csni_take_two(p, "DC")) return parse_bindings(p);
    if (c == 'C' || c == 'D') return *scope && !module ? parse_structor(p, scope, traits) : NULL;
    return csni_parse_operator_name(p, traits);
}

static node *parse_unqualified_name(parser *p, struct csni_itanium_traits *traits, node *scope, node *module) {
    if (!parse_modules(p, &module)) return NULL;
    bool is_friend = scope && csni_take(p, 'F');
    csni_take(p, 'L'); /* of internal linkage */
    node *name = parse_plain_name(p, traits, &scope, module);
    if (name && module) name = csni_make_pair(p, NODE_MODULE_ENTITY, module, name);
    name = csni_parse_abi_tags(p, name);
    return name && scope ? csni_make_pair(p, is_friend ? NODE_FRIEND : NODE_SCOPED, scope, name) : name;
}

/* ---- unnamed types ---- */

/* The parts of "Ul" up to its number. */
struct closure {
    node *params, *candidates, *template_params, *outer_constraint, *inner_constraint;
};

static bool parse_closure_constraint(parser *p, node **out) {
    *out = NULL;
    if (!csni_take(p, 'Q')) return true;
    *out = csni_parse_constraint(p);
    return *out != NULL;
}

static node *keep_candidates(parser *p, const struct csni_name_stack *candidates) {
    struct csni_itanium_node *n = csni_make(p, NODE_LIST);
    if (!n) return NULL;
    n->list = (node *const *)candidates->at;
    n->count = candidates->count;
    return n;
}

static bool parse_closure_params(parser *p, struct closure *closure) {
    struct csni_name_stack candidates = { 0 };
    uint32_t base = p->parts.count;
    if (!csni_take(p, 'v')) {
        do {
            const char *begin = p->at;
            char first = csni_peek(p, 0);
            uint32_t count = p->substitutions.count;
            if (!csni_push_function_param(p, csni_parse_type(p), first)) return false;
            if (p->dialect_matters && !csni_name_push(p->memory, &candidates, csni_candidate_of(p, begin, count))) return false;
        } while (csni_peek(p, 0) != 'E' && csni_peek(p, 0) != 'Q');
    }
    closure->params = csni_make_list(p, NODE_CLOSURE, base);
    closure->candidates = closure->params ? keep_candidates(p, &candidates) : NULL;
    return closure->candidates != NULL;
}

static bool parse_closure_template_params(parser *p, struct closure *closure) {
    struct csni_name_stack *params = csni_name_alloc(p->memory, sizeof(*params));
    uint32_t base = p->parts.count;
    if (!params) return false;
    *params = (struct csni_name_stack){ 0 };
    if (!csni_name_push(p->memory, &p->levels, params)) return false;
    while (csni_starts_param_declaration(p))
        if (!csni_push_part(p, csni_parse_param_declaration(p, params))) return false;
    closure->template_params = csni_make_list(p, NODE_LIST, base);
    if (closure->template_params && !closure->template_params->count) p->levels.count--;
    return closure->template_params != NULL;
}

static bool parse_closure_signature(parser *p, struct closure *closure) {
    size_t lambda_level = p->lambda_level;
    uint32_t level_count = p->levels.count, level_base = p->level_base, scope = p->scope;
    if (p->in_own_args && !p->as_llvm) p->level_base = level_count;
    p->lambda_level = level_count - p->level_base;
    csni_new_scope(p);
    bool done = parse_closure_template_params(p, closure) && parse_closure_constraint(p, &closure->outer_constraint) &&
                parse_closure_params(p, closure) && parse_closure_constraint(p, &closure->inner_constraint);
    p->lambda_level = lambda_level;
    p->levels.count = level_count;
    p->level_base = level_base;
    p->scope = scope;
    return done;
}

static node *parse_closure(parser *p) {
    struct closure closure;
    if (!parse_closure_signature(p, &closure) || !csni_take(p, 'E')) return NULL;
    struct csn_str number = csni_parse_number(p, false);
    struct csni_itanium_node *n = csni_take(p, '_') ? csni_make(p, NODE_CLOSURE) : NULL;
    if (!n) return NULL;
    n->list = closure.params->list;
    n->count = closure.params->count;
    n->a = closure.outer_constraint;
    n->b = closure.inner_constraint;
    n->c = closure.template_params;
    n->d = closure.candidates;
    n->text = number;
    return n;
}

node *csni_parse_unnamed_type(parser *p, struct csni_itanium_traits *traits) {
    static node block = NAME("'block-literal'");
    if (traits) p->levels.count = p->level_base; /* parameters refer to the innermost arguments */
    if (csni_take_two(p, "Ul")) return csni_leave(p, csni_enter(p) ? parse_closure(p) : NULL);
    bool is_type = csni_take_two(p, "Ut");
    if (!is_type && !csni_take_two(p, "Ub")) return NULL;
    struct csn_str number = csni_parse_number(p, false);
    if (!csni_take(p, '_')) return NULL;
    if (!is_type) return &block;
    struct csni_itanium_node *n = csni_make(p, NODE_UNNAMED_TYPE);
    if (n) n->text = number;
    return n;
}

/* ---- scopes ---- */

node *csni_parse_unscoped_name(parser *p, struct csni_itanium_traits *traits, bool *is_substitution) {
    node *scope = csni_take_two(p, "St") ? &std_name : NULL, *module = NULL;
    if (csni_peek(p, 0) == 'S') {
        node *known = csni_parse_substitution(p);
        if (!known) return NULL;
        if (known->kind == NODE_MODULE) {
            module = known;
        } else {
            *is_substitution = true;
            return scope ? NULL : known;
        }
    }
    return parse_unqualified_name(p, traits, scope, module);
}

static void parse_member_qualifiers(parser *p, struct csni_itanium_traits *traits) {
    if (csni_take(p, 'H')) {
        if (traits) traits->explicit_object = true;
        return;
    }
    unsigned qualifiers = csni_parse_qualifiers(p);
    if (csni_take(p, 'O')) qualifiers |= QUAL_RVALUE_REF;
    else if (csni_take(p, 'R')) qualifiers |= QUAL_LVALUE_REF;
    if (traits) traits->qualifiers = (uint8_t)qualifiers;
}

static node *parse_prefix_args(parser *p, struct csni_itanium_traits *traits, node *prefix) {
    node *args = prefix ? csni_parse_template_args(p, traits != NULL) : NULL;
    if (!args || prefix->kind == NODE_TEMPLATE_ID) return NULL;
    if (traits) traits->ends_with_args = true;
    return csni_make_pair(p, NODE_TEMPLATE_ID, prefix, args);
}

/* A substitution as (part of) a prefix. *is_old: it is no new candidate. */
static node *parse_prefix_substitution(parser *p, struct csni_itanium_traits *traits, node *prefix, bool *is_old) {
    node *known = csni_take_two(p, "St") ? &std_name : csni_parse_substitution(p);
    if (!known) return NULL;
    if (known->kind == NODE_MODULE) return parse_unqualified_name(p, traits, prefix, known);
    *is_old = true;
    return prefix ? NULL : known;
}

static node *parse_prefix_part(parser *p, struct csni_itanium_traits *traits, node *prefix, bool *is_old) {
    char c = csni_peek(p, 0), next = csni_peek(p, 1);
    if (c == 'T') return prefix ? NULL : csni_parse_template_param(p);
    if (c == 'I') return parse_prefix_args(p, traits, prefix);
    if (c == 'D' && (next == 't' || next == 'T')) return prefix ? NULL : csni_parse_decltype(p);
    if (c == 'S') return parse_prefix_substitution(p, traits, prefix, is_old);
    return parse_unqualified_name(p, traits, prefix, NULL);
}

/* "M" after a variable or a member: what follows is a lambda in its initializer. */
static void skip_initializer(parser *p, node *variable) {
    if (!csni_take(p, 'M')) return;
    p->dialect_matters = true;
    if (p->dialect >= DIALECT_GCC_12) p->substitutions.count--;
    else p->closure_prefix = variable;
}

static bool parse_prefix_parts(parser *p, struct csni_itanium_traits *traits, node **prefix) {
    const char *begin = p->at;
    while (p->at < p->end && *p->at != 'E') {
        bool is_old = false;
        if (traits) traits->ends_with_args = false;
        *prefix = parse_prefix_part(p, traits, *prefix, &is_old);
        if (!*prefix) return false;
        if (is_old) continue;
        if (!csni_add_prefix_substitution(p, *prefix, begin)) return false;
        skip_initializer(p, *prefix);
    }
    return true;
}

node *csni_parse_prefix(parser *p) {
    node *prefix = NULL;
    return parse_prefix_parts(p, NULL, &prefix) ? prefix : NULL;
}

static node *parse_nested_name(parser *p, struct csni_itanium_traits *traits) {
    node *prefix = NULL;
    p->at++;
    parse_member_qualifiers(p, traits);
    if (!parse_prefix_parts(p, traits, &prefix) || !csni_take(p, 'E')) return NULL;
    if (!prefix || !p->substitutions.count) return NULL;
    p->substitutions.count--; /* the last part is no candidate: whoever uses the whole name makes it one */
    return prefix;
}

static node *parse_local_entity(parser *p, struct csni_itanium_traits *traits) {
    bool in_default_argument = csni_take(p, 'd');
    if (in_default_argument) {
        csni_parse_number(p, true);
        if (!csni_take(p, '_')) return NULL;
    }
    node *entity = csni_parse_name(p, traits);
    if (entity && !in_default_argument) csni_skip_discriminator(p);
    return entity;
}

static node *parse_local_name(parser *p, struct csni_itanium_traits *traits) {
    static node literal = NAME("string literal");
    p->at++;
    node *encoding = csni_parse_encoding(p);
    if (!encoding || !csni_take(p, 'E')) return NULL;
    if (csni_take(p, 's')) {
        csni_skip_discriminator(p);
        return csni_make_pair(p, NODE_LOCAL, encoding, &literal);
    }
    struct saved_params saved = begin_own_params(p);
    node *entity = parse_local_entity(p, traits);
    /* The function type that follows the name of a local function template refers to that one's arguments. */
    if (!traits) end_own_params(p, &saved);
    return entity ? csni_make_pair(p, NODE_LOCAL, encoding, entity) : NULL;
}

static node *parse_global_name(parser *p, struct csni_itanium_traits *traits) {
    bool is_substitution = false;
    node *name = csni_parse_unscoped_name(p, traits, &is_substitution);
    if (!name || csni_peek(p, 0) != 'I') return is_substitution ? NULL : name;
    if (!is_substitution && !csni_add_substitution(p, name)) return NULL;
    node *args = csni_parse_template_args(p, traits != NULL);
    if (!args) return NULL;
    if (traits) traits->ends_with_args = true;
    return csni_make_pair(p, NODE_TEMPLATE_ID, name, args);
}

static node *parse_name(parser *p, struct csni_itanium_traits *traits) {
    switch (csni_peek(p, 0)) {
    case 'N': return parse_nested_name(p, traits);
    case 'Z': return parse_local_name(p, traits);
    default: return parse_global_name(p, traits);
    }
}

node *csni_parse_name(parser *p, struct csni_itanium_traits *traits) {
    return csni_leave(p, csni_enter(p) ? parse_name(p, traits) : NULL);
}

/* ---- special names ---- */

/* How far a thunk moves "this". */
static bool skip_call_offset(parser *p) {
    bool is_virtual = csni_take(p, 'v');
    if (!is_virtual && !csni_take(p, 'h')) return false;
    for (int numbers = is_virtual ? 2 : 1; numbers; numbers--)
        if (!csni_parse_number(p, true).len || !csni_take(p, '_')) return false;
    return true;
}

static node *parse_construction_vtable(parser *p) {
    node *first = csni_parse_type(p);
    if (!first || !csni_parse_number(p, true).len || !csni_take(p, '_')) return NULL;
    return csni_make_pair(p, NODE_CONSTRUCTION_VTABLE, csni_parse_type(p), first);
}

static node *parse_covariant_thunk(parser *p) {
    if (!skip_call_offset(p) || !skip_call_offset(p)) return NULL;
    return csni_make_word(p, NODE_PREFIXED, "covariant return thunk to ", csni_parse_encoding(p));
}

static node *parse_thunk(parser *p) {
    const char *word = csni_peek(p, 0) == 'v' ? "virtual thunk to " : "non-virtual thunk to ";
    return skip_call_offset(p) ? csni_make_word(p, NODE_PREFIXED, word, csni_parse_encoding(p)) : NULL;
}

static node *parse_reference_temporary(parser *p) {
    size_t number;
    node *name = csni_parse_name(p, NULL);
    if (!name) return NULL;
    bool numbered = csni_parse_sequence_id(p, &number);
    if (!csni_take(p, '_') && numbered) return NULL;
    return csni_make_word(p, NODE_PREFIXED, "reference temporary for ", name);
}

static node *parse_module_initializer(parser *p) {
    node *module = NULL;
    if (!parse_modules(p, &module)) return NULL;
    return csni_make_word(p, NODE_PREFIXED, "initializer for module ", module);
}

static node *special(parser *p, const char *word, node *(*parse)(parser *)) {
    p->at += 2;
    return csni_make_word(p, NODE_PREFIXED, word, parse(p));
}

static node *parse_bare_name(parser *p) { return csni_parse_name(p, NULL); }

/* Functions of the technical specification for transactional memory (gcc -fgnu-tm). */
static node *parse_transaction_name(parser *p) {
    char kind = csni_peek(p, 2);
    if (kind != 't' && kind != 'n') return NULL;
    p->at++;
    return special(p, kind == 't' ? "transaction clone for " : "non-transaction clone for ", csni_parse_encoding);
}

static node *parse_g_name(parser *p) {
    switch (csni_peek(p, 1)) {
    case 'V': return special(p, "guard variable for ", parse_bare_name);
    case 'R': p->at += 2; return parse_reference_temporary(p);
    case 'I': p->at += 2; return parse_module_initializer(p);
    case 'T': return parse_transaction_name(p);
    default: return NULL;
    }
}

static node *parse_special_name(parser *p) {
    if (csni_peek(p, 0) == 'G') return parse_g_name(p);
    switch (csni_peek(p, 1)) {
    case 'A': return special(p, "template parameter object for ", csni_parse_template_arg);
    case 'V': return special(p, "vtable for ", csni_parse_type);
    case 'T': return special(p, "VTT for ", csni_parse_type);
    case 'I': return special(p, "typeinfo for ", csni_parse_type);
    case 'S': return special(p, "typeinfo name for ", csni_parse_type);
    case 'W': return special(p, "thread-local wrapper routine for ", parse_bare_name);
    case 'H': return special(p, "thread-local initialization routine for ", parse_bare_name);
    case 'C': p->at += 2; return parse_construction_vtable(p);
    case 'c': p->at += 2; return parse_covariant_thunk(p);
    default: p->at++; return parse_thunk(p);
    }
}

/* ---- encodings ---- */

/* Parameters of a conversion operator's type get their arguments. */
static bool resolve_forwards(parser *p, uint32_t base) {
    for (uint32_t i = base; i < p->forwards.count; i++) {
        struct csni_itanium_forward *forward = (struct csni_itanium_forward *)(uintptr_t)p->forwards.at[i];
        const struct csni_name_stack *params = p->levels.count > p->level_base ? p->levels.at[p->level_base] : NULL;
        if (!params || forward->index >= params->count) return false;
        forward->target = params->at[forward->index];
    }
    p->forwards.count = base;
    return true;
}

/* No type begins so. */
static bool at_encoding_end(const parser *p) {
    char c = csni_peek(p, 0);
    return p->at == p->end || c == 'E' || c == '.' || c == '_';
}

/* "Ua9enable_ifI" ARG* E. False: damaged. *out NULL: there is none. */
static bool parse_attributes(parser *p, node **out) {
    static const char start[] = "Ua9enable_ifI";
    size_t len = sizeof(start) - 1;
    *out = NULL;
    if ((size_t)(p->end - p->at) < len || memcmp(p->at, start, len) != 0) return true;
    uint32_t base = p->parts.count;
    p->at += len;
    while (!csni_take(p, 'E'))
        if (!csni_push_part(p, csni_parse_template_arg(p))) return false;
    *out = csni_make_list(p, NODE_ENABLE_IF, base);
    return *out != NULL;
}

/* The lambda that a function is the call of; NULL: it is of none. */
static node *called_closure(node *name) {
    if (name->kind == NODE_TEMPLATE_ID) name = name->a;
    bool is_call = name->kind == NODE_SCOPED && name->b->kind == NODE_OPERATOR && name->b->text.ptr[0] == '(';
    node *scope = is_call && name->a->kind == NODE_SCOPED ? name->a->b : NULL;
    return scope && scope->kind == NODE_CLOSURE ? scope : NULL;
}

/* The parameters of a lambda's call are those of its name, which have been mangled before: a substitution that refers to
 * something else was counted in another way. */
static void compare_with_closure(parser *p, node *closure, uint32_t index, node *candidate) {
    if (closure && index < closure->d->count && candidate != closure->d->list[index]) p->dialect_wrong = true;
}

static struct csni_itanium_node *parse_params(parser *p, bool explicit_object, node *closure) {
    uint32_t base = p->parts.count;
    if (!csni_take(p, 'v')) {
        do {
            const char *begin = p->at;
            char first = csni_peek(p, 0);
            uint32_t count = p->substitutions.count;
            node *type = csni_parse_type(p);
            if (closure) compare_with_closure(p, closure, p->parts.count - base, csni_candidate_of(p, begin, count));
            if (explicit_object && p->parts.count == base) type = csni_make_word(p, NODE_PREFIXED, "this ", type);
            if (!csni_push_function_param(p, type, first)) return NULL;
        } while (!at_encoding_end(p) && csni_peek(p, 0) != 'Q');
    }
    return csni_make_list(p, NODE_ENCODING, base);
}

static node *parse_function(parser *p, node *name, const struct csni_itanium_traits *traits) {
    node *attributes, *returns = NULL, *constraint = NULL;
    if (!parse_attributes(p, &attributes)) return NULL;
    if (!traits->without_return_type && traits->ends_with_args) {
        returns = csni_parse_type(p);
        if (!returns) return NULL;
    }
    node *closure = p->dialect_matters && !traits->explicit_object ? called_closure(name) : NULL;
    struct csni_itanium_node *n = parse_params(p, traits->explicit_object, closure);
    if (!n) return NULL;
    if (csni_take(p, 'Q')) {
        constraint = csni_parse_constraint(p);
        if (!constraint) return NULL;
    }
    n->a = returns;
    n->b = name;
    n->c = attributes;
    n->d = constraint;
    n->flag = traits->qualifiers;
    n->has_right = n->is_function = ANSWER_YES;
    return n;
}

static node *parse_encoding(parser *p) {
    struct csni_itanium_traits traits = { .forward_base = p->forwards.count };
    if (csni_peek(p, 0) == 'G' || csni_peek(p, 0) == 'T') return parse_special_name(p);
    node *name = csni_parse_name(p, &traits);
    if (!name || !resolve_forwards(p, traits.forward_base)) return NULL;
    return at_encoding_end(p) ? name : parse_function(p, name, &traits);
}

node *csni_parse_encoding(parser *p) {
    if (!csni_enter(p)) return csni_leave(p, NULL);
    struct saved_params saved = begin_own_params(p);
    node *n = parse_encoding(p);
    end_own_params(p, &saved);
    return csni_leave(p, n);
}
