/* Writing the tree of a Swift name as text. */
#ifndef CSNI_SWIFT_PRINT_H
#define CSNI_SWIFT_PRINT_H

#include "names/swift/swift_node.h"

enum { CSNI_SWIFT_PRINT_DEPTH_MAX = 768, CSNI_SWIFT_VISITS_MAX = 2000000, CSNI_SWIFT_NAMES_WITHIN_MAX = 8 };

struct csni_swift_printer {
    struct csni_name_memory *memory;
    struct csni_name_text *out;
    uint32_t depth, visits;
    uint32_t names_within; /* how many names the one that is written stands within */
    bool failed;           /* the tree is not as it should be, or a limit was reached */
};

typedef struct csni_swift_printer swift_printer;

static inline void csni_swift_put(swift_printer *p, const char *text) { csni_name_put_text(p->out, text); }

/* Counts a step of work that writes no text. */
static inline bool csni_swift_step(swift_printer *p) {
    if (p->visits++ >= CSNI_SWIFT_VISITS_MAX || p->out->too_long) p->failed = true;
    return !p->failed;
}

/* swift_print.c. A node that is missing is a failure. */
void csni_swift_print(swift_printer *p, const swift_node *node);
/* As the context before a name. The context that could not be written there, but has to follow the name; NULL: all is written. */
const swift_node *csni_swift_print_prefix(swift_printer *p, const swift_node *node);
void csni_swift_print_child(swift_printer *p, const swift_node *node, uint32_t i);
void csni_swift_print_children(swift_printer *p, const swift_node *node, const char *separator);
/* The text of a whole tree; false: it failed. */
bool csni_swift_print_symbol(swift_printer *p, const swift_node *symbol);
/* A name that stands within another one; one that cannot be read is written as it is. */
void csni_swift_print_name_within(swift_printer *p, struct csn_str name);

/* swift_print_entity.c */
const swift_node *csni_swift_print_entity(swift_printer *p, const swift_node *node, bool is_prefix);
bool csni_swift_is_printed_entity(uint32_t kind);

/* swift_print_type.c */
bool csni_swift_print_type(swift_printer *p, const swift_node *node);
void csni_swift_print_function_type(swift_printer *p, const swift_node *labels, const swift_node *type);
void csni_swift_print_signature(swift_printer *p, const swift_node *node);
bool csni_swift_needs_space_before(const swift_node *type);

/* swift_print_impl.c */
bool csni_swift_print_impl(swift_printer *p, const swift_node *node);

/* swift_print_thunk.c */
bool csni_swift_print_thunk(swift_printer *p, const swift_node *node);
void csni_swift_print_specialization(swift_printer *p, const swift_node *node);
void csni_swift_print_parameter_kind(swift_printer *p, uint64_t kind);

#endif
