/* RFC 3629: no surrogates, no overlong forms, nothing above U+10FFFF. */
#include "arrow/arrow_utf8.h"

#include <string.h>

/* Bytes of the code point at `at`; 0: there is none. */
static size_t code_point_size(const unsigned char *at, size_t left) {
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

static bool is_ascii(struct csn_str text) {
    const uint64_t highs = 0x8080808080808080;
    size_t i = 0;
    for (uint64_t eight; i + sizeof eight <= text.len; i += sizeof eight) {
        memcpy(&eight, text.ptr + i, sizeof eight);
        if (eight & highs) return false;
    }
    for (; i < text.len; i++)
        if ((unsigned char)text.ptr[i] >= 0x80) return false;
    return true;
}

bool csni_arrow_is_utf8(struct csn_str text) {
    const unsigned char *bytes = (const unsigned char *)text.ptr;
    if (is_ascii(text)) return true;
    for (size_t i = 0, size; i < text.len; i += size) {
        size = code_point_size(bytes + i, text.len - i);
        if (!size) return false;
    }
    return true;
}

size_t csni_arrow_to_utf8(struct csn_str text, char *out) {
    static const char replacement[] = "\xef\xbf\xbd";
    const unsigned char *bytes = (const unsigned char *)text.ptr;
    size_t used = 0;
    for (size_t i = 0; i < text.len;) {
        size_t size = code_point_size(bytes + i, text.len - i);
        memcpy(out + used, size ? text.ptr + i : replacement, size ? size : sizeof replacement - 1);
        used += size ? size : sizeof replacement - 1;
        i += size ? size : 1;
    }
    return used;
}
