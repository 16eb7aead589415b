/* Levels of JSON, read and written a byte at a time: only strings that may have frames are. */
#include "stack/records/json_code.h"

#include "ui/json_out.h"
#include "ui/json_token.h"
#include "ui/utf8.h"

enum { TEXT_ENDS = -1 };

struct json_reader json_reader_on(const struct json_code *code, struct csn_str raw) {
    return (struct json_reader){ .code = code, .at = raw.ptr, .end = raw.ptr + raw.len };
}

/* ---- reading ---- */

/* Level 0 is the line itself, level 1 the text of a string in it. */
static int read_level(struct json_reader *reader, unsigned level);

static bool read_four_digits(struct json_reader *reader, unsigned level, uint32_t *out) {
    *out = 0;
    for (int i = 0; i < 4; i++) {
        int c = read_level(reader, level), low = c | 0x20;
        if (c >= '0' && c <= '9') *out = *out * 16 + (uint32_t)(c - '0');
        else if (low >= 'a' && low <= 'f') *out = *out * 16 + (uint32_t)(low - 'a' + 10);
        else return false;
    }
    return true;
}

/* The second half of a character beyond 16 bits; false, and nothing is read: there is none. */
static bool read_low_half(struct json_reader *reader, unsigned level, uint32_t *out) {
    const struct json_reader before = *reader;
    if (read_level(reader, level) == '\\' && read_level(reader, level) == 'u' && read_four_digits(reader, level, out)
        && *out >= 0xdc00 && *out < 0xe000)
        return true;
    *reader = before;
    return false;
}

/* After "\u". A half alone is U+FFFD. */
static int read_unicode(struct json_reader *reader, unsigned level) {
    uint32_t c, low;
    if (!read_four_digits(reader, level, &c)) return TEXT_ENDS;
    if (c >= 0xd800 && c < 0xdc00 && read_low_half(reader, level, &low)) c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    else if (c >= 0xd800 && c < 0xe000) c = 0xfffd;
    reader->rest[level].count = (uint8_t)json_put_utf8(reader->rest[level].bytes, c);
    reader->rest[level].next = 1;
    return (uint8_t)reader->rest[level].bytes[0];
}

static int read_character(struct json_reader *reader, unsigned level) {
    int c = read_level(reader, level);
    if (c != '\\') return c;
    switch (c = read_level(reader, level)) {
    case 'b': return '\b';
    case 'f': return '\f';
    case 'n': return '\n';
    case 'r': return '\r';
    case 't': return '\t';
    case 'u': return read_unicode(reader, level);
    default: return c;
    }
}

/* ", 34": what follows the number is not read. */
static int read_number(struct json_reader *reader, unsigned level) {
    struct json_reader before;
    int c, value = 0;
    do c = read_level(reader, level);
    while (c >= 0 && (c < '0' || c > '9'));
    if (c < 0) return TEXT_ENDS;
    do {
        value = value * 10 + (c - '0');
        before = *reader;
        c = read_level(reader, level);
    } while (c >= '0' && c <= '9' && value < 256);
    *reader = before;
    return value & 0xff;
}

static int read_level(struct json_reader *reader, unsigned level) {
    if (!level) return reader->at < reader->end ? (uint8_t)*reader->at++ : TEXT_ENDS;
    level--;
    if (reader->rest[level].next < reader->rest[level].count) return (uint8_t)reader->rest[level].bytes[reader->rest[level].next++];
    return reader->code->forms[level] == JSON_BYTES ? read_number(reader, level) : read_character(reader, level);
}

int json_read_byte(struct json_reader *reader) { return read_level(reader, reader->code->count); }

size_t json_raw_size(const struct json_code *code, struct csn_str raw, size_t count) {
    struct json_reader reader = json_reader_on(code, raw);
    while (count-- && json_read_byte(&reader) >= 0) continue;
    return (size_t)(reader.at - raw.ptr);
}

/* ---- writing ---- */

static void put_level(struct json_writing *writing, unsigned level, const char *bytes, size_t count);

static void put_number(struct json_writing *writing, unsigned level, unsigned value) {
    char digits[4] = { ',' };
    size_t count = writing->begun ? 1 : 0;
    if (value > 99) digits[count++] = (char)('0' + value / 100);
    if (value > 9) digits[count++] = (char)('0' + value / 10 % 10);
    digits[count++] = (char)('0' + value % 10);
    put_level(writing, level, digits, count);
    writing->begun = true;
}

static void put_character(struct json_writing *writing, unsigned level, unsigned char c) {
    static const char hex[] = "0123456789abcdef";
    const char escape[6] = { '\\', 'u', '0', '0', hex[c >> 4], hex[c & 15] };
    const char plain = (char)c, named[2] = { '\\', (char)(c == '\n' ? 'n' : c == '\t' ? 't' : c) };
    if (c == '"' || c == '\\' || c == '\n' || c == '\t') put_level(writing, level, named, 2);
    else if (c < 0x20) put_level(writing, level, escape, 6);
    else put_level(writing, level, &plain, 1);
}

static void put_level(struct json_writing *writing, unsigned level, const char *bytes, size_t count) {
    if (!level) {
        out_bytes(writing->out, bytes, count);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        if (writing->code->forms[level - 1] == JSON_BYTES) put_number(writing, level - 1, (uint8_t)bytes[i]);
        else put_character(writing, level - 1, (uint8_t)bytes[i]);
    }
}

bool json_code_has(const struct json_code *code, enum json_form form) {
    for (unsigned i = 0; i < code->count; i++)
        if (code->forms[i] == form) return true;
    return false;
}

void json_put_text(struct json_writing *writing, struct csn_str text) {
    const bool strings = json_code_has(writing->code, JSON_STRING);
    size_t size;
    for (size_t i = 0; i < text.len; i += size ? size : 1) {
        size = strings ? utf8_size(text.ptr + i, text.len - i) : 1;
        if (size) put_level(writing, writing->code->count, text.ptr + i, size);
        else put_level(writing, writing->code->count, "\xef\xbf\xbd", 3);
    }
}

/* A string within an array does not stand at its beginning: it is part of an object. */
struct json_writing json_writing_on(const struct json_code *code, struct out_buffer *out, bool continues) {
    return (struct json_writing){ code, out, continues || code->forms[code->count - 1] != JSON_BYTES };
}

void json_put_raw(struct json_writing *writing, struct csn_str raw) {
    if (!raw.len) return;
    if (json_code_has(writing->code, JSON_BYTES)) { /* numbers: a comma stands between them, and nowhere else */
        size_t at = 0;
        while (at < raw.len && raw.ptr[at] == ' ') at++;
        const bool has_comma = at < raw.len && raw.ptr[at] == ',';
        if (writing->begun && !has_comma) out_char(writing->out, ',');
        if (!writing->begun && has_comma) raw = (struct csn_str){ raw.ptr + at + 1, raw.len - at - 1 };
    }
    out_bytes(writing->out, raw.ptr, raw.len);
    writing->begun = true;
}
