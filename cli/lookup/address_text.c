/* Addresses and what stands for them. */
#include "lookup/address_text.h"

enum { MOST_DIGITS = 16 };

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* Of hexadecimal digits, plus 1. */
static const uint8_t digit_values[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
    ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

bool address_parse(struct csn_str text, uint64_t *out) {
    if (!text.len) return false;
    const char *at = text.ptr, *end = text.ptr + text.len;
    while (at < end && is_blank(*at)) at++;
    while (end > at && is_blank(end[-1])) end--;
    if (end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X')) at += 2;
    if (at == end) return false;
    while (end - at > MOST_DIGITS && *at == '0') at++;
    if (end - at > MOST_DIGITS) return false;
    uint64_t value = 0;
    for (; at < end; at++) {
        unsigned digit = digit_values[(unsigned char)*at];
        if (!digit) return false;
        value = value << 4 | (digit - 1);
    }
    *out = value;
    return true;
}

bool named_address_parse(struct csn_str text, struct csn_str *out_name, uint64_t *out_offset) {
    while (text.len && is_blank(text.ptr[0])) text = (struct csn_str){ text.ptr + 1, text.len - 1 };
    for (size_t i = text.len; i > 1; i--) {
        if (text.ptr[i - 1] != '+') continue;
        size_t len = i - 1;
        while (len && is_blank(text.ptr[len - 1])) len--;
        *out_name = (struct csn_str){ text.ptr, len };
        return len && address_parse((struct csn_str){ text.ptr + i, text.len - i }, out_offset);
    }
    return false;
}

bool address_looks_loaded(uint64_t addr) {
    uint64_t top = addr >> 40;
    return top == 0x55 || top == 0x56 || top == 0x7e || top == 0x7f || addr >> 32 == 0xaaaa || addr >> 32 == 0xffff;
}
