/* Lines and fields. */
#include "symbian/symbian_gather.h"

bool csni_symbian_next_line(struct csni_symbian_lines *lines, struct csn_str *out) {
    if (!lines->rest.size) return false;
    const uint8_t *begin = lines->rest.ptr, *end = memchr(begin, '\n', lines->rest.size);
    size_t len = end ? (size_t)(end - begin) : lines->rest.size;
    lines->rest = csni_span_from(lines->rest, end ? len + 1 : len);
    lines->number++;
    if (len && begin[len - 1] == '\r') len--;
    *out = (struct csn_str){ (const char *)begin, len };
    return true;
}

struct csn_str csni_text_trim(struct csn_str text) {
    while (text.len && csni_text_is_blank(text.ptr[text.len - 1])) text.len--;
    while (text.len && csni_text_is_blank(text.ptr[0])) text = (struct csn_str){ text.ptr + 1, text.len - 1 };
    return text;
}

bool csni_text_starts(struct csn_str text, const char *with) {
    size_t len = strlen(with);
    return text.len >= len && memcmp(text.ptr, with, len) == 0;
}

static unsigned digit_of(char c) {
    if (c >= '0' && c <= '9') return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f') return (unsigned)(c - 'a') + 10;
    if (c >= 'A' && c <= 'F') return (unsigned)(c - 'A') + 10;
    return 16;
}

bool csni_text_take_hex(struct csn_str *text, unsigned min, unsigned max, uint64_t *out) {
    uint64_t value = 0;
    unsigned count = 0;
    for (; count < max && count < text->len && digit_of(text->ptr[count]) < 16; count++)
        value = value << 4 | digit_of(text->ptr[count]);
    if (count < min) return false;
    *text = (struct csn_str){ text->ptr + count, text->len - count };
    *out = value;
    return true;
}

bool csni_text_take_blanks(struct csn_str *text) {
    size_t count = 0;
    while (count < text->len && csni_text_is_blank(text->ptr[count])) count++;
    *text = (struct csn_str){ text->ptr + count, text->len - count };
    return count > 0;
}

struct csn_str csni_text_base_name(struct csn_str path) {
    for (size_t i = path.len; i; i--)
        if (path.ptr[i - 1] == '\\' || path.ptr[i - 1] == '/') return (struct csn_str){ path.ptr + i, path.len - i };
    return path;
}
