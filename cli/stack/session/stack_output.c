/* Writing answered stacks. */
#include "stack/session/stack_output.h"

#include <string.h>

static bool is_merged(const struct csn_stack_answer *answer) { return answer->candidate_count > 1; }

static struct csn_str remaining_name(const struct csn_stack_answer *answer, uint32_t i) {
    return answer->candidates[answer->remaining ? answer->remaining[i] : i];
}

static const char *module_name(const struct stack_session *session, uint32_t module) {
    if (module == NO_MODULE || module >= session->modules->count) return NULL;
    const struct stack_module *m = &session->modules->items[module];
    return m->name ? m->name : m->index_path;
}

const char *output_failure(const struct csn_stack_answer *answer) {
    if (answer->status < 0) return answer->error ? answer->error : csn_status_name(answer->status);
    return csn_reason_text(answer->reason);
}

/* ---- texts that come again ---- */

static struct text_key key_of(const struct csn_stack_answer *answer) {
    return (struct text_key){ answer->frames, answer->addr, answer->module };
}

bool output_piece_begin(struct stack_output *output, const struct csn_stack_answer *answer, struct output_piece *out,
                        uint32_t *mark) {
    *out = (struct output_piece){ key_of(answer), output->out->used, output->out->flushed };
    if (!answer->frame_count) return false;
    const struct kept_text *kept = text_cache_find(&output->kept, &out->key);
    if (!kept) return false;
    out_bytes(output->out, kept_text_bytes(kept), kept->size);
    *mark = kept->mark;
    return true;
}

void output_piece_end(struct stack_output *output, const struct output_piece *piece, uint32_t mark) {
    const struct out_buffer *out = output->out;
    if (!piece->key.frames || out->flushed != piece->flushed) return;
    text_cache_keep(&output->kept, &piece->key, out->bytes + piece->begin, out->used - piece->begin, mark);
}

/* A table of texts does not fit into the processor's caches: what comes next is asked for early. */
static void expect_pieces(const struct stack_output *output, const struct stack_session *session, size_t frame) {
    enum { AHEAD = 16, TEXT_AHEAD = 8 };
    size_t first = frame ? frame + AHEAD : 0, text = frame + TEXT_AHEAD;
    for (size_t i = first; i <= frame + AHEAD && i < session->frame_count; i++) {
        const struct text_key key = key_of(&session->answers[i]);
        text_cache_expect(&output->kept, &key);
    }
    if (text >= session->frame_count) return;
    const struct text_key key = key_of(&session->answers[text]);
    text_cache_expect_text(&output->kept, &key);
}

/* ---- words ---- */

static const char *choice_text(const struct csn_stack_answer *answer) {
    if (answer->evidence_tail_calls) return "by the caller and tail calls";
    switch (answer->choice) {
    case CSN_CHOICE_CALLER: return "by the caller";
    case CSN_CHOICE_OUTER: return "by an outer call";
    case CSN_CHOICE_PATTERN: return "by the caller's pattern";
    default: return "the only one";
    }
}

static const char *confidence_text(uint32_t confidence) {
    switch (confidence) {
    case CSN_CONFIDENCE_LOW: return "low";
    case CSN_CONFIDENCE_MEDIUM: return "medium";
    case CSN_CONFIDENCE_HIGH: return "high";
    case CSN_CONFIDENCE_CERTAIN: return "certain";
    default: return "none";
    }
}

/* Why a frame that its text only names was not found. */
static void put_symbol_reason(struct out_buffer *out, const struct frame_symbol *symbol) {
    if (symbol->is_elsewhere) {
        out_text(out, "the index has another function there");
    } else if (!symbol->has_index) {
        out_text(out, csn_reason_text(CSN_REASON_NO_INDEX));
    } else if (!symbol->same_name) {
        out_text(out, "the index has no function of this name");
    } else {
        out_text(out, "the index has ");
        out_decimal(out, symbol->same_name);
        out_text(out, " functions of this name");
    }
}

