/* Writing lines again with the names of their frames. */
#include "stack/lines/stack_fill.h"

#include <string.h>

#include "stack/lines/line_scan.h"
#include "ui/line_input.h"
#include "ui/path_text.h"
#include "ui/text_bytes.h"

/* ---- lines in JSON ---- */

/* What dialects write goes through a buffer of its own, and from there into the string. */
struct json_fill {
    const struct json_line *line;
    struct json_writing writing;
    struct csn_str ending;    /* of the line, as it stands in the string */
    bool line_ended;          /* that is to be written, unless nothing follows and the string has none */
    struct out_buffer buffer;
};

static void put_line_ending(struct json_fill *json) {
    static const struct csn_str newline = { "\n", 1 };
    if (!json->line_ended) return;
    json->line_ended = false;
    if (json->ending.len) json_put_raw(&json->writing, json->ending);
    else json_put_text(&json->writing, newline);
}

/* The sink of the buffer. */
static bool put_new_text(void *context, const char *bytes, size_t size) {
    struct json_fill *json = context;
    put_line_ending(json);
    json_put_text(&json->writing, (struct csn_str){ bytes, size });
    return true;
}

static void put_old_text(struct json_fill *json, size_t from, size_t to) {
    const struct json_line *line = json->line;
    out_flush(&json->buffer);
    put_line_ending(json);
    const size_t begin = json_raw_size(line->code, line->raw, from), end = json_raw_size(line->code, line->raw, to);
    json_put_raw(&json->writing, (struct csn_str){ line->raw.ptr + begin, end - begin });
}

static void end_json_line(struct json_fill *json) {
    out_flush(&json->buffer);
    put_line_ending(json);
    json->line_ended = true;
}

/* ---- for dialects ---- */

void fill_part(struct line_filler *f, size_t from, size_t to) {
    if (f->ended) out_char(f->out, '\n');
    f->ended = false;
    if (to <= from) return;
    if (f->json) put_old_text(f->json, from, to);
    else out_bytes(f->out, f->text.ptr + from, to - from);
}

void fill_ending(struct line_filler *f) {
    if (f->json) end_json_line(f->json);
    else out_bytes(f->out, f->ending.ptr, f->ending.len);
    f->ended = !f->json && !f->ending.len;
}

void fill_rest_of_line(struct line_filler *f, uint32_t k) {
    if (k + 1 >= f->answer->frame_count) fill_part(f, f->at->fill_end, f->text.len);
    fill_ending(f);
}

void fill_numbered(struct line_filler *f, uint32_t k, size_t to) {
    const struct line_frame *at = f->at;
    if (at->number_at == at->number_end || f->added + k == 0) {
        fill_part(f, 0, to);
        return;
    }
    fill_part(f, 0, at->number_at);
    out_decimal(f->out, at->number + f->added + k);
    fill_part(f, at->number_end, to);
}

void fill_numbered_line(struct line_filler *f) {
    f->kept = true;
    fill_numbered(f, 0, f->text.len);
    fill_ending(f);
}

void fill_file(struct line_filler *f, uint32_t k, bool base_only) {
    const struct csn_frame *frame = &f->answer->frames[k];
    if (base_only) out_safe(f->out, frame->base);
    else path_put(f->out, frame->directory, frame->base);
    path_put_line(f->out, frame->line);
}

void fill_name(struct line_filler *f, uint32_t k) {
    enum { SHOWN = 8 };
    const struct csn_stack_answer *answer = f->answer;
    bool own = k + 1 == answer->frame_count;
    if (!own || answer->candidate_count < 2 || answer->chosen != CSN_NOT_CHOSEN) {
        out_safe(f->out, name_text(f->output->names, answer->frames[k].name));
        return;
    }
    for (uint32_t i = 0; i < answer->remaining_count && i < SHOWN; i++) {
        if (i) out_char(f->out, '|');
        uint32_t name = answer->remaining ? answer->remaining[i] : i;
        out_safe(f->out, name_text(f->output->names, answer->candidates[name]));
    }
    if (answer->remaining_count > SHOWN) out_text(f->out, "|...");
}

bool fill_is_expanded(const struct line_filler *f, const char *before) {
    const uint32_t own = f->answer->frame_count - 1;
    const struct csn_str name = f->answer->frames[0].name, outer = f->answer->frames[own].name;
    struct line_scan s = { f->text, f->at->fill_at };
    if (!own || (name.len == outer.len && memcmp(name.ptr, outer.ptr, name.len) == 0)) return false;
    if (!scan_text(&s, before)) return false;
    const struct csn_str inner = name_text(f->output->names, name), rest = scan_rest(&s);
    if (rest.len < inner.len || memcmp(rest.ptr, inner.ptr, inner.len) != 0) return false;
    return rest.len == inner.len || rest.ptr[inner.len] == ' ';
}

bool fill_has_file(const struct line_filler *f, uint32_t k) {
    const struct csn_stack_answer *answer = f->answer;
    if (answer->candidate_count > 1 && answer->chosen == CSN_NOT_CHOSEN) return false;
    return answer->frames[k].base.len > 0;
}

static void fill_chain(struct line_filler *f) {
    for (uint32_t k = 0; k < f->answer->frame_count; k++) {
        if (k) out_text(f->out, ", inlined into ");
        fill_name(f, k);
        if (!fill_has_file(f, k)) continue;
        out_text(f->out, " at ");
        fill_file(f, k, false);
    }
}

/* What the output has from `begin` on is added to the line at `to`. It is taken back where the line has it there
 * already: the log was filled in before. */
static void write_once(struct line_filler *f, size_t to, size_t begin) {
    const char *added = f->out->bytes + begin, *text = f->text.ptr;
    const size_t len = f->out->used - begin;
    const bool before = len <= to && memcmp(text + to - len, added, len) == 0;
    const bool behind = len <= f->text.len - to && memcmp(text + to, added, len) == 0;
    if (before || behind) f->out->used = begin;
}

