/* Names of Microsoft's C++ compilers: types. */
#include "names/msvc/msvc_parse.h"

bool csni_ms_qualifiers(msvc *p, unsigned *out) {
    char c = csni_ms_peek(p, 0);
    bool plain = c >= 'A' && c <= 'D', member = c >= 'Q' && c <= 'T';
    if (!plain && !member) return false;
    p->at++;
    *out = (unsigned)(c - (plain ? 'A' : 'Q')); /* bit 0: const, bit 1: volatile */
    return true;
}

unsigned csni_ms_extended_qualifiers(msvc *p) {
    unsigned quals = 0;
    csni_ms_take(p, 'E'); /* a pointer of 64 bits */
    if (csni_ms_take(p, 'I')) quals |= Q_RESTRICT;
    if (csni_ms_take(p, 'F')) quals |= Q_UNALIGNED;
    return quals;
}

/* The index of its name in msvc_print.c. Letters that mean nothing are no mistake. */
bool csni_ms_convention(msvc *p, uint8_t *out) {
    static const char letters[] = "ABCDEFGHIJMNOPQSW";
    static const uint8_t conventions[] = { 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 9, 10 };
    if (p->at == p->end) return false;
    const char *found = *p->at ? strchr(letters, *p->at) : NULL;
    p->at++;
    *out = found ? conventions[found - letters] : 0;
    return true;
}

/* ---- functions ---- */

static bool read_parameters(msvc *p, node *function) {
    uint32_t base = p->parts.count;
    if (csni_ms_take(p, 'X')) {
        function->flags |= F_VOID;
        return true;
    }
    function->explicit_object = csni_ms_take_text(p, "_V"); /* "this Self", C++23 */
    while (csni_ms_peek(p, 0) != '@' && csni_ms_peek(p, 0) != 'Z') {
        const char *begin = p->at;
        node *type;
        if (csni_ms_digit(csni_ms_peek(p, 0))) {
            uint32_t number = (uint32_t)(*p->at++ - '0');
            type = number < p->seen.type_count ? p->seen.types[number] : NULL;
        } else {
            type = csni_ms_type(p, MODE_DROP);
            bool is_short = p->at - begin < 2;
            if (type && !is_short && p->seen.type_count < CSNI_MSVC_MEMORIZED) p->seen.types[p->seen.type_count++] = type;
        }
        if (!csni_ms_push(p, type)) return false;
    }
    if (csni_ms_take(p, 'Z')) function->flags |= F_VARIADIC;
    else p->at++;
    return csni_ms_set_list(p, function, base) != NULL;
}

static bool read_this_qualifiers(msvc *p, node *function) {
    unsigned quals = csni_ms_extended_qualifiers(p), more;
    if (csni_ms_take(p, 'G')) quals |= Q_LVALUE;
    else if (csni_ms_take(p, 'H')) quals |= Q_RVALUE;
    if (!csni_ms_qualifiers(p, &more)) return false;
    function->quals = (uint8_t)(quals | more);
    return true;
}

node *csni_ms_function_type(msvc *p, bool has_this) {
    node *function = csni_ms_make(p, TYPE_FUNCTION);
    if (!function || (has_this && !read_this_qualifiers(p, function)) || !csni_ms_convention(p, &function->convention)) return NULL;
    if (!csni_ms_take(p, '@')) { /* constructors and destructors return nothing */
        function->a = csni_ms_type(p, MODE_RESULT);
        if (!function->a) return NULL;
    }
    if (!read_parameters(p, function)) return NULL;
    if (csni_ms_take_text(p, "_E")) function->flags |= F_NOEXCEPT;
    else if (!csni_ms_take(p, 'Z')) return NULL;
    return function;
}

/* ---- pointers ---- */

static bool starts_pointer(const msvc *p) {
    char c = csni_ms_peek(p, 0);
    return csni_ms_starts(p, "$$Q") || c == 'A' || (c >= 'P' && c <= 'S');
}

