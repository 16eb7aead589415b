/* Types: of the compiler, nominal, special ones. */
#include <stdio.h>

#include "names/swift/swift_read.h"

/* A name with a number in it. */
static swift_node *numbered(swift_reader *r, const char *before, int32_t number, struct csn_str after) {
    size_t cap = strlen(before) + 12 + after.len;
    char *text = csni_name_alloc(r->memory, cap);
    if (!text) return NULL;
    int len = snprintf(text, cap, "%s%d", before, (int)number);
    memcpy(text + len, after.ptr, after.len);
    return csni_swift_new_text(r->memory, SWIFT_BUILTIN, (struct csn_str){ text, (size_t)len + after.len });
}

enum { BUILTIN_SIZE_MAX = 4096 };

static swift_node *sized_builtin(swift_reader *r, const char *name) {
    int32_t size = csni_swift_index(r) - 1;
    return size > 0 && size <= BUILTIN_SIZE_MAX ? numbered(r, name, size, (struct csn_str){ "", 0 }) : NULL;
}

static swift_node *vector(swift_reader *r) {
    static const char prefix[] = "Builtin.";
    size_t len = sizeof(prefix) - 1;
    int32_t count = csni_swift_index(r) - 1;
    if (count <= 0 || count > BUILTIN_SIZE_MAX) return NULL;
    swift_node *element = csni_swift_pop_type_child(r);
    if (!csni_swift_is(element, SWIFT_BUILTIN)) return NULL;
    struct csn_str name = element->text;
    char *text = csni_name_alloc(r->memory, name.len);
    if (!text || name.len <= len || memcmp(name.ptr, prefix, len) != 0) return NULL;
    text[0] = 'x';
    memcpy(text + 1, name.ptr + len, name.len - len);
    return numbered(r, "Builtin.Vec", count, (struct csn_str){ text, name.len - len + 1 });
}

swift_node *csni_swift_builtin(swift_reader *r) {
    static const struct { char letter; const char *name; } names[] = {
        { 'A', "Builtin.ImplicitActor" },     { 'b', "Builtin.BridgeObject" },
        { 'B', "Builtin.UnsafeValueBuffer" }, { 'e', "Builtin.Executor" },
        { 'I', "Builtin.IntLiteral" },        { 'O', "Builtin.UnknownObject" },
        { 'o', "Builtin.NativeObject" },      { 'p', "Builtin.RawPointer" },
        { 'j', "Builtin.Job" },               { 'D', "Builtin.DefaultActorStorage" },
        { 'c', "Builtin.RawUnsafeContinuation" }, { 'd', "Builtin.NonDefaultDistributedActorStorage" },
        { 't', "Builtin.SILToken" },          { 'w', "Builtin.Word" },
        { 'P', "Builtin.PackIndex" },
    };
    char letter = csni_swift_next(r);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (names[i].letter != letter) continue;
        struct csn_str name = { names[i].name, strlen(names[i].name) };
        return csni_swift_type(r, csni_swift_new_text(r->memory, SWIFT_BUILTIN, name));
    }
    switch (letter) {
    case 'f': return csni_swift_type(r, sized_builtin(r, "Builtin.FPIEEE"));
    case 'i': return csni_swift_type(r, sized_builtin(r, "Builtin.Int"));
    case 'v': return csni_swift_type(r, vector(r));
    case 'T': return csni_swift_type(r, csni_swift_new(r->memory, SWIFT_BUILTIN_TUPLE));
    case 'V': {
        swift_node *element = csni_swift_pop_type(r), *size = csni_swift_pop_type(r);
        return csni_swift_type(r, csni_swift_with2(r->memory, SWIFT_SIMPLE_PHRASE, "Builtin.FixedArray<%0, %1>", size, element));
    }
    default: return NULL;
    }
}

swift_node *csni_swift_nominal(swift_reader *r, enum csni_swift_kind kind) {
    swift_node *name = csni_swift_pop_name(r), *context = csni_swift_pop_context(r);
    swift_node *type = csni_swift_type(r, csni_swift_with2(r->memory, kind, NULL, context, name));
    csni_swift_substitute(r, type);
    return type;
}

swift_node *csni_swift_protocol_list(swift_reader *r) {
    swift_node *list = csni_swift_pop_list(r, csni_swift_new(r->memory, SWIFT_TYPE_LIST), csni_swift_pop_protocol);
    return csni_swift_with1(r->memory, SWIFT_PROTOCOL_LIST, NULL, list);
}

swift_node *csni_swift_integer(swift_reader *r) {
    if (csni_swift_take(r, 'n')) {
        uint64_t index = (uint64_t)-(int64_t)csni_swift_index(r);
        return csni_swift_type(r, csni_swift_new_index(r->memory, SWIFT_NEGATIVE_INTEGER, index));
    }
    return csni_swift_type(r, csni_swift_new_index(r->memory, SWIFT_INTEGER, (uint64_t)(int64_t)csni_swift_index(r)));
}

