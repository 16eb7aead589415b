/* The one pass over a line that all dialects share. */
#include "stack/lines/line_marks.h"

#include <string.h>

#include "ui/text_bytes.h"

enum byte_kind { BYTE_OTHER, BYTE_X, BYTE_PLUS, BYTE_P, BYTE_COLON, BYTE_SEMICOLON, BYTE_BRACKET, BYTE_W, BYTE_DASH, BYTE_BAR, BYTE_AT, BYTE_K, BYTE_L };

static const uint8_t byte_kinds[256] = {
    ['x'] = BYTE_X, ['+'] = BYTE_PLUS, ['p'] = BYTE_P, [':'] = BYTE_COLON, [';'] = BYTE_SEMICOLON, ['['] = BYTE_BRACKET,
    ['w'] = BYTE_W, ['-'] = BYTE_DASH, ['|'] = BYTE_BAR, ['@'] = BYTE_AT,
    ['K'] = BYTE_K, ['L'] = BYTE_L,
};

/* "1.234567:", of which the colon is at `at`. */
static bool ends_time(struct csn_str line, size_t at) {
    size_t i = at;
    while (i > 0 && is_digit(line.ptr[i - 1])) i--;
    if (i == at || i < 2 || line.ptr[i - 1] != '.' || !is_digit(line.ptr[i - 2])) return false;
    for (i--; i > 0 && is_digit(line.ptr[i - 1]); i--) continue;
    return !i || is_blank_char(line.ptr[i - 1]) || line.ptr[i - 1] == '[';
}

/* "0x" is before `at`. What is no word of its own is a range's end, a checksum or a part of a path. */
static bool is_upper_address(struct csn_str line, size_t at) {
    size_t end = at;
    if (is_digit(byte_at(line, at)) && byte_at(line, at) < '8') return false;
    if (at > 2 && !is_blank_char(line.ptr[at - 3]) && line.ptr[at - 3] != ':') return false;
    while (end < at + 17 && is_hex_digit(byte_at(line, end))) end++;
    if (end != at + 8 && end != at + 16) return false;
    char after = byte_at(line, end);
    return !after || is_blank_char(after) || after == '[' || after == '(';
}

/* " pc ", " ip " and " ip:"; also " sp", which nobody needs alone. */
static bool is_register(struct csn_str line, size_t at) {
    char next = byte_at(line, at + 1);
    if (at > 0 && is_blank_char(line.ptr[at - 1])) return next == 'c' && is_blank_char(byte_at(line, at + 2));
    return at && line.ptr[at - 1] == 'i' && (at == 1 || is_blank_char(line.ptr[at - 2])) && (is_blank_char(next) || next == ':');
}

static bool begins_value(struct csn_str line, size_t at) {
    enum { DIGITS = 8 };
    if (byte_at(line, at) == ' ') at++;
    for (size_t i = 0; i < DIGITS; i++)
        if (!is_hex_digit(byte_at(line, at + i))) return false;
    return true;
}

