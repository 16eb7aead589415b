/* Names of Microsoft's C++ compilers: identifiers, scopes, template arguments. */
#include "names/msvc/msvc_parse.h"

/* ---- tree and tokens ---- */

node *csni_ms_make(msvc *p, enum csni_msvc_kind kind) {
    node *n = csni_name_alloc(p->memory, sizeof(*n));
    if (!n) return NULL;
    memset(n, 0, sizeof(*n));
    n->kind = (uint8_t)kind;
    return n;
}

node *csni_ms_make_text(msvc *p, enum csni_msvc_kind kind, const char *text) {
    node *n = csni_ms_make(p, kind);
    if (n) n->text = (struct csn_str){ text, strlen(text) };
    return n;
}

bool csni_ms_push(msvc *p, node *n) { return n && csni_name_push(p->memory, &p->parts, n); }

node *csni_ms_set_list(msvc *p, node *n, uint32_t base) {
    uint32_t count = p->parts.count - base;
    node **list = n && count ? csni_name_alloc(p->memory, count * sizeof(*list)) : NULL;
    p->parts.count = base;
    if (!n || (count && !list)) return NULL;
    if (count) memcpy(list, p->parts.at + base, count * sizeof(*list));
    n->list = list;
    n->count = count;
    return n;
}

/* Digits are 1 to 10; other numbers are letters to the base 16, 'A' being 0, up to '@'. */
bool csni_ms_number(msvc *p, uint64_t *out, bool *negative) {
    uint64_t value = 0;
    *negative = csni_ms_take(p, '?');
    if (csni_ms_digit(csni_ms_peek(p, 0))) {
        *out = (uint64_t)(*p->at++ - '0') + 1;
        return true;
    }
    for (; csni_ms_peek(p, 0) >= 'A' && csni_ms_peek(p, 0) <= 'P'; p->at++) value = value << 4 | (uint64_t)(*p->at - 'A');
    *out = value;
    return csni_ms_take(p, '@');
}

bool csni_ms_unsigned(msvc *p, int64_t *out) {
    uint64_t value;
    bool negative;
    if (!csni_ms_number(p, &value, &negative) || negative) return false;
    *out = (int64_t)value;
    return true;
}

bool csni_ms_signed(msvc *p, int64_t *out) {
    uint64_t value;
    bool negative;
    if (!csni_ms_number(p, &value, &negative) || value > INT64_MAX) return false;
    *out = negative ? -(int64_t)value : (int64_t)value;
    return true;
}

/* ---- what digits refer back to ---- */

static bool memorize_text(msvc *p, struct csn_str text) {
    if (p->seen.name_count == CSNI_MSVC_MEMORIZED) return true;
    for (uint32_t i = 0; i < p->seen.name_count; i++) {
        struct csn_str known = p->seen.names[i]->text;
        if (known.len == text.len && memcmp(known.ptr, text.ptr, text.len) == 0) return true;
    }
    node *n = csni_ms_make(p, ID_NAME);
    if (!n) return false;
    n->text = text;
    p->seen.names[p->seen.name_count++] = n;
    return true;
}

/* All texts together are limited: what is remembered can hold what was remembered before, ten times. */
bool csni_ms_render(msvc *p, const node *n, struct csn_str *out) {
    enum { RENDERED_MAX = 1 << 22 };
    struct csni_name_text text = { 0 };
    for (int pass = 0; pass < 2; pass++) {
        struct csni_msvc_printer printer = { .text = &text };
        csni_msvc_print(&printer, n);
        p->rendered += printer.steps + text.len;
        if (printer.failed || text.too_long || p->rendered > RENDERED_MAX) return false;
        if (pass) break;
        text = (struct csni_name_text){ .out = csni_name_alloc(p->memory, text.len + 1), .cap = text.len };
        if (!text.out) return false;
    }
    *out = (struct csn_str){ text.out, text.len };
    return true;
}

bool csni_ms_memorize(msvc *p, const node *identifier) {
    struct csn_str text;
    return csni_ms_render(p, identifier, &text) && memorize_text(p, text);
}

static node *referred_name(msvc *p) {
    uint32_t number = (uint32_t)(*p->at++ - '0');
    return number < p->seen.name_count ? p->seen.names[number] : NULL;
}

/* ---- identifiers ---- */

