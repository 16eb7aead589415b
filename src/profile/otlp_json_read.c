/* OTLP as JSON: becomes the protobuf message that it is a mapping of. Members that the schema does not have are skipped, as OTLP's
 * specification demands. */
#include <math.h>
#include <string.h>

#include "base/hex.h"
#include "profile/json_scan.h"
#include "profile/otlp_schema.h"
#include "profile/profile_read.h"
#include "profile/proto_wire.h"

struct otlp_json_reader {
    struct json_scan scan;
    struct csni_buffer out, text; /* text: a string without its escapes */
};

static csn_status put_json_message(struct otlp_json_reader *r, struct csni_span object, const struct otlp_message_type *type,
                                   unsigned depth);

static csn_status fail_kind(struct otlp_json_reader *r, struct csni_span value, const char *text) {
    return csni_json_fail(&r->scan, value.ptr, text);
}

static void put_tag(struct otlp_json_reader *r, uint32_t number, uint32_t wire) {
    csni_proto_put_varint(&r->out, (uint64_t)number << 3 | wire);
}

/* The bytes that were appended since `start` become a field of the message: its size has to stand before them. */
static csn_status close_field(struct otlp_json_reader *r, size_t start) {
    uint8_t head[PROTO_VARINT_MAX];
    const size_t size = r->out.size - start, head_size = (size_t)(csni_proto_varint_at(head, size) - head);
    csni_buffer_put(&r->out, head, head_size);
    if (r->out.failed) return csni_fail_memory(r->scan.err, size);
    memmove(r->out.bytes + start + head_size, r->out.bytes + start, size);
    memcpy(r->out.bytes + start, head, head_size);
    return CSN_OK;
}

/* ---- numbers ---- */

/* The whole numbers that a field may have. */
struct whole_range {
    int64_t least;
    uint64_t most;
};
static const struct whole_range whole_ranges[] = {
    [OTLP_NUMBER] = { INT32_MIN, UINT32_MAX }, [OTLP_LONG] = { INT64_MIN, INT64_MAX },
    [OTLP_UNSIGNED] = { 0, UINT64_MAX },       [OTLP_FIXED64] = { 0, UINT64_MAX },
};

/* As a number or in quotes; it may have a fraction of zeros or an exponent. */
static bool parse_whole(struct csni_span value, const struct whole_range *range, uint64_t *out) {
    struct json_decimal number;
    uint64_t size;
    bool is_whole;
    if (value.size >= 2 && value.ptr[0] == '"') value = (struct csni_span){ value.ptr + 1, value.size - 2 };
    if (!csni_json_decimal(value, &number) || !csni_json_decimal_size(&number, 0, &size, &is_whole) || !is_whole) return false;
    if (size > (number.negative ? 0 - (uint64_t)range->least : range->most)) return false;
    *out = number.negative ? 0 - size : size;
    return true;
}

static csn_status fail_whole(struct otlp_json_reader *r, struct csni_span value, const struct whole_range *range) {
    enum { SHOWN = 40 };
    return csni_fail(r->scan.err, CSN_E_FORMAT, "JSON", (uint64_t)(value.ptr - r->scan.all.ptr),
                     "a value is %.*s, need a whole number from %lld to %llu", (int)(value.size < SHOWN ? value.size : SHOWN),
                     (const char *)value.ptr, (long long)range->least, (unsigned long long)range->most);
}

static bool parse_double(struct csni_span value, double *out) {
    static const struct {
        const char *name;
        double value;
    } others[] = { { "NaN", NAN }, { "Infinity", INFINITY }, { "-Infinity", -INFINITY } };
    if (value.size >= 2 && value.ptr[0] == '"') value = (struct csni_span){ value.ptr + 1, value.size - 2 };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        if (value.size != strlen(others[i].name) || memcmp(value.ptr, others[i].name, value.size) != 0) continue;
        *out = others[i].value;
        return true;
    }
    return csni_json_number(value, out);
}

/* The value as it stands in a packed list, or behind a tag. */
static csn_status put_json_number(struct otlp_json_reader *r, struct csni_span value, enum otlp_kind kind) {
    uint8_t bytes[8];
    uint64_t number = 0;
    double real;
    if (kind == OTLP_BOOL) {
        if (!(value.size == 4 && memcmp(value.ptr, "true", 4) == 0) && !(value.size == 5 && memcmp(value.ptr, "false", 5) == 0))
            return fail_kind(r, value, "a value is neither true nor false");
        number = value.size == 4;
    } else if (kind == OTLP_DOUBLE) {
        if (!parse_double(value, &real)) return fail_kind(r, value, "a value is no number");
        memcpy(&number, &real, sizeof number);
    } else if (!parse_whole(value, &whole_ranges[kind], &number)) {
        return fail_whole(r, value, &whole_ranges[kind]);
    }
    if (kind == OTLP_FIXED64 || kind == OTLP_DOUBLE) {
        csni_put64(bytes, number, false);
        csni_buffer_put(&r->out, bytes, sizeof bytes);
    } else {
        csni_proto_put_varint(&r->out, number);
    }
    return r->out.failed ? csni_fail_memory(r->scan.err, r->out.size) : CSN_OK;
}

static csn_status put_json_numbers(struct otlp_json_reader *r, const struct otlp_field *field, struct csni_span array) {
    struct csni_span at = array, item;
    put_tag(r, field->number, PROTO_BYTES);
    const size_t start = r->out.size;
    while (csni_json_item(&at, &item)) CSNI_TRY(put_json_number(r, item, field->kind));
    return close_field(r, start);
}

