/* Rust's symbol mangling of RFC 2603, "v0": paths, types and constants, written as they are read. Back references are followed where
 * text is wanted, so depth and steps are limited. */
#include "names/rust/punycode.h"
#include "names/rust/rust.h"

enum { DEPTH_MAX = 500, STEPS_MAX = 1 << 20 };

struct reader {
    const char *begin, *at, *end; /* after "_R", up to a suffix */
    struct csni_name_text *out;
    uint64_t bound_lifetimes;
    uint32_t depth, steps;
    bool silent; /* nothing is written */
    bool failed;
};

static void rust_fail(struct reader *r) { r->failed = true; }

static bool rust_enter(struct reader *r) {
    if (r->depth >= DEPTH_MAX || r->steps++ >= STEPS_MAX || r->out->too_long) rust_fail(r);
    if (r->failed) return false;
    r->depth++;
    return true;
}

static void rust_put(struct reader *r, const char *text) {
    if (!r->silent && !r->failed) csni_name_put_text(r->out, text);
}

static void rust_put_bytes(struct reader *r, const char *bytes, size_t size) {
    if (!r->silent && !r->failed) csni_name_put(r->out, bytes, size);
}

static void rust_put_char(struct reader *r, char c) { rust_put_bytes(r, &c, 1); }

static void rust_put_number(struct reader *r, uint64_t value) {
    if (!r->silent && !r->failed) csni_name_put_number(r->out, value);
}

/* ---- tokens ---- */

static char rust_peek(const struct reader *r) { return r->at < r->end ? *r->at : 0; }

static char rust_next(struct reader *r) {
    if (r->at == r->end) rust_fail(r);
    return r->failed ? 0 : *r->at++;
}

static bool rust_take(struct reader *r, char c) {
    if (r->failed || rust_peek(r) != c || !c) return false;
    r->at++;
    return true;
}

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_lower(char c) { return c >= 'a' && c <= 'z'; }
static bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

static unsigned digit_62(char c) {
    return (unsigned)(is_digit(c) ? c - '0' : is_lower(c) ? c - 'a' + 10 : is_upper(c) ? c - 'A' + 36 : 62);
}

/* Digits to the base 62 and '_', counted from one; '_' alone is 0. */
static uint64_t read_base_62(struct reader *r) {
    uint64_t value = 0;
    if (rust_take(r, '_')) return 0;
    for (;;) {
        unsigned digit = digit_62(rust_next(r));
        if (r->failed || digit > 61 || value > (UINT64_MAX - 62) / 62) {
            rust_fail(r);
            return 0;
        }
        value = 62 * value + digit;
        if (rust_take(r, '_')) return value + 1;
    }
}

static uint64_t read_tagged(struct reader *r, char tag) { return rust_take(r, tag) ? read_base_62(r) + 1 : 0; }

struct identifier {
    struct csn_str text;
    bool is_punycode;
};

static struct identifier read_identifier(struct reader *r) {
    struct identifier id = { .is_punycode = rust_take(r, 'u') };
    size_t len = 0;
    if (!is_digit(rust_peek(r))) rust_fail(r);
    bool more = rust_peek(r) != '0';
    do {
        if (r->failed) return id;
        len = 10 * len + (size_t)(rust_next(r) - '0');
        if (len > (size_t)(r->end - r->at)) rust_fail(r);
    } while (more && is_digit(rust_peek(r)));
    rust_take(r, '_');
    if (r->failed || len > (size_t)(r->end - r->at)) {
        rust_fail(r);
        return id;
    }
    id.text = (struct csn_str){ r->at, len };
    r->at += len;
    return id;
}

static void put_identifier(struct reader *r, struct identifier id) {
    if (r->silent || r->failed) return;
    if (!id.is_punycode) csni_name_put_str(r->out, id.text);
    else if (!csni_put_punycode(r->out, id.text)) rust_fail(r);
}

/* Hexadecimal digits and '_'. */
static struct csn_str read_hex(struct reader *r) {
    const char *begin = r->at;
    while (is_digit(rust_peek(r)) || (rust_peek(r) >= 'a' && rust_peek(r) <= 'f')) r->at++;
    struct csn_str digits = { begin, (size_t)(r->at - begin) };
    if (!rust_take(r, '_')) rust_fail(r);
    while (digits.len && digits.ptr[0] == '0') {
        digits.ptr++;
        digits.len--;
    }
    return digits;
}

