/* Names of Microsoft's C++ compilers: functions, variables, what compilers make, whole names. */
#include "names/msvc/msvc.h"
#include "names/msvc/msvc_parse.h"

static node *make_symbol(msvc *p, enum csni_msvc_kind kind, node *name) {
    node *symbol = name ? csni_ms_make(p, kind) : NULL;
    if (symbol) symbol->a = name;
    return symbol;
}

static node *make_single_name(msvc *p, node *identifier) {
    uint32_t base = p->parts.count;
    return csni_ms_push(p, identifier) ? csni_ms_set_list(p, csni_ms_make(p, ID_QUALIFIED), base) : NULL;
}

/* ---- functions ---- */

/* Access, whether static or virtual, how a thunk adjusts "this": by letter. Every second letter is the same, "far". */
static uint32_t function_flags(char c) {
    static const uint32_t flags[] = {
        F_PRIVATE, F_PRIVATE | F_STATIC, F_PRIVATE | F_VIRTUAL, F_PRIVATE | F_ADJUST,
        F_PROTECTED, F_PROTECTED | F_STATIC, F_PROTECTED | F_VIRTUAL, F_PROTECTED | F_VIRTUAL | F_ADJUST,
        F_PUBLIC, F_PUBLIC | F_STATIC, F_PUBLIC | F_VIRTUAL, F_PUBLIC | F_VIRTUAL | F_ADJUST, F_GLOBAL,
    };
    return c >= 'A' && c <= 'Z' ? flags[(c - 'A') / 2] : 0;
}

/* After '$': a displacement that is read when the thunk runs. */
static uint32_t vtordisp_flags(msvc *p) {
    static const uint32_t access[] = { F_PRIVATE, F_PROTECTED, F_PUBLIC };
    uint32_t flags = F_VIRTUAL | F_VTORDISP;
    if (csni_ms_take(p, 'R')) flags |= F_VTORDISPEX;
    char c = csni_ms_peek(p, 0);
    if (c < '0' || c > '5') return 0;
    p->at++;
    return flags | access[(c - '0') / 2];
}

static uint32_t read_function_flags(msvc *p) {
    if (csni_ms_take(p, '9')) return F_EXTERN_C | F_NO_PARAMETERS;
    if (csni_ms_take(p, '$')) return vtordisp_flags(p);
    uint32_t flags = function_flags(csni_ms_peek(p, 0));
    if (flags) p->at++;
    return flags;
}

static bool read_adjustment(msvc *p, uint32_t flags, int64_t numbers[4]) {
    int first = flags & F_ADJUST ? 3 : flags & F_VTORDISPEX ? 0 : 2;
    if (!(flags & (F_ADJUST | F_VTORDISP))) return true;
    for (int i = first; i < 4; i++) {
        if (!csni_ms_signed(p, &numbers[i])) return false;
        numbers[i] = i < 3 ? (int32_t)numbers[i] : (int64_t)(uint32_t)numbers[i]; /* fields of 32 bits, the last without a sign */
    }
    return true;
}

static node *read_function(msvc *p, node *name) {
    csni_ms_take_text(p, "$$h"); /* code of ARM64EC */
    uint32_t extra = csni_ms_take_text(p, "$$J0") ? F_EXTERN_C : 0, flags = read_function_flags(p);
    int64_t numbers[4] = { 0 };
    if (!flags || !read_adjustment(p, flags, numbers)) return NULL;
    node *type = flags & F_NO_PARAMETERS ? csni_ms_make(p, TYPE_FUNCTION)
                                         : csni_ms_function_type(p, !(flags & (F_GLOBAL | F_STATIC)));
    node *symbol = type ? make_symbol(p, SYMBOL_FUNCTION, name) : NULL;
    if (!symbol) return NULL;
    type->flags |= flags | extra | (flags & (F_ADJUST | F_VTORDISP) ? F_THUNK : 0);
    memcpy(type->numbers, numbers, sizeof(numbers));
    symbol->b = type;
    return symbol;
}

/* ---- variables ---- */

/* A pointer's type ends with the qualifiers of its target. */
static bool read_variable_qualifiers(msvc *p, node *type) {
    unsigned quals;
    if (type->kind != TYPE_POINTER) {
        if (!csni_ms_qualifiers(p, &quals)) return false;
        type->quals = (uint8_t)quals;
        return true;
    }
    type->quals |= (uint8_t)csni_ms_extended_qualifiers(p);
    if (!csni_ms_qualifiers(p, &quals) || (type->b && !csni_ms_type_name(p))) return false;
    type->a->quals |= (uint8_t)quals;
    return true;
}

