/* C++ names: expressions in template arguments and signatures (Itanium C++ ABI, 5.1.6). */
#include "names/itanium/itanium_parse.h"

#define NAME(literal) { .kind = NODE_NAME, .text = { literal, sizeof(literal) - 1 } }

static struct csni_itanium_node *with_precedence(struct csni_itanium_node *n, unsigned precedence) {
    if (n) n->precedence = (uint8_t)precedence;
    return n;
}

static node *make_operation(parser *p, enum csni_itanium_kind kind, const struct csni_itanium_operator *op, node *a, node *b) {
    struct csni_itanium_node *n = a ? with_precedence(csni_make(p, kind), op->precedence) : NULL;
    if (!n) return NULL;
    n->text = (struct csn_str){ op->symbol, strlen(op->symbol) };
    n->a = a;
    n->b = b;
    return n;
}

/* Expressions up to 'E' (which is taken) as a node's list. */
static struct csni_itanium_node *parse_until_end(parser *p, enum csni_itanium_kind kind, node *(*parse)(parser *)) {
    uint32_t base = p->parts.count;
    while (!csni_take(p, 'E'))
        if (!csni_push_part(p, parse(p))) return NULL;
    return csni_make_list(p, kind, base);
}

static node *parse_braced(parser *p);

/* ---- operators ---- */

static node *parse_prefix(parser *p, const struct csni_itanium_operator *op) {
    return make_operation(p, NODE_PREFIX, op, csni_parse_expression(p), NULL);
}

static node *parse_postfix(parser *p, const struct csni_itanium_operator *op) {
    if (csni_take(p, '_')) return parse_prefix(p, op);
    return make_operation(p, NODE_POSTFIX, op, csni_parse_expression(p), NULL);
}

static node *parse_two(parser *p, enum csni_itanium_kind kind, const struct csni_itanium_operator *op) {
    node *a = csni_parse_expression(p), *b = a ? csni_parse_expression(p) : NULL;
    return b ? make_operation(p, kind, op, a, b) : NULL;
}

static node *parse_conditional(parser *p, const struct csni_itanium_operator *op) {
    node *a = csni_parse_expression(p), *b = a ? csni_parse_expression(p) : NULL, *c = b ? csni_parse_expression(p) : NULL;
    struct csni_itanium_node *n = c ? with_precedence(csni_make(p, NODE_CONDITIONAL), op->precedence) : NULL;
    if (!n) return NULL;
    n->a = a;
    n->b = b;
    n->c = c;
    return n;
}

static uint8_t heap_flags(const struct csni_itanium_operator *op, bool global) {
    return (uint8_t)((op->flag ? HEAP_ARRAY : 0) | (global ? HEAP_GLOBAL : 0));
}

static node *parse_new(parser *p, const struct csni_itanium_operator *op, bool global) {
    uint32_t base = p->parts.count;
    while (!csni_take(p, '_'))
        if (!csni_push_part(p, csni_parse_expression(p))) return NULL;
    struct csni_itanium_node *n = with_precedence(csni_make_list(p, NODE_NEW, base), op->precedence);
    if (!n) return NULL;
    n->flag = heap_flags(op, global);
    n->a = csni_parse_type(p);
    if (!n->a) return NULL;
    bool braces = csni_take_two(p, "il");
    if (braces) n->flag |= HEAP_BRACES;
    if (braces) n->c = parse_until_end(p, NODE_LIST, parse_braced);
    else if (csni_take_two(p, "pi")) n->c = parse_until_end(p, NODE_LIST, csni_parse_expression);
    else if (csni_take(p, 'E')) n->c = csni_make(p, NODE_LIST);
    return n->c ? n : NULL;
}

static node *parse_delete(parser *p, const struct csni_itanium_operator *op, bool global) {
    node *operand = csni_parse_expression(p);
    struct csni_itanium_node *n = operand ? with_precedence(csni_make(p, NODE_DELETE), op->precedence) : NULL;
    if (!n) return NULL;
    n->a = operand;
    n->flag = heap_flags(op, global);
    return n;
}