static uint64_t hex_value(struct csn_str digits) {
    uint64_t value = 0;
    for (size_t i = 0; i < digits.len; i++) value = value << 4 | digit_62(digits.ptr[i]);
    return value;
}

/* ---- the grammar is a circle ---- */

static bool read_path(struct reader *r, bool in_type, bool leave_open);
static void read_type(struct reader *r);
static void read_const(struct reader *r, bool in_value);

/* What a back reference refers to: reading goes on there. NULL: nothing is wanted of it. */
static const char *rust_follow(struct reader *r) {
    const char *from = r->at - 1;
    uint64_t position = read_base_62(r);
    if (!r->failed && position >= (uint64_t)(from - r->begin)) rust_fail(r);
    if (r->failed || r->silent) return NULL;
    const char *back = r->at;
    r->at = r->begin + position;
    return back;
}

/* ---- lifetimes ---- */

static void put_lifetime(struct reader *r, uint64_t index) {
    if (!index) {
        rust_put(r, "'_");
        return;
    }
    if (index > r->bound_lifetimes) {
        rust_fail(r);
        return;
    }
    uint64_t depth = r->bound_lifetimes - index;
    rust_put(r, "'");
    rust_put_char(r, (char)(depth < 26 ? 'a' + depth : 'z'));
    if (depth >= 26) rust_put_number(r, depth - 25);
}

/* "for<'a, 'b> " */
static void read_binder(struct reader *r) {
    uint64_t count = read_tagged(r, 'G');
    if (r->failed || !count) return;
    /* More lifetimes than bytes that could use them are no compiler's. */
    if (count > (uint64_t)(r->end - r->begin) || r->bound_lifetimes > STEPS_MAX) {
        rust_fail(r);
        return;
    }
    rust_put(r, "for<");
    for (uint64_t i = 0; i < count; i++) {
        r->bound_lifetimes++;
        if (i) rust_put(r, ", ");
        put_lifetime(r, 1);
    }
    rust_put(r, "> ");
}

/* ---- paths ---- */

static void skip_impl_path(struct reader *r, bool in_type) {
    bool silent = r->silent;
    r->silent = true;
    read_tagged(r, 's');
    read_path(r, in_type, false);
    r->silent = silent;
}

static void read_self_type(struct reader *r, bool has_trait) {
    rust_put(r, "<");
    read_type(r);
    if (has_trait) {
        rust_put(r, " as ");
        read_path(r, true, false);
    }
    rust_put(r, ">");
}

static void put_special(struct reader *r, char namespace, struct identifier id, uint64_t number) {
    rust_put(r, "::{");
    if (namespace == 'C') rust_put(r, "closure");
    else if (namespace == 'S') rust_put(r, "shim");
    else rust_put_char(r, namespace);
    if (id.text.len) {
        rust_put(r, ":");
        put_identifier(r, id);
    }
    rust_put(r, "#");
    rust_put_number(r, number);
    rust_put(r, "}");
}

static void read_nested(struct reader *r, bool in_type) {
    char namespace = rust_next(r);
    if (!is_lower(namespace) && !is_upper(namespace)) rust_fail(r);
    read_path(r, in_type, false);
    uint64_t number = read_tagged(r, 's');
    struct identifier id = read_identifier(r);
    if (is_upper(namespace)) {
        put_special(r, namespace, id, number);
    } else if (id.text.len) {
        rust_put(r, "::");
        put_identifier(r, id);
    }
}

static void read_generic_arg(struct reader *r) {
    if (rust_take(r, 'L')) put_lifetime(r, read_base_62(r));
    else if (rust_take(r, 'K')) read_const(r, false);
    else read_type(r);
}

static void read_generic_args(struct reader *r) {
    rust_put(r, "<");
    for (bool first = true; !r->failed && !rust_take(r, 'E'); first = false) {
        if (!first) rust_put(r, ", ");
        read_generic_arg(r);
    }
}

/* True: generic arguments are left open, for what a trait's bindings add to them. */
static bool read_path_part(struct reader *r, bool in_type, bool leave_open) {
    const char *back;
    bool open = false;
    char tag = rust_next(r);
    switch (tag) {
    case 'C':
        read_tagged(r, 's');
        put_identifier(r, read_identifier(r));
        break;
    case 'M': skip_impl_path(r, in_type); read_self_type(r, false); break;
    case 'X': skip_impl_path(r, in_type); read_self_type(r, true); break;
    case 'Y': read_self_type(r, true); break;
    case 'N': read_nested(r, in_type); break;
    case 'I':
        read_path(r, in_type, false);
        if (!in_type) rust_put(r, "::");
        read_generic_args(r);
        if (leave_open) return true;
        rust_put(r, ">");
        break;
    case 'B':
        back = rust_follow(r);
        if (!back) break;
        open = read_path(r, in_type, leave_open);
        r->at = back;
        break;
    default: rust_fail(r); break;
    }
    return open;
}

