/* The JSON writer. */
#include "ui/json_out.h"

#include <string.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "ui/path_text.h"
#include "ui/utf8.h"

static void before_value(struct json_out *json) {
    if (json->comma) out_char(json->out, ',');
    json->comma = true;
}

void json_end_line(struct json_out *json) {
    out_char(json->out, '\n');
    json->comma = false;
}

static void put_control(struct out_buffer *out, unsigned char byte) {
    static const char hex[] = "0123456789abcdef";
    if (byte == '"' || byte == '\\') {
        const char escape[2] = { '\\', (char)byte };
        out_bytes(out, escape, sizeof(escape));
    } else if (byte == '\n') {
        out_text(out, "\\n");
    } else if (byte == '\t') {
        out_text(out, "\\t");
    } else {
        const char escape[6] = { '\\', 'u', '0', '0', hex[byte >> 4], hex[byte & 15] };
        out_bytes(out, escape, sizeof(escape));
    }
}

static const uint64_t ones = 0x0101010101010101, highs = 0x8080808080808080;

/* Not 0 where one of eight bytes is `byte`. */
static inline uint64_t zero_bits(uint64_t v, unsigned char byte) {
    uint64_t x = v ^ byte * ones;
    return (x - ones) & ~x;
}

/* Eight bytes of printable ASCII that stand for themselves in a string. */
static inline bool are_plain(const char *bytes) {
    uint64_t v;
    memcpy(&v, bytes, sizeof(v));
    uint64_t special = v | ((v - 0x20 * ones) & ~v) | zero_bits(v, '"') | zero_bits(v, '\\') | zero_bits(v, 0x7f);
    return !(special & highs);
}

#if defined(__SSE2__)
/* Sixteen bytes. Those above 127 are below zero. */
static bool are_sixteen_plain(const char *bytes) {
    __m128i v = _mm_loadu_si128((const __m128i *)(const void *)bytes);
    __m128i odd = _mm_or_si128(_mm_cmplt_epi8(v, _mm_set1_epi8(0x20)), _mm_cmpeq_epi8(v, _mm_set1_epi8(0x7f)));
    odd = _mm_or_si128(odd, _mm_or_si128(_mm_cmpeq_epi8(v, _mm_set1_epi8('"')), _mm_cmpeq_epi8(v, _mm_set1_epi8('\\'))));
    return !_mm_movemask_epi8(odd);
}

static bool is_long_plain(struct csn_str text) {
    for (size_t i = 0; i + 16 <= text.len; i += 16)
        if (!are_sixteen_plain(text.ptr + i)) return false;
    return are_sixteen_plain(text.ptr + text.len - 16);
}
#endif

/* As nearly all names and paths are. */
static bool is_plain(struct csn_str text) {
#if defined(__SSE2__)
    if (text.len >= 16) return is_long_plain(text);
#endif
    if (text.len < 8) {
        char bytes[] = "        ";
        if (text.len) memcpy(bytes, text.ptr, text.len);
        return are_plain(bytes);
    }
    for (size_t i = 0; i + 8 <= text.len; i += 8)
        if (!are_plain(text.ptr + i)) return false;
    return are_plain(text.ptr + text.len - 8);
}

enum { SHORT_TEXT = 256 }; /* what nearly all names are below: they are written with one look at the buffer */

/* The inside of a string. */
static void put_part(struct json_out *json, struct csn_str text) {
    struct out_buffer *out = json->out;
    if (!json->html && is_plain(text)) {
        out_bytes(out, text.ptr, text.len);
        return;
    }
    const char *bytes = text.ptr;
    size_t plain = 0, i = 0;
    while (i < text.len) {
        unsigned char byte = (unsigned char)bytes[i];
        size_t size = utf8_size(bytes + i, text.len - i);
        bool markup = json->html && (byte == '<' || byte == '>' || byte == '&');
        if (size && !utf8_is_control(bytes + i, size) && byte != '"' && byte != '\\' && !markup) {
            i += size;
            continue;
        }
        out_bytes(out, bytes + plain, i - plain);
        if (size) put_control(out, (unsigned char)bytes[i + size - 1]); /* U+0080 to U+009F: the second byte is the number */
        else out_text(out, "\\ufffd");
        i += size ? size : 1;
        plain = i;
    }
    if (text.len) out_bytes(out, bytes + plain, text.len - plain);
}

void json_str(struct json_out *json, struct csn_str text) {
    if (!json->html && text.len <= SHORT_TEXT && is_plain(text)) {
        char *at = out_reserve(json->out, SHORT_TEXT + 3);
        if (json->comma) *at++ = ',';
        *at++ = '"';
        if (text.len) memcpy(at, text.ptr, text.len);
        at[text.len] = '"';
        out_take(json->out, at + text.len + 1);
        json->comma = true;
        return;
    }
    before_value(json);
    out_char(json->out, '"');
    put_part(json, text);
    out_char(json->out, '"');
}

void json_path(struct json_out *json, struct csn_str directory, struct csn_str base) {
    before_value(json);
    out_char(json->out, '"');
    put_part(json, directory);
    char separator = path_separator(directory, base);
    if (separator) put_part(json, (struct csn_str){ &separator, 1 });
    put_part(json, base);
    out_char(json->out, '"');
}

void json_text(struct json_out *json, const char *text) { json_str(json, (struct csn_str){ text, strlen(text) }); }

void json_number(struct json_out *json, uint64_t value) {
    before_value(json);
    out_decimal(json->out, value);
}

void json_bool(struct json_out *json, bool value) {
    before_value(json);
    out_text(json->out, value ? "true" : "false");
}

void json_none(struct json_out *json) {
    before_value(json);
    out_text(json->out, "null");
}

void json_hex(struct json_out *json, uint64_t value) {
    before_value(json);
    out_char(json->out, '"');
    out_hex(json->out, value);
    out_char(json->out, '"');
}

void json_hex_bytes(struct json_out *json, const uint8_t *bytes, size_t count) {
    before_value(json);
    out_char(json->out, '"');
    out_hex_bytes(json->out, bytes, count);
    out_char(json->out, '"');
}

void json_member_text(struct json_out *json, const char *key, const char *text) {
    json_key(json, key);
    json_text(json, text);
}

void json_member_number(struct json_out *json, const char *key, uint64_t value) {
    json_key(json, key);
    json_number(json, value);
}

void json_member_hex(struct json_out *json, const char *key, uint64_t value) {
    json_key(json, key);
    json_hex(json, value);
}