static bool read_pointer_auth(msvc *p, node *pointer) {
    if (!csni_ms_take_text(p, "__ptrauth")) return true;
    for (int i = 0; i < 3; i++) {
        uint64_t value;
        bool negative;
        if (!csni_ms_number(p, &value, &negative) || negative) return false;
        pointer->numbers[i] = (int64_t)value;
    }
    pointer->flag = true;
    return true;
}

enum pointer_target { TARGET_WRONG, TARGET_PLAIN, TARGET_MEMBER };

/* What a pointer is to, seen without taking anything. */
static enum pointer_target pointer_target(const msvc *parser) {
    msvc ahead = *parser, *p = &ahead;
    node scratch;
    char c = *p->at++;
    if (c == '$' || c == 'A') return TARGET_PLAIN;
    if (csni_ms_digit(csni_ms_peek(p, 0)))
        return *p->at == '6' ? TARGET_PLAIN : *p->at == '8' ? TARGET_MEMBER : TARGET_WRONG;
    csni_ms_extended_qualifiers(p);
    if (!read_pointer_auth(p, &scratch)) return TARGET_WRONG;
    c = csni_ms_peek(p, 0);
    return c >= 'A' && c <= 'D' ? TARGET_PLAIN : c >= 'Q' && c <= 'T' ? TARGET_MEMBER : TARGET_WRONG;
}

static void read_pointer_letter(msvc *p, node *pointer) {
    bool rvalue = csni_ms_take_text(p, "$$Q");
    char c = rvalue ? 0 : *p->at++;
    const char *text = rvalue ? "&&" : c == 'A' ? "&" : "*";
    pointer->text = (struct csn_str){ text, strlen(text) };
    if (c >= 'P') pointer->quals = (uint8_t)(c - 'P'); /* bit 0: const, bit 1: volatile */
}

static node *read_member_pointer(msvc *p) {
    node *pointer = csni_ms_make(p, TYPE_POINTER);
    unsigned quals;
    if (!pointer) return NULL;
    read_pointer_letter(p, pointer);
    pointer->quals |= (uint8_t)csni_ms_extended_qualifiers(p);
    if (csni_ms_take(p, '8')) {
        pointer->b = csni_ms_type_name(p);
        pointer->a = pointer->b ? csni_ms_function_type(p, true) : NULL;
        return pointer->a ? pointer : NULL;
    }
    if (!csni_ms_qualifiers(p, &quals)) return NULL;
    pointer->b = csni_ms_type_name(p);
    pointer->a = pointer->b ? csni_ms_type(p, MODE_DROP) : NULL;
    if (!pointer->a) return NULL;
    pointer->a->quals = (uint8_t)quals;
    return pointer;
}

static node *read_pointer(msvc *p) {
    node *pointer = csni_ms_make(p, TYPE_POINTER);
    if (!pointer) return NULL;
    read_pointer_letter(p, pointer);
    if (csni_ms_take(p, '6')) {
        pointer->a = csni_ms_function_type(p, false);
        return pointer->a ? pointer : NULL;
    }
    pointer->quals |= (uint8_t)csni_ms_extended_qualifiers(p);
    if (!read_pointer_auth(p, pointer)) return NULL;
    pointer->a = csni_ms_type(p, MODE_MANGLE);
    return pointer->a ? pointer : NULL;
}

/* ---- other types ---- */

static node *read_array(msvc *p) {
    uint64_t rank, dimension;
    bool negative;
    uint32_t base = p->parts.count;
    p->at++;
    if (!csni_ms_number(p, &rank, &negative) || negative || !rank || rank > (uint64_t)(p->end - p->at)) return NULL;
    for (; rank; rank--) {
        node *number = csni_ms_make(p, ARG_NUMBER);
        if (!csni_ms_push(p, number) || !csni_ms_number(p, &dimension, &negative) || negative) return NULL;
        number->numbers[0] = (int64_t)dimension;
    }
    node *array = csni_ms_set_list(p, csni_ms_make(p, TYPE_ARRAY), base);
    if (!array) return NULL;
    if (csni_ms_take_text(p, "$$C")) {
        unsigned quals;
        bool member = csni_ms_peek(p, 0) >= 'Q';
        if (member || !csni_ms_qualifiers(p, &quals)) return NULL;
        array->quals = (uint8_t)quals;
    }
    array->a = csni_ms_type(p, MODE_DROP);
    return array->a ? array : NULL;
}

