/* D names: identifiers, templates, qualified names, whole ones. */
#include "names/d/dlang.h"
#include "names/d/dlang_read.h"

/* A number at the very end is none: something has to follow it. */
bool csni_d_number(dlang *r, uint64_t *out) {
    uint64_t value = 0;
    if (!csni_d_digit(csni_d_peek(r, 0))) return false;
    for (; csni_d_digit(csni_d_peek(r, 0)); r->at++) {
        value = 10 * value + (uint64_t)(*r->at - '0');
        if (value > UINT32_MAX) return false;
    }
    *out = value;
    return r->at < r->end;
}

/* Digits to the base 26, the last one in lower case. NULL: there is none. */
static const char *read_distance(const dlang *r, const char *at, uint64_t *out) {
    uint64_t value = 0;
    for (; at < r->end && value <= UINT32_MAX; at++) {
        bool last = *at >= 'a' && *at <= 'z';
        if (!last && (*at < 'A' || *at > 'Z')) return NULL;
        value = 26 * value + (uint64_t)(*at - (last ? 'a' : 'A'));
        *out = value;
        if (last) return value ? at + 1 : NULL;
    }
    return NULL;
}

bool csni_d_reference(dlang *r, const char **out) {
    const char *from = r->at;
    uint64_t distance;
    if (csni_d_peek(r, 0) != 'Q') return false;
    const char *after = read_distance(r, from + 1, &distance);
    if (!after || distance > (uint64_t)(from - r->begin)) return false;
    r->at = after;
    *out = from - distance;
    return true;
}

static bool starts_template(const dlang *r, const char *at) {
    return r->end - at >= 3 && at[0] == '_' && at[1] == '_' && (at[2] == 'T' || at[2] == 'U');
}

bool csni_d_starts_symbol(const dlang *r, const char *at) {
    uint64_t distance;
    if (at >= r->end) return false;
    if (csni_d_digit(*at) || starts_template(r, at)) return true;
    if (*at != 'Q' || !read_distance(r, at + 1, &distance)) return false;
    return distance <= (uint64_t)(at - r->begin) && csni_d_digit(at[-(ptrdiff_t)distance]);
}

/* ---- identifiers ---- */

/* What compilers make for a type: it is named before the type, and has no type itself. */
static const char *artificial(struct csn_str id, bool before_z) {
    static const char *const names[][2] = {
        { "__init", "initializer for " },    { "__vtbl", "vtable for " },          { "__Class", "ClassInfo for " },
        { "__Interface", "Interface for " }, { "__ModuleInfo", "ModuleInfo for " },
    };
    for (size_t i = 0; before_z && i < sizeof(names) / sizeof(names[0]); i++)
        if (id.len == strlen(names[i][0]) && memcmp(id.ptr, names[i][0], id.len) == 0) return names[i][1];
    return NULL;
}

/* Puts `words` before the current text, from which the last '.' goes. */
static void put_before(dlang *r, const char *words) {
    size_t len = strlen(words), size = r->out->len - r->base;
    if (size) csni_d_back_to(r, r->out->len - 1);
    csni_d_put(r, words);
    if (r->out->too_long || r->out->len > r->out->cap || !size) return;
    char *text = r->out->out + r->base;
    memmove(text + len, text, size - 1);
    memcpy(text, words, len);
}

static bool id_is(struct csn_str id, const char *text) { return id.len == strlen(text) && memcmp(id.ptr, text, id.len) == 0; }

static void put_identifier(dlang *r, struct csn_str id) {
    const char *words = artificial(id, csni_d_peek(r, 0) == 'Z');
    if (words) {
        put_before(r, words);
    } else if (id_is(id, "__ctor")) {
        csni_d_put(r, "this");
    } else if (id_is(id, "__dtor")) {
        csni_d_put(r, "~this");
    } else if (id_is(id, "__postblit") && csni_d_starts(r, "MFZ")) {
        csni_d_put(r, "this(this)");
        r->at += 3;
    } else {
        csni_name_put_str(r->out, id);
    }
}

/* A number and as many bytes. */
static bool read_counted(dlang *r, struct csn_str *out) {
    uint64_t len;
    if (!csni_d_number(r, &len) || len > (uint64_t)(r->end - r->at)) return false;
    *out = (struct csn_str){ r->at, (size_t)len };
    r->at += len;
    return true;
}

