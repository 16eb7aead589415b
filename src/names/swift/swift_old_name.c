/* Numbers, identifiers, substitutions, modules and types of the compiler in old Swift names. */
#include <stdio.h>

#include "names/punycode.h"
#include "names/swift/swift_old.h"

bool csni_swift_old_natural(swift_old_reader *r, uint64_t *out) {
    if (!csni_swift_digit(csni_swift_old_peek(r))) return false;
    uint64_t number = 0;
    for (; csni_swift_digit(csni_swift_old_peek(r)); r->at++) number = 10 * number + (uint64_t)(*r->at - '0');
    *out = number;
    return true;
}

bool csni_swift_old_index(swift_old_reader *r, uint64_t *out) {
    *out = 0;
    if (csni_swift_old_take(r, '_')) return true;
    if (!csni_swift_old_natural(r, out) || !csni_swift_old_take(r, '_')) return false;
    ++*out;
    return true;
}

swift_node *csni_swift_old_index_node(swift_old_reader *r) {
    uint64_t index;
    return csni_swift_old_index(r, &index) ? csni_swift_new_index(r->memory, SWIFT_NUMBER, index) : NULL;
}

static bool decode(swift_old_reader *r, struct csn_str *text) {
    enum { UTF8_MAX = 4 * 256 };
    char *out = csni_name_alloc(r->memory, UTF8_MAX);
    if (!out) return false;
    struct csni_name_text decoded = { .out = out, .cap = UTF8_MAX };
    if (!csni_put_swift_punycode(&decoded, *text)) return false;
    *text = (struct csn_str){ out, decoded.len };
    return true;
}

static bool decode_operator(swift_old_reader *r, struct csn_str *text) {
    char *out = csni_name_alloc(r->memory, text->len);
    if (!out) return false;
    for (size_t i = 0; i < text->len; i++) {
        char c = text->ptr[i];
        out[i] = (signed char)c < 0 ? c : csni_swift_operator_character(c);
        if (!out[i]) return false;
    }
    text->ptr = out;
    return true;
}

/* An operator is an identifier of one kind only. */
swift_node *csni_swift_old_identifier(swift_old_reader *r, enum csni_swift_kind kind) {
    const char *label = NULL;
    bool is_coded = csni_swift_old_take(r, 'X');
    if (csni_swift_old_take(r, 'o')) {
        if (kind != SWIFT_IDENTIFIER) return NULL;
        kind = SWIFT_OPERATOR;
        switch (csni_swift_old_next(r)) {
        case 'p': label = " prefix"; break;
        case 'P': label = " postfix"; break;
        case 'i': label = " infix"; break;
        default: return NULL;
        }
    }
    uint64_t len;
    if (!csni_swift_old_natural(r, &len) || len > (uint64_t)(r->end - r->at)) return NULL;
    struct csn_str text = { r->at, (size_t)len };
    r->at += len;
    if (is_coded && !decode(r, &text)) return NULL;
    if (!text.len || (label && !decode_operator(r, &text))) return NULL;
    swift_node *node = csni_swift_new_text(r->memory, kind, text);
    if (node) node->label = label;
    return node;
}

swift_node *csni_swift_old_decl_name(swift_old_reader *r) {
    bool is_local = csni_swift_old_take(r, 'L'), is_private = !is_local && csni_swift_old_take(r, 'P');
    if (!is_local && !is_private) return csni_swift_old_identifier(r, SWIFT_IDENTIFIER);
    swift_node *discriminator = is_local ? csni_swift_old_index_node(r) : csni_swift_old_identifier(r, SWIFT_IDENTIFIER);
    if (!discriminator) return NULL;
    swift_node *name = csni_swift_old_identifier(r, SWIFT_IDENTIFIER);
    return csni_swift_with2(r->memory, is_local ? SWIFT_LOCAL_NAME : SWIFT_PRIVATE_NAME, NULL, discriminator, name);
}

static swift_node *new_module(swift_old_reader *r, const char *name) {
    return csni_swift_new_text(r->memory, SWIFT_MODULE, (struct csn_str){ name, strlen(name) });
}

