/* The parts of a C++ name (Itanium ABI) as a tree. What substitutions refer to is shared, so it is a graph without copies. */
#ifndef CSNI_ITANIUM_NODE_H
#define CSNI_ITANIUM_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include <callsign/base.h>

/* Fields of struct csni_itanium_node that a kind uses stand after it: text, a to d, list, flag. */
enum csni_itanium_kind {
    /* names */
    NODE_NAME,               /* text */
    NODE_OPERATOR,           /* text: the symbol */
    NODE_PREFIXED,           /* text, then a */
    NODE_GLOBAL,             /* ::a */
    NODE_SCOPED,             /* a::b */
    NODE_LOCAL,              /* a::b, a an encoding */
    NODE_FRIEND,             /* a::friend b */
    NODE_MODULE,             /* a, or none, then b; flag: a partition */
    NODE_MODULE_ENTITY,      /* b of module a */
    NODE_ABI_TAG,            /* a[abi:text] */
    NODE_STD,                /* flag: enum csni_itanium_std */
    NODE_TEMPLATE_ID,        /* a, arguments b */
    NODE_TEMPLATE_ARGS,      /* list */
    NODE_STRUCTOR,           /* of class a; flag: a destructor */
    NODE_DESTRUCTOR_NAME,    /* ~a in an expression */
    NODE_UNNAMED_TYPE,       /* text: its number */
    NODE_CLOSURE,            /* list: parameters, a and b: constraints, c: template parameters, d: candidates, text: its number */
    NODE_BINDINGS,           /* list */
    NODE_CONSTRUCTION_VTABLE, /* of a in b */
    NODE_ENCODING,           /* b: the name, a: return type, list: parameters, c: attributes, d: constraint; flag: qualifiers */
    NODE_ENABLE_IF,          /* list */
    NODE_CLONE_SUFFIX,       /* a, text */
    /* types */
    NODE_QUALIFIED,          /* a; flag: qualifiers */
    NODE_VENDOR_QUALIFIED,   /* a, text, arguments b */
    NODE_POSTFIXED,          /* a, then text */
    NODE_ELABORATED,         /* text a */
    NODE_TRANSFORMED,        /* text(a) */
    NODE_BIT_INT,            /* a; flag: signed */
    NODE_BINARY_FLOAT,       /* _Float, a */
    NODE_OBJC_PROTOCOL,      /* a<text> */
    NODE_POINTER,            /* to a */
    NODE_REFERENCE,          /* to a; flag: an rvalue's */
    NODE_MEMBER_POINTER,     /* of class a to b */
    NODE_ARRAY,              /* of a, dimension b */
    NODE_VECTOR,             /* of a, dimension b */
    NODE_PIXEL_VECTOR,       /* dimension a */
    NODE_FUNCTION,           /* list, returns a, exceptions b; flag: qualifiers */
    NODE_NOEXCEPT,           /* a */
    NODE_THROWS,             /* list */
    /* template parameters and packs */
    NODE_INVENTED_PARAM,     /* flag: enum csni_itanium_param, count: its number */
    NODE_QUALIFIED_ARG,      /* a: the declaration, b: the argument */
    NODE_TYPE_PARAM,         /* typename a */
    NODE_CONSTRAINED_PARAM,  /* a: the constraint, b: the name */
    NODE_VALUE_PARAM,        /* b: the type, a: the name */
    NODE_TEMPLATE_PARAM,     /* list, a: the name, b: a constraint */
    NODE_PACK_PARAM,         /* a */
    NODE_PACK,               /* list: what a parameter pack stands for */
    NODE_ARGUMENT_PACK,      /* list */
    NODE_EXPANSION,          /* of a */
    NODE_FORWARD,            /* what `forward` refers to, once that is known */
    NODE_PACK_INDEX,         /* element b of the expansion of a, not known which */
    NODE_LIST,               /* list */
    /* A substitution, never a part of a tree: the type a, which refers to template parameters. Compilers compare what is mangled:
     * in another function's name the same "T_" is that one's parameter, so it is read again there. text: as mangled, count: the
     * scope, 0 inside of constraints; flag: the beginning of a nested name */
    NODE_DEPENDENT,
    /* expressions; those above this line do not look at `precedence` */
    NODE_BINARY,             /* a text b */
    NODE_SUBSCRIPT,          /* a[b] */
    NODE_POSTFIX,            /* a text */
    NODE_PREFIX,             /* text a */
    NODE_CONDITIONAL,        /* a ? b : c */
    NODE_MEMBER,             /* a text b */
    NODE_SUBOBJECT,          /* b.<a at offset text> */
    NODE_ENCLOSED,           /* text(a) */
    NODE_CAST,               /* text<a>(b) */
    NODE_CONVERSION,         /* (a)(list) */
    NODE_SIZEOF_PACK,        /* a */
    NODE_CALL,               /* a(list); flag: (a)(list) */
    NODE_NEW,                /* new(list) a(c); flag: enum csni_itanium_heap */
    NODE_DELETE,             /* a; flag: the same */
    NODE_FUNCTION_PARAM,     /* text: its number */
    NODE_INIT_LIST,          /* a{list} */
    NODE_BRACED,             /* a = b; flag: an array's element */
    NODE_BRACED_RANGE,       /* a ... b = c */
    NODE_FOLD,               /* text: the operator, a: the pack, b: the other operand; flag: left */
    NODE_STRING_LITERAL,     /* of type a */
    NODE_LAMBDA_LITERAL,     /* of type a */
    NODE_ENUM_LITERAL,       /* (a)text */
    NODE_INTEGER,            /* text, of the type that NODE_NAME a names */
    NODE_FLOAT,              /* text: hexadecimal bytes; flag: the letter of the type, or its letter 'D' and a: the type */
    NODE_REQUIRES,           /* c: parameters, list: requirements */
    NODE_EXPRESSION_REQUIREMENT, /* a, constraint b; flag: noexcept */
    NODE_REQUIREMENT,        /* text a; */
};

