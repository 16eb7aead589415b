/* Bytes of names and lines, and blocks of 16 of them: what the passes over each byte share. */
#ifndef CALLSIGN_CLI_TEXT_BYTES_H
#define CALLSIGN_CLI_TEXT_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include <callsign/base.h>

#if defined(__SSE2__) && !defined(CSNI_PORTABLE)
#define TEXT_BLOCKS 1
#include <emmintrin.h>
#endif

static inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
static inline bool is_hex_digit(char c) { return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }
static inline bool is_blank_char(char c) { return c == ' ' || c == '\t'; }
/* 0 behind the end. */
static inline char byte_at(struct csn_str text, size_t at) { return at < text.len ? text.ptr[at] : 0; }
/* `at` is not behind the end. */
static inline bool has_text_at(struct csn_str text, size_t at, const char *wanted) {
    const size_t size = strlen(wanted);
    return text.len - at >= size && memcmp(text.ptr + at, wanted, size) == 0;
}

/* Where the count at the end of a line of folded stacks begins, behind a blank: 12, 12.5 as some tools write it, and -12 of
 * differences. 0: there is none. */
static inline size_t folded_count_at(struct csn_str line) {
    size_t at = line.len;
    while (at && line.ptr[at - 1] >= '0' && line.ptr[at - 1] <= '9') at--;
    if (at && line.ptr[at - 1] == '.') {
        const size_t point = --at;
        while (at && line.ptr[at - 1] >= '0' && line.ptr[at - 1] <= '9') at--;
        if (at == point) return 0;
    }
    if (at > 1 && at < line.len && line.ptr[at - 1] == '-' && line.ptr[at - 2] == ' ') at--;
    return at && at < line.len && line.ptr[at - 1] == ' ' ? at : 0;
}

/* Past the bracket that closes the one at `at`; the end, if there is none. The second byte of "->" closes nothing. */
static inline size_t brackets_end(struct csn_str text, size_t at, char open, char close) {
    size_t depth = 0;
    for (; at < text.len; at++) {
        const bool is_arrow = at && text.ptr[at - 1] == '-' && text.ptr[at] == '>';
        if (text.ptr[at] == open) depth++;
        else if (text.ptr[at] == close && !is_arrow && --depth == 0) return at + 1;
    }
    return at;
}

enum { TEXT_BLOCK = 16 };

#if TEXT_BLOCKS
static inline __m128i bytes_at(const char *p) { return _mm_loadu_si128((const __m128i *)(const void *)p); }
static inline __m128i equal_to(__m128i bytes, char c) { return _mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)); }
static inline __m128i either(__m128i a, __m128i b) { return _mm_or_si128(a, b); }
static inline __m128i both(__m128i a, __m128i b) { return _mm_and_si128(a, b); }
#endif

#endif