static bool read_path(struct reader *r, bool in_type, bool leave_open) {
    if (!rust_enter(r)) return false;
    bool open = read_path_part(r, in_type, leave_open);
    r->depth--;
    return open;
}

/* ---- types ---- */

static const char *basic_type(char tag) {
    static const char *const names[26] = {
        ['a' - 'a'] = "i8",   ['b' - 'a'] = "bool", ['c' - 'a'] = "char",  ['d' - 'a'] = "f64",   ['e' - 'a'] = "str",
        ['f' - 'a'] = "f32",  ['h' - 'a'] = "u8",   ['i' - 'a'] = "isize", ['j' - 'a'] = "usize", ['l' - 'a'] = "i32",
        ['m' - 'a'] = "u32",  ['n' - 'a'] = "i128", ['o' - 'a'] = "u128",  ['p' - 'a'] = "_",     ['s' - 'a'] = "i16",
        ['t' - 'a'] = "u16",  ['u' - 'a'] = "()",   ['v' - 'a'] = "...",   ['x' - 'a'] = "i64",   ['y' - 'a'] = "u64",
        ['z' - 'a'] = "!",
    };
    return is_lower(tag) ? names[tag - 'a'] : NULL;
}

static size_t read_types(struct reader *r) {
    size_t count = 0;
    for (; !r->failed && !rust_take(r, 'E'); count++) {
        if (count) rust_put(r, ", ");
        read_type(r);
    }
    return count;
}

/* "-" is mangled as "_". */
static void read_calling_convention(struct reader *r) {
    rust_put(r, "extern \"");
    if (rust_take(r, 'C')) {
        rust_put(r, "C");
    } else {
        struct identifier id = read_identifier(r);
        if (id.is_punycode) rust_fail(r);
        for (size_t i = 0; i < id.text.len && !r->failed; i++) rust_put_char(r, id.text.ptr[i] == '_' ? '-' : id.text.ptr[i]);
    }
    rust_put(r, "\" ");
}

static void read_function_type(struct reader *r) {
    uint64_t bound = r->bound_lifetimes;
    read_binder(r);
    if (rust_take(r, 'U')) rust_put(r, "unsafe ");
    if (rust_take(r, 'K')) read_calling_convention(r);
    rust_put(r, "fn(");
    read_types(r);
    rust_put(r, ")");
    if (!rust_take(r, 'u')) {
        rust_put(r, " -> ");
        read_type(r);
    }
    r->bound_lifetimes = bound;
}

static void read_dyn_trait(struct reader *r) {
    bool open = read_path(r, true, true);
    while (rust_take(r, 'p')) {
        rust_put(r, open ? ", " : "<");
        open = true;
        put_identifier(r, read_identifier(r));
        rust_put(r, " = ");
        read_type(r);
    }
    if (open) rust_put(r, ">");
}

static void read_dyn(struct reader *r) {
    uint64_t bound = r->bound_lifetimes;
    rust_put(r, "dyn ");
    read_binder(r);
    for (bool first = true; !r->failed && !rust_take(r, 'E'); first = false) {
        if (!first) rust_put(r, " + ");
        read_dyn_trait(r);
    }
    r->bound_lifetimes = bound;
    if (!rust_take(r, 'L')) rust_fail(r);
    uint64_t lifetime = read_base_62(r);
    if (!lifetime) return;
    rust_put(r, " + ");
    put_lifetime(r, lifetime);
}

static void read_reference(struct reader *r, bool is_mutable) {
    rust_put(r, "&");
    if (rust_take(r, 'L')) {
        uint64_t lifetime = read_base_62(r);
        if (lifetime) {
            put_lifetime(r, lifetime);
            rust_put(r, " ");
        }
    }
    if (is_mutable) rust_put(r, "mut ");
    read_type(r);
}

static void read_array(struct reader *r) {
    rust_put(r, "[");
    read_type(r);
    rust_put(r, "; ");
    read_const(r, true);
    rust_put(r, "]");
}

static void read_tuple(struct reader *r) {
    rust_put(r, "(");
    if (read_types(r) == 1) rust_put(r, ",");
    rust_put(r, ")");
}

