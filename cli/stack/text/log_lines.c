/* Only records that may have frames are taken apart; what they are is decided by a look at their bytes. */
#include "stack/text/log_lines.h"

#include <string.h>

#include "stack/records/json_gate.h"
#include "ui/line_input.h"

void log_lines_deinit(struct log_lines *lines) {
    text_buffer_deinit(&lines->text);
    json_record_deinit(&lines->record);
}

struct log_line log_line_take(struct log_line *line, size_t size) {
    struct log_line part = *line;
    const bool is_last = size == line->text.len;
    part.text.len = size;
    if (!is_last && line->code.count) {
        const struct csn_str raw = { line->raw.ptr + line->before, line->raw.len - line->before - line->after };
        part.raw.len = line->before + json_raw_size(&line->code, raw, size);
        part.after = 0;
    } else if (!is_last) {
        part.raw.len = size;
    }
    line->raw = (struct csn_str){ line->raw.ptr + part.raw.len, line->raw.len - part.raw.len };
    line->text = (struct csn_str){ line->text.ptr + size, line->text.len - size };
    line->before = 0;
    line->continues = true;
    return part;
}

/* ---- the lines of a record ---- */

/* Up to a newline or the end of the string. False: no memory. */
static bool read_line_of_text(struct log_lines *lines) {
    int c = 0;
    lines->text.count = 0;
    while (c != '\n' && (c = json_read_byte(&lines->reader)) >= 0) {
        const char byte = (char)c;
        if (!text_buffer_add(&lines->text, (struct csn_str){ &byte, 1 })) return false;
    }
    return true;
}

static bool is_text_over(const struct log_lines *lines) {
    struct json_reader ahead = lines->reader;
    return json_read_byte(&ahead) < 0;
}

bool log_lines_next(struct log_lines *lines, struct log_line *out) {
    *out = lines->whole;
    if (lines->has_whole) {
        lines->has_whole = false;
        return true;
    }
    if (!lines->inside && lines->next == lines->record.count) return false;
    if (!lines->inside) lines->next++;
    const struct record_text *text = &lines->record.texts[lines->next - 1];
    const char *begin = lines->line.ptr + lines->done, *end = lines->line.ptr + text->at + text->size;
    if (!lines->inside) lines->reader = json_reader_on(&text->code, (struct csn_str){ lines->line.ptr + text->at, text->size });
    *out = (struct log_line){ .code = text->code, .is_piece = lines->whole.is_piece,
                              .before = lines->inside ? 0 : text->at - lines->done, .continues = lines->inside,
                              .source = { text->name, lines->record.origin } };
    if (!read_line_of_text(lines)) {
        lines->no_memory = true;
        return false;
    }
    lines->inside = !is_text_over(lines);
    if (!lines->inside) lines->reader.at = end;
    lines->done = (size_t)(lines->reader.at - lines->line.ptr);
    if (!lines->inside && lines->next == lines->record.count) out->after = lines->line.len - lines->done;
    out->raw = (struct csn_str){ begin, (size_t)(lines->reader.at - begin) + out->after };
    out->text = (struct csn_str){ lines->text.bytes ? lines->text.bytes : "", lines->text.count };
    return true;
}

/* ---- records ---- */

/* What stands before a record that follows other text may be a frame. */
static bool is_blank_before(struct csn_str line, size_t at) {
    while (at && (line.ptr[at - 1] == ' ' || line.ptr[at - 1] == '\t')) at--;
    return !at;
}

/* Where a record that is spread over lines begins or ends, or a part of it. */
static bool is_brackets(struct csn_str line) {
    bool has_bracket = false;
    for (size_t i = 0; i < line.len; i++) {
        if (!memchr("{}[], \t", line.ptr[i], 7)) return false;
        has_bracket |= memchr("{}[]", line.ptr[i], 4) != NULL;
    }
    return has_bracket;
}

bool log_lines_begin(struct log_lines *lines, struct csn_str line, const struct text_source *wanted, bool bypass) {
    const struct csn_str bare = line_text(line);
    size_t begin;
    lines->line = line;
    lines->whole = plain_log_line(line);
    lines->has_whole = true;
    lines->inside = lines->no_memory = false;
    lines->next = lines->done = lines->record.count = 0;
    if (wanted->name && is_brackets(bare)) {
        lines->whole.is_data = lines->whole.is_piece = true;
        return true;
    }
    if (!json_record_begins(bare, &begin)) return true;
    const bool stands_alone = is_blank_before(bare, begin);
    if (!wanted->name && !json_may_have_frames(bare)) {
        lines->whole.is_data = bypass && stands_alone && bare.ptr[begin] == '{';
        return true;
    }
    if (!json_record_read(&lines->record, bare, begin, wanted->name)) return !lines->record.no_memory;
    json_record_keep(&lines->record, bare, wanted);
    lines->has_whole = !lines->record.count;
    lines->whole.is_data = stands_alone;
    lines->whole.is_piece = bare.ptr[begin] == '"';
    lines->whole.source.origin = lines->record.origin;
    return true;
}
