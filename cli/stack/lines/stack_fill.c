/* Writing lines again with the names of their frames. */
#include "stack/lines/stack_fill.h"

#include <string.h>

#include "ui/line_input.h"
#include "ui/path_text.h"

void fill_part(struct line_filler *f, size_t from, size_t to) {
    if (to > from) out_bytes(f->out, f->text.ptr + from, to - from);
}

void fill_ending(struct line_filler *f) { out_bytes(f->out, f->ending.ptr, f->ending.len); }

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

/* What the output has from `begin` on is added to the line at `to`. It is taken back where the line has it there already: the log was
 * filled in before. */
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

void fill_behind_line(struct line_filler *f) { fill_chain_at(f, f->text.len, " ", ""); }

void fill_line_in_brackets(struct line_filler *f) { fill_chain_at(f, f->at->fill_end, " (", ")"); }

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

void fill_line(struct stack_output *output, const struct stack_session *session, size_t frame,
               const struct stack_dialect *dialect, struct csn_str line, const struct line_frame *at, uint64_t *added) {
    struct csn_str text = log_line_text(line);
    const struct csn_stack_answer *answer = &session->answers[frame];
    struct line_filler f = { output, output->out, answer, text, { text.ptr + text.len, line.len - text.len }, at,
                             *added, false };
    const struct frame_symbol *symbol = frame_symbols_find(&session->frame_symbols, frame);
    if (symbol && symbol->same_name > 1) {
        fill_same_name(&f, symbol->same_name);
    } else if (symbol || !answer->frame_count) {
        fill_numbered(&f, 0, text.len);
        fill_ending(&f);
    } else {
        dialect->fill(&f);
        if (at->number_at < at->number_end && !f.kept) *added += answer->frame_count - 1;
        if (output->explain && answer->candidate_count > 1) fill_reasoning(&f, session, frame);
    }
}
