/* What `perf script` prints as a profile. Chains repeat themselves: one whose text was read before is known by a hash of it. */
#include "profile/profile_input.h"

#include <stdio.h>
#include <string.h>

#include "profile/chain_cache.h"
#include "profile/profile_frames.h"
#include "stack/dialects/dialects.h"
#include "ui/cli_message.h"
#include "ui/growing.h"

enum { CHAIN_MAX = 1 << 26, TYPES_MAX = 32, INLINED_MAX = 64 }; /* a profile has no more types of values */

struct perf_event {
    char name[256];
    uint32_t value_type;         /* UINT32_MAX: the profile has no room for it */
    bool is_value;               /* "space[bytes]": a value that `callsign profile` wrote; perf's own events are samples, too */
};

/* A sample, until no values of it can follow. */
struct open_sample {
    bool is_open;
    uint32_t stack, value_count;
    uint32_t given;              /* a bit for each of the values that it has */
    int64_t values[TYPES_MAX];
    struct profile_sample head;
};

struct left_out_lines {
    uint64_t count, first;       /* number of the first, from 1 */
};

struct perf_input {
    struct profile_frames frames;
    struct chain_cache chains;
    struct text_buffer chain;    /* the lines below the head of a sample */
    bool is_chain_cut;           /* lines of it are left out, up to its end */
    uint64_t chain_line;         /* number of its first line */
    bool in_block;               /* the line before is one of the instructions between branches */
    uint64_t chain_at;           /* how many of its lines were read */
    size_t searched_to;          /* its lines up to there have been searched */
    struct text_buffer held;     /* the line before, if it may head a chain and has more behind the event */
    uint64_t unknown_line;       /* number of the line before, if nothing is known of it */
    struct perf_event events[TYPES_MAX]; /* those with periods */
    uint32_t event_count, samples_type;
    bool has_type;               /* the input has added one */
    bool tells_default;          /* and no input before told what is shown first */
    struct open_sample open;
    uint64_t samples, cut_chains, values_left_out, values_cut;
    struct left_out_lines unknown, too_long;
    struct profile_sample head;  /* of the line before; `known`: it heads a sample */
    struct csn_str inlined[INLINED_MAX]; /* names of the lines of inlined calls, since the last frame */
    uint64_t inlined_pc;
    uint32_t inlined_count;
};

/* ---- samples ---- */

static bool set_default_type(struct perf_input *perf, uint32_t type) {
    return !perf->tells_default || csn_profile_set_default_type(perf->frames.profile, type, NULL) == CSN_OK;
}

/* The first type is what is shown first, unless an input before says what is. *out is UINT32_MAX if the profile has no room for
 * it. */
static bool add_type(struct perf_input *perf, struct csn_str type, struct csn_str unit, uint32_t *out) {
    const csn_status status = csn_profile_add_value_type(perf->frames.profile, type, unit, out, NULL);
    if (status == CSN_E_LIMIT) *out = UINT32_MAX;
    if (status < 0) return status == CSN_E_LIMIT;
    uint32_t told;
    if (perf->has_type) return true;
    perf->has_type = true;
    perf->tells_default = csn_profile_get_default_type(perf->frames.profile, &told) != CSN_OK;
    return set_default_type(perf, *out);
}

static bool add_samples_type(struct perf_input *perf) {
    return perf->samples_type != UINT32_MAX || add_type(perf, CSN_STR("samples"), CSN_STR("count"), &perf->samples_type);
}

static bool read_event_name(struct perf_input *perf, struct perf_event *event) {
    const size_t len = strlen(event->name);
    const char *open = len && event->name[len - 1] == ']' ? strrchr(event->name, '[') : NULL;
    event->is_value = open != NULL;
    if (open) {
        const size_t at = (size_t)(open - event->name);
        return add_type(perf, (struct csn_str){ event->name, at }, (struct csn_str){ open + 1, len - at - 2 }, &event->value_type);
    }
    const struct csn_str unit = strstr(event->name, "-clock") ? CSN_STR("nanoseconds") : CSN_STR("count");
    if (!add_samples_type(perf) || !add_type(perf, (struct csn_str){ event->name, len }, unit, &event->value_type)) return false;
    /* "samples_x10": folded counts with fractions, written as text of perf. They are the samples, each with its weight. */
    const bool is_shown = strncmp(event->name, "samples_x", 9) == 0 && event->value_type != UINT32_MAX;
    return !is_shown || set_default_type(perf, event->value_type);
}

