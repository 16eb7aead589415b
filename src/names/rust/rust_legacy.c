/* Rust's older scheme: C++'s way of writing nested names, with escapes for what identifiers of C++ cannot hold, and a hash as
 * the last part. */
#include "names/rust/rust.h"

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }

/* A number and as many bytes, taken from `rest`. False: there is none. */
static bool take_part(struct csn_str *rest, struct csn_str *out) {
    size_t at = 0, len = 0;
    for (; at < rest->len && is_digit(rest->ptr[at]); at++) {
        len = 10 * len + (size_t)(rest->ptr[at] - '0');
        if (len > rest->len) return false;
    }
    if (!len || len > rest->len - at) return false;
    *out = (struct csn_str){ rest->ptr + at, len };
    *rest = (struct csn_str){ rest->ptr + at + len, rest->len - at - len };
    return true;
}

static bool is_hash(struct csn_str part) {
    if (part.len != 17 || part.ptr[0] != 'h') return false;
    for (size_t i = 1; i < part.len; i++)
        if (!is_hex(part.ptr[i])) return false;
    return true;
}

/* The hash must be there: without it nothing sets the name apart from one of C++. */
static bool find_hash(struct csn_str rest, struct csn_str *suffix) {
    struct csn_str part = { 0 };
    size_t parts = 0;
    while (rest.len && rest.ptr[0] != 'E') {
        if (!take_part(&rest, &part)) return false;
        parts++;
    }
    if (!rest.len || parts < 2 || !is_hash(part)) return false;
    *suffix = (struct csn_str){ rest.ptr + 1, rest.len - 1 };
    return !suffix->len || suffix->ptr[0] == '.';
}

/* "$LT$", "$u20$", ...: how many bytes at `at` are an escape, and the code point it is; 0: none. */
static size_t escape_size(const char *at, const char *end, uint32_t *code) {
    static const struct {
        const char *name;
        char c;
    } names[] = { { "$SP$", '@' }, { "$BP$", '*' }, { "$RF$", '&' }, { "$LT$", '<' },
                  { "$GT$", '>' }, { "$LP$", '(' }, { "$RP$", ')' }, { "$C$", ',' } };
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        size_t len = strlen(names[i].name);
        *code = (uint8_t)names[i].c;
        if ((size_t)(end - at) >= len && memcmp(at, names[i].name, len) == 0) return len;
    }
    if (end - at < 4 || at[1] != 'u') return 0;
    size_t len = 2;
    for (*code = 0; at + len < end && is_hex(at[len]) && len < 8; len++)
        *code = *code << 4 | (uint32_t)(is_digit(at[len]) ? at[len] - '0' : at[len] - 'a' + 10);
    bool is_text = *code >= 0x20 && (*code < 0x7f || *code >= 0xa0) && *code < 0x110000 && (*code < 0xd800 || *code >= 0xe000);
    return len > 2 && at + len < end && at[len] == '$' && is_text ? len + 1 : 0;
}

static void put_part(struct csni_name_text *out, struct csn_str part) {
    const char *at = part.ptr, *end = part.ptr + part.len;
    if (part.len > 1 && at[0] == '_' && at[1] == '$') at++;
    while (at < end) {
        if (*at == '.') {
            bool two = end - at > 1 && at[1] == '.';
            csni_name_put_text(out, two ? "::" : ".");
            at += two ? 2 : 1;
        } else if (*at == '$') {
            uint32_t code;
            size_t size = escape_size(at, end, &code);
            if (!size) break; /* what is no escape stays, with all that follows */
            csni_name_put_utf8(out, code);
            at += size;
        } else {
            const char *begin = at;
            while (at < end && *at != '.' && *at != '$') at++;
            csni_name_put(out, begin, (size_t)(at - begin));
        }
    }
    csni_name_put(out, at, (size_t)(end - at));
}

bool csni_rust_demangle_legacy(struct csn_str name, struct csni_name_text *out) {
    struct csn_str rest, part, suffix;
    if (name.len < 22 || memcmp(name.ptr, "_ZN", 3) != 0) return false;
    rest = (struct csn_str){ name.ptr + 3, name.len - 3 };
    if (!find_hash(rest, &suffix)) return false;
    for (size_t i = 0; take_part(&rest, &part) && rest.ptr[0] != 'E'; i++) {
        if (i) csni_name_put_text(out, "::");
        put_part(out, part);
    }
    if (suffix.len) {
        csni_name_put_text(out, " (");
        csni_name_put_str(out, suffix);
        csni_name_put_text(out, ")");
    }
    return !out->too_long;
}
