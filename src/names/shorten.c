/* Shortening demangled C++ names: what the standard library's defaults add to them goes.
 *
 * The plain form is that of the original gsym.py (2017), kept as it was: literal replacements, then one pass over
 * template-ids that does not look into their arguments. The nested form does, from the inside out, and knows operators.
 * Neither makes a name longer, so both work within the bytes of the name. */
#include <stdbool.h>
#include <string.h>

#include <callsign/names.h>

#include "base/core/fail.h"

/* A part of a name. */
struct piece {
    const char *ptr;
    size_t len;
};

static struct piece piece_of(const char *text) { return (struct piece){ text, strlen(text) }; }

static bool piece_is(struct piece piece, const char *text) {
    return piece.len == strlen(text) && memcmp(piece.ptr, text, piece.len) == 0;
}

static bool pieces_equal(struct piece a, struct piece b) { return a.len == b.len && memcmp(a.ptr, b.ptr, a.len) == 0; }

static struct piece trim(struct piece piece) {
    while (piece.len && piece.ptr[0] == ' ') {
        piece.ptr++;
        piece.len--;
    }
    while (piece.len && piece.ptr[piece.len - 1] == ' ') piece.len--;
    return piece;
}

/* ---- literal replacements ---- */

struct replacement {
    const char *from, *to;
};

#define CHAR_TRAITS "char, std::char_traits<char>"
#define CHAR_TRAITS_ALLOCATOR CHAR_TRAITS ", std::allocator<char>"

/* Demanglers differ in whether a space stands between two '>'. */
static const struct replacement replacements[] = {
    { "std::__1", "std" },
    { "std::basic_string<" CHAR_TRAITS_ALLOCATOR " >", "std::string" },
    { "std::basic_string<" CHAR_TRAITS_ALLOCATOR ">", "std::string" },
    { "std::basic_ostringstream<" CHAR_TRAITS_ALLOCATOR " >", "std::basic_ostringstream" },
    { "std::basic_ostringstream<" CHAR_TRAITS_ALLOCATOR ">", "std::basic_ostringstream" },
    { "std::basic_stringbuf<" CHAR_TRAITS_ALLOCATOR " >", "std::stringbuf" },
    { "std::basic_stringbuf<" CHAR_TRAITS_ALLOCATOR ">", "std::stringbuf" },
    { "std::basic_istream<" CHAR_TRAITS " >", "std::istream" },
    { "std::basic_istream<" CHAR_TRAITS ">", "std::istream" },
    { "std::basic_ostream<" CHAR_TRAITS " >", "std::ostream" },
    { "std::basic_ostream<" CHAR_TRAITS ">", "std::ostream" },
    { "std::basic_iostream<" CHAR_TRAITS " >", "std::iostream" },
    { "std::basic_iostream<" CHAR_TRAITS ">", "std::iostream" },
};
/* Inline namespaces of libstdc++ and of Android's libc++, which the original did not know. */
static const struct replacement more_replacements[] = { { "std::__cxx11", "std" }, { "std::__ndk1", "std" } };

static size_t replace(char *text, size_t len, const struct replacement *given) {
    struct piece from = piece_of(given->from), to = piece_of(given->to);
    size_t kept = 0;
    for (size_t at = 0; at < len;) {
        if (text[at] == from.ptr[0] && len - at >= from.len && memcmp(text + at, from.ptr, from.len) == 0) {
            memcpy(text + kept, to.ptr, to.len);
            kept += to.len;
            at += from.len;
        } else {
            text[kept++] = text[at++];
        }
    }
    return kept;
}

static size_t replace_all(char *text, size_t len, const struct replacement *list, size_t count) {
    for (size_t i = 0; i < count; i++) len = replace(text, len, &list[i]);
    return len;
}

/* ---- template arguments ---- */

/* More than any template has that is shortened. */
enum { ARGUMENTS_MAX = 4 };

struct arguments {
    struct piece at[ARGUMENTS_MAX]; /* trimmed */
    size_t count;                   /* may be more than there is room for: then none is of use */
};

