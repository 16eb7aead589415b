/* Hexadecimal digits. */
#include "base/hex.h"

bool csni_hex_value(struct csn_str digits, uint64_t *out) {
    uint64_t value = 0;
    if (!digits.len || digits.len > 16) return false;
    for (size_t i = 0; i < digits.len; i++) {
        unsigned digit = csni_hex_digit(digits.ptr[i]);
        if (digit > 15) return false;
        value = value << 4 | digit;
    }
    *out = value;
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