/* After 'S'. */
swift_node *csni_swift_old_substitution(swift_old_reader *r) {
    static const struct { char letter; bool is_enum; const char *name; } known[] = {
        { 'a', false, "Array" },          { 'b', false, "Bool" },
        { 'c', false, "UnicodeScalar" },  { 'd', false, "Double" },
        { 'f', false, "Float" },          { 'i', false, "Int" },
        { 'V', false, "UnsafeRawPointer" }, { 'v', false, "UnsafeMutableRawPointer" },
        { 'P', false, "UnsafePointer" },  { 'p', false, "UnsafeMutablePointer" },
        { 'q', true, "Optional" },        { 'Q', true, "ImplicitlyUnwrappedOptional" },
        { 'R', false, "UnsafeBufferPointer" }, { 'r', false, "UnsafeMutableBufferPointer" },
        { 'S', false, "String" },         { 'u', false, "UInt" },
    };
    if (csni_swift_old_take(r, 'o')) return new_module(r, "__C");
    if (csni_swift_old_take(r, 'C')) return new_module(r, "__C_Synthesized");
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (!csni_swift_old_take(r, known[i].letter)) continue;
        struct csn_str name = { known[i].name, strlen(known[i].name) };
        swift_node *identifier = csni_swift_new_text(r->memory, SWIFT_IDENTIFIER, name);
        enum csni_swift_kind kind = known[i].is_enum ? SWIFT_ENUM : SWIFT_STRUCTURE;
        return csni_swift_with2(r->memory, kind, NULL, new_module(r, "Swift"), identifier);
    }
    uint64_t index;
    if (!csni_swift_old_index(r, &index) || index >= r->substitutions.count) return NULL;
    return r->substitutions.at[index];
}

swift_node *csni_swift_old_module(swift_old_reader *r) {
    if (csni_swift_old_take(r, 's')) return new_module(r, "Swift");
    if (csni_swift_old_take(r, 'S')) {
        swift_node *module = csni_swift_old_substitution(r);
        return csni_swift_is(module, SWIFT_MODULE) ? module : NULL;
    }
    return csni_swift_old_substitute(r, csni_swift_old_identifier(r, SWIFT_MODULE));
}

static swift_node *numbered_builtin(swift_old_reader *r, const char *format, uint64_t first, uint64_t second) {
    enum { TEXT_MAX = 64 };
    char *text = csni_name_alloc(r->memory, TEXT_MAX);
    if (!text) return NULL;
    unsigned long long one = first, two = second;
    int len = second ? snprintf(text, TEXT_MAX, "Builtin.Vec%llux%s%llu", one, format, two)
                     : snprintf(text, TEXT_MAX, "Builtin.%s%llu", format, one);
    return csni_swift_new_text(r->memory, SWIFT_BUILTIN, (struct csn_str){ text, (size_t)len });
}

static bool builtin_size(swift_old_reader *r, uint64_t *out) {
    return csni_swift_old_natural(r, out) && csni_swift_old_take(r, '_');
}

static swift_node *vector(swift_old_reader *r) {
    uint64_t count, size;
    if (!csni_swift_old_natural(r, &count) || !csni_swift_old_take(r, 'B')) return NULL;
    if (csni_swift_old_take(r, 'i')) return builtin_size(r, &size) ? numbered_builtin(r, "Int", count, size) : NULL;
    if (csni_swift_old_take(r, 'f')) return builtin_size(r, &size) ? numbered_builtin(r, "FPIEEE", count, size) : NULL;
    if (!csni_swift_old_take(r, 'p')) return NULL;
    swift_node *out = numbered_builtin(r, "Vec", count, 0);
    static const char after[] = "xRawPointer";
    if (!out) return NULL;
    memcpy((char *)(uintptr_t)out->text.ptr + out->text.len, after, sizeof(after) - 1);
    out->text.len += sizeof(after) - 1;
    return out;
}

swift_node *csni_swift_old_builtin(swift_old_reader *r) {
    static const struct { char letter; const char *name; } known[] = {
        { 'b', "Builtin.BridgeObject" }, { 'B', "Builtin.UnsafeValueBuffer" }, { 'O', "Builtin.UnknownObject" },
        { 'o', "Builtin.NativeObject" }, { 'p', "Builtin.RawPointer" },        { 't', "Builtin.SILToken" },
        { 'w', "Builtin.Word" },
    };
    char c = csni_swift_old_next(r);
    uint64_t size;
    if (c == 'f') return builtin_size(r, &size) ? numbered_builtin(r, "FPIEEE", size, 0) : NULL;
    if (c == 'i') return builtin_size(r, &size) ? numbered_builtin(r, "Int", size, 0) : NULL;
    if (c == 'v') return vector(r);
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (known[i].letter == c)
            return csni_swift_new_text(r->memory, SWIFT_BUILTIN, (struct csn_str){ known[i].name, strlen(known[i].name) });
    return NULL;
}