enum csni_itanium_precedence {
    PREC_PRIMARY, PREC_POSTFIX, PREC_UNARY, PREC_CAST, PREC_MEMBER_POINTER, PREC_MULTIPLICATIVE, PREC_ADDITIVE, PREC_SHIFT,
    PREC_SPACESHIP, PREC_RELATIONAL, PREC_EQUALITY, PREC_AND, PREC_XOR, PREC_OR, PREC_LOGICAL_AND, PREC_LOGICAL_OR,
    PREC_CONDITIONAL, PREC_ASSIGN, PREC_COMMA, PREC_DEFAULT,
};

enum csni_itanium_qualifier {
    QUAL_CONST = 1, QUAL_VOLATILE = 2, QUAL_RESTRICT = 4, QUAL_LVALUE_REF = 8, QUAL_RVALUE_REF = 16
};
enum csni_itanium_std { STD_ALLOCATOR, STD_BASIC_STRING, STD_STRING, STD_ISTREAM, STD_OSTREAM, STD_IOSTREAM, STD_KIND = 7,
                        STD_EXPANDED = 8 };
enum csni_itanium_param { PARAM_TYPE, PARAM_VALUE, PARAM_TEMPLATE };
enum csni_itanium_heap { HEAP_GLOBAL = 1, HEAP_ARRAY = 2, HEAP_BRACES = 4 };

/* Whether a type has a part to the right of the name it declares, is an array or a function. MAYBE: that depends on what a pack
 * or a forward reference stands for. */
enum csni_itanium_answer { ANSWER_NO, ANSWER_YES, ANSWER_MAYBE };

struct csni_itanium_node;
/* A template parameter that was used before its argument was seen. */
struct csni_itanium_forward {
    uint64_t index;
    const struct csni_itanium_node *target;
};

struct csni_itanium_node {
    uint8_t kind, precedence, flag;
    uint8_t has_right : 2, is_array : 2, is_function : 2;
    uint32_t count; /* of list */
    struct csn_str text;
    const struct csni_itanium_node *const *list;
    const struct csni_itanium_node *a, *b;
    union {
        const struct csni_itanium_node *c;
        struct csni_itanium_forward *forward;
    };
    const struct csni_itanium_node *d;
};

typedef const struct csni_itanium_node node; /* read by printers, written by its maker only */

#endif
