/* OTLP's protobuf as JSON: absent fields are left out, 64-bit numbers are strings. */
#include <math.h>
#include <stdio.h>

#include "base/hex.h"
#include "profile/otlp_schema.h"
#include "profile/profile_out.h"
#include "profile/proto_wire.h"

static void put_message_json(struct profile_out *out, struct csni_span bytes, const struct otlp_message_type *type);

/* The decimal point may be another character, even of several bytes, in the locale of the program. */
static void put_double(char *out, size_t size, double real) {
    size_t used = 0;
    snprintf(out, size, "%.17g", real);
    for (const char *at = out; *at; at++) {
        if (strchr("0123456789+-e", *at)) out[used++] = *at;
        else if (!used || out[used - 1] != '.') out[used++] = '.';
    }
    out[used] = 0;
}

static void put_number_json(struct profile_out *out, enum otlp_kind kind, uint64_t value) {
    char text[40];
    double real;
    switch (kind) {
    case OTLP_BOOL: csni_profile_put_text(out, value ? "true" : "false"); return;
    case OTLP_NUMBER: snprintf(text, sizeof text, "%lld", (long long)(int64_t)value); break;
    case OTLP_LONG: snprintf(text, sizeof text, "\"%lld\"", (long long)(int64_t)value); break;
    case OTLP_DOUBLE:
        memcpy(&real, &value, sizeof real);
        if (isfinite(real)) put_double(text, sizeof text, real);
        else snprintf(text, sizeof text, "%s", isnan(real) ? "\"NaN\"" : real < 0 ? "\"-Infinity\"" : "\"Infinity\"");
        break;
    default: snprintf(text, sizeof text, "\"%llu\"", (unsigned long long)value); break;
    }
    csni_profile_put_text(out, text);
}

static void put_base64_json(struct profile_out *out, struct csni_span bytes) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < bytes.size; i += 3) {
        const size_t count = bytes.size - i < 3 ? bytes.size - i : 3;
        uint32_t bits = 0;
        for (size_t k = 0; k < 3; k++) bits = bits << 8 | (k < count ? bytes.ptr[i + k] : 0);
        for (size_t k = 0; k < 4; k++) csni_profile_put(out, k <= count ? &digits[bits >> (18 - 6 * k) & 63] : "=", 1);
    }
}

static void put_hex_json(struct profile_out *out, struct csni_span bytes) {
    for (size_t i = 0; i < bytes.size; i++) {
        char text[3];
        csni_profile_put(out, text, (size_t)snprintf(text, sizeof text, "%02x", bytes.ptr[i]));
    }
}

static void put_bytes_json(struct profile_out *out, const struct otlp_field *field, struct csni_span bytes) {
    if (field->kind == OTLP_MESSAGE) put_message_json(out, bytes, field->message);
    else if (field->kind == OTLP_TEXT) csni_profile_put_json(out, (struct csn_str){ (const char *)bytes.ptr, bytes.size }, false);
    else {
        csni_profile_put_text(out, "\"");
        (field->kind == OTLP_HEX ? put_hex_json : put_base64_json)(out, bytes);
        csni_profile_put_text(out, "\"");
    }
}

/* One value of a field, or the numbers of a packed one; `first` tells whether a comma is due. */
static void put_value_json(struct profile_out *out, const struct otlp_field *field, const struct proto_field *value, bool *first) {
    const bool is_packed = field->kind <= OTLP_BOOL && value->type == PROTO_BYTES;
    const bool is_fixed = field->kind == OTLP_FIXED64 || field->kind == OTLP_DOUBLE;
    struct csni_cursor packed = csni_cursor_at(value->bytes, false);
    do {
        uint64_t number = value->value;
        if (is_packed && packed.p == packed.end) return;
        if (is_packed) number = is_fixed ? csni_cursor_u64(&packed) : csni_cursor_uleb(&packed);
        if (!*first) csni_profile_put_text(out, ",");
        *first = false;
        if (field->kind <= OTLP_BOOL) put_number_json(out, field->kind, number);
        else put_bytes_json(out, field, value->bytes);
    } while (is_packed && packed.p < packed.end && !packed.failed);
}

/* The values of one field, wherever they stand in the message. */
static bool put_field_json(struct profile_out *out, struct csni_span bytes, const struct otlp_field *field, bool is_first) {
    struct csni_cursor c = csni_cursor_at(bytes, false);
    struct proto_field value;
    bool found = false, first = true;
    while (csni_proto_next(&c, &value)) {
        if (value.number != field->number) continue;
        if (!found) {
            csni_profile_put_text(out, is_first ? "\"" : ",\"");
            csni_profile_put_text(out, field->name);
            csni_profile_put_text(out, field->repeated ? "\":[" : "\":");
        }
        found = true;
        put_value_json(out, field, &value, &first);
    }
    if (found && field->repeated) csni_profile_put_text(out, "]");
    return found;
}

/* The writer's own message: no deeper than the schema, as it has no values within values. */
static void put_message_json(struct profile_out *out, struct csni_span bytes, const struct otlp_message_type *type) {
    bool is_first = true;
    csni_profile_put_text(out, "{");
    for (const struct otlp_field *field = type->fields; field->name; field++)
        if (put_field_json(out, bytes, field, is_first)) is_first = false;
    csni_profile_put_text(out, "}");
}

void csni_otlp_json_put(struct profile_out *out, struct csni_span message) {
    put_message_json(out, message, &csni_otlp_profiles_data);
    csni_profile_put_text(out, "\n");
}
