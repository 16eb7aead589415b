/* Lines of a text, without a copy, and bytes as text. */
#include "base/text.h"

bool csni_lines_next(struct csni_lines *lines, struct csn_str *out) {
    if (!lines->rest.size) return false;
    const uint8_t *begin = lines->rest.ptr, *end = memchr(begin, '\n', lines->rest.size);
    size_t len = end ? (size_t)(end - begin) : lines->rest.size;
    lines->rest = csni_span_from(lines->rest, end ? len + 1 : len);
    lines->number++;
    if (len && begin[len - 1] == '\r') len--;
    *out = (struct csn_str){ (const char *)begin, len };
    return true;
}

void csni_hex_text(const uint8_t *bytes, size_t size, char *out) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < size; i++) {
        out[2 * i] = digits[bytes[i] >> 4];
        out[2 * i + 1] = digits[bytes[i] & 15];
    }
    out[2 * size] = 0;
}

struct csni_id_shown csni_id_show(const uint8_t *id, size_t size) {
    struct csni_id_shown shown;
    csni_hex_text(id, size < CSNI_ID_SHOWN ? size : CSNI_ID_SHOWN, shown.text);
    return shown;
}