static node *parse_call(parser *p, const struct csni_itanium_operator *op) {
    node *callee = csni_parse_expression(p);
    struct csni_itanium_node *n = callee ? parse_until_end(p, NODE_CALL, csni_parse_expression) : NULL;
    if (!n) return NULL;
    n->a = callee;
    n->flag = op->flag;
    return with_precedence(n, op->precedence);
}

static node *parse_conversion(parser *p, const struct csni_itanium_operator *op) {
    node *type = csni_parse_type(p);
    if (!type) return NULL;
    struct csni_itanium_node *n;
    if (csni_take(p, '_')) {
        n = parse_until_end(p, NODE_CONVERSION, csni_parse_expression);
    } else {
        uint32_t base = p->parts.count;
        if (!csni_push_part(p, csni_parse_expression(p))) return NULL;
        n = csni_make_list(p, NODE_CONVERSION, base);
    }
    if (n) n->a = type;
    return with_precedence(n, op->precedence);
}

static node *parse_cast(parser *p, const struct csni_itanium_operator *op) {
    node *type = csni_parse_type(p), *operand = type ? csni_parse_expression(p) : NULL;
    return operand ? make_operation(p, NODE_CAST, op, type, operand) : NULL;
}

/* gcc before 7 has a member operator after "dt" without "on" before it, and "st" and "sz" for sizeof... */
static node *parse_member(parser *p, const struct csni_itanium_operator *op) {
    node *object = csni_parse_expression(p);
    parser ahead = *p;
    bool is_operator = object && op->precedence == PREC_POSTFIX && csni_take_operator(&ahead);
    if (is_operator) p->dialect_matters = true;
    bool is_name = is_operator && p->dialect != DIALECT_ABI;
    node *member = !object ? NULL : is_name ? csni_parse_operator_name(p, NULL) : csni_parse_expression(p);
    return member ? make_operation(p, NODE_MEMBER, op, object, member) : NULL;
}

static node *make_of_operand(parser *p, const struct csni_itanium_operator *op, node *operand) {
    bool is_pack = operand && operand->kind == NODE_EXPANSION && op->code[0] == 's' && !p->as_llvm;
    return is_pack ? csni_make_pair(p, NODE_SIZEOF_PACK, operand->a, NULL) : make_operation(p, NODE_ENCLOSED, op, operand, NULL);
}

static node *parse_operation(parser *p, const struct csni_itanium_operator *op, bool global) {
    switch (op->kind) {
    case OP_PREFIX: return parse_prefix(p, op);
    case OP_POSTFIX: return parse_postfix(p, op);
    case OP_BINARY: return parse_two(p, NODE_BINARY, op);
    case OP_SUBSCRIPT: return parse_two(p, NODE_SUBSCRIPT, op);
    case OP_MEMBER: return parse_member(p, op);
    case OP_NEW: return parse_new(p, op, global);
    case OP_DELETE: return parse_delete(p, op, global);
    case OP_CALL: return parse_call(p, op);
    case OP_CONVERSION: return parse_conversion(p, op);
    case OP_CONDITIONAL: return parse_conditional(p, op);
    case OP_CAST: return parse_cast(p, op);
    case OP_OF_TYPE: return make_of_operand(p, op, csni_parse_type(p));
    case OP_OF_EXPRESSION: return make_of_operand(p, op, csni_parse_expression(p));
    default: return NULL;
    }
}

/* ---- literals ---- */