static bool event_of(struct perf_input *perf, const char *name, struct perf_event *out) {
    for (uint32_t i = 0; i < perf->event_count; i++) {
        if (strcmp(perf->events[i].name, name) != 0) continue;
        *out = perf->events[i];
        return true;
    }
    strcpy(out->name, name); /* of the same size */
    if (!read_event_name(perf, out)) return false;
    if (perf->event_count < TYPES_MAX) perf->events[perf->event_count++] = *out;
    return true;
}

/* "12.345678" in nanoseconds. */
static int64_t time_of(const char *text) {
    uint64_t value = 0;
    unsigned decimals = 0;
    bool after_point = false;
    for (const char *p = text; *p && decimals < 9; p++) {
        if (*p == '.') {
            after_point = true;
            continue;
        }
        value = value * 10 + (uint64_t)(*p - '0');
        decimals += after_point;
    }
    for (; decimals < 9; decimals++) value *= 10;
    return (int64_t)value;
}

static bool end_sample(struct perf_input *perf) {
    struct open_sample *open = &perf->open;
    const struct profile_sample *from = &open->head;
    struct csn_profile_sample sample = { .stack = open->stack, .values = open->values, .value_count = open->value_count };
    if (!open->is_open) return true;
    open->is_open = false;
    if (from->known) {
        sample.time_ns = time_of(from->time);
        sample.pid = from->pid;
        sample.tid = from->thread;
        sample.thread = (struct csn_str){ from->command, strlen(from->command) };
    }
    return csn_profile_add_sample(perf->frames.profile, &sample, NULL) == CSN_OK;
}

static void give_value(struct perf_input *perf, uint32_t type, int64_t value) {
    struct open_sample *open = &perf->open;
    perf->values_left_out += type == UINT32_MAX;
    if (type == UINT32_MAX) return;
    open->given |= 1u << type;
    open->values[type] = value;
    if (type >= open->value_count) open->value_count = type + 1;
}

/* A head of a value that the sample does not have yet, and otherwise the same as the one before. */
static bool is_value_of_open(const struct perf_input *perf, const struct profile_sample *head, uint32_t stack, uint32_t type) {
    const struct open_sample *open = &perf->open;
    return open->is_open && open->stack == stack && open->head.known && open->head.pid == head->pid
           && open->head.thread == head->thread && strcmp(open->head.time, head->time) == 0
           && strcmp(open->head.command, head->command) == 0 && (type == UINT32_MAX || !(open->given >> type & 1));
}

static bool begin_sample(struct perf_input *perf, const struct profile_sample *head, uint32_t stack) {
    if (!end_sample(perf)) return false;
    perf->open = (struct open_sample){ .is_open = true, .stack = stack };
    if (head) perf->open.head = *head;
    perf->samples++;
    return true;
}

static bool add_perf_sample(struct perf_input *perf, const struct profile_sample *from, uint32_t stack) {
    struct perf_event event = { .value_type = UINT32_MAX };
    bool has_value = from && from->known && from->has_period && from->event[0];
    if (has_value && !event_of(perf, from->event, &event)) return false;
    if (has_value) perf->values_cut += from->is_period_cut;
    if (!event.is_value || !is_value_of_open(perf, from, stack, event.value_type))
        if (!begin_sample(perf, from, stack)) return false;
    if (!event.is_value) {
        if (!add_samples_type(perf)) return false;
        give_value(perf, perf->samples_type, 1);
        has_value = has_value && (from->period || event.value_type == perf->samples_type);
    }
    if (has_value) give_value(perf, event.value_type, from->period);
    return true;
}

/* ---- chains ---- */

static void leave_out(struct left_out_lines *lines, uint64_t number) {
    if (!lines->count++) lines->first = number;
}

static bool append_chain(struct perf_input *perf, struct csn_str line, uint64_t number) {
    if (!perf->chain.count) perf->chain_line = number;
    if (!perf->is_chain_cut && perf->chain.count + line.len <= CHAIN_MAX) return text_buffer_add(&perf->chain, line);
    perf->cut_chains += !perf->is_chain_cut;
    perf->is_chain_cut = true;
    return true;
}