static uint32_t mark_at(struct csn_str line, size_t i) {
    switch (byte_kinds[(uint8_t)line.ptr[i]]) {
    case BYTE_X:
        if (!i || line.ptr[i - 1] != '0' || !is_hex_digit(byte_at(line, i + 1))) return 0;
        return is_upper_address(line, i + 1) ? MARK_HEX | MARK_KERNEL : MARK_HEX;
    case BYTE_PLUS:
        if (!is_digit(byte_at(line, i + 1 + (byte_at(line, i + 1) == ' ')))) return 0;
        return has_text_at(line, i + 1, "0x") || has_text_at(line, i + 1, " 0x") ? MARK_PLUS | MARK_OFFSET : MARK_PLUS;
    case BYTE_P: return is_register(line, i) ? MARK_REGISTER : 0;
    case BYTE_COLON: return (ends_time(line, i) ? MARK_TIME : 0) | (begins_value(line, i + 1) ? MARK_VALUE : 0);
    case BYTE_K: return has_text_at(line, i, "Kernel Offset") ? MARK_KERNEL : 0;
    case BYTE_L: return has_text_at(line, i, "Linux version") ? MARK_KERNEL : 0;
    case BYTE_AT: return MARK_AT;
    case BYTE_BAR: return MARK_FIELDS;
    case BYTE_SEMICOLON: return MARK_FOLDED;
    case BYTE_BRACKET:
        if (is_hex_digit(byte_at(line, i + 1)))
            return line.ptr[i + 1] == '0' && byte_at(line, i + 2) == 'x' ? MARK_MODULE | MARK_BRACKET_HEX : MARK_MODULE;
        return byte_at(line, i + 1) == '<' && is_hex_digit(byte_at(line, i + 2)) ? MARK_KERNEL : 0;
    case BYTE_W: return has_text_at(line, i, "wasm") ? MARK_WASM : 0;
    case BYTE_DASH:
        if (i && line.ptr[i - 1] == '/' && byte_at(line, i + 1) == '/') return MARK_BRANCH;
        return i > 4 && has_text_at(line, i - 5, "build-id") ? MARK_BUILD_ID : 0;
    default: return 0;
    }
}

/* ---- where marks may be ---- */

/* Bit i: a mark may be at byte i of the block. Most bytes of a log begin none. The bytes before and behind the block
 * are there, too. */
#if TEXT_BLOCKS
static inline uint32_t possible_marks(const char *p) {
    __m128i before = bytes_at(p - 1), here = bytes_at(p), after = bytes_at(p + 1);
    __m128i blank = either(equal_to(before, ' '), equal_to(before, '\t'));
    __m128i found = both(equal_to(here, 'x'), equal_to(before, '0'));
    found = either(found, both(equal_to(here, 'p'), either(blank, equal_to(before, 'i'))));
    found = either(found, both(equal_to(here, '-'), either(equal_to(before, '/'), equal_to(before, 'd'))));
    found = either(found, both(equal_to(here, 'w'), equal_to(after, 'a')));
    found = either(found, both(equal_to(here, 'K'), equal_to(after, 'e')));
    found = either(found, both(equal_to(here, 'L'), equal_to(after, 'i')));
    found = either(found, either(equal_to(here, '+'), equal_to(here, ':')));
    found = either(found, either(equal_to(here, ';'), equal_to(here, '|')));
    found = either(found, either(equal_to(here, '@'), equal_to(here, '[')));
    return (uint32_t)_mm_movemask_epi8(found);
}
#else
static inline uint32_t possible_marks(const char *p) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < TEXT_BLOCK; i++) found |= (uint32_t)(byte_kinds[(uint8_t)p[i]] != BYTE_OTHER) << i;
    return found;
}
#endif

static uint32_t marks_in_block(struct csn_str line, size_t from, uint32_t possible) {
    uint32_t marks = 0;
    for (; possible; possible &= possible - 1) marks |= mark_at(line, from + (size_t)__builtin_ctz(possible));
    return marks;
}

static uint32_t marks_within(struct csn_str line) {
    uint32_t marks = 0;
    size_t i = 1;
    if (line.len < TEXT_BLOCK + 2) {
        for (i = 0; i < line.len; i++) marks |= mark_at(line, i);
        return marks;
    }
    for (; i + TEXT_BLOCK < line.len; i += TEXT_BLOCK) marks |= marks_in_block(line, i, possible_marks(line.ptr + i));
    /* The last block overlaps the one before. */
    size_t last = line.len - 1 - TEXT_BLOCK;
    marks |= marks_in_block(line, last, possible_marks(line.ptr + last) >> (i - last) << (i - last));
    return marks | mark_at(line, 0) | mark_at(line, line.len - 1);
}

static bool is_event(struct csn_str line, size_t from) {
    static const char *const words[] = {
        "Fault", "Reading symbols from ", "Core was generated by ", "Current executable set to ", "Process ", "Backtrace:", "PC=0x",
        "Process:", "Incident Identifier:", "Thread 0 ", "Thread 0:", "Runtime error "
    };
    char first = byte_at(line, from);
    if (!first || !strchr("FRCPBIT", first)) return false;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        size_t size = strlen(words[i]);
        if (line.len - from > size && memcmp(line.ptr + from, words[i], size) == 0) return true;
    }
    return false;
}