static swift_node *wrapped(swift_reader *r, const char *label) {
    return csni_swift_type(r, csni_swift_phrase(r, label, csni_swift_pop_type_child(r)));
}

static swift_node *differentiable(swift_reader *r) {
    char kind = csni_swift_next(r);
    if (!kind || !strchr("frdl", kind)) return NULL;
    return csni_swift_new_index(r->memory, SWIFT_DIFFERENTIABLE, (uint64_t)kind);
}

swift_node *csni_swift_annotation(swift_reader *r) {
    switch (csni_swift_next(r)) {
    case 'a': return csni_swift_new(r->memory, SWIFT_ASYNC);
    case 'A': return csni_swift_new(r->memory, SWIFT_ISOLATED_ANY);
    case 'b': return csni_swift_new(r->memory, SWIFT_SENDABLE);
    case 'c': return csni_swift_with1(r->memory, SWIFT_GLOBAL_ACTOR, NULL, csni_swift_pop_type_child(r));
    case 'C': return csni_swift_new(r->memory, SWIFT_NONISOLATED_CALLER);
    case 'i': return wrapped(r, "isolated %0");
    case 'j': return differentiable(r);
    case 'k': return wrapped(r, "@noDerivative %0");
    case 'K': return csni_swift_with1(r->memory, SWIFT_TYPED_THROWS, NULL, csni_swift_pop_type_child(r));
    case 't': return wrapped(r, "_const %0");
    case 'g': return wrapped(r, "@const %0");
    case 'T': return csni_swift_new(r->memory, SWIFT_SENDING_RESULT);
    case 'u': return wrapped(r, "sending %0");
    default: return NULL;
    }
}

static swift_node *metatype_representation(swift_reader *r) {
    const char *label;
    switch (csni_swift_next(r)) {
    case 't': label = "@thin"; break;
    case 'T': label = "@thick"; break;
    case 'o': label = "@objc_metatype"; break;
    default: return NULL;
    }
    return csni_swift_new_label(r->memory, SWIFT_METATYPE_REPRESENTATION, label);
}

static swift_node *represented_metatype(swift_reader *r, enum csni_swift_kind kind) {
    swift_node *representation = metatype_representation(r), *type = csni_swift_pop_type(r);
    return csni_swift_type(r, csni_swift_with2(r->memory, kind, NULL, representation, type));
}

static swift_node *pop_requirement(swift_reader *r) { return csni_swift_pop_if(r, csni_swift_is_requirement); }

static swift_node *constrained_existential(swift_reader *r) {
    swift_node *list = csni_swift_new(r->memory, SWIFT_REQUIREMENT_LIST);
    for (bool first = false; !first;) {
        first = csni_swift_pop_kind(r, SWIFT_FIRST_ELEMENT) != NULL;
        if (!csni_swift_add(r->memory, list, pop_requirement(r))) return NULL;
    }
    csni_swift_reverse(list, 0);
    swift_node *base = csni_swift_pop_type(r);
    return csni_swift_type(r, csni_swift_with2(r->memory, SWIFT_PHRASE, "any %0<%1>", base, list));
}

/* A box of the intermediate language: each field is "let" or, where its type is "inout", "var". */
static swift_node *box(swift_reader *r, bool is_generic) {
    swift_node *signature = is_generic ? csni_swift_pop_signature(r) : NULL;
    swift_node *arguments = is_generic && signature ? csni_swift_pop_type_list(r) : NULL;
    if (is_generic && !arguments) return NULL;
    swift_node *fields = csni_swift_pop_type_list(r), *layout = csni_swift_new(r->memory, SWIFT_BOX_LAYOUT);
    if (!fields) return NULL;
    for (uint32_t i = 0; i < csni_swift_count(fields); i++) {
        swift_node *type = csni_swift_child(fields, i), *within = csni_swift_child(type, 0);
        bool is_mutable = csni_swift_is(within, SWIFT_IN_OUT);
        if (is_mutable) type = csni_swift_type(r, csni_swift_child(within, 0));
        if (!csni_swift_add(r->memory, layout, csni_swift_phrase(r, is_mutable ? "var %0" : "let %0", type))) return NULL;
    }
    swift_node *box = csni_swift_with1(r->memory, SWIFT_BOX_WITH_LAYOUT, NULL, layout);
    if (is_generic) box = csni_swift_add(r->memory, csni_swift_add(r->memory, box, signature), arguments);
    return csni_swift_type(r, box);
}