static bool read_referred_identifier(dlang *r) {
    const char *target;
    struct csn_str id;
    if (!csni_d_reference(r, &target)) return false;
    const char *back = r->at;
    r->at = target;
    bool done = read_counted(r, &id);
    if (done) put_identifier(r, id);
    r->at = back;
    return done;
}

/* "__S12": a parent that only makes names of one function's declarations differ. */
static bool is_fake_parent(struct csn_str id) {
    if (id.len < 4 || memcmp(id.ptr, "__S", 3) != 0) return false;
    for (size_t i = 3; i < id.len; i++)
        if (!csni_d_digit(id.ptr[i])) return false;
    return true;
}

static bool read_template(dlang *r, size_t len);

static bool read_identifier(dlang *r) {
    struct csn_str id;
    if (csni_d_peek(r, 0) == 'Q') return read_referred_identifier(r);
    if (starts_template(r, r->at)) return read_template(r, SIZE_MAX);
    do {
        if (!read_counted(r, &id) || !id.len) return false;
        if (id.len >= 5 && starts_template(r, id.ptr)) {
            r->at = id.ptr;
            return read_template(r, id.len);
        }
    } while (is_fake_parent(id) && csni_d_digit(csni_d_peek(r, 0)));
    if (is_fake_parent(id)) return read_identifier(r);
    put_identifier(r, id);
    return true;
}

/* ---- templates ---- */

/* Up to D 2.076, the length of a symbol stood before one that may begin with a digit itself: all ways to part the
 * digits are tried, the last one is that all of them belong to the symbol. */
static bool read_old_symbol(dlang *r) {
    uint64_t size;
    if (!csni_d_number(r, &size) || !size) return false;
    size_t text = r->out->len;
    for (const char *from = r->at;; from--) {
        bool whole = !size; /* no digits are left for the length: there is none */
        r->at = from;
        bool done = true;
        if (csni_d_starts_symbol(r, from)) done = csni_d_qualified(r, false);
        else if (csni_d_starts(r, "_D") && csni_d_starts_symbol(r, from + 2)) done = csni_d_mangle(r);
        if (done && (whole || (uint64_t)(r->at - from) == size)) return true;
        if (whole) return false;
        size /= 10;
        csni_d_back_to(r, text);
    }
}

static bool read_symbol_argument(dlang *r) {
    if (csni_d_starts(r, "_D") && csni_d_starts_symbol(r, r->at + 2)) return csni_d_mangle(r);
    return csni_d_peek(r, 0) == 'Q' ? csni_d_qualified(r, false) : read_old_symbol(r);
}

static bool read_value_argument(dlang *r) {
    char type = csni_d_peek(r, 0);
    size_t name = r->out->len, base = r->base;
    if (type == 'Q') {
        const char *at = r->at, *target;
        if (!csni_d_reference(r, &target)) return false;
        type = *target;
        r->at = at;
    }
    r->base = name;
    bool done = csni_d_type(r);
    r->base = base;
    return done && csni_d_value(r, type, name);
}

static bool read_external_argument(dlang *r) {
    struct csn_str id;
    if (!read_counted(r, &id)) return false;
    csni_name_put_str(r->out, id);
    return true;
}

static bool read_template_arguments(dlang *r) {
    for (size_t count = 0; r->at < r->end; count++) {
        if (csni_d_take(r, 'Z')) return true;
        if (count) csni_d_put(r, ", ");
        csni_d_take(r, 'H'); /* of a specialization */
        bool done = csni_d_take(r, 'S')   ? read_symbol_argument(r)
                    : csni_d_take(r, 'T') ? csni_d_type(r)
                    : csni_d_take(r, 'V') ? read_value_argument(r)
                    : csni_d_take(r, 'X') ? read_external_argument(r)
                                          : false;
        if (!done) return false;
    }
    return true;
}

static bool read_template_body(dlang *r, size_t len) {
    const char *begin = r->at;
    r->at += 3;
    if (!csni_d_starts_symbol(r, r->at) || csni_d_peek(r, 0) == '0' || !read_identifier(r)) return false;
    csni_d_put(r, "!(");
    size_t base = r->base;
    r->base = r->out->len;
    bool done = read_template_arguments(r);
    r->base = base;
    csni_d_put(r, ")");
    return done && (len == SIZE_MAX || (size_t)(r->at - begin) == len);
}

