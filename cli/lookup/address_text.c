/* Addresses and what stands for them. */
#include "lookup/address_text.h"

#include <string.h>

enum { MOST_DIGITS = 16 };

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }

/* Of hexadecimal digits, plus 1. */
static const uint8_t digit_values[256] = {
    ['0'] = 1,  ['1'] = 2,  ['2'] = 3,  ['3'] = 4,  ['4'] = 5,  ['5'] = 6,  ['6'] = 7,  ['7'] = 8,
    ['8'] = 9,  ['9'] = 10, ['a'] = 11, ['b'] = 12, ['c'] = 13, ['d'] = 14, ['e'] = 15, ['f'] = 16,
    ['A'] = 11, ['B'] = 12, ['C'] = 13, ['D'] = 14, ['E'] = 15, ['F'] = 16,
};

static struct csn_str digits_of(struct csn_str text) {
    const char *at = text.ptr, *end = text.ptr + text.len;
    while (at < end && is_blank(*at)) at++;
    while (end > at && is_blank(end[-1])) end--;
    if (end - at > 2 && at[0] == '0' && (at[1] == 'x' || at[1] == 'X')) at += 2;
    while (end - at > MOST_DIGITS && *at == '0') at++;
    return (struct csn_str){ at, (size_t)(end - at) };
}

bool address_parse(struct csn_str text, uint64_t *out) {
    if (!text.len) return false;
    const struct csn_str digits = digits_of(text);
    if (!digits.len || digits.len > MOST_DIGITS) return false;
    const char *at = digits.ptr, *end = at + digits.len;
    uint64_t value = 0;
    for (; at < end; at++) {
        unsigned digit = digit_values[(unsigned char)*at];
        if (!digit) return false;
        value = value << 4 | (digit - 1);
    }
    *out = value;
    return true;
}

/* Two addresses around a dash. */
static bool ends_parse(struct csn_str text, uint64_t *start, uint64_t *end) {
    for (size_t i = 1; i + 1 < text.len; i++)
        if (text.ptr[i] == '-')
            return address_parse((struct csn_str){ text.ptr, i }, start)
                   && address_parse((struct csn_str){ text.ptr + i + 1, text.len - i - 1 }, end);
    return false;
}

bool address_range_parse(struct csn_str text, uint64_t *start, uint64_t *end) {
    return ends_parse(text, start, end) && *start < *end;
}

static const char file_prefix[] = "file:";
enum { PREFIX_SIZE = sizeof(file_prefix) - 1 };

bool file_offset_parse(struct csn_str text, uint64_t *out) {
    return text.len > PREFIX_SIZE && memcmp(text.ptr, file_prefix, PREFIX_SIZE) == 0
           && address_parse((struct csn_str){ text.ptr + PREFIX_SIZE, text.len - PREFIX_SIZE }, out);
}

static bool is_too_large(struct csn_str text) {
    if (!text.len) return false;
    const struct csn_str digits = digits_of(text);
    for (size_t i = 0; i < digits.len; i++)
        if (!digit_values[(unsigned char)digits.ptr[i]]) return false;
    return digits.len > MOST_DIGITS;
}

/* The part behind the last `mark`. */
static struct csn_str behind(struct csn_str text, char mark) {
    size_t at = text.len;
    while (at && text.ptr[at - 1] != mark) at--;
    return (struct csn_str){ text.ptr + at, at ? text.len - at : 0 };
}

const char *address_fault(struct csn_str text) {
    uint64_t start, end;
    if (ends_parse(text, &start, &end)) return "a range whose end is not behind its begin";
    struct csn_str last = behind(text, '-');
    size_t first = last.len ? text.len - last.len - 1 : 0;
    bool is_range = first && (address_parse(last, &end) || is_too_large(last));
    if (is_too_large(text) || (is_range && (is_too_large(last) || is_too_large((struct csn_str){ text.ptr, first }))))
        return "an address of more than 64 bits";
    if (is_too_large(behind(text, '+')) || (text.len > PREFIX_SIZE && memcmp(text.ptr, file_prefix, PREFIX_SIZE) == 0
                                            && is_too_large(behind(text, ':'))))
        return "an offset of more than 64 bits";
    return "not a hexadecimal address";
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
