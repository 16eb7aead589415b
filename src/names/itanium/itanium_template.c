/* C++ names: substitutions, template parameters and arguments (Itanium C++ ABI, 5.1.7 to 5.1.10). */
#include "names/itanium/itanium_parse.h"

#define NAME(literal) { .kind = NODE_NAME, .text = { literal, sizeof(literal) - 1 } }

/* ---- substitutions ---- */

static node std_names[] = {
    { .kind = NODE_STD, .flag = STD_ALLOCATOR }, { .kind = NODE_STD, .flag = STD_BASIC_STRING },
    { .kind = NODE_STD, .flag = STD_STRING },    { .kind = NODE_STD, .flag = STD_ISTREAM },
    { .kind = NODE_STD, .flag = STD_OSTREAM },   { .kind = NODE_STD, .flag = STD_IOSTREAM },
};

static node *std_name(char letter) {
    static const char letters[] = "absiod";
    const char *found = letter ? strchr(letters, letter) : NULL;
    return found ? &std_names[found - letters] : NULL;
}

/* NULL: with what its parameters refer to here, it is no type. */
static node *read_again(parser *p, struct csn_str type, bool is_prefix) {
    const char *at = p->at, *end = p->end;
    uint32_t substitutions = p->substitutions.count, parts = p->parts.count;
    bool ambiguous = csni_open_brackets(p);
    p->at = type.ptr;
    p->end = type.ptr + type.len;
    node *n = csni_close_brackets(p, ambiguous, is_prefix ? csni_parse_prefix(p) : csni_parse_type(p));
    if (p->at != p->end) n = NULL;
    p->at = at;
    p->end = end;
    p->substitutions.count = substitutions;
    p->parts.count = parts;
    return n;
}

/* A substitution that refers to template parameters, as it is meant where the parser is. */
static node *dependent_here(parser *p, node *known) {
    enum { REREAD_MAX = 1 << 16 };
    struct csni_itanium_node *dependent = (struct csni_itanium_node *)(uintptr_t)known;
    p->last_param = p->at - 1;
    p->parameters_met++;
    if (dependent->count == p->scope || p->parameters_unknown || dependent->text.len > REREAD_MAX - p->reread) return dependent->a;
    p->reread += (uint32_t)dependent->text.len;
    node *n = read_again(p, dependent->text, dependent->flag);
    p->last_param = p->at - 1;
    if (!n) return dependent->a;
    dependent->a = n;
    dependent->count = p->scope;
    return n;
}

node *csni_parse_substitution(parser *p) {
    if (!csni_take(p, 'S')) return NULL;
    char letter = csni_peek(p, 0);
    if (letter >= 'a' && letter <= 'z') {
        node *name = std_name(letter);
        if (!name) return NULL;
        p->at++;
        node *tagged = csni_parse_abi_tags(p, name);
        return tagged == name ? name : csni_add_substitution(p, tagged);
    }
    size_t index = 0;
    if (!csni_take(p, '_')) {
        if (!csni_parse_sequence_id(p, &index) || !csni_take(p, '_')) return NULL;
        index++;
    }
    if (index >= p->substitutions.count) return NULL;
    node *known = p->substitutions.at[index];
    return known->kind == NODE_DEPENDENT ? dependent_here(p, known) : known;
}

node *csni_candidate_of(parser *p, const char *begin, uint32_t count) {
    if (p->substitutions.count > count) return p->substitutions.at[p->substitutions.count - 1];
    size_t index = 0;
    parser again = *p;
    again.at = begin;
    if (!csni_take(&again, 'S')) return NULL;
    if (csni_parse_sequence_id(&again, &index)) index++;
    return csni_take(&again, '_') && index < count ? p->substitutions.at[index] : NULL;
}