bool csni_ms_simple_string(msvc *p, bool memorize, struct csn_str *out) {
    const char *end = memchr(p->at, '@', (size_t)(p->end - p->at));
    if (!end || end == p->at) return false;
    *out = (struct csn_str){ p->at, (size_t)(end - p->at) };
    p->at = end + 1;
    return !memorize || memorize_text(p, *out);
}

static node *read_simple_name(msvc *p, bool memorize) {
    struct csn_str text;
    node *n = csni_ms_simple_string(p, memorize, &text) ? csni_ms_make(p, ID_NAME) : NULL;
    if (n) n->text = text;
    return n;
}

static const char *const basic_operators[36] = {
    NULL, NULL, "operator new", "operator delete", "operator=", "operator>>", "operator<<", "operator!", "operator==", "operator!=",
    "operator[]", NULL, "operator->", "operator*", "operator++", "operator--", "operator-", "operator+", "operator&", "operator->*",
    "operator/", "operator%", "operator<", "operator<=", "operator>", "operator>=", "operator,", "operator()", "operator~",
    "operator^", "operator|", "operator&&", "operator||", "operator*=", "operator+=", "operator-=",
};

/* After '_'. */
static const char *const under_operators[36] = {
    "operator/=", "operator%=", "operator>>=", "operator<<=", "operator&=", "operator|=", "operator^=", NULL, NULL, NULL,
    NULL, NULL, NULL, "`vbase dtor'", "`vector deleting dtor'", "`default ctor closure'", "`scalar deleting dtor'",
    "`vector ctor iterator'", "`vector dtor iterator'", "`vector vbase ctor iterator'", "`virtual displacement map'",
    "`eh vector ctor iterator'", "`eh vector dtor iterator'", "`eh vector vbase ctor iterator'", "`copy ctor closure'",
    NULL, NULL, NULL, NULL, "`local vftable ctor closure'", "operator new[]", "operator delete[]", NULL, NULL, NULL, NULL,
};

/* After "__". */
static const char *const double_under_operators[36] = {
    [10] = "`managed vector ctor iterator'",
    [11] = "`managed vector dtor iterator'",
    [12] = "`EH vector copy ctor iterator'",
    [13] = "`EH vector vbase copy ctor iterator'",
    [16] = "`vector copy ctor iterator'",
    [17] = "`vector vbase copy constructor iterator'",
    [18] = "`managed vector vbase copy constructor iterator'",
    [21] = "operator co_await",
    [22] = "operator<=>",
};

/* A letter or digit after '?'. Those without a meaning are written as nothing. */
static node *read_operator(msvc *p) {
    const char *const *table = csni_ms_take_text(p, "__") ? double_under_operators
                               : csni_ms_take(p, '_')     ? under_operators
                                                          : basic_operators;
    char c = csni_ms_peek(p, 0);
    bool letter = c >= 'A' && c <= 'Z';
    if (!letter && !csni_ms_digit(c)) return NULL;
    p->at++;
    if (table == basic_operators && (c == '0' || c == '1')) {
        node *n = csni_ms_make(p, ID_STRUCTOR);
        if (n) n->flag = c == '1';
        return n;
    }
    if (table == basic_operators && c == 'B') return csni_ms_make(p, ID_CONVERSION);
    if (table == double_under_operators && c == 'K') {
        node *n = csni_ms_make(p, ID_LITERAL);
        return n && csni_ms_simple_string(p, false, &n->text) ? n : NULL;
    }
    const char *name = table[letter ? c - 'A' + 10 : c - '0'];
    return csni_ms_make_text(p, ID_NAME, name ? name : "");
}

/* ---- templates ---- */

/* "?$" NAME ARGUMENTS. Types and scopes remember the whole, names of functions nothing. */
static node *read_template(msvc *p, bool of_type);

static node *read_unqualified(msvc *p, bool memorize) {
    if (csni_ms_digit(csni_ms_peek(p, 0))) return referred_name(p);
    if (csni_ms_starts(p, "?$")) return read_template(p, false);
    return csni_ms_take(p, '?') ? read_operator(p) : read_simple_name(p, memorize);
}

static node *copy_of(msvc *p, const node *n) {
    node *copy = csni_ms_make(p, (enum csni_msvc_kind)n->kind);
    if (copy) *copy = *n;
    return copy;
}

