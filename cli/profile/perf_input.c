/* What `perf script` prints as a profile. Chains repeat themselves: one whose text was read before is known by a hash of it. */
#include "profile/profile_input.h"

#include <string.h>

#include "profile/chain_cache.h"
#include "profile/profile_frames.h"
#include "stack/dialects/dialects.h"
#include "ui/cli_message.h"
#include "ui/growing.h"

enum { CHAIN_MAX = 1 << 26, EVENTS_MAX = 16, INLINED_MAX = 64 };

struct perf_event {
    char name[256];
    uint32_t value_type;
};

struct perf_input {
    struct profile_frames frames;
    struct chain_cache chains;
    struct text_buffer chain;    /* the lines below the head of a sample */
    struct perf_event events[EVENTS_MAX]; /* those with periods */
    uint32_t event_count, samples_type;
    uint64_t samples, cut_chains;
    struct profile_sample head;  /* of the line before; `known`: it heads a sample */
    struct csn_str inlined[INLINED_MAX]; /* names of the lines of inlined calls, since the last frame */
    uint64_t inlined_pc;
    uint32_t inlined_count;
};

/* ---- samples ---- */

static bool event_type(struct perf_input *perf, const char *name, uint32_t *out) {
    for (uint32_t i = 0; i < perf->event_count; i++) {
        if (strcmp(perf->events[i].name, name) != 0) continue;
        *out = perf->events[i].value_type;
        return true;
    }
    *out = UINT32_MAX;
    if (perf->event_count == EVENTS_MAX) return true; /* counted as a sample only */
    struct perf_event *event = &perf->events[perf->event_count];
    bool is_clock = strstr(name, "-clock") != NULL;
    strcpy(event->name, name); /* of the same size */
    if (csn_profile_add_value_type(perf->frames.profile, (struct csn_str){ name, strlen(name) },
                                   is_clock ? CSN_STR("nanoseconds") : CSN_STR("count"), &event->value_type, NULL) < 0)
        return false;
    *out = event->value_type;
    perf->event_count++;
    /* "samples_x10": folded counts with fractions, written as text of perf. They are the samples, each with its weight. */
    return strncmp(name, "samples_x", 9) != 0 || csn_profile_set_default_type(perf->frames.profile, *out, NULL) == CSN_OK;
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

static bool add_perf_sample(struct perf_input *perf, const struct profile_sample *from, uint32_t stack) {
    int64_t values[64] = { 0 };
    struct csn_profile_sample sample = { .stack = stack, .values = values, .value_count = perf->samples_type + 1 };
    uint32_t type;
    values[perf->samples_type] = 1;
    if (from && from->known) {
        sample.time_ns = time_of(from->time);
        sample.pid = from->pid;
        sample.tid = from->thread;
        sample.thread = (struct csn_str){ from->command, strlen(from->command) };
    }
    if (from && from->known && from->period && from->event[0]) {
        if (!event_type(perf, from->event, &type)) return false;
        if (type != UINT32_MAX) values[type] = from->period > INT64_MAX ? INT64_MAX : (int64_t)from->period;
        if (type != UINT32_MAX && type >= sample.value_count) sample.value_count = type + 1;
    }
    perf->samples++;
    return csn_profile_add_sample(perf->frames.profile, &sample, NULL) == CSN_OK;
}

/* ---- chains ---- */

static bool append_chain(struct perf_input *perf, struct csn_str line) {
    if (perf->chain.count + line.len > CHAIN_MAX) {
        perf->cut_chains += perf->chain.count <= CHAIN_MAX;
        return true;
    }
    return text_buffer_add(&perf->chain, line);
}

static struct csn_str next_chain_line(const struct perf_input *perf, size_t from, size_t *next) {
    const char *end = memchr(perf->chain.bytes + from, '\n', perf->chain.count - from);
    size_t size = end ? (size_t)(end - perf->chain.bytes) - from : perf->chain.count - from;
    *next = from + size + (end != NULL);
    return line_text((struct csn_str){ perf->chain.bytes + from, size });
}

/* Reads one line with the dialect; `first` is set to a frame that begins a stack. */
static bool read_chain_line(struct perf_input *perf, struct csn_str line, bool open, struct line_frame *frame,
                            enum line_kind *kind) {
    *frame = (struct line_frame){ .site = SITE_PC };
    perf->frames.modules.line++;
    *kind = perf_dialect.read(perf->frames.state, &perf->frames.modules, line, open, frame);
    return !perf->frames.modules.no_memory;
}

static void note_inlined(struct perf_input *perf, const struct line_frame *frame) {
    if (!frame->pc || !frame->symbol.len || perf->inlined_count == INLINED_MAX) return;
    perf->inlined[perf->inlined_count++] = frame->symbol;
    perf->inlined_pc = frame->pc;
}

/* The frame below lines of inlined calls brings them along, if it has their address, and an index. perf leaves it out where
 * it takes its function for another inlined call: then the names are all there is. */
static bool add_inlined(struct perf_input *perf, const struct line_frame *below) {
    const bool alone = perf->inlined_count && (!below || below->pc != perf->inlined_pc);
    if (alone && !profile_frames_locate(&perf->frames)) return false;
    for (uint32_t i = 0; i < perf->inlined_count; i++)
        if (!(alone ? profile_frames_add_name : profile_frames_add_inlined)(&perf->frames, perf->inlined[i])) return false;
    perf->inlined_count = 0;
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
        if (from >= perf->chain.count) break;
        struct csn_str line = next_chain_line(perf, from, &from);
        kind = KIND_NONE;
        if (line.len && !read_chain_line(perf, line, true, &frame, &kind)) return false;
    }
    return add_inlined(perf, NULL) && profile_frames_locate(&perf->frames) && profile_frames_end(&perf->frames, false, out_stack);
}