/* What values of a type are allowed: a range, or several patterns. */
static void read_pattern(struct reader *r) {
    if (!rust_enter(r)) return;
    switch (rust_next(r)) {
    case 'R':
        read_const(r, false);
        rust_put(r, "..=");
        read_const(r, false);
        break;
    case 'O':
        for (bool first = true; !r->failed && !rust_take(r, 'E'); first = false) {
            if (!first) rust_put(r, " | ");
            read_pattern(r);
        }
        break;
    case 'N': rust_put(r, "!null"); break;
    default: rust_fail(r); break;
    }
    r->depth--;
}

static void read_type_part(struct reader *r) {
    const char *back;
    char tag = rust_next(r);
    const char *basic = basic_type(tag);
    if (basic) {
        rust_put(r, basic);
        return;
    }
    switch (tag) {
    case 'A': read_array(r); break;
    case 'S': rust_put(r, "["); read_type(r); rust_put(r, "]"); break;
    case 'T': read_tuple(r); break;
    case 'R': case 'Q': read_reference(r, tag == 'Q'); break;
    case 'P': rust_put(r, "*const "); read_type(r); break;
    case 'O': rust_put(r, "*mut "); read_type(r); break;
    case 'F': read_function_type(r); break;
    case 'D': read_dyn(r); break;
    case 'W': read_type(r); rust_put(r, " is "); read_pattern(r); break;
    case 'B':
        back = rust_follow(r);
        if (!back) break;
        read_type(r);
        r->at = back;
        break;
    default:
        if (r->failed) break;
        r->at--;
        read_path(r, true, false);
        break;
    }
}

static void read_type(struct reader *r) {
    if (!rust_enter(r)) return;
    read_type_part(r);
    r->depth--;
}

/* ---- constants ---- */

static void read_integer(struct reader *r) {
    struct csn_str digits = read_hex(r);
    if (digits.len <= 16) {
        rust_put_number(r, hex_value(digits));
        return;
    }
    rust_put(r, "0x");
    rust_put_bytes(r, digits.ptr, digits.len);
}

static void put_hex(struct reader *r, uint32_t value) {
    static const char hex[] = "0123456789abcdef";
    int shift = 28;
    while (shift && !(value >> shift)) shift -= 4;
    for (; shift >= 0; shift -= 4) rust_put_char(r, hex[value >> shift & 15]);
}

static void put_escaped(struct reader *r, uint32_t c, char quote) {
    static const char plain[] = "\t\r\n\\", letters[] = "trn\\";
    const char *found = c && c < 0x80 ? strchr(plain, (int)c) : NULL;
    if (r->silent || r->failed) return;
    if (found || c == (uint8_t)quote || !c) {
        rust_put(r, "\\");
        rust_put_char(r, found ? letters[found - plain] : c ? quote : '0');
    } else if (c < 0x20 || (c >= 0x7f && (c < 0xa0 || quote == '\''))) { /* as llvm-cxxfilt writes characters */
        rust_put(r, "\\u{");
        put_hex(r, c);
        rust_put(r, "}");
    } else {
        csni_name_put_utf8(r->out, c);
    }
}

static bool is_scalar(uint64_t c) { return c < 0x110000 && (c < 0xd800 || c >= 0xe000); }

static void read_character(struct reader *r) {
    struct csn_str digits = read_hex(r);
    uint64_t c = digits.len <= 6 ? hex_value(digits) : UINT64_MAX;
    if (!is_scalar(c)) {
        rust_fail(r);
        return;
    }
    rust_put(r, "'");
    put_escaped(r, (uint32_t)c, '\'');
    rust_put(r, "'");
}

static unsigned hex_byte(struct csn_str digits, size_t at) { return digit_62(digits.ptr[at]) << 4 | digit_62(digits.ptr[at + 1]); }

/* A character of UTF-8 that is given as hexadecimal digits. False: it is none. */
static bool take_utf8(struct csn_str digits, size_t *at, uint32_t *out) {
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    unsigned lead = hex_byte(digits, *at);
    size_t size = lead < 0x80 ? 1 : lead >> 5 == 6 ? 2 : lead >> 4 == 14 ? 3 : lead >> 3 == 30 ? 4 : 0;
    if (!size || digits.len - *at < 2 * size) return false;
    uint32_t code = size == 1 ? lead : lead & (0x7fu >> size);
    for (size_t i = 1; i < size; i++) {
        unsigned byte = hex_byte(digits, *at + 2 * i);
        if (byte >> 6 != 2) return false;
        code = code << 6 | (byte & 63);
    }
    *at += 2 * size;
    *out = code;
    return code >= least[size] && is_scalar(code);
}

