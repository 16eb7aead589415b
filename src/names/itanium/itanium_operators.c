/* Operators by their two letters (Itanium C++ ABI, 5.1.3.3, 5.1.6). */
#include "base/core/search.h"
#include "names/itanium/itanium_parse.h"

static const struct csni_itanium_operator operators[] = { /* in the order of their codes */
    { "aN", OP_BINARY, PREC_ASSIGN, false, "&=" },
    { "aS", OP_BINARY, PREC_ASSIGN, false, "=" },
    { "aa", OP_BINARY, PREC_LOGICAL_AND, false, "&&" },
    { "ad", OP_PREFIX, PREC_UNARY, false, "&" },
    { "an", OP_BINARY, PREC_AND, false, "&" },
    { "at", OP_OF_TYPE, PREC_UNARY, false, "alignof " },
    { "aw", OP_NAME_ONLY, PREC_PRIMARY, false, "co_await" },
    { "az", OP_OF_EXPRESSION, PREC_UNARY, false, "alignof " },
    { "cc", OP_CAST, PREC_POSTFIX, false, "const_cast" },
    { "cl", OP_CALL, PREC_POSTFIX, false, "()" },
    { "cm", OP_BINARY, PREC_COMMA, false, "," },
    { "co", OP_PREFIX, PREC_UNARY, false, "~" },
    { "cp", OP_CALL, PREC_POSTFIX, true, "()" },
    { "cv", OP_CONVERSION, PREC_CAST, false, "" },
    { "dV", OP_BINARY, PREC_ASSIGN, false, "/=" },
    { "da", OP_DELETE, PREC_UNARY, true, "delete[]" },
    { "dc", OP_CAST, PREC_POSTFIX, false, "dynamic_cast" },
    { "de", OP_PREFIX, PREC_UNARY, false, "*" },
    { "dl", OP_DELETE, PREC_UNARY, false, "delete" },
    { "ds", OP_MEMBER, PREC_MEMBER_POINTER, false, ".*" },
    { "dt", OP_MEMBER, PREC_POSTFIX, false, "." },
    { "dv", OP_BINARY, PREC_ASSIGN, false, "/" },
    { "eO", OP_BINARY, PREC_ASSIGN, false, "^=" },
    { "eo", OP_BINARY, PREC_XOR, false, "^" },
    { "eq", OP_BINARY, PREC_EQUALITY, false, "==" },
    { "ge", OP_BINARY, PREC_RELATIONAL, false, ">=" },
    { "gt", OP_BINARY, PREC_RELATIONAL, false, ">" },
    { "ix", OP_SUBSCRIPT, PREC_POSTFIX, false, "[]" },
    { "lS", OP_BINARY, PREC_ASSIGN, false, "<<=" },
    { "le", OP_BINARY, PREC_RELATIONAL, false, "<=" },
    { "ls", OP_BINARY, PREC_SHIFT, false, "<<" },
    { "lt", OP_BINARY, PREC_RELATIONAL, false, "<" },
    { "mI", OP_BINARY, PREC_ASSIGN, false, "-=" },
    { "mL", OP_BINARY, PREC_ASSIGN, false, "*=" },
    { "mi", OP_BINARY, PREC_ADDITIVE, false, "-" },
    { "ml", OP_BINARY, PREC_MULTIPLICATIVE, false, "*" },
    { "mm", OP_POSTFIX, PREC_POSTFIX, false, "--" },
    { "na", OP_NEW, PREC_UNARY, true, "new[]" },
    { "ne", OP_BINARY, PREC_EQUALITY, false, "!=" },
    { "ng", OP_PREFIX, PREC_UNARY, false, "-" },
    { "nt", OP_PREFIX, PREC_UNARY, false, "!" },
    { "nw", OP_NEW, PREC_UNARY, false, "new" },
    { "oR", OP_BINARY, PREC_ASSIGN, false, "|=" },
    { "oo", OP_BINARY, PREC_LOGICAL_OR, false, "||" },
    { "or", OP_BINARY, PREC_OR, false, "|" },
    { "pL", OP_BINARY, PREC_ASSIGN, false, "+=" },
    { "pl", OP_BINARY, PREC_ADDITIVE, false, "+" },
    { "pm", OP_MEMBER, PREC_MEMBER_POINTER, true, "->*" },
    { "pp", OP_POSTFIX, PREC_POSTFIX, false, "++" },
    { "ps", OP_PREFIX, PREC_UNARY, false, "+" },
    { "pt", OP_MEMBER, PREC_POSTFIX, true, "->" },
    { "qu", OP_CONDITIONAL, PREC_CONDITIONAL, false, "?" },
    { "rM", OP_BINARY, PREC_ASSIGN, false, "%=" },
    { "rS", OP_BINARY, PREC_ASSIGN, false, ">>=" },
    { "rc", OP_CAST, PREC_POSTFIX, false, "reinterpret_cast" },
    { "rm", OP_BINARY, PREC_MULTIPLICATIVE, false, "%" },
    { "rs", OP_BINARY, PREC_SHIFT, false, ">>" },
    { "sc", OP_CAST, PREC_POSTFIX, false, "static_cast" },
    { "ss", OP_BINARY, PREC_SPACESHIP, false, "<=>" },
    { "st", OP_OF_TYPE, PREC_UNARY, false, "sizeof " },
    { "sz", OP_OF_EXPRESSION, PREC_UNARY, false, "sizeof " },
    { "te", OP_OF_EXPRESSION, PREC_POSTFIX, false, "typeid " },
    { "ti", OP_OF_TYPE, PREC_POSTFIX, false, "typeid " },
};

static unsigned code_of(const char code[2]) { return (unsigned)(uint8_t)code[0] << 8 | (uint8_t)code[1]; }

static inline bool is_code_below(const void *context, size_t index, const void *key) {
    const struct csni_itanium_operator *all = context;
    return code_of(all[index].code) < *(const unsigned *)key;
}

const struct csni_itanium_operator *csni_take_operator(parser *p) {
    if (p->end - p->at < 2 || *p->at < 'a' || *p->at > 't') return NULL;
    unsigned wanted = code_of(p->at);
    size_t count = sizeof(operators) / sizeof(operators[0]);
    size_t found = csni_search_in(0, count, is_code_below, operators, &wanted);
    if (found == count || code_of(operators[found].code) != wanted) return NULL;
    p->at += 2;
    return &operators[found];
}