/* The line with the chain of calls at `at`, between `open` and `close`. */
static void fill_chain_at(struct line_filler *f, size_t at, const char *open, const char *close) {
    fill_part(f, 0, at);
    if (f->answer->frame_count) {
        if (f->text.len > sizeof(f->out->bytes) - f->out->used) out_flush(f->out);
        const uint64_t flushed = f->out->flushed;
        const size_t begin = f->out->used;
        out_text(f->out, open);
        fill_chain(f);
        out_text(f->out, close);
        if (f->out->flushed == flushed) write_once(f, at, begin); /* else it is longer than the line, or than a buffer */
    }
    fill_part(f, at, f->text.len);
    fill_ending(f);
}

void fill_nothing(struct line_filler *f) {
    fill_part(f, 0, f->text.len);
    fill_ending(f);
}

void fill_behind_line(struct line_filler *f) { fill_chain_at(f, f->text.len, " ", ""); }

void fill_line_in_brackets(struct line_filler *f) { fill_chain_at(f, f->at->fill_end, " (", ")"); }

/* "... at /src/shapes.h:6)", of which the bracket is the last byte. */
static bool ends_in_source(struct csn_str line) {
    size_t at = line.len - 1;
    if (at && line.ptr[at - 1] == '?') at--;
    else while (at && is_digit(line.ptr[at - 1])) at--;
    return at && at + 1 < line.len && line.ptr[at - 1] == ':';
}

size_t unfilled_size(struct csn_str line) {
    size_t depth = 0, found;
    if (!line.len || line.ptr[line.len - 1] != ')' || !ends_in_source(line)) return line.len;
    for (size_t at = line.len; at > 2; at--) { /* something stands before it */
        if (line.ptr[at - 1] == ')') depth++;
        if (line.ptr[at - 1] != '(' || --depth) continue;
        const struct line_scan bracket = { line, at };
        const bool is_filled = line.ptr[at - 2] == ' ' && scan_find(&bracket, " at ", &found);
        return is_filled ? at - 2 : line.len;
    }
    return line.len;
}

/* ---- any frame ---- */

static void fill_same_name(struct line_filler *f, uint32_t same_name) {
    fill_numbered(f, 0, f->at->fill_at);
    out_text(f->out, " (one of ");
    out_decimal(f->out, same_name);
    out_text(f->out, " functions of this name)");
    fill_part(f, f->at->fill_at, f->text.len);
    fill_ending(f);
}

static void fill_reasoning(struct line_filler *f, const struct stack_session *session, size_t frame) {
    size_t indent = 0;
    while (indent < f->text.len && (f->text.ptr[indent] == ' ' || f->text.ptr[indent] == '\t')) indent++;
    fill_part(f, 0, indent);
    out_text(f->out, "    ");
    output_reasoning(f->output, session, frame);
    out_char(f->out, '\n');
}

static void fill_frame(struct line_filler *f, const struct stack_session *session, size_t frame,
                       const struct stack_dialect *dialect, uint64_t *added) {
    const struct frame_symbol *symbol = f->answer ? frame_symbols_find(&session->frame_symbols, frame) : NULL;
    if (!f->answer) {
        fill_numbered_line(f);
    } else if (symbol && symbol->same_name > 1) {
        fill_same_name(f, symbol->same_name);
    } else if (symbol || !f->answer->frame_count || f->at->is_filled) {
        fill_numbered_line(f);
    } else {
        dialect->fill(f);
        if (f->at->number_at < f->at->number_end && !f->kept) *added += f->answer->frame_count - 1;
        const bool is_end = !f->at->ends_below; /* what explains a frame of several lines follows the last one */
        if (f->output->explain && is_end && f->answer->candidate_count > 1) fill_reasoning(f, session, frame);
    }
}

static const struct csn_stack_answer *answer_of(const struct stack_session *session, size_t frame) {
    return session ? &session->answers[frame] : NULL;
}

void fill_line(struct stack_output *output, const struct stack_session *session, size_t frame,
               const struct stack_dialect *dialect, struct csn_str line, const struct line_frame *at, uint64_t *added) {
    struct csn_str text = log_line_text(line);
    struct line_filler f = { .output = output, .out = output->out, .answer = answer_of(session, frame), .text = text,
                             .ending = { text.ptr + text.len, line.len - text.len }, .at = at, .added = *added };
    fill_frame(&f, session, frame, dialect, added);
}

void fill_line_in_json(struct stack_output *output, const struct stack_session *session, size_t frame,
                       const struct stack_dialect *dialect, struct csn_str text, const struct json_line *line,
                       const struct line_frame *at, uint64_t *added) {
    struct json_fill json; /* set but for the buffer's bytes */
    const struct csn_str bare = log_line_text(text);
    const size_t end = json_raw_size(line->code, line->raw, bare.len);
    json.line = line;
    json.writing = json_writing_on(line->code, output->out, line->continues);
    json.ending = (struct csn_str){ line->raw.ptr + end, line->raw.len - end };
    json.line_ended = false;
    out_init(&json.buffer, -1);
    out_set_sink(&json.buffer, put_new_text, &json);
    struct line_filler f = { .output = output, .out = &json.buffer, .answer = answer_of(session, frame), .text = bare,
                             .ending = { bare.ptr + bare.len, text.len - bare.len }, .at = at, .added = *added, .json = &json };
    output->out = &json.buffer;
    fill_frame(&f, session, frame, dialect, added);
    out_flush(&json.buffer);
    output->out = json.writing.out;
    if (json.line_ended && json.ending.len) put_line_ending(&json);
}