static node *read_template_id(msvc *p) {
    p->at += 2;
    bool is_shared = csni_ms_digit(csni_ms_peek(p, 0));
    node *name = read_unqualified(p, true);
    if (name && is_shared) name = copy_of(p, name);
    if (!name) return NULL;
    name->c = csni_ms_template_args(p);
    return name->c ? name : NULL;
}

static node *read_template(msvc *p, bool of_type) {
    struct csni_msvc_memory outer = p->seen;
    p->seen.name_count = p->seen.type_count = 0;
    node *name = csni_ms_leave(p, csni_ms_enter(p) ? read_template_id(p) : NULL);
    p->seen = outer;
    if (!name || !of_type) return name;
    if (name->kind == ID_CONVERSION || name->kind == ID_STRUCTOR || !csni_ms_memorize(p, name)) return NULL;
    return name;
}

static bool is_pack_separator(msvc *p) {
    return csni_ms_take_text(p, "$S") || csni_ms_take_text(p, "$$V") || csni_ms_take_text(p, "$$$V") || csni_ms_take_text(p, "$$Z");
}

static bool read_offsets(msvc *p, node *arg, uint32_t count) {
    for (arg->count = 0; arg->count < count; arg->count++)
        if (!csni_ms_signed(p, &arg->numbers[arg->count])) return false;
    return true;
}

/* A pointer to a member function: its name, and numbers that depend on how its class inherits. */
static node *read_member_function_arg(msvc *p, char inheritance) {
    node *arg = csni_ms_make(p, ARG_SYMBOL);
    if (!arg) return NULL;
    arg->flag = true;
    if (csni_ms_peek(p, 0) == '?') {
        arg->a = csni_ms_symbol(p);
        const node *name = arg->a ? arg->a->a : NULL;
        if (!name || !csni_ms_memorize(p, csni_ms_last_identifier(name))) return NULL;
    }
    return read_offsets(p, arg, inheritance == '1' ? 0 : (uint32_t)(inheritance - 'H') + 1) ? arg : NULL;
}

static node *read_reference_arg(msvc *p) {
    node *arg = csni_ms_make(p, ARG_SYMBOL);
    if (!arg) return NULL;
    arg->a = csni_ms_symbol(p);
    return arg->a ? arg : NULL;
}

static node *read_data_member_arg(msvc *p, char inheritance) {
    node *arg = csni_ms_make(p, ARG_SYMBOL);
    return arg && read_offsets(p, arg, inheritance == 'G' ? 3 : 2) ? arg : NULL;
}

node *csni_ms_value_number(msvc *p) {
    node *arg = csni_ms_make(p, ARG_NUMBER);
    uint64_t value;
    if (!arg || !csni_ms_number(p, &value, &arg->flag)) return NULL;
    arg->numbers[0] = (int64_t)value;
    return arg;
}

/* A value: its letter follows '$', or "$M" and its type ("auto"). */
static node *read_value_arg(msvc *p, char letter) {
    switch (letter) {
    case '1': case 'H': case 'I': case 'J': return read_member_function_arg(p, letter);
    case 'F': case 'G': return read_data_member_arg(p, letter);
    case '0': return csni_ms_value_number(p);
    default: p->at--; return csni_ms_value(p);
    }
}

node *csni_ms_arg_type(msvc *p) {
    if (csni_ms_take_text(p, "$$Y")) return csni_ms_type_name(p);
    if (csni_ms_take_text(p, "$$B")) return csni_ms_type(p, MODE_DROP);
    return csni_ms_type(p, csni_ms_take_text(p, "$$C") ? MODE_MANGLE : MODE_DROP);
}

static node *read_template_arg(msvc *p) {
    bool is_auto = csni_ms_take_text(p, "$M");
    if (is_auto && !csni_ms_type(p, MODE_DROP)) return NULL;
    if (csni_ms_starts(p, "$E?")) {
        p->at += 2;
        return read_reference_arg(p);
    }
    char letter = csni_ms_peek(p, is_auto ? 0 : 1);
    bool is_value = (is_auto || csni_ms_peek(p, 0) == '$') && letter && strchr("01FGHIJ267ABC", letter);
    if (!is_value) return csni_ms_arg_type(p);
    p->at += is_auto ? 1 : 2;
    return read_value_arg(p, letter);
}

node *csni_ms_template_args(msvc *p) {
    uint32_t base = p->parts.count;
    while (!csni_ms_take(p, '@')) {
        if (is_pack_separator(p)) continue;
        if (!csni_ms_push(p, read_template_arg(p))) return NULL;
    }
    return csni_ms_set_list(p, csni_ms_make(p, ARG_LIST), base);
}

