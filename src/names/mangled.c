/* Parts of mangled names (Itanium C++ ABI). */
#include "names/mangled.h"

#include <string.h>

#include "base/hash.h"


static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* A number and as many bytes: <source-name>. False: there is none. */
static bool read_part(struct csn_str name, size_t *at, struct csn_str *out) {
    size_t len = 0;
    if (*at >= name.len || !is_digit(name.ptr[*at])) return false;
    for (; *at < name.len && is_digit(name.ptr[*at]); (*at)++) {
        len = 10 * len + (size_t)(name.ptr[*at] - '0');
        if (len > name.len) return false;
    }
    if (!len || len > name.len - *at) return false;
    *out = (struct csn_str){ name.ptr + *at, len };
    *at += len;
    return true;
}

static bool put(char *out, size_t capacity, size_t *len, const char *text, size_t size) {
    if (size > capacity - *len) return false;
    memcpy(out + *len, text, size);
    *len += size;
    return true;
}

size_t csni_mangled_internal_name(struct csn_str mangled, char *out, size_t capacity) {
    static const char unnamed[] = "_GLOBAL__N_1";
    if (mangled.len < 5 || !csni_is_mangled(mangled)) return 0;
    bool nested = mangled.ptr[2] == 'N', internal = false;
    size_t at = nested ? 3 : 2, len = 0;
    while (nested && at < mangled.len && (mangled.ptr[at] == 'K' || mangled.ptr[at] == 'V')) at++;
    for (;;) {
        struct csn_str part;
        if (at < mangled.len && mangled.ptr[at] == 'L') {
            internal = true;
            at++;
        }
        if (!read_part(mangled, &at, &part)) return 0;
        if (csni_str_is(part, unnamed)) {
            internal = true;
            continue;
        }
        if (len && !put(out, capacity, &len, "::", 2)) return 0;
        if (!put(out, capacity, &len, part.ptr, part.len)) return 0;
        if (!nested) break;
        if (at < mangled.len && mangled.ptr[at] == 'E') {
            at++;
            break;
        }
    }
    bool is_template = at < mangled.len && mangled.ptr[at] == 'I';
    return internal && !is_template ? len : 0;
}

bool csni_mangled_has_part(struct csn_str mangled, struct csn_str plain) {
    size_t begin = plain.len;
    while (begin && plain.ptr[begin - 1] != ':') begin--;
    size_t len = plain.len - begin;
    if (!len || !csni_is_mangled(mangled)) return false;
    for (size_t i = 2; i + len <= mangled.len; i++) {
        if (mangled.ptr[i] != plain.ptr[begin] || memcmp(mangled.ptr + i, plain.ptr + begin, len) != 0) continue;
        size_t digit = i, number = 0, unit = 1;
        while (digit > 2 && is_digit(mangled.ptr[digit - 1]) && unit <= 100000) {
            number += unit * (size_t)(mangled.ptr[--digit] - '0');
            unit *= 10;
            if (number == len) return true;
        }
    }
    return false;
}

struct csn_str csni_clone_base(struct csn_str name) {
    static const char *const kinds[] = { ".isra.", ".constprop.", ".part.", ".lto_priv.", ".llvm.", ".localalias",
                                        ".cold" };
    for (size_t i = 1; i + 5 <= name.len; i++) {
        if (name.ptr[i] != '.') continue;
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
            size_t len = strlen(kinds[k]);
            if (len <= name.len - i && memcmp(name.ptr + i, kinds[k], len) == 0) return (struct csn_str){ name.ptr, i };
        }
    }
    return name;
}

uint64_t csni_mangled_hash(struct csn_str name) {
    uint64_t hash = 0;
    size_t begin = 0, i = 2;
    name = csni_clone_base(name);
    if (name.len < 6 || memcmp(name.ptr, "_ZN", 3) != 0) return csni_hash_bytes(name.ptr, name.len);
    while (i + 2 < name.len) {
        char c = name.ptr[i];
        if (c >= '0' && c <= '9') {
            size_t len = 0;
            for (; i < name.len && name.ptr[i] >= '0' && name.ptr[i] <= '9' && len < name.len; i++)
                len = 10 * len + (size_t)(name.ptr[i] - '0');
            i += len;
        } else if (c == 'S' || c == 'T' || c == 'A') { /* "A10_": an array */
            for (i++; i < name.len && ((name.ptr[i] >= '0' && name.ptr[i] <= '9') || name.ptr[i] == '_'); i++)
                if (name.ptr[i] == '_') { i++; break; }
        } else if (c == 'L') {
            for (i += 2; i < name.len && name.ptr[i] >= '0' && name.ptr[i] <= '9';) i++;
        } else if ((c == 'C' || c == 'D') && name.ptr[i + 1] >= '0' && name.ptr[i + 1] <= '5' &&
                   (name.ptr[i + 2] == 'E' || name.ptr[i + 2] == 'I')) {
            hash = csni_hash_u64(hash ^ csni_hash_bytes(name.ptr + begin, i + 1 - begin));
            begin = i += 2;
        } else {
            i++;
        }
    }
    return begin ? csni_hash_u64(hash ^ csni_hash_bytes(name.ptr + begin, name.len - begin))
                 : csni_hash_bytes(name.ptr, name.len);
}
