/* Demangling by a style. */
#define _GNU_SOURCE
#include "stand_ins/gnu_demangle.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <callsign/names.h>

#include "stand_ins/gnat_names.h"
#include "stand_ins/growth.h"
#include "stand_ins/legacy_rust.h"

static const char *const styles[] = { "none", "auto", "gnu-v3", "java", "gnat", "dlang", "rust" };
enum { STYLE_NONE, STYLE_AUTO, STYLE_GNU_V3, STYLE_JAVA, STYLE_GNAT, STYLE_DLANG, STYLE_RUST, STYLE_COUNT };
static int style = STYLE_AUTO;

bool gnu_demangle_choose_style(const char *name) {
    for (int i = 0; i < STYLE_COUNT; i++)
        if (strcmp(styles[i], name) == 0) {
            style = i;
            return true;
        }
    return false;
}

/* Whether the style has words for a name that begins like this. */
static bool style_fits(const char *name) {
    bool itanium = strncmp(name, "_Z", 2) == 0, rust = strncmp(name, "_R", 2) == 0, d = strncmp(name, "_D", 2) == 0;
    bool legacy_rust = itanium && strstr(name, "17h") != NULL;
    switch (style) {
    case STYLE_AUTO: return itanium || rust || d || strncmp(name, "_GLOBAL_", 8) == 0;
    case STYLE_GNU_V3: case STYLE_JAVA: return itanium || strncmp(name, "_GLOBAL_", 8) == 0;
    case STYLE_RUST: return rust || legacy_rust;
    case STYLE_DLANG: return d;
    case STYLE_GNAT: return true;
    default: return false;
    }
}

/* ---- from LLVM's words, which csn_demangle() has, to GNU's ---- */

struct text {
    char *items;
    size_t count, capacity;
};

static void put_text(struct text *out, const char *text, size_t size) {
    for (size_t i = 0; i < size; i++) GROW_PUSH(out, text[i]);
}

/* "'lambda'(int)" is "{lambda(int)#1}", "'lambda0'(int)" the second one; "'unnamed'" is "{unnamed type#1}". Returns what was read. */
static size_t put_unnamed(struct text *out, const char *at) {
    bool lambda = strncmp(at, "'lambda", 7) == 0;
    if (!lambda && strncmp(at, "'unnamed", 8) != 0) return 0;
    const char *p = at + (lambda ? 7 : 8), *begin;
    unsigned long number = *p == '\'' ? 1 : strtoul(p, NULL, 10) + 2;
    char digits[32];
    while (*p && *p != '\'') p++;
    if (!*p) return 0;
    begin = ++p;
    int depth = 0, length = snprintf(digits, sizeof digits, "#%lu}", number);
    if (lambda && *p == '(')
        for (; *p; p++) {
            depth += (*p == '(') - (*p == ')');
            if (!depth) {
                p++;
                break;
            }
        }
    put_text(out, lambda ? "{lambda" : "{unnamed type", lambda ? 7 : 13);
    put_text(out, begin, (size_t)(p - begin));
    put_text(out, digits, (size_t)length);
    return (size_t)(p - at);
}

/* The next of the suffixes in [p, end) as GNU reads them: ".isra.0", ".cold", ".123". NULL: none. */
static const char *clone_end(const char *p, const char *end) {
    const char *begin = p;
    if (end - p > 1 && (islower((unsigned char)p[1]) || isdigit((unsigned char)p[1]) || p[1] == '_'))
        for (p += 2; p < end && (islower((unsigned char)*p) || isdigit((unsigned char)*p) || *p == '_'); p++) continue;
    while (end - p > 1 && *p == '.' && isdigit((unsigned char)p[1]))
        for (p += 2; p < end && isdigit((unsigned char)*p); p++) continue;
    return p > begin ? p : NULL;
}

/* Where the suffix " (.isra.0.cold)" of a demangled name begins; NULL: it has none. */
static const char *find_suffix(const char *text) {
    size_t size = strlen(text);
    const char *at = size && text[size - 1] == ')' ? memrchr(text, ' ', size) : NULL;
    return at && at > text && strncmp(at, " (.", 3) == 0 ? at : NULL;
}

/* Whether what stands before a suffix is a function with its parameters, or names no entity of the source. */
static bool takes_suffix(const char *name, const char *text, const char *suffix) {
    static const char *const qualifiers[] = { " const", " volatile", " &", " &&" };
    size_t size = (size_t)(suffix - text);
    for (size_t i = 0; i < sizeof qualifiers / sizeof qualifiers[0]; i++) {
        const size_t length = strlen(qualifiers[i]);
        if (size > length && memcmp(text + size - length, qualifiers[i], length) == 0) {
            size -= length;
            i = (size_t)-1;
        }
    }
    return text[size - 1] == ')' || strncmp(name, "_ZT", 3) == 0 || strncmp(name, "_ZG", 3) == 0;
}

/* False: GNU does not demangle the name, because of what follows it. */
static bool suffix_is_read(const char *name, const char *text) {
    const char *suffix = find_suffix(text);
    if (!suffix) return true;
    const char *p = suffix + 2, *end = text + strlen(text) - 1;
    if (!takes_suffix(name, text, suffix)) return false;
    while (p && p < end) p = clone_end(p, end);
    return p;
}