/* By the letter of the type: a suffix, or the name of the type where it has none. */
static node integer_types[26] = {
    ['a' - 'a'] = NAME("signed char"),
    ['c' - 'a'] = NAME("char"),
    ['h' - 'a'] = NAME("unsigned char"),
    ['i' - 'a'] = NAME(""),
    ['j' - 'a'] = NAME("u"),
    ['l' - 'a'] = NAME("l"),
    ['m' - 'a'] = NAME("ul"),
    ['n' - 'a'] = NAME("__int128"),
    ['o' - 'a'] = NAME("unsigned __int128"),
    ['s' - 'a'] = NAME("short"),
    ['t' - 'a'] = NAME("unsigned short"),
    ['w' - 'a'] = NAME("wchar_t"),
    ['x' - 'a'] = NAME("ll"),
    ['y' - 'a'] = NAME("ull"),
};

static node *parse_number_literal(parser *p, enum csni_itanium_kind kind, node *type) {
    struct csn_str number = csni_parse_number(p, true);
    return number.len && csni_take(p, 'E') ? csni_make_text(p, kind, number, type) : NULL;
}

static node *parse_bool(parser *p) {
    static node words[2] = { NAME("false"), NAME("true") };
    char digit = csni_peek(p, 1);
    if ((digit != '0' && digit != '1') || csni_peek(p, 2) != 'E') return NULL;
    p->at += 3;
    return &words[digit - '0'];
}

static bool float_size_fits(char letter, size_t len) {
    switch (letter) {
    case 'f': return len == 8;
    case 'd': return len == 16;
    case 'e': return len == 16 || len == 20 || len == 32;
    case 'g': return len == 32;
    default: return len == 4 || len == 8 || len == 16 || len == 20 || len == 32;
    }
}

/* The bytes of the number, most significant first; how many they are depends on the machine for long double ("e"). */
static node *parse_float_of(parser *p, char letter, node *type) {
    const char *begin = p->at;
    while (p->at < p->end && (csni_is_digit(*p->at) || (*p->at >= 'a' && *p->at <= 'f'))) p->at++;
    size_t len = (size_t)(p->at - begin);
    struct csni_itanium_node *n = float_size_fits(letter, len) && csni_take(p, 'E') ? csni_make(p, NODE_FLOAT) : NULL;
    if (!n) return NULL;
    n->text = (struct csn_str){ begin, len };
    n->flag = (uint8_t)letter;
    n->a = type;
    return n;
}

static node *parse_float(parser *p) {
    char letter = *p->at++;
    return parse_float_of(p, letter, NULL);
}

static node *parse_external_literal(parser *p) {
    if (!csni_take_two(p, "_Z")) return NULL;
    node *encoding = csni_parse_encoding(p);
    return encoding && csni_take(p, 'E') ? encoding : NULL;
}

static node *parse_string_literal(parser *p) {
    node *type = csni_parse_type(p);
    return type && csni_take(p, 'E') ? csni_make_pair(p, NODE_STRING_LITERAL, type, NULL) : NULL;
}

static node *parse_null_literal(parser *p) {
    static node null = NAME("nullptr");
    if (!csni_take_two(p, "Dn")) return NULL;
    csni_take(p, '0');
    return csni_take(p, 'E') ? &null : NULL;
}

static node *parse_lambda_literal(parser *p) {
    node *type = csni_peek(p, 1) == 'l' ? csni_parse_unnamed_type(p, NULL) : NULL;
    return type && csni_take(p, 'E') ? csni_make_pair(p, NODE_LAMBDA_LITERAL, type, NULL) : NULL;
}

node *csni_parse_literal(parser *p) {
    if (!csni_take(p, 'L')) return NULL;
    char c = csni_peek(p, 0);
    switch (c) {
    case 'b': return parse_bool(p);
    case 'f': case 'd': case 'e': case 'g': return parse_float(p);
    case '_': return parse_external_literal(p);
    case 'A': return parse_string_literal(p);
    case 'D':
        if (csni_peek(p, 1) == 'n') return parse_null_literal(p);
        break;
    case 'T': return NULL; /* an old compiler's mistake, which means nothing */
    case 'U': return parse_lambda_literal(p);
    default: break;
    }
    bool is_integer = c == 'i' || (c >= 'a' && c <= 'z' && integer_types[c - 'a'].text.len);
    if (is_integer) p->at++;
    bool is_float = c == 'D' && csni_peek(p, 1) == 'F';
    node *type = is_integer ? &integer_types[c - 'a'] : csni_parse_type(p);
    if (type && is_float) return parse_float_of(p, 'D', type);
    return type ? parse_number_literal(p, is_integer ? NODE_INTEGER : NODE_ENUM_LITERAL, type) : NULL;
}

