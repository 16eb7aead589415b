/* From a mangled C++ name to its tree. One function per production of the ABI's grammar; the grammar is a circle, and so are its
 * files, which meet here: names, types, templates, expressions. Each returns NULL where the name does not follow the grammar. */
#ifndef CSNI_ITANIUM_PARSE_H
#define CSNI_ITANIUM_PARSE_H

#include <string.h>

#include "names/itanium/itanium_node.h"
#include "names/name_memory.h"

struct csni_itanium_parser {
    const char *at, *end;
    struct csni_name_memory *memory;
    struct csni_name_stack parts;         /* of lists that are being read */
    struct csni_name_stack substitutions; /* S_, S0_, ... */
    struct csni_name_stack outer;         /* arguments of the template that is being named: T_, T0_, ... */
    struct csni_name_stack levels;        /* of struct csni_name_stack: parameters by depth, TL0_; NULL where they are unknown */
    uint32_t level_base;                  /* the first of `levels` that the current encoding sees */
    struct csni_name_stack forwards;      /* of struct csni_itanium_forward without a target */
    size_t lambda_level;                  /* the level whose parameters "auto" stands for; SIZE_MAX: none */
    uint32_t invented[3];                 /* parameters by enum csni_itanium_param */
    uint32_t depth;
    uint32_t scope, scope_count;          /* parameters refer to the same arguments within one scope */
    const char *last_param;               /* where the last template parameter is, or a type with one; as_llvm: nowhere */
    uint32_t reread;                      /* bytes of dependent types that were read again */
    uint32_t parameters_met;              /* parameters of templates and functions, and types with any, so far */
    bool args_ambiguous;                  /* in the type of a conversion operator: arguments that follow may be the operator's */
    bool args_chosen;                     /* such arguments were met */
    uint8_t args_choice;                  /* enum csni_itanium_args */
    bool forward_allowed;
    bool in_own_args;                     /* of the template that is being named: they cannot refer to its parameters */
    bool as_llvm;                         /* CSN_DEMANGLE_AS_LLVM */
    uint8_t dialect;                      /* enum csni_itanium_dialect */
    bool dialect_matters;                 /* something was met that compilers mangle in different ways */
    bool may_be_split;                    /* an own argument is a class, which old packs may follow */
    bool dialect_wrong;                   /* what was read makes no sense in this dialect */
    node *closure_prefix;                 /* the last variable that a lambda belongs to ("1xM"), where it is a candidate */
    bool parameters_unknown;              /* inside a constraint, where levels are not followed */
};

/* Whose template arguments are that follow a substitution or a parameter in the type of a conversion operator:
 * "cvPS_IiE" is "X<int>*" of an operator without arguments, or "X*" of one with them. The grammar does not tell. */
enum csni_itanium_args {
    ARGS_OF_TEMPLATES, /* the type's after what is known as a template, otherwise the operator's */
    ARGS_OF_OPERATOR,
    ARGS_OF_TYPE,
    ARGS_CHOICES
};

/* Where compilers differ from the ABI; the grammar does not tell which one made a name. */
enum csni_itanium_dialect {
    DIALECT_ABI,
    DIALECT_GCC,    /* "sr" is followed by any type, not by names up to 'E' */
    DIALECT_GCC_12, /* and before: a variable that a lambda belongs to is no candidate for substitution either */
    DIALECT_GCC_4,  /* and before: packs begin with 'I', and "Dn" is a candidate */
    DIALECT_GCC_4_PACKS, /* "3FooIiEE" is a class and a pack where the ABI has a class template's instance */
    DIALECTS
};

/* What a name shows of the function type that may follow. */
struct csni_itanium_traits {
    uint32_t forward_base;
    uint8_t qualifiers;
    bool without_return_type;
    bool ends_with_args;
    bool explicit_object;
};

typedef struct csni_itanium_parser parser;

static inline char csni_peek(const parser *p, size_t ahead) {
    return (size_t)(p->end - p->at) > ahead ? p->at[ahead] : 0;
}

static inline bool csni_take(parser *p, char c) {
    if (p->at == p->end || *p->at != c) return false;
    p->at++;
    return true;
}

static inline bool csni_take_two(parser *p, const char two[2]) {
    if (p->end - p->at < 2 || p->at[0] != two[0] || p->at[1] != two[1]) return false;
    p->at += 2;
    return true;
}

static inline bool csni_is_digit(char c) { return c >= '0' && c <= '9'; }

/* Deeper nesting than any compiler's is refused: 0.3 MB of stack. */
enum { CSNI_ITANIUM_DEPTH_MAX = 1024 };

static inline bool csni_enter(parser *p) { return ++p->depth <= CSNI_ITANIUM_DEPTH_MAX; }
static inline node *csni_leave(parser *p, node *n) {
    p->depth--;
    return n;
}

/* ---- makers: NULL when out of memory, or where a part is NULL ---- */

