/* C++ names: types (Itanium C++ ABI, 5.1.5). */
#include "names/itanium/itanium_parse.h"

#define NAME(literal) { .kind = NODE_NAME, .text = { literal, sizeof(literal) - 1 } }

static node *make_qualified(parser *p, node *type, unsigned qualifiers) {
    struct csni_itanium_node *n = type ? csni_make(p, NODE_QUALIFIED) : NULL;
    if (!n) return NULL;
    n->a = type;
    n->flag = (uint8_t)qualifiers;
    n->has_right = type->has_right;
    n->is_array = type->is_array;
    n->is_function = type->is_function;
    return n;
}

/* What is to the right of a pointer is what is to the right of its target. */
static node *make_pointer(parser *p, enum csni_itanium_kind kind, node *target, unsigned flag) {
    struct csni_itanium_node *n = target ? csni_make(p, kind) : NULL;
    if (!n) return NULL;
    n->a = target;
    n->flag = (uint8_t)flag;
    n->has_right = target->has_right;
    return n;
}

/* ---- builtin types ---- */

static node letter_types[26] = {
    ['a' - 'a'] = NAME("signed char"),
    ['b' - 'a'] = NAME("bool"),
    ['c' - 'a'] = NAME("char"),
    ['d' - 'a'] = NAME("double"),
    ['e' - 'a'] = NAME("long double"),
    ['f' - 'a'] = NAME("float"),
    ['g' - 'a'] = NAME("__float128"),
    ['h' - 'a'] = NAME("unsigned char"),
    ['i' - 'a'] = NAME("int"),
    ['j' - 'a'] = NAME("unsigned int"),
    ['l' - 'a'] = NAME("long"),
    ['m' - 'a'] = NAME("unsigned long"),
    ['n' - 'a'] = NAME("__int128"),
    ['o' - 'a'] = NAME("unsigned __int128"),
    ['s' - 'a'] = NAME("short"),
    ['t' - 'a'] = NAME("unsigned short"),
    ['v' - 'a'] = NAME("void"),
    ['w' - 'a'] = NAME("wchar_t"),
    ['x' - 'a'] = NAME("long long"),
    ['y' - 'a'] = NAME("unsigned long long"),
    ['z' - 'a'] = NAME("..."),
};

/* After 'D'. */
static node d_types[26] = {
    ['a' - 'a'] = NAME("auto"),
    ['c' - 'a'] = NAME("decltype(auto)"),
    ['d' - 'a'] = NAME("decimal64"),
    ['e' - 'a'] = NAME("decimal128"),
    ['f' - 'a'] = NAME("decimal32"),
    ['h' - 'a'] = NAME("half"),
    ['i' - 'a'] = NAME("char32_t"),
    ['m' - 'a'] = NAME("std::meta::info"),
    ['n' - 'a'] = NAME("std::nullptr_t"),
    ['s' - 'a'] = NAME("char16_t"),
    ['u' - 'a'] = NAME("char8_t"),
};

static node *type_in(node *table, char letter) {
    if (letter < 'a' || letter > 'z') return NULL;
    node *type = &table[letter - 'a'];
    return type->text.len ? type : NULL;
}

/* Fixed-point types (N1169): "DA" or "DR" and a letter for the size, all of it after "DS" where it saturates. */
static node *parse_fixed_point(parser *p, bool saturates) {
    static const char letters[] = "stijlm";
    static node types[2][2][6] = {
        { { NAME("short _Accum"), NAME("unsigned short _Accum"), NAME("_Accum"), NAME("unsigned _Accum"), NAME("long _Accum"),
            NAME("unsigned long _Accum") },
          { NAME("short _Fract"), NAME("unsigned short _Fract"), NAME("_Fract"), NAME("unsigned _Fract"), NAME("long _Fract"),
            NAME("unsigned long _Fract") } },
        { { NAME("_Sat short _Accum"), NAME("_Sat unsigned short _Accum"), NAME("_Sat _Accum"), NAME("_Sat unsigned _Accum"),
            NAME("_Sat long _Accum"), NAME("_Sat unsigned long _Accum") },
          { NAME("_Sat short _Fract"), NAME("_Sat unsigned short _Fract"), NAME("_Sat _Fract"), NAME("_Sat unsigned _Fract"),
            NAME("_Sat long _Fract"), NAME("_Sat unsigned long _Fract") } },
    };
    char kind = csni_peek(p, 1), size = csni_peek(p, 2);
    const char *found = size ? strchr(letters, size) : NULL;
    if (csni_peek(p, 0) != 'D' || (kind != 'A' && kind != 'R') || !found) return NULL;
    p->at += 3;
    return &types[saturates][kind == 'R'][found - letters];
}