/* `piece` is NAME<inside>: the inside, trimmed. */
static bool take_template(struct piece piece, const char *name, struct piece *out) {
    size_t len = strlen(name);
    if (piece.len < len + 2 || memcmp(piece.ptr, name, len) != 0) return false;
    if (piece.ptr[len] != '<' || piece.ptr[piece.len - 1] != '>') return false;
    *out = trim((struct piece){ piece.ptr + len + 1, piece.len - len - 2 });
    return true;
}

static bool is_template_of(struct piece piece, const char *name, struct piece argument) {
    struct piece inside;
    return take_template(piece, name, &inside) && pieces_equal(inside, argument);
}

/* std::allocator<std::pair<KEY const, VALUE> >, or without the const. As both members are known, where the comma stands is. */
static bool is_pair_allocator(struct piece piece, struct piece key, struct piece value) {
    static const char const_word[] = " const";
    struct piece pair, inside;
    if (!take_template(piece, "std::allocator", &pair) || !take_template(pair, "std::pair", &inside)) return false;
    if (inside.len <= key.len || memcmp(inside.ptr, key.ptr, key.len) != 0) return false;
    inside.ptr += key.len;
    inside.len -= key.len;
    size_t len = sizeof(const_word) - 1;
    if (inside.len > len && memcmp(inside.ptr, const_word, len) == 0) {
        inside.ptr += len;
        inside.len -= len;
    }
    inside = trim(inside);
    if (!inside.len || inside.ptr[0] != ',') return false;
    return pieces_equal(trim((struct piece){ inside.ptr + 1, inside.len - 1 }), value);
}

/* How many arguments of the template stay; all of them where nothing can go. */
static size_t arguments_that_stay(struct piece name, const struct arguments *args) {
    const struct piece *at = args->at;
    if (args->count == 2 &&
        (piece_is(name, "std::vector") || piece_is(name, "std::__vector_base") || piece_is(name, "std::__split_buffer")))
        return is_template_of(at[1], "std::allocator", at[0]) ? 1 : 2;
    if (args->count == 4 && (piece_is(name, "std::map") || piece_is(name, "std::multimap")))
        return is_template_of(at[2], "std::less", at[0]) && is_pair_allocator(at[3], at[0], at[1]) ? 2 : 4;
    return args->count;
}

static void add_argument(struct arguments *args, const char *begin, const char *end) {
    if (args->count < ARGUMENTS_MAX) args->at[args->count] = trim((struct piece){ begin, (size_t)(end - begin) });
    args->count++;
}

/* ---- names ---- */

static bool starts_identifier(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (unsigned char)c >= 0x80;
}

static bool continues_identifier(char c) { return starts_identifier(c) || (c >= '0' && c <= '9'); }

/* The bytes of an identifier, or of a number, at `at`; 0: there is neither. */
static size_t word_size(const char *at, const char *end) {
    size_t size = 0;
    while (at + size < end && continues_identifier(at[size])) size++;
    return size;
}

/* The bytes of identifiers joined by "::" at `at`, each of two characters or more. What does not fit after the last "::"
 * is no part of it. */
static size_t qualified_size(const char *at, const char *end) {
    size_t size = 0;
    for (;;) {
        const char *word = size ? at + size + 2 : at;
        if (size && (end - word < 0 || at[size] != ':' || at[size + 1] != ':')) return size;
        size_t more = word < end && starts_identifier(*word) ? word_size(word, end) : 0;
        if (more < 2) return size;
        size = (size_t)(word - at) + more;
        if (end - (at + size) < 2) return size;
    }
}

/* ---- the plain form ---- */

static bool opens(char c) { return c == '<' || c == '(' || c == '[' || c == '{'; }
static bool closes(char c) { return c == '>' || c == ')' || c == ']' || c == '}'; }

/* The bracket that closes the one at `at`, all kinds counted together; NULL: none does. */
static const char *match_bracket(const char *at, const char *end, struct arguments *args) {
    const char *begin = at + 1;
    size_t depth = 0;
    args->count = 0;
    for (; at < end; at++) {
        if (opens(*at)) {
            depth++;
        } else if (closes(*at)) {
            if (--depth) continue;
            add_argument(args, begin, at);
            return at;
        } else if (*at == ',' && depth == 1) {
            add_argument(args, begin, at);
            begin = at + 1;
        }
    }
    return NULL;
}