node *csni_parse_abi_tags(parser *p, node *n) {
    while (n && csni_take(p, 'B')) {
        struct csn_str tag = csni_parse_identifier(p);
        if (!tag.len) return NULL;
        struct csni_itanium_node *tagged = csni_make(p, NODE_ABI_TAG);
        if (!tagged) return NULL;
        tagged->a = n;
        tagged->text = tag;
        n = tagged;
    }
    return n;
}

/* ---- parameters ---- */

static const struct csni_name_stack *params_of_level(const parser *p, size_t level) {
    return level < p->levels.count - p->level_base ? p->levels.at[p->level_base + level] : NULL;
}

static node *make_forward(parser *p, size_t index) {
    struct csni_itanium_forward *forward = csni_name_alloc(p->memory, sizeof(*forward));
    struct csni_itanium_node *n = forward ? csni_make(p, NODE_FORWARD) : NULL;
    if (!n || !csni_name_push(p->memory, &p->forwards, forward)) return NULL;
    *forward = (struct csni_itanium_forward){ .index = index };
    n->forward = forward;
    n->has_right = n->is_array = n->is_function = ANSWER_MAYBE;
    return n;
}

/* In a generic lambda's parameters, "auto" is mangled as the parameter of a template that is not written down. */
static node *auto_param(parser *p, size_t level) {
    static node auto_name = NAME("auto");
    size_t known = p->levels.count - p->level_base;
    if (p->lambda_level != level || level > known) return NULL;
    if (level == known && !csni_name_push(p->memory, &p->levels, NULL)) return NULL;
    return &auto_name;
}

/* A number, one less than the one meant, or nothing for the first; then '_'. */
static bool parse_param_number(parser *p, size_t *out) {
    *out = 0;
    if (csni_take(p, '_')) return true;
    if (!csni_parse_count(p, out)) return false;
    ++*out;
    return csni_take(p, '_');
}

node *csni_parse_template_param(parser *p) {
    const char *begin = p->at;
    size_t level = 0, index = 0;
    if (!csni_take(p, 'T')) return NULL;
    if (!p->as_llvm) p->last_param = begin;
    p->parameters_met++;
    if (csni_take(p, 'L')) {
        if (!csni_parse_count(p, &level) || !csni_take(p, '_')) return NULL;
        level++;
    }
    if (!parse_param_number(p, &index)) return NULL;
    if (p->parameters_unknown) return csni_name_node(p, (struct csn_str){ begin, (size_t)(p->at - 1 - begin) });
    if (p->forward_allowed && !level) return make_forward(p, index);
    const struct csni_name_stack *params = params_of_level(p, level);
    return params && index < params->count ? params->at[index] : auto_param(p, level);
}

static node *invent_param(parser *p, struct csni_name_stack *params, enum csni_itanium_param kind) {
    struct csni_itanium_node *n = csni_make(p, NODE_INVENTED_PARAM);
    if (!n || (params && !csni_name_push(p->memory, params, n))) return NULL;
    n->flag = (uint8_t)kind;
    n->count = p->invented[kind]++;
    return n;
}

static struct csni_itanium_node *make_declaration(parser *p, enum csni_itanium_kind kind, node *a, node *b) {
    struct csni_itanium_node *n = a ? csni_make(p, kind) : NULL;
    if (!n) return NULL;
    n->has_right = ANSWER_YES;
    n->a = a;
    n->b = b;
    return n;
}

static node *parse_constrained_param(parser *p, struct csni_name_stack *params) {
    bool unknown = p->parameters_unknown;
    p->parameters_unknown = true;
    node *constraint = csni_parse_name(p, NULL);
    p->parameters_unknown = unknown;
    node *name = constraint ? invent_param(p, params, PARAM_TYPE) : NULL;
    return name ? make_declaration(p, NODE_CONSTRAINED_PARAM, constraint, name) : NULL;
}

static node *parse_value_param(parser *p, struct csni_name_stack *params) {
    node *name = invent_param(p, params, PARAM_VALUE), *type = name ? csni_parse_type(p) : NULL;
    return type ? make_declaration(p, NODE_VALUE_PARAM, name, type) : NULL;
}