/* After "DF". */
static node *parse_binary_float(parser *p) {
    static node bfloat16 = NAME("std::bfloat16_t");
    if (p->end - p->at >= 3 && memcmp(p->at, "16b", 3) == 0) {
        p->at += 3;
        return &bfloat16;
    }
    struct csn_str size = csni_parse_number(p, false);
    if (size.len && csni_take(p, 'x')) size.len++; /* "DF64x" */
    else if (!csni_take(p, '_')) return NULL;
    return csni_make_pair(p, NODE_BINARY_FLOAT, csni_name_node(p, size), NULL);
}

static node *parse_bit_int(parser *p, bool is_signed) {
    node *size = csni_is_digit(csni_peek(p, 0)) ? csni_name_node(p, csni_parse_number(p, false)) : csni_parse_expression(p);
    if (!size || !csni_take(p, '_')) return NULL;
    struct csni_itanium_node *n = csni_make(p, NODE_BIT_INT);
    if (!n) return NULL;
    n->a = size;
    n->flag = is_signed;
    return n;
}

/* "Dk", "DK": a constrained auto. */
static node *parse_constrained_auto(parser *p, const char *word) {
    return csni_make_word(p, NODE_POSTFIXED, word, csni_parse_name(p, NULL));
}

/* ---- function types ---- */

static node *parse_exception_types(parser *p) {
    uint32_t base = p->parts.count;
    while (!csni_take(p, 'E'))
        if (!csni_push_part(p, csni_parse_type(p))) return NULL;
    return csni_make_list(p, NODE_THROWS, base);
}

/* False: damaged. *out NULL: there is none. */
static bool parse_exceptions(parser *p, node **out) {
    static node noexcept_word = NAME("noexcept");
    if (csni_take_two(p, "Do")) {
        *out = &noexcept_word;
    } else if (csni_take_two(p, "DO")) {
        node *condition = csni_parse_expression(p);
        if (!condition || !csni_take(p, 'E')) return false;
        *out = csni_make_pair(p, NODE_NOEXCEPT, condition, NULL);
    } else if (csni_take_two(p, "Dw")) {
        *out = parse_exception_types(p);
    } else {
        return true;
    }
    return *out != NULL;
}

/* Parameters up to the end, and the qualifier that stands there. */
static bool parse_function_params(parser *p, unsigned *qualifiers) {
    for (;;) {
        if (csni_take(p, 'E')) return true;
        if (csni_take(p, 'v')) continue;
        if (csni_take_two(p, "RE")) {
            *qualifiers |= QUAL_LVALUE_REF;
            return true;
        }
        if (csni_take_two(p, "OE")) {
            *qualifiers |= QUAL_RVALUE_REF;
            return true;
        }
        char first = csni_peek(p, 0);
        if (!csni_push_function_param(p, csni_parse_type(p), first)) return false;
    }
}

static node *parse_function(parser *p) {
    unsigned qualifiers = csni_parse_qualifiers(p);
    node *exceptions = NULL;
    if (!parse_exceptions(p, &exceptions)) return NULL;
    csni_take_two(p, "Dx"); /* transaction_safe */
    if (!csni_take(p, 'F')) return NULL;
    csni_take(p, 'Y'); /* extern "C" */
    node *returns = csni_parse_type(p);
    uint32_t base = p->parts.count;
    if (!returns || !parse_function_params(p, &qualifiers)) return NULL;
    struct csni_itanium_node *n = csni_make_list(p, NODE_FUNCTION, base);
    if (!n) return NULL;
    n->a = returns;
    n->b = exceptions;
    n->flag = (uint8_t)qualifiers;
    n->has_right = n->is_function = ANSWER_YES;
    return n;
}

