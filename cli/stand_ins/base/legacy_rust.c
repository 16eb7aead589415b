/* Nested names without parameters. */
#include "stand_ins/base/legacy_rust.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "stand_ins/base/growth.h"

bool is_legacy_rust(const char *name, size_t size) {
    enum { HASH_DIGITS = 16, HASH_SIZE = 20 }; /* "17h" before it, 'E' after it */
    if (size < 3 || memcmp(name, "_ZN", 3) != 0) return false;
    for (size_t i = 0; i + HASH_SIZE <= size; i++)
        if (memcmp(name + i, "17h", 3) == 0 && strspn(name + i + 3, "0123456789abcdef") >= HASH_DIGITS &&
            name[i + HASH_SIZE - 1] == 'E')
            return true;
    return false;
}

char *legacy_rust_as_cxx(const char *name, size_t size, const char **suffix) {
    struct grown_text out = { 0 };
    const char *p = name + 3, *end = name + size;
    while (p < end && isdigit((unsigned char)*p)) {
        size_t length = 0;
        while (p < end && isdigit((unsigned char)*p) && length < size) length = length * 10 + (size_t)(*p++ - '0');
        if (!length || length > (size_t)(end - p)) break;
        grow_text(&out, "::", out.count ? 2 : 0);
        grow_text(&out, p, length);
        p += length;
    }
    if (p == end || *p != 'E' || (p + 1 < end && !suffix)) {
        free(out.items);
        return NULL;
    }
    if (suffix) *suffix = p + 1;
    GROW_PUSH(&out, 0);
    return out.items;
}
