/* One pass over a demangled name. */
#include "stack/session/plain_name.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "ui/text_bytes.h"

static const char anonymous[] = "(anonymous namespace)", operator_word[] = "operator", stub[] = "@plt";

struct plain_writer {
    char *out;
    size_t used, cap;
};

static void put_plain(struct plain_writer *w, const char *bytes, size_t size) {
    for (size_t i = 0; i < size && w->used < w->cap; i++) w->out[w->used++] = bytes[i];
}

static bool ends_with(const struct plain_writer *w, const char *text) {
    size_t size = strlen(text);
    return w->used >= size && memcmp(w->out + w->used - size, text, size) == 0;
}

/* "::h0123456789abcdef" of Rust's older mangling. */
static size_t without_hash(const char *name, size_t size) {
    enum { DIGITS = 16, HASH = 3 + DIGITS };
    if (size <= HASH || memcmp(name + size - HASH, "::h", 3) != 0) return size;
    for (size_t i = size - DIGITS; i < size; i++) {
        bool hex = (name[i] >= '0' && name[i] <= '9') || (name[i] >= 'a' && name[i] <= 'f');
        if (!hex) return size;
    }
    return size - HASH;
}

/* "<orders[1a2b]::Order as core::fmt::Display>" at the beginning: it is what tells Rust's methods of one name apart. */
static size_t put_self_type(struct plain_writer *w, struct csn_str name, size_t at) {
    const size_t end = brackets_end(name, at, '<', '>');
    while (at < end) {
        if (name.ptr[at] == '[') at = brackets_end(name, at, '[', ']');
        else put_plain(w, &name.ptr[at++], 1);
    }
    return at;
}

/* Past the bracket that closes the one at `at`, and what qualifies the function. */
static size_t skip_arguments(struct csn_str name, size_t at) {
    static const char *const qualifiers[] = { " const", " volatile", " &&", " &" };
    at = brackets_end(name, at, '(', ')');
    for (size_t i = 0; i < sizeof(qualifiers) / sizeof(qualifiers[0]); i++)
        if (has_text_at(name, at, qualifiers[i])) at += strlen(qualifiers[i]);
    return at;
}

/* "{lambda(int)#2}" of GNU's demangler is "'lambda0'" of LLVM's; its "{default arg#1}::" LLVM leaves out. */
static size_t put_braces(struct plain_writer *w, struct csn_str name, size_t at) {
    const size_t end = brackets_end(name, at, '{', '}');
    size_t digits = end ? end - 1 : 0;
    unsigned number = 0;
    if (has_text_at(name, at, "{default arg#") && has_text_at(name, end, "::")) return end + 2;
    while (digits > at && name.ptr[digits - 1] >= '0' && name.ptr[digits - 1] <= '9') digits--;
    if (!has_text_at(name, at, "{lambda(") || name.ptr[digits - 1] != '#') {
        put_plain(w, name.ptr + at, end - at);
        return end;
    }
    for (size_t i = digits; i + 1 < end; i++) number = number * 10 + (unsigned)(name.ptr[i] - '0');
    char text[32];
    const int size = number > 1 ? snprintf(text, sizeof(text), "'lambda%u'", number - 2) : snprintf(text, sizeof(text), "'lambda'");
    put_plain(w, text, (size_t)size);
    return end;
}

/* Of "decltype(auto) f<int>(int)": no function is called so. */
static bool ends_with_decltype(const struct plain_writer *w) { return w->used == 8 && ends_with(w, "decltype"); }

/* "void (*orders::handler<int>(int))(char)": what returns a pointer to a function has its name in brackets. */
static bool begins_inner_name(const struct plain_writer *w, struct csn_str name, size_t at) {
    return !w->used && (has_text_at(name, at, "(*") || has_text_at(name, at, "(&"));
}

size_t clone_suffix(struct csn_str name, char *out, size_t cap) {
    static const char word[] = " [clone ";
    struct plain_writer w = { out, 0, cap };
    size_t open = name.len;
    if (name.len && name.ptr[name.len - 1] == ')') {
        while (open && name.ptr[open - 1] != '(') open--;
        if (open > 1 && has_text_at(name, open, ".") && name.ptr[open - 2] == ' ')
            put_plain(&w, name.ptr + open, name.len - 1 - open);
        return w.used;
    }
    for (size_t at = 0; at < name.len; at++) {
        if (!has_text_at(name, at, word)) continue;
        for (at += sizeof(word) - 1; at < name.len && name.ptr[at] != ']'; at++) put_plain(&w, &name.ptr[at], 1);
    }
    return w.used;
}

size_t plain_name(struct csn_str name, char *out, size_t cap) {
    struct plain_writer w = { out, 0, cap };
    for (size_t at = 0; at < name.len;) {
        char c = name.ptr[at];
        if (c == '(' && ends_with_decltype(&w)) {
            at = brackets_end(name, at, '(', ')');
        } else if (c == '(' && begins_inner_name(&w, name, at)) {
            at += 2;
        } else if (c == '{') {
            at = put_braces(&w, name, at);
        } else if (c == '(' && has_text_at(name, at, anonymous)) {
            put_plain(&w, anonymous, sizeof(anonymous) - 1);
            at += sizeof(anonymous) - 1;
        } else if (c == '(' && ends_with(&w, operator_word) && has_text_at(name, at, "()")) {
            put_plain(&w, "()", 2);
            at += 2;
        } else if (c == '(') {
            const size_t end = skip_arguments(name, at);
            if (!has_text_at(name, end, "::")) {
                const bool is_stub = name.len - end == sizeof(stub) - 1 && has_text_at(name, end, stub);
                if (is_stub) put_plain(&w, stub, sizeof(stub) - 1);
                break;
            }
            at = end; /* what is within a function */
        } else if (c == '<' && !at) {
            at = put_self_type(&w, name, at);
        } else if (c == '<' && !ends_with(&w, operator_word) && !ends_with(&w, "operator<")) {
            at = brackets_end(name, at, '<', '>');
        } else if (c == '[' && !ends_with(&w, operator_word)) {
            at = brackets_end(name, at, '[', ']');
        } else if (c == ' ') {
            bool more = at + 1 < name.len && name.ptr[at + 1] != '[' && !(ends_with_decltype(&w) && name.ptr[at + 1] == '(');
            if (more && !ends_with(&w, operator_word)) w.used = 0; /* what came was the return type */
            at++;
        } else {
            put_plain(&w, &c, 1);
            at++;
        }
    }
    if (w.used >= 2 && ends_with(&w, "::")) w.used -= 2; /* Rust's f::<u8> */
    return without_hash(out, w.used);
}
