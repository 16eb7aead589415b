/* Bytes at which something that dialects need may be, then a closer look at each. */
#include "stack/records/json_gate.h"

#include <string.h>

#include "ui/text_bytes.h"

static char byte_before(struct csn_str json, size_t at, size_t count) { return at >= count ? json.ptr[at - count] : 0; }

static bool has_hex_digits(struct csn_str json, size_t at, unsigned count) {
    for (unsigned i = 0; i < count; i++)
        if (!is_hex_digit(byte_at(json, at + i))) return false;
    return true;
}

/* ---- one byte ---- */

/* "area+dd ()" of illumos' panics */
static bool is_bare_offset(struct csn_str json, size_t at) {
    size_t end = at + 1;
    while (is_hex_digit(byte_at(json, end))) end++;
    return end > at + 1 && end <= json.len && has_text_at(json, end, " (");
}

/* "area+25", "(+0x1139": no zone of a time, as in "20:00:01+02:00" and "01.123+0200". */
static bool is_offset(struct csn_str json, size_t at) {
    size_t digits = at + 1;
    if (byte_at(json, digits) == ' ') digits++;
    if (!is_digit(byte_at(json, digits))) return is_bare_offset(json, at);
    if (!is_digit(byte_before(json, at, 1)) || byte_at(json, digits + 1) == 'x') return true;
    size_t end = digits;
    while (is_digit(byte_at(json, end))) end++;
    return end - digits != 4 && !(end - digits == 2 && byte_at(json, end) == ':');
}

/* " pc ", " ip ", " ip:" of registers; "r-xp " of a mapping. */
static bool is_register_or_mapping(struct csn_str json, size_t at) {
    const char before = byte_before(json, at, 1), next = byte_at(json, at + 1);
    if (before == '-' || before == 'x')
        return is_blank_char(next) && (byte_before(json, at, 2) == '-' || byte_before(json, at, 2) == 'w');
    if (before == 'i') return is_blank_char(next) || next == ':';
    return next == 'c' && is_blank_char(byte_at(json, at + 2));
}

/* "1.234567:" */
static bool ends_time(struct csn_str json, size_t at) {
    size_t i = at;
    while (i && is_digit(json.ptr[i - 1])) i--;
    return i < at && byte_before(json, i, 1) == '.' && is_digit(byte_before(json, i, 2));
}

/* Where the blanks end that stand behind a line. */
static size_t skip_blanks(struct csn_str json, size_t at) {
    while (is_blank_char(byte_at(json, at)) || has_text_at(json, at, "\\t")) at += json.ptr[at] == '\\' ? 2 : 1;
    return at;
}

/* Where they begin; of very many, it does not matter. */
static size_t blanks_before(struct csn_str json, size_t at) {
    enum { BLANKS_MAX = 256 }; /* each of many escaped ones is asked for */
    for (size_t i = 0; i < BLANKS_MAX; i++) {
        if (at && is_blank_char(json.ptr[at - 1])) at--;
        else if (at > 1 && json.ptr[at - 1] == 't' && json.ptr[at - 2] == '\\') at -= 2;
        else break;
    }
    return at;
}

/* The end of a line, behind blanks: that of the string, or an escaped character other than a quote. */
static bool ends_line(struct csn_str json, size_t at) {
    at = skip_blanks(json, at);
    const char next = byte_at(json, at);
    return !next || next == '"' || (next == '\\' && byte_at(json, at + 1) != '"');
}

/* A value of 8 digits, a time, or the end of a line, as of "Call Trace:". What is after a quote separates a name from its value. */
static bool is_colon_of_text(struct csn_str json, size_t at) {
    const char next = byte_at(json, at + 1);
    if (next == '\\' || ends_line(json, at + 1)) return true;
    return has_hex_digits(json, at + 1 + (next == ' '), 8) || ends_time(json, at);
}

/* "[<c0101139>]", also as encoders for HTML write it; or numbers, which may be the bytes of a text. */
static bool is_bracket_of_frame(struct csn_str json, size_t at) {
    size_t next = at + 1;
    if (byte_at(json, next) == '<') return is_hex_digit(byte_at(json, next + 1));
    if (has_text_at(json, next, "\\u003c") || has_text_at(json, next, "\\u003C")) return true;
    const char before = byte_before(json, at, 1);
    if (before != ':' && !is_blank_char(before)) return false;
    while (is_blank_char(byte_at(json, next))) next++;
    while (is_digit(byte_at(json, next))) next++;
    return is_digit(byte_at(json, next - 1)) && (byte_at(json, next) == ',' || is_blank_char(byte_at(json, next)));
}

/* "@ 000000000041b5c4" */
static bool is_at_address(struct csn_str json, size_t at) {
    size_t next = at + 1;
    while (is_blank_char(byte_at(json, next))) next++;
    return has_hex_digits(json, next, 8);
}

/* Folded stacks: the string, or the line in it, ends in a count. */
static bool is_folded(struct csn_str json, size_t at) {
    enum { LOOKED_AT = 256 };
    size_t end = at + 1, digits;
    if (is_blank_char(byte_at(json, end))) return false;
    while (end < json.len && end < at + LOOKED_AT && json.ptr[end] != '"' &&
           (json.ptr[end] != '\\' || byte_at(json, end + 1) == '"'))
        end += json.ptr[end] == '\\' ? 2 : 1;
    if (end >= at + LOOKED_AT) return true;
    if (end > json.len) return false;
    end = blanks_before(json, end);
    for (digits = end; digits > at && is_digit(json.ptr[digits - 1]); digits--) continue;
    return digits < end && is_blank_char(json.ptr[digits - 1]);
}