/* It may be no frame at all, and calls nobody. */
static bool is_unreliable(const struct stack_session *session, size_t frame) {
    return session->frames[frame].flags & CSN_STACK_UNRELIABLE;
}

/* ---- text ---- */

enum { NAMES_SHOWN = 8 };
static const char unreliable_mark[] = " (unreliable)";

static void put_name(struct stack_output *output, struct csn_str name) {
    if (name.len) out_safe(output->out, name_text(output->names, name));
    else out_text(output->out, "(no name)");
}

static void put_remaining(struct stack_output *output, const struct csn_stack_answer *answer, const char *between) {
    for (uint32_t i = 0; i < answer->remaining_count && i < NAMES_SHOWN; i++) {
        if (i) out_text(output->out, between);
        put_name(output, remaining_name(answer, i));
    }
    if (answer->remaining_count <= NAMES_SHOWN) return;
    out_text(output->out, between);
    out_decimal(output->out, answer->remaining_count - NAMES_SHOWN);
    out_text(output->out, " more");
}

void output_certainty(struct stack_output *output, const struct csn_stack_answer *answer) {
    if (!is_merged(answer)) return;
    out_text(output->out, " [");
    if (answer->chosen != CSN_NOT_CHOSEN) {
        out_text(output->out, "1 of ");
        out_decimal(output->out, answer->candidate_count);
        out_text(output->out, ", ");
        out_text(output->out, choice_text(answer));
    } else {
        out_text(output->out, "undecided: ");
        put_remaining(output, answer, " or ");
    }
    out_char(output->out, ']');
}

static void put_notes(struct stack_output *output, const struct csn_stack_answer *answer) {
    bool first = true;
    for (uint32_t bit = 1; bit && bit <= answer->notes; bit <<= 1) {
        if (!(answer->notes & bit)) continue;
        out_text(output->out, first ? "" : "; ");
        out_text(output->out, csn_stack_note_text(bit));
        first = false;
    }
}

static void put_evidence(struct stack_output *output, const struct stack_session *session,
                         const struct csn_stack_answer *answer) {
    const struct csn_stack_answer *caller = &session->answers[answer->evidence_frame];
    struct csn_str name = caller->chosen != CSN_NOT_CHOSEN ? caller->candidates[caller->chosen]
                          : caller->candidate_count ? caller->candidates[0] : (struct csn_str){ "?", 1 };
    out_text(output->out, "frame ");
    out_decimal(output->out, answer->evidence_frame);
    out_text(output->out, " (");
    put_name(output, name);
    out_text(output->out, ") has a call site for return address ");
    out_hex(output->out, caller->addr);
    out_text(output->out, " with the pattern ");
    out_safe(output->out, answer->evidence_pattern);
    if (!answer->evidence_tail_calls) return;
    out_text(output->out, ", which leads on by ");
    out_decimal(output->out, answer->evidence_tail_calls);
    out_text(output->out, answer->evidence_tail_calls == 1 ? " tail call" : " tail calls");
}

void output_reasoning(struct stack_output *output, const struct stack_session *session, size_t frame) {
    const struct csn_stack_answer *answer = &session->answers[frame];
    if (!is_merged(answer)) return;
    out_decimal(output->out, answer->candidate_count);
    out_text(output->out, " functions share this code; ");
    if (answer->evidence_frame != UINT32_MAX && answer->evidence_frame < session->frame_count)
        put_evidence(output, session, answer);
    else
        put_notes(output, answer);
    if (answer->chosen != CSN_NOT_CHOSEN) {
        out_text(output->out, ": ");
        put_name(output, answer->candidates[answer->chosen]);
        out_text(output->out, ", confidence ");
        out_text(output->out, confidence_text(answer->confidence));
    } else {
        out_text(output->out, "; ");
        out_decimal(output->out, answer->remaining_count);
        out_text(output->out, " remain: ");
        put_remaining(output, answer, ", ");
    }
}

