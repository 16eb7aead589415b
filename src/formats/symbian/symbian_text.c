/* Fields of a line. */
#include "formats/symbian/symbian_gather.h"

struct csn_str csni_text_trim(struct csn_str text) {
    while (text.len && csni_is_blank(text.ptr[text.len - 1])) text.len--;
    while (text.len && csni_is_blank(text.ptr[0])) text = (struct csn_str){ text.ptr + 1, text.len - 1 };
    return text;
}

bool csni_text_take_hex(struct csn_str *text, unsigned min, unsigned max, uint64_t *out) {
    uint64_t value = 0;
    unsigned count = 0;
    for (; count < max && count < text->len && csni_hex_digit(text->ptr[count]) < 16; count++)
        value = value << 4 | csni_hex_digit(text->ptr[count]);
    if (count < min) return false;
    *text = (struct csn_str){ text->ptr + count, text->len - count };
    *out = value;
    return true;
}

bool csni_text_take_blanks(struct csn_str *text) {
    size_t count = 0;
    while (count < text->len && csni_is_blank(text->ptr[count])) count++;
    *text = (struct csn_str){ text->ptr + count, text->len - count };
    return count > 0;
}

struct csn_str csni_text_base_name(struct csn_str path) {
    for (size_t i = path.len; i; i--)
        if (path.ptr[i - 1] == '\\' || path.ptr[i - 1] == '/') return (struct csn_str){ path.ptr + i, path.len - i };
    return path;
}
