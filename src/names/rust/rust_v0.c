/* Rust's symbol mangling of RFC 2603, "v0": paths and types, written as they are read. Back references are followed
 * where text is wanted, so depth and steps are limited. */
#include "names/rust/rust.h"
#include "names/rust/rust_read.h"

/* ---- lifetimes ---- */

static void put_lifetime(struct csni_rust_reader *r, uint64_t index) {
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
static void read_binder(struct csni_rust_reader *r) {
    uint64_t count = rust_read_tagged(r, 'G');
    if (r->failed || !count) return;
    /* More lifetimes than bytes that could use them are no compiler's. */
    if (count > (uint64_t)(r->end - r->begin) || r->bound_lifetimes > RUST_STEPS_MAX) {
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

static void skip_impl_path(struct csni_rust_reader *r, bool in_type) {
    bool silent = r->silent;
    r->silent = true;
    rust_read_tagged(r, 's');
    csni_rust_path(r, in_type, false);
    r->silent = silent;
}

static void read_self_type(struct csni_rust_reader *r, bool has_trait) {
    rust_put(r, "<");
    csni_rust_type(r);
    if (has_trait) {
        rust_put(r, " as ");
        csni_rust_path(r, true, false);
    }
    rust_put(r, ">");
}

static void put_special(struct csni_rust_reader *r, char namespace, struct csni_rust_identifier id, uint64_t number) {
    rust_put(r, "::{");
    if (namespace == 'C') rust_put(r, "closure");
    else if (namespace == 'S') rust_put(r, "shim");
    else rust_put_char(r, namespace);
    if (id.text.len) {
        rust_put(r, ":");
        rust_put_identifier(r, id);
    }
    rust_put(r, "#");
    rust_put_number(r, number);
    rust_put(r, "}");
}

static void read_nested(struct csni_rust_reader *r, bool in_type) {
    char namespace = rust_next(r);
    if (!rust_is_lower(namespace) && !rust_is_upper(namespace)) rust_fail(r);
    csni_rust_path(r, in_type, false);
    uint64_t number = rust_read_tagged(r, 's');
    struct csni_rust_identifier id = rust_read_identifier(r);
    if (rust_is_upper(namespace)) {
        put_special(r, namespace, id, number);
    } else if (id.text.len) {
        rust_put(r, "::");
        rust_put_identifier(r, id);
    }
}

static void read_generic_arg(struct csni_rust_reader *r) {
    if (rust_take(r, 'L')) put_lifetime(r, rust_read_base_62(r));
    else if (rust_take(r, 'K')) csni_rust_const(r, false);
    else csni_rust_type(r);
}

static void read_generic_args(struct csni_rust_reader *r) {
    rust_put(r, "<");
    for (bool first = true; !r->failed && !rust_take(r, 'E'); first = false) {
        if (!first) rust_put(r, ", ");
        read_generic_arg(r);
    }
}

/* True: generic arguments are left open, for what a trait's bindings add to them. */
static bool read_path_part(struct csni_rust_reader *r, bool in_type, bool leave_open) {
    const char *back;
    bool open = false;
    char tag = rust_next(r);
    switch (tag) {
    case 'C':
        rust_read_tagged(r, 's');
        rust_put_identifier(r, rust_read_identifier(r));
        break;
    case 'M': skip_impl_path(r, in_type); read_self_type(r, false); break;
    case 'X': skip_impl_path(r, in_type); read_self_type(r, true); break;
    case 'Y': read_self_type(r, true); break;
    case 'N': read_nested(r, in_type); break;
    case 'I':
        csni_rust_path(r, in_type, false);
        if (!in_type) rust_put(r, "::");
        read_generic_args(r);
        if (leave_open) return true;
        rust_put(r, ">");
        break;
    case 'B':
        back = rust_follow(r);
        if (!back) break;
        open = csni_rust_path(r, in_type, leave_open);
        r->at = back;
        break;
    default: rust_fail(r); break;
    }
    return open;
}

bool csni_rust_path(struct csni_rust_reader *r, bool in_type, bool leave_open) {
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
    return rust_is_lower(tag) ? names[tag - 'a'] : NULL;
}

static size_t read_types(struct csni_rust_reader *r) {
    size_t count = 0;
    for (; !r->failed && !rust_take(r, 'E'); count++) {
        if (count) rust_put(r, ", ");
        csni_rust_type(r);
    }
    return count;
}

/* "-" is mangled as "_". */
static void read_calling_convention(struct csni_rust_reader *r) {
    rust_put(r, "extern \"");
    if (rust_take(r, 'C')) {
        rust_put(r, "C");
    } else {
        struct csni_rust_identifier id = rust_read_identifier(r);
        if (id.is_punycode) rust_fail(r);
        for (size_t i = 0; i < id.text.len && !r->failed; i++) rust_put_char(r, id.text.ptr[i] == '_' ? '-' : id.text.ptr[i]);
    }
    rust_put(r, "\" ");
}

static void read_function_type(struct csni_rust_reader *r) {
    uint64_t bound = r->bound_lifetimes;
    read_binder(r);
    if (rust_take(r, 'U')) rust_put(r, "unsafe ");
    if (rust_take(r, 'K')) read_calling_convention(r);
    rust_put(r, "fn(");
    read_types(r);
    rust_put(r, ")");
    if (!rust_take(r, 'u')) {
        rust_put(r, " -> ");
        csni_rust_type(r);
    }
    r->bound_lifetimes = bound;
}

static void read_dyn_trait(struct csni_rust_reader *r) {
    bool open = csni_rust_path(r, true, true);
    while (rust_take(r, 'p')) {
        rust_put(r, open ? ", " : "<");
        open = true;
        rust_put_identifier(r, rust_read_identifier(r));
        rust_put(r, " = ");
        csni_rust_type(r);
    }
    if (open) rust_put(r, ">");
}

static void read_dyn(struct csni_rust_reader *r) {
    uint64_t bound = r->bound_lifetimes;
    rust_put(r, "dyn ");
    read_binder(r);
    for (bool first = true; !r->failed && !rust_take(r, 'E'); first = false) {
        if (!first) rust_put(r, " + ");
        read_dyn_trait(r);
    }
    r->bound_lifetimes = bound;
    if (!rust_take(r, 'L')) rust_fail(r);
    uint64_t lifetime = rust_read_base_62(r);
    if (!lifetime) return;
    rust_put(r, " + ");
    put_lifetime(r, lifetime);
}

static void read_reference(struct csni_rust_reader *r, bool is_mutable) {
    rust_put(r, "&");
    if (rust_take(r, 'L')) {
        uint64_t lifetime = rust_read_base_62(r);
        if (lifetime) {
            put_lifetime(r, lifetime);
            rust_put(r, " ");
        }
    }
    if (is_mutable) rust_put(r, "mut ");
    csni_rust_type(r);
}

static void read_array(struct csni_rust_reader *r) {
    rust_put(r, "[");
    csni_rust_type(r);
    rust_put(r, "; ");
    csni_rust_const(r, true);
    rust_put(r, "]");
}

static void read_tuple(struct csni_rust_reader *r) {
    rust_put(r, "(");
    if (read_types(r) == 1) rust_put(r, ",");
    rust_put(r, ")");
}

/* What values of a type are allowed: a range, or several patterns. */
static void read_pattern(struct csni_rust_reader *r) {
    if (!rust_enter(r)) return;
    switch (rust_next(r)) {
    case 'R':
        csni_rust_const(r, false);
        rust_put(r, "..=");
        csni_rust_const(r, false);
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

static void read_type_part(struct csni_rust_reader *r) {
    const char *back;
    char tag = rust_next(r);
    const char *basic = basic_type(tag);
    if (basic) {
        rust_put(r, basic);
        return;
    }
    switch (tag) {
    case 'A': read_array(r); break;
    case 'S': rust_put(r, "["); csni_rust_type(r); rust_put(r, "]"); break;
    case 'T': read_tuple(r); break;
    case 'R': case 'Q': read_reference(r, tag == 'Q'); break;
    case 'P': rust_put(r, "*const "); csni_rust_type(r); break;
    case 'O': rust_put(r, "*mut "); csni_rust_type(r); break;
    case 'F': read_function_type(r); break;
    case 'D': read_dyn(r); break;
    case 'W': csni_rust_type(r); rust_put(r, " is "); read_pattern(r); break;
    case 'B':
        back = rust_follow(r);
        if (!back) break;
        csni_rust_type(r);
        r->at = back;
        break;
    default:
        if (r->failed) break;
        r->at--;
        csni_rust_path(r, true, false);
        break;
    }
}

void csni_rust_type(struct csni_rust_reader *r) {
    if (!rust_enter(r)) return;
    read_type_part(r);
    r->depth--;
}

/* ---- whole names ---- */

bool csni_rust_demangle(struct csn_str name, struct csni_name_text *out) {
    if (name.len < 3 || name.ptr[0] != '_' || name.ptr[1] != 'R') return false;
    const char *end = name.ptr + name.len, *suffix = memchr(name.ptr, '.', name.len);
    struct csni_rust_reader r = { .begin = name.ptr + 2, .at = name.ptr + 2, .end = suffix ? suffix : end, .out = out };
    csni_rust_path(&r, false, false);
    if (!r.failed && r.at < r.end) { /* the crate that made the instance */
        r.silent = true;
        csni_rust_path(&r, false, false);
    }
    if (r.failed || r.at < r.end) return false;
    if (suffix) {
        csni_name_put_text(out, " (");
        csni_name_put(out, suffix, (size_t)(end - suffix));
        csni_name_put_text(out, ")");
    }
    return !out->too_long;
}