/* The declarations of a template template parameter, up to 'E'; *constraint may become NULL. */
static bool parse_inner_params(parser *p, struct csni_name_stack *params, node **constraint) {
    while (!csni_take(p, 'E')) {
        if (!csni_push_part(p, csni_parse_param_declaration(p, params))) return false;
        if (!csni_take(p, 'Q')) continue;
        *constraint = csni_parse_constraint(p);
        return *constraint && csni_take(p, 'E');
    }
    return true;
}

static node *parse_template_template_param(parser *p, struct csni_name_stack *params) {
    node *name = invent_param(p, params, PARAM_TEMPLATE), *constraint = NULL;
    struct csni_name_stack *inner = name ? csni_name_alloc(p->memory, sizeof(*inner)) : NULL;
    uint32_t base = p->parts.count, level_count = p->levels.count;
    if (!inner) return NULL;
    *inner = (struct csni_name_stack){ 0 };
    bool done = csni_name_push(p->memory, &p->levels, inner) && parse_inner_params(p, inner, &constraint);
    p->levels.count = level_count;
    struct csni_itanium_node *n = done ? csni_make_list(p, NODE_TEMPLATE_PARAM, base) : NULL;
    if (!n) return NULL;
    n->has_right = ANSWER_YES;
    n->a = name;
    n->b = constraint;
    return n;
}

static node *parse_declaration(parser *p, struct csni_name_stack *params) {
    if (!csni_take(p, 'T') || p->at == p->end) return NULL;
    switch (*p->at++) {
    case 'y': return make_declaration(p, NODE_TYPE_PARAM, invent_param(p, params, PARAM_TYPE), NULL);
    case 'k': return parse_constrained_param(p, params);
    case 'n': return parse_value_param(p, params);
    case 't': return parse_template_template_param(p, params);
    case 'p': return make_declaration(p, NODE_PACK_PARAM, csni_parse_param_declaration(p, params), NULL);
    default: return NULL;
    }
}

bool csni_starts_param_declaration(const parser *p) {
    char kind = csni_peek(p, 1);
    return csni_peek(p, 0) == 'T' && kind && strchr("yptnk", kind);
}

node *csni_parse_param_declaration(parser *p, struct csni_name_stack *params) {
    return csni_leave(p, csni_enter(p) ? parse_declaration(p, params) : NULL);
}

/* ---- arguments ---- */

node *csni_parse_argument_pack(parser *p) {
    uint32_t base = p->parts.count;
    p->at++;
    while (!csni_take(p, 'E'))
        if (!csni_push_part(p, csni_parse_template_arg(p))) return NULL;
    return csni_make_list(p, NODE_ARGUMENT_PACK, base);
}

static node *parse_arg(parser *p) {
    node *arg;
    switch (csni_peek(p, 0)) {
    case 'X':
        p->at++;
        arg = csni_parse_expression(p);
        return arg && csni_take(p, 'E') ? arg : NULL;
    case 'J': return csni_parse_argument_pack(p);
    case 'I': /* of gcc with -fabi-version=5 and below, the default before gcc 5 */
        if (p->dialect < DIALECT_GCC_4) p->dialect_matters = p->dialect_wrong = true;
        return csni_parse_argument_pack(p);
    case 'L':
        if (csni_peek(p, 1) != 'Z') return csni_parse_literal(p);
        p->at += 2;
        arg = csni_parse_encoding(p);
        return arg && csni_take(p, 'E') ? arg : NULL;
    case 'T':
        if (!csni_starts_param_declaration(p)) return csni_parse_type(p);
        arg = csni_parse_param_declaration(p, NULL);
        if (arg) arg = csni_make_pair(p, NODE_QUALIFIED_ARG, arg, csni_parse_template_arg(p));
        return arg && arg->b ? arg : NULL;
    default: return csni_parse_type(p);
    }
}