/* "fp_", "fp0_", "fL0p_", "fpT" */
static node *parse_function_param(parser *p) {
    static node this_name = NAME("this");
    p->at++;
    p->parameters_met++;
    if (csni_take_two(p, "pT")) return &this_name;
    if (csni_take(p, 'L') && !csni_parse_number(p, false).len) return NULL;
    if (!csni_take(p, 'p')) return NULL;
    csni_parse_qualifiers(p);
    struct csn_str number = csni_parse_number(p, false);
    struct csni_itanium_node *n = csni_take(p, '_') ? csni_make(p, NODE_FUNCTION_PARAM) : NULL;
    if (n) n->text = number;
    return n;
}

/* ---- braces, folds, packs ---- */

static node *parse_designated(parser *p, bool is_array) {
    p->at += 2;
    node *element = is_array ? csni_parse_expression(p) : csni_parse_source_name(p);
    node *init = element ? parse_braced(p) : NULL;
    struct csni_itanium_node *n = init ? csni_make(p, NODE_BRACED) : NULL;
    if (!n) return NULL;
    n->a = element;
    n->b = init;
    n->flag = is_array;
    return n;
}

static node *parse_designated_range(parser *p) {
    p->at += 2;
    node *first = csni_parse_expression(p), *last = first ? csni_parse_expression(p) : NULL;
    node *init = last ? parse_braced(p) : NULL;
    struct csni_itanium_node *n = init ? csni_make(p, NODE_BRACED_RANGE) : NULL;
    if (!n) return NULL;
    n->a = first;
    n->b = last;
    n->c = init;
    return n;
}

static node *parse_braced_part(parser *p) {
    if (csni_peek(p, 0) == 'd') {
        switch (csni_peek(p, 1)) {
        case 'i': return parse_designated(p, false);
        case 'x': return parse_designated(p, true);
        case 'X': return parse_designated_range(p);
        default: break;
        }
    }
    return csni_parse_expression(p);
}

static node *parse_braced(parser *p) { return csni_leave(p, csni_enter(p) ? parse_braced_part(p) : NULL); }

/* "tl" TYPE, "il": a list in braces. */
static node *parse_init_list(parser *p, bool has_type) {
    node *type = has_type ? csni_parse_type(p) : NULL;
    if (has_type && !type) return NULL;
    struct csni_itanium_node *n = parse_until_end(p, NODE_INIT_LIST, parse_braced);
    if (n) n->a = type;
    return n;
}

/* "fL", "fR": with another operand; "fl", "fr": without. */
static node *parse_fold(parser *p) {
    char kind = csni_peek(p, 1);
    p->at += kind ? 2 : 1;
    bool left = kind == 'L' || kind == 'l', two = kind == 'L' || kind == 'R';
    if (!left && !two && kind != 'r') return NULL;
    const struct csni_itanium_operator *op = csni_take_operator(p);
    bool can_fold = op && (op->kind == OP_BINARY || (op->kind == OP_MEMBER && op->precedence == PREC_MEMBER_POINTER));
    node *first = can_fold ? csni_parse_expression(p) : NULL, *second = first && two ? csni_parse_expression(p) : NULL;
    if (!first || (two && !second)) return NULL;
    struct csni_itanium_node *n = csni_make(p, NODE_FOLD);
    if (!n) return NULL;
    n->text = (struct csn_str){ op->symbol, strlen(op->symbol) };
    n->flag = left;
    n->a = left && two ? second : first;
    n->b = left && two ? first : second;
    return n;
}