/* An address alone on a line, before or after the line's end. */
static bool is_bare_address(struct csn_str json, size_t at) {
    enum { DIGITS_MIN = 4, DIGITS_MAX = 16 };
    const size_t end = blanks_before(json, at);
    size_t count = 0;
    while (count <= DIGITS_MAX && is_hex_digit(byte_before(json, end, count + 1))) count++;
    if (count >= DIGITS_MIN && count <= DIGITS_MAX && (count == end || byte_before(json, end, count + 1) == '"')) return true;
    for (count = 0; count <= DIGITS_MAX && is_hex_digit(byte_at(json, at + 2 + count)); count++) continue;
    return count >= DIGITS_MIN && count <= DIGITS_MAX && ends_line(json, at + 2 + count);
}

/* What debuggers write of the program before its stack, at the beginning of a string. */
static bool is_event(struct csn_str json, size_t at) {
    static const char *const words[] = { "Process ", "Core was generated by ", "Current executable set to ",
                                         "Reading symbols from " };
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (json.ptr[at] == words[i][0] && has_text_at(json, at, words[i])) return true;
    return false;
}

/* A character of ASCII that no frame needs to be recognized by is written as a number by those who escape for HTML:
 * "&", "'", '"', "<", ">". */
static bool is_hidden(struct csn_str json, size_t at) {
    static const char *const harmless[] = { "26", "27", "22", "3c", "3C", "3e", "3E" };
    const char first = byte_at(json, at + 4);
    if (!has_text_at(json, at, "\\u00") || first < '2' || first > '7') return false;
    for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
        if (has_text_at(json, at + 4, harmless[i])) return false;
    return true;
}

static bool is_candidate(struct csn_str json, size_t at) {
    switch (json.ptr[at]) {
    case 'x': return byte_before(json, at, 1) == '0' && is_hex_digit(byte_at(json, at + 1));
    case '+': return is_offset(json, at);
    case 'p': return is_register_or_mapping(json, at);
    case '-':
        return byte_before(json, at, 1) == '/' ? byte_at(json, at + 1) == '/'
                                               : at > 4 && has_text_at(json, at - 5, "build-id");
    case '@': return is_at_address(json, at);
    case ':': return byte_before(json, at, 1) != '"' && is_colon_of_text(json, at);
    case ';': return is_folded(json, at);
    case '[': return is_bracket_of_frame(json, at);
    case '(': return byte_at(json, at + 1) == '/' || byte_at(json, at + 1) == '[' || has_text_at(json, at + 1, "\\/");
    case '\\':
        if (byte_at(json, at + 1) == 'n') return is_bare_address(json, at);
        return is_hidden(json, at);
    case 'L': return has_text_at(json, at, "Linux version");
    case 'P': case 'C': case 'R': return (!at || byte_before(json, at, 1) == '"') && is_event(json, at);
    default: return false;
    }
}

/* ---- where to look ---- */

#if TEXT_BLOCKS
/* Bit i: is_candidate() may be true of byte i. The bytes before and behind the block are there, too. */
static inline uint32_t possible_candidates(const char *p) {
    const __m128i before = bytes_at(p - 1), here = bytes_at(p), after = bytes_at(p + 1), slash = _mm_set1_epi8('/');
    const __m128i quote = equal_to(before, '"');
    const __m128i of_p = either(either(equal_to(before, ' '), equal_to(before, 'i')),
                                either(equal_to(before, '-'), equal_to(before, 'x')));
    const __m128i of_dash = either(_mm_cmpeq_epi8(before, slash), equal_to(before, 'd'));
    __m128i found = both(equal_to(here, 'x'), equal_to(before, '0'));
    found = either(found, both(equal_to(here, 'p'), of_p));
    found = either(found, both(equal_to(here, '-'), of_dash));
    found = either(found, _mm_andnot_si128(quote, equal_to(here, ':')));
    const __m128i capital = both(_mm_cmpgt_epi8(here, _mm_set1_epi8('B')), _mm_cmplt_epi8(here, _mm_set1_epi8('S')));
    found = either(found, both(quote, capital));
    found = either(found, _mm_andnot_si128(equal_to(after, ' '), equal_to(here, ';')));
    found = either(found, both(equal_to(here, '\\'), either(equal_to(after, 'u'), equal_to(after, 'n'))));
    found = either(found, both(equal_to(here, 'L'), equal_to(after, 'i')));
    found = either(found, both(equal_to(here, '@'), equal_to(after, ' ')));
    found = either(found, either(equal_to(here, '+'), either(equal_to(here, '['), equal_to(here, '('))));
    return (uint32_t)_mm_movemask_epi8(found);
}
#else
static inline uint32_t possible_candidates(const char *p) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < TEXT_BLOCK; i++) found |= (uint32_t)(p[i] && strchr("x+p-@:;[(\\LPCR", p[i])) << i;
    return found;
}
#endif

static bool block_may(struct csn_str json, size_t from, uint32_t possible) {
    for (; possible; possible &= possible - 1)
        if (is_candidate(json, from + (size_t)__builtin_ctz(possible))) return true;
    return false;
}

bool json_may_have_frames(struct csn_str json) {
    size_t i = 1;
    if (json.len < TEXT_BLOCK + 2) {
        for (i = 0; i < json.len; i++)
            if (is_candidate(json, i)) return true;
        return false;
    }
    for (; i + TEXT_BLOCK < json.len; i += TEXT_BLOCK)
        if (block_may(json, i, possible_candidates(json.ptr + i))) return true;
    /* The last block overlaps the one before. */
    const size_t last = json.len - 1 - TEXT_BLOCK;
    return block_may(json, last, possible_candidates(json.ptr + last)) || is_candidate(json, 0) || is_candidate(json, json.len - 1);
}
