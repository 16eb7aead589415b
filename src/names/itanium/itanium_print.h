/* From the tree of a C++ name to text. */
#ifndef CSNI_ITANIUM_PRINT_H
#define CSNI_ITANIUM_PRINT_H

#include "names/itanium/itanium_node.h"
#include "names/name_text.h"

/* No pack is being expanded. */
#define CSNI_NO_PACK UINT32_MAX

struct csni_itanium_printer {
    struct csni_name_text *text;
    uint32_t pack_index, pack_count; /* of the expansion that is being written; CSNI_NO_PACK: none has been met */
    uint32_t enclosed;               /* brackets since the last '<'; 0: a '>' would end the template arguments */
    bool in_args;                    /* of a template: LLVM puts brackets around a '>' anywhere else, too */
    uint32_t depth, steps;
    bool failed;                     /* a limit was reached */
    bool as_llvm;                    /* CSN_DEMANGLE_AS_LLVM */
};

/* The part before the declared name, the part after it, both. */
void csni_itanium_print_left(struct csni_itanium_printer *p, node *n);
void csni_itanium_print_right(struct csni_itanium_printer *p, node *n);
void csni_itanium_print(struct csni_itanium_printer *p, node *n);

/* As an operand of an operator: in parentheses where `n` binds no tighter (or `strictly`: less tight) than `precedence`. */
void csni_itanium_print_operand(struct csni_itanium_printer *p, node *n, unsigned precedence, bool strictly);
/* Elements, separated by commas; those without text leave none. */
void csni_itanium_print_list(struct csni_itanium_printer *p, node *n);
/* The expansion of the packs in `n`. */
void csni_itanium_print_expansion(struct csni_itanium_printer *p, node *n);
/* Template parameters, constraints and parameters of a lambda. */
void csni_itanium_print_closure(struct csni_itanium_printer *p, node *n);
/* Kinds from NODE_BINARY on. */
void csni_itanium_print_expression(struct csni_itanium_printer *p, node *n);
/* NODE_FLOAT */
void csni_itanium_print_float(struct csni_name_text *text, node *n);

static inline void csni_itanium_open(struct csni_itanium_printer *p, char c) {
    p->enclosed++;
    csni_name_put_char(p->text, c);
}

static inline void csni_itanium_close(struct csni_itanium_printer *p, char c) {
    p->enclosed--;
    csni_name_put_char(p->text, c);
}

#endif
