/* One walk over a line, which checks it and looks at its strings. */
#define _GNU_SOURCE
#include "stack/records/json_record.h"

#include <stdlib.h>
#include <string.h>

#include "stack/records/json_gate.h"
#include "ui/json_token.h"

enum { DEPTH_MAX = 64, NAME_SHOWN = 32, BYTES_MIN = 8, NUMBER_MAX = 40 };

/* A line, or the text of a string that is a record itself. */
struct walk {
    struct json_record *record;
    const char *begin;
    struct json_tokens tokens;
    struct json_code code;     /* of the text that is walked over; none: the line's own */
    struct json_reader mapped; /* from the text to the line: the first `mapped_size` bytes have been read */
    size_t mapped_size;
    const char *line;
    uint64_t wanted;
    uint64_t name;             /* of the members that lead here */
    bool is_text, is_origin;   /* what the last of them is usually for */
    bool is_item;              /* of an array */
};

void json_record_deinit(struct json_record *record) {
    free(record->texts);
    *record = (struct json_record){ .count = 0 };
}

/* ---- names of members ---- */

/* What loggers call their text; in small letters, without "_", "-", "." and "@". */
static const char *const text_names[] = {
    "log", "message", "msg", "text", "event", "body", "stringvalue", "stack", "stacktrace", "backtrace", "traceback", "exception",
    "exceptionstacktrace", "errorstacktrace", "errorstack", "errorverbose", "error", "err", "excinfo", "exctext", "extendedstacktrace",
    "textpayload", "shortmessage", "fullmessage", "description", "details", "reason", "panic", "crash", "dump", "output", "data",
    "content", "logmessage", "rawmessage", "original",
};
/* What tells records of different writers apart. */
static const char *const origin_names[] = {
    "stream", "pid", "processid", "tid", "thread", "threadid", "threadname", "host", "hostname", "container", "containerid", "containername",
    "pod", "podname", "podid", "namespace", "namespacename", "systemdunit", "unit", "syslogidentifier", "transport", "bootid", "comm", "service",
    "servicename", "app", "logstream", "logstreamname", "instance", "source",
};

static bool is_one_of(struct csn_str name, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strlen(names[i]) == name.len && memcmp(names[i], name.ptr, name.len) == 0) return true;
    return false;
}

static uint64_t mix(uint64_t a, uint64_t b) {
    uint64_t x = (a ^ (b + 0x9e3779b97f4a7c15 + (a << 6) + (a >> 2))) * 0xff51afd7ed558ccd;
    return x ^ x >> 32;
}

static uint64_t hash_of(struct csn_str text) {
    uint64_t hash = 0xcbf29ce484222325;
    for (size_t i = 0; i < text.len; i++) hash = (hash ^ (uint8_t)text.ptr[i]) * 0x100000001b3;
    return hash;
}

/* The value that follows belongs to a member. */
static void enter_member(struct walk *walk, struct csn_str name) {
    char letters[NAME_SHOWN];
    struct csn_str bare = { letters, 0 };
    for (size_t i = 0; i < name.len && bare.len < sizeof(letters); i++) {
        char c = name.ptr[i];
        if (c >= 'A' && c <= 'Z') c = (char)(c + 'a' - 'A');
        if (!strchr("_-.@", c)) letters[bare.len++] = c;
    }
    walk->name = mix(walk->name, hash_of(name)) | 1;
    walk->is_text = is_one_of(bare, text_names, sizeof(text_names) / sizeof(text_names[0]));
    walk->is_origin = is_one_of(bare, origin_names, sizeof(origin_names) / sizeof(origin_names[0]));
}

/* ---- texts ---- */

/* What stands for a part of the text in the line. Parts come in their order: no byte is read twice. */
static struct csn_str raw_of(struct walk *walk, struct csn_str part) {
    const size_t from = (size_t)(part.ptr - walk->begin), end = from + part.len;
    if (!walk->code.count) return part;
    while (walk->mapped_size < from && json_read_byte(&walk->mapped) >= 0) walk->mapped_size++;
    const char *begin = walk->mapped.at;
    while (walk->mapped_size < end && json_read_byte(&walk->mapped) >= 0) walk->mapped_size++;
    return (struct csn_str){ begin, (size_t)(walk->mapped.at - begin) };
}