/* The element of a list that an expression chooses; NULL: that cannot be told. */
static node *chosen_element(node *list, node *index) {
    uint64_t value = 0;
    bool is_list = list->kind == NODE_PACK || list->kind == NODE_ARGUMENT_PACK;
    if (!is_list || index->kind != NODE_INTEGER || !index->text.len || index->text.len > 9) return NULL;
    for (size_t i = 0; i < index->text.len; i++) {
        if (index->text.ptr[i] < '0' || index->text.ptr[i] > '9') return NULL;
        value = 10 * value + (uint64_t)(index->text.ptr[i] - '0');
    }
    return value < list->count ? list->list[value] : NULL;
}

node *csni_parse_pack_index(parser *p, node *(*parse)(parser *)) {
    node *pack = csni_peek(p, 0) == 'J' ? csni_parse_argument_pack(p) : parse(p);
    node *index = pack ? csni_parse_expression(p) : NULL, *element = index ? chosen_element(pack, index) : NULL;
    if (element) return element;
    struct csni_itanium_node *n = index ? csni_make(p, NODE_PACK_INDEX) : NULL;
    if (!n) return NULL;
    n->a = pack;
    n->b = index;
    return n;
}

/* "sZ": of a parameter. "sP": of arguments. */
static node *parse_sizeof_pack(parser *p) {
    if (csni_peek(p, 0) == 'T') return csni_make_pair(p, NODE_SIZEOF_PACK, csni_parse_template_param(p), NULL);
    return csni_peek(p, 0) == 'f' ? csni_make_word(p, NODE_ENCLOSED, "sizeof... ", parse_function_param(p)) : NULL;
}

static node *parse_sizeof_args(parser *p) {
    return csni_make_word(p, NODE_ENCLOSED, "sizeof... ", parse_until_end(p, NODE_LIST, csni_parse_template_arg));
}

/* ---- constant addresses ---- */

/* "mc" TYPE EXPRESSION [NUMBER] E */
static node *parse_member_pointer_conversion(parser *p) {
    node *type = csni_parse_type(p);
    uint32_t base = p->parts.count;
    if (!type || !csni_push_part(p, csni_parse_expression(p))) return NULL;
    csni_parse_number(p, true);
    if (!csni_take(p, 'E')) return NULL;
    struct csni_itanium_node *n = csni_make_list(p, NODE_CONVERSION, base);
    if (n) n->a = type;
    return with_precedence(n, PREC_UNARY);
}

/* "so" TYPE EXPRESSION [NUMBER] UNION-SELECTOR* [p] E */
static node *parse_subobject(parser *p) {
    node *type = csni_parse_type(p), *object = type ? csni_parse_expression(p) : NULL;
    if (!object) return NULL;
    struct csn_str offset = csni_parse_number(p, true);
    while (csni_take(p, '_')) csni_parse_number(p, false);
    csni_take(p, 'p');
    struct csni_itanium_node *n = csni_take(p, 'E') ? csni_make(p, NODE_SUBOBJECT) : NULL;
    if (!n) return NULL;
    n->a = type;
    n->b = object;
    n->text = offset;
    return n;
}

/* ---- vendors' expressions ---- */

/* Microsoft's __uuidof has one operand and no 'E' after it: 't' and a type, or 'z' and an expression. */
static node *parse_uuid_operand(parser *p) {
    if (csni_take(p, 't')) return csni_parse_type(p);
    return csni_take(p, 'z') ? csni_parse_expression(p) : NULL;
}

/* "v", the number of operands, a name: a vendor's operator, such as "__real__". */
static node *parse_vendor_operation(parser *p) {
    int operands = p->at[1] - '0';
    p->at += 2;
    node *name = csni_parse_source_name(p);
    uint32_t base = p->parts.count;
    for (; name && operands; operands--)
        if (!csni_push_part(p, csni_parse_expression(p))) return NULL;
    struct csni_itanium_node *n = name ? csni_make_list(p, NODE_CALL, base) : NULL;
    if (n) n->a = name;
    return with_precedence(n, PREC_POSTFIX);
}