struct csni_itanium_node *csni_make(parser *p, enum csni_itanium_kind kind);
node *csni_make_pair(parser *p, enum csni_itanium_kind kind, node *a, node *b);
struct csni_itanium_node *csni_make_text(parser *p, enum csni_itanium_kind kind, struct csn_str text, node *a);
node *csni_make_word(parser *p, enum csni_itanium_kind kind, const char *word, node *a);
/* The parts since `base`, which are taken away from the stack. */
struct csni_itanium_node *csni_make_list(parser *p, enum csni_itanium_kind kind, uint32_t base);
node *csni_name_node(parser *p, struct csn_str text);
/* NULL stays NULL. */
node *csni_add_substitution(parser *p, node *n);
node *csni_add_dependent(parser *p, node *n, const char *begin, bool is_prefix);
/* Of the type between `begin` and where the parser is. */
static inline node *csni_add_type_substitution(parser *p, node *n, const char *begin) {
    return p->last_param < begin ? csni_add_substitution(p, n) : csni_add_dependent(p, n, begin, false);
}
/* Of the first parts of a nested name, which begin there. */
static inline node *csni_add_prefix_substitution(parser *p, node *n, const char *begin) {
    return p->last_param < begin ? csni_add_substitution(p, n) : csni_add_dependent(p, n, begin, true);
}
bool csni_push_part(parser *p, node *n);
/* A function's parameter that begins with `first`. One that repeats a type with "const" is none: those are mangled without. */
static inline bool csni_push_function_param(parser *p, node *n, char first) {
    if (n && first == 'S' && n->kind == NODE_QUALIFIED) p->dialect_wrong = true;
    return csni_push_part(p, n);
}

/* ---- tokens ---- */

bool csni_parse_count(parser *p, size_t *out);                     /* 2^31 - 1 stands for all that are larger, too */
struct csn_str csni_parse_number(parser *p, bool may_be_negative); /* empty: there is none */
struct csn_str csni_parse_identifier(parser *p);                   /* the same */
unsigned csni_parse_qualifiers(parser *p);
void csni_skip_discriminator(parser *p);
bool csni_parse_sequence_id(parser *p, size_t *out);

/* ---- productions ---- */

node *csni_parse_encoding(parser *p);
node *csni_parse_name(parser *p, struct csni_itanium_traits *traits);
node *csni_parse_prefix(parser *p); /* of a nested name, up to the end */
node *csni_parse_unscoped_name(parser *p, struct csni_itanium_traits *traits, bool *is_substitution);
node *csni_parse_source_name(parser *p);
node *csni_parse_operator_name(parser *p, struct csni_itanium_traits *traits);
node *csni_parse_unnamed_type(parser *p, struct csni_itanium_traits *traits);

node *csni_parse_type(parser *p);
static inline void csni_new_scope(parser *p) { p->scope = ++p->scope_count; }
/* Inside of brackets, what follows a part of the type belongs to that part. Gives what csni_close_brackets() takes. */
static inline bool csni_open_brackets(parser *p) {
    bool ambiguous = p->args_ambiguous;
    p->args_ambiguous = false;
    return ambiguous;
}
static inline node *csni_close_brackets(parser *p, bool ambiguous, node *n) {
    p->args_ambiguous = ambiguous;
    return n;
}
node *csni_parse_decltype(parser *p);
/* After "Dy" and "sy": a pack, or the arguments it stands for, and which of them. */
node *csni_parse_pack_index(parser *p, node *(*parse)(parser *));
node *csni_parse_argument_pack(parser *p);

node *csni_parse_substitution(parser *p);
/* The candidate that a type whose name began at `begin`, when there were `count` of them, would be repeated as. NULL: it is builtin. */
node *csni_candidate_of(parser *p, const char *begin, uint32_t count);
node *csni_parse_abi_tags(parser *p, node *n);
bool csni_starts_param_declaration(const parser *p);
node *csni_parse_param_declaration(parser *p, struct csni_name_stack *params);
node *csni_parse_template_param(parser *p);
node *csni_parse_template_arg(parser *p);
node *csni_parse_template_args(parser *p, bool of_encoding);

node *csni_parse_expression(parser *p);
node *csni_parse_literal(parser *p);
node *csni_parse_constraint(parser *p);
node *csni_parse_unresolved_name(parser *p, bool global);
node *csni_parse_requires(parser *p);

/* ---- operators ---- */

enum csni_itanium_operator_kind {
    OP_PREFIX, OP_POSTFIX, OP_BINARY, OP_SUBSCRIPT, OP_MEMBER, OP_NEW, OP_DELETE, OP_CALL, OP_CONVERSION, OP_CONDITIONAL,
    OP_NAME_ONLY, OP_CAST, OP_OF_TYPE, OP_OF_EXPRESSION /* from OP_CAST on, no function can be named so */
};

struct csni_itanium_operator {
    char code[3];
    uint8_t kind, precedence;
    bool flag; /* of arrays; a call in parentheses; a member operator that can be named */
    const char *symbol;
};

/* The operator whose code comes next, taken; NULL: there is none. */
const struct csni_itanium_operator *csni_take_operator(parser *p);

#endif
