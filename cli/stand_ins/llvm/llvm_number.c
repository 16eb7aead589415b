/* Digits with the prefixes of StringRef::getAsInteger(). */
#include "stand_ins/llvm/llvm_number.h"

static int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'z') return c - 'a' + 10;
    if (c >= 'A' && c <= 'Z') return c - 'A' + 10;
    return 99;
}

bool llvm_read_number(const char *text, size_t size, bool is_hex, uint64_t *out) {
    int base = is_hex ? 16 : 10;
    if (!is_hex && size > 1 && text[0] == '0') {
        char second = text[1];
        base = second == 'x' || second == 'X' ? 16 : second == 'b' || second == 'B' ? 2 : 8;
        size_t skip = second == 'x' || second == 'X' || second == 'b' || second == 'B' || second == 'o' ? 2
                      : digit_of(second) < 10                                                           ? 1
                                                                                                        : 0;
        if (!skip) base = 10;
        text += skip;
        size -= skip;
    }
    uint64_t value = 0;
    if (!size) return false;
    for (size_t i = 0; i < size; i++) {
        int digit = digit_of(text[i]);
        if (digit >= base) return false;
        if (__builtin_mul_overflow(value, (uint64_t)base, &value) ||
            __builtin_add_overflow(value, (uint64_t)digit, &value))
            return false;
    }
    *out = value;
    return true;
}
