/* A stack is held until it ends; everything else passes at once. */
#include "stack/text/stack_text.h"

#include <stdlib.h>
#include <string.h>

#include "stack/lines/stack_fill.h"
#include "ui/growing.h"
#include "ui/line_input.h"
#include "ui/text_bytes.h"

enum { LINE_MAX_BYTES = 1 << 16, HELD_MAX_BYTES = 1 << 26, SEARCH_MAX_BYTES = 1 << 17, MAPS_MAX_BYTES = 1 << 20,
       LINES_WITHOUT_MAP = 16, OTHERS_MAX = 64 };
static const size_t NO_DIALECT = SIZE_MAX;

static bool init_states(struct stack_text *text) {
    text->states = calloc(text->dialect_count, sizeof(*text->states));
    text->searched_to = calloc(text->dialect_count, sizeof(*text->searched_to));
    if (!text->searched_to) return false;
    for (size_t i = 0; text->states && i < text->dialect_count; i++) {
        const struct stack_dialect *dialect = text->dialects[i];
        if (!dialect->state_size) continue;
        text->states[i] = calloc(1, dialect->state_size);
        if (!text->states[i]) return false;
        if (dialect->init) dialect->init(text->states[i], text->session);
    }
    return text->states != NULL;
}

bool stack_text_init(struct stack_text *text, struct stack_session *session, struct stack_output *output, bool in_place,
                     const struct stack_dialect *const *dialects, size_t dialect_count, const char *forced) {
    *text = (struct stack_text){ .session = session, .output = output, .in_place = in_place, .dialects = dialects,
                                 .dialect_count = dialect_count, .forced = NO_DIALECT, .current = NO_DIALECT, .awake = NO_DIALECT,
                                 .last_frame = HELD_NO_FRAME };
    for (size_t i = 0; i < dialect_count; i++) text->flush_dialects |= (uint64_t)dialects[i]->is_flush << i;
    for (size_t i = 0; forced && i < dialect_count; i++)
        if (strcmp(dialects[i]->name, forced) == 0) text->forced = i;
    session_use(session, false);
    session_clear_modules(session);
    session_begin_stack(session);
    if (stack_modules_init(&text->modules, session) && init_states(text)) return true;
    stack_text_deinit(text);
    return false;
}

void stack_text_deinit(struct stack_text *text) {
    for (size_t i = 0; text->states && i < text->dialect_count; i++) free(text->states[i]);
    free(text->states);
    stack_modules_deinit(&text->modules);
    held_stack_deinit(&text->held);
    log_lines_deinit(&text->lines);
    line_queue_deinit(&text->waiting);
    line_queue_deinit(&text->queue);
    free(text->pieces);
    free(text->searched_to);
    text->searched_to = NULL;
    text->states = NULL;
    text->pieces = NULL;
}

/* ---- the stack that is held ---- */

/* False: no memory. */
static bool pass_line(struct stack_text *text, struct csn_str line) {
    if (!text->in_place) return true;
    if (text->part) return stack_part_add_text(text->part, line);
    out_bytes(text->output->out, line.ptr, line.len);
    return true;
}

static bool answer_held(struct stack_text *text) {
    struct csn_error err = CSN_ERROR_INIT;
    const struct stack_dialect *dialect = text->dialects[text->current];
    stack_place_rest(&text->modules.places, text->session);
    if (text->part) return stack_part_add_stack(text->part, text->session, &text->held, dialect, text->goes_on);
    if (session_answer(text->session, &err) < 0) return false;
    if (text->in_place) held_stack_fill(&text->held, text->output, text->session, dialect, &text->added_lines);
    else output_stack(text->output, text->session);
    return true;
}

static bool pass_held(struct stack_text *text) {
    for (size_t i = 0; i < text->held.count; i++)
        if (!pass_line(text, held_stack_raw(&text->held, i))) return false;
    return true;
}

static bool end_stack(struct stack_text *text) {
    if (text->current == NO_DIALECT) return true;
    if (text->session->frame_count ? !answer_held(text) : !pass_held(text)) return false;
    text->current = NO_DIALECT;
    text->last_frame = HELD_NO_FRAME;
    held_stack_clear(&text->held);
    session_begin_stack(text->session);
    return true;
}

/* ---- lines ---- */