static void add_text(struct walk *walk, struct csn_str raw, enum json_form form, bool may_have_frames) {
    struct json_record *record = walk->record;
    if (!reserve_items(&record->texts, &record->capacity, record->count + 1, sizeof(*record->texts))) {
        record->no_memory = true;
        return;
    }
    struct record_text text = { (size_t)(raw.ptr - walk->line), raw.len, walk->code, walk->name, may_have_frames };
    text.code.forms[text.code.count++] = (uint8_t)form;
    record->texts[record->count++] = text;
}

/* A number alone, which is an identifier rather than an address. */
static bool is_number(struct csn_str inside) {
    if (inside.len > NUMBER_MAX) return false;
    for (size_t i = 0; i < inside.len; i++)
        if (!strchr("0123456789abcdefABCDEFx+-", inside.ptr[i])) return false;
    return true;
}

static bool walk_over(struct walk *walk);

/* The text of a string or array: memory of its own, as what a walk reads stays where it is. */
static bool decode(const struct json_code *code, struct csn_str raw, struct text_buffer *out) {
    struct json_reader reader = json_reader_on(code, raw);
    for (int c; (c = json_read_byte(&reader)) >= 0;) {
        const char byte = (char)c;
        if (!text_buffer_add(out, (struct csn_str){ &byte, 1 })) return false;
    }
    return true;
}

/* A string whose text is a record. False: it is none. */
static bool walk_into(struct walk *walk, struct csn_str raw, enum json_form form) {
    struct json_record *record = walk->record;
    const size_t count = record->count;
    const uint64_t origin = record->origin;
    struct text_buffer text = { 0 };
    struct walk inner = *walk;
    if (walk->code.count + 1 >= JSON_LEVELS_MAX) return false;
    inner.code.forms[inner.code.count++] = (uint8_t)form;
    inner.mapped = json_reader_on(&inner.code, raw);
    inner.mapped_size = 0;
    if (!decode(&inner.code, raw, &text)) record->no_memory = true;
    while (text.count && memchr("\r\n", text.bytes[text.count - 1], 2)) text.count--;
    inner.begin = inner.tokens.at = text.bytes;
    inner.tokens.end = text.bytes + text.count;
    const bool good = !record->no_memory && text.count && memchr("{[", text.bytes[0], 2) && walk_over(&inner);
    text_buffer_deinit(&text);
    if (good) return true;
    record->count = count;
    record->origin = origin;
    return false;
}

/* Between quotes. */
static void see_string(struct walk *walk, struct csn_str inside) {
    if (walk->is_origin) walk->record->origin += mix(walk->name, hash_of(inside));
    const bool is_object = inside.len && (inside.ptr[0] == '{' || inside.ptr[0] == '[') && memchr(inside.ptr, '\\', inside.len);
    const bool may = json_may_have_frames(inside) && (walk->is_text || !is_number(inside)),
               is_wanted = walk->name == walk->wanted || walk->is_item;
    if (!may && !is_wanted && !(walk->wanted && is_object)) return;
    const struct csn_str raw = raw_of(walk, inside);
    if (is_object && walk_into(walk, raw, JSON_STRING)) return;
    if (may || is_wanted) add_text(walk, raw, JSON_STRING, may);
}

/* The text of bytes is looked at as that of a string is, where the end of a line is an escape. */
static bool bytes_may_have_frames(struct walk *walk, struct csn_str inside) {
    static const struct json_code code = { 1, { JSON_BYTES } };
    struct json_reader reader = json_reader_on(&code, inside);
    struct text_buffer text = { 0 };
    bool good = true;
    for (int c; good && (c = json_read_byte(&reader)) >= 0;) {
        const char byte = (char)c;
        good = text_buffer_add(&text, c == '\n' ? (struct csn_str){ "\\n", 2 } : (struct csn_str){ &byte, 1 });
    }
    if (!good) walk->record->no_memory = true;
    good = good && json_may_have_frames((struct csn_str){ text.bytes, text.count });
    text_buffer_deinit(&text);
    return good;
}

