/* From the tree of a C++ name to text: expressions. */
#include "names/itanium/itanium_print.h"

#define TEXT(p, literal) csni_name_put((p)->text, literal, sizeof(literal) - 1)

static void print_any(struct csni_itanium_printer *p, node *n) { csni_itanium_print_operand(p, n, PREC_DEFAULT, false); }

static void print_enclosed(struct csni_itanium_printer *p, node *n) {
    csni_itanium_open(p, '(');
    csni_itanium_print(p, n);
    csni_itanium_close(p, ')');
}

static void print_arguments(struct csni_itanium_printer *p, node *list) {
    csni_itanium_open(p, '(');
    csni_itanium_print_list(p, list);
    csni_itanium_close(p, ')');
}

static void print_braces(struct csni_itanium_printer *p, node *list) {
    TEXT(p, "{");
    csni_itanium_print_list(p, list);
    TEXT(p, "}");
}

static bool text_is(struct csn_str text, const char *wanted) {
    return text.len == strlen(wanted) && memcmp(text.ptr, wanted, text.len) == 0;
}

static void print_binary(struct csni_itanium_printer *p, node *n) {
    bool ends_args = (!p->enclosed || (p->as_llvm && !p->in_args)) && (text_is(n->text, ">") || text_is(n->text, ">>"));
    bool assigns = n->precedence == PREC_ASSIGN; /* binds from the right */
    if (ends_args) csni_itanium_open(p, '(');
    csni_itanium_print_operand(p, n->a, assigns ? PREC_LOGICAL_OR : n->precedence, !assigns);
    if (!text_is(n->text, ",")) TEXT(p, " ");
    csni_name_put_str(p->text, n->text);
    TEXT(p, " ");
    csni_itanium_print_operand(p, n->b, n->precedence, assigns);
    if (ends_args) csni_itanium_close(p, ')');
}

static void print_subscript(struct csni_itanium_printer *p, node *n) {
    csni_itanium_print_operand(p, n->a, n->precedence, false);
    csni_itanium_open(p, '[');
    print_any(p, n->b);
    csni_itanium_close(p, ']');
}

static void print_conditional(struct csni_itanium_printer *p, node *n) {
    csni_itanium_print_operand(p, n->a, n->precedence, false);
    TEXT(p, " ? ");
    print_any(p, n->b);
    TEXT(p, " : ");
    csni_itanium_print_operand(p, n->c, PREC_ASSIGN, true);
}

static void print_member(struct csni_itanium_printer *p, node *n) {
    csni_itanium_print_operand(p, n->a, n->precedence, true);
    csni_name_put_str(p->text, n->text);
    csni_itanium_print_operand(p, n->b, n->precedence, false);
}

/* 'n' is the sign of mangled numbers. */
static void print_number(struct csni_itanium_printer *p, struct csn_str number) {
    if (number.len && number.ptr[0] == 'n') {
        TEXT(p, "-");
        number = (struct csn_str){ number.ptr + 1, number.len - 1 };
    }
    csni_name_put_str(p->text, number);
}

static void print_subobject(struct csni_itanium_printer *p, node *n) {
    csni_itanium_print(p, n->b);
    TEXT(p, ".<");
    csni_itanium_print(p, n->a);
    TEXT(p, " at offset ");
    if (n->text.len) print_number(p, n->text);
    else TEXT(p, "0");
    TEXT(p, ">");
}

static void print_cast(struct csni_itanium_printer *p, node *n) {
    uint32_t enclosed = p->enclosed;
    bool in_args = p->in_args;
    csni_name_put_str(p->text, n->text);
    p->enclosed = 0;
    p->in_args = true;
    TEXT(p, "<");
    csni_itanium_print_left(p, n->a);
    if (!p->as_llvm) csni_itanium_print_right(p, n->a); /* which LLVM leaves out */
    TEXT(p, ">");
    p->enclosed = enclosed;
    p->in_args = in_args;
    csni_itanium_open(p, '(');
    print_any(p, n->b);
    csni_itanium_close(p, ')');
}

static void print_sizeof_pack(struct csni_itanium_printer *p, node *n) {
    TEXT(p, "sizeof...");
    csni_itanium_open(p, '(');
    csni_itanium_print_expansion(p, n->a);
    csni_itanium_close(p, ')');
}

static void print_call(struct csni_itanium_printer *p, node *n) {
    if (n->flag) print_enclosed(p, n->a);
    else csni_itanium_print(p, n->a);
    print_arguments(p, n);
}