static node *parse_vendor_expression(parser *p) {
    node *name = csni_parse_source_name(p);
    char next = csni_peek(p, 0);
    if (!name) return NULL;
    bool is_uuid = name->text.len == 8 && memcmp(name->text.ptr, "__uuidof", 8) == 0 && (next == 't' || next == 'z');
    struct csni_itanium_node *n;
    if (is_uuid) {
        uint32_t base = p->parts.count;
        if (!csni_push_part(p, parse_uuid_operand(p))) return NULL;
        n = csni_make_list(p, NODE_CALL, base);
    } else {
        n = parse_until_end(p, NODE_CALL, csni_parse_template_arg);
    }
    if (n) n->a = name;
    return with_precedence(n, PREC_POSTFIX);
}

/* ---- all of them ---- */

static node *parse_enclosed(parser *p, const char *word, unsigned precedence) {
    node *operand = csni_parse_expression(p);
    struct csni_itanium_node *n = operand ? with_precedence(csni_make(p, NODE_ENCLOSED), precedence) : NULL;
    if (!n) return NULL;
    n->text = (struct csn_str){ word, strlen(word) };
    n->a = operand;
    return n;
}

/* Codes of two letters that are no operators. *found: the first two bytes are one. */
static node *parse_coded(parser *p, bool *found) {
    static node rethrow = NAME("throw");
    static const char codes[][3] = { "il", "tl", "mc", "nx", "so", "sp", "sZ", "sP", "tr", "tw", "sy" };
    size_t code = 0, count = sizeof(codes) / sizeof(codes[0]);
    while (code < count && !csni_take_two(p, codes[code])) code++;
    *found = code < count;
    switch (code) {
    case 0: return parse_init_list(p, false);
    case 1: return parse_init_list(p, true);
    case 2: return parse_member_pointer_conversion(p);
    case 3: return parse_enclosed(p, "noexcept ", PREC_UNARY);
    case 4: return parse_subobject(p);
    case 5: return csni_make_pair(p, NODE_EXPANSION, csni_parse_expression(p), NULL);
    case 6: return parse_sizeof_pack(p);
    case 7: return parse_sizeof_args(p);
    case 8: return &rethrow;
    case 9: return csni_make_word(p, NODE_PREFIXED, "throw ", csni_parse_expression(p));
    case 10: return csni_parse_pack_index(p, csni_parse_expression);
    default: return NULL;
    }
}

static node *parse_expression(parser *p) {
    bool global = csni_take_two(p, "gs"), found;
    const struct csni_itanium_operator *op = csni_take_operator(p);
    if (op) return parse_operation(p, op, global);
    char c = csni_peek(p, 0), next = csni_peek(p, 1);
    if (!next) return NULL;
    if (c == 'L') return csni_parse_literal(p);
    if (c == 'T') return csni_parse_template_param(p);
    if (c == 'f') {
        bool is_param = next == 'p' || (next == 'L' && csni_is_digit(csni_peek(p, 2)));
        return is_param ? parse_function_param(p) : parse_fold(p);
    }
    if (c == 'r' && (next == 'q' || next == 'Q')) return csni_parse_requires(p);
    if (c == 'v' && csni_is_digit(next)) return parse_vendor_operation(p);
    node *coded = parse_coded(p, &found);
    if (found) return coded;
    return csni_take(p, 'u') ? parse_vendor_expression(p) : csni_parse_unresolved_name(p, global);
}

node *csni_parse_expression(parser *p) {
    bool ambiguous = csni_open_brackets(p);
    return csni_close_brackets(p, ambiguous, csni_leave(p, csni_enter(p) ? parse_expression(p) : NULL));
}

node *csni_parse_constraint(parser *p) {
    bool unknown = p->parameters_unknown;
    p->parameters_unknown = true;
    node *n = csni_parse_expression(p);
    p->parameters_unknown = unknown;
    return n;
}
