/* D names: types. */
#include "names/d/dlang_read.h"

bool csni_d_is_convention(char c) { return c && strchr("FUWVRY", c); }

static bool read_convention(dlang *r) {
    static const char letters[] = "FUWVRY";
    static const char *const names[] = { "", "extern(C) ", "extern(Windows) ", "extern(Pascal) ", "extern(C++) ",
                                         "extern(Objective-C) " };
    char c = csni_d_peek(r, 0);
    const char *found = c ? strchr(letters, c) : NULL;
    if (!found) return false;
    r->at++;
    csni_d_put(r, names[found - letters]);
    return true;
}

bool csni_d_modifiers(dlang *r) {
    for (;;) {
        if (r->at == r->end) return false;
        if (csni_d_take(r, 'x')) {
            csni_d_put(r, " const");
            return true;
        }
        if (csni_d_take(r, 'y')) {
            csni_d_put(r, " immutable");
            return true;
        }
        if (csni_d_take(r, 'O')) {
            csni_d_put(r, " shared");
        } else if (csni_d_take(r, 'N')) {
            if (!csni_d_take(r, 'g')) return false;
            csni_d_put(r, " inout");
        } else {
            return true;
        }
    }
}

/* 'N' and a letter each; those that begin a parameter end the list. */
static bool read_attributes(dlang *r) {
    static const char letters[] = "abcdefijlm";
    static const char *const names[] = { "pure ",  "nothrow ", "ref ",    "@property ", "@trusted ",
                                         "@safe ", "@nogc ",   "return ", "scope ",     "@live " };
    while (csni_d_peek(r, 0) == 'N') {
        char c = csni_d_peek(r, 1);
        if (c && strchr("ghkn", c)) return true;
        const char *found = c ? strchr(letters, c) : NULL;
        if (!found) return false;
        r->at += 2;
        csni_d_put(r, names[found - letters]);
    }
    return r->at < r->end;
}

bool csni_d_skip_convention(dlang *r) {
    size_t len = r->out->len;
    bool done = read_convention(r) && read_attributes(r);
    csni_d_back_to(r, len);
    return done;
}

/* "scope" and "return" stand in either order: that has changed with time. */
static void read_storage_class(dlang *r) {
    for (;;) {
        if (csni_d_take(r, 'M')) {
            csni_d_put(r, "scope ");
        } else if (csni_d_starts(r, "Nk")) {
            r->at += 2;
            csni_d_put(r, "return ");
        } else {
            break;
        }
    }
    if (csni_d_take(r, 'I')) {
        csni_d_put(r, "in ");
        if (csni_d_take(r, 'K')) csni_d_put(r, "ref ");
    } else if (csni_d_take(r, 'J')) {
        csni_d_put(r, "out ");
    } else if (csni_d_take(r, 'K')) {
        csni_d_put(r, "ref ");
    } else if (csni_d_take(r, 'L')) {
        csni_d_put(r, "lazy ");
    }
}

static bool read_parameter_list(dlang *r) {
    for (size_t count = 0; r->at < r->end; count++) {
        if (csni_d_take(r, 'Z')) return true;
        if (csni_d_take(r, 'X')) { /* of the last parameter's type */
            csni_d_put(r, "...");
            return true;
        }
        if (count) csni_d_put(r, ", ");
        if (csni_d_take(r, 'Y')) {
            csni_d_put(r, "...");
            return true;
        }
        read_storage_class(r);
        if (!csni_d_type(r)) return false;
    }
    return true;
}

bool csni_d_parameters(dlang *r) {
    csni_d_put(r, "(");
    if (!read_parameter_list(r)) return false;
    csni_d_put(r, ")");
    return true;
}

/* ---- parts change places ---- */

static void reverse(char *begin, char *end) {
    while (begin < end) {
        char c = *begin;
        *begin++ = *--end;
        *end = c;
    }
}

/* The text from a is X Y Z, with Y from b and Z from c; it becomes Z Y X. Where the text was cut it is of no use, and stays. */
static void swap_around(dlang *r, size_t a, size_t b, size_t c) {
    char *out = r->out->out;
    size_t end = r->out->len;
    if (end > r->out->cap) return;
    reverse(out + a, out + b);
    reverse(out + b, out + c);
    reverse(out + c, out + end);
    reverse(out + a, out + end);
}

static bool read_type_apart(dlang *r) {
    size_t base = r->base;
    r->base = r->out->len;
    bool done = csni_d_type(r);
    r->base = base;
    return done;
}

static bool read_parameters_apart(dlang *r) {
    size_t base = r->base;
    r->base = r->out->len;
    bool done = csni_d_parameters(r);
    r->base = base;
    return done;
}

/* The name has attributes, parameters and type; the text has type, parameters and attributes. */
static bool read_function(dlang *r) {
    if (!read_convention(r)) return false;
    size_t attributes = r->out->len;
    csni_d_put(r, " ");
    if (!read_attributes(r)) return false;
    size_t parameters = r->out->len;
    if (!read_parameters_apart(r)) return false;
    size_t type = r->out->len;
    if (!read_type_apart(r)) return false;
    swap_around(r, attributes, parameters, type);
    return true;
}