static node *parse_function_type(parser *p) {
    bool ambiguous = csni_open_brackets(p);
    return csni_close_brackets(p, ambiguous, parse_function(p));
}

/* ---- compound types ---- */

/* Digits or an expression, or nothing; then '_'. */
static bool parse_dimension(parser *p, bool zero_is_number, node **out) {
    char c = csni_peek(p, 0);
    *out = NULL;
    if (csni_take(p, '_')) return true;
    bool is_number = csni_is_digit(c) && (zero_is_number || c != '0');
    *out = is_number ? csni_name_node(p, csni_parse_number(p, false)) : csni_parse_expression(p);
    return *out && csni_take(p, '_');
}

static node *parse_vector(parser *p) {
    node *dimension;
    bool is_number = csni_peek(p, 0) >= '1' && csni_peek(p, 0) <= '9';
    if (!parse_dimension(p, false, &dimension)) return NULL;
    if (is_number && csni_take(p, 'p')) return csni_make_pair(p, NODE_PIXEL_VECTOR, dimension, NULL);
    return csni_make_pair(p, NODE_VECTOR, csni_parse_type(p), dimension);
}

static node *parse_array(parser *p) {
    node *dimension;
    p->at++;
    if (!parse_dimension(p, true, &dimension)) return NULL;
    node *element = csni_parse_type(p);
    struct csni_itanium_node *n = element ? csni_make(p, NODE_ARRAY) : NULL;
    if (!n) return NULL;
    n->a = element;
    n->b = dimension;
    n->has_right = n->is_array = ANSWER_YES;
    return n;
}

static node *parse_member_pointer(parser *p) {
    p->at++;
    node *class_type = csni_parse_type(p), *member = class_type ? csni_parse_type(p) : NULL;
    struct csni_itanium_node *n = member ? csni_make(p, NODE_MEMBER_POINTER) : NULL;
    if (!n) return NULL;
    n->a = class_type;
    n->b = member;
    n->has_right = member->has_right;
    return n;
}

node *csni_parse_decltype(parser *p) {
    if (!csni_take(p, 'D') || !(csni_take(p, 't') || csni_take(p, 'T'))) return NULL;
    node *expression = csni_parse_expression(p);
    return expression && csni_take(p, 'E') ? csni_make_word(p, NODE_ENCLOSED, "decltype", expression) : NULL;
}

static node *parse_class_type(parser *p) {
    const char *word = csni_take_two(p, "Ts") ? "struct" : csni_take_two(p, "Tu") ? "union" : csni_take_two(p,
                                                                                                            "Te") ? "enum" : NULL;
    node *name = csni_parse_name(p, NULL);
    return word ? csni_make_word(p, NODE_ELABORATED, word, name) : name;
}

static node *parse_qualified(parser *p);
static node *parse_qualified_or_function(parser *p);

/* "U11objcproto1P": the name of the protocol has its length inside that of the qualifier. */
static node *parse_objc_protocol(parser *p, struct csn_str qualifier) {
    parser inner = *p;
    inner.at = qualifier.ptr + strlen("objcproto");
    inner.end = qualifier.ptr + qualifier.len;
    struct csn_str protocol = csni_parse_identifier(&inner);
    return protocol.len ? csni_make_text(p, NODE_OBJC_PROTOCOL, protocol, parse_qualified(p)) : NULL;
}

static node *parse_vendor_qualified(parser *p) {
    struct csn_str qualifier = csni_parse_identifier(p);
    node *args = NULL;
    if (!qualifier.len) return NULL;
    if (qualifier.len > strlen("objcproto") && memcmp(qualifier.ptr, "objcproto", strlen("objcproto")) == 0)
        return parse_objc_protocol(p, qualifier);
    if (csni_peek(p, 0) == 'I') {
        args = csni_parse_template_args(p, false);
        if (!args) return NULL;
    }
    /* A function's type without its calling convention is no candidate for substitution; what a block pointer points to is one. */
    bool is_block = qualifier.len == strlen("block_pointer") && memcmp(qualifier.ptr, "block_pointer", qualifier.len) == 0;
    node *type = p->as_llvm || is_block ? parse_qualified(p) : parse_qualified_or_function(p);
    struct csni_itanium_node *n = type ? csni_make(p, NODE_VENDOR_QUALIFIED) : NULL;
    if (!n) return NULL;
    n->a = type;
    n->b = args;
    n->text = qualifier;
    if (p->as_llvm) return n; /* it writes both sides of a function's type before the qualifier */
    n->has_right = type->has_right;
    n->is_array = type->is_array;
    n->is_function = type->is_function;
    return n;
}

