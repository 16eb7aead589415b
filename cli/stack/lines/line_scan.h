/* Taking a line of text apart. Each call moves on and returns true, or leaves the place alone and returns false. */
#ifndef CALLSIGN_CLI_LINE_SCAN_H
#define CALLSIGN_CLI_LINE_SCAN_H

#include <stdbool.h>
#include <string.h>

#include <callsign/base.h>

struct line_scan {
    struct csn_str line;
    size_t at;
};

static inline bool is_same(struct csn_str a, struct csn_str b) { return a.len == b.len && memcmp(a.ptr, b.ptr, a.len) == 0; }
static inline bool is_word(struct csn_str text, const char *word) { return is_same(text, (struct csn_str){ word, strlen(word) }); }

static inline bool ends_with(struct csn_str text, const char *end) {
    const size_t size = strlen(end);
    return text.len >= size && memcmp(text.ptr + text.len - size, end, size) == 0;
}

static inline struct line_scan scan_on(struct csn_str line) { return (struct line_scan){ line, 0 }; }
static inline bool scan_at_end(const struct line_scan *s) { return s->at >= s->line.len; }
static inline char scan_peek(const struct line_scan *s) { return scan_at_end(s) ? 0 : s->line.ptr[s->at]; }

static inline bool scan_char(struct line_scan *s, char c) {
    if (scan_at_end(s) || s->line.ptr[s->at] != c) return false;
    s->at++;
    return true;
}

static inline bool scan_text(struct line_scan *s, const char *text) {
    size_t size = strlen(text);
    if (s->line.len - s->at < size || memcmp(s->line.ptr + s->at, text, size) != 0) return false;
    s->at += size;
    return true;
}

/* Any number of blanks, also none. Returns whether there was one. */
static inline bool scan_blanks(struct line_scan *s) {
    size_t from = s->at;
    while (scan_peek(s) == ' ' || scan_peek(s) == '\t') s->at++;
    return s->at > from;
}

static inline int scan_digit_value(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : 16;
}

/* Digits of base 10 or 16 that fit 64 bits. */
static inline bool scan_number(struct line_scan *s, int base, uint64_t *out) {
    uint64_t value = 0;
    size_t at = s->at;
    for (; at < s->line.len && scan_digit_value(s->line.ptr[at]) < base; at++) {
        if (value > (UINT64_MAX - 15) / (uint64_t)base) return false;
        value = value * (uint64_t)base + (uint64_t)scan_digit_value(s->line.ptr[at]);
    }
    if (at == s->at) return false;
    s->at = at;
    *out = value;
    return true;
}

/* 0x and digits. */
static inline bool scan_hex(struct line_scan *s, uint64_t *out) {
    size_t from = s->at;
    if (scan_text(s, "0x") && scan_number(s, 16, out)) return true;
    s->at = from;
    return false;
}

/* Everything up to a blank or the end; at least one character. */
static inline bool scan_word(struct line_scan *s, struct csn_str *out) {
    size_t from = s->at;
    while (!scan_at_end(s) && scan_peek(s) != ' ' && scan_peek(s) != '\t') s->at++;
    *out = (struct csn_str){ s->line.ptr + from, s->at - from };
    return s->at > from;
}

/* " (area at /src/shapes.h:6)", as frames are filled in: a line may have it of an earlier run. */
static inline void scan_filled(struct line_scan *s) {
    if (s->line.len - s->at < 2 || s->line.ptr[s->at] != ' ' || s->line.ptr[s->at + 1] != '(') return;
    size_t depth = 0;
    for (size_t at = s->at + 1; at < s->line.len; at++) {
        if (s->line.ptr[at] == '(') depth++;
        if (s->line.ptr[at] != ')' || --depth) continue;
        s->at = at + 1;
        return;
    }
}

static inline struct csn_str scan_rest(const struct line_scan *s) {
    return (struct csn_str){ s->line.ptr + s->at, s->line.len - s->at };
}

/* The first place of `text` from here on; false: it is not there. */
static inline bool scan_find(const struct line_scan *s, const char *text, size_t *out) {
    size_t size = strlen(text);
    for (size_t at = s->at; at + size <= s->line.len; at++) {
        const char *found = memchr(s->line.ptr + at, text[0], s->line.len - at - size + 1);
        if (!found) return false;
        at = (size_t)(found - s->line.ptr);
        if (memcmp(found, text, size) == 0) {
            *out = at;
            return true;
        }
    }
    return false;
}

/* The last place of a character from here on. */
static inline bool scan_find_last(const struct line_scan *s, char c, size_t *out) {
    for (size_t at = s->line.len; at > s->at; at--) {
        if (s->line.ptr[at - 1] != c) continue;
        *out = at - 1;
        return true;
    }
    return false;
}

#endif