static struct csn_str next_chain_line(const struct perf_input *perf, size_t from, size_t *next) {
    const char *end = memchr(perf->chain.bytes + from, '\n', perf->chain.count - from);
    size_t size = end ? (size_t)(end - perf->chain.bytes) - from : perf->chain.count - from;
    *next = from + size + (end != NULL);
    return line_text((struct csn_str){ perf->chain.bytes + from, size });
}

static bool read_with_dialect(struct perf_input *perf, struct csn_str line, bool open, struct line_frame *frame,
                              enum line_kind *kind) {
    *frame = (struct line_frame){ .site = SITE_PC };
    *kind = perf_dialect.read(perf->frames.state, &perf->frames.modules, line, open, frame);
    return !perf->frames.modules.no_memory;
}

static bool read_line(struct perf_input *perf, struct csn_str line, bool open, struct line_frame *frame, enum line_kind *kind) {
    perf->frames.modules.line++;
    return read_with_dialect(perf, line, open, frame, kind);
}

/* The lines below `from` may tell what the one above means. */
static void search_chain(struct perf_input *perf, size_t from) {
    enum search_step step = STEP_ON;
    size_t next = from;
    for (perf->searched_to = from; step == STEP_ON && from < perf->chain.count; from = next) {
        step = perf_dialect.search(perf->frames.state, next_chain_line(perf, from, &next));
        perf->searched_to = step == STEP_ENDS_BEFORE ? from : next;
    }
}

/* The line at *from, which then is that of the next one. */
static bool read_chain_line(struct perf_input *perf, size_t *from, bool open, struct line_frame *frame, enum line_kind *kind) {
    bool *is_searched = &perf->frames.modules.is_searched;
    *is_searched = *from < perf->searched_to;
    const struct csn_str line = next_chain_line(perf, *from, from);
    perf->chain_at++;
    *kind = KIND_NONE;
    bool good = !line.len || read_line(perf, line, open, frame, kind);
    if (good && *kind == KIND_AHEAD) {
        search_chain(perf, *from);
        *is_searched = true;
        good = read_with_dialect(perf, line, open, frame, kind);
    }
    *is_searched = false;
    return good;
}

static void note_inlined(struct perf_input *perf, const struct line_frame *frame) {
    if (!frame->symbol.len || perf->inlined_count == INLINED_MAX) return;
    perf->inlined[perf->inlined_count++] = frame->symbol;
    perf->inlined_pc = frame->pc;
}

/* Lines of inlined calls are of the frame below, if it has their address. perf leaves it out where it takes its function for
 * another inlined call: then the names are all there is. */
static bool add_inlined(struct perf_input *perf, const struct line_frame *below) {
    const uint32_t count = perf->inlined_count;
    perf->inlined_count = 0;
    if (count && (!below || below->pc != perf->inlined_pc))
        return profile_frames_locate(&perf->frames) && profile_frames_add_names(&perf->frames, perf->inlined, count);
    for (uint32_t i = 0; i < count; i++)
        if (!profile_frames_add_inlined(&perf->frames, perf->inlined[i])) return false;
    return true;
}

static bool add_chain_frame(struct perf_input *perf, const struct line_frame *frame) {
    return add_inlined(perf, frame) && profile_frames_add(&perf->frames, frame);
}

/* The stack of the chain, from its second line on; `frame` is the first. */
static bool read_chain_rest(struct perf_input *perf, size_t from, const struct line_frame *first, uint32_t *out_stack) {
    struct line_frame frame = *first;
    enum line_kind kind = KIND_FIRST;
    profile_frames_begin(&perf->frames);
    for (;;) {
        if ((kind == KIND_FIRST || kind == KIND_FRAME) && !add_chain_frame(perf, &frame)) return false;
        if (kind == KIND_INSIDE) note_inlined(perf, &frame);
        if (kind == KIND_NONE) leave_out(&perf->unknown, perf->chain_line + perf->chain_at - 1);
        if (from >= perf->chain.count) break;
        if (!read_chain_line(perf, &from, true, &frame, &kind)) return false;
    }
    return add_inlined(perf, NULL) && profile_frames_locate(&perf->frames) && profile_frames_end(&perf->frames, false, out_stack);
}