static bool has_marks(const struct stack_dialect *dialect, uint32_t marks) {
    for (size_t i = 0; i < MARK_SETS && dialect->marks[i]; i++)
        if ((marks & dialect->marks[i]) == dialect->marks[i]) return true;
    return false;
}

/* The lines of a log have few different sets of marks. */
static uint64_t dialects_for(struct stack_text *text, uint32_t marks) {
    struct dialects_by_marks *cached = &text->by_marks[(marks * 2654435761u >> 16) % DIALECT_CACHE];
    if (cached->known && cached->marks == marks) return cached->dialects;
    *cached = (struct dialects_by_marks){ .marks = marks, .known = true };
    for (size_t i = 0; i < text->dialect_count; i++)
        if (has_marks(text->dialects[i], marks)) cached->dialects |= 1ull << i;
    return cached->dialects;
}

static enum line_kind read_with(struct stack_text *text, size_t dialect, struct csn_str line, struct line_frame *out) {
    *out = (struct line_frame){ .site = SITE_PC };
    text->modules.is_searched = text->modules.line < text->searched_to[dialect];
    return text->dialects[dialect]->read(text->states[dialect], &text->modules, line, text->current == dialect, out);
}

/* The dialects that may read a line, but for that of the stack that is open. */
static uint64_t dialects_wanted(struct stack_text *text, struct csn_str line) {
    const uint64_t wanted = dialects_for(text, line_marks(line) | (text->modules.ends_in_blank ? MARK_PERF : 0));
    return text->awake != NO_DIALECT ? wanted | 1ull << text->awake : wanted;
}

/* The dialect of the stack that is open goes first, so that its lines are not taken for another's. `among`: these alone read it.
 * NO_DIALECT: none reads it. */
static size_t read_line(struct stack_text *text, struct csn_str line, uint64_t among, enum line_kind *kind,
                        struct line_frame *out) {
    size_t first = text->forced != NO_DIALECT ? text->forced : text->current;
    if (first != NO_DIALECT && !(among >> first & 1)) first = NO_DIALECT;
    *kind = first != NO_DIALECT ? read_with(text, first, line, out) : KIND_NONE;
    if (*kind != KIND_NONE || text->forced != NO_DIALECT) return *kind != KIND_NONE ? first : NO_DIALECT;
    for (uint64_t wanted = dialects_wanted(text, line) & among; wanted; wanted &= wanted - 1) {
        size_t i = (size_t)__builtin_ctzll(wanted);
        if (i == first) continue;
        *kind = read_with(text, i, line, out);
        if (*kind != KIND_NONE) return i;
    }
    return NO_DIALECT;
}

static size_t blanks_before(struct csn_str line) {
    size_t count = 0;
    while (count < line.len && is_blank_char(line.ptr[count])) count++;
    return count;
}

static struct csn_str without_bytes(struct csn_str line, size_t count) {
    return (struct csn_str){ line.ptr + count, line.len - count };
}

/* A line without the blanks that all lines around it have. One that has fewer, and is not empty, has none of them. */
static struct csn_str without_margin(struct stack_text *text, struct csn_str line) {
    return without_bytes(line, text->margin <= blanks_before(line) ? text->margin : 0);
}

/* Of a line that no dialect reads as it is: as one without blanks before it; or with some, before which stand others. */
static size_t read_without_blanks(struct stack_text *text, struct csn_str *line, enum line_kind *kind, struct line_frame *out) {
    const struct csn_str whole = *line;
    const size_t blanks = blanks_before(whole);
    size_t same = 0, dialect;
    if (!blanks || blanks == whole.len) return NO_DIALECT;
    while (whole.ptr[same] == whole.ptr[0]) same++;
    *line = without_bytes(whole, blanks);
    dialect = read_line(text, *line, text->flush_dialects, kind, out);
    if (dialect == NO_DIALECT && same < blanks) {
        *line = without_bytes(whole, same);
        dialect = read_line(text, *line, UINT64_MAX, kind, out);
    }
    if (dialect == NO_DIALECT) *line = whole;
    else text->margin = (size_t)(line->ptr - whole.ptr);
    return dialect;
}

