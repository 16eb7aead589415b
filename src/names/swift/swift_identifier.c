/* Identifiers: words of earlier identifiers are written as letters, operators and other alphabets are encoded. */
#include "names/punycode.h"
#include "names/swift/swift_read.h"

static bool starts_word(char c) { return !csni_swift_digit(c) && c != '_' && c != 0; }
static bool ends_word(char c, char before) { return c == '_' || c == 0 || (!csni_swift_upper(before) && csni_swift_upper(c)); }

static void remember_words(swift_reader *r, struct csn_str text) {
    size_t start = 0;
    bool within = false;
    for (size_t i = 0; i <= text.len; i++) {
        char c = i < text.len ? text.ptr[i] : 0;
        if (within && ends_word(c, text.ptr[i - 1])) {
            if (i - start >= 2 && r->word_count < CSNI_SWIFT_WORDS_MAX)
                r->words[r->word_count++] = (struct csn_str){ text.ptr + start, i - start };
            within = false;
        }
        if (!within && starts_word(c)) {
            start = i;
            within = true;
        }
    }
}

/* The pieces of an identifier, put into one text when all are known. */
struct pieces {
    struct csn_str at[2 * CSNI_SWIFT_WORDS_MAX];
    size_t count, size;
};

static bool add_piece(swift_reader *r, struct pieces *p, struct csn_str piece) {
    if (p->count == sizeof(p->at) / sizeof(p->at[0])) { /* what there is becomes one piece */
        char *joined = csni_name_alloc(r->memory, p->size);
        if (!joined) return false;
        for (size_t i = 0, at = 0; i < p->count; at += p->at[i++].len) memcpy(joined + at, p->at[i].ptr, p->at[i].len);
        p->at[0] = (struct csn_str){ joined, p->size };
        p->count = 1;
    }
    p->at[p->count++] = piece;
    p->size += piece.len;
    return p->size <= CSNI_NAME_MAX_SIZE;
}

static struct csn_str join(swift_reader *r, const struct pieces *p) {
    if (p->count == 1) return p->at[0];
    char *joined = p->size ? csni_name_alloc(r->memory, p->size) : NULL;
    if (!joined) return (struct csn_str){ 0 };
    for (size_t i = 0, at = 0; i < p->count; at += p->at[i++].len) memcpy(joined + at, p->at[i].ptr, p->at[i].len);
    return (struct csn_str){ joined, p->size };
}

static bool decode(swift_reader *r, struct csn_str coded, struct csn_str *out) {
    enum { UTF8_MAX = 4 * 256 };
    char *text = csni_name_alloc(r->memory, UTF8_MAX);
    if (!text) return false;
    struct csni_name_text decoded = { .out = text, .cap = UTF8_MAX };
    if (!csni_put_swift_punycode(&decoded, coded)) return false;
    *out = (struct csn_str){ text, decoded.len };
    return true;
}

static bool read_words(swift_reader *r, struct pieces *p, bool *more) {
    while (*more && (csni_swift_lower(csni_swift_peek(r)) || csni_swift_upper(csni_swift_peek(r)))) {
        char c = *r->at++;
        uint32_t word = (uint32_t)(csni_swift_lower(c) ? c - 'a' : c - 'A');
        if (csni_swift_upper(c)) *more = false;
        if (word >= r->word_count || !add_piece(r, p, r->words[word])) return false;
    }
    return true;
}

static bool read_text(swift_reader *r, struct pieces *p, bool is_coded) {
    int32_t size = csni_swift_natural(r);
    if (size <= 0) return false;
    if (is_coded) csni_swift_take(r, '_');
    if (size > r->end - r->at) return false;
    struct csn_str text = { r->at, (size_t)size };
    r->at += size;
    if (!is_coded) remember_words(r, text);
    else if (!decode(r, text, &text)) return false;
    return add_piece(r, p, text);
}

swift_node *csni_swift_identifier(swift_reader *r) {
    struct pieces pieces = { .count = 0 };
    bool has_words = false, is_coded = false;
    if (!csni_swift_digit(csni_swift_peek(r))) return NULL;
    if (csni_swift_take(r, '0')) {
        is_coded = csni_swift_take(r, '0');
        has_words = !is_coded;
    }
    do {
        if (!read_words(r, &pieces, &has_words)) return NULL;
        if (csni_swift_take(r, '0')) break;
        if (!read_text(r, &pieces, is_coded)) return NULL;
    } while (has_words);
    struct csn_str text = join(r, &pieces);
    if (!text.len) return NULL;
    swift_node *node = csni_swift_new_text(r->memory, SWIFT_IDENTIFIER, text);
    csni_swift_substitute(r, node);
    return node;
}

swift_node *csni_swift_operator_name(swift_reader *r) {
    swift_node *name = csni_swift_pop_kind(r, SWIFT_IDENTIFIER);
    if (!name) return NULL;
    char *text = csni_name_alloc(r->memory, name->text.len);
    if (!text) return NULL;
    for (size_t i = 0; i < name->text.len; i++) {
        char c = name->text.ptr[i];
        text[i] = (signed char)c < 0 ? c : csni_swift_operator_character(c);
        if (!text[i]) return NULL;
    }
    const char *label;
    switch (csni_swift_next(r)) {
    case 'i': label = " infix"; break;
    case 'p': label = " prefix"; break;
    case 'P': label = " postfix"; break;
    default: return NULL;
    }
    swift_node *node = csni_swift_new_text(r->memory, SWIFT_OPERATOR, (struct csn_str){ text, name->text.len });
    if (node) node->label = label;
    return node;
}

swift_node *csni_swift_local_identifier(swift_reader *r) {
    if (csni_swift_take(r, 'L')) {
        swift_node *discriminator = csni_swift_pop_kind(r, SWIFT_IDENTIFIER), *name = csni_swift_pop_name(r);
        return csni_swift_with2(r->memory, SWIFT_PRIVATE_NAME, NULL, discriminator, name);
    }
    if (csni_swift_take(r, 'l'))
        return csni_swift_with1(r->memory, SWIFT_PRIVATE_NAME, NULL, csni_swift_pop_kind(r, SWIFT_IDENTIFIER));
    char c = csni_swift_peek(r);
    if ((c >= 'a' && c <= 'j') || (c >= 'A' && c <= 'J')) {
        swift_node *kind = csni_swift_new_text(r->memory, SWIFT_IDENTIFIER, (struct csn_str){ r->at++, 1 });
        return csni_swift_with2(r->memory, SWIFT_RELATED_NAME, NULL, kind, csni_swift_pop(r));
    }
    swift_node *discriminator = csni_swift_index_node(r), *name = csni_swift_pop_name(r);
    return csni_swift_with2(r->memory, SWIFT_LOCAL_NAME, NULL, discriminator, name);
}
