/* How each dialect writes a name. */
#include "stack/stack_fill.h"

#include <string.h>

#include "ui/line_input.h"
#include "ui/path_text.h"

struct filler {
    struct stack_output *output;
    struct out_buffer *out;
    const struct csn_stack_answer *answer;
    struct csn_str text, ending;  /* the line, and what ends it */
    const struct line_frame *at;
};

static void put_part(struct filler *f, size_t from, size_t to) {
    if (to > from) out_bytes(f->out, f->text.ptr + from, to - from);
}

static void put_file(struct filler *f, const struct csn_frame *frame, bool base_only) {
    if (!base_only) {
        out_safe(f->out, frame->directory);
        char separator = path_separator(frame->directory, frame->base);
        if (separator) out_char(f->out, separator);
    }
    out_safe(f->out, frame->base);
    out_char(f->out, ':');
    if (frame->line) out_decimal(f->out, frame->line);
    else out_char(f->out, '?');
}

/* The function of a frame; where nothing chose among several, all that remain. */
static void put_name(struct filler *f, uint32_t k) {
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

/* A place that another function's lines would give is none. */
static bool has_file(const struct filler *f, uint32_t k) {
    const struct csn_stack_answer *answer = f->answer;
    if (answer->candidate_count > 1 && answer->chosen == CSN_NOT_CHOSEN) return false;
    return answer->frames[k].base.len > 0;
}

static void fill_plain(struct filler *f) {
    put_part(f, 0, f->text.len);
    for (uint32_t k = 0; k < f->answer->frame_count; k++) {
        out_text(f->out, k ? ", inlined into " : " ");
        put_name(f, k);
        if (has_file(f, k)) {
            out_text(f->out, " at ");
            put_file(f, &f->answer->frames[k], false);
        }
    }
    out_bytes(f->out, f->ending.ptr, f->ending.len);
}

/* " in main /src/main.cc:12"; an inlined call is a line of its own. Without a line, the module stays. */
static void fill_sanitizer(struct filler *f) {
    for (uint32_t k = 0; k < f->answer->frame_count; k++) {
        put_part(f, 0, f->at->fill_at);
        out_text(f->out, f->at->pc ? " in " : " ");
        put_name(f, k);
        out_char(f->out, ' ');
        if (has_file(f, k)) put_file(f, &f->answer->frames[k], false);
        if (!has_file(f, k) || !f->at->pc) {
            /* ThreadSanitizer always names the module. */
            size_t from = f->at->module.len ? (size_t)(f->at->module.ptr - f->text.ptr) - 1 : f->text.len;
            if (has_file(f, k)) out_char(f->out, ' ');
            put_part(f, from, f->text.len);
        }
        out_bytes(f->out, f->ending.ptr, f->ending.len);
    }
}

/* As perf writes them: inlined calls first, "(inlined)" for their image. */
static void fill_perf(struct filler *f) {
    for (uint32_t k = 0; k + 1 < f->answer->frame_count; k++) {
        put_part(f, 0, f->at->fill_at);
        put_name(f, k);
        out_text(f->out, " (inlined)");
        out_bytes(f->out, f->ending.ptr, f->ending.len);
    }
    uint32_t own = f->answer->frame_count - 1;
    put_part(f, 0, f->at->fill_at);
    put_name(f, own);
    out_text(f->out, "+");
    out_hex(f->out, f->answer->frames[own].offset);
    put_part(f, f->at->fill_end, f->text.len);
    out_bytes(f->out, f->ending.ptr, f->ending.len);
}

/* " (kernel/sched.c:12, inlined into kernel/core.c:40)" behind the offset. */
static void fill_kernel(struct filler *f) {
    bool open = false;
    put_part(f, 0, f->at->fill_at);
    for (uint32_t k = 0; k < f->answer->frame_count; k++) {
        if (!has_file(f, k)) continue;
        out_text(f->out, open ? ", inlined into " : " (");
        put_file(f, &f->answer->frames[k], false);
        open = true;
    }
    if (open) out_char(f->out, ')');
    put_part(f, f->at->fill_at, f->text.len);
    out_bytes(f->out, f->ending.ptr, f->ending.len);
}

/* "area + 24 (shapes.c:6)"; an inlined call is a line of its own. */
static void fill_crash(struct filler *f) {
    for (uint32_t k = 0; k < f->answer->frame_count; k++) {
        put_part(f, 0, f->at->fill_at);
        put_name(f, k);
        out_text(f->out, " + ");
        out_decimal(f->out, f->answer->frames[k].offset);
        if (has_file(f, k)) {
            out_text(f->out, " (");
            put_file(f, &f->answer->frames[k], true);
            out_char(f->out, ')');
        }
        if (f->answer->frames[k].flags & CSN_FRAME_INLINED) out_text(f->out, " [inlined]");
        out_bytes(f->out, f->ending.ptr, f->ending.len);
    }
}

static void put_same_name(struct filler *f, uint32_t same_name) {
    put_part(f, 0, f->at->fill_at);
    out_text(f->out, " (one of ");
    out_decimal(f->out, same_name);
    out_text(f->out, " functions of this name)");
    put_part(f, f->at->fill_at, f->text.len);
    out_bytes(f->out, f->ending.ptr, f->ending.len);
}

static void put_reasoning(struct filler *f, const struct stack_session *session, size_t frame) {
    size_t indent = 0;
    while (indent < f->text.len && (f->text.ptr[indent] == ' ' || f->text.ptr[indent] == '\t')) indent++;
    put_part(f, 0, indent);
    out_text(f->out, "    ");
    output_reasoning(f->output, session, frame);
    out_char(f->out, '\n');
}

void fill_line(struct stack_output *output, const struct stack_session *session, size_t frame, enum fill_style style,
               struct csn_str line, const struct line_frame *at) {
    struct csn_str text = line_text(line);
    const struct csn_stack_answer *answer = &session->answers[frame];
    struct filler f = { output, output->out, answer, text, { text.ptr + text.len, line.len - text.len }, at };
    bool unplaced = session->same_name[frame] != PLACED;
    if (unplaced && session->same_name[frame] > 1) {
        put_same_name(&f, session->same_name[frame]);
        return;
    }
    if (unplaced || !answer->frame_count) {
        out_bytes(output->out, line.ptr, line.len);
        return;
    }
    switch (style) {
    case FILL_PLAIN:
    case FILL_GO: fill_plain(&f); break;
    case FILL_PERF: fill_perf(&f); break;
    case FILL_SANITIZER: fill_sanitizer(&f); break;
    case FILL_KERNEL: fill_kernel(&f); break;
    case FILL_CRASH: fill_crash(&f); break;
    }
    if (output->explain && answer->candidate_count > 1) put_reasoning(&f, session, frame);
}
