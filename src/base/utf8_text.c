/* Strings that are UTF-8, and what becomes of others. */
#include "base/utf8_text.h"

#include <string.h>

#include "base/utf8.h"

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

bool csni_is_utf8(struct csn_str text) {
    const unsigned char *bytes = (const unsigned char *)text.ptr;
    if (is_ascii(text)) return true;
    for (size_t i = 0, size; i < text.len; i += size) {
        size = csni_utf8_size(bytes + i, text.len - i);
        if (!size) return false;
    }
    return true;
}

size_t csni_to_utf8(struct csn_str text, char *out) {
    static const char replacement[] = "\xef\xbf\xbd";
    const unsigned char *bytes = (const unsigned char *)text.ptr;
    size_t used = 0;
    for (size_t i = 0; i < text.len;) {
        size_t size = csni_utf8_size(bytes + i, text.len - i);
        memcpy(out + used, size ? text.ptr + i : replacement, size ? size : sizeof replacement - 1);
        used += size ? size : sizeof replacement - 1;
        i += size ? size : 1;
    }
    return used;
}
