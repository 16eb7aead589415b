/* The parts of a name of Microsoft's C++ compilers as a tree. */
#ifndef CSNI_MSVC_NODE_H
#define CSNI_MSVC_NODE_H

#include <stdbool.h>
#include <stdint.h>

#include <callsign/base.h>

#include "names/name_text.h"

enum csni_msvc_kind {
    /* identifiers; c: template arguments */
    ID_NAME,       /* text */
    ID_STRUCTOR,   /* of class a; flag: a destructor */
    ID_CONVERSION, /* to type a */
    ID_LITERAL,    /* operator "" text */
    ID_DYNAMIC,    /* flag: at exit; a: the variable, or b: the name of a function */
    ID_GUARD,      /* flag: of a thread; numbers[0]: the scope */
    ID_VCALL,      /* numbers[0]: the offset */
    ID_RTTI_BASE,  /* numbers */
    ID_QUALIFIED,  /* list of identifiers, the outermost first */
    /* types; quals */
    TYPE_NAMED,    /* text */
    TYPE_TAG,      /* text: the keyword, a: the name */
    TYPE_CUSTOM,   /* a */
    TYPE_POINTER,  /* to a, member of b; text: '*', '&' or '&&', numbers: of __ptrauth where flag is set */
    TYPE_ARRAY,    /* of a; list: numbers */
    TYPE_FUNCTION, /* returns a, list, flags: enum csni_msvc_function */
    /* symbols; a: the name */
    SYMBOL_FUNCTION, /* b: the type */
    SYMBOL_VARIABLE, /* b: the type, if there is one; text: "public: static " and its like */
    SYMBOL_TABLE,    /* list: the classes it is for */
    SYMBOL_NAME,
    SYMBOL_STRING,   /* text; flag: cut; numbers[0]: the letter before it, or 0 */
    /* template arguments */
    ARG_NUMBER,    /* numbers[0]; flag: negative */
    ARG_SYMBOL,    /* a: the symbol, count: of numbers, flag: a pointer */
    ARG_FLOAT,     /* numbers[0]: its bits; flag: of a double */
    ARG_BRACED,    /* list: values; a: the class, b: the member of a union */
    ARG_ADDRESS,   /* of a; list: numbers of elements and names of members on the way from there */
    ARG_LIST,      /* list */
};

enum csni_msvc_qualifier { Q_CONST = 1, Q_VOLATILE = 2, Q_UNALIGNED = 4, Q_RESTRICT = 8, Q_LVALUE = 16, Q_RVALUE = 32 };

enum csni_msvc_function {
    F_PUBLIC = 1, F_PROTECTED = 2, F_PRIVATE = 4, F_GLOBAL = 8, F_STATIC = 16, F_VIRTUAL = 32, F_EXTERN_C = 64,
    F_NO_PARAMETERS = 128, F_ADJUST = 256, F_VTORDISP = 512, F_VTORDISPEX = 1024, F_VARIADIC = 2048, F_NOEXCEPT = 4096,
    F_THUNK = 8192, F_VOID = 16384 /* no parameters at all */
};

struct csni_msvc_node {
    uint8_t kind, quals;
    bool flag, explicit_object;
    uint8_t convention; /* an index of the table of their names */
    uint32_t flags, count;
    struct csn_str text;
    struct csni_msvc_node *a, *b, *c;
    struct csni_msvc_node **list;
    int64_t numbers[4];
};

enum { CSNI_MSVC_DEPTH_MAX = 512, CSNI_MSVC_STEPS_MAX = 1 << 20 };

struct csni_msvc_printer {
    struct csni_name_text *text;
    uint32_t depth, steps;
    bool failed; /* a limit was reached */
};

void csni_msvc_print(struct csni_msvc_printer *p, const struct csni_msvc_node *n);

#endif