/* ---- texts and bytes ---- */

static int base64_digit(uint8_t c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

/* Both alphabets, with padding or without. */
static bool put_base64(struct csni_buffer *out, const uint8_t *text, size_t size) {
    uint32_t bits = 0;
    unsigned count = 0;
    while (size && text[size - 1] == '=') size--;
    for (size_t i = 0; i < size; i++) {
        const int digit = base64_digit(text[i]);
        if (digit < 0) return false;
        bits = bits << 6 | (uint32_t)digit;
        count += 6;
        if (count < 8) continue;
        count -= 8;
        const uint8_t byte = (uint8_t)(bits >> count);
        csni_buffer_put(out, &byte, 1);
    }
    return count < 6;
}

static bool put_hex(struct csni_buffer *out, const uint8_t *text, size_t size) {
    for (size_t i = 0; i + 1 < size; i += 2) {
        const unsigned high = csni_hex_digit((char)text[i]), low = csni_hex_digit((char)text[i + 1]);
        const uint8_t byte = (uint8_t)(high << 4 | low);
        if (high >= 16 || low >= 16) return false;
        csni_buffer_put(out, &byte, 1);
    }
    return size % 2 == 0;
}

static csn_status put_json_text(struct otlp_json_reader *r, const struct otlp_field *field, struct csni_span value) {
    r->text.size = 0;
    csn_status status = csni_json_string(&r->scan, value, &r->text);
    if (status == CSN_NONE) return fail_kind(r, value, "a value is no string");
    CSNI_TRY(status);
    put_tag(r, field->number, PROTO_BYTES);
    const size_t start = r->out.size;
    if (field->kind == OTLP_TEXT) {
        if (r->text.size) csni_buffer_put(&r->out, r->text.bytes, r->text.size);
    } else if (!(field->kind == OTLP_HEX ? put_hex : put_base64)(&r->out, r->text.bytes, r->text.size)) {
        return fail_kind(r, value, field->kind == OTLP_HEX ? "an id is not hexadecimal" : "bytes are not base64");
    }
    return close_field(r, start);
}

/* ---- messages ---- */

static csn_status put_json_field(struct otlp_json_reader *r, const struct otlp_field *field, struct csni_span value,
                                 unsigned depth) {
    if (field->kind == OTLP_TEXT || field->kind == OTLP_BASE64 || field->kind == OTLP_HEX) return put_json_text(r, field, value);
    if (field->kind != OTLP_MESSAGE) {
        put_tag(r, field->number, field->kind == OTLP_FIXED64 || field->kind == OTLP_DOUBLE ? PROTO_FIXED64 : PROTO_VARINT);
        return put_json_number(r, value, field->kind);
    }
    if (value.ptr[0] != '{') return fail_kind(r, value, "a value is no object");
    if (depth == OTLP_DEPTH_MAX)
        return csni_fail(r->scan.err, CSN_E_LIMIT, "JSON", (uint64_t)(value.ptr - r->scan.all.ptr),
                         "messages within messages, more than %d deep", OTLP_DEPTH_MAX);
    put_tag(r, field->number, PROTO_BYTES);
    const size_t start = r->out.size;
    CSNI_TRY(put_json_message(r, value, field->message, depth + 1));
    return close_field(r, start);
}

static csn_status put_json_list(struct otlp_json_reader *r, const struct otlp_field *field, struct csni_span array,
                                unsigned depth) {
    struct csni_span at = array, item;
    CSNI_TRY(csni_json_array(&r->scan, array));
    if (field->kind <= OTLP_BOOL) return put_json_numbers(r, field, array);
    while (csni_json_item(&at, &item)) CSNI_TRY(put_json_field(r, field, item, depth));
    return CSN_OK;
}

static csn_status put_json_message(struct otlp_json_reader *r, struct csni_span object, const struct otlp_message_type *type,
                                   unsigned depth) {
    struct json_member members[OTLP_FIELDS_MAX];
    size_t count = 0;
    while (type->fields[count].name) {
        members[count].key = type->fields[count].name;
        count++;
    }
    csni_json_members(object, members, count);
    for (size_t i = 0; i < count; i++) {
        const struct otlp_field *field = &type->fields[i];
        if (!members[i].value.size) continue;
        CSNI_TRY(field->repeated ? put_json_list(r, field, members[i].value, depth)
                                 : put_json_field(r, field, members[i].value, depth));
    }
    return CSN_OK;
}

/* One object, or one a line, as collectors write files: each is a message of its own. */
csn_status csni_otlp_json_read(struct csn_profile *p, struct csni_span text, struct csn_error *err) {
    struct otlp_json_reader r = { .scan = { .all = text, .err = err, .alloc = p->alloc },
                                  .out.alloc = p->alloc,
                                  .text.alloc = p->alloc };
    const uint8_t *at = text.ptr, *end = at + text.size;
    struct csni_span value;
    csn_status status;
    do {
        r.out.size = 0;
        status = csni_json_value(&r.scan, at, &value);
        if (status == CSN_OK && value.ptr[0] != '{') status = fail_kind(&r, value, "the text is no object");
        if (status == CSN_OK) status = put_json_message(&r, value, &csni_otlp_profiles_data, 0);
        if (status == CSN_OK) status = csni_otlp_read(p, (struct csni_span){ r.out.bytes, r.out.size }, err);
        if (status < 0) break;
        at = value.ptr + value.size;
        while (at < end && *at <= ' ') at++;
    } while (at < end);
    csni_buffer_deinit(&r.out);
    csni_buffer_deinit(&r.text);
    return status;
}
