/* Any bytes as a log in lines of JSON, filled in with an index; and as a text, which is put into JSON in one of
 * several ways. Invariants: lines that are JSON stay as many lines of JSON, without an index every byte stays, and
 * the text in JSON becomes what the text alone becomes, once and again. The first byte is the way. */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "given_index.h"
#include "stack/dialects/dialects.h"
#include "stack/records/json_gate.h"
#include "stack/text/stack_text.h"
#include "ui/json_span.h"
#include "ui/utf8.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct csn_str str(const char *text) { return (struct csn_str){ text, strlen(text) }; }

/* ---- an index, made once: its names need escapes, one is no UTF-8 ---- */

static void build_functions(struct csn_builder *builder) {
    static const struct csn_range inlined = { 0x1120, 0x1140 };
    uint32_t file;
    require(csn_builder_add_file(builder, str("/opt/\"app\""), str("lib\\orders.c"), &file, NULL) == CSN_OK);
    require(csn_builder_begin_function(builder, 0x10f9, 0x5f, str("parse\x01_\"line\""), NULL) == CSN_OK);
    require(csn_builder_add_row(builder, 0x10f9, file, 15, NULL) == CSN_OK);
    require(csn_builder_begin_inline(builder, &inlined, 1, str("check\xff\\"), file, 16, NULL) == CSN_OK);
    require(csn_builder_end_inline(builder, NULL) == CSN_OK);
    require(csn_builder_begin_function(builder, 0x1158, 0x1c, str("orders_load"), NULL) == CSN_OK);
    require(csn_builder_add_row(builder, 0x1158, file, 20, NULL) == CSN_OK);
}

/* ---- the command ---- */

static bool keep(void *context, const char *bytes, size_t size) {
    return text_buffer_add(context, (struct csn_str){ bytes, size });
}

static struct csn_str str_of(const struct text_buffer *buffer) {
    return (struct csn_str){ buffer->bytes ? buffer->bytes : "", buffer->count };
}

/* In place, in `out`. */
static void fill(struct csn_str log, bool with_index, struct text_buffer *out) {
    static struct stack_session session;
    static struct out_buffer buffer;
    static struct name_text names;
    static const struct text_list none;
    const char *index_name = given_index(build_functions);
    const struct text_list given = { &index_name, 1 };
    struct stack_text text;
    out->count = 0;
    out_init(&buffer, -1);
    out_set_sink(&buffer, keep, out);
    name_text_init(&names, false);
    struct stack_output output = { .out = &buffer, .names = &names };
    require(session_init(&session, with_index ? &given : &none, &none, NULL, 1000, 1 << 16));
    require(stack_text_init(&text, &session, &output, true, stack_dialects, DIALECT_COUNT, NULL));
    while (log.len) {
        const char *newline = memchr(log.ptr, '\n', log.len);
        const size_t len = newline ? (size_t)(newline - log.ptr) + 1 : log.len;
        require(stack_text_line(&text, (struct csn_str){ log.ptr, len }, false));
        log = (struct csn_str){ log.ptr + len, log.len - len };
    }
    require(stack_text_end(&text) && out_flush(&buffer));
    stack_text_deinit(&text);
    session_deinit(&session);
    name_text_deinit(&names);
}

/* ---- lines of JSON ---- */

static bool is_json(struct csn_str line) {
    struct csn_str value;
    struct json_fault fault;
    line = line_text(line);
    if (!json_span_value(line, &value, &fault)) return false;
    const char *end = value.ptr + value.len;
    while (end < line.ptr + line.len && memchr(" \t\r", *end, 3)) end++;
    return end == line.ptr + line.len;
}

static size_t count_json(struct csn_str log, size_t *lines) {
    size_t count = 0;
    for (*lines = 0; log.len; ++*lines) {
        const char *newline = memchr(log.ptr, '\n', log.len);
        const size_t len = newline ? (size_t)(newline - log.ptr) + 1 : log.len;
        count += is_json((struct csn_str){ log.ptr, len });
        log = (struct csn_str){ log.ptr + len, log.len - len };
    }
    return count;
}

/* ---- a text in JSON ---- */

enum way { WAY_LOG, WAY_STRING, WAY_LINES, WAY_BYTES, WAY_NESTED, WAYS };

static void add(struct text_buffer *out, const char *text) { require(text_buffer_add(out, str(text))); }

static void add_string(struct text_buffer *out, struct csn_str text) {
    static struct out_buffer buffer;
    out_init(&buffer, -1);
    out_set_sink(&buffer, keep, out);
    struct json_out json = json_on(&buffer);
    json_str(&json, text);
    require(out_flush(&buffer));
}

static void wrap(enum way way, struct csn_str text, struct text_buffer *out) {
    struct text_buffer inner = { 0 };
    out->count = 0;
    switch (way) {
    case WAY_LINES:
        while (text.len) {
            const size_t len = (size_t)((const char *)memchr(text.ptr, '\n', text.len) - text.ptr) + 1;
            add(out, "{\"log\":");
            add_string(out, (struct csn_str){ text.ptr, len });
            add(out, ",\"stream\":\"stderr\"}\n");
            text = (struct csn_str){ text.ptr + len, text.len - len };
        }
        break;
    case WAY_BYTES:
        add(out, "{\"MESSAGE\":[");
        for (size_t i = 0; i < text.len; i++) {
            char number[8];
            snprintf(number, sizeof(number), "%s%u", i ? "," : "", (unsigned char)text.ptr[i]);
            add(out, number);
        }
        add(out, "]}\n");
        break;
    case WAY_NESTED:
        wrap(WAY_STRING, text, &inner);
        add(out, "{\"log\":");
        add_string(out, str_of(&inner));
        add(out, "}\n");
        text_buffer_deinit(&inner);
        break;
    default:
        add(out, "{\"a\":1,\"log\":");
        add_string(out, text);
        add(out, "}\n");
    }
}