/* `line` becomes what the dialect reads. */
static size_t read_indented_line(struct stack_text *text, struct csn_str *line, enum line_kind *kind, struct line_frame *out) {
    const struct csn_str whole = *line;
    size_t dialect;
    *line = without_margin(text, whole);
    if (text->margin && line->ptr == whole.ptr) text->margin = 0;
    dialect = read_line(text, *line, UINT64_MAX, kind, out);
    if (dialect != NO_DIALECT) return dialect;
    if (line->ptr != whole.ptr) dialect = read_line(text, whole, UINT64_MAX, kind, out);
    *line = whole;
    return dialect != NO_DIALECT ? dialect : read_without_blanks(text, line, kind, out);
}

static bool is_full(const struct stack_text *text) {
    return text->session->frame_count >= text->session->max_frames || text->held.text.count > HELD_MAX_BYTES;
}

/* The stack so far is answered, and goes on with the same sample. */
static bool continue_stack(struct stack_text *text) {
    const struct profile_sample sample = text->session->sample;
    if (!end_stack(text)) return false;
    text->session->sample = sample;
    return true;
}

static bool keep_piece(struct stack_text *text, const struct line_frame *frame) {
    if (!reserve_items(&text->pieces, &text->piece_capacity, text->piece_count + 1, sizeof(*text->pieces))) return false;
    text->pieces[text->piece_count++] = *frame;
    return true;
}

/* All frames of a line, the last of which takes the rest of it. */
static bool read_pieces(struct stack_text *text, size_t dialect, struct csn_str line, const struct line_frame *first) {
    const struct stack_dialect *reader = text->dialects[dialect];
    struct line_frame next = *first;
    text->piece_count = 0;
    for (;;) {
        size_t end = next.end;
        if (!keep_piece(text, &next)) return false;
        if (!end || end >= line.len || !reader->more) break;
        next = (struct line_frame){ .site = SITE_PC };
        if (!reader->more(text->states[dialect], line, end, &next) || (next.end && next.end <= end)) break;
    }
    struct line_frame *last = &text->pieces[text->piece_count - 1];
    last->end = 0;
    if (text->piece_count > 1) text->pieces[0].is_filled = false;
    last->is_filled = first->is_filled && last->fill_end == line.len;
    return true;
}

/* A frame that a signal interrupted. */
static bool add_interrupted_frame(struct stack_text *text, size_t dialect, const struct line_frame *frame) {
    struct line_frame exact = *frame;
    uint64_t step = frame->flags & CSN_STACK_BEFORE ? 1 : 0;
    exact.value += step;
    if (exact.pc) exact.pc += step;
    exact.flags = CSN_STACK_EXACT | (frame->flags & CSN_STACK_UNRELIABLE);
    return stack_modules_add_frame(&text->modules, text->dialects[dialect], text->states[dialect], &exact);
}

/* The frame's number in the session; HELD_NO_FRAME: its stack is full. */
static bool add_frame(struct stack_text *text, size_t dialect, const struct line_frame *frame, uint32_t *out) {
    size_t before = text->session->frame_count;
    bool good = text->interrupted ? add_interrupted_frame(text, dialect, frame)
                                  : stack_modules_add_frame(&text->modules, text->dialects[dialect], text->states[dialect], frame);
    if (!good) return false;
    text->interrupted = csn_is_signal_frame(frame->symbol);
    *out = text->session->frame_count > before ? (uint32_t)before : HELD_NO_FRAME;
    return true;
}

/* The frame counts from the line's beginning; its prefix comes before that. */
static void move_frame(struct line_frame *frame, ptrdiff_t by) {
    frame->fill_at = (size_t)((ptrdiff_t)frame->fill_at + by);
    frame->fill_end = (size_t)((ptrdiff_t)frame->fill_end + by);
    frame->number_at = (size_t)((ptrdiff_t)frame->number_at + by);
    frame->number_end = (size_t)((ptrdiff_t)frame->number_end + by);
}

