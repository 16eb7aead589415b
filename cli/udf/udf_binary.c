/* RowBinary: a String is its length as LEB128 and its bytes, a UInt64 eight bytes, the lowest first. */
#include "udf/udf_format.h"

enum { ADDRESS_SIZE = 8, LENGTH_SIZE_MAX = 10 };

/* Bytes that the number takes. 0: the bytes end before it does. A number above 2^64 reads as 2^64 - 1. */
static size_t read_length(struct csn_str bytes, uint64_t *out) {
    uint64_t value = 0;
    for (size_t i = 0; i < bytes.len && i < LENGTH_SIZE_MAX; i++) {
        uint64_t part = (uint8_t)bytes.ptr[i] & 0x7f;
        if (i == LENGTH_SIZE_MAX - 1 && part > 1) break;
        value |= part << 7 * i;
        if ((uint8_t)bytes.ptr[i] & 0x80) continue;
        *out = value;
        return i + 1;
    }
    *out = UINT64_MAX;
    return bytes.len < LENGTH_SIZE_MAX ? 0 : LENGTH_SIZE_MAX;
}

static void read_row_binary(struct csn_str bytes, char *scratch, struct udf_row *out) {
    uint64_t length;
    size_t at = read_length(bytes, &length);
    (void)scratch;
    *out = (struct udf_row){ .size = 0 };
    if (!at) return;
    if (length > UDF_MODULE_MAX) {
        *out = (struct udf_row){ .size = at, .fault = "the module's name is longer than 65536 bytes" };
        out->skip = length > UINT64_MAX - ADDRESS_SIZE ? UINT64_MAX : length + ADDRESS_SIZE;
        return;
    }
    if (bytes.len - at < length + ADDRESS_SIZE) return;
    out->module = (struct csn_str){ bytes.ptr + at, (size_t)length };
    out->has_module = out->has_address = true;
    out->size = at + (size_t)length + ADDRESS_SIZE;
    for (size_t i = 0; i < ADDRESS_SIZE; i++)
        out->address |= (uint64_t)(uint8_t)bytes.ptr[out->size - ADDRESS_SIZE + i] << 8 * i;
}

static void put_row_binary(struct out_buffer *out, struct csn_str answer) {
    uint64_t length = answer.len;
    for (; length > 0x7f; length >>= 7) out_char(out, (char)(length | 0x80));
    out_char(out, (char)length);
    out_bytes(out, answer.ptr, answer.len);
}

const struct udf_format udf_row_binary = { .name = "RowBinary", .read = read_row_binary, .put = put_row_binary };