static void print_heap_word(struct csni_itanium_printer *p, node *n, const char *word) {
    if (n->flag & HEAP_GLOBAL) TEXT(p, "::");
    csni_name_put_text(p->text, word);
    if (n->flag & HEAP_ARRAY) TEXT(p, "[]");
}

static void print_new(struct csni_itanium_printer *p, node *n) {
    print_heap_word(p, n, "new");
    if (n->count) print_arguments(p, n);
    TEXT(p, " ");
    csni_itanium_print(p, n->a);
    if (n->flag & HEAP_BRACES) print_braces(p, n->c);
    else if (n->c->count) print_arguments(p, n->c);
}

static void print_delete(struct csni_itanium_printer *p, node *n) {
    print_heap_word(p, n, "delete");
    TEXT(p, " ");
    csni_itanium_print(p, n->a);
}

/* ---- braces ---- */

static bool hex_follows(unsigned c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

/* A character of a string literal. True: an escape that a digit would continue. */
static bool print_character(struct csni_itanium_printer *p, unsigned c) {
    static const char hex[] = "0123456789ABCDEF", plain[] = "\a\b\f\n\r\t\v\"\\", letters[] = "abfnrtv\"\\";
    const char *found = c ? memchr(plain, (int)c, sizeof(plain) - 1) : NULL;
    if (found || c < 32 || c == 127) TEXT(p, "\\");
    if (found) {
        csni_name_put_char(p->text, letters[found - plain]);
        return false;
    }
    if (c >= 32 && c != 127) {
        csni_name_put_char(p->text, (char)c);
        return false;
    }
    if (c > 7) TEXT(p, "x");
    if (c >= 16) csni_name_put_char(p->text, hex[c >> 4]);
    csni_name_put_char(p->text, hex[c & 15]);
    return true;
}

/* The character that an integer literal is; 256: none. */
static unsigned character_of(node *n) {
    unsigned value = 0;
    if (n->kind != NODE_INTEGER) return 256;
    for (size_t i = 0; i < n->text.len; i++) {
        char c = n->text.ptr[i];
        if (c < '0' || c > '9' || value > 25) return 256;
        value = 10 * value + (unsigned)(c - '0');
    }
    return value > 255 ? 256 : value;
}

/* An array of char, initialized by integers, is a string. */
static bool print_string(struct csni_itanium_printer *p, node *n) {
    for (uint32_t i = 0; i < n->count; i++)
        if (character_of(n->list[i]) > 255) return false;
    TEXT(p, "\"");
    bool escape = false;
    for (uint32_t i = 0; i < n->count; i++) {
        unsigned c = character_of(n->list[i]);
        if (escape && hex_follows(c)) TEXT(p, "\"\"");
        escape = print_character(p, c);
    }
    TEXT(p, "\"");
    return true;
}

static bool is_char_array(node *type) {
    return type && type->kind == NODE_ARRAY && type->a->kind == NODE_NAME && text_is(type->a->text, "char");
}

static void print_init_list(struct csni_itanium_printer *p, node *n) {
    if (is_char_array(n->a) && print_string(p, n)) return;
    if (n->a) csni_itanium_print(p, n->a);
    print_braces(p, n);
}

static void print_initializer(struct csni_itanium_printer *p, node *n) {
    if (n->kind != NODE_BRACED && n->kind != NODE_BRACED_RANGE) TEXT(p, " = ");
    csni_itanium_print(p, n);
}

static void print_braced(struct csni_itanium_printer *p, node *n) {
    csni_name_put_char(p->text, n->flag ? '[' : '.');
    csni_itanium_print(p, n->a);
    if (n->flag) TEXT(p, "]");
    print_initializer(p, n->b);
}

static void print_braced_range(struct csni_itanium_printer *p, node *n) {
    TEXT(p, "[");
    csni_itanium_print(p, n->a);
    TEXT(p, " ... ");
    csni_itanium_print(p, n->b);
    TEXT(p, "]");
    print_initializer(p, n->c);
}

/* ---- folds, requirements, literals ---- */

static void print_fold_pack(struct csni_itanium_printer *p, node *n) {
    csni_itanium_open(p, '(');
    csni_itanium_print_expansion(p, n->a);
    csni_itanium_close(p, ')');
}

static void print_fold_operator(struct csni_itanium_printer *p, node *n) {
    TEXT(p, " ");
    csni_name_put_str(p->text, n->text);
    TEXT(p, " ");
}

/* "(init op ... op pack)" or "(pack op ... op init)", the init with its operator left out where there is none. */
static void print_fold(struct csni_itanium_printer *p, node *n) {
    csni_itanium_open(p, '(');
    if (n->flag && n->b) csni_itanium_print_operand(p, n->b, PREC_CAST, true);
    else if (!n->flag) print_fold_pack(p, n);
    if (!n->flag || n->b) print_fold_operator(p, n);
    TEXT(p, "...");
    if (n->flag || n->b) print_fold_operator(p, n);
    if (n->flag) print_fold_pack(p, n);
    else if (n->b) csni_itanium_print_operand(p, n->b, PREC_CAST, true);
    csni_itanium_close(p, ')');
}

static void print_requires(struct csni_itanium_printer *p, node *n) {
    TEXT(p, "requires");
    if (n->c->count) {
        TEXT(p, " ");
        print_arguments(p, n->c);
    }
    TEXT(p, " ");
    csni_itanium_open(p, '{');
    for (uint32_t i = 0; i < n->count; i++) csni_itanium_print(p, n->list[i]);
    TEXT(p, " ");
    csni_itanium_close(p, '}');
}

static void print_expression_requirement(struct csni_itanium_printer *p, node *n) {
    bool braces = n->flag || n->b;
    TEXT(p, " ");
    if (braces) csni_itanium_open(p, '{');
    csni_itanium_print(p, n->a);
    if (braces) csni_itanium_close(p, '}');
    if (n->flag) TEXT(p, " noexcept");
    if (n->b) {
        TEXT(p, " -> ");
        csni_itanium_print(p, n->b);
    }
    TEXT(p, ";");
}

static void print_lambda_literal(struct csni_itanium_printer *p, node *n) {
    TEXT(p, "[]");
    if (n->a->kind == NODE_CLOSURE) csni_itanium_print_closure(p, n->a);
    TEXT(p, "{...}");
}

/* Suffixes such as "ul" stand after the number, names of types before it. */
static void print_integer(struct csni_itanium_printer *p, node *n) {
    bool is_suffix = n->a->text.len <= 3;
    if (!is_suffix) print_enclosed(p, n->a);
    print_number(p, n->text);
    if (is_suffix) csni_name_put_str(p->text, n->a->text);
}

void csni_itanium_print_expression(struct csni_itanium_printer *p, node *n) {
    switch (n->kind) {
    case NODE_BINARY: print_binary(p, n); return;
    case NODE_SUBSCRIPT: print_subscript(p, n); return;
    case NODE_POSTFIX: csni_itanium_print_operand(p, n->a, n->precedence, true); csni_name_put_str(p->text, n->text); return;
    case NODE_PREFIX: csni_name_put_str(p->text, n->text); csni_itanium_print_operand(p, n->a, n->precedence, false); return;
    case NODE_CONDITIONAL: print_conditional(p, n); return;
    case NODE_MEMBER: print_member(p, n); return;
    case NODE_SUBOBJECT: print_subobject(p, n); return;
    case NODE_ENCLOSED: csni_name_put_str(p->text, n->text); print_enclosed(p, n->a); return;
    case NODE_CAST: print_cast(p, n); return;
    case NODE_CONVERSION: print_enclosed(p, n->a); print_arguments(p, n); return;
    case NODE_SIZEOF_PACK: print_sizeof_pack(p, n); return;
    case NODE_CALL: print_call(p, n); return;
    case NODE_NEW: print_new(p, n); return;
    case NODE_DELETE: print_delete(p, n); return;
    case NODE_FUNCTION_PARAM: TEXT(p, "fp"); csni_name_put_str(p->text, n->text); return;
    case NODE_INIT_LIST: print_init_list(p, n); return;
    case NODE_BRACED: print_braced(p, n); return;
    case NODE_BRACED_RANGE: print_braced_range(p, n); return;
    case NODE_FOLD: print_fold(p, n); return;
    case NODE_STRING_LITERAL: TEXT(p, "\"<"); csni_itanium_print(p, n->a); TEXT(p, ">\""); return;
    case NODE_LAMBDA_LITERAL: print_lambda_literal(p, n); return;
    case NODE_ENUM_LITERAL: print_enclosed(p, n->a); print_number(p, n->text); return;
    case NODE_INTEGER: print_integer(p, n); return;
    case NODE_FLOAT: csni_itanium_print_float(p->text, n); return;
    case NODE_REQUIRES: print_requires(p, n); return;
    case NODE_EXPRESSION_REQUIREMENT: print_expression_requirement(p, n); return;
    case NODE_REQUIREMENT: csni_name_put_str(p->text, n->text); csni_itanium_print(p, n->a); TEXT(p, ";"); return;
    default: p->failed = true; return;
    }
}