/* ---- scopes ---- */

static node *read_anonymous_namespace(msvc *p) {
    p->at += 2;
    const char *end = memchr(p->at, '@', (size_t)(p->end - p->at));
    if (!end || !memorize_text(p, (struct csn_str){ p->at, (size_t)(end - p->at) })) return NULL;
    p->at = end + 1;
    return csni_ms_make_text(p, ID_NAME, "`anonymous namespace'");
}

/* '?', a number, '?'. It cannot begin with 'A', which is an anonymous namespace's. */
static bool starts_local_scope(const msvc *p) {
    const char *at = p->at + 1, *end = p->end - p->at > 1 ? memchr(at, '?', (size_t)(p->end - at)) : NULL;
    if (csni_ms_peek(p, 0) != '?' || !end || end == at) return false;
    if (end - at == 1) return *at == '@' || csni_ms_digit(*at);
    if (end[-1] != '@' || *at < 'B') return false;
    for (; at < end - 1; at++)
        if (*at < 'A' || *at > 'P') return false;
    return true;
}

static node *read_local_scope(msvc *p) {
    int64_t number;
    p->at++;
    if (!csni_ms_unsigned(p, &number) || !csni_ms_take(p, '?')) return NULL;
    node *symbol = csni_ms_symbol(p), *scope = csni_ms_make(p, ID_NAME);
    struct csn_str text;
    if (!symbol || !scope || !csni_ms_render(p, symbol, &text)) return NULL;
    enum { AROUND = 32 };
    struct csni_name_text whole = { .out = csni_name_alloc(p->memory, text.len + AROUND), .cap = text.len + AROUND };
    if (!whole.out) return NULL;
    csni_name_put_text(&whole, "`");
    csni_name_put_str(&whole, text);
    csni_name_put_text(&whole, "'::`");
    csni_name_put_number(&whole, (uint64_t)number);
    csni_name_put_text(&whole, "'");
    scope->text = (struct csn_str){ whole.out, whole.len };
    return whole.too_long ? NULL : scope;
}

static node *read_scope(msvc *p) {
    if (csni_ms_digit(csni_ms_peek(p, 0))) return referred_name(p);
    if (csni_ms_starts(p, "?$")) return read_template(p, true);
    if (csni_ms_starts(p, "?A")) return read_anonymous_namespace(p);
    return starts_local_scope(p) ? read_local_scope(p) : read_simple_name(p, true);
}

static void reverse_parts(msvc *p, uint32_t base) {
    const void **at = p->parts.at;
    for (uint32_t i = base, j = p->parts.count; i + 1 < j; i++) {
        const void *part = at[i];
        at[i] = at[--j];
        at[j] = part;
    }
}

node *csni_ms_scopes(msvc *p, node *innermost) {
    uint32_t base = p->parts.count;
    if (!csni_ms_push(p, innermost)) return NULL;
    while (!csni_ms_take(p, '@'))
        if (p->at == p->end || !csni_ms_push(p, csni_ms_leave(p, csni_ms_enter(p) ? read_scope(p) : NULL))) return NULL;
    reverse_parts(p, base);
    return csni_ms_set_list(p, csni_ms_make(p, ID_QUALIFIED), base);
}

node *csni_ms_last_identifier(const node *qualified) {
    return qualified->kind == ID_QUALIFIED && qualified->count ? qualified->list[qualified->count - 1]
                                                               : (node *)(uintptr_t)qualified;
}

node *csni_ms_unqualified_type_name(msvc *p) {
    if (csni_ms_digit(csni_ms_peek(p, 0))) return referred_name(p);
    return csni_ms_starts(p, "?$") ? read_template(p, true) : read_simple_name(p, true);
}

node *csni_ms_type_name(msvc *p) {
    node *name = csni_ms_unqualified_type_name(p);
    return name ? csni_ms_scopes(p, name) : NULL;
}

/* Constructors have the name of their class. */
node *csni_ms_symbol_name(msvc *p) {
    node *name = read_unqualified(p, true), *qualified = name ? csni_ms_scopes(p, name) : NULL;
    if (!qualified || name->kind != ID_STRUCTOR) return qualified;
    if (qualified->count < 2) return NULL;
    name->a = qualified->list[qualified->count - 2];
    return qualified;
}