/* Each frame holds its part of the line, and the last one the rest. */
static bool add_pieces(struct stack_text *text, size_t dialect, const struct log_line *line, size_t prefix) {
    size_t count = text->piece_count;
    bool reversed = text->pieces[0].outermost_first;
    uint32_t first = (uint32_t)text->session->frame_count, frame;
    for (size_t i = 0; i < count; i++)
        if (!add_frame(text, dialect, &text->pieces[reversed ? count - 1 - i : i], &frame)) return false;
    struct log_line rest = *line;
    size_t from = 0, added = text->session->frame_count - first;
    for (size_t i = 0; i < count; i++) {
        struct line_frame *piece = &text->pieces[i];
        size_t end = piece->end ? piece->end + prefix : line->text.len, order = reversed ? count - 1 - i : i;
        move_frame(piece, (ptrdiff_t)prefix - (ptrdiff_t)from);
        frame = order < added ? first + (uint32_t)order : HELD_NO_FRAME;
        const struct log_line part = log_line_take(&rest, end - from);
        if (!held_stack_add(&text->held, &part, frame, piece)) return false;
        from = end;
    }
    return true;
}

/* `read`: the part of the line that the dialect read. */
static bool add_line(struct stack_text *text, size_t dialect, enum line_kind kind, const struct log_line *line, struct csn_str read,
                     struct line_frame *frame) {
    const size_t prefix = (size_t)(read.ptr - line->text.ptr);
    uint32_t number;
    text->current = dialect;
    if (kind == KIND_INSIDE) {
        move_frame(frame, (ptrdiff_t)prefix);
        return held_stack_add(&text->held, line, frame->is_rest ? text->last_frame : HELD_NO_FRAME, frame);
    }
    if (frame->sample) text->session->sample = *frame->sample;
    if (frame->end) return read_pieces(text, dialect, read, frame) && add_pieces(text, dialect, line, prefix);
    frame->is_filled = frame->is_filled && frame->fill_end == read.len;
    if (!add_frame(text, dialect, frame, &number)) return false;
    move_frame(frame, (ptrdiff_t)prefix);
    text->last_frame = number;
    return held_stack_add(&text->held, line, number, frame);
}

/* ---- lines that a later one explains ---- */

static bool begin_search(struct stack_text *text, enum search_kind kind, size_t dialect, const struct log_line *line,
                         uint64_t number) {
    text->searching = kind;
    text->searched = line->source;
    text->searching_dialect = dialect;
    text->first_waiting = number;
    text->maps_found = text->lines_since_map = 0;
    return line_queue_add(&text->waiting, line, false);
}

/* A stack begins with a pc, and nothing has told yet where modules lie, or which builds they are: their list may follow it, as in a
 * report. */
static bool needs_maps(const struct stack_text *text, size_t dialect, enum line_kind kind,
                       const struct line_frame *frame, uint64_t number) {
    bool begins = kind == KIND_FIRST || (kind == KIND_FRAME && text->current != dialect);
    return begins && frame->by_maps && (frame->site == SITE_PC || frame->is_listed) && !frame->pid &&
           !(frame->sample && frame->sample->is_certain) && number >= text->maps_searched_to &&
           !stack_modules_has_maps(&text->modules);
}

/* Lines of two sources, as of two processes in a journal, are not of one stack. */
static bool change_source(struct stack_text *text, const struct text_source *source) {
    if (text->source.name == source->name && text->source.origin == source->origin) return true;
    text->source = *source;
    text->awake = NO_DIALECT;
    return end_stack(text);
}

/* A record of another writer that has no text to be read, as of a program that writes to standard output meanwhile;
 * or what stands between the texts of records that are spread over lines. */
static bool is_between(struct stack_text *text, const struct log_line *line) {
    if (text->current == NO_DIALECT || !text->source.name || !line->is_data) return false;
    const bool may = line->is_piece ? text->is_spread : line->source.origin != text->source.origin;
    return may && text->others++ < OTHERS_MAX;
}

/* What dialects read of a line: `bare` without what a log daemon wrote before it. */
static struct csn_str text_of_line(struct csn_str bare, bool ends_in_blank) {
    size_t prefix = log_prefix_size((struct csn_str){ bare.ptr, bare.len + ends_in_blank });
    if (prefix > bare.len) prefix = bare.len;
    return (struct csn_str){ bare.ptr + prefix, bare.len - prefix };
}

static bool ends_in_blank(struct csn_str line, struct csn_str bare) {
    return bare.len < line.len && is_blank_char(line.ptr[bare.len]);
}

