/* Folded stacks as a profile: names stay, addresses become locations of modules. */
#include "profile/profile_input.h"

#include <string.h>

#include "profile/profile_frames.h"
#include "stack/dialects/dialects.h"
#include "ui/cli_message.h"

static bool read_folded_count(struct csn_str *line, int64_t *out) {
    size_t at = line->len;
    int64_t value = 0;
    while (at && line->ptr[at - 1] >= '0' && line->ptr[at - 1] <= '9') at--;
    if (at == line->len || !at || line->ptr[at - 1] != ' ') return false;
    for (size_t i = at; i < line->len; i++)
        if (__builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, line->ptr[i] - '0', &value)) return false;
    *out = value;
    return true;
}

static bool add_names(struct profile_frames *frames, struct csn_str text) {
    while (text.len) {
        const char *end = memchr(text.ptr, ';', text.len);
        size_t size = end ? (size_t)(end - text.ptr) : text.len;
        if (size && !profile_frames_add_name(frames, (struct csn_str){ text.ptr, size })) return false;
        size += end != NULL;
        text = (struct csn_str){ text.ptr + size, text.len - size };
    }
    return true;
}

/* The elements of a line: the dialect finds those that are addresses, what lies between are names. */
static bool read_elements(struct profile_frames *frames, struct csn_str line, size_t end, uint32_t *out_stack) {
    struct line_frame frame;
    size_t from = 0;
    profile_frames_begin(frames);
    while (from < end && folded_dialect.more(frames->state, line, from, &frame)) {
        if (!add_names(frames, (struct csn_str){ line.ptr + from, frame.fill_at - from })) return false;
        if (!profile_frames_add(frames, &frame) || !profile_frames_locate(frames)) return false;
        from = frame.end;
    }
    return add_names(frames, (struct csn_str){ line.ptr + from, end - from }) && profile_frames_end(frames, true, out_stack);
}

static size_t stack_end(struct csn_str line) {
    size_t end = line.len;
    while (end && line.ptr[end - 1] >= '0' && line.ptr[end - 1] <= '9') end--;
    return end ? end - 1 : 0;
}

static bool read_folded_stack(struct profile_frames *frames, struct csn_str line, uint32_t value_type, int64_t count) {
    int64_t values[64] = { 0 };
    struct csn_profile_sample sample = { .values = values, .value_count = value_type + 1 };
    values[value_type] = count;
    return read_elements(frames, line, stack_end(line), &sample.stack)
           && csn_profile_add_sample(frames->profile, &sample, NULL) == CSN_OK;
}

bool profile_read_folded(struct csn_profile *profile, struct stack_session *session, struct line_input *input, const char *path) {
    struct profile_frames frames;
    struct csn_str line;
    enum line_result result = LINE_FAILED;
    uint32_t value_type = 0;
    bool good = profile_frames_init(&frames, profile, session, &folded_dialect)
                && csn_profile_add_value_type(profile, CSN_STR("samples"), CSN_STR("count"), &value_type, NULL) == CSN_OK;
    while (good && (result = line_input_next(input, true, &line)) != LINE_END) {
        struct csn_str text = line_text(line);
        int64_t count;
        if (result == LINE_FAILED) {
            cli_error(path, "%s", input->no_memory ? "out of memory" : strerror(input->os_error));
            break;
        }
        if (!text.len || text.ptr[0] == '#') continue;
        if (result == LINE_PART) {
            cli_error(path, "line %llu is too long: need at most %zu bytes", (unsigned long long)input->line + 1, input->max);
            result = LINE_FAILED;
            break;
        }
        if (!read_folded_count(&text, &count)) {
            cli_error(path, "line %llu: no count after the stack: need NAME;NAME;... NUMBER", (unsigned long long)input->line);
            result = LINE_FAILED;
            break;
        }
        good = read_folded_stack(&frames, text, value_type, count);
    }
    profile_frames_deinit(&frames);
    if (!good) cli_error_memory("stacks");
    return good && result == LINE_END;
}