static swift_node *anonymous_context(swift_reader *r) {
    swift_node *types = csni_swift_pop_type_list(r);
    swift_node *name = csni_swift_pop_kind(r, SWIFT_IDENTIFIER), *parent = csni_swift_pop_context(r);
    return csni_swift_with3(r->memory, SWIFT_ANONYMOUS_CONTEXT, NULL, name, parent, types);
}

/* As a debugger has them. */
static swift_node *sugared(swift_reader *r) {
    char kind = csni_swift_next(r);
    if (!kind || !strchr("qapAD", kind)) return NULL;
    swift_node *last = csni_swift_pop_type(r);
    if (kind == 'q') return csni_swift_type(r, csni_swift_with1(r->memory, SWIFT_SUGARED_OPTIONAL, NULL, last));
    if (kind == 'a') return csni_swift_type(r, csni_swift_with1(r->memory, SWIFT_SIMPLE_PHRASE, "[%0]", last));
    if (kind == 'p') return csni_swift_type(r, csni_swift_with1(r->memory, SWIFT_SIMPLE_PHRASE, "(%0)", last));
    const char *label = kind == 'A' ? "[%0 of %1]" : "[%0 : %1]";
    return csni_swift_type(r, csni_swift_with2(r->memory, SWIFT_SIMPLE_PHRASE, label, csni_swift_pop_type(r), last));
}

static swift_node *wrapped_type(swift_reader *r, enum csni_swift_kind kind, const char *label) {
    return csni_swift_type(r, csni_swift_with1(r->memory, kind, label, csni_swift_pop_type(r)));
}

static swift_node *with_clang_type(swift_reader *r) {
    switch (csni_swift_next(r)) {
    case 'B': return csni_swift_pop_function_type(r, SWIFT_OBJC_BLOCK, NULL, true);
    case 'C': return csni_swift_pop_function_type(r, SWIFT_C_FUNCTION_POINTER, NULL, true);
    default: return NULL;
    }
}

static swift_node *class_existential(swift_reader *r) {
    swift_node *superclass = csni_swift_pop_type(r), *protocols = csni_swift_protocol_list(r);
    return csni_swift_type(r, csni_swift_with2(r->memory, SWIFT_PROTOCOL_LIST_WITH_CLASS, NULL, protocols, superclass));
}

swift_node *csni_swift_special_type(swift_reader *r) {
    switch (csni_swift_next(r)) {
    case 'E': return csni_swift_pop_function_type(r, SWIFT_NO_ESCAPE_FUNCTION_TYPE, NULL, false);
    case 'A':
    case 'K': return csni_swift_pop_function_type(r, SWIFT_AUTOCLOSURE_TYPE, NULL, false);
    case 'f': return csni_swift_pop_function_type(r, SWIFT_THIN_FUNCTION_TYPE, NULL, false);
    case 'U': return csni_swift_pop_function_type(r, SWIFT_UNCURRIED_FUNCTION_TYPE, NULL, false);
    case 'L': return csni_swift_pop_function_type(r, SWIFT_ESCAPING_OBJC_BLOCK, NULL, false);
    case 'B': return csni_swift_pop_function_type(r, SWIFT_OBJC_BLOCK, NULL, false);
    case 'C': return csni_swift_pop_function_type(r, SWIFT_C_FUNCTION_POINTER, NULL, false);
    case 'z': return with_clang_type(r);
    case 'o': return wrapped_type(r, SWIFT_PHRASE, "unowned %0");
    case 'u': return wrapped_type(r, SWIFT_PHRASE, "unowned(unsafe) %0");
    case 'w': return wrapped_type(r, SWIFT_PHRASE, "weak %0");
    case 'b': return wrapped_type(r, SWIFT_SIMPLE_PHRASE, "@box %0");
    case 'D': return wrapped_type(r, SWIFT_SIMPLE_PHRASE, "Self");
    case 'M': return represented_metatype(r, SWIFT_METATYPE);
    case 'm': return represented_metatype(r, SWIFT_EXISTENTIAL_METATYPE);
    case 'p': return wrapped_type(r, SWIFT_EXISTENTIAL_METATYPE, NULL);
    case 'P': return constrained_existential(r);
    case 'c': return class_existential(r);
    case 'l': {
        swift_node *list = csni_swift_protocol_list(r);
        return csni_swift_type(r, csni_swift_with1(r->memory, SWIFT_PROTOCOL_LIST_WITH_ANY_OBJECT, NULL, list));
    }
    case 'X': return box(r, true);
    case 'x': return box(r, false);
    case 'Y': return csni_swift_nominal(r, SWIFT_OTHER_NOMINAL);
    case 'Z': return anonymous_context(r);
    case 'e': return csni_swift_type(r, csni_swift_new_label(r->memory, SWIFT_SIMPLE_PHRASE, "<ERROR TYPE>"));
    case 'S': return sugared(r);
    default: return NULL;
    }
}