static bool read_text_line(struct stack_text *text, const struct log_line *line, bool is_part, uint64_t number) {
    struct csn_str bare = log_line_text(line->text);
    enum line_kind kind = KIND_NONE;
    struct line_frame frame; /* set by what reads the line */
    size_t dialect = NO_DIALECT;
    bool too_long = is_part || text->inside_long_line || line->text.len > LINE_MAX_BYTES;
    if (is_between(text, line)) return held_stack_add(&text->held, line, HELD_NO_FRAME, NULL);
    text->others = 0;
    text->is_spread = line->is_piece;
    if (!change_source(text, &line->source)) return false;
    text->inside_long_line = is_part;
    text->modules.line = number;
    text->modules.ends_in_blank = ends_in_blank(line->text, bare);
    struct csn_str read = too_long || line->is_data ? bare : text_of_line(bare, text->modules.ends_in_blank);
    if (!too_long && !line->is_data && read.len) {
        read.len = unfilled_size(read);
        dialect = read_indented_line(text, &read, &kind, &frame);
    }
    if (kind == KIND_AHEAD) return begin_search(text, SEARCH_DIALECT, dialect, line, number);
    if (needs_maps(text, dialect, kind, &frame, number)) return begin_search(text, SEARCH_MAPS, dialect, line, number);
    if (bare.len) text->awake = kind == KIND_CONTEXT ? dialect : NO_DIALECT;
    if (text->modules.no_memory) return false;
    bool goes_on = dialect != NO_DIALECT && dialect == text->current && (kind == KIND_FRAME || kind == KIND_INSIDE);
    /* Ended before the frame is added: the stack has the modules of its own process. */
    if (!goes_on && !end_stack(text)) return false;
    const bool is_rest = goes_on && kind == KIND_INSIDE && frame.is_rest; /* stays with its frame */
    const bool is_next_part = goes_on && !is_rest && is_full(text);
    if (is_next_part && !continue_stack(text)) return false;
    /* The first frame of a part, which other lines may come before. */
    const bool was_answered = text->goes_on || !text->held.count;
    const bool begins_part = is_next_part || (goes_on && was_answered && !text->session->frame_count);
    if (begins_part && !(frame.flags & (CSN_STACK_EXACT | CSN_STACK_BEFORE | CSN_STACK_EITHER))) frame.flags |= CSN_STACK_RETURN;
    if (!goes_on) text->interrupted = false;
    if (!goes_on) text->added_lines = 0;
    if (!goes_on || !text->held.count) text->goes_on = goes_on;
    if (kind == KIND_NONE || kind == KIND_CONTEXT) return pass_line(text, line->raw);
    frame.is_filled = read.ptr + read.len < bare.ptr + bare.len;
    return add_line(text, dialect, kind, line, read, &frame);
}

/* ---- searches ---- */

/* The lines that waited are read next. They are still in the queue if they came from there. */
static void queue_waiting(struct stack_text *text) {
    const uint64_t end = text->first_waiting + text->waiting.count;
    if (text->queue.count && end <= text->first_queued + text->queue.count) {
        text->queue_at = (size_t)(text->first_waiting - text->first_queued);
    } else {
        const struct line_queue queue = text->queue;
        text->queue = text->waiting;
        text->waiting = queue;
        text->first_queued = text->first_waiting;
        text->queue_at = 0;
    }
    line_queue_clear(&text->waiting);
}

/* Of the lines that wait, all but `unsearched` at the end have been searched. None is searched twice. */
static void end_search(struct stack_text *text, struct csn_str found, size_t unsearched) {
    const size_t dialect = text->searching_dialect;
    const uint64_t searched_to = text->first_waiting + text->waiting.count - unsearched;
    if (text->searching == SEARCH_MAPS) {
        text->maps_searched_to = searched_to;
    } else {
        text->searched_to[dialect] = searched_to;
        if (text->dialects[dialect]->end_search)
            text->dialects[dialect]->end_search(text->states[dialect], &text->modules, found);
    }
    text->searching = SEARCH_NONE;
    queue_waiting(text);
}

static bool is_of_list(struct stack_text *text, struct csn_str line) {
    const size_t blanks = blanks_before(line);
    if (stack_modules_add_any_line(&text->modules, line)) return true;
    return blanks && stack_modules_add_any_line(&text->modules, without_bytes(line, blanks));
}