static node *read_tag_type(msvc *p) {
    char c = *p->at++;
    if (c == 'W' && !csni_ms_take(p, '4')) return NULL; /* other sizes of enumerations are no compiler's any more */
    node *tag = csni_ms_make_text(p, TYPE_TAG, c == 'T' ? "union " : c == 'U' ? "struct " : c == 'V' ? "class " : "enum ");
    if (!tag) return NULL;
    tag->a = csni_ms_type_name(p);
    return tag->a ? tag : NULL;
}

static node *read_custom_type(msvc *p) {
    node *custom = csni_ms_make(p, TYPE_CUSTOM);
    p->at++;
    if (!custom) return NULL;
    custom->a = csni_ms_unqualified_type_name(p);
    return custom->a && csni_ms_take(p, '@') ? custom : NULL;
}

static const char *primitive_name(char c) {
    switch (c) {
    case 'X': return "void";
    case 'D': return "char";
    case 'C': return "signed char";
    case 'E': return "unsigned char";
    case 'F': return "short";
    case 'G': return "unsigned short";
    case 'H': return "int";
    case 'I': return "unsigned int";
    case 'J': return "long";
    case 'K': return "unsigned long";
    case 'M': return "float";
    case 'N': return "double";
    case 'O': return "long double";
    default: return NULL;
    }
}

/* After '_'. */
static const char *extended_primitive_name(char c) {
    switch (c) {
    case 'N': return "bool";
    case 'J': return "__int64";
    case 'K': return "unsigned __int64";
    case 'L': return "__int128";
    case 'M': return "unsigned __int128";
    case 'W': return "wchar_t";
    case 'Q': return "char8_t";
    case 'S': return "char16_t";
    case 'U': return "char32_t";
    case 'P': return "auto";
    case 'T': return "decltype(auto)";
    default: return NULL;
    }
}

static node *read_primitive(msvc *p) {
    if (csni_ms_take_text(p, "$$T")) return csni_ms_make_text(p, TYPE_NAMED, "std::nullptr_t");
    bool extended = csni_ms_take(p, '_');
    char c = csni_ms_peek(p, 0);
    const char *name = extended ? extended_primitive_name(c) : primitive_name(c);
    if (!name) return NULL;
    p->at++;
    return csni_ms_make_text(p, TYPE_NAMED, name);
}

static node *read_bare_type(msvc *p) {
    char c = csni_ms_peek(p, 0);
    if (c >= 'T' && c <= 'W') return read_tag_type(p);
    if (starts_pointer(p)) {
        enum pointer_target target = pointer_target(p);
        return target == TARGET_WRONG ? NULL : target == TARGET_MEMBER ? read_member_pointer(p) : read_pointer(p);
    }
    if (c == 'Y') return read_array(p);
    if (csni_ms_take_text(p, "$$A8@@")) return csni_ms_function_type(p, true);
    if (csni_ms_take_text(p, "$$A6")) return csni_ms_function_type(p, false);
    return c == '?' ? read_custom_type(p) : read_primitive(p);
}

node *csni_ms_type(msvc *p, enum csni_msvc_mode mode) {
    unsigned quals = 0;
    bool has_quals = mode == MODE_MANGLE || (mode == MODE_RESULT && csni_ms_take(p, '?'));
    if (!csni_ms_enter(p) || (has_quals && !csni_ms_qualifiers(p, &quals)) || p->at == p->end) return csni_ms_leave(p, NULL);
    node *type = read_bare_type(p);
    if (type) type->quals |= (uint8_t)quals;
    return csni_ms_leave(p, type);
}