/* The sample whose head was read, and whose chain is complete. */
static bool end_chain(struct perf_input *perf) {
    struct line_frame frame;
    enum line_kind kind;
    uint32_t stack;
    if (!perf->chain.count) return true;
    perf->is_chain_cut = false;
    /* Lines of inlined calls may stand above the first frame. */
    size_t from = 0;
    perf->inlined_count = 0;
    perf->searched_to = 0;
    perf->chain_at = 0;
    do {
        if (!read_chain_line(perf, &from, false, &frame, &kind)) return false;
        if (kind == KIND_INSIDE) note_inlined(perf, &frame);
    } while (kind == KIND_INSIDE && from < perf->chain.count);
    if (kind != KIND_FIRST) {
        leave_out(&perf->unknown, perf->chain_line);
        perf->chain.count = 0;
        return true;
    }
    struct chain_key key = chain_key_of(perf->chain.bytes, perf->chain.count);
    chain_key_add(&key, perf_meaning(perf->frames.state));
    if (stack_modules_has_maps(&perf->frames.modules)) {
        chain_key_add(&key, frame.pid);
        chain_key_add(&key, csn_process_maps_generation(perf->frames.modules.maps));
    }
    struct profile_sample sample = { .known = false };
    if (frame.sample) sample = *frame.sample;
    if (!chain_cache_find(&perf->chains, &key, &stack)) {
        if (!read_chain_rest(perf, from, &frame, &stack) || !chain_cache_add(&perf->chains, &key, stack)) return false;
    }
    perf->chain.count = 0;
    return add_perf_sample(perf, &sample, stack);
}

/* ---- lines ---- */

static bool read_single_sample(struct perf_input *perf, const struct line_frame *frame) {
    uint32_t stack;
    struct profile_sample sample = { .known = false };
    if (frame->sample) sample = *frame->sample;
    profile_frames_begin(&perf->frames);
    return profile_frames_add(&perf->frames, frame) && profile_frames_locate(&perf->frames)
           && profile_frames_end(&perf->frames, false, &stack) && add_perf_sample(perf, &sample, stack);
}

/* Comments, and records that say nothing of samples, such as those of lost events. */
static bool is_known_rest(struct csn_str text) { return text.ptr[0] == '#' || perf_has_record(text); }

/* A line of which nothing is known heads a chain if one follows: it has a command alone, or an event. */
static void judge_unknown_line(struct perf_input *perf, struct csn_str next) {
    const bool is_head = next.len && next.ptr[0] == '\t' && !perf->chain.count;
    if (perf->unknown_line && !is_head) leave_out(&perf->unknown, perf->unknown_line);
    perf->unknown_line = 0;
}

static bool read_other_line(struct perf_input *perf, struct csn_str line, uint64_t number) {
    struct csn_str text = line_text(line);
    struct line_frame frame;
    enum line_kind kind;
    judge_unknown_line(perf, text);
    if (!text.len && perf->head.known && !perf->chain.count) { /* without frames */
        const struct profile_sample head = perf->head;
        perf->head.known = false;
        perf_end_headed_sample(perf->frames.state);
        return add_perf_sample(perf, &head, 0);
    }
    perf->head.known = false;
    if (!text.len) {
        const bool good = end_chain(perf);
        perf->frames.modules.line++; /* a chain behind an empty line is not of the head before it */
        return good;
    }
    if (text.ptr[0] == '\t' || (text.ptr[0] == ' ' && perf->chain.count)) return append_chain(perf, line, number);
    if (!end_chain(perf)) return false;
    if (!read_line(perf, text, false, &frame, &kind)) return false;
    const struct profile_sample *headed = perf_headed_sample(perf->frames.state);
    if (headed) perf->head = *headed;
    if (kind == KIND_NONE && !is_known_rest(text)) perf->unknown_line = number;
    const bool begins_chain = kind == KIND_AHEAD || (kind == KIND_FIRST && !frame.by_maps);
    if (begins_chain && text.ptr[0] == ' ') return append_chain(perf, line, number);
    return kind != KIND_FIRST || read_single_sample(perf, &frame);
}

/* The line before, if it is held, once the next one tells what it is. */
static bool read_held_line(struct perf_input *perf, struct csn_str next, uint64_t number) {
    const struct csn_str held = { perf->held.bytes, perf->held.count };
    if (!held.len) return true;
    perf->held.count = 0;
    return perf_begin_chain(perf->frames.state, held, next) || read_other_line(perf, held, number);
}

/* Branches of the sample whose chain stands above, and the instructions between branches: they are no callers, and no samples. */
static bool is_beside_chain(struct perf_input *perf, struct csn_str text) {
    /* Among instructions, perf also says what it could not print. */
    perf->in_block = text.len && (perf_is_instruction(text) || (perf->in_block && text.ptr[0] == '\t'));
    return perf->in_block || (text.len && text.ptr[0] != '\t' && perf->chain.count && perf_has_branches_alone(text));
}