/* " (.isra.0.cold)" at the end is " [clone .isra.0] [clone .cold]". */
static size_t put_clones(struct text *out, const char *at) {
    if (find_suffix(at - 1) != at) return 0;
    const char *p = at + 2, *end = at + strlen(at) - 1;
    while (p < end) {
        const char *begin = p;
        p = clone_end(p, end);
        if (!p) p = end;
        put_text(out, " [clone ", 8);
        put_text(out, begin, (size_t)(p - begin));
        put_text(out, "]", 1);
    }
    return (size_t)(end + 1 - at);
}

/* "operator<<int>" is "operator< <int>", and "operator<<<int>" "operator<< <int>". */
static bool begins_arguments(const char *text, const char *at) {
    const char *begin = at;
    while (begin > text && begin[-1] == '<') begin--;
    return begin - text >= 8 && memcmp(begin - 8, "operator", 8) == 0 && at > begin && at[1] != '(' && at[1] != '<' && at[1];
}

static char *in_gnu_words(char *given) {
    struct text out = { 0 };
    for (const char *p = given; *p;) {
        size_t read = *p == '\'' ? put_unnamed(&out, p) : *p == ' ' && p > given ? put_clones(&out, p) : 0;
        if (read) {
            p += read;
            continue;
        }
        bool is_operator = p - given >= 9 && memcmp(p - 9, "operator>", 9) == 0;
        if (*p == '>' && p > given && p[-1] == '>' && !is_operator) put_text(&out, " ", 1);
        if (*p == '<' && begins_arguments(given, p)) put_text(&out, " ", 1);
        put_text(&out, p++, 1);
    }
    put_text(&out, "", 1);
    free(given);
    return out.items;
}

static char leading;

void gnu_demangle_skip_leading(char byte) { leading = byte; }

static bool is_rust(const char *name, size_t size) { return strncmp(name, "_R", 2) == 0 || is_legacy_rust(name, size); }

/* The bytes of the symbol after "operator": all of "()", "->" or "<<", but not the last '<' before arguments of a template. */
static size_t operator_size(const char *text) {
    if (strncmp(text, "()", 2) == 0 || strncmp(text, "[]", 2) == 0) return 2;
    const size_t angles = strspn(text, "<");
    if (angles) return angles - (text[angles] != '(' && text[angles] != '=');
    return strcspn(text, "<(") < strspn(text, ">-,=!&|*/+%^~") ? strcspn(text, "<(") : strspn(text, ">-,=!&|*/+%^~");
}

/* Where the parameters of the function begin that a name of something local begins with; NULL: nowhere. */
static char *first_parameters(char *text) {
    int depth = 0;
    for (char *p = text; *p; p++) {
        if (strncmp(p, "operator", 8) == 0) p += 8 + operator_size(p + 8);
        depth += (*p == '<') - (*p == '>' && p > text && p[-1] != '-');
        if (*p != '(' || depth) continue;
        if (strncmp(p, "(anonymous namespace)", 21) != 0) return p;
        p += 20;
    }
    return NULL;
}

/* GNU leaves out what the function around something local returns: "void f<int>(int)::x" is "f<int>(int)::x". */
static void drop_return_type(char *text) {
    char *end = first_parameters(text), *begin = NULL;
    int depth = 0;
    for (char *p = text; end && p < end; p++) {
        if (strncmp(p, "operator", 8) == 0) break;
        if (strncmp(p, "(anonymous namespace)", 21) == 0) p += 20;
        depth += (*p == '<') - (*p == '>');
        if (*p == ' ' && !depth) begin = p + 1;
    }
    if (begin) memmove(text, begin, strlen(begin) + 1);
}

/* Of names of Rust GNU leaves the suffix out. */
static char *without_suffix(char *text) {
    const char *suffix = find_suffix(text);
    if (suffix) text[suffix - text] = 0;
    return text;
}

static char *demangle_plain(const char *name, size_t size) {
    if (style == STYLE_GNAT) return gnat_name(name, size);
    if (style == STYLE_GNU_V3 && is_legacy_rust(name, size)) return legacy_rust_as_cxx(name, size, NULL);
    const struct csn_str given = { name, size };
    size_t length = 0, capacity = 4 * size + 256;
    char *out = NULL;
    for (int i = 0; i < 2; i++) {
        out = grow_items(out, capacity, &(size_t){ 0 }, 1);
        csn_status status = csn_demangle(given, out, capacity, &length, NULL);
        if (status == CSN_OK && is_rust(name, size)) return without_suffix(out);
        if (status == CSN_OK && suffix_is_read(name, out)) {
            if (strncmp(name, "_ZZ", 3) == 0) drop_return_type(out);
            return in_gnu_words(out);
        }
        if (status != CSN_E_LIMIT) break;
        capacity = length + 1;
    }
    free(out);
    return NULL;
}

static char *demangle_rest(const char *name) {
    const char *core = name;
    while (*core == '.' || *core == '$') core++;
    const char *version = strchr(core, '@');
    size_t size = version ? (size_t)(version - core) : strlen(core);
    char *inner = style_fits(core) ? demangle_plain(core, size) : NULL;
    if (!inner || (core == name && !version)) return inner;
    size_t before = (size_t)(core - name), middle = strlen(inner);
    char *out = copy_text(name, before);
    out = grow_items(out, before + middle + strlen(core + size) + 1, &(size_t){ 0 }, 1);
    memcpy(out + before, inner, middle);
    strcpy(out + before + middle, core + size);
    free(inner);
    return out;
}

char *gnu_demangle(const char *name) {
    if (!leading || *name != leading) return demangle_rest(name);
    char *found = demangle_rest(name + 1);
    return found ? found : copy_text(name + 1, strlen(name + 1));
}