static size_t shorten_plain(char *text, size_t len) {
    const char *at = text, *end = text + len;
    char *kept = text;
    while (at < end) {
        size_t size = starts_identifier(*at) ? qualified_size(at, end) : 0;
        if (!size) size = continues_identifier(*at) ? word_size(at, end) : 1;
        struct piece name = { at, size };
        struct arguments args;
        const char *next = at + size, *close = NULL;
        bool is_template = next < end && *next == '<' && starts_identifier(*at) && size >= 2;
        if (is_template) {
            close = match_bracket(next, end, &args);
            next = close ? close + 1 : end; /* no match: the rest stays as it is */
        }
        size_t stay = close ? arguments_that_stay(name, &args) : 0;
        if (close && stay < args.count) {
            const char *last = args.at[stay - 1].ptr + args.at[stay - 1].len, *after;
            after = args.at[args.count - 1].ptr + args.at[args.count - 1].len;
            if (after < close && *after == ' ') after++;
            memmove(kept, at, (size_t)(last - at));
            kept += last - at;
            at = after;
        }
        memmove(kept, at, (size_t)(next - at));
        kept += next - at;
        at = next;
    }
    return (size_t)(kept - text);
}

/* ---- the nested form ---- */

enum { NESTING_MAX = 256 };

/* An open bracket. Positions are in what has been written, where the arguments stand shortened already. */
struct open_bracket {
    char kind;
    size_t name;      /* of the qualified name before it; at `position` where there is none */
    size_t position;
    size_t argument;  /* where the current one begins */
    struct arguments args;
};

struct nested {
    char *text;
    size_t kept;
    size_t name;      /* where the qualified name begins that ends at `kept`; `kept`: there is none */
    struct open_bracket open[NESTING_MAX];
    size_t depth;
    size_t counts[4]; /* of open ones, by kind */
};

static unsigned kind_of(char c) {
    switch (c) {
    case '<': case '>': return 0;
    case '(': case ')': return 1;
    case '[': case ']': return 2;
    default: return 3;
    }
}

static void open_bracket(struct nested *n, char c) {
    struct open_bracket *bracket = &n->open[n->depth++];
    bracket->kind = c;
    bracket->name = n->name;
    bracket->position = n->kept;
    bracket->argument = n->kept + 1;
    bracket->args.count = 0;
    n->counts[kind_of(c)]++;
}

static void end_argument(struct nested *n, struct open_bracket *bracket) {
    add_argument(&bracket->args, n->text + bracket->argument, n->text + n->kept);
    bracket->argument = n->kept + 1;
}

static void close_template(struct nested *n, struct open_bracket *bracket) {
    end_argument(n, bracket);
    struct piece name = { n->text + bracket->name, bracket->position - bracket->name };
    size_t stay = arguments_that_stay(name, &bracket->args);
    if (stay == bracket->args.count) return;
    const struct piece *last = &bracket->args.at[stay - 1];
    n->kept = (size_t)(last->ptr - n->text) + last->len;
}

/* A closing bracket ends what is open up to one of its kind: a '<' above that was none, but "less than". */
static void close_bracket(struct nested *n, char c) {
    unsigned kind = kind_of(c);
    if (!n->counts[kind]) return;
    if (c == '>' && n->open[n->depth - 1].kind != '<') return; /* "greater than" */
    while (kind_of(n->open[n->depth - 1].kind) != kind) n->counts[kind_of(n->open[--n->depth].kind)]--;
    struct open_bracket *bracket = &n->open[--n->depth];
    n->counts[kind]--;
    if (c == '>') close_template(n, bracket);
}

static bool word_is_operator(const char *at, size_t size) { return size == 8 && memcmp(at, "operator", 8) == 0; }

/* The bytes of an operator's symbol after the word "operator": none of its brackets is one. */
static size_t symbol_size(const char *at, const char *end) {
    static const char *const symbols[] = { "()", "[]", "<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "->", "<", ">" };
    for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
        size_t size = strlen(symbols[i]);
        if ((size_t)(end - at) >= size && memcmp(at, symbols[i], size) == 0) return size;
    }
    return 0;
}