/* An array of numbers, without its brackets, which are all of bytes. */
static void see_bytes(struct walk *walk, struct csn_str inside) {
    if (!walk->is_text || json_code_has(&walk->code, JSON_BYTES)) return;
    const bool may = bytes_may_have_frames(walk, inside);
    if (!may && walk->name != walk->wanted) return;
    const struct csn_str raw = raw_of(walk, inside);
    if (!walk_into(walk, raw, JSON_BYTES)) add_text(walk, raw, JSON_BYTES, may);
}

/* ---- the walk ---- */

/* An array of at least some numbers from 0 to 255 and nothing else. False, and nothing is skipped: it is none. */
static bool skip_bytes(struct json_tokens *t, struct csn_str *inside) {
    const char *from = t->at, *begin = from + 1, *last = NULL;
    unsigned count = 0;
    bool good;
    t->at++;
    do {
        json_token_blanks(t);
        const char *number = t->at;
        good = json_token_digits(t) && t->at - number <= 3 && (number[0] != '0' || t->at - number == 1)
               && (t->at - number < 3 || memcmp(number, "255", 3) <= 0);
        if (!count++) begin = number;
        last = t->at;
        json_token_blanks(t);
    } while (good && json_token_peek(t) == ',' && t->at++);
    if (good && json_token_peek(t) == ']' && count >= BYTES_MIN) {
        t->at++;
        *inside = (struct csn_str){ begin, (size_t)(last - begin) };
        return true;
    }
    t->at = from;
    return false;
}

static bool walk_value(struct walk *walk, unsigned depth);

/* A member's value is seen under its name, and what follows under that of the object. */
static bool walk_member(struct walk *walk, unsigned depth) {
    const struct walk outer = *walk;
    struct csn_str name;
    if (json_token_peek(&walk->tokens) != '"' || !json_token_string(&walk->tokens, &name)) return false;
    json_token_blanks(&walk->tokens);
    if (json_token_peek(&walk->tokens) != ':') return false;
    walk->tokens.at++;
    enter_member(walk, name);
    if (!walk_value(walk, depth)) return false;
    walk->name = outer.name;
    walk->is_text = outer.is_text;
    walk->is_origin = outer.is_origin;
    return true;
}

static bool walk_items(struct walk *walk, unsigned depth) {
    const bool is_object = *walk->tokens.at++ == '{', was_item = walk->is_item;
    const char close = is_object ? '}' : ']';
    if (depth == DEPTH_MAX) return false;
    walk->is_item = !is_object;
    json_token_blanks(&walk->tokens);
    if (json_token_peek(&walk->tokens) == close) {
        walk->tokens.at++;
        walk->is_item = was_item;
        return true;
    }
    for (;;) {
        json_token_blanks(&walk->tokens);
        if (!(is_object ? walk_member(walk, depth + 1) : walk_value(walk, depth + 1))) return false;
        json_token_blanks(&walk->tokens);
        if (json_token_peek(&walk->tokens) == close) break;
        if (json_token_peek(&walk->tokens) != ',') return false;
        walk->tokens.at++;
    }
    walk->tokens.at++;
    walk->is_item = was_item;
    return true;
}

static void see_scalar(struct walk *walk, const char *from) {
    if (walk->is_origin)
        walk->record->origin += mix(walk->name, hash_of((struct csn_str){ from, (size_t)(walk->tokens.at - from) }));
}

static bool walk_value(struct walk *walk, unsigned depth) {
    struct csn_str inside;
    json_token_blanks(&walk->tokens);
    const char *from = walk->tokens.at;
    switch (json_token_peek(&walk->tokens)) {
    case '[':
        if (skip_bytes(&walk->tokens, &inside)) {
            see_bytes(walk, inside);
            return true;
        }
        return walk_items(walk, depth);
    case '{': return walk_items(walk, depth);
    case '"':
        if (!json_token_string(&walk->tokens, &inside)) return false;
        see_string(walk, inside);
        return true;
    case '-':
    case '0': case '1': case '2': case '3': case '4': case '5': case '6': case '7': case '8': case '9':
        if (!json_token_number(&walk->tokens)) return false;
        break;
    default:
        if (!json_token_word(&walk->tokens)) return false;
    }
    see_scalar(walk, from);
    return true;
}

