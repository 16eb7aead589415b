/* The one pass over a line that all dialects share. */
#include "stack/line_marks.h"

#include <string.h>

enum byte_kind { BYTE_OTHER, BYTE_X, BYTE_PLUS, BYTE_P, BYTE_COLON, BYTE_SEMICOLON, BYTE_BRACKET, BYTE_W, BYTE_DASH, BYTE_BAR, BYTE_AT, BYTE_K, BYTE_L };

static const uint8_t byte_kinds[256] = {
    ['x'] = BYTE_X, ['+'] = BYTE_PLUS, ['p'] = BYTE_P, [':'] = BYTE_COLON, [';'] = BYTE_SEMICOLON, ['['] = BYTE_BRACKET,
    ['w'] = BYTE_W, ['-'] = BYTE_DASH, ['|'] = BYTE_BAR, ['@'] = BYTE_AT,
    ['K'] = BYTE_K, ['L'] = BYTE_L,
};

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_hex_digit(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
static bool is_blank_char(char c) { return c == ' ' || c == '\t'; }
static char byte_at(struct csn_str line, size_t at) { return at < line.len ? line.ptr[at] : 0; }

/* "1.234567:", of which the colon is at `at`. */
static bool ends_time(struct csn_str line, size_t at) {
    size_t i = at;
    while (i > 0 && is_digit(line.ptr[i - 1])) i--;
    if (i == at || i < 2 || line.ptr[i - 1] != '.' || !is_digit(line.ptr[i - 2])) return false;
    for (i--; i > 0 && is_digit(line.ptr[i - 1]); i--) continue;
    return !i || is_blank_char(line.ptr[i - 1]) || line.ptr[i - 1] == '[';
}

/* "0x" is before `at`. */
static bool is_upper_address(struct csn_str line, size_t at) {
    size_t end = at;
    if (is_digit(byte_at(line, at)) && byte_at(line, at) < '8') return false;
    while (end < at + 17 && is_hex_digit(byte_at(line, end))) end++;
    return end == at + 8 || end == at + 16;
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

/* Whether one of 8 bytes may begin a mark: most of a log has none. */
static inline bool has_kind(const char *p) {
    const uint8_t *b = (const uint8_t *)p;
    return byte_kinds[b[0]] | byte_kinds[b[1]] | byte_kinds[b[2]] | byte_kinds[b[3]] | byte_kinds[b[4]] | byte_kinds[b[5]]
           | byte_kinds[b[6]] | byte_kinds[b[7]];
}

static bool has_text(struct csn_str line, size_t at, const char *text) {
    size_t size = strlen(text);
    return line.len - at >= size && memcmp(line.ptr + at, text, size) == 0;
}

static uint32_t marks_within(struct csn_str line) {
    enum { AT_ONCE = 8 };
    uint32_t marks = 0;
    for (size_t i = 0; i < line.len; i++) {
        while (line.len - i > AT_ONCE && !has_kind(line.ptr + i)) i += AT_ONCE;
        switch (byte_kinds[(uint8_t)line.ptr[i]]) {
        case BYTE_X:
            if (!i || line.ptr[i - 1] != '0' || !is_hex_digit(byte_at(line, i + 1))) break;
            marks |= is_upper_address(line, i + 1) ? MARK_HEX | MARK_KERNEL : MARK_HEX;
            break;
        case BYTE_PLUS:
            if (!is_digit(byte_at(line, i + 1 + (byte_at(line, i + 1) == ' ')))) break;
            marks |= has_text(line, i + 1, "0x") || has_text(line, i + 1, " 0x") ? MARK_PLUS | MARK_OFFSET : MARK_PLUS;
            break;
        case BYTE_P:
            if (is_register(line, i)) marks |= MARK_REGISTER;
            break;
        case BYTE_COLON:
            if (ends_time(line, i)) marks |= MARK_TIME;
            if (begins_value(line, i + 1)) marks |= MARK_VALUE;
            break;
        case BYTE_K:
            if (has_text(line, i, "Kernel Offset")) marks |= MARK_KERNEL;
            break;
        case BYTE_L:
            if (has_text(line, i, "Linux version")) marks |= MARK_KERNEL;
            break;
        case BYTE_AT: marks |= MARK_AT; break;
        case BYTE_BAR: marks |= MARK_FIELDS; break;
        case BYTE_SEMICOLON: marks |= MARK_FOLDED; break;
        case BYTE_BRACKET:
            if (is_hex_digit(byte_at(line, i + 1))) marks |= MARK_MODULE;
            if (byte_at(line, i + 1) == '<' && is_hex_digit(byte_at(line, i + 2))) marks |= MARK_KERNEL;
            break;
        case BYTE_W:
            if (line.len - i >= 4 && memcmp(line.ptr + i, "wasm", 4) == 0) marks |= MARK_MODULE;
            break;
        case BYTE_DASH:
            if (i && line.ptr[i - 1] == '/' && byte_at(line, i + 1) == '/') marks |= MARK_BRANCH;
            if (i > 4 && line.len - i >= 3 && memcmp(line.ptr + i - 5, "build-id", 8) == 0) marks |= MARK_BUILD_ID;
            break;
        default: break;
        }
    }
    return marks;
}

static bool is_event(struct csn_str line, size_t from) {
    static const char *const words[] = { "Fault", "Reading symbols from ", "Core was generated by ", "Current executable set to ", "Process " };
    char first = byte_at(line, from);
    if (first != 'F' && first != 'R' && first != 'C' && first != 'P') return false;
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
    if (first == '=' || first == '>' || first == '[') return marks | MARK_SIGN;
    if (first == '0' && byte_at(line, from + 1) == 'x') return marks | MARK_START_HEX;
    for (hex = from; is_hex_digit(byte_at(line, hex)); hex++) continue;
    if (hex == from) return marks;
    char after = byte_at(line, hex);
    if (!after || is_blank_char(after) || after == '-') marks |= MARK_ADDRESS;
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

/* Folded stacks need both a ';' and a number at the end. */
static uint32_t marks_at_end(struct csn_str line, uint32_t within) {
    size_t end = line.len, number;
    while (end && is_blank_char(line.ptr[end - 1])) end--;
    if (!end) return 0;
    if (line.ptr[end - 1] == ':') return MARK_COLON;
    if (line.ptr[end - 1] == ')') return ends_in_image((struct csn_str){ line.ptr, end }) ? MARK_IMAGE : 0;
    if (!(within & MARK_FOLDED)) return 0;
    for (number = end; number && is_digit(line.ptr[number - 1]); number--) continue;
    return number < end && number && line.ptr[number - 1] == ' ' ? MARK_FOLDED : 0;
}

uint32_t line_marks(struct csn_str line) {
    uint32_t within = marks_within(line);
    return (within & ~(uint32_t)MARK_FOLDED) | marks_at_start(line) | marks_at_end(line, within);
}