/* Returns how far the lines of the frame are indented. */
static size_t put_number(struct out_buffer *out, size_t frame) {
    size_t digits = 1;
    for (size_t rest = frame / 10; rest; rest /= 10) digits++;
    out_char(out, '#');
    out_decimal(out, frame);
    if (digits < 3) out_spaces(out, 3 - digits);
    out_char(out, ' ');
    return digits < 3 ? 5 : digits + 2;
}

static void put_place(struct stack_output *output, const struct stack_session *session,
                      const struct csn_stack_answer *answer) {
    const char *module = module_name(session, answer->module);
    if (module) {
        struct csn_str base = base_name_of((struct csn_str){ module, strlen(module) });
        out_safe(output->out, base);
        out_char(output->out, ' ');
    }
    out_hex(output->out, answer->addr);
    out_text(output->out, ": ");
}

/* From the module to the end of the last line, without its newline. */
static void put_text_frames(struct stack_output *output, const struct stack_session *session,
                            const struct csn_stack_answer *answer, size_t indent) {
    enum { USUAL_INDENT = 5 };
    struct output_piece piece;
    uint32_t mark;
    bool usual = indent == USUAL_INDENT || answer->frame_count < 2;
    if (usual && output_piece_begin(output, answer, &piece, &mark)) return;
    put_place(output, session, answer);
    for (uint32_t i = 0; i < answer->frame_count; i++) {
        if (i) out_char(output->out, '\n');
        if (i) out_spaces(output->out, indent + 2);
        frame_put_text(&answer->frames[i], output->names, output->out);
    }
    if (usual && answer->frame_count) output_piece_end(output, &piece, 0);
}

static void put_text_symbol(struct stack_output *output, const struct stack_session *session, size_t frame,
                            const struct frame_symbol *symbol) {
    const char *module = module_name(session, symbol->module);
    if (module) out_safe(output->out, base_name_of((struct csn_str){ module, strlen(module) }));
    if (module) out_char(output->out, ' ');
    if (symbol->pc) out_hex(output->out, symbol->pc);
    if (symbol->pc) out_char(output->out, ' ');
    put_name(output, frame_symbol_name(&session->frame_symbols, symbol));
    if (!symbol->is_offset_unknown) {
        out_char(output->out, '+');
        out_hex(output->out, symbol->offset);
    }
    out_text(output->out, ": not found: ");
    put_symbol_reason(output->out, symbol);
    if (is_unreliable(session, frame)) out_text(output->out, unreliable_mark);
    out_char(output->out, '\n');
}

static void put_text_frame(struct stack_output *output, const struct stack_session *session, size_t frame) {
    const struct csn_stack_answer *answer = &session->answers[frame];
    const struct frame_symbol *symbol = frame_symbols_find(&session->frame_symbols, frame);
    struct out_buffer *out = output->out;
    size_t indent = put_number(out, frame);
    if (symbol) {
        put_text_symbol(output, session, frame, symbol);
        return;
    }
    put_text_frames(output, session, answer, indent);
    if (!answer->frame_count) {
        out_text(out, answer->status < 0 ? "error: " : "not found: ");
        out_text(out, output_failure(answer));
    } else {
        output_certainty(output, answer);
    }
    if (is_unreliable(session, frame)) out_text(out, unreliable_mark);
    out_char(out, '\n');
    if (!answer->frame_count || !output->explain || !is_merged(answer)) return;
    out_spaces(out, indent + 2);
    output_reasoning(output, session, frame);
    out_char(out, '\n');
}

/* ---- JSON ---- */

static void put_json_names(struct stack_output *output, struct json_out *json, const char *key,
                           const struct csn_stack_answer *answer, bool remaining) {
    uint32_t count = remaining ? answer->remaining_count : answer->candidate_count;
    json_key(json, key);
    json_begin_array(json);
    for (uint32_t i = 0; i < count; i++)
        json_str(json, name_text(output->names, remaining ? remaining_name(answer, i) : answer->candidates[i]));
    json_end_array(json);
}

