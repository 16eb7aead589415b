/* Making the nodes of a C++ name, and the tokens of its grammar. */
#include "names/itanium/itanium_parse.h"

struct csni_itanium_node *csni_make(parser *p, enum csni_itanium_kind kind) {
    struct csni_itanium_node *n = csni_name_alloc(p->memory, sizeof(*n));
    if (!n) return NULL;
    memset(n, 0, sizeof(*n));
    n->kind = (uint8_t)kind;
    return n;
}

node *csni_make_pair(parser *p, enum csni_itanium_kind kind, node *a, node *b) {
    struct csni_itanium_node *n = a ? csni_make(p, kind) : NULL;
    if (!n) return NULL;
    n->a = a;
    n->b = b;
    return n;
}

struct csni_itanium_node *csni_make_text(parser *p, enum csni_itanium_kind kind, struct csn_str text, node *a) {
    struct csni_itanium_node *n = a ? csni_make(p, kind) : NULL;
    if (!n) return NULL;
    n->text = text;
    n->a = a;
    return n;
}

node *csni_make_word(parser *p, enum csni_itanium_kind kind, const char *word, node *a) {
    return csni_make_text(p, kind, (struct csn_str){ word, strlen(word) }, a);
}

node *csni_name_node(parser *p, struct csn_str text) {
    struct csni_itanium_node *n = csni_make(p, NODE_NAME);
    if (n) n->text = text;
    return n;
}

struct csni_itanium_node *csni_make_list(parser *p, enum csni_itanium_kind kind, uint32_t base) {
    uint32_t count = p->parts.count - base;
    struct csni_itanium_node *n = csni_make(p, kind);
    node **list = n && count ? csni_name_alloc(p->memory, count * sizeof(*list)) : NULL;
    p->parts.count = base;
    if (!n || (count && !list)) return NULL;
    if (count) memcpy(list, p->parts.at + base, count * sizeof(*list));
    n->list = list;
    n->count = count;
    return n;
}

bool csni_push_part(parser *p, node *n) { return n && csni_name_push(p->memory, &p->parts, n); }

node *csni_add_substitution(parser *p, node *n) {
    return n && csni_name_push(p->memory, &p->substitutions, n) ? n : NULL;
}

node *csni_add_dependent(parser *p, node *n, const char *begin, bool is_prefix) {
    struct csni_itanium_node *dependent = csni_make_text(p, NODE_DEPENDENT, (struct csn_str){ begin, (size_t)(p->at - begin) }, n);
    if (!dependent) return NULL;
    dependent->count = p->parameters_unknown ? 0 : p->scope;
    dependent->flag = is_prefix;
    return csni_add_substitution(p, dependent) ? n : NULL;
}

/* ---- tokens ---- */

bool csni_parse_count(parser *p, size_t *out) {
    uint64_t value = 0;
    if (!csni_is_digit(csni_peek(p, 0))) return false;
    while (csni_is_digit(csni_peek(p, 0))) {
        value = 10 * value + (uint64_t)(*p->at++ - '0');
        if (value > INT32_MAX) value = INT32_MAX;
    }
    *out = (size_t)value;
    return true;
}

struct csn_str csni_parse_number(parser *p, bool may_be_negative) {
    const char *begin = p->at;
    if (may_be_negative) csni_take(p, 'n');
    if (!csni_is_digit(csni_peek(p, 0))) return (struct csn_str){ begin, 0 };
    while (csni_is_digit(csni_peek(p, 0))) p->at++;
    return (struct csn_str){ begin, (size_t)(p->at - begin) };
}

struct csn_str csni_parse_identifier(parser *p) {
    size_t len = 0;
    if (!csni_parse_count(p, &len) || len > (size_t)(p->end - p->at)) return (struct csn_str){ p->at, 0 };
    struct csn_str text = { p->at, len };
    p->at += len;
    return text;
}

unsigned csni_parse_qualifiers(parser *p) {
    unsigned qualifiers = 0;
    if (csni_take(p, 'r')) qualifiers |= QUAL_RESTRICT;
    if (csni_take(p, 'V')) qualifiers |= QUAL_VOLATILE;
    if (csni_take(p, 'K')) qualifiers |= QUAL_CONST;
    return qualifiers;
}

/* How many digits there are from `at` on, if nothing but an end follows them; 0: something does. */
static size_t last_digits(const parser *p, const char *at) {
    size_t count = 0;
    while (at + count < p->end && csni_is_digit(at[count])) count++;
    return at + count == p->end || at[count] == '.' || at[count] == 'E' ? count : 0;
}

/* "_3", "__12_", or, as old compilers wrote it, digits at the very end; "_12" is of gcc before 7. */
void csni_skip_discriminator(parser *p) {
    const char *at = p->at;
    if (csni_peek(p, 0) == '_') {
        if (csni_is_digit(csni_peek(p, 1))) {
            size_t digits = last_digits(p, at + 1);
            p->at += 1 + (digits ? digits : 1);
        } else if (csni_peek(p, 1) == '_') {
            for (at += 2; at < p->end && csni_is_digit(*at);) at++;
            if (at < p->end && *at == '_') p->at = at + 1;
        }
        return;
    }
    while (at < p->end && csni_is_digit(*at)) at++;
    if (at == p->end) p->at = at;
}

/* Digits to the base 36. */
bool csni_parse_sequence_id(parser *p, size_t *out) {
    uint64_t value = 0;
    const char *begin = p->at;
    for (; p->at < p->end; p->at++) {
        char c = *p->at;
        if (!csni_is_digit(c) && (c < 'A' || c > 'Z')) break;
        value = 36 * value + (uint64_t)(csni_is_digit(c) ? c - '0' : c - 'A' + 10);
        if (value > INT32_MAX) return false;
    }
    *out = (size_t)value;
    return p->at > begin;
}