/* The name has key and value; the text has value and key. */
static bool read_associative_array(dlang *r) {
    size_t key = r->out->len;
    csni_d_put(r, "[");
    if (!read_type_apart(r)) return false;
    csni_d_put(r, "]");
    size_t value = r->out->len;
    if (!csni_d_type(r)) return false;
    swap_around(r, key, value, value);
    return true;
}

/* ---- all types ---- */

static bool read_wrapped(dlang *r, const char *before, const char *after) {
    csni_d_put(r, before);
    if (!csni_d_type(r)) return false;
    csni_d_put(r, after);
    return true;
}

static bool read_static_array(dlang *r) {
    const char *digits = r->at;
    while (csni_d_digit(csni_d_peek(r, 0))) r->at++;
    size_t count = (size_t)(r->at - digits);
    if (!csni_d_type(r)) return false;
    csni_d_put(r, "[");
    csni_name_put(r->out, digits, count);
    csni_d_put(r, "]");
    return true;
}

/* References lead ever farther back, so that none leads to itself. */
static bool read_referred_type(dlang *r, bool is_function) {
    size_t position = (size_t)(r->at - r->begin), saved = r->last_reference;
    const char *target;
    if (position >= saved) return false;
    r->last_reference = position;
    bool done = csni_d_reference(r, &target);
    if (done) {
        const char *back = r->at;
        r->at = target;
        done = is_function ? read_function(r) : csni_d_type(r);
        r->at = back;
    }
    r->last_reference = saved;
    return done;
}

static bool read_delegate(dlang *r) {
    const char *modifiers = r->at;
    size_t len = r->out->len;
    bool done = csni_d_modifiers(r);
    csni_d_back_to(r, len);
    if (!done) return false;
    if (!(csni_d_peek(r, 0) == 'Q' ? read_referred_type(r, true) : read_function(r))) return false;
    csni_d_put(r, "delegate");
    const char *back = r->at;
    r->at = modifiers;
    csni_d_modifiers(r);
    r->at = back;
    return true;
}

static bool read_tuple(dlang *r) {
    uint64_t count;
    if (!csni_d_number(r, &count)) return false;
    csni_d_put(r, "Tuple!(");
    for (; count; count--) {
        if (!csni_d_type(r)) return false;
        if (count > 1) csni_d_put(r, ", ");
    }
    csni_d_put(r, ")");
    return true;
}

static const char *basic_type(char c) {
    static const char *const names[26] = {
        ['a' - 'a'] = "char",   ['b' - 'a'] = "bool",   ['c' - 'a'] = "creal",   ['d' - 'a'] = "double", ['e' - 'a'] = "real",
        ['f' - 'a'] = "float",  ['g' - 'a'] = "byte",   ['h' - 'a'] = "ubyte",   ['i' - 'a'] = "int",    ['j' - 'a'] = "ireal",
        ['k' - 'a'] = "uint",   ['l' - 'a'] = "long",   ['m' - 'a'] = "ulong",   ['n' - 'a'] = "typeof(null)",
        ['o' - 'a'] = "ifloat", ['p' - 'a'] = "idouble", ['q' - 'a'] = "cfloat", ['r' - 'a'] = "cdouble", ['s' - 'a'] = "short",
        ['t' - 'a'] = "ushort", ['u' - 'a'] = "wchar",  ['v' - 'a'] = "void",    ['w' - 'a'] = "dchar",
    };
    return c >= 'a' && c <= 'z' ? names[c - 'a'] : NULL;
}

static bool read_n_type(dlang *r) {
    if (csni_d_take(r, 'g')) return read_wrapped(r, "inout(", ")");
    if (csni_d_take(r, 'h')) return read_wrapped(r, "__vector(", ")");
    if (!csni_d_take(r, 'n')) return false;
    csni_d_put(r, "typeof(*null)");
    return true;
}

static bool read_function_pointer(dlang *r) {
    if (!read_function(r)) return false;
    csni_d_put(r, "function");
    return true;
}

static bool read_cent(dlang *r) {
    if (csni_d_take(r, 'i')) csni_d_put(r, "cent");
    else if (csni_d_take(r, 'k')) csni_d_put(r, "ucent");
    else return false;
    return true;
}

static bool read_type(dlang *r) {
    char c = csni_d_peek(r, 0);
    const char *basic = basic_type(c);
    if (basic) {
        r->at++;
        csni_d_put(r, basic);
        return true;
    }
    if (csni_d_is_convention(c)) return read_function_pointer(r);
    if (c == 'Q') return read_referred_type(r, false);
    if (!c) return false;
    r->at++;
    switch (c) {
    case 'O': return read_wrapped(r, "shared(", ")");
    case 'x': return read_wrapped(r, "const(", ")");
    case 'y': return read_wrapped(r, "immutable(", ")");
    case 'N': return read_n_type(r);
    case 'A': return read_wrapped(r, "", "[]");
    case 'G': return read_static_array(r);
    case 'H': return read_associative_array(r);
    case 'P': return csni_d_is_convention(csni_d_peek(r, 0)) ? read_function_pointer(r) : read_wrapped(r, "", "*");
    case 'C': case 'S': case 'E': case 'T': return csni_d_qualified(r, false);
    case 'D': return read_delegate(r);
    case 'B': return read_tuple(r);
    case 'z': return read_cent(r);
    default: return false;
    }
}

bool csni_d_type(dlang *r) { return csni_d_leave(r, csni_d_enter(r) && read_type(r)); }