static uint32_t marks_at_start(struct csn_str line) {
    size_t from = 0, hex, decimal;
    uint32_t marks = 0;
    while (is_blank_char(byte_at(line, from))) from++;
    if (from) marks |= MARK_INDENT;
    char first = byte_at(line, from);
    if (is_event(line, from)) marks |= MARK_EVENT;
    if (first == '#') return marks | MARK_HASH;
    if (first == '$' || (first == '(' && has_text_at(line, from + 1, "0x"))) return marks | MARK_OPENING;
    if (first == '?') return has_text_at(line, from, "???:") ? marks | MARK_UNKNOWN : marks;
    if (first == '=' || first == '>' || first == '[') return marks | MARK_SIGN;
    if (first == '0' && byte_at(line, from + 1) == 'x') return marks | MARK_START_HEX;
    for (hex = from; is_hex_digit(byte_at(line, hex)); hex++) continue;
    if (hex == from) return marks;
    char after = byte_at(line, hex);
    if (!after || is_blank_char(after) || after == '-' || after == '`') marks |= MARK_ADDRESS;
    for (decimal = from; is_digit(byte_at(line, decimal)); decimal++) continue;
    after = byte_at(line, decimal);
    if (decimal > from && (is_blank_char(after) || after == ':' || after == '#' || after == '|')) marks |= MARK_NUMBER;
    return marks;
}

static bool ends_in_image(struct csn_str line) {
    size_t at = line.len;
    while (at && line.ptr[at - 1] != '(') at--;
    return at && (line.ptr[at] == '/' || line.ptr[at] == '[');
}

static bool ends_in_hex(struct csn_str line) {
    size_t at = line.len;
    while (at && is_hex_digit(line.ptr[at - 1])) at--;
    return at > 1 && at < line.len && line.ptr[at - 1] == 'x' && line.ptr[at - 2] == '0';
}

static bool ends_in_count(struct csn_str line) { return folded_count_at(line) != 0; }

/* "4242/4243" behind ':', or "4242:4243)" behind '(': a thread and its process. */
static bool ends_in_thread(struct csn_str line) {
    const bool in_brackets = line.ptr[line.len - 1] == ')';
    size_t at = line.len - in_brackets;
    const size_t end = at;
    while (at && is_digit(line.ptr[at - 1])) at--;
    if (at == end || at < 2 || line.ptr[at - 1] != (in_brackets ? ':' : '/')) return false;
    for (at--; at && is_digit(line.ptr[at - 1]); at--) continue;
    return at && line.ptr[at - 1] == (in_brackets ? '(' : ':');
}

/* Folded stacks need both a ';' and a number at the end. */
static uint32_t marks_of_last_word(struct csn_str line, uint32_t within) {
    if (line.ptr[line.len - 1] == ':') return MARK_COLON;
    const uint32_t perf = ends_in_thread(line) ? MARK_PERF : 0;
    if (line.ptr[line.len - 1] == ')') return perf | (ends_in_image(line) ? MARK_IMAGE : 0);
    return perf | (within & MARK_HEX && ends_in_hex(line) ? MARK_END_HEX : 0) |
           (within & MARK_FOLDED && ends_in_count(line) ? MARK_FOLDED : 0);
}

static uint32_t marks_at_end(struct csn_str line, uint32_t within) {
    const size_t len = line.len;
    while (line.len && is_blank_char(line.ptr[line.len - 1])) line.len--;
    if (!line.len) return 0;
    return marks_of_last_word(line, within) | (line.len < len ? MARK_PERF : 0);
}

uint32_t line_marks(struct csn_str line) {
    uint32_t within = marks_within(line);
    return (within & ~(uint32_t)MARK_FOLDED) | marks_at_start(line) | marks_at_end(line, within);
}