static node *parse_qualified(parser *p) {
    if (csni_take(p, 'U')) return csni_leave(p, csni_enter(p) ? parse_vendor_qualified(p) : NULL);
    unsigned qualifiers = csni_parse_qualifiers(p);
    node *type = csni_parse_type(p);
    return qualifiers ? make_qualified(p, type, qualifiers) : type;
}

/* 'r', 'V' and 'K' belong to a function type where one follows. */
static node *parse_qualified_or_function(parser *p) {
    size_t ahead = 0;
    if (csni_peek(p, ahead) == 'r') ahead++;
    if (csni_peek(p, ahead) == 'V') ahead++;
    if (csni_peek(p, ahead) == 'K') ahead++;
    char c = csni_peek(p, ahead), next = csni_peek(p, ahead + 1);
    bool is_function = c == 'F' || (c == 'D' && next && strchr("oOwx", next));
    return is_function ? parse_function_type(p) : parse_qualified(p);
}

/* ---- types that other names are part of ---- */

static node *with_template_args(parser *p, node *template) {
    node *args = csni_parse_template_args(p, false);
    return args ? csni_make_pair(p, NODE_TEMPLATE_ID, template, args) : NULL;
}

/* Whether something has been named with arguments of it. Of a name with more candidates than any real one's not all
 * are looked at. */
static bool is_known_template(const parser *p, node *type) {
    enum { LOOKED_AT_MAX = 1024 };
    if (type->kind == NODE_STD) return type->flag == STD_ALLOCATOR || type->flag == STD_BASIC_STRING;
    for (uint32_t i = 0; i < p->substitutions.count && i < LOOKED_AT_MAX; i++) {
        node *other = p->substitutions.at[i];
        if (other->kind == NODE_DEPENDENT) other = other->a;
        if (other->kind == NODE_TEMPLATE_ID && other->a == type) return true;
    }
    return false;
}

/* Whether the arguments that follow are of `type`, a substitution or a parameter. */
static bool has_own_args(parser *p, node *type) {
    if (csni_peek(p, 0) != 'I') return false;
    if (!p->args_ambiguous) return true;
    p->args_chosen = true;
    switch (p->args_choice) {
    case ARGS_OF_TEMPLATES: return is_known_template(p, type);
    case ARGS_OF_TYPE: return type->kind != NODE_TEMPLATE_ID;
    default: return false;
    }
}

static node *parse_param_type(parser *p) {
    char next = csni_peek(p, 1);
    if (next == 's' || next == 'u' || next == 'e') return parse_class_type(p);
    const char *begin = p->at;
    node *param = csni_parse_template_param(p);
    if (!param || !has_own_args(p, param)) return param;
    return csni_add_type_substitution(p, param, begin) ? with_template_args(p, param) : NULL;
}

/* *is_old: a type that has been substituted before, as it is. */
static node *parse_substituted_type(parser *p, bool *is_old) {
    bool is_substitution = false;
    node *type = csni_parse_unscoped_name(p, NULL, &is_substitution);
    if (!type) return NULL;
    if (is_substitution && type == p->closure_prefix) p->dialect_wrong = true; /* a variable is no type */
    if (is_substitution ? has_own_args(p, type) : csni_peek(p, 0) == 'I') {
        if (!is_substitution && !csni_add_substitution(p, type)) return NULL;
        return with_template_args(p, type);
    }
    *is_old = is_substitution;
    return type;
}