/* `len` SIZE_MAX: it is not known. */
static bool read_template(dlang *r, size_t len) { return csni_d_leave(r, csni_d_enter(r) && read_template_body(r, len)); }

/* ---- qualified names ---- */

/* The type of the function that a name is of, without what it returns. */
static bool read_function_part(dlang *r, bool with_modifiers) {
    const char *modifiers = NULL, *back;
    size_t len = r->out->len;
    if (csni_d_take(r, 'M')) {
        modifiers = r->at;
        bool done = csni_d_modifiers(r);
        csni_d_back_to(r, len);
        if (!done) return false;
    }
    if (!csni_d_skip_convention(r) || !csni_d_parameters(r)) return false;
    if (modifiers && with_modifiers) {
        back = r->at;
        r->at = modifiers;
        csni_d_modifiers(r);
        r->at = back;
    }
    return r->at < r->end;
}

static bool read_qualified(dlang *r, bool with_modifiers) {
    size_t count = 0;
    do {
        if (csni_d_peek(r, 0) == '0') { /* without a name */
            while (csni_d_take(r, '0')) continue;
            continue;
        }
        if (count++) csni_d_put(r, ".");
        if (!read_identifier(r)) return false;
        char c = csni_d_peek(r, 0);
        if (c != 'M' && !csni_d_is_convention(c)) continue;
        const char *start = r->at;
        size_t len = r->out->len;
        if (read_function_part(r, with_modifiers)) continue;
        if (r->out->too_long) return false;
        r->at = start; /* it was no function's type, but what follows the name */
        csni_d_back_to(r, len);
    } while (csni_d_starts_symbol(r, r->at));
    return true;
}

bool csni_d_qualified(dlang *r, bool with_modifiers) {
    return csni_d_leave(r, csni_d_enter(r) && read_qualified(r, with_modifiers));
}

/* "MQ": a method whose type is that of something before it. */
static bool read_referred_method(dlang *r) {
    const char *target;
    size_t len = r->out->len;
    r->at++;
    bool done = csni_d_modifiers(r);
    csni_d_back_to(r, len);
    if (!done || !csni_d_reference(r, &target)) return false;
    const char *back = r->at;
    r->at = target;
    done = csni_d_skip_convention(r) && csni_d_parameters(r);
    r->at = back;
    return done;
}

/* The type of a variable, or what a function returns, is read and left out. */
bool csni_d_mangle(dlang *r) {
    r->at += 2;
    if (!csni_d_qualified(r, true)) return false;
    if (csni_d_take(r, 'Z')) return true;
    if (csni_d_peek(r, 0) == 'M') return read_referred_method(r);
    size_t len = r->out->len, base = r->base;
    r->base = len;
    bool done = csni_d_type(r);
    r->base = base;
    csni_d_back_to(r, len);
    return done;
}

static bool demangle(struct csn_str name, struct csni_name_text *out) {
    dlang r = { .begin = name.ptr, .at = name.ptr, .end = name.ptr + name.len, .out = out, .last_reference = name.len };
    return csni_d_mangle(&r) && r.at == r.end && out->len && !out->too_long;
}

/* Parts change places in the text, so all of it is needed. */
static bool demangle_bare(struct csn_str name, struct csni_name_memory *memory, struct csni_name_text *out) {
    struct csni_name_text whole = { .cap = 2 * name.len + 512 };
    if (name.len == 6 && memcmp(name.ptr, "_Dmain", 6) == 0) {
        csni_name_put_text(out, "D main");
        return true;
    }
    do {
        if (whole.len) whole = (struct csni_name_text){ .cap = whole.len };
        whole.out = csni_name_alloc(memory, whole.cap);
        if (!whole.out || !demangle(name, &whole)) return false;
    } while (whole.len > whole.cap);
    csni_name_put(out, whole.out, whole.len);
    return !out->too_long;
}

/* ".part.0" and its like are gcc's, not D's. */
bool csni_dlang_demangle(struct csn_str name, struct csni_name_memory *memory, struct csni_name_text *out) {
    const char *suffix = memchr(name.ptr, '.', name.len);
    size_t len = suffix ? (size_t)(suffix - name.ptr) : name.len;
    if (!demangle_bare((struct csn_str){ name.ptr, len }, memory, out)) return false;
    if (!suffix) return true;
    csni_name_put_text(out, " (");
    csni_name_put(out, suffix, name.len - len);
    csni_name_put_text(out, ")");
    return !out->too_long;
}
