/* TSV and JSONEachRow: a line each row. */
#include <string.h>

#include "udf/udf_format.h"
#include "ui/json_out.h"
#include "ui/json_span.h"

/* The line at the beginning, without its newline; false: it has none yet. */
static bool take_line(struct csn_str bytes, struct udf_row *out, struct csn_str *line) {
    const char *end = memchr(bytes.ptr, '\n', bytes.len);
    *out = (struct udf_row){ .size = 0 };
    if (!end) return false;
    out->size = (size_t)(end - bytes.ptr) + 1;
    *line = (struct csn_str){ bytes.ptr, out->size - 1 };
    if (line->len && line->ptr[line->len - 1] == '\r') line->len--;
    return true;
}

/* Decimal, or hexadecimal after "0x"; negative decimals are 64-bit two's complement. */
static bool parse_address(struct csn_str text, uint64_t *out) {
    bool negative = text.len > 1 && text.ptr[0] == '-',
         hexadecimal = text.len > 2 && text.ptr[0] == '0' && (text.ptr[1] | 32) == 'x';
    uint64_t value = 0, base = hexadecimal ? 16 : 10;
    size_t at = hexadecimal ? 2 : negative;
    if (at == text.len) return false;
    for (; at < text.len; at++) {
        char c = text.ptr[at], low = (char)(c | 32);
        uint64_t digit = c >= '0' && c <= '9' ? (uint64_t)(c - '0') : low >= 'a' && low <= 'f' ? (uint64_t)(low - 'a' + 10) : 16;
        if (digit >= base || value > (UINT64_MAX - digit) / base) return false;
        value = value * base + digit;
    }
    if (negative && value > (uint64_t)1 << 63) return false;
    *out = negative ? 0 - value : value;
    return true;
}

/* ---- TSV ---- */

static char unescaped(char c) {
    static const char from[] = "bfrnt0", to[] = "\b\f\r\n\t";
    const char *at = memchr(from, c, sizeof(from) - 1);
    return at ? to[at - from] : c;
}

static bool is_null_field(struct csn_str field) { return field.len == 2 && field.ptr[0] == '\\' && field.ptr[1] == 'N'; }

static struct csn_str unescape_field(struct csn_str field, char *scratch) {
    size_t size = 0;
    if (!memchr(field.ptr, '\\', field.len)) return field;
    for (size_t i = 0; i < field.len; i++) {
        bool escaped = field.ptr[i] == '\\' && i + 1 < field.len;
        i += escaped;
        scratch[size++] = escaped ? unescaped(field.ptr[i]) : field.ptr[i];
    }
    return (struct csn_str){ scratch, size };
}

static void read_tsv(struct csn_str bytes, char *scratch, struct udf_row *out) {
    struct csn_str line;
    if (!take_line(bytes, out, &line)) return;
    const char *tab = memchr(line.ptr, '\t', line.len);
    if (!tab) {
        out->fault = "the row has one field, need module and address";
        return;
    }
    struct csn_str module = { line.ptr, (size_t)(tab - line.ptr) }, address = { tab + 1, line.len - module.len - 1 };
    out->has_module = !is_null_field(module);
    out->module = unescape_field(module, scratch);
    out->has_address = !is_null_field(address);
    if (memchr(address.ptr, '\t', address.len)) out->fault = "the row has more fields than module and address";
    else if (out->has_address && !parse_address(address, &out->address)) out->fault = "the address is not a number of 64 bits";
}

static void put_tsv(struct out_buffer *out, struct csn_str answer) {
    for (size_t i = 0; i < answer.len; i++) {
        static const char plain[] = "\b\f\r\n\t\\", escaped[] = "bfrnt\\";
        const char *at = answer.ptr[i] ? strchr(plain, answer.ptr[i]) : NULL;
        if (!answer.ptr[i]) out_text(out, "\\0");
        else if (at) out_char(out, '\\'), out_char(out, escaped[at - plain]);
        else out_char(out, answer.ptr[i]);
    }
    out_char(out, '\n');
}

const struct udf_format udf_tsv = { .name = "TSV", .by_line = true, .read = read_tsv, .put = put_tsv };

/* ---- JSONEachRow ---- */

static bool is_json_null(struct csn_str value) { return value.len == 4 && memcmp(value.ptr, "null", 4) == 0; }
static bool is_json_string(struct csn_str value) { return value.len > 1 && value.ptr[0] == '"'; }

/* ClickHouse calls arguments without names c1, c2. */
static bool find_member(struct csn_str object, const char *name, const char *number, struct csn_str *out) {
    return json_span_find(object, name, out) || json_span_find(object, number, out);
}

/* An address is a number, or a string of one: many JSON readers have no integers of 64 bits. */
static bool parse_json_address(struct csn_str value, char *scratch, uint64_t *out) {
    if (!is_json_string(value)) return parse_address(value, out);
    return parse_address((struct csn_str){ scratch, json_span_text(value, scratch) }, out);
}

static void read_json_members(struct csn_str object, char *scratch, struct udf_row *out) {
    struct csn_str module, address;
    if (!find_member(object, "module", "c1", &module) || !find_member(object, "address", "c2", &address)) {
        out->fault = "the object has no member module, or no address";
        return;
    }
    out->has_module = !is_json_null(module);
    out->has_address = !is_json_null(address);
    if (out->has_address && !parse_json_address(address, scratch, &out->address))
        out->fault = "the address is not a number of 64 bits";
    if (out->has_module && !is_json_string(module)) out->fault = "the module is not a string";
    if (out->has_module && !out->fault) out->module = (struct csn_str){ scratch, json_span_text(module, scratch) };
}

static void read_json_each_row(struct csn_str bytes, char *scratch, struct udf_row *out) {
    struct csn_str line, object;
    struct json_fault fault;
    if (!take_line(bytes, out, &line)) return;
    if (!json_span_value(line, &object, &fault)) out->fault = "the row is not JSON";
    else if (object.ptr[0] != '{') out->fault = "the row is not a JSON object";
    else read_json_members(object, scratch, out);
}

static void put_json_each_row(struct out_buffer *out, struct csn_str answer) {
    struct json_out json = json_on(out);
    json_begin_object(&json);
    json_key(&json, "result");
    json_str(&json, answer);
    json_end_object(&json);
    json_end_line(&json);
}

const struct udf_format udf_json_each_row = {
    .name = "JSONEachRow", .by_line = true, .read = read_json_each_row, .put = put_json_each_row
};