static void put_json_notes(struct json_out *json, const struct csn_stack_answer *answer) {
    json_key(json, "notes");
    json_begin_array(json);
    for (uint32_t bit = 1; bit && bit <= answer->notes; bit <<= 1)
        if (answer->notes & bit) json_text(json, csn_stack_note_text(bit));
    json_end_array(json);
}

/* Ends the object that put_json_place() began. */
static void put_json_choice(struct stack_output *output, struct json_out *json, const struct csn_stack_answer *answer) {
    bool chosen = answer->chosen != CSN_NOT_CHOSEN;
    if (chosen) {
        json_key(json, "chosen");
        json_str(json, name_text(output->names, answer->candidates[answer->chosen]));
    }
    json_member_text(json, "by", !chosen ? "ambiguous" : answer->choice == CSN_CHOICE_OUTER ? "outer" : "caller");
    if (chosen) json_member_text(json, "confidence", confidence_text(answer->confidence));
    else put_json_names(output, json, "remaining", answer, true);
    if (answer->evidence_frame != UINT32_MAX) {
        json_key(json, "evidence");
        json_begin_object(json);
        json_member_number(json, "frame", answer->evidence_frame);
        json_key(json, "pattern");
        json_str(json, answer->evidence_pattern);
        if (answer->evidence_tail_calls) json_member_number(json, "tail_calls", answer->evidence_tail_calls);
        json_end_object(json);
    }
    if (answer->notes) put_json_notes(json, answer);
    json_end_object(json);
}

static uint32_t first_reason(const struct csn_stack_answer *answer) {
    uint32_t reason = answer->reason;
    for (uint32_t i = 0; reason == CSN_REASON_COMPLETE && i < answer->frame_count; i++) reason = answer->frames[i].reason;
    return reason;
}

/* What does not depend on the callers, with the candidates as the beginning of "merged". Returns the reason to show. */
static uint32_t put_json_place(struct stack_output *output, const struct stack_session *session,
                               const struct csn_stack_answer *answer, struct json_out *json) {
    struct output_piece piece;
    uint32_t reason;
    if (output_piece_begin(output, answer, &piece, &reason)) {
        json->comma = true;
        return reason;
    }
    const char *module = module_name(session, answer->module);
    if (module) json_member_text(json, "module", module);
    json_member_hex(json, answer->module == NO_MODULE ? "pc" : "address", answer->addr);
    json_key(json, "frames");
    json_begin_array(json);
    for (uint32_t i = 0; i < answer->frame_count; i++) frame_put_json(&answer->frames[i], output->names, json);
    json_end_array(json);
    if (is_merged(answer)) {
        json_key(json, "merged");
        json_begin_object(json);
        put_json_names(output, json, "candidates", answer, false);
    }
    reason = first_reason(answer);
    if (answer->frame_count) output_piece_end(output, &piece, reason);
    return reason;
}

static void put_json_symbol(struct stack_output *output, const struct stack_session *session,
                            const struct frame_symbol *symbol, struct json_out *json) {
    const char *module = module_name(session, symbol->module);
    if (module) json_member_text(json, "module", module);
    if (symbol->pc) json_member_hex(json, "address", symbol->pc);
    json_key(json, "symbol");
    json_str(json, name_text(output->names, frame_symbol_name(&session->frame_symbols, symbol)));
    if (!symbol->is_offset_unknown) json_member_number(json, "offset", symbol->offset);
    json_key(json, "frames");
    json_begin_array(json);
    json_end_array(json);
    json_key(json, "reason");
    out_char(output->out, '"');
    put_symbol_reason(output->out, symbol);
    out_char(output->out, '"');
    json->comma = true;
}

