/* Breakpad's debug ids: a GUID as Windows prints it and an age, in place of a build id. */
#include <stdio.h>

#include "base/guid.h"
#include "base/hex.h"
#include "formats/breakpad/breakpad.h"

static bool is_mac(struct csn_str os) { return csni_str_is(os, "mac") || csni_str_is(os, "iOS"); }
static bool is_windows(struct csn_str os) { return csni_str_is(os, "windows"); }

/* What is no GUID but for Breakpad is treated as one; Mach-O's UUIDs are left alone. */
static size_t place_of(struct csn_str os, size_t i) { return is_mac(os) ? i : csni_guid_place(i); }

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
        /* All zeros: the producer knew none. */
        static const uint8_t none[CSNI_GUID_SIZE];
        uint8_t written[CSNI_GUID_SIZE];
        size = sizeof written;
        if (id.len <= CSNI_GUID_DIGITS || !read_breakpad_bytes(id.ptr, size, written) || memcmp(written, none, size) == 0) return 0;
        for (size_t i = 0; i < size; i++) bytes[place_of(os, i)] = written[i];
    }
    memcpy(out, bytes, size);
    return size;
}

void csni_breakpad_id(struct csn_str os, struct csni_span uuid, uint32_t age, char out[CSNI_BREAKPAD_ID_MAX + 1]) {
    for (size_t i = 0; i < CSNI_GUID_SIZE; i++) {
        const size_t from = place_of(os, i);
        snprintf(out + 2 * i, 3, "%02X", from < uuid.size ? uuid.ptr[from] : 0);
    }
    snprintf(out + CSNI_GUID_DIGITS, CSNI_BREAKPAD_ID_MAX + 1 - CSNI_GUID_DIGITS, "%x", age);
}

void csni_breakpad_fold_code(struct csni_span code, uint8_t out[CSNI_BREAKPAD_FOLD_SIZE]) {
    enum { PAGE = 4096 };
    memset(out, 0, CSNI_BREAKPAD_FOLD_SIZE);
    for (size_t i = 0; i < code.size && i < PAGE; i++) out[i % CSNI_BREAKPAD_FOLD_SIZE] ^= code.ptr[i];
}