static void keep(struct nested *n, const char *at, size_t size) {
    memmove(n->text + n->kept, at, size);
    n->kept += size;
}

/* A word, what joins it to the next one, and the symbol of an operator. */
static const char *take_words(struct nested *n, const char *at, const char *end) {
    n->name = n->kept;
    for (;;) {
        size_t size = word_size(at, end);
        bool is_operator = word_is_operator(at, size);
        keep(n, at, size);
        at += size;
        if (is_operator) {
            size = symbol_size(at, end);
            keep(n, at, size);
            return at + size;
        }
        if (end - at < 3 || at[0] != ':' || at[1] != ':' || !starts_identifier(at[2])) return at;
        keep(n, at, 2);
        at += 2;
    }
}

static size_t shorten_nested(struct nested *n, const char *at, const char *end) {
    while (at < end) {
        if (continues_identifier(*at)) {
            at = take_words(n, at, end);
            if (at < end && *at != '<') n->name = n->kept;
            continue;
        }
        if (opens(*at) && n->depth == NESTING_MAX) {
            keep(n, at, (size_t)(end - at)); /* nobody reads so far */
            break;
        }
        bool is_arrow = *at == '>' && n->kept && n->text[n->kept - 1] == '-';
        if (opens(*at)) open_bracket(n, *at);
        else if (closes(*at) && !is_arrow) close_bracket(n, *at);
        else if (*at == ',' && n->depth) end_argument(n, &n->open[n->depth - 1]);
        keep(n, at++, 1);
        n->name = n->kept;
    }
    return n->kept;
}

/* ---- public calls ---- */

csn_status csn_shorten_name(struct csn_str name, uint32_t flags, char *out, size_t cap, size_t *out_len,
                            struct csn_error *err) {
    if (flags & ~(uint32_t)CSN_SHORTEN_NESTED)
        return csni_fail(err, CSN_E_UNSUPPORTED, NULL, 0, "csn_shorten_name: unknown flags 0x%x", flags);
    if (cap <= name.len) {
        *out_len = name.len;
        return csni_fail(err, CSN_E_LIMIT, NULL, 0, "name to shorten: %zu bytes, room for %zu", name.len, cap);
    }
    if (name.len) memmove(out, name.ptr, name.len);
    size_t len = name.len;
    if (flags & CSN_SHORTEN_NESTED)
        len = replace_all(out, len, more_replacements, sizeof(more_replacements) / sizeof(more_replacements[0]));
    len = replace_all(out, len, replacements, sizeof(replacements) / sizeof(replacements[0]));
    if (flags & CSN_SHORTEN_NESTED) {
        struct nested nested = { .text = out };
        len = shorten_nested(&nested, out, out + len);
    } else {
        len = shorten_plain(out, len);
    }
    out[len] = 0;
    *out_len = len;
    return CSN_OK;
}

static csn_status rename_with(uint32_t flags, struct csn_str name, char *out, size_t cap, size_t *out_len) {
    size_t len = name.len;
    csn_status status = csn_demangle(name, out, cap, &len, NULL);
    if (status == CSN_E_LIMIT) {
        *out_len = len;
        return status;
    }
    struct csn_str plain = status == CSN_OK ? (struct csn_str){ out, len } : name;
    return csn_shorten_name(plain, flags, out, cap, out_len, NULL);
}

csn_status csn_rename_demangled(void *context, struct csn_str name, char *out, size_t cap, size_t *out_len) {
    (void)context;
    return csn_demangle(name, out, cap, out_len, NULL);
}

csn_status csn_rename_short(void *context, struct csn_str name, char *out, size_t cap, size_t *out_len) {
    (void)context;
    return rename_with(0, name, out, cap, out_len);
}

csn_status csn_rename_short_nested(void *context, struct csn_str name, char *out, size_t cap, size_t *out_len) {
    (void)context;
    return rename_with(CSN_SHORTEN_NESTED, name, out, cap, out_len);
}
