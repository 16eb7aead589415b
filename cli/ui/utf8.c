#include "ui/utf8.h"

#include <string.h>

static const char hex_digits[] = "0123456789abcdef";

/* Unicode, table 3-7. */
size_t utf8_size(const char *text, size_t left) {
    const unsigned char *at = (const unsigned char *)text;
    unsigned char first = at[0];
    if (first < 0x80) return 1;
    size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
    if (first < 0xc2 || first > 0xf4 || left < size) return 0;
    unsigned char low = first == 0xe0 ? 0xa0 : first == 0xf0 ? 0x90 : 0x80;
    unsigned char high = first == 0xed ? 0x9f : first == 0xf4 ? 0x8f : 0xbf;
    if (at[1] < low || at[1] > high) return 0;
    for (size_t i = 2; i < size; i++)
        if ((at[i] & 0xc0) != 0x80) return 0;
    return size;
}

bool utf8_is_control(const char *text, size_t size) {
    const unsigned char *at = (const unsigned char *)text;
    if (size <= 1) return at[0] < 0x20 || (at[0] >= 0x7f && at[0] < 0xa0);
    return size == 2 && at[0] == 0xc2 && at[1] < 0xa0;
}

size_t safe_char(char *at, const char **from, const char *end) {
    const size_t size = utf8_size(*from, (size_t)(end - *from)), bytes = size ? size : 1;
    const char *text = *from;
    *from += bytes;
    if (!utf8_is_control(text, size)) {
        memcpy(at, text, bytes);
        return bytes;
    }
    for (size_t i = 0; i < bytes; i++) {
        const unsigned char byte = (unsigned char)text[i];
        memcpy(at + 4 * i, (const char[]){ '\\', 'x', hex_digits[byte >> 4], hex_digits[byte & 15] }, 4);
    }
    return 4 * bytes;
}

size_t safe_text(char *at, struct csn_str text) {
    const char *from = text.ptr, *end = text.ptr + text.len;
    size_t used = 0;
    while (from < end) used += safe_char(at + used, &from, end);
    return used;
}
