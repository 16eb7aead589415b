/* GUIDs as text. */
#include "base/guid.h"

void csni_guid_text(const uint8_t *id, size_t size, char out[CSNI_GUID_DIGITS + 1]) {
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < CSNI_GUID_SIZE; i++) {
        const size_t from = csni_guid_place(i);
        const uint8_t byte = from < size ? id[from] : 0;
        out[2 * i] = digits[byte >> 4];
        out[2 * i + 1] = digits[byte & 15];
    }
    out[CSNI_GUID_DIGITS] = 0;
}