static node *read_variable(msvc *p, node *name) {
    static const char *const access[] = { "private: static ", "protected: static ", "public: static ", "", "" };
    char storage = *p->at++;
    node *type = csni_ms_type(p, MODE_DROP);
    if (!type || !read_variable_qualifiers(p, type)) return NULL;
    node *symbol = make_symbol(p, SYMBOL_VARIABLE, name);
    if (!symbol) return NULL;
    symbol->b = type;
    symbol->text = (struct csn_str){ access[storage - '0'], strlen(access[storage - '0']) };
    return symbol;
}

static node *read_declaration(msvc *p) {
    node *name = csni_ms_symbol_name(p);
    if (!name || p->at == p->end) return NULL;
    node *last = csni_ms_last_identifier(name);
    bool is_variable = *p->at >= '0' && *p->at <= '4';
    node *symbol = is_variable ? read_variable(p, name) : read_function(p, name);
    if (!symbol || last->kind != ID_CONVERSION) return symbol;
    if (is_variable || !symbol->b->a) return NULL; /* it is named after what it returns */
    last->a = symbol->b->a;
    return symbol;
}

/* ---- what compilers make ---- */

static node *read_table(msvc *p, const char *word) {
    unsigned quals;
    node *name = csni_ms_scopes(p, csni_ms_make_text(p, ID_NAME, word));
    if (!name || !(csni_ms_take(p, '6') || csni_ms_take(p, '7')) || !csni_ms_qualifiers(p, &quals)) return NULL;
    uint32_t base = p->parts.count;
    while (!csni_ms_take(p, '@'))
        if (!csni_ms_push(p, csni_ms_type_name(p))) return NULL;
    node *table = csni_ms_set_list(p, make_symbol(p, SYMBOL_TABLE, name), base);
    if (table) table->quals = (uint8_t)quals;
    return table;
}

static node *read_guard(msvc *p, bool of_thread) {
    node *guard = csni_ms_make(p, ID_GUARD), *name = guard ? csni_ms_scopes(p, guard) : NULL;
    if (!name || !(csni_ms_take_text(p, "4IA") || csni_ms_take(p, '5'))) return NULL;
    guard->flag = of_thread;
    if (p->at < p->end && !csni_ms_unsigned(p, &guard->numbers[0])) return NULL;
    return make_symbol(p, SYMBOL_NAME, name);
}

static node *read_untyped(msvc *p, const char *word) {
    node *name = csni_ms_scopes(p, csni_ms_make_text(p, ID_NAME, word));
    return name && csni_ms_take(p, '8') ? make_symbol(p, SYMBOL_VARIABLE, name) : NULL;
}

static node *read_rtti_base(msvc *p) {
    node *id = csni_ms_make(p, ID_RTTI_BASE);
    if (!id || !csni_ms_unsigned(p, &id->numbers[0]) || !csni_ms_signed(p, &id->numbers[1]) ||
        !csni_ms_unsigned(p, &id->numbers[2]) || !csni_ms_unsigned(p, &id->numbers[3]))
        return NULL;
    node *symbol = make_symbol(p, SYMBOL_VARIABLE, csni_ms_scopes(p, id));
    csni_ms_take(p, '8');
    return symbol;
}

static node *make_type_symbol(msvc *p, node *type, const char *word) {
    node *name = type ? make_single_name(p, csni_ms_make_text(p, ID_NAME, word)) : NULL;
    node *symbol = make_symbol(p, SYMBOL_VARIABLE, name);
    if (symbol) symbol->b = type;
    return symbol;
}

static node *read_type_descriptor(msvc *p) {
    node *type = csni_ms_type(p, MODE_RESULT);
    if (!type || !csni_ms_take_text(p, "@8") || p->at < p->end) return NULL;
    return make_type_symbol(p, type, "`RTTI Type Descriptor'");
}

static node *read_vcall(msvc *p) {
    node *id = csni_ms_make(p, ID_VCALL), *type = csni_ms_make(p, TYPE_FUNCTION);
    node *symbol = id && type ? make_symbol(p, SYMBOL_FUNCTION, csni_ms_scopes(p, id)) : NULL;
    if (!symbol || !csni_ms_take_text(p, "$B") || !csni_ms_unsigned(p, &id->numbers[0]) || !csni_ms_take(p, 'A')) return NULL;
    if (!csni_ms_convention(p, &type->convention)) return NULL;
    type->flags = F_NO_PARAMETERS | F_THUNK;
    symbol->b = type;
    return symbol;
}

