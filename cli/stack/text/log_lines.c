/* Only records that may have frames are taken apart; what they are is decided by a look at their bytes. */
#include "stack/text/log_lines.h"

#include <stdlib.h>

#include "stack/records/json_gate.h"
#include "ui/line_input.h"

void log_lines_deinit(struct log_lines *lines) {
    free(lines->items);
    text_buffer_deinit(&lines->text);
    json_record_deinit(&lines->record);
    *lines = (struct log_lines){ .count = 0 };
}

struct log_line log_line_part(const struct log_line *line, size_t from, size_t to) {
    struct log_line part = *line;
    part.text = (struct csn_str){ line->text.ptr + from, to - from };
    if (!line->code.count) {
        part.raw = part.text;
        return part;
    }
    const struct csn_str raw = { line->raw.ptr + line->before, line->raw.len - line->before - line->after };
    const size_t begin = json_raw_size(&line->code, raw, from), end = to == line->text.len ? raw.len : json_raw_size(&line->code, raw, to);
    part.before = from ? 0 : line->before;
    part.after = to == line->text.len ? line->after : 0;
    part.continues = line->continues || from;
    part.raw = (struct csn_str){ raw.ptr + begin - part.before, end - begin + part.before + part.after };
    return part;
}

static bool add_item(struct log_lines *lines, const struct log_line *line) {
    if (!reserve_items(&lines->items, &lines->capacity, lines->count + 1, sizeof(*lines->items))) return false;
    lines->items[lines->count++] = *line;
    return true;
}

/* The lines of one string. Where their texts are is known when all of them have been read. *done: how far the log's line is covered. */
static bool split_text(struct log_lines *lines, struct csn_str line, const struct record_text *text, size_t *done) {
    struct json_reader reader = json_reader_on(&text->code, (struct csn_str){ line.ptr + text->at, text->size });
    struct log_line item = { .code = text->code, .before = text->at - *done, .source = { text->name, lines->record.origin } };
    const char *end = line.ptr + text->at + text->size;
    size_t from = lines->text.count;
    for (;;) {
        const int c = json_read_byte(&reader);
        const char byte = (char)c;
        if (c >= 0 && !text_buffer_add(&lines->text, (struct csn_str){ &byte, 1 })) return false;
        if (c >= 0 && byte != '\n') continue;
        if (lines->text.count == from && item.continues) return true; /* an empty string is an empty line */
        if (c < 0) reader.at = end;
        item.raw = (struct csn_str){ line.ptr + *done, (size_t)(reader.at - line.ptr) - *done };
        item.text = (struct csn_str){ NULL, lines->text.count - from };
        if (!add_item(lines, &item)) return false;
        *done += item.raw.len;
        from = lines->text.count;
        item.before = 0;
        item.continues = true;
    }
}

static bool split_record(struct log_lines *lines, struct csn_str line) {
    size_t done = 0, at = 0;
    for (size_t i = 0; i < lines->record.count; i++)
        if (!split_text(lines, line, &lines->record.texts[i], &done)) return false;
    const char *text = lines->text.bytes ? lines->text.bytes : "";
    for (size_t i = 0; i < lines->count; i++) {
        lines->items[i].text.ptr = text + at;
        at += lines->items[i].text.len;
    }
    if (!lines->count) return true;
    struct log_line *last = &lines->items[lines->count - 1];
    last->after = line.len - done;
    last->raw.len += last->after;
    return true;
}

/* What stands before a record that follows other text may be a frame. */
static bool is_blank_before(struct csn_str line, size_t at) {
    while (at && (line.ptr[at - 1] == ' ' || line.ptr[at - 1] == '\t')) at--;
    return !at;
}

bool log_lines_split(struct log_lines *lines, struct csn_str line, const struct text_source *wanted, bool bypass) {
    struct log_line whole = plain_log_line(line);
    const struct csn_str bare = line_text(line);
    size_t begin;
    lines->count = lines->text.count = 0;
    if (!json_record_begins(bare, &begin)) return add_item(lines, &whole);
    const bool may = json_may_have_frames(bare);
    if (!may && !wanted->name) {
        whole.is_data = bypass && bare.ptr[begin] == '{';
        return add_item(lines, &whole);
    }
    if (json_record_read(&lines->record, bare, begin, wanted->name)) {
        json_record_keep(&lines->record, bare, wanted);
        if (!split_record(lines, line)) return false;
        whole.is_data = is_blank_before(bare, begin);
        whole.source.origin = lines->record.origin;
    }
    if (lines->record.no_memory) return false;
    return lines->count || add_item(lines, &whole);
}