/* "\"message\" : \"text\",": a line of an object that is spread over lines. */
static bool walk_line_of_object(struct walk *walk) {
    const char *from = walk->tokens.at;
    struct csn_str name;
    if (!json_token_string(&walk->tokens, &name)) return false;
    json_token_blanks(&walk->tokens);
    if (json_token_peek(&walk->tokens) == ':') {
        walk->tokens.at++;
        enter_member(walk, name);
    } else {
        walk->tokens.at = from;
        walk->is_text = true; /* an item of an array */
    }
    json_token_blanks(&walk->tokens);
    if (walk->tokens.end - walk->tokens.at == 1 && (*walk->tokens.at == '{' || *walk->tokens.at == '[')) { /* its items follow */
        walk->tokens.at++;
        return true;
    }
    return walk_value(walk, 1);
}

static bool walk_over(struct walk *walk) {
    const bool good = json_token_peek(&walk->tokens) == '"' ? walk_line_of_object(walk) : walk_value(walk, 0);
    if (!good) return false;
    json_token_blanks(&walk->tokens);
    if (json_token_peek(&walk->tokens) == ',') walk->tokens.at++; /* between the objects of an array that is spread over lines */
    json_token_blanks(&walk->tokens);
    return walk->tokens.at == walk->tokens.end;
}

/* ---- records ---- */

static bool is_blank(char c) { return c == ' ' || c == '\t'; }

bool json_record_begins(struct csn_str line, size_t *at) {
    size_t i = 0;
    while (i < line.len && is_blank(line.ptr[i])) i++;
    if (i == line.len) return false;
    *at = i;
    if (line.ptr[i] == '{' || line.ptr[i] == '"') return true;
    if (line.ptr[i] == '[') {
        for (i++; i < line.len && is_blank(line.ptr[i]);) i++;
        if (i < line.len && line.ptr[i] == '{') return true;
    }
    if (line.ptr[line.len - 1] != '}') return false;
    const char *found = memmem(line.ptr, line.len, "{\"", 2);
    if (!found) return false;
    *at = (size_t)(found - line.ptr);
    return true;
}

bool json_record_read(struct json_record *record, struct csn_str line, size_t begin, uint64_t wanted) {
    record->count = 0;
    record->origin = 0;
    const struct csn_str rest = { line.ptr + begin, line.len - begin };
    struct walk walk = { .record = record, .begin = rest.ptr, .tokens = { .at = rest.ptr, .end = rest.ptr + rest.len },
                         .line = line.ptr,
                         .wanted = wanted, .name = 1 };
    if (walk_over(&walk) && !record->no_memory) return true;
    record->count = 0;
    return false;
}

static bool has_several_lines(struct csn_str line, const struct record_text *text) {
    const char *from = line.ptr + text->at, *end = from + text->size, *newline = memmem(from, text->size, "\\n", 2);
    return newline && newline + 2 < end;
}

void json_record_keep(struct json_record *record, struct csn_str line, const struct text_source *source) {
    bool found = false;
    size_t kept = 0;
    for (size_t i = 0; i < record->count; i++) found |= record->origin == source->origin && record->texts[i].name == source->name;
    for (size_t i = 0, end; i < record->count; i = end) { /* texts of one name that follow each other: the items of an array */
        const uint64_t name = record->texts[i].name;
        bool may = false, is_long = false;
        for (end = i; end < record->count && record->texts[end].name == name; end++) {
            may |= record->texts[end].may_have_frames;
            is_long |= end > i || has_several_lines(line, &record->texts[end]);
        }
        const bool keeps = found ? name == source->name || (may && is_long) : may;
        for (size_t k = i; keeps && k < end; k++) record->texts[kept++] = record->texts[k];
    }
    record->count = kept;
}
