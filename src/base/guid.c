/* GUIDs as text. */
#include "base/guid.h"

static void put_digits(const uint8_t *id, size_t size, bool is_guid, char out[CSNI_GUID_DIGITS + 1]) {
    static const char digits[] = "0123456789ABCDEF";
    for (size_t i = 0; i < CSNI_GUID_SIZE; i++) {
        const size_t from = is_guid ? csni_guid_place(i) : i;
        const uint8_t byte = from < size ? id[from] : 0;
        out[2 * i] = digits[byte >> 4];
        out[2 * i + 1] = digits[byte & 15];
    }
    out[CSNI_GUID_DIGITS] = 0;
}

void csni_guid_text(const uint8_t *id, size_t size, char out[CSNI_GUID_DIGITS + 1]) { put_digits(id, size, true, out); }

void csni_uuid_text(const uint8_t *id, size_t size, char out[CSNI_GUID_DIGITS + 1]) { put_digits(id, size, false, out); }