static void put_json_answer(struct stack_output *output, const struct stack_session *session,
                            const struct csn_stack_answer *answer, struct json_out *json) {
    uint32_t reason = put_json_place(output, session, answer, json);
    if (is_merged(answer)) put_json_choice(output, json, answer);
    if (answer->status < 0) json_member_text(json, "error", output_failure(answer));
    else if (reason != CSN_REASON_COMPLETE) json_member_text(json, "reason", csn_reason_text(reason));
    if (output->explain && is_merged(answer)) {
        json_key(json, "choice");
        json_text(json, choice_text(answer));
    }
}

static void put_json_frame(struct stack_output *output, const struct stack_session *session, size_t frame,
                           struct json_out *json) {
    const struct csn_stack_answer *answer = &session->answers[frame];
    const struct frame_symbol *symbol = frame_symbols_find(&session->frame_symbols, frame);
    json_begin_object(json);
    if (symbol) put_json_symbol(output, session, symbol, json);
    else put_json_answer(output, session, answer, json);
    if (is_unreliable(session, frame)) {
        json_key(json, "unreliable");
        json_bool(json, true);
    }
    json_end_object(json);
}

/* What the text does not tell is left out. The time is a number with all the digits that it was printed with. */
static void put_json_sample(struct json_out *json, const struct profile_sample *sample) {
    if (!sample->known) return;
    if (sample->command[0]) json_member_text(json, "comm", sample->command);
    if (sample->has_thread) json_member_number(json, "pid", sample->pid);
    if (sample->has_thread) json_member_number(json, "tid", sample->thread);
    if (sample->time[0]) {
        json_key(json, "time");
        out_text(json->out, sample->time);
        json->comma = true;
    }
    if (sample->event[0]) json_member_text(json, "event", sample->event);
}

/* "app 4242/4243 12.345678: cycles:u" */
static void put_text_sample(struct out_buffer *out, const struct profile_sample *sample) {
    if (!sample->known) return;
    const char *blank = "";
    if (sample->command[0]) {
        out_safe(out, (struct csn_str){ sample->command, strlen(sample->command) });
        blank = " ";
    }
    if (sample->has_thread) {
        out_text(out, blank);
        out_decimal(out, sample->pid);
        out_char(out, '/');
        out_decimal(out, sample->thread);
        blank = " ";
    }
    if (sample->time[0]) {
        out_text(out, blank);
        out_text(out, sample->time);
    }
    if (sample->event[0] && (*blank || sample->time[0])) out_text(out, ": ");
    out_safe(out, (struct csn_str){ sample->event, strlen(sample->event) });
    out_char(out, '\n');
}

static void put_json_stack(struct stack_output *output, const struct stack_session *session) {
    struct json_out json = json_on(output->out);
    json_begin_object(&json);
    put_json_sample(&json, &session->sample);
    json_key(&json, "frames");
    json_begin_array(&json);
    for (size_t i = 0; i < session->frame_count; i++) {
        expect_pieces(output, session, i);
        put_json_frame(output, session, i, &json);
    }
    json_end_array(&json);
    json_end_object(&json);
    json_end_line(&json);
}

void output_stack(struct stack_output *output, const struct stack_session *session) {
    text_cache_enter(&output->kept, session_epoch(session));
    if (output->json) {
        put_json_stack(output, session);
        return;
    }
    if (output->stack_count++) out_char(output->out, '\n');
    put_text_sample(output->out, &session->sample);
    for (size_t i = 0; i < session->frame_count; i++) {
        expect_pieces(output, session, i);
        put_text_frame(output, session, i);
    }
}

void output_error(struct stack_output *output, const char *text) {
    if (output->json) {
        struct json_out json = json_on(output->out);
        json_begin_object(&json);
        json_member_text(&json, "error", text);
        json_end_object(&json);
        json_end_line(&json);
        return;
    }
    if (output->stack_count++) out_char(output->out, '\n');
    out_text(output->out, "error: ");
    out_safe(output->out, (struct csn_str){ text, strlen(text) });
    out_char(output->out, '\n');
}
