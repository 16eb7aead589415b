/* Types of parameters as text, to tell overloaded functions apart. */
#include "pdb/pdb_private.h"

enum { DEPTH_MAX = 32, PARAMETERS_MAX = 256 };

struct type_text {
    const struct csni_pdb *pdb;
    char *out;
    size_t len, size;
    bool is_full;
};

static void put(struct type_text *t, const char *bytes, size_t len) {
    if (len > t->size - t->len) {
        t->is_full = true;
        return;
    }
    memcpy(t->out + t->len, bytes, len);
    t->len += len;
}

static void put_word(struct type_text *t, const char *word) { put(t, word, strlen(word)); }

static const char *built_in(uint32_t kind) {
    switch (kind) {
    case 0x03: return "void";
    case 0x08: case 0x12: return "long";
    case 0x10: case 0x68: return "signedchar";
    case 0x11: case 0x72: return "short";
    case 0x13: case 0x76: return "__int64";
    case 0x20: case 0x69: return "unsignedchar";
    case 0x21: case 0x73: return "unsignedshort";
    case 0x22: return "unsignedlong";
    case 0x23: case 0x77: return "unsigned__int64";
    case 0x30: return "bool";
    case 0x40: return "float";
    case 0x41: return "double";
    case 0x42: return "longdouble";
    case 0x70: return "char";
    case 0x71: return "wchar_t";
    case 0x74: return "int";
    case 0x75: return "unsignedint";
    case 0x7a: return "char16_t";
    case 0x7b: return "char32_t";
    case 0x7c: return "char8_t";
    default: return NULL;
    }
}

static bool put_built_in(struct type_text *t, uint32_t type) {
    if (type == BUILT_IN_NULLPTR) return put_word(t, "std::nullptr_t"), true;
    const char *word = built_in(type & BUILT_IN_KIND_MASK);
    if (!word) return false;
    put_word(t, word);
    if (type & BUILT_IN_POINTER_MASK) put_word(t, "*");
    return true;
}

/* Template arguments have blanks after commas and before brackets, or have not. */
static bool put_class(struct type_text *t, struct csn_str name) {
    for (size_t i = 0; i < name.len; i++)
        if (name.ptr[i] != ' ') put(t, &name.ptr[i], 1);
    return name.len;
}

/* False: it has no name here; *t has a part of it. */
static bool put_type(struct type_text *t, uint32_t type, unsigned depth) {
    struct csni_cursor c;
    if (depth == DEPTH_MAX || t->is_full) return false;
    if (type < TYPE_INDEX_BEGIN) return put_built_in(t, type);
    if (!csni_pdb_find_record(&t->pdb->types, type, &c)) return false;
    const uint16_t kind = csni_cursor_u16(&c);
    if (kind != LF_POINTER && kind != LF_MODIFIER) return put_class(t, csni_pdb_class_name(t->pdb, type));
    const uint32_t inner = csni_cursor_u32(&c), flags = kind == LF_POINTER ? csni_cursor_u32(&c) : csni_cursor_u16(&c);
    const uint32_t mode = flags >> POINTER_MODE_SHIFT & POINTER_MODE_MASK;
    const bool is_pointer = kind == LF_POINTER;
    if (c.failed || !put_type(t, inner, depth + 1)) return false;
    if (is_pointer && mode != POINTER_MODE_PLAIN && mode != POINTER_MODE_LVALUE && mode != POINTER_MODE_RVALUE) return false;
    if (is_pointer) put_word(t, mode == POINTER_MODE_PLAIN ? "*" : mode == POINTER_MODE_LVALUE ? "&" : "&&");
    if (flags & (is_pointer ? POINTER_CONST : MODIFIER_CONST)) put_word(t, "const");
    if (flags & (is_pointer ? POINTER_VOLATILE : MODIFIER_VOLATILE)) put_word(t, "volatile");
    return true;
}

/* The list of a function's parameters; false: it is no function. */
static bool find_list(const struct csni_pdb *pdb, uint32_t type, struct csni_cursor *out, uint32_t *count) {
    struct csni_cursor c;
    if (!csni_pdb_find_record(&pdb->types, type, &c)) return false;
    const uint16_t kind = csni_cursor_u16(&c);
    if (kind != LF_PROCEDURE && kind != LF_MFUNCTION) return false;
    /* What it returns, the class and `this` of a member, calling convention, flags, number of parameters. */
    csni_cursor_skip(&c, kind == LF_MFUNCTION ? 16 : 8);
    const uint32_t list = csni_cursor_u32(&c);
    if (c.failed || !csni_pdb_find_record(&pdb->types, list, out) || csni_cursor_u16(out) != LF_ARGLIST) return false;
    *count = csni_cursor_u32(out);
    return !out->failed && *count <= PARAMETERS_MAX;
}

size_t csni_pdb_parameters(const struct csni_pdb *pdb, uint32_t type, char *out, size_t size) {
    struct type_text t = { .pdb = pdb, .out = out, .size = size };
    struct csni_cursor list;
    uint32_t count;
    if (!find_list(pdb, type, &list, &count)) return 0;
    if (!count) put_word(&t, "void");
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t parameter = csni_cursor_u32(&list);
        if (i) put_word(&t, ",");
        const size_t start = t.len;
        if (i + 1 == count && !parameter) { /* any more */
            put_word(&t, "...");
        } else if (!put_type(&t, parameter, 0)) {
            t.len = start;
            put_word(&t, "?");
        }
    }
    return list.failed || t.is_full ? 0 : t.len;
}