/* "u" NAME: a vendor's type, with one argument a type trait, with more a template such as "matrix_type". */
static node *parse_vendor_type(parser *p) {
    p->at++;
    struct csn_str name = csni_parse_identifier(p);
    if (!name.len) return NULL;
    if (csni_peek(p, 0) != 'I') return csni_name_node(p, name);
    node *args = csni_parse_template_args(p, false);
    if (!args || !args->count) return NULL;
    if (args->count == 1) return csni_make_text(p, NODE_TRANSFORMED, name, args->list[0]);
    return csni_make_pair(p, NODE_TEMPLATE_ID, csni_name_node(p, name), args);
}

/* An expansion of something without a parameter is none. */
static node *parse_expansion(parser *p) {
    uint32_t before = p->parameters_met;
    node *pattern = csni_parse_type(p);
    if (p->parameters_met == before) p->dialect_wrong = true;
    return csni_make_pair(p, NODE_EXPANSION, pattern, NULL);
}

/* *is_builtin: it is no candidate for substitution. */
static node *parse_d_type(parser *p, bool *is_builtin) {
    char letter = csni_peek(p, 1);
    node *type = type_in(d_types, letter);
    *is_builtin = letter != 'n' || p->dialect < DIALECT_GCC_4;
    if (type) p->at += 2;
    if (type) return type;
    switch (letter) {
    case 'A': case 'R': return parse_fixed_point(p, false);
    case 'S': p->at += 2; return parse_fixed_point(p, true);
    case 'F': p->at += 2; return parse_binary_float(p);
    case 'k': p->at += 2; return parse_constrained_auto(p, " auto");
    case 'K': p->at += 2; return parse_constrained_auto(p, " decltype(auto)");
    default: break;
    }
    *is_builtin = false;
    switch (letter) {
    case 't': case 'T': return csni_parse_decltype(p);
    case 'B': case 'U': p->at += 2; return parse_bit_int(p, letter == 'B');
    case 'v': p->at += 2; return parse_vector(p);
    case 'p': p->at += 2; return parse_expansion(p);
    case 'y': p->at += 2; return csni_parse_pack_index(p, csni_parse_type);
    case 'o': case 'O': case 'w': case 'x': return parse_function_type(p);
    default: return NULL;
    }
}

static node *parse_reference(parser *p, bool is_rvalue) {
    node *target = csni_parse_type(p);
    if (target == &letter_types['v' - 'a']) p->dialect_wrong = true;
    return make_pointer(p, NODE_REFERENCE, target, is_rvalue);
}

static node *parse_prefixed_type(parser *p) {
    switch (*p->at++) {
    case 'P': return make_pointer(p, NODE_POINTER, csni_parse_type(p), 0);
    case 'R': return parse_reference(p, false);
    case 'O': return parse_reference(p, true);
    case 'C': return csni_make_word(p, NODE_POSTFIXED, " complex", csni_parse_type(p));
    default: return csni_make_word(p, NODE_POSTFIXED, " imaginary", csni_parse_type(p));
    }
}

static node *parse_type(parser *p) {
    const char *begin = p->at;
    bool is_old = false;
    node *type;
    switch (csni_peek(p, 0)) {
    case 'r': case 'V': case 'K': type = parse_qualified_or_function(p); break;
    case 'U': type = csni_is_digit(csni_peek(p, 1)) ? parse_qualified(p) : parse_class_type(p); break;
    case 'u': type = parse_vendor_type(p); break;
    case 'D': type = parse_d_type(p, &is_old); break;
    case 'F': type = parse_function_type(p); break;
    case 'A': type = parse_array(p); break;
    case 'M': type = parse_member_pointer(p); break;
    case 'T': type = parse_param_type(p); break;
    case 'P': case 'R': case 'O': case 'C': case 'G': type = parse_prefixed_type(p); break;
    case 'S': type = csni_peek(p, 1) == 't' ? parse_class_type(p) : parse_substituted_type(p, &is_old); break;
    default: type = parse_class_type(p); break;
    }
    return type && !is_old ? csni_add_type_substitution(p, type, begin) : type;
}

node *csni_parse_type(parser *p) {
    node *builtin = type_in(letter_types, csni_peek(p, 0));
    if (!builtin) return csni_leave(p, csni_enter(p) ? parse_type(p) : NULL);
    p->at++;
    return builtin;
}