/* The sample whose head was read, and whose chain is complete. */
static bool end_chain(struct perf_input *perf) {
    struct line_frame frame;
    enum line_kind kind;
    size_t next;
    uint32_t stack;
    if (!perf->chain.count) return true;
    /* Lines of inlined calls may stand above the first frame. */
    size_t from = 0;
    perf->inlined_count = 0;
    do {
        struct csn_str line = next_chain_line(perf, from, &next);
        if (!read_chain_line(perf, line, false, &frame, &kind)) return false;
        if (kind == KIND_INSIDE) note_inlined(perf, &frame);
        from = next;
    } while (kind == KIND_INSIDE && from < perf->chain.count);
    if (kind != KIND_FIRST) {
        perf->chain.count = 0;
        return true;
    }
    struct chain_key key = chain_key_of(perf->chain.bytes, perf->chain.count);
    if (stack_modules_has_maps(&perf->frames.modules)) {
        chain_key_add(&key, frame.pid);
        chain_key_add(&key, csn_process_maps_generation(perf->frames.modules.maps));
    }
    struct profile_sample sample = { .known = false };
    if (frame.sample) sample = *frame.sample;
    if (!chain_cache_find(&perf->chains, &key, &stack)) {
        if (!read_chain_rest(perf, next, &frame, &stack) || !chain_cache_add(&perf->chains, &key, stack)) return false;
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

static bool read_perf_input_line(struct perf_input *perf, struct csn_str line) {
    struct csn_str text = line_text(line);
    struct line_frame frame;
    enum line_kind kind;
    const struct profile_sample head = perf->head;
    perf->head.known = false;
    if (!text.len && head.known && !perf->chain.count) return add_perf_sample(perf, &head, 0); /* without frames */
    if (!text.len) {
        const bool good = end_chain(perf);
        perf->frames.modules.line++; /* a chain behind an empty line is not of the head before it */
        return good;
    }
    if (text.ptr[0] == '\t' || (text.ptr[0] == ' ' && perf->chain.count)) return append_chain(perf, line);
    if (!end_chain(perf)) return false;
    if (!read_chain_line(perf, text, false, &frame, &kind)) return false;
    const struct profile_sample *headed = perf_headed_sample(perf->frames.state);
    if (headed) perf->head = *headed;
    if (kind == KIND_FIRST && text.ptr[0] == ' ' && !frame.by_maps) return append_chain(perf, line);
    return kind != KIND_FIRST || read_single_sample(perf, &frame);
}

bool profile_read_perf(struct csn_profile *profile, struct stack_session *session, struct line_input *input, const char *path) {
    struct perf_input perf = { .event_count = 0 };
    struct csn_str line;
    enum line_result result = LINE_FAILED;
    bool good = profile_frames_init(&perf.frames, profile, session, &perf_dialect)
                && csn_profile_add_value_type(profile, CSN_STR("samples"), CSN_STR("count"), &perf.samples_type, NULL) == CSN_OK
                && csn_profile_set_default_type(profile, perf.samples_type, NULL) == CSN_OK;
    while (good && ((result = line_input_next(input, true, &line)) == LINE_WHOLE || result == LINE_PART))
        if (result == LINE_WHOLE) good = read_perf_input_line(&perf, line);
    good = good && end_chain(&perf);
    if (!good) cli_error_memory("stacks");
    else if (result == LINE_FAILED) cli_error(path, "%s", input->no_memory ? "out of memory" : strerror(input->os_error));
    else if (!perf.samples) cli_error(path, "no samples of perf script in %llu lines", (unsigned long long)input->line);
    profile_frames_deinit(&perf.frames);
    chain_cache_deinit(&perf.chains);
    text_buffer_deinit(&perf.chain);
    return good && result == LINE_END && perf.samples;
}