/* Lines of a list of modules are kept. */
static enum search_step look_at(struct stack_text *text, struct csn_str line) {
    const size_t dialect = text->searching_dialect;
    if (text->searching == SEARCH_DIALECT)
        return text->dialects[dialect]->search(text->states[dialect], without_margin(text, line));
    if (text->dialects[dialect]->ends_list && text->dialects[dialect]->ends_list(line, text->maps_found)) return STEP_ENDS_BEFORE;
    if (is_of_list(text, line)) {
        text->maps_found++;
        text->lines_since_map = 0;
    } else if (text->maps_found) {
        text->lines_since_map++;
    }
    return text->lines_since_map > LINES_WITHOUT_MAP ? STEP_ENDS : STEP_ON;
}

/* Keeps a line, which may end the search. */
static bool search_line(struct stack_text *text, const struct log_line *line, bool is_part) {
    const size_t most = text->searching == SEARCH_MAPS ? MAPS_MAX_BYTES : SEARCH_MAX_BYTES;
    const struct csn_str bare = log_line_text(line->text), nothing = { "", 0 };
    const bool too_long = is_part || line->text.len > LINE_MAX_BYTES || text->waiting.text.count + line->raw.len > most;
    if (line->source.name) text->searched = line->source;
    if (!line_queue_add(&text->waiting, line, is_part)) return false;
    const struct csn_str rest = line->is_data || too_long ? nothing : text_of_line(bare, ends_in_blank(line->text, bare));
    const enum search_step step = too_long ? STEP_ENDS_BEFORE : look_at(text, rest);
    if (step == STEP_ENDS) end_search(text, rest, 0);
    else if (step == STEP_ENDS_BEFORE) end_search(text, nothing, 1);
    return !text->modules.no_memory;
}

bool stack_text_has_step(const struct stack_text *text) { return text->queue_at < text->queue.count; }

static bool take_line(struct stack_text *text, const struct log_line *line, bool is_part, uint64_t number) {
    return text->searching == SEARCH_NONE ? read_text_line(text, line, is_part, number) : search_line(text, line, is_part);
}

bool stack_text_step(struct stack_text *text) {
    const struct log_line line = line_queue_at(&text->queue, text->queue_at);
    const bool is_part = text->queue.lines[text->queue_at].is_part;
    const uint64_t number = text->first_queued + text->queue_at++;
    bool good = take_line(text, &line, is_part, number);
    if (text->searching == SEARCH_NONE && !stack_text_has_step(text)) line_queue_clear(&text->queue);
    if (!text->queue.count) text->queue_at = 0;
    return good;
}

static bool take_steps(struct stack_text *text) {
    while (stack_text_has_step(text))
        if (!stack_text_step(text)) return false;
    return true;
}

/* Whose lines are read whatever is in them: a stack of theirs is open, or may be when what waits has been read. */
static struct text_source open_source(const struct stack_text *text) {
    const struct text_source nobody = { 0, 0 };
    if (text->searching != SEARCH_NONE) return text->searched;
    return text->current != NO_DIALECT || text->awake != NO_DIALECT ? text->source : nobody;
}

bool stack_text_line(struct stack_text *text, struct csn_str line, bool is_part) {
    if (!take_steps(text)) return false;
    if (is_part || text->inside_long_line || !json_record_is_possible(line)) {
        const struct log_line whole = plain_log_line(line);
        return take_line(text, &whole, is_part, text->line_count++);
    }
    const struct text_source source = open_source(text);
    const bool bypass = text->current == NO_DIALECT && text->awake == NO_DIALECT && text->forced == NO_DIALECT;
    struct log_line item;
    if (!log_lines_begin(&text->lines, line, &source, bypass)) return false;
    while (log_lines_next(&text->lines, &item))
        if (!take_steps(text) || !take_line(text, &item, false, text->line_count++)) return false;
    return !text->lines.no_memory;
}

void stack_text_over(struct stack_text *text) {
    const struct csn_str nothing = { "", 0 };
    if (text->searching != SEARCH_NONE) end_search(text, nothing, 0);
}

bool stack_text_idle(struct stack_text *text) {
    stack_text_over(text);
    const size_t current = text->current;
    if (stack_text_has_step(text) || current == NO_DIALECT || text->dialects[current]->ends_in_blank) return true;
    const bool good = continue_stack(text);
    text->current = current;
    return good;
}

bool stack_text_end(struct stack_text *text) {
    do {
        stack_text_over(text);
        if (!take_steps(text)) return false;
    } while (text->searching != SEARCH_NONE);
    return end_stack(text);
}
