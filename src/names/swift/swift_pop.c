/* Taking nodes from the stack of a Swift name's reader. */
#include "names/swift/swift_read.h"

swift_node *csni_swift_pop(swift_reader *r) { return r->stack.count ? r->stack.at[--r->stack.count] : NULL; }

swift_node *csni_swift_pop_kind(swift_reader *r, enum csni_swift_kind kind) {
    return r->stack.count && r->stack.at[r->stack.count - 1]->kind == kind ? csni_swift_pop(r) : NULL;
}

swift_node *csni_swift_pop_if(swift_reader *r, bool (*wanted)(uint32_t kind)) {
    return r->stack.count && wanted(r->stack.at[r->stack.count - 1]->kind) ? csni_swift_pop(r) : NULL;
}

swift_node *csni_swift_pop_name(swift_reader *r) { return csni_swift_pop_if(r, csni_swift_is_name); }
swift_node *csni_swift_pop_entity(swift_reader *r) { return csni_swift_pop_if(r, csni_swift_is_entity); }
swift_node *csni_swift_pop_type(swift_reader *r) { return csni_swift_pop_kind(r, SWIFT_TYPE); }
swift_node *csni_swift_pop_signature(swift_reader *r) { return csni_swift_pop_kind(r, SWIFT_GENERIC_SIGNATURE); }

swift_node *csni_swift_pop_module(swift_reader *r) {
    swift_node *name = csni_swift_pop_kind(r, SWIFT_IDENTIFIER);
    return name ? csni_swift_new_text(r->memory, SWIFT_MODULE, name->text) : csni_swift_pop_kind(r, SWIFT_MODULE);
}

swift_node *csni_swift_pop_context(swift_reader *r) {
    swift_node *module = csni_swift_pop_module(r);
    if (module) return module;
    swift_node *type = csni_swift_pop_type(r);
    if (!type) return csni_swift_pop_if(r, csni_swift_is_context);
    swift_node *child = csni_swift_child(type, 0);
    return csni_swift_count(type) == 1 && csni_swift_is_context(child->kind) ? child : NULL;
}

swift_node *csni_swift_pop_type_child(swift_reader *r) {
    swift_node *type = csni_swift_pop_type(r);
    return type && csni_swift_count(type) == 1 ? csni_swift_child(type, 0) : NULL;
}

swift_node *csni_swift_pop_nominal(swift_reader *r) {
    swift_node *child = csni_swift_pop_type_child(r);
    return child && csni_swift_is_nominal(child->kind) ? child : NULL;
}

swift_node *csni_swift_pop_protocol(swift_reader *r) {
    swift_node *type = csni_swift_pop_type(r);
    if (type) return csni_swift_is(csni_swift_child(type, 0), SWIFT_PROTOCOL) ? type : NULL;
    swift_node *name = csni_swift_pop_name(r), *context = csni_swift_pop_context(r);
    return csni_swift_type(r, csni_swift_with2(r->memory, SWIFT_PROTOCOL, NULL, context, name));
}

swift_node *csni_swift_pop_list(swift_reader *r, swift_node *list, swift_node *(*pop)(swift_reader *)) {
    if (!list || csni_swift_pop_kind(r, SWIFT_EMPTY_LIST)) return list;
    for (bool first = false; !first;) {
        first = csni_swift_pop_kind(r, SWIFT_FIRST_ELEMENT) != NULL;
        if (!csni_swift_add(r->memory, list, pop(r))) return NULL;
    }
    csni_swift_reverse(list, 0);
    return list;
}

swift_node *csni_swift_pop_type_list(swift_reader *r) {
    return csni_swift_pop_list(r, csni_swift_new(r->memory, SWIFT_TYPE_LIST), csni_swift_pop_type);
}
