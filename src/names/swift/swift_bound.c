/* Generic arguments: each level of nested types has a list of its own. */
#include "names/swift/swift_read.h"

enum { NESTING_MAX = 512 };

static swift_node *pop_retroactive(swift_reader *r) {
    swift_node *list = NULL, *conformance;
    while ((conformance = csni_swift_pop_kind(r, SWIFT_RETROACTIVE_CONFORMANCE))) {
        if (!list) list = csni_swift_new(r->memory, SWIFT_TYPE_LIST);
        csni_swift_add(r->memory, list, conformance);
    }
    if (list) csni_swift_reverse(list, 0);
    return list;
}

bool csni_swift_pop_bound(swift_reader *r, struct csni_swift_list *lists, swift_node **conformances) {
    *conformances = pop_retroactive(r);
    for (;;) {
        swift_node *list = csni_swift_new(r->memory, SWIFT_TYPE_LIST), *type;
        if (!list || !csni_swift_push(r->memory, lists, list)) return false;
        while ((type = csni_swift_pop_type(r)))
            if (!csni_swift_add(r->memory, list, type)) return false;
        csni_swift_reverse(list, 0);
        if (csni_swift_pop_kind(r, SWIFT_EMPTY_LIST)) return true;
        if (!csni_swift_pop_kind(r, SWIFT_FIRST_ELEMENT)) return false;
    }
}

static bool takes_arguments(uint32_t kind) {
    return kind != SWIFT_VARIABLE && kind != SWIFT_SUBSCRIPT && kind != SWIFT_CLOSURE && kind != SWIFT_DEFAULT_ARGUMENT &&
           kind != SWIFT_INITIALIZER && kind != SWIFT_STATIC;
}

static swift_node *bind(swift_reader *r, swift_node *nominal, swift_node *arguments) {
    static const uint16_t bound[SWIFT_LAST_CONTEXT + 1] = {
        [SWIFT_CLASS] = SWIFT_BOUND_CLASS,           [SWIFT_STRUCTURE] = SWIFT_BOUND_STRUCTURE,
        [SWIFT_ENUM] = SWIFT_BOUND_ENUM,             [SWIFT_PROTOCOL] = SWIFT_BOUND_PROTOCOL,
        [SWIFT_TYPE_ALIAS] = SWIFT_BOUND_TYPE_ALIAS, [SWIFT_OTHER_NOMINAL] = SWIFT_BOUND_OTHER_NOMINAL,
        [SWIFT_FUNCTION] = SWIFT_BOUND_FUNCTION,     [SWIFT_CONSTRUCTOR] = SWIFT_BOUND_FUNCTION,
    };
    uint16_t kind = nominal->kind <= SWIFT_LAST_CONTEXT ? bound[nominal->kind] : 0;
    if (!kind) return NULL;
    if (kind != SWIFT_BOUND_FUNCTION) nominal = csni_swift_type(r, nominal);
    return csni_swift_with2(r->memory, kind, NULL, nominal, arguments);
}

static swift_node *bind_levels(swift_reader *r, swift_node *nominal, const struct csni_swift_list *lists, uint32_t i,
                               uint32_t depth);

/* The same declaration in a context that has its arguments. */
static swift_node *with_bound_context(swift_reader *r, swift_node *nominal, const struct csni_swift_list *lists, uint32_t i,
                                      uint32_t depth) {
    swift_node *context = csni_swift_child(nominal, 0), *bound;
    if (context->kind == SWIFT_EXTENSION) {
        swift_node *extended = bind_levels(r, csni_swift_child(context, 1), lists, i, depth + 1);
        bound = csni_swift_with2(r->memory, SWIFT_EXTENSION, NULL, csni_swift_child(context, 0), extended);
        csni_swift_add(r->memory, bound, csni_swift_child(context, 2));
    } else {
        bound = bind_levels(r, context, lists, i, depth + 1);
    }
    swift_node *out = csni_swift_with1(r->memory, nominal->kind, nominal->label, bound);
    for (uint32_t child = 1; child < csni_swift_count(nominal); child++)
        out = csni_swift_add(r->memory, out, csni_swift_child(nominal, child));
    return out;
}

static swift_node *bind_levels(swift_reader *r, swift_node *nominal, const struct csni_swift_list *lists, uint32_t i,
                               uint32_t depth) {
    if (!nominal || i >= lists->count || !csni_swift_count(nominal) || depth > NESTING_MAX) return NULL;
    swift_node *arguments = lists->at[i];
    bool takes = takes_arguments(nominal->kind);
    if (takes) i++;
    if (i < lists->count) nominal = with_bound_context(r, nominal, lists, i, depth);
    return nominal && takes && csni_swift_count(arguments) ? bind(r, nominal, arguments) : nominal;
}

swift_node *csni_swift_bound_type(swift_reader *r) {
    struct csni_swift_list lists = { 0 };
    swift_node *conformances;
    if (!csni_swift_pop_bound(r, &lists, &conformances)) return NULL;
    swift_node *bound = bind_levels(r, csni_swift_pop_nominal(r), &lists, 0, 0);
    csni_swift_add(r->memory, bound, conformances);
    swift_node *type = csni_swift_type(r, bound);
    csni_swift_substitute(r, type);
    return type;
}