/* What runs before main, or at exit, for a variable or a function's name. */
static node *read_dynamic(msvc *p, bool at_exit) {
    node *id = csni_ms_make(p, ID_DYNAMIC);
    bool static_member = csni_ms_take(p, '?');
    node *target = id ? read_declaration(p) : NULL;
    if (!target) return NULL;
    id->flag = at_exit;
    if (target->kind == SYMBOL_VARIABLE) {
        id->a = target;
        /* Old compilers of LLVM wrote neither the '?' nor the second '@'. */
        if (!csni_ms_take(p, '@') || (static_member && !csni_ms_take(p, '@'))) return NULL;
        return read_function(p, make_single_name(p, id));
    }
    if (static_member) return NULL;
    id->b = target->a;
    target->a = make_single_name(p, id);
    return target->a ? target : NULL;
}

/* *found: the name begins as one of these. */
static node *read_special(msvc *p, bool *found) {
    static const char *const codes[] = { "?_7", "?_8", "?_S", "?_R4", "?_9", "?_B", "?__J", "?_C", "?_R0",
                                         "?_R1", "?_R2", "?_R3", "?__E", "?__F", "?_A", "?_P" };
    size_t code = 0, count = sizeof(codes) / sizeof(codes[0]);
    while (code < count && !csni_ms_take_text(p, codes[code])) code++;
    *found = code < count;
    switch (code) {
    case 0: return read_table(p, "`vftable'");
    case 1: return read_table(p, "`vbtable'");
    case 2: return read_table(p, "`local vftable'");
    case 3: return read_table(p, "`RTTI Complete Object Locator'");
    case 4: return read_vcall(p);
    case 5: return read_guard(p, false);
    case 6: return read_guard(p, true);
    case 7: return csni_ms_string_literal(p);
    case 8: return read_type_descriptor(p);
    case 9: return read_rtti_base(p);
    case 10: return read_untyped(p, "`RTTI Base Class Array'");
    case 11: return read_untyped(p, "`RTTI Class Hierarchy Descriptor'");
    case 12: return read_dynamic(p, false);
    case 13: return read_dynamic(p, true);
    default: return NULL; /* "typeof" and "udt returning", which no known tool makes */
    }
}

/* ---- whole names ---- */

/* "??@", 32 digits, '@': the name was too long and only its MD5 is left. It stays as it is. */
static node *read_md5(msvc *p) {
    const char *begin = p->at, *end = memchr(begin + 3, '@', (size_t)(p->end - begin - 3));
    if (!end) return NULL;
    p->at = end + 1;
    csni_ms_take_text(p, "??_R4@");
    node *id = csni_ms_make(p, ID_NAME);
    if (!id) return NULL;
    id->text = (struct csn_str){ begin, (size_t)(p->at - begin) };
    return make_symbol(p, SYMBOL_NAME, make_single_name(p, id));
}

static node *read_symbol(msvc *p) {
    bool found;
    if (csni_ms_take(p, '.')) {
        node *type = csni_ms_type(p, MODE_RESULT);
        return p->at == p->end ? make_type_symbol(p, type, "`RTTI Type Descriptor Name'") : NULL;
    }
    if (csni_ms_starts(p, "??@")) return read_md5(p);
    if (!csni_ms_take(p, '?')) return NULL;
    node *special = read_special(p, &found);
    return found ? special : read_declaration(p);
}

node *csni_ms_symbol(msvc *p) { return csni_ms_leave(p, csni_ms_enter(p) ? read_symbol(p) : NULL); }

bool csni_msvc_demangle(struct csn_str name, struct csni_name_memory *memory, struct csni_name_text *out) {
    msvc p = { .at = name.ptr, .end = name.ptr + name.len, .memory = memory };
    struct csni_msvc_printer printer = { .text = out };
    node *symbol = csni_ms_symbol(&p);
    if (!symbol || (p.at < p.end && *p.at != '.')) return false;
    csni_msvc_print(&printer, symbol);
    if (p.at < p.end) { /* ".cold" and its like are LLVM's */
        csni_name_put_text(out, " (");
        csni_name_put(out, p.at, (size_t)(p.end - p.at));
        csni_name_put_text(out, ")");
    }
    return !printer.failed && !out->too_long;
}
