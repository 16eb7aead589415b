/* Lines of a text, without a copy. */
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