static bool read_perf_input_line(struct perf_input *perf, struct csn_str line, uint64_t number) {
    const struct csn_str text = line_text(line);
    const bool is_beside = is_beside_chain(perf, text);
    if (perf->chain.count && line.ptr[0] == '\t' && !is_beside) return append_chain(perf, line, number); /* as most lines are */
    if (!read_held_line(perf, text, number - 1)) return false;
    if (is_beside) return true;
    if (!perf_may_head_chain(text)) return read_other_line(perf, line, number);
    judge_unknown_line(perf, text);
    perf->head.known = false;
    return end_chain(perf) && text_buffer_add(&perf->held, text);
}

/* A frame of it is missing in the chain then; any other line ends what is open. */
static bool begin_long_line(struct perf_input *perf, struct csn_str part, uint64_t number) {
    return part.ptr[0] == '\t' || part.ptr[0] == ' ' || read_perf_input_line(perf, CSN_STR("\n"), number);
}

static void report_lines(const struct left_out_lines *lines, const char *path, const char *what) {
    char more[40] = "";
    if (!lines->count) return;
    if (lines->count > 1) snprintf(more, sizeof(more), ", and %llu more", (unsigned long long)lines->count - 1);
    cli_error(path, "line %llu%s: left out: %s", (unsigned long long)lines->first, more, what);
}

static void report_losses(const struct perf_input *perf, const struct line_input *input, const char *path) {
    char too_long[64];
    snprintf(too_long, sizeof(too_long), "longer than %zu bytes", input->max);
    report_lines(&perf->too_long, path, too_long);
    report_lines(&perf->unknown, path, "not understood");
    if (perf->cut_chains)
        cli_error(path, "%llu stacks have more than %d bytes of text: their outer frames are left out",
                  (unsigned long long)perf->cut_chains, CHAIN_MAX);
    if (perf->frames.left_out)
        cli_error(path, "%llu frames are left out: a stack has at most %llu", (unsigned long long)perf->frames.left_out,
                  (unsigned long long)perf->frames.session->max_frames);
    if (perf->values_left_out)
        cli_error(path, "%llu values are left out: a profile has at most %d types of values",
                  (unsigned long long)perf->values_left_out, TYPES_MAX);
    if (perf->values_cut)
        cli_error(path, "%llu periods have more than 64 bits: they are %lld or %lld instead", (unsigned long long)perf->values_cut,
                  (long long)INT64_MAX, (long long)INT64_MIN);
}

bool profile_read_perf(struct csn_profile *profile, struct stack_session *session, struct line_input *input, const char *path) {
    struct perf_input perf = { .samples_type = UINT32_MAX };
    struct csn_str line;
    enum line_result result = LINE_FAILED;
    bool good = profile_frames_init(&perf.frames, profile, session, &perf_dialect);
    bool is_too_long = false;
    while (good && ((result = line_input_next(input, true, &line)) == LINE_WHOLE || result == LINE_PART)) {
        if (result == LINE_PART && !is_too_long) good = begin_long_line(&perf, line, input->line);
        else if (result == LINE_WHOLE && is_too_long) leave_out(&perf.too_long, input->line);
        else if (result == LINE_WHOLE) good = read_perf_input_line(&perf, line, input->line);
        is_too_long = result == LINE_PART;
    }
    good = good && read_held_line(&perf, CSN_STR(""), input->line);
    judge_unknown_line(&perf, CSN_STR(""));
    good = good && end_chain(&perf) && end_sample(&perf) && (perf.has_type || add_samples_type(&perf));
    const bool is_perf = good && (perf.samples || !perf.unknown.count || perf_is_certain(perf.frames.state));
    if (!good) cli_error_memory("stacks");
    else if (result == LINE_FAILED) cli_error(path, "%s", input->no_memory ? "out of memory" : strerror(input->os_error));
    else if (!perf.samples)
        cli_error(path, "no samples of perf script in %llu lines, and no other kind of profile", (unsigned long long)input->line);
    else report_losses(&perf, input, path);
    profile_frames_deinit(&perf.frames);
    chain_cache_deinit(&perf.chains);
    text_buffer_deinit(&perf.chain);
    text_buffer_deinit(&perf.held);
    return good && result == LINE_END && is_perf;
}