static void read_string(struct reader *r) {
    const char *begin = r->at;
    read_hex(r);
    if (r->failed) return;
    struct csn_str digits = { begin, (size_t)(r->at - 1 - begin) };
    if (digits.len % 2) {
        rust_fail(r);
        return;
    }
    rust_put(r, "\"");
    for (size_t at = 0; at < digits.len && !r->failed;) {
        uint32_t code;
        if (!take_utf8(digits, &at, &code)) rust_fail(r);
        else put_escaped(r, code, '"');
    }
    rust_put(r, "\"");
}

static size_t read_consts(struct reader *r) {
    size_t count = 0;
    for (; !r->failed && !rust_take(r, 'E'); count++) {
        if (count) rust_put(r, ", ");
        read_const(r, true);
    }
    return count;
}

/* A structure or a variant of an enumeration: without fields, with fields in order, with named fields. */
static void read_fields(struct reader *r) {
    read_path(r, false, false);
    switch (rust_next(r)) {
    case 'U': return;
    case 'T':
        rust_put(r, "(");
        read_consts(r);
        rust_put(r, ")");
        return;
    case 'S': break;
    default: rust_fail(r); return;
    }
    rust_put(r, " { ");
    for (bool first = true; !r->failed && !rust_take(r, 'E'); first = false) {
        if (!first) rust_put(r, ", ");
        read_tagged(r, 's');
        put_identifier(r, read_identifier(r));
        rust_put(r, ": ");
        read_const(r, true);
    }
    rust_put(r, " }");
}

static void read_compound(struct reader *r, char tag) {
    switch (tag) {
    case 'e': rust_put(r, "*"); read_string(r); return;
    case 'R': case 'Q': rust_put(r, tag == 'R' ? "&" : "&mut "); read_const(r, true); return;
    case 'A': rust_put(r, "["); read_consts(r); rust_put(r, "]"); return;
    case 'V': read_fields(r); return;
    default: break;
    }
    rust_put(r, "(");
    if (read_consts(r) == 1) rust_put(r, ",");
    rust_put(r, ")");
}

static void read_bool(struct reader *r) {
    struct csn_str digits = read_hex(r);
    if (digits.len > 1 || (digits.len && digits.ptr[0] != '1')) rust_fail(r);
    rust_put(r, digits.len ? "true" : "false");
}

static void read_const_part(struct reader *r, bool in_value) {
    const char *back;
    char tag = rust_next(r);
    switch (tag) {
    case 'p': rust_put(r, "_"); return;
    case 'h': case 't': case 'm': case 'y': case 'o': case 'j': read_integer(r); return;
    case 'a': case 's': case 'l': case 'x': case 'n': case 'i':
        if (rust_take(r, 'n')) rust_put(r, "-");
        read_integer(r);
        return;
    case 'b': read_bool(r); return;
    case 'c': read_character(r); return;
    case 'B':
        back = rust_follow(r);
        if (!back) return;
        read_const(r, in_value);
        r->at = back;
        return;
    case 'R':
        if (!rust_take(r, 'e')) break;
        read_string(r);
        return;
    case 'e': case 'Q': case 'A': case 'T': case 'V': break;
    default: rust_fail(r); return;
    }
    if (!in_value) rust_put(r, "{");
    read_compound(r, tag);
    if (!in_value) rust_put(r, "}");
}

static void read_const(struct reader *r, bool in_value) {
    if (!rust_enter(r)) return;
    read_const_part(r, in_value);
    r->depth--;
}

/* ---- whole names ---- */

bool csni_rust_demangle(struct csn_str name, struct csni_name_text *out) {
    if (name.len < 3 || name.ptr[0] != '_' || name.ptr[1] != 'R') return false;
    const char *end = name.ptr + name.len, *suffix = memchr(name.ptr, '.', name.len);
    struct reader r = { .begin = name.ptr + 2, .at = name.ptr + 2, .end = suffix ? suffix : end, .out = out };
    read_path(&r, false, false);
    if (!r.failed && r.at < r.end) { /* the crate that made the instance */
        r.silent = true;
        read_path(&r, false, false);
    }
    if (r.failed || r.at < r.end) return false;
    if (suffix) {
        csni_name_put_text(out, " (");
        csni_name_put(out, suffix, (size_t)(end - suffix));
        csni_name_put_text(out, ")");
    }
    return !out->too_long;
}
