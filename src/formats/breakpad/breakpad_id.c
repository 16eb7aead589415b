/* Breakpad's debug ids: a GUID as Windows prints it and an age, in place of a build id. */
#include <stdio.h>

#include "base/hex.h"
#include "formats/breakpad/breakpad.h"

enum { GUID_SIZE = 16, GUID_DIGITS = 32 };

static bool is_mac(struct csn_str os) { return csni_str_is(os, "mac") || csni_str_is(os, "iOS"); }
static bool is_windows(struct csn_str os) { return csni_str_is(os, "windows"); }

static void swap_bytes(uint8_t *a, uint8_t *b) {
    uint8_t t = *a;
    *a = *b;
    *b = t;
}

/* A GUID's first three fields are numbers in the machine's byte order, printed most significant digit first. What is no GUID
 * but for Breakpad is treated as one; Mach-O's UUIDs are left alone. */
static void swap_fields(struct csn_str os, uint8_t guid[GUID_SIZE]) {
    if (is_mac(os)) return;
    swap_bytes(&guid[0], &guid[3]);
    swap_bytes(&guid[1], &guid[2]);
    swap_bytes(&guid[4], &guid[5]);
    swap_bytes(&guid[6], &guid[7]);
}

static bool read_breakpad_bytes(const char *digits, size_t count, uint8_t *out) {
    for (size_t i = 0; i < count; i++) {
        unsigned high = csni_hex_digit(digits[2 * i]), low = csni_hex_digit(digits[2 * i + 1]);
        if (high > 15 || low > 15) return false;
        out[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

size_t csni_breakpad_uuid(struct csn_str os, struct csn_str id, struct csn_str code_id, uint8_t out[CSNI_BREAKPAD_UUID_MAX]) {
    uint8_t bytes[CSNI_BREAKPAD_UUID_MAX];
    size_t size = code_id.len / 2;
    bool is_whole = code_id.len && code_id.len % 2 == 0 && size <= sizeof bytes && !is_windows(os);
    if (!is_whole || !read_breakpad_bytes(code_id.ptr, size, bytes)) {
        size = GUID_SIZE;
        if (id.len <= GUID_DIGITS || !read_breakpad_bytes(id.ptr, size, bytes)) return 0;
        swap_fields(os, bytes);
        /* All zeros: the producer knew none. */
        static const uint8_t none[GUID_SIZE];
        if (memcmp(bytes, none, size) == 0) return 0;
    }
    memcpy(out, bytes, size);
    return size;
}

void csni_breakpad_id(struct csn_str os, struct csni_span uuid, uint32_t age, char out[CSNI_BREAKPAD_ID_MAX + 1]) {
    uint8_t guid[GUID_SIZE] = { 0 };
    if (uuid.size) memcpy(guid, uuid.ptr, uuid.size < GUID_SIZE ? uuid.size : GUID_SIZE);
    swap_fields(os, guid);
    for (size_t i = 0; i < GUID_SIZE; i++) snprintf(out + 2 * i, 3, "%02X", guid[i]);
    snprintf(out + GUID_DIGITS, CSNI_BREAKPAD_ID_MAX + 1 - GUID_DIGITS, "%x", age);
}

void csni_breakpad_fold_code(struct csni_span code, uint8_t out[CSNI_BREAKPAD_FOLD_SIZE]) {
    enum { PAGE = 4096 };
    memset(out, 0, CSNI_BREAKPAD_FOLD_SIZE);
    for (size_t i = 0; i < code.size && i < PAGE; i++) out[i % CSNI_BREAKPAD_FOLD_SIZE] ^= code.ptr[i];
}
