/* Rust names of RFC 2603: constants in generic arguments. */
#include "names/rust/rust_read.h"

static void read_integer(struct csni_rust_reader *r) {
    struct csn_str digits = rust_read_hex(r);
    if (digits.len <= 16) {
        rust_put_number(r, rust_hex_value(digits));
        return;
    }
    rust_put(r, "0x");
    rust_put_bytes(r, digits.ptr, digits.len);
}

static void put_hex(struct csni_rust_reader *r, uint32_t value) {
    static const char hex[] = "0123456789abcdef";
    int shift = 28;
    while (shift && !(value >> shift)) shift -= 4;
    for (; shift >= 0; shift -= 4) rust_put_char(r, hex[value >> shift & 15]);
}

static void put_escaped(struct csni_rust_reader *r, uint32_t c, char quote) {
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

static void read_character(struct csni_rust_reader *r) {
    struct csn_str digits = rust_read_hex(r);
    uint64_t c = digits.len <= 6 ? rust_hex_value(digits) : UINT64_MAX;
    if (!is_scalar(c)) {
        rust_fail(r);
        return;
    }
    rust_put(r, "'");
    put_escaped(r, (uint32_t)c, '\'');
    rust_put(r, "'");
}

static unsigned hex_byte(struct csn_str digits, size_t at) {
    return rust_digit_62(digits.ptr[at]) << 4 | rust_digit_62(digits.ptr[at + 1]);
}

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

static void read_string(struct csni_rust_reader *r) {
    const char *begin = r->at;
    rust_read_hex(r);
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

static size_t read_consts(struct csni_rust_reader *r) {
    size_t count = 0;
    for (; !r->failed && !rust_take(r, 'E'); count++) {
        if (count) rust_put(r, ", ");
        csni_rust_const(r, true);
    }
    return count;
}

/* A structure or a variant of an enumeration: without fields, with fields in order, with named fields. */
static void read_fields(struct csni_rust_reader *r) {
    csni_rust_path(r, false, false);
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
        rust_read_tagged(r, 's');
        rust_put_identifier(r, rust_read_identifier(r));
        rust_put(r, ": ");
        csni_rust_const(r, true);
    }
    rust_put(r, " }");
}

static void read_compound(struct csni_rust_reader *r, char tag) {
    switch (tag) {
    case 'e': rust_put(r, "*"); read_string(r); return;
    case 'R': case 'Q': rust_put(r, tag == 'R' ? "&" : "&mut "); csni_rust_const(r, true); return;
    case 'A': rust_put(r, "["); read_consts(r); rust_put(r, "]"); return;
    case 'V': read_fields(r); return;
    default: break;
    }
    rust_put(r, "(");
    if (read_consts(r) == 1) rust_put(r, ",");
    rust_put(r, ")");
}

static void read_bool(struct csni_rust_reader *r) {
    struct csn_str digits = rust_read_hex(r);
    if (digits.len > 1 || (digits.len && digits.ptr[0] != '1')) rust_fail(r);
    rust_put(r, digits.len ? "true" : "false");
}

static void read_const_part(struct csni_rust_reader *r, bool in_value) {
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
        csni_rust_const(r, in_value);
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

void csni_rust_const(struct csni_rust_reader *r, bool in_value) {
    if (!rust_enter(r)) return;
    read_const_part(r, in_value);
    r->depth--;
}