node *csni_parse_template_arg(parser *p) { return csni_leave(p, csni_enter(p) ? parse_arg(p) : NULL); }

static unsigned all_no(node *list, enum csni_itanium_answer (*answer)(node *)) {
    for (uint32_t i = 0; i < list->count; i++)
        if (answer(list->list[i]) != ANSWER_NO) return ANSWER_MAYBE;
    return ANSWER_NO;
}

static enum csni_itanium_answer right_of(node *n) { return n->has_right; }
static enum csni_itanium_answer array_of(node *n) { return n->is_array; }
static enum csni_itanium_answer function_of(node *n) { return n->is_function; }

/* What a parameter stands for: a pack's elements are written one at a time, by the expansion around them. */
static node *param_target(parser *p, node *arg) {
    if (arg->kind == NODE_QUALIFIED_ARG) {
        arg = arg->b;
        if (p->as_llvm) return arg;
    }
    if (arg->kind != NODE_ARGUMENT_PACK) return arg;
    struct csni_itanium_node *pack = csni_make(p, NODE_PACK);
    if (!pack) return NULL;
    pack->list = arg->list;
    pack->count = arg->count;
    pack->has_right = all_no(arg, right_of) & 3;
    pack->is_array = all_no(arg, array_of) & 3;
    pack->is_function = all_no(arg, function_of) & 3;
    return pack;
}

static bool add_param(parser *p, node *arg) {
    node *target = param_target(p, arg);
    return target && csni_name_push(p->memory, &p->outer, target);
}

/* The innermost arguments are the ones that parameters refer to. */
static bool begin_params(parser *p) {
    p->levels.count = p->level_base;
    p->outer = (struct csni_name_stack){ 0 };
    csni_new_scope(p);
    return csni_name_push(p->memory, &p->levels, &p->outer);
}

/* An instance of a template, the last argument, as a class and a pack ("I3FooIiEE" for "<Foo, int>"). */
static bool split_last_arg(parser *p, node *instance) {
    struct csni_itanium_node *pack = csni_make(p, NODE_ARGUMENT_PACK);
    if (!pack || !p->substitutions.count) return false;
    pack->list = instance->b->list;
    pack->count = instance->b->count;
    p->substitutions.count--; /* the instance */
    return csni_push_part(p, instance->a) && add_param(p, instance->a) && csni_push_part(p, pack) && add_param(p, pack);
}

static bool push_own_arg(parser *p, node *arg, char first) {
    bool may_be_two = arg && arg->kind == NODE_TEMPLATE_ID && first != 'N' && first != 'Z' && csni_peek(p, 0) == 'E';
    if (may_be_two && p->dialect == DIALECT_GCC_4_PACKS) return split_last_arg(p, arg);
    return csni_push_part(p, arg) && add_param(p, arg);
}

static node *parse_args(parser *p, bool of_encoding) {
    uint32_t base = p->parts.count;
    if (!csni_take(p, 'I') || (of_encoding && !begin_params(p))) return NULL;
    while (!csni_take(p, 'E')) {
        char first = csni_peek(p, 0);
        if (of_encoding && (first == 'S' || csni_is_digit(first))) p->may_be_split = true;
        node *arg = csni_parse_template_arg(p);
        if (!(of_encoding ? push_own_arg(p, arg, first) : csni_push_part(p, arg))) return NULL;
        if (!csni_take(p, 'Q')) continue;
        if (!csni_parse_constraint(p) || !csni_take(p, 'E')) return NULL;
        break;
    }
    return csni_make_list(p, NODE_TEMPLATE_ARGS, base);
}

node *csni_parse_template_args(parser *p, bool of_encoding) {
    bool ambiguous = csni_open_brackets(p), in_own_args = p->in_own_args;
    p->in_own_args = in_own_args || of_encoding;
    node *args = parse_args(p, of_encoding);
    p->in_own_args = in_own_args;
    return csni_close_brackets(p, ambiguous, args);
}