static void add_value(struct csn_str value, struct text_buffer *out) {
    char *bytes = malloc(value.len + 1);
    require(bytes != NULL);
    size_t size = 0;
    uint64_t number;
    if (value.ptr[0] == '"') size = json_span_text(value, bytes);
    struct json_items items = json_items_of(value);
    struct csn_str key, item;
    while (value.ptr[0] == '[' && json_items_next(&items, &key, &item)) {
        require(json_span_u64(item, &number) && number < 256);
        bytes[size++] = (char)number;
    }
    require(text_buffer_add(out, (struct csn_str){ bytes, size }));
    free(bytes);
}

static void unwrap(enum way way, struct csn_str log, struct text_buffer *out) {
    struct text_buffer inner = { 0 };
    out->count = 0;
    while (log.len) {
        const size_t len = (size_t)((const char *)memchr(log.ptr, '\n', log.len) - log.ptr) + 1;
        const struct csn_str line = { log.ptr, len - 1 };
        struct csn_str value = { "", 0 };
        require(is_json(line) && json_span_find(line, way == WAY_BYTES ? "MESSAGE" : "log", &value));
        add_value(value, way == WAY_NESTED ? &inner : out);
        log = (struct csn_str){ log.ptr + len, log.len - len };
    }
    if (way == WAY_NESTED) unwrap(WAY_STRING, str_of(&inner), out);
    text_buffer_deinit(&inner);
}

/* ---- the invariants ---- */

static void check_log(struct csn_str log) {
    struct text_buffer out = { 0 };
    size_t lines, lines_after;
    fill(log, false, &out);
    require(out.count == log.len && (!log.len || memcmp(out.bytes, log.ptr, log.len) == 0));
    fill(log, true, &out);
    if (count_json(log, &lines) == lines) require(count_json(str_of(&out), &lines_after) == lines && lines_after == lines);
    text_buffer_deinit(&out);
}

/* What a text needs to be the same in JSON: characters, lines that are no records themselves, and what the gate looks for. */
static bool is_comparable(enum way way, struct csn_str text) {
    if (!text.len || text.ptr[text.len - 1] != '\n' || memchr(text.ptr, '{', text.len) ||
        memchr(text.ptr, '"', text.len))
        return false;
    if (memchr(text.ptr, '[', text.len) && (text.ptr[0] == '[' || memchr(text.ptr, '\\', text.len))) return false;
    for (size_t i = 0, size; way != WAY_BYTES && i < text.len; i += size)
        if (!(size = utf8_size(text.ptr + i, text.len - i))) return false;
    return way != WAY_BYTES || text.len >= 8;
}

/* Names that are no UTF-8 are written as U+FFFD in strings. */
static void replace_bytes(struct text_buffer *buffer) {
    struct text_buffer out = { 0 };
    for (size_t i = 0; i < buffer->count; i++) {
        const size_t size = utf8_size(buffer->bytes + i, buffer->count - i);
        require(text_buffer_add(&out, size ? (struct csn_str){ buffer->bytes + i, size } : str("\xef\xbf\xbd")));
        if (size) i += size - 1;
    }
    text_buffer_deinit(buffer);
    *buffer = out;
}

static bool is_same(const struct text_buffer *a, const struct text_buffer *b) {
    return a->count == b->count && (!a->count || memcmp(a->bytes, b->bytes, a->count) == 0);
}

static void check_text(enum way way, struct csn_str text) {
    struct text_buffer wrapped = { 0 }, filled = { 0 }, plain = { 0 }, got = { 0 };
    if (!is_comparable(way, text)) return;
    wrap(WAY_STRING, text, &wrapped);
    const bool may = json_may_have_frames(str_of(&wrapped));
    wrap(way, text, &wrapped);
    fill(str_of(&wrapped), true, &filled);
    unwrap(way, str_of(&filled), &got);
    fill(text, true, &plain);
    if (way != WAY_BYTES) replace_bytes(&plain);
    /* A line alone may have less than a whole text. */
    const bool compares = may && way != WAY_LINES;
    if (compares) require(is_same(&plain, &got));
    if (compares && is_comparable(way, str_of(&plain))) {
        fill(str_of(&plain), true, &wrapped);
        fill(str_of(&filled), true, &plain);
        unwrap(way, str_of(&plain), &got);
        if (way != WAY_BYTES) replace_bytes(&wrapped);
        require(is_same(&wrapped, &got));
    }
    text_buffer_deinit(&wrapped);
    text_buffer_deinit(&filled);
    text_buffer_deinit(&plain);
    text_buffer_deinit(&got);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!size) return 0;
    const struct csn_str rest = { (const char *)data + 1, size - 1 };
    const enum way way = data[0] % WAYS;
    if (way == WAY_LOG) check_log(rest);
    else check_text(way, rest);
    return 0;
}
