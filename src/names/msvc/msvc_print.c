/* From the tree of a name of Microsoft's C++ compilers to text. */
#include "names/msvc/msvc_node.h"
#include "names/name_float.h"

typedef const struct csni_msvc_node node;

#define TEXT(p, literal) csni_name_put((p)->text, literal, sizeof(literal) - 1)

static bool enter_node(struct csni_msvc_printer *p) {
    if (p->depth >= CSNI_MSVC_DEPTH_MAX || p->steps >= CSNI_MSVC_STEPS_MAX || p->text->too_long) p->failed = true;
    if (p->failed) return false;
    p->depth++;
    p->steps++;
    return true;
}

static void put_signed(struct csni_msvc_printer *p, int64_t value) {
    if (value < 0) TEXT(p, "-");
    csni_name_put_number(p->text, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
}

/* A blank after a word or template arguments. */
static void put_space(struct csni_msvc_printer *p) {
    char c = p->text->last;
    bool is_word = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (is_word || c == '>') TEXT(p, " ");
}

static void print_list(struct csni_msvc_printer *p, node *n, const char *between) {
    for (uint32_t i = 0; i < n->count && !p->failed; i++) {
        if (i) csni_name_put_text(p->text, between);
        csni_msvc_print(p, n->list[i]);
    }
}

/* ---- types: what stands before what they declare, and what after ---- */

static void print_before(struct csni_msvc_printer *p, node *n);
static void print_after(struct csni_msvc_printer *p, node *n);

static void put_qualifiers(struct csni_msvc_printer *p, unsigned quals, bool space) {
    static const char *const names[] = { "const", "volatile", "__restrict" };
    static const unsigned bits[] = { Q_CONST, Q_VOLATILE, Q_RESTRICT };
    for (size_t i = 0; i < 3; i++) {
        if (!(quals & bits[i])) continue;
        if (space) TEXT(p, " ");
        csni_name_put_text(p->text, names[i]);
        space = true;
    }
}

static void put_convention(struct csni_msvc_printer *p, unsigned convention) {
    static const char *const names[] = { "", "__cdecl", "__pascal", "__thiscall", "__stdcall", "__fastcall", "__clrcall", "__eabi",
                                         "__vectorcall", "__attribute__((__swiftcall__)) ",
                                         "__attribute__((__swiftasynccall__)) " };
    put_space(p);
    csni_name_put_text(p->text, names[convention]);
}

static void print_signature_before(struct csni_msvc_printer *p, node *n) {
    if (n->flags & F_PUBLIC) TEXT(p, "public: ");
    if (n->flags & F_PROTECTED) TEXT(p, "protected: ");
    if (n->flags & F_PRIVATE) TEXT(p, "private: ");
    if (n->flags & F_STATIC && !(n->flags & F_GLOBAL)) TEXT(p, "static ");
    if (n->flags & F_VIRTUAL) TEXT(p, "virtual ");
    if (n->flags & F_EXTERN_C) TEXT(p, "extern \"C\" ");
    if (!n->a) return;
    print_before(p, n->a);
    TEXT(p, " ");
}

static void print_function_before(struct csni_msvc_printer *p, node *n) {
    if (n->flags & F_THUNK) TEXT(p, "[thunk]: ");
    print_signature_before(p, n);
    put_convention(p, n->convention);
}

static void print_adjustment(struct csni_msvc_printer *p, node *n) {
    int first = n->flags & F_ADJUST ? 3 : n->flags & F_VTORDISPEX ? 0 : 2;
    csni_name_put_text(p->text, first == 3 ? "`adjustor{" : first == 0 ? "`vtordispex{" : "`vtordisp{");
    for (int i = first; i < 4; i++) {
        if (i > first) TEXT(p, ", ");
        put_signed(p, n->numbers[i]);
    }
    TEXT(p, "}'");
}

static void print_parameters(struct csni_msvc_printer *p, node *n) {
    TEXT(p, "(");
    if (n->explicit_object) TEXT(p, "this ");
    if (n->flags & F_VOID) TEXT(p, "void");
    else print_list(p, n, ", ");
    if (n->flags & F_VARIADIC) csni_name_put_text(p->text, p->text->last == '(' ? "..." : ", ...");
    TEXT(p, ")");
}

static void print_function_after(struct csni_msvc_printer *p, node *n) {
    if (n->flags & F_THUNK && n->flags & (F_ADJUST | F_VTORDISP)) print_adjustment(p, n);
    if (!(n->flags & F_NO_PARAMETERS)) print_parameters(p, n);
    put_qualifiers(p, n->quals, true);
    if (n->quals & Q_UNALIGNED) TEXT(p, " __unaligned");
    if (n->flags & F_NOEXCEPT) TEXT(p, " noexcept");
    if (n->quals & Q_LVALUE) TEXT(p, " &");
    if (n->quals & Q_RVALUE) TEXT(p, " &&");
    if (n->a) print_after(p, n->a);
}

static void print_pointer_auth(struct csni_msvc_printer *p, node *n) {
    TEXT(p, "__ptrauth(");
    for (int i = 0; i < 3; i++) {
        if (i) TEXT(p, ", ");
        csni_name_put_number(p->text, (uint64_t)n->numbers[i]);
    }
    TEXT(p, ")");
}

/* The calling convention of a function that is pointed to stands inside the parentheses. */
static void print_pointer_before(struct csni_msvc_printer *p, node *n) {
    bool to_function = n->a->kind == TYPE_FUNCTION;
    if (to_function) print_signature_before(p, n->a);
    else print_before(p, n->a);
    put_space(p);
    if (n->quals & Q_UNALIGNED) TEXT(p, "__unaligned ");
    if (to_function || n->a->kind == TYPE_ARRAY) TEXT(p, "(");
    if (to_function) {
        put_convention(p, n->a->convention);
        TEXT(p, " ");
    }
    if (n->b) {
        csni_msvc_print(p, n->b);
        TEXT(p, "::");
    }
    csni_name_put_str(p->text, n->text);
    put_qualifiers(p, n->quals, false);
    if (n->flag) print_pointer_auth(p, n);
}

static void print_array_after(struct csni_msvc_printer *p, node *n) {
    TEXT(p, "[");
    for (uint32_t i = 0; i < n->count; i++) {
        if (i) TEXT(p, "][");
        if (n->list[i]->numbers[0]) csni_msvc_print(p, n->list[i]);
    }
    TEXT(p, "]");
    print_after(p, n->a);
}

static void print_type_before(struct csni_msvc_printer *p, node *n) {
    switch (n->kind) {
    case TYPE_NAMED: csni_name_put_str(p->text, n->text); put_qualifiers(p, n->quals, true); break;
    case TYPE_TAG:
        csni_name_put_str(p->text, n->text);
        csni_msvc_print(p, n->a);
        put_qualifiers(p, n->quals, true);
        break;
    case TYPE_CUSTOM: csni_msvc_print(p, n->a); break;
    case TYPE_POINTER: print_pointer_before(p, n); break;
    case TYPE_ARRAY: print_before(p, n->a); put_qualifiers(p, n->quals, true); break;
    case TYPE_FUNCTION: print_function_before(p, n); break;
    default: csni_msvc_print(p, n); break; /* a name where a type could stand */
    }
}

static void print_before(struct csni_msvc_printer *p, node *n) {
    if (!enter_node(p)) return;
    print_type_before(p, n);
    p->depth--;
}

static void print_after(struct csni_msvc_printer *p, node *n) {
    if (!enter_node(p)) return;
    bool brackets = n->kind == TYPE_POINTER && (n->a->kind == TYPE_ARRAY || n->a->kind == TYPE_FUNCTION);
    if (brackets) TEXT(p, ")");
    if (n->kind == TYPE_POINTER) print_after(p, n->a);
    else if (n->kind == TYPE_ARRAY) print_array_after(p, n);
    else if (n->kind == TYPE_FUNCTION) print_function_after(p, n);
    p->depth--;
}

/* ---- identifiers and symbols ---- */

static void print_template_args(struct csni_msvc_printer *p, node *n) {
    if (!n->c) return;
    TEXT(p, "<");
    print_list(p, n->c, ", ");
    TEXT(p, ">");
}

static void print_conversion(struct csni_msvc_printer *p, node *n) {
    TEXT(p, "operator");
    print_template_args(p, n);
    TEXT(p, " ");
    if (n->a) csni_msvc_print(p, n->a);
}

static void print_structor(struct csni_msvc_printer *p, node *n) {
    if (n->flag) TEXT(p, "~");
    if (n->a) csni_msvc_print(p, n->a);
    print_template_args(p, n);
}

static void print_dynamic(struct csni_msvc_printer *p, node *n) {
    csni_name_put_text(p->text, n->flag ? "`dynamic atexit destructor for " : "`dynamic initializer for ");
    csni_name_put_text(p->text, n->a ? "`" : "'");
    csni_msvc_print(p, n->a ? n->a : n->b);
    TEXT(p, "''");
}

static void print_guard(struct csni_msvc_printer *p, node *n) {
    csni_name_put_text(p->text, n->flag ? "`local static thread guard'" : "`local static guard'");
    if (n->numbers[0] <= 0) return;
    TEXT(p, "{");
    csni_name_put_number(p->text, (uint64_t)n->numbers[0]);
    TEXT(p, "}");
}

static void print_rtti_base(struct csni_msvc_printer *p, node *n) {
    TEXT(p, "`RTTI Base Class Descriptor at (");
    for (int i = 0; i < 4; i++) {
        if (i) TEXT(p, ", ");
        put_signed(p, n->numbers[i]);
    }
    TEXT(p, ")'");
}

static void print_function(struct csni_msvc_printer *p, node *n) {
    print_before(p, n->b);
    put_space(p);
    csni_msvc_print(p, n->a);
    print_after(p, n->b);
}

static void print_variable(struct csni_msvc_printer *p, node *n) {
    csni_name_put_str(p->text, n->text);
    if (n->b) print_before(p, n->b);
    put_space(p);
    csni_msvc_print(p, n->a);
    if (n->b) print_after(p, n->b);
}

static void print_table(struct csni_msvc_printer *p, node *n) {
    if (n->quals) {
        put_qualifiers(p, n->quals, false);
        TEXT(p, " ");
    }
    csni_msvc_print(p, n->a);
    if (!n->count) return;
    TEXT(p, "{for `");
    print_list(p, n, "'s `");
    TEXT(p, "'}");
}

static void print_string(struct csni_msvc_printer *p, node *n) {
    if (n->numbers[0]) csni_name_put_char(p->text, (char)n->numbers[0]);
    TEXT(p, "\"");
    csni_name_put_str(p->text, n->text);
    csni_name_put_text(p->text, n->flag ? "\"..." : "\"");
}

static void print_number_arg(struct csni_msvc_printer *p, node *n) {
    if (n->flag) TEXT(p, "-");
    csni_name_put_number(p->text, (uint64_t)n->numbers[0]);
}

static void print_symbol_arg(struct csni_msvc_printer *p, node *n) {
    if (n->count) TEXT(p, "{");
    else if (n->flag) TEXT(p, "&");
    if (n->a) csni_msvc_print(p, n->a);
    for (uint32_t i = 0; i < n->count; i++) {
        if (i || n->a) TEXT(p, ", ");
        put_signed(p, n->numbers[i]);
    }
    if (n->count) TEXT(p, "}");
}

static void print_float_arg(struct csni_msvc_printer *p, node *n) {
    static const char digits[] = "0123456789abcdef";
    char hex[16];
    size_t len = n->flag ? 16 : 8;
    for (size_t i = 0; i < len; i++) hex[i] = digits[(uint64_t)n->numbers[0] >> 4 * (len - 1 - i) & 15];
    csni_name_put_ieee(p->text, (struct csn_str){ hex, len }, n->flag ? 11 : 8, !n->flag);
    if (!n->flag) TEXT(p, "f");
}

static void print_braced_arg(struct csni_msvc_printer *p, node *n) {
    if (n->a) csni_msvc_print(p, n->a);
    TEXT(p, "{");
    if (n->b) {
        TEXT(p, ".");
        csni_msvc_print(p, n->b);
        TEXT(p, " = ");
    }
    print_list(p, n, ", ");
    TEXT(p, "}");
}

static void print_address_arg(struct csni_msvc_printer *p, node *n) {
    TEXT(p, "&");
    csni_msvc_print(p, n->a);
    for (uint32_t i = 0; i < n->count; i++) {
        bool is_element = n->list[i]->kind == ARG_NUMBER;
        csni_name_put_text(p->text, is_element ? "[" : ".");
        csni_msvc_print(p, n->list[i]);
        if (is_element) TEXT(p, "]");
    }
}

static void print_node(struct csni_msvc_printer *p, node *n) {
    switch (n->kind) {
    case ID_NAME: csni_name_put_str(p->text, n->text); print_template_args(p, n); break;
    case ID_STRUCTOR: print_structor(p, n); break;
    case ID_CONVERSION: print_conversion(p, n); break;
    case ID_LITERAL:
        TEXT(p, "operator \"\"");
        csni_name_put_str(p->text, n->text);
        print_template_args(p, n);
        break;
    case ID_DYNAMIC: print_dynamic(p, n); break;
    case ID_GUARD: print_guard(p, n); break;
    case ID_VCALL:
        TEXT(p, "`vcall'{");
        csni_name_put_number(p->text, (uint64_t)n->numbers[0]);
        TEXT(p, ", {flat}}");
        break;
    case ID_RTTI_BASE: print_rtti_base(p, n); break;
    case ID_QUALIFIED: print_list(p, n, "::"); break;
    case SYMBOL_FUNCTION: print_function(p, n); break;
    case SYMBOL_VARIABLE: print_variable(p, n); break;
    case SYMBOL_TABLE: print_table(p, n); break;
    case SYMBOL_NAME: csni_msvc_print(p, n->a); break;
    case SYMBOL_STRING: print_string(p, n); break;
    case ARG_NUMBER: print_number_arg(p, n); break;
    case ARG_SYMBOL: print_symbol_arg(p, n); break;
    case ARG_FLOAT: print_float_arg(p, n); break;
    case ARG_BRACED: print_braced_arg(p, n); break;
    case ARG_ADDRESS: print_address_arg(p, n); break;
    case ARG_LIST: print_list(p, n, ", "); break;
    default: print_before(p, n); print_after(p, n); break;
    }
}

void csni_msvc_print(struct csni_msvc_printer *p, node *n) {
    if (!enter_node(p)) return;
    print_node(p, n);
    p->depth--;
}
